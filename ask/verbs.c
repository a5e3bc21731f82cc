/* verbs: the table of all questions, from verbs.def. */
#include "ask/ask.h"

const struct verb *const verbs[] = {
#define VERB(name, ...) &verb_##name,
#include "ask/verbs.def"
#undef VERB
    NULL
};
