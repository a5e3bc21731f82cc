/* The bound is below every measured step.
 *
 * Published time per output token (TPOT) against the bound of one forward pass, for each
 * measurement whose model and machine are in the catalog. The sheets are no part of the tree: see
 * shared_file.
 *
 * One rule for all points, set by what the columns mean:
 *
 *   chips    every chip of the instance, or of the decode pool: the bound shards perfectly,
 *            so replicas and data-parallel ranks only ever lose against it
 *   batch    all concurrent requests of the server, also those that wait for a prompt
 *   context  prompt and half of the output; 0.9 of the stated lengths where the source
 *            draws them from 0.8x to 1.0x
 *   weights  in the row's precision, all of them; the cache in fp8 wherever the weights are
 *            quantised (its width is not stated; fp8 is the lower bound)
 *
 * Set aside, and counted by reason: rows whose figure is no step of one forward pass
 * (speculative decoding, stated or known by its session), and rows that do not say how
 * many chips there were, or whose requests queue. */
#include "test.h"
#include "commands.h"
#include "ask/ask.h"

#include "ask/ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum reason { COMPARED, NO_MODEL, NO_MACHINE, NO_PRECISION, SPECULATIVE, NO_SIZES, SEVERAL,
              QUEUEING, REASONS };

static const char *const reasons[REASONS] = {
    "compared", "model not in the catalog", "machine not in the catalog", "precision not known",
    "speculative decoding", "sizes of the instance not stated",
    "several replicas behind a router, or a rate-limited client",
    "requests queue, sequences in the step not known",
};

struct point {
    const char *place;              /* file and line, for the message */
    const char *model, *machine, *precision;
    double chips, concurrency, input, output, each;             /* tokens; s */
};

struct bound {                      /* of one model, machine and precision */
    const char *key;
    struct graph graph;
    int chips, batch, context;
};

struct tally {
    struct arena arena;
    struct bound *bounds;
    size_t bound_count, bound_room;
    size_t reason[REASONS], above;
    double closest, sum;            /* bound over measured */
    struct point worst;
};

/* ---- the bound ------------------------------------------------------------------------ */

static void bound_open(struct tally *tally, const struct point *point, struct bound *bound)
{
    struct arena *arena = &tally->arena;
    static const char *const sets[] = { "batch=1", "context=1", "chips=1" };
    struct command *command = arena_alloc(arena, sizeof *command);
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    struct error error;
    const struct expr *expr;
    bool own = strstr(point->model, "NVFP4") != NULL;           /* a checkpoint in that format */
    struct subject subject = subject_of(point->model, point->machine);
    command->verb = &verb_eval;
    for (size_t i = 0; i < COUNT(sets); i++)
        command_set(arena, command, "set", sets[i]);
    subject.precision = own ? NULL : point->precision;
    subject.kv_precision = strcmp(point->precision, "bf16") ? "fp8" : "bf16";
    if (!scenario_open(scenario, arena, command, subject, &error) ||
        !expr_parse(&scenario->formulas, "test", 1, text_of("bound_step"), &expr, &error) ||
        !graph_build(arena, &scenario->formulas, &scenario->facts, &expr, 1, &bound->graph, &error))
        fail_msg("%s: %s (%s)", point->place, error.what, error.hint);
    bound->chips = graph_input(&bound->graph, "chips");
    bound->batch = graph_input(&bound->graph, "batch");
    bound->context = graph_input(&bound->graph, "context");
    assert_true(bound->chips >= 0 && bound->batch >= 0 && bound->context >= 0);
}

static struct bound *bound_find(struct tally *tally, const struct point *point)
{
    const char *key = arena_print(&tally->arena, "%s|%s|%s", point->model, point->machine,
                                  point->precision);
    for (size_t i = 0; i < tally->bound_count; i++)
        if (!strcmp(tally->bounds[i].key, key))
            return &tally->bounds[i];
    struct bound *bound = arena_push(&tally->arena, &tally->bounds, &tally->bound_count,
                                     &tally->bound_room, sizeof *bound);
    *bound = (struct bound){ .key = key };
    bound_open(tally, point, bound);
    return bound;
}

static double bound_step(struct tally *tally, const struct point *point)
{
    struct arena arena = { 0 };
    const struct bound *bound = bound_find(tally, point);
    double step, *inputs = arena_array(&arena, bound->graph.input_count, sizeof *inputs);
    for (size_t i = 0; i < bound->graph.input_count; i++)
        inputs[i] = bound->graph.inputs[i].value;
    inputs[bound->chips] = point->chips;
    inputs[bound->batch] = point->concurrency;
    inputs[bound->context] = point->input + point->output / 2;
    graph_value(&arena, &bound->graph, inputs, NULL, &step);
    arena_free(&arena);
    return step;
}

static void compare(struct tally *tally, const struct point *point)
{
    double step = bound_step(tally, point), share = step / point->each;
    tally->reason[COMPARED]++;
    tally->sum += share;
    if (share > tally->closest) {
        tally->closest = share;
        tally->worst = *point;
    }
    if (share <= 1)
        return;
    if (tally->above++ < 20)
        fprintf(stderr, "%s: %s %s on %g %s, %g sequences at %g tokens: bound %.3f ms, "
                "measured %.3f ms\n", point->place, point->model, point->precision, point->chips,
                point->machine, point->concurrency, point->input + point->output / 2,
                1e3 * step, 1e3 * point->each);
}

/* ---- what every row needs --------------------------------------------------------------- */

static enum reason check(const struct catalog *catalog, struct point *point)
{
    static const char *const known[] = { "bf16", "fp8", "fp4" };
    struct error ignored;
    if (!catalog_find(catalog, CATALOG_MODEL, point->model, &ignored))
        return NO_MODEL;
    if (!catalog_find(catalog, CATALOG_MACHINE, point->machine, &ignored))
        return NO_MACHINE;
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strcmp(point->precision, known[i]))
            return point->chips >= 1 && point->concurrency >= 1 && point->each > 0 ? COMPARED
                                                                                 : NO_SIZES;
    return NO_PRECISION;
}

static double number(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return text_number(text_of(csv_cell(csv, row, csv_column(csv, column))), &value) ? value : 0;
}

static const char *word(const struct csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_column(csv, column));
}

static bool shared_sheet(struct tally *tally, const char *file, struct csv *csv)
{
    struct error error;
    struct text text;
    const char *path = shared_file(&tally->arena,
                                   arena_print(&tally->arena, "measurements/%s", file));
    if (!path)
        return false;
    if (!file_read(&tally->arena, path, 1 << 26, &text, &error) ||
        !csv_read(&tally->arena, path, text, csv, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    return true;
}

static void report(struct tally *tally)
{
    for (int i = 0; i < REASONS; i++)
        if (tally->reason[i])
            printf("%6zu %s\n", tally->reason[i], reasons[i]);
    printf("the bound is %.0f %% of the measured step on average, %.0f %% at most (%s, %s on %s)\n",
           100 * tally->sum / (double)tally->reason[COMPARED], 100 * tally->closest,
           tally->worst.place, tally->worst.model, tally->worst.machine);
    size_t above = tally->above;
    arena_free(&tally->arena);
    assert_int_equal(above, 0);
}

/* ---- serving_points.csv -------------------------------------------------------------------- */

static double concurrency_of(const char *source)
{
    const char *at = strstr(source, "silicon_concurrency=");
    return at ? strtod(at + strlen("silicon_concurrency="), NULL) : 0;
}

/* The size columns of most files multiply what they should list; the width of the experts
 * or, without, the larger of tensor and attention-data parallel ranks is the chips. */
static double chips_of(const struct csv *csv, size_t row, const char *pool, bool plain)
{
    struct arena arena = { 0 };
    double experts = number(csv, row, arena_print(&arena, "%smoe_tp_size", pool));
    double tensor = number(csv, row, arena_print(&arena, "%stp_size", pool));
    double data = number(csv, row, arena_print(&arena, "%sattention_dp_size", pool));
    double stages = number(csv, row, arena_print(&arena, "%spp_size", pool));
    arena_free(&arena);
    double chips = plain ? tensor * fmax(data, 1) : experts > 1 ? experts : fmax(tensor, data);
    return chips * fmax(stages, 1);
}

/* Sessions that are known to have used multi-token prediction, which no column says. */
static bool speculative(const char *model, const char *source, const char *backend)
{
    static const char *const sessions[] = { "measured=2026-01-14", "measured=2026-02-05",
                                            "measured=2026-02-06" };
    if (!strstr(model, "DeepSeek"))
        return false;
    for (size_t i = 0; i < COUNT(sessions); i++)
        if (strstr(source, sessions[i]) && !strcmp(backend, "trtllm"))
            return true;
    return strstr(source, "measured=2026-03-25") && !strcmp(backend, "sglang");
}

static enum reason read_point(const struct csv *csv, size_t row, struct point *point)
{
    const char *source = word(csv, row, "silicon_data_source");
    const char *system = word(csv, row, "system");
    bool split = !strcmp(word(csv, row, "mode"), "disagg");
    bool gap = strstr(source, "gap-analysis") || strstr(source, "gap_analysis");
    double scale = gap ? 1 : 0.9;
    point->model = word(csv, row, "model_path");
    point->machine = !strcmp(system, "gb200") ? "gb200-nvl72" : system;
    point->precision = word(csv, row, "precision");
    if (!*point->precision)
        point->precision = "bf16";
    point->concurrency = concurrency_of(source);
    point->input = scale * number(csv, row, "isl");
    point->output = scale * number(csv, row, "osl");
    point->each = number(csv, row, "silicon_tpot_ms") * 1e-3;
    point->chips = split ? number(csv, row, "decode_num_workers") * chips_of(csv, row, "decode_", gap)
                         : chips_of(csv, row, "", gap);
    if (speculative(point->model, source, word(csv, row, "backend")))
        return SPECULATIVE;
    if (strstr(source, "gtl_job_id"))
        return SEVERAL;
    if (!split && !strcmp(system, "gb200") && point->chips >= 12)
        return NO_SIZES;                            /* a split server without its pools */
    return COMPARED;
}

static void serving_points(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    struct catalog catalog;
    struct csv csv;
    if (!shared_sheet(&tally, "serving_points.csv", &csv)) {
        arena_free(&tally.arena);                   /* skip() does not come back */
        skip();
    }
    catalog_open(&catalog, &tally.arena);
    for (size_t row = 0; row < csv.rows; row++) {
        struct point point = { .place = arena_print(&tally.arena, "serving_points.csv:%d",
                                                    csv.lines[row]) };
        enum reason reason = read_point(&csv, row, &point);
        if (reason == COMPARED)
            reason = check(&catalog, &point);
        if (reason == COMPARED)
            compare(&tally, &point);
        else
            tally.reason[reason]++;
    }
    report(&tally);
}

/* ---- serving.csv ---------------------------------------------------------------------------- */

static bool time_of_token(const struct csv *csv, size_t row, double *each)
{
    const char *metric = word(csv, row, "metric");
    double value = number(csv, row, "value");
    if (!strcmp(metric, "output_speed_per_user"))
        *each = 1 / value;
    else if (!strncmp(metric, "tpot_", 5) || !strncmp(metric, "itl_", 4))
        *each = 1e-3 * value;
    else
        return false;
    return true;
}

static enum reason read_row(const struct csv *csv, size_t row, struct point *point)
{
    const char *note = word(csv, row, "note");
    double scale = strstr(note, "0.8x to 1.0x") ? 0.9 : 1;
    point->model = word(csv, row, "model");
    point->machine = word(csv, row, "hardware");
    point->precision = word(csv, row, "precision");
    point->chips = number(csv, row, "gpus");
    point->concurrency = number(csv, row, "batch_concurrency");
    point->input = scale * number(csv, row, "input_len");
    point->output = scale * number(csv, row, "output_len");
    if (strstr(note, "disaggregated"))
        point->chips = number(csv, row, "tp");      /* its decode worker's */
    if (strstr(note, "MTP") || strstr(note, "specul"))
        return SPECULATIVE;
    return strstr(note, "queue") ? QUEUEING : COMPARED;
}

static void serving(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    struct catalog catalog;
    struct csv csv;
    if (!shared_sheet(&tally, "serving.csv", &csv)) {
        arena_free(&tally.arena);                   /* skip() does not come back */
        skip();
    }
    catalog_open(&catalog, &tally.arena);
    for (size_t row = 0; row < csv.rows; row++) {
        struct point point = { .place = arena_print(&tally.arena, "serving.csv:%d",
                                                    csv.lines[row]) };
        if (!time_of_token(&csv, row, &point.each))
            continue;
        enum reason reason = read_row(&csv, row, &point);
        if (reason == COMPARED)
            reason = check(&catalog, &point);
        if (reason == COMPARED)
            compare(&tally, &point);
        else
            tally.reason[reason]++;
    }
    report(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serving),
        cmocka_unit_test(serving_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
