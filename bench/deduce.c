/* deduce -- CPU seconds of reading prices backward, one thread: a million draws of the unknowns
 * through the rows of a sheet, and the parts of that. Each is the median of several turns. */
#include "ask/deduce/deduce.h"
#include "infer/draws.h"
#include "bench/turns.h"
#include "base/quantile.h"

#include <stdio.h>

enum { TURNS = 5, DRAWS = 1 << 20 };

static void line(const char *name, double *times, const char *bar)
{
    numbers_sort(times, TURNS);
    printf("  %-44s %7.0f ms  %5.1f M/s  %s\n", name, 1e3 * times[TURNS / 2],
           1e-6 * DRAWS / times[TURNS / 2], bar);
}

int main(void)
{
    struct arena arena = { 0 };
    struct command command = { .verb = &verb_deduce };
    struct scenario scenario;
    struct priors priors;
    struct sampler sampler;
    struct draw_block block;
    struct ziggurat ziggurat;
    struct error error;
    double whole[TURNS], drawn[TURNS], run[TURNS], kept[TURNS];
    bool good = scenario_read(&scenario, &arena, &command, (struct subject){ 0 }, &error);
    if (good)
        priors_read(&scenario, &priors);
    if (!good || !sampler_open(&arena, &scenario.formulas, &scenario.facts, &sampler, &error)) {
        printf("deduce: %s\n", error.what);
        return 1;
    }
    ziggurat_open(&ziggurat);
    block_open(&arena, &sampler, &block);
    for (int turn = 0; turn < TURNS; turn++) {
        struct draws *draws = draws_new(&arena, &sampler, 1, DRAWS, false);
        drawn[turn] = run[turn] = kept[turn] = 0;
        for (size_t at = 0; at < DRAWS; at += BLOCK) {
            double start = cpu();
            block_draw(&sampler, &ziggurat, 1, at / BLOCK, &block);
            double made = cpu();
            block_run(&block, BLOCK);
            double done = cpu();
            draws_keep(draws, &block, at, BLOCK);
            drawn[turn] += made - start;
            run[turn] += done - made;
            kept[turn] += cpu() - done;
        }
        whole[turn] = drawn[turn] + run[turn] + kept[turn];
    }
    printf("\ndeduce, %d draws, CPU of one thread\n", DRAWS);
    line("rows: unknowns and prices", run, "bar: 10 M/s");
    line("random numbers, 32 a draw", drawn, "");
    line("cells kept", kept, "");
    line("all of it", whole, "");
    return 0;
}
