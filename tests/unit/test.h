/* test -- what the tests share: cmocka with its headers, a generator, a world.
 *
 * Draws are seeded, so a failure is the same at the next run. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof array / sizeof *array)

/* `few` divided by $CHALKLINE_SHORT, rounded up. */
static inline int part_of(int few)
{
    const char *part = getenv("CHALKLINE_SHORT");
    return part && atoi(part) > 1 && !getenv("CHALKLINE_LONG") ? (few + atoi(part) - 1) / atoi(part) : few;
}

/* Rounds of a random test: `few`, or its part_of, or $CHALKLINE_LONG times as many (`make check-long`). */
static inline int rounds(int few)
{
    const char *factor = getenv("CHALKLINE_LONG");
    return factor ? few * atoi(factor) : part_of(few);
}

/* Is a program of other people on the PATH? If not, the test says so, which tests/run.sh counts; the caller skips. */
static inline bool has_program(const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", name);
    if (!system(line))
        return true;
    print_message("skipped: needs %s\n", name);
    return false;
}

/* Will a sample of a long list do? CHALKLINE_SHORT=N: `make asan`, where each takes longer. */
static inline bool sample_only(void)
{
    return getenv("CHALKLINE_SHORT") && !getenv("CHALKLINE_LONG");
}

/* A published file that is no part of the tree: its path below $CHALKLINE_SHARED, `make check
 * SHARED=DIR`. NULL where it is not there; tests/run.sh counts these. */
static inline const char *shared_file(struct arena *arena, const char *name)
{
    const char *folder = getenv("CHALKLINE_SHARED");
    const char *path = folder && *folder ? arena_print(arena, "%s/data/%s", folder, name) : NULL;
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (file)
        fclose(file);
    else
        print_message("skipped: %s\n", name);
    return file ? path : NULL;
}

/* The next cell of a case, "a | b | c". */
static inline const char *next_cell(struct arena *arena, struct text *line)
{
    const struct text cell = text_trim(text_until(line, '|'));
    return arena_copy(arena, cell.data, cell.size);
}

/* SplitMix64 (Steele 2014). */
static inline uint64_t draw_bits(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline double draw(uint64_t *state)              /* in [0, 1) */
{
    return (double)(draw_bits(state) >> 11) * 0x1p-53;
}

static inline double draw_in(uint64_t *state, double low, double high)
{
    return low + (high - low) * draw(state);
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Equal bits; all NaNs count as one. */
static inline bool same_bits(double a, double b)
{
    return bits_of(a) == bits_of(b) || (a != a && b != b);
}

#endif
