#include "connectors/http/http_known.h"

#include <stdlib.h>
#include <string.h>

#define HTTP_TEXT                                   \
    {                                               \
        .kind = SR_VARCHAR, .length = SR_LENGTH_MAX \
    }

static const struct sr_field http_header_fields[] = {{.name = "", .type = HTTP_TEXT},
                                                     {.name = "", .type = HTTP_TEXT}};

const struct sr_metadata http_metadata[] = {
    [HTTP_METADATA_REMOTE] = {"remote-address", HTTP_TEXT, "Address of who sent the request."},
    [HTTP_METADATA_PATH] = {"path", HTTP_TEXT, "The path that it was sent to."},
    [HTTP_METADATA_METHOD] = {"method", HTTP_TEXT, "POST or PUT."},
    [HTTP_METADATA_CONTENT_TYPE] = {"content-type", HTTP_TEXT,
                                    "As the request says; '' when it does not."},
    [HTTP_METADATA_TIME] = {"timestamp",
                            {.kind = SR_TIMESTAMP_LTZ, .length = 3},
                            "When the request had come."},
    [HTTP_METADATA_HEADERS] = {"headers",
                               {.kind = SR_MAP, .children = 2, .child = http_header_fields},
                               "The headers that source.headers names, as far as it had them."},
    {.name = NULL}};

void http_known_done(struct http_known *k)
{
    free(k->method);
    free(k->path);
    free(k->remote);
    free(k->content_type);
    for (uint32_t i = 0; k->header && i < 2 * k->headers; i++) {
        free(k->header[i]);
    }
    free(k->header);
    *k = (struct http_known){0};
}

sr_rc http_known_read(struct http_known *k, const struct http_post *p)
{
    struct note_in in = http_post_head(p);
    http_known_done(k);
    k->wall_us = http_post_wall_us(p);
    k->method = note_get_text(&in);
    k->path = note_get_text(&in);
    k->remote = note_get_text(&in);
    k->content_type = note_get_text(&in);
    k->header = calloc((size_t)2 * HTTP_HEADERS_MAX, sizeof(*k->header));
    while (k->header && !in.is_broken && !note_is_done(&in) && k->headers < HTTP_HEADERS_MAX) {
        char **pair = k->header + (size_t)2 * k->headers++;
        pair[0] = note_get_text(&in);
        pair[1] = note_get_text(&in);
    }
    return k->header && note_is_done(&in) ? SR_OK : k->header ? SR_ECORRUPT : SR_ENOMEM;
}

static void http_known_text(struct sr_builder *out, uint32_t c, const char *text)
{
    sr_put_bytes(out, c, text, (uint32_t)strlen(text));
}

static void http_known_headers(const struct http_known *k, uint32_t c, struct sr_builder *out)
{
    struct sr_builder *e = sr_put_begin(out, c);
    for (uint32_t i = 0; i < k->headers && sr_put_room(e); i++) {
        http_known_text(e, 0, k->header[(size_t)2 * i]);
        http_known_text(e, 1, k->header[(size_t)2 * i + 1]);
        sr_row_done(e);
    }
    sr_put_end(out, c);
}

void http_known_put(const struct http_known *k, enum http_metadata what, uint32_t c,
                    struct sr_builder *out)
{
    switch (what) {
    case HTTP_METADATA_REMOTE:
        http_known_text(out, c, k->remote);
        break;
    case HTTP_METADATA_PATH:
        http_known_text(out, c, k->path);
        break;
    case HTTP_METADATA_METHOD:
        http_known_text(out, c, k->method);
        break;
    case HTTP_METADATA_CONTENT_TYPE:
        http_known_text(out, c, k->content_type);
        break;
    case HTTP_METADATA_TIME: /* in whole milliseconds, downwards before 1970 too */
        sr_put_i64(out, c, k->wall_us - (k->wall_us % 1000 + 1000) % 1000);
        break;
    case HTTP_METADATA_HEADERS:
        http_known_headers(k, c, out);
        break;
    }
}
