#include "connectors/sqlite/cell.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "connectors/text/instant.h"
#include "connectors/text/number.h"

#define CELL_DAY 86400

const char *cell_declared(const struct sr_type *t)
{
    switch (t->kind) {
    case SR_BOOLEAN:
        return "BOOLEAN";
    /* Never INTEGER: as a primary key that would be the row id, and NULL a new one. */
    case SR_TINYINT:
        return "TINYINT";
    case SR_SMALLINT:
        return "SMALLINT";
    case SR_INT:
        return "INT";
    case SR_BIGINT:
        return "BIGINT";
    case SR_FLOAT:
    case SR_DOUBLE:
        return "REAL";
    case SR_DECIMAL:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_VARIANT:
    case SR_ROW: /* as JSON: SQLite's json_extract and -> read it */
        return "TEXT";
    case SR_BINARY:
    case SR_VARBINARY:
        return "BLOB";
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_NULL:
    case SR_KIND_COUNT:
        return NULL;
    }
    return NULL;
}

enum cell_affinity cell_affinity(const char *declared)
{
    static const struct {
        const char *word;
        enum cell_affinity affinity;
    } rule[] = {/* SQLite's rules, in its order */
                {"INT", CELL_INTEGER}, {"CHAR", CELL_TEXT}, {"CLOB", CELL_TEXT},
                {"TEXT", CELL_TEXT},   {"BLOB", CELL_BLOB}, {"REAL", CELL_REAL},
                {"FLOA", CELL_REAL},   {"DOUB", CELL_REAL}};
    if (declared[0] == 0 || strcasecmp(declared, "ANY") == 0) {
        return CELL_BLOB;
    }
    for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
        if (strcasestr(declared, rule[i].word)) {
            return rule[i].affinity;
        }
    }
    return CELL_NUMERIC;
}

bool cell_fits(const struct sr_type *t, enum cell_affinity a)
{
    switch (t->kind) {
    case SR_BOOLEAN:
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
        return a == CELL_INTEGER || a == CELL_NUMERIC || a == CELL_BLOB;
    case SR_FLOAT:
    case SR_DOUBLE:
        return a == CELL_REAL || a == CELL_NUMERIC || a == CELL_BLOB;
    case SR_DECIMAL: /* a number's affinity would make a double of it */
    case SR_CHAR:
    case SR_VARCHAR: /* ... and 7 of '007' */
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_VARIANT:
        return a == CELL_TEXT || a == CELL_BLOB;
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ: /* never looks like a number: DATETIME, which is NUMERIC, will do */
        return a == CELL_TEXT || a == CELL_BLOB || a == CELL_NUMERIC;
    case SR_BINARY:
    case SR_VARBINARY:
        return true;
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_NULL:
    case SR_KIND_COUNT:
        return false;
    }
    return false;
}

/* "12:34:56.789": as many digits of the second as the type has, so that texts sort as times. */
static uint32_t cell_clock(char *to, size_t size, int64_t second, int32_t nano, int32_t digits)
{
    int n = snprintf(to, size, "%02d:%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60),
                     (int)(second % 60));
    if (digits > 0) {
        char fraction[16];
        (void)snprintf(fraction, sizeof(fraction), "%09d", (int)nano);
        n += snprintf(to + n, size - (size_t)n, ".%.*s", (int)digits, fraction);
    }
    return (uint32_t)n;
}

static uint32_t cell_timestamp(char *to, size_t size, const struct sr_column *c, uint32_t r)
{
    struct moment m = instant_of_row(c, r);
    int64_t day = m.seconds / CELL_DAY, second = m.seconds % CELL_DAY;
    if (second < 0) {
        day--;
        second += CELL_DAY;
    }
    uint32_t n = moment_put_date(to, (int32_t)day);
    to[n++] = ' ';
    return n + cell_clock(to + n, size - n, second, m.nano, c->type.length);
}

static int cell_bind_short(sqlite3_stmt *s, int at, const char *text, uint32_t len)
{
    return sqlite3_bind_text(s, at, text, (int)len, SQLITE_TRANSIENT);
}

static int cell_bind_bytes(sqlite3_stmt *s, int at, const struct sr_column *c, uint32_t r)
{
    uint32_t len = 0;
    const char *bytes = c->bytes ? sr_text(c, r, &len) : "";
    if (len > INT32_MAX) {
        return SQLITE_TOOBIG;
    }
    return sr_is_bytes(c->type.kind) ? sqlite3_bind_blob(s, at, bytes, (int)len, SQLITE_STATIC)
                                     : sqlite3_bind_text(s, at, bytes, (int)len, SQLITE_STATIC);
}

int cell_bind(sqlite3_stmt *s, int at, const struct sr_column *c, uint32_t r)
{
    char text[128];
    _Static_assert(sizeof(text) >= NUMBER_TEXT_MAX && sizeof(text) >= MOMENT_TEXT_MAX + 24, "room");
    if (!sr_is_valid(c, r)) {
        return sqlite3_bind_null(s, at);
    }
    switch (c->type.kind) {
    case SR_BOOLEAN:
        return sqlite3_bind_int(s, at, ((const uint8_t *)c->values)[r] != 0);
    case SR_TINYINT:
        return sqlite3_bind_int(s, at, ((const int8_t *)c->values)[r]);
    case SR_SMALLINT:
        return sqlite3_bind_int(s, at, ((const int16_t *)c->values)[r]);
    case SR_INT:
        return sqlite3_bind_int(s, at, ((const int32_t *)c->values)[r]);
    case SR_BIGINT:
        return sqlite3_bind_int64(s, at, ((const int64_t *)c->values)[r]);
    case SR_FLOAT:
        return sqlite3_bind_double(s, at, (double)((const float *)c->values)[r]);
    case SR_DOUBLE:
        return sqlite3_bind_double(s, at, ((const double *)c->values)[r]);
    case SR_DECIMAL:
        return cell_bind_short(s, at, text,
                               number_put_decimal(text, number_of_row(c, r), c->type.scale));
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
        return cell_bind_bytes(s, at, c, r);
    case SR_DATE:
        return cell_bind_short(s, at, text, moment_put_date(text, ((const int32_t *)c->values)[r]));
    case SR_TIME: {
        int32_t ms = ((const int32_t *)c->values)[r];
        int32_t digits = c->type.length < 3 ? c->type.length : 3;
        return cell_bind_short(
            s, at, text, cell_clock(text, sizeof(text), ms / 1000, ms % 1000 * 1000000, digits));
    }
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return cell_bind_short(s, at, text, cell_timestamp(text, sizeof(text), c, r));
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_VARIANT:
    case SR_NULL:
    case SR_KIND_COUNT:
        return SQLITE_MISMATCH; /* cell_declared refused it */
    }
    return SQLITE_MISMATCH;
}

bool cell_equal(const struct sr_column *c, uint32_t r, uint32_t other)
{
    if (sr_has_bytes(c->type.kind)) {
        uint32_t len = 0, len_other = 0;
        const char *a = sr_text(c, r, &len);
        const char *b = sr_text(c, other, &len_other);
        return len == len_other && memcmp(a, b, len) == 0;
    }
    size_t size = sr_value_size(&c->type);
    const uint8_t *values = c->values;
    return size > 0 && memcmp(values + r * size, values + other * size, size) == 0;
}
