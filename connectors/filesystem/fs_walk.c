#include "connectors/filesystem/fs_walk.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_set.h"

/* A directory still to be looked at, and what of the pattern is left for the names in it. */
struct fs_todo {
    char *dir;
    const char *rest; /* into the pattern; NULL: everything below */
    uint32_t depth;
};

struct fs_walker {
    const struct sr_host *host;
    struct fs_todo *todo; /* a stack: the walk needs no recursion */
    uint32_t count, capacity;
    struct fs_set seen;  /* directories with their rest: a link back up ends here */
    struct fs_set files; /* paths in the list */
    struct fs_list *out;
    struct sr_error *err;
};

bool fs_walk_is_pattern(const char *path) { return strpbrk(path, "*?[{") != NULL; }

void fs_list_done(struct fs_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->item[i].path);
    }
    free(l->nowhere_first);
    free(l->item);
    *l = (struct fs_list){0};
}

static sr_rc fs_walk_no_memory(struct fs_walker *w)
{
    return w->host->fail(w->host, w->err, SR_ENOMEM, "out of memory while listing files");
}

/* Takes `path`. */
static sr_rc fs_walk_add_file(struct fs_walker *w, char *path, const struct sr_stat *stat)
{
    bool is_new = false;
    if (fs_set_add(&w->files, path, &is_new) != SR_OK) {
        free(path);
        return fs_walk_no_memory(w);
    }
    if (!is_new) {
        free(path);
        return SR_OK;
    }
    struct fs_list *l = w->out;
    if (l->count >= FS_FILES_MAX) {
        free(path);
        return w->host->fail(w->host, w->err, SR_ELIMIT, "more than %u files", FS_FILES_MAX);
    }
    void *item = list_room(l->item, l->count, &l->capacity, sizeof(*l->item));
    if (!item) {
        free(path);
        return fs_walk_no_memory(w);
    }
    l->item = item;
    l->item[l->count++] = (struct fs_found){path, *stat};
    return SR_OK;
}

/* Takes `dir`. A directory that was met before with the same rest is not looked at again. */
static sr_rc fs_walk_add_dir(struct fs_walker *w, char *dir, const char *rest, uint32_t depth,
                             const struct sr_stat *stat)
{
    char key[96];
    (void)snprintf(key, sizeof(key), "%llx:%llx:%zu", (unsigned long long)stat->device,
                   (unsigned long long)stat->inode, rest ? strlen(rest) + 1 : 0);
    bool is_new = false;
    if (fs_set_add(&w->seen, key, &is_new) != SR_OK) {
        free(dir);
        return fs_walk_no_memory(w);
    }
    if (!is_new) {
        free(dir);
        return SR_OK;
    }
    if (depth > FS_DEPTH_MAX) {
        sr_rc rc = w->host->fail(w->host, w->err, SR_ELIMIT, "directories more than %u deep: %s",
                                 FS_DEPTH_MAX, dir);
        free(dir);
        return rc;
    }
    void *todo = list_room(w->todo, w->count, &w->capacity, sizeof(*w->todo));
    if (!todo) {
        free(dir);
        return fs_walk_no_memory(w);
    }
    w->todo = todo;
    w->todo[w->count++] = (struct fs_todo){dir, rest, depth};
    return SR_OK;
}

/* Does `name` match the pattern's first component, of `len` bytes? NULL: any name that is shown. */
static sr_rc fs_walk_match(struct fs_walker *w, const char *name, const char *pattern, size_t len,
                           bool *is_match)
{
    bool is_hidden = name[0] == '.' || name[0] == '_';
    *is_match = !is_hidden || (pattern && pattern[0] == name[0]);
    if (!pattern || !*is_match) {
        return SR_OK;
    }
    char *one = strndup(pattern, len);
    if (!one) {
        return fs_walk_no_memory(w);
    }
    *is_match = fnmatch(one, name, FNM_NOESCAPE) == 0;
    free(one);
    return SR_OK;
}

/* One name of a directory against the rest of the pattern there. */
static sr_rc fs_walk_name(struct fs_walker *w, const struct fs_todo *t, const char *name)
{
    bool is_any_depth =
        t->rest && strncmp(t->rest, "**", 2) == 0 && (t->rest[2] == '/' || !t->rest[2]);
    const char *slash = t->rest ? strchr(t->rest, '/') : NULL;
    size_t len = !t->rest ? 0 : slash ? (size_t)(slash - t->rest) : strlen(t->rest);
    bool is_match = false;
    sr_rc rc = fs_walk_match(w, name, is_any_depth ? NULL : t->rest, len, &is_match);
    if (rc != SR_OK || !is_match) {
        return rc;
    }
    char *path = fs_path_join(t->dir, name);
    if (!path) {
        return fs_walk_no_memory(w);
    }
    struct sr_stat stat;
    rc = w->host->files->stat(w->host->files, path, &stat, w->err);
    if (rc == SR_EABSENT) { /* gone meanwhile, or a link to nothing */
        struct fs_list *l = w->out;
        free(l->nowhere_first);
        l->nowhere_first = path;
        l->nowhere++;
        return SR_OK;
    }
    if (rc != SR_OK) {
        free(path);
        return rc;
    }
    /* Behind the last component a directory means all below it, and `**` alone all files too. */
    bool is_last = !slash;
    if (stat.kind == SR_FILE_DIRECTORY) {
        const char *rest = is_any_depth ? t->rest : is_last ? NULL : slash + 1;
        return fs_walk_add_dir(w, path, rest, t->depth + 1, &stat);
    }
    if (stat.kind == SR_FILE_REGULAR && is_last) {
        return fs_walk_add_file(w, path, &stat);
    }
    free(path);
    return SR_OK;
}

static sr_rc fs_walk_dir(struct fs_walker *w, const struct fs_todo *t)
{
    const struct sr_files *files = w->host->files;
    char **names = NULL;
    sr_rc rc = files->list(files, t->dir, &names, w->err);
    if (rc != SR_OK) {
        return rc == SR_EABSENT ? SR_OK : rc;
    }
    for (char **name = names; rc == SR_OK && *name; name++) {
        rc = fs_walk_name(w, t, *name);
    }
    files->names_free(files, names);
    if (rc == SR_OK && t->rest && strncmp(t->rest, "**/", 3) == 0) { /* `**` is no directory, too */
        struct sr_stat stat;
        rc = files->stat(files, t->dir, &stat, w->err);
        char *dir = rc == SR_OK ? strdup(t->dir) : NULL;
        if (dir) {
            return fs_walk_add_dir(w, dir, t->rest + 3, t->depth + 1, &stat);
        }
        return rc == SR_OK ? fs_walk_no_memory(w) : rc == SR_EABSENT ? SR_OK : rc;
    }
    return rc;
}

static sr_rc fs_walk_all(struct fs_walker *w)
{
    sr_rc rc = SR_OK;
    while (rc == SR_OK && w->count > 0) {
        struct fs_todo t = w->todo[--w->count];
        rc = fs_walk_dir(w, &t);
        free(t.dir);
    }
    while (w->count > 0) {
        free(w->todo[--w->count].dir);
    }
    return rc;
}

/* A pattern without braces: from the longest directory that it names plainly. */
static sr_rc fs_walk_pattern(struct fs_walker *w, const char *pattern)
{
    const struct sr_files *files = w->host->files;
    const char *magic = strpbrk(pattern, "*?[");
    char *root = NULL;
    const char *rest = NULL;
    if (!magic) {
        root = strdup(pattern);
    } else {
        while (magic > pattern && magic[-1] != '/') {
            magic--;
        }
        rest = magic;
        root = strndup(pattern, (size_t)(rest - pattern) > 1 ? (size_t)(rest - pattern) - 1 : 1);
    }
    if (!root) {
        return fs_walk_no_memory(w);
    }
    struct sr_stat stat;
    sr_rc rc = files->stat(files, root, &stat, w->err);
    if (rc != SR_OK) {
        free(root);
        return rc == SR_EABSENT ? SR_OK : rc;
    }
    if (stat.kind != SR_FILE_DIRECTORY) {
        if (!rest && stat.kind == SR_FILE_REGULAR) {
            return fs_walk_add_file(w, root, &stat);
        }
        free(root);
        return SR_OK;
    }
    rc = fs_walk_add_dir(w, root, rest, 0, &stat);
    if (rc == SR_OK) {
        rc = fs_walk_all(w);
    }
    /* Patterns from the same braces share no `rest` text: what one saw the next must see again. */
    fs_set_done(&w->seen);
    return rc;
}

/* The comma or bracket that ends the alternative at `p`, braces within it left alone. */
static const char *fs_walk_alternative(const char *p)
{
    uint32_t depth = 0;
    for (; *p; p++) {
        if (depth == 0 && (*p == ',' || *p == '}')) {
            return p;
        }
        depth += *p == '{' ? 1u : 0u;
        depth -= *p == '}' ? 1u : 0u;
    }
    return NULL;
}

/* Patterns that came of one, owned. */
struct fs_patterns {
    char **item;
    uint32_t count, capacity;
};

/* Takes `text`; NULL: memory for it ran out. */
static sr_rc fs_patterns_add(struct fs_patterns *l, struct fs_walker *w, char *text)
{
    char **moved = text ? list_room((void *)l->item, l->count, &l->capacity, sizeof(*moved)) : NULL;
    if (!moved) {
        free(text);
        return fs_walk_no_memory(w);
    }
    moved[l->count++] = text;
    l->item = moved;
    return SR_OK;
}

/* Adds what becomes of `text` by each alternative of its first brace. *has_brace tells whether
 * there was one. */
static sr_rc fs_walk_unfold(struct fs_walker *w, struct fs_patterns *l, const char *text,
                            bool *has_brace)
{
    const char *open = strchr(text, '{');
    const char *close = open ? open + 1 : NULL;
    while (close && (close = fs_walk_alternative(close)) && *close != '}') {
        close++;
    }
    *has_brace = close != NULL;
    if (!close) { /* none, or one that is never closed: a plain character then */
        return SR_OK;
    }
    sr_rc rc = SR_OK;
    for (const char *at = open + 1; rc == SR_OK && at <= close;) {
        const char *end = fs_walk_alternative(at);
        if (l->count >= FS_BRACES_MAX) {
            return w->host->fail(w->host, w->err, SR_ELIMIT,
                                 "the braces of a path make more than %u patterns", FS_BRACES_MAX);
        }
        char *one = NULL;
        if (asprintf(&one, "%.*s%.*s%s", (int)(open - text), text, (int)(end - at), at, close + 1) <
            0) {
            one = NULL;
        }
        rc = fs_patterns_add(l, w, one);
        at = end + 1;
    }
    return rc;
}

static sr_rc fs_walk_braces(struct fs_walker *w, const char *path)
{
    struct fs_patterns all = {0};
    sr_rc rc = fs_patterns_add(&all, w, strdup(path));
    for (size_t i = 0; rc == SR_OK && i < all.count; i++) {
        bool has_brace = false;
        rc = fs_walk_unfold(w, &all, all.item[i], &has_brace);
        if (rc == SR_OK && !has_brace) {
            rc = fs_walk_pattern(w, all.item[i]);
        }
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.item[i]);
    }
    free((void *)all.item);
    return rc;
}

sr_rc fs_walk(const struct sr_host *host, const char *path, struct fs_list *out,
              struct sr_error *err)
{
    struct fs_walker w = {.host = host, .out = out, .err = err};
    struct sr_stat stat;
    sr_rc rc = host->files->stat(host->files, path, &stat, err); /* a plain name wins */
    if (rc == SR_EABSENT && fs_walk_is_pattern(path)) {
        rc = fs_walk_braces(&w, path);
    } else if (rc == SR_EABSENT) {
        rc = host->fail(host, err, rc, "there is no file or directory %s", path);
    } else if (rc == SR_OK && stat.kind == SR_FILE_OTHER) {
        rc = host->fail(host, err, SR_ECONFIG,
                        "%s is neither a file nor a directory (for a pipe use connector stdin)",
                        path);
    } else if (rc == SR_OK) {
        char *copy = strdup(path);
        rc = !copy                          ? fs_walk_no_memory(&w)
             : stat.kind == SR_FILE_REGULAR ? fs_walk_add_file(&w, copy, &stat)
                                            : fs_walk_add_dir(&w, copy, NULL, 0, &stat);
        if (rc == SR_OK) {
            rc = fs_walk_all(&w);
        }
    }
    free(w.todo);
    fs_set_done(&w.seen);
    fs_set_done(&w.files);
    return rc;
}
