/* Forms a batch for the schedulers sarathi and vllm-2023.
 *
 * sarathi mixes decodes with chunks of prompts under one token budget; vllm-2023 does not cut
 * prompts. Requests are handled in order of arrival. A decoding request that needs a block when
 * none is free makes the last one that has not been handled restart, or itself; what it had is
 * then part of its prompt. Where blocks are certainly sufficient, all decoding requests are
 * handled as one group (turns_group.c), with the same result. */
#include "sim/schedulers/turns.h"

#include <math.h>

/* ---- what a batch holds --------------------------------------------------------------------- */

struct batch {
    struct sim_step step;
    size_t prompt_most;
};

static size_t batch_tokens(const struct batch *batch)
{
    return (size_t)(batch->step.decoding + batch->step.prompt);
}

static void add_part(struct replica *replica, struct batch *batch, uint32_t id, uint64_t tokens)
{
    replica->parts[replica->part_count++] = (struct part){ id, (uint32_t)tokens };
    batch->step.sequences++;
}

static void add_decode(struct replica *replica, struct batch *batch, uint32_t id)
{
    batch->step.decoding++;
    batch->step.decode_cached += (double)replica->requests->done[id];
    add_part(replica, batch, id, 1);
}

static void add_prompt(struct replica *replica, struct batch *batch, uint32_t id,
                       uint64_t tokens)
{
    double before = (double)replica->requests->done[id], now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    add_part(replica, batch, id, tokens);
}

/* ---- who enters ----------------------------------------------------------------------------- */

/* The next that waits, with as much of its prompt as the batch has room for. */
static bool admit_one(struct replica *replica, struct batch *batch)
{
    const struct sim_server *server = replica->engine.server;
    if (!replica->queue.count || replica->running_count >= server->max_num_seqs ||
        batch->step.sequences >= (double)server->max_num_seqs)
        return false;
    uint32_t id = replica->queue.head;
    uint64_t prompt = replica->requests->prompt[id], tokens = prompt;
    size_t needed = turns_blocks_for(replica, prompt);
    if (replica->free_blocks < needed + turns_spare_blocks(server))
        return false;
    if (replica->cuts) {
        size_t used = batch_tokens(batch), room = server->chunk > used ? server->chunk - used : 0;
        tokens = prompt < room ? prompt : room;
        if (!tokens)
            return false;
    } else {
        size_t most = prompt > batch->prompt_most ? prompt : batch->prompt_most;
        if (((size_t)batch->step.sequences + 1) * most > server->batch_tokens_most)
            return false;
        batch->prompt_most = most;
    }
    queue_pop(replica->engine.world, &replica->queue);
    replica->free_blocks -= needed;
    replica->requests->done[id] = 0;
    turns_list_insert(replica->running, &replica->running_count, id);
    turns_list_insert(replica->prefills, &replica->prefill_count, id);
    add_prompt(replica, batch, id, tokens);
    batch->step.begun++;
    return true;
}

static void admit(struct replica *replica, struct batch *batch)
{
    while (admit_one(replica, batch))
        ;
}

/* Prompts that were begun: as much as the chunk has room for. */
static void go_on_with_prompts(struct replica *replica, struct batch *batch,
                               const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t rest = replica->requests->prompt[ids[i]] - (uint64_t)replica->requests->done[ids[i]];
        size_t used = batch_tokens(batch), chunk = replica->engine.server->chunk;
        if (rest && chunk > used)
            add_prompt(replica, batch, ids[i], rest < chunk - used ? rest : chunk - used);
    }
}

/* ---- who goes on ---------------------------------------------------------------------------- */

/* It starts again, from the head of the queue: what it had is its prompt now. */
static void restart(struct replica *replica, uint32_t id)
{
    struct requests *requests = replica->requests;
    replica->free_blocks += turns_blocks_held(replica, id, (uint64_t)requests->done[id]);
    replica->engine.tokens_left += (uint64_t)requests->done[id];        /* to be processed again */
    turns_list_remove(replica->running, &replica->running_count, id);
    requests->prompt[id] = (uint32_t)requests->done[id];
    requests->done[id] = 0;
    world_restarted(replica->engine.world, id);
    queue_first(replica->engine.world, &replica->queue, id);
}

/* Through the running ones in order of arrival: who decodes needs a free block to go on; when
 * there is none the last of those not yet looked at starts again, or else the one itself. */
static void decode_one_by_one(struct replica *replica, struct batch *batch,
                              uint32_t *prefills, size_t *prefill_count)
{
    struct requests *requests = replica->requests;
    for (size_t i = 0; i < replica->running_count &&
                       batch->step.sequences < (double)replica->engine.server->max_num_seqs; i++) {
        uint32_t id = replica->running[i];
        if (requests->done[id] < requests->prompt[id]) {
            prefills[(*prefill_count)++] = id;
            continue;
        }
        while (!replica->free_blocks && replica->running_count > i + 1)
            restart(replica, replica->running[replica->running_count - 1]);
        if (!replica->free_blocks) {
            restart(replica, id);
            break;
        }
        uint64_t done = (uint64_t)requests->done[id];
        uint64_t room = (uint64_t)turns_blocks_held(replica, id, done) *
                        replica->engine.server->block;
        replica->free_blocks -= done > room;
        add_decode(replica, batch, id);
    }
}

/* ---- the batch ------------------------------------------------------------------------------ */

static void form_exact(struct replica *replica, struct batch *batch)
{
    size_t prefills = 0;
    turns_leave(replica);
    replica->exact = true;
    /* `prefills` is made again when the step ends */
    decode_one_by_one(replica, batch, replica->prefills, &prefills);
    if (replica->cuts) {
        go_on_with_prompts(replica, batch, replica->prefills, prefills);
        replica->prefill_count = 0;
        admit(replica, batch);
    }
}

static void form_turn(struct replica *replica, struct batch *batch)
{
    replica->turn = true;
    replica->free_blocks -= replica->takes[replica->turns % replica->engine.server->block];
    batch->step.decoding = batch->step.sequences = (double)replica->decoding;
    batch->step.decode_cached = (double)turns_cached_sum(replica);
}

static void form(struct replica *replica, struct batch *batch)
{
    *batch = (struct batch){ 0 };
    replica->part_count = 0;
    replica->turn = replica->exact = false;
    if (!replica->cuts) {
        admit(replica, batch);                 /* prompts before any decode */
        if (batch->step.sequences > 0)
            return;
    }
    if (replica->decoding && !turns_are_safe(replica)) {
        form_exact(replica, batch);
        return;
    }
    if (replica->decoding)
        form_turn(replica, batch);
    if (replica->cuts) {
        go_on_with_prompts(replica, batch, replica->prefills, replica->prefill_count);
        admit(replica, batch);
    }
}

void turns_form_batch(struct replica *replica, double now)
{
    struct batch batch;
    form(replica, &batch);
    replica->engine.next = INFINITY;
    if (batch.step.sequences > 0) {
        const struct sim_server *server = replica->engine.server;
        const double seconds = server->seconds(server->context, &batch.step);
        replica->busy = true;
        replica->engine.next = now + seconds;
        replica->engine.tokens_left -= batch_tokens(&batch);
        replica->engine.waiting = replica->queue.count;
        replica->engine.stalls = replica->decoding > 0;
        world_ran(&replica->engine, now, seconds, &batch.step);
    }
    replica->engine.blocks_used = replica->engine.server->blocks - replica->free_blocks;
}
