/* The time of a step, by the function that `simulate` calls for each step. */
#include "ask/simulate/simulate.h"
#include "library/library.h"
#include "scenario/figures.h"

#include <float.h>
#include <math.h>

/* What one thread needs to time steps: as predicted, and at both ends of the interval. */
struct stepper {
    struct arena *arena;
    struct step_times times;
};

struct chalkline_server {
    struct arena *arena;
    struct request_command asked;
    struct simulate simulate;
    struct step_parts *parts;
    double ends[STEP_TIMES];
    struct spares steppers;
};

struct server_opening {
    const char *json;
    struct chalkline_server *server;        /* NULL: `error` says why */
    struct error error;
};

static void open_server(void *context)
{
    struct server_opening *opening = context;
    struct arena *arena = arena_new();
    struct chalkline_server *server = arena_alloc(arena, sizeof *server);
    struct command *command = &server->asked.command;
    struct error *error = &opening->error;
    server->arena = arena;
    bool good = library_command(arena, "simulate", opening->json, &server->asked, error);
    if (good && !command->word_count)
        command_put_word(arena, command, "poisson:rate=1,count=1");
    good = good && simulate_read(arena, command, &server->simulate, error) &&
           step_times_ends(&server->simulate, server->ends, error) && simulate_parts_open(&server->simulate, &server->parts, error);
    if (good)
        opening->server = server;
    else
        arena_end(arena);
}

int chalkline_step_open(struct chalkline_library *library, const char *json, struct chalkline_server **server,
                        struct chalkline_error *error)
{
    struct server_opening opening = { .json = json };
    const int status = library_call(library, open_server, &opening, error);
    *server = opening.server;
    if (!status && !*server)
        library_error(error, &opening.error);
    return status ? status : *server ? CHALKLINE_ANSWERED : CHALKLINE_REFUSED;
}

static struct sim_step step_of(const struct chalkline_batch *batch)
{
    return (struct sim_step){
        .decoding = batch->decoding, .decode_cached = batch->decode_cached, .drafts = batch->drafts,
        .prompt = batch->prompt, .prompt_cached = batch->prompt_cached, .prompt_pairs = batch->prompt_pairs,
        .sequences = batch->sequences, .begun = batch->begun, .imbalance = batch->imbalance };
}

void chalkline_batch_add(struct chalkline_batch *batch, double tokens, double cached, int decodes)
{
    struct sim_step step = step_of(batch);
    sim_step_add(&step, tokens, cached, decodes);
    *batch = (struct chalkline_batch){
        .sequences = step.sequences, .decoding = step.decoding, .decode_cached = step.decode_cached, .drafts = step.drafts,
        .prompt = step.prompt, .prompt_cached = step.prompt_cached, .prompt_pairs = step.prompt_pairs, .begun = step.begun,
        .imbalance = step.imbalance };
}

static bool sums_hold(const struct chalkline_batch *batch)
{
    return column_within((const double *)batch, sizeof *batch / sizeof(double), 0, DBL_MAX);
}

struct stepping {
    const struct chalkline_server *server;
    struct stepper *stepper;
};

static void make_stepper(void *context)
{
    struct stepping *stepping = context;
    const struct chalkline_server *server = stepping->server;
    struct arena *arena = arena_new();
    struct stepper *stepper = arena_alloc(arena, sizeof *stepper);
    stepper->arena = arena;
    step_times_open(arena, &server->simulate, server->ends, &stepper->times);
    stepping->stepper = stepper;
}

double chalkline_step(const struct chalkline_server *server, const struct chalkline_batch *batch, double interval[2])
{
    const struct sim_step step = step_of(batch);
    struct stepping stepping = { server, spares_take(&server->steppers) };
    double times[STEP_TIMES] = { NAN, NAN, NAN };
    const bool ready = sums_hold(batch) && (stepping.stepper || !library_call(NULL, make_stepper, &stepping, NULL));
    if (ready)
        step_times_of(&stepping.stepper->times, &step, times, interval ? STEP_TIMES : 1);
    if (!isfinite(times[STEP_TIME]))
        times[STEP_TIME] = times[STEP_LOW] = times[STEP_LOW + 1] = NAN;
    for (int i = 0; interval && i < 2; i++)
        interval[i] = times[STEP_LOW + i];
    if (stepping.stepper && !spares_give(&server->steppers, stepping.stepper))
        arena_end(stepping.stepper->arena);
    return times[STEP_TIME];
}

struct parting {
    const struct chalkline_server *server;
    struct sim_step step;
    struct chalkline_part *parts;
    size_t most, count;
};

static void find_parts(void *context)
{
    struct parting *parting = context;
    struct arena arena = { 0 };
    const struct breakdown found = simulate_parts_of(&arena, parting->server->parts, &parting->step);
    parting->count = found.count;
    for (size_t i = 0; i < found.count && i < parting->most; i++)
        parting->parts[i] = (struct chalkline_part){
            row_name(formulas_row(&parting->server->simulate.scenario.formulas, (size_t)found.at[i].row)), found.at[i].value };
    arena_free(&arena);
}

size_t chalkline_step_parts(const struct chalkline_server *server, const struct chalkline_batch *batch,
                            struct chalkline_part *parts, size_t most)
{
    struct parting parting = { server, step_of(batch), parts, most, 0 };
    return server->parts && sums_hold(batch) && !library_call(NULL, find_parts, &parting, NULL) ? parting.count : 0;
}

void chalkline_step_close(struct chalkline_server *server)
{
    if (!server)
        return;
    for (struct stepper *stepper; (stepper = spares_take(&server->steppers));)
        arena_end(stepper->arena);
    arena_end(server->arena);
}
