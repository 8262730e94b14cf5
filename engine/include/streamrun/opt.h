/* Option tables: each option is declared once, beside the struct that it fills.
 *
 * The table alone drives parsing, range checks, `streamrun help KEY`, `streamrun connectors NAME`,
 * completion, masking of secrets and the "did you mean" hint. The kind is taken from the field's C
 * type, so a table cannot disagree with its struct: a field of any other type does not compile.
 *
 *   static const struct sr_opt seq_opts[] = {
 *       SR_OPT(struct seq_conf, "rows", rows, .def = "1000", .min = 1, .max = 1 << 30,
 *              .doc = "How many rows are made."),
 *       SR_OPT_END};
 */
#ifndef STREAMRUN_OPT_H
#define STREAMRUN_OPT_H

#include <streamrun/abi.h>

typedef struct sr_duration {
    int64_t us; /* negative: not set and without a default */
} sr_duration;  /* "250 ms", "10s", "1 h"; a bare number is milliseconds, as in Flink */
typedef struct sr_size {
    uint64_t bytes;
} sr_size; /* "64kb", "1 gb": powers of 1024, as in Flink's MemorySize */
typedef struct sr_list {
    uint32_t count;
    const char *const *item;
} sr_list; /* a YAML sequence, or text separated by ; or , */
typedef struct sr_pairs {
    uint32_t count;
    const char *const *key; /* without the prefix */
    const char *const *value;
} sr_pairs; /* every key that begins with the option's key: "properties." */
typedef struct sr_choice {
    uint32_t index; /* into `choices` */
} sr_choice;

enum sr_opt_kind {
    SR_OPT_BOOL,
    SR_OPT_INT,
    SR_OPT_FLOAT,
    SR_OPT_TEXT,
    SR_OPT_DURATION,
    SR_OPT_SIZE,
    SR_OPT_LIST,
    SR_OPT_PAIRS,
    SR_OPT_CHOICE
};

enum {
    SR_OPT_REQUIRED = 1u << 0,
    SR_OPT_SECRET = 1u << 1,
    SR_OPT_DEPRECATED = 1u << 2,
    SR_OPT_PATH = 1u << 3,    /* a path: made absolute once */
    SR_OPT_OURS = 1u << 4,    /* streamrun's own, Flink does not have it */
    SR_OPT_IGNORED = 1u << 5, /* Flink's; has no meaning on one machine: accepted with one notice */
    SR_OPT_USUAL = 1u << 6    /* most write it: `streamrun init` shows it to be filled in */
};

struct sr_opt {
    const char *key; /* as written in YAML, dots and dashes included; NULL ends a table */
    const char *doc; /* one sentence, or more */
    const char *def; /* default, as the user would write it; NULL: none */
    /* NULL-terminated: of sr_choice; of sr_pairs the names that are most often given, or NULL */
    const char *const *choices;
    const char *const *aliases; /* NULL-terminated older names, accepted with a notice; or NULL */
    int64_t min, max;           /* both 0: no range; DURATION in us, SIZE in bytes */
    uint32_t flags;
    uint32_t offset;
    enum sr_opt_kind kind;
};

#define SR_OPT_KIND_OF(lvalue) \
    _Generic((lvalue),                                                                             \
        bool: SR_OPT_BOOL,                                                                         \
        int64_t: SR_OPT_INT,                                                                       \
        double: SR_OPT_FLOAT,                                                                      \
        const char *: SR_OPT_TEXT,                                                                 \
        sr_duration: SR_OPT_DURATION,                                                              \
        sr_size: SR_OPT_SIZE,                                                                      \
        sr_list: SR_OPT_LIST,                                                                      \
        sr_pairs: SR_OPT_PAIRS,                                                                    \
        sr_choice: SR_OPT_CHOICE)

#define SR_OPT(type, name, field, ...)                          \
    {                                                           \
        .key = name, .offset = (uint32_t)offsetof(type, field), \
        .kind = SR_OPT_KIND_OF(((type *)0)->field), __VA_ARGS__ \
    }
#define SR_OPT_END  \
    {               \
        .key = NULL \
    }

#endif
