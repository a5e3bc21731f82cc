/* A search in parts: by blocks, of shards and ranks, kept in stores.
 *
 *     store -> have --- not this shard's --+
 *                                          +--> wanted -> search_each -> keep -> store
 *                                                                          |
 *     the answer's process: all that was kept or read, joined  <-----------+---- other ranks
 */
#include "ask/shards/shards.h"

#include "base/clock.h"
#include "search/block.h"
#include "search/store.h"

#include <stdio.h>
#include <string.h>

enum { SHARDS_MOST = 65536 };

struct parts {
    struct sharded_search *sharded;
    const struct ranks *ranks;
    struct store *store;            /* NULL: none */
    struct store_question question;
    const char *path;               /* of the blocks that are read */
    size_t blocks;
    struct search_block *found;     /* [blocks] */
    bool *have;                     /* [blocks], here or at another rank */
    uint64_t *sum;                  /* [blocks] digest of what is in `found`, or 0 */
    uint32_t shard, shards;         /* from 0 */
    size_t kept, wanted, points;
    struct buffer sent;             /* blocks of this rank, for the first: frame, bytes */
};

struct frame {
    uint64_t number, size;
};

/* ---- options ------------------------------------------------------------------------------- */

static bool parts_given(const struct command *command)
{
    return command->store_count || command_text(command, "store") ||
           (command->ranks && command->ranks->count > 1);
}

static bool read_shard(const char *text, uint32_t *shard, uint32_t *shards)
{
    const char *slash = strchr(text, '/');
    double one, all;
    if (!slash || !text_number((struct text){ text, (size_t)(slash - text) }, &one) ||
        !text_number(text_of(slash + 1), &all) || !(one >= 1 && one <= all && all <= SHARDS_MOST))
        return false;
    *shard = (uint32_t)one - 1;
    *shards = (uint32_t)all;
    return *shard + 1 == one && *shards == all;
}

static bool shard_possible(const struct command *command, struct error *error)
{
    const char *shard = command_text(command, "shard");
    uint32_t one, all;
    if (!read_shard(shard, &one, &all)) {
        error_set(error, "--shard: invalid shard '%.60s'", shard);
        return error_expected(error, "I/N, 1 <= I <= N <= 65536: --shard 3/16");
    }
    if (command->ranks && command->ranks->count > 1) {
        error_set(error, "--shard and mpirun exclude each other: the ranks are the shards");
        return error_expected(error, "one of them");
    }
    if (!command_given(command, "store")) {
        error_set(error, "--shard needs a store for its results");
        return error_expected(error, "--store part1.store; `chalkline merge` merges the stores");
    }
    for (size_t i = 0; i < command->value_count; i++) {
        const char *name = command->values[i].option->name;
        if (shard_words_shown(name) && strcmp(name, "json")) {
            error_set(error, "--%s: a single shard has no answer", name);
            return error_suggest(error, "`chalkline merge` prints the answer of all shards");
        }
    }
    return true;
}

static bool from_standard_input(const struct command *command)
{
    for (size_t i = 0; i < command->value_count; i++)
        if (!strcmp(command->values[i].option->name, "rows") &&
            !strcmp(command->values[i].text, "-"))
            return true;
    const char *traffic = command_text(command, "traffic");
    return (command->word_count && !strcmp(command->words[0], "-")) ||
           (traffic && !strcmp(traffic, "-"));
}

bool shards_check(const struct command *command, struct error *error)
{
    const char *store = command_text(command, "store");
    if (store && !*store) {
        error_set(error, "--store needs a file name");
        return error_expected(error, "--store part1.store");
    }
    if (store && command_text(command, "sweep")) {
        error_set(error, "--sweep and --store exclude each other: a store holds one search");
        return error_expected(error, "for each value a search with --set ROW=VALUE and a store of its own");
    }
    if (parts_given(command) && from_standard_input(command)) {
        error_set(error, "a sharded search cannot read standard input");
        return error_expected(error, "a file's name");
    }
    return !command_given(command, "shard") || shard_possible(command, error);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void open_parts(struct parts *parts, struct sharded_search *sharded)
{
    static const struct ranks alone = { 0, 1 };
    uint64_t digest = digest_bytes(DIGEST_BEGIN, CHALKLINE_VERSION, sizeof CHALKLINE_VERSION);
    *parts = (struct parts){ .sharded = sharded, .shards = 1, .sent.arena = sharded->arena,
                             .ranks = sharded->command->ranks ? sharded->command->ranks : &alone };
    parts->question.version = CHALKLINE_VERSION;
    parts->question.words = shard_words_write(sharded->arena, sharded->command);
    parts->question.searches = 1;
    digest = digest_bytes(digest, parts->question.words, strlen(parts->question.words));
    digest = digest_spaces(digest, sharded->spaces, sharded->count);
    for (size_t s = 0; s < sharded->count; s++)
        digest = digest_limits(digest, &sharded->spaces[s]);
    parts->found = search_blocks(sharded->arena, sharded->spaces, sharded->count, &parts->blocks);
    parts->question.digest = digest;
    parts->question.blocks = parts->blocks;
    parts->have = arena_array(sharded->arena, parts->blocks + 1, 1);
    parts->sum = arena_array(sharded->arena, parts->blocks + 1, sizeof *parts->sum);
}

static bool damaged(const struct parts *parts, struct error *error)
{
    const struct error block = *error;
    error_set(error, "%s: %s", parts->path, block.what);
    return error_hint_of(error, &block);
}

/* Of two equal blocks one; unequal ones of one question are an error. */
static bool take_bytes(void *context, uint64_t search, uint64_t number, struct text bytes,
                       struct error *error)
{
    struct parts *parts = context;
    const struct sharded_search *sharded = parts->sharded;
    if (search || number >= parts->blocks) {
        error_set(error, "%s: a block that the search does not have", parts->path);
        return error_expected(error, "a whole file; delete it to search again");
    }
    const uint64_t sum = digest_bytes(parts->question.digest, bytes.data, bytes.size) | 1;
    if (!block_read(sharded->arena, bytes, parts->question.digest, 0, sharded->spaces,
                    &parts->found[number], error))
        return damaged(parts, error);
    if (parts->sum[number] && parts->sum[number] != sum) {
        error_set(error, "%s: block %zu is not what another part found", parts->path,
                  (size_t)number);
        return error_expected(error, "one build of chalkline for all parts");
    }
    parts->have[number] = true;
    parts->sum[number] = sum;
    return true;
}

static bool keep_block(void *context, const struct search_block *block, struct error *error)
{
    struct parts *parts = context;
    const struct sharded_search *sharded = parts->sharded;
    struct arena scratch = arena_beside(sharded->arena);
    struct buffer bytes = { .arena = &scratch };
    block_write(&bytes, parts->question.digest, 0, block);
    const struct text text = { bytes.data, bytes.size };
    bool good = take_bytes(parts, 0, block->number, text, error) &&
                (!parts->store || store_put(parts->store, 0, block->number, text, error));
    arena_free(&scratch);
    parts->kept++;
    parts->points += block->count.points;
    if (sharded->command->progress)
        sharded->command->progress((double)parts->kept / (double)(parts->wanted + 1));
    return good;
}

/* Chunks of this shard that are in no store yet. */
static bool search_wanted(struct parts *parts, struct error *error)
{
    const struct search_keeper keeper = { keep_block, parts };
    const struct sharded_search *sharded = parts->sharded;
    struct search_block **wanted = arena_array(sharded->arena, parts->blocks + 1, sizeof *wanted);
    for (size_t i = 0; i < parts->blocks; i++)
        if (!parts->have[i] && search_shard(&parts->found[i], parts->shards) == parts->shard)
            wanted[parts->wanted++] = &parts->found[i];
    return search_each(sharded->spaces, wanted, parts->wanted, &keeper, error);
}

/* ---- the store ----------------------------------------------------------------------------- */

/* Each rank has a file of its own: FILE.1, FILE.2 ... */
static bool open_store(struct parts *parts, struct error *error)
{
    struct sharded_search *sharded = parts->sharded;
    const char *path = command_text(sharded->command, "store");
    if (!path)
        return true;
    parts->path = parts->ranks->count == 1 ? path
                  : arena_print(sharded->arena, "%s.%d", path, parts->ranks->rank + 1);
    if (!store_open(sharded->arena, parts->path, &parts->question, &parts->store, error)) {
        parts->store = NULL;
        return false;
    }
    return store_each(parts->store, take_bytes, parts, error);
}

static bool close_store(struct parts *parts, bool good, struct error *error)
{
    struct error ignored;
    if (parts->store && !store_close(parts->store, good ? error : &ignored))
        good = false;
    parts->store = NULL;
    return good;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void join(struct parts *parts)
{
    struct sharded_search *sharded = parts->sharded;
    search_join(sharded->arena, parts->found, parts->blocks, &sharded->result);
}

/* What this rank has itself; what others have is not in `sum`. */
static void write_sent(struct parts *parts)
{
    for (size_t i = 0; i < parts->blocks; i++) {
        if (!parts->sum[i])
            continue;
        struct frame frame = { i, 0 };
        const size_t start = parts->sent.size;
        buffer_add(&parts->sent, (const char *)&frame, sizeof frame);
        block_write(&parts->sent, parts->question.digest, 0, &parts->found[i]);
        frame.size = parts->sent.size - start - sizeof frame;
        memcpy(parts->sent.data + start, &frame, sizeof frame);
    }
}

static bool take_sent(struct parts *parts, struct text sent, struct error *error)
{
    struct frame frame;
    for (; sent.size >= sizeof frame; sent.data += frame.size, sent.size -= frame.size) {
        memcpy(&frame, sent.data, sizeof frame);
        sent.data += sizeof frame, sent.size -= sizeof frame;
        if (!take_bytes(parts, 0, frame.number, (struct text){ sent.data, frame.size }, error))
            return false;
    }
    return true;
}

static bool gather(struct parts *parts, struct error *error)
{
    struct sharded_search *sharded = parts->sharded;
    if (parts->ranks->rank)
        write_sent(parts);
    struct text *all = ranks_gather(parts->ranks, sharded->arena,
                                    (struct text){ parts->sent.data, parts->sent.size });
    sharded->elsewhere = !all;
    for (int rank = 1; all && rank < parts->ranks->count; rank++) {
        parts->path = arena_print(sharded->arena, "rank %d", rank);
        if (!take_sent(parts, all[rank], error))
            return false;
    }
    return true;
}

/* ---- a shard's words ----------------------------------------------------------------------- */

static void tell_shard(struct parts *parts, double seconds)
{
    struct sharded_search *sharded = parts->sharded;
    struct answer *answer = sharded->answer;
    size_t mine = 0;
    for (size_t i = 0; i < parts->blocks; i++)
        mine += search_shard(&parts->found[i], parts->shards) == parts->shard;
    const struct { const char *key; double value; } numbers[] = {
        { "shard", parts->shard + 1 }, { "shards", parts->shards },
        { "blocks", (double)mine }, { "blocks_searched", (double)parts->kept },
        { "points", (double)parts->points }, { "seconds", seconds } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        doc_add_number(sharded->arena, answer->doc, numbers[i].key, numbers[i].value);
    doc_add_string(sharded->arena, answer->doc, "store", command_text(sharded->command, "store"));
    buffer_print(&answer->text, "shard %u/%u of %s: %s blocks of %s, all in %s\n",
                 parts->shard + 1, parts->shards, sharded->title, count_text(sharded->arena, mine, 12),
                 count_text(sharded->arena, parts->blocks, 12), command_text(sharded->command, "store"));
    buffer_print(&answer->text, "  now      %s blocks, %s points, %.2f s; %s blocks were there\n",
                 count_text(sharded->arena, parts->kept, 12),
                 count_text(sharded->arena, parts->points, 12), seconds,
                 count_text(sharded->arena, mine - parts->kept, 12));
    buffer_print(&answer->text, "  answer   chalkline merge, with the stores of all shards\n");
}

/* ---- all together -------------------------------------------------------------------------- */

/* The ranks' files and builds may differ, where each reads its own machine's. */
static bool same_question(const struct parts *parts, struct error *error)
{
    if (ranks_same(parts->ranks, parts->question.digest))
        return true;
    error_set(error, "the ranks were asked different questions");
    return error_expected(error, "the same program, files and options for all ranks");
}

static void set_shard(struct parts *parts)
{
    const char *shard = command_text(parts->sharded->command, "shard");
    if (shard)
        read_shard(shard, &parts->shard, &parts->shards);
    if (parts->ranks->count > 1) {
        parts->shard = (uint32_t)parts->ranks->rank;
        parts->shards = (uint32_t)parts->ranks->count;
    }
    parts->question.shards = parts->shards;
}

/* What is finished stays in the store, whatever else goes wrong. */
static bool search_parts(struct parts *parts, struct error *error)
{
    const struct ranks *ranks = parts->ranks;
    bool good = ranks_agree(ranks, open_store(parts, error), error);
    if (good) {
        ranks_either(ranks, parts->have, parts->blocks);
        good = ranks_agree(ranks, search_wanted(parts, error), error);
    }
    return ranks_agree(ranks, close_store(parts, good, error), error);
}

static bool run_parts(struct parts *parts, struct error *error)
{
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    struct sharded_search *sharded = parts->sharded;
    set_shard(parts);
    if (!same_question(parts, error) || !search_parts(parts, error))
        return false;
    if (command_text(sharded->command, "shard")) {
        sharded->elsewhere = true;
        tell_shard(parts, clock_seconds(CLOCK_MONOTONIC) - begin);
        return true;
    }
    if (!gather(parts, error))
        return false;
    if (!sharded->elsewhere)
        join(parts);
    return true;
}

/* ---- merge --------------------------------------------------------------------------------- */

static bool take_store(struct parts *parts, const char *path, struct error *error)
{
    struct store_question old;
    struct error ignored;
    parts->path = path;
    if (!store_open_old(parts->sharded->arena, path, &parts->store, &old, error))
        return false;
    const bool good = store_same(&parts->question, "this search", &old, path, error) &&
                      store_each(parts->store, take_bytes, parts, error);
    store_close(parts->store, &ignored);
    if (old.shards > parts->shards && old.shards <= SHARDS_MOST)
        parts->shards = (uint32_t)old.shards;
    return good;
}

/* "2/3: 738 blocks; 3/3: 12 blocks" */
static void shards_line(struct parts *parts)
{
    struct buffer *out = &parts->sharded->answer->text;
    const char *between = "  shards   ";
    size_t *missing = arena_array(parts->sharded->arena, parts->shards, sizeof *missing);
    for (size_t i = 0; i < parts->blocks; i++)
        missing[search_shard(&parts->found[i], parts->shards)] += !parts->have[i];
    for (uint32_t s = 0; s < parts->shards; s++)
        if (missing[s]) {
            buffer_print(out, "%s%u/%u: %s blocks", between, s + 1, parts->shards,
                         count_text(parts->sharded->arena, missing[s], 12));
            between = "; ";
        }
    buffer_print(out, "\n");
}

/* The first few blocks in words, all of them in the document and the table. */
static void tell_missing(struct parts *parts, size_t missing)
{
    enum { SHOWN = 12 };
    struct sharded_search *sharded = parts->sharded;
    struct answer *answer = sharded->answer;
    struct table csv = { .arena = sharded->arena, .columns = 1 };
    struct doc *list = doc_add(sharded->arena, answer->doc, "missing", DOC_ARRAY);
    size_t shown = 0;
    buffer_print(&answer->text, "%s: no answer, %s of %s blocks are missing\n  blocks   ",
                 sharded->title, count_text(sharded->arena, missing, 12),
                 count_text(sharded->arena, parts->blocks, 12));
    table_cell(&csv, "block");
    for (size_t i = 0; i < parts->blocks; i++) {
        if (parts->have[i])
            continue;
        doc_add_number(sharded->arena, list, NULL, (double)i);
        table_cell(&csv, "%zu", i);
        if (shown++ < SHOWN)
            buffer_print(&answer->text, "%s%zu", shown > 1 ? ", " : "", i);
    }
    buffer_print(&answer->text, "%s\n", shown > SHOWN ? ", ..." : "");
    shards_line(parts);
    table_csv(&csv, &answer->csv);
    answer->status = 1;
}

static bool merge_parts(struct parts *parts, struct error *error)
{
    struct sharded_search *sharded = parts->sharded;
    size_t missing = 0;
    for (size_t i = 0; i < sharded->command->store_count; i++)
        if (!take_store(parts, sharded->command->stores[i], error))
            return false;
    for (size_t i = 0; i < parts->blocks; i++)
        missing += !parts->have[i];
    sharded->elsewhere = missing > 0;
    if (missing)
        tell_missing(parts, missing);
    else
        join(parts);
    return true;
}

bool shards_search(struct sharded_search *sharded)
{
    struct parts parts;
    if (!parts_given(sharded->command))
        return search_run(sharded->arena, sharded->spaces, sharded->count, &sharded->result,
                          sharded->error);
    open_parts(&parts, sharded);
    return sharded->command->store_count ? merge_parts(&parts, sharded->error)
                                        : run_parts(&parts, sharded->error);
}
