#include "connectors/filesystem/filesystem.h"

#include <stdlib.h>
#include <string.h>

char *fs_path_clean(const char *path)
{
    if (strncmp(path, "file:", 5) == 0) {
        path += 5;
    }
    char *out = malloc(strlen(path) + 2);
    if (!out) {
        return NULL;
    }
    size_t n = 0;
    for (const char *p = path; *p; p++) {
        if (*p != '/' || n == 0 || out[n - 1] != '/') {
            out[n++] = *p;
        }
    }
    while (n > 1 && out[n - 1] == '/') {
        n--;
    }
    out[n] = 0;
    return out;
}

char *fs_path_join(const char *dir, const char *name)
{
    size_t d = strlen(dir), n = strlen(name);
    char *out = malloc(d + n + 2);
    if (!out) {
        return NULL;
    }
    memcpy(out, dir, d);
    if (d > 0 && dir[d - 1] != '/') {
        out[d++] = '/';
    }
    memcpy(out + d, name, n);
    out[d + n] = 0;
    return out;
}

const char *fs_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *fs_path_parent(const char *path)
{
    const char *name = fs_path_name(path);
    size_t len = (size_t)(name - path);
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    return len == 0 ? strdup("/") : strndup(path, len);
}

/* One directory, whose parent is there. */
static sr_rc fs_path_make_one(const struct sr_host *host, const char *path, struct sr_error *err)
{
    const struct sr_files *files = host->files;
    struct sr_stat stat;
    sr_rc rc = files->stat(files, path, &stat, err);
    if (rc == SR_OK && stat.kind != SR_FILE_DIRECTORY) {
        return host->fail(host, err, SR_ECONFIG,
                          "%s is no directory: path is a directory of part files, unless its name "
                          "has an extension, as in out.csv",
                          path);
    }
    if (rc != SR_EABSENT) {
        return rc;
    }
    rc = files->make_dir(files, path, err);
    if (rc != SR_OK) {
        return rc == SR_EEXISTS ? SR_OK : rc; /* another subtask made it */
    }
    char *above = fs_path_parent(path);
    rc = above ? files->sync_dir(files, above, err)
               : host->fail(host, err, SR_ENOMEM, "out of memory");
    free(above);
    if (rc != SR_OK) { /* or it would be there the next time, with a name that is not durable */
        struct sr_error ignored;
        (void)files->remove_dir(files, path, &ignored);
    }
    return rc;
}

sr_rc fs_path_make(const struct sr_host *host, const char *dir, struct sr_error *err)
{
    char *path = strdup(dir);
    if (!path) {
        return host->fail(host, err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = SR_OK;
    for (char *slash = strchr(path + 1, '/'); rc == SR_OK && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        rc = fs_path_make_one(host, path, err);
        *slash = '/';
    }
    free(path);
    return rc == SR_OK ? fs_path_make_one(host, dir, err) : rc;
}
