/* The sqlite source: a table, or the rows of a query, in the order of one column.
 *
 * A table is read by its rowid or by scan.partition.column, in as many splits as scan.partition.num
 * says; each is read in one transaction. With scan.incremental.column a table that only grows is
 * followed: what is behind the last value read is new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/sqlite/base.h"
#include "connectors/sqlite/cell_read.h"
#include "connectors/sqlite/scan.h"
#include "connectors/text/number.h"

#define SOURCE_PARTS_MAX 1024
#define SOURCE_BUSY_US   50000 /* how soon to come again while the database is locked */

/* --- Plan time ------------------------------------------------------------------------------- */

static sr_rc source_fault(struct sr_error *err, const char *words, const char *name)
{
    err->rc = SR_ECONFIG;
    (void)snprintf(err->words, sizeof(err->words), "%s%s", words, name);
    return SR_ECONFIG;
}

static bool source_whole(const char *text, int64_t *out)
{
    return number_get_i64(text, (uint32_t)strlen(text), out) == NUMBER_OK;
}

static sr_rc source_check_options(const struct scan_conf *c, struct sr_error *err)
{
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    bool has_bounds = c->lower || c->upper;
    if (!c->table == !c->query) {
        return source_fault(err, "it reads either a table (table-name) or a query", "");
    }
    if (c->growing && (c->query || c->column || has_bounds || c->parts > 1)) {
        return source_fault(err,
                            "scan.incremental.column is for a table, without "
                            "scan.partition options",
                            "");
    }
    if (c->interval.us > 0 && !c->growing) {
        return source_fault(err, "scan.incremental.interval needs scan.incremental.column", "");
    }
    if (c->query && !c->column) {
        return source_fault(err,
                            "a query needs scan.partition.column, whose order its rows are "
                            "read in",
                            "");
    }
    if ((c->lower && !source_whole(c->lower, &lower)) ||
        (c->upper && !source_whole(c->upper, &upper)) || lower > upper) {
        return source_fault(err,
                            "scan.partition.lower-bound and .upper-bound are whole numbers, "
                            "the lower one first",
                            "");
    }
    return SR_OK;
}

static sr_rc source_check(const void *conf, const struct sr_schema *schema,
                          struct sr_source_caps *caps, struct sr_error *err)
{
    const struct scan_conf *c = conf;
    *caps = (struct sr_source_caps){.is_bounded = c->interval.us <= 0,
                                    .can_rewind = true,
                                    .makes_rows = true,
                                    .parts_max = (uint32_t)c->parts,
                                    .has_backlog = c->interval.us > 0};
    sr_rc rc = source_check_options(c, err);
    for (uint32_t i = 0; rc == SR_OK && i < schema->fields; i++) {
        struct cell_type type;
        if (!cell_type_init(&type, &schema->field[i])) {
            rc = source_fault(err,
                              "SQLite has no such type, read it as STRING (JSON_VALUE takes "
                              "JSON apart; keys of a MAP are text): column ",
                              schema->field[i].name);
        }
    }
    return rc;
}

/* --- Splits ---------------------------------------------------------------------------------- */

struct source_finder {
    struct scan scan;
    bool has_known;
    uint32_t number; /* of the restored split of an incremental scan */
    bool has_ended;  /* it was read to its end, in an earlier run */
    char *id;
    uint8_t *note;
    uint32_t len;
};

static sr_rc source_discover_open(void *finder, const struct sr_source_open *o,
                                  struct sr_error *err)
{
    struct source_finder *f = finder;
    return scan_open(&f->scan, o, err);
}

static void source_restored(void *finder, uint32_t number, const struct sr_split *split,
                            bool is_finished)
{
    struct source_finder *f = finder;
    f->has_known = true;
    if (!is_finished || !f->scan.conf->growing || f->note) {
        return;
    }
    f->id = strdup(split->id);
    f->note = malloc((size_t)split->note.len + 1);
    if (f->note) {
        memcpy(f->note, split->note.data, split->note.len);
    }
    f->len = split->note.len;
    f->number = number;
    f->has_ended = true;
}

static sr_rc source_name(struct source_finder *f, const struct scan_split *split, uint32_t number,
                         struct sr_splits *out)
{
    char id[32];
    struct sr_out note = note_out();
    (void)snprintf(id, sizeof(id), "rows-%05u", number);
    sr_rc rc = scan_split_save(split, &note) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split named = {
            .id = id, .note = {note.data, (uint32_t)note.len}, .order = number};
        rc = out->add(out, &named);
    }
    note_free(&note);
    (void)f;
    return rc;
}

/* The bounds as they were written, else those of the column. */
static sr_rc source_bounds(struct source_finder *f, struct key *least, struct key *greatest,
                           struct sr_error *err)
{
    const struct scan_conf *c = f->scan.conf;
    sr_rc rc = scan_range(&f->scan, least, greatest, err);
    if (rc == SR_OK && c->lower) {
        key_done(least);
        least->type = source_whole(c->lower, &least->number) ? SQLITE_INTEGER : 0;
    }
    if (rc == SR_OK && c->upper) {
        key_done(greatest);
        greatest->type = source_whole(c->upper, &greatest->number) ? SQLITE_INTEGER : 0;
    }
    return rc;
}

static sr_rc source_cut(struct source_finder *f, struct sr_splits *out, struct sr_error *err)
{
    const struct scan_conf *c = f->scan.conf;
    struct key least = {0}, greatest = {0};
    sr_rc rc = c->growing ? SR_OK : source_bounds(f, &least, &greatest, err);
    bool is_whole = least.type == SQLITE_INTEGER && greatest.type == SQLITE_INTEGER &&
                    least.number <= greatest.number;
    uint64_t span = is_whole ? (uint64_t)greatest.number - (uint64_t)least.number : 0;
    uint64_t count = span < UINT64_MAX ? span + 1 : span;
    uint64_t parts = (uint64_t)c->parts < count ? (uint64_t)c->parts : count;
    if (rc == SR_OK && !is_whole && c->parts > 1 && least.type != 0) {
        rc = f->scan.host->fail(f->scan.host, err, SR_ECONFIG,
                                "%s: scan.partition.num needs a column of whole numbers", c->path);
    }
    parts = is_whole ? parts : 1;
    uint64_t width = count / parts;
    for (uint64_t k = 0; rc == SR_OK && k < parts; k++) {
        struct scan_split s = {.tie = 0};
        bool is_first = k == 0, is_last = k + 1 == parts;
        if (!is_first || c->lower) {
            s.lower = (struct key){.type = SQLITE_INTEGER,
                                   .number = (int64_t)((uint64_t)least.number + k * width)};
        }
        if (!is_last || c->upper) {
            s.upper = (struct key){
                .type = SQLITE_INTEGER,
                .number = is_last ? greatest.number
                                  : (int64_t)((uint64_t)least.number + (k + 1) * width - 1)};
        }
        rc = source_name(f, &s, (uint32_t)k, out);
        rc = rc == SR_OK ? rc : f->scan.host->fail(f->scan.host, err, rc, "out of memory");
    }
    key_done(&least);
    key_done(&greatest);
    return rc;
}

static enum sr_discovered source_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                          struct sr_error *err)
{
    struct source_finder *f = finder;
    if (f->has_ended) { /* what came since is read behind it */
        struct sr_split now = {.id = f->id, .note = {f->note, f->len}};
        sr_rc rc = f->id && f->note ? out->change(out, f->number, &now, false) : SR_ENOMEM;
        if (rc != SR_OK) {
            (void)f->scan.host->fail(f->scan.host, err, rc, "out of memory");
            return SR_DISCOVER_FAILED;
        }
        f->has_ended = false;
    }
    if (f->has_known) {
        return SR_DISCOVERED_ALL;
    }
    sr_rc rc = source_cut(f, out, err);
    if (rc == SR_EBUSY) {
        *wait = (struct sr_wait){.fd = -1,
                                 .until_us = f->scan.host->mono_us(f->scan.host) + SOURCE_BUSY_US};
        return SR_DISCOVERED_SOFAR;
    }
    f->has_known = true;
    return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static void source_discover_close(void *finder)
{
    struct source_finder *f = finder;
    scan_close(&f->scan);
    free(f->id);
    free(f->note);
    f->id = NULL;
    f->note = NULL;
}

/* --- Reading --------------------------------------------------------------------------------- */

struct source_reading {
    struct scan_split split;
    bool is_finished; /* its end was told, or is to be told next */
    bool is_told;
};

struct source_reader {
    struct scan scan;
    struct cell_type *type;    /* by column */
    struct json_cells *nested; /* NULL: no column is ROW, ARRAY, MAP or MULTISET */
    struct source_reading *item;
    uint32_t count, capacity;
    sqlite3_stmt *statement; /* of `now`; NULL: none is open */
    uint32_t now;
    int64_t skip;   /* rows of the statement that were read before */
    int64_t due_us; /* monotonic: not looked at before that */
    struct sr_bad bad;
    struct sr_out shown; /* the bad row */
};

static sr_rc source_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct source_reader *r = reader;
    r->shown = note_out();
    r->type = calloc((size_t)o->schema->fields + 1, sizeof(*r->type));
    if (!r->type) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < o->schema->fields; i++) {
        (void)cell_type_init(&r->type[i], &o->schema->field[i]); /* check has seen them */
        if (!r->type[i].is_nested || r->nested) continue;
        r->nested = json_cells_new(o->host, o->schema);
        if (!r->nested) return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    return scan_open(&r->scan, o, err);
}

static sr_rc source_add(void *reader, uint32_t number, const struct sr_split *split,
                        struct sr_error *err)
{
    struct source_reader *r = reader;
    void *moved = list_room(r->item, r->count, &r->capacity, sizeof(*r->item));
    if (!moved) {
        return r->scan.host->fail(r->scan.host, err, SR_ENOMEM, "out of memory");
    }
    r->item = moved;
    r->item[r->count] = (struct source_reading){.is_finished = false};
    sr_rc rc = scan_split_load(&r->item[r->count].split, split->note);
    if (rc != SR_OK || number != r->count) {
        return r->scan.host->fail(r->scan.host, err, rc == SR_ENOMEM ? rc : SR_ECORRUPT,
                                  "the saved position of %s in %s is damaged", split->id,
                                  r->scan.conf->path);
    }
    r->count++;
    return SR_OK;
}

static void source_end_statement(struct source_reader *r)
{
    (void)sqlite3_finalize(r->statement); /* repeats what step said */
    r->statement = NULL;
}

/* One row into the builder. False: it is a bad one, see r->bad. */
static bool source_row(struct source_reader *r, struct sr_builder *b)
{
    for (uint32_t c = 0; c < r->scan.schema->fields; c++) {
        if (!cell_read(b, c, &r->type[c], r->nested, r->statement, r->bad.words)) {
            sr_row_drop(b);
            return false;
        }
    }
    sr_row_done(b);
    return true;
}

static enum sr_polled source_no_memory(struct source_reader *r, struct sr_error *err)
{
    (void)r->scan.host->fail(r->scan.host, err, SR_ENOMEM,
                             "out of memory, or a value of the column that is read by is too long");
    return SR_POLL_FAILED;
}

static enum sr_polled source_show_bad(struct source_reader *r, struct sr_poll *p,
                                      struct sr_error *err)
{
    r->shown.len = 0;
    if (!cell_describe(r->statement, (int)r->scan.schema->fields, &r->shown)) {
        return source_no_memory(r, err);
    }
    r->bad.at = 0;
    r->bad.len = (uint32_t)r->shown.len;
    p->bytes = r->shown.data;
    p->bad = &r->bad;
    return SR_POLL_DATA;
}

/* The statement ended, or could not go on. */
static enum sr_polled source_stop(struct source_reader *r, int code, struct sr_poll *p,
                                  struct sr_error *err)
{
    struct source_reading *now = &r->item[r->now];
    const struct sr_host *h = r->scan.host;
    sr_rc rc = code == SQLITE_DONE ? SR_OK : scan_fail(&r->scan, "read", err);
    source_end_statement(r);
    if (rc != SR_OK && rc != SR_EBUSY) {
        return SR_POLL_FAILED;
    }
    int64_t interval_us = r->scan.conf->interval.us;
    if (rc == SR_EBUSY) {
        r->due_us = h->mono_us(h) + SOURCE_BUSY_US;
    } else if (interval_us > 0) {
        r->due_us = h->mono_us(h) + interval_us;
    } else {
        now->is_finished = true;
    }
    p->wait.until_us = r->due_us;
    return SR_POLL_DATA; /* of what came before it; nothing is fine */
}

static enum sr_polled source_read(struct source_reader *r, struct sr_poll *p, struct sr_error *err)
{
    struct source_reading *now = &r->item[r->now];
    while (!sr_builder_is_full(p->rows)) {
        int code = sqlite3_step(r->statement);
        if (code != SQLITE_ROW) {
            return source_stop(r, code, p, err);
        }
        bool was_read = r->skip > 0 && key_equals_column(&now->split.last, r->statement,
                                                         (int)r->scan.schema->fields);
        if (was_read) {
            r->skip--;
            continue;
        }
        r->skip = 0;
        bool is_good = source_row(r, p->rows);
        if (!scan_took(&r->scan, &now->split, r->statement) || p->rows->is_broken) {
            return source_no_memory(r, err);
        }
        if (!is_good) {
            return source_show_bad(r, p, err);
        }
    }
    return SR_POLL_DATA;
}

static enum sr_polled source_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct source_reader *r = reader;
    while (r->now < r->count && r->item[r->now].is_told) {
        r->now++;
    }
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    if (r->now == r->count) {
        return SR_POLL_IDLE;
    }
    struct source_reading *now = &r->item[r->now];
    p->split = r->now;
    if (now->is_finished) {
        now->is_told = true;
        return SR_POLL_SPLIT_END;
    }
    if (r->due_us > 0 && r->scan.host->mono_us(r->scan.host) < r->due_us) {
        p->wait.until_us = r->due_us;
        return SR_POLL_IDLE;
    }
    r->due_us = 0;
    if (!r->statement) {
        if (scan_begin(&r->scan, &now->split, &r->statement, err) != SR_OK) {
            return SR_POLL_FAILED;
        }
        r->skip = scan_to_skip(&r->scan, &now->split);
    }
    return source_read(r, p, err);
}

static void source_consume(void *reader, uint32_t number, uint32_t used)
{
    (void)reader, (void)number, (void)used; /* whole polls: the place has moved on already */
}

static sr_rc source_position(void *reader, uint32_t number, struct sr_out *note,
                             struct sr_error *err)
{
    struct source_reader *r = reader;
    return scan_split_save(&r->item[number].split, note)
               ? SR_OK
               : r->scan.host->fail(r->scan.host, err, SR_ENOMEM, "out of memory");
}

static void source_close(void *reader)
{
    struct source_reader *r = reader;
    source_end_statement(r);
    scan_close(&r->scan);
    for (uint32_t i = 0; i < r->count; i++) {
        scan_split_done(&r->item[i].split);
    }
    free(r->item);
    free(r->type);
    json_cells_free(r->nested);
    note_free(&r->shown);
    *r = (struct source_reader){.count = 0};
}

static const struct sr_opt source_opts[] = {
    SR_OPT(struct scan_conf, "path", path, .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
           .doc = "The database file."),
    SR_OPT(struct scan_conf, "table-name", table, .flags = SR_OPT_USUAL,
           .doc = "The table, or view, that is read."),
    SR_OPT(struct scan_conf, "query", query, .flags = SR_OPT_OURS,
           .doc = "A SELECT of SQLite's whose rows are read, in place of a table."),
    SR_OPT(struct scan_conf, "scan.partition.column", column,
           .doc = "Rows are read in the order of this column; of a table by its rowid unless "
                  "written. Rows that change while the job runs are read as they were or as they "
                  "are: each split is read in one transaction, and while it is, writers of a "
                  "database that is not in WAL mode wait."),
    SR_OPT(struct scan_conf, "scan.partition.num", parts, .def = "1", .min = 1,
           .max = SOURCE_PARTS_MAX,
           .doc = "How many splits, of equal ranges of the column's whole numbers, are read side "
                  "by side."),
    SR_OPT(struct scan_conf, "scan.partition.lower-bound", lower,
           .doc = "The least value that is read; that of the column unless written."),
    SR_OPT(struct scan_conf, "scan.partition.upper-bound", upper,
           .doc = "The greatest value that is read; that of the column unless written."),
    SR_OPT(struct scan_conf, "scan.incremental.column", growing, .flags = SR_OPT_OURS,
           .doc = "A column that only grows, as an id or a time of writing: rows behind the last "
                  "one read are new, also for a later run with --continue. Rows in which it is "
                  "NULL are not read."),
    SR_OPT(struct scan_conf, "scan.incremental.interval", interval, .min = 1000,
           .max = INT64_C(1000000) * 86400 * 365, .flags = SR_OPT_OURS,
           .doc = "How often to look for new rows; unless written, the job ends with the last row "
                  "there is."),
    SR_OPT_END};

const struct sr_source_type sqlite_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = "sqlite",
    .doc = "The rows of a table or a query in an SQLite database.",
    .keeps = "the row",
    .opts = source_opts,
    .conf_size = sizeof(struct scan_conf),
    .discoverer_size = sizeof(struct source_finder),
    .reader_size = sizeof(struct source_reader),
    .check = source_check,
    .discover_open = source_discover_open,
    .discover = source_discover,
    .discover_close = source_discover_close,
    .open = source_open,
    .add = source_add,
    .poll = source_poll,
    .consume = source_consume,
    .position = source_position,
    .close = source_close,
    .restored = source_restored,
};
