/* The time of a step, by the function that `simulate` calls for each step. */
#include "ask/simulate/simulate.h"
#include "library/library.h"

#include <math.h>

enum { VALUE, LOW, HIGH, TIMES };

/* What one thread needs to time steps: as predicted, and at both ends of the interval. */
struct stepper {
    struct arena *arena;
    struct sim_server times[TIMES];
};

struct chalkline_server {
    struct arena *arena;
    struct request_command asked;
    struct simulate simulate;
    double ends[2];                 /* of the interval, as factors; 0: it has none */
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
           (!server->simulate.predicted || command_given(command, "step-time") ||
            simulate_band_ends(&server->simulate, server->ends, error));
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

void chalkline_batch_add(struct chalkline_batch *batch, double tokens, double cached, int decodes)
{
    batch->sequences++;
    if (decodes) {
        batch->decoding++;
        batch->decode_cached += cached;
        batch->drafts += tokens - 1;
        return;
    }
    batch->prompt += tokens;
    batch->prompt_cached += cached;
    batch->prompt_pairs += tokens * (cached + tokens / 2);
    batch->begun += cached == 0;
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
    const double bands[TIMES] = { [LOW] = server->ends[0], [HIGH] = server->ends[1] };
    stepper->arena = arena;
    for (int i = 0; i < TIMES; i++)
        stepper->times[i] = simulate_own(arena, &server->simulate.options.server, bands[i]);
    stepping->stepper = stepper;
}

double chalkline_step(const struct chalkline_server *server, const struct chalkline_batch *batch, double interval[2])
{
    const struct sim_step step = {
        .decoding = batch->decoding, .decode_cached = batch->decode_cached, .drafts = batch->drafts,
        .prompt = batch->prompt, .prompt_cached = batch->prompt_cached, .prompt_pairs = batch->prompt_pairs,
        .sequences = batch->sequences, .begun = batch->begun, .imbalance = batch->imbalance };
    struct stepping stepping = { server, spares_take(&server->steppers) };
    double times[TIMES] = { NAN, NAN, NAN };
    const bool sums = column_within((const double *)batch, sizeof *batch / sizeof(double), 0, INFINITY);
    const bool ready = sums && (stepping.stepper || !library_call(NULL, make_stepper, &stepping, NULL));
    for (int i = 0; ready && i < (interval ? TIMES : 1); i++)
        times[i] = stepping.stepper->times[i].seconds(stepping.stepper->times[i].context, &step);
    for (int i = 0; interval && i < 2; i++)
        interval[i] = times[LOW + i];
    if (stepping.stepper && !spares_give(&server->steppers, stepping.stepper))
        arena_end(stepping.stepper->arena);
    return times[VALUE];
}

void chalkline_step_close(struct chalkline_server *server)
{
    if (!server)
        return;
    for (struct stepper *stepper; (stepper = spares_take(&server->steppers));)
        arena_end(stepper->arena);
    arena_end(server->arena);
}
