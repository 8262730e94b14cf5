#include "connectors/json/json_cell.h"

#include <stdio.h>
#include <stdlib.h>

#include "connectors/json/json_nest.h"

struct json_cells {
    struct json_decoder decoder;
};

sr_rc json_cells_check(const struct sr_field *field, struct sr_error *err)
{
    const struct sr_schema one = {.fields = 1, .field = field, .rowtime = -1};
    return node_check_schema(&one, false, "JSON in a column", err);
}

struct json_cells *json_cells_new(const struct sr_host *host, const struct sr_schema *schema)
{
    static const struct json_conf conf = {.map_null_literal = "null"};
    struct json_cells *x = calloc(1, sizeof(*x));
    if (x) x->decoder.columns = schema->fields;
    if (x && !json_decode_init(&x->decoder, host, &conf, schema)) {
        json_cells_free(x);
        return NULL;
    }
    return x;
}

void json_cells_free(struct json_cells *x)
{
    if (x) json_decode_close(&x->decoder);
    free(x);
}

static bool json_cells_fail(const struct json_walk *w, const struct json_fault *fault,
                            const struct node *node, char words[JSON_CELL_WORDS])
{
    struct value named = fault->value ? *fault->value : node->value;
    named.name = fault->path ? fault->path : node->value.name;
    if (fault->value) {
        value_words(words, JSON_CELL_WORDS, &named, fault->rc, fault->text, fault->len);
    } else {
        (void)snprintf(words, JSON_CELL_WORDS, "%s: not JSON at byte %u of the value: %s",
                       named.name, w->fault_at, w->fault ? w->fault : "it ends too early");
    }
    return false;
}

bool json_cells_put(struct json_cells *x, struct sr_builder *b, uint32_t c, const char *text,
                    uint32_t len, char words[JSON_CELL_WORDS])
{
    struct json_places places = {0};
    const struct node *node = &x->decoder.node[c];
    struct json_walk w = {.bytes = (const uint8_t *)text, .stop = len, .has_backslash = true};
    struct json_fault fault = {.rc = VALUE_OK};
    if (json_parser_index(x->decoder.parser, w.bytes, len, &places) != JSON_INDEXED) {
        (void)json_walk_fail(&w, 0, "it is no text of JSON");
        return json_cells_fail(&w, &fault, node, words);
    }
    w.at = places.at;
    w.end = places.count;
    json_value_record(&x->decoder);
    const struct json_place place = {.b = b, .c = c, .node = node};
    bool is_put = json_nest_put(&x->decoder, &w, &place, &fault);
    if (is_put && w.next < w.end) {
        is_put = json_walk_fail(&w, json_walk_place(&w), "nothing may follow the value");
    }
    return is_put || json_cells_fail(&w, &fault, node, words);
}
