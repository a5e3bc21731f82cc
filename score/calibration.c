/* The factors of one server (calibration.h): Gauss-Newton on their logarithms, with the slopes of the
 * graphs. The predictions of all points are made again at every estimate; values of points that are not
 * given are read nowhere. */
#include "score/calibration.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { KIND_TPOT, KIND_TTFT };

/* ---- points ----------------------------------------------------------------------------------- */

void calibration_open(struct calibration *calibration, struct arena *arena, const struct command *command)
{
    *calibration = (struct calibration){ .arena = arena,
        .predictor = { .arena = arena, .command = command },
        .loads = { .arena = arena, .command = command, .rows = calibrated_axes, .row_count = POSTERIOR_AXES } };
    physics_open(&calibration->physics, arena, command);
    calibrated_prior(&calibration->prior);
    calibration_clear(calibration);
}

void calibration_clear(struct calibration *calibration)
{
    calibration->points = NULL;
    calibration->count = calibration->room = 0;
    calibration->carried = false;
    memset(calibration->x, 0, sizeof calibration->x);
    calibration->posterior = (struct factor_posterior){ .prior = &calibration->prior };
}

static int kind_of(enum metric metric)
{
    return metric == METRIC_TTFT ? KIND_TTFT : KIND_TPOT;
}

/* Times and rates of a server that answers requests. */
static bool is_served(const struct measured *measured)
{
    for (int i = 0; i < measured->value_count; i++) {
        const enum metric metric = measured->values[i].metric;
        if (metric == METRIC_KERNEL || metric == METRIC_STEP || measured->values[i].from)
            return false;
    }
    return measured->model && measured->value_count;
}

static void inputs_of(const struct calibration *calibration, const struct setup *setup,
                      const struct calibration_point *point, const double *at, double *inputs)
{
    predictor_inputs(setup, point->measured, inputs);
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const int input = graph_input(&setup->graph, calibrated_factors[k]);
        if (input >= 0)
            inputs[input] = scalar_exp(calibration->x[k]);
    }
    for (int m = 0; at && m < POSTERIOR_FIELDS; m++) {
        const int input = graph_input(&setup->graph, calibrated_fields[m].anchor);
        if (input >= 0)
            inputs[input] = scalar_exp(posterior_field(&calibration->posterior, at, m));
    }
}

static void set_load(struct calibration *calibration, struct calibration_point *point, double *at)
{
    struct arena scratch = arena_beside(calibration->arena);
    double rows[POSTERIOR_AXES];
    if (point->load) {
        double *inputs = arena_array(&scratch, point->load->graph.input_count + 1, sizeof *inputs);
        inputs_of(calibration, point->load, point, NULL, inputs);
        graph_value(&scratch, &point->load->graph, inputs, NULL, rows);
    } else {
        for (int i = 0; i < POSTERIOR_AXES; i++)
            rows[i] = measured_input(point->measured, i ? calibrated_axes[i] : NAME_concurrency, 1);
    }
    for (int i = 0; i < POSTERIOR_AXES; i++)
        at[i] = scalar_log(fmax(rows[i], 1e-3));
    arena_free(&scratch);
}

static double elasticity(const double *inputs, const double *gradient, int input, double value)
{
    return input < 0 ? 0 : gradient[input] * inputs[input] / value;
}

/* The values of a point and their slopes at the present estimate. */
static void linearise(struct calibration *calibration, struct calibration_point *point)
{
    struct arena scratch = arena_beside(calibration->arena);
    const struct graph *graph = &point->setup->graph;
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *gradients = arena_array(&scratch, MEASURED_VALUES * (graph->input_count + 1), sizeof *gradients);
    double predicted[MEASURED_VALUES], at[POSTERIOR_AXES];
    set_load(calibration, point, at);
    inputs_of(calibration, point->setup, point, at, inputs);
    predictor_gradients(&scratch, point->setup, point->measured, inputs, predicted, gradients);
    for (int i = 0; i < point->measured->value_count; i++) {
        struct posterior_value *value = &point->values[i];
        const double *gradient = gradients + (size_t)i * graph->input_count;
        value->kind = kind_of(point->measured->values[i].metric);
        value->expected = scalar_log(predicted[i]);
        memcpy(value->at, at, sizeof at);
        for (int k = 0; k < POSTERIOR_FACTORS; k++)
            value->slope[k] = elasticity(inputs, gradient, point->factor[k], predicted[i]);
        for (int m = 0; m < POSTERIOR_FIELDS; m++)
            value->reach[m] = elasticity(inputs, gradient, point->anchor[m], predicted[i]);
    }
    arena_free(&scratch);
}

static bool finite_slopes(const struct calibration_point *point)
{
    for (int i = 0; i < point->measured->value_count; i++) {
        double sum = point->values[i].expected;
        for (int k = 0; k < POSTERIOR_FACTORS; k++)
            sum += point->values[i].slope[k];
        if (!isfinite(sum))
            return false;
    }
    return true;
}

/* What neither the points nor the factors change is computed once. */
static void narrow(struct calibration *calibration, struct setup *setup, const struct measured *measured)
{
    struct graph *graph = &setup->graph, left;
    if (setup->narrow || setup->refused || calibration->whole)
        return;
    double *values = arena_array(calibration->arena, graph->input_count + 1, sizeof *values);
    bool *vary = arena_array(calibration->arena, graph->input_count + 1, sizeof *vary);
    const char *names[POSTERIOR_FACTORS + POSTERIOR_FIELDS];
    for (int k = 0; k < POSTERIOR_FACTORS + POSTERIOR_FIELDS; k++)
        names[k] = k < POSTERIOR_FACTORS ? calibrated_factors[k] : calibrated_fields[k - POSTERIOR_FACTORS].anchor;
    for (size_t i = 0; i < graph->input_count; i++)
        values[i] = graph->inputs[i].value;
    for (int i = 0; i < measured->input_count; i++)
        if (setup->input[i] >= 0)
            vary[setup->input[i]] = true;
    for (int k = 0; k < POSTERIOR_FACTORS + POSTERIOR_FIELDS; k++)
        if (graph_input(graph, names[k]) >= 0)
            vary[graph_input(graph, names[k])] = true;
    graph_specialize(calibration->arena, graph, values, vary, &left);
    *graph = left;
    for (int i = 0; i < measured->input_count; i++)
        setup->input[i] = graph_input(graph, measured->inputs[i].name);
    setup->narrow = true;
}

const char *calibration_add(struct calibration *calibration, const struct measured *measured)
{
    if (measured->refused)
        return measured->refused;
    if (!is_served(measured))
        return "no time or rate of a server";
    struct calibration_point *point = arena_push(calibration->arena, &calibration->points, &calibration->count,
                                                 &calibration->room, sizeof *point);
    struct setup *setup = predictor_find(&calibration->predictor, measured), *load = NULL;
    narrow(calibration, setup, measured);
    if (measured_input(measured, NAME_arrival_rate, 0) > 0 || !(measured_input(measured, NAME_concurrency, 0) > 0))
        load = predictor_find(&calibration->loads, measured);
    *point = (struct calibration_point){ .measured = measured, .setup = setup, .load = load };
    calibration->count--;
    if (setup->refused || (load && load->refused))
        return setup->refused ? setup->refused : load->refused;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        point->factor[k] = graph_input(&setup->graph, calibrated_factors[k]);
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        point->anchor[m] = graph_input(&setup->graph, calibrated_fields[m].anchor);
    linearise(calibration, point);
    for (int i = 0; i < measured->value_count; i++)
        point->before[i] = scalar_exp(point->values[i].expected);
    if (!finite_slopes(point))
        return "no finite prediction";
    calibration->count++;
    return NULL;
}

const char *calibration_give(struct calibration *calibration, size_t at)
{
    struct calibration_point *point = &calibration->points[at];
    point->refused = physics_refuse(&calibration->physics, point->measured);
    point->given = !point->refused;
    return point->refused;
}

static double distance(const struct calibration_point *a, const struct calibration_point *b)
{
    double square = 0;
    for (int i = 0; i < POSTERIOR_AXES; i++)
        square += pow(a->values[0].at[i] - b->values[0].at[i], 2);
    return square;
}

/* Greedy: the next point is the one furthest from all that stay. */
size_t calibration_thin(struct calibration *calibration)
{
    double *apart = arena_array(calibration->arena, calibration->count + 1, sizeof *apart);
    bool *stays = arena_array(calibration->arena, calibration->count + 1, sizeof *stays);
    size_t given = 0, kept = 0, taken = 0;
    for (size_t p = 0; p < calibration->count; p++) {
        apart[p] = INFINITY;
        given += calibration->points[p].given;
    }
    while (given > CALIBRATION_MOST && kept < CALIBRATION_MOST) {
        size_t next = calibration->count;
        for (size_t p = 0; p < calibration->count; p++)
            if (calibration->points[p].given && !stays[p] &&
                (next == calibration->count || apart[p] > apart[next]))
                next = p;
        stays[next] = true;
        kept++;
        for (size_t p = 0; p < calibration->count; p++)
            apart[p] = fmin(apart[p], distance(&calibration->points[p], &calibration->points[next]));
    }
    for (size_t p = 0; p < calibration->count && kept; p++) {
        calibration->points[p].thinned = calibration->points[p].given && !stays[p];
        taken += calibration->points[p].thinned;
        calibration->points[p].given &= stays[p];
    }
    return taken;
}

/* ---- the fit ------------------------------------------------------------------------------------- */

static bool is_fitted(const struct calibration_point *point, int i)
{
    return ((point->given && !point->aside[i]) || point->held[i] > 0) && point->measured->values[i].metric != METRIC_ENERGY;
}

static bool near_load(const struct posterior_value *a, const struct posterior_value *b)
{
    const double near[POSTERIOR_AXES] = { 0.15, 0.25, 0.25 };       /* ln of the load and of lengths, as meter/watch/fit.c */
    bool all = a->kind == b->kind;
    for (int i = 0; i < POSTERIOR_AXES; i++)
        all = all && fabs(a->at[i] - b->at[i]) < near[i];
    return all;
}

static bool is_given_anew(const struct calibration *calibration, const struct posterior_value *value)
{
    for (size_t p = 0; p < calibration->count; p++)
        for (int i = 0; i < calibration->points[p].measured->value_count; i++)
            if (is_fitted(&calibration->points[p], i) && near_load(value, &calibration->points[p].values[i]))
                return true;
    return false;
}

/* A calibration that starts from its own file again and again keeps the last value of each
 * load, and at most CALIBRATION_STARTS values in all. */
static void choose_start(struct calibration *calibration)
{
    const struct calibrated *start = calibration->start;
    size_t kept = 0;
    if (!start)
        return;
    calibration->start_gone = arena_array(calibration->arena, start->count + 1, sizeof *calibration->start_gone);
    for (size_t i = start->count; i-- > 0;) {
        calibration->start_gone[i] = kept >= CALIBRATION_STARTS || is_given_anew(calibration, &start->values[i]);
        kept += !calibration->start_gone[i];
    }
}

/* The values of an earlier calibration, from its estimate to the present one by their slopes. */
static size_t gather_start(const struct calibration *calibration, struct posterior_value *values)
{
    const struct calibrated *start = calibration->start;
    size_t count = 0;
    for (size_t i = 0; start && i < start->count; i++) {
        struct posterior_value *value = &values[count];
        if (calibration->start_gone[i])
            continue;
        *value = start->values[i];
        for (int k = 0; k < POSTERIOR_FACTORS; k++)
            value->expected += value->slope[k] * (calibration->x[k] - start->x[k]);
        for (int m = 0; m < POSTERIOR_FIELDS; m++)
            value->expected += value->reach[m] * (posterior_field(&calibration->posterior, value->at, m) -
                                                  posterior_field(&start->posterior, value->at, m));
        count++;
    }
    return count;
}

static size_t start_count(const struct calibration *calibration)
{
    size_t count = 0;
    for (size_t i = 0; calibration->start && i < calibration->start->count; i++)
        count += !calibration->start_gone[i];
    return count;
}

/* Where a value is held: a thousandth of the way from what was predicted before to what was measured. */
static double kept_at(const struct calibration_point *point, int i)
{
    const double before = scalar_log(point->before[i]);
    return before + 1e-3 * (scalar_log(point->measured->values[i].value) - before);
}

/* The values that are fitted, at the present estimate; their number. */
static size_t gather_values(struct calibration *calibration, struct posterior_value *values)
{
    size_t count = gather_start(calibration, values);
    for (size_t p = 0; p < calibration->count; p++) {
        struct calibration_point *point = &calibration->points[p];
        if (!point->given && !point->thinned)
            continue;
        linearise(calibration, point);
        for (int i = 0; i < point->measured->value_count; i++)
            if (is_fitted(point, i)) {
                values[count] = point->values[i];
                values[count].noise = point->held[i];
                values[count++].seen = point->held[i] > 0 ? kept_at(point, i)
                                                          : scalar_log(point->measured->values[i].value);
            }
    }
    return count;
}

static void iterate(struct calibration *calibration, struct posterior_value *values, size_t count)
{
    enum { ROUNDS = 60 };
    const double longest = 0.6, still = 1e-10;
    double (*field)[POSTERIOR_FIELDS] = arena_array(calibration->arena, count + 1, sizeof *field);
    for (int round = 0; round < ROUNDS; round++) {
        double moved = 0;
        for (size_t i = 0; i < count && round; i++)
            for (int m = 0; m < POSTERIOR_FIELDS; m++)
                field[i][m] = posterior_field(&calibration->posterior, values[i].at, m);
        struct factor_posterior next;
        if (!posterior_solve(calibration->arena, &calibration->prior, values, count, calibration->x,
                             (const double (*)[POSTERIOR_FIELDS])field, &next))
            return;
        for (int k = 0; k < POSTERIOR_FACTORS; k++) {
            const double step = fmax(-longest, fmin(next.x[k] - calibration->x[k], longest));
            moved = fmax(moved, fabs(step));
            calibration->x[k] += step;
        }
        calibration->posterior = next;
        if (moved < still && round)
            return;
        struct posterior_value *again = arena_array(calibration->arena, count + 1, sizeof *again);
        calibration->posterior.values = values;
        gather_values(calibration, again);
        values = again;
    }
}

static void predict_all(struct calibration *calibration)
{
    for (size_t p = 0; p < calibration->count; p++)
        linearise(calibration, &calibration->points[p]);
}

static void fit_once(struct calibration *calibration)
{
    struct posterior_value *values = arena_array(calibration->arena, start_count(calibration) +
                                                 MEASURED_VALUES * calibration->count + 1, sizeof *values);
    memset(calibration->x, 0, sizeof calibration->x);
    calibration->posterior = (struct factor_posterior){ .prior = &calibration->prior };
    const size_t count = gather_values(calibration, values);
    iterate(calibration, values, count);
}

/* The value that fits least, if it is an outlier, is set aside; whether one was. */
static bool set_aside(struct calibration *calibration)
{
    double most = calibrated_number("outlier", "most");
    bool *aside = NULL;
    size_t at = start_count(calibration);
    for (size_t p = 0; p < calibration->count; p++) {
        struct calibration_point *point = &calibration->points[p];
        for (int i = 0; i < point->measured->value_count; i++) {
            if (!is_fitted(point, i))
                continue;
            point->outlying[i] = posterior_outlying(&calibration->posterior, at++);
            if (fabs(point->outlying[i]) > most) {
                most = fabs(point->outlying[i]);
                aside = &point->aside[i];
            }
        }
    }
    if (aside)
        *aside = true;
    return aside != NULL;
}

/* Hold the values that are further from what was measured than they were predicted before, those that are held
 * already ten times closer; whether there are any. */
static bool hold_worse(struct calibration *calibration)
{
    const double first = 1e-3, rounding = 1e-9;
    bool any = false;
    predict_all(calibration);
    for (size_t p = 0; p < calibration->count; p++) {
        struct calibration_point *point = &calibration->points[p];
        for (int i = 0; i < point->measured->value_count && (point->given || point->thinned); i++) {
            const double seen = scalar_log(point->measured->values[i].value);
            if (point->measured->values[i].metric == METRIC_ENERGY ||
                fabs(point->values[i].expected - seen) <= fabs(scalar_log(point->before[i]) - seen) + rounding)
                continue;
            point->held[i] = point->held[i] > 0 ? point->held[i] / 10 : first;
            any = true;
        }
    }
    return any;
}

/* Fit again until no value is worse. Where no round achieves that, no factors are found, and `misfit` is that of the first fit. */
static void hold(struct calibration *calibration)
{
    enum { ROUNDS = 12 };
    int round = 0;
    calibration->misfit = calibration_misfit(calibration);
    while (hold_worse(calibration)) {
        if (++round == ROUNDS) {
            memset(calibration->x, 0, sizeof calibration->x);
            posterior_solve(calibration->arena, &calibration->prior, NULL, 0, calibration->x, NULL, &calibration->posterior);
            return;
        }
        fit_once(calibration);
    }
}

void calibration_fit(struct calibration *calibration)
{
    enum { ENOUGH = 3 };
    size_t given = 0;
    for (size_t p = 0; p < calibration->count; p++) {
        memset(calibration->points[p].aside, 0, sizeof calibration->points[p].aside);
        memset(calibration->points[p].held, 0, sizeof calibration->points[p].held);
        given += calibration->points[p].given;
    }
    calibration->misfit = 0;
    choose_start(calibration);
    fit_once(calibration);
    if (given >= ENOUGH && !calibration->keep && set_aside(calibration))
        fit_once(calibration);
    if (calibration->hold && given)
        hold(calibration);
    for (int kind = 0; kind < POSTERIOR_FIELDS && given; kind++)
        calibration->half_width[kind] = student_half_width(calibration->posterior.freedom[kind]);
    if (given)
        predict_all(calibration);
}

double calibration_misfit(const struct calibration *calibration)
{
    const struct factor_posterior *posterior = &calibration->posterior;
    return posterior->count ? (posterior->misfit[0] + posterior->misfit[1]) / (double)posterior->count
                            : calibration->misfit;
}

/* ---- which point next -------------------------------------------------------------------------- */

size_t calibration_next(const struct calibration *calibration, double *gain)
{
    struct arena scratch = arena_beside(calibration->arena);
    const double ttft_weight = calibrated_number("choice", "ttft_weight");
    const size_t most = MEASURED_VALUES * calibration->count + 1;
    struct posterior_value *targets = arena_array(&scratch, most, sizeof *targets);
    double *weights = arena_array(&scratch, most, sizeof *weights);
    size_t count = 0, best = calibration->count;
    for (size_t p = 0; p < calibration->count; p++)
        for (int i = 0; i < calibration->points[p].measured->value_count; i++) {
            weights[count] = calibration->points[p].values[i].kind == KIND_TTFT ? ttft_weight : 1;
            targets[count++] = calibration->points[p].values[i];
        }
    *gain = 0;
    for (size_t p = 0; p < calibration->count; p++) {
        const struct calibration_point *point = &calibration->points[p];
        if (point->given || point->refused)
            continue;
        const double here = posterior_gain(&scratch, &calibration->posterior, point->values,
                                           (size_t)point->measured->value_count, targets, weights, count) /
                            (double)calibration->count;
        if (here > *gain || best == calibration->count) {
            *gain = here;
            best = p;
        }
    }
    arena_free(&scratch);
    return best;
}

double calibration_spread(const struct calibration *calibration)
{
    const double ttft_weight = calibrated_number("choice", "ttft_weight");
    double sum = 0;
    for (size_t p = 0; p < calibration->count; p++)
        for (int i = 0; i < calibration->points[p].measured->value_count; i++) {
            const struct posterior_value *value = &calibration->points[p].values[i];
            sum += (value->kind == KIND_TTFT ? ttft_weight : 1) * posterior_variance(&calibration->posterior, value);
        }
    return calibration->count ? sum / (double)calibration->count : 0;
}

/* ---- another server ---------------------------------------------------------------------------- */

static bool same_words(const char *a, const char *b)
{
    a = a ? a : "", b = b ? b : "";
    return !strcmp(a, b);
}

struct calibrated_difference calibration_difference(const struct measured *one, const struct measured *other)
{
    const struct catalog *catalog = catalog_built_in();
    const bool model = !same_words(one->model, other->model);
    const bool engine = !same_words(catalog_engine_base(catalog, one->engine), catalog_engine_base(catalog, other->engine));
    const bool formats = same_words(one->precision, other->precision) && same_words(one->kv, other->kv) &&
                         same_words(one->beside, other->beside);
    return (struct calibrated_difference){ .model = model, .machine = !same_words(one->machine, other->machine),
        .engine = engine, .precision = !model && !formats,
        .version = !engine && !same_words(one->version, other->version),
        .layout = !measured_same_layout(one, other) };
}

void calibration_carry(struct calibration *calibration, const struct calibration *from,
                       const struct calibrated_difference *difference)
{
    calibrated_correlation(difference, calibration->rho);
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        calibration->x[k] = calibration->rho[k] * from->x[k];
    memcpy(calibration->found, from->posterior.covariance, sizeof calibration->found);
    calibration->carried = true;
    for (int kind = 0; kind < POSTERIOR_FIELDS; kind++)
        calibration->half_width[kind] = student_half_width(calibration->prior.freedom);
    predict_all(calibration);
}

/* ---- predictions ----------------------------------------------------------------------------- */

void calibration_predict(const struct calibration *calibration, const struct calibration_point *point, int i,
                         struct prediction *prediction)
{
    const struct posterior_value *value = &point->values[i];
    const double noise = calibration->prior.noise[value->kind];
    const double unexplained = calibration->carried
        ? calibrated_carried(&calibration->prior, (const double (*)[POSTERIOR_FACTORS])calibration->found,
                             calibration->rho, value)
        : posterior_variance(&calibration->posterior, value);
    const double scale = calibration->carried ? 1 : calibration->posterior.scale[value->kind];
    const double half_width = calibration->half_width[value->kind] * sqrt(scale * (unexplained + noise * noise));
    prediction->value = scalar_exp(value->expected);
    prediction->low = scalar_exp(value->expected - half_width);
    prediction->high = scalar_exp(value->expected + half_width);
    prediction->measured = point->measured->values[i].value;
}
