/* The directory store: how a run ended, what became of a pending checkpoint, and deletions. */
#include <inttypes.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/chkdir.h"
#include "engine/ckpt/store_dir_inner.h"

/* --- Marks ------------------------------------------------------------------------------------ */

struct store_dir_marked {
    const char *mark;     /* path of ended-N */
    struct digest digest; /* of its checkpoint's metadata */
    enum manifest_end end;
    uint64_t lineage;
};

/* Checkpoint `number`, and its mark as it is. */
static sr_rc store_dir_look_at(const struct store *s, uint64_t number, struct arena *a,
                               struct store_dir_marked *out, struct sr_error *err)
{
    struct manifest *m = NULL;
    const char *path = jobdir_path(a, s->place, number);
    out->mark = jobdir_end_path(a, s->place, number);
    sr_rc rc = path && out->mark ? chkdir_read(s->env, path, a, &m, &out->digest, err)
                                 : store_dir_no_memory(err);
    if (rc != SR_OK || !m) {
        return rc;
    }
    out->end = m->end;
    out->lineage = m->lineage;
    return jobdir_read_end(s->env, out->mark, out->digest, &out->end, err);
}

static sr_rc store_dir_mark(struct store *s, const struct store_dir_marked *c,
                            enum manifest_end end, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    sr_rc rc = jobdir_write_end(s->env, own->draft, c->mark, &c->digest, end, err);
    return store_dir_absent(s, rc, err);
}

sr_rc store_dir_mark_end(struct store *s, enum manifest_end end, struct sr_error *err)
{
    const char *path = NULL;
    uint64_t number = 0;
    struct store_dir_marked c = {.mark = NULL};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = store_dir_newest_path(s, a, &path, &number, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_look_at(s, number, a, &c, err);
    }
    if (rc == SR_OK && c.end == MANIFEST_PENDING) {
        rc = store_is_pending(number, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_mark(s, &c, end, err);
    }
    store_point(s->env, STORE_MARKED);
    arena_free(a);
    return rc;
}

/* --- Pending ones ----------------------------------------------------------------------------- */

sr_rc store_dir_complete(struct store *s, uint64_t number, struct sr_error *err)
{
    struct store_dir_marked c = {.mark = NULL};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = store_dir_look_at(s, number, a, &c, err);
    }
    if (rc == SR_OK && c.end == MANIFEST_PENDING) {
        rc = store_dir_mark(s, &c, MANIFEST_RUNNING, err);
    }
    arena_free(a);
    return rc;
}

/* The newest one before `number`; -1: there is none. */
static int64_t store_dir_before(const struct jobdir *j, uint64_t number)
{
    int64_t before = -1;
    for (uint32_t i = 0; i < j->count && j->checkpoint[i].number < number; i++) {
        const struct jobdir_checkpoint *c = &j->checkpoint[i];
        before = c->is_late || c->is_retired ? before : (int64_t)i;
    }
    return before;
}

/* Before one is dropped: its number stays used; and if its lineage has no older one to go back to,
 * nothing goes on by itself from what older lineages left. One that cannot be read may be either.
 */
static sr_rc store_dir_note_drop(const struct store *s, const struct jobdir *j, uint64_t number,
                                 uint64_t lineage, struct sr_error *err)
{
    struct counters c;
    int64_t before = store_dir_before(j, number);
    if (before >= 0 && j->checkpoint[before].is_damaged) {
        return error_set(err, SR_ECORRUPT,
                         "checkpoint %" PRIu64 " is not to be gone on from, and chk-%" PRIu64
                         ", which was before it, is damaged",
                         number, j->checkpoint[before].number);
    }
    bool has_older = before >= 0 && j->checkpoint[before].lineage == lineage;
    sr_rc rc = store_dir_read_counters(s, &c, err);
    if (rc == SR_OK) {
        c.newest = number > c.newest ? number : c.newest;
        c.retired = has_older ? c.retired : number;
        rc = store_dir_write_counters(s, &c, err);
    }
    return rc;
}

sr_rc store_dir_drop(struct store *s, uint64_t number, struct sr_error *err)
{
    struct jobdir j = {0};
    struct store_dir_marked c = {.mark = NULL};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = jobdir_scan(s->env, s->place, a, &j, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_look_at(s, number, a, &c, err);
    }
    if (rc == SR_OK && c.end != MANIFEST_PENDING) {
        rc = store_is_complete(number, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_note_drop(s, &j, number, c.lineage, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_trash_checkpoint(s, number, err);
    }
    if (rc == SR_OK) {
        const struct store_dir *own = s->own;
        rc = store_dir_sync_move(s, own->build, err);
        rc = rc == SR_OK ? store_dir_empty(s, own->build, err) : rc;
    }
    arena_free(a);
    return rc;
}

/* --- Deleting --------------------------------------------------------------------------------- */

static bool store_dir_is_victim(const struct jobdir_checkpoint *c, uint64_t lineage,
                                uint64_t number)
{
    return number != 0 ? c->number == number
                       : !c->is_damaged && !c->is_late && c->lineage == lineage;
}

/* The newest one is to go: first it is noted that nothing goes on from what is left. */
static sr_rc store_dir_retire(const struct store *s, const struct jobdir *j, uint64_t lineage,
                              uint64_t number, struct sr_error *err)
{
    struct counters c;
    int64_t newest = jobdir_newest(j);
    if (newest < 0 || !store_dir_is_victim(&j->checkpoint[newest], lineage, number)) {
        return SR_OK;
    }
    sr_rc rc = store_dir_read_counters(s, &c, err);
    if (rc == SR_OK) {
        c.retired = j->checkpoint[newest].number;
        rc = store_dir_write_counters(s, &c, err);
    }
    return rc;
}

sr_rc store_dir_remove(struct store *s, uint64_t lineage, uint64_t number, struct sr_error *err)
{
    struct jobdir j = {0};
    uint32_t victims = 0;
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = jobdir_scan(s->env, s->place, a, &j, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_retire(s, &j, lineage, number, err);
    }
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        if (store_dir_is_victim(&j.checkpoint[i], lineage, number)) {
            rc = store_dir_trash_checkpoint(s, j.checkpoint[i].number, err);
            victims++;
        }
    }
    if (rc == SR_OK && victims > 0) {
        const struct store_dir *own = s->own;
        rc = store_dir_sync_move(s, own->build, err);
        rc = rc == SR_OK ? store_dir_empty(s, own->build, err) : rc;
    }
    arena_free(a);
    if (rc == SR_OK && number != 0 && victims == 0) {
        return error_set(err, SR_EABSENT, "there is no chk-%" PRIu64 " in %s", number, s->place);
    }
    return rc;
}
