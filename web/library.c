/* What is built into the page. It is read when first asked for: as tables of C, which the
 * program has, formulas and sheets would take a fifth more to load. There is one thread. */
#include "base/embedded.h"
#include "catalog/catalog.h"
#include "catalog/formats.h"
#include "catalog/sheet.h"
#include "rows/rows.h"

#include <assert.h>
#include <string.h>

static struct arena arena;

/* Tests read all of it: no text that is built in has a fault. */
static void need(bool read)
{
    assert(read);
    (void)read;
}

const struct formulas *formulas_built_in(unsigned conditions)
{
    static struct formulas sets[FORMULAS_ALL + 1];
    struct formulas *formulas = &sets[conditions];
    struct error error;
    if (formulas->count)
        return formulas;
    formulas_open(formulas, &arena, conditions);
    for (const struct embedded *file = embedded_formulas; file->path; file++)
        need(formulas_read(formulas, file->path, (struct text){ file->data, file->size }, &error));
    return formulas;
}

static struct text text_of_table(const char *path)
{
    for (const struct embedded *file = embedded_tables; file->path; file++)
        if (!strcmp(file->path, path))
            return (struct text){ file->data, file->size };
    return text_built_in(path);
}

const struct catalog *catalog_built_in(void)
{
    static struct catalog catalog;
    struct error error;
    if (catalog.arena)
        return &catalog;
    catalog.arena = &arena;
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        need(catalog_read(&catalog, kind, catalog_file(kind), text_of_table(catalog_file(kind)),
                          &error));
    }
    return &catalog;
}

const struct csv *csv_built_in(const char *path)
{
    enum { MOST = 16 };
    static struct csv tables[MOST];
    static size_t count;
    struct error error;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(tables[i].file, path))
            return &tables[i];
    need(count < MOST && csv_read(&arena, path, text_of_table(path), &tables[count], &error));
    return &tables[count++];
}

const struct formats *formats_built_in(void)
{
    static struct formats formats;
    struct error error;
    need(formats.count || formats_read(&arena, csv_built_in(FORMATS_FILE), &formats, &error));
    return &formats;
}
