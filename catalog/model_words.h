/* model_words -- models by what people type: tags of Ollama, published ids, words in any order ("qwen 3 8b", "L3.3-Prikol-70B",
 * "ollama run deepseek-r1:14b"). data/name_words.csv has the words; docs/models.md explains how a name is read. */
#ifndef CATALOG_MODEL_WORDS_H
#define CATALOG_MODEL_WORDS_H

#include "catalog/catalog.h"

struct model_named {
    const char *id;             /* a name of the catalog or of data/shapes.csv; NULL: none */
    const char *type;           /* GGUF file type of Ollama's tag, or NULL */
    const char *formats;        /* words of the name that give a format, joined by '-'; "": none */
    const char *why;            /* the words that were understood, for an error: "family llama, size 70b" */
    const char *odd;            /* a word with the form of a file type that is none, or NULL */
    const char *also[4];        /* ids of models of other shapes that the words fit as well */
};

/* Find the model that a name means, allocated in the arena. False: none, or several: see `why` and `also`. */
bool model_named(struct arena *arena, const struct catalog *catalog, const char *name, struct model_named *named);
/* Has a name the form of a tag of Ollama, "qwen3:8b-instruct"? Other hosts put versions behind the colon. */
bool model_tag(const char *name);
/* Add to an `error` that is set which words of a name were understood and which models they may mean. Always false. */
bool model_explain(struct arena *arena, const struct catalog *catalog, const char *name, struct error *error);
/* The model of data/shapes.csv that was published under a name, as the only entry of a new sheet; NULL: none. */
const struct catalog_entry *model_shape(struct arena *arena, const char *id);

/* "g64", "gs64", "128g", or "4b-128g" with the bits before it: the size of the word at `at`, and the weights of the group; 0: none. */
size_t name_group(const char *at, double *group);

#endif
