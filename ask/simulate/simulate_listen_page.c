/* The page does not listen: `simulate` has no options for it there. */
#include "ask/simulate/simulate.h"

static const struct option list[] = { { 0 } };
const struct option_group listen_options = { "Endpoint", list };
const struct option_group metrics_options = { "Endpoint", list };

bool simulate_listens_not(const struct command *command, struct error *error)
{
    (void)command, (void)error;
    return true;
}
