#include "connectors/kafka/kafka_known.h"

#include <dlfcn.h>
#include <string.h>

#define KAFKA_TEXT                                  \
    {                                               \
        .kind = SR_VARCHAR, .length = SR_LENGTH_MAX \
    }
#define KAFKA_BYTES                                                        \
    {                                                                      \
        .kind = SR_VARBINARY, .is_nullable = true, .length = SR_LENGTH_MAX \
    }

static const struct sr_field kafka_header_map[] = {{.name = "", .type = KAFKA_TEXT},
                                                   {.name = "", .type = KAFKA_BYTES}};
static const struct sr_field kafka_header_row[] = {{.name = "key", .type = KAFKA_TEXT},
                                                   {.name = "value", .type = KAFKA_BYTES}};
static const struct sr_field kafka_header_list[] = {
    {.name = "", .type = {.kind = SR_ROW, .children = 2, .child = kafka_header_row}}};

const struct sr_metadata kafka_metadata[] = {
    [KAFKA_META_TOPIC] = {"topic", KAFKA_TEXT, "The topic."},
    [KAFKA_META_PARTITION] = {"partition", {.kind = SR_INT}, "The partition, from 0."},
    [KAFKA_META_OFFSET] = {"offset", {.kind = SR_BIGINT}, "Of the record in its partition."},
    [KAFKA_META_TIMESTAMP] = {"timestamp",
                              {.kind = SR_TIMESTAMP_LTZ, .is_nullable = true, .length = 3},
                              "As the producer or the broker set it; NULL where it has none."},
    [KAFKA_META_TIMESTAMP_TYPE] = {"timestamp-type", KAFKA_TEXT,
                                   "CreateTime, LogAppendTime or NoTimestampType."},
    [KAFKA_META_HEADERS] = {"headers",
                            {.kind = SR_MAP, .children = 2, .child = kafka_header_map},
                            "Its headers; of several with one name the last."},
    [KAFKA_META_HEADER_LIST] = {"header-list",
                                {.kind = SR_ARRAY, .children = 1, .child = kafka_header_list},
                                "Its headers in their order, those with one name too."},
    [KAFKA_META_LEADER_EPOCH] = {"leader-epoch",
                                 {.kind = SR_INT, .is_nullable = true},
                                 "Of the partition's leader that wrote it; NULL with a librdkafka "
                                 "before 2.1, which does not tell."},
    {.name = NULL}};

static void kafka_known_text(struct sr_builder *out, uint32_t c, const char *text)
{
    sr_put_bytes(out, c, text, (uint32_t)strlen(text));
}

static void kafka_known_time(const rd_kafka_message_t *m, uint32_t c, struct sr_builder *out,
                             bool is_type)
{
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    int64_t ms = rd_kafka_message_timestamp(m, &type);
    if (is_type) {
        kafka_known_text(out, c,
                         type == RD_KAFKA_TIMESTAMP_CREATE_TIME       ? "CreateTime"
                         : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? "LogAppendTime"
                                                                      : "NoTimestampType");
    } else if (type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || ms < 0 || ms > INT64_MAX / 1000) {
        sr_put_null(out, c);
    } else {
        sr_put_i64(out, c, ms * 1000);
    }
}

static void kafka_known_value(struct sr_builder *out, uint32_t c, const void *value, size_t len)
{
    if (value) {
        sr_put_bytes(out, c, value, (uint32_t)len);
    } else {
        sr_put_null(out, c);
    }
}

/* Whether a later header has the same name. */
static bool kafka_known_is_beaten(const rd_kafka_headers_t *h, size_t i, const char *name)
{
    const char *other = NULL;
    const void *value = NULL;
    size_t len = 0;
    for (size_t k = i + 1; !rd_kafka_header_get_all(h, k, &other, &value, &len); k++) {
        if (strcmp(other, name) == 0) {
            return true;
        }
    }
    return false;
}

static void kafka_known_headers(const rd_kafka_message_t *m, uint32_t c, struct sr_builder *out,
                                bool is_map)
{
    rd_kafka_headers_t *h = NULL;
    struct sr_builder *e = sr_put_begin(out, c);
    const char *name = NULL;
    const void *value = NULL;
    size_t len = 0;
    bool has_some = rd_kafka_message_headers(m, &h) == RD_KAFKA_RESP_ERR_NO_ERROR;
    for (size_t i = 0; has_some && !rd_kafka_header_get_all(h, i, &name, &value, &len); i++) {
        if ((is_map && kafka_known_is_beaten(h, i, name)) || !sr_put_room(e)) {
            continue;
        }
        struct sr_builder *pair = is_map ? e : sr_put_row(e, 0);
        kafka_known_text(pair, 0, name);
        kafka_known_value(pair, 1, value, len);
        sr_row_done(e);
    }
    sr_put_end(out, c);
}

/* Newer libraries than the one that this may be built with know it. */
static int32_t kafka_known_epoch(const rd_kafka_message_t *m)
{
    int32_t (*ask)(const rd_kafka_message_t *) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "rd_kafka_message_leader_epoch");
    memcpy(&ask, &found, sizeof(ask)); /* POSIX lets a function have the form of a pointer */
    return ask ? ask(m) : -1;
}

void kafka_known_put(const rd_kafka_message_t *m, const char *topic, enum kafka_metadata what,
                     uint32_t c, struct sr_builder *out)
{
    switch (what) {
    case KAFKA_META_TOPIC:
        kafka_known_text(out, c, topic);
        break;
    case KAFKA_META_PARTITION:
        sr_put_i32(out, c, m->partition);
        break;
    case KAFKA_META_OFFSET:
        sr_put_i64(out, c, m->offset);
        break;
    case KAFKA_META_TIMESTAMP:
    case KAFKA_META_TIMESTAMP_TYPE:
        kafka_known_time(m, c, out, what == KAFKA_META_TIMESTAMP_TYPE);
        break;
    case KAFKA_META_HEADERS:
    case KAFKA_META_HEADER_LIST:
        kafka_known_headers(m, c, out, what == KAFKA_META_HEADERS);
        break;
    case KAFKA_META_LEADER_EPOCH:
        if (kafka_known_epoch(m) < 0) {
            sr_put_null(out, c);
        } else {
            sr_put_i32(out, c, kafka_known_epoch(m));
        }
        break;
    case KAFKA_METADATA:
        break;
    }
}
