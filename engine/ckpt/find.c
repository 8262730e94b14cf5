/* Looking at checkpoints from outside: what a path holds, which one is the newest, loading one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/chkdb_sql.h"
#include "engine/ckpt/chkdir.h"
#include "engine/ckpt/durable.h"
#include "engine/ckpt/jobdir.h"

/* --- Lists ------------------------------------------------------------------------------------ */

sr_rc store_finder_add(struct store_finder *f, const struct store_entry *e, struct sr_error *err)
{
    if (f->list.count == f->capacity) {
        uint32_t capacity = f->capacity == 0 ? 16 : f->capacity * 2;
        struct store_entry *grown = arena_array(f->arena, capacity, sizeof(*grown));
        if (!grown || !e->path) {
            return error_set(err, SR_ENOMEM, "look at checkpoints: out of memory");
        }
        if (f->list.count > 0) {
            memcpy(grown, f->list.entry, f->list.count * sizeof(*grown));
        }
        f->list.entry = grown;
        f->capacity = capacity;
    }
    if (!e->path) {
        return error_set(err, SR_ENOMEM, "look at checkpoints: out of memory");
    }
    f->list.entry[f->list.count++] = *e;
    return SR_OK;
}

static int store_list_compare(const void *a, const void *b)
{
    const struct store_entry *x = a;
    const struct store_entry *y = b;
    int job = strcmp(x->job_id, y->job_id);
    if (job != 0) {
        return job;
    }
    if (x->checkpoint != y->checkpoint) {
        return x->checkpoint < y->checkpoint ? -1 : 1;
    }
    return strcmp(x->path, y->path);
}

void store_list_sort(struct store_list *l)
{
    if (l->count > 1) {
        qsort(l->entry, l->count, sizeof(*l->entry), store_list_compare);
    }
}

static void store_entry_fill(struct store_entry *e, const struct manifest *m)
{
    e->job_id = m->job_id;
    e->job_name = m->job_name;
    e->checkpoint = m->checkpoint;
    e->lineage = m->lineage;
    e->attempt = m->attempt;
    e->kind = m->kind;
    e->end = m->end;
    e->started_us = m->started_us;
    e->ended_us = m->ended_us;
    e->bytes = manifest_bytes(m);
}

/* Whether a failure says something about this one entry, so that the others can still be listed. */
static bool store_is_damage(sr_rc rc) { return rc == SR_ECORRUPT || rc == SR_EMISFIT; }

/* --- Directories ------------------------------------------------------------------------------ */

static bool store_is_hex(const char *name) { return strspn(name, "0123456789abcdef") == 32; }

static const char *store_base_name(const char *path) { return strrchr(path, '/') + 1; }

/* The mark lies beside the checkpoint; one that was moved elsewhere, and a savepoint, have none. */
static sr_rc store_dir_read_end(const struct env *env, const char *dir, struct arena *a,
                                struct digest digest, struct manifest *m, struct sr_error *err)
{
    uint64_t number = 0;
    const char *base = store_base_name(dir);
    if (!durable_number(base, "chk-", &number)) {
        return SR_OK;
    }
    const char *job_dir = arena_text_n(a, dir, (size_t)(base - dir - 1));
    const char *mark = job_dir ? jobdir_end_path(a, job_dir, number) : NULL;
    if (!mark) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", dir);
    }
    return jobdir_read_end(env, mark, digest, &m->end, err);
}

/* A checkpoint whose directory was renamed by hand is not what its name says. */
static sr_rc store_dir_check_name(const char *dir, const struct manifest *m, struct sr_error *err)
{
    uint64_t number = 0;
    if (durable_number(store_base_name(dir), "chk-", &number) && number != m->checkpoint) {
        return error_set(err, SR_ECORRUPT, "%s: damaged: its metadata is that of chk-%" PRIu64, dir,
                         m->checkpoint);
    }
    return SR_OK;
}

sr_rc store_dir_find_one(struct store_finder *f, const char *dir, struct sr_error *err)
{
    struct manifest *m = NULL;
    struct digest digest;
    struct sr_error why = {0};
    struct store_entry e = {.path = arena_text(f->arena, dir), .job_id = "", .job_name = ""};
    sr_rc rc = chkdir_read(f->env, dir, f->arena, &m, &digest, &why);
    if (rc == SR_OK) {
        rc = store_dir_check_name(dir, m, &why);
    }
    if (rc == SR_OK) {
        rc = store_dir_read_end(f->env, dir, f->arena, digest, m, &why);
    }
    if (rc == SR_OK) {
        store_entry_fill(&e, m);
    } else if (store_is_damage(rc)) {
        e.damage = arena_text(f->arena, why.words);
        (void)durable_number(store_base_name(dir), "chk-", &e.checkpoint);
    } else {
        return error_set(err, rc, "%s", why.words);
    }
    return store_finder_add(f, &e, err);
}

/* The directory's name is the job's id: damaged ones belong to it as well. */
sr_rc store_dir_find(struct store_finder *f, const char *job_dir, struct sr_error *err)
{
    struct jobdir j;
    const char *job_id = arena_text(f->arena, store_base_name(job_dir));
    sr_rc rc = jobdir_scan(f->env, job_dir, f->arena, &j, err);
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        const char *path = jobdir_path(f->arena, job_dir, j.checkpoint[i].number);
        if (j.checkpoint[i].is_late) {
            continue; /* no part of the job's history; store_open says so */
        }
        if (!path || !job_id) {
            return error_set(err, SR_ENOMEM, "look at %s: out of memory", job_dir);
        }
        rc = store_dir_find_one(f, path, err);
        if (rc == SR_EABSENT) { /* retired by its running job since it was listed */
            rc = SR_OK;
            continue;
        }
        if (rc != SR_OK) {
            return rc;
        }
        struct store_entry *e = &f->list.entry[f->list.count - 1];
        bool is_job_id = strlen(job_id) == 32 && store_is_hex(job_id);
        e->job_id = e->damage && is_job_id ? job_id : e->job_id;
        e->is_retired = j.checkpoint[i].is_retired;
    }
    return rc;
}

sr_rc store_dir_load(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                     struct sr_error *err)
{
    struct manifest *m = NULL;
    struct digest digest;
    sr_rc rc = chkdir_load(env, dir, a, &m, &digest, err);
    if (rc == SR_OK) {
        rc = store_dir_check_name(dir, m, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_read_end(env, dir, a, digest, m, err);
    }
    if (rc == SR_OK) {
        *out = m;
    }
    return rc;
}

/* --- SQLite files ----------------------------------------------------------------------------- */

/* `is_listed`: its row was seen, so that not finding it is damage. */
static sr_rc store_sqlite_find_one(struct store_finder *f, const struct chkdb *c, uint64_t number,
                                   bool is_listed, struct sr_error *err)
{
    struct manifest *m = NULL;
    struct sr_error why = {0};
    struct store_entry e = {.path = arena_printf(f->arena, "%s#chk-%" PRIu64, c->file, number),
                            .job_id = arena_text(f->arena, c->job_id),
                            .job_name = "",
                            .checkpoint = number};
    sr_rc rc = chkdb_read(c, number, f->arena, &m, &why);
    if (rc == SR_OK) {
        store_entry_fill(&e, m);
        if (m->kind == MANIFEST_SAVEPOINT) {
            e.path = arena_text(f->arena, c->file);
        }
    } else if (store_is_damage(rc) || (is_listed && rc == SR_EABSENT)) {
        e.damage = arena_text(f->arena, why.words);
    } else {
        return error_set(err, rc, "%s", why.words);
    }
    return store_finder_add(f, &e, err);
}

/* What a damaged file still holds cannot be told: it is one entry, with the reason. */
static sr_rc store_sqlite_damaged(struct store_finder *f, const struct chkdb *c,
                                  const struct sr_error *why, struct sr_error *err)
{
    struct store_entry e = {.path = arena_text(f->arena, c->file),
                            .job_id = arena_text(f->arena, c->job_id),
                            .job_name = "",
                            .damage = arena_text(f->arena, why->words)};
    return store_finder_add(f, &e, err);
}

static sr_rc store_sqlite_find_all(struct store_finder *f, const struct chkdb *c,
                                   struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    struct sr_error why = {0};
    sr_rc rc = chkdb_prepare(c, "SELECT checkpoint FROM checkpoint ORDER BY checkpoint", &st, &why);
    int step = rc == SR_OK ? sqlite3_step(st) : SQLITE_DONE;
    sr_rc added = SR_OK;
    for (; added == SR_OK && step == SQLITE_ROW; step = sqlite3_step(st)) {
        added = store_sqlite_find_one(f, c, (uint64_t)sqlite3_column_int64(st, 0), true, err);
    }
    if (added == SR_OK && step != SQLITE_DONE) {
        rc = chkdb_fail(c, "read", &why);
    }
    (void)sqlite3_finalize(st); /* told by step */
    if (added != SR_OK || rc == SR_OK) {
        return added;
    }
    return store_is_damage(rc) ? store_sqlite_damaged(f, c, &why, err)
                               : error_set(err, rc, "%s", why.words);
}

/* Whether the newest is where it must be: a row that is gone cannot be seen among the others. */
static sr_rc store_sqlite_find_newest(struct store_finder *f, const struct chkdb *c,
                                      struct sr_error *err)
{
    uint64_t newest = 0;
    struct sr_error why = {0};
    sr_rc rc = chkdb_newest(c, &newest, &why);
    if (store_is_damage(rc)) {
        return store_sqlite_damaged(f, c, &why, err);
    }
    return rc == SR_OK || rc == SR_EABSENT ? SR_OK : error_set(err, rc, "%s", why.words);
}

/* With a fence that names none as published, all that is there is left over. */
static void store_sqlite_note_retired(struct store_finder *f, const struct chkdb *c, uint32_t from)
{
    struct chkdb_fence fence = {0};
    struct sr_error ignored; /* a damaged fence was told before */
    if (chkdb_fence_get(c, &fence, &ignored) != SR_OK || fence.published != 0) {
        return;
    }
    for (uint32_t i = from; i < f->list.count; i++) {
        f->list.entry[i].is_retired = true;
    }
}

sr_rc store_sqlite_find(struct store_finder *f, const char *file, uint64_t number,
                        struct sr_error *err)
{
    struct chkdb c = {.file = file};
    struct sr_error why = {0};
    sr_rc rc = chkdb_open(&c, f->env, file, CHKDB_LOOK, NULL, &why);
    if (store_is_damage(rc)) {
        return store_sqlite_damaged(f, &c, &why, err);
    }
    if (rc != SR_OK) {
        return error_set(err, rc, "%s", why.words);
    }
    uint32_t from = f->list.count;
    rc = number != 0 ? store_sqlite_find_one(f, &c, number, false, err)
                     : store_sqlite_find_all(f, &c, err);
    if (rc == SR_OK && number == 0) {
        rc = store_sqlite_find_newest(f, &c, err);
    }
    if (rc == SR_OK) {
        store_sqlite_note_retired(f, &c, from);
    }
    chkdb_close(&c);
    return rc;
}

sr_rc store_sqlite_load(const struct env *env, const char *file, uint64_t number, struct arena *a,
                        struct manifest **out, struct sr_error *err)
{
    struct chkdb c = {0};
    sr_rc rc = chkdb_open(&c, env, file, CHKDB_LOOK, NULL, err);
    if (rc == SR_OK && number == 0) {
        rc = chkdb_newest(&c, &number, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_load(&c, number, a, out, err);
    }
    chkdb_close(&c);
    return rc;
}

/* --- Any path --------------------------------------------------------------------------------- */

struct store_target {
    const char *path; /* absolute, without scheme, "#chk-N" and "/_metadata" */
    uint64_t number;  /* of "#chk-N"; 0: none */
};

static sr_rc store_target_parse(const char *text, struct arena *a, struct store_target *out,
                                struct sr_error *err)
{
    struct store_target t = {0};
    struct store_url url = {0};
    const char *hash = strrchr(text, '#');
    size_t len = strlen(text);
    if (hash && durable_number(hash + 1, "chk-", &t.number)) {
        len = (size_t)(hash - text);
    }
    const char *bare = arena_text_n(a, text, len);
    if (!bare) {
        return error_set(err, SR_ENOMEM, "look at checkpoints: out of memory");
    }
    sr_rc rc = store_url_parse(bare, a, &url, err);
    if (rc == SR_OK && !url.path) {
        rc = error_set(err, SR_EABSENT, "checkpoints in memory end with their process");
    }
    if (rc != SR_OK) {
        return rc;
    }
    const char *tail = strrchr(url.path, '/');
    if (strcmp(tail, "/" CHKDIR_METADATA) == 0 && tail != url.path) {
        url.path = arena_text_n(a, url.path, (size_t)(tail - url.path));
    }
    t.path = url.path;
    *out = t;
    return t.path ? SR_OK : error_set(err, SR_ENOMEM, "look at checkpoints: out of memory");
}

static bool store_is_savepoint_name(const char *name)
{
    return strncmp(name, "savepoint-", strlen("savepoint-")) == 0;
}

/* Whether a directory is one job's: a lock or counters, or a checkpoint. */
static bool store_is_job_dir(char *const *names)
{
    uint64_t number = 0;
    for (char *const *n = names; *n; n++) {
        if (strcmp(*n, COUNTERS_NAME) == 0 || strcmp(*n, "LOCK") == 0 ||
            durable_number(*n, "chk-", &number)) {
            return true;
        }
    }
    return false;
}

static bool store_is_file_name(const char *name)
{
    size_t len = strlen(name);
    return len > 3 && strcmp(name + len - 3, ".db") == 0;
}

/* One name in a directory of jobs and savepoints; others are not ours. */
static sr_rc store_find_child(struct store_finder *f, const char *path, struct sr_error *err)
{
    enum durable_kind kind = DURABLE_ABSENT;
    const char *name = store_base_name(path);
    bool is_savepoint = store_is_savepoint_name(name);
    sr_rc rc = durable_look(f->env, path, &kind, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (kind == DURABLE_DIR && strlen(name) == 32 && store_is_hex(name)) {
        return store_dir_find(f, path, err);
    }
    if (kind == DURABLE_DIR && is_savepoint) {
        return store_dir_find_one(f, path, err);
    }
    if (kind == DURABLE_FILE && is_savepoint && store_is_file_name(name)) {
        return store_sqlite_find(f, path, 0, err);
    }
    return SR_OK;
}

static sr_rc store_find_children(struct store_finder *f, const char *dir, char *const *names,
                                 struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (char *const *n = names; rc == SR_OK && *n; n++) {
        const char *path = durable_join(f->arena, dir, *n);
        rc = path ? store_find_child(f, path, err)
                  : error_set(err, SR_ENOMEM, "look at %s: out of memory", dir);
    }
    return rc;
}

static sr_rc store_find_dir(struct store_finder *f, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = f->env->files;
    char **names = NULL;
    uint64_t number = 0;
    const char *meta = durable_join(f->arena, dir, CHKDIR_METADATA);
    if (!meta) {
        return error_set(err, SR_ENOMEM, "look at %s: out of memory", dir);
    }
    enum durable_kind kind = DURABLE_ABSENT;
    const char *base = store_base_name(dir);
    sr_rc rc = durable_look(f->env, meta, &kind, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (kind != DURABLE_ABSENT || durable_number(base, "chk-", &number) ||
        store_is_savepoint_name(base)) {
        return store_dir_find_one(f, dir, err);
    }
    rc = fs->list(fs, dir, &names, err);
    if (rc == SR_OK) {
        rc = store_is_job_dir(names) ? store_dir_find(f, dir, err)
                                     : store_find_children(f, dir, names, err);
    }
    fs->names_free(fs, names);
    return rc;
}

sr_rc store_find(const struct env *env, const char *path, struct arena *a, struct store_list *out,
                 struct sr_error *err)
{
    struct store_target t;
    enum durable_kind kind = DURABLE_ABSENT;
    struct store_finder f = {.env = env, .arena = a};
    sr_rc rc = store_target_parse(path, a, &t, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = durable_look(env, t.path, &kind, err);
    if (rc == SR_OK && kind == DURABLE_ABSENT) {
        return error_set(err, SR_EABSENT,
                         "%s: nothing is there; a checkpoint, a savepoint, a job's directory or an "
                         "SQLite store is needed",
                         path);
    }
    if (rc == SR_OK) {
        rc = kind == DURABLE_DIR ? store_find_dir(&f, t.path, err)
                                 : store_sqlite_find(&f, t.path, t.number, err);
    }
    if (rc == SR_OK && f.list.count == 0) {
        rc = error_set(err, SR_EABSENT, "there is no checkpoint in %s", path);
    }
    if (rc == SR_OK) {
        store_list_sort(&f.list);
        *out = f.list;
    }
    return rc;
}

const struct store_entry *store_list_newest(const struct store_list *l)
{
    const struct store_entry *newest = NULL;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        bool is_whole_file = e->damage && e->checkpoint == 0; /* nothing in it can be trusted */
        if (is_whole_file || (newest && newest->damage && newest->checkpoint == 0)) {
            newest = is_whole_file ? e : newest;
        } else if (e->kind == MANIFEST_CHECKPOINT && !e->is_retired) {
            newest = e;
        }
    }
    return newest;
}

sr_rc store_peek(const struct env *env, const struct store_conf *conf, struct arena *a,
                 struct store_entry *out, struct sr_error *err)
{
    struct store_url url = {0};
    struct store_list list = {0};
    sr_rc rc = store_url_parse(conf->url, a, &url, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!url.path) {
        return error_set(err, SR_EABSENT, "checkpoints in memory end with their process");
    }
    const char *path = url.path;
    if (url.type == &store_dir_type && !conf->is_flat) {
        path = durable_join(a, url.path, conf->job_id);
    }
    rc = path ? store_find(env, path, a, &list, err)
              : error_set(err, SR_ENOMEM, "look at %s: out of memory", conf->url);
    if (rc != SR_OK) {
        return rc;
    }
    const struct store_entry *newest = store_list_newest(&list);
    if (!newest) {
        return error_set(err, SR_EABSENT, "there is no checkpoint in %s", path);
    }
    if (newest->job_id[0] != '\0' && strcmp(newest->job_id, conf->job_id) != 0) {
        return error_set(err, SR_EMISFIT, "%s holds the checkpoints of job '%s' (%s)", path,
                         newest->job_name, newest->job_id);
    }
    *out = *newest;
    return SR_OK;
}

sr_rc store_load(const struct env *env, const char *entry_path, struct arena *a,
                 struct manifest **out, struct sr_error *err)
{
    struct store_target t;
    sr_rc rc = store_target_parse(entry_path, a, &t, err);
    if (rc != SR_OK) {
        return rc;
    }
    enum durable_kind kind = DURABLE_ABSENT;
    rc = durable_look(env, t.path, &kind, err);
    if (rc != SR_OK) {
        return rc;
    }
    switch (kind) {
    case DURABLE_DIR:
        return store_dir_load(env, t.path, a, out, err);
    case DURABLE_FILE:
        return store_sqlite_load(env, t.path, t.number, a, out, err);
    case DURABLE_ABSENT:
        break;
    }
    return error_set(err, SR_EABSENT, "%s: no such checkpoint", entry_path);
}
