/* The manual page streamrun(1), made from the tables that help is made from. */
#ifndef SR_CLI_MAN_H
#define SR_CLI_MAN_H

#include "cli/cli.h"

void man_print(const struct cli *c); /* on stdout, in the language of man(7) */

#endif
