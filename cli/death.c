#include "cli/death.h"

#include <signal.h>
#include <stdbool.h>
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

/* Is `name` one of "a,b,c"? */
static bool death_has(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0')) return true;
    }
    return false;
}

/* A line of /proc/self/cgroup: "0::/PATH" names our group of the unified hierarchy; with
 * "4:memory:/PATH" memory is counted in one of its own. */
static int64_t death_count_line(char *line)
{
    char path[1200];
    line[strcspn(line, "\n")] = '\0';
    char *list = strchr(line, ':');
    char *group = list ? strchr(list + 1, ':') : NULL;
    if (!group) return -1;
    *group++ = '\0';
    if (strncmp(line, "0:", 2) == 0) {
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", group);
    } else if (death_has(list + 1, "memory")) {
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.oom_control", group);
    } else {
        return -1;
    }
    return death_count(path);
}

static int64_t death_count_group(void)
{
    char line[1024];
    int64_t count = -1;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && count < 0 && fgets(line, sizeof(line), f)) {
        count = death_count_line(line);
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
