#include "catalog/flags.h"

#include "catalog/sheet.h"

#include <string.h>

struct flag flag_at(const struct csv *csv, size_t row)
{
    static const char *const names[] = { "name", "form", "takes", "value", "when", "role", "default", "source", "date",
                                         "note", "moves", "vary" };
    enum { NAMES = sizeof names / sizeof *names };
    const char *cells[NAMES];
    for (int i = 0; i < NAMES; i++)
        cells[i] = csv_cell(csv, row, csv_column(csv, names[i]));
    return (struct flag){ cells[0], cells[1], cells[2], cells[3], cells[4],  cells[5],
                          cells[6], cells[7], cells[8], cells[9], cells[10], cells[11] };
}

/* The next row of `engine`, with this name unless it is NULL. */
static bool find_next(const char *engine, const char *name, size_t *row, struct flag *flag)
{
    const struct csv *csv = csv_built_in("data/flags.csv");
    const int engines = csv_column(csv, "engine"), names = csv_column(csv, "name");
    size_t at = *row;
    while (at < csv->rows && (strcmp(csv_cell(csv, at, engines), engine) ||
                              (name && strcmp(csv_cell(csv, at, names), name))))
        at++;
    if (at == csv->rows)
        return false;
    *flag = flag_at(csv, at);
    *row = at + 1;
    return true;
}

bool flag_next(const char *engine, size_t *row, struct flag *flag)
{
    return find_next(engine, NULL, row, flag);
}

bool flag_find(const char *engine, const char *name, struct flag *flag)
{
    size_t row = 0;
    return find_next(engine, name, &row, flag);
}
