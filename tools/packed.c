/* packed FILE.csv... [--without FILE.chalk]... -- write C that holds the formulas, the tables and the
 * catalog as the build has read them, packed for the page (rows/packed.h). The order is that in which
 * serve/library.c unpacks: formulas; the number of tables, each table; each sheet of the catalog. The
 * chapters of each FILE.chalk, which must be the last that are read, in that order, stay out of the page,
 * and so do notes. */
#include "catalog/devices.h"
#include "catalog/packed.h"
#include "catalog/sheet.h"

#include <stdio.h>
#include <string.h>

/* Rows keep their numbers, since those that go are the last. */
static bool cut(struct arena *arena, struct formulas *formulas, const char *file)
{
    while (formulas->count && !strcmp(row_file(formulas_row(formulas, formulas->count - 1)), file))
        formulas->count--;
    while (formulas->chapter_count && !strcmp(formulas->chapters[formulas->chapter_count - 1].file, file))
        formulas->chapter_count--;
    for (size_t i = 0; i < formulas->count; i++)
        if (!strcmp(row_file(formulas_row(formulas, i)), file))
            return false;
    struct alias *kept = arena_array(arena, formulas->alias_count + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < formulas->alias_count; i++)
        if (formulas->aliases[i].row < (int)formulas->count)
            kept[count++] = formulas->aliases[i];
    formulas->aliases = kept;
    formulas->alias_count = count;
    return true;
}

/* What of a device only `show` prints. */
static bool only_shown(const struct csv *csv, const char *header)
{
    return !strcmp(header, "purchase_price USD") && !strcmp(csv->file, DEVICES_FILE);
}

/* What of rules, flags and published layouts no answer reads. */
static bool of_source(const char *header)
{
    return !strcmp(header, "source") || !strcmp(header, "date") || !strcmp(header, "message") ||
           !strcmp(header, "kind") || !strcmp(header, "servers");
}

static uint32_t offset_of(const struct csv *csv, size_t cell)
{
    return (uint32_t)(csv_at(csv, cell) - csv->text);
}

/* A table of facts without its notes, one of rules or flags without their sources, one of measurements also without its reasons: the page needs none. */
static const struct csv *narrow(struct arena *arena, const struct csv *csv)
{
    struct csv *out = arena_alloc(arena, sizeof *out);
    const bool measured = csv_column(csv, "publisher") >= 0, rules = csv_column(csv, "until") >= 0 || csv_column(csv, "takes") >= 0 ||
                       csv_column(csv, "servers") >= 0;
    if (!measured && !rules && csv_column(csv, "fact") < 0 && strcmp(csv->file, DEVICES_FILE))
        return csv;
    size_t kept[64], count = 0;
    for (size_t i = 0; i < csv->columns && count < sizeof kept / sizeof *kept; i++)
        if ((rules || strcmp(csv_header(csv, i), "note")) && !(rules && of_source(csv_header(csv, i))) && !only_shown(csv, csv_header(csv, i)) &&
            !(measured && (ends_with(csv_header(csv, i), "_from") || !strcmp(csv_header(csv, i), "id"))))
            kept[count++] = i;
    uint32_t *cells = arena_array(arena, (csv->rows + 1) * count, sizeof *cells);
    for (size_t row = 0; row <= csv->rows; row++)
        for (size_t i = 0; i < count; i++)
            cells[row * count + i] = offset_of(csv, row * csv->columns + kept[i]);
    *out = *csv;
    out->columns = count;
    out->cells = cells;
    out->near = NULL;
    return out;
}

/* Devices without the names that follow from their titles. */
static const struct csv *unnamed(struct arena *arena, const struct csv *csv)
{
    if (strcmp(csv->file, DEVICES_FILE))
        return csv;
    struct csv *out = arena_alloc(arena, sizeof *out);
    const size_t size = (csv->rows + 1) * csv->columns;
    uint32_t *cells = arena_array(arena, size, sizeof *cells);
    const uint32_t empty = offset_of(csv, 0) + (uint32_t)strlen(csv_header(csv, 0));
    char name[128];
    for (size_t i = 0; i < size; i++)
        cells[i] = offset_of(csv, i);
    for (size_t row = 0; row < csv->rows; row++) {
        device_name_of(csv_cell(csv, row, csv_column(csv, "title")), name, sizeof name);
        if (!strcmp(csv_cell(csv, row, 0), name))
            cells[(row + 1) * csv->columns] = empty;
    }
    *out = *csv;
    out->cells = cells;
    out->near = NULL;
    return out;
}

static void pack_without_notes(struct packer *packer, const struct catalog_sheet *sheet)
{
    struct catalog_sheet copy = *sheet;
    if (copy.note >= 0 && copy.note + 1 == (int)sheet->csv.columns)
        copy.note = -1;
    pack_sheet(packer, &copy);
}

int main(int count, char **words)
{
    static struct arena arena;
    struct packer packer;
    struct formulas sets[FORMULAS_ALL + 1];
    packer_open(&packer, &arena);
    for (unsigned i = 0; i <= FORMULAS_ALL; i++)
        sets[i] = *formulas_built_in(i);
    for (; count > 2 && !strcmp(words[count - 2], "--without"); count -= 2)
        for (unsigned i = 0; i <= FORMULAS_ALL; i++)
            if (!cut(&arena, &sets[i], words[count - 1])) {
                fprintf(stderr, "packed: %s is not the last of formulas/order.txt\n",
                        words[count - 1]);
                return 1;
            }
    pack_formulas(&packer, sets);
    pack_count(&packer, PACK_COUNTS, (size_t)count - 1);
    for (int i = 1; i < count; i++)
        pack_csv(&packer, narrow(&arena, unnamed(&arena, csv_built_in(words[i]))));
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        pack_without_notes(&packer, &catalog_built_in()->sheets[kind]);
    printf("/* Written by tools/packed.c from formulas/ and data/. */\n#include \"base/embedded.h\"\n");
    for (int i = 0; i < PACK_PARTS; i++) {
        const struct buffer *part = &packer.parts[i];
        printf("static const unsigned char part_%d[] = {", i);
        for (size_t at = 0; at < part->size; at++)
            printf(at % 24 ? "%d," : "\n%d,", (unsigned char)part->data[at]);
        printf("\n};\n");
    }
    printf("const char *const embedded_parts[] = {\n");
    for (int i = 0; i < PACK_PARTS; i++)
        printf("    (const char *)part_%d,\n", i);
    printf("};\n");
    arena_free(&arena);
    return ferror(stdout) != 0;
}
