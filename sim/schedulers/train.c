/* The lecture's train: it departs every `cadence` seconds, from time 0 on, full or not. A request
 * waits for the next departure; its first ride takes its whole prompt and gives a token, then each
 * ride gives one. Seats, first come first served; a ride takes the cadence, whatever is in it, and
 * there is always room for the cache. A request that finds a seat has its first token within one
 * to two cadences, after one and a half on average. */
#include "sim/schedulers/decodes.h"
#include "sim/schedulers/schedulers.h"

#include <assert.h>
#include <math.h>

enum { CADENCE };                   /* a setting: s between two departures */

struct train {
    struct engine engine;
    struct queue queue;
    struct decodes riders;          /* turns are rides; `launched` is the one that runs or comes */
    uint32_t *boarded;              /* with this ride */
    size_t boarded_count;
    bool rides;
    struct stretch stretch;         /* rides after this one; steps 0: none */
    size_t waited;                  /* requests, when it began */
    uint64_t left;                  /* tokens to process */
};

static double departure(const struct train *train, uint64_t ride)
{
    return (double)ride * train->engine.server->own[CADENCE];
}

/* The ride that departs now or next. */
static uint64_t next_ride(const struct train *train, double now)
{
    uint64_t ride = (uint64_t)fmax(0, floor(now / train->engine.server->own[CADENCE]) - 1);
    while (moment_before(departure(train, ride), now))
        ride++;
    return ride;
}

static uint64_t ready_of(const struct train *train, uint32_t id)
{
    uint64_t known = world_prompt(train->engine.world, id), ready = train->engine.world->ready[id];
    return ready < known ? ready : known - 1;
}

static uint64_t tokens_of(const struct train *train, uint32_t id)
{
    return world_total(train->engine.world, id) - 1 - ready_of(train, id);
}

static void counts(struct train *train)
{
    train->engine.waiting = train->queue.count;
    train->engine.running = train->riders.count;
    train->engine.tokens_left = train->left;
}

/* ---- a ride --------------------------------------------------------------------------------- */

static void board(struct train *train, struct sim_step *step, uint32_t id)
{
    const struct world *world = train->engine.world;
    struct decodes *riders = &train->riders;
    const uint64_t known = world_prompt(world, id), ready = ready_of(train, id);
    const double now = (double)(known - ready), before = (double)ready;
    step->prompt += now;
    step->prompt_cached += before;
    step->prompt_pairs += now * (before + now / 2);
    step->sequences++;
    riders->cached += (int64_t)known - 1 - (int64_t)riders->launched;
    decodes_push(riders, (struct decode){
        .turn = riders->launched + world->want[id] - world->got[id] - 1, .id = id });
    train->boarded[train->boarded_count++] = id;
}

/* Rides after this one in which the same go on, unless somebody comes. */
static void try_stretch(struct train *train)
{
    const struct decodes *riders = &train->riders;
    if (train->engine.world->options->stepping || train->boarded_count)
        return;                                     /* who waits still found no seat */
    train->stretch = (struct stretch){ .from = departure(train, riders->launched + 1),
                                       .first = train->engine.server->own[CADENCE],
                                       .step = decodes_step(riders),
                                       .steps = riders->heap[0].turn - riders->launched };
    train->stretch.step.decode_cached += (double)riders->count;
    train->waited = train->queue.count;
}

static void train_start(struct engine *engine, double now)
{
    struct train *train = (struct train *)engine;
    struct decodes *riders = &train->riders;
    struct sim_step step = decodes_step(riders);
    if (train->rides)
        return;
    assert(departure(train, riders->launched) <= now);
    train->boarded_count = 0;
    while (train->queue.count && riders->count < engine->server->max_num_seqs)
        board(train, &step, queue_pop(engine->world, &train->queue));
    train->rides = riders->count > 0;
    engine->next = INFINITY;
    train->left -= (uint64_t)(step.decoding + step.prompt);
    counts(train);
    assert(train->rides || (!train->left && !riders->cached));
    if (!train->rides)
        return;
    world_ran(engine, departure(train, riders->launched), engine->server->own[CADENCE], &step);
    try_stretch(train);
    engine->next = departure(train, riders->launched + 1 + train->stretch.steps);
}

static void go_on(struct train *train, uint64_t rides)
{
    struct stretch *stretch = &train->stretch;
    if (!rides)
        return;
    train->engine.waiting = train->waited;
    world_stretched(&train->engine, stretch, rides);
    train->riders.launched += rides;
    train->left -= rides * train->riders.count;
    stretch->from = departure(train, train->riders.launched + 1);
    stretch->step.decode_cached += (double)(rides * train->riders.count);
    stretch->steps -= rides;
    counts(train);
}

static void get_off(struct train *train, double now)
{
    struct decodes *riders = &train->riders;
    while (riders->count && riders->heap[0].turn == riders->launched) {
        uint32_t id = decodes_pop(riders).id;
        uint64_t all = world_total(train->engine.world, id) - 1;
        riders->cached -= (int64_t)all - 1 - (int64_t)riders->launched;
        world_done(train->engine.world, id, now);
    }
}

static void train_settle(struct engine *engine, double now)
{
    struct train *train = (struct train *)engine;
    uint64_t rides = 0;
    if (train->stretch.steps && moment_before(departure(train, train->riders.launched + 1), now))
        rides = next_ride(train, now) - train->riders.launched - 1;
    go_on(train, rides < train->stretch.steps ? rides : train->stretch.steps);
}

static void leave_stretch(struct train *train, double now)
{
    train_settle(&train->engine, now);
    train->stretch.steps = 0;
    train->engine.next = departure(train, train->riders.launched + train->rides);
}

static void train_end(struct engine *engine, double now)
{
    struct train *train = (struct train *)engine;
    if (!train->rides)                              /* it was waiting for its departure */
        return;
    if (!engine->next) {                            /* called at once: somebody left the queue */
        leave_stretch(train, now);
        if (engine->next > now)
            return;
    }
    go_on(train, train->stretch.steps);
    for (size_t i = 0; i < train->boarded_count; i++)
        world_first_token(engine->world, train->boarded[i], now);
    get_off(train, now);
    train->riders.launched++;
    train->rides = false;
    counts(train);
}

/* ---- who comes, who goes -------------------------------------------------------------------- */

/* It may board when this ride is over. */
static void train_take(struct engine *engine, uint32_t id, double now)
{
    struct train *train = (struct train *)engine;
    if (!train->rides)
        train->riders.launched = next_ride(train, now);
    leave_stretch(train, now);
    train->left += tokens_of(train, id);
    queue_last(engine->world, &train->queue, id);
    counts(train);
}

static bool train_drop(struct engine *engine, uint32_t id)
{
    struct train *train = (struct train *)engine;
    if (!queue_remove(engine->world, &train->queue, id))
        return false;
    train->left -= tokens_of(train, id);
    if (train->stretch.steps)
        engine->next = 0;
    counts(train);
    return true;
}

static void train_clear(struct engine *engine, double now)
{
    struct train *train = (struct train *)engine;
    struct world *world = engine->world;
    train_settle(engine, now);
    for (size_t i = 0; i < train->riders.count; i++) {
        const struct decode *rider = &train->riders.heap[i];
        world->got[rider->id] = world->want[rider->id] -
                                (uint32_t)(rider->turn - train->riders.launched + 1);
    }
    train->queue = QUEUE_EMPTY;
    train->riders.count = 0;
    train->riders.cached = 0;
    train->stretch.steps = train->left = 0;
    train->rides = false;
    engine->next = INFINITY;
    counts(train);
}

static struct engine *train_open(struct arena *arena, struct world *world,
                                 const struct sim_server *server)
{
    size_t most = server->max_num_seqs + 1;
    struct train *train = arena_alloc(arena, sizeof *train);
    assert(server->own[CADENCE] > 0);
    *train = (struct train){ .engine = { .server = server, .world = world, .next = INFINITY },
                             .queue = QUEUE_EMPTY,
                             .boarded = arena_array(arena, most, sizeof *train->boarded) };
    train->riders.heap = arena_array(arena, most, sizeof *train->riders.heap);
    return &train->engine;
}

const struct scheduler scheduler_train = {
    .name = "train", .router = ROUTER_LEAST_TOKENS,
    .usual = { SIM_USUAL, .own[CADENCE] = 0.02 },
    .setting = { [CADENCE] = { "cadence", "s", 1e-6, "1us or more: 20ms" } },
    .open = train_open, .take = train_take, .end = train_end, .start = train_start,
    .clear = train_clear, .settle = train_settle, .drop = train_drop };
