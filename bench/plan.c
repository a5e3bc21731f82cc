/* plan -- CPU seconds of a search: all of the job, and the points that it looks at in a second of
 * one core, sieves, fronts and numbers of layouts included. Each is the median of several turns. */
#include "ask/ask.h"
#include "ask/plan/plan.h"
#include "bench/turns.h"
#include "base/quantile.h"

#include <stdio.h>

enum { TURNS = 7 };

struct plan_job {
    const char *name, *model, *machine, *gpus, *precision, *kv, *isl, *osl, *ttft, *tpot, *bar;
};

static struct command command_of(struct arena *arena, const struct plan_job *job)
{
    struct command command = { .verb = &verb_plan };
    const struct { const char *option, *text; } given[] = {
        { "on", job->machine }, { "gpus", job->gpus }, { "precision", job->precision },
        { "kv-precision", job->kv }, { "isl", job->isl }, { "osl", job->osl },
        { "ttft", job->ttft }, { "tpot", job->tpot } };
    command_put_word(arena, &command, job->model);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].text)
            command_set(arena, &command, given[i].option, given[i].text);
    return command;
}

static void run_job(const struct plan_job *job)
{
    double whole[TURNS], search[TURNS];
    struct search_count count = { 0 };
    struct arena outer = { 0 };
    const struct command command = command_of(&outer, job);
    struct subject subject;
    command_models(&command, &subject);
    for (int turn = 0; turn < TURNS; turn++) {
        struct arena arena = { 0 };
        struct answer answer = { .text = { .arena = &arena }, .csv = { .arena = &arena } };
        struct error error;
        struct plan plan = { .arena = &arena, .command = &command, .answer = &answer,
                             .error = &error, .model = job->model, .subject = subject };
        answer.doc = doc_new(&arena, DOC_OBJECT);
        const double start = cpu();
        if (!plan_spaces(&plan)) {
            printf("  %s: %s\n", job->name, error.what);
            return;
        }
        const double spaces = cpu();
        if (!search_run(&arena, plan.spaces, plan.count, &plan.result, &error))
            return;
        const double done = cpu();
        whole[turn] = done - start;
        search[turn] = done - spaces;
        count = plan.result.count;
        arena_free(&arena);
    }
    numbers_sort(whole, TURNS);
    numbers_sort(search, TURNS);
    const double all = whole[TURNS / 2], walked = search[TURNS / 2];
    printf("  %-44s %7.0f ms  search %7.0f ms  %6.1f M points, %5.1f M seen: %5.1f M/s, %5.1f M/s seen"
           "  %s\n", job->name, 1e3 * all, 1e3 * walked, 1e-6 * (double)count.points,
           1e-6 * (double)count.seen, 1e-6 * (double)count.points / walked,
           1e-6 * (double)count.seen / walked, job->bar);
}

int main(void)
{
    static const struct plan_job jobs[] = {
        { "Qwen3-32B fp8, 32 H200, limits", "qwen3-32b", "h200-sxm", "32", "fp8", NULL, "4000", "500",
          "300ms", "10ms", "AIConfigurator 0.10: 34,000 ms" },
        { "the same without limits", "qwen3-32b", "h200-sxm", "32", "fp8", NULL, "4000", "500",
          "1h", "1h", "bar: 20 M/s" },
        { "DeepSeek-V3, GB200 NVL72, 4 formats", "deepseek-v3", "gb200-nvl72", NULL, "fp8,fp4",
          "bf16,fp8", "4000", "500", NULL, NULL, "bar: 200 ms of two cores" },
        { "the same without limits", "deepseek-v3", "gb200-nvl72", NULL, "fp8,fp4", "bf16,fp8",
          "4000", "500", "1h", "1h", "bar: 20 M/s" },
        { "DeepSeek-V3, 16,384 GB200", "deepseek-v3", "gb200-nvl72", "16384", "fp8", NULL, "4000",
          "500", NULL, NULL, "" } };
    printf("\nplan, CPU of all threads\n");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        run_job(&jobs[i]);
    return 0;
}
