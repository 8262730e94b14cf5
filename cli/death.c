#include "cli/death.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The number behind "oom_kill " in a file of lines; -1: there is none. */
static int64_t death_count(const char *path)
{
    static const char word[] = "oom_kill ";
    char line[256];
    int64_t count = -1;
    FILE *f = fopen(path, "re");
    while (f && count < 0 && fgets(line, sizeof(line), f)) {
        if (strncmp(line, word, sizeof(word) - 1) == 0) {
            count = strtoll(line + sizeof(word) - 1, NULL, 10);
        }
    }
    if (f) (void)fclose(f); /* read-only */
    return count;
}

/* The line "0::/PATH" names our group of the unified hierarchy. */
static int64_t death_count_group(void)
{
    char line[1024], path[1200];
    int64_t count = -1;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", line + 3);
        count = death_count(path);
        break;
    }
    if (f) (void)fclose(f); /* read-only */
    return count;
}

void death_look(struct death_counts *now)
{
    now->group = death_count_group();
    now->machine = death_count("/proc/vmstat");
}

void death_words(int status, const struct death_counts *before, char *out, size_t size)
{
    struct death_counts now;
    int signal = WTERMSIG(status);
    const char *name = sigabbrev_np(signal);
    const char *why = "";
    if (signal == SIGKILL) {
        death_look(&now);
        if (before->group >= 0 && now.group > before->group) {
            why = " by the kernel: its control group ran out of memory";
        } else if (before->machine >= 0 && now.machine > before->machine) {
            why = ", very likely by the kernel, which was out of memory";
        } else if (now.group < 0 && now.machine < 0) {
            why = ", maybe by the kernel for want of memory: its counts cannot be read";
        } else {
            why = " from outside, not for want of memory";
        }
    }
    (void)snprintf(out, size, "killed by SIG%s%s", name ? name : "?", why);
}
