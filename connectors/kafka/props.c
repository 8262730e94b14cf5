#include "connectors/kafka/props.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/jaas.h"

enum props_how {
    PROPS_NAME,    /* another name, the same value */
    PROPS_KILO,    /* another name, bytes instead of kilobytes */
    PROPS_SYSTEM,  /* another name; -1, which leaves it to the system, is 0 */
    PROPS_HTTPS,   /* '' is none */
    PROPS_TRUST,   /* the store of those that are trusted: the three are read together */
    PROPS_STORE,   /* the store of one's own key and certificate: likewise */
    PROPS_JAAS,    /* user, password and the like are in one text */
    PROPS_IDLE,    /* no meaning here */
    PROPS_REFUSED, /* `other` says why, and what to do */
    PROPS_OWN      /* read by the source or the sink itself */
};

struct props_rule {
    const char *name;
    enum props_how how;
    const char *other;
};

/* clang-format off */
static const struct props_rule props_rules[] = {
    {"fetch.max.wait.ms", PROPS_NAME, "fetch.wait.max.ms"},
    {"max.request.size", PROPS_NAME, "message.max.bytes"},
    {"request.timeout.ms", PROPS_NAME, "socket.timeout.ms"},
    {"ssl.keystore.certificate.chain", PROPS_NAME, "ssl.certificate.pem"},
    {"ssl.keystore.key", PROPS_NAME, "ssl.key.pem"},
    {"ssl.truststore.certificates", PROPS_NAME, "ssl.ca.pem"},
    {"buffer.memory", PROPS_KILO, "queue.buffering.max.kbytes"},
    {"receive.buffer.bytes", PROPS_SYSTEM, "socket.receive.buffer.bytes"},
    {"send.buffer.bytes", PROPS_SYSTEM, "socket.send.buffer.bytes"},
    {"ssl.endpoint.identification.algorithm", PROPS_HTTPS, "ssl.endpoint.identification.algorithm"},
    {"ssl.truststore.location", PROPS_TRUST, NULL},
    {"ssl.truststore.type", PROPS_TRUST, NULL},
    {"ssl.truststore.password", PROPS_TRUST, NULL},
    {"ssl.keystore.location", PROPS_STORE, NULL},
    {"ssl.keystore.type", PROPS_STORE, NULL},
    {"ssl.keystore.password", PROPS_STORE, NULL},
    {"sasl.jaas.config", PROPS_JAAS, NULL},
    {"auto.offset.reset", PROPS_OWN, NULL},
    {"default.api.timeout.ms", PROPS_IDLE, NULL},
    {"max.block.ms", PROPS_IDLE, NULL},
    {"max.poll.records", PROPS_IDLE, NULL},
    {"exclude.internal.topics", PROPS_IDLE, NULL},
    {"client.dns.lookup", PROPS_IDLE, NULL},
    {"partition.assignment.strategy", PROPS_IDLE, NULL},
    {"group.protocol", PROPS_IDLE, NULL},
    {"key.deserializer", PROPS_IDLE, NULL},
    {"value.deserializer", PROPS_IDLE, NULL},
    {"key.serializer", PROPS_IDLE, NULL},
    {"value.serializer", PROPS_IDLE, NULL},
    {"metrics.num.samples", PROPS_IDLE, NULL},
    {"metrics.recording.level", PROPS_IDLE, NULL},
    {"metrics.sample.window.ms", PROPS_IDLE, NULL},
    {"ssl.protocol", PROPS_IDLE, NULL},
    {"ssl.secure.random.implementation", PROPS_IDLE, NULL},
    {"ssl.keymanager.algorithm", PROPS_IDLE, NULL},
    {"ssl.trustmanager.algorithm", PROPS_IDLE, NULL},
    {"enable.auto.commit", PROPS_REFUSED, "offsets are committed to the group with each checkpoint: leave it out"},
    {"enable.auto.offset.store", PROPS_REFUSED, "offsets are committed to the group with each checkpoint: leave it out"},
    {"enable.partition.eof", PROPS_REFUSED, "the source needs it as it is: leave it out"},
    {"interceptor.classes", PROPS_REFUSED, "there is no Java to run them: leave it out"},
    {"metric.reporters", PROPS_REFUSED, "there is no Java to run them: leave it out"},
    {"partitioner.class", PROPS_REFUSED, "write sink.partitioner: default, fixed or round-robin"},
    {"partitioner", PROPS_REFUSED, "write sink.partitioner: default, fixed or round-robin"},
    {"transactional.id", PROPS_REFUSED, "write sink.transactional-id-prefix"},
    {"security.providers", PROPS_REFUSED, "there is no Java to run them: leave it out"},
    {"sasl.client.callback.handler.class", PROPS_REFUSED, "there is no Java to run it: leave it out"},
    {"sasl.login.class", PROPS_REFUSED, "there is no Java to run it: leave it out"},
    {"sasl.login.callback.handler.class", PROPS_REFUSED, "there is no Java to run it; for OAUTHBEARER write properties.sasl.oauthbearer.method: oidc"},
    {"ssl.engine.factory.class", PROPS_REFUSED, "there is no Java to run it: leave it out"},
    {"ssl.enabled.protocols", PROPS_REFUSED, "OpenSSL's configuration says which versions of TLS are spoken: leave it out"},
};
/* clang-format on */

/* All that begins like it. */
static const struct props_rule props_plugins = {"plugin.", PROPS_REFUSED,
                                                "no code is loaded on behalf of a job file"};

/* The conf while it is filled. */
struct props {
    const struct sr_pairs *written;
    rd_kafka_conf_t *conf;
    struct sr_error *err;
};

sr_rc props_fail(struct sr_error *err, sr_rc rc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is a line above */
    (void)vsnprintf(err->words, sizeof(err->words), fmt, args); /* cut */
    va_end(args);
    err->rc = rc;
    return rc;
}

const char *props_find(const struct sr_pairs *written, const char *name)
{
    for (uint32_t i = 0; i < written->count; i++) {
        if (strcmp(written->key[i], name) == 0) {
            return written->value[i];
        }
    }
    return NULL;
}

static const struct props_rule *props_rule(const char *name)
{
    for (size_t i = 0; i < sizeof(props_rules) / sizeof(props_rules[0]); i++) {
        if (strcmp(props_rules[i].name, name) == 0) {
            return &props_rules[i];
        }
    }
    bool is_plugin = strncmp(name, props_plugins.name, strlen(props_plugins.name)) == 0;
    return is_plugin ? &props_plugins : NULL;
}

const char *props_idle(const struct sr_pairs *written, uint32_t *i)
{
    while (*i < written->count) {
        const char *name = written->key[(*i)++];
        const struct props_rule *rule = props_rule(name);
        if (rule && rule->how == PROPS_IDLE) {
            return name;
        }
    }
    return NULL;
}

/* What librdkafka says of a value may repeat it, so that is told only where it is no secret. */
static bool props_is_secret(const char *name)
{
    return strstr(name, "password") || strstr(name, "secret") || strstr(name, "jaas") ||
           strstr(name, "token") || strstr(name, "key");
}

/* `name` is what was written, `as` librdkafka's. */
static sr_rc props_set(struct props *p, const char *name, const char *as, const char *value)
{
    char why[256] = "";
    switch (rd_kafka_conf_set(p->conf, as, value, why, sizeof(why))) {
    case RD_KAFKA_CONF_OK:
        return SR_OK;
    case RD_KAFKA_CONF_UNKNOWN:
        return props_fail(p->err, SR_ECONFIG,
                          "properties.%s: librdkafka %s has no such property; its CONFIGURATION.md "
                          "lists those that there are",
                          name, rd_kafka_version_str());
    case RD_KAFKA_CONF_INVALID:
        break;
    }
    return props_is_secret(name)
               ? props_fail(p->err, SR_ECONFIG, "properties.%s: the value is not valid", name)
               : props_fail(p->err, SR_ECONFIG, "properties.%s: %s", name, why);
}

static sr_rc props_set_kilo(struct props *p, const struct props_rule *rule, const char *value)
{
    char *end = NULL, text[24];
    long long bytes = strtoll(value, &end, 10);
    if (end == value || *end || bytes < 1) {
        return props_fail(p->err, SR_ECONFIG, "properties.%s: '%s' is no number of bytes",
                          rule->name, value);
    }
    (void)snprintf(text, sizeof(text), "%lld", bytes / 1024 > 0 ? bytes / 1024 : 1);
    return props_set(p, rule->name, rule->other, text);
}

static bool props_is_pem(const char *type) { return type && strcasecmp(type, "PEM") == 0; }

static sr_rc props_trust(struct props *p, const char *value)
{
    const char *type = props_find(p->written, "ssl.truststore.type");
    size_t len = strlen(value);
    bool is_named_pem = len > 4 && strcasecmp(value + len - 4, ".pem") == 0;
    if (!props_is_pem(type) && (type || !is_named_pem)) {
        return props_fail(p->err, SR_ECONFIG,
                          "properties.ssl.truststore.location: a trust store of Java cannot be "
                          "read: export its certificates (keytool -exportcert -rfc), and write "
                          "properties.ssl.truststore.type: PEM");
    }
    return props_set(p, "ssl.truststore.location", "ssl.ca.location", value);
}

static sr_rc props_store(struct props *p, const char *value)
{
    const char *type = props_find(p->written, "ssl.keystore.type");
    const char *password = props_find(p->written, "ssl.keystore.password");
    if (props_is_pem(type)) {
        sr_rc rc = props_set(p, "ssl.keystore.location", "ssl.certificate.location", value);
        return rc == SR_OK ? props_set(p, "ssl.keystore.location", "ssl.key.location", value) : rc;
    }
    if (!type || strcasecmp(type, "PKCS12") != 0) {
        return props_fail(p->err, SR_ECONFIG,
                          "properties.ssl.keystore.location: a JKS store of Java cannot be read: "
                          "convert it (keytool -importkeystore -deststoretype pkcs12), and write "
                          "properties.ssl.keystore.type: PKCS12, or PEM");
    }
    sr_rc rc = props_set(p, "ssl.keystore.location", "ssl.keystore.location", value);
    return rc == SR_OK && password
               ? props_set(p, "ssl.keystore.password", "ssl.keystore.password", password)
               : rc;
}

/* The options of a login module, and what they are here. */
struct props_login {
    const char *module, *option, *as;
};

static const struct props_login props_logins[] = {
    {"PlainLoginModule", "username", "sasl.username"},
    {"PlainLoginModule", "password", "sasl.password"},
    {"ScramLoginModule", "username", "sasl.username"},
    {"ScramLoginModule", "password", "sasl.password"},
    {"OAuthBearerLoginModule", "clientId", "sasl.oauthbearer.client.id"},
    {"OAuthBearerLoginModule", "clientSecret", "sasl.oauthbearer.client.secret"},
    {"OAuthBearerLoginModule", "scope", "sasl.oauthbearer.scope"},
    {"Krb5LoginModule", "principal", "sasl.kerberos.principal"},
    {"Krb5LoginModule", "keyTab", "sasl.kerberos.keytab"},
};

/* A token that nobody signed, as Java's clients make it where they are told whose. */
static sr_rc props_unsigned(struct props *p, const struct jaas *j)
{
    static const char option[] = "unsecuredLoginStringClaim_sub";
    const char *who = jaas_find(j, option);
    char config[JAAS_TEXT_MAX + 16];
    if (!who) {
        return SR_OK;
    }
    if (!*who || strpbrk(who, " \t\"\\")) {
        return props_fail(p->err, SR_ECONFIG,
                          "properties.sasl.jaas.config: %s must be a name without spaces", option);
    }
    (void)snprintf(config, sizeof(config), "principal=%s", who);
    sr_rc rc = props_set(p, "sasl.jaas.config", "enable.sasl.oauthbearer.unsecure.jwt", "true");
    return rc == SR_OK ? props_set(p, "sasl.jaas.config", "sasl.oauthbearer.config", config) : rc;
}

static sr_rc props_login(struct props *p, const struct jaas *j)
{
    bool is_known = false;
    sr_rc rc = strcmp(j->module, "OAuthBearerLoginModule") == 0 ? props_unsigned(p, j) : SR_OK;
    for (size_t i = 0; rc == SR_OK && i < sizeof(props_logins) / sizeof(props_logins[0]); i++) {
        const struct props_login *l = &props_logins[i];
        bool is_it = strcmp(l->module, j->module) == 0;
        const char *value = is_it ? jaas_find(j, l->option) : NULL;
        is_known = is_known || is_it;
        rc = value ? props_set(p, "sasl.jaas.config", l->as, value) : SR_OK;
    }
    bool is_named = !strncmp(j->module, "Plain", 5) || !strncmp(j->module, "Scram", 5);
    if (rc == SR_OK && is_named && (!jaas_find(j, "username") || !jaas_find(j, "password"))) {
        return props_fail(p->err, SR_ECONFIG,
                          "properties.sasl.jaas.config: username and password must be there");
    }
    return is_known || rc != SR_OK
               ? rc
               : props_fail(p->err, SR_ECONFIG,
                            "properties.sasl.jaas.config: login module '%.60s' cannot be had; "
                            "there are PlainLoginModule, ScramLoginModule, "
                            "OAuthBearerLoginModule and Krb5LoginModule",
                            j->module);
}

static sr_rc props_jaas(struct props *p, const char *value)
{
    struct jaas j;
    const char *why = jaas_read(&j, value);
    sr_rc rc = why ? props_fail(p->err, SR_ECONFIG, "properties.sasl.jaas.config: %s", why)
                   : props_login(p, &j);
    jaas_done(&j);
    return rc;
}

/* One written property. */
static sr_rc props_take(struct props *p, const char *name, const char *value)
{
    const struct props_rule *rule = props_rule(name);
    if (!rule) {
        return props_set(p, name, name, value);
    }
    switch (rule->how) {
    case PROPS_NAME:
        return props_set(p, name, rule->other, value);
    case PROPS_KILO:
        return props_set_kilo(p, rule, value);
    case PROPS_SYSTEM:
        return props_set(p, name, rule->other, strcmp(value, "-1") == 0 ? "0" : value);
    case PROPS_HTTPS:
        return props_set(p, name, rule->other, *value ? value : "none");
    case PROPS_TRUST:
        return strcmp(name, "ssl.truststore.location") == 0 ? props_trust(p, value) : SR_OK;
    case PROPS_STORE:
        return strcmp(name, "ssl.keystore.location") == 0 ? props_store(p, value) : SR_OK;
    case PROPS_JAAS:
        return props_jaas(p, value);
    case PROPS_REFUSED:
        return props_fail(p->err, SR_ECONFIG, "properties.%s: %s", name, rule->other);
    case PROPS_IDLE:
    case PROPS_OWN:
        break;
    }
    return SR_OK;
}

sr_rc props_apply(const struct sr_pairs *written, rd_kafka_conf_t *conf, struct sr_error *err)
{
    struct props p = {written, conf, err};
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < written->count; i++) {
        rc = props_take(&p, written->key[i], written->value[i]);
    }
    /* A client of Java looks for changes of a topic as often as this; librdkafka has two of it. */
    const char *age = props_find(written, "metadata.max.age.ms");
    if (rc == SR_OK && age && !props_find(written, "topic.metadata.refresh.interval.ms")) {
        rc = props_set(&p, "metadata.max.age.ms", "topic.metadata.refresh.interval.ms", age);
    }
    return rc;
}
