/* What every answer of `deduce` begins with: the list as it is read, and the draws that all of them weigh, made once. */
#include "ask/deduce/deduce.h"

bool deduce_read(struct deduction *deduction, const char *path, struct price_sheet *sheet, struct price_reading **readings)
{
    const struct ranks *ranks = deduction->command->ranks;
    uint64_t question = scenario_hash(&deduction->scenario);
    if (!ranks_agree(ranks, readings_read(deduction->arena, path, &deduction->priors, &deduction->rows, sheet,
                                          readings, deduction->error), deduction->error))
        return false;
    for (size_t i = 0; i < sheet->count; i++)
        question = hash_numbers(question, (*readings)[i].seen, FIELD_COUNT);
    return ranks_same(ranks, deduction->arena, question, deduction->error);
}

bool deduce_draw(struct deduction *deduction, bool all)
{
    enum { ONE = 1 << 20, SHEET = 100000 };
    const struct command *command = deduction->command;
    size_t count = all ? ONE : SHEET;
    if (deduction->draws)
        return true;
    command_take_count(command, "draws", &count);
    return draws_make(deduction->arena, command->ranks, &deduction->scenario.formulas, &deduction->scenario.facts,
                      command_count(command, "seed"), count, all, &deduction->draws, deduction->error);
}

const struct record deduce_span_record = { "Quantiles90", (const struct answer_field[]){
    { FIELD_NUMBER, .help = "quantile; absent: nothing is known", .unit = "", .count = 5,
      .names = (const char *const[]){ "q05", "q25", "q50", "q75", "q95" } },
    { 0 } } };
