/* Sentences with values: each mark in braces is a row or an expression, printed with its unit. */
#include "lecture/sentence.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 3 };

/* The operand that decides, so far. */
struct binding_part {
    const char *words;
    double value;
};

static void weigh(struct scenario *scenario, const char *text, const char *words, double sign,
                  struct binding_part *best)
{
    const double value = sign * value_or_nan(scenario, text);
    if (value > best->value)
        *best = (struct binding_part){ words, value };
}

/* Weigh the rows that a max, min or sum consists of, and the entries of a least or most. */
static void weigh_operands(struct scenario *scenario, const struct expr *expr, double sign,
                           struct binding_part *best)
{
    expr = select_taken(scenario, expr);
    if (!expr)
        return;
    if (expr->op == OP_ROW) {
        const struct row *row = formulas_row(&scenario->formulas, expr->row);
        weigh(scenario, row_name(row), arena_copy(scenario->arena, row_meaning(row), strcspn(row_meaning(row), ",;:(")),
              sign, best);
    } else if ((expr->op == OP_LEAST || expr->op == OP_MOST) && expr_kid(expr, 0)->op == OP_ROW) {
        const struct fact_table *table = facts_table(&scenario->facts, expr_name(expr));
        for (size_t i = 0; table && i < table->entries; i++)
            weigh(scenario, arena_print(scenario->arena, "%s[%s]",
                                        row_name(formulas_row(&scenario->formulas, expr_kid(expr, 0)->row)),
                                        table->entry[i]),
                  table->entry[i], sign, best);
    } else if (expr->op == OP_MAX || expr->op == OP_MIN || expr->op == OP_ADD) {
        weigh_operands(scenario, expr_kid(expr, 0), sign, best);
        weigh_operands(scenario, expr_kid(expr, 1), sign, best);
    }
}

/* What decides a row, or a row AT other values: the largest operand of its max or sum, the smallest of
 * its min, as the first words of that row's meaning or as the name of the entry. */
static const char *binds_text(const struct scenario *scenario, const char *text)
{
    struct scenario there = *scenario;
    struct binding_part best = { text, -INFINITY };
    const struct expr *expr;
    struct error ignored;
    if (!expr_parse(&there.formulas, "statement", 1, text_of(text), &expr, &ignored))
        return text;
    there.facts = facts_copy(&scenario->facts);
    if (expr->op == OP_AT) {
        for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
            const struct text value = expr_text(expr_kid(at, 0));
            facts_set(&there.facts, row_name(formulas_row(&there.formulas, at->row)),
                      value_or_nan(&there, arena_copy(there.arena, value.data, value.size)), ORIGIN_CHOSEN,
                      "the statement");
        }
        expr = expr_kid(expr, 0);
    }
    if (expr->op != OP_ROW)
        return text;
    expr = select_taken(&there, row_expr(formulas_row(&there.formulas, expr->row)));
    if (expr)
        weigh_operands(&there, expr, expr->op == OP_MIN || expr->op == OP_LEAST ? -1 : 1, &best);
    return best.words;
}

/* " (low to high)", where an input has a range, given or plausible. */
static void print_range(struct scenario *scenario, const char *name, struct buffer *out)
{
    struct values values;
    struct error ignored;
    if (!values_of(scenario, &name, 1, &values, &ignored) || !values_uncertain(scenario, &values))
        return;
    const struct range range = values_range(scenario, &values, 0);
    const struct unit unit = scenario_unit(scenario, name);
    if (range.low < range.high)
        buffer_print(out, " (%s to %s)", quantity_text(scenario->arena, range.low, unit, DIGITS),
                     quantity_text(scenario->arena, range.high, unit, DIGITS));
}

/* A value in words: "7.23 ms", "1,000 tokens"; with '@' a large whole number, "181 M tokens"; with '%' a share, "23.6 %". */
static const char *value_text(const struct scenario *scenario, const char *text, double value, char form)
{
    const struct unit unit = scenario_unit(scenario, text);
    struct buffer out = { .arena = scenario->arena };
    if (form == '%') {
        buffer_print(&out, "%s %%", quantity_text(scenario->arena, 100 * value, unit_one, DIGITS));
    } else if (form == '@') {
        buffer_print(&out, "%s", large_text(scenario->arena, value));
        if (!unit_same(unit, unit_one)) {
            buffer_print(&out, " ");
            unit_print(&out, unit);
        }
    } else {
        buffer_print(&out, "%s", quantity_text(scenario->arena, value, unit, DIGITS));
    }
    const size_t word = strlen(" token");
    const bool tokens = out.size > word && !strcmp(out.data + out.size - word, " token");
    return tokens && strcmp(out.data, "1 token") ? arena_print(scenario->arena, "%ss", out.data) : out.data;
}

/* The mark in braces as text; false: it has no value here. */
static bool print_mark(struct scenario *scenario, struct text mark, struct buffer *out)
{
    static const char binds[] = ".binds";
    const size_t ending = strlen(binds);
    const char *name = arena_copy(scenario->arena, mark.data, mark.size);
    if (mark.size > ending && !strcmp(name + mark.size - ending, binds)) {
        buffer_print(out, "%s", binds_text(scenario, arena_copy(scenario->arena, name, mark.size - ending)));
        return true;
    }
    const char last = mark.size ? mark.data[mark.size - 1] : 0;
    if (last && strchr("-@%", last))
        name = arena_copy(scenario->arena, mark.data, mark.size - 1);
    const double value = value_or_nan(scenario, name);
    buffer_print(out, "%s", isnan(value) ? "unknown" : value_text(scenario, name, value, last));
    if (last == '-')
        print_range(scenario, name, out);
    return !isnan(value);
}

/* After a "1": "1 chip", where the sentence says "{chips} chips". */
static const char *one_of(const char *text, struct buffer *out)
{
    static const char *const several[] = { " chips", " stages", " layers", " experts", " domains", " sequences" };
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        const size_t size = strlen(several[i]);
        if (strncmp(text, several[i], size))
            continue;
        buffer_add(out, several[i], size - 1);
        return text + size;
    }
    return text;
}

const char *sentence_fill(struct scenario *scenario, const char *template, bool *known)
{
    bool all = true;
    struct buffer out = { .arena = scenario->arena };
    buffer_add(&out, "", 0);
    for (const char *at = template; *at;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        if (close) {
            const size_t begin = out.size;
            all &= print_mark(scenario, (struct text){ at + 1, (size_t)(close - at - 1) }, &out);
            at = close + 1;
            if (!strcmp(out.data + begin, "1"))
                at = one_of(at, &out);
        } else {
            const size_t size = 1 + strcspn(at + 1, "{");
            buffer_add(&out, at, size);
            at += size;
        }
    }
    if (known)
        *known = all;
    return out.data;
}
