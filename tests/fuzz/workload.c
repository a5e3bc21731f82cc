/* Any bytes as a workload: a bill or an error that says what it read and what it takes. Every
 * scheme of a bill has a cost, and a cache whose writes are free never costs more than none. */
#define _GNU_SOURCE
#include "ask/bill/bill.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char sheet[] =
    "provider,model,fact,value,unit,source,date,mark\n"
    "openai,gpt-y,input,4,USD/Mtoken,test,2026-01-01,\n"
    "openai,gpt-y,output,20,USD/Mtoken,test,2026-01-01,\n"
    "openai,gpt-y,cached_read,0.5,USD/Mtoken,test,2026-01-01,\n"
    "openai,gpt-y,storage,3,USD/Mtoken/h,test,2026-01-01,\n"
    "openai,gpt-y,threshold,9000,token,test,2026-01-01,\n"
    "openai,gpt-y,input_above,8,USD/Mtoken,test,2026-01-01,\n";

static struct bill *world_open(void)
{
    static struct bill bill;
    static struct arena arena;
    static struct command command;
    struct error error;
    if (!bill.arena) {
        caching_read(&arena, &bill.caching);
        assert(scenario_read(&bill.scenario, &arena, &command, (struct subject){ 0 }, &error) &&
               prices_read(&arena, "sheet", text_of(sheet), &bill.sheet, &error));
    }
    bill.arena = &arena;
    return &bill;
}

static void check(const struct bill_cost *cost)
{
    for (int i = 0; i < SCHEMES; i++)
        assert(isnan(cost->task[i]) || (isfinite(cost->task[i]) && cost->task[i] > 0));
    assert(isfinite(cost->task[SCHEME_PLAIN]) && isfinite(cost->task[SCHEME_AUTOMATIC]));
    assert(cost->task[SCHEME_AUTOMATIC] <= cost->task[SCHEME_PLAIN] * (1 + 1e-9));
    assert(cost->read <= cost->prompt * (1 + 1e-9) && cost->prompt_most <= cost->prompt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const double few = 500;
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct bill bill = *world_open();
    const char *words = arena_copy(&arena, (const char *)data, size);
    bill.arena = bill.scenario.arena = &arena;
    bill.scenario.facts.arena = &arena;
    bill.scenario.facts.scalars = NULL;
    bill.scenario.facts.scalar_count = bill.scenario.facts.scalar_room = 0;
    bill.scenario.facts.notes = NULL;
    bill.scenario.facts.note_count = bill.scenario.facts.note_room = 0;
    bill.error = &error;
    if (memmem(words, size, ".csv", 4)) {
        arena_free(&arena);
        return 0;                                   /* files are left alone */
    }
    if (!workload_parse(&bill.scenario, "fuzz", (struct text){ words, size },
                        &bill.workload, &error)) {
        assert(*error.what && *error.hint);
    } else if (bill_open_rows(&bill) && bill.turns <= few) {
        struct bill_cost cost = bill_cost(&bill, bill.sheet.prices,
                                          (struct bill_change){ NULL, 0 });
        check(&cost);
        assert(bill_task_row(&bill, "month_cost", cost.task[cost.best], 0) > 0);
    }
    arena_free(&arena);
    return 0;
}
