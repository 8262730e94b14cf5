#include "cli/infer_type.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INFER_BIGINT_DIGITS  18u /* that an int64_t surely holds */
#define INFER_DECIMAL_DIGITS 38u

void infer_init(struct infer *f, struct arena *a)
{
    memset(f, 0, sizeof(*f));
    f->arena = a;
    f->nodes = 1;
    f->node[0] = (struct infer_node){.name = "", .kinds = INFER_ROW};
}

uint32_t infer_child(struct infer *f, uint32_t parent, const char *name)
{
    struct infer_node *p = &f->node[parent];
    for (uint32_t i = p->first; i != 0; i = f->node[i].next) {
        if (strcmp(f->node[i].name, name) == 0) return i;
    }
    if (f->nodes == INFER_NODES_MAX || p->depth == INFER_DEPTH_MAX) return 0;
    uint32_t made = f->nodes++;
    const char *copy = arena_text(f->arena, name);
    f->node[made] =
        (struct infer_node){.name = copy ? copy : "", .depth = p->depth + 1, .kinds = INFER_ANY};
    if (p->first == 0) {
        p->first = made;
    } else {
        f->node[p->last].next = made;
    }
    p->last = made;
    return made;
}

void infer_null(struct infer *f, uint32_t node) { f->node[node].nulls++; }

void infer_give_up(struct infer *f, uint32_t node) { f->node[node].kinds = INFER_STRING; }

void infer_value(struct infer *f, uint32_t node, uint32_t kinds, uint32_t digits)
{
    struct infer_node *n = &f->node[node];
    n->values++;
    n->kinds &= kinds | INFER_STRING;
    if (digits > n->digits) n->digits = digits;
}

/* --- What a text looks like ------------------------------------------------------------------- */

/* A number of `count` digits at *s, between low and high; moves on. */
static bool infer_part(const char **s, uint32_t count, int low, int high)
{
    int value = 0;
    for (uint32_t i = 0; i < count; i++) {
        char digit = (*s)[i];
        if (digit < '0' || digit > '9') return false;
        value = value * 10 + digit - '0';
    }
    *s += count;
    return value >= low && value <= high;
}

/* A day that there is. */
static bool infer_date(const char **s)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *text = *s;
    bool is_good = infer_part(s, 4, 1, 9999) && *(*s)++ == '-' && infer_part(s, 2, 1, 12) &&
                   *(*s)++ == '-' && infer_part(s, 2, 1, 31);
    if (!is_good) return false;
    long year = strtol(text, NULL, 10), month = strtol(text + 5, NULL, 10);
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    int last = days[month - 1] + (month == 2 && is_leap ? 1 : 0);
    return strtol(text + 8, NULL, 10) <= last;
}

/* hh:mm:ss and up to 9 digits behind a point. */
static bool infer_clock(const char **s, uint32_t *digits)
{
    *digits = 0;
    if (!infer_part(s, 2, 0, 23) || *(*s)++ != ':' || !infer_part(s, 2, 0, 59) || *(*s)++ != ':' ||
        !infer_part(s, 2, 0, 59)) {
        return false;
    }
    if (**s != '.') return true;
    *s += 1;
    while (**s >= '0' && **s <= '9') {
        *digits += 1;
        *s += 1;
    }
    return *digits > 0 && *digits <= 9;
}

static uint32_t infer_moment(const char *text, uint32_t *digits)
{
    const char *s = text;
    if (infer_clock(&s, digits)) return *s == '\0' && *digits == 0 ? INFER_TIME : 0;
    s = text;
    *digits = 0;
    if (strlen(text) < 10 || !infer_date(&s)) return 0;
    if (*s == '\0') return INFER_DATE;
    bool is_iso = *s == 'T';
    if (!is_iso && *s != ' ') return 0;
    s++;
    if (!infer_clock(&s, digits)) return 0;
    if (*s == '\0') return is_iso ? INFER_TIMESTAMP_ISO : INFER_TIMESTAMP;
    if (s[0] == 'Z' && s[1] == '\0') return is_iso ? INFER_LTZ_ISO : INFER_LTZ;
    return 0;
}

static uint32_t infer_number(const char *text)
{
    const char *s = *text == '-' ? text + 1 : text;
    size_t len = strspn(s, "0123456789");
    if (len == 0 && *s != '.') return 0;
    if (s[0] == '0' && s[1] >= '0' && s[1] <= '9') return 0; /* 007 is a name, not a number */
    if (s[len] == '\0') {
        uint32_t kinds = INFER_DOUBLE;
        if (len <= INFER_DECIMAL_DIGITS) kinds |= INFER_DECIMAL;
        if (len <= INFER_BIGINT_DIGITS) kinds |= INFER_BIGINT;
        return kinds;
    }
    char *end = NULL;
    (void)strtod(text, &end);
    bool is_plain = strspn(s, "0123456789.eE+-") == strlen(s);
    return is_plain && end != text && *end == '\0' ? INFER_DOUBLE : 0;
}

uint32_t infer_kinds(const char *text, bool with_numbers, uint32_t *digits)
{
    uint32_t kinds = infer_moment(text, digits);
    if (kinds != 0 || !with_numbers) return kinds;
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) return INFER_BOOLEAN;
    return infer_number(text);
}

/* --- What is left ----------------------------------------------------------------------------- */

/* 3 digits where they suffice: event time has no more. */
static const char *infer_timestamp(struct infer *f, const struct infer_node *n, const char *name)
{
    uint32_t digits = n->digits <= 3 ? 3 : n->digits <= 6 ? 6 : 9;
    return arena_printf(f->arena, "%s(%u)", name, digits);
}

static const char *infer_plain(struct infer *f, const struct infer_node *n)
{
    uint32_t k = n->kinds;
    if (n->values == 0) return "STRING";
    if ((k & INFER_BOOLEAN) != 0) return "BOOLEAN";
    if ((k & INFER_BIGINT) != 0) return "BIGINT";
    if ((k & INFER_DECIMAL) != 0) return "DECIMAL(38, 0)";
    if ((k & INFER_DOUBLE) != 0) return "DOUBLE";
    if ((k & INFER_DATE) != 0) return "DATE";
    if ((k & INFER_TIME) != 0) return "TIME";
    if ((k & (INFER_TIMESTAMP | INFER_TIMESTAMP_ISO)) != 0) {
        return infer_timestamp(f, n, "TIMESTAMP");
    }
    if ((k & (INFER_LTZ | INFER_LTZ_ISO)) != 0) return infer_timestamp(f, n, "TIMESTAMP_LTZ");
    return "STRING";
}

static const char *infer_row(struct infer *f, const struct infer_node *n, const char **type)
{
    const char *out = "ROW<";
    for (uint32_t i = n->first; i != 0 && out; i = f->node[i].next) {
        if (strchr(f->node[i].name, '`')) return "STRING";
        out = arena_printf(f->arena, "%s%s`%s` %s", out, i == n->first ? "" : ", ", f->node[i].name,
                           type[i]);
    }
    return out ? arena_printf(f->arena, "%s>", out) : "STRING";
}

const char *infer_type(struct infer *f, uint32_t node, const char **note)
{
    *note = NULL;
    const char **type = arena_array(f->arena, f->nodes, sizeof(*type));
    if (!type) return "STRING";
    /* A child comes behind its parent, so its type is known before the parent's. */
    for (uint32_t i = f->nodes; i-- > node;) {
        const struct infer_node *n = &f->node[i];
        bool is_row = (n->kinds & INFER_ROW) != 0 && n->values > 0 && n->first != 0;
        bool is_array = (n->kinds & INFER_ARRAY) != 0 && n->values > 0 && n->first != 0;
        type[i] = is_row     ? infer_row(f, n, type)
                  : is_array ? arena_printf(f->arena, "ARRAY<%s>", type[n->first])
                             : infer_plain(f, n);
        if (!type[i]) return "STRING";
    }
    const struct infer_node *n = &f->node[node];
    bool is_nested = (n->kinds & (INFER_ROW | INFER_ARRAY)) != 0;
    if (n->values == 0) {
        *note = "no value was seen";
    } else if (n->kinds == INFER_STRING && n->first != 0) {
        *note = "values of several shapes";
    } else if (is_nested && n->first == 0) {
        *note = "always empty";
    }
    return type[node];
}

static bool infer_has(const struct infer *f, uint32_t kinds)
{
    for (uint32_t i = 1; i < f->nodes; i++) {
        if (f->node[i].values > 0 && (f->node[i].kinds & kinds) != 0) return true;
    }
    return false;
}

void infer_settle(struct infer *f)
{
    if (!infer_has(f, INFER_TIMESTAMP | INFER_LTZ)) return;
    for (uint32_t i = 1; i < f->nodes; i++) {
        f->node[i].kinds &= ~(uint32_t)(INFER_TIMESTAMP_ISO | INFER_LTZ_ISO);
    }
}

bool infer_is_iso(const struct infer *f)
{
    return infer_has(f, INFER_TIMESTAMP_ISO | INFER_LTZ_ISO);
}
