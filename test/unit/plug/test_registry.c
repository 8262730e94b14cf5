/* Types by name, and what is said of modules that cannot be used. MODULES: where they lie. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "engine/plug/registry.h"

#include <streamrun/ask.h>
#include <streamrun/decider.h>

static const struct sr_source_type b_source = {
    .size = sizeof(b_source), .name = "b", .doc = "B in."};
static const struct sr_source_type a_source = {
    .size = sizeof(a_source), .name = "a", .doc = "A in."};
static const struct sr_sink_type b_sink = {.size = sizeof(b_sink), .name = "b", .doc = "B out."};
static const struct sr_source_type *const sources[] = {&b_source, &a_source, NULL};
static const struct sr_sink_type *const sinks[] = {&b_sink, NULL};
static const struct sr_plugin ab = {.abi_major = SR_ABI_MAJOR,
                                    .abi_minor = SR_ABI_MINOR,
                                    .name = "ab",
                                    .sources = sources,
                                    .sinks = sinks};

static struct registry *with_ab(void)
{
    struct sr_error err;
    struct registry *r = registry_new();
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(registry_add(r, &ab, &err), SR_OK);
    return r;
}

/* A name is looked up within its kind; items come in the order of names. */
START_TEST(by_kind_and_name)
{
    struct registry *r = with_ab();
    struct registry_item item;

    ck_assert_ptr_eq(registry_source(r, "a"), &a_source);
    ck_assert_ptr_eq(registry_source(r, "b"), &b_source);
    ck_assert_ptr_eq(registry_sink(r, "b"), &b_sink);
    ck_assert_ptr_null(registry_sink(r, "a"));
    ck_assert_ptr_null(registry_fault(r));
    ck_assert_ptr_null(registry_format(r, "a"));
    ck_assert(registry_item(r, REGISTRY_SOURCE, 0, &item));
    ck_assert_str_eq(item.name, "a");
    ck_assert_str_eq(item.title, "connector a");
    ck_assert_str_eq(item.plugin, "ab");
    ck_assert(registry_item(r, REGISTRY_SOURCE, 1, &item));
    ck_assert_str_eq(item.doc, "B in.");
    ck_assert(!registry_item(r, REGISTRY_SOURCE, 2, &item));
    ck_assert(!registry_item(r, REGISTRY_FORMAT, 0, &item));
    registry_free(r);
}
END_TEST

/* An operator joins the table of its kind, once. */
START_TEST(operators)
{
    static const struct sr_op_type calc = {.size = sizeof(calc), .name = "calc"};
    struct registry *r = with_ab();
    struct sr_error err;

    ck_assert_int_eq(registry_add_op(r, &calc, &err), SR_OK);
    ck_assert_ptr_eq(registry_op(r, "calc"), &calc);
    ck_assert_int_eq(registry_add_op(r, &calc, &err), SR_EEXISTS);
    registry_free(r);
}
END_TEST

/* A plugin is added as a whole or not at all. */
START_TEST(all_or_nothing)
{
    static const struct sr_source_type c_source = {.size = sizeof(c_source), .name = "c"};
    static const struct sr_source_type *const with_c[] = {&c_source, NULL};
    static const struct sr_plugin twice = {.abi_major = SR_ABI_MAJOR,
                                           .abi_minor = SR_ABI_MINOR,
                                           .name = "twice",
                                           .sources = with_c,
                                           .sinks = sinks};
    struct registry *r = with_ab();
    struct sr_error err;

    ck_assert_int_eq(registry_add(r, &twice, &err), SR_EEXISTS);
    ck_assert_str_eq(err.words, "plugin 'twice': sink 'b' is there already, from plugin 'ab'");
    ck_assert_ptr_null(registry_source(r, "c"));
    ck_assert_ptr_eq(registry_sink(r, "b"), &b_sink);
    registry_free(r);
}
END_TEST

/* Another interface version, or a type that is too small, is refused before it is looked at. */
START_TEST(other_versions)
{
    struct sr_plugin p = ab;
    struct registry *r = registry_new();
    struct sr_error err;

    p.abi_major = SR_ABI_MAJOR + 1;
    p.name = (const char *)1; /* must not be looked at */
    ck_assert_int_eq(registry_add(r, &p, &err), SR_EABI);
    p = ab;
    p.abi_minor = SR_ABI_MINOR + 1;
    ck_assert_int_eq(registry_add(r, &p, &err), SR_EABI);
    ck_assert_ptr_nonnull(strstr(err.words, "build it again"));
    struct sr_source_type small = a_source;
    const struct sr_source_type *const smalls[] = {&small, NULL};
    small.size = 8;
    p = ab;
    p.sources = smalls;
    ck_assert_int_eq(registry_add(r, &p, &err), SR_EABI);
    p.sources = NULL;
    p.sinks = NULL;
    p.name = "";
    ck_assert_int_eq(registry_add(r, &p, &err), SR_EABI);
    registry_free(r);
}
END_TEST

/* A word that is no name has a near one, or none. */
START_TEST(near_names)
{
    static const struct sr_format_type csv = {.size = sizeof(csv), .name = "csv"};
    static const struct sr_format_type json = {.size = sizeof(json), .name = "json"};
    static const struct sr_format_type *const formats[] = {&json, &csv, NULL};
    static const struct sr_plugin p = {.abi_major = SR_ABI_MAJOR,
                                       .abi_minor = SR_ABI_MINOR,
                                       .name = "formats",
                                       .formats = formats};
    struct registry *r = registry_new();
    struct sr_error err;

    ck_assert_ptr_null(registry_nearest(r, REGISTRY_FORMAT, "csv"));
    ck_assert_int_eq(registry_add(r, &p, &err), SR_OK);
    ck_assert_str_eq(registry_nearest(r, REGISTRY_FORMAT, "jsno"), "json");
    ck_assert_ptr_null(registry_nearest(r, REGISTRY_FORMAT, "parquet"));
    registry_free(r);
}
END_TEST

/* A module is loaded by its path, or when a name is asked for; its types then have their names. */
START_TEST(modules)
{
    struct registry *r = registry_new();
    struct sr_error err;

    ck_assert_ptr_null(registry_format(r, "module_good"));
    ck_assert_int_eq(registry_set_dir(r, MODULES, &err), SR_OK);
    ck_assert_ptr_nonnull(registry_format(r, "module_good"));
    ck_assert_ptr_nonnull(registry_format(r, "module_more"));
    /* Asked for as another kind: the module is there, and no fault. */
    ck_assert_ptr_null(registry_sink(r, "module_good"));
    ck_assert_ptr_null(registry_fault(r));
    ck_assert_ptr_null(registry_source(r, "../plug/module_good"));
    ck_assert_ptr_null(registry_fault(r));
    ck_assert_ptr_null(registry_source(r, "module_other_abi"));
    ck_assert_ptr_nonnull(registry_fault(r));
    ck_assert_ptr_null(registry_source(r, "nowhere"));
    ck_assert_ptr_null(registry_fault(r));
    registry_free(r);

    r = registry_new();
    ck_assert_int_eq(registry_load(r, MODULES "/module_good.so", &err), SR_OK);
    ck_assert_ptr_nonnull(registry_format(r, "module_more"));
    ck_assert_int_eq(registry_load(r, MODULES "/module_good.so", &err), SR_EEXISTS);
    registry_free(r);
}
END_TEST

START_TEST(modules_of_ours)
{
    static const char *const names[] = {"module_good", "module_more:module_good", NULL};
    struct registry *r = registry_new();
    struct sr_error err;
    ck_assert_int_eq(registry_set_home(r, MODULES, names, &err), SR_OK);
    ck_assert_ptr_nonnull(registry_format(r, "module_more")); /* by the file that brings it */
    ck_assert_ptr_nonnull(registry_format(r, "module_good"));
    ck_assert_ptr_null(registry_sink(r, "module_more"));
    ck_assert_ptr_null(registry_fault(r));
    registry_free(r);
}
END_TEST

static void refused(const char *path, sr_rc rc, const char *words)
{
    struct registry *r = registry_new();
    struct sr_error err = {0};

    ck_assert_int_eq(registry_load(r, path, &err), rc);
    if (!strstr(err.words, words)) {
        ck_abort_msg("%s: %s", path, err.words);
    }
    registry_free(r);
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(path, mode), 0);
}

/* What cannot be a plugin is refused in words that say why. */
START_TEST(no_modules)
{
    char dir[] = "/tmp/plug-XXXXXX";
    char path[64];

    refused(MODULES "/module_other_abi.so", SR_EABI, "plugin interface");
    refused(MODULES "/module_without_symbol.so", SR_EABI, "no symbol sr_plugin_module");
    refused(MODULES "/module_undefined.so", SR_EABI, "module_nobody_has_this");
    refused(MODULES "/module_not_whole.so", SR_EABI, "source 'module-source' has no 'check'");
    refused(MODULES "/absent.so", SR_EABSENT, "absent.so");
    refused("/tmp", SR_EABI, "not a regular file");

    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/text.so", dir);
    put(path, "not a shared object", 0600);
    refused(path, SR_EABI, "not a shared object");
    put(path, "", 0600);
    refused(path, SR_EABI, "not a shared object");
    put(path,
        "\x7f"
        "ELF but no more",
        0600);
    refused(path, SR_EABI, "cannot be loaded");
    put(path, "x", 0666);
    refused(path, SR_EACCESS, "others must not be able to write it");
    put(path,
        "\x7f"
        "ELF",
        0600);
    ck_assert_int_eq(chmod(dir, 0777), 0);
    refused(path, SR_EACCESS, "its directory");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(sizes_of_questions)
{
    ck_assert_uint_eq(sizeof(struct sr_fact), 24);
    ck_assert_uint_eq(sizeof(struct sr_ask), 104);
    ck_assert_uint_eq(sizeof(struct sr_format_type), 128);
}
END_TEST

/* A struct of the lobby grows at its end, and all who see it are built anew: on purpose only. */
START_TEST(sizes_of_sources)
{
    ck_assert_uint_eq(sizeof(struct sr_source_caps), 40);
    ck_assert_uint_eq(sizeof(struct sr_source_open), 64);
    ck_assert_uint_eq(sizeof(struct sr_source_type), 216);
    ck_assert_uint_eq(sizeof(struct sr_poll), 136);
}
END_TEST

START_TEST(sizes_of_sinks)
{
    ck_assert_uint_eq(sizeof(struct sr_sink_caps), 56);
    ck_assert_uint_eq(sizeof(struct sr_sink_open), 168);
    ck_assert_uint_eq(sizeof(struct sr_sink_type), 176);
    ck_assert_uint_eq(sizeof(struct sr_keyed), 56);
    ck_assert_uint_eq(sizeof(struct sr_marker), 16);
    ck_assert_uint_eq(sizeof(struct sr_decider_sink), 32);
    ck_assert_uint_eq(sizeof(struct sr_decider_open), 96);
    ck_assert_uint_eq(sizeof(struct sr_decider_type), 80);
}
END_TEST

UNIT_MAIN("registry", by_kind_and_name, operators, all_or_nothing, other_versions, near_names,
          modules, modules_of_ours, no_modules, sizes_of_sources, sizes_of_sinks,
          sizes_of_questions)
