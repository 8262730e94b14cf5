/* Where columns, views and buffers come from, and go home to.
 *
 * A home belongs to the thread of one task: only it takes memory out. Any thread may let go; the
 * memory goes back over one lock-free stack, which the owner empties as a whole, so that in steady
 * state nothing is allocated. A home is freed when its owner closed it and the last piece is home.
 */
#ifndef SR_DATA_POOL_H
#define SR_DATA_POOL_H

#include <streamrun/batch.h>
#include <streamrun/error.h>

struct sr_home;

struct sr_home *home_new(void);               /* NULL: out of memory */
void home_close(struct sr_home *h);           /* by the owner; NULL allowed */
uint64_t home_bytes(const struct sr_home *h); /* held, in use and idle; any thread may ask */

/* --- Buffers: shared bytes. One reference is the caller's. NULL: out of memory. Behind `capacity`
 * lie BUFFER_PADDING_BYTES more that may be read, not written, so that vector code may run over. */
#define BUFFER_PADDING_BYTES 64u
struct sr_buffer *buffer_new(struct sr_home *h, uint32_t capacity);
struct sr_buffer *buffer_hold(struct sr_buffer *b); /* answers b */
void buffer_release(struct sr_buffer *b);           /* NULL allowed; any thread */

/* --- Columns: room for `capacity` rows (SR_BATCH_ROWS is the pooled size) of a type, children too;
 * rows 0, all valid, bytes NULL. */
struct sr_column *column_new(struct sr_home *h, const struct sr_type *type, uint32_t capacity);
struct sr_column *column_hold(struct sr_column *c);
void column_release(struct sr_column *c); /* NULL allowed; any thread; its bytes and children too */
/* Makes row r NULL, and the fields of a ROW; the column is still its owner's. */
void column_set_null(struct sr_column *c, uint32_t r);
/* Appends text as the value of row r (a new buffer when the old one is full: earlier spans stay
 * good, because the bytes are copied). False: out of memory. */
bool column_put_bytes(struct sr_home *h, struct sr_column *c, uint32_t r, const void *bytes,
                      uint32_t len);
bool column_grow_bytes(struct sr_home *h, struct sr_column *c, uint32_t more);
#define COLUMN_BYTES_MAX 2147483647u /* of text in one column: spans stay within an int32_t */
/* Room for `capacity` rows at least, for children that outgrow SR_BATCH_ROWS; in the fields of a
 * ROW too. Takes c, answers the column that replaces it (values, text and children moved), or NULL
 * and c is still good. */
struct sr_column *column_grow_rows(struct sr_home *h, struct sr_column *c, uint32_t capacity);
/* The column is filled: says its rows, to fields of ROWs too, and gives text columns that have no
 * bytes some to point to, which sr_text needs. False: out of memory. */
bool column_finish(struct sr_home *h, struct sr_column *c, uint32_t rows);

/* --- Views: `cols` empty places; the caller fills col[] with references it gives away. */
struct sr_view *view_new(struct sr_home *h, uint32_t cols);
void view_release(struct sr_view *v); /* columns and buffers too; NULL allowed; any thread */
/* A second view of the same rows: references to the same columns, its own selection. */
struct sr_view *view_share(struct sr_home *h, const struct sr_view *v);
/* A view of live rows [from, from + count) of v, sharing its columns. */
struct sr_view *view_slice(struct sr_home *h, const struct sr_view *v, uint32_t from,
                           uint32_t count);

#endif
