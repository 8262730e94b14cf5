#include "engine/base/code.h"

#include <stdbool.h>
#include <string.h>

/* Whether "SRnnnn: " stands at `s`. */
static bool code_is_at(const char *s)
{
    if (s[0] != 'S' || s[1] != 'R') {
        return false;
    }
    for (unsigned i = 2; i < CODE_LEN; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return false;
        }
    }
    return s[CODE_LEN] == ':' && s[CODE_LEN + 1] == ' ';
}

void code_take(char *words, char code[CODE_LEN + 1])
{
    char *to = words;
    bool is_start = true; /* of a word: "XSR0412: " is no code */
    code[0] = '\0';
    for (const char *s = words; *s;) {
        if (is_start && code_is_at(s)) {
            if (code[0] == '\0') {
                memcpy(code, s, CODE_LEN);
                code[CODE_LEN] = '\0';
            }
            s += CODE_LEN + 2;
            continue;
        }
        is_start = *s == ' ' || *s == '(' || *s == '\n';
        *to++ = *s++;
    }
    *to = '\0';
}
