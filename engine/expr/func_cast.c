/* CAST and TRY_CAST: documents, and which family of casts is asked. */
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/cast.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"

/* Never run: see compile.c. */
static void cast_run_alias(struct call *k) { (void)k; }
const struct kernel cast_alias = {.run = cast_run_alias, .flags = KERNEL_DENSE};

static bool cast_bind(struct bind_call *b)
{
    return bind_fails(b, "%s is written %s(value AS TYPE)", b->func->name, b->func->name);
}

/* Text that is known already, as STRING. */
static bool cast_is_text(struct bind_call *b, const char *text, bool is_nullable)
{
    const struct expr *e = text ? expr_string(b->arena, text, (uint32_t)strlen(text)) : NULL;
    struct expr *copy = e ? arena_copy(b->arena, e, sizeof(*e)) : NULL;
    if (copy) {
        copy->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), is_nullable);
    }
    b->whole = copy;
    return copy != NULL;
}

static bool cast_bind_database(struct bind_call *b)
{
    return cast_is_text(b, "default_database", false);
}

static bool cast_bind_typeof(struct bind_call *b)
{
    return (b->args < 2 || b->arg[1]->type.kind == SR_BOOLEAN) &&
           cast_is_text(b, type_text(b->arena, &b->arg[0]->type), true);
}

static const struct func cast_funcs[] = {
    {.name = "CAST",
     .family = "conversion",
     .bind = cast_bind,
     .min = 0,
     .max = FUNC_ARGS_MAX,
     .forms = "CAST(value AS TYPE)",
     .doc =
         "The value as another type. Text that is none fails; numbers that are too large are cut "
         "as in Flink, of DECIMAL they are NULL."},
    {.name = "TRY_CAST",
     .family = "conversion",
     .bind = cast_bind,
     .min = 0,
     .max = FUNC_ARGS_MAX,
     .forms = "TRY_CAST(value AS TYPE)",
     .doc = "CAST, but NULL where CAST fails."},
    {.name = "CURRENT_DATABASE",
     .family = "conversion",
     .bind = cast_bind_database,
     .forms = "CURRENT_DATABASE() -> STRING",
     .doc = "The name of the database, which is default_database: there are no catalogs."},
    {.name = "TYPEOF",
     .family = "conversion",
     .bind = cast_bind_typeof,
     .min = 1,
     .max = 2,
     .forms = "TYPEOF(value [, with_serializable BOOLEAN]) -> STRING",
     .doc = "The type of the value, as text."},
};

const struct func_family func_cast = {cast_funcs, sizeof(cast_funcs) / sizeof(cast_funcs[0])};

const struct func *cast_func(bool is_try) { return &cast_funcs[is_try ? 1 : 0]; }

static bool cast_is_moment(enum sr_kind k)
{
    return k == SR_DATE || k == SR_TIME || sr_is_timestamp(k);
}

/* NOLINTNEXTLINE(misc-no-recursion): through cast_nested, TYPE_DEPTH_MAX */
const struct kernel *cast_kernel(const struct sr_type *from, const struct sr_type *to,
                                 const char **why)
{
    if (from->kind == SR_VARIANT || to->kind == SR_VARIANT) {
        *why = to->kind == SR_VARIANT ? "use PARSE_JSON(text)" : "use JSON_STRING, or JSON_VALUE";
        return NULL;
    }
    if (sr_is_nested(from->kind) && !sr_is_bytes(to->kind)) {
        return cast_nested(from, to, why);
    }
    if (sr_is_number(from->kind) && sr_is_timestamp(to->kind)) {
        *why = "use TO_TIMESTAMP_LTZ(number, precision)";
        return NULL;
    }
    if (sr_is_string(to->kind)) {
        return cast_to_text(from, to);
    }
    if (sr_is_text(from->kind)) {
        return cast_from_text(to);
    }
    if (from->kind <= SR_DECIMAL && to->kind <= SR_DECIMAL) {
        return cast_number(from, to);
    }
    if (cast_is_moment(from->kind) && cast_is_moment(to->kind)) {
        return cast_time(from, to);
    }
    if (sr_is_integer(from->kind) && sr_is_interval(to->kind)) {
        return cast_interval(from, to);
    }
    if (from->kind == SR_DECIMAL && sr_is_interval(to->kind)) {
        *why = "multiply an INTERVAL by the number";
        return NULL;
    }
    return from->kind == to->kind && sr_is_interval(from->kind) ? &cast_alias : NULL;
}
