/* bill: against a plain biller that knows nothing of the rows. It writes each conversation out as
 * pieces of text, keeps a cache with times, finds the common front of two prompts piece by piece,
 * and adds up what the vendors' words say; tasks come at random. Then examples by hand. */
#include "test.h"
#include "commands.h"
#include "lines.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "ask/bill/bill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a bill of a workload and a sheet given as text ------------------------------------------ */

struct world {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    struct bill bill;
};

static void world_open(struct world *world, const char *workload, const char *sheet)
{
    *world = (struct world){ .answer.text.arena = &world->arena };
    struct bill *bill = &world->bill;
    bill->arena = &world->arena, bill->command = &world->command, bill->error = &world->error;
    bill->section = section_new(&world->arena);
    caching_read(&world->arena, &bill->caching);
    if (!scenario_read(&bill->scenario, &world->arena, &world->command, subject_of(NULL, NULL),
                       &world->error) ||
        !workload_parse(&bill->scenario, "test", text_of(workload), &bill->workload,
                        &world->error) ||
        !bill_open_rows(bill) ||
        !prices_read(&world->arena, "sheet.csv", text_of(sheet), &bill->sheet,
                     &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
}

static struct bill_cost cost_at(const struct world *world, const struct caching_rule *rule)
{
    struct bill_point point = { world->bill.sheet.prices, rule, NAN };
    struct bill_cost cost;
    bill_costs(&world->bill, &point, 1, (struct bill_change){ NULL, 0 }, &cost);
    return cost;
}

#define HEAD "provider,model,fact,value,unit,source,date,mark\n"
#define FACT(name, value, unit) "anthropic,claude-x," name "," value "," unit ",test,2026-01-01,\n"
/* All prices at once: no seller has them, the rows do. */
static const char every_price[] = HEAD FACT("input", "4", "USD/Mtoken")
    FACT("output", "20", "USD/Mtoken") FACT("cached_read", "0.5", "USD/Mtoken")
    FACT("cache_write_5m", "5", "USD/Mtoken") FACT("cache_write_1h", "8", "USD/Mtoken")
    FACT("storage", "3", "USD/Mtoken/h") FACT("threshold", "9000", "token")
    FACT("input_above", "8", "USD/Mtoken") FACT("output_above", "30", "USD/Mtoken")
    FACT("cached_read_above", "1", "USD/Mtoken") FACT("cache_write_5m_above", "10", "USD/Mtoken")
    FACT("cache_write_1h_above", "16", "USD/Mtoken");

/* ---- the plain biller ------------------------------------------------------------------------ */

struct shape {                      /* of a workload, and how the seller caches */
    double fixed, share, document, input, output, kept, rate;
    int turns, compaction;
    double compacted, limit;
    double minimum, step, life, stored_life;    /* life: short; LIFE_TIMES as long by scheme */
    bool output_cached;
    struct amount gap;
};

/* A prompt: pieces of text by name. Equal names are equal text. */
struct piece {
    long name;
    double tokens;
};
struct prompt {
    struct piece piece[128];
    int count;
};

static void put(struct prompt *prompt, long name, double tokens)
{
    assert_true(prompt->count < 128);
    if (tokens > 0)
        prompt->piece[prompt->count++] = (struct piece){ name, tokens };
}

static double length(const struct prompt *prompt)
{
    double sum = 0;
    for (int i = 0; i < prompt->count; i++)
        sum += prompt->piece[i].tokens;
    return sum;
}

/* Tokens at the front of both. */
static double common(const struct prompt *a, const struct prompt *b)
{
    double sum = 0;
    for (int i = 0; i < a->count && i < b->count && a->piece[i].name == b->piece[i].name; i++) {
        sum += fmin(a->piece[i].tokens, b->piece[i].tokens);
        if (a->piece[i].tokens != b->piece[i].tokens)
            break;
    }
    return sum;
}

/* The oldest tokens after the front go; what is left of a piece has another beginning. */
static void cut(struct prompt *prompt, int front, double limit, long *name)
{
    double over = length(prompt) - limit;
    for (int i = front; i < prompt->count && over > 0; i++) {
        double gone = fmin(over, prompt->piece[i].tokens);
        prompt->piece[i].tokens -= gone;
        prompt->piece[i].name = (*name)++;
        over -= gone;
    }
    int kept = 0;
    for (int i = 0; i < prompt->count; i++)
        if (prompt->piece[i].tokens > 0)
            prompt->piece[kept++] = prompt->piece[i];
    prompt->count = kept;
}

/* A request of a task: when, and what of its prompt stood in the one before. */
struct request {
    double time, prompt, before, output, gap;
    size_t task;
    bool first, last;
};

struct tape {
    struct request *request;
    size_t count, tasks;
};

static void record(struct tape *tape, double time, double gap, const struct prompt *prompt,
                   const struct prompt *before, double output, size_t task, bool first)
{
    tape->request[tape->count++] = (struct request){
        .time = time, .prompt = length(prompt), .before = first ? 0 : common(prompt, before),
        .output = output, .gap = gap, .task = task, .first = first };
}

static void play_task(const struct shape *shape, size_t task, double time, struct random *random,
                      long *name, struct tape *tape)
{
    struct prompt talk = { .count = 0 }, sent, before = { .count = 0 };
    put(&talk, 1, shape->fixed * shape->share);         /* the same in all tasks */
    put(&talk, (*name)++, shape->fixed * (1 - shape->share));
    put(&talk, (*name)++, shape->document);
    int front = talk.count;
    double gap = 0;
    for (int turn = 1; turn <= shape->turns; turn++) {
        put(&talk, (*name)++, shape->input);
        sent = talk;
        cut(&sent, front, shape->limit, name);
        record(tape, time, gap, &sent, &before, shape->output, task, turn == 1);
        before = sent;
        put(&talk, *name, shape->output * shape->kept);
        if (shape->output_cached)
            put(&before, *name, shape->output * shape->kept);
        (*name)++;
        if (shape->compaction && turn < shape->turns && turn % shape->compaction == 0) {
            sent = talk;
            cut(&sent, front, shape->limit, name);
            record(tape, time, 0, &sent, &before, shape->compacted, task, false);
            before = sent;
            talk.count = front;
            put(&talk, (*name)++, shape->compacted);
        }
        gap = amount_draw(&shape->gap, random);
        time += gap;
    }
    tape->request[tape->count - 1].last = true;
}

static int by_time(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x > y) - (x < y);
}

static void play(const struct shape *shape, size_t tasks, uint64_t seed, struct tape *tape)
{
    struct random arrivals, gaps;
    double time = 0;
    long name = 2;
    random_stream(&arrivals, seed, "tasks", 0);
    random_stream(&gaps, seed, "gaps", 0);
    tape->request = calloc(tasks * 2 * (size_t)shape->turns, sizeof *tape->request);
    tape->count = 0, tape->tasks = tasks;
    for (size_t task = 0; task < tasks; task++) {
        play_task(shape, task, time, &gaps, &name, tape);
        time += random_exponential(&arrivals) / shape->rate;
    }
    qsort(tape->request, tape->count, sizeof *tape->request, by_time);
}

static double pieces(const struct shape *shape, double tokens)
{
    if (tokens < shape->minimum)
        return 0;
    double cached = shape->minimum;
    while (cached + shape->step <= tokens)
        cached += shape->step;
    return cached;
}

/* What each request finds: its own prompt before within a life of the last use, or else what
 * tasks share within a life of anybody's. */
static const double life_times[SCHEMES] = { [SCHEME_SHORT] = 1, [SCHEME_LONG] = 3,
                                            [SCHEME_AUTOMATIC] = 1.5 };

static void find_reads(const struct shape *shape, const struct tape *tape, enum scheme scheme,
                       double *read)
{
    double *own = calloc(tape->tasks, sizeof *own), shared = -INFINITY;
    double life = shape->life * life_times[scheme];
    for (size_t i = 0; i < tape->count; i++) {
        const struct request *request = &tape->request[i];
        if (!request->first && request->time - own[request->task] <= life)
            read[i] = pieces(shape, request->before);
        else if (request->time - shared <= life)
            read[i] = pieces(shape, shape->fixed * shape->share);
        else
            read[i] = 0;
        own[request->task] = shared = request->time;
    }
    free(own);
}

/* USD by the prices above. */
struct prices {
    double input, output, hit, write_short, write_long;
};
static struct prices prices_for(double prompt)
{
    static const struct prices below = { 4e-6, 20e-6, 0.5e-6, 5e-6, 8e-6 };
    static const struct prices above = { 8e-6, 30e-6, 1e-6, 10e-6, 16e-6 };
    return prompt > 9000 ? above : below;
}

static double bill_request(const struct shape *shape, const struct request *request, double read,
                           enum scheme scheme)
{
    const double storage = 3e-6 / 3600;
    struct prices at = prices_for(request->prompt);
    double fresh = request->prompt - read, out = request->output * at.output;
    double front = shape->fixed + shape->document;
    double stored = front >= shape->minimum ? front : 0;
    double always = shape->fixed * shape->share >= shape->minimum ? shape->fixed * shape->share : 0;
    bool written = request->prompt >= shape->minimum, alive = request->gap <= shape->stored_life;
    switch (scheme) {
    case SCHEME_PLAIN:
        return request->prompt * at.input + out;
    case SCHEME_SHORT:
        return read * at.hit + fresh * (written ? at.write_short : at.input) + out;
    case SCHEME_LONG:
        return read * at.hit + fresh * (written ? at.write_long : at.input) + out;
    case SCHEME_AUTOMATIC:          /* of a seller that asks for writes */
        return read * at.hit + fresh * (written ? at.write_short : at.input) + out;
    case SCHEME_STORED:             /* made when it is not there, kept until its life ends */
        return (request->first || !alive ? stored * at.input : 0) +
               stored * storage * fmin(request->gap, shape->stored_life) + stored * at.hit +
               (request->prompt - stored) * at.input + out;
    default:                        /* stored day and night: a share of the time to each task */
        return always * at.hit + (request->prompt - always) * at.input + out +
               (request->first ? always * storage / shape->rate : 0);
    }
}

/* Mean of a task, and its standard error from 50 spells of time. */
static void average(const struct shape *shape, const struct tape *tape, const double *read,
                    enum scheme scheme, double *mean, double *deviation)
{
    enum { SPELLS = 50 };
    double sum[SPELLS] = { 0 }, square = 0, all = 0;
    double tasks = (double)tape->tasks / SPELLS;
    for (size_t i = 0; i < tape->count; i++)
        sum[tape->request[i].task * SPELLS / tape->tasks] +=
            bill_request(shape, &tape->request[i], read[i], scheme) / tasks;
    for (int i = 0; i < SPELLS; i++)
        all += sum[i] / SPELLS;
    for (int i = 0; i < SPELLS; i++)
        square += (sum[i] - all) * (sum[i] - all);
    *mean = all;
    *deviation = sqrt(square / (SPELLS - 1) / SPELLS);
}

/* ---- the rows beside it ---------------------------------------------------------------------- */

static const char *workload_text(struct arena *arena, const struct shape *shape, const char *gap)
{
    return arena_print(arena, "system_tokens=%.17g\nfirst_input=%.17g\nturns=%d\nturn_input=%.17g\n"
                       "turn_output=%.17g\noutput_kept=%.17g\nrepeating_share=%.17g\n"
                       "task_rate=%.17g\ncompaction_turns=%d\ncompacted_tokens=%.17g\n"
                       "prompt_limit=%.17g\ngap=%s\n", shape->fixed, shape->document, shape->turns,
                       shape->input, shape->output, shape->kept, shape->share, shape->rate,
                       shape->compaction, shape->compacted, shape->limit, gap);
}

static void rows_agree(const char *what, struct shape shape, const char *gap, uint64_t seed)
{
    const size_t tasks = (size_t)rounds(5000);
    struct world world;
    struct arena arena = { 0 };
    struct tape tape;
    struct caching_rule rule = { .name = what, .asked = true,
                         .at = { shape.minimum, shape.step, shape.output_cached, shape.life,
                                 3 * shape.life, 1.5 * shape.life, shape.stored_life } };
    assert_true(amount_read(text_of(gap), "s", 0, 1e8, &shape.gap));
    world_open(&world, workload_text(&arena, &shape, gap), every_price);
    play(&shape, tasks, seed, &tape);
    double *read = calloc(tape.count, sizeof *read);
    struct bill_cost asked = cost_at(&world, &rule), itself;
    rule.asked = false;
    itself = cost_at(&world, &rule);
    for (int i = SCHEME_PLAIN; i <= SCHEME_KEPT; i++) {
        double rows = i == SCHEME_AUTOMATIC ? itself.task[i] : asked.task[i], mean, deviation;
        find_reads(&shape, &tape, (enum scheme)i, read);
        average(&shape, &tape, read, (enum scheme)i, &mean, &deviation);
        if (isnan(rows))            /* nothing long enough to be stored: as none */
            rows = asked.task[SCHEME_PLAIN];
        printf("%-14s %-10s rows %.6f drawn %.6f +- %.6f\n", what, schemes[i].word, rows, mean,
               deviation);
        if (!(fabs(rows - mean) <= 4 * deviation + 1e-9 * mean))
            fail_msg("%s, %s: rows %.9g, drawn %.9g +- %.2g", what, schemes[i].word, rows, mean,
                     deviation);
    }
    free(read);
    free(tape.request);
    arena_free(&arena);
    arena_free(&world.arena);
}

static const struct shape chat = {
    .fixed = 3000, .share = 0.6, .document = 0, .input = 400, .output = 300, .kept = 1,
    .rate = 1.0 / 900, .turns = 8, .compaction = 0, .compacted = 700, .limit = 1e9,
    .minimum = 1024, .step = 1, .life = 300, .stored_life = 600, .output_cached = false };

static void plain_biller(void **state)
{
    (void)state;
    struct shape shape = chat;
    rows_agree("chat", shape, "exponential(4min)", 1);
    rows_agree("bursts", shape, "lognormal(3min,cv=2)", 2);
    rows_agree("even", shape, "200s..400s", 3);
    shape.output_cached = true, shape.minimum = 64, shape.step = 64;
    rows_agree("blocks", shape, "exponential(6min)", 4);
    shape = chat;
    shape.step = 128, shape.compaction = 3, shape.kept = 0.4;
    rows_agree("compaction", shape, "exponential(4min)", 5);
    shape.compaction = 2, shape.turns = 8, shape.output_cached = true;
    rows_agree("compaction 2", shape, "exponential(4min)", 6);
    shape = chat;
    shape.document = 5000, shape.turns = 7;             /* crosses the step at 9,000 tokens */
    rows_agree("document", shape, "exponential(5min)", 7);
    shape.limit = 9000;
    rows_agree("limit", shape, "exponential(5min)", 8);
    shape = chat;
    shape.fixed = 300, shape.output = 150;              /* too short at first */
    rows_agree("short", shape, "exponential(2min)", 9);
    shape = chat;
    shape.rate = 1.0 / 60;
    rows_agree("busy", shape, "exponential(20min)", 10);
}

/* ---- by hand --------------------------------------------------------------------------------- */

#define CLOSE(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

/* Anthropic's card: input 5, write 1.25 and 2 times that, read a tenth, output 25 USD a million.
 * One task a year (nothing is shared), two turns a minute apart. First prompt 10,000 tokens; the
 * second has these, the answer of 1,000 and a question of 500:
 *   none    (10,000 + 11,500) 5e-6                              = 0.1075
 *   5 min   10,000 6.25e-6 + 10,000 0.5e-6 + 1,500 6.25e-6      = 0.0625 + 0.005 + 0.009375
 *   1 h     10,000 10e-6 + 10,000 0.5e-6 + 1,500 10e-6          = 0.1 + 0.005 + 0.015
 * each with 2 answers of 1,000 at 25e-6 = 0.05. */
static void two_turns(void **state)
{
    (void)state;
    static const char sheet[] = HEAD
        "anthropic,claude-y,input,5,USD/Mtoken,test,2026-01-01,\n"
        "anthropic,claude-y,output,25,USD/Mtoken,test,2026-01-01,\n"
        "anthropic,claude-y,cached_read,0.5,USD/Mtoken,test,2026-01-01,\n"
        "anthropic,claude-y,cache_write_5m,6.25,USD/Mtoken,test,2026-01-01,\n"
        "anthropic,claude-y,cache_write_1h,10,USD/Mtoken,test,2026-01-01,\n";
    struct world world;
    world_open(&world, "system_tokens=9500\nturns=2\nturn_input=500\nturn_output=1000\n"
               "repeating_share=0\ntask_rate=1/year\ngap=60s\n", sheet);
    const struct caching_rule *rule = caching_find(&world.bill.caching, world.bill.sheet.prices);
    assert_string_equal(rule->name, "claude");
    struct bill_cost cost = cost_at(&world, rule);
    CLOSE(cost.task[SCHEME_PLAIN], 0.1075 + 0.05);
    CLOSE(cost.task[SCHEME_SHORT], 0.0625 + 0.005 + 0.009375 + 0.05);
    CLOSE(cost.task[SCHEME_LONG], 0.1 + 0.005 + 0.015 + 0.05);
    assert_int_equal(cost.best, SCHEME_SHORT);
    assert_true(isnan(cost.task[SCHEME_AUTOMATIC]) && isnan(cost.task[SCHEME_STORED]));
    CLOSE(bill_task_row(&world.bill, "month_cost", 2, 0), 2.0 * 30 / 365);
    arena_free(&world.arena);
}

/* The lecture: a 5-minute write pays after 0.28 hits, an hour's after 1.11. Of turns that all hit
 * with nothing new, the first write costs 0.25 or 1 more and each hit saves 0.9: two requests
 * favour the short life, two do not yet the long one, three do. */
static void hits_to_pay(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "system_tokens=1e6\nturn_input=1\nturn_output=1\noutput_kept=0\nturns=2\n"
               "repeating_share=0\ntask_rate=1/year\ngap=1s\n", HEAD
               FACT("input", "4", "USD/Mtoken") FACT("output", "20", "USD/Mtoken")
               FACT("cached_read", "0.4", "USD/Mtoken") FACT("cache_write_5m", "5", "USD/Mtoken")
               FACT("cache_write_1h", "8", "USD/Mtoken"));
    const struct caching_rule *rule = caching_find(&world.bill.caching, world.bill.sheet.prices);
    struct bill_point point = { world.bill.sheet.prices, rule, NAN };
    struct bill_cost cost[3];
    for (int turns = 1; turns <= 3; turns++)
        bill_costs(&world.bill, &point, 1, (struct bill_change){ "task_turns", turns },
                   &cost[turns - 1]);
    assert_true(cost[0].task[SCHEME_SHORT] > cost[0].task[SCHEME_PLAIN]);
    assert_true(cost[1].task[SCHEME_SHORT] < cost[1].task[SCHEME_PLAIN]);
    assert_true(cost[1].task[SCHEME_LONG] > cost[1].task[SCHEME_PLAIN]);
    assert_true(cost[2].task[SCHEME_LONG] < cost[2].task[SCHEME_PLAIN]);
    double extra = cost[0].task[SCHEME_SHORT] - cost[0].task[SCHEME_PLAIN];
    double saved = extra - (cost[1].task[SCHEME_SHORT] - cost[1].task[SCHEME_PLAIN]);
    assert_true(fabs(extra / saved - 0.25 / 0.9) < 1e-5);
    extra = cost[0].task[SCHEME_LONG] - cost[0].task[SCHEME_PLAIN];
    saved = extra - (cost[1].task[SCHEME_LONG] - cost[1].task[SCHEME_PLAIN]);
    assert_true(fabs(extra / saved - 1 / 0.9) < 1e-5);
    arena_free(&world.arena);
}

/* A prompt at the step pays below it, one more token pays above for all of it: at 9,000 tokens
 * 9,000 4e-6 + 100 20e-6 = 0.038, at 9,001 9,001 8e-6 + 100 30e-6 = 0.075008. Where a class has no
 * price above, it rises as input does: output 20e-6 2 = 40e-6. */
static void the_step(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "system_tokens=8000\nturn_input=1000\nturn_output=100\nturns=1\ngap=1s\n",
               every_price);
    const struct caching_rule *rule = caching_find(&world.bill.caching, world.bill.sheet.prices);
    struct bill_point point = { world.bill.sheet.prices, rule, NAN };
    struct bill_cost cost;
    CLOSE(cost_at(&world, rule).task[SCHEME_PLAIN], 0.038);
    bill_costs(&world.bill, &point, 1, (struct bill_change){ "turn_input", 1001 }, &cost);
    CLOSE(cost.task[SCHEME_PLAIN], 0.075008);
    world.bill.sheet.prices->at[0][1][PRICE_OUTPUT] = NAN;
    bill_costs(&world.bill, &point, 1, (struct bill_change){ "turn_input", 1001 }, &cost);
    CLOSE(cost.task[SCHEME_PLAIN], 9001 * 8e-6 + 100 * 40e-6);
    arena_free(&world.arena);
}

/* A sheet without cache prices, or with hits for nothing, has no scheme but plain; batch and flex
 * are half, in LiteLLM's words. */
static void without_cache_prices(void **state)
{
    (void)state;
    struct world world;
    static const char sheet[] = "{ \"m\": { \"mode\": \"chat\", \"litellm_provider\": \"s\","
        "\"input_cost_per_token\": 2e-6, \"output_cost_per_token\": 4e-6,"
        "\"cache_read_input_token_cost\": 0, \"input_cost_per_token_batches\": 1e-6,"
        "\"output_cost_per_token_batches\": 2e-6, \"input_cost_per_token_flex\": 1e-6,"
        "\"output_cost_per_token_flex\": 2e-6 } }";
    world_open(&world, "turns=2\ngap=1s\n", sheet);
    struct bill_cost cost = bill_cost(&world.bill, world.bill.sheet.prices,
                                      (struct bill_change){ NULL, 0 });
    for (int i = SCHEME_SHORT; i <= SCHEME_KEPT; i++)
        assert_true(isnan(cost.task[i]));
    assert_int_equal(cost.best, SCHEME_PLAIN);
    CLOSE(cost.task[SCHEME_BATCH], cost.task[SCHEME_PLAIN] / 2);
    CLOSE(cost.task[SCHEME_FLEX], cost.task[SCHEME_PLAIN] / 2);
    arena_free(&world.arena);
}

/* Flex at half of every price is half of what it is without waiting, hits and all. */
static void flex_is_cached(void **state)
{
    (void)state;
    struct world world;
    static const char sheet[] = "{ \"m\": { \"mode\": \"chat\", \"litellm_provider\": \"s\","
        "\"input_cost_per_token\": 2e-6, \"output_cost_per_token\": 4e-6,"
        "\"cache_read_input_token_cost\": 2e-7, \"input_cost_per_token_flex\": 1e-6,"
        "\"output_cost_per_token_flex\": 2e-6, \"cache_read_input_token_cost_flex\": 1e-7 } }";
    world_open(&world, "turns=5\nsystem_tokens=4000\ngap=exponential(3min)\n", sheet);
    struct bill_cost cost = bill_cost(&world.bill, world.bill.sheet.prices,
                                      (struct bill_change){ NULL, 0 });
    CLOSE(cost.task[SCHEME_FLEX], cost.task[SCHEME_AUTOMATIC] / 2);
    assert_true(cost.task[SCHEME_AUTOMATIC] < 0.9 * cost.task[SCHEME_PLAIN]);
    arena_free(&world.arena);
}

/* Sellers' rules: the longest name counts, an open model that others serve is nobody's. */
static void rules_by_name(void **state)
{
    (void)state;
    static const struct { const char *seller, *model, *rule; double minimum; } of[] = {
        { "anthropic", "claude-opus-4-7", "claude-opus-4.7", 2048 },
        { "bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4.5", 4096 },
        { "openrouter", "openrouter/anthropic/claude-sonnet-4.5", "claude", 1024 },
        { "openai", "o3", "openai", 1024 },     { "azure", "azure/gpt-5.6", "gpt-5.6", 1024 },
        { "groq", "openai/gpt-oss-120b", "other", 1024 },
        { "deepseek", "deepseek-chat", "deepseek", 64 },
        { "fireworks_ai", "deepseek-v3", "other", 1024 },
        { "gemini", "gemini/gemini-2.5-flash", "gemini-2.5-flash", 1024 },
        { "xai", "grok-4-fast", "grok", 128 },  { "mistral", "mistral-large", "other", 1024 },
    };
    struct arena arena = { 0 };
    struct caching caching;
    caching_read(&arena, &caching);
    for (size_t i = 0; i < COUNT(of); i++) {
        struct price price = { .seller = of[i].seller, .model = of[i].model };
        const struct caching_rule *rule = caching_find(&caching, &price);
        if (strcmp(rule->name, of[i].rule) || rule->at[0] != of[i].minimum)
            fail_msg("%s: rule %s from %g, not %s from %g", of[i].model, rule->name, rule->at[0],
                     of[i].rule, of[i].minimum);
    }
    arena_free(&arena);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Share within a life and mean cut there, against draws. */
static void gaps_counted(void **state)
{
    (void)state;
    enum { DRAWS = 400000 };
    static const char *const words[] = { "30s", "10s..50s", "exponential(2min)",
                                         "lognormal(90s,cv=2)", "lognormal(90s,cv=0.3)" };
    static const double lives[] = { 0, 5, 30, 100, 300, 3600 };
    for (size_t i = 0; i < COUNT(words); i++) {
        struct amount amount;
        assert_true(amount_read(text_of(words[i]), "s", 0, 1e8, &amount));
        for (size_t k = 0; k < COUNT(lives); k++) {
            struct random random;
            double inside = 0, sum = 0, square = 0;
            random_stream(&random, 7, words[i], k);
            for (int n = 0; n < DRAWS; n++) {
                double x = amount_draw(&amount, &random), cut_there = fmin(x, lives[k]);
                inside += x <= lives[k];
                sum += cut_there, square += cut_there * cut_there;
            }
            double share = inside / DRAWS, mean = sum / DRAWS;
            double error = sqrt(fmax(square / DRAWS - mean * mean, 0) / DRAWS);
            if (fabs(amount_within(&amount, lives[k]) - share) >
                    5 * sqrt(share * (1 - share) / DRAWS) + 1e-6 ||
                fabs(amount_cut(&amount, lives[k]) - mean) > 5 * error + 1e-9)
                fail_msg("%s at %g: within %g drawn %g, cut %g drawn %g +- %g", words[i], lives[k],
                         amount_within(&amount, lives[k]), share, amount_cut(&amount, lives[k]),
                         mean, error);
        }
    }
}

/* Measured gaps 10, 20, 60, 400 s: 3 of 4 within 5 minutes, mean cut there
 * (10 + 20 + 60 + 300) / 4; twice as long (mean 245 s) 20, 40, 120, 800. */
static void gaps_measured(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct gaps gaps;
    assert_true(gaps_read(&arena, "tests/fixtures/workloads/gaps.csv", "test", &gaps, &error));
    CLOSE(gaps_mean(&gaps), 122.5);
    CLOSE(gaps_within(&gaps, NAN, 300), 0.75);
    CLOSE(gaps_cut(&gaps, NAN, 300), 97.5);
    CLOSE(gaps_within(&gaps, 245, 100), 0.5);
    CLOSE(gaps_cut(&gaps, 245, 100), (20 + 40 + 100 + 100) / 4.0);
    arena_free(&arena);
}

/* ---- habits -------------------------------------------------------------------------------- */

static const char habit_words[] = "system_tokens=3000\nturn_input=400\nturn_output=%d\nturns=%d\n"
    "repeating_share=%s\ntask_rate=100/d\ncompaction_turns=%d\ngap=exponential(2min)\n";

static double month_of(int output, int turns, const char *share, int compaction)
{
    struct world world;
    struct arena arena = { 0 };
    world_open(&world, arena_print(&arena, habit_words, output, turns, share, compaction),
               every_price);
    struct bill_cost cost = bill_cost(&world.bill, world.bill.sheet.prices,
                                      (struct bill_change){ NULL, 0 });
    double month = cost.task[cost.best] * 100 * 30;
    arena_free(&world.arena);
    arena_free(&arena);
    return month;
}

static const struct doc *habits_of(struct world *world, const char *workload)
{
    world_open(world, workload, every_price);
    struct doc *doc = doc_new(&world->arena, DOC_OBJECT);
    struct price *price = world->bill.sheet.prices;
    struct price_reading reading = { .price = price };
    price->storage = NAN;                       /* two lives and none */
    struct bill_cost now = bill_cost(&world->bill, price, (struct bill_change){ NULL, 0 });
    struct section *entry = section_new(&world->arena);
    bill_habits(&world->bill, &reading, &now, entry);
    section_document(entry, doc);
    return doc;
}

static void saves(const struct doc *doc, const char *habit, double saving)
{
    const struct doc *one = doc_get(doc_get(doc, "habits"), habit);
    if (!one || fabs(doc_get(one, "month_saving")->number - saving) > 1e-9 * fabs(saving))
        fail_msg("%s saves %g, not %g", habit, one ? doc_get(one, "month_saving")->number : NAN,
                 saving);
}

/* A habit saves what the workload written anew costs less; of compactions none is better, that
 * which stays below the step at 9,000 tokens included. */
static void habits_are_other_workloads(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct world world;
    const struct doc *doc = habits_of(&world, arena_print(&arena, habit_words, 400, 12, "0.5", 0));
    double now = month_of(400, 12, "0.5", 0), best = INFINITY;
    for (int n = 1; n < 12; n++)
        best = fmin(best, month_of(400, 12, "0.5", n));
    saves(doc, "stable_prefix", now - month_of(400, 12, "1", 0));
    saves(doc, "shorter_output", now - month_of(300, 12, "0.5", 0));
    saves(doc, "fewer_turns", now - month_of(400, 11, "0.5", 0));
    saves(doc, "compaction", now - best);
    const struct doc *step = doc_get(doc_get(doc, "habits"), "under_the_step");
    assert_non_null(step);
    assert_true(doc_get(step, "month_saving")->number <= now - best + 1e-9);
    arena_free(&world.arena);
    arena_free(&arena);
}

/* Gaps all alike: within five minutes the short life, within an hour the long one, then none. */
static void equal_gaps_change_at_lives(void **state)
{
    (void)state;
    struct world world;
    const struct doc *doc = habits_of(&world, "system_tokens=3000\nturns=9\nturn_input=100\n"
                                      "turn_output=100\nrepeating_share=0\ngap=30s\n");
    const struct doc *change = doc_get(doc, "cheapest_by_gap")->first;
    static const struct { const char *below, *above; double gap; } of[] = {
        { "short", "long", 300 }, { "long", "plain", 3600 } };
    for (size_t i = 0; i < COUNT(of); i++, change = change->next) {
        assert_non_null(change);
        assert_string_equal(doc_get(change, "cheaper_below")->string, of[i].below);
        assert_string_equal(doc_get(change, "cheaper_above")->string, of[i].above);
        assert_true(fabs(doc_get(change, "mean_gap")->number / of[i].gap - 1) < 1e-6);
    }
    assert_null(change);
    arena_free(&world.arena);
}

/* ---- why, and owning ------------------------------------------------------------------------- */

/* The line that a bill prints gives `why` the cost of the last turn: with one turn, of the task. */
static void why_has_the_numbers(void **state)
{
    (void)state;
    struct world world, other = { 0 };
    world_open(&world, "system_tokens=5000\nturns=1\nturn_input=300\nturn_output=800\n"
               "repeating_share=0.7\ntask_rate=100/d\ngap=exponential(2min)\n", every_price);
    struct bill *bill = &world.bill;
    double task = bill_cost(bill, bill->sheet.prices,
                            (struct bill_change){ NULL, 0 }).task[SCHEME_SHORT], turn;
    const char *words = bill_why(bill, bill->sheet.prices, SCHEME_SHORT);
    other.command.verb = &verb_why;
    for (const char *at = words; (at = strstr(at, "--set "));) {
        at += strlen("--set ");
        command_set(&other.arena, &other.command, "set",
                    arena_copy(&other.arena, at, strcspn(at, " ")));
    }
    struct scenario scenario;
    assert_true(other.command.value_count > 5);
    if (!scenario_read(&scenario, &other.arena, &other.command, subject_of(NULL, NULL),
                       &other.error) ||
        !value_of(&scenario, "turn_cost_short", &turn, &other.error))
        fail_msg("%s (%s)", other.error.what, other.error.hint);
    assert_true(task > 0 && fabs(turn - task) <= 1e-8 * task);
    arena_free(&world.arena);
    arena_free(&other.arena);
}

/* Whole servers: load by load, whether owning costs less than buying; the rows name the first
 * such load, and the one from which none loses. */
static void owning_wins(void **state)
{
    (void)state;
    static const double shares[] = { 0.05, 0.3, 0.55, 0.78, 0.93 };
    for (size_t i = 0; i < COUNT(shares); i++) {
        struct world world = { 0 };
        struct scenario scenario;
        double cap = 0.01, price, bought, pays, surely, lost = 0, first = 0;
        assert_true(scenario_read(&scenario, &world.arena, &world.command,
                                  subject_of(NULL, NULL), &world.error));
        assert_true(value_of(&scenario, "own_rent", &price, &world.error));
        bought = price / cap / shares[i];       /* a full server costs this share of it */
        facts_set(&scenario.facts, "task_turns", 5, ORIGIN_GIVEN, "test");
        facts_set(&scenario.facts, "own_request_rate", 5 * cap, ORIGIN_GIVEN, "test");
        facts_set(&scenario.facts, "task_cost", bought, ORIGIN_GIVEN, "test");
        assert_true(value_of(&scenario, "own_pays_rate", &pays, &world.error));
        assert_true(value_of(&scenario, "own_pays_surely", &surely, &world.error));
        for (int k = 1; k < 300000; k++) {
            double load = k * cap * 1e-4;
            bool wins = (k + 9999) / 10000 * price <= load * bought;
            if (wins && !first)
                first = load;
            if (!wins)
                lost = load;
        }
        if (fabs(first - pays) > 2e-4 * cap || fabs(lost - surely) > 2e-4 * cap)
            fail_msg("share %g: wins from %g, rows %g; for good from %g, rows %g", shares[i], first,
                     pays, lost, surely);
        arena_free(&world.arena);
    }
}

/* What `eval` would say of the same server at a rate: does it keep its promises? */
static bool keeps(const struct doc *own, double rate)
{
    struct arena arena = { 0 };
    struct scenario scenario;
    struct error error;
    double at[5];
    static const char *const rows[] = { "predicted_ttft", "predicted_tpot", "utilization",
                                        "ttft_limit", "tpot_limit" };
    struct command eval = { .verb = &verb_eval };
    for (const struct doc *word = doc_get(own, "words")->first; word; word = word->next->next) {
        const char *name = word->string + 2, *text = word->next->string;
        if (!strcmp(name, "model") || !strcmp(name, "on"))
            continue;
        if (!strncmp(text, "arrival_rate=", 13))
            text = arena_print(&arena, "arrival_rate=%.17g", rate);
        command_set(&arena, &eval, name, text);
    }
    if (!scenario_open(&scenario, &arena, &eval, subject_of("llama-3.1-8b", "h100-sxm"), &error))
        fail_msg("%s", error.what);
    for (int i = 0; i < 5; i++)
        if (!value_of(&scenario, rows[i], &at[i], &error))
            fail_msg("%s", error.what);
    arena_free(&arena);
    return at[0] <= at[3] && at[1] <= at[4] && at[2] < 1;
}

/* The rate of a server is the highest that keeps the limits, and its cache lasts as long as the
 * bill says that conversations stay. */
static void own_servers_are_full(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct command command = { .verb = &verb_bill, .verbs = verbs };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena,
                             .csv.arena = &arena };
    struct error error;
    command_put_word(&arena, &command, "agent");
    command_set(&arena, &command, "own", "llama-3.1-8b");
    command_set(&arena, &command, "on", "h100-sxm");
    command_set(&arena, &command, "gpus", "1");
    if (!verb_bill.ask(&arena, &command, &answer, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    const struct doc *own = doc_get(answer.doc, "own");
    double rate = doc_get(own, "own_request_rate")->number;
    double stays = doc_get(own, "own_life")->number;
    double lasts = doc_get(own, "own_cache_lasts")->number;
    assert_true(keeps(own, rate * 0.999));
    assert_false(keeps(own, rate * 1.001));
    assert_true(fabs(lasts / stays - 1) < 0.01);
    arena_free(&arena);
}

/* A list no entry of which takes the prompts has no answer: status 1. */
static void nothing_is_found(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    for (int most = 0; most < 2; most++) {
        assert_true(line_asked(&arena, most ? "bill agent --set turns=1000 --prices tests/fixtures/prices/new.csv"
                                            : "bill agent --prices tests/fixtures/prices/new.csv", &answer, &error));
        assert_int_equal(answer.status, most);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_biller),         cmocka_unit_test(two_turns),
        cmocka_unit_test(hits_to_pay),          cmocka_unit_test(the_step),
        cmocka_unit_test(without_cache_prices), cmocka_unit_test(flex_is_cached),
        cmocka_unit_test(rules_by_name),
        cmocka_unit_test(gaps_counted),         cmocka_unit_test(gaps_measured),
        cmocka_unit_test(habits_are_other_workloads),
        cmocka_unit_test(equal_gaps_change_at_lives),
        cmocka_unit_test(why_has_the_numbers),  cmocka_unit_test(owning_wins),
        cmocka_unit_test(own_servers_are_full), cmocka_unit_test(nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
