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
