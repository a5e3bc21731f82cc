/* Equations: the sides of "A=B" read and checked, the unknown freed, the difference as a graph. */
#include "scenario/equation.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

static bool no_equation(const char *where, struct error *error)
{
    error_set(error, where ? "--where: '%.100s' is not an equation" : "solve needs an equation",
              where ? where : "");
    return error_expected(error, "two sides with =, >= or <= between them, as in --where "
                          "bound_compute=bound_weights or --where predicted_tpot=30ms");
}

/* The sign between the sides is the one outside of parentheses: AT(row, input=1) contains others. */
bool equation_split(struct arena *arena, const char *where, struct equation *equation, struct error *error)
{
    const char *sign = NULL;
    int size = 0, depth = 0;
    *equation = (struct equation){ .text = where };
    for (const char *at = where; at && *at; at++) {
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (depth || !strchr("=<>", *at))
            continue;
        if (sign)
            return no_equation(where, error);
        sign = at;
        size = 1 + (at[1] == '=');
        at += size - 1;
    }
    if (!sign || sign == where || !sign[size])
        return no_equation(where, error);
    equation->sign = sign;
    equation->sign_size = size;
    equation->left = arena_copy(arena, where, (size_t)(sign - where));
    equation->right = sign + size;
    equation->relation = *sign == '=' ? RELATION_EQUAL : size == 2 ? RELATION_AT_LEAST : RELATION_MORE;
    equation->turned = *sign == '<';
    return true;
}

static bool is_bare(const struct expr *expr)
{
    while (expr->op == OP_NEG)
        expr = expr_kid(expr, 0);
    return expr->op == OP_NUMBER && unit_same(expr->unit, unit_one);
}

bool equation_number(const char *side)
{
    return strchr("0123456789+-.", *side) != NULL;
}

/* A side may be a number in the unit of the other, or with a unit or a suffix: "200ms", "128k". It
 * becomes a number in base units. */
static bool read_side(struct scenario *scenario, const char **side, const char *other,
                      struct error *error)
{
    const struct expr *expr;
    struct quantity quantity;
    struct error inner;
    const bool number = equation_number(*side);
    if (number && quantity_parse(text_of(*side), scenario_unit(scenario, other), &quantity, &inner) &&
        quantity.distribution == DISTRIBUTION_NONE) {
        *side = arena_print(scenario->arena, "%.17g", quantity.value);
        return true;
    }
    if (expr_parse(&scenario->formulas, "--where", 0, text_of(*side), &expr, error))
        return !number || expr->op != OP_NUMBER || error_set(error, "--where: %.500s", inner.what) ||
               error_hint_of(error, &inner);
    return false;
}

static bool same_units(struct scenario *scenario, const char *left, const char *right,
                       struct error *error)
{
    const struct expr *a, *b;
    struct unit ua, ub;
    if (!expr_parse(&scenario->formulas, "--where", 0, text_of(left), &a, error) ||
        !expr_parse(&scenario->formulas, "--where", 0, text_of(right), &b, error) ||
        !expr_unit(&scenario->formulas, a, &ua, error) || !expr_unit(&scenario->formulas, b, &ub, error))
        return false;
    if (unit_same(ua, ub) || is_bare(a) || is_bare(b))
        return true;
    error_set(error, "--where: %s is in %s, %s in %s", left, unit_name(scenario->arena, ua), right,
              unit_name(scenario->arena, ub));
    return error_expected(error, "the same unit on both sides");
}

/* The unknown becomes an input: of a formula row, a number takes the formula's place. */
bool equation_unknown(struct scenario *scenario, const char *name, double *low, double *high,
                      struct error *error)
{
    int index;
    double value;
    if (!scenario_find_row(scenario, name, "solve", &index, error))
        return false;
    const struct row *row = formulas_row(&scenario->formulas, index);
    if (row_table(row) && !strchr(name, '[')) {
        error_set(error, "'%s' has one value per %s", name, row_table(row));
        return error_expected(error, "a row with one value, or an entry as in '%s[NAME]'", row_name(row));
    }
    if (!value_of(scenario, name, &value, error))
        value = 1;
    *low = row->input ? row->low : fabs(value) * 1e-9;
    *high = row->input ? row->high : fabs(value) * 1e9;
    if (*low == *high) {
        error_set(error, "'%s' is a constant", name);
        return error_expected(error, "a row that can be given a value");
    }
    facts_set(&scenario->facts, formulas_name(&scenario->formulas, scenario->arena, name), value, ORIGIN_AXIS, "solve");
    return true;
}

/* A side that begins with no digit is an expression whose units agree. */
static bool check_side(struct scenario *scenario, const char *side, struct error *error)
{
    const struct expr *expr;
    struct unit unit;
    return equation_number(side) ||
           (expr_parse(&scenario->formulas, "--where", 0, text_of(side), &expr, error) &&
            expr_unit(&scenario->formulas, expr, &unit, error));
}

void equation_note_bare(struct scenario *scenario, const struct equation *equation)
{
    const char *sides[] = { equation->left, equation->right };
    for (int i = 0; i < 2; i++) {
        const struct unit unit = scenario_unit(scenario, sides[1 - i]);
        if (equation_number(sides[i]) && !equation_number(sides[1 - i]) && !unit_counts(unit))
            scenario_note_bare(scenario, arena_print(scenario->arena, "--where %s: ", equation->text), sides[i],
                               unit_name(scenario->arena, unit));
    }
}

bool equation_read(struct scenario *scenario, struct equation *equation, struct error *error)
{
    return check_side(scenario, equation->left, error) &&
           check_side(scenario, equation->right, error) &&
           read_side(scenario, &equation->left, equation->right, error) &&
           read_side(scenario, &equation->right, equation->left, error) &&
           same_units(scenario, equation->left, equation->right, error);
}

bool equation_graph(struct scenario *scenario, const struct equation *equation, struct graph *graph,
                    struct error *error)
{
    const char *left = equation->turned ? equation->right : equation->left;
    const char *right = equation->turned ? equation->left : equation->right;
    const char *difference = arena_print(scenario->arena, "(%s) - (%s)", left, right);
    const struct expr *expr;
    return expr_parse(&scenario->formulas, "--where", 0, text_of(difference), &expr, error) &&
           graph_build(scenario->arena, &scenario->formulas, &scenario->facts, &expr, 1, graph, error);
}

bool equation_roots(struct scenario *scenario, const char *where, const char *name, struct solution *found)
{
    struct equation equation;
    struct graph graph;
    struct error ignored;
    double low, high;
    if (!equation_split(scenario->arena, where, &equation, &ignored) ||
        !equation_read(scenario, &equation, &ignored) ||
        !equation_unknown(scenario, name, &low, &high, &ignored) ||
        !equation_graph(scenario, &equation, &graph, &ignored))
        return false;
    const int input = graph_input(&graph, formulas_name(&scenario->formulas, scenario->arena, name));
    if (input < 0)
        return false;
    graph_solve(scenario->arena, &graph, 0, (size_t)input, RELATION_EQUAL, low, high, found);
    return true;
}
