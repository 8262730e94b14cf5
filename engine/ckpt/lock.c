#include "engine/ckpt/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/calendar.h"
#include "engine/base/error.h"

#define LOCK_TEXT_MAX 120u

struct lock {
    const struct env *env;
    struct sr_file *file;
};

static sr_rc lock_busy(const struct lock *l, const char *path, const char *job_name,
                       struct sr_error *err)
{
    char text[LOCK_TEXT_MAX + 1] = "";
    size_t got = 0;
    if (l->env->files->read(l->file, text, LOCK_TEXT_MAX, 0, &got, NULL) != SR_OK) {
        got = 0;
    }
    text[got] = '\0';
    for (char *c = text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '\0'; /* one line of plain text, whatever lies there */
            break;
        }
    }
    return error_set(err, SR_EBUSY, "job '%s' is already running: %s holds %s", job_name,
                     text[0] != '\0' ? text : "another process", path);
}

/* The path must still name the file that was locked: else somebody has removed it in between, and a
 * third process could lock the new one. */
static sr_rc lock_check(const struct lock *l, const char *path, struct sr_error *err)
{
    const struct sr_files *fs = l->env->files;
    struct sr_stat mine;
    struct sr_stat named;
    sr_rc rc = fs->stat_file(l->file, &mine, err);
    if (rc == SR_OK) {
        rc = fs->stat(fs, path, &named, err);
    }
    if (rc == SR_EABSENT ||
        (rc == SR_OK && (mine.inode != named.inode || mine.device != named.device))) {
        return error_set(err, SR_EBUSY, "the lock file %s was replaced while it was taken", path);
    }
    return rc;
}

/* Best effort: of use to people only. */
static void lock_sign(const struct lock *l)
{
    char since[25];
    char text[LOCK_TEXT_MAX];
    civil_iso_ms(l->env->wall_us(l->env), since);
    int len = snprintf(text, sizeof(text), "pid %ld since %s\n", (long)getpid(), since);
    if (len > 0 && l->env->files->truncate(l->file, 0, NULL) == SR_OK) {
        (void)l->env->files->write(l->file, text, (size_t)len, 0, NULL);
    }
}

sr_rc lock_take(struct lock **out, const struct env *env, const char *path, const char *job_name,
                struct sr_error *err)
{
    struct lock *l = calloc(1, sizeof(*l));
    if (!l) {
        return error_set(err, SR_ENOMEM, "lock %s: out of memory", path);
    }
    l->env = env;
    sr_rc rc = env->files->open(env->files, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_PRIVATE,
                                &l->file, err);
    if (rc == SR_OK) {
        rc = env->files->lock(l->file, err);
        if (rc == SR_EBUSY) {
            rc = lock_busy(l, path, job_name, err);
        }
    }
    if (rc == SR_OK) {
        rc = lock_check(l, path, err);
    }
    if (rc != SR_OK) {
        lock_release(l);
        return rc;
    }
    lock_sign(l);
    *out = l;
    return SR_OK;
}

void lock_release(struct lock *l)
{
    if (!l) {
        return;
    }
    (void)l->env->files->close(l->file, NULL); /* the lock goes with the description */
    free(l);
}
