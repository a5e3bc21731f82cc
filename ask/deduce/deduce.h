/* deduce -- what a price list implies about the models and the hardware behind it.
 *
 *     file -> prices -> ratios -> suspicious ones marked -> draws weighed -> report
 *
 * One model gets a report of its own, a whole list one line per entry. The inference is in infer/;
 * prices become evidence in ask/evidence/. */
#ifndef ASK_DEDUCE_H
#define ASK_DEDUCE_H

#include "ask/ask.h"
#include "report/picture.h"
#include "ask/evidence/evidence.h"

struct deduction {
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct buffer *csv;
    struct error *error;
    struct scenario scenario;
    struct priors priors;
    struct price_sheet sheet;
    struct seen_rows rows;
    struct price_reading *readings;       /* of each price */
    struct draws *draws;
    struct picture *picture;        /* of a report: intervals */
};

/* "0.47 to 1.1 per hour", "452 B to 3.6 T": ends of an interval of that row, for people. */
const char *deduce_range(const struct deduction *deduction, const char *row, double low, double high);
/* A record of quantiles; those that are not known are left out. */
void deduce_add_span(struct section *section, const char *key, struct span span);
extern const struct record deduce_span_record, deduce_report_record, deduce_entry_record,
                           deduce_market_record, deduce_changed_record;

/* A price list and its readings, the same for all ranks. */
bool deduce_read(struct deduction *deduction, const char *path, struct price_sheet *sheet, struct price_reading **readings);
bool deduce_draw(struct deduction *deduction, bool all);
/* A report, which stands in the list for people too. */
bool deduce_model(struct deduction *deduction, const struct price_reading *reading, struct section *reports);
/* Weigh the draws by each reading and fill its span and effective sample size; ranks divide the readings. */
void deduce_conclude(struct deduction *deduction, struct price_reading *readings, size_t count);
bool deduce_whole(struct deduction *deduction);
bool deduce_market(struct deduction *deduction, const char *model);
bool deduce_difference(struct deduction *deduction, const char *old_path);

#endif
