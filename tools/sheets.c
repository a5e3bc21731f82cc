/* sheets FILE.csv... -- write C that holds the tables of data/ as they are read: the sheets of the
 * catalog, checked, the number formats, and every table by its path.
 *
 * All cells stand in one run of bytes, and a table says where its cells begin. Texts of several tables stand
 * there once, unless that is too far away for the 16 bits of a table's offsets. */
#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/formats.h"
#include "tools/literal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 24 };

static void fail(const struct error *error)
{
    fprintf(stderr, "sheets: %s\n  %s: %s\n", error->what, error_label(error), error->hint);
    exit(1);
}

static struct text read_text(struct arena *arena, const char *path)
{
    struct error error = { .what = "" };
    struct text text;
    if (!file_read(arena, path, LIMIT, &text, &error))
        fail(&error);
    return text;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Bytes of the different texts of a table. */
static size_t text_size(struct arena *arena, const struct csv *csv)
{
    struct text_pool own = pool_new(arena);
    for (size_t i = 0; i < csv->columns * (csv->rows + 1); i++)
        pool_add(&own, csv_at(csv, i));
    return own.size;
}

/* TABLE_N is a struct csv, which the catalog holds too. */
static void write_table(struct text_pool *pool, struct buffer *out, int number, const struct csv *csv)
{
    const size_t span = UINT16_MAX + 1, most = text_size(out->arena, csv), end = pool->size + most;
    const bool near = most <= span;
    const uint32_t from = near && end > span ? (uint32_t)(end - span) : 0;
    buffer_print(out, "static const %s cells_%d[] = {", near ? "uint16_t" : "uint32_t", number);
    for (size_t i = 0; i < csv->columns * (csv->rows + 1); i++)
        buffer_print(out, "%s%u,", i % 16 ? "" : "\n    ", pool_add_from(pool, csv_at(csv, i), from) - from);
    buffer_print(out, "\n};\nstatic const int lines_%d[] = {", number);
    for (size_t i = 0; i < csv->rows; i++)
        buffer_print(out, "%s%d,", i % 16 ? "" : "\n    ", csv->lines[i]);
    buffer_print(out, "\n};\n#define TABLE_%d { .file = ", number);
    write_string(out, text_of(csv->file));
    buffer_print(out, ", .columns = %zu, .rows = %zu, \\\n    .text = pool + %u, .%s = cells_%d, "
                 ".lines = lines_%d }\n", csv->columns, csv->rows, from, near ? "near" : "cells", number, number);
}

static void write_formats(struct buffer *out, const struct formats *formats)
{
    buffer_print(out, "static const struct format format[] = {\n");
    for (size_t i = 0; i < formats->count; i++) {
        const struct format *format = &formats->format[i];
        buffer_print(out, "    { \"%s\", %a, 0, %a, \"%s\", \"%s\", \"%s\", \"%s\" },\n", format->name,
                     format->bytes, format->block, format->peak, format->reached, format->launch, format->trained);
    }
    buffer_print(out, "};\n\nconst struct formats *formats_built_in(void)\n{\n"
                 "    static const struct formats formats = { %zu, format };\n"
                 "    return &formats;\n}\n", formats->count);
}

/* ---- the catalog ---------------------------------------------------------------------------- */

static void write_entries(struct buffer *out, const struct catalog_sheet *sheet, const char *list,
                          const char *place)
{
    buffer_print(out, "static const struct catalog_entry entries_%s[] = {\n", list);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct catalog_entry *entry = &sheet->entries[i];
        buffer_print(out, "    { .sheet = &catalog.%s, .first = %zu, .rows = %zu, .name = ", place, entry->first,
                     entry->rows);
        write_string(out, text_of(entry->name));
        buffer_print(out, ", .title = ");
        write_string(out, text_of(entry->title));
        buffer_print(out, " },\n");
    }
    buffer_print(out, "};\n");
}

static void write_sheet(struct buffer *out, const char *list, int table, const struct catalog_sheet *sheet)
{
    buffer_print(out, "    { .kind = %d, .csv = TABLE_%d, .name = %d, .fact = %d, .value = %d, "
                 ".unit = %d,\n      .source = %d, .date = %d, .mark = %d, .note = %d, .model = %d, "
                 ".entries = entries_%s, .count = %zu },\n", (int)sheet->kind, table, sheet->name,
                 sheet->fact, sheet->value, sheet->unit, sheet->source, sheet->date, sheet->mark,
                 sheet->note, sheet->model, list, sheet->count);
}

static int table_of(const char *path, char *const *words, int count)
{
    for (int i = 1; i < count; i++)
        if (!strcmp(words[i], path))
            return i;
    fprintf(stderr, "sheets: %s is missing\n", path);
    exit(1);
}

/* Its table is not that of data/devices.csv but its lines, which no path leads to. */
static void write_devices(struct text_pool *pool, struct buffer *out, struct buffer *sheets, struct catalog *catalog)
{
    enum { TABLE = 0 };                                 /* the others count from 1 */
    struct error error = { .what = "" };
    struct csv wide, sources;
    if (!csv_read_groups(catalog->arena, DEVICES_FILE, read_text(catalog->arena, DEVICES_FILE), &wide, &error) ||
        !csv_read(catalog->arena, DEVICE_SOURCES_FILE, read_text(catalog->arena, DEVICE_SOURCES_FILE), &sources,
                  &error) ||
        !catalog_read_devices(catalog, &wide, &sources, true, &error))
        fail(&error);
    write_table(pool, out, TABLE, &catalog->devices.csv);
    write_entries(out, &catalog->devices, "devices", "devices");
    buffer_print(sheets, "    }, .devices =\n");
    write_sheet(sheets, "devices", TABLE, &catalog->devices);
}

static void write_catalog(struct arena *arena, struct text_pool *pool, struct buffer *out, char *const *words, int count)
{
    struct catalog catalog = { .arena = arena };
    struct buffer sheets = { .arena = arena };
    struct error error = { .what = "" };
    buffer_print(out, "static const struct catalog catalog;\n");
    for (int kind = 0; kind < CATALOG_KINDS; kind++) {
        const char *path = catalog_file((enum catalog_kind)kind);
        if (!catalog_read(&catalog, (enum catalog_kind)kind, path, read_text(arena, path), &error))
            fail(&error);
        write_entries(out, &catalog.sheets[kind], arena_print(arena, "%d", kind),
                      arena_print(arena, "sheets[%d]", kind));
        write_sheet(&sheets, arena_print(arena, "%d", kind), table_of(path, words, count), &catalog.sheets[kind]);
    }
    write_devices(pool, out, &sheets, &catalog);
    buffer_print(out, "static const struct catalog catalog = { .sheets = {\n%s};\n\n"
                 "const struct catalog *catalog_built_in(void)\n{\n    return &catalog;\n}\n",
                 sheets.data);
}

int main(int count, char **words)
{
    static struct arena arena;
    struct buffer out = { .arena = &arena };
    struct text_pool pool = pool_new(&arena);
    struct error error = { .what = "" };
    struct formats formats;
    struct csv csv;
    for (int i = 1; i < count; i++) {
        if (!csv_read_groups(&arena, words[i], read_text(&arena, words[i]), &csv, &error) ||
            (!strcmp(words[i], FORMATS_FILE) && !formats_read(&arena, &csv, &formats, &error)))
            fail(&error);
        write_table(&pool, &out, i, &csv);
    }
    table_of(FORMATS_FILE, words, count);
    write_formats(&out, &formats);
    write_catalog(&arena, &pool, &out, words, count);
    printf("/* Written by tools/sheets.c from data/. */\n#include \"catalog/catalog.h\"\n"
           "#include \"catalog/formats.h\"\n#include \"catalog/sheet.h\"\n\n#include <string.h>\n\n"
           "static const char pool[] =\n%s;\n%s\n"
           "const struct csv *csv_built_in(const char *path)\n{\n"
           "    static const struct csv tables[] = {\n", pool.out.data, out.data);
    for (int i = 1; i < count; i++)
        printf("        TABLE_%d,\n", i);
    printf("    };\n    size_t i = 0;\n    while (strcmp(tables[i].file, path))\n        i++;\n"
           "    return &tables[i];\n}\n");
    arena_free(&arena);
    return ferror(stdout) != 0;
}
