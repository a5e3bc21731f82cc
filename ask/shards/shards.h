/* shards -- the search of a question, whole or in parts: blocks in stores, of shards and ranks
 * (search/block.h, search/store.h). `plan` and `train` ask; `merge` puts parts together. */
#ifndef ASK_SHARDS_H
#define ASK_SHARDS_H

#include "ask/ask.h"
#include "search/search.h"

/* Lives as long as its arena. */
struct quest {
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

/* Is what --shard and --store say possible? */
bool parts_check(const struct command *command, struct error *error);
/* All of it, or the blocks that are this process's and are not in its store yet, or those of the
 * stores to be merged, where what misses becomes the answer. */
bool parts_search(struct quest *quest);

/* Does the option only say how the answer is shown? */
bool words_shown(const char *option);
/* What was asked as JSON, and back: all that tells one search from another. */
const char *words_write(struct arena *arena, const struct command *command);
bool words_read(struct arena *arena, const char *path, const char *words,
                struct command *command, struct error *error);

/* --store, --shard, of a verb that searches. */
extern const struct option_group shard_options;

#endif
