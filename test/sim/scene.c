#include "test/sim/scene.h"

#include <stdarg.h>

static uint64_t scene_mix(uint64_t a, uint64_t b)
{
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0xbf58476d1ce4e5b9));
    h ^= h >> 31;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 29;
}

/* The n-th decision of a seed: adding one at the end leaves the others as they are. */
static uint32_t scene_draw(uint64_t seed, uint32_t n, uint32_t below)
{
    return (uint32_t)(scene_mix(scene_mix(seed, 77), n) >> 20) % below;
}

static enum scene_sink scene_draw_sink(uint64_t seed, enum scene_shape shape)
{
    static const enum scene_sink any[] = {SCENE_PARTS,  SCENE_PARTS,  SCENE_FILE,  SCENE_SQLITE,
                                          SCENE_SQLITE, SCENE_REMOTE, SCENE_STAGED};
    static const enum scene_sink changing[] = {SCENE_SQLITE, SCENE_REMOTE};
    return shape == SCENE_COUNTS ? changing[scene_draw(seed, 2, 2)] : any[scene_draw(seed, 2, 7)];
}

static void scene_draw_faults(struct scene *s)
{
    uint64_t seed = s->seed;
    s->loses_power = scene_draw(seed, 20, 3) > 0;
    s->forgets_rows = scene_draw(seed, 50, 2) == 0;
    s->sets_clock = scene_draw(seed, 48, s->is_proctime ? 2 : 6) == 0;
    s->is_rotting = scene_draw(seed, 26, 2) == 0;
    s->disk_ppm = scene_draw(seed, 21, 4) == 0 ? 500 : 0;
    s->space_ppm = scene_draw(seed, 22, 6) == 0 ? 1000 : 0;
    s->sync_ppm = scene_draw(seed, 23, 4) == 0 ? 2000 : 0;
    s->source_ppm = scene_draw(seed, 24, 3) == 0 ? 10000 : 0;
    s->remote_ppm = scene_draw(seed, 25, 2) == 0 ? 200000 : 0;
}

struct scene scene_of(uint64_t seed)
{
    struct scene s = {.seed = seed};
    s.shape = (enum scene_shape)scene_draw(seed, 1, 3);
    s.sink = scene_draw_sink(seed, s.shape);
    s.source = scene_draw(seed, 3, 4) == 0 ? SCENE_FROM_FILES : SCENE_FROM_SIM;
    s.has_sqlite_store = scene_draw(seed, 4, 2) == 0;
    s.is_proctime = s.shape == SCENE_WINDOWS && scene_draw(seed, 41, 6) == 0;
    s.has_late_rows = s.shape == SCENE_WINDOWS && !s.is_proctime && scene_draw(seed, 5, 2) == 0;
    s.has_bad_rows = !s.has_late_rows && !s.is_proctime && scene_draw(seed, 16, 2) == 0;
    s.splits = s.has_late_rows ? 1 : 1 + scene_draw(seed, 6, 5);
    s.rows = 20 + scene_draw(seed, 7, 400);
    s.keys = 1 + scene_draw(seed, 8, 40);
    s.disorder_ms = 1 + scene_draw(seed, 9, 3000);
    s.delay_ms = s.has_late_rows ? s.disorder_ms / 3 : s.disorder_ms;
    s.interval_ms = 10 + scene_draw(seed, 10, 60);
    s.retained = scene_draw(seed, 11, 3) < 2 ? 1 : 2;
    s.tolerable = scene_draw(seed, 12, 3);
    s.lives = scene_draw(seed, 13, 7);
    s.sinks = s.sink == SCENE_FILE || (s.shape == SCENE_COUNTS && s.sink == SCENE_REMOTE)
                  ? 0
                  : scene_draw(seed, 15, 4);
    s.knows_late = s.has_late_rows && scene_draw(seed, 14, 2) == 0;
    bool is_exact = s.shape == SCENE_WINDOWS && !s.is_proctime && s.has_late_rows == s.knows_late;
    s.slides = is_exact ? 1u << scene_draw(seed, 40, 3) : 1;
    s.is_longer = s.slides > 1 && scene_draw(seed, 42, 3) == 0;
    for (uint32_t i = 0; i < 8; i++) {
        s.parallelism[i] = s.knows_late ? 1 : 1 + scene_draw(seed, 30 + i, 3);
    }
    s.concurrent = scene_draw(seed, 43, 3) == 0 ? 2 + scene_draw(seed, 44, 3) : 1;
    if (!s.has_late_rows && scene_draw(seed, 45, 4) == 0) {
        s.quiet_ms = 20 + scene_draw(seed, 46, 2000);
    }
    scene_draw_faults(&s);
    if (s.shape != SCENE_COUNTS && scene_draw(seed, 49, 4) == 0) s.sink = SCENE_LEDGER;
    s.begins_from_savepoint = scene_draw(seed, 51, 2) == 0;
    s.owns_savepoint = scene_draw(seed, 52, 2) == 0;
    s.deletes_at_end = s.begins_from_savepoint && scene_draw(seed, 53, 2) == 0;
    s.has_twin = !s.has_bad_rows && scene_draw(seed, 47, 3) == 0;
    s.twin_sink = s.sink == SCENE_PARTS || s.sink == SCENE_FILE || s.shape == SCENE_COUNTS
                      ? SCENE_SQLITE
                      : SCENE_PARTS;
    if (s.has_twin && s.source_ppm == 0) s.source_ppm = 5000;
    return s;
}

static const char *const scene_shapes[] = {"rows", "counts", "windows"};
static const char *const scene_sinks[] = {"parts", "file", "sqlite", "remote", "staged", "ledger"};

void scene_print(const struct scene *s, FILE *to)
{
    fprintf(
        to,
        "seed %llu: %s%s from %s to %s, store %s, %u splits of %u rows, %u keys, disorder %u ms, "
        "delay %u ms%s%s%s%s, interval %u ms, %u at once, retained %u, tolerable %u, %u lives, "
        "parallelism",
        (unsigned long long)s->seed,
        s->is_proctime  ? "proctime "
        : s->is_longer  ? "cumulating "
        : s->slides > 1 ? "hopping "
                        : "",
        scene_shapes[s->shape], s->source == SCENE_FROM_FILES ? "files" : "sim",
        scene_sinks[s->sink], s->has_sqlite_store ? "sqlite" : "directory", s->splits, s->rows,
        s->keys, s->disorder_ms, s->delay_ms,
        s->knows_late      ? " (known late rows)"
        : s->has_late_rows ? " (late rows)"
                           : "",
        s->has_bad_rows ? " (bad rows)" : "", s->has_twin ? ", twin to " : "",
        s->has_twin ? scene_sinks[s->twin_sink] : "", s->interval_ms, s->concurrent, s->retained,
        s->tolerable, s->lives);
    for (uint32_t i = 0; i <= s->lives; i++) {
        fprintf(to, " %u", s->parallelism[i]);
    }
    fprintf(to,
            ", quiet %u ms, sinks %u, faults ppm: disk %u space %u sync %u source %u remote "
            "%u%s%s\n",
            s->quiet_ms, s->sinks, s->disk_ppm, s->space_ppm, s->sync_ppm, s->source_ppm,
            s->remote_ppm, s->loses_power ? ", power" : "",
            s->sets_clock ? ", sets the clock" : "");
}

struct scene_row scene_row(const struct scene *s, uint32_t split, uint32_t i)
{
    uint64_t h = scene_mix(scene_mix(s->seed, split + 1000), i);
    int64_t at = (int64_t)i * 40 + 5000 - (int64_t)(h % s->disorder_ms);
    return (struct scene_row){.split = split,
                              .seq = i,
                              .at_ms = at,
                              .k = (int64_t)(h >> 20) % s->keys,
                              .v = (int64_t)(h >> 40) % 1000 - 300};
}

bool scene_is_bad(const struct scene *s, const struct scene_row *r)
{
    return s->has_bad_rows && r->v % 10 == 0;
}

/* In front of row i: the watermark that the rows of its split before it have made. */
static int64_t scene_watermark(const struct scene *s, uint32_t split, uint32_t i)
{
    int64_t watermark = INT64_MIN;
    for (uint32_t before = 0; before < i; before++) {
        int64_t mark = scene_row(s, split, before).at_ms - s->delay_ms;
        watermark = mark > watermark ? mark : watermark;
    }
    return watermark;
}

static int64_t scene_floor(int64_t ms, int64_t to)
{
    int64_t rest = ms % to;
    return ms - rest - (rest < 0 ? to : 0);
}

int64_t scene_window(const struct scene *s, uint32_t split, uint32_t i, uint32_t n)
{
    int64_t slide = SCENE_WINDOW_MS / s->slides, at = scene_row(s, split, i).at_ms;
    int64_t end = scene_floor(at, slide) + slide * (n + 1);
    bool is_too_long = s->is_longer && end > scene_floor(at, SCENE_WINDOW_MS) + SCENE_WINDOW_MS;
    bool is_late = s->knows_late && scene_watermark(s, split, i) >= end - 1;
    return is_too_long || is_late ? INT64_MIN : end;
}

bool scene_is_late(const struct scene *s, uint32_t split, uint32_t i)
{
    for (uint32_t n = 0; n < s->slides; n++) {
        if (scene_window(s, split, i, n) != INT64_MIN) {
            return false;
        }
    }
    return true;
}

/* --- The job file ----------------------------------------------------------------------------- */

struct scene_text {
    char *out;
    size_t size, len;
};

static void scene_add(struct scene_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->out + t->len, t->size - t->len, fmt, args);
    va_end(args);
    t->len += (size_t)n;
}

static void scene_add_watermark(const struct scene *s, struct scene_text *t)
{
    if (s->shape == SCENE_WINDOWS) {
        scene_add(t, "    watermark: ts AS ts - INTERVAL '%u.%03u' SECOND(3)\n", s->delay_ms / 1000,
                  s->delay_ms % 1000);
    }
}

static void scene_add_source(const struct scene *s, const char *name, struct scene_text *t)
{
    scene_add(t, "  %s:\n", name);
    if (s->source == SCENE_FROM_FILES) {
        scene_add(t, "    connector: filesystem\n    path: /in\n    format: csv\n");
    } else {
        scene_add(t, "    connector: sim\n");
    }
    scene_add(t,
              "    schema: {split: INT, seq: INT, k: INT, v: INT, at: BIGINT, "
              "ts: TIMESTAMP(3)%s}\n",
              s->is_proctime ? ", now: AS PROCTIME()" : "");
    scene_add_watermark(s, t);
}

static void scene_add_quiet(const struct scene *s, struct scene_text *t)
{
    scene_add(
        t,
        "  quiet:\n    connector: sim\n    quiet: true\n    schema: {split: INT, seq: INT, k: "
        "INT, v: INT, at: BIGINT, ts: TIMESTAMP(3)%s}\n",
        s->is_proctime ? ", now: AS PROCTIME()" : "");
    scene_add_watermark(s, t);
    if (s->shape == SCENE_WINDOWS) {
        scene_add(t, "    scan.watermark.idle-timeout: 10 ms\n");
    }
}

/* Rows whose v is a multiple of 10 cannot be computed; for all others it is true. */
#define SCENE_BAD "10 / MOD(v, 10) > -100"

static const char *scene_where(const struct scene *s)
{
    if (s->shape == SCENE_ROWS) {
        return s->has_bad_rows ? "    where: v <> 7 AND " SCENE_BAD "\n" : "    where: v <> 7\n";
    }
    return s->has_bad_rows ? "    where: " SCENE_BAD "\n" : "";
}

static void scene_add_window(const struct scene *s, struct scene_text *t)
{
    const char *time = s->is_proctime ? "`now`" : "ts";
    if (s->slides == 1) {
        scene_add(t, "    window: \"TUMBLE(%s, INTERVAL '%s' SECOND)\"\n", time,
                  s->is_proctime ? "0.05" : "1");
    } else {
        scene_add(t, "    window: \"%s(ts, INTERVAL '0.%03u' SECOND, INTERVAL '1' SECOND)\"\n",
                  s->is_longer ? "CUMULATE" : "HOP", SCENE_WINDOW_MS / s->slides);
    }
}

static const char *scene_step(const struct scene *s)
{
    switch (s->shape) {
    case SCENE_ROWS:
        return "    select: [split, seq, k, v + 1 AS v1]\n";
    case SCENE_COUNTS:
        return "    group-by: [k]\n    select: [k, COUNT(*) AS n, SUM(v) AS s]\n";
    case SCENE_WINDOWS:
        return "    group-by: [k]\n    select: [k, "
               "COUNT(*) AS n, SUM(v) AS s, MIN(`at`) AS lo, MAX(`at`) AS hi]\n";
    }
    return "";
}

/* `out`: "out" or "twin", a directory and a table. */
static void scene_add_sink(const struct scene *s, enum scene_sink sink, const char *out,
                           struct scene_text *t)
{
    switch (sink) {
    case SCENE_PARTS:
        scene_add(t, "    connector: filesystem\n    path: /%s/\n    format: csv\n", out);
        break;
    case SCENE_FILE:
        scene_add(t, "    connector: filesystem\n    path: /%s/all.csv\n    format: csv\n", out);
        break;
    case SCENE_SQLITE:
        scene_add(t, "    connector: sqlite\n    path: /%s/out.db\n    table-name: out\n%s", out,
                  s->shape == SCENE_COUNTS ? "    primary-key: [k]\n" : "");
        break;
    case SCENE_REMOTE:
        scene_add(t, "    connector: remote\n");
        break;
    case SCENE_STAGED:
        scene_add(t, "    connector: staged\n");
        break;
    case SCENE_LEDGER:
        scene_add(t, "    connector: ledger\n");
        break;
    }
    scene_add(t, "    sink.delivery-guarantee: exactly-once\n");
    if (s->sinks > 0) {
        scene_add(t, "    parallelism: %u\n", s->sinks);
    }
}

static void scene_add_step(const struct scene *s, const char *name, const char *from,
                           struct scene_text *t)
{
    scene_add(t, "  %s:\n    from: %s\n%s%s%s", name, from, scene_where(s), scene_step(s),
              s->has_bad_rows ? "    on-error: dead-letter\n" : "");
    if (s->shape == SCENE_WINDOWS) {
        scene_add_window(s, t);
    }
}

void scene_job(const struct scene *s, uint32_t parallelism, char *out, size_t size)
{
    struct scene_text t = {.out = out, .size = size};
    scene_add(&t, "pipeline.name: sim\nparallelism.default: %u\n", parallelism);
    scene_add(
        &t,
        "execution.checkpointing:\n  interval: %u ms\n  num-retained: %u\n"
        "  tolerable-failed-checkpoints: %u\n  timeout: 2 s\n  max-concurrent-checkpoints: %u\n"
        "  dir: %s\n",
        s->interval_ms, s->retained, s->tolerable, s->concurrent,
        s->has_sqlite_store ? "sqlite:///ck/store.db" : "file:///ck/dir");
    scene_add(&t, "restart-strategy.type: fixed-delay\nrestart-strategy.fixed-delay:\n"
                  "  attempts: 1000\n  delay: 50 ms\n");
    scene_add(&t, "sources:\n");
    scene_add_source(s, "events", &t);
    if (s->quiet_ms > 0) {
        scene_add_quiet(s, &t);
    }
    if (s->has_twin) {
        scene_add_source(s, "events2", &t);
    }
    scene_add(&t, "transforms:\n");
    scene_add_step(s, "step", s->quiet_ms > 0 ? "[events, quiet]" : "events", &t);
    if (s->has_twin) {
        scene_add_step(s, "step2", "events2", &t);
    }
    if (s->has_bad_rows) {
        scene_add(&t, "dead-letter: {connector: filesystem, path: /dead/}\n");
    }
    scene_add(&t, "sinks:\n  out:\n    from: step\n");
    scene_add_sink(s, s->sink, "out", &t);
    if (s->has_twin) {
        scene_add(&t, "  out2:\n    from: step2\n");
        scene_add_sink(s, s->twin_sink, "twin", &t);
    }
}
