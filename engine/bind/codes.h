/* Codes of faults that binding finds: SR05 steps, SR06 columns, SR07 expressions.
 */
#ifndef SR_BIND_CODES_H
#define SR_BIND_CODES_H

#include "engine/base/code.h"

extern const struct code_page bind_codes[];

#endif
