#include "test/kit/faulty.h"

#include <string.h>

/* Operations on an open file have no context, so this is one for the process of a test. */
static struct {
    struct sr_files files;
    const struct sr_files *real;
    int64_t left; /* operations before one fails; below 0: none does */
    bool is_crash, has_failed;
} faulty;

static bool faulty_strikes(struct sr_error *err)
{
    if (faulty.left < 0) {
        return false;
    }
    if (faulty.left > 0) {
        faulty.left--;
        return false;
    }
    if (!faulty.is_crash) {
        faulty.left = -1;
    }
    faulty.has_failed = true;
    if (err) {
        err->rc = SR_EIO;
        strcpy(err->words, "a fault was asked for");
    }
    return true;
}

#define FAULTY(name, ...) return faulty_strikes(err) ? SR_EIO : faulty.real->name(__VA_ARGS__)

static sr_rc faulty_open(const struct sr_files *fs, const char *path, uint32_t flags,
                         struct sr_file **out, struct sr_error *err)
{
    (void)fs;
    FAULTY(open, faulty.real, path, flags, out, err);
}

static sr_rc faulty_read(struct sr_file *f, void *buf, size_t len, uint64_t at, size_t *got,
                         struct sr_error *err)
{
    FAULTY(read, f, buf, len, at, got, err);
}

static sr_rc faulty_write(struct sr_file *f, const void *buf, size_t len, uint64_t at,
                          struct sr_error *err)
{
    if (faulty.left == 0) { /* half of it gets there */
        struct sr_error ignored;
        (void)faulty.real->write(f, buf, len / 2, at, &ignored);
    }
    FAULTY(write, f, buf, len, at, err);
}

static sr_rc faulty_truncate(struct sr_file *f, uint64_t size, struct sr_error *err)
{
    FAULTY(truncate, f, size, err);
}

static sr_rc faulty_sync(struct sr_file *f, struct sr_error *err) { FAULTY(sync, f, err); }

static sr_rc faulty_stat_file(struct sr_file *f, struct sr_stat *out, struct sr_error *err)
{
    FAULTY(stat_file, f, out, err);
}

static sr_rc faulty_stat(const struct sr_files *fs, const char *path, struct sr_stat *out,
                         struct sr_error *err)
{
    (void)fs;
    FAULTY(stat, faulty.real, path, out, err);
}

static sr_rc faulty_list(const struct sr_files *fs, const char *dir, char ***names,
                         struct sr_error *err)
{
    (void)fs;
    FAULTY(list, faulty.real, dir, names, err);
}

static sr_rc faulty_make_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    FAULTY(make_dir, faulty.real, path, err);
}

static sr_rc faulty_sync_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    FAULTY(sync_dir, faulty.real, path, err);
}

static sr_rc faulty_rename(const struct sr_files *fs, const char *from, const char *to,
                           bool may_replace, struct sr_error *err)
{
    (void)fs;
    FAULTY(rename, faulty.real, from, to, may_replace, err);
}

static sr_rc faulty_remove(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    FAULTY(remove, faulty.real, path, err);
}

static sr_rc faulty_follow(const struct sr_files *fs, const char *path, char **out,
                           struct sr_error *err)
{
    (void)fs;
    FAULTY(follow, faulty.real, path, out, err);
}

static sr_rc faulty_set_access(struct sr_file *f, uint32_t mode, uint32_t user, uint32_t group,
                               struct sr_error *err)
{
    FAULTY(set_access, f, mode, user, group, err);
}

void faulty_install(struct stage *s)
{
    if (s->host.files == &faulty.files) {
        return;
    }
    faulty.real = s->host.files;
    faulty.files = *s->host.files;
    faulty.files.open = faulty_open;
    faulty.files.read = faulty_read;
    faulty.files.write = faulty_write;
    faulty.files.truncate = faulty_truncate;
    faulty.files.sync = faulty_sync;
    faulty.files.stat_file = faulty_stat_file;
    faulty.files.stat = faulty_stat;
    faulty.files.list = faulty_list;
    faulty.files.make_dir = faulty_make_dir;
    faulty.files.sync_dir = faulty_sync_dir;
    faulty.files.rename = faulty_rename;
    faulty.files.remove = faulty_remove;
    faulty.files.follow = faulty_follow;
    faulty.files.set_access = faulty_set_access;
    faulty.left = -1;
    s->host.files = &faulty.files;
}

void faulty_fail(uint32_t n, bool is_crash)
{
    faulty.left = n;
    faulty.is_crash = is_crash;
    faulty.has_failed = false;
}

bool faulty_heal(void)
{
    faulty.left = -1;
    return faulty.has_failed;
}
