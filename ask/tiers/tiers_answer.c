/* The answer of `tiers` as sections of figures; tiers.template is its text.
 *
 * A place is a memory tier or recomputation. The text gives the cheapest place by length of pause,
 * then a table of places (rent, retrieval, wear, break-even interval, capacity in conversations)
 * and a table of costs at chosen pauses. All values were computed by tiers.c from rows; this file
 * only names them. Recomputation is a place in the text and in CSV, and no tier in JSON. At a pause
 * where two places cost the same, the text names both. What has no finite value is null. The records
 * at the end declare the keys of the document for the API. */
#include "ask/tiers/tiers.h"
#include "scenario/figures.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const tier_figures[] = {
#define X(name) NAME_##name,
    TIER_FIGURES(X)
#undef X
};
const char *const whole_figures[] = {
#define X(name) NAME_##name,
    WHOLE_FIGURES(X)
#undef X
};

const char *tiers_title(const struct tiers_answer *tiers)
{
    const char *model = tiers->scenario.model, *machine = tiers->scenario.machine;
    return arena_print(tiers->scenario.arena, "%s on %s",
                       model ? model : "the model of the lecture",
                       machine ? machine : "its chips");
}

bool tiers_late(const struct tiers_answer *tiers, size_t place)
{
    return place < tiers->places.tiers &&
           tiers->tier[place].at[TIER_tier_fetch_time] > tiers->whole[WHOLE_resume_limit];
}

static struct unit unit_of(const struct tiers_answer *tiers, const char *row)
{
    const struct formulas *formulas = &tiers->scenario.formulas;
    return formulas_row(formulas, formulas_find(formulas, row))->unit;
}

static struct figure *add_known(struct section *section, const char *name, double value, struct unit unit)
{
    return isfinite(value) ? section_number(section, name, value, unit) : section_nothing(section, name);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* "until 26 s in hbm; until 31 min in ddr; then recompute" */
static const char *path_words(const struct places *places)
{
    struct buffer out = { .arena = places->scenario->arena };
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        const char *in = stretch->place == places->tiers ? "" : "in ", *name = places->names[stretch->place];
        if (stretch->until < INFINITY)
            buffer_print(&out, "until %s %s%s; ", quantity_text(out.arena, stretch->until, unit_second, 3),
                         in, name);
        else
            buffer_print(&out, "%s %s%s", i ? "then" : "always", in, name);
    }
    return out.data;
}

static void add_option(struct buffer *out, const char *name, const char *value)
{
    const bool plain = *value && !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                      "0123456789-_./:=,+%")];
    buffer_print(out, plain ? " --%s %s" : " --%s '%s'", name, value);
}

/* The command that explains the cheapest tier at this pause: the same options before another question. */
static const char *why_words(struct tiers_answer *tiers)
{
    const struct command *command = tiers->scenario.command;
    const size_t best = places_best(&tiers->places, tiers->whole[WHOLE_hold_time]);
    struct buffer out = { .arena = tiers->scenario.arena };
    buffer_print(&out, "chalkline why 'tier_pause_cost[%s]'",
                 tiers->places.names[best < tiers->places.tiers ? best : 0]);
    for (size_t i = 0; i < command->word_count; i++)
        add_option(&out, "model", command->words[i]);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        const char *name = value->option->name;
        if (!strcmp(name, "json") || !strcmp(name, "csv") || !strcmp(name, "plot") ||
            starts_with(name, "report"))
            continue;
        if (value->option->kind == OPTION_SWITCH)
            buffer_print(&out, " --%s", name);
        else
            add_option(&out, name, value->text);
    }
    if (!facts_find(&tiers->scenario.facts, NAME_hold_time))
        buffer_print(&out, " --set hold_time=%gs", tiers->whole[WHOLE_hold_time]);
    return out.data;
}

/* ---- places and pauses ---------------------------------------------------------------------- */

/* The first and the last pause at which the place is the cheapest, for CSV. */
static void add_best(const struct places *places, size_t place, struct section *section)
{
    double from = NAN, until = NAN;
    for (size_t i = places->path_count; i-- > 0;)
        if (places->path[i].place == place) {
            from = places->path[i].from;
            if (isnan(until))
                until = places->path[i].until;
        }
    add_known(section, "best_from", from, unit_second)->text_only = true;
    add_known(section, "best_until", until, unit_second)->text_only = true;
}

static void add_places(struct tiers_answer *tiers, struct section *section)
{
    const struct places *places = &tiers->places;
    struct section *list = section_add(section, "tiers", SECTION_KEYED), *one;
    bool large = tiers->whole[WHOLE_sequences_that_fit] >= 1;
    for (size_t i = 0; i < places->tiers; i++) {
        const struct tier_answer *tier = &tiers->tier[i];
        one = section_add(list, tier->name, SECTION_RECORD);
        section_word(one, "tier", tier->name)->text_only = true;
        section_word(one, "title", tier->title);
        for (int k = 0; k < TIER_FIGURE_COUNT; k++)
            add_known(one, tier_figures[k], tier->at[k], unit_of(tiers, tier_figures[k]));
        add_known(one, "tier_drain_quoted", tier->quoted, unit_second)->range =
            (struct range){ tier->quoted_low, tier->quoted_high, "range" };
        add_known(one, "tier_drain_quoted_low", tier->quoted_low, unit_second);
        add_known(one, "tier_drain_quoted_high", tier->quoted_high, unit_second);
        add_known(one, "recompute_after", tier->again, unit_second);
        if (tier->never) {
            section_word(one, "never", arena_print(list->arena, "%s: %s", tier->beaten ? "never the cheapest"
                                                   : "never", tier->never));
            section_word(one, "why_never", tier->never)->text_only = true;
        }
        add_best(places, i, one);
        large |= !(tier->at[TIER_tier_in_place] > 0) && tier->at[TIER_tier_conversations] >= 1;
    }
    one = section_add(list, places->names[places->tiers], SECTION_RECORD);
    one->text_only = true;
    section_word(one, "tier", places->names[places->tiers]);
    section_number(one, NAME_tier_hold, 0, unit_of(tiers, NAME_tier_hold));
    add_known(one, NAME_tier_retrieve, tiers->whole[WHOLE_recompute_cost],
              unit_of(tiers, NAME_tier_retrieve));
    add_known(one, NAME_tier_fetch_time, tiers->whole[WHOLE_recompute_pause_time], unit_second);
    if (!places_on_path(places, places->tiers))
        section_word(one, "why_never", arena_print(
            list->arena, "costs more up to a pause of %s",
            quantity_text(list->arena, places->longest, unit_second, 3)));
    add_best(places, places->tiers, one);
    section_switch(section, "fits_nowhere", !large)->text_only = true;
}

static void add_path(const struct tiers_answer *tiers, struct places *places, const char *key, struct section *section)
{
    struct section *list = section_add(section, key, SECTION_LIST);
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "place", places->names[stretch->place]);
        add_known(one, "from", stretch->from, unit_second);
        add_known(one, "until", stretch->until, unit_second);
        add_known(one, "cost_from", places_costs(places, stretch->from)[stretch->place],
                  unit_of(tiers, NAME_cheapest_pause_cost));
    }
}

/* What a pause costs in each place; at a border of the path both of its places are the cheapest. */
static void add_pause(struct tiers_answer *tiers, double pause, struct section *list)
{
    const double million = 1e6;
    struct places *places = &tiers->places;
    const size_t best = places_best(places, pause);
    const double *costs = places_costs(places, pause);
    const struct unit unit = unit_of(tiers, NAME_cheapest_pause_cost);
    const char *cheapest = places->names[best];
    struct scenario at = tiers->scenario;
    at.facts = facts_copy(&at.facts);
    facts_set(&at.facts, NAME_hold_time, pause, ORIGIN_AXIS, "the table");
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    figures_words(&at, one);
    add_known(one, NAME_hold_time, pause, unit_second);
    section_word(one, "cheapest", cheapest);
    add_known(one, NAME_cheapest_pause_cost, costs[best], unit);
    struct section *each = section_add(one, NAME_tier_pause_cost, SECTION_RECORD);
    struct section *shown = section_add(one, "costs", SECTION_LIST);
    shown->text_only = true;
    for (size_t i = 0; i <= places->tiers; i++) {
        struct section *cell = section_add(shown, NULL, SECTION_RECORD);
        if (i < places->tiers)
            add_known(each, places->names[i], costs[i], unit);
        section_word(cell, "place", places->names[i]);
        section_number(cell, "per_million", million * costs[i], unit_one);
        section_switch(cell, "late", tiers_late(tiers, i));
    }
    for (size_t i = 1; i < places->path_count; i++)
        if (places->path[i].from == pause)
            cheapest = arena_print(list->arena, "%s = %s", places->names[places->path[i - 1].place],
                                   places->names[places->path[i].place]);
    section_word(one, "cheapest_places", cheapest)->text_only = true;
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Columns of CSV that are no rows of a tier. */
static const char *const more_columns[] = { "tier_drain_quoted", "recompute_after", "best_from",
                                            "best_until" };
enum { MORE = sizeof more_columns / sizeof *more_columns };

void tiers_answer(struct tiers_answer *tiers, struct answer *answer)
{
    struct scenario *scenario = &tiers->scenario;
    struct section *section = section_new(scenario->arena);
    const bool known = tiers->memory_known;
    if (scenario->model)
        section_word(section, "model", scenario->model);
    if (scenario->machine)
        section_word(section, "machine", scenario->machine);
    section_word(section, "title", tiers_title(tiers))->text_only = true;
    section_word(section, "cheapest_by_pause", path_words(&tiers->places))->text_only = true;
    section_word(section, "cheapest_by_rent", path_words(&tiers->rented))->text_only = true;
    section_word(section, "why", why_words(tiers))->text_only = true;
    figures_words(scenario, section);
    for (int i = 0; i < WHOLE_FIGURE_COUNT; i++)
        add_known(section, whole_figures[i],
                  i == WHOLE_memory_share_of_cost && !known ? NAN : tiers->whole[i],
                  unit_of(tiers, whole_figures[i]));
    add_known(section, "memory_share_of_cost_low", known ? tiers->memory.low : NAN, unit_one);
    add_known(section, "memory_share_of_cost_high", known ? tiers->memory.high : NAN, unit_one);
    add_known(section, "memory_cost_share_low", tiers->memory_listed_low, unit_one);
    add_known(section, "memory_cost_share_high", tiers->memory_listed_high, unit_one);
    add_places(tiers, section);
    add_path(tiers, &tiers->places, "path", section);
    add_path(tiers, &tiers->rented, "path_by_rent", section);
    struct section *pauses = section_add(section, "pauses", SECTION_LIST);
    for (size_t i = 0; i < tiers->pause_count; i++)
        add_pause(tiers, tiers->pauses[i], pauses);
    figures_notes(scenario, section);
    answer->section = section;
    section_document(section, answer->doc);
    template_print(template_built_in(scenario->arena, "ask/tiers/tiers.template"), section, &answer->text);
    const char *columns[1 + TIER_FIGURE_COUNT + MORE] = { "tier" };
    memcpy(columns + 1, tier_figures, TIER_FIGURE_COUNT * sizeof *columns);
    memcpy(columns + 1 + TIER_FIGURE_COUNT, more_columns, sizeof more_columns);
    section_csv_of(section_inside(section, "tiers"), columns, 1 + TIER_FIGURE_COUNT + MORE, &answer->csv);
}

/* ---- the keys -------------------------------------------------------------------------------------- */

static const char *const all_tier_figures[] = {
#define X(name) NAME_##name,
    TIER_FIGURES(X)
#undef X
};
static const char *const all_whole_figures[] = {
#define X(name) NAME_##name,
    WHOLE_FIGURES(X)
#undef X
};
static const char *const drains[] = { "tier_drain_quoted", "tier_drain_quoted_low",
                                      "tier_drain_quoted_high" };
static const char *const shares[] = { "memory_share_of_cost_low", "memory_share_of_cost_high",
                                      "memory_cost_share_low", "memory_cost_share_high" };
static const char *const pause_rows[] = { NAME_hold_time, NAME_cheapest_pause_cost };

static const struct record tier_record = { "Tier", (const struct answer_field[]){
    { FIELD_TEXT, "title", .help = "title in the tier sheet", .always = true },
    { FIELD_ROWS, .names = all_tier_figures, .count = TIER_FIGURE_COUNT, .always = true },
    { FIELD_NUMBER, .help = "published figure of the drain time", .unit = "s", .names = drains, .count = 3,
      .always = true, .null = true },
    { FIELD_NUMBER, "recompute_after", .unit = "s",
      .help = "break-even interval: a longer pause is cheaper to recompute", .always = true, .null = true },
    { FIELD_TEXT, "never", .help = "why this tier is never the cheapest" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "tier", "why_never", "best_from", "best_until" },
      .count = 4 },
    { 0 } } };

static const struct record tiers_record = { "Tiers", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a tier, by its name", .record = &tier_record },
    { 0 } } };

static const struct record path_record = { "TierPath", (const struct answer_field[]){
    { FIELD_TEXT, "place", .help = "the cheapest tier", .always = true },
    { FIELD_NUMBER, "from", .help = "shortest pause", .unit = "s", .always = true, .null = true },
    { FIELD_NUMBER, "until", .help = "longest pause; null: without end", .unit = "s", .always = true,
      .null = true },
    { FIELD_NUMBER, "cost_from", .help = "cost of the shortest pause", .unit = "USD", .always = true,
      .null = true },
    { 0 } } };

static const struct record costs_record = { "PauseCosts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "cost of the pause in this tier", .unit = "USD", .null = true },
    { 0 } } };

static const struct record place_record = { "PausePlace", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "place", "per_million", "late" }, .count = 3 },
    { 0 } } };

static const struct record pause_record = { "Pause", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this pause again", .always = true },
    { FIELD_ROWS, .names = pause_rows, .count = 2, .always = true },
    { FIELD_TEXT, "cheapest", .help = "the cheapest tier", .always = true },
    { FIELD_RECORD, NAME_tier_pause_cost, .help = "cost of the pause in each tier",
      .record = &costs_record, .always = true },
    { FIELD_TEXT_ONLY, "costs", .record = &place_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "cheapest_places" }, .count = 1 },
    { 0 } } };

const struct record answer_tiers = { "TiersAnswer", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_TEXT, "machine", .help = "title of the machine" },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_ROWS, .names = all_whole_figures, .count = WHOLE_FIGURE_COUNT, .always = true },
    { FIELD_NUMBER, .help = "end of the memory's share of a machine's price", .names = shares, .count = 4,
      .always = true, .null = true },
    { FIELD_RECORD, "tiers", .help = "the memory tiers", .record = &tiers_record, .always = true },
    { FIELD_LIST, "path", .help = "the cheapest tier by length of pause, from the shortest on",
      .record = &path_record, .always = true },
    { FIELD_LIST, "path_by_rent", .help = "the same by rent and retrieval alone, without the wear of writes",
      .record = &path_record, .always = true },
    { FIELD_LIST, "pauses", .help = "cost of some pauses in each tier",
      .record = &pause_record, .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_TEXT_ONLY, .count = 5,
      .names = (const char *const[]){ "title", "cheapest_by_pause", "cheapest_by_rent", "why", "fits_nowhere" } },
    { 0 } } };
