/* Formulas as MathML, for the page: the same tree that algebra.c prints as text.
 *
 * A row is an <mrow> that carries its name, so that the page can link it; AT is a bar with what
 * changes, SUM, LEAST and MOST are operators over their table, ROOT is the x between two ends
 * where an expression is 0, and select is a graph of cases. A caller may put numbers in the place
 * of rows (struct algebra). Parentheses follow the operators' precedence and nothing else. */
#include "rows/rows.h"

#include <string.h>

struct greek {
    const char *name, *letter;
};
static const struct greek greek[] = {
    { "alpha", "α" }, { "beta", "β" }, { "eta", "η" }, { "kappa", "κ" }, { "lambda", "λ" },
    { "phi", "φ" }, { "psi", "ψ" }, { "rho", "ρ" }, { "inf", "∞" },
};

enum { EITHER = 1, BOTH, COMPARISON, SUM, PRODUCT, SIGN, ATOM };

static int strength(enum op op)
{
    switch (op) {
    case OP_EITHER: return EITHER;
    case OP_BOTH: return BOTH;
    case OP_LESS: case OP_ATMOST: return COMPARISON;
    case OP_ADD: case OP_SUB: return SUM;
    case OP_MUL: return PRODUCT;
    case OP_NEG: return SIGN;
    default: return ATOM;           /* a fraction needs no parentheses either */
    }
}

static void escape(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        const char *entity = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;"
                           : c == '"' ? "&quot;" : NULL;
        buffer_add(out, entity ? entity : &text.data[i], entity ? strlen(entity) : 1);
    }
}

/* ---- symbols ------------------------------------------------------------------------------ */

static void print_letters(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
        if (text_is(text, greek[i].name))
            text = text_of(greek[i].letter);
    buffer_print(out, "<mi%s>", text.size > 3 ? " mathvariant=\"normal\"" : "");
    escape(out, text);
    buffer_print(out, "</mi>");
}

/* "T_kv", "B*", "F/W", "$g": subscript, star and quotient. */
static void print_symbol(struct buffer *out, struct text symbol)
{
    const char *slash = memchr(symbol.data, '/', symbol.size);
    if (slash && slash > symbol.data) {
        struct text rest = { slash + 1, symbol.size - (size_t)(slash + 1 - symbol.data) };
        buffer_print(out, "<mrow>");
        print_symbol(out, (struct text){ symbol.data, (size_t)(slash - symbol.data) });
        buffer_print(out, "<mo>/</mo>");
        print_symbol(out, rest);
        buffer_print(out, "</mrow>");
        return;
    }
    const char *low = memchr(symbol.data, '_', symbol.size);
    bool star = symbol.size > 1 && symbol.data[symbol.size - 1] == '*';
    if (low && low > symbol.data) {
        struct text under = { low + 1, symbol.size - (size_t)(low + 1 - symbol.data) };
        buffer_print(out, "<msub>");
        print_letters(out, (struct text){ symbol.data, (size_t)(low - symbol.data) });
        print_letters(out, under);
        buffer_print(out, "</msub>");
    } else if (star) {
        buffer_print(out, "<msup>");
        print_letters(out, (struct text){ symbol.data, symbol.size - 1 });
        buffer_print(out, "<mo>*</mo></msup>");
    } else {
        print_letters(out, symbol);
    }
}

void mathml_symbol(struct buffer *out, const struct row *row)
{
    buffer_print(out, "<mrow data-row=\"%s\">", row_name(row));
    if (*row_symbol(row)) {
        print_symbol(out, text_of(row_symbol(row)));
    } else {
        buffer_print(out, "<mi class=\"word\">");             /* beside <mtext> a sign is no infix */
        for (const char *c = row_name(row); *c; c++)
            buffer_add(out, *c == '_' ? " " : c, 1);
        buffer_print(out, "</mi>");
    }
    buffer_print(out, "</mrow>");
}

/* ---- expressions -------------------------------------------------------------------------- */

static void print_expr(struct buffer *out, const struct algebra *how, const struct expr *expr,
                       int around);

static void print_between(struct buffer *out, const struct algebra *how, const struct expr *expr,
                          const char *left, const char *right)
{
    buffer_print(out, "<mrow><mo>%s</mo>", left);
    print_expr(out, how, expr, 0);
    buffer_print(out, "<mo>%s</mo></mrow>", right);
}

/* max(max(a, b), c) is written max(a, b, c). */
static void print_chain(struct buffer *out, const struct algebra *how, const struct expr *expr,
                        enum op op)
{
    if (expr_kid(expr, 0)->op == op)
        print_chain(out, how, expr_kid(expr, 0), op);
    else
        print_expr(out, how, expr_kid(expr, 0), 0);
    buffer_print(out, "<mo separator=\"true\">,</mo>");
    print_expr(out, how, expr_kid(expr, 1), 0);
}

static void print_extreme(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    buffer_print(out, "<mrow><mi mathvariant=\"normal\">%s</mi><mo>(</mo>",
                 expr->op == OP_MAX ? "max" : "min");
    print_chain(out, how, expr, expr->op);
    buffer_print(out, "<mo>)</mo></mrow>");
}

static void print_row(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    const struct row *row = formulas_row(how->formulas, expr->row);
    if (expr->op != OP_ENTRY) {
        mathml_symbol(out, row);
        return;
    }
    buffer_print(out, "<msub>");
    mathml_symbol(out, row);
    buffer_print(out, "<mtext>");
    escape(out, text_of(expr_name(expr)));
    buffer_print(out, "</mtext></msub>");
}

/* A row read at another point: a bar with what changes. */
static void print_at(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    buffer_print(out, "<msub><mrow>");
    print_expr(out, how, expr_kid(expr, 0), ATOM);
    buffer_print(out, "<mo stretchy=\"false\">|</mo></mrow><mrow>");
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        buffer_print(out, "%s", at == expr_at(expr) ? "" : "<mo separator=\"true\">,</mo>");
        mathml_symbol(out, formulas_row(how->formulas, at->row));
        buffer_print(out, "<mo>=</mo>");
        print_expr(out, how, expr_kid(at, 0), 0);
    }
    buffer_print(out, "</mrow></msub>");
}

static void print_over(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    const char *sign = expr->op == OP_SUM ? "<mo>∑</mo>"
                     : expr->op == OP_LEAST ? "<mi mathvariant=\"normal\">min</mi>"
                                            : "<mi mathvariant=\"normal\">max</mi>";
    buffer_print(out, "<mrow><munder>%s<mtext>", sign);
    escape(out, text_of(expr_name(expr)));
    buffer_print(out, "</mtext></munder>");
    print_expr(out, how, expr_kid(expr, 0), PRODUCT);
    buffer_print(out, "</mrow>");
}

/* The x between low and high at which f is 0. */
static void print_root(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    buffer_print(out, "<mrow>");
    mathml_symbol(out, formulas_row(how->formulas, expr->row));
    buffer_print(out, "<mo>:</mo>");
    print_expr(out, how, expr_kid(expr, 2), 0);
    buffer_print(out, "<mo>=</mo><mn>0</mn></mrow>");
}

static void print_cases(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    buffer_print(out, "<mrow><mo>{</mo><mtable columnalign=\"left\"><mtr><mtd>");
    print_expr(out, how, expr_kid(expr, 1), 0);
    buffer_print(out, "</mtd><mtd><mtext>if </mtext>");
    print_expr(out, how, expr_kid(expr, 0), 0);
    buffer_print(out, "</mtd></mtr><mtr><mtd>");
    print_expr(out, how, expr_kid(expr, 2), 0);
    buffer_print(out, "</mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>");
}

static void print_sign(struct buffer *out, const struct algebra *how, const struct expr *expr,
                       int around)
{
    bool parentheses = SIGN < around;
    buffer_print(out, "<mrow>%s<mo>−</mo>", parentheses ? "<mo>(</mo>" : "");
    print_expr(out, how, expr_kid(expr, 0), SIGN);
    buffer_print(out, "%s</mrow>", parentheses ? "<mo>)</mo>" : "");
}

/* A base that is itself high or raised would read as another power. */
static void print_power(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    const enum op base = expr_kid(expr, 0)->op;
    buffer_print(out, "<msup><mrow>");
    if (base == OP_DIV || base == OP_POW || base == OP_EXP)
        print_between(out, how, expr_kid(expr, 0), "(", ")");
    else
        print_expr(out, how, expr_kid(expr, 0), ATOM);
    buffer_print(out, "</mrow><mrow>");
    print_expr(out, how, expr_kid(expr, 1), 0);
    buffer_print(out, "</mrow></msup>");
}

static void print_infix(struct buffer *out, const struct algebra *how, const struct expr *expr,
                        int around)
{
    int mine = strength(expr->op);
    bool parentheses = mine < around;
    const char *sign = expr->op == OP_ADD ? "+" : expr->op == OP_SUB ? "−"
                     : expr->op == OP_LESS ? "&lt;" : expr->op == OP_ATMOST ? "≤"
                     : expr->op == OP_BOTH ? "∧" : expr->op == OP_EITHER ? "∨"
                     : how->number ? "×" : "·";
    buffer_print(out, "<mrow>%s", parentheses ? "<mo>(</mo>" : "");
    print_expr(out, how, expr_kid(expr, 0), mine);
    buffer_print(out, "<mo>%s</mo>", sign);
    print_expr(out, how, expr_kid(expr, 1), expr->op == OP_SUB ? mine + 1 : mine);
    buffer_print(out, "%s</mrow>", parentheses ? "<mo>)</mo>" : "");
}

static void print_function(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    switch (expr->op) {
    case OP_SQRT:
        buffer_print(out, "<msqrt>");
        print_expr(out, how, expr_kid(expr, 0), 0);
        buffer_print(out, "</msqrt>");
        return;
    case OP_EXP:
        buffer_print(out, "<msup><mi>e</mi><mrow>");
        print_expr(out, how, expr_kid(expr, 0), 0);
        buffer_print(out, "</mrow></msup>");
        return;
    case OP_LOG:
        buffer_print(out, "<mrow><mi mathvariant=\"normal\">ln</mi>");
        print_between(out, how, expr_kid(expr, 0), "(", ")");
        buffer_print(out, "</mrow>");
        return;
    case OP_FLOOR: print_between(out, how, expr_kid(expr, 0), "⌊", "⌋"); return;
    case OP_CEIL: print_between(out, how, expr_kid(expr, 0), "⌈", "⌉"); return;
    default: print_between(out, how, expr_kid(expr, 0), "|", "|"); return;       /* ABS */
    }
}

/* A number in the place of a row, an AT, a SUM or a ROOT. */
static bool print_number(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    switch (expr->op) {
    case OP_ROW: case OP_ENTRY: case OP_AT: case OP_SUM: case OP_LEAST: case OP_MOST: case OP_ROOT:
        return how->number && how->number(how->context, out, expr);
    default:
        return false;
    }
}

/* A number, and its unit as text. */
static void print_literal(struct buffer *out, const struct expr *expr)
{
    size_t size = expr_text(expr).size;
    double number;
    while (size && !text_number((struct text){ expr_text(expr).data, size }, &number))
        size--;
    buffer_print(out, "<mn>%.*s</mn>", (int)size, expr_text(expr).data);
    if (size < expr_text(expr).size)
        buffer_print(out, "<mtext>%.*s</mtext>", (int)(expr_text(expr).size - size), expr_text(expr).data + size);
}

static void print_expr(struct buffer *out, const struct algebra *how, const struct expr *expr,
                       int around)
{
    if (print_number(out, how, expr))
        return;
    switch (expr->op) {
    case OP_ROW: case OP_ENTRY: print_row(out, how, expr); return;
    case OP_NUMBER: print_literal(out, expr); return;
    case OP_AT: print_at(out, how, expr); return;
    case OP_SUM: case OP_LEAST: case OP_MOST: print_over(out, how, expr); return;
    case OP_ROOT: print_root(out, how, expr); return;
    case OP_GIVEN:
        buffer_print(out, "<mrow><mtext>given&#160;</mtext><mtext>%s</mtext></mrow>", expr_name(expr));
        return;
    case OP_MAX: case OP_MIN: print_extreme(out, how, expr); return;
    case OP_POW: print_power(out, how, expr); return;
    case OP_SELECT: {
        int taken = how->taken ? how->taken(how->context, expr) : 0;
        if (taken)
            print_expr(out, how, expr_kid(expr, taken), around);
        else
            print_cases(out, how, expr);
        return;
    }
    case OP_DIV:
        buffer_print(out, "<mfrac><mrow>");
        print_expr(out, how, expr_kid(expr, 0), 0);
        buffer_print(out, "</mrow><mrow>");
        print_expr(out, how, expr_kid(expr, 1), 0);
        buffer_print(out, "</mrow></mfrac>");
        return;
    case OP_NEG: print_sign(out, how, expr, around); return;
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_LESS: case OP_ATMOST: case OP_BOTH:
    case OP_EITHER: print_infix(out, how, expr, around); return;
    default: print_function(out, how, expr); return;
    }
}

void mathml_print(struct buffer *out, const struct algebra *how, const struct expr *expr)
{
    print_expr(out, how, expr, 0);
}
