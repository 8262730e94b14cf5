#include "engine/plug/whole.h"

struct whole_member {
    const char *name;
    bool is_there;
};

static const char *whole_first(const struct whole_member *m)
{
    for (; m->name; m++) {
        if (!m->is_there) {
            return m->name;
        }
    }
    return NULL;
}

#define MEMBER(t, member)            \
    {                                \
#member, (t)->member != NULL \
    }
#define MEMBER_END  \
    {               \
        NULL, false \
    }

const char *whole_source(const struct sr_source_type *t)
{
    const struct whole_member members[] = {MEMBER(t, check),    MEMBER(t, discover_open),
                                           MEMBER(t, discover), MEMBER(t, discover_close),
                                           MEMBER(t, open),     MEMBER(t, add),
                                           MEMBER(t, poll),     MEMBER(t, consume),
                                           MEMBER(t, position), MEMBER(t, close),
                                           MEMBER_END};
    const char *missing = whole_first(members);
    return missing || t->known || t->restored ? missing : "known";
}

const char *whole_sink(const struct sr_sink_type *t)
{
    const struct whole_member members[] = {MEMBER(t, check),   MEMBER(t, open),  MEMBER(t, write),
                                           MEMBER(t, prepare), MEMBER(t, close), MEMBER_END};
    return whole_first(members);
}

const char *whole_format(const struct sr_format_type *t)
{
    const struct whole_member both[] = {MEMBER(t, check), MEMBER_END};
    const struct whole_member decoder[] = {MEMBER(t, decode_open), MEMBER(t, decode),
                                           MEMBER(t, decode_close), MEMBER_END};
    const struct whole_member encoder[] = {MEMBER(t, encode_open), MEMBER(t, encode),
                                           MEMBER(t, encode_close), MEMBER_END};
    const char *missing = whole_first(both);
    if (!missing && t->decoder_size > 0) {
        missing = whole_first(decoder);
    }
    if (!missing && t->encoder_size > 0) {
        missing = whole_first(encoder);
    }
    return missing;
}
