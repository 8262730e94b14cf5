/* What one seed plays: the job, its input, the store, the faults. All of it follows from the seed.
 */
#ifndef TEST_SIM_SCENE_H
#define TEST_SIM_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum scene_shape {
    SCENE_ROWS,   /* rows as they are */
    SCENE_COUNTS, /* a running aggregate a key */
    SCENE_WINDOWS /* aggregates a key and window */
};

enum scene_source { SCENE_FROM_SIM, SCENE_FROM_FILES };

enum scene_sink {
    SCENE_PARTS,  /* filesystem, a directory of part files: shape A */
    SCENE_FILE,   /* filesystem, one plain file: shape A, at the end only */
    SCENE_SQLITE, /* sqlite: shape C */
    SCENE_REMOTE, /* a service that outlives every crash and answers as it likes: shape C */
    SCENE_STAGED, /* files prepared under another name, renamed by the commit: shape A */
    SCENE_LEDGER  /* a target whose transactions decide about checkpoints: shape B */
};

struct scene {
    uint64_t seed;
    enum scene_shape shape;
    enum scene_source source;
    enum scene_sink sink;
    bool has_sqlite_store;
    bool has_late_rows; /* one split */
    bool has_bad_rows;  /* the step cannot compute some: they are to become dead letters */
    bool knows_late;    /* and one subtask a step: it is known which rows are late */
    uint32_t slides;    /* in one window: HOP, or with is_longer CUMULATE; 1: TUMBLE */
    bool is_longer;
    uint32_t quiet_ms; /* a second source is silent until then, and ends; 0: there is none */
    bool is_proctime;  /* windows of the wall clock */
    uint32_t splits, rows, keys;
    uint32_t disorder_ms, delay_ms; /* of event times; of the watermark */
    uint32_t interval_ms, retained, tolerable;
    uint32_t concurrent;     /* checkpoints that may be on the way at once */
    uint32_t parallelism[8]; /* by life of the process */
    uint32_t sinks;          /* subtasks of the sink; 0: as the others */
    /* The job is there twice, side by side: another source, step and sink, which share nothing with
     * the first ones but the store. Each fails and restarts on its own. */
    bool has_twin;
    enum scene_sink twin_sink;
    /* Behind a stop the next life begins from the savepoint, as the job's own or as somebody
     * else's; else it goes on from the store. */
    bool begins_from_savepoint, owns_savepoint;
    bool deletes_at_end; /* retention: a stop or an end deletes the lineage's checkpoints */
    uint32_t lives;      /* that end by a crash, a suspension or a stop; then one that does not */
    /* Faults, in lives that are to be disturbed. */
    uint32_t disk_ppm, space_ppm, sync_ppm; /* chances of a disk call to fail */
    uint32_t source_ppm, remote_ppm;        /* of a poll, of a commit */
    bool forgets_rows;                      /* a ledger: what was written cannot be looked at */
    bool is_rotting;                        /* stored bytes go bad often */
    bool sets_clock;                        /* by seconds to years, forwards and back */
    bool loses_power;                       /* crashes may lose what was not synced */
};

#define SCENE_WINDOW_MS 1000

struct scene scene_of(uint64_t seed);
void scene_print(const struct scene *s, FILE *to);
/* The job as YAML, at a parallelism. */
void scene_job(const struct scene *s, uint32_t parallelism, char *out, size_t size);

/* Row i of a split. */
struct scene_row {
    int64_t split, seq, at_ms, k, v;
};
struct scene_row scene_row(const struct scene *s, uint32_t split, uint32_t i);
bool scene_is_bad(const struct scene *s, const struct scene_row *r);
/* End of the n-th window of row i, n < slides; INT64_MIN when there is none, or when it is known
 * that the row comes too late for it. */
int64_t scene_window(const struct scene *s, uint32_t split, uint32_t i, uint32_t n);
bool scene_is_late(const struct scene *s, uint32_t split, uint32_t i); /* for all of them */

#endif
