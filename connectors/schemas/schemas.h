/* A schema registry as Confluent's, asked over HTTP: schemas by number, and numbers of schemas.
 *
 * schemas_put and schemas_ask wait for the answer, SCHEMAS_WAIT_MS for each address at most: they
 * come when an encoder is opened, where the job has not begun, and from commands. A decoder meets
 * new numbers while rows flow: schemas_fetch asks on a thread, so that it goes on with barriers
 * meanwhile.
 */
#ifndef CONNECTORS_SCHEMAS_SCHEMAS_H
#define CONNECTORS_SCHEMAS_SCHEMAS_H

#include <streamrun/ask.h>
#include <streamrun/opt.h>

#define SCHEMAS_CONNECT_MS  5000l
#define SCHEMAS_WAIT_MS     15000l
#define SCHEMAS_ANSWER_MAX  (4u << 20) /* bytes of an answer */
#define SCHEMAS_FRAME_BYTES 5u         /* in front of a record: a 0, and the schema's number */
#define SCHEMAS_WHY         300u
#define SCHEMAS_LOOK_US     INT64_C(2000) /* how soon a fetch is looked at again */

struct schemas_conf {
    const char *url; /* "http://a:8081", or several behind commas: the next is asked if one fails */
    const char *subject;    /* of a sink; NULL: not written */
    const char *user_info;  /* "name:password" for basic authentication; NULL: none */
    const char *token;      /* for bearer authentication; NULL: none */
    const char *truststore; /* file of certificates that are trusted; NULL: the system's */
    const char *keystore;   /* of ours, certificate and key, in PEM; NULL: none */
    const char *credentials_source, *token_source;
};

/* Rows of an option table of a struct with a member `registry` of this type. */
/* clang-format off */
#define SCHEMAS_OPTS(type)                                                                         \
    SR_OPT(type, "url", registry.url, .flags = SR_OPT_REQUIRED | SR_OPT_USUAL,                     \
           .doc = "Where the schema registry is, as in `http://localhost:8081`; of several behind commas the next one " \
                  "is asked when one cannot be reached."),                                         \
    SR_OPT(type, "subject", registry.subject,                                                      \
           .doc = "Under which subject the schema of a sink is registered, as in `orders-value`."), \
    SR_OPT(type, "basic-auth.credentials-source", registry.credentials_source,                     \
           .doc = "USER_INFO, the only one, where basic-auth.user-info is written."),              \
    SR_OPT(type, "basic-auth.user-info", registry.user_info, .flags = SR_OPT_SECRET,               \
           .doc = "Name and password for the registry, as in `name:password`."),                   \
    SR_OPT(type, "bearer-auth.credentials-source", registry.token_source,                          \
           .doc = "STATIC_TOKEN, the only one, where bearer-auth.token is written."),              \
    SR_OPT(type, "bearer-auth.token", registry.token, .flags = SR_OPT_SECRET,                      \
           .doc = "The token for the registry."),                                                  \
    SR_OPT(type, "ssl.truststore.location", registry.truststore, .flags = SR_OPT_PATH,             \
           .doc = "A file of certificates in PEM that are trusted for https, instead of the system's."), \
    SR_OPT(type, "ssl.keystore.location", registry.keystore, .flags = SR_OPT_PATH,                 \
           .doc = "A file of our certificate and its key, in PEM, for https.")
/* clang-format on */

/* At plan time, of format `name`: "avro-confluent". SR_ECONFIG. */
sr_rc schemas_check(const struct schemas_conf *conf, const char *name, bool is_write,
                    struct sr_error *err);
/* The number of a schema under conf->subject, which is registered if it is not there yet. */
sr_rc schemas_put(const struct schemas_conf *conf, const char *type, const char *schema,
                  uint32_t *id, char why[SCHEMAS_WHY]);
/* validate --connect. */
sr_rc schemas_ask(const struct schemas_conf *conf, struct sr_ask *a, struct sr_error *err);

/* --- Frames ----------------------------------------------------------------------------------- */

void schemas_frame(uint32_t id, uint8_t out[SCHEMAS_FRAME_BYTES]);
/* False: there is none in front of the record. */
static inline bool schemas_framed(const uint8_t *bytes, uint32_t len, uint32_t *id)
{
    if (len < SCHEMAS_FRAME_BYTES || bytes[0] != 0) {
        return false;
    }
    *id = (uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 8 |
          (uint32_t)bytes[4];
    return true;
}
#define SCHEMAS_NO_FRAME "it does not begin with a 0 and the number of a schema"

/* --- On a thread ------------------------------------------------------------------------------ */

struct schemas_fetch; /* one question */

struct schemas_wanted {
    const struct schemas_conf *conf;
    const char *type; /* "AVRO" or "JSON" */
    uint32_t id;
    bool may_wait; /* else the call waits */
};

/* The schema of that number, to be freed. SR_EBUSY: not yet, make it again; SR_EABSENT: the
 * registry has none; SR_EDATA: it is of another type. *fetch: NULL at first, and after an answer.
 */
sr_rc schemas_fetch(struct schemas_fetch **fetch, const struct schemas_wanted *w, char **out,
                    char why[SCHEMAS_WHY]);
void schemas_fetch_free(struct schemas_fetch *f); /* gives up, within a second; NULL allowed */

#endif
