#include "connectors/filesystem/fs_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/sink_id.h"

#define FS_PLACE_TRIES 1000000u /* names that may be taken already */

static sr_rc fs_place_no_memory(struct fs_place *p, struct sr_error *err)
{
    return p->host->fail(p->host, err, SR_ENOMEM, "out of memory");
}

bool fs_place_names_file(const char *path)
{
    const char *dot = strrchr(fs_path_name(path), '.');
    return dot && dot != fs_path_name(path) && dot[1] != 0;
}

bool fs_place_mode(const char *text, uint32_t *mode)
{
    size_t len = strlen(text);
    if (len < 3 || len > 5 || strspn(text, "01234567") != len) {
        return false;
    }
    *mode = (uint32_t)strtoul(text, NULL, 8);
    return *mode <= 07777 && (*mode & 0600) == 0600;
}

/* --- Open ------------------------------------------------------------------------------------ */

sr_rc fs_place_probe(struct fs_place *p, struct sr_error *err)
{
    const struct sr_files *files = p->host->files;
    char *path = NULL;
    /* Named as a leftover of this sink, so that one that could not be removed goes at recovery. */
    size_t size = strlen(p->own) + (size_t)FS_PLACE_STEM * 2;
    char *name = malloc(size);
    if (name) {
        (void)snprintf(name, size, "%s%sprobe-%016" PRIx64 FS_PLACE_END, p->own, p->run,
                       p->host->random(p->host));
        path = fs_path_join(p->dir, name);
    }
    free(name);
    struct sr_file *f = NULL;
    struct sr_error ignored;
    sr_rc rc =
        path ? files->open(files, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE, &f, err)
             : fs_place_no_memory(p, err);
    if (rc == SR_OK) {
        p->has_new_names = true; /* the directory may remember it until it is synced */
        rc = files->write(f, "probe", 5, 0, err);
        (void)files->close(f, NULL);
        /* One that stays would be left to the next attempt, and there may be none. */
        sr_rc gone = files->remove(files, path, rc == SR_OK ? err : &ignored);
        rc = rc == SR_OK ? gone : rc;
    }
    free(path);
    /* A full disk passes: rows wait for it, and so they would if it were full a moment later. */
    return rc == SR_ENOSPC ? SR_OK : rc;
}

/* A plain file that is there keeps its mode and owner, and stays where a link leads to it. */
static sr_rc fs_place_replace(struct fs_place *p, const struct sr_stat *old, struct sr_error *err)
{
    if (old->kind != SR_FILE_REGULAR) {
        return p->host->fail(p->host, err, SR_ECONFIG, "%s is there and is no regular file",
                             p->path);
    }
    if (p->mode == SR_FILE_KEEP) {
        p->mode = old->mode;
    }
    p->user = old->user;
    p->group = old->group;
    char *real = NULL;
    sr_rc rc = p->host->files->follow(p->host->files, p->path, &real, err);
    if (rc == SR_OK) {
        free(p->path);
        p->path = real;
    }
    return rc;
}

static sr_rc fs_place_find(struct fs_place *p, struct sr_error *err)
{
    const struct sr_host *h = p->host;
    struct sr_stat stat;
    p->path = fs_path_clean(p->conf->path);
    if (!p->path) {
        return fs_place_no_memory(p, err);
    }
    size_t len = strlen(p->conf->path);
    bool has_slash = len > 0 && p->conf->path[len - 1] == '/';
    sr_rc rc = h->files->stat(h->files, p->path, &stat, err);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    bool is_dir = rc == SR_OK && stat.kind == SR_FILE_DIRECTORY;
    p->is_plain = fs_place_names_file(p->path) && !has_slash && !is_dir;
    if (!p->is_plain) {
        p->dir = strdup(p->path);
        return p->dir ? fs_path_make(h, p->dir, err) : fs_place_no_memory(p, err);
    }
    if (rc == SR_OK) {
        rc = fs_place_replace(p, &stat, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    p->dir = fs_path_parent(p->path);
    if (!p->dir) {
        return fs_place_no_memory(p, err);
    }
    rc = h->files->stat(h->files, p->dir, &stat, err);
    if (rc == SR_EABSENT || (rc == SR_OK && stat.kind != SR_FILE_DIRECTORY)) {
        return h->fail(h, err, SR_EABSENT, "cannot write %s: there is no directory %s", p->path,
                       p->dir);
    }
    return rc;
}

static sr_rc fs_place_name_itself(struct fs_place *p, const struct sr_sink_open *o,
                                  struct sr_error *err)
{
    char id[SINK_ID_SIZE] = "";
    bool has_id = sink_id(o, id);
    (void)snprintf(p->run, sizeof(p->run), "%" PRIu64 "-%" PRIu64 "-", o->lineage, o->attempt);
    const char *name = p->is_plain ? fs_path_name(p->path) : "part-";
    size_t size = strlen(name) + 16;
    p->own = malloc(size);
    if (!has_id || !p->own) {
        return fs_place_no_memory(p, err);
    }
    (void)snprintf(p->own, size, ".%s%s%s-", name, p->is_plain ? "." : "", id);
    return SR_OK;
}

sr_rc fs_place_open(struct fs_place *p, const struct fs_sink_conf *conf, enum pack_kind pack,
                    const struct sr_sink_open *o, struct sr_error *err)
{
    *p = (struct fs_place){.host = o->host,
                           .conf = conf,
                           .pack_suffix = pack_suffix(pack),
                           .attempt = o->attempt,
                           .part = o->part,
                           .mode = SR_FILE_KEEP,
                           .user = SR_FILE_KEEP,
                           .group = SR_FILE_KEEP};
    if (conf->file_mode && !fs_place_mode(conf->file_mode, &p->mode)) {
        return p->host->fail(p->host, err, SR_ECONFIG, "'%s' is no mode", conf->file_mode);
    }
    sr_rc rc = fs_place_find(p, err);
    return rc == SR_OK ? fs_place_name_itself(p, o, err) : rc;
}

void fs_place_done(struct fs_place *p)
{
    free(p->path);
    free(p->dir);
    free(p->own);
    p->path = p->dir = p->own = NULL;
}

/* --- Parts ----------------------------------------------------------------------------------- */

static char *fs_place_join(const char *dir, const char *partition, const char *name)
{
    if (partition[0] == 0) {
        return fs_path_join(dir, name);
    }
    char *below = fs_path_join(dir, partition);
    char *path = below ? fs_path_join(below, name) : NULL;
    free(below);
    return path;
}

static struct fs_part_name fs_place_next_name(struct fs_place *p, const char *partition)
{
    struct fs_part_name n = {.attempt = p->attempt, .part = p->part, .may_replace = p->is_plain};
    const struct fs_sink_conf *c = p->conf;
    size_t size =
        strlen(p->own) + FS_PLACE_STEM + 64 + strlen(c->part_prefix) + strlen(c->part_suffix);
    char *name = malloc(size);
    n.partition = strdup(partition);
    if (!name || !n.partition) {
        free(name);
        return n;
    }
    char number[64];
    if (p->is_plain) {
        (void)snprintf(number, sizeof(number), "%" PRIu64, p->next++);
        n.final = strdup(p->path);
    } else {
        (void)snprintf(number, sizeof(number), "%" PRIu32 "-%" PRIu64, p->part, p->next++);
        (void)snprintf(name, size, "%s%s%s%s%s%s", c->part_prefix, p->own + strlen(".part-"),
                       p->run, number, c->part_suffix, p->pack_suffix);
        n.final = fs_place_join(p->dir, partition, name);
    }
    (void)snprintf(name, size, "%s%s%s" FS_PLACE_END, p->own, p->run, number);
    n.hidden = fs_path_join(p->dir, name);
    free(name);
    return n;
}

static sr_rc fs_place_give_access(struct fs_place *p, struct fs_part *part, struct sr_error *err)
{
    if (p->mode == SR_FILE_KEEP && p->user == SR_FILE_KEEP) {
        return SR_OK;
    }
    sr_rc rc = p->host->files->set_access(part->file, p->mode, p->user, p->group, err);
    if (rc != SR_OK) {
        fs_part_done(part, NULL);
    }
    return rc;
}

sr_rc fs_place_new_part(struct fs_place *p, const char *partition, const struct fs_part_name *from,
                        struct fs_part *part, struct sr_error *err)
{
    const struct sr_files *files = p->host->files;
    for (uint32_t i = 0; i < FS_PLACE_TRIES; i++) {
        struct fs_part_name name = fs_place_next_name(p, partition);
        struct sr_stat stat;
        if (name.final && !p->is_plain && files->stat(files, name.final, &stat, err) == SR_OK) {
            fs_part_name_done(&name);
            continue;
        }
        sr_rc rc = from ? fs_part_copy(part, p->host, name, from, err)
                        : fs_part_create(part, p->host, name, err);
        if (rc != SR_EEXISTS) {
            p->has_new_names = true;
            return rc == SR_OK ? fs_place_give_access(p, part, err) : rc;
        }
    }
    return p->host->fail(p->host, err, SR_ELIMIT, "no name is left for a part file in %s", p->dir);
}

sr_rc fs_place_sync(struct fs_place *p, struct sr_error *err)
{
#ifdef MUTANT_PART_NAME_UNSYNCED /* rows of a checkpoint lie in a file without a name */
    return SR_OK;
#endif
    sr_rc rc = p->has_new_names ? p->host->files->sync_dir(p->host->files, p->dir, err) : SR_OK;
    p->has_new_names = p->has_new_names && rc != SR_OK;
    return rc;
}

bool fs_place_is_leftover(const struct fs_place *p, const char *name, bool may_be_new)
{
    size_t own = strlen(p->own), len = strlen(name), end = sizeof(FS_PLACE_END) - 1;
    if (len <= own + end || strncmp(name, p->own, own) != 0 ||
        strcmp(name + len - end, FS_PLACE_END) != 0) {
        return false;
    }
    /* Parts that this run has gone on with already are nobody's leftovers. */
    return !may_be_new || strncmp(name + own, p->run, strlen(p->run)) != 0;
}
