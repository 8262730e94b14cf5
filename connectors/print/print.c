/* The print sink: rows as Flink prints them, `+I[a, b]`, to stdout or stderr, at-least-once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/common/pipe_out.h"
#include "connectors/print/print_text.h"
#include "connectors/text/node.h"

#define PRINT_PREFIX 256u /* bytes before a row, at most */

struct print_conf {
    const char *identifier;
    bool is_stderr;
};

struct print_sink {
    struct pipe_out out;
    char prefix[PRINT_PREFIX];
};

static sr_rc print_check(const void *conf, const struct sr_schema *schema,
                         struct sr_sink_caps *caps, struct sr_error *err)
{
    const struct print_conf *c = conf;
    *caps = (struct sr_sink_caps){
        .guarantee = SR_AT_LEAST_ONCE, .takes_changes = true, .makes_rows = true};
    if (c->identifier && strlen(c->identifier) > PRINT_PREFIX - 32) {
        *err = (struct sr_error){.rc = SR_ECONFIG, .words = "print-identifier is too long"};
        return SR_ECONFIG;
    }
    uint32_t nodes = 0;
    struct node *node = node_new(schema, 0, 0, &nodes);
    const struct node *refused = NULL;
    for (uint32_t i = 0; node && i < nodes && !refused; i++) {
        refused = print_text_can(&node[i].value.type) ? NULL : &node[i];
    }
    if (!node || refused) {
        err->rc = node ? SR_ECONFIG : SR_ENOMEM;
        (void)snprintf(err->words, sizeof(err->words),
                       node ? "column %s has a type that cannot be printed yet: CAST it to STRING"
                            : "out of memory%s",
                       refused ? refused->value.name : "");
    }
    free(node);
    return node && !refused ? SR_OK : err->rc;
}

static sr_rc print_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct print_sink *s = sink;
    const struct print_conf *c = o->conf;
    const char *id = c->identifier ? c->identifier : "";
    /* As Flink: with more than one subtask each row says which one it is from. */
    char part[16] = "";
    if (o->parts > 1) {
        (void)snprintf(part, sizeof(part), "%s%" PRIu32, id[0] ? ":" : "", o->part + 1);
    }
    (void)snprintf(s->prefix, sizeof(s->prefix), "%s%s%s", id, part, id[0] || part[0] ? "> " : "");
    return pipe_out_open(&s->out, o->host, c->is_stderr ? 2 : 1, c->is_stderr ? "stderr" : "stdout",
                         err);
}

static bool print_row(struct print_sink *s, const struct sr_view *v, uint32_t r)
{
    static const char *const kind[] = {"+I[", "-U[", "+U[", "-D["};
    struct sr_out *out = &s->out.buf;
    bool is_put = print_text_put(out, s->prefix) && print_text_put(out, kind[sr_change_of(v, r)]);
    for (uint32_t c = 0; is_put && c < v->cols; c++) {
        is_put = (c == 0 || print_text_put(out, ", ")) && print_text_value(out, v->col[c], r);
    }
    return is_put && print_text_put(out, "]\n");
}

static sr_rc print_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                         struct sr_wait *wait, struct sr_error *err)
{
    struct print_sink *s = sink;
    sr_rc rc = pipe_out_make_room(&s->out, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (uint32_t i = from; i < v->picked; i++) {
        size_t begin = s->out.buf.len;
        if (!print_row(s, v, sr_row(v, i))) {
            s->out.buf.len = begin;
            return s->out.host->fail(s->out.host, err, SR_ENOMEM, "out of memory for a row");
        }
    }
    *done = v->picked - from;
    return pipe_out_push(&s->out, err);
}

static sr_rc print_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    return pipe_out_drain(&((struct print_sink *)sink)->out, wait, err);
}

static sr_rc print_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                           struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint;
    (void)is_last;
    (void)notes;
    return pipe_out_sync(&((struct print_sink *)sink)->out, wait, err);
}

static void print_close(void *sink) { pipe_out_close(&((struct print_sink *)sink)->out); }

static const struct sr_opt print_opts[] = {
    SR_OPT(struct print_conf, "print-identifier", identifier,
           .doc = "Stands before each row: `id> +I[a, b]`, with more subtasks `id:1> +I[a, b]`."),
    SR_OPT(struct print_conf, "standard-error", is_stderr, .def = "false",
           .doc = "Print to stderr instead of stdout."),
    SR_OPT_END};

static const struct sr_sink_type print_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "print",
    .doc = "Rows as Flink prints them, +I[a, b], at-least-once.",
    .keeps = "at-least-once",
    .opts = print_opts,
    .conf_size = sizeof(struct print_conf),
    .sink_size = sizeof(struct print_sink),
    .check = print_check,
    .open = print_open,
    .write = print_write,
    .flush = print_flush,
    .prepare = print_prepare,
    .close = print_close,
};

static const struct sr_sink_type *const print_sinks[] = {&print_type, NULL};

SR_PLUGIN(print) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "print",
    .version = "0.1.0",
    .doc = "Rows for people to look at.",
    .sinks = print_sinks,
};
