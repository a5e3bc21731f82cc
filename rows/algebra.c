/* Algebra: an expression printed from its tree, with names, symbols or numbers.
 *
 * Parentheses appear only where precedence requires them; a number with a unit counts as a
 * product. Nested max and min are flattened. A caller can print numbers in the place of rows and
 * choose the branch of a select, so that the same function gives the formula and the formula with
 * numbers. */
#include "rows/rows.h"

#include <string.h>

static const char *const spellings[] = {
#define OPERATOR(name, spelling, arguments) spelling,
#include "rows/operators.def"
#undef OPERATOR
};

/* How tightly an operator binds: 1 comparison, 2 sum, 3 product, 4 sign, 5 the rest. */
static int strength(enum op op)
{
    switch (op) {
    case OP_LESS: case OP_ATMOST: return 1;
    case OP_ADD: case OP_SUB: return 2;
    case OP_MUL: case OP_DIV: return 3;
    case OP_NEG: return 4;
    default: return 5;
    }
}

static void print_expr(struct buffer *out, const struct algebra *how, const struct expr *expr,
                       int around);

/* A number with a unit such as "8 TB/s" needs parentheses beside '*' and '/'. */
static bool print_number(struct buffer *out, const struct algebra *how, const struct expr *expr,
                         int around)
{
    size_t before = out->size;
    if (!how->number || !how->number(how->context, out, expr))
        return false;
    if (around < 3 || !memchr(out->data + before, '/', out->size - before))
        return true;
    char *text = arena_copy(out->arena, out->data + before, out->size - before);
    out->size = before;
    buffer_print(out, "(%s)", text);
    return true;
}

/* "20ms", "(8TB/s)" */
static void print_literal(struct buffer *out, const struct expr *expr, int around)
{
    const bool apart = around >= 3 && memchr(expr_text(expr).data, '/', expr_text(expr).size);
    buffer_print(out, "%s%.*s%s", apart ? "(" : "", (int)expr_text(expr).size, expr_text(expr).data,
                 apart ? ")" : "");
}

static void print_row(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    const struct row *row = formulas_row(how->formulas, expr->row);
    buffer_print(out, "%s", how->symbols && *row_symbol(row) ? row_symbol(row) : row_name(row));
    if (expr->op == OP_ENTRY)
        buffer_print(out, "[%s]", expr_name(expr));
}

static void print_list(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    buffer_print(out, "%s(", spellings[expr->op]);
    if (expr->op == OP_ROOT)
        buffer_print(out, "%s", row_name(formulas_row(how->formulas, expr->row)));
    for (int i = 0; i < 3 && expr_kid(expr, i); i++) {
        if (i || expr->op == OP_ROOT)
            buffer_print(out, ", ");
        print_expr(out, how, expr_kid(expr, i), 0);
    }
    buffer_print(out, ")");
}

/* max(max(a, b), c) is written max(a, b, c). */
static void print_chain(struct buffer *out, const struct algebra *how, const struct expr *expr,
                        enum op op)
{
    if (expr->op == op && expr_kid(expr, 0)->op == op) {
        print_chain(out, how, expr_kid(expr, 0), op);
    } else if (expr->op == op) {
        print_expr(out, how, expr_kid(expr, 0), 0);
    }
    buffer_print(out, ", ");
    print_expr(out, how, expr_kid(expr, 1), 0);
}

static void print_special(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    if (expr->op == OP_AT) {
        buffer_print(out, "AT(");
        print_expr(out, how, expr_kid(expr, 0), 0);
        for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
            buffer_print(out, ", %s = ", row_name(formulas_row(how->formulas, at->row)));
            print_expr(out, how, expr_kid(at, 0), 0);
        }
        buffer_print(out, ")");
        return;
    }
    const char *name = expr->op == OP_SUM ? "SUM" : expr->op == OP_LEAST ? "LEAST" : "MOST";
    buffer_print(out, "%s(%s, ", name, expr_name(expr));
    print_expr(out, how, expr_kid(expr, 0), 0);
    buffer_print(out, ")");
}

static void print_expr(struct buffer *out, const struct algebra *how, const struct expr *expr,
                       int around)
{
    int mine = strength(expr->op);
    switch (expr->op) {
    case OP_ROW: case OP_ENTRY: case OP_AT: case OP_SUM: case OP_LEAST: case OP_MOST: case OP_ROOT:
        if (print_number(out, how, expr, around))
            return;
        break;
    case OP_SELECT: {
        int taken = how->taken ? how->taken(how->context, expr) : 0;
        if (!taken)
            break;
        print_expr(out, how, expr_kid(expr, taken), around);
        return;
    }
    default: break;
    }
    switch (expr->op) {
    case OP_ROW: case OP_ENTRY: print_row(out, how, expr); return;
    case OP_NUMBER: print_literal(out, expr, around); return;
    case OP_AT: case OP_SUM: case OP_LEAST: case OP_MOST: print_special(out, how, expr); return;
    case OP_MAX: case OP_MIN:
        buffer_print(out, "%s(", spellings[expr->op]);
        print_chain(out, how, expr, expr->op);
        buffer_print(out, ")");
        return;
    case OP_NEG: case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_LESS: case OP_ATMOST:
        break;
    case OP_GIVEN: buffer_print(out, "GIVEN(%s)", expr_name(expr)); return;
    default: print_list(out, how, expr); return;
    }
    bool parentheses = mine < around;
    if (parentheses)
        buffer_print(out, "(");
    if (expr->op == OP_NEG) {
        buffer_print(out, "-");
        print_expr(out, how, expr_kid(expr, 0), mine);
    } else {
        bool strict = expr->op == OP_SUB || expr->op == OP_DIV;
        print_expr(out, how, expr_kid(expr, 0), mine);
        buffer_print(out, " %s ", spellings[expr->op]);
        print_expr(out, how, expr_kid(expr, 1), strict ? mine + 1 : mine);
    }
    if (parentheses)
        buffer_print(out, ")");
}

void algebra_print(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    print_expr(out, how, expr, 0);
}
