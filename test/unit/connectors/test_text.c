#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "connectors/text/base64.h"
#include "connectors/text/copy.h"
#include "connectors/text/moment.h"
#include "connectors/text/number.h"
#include "connectors/text/real.h"
#include "connectors/text/utf8.h"
#include "test/unit/unit.h"

static uint64_t seed = 1;

static uint64_t random_u64(void)
{
    uint64_t z = (seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static const char *f64_text(double v)
{
    static char text[REAL_TEXT_MAX + 1];
    text[real_put_f64(text, v)] = '\0';
    return text;
}

START_TEST(doubles_look_as_java_prints_them)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1.5, "-1.5"},
        {100, "100.0"},
        {0.072, "0.072"},
        {0.1 + 0.2, "0.30000000000000004"},
        {0.001, "0.001"},
        {0.00099, "9.9E-4"},
        {9999999, "9999999.0"},
        {1e7, "1.0E7"},
        {12345678.9, "1.23456789E7"},
        {1e21, "1.0E21"},
        {1e-7, "1.0E-7"},
        {5e-324, "5.0E-324"},
        {DBL_MAX, "1.7976931348623157E308"},
        {NAN, "NaN"},
        {-INFINITY, "-Infinity"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_str_eq(f64_text(cases[i].v), cases[i].text);
    }
    char text[REAL_TEXT_MAX + 1];
    text[real_put_f32(text, 0.1f)] = '\0';
    ck_assert_str_eq(text, "0.1");
    text[real_put_f32(text, 3.4028235e38f)] = '\0';
    ck_assert_str_eq(text, "3.4028235E38");
}
END_TEST

START_TEST(doubles_come_back_bit_by_bit)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random_u64();
        double v = 0;
        double back = 0;
        memcpy(&v, &bits, 8);
        if (isnan(v)) {
            continue;
        }
        const char *text = f64_text(v);
        ck_assert_uint_lt(strlen(text), REAL_TEXT_MAX);
        ck_assert_int_eq(real_get_f64(text, (uint32_t)strlen(text), &back), REAL_OK);
        ck_assert(memcmp(&v, &back, 8) == 0);
        ck_assert(strtod(text, NULL) == v);
        float w = 0;
        float back32 = 0;
        memcpy(&w, &bits, 4);
        if (!isnan(w)) {
            char small[REAL_TEXT_MAX];
            uint32_t len = real_put_f32(small, w);
            ck_assert_int_eq(real_get_f32(small, len, &back32), REAL_OK);
            ck_assert(memcmp(&w, &back32, 4) == 0);
        }
    }
}
END_TEST

START_TEST(what_is_no_double_is_refused)
{
    static const char *const bad[] = {"",    "-",   "+",   ".",    "e5",  "1e",
                                      "1e+", "--1", "+-1", "inf",  "nan", "0x1",
                                      "1_0", "1,5", "1 2", "NaN1", "-.",  "1dd"};
    double v = 7;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(real_get_f64(bad[i], (uint32_t)strlen(bad[i]), &v) == REAL_BAD, "%s", bad[i]);
    }
    ck_assert_int_eq(real_get_f64("1e400", 5, &v), REAL_RANGE);
    ck_assert_int_eq(real_get_f64("-123456789012345678901234567890e300", 35, &v), REAL_RANGE);
    ck_assert_int_eq(real_get_f64("0.0000000001e-400", 17, &v), REAL_OK);
    ck_assert(v == 0);
    ck_assert_int_eq(real_get_f64("-1e-400", 7, &v), REAL_OK);
    ck_assert(v == 0 && signbit(v));
}
END_TEST

static const char *i128_text(__int128 v)
{
    static char text[NUMBER_TEXT_MAX + 1];
    text[number_put_decimal(text, v, 0)] = '\0';
    return text;
}

static __int128 power10(int n)
{
    __int128 v = 1;
    while (n-- > 0) {
        v *= 10;
    }
    return v;
}

START_TEST(integers_are_exact_up_to_their_ends)
{
    static const struct {
        const char *text;
        enum number_rc rc, integral_rc;
        int64_t v;
    } cases[] = {
        {"0", NUMBER_OK, NUMBER_OK, 0},
        {"-0", NUMBER_OK, NUMBER_OK, 0},
        {"+7", NUMBER_OK, NUMBER_OK, 7},
        {"9223372036854775807", NUMBER_OK, NUMBER_OK, INT64_MAX},
        {"-9223372036854775808", NUMBER_OK, NUMBER_OK, INT64_MIN},
        {"9223372036854775808", NUMBER_RANGE, NUMBER_RANGE, 0},
        {"-9223372036854775809", NUMBER_RANGE, NUMBER_RANGE, 0},
        {"123456789012345678901234567890123456789012345", NUMBER_RANGE, NUMBER_RANGE, 0},
        {"000000000000000000000000000000012", NUMBER_OK, NUMBER_OK, 12},
        {"", NUMBER_BAD, NUMBER_BAD, 0},
        {"-", NUMBER_BAD, NUMBER_BAD, 0},
        {"1a", NUMBER_BAD, NUMBER_BAD, 0},
        {"12345678901234567890x", NUMBER_BAD, NUMBER_BAD, 0},
        {"1.0", NUMBER_BAD, NUMBER_OK, 1},
        {"1.5", NUMBER_BAD, NUMBER_INEXACT, 0},
        {"9.223372036854775807e18", NUMBER_BAD, NUMBER_OK, INT64_MAX},
        {"922337203685477580.7e1", NUMBER_BAD, NUMBER_OK, INT64_MAX},
        {"9.2233720368547758071e18", NUMBER_BAD, NUMBER_INEXACT, 0},
        {"1e19", NUMBER_BAD, NUMBER_RANGE, 0},
        {"1e999999999999999999999", NUMBER_BAD, NUMBER_RANGE, 0},
        {"0e999999999999999999999", NUMBER_BAD, NUMBER_OK, 0},
        {"1e-999999999999999999999", NUMBER_BAD, NUMBER_INEXACT, 0},
        {"1000e-3", NUMBER_BAD, NUMBER_OK, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t v = 0;
        uint32_t len = (uint32_t)strlen(cases[i].text);
        ck_assert_msg(number_get_i64(cases[i].text, len, &v) == cases[i].rc, "%s", cases[i].text);
        v = 0;
        ck_assert_msg(number_get_integral(cases[i].text, len, &v) == cases[i].integral_rc, "%s",
                      cases[i].text);
        ck_assert_int_eq(v, cases[i].v);
    }
    for (int i = 0; i < 100000; i++) {
        int64_t v = (int64_t)(random_u64() >> (i % 64));
        v = i % 2 ? v : -v;
        char text[32];
        char want[32];
        uint32_t len = number_put_i64(text, v);
        ck_assert_int_eq(snprintf(want, sizeof(want), "%lld", (long long)v), (int)len);
        ck_assert_mem_eq(text, want, len);
        int64_t back = 0;
        ck_assert_int_eq(number_get_i64(text, len, &back), NUMBER_OK);
        ck_assert_int_eq(back, v);
    }
}
END_TEST

START_TEST(decimals_round_half_up_and_have_a_range)
{
    static const struct {
        const char *text;
        int precision, scale;
        enum number_rc rc;
        const char *unscaled;
    } cases[] = {
        {"1.005", 10, 2, NUMBER_OK, "101"},
        {"-1.005", 10, 2, NUMBER_OK, "-101"},
        {"1.00499999999999999999999999999999999999999999", 10, 2, NUMBER_OK, "100"},
        {"0.5", 10, 0, NUMBER_OK, "1"},
        {"0.49", 10, 0, NUMBER_OK, "0"},
        {"0.05", 10, 0, NUMBER_OK, "0"},
        {"99.995", 4, 2, NUMBER_RANGE, ""},
        {"99.994", 4, 2, NUMBER_OK, "9999"},
        {"1e2", 5, 2, NUMBER_OK, "10000"},
        {"1e3", 5, 2, NUMBER_RANGE, ""},
        {"123456789012345678901234567890123456.78", 38, 2, NUMBER_OK,
         "12345678901234567890123456789012345678"},
        {"99999999999999999999999999999999999999", 38, 0, NUMBER_OK,
         "99999999999999999999999999999999999999"},
        {"99999999999999999999999999999999999999.5", 38, 0, NUMBER_RANGE, ""},
        {"100000000000000000000000000000000000000", 38, 0, NUMBER_RANGE, ""},
        {"0.000000000000000000000000000000000000000000001e45", 38, 2, NUMBER_OK, "100"},
        {".5", 3, 1, NUMBER_OK, "5"},
        {"5.", 3, 1, NUMBER_OK, "50"},
        {"", 3, 1, NUMBER_BAD, ""},
        {".", 3, 1, NUMBER_BAD, ""},
        {"1e", 3, 1, NUMBER_BAD, ""},
        {"1.2.3", 3, 1, NUMBER_BAD, ""},
        {"NaN", 3, 1, NUMBER_BAD, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        __int128 v = 0;
        enum number_rc rc = number_get_decimal(cases[i].text, (uint32_t)strlen(cases[i].text),
                                               cases[i].precision, cases[i].scale, &v);
        ck_assert_msg(rc == cases[i].rc, "%s", cases[i].text);
        if (rc == NUMBER_OK) {
            ck_assert_str_eq(i128_text(v), cases[i].unscaled);
        }
    }
}
END_TEST

START_TEST(decimals_come_back_in_every_form)
{
    for (int i = 0; i < 50000; i++) {
        int precision = 1 + (int)(random_u64() % 38);
        int scale = (int)(random_u64() % (unsigned)(precision + 1));
        unsigned __int128 bits = (unsigned __int128)random_u64() << 64 | random_u64();
        __int128 v =
            (__int128)((bits >> (random_u64() % 127)) % (unsigned __int128)power10(precision));
        v = i % 2 ? v : -v;
        char text[NUMBER_TEXT_MAX];
        for (int how = 0; how < 3; how++) {
            uint32_t len = how == 0 ? number_put_decimal(text, v, scale)
                                    : number_put_stripped(text, v, scale, how == 1);
            ck_assert_uint_lt(len, NUMBER_TEXT_MAX);
            __int128 back = 0;
            ck_assert_int_eq(number_get_decimal(text, len, precision, scale, &back), NUMBER_OK);
            ck_assert(back == v);
        }
    }
    static const struct {
        int64_t v;
        int scale;
        const char *full, *java, *plain;
    } cases[] = {
        {0, 2, "0.00", "0", "0"},
        {110, 2, "1.10", "1.1", "1.1"},
        {-5, 3, "-0.005", "-0.005", "-0.005"},
        {10000000, 2, "100000.00", "1E+5", "100000"},
        {27, 9, "0.000000027", "2.7E-8", "0.000000027"},
        {123, 0, "123", "123", "123"},
        {1200, 0, "1200", "1.2E+3", "1200"},
        {1, 6, "0.000001", "0.000001", "0.000001"},
        {1, 7, "0.0000001", "1E-7", "0.0000001"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[NUMBER_TEXT_MAX + 1];
        text[number_put_decimal(text, cases[i].v, cases[i].scale)] = '\0';
        ck_assert_str_eq(text, cases[i].full);
        text[number_put_stripped(text, cases[i].v, cases[i].scale, false)] = '\0';
        ck_assert_str_eq(text, cases[i].java);
        text[number_put_stripped(text, cases[i].v, cases[i].scale, true)] = '\0';
        ck_assert_str_eq(text, cases[i].plain);
    }
}
END_TEST

START_TEST(moments_come_back)
{
    for (int i = 0; i < 100000; i++) {
        struct moment m = {.seconds = (int64_t)(random_u64() % 400000000000) - 100000000000,
                           .nano = i % 3 ? (int32_t)(random_u64() % 1000000000) : 0};
        char text[MOMENT_TEXT_MAX];
        unsigned how = (i % 2 ? MOMENT_T : MOMENT_SPACE) | (i % 5 ? 0u : MOMENT_ZULU);
        uint32_t len = moment_put(text, m, how);
        ck_assert_uint_lt(len, MOMENT_TEXT_MAX);
        struct moment back = {0};
        ck_assert_msg(moment_get(text, len, how, &back), "%.*s", (int)len, text);
        ck_assert_int_eq(back.seconds, m.seconds);
        ck_assert_int_eq(back.nano, m.nano);
    }
    char text[MOMENT_TEXT_MAX + 1];
    text[moment_put(text, (struct moment){INT64_MAX / 1000, 999999999}, MOMENT_T)] = '\0';
    ck_assert_str_eq(text, "+292278994-08-17T07:12:55.999999999");
    text[moment_put(text, (struct moment){-62167219200 - 1, 0}, MOMENT_SPACE)] = '\0';
    ck_assert_str_eq(text, "-0001-12-31 23:59:59");
}
END_TEST

START_TEST(what_is_no_moment_is_refused)
{
    static const char *const bad[] = {
        "",
        "2026-01-31",
        "2026-01-31 12:00",
        "2026-01-31 12:00:00.",
        "2026-01-31 12:00:00.1234567890",
        "2026-1-31 12:00:00",
        "2026-02-29 12:00:00",
        "2026-01-31  12:00:00",
        "2026-01-31 12:00:00 ",
        "2026-01-31 12:00:60",
        "2026-01-31 12:60:00",
        "2026-13-31 12:00:00",
        "2026-00-31 12:00:00",
        "2026-01-00 12:00:00",
        "26-01-31 12:00:00",
        "2026-01-31 12:00:00Z",
        "2026/01/31 12:00:00",
    };
    struct moment m;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!moment_get(bad[i], (uint32_t)strlen(bad[i]), MOMENT_SPACE, &m), "%s",
                      bad[i]);
    }
    ck_assert(!moment_get("2026-01-31T12:00:00", 19, MOMENT_SPACE, &m));
    ck_assert(!moment_get("2026-01-31T12:00:00", 19, MOMENT_T | MOMENT_ZULU, &m));
    ck_assert(!moment_get("2026-01-31T12:00:00+25:00", 25, MOMENT_T | MOMENT_OFFSET, &m));
    ck_assert(!moment_get("2026-01-31T12:00:00", 19, MOMENT_T | MOMENT_OFFSET, &m));
    ck_assert(moment_get("1970-01-01T05:30:00.5+05:30", 27, MOMENT_T | MOMENT_OFFSET, &m));
    ck_assert(m.seconds == 0 && m.nano == 500000000);
    int32_t n = 0;
    ck_assert(!moment_get_time("24:00:00", 8, &n) && !moment_get_time("1:00:00", 7, &n));
    ck_assert(!moment_get_date("2026-02-29", 10, &n) && !moment_get_date("2026-1-1x", 9, &n));
}
END_TEST

START_TEST(utf8_is_what_the_standard_says)
{
    static const char *const good[] = {"",
                                       "abc",
                                       "\xC3\xA9",
                                       "\xE2\x82\xAC",
                                       "\xF0\x9F\x98\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF4\x8F\xBF\xBF",
                                       "12345678\xC2\x80"};
    static const char *const bad[] = {
        "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xC3",
        "\xC3(",        "\xE0\x80\x80",     "\xE2\x82",         "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF",         "12345678\xFF"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(utf8_is_valid(good[i], (uint32_t)strlen(good[i])), "%zu", i);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!utf8_is_valid(bad[i], (uint32_t)strlen(bad[i])), "%zu", i);
    }
    for (uint32_t code = 0; code < 0x110000; code += code < 0x900 ? 1 : 77) {
        char text[4];
        uint32_t len = utf8_put(text, code);
        bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
        ck_assert_int_eq(utf8_is_valid(text, len), !is_surrogate);
    }
}
END_TEST

START_TEST(base64_comes_back_and_refuses_the_rest)
{
    uint8_t bytes[64];
    uint8_t back[64];
    char text[96];
    for (uint32_t len = 0; len < sizeof(bytes); len++) {
        for (uint32_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)random_u64();
        }
        base64_put(text, bytes, len);
        uint32_t size = 99;
        ck_assert(base64_get(text, (uint32_t)base64_put_size(len), back, &size));
        ck_assert_uint_eq(size, len);
        ck_assert(memcmp(bytes, back, len) == 0);
    }
    uint32_t size = 0;
    ck_assert(!base64_get("A", 1, back, &size) && !base64_get("AQ*D", 4, back, &size));
    ck_assert(!base64_get("AQI=AQID", 8, back, &size) && !base64_get("=", 1, back, &size));
}
END_TEST

/* Every length, and the byte that is looked for at every place. */
START_TEST(copies_see_what_they_copy)
{
    const struct copy_needles n = {.needle = {',', '"', '\\', ','}, .has_controls = true};
    static const unsigned char odd[] = {',', '"', '\\', 0x00, 0x1F, '\n'};
    char from[80];
    char to[80];
    for (uint32_t len = 0; len < 70; len++) {
        memset(from, 'a', sizeof(from));
        memset(to, '#', sizeof(to));
        ck_assert_uint_eq(copy_text(&n, to, from, len), 0);
        ck_assert(memcmp(to, from, len) == 0 && to[len] == '#');
        for (uint32_t at = 0; at < len; at++) {
            from[at] = (char)odd[(at + len) % 6];
            ck_assert_uint_eq(copy_text(&n, to, from, len), COPY_HIT);
            from[at] = (char)0xC3;
            ck_assert_uint_eq(copy_text(&n, to, from, len), COPY_HIGH);
            ck_assert(memcmp(to, from, len) == 0);
            from[at] = 'a';
        }
        from[len] = ','; /* behind the end */
        ck_assert_uint_eq(copy_text(&n, to, from, len), 0);
    }
}
END_TEST

START_TEST(a_number_is_its_digits_and_nothing_else_at_any_length)
{
    int64_t got = 0;
    for (int64_t v = 1; v < INT64_C(100000000); v = v * 3 + 7) {
        for (int width = 1; width <= 12; width++) {
            char text[32], broken[32];
            int len = snprintf(text, sizeof(text), "%0*lld", width, (long long)v);
            ck_assert_int_eq(number_get_i64(text, (uint32_t)len, &got), NUMBER_OK);
            ck_assert_int_eq(got, v);
            for (int at = 0; at < len; at++) {
                for (int c = 0; c < 256; c++) {
                    bool is_sign = at == 0 && (c == '-' || c == '+') && len > 1;
                    if ((c >= '0' && c <= '9') || is_sign) continue;
                    memcpy(broken, text, (size_t)len);
                    broken[at] = (char)c;
                    ck_assert_int_ne(number_get_i64(broken, (uint32_t)len, &got), NUMBER_OK);
                }
            }
        }
    }
}
END_TEST

UNIT_MAIN("text", a_number_is_its_digits_and_nothing_else_at_any_length,
          doubles_look_as_java_prints_them, doubles_come_back_bit_by_bit,
          what_is_no_double_is_refused, integers_are_exact_up_to_their_ends,
          decimals_round_half_up_and_have_a_range, decimals_come_back_in_every_form,
          moments_come_back, what_is_no_moment_is_refused, utf8_is_what_the_standard_says,
          base64_comes_back_and_refuses_the_rest, copies_see_what_they_copy)
