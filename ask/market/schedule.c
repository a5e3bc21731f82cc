/* market --schedule: the price list that the cost of serving a model implies, line by line.
 *
 * A tier (data/market.csv) is the cheapest deployment at a speed: as the limits say, as much faster as the lecture's fast mode, as much
 * slower, and without a limit of the speed. Each price is a cost, so that one margin over all of them is a price list; each line follows
 * from a statement of the lecture, and `eval` gives it again with the words of its tier. Ratios of two lines stand beside those that the
 * lecture states (data/disclosure_kinds.csv: said and line). */
#include "ask/market/market.h"
#include "catalog/sheet.h"
#include "report/template.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* Prices of a line, and the statement that each follows from. */
enum { INPUT, OUTPUT, HIT, WRITE_SHORT, WRITE_LONG, KINDS, TOKEN = KINDS, SPEED, PRICES };
static const char *const prices[PRICES] = { "input", "output", "hit", "write_5m", "write_1h", "token", "speed" };
static const char *const grounds[KINDS] = { "training.six", "prices.output_input", "prices.hit", "prices.write_short", "prices.hold" };
static const char *const hold[KINDS] = { [HIT] = NAME_hold_time "=5min", [WRITE_SHORT] = NAME_hold_time "=5min",
                                         [WRITE_LONG] = NAME_hold_time "=1h" };

/* A line: a tier's name, "long" for the base tier of long prompts, and its prices; NAN: there is none. */
struct priced {
    const char *tier;
    bool is_long;
    double at[PRICES];
};

static void add_line(struct market *market, const struct scenario *scenario, const char *statement, const struct market_served *served,
                     const struct priced *base, struct priced *line_at, struct section *list)
{
    struct arena *arena = market->arena;
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    double *at = line_at->at;
    section_word(line, "tier", line_at->tier);
    section_word(line, "prompt", line_at->is_long ? "long" : "short");
    section_word(line, "statement", line_at->is_long ? "prices.flat_then_linear" : statement);
    for (int k = 0; k < PRICES; k++)
        at[k] = NAN;
    if (served->why) {
        section_word(line, "reason", served->why);
        return;
    }
    section_quantity(line, NAME_prompt_tokens, served->prompt_tokens, "token");
    for (int k = 0; k < KINDS; k++) {
        const double kept = hold[k] ? market_eval(arena, market->command, served->words, NAME_cheapest_cost, "--set", hold[k]) : 0;
        at[k] = market_part(scenario, NAME_kind_cost, k == HIT ? 0 : k == OUTPUT ? served->output : served->input, kept);
        section_quantity(line, prices[k], at[k], "USD/token");
    }
    struct figure *token = section_quantity(line, "token", at[TOKEN] = served->token, "USD/token");
    token->low = served->token * served->cause[MARKET_BAND].low;
    token->high = served->token * served->cause[MARKET_BAND].high;
    section_quantity(line, "token_low", token->low, "USD/token");
    section_quantity(line, "token_high", token->high, "USD/token");
    section_number(line, "over_base", at[TOKEN] / (base ? base : line_at)->at[TOKEN], unit_one);
    section_quantity(line, NAME_speed_per_user, at[SPEED] = 1 / served->tpot, "token/s");
    section_word(line, "machine", served->machine);
    section_word(line, "deployment", served->deployment);
    section_word(line, "input_row", served->input_row);
    section_word(line, "output_row", served->output_row);
    struct section *words = section_add(line, "words", SECTION_TEXTS);
    for (const struct doc *word = served->words->first; word; word = word->next)
        section_word(words, NULL, word->string);
}

/* ---- beside the lecture ------------------------------------------------------------------------- */

/* "long.token" of the lines; NAN: there is none. */
static double price_named(const struct priced *lines, size_t count, const char *text, size_t size)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < PRICES; k++) {
            const char *tier = !lines[i].is_long ? lines[i].tier : i == count / 2 ? "long" : "";
            const size_t begin = strlen(tier);
            if (begin && size == begin + 1 + strlen(prices[k]) && !strncmp(text, tier, begin) && text[begin] == '.' &&
                !strncmp(text + begin + 1, prices[k], strlen(prices[k])))
                return lines[i].at[k];
        }
    return NAN;
}

/* What the lecture states of a price list, and the same of this one. */
static void add_said(const struct priced *lines, size_t count, struct section *list)
{
    const struct csv *kinds = csv_built_in("data/disclosure_kinds.csv");
    for (size_t i = 0; i < kinds->rows; i++) {
        const char *ratio = csv_cell(kinds, i, csv_column(kinds, "line")), *said = csv_cell(kinds, i, csv_column(kinds, "said"));
        const char *under = strchr(ratio, '/');
        double stated;
        if (!under)
            continue;
        const double here = price_named(lines, count, ratio, (size_t)(under - ratio)) /
                            price_named(lines, count, under + 1, strlen(under + 1));
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "ratio", ratio);
        section_word(one, "kind", csv_cell(kinds, i, csv_column(kinds, "kind")));
        section_word(one, "says", csv_cell(kinds, i, csv_column(kinds, "says")));
        section_word(one, "statement", csv_cell(kinds, i, csv_column(kinds, "statement")));
        const bool states = text_number(text_of(said), &stated);
        if (states)
            section_number(one, "said", stated, unit_one);
        if (isfinite(here))
            section_number(one, "here", here, unit_one);
        if (states && isfinite(here))
            section_number(one, "factor", here / stated, unit_one);
    }
}

/* ---- the schedule ------------------------------------------------------------------------------- */

static bool known_model(struct market *market, const char *model)
{
    const char *precision, *cache;
    return catalog_find(&market->catalog, CATALOG_MODEL, model, market->error) ||
           catalog_model_called(market->arena, &market->catalog, model, &precision, &cache);
}

/* The options of a tier: what its rows say in the place of the limits that were given. */
static bool limits_of(struct market *market, struct scenario *scenario, size_t tier, const struct market_served *base, bool is_long,
                      struct market_option options[4], size_t *count)
{
    struct arena *arena = market->arena;
    const char *slower = market_choice(tier, "slower"), *ttft = is_long ? NAME_long_ttft : market_choice(tier, "ttft");
    double factor, limit;
    *count = 0;
    if (is_long)
        options[(*count)++] = (struct market_option){ "isl", arena_print(arena, "%zu", command_count(market->command, "long")) };
    if (!*slower)                               /* the most that the option takes */
        options[(*count)++] = (struct market_option){ "tpot", "5s" };
    else if (strcmp(slower, "1")) {
        if (!value_of(scenario, slower, &factor, market->error))
            return false;
        options[(*count)++] = (struct market_option){ "tpot", arena_print(arena, "%.6gs", base->tpot * factor) };
    }
    if (*ttft) {
        facts_set(&scenario->facts, NAME_long_over_short, fmax(1, (double)command_count(market->command, "long") / base->prompt_tokens),
                  ORIGIN_AXIS, "market");
        if (!value_of(scenario, ttft, &limit, market->error))
            return false;
        options[(*count)++] = (struct market_option){ "ttft", arena_print(arena, "%.6gs", limit) };
    }
    return true;
}

/* Both lines of each tier, those of short prompts first; the number of lines. */
static bool add_lines(struct market *market, const char *model, struct scenario *scenario, struct priced *lines, size_t *count,
                      struct section *list)
{
    struct market_served base = { 0 };
    for (int is_long = 0; is_long < 2; is_long++)
        for (size_t tier = market_choice_next("tier", 0); tier != MARKET_NO_CHOICE; tier = market_choice_next("tier", tier + 1)) {
            struct market_served served = { .model = model };
            struct market_option options[4];
            size_t given = 0;
            const bool first = !*count;
            if (!first && !limits_of(market, scenario, tier, &base, is_long, options, &given))
                return false;
            market_serve_one(market, &served, options, given);
            if (first && served.wrong)
                return false;
            if (first && served.why) {
                error_set(market->error, "%s: %s", model, served.why);
                return error_expected(market->error, "a machine that serves it, or more --gpus");
            }
            base = first ? served : base;
            struct priced *line = &lines[(*count)++];
            *line = (struct priced){ market_choice(tier, "name"), is_long, { 0 } };
            add_line(market, scenario, market_choice(tier, "statement"), &served, first ? NULL : lines, line, list);
        }
    return true;
}

bool market_schedule(struct market *market, const char *model, struct answer *answer)
{
    static const char *const columns[] = { "tier", "prompt", "input", "output", "hit", "write_5m", "write_1h", "token", "token_low",
                                           "token_high", "over_base", NAME_speed_per_user, "machine", "ratio", "said", "here",
                                           "factor", "statement" };
    struct arena *arena = market->arena;
    struct section *section = section_new(arena), *list = section_add(section, "schedule", SECTION_LIST),
                   *said = section_add(section, "stated", SECTION_LIST), *both = section_new(arena);
    struct scenario scenario;
    struct priced *lines = arena_array(arena, 2 * csv_built_in(market_choices)->rows, sizeof *lines);
    size_t count = 0;
    if (!known_model(market, model) ||
        !scenario_read(&scenario, arena, command_only(arena, market->command, market_of_rows), command_no_subject(market->command),
                       market->error) ||
        !add_lines(market, model, &scenario, lines, &count, list))
        return false;
    add_said(lines, count, said);
    section_word(section, "subject", model)->text_only = true;
    struct section *rests = section_add(section, "statements", SECTION_RECORD);
    for (int k = 0; k < KINDS; k++)
        section_word(rests, prices[k], grounds[k]);
    both->kind = SECTION_LIST;
    for (size_t i = 0; i < list->inside_count + said->inside_count; i++)
        section_share(both, i < list->inside_count ? list->inside[i] : said->inside[i - list->inside_count]);
    section_csv_of(both, columns, sizeof columns / sizeof *columns, &answer->csv);
    section_document(section, answer->doc);
    answer->section = section;
    template_print(template_built_in(arena, "ask/market/schedule.template"), section, &answer->text);
    return true;
}

const struct record market_said_record = { "MarketSaid", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "ratio", "kind", "says", "statement" }, .count = 4,
      .help = "the prices of two lines, the kind of figure, what it is, and the lecture's statement", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "said", "here", "factor" }, .count = 3,
      .help = "what the lecture states, if it states a number; this schedule's ratio; its factor over the stated one" }, { 0 } } };
const struct record market_schedule_record = { "MarketLine", (const struct answer_field[]){
    { FIELD_TEXT, "tier", .help = "base, fast, slow or batch", .always = true },
    { FIELD_TEXT, "prompt", .help = "short or long", .always = true },
    { FIELD_TEXT, "statement", .help = "of the lecture, that the line follows from", .always = true },
    { FIELD_TEXT, "reason", .help = "why there is no such line" },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_prompt_tokens, NAME_speed_per_user }, .count = 2, .help = "of its requests" },
    { FIELD_NUMBER, .names = prices, .count = KINDS, .help = "cost of a token", .unit = "USD/token" },
    { FIELD_NUMBER, .names = (const char *const[]){ "token", "token_low", "token_high" }, .count = 3,
      .help = "cost of a token, prompt and output tokens counted alike, and its 80 % interval by the prediction's", .unit = "USD/token" },
    { FIELD_NUMBER, "over_base", .help = "that over the one of the base" },
    { FIELD_TEXT, "machine", .help = "that serves it" }, { FIELD_TEXT, "deployment", .help = "the cheapest" },
    { FIELD_TEXT, "input_row", .help = "row of the input cost, for eval" }, { FIELD_TEXT, "output_row", .help = "of the output cost" },
    { FIELD_TEXTS, "words", .help = "of the deployment, for eval" }, { 0 } } };
