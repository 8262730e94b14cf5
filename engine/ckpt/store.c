#include "engine/ckpt/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/durable.h"
#include "engine/ckpt/store_type.h"

const char *store_point_name(enum store_point p)
{
    static const char *const names[] = {
#define STORE_POINT_WORDS(name, words) words,
        STORE_POINT_LIST(STORE_POINT_WORDS)
#undef STORE_POINT_WORDS
    };
    sr_assert((unsigned)p < STORE_POINT_COUNT);
    return names[p];
}

void store_point(const struct env *env, enum store_point p)
{
    env_crash_point(env, store_point_name(p));
}

/* --- URLs ------------------------------------------------------------------------------------- */

static bool store_ends_in(const char *s, const char *end)
{
    size_t len = strlen(s);
    size_t n = strlen(end);
    return len > n && strcmp(s + len - n, end) == 0;
}

/* The path behind "scheme:" or "scheme://"; NULL: another scheme. */
static const char *store_url_path(const char *url, const char *scheme)
{
    size_t n = strlen(scheme);
    if (strncmp(url, scheme, n) != 0) {
        return NULL;
    }
    return strncmp(url + n, "//", 2) == 0 ? url + n + 2 : url + n;
}

sr_rc store_url_parse(const char *url, struct arena *a, struct store_url *out, struct sr_error *err)
{
    if (strcmp(url, "memory:") == 0) {
        *out = (struct store_url){.type = &store_memory_type};
        return SR_OK;
    }
    const char *path = store_url_path(url, "sqlite:");
    const struct store_type *type = &store_sqlite_type;
    if (!path) {
        path = store_url_path(url, "file:");
        type = &store_dir_type;
    }
    if (!path) {
        path = url;
        type = store_ends_in(url, ".db") || store_ends_in(url, ".sqlite") ? &store_sqlite_type
                                                                          : &store_dir_type;
    }
    if (path[0] != '/') {
        return error_set(err, SR_ECONFIG,
                         "'%s' is no place for checkpoints: write file:///directory, "
                         "sqlite:///file.db or an absolute path",
                         url);
    }
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    if (len > STORE_PATH_MAX) {
        return error_set(err, SR_ELIMIT, "the path of the checkpoints is longer than %u bytes",
                         STORE_PATH_MAX);
    }
    const char *copy = arena_text_n(a, path, len);
    if (!copy) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    *out = (struct store_url){.type = type, .path = copy};
    return SR_OK;
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static bool store_is_job_id(const char *id)
{
    return id && strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

static sr_rc store_fill(struct store *s, const struct store_conf *conf, struct sr_error *err)
{
    s->is_flat = conf->is_flat;
    s->filler = conf->filler;
    s->retained = conf->retained > 0 ? conf->retained : 1;
    s->job_id = arena_text(s->arena, conf->job_id);
    s->job_name = arena_text(s->arena, conf->job_name ? conf->job_name : conf->job_id);
    s->run_dir = arena_text(s->arena, conf->run_dir);
    if (arena_is_broken(s->arena)) {
        return error_set(err, SR_ENOMEM, "open the checkpoint store: out of memory");
    }
    return SR_OK;
}

sr_rc store_lock(struct store *s, const char *path, struct sr_error *err)
{
    const struct store_conf *conf = s->conf;
    const struct lock_conf lock = {.path = path, .job_name = s->job_name, .holder = conf->holder};
    sr_rc rc = conf->seize ? lock_seize(&s->lock, s->env, &lock, conf->seize, err)
                           : lock_take(&s->lock, s->env, &lock, err);
    if (rc == SR_OK && conf->on_locked) {
        s->on_unlock = conf->on_unlock;
        s->ctx = conf->ctx;
        conf->on_locked(conf->ctx, s);
    }
    store_point(s->env, STORE_LOCKED);
    return rc;
}

/* What a conf names: its type, and where. */
static sr_rc store_resolve(const struct store_conf *conf, struct arena *a, struct store_url *out,
                           struct sr_error *err)
{
    sr_rc rc = store_url_parse(conf->url, a, out, err);
    if (rc == SR_OK && out->type == &store_dir_type && !conf->is_flat &&
        store_is_job_id(conf->job_id)) {
        out->path = durable_join(a, out->path, conf->job_id);
        rc = out->path ? rc : error_set(err, SR_ENOMEM, "open the checkpoint store: out of memory");
    }
    return rc;
}

sr_rc store_look_lock(const struct env *env, const struct store_conf *conf, struct lock_sight *out,
                      struct sr_error *err)
{
    struct store_url url = {0};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_resolve(conf, a, &url, err)
                 : error_set(err, SR_ENOMEM, "look at the lock: out of memory");
    if (rc == SR_OK && !url.type->lock_name) {
        rc = error_set(err, SR_EABSENT, "checkpoints in memory are no one else's");
    }
    if (rc == SR_OK) {
        const char *path = arena_printf(a, "%s%s", url.path, url.type->lock_name);
        rc = path ? lock_look(env, path, out, err)
                  : error_set(err, SR_ENOMEM, "look at the lock: out of memory");
    }
    arena_free(a);
    return rc;
}

sr_rc store_open_at(struct store **out, const struct env *env, const struct store_type *type,
                    const char *place, const struct store_conf *conf, struct sr_error *err)
{
    if (!store_is_job_id(conf->job_id)) {
        return error_set(err, SR_ECONFIG, "'%s' is no job id: 32 hex digits are",
                         conf->job_id ? conf->job_id : "");
    }
    struct store *s = calloc(1, sizeof(*s));
    struct arena *a = arena_new();
    if (!s || !a) {
        free(s);
        arena_free(a);
        return error_set(err, SR_ENOMEM, "open the checkpoint store: out of memory");
    }
    s->env = env;
    s->arena = a;
    s->type = type;
    s->place = place ? arena_text(a, place) : NULL;
    s->conf = conf;
    sr_rc rc = store_fill(s, conf, err);
    if (rc == SR_OK) {
        rc = s->type->open(s, err);
    }
    if (rc == SR_OK) {
        rc = claim_load(s, err);
    }
    if (rc != SR_OK) {
        store_close(s);
        return rc;
    }
    sr_assert(s->attempt > 0);
    s->conf = NULL;
    *out = s;
    return SR_OK;
}

sr_rc store_open(struct store **out, const struct env *env, const struct store_conf *conf,
                 struct sr_error *err)
{
    struct store_url url = {0};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_resolve(conf, a, &url, err)
                 : error_set(err, SR_ENOMEM, "open the checkpoint store: out of memory");
    if (rc == SR_OK) {
        rc = store_open_at(out, env, url.type, url.path, conf, err);
    }
    arena_free(a);
    return rc;
}

void store_close(struct store *s)
{
    if (!s) {
        return;
    }
    if (s->type) {
        s->type->close(s);
    }
    if (s->on_unlock) {
        s->on_unlock(s->ctx);
    }
    lock_release(s->lock);
    arena_free(s->arena);
    free(s);
}

sr_rc store_beat(struct store *s, struct sr_error *err) { return lock_beat(s->lock, err); }

void store_say_end(struct store *s, const char *word)
{
    if (s->lock) {
        lock_say_end(s->lock, word);
    }
}

const char *store_end_before(const struct store *s)
{
    return s->lock ? lock_end_before(s->lock) : "";
}

uint64_t store_attempt(const struct store *s) { return s->attempt; }

uint64_t store_newest_id(const struct store *s) { return s->newest; }

bool store_is_durable(const struct store *s) { return s->type->is_durable; }

const char *store_redo_dir(struct store *s, struct sr_error *err)
{
    if (!s->type->redo_name) {
        (void)error_set(err, SR_EABSENT, "checkpoints in memory have no place for redo files");
        return NULL;
    }
    const char *dir = arena_printf(s->arena, "%s%s", s->place, s->type->redo_name);
    if (!dir) {
        (void)error_set(err, SR_ENOMEM, "make the directory for redo files: out of memory");
        return NULL;
    }
    return durable_make_dirs(s->env, dir, err) == SR_OK ? dir : NULL;
}

/* --- Calls of an open store ------------------------------------------------------------------- */

static sr_rc store_check_alive(const struct store *s, struct sr_error *err)
{
    if (s->dead == SR_OK) {
        return SR_OK;
    }
    return error_set(err, s->dead, "the checkpoint store is closed since an earlier failure");
}

/* Outcomes after which only a new process may go on. */
static sr_rc store_answer(struct store *s, sr_rc rc)
{
    if (rc == SR_EUNKNOWN || rc == SR_EFENCED) {
        s->dead = rc;
    }
    return rc;
}

sr_rc store_next_attempt(struct store *s, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    return rc == SR_OK ? store_answer(s, s->type->next_attempt(s, err)) : rc;
}

sr_rc store_seal(struct manifest *m, struct sr_out *metadata, struct sr_error *err)
{
    m->version = MANIFEST_VERSION;
    manifest_order(m);
    for (uint32_t i = 0; i < m->parts; i++) {
        sr_assert(m->part[i].bytes != NULL || m->part[i].len == 0);
        m->part[i].digest = digest_of(m->part[i].bytes, (size_t)m->part[i].len);
    }
    sr_rc rc = manifest_check(m, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!manifest_encode(m, metadata)) {
        return error_set(err, SR_ENOMEM, "write the metadata: out of memory");
    }
    if (metadata->len > MANIFEST_BYTES_MAX) {
        return error_set(err, SR_ELIMIT, "the metadata is larger than %u bytes",
                         MANIFEST_BYTES_MAX);
    }
    return SR_OK;
}

sr_rc store_publish(struct store *s, struct manifest *m, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (m->checkpoint <= s->newest && m->checkpoint != s->savepoint) {
        return error_set(err, SR_EEXISTS,
                         "checkpoint %" PRIu64 " comes after %" PRIu64 ", which was used already",
                         m->checkpoint, s->newest);
    }
    m->kind = MANIFEST_CHECKPOINT;
    m->attempt = s->attempt;
    m->job_id = s->job_id;
    m->job_name = s->job_name;
    struct sr_out metadata = bytes_out();
    rc = store_seal(m, &metadata, err);
    if (rc == SR_OK) {
        rc = store_answer(s, s->type->publish(s, m, &metadata, err));
    }
    bytes_free(&metadata);
    if (rc != SR_OK) {
        return rc; /* the caller says which checkpoint it was */
    }
    s->newest = m->checkpoint > s->newest ? m->checkpoint : s->newest;
    s->savepoint = 0;
    store_point(s->env, STORE_PUBLISHED);
    return SR_OK;
}

/* What was claimed goes as the oldest of the lineage would. */
static sr_rc store_retain_claim(struct store *s, uint64_t lineage, uint64_t shown,
                                struct sr_error *err)
{
    uint32_t count = 0;
    if (!s->claim || s->claim->lineage != lineage) {
        return SR_OK;
    }
    sr_rc rc = s->type->count(s, lineage, shown, &count, err);
    uint32_t enough = s->claim->is_owned ? s->retained : 1;
    return rc == SR_OK && count >= enough ? claim_release(s, err) : rc;
}

sr_rc store_retain(struct store *s, uint64_t lineage, uint64_t shown, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc == SR_OK) {
        rc = s->type->retain(s, lineage, shown, err);
    }
    return store_answer(s, rc == SR_OK ? store_retain_claim(s, lineage, shown, err) : rc);
}

sr_rc store_delete(struct store *s, uint64_t lineage, uint64_t number, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc == SR_OK) {
        rc = s->type->remove(s, lineage, number, err);
    }
    if (rc == SR_OK && number == 0 && s->claim && s->claim->lineage == lineage) {
        rc = claim_release(s, err);
    }
    return store_answer(s, rc);
}

sr_rc store_claim(struct store *s, const char *entry_path, uint64_t lineage, bool is_owned,
                  struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc == SR_OK && entry_path && !s->type->claim_name) {
        rc = error_set(err, SR_EMISFIT,
                       "checkpoints in memory die with the process, so %s is not claimed",
                       entry_path);
    }
    if (rc == SR_OK && !entry_path) {
        return s->claim ? claim_forget(s, err) : SR_OK;
    }
    return rc == SR_OK ? claim_save(s, entry_path, lineage, is_owned, err) : rc;
}

/* Whoever begins a lineage notes it, so one that was noted and has a checkpoint is the newest. */
const char *store_begun_with(const struct store *s, uint64_t newest, bool *is_owned)
{
    if (!s->claim || s->claim->lineage == newest) {
        return NULL;
    }
    *is_owned = s->claim->is_owned;
    return s->claim->path;
}

sr_rc store_is_pending(uint64_t number, struct sr_error *err)
{
    return error_set(err, SR_EBUSY,
                     "checkpoint %" PRIu64 " is pending: what became of its transaction is not "
                     "known yet; --continue finds out",
                     number);
}

sr_rc store_is_complete(uint64_t number, struct sr_error *err)
{
    return error_set(err, SR_EMISFIT, "checkpoint %" PRIu64 " is complete: it cannot be dropped",
                     number);
}

sr_rc store_complete(struct store *s, uint64_t number, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc == SR_OK) {
        rc = store_answer(s, s->type->complete(s, number, err));
    }
    store_point(s->env, STORE_COMPLETED);
    return rc;
}

sr_rc store_drop(struct store *s, uint64_t number, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    if (rc == SR_OK) {
        rc = store_answer(s, s->type->drop(s, number, err));
    }
    store_point(s->env, STORE_DROPPED);
    return rc;
}

sr_rc store_check_fence(struct store *s, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    return rc == SR_OK ? store_answer(s, s->type->check_fence(s, err)) : rc;
}

sr_rc store_mark_end(struct store *s, enum manifest_end end, struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    return rc == SR_OK ? store_answer(s, s->type->mark_end(s, end, err)) : rc;
}

sr_rc store_load_newest(struct store *s, struct arena *a, struct manifest **out,
                        struct sr_error *err)
{
    sr_rc rc = store_check_alive(s, err);
    return rc == SR_OK ? s->type->load_newest(s, a, out, err) : rc;
}
