/* The answer of `tiers` as text, CSV and document.
 *
 * A place is a memory tier or recomputation. The text gives the cheapest place by length of pause,
 * then a table of tiers (rent, retrieval, wear, break-even interval, capacity in conversations)
 * and a table of costs at chosen pauses. All values were computed by tiers.c from rows; this file
 * only chooses units and words. At a pause where two places cost the same, both are named. The
 * records at the end declare the keys of the document for the API. */
#include "ask/tiers/tiers.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const struct unit one = { { 0 } }, seconds = { { 2 } };

static struct unit unit_of(const struct tiers_answer *tiers, const char *row)
{
    const struct formulas *formulas = &tiers->scenario.formulas;
    return formulas->rows[formulas_find(formulas, row)]->unit;
}

static const char *shown(const struct tiers_answer *tiers, double value, struct unit unit)
{
    return isfinite(value) ? quantity_text(tiers->scenario.arena, value, unit, 3) : "-";
}

static const char *figure_text(const struct tiers_answer *tiers, size_t tier, enum tier_figure at)
{
    return shown(tiers, tiers->tier[tier].at[at], unit_of(tiers, tier_figures[at]));
}

static const char *whole_text(const struct tiers_answer *tiers, enum whole_figure at)
{
    return shown(tiers, tiers->whole[at], unit_of(tiers, whole_figures[at]));
}

/* The number alone, where the column's head has the unit. */
static const char *without_unit(const struct tiers_answer *tiers, const char *text)
{
    return arena_copy(tiers->scenario.arena, text, strcspn(text, " "));
}

/* ---- lines ---------------------------------------------------------------------------------- */

static const char *place_text(const struct tiers_answer *tiers, size_t place)
{
    return place == tiers->places.tiers ? "recompute"
           : arena_print(tiers->scenario.arena, "in %s", tiers->tier[place].name);
}

/* "until 26 s in hbm; until 31 min in ddr; then compute again" */
static const char *path_text(const struct tiers_answer *tiers)
{
    const struct places *places = &tiers->places;
    struct buffer out = { .arena = tiers->scenario.arena };
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        const char *place = place_text(tiers, stretch->place);
        if (stretch->until < INFINITY)
            buffer_print(&out, "until %s %s; ", shown(tiers, stretch->until, seconds), place);
        else
            buffer_print(&out, "%s %s", i ? "then" : "always", place);
    }
    return out.data;
}

static void head_lines(const struct tiers_answer *tiers, struct buffer *out)
{
    buffer_print(out, "%s: the cheapest tier for the KV cache of an idle conversation\n\n"
                 "  best    %s\n"
                 "  KV      %s for %s tokens; recomputed in %s for %s\n", tiers_title(tiers),
                 path_text(tiers), whole_text(tiers, WHOLE_kv_stored),
                 shown(tiers, tiers->whole[WHOLE_context], one),
             whole_text(tiers, WHOLE_recompute_pause_time),
                 whole_text(tiers, WHOLE_recompute_pause_cost));
    if (tiers->whole[WHOLE_sequences_that_fit] < 1)
        buffer_print(out, "  HBM     has no room for one such conversation beside the weights\n");
    buffer_print(out, "\n");
}

static void wear_lines(const struct tiers_answer *tiers, struct buffer *out)
{
    for (size_t i = 0; i < tiers->places.tiers; i++)
        if (tiers->tier[i].at[TIER_tier_write_cost] > 0)
            buffer_print(out, "  wear    %s: a write costs %s of endurance; a unit endures %s writes "
                         "per day over its lifetime;\n          pauses under %s pay for wear, longer ones for capacity\n",
                         tiers->tier[i].name, figure_text(tiers, i, TIER_tier_write_cost),
                         figure_text(tiers, i, TIER_tier_daily_writes),
                         figure_text(tiers, i, TIER_tier_wear_time));
}

static void never_lines(const struct tiers_answer *tiers, struct buffer *out)
{
    for (size_t i = 0; i < tiers->places.tiers; i++)
        if (tiers->tier[i].never)
            buffer_print(out, "  %-7s %s\n", tiers->tier[i].name, tiers->tier[i].never);
    if (!places_on_path(&tiers->places, tiers->places.tiers))
        buffer_print(out, "  %-7s recomputing is never the cheapest, up to a pause of %s\n",
                     "recompute", shown(tiers, tiers->places.longest, seconds));
}

/* What holds how many; which unit is too small for one. */
static void room_lines(const struct tiers_answer *tiers, struct buffer *out)
{
    bool hosts = isfinite(tiers->whole[WHOLE_host_conversations]);
    size_t large = tiers->whole[WHOLE_sequences_that_fit] >= 1;
    buffer_print(out, "  room    conversations in HBM beside the weights: %s; in host memory: "
                 "%s\n", whole_text(tiers, WHOLE_sequences_that_fit),
                 hosts ? whole_text(tiers, WHOLE_host_conversations) : "unknown (host_memory)");
    for (size_t i = 0; i < tiers->places.tiers; i++) {
        const double *at = tiers->tier[i].at;
        if (at[TIER_tier_in_place] > 0)
            continue;
        large += at[TIER_tier_conversations] >= 1;
        if (at[TIER_tier_conversations] < 1)
            buffer_print(out, "          one conversation exceeds a unit of %s, %s\n",
                         tiers->tier[i].name, figure_text(tiers, i, TIER_tier_capacity));
    }
    if (!large)
        buffer_print(out, "          it exceeds a unit of every tier: its cost is a share of several "
                     "units\n");
}

static const char *percent(const struct tiers_answer *tiers, double share)
{
    return quantity_text(tiers->scenario.arena, 100 * share, one, 2);
}

static void memory_line(const struct tiers_answer *tiers, struct buffer *out)
{
    const char *machine = tiers->scenario.machine;
    const struct range *range = &tiers->memory;
    buffer_print(out, "  memory  ");
    if (!tiers->memory_known)
        buffer_print(out, "the price of %s is unknown (machine_cost), and so is memory's share",
                     machine);
    else
        buffer_print(out, "%s %% of the machine's price",
                     percent(tiers, tiers->whole[WHOLE_memory_share_of_cost]));
    if (tiers->memory_known && range->kind)
        buffer_print(out, " (%s to %s %%)", percent(tiers, range->low),
                     percent(tiers, range->high));
    if (isfinite(tiers->memory_listed_low))
        buffer_print(out, "; bill of materials: %s to %s %%",
                     percent(tiers, tiers->memory_listed_low),
                     percent(tiers, tiers->memory_listed_high));
    buffer_print(out, ";\n          the lecture quotes %s %% of all spending\n",
                 percent(tiers, tiers->whole[WHOLE_memory_share_quoted]));
}

/* ---- tables ------------------------------------------------------------------------ */

static const char *quoted_text(const struct tiers_answer *tiers, const struct tier_answer *tier)
{
    if (!(tier->quoted_low < tier->quoted_high))
        return shown(tiers, tier->quoted, seconds);
    return quantity_range(tiers->scenario.arena, tier->quoted_low, tier->quoted_high, seconds, 3);
}

static const char *again_text(const struct tiers_answer *tiers, const struct tier_answer *tier)
{
    return tier->again == 0 ? "0 s" : shown(tiers, tier->again, seconds);
}

static void tier_line(const struct tiers_answer *tiers, struct table *table, size_t i)
{
    const struct tier_answer *tier = &tiers->tier[i];
    table_cell(table, "%s", tier->name);
    table_cell(table, "%s", without_unit(tiers, figure_text(tiers, i, TIER_tier_hold)));
    table_cell(table, "%s", without_unit(tiers, figure_text(tiers, i, TIER_tier_retrieve)));
    table_cell(table, "%s", figure_text(tiers, i, TIER_tier_drain_time));
    table_cell(table, "%s", quoted_text(tiers, tier));
    table_cell(table, "%s", figure_text(tiers, i, TIER_tier_time_to_live));
    table_cell(table, "%s", again_text(tiers, tier));
    table_cell(table, "%s", figure_text(tiers, i, TIER_tier_fetch_time));
    table_cell(table, "%s", figure_text(tiers, i, TIER_tier_conversations));
}

static void tier_table(const struct tiers_answer *tiers, struct buffer *out)
{
    static const char *const head[] = { "", "hold", "retrieve", "drain", "quoted", "lifetime",
                                        "break-even", "fetch", "conversations" };
    static const char *const units[] = { "tier", "USD/Mtok/h", "USD/Mtok", "time", "drain", "", "interval",
                                         "time", "per unit" };
    struct table table = { .arena = tiers->scenario.arena, .columns = 9, .left = "lrrrrrrrr" };
    for (int i = 0; i < 9; i++)
        table_cell(&table, "%s", head[i]);
    for (int i = 0; i < 9; i++)
        table_cell(&table, "%s", units[i]);
    for (size_t i = 0; i < tiers->places.tiers; i++)
        tier_line(tiers, &table, i);
    table_cell(&table, "recompute");
    table_cell(&table, "0");
    table_cell(&table, "%s", without_unit(tiers, whole_text(tiers, WHOLE_recompute_cost)));
    for (int i = 0; i < 4; i++)
        table_cell(&table, "-");
    table_cell(&table, "%s", whole_text(tiers, WHOLE_recompute_pause_time));
    table_cell(&table, "-");
    table_print(&table, out, "  ");
    buffer_print(out, "\n");
}

/* The cheapest place; at a border both. */
static const char *cheapest_text(struct tiers_answer *tiers, double pause)
{
    const struct places *places = &tiers->places;
    for (size_t i = 1; i < places->path_count; i++)
        if (places->path[i].from == pause)
            return arena_print(tiers->scenario.arena, "%s = %s",
                               places->names[places->path[i - 1].place],
                               places->names[places->path[i].place]);
    return places->names[places_best(&tiers->places, pause)];
}

static void pause_line(struct tiers_answer *tiers, struct table *table, double pause)
{
    enum { MILLION = 1000000 };
    struct places *places = &tiers->places;
    const double *costs = places_costs(places, pause);
    table_cell(table, "%s%s", pause == tiers->whole[WHOLE_hold_time] ? "> " : "",
               shown(tiers, pause, seconds));
    for (size_t i = 0; i <= places->tiers; i++)
        table_cell(table, "%s", tiers_late(tiers, i) ? "late"
                                                     : shown(tiers, MILLION * costs[i], one));
    table_cell(table, "%s", cheapest_text(tiers, pause));
}

static void pause_table(struct tiers_answer *tiers, struct buffer *out)
{
    struct places *places = &tiers->places;
    struct table table = { .arena = tiers->scenario.arena, .columns = places->tiers + 3 };
    char *left = arena_alloc(table.arena, table.columns + 1);
    memset(left, 'r', table.columns);
    left[table.columns - 1] = 'l';
    table.left = left;
    table_cell(&table, "pause");
    for (size_t i = 0; i <= places->tiers; i++)
        table_cell(&table, "%s", places->names[i]);
    table_cell(&table, "cheapest");
    for (size_t i = 0; i < tiers->pause_count; i++)
        pause_line(tiers, &table, tiers->pauses[i]);
    buffer_print(out, "\n  USD per million such pauses\n");
    table_print(&table, out, "  ");
}

/* ---- asking further ------------------------------------------------------------------------- */

static void add_word(struct buffer *out, const char *word)
{
    bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789-_./:=,+%")];
    buffer_print(out, plain ? " %s" : " '%s'", word);
}

static void add_options(struct buffer *out, const char *name, const char *const *values,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_print(out, " --%s", name);
        add_word(out, values[i]);
    }
}

/* The same options before another question, at this pause. */
static void why_line(struct tiers_answer *tiers, struct buffer *out)
{
    const struct command *command = tiers->scenario.command;
    const struct fact *pause = facts_find(&tiers->scenario.facts, NAME_hold_time);
    size_t best = places_best(&tiers->places, tiers->whole[WHOLE_hold_time]);
    buffer_print(out, "\n  chalkline why 'tier_pause_cost[%s]'",
                 tiers->places.names[best < tiers->places.tiers ? best : 0]);
    add_options(out, "model", command->words, command->word_count);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        const char *name = value->option->name;
        if (!strcmp(name, "json") || !strcmp(name, "csv") || !strcmp(name, "plot"))
            continue;
        if (value->option->kind == OPTION_SWITCH)
            buffer_print(out, " --%s", name);
        else
            add_options(out, name, &value->text, 1);
    }
    if (!pause)
        buffer_print(out, " --set hold_time=%gs", tiers->whole[WHOLE_hold_time]);
    buffer_print(out, "\n\n");
}

void tiers_text(struct tiers_answer *tiers, struct buffer *out)
{
    head_lines(tiers, out);
    tier_table(tiers, out);
    wear_lines(tiers, out);
    never_lines(tiers, out);
    room_lines(tiers, out);
    memory_line(tiers, out);
    pause_table(tiers, out);
    why_line(tiers, out);
}

/* ---- CSV and document ---------------------------------------------------------------------- */

static const char *exact(const struct tiers_answer *tiers, double value)
{
    return isfinite(value) ? arena_print(tiers->scenario.arena, "%.17g", value) : "";
}

/* The first and last pause of a place's stretches; NAN: never the cheapest. */
static struct stretch best_of(const struct places *places, size_t place)
{
    struct stretch whole = { place, NAN, NAN };
    for (size_t i = places->path_count; i-- > 0;)
        if (places->path[i].place == place) {
            whole.from = places->path[i].from;
            if (isnan(whole.until))
                whole.until = places->path[i].until;
        }
    return whole;
}

static void csv_line(const struct tiers_answer *tiers, struct table *table, size_t i)
{
    const struct tier_answer *tier = i < tiers->places.tiers ? &tiers->tier[i] : NULL;
    struct stretch best = best_of(&tiers->places, i);
    table_cell(table, "%s", tiers->places.names[i]);
    for (int k = 0; k < TIER_FIGURE_COUNT; k++) {
        double value = tier ? tier->at[k] : k == TIER_tier_hold ? 0
                       : k == TIER_tier_retrieve ? tiers->whole[WHOLE_recompute_cost]
                       : k == TIER_tier_fetch_time ? tiers->whole[WHOLE_recompute_pause_time]
                       : NAN;
        table_cell(table, "%s", exact(tiers, value));
    }
    table_cell(table, "%s", exact(tiers, tier ? tier->quoted : NAN));
    table_cell(table, "%s", exact(tiers, tier ? tier->again : NAN));
    table_cell(table, "%s", exact(tiers, best.from));
    table_cell(table, "%s", exact(tiers, best.until));
}

void tiers_csv(struct tiers_answer *tiers, struct buffer *out)
{
    struct table table = { .arena = tiers->scenario.arena, .columns = TIER_FIGURE_COUNT + 5 };
    table_cell(&table, "tier");
    for (int k = 0; k < TIER_FIGURE_COUNT; k++)
        table_cell(&table, "%s", tier_figures[k]);
    table_cell(&table, "tier_drain_quoted");
    table_cell(&table, "recompute_after");
    table_cell(&table, "best_from");
    table_cell(&table, "best_until");
    for (size_t i = 0; i <= tiers->places.tiers; i++)
        csv_line(tiers, &table, i);
    table_csv(&table, out);
}

static void add_number(struct tiers_answer *tiers, struct doc *doc, const char *key, double value)
{
    if (isfinite(value))
        doc_add_number(tiers->scenario.arena, doc, key, value);
    else
        doc_add(tiers->scenario.arena, doc, key, DOC_NULL);
}

static void tier_document(struct tiers_answer *tiers, struct doc *list,
                          const struct tier_answer *tier)
{
    struct arena *arena = tiers->scenario.arena;
    struct doc *one_tier = doc_add(arena, list, tier->name, DOC_OBJECT);
    doc_add_string(arena, one_tier, "title", tier->title);
    for (int k = 0; k < TIER_FIGURE_COUNT; k++)
        add_number(tiers, one_tier, tier_figures[k], tier->at[k]);
    add_number(tiers, one_tier, "tier_drain_quoted", tier->quoted);
    add_number(tiers, one_tier, "tier_drain_quoted_low", tier->quoted_low);
    add_number(tiers, one_tier, "tier_drain_quoted_high", tier->quoted_high);
    add_number(tiers, one_tier, "recompute_after", tier->again);
    if (tier->never)
        doc_add_string(arena, one_tier, "never", tier->never);
}

static void path_document(struct tiers_answer *tiers, struct doc *list)
{
    struct places *places = &tiers->places;
    for (size_t i = 0; i < places->path_count; i++) {
        const struct stretch *stretch = &places->path[i];
        struct doc *part = doc_add(tiers->scenario.arena, list, NULL, DOC_OBJECT);
        doc_add_string(tiers->scenario.arena, part, "place", places->names[stretch->place]);
        add_number(tiers, part, "from", stretch->from);
        add_number(tiers, part, "until", stretch->until);
        add_number(tiers, part, "cost_from", places_costs(places, stretch->from)[stretch->place]);
    }
}

static void pause_document(struct tiers_answer *tiers, struct doc *list, double pause)
{
    struct places *places = &tiers->places;
    struct arena *arena = tiers->scenario.arena;
    struct doc *point = doc_add(arena, list, NULL, DOC_OBJECT);
    size_t best = places_best(places, pause);
    const double *costs = places_costs(places, pause);
    struct scenario at = tiers->scenario;
    at.facts = facts_copy(&at.facts);
    facts_set(&at.facts, NAME_hold_time, pause, ORIGIN_AXIS, "the table");
    scenario_words_document(&at, point);
    add_number(tiers, point, NAME_hold_time, pause);
    doc_add_string(arena, point, "cheapest", places->names[best]);
    add_number(tiers, point, NAME_cheapest_pause_cost, costs[best]);
    struct doc *each = doc_add(arena, point, NAME_tier_pause_cost, DOC_OBJECT);
    for (size_t i = 0; i < places->tiers; i++)
        add_number(tiers, each, places->names[i], costs[i]);
}

static void memory_document(struct tiers_answer *tiers, struct doc *doc)
{
    bool known = tiers->memory_known;
    add_number(tiers, doc, NAME_memory_share_of_cost,
               known ? tiers->whole[WHOLE_memory_share_of_cost] : NAN);
    add_number(tiers, doc, "memory_share_of_cost_low", known ? tiers->memory.low : NAN);
    add_number(tiers, doc, "memory_share_of_cost_high", known ? tiers->memory.high : NAN);
    add_number(tiers, doc, "memory_cost_share_low", tiers->memory_listed_low);
    add_number(tiers, doc, "memory_cost_share_high", tiers->memory_listed_high);
    add_number(tiers, doc, NAME_memory_share_quoted, tiers->whole[WHOLE_memory_share_quoted]);
}

void tiers_document(struct tiers_answer *tiers, struct doc *doc)
{
    struct arena *arena = tiers->scenario.arena;
    if (tiers->scenario.model)
        doc_add_string(arena, doc, "model", tiers->scenario.model);
    if (tiers->scenario.machine)
        doc_add_string(arena, doc, "machine", tiers->scenario.machine);
    scenario_words_document(&tiers->scenario, doc);
    for (int i = 0; i < WHOLE_memory_share_of_cost; i++)
        add_number(tiers, doc, whole_figures[i], tiers->whole[i]);
    memory_document(tiers, doc);
    struct doc *list = doc_add(arena, doc, "tiers", DOC_OBJECT);
    for (size_t i = 0; i < tiers->places.tiers; i++)
        tier_document(tiers, list, &tiers->tier[i]);
    path_document(tiers, doc_add(arena, doc, "path", DOC_ARRAY));
    list = doc_add(arena, doc, "pauses", DOC_ARRAY);
    for (size_t i = 0; i < tiers->pause_count; i++)
        pause_document(tiers, list, tiers->pauses[i]);
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
    { FIELD_NUMBER, "recompute_after", .help = "break-even interval: a longer pause is cheaper to recompute", .unit = "s",
      .always = true, .null = true },
    { FIELD_TEXT, "never", .help = "why this tier is never the cheapest" },
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

static const struct record pause_record = { "Pause", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this pause again", .always = true },
    { FIELD_ROWS, .names = pause_rows, .count = 2, .always = true },
    { FIELD_TEXT, "cheapest", .help = "the cheapest tier", .always = true },
    { FIELD_RECORD, NAME_tier_pause_cost, .help = "cost of the pause in each tier",
      .record = &costs_record, .always = true },
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
      .record = &path_record,
      .always = true },
    { FIELD_LIST, "pauses", .help = "cost of some pauses in each tier", .record = &pause_record,
      .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { 0 } } };
