/* bench -- points a second of one core: rows, and the same
 * columns by hand, for each instruction set; then serving points of models. Ratios are the answer; absolute figures move
 * with the machine. Each figure is the best of several turns taken in rotation, so that
 * all see the same machine. */
#include "ask/ask.h"
#include "bench/hand.h"
#include "build/row_names.h"
#include "scenario/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POINTS = 2016, PAD = 40, REPEATS = 400, TURNS = 25, KEEP = 5 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const struct loop_set {
    const char *name;
    hand_loop *lanes, *plain;
} sets[] = {
    { "portable", hand_lanes_portable, hand_plain_portable },
#if defined(__x86_64__)
    { "avx2", hand_lanes_avx2, hand_plain_avx2 },
    { "avx512", hand_lanes_avx512, hand_plain_avx512 },
#endif
};

struct bench {
    struct arena arena;
    struct scenario scenario;
    struct command command;
    struct hand hand;
    struct graph graph;
    double *batch, *context, *out[KEEP];
    struct column *inputs;
};

static void *need(bool fine, const struct error *error)
{
    if (!fine) {
        fprintf(stderr, "bench: %s (%s)\n", error->what, error->hint);
        exit(1);
    }
    return NULL;
}

static double value(struct bench *bench, const char *name)
{
    struct error error;
    double number;
    need(value_of(&bench->scenario, name, &number, &error), &error);
    return number;
}

/* Columns are padded apart: a power of two between them would cost eightfold. */
static double *column(struct bench *bench)
{
    return arena_align(&bench->arena, (POINTS + PAD) * sizeof(double), 64);
}

static void prepare(struct bench *bench)
{
    struct error error;
    static const char *const keep[KEEP] = { NAME_bound_compute, NAME_bound_memory, NAME_bound_step, NAME_bound_throughput,
                                            NAME_bound_cost_per_token };
    const struct expr *exprs[KEEP];
    need(scenario_open(&bench->scenario, &bench->arena, &bench->command,
                       (struct subject){ 0 }, &error),
         &error);
    bench->batch = column(bench);
    bench->context = column(bench);
    for (size_t k = 0; k < POINTS; k++) {
        bench->batch[k] = 1 + (double)(k * 7919 % 16384);
        bench->context[k] = 100 + (double)(k * 104729 % 200000);
    }
    bench->hand = (struct hand){
        value(bench, "flop_per_mac"), value(bench, "params_active"), value(bench, "params_total"),
        value(bench, "weight_bytes"), value(bench, "kv_per_token"), value(bench, "chips"),
        value(bench, "peak_flops"), value(bench, "hbm_bandwidth"), value(bench, "chip_price") };
    for (int i = 0; i < KEEP; i++) {
        bench->out[i] = column(bench);
        need(expr_parse(&bench->scenario.formulas, "bench", 1, text_of(keep[i]), &exprs[i],
                        &error), &error);
    }
    need(graph_build(&bench->arena, &bench->scenario.formulas, &bench->scenario.facts, exprs, KEEP,
                     &bench->graph, &error), &error);
    bench->inputs = arena_array(&bench->arena, bench->graph.input_count, sizeof(struct column));
    for (size_t i = 0; i < bench->graph.input_count; i++)
        bench->inputs[i] = (struct column){ &bench->graph.inputs[i].value, 0 };
    bench->inputs[graph_input(&bench->graph, "batch")] = (struct column){ bench->batch, 1 };
    bench->inputs[graph_input(&bench->graph, "context")] = (struct column){ bench->context, 1 };
}

enum way { HAND_LANES, HAND_PLAIN, ROWS, WAYS };

static void once(struct bench *bench, const struct loop_set *set, const struct graph_program *program, enum way way)
{
    switch (way) {
    case HAND_LANES: set->lanes(&bench->hand, bench->batch, bench->context, bench->out, POINTS); break;
    case HAND_PLAIN: set->plain(&bench->hand, bench->batch, bench->context, bench->out, POINTS); break;
    default: graph_program_run(program, bench->inputs, bench->out, POINTS); break;
    }
}

static void measure(struct bench *bench, const struct loop_set *set)
{
    struct graph_program *program = graph_program_make(&bench->arena, set->name, &bench->graph,
                                                       bench->inputs);
    double best[WAYS] = { 0 };
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            double start = seconds();
            for (int i = 0; i < REPEATS; i++)
                once(bench, set, program, (enum way)way);
            double rate = REPEATS * (double)POINTS / (seconds() - start) / 1e6;
            best[way] = rate > best[way] ? rate : best[way];
        }
    printf("%-9s %8.0f %8.0f %8.0f   %10.2f\n", set->name, best[HAND_LANES], best[HAND_PLAIN], best[ROWS],
           best[ROWS] / best[HAND_LANES]);
}

/* ---- serving points: model, machine and layout fixed ------------------------------------- */

/* What a search over servers asks of each point; hand it the columns that vary. */
static const char *const point_rows[] = {
    "steady_token_time", "attention_dp * rank_running * one_token / steady_token_time / chips",
    "chips * chip_price * steady_token_time / (attention_dp * rank_running * one_token)",
    "rank_running / rank_slots" };
enum { POINT_ROWS = sizeof point_rows / sizeof *point_rows, VARY = 3,
       SETS = sizeof sets / sizeof *sets };

static const struct {
    const char *model, *machine, *ranks, *what, *vary[VARY];
} serving[] = {
    { "llama-3.1-70b", "h100-sxm", "1", "running, context", { "rank_running", "mean_context" } },
    { "llama-3.1-70b", "h100-sxm", "1", "running, prompt, output",
      { "rank_running", "prompt_tokens", "output_tokens" } },
    { "deepseek-v3", "gb200-nvl72", "8", "running, context", { "rank_running", "mean_context" } },
    { "deepseek-v3", "gb200-nvl72", "8", "running, prompt, output",
      { "rank_running", "prompt_tokens", "output_tokens" } },
};

struct points {
    struct arena arena;
    struct scenario scenario;
    struct command command;
    struct graph graph;
    struct column *inputs;
    double *vary[VARY], *out[POINT_ROWS];
};

static double *padded(struct arena *arena)
{
    return arena_align(arena, (POINTS + PAD) * sizeof(double), 64);
}

static void prepare_points(struct points *points, size_t which)
{
    const struct expr *exprs[POINT_ROWS];
    struct error error;
    need(scenario_open(&points->scenario, &points->arena, &points->command,
                       (struct subject){ .model = serving[which].model,
                                         .machine = serving[which].machine }, &error), &error);
    need(scenario_set_row(&points->scenario, "attention_dp", serving[which].ranks, ORIGIN_GIVEN, "bench", &error),
         &error);
    for (int i = 0; i < VARY && serving[which].vary[i]; i++) {
        points->vary[i] = padded(&points->arena);
        for (size_t k = 0; k < POINTS; k++)
            points->vary[i][k] = i ? 100 + (double)(k * 104729 % 20000) : 1 + (double)(k * 7919 % 512);
        facts_set(&points->scenario.facts, serving[which].vary[i], points->vary[i][0], ORIGIN_GIVEN, "bench");
    }
    for (int i = 0; i < POINT_ROWS; i++) {
        points->out[i] = padded(&points->arena);
        need(expr_parse(&points->scenario.formulas, "bench", 1, text_of(point_rows[i]), &exprs[i],
                        &error), &error);
    }
    need(graph_build(&points->arena, &points->scenario.formulas, &points->scenario.facts, exprs,
                     POINT_ROWS, &points->graph, &error), &error);
    points->inputs = arena_array(&points->arena, points->graph.input_count, sizeof(struct column));
    for (size_t i = 0; i < points->graph.input_count; i++)
        points->inputs[i] = (struct column){ &points->graph.inputs[i].value, 0 };
    for (int i = 0; i < VARY && serving[which].vary[i]; i++)
        points->inputs[graph_input(&points->graph, serving[which].vary[i])] =
            (struct column){ points->vary[i], 1 };
}

static void measure_points(struct points *points, size_t which)
{
    struct graph_program *program[SETS] = { 0 };
    double best[SETS] = { 0 };
    for (size_t s = 0; s < SETS; s++)
        if (graph_run_has(sets[s].name))
            program[s] = graph_program_make(&points->arena, sets[s].name, &points->graph,
                                            points->inputs);
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t s = 0; s < SETS; s++) {
            double start = seconds();
            for (int i = 0; i < REPEATS / 10 && program[s]; i++)
                graph_program_run(program[s], points->inputs, points->out, POINTS);
            double rate = REPEATS / 10 * (double)POINTS / (seconds() - start) / 1e6;
            best[s] = program[s] && rate > best[s] ? rate : best[s];
        }
    printf("%-14s %-24s", serving[which].model, serving[which].what);
    for (size_t s = 0; s < SETS; s++)
        printf(" %8.1f", best[s]);
    printf("   %5.1f\n", best[SETS > 1] / best[0]);
}

static void bench_points(void)
{
    printf("\nserving points, million a second: time between tokens, tokens/s a GPU,\n"
           "cost of a token, share of the seats taken\n%-14s %-24s", "model", "what varies");
    for (size_t s = 0; s < SETS; s++)
        printf(" %8s", sets[s].name);
    printf("   %s of portable\n", sets[SETS > 1].name);
    for (size_t i = 0; i < sizeof serving / sizeof *serving; i++) {
        struct points points = { 0 };
        prepare_points(&points, i);
        measure_points(&points, i);
        arena_free(&points.arena);
    }
}

int main(void)
{
    static struct bench bench;
    prepare(&bench);
    printf("roofline rows, million points a second, one core\n"
           "%-9s %8s %8s %8s   %10s\n", "set", "by hand", "plain C", "rows", "of by hand");
    printf("%-9s %8s\n", "", "(lanes)");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (graph_run_has(sets[i].name))
            measure(&bench, &sets[i]);
    arena_free(&bench.arena);
    bench_points();
    return 0;
}
