/* The report of `deduce` for one model, in order of how strongly the price list supports each
 * statement.
 *
 * First come prices and ratios as read, then quantities that the posterior narrows by a stated
 * number of bits against their prior, then quantities that the prices do not identify. Two checks
 * follow: whether long-context step, output price and fast mode agree (any two predict the third
 * in closed form), and which prices are better explained by policy than by cost. The report sets
 * facts of its own to evaluate rows; they are removed before the next model. */
#include "ask/deduce/deduce.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* What counts as said, in whole tenths: less the prior says by itself. */
static const double SAID_BITS = 0.25;

struct report {
    struct deduction *deduction;
    const struct reading *reading;
    struct posterior posterior;
    struct doc *doc;
    struct buffer *text;
};

static struct arena *arena_of(const struct report *report)
{
    return report->deduction->arena;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static const char *text_of_value(const struct report *report, const char *row, double value)
{
    const double hour = 3600, billion = 1e9, trillion = 1e12;
    struct unit unit = scenario_unit(&report->deduction->scenario, row);
    struct unit per_second = unit_power(unit_one, (struct unit){ { 2 } }, -1);
    if (isnan(value))
        return "-";
    if (unit_same(unit, per_second))
        return arena_print(arena_of(report), "%.3g/h", value * hour);
    if (!strncmp(row, "params_", 7))
        return value < trillion ? arena_print(arena_of(report), "%.3g B", value / billion)
                                : arena_print(arena_of(report), "%.3g T", value / trillion);
    return quantity_text(arena_of(report), value, unit, 3);
}

static const char *range_text(const struct report *report, const char *row, double low,
                              double high)
{
    return arena_print(arena_of(report), "%s .. %s", text_of_value(report, row, low),
                       text_of_value(report, row, high));
}

/* ---- what was read ------------------------------------------------------------------------ */

static void print_price(const struct report *report, const char *label, const char *key,
                        double value, struct doc *doc)
{
    if (isnan(value))
        return;
    buffer_print(report->text, "  %s %.4g", label, value * 1e6);
    doc_add_number(arena_of(report), doc, key, value);
}

static void report_prices(const struct report *report)
{
    static const struct { const char *label, *key; enum price_class class; int above; } list[] = {
        { "in", NAME_seen_input, PRICE_INPUT, 0 },
        { "out", NAME_seen_output, PRICE_OUTPUT, 0 },
        { "hit", NAME_seen_hit, PRICE_HIT, 0 },
        { "write", NAME_seen_write_short, PRICE_WRITE_SHORT, 0 },
        { "write 1 h", NAME_seen_write_long, PRICE_WRITE_LONG, 0 },
        { "| above: in", NAME_seen_input_above, PRICE_INPUT, 1 },
        { "out", NAME_seen_output_above, PRICE_OUTPUT, 1 },
    };
    const struct price *price = report->reading->price;
    struct doc *doc = doc_add(arena_of(report), report->doc, "prices", DOC_OBJECT);
    buffer_print(report->text, "%s   %s   %s   USD/Mtoken:", price->model,
                 *price->seller ? price->seller : "no seller named",
                 *price->date ? price->date : "no date");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        print_price(report, list[i].label, list[i].key,
                    price->at[SERVICE_STANDARD][list[i].above][list[i].class], doc);
    if (!isnan(price->threshold)) {
        buffer_print(report->text, "  above %.0f tokens", price->threshold);
        doc_add_number(arena_of(report), doc, NAME_price_step_context, price->threshold);
    }
    if (!isnan(price->fast)) {
        buffer_print(report->text, "  fast x%g", price->fast);
        doc_add_number(arena_of(report), doc, NAME_seen_fast, price->fast);
    }
    buffer_print(report->text, "\n");
}

static void report_ratios(const struct report *report)
{
    const struct reading *reading = report->reading;
    struct doc *doc = doc_add(arena_of(report), report->doc, "ratios", DOC_OBJECT);
    const char *between = "ratios:";
    for (int i = FIELD_OUTPUT; i < FIELD_COUNT; i++) {
        if (!isfinite(reading->seen[i]))
            continue;
        struct doc *one = doc_add(arena_of(report), doc, fields[i].seen, DOC_OBJECT);
        doc_add_number(arena_of(report), one, "value", reading->seen[i]);
        doc_add_number(arena_of(report), one, "of_seller", reading->all[i]);
        doc_add_number(arena_of(report), one, "same", reading->same[i]);
        doc_add_bool(arena_of(report), one, "vendor_policy", reading->vendor >> i & 1);
        doc_add_bool(arena_of(report), one, "suspicious", reading->suspicious >> i & 1);
        buffer_print(report->text, "%s %s %s", between, fields[i].label,
                     text_of_value(report, fields[i].seen, reading->seen[i]));
        if (reading->all[i] > 1)
            buffer_print(report->text, " (%d of %d entries of this seller)", reading->same[i],
                         reading->all[i]);
        between = ",";
    }
    buffer_print(report->text, "\n");
    if (reading->vendor) {
        buffer_print(report->text, "seller's policy, independent of a model's cost:");
        for (int i = 0; i < FIELD_COUNT; i++)
            if (reading->vendor >> i & 1)
                buffer_print(report->text, " %s;", fields[i].label);
        buffer_print(report->text, " one decision, counted once\n");
    }
    const char *suspicious = reading_suspicious(arena_of(report), reading);
    buffer_print(report->text, "suspicious, not used: %s\n", *suspicious ? suspicious : "none");
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

static struct span turned(struct span span)
{
    return (struct span){ 1 / span.q95, 1 / span.q75, 1 / span.q50, 1 / span.q25, 1 / span.q05 };
}

/* Itself, or drawn as a multiple of it. */
static bool made_from(const char *unknown, const char *quantity)
{
    return !strcmp(unknown, quantity) ||
           (!strcmp(quantity, NAME_params_active) && !strcmp(unknown, NAME_params_total));
}

/* "97 % price_multiple, 12 % mfu_prefill" */
static const char *rests_on(const struct report *report, enum quantity_key key, struct doc *doc)
{
    enum { MOST = 64 };
    const double least = 0.1;
    double share[MOST];
    const struct draws *draws = report->posterior.draws;
    struct buffer out = { .arena = arena_of(report) };
    buffer_add(&out, "", 0);
    deduce_shares(&report->posterior, key, share);
    for (size_t i = 0; i < draws_unknowns(draws); i++)
        if (made_from(draws_unknown(draws, i), quantities[key]))
            share[i] = 0;
    for (int told = 0; told < 3; told++) {
        size_t best = 0;
        for (size_t i = 1; i < draws_unknowns(draws); i++)
            best = share[i] > share[best] ? i : best;
        if (share[best] < least)
            break;
        buffer_print(&out, "%s%.0f %% %s", out.size ? ", " : "", 100 * share[best],
                     draws_unknown(draws, best));
        doc_add_number(arena_of(report), doc, draws_unknown(draws, best), share[best]);
        share[best] = 0;
    }
    return out.data;
}

static void add_span(const struct report *report, struct doc *doc, const char *key,
                     struct span span)
{
    const double values[] = { span.q05, span.q25, span.q50, span.q75, span.q95 };
    static const char *const names[] = { "q05", "q25", "q50", "q75", "q95" };
    struct doc *one = doc_add(arena_of(report), doc, key, DOC_OBJECT);
    for (int i = 0; i < 5; i++)
        if (isfinite(values[i]))
            doc_add_number(arena_of(report), one, names[i], values[i]);
}

static void print_line(const struct report *report, const struct line *line, struct table *table,
                       const char *grounds)
{
    struct span span = report->posterior.span[line->key], prior = report->posterior.prior[line->key];
    if (line->inverse)
        span = turned(span), prior = turned(prior);
    table_cell(table, "%s", line->label);
    table_cell(table, "%s", range_text(report, quantities[line->key], span.q25, span.q75));
    table_cell(table, "%s", range_text(report, quantities[line->key], span.q05, span.q95));
    table_cell(table, "%s", range_text(report, quantities[line->key], prior.q05, prior.q95));
    table_cell(table, "%.2f", report->posterior.bits[line->key]);
    table_cell(table, "%s", grounds);
}

static void add_line(const struct report *report, const struct line *line, struct table *table)
{
    struct doc *all = report->doc->last;        /* "quantities" */
    const char *row = quantities[line->key];
    if (line->inverse) {
        print_line(report, line, table, "");
        return;
    }
    struct doc *one = doc_add(arena_of(report), all, row, DOC_OBJECT);
    add_span(report, one, "posterior", report->posterior.span[line->key]);
    add_span(report, one, "prior", report->posterior.prior[line->key]);
    doc_add_number(arena_of(report), one, "bits", report->posterior.bits[line->key]);
    print_line(report, line, table,
               rests_on(report, line->key, doc_add(arena_of(report), one, "rests_on", DOC_OBJECT)));
}

static bool is_said(const struct report *report, const struct line *line)
{
    return !line->product && report->posterior.bits[line->key] >= SAID_BITS;
}

static void add_header(const struct report *report, struct table *table, const char *title)
{
    static const char *const heads[] = { "50 %", "90 %", "prior 90 %", "bits", "driven by" };
    *table = (struct table){ .arena = arena_of(report), .columns = 6, .left = "llllrl" };
    table_cell(table, "%s", title);
    for (int i = 0; i < 5; i++)
        table_cell(table, "%s", heads[i]);
}

static void report_tier(const struct report *report, struct table *table)
{
    const struct priors *priors = &report->deduction->priors;
    struct buffer now = { .arena = arena_of(report) }, before = { .arena = arena_of(report) };
    struct doc *doc = doc_add(arena_of(report), report->doc, "tier", DOC_OBJECT);
    buffer_add(&now, "", 0);
    buffer_add(&before, "", 0);
    for (size_t i = 0; i < priors->tiers; i++) {
        buffer_print(&now, "%s%s %.2f", i ? "  " : "", priors->tier[i],
                     report->posterior.tier[i]);
        buffer_print(&before, "%s%.2f", i ? " " : "", priors->tier_share[i]);
        doc_add_number(arena_of(report), doc, priors->tier[i], report->posterior.tier[i]);
    }
    table_cell(table, "tier of the prompt cache");
    table_cell(table, "%s", now.data);
    table_cell(table, "%s", "");
    table_cell(table, "%s", before.data);
    table_cell(table, "%s", "");
    table_cell(table, "%s", "");
}

static void report_quantities(const struct report *report)
{
    struct table table;
    struct buffer *text = report->text;
    enum { SAID = sizeof said / sizeof *said };
    doc_add(arena_of(report), report->doc, "quantities", DOC_OBJECT);
    add_header(report, &table, "Identified by the price list");
    for (int i = 0; i < SAID; i++)
        if (is_said(report, &said[i]))
            add_line(report, &said[i], &table);
    if (table.count == table.columns)
        buffer_print(text, "\nThe price list identifies nothing beyond its priors\n");
    else {
        buffer_print(text, "\n");
        table_print(&table, text, "");
    }
    add_header(report, &table, "Identified with a price level");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        add_line(report, &levels[i], &table);
    buffer_print(text, "\n");
    table_print(&table, text, "");
    add_header(report, &table, "Not identified");
    for (int i = 0; i < SAID; i++)
        if (!is_said(report, &said[i]) && !said[i].inverse)
            add_line(report, &said[i], &table);
    report_tier(report, &table);
    buffer_print(text, "\n");
    table_print(&table, text, "");
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
static void report_priced(const struct report *report)
{
    static const char *const rows[] = { NAME_implied_hold_ratio, NAME_implied_write_premium,
                                        NAME_implied_drain_time };
    const double *seen = report->reading->evidence.seen;
    struct doc *doc = doc_add(arena_of(report), report->doc, "as_priced", DOC_OBJECT);
    double value[3];
    if (!usable(report, FIELD_WRITE_SHORT) || !usable(report, FIELD_WRITE_LONG) ||
        !usable(report, FIELD_HIT) || seen[FIELD_WRITE_LONG] <= seen[FIELD_WRITE_SHORT])
        return;
    set_fact(report, NAME_write_price_short, 1 + seen[FIELD_WRITE_SHORT]);
    set_fact(report, NAME_write_price_long, 1 + seen[FIELD_WRITE_LONG]);
    set_fact(report, NAME_hit_ratio, seen[FIELD_HIT]);
    for (int i = 0; i < 3; i++) {
        if (!row_value(report, rows[i], &value[i]))
            return;
        doc_add_number(arena_of(report), doc, rows[i], value[i]);
    }
    buffer_print(report->text, "\nas priced, if the hit and both writes carry one margin: holding "
                 "%s of the input price; drain time of the store and mean pause between hits "
                 "at most %s\n", text_of_value(report, rows[0], value[0]),
                 text_of_value(report, rows[2], value[2]));
}

/* ---- contradictions ----------------------------------------------------------------------- */

static void add_miss(const struct report *report, struct doc *doc, const char *key,
                     const char *kept, const char *row, double predicted, double seen, const char *sentence)
{
    struct doc *one = doc_add(arena_of(report), doc, key, DOC_OBJECT);
    double miss = fabs(scalar_log(predicted / seen));
    doc_add_string(arena_of(report), one, "predicts", row);
    doc_add_number(arena_of(report), one, "predicted", predicted);
    doc_add_number(arena_of(report), one, "seen", seen);
    doc_add_number(arena_of(report), one, "miss", miss);
    buffer_print(report->text, "  keeping %s: ", kept);
    buffer_print(report->text, "%s %.3g, observed %.3g (a factor of %.1f apart)\n", sentence,
                 predicted, seen, scalar_exp(miss));
}

/* The closed forms: any two of step, output price and fast mode predict the third. */
static void report_triangle(const struct report *report, struct doc *doc)
{
    const double *seen = report->reading->evidence.seen;
    double value, speed = 1, step = usable(report, FIELD_STEP_OUTPUT) ? seen[FIELD_STEP_OUTPUT] : 1;
    bool fast = usable(report, FIELD_FAST) && seen[FIELD_FAST] > 1.001;
    bool stepped = usable(report, FIELD_STEP_OUTPUT) && report->reading->price->threshold > 1;
    bool output = usable(report, FIELD_OUTPUT) && seen[FIELD_OUTPUT] > 1;
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
        buffer_print(report->text, "  fast mode: %.3g times the speed (speed_ratio), assumed: no price "
                     "list has it\n", speed);
    if (fast && output && row_value(report, NAME_output_kept_step, &value))
        add_miss(report, doc, "output_and_fast", "out/in and fast mode", NAME_step_output_cost, value, step,
                 "cost of an output token far above the step, over one far below,");
    if (stepped && output && row_value(report, NAME_step_kept_speed, &value)) {
        if (fast)
            add_miss(report, doc, "step_and_output", "step and out/in", NAME_speed_ratio, value, speed,
                     "the most that a smaller batch speeds up is");
        else
            buffer_print(report->text, "  if step and out/in are cost, a smaller batch speeds up by %.3g at "
                         "most: no room for a fast mode\n", value);
    }
    if (stepped && fast && row_value(report, NAME_fast_kept_output, &value))
        add_miss(report, doc, "step_and_fast", "step and fast mode", NAME_output_over_input, value,
                 output ? seen[FIELD_OUTPUT] : 1, "out/in is");
}

/* The field, not yet reported, whose explanation as policy raises the evidence most. */
static int best_field(const struct report *report, unsigned told)
{
    int best = -1;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!(told >> i & 1) && !isnan(report->posterior.gain[i]) &&
            (best < 0 || report->posterior.gain[i] > report->posterior.gain[best]))
            best = i;
    return best;
}

static void report_policy(const struct report *report)
{
    const double per_ten = scalar_log(10);
    struct doc *doc = doc_add(arena_of(report), report->doc, "policy", DOC_OBJECT);
    unsigned told = 0;
    for (int i; (i = best_field(report, told)) >= 0; told |= 1u << i) {
        struct doc *one = doc_add(arena_of(report), doc, fields[i].cost, DOC_OBJECT);
        double gain = report->posterior.gain[i] / per_ten;
        doc_add_number(arena_of(report), one, "probability", report->posterior.policy[i]);
        doc_add_number(arena_of(report), one, "log10_evidence", gain);
        if (!told)
            buffer_print(report->text, "  best single explanation: %s is policy, not cost%s (log10 evidence "
                         "%+.2f)\n  probability of policy:", fields[i].label, i == FIELD_FAST
                         ? ", or comes from more GPUs per replica or speculation" : "", gain);
        buffer_print(report->text, " %s %.2f;", fields[i].label, report->posterior.policy[i]);
    }
    buffer_print(report->text, "%s", told ? "\n" : "  no ratio is observed\n");
}

static void report_contradictions(const struct report *report)
{
    buffer_print(report->text, "\nContradictions\n");
    report_triangle(report, doc_add(arena_of(report), report->doc, "contradictions", DOC_OBJECT));
    report_policy(report);
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void report_draws(const struct report *report)
{
    const struct posterior *posterior = &report->posterior;
    struct doc *doc = doc_add(arena_of(report), report->doc, "draws", DOC_OBJECT);
    doc_add_number(arena_of(report), doc, "count", (double)draws_count(posterior->draws));
    doc_add_number(arena_of(report), doc, "effective", posterior->effective);
    doc_add_number(arena_of(report), doc, "largest", posterior->largest);
    if (isfinite(posterior->log_evidence))
        doc_add_number(arena_of(report), doc, "log_evidence", posterior->log_evidence);
    doc_add_bool(arena_of(report), doc, "outside_priors", posterior->outside);
    buffer_print(report->text, "\nNot identifiable from prices: active parameters and KV bytes separately, "
                 "precision, machine, context mix, margin per product\n");
    if (posterior->outside)
        buffer_print(report->text, "The price list lies outside the priors: few draws come near it, the true "
                     "ranges are wider\n");
    buffer_print(report->text, "%zu draws, effective sample size %.0f; `chalkline why decode_utilization` and "
                 "the other keys of --json explain each line\n", draws_count(posterior->draws),
                 posterior->effective);
}

/* The numbers of this sheet as options of `why`: ratios from its prices, and what the report set
 * for "as priced" and the contradictions. */
static void report_why(const struct report *report)
{
    const struct facts *facts = &report->deduction->scenario.facts;
    struct buffer sets = { .arena = arena_of(report) };
    const char *seen = reading_sets(arena_of(report), report->reading);
    buffer_print(report->text, "at its own prices: chalkline why seen_output_over_input%s\n", seen);
    doc_add_string(arena_of(report), report->doc, "why",
                   arena_print(arena_of(report), "chalkline why seen_output_over_input%s", seen));
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (facts->scalars[i].origin == ORIGIN_SHEET)
            buffer_print(&sets, " --set %s=%.9g", facts->scalars[i].name, facts->scalars[i].value);
    if (sets.size && facts_find(facts, NAME_hit_ratio))
        buffer_print(report->text, "as priced: chalkline why implied_drain_time%s\n", sets.data);
}

static void write_report(const struct report *report)
{
    doc_add_string(arena_of(report), report->doc, "seller", report->reading->price->seller);
    doc_add_string(arena_of(report), report->doc, "date", report->reading->price->date);
    report_prices(report);
    report_ratios(report);
    report_quantities(report);
    report_priced(report);
    report_contradictions(report);
    report_draws(report);
    report_why(report);
}

/* A report sets facts of its sheet; the next one starts without them. */
bool deduce_model(struct deduction *deduction, const struct reading *reading)
{
    struct facts *facts = &deduction->scenario.facts, before = *facts;
    struct report report = { .deduction = deduction, .reading = reading,
                             .text = &deduction->answer->text };
    if (!deduce_draw(deduction, true))
        return false;
    deduce_sheet(deduction->arena, deduction->draws, deduction->priors.belief, &reading->evidence,
                 true, &report.posterior);
    if (report.text->size)
        buffer_print(report.text, "\n\n");
    report.doc = doc_add(deduction->arena, deduction->answer->doc, reading->price->model, DOC_OBJECT);
    before.scalars = arena_array(deduction->arena, facts->scalar_room + 1, sizeof *before.scalars);
    memcpy(before.scalars, facts->scalars, facts->scalar_count * sizeof *before.scalars);
    write_report(&report);
    *facts = before;
    return true;
}
