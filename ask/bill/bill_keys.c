/* The keys of the answer of `bill`, as records for the API and its schemas.
 *
 * A key that is a row has the row's unit and meaning; the others are declared here with their own. */
#include "ask/bill/bill.h"

#include "build/row_names.h"

static const char *const words[SCHEMES] = {
#define SCHEME(key, word, waits, name) #word,
    BILL_SCHEMES(SCHEME)
#undef SCHEME
};

static const char *const workload_rows[] = { NAME_task_requests, NAME_task_rate, NAME_task_turns,
                                             NAME_repeating_share, NAME_fixed_prefix,
                                             NAME_can_wait_share };

static const struct record workload_record = { "Workload", (const struct answer_field[]){
    { FIELD_TEXT, "name", .help = "of the workload", .always = true },
    { FIELD_TEXT, "gap", .help = "between turns, in words", .always = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_NUMBER, "mean_gap", .help = "between turns", .unit = "s", .always = true },
    { FIELD_ROWS, .names = workload_rows, .count = sizeof workload_rows / sizeof *workload_rows,
      .always = true },
    { FIELD_NUMBER, "task_prompt_tokens", .help = "of a task", .unit = "token", .always = true },
    { FIELD_NUMBER, "task_output_tokens", .help = "of a task", .unit = "token", .always = true },
    { FIELD_NUMBER, "longest_prompt", .help = "of a task", .unit = "token", .always = true },
    { 0 } } };

static const char *const scheme_rows[] = { NAME_task_cost, NAME_month_cost, NAME_month_saving };

static const struct record scheme_record = { "Scheme", (const struct answer_field[]){
    { FIELD_ROWS, .names = scheme_rows, .count = 3, .always = true },
    { 0 } } };
static const struct record schemes_record = { "Schemes", (const struct answer_field[]){
    { FIELD_RECORD, .help = "one way to be billed", .names = words, .count = SCHEMES,
      .record = &scheme_record },
    { 0 } } };
static const struct record costs_record = { "SchemeCosts", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "of a task in one way to be billed", .unit = "USD" },
    { 0 } } };

static const char *const saving_rows[] = { NAME_month_saving };

static const struct record habit_record = { "Habit", (const struct answer_field[]){
    { FIELD_ROWS, .names = saving_rows, .count = 1, .always = true },
    { FIELD_TEXT, "how", .help = "what it changes", .always = true },
    { 0 } } };
static const struct record habits_record = { "Habits", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a habit, by its name", .record = &habit_record },
    { 0 } } };

static const struct record change_record = { "CheaperByGap", (const struct answer_field[]){
    { FIELD_TEXT, "cheaper_below", .help = "this way", .names = words, .count = SCHEMES,
      .always = true },
    { FIELD_TEXT, "cheaper_above", .help = "that way", .names = words, .count = SCHEMES,
      .always = true },
    { FIELD_NUMBER, "mean_gap", .help = "where both cost the same", .unit = "s", .always = true },
    { 0 } } };

static const char *const hit_rows[] = { NAME_hits_to_pay_short, NAME_hits_to_pay_long };

static const struct record entry_record = { "BilledEntry", (const struct answer_field[]){
    { FIELD_TEXT, "seller", .help = "name of the seller", .always = true },
    { FIELD_TEXT, "model", .help = "name of the model at this seller", .always = true },
    { FIELD_TEXT, "date", .help = "date of the prices", .always = true },
    { FIELD_TEXT, "suspicious", .help = "ratios outside the usual set; empty: none", .always = true },
    { FIELD_SWITCH, "takes_prompts", .help = "whether its context is long enough", .always = true },
    { FIELD_TEXT, "cheapest", .help = "the cheapest scheme without waiting", .names = words, .count = SCHEMES,
      .always = true },
    { FIELD_RECORD, NAME_task_cost, .help = "cost of a task by scheme, where the whole list is billed",
      .record = &costs_record },
    { FIELD_RECORD, "schemes", .help = "costs by scheme, where few entries are billed",
      .record = &schemes_record },
    { FIELD_RECORD, "habits", .help = "saving by each habit", .record = &habits_record },
    { FIELD_ROWS, .names = hit_rows, .count = 2 },
    { FIELD_LIST, "cheapest_by_gap", .help = "mean gaps at which another scheme becomes cheaper",
      .record = &change_record },
    { FIELD_LIST, "against_none_by_gap", .help = "the same against no caching",
      .record = &change_record },
    { FIELD_TEXT, "why", .help = "the command that explains its last turn" },
    { 0 } } };

static const char *const load_rows[] = { NAME_task_rate, NAME_own_servers, NAME_own_task_cost,
                                         NAME_task_cost };

static const struct record load_record = { "OwnLoad", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this load again", .always = true },
    { FIELD_ROWS, .names = load_rows, .count = 4, .always = true },
    { 0 } } };

static const char *const own_rows[] = {
    NAME_own_request_rate, NAME_server_task_rate, NAME_server_price, NAME_prefix_hit_share, NAME_own_life,
    NAME_own_cache_lasts, NAME_own_pays_rate, NAME_own_pays_surely };

static const struct record own_record = { "OwnMachines", (const struct answer_field[]){
    { FIELD_TEXT, "verdict", .help = "why there is no such server" },
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_TEXT, "machine", .help = "title of the machine" },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again" },
    { FIELD_ROWS, .names = own_rows, .count = sizeof own_rows / sizeof *own_rows },
    { FIELD_LIST, "loads", .help = "cost of a task against load", .record = &load_record },
    { 0 } } };

const struct record answer_bill = { "Bill", (const struct answer_field[]){
    { FIELD_RECORD, "workload", .help = "the workload that is billed", .record = &workload_record,
      .always = true },
    { FIELD_LIST, "entries", .help = "entries of the price list", .record = &entry_record, .always = true },
    { FIELD_TEXT, "file", .help = "name of the price list, where all of it is billed" },
    { FIELD_NUMBER, "billed", .help = "entries" },
    { FIELD_NUMBER, "suspicious", .help = "entries with unusual price ratios" },
    { FIELD_NUMBER, "too_short", .help = "entries whose context is too short for the prompts" },
    { FIELD_RECORD, "own", .help = "--own: the cost on own GPUs", .record = &own_record },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { 0 } } };
