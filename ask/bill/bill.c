/* bill: the monthly cost of a workload for each entry of a price list and each caching scheme.
 *
 * The verb reads a workload and a price list, computes all schemes that each seller offers
 * (bill_cost.c), and answers a page for one to four entries or a table for more. It adds what
 * habits of the user would save (bill_habits.c) and, where a model and a machine are named, the
 * cost on one's own machines (bill_own.c). Facts that a seller's rule leaves open are taken as the
 * middle of a range, with a note. */
#include "ask/ask.h"
#include "ask/bill/bill.h"
#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const struct bill_change as_it_is = { NULL, 0 };

const char *bill_usd(const struct bill *bill, double value)
{
    static const struct unit usd = { { [UNIT_USD] = 2 } };
    return isfinite(value) ? quantity_text(bill->arena, value, usd, 4) : "";
}

/* ---- which entries ------------------------------------------------------------------------ */

static bool in_names(struct arena *arena, const char *names, const char *whole, const char *short_)
{
    while (*names) {
        size_t size = strcspn(names, ",");
        const char *name = arena_copy(arena, names, size);
        if (name_same(name, whole) || name_same(name, short_))
            return true;
        names += size + (names[size] == ',');
    }
    return false;
}

bool bill_chosen(const struct bill *bill, const struct price *price)
{
    const char *model = command_text(bill->command, "model");
    const char *seller = command_text(bill->command, "seller");
    return (!model || in_names(bill->arena, model, price->model, price_model(price))) &&
           (!seller || in_names(bill->arena, seller, price->seller, price->seller));
}

/* The sellers of a price list, each once, cut off where the message gets too long. */
static const char *list_sellers(const struct bill *bill)
{
    enum { MOST = 24 };
    const struct price_sheet *sheet = &bill->sheet;
    const char *seen[MOST];
    struct buffer out = { .arena = bill->arena };
    size_t count = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        size_t k = 0;
        while (k < count && strcmp(seen[k], sheet->prices[i].seller))
            k++;
        if (k < count || count == MOST)
            continue;
        buffer_print(&out, "%s%.40s", count ? ", " : "", sheet->prices[i].seller);
        seen[count++] = sheet->prices[i].seller;
    }
    return arena_print(bill->arena, "%s%s", out.data, count == MOST ? ", ..." : "");
}

static bool name_unknown(struct bill *bill, const char *name, const char *const *all, bool sellers)
{
    const struct price_sheet *sheet = &bill->sheet;
    const char *near = name_nearest(name, all, sheet->count);
    error_set(bill->error, "%.200s has no %s '%.100s'", sheet->file, sellers ? "seller" : "model",
              name);
    if (near)
        return error_suggest(bill->error, "did you mean '%s'?", near);
    if (sellers)
        return error_hint(bill->error, "one of: %s", list_sellers(bill));
    return error_hint(bill->error, "one of its %zu names: `chalkline bill agent --csv` lists them",
                      sheet->count);
}

/* Check that the price list has every name that was asked for. */
static bool check_names(struct bill *bill, const char *names, bool sellers)
{
    const struct price_sheet *sheet = &bill->sheet;
    const char **all = arena_array(bill->arena, sheet->count, sizeof *all);
    for (size_t i = 0; i < sheet->count; i++)
        all[i] = sellers ? sheet->prices[i].seller : price_model(&sheet->prices[i]);
    for (const char *rest = names; rest && *rest;) {
        size_t size = strcspn(rest, ","), i = 0;
        const char *name = arena_copy(bill->arena, rest, size);
        while (i < sheet->count && !name_same(name, all[i]) &&
               (sellers || !name_same(name, sheet->prices[i].model)))
            i++;
        if (i == sheet->count)
            return name_unknown(bill, name, all, sellers);
        rest += size + (rest[size] == ',');
    }
    return true;
}

/* ---- an entry ----------------------------------------------------------------------------- */

static void print_prices(const struct reading *reading, struct buffer *out)
{
    static const char *const names[PRICE_CLASSES] = {
        [PRICE_INPUT] = "in", [PRICE_OUTPUT] = "out", [PRICE_HIT] = "hit",
        [PRICE_WRITE_SHORT] = "write", [PRICE_WRITE_LONG] = "write 1 h" };
    const struct price *price = reading->price;
    const double million = 1e6, hour = 3600;
    buffer_print(out, "%s   %s%s%s   USD/Mtoken:", price->model, price->seller,
                 *price->date ? "   " : "", price->date);
    for (int i = 0; i < PRICE_CLASSES; i++)
        if (price->at[0][0][i] > 0)
            buffer_print(out, "  %s %.4g", names[i], price->at[0][0][i] * million);
    if (price->storage > 0)
        buffer_print(out, "  kept %.3g/h", price->storage * million * hour);
    if (price->threshold > 0)
        buffer_print(out, "  more above %.0f k", price->threshold / 1000);
    buffer_print(out, "\n");
}

static void add_scheme(struct bill *bill, const struct bill_cost *cost, enum scheme scheme,
                       struct table *table, struct doc *doc)
{
    double task = cost->task[scheme], plain = cost->task[SCHEME_PLAIN];
    double month = bill_task_row(bill, NAME_month_cost, task, plain);
    double saving = bill_task_row(bill, NAME_month_saving, task, plain);
    table_cell(table, "%s", scheme == cost->best ? ">" : "");
    table_cell(table, "%s", schemes[scheme].name);
    table_cell(table, "%s", bill_usd(bill, task));
    table_cell(table, "%s", bill_usd(bill, month));
    table_cell(table, "%s", scheme == SCHEME_PLAIN ? "" : bill_usd(bill, saving));
    struct doc *one = doc_add(bill->arena, doc, schemes[scheme].word, DOC_OBJECT);
    doc_add_number(bill->arena, one, NAME_task_cost, task);
    doc_add_number(bill->arena, one, NAME_month_cost, month);
    doc_add_number(bill->arena, one, NAME_month_saving, saving);
}

static void answer_schemes(struct bill *bill, const struct bill_cost *cost, struct doc *doc)
{
    static const char *const heads[] = { "", "", "per task", "per month", "saves per month" };
    struct table table = { .arena = bill->arena, .columns = 5, .left = "llrrr" };
    struct doc *list = doc_add(bill->arena, doc, "schemes", DOC_OBJECT);
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", heads[i]);
    for (int i = 0; i < SCHEMES; i++)
        if (isfinite(cost->task[i]))
            add_scheme(bill, cost, (enum scheme)i, &table, list);
    doc_add_string(bill->arena, doc, "cheapest", schemes[cost->best].word);
    buffer_print(&bill->answer->text, "\n");
    table_print(&table, &bill->answer->text, "");
}

static void note_once(struct facts *facts, const char *note)
{
    for (size_t i = 0; i < facts->note_count; i++)
        if (!strcmp(facts->notes[i], note))
            return;
    facts_note(facts, "%s", note);
}

/* Notes on facts that the rule assumes: middles of ranges, and facts without a source. */
static void note_rule(struct bill *bill, const struct rule *rule)
{
    struct scenario *scenario = &bill->scenario;
    for (int i = 0; i < RULES_FACTS; i++) {
        const struct fact *given = facts_find(&scenario->facts, rule_facts[i]);
        if (isnan(rule->at[i]) || (strcmp(rule->mark[i], "assumed") &&
                                   strcmp(rule->mark[i], "middle")) ||
            fact_given(given) || rule->asked)
            continue;
        const char *text = quantity_text(bill->arena, rule->at[i],
                                         scenario_unit(scenario, rule_facts[i]), 4);
        note_once(&scenario->facts,
                  arena_print(bill->arena, "%s: %s %s, %s", rule->name, rule_facts[i], text,
                              strcmp(rule->mark[i], "middle") ? "no value is published"
                                                              : "the middle of what is published"));
    }
}

static void answer_warnings(struct bill *bill, const struct reading *reading,
                            const struct bill_cost *cost)
{
    struct buffer *out = &bill->answer->text;
    if (reading->suspicious)
        buffer_print(out, "suspicious, used as they stand: %s\n",
                     reading_suspicious(bill->arena, reading));
    if (reading->price->context < cost->prompt_most)
        buffer_print(out, "takes prompts up to %.0f tokens, this workload needs %.0f\n",
                     reading->price->context, cost->prompt_most);
}

bool bill_model(struct bill *bill, const struct reading *reading, struct doc *list)
{
    struct doc *doc = doc_add(bill->arena, list, NULL, DOC_OBJECT);
    struct bill_cost cost = bill_cost(bill, reading->price, as_it_is);
    doc_add_string(bill->arena, doc, "seller", reading->price->seller);
    doc_add_string(bill->arena, doc, "model", reading->price->model);
    doc_add_string(bill->arena, doc, "date", reading->price->date);
    doc_add_string(bill->arena, doc, "suspicious", reading_suspicious(bill->arena, reading));
    doc_add_bool(bill->arena, doc, "takes_prompts", !(reading->price->context < cost.prompt_most));
    print_prices(reading, &bill->answer->text);
    answer_warnings(bill, reading, &cost);
    answer_schemes(bill, &cost, doc);
    bill_habits(bill, reading, &cost, doc);
    bill_basis(bill, reading->price, cost.best, &bill->basis);
    const char *why = bill_why(bill, reading->price, cost.best);
    doc_add_string(bill->arena, doc, "why", why);
    buffer_print(&bill->answer->text, "why, of its last turn: %s\n", why);
    note_rule(bill, caching_find(&bill->caching, reading->price));
    return true;
}

/* ---- the workload ------------------------------------------------------------------------- */

static void answer_workload(struct bill *bill)
{
    static const char *const asked[] = { NAME_task_requests, NAME_task_rate, NAME_task_turns, NAME_repeating_share,
                                         NAME_fixed_prefix, NAME_can_wait_share };
    struct bill_cost cost = bill_cost(bill, bill->sheet.prices, as_it_is);
    struct buffer *out = &bill->answer->text;
    struct doc *doc = doc_add(bill->arena, bill->answer->doc, "workload", DOC_OBJECT);
    const double day = 86400;
    double mean = gaps_mean(&bill->workload.gaps), requests = bill_number(bill, NAME_task_requests);
    doc_add_string(bill->arena, doc, "name", bill->workload.name);
    doc_add_string(bill->arena, doc, "gap", bill->workload.gaps.words);
    scenario_words_document(&bill->scenario, doc);
    doc_add_number(bill->arena, doc, "mean_gap", mean);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        doc_add_number(bill->arena, doc, asked[i], bill_number(bill, asked[i]));
    doc_add_number(bill->arena, doc, "task_prompt_tokens", cost.prompt);
    doc_add_number(bill->arena, doc, "task_output_tokens", cost.reply);
    doc_add_number(bill->arena, doc, "longest_prompt", cost.prompt_most);
    buffer_print(out, "%s: %s tasks per day of %s requests, gaps %s (mean %s)\n",
                 bill->workload.name, count_text(bill->arena, bill_number(bill, NAME_task_rate) * day, 6),
                 count_text(bill->arena, requests, 6), bill->workload.gaps.words,
                 quantity_text(bill->arena, mean, unit_second, 3));
    buffer_print(out, "per task: %s prompt tokens, longest prompt %s; %s output tokens\n\n",
                 count_text(bill->arena, floor(cost.prompt + 0.5), 6), count_text(bill->arena, cost.prompt_most, 6),
                 count_text(bill->arena, floor(cost.reply + 0.5), 6));
}

/* ---- the question ------------------------------------------------------------------------- */

static bool read_words(const struct command *command, struct error *error)
{
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "bill takes one workload, %zu were given"
                  : "bill needs a workload", command->word_count);
        return error_hint(error, "agent, document-chat, or a file of lines NAME = VALUE");
    }
    static const char *const of_own[] = { "on", "gpus", "precision", "experts-precision",
                                          "kv-precision", "engine", "assume" };
    const bool own = command_given(command, "own");
    const char *lost = NULL;
    for (size_t i = 0; i < sizeof of_own / sizeof *of_own && !own && !lost; i++)
        lost = command_given(command, of_own[i]) ? of_own[i] : NULL;
    if (!lost && (!own || command_given(command, "on")))
        return true;
    if (lost)
        error_set(error, "--%s needs the model that runs there: --own", lost);
    else
        error_set(error, "--own needs a machine: --on");
    return error_hint(error, "a model and a machine, as in `chalkline bill agent --own deepseek-v3 --on "
                      "h200-sxm`");
}

/* Priors say here which ratios are usual; what they miss of machines is no matter. */
static void read_priors(struct bill *bill)
{
    size_t notes = bill->scenario.facts.note_count;
    priors_read(&bill->scenario, &bill->priors);
    bill->scenario.facts.note_count = notes;
}

static bool open_bill(struct bill *bill)
{
    const struct command *command = bill->command;
    const char *path = command_text(command, "prices");
    if (!scenario_read(&bill->scenario, bill->arena, command, command_no_subject(command),
                       bill->error) ||
        !workload_read(&bill->scenario, command->words[0], &bill->workload, bill->error))
        return false;
    read_priors(bill);
    caching_read(bill->arena, &bill->caching);
    return seen_open(&bill->scenario, &bill->rows, bill->error) && bill_open_rows(bill) &&
           readings_read(bill->arena, path ? path : "prices", &bill->priors, &bill->rows, &bill->sheet,
                         &bill->readings, bill->error) &&
           check_names(bill, command_text(command, "model"), false) &&
           check_names(bill, command_text(command, "seller"), true);
}

/* Notes on the assumptions behind the costs of a task and a month. */
static void note_assumed(struct bill *bill)
{
    static const char *const rows[] = { NAME_billing_month };
    struct values values;
    struct error ignored;
    if (values_of(&bill->scenario, rows, 1, &values, &ignored))
        basis_values(&bill->scenario, &values, NULL, 1, &bill->basis);
    basis_notes(&bill->scenario, &bill->basis);
}

/* Notes on given options that affect neither the bill nor the cost on one's own machines. */
static void note_idle(struct bill *bill, const struct bill_idle *own)
{
    enum { MORE = 4 };
    const char *texts[SCHEMES + MORE] = { NAME_month_saving, NAME_waiting_saving, NAME_shorter_output,
                                          NAME_task_requests };
    const char **labels;
    for (int i = 0; i < SCHEMES; i++)
        texts[MORE + i] = schemes[i].row;
    const size_t count = given_idle(&bill->scenario, texts, SCHEMES + MORE, &labels);
    for (size_t i = 0; i < count; i++) {
        bool idle = !own->asked;
        for (size_t k = 0; k < own->count; k++)
            idle |= !strcmp(own->labels[k], labels[i]);
        if (idle)
            facts_note(&bill->scenario.facts, "%s has no effect on the bill", labels[i]);
    }
}

enum { FEW = 4 };

/* One to four entries are answered in full, each on a page. */
static bool answer_entries(struct bill *bill)
{
    size_t count = 0;
    for (size_t i = 0; i < bill->sheet.count; i++)
        count += bill_chosen(bill, &bill->sheet.prices[i]);
    if (!count) {
        error_set(bill->error, "no entry has both this --model and this --seller");
        return error_hint(bill->error, "a model that the seller sells");
    }
    if (count > FEW || !command_given(bill->command, "model"))
        return bill_whole(bill);
    struct doc *list = doc_add(bill->arena, bill->answer->doc, "entries", DOC_ARRAY);
    for (size_t i = 0, shown = 0; i < bill->sheet.count; i++) {
        if (!bill_chosen(bill, &bill->sheet.prices[i]))
            continue;
        if (shown++)
            buffer_print(&bill->answer->text, "\n");
        if (!bill_model(bill, &bill->readings[i], list))
            return false;
    }
    return true;
}

bool ask_bill(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    struct bill *bill = arena_alloc(arena, sizeof *bill);
    *bill = (struct bill){ .arena = arena, .command = command, .answer = answer, .error = error };
    if (!read_words(command, error) || !open_bill(bill))
        return false;
    answer_workload(bill);
    struct bill_idle own = { 0 };
    if (!answer_entries(bill))
        return false;
    note_assumed(bill);
    if (command_given(command, "own") && !bill_own(bill, &own))
        return false;
    if (command_text(command, "csv"))
        bill_csv(bill);
    note_idle(bill, &own);
    if (bill->scenario.facts.note_count)
        buffer_print(&answer->text, "\n");
    scenario_notes(&bill->scenario, answer);
    return true;
}

static const struct option bill_list[] = {
    { "prices", "FILE", OPTION_FILE, .otherwise = "data/prices.csv, built in",
      .help = "price list: LiteLLM's JSON or models.dev's CSV" },
    { "model", "NAME", OPTION_TEXT, .help = "only these entries of the price list, with commas" },
    { "seller", "NAME", OPTION_TEXT, .help = "only entries of these sellers, with commas" },
    { "gap", "TIME", OPTION_TEXT, .otherwise = "the workload's",
      .help = "gap between turns: 30s, exponential(2min) or a CSV file" },
    { 0 } };
static const struct option own_list[] = {
    { "own", "MODEL", OPTION_TEXT, .help = "also the cost on own GPUs, over load" },
    { 0 } };
static const struct option_group bill_options = { "Prices", bill_list },
                                 own_options = { "Own machines", own_list };

const struct verb verb_bill = {
    "bill", "WORKLOAD",
    "Compute the cost of a workload at each seller, by caching mode, or on own GPUs.",
    { "chalkline bill agent --model claude-opus-4-7",
      "chalkline bill agent --model deepseek-v3 --own deepseek-v3 --on h200-sxm --gpus 8",
      "chalkline bill my.workload --prices litellm.json --seller anthropic,openai" },
    { &bill_options, &own_options, &machine_options, &chip_options, &weight_options,
      &cache_options, &engine_options, &assume_options, &row_options, &table_options,
      &output_options }, .ask = ask_bill };
