/* data/devices.csv has a machine in each row and a fact in each column. Here it becomes the lines that
 * data/hardware.csv would have for the same machines, so that a catalog reads both alike.
 *
 * A header is a fact and its unit, "hbm_bandwidth GB/s"; one without a unit is a text. A fact's source, mark and
 * note stand in the next columns of those names to its right, and a source is a number of
 * data/device_sources.csv. Several aliases share a cell, with a bar between them; "4x" is four times the
 * peak_fp32 of the row. The page has no names that follow from the title. */
#include "catalog/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_CELLS = 8, COLUMNS_MOST = 64 };
static const char *const line_header[LINE_CELLS] = { "name", "fact", "value", "unit", "source", "date", "mark",
                                                     "note" };

struct lines {
    struct arena *arena;
    struct buffer text;
    uint32_t *cells;
    size_t count, room;                     /* cells */
    int *numbers;                           /* of each line in devices.csv */
    size_t line_count, line_room;
};

struct device_column {
    uint32_t fact, unit;
    int source, mark, note;                 /* columns; -1: none */
    bool is_fact;
};

struct cited { uint32_t source, date; };

static uint32_t add_text(struct lines *lines, const char *text, size_t size)
{
    const size_t at = lines->text.size;
    buffer_add(&lines->text, text, size);
    buffer_add(&lines->text, "", 1);
    return (uint32_t)at;
}

static void add_cell(struct lines *lines, uint32_t at)
{
    *(uint32_t *)arena_push(lines->arena, &lines->cells, &lines->count, &lines->room, sizeof at) = at;
}

static int next_column(const struct csv *wide, size_t from, const char *name)
{
    for (size_t i = from; i < wide->columns; i++)
        if (!strcmp(csv_header(wide, i), name))
            return (int)i;
    return -1;
}

static void read_header(struct lines *lines, const struct csv *wide, struct device_column *columns)
{
    for (size_t i = 0; i < wide->columns && i < COLUMNS_MOST; i++) {
        const char *header = csv_header(wide, i), *space = strchr(header, ' ');
        const size_t size = space ? (size_t)(space - header) : strlen(header);
        const bool beside = !strcmp(header, "source") || !strcmp(header, "mark") || !strcmp(header, "note");
        columns[i].is_fact = i && !beside;
        columns[i].source = next_column(wide, i, "source");
        columns[i].mark = space ? next_column(wide, i, "mark") : -1;        /* names are ours */
        columns[i].note = next_column(wide, i, "note");
        columns[i].fact = add_text(lines, header, size);
        columns[i].unit = space ? add_text(lines, space + 1, strlen(space + 1)) : add_text(lines, "text", 4);
    }
}

/* The place of the source with this number; the number of sources: there is none. */
static size_t source_of(const struct csv *sources, const char *number)
{
    const size_t at = (size_t)strtoul(number, NULL, 10);
    return at && at <= sources->rows && !strcmp(csv_cell(sources, at - 1, 0), number) ? at - 1 : sources->rows;
}

static void add_line(struct lines *lines, const struct csv *wide, size_t row, const struct device_column *column,
                     struct text value, uint32_t name, struct cited cited)
{
    const char *mark = csv_cell(wide, row, column->mark), *note = csv_cell(wide, row, column->note);
    const uint32_t empty = 0;                           /* the first text */
    add_cell(lines, name);
    add_cell(lines, column->fact);
    add_cell(lines, add_text(lines, value.data, value.size));
    add_cell(lines, column->unit);
    add_cell(lines, cited.source);
    add_cell(lines, cited.date);
    add_cell(lines, *mark ? add_text(lines, mark, strlen(mark)) : empty);
    add_cell(lines, *note ? add_text(lines, note, strlen(note)) : empty);
    *(int *)arena_push(lines->arena, &lines->numbers, &lines->line_count, &lines->line_room,
                       sizeof *lines->numbers) = wide->lines[row];
}

void device_name_of(const char *title, char *name, size_t room)
{
    static const char *const idle[] = { "-gpu", "-generation" };
    size_t size = 0;
    for (const char *at = title; *at && size + 1 < room; at++) {
        const bool letter = isalnum((unsigned char)*at);
        const bool number = size > 1 && name[size - 1] == '-' && isdigit((unsigned char)name[size - 2]);
        if (number && !strncmp(at, "GB", 2))
            size--;                                     /* "16 GB" */
        if (letter || (size && name[size - 1] != '-'))
            name[size++] = letter ? (char)tolower((unsigned char)*at) : '-';
    }
    while (size && name[size - 1] == '-')
        size--;
    name[size] = 0;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (ends_with(name, idle[i]))
            name[strlen(name) - strlen(idle[i])] = 0;
}

/* "4x" with the row's peak_fp32; other cells as they are. */
static struct text value_of(struct lines *lines, const struct csv *wide, size_t row, const char *cell,
                            size_t size)
{
    const int fp32 = csv_column(wide, "peak_fp32 TFLOP/s");
    const size_t digits = strspn(cell, "0123456789.");
    if (!digits || digits + 1 != size || cell[digits] != 'x' || fp32 < 0)
        return (struct text){ cell, size };
    const double times = strtod(cell, NULL), one = strtod(csv_cell(wide, row, fp32), NULL);
    return text_of(arena_print(lines->arena, "%.6g", times * one));
}

static bool add_machine(struct lines *lines, const struct csv *wide, size_t row, const struct device_column *columns,
                        const struct csv *sources, const struct cited *cited, struct error *error)
{
    char made[128];
    const char *id = csv_cell(wide, row, 0);
    if (!*id)
        device_name_of(csv_cell(wide, row, csv_column(wide, "title")), made, sizeof made);
    id = *id ? id : made;
    const uint32_t name = add_text(lines, id, strlen(id));
    for (size_t i = 0; i < wide->columns && i < COLUMNS_MOST; i++) {
        const char *cell = csv_cell(wide, row, (int)i);
        if (!columns[i].is_fact || !*cell)
            continue;
        const char *number = csv_cell(wide, row, columns[i].source);
        const size_t at = source_of(sources, number);
        if (at == sources->rows)
            return error_set(error, "%s:%d: no source '%s' in %s", wide->file, wide->lines[row], number,
                             sources->file);
        for (size_t size; *cell; cell += size + (cell[size] != 0)) {
            size = strcspn(cell, "|");
            add_line(lines, wide, row, &columns[i], value_of(lines, wide, row, cell, size), name, cited[at]);
        }
    }
    return true;
}

bool devices_expand(struct arena *arena, const struct csv *wide, const struct csv *sources, struct csv *narrow,
                    struct error *error)
{
    struct lines lines = { .arena = arena, .text.arena = arena };
    struct device_column columns[COLUMNS_MOST];
    struct cited *cited = arena_array(arena, sources->rows + 1, sizeof *cited);
    add_text(&lines, "", 0);
    for (int i = 0; i < LINE_CELLS; i++)
        add_cell(&lines, add_text(&lines, line_header[i], strlen(line_header[i])));
    read_header(&lines, wide, columns);
    for (size_t i = 0; i < sources->rows; i++) {
        const char *source = csv_cell(sources, i, 1), *date = csv_cell(sources, i, 2);
        cited[i].source = add_text(&lines, source, strlen(source));
        cited[i].date = add_text(&lines, date, strlen(date));
    }
    for (size_t row = 0; row < wide->rows; row++)
        if (!add_machine(&lines, wide, row, columns, sources, cited, error))
            return false;
    *narrow = (struct csv){ .file = wide->file, .columns = LINE_CELLS, .rows = lines.line_count,
                            .text = lines.text.data, .cells = lines.cells, .lines = lines.numbers };
    return true;
}
