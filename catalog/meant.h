/* meant -- names that people type and we do not have, and what to type instead: data/meant.csv.
 *
 * "gpt-5" is a model whose configuration nobody can read, "cpu" a kind of machine, "compare" a command of other
 * programs. Such words are near to names by their letters only, so the sheet is asked before the letters are. */
#ifndef CATALOG_MEANT_H
#define CATALOG_MEANT_H

#include "base/base.h"

/* Adds what the sheet says of a name of this kind ("model", "machine", "command", "list", "format", "engine") to an
 * error that says that the name is unknown. False: the sheet does not have it, and the error is as it was. */
bool meant_explain(const char *kind, const char *name, struct error *error);
/* The row of the sheet; -1: none. */
int meant_row(const char *kind, const char *name);
/* The at-th name that is meant by a row, into `name`; false after the last. */
bool meant_name(int row, size_t at, char name[64]);
const char *meant_hint(int row);

/* What a model answers with that writes no tokens, "a vector", by a word in its name or the end of the class in its
 * `architectures` (data/name_words.csv); NULL: it writes tokens. */
const char *model_reads(const char *name, const char *class);

#endif
