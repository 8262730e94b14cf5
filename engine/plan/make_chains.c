/* Chains and edges: which nodes run in one task, and how rows travel between tasks. */
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/expr/steps.h"
#include "engine/plan/make.h"

struct chains {
    struct arena *arena;
    const struct plan *plan;
    struct plan_node *node;
    const uint32_t *parallelism; /* by node */
    uint32_t *readers;           /* by node: how many read it */
    struct plan_vertex *vertex;
    uint32_t vertices;
    struct plan_edge *edge;
    uint32_t edges;
};

/* How rows go from node m to its reader n. */
static void chains_ship(const struct chains *c, uint32_t m, uint32_t n, struct plan_edge *e)
{
    const struct plan_node *to = &c->node[n];
    bool is_equal = c->parallelism[m] == c->parallelism[n];
    e->ship = is_equal ? SHIP_FORWARD : SHIP_REBALANCE;
    if (to->kind == PLAN_OP && to->op->is_keyed) {
        const struct aggregate_step *s = to->op_conf;
        e->ship = s->keys > 0 ? SHIP_HASH : e->ship;
        e->key = s->key;
        e->keys = s->keys;
    } else if (to->kind == PLAN_SINK && c->parallelism[n] > 1 && to->out->keys > 0) {
        /* Changes of one primary key go through one writer, in order, whatever was before. */
        e->ship = SHIP_HASH;
        e->key = to->out->key;
        e->keys = to->out->keys;
    }
    if (e->ship != SHIP_HASH) {
        e->key = NULL;
        e->keys = 0;
    }
}

/* True when n runs in the task of its only input. */
static bool chains_joins(const struct chains *c, uint32_t n)
{
    const struct plan_node *node = &c->node[n];
    if (node->inputs != 1 || c->readers[node->input[0]] != 1) {
        return false;
    }
    struct plan_edge e = {0};
    chains_ship(c, node->input[0], n, &e);
    return e.ship == SHIP_FORWARD;
}

static bool chains_vertices(struct chains *c)
{
    uint32_t nodes = c->plan->nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t i = 0; i < c->node[n].inputs; i++) {
            c->readers[c->node[n].input[i]]++;
        }
    }
    for (uint32_t n = 0; n < nodes; n++) {
        bool is_joining = chains_joins(c, n);
        c->node[n].vertex = is_joining ? c->node[c->node[n].input[0]].vertex : c->vertices++;
        struct plan_vertex *v = &c->vertex[c->node[n].vertex];
        v->parallelism = c->parallelism[n];
        v->nodes++;
    }
    for (uint32_t i = 0; i < c->vertices; i++) {
        struct plan_vertex *v = &c->vertex[i];
        uint32_t *list = arena_array(c->arena, v->nodes, sizeof(*list)), count = 0;
        for (uint32_t n = 0; list && n < nodes; n++) {
            if (c->node[n].vertex == i) {
                v->name = v->name ? arena_printf(c->arena, "%s -> %s", v->name, c->node[n].name)
                                  : c->node[n].name;
                list[count++] = n;
            }
        }
        v->node = list;
    }
    return !arena_is_broken(c->arena);
}

static void chains_edges(struct chains *c)
{
    for (uint32_t n = 0; n < c->plan->nodes; n++) {
        const struct plan_node *node = &c->node[n];
        for (uint32_t i = 0; i < node->inputs; i++) {
            uint32_t m = node->input[i];
            if (c->node[m].vertex == node->vertex) {
                continue;
            }
            struct plan_edge *e = &c->edge[c->edges++];
            *e = (struct plan_edge){.from = c->node[m].vertex,
                                    .to = node->vertex,
                                    .from_node = m,
                                    .to_node = n,
                                    .to_port = 0};
            chains_ship(c, m, n, e);
        }
    }
}

/* Each vertex learns its edges. */
static void chains_ends(struct chains *c)
{
    for (uint32_t i = 0; i < c->vertices; i++) {
        struct plan_vertex *v = &c->vertex[i];
        uint32_t ins = 0, outs = 0;
        for (uint32_t e = 0; e < c->edges; e++) {
            ins += c->edge[e].to == i;
            outs += c->edge[e].from == i;
        }
        uint32_t *in = arena_array(c->arena, (size_t)ins + 1, sizeof(*in));
        uint32_t *out = arena_array(c->arena, (size_t)outs + 1, sizeof(*out));
        for (uint32_t e = 0; in && out && e < c->edges; e++) {
            if (c->edge[e].to == i) {
                in[v->ins++] = e;
            }
            if (c->edge[e].from == i) {
                sr_assert(c->edge[e].from_node == v->node[v->nodes - 1]);
                out[v->outs++] = e;
            }
        }
        v->in = in;
        v->out = out;
    }
}

sr_rc make_chains(struct arena *a, struct plan *p, struct plan_node *node,
                  const uint32_t *parallelism, struct sr_error *err)
{
    struct chains c = {.arena = a, .plan = p, .node = node, .parallelism = parallelism};
    uint32_t inputs = 0;
    for (uint32_t n = 0; n < p->nodes; n++) {
        inputs += node[n].inputs;
    }
    c.readers = arena_array(a, (size_t)p->nodes + 1, sizeof(*c.readers));
    c.vertex = arena_array(a, (size_t)p->nodes + 1, sizeof(*c.vertex));
    c.edge = arena_array(a, (size_t)inputs + 1, sizeof(*c.edge));
    if (!c.readers || !c.vertex || !c.edge || !chains_vertices(&c)) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    chains_edges(&c);
    chains_ends(&c);
    p->vertex = c.vertex;
    p->vertices = c.vertices;
    p->edge = c.edge;
    p->edges = c.edges;
    return arena_is_broken(a) ? error_set(err, SR_ENOMEM, "planning: out of memory") : SR_OK;
}
