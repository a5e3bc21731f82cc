/* Rule set vllm-v1 against a second program of the same rules in words, slow and plain: one step
 * and one block at a time. Drafts are those of n-grams: no blocks are taken ahead for them. */
#include "test.h"

#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of a step with so many tokens, cached tokens before them, and sequences. */
struct cost {
    double base, by_token, by_cached, by_sequence;
};

static double cost_of(const struct cost *cost, double tokens, double cached, double sequences)
{
    return cost->base + cost->by_token * tokens + cost->by_cached * cached +
           cost->by_sequence * sequences;
}

static double linear(void *context, const struct sim_step *step)
{
    return cost_of(context, step->decoding + step->drafts + step->prompt,
                   step->decode_cached + step->prompt_cached, step->sequences);
}

/* ---- a second program, slow and plain ----------------------------------------------------- */

enum { STAGES = 4, MOST = 300, BLOCKS = 5000, OWNED = 500, QUEUE = 4 * BLOCKS, NOBODY = -1 };

struct key {                        /* of a full block whose tokens are known */
    int id, index;
};

struct plain_step {
    int id[MOST], drafts[MOST], count;
    bool yields[MOST];
    double end;
};

struct plain {
    const struct trace *trace;
    const struct sim_server *server;
    int waiting[MOST], running[MOST], waiting_count, running_count, came;
    int known[MOST], computed[MOST], hidden[MOST], drafts[MOST];        /* n, c, h, s */
    int in_flight[MOST];                    /* steps in flight that give a token */
    int owned[MOST][OWNED], owned_count[MOST];
    bool over[MOST];
    struct key key[BLOCKS];
    int queue[QUEUE], front, back;          /* free blocks: the first is taken next */
    struct plain_step step[STAGES];
    double left[STAGES];                    /* when the last step left each stage */
    int step_count;
    uint64_t iterations, preemptions, hits, ended_waiting, chunks;
    uint32_t restarts[MOST];
    double now, first[MOST], last[MOST];
};

static void drop_at(int *list, int *count, int at)
{
    memmove(&list[at], &list[at + 1], (size_t)(--*count - at) * sizeof *list);
}

static bool drop_id(int *list, int *count, int id)
{
    for (int i = 0; i < *count; i++)
        if (list[i] == id) {
            drop_at(list, count, i);
            return true;
        }
    return false;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int blocks_of(const struct plain *p, int tokens)
{
    int block = (int)p->server->block;
    return (tokens + block - 1) / block;
}

static int free_count(const struct plain *p)
{
    return p->back - p->front;
}

/* Rule 9: tail first. */
static void release(struct plain *p, int id)
{
    if (p->back + OWNED > QUEUE) {
        memmove(p->queue, &p->queue[p->front], (size_t)free_count(p) * sizeof *p->queue);
        p->back -= p->front;
        p->front = 0;
    }
    while (p->owned_count[id])
        p->queue[p->back++] = p->owned[id][--p->owned_count[id]];
}

/* So that it owns blocks for so many tokens; a block that is taken loses its key. */
static void take(struct plain *p, int id, int tokens)
{
    while (p->owned_count[id] < blocks_of(p, tokens)) {
        int block = p->queue[p->front++];
        p->key[block].id = NOBODY;
        p->owned[id][p->owned_count[id]++] = block;
    }
}

/* Rule 8: full blocks, of tokens that are known and scheduled. */
static void name(struct plain *p, int id)
{
    int full = least(p->known[id], p->computed[id]) / (int)p->server->block;
    for (int i = 0; i < least(full, p->owned_count[id]); i++)
        p->key[p->owned[id][i]] = (struct key){ id, i };
}

/* Where in the queue the block of this key lies. */
static int find(const struct plain *p, int id, int index)
{
    for (int at = p->front; at < p->back; at++)
        if (p->key[p->queue[at]].id == id && p->key[p->queue[at]].index == index)
            return at;
    return NOBODY;
}

/* Rule 4. */
static void preempt(struct plain *p, int id)
{
    drop_id(p->running, &p->running_count, id);
    release(p, id);
    p->computed[id] = p->drafts[id] = 0;
    memmove(&p->waiting[1], p->waiting, (size_t)p->waiting_count++ * sizeof *p->waiting);
    p->waiting[0] = id;
    p->preemptions++;
    p->restarts[id]++;
}

/* Rule 6. */
static void schedule(struct plain *p, struct plain_step *step, int id, int tokens)
{
    int at = step->count++, all = p->known[id] + p->hidden[id];
    p->computed[id] += tokens;
    p->chunks += p->computed[id] < all;
    step->id[at] = id;
    step->yields[at] = p->computed[id] >= all;
    step->drafts[at] = step->yields[at] ? p->computed[id] - all : 0;
    name(p, id);
    if (step->yields[at]) {
        p->in_flight[id]++;
        p->hidden[id] += 1 + step->drafts[at];
        p->drafts[id] = (int)p->server->draft;
    }
}

/* Rules 2 to 5; false of an empty step. */
static bool form(struct plain *p)
{
    struct plain_step *step = &p->step[p->step_count];
    int budget = (int)p->server->chunk;
    double tokens = 0, cached = 0;
    bool preempted = false;
    step->count = 0;
    for (int i = 0; i < p->running_count && budget; i++) {
        int id = p->running[i];
        int r = p->known[id] + p->drafts[id] + p->hidden[id] - p->computed[id];
        if (p->known[id] + p->in_flight[id] >=
            (int)(p->trace->prompt[id] + p->trace->output[id]))
            r = 0;                          /* what is in flight ends it */
        if (p->server->stages > 1 && p->in_flight[id])
            r = 0;                          /* rule 10 */
        r = least(r, budget);
        if (!r)
            continue;
        int all = p->computed[id] + r, victim = NOBODY;
        while (victim != id && blocks_of(p, all) - p->owned_count[id] > free_count(p)) {
            preempt(p, victim = p->running[p->running_count - 1]);
            preempted = true;
        }
        if (victim == id)
            break;
        take(p, id, all);
        tokens += r;
        cached += p->computed[id];
        budget -= r;
        schedule(p, step, id, r);
    }
    while (!preempted && p->waiting_count && budget &&
           p->running_count < (int)p->server->max_num_seqs) {
        int id = p->waiting[0], hits = 0, block = (int)p->server->block;
        while (hits < (p->known[id] - 1) / block && find(p, id, hits) != NOBODY)
            hits++;
        if (blocks_of(p, p->known[id]) > free_count(p))     /* hits are free ones */
            break;
        for (int i = 0; i < hits; i++) {
            int at = find(p, id, i);
            p->owned[id][p->owned_count[id]++] = p->queue[at];
            drop_at(p->queue, &p->back, at);
        }
        p->hits += (uint64_t)hits;
        drop_at(p->waiting, &p->waiting_count, 0);
        p->running[p->running_count++] = id;
        p->computed[id] = hits * block;
        int r = least(p->known[id] - p->computed[id], budget);
        take(p, id, p->computed[id] + r);
        tokens += r;
        cached += p->computed[id];
        budget -= r;
        schedule(p, step, id, r);
    }
    if (!step->count)
        return false;
    const double cost = cost_of(p->server->context, tokens, cached, step->count);
    if (p->server->stages > 1) {
        double at = p->now;
        for (size_t s = 0; s < p->server->stages; s++) {
            at = fmax(at, p->left[s]) + cost / (double)p->server->stages;
            p->left[s] = at;
        }
        step->end = at;
    } else {
        step->end = (p->step_count ? p->step[0].end : p->now) + cost;
    }
    p->step_count++;
    p->iterations++;
    return true;
}

/* Rule 7. */
static void receive(struct plain *p)
{
    const struct plain_step *step = &p->step[0];
    for (int i = 0; i < step->count; i++) {
        int id = step->id[i], accepted = p->server->accepted > 0 ? step->drafts[i] : 0;
        int limit = (int)(p->trace->prompt[id] + p->trace->output[id]);
        if (!step->yields[i] || p->over[id])
            continue;
        p->in_flight[id]--;
        p->hidden[id] -= 1 + step->drafts[i];
        p->known[id] += 1 + accepted;
        if (p->computed[id])
            p->computed[id] -= step->drafts[i] - accepted;
        if (p->first[id] < 0)
            p->first[id] = p->now;
        if (p->known[id] < limit) {
            name(p, id);
            continue;
        }
        p->last[id] = p->now;
        p->over[id] = true;
        release(p, id);
        if (!drop_id(p->running, &p->running_count, id)) {
            assert_true(drop_id(p->waiting, &p->waiting_count, id));
            p->ended_waiting++;
        }
    }
    memmove(&p->step[0], &p->step[1], (STAGES - 1) * sizeof p->step[0]);
    p->step_count--;
}

static void plain_run(struct plain *p, const struct trace *trace, const struct sim_server *server)
{
    const int stages = (int)server->stages;
    int depth = stages > 1 ? stages : server->synchronous ? 1 : 2;
    memset(p, 0, sizeof *p);
    p->trace = trace;
    p->server = server;
    for (size_t i = 0; i < trace->count; i++) {
        p->known[i] = (int)trace->prompt[i];
        p->first[i] = p->last[i] = -1;
    }
    for (int block = 1; block < (int)server->blocks; block++) {         /* 0 is the null block */
        p->key[block].id = NOBODY;
        p->queue[p->back++] = block;
    }
    for (;;) {
        for (; p->came < (int)trace->count && trace->arrival[p->came] <= p->now; p->came++)
            p->waiting[p->waiting_count++] = p->came;
        if (p->step_count && p->step[0].end <= p->now)
            receive(p);
        while (p->step_count < depth && form(p))
            ;
        const bool idle = !p->step_count || (stages > 1 && p->step_count < depth);
        double next = p->step_count ? p->step[0].end : INFINITY;
        if (idle && p->came < (int)trace->count)
            next = fmin(next, trace->arrival[p->came]);
        if (next == INFINITY)
            return;
        p->now = next;
    }
}

/* ---- random workloads ----------------------------------------------------------------------- */

static void draw_trace(struct arena *arena, uint64_t *seed, struct trace *trace)
{
    size_t count = 2 + (size_t)(draw(seed) * (draw(seed) < 0.1 ? MOST - 3 : 50));
    double now = 0, pace = pow(10, -2 + 2 * draw(seed));
    *trace = (struct trace){ .count = count, .arrival = arena_array(arena, count, sizeof(double)),
                             .prompt = arena_array(arena, count, sizeof(uint32_t)),
                             .output = arena_array(arena, count, sizeof(uint32_t)) };
    for (size_t i = 0; i < count; i++) {
        trace->arrival[i] = now;
        trace->prompt[i] = 1 + (uint32_t)(draw(seed) * 300);
        trace->output[i] = draw(seed) < 0.1 ? 1 : 1 + (uint32_t)(draw(seed) * 120);
        if (draw(seed) > 0.2)                       /* some arrive together */
            now += -log(1 - draw(seed)) * pace;
    }
}

static void draw_options(uint64_t *seed, bool drafts, bool stages, struct sim_options *options,
                         struct cost *cost)
{
    static const size_t sizes[] = { 1, 4, 16 };
    *options = (struct sim_options){
        .server.scheduler = &scheduler_vllm_v1, .replicas = 1,
        .server.max_num_seqs = 1 + (size_t)(draw(seed) * 40),
        .server.chunk = 8 + (size_t)(draw(seed) * 300),
        .server.block = sizes[(size_t)(draw(seed) * 3)], .server.synchronous = draw(seed) < 0.5,
        .server.seconds = linear, .server.context = cost,
    };
    *cost = (struct cost){ 0.01 * draw(seed) + 1e-4, 1e-4 * draw(seed), 1e-6 * draw(seed),
                           1e-4 * draw(seed) };
    options->server.blocks = (size_t)(460 / options->server.block * (1 + 8 * draw(seed) * draw(seed)));
    if (stages)
        options->server.stages = 2 + (size_t)(draw(seed) * (STAGES - 1));
    if (drafts) {
        options->server.draft = 1 + (size_t)(draw(seed) * 4);
        options->server.accepted = draw(seed) < 0.5;
        if (draw(seed) < 0.5)                       /* too few for all that decode */
            options->server.chunk = 8 + (size_t)(draw(seed) * 24);
    }
}

static void same(const struct trace *trace, const struct plain *plain,
                 const struct sim_result *result, int turn, const struct sim_options *o)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (fabs(plain->first[i] - result->first_token[i]) > 1e-9 ||
            fabs(plain->last[i] - result->completed[i]) > 1e-9 ||
            plain->restarts[i] != result->restarts[i])
            fail_msg("turn %d%s, request %zu of %zu: %.12f %.12f %u, and %.12f %.12f %u", turn,
                     o->server.synchronous ? ", synchronous" : "", i, trace->count,
                     plain->first[i], plain->last[i], plain->restarts[i],
                     result->first_token[i], result->completed[i], result->restarts[i]);
    }
    assert_int_equal(plain->iterations, result->iterations);
    assert_int_equal(plain->preemptions, result->preemptions);
}

static void agree(int turns, bool drafts, bool stages, uint64_t seed)
{
    static struct plain plain;
    uint64_t preemptions[2] = { 0 }, iterations = 0, hits = 0, ended_waiting = 0, chunks = 0;
    for (int turn = 0; turn < rounds(turns); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct sim_options options;
        struct sim_result leaps, steps;
        struct error error;
        struct cost cost;
        draw_trace(&arena, &seed, &trace);
        draw_options(&seed, drafts, stages, &options, &cost);
        plain_run(&plain, &trace, &options.server);
        if (!sim_run(&arena, &trace, &options, &leaps, &error))
            fail_msg("%s", error.what);
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        same(&trace, &plain, &steps, turn, &options);
        same(&trace, &plain, &leaps, turn, &options);
        preemptions[options.server.synchronous] += plain.preemptions;
        iterations += plain.iterations;
        hits += plain.hits;
        ended_waiting += plain.ended_waiting;
        chunks += plain.chunks;
        arena_free(&arena);
    }
    print_message("%d workloads, %llu iterations, %llu + %llu preemptions, %llu blocks found again, "
                  "%llu ended waiting, %llu chunks\n", rounds(turns), (unsigned long long)iterations,
                  (unsigned long long)preemptions[0], (unsigned long long)preemptions[1],
                  (unsigned long long)hits, (unsigned long long)ended_waiting,
                  (unsigned long long)chunks);
    assert_true(preemptions[0] + preemptions[1] > (uint64_t)part_of(800) && preemptions[0] && preemptions[1]);
    assert_true(hits && ended_waiting && chunks);
}

static void words_and_leaps_agree(void **state)
{
    (void)state;
    agree(1000, false, false, 7);
}

static void so_do_drafts(void **state)
{
    (void)state;
    agree(300, true, false, 8);
}

/* Rule 10: as many steps in flight as stages, each a flow shop's job; nobody is in two. */
static void so_do_stages(void **state)
{
    (void)state;
    agree(500, false, true, 9);
    agree(300, true, true, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_leaps_agree),
        cmocka_unit_test(so_do_drafts),
        cmocka_unit_test(so_do_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
