/* tiers: the cheapest place for the KV cache of an idle conversation, by length of the pause.
 *
 * The cost of a tier grows with the pause and that of recomputation does not; tiers_path.c finds
 * the pauses at which the cheapest place changes. Every cost is a row. A tier that takes longer to
 * fetch than the limit counts as recomputation. For a tier that is never the cheapest, the answer
 * names the one that beats it where it comes closest. */
#include "ask/ask.h"
#include "ask/tiers/tiers.h"
#include "base/quantile.h"
#include "build/row_names.h"
#include "scenario/basis.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

/* ---- what was asked ------------------------------------------------------------------ */

/* Read the question, and refuse what has no answer: several models, ranges, since every figure is a
 * number, and a conversation without a KV cache. The answer goes along pauses, so that a pause that was
 * given as an expression becomes the number that it is here. */
static bool open_scenario(struct scenario *scenario, struct arena *arena,
                          const struct command *command, struct error *error)
{
    static const char *const asked[] = { NAME_cheapest_pause_cost, "SUM(tier, tier_fetch_time)" };
    struct subject subject;
    struct values values;
    double pause, stored, written;
    const size_t models = command_models(command, &subject);
    if (models > 1) {
        error_set(error, "tiers takes one model, %zu were given", models);
        return error_expected(error, "chalkline tiers deepseek-v3 --on gb200-nvl72");
    }
    if (!scenario_open(scenario, arena, command, subject, error) ||
        !scenario_priced(scenario, "tiers", error) || !value_of(scenario, NAME_kv_stored, &stored, error) ||
        !value_of(scenario, NAME_kv_per_token, &written, error))
        return false;
    if (!(stored > 0) || !(written > 0)) {
        error_set(error, "tiers: a conversation of this context has no KV cache");
        return error_expected(error, "--context 1 or more, and a model with a KV cache");
    }
    if (!scenario_choose(scenario, asked, 2, error))
        return false;
    const struct fact *given = facts_find(&scenario->facts, NAME_hold_time);
    if (given && given->expression) {
        if (!value_of(scenario, NAME_hold_time, &pause, error))
            return false;
        facts_note(&scenario->facts, "hold_time = %s = %s", given->expression,
                   quantity_text(scenario->arena, pause, unit_second, 4));
        facts_set(&scenario->facts, NAME_hold_time, pause, given->origin, given->source);
    }
    return values_of(scenario, asked, 2, &values, error);
}

/* ---- figures ---------------------------------------------------------------------------- */

/* Why the tier is never the cheapest place; where another one always is, which comes nearest to it, at
 * which pause and by how much. */
static void set_never(const struct tiers_answer *tiers, size_t i)
{
    struct arena *arena = tiers->scenario.arena;
    const struct places *places = &tiers->places;
    struct tier_answer *tier = &tiers->tier[i];
    double least = INFINITY;
    size_t by = places_best_of(places, 1), at = 1;
    if (places_on_path(places, i))
        return;
    if (tiers_late(tiers, i)) {
        tier->never = arena_print(arena, "fetching takes %s, more than resume_limit, %s",
                                  quantity_text(arena, tier->at[TIER_tier_fetch_time], unit_second, 3),
                                  quantity_text(arena, tiers->whole[WHOLE_resume_limit], unit_second, 3));
        return;
    }
    if (tier->again == 0) {
        tier->never = "recomputing costs less than the shortest pause in it";
        return;
    }
    for (size_t k = 1; k < places->points; k++) {
        const size_t best = places_best_of(places, k);
        const double ratio = places->costs[i * places->points + k] / places->costs[best * places->points + k];
        if (ratio < least) {
            least = ratio;
            by = best;
            at = k;
        }
    }
    tier->beaten = true;
    if (!(least > 1 && least < INFINITY))
        tier->never = arena_print(arena, "%s costs %s", places->names[by],
                                  least > 1 ? "nothing" : "the same");
    else
        tier->never = arena_print(arena, "nearest at a pause of %s, with %s times the cost of %s",
                                  quantity_text(arena, places->grid[at], unit_second, 3),
                                  quantity_text(arena, least, unit_one, 3), places->names[by]);
}

static void read_tiers(struct tiers_answer *tiers)
{
    struct scenario *scenario = &tiers->scenario;
    struct places *places = &tiers->places;
    tiers->tier = arena_array(scenario->arena, places->tiers, sizeof *tiers->tier);
    for (size_t i = 0; i < places->tiers; i++) {
        struct tier_answer *tier = &tiers->tier[i];
        const struct catalog_entry *entry = catalog_find(&scenario->catalog, CATALOG_TIER,
                                                         places->names[i], NULL);
        tier->name = places->names[i];
        tier->title = entry->title;
        if (!catalog_number(entry, "tier_drain_quoted", &tier->quoted))
            tier->quoted = NAN;
        if (!catalog_number(entry, "tier_drain_quoted_low", &tier->quoted_low) ||
            !catalog_number(entry, "tier_drain_quoted_high", &tier->quoted_high))
            tier->quoted_low = tier->quoted_high = tier->quoted;
        for (int k = 0; k < TIER_FIGURE_COUNT; k++)
            tier->at[k] = value_or_nan(scenario, arena_print(scenario->arena, "%s[%s]", tier_figures[k],
                                                             tier->name));
        tier->again = places_again(places, i);
        set_never(tiers, i);
    }
}

/* Memory's share is known where the machine's price is. */
static void read_memory(struct tiers_answer *tiers)
{
    struct scenario *scenario = &tiers->scenario;
    static const char *const share[] = { NAME_memory_share_of_cost };
    const struct fact *low = facts_find(&scenario->facts, "memory_cost_share_low");
    const struct fact *high = facts_find(&scenario->facts, "memory_cost_share_high");
    struct values values;
    struct error ignored;
    tiers->memory_listed_low = low && high ? low->value : NAN;
    tiers->memory_listed_high = low && high ? high->value : NAN;
    tiers->memory_known = values_of(scenario, share, 1, &values, &ignored) && isfinite(*values.at);
    if (!tiers->memory_known)
        return;
    tiers->memory = (struct range){ values.at[0], values.at[0], NULL };
    if (values_uncertain(scenario, &values))
        tiers->memory = values_range(scenario, &values, 0);
}

static void choose_pauses(struct tiers_answer *tiers)
{
    static const double ladder[] = { 0.01, 1, 10, 60, 300, 3600, 6 * 3600, 86400, 7 * 86400,
                                     30 * 86400 };
    enum { RUNGS = sizeof ladder / sizeof *ladder };
    const struct places *places = &tiers->places;
    size_t count = 0, kept = 0;
    double *all = arena_array(tiers->scenario.arena, RUNGS + places->path_count + 1, sizeof *all);
    for (size_t i = 0; i < RUNGS; i++)
        all[count++] = ladder[i];
    for (size_t i = 1; i < places->path_count; i++)
        all[count++] = places->path[i].from;
    all[count++] = tiers->whole[WHOLE_hold_time];
    numbers_sort(all, count);
    for (size_t i = 0; i < count; i++)
        if (!kept || all[i] > all[kept - 1])
            all[kept++] = all[i];
    tiers->pauses = all;
    tiers->pause_count = kept;
}

/* ---- what was assumed ----------------------------------------------------------------- */

/* Figures of the tiers that nobody has looked up, limits and habits that nobody gave, and what the
 * answer depends on. */
static void note_assumed(struct tiers_answer *tiers)
{
    static const char *const used[] = { NAME_tier_capacity, NAME_tier_bandwidth, NAME_tier_cost,
                                        NAME_tier_life, NAME_tier_writes_per_day };
    struct scenario *scenario = &tiers->scenario;
    const double limit = tiers->whole[WHOLE_resume_limit];
    const double recompute = tiers->whole[WHOLE_recompute_pause_time];
    const char *texts[TIER_FIGURE_COUNT + WHOLE_FIGURE_COUNT];
    size_t unverified = 0, count = 0;
    for (size_t i = 0; i < tiers->places.tiers; i++) {
        const struct catalog_entry *entry = catalog_find(&scenario->catalog, CATALOG_TIER,
                                                         tiers->tier[i].name, NULL);
        for (size_t k = 0; k < entry->rows; k++) {
            struct catalog_row row = catalog_row(entry, k);
            for (size_t u = 0; u < sizeof used / sizeof *used; u++)
                unverified += row.chosen && !strcmp(row.mark, "memory") && !strcmp(row.fact, used[u]);
        }
    }
    if (unverified)
        facts_note(&scenario->facts, "%zu figures of the tiers are unverified: --tiers FILE "
                   "replaces them", unverified);
    if (!facts_find(&scenario->facts, NAME_resume_limit))
        facts_note(&scenario->facts, "a KV cache that takes longer than %s to fetch is recomputed "
                   "(resume_limit)", quantity_text(scenario->arena, limit, unit_second, 3));
    if (!facts_find(&scenario->facts, NAME_copy_occupancy))
        facts_note(&scenario->facts, "one reader at a time, no network, no GPU time for copying "
                   "(copy_occupancy)");
    if (recompute > limit)
        facts_note(&scenario->facts, "resume_limit does not apply to recomputing, which takes %s",
                   quantity_text(scenario->arena, recompute, unit_second, 3));
    for (int i = 0; i < WHOLE_FIGURE_COUNT; i++)
        texts[count++] = whole_figures[i];
    for (int i = 0; i < TIER_FIGURE_COUNT; i++)
        texts[count++] = arena_print(scenario->arena, "SUM(tier, %s)", tier_figures[i]);
    shown_notes(scenario, texts, count, "this answer");
    scenario_no_server(scenario, NULL, 0);
}

/* The places again, in a copy of the scenario where writing wears nothing. */
static bool open_rented(struct tiers_answer *tiers, struct error *error)
{
    struct scenario *rented = arena_alloc(tiers->scenario.arena, sizeof *rented);
    *rented = tiers->scenario;
    rented->facts = facts_copy(&tiers->scenario.facts);
    facts_set(&rented->facts, NAME_tier_writes_per_day, 0, ORIGIN_CHOSEN, "rent alone");
    return places_open(rented, &tiers->rented, error);
}

/* ---- asking ------------------------------------------------------------------------------ */

bool ask_tiers(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct tiers_answer *tiers = arena_alloc(arena, sizeof *tiers);
    struct scenario *scenario = &tiers->scenario;
    const char *picture = command_text(command, "plot");
    if (!open_scenario(scenario, arena, command, error) ||
        !places_open(scenario, &tiers->places, error) || !open_rented(tiers, error))
        return false;
    for (int i = 0; i < WHOLE_FIGURE_COUNT; i++)
        tiers->whole[i] = value_or_nan(scenario, whole_figures[i]);
    if (scenario->machine && !facts_find(&scenario->facts, NAME_host_memory))
        tiers->whole[WHOLE_host_conversations] = NAN;   /* the default is of another machine */
    read_tiers(tiers);
    read_memory(tiers);
    choose_pauses(tiers);
    note_assumed(tiers);
    tiers_answer(tiers, answer);
    answer->status = scenario->model && scenario->machine && tiers->whole[WHOLE_sequences_that_fit] < 1;
    if (command_draws(command))
        answer->picture = tiers_picture(tiers);
    if (!picture)
        return true;
    if (!command_text(command, "json") && !command_text(command, "csv")) {
        answer->text.size = 0;
        if (strcmp(picture, "-"))
            buffer_print(&answer->text, "%s: %zu tiers\n", picture, tiers->places.tiers);
    }
    return true;
}

const struct verb verb_tiers = {
    "tiers", "MODEL --on HARDWARE",
    "Choose the memory tier for the KV cache of an idle conversation, by cost and time to resume.",
    { "chalkline tiers deepseek-v3 --on gb200-nvl72 --context 32768",
      "chalkline tiers llama-3.3-70b --on h100-sxm --plot tiers.svg" },
    { SERVING_OPTIONS, &table_options, &plot_options, &report_options, &output_options },
    ANSWERS(answer_tiers), .ask = ask_tiers,
    .main = (const char *const[]){ NAME_kv_stored, NAME_recompute_pause_time, NAME_recompute_pause_cost,
                                   NAME_cheapest_pause_cost, NAME_sequences_that_fit, NULL } };
