/* "Did you mean": the known word that a misspelt one is near to.
 */
#ifndef SR_BASE_NEAREST_H
#define SR_BASE_NEAREST_H

#include <stdint.h>

/* The word of `words` (NULL-terminated) nearest to `word` and near enough to be meant; or NULL. */
const char *nearest_word(const char *word, const char *const *words);
uint32_t word_distance(const char *a, const char *b); /* edits, a swap counts as one */

#endif
