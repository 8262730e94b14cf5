/* Records of a file, looked at for their types. */
#ifndef SR_CLI_INFER_READ_H
#define SR_CLI_INFER_READ_H

#include <stdio.h>

#include <streamrun/error.h>

#include "cli/infer_type.h"

#define INFER_RECORD_MAX ((size_t)16 << 20)

enum infer_header { INFER_HEADER_GUESS, INFER_HEADER_YES, INFER_HEADER_NO };

struct infer_file {
    FILE *in;
    const char *name;
    uint64_t records_max; /* 0: no limit */
    /* out */
    bool is_cut; /* there is more behind what was looked at */
    /* CSV */
    enum infer_header header; /* never GUESS behind infer_csv */
    char delimiter;
};

/* Each fills f. SR_EDATA when not one record is of the format. */
sr_rc infer_csv(struct infer *f, struct infer_file *file, struct sr_error *err);
sr_rc infer_json(struct infer *f, struct infer_file *file, struct sr_error *err);

#endif
