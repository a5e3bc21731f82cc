#include "catalog/meant.h"

#include "catalog/sheet.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *cell(int row, const char *column)
{
    const struct csv *csv = csv_built_in("data/meant.csv");
    return csv_cell(csv, (size_t)row, csv_column(csv, column));
}

/* "gpt-5*" is every name that begins so. */
static bool called(const char *pattern, const char *name)
{
    const size_t size = strlen(pattern);
    return pattern[size - 1] == '*' ? !strncasecmp(name, pattern, size - 1) : name_same(pattern, name);
}

int meant_row(const char *kind, const char *name)
{
    const size_t rows = csv_built_in("data/meant.csv")->rows;
    for (int row = 0; row < (int)rows; row++)
        if (!strcmp(cell(row, "kind"), kind) && called(cell(row, "name"), name))
            return row;
    return -1;
}

bool meant_name(int row, size_t at, char name[64])
{
    const char *names = cell(row, "instead");
    for (; at && *names; at--)
        names += strcspn(names, " "), names += strspn(names, " ");
    snprintf(name, 64, "%.*s", (int)strcspn(names, " "), names);
    return *name;
}

const char *meant_hint(int row)
{
    return cell(row, "hint");
}

bool meant_explain(const char *kind, const char *name, struct error *error)
{
    const int row = meant_row(kind, name);
    char next[64], one[64];
    if (row < 0)
        return false;
    struct arena arena = { 0 };
    struct buffer hint = { .arena = &arena };
    buffer_add(&hint, "", 0);
    for (size_t i = 0; meant_name(row, i, one); i++)
        buffer_print(&hint, "%s'%s'%s", !i ? "did you mean " : meant_name(row, i + 1, next) ? ", " : " or ", one,
                     meant_name(row, i + 1, next) ? "" : *meant_hint(row) ? "? " : "?");
    if (*cell(row, "says"))
        error_set(error, "%s: %s", arena_copy(&arena, error->what, strlen(error->what)), cell(row, "says"));
    error_suggest(error, "%s%s", hint.data, meant_hint(row));
    for (size_t i = 0; meant_name(row, i, one); i++)
        error_similar(error, one);
    arena_free(&arena);
    return true;
}
