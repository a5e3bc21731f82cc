/* In a page, in the place of plot.c: it draws by itself, and writes no file. */
#include "report/plot.h"

static bool absent(const char *path, struct error *error)
{
    error_set(error, "%.200s: no such file can be used in a page", path);
    return error_expected(error, "the command line");
}

bool plot_check(const struct arena *arena, const char *path, struct error *error)
{
    (void)arena;
    return absent(path, error);
}

bool plot_write(const struct picture *picture, const char *path, struct error *error)
{
    (void)picture;
    return absent(path, error);
}
