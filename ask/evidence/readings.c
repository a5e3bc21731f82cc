/* A price list from its file to readings. */
#include "ask/evidence/evidence.h"

#include "catalog/sheet.h"

#include <string.h>

enum { FILE_MOST = 64 << 20 };

static const char *const built_in = "data/prices.csv";

bool readings_read(struct arena *arena, const char *path, const struct priors *priors,
                   const struct seen_rows *rows, struct price_sheet *sheet,
                   struct price_reading **readings, struct error *error)
{
    bool ours = !strcmp(path, "prices");
    struct text text = text_built_in(built_in);
    if ((!ours && !file_read(arena, path, FILE_MOST, &text, error)) ||
        !prices_read(arena, ours ? built_in : path, text, sheet, error))
        return false;
    *readings = arena_array(arena, sheet->count, sizeof **readings);
    for (size_t i = 0; i < sheet->count; i++)
        reading_make(arena, rows, priors, &sheet->prices[i], &(*readings)[i]);
    readings_vendors(arena, *readings, sheet->count, priors);
    return true;
}
