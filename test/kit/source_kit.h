/* Conformance of sources: what struct sr_source_type promises, run against one type.
 *
 * The source is read through line_format, so its rows are lines; one that makes rows makes one
 * STRING, `line`.
 */
#ifndef TEST_KIT_SOURCE_KIT_H
#define TEST_KIT_SOURCE_KIT_H

#include <streamrun/connector.h>

#include "test/kit/stage.h"

#define SOURCE_SPLITS_MAX 256u

struct source_kit {
    struct stage *stage;
    const struct sr_source_type *type;
    const void *conf;
    bool cannot_resume; /* a source that cannot rewind */
    bool may_pass;      /* records over the limit are passed over */
    bool makes_rows;    /* fills the column itself */
    bool splits_vary;   /* with the number of readers */
    bool gives_late;    /* what is restored, as the first look changes it */
};

/* A running source: its discoverer, its readers, and what was read. */
struct source_run {
    const struct source_kit *kit;
    uint32_t parts;
    void *finder;
    void *reader[4];
    struct {
        char *id;
        uint8_t *note;
        uint32_t len;
        uint32_t part, number; /* reader, and its number there */
        bool is_done;
        int64_t order;
    } split[SOURCE_SPLITS_MAX]; /* in the order of discovery */
    uint32_t splits;
    uint32_t restored; /* the first of them, until the first look */
    uint32_t added[4]; /* splits that a reader was given */
    struct sr_builder builder;
    uint32_t room; /* rows of a batch */
    char *text;    /* lines so far: "split<tab>line<newline>" */
    size_t text_len;
    uint32_t rows;
    uint32_t passed;      /* records over the limit */
    struct sr_view *held; /* decoded, not taken down yet */
    uint32_t held_split;
    struct sr_wait wait; /* of the last poll that had nothing */
    struct sr_error err;
};

/* `from`: goes on at the positions of another run; NULL: from the beginning. */
void source_run_open(struct source_run *r, const struct source_kit *k, uint32_t parts,
                     uint32_t room, const struct source_run *from);
/* Discovers, and gives new splits to the readers by turns. */
enum sr_discovered source_run_discover(struct source_run *r);
/* Reads until `rows_max` rows in all were taken, all splits ended, it is idle, or it failed. */
enum sr_polled source_run_read(struct source_run *r, uint32_t rows_max);
void source_run_save(struct source_run *r); /* takes the positions of all splits */
void source_run_close(struct source_run *r);

/* All lines, split by split: "split<tab>line". In the stage's arena. */
const char *source_kit_read(const struct source_kit *k, uint32_t parts, uint32_t room);
/* Without the splits, sorted. */
const char *source_kit_lines(struct stage *s, const char *text);

/* Batches of one row, two readers, and a resume behind each row read the same rows; restored splits
 * are not named again; a position that was never read from is the same position; a file operation
 * that fails is said. */
void source_kit_check(const struct source_kit *k);

#endif
