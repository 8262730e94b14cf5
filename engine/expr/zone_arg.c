#include "engine/expr/zone_arg.h"

#include <string.h>

void zone_arg_done(struct zone_arg *z)
{
    zone_free(z->zone);
    *z = (struct zone_arg){0};
}

bool zone_arg_use(struct zone_arg *z, const struct call *k, uint32_t i, uint32_t r)
{
    uint32_t len;
    const char *s = call_get(k, i, r, &len);
    bool fits = len <= ZONE_NAME_MAX && !memchr(s, '\0', len);
    if (z->is_set && fits && strlen(z->name) == len && memcmp(z->name, s, len) == 0) {
        return z->is_good;
    }
    zone_arg_done(z);
    if (fits) {
        struct sr_error err;
        memcpy(z->name, s, len);
        z->name[len] = '\0';
        z->is_set = true;
        z->is_good = zone_load(z->name, &z->zone, &err) == SR_OK;
    }
    return z->is_good;
}
