/* In a page, in the place of pattern.c: patterns by the browser's own regular expressions.
 *
 * The page is given the pattern and the text, both as bytes, and writes where the groups are: the offset of each
 * and of its end, -1 for one that took no part. It keeps what it has compiled. Where POSIX takes the longest
 * alternative, a browser takes the first; the patterns of data/layouts mean the same by both, which the page's
 * tests compare on every file of tests/fixtures/benchmarks. */
#include "base/base.h"

#include <string.h>

enum { FOUND = 1, WRONG = -1 };

__attribute__((import_module("page"), import_name("match")))
int page_match(const char *pattern, size_t pattern_size, const char *text, size_t text_size, int32_t *offsets,
               int groups);

struct pattern {
    const char *text;
};

struct pattern *pattern_open(struct arena *arena, const char *text)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    int32_t ignored[2 * PATTERN_GROUPS];
    pattern->text = text;
    return page_match(text, strlen(text), "", 0, ignored, PATTERN_GROUPS) == WRONG ? NULL : pattern;
}

void pattern_close(struct pattern *pattern)
{
    (void)pattern;
}

bool pattern_find(const struct pattern *pattern, const char *text, struct text groups[PATTERN_GROUPS])
{
    int32_t offsets[2 * PATTERN_GROUPS];
    if (page_match(pattern->text, strlen(pattern->text), text, strlen(text), offsets, PATTERN_GROUPS) != FOUND)
        return false;
    for (int i = 0; i < PATTERN_GROUPS; i++)
        groups[i] = offsets[2 * i] < 0 ? (struct text){ NULL, 0 }
                  : (struct text){ text + offsets[2 * i], (size_t)(offsets[2 * i + 1] - offsets[2 * i]) };
    return true;
}
