/* Patterns (base.h) by POSIX. */
#include "base/base.h"

#include <regex.h>

struct pattern {
    regex_t compiled;
    struct holding *held;
};

static void forget(void *compiled)
{
    if (compiled)
        regfree(compiled);
}

struct pattern *pattern_open(struct arena *arena, const char *text)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    struct holding *held = arena_hold(arena, forget, NULL);
    const int problem = regcomp(&pattern->compiled, text, REG_EXTENDED);
    if (problem == REG_ESPACE)
        arena_exhausted(arena);
    if (problem) {
        arena_let_go(held);
        return NULL;
    }
    held->what = &pattern->compiled;
    pattern->held = held;
    return pattern;
}

void pattern_close(struct pattern *pattern)
{
    if (pattern)
        arena_let_go(pattern->held);
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
