/* market --schedule: the price list that the cost of serving a model implies, line by line.
 *
 * A tier is the cheapest deployment at a speed: as the limits say, 2.5 times as fast, 2.5 times as slow, and without a limit of
 * the speed. Each price is a cost, so that one margin over all of them is a price list; each line follows from a statement of the
 * lecture, and `eval` gives it again with the words of its tier. */
#include "ask/market/market.h"
#include "report/template.h"

#include "build/row_names.h"

#include <math.h>

struct schedule_tier {
    const char *name, *statement;
    double slower;                  /* TPOT over the TPOT of the base tier; INFINITY: without a limit */
};
static const struct schedule_tier tiers[] = {
    { "base", "batch.cost", 1 }, { "fast", "batch.fast_batch", 0.4 }, { "slow", "batch.slow_mode", 2.5 },
    { "batch", "batch.cost_floor", INFINITY } };
enum { TIERS = sizeof tiers / sizeof *tiers };

/* Prices of a line, and the statement that each follows from. */
enum { INPUT, OUTPUT, HIT, WRITE_SHORT, WRITE_LONG, KINDS, TOKEN = KINDS, PRICES };
static const char *const kinds[KINDS] = { "input", "output", "hit", "write_5m", "write_1h" };
static const char *const grounds[KINDS] = { "training.six", "prices.output_input", "prices.hit", "prices.write_short", "prices.hold" };
static const char *const hold[KINDS] = { [HIT] = NAME_hold_time "=5min", [WRITE_SHORT] = NAME_hold_time "=5min",
                                         [WRITE_LONG] = NAME_hold_time "=1h" };

static void add_line(struct market *market, const struct schedule_tier *tier, bool is_long, const struct market_served *served,
                     const double base[PRICES], double at[PRICES], struct section *list)
{
    struct arena *arena = market->arena;
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    section_word(line, "tier", tier->name);
    section_word(line, "prompt", is_long ? "long" : "short");
    section_word(line, "statement", is_long ? "prices.flat_then_linear" : tier->statement);
    if (served->why) {
        section_word(line, "reason", served->why);
        return;
    }
    section_quantity(line, NAME_prompt_tokens, served->prompt_tokens, "token");
    for (int k = 0; k < KINDS; k++) {
        const double kept = hold[k] ? market_eval(arena, market->command, served->words, NAME_cheapest_cost, "--set", hold[k]) : 0;
        at[k] = k == OUTPUT ? served->output : k == HIT ? kept : served->input + kept;
        section_quantity(line, kinds[k], at[k], "USD/token");
    }
    section_quantity(line, "token", at[TOKEN] = served->token, "USD/token");
    section_number(line, "over_base", base ? at[TOKEN] / base[TOKEN] : 1, unit_one);
    section_quantity(line, NAME_speed_per_user, 1 / served->tpot, "token/s");
    section_word(line, "machine", served->machine);
    section_word(line, "deployment", served->deployment);
    section_word(line, "input_row", served->input_row);
    section_word(line, "output_row", served->output_row);
    struct section *words = section_add(line, "words", SECTION_TEXTS);
    for (const struct doc *word = served->words->first; word; word = word->next)
        section_word(words, NULL, word->string);
}

bool market_schedule(struct market *market, const char *model, struct answer *answer)
{
    struct arena *arena = market->arena;
    struct section *section = section_new(arena), *list = section_add(section, "schedule", SECTION_LIST);
    const double longer = (double)command_count(market->command, "long");
    const char *length = arena_print(arena, "%.0f", longer), *precision, *cache;
    double base[PRICES], at[PRICES], tpot = NAN, prompt = NAN;
    if (!catalog_find(&market->catalog, CATALOG_MODEL, model, market->error) &&
        !catalog_model_called(arena, &market->catalog, model, &precision, &cache))
        return false;
    for (int i = 0; i < 2 * TIERS; i++) {
        const struct schedule_tier *tier = &tiers[i % TIERS];
        const bool is_long = i >= TIERS, first = !i;
        struct market_served served = { .model = model };
        struct market_option options[4];
        size_t count = 0;
        if (is_long)
            options[count++] = (struct market_option){ "isl", length };
        if (tier->slower == INFINITY)           /* the most that the option takes */
            options[count++] = (struct market_option){ "tpot", "5s" };
        else if (tier->slower != 1)
            options[count++] = (struct market_option){ "tpot", arena_print(arena, "%.6gs", tpot * tier->slower) };
        if (is_long)                            /* the usual limit, in proportion to the prompt */
            options[count++] = (struct market_option){ "ttft", arena_print(arena, "%.6gs", fmin(600, fmax(2, 2 * longer / prompt))) };
        else if (tier->slower > 1)
            options[count++] = (struct market_option){ "ttft", "60s" };
        market_serve_one(market, &served, options, count);
        if (first && served.why) {
            if (served.wrong)
                return false;
            error_set(market->error, "%s: %s", model, served.why);
            return error_expected(market->error, "a machine that serves it, or more --gpus");
        }
        tpot = first ? served.tpot : tpot;
        prompt = first ? served.prompt_tokens : prompt;
        add_line(market, tier, is_long, &served, first ? NULL : base, first ? base : at, list);
    }
    section_word(section, "subject", model)->text_only = true;
    struct section *rests = section_add(section, "statements", SECTION_RECORD);
    for (int k = 0; k < KINDS; k++)
        section_word(rests, kinds[k], grounds[k]);
    static const char *const columns[] = { "tier", "prompt", "input", "output", "hit", "write_5m", "write_1h", "token", "over_base",
                                           NAME_speed_per_user, "machine", "statement" };
    section_csv_of(list, columns, sizeof columns / sizeof *columns, &answer->csv);
    section_document(section, answer->doc);
    answer->section = section;
    template_print(template_built_in(arena, "ask/market/schedule.template"), section, &answer->text);
    return true;
}

const struct record market_schedule_record = { "MarketLine", (const struct answer_field[]){
    { FIELD_TEXT, "tier", .help = "base, fast, slow or batch", .always = true },
    { FIELD_TEXT, "prompt", .help = "short or long", .always = true },
    { FIELD_TEXT, "statement", .help = "of the lecture, that the line follows from", .always = true },
    { FIELD_TEXT, "reason", .help = "why there is no such line" },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_prompt_tokens, NAME_speed_per_user }, .count = 2, .help = "of its requests" },
    { FIELD_NUMBER, .names = kinds, .count = KINDS, .help = "cost of a token", .unit = "USD/token" },
    { FIELD_NUMBER, "token", .help = "cost of a token, prompt and output tokens counted alike", .unit = "USD/token" },
    { FIELD_NUMBER, "over_base", .help = "that over the one of the base" },
    { FIELD_TEXT, "machine", .help = "that serves it" }, { FIELD_TEXT, "deployment", .help = "the cheapest" },
    { FIELD_TEXT, "input_row", .help = "row of the input cost, for eval" }, { FIELD_TEXT, "output_row", .help = "of the output cost" },
    { FIELD_TEXTS, "words", .help = "of the deployment, for eval" }, { 0 } } };
