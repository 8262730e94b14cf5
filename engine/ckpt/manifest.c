#include "engine/ckpt/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"

static const char manifest_magic[8] = {'S', 'R', 'C', 'H', 'K', 'P', 'T', '\n'};

#define MANIFEST_HEAD 12u /* magic and version */
#define MANIFEST_TAIL 24u /* length and digest */
/* The least that one entry can take: what a count in a damaged file is held against. */
#define MANIFEST_PART_LEAST    (4u + 4u + 4u + 4u + 8u + 16u)
#define MANIFEST_COUNTER_LEAST (4u + 8u)

static const char *const manifest_ends[] = {"running",  "suspended", "stopped",
                                            "canceled", "finished",  "pending"};
_Static_assert(sizeof(manifest_ends) / sizeof(manifest_ends[0]) == MANIFEST_ENDS,
               "a word for each end");

const char *manifest_end_name(enum manifest_end end)
{
    sr_assert((unsigned)end < sizeof(manifest_ends) / sizeof(manifest_ends[0]));
    return manifest_ends[end];
}

bool manifest_is_over(enum manifest_end end)
{
    return end == MANIFEST_STOPPED || end == MANIFEST_CANCELED || end == MANIFEST_FINISHED;
}

bool manifest_end_of(const char *name, enum manifest_end *end)
{
    for (unsigned i = 0; i < sizeof(manifest_ends) / sizeof(manifest_ends[0]); i++) {
        if (strcmp(name, manifest_ends[i]) == 0) {
            *end = (enum manifest_end)i;
            return true;
        }
    }
    return false;
}

/* --- Order and bounds ------------------------------------------------------------------------- */

static int manifest_compare_parts(const void *a, const void *b)
{
    const struct manifest_part *x = a;
    const struct manifest_part *y = b;
    int uid = strcmp(x->uid, y->uid);
    if (uid != 0) {
        return uid;
    }
    int name = strcmp(x->name, y->name);
    if (name != 0) {
        return name;
    }
    return (x->part > y->part) - (x->part < y->part);
}

void manifest_order(struct manifest *m)
{
    if (m->parts > 1) {
        qsort(m->part, m->parts, sizeof(*m->part), manifest_compare_parts);
    }
}

uint64_t manifest_bytes(const struct manifest *m)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->parts; i++) {
        bytes += m->part[i].len;
    }
    return bytes;
}

void manifest_let_go(struct manifest *m, struct arena *a, const char *name)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        struct manifest_part *p = &m->part[i];
        if (p->bytes && p->len >= ARENA_DROP_LEAST && strcmp(p->name, name) == 0) {
            arena_drop(a, p->bytes);
            p->bytes = NULL;
        }
    }
}

/* Bytes of the UTF-8 character at s, or 0: overlong forms, surrogates and NUL are none. */
static size_t manifest_utf8(const uint8_t *s, size_t len)
{
    if (s[0] < 0x80) {
        return s[0] == 0 ? 0 : 1;
    }
    size_t n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] < 0xc2 || s[0] > 0xf4 || len < n) {
        return 0;
    }
    uint32_t c = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

static bool manifest_is_text(const uint8_t *s, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t n = manifest_utf8(s + at, len - at);
        if (n == 0) {
            return false;
        }
        at += n;
    }
    return true;
}

static bool manifest_fits(const char *s, size_t max)
{
    size_t len = s ? strlen(s) : SIZE_MAX;
    return len <= max && manifest_is_text((const uint8_t *)s, len);
}

static sr_rc manifest_check_part(const struct manifest *m, uint32_t i, struct sr_error *err)
{
    const struct manifest_part *p = &m->part[i];
    if (!manifest_fits(p->uid, MANIFEST_NAME_MAX) || !manifest_fits(p->name, MANIFEST_NAME_MAX)) {
        return error_set(err, SR_ELIMIT,
                         "part %" PRIu32 ": its uid or name is longer than %u bytes or not UTF-8",
                         i, MANIFEST_NAME_MAX);
    }
    if (p->parts == 0 || p->parts > MANIFEST_SUBTASKS_MAX || p->part >= p->parts) {
        return error_set(err, SR_ELIMIT, "part %s/%s: subtask %" PRIu32 " of %" PRIu32, p->uid,
                         p->name, p->part, p->parts);
    }
    if (i > 0 && manifest_compare_parts(&m->part[i - 1], p) >= 0) {
        return error_set(err, SR_ELIMIT, "part %s/%s/%" PRIu32 " stands twice or out of order",
                         p->uid, p->name, p->part);
    }
    return SR_OK;
}

static sr_rc manifest_check_head(const struct manifest *m, struct sr_error *err)
{
    if (!manifest_fits(m->job_id, MANIFEST_NAME_MAX) ||
        !manifest_fits(m->job_name, MANIFEST_NAME_MAX) ||
        !manifest_fits(m->made_by, MANIFEST_NAME_MAX)) {
        return error_set(err, SR_ELIMIT,
                         "the job's id or name is missing, longer than %u bytes or not UTF-8",
                         MANIFEST_NAME_MAX);
    }
    if (!manifest_fits(m->description, MANIFEST_DESCRIPTION_MAX)) {
        return error_set(err, SR_ELIMIT,
                         "the job description is missing, longer than %u bytes or not UTF-8",
                         MANIFEST_DESCRIPTION_MAX);
    }
    if (m->parts > MANIFEST_PARTS_MAX || m->counters > MANIFEST_COUNTERS_MAX) {
        return error_set(err, SR_ELIMIT, "%" PRIu32 " parts and %" PRIu32 " counters are too many",
                         m->parts, m->counters);
    }
    if (m->checkpoint == 0) {
        return error_set(err, SR_ELIMIT, "the checkpoint has no number");
    }
    return SR_OK;
}

sr_rc manifest_check(const struct manifest *m, struct sr_error *err)
{
    sr_rc rc = manifest_check_head(m, err);
    uint64_t bytes = 0;
    for (uint32_t i = 0; rc == SR_OK && i < m->parts; i++) {
        rc = manifest_check_part(m, i, err);
        if (rc == SR_OK && __builtin_add_overflow(bytes, m->part[i].len, &bytes)) {
            rc = error_set(err, SR_ELIMIT, "the parts are together larger than 2^64 bytes");
        }
    }
    for (uint32_t i = 0; rc == SR_OK && i < m->counters; i++) {
        if (!manifest_fits(m->counter[i].name, MANIFEST_NAME_MAX)) {
            rc = error_set(err, SR_ELIMIT, "counter %" PRIu32 ": its name is no name", i);
        }
    }
    return rc;
}

/* --- Encoding --------------------------------------------------------------------------------- */

static bool manifest_put_head(const struct manifest *m, struct sr_out *out)
{
    return bytes_put(out, manifest_magic, sizeof(manifest_magic)) &&
           bytes_put_u32(out, MANIFEST_VERSION) && bytes_put_u8(out, (uint8_t)m->kind) &&
           bytes_put_u8(out, (uint8_t)m->end) && bytes_put_u64(out, m->checkpoint) &&
           bytes_put_u64(out, m->lineage) && bytes_put_u64(out, m->attempt) &&
           bytes_put_u64(out, m->parent) && bytes_put_u64(out, (uint64_t)m->started_us) &&
           bytes_put_u64(out, (uint64_t)m->ended_us) && bytes_put_u32(out, m->max_parallelism) &&
           bytes_put_text(out, m->job_id) && bytes_put_text(out, m->job_name) &&
           bytes_put_text(out, m->description) && bytes_put_text(out, m->made_by);
}

static bool manifest_put_part(const struct manifest_part *p, struct sr_out *out)
{
    return bytes_put_text(out, p->uid) && bytes_put_text(out, p->name) &&
           bytes_put_u32(out, p->part) && bytes_put_u32(out, p->parts) &&
           bytes_put_u64(out, p->len) && bytes_put_u64(out, p->digest.low) &&
           bytes_put_u64(out, p->digest.high);
}

static bool manifest_put_tail(struct sr_out *out, size_t start)
{
    size_t len = out->len - start;
    if (!bytes_put_u64(out, len)) {
        return false;
    }
    struct digest d = digest_of(out->data + start, out->len - start);
    return bytes_put_u64(out, d.low) && bytes_put_u64(out, d.high);
}

bool manifest_encode(const struct manifest *m, struct sr_out *out)
{
    size_t start = out->len;
    bool is_ok = manifest_put_head(m, out) && bytes_put_u32(out, m->parts);
    for (uint32_t i = 0; is_ok && i < m->parts; i++) {
        sr_assert(i == 0 || manifest_compare_parts(&m->part[i - 1], &m->part[i]) < 0);
        is_ok = manifest_put_part(&m->part[i], out);
    }
    is_ok = is_ok && bytes_put_u32(out, m->counters);
    for (uint32_t i = 0; is_ok && i < m->counters; i++) {
        is_ok = bytes_put_text(out, m->counter[i].name) &&
                bytes_put_u64(out, (uint64_t)m->counter[i].value);
    }
    return is_ok && manifest_put_tail(out, start);
}

/* --- Decoding --------------------------------------------------------------------------------- */

struct manifest_reader {
    struct bytes_in in;
    struct arena *arena;
    const char *wrong; /* the first thing that cannot be; NULL: none */
};

static void manifest_wrong(struct manifest_reader *r, const char *what)
{
    if (!r->wrong) {
        r->wrong = what;
    }
}

static const char *manifest_get_text(struct manifest_reader *r, size_t max, const char *what)
{
    struct sr_bytes b = bytes_get_blob(&r->in);
    if (r->in.is_broken || b.len > max || !manifest_is_text(b.data, b.len)) {
        manifest_wrong(r, what);
        return "";
    }
    const char *s = arena_text_n(r->arena, b.data, b.len);
    return s ? s : "";
}

static uint32_t manifest_get_count(struct manifest_reader *r, uint32_t max, size_t least,
                                   const char *what)
{
    uint32_t count = bytes_get_u32(&r->in);
    if (count > max || count > (size_t)(r->in.end - r->in.at) / least) {
        manifest_wrong(r, what);
        return 0;
    }
    return count;
}

static void manifest_get_head(struct manifest_reader *r, struct manifest *m)
{
    uint8_t kind = bytes_get_u8(&r->in);
    uint8_t end = bytes_get_u8(&r->in);
    if (kind > MANIFEST_SAVEPOINT || end >= MANIFEST_ENDS) {
        manifest_wrong(r, "an unknown kind of checkpoint or end of a run");
        return;
    }
    m->kind = (enum manifest_kind)kind;
    m->end = (enum manifest_end)end;
    m->checkpoint = bytes_get_u64(&r->in);
    m->lineage = bytes_get_u64(&r->in);
    m->attempt = bytes_get_u64(&r->in);
    m->parent = bytes_get_u64(&r->in);
    m->started_us = (int64_t)bytes_get_u64(&r->in);
    m->ended_us = (int64_t)bytes_get_u64(&r->in);
    m->max_parallelism = bytes_get_u32(&r->in);
    m->job_id = manifest_get_text(r, MANIFEST_NAME_MAX, "the job's id is no text");
    m->job_name = manifest_get_text(r, MANIFEST_NAME_MAX, "the job's name is no text");
    m->description =
        manifest_get_text(r, MANIFEST_DESCRIPTION_MAX, "the job description is no text");
    m->made_by = manifest_get_text(r, MANIFEST_NAME_MAX, "the maker's name is no text");
    if (m->checkpoint == 0) {
        manifest_wrong(r, "the checkpoint has number 0");
    }
}

static void manifest_get_part(struct manifest_reader *r, struct manifest_part *p)
{
    p->uid = manifest_get_text(r, MANIFEST_NAME_MAX, "a part's uid is no text");
    p->name = manifest_get_text(r, MANIFEST_NAME_MAX, "a part's name is no text");
    p->part = bytes_get_u32(&r->in);
    p->parts = bytes_get_u32(&r->in);
    p->len = bytes_get_u64(&r->in);
    p->digest.low = bytes_get_u64(&r->in);
    p->digest.high = bytes_get_u64(&r->in);
    if (p->parts == 0 || p->parts > MANIFEST_SUBTASKS_MAX || p->part >= p->parts) {
        manifest_wrong(r, "a part's subtask is not one of those there were");
    }
}

static void manifest_get_parts(struct manifest_reader *r, struct manifest *m)
{
    m->parts = manifest_get_count(r, MANIFEST_PARTS_MAX, MANIFEST_PART_LEAST, "too many parts");
    m->part = arena_array(r->arena, m->parts, sizeof(*m->part));
    if (!m->part) {
        return; /* the arena remembers */
    }
    uint64_t bytes = 0;
    for (uint32_t i = 0; !r->wrong && i < m->parts; i++) {
        manifest_get_part(r, &m->part[i]);
        if (__builtin_add_overflow(bytes, m->part[i].len, &bytes)) {
            manifest_wrong(r, "the parts are larger than can be");
        }
        if (i > 0 && manifest_compare_parts(&m->part[i - 1], &m->part[i]) >= 0) {
            manifest_wrong(r, "the parts are not in order");
        }
    }
}

static void manifest_get_counters(struct manifest_reader *r, struct manifest *m)
{
    m->counters =
        manifest_get_count(r, MANIFEST_COUNTERS_MAX, MANIFEST_COUNTER_LEAST, "too many counters");
    m->counter = arena_array(r->arena, m->counters, sizeof(*m->counter));
    for (uint32_t i = 0; m->counter && !r->wrong && i < m->counters; i++) {
        m->counter[i].name = manifest_get_text(r, MANIFEST_NAME_MAX, "a counter's name is no text");
        m->counter[i].value = (int64_t)bytes_get_u64(&r->in);
    }
}

static sr_rc manifest_corrupt(struct sr_error *err, const char *what)
{
    return error_set(err, SR_ECORRUPT, "damaged metadata: %s", what);
}

/* Head and tail: whether the bytes are, as a whole, what was once written. */
static sr_rc manifest_check_frame(const uint8_t *bytes, size_t len, struct sr_error *err)
{
    if (len < MANIFEST_HEAD + MANIFEST_TAIL) {
        return manifest_corrupt(err, len == 0 ? "it is empty" : "it is cut off");
    }
    if (len > MANIFEST_BYTES_MAX) {
        return manifest_corrupt(err, "it is larger than any can be");
    }
    if (memcmp(bytes, manifest_magic, sizeof(manifest_magic)) != 0) {
        return manifest_corrupt(err, "it does not begin as a checkpoint of streamrun does");
    }
    struct bytes_in tail = bytes_in(bytes + len - MANIFEST_TAIL, MANIFEST_TAIL);
    if (bytes_get_u64(&tail) != len - MANIFEST_TAIL) {
        return manifest_corrupt(err, "its length is not the one that it was written with");
    }
    struct digest told = {.low = bytes_get_u64(&tail)};
    told.high = bytes_get_u64(&tail);
#ifndef MUTANT_SKIP_DIGEST /* a mutant that believes what it reads */
    struct digest is = digest_of(bytes, len - 16);
    if (told.low != is.low || told.high != is.high) {
        return manifest_corrupt(err, "its digest does not match its bytes");
    }
#endif
    return SR_OK;
}

sr_rc manifest_decode(struct arena *a, const void *bytes, size_t len, struct manifest **out,
                      struct sr_error *err)
{
    sr_rc rc = manifest_check_frame(bytes, len, err);
    if (rc != SR_OK) {
        return rc;
    }
    const uint8_t *first = bytes;
    struct manifest_reader r = {.arena = a};
    r.in = bytes_in(first + sizeof(manifest_magic), len - sizeof(manifest_magic) - MANIFEST_TAIL);
    struct manifest *m = arena_get(a, sizeof(*m));
    if (!m) {
        return error_set(err, SR_ENOMEM, "reading metadata: out of memory");
    }
    m->version = bytes_get_u32(&r.in);
    if (m->version > MANIFEST_VERSION) {
        return error_set(err, SR_EMISFIT,
                         "written by a newer streamrun: format %" PRIu32
                         ", this one reads up to %u",
                         m->version, MANIFEST_VERSION);
    }
    if (m->version == 0) {
        return manifest_corrupt(err, "it has format 0");
    }
    manifest_get_head(&r, m);
    if (!r.wrong) {
        manifest_get_parts(&r, m);
    }
    if (!r.wrong) {
        manifest_get_counters(&r, m);
    }
    if (arena_is_broken(a)) {
        return error_set(err, SR_ENOMEM, "reading metadata: out of memory");
    }
    if (r.wrong || r.in.is_broken || r.in.at != r.in.end) {
        return manifest_corrupt(err, r.wrong ? r.wrong : "its fields do not fill it");
    }
    *out = m;
    return SR_OK;
}
