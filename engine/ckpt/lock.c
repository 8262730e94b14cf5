#include "engine/ckpt/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/calendar.h"
#include "engine/base/error.h"
#include "engine/ckpt/durable.h"

#define LOCK_WORD_MAX 16u /* bytes of how a job ended */
#define LOCK_END      "\nended "

struct lock {
    const struct env *env;
    struct sr_file *file;
    char *path, *holder;
    struct sr_stat is; /* of the file */
    size_t signed_len; /* bytes before the beat */
    uint64_t beats;
    char before[LOCK_WORD_MAX];
};

/* --- Looking ---------------------------------------------------------------------------------- */

static sr_rc lock_read(const struct env *env, struct sr_file *f, struct lock_sight *out,
                       struct sr_error *err)
{
    struct sr_stat is;
    size_t got = 0;
    *out = (struct lock_sight){.inode = 0};
    sr_rc rc = env->files->stat_file(f, &is, err);
    if (rc == SR_OK) {
        rc = env->files->read(f, out->text, LOCK_TEXT_MAX, 0, &got, err);
    }
    if (rc == SR_OK) {
        out->text[got] = '\0';
        out->device = is.device;
        out->inode = is.inode;
    }
    return rc;
}

sr_rc lock_look(const struct env *env, const char *path, struct lock_sight *out,
                struct sr_error *err)
{
    struct sr_file *f = NULL;
    *out = (struct lock_sight){.inode = 0};
    sr_rc rc = env->files->open(env->files, path, SR_FILE_READ, &f, err);
    if (rc == SR_EABSENT) {
        return SR_OK;
    }
    if (rc == SR_OK) {
        rc = lock_read(env, f, out, err);
        (void)env->files->close(f, NULL); /* only read */
    }
    return rc;
}

bool lock_is_same(const struct lock_sight *a, const struct lock_sight *b)
{
    return a->inode == b->inode && a->device == b->device && strcmp(a->text, b->text) == 0;
}

static sr_rc lock_busy(const struct lock *l, const char *job_name, struct sr_error *err)
{
    struct lock_sight sight;
    if (lock_read(l->env, l->file, &sight, NULL) != SR_OK) {
        sight.text[0] = '\0';
    }
    for (char *c = sight.text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '\0'; /* one line of plain text, whatever lies there */
            break;
        }
    }
    return error_set(err, SR_EBUSY, "job '%s' is already running: %s holds %s", job_name,
                     sight.text[0] != '\0' ? sight.text : "another process", l->path);
}

/* The path must name the file that was locked: else a third process could lock another one. */
static sr_rc lock_check(const struct lock *l, struct sr_error *err)
{
    const struct sr_files *fs = l->env->files;
    struct sr_stat named;
    sr_rc rc = fs->stat(fs, l->path, &named, err);
    if (rc == SR_EABSENT ||
        (rc == SR_OK && (l->is.inode != named.inode || l->is.device != named.device))) {
        return error_set(err, SR_EBUSY, "the lock file %s was replaced by another process",
                         l->path);
    }
    return rc;
}

/* --- Taking ----------------------------------------------------------------------------------- */

static void lock_remember_end(struct lock *l, const char *text)
{
    const char *at = strstr(text, LOCK_END);
    size_t len = at ? strcspn(at + strlen(LOCK_END), "\n") : 0;
    if (at && len < LOCK_WORD_MAX) {
        memcpy(l->before, at + strlen(LOCK_END), len);
    }
}

/* Best effort: of use to people, and to those who wait. */
static void lock_write(struct lock *l, const char *word)
{
    char since[25];
    char text[LOCK_TEXT_MAX];
    civil_iso_ms(l->env->wall_us(l->env), since);
    int len = snprintf(text, sizeof(text), "pid %ld since %s\n%s%s", (long)getpid(), since,
                       l->holder, *l->holder ? "\n" : "");
    if (len < 0 || (size_t)len >= sizeof(text) / 2) {
        len = 0; /* a name that is too long */
    }
    l->signed_len = (size_t)len;
    len += snprintf(text + len, sizeof(text) - (size_t)len, "beat %020" PRIu64 "%s%s\n", l->beats,
                    *word ? LOCK_END : "", word);
    if (len > 0 && l->env->files->truncate(l->file, 0, NULL) == SR_OK) {
        (void)l->env->files->write(l->file, text, (size_t)len, 0, NULL);
    }
}

static sr_rc lock_open(struct lock **out, const struct env *env, const char *path,
                       const char *holder, struct sr_error *err)
{
    struct lock *l = calloc(1, sizeof(*l));
    if (l) {
        l->path = strdup(path);
        l->holder = strdup(holder ? holder : "");
        l->env = env;
    }
    if (!l || !l->path || !l->holder) {
        lock_release(l);
        return error_set(err, SR_ENOMEM, "lock %s: out of memory", path);
    }
    sr_rc rc = env->files->open(env->files, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_PRIVATE,
                                &l->file, err);
    if (rc == SR_OK) {
        rc = env->files->stat_file(l->file, &l->is, err);
    }
    if (rc != SR_OK) {
        lock_release(l);
        return rc;
    }
    *out = l;
    return SR_OK;
}

sr_rc lock_take(struct lock **out, const struct env *env, const struct lock_conf *conf,
                struct sr_error *err)
{
    struct lock *l = NULL;
    sr_rc rc = lock_open(&l, env, conf->path, conf->holder, err);
    if (rc != SR_OK) {
        return rc;
    }
#ifndef MUTANT_UNLOCKED /* two processes run one job */
    rc = env->files->lock(l->file, err);
#endif
    if (rc == SR_EBUSY) {
        rc = lock_busy(l, conf->job_name, err);
    }
    if (rc == SR_OK) {
        rc = lock_check(l, err);
    }
    if (rc != SR_OK) {
        lock_release(l);
        return rc;
    }
    struct lock_sight sight;
    if (lock_read(l->env, l->file, &sight, NULL) == SR_OK) {
        lock_remember_end(l, sight.text);
    }
    lock_write(l, l->before); /* as long as nothing begins */
    *out = l;
    return SR_OK;
}

/* With nobody else seizing: a locked file in the place of the one that was seen. */
static sr_rc lock_replace(struct lock **out, const struct env *env, const struct lock_conf *conf,
                          const struct lock_sight *seen, struct sr_error *err)
{
    const char *path = conf->path;
    struct lock_sight now;
    struct lock *l = NULL;
    char name[4096];
    int len = snprintf(name, sizeof(name), "%s.new", path);
    if (len < 0 || (size_t)len >= sizeof(name)) {
        return error_set(err, SR_ELIMIT, "seize %s: its path is too long", path);
    }
    sr_rc rc = durable_remove(env, name, err); /* what a crash left */
    if (rc == SR_OK) {
        rc = lock_open(&l, env, name, conf->holder, err);
    }
    if (rc == SR_OK) {
        rc = env->files->lock(l->file, err);
    }
    if (rc == SR_OK) {
        rc = lock_look(env, path, &now, err);
    }
    if (rc == SR_OK && !lock_is_same(&now, seen)) {
        rc = error_set(err, SR_EBUSY, "the holder of %s has moved", path);
    }
    if (rc == SR_OK) {
        lock_remember_end(l, now.text);
        lock_write(l, l->before);
        rc = env->files->rename(env->files, name, path, true, err);
    }
    if (rc != SR_OK) {
        lock_release(l);
        return rc;
    }
    l->path[strlen(path)] = '\0'; /* its name from now on */
    *out = l;
    return SR_OK;
}

sr_rc lock_seize(struct lock **out, const struct env *env, const struct lock_conf *conf,
                 const struct lock_sight *seen, struct sr_error *err)
{
    sr_rc rc = lock_take(out, env, conf, err);
    if (rc != SR_EBUSY) {
        return rc; /* its holder has gone after all */
    }
    struct lock *turn = NULL;
    char name[4096];
    int len = snprintf(name, sizeof(name), "%s.seize", conf->path);
    if (len < 0 || (size_t)len >= sizeof(name)) {
        return error_set(err, SR_ELIMIT, "seize %s: its path is too long", conf->path);
    }
    const struct lock_conf turn_conf = {.path = name, .job_name = conf->job_name};
    rc = lock_take(&turn, env, &turn_conf, err);
    if (rc == SR_OK) {
        rc = lock_replace(out, env, conf, seen, err);
    }
    lock_release(turn);
    return rc;
}

void lock_release(struct lock *l)
{
    if (!l) {
        return;
    }
    (void)l->env->files->close(l->file, NULL); /* the lock goes with the description */
    free(l->path);
    free(l->holder);
    free(l);
}

/* --- Holding ---------------------------------------------------------------------------------- */

sr_rc lock_beat(struct lock *l, struct sr_error *err)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "beat %020" PRIu64, ++l->beats);
    sr_rc rc = lock_check(l, err);
    if (rc == SR_EBUSY) {
        return error_set(err, SR_EFENCED, "another process has taken over: it has seized %s",
                         l->path);
    }
    return rc == SR_OK ? l->env->files->write(l->file, text, (size_t)len, l->signed_len, err) : rc;
}

void lock_say_end(struct lock *l, const char *word) { lock_write(l, word); }

const char *lock_end_before(const struct lock *l) { return l->before; }
