#include "catalog/sheet.h"

#include "base/embedded.h"
#include "rows/rows.h"

#include <math.h>
#include <string.h>

struct text text_built_in(const char *path)
{
    for (const struct embedded *file = embedded_data; file->path; file++)
        if (!strcmp(file->path, path))
            return (struct text){ file->data, file->size };
    return (struct text){ NULL, 0 };
}

void sheet_open(const char *path, struct sheet *sheet)
{
    sheet->csv = *csv_built_in(path);
    sheet->name = csv_column(&sheet->csv, "name");
    sheet->fact = csv_column(&sheet->csv, "fact");
    sheet->value = csv_column(&sheet->csv, "value");
    sheet->unit = csv_column(&sheet->csv, "unit");
    sheet->mark = csv_column(&sheet->csv, "mark");
}

/* The row of a fact; the number of rows: there is none. */
static size_t find_row(const struct sheet *sheet, const char *name, const char *fact)
{
    size_t i = 0;
    while (i < sheet->csv.rows && (strcmp(csv_cell(&sheet->csv, i, sheet->name), name) ||
                                   strcmp(csv_cell(&sheet->csv, i, sheet->fact), fact) ||
                                   !strcmp(csv_cell(&sheet->csv, i, sheet->mark), "not chosen")))
        i++;
    return i;
}

const char *sheet_text(const struct sheet *sheet, const char *name, const char *fact)
{
    size_t row = find_row(sheet, name, fact);
    return row < sheet->csv.rows ? csv_cell(&sheet->csv, row, sheet->value) : NULL;
}

const char *sheet_mark(const struct sheet *sheet, const char *name, const char *fact)
{
    size_t row = find_row(sheet, name, fact);
    return row < sheet->csv.rows ? csv_cell(&sheet->csv, row, sheet->mark) : "";
}

double sheet_number(const struct sheet *sheet, const char *name, const char *fact)
{
    size_t row = find_row(sheet, name, fact);
    double number, scale;
    if (row == sheet->csv.rows ||
        !text_number(text_of(csv_cell(&sheet->csv, row, sheet->value)), &number) ||
        !unit_scale(csv_cell(&sheet->csv, row, sheet->unit), &scale))
        return NAN;
    return number * scale;
}
