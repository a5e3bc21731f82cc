/* train -- CPU seconds of a search of layouts: all of the job, and the layouts that it looks at in
 * a second of one core. Each is the median of several turns. */
#include "ask/ask.h"
#include "ask/train/train.h"
#include "bench/turns.h"
#include "base/quantile.h"

#include <stdio.h>

enum { TURNS = 7, SETS = 5 };

struct train_job {
    const char *name, *model, *machine, *gpus, *sequences, *length, *bar;
    int ways;                       /* of what --set gives, in bits of `sets` */
};

/* NULL: as the search has it. */
static const char *const sets[SETS][2] = {
    { "offload_weights=0", "offload_weights=1" },
    { "offload_activations=0", "offload_activations=1" },
    { "offload_optimizer=0", "offload_optimizer=1" },
    { NULL, "sequence_parallel=0" }, { NULL, "zero_stage=0" } };

struct layout_counts {
    size_t points, even, met;       /* looked at; come out even; fit as well */
};

/* One question, in one of the ways. */
static bool ask(const struct train_job *job, int way, struct layout_counts *counts)
{
    struct arena arena = { 0 };
    struct error error;
    struct command command = { .verb = &verb_train };
    struct answer answer = { .text = { .arena = &arena }, .csv = { .arena = &arena } };
    struct train train = { .arena = &arena, .command = &command, .answer = &answer,
                           .error = &error };
    for (int i = 0; job->ways > 1 && i < SETS; i++)
        if (sets[i][way >> i & 1])
            command_set(&arena, &command, "set", sets[i][way >> i & 1]);
    command_put_word(&arena, &command, job->model);
    command_set(&arena, &command, "on", job->machine);
    command_set(&arena, &command, "gpus", job->gpus);
    command_set(&arena, &command, "global-batch", job->sequences);
    command_set(&arena, &command, "seq-length", job->length);
    const bool good = train_open(&train) &&
                      search_run(&arena, &train.space, 1, &train.result, &error);
    if (!good)
        printf("  %s: %s\n", job->name, error.what);
    const struct search_count *count = &train.result.count;
    counts->points += count->points;
    counts->even += count->points - count->broken[0] - count->no_room - count->no_fit;
    counts->met += count->met;
    arena_free(&arena);
    return good;
}

static void run_job(const struct train_job *job)
{
    double seconds[TURNS];
    struct layout_counts counts = { 0 };
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = cpu();
        counts = (struct layout_counts){ 0 };
        for (int way = 0; way < job->ways; way++)
            if (!ask(job, way, &counts))
                return;
        seconds[turn] = cpu() - start;
    }
    numbers_sort(seconds, TURNS);
    const double whole = seconds[TURNS / 2];
    printf("  %-44s %7.0f ms  %7.3f M layouts, %.3f M even, %.3f M fit: %5.1f M/s  %s\n",
           job->name, 1e3 * whole, 1e-6 * (double)counts.points, 1e-6 * (double)counts.even,
           1e-6 * (double)counts.met, 1e-6 * (double)counts.points / whole, job->bar);
}

int main(void)
{
    static const struct train_job jobs[] = {
        { "Megatron 22B, 8 A100", "gpt-22b", "a100-sxm", "8", "8", "2048", "", 1 },
        /* calculon's 290,624 are 8,160 of these: by 2 networks, forms of TP and overlaps. */
        { "the same, and offloaded, without SP or ZeRO", "gpt-22b", "a100-sxm", "8", "8", "2048",
          "bar: 1,000 ms; calculon: 290,624 not in 593,000 ms", 1 << SETS },
        { "Llama-3.1-405B, 16,384 H100", "llama-3.1-405b", "h100-sxm", "16384", "2048", "8192",
          "", 1 },
        { "DeepSeek-V3, 2,048 H800", "deepseek-v3", "h800-sxm", "2048", "15360", "4096", "", 1 } };
    printf("\ntrain, CPU of all threads\n");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        run_job(&jobs[i]);
    return 0;
}
