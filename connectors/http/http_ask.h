/* validate --connect of the http sink: a connection, by TLS where it is written, without a request.
 */
#ifndef CONNECTORS_HTTP_HTTP_ASK_H
#define CONNECTORS_HTTP_HTTP_ASK_H

#include <streamrun/ask.h>

sr_rc http_ask_sink(struct sr_ask *a, struct sr_error *err);

#endif
