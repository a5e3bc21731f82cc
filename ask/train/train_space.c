/* The space of `train`: every layout of so many chips that comes out even. */
#include "ask/train/train.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const struct { const char *row; int axis; } inputs[] = {
#define X(row, axis) { NAME_##row, axis },
    TRAIN_INPUTS(X)
#undef X
};
enum {
#define X(row, axis) AT_##row,
    TRAIN_INPUTS(X)
#undef X
    INPUTS
};

const char *const train_figures[TRAIN_FIGURE_COUNT] = {
#define X(name) NAME_##name,
    TRAIN_FIGURES(X)
#undef X
};
const char *const train_parts[TRAIN_PART_COUNT] = {
#define X(name, row) name,
    TRAIN_PARTS(X)
#undef X
};

/* ---- settings --------------------------------------------------------------------------------- */

struct settings {
    struct train *train;
    double only[INPUTS];            /* the user's number, or NAN */
    double *at;
    size_t count, room;
};

double train_given(const struct train *train, const char *row)
{
    const struct fact *fact = facts_find(&train->scenario.facts, row);
    struct scenario same = train->scenario;
    struct error ignored;
    double value;
    if (!fact_given(fact))
        return NAN;
    return !fact->expression ? fact->value
           : value_of(&same, row, &value, &ignored) ? value : NAN;
}

static void add_setting(struct settings *settings, const double *values)
{
    for (int i = 0; i < INPUTS; i++)
        if (!isnan(settings->only[i]) && settings->only[i] != values[i])
            return;
    for (int i = 0; i < INPUTS; i++)
        *(double *)arena_push(settings->train->arena, &settings->at, &settings->count,
                              &settings->room, sizeof(double)) = values[i];
}

/* Nothing computed again, the scores alone (where they are written), all: not twice, where layers
 * are reversible. */
static void add_recomputation(struct settings *settings, double *values)
{
    int ways = train_given(settings->train, NAME_recompute_reversible) > 0 ? 2 : 3;
    for (int how = 0; how < ways; how++) {
        values[AT_recompute_full] = how == 2;
        values[AT_recompute_attention] = how == 1;
        add_setting(settings, values);
    }
}

static void add_inner(struct settings *settings, double *values, double layers)
{
    static const double zero[] = { 1, 2, 3 };
    const double stage = settings->only[AT_zero_stage];
    for (double chunks = 1; chunks * values[AT_train_pp] <= layers; chunks++) {
        values[AT_train_chunks] = chunks;
        for (size_t z = 0; z < (isnan(stage) ? 3 : 1); z++) {
            values[AT_zero_stage] = isnan(stage) ? zero[z] : stage;
            add_recomputation(settings, values);
        }
        if (values[AT_train_pp] == 1)
            return;
    }
}

/* Divisors of a number of chips, in rising order. */
static size_t divisors(double chips, double most, double *out, size_t room)
{
    size_t count = 0;
    for (double n = 1; n <= fmin(chips, most) && count < room; n++)
        if (fmod(chips, n) == 0)
            out[count++] = n;
    return count;
}

static void add_layouts(struct settings *settings, double layers, double experts)
{
    enum { ROOM = 512, WIDEST = 64, RINGS = 64 };
    double tp[ROOM], pp[ROOM], cp[ROOM], ep[ROOM], chips = settings->train->chips;
    const double *only = settings->only, along = only[AT_sequence_parallel];
    size_t tps = divisors(chips, fmax(WIDEST, only[AT_train_tp]), tp, ROOM);
    for (size_t t = 0; t < tps; t++) {
        size_t pps = divisors(chips / tp[t], layers, pp, ROOM);
        for (size_t p = 0; p < pps; p++) {
            size_t cps = divisors(chips / tp[t] / pp[p], fmax(RINGS, only[AT_train_cp]), cp, ROOM);
            size_t eps = divisors(chips / pp[p], experts, ep, ROOM);
            for (size_t c = 0; c < cps; c++)
                for (size_t e = 0; e < eps; e++) {
                    double values[INPUTS] = {
                        [AT_train_tp] = tp[t], [AT_train_pp] = pp[p], [AT_train_cp] = cp[c],
                        [AT_train_ep] = ep[e],
                        [AT_sequence_parallel] = isnan(along) ? tp[t] > 1 : along };
                    add_inner(settings, values, layers);
                }
        }
    }
}

/* ---- the list --------------------------------------------------------------------------------- */

enum { ACROSS, ALONG, MOST, POSSIBLE, MEMORY, HOST, OUTPUTS };

static struct interval range_of(const char *input)
{
    bool flag = !strcmp(input, NAME_sequence_parallel) || !strncmp(input, "recompute_", 10);
    return flag ? (struct interval){ 0, 1 } : !strcmp(input, NAME_zero_stage)
           ? (struct interval){ 0, 3 } : (struct interval){ 1, 1e7 };
}

static bool short_list(struct train *train, const char *const *texts, size_t count,
                       struct list *list)
{
    struct values values;
    struct list left;
    if (!values_of(&train->scenario, texts, count, &values, train->error))
        return false;
    bool *vary = arena_array(train->arena, values.list.input_count + 1, sizeof *vary);
    for (int i = 0; i <= INPUTS; i++) {
        int input = list_input(&values.list, i < INPUTS ? inputs[i].row : NAME_micro_batch);
        if (input >= 0)
            vary[input] = true;
    }
    list_fix(train->arena, &values.list, values.inputs, vary, &left);
    struct interval *ranges = arena_array(train->arena, left.input_count + 1, sizeof *ranges);
    for (size_t i = 0; i < left.input_count; i++)
        ranges[i] = range_of(left.inputs[i].name);
    list_within(train->arena, &left, ranges, list);
    return true;
}

bool train_host_known(const struct train *train)
{
    return facts_find(&train->scenario.facts, NAME_host_memory) != NULL;
}

static bool make_lists(struct train *train)
{
    const char *const searched[OUTPUTS] = {
        "hbm_reported / train_memory", NAME_train_tokens_per_chip, "training_sequences / train_dp",
        "1 - train_possible", NAME_train_memory_share,
        train_host_known(train) ? "train_host_memory / host_memory" : "0" };
    static const char *const told[] = {
#define X(name) NAME_##name,
        TRAIN_FIGURES(X)
#undef X
#define X(name, row) row,
        TRAIN_PARTS(X)
#undef X
    };
    return short_list(train, searched, OUTPUTS, &train->space.list) &&
           short_list(train, told, TRAIN_FIGURE_COUNT + TRAIN_PART_COUNT, &train->report);
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
    size_t *input = arena_array(train->arena, INPUTS, sizeof *input);
    int *axis = arena_array(train->arena, INPUTS, sizeof *axis);
    for (int i = 0; i < INPUTS; i++) {
        int at = list_input(&space->list, inputs[i].row);
        input[i] = at < 0 ? SEARCH_UNREAD : (size_t)at;
        axis[i] = inputs[i].axis;
    }
    int column = list_input(&space->list, NAME_micro_batch);
    space->input = input;
    space->axis = axis;
    space->inputs = INPUTS;
    space->column = column < 0 ? SEARCH_UNREAD : (size_t)column;
    space->across = ACROSS;
    space->along = ALONG;
    space->most = MOST;
}

static void set_limits(struct train *train)
{
    static const struct search_limit limits[] = { { "layout", POSSIBLE, 0, false, 0 },
                                                  { "memory", MEMORY, 1, true, 1.25 },
                                                  { "host memory", HOST, 1, true, 0 } };
    set_axes(train, &train->space);
    train->space.limits = limits;
    train->space.limit_count = sizeof limits / sizeof *limits;
}

/* The same space once more, each way of being uneven a limit of its own: slower, so only where
 * nothing comes out even. */
bool train_uneven(struct train *train, size_t counts[TRAIN_EVEN_COUNT])
{
    static const char *const texts[] = { "0", "0", "training_sequences / train_dp",
                                         "1 - even_heads", "1 - even_stages", "1 - even_experts",
                                         "1 - even_sequence", "1 - even_batch" };
    struct search_limit limits[TRAIN_EVEN_COUNT];
    struct search_space space = train->space;
    struct search_result result;
    if (!short_list(train, texts, sizeof texts / sizeof *texts, &space.list))
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
    struct settings settings = { .train = train };
    struct values values;
    static const char *const sizes[] = { NAME_train_layers, "select(routed_params > 0, experts, 1)" };
    for (int i = 0; i < INPUTS; i++)
        settings.only[i] = train_given(train, inputs[i].row);
    if (!values_of(&train->scenario, sizes, 2, &values, train->error))
        return false;
    add_layouts(&settings, values.at[0], values.at[1]);
    train->space.settings = settings.at;
    train->space.setting_count = settings.count / INPUTS;
    if (!make_lists(train))
        return false;
    set_loads(train);
    set_limits(train);
    return true;
}

/* ---- single layouts ------------------------------------------------------------------------------ */

double train_input(const struct train *train, const struct search_point *at, const char *row)
{
    for (int i = 0; i < INPUTS; i++)
        if (!strcmp(inputs[i].row, row))
            return train->space.settings[at->setting * INPUTS + (size_t)i];
    return train->space.loads[at->load];
}

void train_tell(const struct train *train, const struct search_point *at,
                struct train_point *point)
{
    struct arena scratch = arena_beside(train->arena);
    const struct list *list = &train->report;
    double *values = arena_array(&scratch, list->input_count + 1, sizeof *values);
    double outputs[TRAIN_FIGURE_COUNT + TRAIN_PART_COUNT];
    for (size_t i = 0; i < list->input_count; i++)
        values[i] = train_input(train, at, list->inputs[i].name);
    list_value(&scratch, list, values, NULL, outputs);
    arena_free(&scratch);
    point->at = *at;
    memcpy(point->figures, outputs, sizeof point->figures);
    memcpy(point->parts, outputs + TRAIN_FIGURE_COUNT, sizeof point->parts);
}
