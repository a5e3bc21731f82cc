/* verbs: the table of all questions; no other file of the product names them all. */
#include "ask/ask.h"

const struct verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "ask/verbs.def"
#undef VERB
    NULL
};
