/* Counts as text, and tables of text: aligned for people, or CSV. */
#include "report/fit.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *count_text(struct arena *arena, double count, int digits)
{
    return quantity_text(arena, count, unit_one, digits);
}

const char *large_text(struct arena *arena, double value)
{
    static const struct { double scale; const char *letter; } steps[] = {
        { 1e15, "P" }, { 1e12, "T" }, { 1e9, "B" }, { 1e6, "M" } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (value >= steps[i].scale && isfinite(value))
            return arena_print(arena, "%s %s", quantity_text(arena, value / steps[i].scale, unit_one, 3),
                               steps[i].letter);
    return quantity_text(arena, value, unit_one, 6);
}

void table_cell(struct table *table, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    *(const char **)arena_push(table->arena, &table->cells, &table->count, &table->room,
                               sizeof *table->cells) = arena_copy(table->arena, text, strlen(text));
}

/* ---- tables on a screen ------------------------------------------------------------------------ */

struct shape {
    const struct table *table;
    size_t *widths, *least;         /* of each column, and how narrow it can be; 0: no cell has any text */
};

static const size_t GAP = 2;

/* The columns that these take. */
static size_t sum(const size_t *widths, size_t from, size_t to)
{
    size_t all = 0;
    for (size_t i = from; i < to; i++)
        all += widths[i] ? widths[i] + (all ? GAP : 0) : 0;
    return all;
}

/* Narrow the widest columns, whose cells then have several lines, until all fit `most` columns of the terminal or
 * none can be narrower. */
static void narrow(struct shape *shape, size_t from, size_t to, size_t most)
{
    while (sum(shape->widths, from, to) > most) {
        size_t widest = to;
        for (size_t i = from; i < to; i++)
            if (shape->widths[i] > shape->least[i] && (widest == to || shape->widths[i] > shape->widths[widest]))
                widest = i;
        if (widest == to)
            return;
        shape->widths[widest]--;
    }
}

/* Is it a column of bars, which say what a number beside them says? */
static bool is_bars(const struct table *table, size_t column)
{
    for (size_t i = column; i < table->count; i += table->columns)
        for (const char *at = table->cells[i]; *at; at++)
            if (*at != ' ' && (unsigned char)*at < 0x80)
                return false;
    return true;
}

/* One row of some columns, in as many lines as its highest cell has. */
static void print_row(const struct shape *shape, size_t row, size_t from, size_t to, const char *indent,
                      size_t further, struct buffer *out)
{
    const struct table *table = shape->table;
    const char *const *cells = table->cells + row * table->columns;
    struct text *rests = arena_array(out->arena, table->columns, sizeof *rests);
    bool more = true, empty = true;
    for (size_t i = from; i < to; i++) {
        rests[i] = text_of(shape->widths[i] ? cells[i] : "");
        empty &= !rests[i].size;
    }
    if (empty && from)
        return;
    while (more) {
        buffer_print(out, "%s%*s", indent, (int)further, "");
        bool begun = more = false;
        for (size_t i = from; i < to; i++) {
            if (!shape->widths[i])
                continue;
            const bool left = table->left && table->left[i] == 'l';
            struct text part = rests[i];
            if (text_columns(part) > shape->widths[i])
                part = text_part(part, shape->widths[i], &rests[i]);
            else
                rests[i] = (struct text){ "", 0 };
            const size_t used = text_columns(part);
            const int space = used < shape->widths[i] ? (int)(shape->widths[i] - used) : 0;
            buffer_print(out, "%s%*s%.*s%*s", begun ? "  " : "", left ? 0 : space, "", (int)part.size, part.data,
                         left ? space : 0, "");
            begun = true;
            more |= rests[i].size > 0;
        }
        while (out->size && out->data[out->size - 1] == ' ')
            out->data[--out->size] = 0;
        buffer_add(out, "\n", 1);
    }
}

void table_print(const struct table *table, struct buffer *out, const char *indent)
{
    enum { FURTHER = 4, READABLE = 20 };        /* FURTHER: indentation of the further lines of a row */
    struct shape shape = { table, arena_array(table->arena, table->columns, sizeof *shape.widths),
                           arena_array(table->arena, table->columns, sizeof *shape.least) };
    const size_t before = strlen(indent), columns = table->columns;
    for (size_t i = 0; i < table->count; i++) {
        const size_t width = text_columns(text_of(table->cells[i])), least = text_least(text_of(table->cells[i]));
        shape.widths[i % columns] = width > shape.widths[i % columns] ? width : shape.widths[i % columns];
        shape.least[i % columns] = least > shape.least[i % columns] ? least : shape.least[i % columns];
    }
    const size_t most = !out->columns ? SIZE_MAX : out->columns > before + FURTHER + 1
                                                   ? out->columns - before : FURTHER + 1;
    for (size_t i = 0; i < columns; i++)
        if (sum(shape.widths, 0, columns) > most && is_bars(table, i))
            shape.widths[i] = shape.least[i] = 0;
    /* Columns up to ends[i] are one line of a row. Each is as wide as its cells, or READABLE, at least. */
    size_t *ends = arena_array(table->arena, columns, sizeof *ends), lines = 0;
    size_t *wanted = arena_array(table->arena, columns, sizeof *wanted);
    for (size_t i = 0; i < columns; i++)
        wanted[i] = shape.widths[i] < READABLE ? shape.widths[i] : shape.least[i] > READABLE ? shape.least[i] : READABLE;
    for (size_t from = 0; from < columns; from = ends[lines++]) {
        const size_t room = lines ? most - FURTHER : most;
        size_t to = from + 1;
        while (to < columns && sum(wanted, from, to + 1) <= room)
            to++;
        narrow(&shape, from, to, room);
        ends[lines] = to;
    }
    for (size_t row = 0; row * columns < table->count; row++)
        for (size_t i = 0; i < lines; i++)
            print_row(&shape, row, i ? ends[i - 1] : 0, ends[i], indent, i ? FURTHER : 0, out);
}

void table_csv(const struct table *table, struct buffer *out)
{
    if (!out->arena)
        return;
    for (size_t i = 0; i < table->count; i++) {
        const char *cell = table->cells[i];
        bool quote = strpbrk(cell, ",\"\n") != NULL;
        buffer_print(out, "%s%s", i % table->columns ? "," : "", quote ? "\"" : "");
        for (; *cell; cell++)
            buffer_print(out, *cell == '"' ? "\"\"" : "%c", *cell);
        buffer_print(out, "%s%s", quote ? "\"" : "", (i + 1) % table->columns ? "" : "\n");
    }
}
