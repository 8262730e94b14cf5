/* What a connector under test stands on: the machine, a home, a host, a directory of its own. */
#ifndef TEST_KIT_STAGE_H
#define TEST_KIT_STAGE_H

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "engine/data/pool.h"

struct stage {
    struct env env;
    struct sr_home *home;
    struct host_ctx ctx;
    struct sr_host host;
    struct arena *arena; /* for texts of the test; freed by close */
    char dir[128];       /* absolute, made by open, removed with all in it by close */
};

void stage_open(struct stage *s);
void stage_close(struct stage *s);
/* Texts live in the arena. Names are relative to the stage's directory. */
const char *stage_path(struct stage *s, const char *name);
void stage_write(struct stage *s, const char *name, const char *text); /* makes directories */
void stage_append(struct stage *s, const char *name, const char *text);
const char *stage_read(struct stage *s, const char *name); /* NULL: not there */
bool stage_has(struct stage *s, const char *name);
/* Names in a directory, hidden ones too, sorted, each with a newline. */
const char *stage_list(struct stage *s, const char *name);
/* The lines of all files in a directory whose names do not begin with a dot, sorted. */
const char *stage_lines(struct stage *s, const char *name);
void stage_clear(struct stage *s, const char *name); /* removes it and all in it */
int64_t stage_counter(const struct stage *s, const char *name);
/* Sorts lines; answers a text in the arena. */
const char *stage_sort(struct stage *s, const char *lines);

#endif
