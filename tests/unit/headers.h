/* headers.h -- safetensors headers made by tests, and what is read from files that a question brings along. */
#ifndef TESTS_HEADERS_H
#define TESTS_HEADERS_H

#include "test.h"

#include "build/row_names.h"
#include "import/import.h"

#include <math.h>

/* ---- headers ------------------------------------------------------------------------- */

struct header {
    struct arena *arena;
    struct buffer out;
    double offset, elements;
};

static inline double type_size(const char *type)
{
    return !strcmp(type, "F32") || !strcmp(type, "I32") || !strcmp(type, "U32") ? 4
         : !strcmp(type, "I64") ? 8 : !strcmp(type, "BF16") || !strcmp(type, "F16") ? 2 : 1;
}

/* A tensor of a shape such as "256,512". */
static inline void add(struct header *header, const char *name, const char *type, const char *shape)
{
    double elements = 1;
    for (const char *at = shape; *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : at + strlen(at))
        elements *= atof(at);
    header->out.arena = header->arena;
    buffer_print(&header->out, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%.0f,%.0f]}",
                 header->out.size ? "," : "{", name, type, shape, header->offset,
                 header->offset + elements * type_size(type));
    header->offset += elements * type_size(type);
    header->elements += elements;
}

static inline struct text file_of(struct arena *arena, struct text json, uint64_t size)
{
    struct buffer out = { .arena = arena };
    for (int i = 0; i < 8; i++)
        buffer_add(&out, &(char){ (char)(size >> (8 * i)) }, 1);
    buffer_add(&out, json.data, json.size);
    return (struct text){ out.data, out.size };
}

static inline struct text closed(struct header *header)
{
    buffer_print(&header->out, "}");
    return file_of(header->arena, (struct text){ header->out.data, header->out.size }, header->out.size);
}

/* ---- what is read ---------------------------------------------------------------------- */

struct read {
    struct arena arena;
    struct facts facts;
    struct error error;
    bool good;
    double total, active, bytes, cache;
};

static inline double cell(const struct fact_table *table, size_t entry, const char *column)
{
    for (size_t j = 0; j < table->columns; j++)
        if (!strcmp(table->column[j], column))
            return table->cell[entry * table->columns + j].value;
    return NAN;
}

static inline void sums(struct read *read)
{
    const struct fact *tower = facts_find(&read->facts, NAME_tower_params);
    const struct fact *tower_bytes = facts_find(&read->facts, NAME_tower_bytes);
    const struct fact_table *table = facts_table(&read->facts, "operator");
    for (size_t i = 0; i < table->entries; i++) {
        double one = cell(table, i, NAME_operator_layers) * cell(table, i, NAME_operator_in)
                   * cell(table, i, NAME_operator_out);
        read->total += one * cell(table, i, NAME_operator_copies);
        read->active += one * cell(table, i, NAME_operator_used);
        read->bytes += one * cell(table, i, NAME_operator_copies) * cell(table, i, NAME_operator_bytes);
    }
    read->total += tower->value;
    read->bytes += tower->value * tower_bytes->value;
    table = facts_table(&read->facts, "layer");
    for (size_t i = 0; i < table->entries; i++)
        read->cache += cell(table, i, NAME_layers_storing) * cell(table, i, NAME_cache_elements)
                     * cell(table, i, NAME_entries_per_token);
}

/* Files by path, as a question brings them; the last file has no path. The first is opened. */
static inline void open_files(struct read *read, const struct shelf_file *files, const struct model_options *options)
{
    static struct shelf shelf;
    size_t count = 0;
    while (files[count].path)
        count++;
    shelf = (struct shelf){ files, count };
    *read = (struct read){ .arena = { .shelf = &shelf } };
    struct model_options how = { 0 };
    if (options)
        how = *options;
    how.formats = formats_built_in();
    read->facts.arena = &read->arena;
    read->good = model_file(&read->arena, files[0].path, &how, &read->facts, &read->error);
    if (read->good)
        sums(read);
}

static inline bool noted(const struct read *read, const char *words)
{
    for (size_t i = 0; i < read->facts.note_count; i++)
        if (strstr(read->facts.notes[i], words))
            return true;
    return false;
}

#define assert_noted(read, words) do { if (!noted(read, words)) fail_msg("no note: %s", words); } while (0)

#endif
