/* Checks the units of expressions.
 *
 * Operands of sums, comparisons, max and min must have the same unit; exp and log take none; a
 * power with a literal exponent n or n/2 scales the unit. A literal zero has every unit; another
 * bare number has none. The error shows both units and the part of the expression where they
 * disagree. */
#include "rows/rows.h"

#include <math.h>

struct row_checker {
    const struct formulas *formulas;
    const struct row *row;          /* whose expression it is, for messages; may be NULL */
    struct error *error;
};

static bool check(struct row_checker *checker, const struct expr *expr, struct unit *unit,
                  bool *free);

static const char *unit_words(struct row_checker *checker, struct unit unit)
{
    return unit_name(checker->formulas->arena, unit);
}

static bool disagree(struct row_checker *checker, const struct expr *expr, struct unit a,
                     struct unit b)
{
    const struct row *row = checker->row;
    const struct text text = expr_text(expr);
    int size = text.size > 100 ? 100 : (int)text.size;
    if (row)
        error_set(checker->error, "%s:%d: %s: unit mismatch in '%.*s': %s and %s", row_file(row),
                  row->line, row_name(row), size, text.data, unit_words(checker, a),
                  unit_words(checker, b));
    else
        error_set(checker->error, "unit mismatch in '%.*s': %s and %s", size, text.data,
                  unit_words(checker, a), unit_words(checker, b));
    return error_expected(checker->error, "equal units on both sides");
}

static bool check_equal(struct row_checker *checker, const struct expr *expr, int first,
                        struct unit *unit, bool *free)
{
    struct unit other;
    bool other_free;
    if (!check(checker, expr_kid(expr, first), unit, free) ||
        !check(checker, expr_kid(expr, first + 1), &other, &other_free))
        return false;
    if (*free)
        *unit = other;
    else if (!other_free && !unit_same(*unit, other))
        return disagree(checker, expr, *unit, other);
    *free = *free && other_free;
    return true;
}

static bool check_plain(struct row_checker *checker, const struct expr *expr, struct unit *unit)
{
    static const struct unit one = { { 0 } };
    bool free;
    if (!check(checker, expr, unit, &free))
        return false;
    if (!free && !unit_same(*unit, one))
        return disagree(checker, expr, *unit, one);
    *unit = one;
    return true;
}

/* A literal exponent n or n/2 scales the unit; else base and exponent have none. */
static bool check_pow(struct row_checker *checker, const struct expr *expr, struct unit *unit)
{
    static const struct unit one = { { 0 } };
    const struct expr *power = expr_kid(expr, 1);
    double sign = power->op == OP_NEG ? -1 : 1;
    const struct expr *literal = power->op == OP_NEG ? expr_kid(power, 0) : power;
    bool free;
    if (literal->op != OP_NUMBER || floor(2 * literal->number) != 2 * literal->number ||
        literal->number > 16) {
        struct unit other;
        return check_plain(checker, expr_kid(expr, 0), unit) && check_plain(checker, power, &other);
    }
    struct unit base;
    if (!check(checker, expr_kid(expr, 0), &base, &free))
        return false;
    *unit = one;
    for (int i = 0; i < UNIT_COUNT; i++)
        unit->half[i] = (int8_t)fmax(-120, fmin(120, base.half[i] * sign * literal->number));
    return true;
}

static bool check_infix(struct row_checker *checker, const struct expr *expr, struct unit *unit)
{
    struct unit other;
    bool free;
    if (!check(checker, expr_kid(expr, 0), unit, &free) ||
        !check(checker, expr_kid(expr, 1), &other, &free))
        return false;
    *unit = unit_power(*unit, other, expr->op == OP_MUL ? 1 : -1);
    return true;
}

/* On the command line, where no row is checked, a bare number is in the unit of the row it is for. */
static bool check_bindings(struct row_checker *checker, const struct expr *expr)
{
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        struct unit unit, wanted = formulas_row(checker->formulas, at->row)->unit;
        bool free;
        if (!check(checker, expr_kid(at, 0), &unit, &free))
            return false;
        free |= !checker->row && expr_kid(at, 0)->op == OP_NUMBER && unit_same(unit, unit_one);
        if (!free && !unit_same(unit, wanted))
            return disagree(checker, expr_kid(at, 0), unit, wanted);
    }
    return true;
}

static bool check_root(struct row_checker *checker, const struct expr *expr, struct unit *unit)
{
    struct unit other;
    bool free;
    *unit = formulas_row(checker->formulas, expr->row)->unit;
    for (int i = 0; i < 2; i++) {
        if (!check(checker, expr_kid(expr, i), &other, &free))
            return false;
        if (!free && !unit_same(*unit, other))
            return disagree(checker, expr, *unit, other);
    }
    return check(checker, expr_kid(expr, 2), &other, &free);
}

static bool check(struct row_checker *checker, const struct expr *expr, struct unit *unit,
                  bool *free)
{
    *unit = (struct unit){ { 0 } };
    *free = expr->op == OP_NUMBER && expr->number == 0 && unit_same(expr->unit, *unit);
    switch (expr->op) {
    case OP_NUMBER: *unit = expr->unit; return true;
    case OP_ROW: case OP_ENTRY: *unit = formulas_row(checker->formulas, expr->row)->unit; return true;
    case OP_ADD: case OP_SUB: case OP_MAX: case OP_MIN:
        return check_equal(checker, expr, 0, unit, free);
    case OP_MUL: case OP_DIV: return check_infix(checker, expr, unit);
    case OP_EXP: case OP_LOG: return check_plain(checker, expr_kid(expr, 0), unit);
    case OP_POW: return check_pow(checker, expr, unit);
    case OP_NEG: case OP_ABS: case OP_FLOOR: case OP_CEIL:
    case OP_SUM: case OP_LEAST: case OP_MOST:
        return check(checker, expr_kid(expr, 0), unit, free);
    case OP_SQRT:
        if (!check(checker, expr_kid(expr, 0), unit, free))
            return false;
        for (int i = 0; i < UNIT_COUNT; i++) {
            if (unit->half[i] % 2)
                return disagree(checker, expr, *unit, (struct unit){ { 0 } });
            unit->half[i] = (int8_t)(unit->half[i] / 2);
        }
        return true;
    case OP_LESS: case OP_ATMOST:
        if (!check_equal(checker, expr, 0, unit, free))
            return false;
        *unit = (struct unit){ { 0 } };
        return true;
    case OP_BOTH: case OP_EITHER: {
        struct unit other;
        return check(checker, expr_kid(expr, 0), unit, free) &&
               check(checker, expr_kid(expr, 1), &other, free);
    }
    case OP_SELECT: {
        struct unit condition;
        return check(checker, expr_kid(expr, 0), &condition, free) &&
               check_equal(checker, expr, 1, unit, free);
    }
    case OP_AT:
        return check_bindings(checker, expr) && check(checker, expr_kid(expr, 0), unit, free);
    case OP_ROOT: return check_root(checker, expr, unit);
    case OP_GIVEN: case OP_INPUT: case OP_VAR: case OP_BINDING: break;  /* 1 or 0; only in lists; in an AT */
    }
    return true;
}

bool expr_unit(const struct formulas *formulas, const struct expr *expr, struct unit *unit,
               struct error *error)
{
    struct row_checker checker = { formulas, NULL, error };
    bool free;
    return check(&checker, expr, unit, &free);
}

bool formulas_check_units(const struct formulas *formulas, struct error *error)
{
    for (size_t i = 0; i < formulas->count; i++) {
        const struct row *row = formulas_row(formulas, i);
        struct row_checker checker = { formulas, row, error };
        struct unit unit;
        bool free;
        if (!row_expr(row))
            continue;
        if (!check(&checker, row_expr(row), &unit, &free))
            return false;
        if (!free && !unit_same(unit, row->unit)) {
            error_set(error, "%s:%d: %s is declared in %s, its expression gives %s", row_file(row),
                      row->line, row_name(row), row_unit_text(row), unit_words(&checker, unit));
            return error_suggest(error, "either the declared unit or the expression is wrong");
        }
    }
    return true;
}
