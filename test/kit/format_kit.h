/* What must hold of every format, whatever its bytes look like.
 *
 * A test opens a format by its type and a filled conf, and calls the checks below on inputs of its
 * choice. Each fails by libcheck's ck_assert and names what differed.
 */
#ifndef TEST_KIT_FORMAT_KIT_H
#define TEST_KIT_FORMAT_KIT_H

#include <streamrun/format.h>

#include "engine/data/builder.h"
#include "engine/data/host.h"

struct format_kit {
    const struct sr_format_type *type;
    const void *conf;
    struct arena *arena;
    struct sr_schema schema;
    struct env env;
    struct sr_home *home;
    struct host_ctx ctx;
    struct sr_host host;
    uint32_t room_min; /* rows that the longest record makes: the least room that is tried; 0: 1 */
};

/* A conf with the table's defaults; the caller sets what differs and frees it. */
void *format_kit_conf(const struct sr_format_type *type);
/* Columns as "name TYPE, name TYPE", without commas in brackets. */
void format_kit_open(struct format_kit *k, const struct sr_format_type *type, const void *conf,
                     const char *columns);
void format_kit_close(struct format_kit *k);

/* How bytes are handed to a decoder. */
struct format_feed {
    uint32_t cut;      /* bytes of the first call; 0: all */
    uint32_t step;     /* bytes that each call sees more than the one before; 0: the rest */
    uint32_t rows_max; /* room of the builder; 0: a whole batch */
    bool has_buffer;   /* the bytes lie in a buffer that text may refer to */
    bool is_framed;    /* each line is a message */
    bool is_open;      /* more may follow the last byte */
    const bool *wanted;
};

/* What came of it, as one text: rows (their place, values, -U, +U or -D), bad records, counts.
 * The caller frees it. */
char *format_kit_decode(struct format_kit *k, const void *bytes, uint32_t len,
                        const struct format_feed *feed);
/* The rows of such a text, without places, bads and counts; the caller frees it. */
char *format_kit_rows(const char *told);

/* The same rows and bad records, at the same places, however the bytes are handed over: cut in two
 * at every byte, growing byte by byte, one row at a time, with and without a buffer to refer to. */
void format_kit_check_feeds(struct format_kit *k, const void *bytes, uint32_t len);
/* Columns that nobody wants change nothing in the others. */
void format_kit_check_wanted(struct format_kit *k, const void *bytes, uint32_t len);
/* A record that is bad is told exactly, and both its neighbours come through. */
void format_kit_check_bad(struct format_kit *k, const char *good, const char *bad,
                          const char *words);
/* Random rows of the schema come back as they were; ends of rows are exact. */
void format_kit_check_round_trip(struct format_kit *k, uint64_t seed);
/* One record is decoded to these values, as format_kit_rows shows them. */
void format_kit_check_values(struct format_kit *k, const char *bytes, const char *values);
/* Encoding what the bytes decode to gives `text`. */
void format_kit_check_encode(struct format_kit *k, const char *bytes, const char *text);

#endif
