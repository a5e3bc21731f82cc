/* Any bytes as a price list: an answer or an error, never a crash, a leak or a wait. What was
 * read has prices above 0, and its first entries are weighed. */
#include "ask/deduce/deduce.h"

#include <assert.h>
#include <math.h>

static void check_price(const struct price *price)
{
    for (int tier = 0; tier < SERVICE_TIERS; tier++)
        for (int above = 0; above < 2; above++)
            for (int class = 0; class < PRICE_CLASSES; class++) {
                double at = price->at[tier][above][class];
                assert(isnan(at) || (at > 0 && at <= 1));
            }
    assert(price->at[0][0][PRICE_INPUT] > 0 && price->at[0][0][PRICE_OUTPUT] > 0);
    assert(isnan(price->threshold) || price->threshold >= 0);
    assert(*price_model(price) || !*price->model);
}

struct world {
    struct arena arena;
    struct command command;
    struct scenario scenario;
    struct priors priors;
    struct seen_rows rows;
    struct draws *draws;
};

static struct world *world_open(void)
{
    enum { FEW = 1000 };
    static struct world world;
    struct error error;
    if (!world.draws) {
        assert(scenario_open(&world.scenario, &world.arena, &world.command, (struct subject){ 0 },
                             &error));
        priors_read(&world.scenario, &world.priors);
        assert(seen_open(&world.scenario, &world.rows, &error) &&
               draws_make(&world.arena, NULL, &world.scenario.formulas, &world.scenario.facts, 1, FEW, true,
                          &world.draws, &error));
    }
    return &world;
}

static void weigh(struct arena *arena, struct world *world, const struct price_reading *reading)
{
    struct posterior posterior;
    deduce_sheet(arena, world->draws, world->priors.belief, &reading->evidence, false, &posterior);
    assert(posterior.effective >= 0);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        assert(posterior.span[i].q05 <= posterior.span[i].q95);
    reading_suspicious(arena, reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FEW = 2, MANY = 200 };
    struct arena arena = { 0 };
    struct price_sheet sheet;
    struct error error;
    struct world *world = world_open();
    if (prices_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &sheet, &error)) {
        size_t count = sheet.count < MANY ? sheet.count : MANY;
        struct price_reading *readings = arena_array(&arena, count, sizeof *readings);
        for (size_t i = 0; i < count; i++) {
            check_price(&sheet.prices[i]);
            reading_make(&arena, &world->rows, &world->priors, &sheet.prices[i], &readings[i]);
        }
        readings_vendors(&arena, readings, count, &world->priors);
        for (size_t i = 0; i < count && i < FEW; i++)
            weigh(&arena, world, &readings[i]);
    }
    arena_free(&arena);
    return 0;
}
