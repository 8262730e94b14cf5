/* How long rows wait in a job that holds much state: feeds rows "key,number" to its standard input,
 * reads the counts that come back, and tells the time between.
 *
 *   latency_probe KEYS RATE SECONDS COMMAND...
 *
 * First every key once, as fast as the job takes them; then RATE rows a second of random keys, each
 * with a number that comes back in the row that it changes. Prints one line of JSON: rows, and
 * median, 99.9 % and maximum of their times in milliseconds; then lets the job end. */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

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

static void ask(struct probe *p)
{
    uint64_t random = 88172645463325252u;
    int64_t begin = now_us();
    while (p->back < p->probes) {
        int64_t now = now_us();
        uint64_t due = (uint64_t)(now - begin) * p->rate / 1000000;
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

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
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
    start(&p, argv + 4);
    fill(&p);
    ask(&p);
    qsort(p.waited_us, p.probes, sizeof(int64_t), compare);
    printf("{\"rows\": %llu, \"p50\": %.3f, \"p999\": %.3f, \"max\": %.3f}\n",
           (unsigned long long)p.back, (double)p.waited_us[p.probes / 2] / 1000,
           (double)p.waited_us[p.probes - p.probes / 1000 - 1] / 1000,
           (double)p.waited_us[p.probes - 1] / 1000);
    fflush(stdout);
    close(p.to);
    while (hear(&p) || waitpid(p.job, NULL, WNOHANG) == 0) {
        wait_a_little(&p, false);
    }
    return p.back == p.probes ? 0 : 1;
}
