/* The options of `simulate --listen`, which the page does not have: it has no sockets. What listens is
 * the room serve/live. */
#include "ask/simulate/simulate.h"

static const char *const clocks[] = { "wall", "virtual", NULL };

static const struct option list[] = {
    { "listen", "PORT", OPTION_COUNT, .low = 0, .high = 65535,
      .help = "answer the OpenAI API in real time; 0: any free port" },
    { "served-name", "NAME", OPTION_TEXT, .otherwise = "--model as typed or in full, or sim",
      .help = "name of the model in the API" },
    { "jitter", "SHARE", OPTION_QUANTITY, .unit = "1", .high = 1, .fallback = "0",
      .help = "standard deviation of a step over its mean, drawn" },
    { "captured", NULL, OPTION_SWITCH,
      .help = "decode batches padded to captured sizes: 1, 2, 4, 8, 16" },
    { "faster", "X", OPTION_QUANTITY, .unit = "1", .low = 1e-3, .high = 1e6, .fallback = "1",
      .help = "simulated seconds in a second of the clock" },
    { "clock", "WHICH", OPTION_CHOICE, .choices = clocks, .fallback = "wall",
      .help = "virtual goes on without waiting, for tests" },
    { 0 } };
static const char *const scalers[] = { "watch", "known", NULL };
static const struct option more[] = {
    { "metrics", "FILE", OPTION_FILE, .written = true, .otherwise = "nothing is kept",
      .help = "keep what /metrics would say in a file that `watch` reads" },
    { "metrics-every", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 86400, .fallback = "15s",
      .help = "time between two readings of it" },
    { "scale-by", "WHO", OPTION_CHOICE, .choices = scalers, .otherwise = "--scale-load",
      .help = "watch, by /metrics, or who knows the arrivals to come" },
    { 0 } };
const struct option_group listen_options = { "Endpoint", list };
const struct option_group metrics_options = { "Endpoint", more };

bool simulate_listens_not(const struct command *command, struct error *error)
{
    for (const struct option *option = list; option->name; option++)
        if (command_given(command, option->name)) {
            if (option == list)
                error_set(error, "--listen: only the command line answers requests");
            else
                error_set(error, "--%s without --listen", option->name);
            return error_expected(error, "chalkline simulate ... --listen PORT, in a terminal");
        }
    if (!access_unused(command, error))
        return false;
    for (const struct option *option = more; option->name && !simulate_attach; option++)
        if (command_given(command, option->name)) {
            error_set(error, "--%s: only the command line keeps metrics", option->name);
            return error_expected(error, "chalkline simulate ... --%s %s, in a terminal", option->name,
                                  option->argument);
        }
    return true;
}
