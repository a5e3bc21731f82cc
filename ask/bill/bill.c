/* bill: the monthly cost of a workload for each entry of a price list and each caching scheme.
 * bill.template is its text.
 *
 * The verb reads a workload and a price list, computes all schemes that each seller offers
 * (bill_cost.c), and answers a page for one to four entries or a table for more (bill_whole.c). It
 * adds what habits of the user would save (bill_habits.c) and, where a model and a machine are
 * named, the cost on one's own machines (bill_own.c). Facts that a seller's rule leaves open are
 * taken as the middle of a range, with a note. */
#include "ask/ask.h"
#include "ask/bill/bill.h"
#include "report/picture.h"
#include "build/row_names.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

static const struct bill_change as_it_is = { NULL, 0 };

/* ---- which entries ------------------------------------------------------------------------ */

/* An error that tells the nearest of all names; of sellers each once, cut off where the message gets
 * too long. */
static bool name_unknown(struct bill *bill, const char *name, const char *const *all, bool sellers)
{
    enum { MOST = 24 };
    const struct price_sheet *sheet = &bill->sheet;
    const char *near = name_nearest(name, all, sheet->count);
    const char *seen[MOST];
    struct buffer list = { .arena = bill->arena };
    size_t count = 0;
    for (size_t i = 0; i < sheet->unpriced_count && !sellers; i++)
        if (name_same(name, sheet->unpriced[i].model)) {
            error_set(bill->error, "%.200s prices '%.100s' by %s", sheet->file, name, sheet->unpriced[i].keys);
            return error_expected(bill->error, "a model that is priced by the token of text");
        }
    error_set(bill->error, "%.200s has no %s '%.100s'", sheet->file, sellers ? "seller" : "model",
              name);
    if (near)
        return error_did_you_mean(bill->error, near, "");
    if (!sellers)
        return error_expected(bill->error, "one of its %zu names: `chalkline bill agent --csv` lists them",
                          sheet->count);
    for (size_t i = 0; i < sheet->count; i++) {
        if (count == MOST || name_listed(seen, count, all[i]))
            continue;
        buffer_print(&list, "%s%.40s", count ? ", " : "", all[i]);
        seen[count++] = all[i];
    }
    return error_expected(bill->error, "one of: %s%s", list.data, count == MOST ? ", ..." : "");
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

/* The prices that the page begins with; in JSON they are not, since the sheet has them. */
static void add_prices(const struct bill *bill, const struct price *price, struct section *entry)
{
    const double *standard = price->at[SERVICE_STANDARD][0];
    const struct { const char *row; double value; } prices[] = {
        { NAME_listed_input, standard[PRICE_INPUT] }, { NAME_listed_output, standard[PRICE_OUTPUT] },
        { NAME_listed_hit, standard[PRICE_HIT] }, { NAME_listed_write_short, standard[PRICE_WRITE_SHORT] },
        { NAME_listed_write_long, standard[PRICE_WRITE_LONG] }, { NAME_listed_storage, price->storage },
        { NAME_listed_threshold, price->threshold } };
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        bill_figure(bill, entry, prices[i].row, prices[i].value)->text_only = true;
    section_number(entry, "takes_tokens", price->context, unit_one)->text_only = true;
}

static void add_schemes(struct bill *bill, const struct bill_cost *cost, struct section *entry)
{
    const double plain = cost->task[SCHEME_PLAIN];
    struct section *list = section_add(entry, "schemes", SECTION_KEYED);
    for (int i = 0; i < SCHEMES; i++) {
        const double task = cost->task[i];
        if (!isfinite(task))
            continue;
        struct section *one = section_add(list, schemes[i].word, SECTION_RECORD);
        bill_figure(bill, one, NAME_task_cost, task);
        bill_figure(bill, one, NAME_month_cost, bill_task_row(bill, NAME_month_cost, task, plain));
        bill_figure(bill, one, NAME_month_saving, bill_task_row(bill, NAME_month_saving, task, plain));
        section_word(one, "scheme", schemes[i].word)->text_only = true;
        section_word(one, "scheme_name", schemes[i].name)->text_only = true;
        section_word(one, "best", i == (int)cost->best ? "best" : "")->text_only = true;
    }
}

/* A bar for each scheme. */
static void draw_schemes(struct bill *bill, const struct price *price, const struct bill_cost *cost)
{
    const double month = bill_task_row(bill, NAME_month_cost, 1, 1);
    for (int i = 0; i < SCHEMES; i++)
        if (isfinite(cost->task[i]))
            bill_bar(bill, arena_print(bill->arena, "%s: %s", price->model, schemes[i].name), price,
                     (enum scheme)i, month);
}

/* Notes on facts that the rule assumes, each once: middles of ranges, and facts without a source. */
static void note_rule(struct bill *bill, const struct caching_rule *rule)
{
    struct scenario *scenario = &bill->scenario;
    struct facts *facts = &scenario->facts;
    for (int i = 0; i < RULES_FACTS; i++) {
        const struct fact *given = facts_find(facts, rule_facts[i]);
        if (isnan(rule->at[i]) || (strcmp(rule->mark[i], "assumed") &&
                                   strcmp(rule->mark[i], "middle")) ||
            fact_given(given) || rule->asked)
            continue;
        const char *text = quantity_text(bill->arena, rule->at[i],
                                         scenario_unit(scenario, rule_facts[i]), 4);
        const char *note = arena_print(bill->arena, "%s: %s %s, %s", rule->name, rule_facts[i], text,
                                       strcmp(rule->mark[i], "middle")
                                       ? "no value is published" : "the middle of what is published");
        facts_note_once(facts, note);
    }
}

/* Notes on what else the list prices: further ranges of the prompt, and keys that are not for text tokens. */
static void note_list(struct bill *bill, const struct price *price)
{
    struct facts *facts = &bill->scenario.facts;
    if (price->further_count)
        facts_note_once(facts, arena_print(bill->arena, "%s: %zu ranges of prices, by the prompt of each request", price->model,
                                           price->further_count + 2));
    if (price->unread && *price->unread)
        facts_note_once(facts, arena_print(bill->arena, "%s: other prices of the list are not billed: %s", price->model,
                                           price->unread));
}

/* ---- the workload ------------------------------------------------------------------------- */

static const char *const workload_rows[] = { NAME_task_requests, NAME_task_rate, NAME_task_turns,
                                             NAME_repeating_share, NAME_fixed_prefix,
                                             NAME_can_wait_share };
enum { WORKLOAD_ROWS = sizeof workload_rows / sizeof *workload_rows };

static void add_workload(struct bill *bill)
{
    const struct bill_cost cost = bill_cost(bill, bill->sheet.prices, as_it_is);
    struct section *section = section_add(bill->section, "workload", SECTION_RECORD);
    section_word(section, "name", bill->workload.name);
    section_word(section, "gap", bill->workload.gaps.words);
    figures_words(&bill->scenario, section);
    section_number(section, "mean_gap", gaps_mean(&bill->workload.gaps), unit_second);
    for (size_t i = 0; i < WORKLOAD_ROWS; i++)
        bill_figure(bill, section, workload_rows[i], bill_number(bill, workload_rows[i]));
    section_number(section, "task_prompt_tokens", cost.prompt, unit_one);
    section_number(section, "task_output_tokens", cost.reply, unit_one);
    section_number(section, "longest_prompt", cost.prompt_most, unit_one);
    section_number(bill->section, "longest", cost.prompt_most, unit_one)->text_only = true;
}

/* ---- the question ------------------------------------------------------------------------- */

static bool read_words(const struct command *command, struct error *error)
{
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "bill takes one workload, %zu were given"
                  : "bill needs a workload", command->word_count);
        return error_expected(error, "agent, document-chat, or a file of lines NAME = VALUE");
    }
    static const char *const of_own[] = { "on", "gpus", "precision", "experts-precision",
                                          "kv-precision", "engine", "as", "families", "assume" };
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
    return error_expected(error, "a model and a machine, as in `chalkline bill agent --own deepseek-v3 --on "
                      "h200-sxm`");
}

static bool open_bill(struct bill *bill)
{
    const struct command *command = bill->command;
    const char *path = command_text(command, "prices");
    if (!scenario_read(&bill->scenario, bill->arena, command, command_no_subject(command),
                       bill->error) ||
        !workload_read(&bill->scenario, command->words[0], &bill->workload, bill->error))
        return false;
    /* Priors say here which ratios are usual; what they miss of machines is no matter. */
    const size_t notes = bill->scenario.facts.note_count;
    priors_read(&bill->scenario, &bill->priors);
    bill->scenario.facts.note_count = notes;
    caching_read(bill->arena, &bill->caching);
    return seen_open(&bill->scenario, &bill->rows, bill->error) && bill_open_rows(bill) &&
           readings_read(bill->arena, path ? path : "prices", &bill->priors, &bill->rows, &bill->sheet,
                         &bill->readings, bill->error) &&
           check_names(bill, command_text(command, "model"), false) &&
           check_names(bill, command_text(command, "seller"), true);
}

/* One to four entries are answered in full, each on a page; more, or a whole list, as a table. */
static bool add_entries(struct bill *bill)
{
    enum { FEW = 4 };
    size_t count = 0;
    for (size_t i = 0; i < bill->sheet.count; i++)
        count += bill_chosen(bill, &bill->sheet.prices[i]);
    if (!count) {
        error_set(bill->error, "no entry has both this --model and this --seller");
        return error_expected(bill->error, "a model that the seller sells");
    }
    struct section *list = section_add(bill->section, "entries", SECTION_LIST);
    if (count > FEW || !command_given(bill->command, "model")) {
        bill_whole(bill, list);
        return true;
    }
    for (size_t i = 0; i < bill->sheet.count; i++) {
        const struct price_reading *reading = &bill->readings[i];
        if (!bill_chosen(bill, reading->price))
            continue;
        const struct bill_cost cost = bill_cost(bill, reading->price, as_it_is);
        struct section *entry = section_add(list, NULL, SECTION_RECORD);
        bill_entry(bill, reading, &cost, entry);
        add_prices(bill, reading->price, entry);
        add_schemes(bill, &cost, entry);
        draw_schemes(bill, reading->price, &cost);
        bill_habits(bill, reading, &cost, entry);
        section_word(entry, "why", bill_why(bill, reading->price, cost.best));
        bill_basis(bill, reading->price, cost.best, &bill->basis);
        note_rule(bill, caching_find(&bill->caching, reading->price));
        note_list(bill, reading->price);
    }
    return true;
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
    for (size_t i = 0; i < count; i++)
        if (!own->asked || name_listed(own->labels, own->count, labels[i]))
            facts_note(&bill->scenario.facts, "%s has no effect on the bill", labels[i]);
}

bool ask_bill(struct arena *arena, const struct command *command, struct answer *answer,
              struct error *error)
{
    static const char *const month[] = { NAME_billing_month };
    struct bill *bill = arena_alloc(arena, sizeof *bill);
    struct bill_idle own = { 0 };
    struct values values;
    struct error ignored;
    *bill = (struct bill){ .arena = arena, .command = command, .section = section_new(arena),
                           .error = error };
    if (!read_words(command, error) || !open_bill(bill))
        return false;
    if (command_draws(command)) {
        bill->picture = picture_new(arena, arena_print(arena, "What a month of %s costs",
                                                       bill->workload.name));
        bill->picture->x = (struct picture_axis){ "a month", "USD", false, false, NAN, NAN };
    }
    add_workload(bill);
    if (!add_entries(bill))
        return false;
    const struct section *ranked = section_inside(bill->section, "ranked");
    answer->status = ranked && !ranked->inside_count;    /* nothing found */
    if (values_of(&bill->scenario, month, 1, &values, &ignored))
        basis_values(&bill->scenario, &values, NULL, 1, &bill->basis);
    basis_notes(&bill->scenario, &bill->basis);
    if (command_given(command, "own") && !bill_own(bill, &own, &answer->status))
        return false;
    note_idle(bill, &own);
    figures_notes(&bill->scenario, bill->section);
    answer->section = bill->section;
    answer->picture = bill->picture;
    section_document(bill->section, answer->doc);
    template_print(template_built_in(arena, "ask/bill/bill.template"), bill->section, &answer->text);
    if (command_text(command, "csv"))
        bill_csv(bill, &answer->csv);
    return true;
}

/* ---- the verb as declared ------------------------------------------------------------------- */

static const struct record workload_record = { "Workload", (const struct answer_field[]){
    { FIELD_TEXT, "name", .help = "of the workload", .always = true },
    { FIELD_TEXT, "gap", .help = "between turns, in words", .always = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_NUMBER, "mean_gap", .help = "between turns", .unit = "s", .always = true },
    { FIELD_ROWS, .names = workload_rows, .count = WORKLOAD_ROWS, .always = true },
    { FIELD_NUMBER, "task_prompt_tokens", .help = "of a task", .unit = "token", .always = true },
    { FIELD_NUMBER, "task_output_tokens", .help = "of a task", .unit = "token", .always = true },
    { FIELD_NUMBER, "longest_prompt", .help = "of a task", .unit = "token", .always = true },
    { 0 } } };

static const struct record scheme_record = { "Scheme", (const struct answer_field[]){
    { FIELD_ROWS, .count = 3, .always = true, .names = (const char *const[]){
          NAME_task_cost, NAME_month_cost, NAME_month_saving } },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "scheme", "scheme_name", "best" }, .count = 3 },
    { 0 } } };
static const struct record schemes_record = { "Schemes", (const struct answer_field[]){
    { FIELD_RECORD, .help = "one way to be billed", .names = scheme_words, .count = SCHEMES,
      .record = &scheme_record },
    { 0 } } };
static const struct record costs_record = { "SchemeCosts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "of a task in one way to be billed", .unit = "USD" },
    { 0 } } };

static const struct record entry_record = { "BilledEntry", (const struct answer_field[]){
    { FIELD_TEXT, "seller", .help = "name of the seller", .always = true },
    { FIELD_TEXT, "model", .help = "name of the model at this seller", .always = true },
    { FIELD_TEXT, "date", .help = "date of the prices", .always = true },
    { FIELD_TEXT, "suspicious", .help = "ratios outside the usual set; empty: none", .always = true },
    { FIELD_SWITCH, "takes_prompts", .help = "whether its context is long enough", .always = true },
    { FIELD_TEXT, "cheapest", .help = "the cheapest scheme without waiting", .names = scheme_words,
      .count = SCHEMES, .always = true },
    { FIELD_RECORD, NAME_task_cost, .help = "cost of a task by scheme, where the whole list is billed", .record = &costs_record },
    { FIELD_RECORD, "schemes", .help = "costs by scheme, where few entries are billed", .record = &schemes_record },
    { FIELD_ALSO, .record = &bill_habits_record },
    { FIELD_TEXT, "why", .help = "the command that explains its last turn" },
    { FIELD_TEXT_ONLY, .count = 12, .names = (const char *const[]){
          NAME_listed_input, NAME_listed_output, NAME_listed_hit, NAME_listed_write_short,
          NAME_listed_write_long, NAME_listed_storage, NAME_listed_threshold, NAME_month_cost,
          "takes_tokens", "cheapest_name", "best_cost", "saved" } },
    { 0 } } };

static const struct record cheapest_record = { "CheapestEntry", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 6, .names = (const char *const[]){
          "seller", "model", NAME_month_cost, NAME_month_saving, "dearest_ratio", "habit" } },
    { 0 } } };

static const struct record answer_bill = { "Bill", (const struct answer_field[]){
    { FIELD_RECORD, "workload", .help = "the workload that is billed", .record = &workload_record, .always = true },
    { FIELD_LIST, "entries", .help = "entries of the price list", .record = &entry_record, .always = true },
    { FIELD_TEXT, "file", .help = "name of the price list, where all of it is billed" },
    { FIELD_NUMBER, "billed", .help = "entries" },
    { FIELD_NUMBER, "suspicious", .help = "entries with unusual price ratios" },
    { FIELD_NUMBER, "too_short", .help = "entries whose context is too short for the prompts" },
    { FIELD_RECORD, "own", .help = "--own: the cost on own GPUs", .record = &bill_own_record },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_TEXT_ONLY, "ranked", .record = &entry_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "longest", "read", "kind", "shown" }, .count = 4 },
    { FIELD_TEXT_ONLY, "cheapest_entry", .record = &cheapest_record },
    { 0 } } };

static const struct option bill_list[] = {
    { "prices", "FILE", OPTION_FILE, .otherwise = "data/prices.csv, built in",
      .help = "price list: LiteLLM's JSON or models.dev's CSV" },
    { "model", "NAME", OPTION_TEXT, .help = "only these entries of the price list, comma-separated" },
    { "seller", "NAME", OPTION_TEXT, .help = "only entries of these sellers, comma-separated" },
    { "gap", "TIME", OPTION_TEXT, .otherwise = "the workload's",
      .help = "gap between turns: 30s, exponential(2min) or a CSV file" },
    { 0 } };
static const struct option own_list[] = {
    { "own", "MODEL", OPTION_TEXT, .help = "also the cost of this model on your own GPUs, by load" },
    { 0 } };
static const struct option_group bill_options = { "Prices", bill_list },
                                 own_options = { "Own machines", own_list };

const struct verb verb_bill = {
    "bill", "WORKLOAD",
    "Compute the cost of a workload at each seller, by caching mode, or on your own GPUs.",
    { "chalkline bill agent --model claude-opus-4-7",
      "chalkline bill agent --model deepseek-v3.2 --own deepseek-v3 --on h200-sxm --gpus 8",
      "chalkline bill my.workload --prices litellm.json --seller anthropic,openai" },
    { &bill_options, &own_options, &machine_options, &chip_options, &budget_options, &arrival_options, &think_options, &limit_options,
      &weight_options, &cache_options, &engine_options, &calibration_options, &assume_options, &price_options, &row_options, &table_options,
      &plot_options, &report_options, &output_options }, ANSWERS(answer_bill), .ask = ask_bill };
