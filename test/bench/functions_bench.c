/* Every function once: functions_bench FILE [WORD...]
 *
 * For each line of FILE (functions.txt) that has one of the words, all without:
 * nanoseconds a row, the expression; between a tab. Rows that fail count as rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/bench/expr_columns.h"

#define BATCHES   4u /* of the columns: what is slow is slow in few rows, too */
#define TURNS     5u
#define TURN_S    0.004
#define TEXT_ROOM 400

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One batch; rows behind the first hundred that fail are taken by further runs. */
static void run_batch(struct columns_world *w, struct program *p, const struct sr_view *v)
{
    static struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    struct sr_column *col = NULL;
    struct program_result r = {.col = &col, .bad = bad};
    struct sr_error err = {0};
    for (uint32_t from = 0; from < v->picked; from += r.used) {
        if (program_run(p, w->home, v, from, &r, &err) != SR_OK) {
            (void)fprintf(stderr, "%s\n", err.words);
            exit(1);
        }
        column_release(col);
    }
}

static double turn(struct columns_world *w, struct program *p, uint32_t times)
{
    double from = now();
    for (uint32_t i = 0; i < times; i++) {
        run_batch(w, p, w->view[i % BATCHES]);
    }
    return now() - from;
}

static void measure(struct columns_world *w, const char *text)
{
    struct program *p = columns_program(w, NULL, columns_expr(w, text));
    uint32_t times = BATCHES;
    (void)turn(w, p, times);
    while (turn(w, p, times) < TURN_S) {
        times *= 2;
    }
    double best = 1e9;
    for (uint32_t i = 0; i < TURNS; i++) {
        double used = turn(w, p, times);
        best = used < best ? used : best;
    }
    printf("%.2f\t%s\n", best * 1e9 / ((double)times * SR_BATCH_ROWS), text);
    (void)fflush(stdout);
    program_free(p);
}

int main(int argc, char **argv)
{
    static struct columns_world w;
    char text[TEXT_ROOM];
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f) {
        (void)fprintf(stderr, "functions_bench FILE [WORD...]\n");
        return 2;
    }
    columns_open(&w, false);
    while (fgets(text, sizeof(text), f)) {
        text[strcspn(text, "\n")] = '\0';
        bool is_wanted = argc == 2;
        for (int i = 2; i < argc; i++) {
            is_wanted = is_wanted || strstr(text, argv[i]);
        }
        if (*text && *text != '#' && is_wanted) {
            measure(&w, text);
        }
    }
    (void)fclose(f);
    columns_close(&w);
    return 0;
}
