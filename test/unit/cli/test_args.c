#include <string.h>

#include "cli/args.h"
#include "test/unit/unit.h"

static const struct args_option options[] = {{"from", "fromSavepoint", 's', "PATH", "a value"},
                                             {"define", NULL, 'D', "KEY=VALUE", "a repeated value"},
                                             {"detached", NULL, 'd', NULL, "a switch"},
                                             {"quiet", NULL, 'q', NULL, "a switch"},
                                             {NULL, NULL, 0, NULL, NULL}};

static struct args args;
static struct sr_error err;

/* Parses "command" and the words behind it, up to a NULL. */
static sr_rc parse(const char *const *words)
{
    int n = 0;
    while (words[n]) {
        n++;
    }
    memset(&err, 0, sizeof(err));
    return args_parse(&args, options, n, (char **)words, &err); /* they are only read */
}

#define PARSE(...) parse((const char *const[]){"command", __VA_ARGS__, NULL})

/* A value may stand behind =, in the next word, or right behind its letter. */
START_TEST(values_in_every_spelling)
{
    ck_assert_int_eq(PARSE("--from", "a"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "a");
    ck_assert_int_eq(PARSE("--from=b=c"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "b=c");
    ck_assert_int_eq(PARSE("-s", "d"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "d");
    ck_assert_int_eq(PARSE("-se"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "e");
}
END_TEST

/* Flink's name of an option is the option, with one dash too. */
START_TEST(aliases_of_flink)
{
    ck_assert_int_eq(PARSE("--fromSavepoint", "a"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "a");
    ck_assert_int_eq(PARSE("-fromSavepoint", "b"), SR_OK);
    ck_assert_str_eq(args_value(&args, "from"), "b");
    ck_assert(!args_has(&args, "fromSavepoint")); /* asked for by its one name */
}
END_TEST

/* Letters of switches may share a dash, and the last of them may take a value. */
START_TEST(letters_in_one_word)
{
    ck_assert_int_eq(PARSE("-dqs", "x"), SR_OK);
    ck_assert(args_has(&args, "detached") && args_has(&args, "quiet"));
    ck_assert_str_eq(args_value(&args, "from"), "x");
    ck_assert_uint_eq(args.words, 0);
}
END_TEST

/* Words and options may be mixed; a lone dash is a word; behind -- everything is. */
START_TEST(words_keep_their_order)
{
    ck_assert_int_eq(PARSE("a", "-q", "-", "--", "--from", "-d"), SR_OK);
    ck_assert_uint_eq(args.words, 4);
    ck_assert_str_eq(args.word[0], "a");
    ck_assert_str_eq(args.word[1], "-");
    ck_assert_str_eq(args.word[2], "--from");
    ck_assert_str_eq(args.word[3], "-d");
    ck_assert(args_has(&args, "quiet") && !args_has(&args, "detached"));
}
END_TEST

/* A repeated option keeps all its values in order; asked for one, it answers the last. */
START_TEST(repeated_options)
{
    ck_assert_int_eq(PARSE("-Da=1", "--define", "b=2", "--define=c=3"), SR_OK);
    ck_assert_str_eq(args_each(&args, "define", 0), "a=1");
    ck_assert_str_eq(args_each(&args, "define", 1), "b=2");
    ck_assert_str_eq(args_each(&args, "define", 2), "c=3");
    ck_assert_ptr_null(args_each(&args, "define", 3));
    ck_assert_str_eq(args_value(&args, "define"), "c=3");
    ck_assert_ptr_null(args_value(&args, "from"));
}
END_TEST

/* What is wrong is refused with words that name it, and the nearest option if one was meant. */
START_TEST(wrong_usage)
{
    ck_assert_int_eq(PARSE("--form", "a"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "SR1101: unknown option '--form'; did you mean '--from'?");
    ck_assert_int_eq(PARSE("--zzzzzzzz"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "SR1101: unknown option '--zzzzzzzz'");
    ck_assert_int_eq(PARSE("-qx"), SR_ECONFIG);
    ck_assert_str_eq(err.words,
                     "SR1101: unknown option '-x'; behind -- everything is taken as it is");
    ck_assert_int_eq(PARSE("--from"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "option '--from' needs a value: --from PATH");
    ck_assert_int_eq(PARSE("-s"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "option '-s' needs a value: -s PATH");
    ck_assert_int_eq(PARSE("-fromSavepoint"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "option '-fromSavepoint' needs a value");
    ck_assert_int_eq(PARSE("--from="), SR_ECONFIG);
    ck_assert_str_eq(err.words, "option '--from' has an empty value: --from PATH");
    ck_assert_int_eq(PARSE("-s", ""), SR_ECONFIG);
    ck_assert_int_eq(PARSE("--quiet=yes"), SR_ECONFIG);
    ck_assert_str_eq(err.words, "option '--quiet' takes no value");
}
END_TEST

/* ARGS_MAX words and ARGS_MAX options fit; one more of either is refused. */
START_TEST(limits)
{
    static const char *words[ARGS_MAX + 3];
    for (uint32_t kind = 0; kind < 2; kind++) {
        words[0] = "command";
        for (uint32_t i = 1; i <= ARGS_MAX + 1; i++) {
            words[i] = kind == 0 ? "word" : "-q";
        }
        words[ARGS_MAX + 1] = NULL;
        ck_assert_int_eq(parse(words), SR_OK);
        ck_assert_uint_eq(kind == 0 ? args.words : args.options, ARGS_MAX);
        words[ARGS_MAX + 1] = words[1];
        ck_assert_int_eq(parse(words), SR_ECONFIG);
    }
}
END_TEST

UNIT_MAIN("args", values_in_every_spelling, aliases_of_flink, letters_in_one_word,
          words_keep_their_order, repeated_options, wrong_usage, limits)
