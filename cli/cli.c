#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

#include "cli/codes.h"
#include "engine/base/assert.h"

#define CLI_WORDS_MAX 4096u /* of one message; longer ones are cut */

/* The words, with their code at the end of the first line: `... [SR0412]`. */
static void SR_PRINTF(2, 0) cli_say(const struct cli *c, const char *fmt, va_list ap)
{
    char words[CLI_WORDS_MAX], code[CODE_LEN + 1];
    (void)vsnprintf(words, sizeof(words), fmt, ap);
    code_take(words, code);
    size_t first = strcspn(words, "\n");
    fprintf(c->err, "streamrun: %.*s%s%s%s%s\n", (int)first, words, *code ? " [" : "", code,
            *code ? "]" : "", words + first);
}

enum cli_exit cli_fail(const struct cli *c, enum cli_exit code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cli_say(c, fmt, ap);
    va_end(ap);
    return code;
}

enum cli_exit cli_error(const struct cli *c, enum cli_exit code, const struct sr_error *err)
{
    sr_assert(err->rc != SR_OK);
    if (err->rc == SR_ENOMEM) code = CLI_FAILED; /* whatever it was for */
    return cli_fail(c, code, "%s: %s", codes_of(err->rc), err->words);
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
    if (c->is_quiet) return;
    va_list ap;
    va_start(ap, fmt);
    cli_say(c, fmt, ap);
    va_end(ap);
}

enum cli_exit cli_exit_of(sr_rc rc)
{
    switch (rc) {
    case SR_OK:
        return CLI_OK;
    case SR_ECONFIG:
    case SR_EABI:
        return CLI_CONFIG;
    case SR_ECORRUPT:
    case SR_EMISFIT:
        return CLI_STATE;
    case SR_EBUSY:
        return CLI_BUSY;
    case SR_ECLOSED:
        return CLI_CLOSED;
    case SR_ENOMEM:
    case SR_EIO:
    case SR_ENOSPC:
    case SR_EABSENT:
    case SR_EEXISTS:
    case SR_EACCESS:
    case SR_EDATA:
    case SR_EFENCED:
    case SR_EUNKNOWN:
    case SR_ELIMIT:
    case SR_EFINAL:
    case SR_RC_COUNT:
        return CLI_FAILED;
    }
    return CLI_FAILED;
}

const char *cli_absolute(const struct cli *c, const char *path)
{
    if (path[0] == '/' || strstr(path, "://")) return path;
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
    }
    if (strcmp(path, ".") == 0 || !*path) return c->work_dir;
    if (strcmp(c->work_dir, "/") == 0) return arena_printf(c->arena, "/%s", path);
    return arena_printf(c->arena, "%s/%s", c->work_dir, path);
}
