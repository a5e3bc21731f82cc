/* The part that SGLang's and TensorRT-LLM's simulated schedulers share: a queue, a batch, and a
 * radix cache.
 *
 * It admits requests with their cached prefix locked, adds prompt chunks and decode steps to the
 * batch in flight, and returns tokens and cache when requests end, restart or are cut short. Up to
 * two batches are in flight: the next is formed while one runs, from what is known when it is
 * launched. Runs of steps that only decode are one fast-forward, whose steps are counted when somebody
 * asks. The schedulers decide who is admitted and in which order (sglang.c, trtllm.c). */
#include "sim/schedulers/radix_batch.h"

#include <assert.h>
#include <math.h>

uint32_t radix_batch_received(const struct radix_batch *batch, uint32_t id)
{
    const struct radix_request *request = &batch->requests[id];
    const uint64_t lacks = request->turn - batch->decodes.read,
    all = batch->replica.simulation->want[id];
    return request->fresh || lacks > all - request->had ? request->had : (uint32_t)(all - lacks);
}

struct radix_hit radix_batch_find(const struct radix_batch *batch, uint32_t id, uint64_t known)
{
    if (!batch->reuse)
        return (struct radix_hit){ 0, 0 };
    return radix_find(batch->cache, id, (size_t)((known - 1) / batch->unit));
}

void radix_batch_make_room(struct radix_batch *batch)
{
    size_t held = radix_batch_in_use(batch) + radix_idle(batch->cache);
    if (held > batch->capacity)
        radix_evict(batch->cache, held - batch->capacity);
}

void radix_batch_count(struct radix_batch *batch)
{
    const size_t block = batch->replica.server->block, used = radix_batch_in_use(batch);
    batch->replica.waiting = batch->queue.count;
    int64_t left = batch->left;
    for (size_t f = 0; f < batch->ahead.count; f++)
        left += (int64_t)batch->flights[f].tokens;
    batch->replica.tokens_left = left > 0 ? (uint64_t)left : 0;
    batch->replica.blocks_used = batch->unit == block ? used : (used + block - 1) / block;
}

/* ---- requests come and go ------------------------------------------------------------------- */

void radix_batch_begin(struct radix_batch *batch, uint32_t id, const struct radix_hit *hit,
                       uint64_t start, size_t units)
{
    struct simulation *simulation = batch->replica.simulation;
    struct radix_request *request = &batch->requests[id];
    queue_remove(simulation, &batch->queue, id);
    batch->replica.running++;
    batch->left -= (int64_t)(start - radix_batch_ready(batch, id));
    batch->outside += units - hit->units;
    if (!simulation->result->restarts[id] && !simulation->got[id]) {
        simulation->result->cached_tokens += hit->units * batch->unit;
        if (simulation->result->cached)
            simulation->result->cached[id] = (uint32_t)(hit->units * batch->unit);
    }
    *request = (struct radix_request){ .had = request->had, .cached = (int64_t)start };
    request->node = radix_lock(batch->cache, id, RADIX_ROOT, hit->units);
}

bool radix_batch_add_prompt(struct radix_batch *batch, struct radix_flight *flight, struct sim_step *step,
                            uint32_t id, uint64_t tokens)
{
    struct radix_request *request = &batch->requests[id];
    const double before = (double)request->cached, now = (double)tokens;
    step->prompt += now;
    step->prompt_cached += before;
    step->prompt_pairs += now * (before + now / 2);
    step->sequences++;
    step->begun += !request->begun && before < batch->replica.simulation->trace->prompt[id];
    request->begun = true;
    request->cached += (int64_t)tokens;
    batch->left -= (int64_t)tokens;
    request->fresh = (uint64_t)request->cached == radix_batch_known(batch, id);
    batch->cut = request->fresh ? NOBODY : id;
    if (request->fresh)
        flight->prompts[flight->prompt_count++] = id;
    return request->fresh;
}

void radix_batch_join(struct radix_batch *batch, uint32_t id, uint64_t turn)
{
    struct radix_request *request = &batch->requests[id];
    struct decodes *decodes = &batch->decodes;
    request->turn = turn;
    request->cached -= (int64_t)decodes->launched;
    decodes->cached += request->cached;
    decodes_push(decodes, (struct decode){
        .turn = turn, .id = id, .most = batch->replica.simulation->want[id] - request->had });
}

void radix_batch_leave(struct radix_batch *batch, uint32_t id)
{
    struct radix_request *request = &batch->requests[id];
    batch->decodes.cached -= request->cached;
    request->cached += (int64_t)batch->decodes.launched;
}

void radix_batch_keep(struct radix_batch *batch, uint32_t id, uint64_t tokens)
{
    struct radix_request *request = &batch->requests[id];
    size_t before = radix_end(batch->cache, request->node), units = (size_t)(tokens / batch->unit);
    if (!batch->reuse || units <= before)
        return;
    batch->outside -= units - before;
    request->node = radix_lock(batch->cache, id, request->node, units);
}

void radix_batch_let_go(struct radix_batch *batch, uint32_t id, size_t units)
{
    struct radix_request *request = &batch->requests[id];
    batch->outside -= units - radix_end(batch->cache, request->node);
    radix_unlock(batch->cache, request->node);
    request->node = RADIX_ROOT;
    batch->replica.running--;
}

void radix_batch_finish(struct radix_batch *batch, uint32_t id, size_t units, double now)
{
    radix_batch_keep(batch, id, radix_batch_last(batch, id));
    radix_batch_let_go(batch, id, units);
    batch->requests[id].over = true;
    simulation_done(batch->replica.simulation, id, now);
}

void radix_batch_restart(struct radix_batch *batch, uint32_t id, uint32_t had, size_t units)
{
    struct radix_request *request = &batch->requests[id];
    batch->left += request->cached;                 /* to be processed again */
    radix_batch_let_go(batch, id, units);
    request->had = had;
    request->turn = 0;
    request->fresh = request->begun = false;
    batch->replica.simulation->ready[id] = 0;
    simulation_restarted(batch->replica.simulation, id);
}

/* ---- batches -------------------------------------------------------------------------------- */

struct radix_flight *radix_batch_flight(struct radix_batch *batch)
{
    struct radix_flight *flight = &batch->flights[batch->ahead.count];
    flight->prompt_count = flight->end_count = 0;
    flight->turn = false;
    return flight;
}

void radix_batch_add_turn(struct radix_batch *batch, struct radix_flight *flight, struct sim_step *step,
                          size_t units)
{
    const struct sim_step turn = decodes_step(&batch->decodes);
    step->decoding = turn.decoding;
    step->decode_cached = turn.decode_cached;
    step->sequences += turn.sequences;
    flight->turn = true;
    batch->outside += units;
    batch->left -= (int64_t)batch->decodes.count;
    batch->decodes.launched++;
}

void radix_batch_launch(struct radix_batch *batch, const struct sim_step *step, double now)
{
    const struct sim_server *server = batch->replica.server;
    const double from = ahead_from(&batch->ahead, now);
    const double seconds = server->seconds(server->context, step);
    batch->flights[batch->ahead.count].tokens = (uint64_t)(step->decoding + step->prompt);
    batch->ahead.end[batch->ahead.count++] = from + seconds;
    radix_batch_count(batch);
    simulation_ran(&batch->replica, from, seconds, step);
}

void radix_batch_wait(struct radix_batch *batch)
{
    batch->replica.next = batch->ahead.count ? batch->ahead.end[0] : INFINITY;
    assert(batch->replica.running || (!batch->left && !radix_batch_in_use(batch)) ||
           batch->queue.count);
}

bool radix_batch_only_decodes(const struct radix_batch *batch)
{
    const struct ahead *ahead = &batch->ahead;
    if (batch->replica.simulation->options->stepping || ahead->count < ahead->depth ||
        !batch->decodes.count || batch->cut != NOBODY)
        return false;
    for (size_t f = 0; f < ahead->count; f++) {
        const struct radix_flight *flight = &batch->flights[f];
        if (flight->prompt_count || flight->end_count || !flight->turn)
            return false;
    }
    return true;
}

void radix_batch_fast_forward(struct radix_batch *batch, uint64_t turns)
{
    struct ahead *ahead = &batch->ahead;
    const struct sim_step step = decodes_step(&batch->decodes);
    if (!turns)
        return;
    ahead->forward = fast_forward_of(batch->replica.server, ahead->end[ahead->count - 1], &step, turns);
    ahead->waiting = batch->queue.count;
    batch->replica.next = ahead_end(ahead, ahead->forward.steps);
}

/* Of those in flight, and of the fast-forward behind them. */
static uint64_t tokens_of_turn(const struct radix_batch *batch, uint64_t turn)
{
    return turn < batch->ahead.count ? batch->flights[turn].tokens : batch->decodes.count;
}

/* The first turns of the fast-forward have been launched. */
static void go_on(struct radix_batch *batch, uint64_t turns)
{
    if (!turns)
        return;
    batch->grow(batch, turns);
    batch->left -= (int64_t)(turns * batch->decodes.count);
    batch->decodes.launched += turns;
    batch->decodes.read += turns;
    radix_batch_make_room(batch);
    for (size_t f = 0; f < batch->ahead.count; f++)
        batch->flights[f].tokens = tokens_of_turn(batch, f + turns);
    ahead_move(&batch->ahead, &batch->replica, turns);
    radix_batch_count(batch);
}

/* The batch that is formed next may be another one. */
static void leave_fast_forward(struct radix_batch *batch, double now)
{
    radix_batch_settle(&batch->replica, now);
    batch->ahead.forward.steps = 0;
    batch->replica.next = batch->ahead.end[0];
}

const struct radix_flight *radix_batch_end(struct radix_batch *batch, double now)
{
    const struct radix_flight ended = batch->flights[0];
    if (!batch->replica.next) {                     /* called at once: somebody left the queue */
        leave_fast_forward(batch, now);
        if (batch->replica.next > now)
            return NULL;
    }
    go_on(batch, batch->ahead.forward.steps);
    batch->flights[0] = batch->flights[1];
    batch->flights[1] = ended;
    batch->ahead.end[0] = batch->ahead.end[1];
    batch->ahead.count--;
    batch->decodes.read += ended.turn;
    return &batch->flights[1];
}

bool radix_batch_read(struct radix_batch *batch, uint32_t id, double now)
{
    if (!batch->requests[id].fresh)
        return false;
    batch->requests[id].fresh = false;
    simulation_first_token(batch->replica.simulation, id, now);
    radix_batch_keep(batch, id, radix_batch_known(batch, id));
    return true;
}

/* ---- what the simulation asks --------------------------------------------------------------- */

void radix_batch_take(struct replica *replica, uint32_t id, double now)
{
    struct radix_batch *batch = (struct radix_batch *)replica;
    if (batch->ahead.forward.steps)
        leave_fast_forward(batch, now);
    batch->requests[id] = (struct radix_request){ .had = replica->simulation->got[id] };
    batch->left += (int64_t)(radix_batch_last(batch, id) - radix_batch_ready(batch, id));
    queue_last(replica->simulation, &batch->queue, id);
    radix_batch_count(batch);
}

void radix_batch_settle(struct replica *replica, double now)
{
    struct radix_batch *batch = (struct radix_batch *)replica;
    struct ahead *ahead = &batch->ahead;
    if (!ahead->forward.steps)
        return;
    go_on(batch, ahead_before(ahead, now));
    if (!moment_before(now, ahead->end[0])) {           /* a turn that ends in this moment ends by itself */
        ahead->forward.steps = 0;
        replica->next = ahead->end[0];
    }
}

struct course radix_batch_course(const struct replica *replica)
{
    const struct radix_batch *batch = (const struct radix_batch *)replica;
    const struct ahead *ahead = &batch->ahead;
    const struct fast_forward *forward = &ahead->forward;
    struct course course = { .tokens = replica->tokens_left, .each = (uint32_t)batch->decodes.count,
                             .most = (uint32_t)forward->steps, .end = { NAN, NAN },
                             .from = forward->from, .first = forward->first, .growth = forward->growth };
    for (size_t i = 0; course.most && i < ahead->count; i++) {
        course.end[i] = ahead->end[i];
        course.fall[i] = (uint32_t)tokens_of_turn(batch, i);
    }
    return course;
}

bool radix_batch_drop(struct replica *replica, uint32_t id)
{
    struct radix_batch *batch = (struct radix_batch *)replica;
    if (!queue_remove(replica->simulation, &batch->queue, id))
        return false;
    batch->left -= (int64_t)(radix_batch_last(batch, id) - radix_batch_ready(batch, id));
    if (batch->ahead.forward.steps)
        replica->next = 0;
    radix_batch_count(batch);
    return true;
}

size_t radix_batch_cached(struct replica *replica, uint32_t id, double now)
{
    struct radix_batch *batch = (struct radix_batch *)replica;
    radix_batch_settle(replica, now);
    return radix_batch_find(batch, id, simulation_prompt(replica->simulation, id)).units * batch->unit;
}

/* Before it decodes, a prompt that is complete has given one token. */
uint32_t radix_batch_had(const struct replica *replica, uint32_t id)
{
    const struct radix_batch *batch = (const struct radix_batch *)replica;
    const struct radix_request *request = &batch->requests[id];
    if (request->turn)
        return radix_batch_received(batch, id);
    return request->had + (request->begun && !request->fresh &&
                           (uint64_t)request->cached == radix_batch_known(batch, id));
}

void radix_batch_forget(struct radix_batch *batch, double now)
{
    uint32_t *got = batch->replica.simulation->got;
    radix_batch_settle(&batch->replica, now);
    for (size_t i = 0; i < batch->decodes.count; i++) {
        uint32_t id = batch->decodes.heap[i].id;
        got[id] = radix_batch_received(batch, id);
    }
    if (batch->cut != NOBODY)
        got[batch->cut] = batch->requests[batch->cut].had;
    while (batch->queue.count) {
        uint32_t id = queue_pop(batch->replica.simulation, &batch->queue);
        got[id] = batch->requests[id].had;
    }
}

void radix_batch_empty(struct radix_batch *batch)
{
    batch->queue = QUEUE_EMPTY;
    batch->decodes.count = batch->outside = batch->ahead.count = 0;
    batch->decodes.cached = batch->left = 0;
    batch->decodes.read = batch->decodes.launched;
    batch->cut = NOBODY;
    batch->ahead.forward.steps = 0;
    radix_clear(batch->cache);
    batch->replica.running = 0;
    batch->replica.next = INFINITY;
    radix_batch_count(batch);
}

void radix_batch_open(struct radix_batch *batch, struct arena *arena, struct simulation *simulation,
                      const struct sim_server *server, size_t unit, size_t capacity)
{
    const size_t most = server->max_num_seqs + 1;
    if (!simulation->shared)
        simulation->shared = window_array(&simulation->window, arena, sizeof *batch->requests);
    batch->replica = (struct replica){ .server = server, .simulation = simulation };
    batch->requests = simulation->shared;
    batch->unit = unit;
    batch->capacity = capacity;
    batch->reuse = true;
    batch->cache = radix_open(arena, simulation->trace, unit);
    batch->decodes.heap = arena_array(arena, most, sizeof *batch->decodes.heap);
    for (size_t i = 0; i < AHEAD_MOST; i++) {
        batch->flights[i].prompts = arena_array(arena, most, sizeof(uint32_t));
        batch->flights[i].ends = arena_array(arena, most, sizeof(uint32_t));
    }
    batch->ahead.depth = server->synchronous ? 1 : AHEAD_MOST;
    radix_batch_empty(batch);
}
