#include "catalog/formats.h"
#include "catalog/sheet.h"

#include <stdio.h>
#include <string.h>

const char *format_word(const char *word)
{
    const struct csv *csv = csv_built_in("data/format_words.csv");
    for (size_t row = 0; row < csv->rows; row++)
        if (!strcmp(csv_cell(csv, row, 0), word))
            return csv_cell(csv, row, csv_column(csv, "format"));
    return NULL;
}

const char *format_side(const char *name, int side, char part[64])
{
    const char *mark = strchr(name, '/');
    const char *start = mark && side ? mark + 1 : name;
    snprintf(part, 64, "%.*s", (int)(mark && !side ? (size_t)(mark - name) : strlen(start)), start);
    const char *word = format_word(part);
    if (word && *word)
        snprintf(part, 64, "%s", word);
    return part;
}

bool formats_cache(const struct formats *formats, const char *name, const char *what, const struct format *cache[2],
                   struct error *error)
{
    char part[64];
    for (int side = 0; side < 2; side++)
        if (!formats_need(formats, format_side(name, side, part), what, &cache[side], error))
            return false;
    return true;
}
