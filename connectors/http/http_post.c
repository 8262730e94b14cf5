#include "connectors/http/http_post.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define HTTP_POST_MAGIC 0x50485253u /* "SRHP" */

static void http_put_u32(uint8_t *to, uint32_t v)
{
    v = htole32(v);
    memcpy(to, &v, sizeof(v));
}

static uint32_t http_get_u32(const uint8_t *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof(v));
    return le32toh(v);
}

void http_post_free(struct http_post *p)
{
    if (p) {
        free(p->bytes);
    }
    free(p);
}

/* With room for head and body. */
static struct http_post *http_post_room(uint32_t head, uint32_t body)
{
    struct http_post *p = calloc(1, sizeof(*p));
    uint8_t *bytes = malloc((size_t)HTTP_POST_FIXED + head + body + HTTP_POST_SLACK);
    if (!p || !bytes) {
        free(p);
        free(bytes);
        return NULL;
    }
    memset(bytes + HTTP_POST_FIXED + head + body, 0, HTTP_POST_SLACK);
    p->bytes = bytes;
    p->head_len = head;
    p->body_len = body;
    p->len = HTTP_POST_FIXED + head + body;
    return p;
}

static bool http_post_put_head(struct sr_out *o, const struct http_about *a)
{
    bool is_put = note_put_text(o, a->method) && note_put_text(o, a->path) &&
                  note_put_text(o, a->remote) && note_put_text(o, a->content_type);
    for (uint32_t i = 0; is_put && i < a->headers->count; i++) {
        is_put = note_put_text(o, a->headers->key[i]) && note_put_text(o, a->headers->value[i]);
    }
    return is_put && o->len <= HTTP_POST_HEAD_MAX;
}

struct http_post *http_post_new(const struct http_about *about, const uint8_t *body, uint32_t len)
{
    struct sr_out head = note_out();
    struct http_post *p = NULL;
    if (http_post_put_head(&head, about)) {
        p = http_post_room((uint32_t)head.len, len);
    }
    if (p) {
        uint64_t wall = htole64((uint64_t)about->wall_us);
        http_put_u32(p->bytes, HTTP_POST_MAGIC);
        http_put_u32(p->bytes + 4, p->head_len);
        http_put_u32(p->bytes + 8, len);
        http_put_u32(p->bytes + 12, 0);
        memcpy(p->bytes + 16, &wall, sizeof(wall));
        memcpy(p->bytes + HTTP_POST_FIXED, head.data, head.len);
        if (len > 0) {
            memcpy(p->bytes + HTTP_POST_FIXED + head.len, body, len);
        }
    }
    note_free(&head);
    return p;
}

int64_t http_post_wall_us(const struct http_post *p)
{
    uint64_t wall;
    memcpy(&wall, p->bytes + 16, sizeof(wall));
    return (int64_t)le64toh(wall);
}

struct note_in http_post_head(const struct http_post *p)
{
    return note_in((struct sr_bytes){p->bytes + HTTP_POST_FIXED, p->head_len});
}

struct http_post *http_post_blank(const uint8_t fixed[HTTP_POST_FIXED])
{
    uint32_t head = http_get_u32(fixed + 4), body = http_get_u32(fixed + 8);
    struct http_post *p = http_post_room(head, body);
    if (p) {
        memcpy(p->bytes, fixed, HTTP_POST_FIXED);
    }
    return p;
}

bool http_post_is_one(const uint8_t fixed[HTTP_POST_FIXED])
{
    return http_get_u32(fixed) == HTTP_POST_MAGIC && http_get_u32(fixed + 12) == 0 &&
           http_get_u32(fixed + 4) <= HTTP_POST_HEAD_MAX &&
           http_get_u32(fixed + 8) <= HTTP_BODY_MAX;
}
