/* Values of expressions under a scenario: builds a graph, evaluates it, and explains values that
 * do not exist.
 *
 * A value that is not finite is an error that names the first row without one. If it would be
 * finite at another price, the machine has no price, and the value is NAN instead: not known.
 * Ranges and distributions that the user gave are propagated only to outputs that depend on them:
 * bounds by the interval reading, quantiles by seeded draws. */
#include "scenario/scenario.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

struct unit scenario_unit(const struct scenario *scenario, const char *text)
{
    const struct expr *expr;
    struct unit unit = { { 0 } };
    struct error error;
    if (expr_parse(&scenario->book, NULL, 0, text_of(text), &expr, &error))
        expr_unit(&scenario->book, expr, &unit, &error);
    return unit;
}

void doc_add_row(struct arena *arena, struct doc *doc, const char *name, double value)
{
    const struct book *book = book_built_in(BOOK_ALL);
    const int row = book_find(book, name);
    doc_add_number(arena, doc, name, value);
    for (size_t i = 0; i < book->alias_count; i++)
        if (book->aliases[i].row == row && !book->aliases[i].old)
            doc_add_number(arena, doc, book->aliases[i].name, value);
}

bool unit_counts(struct unit unit)
{
    static const struct unit one = { { 0 } }, token = { { 0, 0, 0, 2 } };
    return unit_same(unit, one) || unit_same(unit, token);
}

double log_between(double low, double high, double share)
{
    return low * scalar_exp(share * scalar_log(high / low));
}

/* Name the row to which the first node without a finite value belongs. */
bool values_finite(const struct scenario *scenario, const struct list *list,
                   const double *inputs, struct error *error)
{
    struct arena scratch = arena_beside(scenario->arena);
    double *nodes = arena_array(&scratch, list->count + 1, sizeof *nodes);
    bool finite = true;
    list_value(&scratch, list, inputs, nodes, NULL);
    for (size_t i = 0; i < list->output_count && finite; i++)
        finite = isfinite(nodes[list->outputs[i]]);
    for (size_t i = 0; i < list->count && !finite; i++) {
        const struct node *node = &list->nodes[i];
        if (isfinite(nodes[i]) || node->row < 0)
            continue;
        const struct row *row = scenario->book.rows[node->row];
        error_set(error, "'%s' is not finite for these inputs", row->name);
        error_hint(error, node->op == OP_ROOT ? "no change of sign between the ends of its ROOT; "
                   "`chalkline why %s` shows them" : "`chalkline why %s` shows what it is made of",
                   row->name);
        arena_free(&scratch);
        return false;
    }
    arena_free(&scratch);
    if (finite)
        return true;
    error_set(error, "the expression is not finite for these inputs");
    return error_hint(error, "no division by zero, no logarithm or root of a negative number, "
                      "a change of sign inside every ROOT");
}

static void mark_reached(const struct list *list, size_t output, uint8_t *reached);

void values_unpriced(const struct list *list, const double *inputs, double *at)
{
    const int price = list_input(list, NAME_chip_price);
    if (price < 0 || !isnan(inputs[price]))
        return;
    struct arena scratch = { 0 };
    for (size_t i = 0; i < list->output_count; i++) {
        uint8_t *reached = arena_alloc(&scratch, list->count + 1);
        mark_reached(list, i, reached);
        if (reached[list->inputs[price].node])
            at[i] = NAN;
    }
    arena_free(&scratch);
}

/* Would all values be finite if the machine had a price? */
static bool finite_if_priced(struct scenario *scenario, const struct values *values, int price,
                             struct error *error)
{
    const struct list *list = &values->list;
    struct arena scratch = arena_beside(scenario->arena);
    double *inputs = arena_array(&scratch, list->input_count + 1, sizeof *inputs);
    memcpy(inputs, values->inputs, list->input_count * sizeof *inputs);
    inputs[price] = 1;
    const bool finite = values_finite(scenario, list, inputs, error);
    arena_free(&scratch);
    return finite;
}

static bool values_by(struct scenario *scenario, const char *const *texts, size_t count,
                      bool parts, struct values *values, struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct expr **wanted = arena_array(arena, count + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++) {
        struct unit unit;
        if (!expr_parse(&scenario->book, NULL, 0, text_of(texts[i]), &wanted[i], error) ||
            !expr_unit(&scenario->book, wanted[i], &unit, error))
            return false;
    }
    if (!(parts ? list_build_parts : list_build)(arena, &scenario->book, &scenario->facts, wanted,
                                                 count, &values->list, error))
        return false;
    values->inputs = arena_array(arena, values->list.input_count + 1, sizeof(double));
    values->at = arena_array(arena, count + 1, sizeof(double));
    values->nodes = arena_array(arena, values->list.count + 1, sizeof(double));
    for (size_t i = 0; i < values->list.input_count; i++)
        values->inputs[i] = values->list.inputs[i].value;
    list_value(arena, &values->list, values->inputs, values->nodes, values->at);
    values_unpriced(&values->list, values->inputs, values->at);
    return true;
}

/* Check that all values are finite, or would be if the machine had a price. */
static bool check_values(struct scenario *scenario, const struct values *values, struct error *error)
{
    const int price = list_input(&values->list, NAME_chip_price);
    if (price >= 0 && isnan(values->inputs[price]))
        return finite_if_priced(scenario, values, price, error);
    for (size_t i = 0; i < values->list.output_count; i++)
        if (!isfinite(values->at[i]))
            return values_finite(scenario, &values->list, values->inputs, error);
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

bool value_of(struct scenario *scenario, const char *text, double *value, struct error *error)
{
    struct values values;
    if (!values_of(scenario, &text, 1, &values, error))
        return false;
    *value = values.at[0];
    return true;
}

/* ---- ranges ----------------------------------------------------------------------------- */

bool values_uncertain(struct scenario *scenario, struct values *values)
{
    bool any = false;
    for (size_t i = 0; i < values->list.input_count; i++) {
        struct input *input = &values->list.inputs[i];
        const struct row *row = scenario->book.rows[input->row];
        if (!input->source && row->likely_low < row->likely_high) {
            input->spread = SPREAD_RANGE;
            input->low = row->likely_low;
            input->high = row->likely_high;
        }
        any |= input->spread != SPREAD_NONE;
    }
    return any;
}

/* Mark the nodes, inputs among them, on which an output depends. */
static void mark_reached(const struct list *list, size_t output, uint8_t *reached)
{
    reached[list->outputs[output]] = 1;
    for (size_t i = list->count; i-- > 0;) {
        const struct node *node = &list->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3 && reached[i]; k++)
            if (kids[k] >= 0)
                reached[kids[k]] = 1;
    }
}

struct range values_range(struct scenario *scenario, const struct values *values, size_t output)
{
    const struct list *list = &values->list;
    struct interval *box = arena_array(scenario->arena, list->input_count + 1, sizeof *box);
    uint8_t *reached = arena_alloc(scenario->arena, list->count + 1);
    bool drawn = false, any = false;
    mark_reached(list, output, reached);
    for (size_t i = 0; i < list->input_count; i++) {
        const struct input *input = &list->inputs[i];
        bool range = input->spread == SPREAD_RANGE;
        box[i] = range ? (struct interval){ input->low, input->high }
                       : (struct interval){ input->value, input->value };
        any |= input->spread != SPREAD_NONE && reached[input->node];
        drawn |= input->spread > SPREAD_RANGE && reached[input->node];
    }
    if (isnan(values->at[output]))
        return (struct range){ 0, 0, NULL };
    if (!any)
        return (struct range){ values->at[output], values->at[output], NULL };
    if (!drawn) {
        struct interval bounds = list_interval(scenario->arena, list, output, box);
        return (struct range){ bounds.low, bounds.high, "range" };
    }
    static const double at[2] = { 0.05, 0.95 };
    double ends[2];
    enum { SAMPLES = 65536, SEED = 20260429 };
    list_quantiles(scenario->arena, list, output, SEED, SAMPLES, at, 2, ends);
    return (struct range){ ends[0], ends[1], "5-95 %" };
}
