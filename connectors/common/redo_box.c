#include "connectors/common/redo_box.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define REDO_BOX_FULL_US 50000 /* how soon to ask again while the file is too large */

static sr_rc redo_box_make_dir(struct redo_box *b, struct sr_error *err)
{
    const struct sr_files *files = b->host->files;
    struct sr_stat stat;
    sr_rc rc = files->stat(files, b->dir, &stat, err);
    if (rc == SR_EABSENT && !b->is_memory_only) {
        rc = files->make_dir(files, b->dir, err);
        rc = rc == SR_EEXISTS ? SR_OK : rc; /* another subtask made it */
    }
    return rc;
}

sr_rc redo_box_open(struct redo_box *b, const struct sr_sink_open *o,
                    const struct redo_box_how *how, struct sr_error *err)
{
    char id[SINK_ID_SIZE];
    const char *dir = o->redo_dir ? o->redo_dir : how->dir;
    b->host = o->host;
    b->open = *o;
    b->target = how->target;
    b->bytes_max = how->bytes_max;
    b->is_memory_only = o->redo_dir == NULL;
    b->dir = strdup(dir);
    if (!b->dir || !sink_id(o, id)) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    (void)snprintf(b->own, sizeof(b->own), ".redo-%s-", id);
    struct redo *r = &b->redo;
    r->host = o->host;
    r->dir = b->dir;
    (void)snprintf(r->stem, sizeof(r->stem), "%s%" PRIu64 "-%" PRIu64 "-%" PRIu32 "-", b->own,
                   o->lineage, o->attempt, o->part);
    (void)snprintf(r->mark.writer, sizeof(r->mark.writer), "%016" PRIx64 "%016" PRIx64,
                   o->host->random(o->host), o->host->random(o->host));
    r->mark.lineage = o->lineage;
    r->mark.attempt = o->attempt;
    r->mark.part = o->part;
    return redo_box_make_dir(b, err);
}

void redo_box_close(struct redo_box *b)
{
    if (b->unremoved) {
        redo_box_remove(b, NULL);
    }
    free(b->unremoved);
    redo_done(&b->redo);
    free(b->dir);
    *b = (struct redo_box){.host = NULL};
}

sr_rc redo_box_room(struct redo_box *b, struct sr_wait *wait, struct sr_error *err)
{
    if (b->is_memory_only || redo_size(&b->redo) < b->bytes_max) {
        return SR_OK;
    }
    if (!b->has_asked && b->open.ask_checkpoint) {
        b->open.ask_checkpoint(&b->open);
        b->has_asked = true;
    }
    if (redo_size(&b->redo) / 2 < b->bytes_max) {
        return SR_OK;
    }
    *wait = (struct sr_wait){.fd = -1, .until_us = b->host->mono_us(b->host) + REDO_BOX_FULL_US};
    return b->host->fail(b->host, err, SR_EBUSY,
                         "%s: more than twice sink.redo.max-size waits for a checkpoint",
                         b->target);
}

sr_rc redo_box_prepare(struct redo_box *b, uint64_t checkpoint, struct sr_notes *notes,
                       struct sr_error *err)
{
    b->has_asked = false;
    if (!b->redo.file) {
        return SR_OK; /* no row since the last one */
    }
    sr_rc rc = redo_prepare(&b->redo, err);
    if (rc != SR_OK) {
        return rc;
    }
    b->redo.mark.checkpoint = checkpoint;
    struct sr_out note = note_out();
    rc = redo_mark_save(&b->redo.mark, &note);
    if (rc == SR_OK) {
        rc = notes->add(notes, SR_NOTE_COMMIT, (struct sr_bytes){note.data, (uint32_t)note.len});
    }
    note_free(&note);
    if (rc != SR_OK) {
        return b->host->fail(b->host, err, rc, "cannot note %s", b->redo.mark.path);
    }
    redo_reset(&b->redo);
    return SR_OK;
}

sr_rc redo_box_load(const struct redo_box *b, struct redo_mark *mark, struct sr_bytes note,
                    struct sr_error *err)
{
    sr_rc rc = redo_mark_load(mark, note);
    return rc == SR_OK ? rc
                       : b->host->fail(b->host, err, rc, "a note of the rows for %s %s", b->target,
                                       rc == SR_ENOMEM ? "cannot be read" : "is damaged");
}

void redo_box_remove(struct redo_box *b, char *path)
{
    const struct sr_files *files = b->host->files;
    struct sr_error ignored;
    char *paths[2] = {b->unremoved, path};
    b->unremoved = NULL;
    for (int i = 0; i < 2; i++) {
        sr_rc rc = paths[i] ? files->remove(files, paths[i], &ignored) : SR_OK;
        if (rc == SR_OK || rc == SR_EABSENT) {
            free(paths[i]);
            continue;
        }
        free(b->unremoved);
        b->unremoved = paths[i];
    }
}

static bool redo_box_is_live(const struct redo_mark *mark, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(mark[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

sr_rc redo_box_leftovers(struct redo_box *b, const struct redo_mark *mark, uint32_t count,
                         struct sr_error *err)
{
    const struct sr_files *files = b->host->files;
    char **names = NULL;
    uint32_t removed = 0;
    sr_rc rc = files->list(files, b->dir, &names, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (char **name = names; rc == SR_OK && *name; name++) {
        if (strncmp(*name, b->own, strlen(b->own)) != 0) {
            continue;
        }
        char *path = NULL;
        if (asprintf(&path, "%s/%s", b->dir, *name) < 0) {
            rc = b->host->fail(b->host, err, SR_ENOMEM, "out of memory");
            break;
        }
        if (!redo_box_is_live(mark, count, path)) {
            rc = files->remove(files, path, err);
            rc = rc == SR_EABSENT ? SR_OK : rc;
            removed++;
        }
        free(path);
    }
    files->names_free(files, names);
    if (removed > 0) {
        b->host->log(b->host, SR_INFO, "removed %u redo files that no checkpoint names", removed);
    }
    return rc;
}
