/* What changes of habit would save in a bill, and from which pause each caching scheme is cheaper.
 *
 * Every habit (a stable prefix, staying below the long-context step, shorter outputs, fewer turns,
 * compaction, waiting for batch prices) is the same rows at another point, compared with the
 * cheapest scheme now. The pause at which the cheapest scheme changes is bracketed on a
 * logarithmic grid of mean gaps and then bisected. A habit that saves nothing is not listed. */
#include "ask/bill/bill.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { TURNS_TRIED = 200 };         /* between two compactions, at most */

struct habits {
    struct bill *bill;
    const struct reading *reading;
    const struct bill_cost *now;
    struct table table;
    struct doc *doc;
};

static double best_of(const struct bill_cost *cost)
{
    return cost->task[cost->best];
}

/* `words`: the habit; `then`: what a task costs with it. */
static void add_saving(struct habits *habits, const char *key, const char *words, double saving,
                       const char *how)
{
    struct bill *bill = habits->bill;
    struct doc *one = doc_add(bill->arena, habits->doc, key, DOC_OBJECT);
    doc_add_number(bill->arena, one, NAME_month_saving, saving);
    doc_add_string(bill->arena, one, "how", how);
    table_cell(&habits->table, "%s", words);
    table_cell(&habits->table, "%s", bill_usd(bill, saving));
    table_cell(&habits->table, "%s", how);
}

static void add_habit(struct habits *habits, const char *key, const char *words,
                      struct bill_change change, const char *how)
{
    struct bill *bill = habits->bill;
    struct bill_cost then = bill_cost(bill, habits->reading->price, change);
    if (then.best != habits->now->best)
        how = arena_print(bill->arena, "%s; then %s", how, schemes[then.best].name);
    add_saving(habits, key, words,
               bill_task_row(bill, NAME_month_saving, best_of(&then), best_of(habits->now)), how);
}

/* ---- habits ------------------------------------------------------------------------------- */

static void stable_prefix(struct habits *habits)
{
    double share = bill_number(habits->bill, NAME_repeating_share);
    if (share < 1)
        add_habit(habits, "stable_prefix", "stable prefix first",
                  (struct bill_change){ NAME_repeating_share, 1 },
                  arena_print(habits->bill->arena, "the whole prefix, not %.3g %% of it", 100 * share));
}

/* The most turns between two compactions that keep every prompt below a length; 0: none do. */
static double compaction_below(const struct habits *habits, double tokens)
{
    double n = fmin(habits->bill->turns - 1, TURNS_TRIED);
    for (; n >= 1; n--) {
        struct bill_cost then = bill_cost(habits->bill, habits->reading->price,
                                          (struct bill_change){ NAME_compaction_turns, n });
        if (then.prompt_most <= tokens)
            break;
    }
    return n;
}

/* Older turns left out, which changes every prompt from its front on, or compaction: what costs
 * less. Neither helps where a task begins with more. */
static void under_the_step(struct habits *habits)
{
    struct bill *bill = habits->bill;
    const struct price *price = habits->reading->price;
    double threshold = price->threshold;
    if (!(threshold > 0 && threshold < habits->now->prompt_most) ||
        bill_number(bill, NAME_turn_least) > threshold)
        return;
    double n = compaction_below(habits, threshold);
    struct bill_change cut = { NAME_prompt_limit, threshold }, summed = { NAME_compaction_turns, n };
    struct bill_cost short_ = bill_cost(bill, price, cut), written = bill_cost(bill, price, summed);
    if (n >= 1 && best_of(&written) < best_of(&short_))
        add_habit(habits, "under_the_step", "below the long-context step", summed,
                  arena_print(bill->arena, "by compaction every %.0f turns", n));
    else
        add_habit(habits, "under_the_step", "below the long-context step", cut,
                  arena_print(bill->arena, "older turns left out above %.0f k", threshold / 1000));
}

static void shorter_output(struct habits *habits)
{
    struct bill *bill = habits->bill;
    double share = bill_number(bill, NAME_shorter_output);
    add_habit(habits, NAME_shorter_output, "shorter outputs",
              (struct bill_change){ NAME_turn_output, bill_number(bill, NAME_turn_output) * share },
              arena_print(bill->arena, "%.3g %% of the tokens", 100 * share));
}

static void fewer_turns(struct habits *habits)
{
    double turns = bill_number(habits->bill, NAME_task_turns);
    if (turns > 1)
        add_habit(habits, "fewer_turns", "one turn fewer",
                  (struct bill_change){ NAME_task_turns, turns - 1 },
                  arena_print(habits->bill->arena, "%.0f of %.0f", turns - 1, turns));
}

/* Try compaction after every n turns and keep the cheapest n. */
static void compaction(struct habits *habits)
{
    struct bill *bill = habits->bill;
    double turns = fmin(bill->turns, TURNS_TRIED + 1), best = 0, least = INFINITY;
    for (double n = 1; n < turns; n++) {
        struct bill_cost then = bill_cost(bill, habits->reading->price,
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

static void waiting(struct habits *habits)
{
    struct bill *bill = habits->bill;
    const struct bill_cost *now = habits->now;
    double share = bill_number(bill, NAME_can_wait_share);
    for (int i = 0; i < SCHEMES && share > 0; i++)
        if (schemes[i].waits && now->task[i] > 0)
            add_saving(habits, schemes[i].word, schemes[i].name,
                       bill_task_row(bill, NAME_waiting_saving, now->task[i], best_of(now)),
                       arena_print(bill->arena, "for the %.3g %% that can wait", 100 * share));
}

/* ---- when caches pay ---------------------------------------------------------------------- */

enum { GRID = 97, ROUNDS = 4 };
static const double GAP_LEAST = 1, GAP_MOST = 3e6;

/* The cheapest scheme at a mean gap, among all schemes, or between one scheme and no caching. */
typedef enum scheme chooser(const struct bill_cost *cost, enum scheme one);

static enum scheme of_all(const struct bill_cost *cost, enum scheme one)
{
    (void)one;
    return cost->best;
}

static enum scheme of_two(const struct bill_cost *cost, enum scheme one)
{
    return cost->task[one] < cost->task[SCHEME_PLAIN] ? one : SCHEME_PLAIN;
}

/* The cheapest scheme at each point of a grid of mean gaps from low to high. */
static void choose(const struct habits *habits, chooser *choice, enum scheme one, double low,
                   double high, double *mean, enum scheme *chosen)
{
    struct bill_point points[GRID];
    struct bill_cost costs[GRID];
    const struct price *price = habits->reading->price;
    const struct rule *rule = caching_find(&habits->bill->caching, price);
    for (size_t i = 0; i < GRID; i++) {
        mean[i] = log_between(low, high, (double)i / (GRID - 1));
        points[i] = (struct bill_point){ price, rule, mean[i] };
    }
    bill_costs(habits->bill, points, GRID, (struct bill_change){ NULL, 0 }, costs);
    for (size_t i = 0; i < GRID; i++)
        chosen[i] = choice(&costs[i], one);
}

/* Bisect for the mean gap at which the cheapest scheme changes, between two where it differs. */
static double change_between(const struct habits *habits, chooser *choice, enum scheme one,
                             double low, double high)
{
    for (int round = 0; round < ROUNDS; round++) {
        double mean[GRID];
        enum scheme chosen[GRID];
        size_t i = 0;
        choose(habits, choice, one, low, high, mean, chosen);
        while (i + 2 < GRID && chosen[i + 1] == chosen[0])
            i++;
        low = mean[i], high = mean[i + 1];
    }
    return low;
}

static void add_change(const struct habits *habits, struct doc *list, enum scheme from,
                       enum scheme to, double gap)
{
    struct doc *doc = doc_add(habits->bill->arena, list, NULL, DOC_OBJECT);
    doc_add_string(habits->bill->arena, doc, "cheaper_below", schemes[from].word);
    doc_add_string(habits->bill->arena, doc, "cheaper_above", schemes[to].word);
    doc_add_number(habits->bill->arena, doc, "mean_gap", gap);
}

/* "short-lived writes; from a mean gap of 68.6 s long-lived writes; ..." */
static void tell_changes(const struct habits *habits, chooser *choice, enum scheme one,
                         struct doc *list)
{
    struct arena *arena = habits->bill->arena;
    struct buffer *out = &habits->bill->answer->text;
    double mean[GRID];
    enum scheme chosen[GRID];
    choose(habits, choice, one, GAP_LEAST, GAP_MOST, mean, chosen);
    buffer_print(out, "%s", schemes[chosen[0]].name);
    for (size_t i = 0; i + 1 < GRID; i++) {
        if (chosen[i] == chosen[i + 1])
            continue;
        double gap = change_between(habits, choice, one, mean[i], mean[i + 1]);
        add_change(habits, list, chosen[i], chosen[i + 1], gap);
        buffer_print(out, "; from %s %s", quantity_text(arena, gap, unit_second, 3),
                     schemes[chosen[i + 1]].name);
    }
    buffer_print(out, "\n");
}

/* Number of hits after which a write has paid for itself: rows of formulas/prices/prices.chalk. */
static void hits_to_pay(const struct habits *habits, struct doc *doc)
{
    struct bill *bill = habits->bill;
    const double *price = habits->reading->price->at[SERVICE_STANDARD][0];
    static const struct { const char *fact, *row; enum price_class class; enum scheme scheme; }
    writes[] = {
        { NAME_write_price_short, NAME_hits_to_pay_short, PRICE_WRITE_SHORT, SCHEME_SHORT },
        { NAME_write_price_long, NAME_hits_to_pay_long, PRICE_WRITE_LONG, SCHEME_LONG },
    };
    for (size_t i = 0; i < 2; i++) {
        struct scenario scenario = bill->scenario;
        struct error ignored;
        double hits;
        if (isnan(habits->now->task[writes[i].scheme]))
            continue;
        facts_set(&scenario.facts, NAME_hit_ratio, price[PRICE_HIT] / price[PRICE_INPUT], ORIGIN_DERIVED, "bill");
        facts_set(&scenario.facts, writes[i].fact, price[writes[i].class] / price[PRICE_INPUT],
                  ORIGIN_DERIVED, "bill");
        if (!value_of(&scenario, writes[i].row, &hits, &ignored))
            continue;
        doc_add_number(bill->arena, doc, writes[i].row, hits);
        buffer_print(&bill->answer->text, "%s pay after %.3g hits of a token\n",
                     schemes[writes[i].scheme].name, hits);
    }
}

static void when_they_pay(const struct habits *habits, struct doc *doc)
{
    struct buffer *out = &habits->bill->answer->text;
    struct doc *list = doc_add(habits->bill->arena, doc, "cheapest_by_gap", DOC_ARRAY);
    size_t caches = 0;
    for (int i = SCHEME_PLAIN + 1; i < SCHEMES; i++)
        caches += !schemes[i].waits && isfinite(habits->now->task[i]);
    if (!caches)
        return;
    buffer_print(out, "\ncheapest by mean gap: ");
    tell_changes(habits, of_all, SCHEME_PLAIN, list);
    list = doc_add(habits->bill->arena, doc, "against_none_by_gap", DOC_ARRAY);
    for (int i = SCHEME_PLAIN + 1; i < SCHEMES && caches > 1; i++) {
        if (schemes[i].waits || isnan(habits->now->task[i]))
            continue;
        buffer_print(out, "  against none: ");
        tell_changes(habits, of_two, (enum scheme)i, list);
    }
    hits_to_pay(habits, doc);
}

void bill_habits(struct bill *bill, const struct reading *reading, const struct bill_cost *now,
                 struct doc *doc)
{
    struct habits habits = { .bill = bill, .reading = reading, .now = now,
                             .table = { .arena = bill->arena, .columns = 3, .left = "lrl" },
                             .doc = doc_add(bill->arena, doc, "habits", DOC_OBJECT) };
    table_cell(&habits.table, "habit");
    table_cell(&habits.table, "saves per month");
    table_cell(&habits.table, "%s", "");
    stable_prefix(&habits);
    under_the_step(&habits);
    shorter_output(&habits);
    fewer_turns(&habits);
    compaction(&habits);
    waiting(&habits);
    buffer_print(&bill->answer->text, "\n");
    table_print(&habits.table, &bill->answer->text, "  ");
    when_they_pay(&habits, doc);
}
