#include "engine/run/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/expr/json_write.h"
#include "engine/expr/value_text.h"
#include "engine/state/reader.h"

#define TABLES_OURS 3u /* columns behind those of the map: key_group, namespace, timer */

struct tables {
    struct store_tables *to;
    struct sr_home *home;
    const struct manifest *m;
    uint32_t first, end; /* parts of one operator's state */
    struct store_value value[SR_MAP_COLUMNS_MAX + TABLES_OURS];
    char text[SR_MAP_COLUMNS_MAX][VALUE_TEXT_MAX];
    struct json_out json[SR_MAP_COLUMNS_MAX]; /* room that stays */
};

/* --- Values ----------------------------------------------------------------------------------- */

static bool tables_can_show(const struct sr_type *t)
{
    return !sr_is_nested(t->kind) || json_can_write(t);
}

static const char *tables_type(const struct sr_type *t)
{
    if (t->kind == SR_BOOLEAN || sr_is_integer(t->kind)) return "INTEGER";
    if (t->kind == SR_FLOAT || t->kind == SR_DOUBLE) return "REAL";
    return sr_is_bytes(t->kind) ? "BLOB" : "TEXT";
}

static int64_t tables_integer(const struct sr_column *c, uint32_t r)
{
    switch (sr_value_size(&c->type)) {
    case 1:
        return ((const int8_t *)c->values)[r];
    case 2:
        return ((const int16_t *)c->values)[r];
    case 4:
        return ((const int32_t *)c->values)[r];
    default:
        return ((const int64_t *)c->values)[r];
    }
}

/* SQLite has no NaN, and its -0.0 does not last. */
static struct store_value tables_real(const struct sr_column *c, uint32_t r)
{
    double v = c->type.kind == SR_FLOAT ? (double)((const float *)c->values)[r]
                                        : ((const double *)c->values)[r];
    if (isnan(v)) return (struct store_value){.kind = STORE_NULL};
    return (struct store_value){.kind = STORE_REAL, .real = v == 0 ? 0 : v};
}

static sr_rc tables_value(struct tables *t, uint32_t at, const struct sr_column *c, uint32_t r)
{
    struct store_value *v = &t->value[at];
    enum sr_kind kind = c->type.kind;
    *v = (struct store_value){.kind = STORE_NULL};
    if (!sr_is_valid(c, r)) return SR_OK;
    if (kind == SR_BOOLEAN || sr_is_integer(kind)) {
        *v = (struct store_value){.kind = STORE_INTEGER, .integer = tables_integer(c, r)};
    } else if (kind == SR_FLOAT || kind == SR_DOUBLE) {
        *v = tables_real(c, r);
    } else if (sr_has_bytes(kind)) {
        v->kind = sr_is_text(kind) ? STORE_TEXT : STORE_BLOB;
        v->bytes.data = sr_text(c, r, &v->bytes.len);
    } else if (sr_is_nested(kind)) {
        struct json_out *o = &t->json[at];
        o->len = 0;
        json_write_value(o, c, r);
        if (o->is_broken) return SR_ENOMEM;
        *v = (struct store_value){.kind = STORE_TEXT, .bytes = {o->bytes, o->len}};
    } else {
        uint32_t len = value_text(c, r, t->text[at]);
        *v = (struct store_value){.kind = STORE_TEXT, .bytes = {t->text[at], len}};
    }
    return SR_OK;
}

static struct store_value tables_number(int64_t n)
{
    return (struct store_value){.kind = STORE_INTEGER, .integer = n};
}

static sr_rc tables_rows(struct tables *t, const struct reader *r, struct sr_error *err)
{
    for (uint32_t row = 0; row < r->rows; row++) {
        const struct reader_entry *e = &r->entry[row];
        uint32_t at = 0;
        for (uint32_t c = 0; c < r->map.columns; c++) {
            if (!tables_can_show(&r->map.field[c].type)) continue;
            sr_rc rc = tables_value(t, at++, r->col[c], row);
            if (rc != SR_OK) return error_set(err, rc, "tables of a savepoint: out of memory");
        }
        t->value[at++] = tables_number(e->group);
        t->value[at++] = tables_number(e->space);
        t->value[at++] = e->timer == SR_TIMER_NONE ? (struct store_value){.kind = STORE_NULL}
                                                   : tables_number(e->timer);
        sr_rc rc = t->to->row(t->to, t->value, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

/* --- Maps ------------------------------------------------------------------------------------- */

static sr_rc tables_begin(struct tables *t, const struct reader *r, struct sr_error *err)
{
    struct store_column *column =
        arena_array(r->arena, (size_t)r->map.columns + TABLES_OURS, sizeof(*column));
    uint32_t n = 0;
    if (!column) return error_set(err, SR_ENOMEM, "tables of a savepoint: out of memory");
    for (uint32_t c = 0; c < r->map.columns; c++) {
        const struct sr_field *f = &r->map.field[c];
        if (!tables_can_show(&f->type)) continue;
        column[n++] = (struct store_column){f->name, tables_type(&f->type)};
    }
    column[n++] = (struct store_column){"key_group", "INTEGER"};
    column[n++] = (struct store_column){"namespace", "INTEGER"};
    column[n++] = (struct store_column){"timer", "INTEGER"};
    struct store_table table = {.uid = t->m->part[t->first].uid,
                                .name = r->map.name,
                                .signature = r->map.signature,
                                .columns = n,
                                .column = column};
    return t->to->begin(t->to, &table, err);
}

/* Map number k of one subtask's part. *is_there: it has so many. */
static sr_rc tables_part(struct tables *t, uint32_t part, uint32_t k, bool *is_there,
                         struct sr_error *err)
{
    const struct manifest_part *p = &t->m->part[part];
    struct reader r;
    (void)reader_begin(&r, t->home, p->bytes, (size_t)p->len); /* r.rc says it too */
    *is_there = true;
    for (uint32_t i = 0; i <= k && *is_there; i++) {
        *is_there = reader_map(&r);
    }
    sr_rc rc = r.rc;
    bool is_shown = rc == SR_OK && *is_there && r.map.columns > 0;
    if (is_shown && part == t->first) rc = tables_begin(t, &r, err);
    while (is_shown && rc == SR_OK && reader_batch(&r)) {
        rc = tables_rows(t, &r, err);
    }
    if (r.rc != SR_OK) rc = error_set(err, r.rc, "the state of %s cannot be read", p->uid);
    reader_end(&r);
    return rc;
}

static sr_rc tables_operator(struct tables *t, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    bool is_there = true;
    for (uint32_t k = 0; rc == SR_OK && is_there && k < SR_MAPS_MAX; k++) {
        for (uint32_t part = t->first; rc == SR_OK && is_there && part < t->end; part++) {
            rc = tables_part(t, part, k, &is_there, err);
        }
    }
    return rc;
}

static bool tables_is_state(const struct manifest_part *p)
{
    return strcmp(p->name, MANIFEST_STATE) == 0;
}

sr_rc tables_fill(void *bytes_max, const struct manifest *m, struct store_tables *to,
                  struct sr_error *err)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->parts; i++) {
        bytes += tables_is_state(&m->part[i]) ? m->part[i].len : 0;
    }
    if (bytes > *(const uint64_t *)bytes_max) return SR_OK;
    struct tables *t = calloc(1, sizeof(*t));
    struct sr_home *home = home_new();
    sr_rc rc =
        t && home ? SR_OK : error_set(err, SR_ENOMEM, "tables of a savepoint: out of memory");
    for (uint32_t i = 0; rc == SR_OK && i < m->parts;) {
        uint32_t end = i + 1;
        while (end < m->parts && strcmp(m->part[end].uid, m->part[i].uid) == 0 &&
               strcmp(m->part[end].name, m->part[i].name) == 0) {
            end++;
        }
        *t = (struct tables){.to = to, .home = home, .m = m, .first = i, .end = end};
        if (tables_is_state(&m->part[i])) rc = tables_operator(t, err);
        for (uint32_t c = 0; c < SR_MAP_COLUMNS_MAX; c++) {
            json_out_done(&t->json[c]);
        }
        i = end;
    }
    home_close(home);
    free(t);
    return rc;
}
