/* store -- the blocks of a search in a file that survives whatever ends the program.
 *
 * A SQLite database: table `question` has one row, what was asked and a digest of all that the
 * search reads; table `block` a row for each finished block, its bytes as block.h says. One
 * process writes. A killed one loses the blocks that were running, and what was finished within
 * STORE_SECONDS before, for rows are committed so often; what is in the file is whole.
 *
 * Nothing in a file is believed: rows have check sums, and a store of another question is
 * refused. Text and bytes that are read live in the arena that they were given. */
#ifndef SEARCH_STORE_H
#define SEARCH_STORE_H

#include "base/base.h"

#define STORE_SECONDS 0.1

struct store_question {
    const char *version;            /* of the program */
    const char *words;              /* what was asked, as JSON */
    uint64_t digest;
    uint64_t searches, blocks;      /* how many there are, and blocks in each */
    uint64_t shards;                /* in how many parts; other numbers are the same question */
};

struct store;

/* For one writer; makes the file where there is none. The question is written, or is the same
 * as the file's. */
bool store_open(struct arena *arena, const char *path, const struct store_question *question,
                struct store **store, struct error *error);
/* For reading what is there. */
bool store_open_old(struct arena *arena, const char *path, struct store **store,
                    struct store_question *question, struct error *error);
/* Every row, in order, until one is refused. */
bool store_each(struct store *store, bool (*row)(void *context, uint64_t search, uint64_t number,
                                                 struct text bytes, struct error *error),
                void *context, struct error *error);
bool store_put(struct store *store, uint64_t search, uint64_t number, struct text bytes,
               struct error *error);
/* All rows are in the file, and nothing beside it. The store is gone in any case. */
bool store_close(struct store *store, struct error *error);
/* Two questions are the same, or an error says what differs. */
bool store_same(const struct store_question *a, const char *path_a,
                const struct store_question *b, const char *path_b, struct error *error);

#endif
