/* Servers for the estimates of calibrations (series.h): each source is left out of the fit of the constants in
 * turn, and its servers are calibrated to all of their points by those constants. */
#include "lab/fit/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

/* The constants of the fit, in the graphs of a calibration's point. */
static void take_constants(const struct fit *fit, const struct fitted *row, struct calibration_point *point)
{
    struct setup *const setups[] = { point->setup, point->load };
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        for (int k = 0; setups[i] && k < fit->constant_count; k++) {
            const int input = row->input[k] < 0 ? -1 : graph_input(&setups[i]->graph, fit->constants[k].name);
            if (input >= 0)
                setups[i]->graph.inputs[input].value = fit_constant(fit, k) * fit->scale[k];
        }
}

/* The values of a calibration at its estimate, as if its factors and fields were 1, by their slopes. */
static void keep_values(struct series_list *list, const struct calibration *calibration, struct series *series)
{
    const size_t most = MEASURED_VALUES * calibration->count;
    series->values = arena_array(list->arena, most, sizeof *series->values);
    series->point = arena_array(list->arena, most, sizeof *series->point);
    series->points = calibration->count;
    for (size_t p = 0; p < calibration->count; p++) {
        const struct calibration_point *point = &calibration->points[p];
        for (int i = 0; i < point->measured->value_count; i++) {
            struct posterior_value value = point->values[i];
            if (point->measured->values[i].metric == METRIC_ENERGY)
                continue;
            value.seen = scalar_log(point->measured->values[i].value);
            for (int k = 0; k < POSTERIOR_FACTORS; k++)
                value.expected -= value.slope[k] * calibration->x[k];
            for (int m = 0; m < POSTERIOR_FIELDS; m++)
                value.expected -= value.reach[m] * posterior_field(&calibration->posterior, value.at, m);
            series->point[series->count] = p;
            series->values[series->count++] = value;
        }
    }
}

static void add_server(struct series_list *list, struct fit *fit, struct calibration *calibration,
                       const char *server, const char *const *servers, bool *done)
{
    calibration_clear(calibration);
    for (size_t i = 0; i < fit->count; i++) {
        if (done[i] || !servers[i] || strcmp(servers[i], server))
            continue;
        done[i] = true;
        if (!calibration_add(calibration, fit->rows[i].point))
            take_constants(fit, &fit->rows[i], &calibration->points[calibration->count - 1]);
    }
    if (calibration->count < 1 + SERIES_SPARE)
        return;
    for (size_t p = 0; p < calibration->count; p++)
        if (calibration_give(calibration, p))
            return;
    calibration_fit(calibration);
    struct series *series = arena_push(list->arena, &list->series, &list->count, &list->room, sizeof *series);
    const struct measured *first = calibration->points[0].measured;
    *series = (struct series){ .publisher = first->publisher, .server = first };
    keep_values(list, calibration, series);
    series_choose(series, &calibration->prior);
}

/* "InferenceX" of "InferenceX vllm": one source that measured several engines. */
static size_t source_size(const char *publisher)
{
    const char *space = strrchr(publisher, ' ');
    return space ? (size_t)(space - publisher) : strlen(publisher);
}

bool series_of_one_source(const char *a, const char *b)
{
    return source_size(a) == source_size(b) && !strncmp(a, b, source_size(a));
}

static bool same_source(const struct fitted *a, const struct fitted *b)
{
    return series_of_one_source(a->point->publisher, b->point->publisher);
}

/* All servers of the source that the constants of the fit have not seen. */
static void add_publisher(struct series_list *list, struct fit *fit, bool *done)
{
    struct calibration calibration;
    const char **servers = arena_array(list->arena, fit->count, sizeof *servers);
    const size_t before = list->count;
    const char *publisher = NULL;
    for (size_t i = fit->count; i-- > 0;)
        if (fit->rows[i].left_out) {
            servers[i] = measured_server(list->arena, fit->rows[i].point);
            publisher = fit->rows[i].point->publisher;
        }
    calibration_open(&calibration, list->arena, fit->predictor.command);
    calibration.whole = true;
    for (size_t i = 0; i < fit->count; i++)
        if (servers[i] && !done[i])
            add_server(list, fit, &calibration, servers[i], servers, done);
    if (list->count > before)
        list->publishers[list->publisher_count++] = publisher;
}

void series_read(struct fit *fit, struct series_list *list)
{
    bool *done = arena_array(list->arena, fit->count, sizeof *done);
    list->publishers = arena_array(list->arena, fit->count, sizeof *list->publishers);
    struct fits fits = { 0 };
    for (size_t i = 0; i < fit->count; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = same_source(&fit->rows[i], &fit->rows[j]);
        bool *out = again ? NULL : fits_add(fit, &fits);
        for (size_t j = 0; out && j < fit->count; j++)
            out[j] = same_source(&fit->rows[i], &fit->rows[j]);
    }
    fit_each(fit, &fits);
    for (size_t f = 0; f < fits.count; f++) {
        fit_take(fit, &fits, f);
        add_publisher(list, fit, done);
    }
}

/* ---- points that are given ---------------------------------------------------------------------- */

bool series_is_given(const struct series *series, size_t value, size_t given)
{
    for (size_t i = 0; i < given && i < series->ordered; i++)
        if (series->order[i] == series->point[value])
            return true;
    return false;
}

size_t series_values(const struct series *series, size_t given, struct posterior_value *values)
{
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++)
        if (series_is_given(series, i, given))
            values[count++] = series->values[i];
    return count;
}

void series_choose(struct series *series, const struct posterior_prior *prior)
{
    const double ttft_weight = calibrated_number("choice", "ttft_weight");
    static const double nowhere[POSTERIOR_FACTORS];
    struct arena scratch = { 0 };
    struct posterior_value *given = arena_array(&scratch, series->count + 1, sizeof *given);
    double *weights = arena_array(&scratch, series->count + 1, sizeof *weights);
    for (size_t i = 0; i < series->count; i++)
        weights[i] = series->values[i].kind ? ttft_weight : 1;
    for (series->ordered = 0; series->ordered < SERIES_GIVEN && series->ordered < series->points; series->ordered++) {
        struct factor_posterior posterior;
        double best = -1;
        const size_t count = series_values(series, series->ordered, given);
        if (!posterior_solve(&scratch, prior, given, count, nowhere, NULL, &posterior))
            break;
        for (size_t p = 0; p < series->points; p++) {
            struct posterior_value at[MEASURED_VALUES];
            size_t values = 0;
            bool is_given = false;
            for (size_t i = 0; i < series->ordered; i++)
                is_given |= series->order[i] == p;
            for (size_t i = 0; i < series->count; i++)
                if (series->point[i] == p)
                    at[values++] = series->values[i];
            const double gain = is_given ? -1 : posterior_gain(&scratch, &posterior, at, values, series->values,
                                                               weights, series->count);
            if (gain > best) {
                best = gain;
                series->order[series->ordered] = p;
            }
        }
    }
    arena_free(&scratch);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

double student_density(double residual, double variance, double freedom)
{
    static const double pi = 3.14159265358979323846;
    const double square = residual * residual / variance;
    if (!(freedom > 0))
        return -(log(2 * pi * variance) + square) / 2;
    return lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi * variance) / 2 -
           (freedom + 1) / 2 * log1p(square / freedom);
}

struct corner { double at[SIMPLEX_MOST], value; };

static int by_height(const void *a, const void *b)
{
    const struct corner *x = a, *y = b;
    const int order = (x->value > y->value) - (x->value < y->value);
    return order ? order : memcmp(x->at, y->at, sizeof x->at);
}

/* From the middle of all corners but the last towards, or beyond, the last. */
static struct corner try_corner(double (*of)(void *, const double *), void *context, const struct corner *corners,
                                int count, double far)
{
    struct corner tried = { 0 };
    for (int k = 0; k < count; k++) {
        double middle = 0;
        for (int i = 0; i < count; i++)
            middle += corners[i].at[k] / count;
        tried.at[k] = middle + far * (corners[count].at[k] - middle);
    }
    tried.value = of(context, tried.at);
    return tried;
}

double simplex_minimise(double (*of)(void *context, const double *at), void *context, int count, double step,
                        int calls, double *at)
{
    struct corner corners[SIMPLEX_MOST + 1] = { { { 0 }, 0 } };
    for (int i = 0; i <= count; i++) {
        memcpy(corners[i].at, at, (size_t)count * sizeof *at);
        if (i)
            corners[i].at[i - 1] += step;
        corners[i].value = of(context, corners[i].at);
    }
    for (int call = count + 1; call < calls; call++) {
        qsort(corners, (size_t)count + 1, sizeof *corners, by_height);
        struct corner tried = try_corner(of, context, corners, count, -1);
        if (tried.value < corners[0].value) {
            const struct corner further = try_corner(of, context, corners, count, -2);
            tried = further.value < tried.value ? further : tried;
        } else if (!(tried.value < corners[count - 1].value)) {
            tried = try_corner(of, context, corners, count, tried.value < corners[count].value ? -0.5 : 0.5);
        }
        if (tried.value < corners[count].value) {
            corners[count] = tried;
            continue;
        }
        for (int i = 1; i <= count; i++, call++) {
            for (int k = 0; k < count; k++)
                corners[i].at[k] = (corners[i].at[k] + corners[0].at[k]) / 2;
            corners[i].value = of(context, corners[i].at);
        }
    }
    qsort(corners, (size_t)count + 1, sizeof *corners, by_height);
    memcpy(at, corners[0].at, (size_t)count * sizeof *at);
    return corners[0].value;
}

/* ---- the program ------------------------------------------------------------------------------------ */

void fit_calibration(struct fit *fit, char **words, int count)
{
    struct arena arena = { 0 };
    struct series_list list = { .arena = &arena, .ranks = fit->ranks };
    fit_open_servers(fit, words, count);
    series_read(fit, &list);
    const struct posterior_prior prior = priors_print(&list);
    carried_print(&list, &prior);
    arena_free(&arena);
}
