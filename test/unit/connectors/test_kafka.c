/* The kafka module, as far as it needs no broker. */
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/kafka/client.h"
#include "connectors/kafka/jaas.h"
#include "connectors/kafka/kafka_source.h"
#include "test/unit/unit.h"

/* --- sasl.jaas.config ------------------------------------------------------------------------- */

START_TEST(test_a_login_module_is_taken_apart)
{
    static const struct {
        const char *text, *module, *username, *password;
    } cases[] = {
        {"org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" "
         "password=\"b\";",
         "PlainLoginModule", "a", "b"},
        {" org.x.ScramLoginModule\n  required\n username='a b'\n password=\"p;=\\\"\\\\q\" ; ",
         "ScramLoginModule", "a b", "p;=\"\\q"},
        {"ScramLoginModule REQUIRED username=alice password=\"\" tokenauth=true;",
         "ScramLoginModule", "alice", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jaas j;
        ck_assert_ptr_null(jaas_read(&j, cases[i].text));
        ck_assert_str_eq(j.module, cases[i].module);
        ck_assert_str_eq(jaas_find(&j, "username"), cases[i].username);
        ck_assert_str_eq(jaas_find(&j, "password"), cases[i].password);
        ck_assert_ptr_null(jaas_find(&j, "other"));
        jaas_done(&j);
    }
}
END_TEST

START_TEST(test_a_text_that_is_no_login_module_is_refused)
{
    static const char *const texts[] = {
        "",
        "   ",
        "PlainLoginModule",
        "PlainLoginModule username=a;",
        "PlainLoginModule required username=\"a\"",
        "PlainLoginModule required username=\"a;",
        "PlainLoginModule required username \"a\";",
        "PlainLoginModule required =\"a\";",
        "PlainLoginModule required username=\"a\"; Other required;",
        "PlainLoginModule required username=\"a\\",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct jaas j;
        ck_assert_msg(jaas_read(&j, texts[i]) != NULL, "'%s' was read", texts[i]);
        jaas_done(&j);
    }
}
END_TEST

/* --- Properties ------------------------------------------------------------------------------- */

struct written {
    const char *key[4], *value[4];
};

static sr_rc apply(const struct written *w, rd_kafka_conf_t *conf, struct sr_error *err)
{
    struct sr_pairs pairs = {.key = w->key, .value = w->value};
    while (pairs.count < 4 && w->key[pairs.count]) {
        pairs.count++;
    }
    return props_apply(&pairs, conf, err);
}

START_TEST(test_names_of_java_become_those_of_librdkafka)
{
    static const struct {
        struct written written;
        const char *name, *value;
    } cases[] = {
        {{{"fetch.max.wait.ms"}, {"77"}}, "fetch.wait.max.ms", "77"},
        {{{"fetch.wait.max.ms"}, {"78"}}, "fetch.wait.max.ms", "78"},
        {{{"max.partition.fetch.bytes"}, {"5000"}}, "fetch.message.max.bytes", "5000"},
        {{{"buffer.memory"}, {"33554432"}}, "queue.buffering.max.kbytes", "32768"},
        {{{"max.request.size"}, {"2000000"}}, "message.max.bytes", "2000000"},
        {{{"receive.buffer.bytes"}, {"-1"}}, "socket.receive.buffer.bytes", "0"},
        {{{"security.protocol"}, {"SASL_SSL"}}, "security.protocol", "sasl_ssl"},
        {{{"ssl.endpoint.identification.algorithm"}, {""}},
         "ssl.endpoint.identification.algorithm",
         "none"},
        {{{"sasl.jaas.config"}, {"ScramLoginModule required username='u' password='p';"}},
         "sasl.username",
         "u"},
        {{{"sasl.jaas.config"},
          {"OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"me\";"}},
         "sasl.oauthbearer.config",
         "principal=me"},
        {{{"ssl.truststore.type", "ssl.truststore.location"}, {"PEM", "/x/ca.pem"}},
         "ssl.ca.location",
         "/x/ca.pem"},
        {{{"ssl.keystore.type", "ssl.keystore.location"}, {"PEM", "/x/me.pem"}},
         "ssl.key.location",
         "/x/me.pem"},
        {{{"metadata.max.age.ms"}, {"60000"}}, "topic.metadata.refresh.interval.ms", "60000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sr_error err = {0};
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        char got[128];
        size_t size = sizeof(got);
        ck_assert_msg(apply(&cases[i].written, conf, &err) == SR_OK, "%s", err.words);
        ck_assert(rd_kafka_conf_get(conf, cases[i].name, got, &size) == RD_KAFKA_CONF_OK);
        ck_assert_str_eq(got, cases[i].value);
        rd_kafka_conf_destroy(conf);
    }
}
END_TEST

START_TEST(test_no_property_loads_code)
{
    static const struct written plugins = {{"plugin.some.paths"}, {"/x/y.so"}};
    struct sr_error err = {0};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    ck_assert_int_eq(apply(&plugins, conf, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "no code is loaded"));
    rd_kafka_conf_destroy(conf);
}
END_TEST

START_TEST(test_a_property_that_cannot_be_had_is_named_and_no_secret_is_told)
{
    static const struct written cases[] = {
        {{"no.such.thing"}, {"hunter2"}},
        {{"sasl.jaas.config"}, {"PlainLoginModule required username='u' password='hunter2'"}},
        {{"sasl.jaas.config"}, {"LdapLoginModule required password='hunter2';"}},
        {{"sasl.jaas.config"}, {"PlainLoginModule required password='hunter2';"}},
        {{"ssl.key.pem"}, {"hunter2"}},
        {{"enable.auto.commit"}, {"true"}},
        {{"interceptor.classes"}, {"org.x.Y"}},
        {{"fetch.max.wait.ms"}, {"a while"}},
        {{"buffer.memory"}, {"much"}},
        {{"ssl.truststore.location"}, {"/x/trust.jks"}},
        {{"ssl.keystore.location"}, {"/x/me.jks"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sr_error err = {0};
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        sr_rc rc = apply(&cases[i], conf, &err);
        if (strcmp(cases[i].key[0], "ssl.key.pem") != 0) { /* looked at when a client is opened */
            ck_assert_int_eq(rc, SR_ECONFIG);
            ck_assert_ptr_nonnull(strstr(err.words, cases[i].key[0]));
        }
        ck_assert_ptr_null(strstr(err.words, "hunter2"));
        rd_kafka_conf_destroy(conf);
    }
}
END_TEST

START_TEST(test_what_means_nothing_to_us_is_let_be_and_told)
{
    const char *const key[] = {"max.poll.records", "group.id", "key.deserializer"};
    const char *const value[] = {"500", "g", "org.x.StringDeserializer"};
    struct sr_pairs pairs = {.count = 3, .key = key, .value = value};
    struct sr_error err = {0};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    uint32_t i = 0;
    ck_assert_int_eq(props_apply(&pairs, conf, &err), SR_OK);
    ck_assert_str_eq(props_idle(&pairs, &i), "max.poll.records");
    ck_assert_str_eq(props_idle(&pairs, &i), "key.deserializer");
    ck_assert_ptr_null(props_idle(&pairs, &i));
    rd_kafka_conf_destroy(conf);
}
END_TEST

START_TEST(test_a_job_without_bootstrap_servers_is_refused)
{
    struct sr_pairs none = {0};
    struct sr_error err = {0};
    ck_assert_int_eq(client_check(&none, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "properties.bootstrap.servers"));
}
END_TEST

/* --- Positions ------------------------------------------------------------------------------- */

START_TEST(test_a_position_comes_back_whole_or_not_at_all)
{
    struct kafka_note n = {.topic = (char *)"orders",
                           .partition = 7,
                           .next = INT64_C(1) << 40,
                           .stop = KAFKA_NO_STOP,
                           .last = 41,
                           .last_ms = -1,
                           .last_digest = UINT64_MAX};
    struct kafka_note got;
    struct sr_out o = note_out();
    ck_assert(kafka_note_put(&o, &n));
    ck_assert_int_eq(kafka_note_get((struct sr_bytes){o.data, (uint32_t)o.len}, &got), SR_OK);
    ck_assert_str_eq(got.topic, "orders");
    ck_assert(got.partition == 7 && got.next == n.next && got.stop == n.stop && got.last == 41 &&
              got.last_ms == -1 && got.last_digest == UINT64_MAX);
    free(got.topic);
    for (uint32_t len = 0; len < o.len; len++) {
        ck_assert_int_eq(kafka_note_get((struct sr_bytes){o.data, len}, &got), SR_ECORRUPT);
        ck_assert_ptr_null(got.topic);
    }
    o.data[0]++; /* of another version */
    ck_assert_int_eq(kafka_note_get((struct sr_bytes){o.data, (uint32_t)o.len}, &got), SR_ECORRUPT);
    note_free(&o);
}
END_TEST

UNIT_MAIN("kafka", test_a_position_comes_back_whole_or_not_at_all,
          test_a_login_module_is_taken_apart, test_a_text_that_is_no_login_module_is_refused,
          test_names_of_java_become_those_of_librdkafka, test_no_property_loads_code,
          test_a_property_that_cannot_be_had_is_named_and_no_secret_is_told,
          test_what_means_nothing_to_us_is_let_be_and_told,
          test_a_job_without_bootstrap_servers_is_refused)
