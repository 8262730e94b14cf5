#include "conf/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reader_fault(struct reader *rd, struct place at, const char *hint, const char *fmt, ...)
{
    char words[900];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    fault_add(rd->faults, FAULT_ERROR, at, hint, "%s", words);
}

const char *reader_shown(const struct entry *e, const struct node *n)
{
    if (e->is_secret || n->is_secret) {
        return PAGE_MASKED;
    }
    return n->has_variables ? n->written : n->text;
}

const char *reader_absolute(struct arena *a, const char *dir, const char *path)
{
    static const char *const schemes[] = {"file://", "sqlite://"};
    const char *scheme = "";

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strncmp(path, schemes[i], strlen(schemes[i])) == 0) {
            scheme = schemes[i];
            path += strlen(scheme);
        }
    }
    /* Another scheme is for whoever knows it. */
    bool is_foreign = !*scheme && strstr(path, "://");
    if (*path == '/' || !*path || is_foreign) {
        return arena_printf(a, "%s%s", scheme, path);
    }
    while (strncmp(path, "./", 2) == 0) {
        path += 2 + strspn(path + 2, "/");
    }
    return arena_printf(a, "%s%s/%s", scheme, strcmp(dir, "/") == 0 ? "" : dir, path);
}

sr_rc reader_load(const struct reader *rd, const char *path, char *buf, size_t size_max,
                  size_t *len, struct sr_error *err)
{
    const struct sr_files *fs = rd->in->env->files;
    struct sr_file *f = NULL;
    size_t got = 1;
    size_t n = 0;

    sr_rc rc = fs->open(fs, path, SR_FILE_READ, &f, err);
    while (rc == SR_OK && got > 0 && n <= size_max) {
        rc = fs->read(f, buf + n, size_max + 1 - n, n, &got, err);
        n += rc == SR_OK ? got : 0;
    }
    if (f) {
        (void)fs->close(f, NULL); /* read-only */
    }
    *len = n;
    return rc;
}
