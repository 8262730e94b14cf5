/* What tests do to a Kafka broker beside streamrun: make topics, put records, read them.
 *
 *   kafka_tool BOOTSTRAP COMMAND ...     answers are JSON objects, one a line
 *
 *   create TOPIC PARTITIONS [KEY=VALUE...]   delete TOPIC            grow TOPIC PARTITIONS
 *   alter TOPIC [KEY=VALUE...]               forget TOPIC PARTITION OFFSET
 *   topics                                   ends TOPIC
 *   group GROUP TOPIC                        group-delete GROUP      groups
 *   group-alter GROUP TOPIC PARTITION OFFSET
 *   join GROUP TOPIC SECONDS                 as one of its members, that reads and commits
 *   allow USER topic|group|cluster NAME OPERATION
 *   put TOPIC [CLIENT-KEY=VALUE...]          reads JSON lines: partition, key, value, headers,
 *                                            timestamp; with transactional.id=ID each transaction
 *                                            up to {"transaction": "commit"|"abort"|"leave"}
 *   dump TOPIC [read_committed|read_uncommitted]
 *
 * Bytes that are not UTF-8 stand in "key_hex" and "value_hex" in place of "key" and "value", in
 * both directions. The first fault ends it with a sentence and exit code 1. */
#include <jansson.h>
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 60000

static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(1);
}

static char error_words[512];

static rd_kafka_t *client(rd_kafka_type_t type, const char *bootstrap, char **settings, int count)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, error_words, sizeof(error_words)) !=
        RD_KAFKA_CONF_OK) {
        die("%s", error_words);
    }
    for (int i = 0; i < count; i++) {
        char *equals = strchr(settings[i], '=');
        if (!equals) {
            die("%s is no KEY=VALUE", settings[i]);
        }
        *equals = '\0';
        if (rd_kafka_conf_set(conf, settings[i], equals + 1, error_words, sizeof(error_words)) !=
            RD_KAFKA_CONF_OK) {
            die("%s", error_words);
        }
    }
    rd_kafka_t *rk = rd_kafka_new(type, conf, error_words, sizeof(error_words));
    if (!rk) {
        die("%s", error_words);
    }
    return rk;
}

static void answer(json_t *object)
{
    (void)json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    (void)putchar('\n');
    json_decref(object);
}

/* --- Administration ------------------------------------------------------------------------- */

struct admin {
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue;
    rd_kafka_AdminOptions_t *options;
};

static struct admin admin(const char *bootstrap, rd_kafka_admin_op_t op)
{
    struct admin a = {.rk = client(RD_KAFKA_PRODUCER, bootstrap, NULL, 0)};
    a.queue = rd_kafka_queue_new(a.rk);
    a.options = rd_kafka_AdminOptions_new(a.rk, op);
    (void)rd_kafka_AdminOptions_set_request_timeout(a.options, WAIT_MS, error_words,
                                                    sizeof(error_words));
    return a;
}

/* The answer of the call just made. */
static rd_kafka_event_t *admin_event(struct admin *a)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(a->queue, 2 * WAIT_MS);
    if (!event) {
        die("no answer");
    }
    if (rd_kafka_event_error(event)) {
        die("%s", rd_kafka_event_error_string(event));
    }
    return event;
}

static void topic_results(const rd_kafka_topic_result_t **results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rd_kafka_topic_result_error(results[i])) {
            const char *words = rd_kafka_topic_result_error_string(results[i]);
            die("%s", words ? words : rd_kafka_err2name(rd_kafka_topic_result_error(results[i])));
        }
    }
}

/* Answers once the client's own view of the cluster has the topic with these partitions (0: no
 * longer has it), so that what a test does next finds it so. */
static void await_topic(rd_kafka_t *rk, const char *topic, int partitions)
{
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(rk, topic, NULL);
    for (int i = 0; i < 600; i++) {
        const rd_kafka_metadata_t *m = NULL;
        if (!rd_kafka_metadata(rk, 0, rkt, &m, WAIT_MS)) {
            int led = 0;
            for (int p = 0; p < m->topics[0].partition_cnt; p++) {
                led += m->topics[0].partitions[p].leader >= 0;
            }
            bool is_gone = m->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
            rd_kafka_metadata_destroy(m);
            if (partitions ? led == partitions : is_gone) {
                rd_kafka_topic_destroy(rkt);
                return;
            }
        }
        (void)rd_kafka_poll(rk, 100);
    }
    die("topic %s is not as it should be", topic);
}

static void create(const char *bootstrap, int count, char **args)
{
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(args[0], atoi(args[1]), 1, error_words, sizeof(error_words));
    if (!topic) {
        die("%s", error_words);
    }
    for (int i = 2; i < count; i++) {
        char *equals = strchr(args[i], '=');
        if (!equals) {
            die("%s is no KEY=VALUE", args[i]);
        }
        *equals = '\0';
        (void)rd_kafka_NewTopic_set_config(topic, args[i], equals + 1);
    }
    rd_kafka_CreateTopics(a.rk, &topic, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_topic_result_t **result = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(admin_event(&a)), &results);
    topic_results(result, results);
    await_topic(a.rk, args[0], atoi(args[1]));
}

static void delete (const char *bootstrap, int count, char **args)
{
    (void)count;
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_DELETETOPICS);
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(args[0]);
    rd_kafka_DeleteTopics(a.rk, &topic, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_topic_result_t **result = rd_kafka_DeleteTopics_result_topics(
        rd_kafka_event_DeleteTopics_result(admin_event(&a)), &results);
    topic_results(result, results);
    await_topic(a.rk, args[0], 0);
}

static void grow(const char *bootstrap, int count, char **args)
{
    (void)count;
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS);
    rd_kafka_NewPartitions_t *more = rd_kafka_NewPartitions_new(args[0], (size_t)atoi(args[1]),
                                                                error_words, sizeof(error_words));
    if (!more) {
        die("%s", error_words);
    }
    rd_kafka_CreatePartitions(a.rk, &more, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_topic_result_t **result = rd_kafka_CreatePartitions_result_topics(
        rd_kafka_event_CreatePartitions_result(admin_event(&a)), &results);
    topic_results(result, results);
    await_topic(a.rk, args[0], atoi(args[1]));
}

static void alter(const char *bootstrap, int count, char **args)
{
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_ALTERCONFIGS);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, args[0]);
    for (int i = 1; i < count; i++) {
        char *equals = strchr(args[i], '=');
        if (!equals) {
            die("%s is no KEY=VALUE", args[i]);
        }
        *equals = '\0';
        (void)rd_kafka_ConfigResource_set_config(resource, args[i], equals + 1);
    }
    rd_kafka_AlterConfigs(a.rk, &resource, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_ConfigResource_t **result = rd_kafka_AlterConfigs_result_resources(
        rd_kafka_event_AlterConfigs_result(admin_event(&a)), &results);
    for (size_t i = 0; i < results; i++) {
        if (rd_kafka_ConfigResource_error(result[i])) {
            die("%s", rd_kafka_ConfigResource_error_string(result[i]));
        }
    }
}

static void partition_results(const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        if (list->elems[i].err) {
            die("%s", rd_kafka_err2str(list->elems[i].err));
        }
    }
}

static void forget(const char *bootstrap, int count, char **args)
{
    (void)count;
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_DELETERECORDS);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, args[0], atoi(args[1]))->offset = atoll(args[2]);
    rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(a.rk, &records, 1, a.options, a.queue);
    partition_results(rd_kafka_DeleteRecords_result_offsets(
        rd_kafka_event_DeleteRecords_result(admin_event(&a))));
}

static void group_delete(const char *bootstrap, int count, char **args)
{
    (void)count;
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_DELETEGROUPS);
    rd_kafka_DeleteGroup_t *group = rd_kafka_DeleteGroup_new(args[0]);
    rd_kafka_DeleteGroups(a.rk, &group, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_group_result_t **result = rd_kafka_DeleteGroups_result_groups(
        rd_kafka_event_DeleteGroups_result(admin_event(&a)), &results);
    for (size_t i = 0; i < results; i++) {
        if (rd_kafka_group_result_error(result[i])) {
            die("%s", rd_kafka_error_string(rd_kafka_group_result_error(result[i])));
        }
    }
}

static rd_kafka_ResourceType_t resource_of(const char *kind)
{
    return strcmp(kind, "topic") == 0   ? RD_KAFKA_RESOURCE_TOPIC
           : strcmp(kind, "group") == 0 ? RD_KAFKA_RESOURCE_GROUP
                                        : RD_KAFKA_RESOURCE_BROKER;
}

static rd_kafka_AclOperation_t operation_of(const char *name)
{
    for (int i = 0; i < RD_KAFKA_ACL_OPERATION__CNT; i++) {
        const char *known = rd_kafka_AclOperation_name((rd_kafka_AclOperation_t)i);
        if (strcasecmp(known, name) == 0) {
            return (rd_kafka_AclOperation_t)i;
        }
    }
    die("no operation %s", name);
    return RD_KAFKA_ACL_OPERATION_UNKNOWN;
}

static void allow(const char *bootstrap, int count, char **args)
{
    (void)count;
    struct admin a = admin(bootstrap, RD_KAFKA_ADMIN_OP_CREATEACLS);
    char principal[256];
    (void)snprintf(principal, sizeof(principal), "User:%s", args[0]);
    rd_kafka_AclBinding_t *acl = rd_kafka_AclBinding_new(
        resource_of(args[1]), args[2], RD_KAFKA_RESOURCE_PATTERN_LITERAL, principal, "*",
        operation_of(args[3]), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, error_words,
        sizeof(error_words));
    if (!acl) {
        die("%s", error_words);
    }
    rd_kafka_CreateAcls(a.rk, &acl, 1, a.options, a.queue);
    size_t results = 0;
    const rd_kafka_acl_result_t **result = rd_kafka_CreateAcls_result_acls(
        rd_kafka_event_CreateAcls_result(admin_event(&a)), &results);
    for (size_t i = 0; i < results; i++) {
        const rd_kafka_error_t *error = rd_kafka_acl_result_error(result[i]);
        if (error) {
            die("%s", rd_kafka_error_string(error));
        }
    }
}

/* --- Looks ---------------------------------------------------------------------------------- */

static void topics(const char *bootstrap, int count, char **args)
{
    (void)count;
    (void)args;
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, NULL, 0);
    const rd_kafka_metadata_t *m = NULL;
    rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 1, NULL, &m, WAIT_MS);
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    for (int i = 0; i < m->topic_cnt; i++) {
        answer(json_pack("{s:s, s:i}", "topic", m->topics[i].topic, "partitions",
                         m->topics[i].partition_cnt));
    }
}

/* All partitions of a topic; the caller's. */
static rd_kafka_topic_partition_list_t *partitions_of(rd_kafka_t *rk, const char *topic)
{
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(rk, topic, NULL);
    const rd_kafka_metadata_t *m = NULL;
    rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 0, rkt, &m, WAIT_MS);
    if (err || m->topics[0].err) {
        die("%s", rd_kafka_err2str(err ? err : m->topics[0].err));
    }
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(m->topics[0].partition_cnt);
    for (int p = 0; p < m->topics[0].partition_cnt; p++) {
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_metadata_destroy(m);
    rd_kafka_topic_destroy(rkt);
    return list;
}

static void ends(const char *bootstrap, int count, char **args)
{
    (void)count;
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, NULL, 0);
    const rd_kafka_topic_partition_list_t *list = partitions_of(rk, args[0]);
    for (int i = 0; i < list->cnt; i++) {
        int64_t low = 0, high = 0;
        rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION;
        /* For a moment behind its making nobody leads it, whatever the metadata say. */
        for (int try = 0; err == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION && try < 300; try++) {
            err = rd_kafka_query_watermark_offsets(rk, args[0], list->elems[i].partition, &low,
                                                   &high, WAIT_MS);
            (void)rd_kafka_poll(rk, err ? 100 : 0);
        }
        if (err) {
            die("%s", rd_kafka_err2str(err));
        }
        answer(json_pack("{s:i, s:I, s:I}", "partition", list->elems[i].partition, "low",
                         (json_int_t)low, "high", (json_int_t)high));
    }
}

static void group(const char *bootstrap, int count, char **args)
{
    (void)count;
    char setting[300];
    (void)snprintf(setting, sizeof(setting), "group.id=%s", args[0]);
    char *settings[] = {setting};
    rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, bootstrap, settings, 1);
    rd_kafka_topic_partition_list_t *list = partitions_of(rk, args[1]);
    rd_kafka_resp_err_t err = rd_kafka_committed(rk, list, WAIT_MS);
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    for (int i = 0; i < list->cnt; i++) {
        answer(json_pack("{s:i, s:I}", "partition", list->elems[i].partition, "offset",
                         (json_int_t)list->elems[i].offset));
    }
    (void)rd_kafka_consumer_close(rk);
}

static void groups(const char *bootstrap, int count, char **args)
{
    (void)count;
    (void)args;
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, NULL, 0);
    const struct rd_kafka_group_list *list = NULL;
    rd_kafka_resp_err_t err = rd_kafka_list_groups(rk, NULL, &list, WAIT_MS);
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    for (int i = 0; i < list->group_cnt; i++) {
        answer(json_pack("{s:s, s:s}", "group", list->groups[i].group, "state",
                         list->groups[i].state));
    }
    rd_kafka_group_list_destroy(list);
    rd_kafka_destroy(rk);
}

static void group_alter(const char *bootstrap, int count, char **args)
{
    (void)count;
    char setting[300];
    (void)snprintf(setting, sizeof(setting), "group.id=%s", args[0]);
    char *settings[] = {setting};
    rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, bootstrap, settings, 1);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, args[1], (int32_t)strtol(args[2], NULL, 10))->offset =
        strtoll(args[3], NULL, 10);
    rd_kafka_resp_err_t err = rd_kafka_commit(rk, list, 0);
    err = err ? err : list->elems[0].err;
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    rd_kafka_topic_partition_list_destroy(list);
    (void)rd_kafka_consumer_close(rk);
}

static void join(const char *bootstrap, int count, char **args)
{
    (void)count;
    char setting[300];
    (void)snprintf(setting, sizeof(setting), "group.id=%s", args[0]);
    char reset[] = "auto.offset.reset=earliest", commit[] = "auto.commit.interval.ms=100";
    char *settings[] = {setting, reset, commit};
    rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, bootstrap, settings, 3);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    (void)rd_kafka_topic_partition_list_add(list, args[1], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(rk, list);
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    time_t end = time(NULL) + strtol(args[2], NULL, 10);
    while (time(NULL) < end) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 100);
        if (m) {
            rd_kafka_message_destroy(m);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    (void)rd_kafka_consumer_close(rk);
}

/* --- Records -------------------------------------------------------------------------------- */

static void bytes_into(json_t *object, const char *name, const void *data, size_t len)
{
    if (!data) {
        (void)json_object_set_new(object, name, json_null());
        return;
    }
    json_t *text = json_stringn(data, len);
    if (text) {
        (void)json_object_set_new(object, name, text);
        return;
    }
    char *hex = malloc(2 * len + 1), hex_name[64];
    for (size_t i = 0; i < len; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)data)[i]);
    }
    (void)snprintf(hex_name, sizeof(hex_name), "%s_hex", name);
    (void)json_object_set_new(object, hex_name, json_string(hex));
    free(hex);
}

/* Bytes of a member; NULL for null. What is made of hex is never freed: it is a short process. */
static const char *bytes_of(json_t *object, const char *name, size_t *len)
{
    char hex_name[64];
    (void)snprintf(hex_name, sizeof(hex_name), "%s_hex", name);
    const char *hex = json_string_value(json_object_get(object, hex_name));
    if (!hex) {
        json_t *text = json_object_get(object, name);
        *len = json_string_length(text);
        return json_string_value(text);
    }
    *len = strlen(hex) / 2;
    char *bytes = malloc(*len + 1);
    for (size_t i = 0; i < *len; i++) {
        unsigned byte = 0;
        (void)sscanf(hex + 2 * i, "%2x", &byte);
        bytes[i] = (char)byte;
    }
    return bytes;
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    (void)rk;
    (void)opaque;
    if (m->err) {
        die("not delivered: %s", rd_kafka_err2str(m->err));
    }
}

static rd_kafka_headers_t *headers_of(json_t *list)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(json_array_size(list) + 1);
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair)
    {
        json_t *name = json_array_get(pair, 0), *value = json_array_get(pair, 1);
        (void)rd_kafka_header_add(headers, json_string_value(name), -1, json_string_value(value),
                                  (ssize_t)json_string_length(value));
    }
    return headers;
}

static void put_row(rd_kafka_t *rk, const char *topic, json_t *row)
{
    json_t *partition = json_object_get(row, "partition");
    size_t key_len = 0, value_len = 0;
    const char *key = bytes_of(row, "key", &key_len), *value = bytes_of(row, "value", &value_len);
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (err == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_headers_t *headers = headers_of(json_object_get(row, "headers"));
        err = rd_kafka_producev(
            rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, key_len),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value_len),
            RD_KAFKA_V_PARTITION(partition ? (int32_t)json_integer_value(partition)
                                           : RD_KAFKA_PARTITION_UA),
            RD_KAFKA_V_TIMESTAMP((int64_t)json_integer_value(json_object_get(row, "timestamp"))),
            RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (err) {
            rd_kafka_headers_destroy(headers);
        }
        (void)rd_kafka_poll(rk, err == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 100 : 0);
    }
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
}

static void checked(rd_kafka_error_t *e, const char *what)
{
    if (e) {
        die("%s: %s", what, rd_kafka_error_string(e));
    }
}

/* Begins a transaction at a row, and ends it at {"transaction": "commit"}, "abort" or "leave": by
 * the death of this process. Answers whether one is open. */
static bool put_in_transaction(rd_kafka_t *rk, json_t *row, bool is_open)
{
    const char *how = json_string_value(json_object_get(row, "transaction"));
    if (!how) {
        if (!is_open) {
            checked(rd_kafka_begin_transaction(rk), "begin");
        }
        return true;
    }
    if (rd_kafka_flush(rk, WAIT_MS)) {
        die("not delivered in time");
    }
    if (strcmp(how, "leave") == 0) {
        _exit(0);
    }
    checked(strcmp(how, "abort") == 0 ? rd_kafka_abort_transaction(rk, WAIT_MS)
                                      : rd_kafka_commit_transaction(rk, WAIT_MS),
            how);
    return false;
}

static void put(const char *bootstrap, int count, char **args)
{
    bool is_transactional = false, is_open = false;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    (void)rd_kafka_conf_set(conf, "partitioner", "murmur2_random", NULL, 0);
    for (int i = 1; i < count; i++) {
        char *equals = strchr(args[i], '=');
        if (!equals) {
            die("%s is no KEY=VALUE", args[i]);
        }
        *equals = '\0';
        is_transactional = is_transactional || strcmp(args[i], "transactional.id") == 0;
        if (rd_kafka_conf_set(conf, args[i], equals + 1, error_words, sizeof(error_words)) !=
            RD_KAFKA_CONF_OK) {
            die("%s", error_words);
        }
    }
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error_words, sizeof(error_words));
    if (!rk) {
        die("%s", error_words);
    }
    if (is_transactional) {
        checked(rd_kafka_init_transactions(rk, WAIT_MS), "init");
    }
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        json_error_t error;
        json_t *row = json_loads(line, JSON_ALLOW_NUL, &error);
        if (!row) {
            die("not JSON: %s", error.text);
        }
        if (is_transactional) {
            is_open = put_in_transaction(rk, row, is_open);
        }
        if (!is_transactional || is_open) {
            put_row(rk, args[0], row);
        }
        json_decref(row);
    }
    free(line);
    if (is_open) {
        checked(rd_kafka_commit_transaction(rk, WAIT_MS), "commit");
    }
    if (rd_kafka_flush(rk, WAIT_MS)) {
        die("not delivered in time");
    }
}

static void show(const rd_kafka_message_t *m)
{
    rd_kafka_timestamp_type_t type;
    int64_t timestamp = rd_kafka_message_timestamp(m, &type);
    json_t *row =
        json_pack("{s:i, s:I, s:I, s:s}", "partition", m->partition, "offset",
                  (json_int_t)m->offset, "timestamp", (json_int_t)timestamp, "timestamp_type",
                  type == RD_KAFKA_TIMESTAMP_CREATE_TIME       ? "create"
                  : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? "append"
                                                               : "none");
    bytes_into(row, "key", m->key, m->key_len);
    bytes_into(row, "value", m->payload, m->len);
    json_t *list = json_array();
    rd_kafka_headers_t *headers = NULL;
    if (!rd_kafka_message_headers(m, &headers)) {
        const char *name;
        const void *value;
        size_t len;
        for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &len); i++) {
            json_t *text = value ? json_stringn(value, len) : json_null();
            (void)json_array_append_new(list, json_pack("[s, o]", name, text ? text : json_null()));
        }
    }
    (void)json_object_set_new(row, "headers", list);
    answer(row);
}

static void dump(const char *bootstrap, int count, char **args)
{
    char isolation[64];
    (void)snprintf(isolation, sizeof(isolation), "isolation.level=%s",
                   count > 1 ? args[1] : "read_committed");
    char id[] = "group.id=kafka_tool", eof[] = "enable.partition.eof=true",
         commit[] = "enable.auto.commit=false", wait[] = "fetch.wait.max.ms=20",
         reset[] = "auto.offset.reset=error";
    char *settings[] = {isolation, id, eof, commit, wait, reset};
    rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, bootstrap, settings, 6);
    rd_kafka_topic_partition_list_t *list = partitions_of(rk, args[0]);
    rd_kafka_resp_err_t err = rd_kafka_assign(rk, list);
    if (err) {
        die("%s", rd_kafka_err2str(err));
    }
    for (int left = list->cnt; left > 0;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, WAIT_MS);
        if (!m) {
            die("no record and no end");
        }
        if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            left--;
        } else if (m->err) {
            die("%s", rd_kafka_message_errstr(m));
        } else {
            show(m);
        }
        rd_kafka_message_destroy(m);
    }
    (void)rd_kafka_consumer_close(rk);
}

/* --- Commands ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int least; /* arguments */
    void (*run)(const char *bootstrap, int count, char **args);
} commands[] = {{"create", 2, create},
                {"delete", 1, delete},
                {"grow", 2, grow},
                {"alter", 1, alter},
                {"forget", 3, forget},
                {"topics", 0, topics},
                {"ends", 1, ends},
                {"group", 2, group},
                {"group-delete", 1, group_delete},
                {"groups", 0, groups},
                {"group-alter", 4, group_alter},
                {"join", 3, join},
                {"allow", 4, allow},
                {"put", 1, put},
                {"dump", 1, dump}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, argv[2]) == 0 && argc - 3 >= commands[i].least) {
            commands[i].run(argv[1], argc - 3, argv + 3);
            return fflush(stdout) == 0 ? 0 : 1;
        }
    }
    (void)fprintf(stderr,
                  "kafka_tool: no such command, or too few arguments; see the file's head\n");
    return 2;
}
