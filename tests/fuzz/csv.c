/* Any bytes as a CSV file and as sheets of the catalog: an answer or an error, never a
 * crash, a leak or a wait. What was read is written and read again, and must be the same. */
#include "catalog/catalog.h"

#include <assert.h>
#include <string.h>

static void write_cell(struct buffer *out, const char *cell)
{
    buffer_print(out, "\"");
    for (; *cell; cell++)
        buffer_print(out, *cell == '"' ? "\"\"" : "%c", *cell);
    buffer_print(out, "\"");
}

static void read_again(struct arena *arena, const struct csv *csv)
{
    struct buffer out = { .arena = arena };
    struct csv again;
    struct error error;
    size_t cells = csv->columns * (csv->rows + 1);
    for (size_t i = 0; i < cells; i++) {
        write_cell(&out, csv_at(csv, i));
        buffer_print(&out, (i + 1) % csv->columns ? "," : "\r\n");
    }
    bool read = csv_read_any(arena, "again", (struct text){ out.data, out.size }, &again, &error);
    assert(read && again.columns == csv->columns && again.rows == csv->rows);
    for (size_t i = 0; read && i < cells; i++)
        assert(!strcmp(csv_at(csv, i), csv_at(&again, i)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct csv csv;
    struct error error;
    struct text text = { (const char *)data, size };
    if (csv_read_any(&arena, "fuzz", text, &csv, &error))
        read_again(&arena, &csv);
    for (int kind = 0; kind < CATALOG_KINDS; kind++) {
        struct catalog catalog;
        struct facts facts = { .arena = &arena };
        struct doc *config;
        catalog_open(&catalog, &arena);
        if (!catalog_read(&catalog, (enum catalog_kind)kind, "fuzz", text, &error))
            continue;
        for (size_t i = 0; i < catalog_count(&catalog, (enum catalog_kind)kind) && i < 4; i++) {
            const char *name = catalog_entry(&catalog, (enum catalog_kind)kind, i)->name;
            if (kind == CATALOG_MACHINE)
                catalog_machine(&catalog, name, &facts, &error);
            if (kind == CATALOG_MODEL)
                catalog_model(&catalog, name, &config, &error);
        }
        if (kind == CATALOG_TIER) {
            catalog_tiers_needed(&catalog, &error);
            catalog_tiers(&catalog, &facts);
        }
    }
    arena_free(&arena);
    return 0;
}
