/* Graphs that grow, against graphs that are built anew: the same inputs, outputs and bits of all values, whatever was
 * asked before, with facts that change in place between the questions. */
#include "test.h"

#include "ask/ask.h"

enum { WANTED_MOST = 4 };

struct world {
    struct arena arena;
    struct command command;
    struct scenario scenario;
    const char **names;             /* of all rows, those of a table at each of its entries, and of two ROOTs */
    size_t count, room;
};

static void add_name(struct world *world, const char *name)
{
    *(const char **)arena_push(&world->arena, &world->names, &world->count, &world->room, sizeof *world->names) = name;
}

static void world_open(struct world *world, const char *model, const char *machine)
{
    struct error error;
    if (!scenario_open(&world->scenario, &world->arena, &world->command, (struct subject){ .model = model, .machine = machine },
                       &error))
        fail_msg("%s on %s: %s (%s)", model, machine, error.what, error.hint);
    for (size_t i = 0; i < world->scenario.formulas.count; i++) {
        const struct row *row = formulas_row(&world->scenario.formulas, i);
        const struct fact_table *table =
            row_table(row) ? facts_table_find(&world->scenario.facts, row_table(row)) : NULL;
        if (!row_table(row))
            add_name(world, row_name(row));
        for (size_t k = 0; table && k < table->entries; k++)
            add_name(world, arena_print(&world->arena, "%s[%s]", row_name(row), table->entry[k]));
    }
    add_name(world, "ROOT(batch, 1, 1e5, bound_step - 0.02s)");
    add_name(world, "AT(predicted_tpot, hbm_bandwidth = 2 * hbm_bandwidth, context = 1000token)");
}

/* The wanted expressions, asked of the graphs that grow and of a graph of their own. */
static void ask_both(struct world *world, struct asked_graphs *asked, bool parts, const char *const *texts, size_t count)
{
    struct arena scratch = arena_beside(&world->arena);
    const struct formulas *formulas = &world->scenario.formulas;
    const struct facts *facts = &world->scenario.facts;
    const struct expr *wanted[WANTED_MOST];
    struct graph grown, built;
    struct error error;
    double *values, outputs[WANTED_MOST], one;
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(formulas, "test", 1, text_of(texts[i]), &wanted[i], &error))
            fail_msg("%s: %s (%s)", texts[i], error.what, error.hint);
    const bool good = (parts ? graph_build_parts : graph_build)(&scratch, formulas, facts, wanted, count, &built, &error);
    if (graph_asked(asked, &scratch, formulas, facts, parts, wanted, count, &grown, &values, &error) != good)
        fail_msg("%s: %s", texts[0], error.what);
    if (good) {
        double *inputs = arena_array(&scratch, built.input_count + 1, sizeof *inputs);
        double *nodes = arena_array(&scratch, grown.count + 1, sizeof *nodes);
        assert_int_equal(grown.count, built.count);
        assert_int_equal(grown.input_count, built.input_count);
        for (size_t i = 0; i < built.input_count; i++)
            inputs[i] = built.inputs[i].value;
        graph_value(&scratch, &built, inputs, NULL, outputs);
        for (size_t i = 0; i < grown.input_count; i++) {
            inputs[i] = grown.inputs[i].value;
            bool found = false;
            for (size_t k = 0; k < built.input_count && !found; k++)
                found = !strcmp(grown.inputs[i].name, built.inputs[k].name) &&
                        bits_of(grown.inputs[i].value) == bits_of(built.inputs[k].value) &&
                        grown.inputs[i].origin == built.inputs[k].origin;
            if (!found)
                fail_msg("%s: input %s is another", texts[0], grown.inputs[i].name);
        }
        graph_value(&scratch, &grown, inputs, nodes, NULL);
        for (size_t i = 0; i < grown.count; i++)
            if (bits_of(nodes[i]) != bits_of(values[i]))
                fail_msg("%s: node %zu is %.17g, computed again %.17g", texts[0], i, values[i], nodes[i]);
        for (size_t i = 0; i < count; i++)
            if (bits_of(values[grown.outputs[i]]) != bits_of(outputs[i]))
                fail_msg("%s: %.17g, in a graph of its own %.17g", texts[i], values[grown.outputs[i]], outputs[i]);
        if (!parts && (!graph_asked_value(asked, formulas, facts, wanted[0], &one, &error) ||
                       bits_of(one) != bits_of(outputs[0])))
            fail_msg("%s: %.17g without its graph, %.17g with it", texts[0], one, outputs[0]);
    }
    arena_free(&scratch);
}

/* Facts change in place; some changes are taken back, so that graphs of facts of before are found again. */
static void change_facts(struct world *world, uint64_t *state)
{
    static const struct { const char *row, *text; } changes[] = {
        { "batch", "64" }, { "batch", "65" }, { "context", "8192" }, { "kv_per_token", "1e5" }, { "chips", "2" },
        { "hbm_bandwidth", "2 * chips * 1e12 * 1B/s" }, { "hbm_bandwidth", "peak_flops / 1FLOP * 0.004B" } };
    const size_t at = draw_bits(state) % COUNT(changes);
    struct error error;
    facts_remove(&world->scenario.facts, changes[at].row);
    if (draw_bits(state) % 3 &&
        !scenario_set_row(&world->scenario, changes[at].row, changes[at].text, ORIGIN_GIVEN, "test", &error))
        fail_msg("%s = %s: %s (%s)", changes[at].row, changes[at].text, error.what, error.hint);
}

static void grown_is_built(void **state)
{
    (void)state;
    static const struct { const char *model, *machine; } subjects[] = {
        { "deepseek-v3", "gb200-nvl72" }, { "llama-3.1-8b", "h100-sxm" }, { NULL, NULL } };
    for (size_t s = 0; s < COUNT(subjects); s++) {
        struct world world = { 0 };
        uint64_t seed = 20261128 + s;
        world_open(&world, subjects[s].model, subjects[s].machine);
        struct asked_graphs *asked = asked_graphs_new(&world.arena);
        for (int question = 0; question < rounds(sample_only() ? 60 : 300); question++) {
            const char *texts[WANTED_MOST];
            const size_t count = 1 + draw_bits(&seed) % WANTED_MOST;
            for (size_t i = 0; i < count; i++)
                texts[i] = world.names[draw_bits(&seed) % 8 ? draw_bits(&seed) % world.count : world.count - 1 - i % 2];
            if (draw_bits(&seed) % 4 == 0)
                change_facts(&world, &seed);
            ask_both(&world, asked, draw_bits(&seed) % 4 == 0, texts, count);
        }
        arena_free(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(grown_is_built) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
