/* Plugins for test_plug.c: one good, others with one fault each, chosen by -DMODULE_*. */
#include <streamrun/plugin.h>

extern int module_nobody_has_this(void);

#ifndef MODULE_WITHOUT_SYMBOL
static sr_rc module_check(const void *conf, const struct sr_schema *schema, bool is_write,
                          uint32_t *flags, struct sr_error *err)
{
    (void)conf, (void)schema, (void)is_write, (void)err;
    *flags = 0;
    return SR_OK;
}
#ifdef MODULE_NOT_WHOLE
static const struct sr_source_type module_source = {
    .size = sizeof(struct sr_source_type), .name = "module-source", .doc = "For tests."};
static const struct sr_source_type *const module_sources[] = {&module_source, NULL};
#endif
static const struct sr_format_type module_format = {.size = sizeof(struct sr_format_type),
                                                    .name = "module_good",
                                                    .doc = "For tests.",
                                                    .check = module_check};
static const struct sr_format_type module_more = {.size = sizeof(struct sr_format_type),
                                                  .name = "module_more",
                                                  .doc = "For tests.",
                                                  .check = module_check};
static const struct sr_format_type *const module_formats[] = {&module_format, &module_more, NULL};

SR_PLUGIN(module) = {
#ifdef MODULE_OTHER_ABI
    .abi_major = SR_ABI_MAJOR + 1,
#else
    .abi_major = SR_ABI_MAJOR,
#endif
    .abi_minor = SR_ABI_MINOR,
    .name = "module",
    .version = "1",
#ifdef MODULE_NOT_WHOLE
    .sources = module_sources,
#endif
    .formats = module_formats,
};
#endif

#ifdef MODULE_UNDEFINED
SR_EXPORT int module_call(void);
SR_EXPORT int module_call(void) { return module_nobody_has_this(); }
#endif

#ifdef MODULE_WITHOUT_SYMBOL
SR_EXPORT int module_other(void);
SR_EXPORT int module_other(void) { return 1; }
#endif
