/* Memory that is given out piece by piece and freed at once: for what lives as long as a job.
 *
 * Out of memory is answered by NULL, and remembered: arena_is_broken tells at the end whether any
 * piece was missing, so that builders of trees may check once.
 */
#ifndef SR_BASE_ARENA_H
#define SR_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <streamrun/abi.h>

#define ARENA_DROP_LEAST ((size_t)1 << 20)

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL allowed */
bool arena_is_broken(const struct arena *a);
void *arena_get(struct arena *a, size_t size);                  /* zeroed, 16-byte aligned */
void *arena_array(struct arena *a, size_t count, size_t size);  /* checked product */
char *arena_text(struct arena *a, const char *s);               /* a copy; NULL gives NULL */
char *arena_text_n(struct arena *a, const char *s, size_t len); /* ends with \0 */
char *arena_printf(struct arena *a, const char *fmt, ...) SR_PRINTF(2, 3);
void *arena_copy(struct arena *a, const void *from, size_t size);
/* Frees one piece of ARENA_DROP_LEAST bytes or more before the others. */
void arena_drop(struct arena *a, const void *piece);
/* Room for one more piece behind the `count` pieces of a list: the list itself while it has room
 * (*space counts pieces), else a copy with twice as much. NULL: nothing has changed. */
void *arena_more(struct arena *a, void *list, uint32_t count, uint32_t *space, size_t size);

#endif
