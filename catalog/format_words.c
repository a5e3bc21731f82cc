#include "catalog/formats.h"
#include "catalog/sheet.h"

#include <stdio.h>
#include <stdlib.h>
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

bool format_bits(const char *name, double *bits, double *head)
{
    char *end;
    *bits = 4;
    *head = 6;
    if (!strcmp(name, "exl"))
        return true;
    *bits = strtod(name, &end);
    if (strncmp(end, "bpw", 3) || !(*bits > 0 && *bits <= 16))
        return false;
    if (!strncmp(end + 3, "-h", 2))
        *head = strtod(end + 5, &end);
    else
        end += 3;
    return !*end && *head > 0 && *head <= 16;
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
