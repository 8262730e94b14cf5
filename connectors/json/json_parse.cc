#include "connectors/json/json_parse.h"

#include <memory>
#include <new>

#include <simdjson.h>

struct json_parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stages;
};

extern "C" struct json_parser *json_parser_new(void) { return new (std::nothrow) json_parser(); }

extern "C" void json_parser_free(struct json_parser *p) { delete p; }

/* Room for `len` bytes, as a power of two so that lines of growing length do not each allocate. */
static bool json_parser_reserve(struct json_parser *p, size_t len)
{
    size_t capacity = 4096;
    while (capacity < len) {
        capacity *= 2;
    }
    /* The library looks for the best implementation when it is first used, and may throw then. */
    try {
        if (!p->stages) {
            auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
                capacity, 1, p->stages);
            return error == simdjson::SUCCESS;
        }
        return p->stages->capacity() >= len ||
               p->stages->set_capacity(capacity) == simdjson::SUCCESS;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

extern "C" enum json_index_rc json_parser_index(struct json_parser *p, const uint8_t *bytes,
                                                uint32_t len, struct json_places *out)
{
    if (len == 0) {
        return JSON_EMPTY;
    }
    if (!json_parser_reserve(p, len)) {
        return JSON_NO_MEMORY;
    }
    auto error = p->stages->stage1(bytes, len, simdjson::stage1_mode::regular);
    if (error == simdjson::SUCCESS) {
        *out = {p->stages->structural_indexes.get(), p->stages->n_structural_indexes};
        return JSON_INDEXED;
    }
    if (error == simdjson::EMPTY) {
        return JSON_EMPTY;
    }
    if (error == simdjson::UTF8_ERROR) {
        return JSON_UTF8;
    }
    return error == simdjson::UNCLOSED_STRING ? JSON_UNCLOSED : JSON_CONTROL;
}
