/* emit KERNELS FORMULA... -- write the C of the kernels (formulas/README.md). */
#include "rows/rows.h"

#include <stdio.h>

static int report(const struct error *error)
{
    fprintf(stderr, "emit: %s\n  expected: %s\n", error->what, error->hint);
    return 1;
}

int main(int count, char **words)
{
    static struct arena arena;
    static struct book books[BOOK_ALL + 1];
    const struct book *list[BOOK_ALL + 1];
    struct error error;
    struct text text;
    enum { LIMIT = 1 << 20 };
    for (unsigned conditions = 0; conditions <= BOOK_ALL; conditions++) {
        list[conditions] = &books[conditions];
        book_open(&books[conditions], &arena, conditions);
        for (int i = 2; i < count; i++)
            if (!file_read(&arena, words[i], LIMIT, &text, &error) ||
                !book_read(&books[conditions], words[i], text, &error))
                return report(&error);
        if (!book_check_units(&books[conditions], &error))
            return report(&error);
    }
    struct buffer out = { .arena = &arena };
    if (!file_read(&arena, words[1], LIMIT, &text, &error) ||
        !kernels_write(&arena, list, words[1], text, &out, &error))
        return report(&error);
    fwrite(out.data, 1, out.size, stdout);
    arena_free(&arena);
    return ferror(stdout) != 0;
}
