/* Notes on the defaults that the numbers of an answer depend on.
 *
 * The defaults of rows that outputs read are ordered by elasticity: by how many per cent an output
 * changes for one per cent more of the default. Of several outputs, points of a curve or scenarios
 * the one that changes most counts, and the note names it. What moves nothing is left out; constants
 * that were fitted to measurements are counted, not listed. */
#include "build/row_names.h"
#include "scenario/basis.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "scenario/calibrated.h"
#include "scenario/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A default that an answer depends on. */
struct rested {
    const struct row *row;
    int index;                      /* of the row, in its formulas */
    double value;                   /* the default, in the row's unit */
    double elasticity;              /* per cent for one per cent more: the largest of all outputs */
    const char *output;             /* the row that changes so; NULL: what the answer is about */
};

static int strongest_first(const void *a, const void *b)
{
    const struct rested *x = a, *y = b;
    const double p = fabs(x->elasticity), q = fabs(y->elasticity);
    return p != q ? (p < q) - (p > q) : (x->index > y->index) - (x->index < y->index);
}

static struct rested *rested_of(struct rested *rested, size_t count, const char *row)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(row_name(rested[i].row), row))
            return &rested[i];
    return NULL;
}

static void keep_fitted(struct basis *basis, struct arena *arena, const char *name)
{
    if (name_listed(basis->fitted, basis->fitted_count, name))
        return;
    *(const char **)arena_push(arena, &basis->fitted, &basis->fitted_count, &basis->fitted_room,
                               sizeof *basis->fitted) = arena_copy(arena, name, strlen(name));
}

static void keep_strongest(struct basis *basis, struct arena *arena, const struct rested *one)
{
    struct rested *known = rested_of(basis->at, basis->count, row_name(one->row));
    if (!known)
        *(struct rested *)arena_push(arena, &basis->at, &basis->count, &basis->room,
                                     sizeof *basis->at) = *one;
    else if (fabs(one->elasticity) > fabs(known->elasticity))
        *known = *one;
}

/* Entries of a table add up in one answer; of several answers with this output the one that changes most
 * counts. */
struct gathered {
    struct weighed *at;
    size_t count;
};

static void gather_input(struct gathered *gathered, const struct scenario *scenario, const struct input *input,
                         double pull, const char *output)
{
    const struct row *row = formulas_row(&scenario->formulas, input->row);
    const struct fact *fact = facts_find(&scenario->facts, input->name);
    struct weighed *one = gathered->at;
    while (one < gathered->at + gathered->count && one->index != input->row)
        one++;
    if (one == gathered->at + gathered->count) {
        gathered->count++;
        *one = (struct weighed){ .row = row, .index = input->row, .entry = input->entry >= 0,
                                 .value = input->value, .source = input->source, .output = output };
        one->origin = fact ? fact->origin : input->source ? input->origin
                    : default_origin(row);
    }
    one->elasticity += pull;
}

static void keep_weighed(struct basis *basis, struct arena *arena, const struct weighed *one)
{
    for (size_t i = 0; i < basis->input_count; i++)
        if (basis->inputs[i].index == one->index && basis->inputs[i].output == one->output) {
            if (fabs(one->elasticity) > fabs(basis->inputs[i].elasticity))
                basis->inputs[i] = *one;
            return;
        }
    struct weighed *kept = arena_push(arena, &basis->inputs, &basis->input_count, &basis->input_room,
                                      sizeof *kept);
    *kept = *one;
}

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    const double p = fabs(x->elasticity), q = fabs(y->elasticity);
    if (p != q)
        return (p < q) - (p > q);
    if (x->index != y->index)
        return (x->index > y->index) - (x->index < y->index);
    return strcmp(x->output ? x->output : "", y->output ? y->output : "");
}

static bool assumed_input(const struct row *row, const struct input *input)
{
    return !input->source && row->low < row->high && !row_fit(row);
}

void basis_add(struct scenario *scenario, const struct graph *graph, const double *pulls,
               struct basis *basis)
{
    const double least = 5e-4;
    struct arena scratch = arena_beside(scenario->arena);
    struct rested *one = arena_array(&scratch, graph->input_count + 1, sizeof *one);
    struct gathered gathered = { arena_array(&scratch, graph->input_count + 1, sizeof *gathered.at), 0 };
    size_t count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        const struct row *row = formulas_row(&scenario->formulas, input->row);
        if (input->entry == INPUT_SCALE || !isfinite(pulls[i]) || fabs(pulls[i]) < least)
            continue;
        const struct fact *fact = facts_find(&scenario->facts, input->name);
        const bool fitted = fact ? fact->origin == ORIGIN_FITTED : default_origin(row) == ORIGIN_FITTED;
        if (fact || !row->input || row->low < row->high)        /* no constant of units */
            gather_input(&gathered, scenario, input, pulls[i], basis->output);
        if (fitted)
            keep_fitted(basis, scenario->arena, input->name);
        if (!assumed_input(row, input))
            continue;
        struct rested *known = rested_of(one, count, row_name(row));    /* entries of a table add up */
        if (!known) {
            known = &one[count++];
            *known = (struct rested){ row, input->row, input->value, 0, basis->output };
        }
        known->elasticity += pulls[i];
    }
    for (size_t i = 0; i < count; i++)
        keep_strongest(basis, scenario->arena, &one[i]);
    for (size_t i = 0; i < gathered.count; i++)
        keep_weighed(basis, scenario->arena, &gathered.at[i]);
    arena_free(&scratch);
}

void basis_values(struct scenario *scenario, const struct values *values, const size_t *outputs,
                  size_t count, struct basis *basis)
{
    struct arena scratch = arena_beside(scenario->arena);
    const struct graph *graph = &values->graph;
    double *pulls = arena_array(&scratch, graph->input_count + 1, sizeof *pulls);
    for (size_t n = 0; n < count; n++) {
        const size_t k = outputs ? outputs[n] : n;
        if (!(values->at[k] != 0) || !isfinite(values->at[k]))
            continue;
        graph_slopes(&scratch, graph, k, values->nodes, pulls);
        for (size_t i = 0; i < graph->input_count; i++)
            pulls[i] = pulls[i] * values->inputs[i] / values->at[k];
        const int row = values->names ? formulas_find(&scenario->formulas, values->names[k])
                                      : graph->nodes[graph->outputs[k]].row;
        basis->output = row < 0 ? NULL : row_name(formulas_row(&scenario->formulas, row));
        basis_add(scenario, graph, pulls, basis);
    }
    basis->output = NULL;
    arena_free(&scratch);
}

/* Of which servers the interval is, and what one measurement of one's own would bring; llama.cpp's is that of devices. */
static void tell_interval(struct scenario *scenario, const struct basis *basis)
{
    struct facts *facts = &scenario->facts;
    const bool pools = facts_find(facts, NAME_prefill_chips) != NULL;
    const struct fact *measured = facts_find(facts, pools ? NAME_cluster_measured_split : NAME_cluster_measured);
    const struct fact *own = facts_find(facts, NAME_llama_cpp), *once = facts_find(facts, NAME_measured_once_width);
    const struct fact *users = facts_find(facts, NAME_concurrency);
    const char *name = cluster_name(scenario);
    if (!scenario->model || !scenario->machine || (own && own->value > 0) ||
        !name_listed(basis->fitted, basis->fitted_count, NAME_host_overhead_per_step))
        return;                                     /* nothing here is of a server */
    if (measured && measured->value > 0)
        facts_note(facts, "intervals are those of measured servers: %s", name);
    else
        facts_note(facts, "no server like this one was measured: %s", name ? name : scenario->network && !scenario->subject.engine
                   ? "no engine is named" : "its model or machine is not in the catalog");
    if (once)
        facts_note(facts, "one measured load: TPOT within x%.2f, `chalkline measure URL --loads %.0f`", once->value,
                   fact_given(users) && !users->expression && users->value >= 1 ? users->value : 16);
}

void basis_notes(struct scenario *scenario, struct basis *basis)
{
    enum { SHOWN = 5 };
    struct facts *facts = &scenario->facts;
    const size_t before = facts->note_count;
    if (basis->count)
        qsort(basis->at, basis->count, sizeof *basis->at, strongest_first);
    for (size_t i = 0; i < basis->count && i < SHOWN; i++) {
        const struct rested *one = &basis->at[i];
        const char *output = one->output ? one->output : "result";
        const bool named = strcmp(output, row_name(one->row));      /* false: the row itself is printed */
        facts_note(facts, "%s = %s by default: %s%s%+.2g %% per 1 %% more", row_name(one->row),
                   quantity_text(scenario->arena, one->value, one->row->unit, 6),
                   named ? output : "", named ? " " : "", one->elasticity);
    }
    if (basis->count > SHOWN)
        facts_note(facts, "and %zu default%s that matter%s less", basis->count - SHOWN,
                   basis->count > SHOWN + 1 ? "s" : "", basis->count > SHOWN + 1 ? "" : "s");
    if (basis->fitted_count)
        facts_note(facts, "%zu constant%s fitted to published measurements (data/efficiency.csv)",
                   basis->fitted_count, basis->fitted_count > 1 ? "s" : "");
    if (basis->fitted_count && !scenario->calibrated)
        tell_interval(scenario, basis);
    calibrated_note(scenario);
    if (basis->input_count)
        qsort(basis->inputs, basis->input_count, sizeof *basis->inputs, heaviest_first);
    scenario->weighed = basis->inputs;
    scenario->weighed_count = basis->input_count;
    scenario->weighed_notes = facts->note_count > before ? facts->notes + before : NULL;
    scenario->weighed_note_count = facts->note_count - before;
    scenario->fitted_count = basis->fitted_count;
}

void assumed_notes(struct scenario *scenario, const struct values *values, const size_t *outputs,
                   size_t output_count)
{
    struct basis basis = { 0 };
    basis_values(scenario, values, outputs, output_count, &basis);
    basis_notes(scenario, &basis);
}

/* ---- of the figures that an answer shows ---------------------------------------------------- */

/* The texts that have a value here, and their values. */
static size_t known_of(struct scenario *scenario, const char *const *texts, size_t count,
                       const char **known, struct values *values)
{
    struct error ignored;
    size_t kept = 0;
    double value;
    if (values_of(scenario, texts, count, values, &ignored)) {
        memcpy(known, texts, count * sizeof *known);
        return count;
    }
    for (size_t i = 0; i < count; i++)
        if (value_of(scenario, texts[i], &value, &ignored))
            known[kept++] = texts[i];
    return values_of(scenario, known, kept, values, &ignored) ? kept : 0;
}

void basis_texts(struct scenario *scenario, const char *const *texts, size_t count, struct basis *basis)
{
    struct values values;
    const char **known = arena_array(scenario->arena, count + 1, sizeof *known);
    const size_t kept = known_of(scenario, texts, count, known, &values);
    if (kept)
        basis_values(scenario, &values, NULL, kept, basis);
}

void shown_notes(struct scenario *scenario, const char *const *texts, size_t count,
                 const char *what)
{
    struct values values;
    const char **known = arena_array(scenario->arena, count + 1, sizeof *known);
    const size_t kept = known_of(scenario, texts, count, known, &values);
    if (!kept)
        return;
    assumed_notes(scenario, &values, NULL, kept);
    if (what)
        given_note_of(scenario, known, kept, &values, what);
}

/* ---- a server that nobody named ------------------------------------------------------------- */

/* Do the values depend on a model, and on a row of the prediction? The lecture's rows stand without a model. */
static bool predicts_server(const struct scenario *scenario, const struct values *values)
{
    static const char serving[] = "formulas/serving/";
    static const char *const models[] = { NAME_params_total, NAME_params_active, NAME_hidden_size, NAME_layers };
    bool predicted = false, model = false;
    for (size_t i = 0; i < values->graph.input_count; i++) {
        const struct row *row = formulas_row(&scenario->formulas, values->graph.inputs[i].row);
        predicted |= row_file(row) && starts_with(row_file(row), serving);
        model |= name_listed(models, sizeof models / sizeof *models, row_name(row));
    }
    return predicted && model;
}

const char *scenario_default_server(const struct scenario *scenario, const char *const *texts, size_t count)
{
    enum { ROWS = 7 };
    static const char *const rows[ROWS] = { NAME_params_total, NAME_params_active, NAME_chips, NAME_hbm_capacity,
                                            NAME_prompt_tokens, NAME_output_tokens, NAME_concurrency };
    struct scenario copy = *scenario;
    struct values values;
    struct error ignored;
    const char *at[ROWS];
    if (scenario->model || !values_known(&copy, texts, count, &values, &ignored) || !predicts_server(scenario, &values))
        return NULL;
    for (size_t i = 0; i < ROWS; i++) {
        const double value = value_or_nan(&copy, rows[i]);
        at[i] = i < 2 ? large_text(copy.arena, value) : i == 3 ? quantity_text(copy.arena, value, scenario_unit(&copy, rows[i]), 4)
              : count_text(copy.arena, value, 6);
    }
    const char *machine = scenario->machine;
    const bool loads = !scenario_varies(scenario, NAME_batch) && !scenario_varies(scenario, NAME_concurrency);
    return arena_print(copy.arena, "a default model of %s parameters (%s active) on %s GPUs%s%s with %s each; "
                       "prompts of %s tokens, answers of %s%s%s%s; to ask about another: --model NAME%s", at[0], at[1], at[2],
                       machine ? " of " : "", machine ? machine : "", at[3], at[4], at[5], loads ? ", " : "",
                       loads ? at[6] : "", loads ? " in flight" : "", machine ? "" : " --on MACHINE");
}
