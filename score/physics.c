/* Measurements against physics: bounds, room, and Little's law (physics.h). */
#include "score/physics.h"

#include "build/row_names.h"

#include <math.h>

const double physics_few = 0.8;
const double physics_overload = 1 / 0.9;

enum { FITS, RUNNING, RUNNING_SHARE, SLOTS, SLOTS_DISTANCE, LOAD, BOUNDS };

/* The rows of struct revealed, then the bounds of figures.def. */
static const char *const server_rows[] = {
    [FITS] = NAME_replica_fits, [RUNNING] = NAME_measured_running,
    [RUNNING_SHARE] = NAME_measured_running_share, [SLOTS] = NAME_measured_slots,
    [SLOTS_DISTANCE] = NAME_measured_slots_distance, [LOAD] = NAME_measured_load,
    [BOUNDS] = NAME_measured_step_bound, NAME_ttft_bound, NAME_disagg_ttft_bound,
    NAME_static_batch_bound,
};
static const char *const kernel_rows[] = { NAME_attention_decode_bf16_bound,
                                           NAME_attention_decode_fp8_bound };
enum { SERVER_ROWS = sizeof server_rows / sizeof *server_rows,
       KERNEL_ROWS = sizeof kernel_rows / sizeof *kernel_rows };

void physics_open(struct physics *physics, struct arena *arena, const struct command *command)
{
    *physics = (struct physics){
        .arena = arena,
        .servers = { .arena = arena, .command = command, .rows = server_rows, .row_count = SERVER_ROWS },
        .kernels = { .arena = arena, .command = command, .rows = kernel_rows, .row_count = KERNEL_ROWS } };
}

static double bound_of(const char *const *rows, const double *values, size_t count, const char *bound)
{
    const size_t at = bound ? name_index(rows, count, bound) : count;
    return at < count ? values[at] : 0;
}

static bool measures(const struct measured *point, enum metric metric)
{
    for (int i = 0; i < point->value_count; i++)
        if (point->values[i].metric == metric)
            return true;
    return false;
}

/* A limit on sequences shows as a power of two that the running ones keep to. Above some tens the powers
 * are so far apart, and loads so often powers themselves, that one is met by chance. */
static double slots_limit(const struct measured *point, const double *values)
{
    const double near = 0.03, most = 64;            /* compared halfway down to the power below */
    const bool stated = !isnan(measured_input(point, NAME_max_num_seqs, NAN));
    return !stated && values[SLOTS_DISTANCE] <= near && values[RUNNING_SHARE] < physics_few &&
           values[SLOTS] < 0.75 * most ? values[SLOTS] : 0;
}

bool physics_reveal(struct physics *physics, const struct measured *point, struct revealed *revealed)
{
    struct predictor *predictor = point->model ? &physics->servers : &physics->kernels;
    const struct setup *setup = predictor_find(predictor, point);
    struct arena scratch = arena_beside(physics->arena);
    double values[SERVER_ROWS];
    *revealed = (struct revealed){ true, NAN, NAN, 0, NAN, { 0 } };
    if (setup->refused)
        return false;
    predictor_rows(&scratch, setup, point, values);
    arena_free(&scratch);
    for (int i = 0; i < point->value_count; i++)
        if (point->values[i].value > 0)
            revealed->excess[i] = bound_of(predictor->rows, values, predictor->row_count,
                                           point->values[i].bound) / point->values[i].value;
    if (!point->model)
        return true;
    revealed->fits = values[FITS] > 0;
    if (measures(point, METRIC_TPOT))
        revealed->load = values[LOAD];
    if (measures(point, METRIC_TPOT) && measures(point, METRIC_TTFT)) {
        revealed->running = values[RUNNING];
        revealed->running_share = values[RUNNING_SHARE];
        revealed->limit = slots_limit(point, values);
    }
    return true;
}

static const char *faster(struct physics *physics, const struct measured *point,
                          const struct revealed *revealed)
{
    static const char *const whats[METRICS] = {
        [METRIC_TPOT] = "a token faster than memory and peak allow",
        [METRIC_TTFT] = "a prompt faster than the peak, so cached in part",
        [METRIC_KERNEL] = "a kernel faster than memory allows" };
    for (int i = 0; i < point->value_count; i++)
        if (revealed->excess[i] > 1 && whats[point->values[i].metric])
            return arena_print(physics->arena, "%s: by %.2f x", whats[point->values[i].metric],
                               revealed->excess[i]);
    return NULL;
}

static const char *slots(struct physics *physics, const struct revealed *revealed)
{
    if (!revealed->limit)
        return NULL;
    return arena_print(physics->arena, "fewer sequences ran than were sent, by Little's law: %.3g of %.3g in "
                                       "a worker, a limit of %.0f that is not stated",
                       revealed->running, revealed->running / revealed->running_share, revealed->limit);
}

const char *physics_refuse(struct physics *physics, const struct measured *point)
{
    struct revealed revealed;
    bool checked = !point->model;
    for (int i = 0; i < point->value_count; i++)
        checked |= point->values[i].metric != METRIC_STEP;
    if (!checked || !physics_reveal(physics, point, &revealed))
        return NULL;
    if (!revealed.fits)
        return "the server does not fit its memory";
    if (revealed.load > physics_overload)
        return arena_print(physics->arena, "past saturation: %.2f x what the server can do", revealed.load);
    const char *refused = faster(physics, point, &revealed);
    return refused ? refused : slots(physics, &revealed);
}
