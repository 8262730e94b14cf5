#include "connectors/sqlite/key.h"

#include <stdlib.h>
#include <string.h>

#define KEY_BYTES_MAX 65536u /* of a text that a position keeps */

void key_done(struct key *k)
{
    free(k->bytes);
    k->bytes = NULL;
    k->type = 0;
    k->len = k->capacity = 0;
}

static bool key_set_bytes(struct key *k, const void *bytes, uint32_t len)
{
    if (len > KEY_BYTES_MAX) {
        return false;
    }
    if (!k->bytes || len > k->capacity) {
        uint8_t *moved = realloc(k->bytes, (size_t)len + 64);
        if (!moved) {
            return false;
        }
        k->bytes = moved;
        k->capacity = len + 64;
    }
    if (len > 0) {
        memcpy(k->bytes, bytes, len);
    }
    k->len = len;
    return true;
}

bool key_of_column(struct key *k, sqlite3_stmt *s, int column)
{
    int type = sqlite3_column_type(s, column);
    if (type == SQLITE_NULL) {
        key_done(k);
        return true;
    }
    k->type = type;
    k->number = type == SQLITE_INTEGER ? sqlite3_column_int64(s, column) : 0;
    k->real = type == SQLITE_FLOAT ? sqlite3_column_double(s, column) : 0;
    k->len = 0;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        return true;
    }
    const void *bytes = sqlite3_column_blob(s, column);
    return key_set_bytes(k, bytes, (uint32_t)sqlite3_column_bytes(s, column));
}

bool key_copy(struct key *to, const struct key *from)
{
    key_done(to);
    to->type = from->type;
    to->number = from->number;
    to->real = from->real;
    bool has_bytes = from->type == SQLITE_TEXT || from->type == SQLITE_BLOB;
    return !has_bytes || key_set_bytes(to, from->bytes, from->len);
}

bool key_save(const struct key *k, struct sr_out *note)
{
    uint64_t real = 0;
    memcpy(&real, &k->real, sizeof(real));
    bool is_put = note_put_u8(note, (uint8_t)k->type) && note_put_u64(note, (uint64_t)k->number) &&
                  note_put_u64(note, real) && note_put_u32(note, k->len);
    uint8_t *to = is_put ? sr_out_room(note, (size_t)k->len + 1) : NULL;
    if (to && k->len > 0) {
        memcpy(to, k->bytes, k->len);
    }
    note->len += to ? k->len : 0;
    return to != NULL;
}

void key_load(struct key *k, struct note_in *in)
{
    key_done(k);
    k->type = note_get_u8(in);
    k->number = (int64_t)note_get_u64(in);
    uint64_t real = note_get_u64(in);
    memcpy(&k->real, &real, sizeof(real));
    uint32_t len = note_get_u32(in);
    bool is_sound = !in->is_broken && k->type <= SQLITE_BLOB && (size_t)(in->end - in->at) >= len &&
                    (k->type == SQLITE_TEXT || k->type == SQLITE_BLOB || len == 0);
    if (is_sound && (k->type == SQLITE_TEXT || k->type == SQLITE_BLOB)) {
        is_sound = key_set_bytes(k, in->at, len);
        in->lacks_memory = in->lacks_memory || !is_sound;
    }
    if (!is_sound) {
        in->is_broken = true;
        key_done(k);
        return;
    }
    in->at += len;
}

int key_bind(const struct key *k, sqlite3_stmt *s, int at)
{
    switch (k->type) {
    case SQLITE_INTEGER:
        return sqlite3_bind_int64(s, at, k->number);
    case SQLITE_FLOAT:
        return sqlite3_bind_double(s, at, k->real);
    case SQLITE_TEXT:
        return sqlite3_bind_text(s, at, (const char *)k->bytes, (int)k->len, SQLITE_STATIC);
    case SQLITE_BLOB:
        return sqlite3_bind_blob(s, at, k->bytes, (int)k->len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(s, at);
    }
}

bool key_equals_column(const struct key *k, sqlite3_stmt *s, int column)
{
    int type = sqlite3_column_type(s, column);
    if (type != k->type) {
        return false;
    }
    switch (type) {
    case SQLITE_INTEGER:
        return k->number == sqlite3_column_int64(s, column);
    case SQLITE_FLOAT:
        return k->real == sqlite3_column_double(s, column);
    default:
        break;
    }
    const void *bytes = sqlite3_column_blob(s, column);
    uint32_t len = (uint32_t)sqlite3_column_bytes(s, column);
    return len == k->len && (len == 0 || memcmp(bytes, k->bytes, len) == 0);
}
