/* verbs: the table of the page, which does without those that it never asks. */
#include "ask/ask.h"

const struct verb *const verbs[] = {
#define VERB(name, ...) &verb_##name,
#define OFF_PAGE(name, ...)
#include "ask/verbs.def"
#undef VERB
    NULL
};
