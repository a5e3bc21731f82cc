#define _GNU_SOURCE
#include "report/plot.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool ends_in(const char *path, const char *end)
{
    size_t size = strlen(path), end_size = strlen(end);
    return size > end_size && !strcmp(path + size - end_size, end);
}

bool plot_open(struct buffer *script, const char *path, int width, int height,
               struct error *error)
{
    if (!file_may_write(script->arena, path, error))
        return false;
    if (!strcmp(path, "-"))
        buffer_print(script, "set terminal dumb 79 24\n");
    else if (ends_in(path, ".png"))
        buffer_print(script, "set terminal pngcairo size %d,%d font 'sans,11'\n", width, height);
    else if (ends_in(path, ".svg"))
        buffer_print(script, "set terminal svg size %d,%d font 'sans,12' background 'white'\n",
                     width, height);
    else {
        error_set(error, "--plot: '%s' is neither a picture nor '-'", path);
        return error_expected(error, "a name ending in .png or .svg, or - for the terminal");
    }
    if (strpbrk(path, "'\"\\\n")) {
        error_set(error, "--plot: a quote in '%s'", path);
        return error_expected(error, "a plain file name");
    }
    if (!strcmp(path, "-"))
        return true;
    FILE *file = fopen(path, "ab");         /* can it be written? Else gnuplot draws on the terminal */
    if (!file) {
        error_set(error, "--plot: '%s' cannot be written", path);
        return error_expected(error, "a file in a folder that exists");
    }
    fclose(file);
    /* gnuplot would run "|command", and expand "~" */
    path = *path == '/' ? path : arena_print(script->arena, "./%s", path);
    buffer_print(script, "set output %s\n", plot_quoted(script->arena, path));
    return true;
}

const char *plot_quoted(struct arena *arena, const char *text)
{
    struct buffer plain = { .arena = arena }, out = { .arena = arena };
    buffer_add_plain(&plain, text_of(text), "");
    buffer_print(&out, "'");
    for (const char *at = plain.data; *at; at++)
        buffer_print(&out, *at == '\'' ? "’" : "%c", *at);
    buffer_print(&out, "'");
    return out.data;
}

/* In such strings a backslash begins an escape. */
const char *plot_cell(struct arena *arena, const char *text)
{
    struct buffer plain = { .arena = arena }, out = { .arena = arena };
    buffer_add_plain(&plain, text_of(text), "");
    buffer_print(&out, "\"");
    for (const char *at = plain.data; *at; at++)
        buffer_print(&out, *at == '"' ? "”" : *at == '\\' ? "\\\\" : "%c", *at);
    buffer_print(&out, "\"");
    return out.data;
}

bool plot_draw(const struct buffer *script, const char *path, struct error *error)
{
    fflush(stdout);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);     /* no gnuplot: an error, not the end */
    FILE *gnuplot = popen("gnuplot", "w");
    bool drawn = gnuplot && fwrite(script->data, 1, script->size, gnuplot) == script->size;
    drawn = gnuplot && pclose(gnuplot) == 0 && drawn;
    signal(SIGPIPE, before);
    if (drawn)
        return true;
    error_set(error, "--plot: gnuplot did not draw '%s'", path);
    return error_expected(error, "gnuplot on the PATH (package gnuplot-nox), a folder that can be "
                          "written");
}
