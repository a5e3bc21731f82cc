/* Forms a batch for the schedulers sarathi and vllm-2023.
 *
 * sarathi mixes decodes with chunks of prompts under one token budget; vllm-2023 does not cut
 * prompts. Requests are handled in order of arrival. A decoding request that needs a block when
 * none is free makes the last one that has not been handled restart, or itself; what it had is
 * then part of its prompt. Where blocks are certainly sufficient, all decoding requests are
 * handled as one group (iteration_group.c), with the same result. */
#include "sim/schedulers/iteration.h"

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

static void add_part(struct iteration *iteration, struct batch *batch, uint32_t id, uint64_t tokens)
{
    iteration->parts[iteration->part_count++] = (struct batch_part){ id, (uint32_t)tokens };
    batch->step.sequences++;
}

static void add_decode(struct iteration *iteration, struct batch *batch, uint32_t id)
{
    batch->step.decoding++;
    batch->step.decode_cached += (double)iteration->requests->done[id];
    add_part(iteration, batch, id, 1);
}

static void add_prompt(struct iteration *iteration, struct batch *batch, uint32_t id,
                       uint64_t tokens)
{
    double before = (double)iteration->requests->done[id], now = (double)tokens;
    batch->step.prompt += now;
    batch->step.prompt_cached += before;
    batch->step.prompt_pairs += now * (before + now / 2);
    add_part(iteration, batch, id, tokens);
}

/* ---- who enters ----------------------------------------------------------------------------- */

/* The next that waits, with as much of its prompt as the batch has room for. */
static bool admit_one(struct iteration *iteration, struct batch *batch)
{
    const struct sim_server *server = iteration->replica.server;
    if (!iteration->queue.count || iteration->running_count >= server->max_num_seqs ||
        batch->step.sequences >= (double)server->max_num_seqs)
        return false;
    uint32_t id = iteration->queue.head;
    uint64_t prompt = iteration->requests->prompt[id], tokens = prompt;
    size_t needed = iteration_blocks_for(iteration, prompt);
    if (iteration->free_blocks < needed + iteration_spare_blocks(server))
        return false;
    if (iteration->cuts) {
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
    queue_pop(iteration->replica.simulation, &iteration->queue);
    iteration->free_blocks -= needed;
    iteration->requests->done[id] = 0;
    iteration_list_insert(iteration->running, &iteration->running_count, id);
    iteration_list_insert(iteration->prefills, &iteration->prefill_count, id);
    add_prompt(iteration, batch, id, tokens);
    batch->step.begun++;
    return true;
}

static void admit(struct iteration *iteration, struct batch *batch)
{
    while (admit_one(iteration, batch))
        ;
}

/* Prompts that were begun: as much as the chunk has room for. */
static void go_on_with_prompts(struct iteration *iteration, struct batch *batch,
                               const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t rest =
            iteration->requests->prompt[ids[i]] - (uint64_t)iteration->requests->done[ids[i]];
        size_t used = batch_tokens(batch), chunk = iteration->replica.server->chunk;
        if (rest && chunk > used)
            add_prompt(iteration, batch, ids[i], rest < chunk - used ? rest : chunk - used);
    }
}

/* ---- who goes on ---------------------------------------------------------------------------- */

/* It starts again, from the head of the queue: what it had is its prompt now. */
static void restart(struct iteration *iteration, uint32_t id)
{
    struct request_progress *requests = iteration->requests;
    iteration->free_blocks += iteration_blocks_held(iteration, id, (uint64_t)requests->done[id]);
    iteration->replica.tokens_left += (uint64_t)requests->done[id];     /* to be processed again */
    iteration_list_remove(iteration->running, &iteration->running_count, id);
    requests->prompt[id] = (uint32_t)requests->done[id];
    requests->done[id] = 0;
    simulation_restarted(iteration->replica.simulation, id);
    queue_first(iteration->replica.simulation, &iteration->queue, id);
}

/* Through the running ones in order of arrival: who decodes needs a free block to go on; when
 * there is none the last of those not yet looked at starts again, or else the one itself. */
static void decode_one_by_one(struct iteration *iteration, struct batch *batch,
                              uint32_t *prefills, size_t *prefill_count)
{
    struct request_progress *requests = iteration->requests;
    for (size_t i = 0; i < iteration->running_count &&
                       batch->step.sequences < (double)iteration->replica.server->max_num_seqs; i++) {
        uint32_t id = iteration->running[i];
        if (requests->done[id] < requests->prompt[id]) {
            prefills[(*prefill_count)++] = id;
            continue;
        }
        while (!iteration->free_blocks && iteration->running_count > i + 1)
            restart(iteration, iteration->running[iteration->running_count - 1]);
        if (!iteration->free_blocks) {
            restart(iteration, id);
            break;
        }
        uint64_t done = (uint64_t)requests->done[id];
        uint64_t room = (uint64_t)iteration_blocks_held(iteration, id, done) *
                        iteration->replica.server->block;
        iteration->free_blocks -= done > room;
        add_decode(iteration, batch, id);
    }
}

/* ---- the batch ------------------------------------------------------------------------------ */

static void form_exact(struct iteration *iteration, struct batch *batch)
{
    size_t prefills = 0;
    iteration_leave(iteration);
    iteration->exact = true;
    /* `prefills` is made again when the step ends */
    decode_one_by_one(iteration, batch, iteration->prefills, &prefills);
    if (iteration->cuts) {
        go_on_with_prompts(iteration, batch, iteration->prefills, prefills);
        iteration->prefill_count = 0;
        admit(iteration, batch);
    }
}

static void form_turn(struct iteration *iteration, struct batch *batch)
{
    iteration->turn = true;
    iteration->free_blocks -= iteration->takes[iteration->turns % iteration->replica.server->block];
    batch->step.decoding = batch->step.sequences = (double)iteration->decoding;
    batch->step.decode_cached = (double)iteration_cached_sum(iteration);
}

static void form(struct iteration *iteration, struct batch *batch)
{
    *batch = (struct batch){ 0 };
    iteration->part_count = 0;
    iteration->turn = iteration->exact = false;
    if (!iteration->cuts) {
        admit(iteration, batch);               /* prompts before any decode */
        if (batch->step.sequences > 0)
            return;
    }
    if (iteration->decoding && !iteration_is_safe(iteration)) {
        form_exact(iteration, batch);
        return;
    }
    if (iteration->decoding)
        form_turn(iteration, batch);
    if (iteration->cuts) {
        go_on_with_prompts(iteration, batch, iteration->prefills, iteration->prefill_count);
        admit(iteration, batch);
    }
}

void iteration_form_batch(struct iteration *iteration, double now)
{
    struct batch batch;
    form(iteration, &batch);
    iteration->replica.next = INFINITY;
    if (batch.step.sequences > 0) {
        const struct sim_server *server = iteration->replica.server;
        const double seconds = server->seconds(server->context, &batch.step);
        iteration->busy = true;
        iteration->replica.next = now + seconds;
        iteration->flying = batch_tokens(&batch);
        iteration->replica.waiting = iteration->queue.count;
        iteration->replica.stalls = iteration->decoding > 0;
        simulation_ran(&iteration->replica, now, seconds, &batch.step);
    }
    iteration->replica.blocks_used = iteration->replica.server->blocks - iteration->free_blocks;
}
