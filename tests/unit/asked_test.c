/* Graphs that grow, against graphs that are built anew: the same inputs, outputs and bits of all values, whatever was
 * asked before, with facts that change in place between the questions. And graphs that stay from call to call, against those
 * of a call alone: the same nodes, names and order. */
#include "test.h"

#include "ask/ask.h"
#include "base/guard.h"

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
    add_name(world, "predicted_ttft");
    add_name(world, "predicted_tpot");
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
static void change_facts(struct scenario *scenario, uint64_t *state)
{
    static const struct { const char *row, *text; } changes[] = {
        { "batch", "64" }, { "batch", "65" }, { "context", "8192" }, { "kv_per_token", "1e5" }, { "chips", "2" },
        { "hbm_bandwidth", "2 * chips * 1e12 * 1B/s" }, { "hbm_bandwidth", "peak_flops / 1FLOP * 0.004B" } };
    const size_t at = draw_bits(state) % COUNT(changes);
    struct error error;
    facts_remove(&scenario->facts, changes[at].row);
    if (draw_bits(state) % 3 &&
        !scenario_set_row(scenario, changes[at].row, changes[at].text, ORIGIN_GIVEN, "test", &error))
        fail_msg("%s = %s: %s (%s)", changes[at].row, changes[at].text, error.what, error.hint);
}

/* Mostly a row, else a prediction or one of the two ROOTs. */
static const char *draw_name(const struct world *world, uint64_t *state)
{
    return world->names[draw_bits(state) % 8 ? draw_bits(state) % world->count : world->count - 1 - draw_bits(state) % 4];
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
        for (int question = 0; question < rounds(sample_only() ? 40 : 150); question++) {
            const char *texts[WANTED_MOST];
            const size_t count = 1 + draw_bits(&seed) % WANTED_MOST;
            for (size_t i = 0; i < count; i++)
                texts[i] = draw_name(&world, &seed);
            if (draw_bits(&seed) % 4 == 0)
                change_facts(&world.scenario, &seed);
            ask_both(&world, asked, draw_bits(&seed) % 4 == 0, texts, count);
        }
        arena_free(&world.arena);
    }
}

/* ---- from call to call ------------------------------------------------------------------------------------------------ */

/* Questions of one call. The first are drawn by `kind`, those from `leaves` on and the numbers by `call`; with `variants` the
 * facts of the start too. After question `ends` memory runs out. */
struct call {
    const struct world *world;
    uint64_t kind, call, hash;
    int leaves, ends;
    bool variants;
};

static uint64_t hash_of_graph(uint64_t hash, const struct graph *graph, const double *values)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const int of[] = { (int)node->op, node->a, node->b, node->c, node->first, node->row, node->input };
        for (size_t k = 0; k < COUNT(of); k++)
            hash = hash_mix(hash, (uint64_t)of[k]);
        hash = hash_numbers(hash_numbers(hash, &node->value, 1), &values[i], 1);
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        hash = hash_text(hash_text(hash, input->name), input->source ? input->source : "");
        hash = hash_numbers(hash, (double[]){ input->value, input->low, input->high, input->least, input->most,
                                              input->row, input->entry, input->node, input->origin, input->distribution }, 10);
    }
    for (size_t i = 0; i < graph->output_count; i++)
        hash = hash_mix(hash, (uint64_t)graph->outputs[i]);
    return hash;
}

/* Numbers, which build no graph; and one kind of what does: whose a switch is, or a range around it, an expression, a cell
 * of the model, a value of one entry. */
static void draw_facts(struct scenario *scenario, uint64_t *state)
{
    static const char *const numbers[] = { "batch", "context", "hbm_bandwidth", "output_tokens" };
    struct facts *facts = &scenario->facts;
    const uint64_t kind = draw_bits(state) % 6, variant = draw_bits(state) % 2;
    for (size_t i = 0; i < COUNT(numbers); i++)
        facts_set(facts, numbers[i], 1000 + (double)(draw_bits(state) % 1000000), ORIGIN_GIVEN, "test");
    facts_set(facts, "open_loop", kind == 0 && variant, kind == 1 && variant ? ORIGIN_GIVEN : ORIGIN_CHOSEN, "test");
    if (kind == 2 && variant)
        facts_set_range(facts, "open_loop", -1, 1, ORIGIN_CHOSEN, "test");
    if (kind == 3)
        facts_bind(facts, "hbm_bandwidth", variant ? "chips * 1e12 * 1B/s" : "batch * 1e12 * 1B/s", ORIGIN_GIVEN, "test");
    if (!facts->table_count || kind < 4)
        return;
    facts->tables = memcpy(arena_array(scenario->arena, facts->table_count, sizeof *facts->tables), facts->tables,
                           facts->table_count * sizeof *facts->tables);
    struct fact_table *table = &facts->tables[0];
    const size_t cells = table->entries * table->columns, at = draw_bits(state) % cells;
    table->cell = memcpy(arena_array(scenario->arena, cells, sizeof *table->cell), table->cell, cells * sizeof *table->cell);
    if (kind == 4 && table->cell[at].name)
        table->cell[at].value = (double)variant;
    if (kind == 5)
        facts_set(facts, arena_print(scenario->arena, "%s[%s]", table->column[at % table->columns],
                                     table->entry[at / table->columns]), (double)variant, ORIGIN_GIVEN, "test");
}

/* Two scenarios, which are asked the same. */
static void ask_call(void *context)
{
    struct call *call = context;
    struct arena arena = { 0 };
    struct scenario scenarios[2];
    struct asked_graphs *asked[2];
    uint64_t kind[2] = { call->kind, call->kind }, own = call->call;
    for (size_t i = 0; i < COUNT(asked); i++) {
        asked[i] = asked_graphs_new(&arena);
        scenarios[i] = call->world->scenario;
        scenarios[i].arena = scenarios[i].facts.arena = scenarios[i].formulas.arena = &arena;
        scenarios[i].facts = facts_copy(&scenarios[i].facts);
        draw_facts(&scenarios[i], call->variants ? &own : &(uint64_t){ i });
    }
    for (int question = 0; question < 16; question++) {
        const size_t of = (size_t)question % 2;
        uint64_t *state = question < call->leaves ? &kind[of] : &own;
        const struct expr *wanted[WANTED_MOST];
        const size_t count = 1 + draw_bits(state) % WANTED_MOST;
        const bool parts = draw_bits(call->variants ? &own : state) % 4 == 0;
        struct scenario *scenario = &scenarios[of];
        struct graph graph;
        struct error error;
        double *values;
        if (draw_bits(state) % 4 == 0)
            change_facts(scenario, state);
        facts_set(&scenario->facts, "users", 2 + (double)(draw_bits(&own) % 4), ORIGIN_GIVEN, "test");
        for (size_t i = 0; i < count; i++)
            assert_true(expr_parse(&scenario->formulas, "test", 1, text_of(draw_name(call->world, state)), &wanted[i],
                                   &error));
        if (graph_asked(asked[of], &arena, &scenario->formulas, &scenario->facts, parts, wanted, count, &graph, &values, &error))
            call->hash = hash_of_graph(call->hash, &graph, values);
        else
            call->hash = hash_text(call->hash, error.what);
        if (question == call->ends)
            arena_exhausted(&arena);
    }
    arena_free(&arena);
    asked_graphs_trim();
}

static void kept_is_alone(void **state)
{
    (void)state;
    static const struct { const char *model, *machine; } subjects[] = {
        { "deepseek-v3", "gb200-nvl72" }, { "llama-3.1-8b", "h100-sxm" }, { NULL, NULL } };
    struct world worlds[COUNT(subjects)] = { 0 };
    struct chunks *chunks[] = { chunks_new(512 << 20), chunks_new(4 << 20) };
    uint64_t seed = 20261130;
    for (size_t s = 0; s < COUNT(subjects); s++)
        world_open(&worlds[s], subjects[s].model, subjects[s].machine);
    for (int i = 0; i < rounds(sample_only() ? 40 : 150); i++) {
        struct call kept = { .world = &worlds[draw_bits(&seed) % COUNT(subjects)], .kind = draw_bits(&seed) % 3,
                             .call = draw_bits(&seed), .hash = HASH_START, .leaves = (int)(draw_bits(&seed) % 20),
                             .variants = draw_bits(&seed) % 2,
                             .ends = draw_bits(&seed) % 16 ? -1 : (int)(draw_bits(&seed) % 12) };
        struct call alone = kept;
        const enum ending ending = kept.ends < 0 ? ENDED : ENDED_WITHOUT_MEMORY;
        assert_int_equal(guarded(ask_call, &kept, chunks[draw_bits(&seed) % 8 == 0], NULL, NULL), ending);
        assert_int_equal(guarded(ask_call, &alone, NULL, NULL, NULL), ending);
        if (kept.hash != alone.hash)
            fail_msg("call %d, of kind %d, left at %d: graphs differ from those of a call alone", i, (int)kept.kind, kept.leaves);
    }
    for (size_t i = 0; i < COUNT(chunks); i++)
        chunks_free(chunks[i]);
    for (size_t s = 0; s < COUNT(subjects); s++)
        arena_free(&worlds[s].arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(grown_is_built), cmocka_unit_test(kept_is_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
