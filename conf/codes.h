/* Codes of faults that reading a job finds: SR01 texts, SR02 keys, SR03 steps, SR04 connectors.
 */
#ifndef SR_CONF_CODES_H
#define SR_CONF_CODES_H

#include "engine/base/code.h"

extern const struct code_page conf_codes[];

#endif
