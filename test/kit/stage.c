#include "test/kit/stage.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void stage_open(struct stage *s)
{
    memset(s, 0, sizeof(*s));
    s->arena = arena_new();
    const char *tmp = getenv("TMPDIR");
    if (!tmp || !tmp[0]) { /* memory, if there is any: tests sync a lot, and none needs it */
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    snprintf(s->dir, sizeof(s->dir), "%s/streamrun-test-XXXXXX", tmp);
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    s->env = env_posix(SR_LOG_ERROR);
    s->home = home_new();
    ck_assert_ptr_nonnull(s->home);
    host_init(&s->host, &s->ctx, &s->env, s->home, "test");
}

static int stage_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void stage_close(struct stage *s)
{
    (void)nftw(s->dir, stage_remove, 16, FTW_DEPTH | FTW_PHYS);
    home_close(s->home);
    arena_free(s->arena);
}

const char *stage_path(struct stage *s, const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    return arena_text(s->arena, path);
}

static void stage_put(struct stage *s, const char *name, const char *text, const char *how)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    for (char *slash = strchr(path + strlen(s->dir) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, how);
    ck_assert_msg(f != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), f), strlen(text));
    ck_assert_int_eq(fclose(f), 0);
}

void stage_write(struct stage *s, const char *name, const char *text)
{
    stage_put(s, name, text, "w");
}

void stage_append(struct stage *s, const char *name, const char *text)
{
    stage_put(s, name, text, "a");
}

const char *stage_read(struct stage *s, const char *name)
{
    FILE *f = fopen(stage_path(s, name), "r");
    if (!f) {
        return NULL;
    }
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = arena_get(s->arena, size + 1);
    ck_assert_uint_eq(fread(text, 1, size, f), size);
    text[size] = 0;
    fclose(f);
    return text;
}

bool stage_has(struct stage *s, const char *name) { return access(stage_path(s, name), F_OK) == 0; }

const char *stage_list(struct stage *s, const char *name)
{
    struct sr_error err = {0};
    char **names = NULL;
    const struct sr_files *files = s->env.files;
    if (files->list(files, stage_path(s, name), &names, &err) != SR_OK) {
        return "";
    }
    size_t size = 1;
    for (char **n = names; *n; n++) {
        size += strlen(*n) + 1;
    }
    char *out = arena_get(s->arena, size);
    out[0] = 0;
    for (char **n = names; *n; n++) {
        strcat(out, *n);
        strcat(out, "\n");
    }
    files->names_free(files, names);
    return out;
}

static int stage_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *stage_sort(struct stage *s, const char *lines)
{
    size_t size = strlen(lines), count = 0;
    char *copy = arena_text(s->arena, lines);
    char **line = arena_get(s->arena, (size / 1 + 1) * sizeof(*line));
    for (char *at = copy; *at;) {
        char *end = strchr(at, '\n');
        ck_assert_msg(end != NULL, "a line without its end: %s", at);
        *end = 0;
        line[count++] = at;
        at = end + 1;
    }
    qsort(line, count, sizeof(*line), stage_compare);
    char *out = arena_get(s->arena, size + 1), *to = out;
    for (size_t i = 0; i < count; i++) {
        to = stpcpy(stpcpy(to, line[i]), "\n");
    }
    *to = 0;
    return out;
}

const char *stage_lines(struct stage *s, const char *name)
{
    const char *names = stage_list(s, name);
    char all[65536] = "";
    for (const char *at = names; *at; at = strchr(at, '\n') + 1) {
        if (*at != '.') {
            char one[1024];
            snprintf(one, sizeof(one), "%s/%.*s", name, (int)strcspn(at, "\n"), at);
            const char *text = stage_read(s, one);
            ck_assert_ptr_nonnull(text);
            ck_assert_uint_lt(strlen(all) + strlen(text), sizeof(all));
            strcat(all, text);
        }
    }
    return stage_sort(s, all);
}

void stage_clear(struct stage *s, const char *name)
{
    (void)nftw(stage_path(s, name), stage_remove, 16, FTW_DEPTH | FTW_PHYS);
}

int64_t stage_counter(const struct stage *s, const char *name)
{
    for (uint32_t i = 0; i < s->ctx.counters; i++) {
        if (strcmp(s->ctx.counter[i].name, name) == 0) {
            return s->ctx.counter[i].value;
        }
    }
    return 0;
}
