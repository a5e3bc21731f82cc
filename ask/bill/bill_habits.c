/* What changes of habit would save in a bill, and from which pause each caching scheme is cheaper.
 *
 * Every habit (a stable prefix, staying below the long-context step, shorter outputs, fewer turns,
 * compaction, waiting for batch prices) is the same rows at another point, compared with the
 * cheapest scheme now. The pause at which the cheapest scheme changes is bracketed on a
 * logarithmic grid of mean gaps and then narrowed. A habit that does not apply is not listed. */
#include "ask/bill/bill.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>

enum { TURNS_TRIED = 200 };         /* between two compactions, at most */

/* The entry of the price list whose savings are listed. */
struct habits {
    struct bill *bill;
    const struct price *price;
    const struct bill_cost *now;
    struct section *list;           /* of habits */
};

static double best_of(const struct bill_cost *cost)
{
    return cost->task[cost->best];
}

/* ---- habits ------------------------------------------------------------------------------- */

static void add_saving(const struct habits *habits, const char *key, const char *habit, double saving,
                       const char *how)
{
    struct section *one = section_add(habits->list, key, SECTION_RECORD);
    bill_figure(habits->bill, one, NAME_month_saving, saving);
    section_word(one, "how", how);
    section_word(one, "habit", habit)->text_only = true;
}

/* A habit that is one row at another value; another scheme may then be the cheapest. */
static void add_habit(const struct habits *habits, const char *key, const char *habit,
                      struct bill_change change, const char *how)
{
    struct bill *bill = habits->bill;
    const struct bill_cost then = bill_cost(bill, habits->price, change);
    if (then.best != habits->now->best)
        how = arena_print(bill->arena, "%s; then %s", how, schemes[then.best].name);
    add_saving(habits, key, habit,
               bill_task_row(bill, NAME_month_saving, best_of(&then), best_of(habits->now)), how);
}

/* Prompts that stay below the long-context step: older turns left out, which changes every prompt from
 * its front on, or compaction, as rarely as the step allows, whichever costs less. Neither helps where
 * a task begins with more. */
static void under_the_step(const struct habits *habits)
{
    static const char key[] = "under_the_step", habit[] = "below the long-context step";
    struct bill *bill = habits->bill;
    const double threshold = habits->price->threshold;
    if (!(threshold > 0 && threshold < habits->now->prompt_most) ||
        bill_number(bill, NAME_turn_least) > threshold)
        return;
    struct bill_cost written = { 0 };
    double n = fmin(bill->turns - 1, TURNS_TRIED);
    for (; n >= 1; n--) {
        written = bill_cost(bill, habits->price, (struct bill_change){ NAME_compaction_turns, n });
        if (written.prompt_most <= threshold)
            break;
    }
    const struct bill_change cut = { NAME_prompt_limit, threshold };
    const struct bill_cost left_out = bill_cost(bill, habits->price, cut);
    if (n >= 1 && best_of(&written) < best_of(&left_out))
        add_habit(habits, key, habit, (struct bill_change){ NAME_compaction_turns, n },
                  arena_print(bill->arena, "by compaction every %.0f turns", n));
    else
        add_habit(habits, key, habit, cut,
                  arena_print(bill->arena, "older turns left out above %.0f k", threshold / 1000));
}

/* Try compaction after every n turns and keep the cheapest n. */
static void compaction(const struct habits *habits)
{
    struct bill *bill = habits->bill;
    const double turns = fmin(bill->turns, TURNS_TRIED + 1);
    double best = 0, least = INFINITY;
    for (double n = 1; n < turns; n++) {
        const struct bill_cost then = bill_cost(bill, habits->price,
                                                (struct bill_change){ NAME_compaction_turns, n });
        if (best_of(&then) < least)
            least = best_of(&then), best = n;
    }
    if (best > 0 && best != bill->compaction_turns)
        add_habit(habits, "compaction", "compaction",
                  (struct bill_change){ NAME_compaction_turns, best },
                  arena_print(bill->arena, least < best_of(habits->now)
                              ? "every %.0f turns, the best number"
                              : "none saves; every %.0f turns costs least", best));
}

static void add_habits(const struct habits *habits)
{
    struct bill *bill = habits->bill;
    const double repeating = bill_number(bill, NAME_repeating_share);
    const double shorter = bill_number(bill, NAME_shorter_output);
    const double turns = bill_number(bill, NAME_task_turns);
    const double can_wait = bill_number(bill, NAME_can_wait_share);
    if (repeating < 1)
        add_habit(habits, "stable_prefix", "stable prefix first",
                  (struct bill_change){ NAME_repeating_share, 1 },
                  arena_print(bill->arena, "the whole prefix, not %.3g %% of it", 100 * repeating));
    under_the_step(habits);
    add_habit(habits, NAME_shorter_output, "shorter outputs",
              (struct bill_change){ NAME_turn_output, bill_number(bill, NAME_turn_output) * shorter },
              arena_print(bill->arena, "%.3g %% of the tokens", 100 * shorter));
    if (turns > 1)
        add_habit(habits, "fewer_turns", "one turn fewer",
                  (struct bill_change){ NAME_task_turns, turns - 1 },
                  arena_print(bill->arena, "%.0f of %.0f", turns - 1, turns));
    compaction(habits);
    for (int i = 0; i < SCHEMES && can_wait > 0; i++)
        if (schemes[i].waits && habits->now->task[i] > 0 && habits->now->task[i] < best_of(habits->now))
            add_saving(habits, schemes[i].word, schemes[i].name,
                       bill_task_row(bill, NAME_waiting_saving, habits->now->task[i],
                                     best_of(habits->now)),
                       arena_print(bill->arena, "for the %.3g %% that can wait", 100 * can_wait));
}

/* ---- when caches pay ---------------------------------------------------------------------- */

enum { GRID = 97, ROUNDS = 4 };
static const double GAP_LEAST = 1, GAP_MOST = 3e6;

/* The cheapest scheme at each point of a grid of mean gaps from low to high: of all schemes where
 * `one` is no caching, else of that one and no caching. */
static void choose_scheme(const struct habits *habits, enum scheme one, double low, double high, double *mean,
                          enum scheme *chosen)
{
    struct bill_point points[GRID];
    struct bill_cost costs[GRID];
    const struct caching_rule *rule = caching_find(&habits->bill->caching, habits->price);
    for (size_t i = 0; i < GRID; i++) {
        mean[i] = log_between(low, high, (double)i / (GRID - 1));
        points[i] = (struct bill_point){ habits->price, rule, mean[i] };
    }
    bill_costs(habits->bill, points, GRID, (struct bill_change){ NULL, 0 }, costs);
    for (size_t i = 0; i < GRID; i++)
        chosen[i] = one == SCHEME_PLAIN ? costs[i].best
                    : costs[i].task[one] < costs[i].task[SCHEME_PLAIN] ? one : SCHEME_PLAIN;
}

/* The mean gap at which the cheapest scheme changes, between two where it differs: each round takes
 * the first step of a finer grid in which it does. */
static double change_between(const struct habits *habits, enum scheme one, double low, double high)
{
    for (int round = 0; round < ROUNDS; round++) {
        double mean[GRID];
        enum scheme chosen[GRID];
        size_t i = 0;
        choose_scheme(habits, one, low, high, mean, chosen);
        while (i + 2 < GRID && chosen[i + 1] == chosen[0])
            i++;
        low = mean[i], high = mean[i + 1];
    }
    return low;
}

/* Each change of the cheapest scheme as the gaps get longer; for people in a line of `lines`, such as
 * "short-lived writes; from 68.6 s long-lived writes". */
static void add_changes(const struct habits *habits, enum scheme one, struct section *list,
                        struct section *lines)
{
    struct buffer then = { .arena = habits->bill->arena };
    double mean[GRID];
    enum scheme chosen[GRID];
    choose_scheme(habits, one, GAP_LEAST, GAP_MOST, mean, chosen);
    buffer_print(&then, "%s", schemes[chosen[0]].name);
    for (size_t i = 0; i + 1 < GRID; i++) {
        if (chosen[i] == chosen[i + 1])
            continue;
        const double gap = change_between(habits, one, mean[i], mean[i + 1]);
        struct section *change = section_add(list, NULL, SECTION_RECORD);
        section_word(change, "cheaper_below", schemes[chosen[i]].word);
        section_word(change, "cheaper_above", schemes[chosen[i + 1]].word);
        section_number(change, "mean_gap", gap, unit_second);
        buffer_print(&then, "; from %s on %s", quantity_text(then.arena, gap, unit_second, 3),
                     schemes[chosen[i + 1]].name);
    }
    struct section *line = section_add(lines, NULL, SECTION_RECORD);
    section_word(line, "choice", one == SCHEME_PLAIN ? "all modes"
                 : arena_print(then.arena, "%s or no caching", schemes[one].name));
    section_word(line, "cheapest_then", then.data);
}

/* Number of hits after which a write has paid for itself: rows of formulas/prices/prices.chalk. */
static void add_hits_to_pay(const struct habits *habits, struct section *entry)
{
    const double *price = habits->price->at[SERVICE_STANDARD][0];
    static const struct { const char *fact, *row; enum price_class class; enum scheme scheme; }
    writes[] = {
        { NAME_write_price_short, NAME_hits_to_pay_short, PRICE_WRITE_SHORT, SCHEME_SHORT },
        { NAME_write_price_long, NAME_hits_to_pay_long, PRICE_WRITE_LONG, SCHEME_LONG },
    };
    for (size_t i = 0; i < 2; i++) {
        struct scenario scenario = habits->bill->scenario;
        struct error ignored;
        double hits;
        if (isnan(habits->now->task[writes[i].scheme]))
            continue;
        facts_set(&scenario.facts, NAME_hit_ratio, price[PRICE_HIT] / price[PRICE_INPUT], ORIGIN_DERIVED,
                  "bill");
        facts_set(&scenario.facts, writes[i].fact, price[writes[i].class] / price[PRICE_INPUT],
                  ORIGIN_DERIVED, "bill");
        if (value_of(&scenario, writes[i].row, &hits, &ignored))
            bill_figure(habits->bill, entry, writes[i].row, hits);
    }
}

void bill_habits(struct bill *bill, const struct price_reading *reading, const struct bill_cost *now,
                 struct section *entry)
{
    const struct habits habits = { .bill = bill, .price = reading->price, .now = now,
                                   .list = section_add(entry, "habits", SECTION_KEYED) };
    struct section *by_gap = section_add(entry, "cheapest_by_gap", SECTION_LIST);
    struct section *lines = section_add(entry, "by_gap", SECTION_LIST);
    size_t caches = 0;
    lines->text_only = true;
    add_habits(&habits);
    for (int i = SCHEME_PLAIN + 1; i < SCHEMES; i++)
        caches += !schemes[i].waits && isfinite(now->task[i]);
    if (!caches)
        return;
    add_changes(&habits, SCHEME_PLAIN, by_gap, lines);
    struct section *against = section_add(entry, "against_none_by_gap", SECTION_LIST);
    for (int i = SCHEME_PLAIN + 1; i < SCHEMES && caches > 1; i++)
        if (!schemes[i].waits && !isnan(now->task[i]))
            add_changes(&habits, (enum scheme)i, against, lines);
    add_hits_to_pay(&habits, entry);
}

static const struct record habit_record = { "Habit", (const struct answer_field[]){
    { FIELD_ROWS, .names = (const char *const[]){ NAME_month_saving }, .count = 1, .always = true },
    { FIELD_TEXT, "how", .help = "the change that saves this", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "habit" }, .count = 1 },
    { 0 } } };
static const struct record habits_record = { "Habits", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a habit, by its name", .record = &habit_record },
    { 0 } } };

static const struct record change_record = { "CheaperByGap", (const struct answer_field[]){
    { FIELD_TEXT, "cheaper_below", .help = "this way", .names = scheme_words, .count = SCHEMES,
      .always = true },
    { FIELD_TEXT, "cheaper_above", .help = "that way", .names = scheme_words, .count = SCHEMES,
      .always = true },
    { FIELD_NUMBER, "mean_gap", .help = "where both cost the same", .unit = "s", .always = true },
    { 0 } } };
static const struct record line_record = { "GapLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "choice", "cheapest_then" }, .count = 2 },
    { 0 } } };

const struct record bill_habits_record = { "EntryHabits", (const struct answer_field[]){
    { FIELD_RECORD, "habits", .help = "saving by each habit", .record = &habits_record },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_hits_to_pay_short, NAME_hits_to_pay_long },
      .count = 2 },
    { FIELD_LIST, "cheapest_by_gap", .help = "mean gaps at which another scheme becomes cheaper", .record = &change_record },
    { FIELD_LIST, "against_none_by_gap", .help = "the same against no caching",
      .record = &change_record },
    { FIELD_TEXT_ONLY, "by_gap", .record = &line_record },
    { 0 } } };
