/* deduce: compiled against interpreted draws, and sheets made forward from known operating
 * points, which the ranges must hold as often as they say. */
#include "test.h"

#include "ask/deduce.h"
#include "engine/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct world {
    struct arena arena;
    struct question question;
    struct scenario scenario;
    struct priors priors;
    struct error error;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    if (!scenario_open(&world->scenario, &world->arena, &world->question, NULL, NULL,
                       &world->error) ||
        !priors_read(&world->scenario, &world->priors, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    *state = world;
    return 0;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static struct draws *make(struct world *world, uint64_t seed, size_t count)
{
    struct draws *draws;
    if (!draws_make(&world->arena, &world->scenario.book, &world->scenario.facts, seed, count,
                    false, &draws, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return draws;
}

struct truths {
    double *field[FIELD_COUNT], *quantity[QUANTITY_COUNT];
};

static struct truths truths_make(struct world *world, uint64_t seed, size_t count)
{
    struct truths truths;
    for (int i = 0; i < FIELD_COUNT; i++)
        truths.field[i] = arena_array(&world->arena, count, sizeof(double));
    for (int i = 0; i < QUANTITY_COUNT; i++)
        truths.quantity[i] = arena_array(&world->arena, count, sizeof(double));
    if (!draws_values(&world->arena, &world->scenario.book, &world->scenario.facts, seed, count,
                      truths.field, truths.quantity, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return truths;
}

/* ---- the same rows both ways ------------------------------------------------------------- */

static void compiled_equals_interpreted(void **state)
{
    enum { COUNT_OF = 3000 };
    struct world *world = *state;
    struct truths compiled = truths_make(world, 7, COUNT_OF);
    assert_true(draws_compiled(make(world, 7, 10)));
    /* the same formula, given anew: no longer what was compiled */
    assert_true(scenario_set(&world->scenario, "input_cost=recompute_cost * prompt_work / sold_share",
                             &world->error));
    assert_false(draws_compiled(make(world, 7, 10)));
    struct truths interpreted = truths_make(world, 7, COUNT_OF);
    for (int i = 0; i < FIELD_COUNT; i++)
        for (int k = 0; k < COUNT_OF; k++)
            if (!same_bits(compiled.field[i][k], interpreted.field[i][k]))
                fail_msg("%s: %g, %g", fields[i].cost, compiled.field[i][k],
                         interpreted.field[i][k]);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        for (int k = 0; k < COUNT_OF; k++)
            assert_true(same_bits(compiled.quantity[i][k], interpreted.quantity[i][k]));
}

/* ---- coverage ---------------------------------------------------------------------------- */

/* Which fields a sheet shows. */
static const unsigned patterns[] = {
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_WRITE_SHORT |
        1u << FIELD_WRITE_LONG | 1u << FIELD_FAST,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_STORAGE |
        1u << FIELD_STEP_INPUT | 1u << FIELD_STEP_OUTPUT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_BATCH_INPUT |
        1u << FIELD_BATCH_OUTPUT | 1u << FIELD_STEP_INPUT | 1u << FIELD_STEP_OUTPUT,
};

/* A price from a cost: as the seller's policy has it, or the cost with a margin that strays. */
static double price_of(const struct belief *belief, double cost, struct random *random)
{
    double stray = random_normal(random);
    bool policy = random_uniform(random) < belief->policy;
    if (policy || !(cost > 0))                          /* no batch is so fast: policy it is */
        return belief->policy_middle * scalar_exp(belief->policy_spread * stray);
    return cost * scalar_exp(belief->spread * stray);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void ranges_hold_the_truth(void **state)
{
    enum { SHEETS = 500, DRAWS = 1 << 18 };
    struct world *world = *state;
    size_t inside90[QUANTITY_COUNT] = { 0 }, inside50[QUANTITY_COUNT] = { 0 }, outside = 0;
    double start = seconds();
    struct draws *draws = make(world, 1, DRAWS);
    printf("%.2f M draws/s\n", DRAWS / (seconds() - start) * 1e-6);
    struct truths truths = truths_make(world, 2, SHEETS);
    start = seconds();
    for (size_t k = 0; k < SHEETS; k++) {
        struct arena scratch = { 0 };
        struct evidence evidence;
        struct posterior posterior;
        struct random random;
        random_stream(&random, 3, "sheets", k);
        for (int i = 0; i < FIELD_COUNT; i++) {
            double price = price_of(&world->priors.belief[i], truths.field[i][k], &random);
            bool shown = patterns[k % COUNT(patterns)] >> i & 1;
            evidence.seen[i] = shown ? price : NAN;
            evidence.policy[i] = NAN;
        }
        deduce_sheet(&scratch, draws, world->priors.belief, &evidence, true, &posterior);
        outside += posterior.outside;
        for (int i = 0; i < QUANTITY_COUNT; i++) {
            double truth = truths.quantity[i][k];
            inside90[i] += truth >= posterior.span[i].q05 && truth <= posterior.span[i].q95;
            inside50[i] += truth >= posterior.span[i].q25 && truth <= posterior.span[i].q75;
        }
        arena_free(&scratch);
    }
    printf("%d sheets in %.1f s, %zu outside the priors\n", SHEETS, seconds() - start, outside);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        printf("%-22s 90 %% holds %.1f  50 %% holds %.1f\n", quantities[i],
               100.0 * (double)inside90[i] / SHEETS, 100.0 * (double)inside50[i] / SHEETS);
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        assert_in_range(inside90[i], SHEETS * 85 / 100, SHEETS * 95 / 100);
        assert_in_range(inside50[i], SHEETS * 43 / 100, SHEETS * 57 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(compiled_equals_interpreted, world_open, world_close),
        cmocka_unit_test_setup_teardown(ranges_hold_the_truth, world_open, world_close),
    };
    return cmocka_run_group_tests_name("deduce", tests, NULL, NULL);
}
