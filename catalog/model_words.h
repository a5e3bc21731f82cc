/* model_words -- models by what people type: tags of Ollama, published ids, words in any order ("qwen 3 8b", "L3.3-Prikol-70B",
 * "ollama run deepseek-r1:14b"). The words are data/name_words.csv; docs/models.md says how a name is read. */
#ifndef CATALOG_MODEL_WORDS_H
#define CATALOG_MODEL_WORDS_H

#include "catalog/catalog.h"

struct model_named {
    const char *id;             /* a name of the catalog or of data/shapes.csv; NULL: none */
    const char *type;           /* GGUF file type of Ollama's tag, or NULL */
    const char *formats;        /* words of the name that say a format, apart by '-'; "": none */
    const char *why;            /* what was understood where there is no id: "family llama, size 70b" */
    const char *also[4];        /* ids of other shapes that the words fit as well */
};

/* What the name means. It is allocated in the arena. False: nothing certain; `why` and `also` say what is known. */
bool model_named(struct arena *arena, const struct catalog *catalog, const char *name, struct model_named *named);
/* Is it a tag of Ollama by its form, "qwen3:8b-instruct"? Hosts write other things behind a colon. */
bool model_tag(const char *name);
/* Says in `error`, whose first line is there, which words of a name were understood and which models they may mean.
 * Always false. */
bool model_explain(struct arena *arena, const struct catalog *catalog, const char *name, struct error *error);
/* A model of data/shapes.csv by a name that it was published under, as the only entry of a sheet; NULL: none. */
const struct catalog_entry *model_shape(struct arena *arena, const char *id);

#endif
