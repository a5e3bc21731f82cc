/* `tiers`: the cheapest place against arithmetic of the lecture's section 5.5 written here
 * and tried at every pause of a fine grid; borders against `solve` and the rows; figures of
 * lecture.md; a user's table. Runs in the root of the tree. */
#include "test.h"
#include "lines.h"

#include "ask/tiers/tiers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct world {
    struct arena arena;
    struct answer answer;
    struct error error;
    char folder[64];
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    strcpy(world->folder, "/tmp/tiers_answer_test.XXXXXX");
    return !world || !mkdtemp(world->folder);
}

static const char *path(struct world *world, const char *name)
{
    return arena_print(&world->arena, "%s/%s", world->folder, name);
}

static int world_close(void **state)
{
    static const char *const names[] = { "mine.csv", "plot.svg" };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(path(world, names[i]));
    rmdir(world->folder);
    arena_free(&world->arena);
    free(world);
    return 0;
}

/* ---- asking ---------------------------------------------------------------------- */

static bool try(struct world *world, const char *line)
{
    const struct command *command = line_command(&world->arena, line, &world->error);
    world->answer = (struct answer){ .doc = doc_new(&world->arena, DOC_OBJECT),
                                     .text.arena = &world->arena, .csv.arena = &world->arena };
    return command && command_answer(&world->arena, command, &world->answer, &world->error);
}

static const struct doc *ask(struct world *world, const char *line)
{
    if (!try(world, line))
        fail_msg("%s: %s (%s)", line, world->error.what, world->error.hint);
    return world->answer.doc;
}

static double number(const struct doc *object, const char *key)
{
    const struct doc *found = doc_get(object, key);
    if (!found || found->kind != DOC_NUMBER)
        fail_msg("no number %s", key);
    return found->number;
}

static bool is_null(const struct doc *object, const char *key)
{
    const struct doc *found = doc_get(object, key);
    return found && found->kind == DOC_NULL;
}

static double of_tier(const struct doc *answer, const char *tier, const char *key)
{
    return number(doc_get(doc_get(answer, "tiers"), tier), key);
}

static void near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fabs(expected)))
        fail_msg("got %.15g, expected %.15g", got, expected);
}

/* ---- by hand ----------------------------------------------------------------------- */

/* lecture.md 5.5 of one conversation: L tokens of k bytes, N_a active parameters, a chip of
 * F FLOP/s and C bytes at $g; the parts of section 5.6 at 5 years, flash wears out after a
 * write of itself a day. A cache that is back after more than a second is computed again. */
struct hand {
    const char *ask;
    double L, k, N_a, F, C, g;
};

/* Capacities are in GiB, whatever the data sheets write. */
#define GIB 1073741824.0

enum { HBM, DDR, FLASH, DISK, AGAIN, PLACES };
static const char *const place_names[PLACES] = { "hbm", "ddr", "flash", "disk", "recompute" };

static void costs_by_hand(const struct hand *hand, double pause, double *cost)
{
    static const double day = 86400, hour = 3600;
    static const double capacity[] = { 768e9, 3.84e12, 20e12 };
    static const double bandwidth[] = { 460e9, 14e9, 0.28e9 };
    const double price[] = { 0.0877 / hour, 0.0101 / hour, 0.00799 / hour };
    const double cache = hand->L * hand->k;
    cost[AGAIN] = hand->L * 2 * hand->N_a / hand->F * hand->g;
    cost[HBM] = hand->g / hand->C * cache * pause;
    for (int i = 0; i < 3; i++) {
        double wear = DDR + i == FLASH ? 0.115e-9 / (5 * 365 * day) * day * cache : 0;
        cost[DDR + i] = cache / bandwidth[i] * price[i] +
                        fmax(cache / capacity[i] * price[i] * pause, wear);
        if (cache / bandwidth[i] > 1)
            cost[DDR + i] = cost[AGAIN];
    }
}

static int best_by_hand(const double *cost)
{
    int best = AGAIN;
    for (int i = 0; i < AGAIN; i++)
        if (cost[i] < cost[best])
            best = i;
    return best;
}

static const char *place_at(const struct doc *answer, double pause)
{
    const char *place = NULL;
    for (const struct doc *one = doc_get(answer, "path")->first; one; one = one->next)
        if (number(one, "from") <= pause)
            place = doc_get(one, "place")->string;
    return place;
}

static const struct hand hands[] = {
    /* the lecture's own numbers: 37 billion active, 2048 bytes, B200 at 2 USD an hour */
    { "tiers", 1e5, 2048, 37e9, 4.5e15, 192e9, 2.0 / 3600 },
    { "tiers --set params_active=1e11 --context 1000000",
      1e6, 2048, 1e11, 4.5e15, 192e9, 2.0 / 3600 },
    /* latent cache of section 5.2: 576 * 61 elements of 2 bytes */
    { "tiers deepseek-v3 --on h200-sxm --lecture --set params_active=37e9", 4096, 70272, 37e9,
      1.979e15, 141 * GIB, 1.6 / 3600 },
    { "tiers deepseek-v3 --on h200-sxm --lecture --set params_active=37e9 --context 300",
      300, 70272, 37e9, 1.979e15, 141 * GIB, 1.6 / 3600 },
    /* 80 layers of 8 heads of 128, key and value, 2 bytes */
    { "tiers llama-3.3-70b --on h100-sxm --lecture --set params_active=70e9 --context 128000 "
      "--set peak_flops=1e15 --set chip_price=2USD/h",
      128000, 327680, 70e9, 1e15, 80 * GIB, 2.0 / 3600 },
    { "tiers llama-3.3-70b --on h100-sxm --lecture --set params_active=70e9 --context 2000000 "
      "--set peak_flops=1e15 --set chip_price=2USD/h",
      2e6, 327680, 70e9, 1e15, 80 * GIB, 2.0 / 3600 },
};

/* Every one of 200,000 pauses from 10 us to 300 years. */
static void path_is_the_cheapest(void **state)
{
    enum { PAUSES = 200000 };
    struct world *world = *state;
    for (size_t h = 0; h < COUNT(hands); h++) {
        const struct doc *answer = ask(world, hands[h].ask);
        bool ever[PLACES] = { false };
        size_t skipped = 0;
        for (int i = 0; i <= PAUSES; i++) {
            double pause = 1e-5 * pow(1e15, (double)i / PAUSES), cost[PLACES];
            costs_by_hand(&hands[h], pause, cost);
            int best = best_by_hand(cost);
            const char *place = place_at(answer, pause);
            ever[best] = true;
            if (!strcmp(place, place_names[best]))
                continue;
            skipped++;                          /* only at a border may rounding decide */
            for (int k = 0; k < PLACES; k++)
                if (!strcmp(place, place_names[k]))
                    near(cost[k], cost[best], 1e-9);
        }
        assert_true(skipped < 10);
        for (int k = 0; k < AGAIN; k++) {
            const struct doc *tier = doc_get(doc_get(answer, "tiers"), place_names[k]);
            assert_true((doc_get(tier, "never") == NULL) == ever[k]);
        }
    }
}

static void costs_are_those_of_hand(void **state)
{
    struct world *world = *state;
    for (size_t h = 0; h < COUNT(hands); h++) {
        const struct doc *answer = ask(world, hands[h].ask);
        size_t count = 0;
        for (const struct doc *one = doc_get(answer, "pauses")->first; one; one = one->next) {
            double cost[PLACES];
            costs_by_hand(&hands[h], number(one, "hold_time"), cost);
            for (int k = 0; k < AGAIN; k++)
                near(number(doc_get(one, "tier_pause_cost"), place_names[k]), cost[k], 1e-9);
            near(number(one, "cheapest_pause_cost"), cost[best_by_hand(cost)], 1e-9);
            count++;
        }
        assert_true(count >= 10);
        double cost[PLACES];
        costs_by_hand(&hands[h], 1, cost);
        near(number(answer, "recompute_pause_cost"), cost[AGAIN], 1e-9);
    }
}

/* ---- borders ------------------------------------------------------------------------- */

static const char *cost_row(struct world *world, const char *place)
{
    return strcmp(place, "recompute") ? arena_print(&world->arena, "tier_pause_cost[%s]", place)
                                      : "recompute_pause_cost";
}

static const char *const asked[] = { "", "--model deepseek-v3 --on gb200-nvl72",
    "--model llama-3.3-70b --on h100-sxm --context 20000", "--model gemma-3-27b --on h200-sxm",
    "--model qwen3-30b-a3b --on b200-sxm --context 500 --set resume_limit=1min" };

static const char *words(struct world *world, const char *verb, const char *more)
{
    return arena_print(&world->arena, "%s%s%s", verb, *more ? " " : "", more);
}

static void borders_are_what_solve_finds(void **state)
{
    struct world *world = *state;
    size_t borders = 0;
    for (size_t i = 0; i < COUNT(asked); i++) {
        const struct doc *answer = ask(world, words(world, "tiers", asked[i]));
        for (const struct doc *one = doc_get(answer, "path")->first; one->next; one = one->next) {
            const char *equation =
                arena_print(&world->arena, "solve hold_time --where %s=%s",
                            cost_row(world, doc_get(one, "place")->string),
                            cost_row(world, doc_get(one->next, "place")->string));
            double until = number(one, "until");
            const struct doc *root = ask(world, words(world, equation, asked[i]));
            near(number(doc_get(root, "hold_time"), "value"), until, 1e-12);
            assert_true(number(one->next, "from") == until);
            borders++;
        }
    }
    assert_true(borders >= 12);
}

/* The pause before a border, among the numbers there are, still belongs to the place before. */
static void borders_are_exact(void **state)
{
    struct world *world = *state;
    struct command command = { .verb = &verb_tiers };
    struct scenario scenario;
    struct places places;
    if (!scenario_open(&scenario, &world->arena, &command, (struct subject){ 0 }, &world->error) ||
        !places_open(&scenario, &places, &world->error))
        fail_msg("%s", world->error.what);
    assert_int_equal(places.path_count, 4);
    for (size_t i = 1; i < places.path_count; i++) {
        double from = places.path[i].from;
        assert_int_equal(places_best(&places, from), places.path[i].place);
        assert_int_equal(places_best(&places, nextafter(from, 0)), places.path[i - 1].place);
    }
    for (size_t i = 0; i < places.tiers; i++) {
        double again = places_again(&places, i);
        assert_true(places_costs(&places, again)[i] >= places.at[places.tiers]);
        assert_true(places_costs(&places, nextafter(again, 0))[i] < places.at[places.tiers]);
    }
}

/* `eval` and `why` at one pause say what the table says there, to the bit. */
static void rows_say_the_same(void **state)
{
    static const char *const pauses[] = { "1", "300", "3600", "604800" };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(asked); i++)
        for (size_t k = 0; k < COUNT(pauses); k++) {
            const struct doc *answer = ask(world, words(world, "tiers", asked[i]));
            const struct doc *one = doc_get(answer, "pauses")->first;
            while (number(one, "hold_time") != atof(pauses[k]))
                one = one->next;
            const char *at = arena_print(&world->arena, "%s%s--set hold_time=%s", asked[i],
                                         *asked[i] ? " " : "", pauses[k]);
            const struct doc *rows = ask(world, words(world, "eval tier_pause_cost tier_chosen "
                                                      "cheapest_pause_cost", at));
            for (const struct doc *cost = doc_get(one, "tier_pause_cost")->first; cost;
                 cost = cost->next) {
                const struct doc *row = doc_get(rows, cost_row(world, cost->key));
                const char *choice = arena_print(&world->arena, "tier_chosen[%s]", cost->key);
                const struct doc *chosen = doc_get(rows, choice);
                bool cheapest = !strcmp(doc_get(one, "cheapest")->string, cost->key);
                assert_true(number(row, "value") == cost->number);
                assert_true(number(chosen, "value") == cheapest);
            }
            assert_true(number(doc_get(rows, "cheapest_pause_cost"), "value") ==
                        number(one, "cheapest_pause_cost"));
        }
    const struct doc *why = ask(world, "why tier_pause_cost[flash] --set hold_time=3600");
    double value = number(why, "value");
    const struct doc *one = doc_get(ask(world, "tiers"), "pauses")->first;
    while (number(one, "hold_time") != 3600)
        one = one->next;
    assert_true(value == number(doc_get(one, "tier_pause_cost"), "flash"));
}

/* ---- figures of the lecture ------------------------------------------------------------ */

static void figures_of_the_lecture(void **state)
{
    struct world *world = *state;
    /* V20 of lecture.md section 9 */
    const struct doc *answer = ask(world, "tiers --set params_active=1e11 --set kv_per_token=2048");
    near(of_tier(answer, "hbm", "tier_break_even"), 4166.67, 1e-5);
    near(of_tier(answer, "hbm", "recompute_after"), 4166.67, 1e-5);
    /* section 5.6: 768 GB at 460 GB/s, 3.84 TB at 14 GB/s, 20 TB at 0.28 GB/s; C / W of B200 */
    near(of_tier(answer, "hbm", "tier_drain_time"), 24e-3, 1e-9);
    near(of_tier(answer, "ddr", "tier_drain_time"), 1.7, 2e-2);
    near(of_tier(answer, "flash", "tier_drain_time"), 274, 2e-3);
    near(of_tier(answer, "disk", "tier_drain_time"), 19.8 * 3600, 3e-3);
    /* section 7: quoted */
    near(of_tier(answer, "hbm", "tier_drain_quoted"), 20e-3, 1e-12);
    near(of_tier(answer, "ddr", "tier_drain_quoted_low"), 1, 1e-12);
    near(of_tier(answer, "ddr", "tier_drain_quoted_high"), 10, 1e-12);
    near(of_tier(answer, "flash", "tier_drain_quoted"), 60, 1e-12);
    near(of_tier(answer, "disk", "tier_drain_quoted"), 3600, 1e-12);
    /* section 5.6: hold is retrieve after the drain time; hbm retrieves for nothing */
    near(of_tier(answer, "disk", "tier_time_to_live"),
         of_tier(answer, "disk", "tier_drain_time"), 1e-12);
    assert_true(of_tier(answer, "hbm", "tier_retrieve") == 0);
    /* 205 MB a conversation: 768e9 / 2.048e8 = 3750; 1 write of 3.84 TB a day: 18,750 of them */
    assert_true(of_tier(answer, "ddr", "tier_conversations") == 3750);
    near(of_tier(answer, "flash", "tier_daily_writes"), 18750, 1e-12);
    near(of_tier(answer, "flash", "tier_endurance"), 3.84e12 * 5 * 365, 1e-12);
    /* 0.115 USD/GB over 1825 days of writing against 0.0101 USD/h over 3.84 TB */
    near(of_tier(answer, "flash", "tier_wear_time"),
         (0.115e-9 / 1825) / (0.0101 / 3600 / 3.84e12), 1e-9);
}

static void memory_beside_the_lecture(void **state)
{
    struct world *world = *state;
    const struct doc *known = ask(world, "tiers deepseek-v3 --on gb200-nvl72 --gpus 72");
    /* 186 GiB at 15.1 and 236 GB at 10.2 USD/GB of 52,083 USD, all of 2026 */
    near(number(known, "memory_share_of_cost"), (186 * GIB / 1e9 * 15.1 + 236 * 10.2) / 52083.0, 1e-9);
    near(number(known, "memory_share_of_cost_low"), number(known, "memory_share_of_cost_high"), 1e-12);
    assert_true(number(known, "memory_cost_share_low") == 0.05);
    assert_true(number(known, "memory_cost_share_high") == 0.1);
    assert_true(number(known, "memory_share_quoted") == 0.5);
    /* 72 hosts' shares of 236 GB over 4096 * 70,272 bytes */
    assert_true(number(known, "host_conversations") == floor(72 * 236e9 / (4096 * 70272.0)));
    const struct doc *unknown = ask(world, "tiers llama-3.3-70b --on h200-sxm");
    assert_true(is_null(unknown, "memory_share_of_cost"));
    assert_true(is_null(unknown, "host_conversations"));
    const struct doc *given = ask(world, "tiers llama-3.3-70b --on h100-sxm --set "
                                  "machine_cost=30000USD --set host_memory=250GB");
    near(number(given, "memory_share_of_cost"), (80 * GIB / 1e9 * 12.5 + 250 * 3.7) / 30000.0, 1e-9);
    assert_int_equal(world->answer.status, 0);
    ask(world, "tiers deepseek-v3 --on rtx-4090");      /* does not fit: an answer, not an error */
    assert_int_equal(world->answer.status, 1);
}

/* ---- a user's table ------------------------------------------------------------------------ */

static const char *printed(struct world *world, const struct doc *doc)
{
    struct buffer out = { .arena = &world->arena };
    doc_print(&out, doc);
    return out.data;
}

static void table_of_the_user(void **state)
{
    struct world *world = *state;
    const char *built_in = printed(world, doc_get(ask(world, "tiers"), "tiers"));
    assert_string_equal(printed(world, doc_get(ask(world, "tiers --tiers data/tiers.csv"), "tiers")),
                        built_in);
    const char *mine = path(world, "mine.csv");
    FILE *out = fopen(mine, "w");
    assert_non_null(out);
    fprintf(out, "name,fact,value,unit,source,date,mark,note\n"
                 "ram,tier_capacity,1,TB,me,2026,,\n"
                 "ram,tier_bandwidth,100,GB/s,me,2026,,\n"
                 "ram,tier_price,0.36,USD/h,me,2026,,\n"
                 "shelf,tier_capacity,10,TB,me,2026,,\n"
                 "shelf,tier_bandwidth,100,GB/s,me,2026,,\n"
                 "shelf,tier_price,0,USD/h,me,2026,,\n");
    fclose(out);
    const struct doc *answer = ask(world, arena_print(&world->arena, "tiers --tiers %s", mine));
    assert_int_equal(doc_get(answer, "tiers")->count, 2);
    /* 1e-4 USD/s over 1e12 B: 2048 bytes are held for 2.048e-13 USD/s; a free shelf always wins */
    near(of_tier(answer, "ram", "tier_hold"), 2.048e-13, 1e-12);
    assert_true(is_null(doc_get(doc_get(answer, "tiers"), "shelf"), "tier_break_even"));
    assert_int_equal(doc_get(answer, "path")->count, 1);
    assert_string_equal(doc_get(doc_get(answer, "path")->first, "place")->string, "shelf");
    answer = ask(world, arena_print(&world->arena, "eval tier_hold[ram] --tiers %s", mine));
    near(number(doc_get(answer, "tier_hold[ram]"), "value"), 2.048e-13, 1e-12);
}

static void csv_has_a_line_for_each_place(void **state)
{
    struct world *world = *state;
    struct csv csv;
    const struct doc *answer = ask(world, "tiers deepseek-v3 --on gb200-nvl72 --gpus 72");
    struct text text = { world->answer.csv.data, world->answer.csv.size };
    if (!csv_read(&world->arena, "answer", text, &csv, &world->error))
        fail_msg("%s", world->error.what);
    assert_int_equal(csv.rows, PLACES);
    const struct doc *ddr = doc_get(answer, "path")->first->next;
    assert_string_equal(csv_cell(&csv, 1, csv_column(&csv, "tier")), "ddr");
    assert_true(atof(csv_cell(&csv, 1, csv_column(&csv, "best_until"))) == number(ddr, "until"));
    assert_true(atof(csv_cell(&csv, 1, csv_column(&csv, "tier_hold"))) ==
                of_tier(answer, "ddr", "tier_hold"));
    assert_string_equal(csv_cell(&csv, 4, csv_column(&csv, "best_until")), "");
    assert_null(strstr(world->answer.csv.data, "nan"));
    assert_null(strstr(world->answer.csv.data, "inf"));
}

static void picture_names_every_place(void **state)
{
    struct world *world = *state;
    const char *picture = path(world, "plot.svg");
    struct text text;
    ask(world, arena_print(&world->arena, "tiers deepseek-v3 --on gb200-nvl72 --plot %s", picture));
    if (!file_read(&world->arena, picture, 1 << 24, &text, &world->error))
        fail_msg("%s", world->error.what);
    const char *all = arena_copy(&world->arena, text.data, text.size);
    static const char *const shown[] = { ">hbm<", ">ddr<", ">flash<", ">recompute<", ">computing it again<",
                                         ">11.6 ms<",
                                         ">33.2 min<", ">4.04 d<" };
    for (size_t i = 0; i < COUNT(shown); i++)
        if (!strstr(all, shown[i]))
            fail_msg("the picture has no %s", shown[i]);
    assert_null(strstr(all, ">disk<"));                 /* late: it would be the line of computing again */
}

/* The pause until which host memory is the cheapest, by rent alone and with wear, from the prices of parts: 0.0877 USD/h for
 * 768 GB at 460 GB/s, 0.0101 USD/h for 3.84 TB at 14 GB/s, whose writing costs 1.15e-10 USD/B over a write a day for 5 years. */
static void rent_and_wear(void **state)
{
    struct world *world = *state;
    const double ddr = 0.0877 / 3600, flash = 0.0101 / 3600, wear = 1.15e-10 / (5 * 365.25);
    const double fetch = flash / 14e9 - ddr / 460e9, hold = ddr / 768e9;
    const struct { const char *path; double until; } paths[] = {
        { "path", (fetch + wear) / hold }, { "path_by_rent", fetch / (hold - flash / 3.84e12) } };
    const struct doc *answer = ask(world, "tiers deepseek-v3 --on gb200-nvl72");
    for (size_t i = 0; i < COUNT(paths); i++) {
        const struct doc *one = doc_get(answer, paths[i].path)->first;
        while (one && strcmp(doc_get(one, "place")->string, "ddr"))
            one = one->next;
        assert_non_null(one);
        assert_string_equal(doc_get(one->next, "place")->string, "flash");
        near(number(one, "until"), paths[i].until, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(path_is_the_cheapest, world_open, world_close),
        cmocka_unit_test_setup_teardown(costs_are_those_of_hand, world_open, world_close),
        cmocka_unit_test_setup_teardown(borders_are_what_solve_finds, world_open, world_close),
        cmocka_unit_test_setup_teardown(borders_are_exact, world_open, world_close),
        cmocka_unit_test_setup_teardown(rent_and_wear, world_open, world_close),
        cmocka_unit_test_setup_teardown(rows_say_the_same, world_open, world_close),
        cmocka_unit_test_setup_teardown(figures_of_the_lecture, world_open, world_close),
        cmocka_unit_test_setup_teardown(memory_beside_the_lecture, world_open, world_close),
        cmocka_unit_test_setup_teardown(table_of_the_user, world_open, world_close),
        cmocka_unit_test_setup_teardown(csv_has_a_line_for_each_place, world_open, world_close),
        cmocka_unit_test_setup_teardown(picture_names_every_place, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
