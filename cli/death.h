/* How a process died, in words for people: the signal, and whether the kernel wanted its memory.
 *
 * An OOM kill is a SIGKILL like one by hand; what tells them apart is a count of such kills, of our
 * control group where it has one, else of the machine. So it is looked at before and after.
 */
#ifndef SR_CLI_DEATH_H
#define SR_CLI_DEATH_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of OOM kills so far; -1: cannot be read. */
struct death_counts {
    int64_t group, machine;
};

void death_look(struct death_counts *now);
/* `status` is of waitpid, of a process that a signal killed. */
void death_words(int status, const struct death_counts *before, char *out, size_t size);

#endif
