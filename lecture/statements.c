/* The statements and the chapters of the lecture, read from data/. */
#include "lecture/statements.h"

#include "catalog/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { "identity", "argument", "comparison", "number", "example" };

/* "x1.25" */
static double factor(const char *text)
{
    return *text == 'x' ? strtod(text + 1, NULL) : NAN;
}

static void read_one(struct arena *arena, const struct csv *csv, size_t row, struct statement *one)
{
#define CELL(name) csv_cell(csv, row, csv_column(csv, name))
    const char *kind = CELL("kind");
    *one = (struct statement){
        .id = CELL("id"), .chapter = atoi(CELL("chapter")), .time = CELL("time"), .sentence = CELL("statement"),
        .kind = kind, .deck = CELL("deck"), .equation = CELL("equation"), .asks = CELL("asks"), .says = CELL("says"),
        .exact = CELL("exact"), .tolerance = factor(CELL("tolerance")), .holds = CELL("holds"),
        .fails = CELL("fails"), .input = "", .turns = "", .reason = CELL("reason"),
        .brief = !strcmp(CELL("short"), "yes"), .label = CELL("label"),
        .line = CELL("line"), .line_fails = CELL("line_fails"),
        .question = {
            (enum question_kind)name_index(kinds, sizeof kinds / sizeof *kinds, kind), CELL("asks_of"), CELL("keeps"),
            CELL("needs"), CELL("figure"), CELL("closed"), CELL("factors"), CELL("predicate"), CELL("turning"),
            CELL("here"), CELL("here_fails") } };
    const char *flips = CELL("flips"), *colon = strchr(flips, ':');
#undef CELL
    if (!colon)
        return;
    one->input = arena_copy(arena, flips, (size_t)(colon - flips));
    one->turns = colon + 1 + strspn(colon + 1, " ");
}

void statements_read(struct arena *arena, struct lecture *lecture)
{
    const struct csv *csv = csv_built_in("data/lecture.csv");
    lecture->count = csv->rows;
    lecture->at = arena_array(arena, csv->rows + 1, sizeof *lecture->at);
    for (size_t i = 0; i < csv->rows; i++)
        read_one(arena, csv, i, &lecture->at[i]);
}

const struct statement *statement_of_row(struct arena *arena, const char *row, bool deck)
{
    const struct csv *csv = csv_built_in("data/lecture.csv");
    const int column = csv_column(csv, deck ? "asks" : "figure");
    struct statement *found = NULL;
    for (size_t i = 0; i < csv->rows; i++) {
        struct statement one;
        if (strcmp(csv_cell(csv, i, column), row))
            continue;
        read_one(arena, csv, i, &one);
        const bool named = *one.deck && one.deck[strcspn(one.deck, "=;")] != '=';
        if ((deck && !named) || (found && (!one.brief || found->brief)))
            continue;
        found = arena_alloc(arena, sizeof *found);
        *found = one;
    }
    return found;
}

const struct lecture_chapter *lecture_chapters(struct arena *arena)
{
    const struct csv *csv = csv_built_in("data/chapters.csv");
    struct lecture_chapter *all = arena_array(arena, csv->rows + 1, sizeof *all);
    for (size_t i = 0; i < csv->rows; i++)
        all[i] = (struct lecture_chapter){
            .id = csv_cell(csv, i, csv_column(csv, "id")), .title = csv_cell(csv, i, csv_column(csv, "title")),
            .time = csv_cell(csv, i, csv_column(csv, "time")),
            .question = csv_cell(csv, i, csv_column(csv, "question")),
            .main = csv_cell(csv, i, csv_column(csv, "main")) };
    return all;
}
