/* The page does not listen: `simulate` has no options for it there. */
#include "ask/simulate/simulate.h"

static const struct option list[] = { { 0 } };
const struct option_group listen_options = { "Endpoint", list };
