/* The conformance kits for connectors in modules: plugin_kit lines|shelf MODULE.so */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "test/kit/sink_kit.h"
#include "test/kit/source_kit.h"
#include "test/unit/unit.h"

static const struct sr_plugin *plugin;

/* The same order as the options of the plugins have. */
struct lines_conf {
    int64_t splits, lines;
};

struct shelf_conf {
    const char *path;
};

START_TEST(a_source_keeps_what_the_interface_promises)
{
    struct stage s;
    stage_open(&s);
    struct lines_conf conf = {.splits = 3, .lines = 20};
    struct source_kit k = {.stage = &s, .type = plugin->sources[0], .conf = &conf};
    source_kit_check(&k);
    stage_close(&s);
}
END_TEST

static const char *visible(struct stage *s) { return stage_lines(s, "shelf"); }

static const char *leftovers(struct stage *s)
{
    const char *hidden = "";
    for (const char *p = stage_list(s, "shelf"); *p; p = strchr(p, '\n') + 1) {
        if (*p == '.') hidden = arena_printf(s->arena, "%s%.*s ", hidden, (int)strcspn(p, "\n"), p);
    }
    return hidden;
}

static void reset(struct stage *s) { stage_clear(s, "shelf"); }

START_TEST(a_sink_keeps_what_the_interface_promises)
{
    struct stage s;
    stage_open(&s);
    struct shelf_conf conf = {.path = stage_path(&s, "shelf")};
    struct sink_kit k = {.stage = &s,
                         .type = plugin->sinks[0],
                         .conf = &conf,
                         .visible = visible,
                         .leftovers = leftovers,
                         .reset = reset};
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 3) return EXIT_FAILURE;
    void *module = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    plugin = module ? dlsym(module, "sr_plugin_module") : NULL;
    if (!plugin) {
        fprintf(stderr, "%s: %s\n", argv[2], dlerror());
        return EXIT_FAILURE;
    }
    Suite *s = suite_create(argv[1]);
    TCase *t = tcase_create(argv[1]);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, strcmp(argv[1], "lines") == 0 ? a_source_keeps_what_the_interface_promises
                                                    : a_sink_keeps_what_the_interface_promises);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
