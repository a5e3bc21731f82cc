/* verbs: all that the command line takes: the questions, and its own tools. */
#include "cli/cli.h"
#include "meter/measure/measure.h"
#include "meter/watch/watch.h"
#include "serve/web.h"

const struct verb *const cli_verbs[] = {
#define VERB(name, ...) &verb_##name,
#define TOOL(name, ...) &verb_##name,
#include "ask/verbs.def"
#undef VERB
    NULL
};
