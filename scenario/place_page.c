/* The page does without kinds of prices and regions, their rows and their sheet: it has --price. */
#include "scenario/scenario.h"

#include "build/row_names.h"

static const struct option list[] = {
    { "price", "PRICE", OPTION_ROW, .row = NAME_chip_price, PRICE_MEANT, .otherwise = "the machine's, from data/hardware.csv",
      .help = "what an hour of a chip costs" },
    { 0 } };
const struct option_group price_options = { "Price and place", list };

bool scenario_pay(struct scenario *scenario, struct error *error)
{
    (void)scenario, (void)error;
    return true;
}

bool scenario_paid_once(const struct scenario *scenario, struct error *error)
{
    (void)scenario, (void)error;
    return true;
}

const char *const footprint_rows[2][FOOTPRINT_ROWS] = { { NULL } };

void scenario_footprint(const struct scenario *scenario, bool pools, struct section *section)
{
    (void)scenario, (void)pools, (void)section;
}
