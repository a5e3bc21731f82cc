/* The page does not listen: nobody asks it. */
#include "command/options.h"

static const struct option list[] = { { 0 } };
const struct option_group access_options = { "Access", list };
