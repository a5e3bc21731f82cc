/* What problems are made of: the statements of the lecture, problems of our own, and rows.
 *
 * A row is a source if it belongs to the lecture's subjects, has a symbol, so that its meaning stands
 * on its own, and has one value. Its chapter is that of its file. */
#include "lecture/quiz/quiz.h"

#include "catalog/sheet.h"

#include <stdlib.h>
#include <string.h>

const char *const problem_kinds[] = { "value", "binds", "direction", "inverse", "magnitude", "reason", NULL };

/* Files of rows that the lecture is about, with their chapters. */
static const struct {
    const char *file;
    int chapter;
} files[] = {
    { "formulas/lecture/batch.chalk", 1 },       { "formulas/lecture/speed-price.chalk", 1 },
    { "formulas/lecture/batch-train.chalk", 1 }, { "formulas/lecture/experts.chalk", 2 },
    { "formulas/lecture/pipeline.chalk", 3 },    { "formulas/lecture/lifetime.chalk", 4 },
    { "formulas/training/training.chalk", 4 },   { "formulas/prices/prices.chalk", 5 },
    { "formulas/lecture/reversible.chalk", 7 },
};

static int row_chapter(const struct row *row)
{
    for (size_t i = 0; i < sizeof files / sizeof *files && row_expr(row) && !row_table(row) && *row_symbol(row); i++)
        if (!strcmp(row_file(row), files[i].file))
            return files[i].chapter;
    return 0;
}

static struct problem_source problem_source(const struct csv *csv, size_t row)
{
#define CELL(name) csv_cell(csv, row, csv_column(csv, name))
    return (struct problem_source){ .name = CELL("id"), .chapter = atoi(CELL("chapter")), .deck = CELL("deck"),
                            .asks = CELL("asks"), .reason = CELL("reason"), .question = CELL("question"),
                            .only = (enum problem_kind)name_index(problem_kinds, PROBLEM_KINDS, CELL("kind")) };
#undef CELL
}

void quiz_open(struct quiz *quiz, struct arena *arena, const struct command *command)
{
    const struct csv *own = csv_built_in("data/problems.csv");
    const struct formulas *formulas = formulas_built_in(0);
    *quiz = (struct quiz){ .arena = arena, .command = command };
    statements_read(arena, &quiz->lecture);
    quiz->sources = arena_array(arena, quiz->lecture.count + own->rows + formulas->count,
                                sizeof *quiz->sources);
    for (size_t i = 0; i < quiz->lecture.count; i++) {
        const struct statement *statement = &quiz->lecture.at[i];
        quiz->sources[quiz->count++] = (struct problem_source){
            .name = statement->id, .chapter = statement->chapter, .deck = statement->deck,
            .asks = statement->asks, .reason = statement->reason, .statement = statement };
    }
    for (size_t i = 0; i < own->rows; i++)
        quiz->sources[quiz->count++] = problem_source(own, i);
    for (size_t i = 0; i < formulas->count; i++) {
        const struct row *row = formulas_row(formulas, i);
        const int chapter = row_chapter(row);
        if (chapter)
            quiz->sources[quiz->count++] = (struct problem_source){
                .name = row_name(row), .chapter = chapter, .deck = "", .asks = row_name(row), .reason = "" };
    }
}

const struct problem_source *quiz_source(const struct quiz *quiz, const char *name)
{
    for (size_t i = 0; i < quiz->count; i++)
        if (!strcmp(quiz->sources[i].name, name))
            return &quiz->sources[i];
    return NULL;
}

/* Is it the name of one row, or an entry of one? */
static bool names_row(const char *asks)
{
    const char *const name = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t size = strspn(asks, name);
    const bool entry = asks[size] == '[' && asks[size + 1 + strspn(asks + size + 1, name)] == ']';
    return size && (!asks[size] || (entry && !strchr(asks, ']')[1]));
}

bool source_suits(const struct quiz *quiz, const struct problem_source *source, enum problem_kind kind)
{
    (void)quiz;
    if (source->question)
        return kind == source->only;
    if (kind == PROBLEM_REASON)
        return source->statement != NULL;
    return names_row(source->asks);
}
