/* How long rows wait in a job that holds much state: feeds rows "key,number" to its standard input,
 * reads the counts that come back, and tells the time between.
 *
 *   latency_probe KEYS RATE SECONDS COMMAND...
 *
 * First every key once, as fast as the job takes them; then RATE rows a second of random keys, each
 * with a number that comes back in the row that it changes. Beside it, a byte is sent to
 * another process and back, every millisecond: a yardstick for what the machine does to those who
 * only wait. Prints a line of JSON: median, 99.9 % and maximum of the times of rows and bytes in
 * milliseconds; how many rows waited how long (below 1 ms, 2, 4 ...); the most that a row
 * waited beyond the slowest byte that was on its way meanwhile; and the most that one waited apart
 * from the time in which a worker of the job, or the probe, wanted a core and had none (the kernel
 * counts that: schedstat). Then lets the job end. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

#define BYTES_MAX 2000000u
#define BUCKETS   12u
#define SEEN_MAX  16u /* threads whose wait for a core is looked at */

/* The yardstick's bytes; when each was sent, how long each thread had waited for a core so far. */
struct echo {
    int seen[SEEN_MAX]; /* schedstat of a thread */
    uint32_t seens;
    int64_t *starved_us[SEEN_MAX]; /* by byte */
    int to, from;
    pid_t other;
    pthread_t thread;
    atomic_bool is_over;
    uint32_t count;
    int64_t *sent_us, *waited_us;
};

struct probe {
    uint64_t keys, rate, probes;
    int to, from; /* pipes of the job */
    pid_t job;
    int64_t *sent_us;    /* by number */
    int64_t *waited_us;  /* by number; 0: not back yet */
    uint64_t sent, back; /* probes */
    char in[1 << 16];    /* what came from the job, up to a line's end */
    size_t in_len;
    char out[1 << 16];
    size_t out_len, out_at;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void start(struct probe *p, char **command)
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) abort();
    p->job = fork();
    if (p->job == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    (void)fcntl(p->to, F_SETPIPE_SZ, 1 << 20);
    (void)fcntl(p->from, F_SETPIPE_SZ, 1 << 20);
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    fcntl(p->from, F_SETFL, O_NONBLOCK);
}

/* A line of the answer ends in "NUMBER]": 0 for rows that only fill the state. */
static void hear_line(struct probe *p, const char *line, size_t len, int64_t now)
{
    size_t at = len > 0 ? len - 1 : 0;
    uint64_t number = 0, unit = 1;
    while (at > 0 && line[at - 1] >= '0' && line[at - 1] <= '9') {
        number += (uint64_t)(line[--at] - '0') * unit;
        unit *= 10;
    }
    if (number == 0 || number > p->sent || p->waited_us[number - 1] != 0) return;
    p->waited_us[number - 1] = now - p->sent_us[number - 1] + 1;
    p->back++;
}

static bool hear(struct probe *p)
{
    ssize_t n = read(p->from, p->in + p->in_len, sizeof(p->in) - p->in_len);
    if (n <= 0) return false;
    int64_t now = now_us();
    p->in_len += (size_t)n;
    char *line = p->in, *end;
    while ((end = memchr(line, '\n', p->in_len - (size_t)(line - p->in))) != NULL) {
        hear_line(p, line, (size_t)(end - line), now);
        line = end + 1;
    }
    p->in_len -= (size_t)(line - p->in);
    memmove(p->in, line, p->in_len);
    return true;
}

static void say(struct probe *p)
{
    ssize_t n = write(p->to, p->out + p->out_at, p->out_len - p->out_at);
    if (n > 0) p->out_at += (size_t)n;
    if (p->out_at == p->out_len) p->out_at = p->out_len = 0;
}

static void wait_a_little(const struct probe *p, bool has_more)
{
    struct pollfd fds[] = {{.fd = p->from, .events = POLLIN},
                           {.fd = p->to, .events = has_more ? POLLOUT : 0}};
    (void)poll(fds, 2, 1);
}

static void put_row(struct probe *p, uint64_t key, uint64_t number)
{
    p->out_len +=
        (size_t)snprintf(p->out + p->out_len, sizeof(p->out) - p->out_len, "%s-%llu,%llu\n",
                         PAYLOAD, (unsigned long long)key, (unsigned long long)number);
}

static void fill(struct probe *p)
{
    for (uint64_t key = 0; key < p->keys || p->out_len > 0;) {
        while (key < p->keys && p->out_len < sizeof(p->out) - 256) {
            put_row(p, key++, 0);
        }
        say(p);
        while (hear(p)) {
        }
        if (p->out_len > 0) wait_a_little(p, true);
    }
}

/* One row more, and its answer: nothing of what filled the state is on its way any more. */
static void settle(struct probe *p)
{
    p->sent_us[p->sent++] = now_us();
    put_row(p, 0, p->sent);
    while (p->back == 0) {
        if (p->out_len > 0) say(p);
        while (hear(p)) {
        }
        wait_a_little(p, p->out_len > 0);
    }
    p->waited_us[0] = 1;
}

static void ask(struct probe *p)
{
    uint64_t random = 88172645463325252u;
    int64_t begin = now_us();
    while (p->back < p->probes) {
        int64_t now = now_us();
        uint64_t due = 1 + (uint64_t)(now - begin) * p->rate / 1000000;
        due = due < p->probes ? due : p->probes;
        while (p->sent < due && p->out_len < sizeof(p->out) - 256) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            p->sent_us[p->sent] = now;
            p->sent++;
            put_row(p, random % p->keys, p->sent);
        }
        if (p->out_len > 0) say(p);
        while (hear(p)) {
        }
        wait_a_little(p, p->out_len > 0);
        if (now - begin > 600 * INT64_C(1000000)) break;
    }
}

/* --- The yardstick ---------------------------------------------------------------------------- */

static int64_t starved_us(int schedstat)
{
    char text[128] = "", *behind = text; /* nanoseconds that it ran, that it wanted to, ... */
    if (pread(schedstat, text, sizeof(text) - 1, 0) < 1) return 0;
    (void)strtoull(text, &behind, 10);
    return (int64_t)(strtoull(behind, NULL, 10) / 1000);
}

static void see(struct echo *e, long process, long thread)
{
    char path[96];
    (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/schedstat", process, thread);
    int fd = e->seens < SEEN_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    e->starved_us[e->seens] = calloc(BYTES_MAX, sizeof(int64_t));
    e->seen[e->seens++] = fd;
}

/* The workers of the job, by their names, and the probe itself. */
static void see_all(struct echo *e, pid_t job)
{
    char path[96], name[32];
    (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)job);
    DIR *threads = opendir(path);
    for (struct dirent *d = threads ? readdir(threads) : NULL; d; d = readdir(threads)) {
        long thread = strtol(d->d_name, NULL, 10);
        (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/comm", (long)job, thread);
        int fd = thread > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t n = fd >= 0 ? read(fd, name, sizeof(name)) : 0;
        if (n > 6 && strncmp(name, "worker", 6) == 0) see(e, job, thread);
        if (fd >= 0) close(fd);
    }
    if (threads) closedir(threads);
    see(e, getpid(), getpid());
}

static void *echo_run(void *arg)
{
    struct echo *e = arg;
    while (!e->is_over && e->count < BYTES_MAX) {
        int64_t sent = now_us();
        for (uint32_t i = 0; i < e->seens; i++) {
            e->starved_us[i][e->count] = starved_us(e->seen[i]);
        }
        char byte = 0;
        if (write(e->to, &byte, 1) != 1 || read(e->from, &byte, 1) != 1) break;
        e->sent_us[e->count] = sent;
        e->waited_us[e->count++] = now_us() - sent;
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void echo_start(struct echo *e, pid_t job)
{
    int in[2], out[2];
    see_all(e, job);
    if (pipe(in) != 0 || pipe(out) != 0) abort();
    e->sent_us = calloc(BYTES_MAX, sizeof(int64_t));
    e->waited_us = calloc(BYTES_MAX, sizeof(int64_t));
    e->other = fork();
    if (e->other == 0) {
        char byte;
        close(in[1]);
        close(out[0]);
        while (read(in[0], &byte, 1) == 1 && write(out[1], &byte, 1) == 1) {
        }
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    e->to = in[1];
    e->from = out[0];
    if (pthread_create(&e->thread, NULL, echo_run, e) != 0) abort();
}

static void echo_stop(struct echo *e)
{
    e->is_over = true;
    pthread_join(e->thread, NULL);
    close(e->to);
    (void)waitpid(e->other, NULL, 0);
}

/* The most that a row waited beyond the slowest byte that was on its way at the same time. Rows are
 * sent in order, so the first byte that may matter only moves on. */
static int64_t echo_beyond(const struct echo *e, const struct probe *p)
{
    int64_t most = 0;
    uint32_t first = 0;
    for (uint64_t i = 0; i < p->probes; i++) {
        int64_t begin = p->sent_us[i], end = begin + p->waited_us[i], slowest = 0;
        while (first < e->count && e->sent_us[first] + e->waited_us[first] < begin) {
            first++;
        }
        for (uint32_t k = first; k < e->count && e->sent_us[k] <= end; k++) {
            slowest = e->waited_us[k] > slowest ? e->waited_us[k] : slowest;
        }
        int64_t beyond = p->waited_us[i] - slowest;
        most = beyond > most ? beyond : most;
    }
    return most;
}

/* How long the thread that waited most for a core did so, between the bytes sent around a row. */
static int64_t echo_starved(const struct echo *e, uint32_t from, uint32_t to)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < e->seens; i++) {
        int64_t us = e->starved_us[i][to] - e->starved_us[i][from];
        most = us > most ? us : most;
    }
    return most;
}

/* The most that a row waited while nobody wanted for a core. */
static int64_t echo_own(const struct echo *e, const struct probe *p)
{
    int64_t most = 0;
    uint32_t from = 0;
    for (uint64_t i = 0; i < p->probes && e->count > 0; i++) {
        int64_t begin = p->sent_us[i], end = begin + p->waited_us[i];
        while (from + 1 < e->count && e->sent_us[from + 1] <= begin) {
            from++;
        }
        uint32_t to = from;
        while (to + 1 < e->count && e->sent_us[to] < end) {
            to++;
        }
        int64_t own = p->waited_us[i] - echo_starved(e, from, to);
        most = own > most ? own : most;
    }
    return most;
}

/* --- What came out ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the times. */
static void tell(const char *name, int64_t *us, uint64_t count)
{
    uint64_t bucket[BUCKETS] = {0};
    qsort(us, count, sizeof(int64_t), compare);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t b = 0;
        while (b + 1 < BUCKETS && us[i] >= INT64_C(1000) << b) {
            b++;
        }
        bucket[b]++;
    }
    printf("\"%s\": {\"p50\": %.3f, \"p999\": %.3f, \"max\": %.3f, \"below\": {", name,
           (double)us[count / 2] / 1000, (double)us[count - count / 1000 - 1] / 1000,
           (double)us[count - 1] / 1000);
    for (uint32_t b = 0; b < BUCKETS; b++) {
        printf("%s\"%u\": %llu", b > 0 ? ", " : "", 1u << b, (unsigned long long)bucket[b]);
    }
    printf("}}, ");
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "latency_probe KEYS RATE SECONDS COMMAND...\n");
        return 2;
    }
    static struct probe p;
    p.keys = strtoull(argv[1], NULL, 10);
    p.rate = strtoull(argv[2], NULL, 10);
    p.probes = p.rate * strtoull(argv[3], NULL, 10);
    p.sent_us = calloc(p.probes + 1, sizeof(int64_t));
    p.waited_us = calloc(p.probes + 1, sizeof(int64_t));
    static struct echo e;
    start(&p, argv + 4);
    fill(&p);
    settle(&p);
    echo_start(&e, p.job);
    ask(&p);
    echo_stop(&e);
    int64_t beyond = echo_beyond(&e, &p), own = echo_own(&e, &p);
    printf("{");
    tell("rows", p.waited_us, p.probes);
    tell("bytes", e.waited_us, e.count);
    printf("\"beyond\": %.3f, \"own\": %.3f}\n", (double)beyond / 1000, (double)own / 1000);
    fflush(stdout);
    close(p.to);
    while (hear(&p) || waitpid(p.job, NULL, WNOHANG) == 0) {
        wait_a_little(&p, false);
    }
    return p.back == p.probes ? 0 : 1;
}
