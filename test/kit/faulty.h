/* Files that fail on demand: the n-th operation, alone or with all that follow (a crash). */
#ifndef TEST_KIT_FAULTY_H
#define TEST_KIT_FAULTY_H

#include "test/kit/stage.h"

/* From now on the stage's host has these files. They work until told otherwise. */
void faulty_install(struct stage *s);
/* Operation number n (from 0) fails with SR_EIO; all behind it too when is_crash. */
void faulty_fail(uint32_t n, bool is_crash);
/* Healthy again. True if anything failed since faulty_fail. */
bool faulty_heal(void);

#endif
