/* verbs: the table of all questions; no other file of the product names them all. */
#include "ask/ask.h"

const struct verb verbs[] = {
#define ASK(name, words, summary, example) { #name, words, summary, example, ask_##name },
#define TOOL(name, words, summary, example) { #name, words, summary, example, NULL },
#include "ask/ask.def"
#undef ASK
    { 0 }
};
