#include "engine/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/shown.h"

/* What the analyzer is told in error.h; here they are made. */
#undef error_set
#undef error_wrap
#undef error_errno

static const struct {
    const char *name;
    const char *words;
    enum sr_fate fate;
} error_table[] = {
#define ERROR_ROW(rc, fate_, words_) [rc] = {.name = #rc, .words = (words_), .fate = (fate_)},
    SR_RC_LIST(ERROR_ROW)
#undef ERROR_ROW
};

_Static_assert(sizeof(error_table) / sizeof(error_table[0]) == SR_RC_COUNT, "a row a code");

const char *rc_name(sr_rc rc) { return rc < SR_RC_COUNT ? error_table[rc].name : "SR_?"; }

const char *rc_words(sr_rc rc)
{
    return rc < SR_RC_COUNT ? error_table[rc].words : "an unknown error";
}

enum sr_fate rc_fate(sr_rc rc) { return rc < SR_RC_COUNT ? error_table[rc].fate : SR_FATE_JOB; }

/* Text that was cut does not end within a character. */
static void error_cut(char *words, size_t len)
{
    size_t lead = len;
    while (lead > 0 && len - lead < 4 && ((unsigned char)words[lead - 1] & 0xC0) == 0x80) {
        lead--;
    }
    if (lead > 0 && ((unsigned char)words[lead - 1] & 0xC0) == 0xC0) {
        words[lead - 1] = '\0';
    }
}

/* Words are never empty, are text that may be shown, and never end within a UTF-8 character, though
 * they may be cut. */
static void error_tidy(struct sr_error *err)
{
    size_t len = strlen(err->words);
    if (len == 0) {
        (void)snprintf(err->words, sizeof(err->words), "%s", rc_words(err->rc));
        return;
    }
    if (len == sizeof(err->words) - 1) {
        error_cut(err->words, len);
    }
    shown_make(err->words, sizeof(err->words));
}

sr_rc error_set(struct sr_error *err, sr_rc rc, const char *fmt, ...)
{
    sr_assert(rc != SR_OK);
    if (!err) {
        return rc;
    }
    char words[sizeof(err->words)];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    /* By way of a copy: an argument may be the words that stood in err before. What could not be
     * done for lack of memory always says so. */
    static const char memory[] = "out of memory: ";
    size_t ahead = rc == SR_ENOMEM && !strstr(words, "memory") ? sizeof(memory) - 1 : 0;
    memcpy(err->words, memory, ahead);
    memcpy(err->words + ahead, words, sizeof(words) - ahead);
    err->words[sizeof(words) - 1] = '\0';
    err->rc = rc;
    error_tidy(err);
    return rc;
}

sr_rc error_wrap(struct sr_error *err, const char *fmt, ...)
{
    sr_assert(err != NULL);
    sr_assert(err->rc != SR_OK);
    char words[2 * sizeof(err->words) + 2];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(words, sizeof(err->words), fmt, args);
    va_end(args);
    if (len < 0) {
        return err->rc;
    }
    size_t used = (size_t)len < sizeof(err->words) ? (size_t)len : sizeof(err->words) - 1;
    (void)snprintf(words + used, sizeof(words) - used, ": %s", err->words);
    words[sizeof(err->words) - 1] = '\0';
    memcpy(err->words, words, sizeof(err->words));
    error_tidy(err);
    return err->rc;
}

static sr_rc error_code_of(int number)
{
    switch (number) {
    case ENOMEM:
        return SR_ENOMEM;
    case ENOENT:
    case ENOTDIR:
    case ELOOP: /* links that lead nowhere */
        return SR_EABSENT;
    case EEXIST:
    case ENOTEMPTY:
        return SR_EEXISTS;
    case EACCES:
    case EPERM:
    case EROFS:
        return SR_EACCESS;
    case ENOSPC:
    case EDQUOT:
        return SR_ENOSPC;
    case EBUSY:
    case ETXTBSY:
        return SR_EBUSY;
    case EFBIG: /* no room that somebody makes helps */
    case EMFILE:
    case ENFILE:
    case ENAMETOOLONG:
        return SR_ELIMIT;
    case EPIPE:
        return SR_ECLOSED;
    default:
        return SR_EIO;
    }
}

sr_rc error_errno(struct sr_error *err, int number, const char *operation, const char *path)
{
    char space[128];
    const char *reason = strerror_r(number, space, sizeof(space));
    if (!path || path[0] == '\0') {
        return error_set(err, error_code_of(number), "%s: %s", operation, reason);
    }
    return error_set(err, error_code_of(number), "%s %s: %s", operation, path, reason);
}
