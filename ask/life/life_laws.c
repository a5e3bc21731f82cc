/* Scaling laws of the loss (data/loss_laws.csv), and the optimum that each of them gives.
 *
 * The constants of a law replace the rows' own, in a copy of the scenario for each law; what the
 * user set stays for the law that was asked for. The size is solved first, so that budget, loss
 * and size lead to the same further questions; then the tokens. A law without standard errors has
 * no interval. Where nothing is served, the rule of equal costs gives no tokens, and the
 * comparison with it is left out. */
#include "ask/life/life.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char *const FILE_NAME = "data/loss_laws.csv";

const struct life_kind life_kinds[] = {
    [LIFE_TOKENS] = { "tokens", NAME_params_active, NAME_optimal_pretrain_tokens,
                      NAME_training_optimal_tokens_per_param },
    [LIFE_BUDGET] = { "budget", NAME_budget_params, NAME_budget_tokens,
                      NAME_budget_trained_tokens_per_param },
    [LIFE_LOSS] = { "loss", NAME_target_params, NAME_target_tokens,
                    NAME_target_trained_tokens_per_param },
};

const char *const life_rules[LIFE_RULE_COUNT] = {
#define X(name) NAME_##name,
    LIFE_RULES(X)
#undef X
};
const char *const life_figures[LIFE_FIGURE_COUNT] = {
#define X(name) NAME_##name,
    LIFE_FIGURES(X)
#undef X
};

/* ---- reading ------------------------------------------------------------------------------ */

static struct life_law *find_law(struct life *life, const struct sheet *sheet, const char *name)
{
    for (size_t i = 0; i < life->count; i++)
        if (!strcmp(life->laws[i].name, name))
            return &life->laws[i];
    struct life_law *law = arena_push(life->arena, &life->laws, &life->count, &life->room,
                                      sizeof *law);
    *law = (struct life_law){ .name = name, .title = sheet_text(sheet, name, "title"),
                              .frontier = !sheet_text(sheet, name, NAME_loss_floor),
                              .uncertain = sheet_text(sheet, name, NAME_loss_params_exponent_error) };
    return law;
}

struct scenario life_apart(const struct scenario *scenario)
{
    struct scenario apart = *scenario;
    struct facts *facts = &apart.facts;
    facts->scalars = arena_array(scenario->arena, facts->scalar_room + 1, sizeof *facts->scalars);
    memcpy(facts->scalars, scenario->facts.scalars,
           facts->scalar_count * sizeof *facts->scalars);
    return apart;
}

/* Numbers of a law take the place of the rows' own; of the one asked for, what the user sets
 * stays. A law that has no standard errors is not uncertain. */
static void set_law(const struct life *life, const struct sheet *sheet, struct life_law *law)
{
    struct facts *facts = &law->scenario.facts;
    law->scenario = life_apart(&life->scenario);
    if (!law->uncertain && !law->frontier) {
        facts_set(facts, NAME_loss_params_exponent_error, 0, ORIGIN_SHEET, FILE_NAME);
        facts_set(facts, NAME_loss_tokens_exponent_error, 0, ORIGIN_SHEET, FILE_NAME);
    }
    for (size_t i = 0; i < sheet->csv.rows; i++) {
        const char *fact = csv_cell(&sheet->csv, i, sheet->fact);
        if (strcmp(csv_cell(&sheet->csv, i, sheet->name), law->name) || !strcmp(fact, "title") ||
            (law->chosen && fact_given(facts_find(&life->scenario.facts, fact))))
            continue;
        facts_set(facts, fact, sheet_number(sheet, law->name, fact), ORIGIN_SHEET, FILE_NAME);
    }
}

/* The law of --law, or the first. One without a loss answers a compute of training alone. */
static bool choose_law(struct life *life)
{
    const char *name = command_text(life->command, "law"), *frontier = NULL;
    const bool alone = life->alone && life->kind == &life_kinds[LIFE_BUDGET];
    struct buffer all = { .arena = life->arena };
    for (size_t i = 0; i < life->count; i++) {
        struct life_law *law = &life->laws[i];
        const bool called = !name || name_same(law->name, name), fits = alone || !law->frontier;
        if (fits && called) {
            law->chosen = true;
            life->chosen = law;
            return true;
        }
        if (fits)
            buffer_print(&all, "%s%s", all.size ? ", " : "", law->name);
        else if (called)
            frontier = law->name;
    }
    if (frontier)
        error_set(life->error, "--law: %s gives tokens for a compute of training alone, but no loss", frontier);
    else
        error_set(life->error, "--law: unknown scaling law '%.60s'", name ? name : "");
    return error_expected(life->error, frontier ? "--budget FLOP with nothing served, or one of: %s" : "one of: %s", all.data);
}

/* ---- solving ------------------------------------------------------------------------------ */

static bool read_rows(struct scenario *scenario, const char *const *names, size_t count,
                      double *at, struct error *error)
{
    struct values values;
    if (!values_of(scenario, names, count, &values, error))
        return false;
    memcpy(at, values.at, count * sizeof *at);
    return true;
}

/* Size and tokens alone: the figures about the loss stay NAN, and no rule of equal costs is told of it. */
static bool solve_frontier(struct life *life, struct life_law *law)
{
    static const char *const rows[] = { NAME_frontier_params, NAME_frontier_tokens };
    static const int losses[] = { LIFE_model_loss, LIFE_loss_floor, LIFE_loss_of_params, LIFE_loss_of_tokens,
                                  LIFE_seen_params_high, LIFE_seen_tokens_high };
    struct scenario at = life_apart(&law->scenario);
    double best[2];
    law->reached = life->kind == &life_kinds[LIFE_BUDGET];
    if (!law->reached)
        return true;
    if (!read_rows(&at, rows, 2, best, life->error))
        return false;
    law->params = best[0];
    law->tokens = best[1];
    law->unserved = best[1] / best[0];
    facts_set(&at.facts, NAME_params_active, law->params, ORIGIN_DERIVED, "life");
    facts_set(&at.facts, NAME_pretrain_tokens, law->tokens, ORIGIN_DERIVED, "life");
    if (!read_rows(&at, life_figures, LIFE_FIGURE_COUNT, law->figures, life->error))
        return false;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        law->figures[losses[i]] = NAN;
    return true;
}

/* The size first, so that what is asked of it is one and the same question for all kinds; then
 * the tokens, in the place of the rule's. Where nothing is served the rule says no tokens at all, and no
 * loss is known of those: then it is told of the best tokens, and none of it holds. */
static bool solve_law(struct life *life, struct life_law *law)
{
    const char *const rows[] = { life->kind->params, life->kind->tokens, life->kind->unserved };
    struct scenario at = life_apart(&law->scenario);
    double best[3], room = 1, tokens;
    if (life->kind == &life_kinds[LIFE_LOSS] &&
        !value_of(&at, NAME_target_room, &room, life->error))
        return false;
    law->reached = room > 0;
    if (!law->reached)
        return true;
    if (!read_rows(&at, rows, 3, best, life->error))
        return false;
    law->params = best[0];
    law->tokens = best[1];
    law->unserved = best[2];
    law->reached = law->params >= 1;        /* a compute that does not even serve so much */
    if (!law->reached)
        return true;
    facts_set(&at.facts, NAME_params_active, law->params, ORIGIN_DERIVED, "life");
    if (!value_of(&at, NAME_pretrain_tokens, &tokens, life->error))
        return false;
    if (!(tokens > 0))
        facts_set(&at.facts, NAME_pretrain_tokens, law->tokens, ORIGIN_DERIVED, "life");
    if (!read_rows(&at, life_rules, LIFE_RULE_COUNT, law->rules, life->error))
        return false;
    if (!(tokens > 0))
        law->rules[RULE_pretrain_tokens] = law->rules[RULE_rule_room] =
            law->rules[RULE_rule_exact_params] = 0;
    facts_set(&at.facts, NAME_pretrain_tokens, law->tokens, ORIGIN_DERIVED, "life");
    return read_rows(&at, life_figures, LIFE_FIGURE_COUNT, law->figures, life->error);
}

bool life_laws(struct life *life)
{
    struct sheet sheet;
    sheet_open(FILE_NAME, &sheet);
    for (size_t i = 0; i < sheet.csv.rows; i++)
        find_law(life, &sheet, csv_cell(&sheet.csv, i, sheet.name));
    if (!choose_law(life))
        return false;
    for (size_t i = 0; i < life->count; i++) {
        struct life_law *law = &life->laws[i];
        set_law(life, &sheet, law);
        if (!(law->frontier ? solve_frontier(life, law) : solve_law(life, law)))
            return false;
    }
    return true;
}
