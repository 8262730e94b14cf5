#include "connectors/avro/avro_registry.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct avro_registry_answer {
    char *bytes;
    size_t len;
    bool is_too_long;
};

static size_t avro_registry_take(const char *bytes, size_t size, size_t count, void *to)
{
    struct avro_registry_answer *a = to;
    size_t more = size * count;
    char *grown = a->len + more <= AVRO_ANSWER_MAX ? realloc(a->bytes, a->len + more + 1) : NULL;
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
static bool avro_registry_set(CURL *c, const struct avro_registry_conf *conf, const char *url,
                              struct curl_slist *head, struct avro_registry_answer *answer)
{
    bool is_good = curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, AVRO_REGISTRY_WAIT_MS) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1l) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_HTTPHEADER, head) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, avro_registry_take) == CURLE_OK &&
                   curl_easy_setopt(c, CURLOPT_WRITEDATA, answer) == CURLE_OK;
    if (is_good && conf->user_info) {
        is_good = curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_USERPWD, conf->user_info) == CURLE_OK;
    } else if (is_good && conf->token) {
        is_good = curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER) == CURLE_OK &&
                  curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, conf->token) == CURLE_OK;
    }
    if (is_good && conf->ca) {
        is_good = curl_easy_setopt(c, CURLOPT_CAINFO, conf->ca) == CURLE_OK;
    }
    if (is_good && conf->certificate) {
        is_good = curl_easy_setopt(c, CURLOPT_SSLCERT, conf->certificate) == CURLE_OK;
    }
    if (is_good && conf->key) {
        is_good = curl_easy_setopt(c, CURLOPT_SSLKEY, conf->key) == CURLE_OK;
    }
    return is_good;
}

/* An address without the name and password that may stand in it. */
static const char *avro_registry_shown(const char *url)
{
    const char *host = strstr(url, "//");
    const char *at = host ? strchr(host, '@') : NULL;
    return at && at < host + 2 + strcspn(host + 2, "/") ? at + 1 : url;
}

/* One request to one address; the answer's JSON. */
static sr_rc avro_registry_ask_one(const struct avro_registry_conf *conf, const char *url,
                                   const char *body, json_t **out, char why[300])
{
    struct avro_registry_answer answer = {0};
    CURL *c = curl_easy_init();
    struct curl_slist *head =
        curl_slist_append(NULL, "Content-Type: application/vnd.schemaregistry.v1+json");
    long status = 0;
    sr_rc rc = SR_ENOMEM;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    (void)snprintf(why, 300, "out of memory");
    if (!c || !head || !avro_registry_set(c, conf, url, head, &answer) ||
        (body && curl_easy_setopt(c, CURLOPT_POSTFIELDS, body) != CURLE_OK)) {
        goto out;
    }
    code = curl_easy_perform(c);
    if (code != CURLE_OK) {
        rc = SR_EIO;
        (void)snprintf(why, 300, "the schema registry at %.120s: %s", avro_registry_shown(url),
                       answer.is_too_long ? "the answer is too long" : curl_easy_strerror(code));
        goto out;
    }
    (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    *out = json_loads(answer.bytes ? answer.bytes : "", 0, NULL);
    rc = status == 200 && *out ? SR_OK : status == 404 ? SR_EABSENT : SR_EIO;
    const char *words = json_string_value(json_object_get(*out, "message"));
    if (rc != SR_OK) {
        (void)snprintf(why, 300, "the schema registry at %.120s answers %ld%s%.100s",
                       avro_registry_shown(url), status, words ? ": " : "", words ? words : "");
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
static sr_rc avro_registry_ask(const struct avro_registry_conf *conf, const char *path,
                               const char *body, json_t **out, char why[300])
{
    sr_rc rc = SR_EIO;
    *out = NULL;
    (void)snprintf(why, 300, "there is no address of a schema registry");
    for (const char *at = conf->url; *at && rc == SR_EIO;) {
        size_t len = strcspn(at, ","), end = len;
        while (end > 0 && (at[end - 1] == '/' || at[end - 1] == ' ')) {
            end--;
        }
        size_t room = end + strlen(path) + 1;
        char *url = malloc(room);
        if (!url) {
            return SR_ENOMEM;
        }
        (void)snprintf(url, room, "%.*s%s", (int)end, at, path);
        rc = avro_registry_ask_one(conf, url, body, out, why);
        free(url);
        at += len;
        at += strspn(at, ", ");
    }
    return rc;
}

sr_rc avro_registry_get(const struct avro_registry_conf *conf, uint32_t id, char **out,
                        char why[300])
{
    char path[48];
    json_t *answer = NULL;
    (void)snprintf(path, sizeof(path), "/schemas/ids/%u", id);
    sr_rc rc = avro_registry_ask(conf, path, NULL, &answer, why);
    const char *schema = json_string_value(json_object_get(answer, "schema"));
    const char *type = json_string_value(json_object_get(answer, "schemaType"));
    if (rc == SR_OK && (!schema || (type && strcmp(type, "AVRO") != 0))) {
        (void)snprintf(why, 300, "schema %u of the registry is no Avro schema", id);
        rc = SR_EDATA;
    }
    if (rc == SR_OK) {
        *out = strdup(schema);
        rc = *out ? SR_OK : SR_ENOMEM;
    }
    json_decref(answer);
    return rc;
}

sr_rc avro_registry_put(const struct avro_registry_conf *conf, const char *subject,
                        const char *schema, uint32_t *id, char why[300])
{
    json_t *answer = NULL, *question = json_pack("{s:s}", "schema", schema);
    char *body = json_dumps(question, JSON_COMPACT);
    char *escaped = curl_easy_escape(NULL, subject, 0);
    char path[800];
    sr_rc rc = SR_ENOMEM;
    (void)snprintf(why, 300, "out of memory, or too long a subject");
    int n = escaped ? snprintf(path, sizeof(path), "/subjects/%s/versions", escaped) : -1;
    if (body && n > 0 && (size_t)n < sizeof(path)) {
        rc = avro_registry_ask(conf, path, body, &answer, why);
    }
    const json_t *number = json_object_get(answer, "id");
    if (rc == SR_OK && (!json_is_integer(number) || json_integer_value(number) < 0)) {
        (void)snprintf(why, 300, "the schema registry gave no number for the schema");
        rc = SR_EIO;
    }
    *id = rc == SR_OK ? (uint32_t)json_integer_value(number) : 0;
    curl_free(escaped);
    free(body);
    json_decref(question);
    json_decref(answer);
    return rc;
}
