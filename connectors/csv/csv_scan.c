#include "connectors/csv/csv_scan.h"

#include <string.h>

void csv_scan_init(struct csv_scan *s, const struct csv_dialect *d)
{
    s->dialect = d;
    s->index.needle[0] = '\n';
    s->index.needle[1] = (uint8_t)d->delimiter;
    s->index.needle[2] = d->quote == CSV_NONE ? '\n' : (uint8_t)d->quote;
    s->index.needle[3] = d->escape == CSV_NONE ? '\n' : (uint8_t)d->escape;
    s->index.needle[4] = '\r';
}

void csv_scan_start(struct csv_scan *s, const uint8_t *bytes, uint32_t from, uint32_t len,
                    bool is_whole)
{
    s->pos = from;
    s->is_whole = is_whole;
    csv_index_start(&s->index, bytes, from, len);
}

/* The character behind an escape means itself: it is not looked at. */
static void csv_scan_skip(struct csv_scan *s, uint32_t escape_at)
{
    if (csv_index_peek(&s->index) == escape_at + 1) {
        (void)csv_index_next(&s->index);
    }
}

static inline bool csv_scan_is_line_end(uint8_t c) { return c == '\n' || c == '\r'; }

/* A line ends at p, in any of the three ways: goes on behind it. */
static enum csv_got csv_scan_line_end(struct csv_scan *s, uint32_t p)
{
    const uint8_t *bytes = s->index.bytes;
    s->pos = p + 1;
    if (bytes[p] == '\n') {
        return CSV_LAST;
    }
    if (s->pos == s->index.len) {
        return s->is_whole ? CSV_LAST : CSV_INCOMPLETE; /* the next byte tells whether it is half */
    }
    if (bytes[s->pos] == '\n') {
        (void)csv_index_next(&s->index);
        s->pos++;
    }
    return CSV_LAST;
}

/* Behind a closing quote at `close`: blanks, and then a delimiter or the end of the record. */
static enum csv_got csv_scan_behind(struct csv_scan *s, uint32_t close)
{
    const uint8_t *bytes = s->index.bytes;
    uint32_t p = csv_index_next(&s->index);
    uint32_t end = p == CSV_INDEX_END ? s->index.len : p;
    for (uint32_t i = close + 1; i < end; i++) {
        bool is_blank = bytes[i] == ' ' || bytes[i] == '\t';
        if (!is_blank) {
            s->pos = close + 1;
            return CSV_TRAILING;
        }
    }
    if (p == CSV_INDEX_END) {
        s->pos = s->index.len;
        return s->is_whole ? CSV_LAST : CSV_INCOMPLETE;
    }
    s->pos = p + 1;
    if (bytes[p] == (uint8_t)s->dialect->delimiter) {
        return CSV_FIELD;
    }
    if (csv_scan_is_line_end(bytes[p])) {
        return csv_scan_line_end(s, p);
    }
    s->pos = close + 1;
    return CSV_TRAILING;
}

static enum csv_got csv_scan_quoted(struct csv_scan *s, struct csv_field *f)
{
    const uint8_t *bytes = s->index.bytes;
    f->is_quoted = true;
    f->at++;
    for (;;) {
        uint32_t p = csv_index_next(&s->index);
        if (p == CSV_INDEX_END) {
            return s->is_whole ? CSV_UNCLOSED : CSV_INCOMPLETE;
        }
        if (bytes[p] == s->dialect->escape && s->dialect->escape != s->dialect->quote) {
            f->has_marks = true;
            csv_scan_skip(s, p);
            continue;
        }
        if (bytes[p] != s->dialect->quote) {
            continue;
        }
        if (p + 1 == s->index.len && !s->is_whole) {
            return CSV_INCOMPLETE; /* the next byte tells whether it is doubled */
        }
        if (p + 1 < s->index.len && bytes[p + 1] == s->dialect->quote) {
            f->has_marks = true;
            (void)csv_index_next(&s->index);
            continue;
        }
        f->len = p - f->at;
        return csv_scan_behind(s, p);
    }
}

enum csv_got csv_scan_on(struct csv_scan *s, struct csv_field *f, uint32_t p)
{
    const struct csv_dialect *d = s->dialect;
    const uint8_t *bytes = s->index.bytes;
    for (;; p = csv_index_next(&s->index)) {
        if (p == CSV_INDEX_END) {
            f->len = s->index.len - f->at;
            s->pos = s->index.len;
            return s->is_whole ? CSV_LAST : CSV_INCOMPLETE;
        }
        if (bytes[p] == (uint8_t)d->delimiter) {
            f->len = p - f->at;
            s->pos = p + 1;
            return CSV_FIELD;
        }
        if (csv_scan_is_line_end(bytes[p])) {
            f->len = p - f->at;
            return csv_scan_line_end(s, p);
        }
        if (bytes[p] == d->escape) {
            f->has_marks = true;
            csv_scan_skip(s, p);
        } else if (p == f->at) {
            return csv_scan_quoted(s, f);
        } /* a quote within a field that began without one means itself */
    }
}

bool csv_scan_line(struct csv_scan *s)
{
    const uint8_t *bytes = s->index.bytes, *from = bytes + s->pos;
    const uint32_t len = s->index.len;
    const uint8_t *newline = s->pos < len ? memchr(from, '\n', len - s->pos) : NULL;
    const uint8_t *behind = newline ? newline : bytes + len;
    const uint8_t *lone = s->pos < len ? memchr(from, '\r', (size_t)(behind - from)) : NULL;
    if (lone && lone + 1 < behind) {
        behind = lone + 1;
    } else if (newline) {
        behind = newline + 1;
    } else if (!s->is_whole) {
        return false; /* a half line end too: it may have another half */
    }
    csv_scan_start(s, bytes, (uint32_t)(behind - bytes), len, s->is_whole);
    return true;
}

static char csv_scan_escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '0':
        return '\0';
    default:
        return c;
    }
}

uint32_t csv_scan_plain(const struct csv_scan *s, const struct csv_field *f, char *to)
{
    const char *from = (const char *)s->index.bytes + f->at;
    int quote = f->is_quoted ? s->dialect->quote : CSV_NONE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        int c = (unsigned char)from[i];
        if (c == s->dialect->escape && c != quote && i + 1 < f->len) {
            to[n++] = csv_scan_escaped(from[++i]);
            continue;
        }
        i += c == quote ? 1 : 0; /* the second of two */
        to[n++] = (char)c;
    }
    return n;
}
