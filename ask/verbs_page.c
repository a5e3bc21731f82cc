/* verbs: the table of the page, which does without those that it never asks. */
#include "ask/ask.h"

const struct verb *const verbs[] = {
#define VERB(name, ...) &verb_##name,
#define OFF_PAGE(name, ...)
#include "ask/verbs.def"
#undef VERB
    NULL
};

const struct record *verb_answer(const struct verb *verb)
{
#define ANSWER(name) if (verb == &verb_##name) return &answer_##name;
#define OFF_PAGE(name)
#include "ask/answers.def"
#undef ANSWER
    return NULL;
}
