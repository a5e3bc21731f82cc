/* deduce -- what a price sheet says: what was read, what it means, how it is told.
 *
 *     file -> prices -> ratios -> suspicious ones marked -> draws weighed -> report
 *
 * One model gets a report of its own, a sheet a line for each. */
#ifndef ASK_DEDUCE_H
#define ASK_DEDUCE_H

#include "ask/ask.h"
#include "ask/evidence/evidence.h"

struct deduction {
    struct arena *arena;
    const struct command *command;
    struct answer *answer;
    struct error *error;
    struct scenario scenario;
    struct priors priors;
    struct price_sheet sheet;
    struct seen_rows rows;
    struct reading *readings;       /* of each price */
    struct draws *draws;
};

bool deduce_draw(struct deduction *deduction, bool all);
bool deduce_model(struct deduction *deduction, const struct reading *reading);
/* Fill span and effective of each. */
void deduce_conclude(struct deduction *deduction, struct reading *readings, size_t count);
bool deduce_whole(struct deduction *deduction);
bool deduce_market(struct deduction *deduction, const char *model);
bool deduce_difference(struct deduction *deduction, const char *old_path);

#endif
