/* The lecture's train: a batch departs every `cadence` seconds, from time 0 on, full or not. A request
 * waits for the next departure. Its first ride processes the whole prompt and gives a token; each
 * further ride gives one token. Slots are given first come, first served. A ride takes one cadence,
 * whatever is in it, and KV memory is unlimited. A request that finds a slot has its first token after
 * one to two cadences, one and a half on average. */
#include "sim/schedulers/decodes.h"
#include "sim/schedulers/schedulers.h"

#include <assert.h>
#include <math.h>

enum { CADENCE };                   /* a setting: s between two departures */

struct batch_train {
    struct replica replica;
    struct queue queue;
    struct decodes riders;          /* turns are rides; `launched` is the one that runs or comes */
    uint32_t *boarded;              /* requests whose first ride is this one */
    size_t boarded_count;
    bool rides;                     /* a ride is in progress */
    struct fast_forward forward;    /* rides after this one; steps 0: none */
    size_t waited;                  /* requests that waited when the fast-forward began */
    uint64_t left;                  /* tokens to process */
};

static double departure(const struct batch_train *batch_train, uint64_t ride)
{
    return (double)ride * batch_train->replica.server->own[CADENCE];
}

/* The ride that departs now or next. */
static uint64_t next_ride(const struct batch_train *batch_train, double now)
{
    uint64_t ride = (uint64_t)fmax(0, floor(now / batch_train->replica.server->own[CADENCE]) - 1);
    while (moment_before(departure(batch_train, ride), now))
        ride++;
    return ride;
}

static uint64_t ready_of(const struct batch_train *batch_train, uint32_t id)
{
    uint64_t known = simulation_prompt(batch_train->replica.simulation, id),
    ready = batch_train->replica.simulation->ready[id];
    return ready < known ? ready : known - 1;
}

static uint64_t tokens_of(const struct batch_train *batch_train, uint32_t id)
{
    return simulation_total(batch_train->replica.simulation, id) - 1 - ready_of(batch_train, id);
}

static void counts(struct batch_train *batch_train)
{
    batch_train->replica.waiting = batch_train->queue.count;
    batch_train->replica.running = batch_train->riders.count;
    batch_train->replica.tokens_left = batch_train->left;
}

/* ---- a ride --------------------------------------------------------------------------------- */

static void board(struct batch_train *batch_train, struct sim_step *step, uint32_t id)
{
    const struct simulation *simulation = batch_train->replica.simulation;
    struct decodes *riders = &batch_train->riders;
    const uint64_t known = simulation_prompt(simulation, id), ready = ready_of(batch_train, id);
    const double now = (double)(known - ready), before = (double)ready;
    step->prompt += now;
    step->prompt_cached += before;
    step->prompt_pairs += now * (before + now / 2);
    step->sequences++;
    riders->cached += (int64_t)known - 1 - (int64_t)riders->launched;
    decodes_push(riders, (struct decode){
        .turn = riders->launched + simulation->want[id] - simulation->got[id] - 1, .id = id });
    batch_train->boarded[batch_train->boarded_count++] = id;
}

/* Rides after this one in which the same go on, unless somebody comes. */
static void try_fast_forward(struct batch_train *batch_train)
{
    const struct decodes *riders = &batch_train->riders;
    if (batch_train->replica.simulation->options->stepping || batch_train->boarded_count)
        return;                                     /* who waits still found no seat */
    batch_train->forward = (struct fast_forward){ .from = departure(batch_train, riders->launched + 1),
                                                  .first = batch_train->replica.server->own[CADENCE],
                                                  .step = decodes_step(riders),
                                                  .steps = riders->heap[0].turn - riders->launched };
    batch_train->forward.step.decode_cached += (double)riders->count;
    batch_train->waited = batch_train->queue.count;
}

static void batch_train_start(struct replica *replica, double now)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    struct decodes *riders = &batch_train->riders;
    struct sim_step step = decodes_step(riders);
    if (batch_train->rides)
        return;
    assert(departure(batch_train, riders->launched) <= now);
    batch_train->boarded_count = 0;
    while (batch_train->queue.count && riders->count < replica->server->max_num_seqs)
        board(batch_train, &step, queue_pop(replica->simulation, &batch_train->queue));
    batch_train->rides = riders->count > 0;
    replica->next = INFINITY;
    batch_train->left -= (uint64_t)(step.decoding + step.prompt);
    counts(batch_train);
    assert(batch_train->rides || (!batch_train->left && !riders->cached));
    if (!batch_train->rides)
        return;
    simulation_ran(replica, departure(batch_train, riders->launched), replica->server->own[CADENCE],
                   &step);
    try_fast_forward(batch_train);
    replica->next = departure(batch_train, riders->launched + 1 + batch_train->forward.steps);
}

static void go_on(struct batch_train *batch_train, uint64_t rides)
{
    struct fast_forward *forward = &batch_train->forward;
    if (!rides)
        return;
    batch_train->replica.waiting = batch_train->waited;
    simulation_fast_forwarded(&batch_train->replica, forward, rides);
    batch_train->riders.launched += rides;
    batch_train->left -= rides * batch_train->riders.count;
    forward->from = departure(batch_train, batch_train->riders.launched + 1);
    forward->step.decode_cached += (double)(rides * batch_train->riders.count);
    forward->steps -= rides;
    counts(batch_train);
}

static void get_off(struct batch_train *batch_train, double now)
{
    struct decodes *riders = &batch_train->riders;
    while (riders->count && riders->heap[0].turn == riders->launched) {
        uint32_t id = decodes_pop(riders).id;
        uint64_t all = simulation_total(batch_train->replica.simulation, id) - 1;
        riders->cached -= (int64_t)all - 1 - (int64_t)riders->launched;
        simulation_done(batch_train->replica.simulation, id, now);
    }
}

static void batch_train_settle(struct replica *replica, double now)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    uint64_t rides = 0;
    if (batch_train->forward.steps &&
        moment_before(departure(batch_train, batch_train->riders.launched + 1), now))
        rides = next_ride(batch_train, now) - batch_train->riders.launched - 1;
    go_on(batch_train, rides < batch_train->forward.steps ? rides : batch_train->forward.steps);
}

static void leave_fast_forward(struct batch_train *batch_train, double now)
{
    batch_train_settle(&batch_train->replica, now);
    batch_train->forward.steps = 0;
    batch_train->replica.next = departure(batch_train,
                                          batch_train->riders.launched + batch_train->rides);
}

static void batch_train_end(struct replica *replica, double now)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    if (!batch_train->rides)                        /* it was waiting for its departure */
        return;
    if (!replica->next) {                           /* called at once: somebody left the queue */
        leave_fast_forward(batch_train, now);
        if (replica->next > now)
            return;
    }
    go_on(batch_train, batch_train->forward.steps);
    for (size_t i = 0; i < batch_train->boarded_count; i++)
        simulation_first_token(replica->simulation, batch_train->boarded[i], now);
    get_off(batch_train, now);
    batch_train->riders.launched++;
    batch_train->rides = false;
    counts(batch_train);
}

/* ---- who comes, who goes -------------------------------------------------------------------- */

/* It may board when this ride is over. */
static void batch_train_take(struct replica *replica, uint32_t id, double now)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    if (!batch_train->rides)
        batch_train->riders.launched = next_ride(batch_train, now);
    leave_fast_forward(batch_train, now);
    batch_train->left += tokens_of(batch_train, id);
    queue_last(replica->simulation, &batch_train->queue, id);
    counts(batch_train);
}

static bool batch_train_drop(struct replica *replica, uint32_t id)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    if (!queue_remove(replica->simulation, &batch_train->queue, id))
        return false;
    batch_train->left -= tokens_of(batch_train, id);
    if (batch_train->forward.steps)
        replica->next = 0;
    counts(batch_train);
    return true;
}

/* Those of the rides that have ended. */
static uint32_t batch_train_received(const struct replica *replica, uint32_t id)
{
    const struct batch_train *batch_train = (const struct batch_train *)replica;
    const struct decodes *riders = &batch_train->riders;
    for (size_t i = 0; i < riders->count; i++)
        if (riders->heap[i].id == id)
            return replica->simulation->want[id] - (uint32_t)(riders->heap[i].turn - riders->launched + 1);
    return replica->simulation->got[id];
}

static void batch_train_clear(struct replica *replica, double now)
{
    struct batch_train *batch_train = (struct batch_train *)replica;
    struct simulation *simulation = replica->simulation;
    batch_train_settle(replica, now);
    for (size_t i = 0; i < batch_train->riders.count; i++) {
        const struct decode *rider = &batch_train->riders.heap[i];
        simulation->got[rider->id] = simulation->want[rider->id] -
                                     (uint32_t)(rider->turn - batch_train->riders.launched + 1);
    }
    batch_train->queue = QUEUE_EMPTY;
    batch_train->riders.count = 0;
    batch_train->riders.cached = 0;
    batch_train->forward.steps = batch_train->left = 0;
    batch_train->rides = false;
    replica->next = INFINITY;
    counts(batch_train);
}

static struct replica *batch_train_open(struct arena *arena, struct simulation *simulation,
                                        const struct sim_server *server)
{
    size_t most = server->max_num_seqs + 1;
    struct batch_train *batch_train = arena_alloc(arena, sizeof *batch_train);
    assert(server->own[CADENCE] > 0);
    *batch_train = (struct batch_train){ .replica = { .server = server, .simulation = simulation,
                                                      .next = INFINITY },
                                         .queue = QUEUE_EMPTY,
                                         .boarded = arena_array(arena, most,
                                                                sizeof *batch_train->boarded) };
    batch_train->riders.heap = arena_array(arena, most, sizeof *batch_train->riders.heap);
    return &batch_train->replica;
}

const struct scheduler scheduler_batch_train = {
    .name = "train", .router = ROUTER_LEAST_TOKENS,
    .usual = { SIM_USUAL, .own[CADENCE] = 0.02 },
    .setting = { [CADENCE] = { "cadence", "s", 1e-6, "1us or more: 20ms" } },
    .size = sizeof(struct batch_train), .open = batch_train_open, .take = batch_train_take, .end = batch_train_end,
    .start = batch_train_start,
    .clear = batch_train_clear, .settle = batch_train_settle, .drop = batch_train_drop,
    .received = batch_train_received };
