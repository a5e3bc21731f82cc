/* codegen COMPILED FORMULA... -- write the C of compiled rows (formulas/README.md). */
#include "rows/rows.h"

#include <stdio.h>

static int report(const struct error *error)
{
    fprintf(stderr, "emit: %s\n  %s: %s\n", error->what, error_label(error), error->hint);
    return 1;
}

int main(int count, char **words)
{
    static struct arena arena;
    static struct formulas sets[FORMULAS_ALL + 1];
    const struct formulas *list[FORMULAS_ALL + 1];
    struct error error;
    struct text text;
    enum { LIMIT = 1 << 20 };
    for (unsigned conditions = 0; conditions <= FORMULAS_ALL; conditions++) {
        list[conditions] = &sets[conditions];
        formulas_open(&sets[conditions], &arena, conditions);
        for (int i = 2; i < count; i++)
            if (!file_read(&arena, words[i], LIMIT, &text, &error) ||
                !formulas_read(&sets[conditions], words[i], text, &error))
                return report(&error);
        if (!formulas_check_units(&sets[conditions], &error))
            return report(&error);
    }
    struct buffer out = { .arena = &arena };
    if (!file_read(&arena, words[1], LIMIT, &text, &error) ||
        !compiled_write(&arena, list, words[1], text, &out, &error))
        return report(&error);
    fwrite(out.data, 1, out.size, stdout);
    arena_free(&arena);
    return ferror(stdout) != 0;
}
