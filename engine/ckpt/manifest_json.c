#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "engine/base/calendar.h"
#include "engine/ckpt/manifest.h"

/* Every json_*_set_new takes its value, and answers -1 for a NULL one: so a failure anywhere shows
 * up in the sum, and the caller lets go of the whole. */

static int manifest_json_time(json_t *o, const char *key, int64_t us)
{
    char text[25];
    civil_iso_ms(us, text);
    return json_object_set_new(o, key, json_string(text));
}

static int manifest_json_number(json_t *o, const char *key, uint64_t n)
{
    return json_object_set_new(o, key, json_integer((json_int_t)n));
}

/* 64 bits that are only a name: as a number JSON's readers would round them. */
static int manifest_json_name(json_t *o, const char *key, uint64_t n)
{
    return json_object_set_new(o, key, json_sprintf("%016" PRIx64, n));
}

static int manifest_json_text(json_t *o, const char *key, const char *s)
{
    return json_object_set_new(o, key, json_string(s));
}

static json_t *manifest_json_part(const struct manifest_part *p)
{
    char digest[33];
    digest_text(p->digest, digest);
    json_t *o = json_object();
    int bad = 0;
    bad |= manifest_json_text(o, "uid", p->uid);
    bad |= manifest_json_text(o, "name", p->name);
    bad |= manifest_json_number(o, "subtask", p->part);
    bad |= manifest_json_number(o, "subtasks", p->parts);
    bad |= manifest_json_number(o, "bytes", p->len);
    bad |= manifest_json_text(o, "digest", digest);
    if (bad != 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static int manifest_json_parts(json_t *o, const struct manifest *m)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < m->parts; i++) {
        bad |= json_array_append_new(list, manifest_json_part(&m->part[i]));
    }
    bad |= json_object_set_new(o, "parts", list);
    return bad;
}

static int manifest_json_counters(json_t *o, const struct manifest *m)
{
    json_t *list = json_object();
    int bad = 0;
    for (uint32_t i = 0; i < m->counters; i++) {
        bad |= json_object_set_new(list, m->counter[i].name, json_integer(m->counter[i].value));
    }
    bad |= json_object_set_new(o, "counters", list);
    return bad;
}

/* The same under the names of Flink's REST API. */
static int manifest_json_rest(json_t *o, const struct manifest *m)
{
    int64_t begin = m->started_us / 1000, end = m->ended_us / 1000;
    uint64_t bytes = manifest_bytes(m);
    int bad = 0;
    bad |= manifest_json_number(o, "id", m->checkpoint);
    bad |= manifest_json_text(o, "status", "COMPLETED");
    bad |= json_object_set_new(o, "is_savepoint", json_boolean(m->kind == MANIFEST_SAVEPOINT));
    bad |= json_object_set_new(o, "trigger_timestamp", json_integer(begin));
    bad |= json_object_set_new(o, "latest_ack_timestamp", json_integer(end));
    bad |= json_object_set_new(o, "end_to_end_duration", json_integer(end - begin));
    bad |= manifest_json_number(o, "checkpointed_size", bytes);
    bad |= manifest_json_number(o, "state_size", bytes);
    return bad;
}

const char *manifest_json(struct arena *a, const struct manifest *m)
{
    json_t *o = json_object();
    int bad = 0;
    bad |= manifest_json_number(o, "format", m->version);
    bad |=
        manifest_json_text(o, "kind", m->kind == MANIFEST_SAVEPOINT ? "savepoint" : "checkpoint");
    bad |= manifest_json_number(o, "checkpoint", m->checkpoint);
    bad |= manifest_json_text(o, "job-id", m->job_id);
    bad |= manifest_json_text(o, "job-name", m->job_name);
    bad |= manifest_json_name(o, "lineage", m->lineage);
    bad |= manifest_json_number(o, "attempt", m->attempt);
    bad |= manifest_json_number(o, "restored-from", m->parent);
    bad |= manifest_json_text(o, "run", manifest_end_name(m->end));
    bad |= manifest_json_time(o, "started", m->started_us);
    bad |= manifest_json_time(o, "ended", m->ended_us);
    bad |= manifest_json_rest(o, m);
    bad |= manifest_json_number(o, "max-parallelism", m->max_parallelism);
    bad |= manifest_json_text(o, "made-by", m->made_by);
    bad |= manifest_json_number(o, "bytes", manifest_bytes(m));
    bad |= manifest_json_parts(o, m);
    bad |= manifest_json_counters(o, m);
    bad |= manifest_json_text(o, "description", m->description);
    char *text = bad == 0 ? json_dumps(o, JSON_INDENT(2)) : NULL;
    json_decref(o);
    const char *copy = arena_text(a, text);
    free(text);
    return copy;
}
