/* What libyaml cannot read, in words that help whoever wrote it.
 *
 * Expressions are the usual cause: YAML gives `*`, backticks, `#`, `: ` and commas a meaning of its
 * own. Then the hint shows the block form, in which YAML takes every byte as it is.
 */
#ifndef SR_CONF_SYNTAX_H
#define SR_CONF_SYNTAX_H

#include <yaml.h>

#include "conf/page.h"

#define SYNTAX_END UINT32_MAX

/* Adds the fault of a parser that failed. The answer: the offset of the one byte that YAML gave a
 * meaning of its own; with another there, reading could go on. SYNTAX_END: it is not that. */
uint32_t syntax_fault(const struct page *page, struct faults *faults, const yaml_parser_t *parser);
/* "write it as a block: ..." for the line of `offset`; in the page's arena. */
const char *syntax_block_hint(const struct page *page, uint32_t offset);

#endif
