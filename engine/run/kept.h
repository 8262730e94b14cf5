/* Views whose rows a sink has taken, and may still refuse.
 *
 *   kept_put -> kept_taken            a view is offered from its live row `from` on, so many went
 *   kept_find                         the row that has this number
 *   kept_drop                         rows before this number have their fate
 *
 * Rows count from 0 in the order in which they were taken. A view is held, not copied, so a sink
 * that keeps rows of many views waiting keeps their memory.
 */
#ifndef SR_RUN_KEPT_H
#define SR_RUN_KEPT_H

#include <streamrun/batch.h>
#include <streamrun/error.h>

#define KEPT_WORDS_MAX 1024u /* bytes of the reason why a row is refused: cut */

struct kept;

struct kept *kept_new(struct sr_home *home); /* borrows home; NULL: out of memory */
void kept_free(struct kept *k);              /* NULL allowed */
/* The rows that are taken next are v's live ones from `from` on. SR_ENOMEM. */
sr_rc kept_put(struct kept *k, const struct sr_view *v, uint32_t from);
void kept_taken(struct kept *k, uint32_t rows);
/* The view of row `number`, which was taken and not dropped, or is offered; good until the next
 * call but for this one. NULL: it is neither. */
const struct sr_view *kept_find(const struct kept *k, uint64_t number, uint32_t *row);
void kept_drop(struct kept *k, uint64_t number);

#endif
