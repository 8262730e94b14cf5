/* The plan as a JSON document. */
#include <jansson.h>
#include <stdlib.h>

#include "engine/data/schema.h"
#include "engine/plan/plan.h"

static json_t *json_schema(struct arena *a, const struct sr_schema *s)
{
    json_t *list = json_array();
    for (uint32_t c = 0; c < s->fields; c++) {
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", s->field[c].name, "type",
                                                    type_text(a, &s->field[c].type)));
    }
    return list;
}

static json_t *json_numbers(const uint32_t *number, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, json_integer((json_int_t)number[i]));
    }
    return list;
}

static json_t *json_node(struct arena *a, const struct plan *p, uint32_t i)
{
    static const char *const kinds[] = {
        [PLAN_SOURCE] = "source", [PLAN_OP] = "operator", [PLAN_SINK] = "sink"};
    const struct plan_node *n = &p->node[i];
    const char *type = n->kind == PLAN_SOURCE ? n->source->name
                       : n->kind == PLAN_SINK ? n->sink->name
                                              : n->op->name;
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:o, s:o}", "id", (int)i, "uid",
                          n->uid, "name", n->name, "step", n->step, "kind", kinds[n->kind], "type",
                          type, "vertex", (int)n->vertex, "does", plan_node_text(a, p, i), "inputs",
                          json_numbers(n->input, n->inputs), "columns", json_schema(a, n->out));
    if (o && n->format) {
        (void)json_object_set_new(o, "format", json_string(n->format->name));
    }
    if (o && n->kind == PLAN_SINK) {
        (void)json_object_set_new(o, "guarantee", json_string(plan_guarantee_words(n->guarantee)));
    }
    return o;
}

static json_t *json_edge(const struct plan *p, const struct plan_edge *e)
{
    static const char *const ships[] = {
        [SHIP_FORWARD] = "forward", [SHIP_HASH] = "hash", [SHIP_REBALANCE] = "rebalance"};
    json_t *key = json_array();
    for (uint32_t k = 0; k < e->keys; k++) {
        const struct sr_field *f = &p->node[e->from_node].out->field[e->key[k]];
        (void)json_array_append_new(key, json_string(f->name));
    }
    return json_pack("{s:i, s:i, s:i, s:i, s:s, s:o}", "from", (int)e->from, "to", (int)e->to,
                     "from_node", (int)e->from_node, "to_node", (int)e->to_node, "ship",
                     ships[e->ship], "key", key);
}

static json_t *json_path(const struct plan *p, const struct plan_path *path)
{
    return json_pack("{s:s, s:s, s:s, s:s?, s:b}", "source", p->node[path->source_node].step,
                     "sink", p->node[path->sink_node].step, "guarantee",
                     plan_guarantee_words(path->guarantee), "weakest", path->weakest, "decider",
                     path->is_decided);
}

static json_t *json_plan(struct arena *a, const struct plan *p)
{
    json_t *nodes = json_array(), *vertices = json_array(), *edges = json_array(),
           *paths = json_array();
    const struct plan_path *path = NULL;
    uint32_t count = plan_paths(a, p, &path);
    for (uint32_t i = 0; i < p->nodes; i++) {
        (void)json_array_append_new(nodes, json_node(a, p, i));
    }
    for (uint32_t i = 0; i < p->vertices; i++) {
        const struct plan_vertex *v = &p->vertex[i];
        (void)json_array_append_new(vertices,
                                    json_pack("{s:i, s:s, s:i, s:o}", "id", (int)i, "name", v->name,
                                              "parallelism", (int)v->parallelism, "nodes",
                                              json_numbers(v->node, v->nodes)));
    }
    for (uint32_t i = 0; i < p->edges; i++) {
        (void)json_array_append_new(edges, json_edge(p, &p->edge[i]));
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)json_array_append_new(paths, json_path(p, &path[i]));
    }
    return json_pack("{s:s, s:s, s:b, s:i, s:o, s:o, s:o, s:o}", "job",
                     p->job->name ? p->job->name : "", "id", p->job->id, "bounded", p->is_bounded,
                     "max_parallelism", (int)p->max_parallelism, "nodes", nodes, "vertices",
                     vertices, "edges", edges, "paths", paths);
}

const char *plan_json(struct arena *a, const struct plan *p)
{
    json_t *root = json_plan(a, p);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    const char *kept = text ? arena_printf(a, "%s\n", text) : NULL;
    free(text);
    json_decref(root);
    return kept;
}
