#include "conf/page.h"

#include <string.h>

#include "conf/conf.h"
#include "engine/base/assert.h"

#define PAGE_LINE_MAX 1000u /* bytes of a line that are shown */
#define PAGE_HEAD_MAX 64u   /* bytes before a colon that are looked at as a key */
#define PAGE_NONE     UINT32_MAX

/* Bytes of the line break at `i`, 0: none. As YAML 1.1 and so libyaml see it. */
static uint32_t page_break(const char *s, uint32_t len, uint32_t i)
{
    const unsigned char *u = (const unsigned char *)s + i;
    uint32_t left = len - i;

    if (u[0] == '\n') {
        return 1;
    }
    if (u[0] == '\r') {
        return left > 1 && u[1] == '\n' ? 2 : 1;
    }
    if (left > 1 && u[0] == 0xc2 && u[1] == 0x85) {
        return 2;
    }
    return left > 2 && u[0] == 0xe2 && u[1] == 0x80 && (u[2] & 0xfe) == 0xa8 ? 3 : 0;
}

static uint32_t page_count_lines(const char *text, uint32_t len, uint32_t *line_at)
{
    uint32_t lines = 1;
    for (uint32_t i = 0; i < len;) {
        uint32_t step = page_break(text, len, i);
        i += step ? step : 1;
        if (step) {
            if (line_at) {
                line_at[lines] = i;
            }
            lines++;
        }
    }
    return lines;
}

struct page *page_new(struct arena *a, const char *name, const char *text, uint32_t len)
{
    struct page *p = arena_get(a, sizeof(*p));

    sr_assert(name && text);
    if (!p) {
        return NULL;
    }
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    p->arena = a;
    p->name = name;
    p->text = text;
    p->len = len;
    p->lines = page_count_lines(text, len, NULL);
    p->line_at = arena_array(a, p->lines, sizeof(*p->line_at));
    p->cursor = arena_get(a, sizeof(*p->cursor));
    if (!p->line_at || !p->cursor) {
        return NULL;
    }
    (void)page_count_lines(text, len, p->line_at);
    return p;
}

/* Where the line's text ends, before its line break. */
static uint32_t page_line_end(const struct page *p, uint32_t index)
{
    uint32_t end = index + 1 < p->lines ? p->line_at[index + 1] : p->len;
    uint32_t i = p->line_at[index];
    while (i < end && page_break(p->text, p->len, i) == 0) {
        i++;
    }
    return i;
}

uint32_t page_offset(const struct page *p, size_t line, size_t column)
{
    struct page_cursor *k = p->cursor;

    if (line >= p->lines) {
        return p->len;
    }
    if (!k->is_set || k->line != line || k->column > column) {
        *k =
            (struct page_cursor){line, 0, p->line_at[line], page_line_end(p, (uint32_t)line), true};
    }
    while (k->column < column && k->offset < k->end) {
        k->offset++;
        while (k->offset < k->end && ((unsigned char)p->text[k->offset] & 0xc0) == 0x80) {
            k->offset++;
        }
        k->column++;
    }
    return k->offset;
}

static uint32_t page_line_index(const struct page *p, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = p->lines - 1;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (p->line_at[middle] <= offset) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

struct place page_place(const struct page *p, uint32_t offset)
{
    offset = offset < p->len ? offset : p->len;
    uint32_t index = page_line_index(p, offset);
    return (struct place){p->name, index + 1, offset - p->line_at[index] + 1};
}

void page_hide(struct page *p, uint32_t begin, uint32_t end)
{
    if (begin >= end) {
        return;
    }
    struct page_mask *grown =
        arena_more(p->arena, p->mask, p->masks, &p->mask_space, sizeof(*grown));
    if (!grown) {
        p->is_read = false; /* without the mask, whole values are hidden by their keys */
        return;
    }
    p->mask = grown;
    p->mask[p->masks++] = (struct page_mask){begin, end};
}

/* A list may stand in the column of its key, and is below it all the same. */
static uint32_t page_indent(const struct page *p, uint32_t index)
{
    uint32_t spaces = (uint32_t)strspn(p->text + p->line_at[index], " ");
    return spaces + (p->text[p->line_at[index] + spaces] == '-' ? 1 : 0);
}

/* Where the value of a key that sounds like a secret begins in a line; PAGE_NONE: there is none. */
static uint32_t page_secret_from(const struct page *p, uint32_t index)
{
    uint32_t begin = p->line_at[index];
    uint32_t end = page_line_end(p, index);
    char head[PAGE_HEAD_MAX + 1];

    end = end - begin > PAGE_LINE_MAX ? begin + PAGE_LINE_MAX : end;
    for (uint32_t i = begin; i < end; i++) {
        if (p->text[i] == ':' || p->text[i] == '=') {
            uint32_t len = i - begin < PAGE_HEAD_MAX ? i - begin : PAGE_HEAD_MAX;
            memcpy(head, p->text + i - len, len);
            head[len] = '\0';
            if (conf_is_secret_key(head)) {
                return i + 1;
            }
        }
    }
    return PAGE_NONE;
}

/* A line of an unread page may go on with the secret of a line above that is indented less. */
static bool page_is_inside_secret(const struct page *p, uint32_t index)
{
    uint32_t indent = page_indent(p, index);
    for (uint32_t i = index; i-- > 0 && indent > 0;) {
        if (page_indent(p, i) < indent && page_line_end(p, i) > p->line_at[i]) {
            indent = page_indent(p, i);
            if (page_secret_from(p, i) != PAGE_NONE) {
                return true;
            }
        }
    }
    return false;
}

static const char *page_line_unread(const struct page *p, uint32_t index, uint32_t end)
{
    uint32_t begin = p->line_at[index];
    uint32_t secret = page_secret_from(p, index);

    if (page_is_inside_secret(p, index)) {
        return PAGE_MASKED;
    }
    if (secret != PAGE_NONE) {
        return arena_printf(p->arena, "%.*s " PAGE_MASKED, (int)(secret - begin), p->text + begin);
    }
    return arena_text_n(p->arena, p->text + begin, end - begin);
}

/* The mask that covers byte `i`, or NULL. */
static const struct page_mask *page_mask_at(const struct page_mask *mask, uint32_t masks,
                                            uint32_t i)
{
    for (uint32_t m = 0; m < masks; m++) {
        if (mask[m].begin <= i && i < mask[m].end) {
            return &mask[m];
        }
    }
    return NULL;
}

/* Those masks that touch a line: a page may have many. */
static uint32_t page_masks_of(const struct page *p, uint32_t begin, uint32_t end,
                              struct page_mask *out)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < p->masks; m++) {
        if (p->mask[m].begin < end && p->mask[m].end > begin) {
            out[n++] = p->mask[m];
        }
    }
    return n;
}

const char *page_line(const struct page *p, uint32_t line)
{
    if (line == 0 || line > p->lines) {
        return NULL;
    }
    uint32_t begin = p->line_at[line - 1];
    uint32_t end = page_line_end(p, line - 1);
    end = end - begin > PAGE_LINE_MAX ? begin + PAGE_LINE_MAX : end;
    if (!p->is_read) {
        return page_line_unread(p, line - 1, end);
    }
    char *out = arena_get(p->arena, (end - begin) * sizeof(PAGE_MASKED) + sizeof(PAGE_MASKED));
    struct page_mask *mask = arena_array(p->arena, p->masks + 1u, sizeof(*mask));
    if (!out || !mask) {
        return NULL;
    }
    uint32_t masks = page_masks_of(p, begin, end, mask);
    size_t n = 0;
    for (uint32_t i = begin; i < end;) {
        const struct page_mask *m = page_mask_at(mask, masks, i);
        if (m) {
            memcpy(out + n, PAGE_MASKED, sizeof(PAGE_MASKED) - 1);
            n += sizeof(PAGE_MASKED) - 1;
            i = m->end;
        } else {
            out[n++] = p->text[i++];
        }
    }
    return out;
}
