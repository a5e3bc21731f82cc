/* The layout and the load of a replica as they were given. The number of its GPUs is TP x DP x PP, so that each of the
 * four follows from the others. If you give all four, they must agree. TP x DP must divide
 * the number of GPUs. Where a size that follows is not a whole number, server_verdict says so. */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* The first of these rows that was given. A plan's words set users_demand beside a rate: only --users states a load. */
static const struct fact *typed(const struct scenario *scenario, const char *const *rows, size_t count)
{
    for (size_t i = 0; i < count && rows[i]; i++) {
        const struct fact *fact = facts_find(&scenario->facts, rows[i]);
        if (fact_given(fact) && (strcmp(rows[i], NAME_users_demand) || command_given(scenario->command, "users")))
            return fact;
    }
    return NULL;
}

bool scenario_said_once(const struct scenario *scenario, struct error *error)
{
    static const struct { const char *one[3], *other[3], *what, *expected; } pairs[] = {
        { { NAME_batch }, { NAME_users, NAME_concurrency }, "loads", "one of them; the batch follows from the requests in flight" },
        { { NAME_request_demand, NAME_tokens_per_day, NAME_arrival_rate },
          { NAME_users, NAME_concurrency, NAME_users_demand }, "loads", "one of them: users who wait, or requests at a rate" },
        { { NAME_tokens_per_day }, { NAME_request_demand, NAME_arrival_rate }, "loads", "one of them" },
        { { NAME_speed_wanted }, { NAME_tpot_limit }, "limits of TPOT", "one of them: 20 token/s are a TPOT of 50 ms" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct fact *one = typed(scenario, pairs[i].one, 3), *other = typed(scenario, pairs[i].other, 3);
        if (!one || !other)
            continue;
        error_set(error, "%s and %s are two %s", one->source, other->source, pairs[i].what);
        return error_expected(error, "%s", pairs[i].expected);
    }
    return true;
}

bool scenario_said_with(const struct scenario *scenario, const char *row, const char *name, struct error *error)
{
    struct scenario at = *scenario;
    at.facts = facts_copy(&scenario->facts);
    facts_set(&at.facts, row, 1, ORIGIN_GIVEN, name);
    return scenario_said_once(&at, error);
}

/* More than one of them, by --gpus, --tp and the like, or by the machine's name: "2x m3-max". */
static const struct fact *several(const struct scenario *scenario)
{
    static const char *const rows[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fact *given = facts_find(&scenario->facts, rows[i]);
        if (fact_given(given) && (!i || given->value > 1))
            return given->value > 1 ? given : NULL;
    }
    const struct fact *named = facts_find(&scenario->facts, NAME_scale_up_chips);
    return named && named->value > 1 ? named : NULL;
}

bool scenario_links(const struct scenario *scenario)
{
    const char *name = scenario->subject.machine;
    const struct catalog_entry *machine =
        name ? catalog_find(&scenario->catalog, CATALOG_MACHINE, name, NULL) : NULL;
    return !machine || !catalog_stands_alone(machine) || facts_find(&scenario->facts, NAME_scale_up_bandwidth);
}

bool scenario_linked(const struct scenario *scenario, struct error *error)
{
    const struct fact *fact = several(scenario);
    if (!fact || scenario_links(scenario))
        return true;
    error_set(error, "%s: no link between several %s is known",
              !fact_given(fact) ? fact->source
              : arena_print(scenario->arena, "%s %s%.12g", fact->source,
                            strcmp(fact->source, "--set") ? "" : arena_print(scenario->arena, "%s=", fact->name), fact->value),
              scenario->machine);
    return error_expected(error, "one of them, or their link: --set scale_up_bandwidth=5GB/s");
}

bool scenario_layout_agrees(const struct scenario *scenario, struct error *error)
{
    static const char *const rows[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp,
                                        NAME_pipeline_parallel };
    enum { ROWS = sizeof rows / sizeof *rows };
    const struct fact *fact[ROWS];
    double number[ROWS] = { 0 };
    const double most = formulas_row(&scenario->formulas, formulas_find(&scenario->formulas, NAME_chips))->high;
    double product = 1;
    bool given[ROWS];
    if (!scenario_said_once(scenario, error))
        return false;
    for (int i = 0; i < ROWS; i++) {
        fact[i] = facts_find(&scenario->facts, rows[i]);
        given[i] = fact_given(fact[i]) && given_number(scenario, rows[i], &number[i]);
        product *= given[i] && i ? number[i] : 1;
    }
    if (product > most) {
        error_set(error, "TP x DP x PP: %.12g GPUs of one replica", product);
        return error_expected(error, "at most %s", count_text(scenario->arena, most, 9));
    }
    if (!given[0] || !given[1] || !given[2] || number[0] / product == (given[3] ? 1 : floor(number[0] / product)))
        return true;
    error_set(error, "%s %.12g, but %s %.12g x %s %.12g%s is %.12g", fact[0]->source, number[0],
              fact[1]->source, number[1], fact[2]->source, number[2],
              given[3] ? arena_print(scenario->arena, " x %s %.12g", fact[3]->source, number[3]) : "", product);
    return error_expected(error, "%s", given[3] ? "TP x DP x PP = GPUs of a replica, or three of the four"
                                                : "TP x DP that divides the GPUs of a replica");
}

/* A small model that drafts is known by three numbers, none of which follows from the others; how often llama.cpp
 * accepts what it drafts nobody has measured. */
bool scenario_drafts(struct scenario *scenario, struct error *error)
{
    static const struct { const char *row, *what; } parts[] = {
        { NAME_draft_model_bytes, "the bytes" }, { NAME_draft_model_macs, "the multiply-accumulates of one token" },
        { NAME_draft_model_layers, "the number of layers" } };
    enum { PARTS = sizeof parts / sizeof *parts };
    struct facts *facts = &scenario->facts;
    const struct fact *tokens = facts_find(facts, NAME_draft_tokens), *rate = facts_find(facts, NAME_acceptance_rate);
    const char *missing = NULL, *what = NULL, *given = NULL;
    double drafted = 0;
    if (!fact_given(tokens) || !(value_or_nan(scenario, NAME_llama_cpp) > 0))
        return true;
    given_number(scenario, NAME_draft_tokens, &drafted);
    for (int i = 0; i < PARTS; i++) {
        double value = 0;
        const struct fact *fact = facts_find(facts, parts[i].row);
        if (fact_given(fact) && given_number(scenario, parts[i].row, &value) && value > 0)
            given = parts[i].row;
        else if (!missing)
            missing = parts[i].row, what = parts[i].what;
    }
    if (!(drafted > 0))
        return true;
    if (missing && (given || !(value_or_nan(scenario, NAME_prediction_layers) > 0))) {
        if (given)
            error_set(error, "%s is given, but not %s, %s of the draft model", given, missing, what);
        else
            error_set(error, "draft_tokens %.12g: %s has no layers that draft, and no draft model is given",
                      drafted, scenario->model ? scenario->model : "the model");
        return error_expected(error, "all three of --set draft_model_bytes=0.5GB, draft_model_macs=0.44e9 and "
                              "draft_model_layers=28, as of Qwen3-0.6B in Q8_0");
    }
    if (!fact_given(rate))
        facts_note(facts, "%.0f %% of the draft tokens taken as accepted, as fitted on servers, whose models draft with "
                   "layers of their own: --set acceptance_rate=N", 100 * value_or_nan(scenario, NAME_acceptance_rate));
    return true;
}
