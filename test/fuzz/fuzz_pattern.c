/* Any pattern of dates, in both languages (DateTimeFormatter and SimpleDateFormat), writing and
 * reading: the first line is the pattern, the rest the text. */
#include <stdint.h>

#include "test/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char moment[] = "2024-02-29 13:14:15.678";
    static const char *const numbers[] = {"0", "1709212455", "-62135596801"};
    struct sr_error err = {0};
    const struct expr *pattern, *text;
    if (size > 2048) {
        return 0;
    }
    struct arena *a = arena_new();
    fuzz_split(a, (const char *)data, size, &pattern, &text);
    const struct expr *at = expr_moment(a, SR_TIMESTAMP, moment, sizeof(moment) - 1, &err);
    (void)fuzz_call(a, "DATE_FORMAT", at, pattern);
    (void)fuzz_call(a, "DATE_FORMAT", text, pattern);
    (void)fuzz_call(a, "TO_TIMESTAMP", text, pattern);
    (void)fuzz_call(a, "TO_TIMESTAMP_LTZ", text, pattern);
    (void)fuzz_call(a, "TO_DATE", text, pattern);
    (void)fuzz_call(a, "UNIX_TIMESTAMP", text, pattern);
    for (int i = 0; i < 3; i++) {
        const struct sr_type t = {.kind = SR_BIGINT, .is_nullable = true};
        const struct expr *n = expr_cast(a, expr_number(a, numbers[i], &err), &t, false, &err);
        (void)fuzz_call(a, "FROM_UNIXTIME", n, pattern);
    }
    arena_free(a);
    return 0;
}
