/* Notes: what a connector writes down about a position or a commit, and reads again later.
 *
 * Numbers are little-endian whatever the machine. A note comes back from storage, so a reader
 * trusts nothing: it never runs over its end, answers zeros there, and is_broken tells at the end.
 */
#ifndef CONNECTORS_COMMON_NOTE_H
#define CONNECTORS_COMMON_NOTE_H

#include <streamrun/connector.h>

#define NOTE_TEXT_MAX 65536u /* bytes of one text in a note */

/* Bytes of a connector's own: they grow by realloc. */
struct sr_out note_out(void);
void note_free(struct sr_out *o); /* and empty again */

/* All answer false when memory ran out. */
bool note_put_u8(struct sr_out *o, uint8_t v);
bool note_put_u32(struct sr_out *o, uint32_t v);
bool note_put_u64(struct sr_out *o, uint64_t v);
bool note_put_text(struct sr_out *o, const char *s);

struct note_in {
    const uint8_t *at, *end;
    bool is_broken;    /* something was read that was not there */
    bool lacks_memory; /* a text was there, and no memory for its copy: is_broken too */
};

struct note_in note_in(struct sr_bytes note);
uint8_t note_get_u8(struct note_in *in);
uint32_t note_get_u32(struct note_in *in);
uint64_t note_get_u64(struct note_in *in);
/* A copy that the caller frees; NULL when the text is not there or memory ran out (is_broken). */
char *note_get_text(struct note_in *in);
/* True when everything was there and nothing is left. */
bool note_is_done(const struct note_in *in);
/* Why a note could not be taken: SR_ECORRUPT, or SR_ENOMEM. */
sr_rc note_why(const struct note_in *in);

#endif
