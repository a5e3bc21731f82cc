/* Records of named cells, and the sheet that they make (benchmark_parts.h). */
#include "score/benchmark_parts.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MOST = 16, PATH_MOST = 240, CELLS_MOST = 1 << 25 };

static size_t slot_of(const struct records *records, const char *name)
{
    size_t slot = (size_t)hash_text(HASH_START, name) % records->index_size;
    while (records->index[slot] && strcmp(records->names[records->index[slot] - 1], name))
        slot = (slot + 1) % records->index_size;
    return slot;
}

static void grow_index(struct records *records)
{
    records->index_size = records->index_size ? 2 * records->index_size : 256;
    records->index = arena_array(records->arena, records->index_size, sizeof *records->index);
    for (size_t i = 0; i < records->columns; i++)
        records->index[slot_of(records, records->names[i])] = (uint32_t)i + 1;
}

static uint32_t column_of(struct records *records, const char *name)
{
    if (2 * records->columns >= records->index_size)
        grow_index(records);
    const size_t slot = slot_of(records, name);
    if (!records->index[slot]) {
        *(const char **)arena_push(records->arena, &records->names, &records->columns, &records->name_room,
                                   sizeof name) = arena_copy(records->arena, name, strlen(name));
        *(uint32_t *)arena_push(records->arena, &records->newest, &records->newest_count,
                                &records->newest_room, sizeof *records->newest) = 0;
        records->index[slot] = (uint32_t)records->columns;
    }
    return records->index[slot] - 1;
}

void record_add(struct records *records, int line)
{
    *(int *)arena_push(records->arena, &records->lines, &records->rows, &records->line_room,
                       sizeof line) = line;
}

void record_column(struct records *records, const char *name)
{
    column_of(records, name);
}

void record_set(struct records *records, const char *name, const char *text)
{
    if (!*text || text_plain(text_of(text), "") != strlen(text) ||
        text_plain(text_of(name), "") != strlen(name))
        return;
    const uint32_t column = column_of(records, name), row = (uint32_t)records->rows;
    if (records->newest[column] == row)
        return;
    records->newest[column] = row;
    *(struct record_cell *)arena_push(records->arena, &records->cells, &records->cell_count,
                                      &records->cell_room, sizeof *records->cells) =
        (struct record_cell){ row - 1, column, text };
}

void record_number(struct records *records, const char *name, double number)
{
    struct buffer text = { .arena = records->arena };
    if (isnan(number))
        return;
    if (isinf(number))
        buffer_print(&text, number > 0 ? "inf" : "-inf");
    else
        buffer_number(&text, number);
    record_set(records, name, text.data);
}

/* An object, a list of objects, or a short list of texts, such as names. */
static bool has_cells(const struct doc *doc)
{
    return doc->kind == DOC_OBJECT ||
           (doc->kind == DOC_ARRAY && doc->first &&
            (doc->first->kind == DOC_OBJECT || (doc->first->kind == DOC_STRING && doc->count <= ELEMENTS_MOST)));
}

void record_flatten(struct records *records, const char *path, const struct doc *doc)
{
    int at = 0;
    if (strlen(path) > PATH_MOST)
        return;
    for (const struct doc *kid = has_cells(doc) ? doc->first : NULL; kid; kid = kid->next, at++) {
        const char *dot = *path ? "." : "";
        const char *name = doc->kind == DOC_OBJECT
                               ? arena_print(records->arena, "%s%s%s", path, dot, kid->key)
                               : arena_print(records->arena, "%s%s%d", path, dot, at);
        if (doc->kind == DOC_ARRAY && at == ELEMENTS_MOST)
            return;
        if (kid->kind == DOC_NUMBER)
            record_number(records, name, kid->number);
        else if (kid->kind == DOC_STRING)
            record_set(records, name, kid->string);
        else if (kid->kind == DOC_BOOL)
            record_set(records, name, kid->boolean ? "true" : "false");
        else
            record_flatten(records, name, kid);
    }
}

bool records_sheet(const struct records *records, const char *file, struct csv *csv, struct error *error)
{
    if ((records->rows + 1) * records->columns > CELLS_MOST)
        return error_set(error, "%s: %zu records of %zu cells; at most %d cells are read", file,
                         records->rows, records->columns, CELLS_MOST);
    struct buffer text = { .arena = records->arena };
    uint32_t *cells = arena_array(records->arena, (records->rows + 1) * records->columns + 1, sizeof *cells);
    buffer_add(&text, "", 1);
    for (size_t i = 0; i < records->columns; i++) {
        cells[i] = (uint32_t)text.size;
        buffer_add(&text, records->names[i], strlen(records->names[i]) + 1);
    }
    for (size_t i = 0; i < records->cell_count; i++) {
        const struct record_cell *cell = &records->cells[i];
        if (text.size > UINT32_MAX / 2)
            return error_set(error, "%s: more than %u bytes of text", file, UINT32_MAX / 2);
        cells[(cell->row + 1) * records->columns + cell->column] = (uint32_t)text.size;
        buffer_add(&text, cell->text, strlen(cell->text) + 1);
    }
    *csv = (struct csv){ .file = file, .columns = records->columns, .rows = records->rows, .text = text.data,
                         .cells = cells, .lines = records->lines };
    return true;
}
