/* training_world -- a model on A100s, each a replica, rows given by hand, values of rows. */
#ifndef TESTS_UNIT_TRAINING_WORLD_H
#define TESTS_UNIT_TRAINING_WORLD_H

#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

static void world_open(struct world *world, const char *model)
{
    struct error error;
    *world = (struct world){ 0 };
    if (!scenario_open(&world->scenario, &world->arena, &world->command,
                       (struct subject){ .model = model, .machine = "a100-sxm" }, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    facts_set(&world->scenario.facts, "tensor_parallel", 1, ORIGIN_GIVEN, "test");
}

static void give(struct world *world, const char *row, double value)
{
    facts_set(&world->scenario.facts, row, value, ORIGIN_GIVEN, "test");
}

static double value(struct world *world, const char *text)
{
    struct error error;
    double number;
    if (!value_of(&world->scenario, text, &number, &error))
        fail_msg("%s: %s (%s)", text, error.what, error.hint);
    return number;
}

#endif
