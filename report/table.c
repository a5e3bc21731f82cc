/* Counts as text, and tables of text: aligned for people, or CSV. */
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

/* Columns on the screen; a character of several bytes is one. */
static int width(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

void table_print(const struct table *table, struct buffer *out, const char *indent)
{
    int *widths = arena_array(table->arena, table->columns, sizeof *widths);
    size_t first = table->columns, last = 0;        /* of the columns that have any text */
    for (size_t i = 0; i < table->count; i++)
        if (width(table->cells[i]) > widths[i % table->columns])
            widths[i % table->columns] = width(table->cells[i]);
    for (size_t i = 0; i < table->columns; i++) {
        first = widths[i] && i < first ? i : first;
        last = widths[i] ? i : last;
    }
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->columns;
        const bool left = table->left && table->left[column] == 'l';
        const int space = widths[column] - width(table->cells[i]);
        if (!widths[column])
            continue;
        buffer_print(out, "%s%*s%s%*s", column == first ? indent : "  ", left ? 0 : space, "",
                     table->cells[i], left && column != last ? space : 0, "");
        while (column == last && out->size && out->data[out->size - 1] == ' ')
            out->data[--out->size] = 0;
        if (column == last)
            buffer_add(out, "\n", 1);
    }
}

void table_csv(const struct table *table, struct buffer *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *cell = table->cells[i];
        bool quote = strpbrk(cell, ",\"\n") != NULL;
        buffer_print(out, "%s%s", i % table->columns ? "," : "", quote ? "\"" : "");
        for (; *cell; cell++)
            buffer_print(out, *cell == '"' ? "\"\"" : "%c", *cell);
        buffer_print(out, "%s%s", quote ? "\"" : "", (i + 1) % table->columns ? "" : "\n");
    }
}
