/* All codes of faults and errors: those of the rooms, those of errors at run time, and cli's own.
 */
#ifndef SR_CLI_CODES_H
#define SR_CLI_CODES_H

#include <stdint.h>

#include <streamrun/error.h>

#include "engine/base/code.h"

/* The i-th of all; NULL behind the last. */
const struct code_page *codes_page(uint32_t i);
const struct code_page *codes_find(const char *code); /* NULL: none */
/* The code of an error at run time; "": it is none. */
const char *codes_of(sr_rc rc);

#endif
