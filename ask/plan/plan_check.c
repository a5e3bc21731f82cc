/* The command that evaluates the best point of a plan by itself: its layout, and the other inputs that are not what
 * `eval` takes without being told.
 *
 * An input is left out if the figures are the same without it, to the bit. Of most inputs that is known from the graph
 * of the figures as they are:
 *
 * 1. No figure reads the input: its row is not reached, or has no node.
 * 2. The row is a default number, in the graph an input like the others: the graph is evaluated once more with it.
 * 3. Else the row is an expression, which some AT may read elsewhere with other numbers: a graph is built without the
 *    input, which costs fifty times as much, and takes the place of the first if the input is left out.
 *
 * The first two hold only where no expression asks whether the input is given, and where the choices for `eval`
 * (scenario_choose) set no other input. */
#include "ask/plan/plan.h"

#include "build/row_names.h"

#include <string.h>

enum { CHECK_ROWS = 3 };

struct layout_trial {
    struct scenario read;           /* with the inputs that are left */
    const char *const *rows;        /* [CHECK_ROWS] */
    struct values values;           /* of the rows there */
    bool chosen;                    /* a choice was made for them, which the facts of `read` lack */
    bool *asked;                    /* [rows] some expression asks whether the row is given */
    bool *reached;                  /* [rows] the figures read the row */
};

/* False: the rows cannot be read under these facts. */
static bool find_reached(struct layout_trial *trial, const struct facts *facts)
{
    const struct formulas *formulas = &trial->read.formulas;
    const struct expr *wanted[CHECK_ROWS];
    bool *reached = arena_array(trial->read.arena, formulas->count + 1, sizeof *reached);
    struct error ignored;
    for (int i = 0; i < CHECK_ROWS; i++)
        if (!expr_parse(formulas, NULL, 0, text_of(trial->rows[i]), &wanted[i], &ignored))
            return false;
    if (!graph_reach(formulas, facts, wanted, CHECK_ROWS, reached, &ignored))
        return false;
    trial->reached = reached;
    return true;
}

static bool trial_open(struct layout_trial *trial)
{
    const struct facts *facts = &trial->read.facts;
    struct error ignored;
    trial->asked = arena_array(trial->read.arena, trial->read.formulas.count + 1, sizeof *trial->asked);
    formulas_given(&trial->read.formulas, trial->asked);
    for (size_t i = 0; i < facts->scalar_count; i++)        /* an expression of the user's may ask anything */
        trial->chosen |= facts->scalars[i].expression && fact_given(&facts->scalars[i]);
    return values_of(&trial->read, trial->rows, CHECK_ROWS, &trial->values, &ignored) && find_reached(trial, facts);
}

/* Are these the other facts, but for that one? */
static bool others_alike(const struct facts *without, const struct facts *with, const char *name)
{
    size_t k = 0;
    for (size_t i = 0; i < with->scalar_count; i++) {
        const struct fact *a = &with->scalars[i], *b = &without->scalars[k];
        if (!strcmp(a->name, name))
            continue;
        if (k++ == without->scalar_count || strcmp(a->name, b->name) || a->expression != b->expression ||
            memcmp(&a->value, &b->value, sizeof a->value))
            return false;
    }
    return k == without->scalar_count;
}

static bool same_figures(const struct layout_trial *trial, const double *at)
{
    return !memcmp(at, trial->values.at, CHECK_ROWS * sizeof *at);
}

/* Are the figures the same with that input? Then the graph keeps it. */
static bool same_with(struct layout_trial *trial, int input, double value)
{
    const struct graph *graph = &trial->values.graph;
    double *inputs = trial->values.inputs, at[CHECK_ROWS];
    const double before = inputs[input];
    inputs[input] = value;
    graph_value(trial->read.arena, graph, inputs, NULL, at);
    values_unpriced(graph, inputs, at);
    if (same_figures(trial, at))
        return true;
    inputs[input] = before;
    return false;
}

/* Are the figures the same without that input, which `eval` then takes from its row, or chooses? */
static bool needless(struct layout_trial *trial, const struct fact *fact)
{
    struct scenario without = trial->read;
    const int at = formulas_find(&without.formulas, fact->name);
    const struct row *row = at < 0 ? NULL : formulas_row(&without.formulas, at);
    const int input = graph_input(&trial->values.graph, fact->name);
    struct values values;
    struct error ignored;
    without.facts = facts_copy(&trial->read.facts);
    facts_remove(&without.facts, fact->name);
    if (!scenario_choose(&without, trial->rows, CHECK_ROWS, &ignored))
        return false;
    const bool alike = others_alike(&without.facts, &trial->read.facts, fact->name);
    if (row && alike && !trial->chosen && !trial->asked[at]) {
        if (!trial->reached[at])
            return true;
        if (input < 0 && !fact->expression)         /* its own expression may still not be readable */
            return find_reached(trial, &without.facts);
        if (!row_expr(row) && !row_table(row) && !fact->expression)
            return same_with(trial, input, row->value);
    }
    if (!values_of(&without, trial->rows, CHECK_ROWS, &values, &ignored) || !same_figures(trial, values.at))
        return false;
    trial->values = values;
    trial->chosen |= !alike;
    return find_reached(trial, &without.facts);
}

/* A word as a shell reads it. */
static void add_quoted(struct buffer *out, const char *word)
{
    const bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                             "_./:=,+%@-")];
    buffer_print(out, plain ? " %s" : " '", word);
    for (; *word && !plain; word++)
        buffer_print(out, *word == '\'' ? "'\\''" : "%c", *word);
    buffer_print(out, plain ? "" : "'");
}

void plan_check(struct plan *plan, struct section *section)
{
    static const char *const rows[][CHECK_ROWS] = {
        { NAME_predicted_ttft, NAME_predicted_tpot, NAME_deployment_throughput_per_chip },
        { NAME_disagg_deployment_ttft, NAME_disagg_tpot, NAME_disagg_deployment_rate },
        { NAME_disagg_deployment_ttft, NAME_disagg_tpot, NAME_pool_pair_rate } };
    const struct plan_point *best = plan->best;
    const bool pools = plan->variants[best->at.space].kind == PLAN_POOLS;
    const char *const *shown = rows[pools ? 1 + plan->by_demand : 0];
    struct buffer out = { .arena = plan->arena };
    struct layout_trial trial = { .read = plan_read_scenario(plan, best), .rows = shown };
    const struct facts all = facts_copy(&trial.read.facts);
    size_t count;
    bool again = trial_open(&trial);
    while (again) {                                     /* one may be needless once another has gone */
        again = false;
        for (size_t i = 0; i < all.scalar_count; i++) {
            const struct fact *fact = &all.scalars[i];
            if (fact->origin < ORIGIN_GIVEN || words_have_option(fact->name) || !facts_find(&trial.read.facts, fact->name) ||
                !needless(&trial, fact))
                continue;
            facts_remove(&trial.read.facts, fact->name);
            again = true;
        }
    }
    const char *const *words = scenario_words(&trial.read, &count);
    buffer_print(&out, "chalkline eval %s %s %s", shown[0], shown[1], shown[2]);
    for (size_t i = 0; i < count; i++)
        add_quoted(&out, words[i]);
    section_word(section, "check", out.data);
}
