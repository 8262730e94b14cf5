/* The job's format, writing the rows of one sink.
 *
 *   encoder_open -> { encoder_head? -> encoder_rows* }* -> encoder_close
 */
#ifndef CONNECTORS_COMMON_ENCODER_H
#define CONNECTORS_COMMON_ENCODER_H

#include <streamrun/connector.h>

struct encoder {
    const struct sr_format_type *type;
    void *instance; /* NULL: not open */
};

sr_rc encoder_open(struct encoder *e, const struct sr_sink_open *o, struct sr_error *err);
/* What stands before the first row of a file; nothing where the format has no such thing. */
sr_rc encoder_head(struct encoder *e, struct sr_out *out, struct sr_error *err);
/* Live rows [from, picked) of v. *done: how many stand in `out`, also when it fails. */
sr_rc encoder_rows(struct encoder *e, const struct sr_view *v, uint32_t from, struct sr_out *out,
                   uint32_t *done, struct sr_error *err);
/* As the format's encode, for a caller that wants only some of them, or their ends. */
sr_rc encoder_some(struct encoder *e, struct sr_encode *call, struct sr_error *err);
void encoder_close(struct encoder *e);

#endif
