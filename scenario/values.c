/* Values of expressions under a scenario: builds a graph, evaluates it, and explains values that
 * do not exist.
 *
 * A value that is not finite is an error that names the first row without one. If it would be
 * finite at another price, the machine has no price, and the value is NAN instead: not known. An input
 * that is NAN is such a price, to rent the machine or to buy it.
 * Ranges and distributions that the user gave are propagated only to outputs that depend on them:
 * bounds by the interval reading, quantiles by seeded draws. */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

struct unit scenario_unit(const struct scenario *scenario, const char *text)
{
    const struct expr *expr;
    struct unit unit = { { 0 } };
    struct error error;
    if (expr_parse(&scenario->formulas, NULL, 0, text_of(text), &expr, NULL))
        expr_unit(&scenario->formulas, expr, &unit, &error);
    return unit;
}

void doc_add_row(struct arena *arena, struct doc *doc, const char *name, double value)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    const int row = formulas_find(formulas, name);
    doc_add_number(arena, doc, name, value);
    for (size_t i = 0; i < formulas->alias_count; i++)
        if (formulas->aliases[i].row == row)
            doc_add_number(arena, doc, formulas->aliases[i].name, value);
}

double log_between(double low, double high, double share)
{
    return low * scalar_exp(share * scalar_log(high / low));
}

/* Of the rows that the user set and that a node depends on, the one that makes it infinite: one that is 0 or out of its
 * range, else any; NULL: the user set none of them. */
static const struct row *cause_of(const struct scenario *scenario, const struct graph *graph, const double *nodes, size_t of,
                                  struct arena *scratch, double *value)
{
    bool *reached = arena_array(scratch, graph->count + 1, sizeof *reached);
    const struct row *cause = NULL;
    reached[of] = true;
    for (size_t i = of + 1; i-- > 0;) {
        const struct node *node = &graph->nodes[i];
        if (!reached[i])
            continue;
        const int operands[] = { node->a, node->b, node->c };
        for (size_t k = 0; k < sizeof operands / sizeof *operands; k++)
            if (operands[k] >= 0 && (size_t)operands[k] < i)
                reached[operands[k]] = true;
        const struct row *row = node->row < 0 ? NULL : formulas_row(&scenario->formulas, node->row);
        const struct fact *fact = row ? facts_find(&scenario->facts, row_name(row)) : NULL;
        if (!fact || !fact_given(fact))
            continue;
        const bool out = !(nodes[i] != 0) || (row->low < row->high && !(nodes[i] >= row->low && nodes[i] <= row->high));
        if (out || !cause) {
            cause = row;
            *value = nodes[i];
        }
        if (out)
            break;
    }
    return cause;
}

/* Name the row to which the first node without a finite value belongs. */
bool values_finite(const struct scenario *scenario, const struct graph *graph,
                   const double *inputs, struct error *error)
{
    struct arena scratch = arena_beside(scenario->arena);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    bool finite = true;
    graph_value(&scratch, graph, inputs, nodes, NULL);
    for (size_t i = 0; i < graph->output_count && finite; i++)
        finite = isfinite(nodes[graph->outputs[i]]);
    for (size_t i = 0; i < graph->count && !finite; i++) {
        const struct node *node = &graph->nodes[i];
        if (isfinite(nodes[i]) || node->row < 0)
            continue;
        const struct row *row = formulas_row(&scenario->formulas, node->row);
        double value = 0;
        const struct row *cause = cause_of(scenario, graph, nodes, i, &scratch, &value);
        if (cause)
            error_set(error, "'%s' is not finite, since %s = %s", row_name(row), row_name(cause), quantity_text(&scratch, value, cause->unit, 6));
        else
            error_set(error, "'%s' is not finite for these inputs", row_name(row));
        error_suggest(error, node->op == OP_ROOT ? "its ROOT has no change of sign between its ends, which "
                      "`chalkline why %s` shows" : "`chalkline why %s` shows its terms", row_name(row));
        arena_free(&scratch);
        return false;
    }
    arena_free(&scratch);
    if (finite)
        return true;
    error_set(error, "the expression is not finite for these inputs");
    return error_expected(error, "no division by zero, no logarithm or root of a negative number, and "
                          "a change of sign between the ends of every ROOT");
}

static void mark_reached(const struct graph *graph, size_t output, uint8_t *reached);

void values_unpriced(const struct graph *graph, const double *inputs, double *at)
{
    struct arena scratch = { 0 };
    for (size_t price = 0; price < graph->input_count; price++)
        for (size_t i = 0; i < graph->output_count && isnan(inputs[price]); i++) {
            uint8_t *reached = arena_alloc(&scratch, graph->count + 1);
            mark_reached(graph, i, reached);
            if (reached[graph->inputs[price].node])
                at[i] = NAN;
        }
    arena_free(&scratch);
}

/* Would all values be finite if the machine had a price? */
static bool finite_if_priced(struct scenario *scenario, const struct values *values, struct error *error)
{
    const struct graph *graph = &values->graph;
    struct arena scratch = arena_beside(scenario->arena);
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = isnan(values->inputs[i]) ? 1 : values->inputs[i];
    const bool finite = values_finite(scenario, graph, inputs, error);
    arena_free(&scratch);
    return finite;
}

static struct asked_graphs *graphs_of(struct scenario *scenario)
{
    if (!scenario->graphs)
        scenario->graphs = asked_graphs_new(scenario->arena);
    return scenario->graphs;
}

/* The expression that a text says; its unit must be right. */
static const struct expr *expr_read(struct scenario *scenario, const char *text, struct error *error)
{
    const struct expr *expr;
    struct unit unit;
    return expr_parse(&scenario->formulas, NULL, 0, text_of(text), &expr, error) &&
           expr_unit(&scenario->formulas, expr, &unit, error) ? expr : NULL;
}

static bool values_by(struct scenario *scenario, const char *const *texts, size_t count,
                      bool parts, struct values *values, struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct expr **wanted = arena_array(arena, count + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        if (!(wanted[i] = expr_read(scenario, texts[i], error)))
            return false;
    if (!graph_asked(graphs_of(scenario), arena, &scenario->formulas, &scenario->facts, parts, wanted, count,
                     &values->graph, &values->nodes, error))
        return false;
    values->names = arena_array(arena, count + 1, sizeof *values->names);
    memcpy(values->names, texts, count * sizeof *values->names);
    values->drawn = values->ends = NULL;
    values->inputs = arena_array(arena, values->graph.input_count + 1, sizeof(double));
    values->at = arena_array(arena, count + 1, sizeof(double));
    for (size_t i = 0; i < values->graph.input_count; i++)
        values->inputs[i] = values->graph.inputs[i].value;
    for (size_t i = 0; i < count; i++)
        values->at[i] = values->nodes[values->graph.outputs[i]];
    values_unpriced(&values->graph, values->inputs, values->at);
    return true;
}

/* Check that all values are finite, or would be if the machine had a price. */
static bool check_values(struct scenario *scenario, const struct values *values, struct error *error)
{
    for (size_t i = 0; i < values->graph.input_count; i++)
        if (isnan(values->inputs[i]))
            return finite_if_priced(scenario, values, error);
    for (size_t i = 0; i < values->graph.output_count; i++)
        if (!isfinite(values->at[i]))
            return values_finite(scenario, &values->graph, values->inputs, error);
    return true;
}

bool values_of(struct scenario *scenario, const char *const *texts, size_t count,
               struct values *values, struct error *error)
{
    return values_by(scenario, texts, count, false, values, error) &&
           check_values(scenario, values, error);
}

bool values_known(struct scenario *scenario, const char *const *texts, size_t count,
                  struct values *values, struct error *error)
{
    if (!values_by(scenario, texts, count, false, values, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values->at[i]))
            values->at[i] = NAN;
    return true;
}

bool values_of_parts(struct scenario *scenario, const char *const *texts, size_t count,
                     struct values *values, struct error *error)
{
    return values_by(scenario, texts, count, true, values, error) &&
           check_values(scenario, values, error);
}

/* A finite value needs no graph, unless the price of a chip is unknown, which values_unpriced looks for in the graph. */
bool value_of(struct scenario *scenario, const char *text, double *value, struct error *error)
{
    const struct expr *expr = expr_read(scenario, text, error);
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    struct values values;
    if (!expr)
        return false;
    if (!(price && isnan(price->value)) &&
        graph_asked_value(graphs_of(scenario), &scenario->formulas, &scenario->facts, expr, value, error) &&
        isfinite(*value))
        return true;
    if (!values_of(scenario, &text, 1, &values, error))
        return false;
    *value = values.at[0];
    return true;
}

bool given_number(const struct scenario *scenario, const char *row, double *value)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    struct scenario same = *scenario;
    struct error ignored;
    if (!fact_given(fact))
        return false;
    *value = fact->value;
    return !fact->expression || value_of(&same, row, value, &ignored);
}

double value_or_nan(struct scenario *scenario, const char *text)
{
    struct error ignored;
    double value;
    return *text && value_of(scenario, text, &value, &ignored) ? value : NAN;
}

/* A condition is no expression of its own, so it is asked as one that has a number. */
int select_branch(struct scenario *scenario, const struct expr *select)
{
    const struct text condition = expr_text(expr_kid(select, 0));
    const double holds = value_or_nan(scenario, arena_print(scenario->arena, "select(%.*s, 1, 0)",
                                                            (int)condition.size, condition.data));
    return isnan(holds) ? 0 : holds != 0 ? 1 : 2;
}

const struct expr *select_taken(struct scenario *scenario, const struct expr *expr)
{
    while (expr && expr->op == OP_SELECT) {
        const int branch = select_branch(scenario, expr);
        expr = branch ? expr_kid(expr, branch) : NULL;
    }
    return expr;
}

/* ---- ranges ----------------------------------------------------------------------------- */

bool values_uncertain(struct scenario *scenario, struct values *values)
{
    bool any = false;
    for (size_t i = 0; i < values->graph.input_count; i++) {
        struct input *input = &values->graph.inputs[i];
        const struct row *row = formulas_row(&scenario->formulas, input->row);
        if (!input->source && row->likely_low < row->likely_high) {
            input->distribution = DISTRIBUTION_RANGE;
            input->low = row->likely_low;
            input->high = row->likely_high;
        }
        any |= input->distribution != DISTRIBUTION_NONE;
    }
    return any;
}

/* Mark the nodes, inputs among them, on which an output depends. */
static void mark_reached(const struct graph *graph, size_t output, uint8_t *reached)
{
    reached[graph->outputs[output]] = 1;
    for (size_t i = graph->count; i-- > 0;) {
        const struct node *node = &graph->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3 && reached[i]; k++)
            if (kids[k] >= 0)
                reached[kids[k]] = 1;
    }
}

/* The least and the most of each output at the corners of the box and at draws inside it. */
static void find_ends(struct arena *arena, const struct graph *graph, double (*ends)[2])
{
    static const double at[2] = { 0, 1 };
    enum { SAMPLES = 1024, SEED = 20260429, CORNERS_OF = 8 };     /* ranges with corners */
    struct arena scratch = arena_beside(arena);
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *outputs = arena_array(&scratch, graph->output_count + 1, sizeof *outputs);
    size_t spread = 0;
    for (size_t i = 0; i < graph->input_count; i++)
        spread += graph->inputs[i].distribution != DISTRIBUTION_NONE;
    graph_quantiles(arena, graph, SEED, SAMPLES, at, 2, *ends);
    for (size_t corner = 0; spread <= CORNERS_OF && corner < (size_t)1 << spread; corner++) {
        for (size_t i = 0, k = 0; i < graph->input_count; i++) {
            const struct input *input = &graph->inputs[i];
            inputs[i] = input->distribution == DISTRIBUTION_NONE ? input->value : corner >> k++ & 1 ? input->high : input->low;
        }
        graph_value(&scratch, graph, inputs, NULL, outputs);
        for (size_t i = 0; i < graph->output_count; i++) {
            ends[i][0] = fmin(ends[i][0], outputs[i]);
            ends[i][1] = fmax(ends[i][1], outputs[i]);
        }
    }
    arena_free(&scratch);
}

struct range values_range(struct scenario *scenario, struct values *values, size_t output)
{
    const struct graph *graph = &values->graph;
    struct interval *box = arena_array(scenario->arena, graph->input_count + 1, sizeof *box);
    uint8_t *reached = arena_alloc(scenario->arena, graph->count + 1);
    bool drawn = false, any = false;
    mark_reached(graph, output, reached);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        bool range = input->distribution == DISTRIBUTION_RANGE;
        box[i] = range ? (struct interval){ input->low, input->high }
                       : (struct interval){ input->value, input->value };
        any |= input->distribution != DISTRIBUTION_NONE && reached[input->node];
        drawn |= input->distribution > DISTRIBUTION_RANGE && reached[input->node];
    }
    if (isnan(values->at[output]))
        return (struct range){ 0, 0, NULL };
    if (!any)
        return (struct range){ values->at[output], values->at[output], NULL };
    if (!drawn) {
        const double close = 1e-9;
        const struct interval proved = graph_interval(scenario->arena, graph, output, box);
        if (!values->ends)
            find_ends(scenario->arena, graph,
                      values->ends = arena_array(scenario->arena, graph->output_count, sizeof *values->ends));
        const double *ends = values->ends[output], most = close * fmax(fabs(ends[0]), fabs(ends[1]));
        const bool near = ends[0] - proved.low <= most && proved.high - ends[1] <= most;
        return near ? (struct range){ proved.low, proved.high, "range" } : (struct range){ ends[0], ends[1], "seen" };
    }
    static const double at[2] = { 0.05, 0.95 };
    enum { SAMPLES = 65536, SEED = 20260429 };
    if (!values->drawn)
        graph_quantiles(scenario->arena, graph, SEED, SAMPLES, at, 2,
                        *(values->drawn = arena_array(scenario->arena, graph->output_count, sizeof *values->drawn)));
    return (struct range){ values->drawn[output][0], values->drawn[output][1], "5-95 %" };
}

bool values_along(const struct scenario *scenario, const char *const *texts, size_t count, const char *row,
                  const double *x, size_t points, double *const *y, struct error *error)
{
    struct scenario at = *scenario;
    struct values values;
    at.facts = facts_copy(&at.facts);
    facts_set(&at.facts, row, x[0], ORIGIN_AXIS, "axis");
    if (!values_known(&at, texts, count, &values, error))
        return false;
    const struct graph *graph = &values.graph;
    struct column *inputs = arena_array(at.arena, graph->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    const int input = graph_input(graph, row);
    if (input >= 0)
        inputs[input] = (struct column){ x, 1 };
    graph_run(graph, inputs, y, points);
    return true;
}
