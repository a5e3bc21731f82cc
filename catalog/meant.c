#include "catalog/meant.h"

#include "catalog/sheet.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *cell(int row, const char *column)
{
    const struct csv *csv = csv_built_in("data/meant.csv");
    return csv_cell(csv, (size_t)row, csv_column(csv, column));
}

/* "gpt-5*" is every name that begins so, "*whisper*" every name with that in it. */
static bool called(const char *pattern, const char *name)
{
    const size_t size = strlen(pattern);
    char word[64];
    if (*pattern == '*' && size > 2 && pattern[size - 1] == '*' && size < sizeof word) {
        snprintf(word, sizeof word, "%.*s", (int)size - 2, pattern + 1);
        return name_within(name, word);
    }
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

/* "bert$" is a word that no letter follows in the name. */
static bool reads(const char *name, const char *word)
{
    const size_t size = strcspn(word, "$");
    if (!word[size])
        return name_within(name, word);
    for (; *name; name++)
        if (!strncasecmp(name, word, size) && !isalpha((unsigned char)name[size]))
            return true;
    return false;
}

const char *model_reads(const char *name, const char *class)
{
    const struct csv *csv = csv_built_in("data/name_words.csv");
    for (size_t r = 0; r < csv->rows; r++) {
        const char *kind = csv_cell(csv, r, 0), *word = csv_cell(csv, r, 1);
        if ((!strcmp(kind, "reads") && reads(name, word)) || (!strcmp(kind, "class") && ends_with(class, word)))
            return csv_cell(csv, r, 2);
    }
    return NULL;
}
