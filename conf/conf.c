#include "conf/conf.h"

#include <stdlib.h>
#include <string.h>

#include "conf/describe.h"
#include "conf/keys.h"
#include "conf/opts.h"
#include "conf/steps.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"

#define CONF_TEXT_NAME   "job"
#define CONF_DEFINE_NAME "-D"

/* How the command line gave the i-th definition: -D, or an option of its own. */
static const char *conf_define_name(const struct reader *rd, uint32_t i)
{
    const char *shown = rd->in->define[i].shown;
    return shown ? shown : CONF_DEFINE_NAME;
}

/* The definition that a place is in; NULL: it is in a file. */
static const struct define_line *conf_define_at(const struct reader *rd, struct place at)
{
    bool is_one = at.line > 0 && at.line <= rd->in->defines &&
                  strcmp(at.file, conf_define_name(rd, at.line - 1)) == 0;
    return is_one ? &rd->define[at.line - 1] : NULL;
}

/* The line of a fault, for whoever prints it. */
static const char *conf_line(void *ctx, struct place at)
{
    const struct reader *rd = ctx;

    if (!at.file) {
        return NULL;
    }
    const struct define_line *d = conf_define_at(rd, at);
    if (d) {
        bool is_secret = conf_is_secret_key(d->key) || (d->node && d->node->is_secret);
        const char *value = is_secret ? PAGE_MASKED : d->value;
        bool is_own = rd->in->define[at.line - 1].shown != NULL;
        return is_own ? value : arena_printf(rd->arena, "%s=%s", d->key, value);
    }
    const struct page *const pages[] = {rd->job_page, rd->conf_page};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (pages[i] && strcmp(pages[i]->name, at.file) == 0) {
            return page_line(pages[i], at.line);
        }
    }
    return NULL;
}

static const char *conf_dir_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return "/";
    }
    return slash == path ? "/" : arena_text_n(a, path, (size_t)(slash - path));
}

/* Checks and remembers a text; NULL: a fault was added, or memory ran out. */
static struct page *conf_page(struct reader *rd, const char *name, const char *dir,
                              const char *text, uint32_t len)
{
    struct place whole = {name, 0, 0};

    if (len > PAGE_BYTES_MAX) {
        reader_fault(rd, whole, NULL, "SR0102: the file is larger than %u bytes", PAGE_BYTES_MAX);
        return NULL;
    }
    if (memchr(text, '\0', len)) {
        reader_fault(rd, whole, NULL, "SR0102: the file is not a text: it has a zero byte in it");
        return NULL;
    }
    struct page *p = page_new(rd->arena, name, text, len);
    if (!p) {
        rd->entries.is_broken = true;
        return NULL;
    }
    p->dir = dir ? dir : "/";
    return p;
}

static sr_rc conf_open(struct reader *rd, const char *path, struct page **out)
{
    struct sr_error err = {0};
    size_t len = 0;

    const char *full = reader_absolute(rd->arena, rd->in->work_dir, path);
    char *text = arena_get(rd->arena, PAGE_BYTES_MAX + 2); /* ends with \0 */
    if (!full || !text) {
        return SR_ENOMEM;
    }
    sr_rc rc = reader_load(rd, full, text, PAGE_BYTES_MAX, &len, &err);
    if (rc != SR_OK) {
        fault_add(rd->faults, FAULT_ERROR, (struct place){path, 0, 0}, NULL,
                  "SR0101: the file cannot be read: %s", err.words);
        return rc;
    }
    *out = conf_page(rd, path, conf_dir_of(rd->arena, full), text, (uint32_t)len);
    return *out ? SR_OK : SR_ECONFIG;
}

/* One file's keys join the others. */
static void conf_add_page(struct reader *rd, struct page *page, enum entry_rank rank)
{
    struct node *root = NULL;

    if (!page) {
        return;
    }
    sr_rc rc = tree_read(page, rd->faults, &root);
    if (rc == SR_ENOMEM) {
        rd->entries.is_broken = true;
    }
    if (rc != SR_OK) {
        rd->is_unreadable = true;
        return;
    }
    if (!root) {
        if (rank == RANK_JOB) {
            reader_fault(rd, (struct place){page->name, 0, 0}, NULL, "SR0103: the file is empty");
            rd->is_unreadable = true; /* that it lacks everything else goes without saying */
        }
        page->is_read = true;
        return;
    }
    if (root->kind != NODE_MAPPING) {
        reader_fault(rd, root->at, "each line is `key: value`",
                     "SR0103: a job is a mapping of keys to values, not a %s",
                     root->kind == NODE_SEQUENCE ? "list" : "text");
        rd->is_unreadable = true;
        return;
    }
    entries_add_tree(&rd->entries, root, rank);
}

/* A configuration file has the job's keys only: whose steps would they be? */
static void conf_check_conf(struct reader *rd)
{
    for (uint32_t i = 0; i < rd->entries.count; i++) {
        struct entry *e = &rd->entries.item[i];
        if (entry_section(e->key)) {
            reader_fault(rd, e->name->at, "it belongs into the job file",
                         "SR0212: '%s' is no key of a configuration file", e->key);
            e->is_used = true;
        }
    }
}

static struct node *conf_define_node(struct reader *rd, const char *text, struct place at)
{
    struct node *n = arena_get(rd->arena, sizeof(*n));
    if (!n) {
        rd->entries.is_broken = true;
        return NULL;
    }
    n->kind = NODE_SCALAR;
    n->style = NODE_PLAIN;
    n->at = at;
    n->text = n->written = text;
    n->len = (uint32_t)strlen(text);
    return n;
}

static void conf_add_defines(struct reader *rd)
{
    const struct conf_input *in = rd->in;

    rd->define = arena_array(rd->arena, in->defines + 1u, sizeof(*rd->define));
    for (uint32_t i = 0; rd->define && i < in->defines; i++) {
        const char *key = arena_text(rd->arena, in->define[i].key ? in->define[i].key : "");
        const char *value = arena_text(rd->arena, in->define[i].value ? in->define[i].value : "");
        struct place at = {conf_define_name(rd, i), i + 1, 1};
        if (!key || !value) {
            rd->entries.is_broken = true;
            return;
        }
        rd->define[i] = (struct define_line){key, value, NULL};
        if (!*key || strlen(key) > ENTRY_KEY_MAX) {
            reader_fault(rd, at, NULL, "SR0211: -D takes key=value, with a key of 1 to %u bytes",
                         ENTRY_KEY_MAX);
            continue;
        }
        struct node *name = conf_define_node(rd, key, at);
        at.column = in->define[i].shown ? 1 : (uint32_t)strlen(key) + 2;
        struct node *node = conf_define_node(rd, value, at);
        rd->define[i].node = node;
        if (name && node) {
            struct entry e = {
                .key = key, .name = name, .value = node, .dir = in->work_dir, .rank = RANK_DEFINE};
            entries_add(&rd->entries, &e);
        }
    }
}

static sr_rc conf_open_job(struct reader *rd)
{
    const struct conf_input *in = rd->in;

    if (in->text) {
        const char *name = in->path && strcmp(in->path, "-") != 0 ? in->path : CONF_TEXT_NAME;
        size_t len = strlen(in->text);
        const char *copy = arena_text(rd->arena, in->text);
        if (!copy) {
            return SR_ENOMEM;
        }
        rd->job_page = conf_page(rd, name, in->work_dir, copy,
                                 len > PAGE_BYTES_MAX ? PAGE_BYTES_MAX + 1 : (uint32_t)len);
        return rd->job_page ? SR_OK : SR_ECONFIG;
    }
    sr_assert(in->path);
    rd->job_file = reader_absolute(rd->arena, in->work_dir, in->path);
    size_t len = strlen(in->path);
    if (len > 4 && strcmp(in->path + len - 4, ".sql") == 0) {
        reader_fault(rd, (struct place){in->path, 0, 0},
                     "write the query as `sql:` of a transform in a .yaml file",
                     "SR0207: jobs in .sql files are not there yet");
        return SR_ECONFIG;
    }
    return conf_open(rd, in->path, &rd->job_page);
}

static const char *conf_origin(struct reader *rd, const struct entry *e)
{
    struct place at = e->name->at;
    return e->rank == RANK_DEFINE ? at.file : arena_printf(rd->arena, "%s:%u", at.file, at.line);
}

/* What `config` shows of a value that was written. */
static const char *conf_shown(struct reader *rd, const struct entry *e)
{
    const struct node *v = e->value;
    const char *list = NULL;

    if (v->kind == NODE_SCALAR) {
        bool is_secret = e->is_secret || v->is_secret;
        return is_secret ? PAGE_MASKED : e->effective ? e->effective : v->text;
    }
    for (uint32_t i = 0; i < v->count; i++) {
        const struct node *n = v->item[i];
        const char *text = n->kind != NODE_SCALAR         ? "..."
                           : e->is_secret || n->is_secret ? PAGE_MASKED
                                                          : n->text;
        list = arena_printf(rd->arena, "%s%s%s", list ? list : "[", list ? ", " : "", text);
    }
    return list ? arena_printf(rd->arena, "%s]", list) : "[]";
}

static int conf_compare_values(const void *a, const void *b)
{
    return strcmp(((const struct conf_value *)a)->key, ((const struct conf_value *)b)->key);
}

static void conf_report(struct reader *rd, struct job *job)
{
    for (uint32_t i = 0; i < rd->entries.count; i++) {
        const struct entry *e = &rd->entries.item[i];
        if (e->is_used && !e->is_beaten && !e->is_off) {
            opts_report(rd, e->canonical, conf_shown(rd, e), conf_origin(rd, e),
                        settings_note(e->canonical));
        }
    }
    if (rd->values > 1) {
        qsort(rd->value, rd->values, sizeof(*rd->value), conf_compare_values);
    }
    job->value = rd->value;
    job->values = rd->values;
}

static void conf_check_steps(struct reader *rd, const struct job *job)
{
    uint32_t count[3] = {0};

    for (uint32_t i = 0; i < job->steps; i++) {
        count[job->step[i].kind]++;
    }
    struct place whole = {rd->job_page->name, 0, 0};
    bool has_sources = entries_find(&rd->entries, "sources") != NULL;
    bool has_sinks = entries_find(&rd->entries, "sinks") != NULL;
    if (count[JOB_SOURCE] == 0 && !has_sources) {
        reader_fault(rd, whole, NULL, "SR0301: the job has no sources");
    }
    if (count[JOB_SINK] == 0 && !has_sinks) {
        reader_fault(rd, whole, NULL, "SR0301: the job has no sinks");
    }
}

/* A checkpoint holds the job as text in UTF-8. The file is; what variables, the command line and
 * directories bring need not be. Secrets are not held. */
static void conf_check_text(struct reader *rd)
{
    for (uint32_t i = 0; i < rd->entries.count; i++) {
        const struct entry *e = &rd->entries.item[i];
        if (!e->is_used || e->is_beaten || e->is_off || e->is_secret) {
            continue;
        }
        const char *text = conf_shown(rd, e);
        if (text && !shown_is_utf8(text)) {
            reader_fault(rd, e->name->at, "give the file or directory another name",
                         "SR0215: %s: what it stands for is not UTF-8, which a checkpoint could "
                         "not hold",
                         e->key);
        }
    }
}

/* The job's keys first: they say where modules lie. */
static void conf_fill(struct reader *rd, struct job *job)
{
    struct sr_error err;

    keys_read(rd, job);
    if (job->settings.plugins_dir &&
        registry_set_dir(rd->registry, job->settings.plugins_dir, &err) != SR_OK) {
        rd->entries.is_broken = true;
    }
    steps_read(rd, job);
    steps_read_dead_letter(rd, job);
    keys_leftovers(rd);
    conf_check_steps(rd, job);
    conf_check_text(rd);
    conf_report(rd, job);
    job->file = rd->job_file;
}

/* Reads all texts into settled entries. */
static sr_rc conf_gather(struct reader *rd)
{
    const struct conf_input *in = rd->in;

    sr_rc job_rc = conf_open_job(rd);
    sr_rc conf_rc = in->conf_path ? conf_open(rd, in->conf_path, &rd->conf_page) : SR_OK;
    if (job_rc != SR_OK || conf_rc != SR_OK) {
        return job_rc != SR_OK ? job_rc : conf_rc;
    }
    conf_add_page(rd, rd->conf_page, RANK_CONF);
    conf_check_conf(rd);
    conf_add_page(rd, rd->job_page, RANK_JOB);
    conf_add_defines(rd);
    if (rd->is_unreadable) {
        return rd->entries.is_broken ? SR_ENOMEM : SR_ECONFIG;
    }
    entries_hide(&rd->entries);
    rd->job_page->is_read = true;
    if (rd->conf_page) {
        rd->conf_page->is_read = true;
    }
    entries_settle(&rd->entries);
    return SR_OK;
}

sr_rc conf_read(const struct conf_input *in, struct registry *registry, struct faults *faults,
                struct job **out)
{
    sr_assert(in && in->env && in->work_dir && registry && faults && out);
    struct arena *a = faults->arena;
    uint32_t errors = faults->errors;
    struct reader *rd = arena_get(a, sizeof(*rd));
    struct job *job = arena_get(a, sizeof(*job));
    struct conf_input *kept = arena_copy(a, in, sizeof(*in)); /* faults may come after we return */

    if (!rd || !job || !kept) {
        return SR_ENOMEM;
    }
    *rd = (struct reader){.in = kept, .registry = registry, .faults = faults, .arena = a};
    rd->entries.arena = a;
    rd->entries.faults = faults;
    faults->line_of = conf_line;
    faults->ctx = rd;
    job->arena = a;
    sr_rc rc = conf_gather(rd);
    if (rc == SR_OK) {
        conf_fill(rd, job);
    }
    if (rc == SR_OK && faults->errors > errors) {
        rc = SR_ECONFIG;
    }
    if (rc == SR_OK) {
        job->description = describe_job(rd, job);
    }
    if (rd->entries.is_broken || arena_is_broken(a)) {
        rc = SR_ENOMEM;
    }
    faults_sort(faults);
    bool is_whole = !rd->has_holes && !rd->is_unreadable && job->step;
    if (rc == SR_OK || (rc == SR_ECONFIG && is_whole)) {
        *out = job;
    }
    return rc;
}
