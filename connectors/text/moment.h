/* Texts of dates, times and timestamps, to and from, as Flink's csv and json formats have them.
 *
 * Texts are not ended by \0; a moment must fill its text. Impossible days are refused.
 */
#ifndef SR_TEXT_MOMENT_H
#define SR_TEXT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What a timestamp may look like: yyyy-MM-dd, a separator, HH:mm:ss[.fraction], a zone. */
enum {
    MOMENT_SPACE = 1u << 0,  /* the separator may be a blank */
    MOMENT_T = 1u << 1,      /* ... or a T */
    MOMENT_ZULU = 1u << 2,   /* a Z must follow */
    MOMENT_OFFSET = 1u << 3, /* a Z or an offset such as +02:00 must follow */
};

struct moment {
    int64_t seconds; /* since the epoch, floor */
    int32_t nano;    /* 0 to 999,999,999 */
};

bool moment_get_date(const char *s, uint32_t len, int32_t *days); /* yyyy-[M]M-[d]d */
bool moment_get_time(const char *s, uint32_t len, int32_t *ms);   /* HH:mm[:ss[.fraction]] */
bool moment_get(const char *s, uint32_t len, unsigned how, struct moment *out);

#define MOMENT_TEXT_MAX 48u /* bytes that the functions below write at most; no \0 */

uint32_t moment_put_date(char *to, int32_t days); /* yyyy-MM-dd */
uint32_t moment_put_time(char *to, int32_t ms);   /* HH:mm:ss[.fraction] without closing zeros */
/* With MOMENT_T a T, else a blank; with MOMENT_ZULU a Z behind it. */
uint32_t moment_put(char *to, struct moment m, unsigned how);

#endif
