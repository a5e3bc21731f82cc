/* In a page, in the place of plot.c: it draws by itself. */
#include "report/plot.h"

static bool absent(const char *path, struct error *error)
{
    error_set(error, "%.200s: no such file can be used in a page", path);
    return error_expected(error, "the command line");
}

bool plot_open(struct buffer *script, const char *path, int width, int height,
               struct error *error)
{
    (void)script, (void)width, (void)height;
    return absent(path, error);
}

const char *plot_quoted(struct arena *arena, const char *text)
{
    (void)arena;
    return text;
}

const char *plot_cell(struct arena *arena, const char *text)
{
    return plot_quoted(arena, text);
}

bool plot_draw(const struct buffer *script, const char *path, struct error *error)
{
    (void)script;
    return absent(path, error);
}
