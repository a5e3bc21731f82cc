/* The search space of `train`: every layout of the given number of chips that divides evenly.
 *
 * Axes are nested: tensor, pipeline, context and expert parallelism, virtual stages, sharding
 * (ZeRO), recomputation, offloading; the candidates of an axis depend on the axes above it.
 * Whatever the user gave is a fixed axis. Micro-batch sizes are the column: all up to 64, then
 * steps of a quarter of a power of two. Layouts that do not divide evenly are removed by rows, and
 * only if nothing is left are they searched again with each kind of unevenness as a limit, to say
 * which one failed. */
#include "ask/train/train.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const train_figures[TRAIN_FIGURE_COUNT] = {
#define X(name) NAME_##name,
    TRAIN_FIGURES(X)
#undef X
};

/* ---- settings --------------------------------------------------------------------------------- */

enum { VALUES_MOST = 4096 };

struct train_settings {
    struct train *train;
    double layers, experts;
    bool reversible;                /* the layers are recomputed in any case */
    double only[TRAIN_AXES];        /* the user's number, or NAN */
    double *at;
    size_t count, room;
};

/* Candidates of an axis at the values of the axes above it, at most VALUES_MOST; their number. */
typedef size_t axis_values(const struct train_settings *settings, const double *at, double *out);

double train_given(const struct train *train, const char *row)
{
    const struct fact *fact = facts_find(&train->scenario.facts, row);
    struct scenario same = train->scenario;
    if (!fact_given(fact))
        return NAN;
    return !fact->expression ? fact->value : value_or_nan(&same, row);
}

/* Divisors of a number of chips. */
static size_t divisors(double chips, double most, double *out)
{
    size_t count = 0;
    for (double n = 1; n <= fmin(chips, most) && count < VALUES_MOST; n++)
        if (fmod(chips, n) == 0)
            out[count++] = n;
    return count;
}

/* Wider than 64 only where the user asks for it. */
static size_t tensor_sizes(const struct train_settings *settings, const double *at, double *out)
{
    (void)at;
    return divisors(settings->train->chips, fmax(64, settings->only[TRAIN_AT_tensor_parallel]), out);
}

static size_t stage_counts(const struct train_settings *settings, const double *at, double *out)
{
    return divisors(settings->train->chips / at[TRAIN_AT_tensor_parallel], settings->layers, out);
}

static size_t ring_sizes(const struct train_settings *settings, const double *at, double *out)
{
    return divisors(settings->train->chips / at[TRAIN_AT_tensor_parallel] / at[TRAIN_AT_pipeline_parallel],
                    fmax(64, settings->only[TRAIN_AT_context_parallel]), out);
}

static size_t expert_ranks(const struct train_settings *settings, const double *at, double *out)
{
    return divisors(settings->train->chips / at[TRAIN_AT_pipeline_parallel], settings->experts, out);
}

static size_t beside_tensor(const struct train_settings *settings, const double *at, double *out)
{
    (void)settings;
    *out = at[TRAIN_AT_tensor_parallel] > 1;
    return 1;
}

static size_t chunk_counts(const struct train_settings *settings, const double *at, double *out)
{
    const double stages = at[TRAIN_AT_pipeline_parallel];
    size_t count = 0;
    for (double chunks = 1; chunks * stages <= settings->layers && count < VALUES_MOST &&
                            (stages > 1 || !count); chunks++)
        out[count++] = chunks;
    return count;
}

static size_t zero_stages(const struct train_settings *settings, const double *at, double *out)
{
    (void)settings, (void)at;
    out[0] = 1, out[1] = 2, out[2] = 3;
    return 3;
}

static size_t switched(double *out, bool may)
{
    out[0] = 0, out[1] = 1;
    return may ? 2 : 1;
}

static size_t unless_reversible(const struct train_settings *settings, const double *at, double *out)
{
    (void)at;
    return switched(out, !settings->reversible);
}

/* Recompute the attention scores alone, unless all is recomputed. */
static size_t unless_full(const struct train_settings *settings, const double *at, double *out)
{
    (void)settings;
    return switched(out, !(at[TRAIN_AT_recompute_full] > 0));
}

static axis_values *const values_of_axis[TRAIN_AXES] = {
#define AXIS(row, loop, least, most, start, values, free, told) values,
#include "ask/train/train_axes.def"
#undef AXIS
};
const struct train_axis train_axes[TRAIN_AXES] = {
#define AXIS(row, loop, least, most, start, values, free, told) \
    { NAME_##row, told, loop, least, most, start, free },
#include "ask/train/train_axes.def"
#undef AXIS
};

/* All settings whose axes below `axis` are as in `at`. */
static void add_settings(struct train_settings *settings, int axis, double *at)
{
    if (axis == TRAIN_AXES) {
        for (int i = 0; i < TRAIN_AXES; i++)
            *(double *)arena_push(settings->train->arena, &settings->at, &settings->count,
                                  &settings->room, sizeof(double)) = at[i];
        return;
    }
    const double only = settings->only[axis];
    double values[VALUES_MOST];
    size_t count = values_of_axis[axis](settings, at, values);
    if (!isnan(only) && train_axes[axis].free)
        values[0] = only, count = 1;
    for (size_t i = 0; i < count; i++)
        if (isnan(only) || values[i] == only) {
            at[axis] = values[i];
            add_settings(settings, axis + 1, at);
        }
}

/* ---- the list --------------------------------------------------------------------------------- */

enum { SPEED, THROUGHPUT, MOST, POSSIBLE, MEMORY, HOST, OUTPUTS };

typedef bool values_function(struct scenario *scenario, const char *const *texts, size_t count,
                             struct values *values, struct error *error);

/* The list of some texts with only the axes and the micro-batch left to vary, simplified for the ranges
 * that these can have; the scale of a part stays around 1. */
static bool short_list(struct train *train, const char *const *texts, size_t count,
                       values_function *read, struct graph *graph)
{
    struct values values;
    struct graph left;
    if (!read(&train->scenario, texts, count, &values, train->error))
        return false;
    bool *vary = arena_array(train->arena, values.graph.input_count + 1, sizeof *vary);
    for (int i = 0; i <= TRAIN_AXES; i++) {
        int input = graph_input(&values.graph, i < TRAIN_AXES ? train_axes[i].row : NAME_micro_batch);
        if (input >= 0)
            vary[input] = true;
    }
    for (size_t i = 0; i < values.graph.input_count; i++)
        vary[i] |= values.graph.inputs[i].entry == INPUT_SCALE;
    graph_specialize(train->arena, &values.graph, values.inputs, vary, &left);
    struct interval *ranges = arena_array(train->arena, left.input_count + 1, sizeof *ranges);
    for (size_t i = 0; i < left.input_count; i++) {
        ranges[i] = left.inputs[i].entry == INPUT_SCALE ? (struct interval){ 0.5, 2 }
                                                        : (struct interval){ 1, 1e7 };
        for (int k = 0; k < TRAIN_AXES; k++)
            if (left.inputs[i].entry != INPUT_SCALE && !strcmp(train_axes[k].row, left.inputs[i].name))
                ranges[i] = (struct interval){ train_axes[k].least, train_axes[k].most };
    }
    graph_simplify(train->arena, &left, ranges, graph);
    return true;
}

bool train_host_known(const struct train *train)
{
    return facts_find(&train->scenario.facts, NAME_host_memory) != NULL;
}

/* Sizes of a micro-batch: every one up to 64, then by quarters of a power of two. */
static void set_loads(struct train *train)
{
    enum { ALL = 64, LOADS_MOST = 128, LARGEST = 4096 };
    double *loads = arena_array(train->arena, LOADS_MOST, sizeof *loads);
    double only = train_given(train, NAME_micro_batch), power = ALL;
    size_t count = 0;
    for (double size = 1; size <= LARGEST; size += size < ALL ? 1 : power / 4) {
        power = size >= 2 * power ? 2 * power : power;
        loads[count++] = size;
    }
    if (!isnan(only)) {
        loads[0] = only;
        count = 1;
    }
    train->space.loads = loads;
    train->space.load_count = count;
}

/* Where the list of a space has what settings and loads give. */
static void set_axes(struct train *train, struct search_space *space)
{
    size_t *input = arena_array(train->arena, TRAIN_AXES, sizeof *input);
    int *axis = arena_array(train->arena, TRAIN_AXES, sizeof *axis);
    for (int i = 0; i < TRAIN_AXES; i++) {
        int at = graph_input(&space->graph, train_axes[i].row);
        input[i] = at < 0 ? SEARCH_UNREAD : (size_t)at;
        axis[i] = train_axes[i].loop;
    }
    int column = graph_input(&space->graph, NAME_micro_batch);
    space->input = input;
    space->axis = axis;
    space->inputs = TRAIN_AXES;
    space->column = column < 0 ? SEARCH_UNREAD : (size_t)column;
    space->speed = SPEED;
    space->throughput = THROUGHPUT;
    space->most = MOST;
}

/* The same space once more, each way of being uneven a limit of its own: slower, so only where
 * nothing comes out even. */
bool train_uneven(struct train *train, size_t counts[TRAIN_EVEN_COUNT])
{
    static const char *const texts[] = { "0", "0", NAME_replica_sequences,
                                         NAME_uneven_heads, NAME_uneven_stages, NAME_uneven_experts,
                                         NAME_uneven_sequence, NAME_uneven_batch };
    struct search_limit limits[TRAIN_EVEN_COUNT];
    struct search_space space = train->space;
    struct search_result result;
    if (!short_list(train, texts, sizeof texts / sizeof *texts, values_of, &space.graph))
        return false;
    set_axes(train, &space);
    for (size_t i = 0; i < TRAIN_EVEN_COUNT; i++)
        limits[i] = (struct search_limit){ .name = texts[POSSIBLE + i], .output = POSSIBLE + i };
    space.limits = limits;
    space.limit_count = TRAIN_EVEN_COUNT;
    if (!search_run(train->arena, &space, 1, &result, train->error))
        return false;
    memcpy(counts, result.count.broken, TRAIN_EVEN_COUNT * sizeof *counts);
    /* micro-batches beyond a replica's sequences tell something where nothing else does */
    size_t told = 0;
    for (size_t i = 0; i < TRAIN_EVEN_COUNT; i++)
        told += counts[i];
    if (!told)
        counts[TRAIN_EVEN_BATCH] = result.count.no_fit + result.count.no_room;
    return true;
}

bool train_space(struct train *train)
{
    static const struct search_limit limits[] = { { "layout", POSSIBLE, 0, false, 0 },
                                                  { "memory", MEMORY, 1, true, 1.25 },
                                                  { "host memory", HOST, 1, true, 0 } };
    static const char *const sizes[] = { NAME_mixer_layers, NAME_expert_ways };
    const char *const searched[OUTPUTS] = {
        NAME_train_memory_room, NAME_train_tokens_per_chip, NAME_replica_sequences,
        NAME_train_impossible, NAME_train_memory_share,
        train_host_known(train) ? NAME_train_host_share : "0" };
    struct train_settings settings = { .train = train, .reversible = train_given(train, NAME_recompute_reversible) > 0 };
    struct values values;
    double at[TRAIN_AXES];
    for (int i = 0; i < TRAIN_AXES; i++)
        settings.only[i] = train_given(train, train_axes[i].row);
    if (!values_of(&train->scenario, sizes, 2, &values, train->error))
        return false;
    settings.layers = values.at[0];
    settings.experts = values.at[1];
    add_settings(&settings, 0, at);
    train->space.settings = settings.at;
    train->space.setting_count = settings.count / TRAIN_AXES;
    if (!short_list(train, searched, OUTPUTS, values_of, &train->space.graph) ||
        !short_list(train, train_figures, TRAIN_FIGURE_COUNT, values_of_parts, &train->report))
        return false;
    set_loads(train);
    set_axes(train, &train->space);
    train->space.limits = limits;
    train->space.limit_count = sizeof limits / sizeof *limits;
    return true;
}

/* ---- single layouts ------------------------------------------------------------------------------ */

double train_input(const struct train *train, const struct search_point *at, const char *row)
{
    for (int i = 0; i < TRAIN_AXES; i++)
        if (!strcmp(train_axes[i].row, row))
            return train->space.settings[at->setting * TRAIN_AXES + (size_t)i];
    return train->space.loads[at->load];
}

void train_read_point(const struct train *train, const struct search_point *at,
                      struct train_point *point)
{
    struct arena scratch = arena_beside(train->arena);
    const struct graph *graph = &train->report;
    double *values = arena_array(&scratch, graph->input_count + 1, sizeof *values);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    for (size_t i = 0; i < graph->input_count; i++)
        values[i] = graph->inputs[i].entry == INPUT_SCALE
                    ? 1 : train_input(train, at, graph->inputs[i].name);
    graph_value(&scratch, graph, values, nodes, point->figures);
    point->at = *at;
    point->parts.whole = point->figures[TRAIN_train_step];
    point->parts.at = graph_breakdown(train->arena, &train->scenario.formulas, graph, TRAIN_train_step,
                                      nodes, &point->parts.count);
    arena_free(&scratch);
}
