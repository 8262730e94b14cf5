#include "connectors/http/http_ask.h"

#include <curl/curl.h>

#include "connectors/http/http_line.h"

sr_rc http_ask_sink(struct sr_ask *a, struct sr_error *err)
{
    const struct http_sink_conf *c = a->conf;
    char shown[200], trouble[CURL_ERROR_SIZE] = "";
    CURL *e = curl_easy_init();
    if (!e || !http_shown_url(c->url, shown, sizeof(shown))) {
        curl_easy_cleanup(e);
        return a->host->fail(a->host, err, SR_ENOMEM, "http: out of memory");
    }
    /* What fails here is met by the connection. */
    (void)curl_easy_setopt(e, CURLOPT_URL, c->url);
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(c->connect_timeout.us / 1000));
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, trouble);
    http_line_set_tls(e, c);
    CURLcode code = curl_easy_perform(e);
    curl_easy_cleanup(e);
    if (code != CURLE_OK) {
        return a->host->fail(a->host, err, SR_EIO, "%s: %s", shown,
                             trouble[0] ? trouble : curl_easy_strerror(code));
    }
    const struct sr_fact fact = {.name = "server", .text = shown};
    return a->row(a, &fact, 1);
}
