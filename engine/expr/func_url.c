/* Parts of URLs, and texts as they stand in them. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/data/schema.h"
#include "engine/expr/family.h"

/* --- PARSE_URL, as java.net.URL takes them apart. --------------------------------------------- */

struct url_piece {
    const char *at; /* NULL: not there */
    uint32_t len;
};

struct url {
    struct url_piece protocol, authority, userinfo, host, path, query, ref, file;
};

static struct url_piece url_piece(const char *from, const char *to)
{
    return (struct url_piece){from, (uint32_t)(to - from)};
}

/* The first of one or two characters; `end`: there is none. */
static const char *url_find(const char *from, const char *end, const char *set)
{
    if (!set[1]) {
        const char *at = from < end ? memchr(from, set[0], (size_t)(end - from)) : NULL;
        return at ? at : end;
    }
    while (from < end && *from != set[0] && *from != set[1]) {
        from++;
    }
    return from;
}

static bool url_is_known(struct url_piece protocol)
{
    static const char *const known[] = {"http", "https", "ftp", "file", "jar", "mailto"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i]) == protocol.len &&
            strncasecmp(known[i], protocol.at, protocol.len) == 0) {
            return true;
        }
    }
    return false;
}

/* user:pw@host:80 */
static bool url_authority(struct url *u, const char *from, const char *end)
{
    u->authority = url_piece(from, end);
    const char *at = memchr(from, '@', (size_t)(end - from));
    if (at) {
        u->userinfo = url_piece(from, at);
        from = at + 1;
    }
    const char *bracket =
        from < end && *from == '[' ? memchr(from, ']', (size_t)(end - from)) : NULL;
    const char *colon = url_find(bracket ? bracket : from, end, ":");
    u->host = url_piece(from, colon);
    for (const char *p = colon + 1; p < end; p++) {
        if (!isdigit((unsigned char)*p)) {
            return false;
        }
    }
    return true;
}

static bool url_parse(const char *s, uint32_t len, struct url *u)
{
    const char *end = s + len;
    *u = (struct url){0};
    while (s < end && *s == ' ') {
        s++;
    }
    while (end > s && end[-1] == ' ') {
        end--;
    }
    const char *colon = url_find(s, end, ":/");
    u->protocol = url_piece(s, colon);
    if (colon == end || *colon != ':' || !url_is_known(u->protocol)) {
        return false;
    }
    s = colon + 1;
    const char *hash = url_find(s, end, "#");
    u->ref = hash < end ? url_piece(hash + 1, end) : u->ref;
    const char *question = url_find(s, hash, "?");
    u->query = question < hash ? url_piece(question + 1, hash) : u->query;
    u->host = url_piece(s, s);
    if (question - s >= 2 && s[0] == '/' && s[1] == '/') {
        const char *slash = url_find(s + 2, question, "/");
        if (!url_authority(u, s + 2, slash)) {
            return false;
        }
        s = slash;
    }
    u->path = url_piece(s, question);
    u->file = url_piece(s, hash);
    return true;
}

static struct url_piece url_part(const struct url *u, const char *name, uint32_t len)
{
    const struct {
        const char *name;
        struct url_piece piece;
    } parts[] = {{"PROTOCOL", u->protocol}, {"AUTHORITY", u->authority},
                 {"USERINFO", u->userinfo}, {"HOST", u->host},
                 {"PATH", u->path},         {"QUERY", u->query},
                 {"REF", u->ref},           {"FILE", u->file}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strlen(parts[i].name) == len && memcmp(parts[i].name, name, len) == 0) {
            return parts[i].piece;
        }
    }
    return (struct url_piece){0};
}

/* What follows key= in a=1&b=2. */
static struct url_piece url_value(struct url_piece query, const char *key, uint32_t len)
{
    const char *end = query.at + query.len;
    for (const char *at = query.at; at && at < end;) {
        const char *next = url_find(at, end, "&");
        if (next - at > len && at[len] == '=' && memcmp(at, key, len) == 0) {
            return url_piece(at + len + 1, next);
        }
        at = next + 1;
    }
    return (struct url_piece){0};
}

static void url_run(struct call *k)
{
    call_share(k, 0);
    const char *base = column_text(k->arg[0]);
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, name_len, key_len;
        const char *s = call_get(k, 0, r, &len), *name = call_get(k, 1, r, &name_len);
        struct url u;
        struct url_piece piece = {0};
        if (url_parse(s, len, &u)) {
            piece = url_part(&u, name, name_len);
        }
        if (k->args > 2) {
            const char *key = call_get(k, 2, r, &key_len);
            bool is_query = piece.at && name_len == 5 && memcmp(name, "QUERY", 5) == 0;
            piece = is_query ? url_value(piece, key, key_len) : (struct url_piece){0};
        }
        if (!piece.at) {
            call_null(k, r);
        } else {
            call_span(k, r, piece.len > 0 ? (uint32_t)(piece.at - base) : 0, piece.len);
        }
    }
}
static const struct kernel url_k_part = {.run = url_run};

/* --- application/x-www-form-urlencoded. ------------------------------------------------------- */

static void url_encode(struct call *k)
{
    static const char digits[] = "0123456789ABCDEF";
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, n = 0;
        const char *s = call_get(k, 0, r, &len);
        if (len > CALL_TEXT_MAX / 3) {
            call_fail(k, r, "the text would be longer than %u bytes", CALL_TEXT_MAX);
            continue;
        }
        uint8_t *to = call_space(k, r, len * 3);
        for (uint32_t i = 0; to && i < len; i++) {
            unsigned char c = (unsigned char)s[i];
            if (c < 0x80 && (isalnum(c) || (c && strchr("-_.*", c)))) {
                to[n++] = c;
            } else if (c == ' ') {
                to[n++] = '+';
            } else {
                to[n++] = '%';
                to[n++] = (uint8_t)digits[c >> 4];
                to[n++] = (uint8_t)digits[c & 15];
            }
        }
        if (to) {
            k->out->bytes_used -= len * 3 - n;
            ((struct sr_span *)k->out->values)[r].len = n;
        }
    }
}
static const struct kernel url_k_encode = {.run = url_encode, .flags = KERNEL_FAILS};

static int url_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void url_decode(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, n = 0;
        const char *s = call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, len);
        bool is_good = true;
        for (uint32_t i = 0; to && i < len && is_good; i++) {
            if (s[i] == '%') {
                int high = i + 2 < len ? url_digit(s[i + 1]) : -1;
                int low = high >= 0 ? url_digit(s[i + 2]) : -1;
                is_good = low >= 0;
                to[n++] = (uint8_t)(is_good ? high << 4 | low : 0);
                i += 2;
            } else {
                to[n++] = (uint8_t)(s[i] == '+' ? ' ' : s[i]);
            }
        }
        if (to) {
            k->out->bytes_used -= len - n;
            ((struct sr_span *)k->out->values)[r].len = n;
        }
        if (!is_good) {
            call_null(k, r);
        }
    }
}
static const struct kernel url_k_decode = {.run = url_decode};

/* Bytes that are no UTF-8 become U+FFFD, as in a CAST. */
static bool url_bind_decode(struct bind_call *b)
{
    struct sr_type bytes = type_with(SR_VARBINARY, SR_LENGTH_MAX, 0), text = bytes;
    text.kind = SR_VARCHAR;
    if (!sr_is_text(b->arg[0]->type.kind)) {
        return false;
    }
    const struct expr *e = expr_make(b->arena, b->func, &url_k_decode, bytes, b->arg, 1);
    b->whole = expr_cast(b->arena, e, &text, false, b->err);
    return b->whole || bind_fails(b, "out of memory");
}

static const struct func url_funcs[] = {
    {.name = "PARSE_URL",
     .family = "text",
     .bind = bind_simple,
     .min = 2,
     .max = 3,
     .args = "sss",
     .result = RESULT_STRING,
     .is_nullable = true,
     .kernel = &url_k_part,
     .forms = "PARSE_URL(url STRING, part STRING [, key STRING]) -> STRING",
     .doc = "A part of a URL: 'PROTOCOL', 'AUTHORITY', 'USERINFO', 'HOST', 'PATH', 'QUERY', 'REF' "
            "or 'FILE'; of 'QUERY' also the value of one key. NULL when it is not there."},
    {.name = "URL_ENCODE",
     .family = "text",
     .bind = bind_simple,
     .min = 1,
     .max = 1,
     .args = "s",
     .result = RESULT_STRING,
     .is_nullable = true,
     .kernel = &url_k_encode,
     .forms = "URL_ENCODE(text STRING) -> STRING",
     .doc = "The text as it stands in a URL: blanks as +, others than letters, digits and -_.* as "
            "% and two digits."},
    {.name = "URL_DECODE",
     .family = "text",
     .bind = url_bind_decode,
     .min = 1,
     .max = 1,
     .forms = "URL_DECODE(text STRING) -> STRING",
     .doc = "The text that stands for this in a URL; NULL when it stands for none."},
};

const struct func_family func_url = {url_funcs, sizeof(url_funcs) / sizeof(url_funcs[0])};
