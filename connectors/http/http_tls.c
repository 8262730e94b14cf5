#include "connectors/http/http_tls.h"

#include <stdlib.h>
#include <string.h>

static sr_rc http_tls_read(const struct sr_host *host, const char *path, char **out,
                           struct sr_error *err)
{
    const struct sr_files *fs = host->files;
    struct sr_file *f = NULL;
    char *text = calloc(1, HTTP_PEM_MAX + 1);
    size_t len = 0, got = 1;
    sr_rc rc = text ? fs->open(fs, path, SR_FILE_READ, &f, err)
                    : host->fail(host, err, SR_ENOMEM, "out of memory for %s", path);
    while (rc == SR_OK && got > 0 && len < HTTP_PEM_MAX) {
        rc = fs->read(f, text + len, HTTP_PEM_MAX - len, len, &got, err);
        len += rc == SR_OK ? got : 0;
    }
    (void)fs->close(f, NULL); /* only read */
    if (rc == SR_OK && text && (len == HTTP_PEM_MAX || !strstr(text, "-----BEGIN "))) {
        rc = host->fail(host, err, SR_ECONFIG, "%s is not in PEM form", path);
    }
    if (rc != SR_OK) {
        free(text);
        return rc;
    }
    *out = text;
    return SR_OK;
}

sr_rc http_tls_load(struct http_tls *t, const struct sr_host *host,
                    const struct http_source_conf *conf, struct sr_error *err)
{
    *t = (struct http_tls){0};
    if (!conf->certificate) {
        return SR_OK;
    }
    sr_rc rc = http_tls_read(host, conf->certificate, &t->certificate, err);
    return rc == SR_OK ? http_tls_read(host, conf->key, &t->key, err) : rc;
}

void http_tls_free(struct http_tls *t)
{
    if (t->key) {
        explicit_bzero(t->key, strlen(t->key));
    }
    free(t->key);
    free(t->certificate);
    *t = (struct http_tls){0};
}
