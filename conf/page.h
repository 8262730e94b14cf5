/* A file that a user wrote: its lines, its places, and which of its bytes nobody may see.
 *
 * Lives in an arena. A page whose tree was read knows its secrets by masks; until then (a fault of
 * YAML itself) whatever stands behind a key that sounds like a secret is hidden.
 */
#ifndef SR_CONF_PAGE_H
#define SR_CONF_PAGE_H

#include "engine/base/fault.h"

#define PAGE_BYTES_MAX (1u << 20)
#define PAGE_MASKED    "***"

struct page_mask {
    uint32_t begin, end; /* bytes of the text */
};

/* Where page_offset was last: a line is walked along once, however many places it has. */
struct page_cursor {
    size_t line, column;
    uint32_t offset, end;
    bool is_set;
};

struct page {
    struct arena *arena;
    const char *name; /* as the user named the file */
    const char *dir;  /* absolute: where its relative paths start */
    const char *text; /* without a byte order mark; ends with \0 */
    uint32_t len;
    uint32_t lines;
    uint32_t *line_at; /* offset of the first byte of each line */
    struct page_mask *mask;
    uint32_t masks, mask_space;
    struct page_cursor *cursor;
    bool is_read; /* the tree was read: masks are complete */
};

/* NULL: out of memory. `text` is borrowed for as long as the page. */
struct page *page_new(struct arena *a, const char *name, const char *text, uint32_t len);
/* Line and column from 0, the column in characters, as libyaml counts them. */
uint32_t page_offset(const struct page *p, size_t line, size_t column);
struct place page_place(const struct page *p, uint32_t offset);
void page_hide(struct page *p, uint32_t begin, uint32_t end);
/* A copy of a line (from 1), without its end, secrets masked, cut when very long. */
const char *page_line(const struct page *p, uint32_t line);

#endif
