/* Flink's keys that streamrun does not have, so that a configuration of Flink can be read as it is.
 *
 * Only settings.c reads this table. A key of ours never stands here, and no row is so short that it
 * would swallow a misspelt key of ours.
 */
#ifndef SR_PLAN_FOREIGN_H
#define SR_PLAN_FOREIGN_H

#include "engine/plan/settings.h"

struct foreign {
    const char *key; /* ends with a dot: every key that begins so; NULL ends the table */
    enum settings_foreign kind;
    const char *harmless; /* values, separated by |, of a SETTINGS_LATER key that change nothing */
    const char *taken;    /* values that ask for another way to the same results */
    const char *instead;  /* what is done in their place, or can be, for people; NULL: nothing */
};

extern const struct foreign foreign_keys[];

#endif
