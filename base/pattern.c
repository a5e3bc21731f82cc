/* Patterns (base.h) by POSIX. */
#include "base/base.h"

#include <regex.h>

struct pattern {
    regex_t compiled;
};

struct pattern *pattern_open(struct arena *arena, const char *text)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    return regcomp(&pattern->compiled, text, REG_EXTENDED) ? NULL : pattern;
}

void pattern_close(struct pattern *pattern)
{
    if (pattern)
        regfree(&pattern->compiled);
}

bool pattern_find(const struct pattern *pattern, const char *text, struct text groups[PATTERN_GROUPS])
{
    regmatch_t matches[PATTERN_GROUPS + 1];
    if (regexec(&pattern->compiled, text, PATTERN_GROUPS + 1, matches, 0))
        return false;
    for (int i = 0; i < PATTERN_GROUPS; i++) {
        const regmatch_t *match = &matches[i + 1];
        groups[i] = match->rm_so < 0 ? (struct text){ NULL, 0 }
                  : (struct text){ text + match->rm_so, (size_t)(match->rm_eo - match->rm_so) };
    }
    return true;
}
