/* verbs: all that the command line takes, in the order of ask/verbs.def: the questions of verbs[], and its own tools. */
#include "cli/cli.h"
#include "meter/measure/measure.h"
#include "meter/watch/watch.h"
#include "serve/web.h"

static const struct verb *const tools[] = {             /* NULL: the next question */
#define VERB(name, ...) NULL,
#define TOOL(name, ...) &verb_##name,
#include "ask/verbs.def"
#undef VERB
};
enum { COUNT = sizeof tools / sizeof *tools };

const struct verb *const *cli_verbs(void)
{
    static const struct verb *all[COUNT + 1];       /* NULL at the end */
    const struct verb *const *question = verbs;
    for (size_t i = 0; i < COUNT && !all[COUNT - 1]; i++)
        all[i] = tools[i] ? tools[i] : *question++;
    return all;
}
