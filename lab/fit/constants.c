/* The constants of a fit, as the formulas declare them under their rows:
 *
 *     fit: GROUP [of ENTRY] LOW..HIGH ~ PRIOR  (what the prior is from)
 *
 * GROUP is the fit: servers, kernels, training. ENTRY is the engine or family of chips whose
 * constant it is; without it, it is that of all that have none of their own. LOW and HIGH bound
 * it, PRIOR is what was thought of it before; all three in one unit, that of the row's where they
 * say none, in which the fit prints it too. A line of data/efficiency.csv then has its value. */
#include "lab/fit/fit.h"

#include <stdio.h>
#include <string.h>

/* "30us" is 30 and "us"; the unit of all numbers of a line is the same. */
static bool read_number(struct arena *arena, const char *text, double *number, const char **unit)
{
    const size_t size = strspn(text, "0123456789.e+-");
    *unit = arena_copy(arena, text + size, strlen(text + size));
    return text_number((struct text){ text, size }, number);
}

/* "servers of vllm 0.01ms..5ms ~ 0.3ms  (...)" */
static bool read_line(struct arena *arena, const char *line, const char *group,
                      struct constant *constant)
{
    char fit[32], word[64], range[64], prior[32], *dots;
    const char *low_unit = "", *high_unit = "", *unit = "";
    int used = 0;
    if (sscanf(line, "%31s %n", fit, &used) != 1 || strcmp(fit, group))
        return false;
    line += used;
    if (!strncmp(line, "of ", 3)) {
        sscanf(line, "of %63s %n", word, &used);
        constant->entry = arena_copy(arena, word, strlen(word));
        line += used;
    }
    dots = sscanf(line, "%63s ~ %31s", range, prior) == 2 ? strstr(range, "..") : NULL;
    if (!dots)
        fit_give_up(arena_print(arena, "%s: '%s' (fit: GROUP [of ENTRY] LOW..HIGH ~ PRIOR)",
                                constant->name, line));
    *dots = 0;
    if (!read_number(arena, range, &constant->low, &low_unit) ||
        !read_number(arena, dots + 2, &constant->high, &high_unit) ||
        !read_number(arena, prior, &constant->prior, &unit) || strcmp(low_unit, unit) ||
        strcmp(high_unit, unit))
        fit_give_up(arena_print(arena, "%s: '%s': three numbers of one unit", constant->name, line));
    constant->unit = *unit ? unit : constant->unit;
    return true;
}

int constants_of(struct arena *arena, const char *group, struct constant *constants)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    int count = 0;
    for (size_t i = 0; i < formulas->count; i++) {
        const struct row *row = formulas_row(formulas, i);
        struct text rest = text_of(row_fit(row) ? row_fit(row) : "");
        while (rest.size) {
            const struct text line = text_line(&rest);
            struct constant one = { .name = row_name(row), .unit = row_unit_text(row) };
            if (!read_line(arena, arena_copy(arena, line.data, line.size), group, &one))
                continue;
            const char *table = formulas->chapters[row->chapter].table;
            if (table)
                fit_give_up(arena_print(arena, "%s: no constant of a fit: its section has a value for each %s; declare it in a "
                                               "section without EACH", one.name, table));
            if (count == CONSTANTS_MOST)
                fit_give_up("more constants than CONSTANTS_MOST");
            constants[count++] = one;
        }
    }
    return count;
}
