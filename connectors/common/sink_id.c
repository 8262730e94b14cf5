#include "connectors/common/sink_id.h"

#include <inttypes.h>
#include <stdio.h>

#include "connectors/common/note.h"

bool sink_id(const struct sr_sink_open *o, char out[SINK_ID_SIZE])
{
    struct sr_out both = note_out();
    uint64_t digest[2] = {0, 0};
    bool is_put = note_put_text(&both, o->job_id) && note_put_text(&both, o->uid);
    if (is_put) {
        o->host->digest(both.data, both.len, digest);
        (void)snprintf(out, SINK_ID_SIZE, "%08" PRIx32, (uint32_t)digest[0]);
    }
    note_free(&both);
    return is_put;
}
