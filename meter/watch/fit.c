/* Points of a server's own metrics, and the calibration by them (fit.h).
 *
 * A point is taken of an interval in which the load stood: about as many requests came as went, nobody waited
 * at its end and none was preempted. Loads are of one kind where requests in flight and lengths are within
 * half a step of a logarithmic grid; so a day of intervals is some ten points, and the noise of a point, which
 * is mostly what no count of requests makes smaller, counts once. */
#include "meter/watch/fit.h"
#include "scenario/values.h"

#include "meter/calibrate/calibrate.h"
#include "build/row_names.h"
#include "scenario/calibrated.h"

#include <math.h>
#include <string.h>

/* ---- intervals ------------------------------------------------------------------------------------ */

static double tpot_of(const struct load *load)
{
    return load->seen[LOAD_ITL].value / load->tokens_per_gap;
}

static const char *unsteady(const struct load *load)
{
    const double fewest = 20, most_drift = 0.2, least_running = 0.2, few = 2, most_waiting = 0.1;
    const struct seen_quantity *seen = load->seen;
    if (load->in_flight <= 0 && !load->restarted)
        return "hardly anything ran in it";
    if (!(load->in_flight > 0) || !isfinite(seen[LOAD_ITL].value) || !isfinite(seen[LOAD_TTFT].value))
        return load->restarted ? "the server has restarted" : "it has no times of two scrapes";
    if (!(seen[LOAD_PROMPT].value >= 1) || !(seen[LOAD_OUTPUT].value >= 2))
        return "the lengths of requests are not known";
    if (load->scaled || load->restarted)
        return load->scaled ? "engines came or went" : "an engine has restarted";
    if (!(load->requests >= fewest))
        return "fewer than 20 requests finished in it";
    if (fabs(load->in_flight_growth) > most_drift * load->requests)
        return "the load changed by more than a fifth in it";
    if (seen[LOAD_WAITING].value > fmax(few, most_waiting * load->in_flight))
        return "requests waited at its end";
    if (seen[LOAD_PREEMPTION_RATE].value > 0)
        return "requests were preempted in it";
    return load->in_flight / load->replicas < least_running ? "hardly anything ran in it" : NULL;
}

static bool of_one_kind(const struct fit_point *point, double in_flight, double prompt, double output)
{
    const double loads = 0.15, lengths = 0.25;          /* half a step, of ln */
    return fabs(log(point->in_flight / point->seconds / in_flight)) < loads &&
           fabs(log(point->prompt / point->requests / prompt)) < lengths &&
           fabs(log(point->output / point->requests / output)) < lengths;
}

static void fade(struct fit_point *point, double at)
{
    const double half = 86400, kept = exp2(-fmax(0, at - point->at) / half);
    double *const sums[] = { &point->seconds, &point->in_flight, &point->arrivals, &point->requests,
                             &point->prompt, &point->output, &point->ttft, &point->gaps, &point->tpot, &point->hits, &point->queried,
                             &point->accepted, &point->drafted };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] *= kept;
    point->at = fmax(point->at, at);
}

static struct fit_point *place(struct watch_fit *fit, double in_flight, double prompt, double output)
{
    size_t oldest = 0;
    for (size_t i = 0; i < fit->count; i++) {
        if (of_one_kind(&fit->points[i], in_flight, prompt, output))
            return &fit->points[i];
        if (fit->points[i].at < fit->points[oldest].at)
            oldest = i;
    }
    const size_t at = fit->count < FIT_POINTS_MOST ? fit->count++ : oldest;
    fit->points[at] = (struct fit_point){ 0 };
    return &fit->points[at];
}

const char *fit_see(struct watch_fit *fit, const struct load *load, double at)
{
    const char *why = unsteady(load);
    const struct seen_quantity *seen = load->seen;
    if (why)
        return why;
    const double replicas = load->replicas, requests = load->requests;
    const double in_flight = load->in_flight / replicas, gaps = requests * (seen[LOAD_OUTPUT].value - 1);
    struct fit_point *point = place(fit, in_flight, seen[LOAD_PROMPT].value, seen[LOAD_OUTPUT].value);
    fade(point, at);
    fit->changed += requests / (point->requests + requests);
    point->seconds += load->span;
    point->in_flight += in_flight * load->span;
    point->arrivals += seen[LOAD_ARRIVAL_RATE].value / replicas * load->span;
    point->requests += requests;
    point->prompt += seen[LOAD_PROMPT].value * requests;
    point->output += seen[LOAD_OUTPUT].value * requests;
    point->ttft += seen[LOAD_TTFT].value * requests;
    point->unqueued |= load->engine->prompt_time != NULL;
    point->gaps += gaps;
    point->tpot += tpot_of(load) * gaps;
    if (isfinite(seen[LOAD_HIT_SHARE].value)) {
        point->hits += seen[LOAD_HIT_SHARE].value * requests;
        point->queried += requests;
    }
    if (isfinite(seen[LOAD_ACCEPTANCE].value)) {
        point->accepted += seen[LOAD_ACCEPTANCE].value * requests;
        point->drafted += requests;
    }
    fit->intervals++;
    return NULL;
}

/* ---- the calibration ------------------------------------------------------------------------------ */

static void add_input(struct measured *point, const char *row, double value)
{
    if (isfinite(value) && point->input_count < MEASURED_INPUTS)
        point->inputs[point->input_count++] = (struct measured_input){ row, value };
}

/* What was chosen or read of the server, so that the points have its layout. */
static void add_server(struct measured *point, struct scenario *scenario)
{
    static const char *const rows[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel,
                                        NAME_expert_parallel, NAME_chunked_prefill_size, NAME_max_num_seqs };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_input(point, rows[i], value_or_nan(scenario, rows[i]));
}

static struct measured *point_of(struct arena *arena, const struct fit_point *of, const struct measured *server,
                                 int number)
{
    struct measured *point = arena_alloc(arena, sizeof *point);
    *point = *server;
    point->line = number;
    point->requests = of->requests;
    point->value_count = 1;
    add_input(point, NAME_prompt_tokens, of->prompt / of->requests);
    add_input(point, NAME_output_tokens, of->output / of->requests);
    add_input(point, NAME_prefix_hit_share, of->queried > 0 ? of->hits / of->queried : NAN);
    add_input(point, NAME_acceptance_rate, of->drafted > 0 ? of->accepted / of->drafted : NAN);
    return point;
}

/* The time between tokens at the requests in flight that there were, whatever brought them. */
static struct measured *tpot_point(struct arena *arena, const struct fit_point *of, const struct measured *server,
                                   int number)
{
    struct measured *point = point_of(arena, of, server, number);
    add_input(point, NAME_concurrency, of->in_flight / of->seconds);
    add_input(point, NAME_measured_tpot, of->tpot / of->gaps);
    point->values[0] = (struct measured_value){ .metric = METRIC_TPOT, .row = NAME_predicted_tpot,
                                                .bound = NAME_measured_step_bound, .value = of->tpot / of->gaps };
    return point;
}

/* The time to the first token of requests that come when they come: users of a server do not wait for each other. */
static struct measured *ttft_point(struct arena *arena, const struct fit_point *of, const struct measured *server,
                                   int number)
{
    struct measured *point = point_of(arena, of, server, number);
    add_input(point, NAME_arrival_rate, of->arrivals / of->seconds);
    add_input(point, NAME_measured_ttft, of->ttft / of->requests);
    point->values[0] = (struct measured_value){ .metric = METRIC_TTFT, .row = NAME_predicted_ttft,
                                                .bound = NAME_ttft_bound, .value = of->ttft / of->requests };
    return point;
}

static struct measured server_of(struct scenario *scenario, const char *source)
{
    const struct subject *subject = &scenario->subject;
    struct measured server = { .file = source, .source = source, .publisher = "", .series = "", .kind = "aggregated",
                               .model = subject->model, .machine = subject->machine, .engine = subject->engine,
                               .version = subject->version, .precision = subject->precision,
                               .kv = subject->kv_precision };
    add_server(&server, scenario);
    return server;
}

static bool no_calibration(const struct option *option)
{
    return strcmp(option->name, "calibration") != 0;
}

/* An earlier calibration: its values, of the same server; else what of its factors carries over. */
static void start_from(struct calibration *calibration, struct scenario *scenario)
{
    const struct calibrated *start = scenario->calibrated;
    if (!start)
        return;
    const bool layout = value_or_nan(scenario, NAME_given_layout) > 0;
    const double *rho = layout ? start->own : start->carried;
    struct posterior_prior *prior = &calibration->prior;
    if (!start->relation && layout) {
        calibration->start = start;
        return;
    }
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        prior->mean[k] = rho[k] * start->x[k];
        for (int l = 0; l < POSTERIOR_FACTORS; l++)
            prior->covariance[k][l] = rho[k] * rho[l] * start->covariance[k][l] +
                                      (k == l ? (1 - rho[k] * rho[k]) * prior->covariance[k][k] : 0);
    }
}

/* Why a point tells nothing, or NULL. */
static const char *give_point(struct calibration *calibration, const struct measured *point)
{
    const char *why = calibration_add(calibration, point);
    return why ? why : calibration_give(calibration, calibration->count - 1);
}

void fit_make(struct arena *arena, const struct watch_fit *fit, struct scenario *scenario, const struct command *command,
              const char *source, struct watch_fitted *fitted)
{
    struct error error = { .what = "" };
    /* Without --calibration: an earlier one is where this one starts. */
    struct calibrate calibrate = { .arena = arena, .error = &error,
                                   .command = command_only(arena, command, no_calibration) };
    struct calibration *calibration = &calibrate.calibration;
    const struct measured server = server_of(scenario, source);
    *fitted = (struct watch_fitted){ .refused = "no interval tells a point" };
    if (!fit->count)
        return;
    calibration_open(calibration, arena, calibrate.command);
    start_from(calibration, scenario);
    const double rate_most = value_or_nan(scenario, NAME_own_rate_most), light = 0.7;
    for (size_t i = 0; i < fit->count; i++) {
        const struct fit_point *of = &fit->points[i];
        const char *why = give_point(calibration, tpot_point(arena, of, &server, (int)i + 1));
        if (!why && !of->unqueued && of->arrivals / of->seconds < light * rate_most)
            give_point(calibration, ttft_point(arena, of, &server, (int)i + 1));
        fitted->points += !why;
        fitted->left_out += why != NULL;
        fitted->left_out_why = why ? why : fitted->left_out_why;
    }
    calibrate.server = calibration->count ? calibration->points[0].measured : NULL;
    fitted->refused = fitted->left_out_why;
    if (!fitted->points)
        return;
    calibration_fit(calibration);
    calibrate.measured = calibration->count;
    fitted->strange = calibration_misfit(calibration) > calibrated_number("misfit", "most");
    struct buffer text = { .arena = arena };
    fitted->refused = NULL;
    if (!calibrate_text(&calibrate, source, &text))
        fitted->refused = arena_copy(arena, error.what, strlen(error.what));
    fitted->text = (struct text){ text.data, text.size };
}

bool fit_use(struct scenario *scenario, const char *source, const struct watch_fitted *fitted, struct error *error)
{
    struct calibrated *calibrated = arena_alloc(scenario->arena, sizeof *calibrated);
    if (fitted->refused)
        return true;
    if (!calibrated_parse(scenario->arena, source, fitted->text, calibrated, error))
        return false;
    calibrated_use(scenario, calibrated);
    return true;
}
