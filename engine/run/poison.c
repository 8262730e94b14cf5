#include "engine/run/poison.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/room.h"
#include "engine/ckpt/durable.h"

#define POISON_VERSION    2u
#define POISON_TRIES      3                  /* to remove the list when nobody needs it any more */
#define POISON_FILE_BYTES ((size_t)64 << 20) /* no file of ours is larger */

/* --- Records ---------------------------------------------------------------------------------- */

static void poison_clear(struct poison_record *r)
{
    free(r->source);
    free(r->split);
    free(r->step);
    free(r->words);
    *r = (struct poison_record){.source = NULL};
}

static void poison_drop(struct poison *p, uint32_t count)
{
    while (count-- > 0) {
        poison_clear(&p->record[--p->records]);
    }
}

static char *poison_text(const char *s) { return strndup(s ? s : "", POISON_TEXT_MAX); }

static bool poison_copy(struct poison_record *to, const struct poison_record *from)
{
    *to = (struct poison_record){.source = poison_text(from->source),
                                 .split = poison_text(from->split),
                                 .step = poison_text(from->step),
                                 .words = poison_text(from->words),
                                 .from = from->from,
                                 .to = from->to,
                                 .failures = from->failures,
                                 .is_crash = from->is_crash,
                                 .is_decoding = from->is_decoding};
    if (to->source && to->split && to->step && to->words) return true;
    poison_clear(to);
    return false;
}

static sr_rc poison_add(struct poison *p, const struct poison_record *one, struct sr_error *err)
{
    struct poison_record *grown = room_for_one(p->record, p->records, &p->capacity, sizeof(*grown));
    if (!grown) return error_set(err, SR_ENOMEM, "poison: out of memory");
    p->record = grown;
    if (!poison_copy(&p->record[p->records], one)) {
        return error_set(err, SR_ENOMEM, "poison: out of memory");
    }
    p->records++;
    return SR_OK;
}

/* --- File ------------------------------------------------------------------------------------- */

static bool poison_put(struct sr_out *o, const struct poison *p)
{
    bool is_ok = bytes_put_u32(o, POISON_VERSION) && bytes_put_u32(o, p->suspects) &&
                 bytes_put_u32(o, p->records);
    for (uint32_t i = 0; i < p->records && is_ok; i++) {
        const struct poison_record *r = &p->record[i];
        is_ok = bytes_put_text(o, r->source) && bytes_put_text(o, r->split) &&
                bytes_put_text(o, r->step) && bytes_put_text(o, r->words) &&
                bytes_put_u64(o, (uint64_t)r->from) && bytes_put_u64(o, (uint64_t)r->to) &&
                bytes_put_u32(o, r->failures) && bytes_put_u8(o, r->is_crash ? 1 : 0) &&
                bytes_put_u8(o, r->is_decoding ? 1 : 0);
    }
    struct digest d = digest_of(o->data, o->len);
    return is_ok && bytes_put_u64(o, d.low) && bytes_put_u64(o, d.high);
}

static sr_rc poison_save(const struct poison *p, struct sr_error *err)
{
    if (!p->path) return SR_OK;
#ifdef MUTANT_POISON_UNNOTED /* a record that ends the process is counted from 1 for ever */
    return SR_OK;
#endif
    struct sr_out out = bytes_out();
    sr_rc rc = poison_put(&out, p) ? durable_replace(p->env, p->path, out.data, out.len, err)
                                   : error_set(err, SR_ENOMEM, "poison: out of memory");
    bytes_free(&out);
    return rc == SR_OK ? rc : error_wrap(err, "note which record failed the job");
}

static char *poison_get_text(struct bytes_in *in)
{
    struct sr_bytes b = bytes_get_blob(in);
    if (in->is_broken || b.len > POISON_TEXT_MAX) return NULL;
    return strndup(b.len > 0 ? b.data : "", b.len);
}

static bool poison_get(struct poison *p, const uint8_t *bytes, size_t len)
{
    const size_t tail = 2 * sizeof(uint64_t);
    if (len < tail) return false;
    struct bytes_in in = bytes_in(bytes, len - tail);
    struct bytes_in end = bytes_in(bytes + len - tail, tail);
    struct digest d = digest_of(bytes, len - tail);
    if (bytes_get_u64(&end) != d.low || bytes_get_u64(&end) != d.high) return false;
    if (bytes_get_u32(&in) != POISON_VERSION) return false;
    uint32_t suspects = bytes_get_u32(&in);
    uint32_t count = bytes_get_u32(&in);
    bool is_ok = count <= POISON_RECORDS_MAX + POISON_SUSPECTS_MAX && suspects <= count;
    for (uint32_t i = 0; i < count && is_ok; i++) {
        struct sr_error ignored;
        struct poison_record r = {.source = poison_get_text(&in)};
        r.split = poison_get_text(&in);
        r.step = poison_get_text(&in);
        r.words = poison_get_text(&in);
        r.from = (int64_t)bytes_get_u64(&in);
        r.to = (int64_t)bytes_get_u64(&in);
        r.failures = bytes_get_u32(&in);
        r.is_crash = bytes_get_u8(&in) != 0;
        r.is_decoding = bytes_get_u8(&in) != 0;
        is_ok = r.source && r.split && r.step && r.words && !in.is_broken &&
                poison_add(p, &r, &ignored) == SR_OK;
        poison_clear(&r);
    }
    p->suspects = is_ok ? suspects : 0;
    return is_ok && in.at == in.end;
}

static sr_rc poison_load(struct poison *p, struct sr_error *err)
{
    struct arena *a = arena_new();
    struct durable_bytes bytes = {.data = NULL};
    struct sr_error why = {.rc = SR_OK};
    if (!a) return error_set(err, SR_ENOMEM, "poison: out of memory");
    sr_rc rc = durable_read(p->env, p->path, POISON_FILE_BYTES, a, &bytes, &why);
    if (rc == SR_OK && !poison_get(p, bytes.data, bytes.len)) rc = SR_ECORRUPT;
    if (rc == SR_ECORRUPT) {
        env_log(p->env, SR_WARN, "poison", "%s is damaged: failures are counted anew", p->path);
        poison_drop(p, p->records);
        p->suspects = 0;
        p->is_damaged = true;
    } else if (rc != SR_OK && rc != SR_EABSENT) {
        *err = why;
        arena_free(a);
        return rc;
    }
    arena_free(a);
    return SR_OK;
}

sr_rc poison_open(struct poison *p, const struct env *env, const char *path, uint32_t failures_max,
                  struct sr_error *err)
{
    *p = (struct poison){.env = env, .path = path, .failures_max = failures_max};
    return path && failures_max > 0 ? poison_load(p, err) : SR_OK;
}

void poison_close(struct poison *p)
{
    poison_drop(p, p->records);
    free(p->record);
    p->record = NULL;
    p->capacity = 0;
}

sr_rc poison_lend(struct poison *out, const struct poison *p, struct sr_error *err)
{
    *out = (struct poison){.env = p->env, .failures_max = p->failures_max};
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < p->records && rc == SR_OK; i++) {
        rc = poison_add(out, &p->record[i], err);
    }
    out->suspects = p->suspects < out->records ? p->suspects : out->records;
    if (rc != SR_OK) poison_close(out);
    return rc;
}

/* --- Counting --------------------------------------------------------------------------------- */

static bool poison_is_of(const struct poison_record *r, const char *source, const char *split)
{
    return strcmp(r->source, source) == 0 && strcmp(r->split, split) == 0;
}

/* `one` failed: how often, if it is one of those suspected before; and what it can be at most. */
static void poison_count_on(const struct poison *p, struct poison_record *one)
{
    one->failures = 1;
    for (uint32_t i = p->records - p->suspects; i < p->records; i++) {
        const struct poison_record *old = &p->record[i];
        bool is_same = poison_is_of(old, one->source, one->split) && one->from <= old->to &&
                       one->to >= old->from;
        if (!is_same || old->failures + 1 <= one->failures) continue;
        one->failures = old->failures + 1;
        if (one->from < old->from) one->from = old->from;
        if (one->to > old->to) one->to = old->to;
    }
}

sr_rc poison_failed(struct poison *p, const struct poison_record *one, uint32_t count,
                    struct sr_error *err)
{
    sr_assert(p->failures_max > 0);
    uint32_t before = p->suspects, added = 0;
    count = count < POISON_SUSPECTS_MAX ? count : POISON_SUSPECTS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct poison_record next = one[i];
        sr_assert(next.from <= next.to);
        p->suspects = before; /* those that stand behind them are new */
        p->records -= added;
        poison_count_on(p, &next);
        p->records += added;
        sr_rc rc = poison_add(p, &next, err);
        p->suspects = 0; /* if this fails, nobody is suspected */
        if (rc != SR_OK) return rc;
        added++;
    }
    /* The new ones move to where the old ones were. */
    uint32_t first = p->records - added - before;
    for (uint32_t i = 0; i < before; i++) {
        poison_clear(&p->record[first + i]);
    }
    memmove(&p->record[first], &p->record[first + before], added * sizeof(*p->record));
    p->records -= before;
    p->suspects = added;
    return poison_save(p, err);
}

static bool poison_is_proven(const struct poison *p, const struct poison_record *one)
{
    return one->failures >= p->failures_max && one->from == one->to;
}

const struct poison_record *poison_proven(const struct poison *p)
{
    for (uint32_t i = p->records - p->suspects; i < p->records; i++) {
        if (poison_is_proven(p, &p->record[i])) return &p->record[i];
    }
    return NULL;
}

sr_rc poison_condemn(struct poison *p, struct sr_error *err)
{
    uint32_t at = p->records - p->suspects;
    for (uint32_t i = at; i < p->records; i++) {
        if (!poison_is_proven(p, &p->record[i])) continue;
        struct poison_record r = p->record[at];
        p->record[at++] = p->record[i];
        p->record[i] = r;
    }
    if (at > POISON_RECORDS_MAX) {
        return error_set(err, SR_ELIMIT, "more than %u records failed the job again and again",
                         POISON_RECORDS_MAX);
    }
    poison_drop(p, p->records - at);
    p->suspects = 0;
    return poison_save(p, err);
}

sr_rc poison_forgive(struct poison *p, struct sr_error *err)
{
    for (uint32_t i = p->records - p->suspects; i < p->records; i++) {
        if (poison_is_proven(p, &p->record[i])) p->record[i].failures = p->failures_max - 1;
    }
    return poison_save(p, err);
}

void poison_forget(struct poison *p)
{
    struct sr_error ignored; /* what stays is only counted on by the next run */
    sr_rc rc = p->path && (p->records > 0 || p->is_damaged) ? SR_EIO : SR_OK;
    for (int i = 0; i < POISON_TRIES && rc != SR_OK && rc != SR_EABSENT; i++) {
        rc = p->env->files->remove(p->env->files, p->path, &ignored);
    }
    poison_close(p);
    p->suspects = 0;
}

/* --- Asking ----------------------------------------------------------------------------------- */

const struct poison_record *poison_find(const struct poison *p, const char *source,
                                        const char *split, int64_t offset)
{
    uint32_t count = p->records - p->suspects;
    for (uint32_t i = 0; i < count; i++) {
        const struct poison_record *r = &p->record[i];
        if (r->from == offset && poison_is_of(r, source, split)) return r;
    }
    return NULL;
}

const struct poison_record *poison_next_unread(const struct poison *p, const char *source,
                                               const char *split, int64_t from)
{
    const struct poison_record *next = NULL;
    for (uint32_t i = 0; i < p->records - p->suspects; i++) {
        const struct poison_record *r = &p->record[i];
        bool is_ahead = r->is_decoding && r->from >= from && poison_is_of(r, source, split);
        if (is_ahead && (!next || r->from < next->from)) next = r;
    }
    return next;
}

/* Does one of the `count` records from `first` on lie in [from, to]? */
static bool poison_meets(const struct poison_record *first, uint32_t count, const char *source,
                         const char *split, int64_t from, int64_t to)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct poison_record *r = &first[i];
        if (r->from <= to && r->to >= from && poison_is_of(r, source, split)) return true;
    }
    return false;
}

bool poison_has_any(const struct poison *p, const char *source, const char *split, int64_t from,
                    int64_t to)
{
    return poison_meets(p->record, p->records - p->suspects, source, split, from, to);
}

bool poison_has_suspect(const struct poison *p, const char *source, const char *split, int64_t from,
                        int64_t to)
{
    if (p->suspects == 0) return false;
    return poison_meets(p->record + p->records - p->suspects, p->suspects, source, split, from, to);
}
