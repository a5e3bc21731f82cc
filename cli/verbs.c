/* verbs: all that the command line takes, in the order of ask/verbs.def: the questions of verbs[], and its own tools. */
#include "cli/cli.h"
#include "meter/measure/measure.h"
#include "meter/watch/watch.h"
#include "serve/web.h"

static const struct {
    const char *name;
    const struct verb *tool;        /* NULL: a question */
} table[] = {
#define VERB(name, ...) { #name, NULL },
#define TOOL(name, ...) { #name, &verb_##name },
#include "ask/verbs.def"
#undef VERB
};
enum { COUNT = sizeof table / sizeof *table };

const struct verb *const *cli_verbs(void)
{
    static const struct verb *all[COUNT + 1];       /* NULL at the end */
    for (size_t i = 0; i < COUNT && !all[i]; i++)
        all[i] = table[i].tool ? table[i].tool : verb_named(verbs, table[i].name);
    return all;
}
