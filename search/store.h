/* store -- the finished blocks of a search in a file, so that a search can be resumed and merged.
 *
 * The file is a SQLite database. Table `question` has one row, the question and a digest of everything
 * that the search reads; table `block` has a row for each finished block, in the format of block.h. One
 * process writes at a time. If it is killed, it loses the blocks that were running and those that were
 * finished less than STORE_SECONDS ago, since rows are committed that often; the file stays valid.
 *
 * The content of a file is not trusted: rows have checksums, and a store of another question is refused.
 * Text and bytes that are read live in the arena of the call. */
#ifndef SEARCH_STORE_H
#define SEARCH_STORE_H

#include "base/base.h"

#define STORE_SECONDS 0.1

struct store_question {
    const char *version;            /* of the program */
    const char *words;              /* the command, as JSON */
    uint64_t digest;                /* of graphs, settings, loads and limits */
    uint64_t searches, blocks;      /* number of searches; blocks of each */
    uint64_t shards;                /* number of shards, which may differ for the same question */
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
