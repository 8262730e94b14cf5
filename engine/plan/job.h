/* A job as its author wrote it, checked for form but not yet for meaning: plain data.
 *
 * conf fills it from a YAML file; bind reads it. Everything lives in the job's arena. Options of
 * connectors and formats are parsed already, by their own tables, into their conf structs.
 */
#ifndef SR_PLAN_JOB_H
#define SR_PLAN_JOB_H

#include <streamrun/plugin.h>

#include "engine/base/fault.h"
#include "engine/plan/settings.h"

/* Text with the place that it came from, so that a fault inside it can be shown. */
struct job_text {
    const char *text; /* ends with \0; NULL: not written */
    uint32_t len;
    struct place at; /* of its first byte */
    uint32_t indent; /* of the following lines of a block scalar: their column - 1 */
    const char *raw; /* as it stands in the file, where YAML folded it; NULL: as `text` */
    bool is_quoted;  /* of `raw`: '' stands for ' */
};

/* The place of byte `offset` of a text. */
struct place job_place(const struct job_text *t, uint32_t offset);

struct job_texts {
    uint32_t count;
    const struct job_text *item;
};

/* One entry of a schema in the mapping form; `schema_text` has the form of CREATE TABLE instead. */
struct job_column {
    struct job_text name;
    struct job_text type; /* "BIGINT", "AS price * 2", "STRING METADATA FROM 'file.path'" */
};

enum job_step_kind { JOB_SOURCE, JOB_TRANSFORM, JOB_SINK };
enum job_on_error { JOB_FAIL, JOB_SKIP, JOB_DEAD_LETTER };

enum job_on_late { JOB_LATE_DROP, JOB_LATE_DEAD_LETTER };

/* Where rows of a replay join a step: behind its inputs (of a sink: as its own columns), in front
 * of its aggregate, behind that. */
enum job_feed_at { JOB_FEED_INPUT, JOB_FEED_GROUPED, JOB_FEED_RESULTS, JOB_FEEDS };

/* Records of a source that one step alone is to see, though others read the source as well. */
struct job_replay {
    const struct job_step *source; /* JOB_SOURCE: `of`, but that it reads those records */
    const struct job_step *of;
    const struct job_replay *next; /* of the same step; NULL: no more */
};

struct job_step {
    enum job_step_kind kind;
    struct job_text name;
    const char *uid;       /* the name unless written */
    int64_t parallelism;   /* 0: the job's */
    struct job_texts from; /* not for sources */
    /* sources and sinks */
    const struct sr_source_type *source; /* NULL when the connector is not known: faulted */
    const struct sr_sink_type *sink;
    const void *conf;                    /* source->conf_size or sink->conf_size bytes */
    const struct sr_format_type *format; /* NULL: none written */
    const void *format_conf;
    struct place connector_at, format_at;
    /* of records with keys */
    const struct sr_format_type *key_format; /* NULL: none written */
    const void *key_format_conf;
    struct place key_format_at;
    struct job_texts key_fields;
    const char *key_prefix; /* NULL: the connector's records have no keys; else of their columns */
    bool value_except_key;  /* the value has all columns but the key's */
    const struct job_column *column;
    uint32_t columns;
    struct job_text schema_text;
    struct job_text watermark; /* "ts AS ts - INTERVAL '5' SECOND" */
    struct job_texts primary_key;
    enum job_on_error on_error;
    bool has_on_error;        /* it was written */
    int64_t rate_limit;       /* sources: records a second, of all subtasks; 0: none */
    sr_duration idle_timeout; /* sources: scan.watermark.idle-timeout; negative: the job's */
    struct place idle_timeout_at, emit_at; /* file NULL: not written */
    bool is_periodic;            /* sources: watermarks move by the clock, not with each row */
    enum sr_guarantee guarantee; /* sink.delivery-guarantee; SR_NO_GUARANTEE: not written */
    struct place guarantee_at;
    /* transforms */
    struct job_text where, window, sql;
    struct job_texts select, group_by;
    struct place select_at;
    enum job_on_late on_late;
    struct place on_late_at; /* line 0: not written */
    /* Not written by anybody: a replay adds them. JOB_SOURCE with connector and format, whose
     * columns are those of the place; NULL: none. */
    const struct job_step *feed[JOB_FEEDS];
    const struct job_replay *replay; /* NULL: none */
};

/* `dead-letter:`, where records go that are set aside. */
struct job_dead_letter {
    struct job_step *step; /* JOB_SINK without `from`; NULL: there is none */
    /* JSON with its defaults: for a connector that needs a format where none is written, and for
     * rows whose bytes are not kept. NULL: not there. */
    const struct sr_format_type *json;
    const void *json_conf;
    int64_t total_max, minute_max; /* 0: no limit */
};

struct conf_value; /* conf/conf.h */

struct job {
    struct arena *arena;
    const char *name;        /* pipeline.name, or the file's stem */
    char id[33];             /* 32 hex digits, stable for the name unless set */
    const char *file;        /* absolute path; NULL when it came from a checkpoint */
    const char *description; /* the job itself, as kept in a checkpoint: YAML, effective, absolute
                                paths, references instead of secrets */
    struct settings settings;
    uint32_t steps;
    struct job_step *step;          /* in the order of the file */
    const struct conf_value *value; /* every effective key, for `streamrun config` */
    uint32_t values;
    struct job_dead_letter dead_letter;
};

#endif
