/* Formats: bytes to rows, rows to bytes. A format knows nothing of where bytes come from.
 *
 * The engine owns an instance's memory (`decoder_size`, `encoder_size`, zeroed, 16-byte aligned)
 * and its thread. A close follows every open, one that failed too. Calls come in this order:
 *
 *   check (at plan time, no instance)
 *   decoder  decode_open -> { decode }* -> decode_close
 *   encoder  encode_open -> { encode_head? -> encode* }* -> encode_close
 */
#ifndef STREAMRUN_FORMAT_H
#define STREAMRUN_FORMAT_H

#include <streamrun/host.h>
#include <streamrun/opt.h>

struct sr_ask; /* ask.h */

/* A record that could not be decoded. */
struct sr_bad {
    uint32_t at, len; /* its bytes in sr_decode.bytes */
    uint32_t row;     /* rows of the builder that came before it */
    char words[160];  /* why, as a sentence without its place */
    uint32_t mark;    /* 1 + byte of the record where the value at fault begins; 0: not known */
};

#define SR_BAD_MAX 64u

/* One call of decode. The bytes begin at a record's first byte. */
struct sr_decode {
    /* in */
    const uint8_t *bytes;
    uint32_t len;
    struct sr_buffer *buffer; /* what `bytes` lie in, so that text columns may refer to them (spans
                                 then count from buffer->data); NULL: copy */
    const struct sr_span
        *record; /* framed input: each is one whole record; NULL: a stream of bytes */
    uint32_t records;
    bool at_start; /* the first byte of its split: a header may stand here */
    bool at_end;   /* nothing follows: a last record needs no delimiter */
    /* out */
    struct sr_builder *out;
    uint32_t used; /* bytes (a stream) or records (framed) that are done with */
    uint32_t
        *row_at; /* by builder row: where its record begins in `bytes`; filled by the decoder */
    struct sr_bad *bad; /* room for SR_BAD_MAX, every `mark` 0; when full the decoder stops in front
                           of the next bad one */
    uint32_t bads;
    uint32_t skipped; /* header lines and blank lines: records that are no rows */
    /* Of a stream of text: line ends among the bytes used. Left at UINT32_MAX, the engine counts
     * them itself, which costs it a look at every byte. */
    uint32_t lines;
    /* Records that make no row all the same, of those used up; the engine counts them. Both are 0
     * when decode is called. */
    uint32_t ignored;  /* bad ones that an option lets go, as ignore-parse-errors: skipped */
    uint32_t left_out; /* good ones that say nothing, or that a filter of the format does not want,
                          as a tombstone of Debezium: filtered */
    /* in */
    bool may_wait; /* framed: the call may end in front of a record for which the format waits */
    /* out */
    int64_t wait_us; /* so it did: it is called again so much later; 0 when decode is called */
};

/* Encoded bytes, grown by the engine. */
struct sr_out {
    uint8_t *data;
    size_t len, capacity;
    bool (*grow)(struct sr_out *o, size_t more); /* false: out of memory */
};

static inline uint8_t *sr_out_room(struct sr_out *o, size_t more)
{
    if (o->capacity - o->len < more && !o->grow(o, more)) {
        return NULL;
    }
    return o->data + o->len;
}

/* One call of encode. */
struct sr_encode {
    /* in */
    const struct sr_view *view;
    uint32_t from, count; /* its live rows [from, from + count) */
    struct sr_out *out;   /* appended to */
    size_t *end;          /* by row: out->len behind it; room for `count`, filled by the encoder;
                             NULL: not wanted */
    /* out */
    uint32_t done; /* rows that stand in `out`; fewer than `count` only in a call that fails */
    /* Bytes of the delimiter behind each row where it is not one newline, for who writes records
     * without it; left at 0 else. SR_NO_DELIMITER: there is none. */
    uint32_t delimiter;
};

#define SR_NO_DELIMITER UINT32_MAX

/* What is known of a record beside its row: by a source its file or partition, by a format what
 * stands around the row. A job asks for it by `name TYPE METADATA FROM 'file.path'`. */
struct sr_metadata {
    const char *name;    /* NULL ends a list of them */
    struct sr_type type; /* that is given; the engine casts to what the job declares */
    const char *doc;
};

struct sr_format_open {
    uint32_t size;
    const struct sr_host *host;
    const void *conf; /* filled from `opts` */
    const struct sr_schema *schema;
    /* Decoders: the last columns of `schema` are these of the type's metadata, not of the row. */
    const uint32_t *metadata;
    uint32_t metadatas;
};

enum {
    SR_FORMAT_LINES = 1u << 0,   /* a record is a line: a split may begin behind any newline */
    SR_FORMAT_CHANGES = 1u << 1, /* carries change kinds */
    SR_FORMAT_RESYNC = 1u << 2,  /* behind a record that is given up, the next newline begins one */
    SR_FORMAT_ABSENT = 1u << 3,  /* a record without a value is a row of NULL; else it makes none */
    SR_FORMAT_MESSAGES = 1u << 4 /* records have no end of their own: each must be framed */
};

struct sr_format_type {
    uint32_t size;
    const char *name; /* "csv"; its options are written `csv.header` */
    const char *doc;
    const struct sr_opt *opts; /* keys without the "csv." */
    uint32_t conf_size;
    uint32_t decoder_size, encoder_size; /* 0: cannot */
    /* Options and schema fit? *flags: SR_FORMAT_*. At plan time, for reading or for writing. */
    sr_rc (*check)(const void *conf, const struct sr_schema *schema, bool is_write, uint32_t *flags,
                   struct sr_error *err);
    sr_rc (*decode_open)(void *dec, const struct sr_format_open *o, struct sr_error *err);
    /* Decodes as many whole records as there are and as the builder has room for. Fails only when
     * nothing can go on (memory, a record over the limit); bad records are reported in `bad`. A
     * stream without a whole record and not at_end: used 0, rows 0. */
    sr_rc (*decode)(void *dec, struct sr_decode *d, struct sr_error *err);
    void (*decode_close)(void *dec);
    sr_rc (*encode_open)(void *enc, const struct sr_format_open *o, struct sr_error *err);
    /* What stands before the first record of a file (a header line); may be NULL. */
    sr_rc (*encode_head)(void *enc, struct sr_out *out, struct sr_error *err);
    /* Appends the rows, each with its delimiter (a newline for text formats). A row that cannot be
     * written: SR_EDATA, and `done` counts those before it. */
    sr_rc (*encode)(void *enc, struct sr_encode *e, struct sr_error *err);
    void (*encode_close)(void *enc);
    const struct sr_metadata *metadata; /* that records bring beside the row; NULL: none */
    sr_rc (*ask)(struct sr_ask *a, struct sr_error *err); /* SR_ASK_CONNECTED only; NULL: nobody */
};

/* How the records of a sink are put together of a key and a value. */
struct sr_keyed {
    const struct sr_format_type *key_format; /* NULL: records have no key */
    const void *key_conf;
    const struct sr_schema *key; /* the key's fields, without key.fields-prefix */
    const uint32_t *key_column;  /* by its fields: column of the sink's schema */
    /* What the sink's own format writes: all columns but those that leave_out takes away, and those
     * of the key where value.fields-include says so. */
    const struct sr_schema *value;
    const uint32_t *value_column;
    /* By column of the sink's schema: which of the sink type's metadata it is, and of that one's
     * type; -1: none. It is in neither of the two. NULL: no column is any. */
    const int32_t *metadata;
};

#endif
