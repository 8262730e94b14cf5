/* A value of the column that a table is read by, as SQLite has it: of any of its types. */
#ifndef CONNECTORS_SQLITE_KEY_H
#define CONNECTORS_SQLITE_KEY_H

#include <sqlite3.h>

#include "connectors/common/note.h"

struct key {
    int type; /* SQLITE_INTEGER, _FLOAT, _TEXT, _BLOB; 0: there is none */
    int64_t number;
    double real;
    uint8_t *bytes; /* owned */
    uint32_t len, capacity;
};

/* All answer false when memory ran out. */
bool key_of_column(struct key *k, sqlite3_stmt *s, int column);
bool key_copy(struct key *to, const struct key *from);
bool key_save(const struct key *k, struct sr_out *note);
/* What is no key breaks the note. */
void key_load(struct key *k, struct note_in *in);
/* Bytes must stay until the statement was run. Answers SQLite's code. */
int key_bind(const struct key *k, sqlite3_stmt *s, int at);
bool key_equals_column(const struct key *k, sqlite3_stmt *s, int column);
void key_done(struct key *k); /* and empty again */

#endif
