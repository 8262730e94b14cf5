/* The kit's pending checkpoints: made complete or dropped, whenever the process dies. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "test/kit/store_kit.h"

#define KIT_OK(call) ck_assert_msg((call) == SR_OK, "%s", w->err.words)

/* The end that the newest one tells; *number: which it is, 0: there is none. */
static enum manifest_end pending_newest(struct store_world *w, struct store *s, uint64_t *number)
{
    struct arena *a = arena_new();
    struct manifest *m = NULL;
    enum manifest_end end = MANIFEST_RUNNING;
    sr_rc rc = store_load_newest(s, a, &m, &w->err);
    ck_assert_msg(rc == SR_OK || rc == SR_EABSENT, "%s", w->err.words);
    *number = rc == SR_OK ? m->checkpoint : 0;
    if (rc == SR_OK) {
        store_kit_check(m, m->checkpoint, m->lineage);
        end = m->end;
    }
    arena_free(a);
    return end;
}

static void pending_expect(struct store_world *w, struct store *s, uint64_t number,
                           enum manifest_end end)
{
    uint64_t is = 0;
    enum manifest_end is_end = pending_newest(w, s, &is);
    ck_assert_uint_eq(is, number);
    ck_assert_msg(number == 0 || is_end == end, "%s", manifest_end_name(is_end));
}

/* The store opened again, where it outlives that. */
static struct store *pending_reopen(struct store_world *w, struct store *s)
{
    if (w->form == STORE_MEMORY) {
        return s;
    }
    store_close(s);
    return store_kit_open(w);
}

void store_kit_pending(struct store_world *w)
{
    struct store *s = store_kit_open(w);
    KIT_OK(store_check_fence(s, &w->err));
    KIT_OK(store_kit_publish_pending(w, s, 1, 7));
    pending_expect(w, s, 1, MANIFEST_PENDING);
    ck_assert_int_eq(store_mark_end(s, MANIFEST_CANCELED, &w->err), SR_EBUSY);
    s = pending_reopen(w, s);
    pending_expect(w, s, 1, MANIFEST_PENDING);
    KIT_OK(store_complete(s, 1, &w->err));
    pending_expect(w, s, 1, MANIFEST_RUNNING);
    KIT_OK(store_complete(s, 1, &w->err)); /* once more is once */
    ck_assert_int_eq(store_drop(s, 1, &w->err), SR_EMISFIT);
    s = pending_reopen(w, s);
    pending_expect(w, s, 1, MANIFEST_RUNNING);

    KIT_OK(store_kit_publish_pending(w, s, 2, 7));
    KIT_OK(store_retain(s, 7, 1, &w->err));
    pending_expect(w, s, 2, MANIFEST_PENDING);
    KIT_OK(store_drop(s, 2, &w->err));
    pending_expect(w, s, 1, MANIFEST_RUNNING);
    s = pending_reopen(w, s);
    pending_expect(w, s, 1, MANIFEST_RUNNING);
    ck_assert_uint_eq(store_newest_id(s), 2); /* its number was used */
    KIT_OK(store_kit_publish_pending(w, s, 3, 7));
    KIT_OK(store_complete(s, 3, &w->err));
    KIT_OK(store_mark_end(s, MANIFEST_SUSPENDED, &w->err));
    pending_expect(w, s, 3, MANIFEST_SUSPENDED);

    /* A lineage that has nothing of its own is not gone on with from an older one's. */
    KIT_OK(store_kit_publish_pending(w, s, 4, 9));
    KIT_OK(store_drop(s, 4, &w->err));
    if (w->form != STORE_MEMORY) {
        pending_expect(w, s, 0, MANIFEST_RUNNING);
        s = pending_reopen(w, s);
        pending_expect(w, s, 0, MANIFEST_RUNNING);
    }
    KIT_OK(store_kit_publish_pending(w, s, 5, 9));
    KIT_OK(store_complete(s, 5, &w->err));
    s = pending_reopen(w, s);
    pending_expect(w, s, 5, MANIFEST_RUNNING);
    store_close(s);
}

/* Dies at this step of making it complete, or of dropping it. False: it came to its end. */
static bool pending_crash_at(enum store_form form, uint64_t step, bool is_kept,
                             enum disk_crash kind, enum disk_mercy mercy)
{
    struct store_world *w = store_world_new(form, true, step * 3 + 5);
    struct store *s = store_kit_open(w);
    KIT_OK(store_kit_publish(w, s, 1, 7));
    KIT_OK(store_kit_publish_pending(w, s, 2, 7));
    disk_crash_in(w->disk, step, kind);
    sr_rc rc = is_kept ? store_complete(s, 2, &w->err) : store_drop(s, 2, &w->err);
    bool was_hit = disk_is_off(w->disk);
    store_close(s);
    if (!was_hit) {
        ck_assert_msg(rc == SR_OK, "%s", w->err.words);
        disk_crash(w->disk, kind);
    }
    disk_restart(w->disk, mercy);
    disk_crash_never(w->disk);
    s = store_kit_open(w);
    uint64_t number = 0;
    enum manifest_end end = pending_newest(w, s, &number);
    bool is_pending = number == 2 && end == MANIFEST_PENDING;
    bool is_decided = is_kept ? number == 2 && end == MANIFEST_RUNNING : number == 1;
    ck_assert_msg(is_decided || (is_pending && was_hit), "%" PRIu64 " %s", number,
                  manifest_end_name(end));
    if (is_pending) {
        KIT_OK(is_kept ? store_complete(s, 2, &w->err) : store_drop(s, 2, &w->err));
    }
    pending_expect(w, s, is_kept ? 2 : 1, MANIFEST_RUNNING);
    KIT_OK(store_kit_publish_pending(w, s, 3, 7));
    pending_expect(w, s, 3, MANIFEST_PENDING);
    store_close(s);
    store_world_free(w);
    return was_hit;
}

void store_kit_pending_crash(enum store_form form)
{
    static const struct {
        enum disk_crash kind;
        enum disk_mercy mercy;
    } losses[] = {{DISK_KILL, DISK_EVERYTHING},
                  {DISK_POWER_LOSS, DISK_NOTHING},
                  {DISK_POWER_LOSS, DISK_SOME}};
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        for (int is_kept = 0; is_kept < 2; is_kept++) {
            uint64_t step = 0;
            while (pending_crash_at(form, step, is_kept != 0, losses[i].kind, losses[i].mercy)) {
                step++;
            }
            ck_assert_uint_gt(step, 2);
        }
    }
}
