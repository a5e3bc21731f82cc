/* What the program prints of itself: the reference of all rows, as Markdown, written from the formulas themselves; the
 * OpenAPI document; the page. */
#include "cli/cli.h"
#include "serve/web.h"

#include <string.h>

static void print_row(struct buffer *out, const struct formulas *formulas, const struct row *row)
{
    buffer_print(out, "**`%s`**%s%s%s · %s  \n%s", row_name(row), *row_symbol(row) ? " · *" : "",
                 row_symbol(row), *row_symbol(row) ? "*" : "", row_unit_text(row), row_meaning(row));
    if (row_aliases(row))
        buffer_print(out, "; also: %s", row_aliases(row));
    if (row_expr(row)) {
        buffer_print(out, "  \n`= ");
        algebra_print(out, &(struct algebra){ .formulas = formulas }, row_expr(row));
        buffer_print(out, "`");
        if (row->input)
            buffer_print(out, "  \nunless given, %s to %s",
                         quantity_text(out->arena, row->low, row->unit, 4),
                         quantity_text(out->arena, row->high, row->unit, 4));
    } else {
        buffer_print(out, "  \ninput: %s",
                     quantity_text(out->arena, row->value, row->unit, 6));
        buffer_print(out, ", %s to %s", quantity_text(out->arena, row->low, row->unit, 4),
                     quantity_text(out->arena, row->high, row->unit, 4));
        if (row->likely_low < row->likely_high)
            buffer_print(out, ", likely %s to %s",
                         quantity_text(out->arena, row->likely_low, row->unit, 4),
                         quantity_text(out->arena, row->likely_high, row->unit, 4));
    }
    buffer_print(out, "  \n%s (%s:%d)\n\n", row_source(row), row_file(row), row->line);
}

static void print_chapter(struct buffer *out, const struct formulas *formulas, size_t chapter)
{
    const struct chapter *the = &formulas->chapters[chapter];
    buffer_print(out, "## %s\n\n", the->title);
    if (the->table)
        buffer_print(out, "Once per entry of the table `%s`.\n\n", the->table);
    if (the->with)
        buffer_print(out, "With a %s these take the place of the rows of the same name.\n\n",
                     the->with);
    if (*the->prose)
        buffer_print(out, "%s\n\n", the->prose);
    for (size_t i = 0; i < formulas->count; i++)
        for (const struct row *row = formulas_row(formulas, i); row; row = row_before(row))
            if (row->chapter == (int)chapter)
                print_row(out, formulas, row);
}

static void reference_print(struct buffer *out)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    buffer_print(out, "# Reference of all rows\n\nWritten by `chalkline reference` from the "
                 "formulas themselves; formulas/README.md has the\nformat. %zu rows.\n\n",
                 formulas->count);
    for (size_t i = 0; i < formulas->chapter_count; i++)
        print_chapter(out, formulas, i);
}

/* "page", "page -o FILE" */
static bool print_page(struct arena *arena, int count, char **words, struct buffer *out, struct error *error)
{
    struct text html;
    if (!page_html(arena, &html, error))
        return false;
    if (count == 4)
        return file_write(arena, "-o", words[3], html, error);
    buffer_add(out, html.data, html.size);
    return true;
}

bool reference_answers(struct arena *arena, int count, char **words, struct buffer *out, struct error *error)
{
    if (count == 2 && !strcmp(words[1], "reference"))
        reference_print(out);
    else if (count == 3 && !strcmp(words[1], "reference") && !strcmp(words[2], "openapi"))
        openapi_print(arena, out);
    else if ((count == 2 || (count == 4 && !strcmp(words[2], "-o"))) && !strcmp(words[1], "page"))
        print_page(arena, count, words, out, error);
    else
        return false;
    return true;
}
