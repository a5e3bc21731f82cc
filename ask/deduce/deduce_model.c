/* The report of `deduce` for one model, in order of how strongly the price list supports each
 * statement.
 *
 * First come prices and ratios as read, then quantities that the posterior narrows by a stated
 * number of bits against their prior, then quantities that the prices do not identify. Two checks
 * follow: whether long-context step, output price and fast mode agree (any two predict the third
 * in closed form), and which prices are better explained by policy than by cost. The report sets
 * facts of its own to evaluate rows; they are removed before the next model. */
#include "ask/deduce/deduce.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* What counts as said, in whole tenths: less the prior says by itself. */
static const double SAID_BITS = 0.25;

struct report {
    struct deduction *deduction;
    const struct price_reading *reading;
    struct posterior posterior;
    struct section *section;
};

/* ---- numbers ------------------------------------------------------------------------------ */

/* Numbers of parameters have letters in the place of powers, and rates are those of an hour. */
const char *deduce_range(const struct deduction *deduction, const char *row, double low, double high)
{
    const double hour = 3600;
    struct arena *arena = deduction->arena;
    const struct unit unit = scenario_unit(&deduction->scenario, row);
    if (isnan(low) || isnan(high))
        return "-";
    if (unit_same(unit, unit_power(unit_one, unit_second, -1)))
        return arena_print(arena, "%s per hour", quantity_range(arena, low * hour, high * hour, unit_one, 3));
    if (strncmp(row, "params_", 7))
        return quantity_range(arena, low, high, unit, 3);
    const char *from = large_text(arena, low), *to = large_text(arena, high);
    const size_t digits = strcspn(from, " ");
    const bool same = !strcmp(from + digits, to + strcspn(to, " "));
    return arena_print(arena, "%.*s to %s", (int)(same ? digits : strlen(from)), from, to);
}

void deduce_add_span(struct section *section, const char *key, struct span span)
{
    const double values[] = { span.q05, span.q25, span.q50, span.q75, span.q95 };
    static const char *const names[] = { "q05", "q25", "q50", "q75", "q95" };
    struct section *one = section_add(section, key, SECTION_RECORD);
    for (int i = 0; i < 5; i++)
        if (isfinite(values[i]))
            section_number(one, names[i], values[i], unit_one);
}

/* ---- what was read ------------------------------------------------------------------------ */

static const char *const price_rows[] = {
    NAME_seen_input, NAME_seen_output, NAME_seen_hit, NAME_seen_write_short, NAME_seen_write_long,
    NAME_seen_input_above, NAME_seen_output_above, NAME_price_step_context, NAME_seen_fast };
enum { PRICE_ROWS = sizeof price_rows / sizeof *price_rows };

static void add_prices(const struct report *report)
{
    const struct price *price = report->reading->price;
    const double *below = price->at[SERVICE_STANDARD][0], *above = price->at[SERVICE_STANDARD][1];
    const double values[PRICE_ROWS] = {
        below[PRICE_INPUT], below[PRICE_OUTPUT], below[PRICE_HIT], below[PRICE_WRITE_SHORT],
        below[PRICE_WRITE_LONG], above[PRICE_INPUT], above[PRICE_OUTPUT], price->threshold, price->fast };
    struct section *prices = section_add(report->section, "prices", SECTION_RECORD);
    for (int i = 0; i < PRICE_ROWS; i++)
        if (!isnan(values[i]))
            section_number(prices, price_rows[i], values[i],
                           scenario_unit(&report->deduction->scenario, price_rows[i]));
}

/* Each ratio, of how many entries of the seller, and whether it is that seller's policy (one decision,
 * counted once, which says nothing of this model's cost) or suspicious and not used. */
static void add_ratios(const struct report *report)
{
    const struct price_reading *reading = report->reading;
    const double hour = 3600;
    struct section *ratios = section_add(report->section, "ratios", SECTION_KEYED);
    for (int i = FIELD_OUTPUT; i < FIELD_COUNT; i++) {
        const double seen = reading->seen[i];
        if (!isfinite(seen))
            continue;
        struct section *one = section_add(ratios, fields[i].seen, SECTION_RECORD);
        section_number(one, "value", seen, scenario_unit(&report->deduction->scenario, fields[i].seen));
        section_number(one, "of_seller", reading->all[i], unit_one);
        section_number(one, "same", reading->same[i], unit_one);
        section_switch(one, "vendor_policy", reading->vendor >> i & 1);
        section_switch(one, "suspicious", reading->suspicious >> i & 1);
        section_word(one, "label", fields[i].label)->text_only = true;
        section_word(one, "value_text", i == FIELD_STORAGE
                     ? arena_print(one->arena, "%.3g per hour", seen * hour)
                     : count_text(one->arena, seen, 3))->text_only = true;
    }
    section_word(report->section, "suspicious_text", reading_suspicious(ratios->arena, reading))
        ->text_only = true;
}

/* ---- quantities --------------------------------------------------------------------------- */

struct line {
    const char *label;
    enum quantity_key key;
    bool inverse;                   /* told as 1 over it */
    bool product;                   /* prices have it only times something unknown: never said */
};

static const struct line said[] = {
    { "decode utilization, of prefill", QUANTITY_UTILISATION, false, false },
    { "  = input tokens per output token, by cost", QUANTITY_UTILISATION, true, false },
    { "holding, share of input price", QUANTITY_HOLD, false, false },
    { "drain time of the store", QUANTITY_DRAIN, false, false },
    { "retrieval bandwidth", QUANTITY_FETCH_RATE, false, false },
    { "KV bytes per token", QUANTITY_KV_PER_TOKEN, false, true },
    { "batch / crossover", QUANTITY_BATCH, false, true },
    { "context / crossover", QUANTITY_CACHE_LOAD, false, true },
};
static const struct line levels[] = {
    { "active parameters", QUANTITY_PARAMS_ACTIVE, false, false },
    { "total parameters", QUANTITY_PARAMS_TOTAL, false, false },
    { "KV cache written per GPU", QUANTITY_CACHE_MADE, false, false },
    { "price over cost", QUANTITY_MARGIN, false, false },
};

/* "97 % price_multiple, 12 % mfu_prefill": the unknowns whose draws the quantity follows most, without
 * itself or what it is drawn as a multiple of. */
static const char *rests_on(const struct report *report, enum quantity_key key, struct section *section)
{
    enum { TOLD = 3 };
    const double least = 0.1;
    double share[UNKNOWN_COUNT];
    const char *quantity = quantities[key];
    struct buffer out = { .arena = section->arena };
    buffer_add(&out, "", 0);
    deduce_shares(&report->posterior, key, share);
    for (int i = 0; i < UNKNOWN_COUNT; i++)
        if (!strcmp(unknowns[i], quantity) || (key == QUANTITY_PARAMS_ACTIVE && i == UNKNOWN_params_total))
            share[i] = 0;
    for (int told = 0; told < TOLD; told++) {
        int best = 0;
        for (int i = 1; i < UNKNOWN_COUNT; i++)
            best = share[i] > share[best] ? i : best;
        if (share[best] < least)
            break;
        buffer_print(&out, "%s%.0f %% %s", out.size ? ", " : "", 100 * share[best], unknowns[best]);
        section_number(section, unknowns[best], share[best], unit_one);
        share[best] = 0;
    }
    return out.data;
}

/* The unit in which a quantity is drawn: that of its median, billions of parameters, or an hour. */
static const char *drawn_in(const struct deduction *deduction, const char *row, double median, double *scale)
{
    const struct unit unit = scenario_unit(&deduction->scenario, row);
    const double hour = 3600, billion = 1e9;
    if (unit_same(unit, unit_power(unit_one, unit_second, -1))) {
        *scale = 1 / hour;
        return "of the input price per hour";
    }
    if (!strncmp(row, "params_", 7)) {
        *scale = billion;
        return "billion parameters";
    }
    const char *name = strchr(quantity_text(deduction->arena, median, unit, 3), ' ');
    *scale = 1;
    return name && unit_scale(name + 1, scale) ? name + 1 : "";
}

/* Of a report: the interval as a bar, in the panel of its unit. */
static void add_interval(const struct deduction *deduction, const char *row, const struct line *line,
                         const struct span *span, const struct span *prior)
{
    struct picture *picture = deduction->picture, *panel = NULL;
    double scale;
    const char *unit = drawn_in(deduction, row, span->q50, &scale);
    if (!(span->q05 > 0) || !isfinite(span->q95))
        return;
    for (size_t i = 0; i < picture->panel_count && !panel; i++)
        panel = !strcmp(picture->panels[i].x.unit, unit) ? &picture->panels[i] : NULL;
    if (!panel) {
        panel = picture_panel(picture, "");
        panel->x = (struct picture_axis){ *unit ? "" : "ratio", unit, true, false, NAN, NAN };
    }
    struct picture_bar *bar = picture_bar_add(panel, line->label + strspn(line->label, " ="));
    bar->range = (struct picture_range){ span->q05 / scale, span->q95 / scale };
    bar->inner = (struct picture_range){ span->q25 / scale, span->q75 / scale };
    bar->middle = span->q50 / scale;
    if (prior->q05 > 0 && isfinite(prior->q95))
        bar->prior = (struct picture_range){ prior->q05 / scale, prior->q95 / scale };
}

/* A quantity in the document, unless it is told inversely, and a line for people. */
static void add_line(const struct report *report, const struct line *line, bool drawn,
                     struct section *quantity_list, struct section *lines)
{
    const struct deduction *deduction = report->deduction;
    const char *row = quantities[line->key];
    struct span span = report->posterior.span[line->key], prior = report->posterior.prior[line->key];
    struct section *one = section_add(lines, NULL, SECTION_RECORD);
    section_word(one, "label", line->label);
    section_word(one, "quantity", line->label + strspn(line->label, " ="));
    section_word(one, "grounds", "");
    if (line->inverse) {
        span = (struct span){ 1 / span.q95, 1 / span.q75, 1 / span.q50, 1 / span.q25, 1 / span.q05 };
        prior = (struct span){ .q05 = 1 / prior.q95, .q95 = 1 / prior.q05 };
    } else {
        struct section *quantity = section_add(quantity_list, row, SECTION_RECORD);
        deduce_add_span(quantity, "posterior", span);
        deduce_add_span(quantity, "prior", prior);
        section_number(quantity, "bits", report->posterior.bits[line->key], unit_one);
        section_word(one, "grounds", rests_on(report, line->key,
                                              section_add(quantity, "rests_on", SECTION_RECORD)));
    }
    if (command_draws(deduction->command) && drawn)
        add_interval(deduction, row, line, &span, &prior);
    section_word(one, "half", deduce_range(deduction, row, span.q25, span.q75));
    section_word(one, "most", deduce_range(deduction, row, span.q05, span.q95));
    section_word(one, "prior_most", deduce_range(deduction, row, prior.q05, prior.q95));
    section_number(one, "gained", report->posterior.bits[line->key], unit_one);
}

/* Three tables, by how much the prices say of each; the tier of the cache is in the last. */
static void add_quantities(const struct report *report)
{
    enum { SAID = sizeof said / sizeof *said, IDENTIFIED = 0, LEVEL, REST, TABLES };
    static const char *const names[TABLES] = { "identified", "with_level", "not_identified" };
    const struct priors *priors = &report->deduction->priors;
    struct arena *arena = report->section->arena;
    struct section *all = section_add(report->section, "quantities", SECTION_KEYED), *tables[TABLES];
    struct buffer now = { .arena = arena }, before = { .arena = arena };
    static const char *const says[TABLES] = { "the prices", "with a price level", "not the prices" };
    for (int i = 0; i < TABLES; i++) {
        tables[i] = section_add(report->section, names[i], SECTION_LIST);
        tables[i]->text_only = true;
    }
    for (int i = 0; i < SAID; i++) {
        const bool is_said = !said[i].product && report->posterior.bits[said[i].key] >= SAID_BITS;
        if (is_said || !said[i].inverse)
            add_line(report, &said[i], is_said, all, tables[is_said ? IDENTIFIED : REST]);
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        add_line(report, &levels[i], true, all, tables[LEVEL]);
    struct section *tier = section_add(report->section, "tier", SECTION_RECORD);
    for (size_t i = 0; i < priors->tiers; i++) {
        section_number(tier, priors->tier[i], report->posterior.tier[i], unit_one);
        buffer_print(&now, "%s%s %.2f", i ? ", " : "", priors->tier[i], report->posterior.tier[i]);
        buffer_print(&before, "%s%.2f", i ? ", " : "", priors->tier_share[i]);
    }
    struct section *line = section_add(tables[REST], NULL, SECTION_RECORD);
    section_word(line, "label", "tier of the prompt cache");
    section_word(line, "quantity", "tier of the prompt cache");
    section_word(line, "half", "");
    section_word(line, "most", now.data ? now.data : "");
    section_word(line, "prior_most", before.data ? before.data : "");
    section_word(line, "grounds", "");
    struct section *lines = section_add(report->section, "quantity_lines", SECTION_LIST);
    lines->text_only = true;
    for (int i = 0; i < TABLES; i++)
        for (size_t k = 0; k < tables[i]->inside_count; k++) {
            section_word(tables[i]->inside[k], "said_by", says[i]);
            section_share(lines, tables[i]->inside[k]);
        }
}

/* ---- what is priced ----------------------------------------------------------------------- */

static bool row_value(const struct report *report, const char *row, double *value)
{
    struct error ignored;
    return value_of(&report->deduction->scenario, row, value, &ignored);
}

static void set_fact(const struct report *report, const char *row, double value)
{
    facts_set(&report->deduction->scenario.facts, row, value, ORIGIN_SHEET, report->deduction->sheet.file);
}

static bool usable(const struct report *report, int field)
{
    return report->reading->evidence.seen[field] > 0;
}

/* Holding and drain time as the writes price them, if they are cost. */
static void add_priced(const struct report *report)
{
    static const char *const rows[] = { NAME_implied_hold_ratio, NAME_implied_write_premium,
                                        NAME_implied_drain_time };
    const double *seen = report->reading->evidence.seen;
    struct section *priced = section_add(report->section, "as_priced", SECTION_RECORD);
    double value;
    if (!usable(report, FIELD_WRITE_SHORT) || !usable(report, FIELD_WRITE_LONG) ||
        !usable(report, FIELD_HIT) || seen[FIELD_WRITE_LONG] <= seen[FIELD_WRITE_SHORT])
        return;
    set_fact(report, NAME_write_price_short, 1 + seen[FIELD_WRITE_SHORT]);
    set_fact(report, NAME_write_price_long, 1 + seen[FIELD_WRITE_LONG]);
    set_fact(report, NAME_hit_ratio, seen[FIELD_HIT]);
    for (int i = 0; i < 3 && row_value(report, rows[i], &value); i++)
        section_number(priced, rows[i], value, scenario_unit(&report->deduction->scenario, rows[i]));
}

/* ---- contradictions ----------------------------------------------------------------------- */

static void add_miss(struct section *list, const char *key, const char *kept, const char *row,
                     double predicted, double seen, const char *sentence)
{
    const double miss = fabs(scalar_log(predicted / seen));
    struct section *one = section_add(list, key, SECTION_RECORD);
    section_word(one, "predicts", row);
    section_number(one, "predicted", predicted, unit_one);
    section_number(one, "seen", seen, unit_one);
    section_number(one, "miss", miss, unit_one);
    section_word(one, "kept", kept)->text_only = true;
    section_word(one, "sentence", sentence)->text_only = true;
    section_number(one, "factor", scalar_exp(miss), unit_one)->text_only = true;
}

/* The closed forms: any two of step, output price and fast mode predict the third. */
static void add_triangle(const struct report *report)
{
    const double *seen = report->reading->evidence.seen;
    double value, speed = 1, step = usable(report, FIELD_STEP_OUTPUT) ? seen[FIELD_STEP_OUTPUT] : 1;
    const bool fast = usable(report, FIELD_FAST) && seen[FIELD_FAST] > 1.001;
    const bool stepped = usable(report, FIELD_STEP_OUTPUT) && report->reading->price->threshold > 1;
    const bool output = usable(report, FIELD_OUTPUT) && seen[FIELD_OUTPUT] > 1;
    struct section *list = section_add(report->section, "contradictions", SECTION_KEYED);
    if (stepped)
        set_fact(report, NAME_price_step_context, report->reading->price->threshold);
    if (output)
        set_fact(report, NAME_output_input_price, seen[FIELD_OUTPUT]);
    if (fast)
        set_fact(report, NAME_price_ratio, seen[FIELD_FAST]);
    facts_bind(&report->deduction->scenario.facts, NAME_context, NAME_short_context,
               ORIGIN_DERIVED, "deduce");
    row_value(report, NAME_speed_ratio, &speed);
    if (fast)
        section_number(report->section, "fast_speed", speed, unit_one)->text_only = true;
    if (fast && output && row_value(report, NAME_output_kept_step, &value))
        add_miss(list, "output_and_fast", "out/in and fast mode", NAME_step_output_cost, value, step,
                 "cost of an output token far above the step, over one far below,");
    if (stepped && output && row_value(report, NAME_step_kept_speed, &value)) {
        if (fast)
            add_miss(list, "step_and_output", "step and out/in", NAME_speed_ratio, value, speed,
                     "the most that a smaller batch speeds up is");
        else
            section_number(report->section, "speed_at_most", value, unit_one)->text_only = true;
    }
    if (stepped && fast && row_value(report, NAME_fast_kept_output, &value))
        add_miss(list, "step_and_fast", "step and fast mode", NAME_output_over_input, value,
                 output ? seen[FIELD_OUTPUT] : 1, "out/in is");
}

/* Each price as policy instead of cost, the one that raises the evidence most first. */
static void add_policy(const struct report *report)
{
    const double per_ten = scalar_log(10), *gain = report->posterior.gain;
    struct section *list = section_add(report->section, "policy", SECTION_KEYED);
    bool told[FIELD_COUNT] = { false };
    for (;;) {
        int best = -1;
        for (int i = 0; i < FIELD_COUNT; i++)
            if (!told[i] && !isnan(gain[i]) && (best < 0 || gain[i] > gain[best]))
                best = i;
        if (best < 0)
            return;
        struct section *one = section_add(list, fields[best].cost, SECTION_RECORD);
        told[best] = true;
        section_number(one, "probability", report->posterior.policy[best], unit_one);
        section_number(one, "log10_evidence", gain[best] / per_ten, unit_one);
        section_word(one, "label", fields[best].label)->text_only = true;
        section_word(one, "also", best == FIELD_FAST ? "or more GPUs per replica, or speculation" : "")
            ->text_only = true;
    }
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* How many draws, and the commands that explain the numbers of this sheet as options of `why`: ratios
 * from its prices, and what the report set for "as priced" and the contradictions. */
static void add_grounds(const struct report *report)
{
    const struct posterior *posterior = &report->posterior;
    const struct facts *facts = &report->deduction->scenario.facts;
    struct section *section = report->section, *draws = section_add(section, "draws", SECTION_RECORD);
    struct buffer sets = { .arena = section->arena };
    section_number(draws, "count", (double)draws_count(posterior->draws), unit_one);
    section_number(draws, "effective", posterior->effective, unit_one);
    section_number(draws, "largest", posterior->largest, unit_one);
    if (isfinite(posterior->log_evidence))
        section_number(draws, "log_evidence", posterior->log_evidence, unit_one);
    section_switch(draws, "outside_priors", posterior->outside);
    section_word(section, "why", arena_print(section->arena, "chalkline why seen_output_over_input%s",
                                             reading_sets(section->arena, report->reading)));
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (facts->scalars[i].origin == ORIGIN_SHEET && !facts->scalars[i].expression)
            buffer_print(&sets, " --set %s=%.9g", facts->scalars[i].name, facts->scalars[i].value);
    if (sets.size && facts_find(facts, NAME_hit_ratio))
        section_word(section, "why_as_priced",
                     arena_print(section->arena, "chalkline why implied_drain_time%s", sets.data))
            ->text_only = true;
}

/* A report sets facts of its sheet; the next one starts without them. */
bool deduce_model(struct deduction *deduction, const struct price_reading *reading, struct section *reports)
{
    struct facts *facts = &deduction->scenario.facts, before = *facts;
    const struct price *price = reading->price;
    struct report report = { .deduction = deduction, .reading = reading };
    if (!deduce_draw(deduction, true))
        return false;
    deduce_sheet(deduction->arena, deduction->draws, deduction->priors.belief, &reading->evidence,
                 true, &report.posterior);
    before.scalars = arena_array(deduction->arena, facts->scalar_room + 1, sizeof *before.scalars);
    memcpy(before.scalars, facts->scalars, facts->scalar_count * sizeof *before.scalars);
    report.section = section_add(deduction->section, price->model, SECTION_RECORD);
    section_word(report.section, "seller", price->seller);
    section_word(report.section, "date", price->date);
    section_word(report.section, "model", price->model)->text_only = true;
    section_word(report.section, "later", reports->inside_count ? "later" : "")->text_only = true;
    add_prices(&report);
    add_ratios(&report);
    add_quantities(&report);
    add_priced(&report);
    add_triangle(&report);
    add_policy(&report);
    add_grounds(&report);
    section_share(reports, report.section);
    *facts = before;
    return true;
}

static const struct record prices_record = { "SeenPrices", (const struct answer_field[]){
    { FIELD_ROWS, .names = price_rows, .count = PRICE_ROWS },
    { 0 } } };

static const struct record ratio_record = { "SeenRatio", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "that its prices show", .unit = "", .always = true },
    { FIELD_NUMBER, "of_seller", .help = "entries of the seller", .always = true },
    { FIELD_NUMBER, "same", .help = "of them, those with this value", .always = true },
    { FIELD_SWITCH, "vendor_policy", .help = "is it the same for all models of the seller?", .always = true },
    { FIELD_SWITCH, "suspicious", .help = "is it outside the usual set, and not used?", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "label", "value_text" }, .count = 2 },
    { 0 } } };
static const struct record ratios_record = { "ReportRatios", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a ratio, under the name of its row", .record = &ratio_record },
    { 0 } } };

static const struct record rests_record = { "RestsOn", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "share of the variance that an unknown has by itself" },
    { 0 } } };
static const struct record quantity_record = { "DeducedQuantity", (const struct answer_field[]){
    { FIELD_RECORD, .help = "quantiles", .names = (const char *const[]){ "posterior", "prior" },
      .count = 2, .record = &deduce_span_record, .always = true },
    { FIELD_NUMBER, "bits", .help = "that the prices add to the prior", .always = true },
    { FIELD_RECORD, "rests_on", .help = "what drives it", .record = &rests_record, .always = true },
    { 0 } } };
static const struct record quantities_record = { "DeducedQuantities", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a quantity, under the name of its row", .record = &quantity_record },
    { 0 } } };
static const struct record line_record = { "QuantityLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 8, .names = (const char *const[]){
          "label", "quantity", "half", "most", "prior_most", "gained", "grounds", "said_by" } },
    { 0 } } };

static const struct record tier_record = { "CacheTier", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "probability that prompts are cached in the tier" },
    { 0 } } };
static const struct record priced_record = { "AsPriced", (const struct answer_field[]){
    { FIELD_ROWS, .count = 3, .names = (const char *const[]){
          NAME_implied_hold_ratio, NAME_implied_write_premium, NAME_implied_drain_time } },
    { 0 } } };

static const struct record miss_record = { "Miss", (const struct answer_field[]){
    { FIELD_TEXT, "predicts", .help = "the row that the other two predict", .always = true },
    { FIELD_NUMBER, "predicted", .help = "its value by them", .always = true },
    { FIELD_NUMBER, "seen", .help = "its value by the prices", .always = true },
    { FIELD_NUMBER, "miss", .help = "logarithm of their ratio", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "kept", "sentence", "factor" }, .count = 3 },
    { 0 } } };
static const struct record misses_record = { "Contradictions", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "two of step, output price and fast mode, kept", .record = &miss_record },
    { 0 } } };

static const struct record policy_record = { "Policy", (const struct answer_field[]){
    { FIELD_NUMBER, "probability", .help = "that cost has no part in the price", .always = true },
    { FIELD_NUMBER, "log10_evidence", .help = "for that, over its being cost", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "label", "also" }, .count = 2 },
    { 0 } } };
static const struct record policies_record = { "Policies", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a price, under the name of its cost's row", .record = &policy_record },
    { 0 } } };

static const struct record draws_record = { "Draws", (const struct answer_field[]){
    { FIELD_NUMBER, "count", .help = "draws of the unknowns", .always = true },
    { FIELD_NUMBER, "effective", .help = "sample size once they are weighed", .always = true },
    { FIELD_NUMBER, "largest", .help = "weight of one draw", .always = true },
    { FIELD_NUMBER, "log_evidence", .help = "logarithm of the mean likelihood" },
    { FIELD_SWITCH, "outside_priors", .help = "do few draws come near the list?", .always = true },
    { 0 } } };

const struct record deduce_report_record = { "DeduceReport", (const struct answer_field[]){
    { FIELD_TEXT, "seller", .help = "who sells it", .always = true },
    { FIELD_TEXT, "date", .help = "of the prices", .always = true },
    { FIELD_RECORD, "prices", .help = "as they are listed", .record = &prices_record, .always = true },
    { FIELD_RECORD, "ratios", .help = "over the input price", .record = &ratios_record, .always = true },
    { FIELD_RECORD, "quantities", .help = "that the prices narrow, or not", .record = &quantities_record,
      .always = true },
    { FIELD_RECORD, "tier", .help = "of the prompt cache", .record = &tier_record, .always = true },
    { FIELD_RECORD, "as_priced", .help = "if hit and writes carry one margin", .record = &priced_record,
      .always = true },
    { FIELD_RECORD, "contradictions", .help = "between step, output price and fast mode",
      .record = &misses_record, .always = true },
    { FIELD_RECORD, "policy", .help = "prices that are not cost", .record = &policies_record,
      .always = true },
    { FIELD_RECORD, "draws", .help = "how the posterior was drawn", .record = &draws_record,
      .always = true },
    { FIELD_TEXT, "why", .help = "the command that explains a ratio at these prices", .always = true },
    { FIELD_TEXT_ONLY, "identified", .record = &line_record },
    { FIELD_TEXT_ONLY, "with_level", .record = &line_record },
    { FIELD_TEXT_ONLY, "not_identified", .record = &line_record },
    { FIELD_TEXT_ONLY, "quantity_lines", .record = &line_record },
    { FIELD_TEXT_ONLY, .count = 6, .names = (const char *const[]){
          "model", "later", "suspicious_text", "fast_speed", "speed_at_most", "why_as_priced" } },
    { 0 } } };
