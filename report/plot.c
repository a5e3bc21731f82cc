#define _GNU_SOURCE
#include "report/plot.h"
#include "base/output.h"
#include "rows/rows.h"

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WIDTH = 720 };               /* px of a file */

static bool ends_in(const char *path, const char *end)
{
    size_t size = strlen(path), end_size = strlen(end);
    return size > end_size && !strcmp(path + size - end_size, end);
}

bool plot_check(const struct arena *arena, const char *path, struct error *error)
{
    if (!file_may_write(arena, path, error))
        return false;
    if (strcmp(path, "-") && !ends_in(path, ".png") && !ends_in(path, ".svg")) {
        error_set(error, "--plot: '%s' is neither a picture nor '-'", path);
        return error_expected(error, "a name ending in .png or .svg, or - for the terminal");
    }
    struct arena scratch = { 0 };
    const bool good = !strcmp(path, "-") || output_may(&scratch, "--plot", path, error);
    arena_free(&scratch);
    return good;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* All of a buffer into the standard input of a program, whose standard output is the file; false: it did not run well. */
static bool feed(const char *const *words, const struct buffer *text, int file)
{
    posix_spawn_file_actions_t actions;
    int ends[2], status = 1;
    pid_t child;
    if (pipe(ends))
        return false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);         /* it may end early: an error, not our end */
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_adddup2(&actions, file, 1);
    bool good = !posix_spawnp(&child, words[0], &actions, NULL, (char **)(uintptr_t)words, environ);
    close(ends[0]);
    for (size_t at = 0; good && at < text->size;) {
        const ssize_t wrote = write(ends[1], text->data + at, text->size - at);
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    close(ends[1]);
    if (good)
        good = waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
    posix_spawn_file_actions_destroy(&actions);
    signal(SIGPIPE, before);
    return good;
}

static bool write_png(const struct buffer *svg, const char *path, struct error *error)
{
    static const char *const words[] = { "rsvg-convert", "--zoom", "1.5", NULL };
    struct output output;
    if (!output_open(svg->arena, "--plot", path, &output, error))
        return false;
    if (feed(words, svg, fileno(output.stream)))
        return output_close(&output, error);
    output_drop(&output);
    error_set(error, "--plot: rsvg-convert did not draw '%s'", path);
    return error_expected(error, "rsvg-convert on the PATH (package librsvg2-bin), or a name ending in .svg");
}

/* ---- the terminal --------------------------------------------------------------------------------- */

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

static const char *axis_title(struct arena *arena, const struct picture_axis *axis)
{
    return plot_quoted(arena, *axis->unit ? arena_print(arena, "%s%s%s", axis->name, *axis->name ? ", " : "",
                                                        axis->unit) : axis->name);
}

static void print_range(struct buffer *script, char letter, const struct picture_axis *axis)
{
    if (axis->log)
        buffer_print(script, "set logscale %c\n", letter);
    buffer_print(script, "set %crange [", letter);
    buffer_print(script, isnan(axis->from) ? axis->log ? "*" : "*<0" : "%.9g", axis->from);
    buffer_print(script, ":");
    buffer_print(script, isnan(axis->to) ? "*" : "%.9g", axis->to);
    buffer_print(script, "]\n");
}

void plot_script(const struct picture *picture, struct buffer *script)
{
    struct arena *arena = script->arena;
    size_t drawn = 0;
    /* Gnuplot 6 writes 10^6 on two lines by default; this format is the default of gnuplot 5. */
    buffer_print(script, "reset\nset terminal dumb 79 24\nset key outside bottom center maxrows 2\nset format xy '%% g'\n"
                 "set title %s noenhanced\nset xlabel %s noenhanced\nset ylabel %s noenhanced\n",
                 plot_quoted(arena, picture->title), axis_title(arena, &picture->x),
                 axis_title(arena, &picture->y));
    print_range(script, 'x', &picture->x);
    print_range(script, 'y', &picture->y);
    for (size_t i = 0; i < picture->line_count; i++)
        if (picture->lines[i].count)
            buffer_print(script, "%s'-' using 1:2 with %s title %s noenhanced", drawn++ ? ", " : "plot ",
                         picture->lines[i].count > 1 ? "lines" : "points",
                         plot_quoted(arena, picture->lines[i].name));
    if (picture->dot_count)
        buffer_print(script, "%s'-' using 1:2 with points pt 'o' title 'measured'", drawn++ ? ", " : "plot ");
    buffer_print(script, drawn ? "\n" : "plot NaN notitle\n");
    for (size_t i = 0; i < picture->line_count; i++) {
        const struct picture_line *line = &picture->lines[i];
        for (size_t k = 0; k < line->count; k++)
            if (isnan(line->points[k].x))
                buffer_print(script, "\n");
            else
                buffer_print(script, "%.9g %.9g\n", line->points[k].x, line->points[k].y);
        buffer_print(script, line->count ? "e\n" : "");
    }
    for (size_t i = 0; i < picture->dot_count; i++)
        buffer_print(script, "%.9g %.9g\n", picture->dots[i].x, picture->dots[i].y);
    buffer_print(script, picture->dot_count ? "e\n" : "");
}

/* Where a bar begins and ends. */
static void bar_ends(const struct picture *picture, size_t index, double *from, double *to)
{
    double end = 0;
    for (size_t i = 0; i <= index; i++) {
        const struct picture_bar *bar = &picture->bars[i];
        *from = !isnan(bar->from) ? bar->from : bar->total ? 0 : end;
        *to = *from;
        for (size_t k = 0; k < bar->count; k++)
            *to += bar->parts[k].value;
        if (!bar->count && !isnan(bar->range.low))
            *from = bar->range.low, *to = bar->range.high;
        else if (!bar->count && !isnan(bar->measured))
            *from = 0, *to = bar->measured;
        else
            end = *to;
    }
    if (*from > *to) {
        const double swap = *from;
        *from = *to, *to = swap;
    }
}

void plot_bars(const struct picture *picture, struct buffer *out)
{
    enum { COLUMNS = 40, NAMES = 28 };
    double least = 0, most = 0, from, to;
    for (size_t i = 0; i < picture->bar_count; i++) {
        bar_ends(picture, i, &from, &to);
        least = fmin(least, from);
        most = fmax(most, to);
    }
    buffer_print(out, "%s\n", picture->title);
    for (size_t i = 0; i < picture->bar_count; i++) {
        bar_ends(picture, i, &from, &to);
        const double scale = most > least ? COLUMNS / (most - least) : 0;
        const int first = (int)((from - least) * scale + 0.5), last = (int)((to - least) * scale + 0.5);
        const char *name = picture->bars[i].name;
        buffer_print(out, "  %-*.*s  %*s", NAMES, NAMES, name, first, "");
        for (int k = first; k < last || k == first; k++)
            buffer_print(out, "\u2588");
        buffer_print(out, " %s\n", picture->bars[i].text ? picture->bars[i].text
                                                         : quantity_text(out->arena, to - from, unit_one, 3));
    }
    buffer_print(out, "  %-*s  %s%s%s\n", NAMES, "", picture->x.name, *picture->x.unit && *picture->x.name
                 ? ", " : "", picture->x.unit);
}

static bool draw_here(const struct picture *picture, struct arena *arena)
{
    static const char *const words[] = { "gnuplot", NULL };
    struct buffer out = { .arena = arena };
    fflush(stdout);
    if (picture->bar_count) {
        plot_bars(picture, &out);
        return fwrite(out.data, 1, out.size, stdout) == out.size;
    }
    plot_script(picture, &out);
    return feed(words, &out, STDOUT_FILENO);
}

static bool draw_terminal(const struct picture *picture, struct error *error)
{
    struct arena scratch = arena_beside(picture->arena);
    bool good = picture->panel_count || draw_here(picture, &scratch);
    for (size_t i = 0; i < picture->panel_count && good; i++)
        good = draw_here(&picture->panels[i], &scratch);
    arena_free(&scratch);
    if (good)
        return true;
    error_set(error, "--plot: gnuplot did not draw on the terminal");
    return error_expected(error, "gnuplot on the PATH (package gnuplot-nox), or a name ending in .svg");
}

bool plot_write(const struct picture *picture, const char *path, struct error *error)
{
    struct buffer svg = { .arena = picture->arena };
    if (!strcmp(path, "-"))
        return draw_terminal(picture, error);
    const bool png = ends_in(path, ".png");
    picture_svg(&svg, picture, WIDTH, 0, png ? PICTURE_LIGHT : PICTURE_AUTO);
    return png ? write_png(&svg, path, error)
               : file_write(svg.arena, "--plot", path, (struct text){ svg.data, svg.size }, error);
}
