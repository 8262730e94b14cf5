/* The smallest format, for kits: a row is one STRING, a record is a line. */
#ifndef TEST_KIT_LINE_FORMAT_H
#define TEST_KIT_LINE_FORMAT_H

#include <streamrun/format.h>

struct line_conf {
    const char *head;   /* written before the first record of a file; NULL: nothing */
    const char *poison; /* a row that begins so cannot be written; NULL: none */
};

extern const struct sr_format_type line_format;

#endif
