/* Filling and wrapping struct sr_error. */
#ifndef SR_BASE_ERROR_H
#define SR_BASE_ERROR_H

#include <streamrun/error.h>

const char *rc_name(sr_rc rc);  /* "SR_EIO" */
const char *rc_words(sr_rc rc); /* "input or output failed" */
enum sr_fate rc_fate(sr_rc rc);

/* Fills err (which may be NULL) and answers rc. */
sr_rc error_set(struct sr_error *err, sr_rc rc, const char *fmt, ...) SR_PRINTF(3, 4);
/* Puts "context: " in front of the words of a filled err, and answers its rc. */
sr_rc error_wrap(struct sr_error *err, const char *fmt, ...) SR_PRINTF(2, 3);
/* From errno: the code that fits, and "open /a/b: No such file or directory". */
sr_rc error_errno(struct sr_error *err, int number, const char *operation, const char *path);

#ifdef __clang_analyzer__
/* The analyzer sees one file at a time, and would follow paths on which a failure answers SR_OK. */
#define error_set(err, rc, ...)          ((void)(error_set)(err, rc, __VA_ARGS__), (rc))
#define error_wrap(err, ...)             ((void)(error_wrap)(err, __VA_ARGS__), SR_EIO)
#define error_errno(err, number, op, at) ((void)(error_errno)(err, number, op, at), SR_EIO)
#endif

#endif
