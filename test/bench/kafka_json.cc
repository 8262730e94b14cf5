#include "test/bench/kafka_json.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <simdjson.h>

struct kafka_json {
    simdjson::ondemand::parser parser;
    char padded[KAFKA_JSON_ROOM + simdjson::SIMDJSON_PADDING];
};

static char *put(char *at, std::string_view text)
{
    memcpy(at, text.data(), text.size());
    return at + text.size();
}

struct kafka_json *kafka_json_new(void) { return new kafka_json(); }

size_t kafka_json_row(struct kafka_json *j, const void *row, size_t len, char out[KAFKA_JSON_ROOM])
{
    int64_t id = 0, amount = 0;
    std::string_view text, key;
    simdjson::ondemand::document doc;
    simdjson::ondemand::object object;
    if (len > KAFKA_JSON_ROOM / 2) abort();
    memcpy(j->padded, row, len);
    if (j->parser.iterate(j->padded, len, sizeof(j->padded)).get(doc)) abort();
    if (doc.get_object().get(object)) abort();
    for (auto field : object) {
        if (field.unescaped_key().get(key)) abort();
        if (key == "id") {
            if (field.value().get_int64().get(id)) abort();
        } else if (key == "amount") {
            if (field.value().get_int64().get(amount)) abort();
        } else if (key == "text") {
            if (field.value().get_string().get(text)) abort();
        }
    }
    if (amount <= 499) return 0;
    char *at = put(out, "{\"id\":");
    at = std::to_chars(at, at + 24, id).ptr;
    at = put(at, ",\"amount\":");
    at = std::to_chars(at, at + 24, amount).ptr;
    at = put(at, ",\"text\":\"");
    at = put(at, text);
    at = put(at, "\"}");
    return (size_t)(at - out);
}

void kafka_json_free(struct kafka_json *j) { delete j; }
