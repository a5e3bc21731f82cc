/* Packs the entries of a sheet: how many rows each has and where its title is. Its table is packed by
 * itself (rows/packed.h). */
#include "catalog/packed.h"

#include <string.h>

enum { COLUMNS = 9 };

static void columns_of(struct catalog_sheet *sheet, int *columns[COLUMNS])
{
    int *const list[COLUMNS] = { &sheet->name, &sheet->fact, &sheet->value, &sheet->unit, &sheet->source,
                                 &sheet->date, &sheet->mark, &sheet->note, &sheet->model };
    memcpy(columns, list, sizeof list);
}

/* Which row of an entry has its title, from 1; 0: it is called by its name. */
static size_t title_row(const struct catalog_entry *entry)
{
    const struct catalog_sheet *sheet = entry->sheet;
    for (size_t i = 0; i < entry->rows; i++)
        if (!strcmp(csv_cell(&sheet->csv, entry->first + i, sheet->value), entry->title) &&
            !strcmp(csv_cell(&sheet->csv, entry->first + i, sheet->fact), "title"))
            return i + 1;
    return 0;
}

void pack_sheet(struct packer *packer, const struct catalog_sheet *sheet)
{
    struct catalog_sheet copy = *sheet;
    int *columns[COLUMNS];
    columns_of(&copy, columns);
    for (int i = 0; i < COLUMNS; i++)
        pack_count(packer, PACK_COUNTS, (size_t)(*columns[i] + 1));
    pack_count(packer, PACK_COUNTS, sheet->count);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct catalog_entry *entry = &sheet->entries[i];
        const bool named = !strcmp(csv_cell(&sheet->csv, entry->first, sheet->name), entry->name);
        pack_count(packer, PACK_COUNTS, entry->rows);
        pack_count(packer, PACK_COUNTS, 2 * title_row(entry) + named);
        if (!named)
            pack_text(packer, PACK_TEXTS, entry->name);
    }
}

void unpack_sheet(struct unpacker *unpacker, enum catalog_kind kind, const struct csv *csv,
                  struct catalog_sheet *sheet)
{
    int *columns[COLUMNS];
    *sheet = (struct catalog_sheet){ .kind = kind, .csv = *csv };
    columns_of(sheet, columns);
    for (int i = 0; i < COLUMNS; i++)
        *columns[i] = (int)unpack_count(unpacker, PACK_COUNTS) - 1;
    sheet->count = unpack_count(unpacker, PACK_COUNTS);
    struct catalog_entry *entries = arena_array(unpacker->arena, sheet->count + 1, sizeof *entries);
    size_t first = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        const size_t rows = unpack_count(unpacker, PACK_COUNTS);
        const size_t title = unpack_count(unpacker, PACK_COUNTS);
        struct catalog_entry *entry = &entries[i];
        entry->sheet = sheet;
        entry->first = first;
        entry->rows = rows;
        entry->name = title % 2 ? csv_cell(csv, first, sheet->name) : unpack_text(unpacker, PACK_TEXTS);
        entry->title = title / 2 ? csv_cell(csv, first + title / 2 - 1, sheet->value) : entry->name;
        first += rows;
    }
    sheet->entries = entries;
}
