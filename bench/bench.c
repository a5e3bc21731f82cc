/* bench -- points a second of one core: rows compiled, rows interpreted, and the same
 * columns by hand, for each instruction set. Ratios are the answer; absolute figures move
 * with the machine. Each figure is the best of several turns taken in rotation, so that
 * all see the same machine. */
#include "ask/ask.h"
#include "bench/hand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 2016, PAD = 40, REPEATS = 400, TURNS = 25, KEEP = 5 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const struct set {
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
    struct question question;
    struct hand hand;
    struct list list;
    double *batch, *context, *out[KEEP], fixed[64];
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
    const struct kernel *kernel = kernel_find("portable", "roofline");
    struct expr *exprs[KEEP];
    need(scenario_open(&bench->scenario, &bench->arena, &bench->question, NULL, NULL, &error),
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
    for (size_t i = 0; i < kernel->fixed_count; i++)
        bench->fixed[i] = value(bench, kernel->fixed[i]);
    for (int i = 0; i < KEEP; i++) {
        bench->out[i] = column(bench);
        need(expr_parse(&bench->scenario.book, "bench", 1, text_of(kernel->keep[i]), &exprs[i],
                        &error), &error);
    }
    need(list_build(&bench->arena, &bench->scenario.book, &bench->scenario.facts, exprs, KEEP,
                    &bench->list, &error), &error);
    bench->inputs = arena_array(&bench->arena, bench->list.input_count, sizeof(struct column));
    for (size_t i = 0; i < bench->list.input_count; i++)
        bench->inputs[i] = (struct column){ &bench->list.inputs[i].value, 0 };
    bench->inputs[list_input(&bench->list, "batch")] = (struct column){ bench->batch, 1 };
    bench->inputs[list_input(&bench->list, "context")] = (struct column){ bench->context, 1 };
}

enum way { HAND_LANES, HAND_PLAIN, COMPILED, INTERPRETED, WAYS };

static void once(struct bench *bench, const struct set *set, const struct kernel *kernel,
                 const struct list_program *program, enum way way)
{
    const double *vary[] = { bench->batch, bench->context };
    switch (way) {
    case HAND_LANES: set->lanes(&bench->hand, bench->batch, bench->context, bench->out, POINTS); break;
    case HAND_PLAIN: set->plain(&bench->hand, bench->batch, bench->context, bench->out, POINTS); break;
    case COMPILED: kernel->run(bench->fixed, NULL, vary, bench->out, POINTS); break;
    default: list_program_run(program, bench->inputs, bench->out, POINTS); break;
    }
}

static void measure(struct bench *bench, const struct set *set)
{
    const struct kernel *kernel = kernel_find(set->name, "roofline");
    struct list_program *program = list_program_make(&bench->arena, set->name, &bench->list,
                                                     bench->inputs);
    double best[WAYS] = { 0 };
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            double start = seconds();
            for (int i = 0; i < REPEATS; i++)
                once(bench, set, kernel, program, (enum way)way);
            double rate = REPEATS * (double)POINTS / (seconds() - start) / 1e6;
            best[way] = rate > best[way] ? rate : best[way];
        }
    printf("%-9s %8.0f %8.0f %9.0f %12.0f   %8.2f %11.2f\n", set->name, best[HAND_LANES],
           best[HAND_PLAIN], best[COMPILED], best[INTERPRETED], best[COMPILED] / best[HAND_LANES],
           best[INTERPRETED] / best[HAND_LANES]);
}

int main(void)
{
    static struct bench bench;
    prepare(&bench);
    printf("roofline rows, million points a second, one core\n"
           "%-9s %8s %8s %9s %12s   %8s %11s\n", "set", "by hand", "plain C", "compiled",
           "interpreted", "compiled", "interpreted");
    printf("%-9s %8s %8s %9s %12s   %20s\n", "", "(lanes)", "", "", "", "of by hand");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (list_run_has(sets[i].name))
            measure(&bench, &sets[i]);
    arena_free(&bench.arena);
    return 0;
}
