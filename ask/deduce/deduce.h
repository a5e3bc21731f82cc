/* deduce -- what a price list implies about the models and the hardware behind it.
 *
 *     file -> prices -> ratios -> suspicious ones marked -> draws weighed -> report
 *
 * One model gets a report of its own, a whole list one line per entry. The inference is in infer/;
 * prices become evidence in ask/evidence/. */
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
/* Weigh the draws by each reading and fill its span and effective sample size. */
void deduce_conclude(struct deduction *deduction, struct reading *readings, size_t count);
bool deduce_whole(struct deduction *deduction);
bool deduce_market(struct deduction *deduction, const char *model);
bool deduce_difference(struct deduction *deduction, const char *old_path);

#endif
