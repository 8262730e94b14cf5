/* One request that was taken: what is known of it, and its body.
 *
 * In a journal it lies as an envelope: magic u32 | bytes of the head u32 | bytes of the body u32 |
 * 0 u32 | when it came u64 (us since the epoch) | head | body. Numbers are little-endian. The head
 * is texts: method, path, remote address, content type, then names and values of headers.
 */
#ifndef CONNECTORS_HTTP_HTTP_POST_H
#define CONNECTORS_HTTP_HTTP_POST_H

#include "connectors/common/note.h"

#define HTTP_POST_FIXED    24u          /* bytes in front of the head */
#define HTTP_POST_SLACK    64u          /* readable bytes behind the body, for wide loads */
#define HTTP_POST_HEAD_MAX (128u << 10) /* bytes of the head */
#define HTTP_BODY_MAX      (512u << 20) /* bytes of the body */

struct http_call;

struct http_post {
    struct http_post *next;
    struct http_call *call; /* that waits for the answer; NULL: nobody does any more */
    uint8_t *bytes;         /* the envelope; owned */
    uint32_t len, head_len; /* of the envelope, of the head */
    uint32_t body_len;
    uint64_t number; /* of those that were taken, from 1 */
};

/* What a post begins with. */
struct http_about {
    const char *method, *path, *remote, *content_type;
    const struct sr_pairs *headers; /* that are kept */
    int64_t wall_us;
};

/* Takes a copy of all; NULL: out of memory, or the head is too long. */
struct http_post *http_post_new(const struct http_about *about, const uint8_t *body, uint32_t len);
void http_post_free(struct http_post *p); /* NULL allowed */

static inline const uint8_t *http_post_body(const struct http_post *p)
{
    return p->bytes + HTTP_POST_FIXED + p->head_len;
}
int64_t http_post_wall_us(const struct http_post *p);
struct note_in http_post_head(const struct http_post *p);

/* Of an envelope in a journal, by its fixed part: is it one? Then it is made, with room for head
 * and body behind what is there; NULL: out of memory. */
bool http_post_is_one(const uint8_t fixed[HTTP_POST_FIXED]);
struct http_post *http_post_blank(const uint8_t fixed[HTTP_POST_FIXED]);

#endif
