#include "conf/syntax.h"

#include <string.h>

#include "engine/base/assert.h"

#define SYNTAX_IN_CONTEXT 1u /* the place is where the construct began */
#define SYNTAX_BLOCK      2u /* the block form helps */
#define SYNTAX_ONE_BYTE   4u /* it is the byte at the place alone that YAML does not take */

struct syntax_case {
    const char *problem, *context; /* parts of libyaml's words; NULL: any */
    const char *words, *hint;
    uint32_t flags;
};

/* clang-format off */
static const struct syntax_case syntax_cases[] = {
    {"character that violates indentation", NULL, "SR0104: tab used for indentation",
     "indent with spaces", 0},
    {"where an indentation space is expected", NULL, "SR0104: tab used for indentation",
     "indent with spaces", 0},
    {"did not find expected alphabetic or numeric", "alias",
     "YAML takes '*' at the beginning of a text as an alias", NULL,
     SYNTAX_IN_CONTEXT | SYNTAX_BLOCK | SYNTAX_ONE_BYTE},
    {"did not find expected alphabetic or numeric", "anchor",
     "YAML takes '&' at the beginning of a text as an anchor", NULL,
     SYNTAX_IN_CONTEXT | SYNTAX_BLOCK | SYNTAX_ONE_BYTE},
    {NULL, "tag", "YAML takes '!' at the beginning of a text as a tag, and tags are not taken",
     NULL, SYNTAX_IN_CONTEXT | SYNTAX_BLOCK},
    {"mapping values are not allowed", NULL,
     "YAML takes ': ' as the end of a key, and there is a key in this line already", NULL,
     SYNTAX_BLOCK | SYNTAX_ONE_BYTE},
    {"found unexpected end of stream", "quoted", "the quote that begins here is never closed",
     "a text that has quotes in it is best written as a block, with |", SYNTAX_IN_CONTEXT},
    {"found unknown escape character", NULL,
     "in double quotes a backslash is YAML's own, and this is none of its escapes",
     "use single quotes, or a block with |", 0},
    {"could not find expected ':'", NULL, "this line has no ': ' between key and value",
     "each line is `key: value`; a text of several lines is written as a block, with |",
     SYNTAX_IN_CONTEXT},
    {"block sequence entries are not allowed", NULL, "a list item '- ' cannot stand here",
     "put the list on lines of its own below its key", 0},
    {"did not find expected ',' or ']'", NULL, "a list in [ ] is not closed, or lacks a comma",
     NULL, SYNTAX_BLOCK},
    {"did not find expected ',' or '}'", NULL, "a mapping in { } is not closed, or lacks a comma",
     NULL, SYNTAX_BLOCK},
    {"did not find expected '-' indicator", NULL, "this line is no item of the list that it is in",
     "the items of a list begin in the same column, with '- '", 0},
    {"did not find expected key", NULL, "this line is no key of the mapping that it is in",
     "the keys of a mapping begin in the same column", 0},
    {"did not find expected <document start>", NULL,
     "this line does not belong to what stands above it",
     "the keys of the job begin in the first column", 0},
    {"found undefined tag handle", NULL, "tags are not taken", NULL, 0},
};
/* clang-format on */

const char *syntax_block_hint(const struct page *page, uint32_t offset)
{
    struct arena *a = page->arena;
    const char *line = page_line(page, page_place(page, offset).line);
    if (!line) {
        return NULL;
    }
    line += strspn(line, " ");
    bool is_item = strncmp(line, "- ", 2) == 0;
    line += is_item ? 2 + strspn(line + 2, " ") : 0;
    size_t key = strcspn(line, ": '\"`([{");
    bool has_key = key > 0 && line[key] == ':' && (line[key + 1] == ' ' || line[key + 1] == '\0');
    const char *value = has_key ? line + key + 1 : line;
    value += strspn(value, " ");
    if (*value == '[') {
        return arena_printf(a,
                            "write each expression as an item of its own, as a block if need be:\n"
                            "    %.*s:\n      - |\n        EXPRESSION",
                            has_key ? (int)key : 3, has_key ? line : "key");
    }
    if (*value == '{') {
        return arena_printf(a,
                            "write each entry in a line of its own:\n    %.*s:\n      KEY: VALUE",
                            has_key ? (int)key : 3, has_key ? line : "key");
    }
    return arena_printf(a,
                        "write it as a block, in which YAML takes every byte as it is:\n"
                        "    %s%.*s%s|\n      %s",
                        is_item ? "- " : "", has_key ? (int)key : 0, line, has_key ? ": " : "",
                        *value ? value : "EXPRESSION");
}

static bool syntax_has(const char *text, const char *part)
{
    return !part || (text && strstr(text, part));
}

static const struct syntax_case *syntax_find(const yaml_parser_t *parser)
{
    for (size_t i = 0; i < sizeof(syntax_cases) / sizeof(syntax_cases[0]); i++) {
        const struct syntax_case *c = &syntax_cases[i];
        if (syntax_has(parser->problem, c->problem) && syntax_has(parser->context, c->context)) {
            return c;
        }
    }
    return NULL;
}

/* The last byte before `offset` that is no blank, in the same line; 0: none. */
static char syntax_before(const struct page *page, uint32_t offset)
{
    while (offset > 0 && (page->text[offset - 1] == ' ' || page->text[offset - 1] == '\t')) {
        offset--;
    }
    if (offset == 0) {
        return '\0';
    }
    return page->text[offset - 1];
}

/* libyaml answers a character that YAML keeps for itself, and a text that goes on behind a closing
 * quote, by words that do not say so. */
static bool syntax_fault_of_byte(const struct page *page, struct faults *faults,
                                 const yaml_parser_t *parser, uint32_t offset, uint32_t *byte)
{
    struct place at = page_place(page, offset);
    char here = page->text[offset]; /* the text ends with \0 */
    char before = syntax_before(page, offset);

    if (syntax_has(parser->problem, "cannot start any token")) {
        if (here == '\t') {
            fault_add(faults, FAULT_ERROR, at, "indent with spaces",
                      "SR0104: tab used for indentation");
            return true;
        }
        fault_add(faults, FAULT_ERROR, at, syntax_block_hint(page, offset),
                  "SR0104: no text can begin with '%c' in YAML", here);
        *byte = here == '\0' ? SYNTAX_END : offset;
        return true;
    }
    bool is_behind_quote = (before == '\'' || before == '"') && here != '\n' && here != '\0';
    if (is_behind_quote && syntax_has(parser->problem, "did not find expected")) {
        fault_add(
            faults, FAULT_ERROR, at, syntax_block_hint(page, offset),
            "SR0104: YAML takes the quoted text as the whole value, but more text follows it");
        return true;
    }
    return false;
}

static void syntax_fault_of_bytes(const struct page *page, struct faults *faults,
                                  const yaml_parser_t *parser)
{
    struct place at = page_place(page, (uint32_t)parser->problem_offset);
    if (syntax_has(parser->problem, "control characters")) {
        fault_add(faults, FAULT_ERROR, at, "in double quotes it can be written as an escape, \\xNN",
                  "SR0102: the control character 0x%02X is not allowed in YAML",
                  (unsigned)parser->problem_value);
    } else {
        fault_add(faults, FAULT_ERROR, at, NULL, "SR0102: the file is not UTF-8 here: %s",
                  parser->problem ? parser->problem : "unknown");
    }
}

uint32_t syntax_fault(const struct page *page, struct faults *faults, const yaml_parser_t *parser)
{
    sr_assert(parser->error != YAML_NO_ERROR);
    if (parser->error == YAML_READER_ERROR) {
        syntax_fault_of_bytes(page, faults, parser);
        return SYNTAX_END;
    }
    uint32_t offset = page_offset(page, parser->problem_mark.line, parser->problem_mark.column);
    uint32_t byte = SYNTAX_END;
    if (syntax_fault_of_byte(page, faults, parser, offset, &byte)) {
        return byte;
    }
    const struct syntax_case *c = syntax_find(parser);
    if (!c) {
        fault_add(faults, FAULT_ERROR, page_place(page, offset), NULL, "SR0104: not YAML: %s%s%s",
                  parser->context ? parser->context : "", parser->context ? ", " : "",
                  parser->problem ? parser->problem : "unknown problem");
        return SYNTAX_END;
    }
    if (c->flags & SYNTAX_IN_CONTEXT && parser->context) {
        offset = page_offset(page, parser->context_mark.line, parser->context_mark.column);
    }
    const char *hint = c->flags & SYNTAX_BLOCK ? syntax_block_hint(page, offset) : c->hint;
    fault_add(faults, FAULT_ERROR, page_place(page, offset), hint, "SR0104: %s", c->words);
    return c->flags & SYNTAX_ONE_BYTE ? offset : SYNTAX_END;
}
