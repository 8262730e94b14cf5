#include "connectors/schemas/schemas.h"

#include <curl/curl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct schemas_answer {
    char *bytes;
    size_t len;
    bool is_too_long;
};

/* What is asked, and whether it is still wanted. */
struct schemas_question {
    const struct schemas_conf *conf;
    const char *path;
    const char *body;              /* NULL: GET */
    const atomic_bool *is_stopped; /* relaxed; NULL: it is waited for in any case */
};

static int schemas_progress(void *is_stopped, curl_off_t a, curl_off_t b, curl_off_t c,
                            curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load_explicit((const atomic_bool *)is_stopped, memory_order_relaxed) ? 1 : 0;
}

static size_t schemas_take(const char *bytes, size_t size, size_t count, void *to)
{
    struct schemas_answer *a = to;
    size_t more = size * count;
    char *grown = a->len + more <= SCHEMAS_ANSWER_MAX ? realloc(a->bytes, a->len + more + 1) : NULL;
    if (!grown) {
        a->is_too_long = true;
        return 0;
    }
    a->bytes = grown;
    memcpy(a->bytes + a->len, bytes, more);
    a->len += more;
    a->bytes[a->len] = '\0';
    return more;
}

/* Options that decide what libcurl does at all; false: it cannot. */
static bool schemas_set(CURL *c, const struct schemas_conf *conf, const char *url,
                        struct curl_slist *head, struct schemas_answer *answer)
{
    bool is_good = curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, SCHEMAS_WAIT_MS) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, SCHEMAS_CONNECT_MS) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1l) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_HTTPHEADER, head) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, schemas_take) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_WRITEDATA, answer) == CURLE_OK;
    if (is_good && conf->user_info) {
        is_good = curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_USERPWD, conf->user_info) == CURLE_OK;
    } else if (is_good && conf->token) {
        is_good = curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, conf->token) == CURLE_OK;
    }
    if (is_good && conf->truststore) {
        is_good = curl_easy_setopt(c, CURLOPT_CAINFO, conf->truststore) == CURLE_OK;
    }
    if (is_good && conf->keystore) {
        is_good = curl_easy_setopt(c, CURLOPT_SSLCERT, conf->keystore) == CURLE_OK;
    }
    if (is_good && conf->keystore) {
        is_good = curl_easy_setopt(c, CURLOPT_SSLKEY, conf->keystore) == CURLE_OK;
    }
    return is_good;
}

static bool schemas_set_question(CURL *c, const struct schemas_question *q)
{
    bool is_good = !q->body || curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body) == CURLE_OK;
    if (is_good && q->is_stopped) {
        is_good = curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0l) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, schemas_progress) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_XFERINFODATA, q->is_stopped) == CURLE_OK;
    }
    return is_good;
}

/* An address without the name and password that may stand in it. */
static const char *schemas_shown(const char *url)
{
    const char *host = strstr(url, "//");
    const char *at = host ? strchr(host, '@') : NULL;
    return at && at < host + 2 + strcspn(host + 2, "/") ? at + 1 : url;
}

/* One request to one address; the answer's JSON. */
static sr_rc schemas_ask_one(const struct schemas_question *q, const char *url, json_t **out,
                             char why[SCHEMAS_WHY])
{
    struct schemas_answer answer = {0};
    CURL *c = curl_easy_init();
    struct curl_slist *head =
        curl_slist_append(NULL, "Content-Type: application/vnd.schemaregistry.v1+json");
    long status = 0;
    sr_rc rc = SR_ENOMEM;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    (void)snprintf(why, SCHEMAS_WHY, "out of memory");
    if (!c || !head || !schemas_set(c, q->conf, url, head, &answer) ||
        !schemas_set_question(c, q)) {
        goto out;
    }
    code = curl_easy_perform(c);
    if (code != CURLE_OK) {
        rc = SR_EIO;
        (void)snprintf(why, SCHEMAS_WHY, "the schema registry at %.120s: %s", schemas_shown(url),
                       answer.is_too_long ? "the answer is too long" : curl_easy_strerror(code));
        goto out;
    }
    (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    *out = json_loads(answer.bytes ? answer.bytes : "", 0, NULL);
    rc = status == 200 && *out ? SR_OK : status == 404 ? SR_EABSENT : SR_EIO;
    const char *words = json_string_value(json_object_get(*out, "message"));
    if (rc != SR_OK) {
        (void)snprintf(why, SCHEMAS_WHY, "the schema registry at %.120s answers %ld%s%.100s",
                       schemas_shown(url), status, words ? ": " : "", words ? words : "");
        json_decref(*out);
        *out = NULL;
    }

out:
    curl_slist_free_all(head);
    curl_easy_cleanup(c);
    free(answer.bytes);
    return rc;
}

/* Asks one address after the other until one can be reached. */
static sr_rc schemas_ask_any(const struct schemas_question *q, json_t **out, char why[SCHEMAS_WHY])
{
    sr_rc rc = SR_EIO;
    *out = NULL;
    (void)snprintf(why, SCHEMAS_WHY, "there is no address of a schema registry");
    for (const char *at = q->conf->url; *at && rc == SR_EIO;) {
        size_t len = strcspn(at, ","), end = len;
        while (end > 0 && (at[end - 1] == '/' || at[end - 1] == ' ')) {
            end--;
        }
        size_t room = end + strlen(q->path) + 1;
        char *url = malloc(room);
        if (!url) {
            return SR_ENOMEM;
        }
        (void)snprintf(url, room, "%.*s%s", (int)end, at, q->path);
        rc = schemas_ask_one(q, url, out, why);
        free(url);
        at += len;
        at += strspn(at, ", ");
    }
    return rc;
}

/* The text of the schema, to be freed. */
static sr_rc schemas_get(const struct schemas_wanted *w, const atomic_bool *is_stopped, char **out,
                         char why[SCHEMAS_WHY])
{
    char path[48];
    json_t *answer = NULL;
    const struct schemas_question q = {.conf = w->conf, .path = path, .is_stopped = is_stopped};
    (void)snprintf(path, sizeof(path), "/schemas/ids/%u", w->id);
    sr_rc rc = schemas_ask_any(&q, &answer, why);
    const char *schema = json_string_value(json_object_get(answer, "schema"));
    const char *given = json_string_value(json_object_get(answer, "schemaType"));
    if (rc == SR_OK && (!schema || strcmp(given ? given : "AVRO", w->type) != 0)) {
        (void)snprintf(why, SCHEMAS_WHY, "schema %u of the registry is no %s schema", w->id,
                       w->type);
        rc = SR_EDATA;
    }
    if (rc == SR_OK) {
        *out = strdup(schema);
        rc = *out ? SR_OK : SR_ENOMEM;
        (void)snprintf(why, SCHEMAS_WHY, "%s", *out ? "" : "out of memory");
    }
    json_decref(answer);
    return rc;
}

/* "/subjects/NAME/versions". False: too long, or no memory. */
static bool schemas_path(const char *subject, char path[800])
{
    char *escaped = curl_easy_escape(NULL, subject, 0);
    int n = escaped ? snprintf(path, 800, "/subjects/%s/versions", escaped) : -1;
    curl_free(escaped);
    return n > 0 && n < 800;
}

sr_rc schemas_put(const struct schemas_conf *conf, const char *type, const char *schema,
                  uint32_t *id, char why[SCHEMAS_WHY])
{
    bool is_avro = strcmp(type, "AVRO") == 0; /* which registries take for granted */
    json_t *answer = NULL;
    json_t *question = is_avro ? json_pack("{s:s}", "schema", schema)
                               : json_pack("{s:s, s:s}", "schemaType", type, "schema", schema);
    char *body = json_dumps(question, JSON_COMPACT);
    char path[800];
    const struct schemas_question q = {.conf = conf, .path = path, .body = body};
    sr_rc rc = SR_ENOMEM;
    (void)snprintf(why, SCHEMAS_WHY, "out of memory, or too long a subject");
    if (body && schemas_path(conf->subject, path)) {
        rc = schemas_ask_any(&q, &answer, why);
    }
    const json_t *number = json_object_get(answer, "id");
    if (rc == SR_OK && (!json_is_integer(number) || json_integer_value(number) < 0)) {
        (void)snprintf(why, SCHEMAS_WHY, "the schema registry gave no number for the schema");
        rc = SR_EIO;
    }
    *id = rc == SR_OK ? (uint32_t)json_integer_value(number) : 0;
    free(body);
    json_decref(question);
    json_decref(answer);
    return rc;
}

/* --- Plan time, commands ---------------------------------------------------------------------- */

sr_rc schemas_check(const struct schemas_conf *conf, const char *name, bool is_write,
                    struct sr_error *err)
{
    bool is_known =
        (!conf->credentials_source || strcmp(conf->credentials_source, "USER_INFO") == 0) &&
        (!conf->token_source || strcmp(conf->token_source, "STATIC_TOKEN") == 0);
    char words[200] = "";
    if (!conf->url) {
        (void)snprintf(words, sizeof(words), "%s.url: where the schema registry is", name);
    } else if (is_write && !conf->subject) {
        (void)snprintf(words, sizeof(words),
                       "%s.subject: a sink registers its schema under one, as Flink does under "
                       "TOPIC-value",
                       name);
    } else if (!is_known) {
        (void)snprintf(words, sizeof(words),
                       "credentials for the registry come from USER_INFO or STATIC_TOKEN");
    } else {
        return SR_OK;
    }
    if (err) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "%s", words);
    }
    return SR_ECONFIG;
}

sr_rc schemas_ask(const struct schemas_conf *conf, struct sr_ask *a, struct sr_error *err)
{
    char path[800] = "/schemas/types", why[SCHEMAS_WHY];
    json_t *answer = NULL;
    const struct schemas_question q = {.conf = conf, .path = path};
    bool has_subject = a->is_write && schemas_path(conf->subject, path);
    sr_rc rc = schemas_ask_any(&q, &answer, why);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return a->host->fail(a->host, err, rc, "%s", why);
    }
    const struct sr_fact fact[] = {
        {.name = "registry", .text = schemas_shown(conf->url)},
        {.name = "subject", .text = has_subject ? conf->subject : ""},
        {.name = "versions", .number = rc == SR_OK ? (int64_t)json_array_size(answer) : 0}};
    json_decref(answer);
    return a->row(a, fact, has_subject ? 3 : 1);
}

/* --- Frames ----------------------------------------------------------------------------------- */

void schemas_frame(uint32_t id, uint8_t out[SCHEMAS_FRAME_BYTES])
{
    out[0] = 0;
    for (uint32_t i = 0; i < 4; i++) {
        out[1 + i] = (uint8_t)(id >> (24 - 8 * i));
    }
}

/* --- On a thread ------------------------------------------------------------------------------ */

struct schemas_fetch {
    struct schemas_wanted wanted;
    pthread_t thread;
    atomic_bool is_stopped; /* relaxed: give up */
    atomic_bool is_done;    /* release: the next three are there */
    sr_rc rc;
    char *text;
    char why[SCHEMAS_WHY];
};

static void *schemas_fetch_run(void *fetch)
{
    struct schemas_fetch *f = fetch;
    f->rc = schemas_get(&f->wanted, &f->is_stopped, &f->text, f->why);
    atomic_store_explicit(&f->is_done, true, memory_order_release);
    return NULL;
}

/* NULL: no memory, or no thread. */
static struct schemas_fetch *schemas_fetch_new(const struct schemas_wanted *w)
{
    struct schemas_fetch *f = calloc(1, sizeof(*f));
    if (f) {
        f->wanted = *w;
    }
    if (f && pthread_create(&f->thread, NULL, schemas_fetch_run, f) != 0) {
        free(f);
        return NULL;
    }
    return f;
}

/* Waits for the answer. */
static sr_rc schemas_fetch_end(struct schemas_fetch *f, char **out, char why[SCHEMAS_WHY])
{
    (void)pthread_join(f->thread, NULL); /* it was made, and is joined once */
    sr_rc rc = f->rc;
    *out = f->text;
    memcpy(why, f->why, SCHEMAS_WHY);
    free(f);
    return rc;
}

sr_rc schemas_fetch(struct schemas_fetch **fetch, const struct schemas_wanted *w, char **out,
                    char why[SCHEMAS_WHY])
{
    struct schemas_fetch *f = *fetch;
    if (f && f->wanted.id != w->id) {
        schemas_fetch_free(f); /* of a record that was given up */
        f = NULL;
    }
    *fetch = f = f ? f : schemas_fetch_new(w);
    if (!f) {
        (void)snprintf(why, SCHEMAS_WHY, "out of memory");
        return SR_ENOMEM;
    }
    if (w->may_wait && !atomic_load_explicit(&f->is_done, memory_order_acquire)) {
        return SR_EBUSY;
    }
    *fetch = NULL;
    return schemas_fetch_end(f, out, why);
}

void schemas_fetch_free(struct schemas_fetch *f)
{
    char *text = NULL, why[SCHEMAS_WHY];
    if (f) {
        atomic_store_explicit(&f->is_stopped, true, memory_order_relaxed);
        (void)schemas_fetch_end(f, &text, why);
        free(text);
    }
}
