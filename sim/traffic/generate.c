/* Draws the requests of a synthetic load: arrivals, lengths, sessions and classes.
 *
 * Every session draws its quantities from random streams of its own, named by what is drawn, so
 * that changing one distribution leaves all other draws the same, and a longer trace begins with
 * the shorter one. Gaps between arrivals are exponential, constant, or gamma with a given
 * coefficient of variation. Turns of a session contain the turns before them as their prefix.
 * Requests are sorted by arrival, ties in the order of sessions. */
#include "sim/traffic/generate_plan.h"
#include "rows/random.h"

#include <math.h>
#include <stdlib.h>

/* A request, before its number in the trace is known. */
struct session_turn {
    double time;                    /* s, if answers took no time */
    double wait;                    /* s; NAN for the first of a session */
    uint32_t session, turn, prompt, output;
    uint8_t priority_class;
};

struct maker {
    struct arena *arena;
    struct error *error;
    struct traffic_plan plan;
    size_t priority_classes;
    struct session_turn *turns;
    size_t count, room;
    struct random arrivals;
    double now;                     /* when the next session arrives, s */
    uint32_t session;               /* its number */
};

/* Requests that are drawn while they are read. */
struct drawn {
    struct trace_source source;
    struct maker maker;             /* before the next of them */
    double scale;
};

/* ---- draws ---------------------------------------------------------------------------------- */

/* Whole: of a range both ends too; others go to the nearest, at least 1. */
static double draw_length(const struct amount *amount, struct random *random)
{
    if (amount->kind == AMOUNT_UNIFORM)
        return amount->a + (double)random_below(random, (size_t)(amount->b - amount->a) + 1);
    return fmax(floor(amount_draw(amount, random) + 0.5), 1);
}

/* Arrivals per second at a time. */
static double rate_at(const struct traffic_plan *plan, double time)
{
    const struct rate_curve *curve = &plan->curve;
    size_t at = 0;
    if (!curve->count) {                            /* up and down by 3 x^2 - 2 x^3, which is near a cosine */
        const double part = 2 * fmod(time, plan->period) / plan->period, x = part > 1 ? 2 - part : part;
        return plan->rate + (plan->peak - plan->rate) * x * x * (3 - 2 * x);
    }
    while (at < curve->count && curve->time[at] <= time)
        at++;
    if (!at || at == curve->count)
        return curve->rate[at ? at - 1 : 0];
    const double share = (time - curve->time[at - 1]) / (curve->time[at] - curve->time[at - 1]);
    return curve->rate[at - 1] + share * (curve->rate[at] - curve->rate[at - 1]);
}

/* Of arrivals at the highest rate some are left out (Lewis and Shedler 1979); a curve that ends at 0 ends the
 * trace. */
static double draw_changing_gap(const struct traffic_plan *plan, double now, struct random *random)
{
    const struct rate_curve *curve = &plan->curve;
    const double most = curve->count ? curve->most : plan->peak, begin = now;
    const bool ends = curve->count && !(curve->rate[curve->count - 1] > 0);
    do {
        now += random_exponential(random) / most;
        if (ends && now > curve->time[curve->count - 1])
            return INFINITY;
    } while (random_uniform(random) * most >= rate_at(plan, now));
    return now - begin;
}

static double draw_gap(const struct traffic_plan *plan, double now, struct random *random)
{
    if (plan->peak > 0 || plan->curve.count)
        return draw_changing_gap(plan, now, random);
    const double shape = 1 / (plan->cv * plan->cv);
    switch (plan->kind) {
    case KIND_POISSON: return random_exponential(random) / plan->rate;
    case KIND_GAMMA:   return random_gamma(random, shape) / shape / plan->rate;
    default:           return 1 / plan->rate;
    }
}

static uint8_t draw_class(const struct maker *maker, struct random *random)
{
    double u = random_uniform(random);
    size_t priority_class = 0;
    while (priority_class + 1 < maker->priority_classes && u >= maker->plan.shares[priority_class])
        u -= maker->plan.shares[priority_class++];
    return (uint8_t)priority_class;
}

/* What is drawn for one session, each from a sequence of its own. */
struct session_draws {
    struct random input, output, pair, turns, wait, priority_class;
};

static void draws_open(struct session_draws *draws, uint64_t seed, size_t session)
{
    random_stream(&draws->input, seed, "input", session);
    random_stream(&draws->output, seed, "output", session);
    random_stream(&draws->pair, seed, "lengths", session);
    random_stream(&draws->turns, seed, "turns", session);
    random_stream(&draws->wait, seed, "wait", session);
    random_stream(&draws->priority_class, seed, "class", session);
}

/* ---- sessions ------------------------------------------------------------------------------- */

static bool fits(const struct maker *maker, const struct session_turn *turn, const char *what,
                 double number, double most)
{
    if (number <= most)
        return true;
    error_set(maker->error, "%s: turn %u of session %u has %s of %.10g",
              generate_kinds[maker->plan.kind], turn->turn + 1, turn->session + 1, what, number);
    return error_expected(maker->error, "at most %.10g: fewer turns, or smaller numbers", most);
}

static bool too_many(const struct maker *maker, int most)
{
    error_set(maker->error, "%s: more than %d requests", generate_kinds[maker->plan.kind], most);
    return error_expected(maker->error, "a lower rate or count, a shorter duration, or fewer turns; more without turns, users and "
                          "--requests, which keep each");
}

static void draw_lengths(const struct traffic_plan *plan, struct session_draws *draws, double *input,
                         double *output)
{
    if (plan->lengths.count) {
        size_t pair = random_below(&draws->pair, plan->lengths.count);
        *input = plan->lengths.prompt[pair];
        *output = plan->lengths.output[pair];
    } else {
        *input = draw_length(&plan->input, &draws->input);
        *output = draw_length(&plan->output, &draws->output);
    }
}

/* A turn after `before` tokens of its session, to which it adds its own. */
static bool draw_turn(const struct maker *maker, struct session_draws *draws, struct session_turn *turn,
                      double *before)
{
    double input, output;
    draw_lengths(&maker->plan, draws, &input, &output);
    turn->wait = turn->turn ? amount_draw(&maker->plan.wait, &draws->wait) : NAN;
    turn->time += turn->turn ? turn->wait : 0;
    if (!fits(maker, turn, "a prompt", *before + input, LENGTH_MOST) ||
        !fits(maker, turn, "an output", output, LENGTH_MOST) ||
        !fits(maker, turn, "a time", turn->time, TIME_MOST))
        return false;
    turn->prompt = (uint32_t)(*before + input);
    turn->output = (uint32_t)output;
    *before += input + output;
    return true;
}

static bool draw_session(struct maker *maker, uint32_t session, double arrival)
{
    struct session_draws draws;
    draws_open(&draws, maker->plan.seed, session);
    struct session_turn turn = { .time = arrival, .session = session,
                         .priority_class = draw_class(maker, &draws.priority_class) };
    double turns = amount_draw(&maker->plan.turns, &draws.turns), before = 0;
    if (turns > (double)(GENERATE_MOST - maker->count))
        return too_many(maker, GENERATE_MOST);
    for (; turn.turn < (uint32_t)turns; turn.turn++) {
        if (!draw_turn(maker, &draws, &turn, &before))
            return false;
        *(struct session_turn *)arena_push(maker->arena, &maker->turns, &maker->count, &maker->room,
                                   sizeof turn) = turn;
    }
    return true;
}

static bool more_come(const struct maker *maker)
{
    const struct traffic_plan *plan = &maker->plan;
    return plan->duration < INFINITY ? maker->now < plan->duration : maker->session < plan->count && maker->now < INFINITY;
}

static bool draw_next(struct maker *maker)
{
    if (!draw_session(maker, maker->session++, maker->now))
        return false;
    maker->now += draw_gap(&maker->plan, maker->now, &maker->arrivals);
    return true;
}

/* ---- drawn while it is read ------------------------------------------------------------------- */

/* A session of one turn; false with an error. */
static const struct session_turn *draw_one(struct maker *maker)
{
    maker->count = 0;
    return draw_next(maker) ? maker->turns : NULL;
}

static void draw_some(struct trace_source *source, const struct trace *trace, size_t first, size_t end)
{
    struct drawn *drawn = (struct drawn *)source;
    for (size_t i = first; i < end; i++) {
        const struct session_turn *turn = draw_one(&drawn->maker);
        trace->arrival[i] = turn->time / drawn->scale;
        trace->prompt[i] = turn->prompt;
        trace->output[i] = turn->output;
    }
}

/* Draw all requests once, to count them. */
static bool count_drawn(struct arena *arena, const struct maker *start, struct trace *trace)
{
    struct drawn *drawn = arena_alloc(arena, sizeof *drawn);
    struct maker maker = *start;
    *drawn = (struct drawn){ .source.draw = draw_some, .maker = *start, .scale = 1 };
    trace->source = &drawn->source;
    for (; more_come(&maker); trace->count++) {
        const struct session_turn *turn = draw_one(&maker);
        if (!turn || trace->count == GENERATE_DRAWN_MOST)
            return turn && too_many(&maker, GENERATE_DRAWN_MOST);
        trace_sums_add(&drawn->source.sums, trace->count, turn->time, turn->prompt, turn->output);
    }
    return true;
}

void generate_again(struct arena *arena, const struct trace *trace, double scale, bool kept, struct trace *again)
{
    struct drawn *drawn = arena_alloc(arena, sizeof *drawn);
    *drawn = *(const struct drawn *)trace->source;
    drawn->maker.arena = arena;
    drawn->maker.turns = NULL;
    drawn->maker.room = 0;
    drawn->scale = scale;
    drawn->source.sums.last /= scale;
    *again = *trace;
    again->arrival = arena_array(arena, trace->count, sizeof *again->arrival);
    again->prompt = arena_array(arena, trace->count, sizeof *again->prompt);
    again->output = arena_array(arena, trace->count, sizeof *again->output);
    again->source = kept ? NULL : &drawn->source;
    if (kept)
        draw_some(&drawn->source, again, 0, trace->count);
}

/* ---- the trace ------------------------------------------------------------------------------ */

static int in_order(const void *a, const void *b)
{
    const struct session_turn *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static void fill_trace(const struct maker *maker, struct trace *trace)
{
    struct arena *arena = maker->arena;
    const size_t count = trace->count = maker->count;
    bool later = false;
    trace->arrival = arena_array(arena, count, sizeof *trace->arrival);
    trace->prompt = arena_array(arena, count, sizeof *trace->prompt);
    trace->output = arena_array(arena, count, sizeof *trace->output);
    trace->before = arena_array(arena, count, sizeof *trace->before);
    trace->wait = arena_array(arena, count, sizeof *trace->wait);
    trace->priority_class = trace->priority_classes
        ? arena_array(arena, count, sizeof *trace->priority_class) : NULL;
    trace->blocks = arena_alloc(arena, sizeof *trace->blocks);          /* none, and no NULL */
    uint32_t *last = arena_array(arena, count, sizeof *last);           /* of each session */
    for (size_t i = 0; i < count; i++) {
        const struct session_turn *turn = &maker->turns[i];
        trace->arrival[i] = turn->time;
        trace->prompt[i] = turn->prompt;
        trace->output[i] = turn->output;
        trace->wait[i] = turn->wait;
        trace->before[i] = turn->turn ? last[turn->session] : UINT32_MAX;
        last[turn->session] = (uint32_t)i;
        later |= turn->turn > 0;
        if (trace->priority_class)
            trace->priority_class[i] = turn->priority_class;
    }
    if (!later)
        trace->before = NULL, trace->wait = NULL;
}

bool generate_trace(struct arena *arena, const char *words, struct trace *trace,
                    struct error *error)
{
    struct generate_change none = { 0 };
    return generate_changed(arena, words, &none, trace, error);
}

bool generate_changed(struct arena *arena, const char *words, struct generate_change *change, struct trace *trace,
                      struct error *error)
{
    struct maker maker = { .arena = arena, .error = error };
    *trace = (struct trace){ 0 };
    if (!generate_read(arena, words, change, &maker.plan, trace, error))
        return false;
    maker.priority_classes = trace->priority_classes;
    random_stream(&maker.arrivals, maker.plan.seed, "arrivals", 0);
    const struct maker start = maker;
    const bool single = maker.plan.turns.kind == AMOUNT_FIXED && maker.plan.turns.a == 1 && !maker.priority_classes;
    const bool forget = change->forget && single, counted = maker.plan.duration == INFINITY;
    if (counted && !forget && maker.plan.count > GENERATE_MOST)
        return too_many(&maker, GENERATE_MOST);
    while (more_come(&maker) && !(forget && (counted ? maker.plan.count : maker.count) > GENERATE_KEPT))
        if (!draw_next(&maker))
            return false;
    if (more_come(&maker)) {
        if (!count_drawn(arena, &start, trace))
            return false;
    } else {
        qsort(maker.turns, maker.count, sizeof *maker.turns, in_order);
        fill_trace(&maker, trace);
    }
    trace->arrivals_cv2 = maker.plan.kind == KIND_CONSTANT ? 0 : maker.plan.kind == KIND_GAMMA ? pow(maker.plan.cv, 2) : 1;
    return true;
}
