/* shards -- the search of a command, whole or distributed over processes and machines.
 *
 * A search consists of blocks (search/search.h). With --shard a process searches only its share of
 * them, with --store they are kept in a file (search/store.h), and with MPI the ranks divide them.
 * `plan` and `train` search; `merge` combines the stores of shards into the answer that a single
 * process would have given, bit for bit. */
#ifndef ASK_SHARDS_H
#define ASK_SHARDS_H

#include "ask/ask.h"
#include "search/search.h"

/* Lives as long as its arena. */
struct sharded_search {
    struct arena *arena;
    const struct command *command;
    struct answer *answer;
    struct error *error;
    const char *title;              /* "Qwen3-32B on 32 x H200 SXM" */
    const struct search_space *spaces;
    size_t count;
    struct search_result result;
    bool elsewhere;                 /* this was a part of a search: the answer is another's */
};

/* Check --shard and --store against each other. */
bool shards_check(const struct command *command, struct error *error);
/* Search the whole space, or only this process's blocks that its store lacks. For `merge`, read the
 * blocks of the given stores; missing blocks are then the answer. */
bool shards_search(struct sharded_search *sharded);

/* Does the option only affect how the answer is shown, and not what is searched? */
bool shard_words_shown(const char *option);
/* The command as JSON, and back: everything that distinguishes one search from another. */
const char *shard_words_write(struct arena *arena, const struct command *command);
bool shard_words_read(struct arena *arena, const char *path, const char *words,
                      struct command *command, struct error *error);

/* --store, --shard, of a verb that searches. */
extern const struct option_group shard_options;

#endif
