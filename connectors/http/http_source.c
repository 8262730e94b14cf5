/* The http source: an endpoint that records are sent to. */
#include "connectors/http/http_source.h"

#include <stdio.h>
#include <string.h>

#include "connectors/http/http_listen.h"
#include "connectors/http/http_reader.h"

/* --- Splits: one, or a session of the journal each ------------------------------------------- */

struct http_finder {
    const struct sr_host *host;
    const struct http_source_conf *conf;
    struct sessions sessions;
    bool is_known;
};

static sr_rc http_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    struct http_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    f->sessions = (struct sessions){.host = o->host, .dir = f->conf->journal, .name = HTTP_NAME};
    return SR_OK;
}

static void http_known_split(void *finder, const struct sr_split *split)
{
    struct http_finder *f = finder;
    struct session_note n;
    f->is_known = true;
    if (session_note_get(split->note, &n)) { /* else add will tell */
        sessions_known(&f->sessions, &n);
    }
}

static enum sr_discovered http_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                        struct sr_error *err)
{
    (void)wait;
    struct http_finder *f = finder;
    struct sr_split split = {.id = HTTP_NAME};
    uint8_t mine[JOURNAL_ORIGIN];
    sr_rc rc = SR_OK;
    if (f->conf->journal) {
        http_origin(f->host, mine);
        rc = sessions_discover(&f->sessions, mine, out, err);
        return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
    }
    rc = f->is_known ? SR_OK : out->add(out, &split);
    if (rc != SR_OK) {
        (void)f->host->fail(f->host, err, rc, "out of memory");
    }
    return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static void http_discover_close(void *finder)
{
    struct http_finder *f = finder;
    sessions_done(&f->sessions);
}

/* --- Options --------------------------------------------------------------------------------- */

/* NULL: they fit. */
static const char *http_source_fault(const struct http_source_conf *k)
{
    const char *why = NULL;
    if (!http_listen_is_place(k->listen, &why)) {
        return why;
    }
    if (k->path[0] != '/' || (k->health_path[0] && k->health_path[0] != '/')) {
        return "path and health-path begin with /";
    }
    if (!k->certificate != !k->key) {
        return "tls.certificate-file and tls.key-file go together";
    }
    if (k->journal && k->acknowledge.index == HTTP_CHECKPOINT) {
        return "with a journal a request is answered when it is synced there: leave "
               "source.acknowledge out";
    }
    if (k->headers.count > HTTP_HEADERS_MAX) {
        return "source.headers: more than 64 headers";
    }
    if (k->journal && k->journal_max.bytes < k->body_max.bytes) {
        return "journal.max-size is less than source.max-body-size";
    }
    return NULL;
}

static sr_rc http_source_check(const void *conf, const struct sr_schema *schema,
                               struct sr_source_caps *caps, struct sr_error *err)
{
    (void)schema;
    const struct http_source_conf *k = conf;
    const char *why = http_source_fault(k);
    if (why) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "%s", why);
        return err->rc;
    }
    *caps = (struct sr_source_caps){
        .can_rewind = k->journal != NULL,
        .parts_max = 1,
        .frames = k->body.index == HTTP_RECORD,
        .resends = k->acknowledge.index == HTTP_CHECKPOINT,
        .exclusive = {k->journal, http_listen_is_any_port(k->listen) ? NULL : k->listen}};
    return SR_OK;
}

static const char *const http_bodies[] = {"records", "record", NULL};
static const char *const http_acknowledges[] = {"taken", "checkpoint", NULL};

/* clang-format off */
static const struct sr_opt http_source_opts[] = {
    SR_OPT(struct http_source_conf, "listen", listen, .def = "127.0.0.1:8080", .flags = SR_OPT_OURS | SR_OPT_USUAL,
           .doc = "Where the server listens, as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080; port 0: one that is free, told by `status`, and in the log with -v."),
    SR_OPT(struct http_source_conf, "path", path, .def = "/", .flags = SR_OPT_OURS, .doc = "The path that records are sent to, by POST or PUT."),
    SR_OPT(struct http_source_conf, "health-path", health_path, .def = "/health", .flags = SR_OPT_OURS,
           .doc = "A GET of it is answered 200 while requests are taken, else 503; '': there is none."),
    SR_OPT(struct http_source_conf, "source.body", body, .def = "records", .choices = http_bodies, .flags = SR_OPT_OURS,
           .doc = "records: a body is read as a file is, with any number of records; record: each body is one record."),
    SR_OPT(struct http_source_conf, "source.acknowledge", acknowledge, .def = "taken", .choices = http_acknowledges, .flags = SR_OPT_OURS,
           .doc = "When a request is answered 200 without a journal: taken, when it is in memory, so that a crash loses it; checkpoint, when a checkpoint has its rows, so that a sender who sends again what was not answered loses nothing."),
    SR_OPT(struct http_source_conf, "source.headers", headers, .flags = SR_OPT_OURS, .doc = "Headers that the metadata column 'headers' has."),
    SR_OPT(struct http_source_conf, "source.max-body-size", body_max, .def = "16 mb", .min = 1, .max = HTTP_BODY_MAX, .flags = SR_OPT_OURS,
           .doc = "A larger body, as it comes or unpacked by its Content-Encoding, is answered 413."),
    SR_OPT(struct http_source_conf, "source.buffer-size", buffer_max, .def = "64 mb", .min = 1, .max = INT64_C(1) << 40, .flags = SR_OPT_OURS,
           .doc = "Bytes of requests in memory, as they come or wait to be processed; what comes then is answered 503 with Retry-After."),
    SR_OPT(struct http_source_conf, "source.request-timeout", request_timeout, .def = "60 s", .min = 1000000, .max = INT64_C(86400000000), .flags = SR_OPT_OURS,
           .doc = "A request that is not safe by then is answered 503, though it may be taken all the same."),
    SR_OPT(struct http_source_conf, "bearer-token", token, .flags = SR_OPT_OURS | SR_OPT_SECRET,
           .doc = "What senders must show in the header Authorization: Bearer ...; else they are answered 401."),
    SR_OPT(struct http_source_conf, "tls.certificate-file", certificate, .flags = SR_OPT_OURS | SR_OPT_PATH, .doc = "A certificate in PEM form: the server speaks HTTPS."),
    SR_OPT(struct http_source_conf, "tls.key-file", key, .flags = SR_OPT_OURS | SR_OPT_PATH, .doc = "Its private key, in PEM form."),
    JOURNAL_OPTS(struct http_source_conf, journal, journal_max, "was not answered 200; what was is safe"),
    SR_OPT_END};
/* clang-format on */

const struct sr_source_type http_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = HTTP_NAME,
    .doc = "What is sent to an endpoint by POST or PUT, in any format; packed by gzip, zstd, lz4, "
           "bzip2 or xz where Content-Encoding says so. A request is answered 200 before its rows "
           "are looked at: a bad one is treated by on-error.",
    .keeps = "with a `journal`, each request that was answered 200; without, nothing: its paths "
             "have no guarantee, or with `source.acknowledge: checkpoint` at-least-once, where "
             "senders send again what was not answered 200",
    .opts = http_source_opts,
    .conf_size = sizeof(struct http_source_conf),
    .discoverer_size = sizeof(struct http_finder),
    .reader_size = sizeof(struct http_reader),
    .check = http_source_check,
    .discover_open = http_discover_open,
    .known = http_known_split,
    .discover = http_discover,
    .discover_close = http_discover_close,
    .open = http_reader_open,
    .add = http_reader_add,
    .poll = http_reader_poll,
    .consume = http_reader_consume,
    .position = http_reader_position,
    .acknowledge = http_reader_acknowledge,
    .close = http_reader_close,
    .metadata = http_metadata,
    .fill_metadata = http_reader_fill_metadata,
    .halt = http_reader_halt,
};
