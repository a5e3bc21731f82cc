/* The server that a command leaves open is the cheapest there is.
 *
 * scenario_choose raises the load of each layout by halving, which is right only while the limits
 * rise with the load. Here every load of every layout is looked at by search_run, without that
 * assumption: over one scale-up domain, then 2, 4 and 8 where nothing fits, then over layouts that
 * no host packs. The choice must be a point of that space, within the limits, and nothing may be
 * worth more; where nothing is within the limits, nothing may miss them by a hundredth
 * less. `plan --aggregated` must print the same server. */
#include "test.h"
#include "commands.h"

#include "ask/ask.h"
#include "build/row_names.h"
#include "scenario/servers.h"

#include <math.h>

enum { DOMAINS_MOST = 8 };

struct world {
    struct arena arena;
    struct error error;
    struct command command;
    struct scenario chosen;
    const char *line;
};

static const char *const models[] = {
    "llama-3.1-8b", "llama-3.3-70b", "qwen3-32b", "qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v3",
    "gpt-oss-120b", "qwen3.5-397b-a17b", "gemma-3-27b", "kimi-k2", "qwen3-0.6b", "deepseek-v2-lite" };
static const char *const machines[] = {
    "h100-sxm", "h200-sxm", "b200-sxm", "gb200-nvl72", "mi300x", "a100-sxm", "l40s", "rtx-4090",
    "h100-pcie", "gh200-141gb", "tpu-v6e", "h20" };

/* ---- a choice ---------------------------------------------------------------------------------- */

struct drawn {
    const char *model, *machine, *isl, *osl, *ttft, *speed;     /* NULL: not given */
};

static bool open_world(struct world *world, const struct drawn *drawn)
{
    static const char *const texts[] = { NAME_predicted_tpot, NAME_arrival_rate };
    struct arena *arena = &world->arena;
    *world = (struct world){ .command = { .verb = &verb_step } };
    command_give(arena, &world->command, "isl", drawn->isl);
    command_give(arena, &world->command, "osl", drawn->osl);
    command_give(arena, &world->command, "ttft", drawn->ttft);
    command_give(arena, &world->command, "speed", drawn->speed);
    world->line = arena_print(arena, "%s on %s, isl %s, osl %s, ttft %s, speed %s", drawn->model,
                              drawn->machine, drawn->isl, drawn->osl,
                              drawn->ttft ? drawn->ttft : "usual",
                              drawn->speed ? drawn->speed : "usual");
    return scenario_open(&world->chosen, arena, &world->command,
                         subject_of(drawn->model, drawn->machine), &world->error) &&
           scenario_choose(&world->chosen, texts, COUNT(texts), &world->error);
}

static double chosen_number(const struct world *world, const char *row)
{
    const struct fact *fact = facts_find(&world->chosen.facts, row);
    return fact && fact->origin == ORIGIN_CHOSEN ? fact->value : NAN;
}

/* ---- every point ------------------------------------------------------------------------------- */

struct all {
    struct scenario scenario;
    struct servers servers;
    struct search_space space;
    struct search_result result;
};

static void search_within(struct world *world, double reach, enum layout_rule rule, bool ttft,
                          struct all *all)
{
    struct error *error = &world->error;
    struct scenario *scenario = &all->scenario;
    if (!scenario_open(scenario, &world->arena, &world->command, world->chosen.subject, error))
        fail_msg("%s: %s", world->line, error->what);
    all->servers = (struct servers){
        .arena = &world->arena, .scenario = scenario, .chips = reach, .replica_least = 1,
        .replica_most = reach, .ttft = ttft ? 0 : INFINITY, .rule = rule, .own_rows = true,
        .tell_rate = true };
    bool read = servers_read(&all->servers, error);
    servers_open_loop(&scenario->facts, "test");
    if (!read || !servers_space(&all->servers, &all->space, error) ||
        !search_run(&world->arena, &all->space, 1, &all->result, error))
        fail_msg("%s: %s", world->line, error->what);
}

/* The narrowest space in which something fits; false: there is none. */
static bool search_all(struct world *world, bool ttft, struct all *all, double *reach)
{
    double domain, most;
    if (!value_of(&world->chosen, NAME_scale_up_chips, &domain, &world->error) ||
        !value_of(&world->chosen, NAME_replica_chips_max, &most, &world->error))
        fail_msg("%s: %s", world->line, world->error.what);
    for (int rule = LAYOUT_STARTABLE; rule <= LAYOUT_EVEN; rule++)
        for (int domains = 1; domains <= DOMAINS_MOST; domains *= 2) {
            *reach = fmin(domains * domain, most);
            search_within(world, *reach, (enum layout_rule)rule, ttft, all);
            if (all->result.front.count || all->result.miss_found)
                return true;
        }
    return false;
}

/* The point of the space that was chosen; false: there is none. */
static bool find_chosen(const struct world *world, const struct all *all, struct search_point *point)
{
    const struct search_space *space = &all->space;
    const double passes = chosen_number(world, NAME_attention_dp) /
                          chosen_number(world, NAME_pipeline_parallel);
    for (size_t s = 0; s < space->setting_count; s++) {
        const double *setting = space->settings + s * space->inputs;
        bool same = true;
        for (size_t i = 0; i < SERVERS_INPUTS && same; i++) {
            const double value = chosen_number(world, servers_inputs[i].row);
            same = setting[i] == (isnan(value) ? 0 : value);    /* no draft tokens */
        }
        for (size_t l = 0; l < space->load_count && same; l++) {
            double out[SERVERS_ALL];
            const struct search_point at = { 0, (uint32_t)s, (uint32_t)l, 0, 0 };
            struct arena scratch = { 0 };
            search_values(&scratch, space, &at, out);
            arena_free(&scratch);
            /* less than one sequence in a pass is told as one: then the rate tells loads apart */
            if (fmax(1, space->loads[l] * passes) != chosen_number(world, NAME_batch) ||
                rate_down(out[SERVERS_RATE]) != chosen_number(world, NAME_arrival_rate))
                continue;
            *point = at;
            point->speed = out[space->speed];
            point->throughput = out[space->throughput];
            return true;
        }
    }
    return false;
}

static double worst_of(const struct all *all, const struct search_point *point)
{
    double out[SERVERS_ALL], worst = 0;
    struct arena scratch = { 0 };
    search_values(&scratch, &all->space, point, out);
    for (size_t l = 0; l < all->space.limit_count; l++)
        worst = fmax(worst, out[all->space.limits[l].output] / all->space.limits[l].bound);
    arena_free(&scratch);
    return out[SERVERS_ROOM] >= all->space.loads[point->load] ? worst : INFINITY;
}

/* Without a price the smallest server is chosen: nothing smaller is within the limits. */
static void none_smaller(struct world *world, const struct all *all, bool ttft)
{
    struct all smaller;
    const double chips = chosen_number(world, NAME_chips);
    if (chips == 1)
        return;
    search_within(world, chips - 1, all->servers.rule, ttft, &smaller);
    if (smaller.result.front.count)
        fail_msg("%s: %g chips were chosen, fewer do", world->line, chips);
}

struct tally {
    size_t worlds, met, nearest, nothing, unpriced, wrong;
};

static void compare(struct world *world, struct tally *tally)
{
    const struct server_choice *choice = &world->chosen.choice;
    const bool ttft = !(choice->ttft_missed > 0);
    const struct fact *price = facts_find(&world->chosen.facts, NAME_chip_price);
    const bool priced = price && price->value > 0;
    struct search_point point;
    struct all all;
    double reach;
    bool any = search_all(world, ttft, &all, &reach);
    tally->worlds++;
    if (any != choice->fits)
        fail_msg("%s: chosen: %s", world->line, choice->rule);
    if (!any) {
        tally->nothing++;
        return;
    }
    if (!find_chosen(world, &all, &point))
        fail_msg("%s: the choice is no point of the space", world->line);
    if (choice->met != (all.result.front.count > 0))
        fail_msg("%s: %zu points are within the limits; chosen: %s", world->line,
                 all.result.front.count, choice->rule);
    if (!ttft) {                                    /* with the usual limit there was nothing */
        struct all with;
        search_within(world, reach, all.servers.rule, true, &with);
        assert_int_equal(with.result.front.count, 0);
    }
    if (!choice->met) {
        tally->nearest++;
        if (!(choice->miss_by <= all.result.miss_by * 1.01))
            fail_msg("%s: missed by %.12g, the nearest by %.12g", world->line, choice->miss_by,
                     all.result.miss_by);
        return;
    }
    tally->met++;
    tally->unpriced += !priced;
    if (!(worst_of(&all, &point) <= 1))
        fail_msg("%s: the choice breaks a limit by %g", world->line, worst_of(&all, &point));
    if (!priced) {
        none_smaller(world, &all, ttft);
        search_within(world, chosen_number(world, NAME_chips), all.servers.rule, ttft, &all);
    }
    if (point.throughput != all.result.front.points->throughput) {
        const double *best = all.space.settings +
                             all.result.front.points->setting * all.space.inputs;
        print_message("%s: the choice (%g chips, chunk %g, load %g) is worth %.12g, the best (%g chips, dp %g, pp %g, "
                      "ep %g, chunk %g, load %g) %.12g\n", world->line,
                      chosen_number(world, NAME_chips), chosen_number(world, NAME_chunked_prefill_size),
                      all.space.loads[point.load], point.throughput, best[0], best[1], best[2],
                      best[3], best[5], all.space.loads[all.result.front.points->load],
                      all.result.front.points->throughput);
        tally->wrong++;
    }
}

static double draw_log(uint64_t *state, double low, double high)
{
    return exp(draw_in(state, log(low), log(high)));
}

static void choices_are_the_cheapest(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    uint64_t seed = 61;
    for (int i = 0; i < rounds(72); i++) {
        struct arena arena = { 0 };
        struct world world;
        struct drawn drawn = {
            .model = models[(size_t)(draw(&seed) * COUNT(models))],
            .machine = machines[(size_t)(draw(&seed) * COUNT(machines))] };
        drawn.isl = arena_print(&arena, "%.0f", draw_log(&seed, 100, 30000));
        drawn.osl = arena_print(&arena, "%.0f", draw_log(&seed, 20, 3000));
        if (draw(&seed) < 0.6)
            drawn.ttft = arena_print(&arena, "%.3gs", draw_log(&seed, 0.2, 10));
        if (draw(&seed) < 0.6)
            drawn.speed = arena_print(&arena, "%.3g", draw_log(&seed, 8, 120));
        if (!open_world(&world, &drawn))
            fail_msg("%s: %s", world.line, world.error.what);
        compare(&world, &tally);
        arena_free(&world.arena);
        arena_free(&arena);
    }
    print_message("%zu choices: %zu within the limits (%zu of machines without a price), %zu nearest "
                  "to them, %zu of nothing that fits; %zu differ\n", tally.worlds, tally.met,
                  tally.unpriced, tally.nearest, tally.nothing, tally.wrong);
    assert_true(tally.worlds >= 60 && 2 * tally.met > tally.worlds);
    assert_int_equal(tally.wrong, 0);
}

/* ---- plan --aggregated ------------------------------------------------------------------------- */

static void same_as_plan(const struct world *world, const struct doc *best)
{
    static const char *const rows[] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel,
                                        NAME_expert_parallel, NAME_chunked_prefill_size, NAME_arrival_rate };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct doc *figure = doc_get(best, rows[i]);
        if (!figure || figure->number != chosen_number(world, rows[i]))
            fail_msg("%s: %s is %.12g of the choice, %.12g of the plan", world->line, rows[i],
                     chosen_number(world, rows[i]), figure ? figure->number : NAN);
    }
}

/* Every model on two of the machines. */
static void plan_is_the_choice(void **state)
{
    (void)state;
    size_t pairs = 0, met = 0;
    for (size_t i = 0; i < 2 * COUNT(models); i++) {
        static const struct ranks alone = { 0, 1 };
        const struct drawn drawn = { .model = models[i / 2],
                                     .machine = machines[(5 * i + i / 12) % COUNT(machines)] };
        struct world world;
        if (!open_world(&world, &drawn))
            fail_msg("%s: %s", world.line, world.error.what);
        struct arena *arena = &world.arena;
        struct command command = { .verb = &verb_plan, .verbs = verbs, .ranks = &alone };
        struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                                 .csv.arena = arena };
        command_put_word(arena, &command, drawn.model);
        command_set(arena, &command, "on", drawn.machine);
        command_set(arena, &command, "aggregated", "");
        if (!verb_plan.ask(arena, &command, &answer, &world.error))
            fail_msg("%s: %s", world.line, world.error.what);
        const struct doc *best = doc_get(answer.doc, "best");
        const bool any = best && best->kind == DOC_OBJECT;
        if (any != world.chosen.choice.met)
            fail_msg("%s: the plan has %s best; chosen: %s", world.line, any ? "a" : "no",
                     world.chosen.choice.rule);
        if (any)
            same_as_plan(&world, best);
        met += any;
        pairs++;
        arena_free(arena);
    }
    print_message("%zu plans of one server, %zu within the limits: all as chosen\n", pairs, met);
    assert_true(pairs >= 20 && 2 * met > pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(choices_are_the_cheapest),
                                        cmocka_unit_test(plan_is_the_choice) };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
