/* A growing run of bytes (struct sr_out with malloc under it), and a cursor to read one.
 *
 * Numbers are little-endian whatever the machine, so that saved state travels. A reader never runs
 * over its end: it answers zeros, and is_broken tells at the end.
 */
#ifndef SR_BASE_BYTES_H
#define SR_BASE_BYTES_H

#include <streamrun/connector.h>

struct sr_out bytes_out(void);                                  /* empty; grows by malloc */
void bytes_free(struct sr_out *o);                              /* and empty again */
bool bytes_put(struct sr_out *o, const void *data, size_t len); /* false: out of memory */
bool bytes_put_u8(struct sr_out *o, uint8_t v);
bool bytes_put_u32(struct sr_out *o, uint32_t v);
bool bytes_put_u64(struct sr_out *o, uint64_t v);
bool bytes_put_blob(struct sr_out *o, const void *data, uint32_t len); /* length, then bytes */
bool bytes_put_text(struct sr_out *o, const char *s);                  /* as a blob, without \0 */

struct bytes_in {
    const uint8_t *at, *end;
    bool is_broken; /* something was read that was not there */
};

struct bytes_in bytes_in(const void *data, size_t len);
uint8_t bytes_get_u8(struct bytes_in *in);
uint32_t bytes_get_u32(struct bytes_in *in);
uint64_t bytes_get_u64(struct bytes_in *in);
const uint8_t *bytes_get(struct bytes_in *in, size_t len); /* NULL when broken */
struct sr_bytes bytes_get_blob(struct bytes_in *in);

#endif
