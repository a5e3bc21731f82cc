/* In a page, in the place of calibrate.c: it reads no benchmarks of a server. */
#include "ask/ask.h"

static bool ask_calibrate(struct arena *arena, const struct command *command, struct answer *answer,
                          struct error *error)
{
    (void)arena, (void)command, (void)answer;
    error_set(error, "calibrate: not in a page");
    return error_expected(error, "the command line");
}

const struct record answer_calibrate = { "Calibrate", (const struct answer_field[]){ { 0 } } };

const struct verb verb_calibrate = {
    "calibrate", "FILE...", "Fit the prediction to one server by some of its own measurements.",
    { "chalkline calibrate runs.csv -o my-server.csv" }, { &output_options }, .ask = ask_calibrate };
