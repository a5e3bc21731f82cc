/* The server that a command leaves open is the cheapest there is.
 *
 * scenario_choose raises the load of each layout by halving, which is right only while the limits
 * rise with the load. Here every load of every layout is looked at by search_run, without that
 * assumption: over one scale-up domain, then 2, 4 and 8 where nothing fits, then over layouts that
 * no host packs. The choice must be a point of that space, within the limits, and nothing may be
 * worth more; where nothing is within the limits, nothing may miss them by a hundredth
 * less. For a known load every setting is evaluated at every number of replicas. `plan --aggregated`
 * must print the same server. */
#include "test.h"
#include "commands.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "build/row_names.h"
#include "deploy/servers.h"

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
    const char *load, *number, *replicas;   /* an option of the load */
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
    command_give(arena, &world->command, "replicas", drawn->replicas);
    if (drawn->load)
        command_give(arena, &world->command, drawn->load, drawn->number);
    world->line = arena_print(arena, "%s on %s, %s %s, isl %s, osl %s, ttft %s, speed %s", drawn->model,
                              drawn->machine, drawn->load ? drawn->load : "any load",
                              drawn->load ? drawn->number : "", drawn->isl, drawn->osl,
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
        for (size_t i = 0; i < SETTING_DISTANCE && same; i++) {
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

/* A model, a machine, lengths, and sometimes limits. */
static struct drawn draw_command(struct arena *arena, uint64_t *seed)
{
    struct drawn drawn = { .model = models[(size_t)(draw(seed) * COUNT(models))],
                           .machine = machines[(size_t)(draw(seed) * COUNT(machines))] };
    drawn.isl = arena_print(arena, "%.0f", draw_log(seed, 100, 30000));
    drawn.osl = arena_print(arena, "%.0f", draw_log(seed, 20, 3000));
    if (draw(seed) < 0.6)
        drawn.ttft = arena_print(arena, "%.3gs", draw_log(seed, 0.2, 10));
    if (draw(seed) < 0.6)
        drawn.speed = arena_print(arena, "%.3g", draw_log(seed, 8, 120));
    return drawn;
}

static void choices_are_the_cheapest(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    uint64_t seed = 61;
    for (int i = 0; i < rounds(72); i++) {
        struct arena arena = { 0 };
        struct world world;
        struct drawn drawn = draw_command(&arena, &seed);
        if (!open_world(&world, &drawn))
            fail_msg("%s: %s", world.line, world.error.what);
        compare(&world, &tally);
        arena_free(&world.arena);
        arena_free(&arena);
    }
    print_message("%zu choices: %zu within the limits (%zu of machines without a price), %zu nearest "
                  "to them, %zu of nothing that fits; %zu differ\n", tally.worlds, tally.met,
                  tally.unpriced, tally.nearest, tally.nothing, tally.wrong);
    assert_true(tally.worlds >= (size_t)part_of(60) && 2 * tally.met > tally.worlds);
    assert_int_equal(tally.wrong, 0);
}

/* ---- given parallelism --------------------------------------------------------------------------- */

/* Numbers of chips that are no multiple of it have no setting. */
static void steps_leave_no_setting_out(void **state)
{
    (void)state;
    const struct drawn drawn = { .model = "deepseek-v3", .machine = "h200-sxm", .isl = "1000", .osl = "100" };
    for (int rule = LAYOUT_STARTABLE; rule <= LAYOUT_ANY; rule++) {
        struct world world;
        struct scenario scenario;
        const double *settings[2];
        size_t count[2];
        if (!open_world(&world, &drawn) ||
            !scenario_open(&scenario, &world.arena, &world.command, world.chosen.subject, &world.error))
            fail_msg("%s: %s", world.line, world.error.what);
        facts_set(&scenario.facts, NAME_attention_dp, 4, ORIGIN_GIVEN, "test");
        for (int k = 0; k < 2; k++) {
            struct servers servers = { .arena = &world.arena, .scenario = &scenario, .chips = 64, .replica_least = k ? 1 : 3,
                                       .replica_most = 64, .replica_step = k ? 8 : 0, .tensor = 2, .rule = (enum layout_rule)rule };
            if (!servers_read(&servers, &world.error) || !servers_settings(&servers, &settings[k], &count[k], &world.error))
                fail_msg("%s: %s", world.line, world.error.what);
        }
        assert_int_equal(count[0], count[1]);
        assert_true(count[0] > 0);
        assert_memory_equal(settings[0], settings[1], count[0] * SERVERS_INPUTS * sizeof(double));
        arena_free(&world.arena);
    }
}

/* ---- a known load ------------------------------------------------------------------------------ */

enum { WORTH, FITS, TTFT, TPOT, PROMPTS, LOAD, OUTPUTS };
enum { REPLICAS = SERVERS_INPUTS, COLUMNS };
#define OVERLOADED 1e6

/* Every setting at every number of replicas. */
struct points {
    size_t count;
    double *in[COLUMNS], *out[OUTPUTS], *worst;
    double least;                   /* of `worst` */
};

/* Every point of a reach, evaluated in one run of the rows. `most` is the highest number of replicas,
 * 0 where it is given. */
static void list_points(struct world *world, double reach, enum layout_rule rule, bool ttft, double most,
                        struct points *points)
{
    static const char *const texts[OUTPUTS] = {
        NAME_throughput_per_chip " * " NAME_layout_trust, NAME_replica_fits, NAME_predicted_ttft, NAME_predicted_tpot,
        NAME_prefill_overload, NAME_slots_load };
    struct arena *arena = &world->arena;
    struct scenario scenario;
    struct values values;
    const double *settings;
    size_t count = 0, replicas = most > 0 ? (size_t)most : 1;
    struct servers servers = { .arena = arena, .scenario = &scenario, .given = &world->chosen,
                               .chips = reach, .replica_least = 1, .replica_most = reach, .rule = rule,
                               .ttft = ttft ? 0 : INFINITY };
    if (!scenario_open(&scenario, arena, &world->command, world->chosen.subject, &world->error))
        fail_msg("%s: %s", world->line, world->error.what);
    for (int i = 0; i < SERVERS_INPUTS; i++)
        facts_set(&scenario.facts, servers_inputs[i].row, i == SETTING_CHUNK ? 8192 : servers_inputs[i].unset,
                  ORIGIN_CHOSEN, "test");
    if (most > 0)
        facts_set(&scenario.facts, NAME_replicas, 1, ORIGIN_CHOSEN, "test");
    if (!servers_read(&servers, &world->error) || !servers_settings(&servers, &settings, &count, &world->error) ||
        !values_of(&scenario, texts, OUTPUTS, &values, &world->error))
        fail_msg("%s: %s", world->line, world->error.what);
    *points = (struct points){ .count = count * replicas, .least = INFINITY };
    struct column *inputs = arena_array(arena, values.graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values.graph.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    for (int k = 0; k < COLUMNS; k++) {
        const char *row = k == REPLICAS ? NAME_replicas : servers_inputs[k].row;
        const int input = k == REPLICAS && !(most > 0) ? -1 : graph_input(&values.graph, row);
        points->in[k] = arena_array(arena, points->count + 1, sizeof(double));
        for (size_t i = 0; i < points->count; i++)
            points->in[k][i] = k == REPLICAS ? (double)(i % replicas + 1)
                                             : settings[i / replicas * SERVERS_INPUTS + (size_t)k];
        if (input >= 0)
            inputs[input] = (struct column){ points->in[k], 1 };
    }
    for (int i = 0; i < OUTPUTS; i++)
        points->out[i] = arena_array(arena, points->count + 1, sizeof(double));
    graph_run(&values.graph, inputs, points->out, points->count);
    points->worst = arena_array(arena, points->count + 1, sizeof(double));
    for (size_t i = 0; i < points->count; i++) {
        const double busy = fmax(points->out[LOAD][i] / servers.margin, points->out[PROMPTS][i]);
        points->worst[i] = !(points->out[FITS][i] > 0) ? INFINITY : busy > 1 ? OVERLOADED * busy
                         : fmax(points->out[TTFT][i] / servers.ttft,
                                servers.output_tokens < 2 ? 0 : points->out[TPOT][i] / servers.tpot);
        points->least = fmin(points->least, points->worst[i]);
    }
}

/* The narrowest reach in which a point fits, and takes the load. */
static bool reach_points(struct world *world, bool ttft, double most, struct points *points)
{
    double domain, chips;
    if (!value_of(&world->chosen, NAME_scale_up_chips, &domain, &world->error) ||
        !value_of(&world->chosen, NAME_replica_chips_max, &chips, &world->error))
        fail_msg("%s: %s", world->line, world->error.what);
    for (int rule = LAYOUT_STARTABLE; rule <= LAYOUT_EVEN; rule++) {
        for (int domains = 1; domains <= DOMAINS_MOST; domains *= 2) {
            list_points(world, fmin(domains * domain, chips), (enum layout_rule)rule, ttft, most, points);
            if (points->least < OVERLOADED)
                return true;
        }
        if (isfinite(points->least))
            return true;
    }
    return false;
}

/* Is the chosen point the best of all, or misses the limits by less than a hundredth more? */
static void compare_known(struct world *world, double most, struct tally *tally)
{
    const struct server_choice *choice = &world->chosen.choice;
    const struct fact *price = facts_find(&world->chosen.facts, NAME_chip_price);
    const bool priced = price && price->value > 0;
    struct points points;
    const bool any = reach_points(world, !(choice->ttft_missed > 0), most, &points);
    tally->worlds++;
    if (any != choice->fits)
        fail_msg("%s: chosen: %s", world->line, choice->rule);
    if (!any) {
        tally->nothing++;
        return;
    }
    if (choice->met != (points.least <= 1))
        fail_msg("%s: the nearest point misses by %g; chosen: %s", world->line, points.least, choice->rule);
    const double limit = choice->met ? 1 : points.least * 1.01;
    size_t chosen = points.count, best = points.count;
    for (size_t i = 0; i < points.count; i++) {
        bool same = true;
        for (int k = 0; k < COLUMNS && same; k++) {
            if (k == SETTING_DISTANCE)
                continue;           /* it follows from the layout */
            const double number = chosen_number(world, k == REPLICAS ? NAME_replicas : servers_inputs[k].row);
            same = (k == REPLICAS && !(most > 0)) || points.in[k][i] == (isnan(number) ? 0 : number);
        }
        if (same)
            chosen = i;
        if (!(points.worst[i] <= limit))
            continue;
        const double *replicas = points.in[REPLICAS], *chips = points.in[0], *worth = points.out[WORTH];
        const double fewer = best == points.count ? 1
                           : chips[best] * (most > 0 ? replicas[best] : 1) -
                             chips[i] * (most > 0 ? replicas[i] : 1);
        const bool by_worth = (priced && !(most > 0)) || fewer == 0;
        if (best == points.count || (by_worth ? worth[i] > worth[best] : fewer > 0))
            best = i;
    }
    if (chosen == points.count)
        fail_msg("%s: the choice is no point of the space", world->line);
    tally->met += choice->met;
    tally->nearest += !choice->met;
    tally->unpriced += choice->met && !priced;
    if (!(points.worst[chosen] <= limit))
        fail_msg("%s: the choice misses by %g, another by %g", world->line, points.worst[chosen], points.least);
    if (points.out[WORTH][chosen] == points.out[WORTH][best])
        return;
    print_message("%s: the choice (%g chips, dp %g, pp %g, ep %g, chunk %g, %g replicas) is worth %.12g, the "
                  "best (%g chips, dp %g, pp %g, ep %g, chunk %g, %g replicas) %.12g\n", world->line,
                  points.in[0][chosen], points.in[1][chosen], points.in[2][chosen], points.in[3][chosen],
                  points.in[5][chosen], points.in[REPLICAS][chosen], points.out[WORTH][chosen],
                  points.in[0][best], points.in[1][best], points.in[2][best], points.in[3][best],
                  points.in[5][best], points.in[REPLICAS][best], points.out[WORTH][best]);
    tally->wrong++;
}

/* Users of a whole deployment, requests in flight in one replica, and a rate for some replicas. */
static void choices_for_a_known_load(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    uint64_t seed = 67;
    for (int i = 0; i < rounds(30); i++) {
        struct arena arena = { 0 };
        struct world world;
        struct drawn drawn = draw_command(&arena, &seed);
        const double users = floor(draw_log(&seed, 1, 250));
        static const char *const loads[] = { "users", "concurrency", "rate" };
        drawn.load = loads[i % 3];
        drawn.number = arena_print(&arena, "%g", i % 3 == 2 ? users / 20 : users);
        if (i % 3 == 2)
            drawn.replicas = "3";
        if (!open_world(&world, &drawn))
            fail_msg("%s: %s", world.line, world.error.what);
        compare_known(&world, i % 3 ? 0 : users, &tally);
        arena_free(&world.arena);
        arena_free(&arena);
    }
    print_message("%zu choices for a known load: %zu within the limits (%zu of machines without a price), "
                  "%zu nearest to them, %zu of nothing that fits; %zu differ\n", tally.worlds, tally.met,
                  tally.unpriced, tally.nearest, tally.nothing, tally.wrong);
    assert_true(tally.worlds >= (size_t)part_of(30) && 2 * tally.met > tally.worlds);
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
        const struct drawn drawn = { .model = models[i / 2],
                                     .machine = machines[(5 * i + i / 12) % COUNT(machines)] };
        struct world world;
        if (!open_world(&world, &drawn))
            fail_msg("%s: %s", world.line, world.error.what);
        struct arena *arena = &world.arena;
        struct command command = { .verb = &verb_plan, .verbs = verbs };
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(steps_leave_no_setting_out),
                                        cmocka_unit_test(choices_are_the_cheapest),
                                        cmocka_unit_test(choices_for_a_known_load),
                                        cmocka_unit_test(plan_is_the_choice) };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
