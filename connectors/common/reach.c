#include "connectors/common/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts the last name off. False: it is the root already. */
static bool reach_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || (slash == path && !path[1])) {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

static sr_rc reach_fail(const struct sr_ask *a, struct sr_error *err, const char *what,
                        const char *path)
{
    return a->host->fail(a->host, err, errno == ENOENT ? SR_EABSENT : SR_EACCESS, "%s %s: %s", path,
                         what, strerrordesc_np(errno));
}

static sr_rc reach_known(struct sr_ask *a, const char *dir, bool is_there, struct sr_error *err)
{
    uint64_t room = 0;
    struct sr_error ignored;
    if (access(dir, W_OK | X_OK) != 0) {
        return reach_fail(a, err, "cannot be written to", dir);
    }
    sr_rc rc = a->host->files->space(a->host->files, dir, &room, &ignored);
    const struct sr_fact fact[] = {
        {.name = "directory", .text = dir},
        {.name = "free_bytes", .number = rc == SR_OK ? (int64_t)room : SR_NO_NUMBER}};
    if (!is_there) {
        a->tell(a, SR_INFO, "below %s directories would be made", dir);
    }
    return a->row(a, fact, 2);
}

sr_rc reach_dir(struct sr_ask *a, const char *dir, struct sr_error *err)
{
    char *path = strdup(dir);
    if (!path) {
        return a->host->fail(a->host, err, SR_ENOMEM, "out of memory");
    }
    bool is_there = true;
    sr_rc rc = SR_EABSENT;
    struct sr_error ignored;
    struct sr_stat stat;
    while (rc == SR_EABSENT) {
        rc = a->host->files->stat(a->host->files, path, &stat, &ignored);
        if (rc == SR_EABSENT) {
            is_there = false;
            rc = reach_up(path) ? SR_EABSENT : SR_EIO;
        }
    }
    if (rc == SR_OK && stat.kind != SR_FILE_DIRECTORY) {
        rc = a->host->fail(a->host, err, SR_EACCESS, "%s is no directory", path);
    } else if (rc == SR_OK) {
        rc = reach_known(a, path, is_there, err);
    } else {
        rc = a->host->fail(a->host, err, rc, "%s cannot be looked at", path);
    }
    free(path);
    return rc;
}

sr_rc reach_file(struct sr_ask *a, const char *path, struct sr_error *err)
{
    char *dir = strdup(path);
    if (!dir) {
        return a->host->fail(a->host, err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = SR_OK;
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0) {
        rc = reach_fail(a, err, "cannot be written to", path);
    }
    (void)reach_up(dir); /* what is left of a path without a slash is a directory, too */
    rc = rc == SR_OK ? reach_dir(a, dir, err) : rc;
    free(dir);
    return rc;
}

sr_rc reach_input(struct sr_ask *a, const char *path, bool must, struct sr_error *err)
{
    char *fixed = strdup(path);
    if (!fixed) {
        return a->host->fail(a->host, err, SR_ENOMEM, "out of memory");
    }
    size_t len = strcspn(fixed, "*?[{");
    if (fixed[len]) {
        fixed[len] = '\0';
        (void)reach_up(fixed); /* to the directory that the pattern is looked for in */
    }
    sr_rc rc = SR_OK;
    if (access(fixed, R_OK) == 0) {
        const struct sr_fact fact = {.name = "path", .text = fixed};
        rc = a->row(a, &fact, 1);
    } else if (errno == ENOENT && !must) {
        a->tell(a, SR_WARN, "%s is not there yet", fixed);
    } else {
        rc = reach_fail(a, err, "cannot be read", fixed);
    }
    free(fixed);
    return rc;
}
