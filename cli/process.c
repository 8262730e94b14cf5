#include "cli/process.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define PROCESS_WORD   "process "
#define PROCESS_END_MS 3000 /* a killed one that is not gone by then waits for a device */

/* The first word of a file of one line. */
static bool process_read(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    bool is_read = f && fgets(out, (int)size, f) != NULL;
    if (f) (void)fclose(f); /* read-only */
    if (is_read) out[strcspn(out, "\n")] = '\0';
    return is_read;
}

/* When it began, in ticks since the boot: the 22nd field, behind a name that may hold anything. */
static bool process_start(long pid, unsigned long long *start)
{
    char path[64], line[1024];
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    const char *at = process_read(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (!at) return false;
    char *end = NULL;
    *start = strtoull(at + 1, &end, 10);
    return end != at + 1;
}

/* "BOOT NAMESPACE" of this process. */
static bool process_here(char *out, size_t size)
{
    char boot[64], space[64];
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    if (n <= 0 || !process_read("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)))
        return false;
    space[n] = '\0';
    int len = snprintf(out, size, "%s %s", boot, space);
    return len > 0 && (size_t)len < size;
}

const char *process_name(struct arena *a)
{
    char here[160];
    unsigned long long start = 0;
    long pid = (long)getpid();
    if (!process_here(here, sizeof(here)) || !process_start(pid, &start)) return "";
    const char *name = arena_printf(a, PROCESS_WORD "%s %ld %llu", here, pid, start);
    return name ? name : "";
}

/* The pid of a name that is of here; 0: it is not. */
static long process_find(const char *text, unsigned long long *start)
{
    char here[160];
    const char *at = strstr(text, PROCESS_WORD);
    if (!at || !process_here(here, sizeof(here))) return 0;
    at += strlen(PROCESS_WORD);
    size_t len = strlen(here);
    if (strncmp(at, here, len) != 0 || at[len] != ' ') return 0;
    char *end = NULL;
    long pid = strtol(at + len, &end, 10);
    *start = strtoull(end, NULL, 10);
    return pid > 1 ? pid : 0;
}

bool process_kill(const char *text, long *pid)
{
    unsigned long long told = 0, start = 0;
    *pid = process_find(text, &told);
    int fd = *pid > 0 ? pidfd_open((pid_t)*pid, 0) : -1;
    if (fd < 0) return false;
    /* Looked at behind pidfd_open: what has this start now is what the descriptor means. */
    bool is_it = process_start(*pid, &start) && start == told;
    bool is_gone = false;
    if (is_it && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        is_gone = poll(&p, 1, PROCESS_END_MS) == 1;
    }
    (void)close(fd); /* not a file */
    return is_gone;
}
