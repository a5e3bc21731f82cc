/* words -- a text as the words that it is about, so that two ways to say the same thing compare equal. */
#ifndef ROWS_WORDS_H
#define ROWS_WORDS_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

enum { WORDS_MOST = 64, WORD_SIZE = 32 };

struct words {
    char at[WORDS_MOST][WORD_SIZE];
    size_t count;
};

/* Phrases of up to four words and the word that each stands for. */
struct synonyms {
    const struct synonym *at;       /* in order of their first words */
    size_t count;
};

/* The phrases of formulas/synonyms.txt. */
void synonyms_read(struct synonyms *synonyms, struct arena *arena);
/* Read the words of `text`: lower case, without endings ("batches" and "batching" are "batch") and
 * without words that every text has; phrases become the word they stand for. Words past WORDS_MOST are
 * left out. */
void words_read(const struct synonyms *synonyms, const char *text, size_t size, struct words *words);
/* Phrases with commas between, each as its words: "batch sizes, sizing a batch" is "batch siz,siz batch".
 * What words_read would make the same is there once. */
const char *words_of_phrases(const struct synonyms *synonyms, struct arena *arena, const char *phrases);
/* Read what words_of_phrases made, or a part of it. */
void words_read_again(const char *text, size_t size, struct words *words);
bool words_have(const struct words *words, const char *word);

#endif
