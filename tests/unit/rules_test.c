/* Schedulers sglang, trtllm and train: against second programs of the same rules, slow and plain,
 * one step and one token at a time; fast-forwards against single steps; the train against the
 * lecture's numbers. */
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

static double linear(void *context, const struct sim_step *step)
{
    const struct cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached) +
           cost->by_sequence * step->sequences;
}

/* ---- a cache, token by token (or block by block) -------------------------------------------- */

enum { MOST = 400, LONGEST = 9000, TRIE = 60000, NONE = UINT32_MAX };

struct letter {
    uint64_t name, used;
    uint32_t parent, child, sibling, locks;
    bool there;
};

struct trie {
    struct letter all[TRIE];
    size_t count, used, idle;       /* letters; locked; not */
    uint32_t spare[TRIE];           /* not there */
    size_t spare_count;
    uint64_t clock;
};

static uint32_t trie_child(const struct trie *trie, uint32_t parent, uint64_t name)
{
    uint32_t at = trie->all[parent].child;
    while (at != NONE && trie->all[at].name != name)
        at = trie->all[at].sibling;
    return at;
}

static void trie_open(struct trie *trie)
{
    trie->all[0] = (struct letter){ .child = NONE, .sibling = NONE, .there = true };
    trie->count = 1;
    trie->used = trie->idle = trie->clock = trie->spare_count = 0;
}

static uint32_t trie_new(struct trie *trie, uint32_t parent, uint64_t name)
{
    size_t at = trie->spare_count ? trie->spare[--trie->spare_count] : trie->count++;
    assert_true(at < TRIE);
    trie->all[at] = (struct letter){ .name = name, .parent = parent, .child = NONE, .there = true,
                                     .sibling = trie->all[parent].child };
    trie->all[parent].child = (uint32_t)at;
    trie->idle++;
    return (uint32_t)at;
}

/* Of a word the first letters that are there; how many of these nobody locks. */
static size_t trie_find(const struct trie *trie, const uint64_t *word, size_t most, size_t *idle)
{
    uint32_t at = 0;
    size_t run = 0;
    for (*idle = 0; run < most && (at = trie_child(trie, at, word[run])) != NONE; run++)
        *idle += !trie->all[at].locks;
    return run;
}

/* A word of which the first `from` letters are locked is locked up to `to`. */
static void trie_lock(struct trie *trie, const uint64_t *word, size_t from, size_t to)
{
    uint32_t at = 0;
    trie->clock++;
    for (size_t i = 0; i < to; i++) {
        uint32_t next = trie_child(trie, at, word[i]);
        if (next == NONE)
            next = trie_new(trie, at, word[i]);
        at = next;
        if (i < from)
            continue;
        trie->all[at].used = trie->clock;
        if (!trie->all[at].locks++) {
            trie->used++;
            trie->idle--;
        }
    }
}

static void trie_unlock(struct trie *trie, const uint64_t *word, size_t to)
{
    uint32_t at = 0;
    trie->clock++;
    for (size_t i = 0; i < to; i++) {
        at = trie_child(trie, at, word[i]);
        trie->all[at].used = trie->clock;
        if (!--trie->all[at].locks) {
            trie->used--;
            trie->idle++;
        }
    }
}

static void trie_forget(struct trie *trie, uint32_t at)
{
    uint32_t *from = &trie->all[trie->all[at].parent].child;
    while (*from != at)
        from = &trie->all[*from].sibling;
    *from = trie->all[at].sibling;
    trie->all[at].there = false;
    trie->spare[trie->spare_count++] = at;
    trie->idle--;
}

/* Until so few letters are idle: the last one of the word whose use is longest ago. */
static void trie_shrink(struct trie *trie, size_t idle)
{
    while (trie->idle > idle) {
        uint32_t oldest = NONE;
        for (uint32_t i = 1; i < trie->count; i++)
            if (trie->all[i].there && !trie->all[i].locks && trie->all[i].child == NONE &&
                (oldest == NONE || trie->all[i].used < trie->all[oldest].used))
                oldest = i;
        uint64_t used = trie->all[oldest].used;     /* and those before it, as long ago */
        while (trie->idle > idle && oldest && !trie->all[oldest].locks &&
               trie->all[oldest].child == NONE && trie->all[oldest].used == used) {
            uint32_t parent = trie->all[oldest].parent;
            trie_forget(trie, oldest);
            oldest = parent;
        }
    }
}

/* ---- what the plain programs share: the queue, steps in flight, sessions -------------------- */

struct part {
    size_t id, life;                /* a life ends when the request has to start again */
    uint64_t tokens;
    bool prompt, gives;             /* gives: an output */
};

struct batch {
    struct part part[2 * MOST];
    size_t count;
    double end;
};

struct ask {
    double time;
    size_t id;
};

struct plain {
    const struct trace *trace;
    const struct sim_server *server;
    size_t depth, unit;
    struct trie trie;
    uint64_t word[MOST][LONGEST];   /* names of a request's tokens, or blocks */
    size_t held[MOST];              /* letters of its word that it locks */

    size_t waiting[MOST], waiting_count, came;
    struct ask asks[MOST];          /* later turns, in the order in which they were planned */
    size_t ask_count;
    size_t life[MOST];
    uint64_t cached[MOST], had[MOST];       /* tokens; outputs received */
    bool over[MOST];
    struct batch batch[2];
    size_t batch_count;
    uint64_t iterations, tokens, restarts, hits;
    double now, first[MOST], last[MOST];

    size_t running[MOST], running_count;    /* sglang: those that decode; trtllm: that began */
    size_t outside;                 /* units held outside of the trie */
    /* trtllm */
    uint64_t pending[MOST], blocks[MOST];   /* outputs in flight; blocks held, locked ones too */
    bool reads[MOST];               /* its prompt is not read to its end */
    /* sglang */
    size_t newest[MOST], newest_count, cut;
    bool full;
    double ratio;

    bool mixed_chunk, eager;        /* settings */
    double conservativeness, cadence;
};

static void drop_at(size_t *list, size_t *count, size_t at)
{
    memmove(&list[at], &list[at + 1], (--*count - at) * sizeof *list);
}

static void drop_id(size_t *list, size_t *count, size_t id)
{
    size_t at = 0;
    while (list[at] != id)
        at++;
    drop_at(list, count, at);
}

static void put_first(size_t *list, size_t *count, size_t id)
{
    memmove(&list[1], &list[0], (*count)++ * sizeof *list);
    list[0] = id;
}

static uint64_t ceiling(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static uint64_t blend(uint64_t a, uint64_t b)
{
    uint64_t state = a * 0x9e3779b97f4a7c15u + b;
    return draw_bits(&state);
}

/* A unit (tokens from `unit * at` on) is the same in two requests if the trace says so. */
static uint64_t unit_name(const struct trace *trace, size_t id, size_t at, size_t unit)
{
    uint32_t before = trace->before ? trace->before[id] : NONE;
    size_t end = (at + 1) * unit, block = trace->block ? at * unit / trace->block : 0;
    if (before != NONE && end <= trace->prompt[id] &&
        end <= trace->prompt[before] + trace->output[before])
        return unit_name(trace, before, at, unit);
    if (trace->block && (block + 1) * trace->block <= trace->prompt[id] &&
        trace->first[id] + block < trace->first[id + 1])
        return blend(trace->blocks[trace->first[id] + block], at * unit % trace->block);
    return blend(1000003 + id, at);
}

static void plain_open(struct plain *p, const struct trace *trace, const struct sim_server *server,
                       size_t unit)
{
    memset((char *)p + offsetof(struct plain, held), 0,
           sizeof *p - offsetof(struct plain, held));
    p->trace = trace;
    p->server = server;
    p->unit = unit;
    p->depth = server->synchronous ? 1 : 2;
    p->cut = NONE;
    p->mixed_chunk = sim_setting(server, "mixed-chunk") > 0;
    p->eager = sim_setting(server, "max-utilization") > 0;
    p->conservativeness = sim_setting(server, "conservativeness");
    p->cadence = sim_setting(server, "cadence");
    trie_open(&p->trie);
    for (size_t i = 0; i < trace->count; i++) {
        p->first[i] = p->last[i] = -1;
        for (size_t u = 0; u < (trace->prompt[i] + trace->output[i]) / unit; u++)
            p->word[i][u] = unit_name(trace, i, u, unit);
    }
}

static void plain_arrivals(struct plain *p)
{
    for (; p->came < p->trace->count && p->trace->arrival[p->came] <= p->now; p->came++)
        if (!p->trace->before || p->trace->before[p->came] == NONE)
            p->waiting[p->waiting_count++] = p->came;
    while (p->came < p->trace->count && p->trace->before && p->trace->before[p->came] != NONE)
        p->came++;
    for (;;) {
        size_t next = NONE;
        for (size_t i = 0; i < p->ask_count; i++)
            if (p->asks[i].time <= p->now && (next == NONE || p->asks[i].time < p->asks[next].time))
                next = i;
        if (next == NONE)
            return;
        p->waiting[p->waiting_count++] = p->asks[next].id;
        memmove(&p->asks[next], &p->asks[next + 1], (--p->ask_count - next) * sizeof *p->asks);
    }
}

static double plain_next_arrival(const struct plain *p)
{
    double next = p->came < p->trace->count ? p->trace->arrival[p->came] : INFINITY;
    for (size_t i = 0; i < p->ask_count; i++)
        next = fmin(next, p->asks[i].time);
    return next;
}

static void plain_done(struct plain *p, size_t id)
{
    const struct trace *trace = p->trace;
    p->last[id] = p->now;
    p->over[id] = true;
    for (size_t i = id + 1; i < trace->count && trace->before; i++)
        if (trace->before[i] == id)
            p->asks[p->ask_count++] = (struct ask){
                isnan(trace->wait[i]) ? fmax(trace->arrival[i], p->now)
                                      : p->now + trace->wait[i], i };
}

static void plain_add(struct plain *p, struct batch *batch, size_t id, uint64_t tokens, bool prompt)
{
    uint64_t known = p->trace->prompt[id] + p->had[id];
    bool gives = !prompt || p->cached[id] + tokens == known;
    batch->part[batch->count++] = (struct part){ id, p->life[id], tokens, prompt, gives };
}

/* How long it takes; then its tokens are cached. */
static void plain_launch(struct plain *p, struct batch *batch)
{
    struct sim_step step = { 0 };
    for (size_t i = 0; i < batch->count; i++) {
        const struct part *part = &batch->part[i];
        double tokens = (double)part->tokens, before = (double)p->cached[part->id];
        *(part->prompt ? &step.prompt : &step.decoding) += tokens;
        *(part->prompt ? &step.prompt_cached : &step.decode_cached) += before;
        step.prompt_pairs += part->prompt ? tokens * (before + tokens / 2) : 0;
        step.sequences++;
        p->cached[part->id] += part->tokens;
        p->tokens += part->tokens;
    }
    double start = p->batch_count ? p->batch[p->batch_count - 1].end : p->now;
    batch->end = start + p->server->seconds(p->server->context, &step);
    p->iterations++;
    p->batch_count++;
}

static void plain_lock(struct plain *p, size_t id, uint64_t tokens)
{
    size_t to = (size_t)tokens / p->unit;
    if (to <= p->held[id])
        return;
    trie_lock(&p->trie, p->word[id], p->held[id], to);
    p->outside -= to - p->held[id];
    p->held[id] = to;
}

static void plain_unlock(struct plain *p, size_t id)
{
    trie_unlock(&p->trie, p->word[id], p->held[id]);
    p->held[id] = 0;
}

/* Decodes of a batch in order of number, behind its prompts in theirs. */
static int by_kind(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->prompt != y->prompt)
        return y->prompt - x->prompt;
    return x->prompt ? 0 : (x->id > y->id) - (x->id < y->id);
}

/* ---- sglang --------------------------------------------------------------------------------- */

static uint64_t sglang_all(const struct plain *p)
{
    return p->server->blocks * p->server->block;
}

static uint64_t sglang_used(const struct plain *p)
{
    return p->outside + p->trie.used;
}

static uint64_t sglang_wants(const struct plain *p, size_t id)
{
    uint64_t rest = p->trace->output[id] - p->had[id];
    return rest < 4096 ? rest : 4096;
}

static double sglang_first_ratio(const struct plain *p)
{
    return fmin(1, 0.7 * (p->conservativeness > 0 ? p->conservativeness : 1));
}

static void sglang_release(struct plain *p, size_t id)
{
    p->outside -= p->cached[id] - p->held[id];
    plain_unlock(p, id);
}

static void sglang_retract(struct plain *p)
{
    size_t at = NONE;
    for (size_t i = 0; i < p->running_count; i++) {
        size_t id = p->running[i], best = at == NONE ? id : p->running[at];
        if (at == NONE || p->had[id] < p->had[best] ||
            (p->had[id] == p->had[best] &&
             (p->trace->prompt[id] > p->trace->prompt[best] ||
              (p->trace->prompt[id] == p->trace->prompt[best] && id > best))))
            at = i;
    }
    size_t id = p->running[at];
    drop_at(p->running, &p->running_count, at);
    sglang_release(p, id);
    p->life[id]++;
    p->restarts++;
    p->waiting[p->waiting_count++] = id;
}

/* Rule 7. */
static bool sglang_retract_until(struct plain *p, uint64_t prompt, bool turn, size_t stay)
{
    uint64_t had = 0, all = 0;
    if (sglang_used(p) + prompt + (turn ? p->running_count : 0) <= sglang_all(p) ||
        p->running_count <= stay)
        return false;
    while (p->running_count > stay &&
           sglang_used(p) + prompt + (turn ? p->running_count : 0) > sglang_all(p))
        sglang_retract(p);
    for (size_t i = 0; i < p->running_count; i++) {
        had += p->had[p->running[i]];
        all += p->trace->output[p->running[i]];
    }
    p->ratio = fmin(1, (double)(had + 20 * p->running_count) / (double)(all + 1));
    return true;
}

/* Those that ended leave the decoding batch. */
static void sglang_filter(struct plain *p)
{
    for (size_t i = 0; i < p->running_count;)
        if (p->over[p->running[i]])
            drop_at(p->running, &p->running_count, i);
        else
            i++;
}

static void sglang_merge(struct plain *p)
{
    size_t stay = 0, was_empty = !p->running_count;
    for (size_t i = 0; i < p->newest_count; i++) {
        size_t id = p->newest[i];
        if (p->over[id] || id == p->cut)
            continue;
        p->running[p->running_count++] = id;
        stay++;
    }
    if (stay < p->newest_count || (was_empty && stay))
        p->full = false;
    p->newest_count = 0;
}

/* A prompt, or as much of it as there is room for. */
static uint64_t sglang_take(struct plain *p, struct batch *batch, size_t id, uint64_t tokens)
{
    plain_add(p, batch, id, tokens, true);
    p->outside += tokens;
    p->cut = batch->part[batch->count - 1].gives ? NONE : id;
    return tokens;
}

/* Rules 2 to 5. */
static void sglang_prompts(struct plain *p, struct batch *batch)
{
    const struct sim_server *server = p->server;
    size_t listed = p->running_count, mixed = p->mixed_chunk ? listed : 0;
    size_t most = server->batch_tokens_most ? server->batch_tokens_most : 16384;
    double guess = 0, input = (double)most - (double)mixed;
    double chunk = (double)server->chunk - (double)mixed;
    if (p->cut == NONE && (p->full || !p->waiting_count))
        return;
    if (p->cut == NONE && listed >= server->max_num_seqs) {
        p->full = true;
        return;
    }
    for (size_t i = 0; i < listed; i++)
        guess += (double)sglang_wants(p, p->running[i]);
    double room = (double)sglang_all(p) - (double)(sglang_used(p) + mixed) - p->ratio * guess;
    if (p->cut != NONE) {
        size_t id = p->cut;
        double rest = (double)(p->trace->prompt[id] + p->had[id] - p->cached[id]);
        double some = fmin(rest, room >= 1 ? fmin(chunk, floor(room)) : chunk);
        if (some > 0) {
            bool pushed = sglang_retract_until(p, (uint64_t)some, p->mixed_chunk, 0);
            sglang_take(p, batch, id, (uint64_t)some);
            input -= some;
            chunk -= some;
            room -= some + (some < rest ? 0 : (double)sglang_wants(p, id) + 1);
            if (pushed)
                return;
        }
    }
    while (p->waiting_count) {
        if (batch->count + listed >= server->max_num_seqs)
            p->full = true;
        if (p->full)
            return;
        size_t id = p->waiting[0], idle;
        size_t known = p->trace->prompt[id] + p->had[id];
        size_t hit = trie_find(&p->trie, p->word[id], known - 1, &idle);
        double extend = (double)(known - hit), keep = (double)sglang_wants(p, id) + 1;
        bool alone = !batch->count && p->cut == NONE;
        for (size_t i = 0; i < p->running_count; i++)
            alone &= p->over[p->running[i]];
        if (!alone && extend + keep + (double)idle >= room) {
            p->full = true;
            return;
        }
        if (extend > chunk && chunk <= 0)
            return;
        drop_at(p->waiting, &p->waiting_count, 0);
        p->hits += p->life[id] ? 0 : hit;
        p->cached[id] = hit;
        trie_lock(&p->trie, p->word[id], 0, hit);
        p->held[id] = hit;
        double some = fmin(extend, chunk);
        sglang_take(p, batch, id, (uint64_t)some);
        room -= (double)idle + some + (some < extend ? 0 : keep);
        input -= some;
        chunk -= some;
        if (room <= 0)
            p->full = true;
        if (room <= 0 || input <= 0 || chunk <= 0)
            return;
    }
}

static void sglang_decode(struct plain *p, struct batch *batch)
{
    for (size_t i = 0; i < p->running_count; i++)
        plain_add(p, batch, p->running[i], 1, false);
    p->outside += p->running_count;
}

static bool sglang_form(struct plain *p)
{
    struct batch *batch = &p->batch[p->batch_count];
    batch->count = 0;
    if (p->cut != NONE)
        plain_lock(p, p->cut, p->cached[p->cut]);
    sglang_merge(p);
    sglang_prompts(p, batch);
    if (batch->count) {
        for (size_t i = 0; i < batch->count; i++)
            p->newest[p->newest_count++] = batch->part[i].id;
        if (p->mixed_chunk) {
            sglang_filter(p);
            sglang_retract_until(p, 0, true, 0);
            sglang_decode(p, batch);
            while (p->running_count)
                p->newest[p->newest_count++] = p->running[--p->running_count];
        }
    } else {
        size_t before = p->running_count;
        sglang_filter(p);
        double start = sglang_first_ratio(p);
        if (p->running_count && !sglang_retract_until(p, 0, true, p->cut == NONE))
            p->ratio = fmax(p->ratio - (start - 0.14 * start) / 600, 0.14 * start);
        if (p->running_count < before)
            p->full = false;
        sglang_decode(p, batch);
    }
    if (!batch->count)
        return false;
    size_t all = sglang_all(p), used = sglang_used(p);
    assert_true(used <= all);
    if (p->trie.idle > all - used)
        trie_shrink(&p->trie, all - used);
    plain_launch(p, batch);
    return true;
}

static void sglang_read(struct plain *p)
{
    struct batch batch = p->batch[0];
    p->batch[0] = p->batch[1];
    p->batch_count--;
    size_t prompts = 0;
    while (prompts < batch.count && batch.part[prompts].prompt)
        prompts++;
    qsort(&batch.part[prompts], batch.count - prompts, sizeof *batch.part, by_kind);
    for (int pass = 0; pass < 2; pass++)            /* prompts, then those that end by number */
        for (size_t n = 0; n < (pass ? p->trace->count : prompts); n++) {
            size_t i = n;
            if (pass) {                             /* whoever this is, in whatever place */
                for (i = 0; i < batch.count && batch.part[i].id != n; i++)
                    ;
                if (i == batch.count)
                    continue;
            }
            const struct part *part = &batch.part[i];
            size_t id = part->id;
            if (p->life[id] != part->life || p->over[id] || !part->gives)
                continue;
            if (!pass) {
                if (p->first[id] < 0)
                    p->first[id] = p->now;
                plain_lock(p, id, p->trace->prompt[id] + p->had[id]);
            }
            if (!pass || !part->prompt)
                p->had[id]++;
            /* with overlap one who ends with its prompt is among those that decode */
            if (p->had[id] == p->trace->output[id] && (pass || p->depth == 1)) {
                plain_lock(p, id, p->trace->prompt[id] + p->had[id] - 1);
                sglang_release(p, id);
                plain_done(p, id);
            }
        }
}

static void sglang_run(struct plain *p)
{
    p->ratio = sglang_first_ratio(p);
    for (; p->now < INFINITY; p->now = fmin(plain_next_arrival(p),
                                            p->batch_count ? p->batch[0].end : INFINITY)) {
        bool ended = p->batch_count && p->batch[0].end == p->now;
        plain_arrivals(p);
        if (ended)
            sglang_read(p);
        plain_arrivals(p);
        if (!ended && p->batch_count)
            continue;
        while (p->batch_count < p->depth && sglang_form(p))
            ;
        if (p->batch_count)
            continue;
        p->ratio = sglang_first_ratio(p);           /* idle */
        while (p->batch_count < p->depth && sglang_form(p))
            ;
    }
}

/* ---- trtllm --------------------------------------------------------------------------------- */

static uint64_t trtllm_used(const struct plain *p)
{
    return p->outside + p->trie.used;
}

static void trtllm_hold(struct plain *p, size_t id, uint64_t blocks)
{
    p->outside += blocks - p->blocks[id];
    p->blocks[id] = blocks;
}

static void trtllm_release(struct plain *p, size_t id)
{
    p->outside -= p->blocks[id] - p->held[id];
    plain_unlock(p, id);
    p->blocks[id] = 0;
    drop_id(p->running, &p->running_count, id);
}

static bool trtllm_leaves(const struct plain *p, size_t id)
{
    return p->had[id] + p->pending[id] == p->trace->output[id];
}

static void trtllm_pause(struct plain *p, size_t id)
{
    plain_lock(p, id, p->cached[id]);
    trtllm_release(p, id);
    if (p->cut == id)
        p->cut = NONE;
    p->pending[id] = 0;
    p->reads[id] = false;
    p->life[id]++;
    p->restarts++;
    put_first(p->waiting, &p->waiting_count, id);
}

static size_t trtllm_last(const struct plain *p)
{
    size_t at = p->running_count;
    while (at && trtllm_leaves(p, p->running[at - 1]))
        at--;
    return at;                      /* place + 1; 0: nobody */
}

/* Rule 3: each in order its next block, or else the last that began has to wait. */
static bool trtllm_blocks(struct plain *p)
{
    bool enough = true;
    for (size_t i = 0; i < p->running_count;) {
        size_t id = p->running[i];
        uint64_t needs = p->blocks[id];
        if (!trtllm_leaves(p, id) && id != p->cut && ceiling(p->cached[id] + 1, p->unit) > needs)
            needs++;
        if (trtllm_used(p) + needs - p->blocks[id] <= p->server->blocks) {
            trtllm_hold(p, id, needs);
            i++;
        } else {
            enough = false;
            trtllm_pause(p, p->running[trtllm_last(p) - 1]);
        }
    }
    return enough;
}

/* Rule 5: of so many tokens those that the batch has room for. */
static uint64_t trtllm_some(const struct plain *p, uint64_t rest, uint64_t room)
{
    if (rest <= room)
        return rest;
    return p->unit <= p->server->chunk ? room - room % p->unit : room;
}

static bool trtllm_computed(const struct plain *p, size_t id, size_t hit)
{
    if (hit >= (p->trace->prompt[id] + p->had[id] - 1) / p->unit)
        return false;
    for (size_t i = 0; i < p->running_count; i++) {
        size_t other = p->running[i];
        if (p->reads[other] && p->held[other] == hit &&
            hit < (p->trace->prompt[other] + p->had[other]) / p->unit &&
            !memcmp(p->word[id], p->word[other], (hit + 1) * sizeof **p->word))
            return true;
    }
    return false;
}

static bool trtllm_form(struct plain *p)
{
    const struct sim_server *server = p->server;
    struct batch *batch = &p->batch[p->batch_count];
    uint64_t room = server->chunk;
    size_t seats = server->max_num_seqs < server->chunk ? server->max_num_seqs : server->chunk;
    batch->count = 0;
    bool goes_on = !p->eager || trtllm_blocks(p);
    for (size_t i = 0; i < p->running_count; i++)
        if (!trtllm_leaves(p, p->running[i]) && p->running[i] != p->cut) {
            plain_add(p, batch, p->running[i], 1, false);
            room--;
        }
    if (p->cut != NONE) {
        size_t id = p->cut;
        uint64_t rest = p->trace->prompt[id] + p->had[id] - p->cached[id];
        uint64_t some = trtllm_some(p, rest, room);
        if (some)
            plain_add(p, batch, id, some, true);
        room -= some;
        goes_on &= some == rest;
        p->cut = some == rest ? NONE : id;
    }
    size_t over = 0, idle;
    while (goes_on && room && p->running_count + over < seats && over < p->waiting_count) {
        size_t id = p->waiting[over], known = p->trace->prompt[id] + p->had[id];
        size_t hit = trie_find(&p->trie, p->word[id], (known - 1) / p->unit, &idle);
        if (trtllm_computed(p, id, hit)) {
            over++;
            continue;
        }
        uint64_t all = ceiling(p->eager ? known : p->trace->prompt[id] + p->trace->output[id],
                               p->unit);
        uint64_t rest = known - hit * p->unit, some = trtllm_some(p, rest, room);
        if (!some || trtllm_used(p) + all - hit + idle > server->blocks)
            break;
        drop_at(p->waiting, &p->waiting_count, over);
        p->running[p->running_count++] = id;
        p->hits += p->life[id] ? 0 : hit * p->unit;
        p->cached[id] = hit * p->unit;
        trie_lock(&p->trie, p->word[id], 0, hit);
        p->held[id] = p->blocks[id] = hit;
        p->reads[id] = true;
        trtllm_hold(p, id, all);
        plain_add(p, batch, id, some, true);
        room -= some;
        goes_on = some == rest;
        p->cut = goes_on ? NONE : id;
    }
    for (size_t i = 0; i < batch->count; i++)
        p->pending[batch->part[i].id] += batch->part[i].gives;
    size_t used = trtllm_used(p);
    assert_true(used <= server->blocks);
    if (p->trie.idle > server->blocks - used)
        trie_shrink(&p->trie, server->blocks - used);
    if (batch->count)
        plain_launch(p, batch);
    return batch->count > 0;
}

static void trtllm_read(struct plain *p)
{
    struct batch batch = p->batch[0];
    p->batch[0] = p->batch[1];
    p->batch_count--;
    size_t decodes = 0;
    while (decodes < batch.count && !batch.part[decodes].prompt)
        decodes++;
    qsort(batch.part, decodes, sizeof *batch.part, by_kind);
    for (size_t i = 0; i < batch.count; i++) {
        const struct part *part = &batch.part[i];
        size_t id = part->id;
        if (!part->gives || p->life[id] != part->life)
            continue;
        if (part->prompt) {
            p->first[id] = p->first[id] < 0 ? p->now : p->first[id];
            p->reads[id] = false;
            plain_lock(p, id, p->trace->prompt[id] + p->had[id]);
        }
        p->had[id]++;
        p->pending[id]--;
    }
    for (size_t i = 0; i < batch.count; i++) {
        size_t id = batch.part[i].id;
        if (p->life[id] != batch.part[i].life || p->over[id] || !batch.part[i].gives ||
            p->had[id] < p->trace->output[id])
            continue;
        plain_lock(p, id, p->trace->prompt[id] + p->trace->output[id] - 1);
        trtllm_release(p, id);
        plain_done(p, id);
    }
}

static void trtllm_run(struct plain *p)
{
    for (; p->now < INFINITY; p->now = fmin(plain_next_arrival(p),
                                            p->batch_count ? p->batch[0].end : INFINITY)) {
        bool ended = p->batch_count && p->batch[0].end == p->now;
        plain_arrivals(p);
        if (ended)
            trtllm_read(p);
        plain_arrivals(p);
        while ((ended || !p->batch_count) && p->batch_count < p->depth && trtllm_form(p))
            ended = true;
    }
}

/* ---- train ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void train_run(struct plain *p)
{
    for (uint64_t ride = 0; plain_next_arrival(p) < INFINITY || p->waiting_count ||
                            p->running_count; ride++) {
        const double departs = (double)ride * p->cadence;
        for (; plain_next_arrival(p) < departs; plain_arrivals(p))
            p->now = plain_next_arrival(p);
        p->now = departs;
        qsort(p->running, p->running_count, sizeof *p->running, by_number);
        for (size_t i = 0; ride && i < p->running_count;) {
            size_t id = p->running[i];
            p->first[id] = p->first[id] < 0 ? p->now : p->first[id];
            if (++p->had[id] < p->trace->output[id]) {
                i++;
                continue;
            }
            drop_at(p->running, &p->running_count, i);
            plain_done(p, id);
        }
        plain_arrivals(p);
        while (p->waiting_count && p->running_count < p->server->max_num_seqs) {
            size_t id = p->waiting[0];
            drop_at(p->waiting, &p->waiting_count, 0);
            p->running[p->running_count++] = id;
            p->tokens += p->trace->prompt[id] - 1;
        }
        p->tokens += p->running_count;
        p->iterations += p->running_count > 0;
    }
}

/* ---- random workloads ----------------------------------------------------------------------- */

/* Some arrive together, some have one output, a few thousands of them; some share the beginning of
 * their prompt by name, or are later turns of a session. */
static void draw_trace(struct arena *arena, uint64_t *seed, struct trace *trace)
{
    enum { NAMES = 3, BLOCKS = 60 };
    size_t count = 2 + (size_t)(draw(seed) * (draw(seed) < 0.1 ? MOST - 3 : 60));
    double now = 0, pace = pow(10, -2.5 + 2.5 * draw(seed)), ones = draw(seed) * draw(seed);
    bool names = draw(seed) < 0.4, sessions = draw(seed) < 0.3, far = draw(seed) < 0.03;
    count = far && count > 6 ? 6 : count;
    *trace = (struct trace){ .count = count, .arrival = arena_array(arena, count, sizeof(double)),
                             .prompt = arena_array(arena, count, sizeof(uint32_t)),
                             .output = arena_array(arena, count, sizeof(uint32_t)) };
    if (names) {
        trace->block = draw(seed) < 0.5 ? 16 : 32;
        trace->blocks = arena_array(arena, count * BLOCKS, sizeof *trace->blocks);
        trace->first = arena_array(arena, count + 1, sizeof *trace->first);
    }
    if (sessions) {
        trace->before = arena_array(arena, count, sizeof *trace->before);
        trace->wait = arena_array(arena, count, sizeof *trace->wait);
    }
    for (size_t i = 0; i < count; i++) {
        trace->arrival[i] = now;
        trace->prompt[i] = 1 + (uint32_t)(draw(seed) * 300);
        trace->output[i] = draw(seed) < ones ? 1 : 1 + (uint32_t)(draw(seed) * (far ? 8000 : 120));
        if (draw(seed) > 0.2)
            now += -log(1 - draw(seed)) * pace;
        if (sessions) {
            size_t before = (size_t)(draw(seed) * (double)i), taken = 0;
            for (size_t j = 0; j < i; j++)
                taken |= trace->before[j] == before;
            uint32_t all = i ? trace->prompt[before] + trace->output[before] : 0;
            bool turn = i && !taken && all < 450 && draw(seed) < 0.7;
            trace->before[i] = turn ? (uint32_t)before : NONE;
            trace->wait[i] = draw(seed) < 0.3 ? NAN : draw(seed) * 20 * pace;
            if (turn && draw(seed) < 0.9)           /* or it does not have all of it */
                trace->prompt[i] = all + 1 + (uint32_t)(draw(seed) * 100);
        }
        if (names) {
            size_t many = (size_t)(draw(seed) * (trace->prompt[i] / trace->block + 1));
            size_t group = 1 + (size_t)(draw(seed) * NAMES), same = (size_t)(draw(seed) * 12);
            trace->first[i + 1] = trace->first[i] + many;
            for (size_t b = 0; b < many; b++)
                trace->blocks[trace->first[i] + b] = b < same ? 100 * group + b
                                                              : 100000 * (i + 1) + b;
        }
    }
}

static void draw_server(uint64_t *seed, const struct trace *trace,
                        const struct scheduler *scheduler, struct sim_server *server,
                        struct cost *cost)
{
    static const size_t sizes[] = { 1, 4, 16 };
    uint64_t longest = 0;
    for (size_t i = 0; i < trace->count; i++)
        longest = trace->prompt[i] + trace->output[i] > longest
                  ? trace->prompt[i] + trace->output[i] : longest;
    *server = (struct sim_server){
        .scheduler = scheduler,
        .max_num_seqs = 1 + (size_t)(draw(seed) * 40), .chunk = 8 + (size_t)(draw(seed) * 300),
        .block = sizes[(size_t)(draw(seed) * 3)], .seconds = linear, .context = cost,
        .synchronous = draw(seed) < 0.4,
        .batch_tokens_most = draw(seed) < 0.5 ? 0 : 20 + (size_t)(draw(seed) * 500),
    };
    sim_set(server, "mixed-chunk", draw(seed) < 0.4);           /* of those it has */
    sim_set(server, "conservativeness", draw(seed) < 0.3 ? 0 : 0.02 + draw(seed) * draw(seed));
    sim_set(server, "max-utilization", draw(seed) < 0.5);
    sim_set(server, "cadence", pow(10, -3 + 2 * draw(seed)));
    server->blocks = (size_t)(ceiling(longest, server->block) *
                              (1 + 5 * draw(seed) * draw(seed) * draw(seed)));
    *cost = (struct cost){ 0.01 * draw(seed) + 1e-4, 1e-4 * draw(seed), 1e-6 * draw(seed),
                           1e-4 * draw(seed) };
}

static void same_times(const char *what, const struct trace *trace, const double *first,
                       const double *last, const struct sim_result *result)
{
    for (size_t i = 0; i < trace->count; i++)
        if (fabs(first[i] - result->first_token[i]) > 1e-9 ||
            fabs(last[i] - result->completed[i]) > 1e-9)
            fail_msg("%s: request %zu: %.12f %.12f, and %.12f %.12f", what, i, first[i], last[i],
                     result->first_token[i], result->completed[i]);
}

static void against_words(const struct scheduler *scheduler, void (*run)(struct plain *),
                          uint64_t seed, int least_restarts)
{
    struct plain *plain = malloc(sizeof *plain);
    uint64_t restarts = 0, iterations = 0, hits = 0;
    for (int turn = 0; turn < rounds(1000); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct cost cost;
        struct sim_options options = { .replicas = 1 };
        struct sim_result leaps, steps;
        struct error error;
        char what[64];
        draw_trace(&arena, &seed, &trace);
        draw_server(&seed, &trace, scheduler, &options.server, &cost);
        snprintf(what, sizeof what, "workload %d", turn);
        if (!sim_run(&arena, &trace, &options, &leaps, &error))
            fail_msg("%s: %s", what, error.what);
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        same_times(what, &trace, steps.first_token, steps.completed, &leaps);
        plain_open(plain, &trace, &options.server,
                   scheduler == &scheduler_trtllm ? options.server.block : 1);
        run(plain);
        same_times(what, &trace, plain->first, plain->last, &leaps);
        assert_int_equal(plain->iterations, leaps.iterations);
        assert_int_equal(plain->tokens, leaps.batch_tokens);
        assert_int_equal(plain->restarts, leaps.preemptions);
        assert_int_equal(plain->hits, leaps.cached_tokens);
        assert_int_equal(steps.iterations, leaps.iterations);
        assert_int_equal(steps.batch_tokens, leaps.batch_tokens);
        assert_int_equal(steps.preemptions, leaps.preemptions);
        for (size_t i = 0; i < trace.count; i++)
            assert_int_equal(plain->life[i], leaps.restarts[i]);
        restarts += leaps.preemptions;
        iterations += leaps.iterations;
        hits += leaps.cached_tokens;
        arena_free(&arena);
    }
    print_message("%s: %d workloads, %llu iterations, %llu restarts, %llu tokens found\n",
                  scheduler->name, rounds(1000), (unsigned long long)iterations, (unsigned long long)restarts,
                  (unsigned long long)hits);
    assert_true(restarts >= (uint64_t)part_of(least_restarts));
    assert_true(scheduler == &scheduler_batch_train || hits > (uint64_t)part_of(100000));
    free(plain);
}

static void sglang_as_in_words(void **state)
{
    (void)state;
    against_words(&scheduler_sglang, sglang_run, 7, 500);
}

static void trtllm_as_in_words(void **state)
{
    (void)state;
    against_words(&scheduler_trtllm, trtllm_run, 8, 1000);
}

static void train_as_in_words(void **state)
{
    (void)state;
    against_words(&scheduler_batch_train, train_run, 9, 0);
}

/* ---- in a fleet: routers, failures, users, two pools ---------------------------------------- */

static void draw_fleet(uint64_t *seed, struct sim_options *options)
{
    options->replicas = 1 + (size_t)(draw(seed) * 3);
    options->router = (enum router)(draw(seed) * ROUTER_COUNT);
    options->users = draw(seed) < 0.2 ? 1 + (size_t)(draw(seed) * 9) : 0;
    options->think = draw(seed) < 0.3 ? 0 : draw(seed);
    options->patience = draw(seed) < 0.2 ? 0.1 + draw(seed) : 0;
    options->waiting_most = draw(seed) < 0.2 ? 1 + (size_t)(draw(seed) * 20) : 0;
    options->fails_every = draw(seed) < 0.3 ? 1 + 5 * draw(seed) : 0;
    options->restart = draw(seed);
    options->seed = draw_bits(seed);
    if (draw(seed) < 0.3) {
        options->split = (struct sim_split){ 1 + (size_t)(draw(seed) * 2), options->server,
                                             1e9 * draw(seed) + 1e6, 1e-3 * draw(seed), draw(seed) < 0.5, 1e5 };
        options->users = 0;
        options->fails_every = 0;
    }
}

static void same_in_fleets(const struct scheduler *scheduler, uint64_t seed)
{
    uint64_t iterations = 0, lost = 0, gave_up = 0, restarts = 0;
    for (int turn = 0; turn < rounds(1000); turn++) {
        struct arena arena = { 0 };
        struct trace trace;
        struct cost cost;
        struct sim_options options = { 0 };
        struct sim_result leaps, steps;
        struct error error;
        char what[64];
        draw_trace(&arena, &seed, &trace);
        draw_server(&seed, &trace, scheduler, &options.server, &cost);
        draw_fleet(&seed, &options);
        snprintf(what, sizeof what, "fleet %d", turn);
        if (!sim_run(&arena, &trace, &options, &leaps, &error))
            fail_msg("%s: %s", what, error.what);
        options.stepping = true;
        assert_true(sim_run(&arena, &trace, &options, &steps, &error));
        same_times(what, &trace, steps.first_token, steps.completed, &leaps);
        assert_int_equal(steps.iterations, leaps.iterations);
        assert_int_equal(steps.batch_tokens, leaps.batch_tokens);
        assert_int_equal(steps.preemptions, leaps.preemptions);
        assert_int_equal(steps.cached_tokens, leaps.cached_tokens);
        assert_int_equal(steps.lost, leaps.lost);
        assert_int_equal(steps.gave_up, leaps.gave_up);
        assert_true(fabs(steps.busy - leaps.busy) < 1e-6);
        assert_true(fabs(steps.queued - leaps.queued) < 1e-6);
        for (size_t i = 0; i < trace.count && !options.patience && !options.waiting_most; i++)
            assert_true(leaps.first_token[i] > leaps.arrival[i] &&
                        leaps.completed[i] >= leaps.first_token[i]);
        iterations += leaps.iterations;
        lost += leaps.lost;
        gave_up += leaps.gave_up;
        restarts += leaps.preemptions;
        arena_free(&arena);
    }
    print_message("%s: %d fleets, %llu iterations, %llu restarts, %llu lost, %llu gave up\n",
                  scheduler->name, rounds(1000), (unsigned long long)iterations, (unsigned long long)restarts,
                  (unsigned long long)lost, (unsigned long long)gave_up);
    assert_true(lost > (uint64_t)part_of(100) && gave_up > (uint64_t)part_of(100));
}

static void fleets_leap_as_they_step(void **state)
{
    (void)state;
    same_in_fleets(&scheduler_sglang, 17);
    same_in_fleets(&scheduler_trtllm, 18);
    same_in_fleets(&scheduler_batch_train, 19);
}

/* ---- by hand -------------------------------------------------------------------------------- */

static double by_part(void *context, const struct sim_step *step)
{
    (void)context;
    return 1 + (step->prompt > 0 ? 1 : 0);          /* a step with prompts takes twice as long */
}

struct hand {
    double arrival[3];
    uint32_t prompt[3], output[3];
    struct trace trace;
    struct sim_options options;
    struct sim_result result;
};

static void by_hand(struct arena *arena, struct hand *hand, size_t count)
{
    struct error error;
    hand->trace = (struct trace){ .count = count, .arrival = hand->arrival,
                                  .prompt = hand->prompt, .output = hand->output };
    hand->options.replicas = 1;
    hand->options.server.seconds = by_part;
    if (!sim_run(arena, &hand->trace, &hand->options, &hand->result, &error))
        fail_msg("%s", error.what);
}

/* Chunks of 100. Request 0 has 150 tokens and 3 outputs, request 1 comes at 1 with 10 and 2.
 * Prompts alone: 100 of 0 until 2; then what is left and request 1 together, or, with the second
 * batch formed at 0, what is left until 4 and request 1 in a batch that is formed at 2. */
static void sglang_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct hand hand = { .arrival = { 0, 1 }, .prompt = { 150, 10 }, .output = { 3, 2 },
                         .options.server = { .scheduler = &scheduler_sglang,
                                             .max_num_seqs = 8, .chunk = 100, .blocks = 10000,
                                             .block = 1, .synchronous = true } };
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[0] == 4 && hand.result.first_token[1] == 4);
    assert_true(hand.result.completed[1] == 5 && hand.result.completed[0] == 6);
    assert_int_equal(hand.result.iterations, 4);
    hand.options.server.synchronous = false;
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[0] == 4 && hand.result.first_token[1] == 6);
    /* decodes 6-7, 7-8; 1 ends at 7 and is in the batch until 8, where 0 ends; one more runs */
    assert_true(hand.result.completed[1] == 7 && hand.result.completed[0] == 8);
    assert_int_equal(hand.result.iterations, 6);
    sim_set(&hand.options.server, "mixed-chunk", 1);    /* 0 decodes in the batch of 1 */
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[1] == 6);
    assert_true(hand.result.completed[1] == 7 && hand.result.completed[0] == 7);
    arena_free(&arena);
}

/* Two requests of 10 tokens and 6 outputs; 1 comes while 0 is read, and needs 10 + 6 + 1. At 2 the
 * guess leaves it 24 - 10 - 0.7 * 5 = 10.5 tokens, or with 28 of them 14.5: it waits until 0 is
 * done. With a tenth of the guess, 17.65, it is read, and both decode until all 28 are in use at 8;
 * both have 5 outputs then, and the last starts again. */
static void sglang_retracts(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct hand hand = { .arrival = { 0, 0.5 }, .prompt = { 10, 10 }, .output = { 6, 6 },
                         .options.server = { .scheduler = &scheduler_sglang,
                                             .max_num_seqs = 8, .chunk = 100, .blocks = 24,
                                             .block = 1, .synchronous = true } };
    by_hand(&arena, &hand, 2);
    assert_int_equal(hand.result.preemptions, 0);
    assert_true(hand.result.completed[0] == 7 && hand.result.first_token[1] == 9);
    hand.options.server.blocks = 28;
    by_hand(&arena, &hand, 2);
    assert_int_equal(hand.result.preemptions, 0);
    sim_set(&hand.options.server, "conservativeness", 0.1);
    by_hand(&arena, &hand, 2);
    assert_int_equal(hand.result.preemptions, 1);
    assert_int_equal(hand.result.restarts[1], 1);
    assert_true(hand.result.first_token[1] == 4 && hand.result.completed[0] == 9);
    arena_free(&arena);
}

/* Of outputs to come no more than 4,096 are kept room for: 1 needs 10 + 4,096 + 1 of what 10 tokens
 * in use and 4,096 to come (all of them, at 1 / 0.7) leave. */
static void sglang_clips(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct hand hand = { .arrival = { 0, 0.5 }, .prompt = { 10, 10 }, .output = { 6000, 6000 },
                         .options.server = { .scheduler = &scheduler_sglang,
                                             .max_num_seqs = 8, .chunk = 100, .blocks = 8213,
                                             .block = 1, .synchronous = true } };
    sim_set(&hand.options.server, "conservativeness", 2);
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[1] > 1000);
    hand.options.server.blocks = 8214;
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[1] == 4);
    arena_free(&arena);
}

/* At most 64 tokens, blocks of 32. Prompts of 40 and 40: the second is cut to 0, as 24 are left and
 * a block is 32, so it waits a step. Each needs 2 blocks to its end; with 3 the second waits for
 * the first to end. */
static void trtllm_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct hand hand = { .arrival = { 0, 0 }, .prompt = { 40, 40 }, .output = { 3, 3 },
                         .options.server = { .scheduler = &scheduler_trtllm,
                                             .max_num_seqs = 8, .chunk = 64, .blocks = 10,
                                             .block = 32, .synchronous = true } };
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[0] == 2 && hand.result.first_token[1] == 4);
    assert_true(hand.result.completed[0] == 5 && hand.result.completed[1] == 6);
    hand.options.server.synchronous = false;        /* the same: both came before the first step */
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.completed[0] == 5 && hand.result.completed[1] == 6);
    assert_int_equal(hand.result.iterations, 4);
    hand.arrival[1] = 0.5;                          /* seen at 2, when the next is formed already */
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.first_token[1] == 5 && hand.result.completed[0] == 5);
    hand.arrival[1] = 0;
    hand.options.server.blocks = 3;
    by_hand(&arena, &hand, 2);
    assert_true(hand.result.completed[0] == 4 && hand.result.first_token[1] == 6);
    assert_int_equal(hand.result.preemptions, 0);
    arena_free(&arena);
}

/* Blocks of 4, both prompts hold one: the first needs a second block for its fourth output, the
 * second one too, in the same step; with 3 blocks in all the one that began last is paused. */
static void trtllm_pauses(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct hand hand = { .arrival = { 0, 0 }, .prompt = { 2, 2 }, .output = { 6, 6 },
                         .options.server = { .scheduler = &scheduler_trtllm,
                                             .max_num_seqs = 8, .chunk = 64, .blocks = 3,
                                             .block = 4, .synchronous = true } };
    sim_set(&hand.options.server, "max-utilization", 1);
    by_hand(&arena, &hand, 2);
    assert_int_equal(hand.result.preemptions, 1);
    assert_int_equal(hand.result.restarts[1], 1);
    assert_true(hand.result.completed[0] == 7);
    sim_set(&hand.options.server, "max-utilization", 0);    /* each needs two, in turn */
    by_hand(&arena, &hand, 2);
    assert_int_equal(hand.result.preemptions, 0);
    assert_true(hand.result.completed[0] == 7 && hand.result.first_token[1] == 9);
    arena_free(&arena);
}

/* Three prompts that share 64 tokens by name. Of those that come together TensorRT-LLM has the
 * second wait for the first one's blocks; SGLang reads both. The third finds them with either. */
static void prefixes_are_shared(void **state)
{
    (void)state;
    static uint64_t names[] = { 1, 2, 1, 2, 1, 2 };
    static size_t first[] = { 0, 2, 4, 6 };
    struct arena arena = { 0 };
    struct error error;
    struct hand hand = { .arrival = { 0, 0, 100 }, .prompt = { 70, 70, 70 }, .output = { 2, 2, 2 },
                         .options.replicas = 1,
                         .options.server = { .max_num_seqs = 8, .chunk = 1000, .blocks = 100,
                                             .block = 32, .synchronous = true,
                                             .seconds = by_part } };
    hand.trace = (struct trace){ .count = 3, .arrival = hand.arrival, .prompt = hand.prompt,
                                 .output = hand.output, .block = 32, .blocks = names,
                                 .first = first };
    hand.options.server.scheduler = &scheduler_sglang;
    assert_true(sim_run(&arena, &hand.trace, &hand.options, &hand.result, &error));
    assert_int_equal(hand.result.cached_tokens, 64);
    assert_true(hand.result.first_token[0] == 2 && hand.result.first_token[1] == 2);
    hand.options.server.scheduler = &scheduler_trtllm;
    assert_true(sim_run(&arena, &hand.trace, &hand.options, &hand.result, &error));
    assert_int_equal(hand.result.cached_tokens, 128);
    assert_true(hand.result.first_token[0] == 2 && hand.result.first_token[1] == 4);
    arena_free(&arena);
}

/* ---- the train of the lecture --------------------------------------------------------------- */

/* One output: a wait of up to a period and a ride of one. Arrivals at random find the train at
 * random: worst two periods, mean one and a half. */
static void train_takes_two_periods(void **state)
{
    (void)state;
    enum { ALL = 100000 };
    const double period = 0.02;
    struct arena arena = { 0 };
    struct sim_options options = { .replicas = 1, .server = { .scheduler = &scheduler_batch_train,
                                   .block = 1, .max_num_seqs = 2000 } };
    struct trace trace = { .count = ALL, .arrival = arena_array(&arena, ALL, sizeof(double)),
                           .prompt = arena_array(&arena, ALL, sizeof(uint32_t)),
                           .output = arena_array(&arena, ALL, sizeof(uint32_t)) };
    struct sim_result result;
    struct error error;
    uint64_t seed = 20;
    double now = 0, sum = 0, squares = 0, most = 0, least = 1;
    for (size_t i = 0; i < ALL; i++) {
        trace.arrival[i] = now += -log(1 - draw(&seed)) / 1000;
        trace.prompt[i] = 1 + (uint32_t)(draw(&seed) * 5000);
        trace.output[i] = 1;
    }
    sim_set(&options.server, "cadence", period);
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    for (size_t i = 0; i < ALL; i++) {
        double took = result.completed[i] - trace.arrival[i];
        sum += took / ALL;
        squares += took * took / ALL;
        most = fmax(most, took);
        least = fmin(least, took);
    }
    double error_of_mean = sqrt((squares - sum * sum) / ALL);
    print_message("train: %.6f to %.6f s, mean %.6f +- %.6f\n", least, most, sum, error_of_mean);
    assert_true(most <= 2 * period + 1e-9 && most > 2 * period - 1e-5);
    assert_true(least >= period && least < period + 1e-5);
    assert_true(fabs(sum - 1.5 * period) < 3 * error_of_mean);
    arena_free(&arena);
}

/* Full: with B seats and S outputs each, B / (S * period) requests a second get off. */
static void train_is_full(void **state)
{
    (void)state;
    enum { ALL = 20000, SEATS = 50, OUTPUTS = 20 };
    struct arena arena = { 0 };
    struct sim_options options = { .replicas = 1, .server = { .scheduler = &scheduler_batch_train,
                                   .block = 1, .max_num_seqs = SEATS } };
    struct trace trace = { .count = ALL, .arrival = arena_array(&arena, ALL, sizeof(double)),
                           .prompt = arena_array(&arena, ALL, sizeof(uint32_t)),
                           .output = arena_array(&arena, ALL, sizeof(uint32_t)) };
    struct sim_result result;
    struct error error;
    for (size_t i = 0; i < ALL; i++) {
        trace.arrival[i] = 1e-3 * (double)i;
        trace.prompt[i] = 100;
        trace.output[i] = OUTPUTS;
    }
    sim_set(&options.server, "cadence", 0.02);
    assert_true(sim_run(&arena, &trace, &options, &result, &error));
    double rate = ALL / result.makespan, most = SEATS / (OUTPUTS * 0.02);
    assert_true(rate <= most && rate > 0.99 * most);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sglang_as_in_words),
        cmocka_unit_test(trtllm_as_in_words),
        cmocka_unit_test(train_as_in_words),
        cmocka_unit_test(fleets_leap_as_they_step),
        cmocka_unit_test(sglang_by_hand),
        cmocka_unit_test(sglang_retracts),
        cmocka_unit_test(sglang_clips),
        cmocka_unit_test(trtllm_by_hand),
        cmocka_unit_test(trtllm_pauses),
        cmocka_unit_test(prefixes_are_shared),
        cmocka_unit_test(train_takes_two_periods),
        cmocka_unit_test(train_is_full),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
