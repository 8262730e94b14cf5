#include "connectors/filesystem/fs_writer.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"

static sr_rc fs_writer_no_memory(struct fs_writer *w, struct sr_error *err)
{
    (void)w->host->fail(w->host, err, SR_ENOMEM, "out of memory");
    return SR_ENOMEM;
}

sr_rc fs_names_add(struct fs_names *l, struct fs_part_name *name)
{
    void *moved = list_room(l->item, l->count, &l->capacity, sizeof(*l->item));
    if (!moved) {
        fs_part_name_done(name);
        return SR_ENOMEM;
    }
    l->item = moved;
    l->item[l->count++] = *name;
    *name = (struct fs_part_name){0};
    return SR_OK;
}

void fs_names_clear(struct fs_names *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        fs_part_name_done(&l->item[i]);
    }
    l->count = 0;
}

/* --- The table ------------------------------------------------------------------------------- */

static struct fs_bucket **fs_writer_slot(struct fs_writer *w, const char *partition)
{
    uint32_t h = 5381;
    for (const char *s = partition; *s; s++) {
        h = h * 33 + (uint8_t)*s;
    }
    struct fs_bucket **slot = &w->head[h % FS_WRITER_HEADS];
    while (*slot && strcmp((*slot)->part.name.partition, partition) != 0) {
        slot = &(*slot)->next;
    }
    return slot;
}

static sr_rc fs_writer_add(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    void *moved = list_room((void *)w->item, w->count, &w->capacity, sizeof(struct fs_bucket *));
    if (!moved) {
        return fs_writer_no_memory(w, err);
    }
    w->item = moved;
    struct fs_bucket **slot = fs_writer_slot(w, b->part.name.partition);
    b->next = NULL;
    b->index = w->count;
    *slot = b;
    w->item[w->count++] = b;
    w->opens++;
    return SR_OK;
}

/* Takes it out of the table; its part is done with afterwards. */
static void fs_writer_remove(struct fs_writer *w, struct fs_bucket *b)
{
    struct fs_bucket **slot = fs_writer_slot(w, b->part.name.partition);
    *slot = b->next;
    w->item[b->index] = w->item[--w->count];
    w->item[b->index]->index = b->index;
    w->opens -= fs_part_is_open(&b->part) ? 1 : 0;
}

static void fs_writer_free(struct fs_writer *w, struct fs_bucket *b)
{
    fs_part_done(&b->part, NULL);
    pack_close(b->pack);
    note_free(&b->held);
    if (!w->spare.data) {
        w->spare = b->part.buf;
    } else {
        note_free(&b->part.buf);
    }
    free(b);
}

/* --- Open and parked ------------------------------------------------------------------------- */

static sr_rc fs_writer_end_member(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    return !b->pack || pack_end(b->pack, &b->part.buf) ? SR_OK : fs_writer_no_memory(w, err);
}

static sr_rc fs_writer_park(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    sr_rc rc = fs_writer_end_member(w, b, err);
    if (rc == SR_OK) {
        pack_close(w->spare_pack);
        w->spare_pack = b->pack;
        b->pack = NULL;
        rc = fs_part_park(&b->part, err);
    }
    if (!fs_part_is_open(&b->part)) {
        w->opens--;
    }
    return rc;
}

/* The one that took no row for longest, among those with an open file, or among all. */
static struct fs_bucket *fs_writer_oldest(const struct fs_writer *w, bool is_open)
{
    struct fs_bucket *oldest = NULL;
    for (uint32_t i = 0; i < w->count; i++) {
        struct fs_bucket *b = w->item[i];
        if ((!is_open || fs_part_is_open(&b->part)) && (!oldest || b->used < oldest->used)) {
            oldest = b;
        }
    }
    return oldest;
}

/* Room for one more open file. */
static sr_rc fs_writer_make_room(struct fs_writer *w, struct sr_error *err)
{
    uint32_t max = w->pack == PACK_NONE ? FS_OPEN_MAX : FS_OPEN_PACKED_MAX;
    return w->opens < max ? SR_OK : fs_writer_park(w, fs_writer_oldest(w, true), err);
}

static sr_rc fs_writer_append(struct fs_writer *w, struct fs_bucket *b, const void *bytes,
                              size_t len, struct sr_error *err)
{
    if (w->pack != PACK_NONE && !b->pack && len > 0) {
        b->pack = w->spare_pack ? w->spare_pack : pack_open(w->pack);
        w->spare_pack = NULL;
        if (!b->pack) {
            return fs_writer_no_memory(w, err);
        }
    }
    if (b->pack) {
        return pack_add(b->pack, bytes, len, &b->part.buf) ? SR_OK : fs_writer_no_memory(w, err);
    }
    uint8_t *to = sr_out_room(&b->part.buf, len > 0 ? len : 1);
    if (!to) {
        return fs_writer_no_memory(w, err);
    }
    memcpy(to, bytes, len);
    b->part.buf.len += len;
    return SR_OK;
}

/* Rows that came while the part was parked go into it. */
static sr_rc fs_writer_let_go(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    sr_rc rc = b->held.len > 0 ? fs_writer_append(w, b, b->held.data, b->held.len, err) : SR_OK;
    if (rc == SR_OK) {
        note_free(&b->held);
    }
    return rc;
}

static sr_rc fs_writer_wake(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    if (fs_part_is_open(&b->part)) {
        return SR_OK;
    }
    b->used = ++w->clock; /* not the one that makes room */
    sr_rc rc = fs_writer_make_room(w, err);
    if (rc == SR_OK) {
        rc = fs_part_wake(&b->part, err);
    }
    w->opens += rc == SR_OK ? 1 : 0;
    return rc == SR_OK ? fs_writer_let_go(w, b, err) : rc;
}

/* --- Ends ------------------------------------------------------------------------------------ */

sr_rc fs_writer_sync(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    sr_rc rc = fs_writer_wake(w, b, err);
    if (rc == SR_OK) {
        rc = fs_writer_end_member(w, b, err);
    }
    return rc == SR_OK ? fs_part_sync(&b->part, err) : rc;
}

sr_rc fs_writer_close(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    sr_rc rc = fs_writer_sync(w, b, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct fs_part_name name;
    fs_writer_remove(w, b);
    fs_part_done(&b->part, &name);
    fs_writer_free(w, b);
    return fs_names_add(&w->ready, &name) == SR_OK ? SR_OK : fs_writer_no_memory(w, err);
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* What stands before the first row. */
static sr_rc fs_writer_head(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    if (!w->space.grow) {
        w->space = note_out();
    }
    w->space.len = 0;
    sr_rc rc = encoder_head(w->encoder, &w->space, err);
    return rc == SR_OK && w->space.len > 0
               ? fs_writer_append(w, b, w->space.data, w->space.len, err)
               : rc;
}

static sr_rc fs_writer_new(struct fs_writer *w, const char *partition,
                           const struct fs_part_name *from, struct fs_bucket **out,
                           struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (w->count >= FS_WRITTEN_MAX) {
        rc = fs_writer_close(w, fs_writer_oldest(w, false), err);
    }
    if (rc == SR_OK) {
        rc = fs_writer_make_room(w, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    struct fs_bucket *b = calloc(1, sizeof(*b));
    if (!b) {
        return fs_writer_no_memory(w, err);
    }
    b->part.buf = w->spare;
    w->spare = (struct sr_out){0};
    b->used = ++w->clock;
    rc = fs_place_new_part(w->place, partition, from, &b->part, err);
    if (rc == SR_OK) {
        rc = fs_writer_add(w, b, err);
    }
    if (rc != SR_OK) {
        fs_writer_free(w, b);
        return rc;
    }
    *out = b;
    return SR_OK;
}

sr_rc fs_writer_find(struct fs_writer *w, const char *partition, struct fs_bucket **out,
                     struct sr_error *err)
{
    struct fs_bucket *b = *fs_writer_slot(w, partition);
    sr_rc rc = SR_OK;
    if (b) {
        rc = fs_writer_wake(w, b, err);
    } else {
        rc = fs_writer_new(w, partition, NULL, &b, err);
        rc = rc == SR_OK ? fs_writer_head(w, b, err) : rc;
    }
    if (rc == SR_OK) {
        b->used = ++w->clock;
        *out = b;
    }
    return rc;
}

sr_rc fs_writer_restore(struct fs_writer *w, const struct fs_part_name *from, struct sr_error *err)
{
    struct fs_bucket *other = *fs_writer_slot(w, from->partition), *b = NULL;
    sr_rc rc = other ? fs_writer_close(w, other, err) : SR_OK; /* a second writer's ends here */
    if (rc == SR_OK) {
        rc = fs_writer_new(w, from->partition, from, &b, err);
    }
    if (rc == SR_OK && b) {
        b->rows = 1;
    }
    return rc;
}

bool fs_writer_is_due(const struct fs_writer *w, const struct fs_bucket *b)
{
    if (w->place->is_plain || b->rows == 0) {
        return false;
    }
    if (fs_part_length(&b->part) >= w->roll_bytes) {
        return true;
    }
    int64_t now_us = w->roll_us > 0 ? w->host->mono_us(w->host) : 0;
    return w->roll_us > 0 && (now_us - b->part.created_us >= w->roll_us ||
                              now_us - b->part.touched_us >= w->inactive_us);
}

sr_rc fs_writer_took(struct fs_writer *w, struct fs_bucket *b, uint64_t rows, struct sr_error *err)
{
    b->rows += rows;
    if (w->roll_us > 0) {
        b->part.touched_us = w->host->mono_us(w->host);
    }
    sr_rc rc = fs_part_write(&b->part, err);
    return rc == SR_OK && fs_writer_is_due(w, b) ? fs_writer_close(w, b, err) : rc;
}

bool fs_writer_knows(struct fs_writer *w, const char *partition)
{
    return *fs_writer_slot(w, partition) != NULL;
}

sr_rc fs_writer_relieve(struct fs_writer *w, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < w->count; i++) {
        struct fs_bucket *b = w->item[i];
        rc = fs_part_is_open(&b->part) ? fs_part_write(&b->part, err) : SR_OK;
    }
    return rc;
}

sr_rc fs_writer_put(struct fs_writer *w, struct fs_bucket *b, const struct sr_bytes *bytes,
                    uint64_t rows, struct sr_error *err)
{
    sr_rc rc = fs_writer_append(w, b, bytes->data, bytes->len, err);
    return rc == SR_OK ? fs_writer_took(w, b, rows, err) : rc;
}

sr_rc fs_writer_hold(struct fs_writer *w, const char *partition, const struct sr_bytes *bytes,
                     uint64_t rows, bool *is_held, struct sr_error *err)
{
    struct fs_bucket *b = *fs_writer_slot(w, partition);
    *is_held = b && !fs_part_is_open(&b->part) && b->held.len + bytes->len < FS_HELD;
    if (!*is_held) {
        return SR_OK;
    }
    if (!b->held.grow) {
        b->held = note_out();
    }
    uint8_t *to = sr_out_room(&b->held, (size_t)bytes->len + 1);
    if (!to) {
        return fs_writer_no_memory(w, err);
    }
    if (bytes->len > 0) {
        memcpy(to, bytes->data, bytes->len);
    }
    b->held.len += bytes->len;
    b->rows += rows;
    b->used = ++w->clock;
    if (w->roll_us > 0) {
        b->part.touched_us = w->host->mono_us(w->host);
    }
    return SR_OK;
}

sr_rc fs_writer_drop(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err)
{
    struct fs_part_name name;
    fs_writer_remove(w, b);
    fs_part_done(&b->part, &name);
    fs_writer_free(w, b);
    sr_rc rc = w->host->files->remove(w->host->files, name.hidden, err);
    fs_part_name_done(&name);
    return rc;
}

void fs_writer_done(struct fs_writer *w)
{
    while (w->count > 0) {
        struct fs_bucket *b = w->item[w->count - 1];
        fs_writer_remove(w, b);
        fs_writer_free(w, b);
    }
    pack_close(w->spare_pack);
    w->spare_pack = NULL;
    fs_names_clear(&w->ready);
    free(w->ready.item);
    free(w->item);
    note_free(&w->spare);
    note_free(&w->space);
    w->ready = (struct fs_names){0};
    w->item = NULL;
}
