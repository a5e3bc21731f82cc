/* What is built into the page, unpacked when it is first asked for: as tables of C, which the program
 * has, formulas and sheets would take a fifth more to load. There is one thread. */
#include "base/embedded.h"
#include "catalog/devices.h"
#include "catalog/formats.h"
#include "catalog/packed.h"
#include "catalog/sheet.h"

#include <assert.h>
#include <string.h>

static struct formulas sets[FORMULAS_ALL + 1];
static struct catalog catalog;
static struct csv *tables;
static size_t table_count;

/* The list of prices is there as text, which `deduce` reads as it reads a user's. */
static void read_prices(struct arena *arena, struct csv *csv)
{
    const char *path = catalog_file(CATALOG_PRICE);
    struct error error;
    const bool read = csv_read(arena, path, text_built_in(path), csv, &error);
    assert(read);                       /* tests read it */
    (void)read;
}

/* Machines that stand in a row each take less to fetch than their lines. */
static void read_devices(struct arena *arena)
{
    struct error error;
    catalog.arena = arena;
    const bool read = catalog_read_devices(&catalog, csv_built_in(DEVICES_FILE), csv_built_in(DEVICE_SOURCES_FILE),
                                           false, &error);
    assert(read);                       /* tests read them */
    (void)read;
    catalog.arena = NULL;
}

static struct arena *unpacked(void)
{
    static struct arena arena;
    if (sets->count)
        return &arena;
    struct unpacker unpacker = { .arena = &arena };
    memcpy(unpacker.parts, embedded_parts, sizeof unpacker.parts);
    unpack_formulas(&unpacker, sets);
    table_count = unpack_count(&unpacker, PACK_COUNTS);
    tables = arena_array(&arena, table_count + 1, sizeof *tables);
    for (size_t i = 0; i < table_count; i++)
        unpack_csv(&unpacker, &tables[i]);
    read_prices(&arena, &tables[table_count++]);
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        unpack_sheet(&unpacker, kind, csv_built_in(catalog_file(kind)), &catalog.sheets[kind]);
    }
    read_devices(&arena);
    return &arena;
}

const struct formulas *formulas_built_in(unsigned conditions)
{
    unpacked();
    return &sets[conditions];
}

const struct catalog *catalog_built_in(void)
{
    unpacked();
    return &catalog;
}

/* A table that the page was built without has no rows. */
const struct csv *csv_built_in(const char *path)
{
    static const struct csv none;
    unpacked();
    size_t i = 0;
    while (i < table_count && strcmp(tables[i].file, path))
        i++;
    return i < table_count ? &tables[i] : &none;
}

const struct formats *formats_built_in(void)
{
    static struct formats formats;
    struct error error;
    if (formats.count)
        return &formats;
    const bool read = formats_read(unpacked(), csv_built_in(FORMATS_FILE), &formats, &error);
    assert(read);                       /* tests read it */
    (void)read;
    return &formats;
}
