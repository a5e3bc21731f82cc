/* A plan in parts: every search of it by blocks, of shards and ranks, kept in stores.
 *
 *     store -> have --- not this shard's --+
 *                                          +--> wanted -> search_each -> keep -> store
 *                                                                          |
 *     the answer's process: all that was kept or read, joined  <-----------+---- other ranks
 */
#include "ask/plan.h"

#include "search/block.h"
#include "search/store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SHARDS_MOST = 65536 };

struct parts {
    struct plan *plan;
    const struct ranks *ranks;
    struct store *store;            /* NULL: none */
    struct store_question question;
    const char *path;               /* of the blocks that are read */
    size_t blocks;                  /* of each search */
    struct search_block **found;    /* [searches] of [blocks] */
    bool *have;                     /* [searches * blocks], here or at another rank */
    uint64_t *sum;                  /* [searches * blocks] digest of what is in `found`, or 0 */
    uint32_t shard, shards;         /* from 0 */
    uint32_t searching;             /* now */
    size_t kept, wanted, points;
    struct buffer sent;             /* blocks of this rank, for the first: frame, bytes */
};

struct frame {
    uint64_t search, number, size;
};

/* ---- options ------------------------------------------------------------------------------- */

bool plan_parts_given(const struct plan *plan)
{
    const struct question *question = plan->question;
    return plan->store_count || question->option[OPTION_STORE] ||
           (question->ranks && question->ranks->count > 1);
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

static bool shard_possible(const struct question *question, struct error *error)
{
    const char *shard = question->option[OPTION_SHARD];
    uint32_t one, all;
    if (!read_shard(shard, &one, &all)) {
        error_set(error, "--shard: '%.60s' is no part of a search", shard);
        return error_hint(error, "I/N, 1 <= I <= N <= 65536: --shard 3/16");
    }
    if (question->ranks && question->ranks->count > 1) {
        error_set(error, "--shard: the ranks of mpirun are the shards");
        return error_hint(error, "one of the two");
    }
    if (!question->option[OPTION_STORE]) {
        error_set(error, "--shard needs a store to leave its blocks in");
        return error_hint(error, "--store part1.store; `chalkline merge` puts the stores together");
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        if (question->option[i] && plan_shown(i) && i != OPTION_JSON) {
            error_set(error, "--%s: a shard alone has no answer", options[i].name);
            return error_hint(error, "`chalkline merge` has it, of all shards");
        }
    return true;
}

static bool from_standard_input(const struct question *question)
{
    for (size_t i = 0; i < question->rows_count; i++)
        if (!strcmp(question->rows[i], "-"))
            return true;
    const char *traffic = question->option[OPTION_TRAFFIC];
    return (question->word_count && !strcmp(question->words[0], "-")) ||
           (traffic && !strcmp(traffic, "-"));
}

bool plan_parts_check(struct plan *plan)
{
    const struct question *question = plan->question;
    const char *store = question->option[OPTION_STORE];
    if (store && !*store) {
        error_set(plan->error, "--store: no file is named");
        return error_hint(plan->error, "--store part1.store");
    }
    if (store && question->option[OPTION_SWEEP]) {
        error_set(plan->error, "--sweep is a search for each value, a store has one");
        return error_hint(plan->error, "a store for each: --set ROW=VALUE");
    }
    if (plan_parts_given(plan) && from_standard_input(question)) {
        error_set(plan->error, "a search in parts cannot read '-' again");
        return error_hint(plan->error, "a file's name");
    }
    return !question->option[OPTION_SHARD] || shard_possible(question, plan->error);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void open_parts(struct parts *parts, struct plan *plan)
{
    static const struct ranks alone = { 0, 1 };
    uint64_t digest = digest_bytes(DIGEST_BEGIN, CHALKLINE_VERSION, sizeof CHALKLINE_VERSION);
    *parts = (struct parts){ .plan = plan, .shards = 1, .sent.arena = plan->arena,
                             .ranks = plan->question->ranks ? plan->question->ranks : &alone };
    parts->question.version = CHALKLINE_VERSION;
    parts->question.words = plan_words(plan);
    parts->question.searches = plan->search_count;
    parts->found = arena_array(plan->arena, plan->search_count, sizeof *parts->found);
    digest = digest_bytes(digest, parts->question.words, strlen(parts->question.words));
    digest = digest_spaces(digest, plan->spaces, plan->count);
    for (size_t i = 0; i < plan->search_count; i++) {
        const struct search_space *spaces = plan->searches[i].spaces;
        parts->found[i] = search_blocks(plan->arena, spaces, plan->count, &parts->blocks);
        for (size_t s = 0; s < plan->count; s++)
            digest = digest_limits(digest, &spaces[s]);
    }
    parts->question.digest = digest;
    parts->question.blocks = parts->blocks;
    parts->have = arena_array(plan->arena, plan->search_count * parts->blocks + 1, 1);
    parts->sum = arena_array(plan->arena, plan->search_count * parts->blocks + 1,
                             sizeof *parts->sum);
}

static bool damaged(const struct parts *parts, struct error *error)
{
    const struct error block = *error;
    error_set(error, "%s: %s", parts->path, block.what);
    return error_hint(error, "%s", block.hint);
}

/* Of two equal blocks one; unequal ones of one question are an error. */
static bool take_bytes(void *context, uint64_t search, uint64_t number, struct text bytes,
                       struct error *error)
{
    struct parts *parts = context;
    const struct plan *plan = parts->plan;
    if (search >= plan->search_count || number >= parts->blocks) {
        error_set(error, "%s: a block that the search does not have", parts->path);
        return error_hint(error, "a whole file; delete it to search again");
    }
    const size_t at = (size_t)search * parts->blocks + (size_t)number;
    const uint64_t sum = digest_bytes(parts->question.digest, bytes.data, bytes.size) | 1;
    if (!block_read(plan->arena, bytes, parts->question.digest, (uint32_t)search,
                    plan->searches[search].spaces, &parts->found[search][number], error))
        return damaged(parts, error);
    if (parts->sum[at] && parts->sum[at] != sum) {
        error_set(error, "%s: block %zu of search %zu is not what another part found", parts->path,
                  (size_t)number, (size_t)search);
        return error_hint(error, "one build of chalkline for all parts");
    }
    parts->have[at] = true;
    parts->sum[at] = sum;
    return true;
}

static bool keep_block(void *context, const struct search_block *block, struct error *error)
{
    struct parts *parts = context;
    const struct question *question = parts->plan->question;
    const struct frame frame = { parts->searching, block->number, 0 };
    struct arena scratch = { .exhausted = parts->plan->arena->exhausted,
                             .context = parts->plan->arena->context };
    struct buffer bytes = { .arena = &scratch };
    block_write(&bytes, parts->question.digest, parts->searching, block);
    const struct text text = { bytes.data, bytes.size };
    bool good = take_bytes(parts, frame.search, frame.number, text, error) &&
                (!parts->store || store_put(parts->store, frame.search, frame.number, text, error));
    arena_free(&scratch);
    parts->kept++;
    parts->points += block->count.points;
    if (question->progress)
        question->progress((double)parts->kept / (double)(parts->wanted + 1));
    return good;
}

/* Blocks that are of this shard and that nobody has: a list for each search. */
static size_t list_wanted(const struct parts *parts, size_t search, struct search_block **wanted)
{
    const uint32_t shards = parts->shards;
    size_t count = 0;
    for (size_t i = 0; i < parts->blocks; i++) {
        struct search_block *block = &parts->found[search][i];
        if (!parts->have[search * parts->blocks + i] && search_shard(block, shards) == parts->shard)
            wanted[count++] = block;
    }
    return count;
}

static bool search_wanted(struct parts *parts, struct error *error)
{
    const struct search_keeper keeper = { keep_block, parts };
    const struct plan *plan = parts->plan;
    struct search_block **wanted = arena_array(plan->arena, parts->blocks + 1, sizeof *wanted);
    for (size_t i = 0; i < plan->search_count; i++)
        parts->wanted += list_wanted(parts, i, wanted);
    for (size_t i = 0; i < plan->search_count; i++) {
        const size_t count = list_wanted(parts, i, wanted);
        parts->searching = (uint32_t)i;
        if (!search_each(plan->searches[i].spaces, wanted, count, &keeper, error))
            return false;
    }
    return true;
}

/* ---- the store ----------------------------------------------------------------------------- */

/* Each rank has a file of its own: FILE.1, FILE.2 ... */
static bool open_store(struct parts *parts, struct error *error)
{
    struct plan *plan = parts->plan;
    const char *path = plan->question->option[OPTION_STORE];
    if (!path)
        return true;
    parts->path = parts->ranks->count == 1 ? path
                  : arena_print(plan->arena, "%s.%d", path, parts->ranks->rank + 1);
    if (!store_open(plan->arena, parts->path, &parts->question, &parts->store, error)) {
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
    struct plan *plan = parts->plan;
    for (size_t i = 0; i < plan->search_count; i++)
        search_join(plan->arena, parts->found[i], parts->blocks, &plan->searches[i].result);
}

/* What this rank has itself; what others have is not in `sum`. */
static void write_sent(struct parts *parts)
{
    const struct plan *plan = parts->plan;
    for (size_t i = 0; i < plan->search_count; i++)
        for (size_t k = 0; k < parts->blocks; k++) {
            if (!parts->sum[i * parts->blocks + k])
                continue;
            struct frame frame = { i, k, 0 };
            const size_t start = parts->sent.size;
            buffer_add(&parts->sent, (const char *)&frame, sizeof frame);
            block_write(&parts->sent, parts->question.digest, (uint32_t)i, &parts->found[i][k]);
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
        if (!take_bytes(parts, frame.search, frame.number, (struct text){ sent.data, frame.size },
                        error))
            return false;
    }
    return true;
}

static bool gather(struct parts *parts, struct error *error)
{
    struct plan *plan = parts->plan;
    if (parts->ranks->rank)
        write_sent(parts);
    struct text *all = ranks_gather(parts->ranks, plan->arena,
                                    (struct text){ parts->sent.data, parts->sent.size });
    plan->elsewhere = !all;
    for (int rank = 1; all && rank < parts->ranks->count; rank++) {
        parts->path = arena_print(plan->arena, "rank %d", rank);
        if (!take_sent(parts, all[rank], error))
            return false;
    }
    return true;
}

/* ---- a shard's words ----------------------------------------------------------------------- */

static const char *count_text(const struct plan *plan, size_t count)
{
    static const struct unit one = { { 0 } };
    return quantity_text(plan->arena, (double)count, one, 12);
}

static void tell_shard(struct parts *parts, double seconds)
{
    struct plan *plan = parts->plan;
    struct answer *answer = plan->answer;
    size_t mine = 0;
    for (size_t i = 0; i < plan->search_count; i++)
        for (size_t k = 0; k < parts->blocks; k++)
            mine += search_shard(&parts->found[i][k], parts->shards) == parts->shard;
    const struct { const char *key; double value; } numbers[] = {
        { "shard", parts->shard + 1 }, { "shards", parts->shards },
        { "blocks", (double)mine }, { "blocks_searched", (double)parts->kept },
        { "points", (double)parts->points }, { "seconds", seconds } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        doc_add_number(plan->arena, answer->doc, numbers[i].key, numbers[i].value);
    doc_add_string(plan->arena, answer->doc, "store", plan->question->option[OPTION_STORE]);
    buffer_print(&answer->text, "shard %u/%u of %s on %s: %s blocks of %s, all in %s\n",
                 parts->shard + 1, parts->shards, plan->variants->scenario.model, plan->scope,
                 count_text(plan, mine), count_text(plan, plan->search_count * parts->blocks),
                 plan->question->option[OPTION_STORE]);
    buffer_print(&answer->text, "  now      %s blocks, %s points, %.2f s; %s blocks were there\n",
                 count_text(plan, parts->kept), count_text(plan, parts->points), seconds,
                 count_text(plan, mine - parts->kept));
    buffer_print(&answer->text, "  answer   chalkline merge, with the stores of all shards\n");
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- all together -------------------------------------------------------------------------- */

/* The ranks' files and builds may differ, where each reads its own machine's. */
static bool same_question(const struct parts *parts, struct error *error)
{
    if (ranks_same(parts->ranks, parts->question.digest))
        return true;
    error_set(error, "the ranks were asked different questions");
    return error_hint(error, "the same program, files and options for all ranks");
}

static void set_shard(struct parts *parts)
{
    const char *shard = parts->plan->question->option[OPTION_SHARD];
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
        ranks_either(ranks, parts->have, parts->plan->search_count * parts->blocks);
        good = ranks_agree(ranks, search_wanted(parts, error), error);
    }
    return ranks_agree(ranks, close_store(parts, good, error), error);
}

static bool run_parts(struct parts *parts, struct error *error)
{
    const double begin = seconds_now();
    struct plan *plan = parts->plan;
    set_shard(parts);
    if (!same_question(parts, error) || !search_parts(parts, error))
        return false;
    if (plan->question->option[OPTION_SHARD]) {
        plan->elsewhere = true;
        tell_shard(parts, seconds_now() - begin);
        return true;
    }
    if (!gather(parts, error))
        return false;
    if (!plan->elsewhere)
        join(parts);
    return true;
}

/* ---- merge --------------------------------------------------------------------------------- */

static bool take_store(struct parts *parts, const char *path, struct error *error)
{
    struct store_question old;
    struct error ignored;
    parts->path = path;
    if (!store_open_old(parts->plan->arena, path, &parts->store, &old, error))
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
    struct buffer *out = &parts->plan->answer->text;
    const char *between = "  shards   ";
    size_t *missing = arena_array(parts->plan->arena, parts->shards, sizeof *missing);
    for (size_t i = 0; i < parts->plan->search_count * parts->blocks; i++) {
        const struct search_block *block = &parts->found[0][i % parts->blocks];
        missing[search_shard(block, parts->shards)] += !parts->have[i];
    }
    for (uint32_t s = 0; s < parts->shards; s++)
        if (missing[s]) {
            buffer_print(out, "%s%u/%u: %s blocks", between, s + 1, parts->shards,
                         count_text(parts->plan, missing[s]));
            between = "; ";
        }
    buffer_print(out, "\n");
}

/* Blocks as "search.block", the first few in words, all of them in the document and the table. */
static void tell_missing(struct parts *parts, size_t missing)
{
    enum { SHOWN = 12 };
    struct plan *plan = parts->plan;
    struct answer *answer = plan->answer;
    struct table csv = { .arena = plan->arena, .columns = 2 };
    struct doc *list = doc_add(plan->arena, answer->doc, "missing", DOC_ARRAY);
    size_t shown = 0;
    buffer_print(&answer->text, "%s on %s: no answer, %s of %s blocks are missing\n  blocks   ",
                 plan->variants->scenario.model, plan->scope, count_text(plan, missing),
                 count_text(plan, plan->search_count * parts->blocks));
    table_cell(&csv, "search");
    table_cell(&csv, "block");
    for (size_t i = 0; i < plan->search_count * parts->blocks; i++) {
        if (parts->have[i])
            continue;
        const size_t search = i / parts->blocks, number = i % parts->blocks;
        struct doc *one = doc_add(plan->arena, list, NULL, DOC_OBJECT);
        doc_add_number(plan->arena, one, "search", (double)search);
        doc_add_number(plan->arena, one, "block", (double)number);
        table_cell(&csv, "%zu", search);
        table_cell(&csv, "%zu", number);
        if (shown++ < SHOWN)
            buffer_print(&answer->text, "%s%zu.%zu", shown > 1 ? ", " : "", search, number);
    }
    buffer_print(&answer->text, "%s\n", shown > SHOWN ? ", ..." : "");
    shards_line(parts);
    table_csv(&csv, &answer->csv);
    answer->status = 1;
}

static bool merge_parts(struct parts *parts, struct error *error)
{
    struct plan *plan = parts->plan;
    size_t missing = 0;
    for (size_t i = 0; i < plan->store_count; i++)
        if (!take_store(parts, plan->stores[i], error))
            return false;
    for (size_t i = 0; i < plan->search_count * parts->blocks; i++)
        missing += !parts->have[i];
    plan->elsewhere = missing > 0;
    if (missing)
        tell_missing(parts, missing);
    else
        join(parts);
    return true;
}

bool plan_parts_run(struct plan *plan)
{
    struct parts parts;
    open_parts(&parts, plan);
    return plan->store_count ? merge_parts(&parts, plan->error) : run_parts(&parts, plan->error);
}
