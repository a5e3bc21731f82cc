/* solve: any input from any equation, the lecture's "set A equal to B and figure it out". */
#include "ask/ask.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool split_equation(struct arena *arena, const char *where, const char **left,
                           const char **right, struct error *error)
{
    const char *equals = where ? strchr(where, '=') : NULL;
    if (!equals || equals == where || !equals[1] || strchr(equals + 1, '=')) {
        error_set(error, where ? "--where: '%.100s' is not an equation" : "solve needs an equation",
                  where ? where : "");
        return error_hint(error, "--where bound_compute=bound_weights");
    }
    *left = arena_copy(arena, where, (size_t)(equals - where));
    *right = equals + 1;
    return true;
}

/* A side may be a quantity with a unit: "200ms". It becomes a number in base units. */
static bool read_side(struct scenario *scenario, const char **side, const char *other,
                      struct error *error)
{
    const struct expr *expr;
    struct quantity quantity;
    struct error inner;
    if (expr_parse(&scenario->book, "--where", 0, text_of(*side), &expr, error) &&
        expr->op != OP_NUMBER)
        return true;
    if (!quantity_parse(text_of(*side), scenario_unit(scenario, other), &quantity, &inner)) {
        if (strchr("0123456789+-.", **side))
            return error_set(error, "--where: %.500s", inner.what) ||
                   error_hint(error, "%s", inner.hint);
        return expr_parse(&scenario->book, "--where", 0, text_of(*side), &expr, error);
    }
    *side = arena_print(scenario->arena, "%.17g", quantity.value);
    return true;
}

static bool same_units(struct scenario *scenario, const char *left, const char *right,
                       struct error *error)
{
    const struct expr *a, *b;
    struct unit ua, ub;
    if (!expr_parse(&scenario->book, "--where", 0, text_of(left), &a, error) ||
        !expr_parse(&scenario->book, "--where", 0, text_of(right), &b, error) ||
        !expr_unit(&scenario->book, a, &ua, error) || !expr_unit(&scenario->book, b, &ub, error))
        return false;
    if (unit_same(ua, ub) || a->op == OP_NUMBER || b->op == OP_NUMBER)
        return true;
    struct buffer wa = { .arena = scenario->arena }, wb = { .arena = scenario->arena };
    unit_print(&wa, ua);
    unit_print(&wb, ub);
    error_set(error, "--where: %s is in %s, %s in %s", left, wa.data, right, wb.data);
    return error_hint(error, "two sides of one unit");
}

/* The unknown becomes an input: of a formula row, a number takes the formula's place. */
static bool free_unknown(struct scenario *scenario, const char *name, double *low, double *high,
                         struct error *error)
{
    int index = book_find(&scenario->book, name);
    if (index < 0)
        return scenario_unknown(scenario, name, error);
    const struct row *row = scenario->book.rows[index];
    const struct fact *given = facts_find(&scenario->facts, row->name);
    double value;
    if (fact_given(given)) {
        error_set(error, "'%s' is to be found, and given by %s", name, given->source);
        return error_hint(error, "one of the two");
    }
    if (row->table) {
        error_set(error, "'%s' has one value per %s", name, row->table);
        return error_hint(error, "a row with one value");
    }
    if (!value_of(scenario, name, &value, error))
        value = 1;
    *low = row->input ? row->low : fabs(value) * 1e-9;
    *high = row->input ? row->high : fabs(value) * 1e9;
    if (*low == *high) {
        error_set(error, "'%s' is a constant", name);
        return error_hint(error, "an input");
    }
    facts_set(&scenario->facts, row->name, value, ORIGIN_AXIS, "solve");
    return true;
}

/* Does the row come in whole numbers, and the root not? */
static bool between_wholes(const struct row *row, double root)
{
    return row->input && unit_counts(row->unit) && row->value == floor(row->value) &&
           row->low == floor(row->low) && row->high == floor(row->high) &&
           row->high - row->low > 2 && fabs(root - floor(root + 0.5)) > 1e-9 * root;
}

/* " (96: 100.1, 97: 99.55 token/s)": the left side at the whole numbers beside a root.
 * Which of the two is wanted, an equation does not say. */
static const char *wholes_text(struct scenario *scenario, const struct row *row, double root,
                               const char *root_text, const char *left)
{
    struct arena *arena = scenario->arena;
    struct unit unit = scenario_unit(scenario, left);
    const char *count[2], *side[2] = { "", "" };
    double value[2];
    struct error ignored;
    for (int i = 0; i < 2; i++) {
        facts_set(&scenario->facts, row->name, floor(root) + i, ORIGIN_AXIS, "solve");
        count[i] = quantity_text(arena, floor(root) + i, unit_one, 9);
        if (!value_of(scenario, left, &value[i], &ignored) ||
            (!strchr(root_text, '.') && !strncmp(root_text, count[i], strlen(count[i]))))
            return "";
    }
    for (int digits = 4; digits < 12 && !strcmp(side[0], side[1]); digits += 2)
        for (int i = 0; i < 2; i++)
            side[i] = quantity_text(arena, value[i], unit, digits);
    const char *first = strchr(side[0], ' '), *second = strchr(side[1], ' ');
    size_t size = first && second && !strcmp(first, second) ? (size_t)(first - side[0])
                                                            : strlen(side[0]);
    return arena_print(arena, " (%s: %.*s, %s: %s)", count[0], (int)size, side[0], count[1],
                       side[1]);
}

static void answer_roots(struct scenario *scenario, const char *name, const char *left,
                         const struct roots *roots, struct answer *answer)
{
    const struct row *row = scenario->book.rows[book_find(&scenario->book, name)];
    const char *where = command_text(scenario->command, "where");
    struct arena *arena = scenario->arena;
    struct unit unit = scenario_unit(scenario, name);
    struct buffer words = { .arena = arena };
    struct error ignored;
    unit_print(&words, unit);
    struct doc *one = doc_add(arena, answer->doc, name, DOC_OBJECT);
    doc_add_number(arena, one, "value", roots->at[0]);
    doc_add_string(arena, one, "unit", words.data);
    struct doc *all = doc_add(arena, one, "roots", DOC_ARRAY);
    for (size_t i = 0; i < roots->count; i++) {
        double sides;
        doc_add_number(arena, all, NULL, roots->at[i]);
        const char *root = quantity_text(arena, roots->at[i], unit, 6);
        const char *wholes = "";
        if (between_wholes(row, roots->at[i]))
            wholes = wholes_text(scenario, row, roots->at[i], root, left);
        facts_set(&scenario->facts, row->name, roots->at[i], ORIGIN_AXIS, "solve");
        buffer_print(&answer->text, "%s = %s%s", name, root, wholes);
        if (value_of(scenario, left, &sides, &ignored))
            buffer_print(&answer->text, "   where %s: both are %s", where,
                         quantity_text(arena, sides, scenario_unit(scenario, left), 6));
        buffer_print(&answer->text, "\n");
    }
    if (between_wholes(row, roots->at[0])) {
        struct doc *wholes = doc_add(arena, one, "whole", DOC_ARRAY);
        doc_add_number(arena, wholes, NULL, floor(roots->at[0]));
        doc_add_number(arena, wholes, NULL, ceil(roots->at[0]));
    }
    facts_set(&scenario->facts, row->name, roots->at[0], ORIGIN_AXIS, "solve");
    scenario_note_misfit(scenario);
    if (roots->more)
        buffer_print(&answer->text, "and %zu more\n", roots->more);
}

static void answer_none(struct scenario *scenario, const char *name, const char *left,
                        const char *right, double low, double high, const struct roots *roots,
                        struct answer *answer)
{
    struct arena *arena = scenario->arena;
    struct unit unit = scenario_unit(scenario, name);
    struct doc *one = doc_add(arena, answer->doc, name, DOC_OBJECT);
    doc_add(arena, one, "value", DOC_NULL);
    doc_add(arena, one, "roots", DOC_ARRAY);
    doc_add_number(arena, one, "closest", roots->closest);
    answer->status = 1;
    buffer_print(&answer->text, "no %s from %s to %s makes %s\n", name,
                 quantity_text(arena, low, unit, 4), quantity_text(arena, high, unit, 4),
                 command_text(scenario->command, "where"));
    double a, b;
    struct error ignored;
    struct unit side = scenario_unit(scenario, left);
    facts_set(&scenario->facts, book_name(&scenario->book, arena, name), roots->closest,
              ORIGIN_AXIS, "solve");
    if (value_of(scenario, left, &a, &ignored) && value_of(scenario, right, &b, &ignored))
        buffer_print(&answer->text, "  nearest at %s: %s there, against %s\n",
                     quantity_text(arena, roots->closest, unit, 4),
                     quantity_text(arena, a, side, 4), quantity_text(arena, b, side, 4));
    if (!roots->beyond_found)
        return;
    doc_add_number(arena, one, "beyond_range", roots->beyond);
    buffer_print(&answer->text, "  outside its range it would hold at %s\n",
                 quantity_text(arena, roots->beyond, unit, 6));
}

bool ask_solve(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct scenario scenario;
    struct values values;
    struct roots roots = { 0 };
    const char *left, *right;
    double low = 0, high = 0;
    if (command->word_count != 1) {
        error_set(error, "solve finds one input, %zu were given", command->word_count);
        return error_hint(error, "chalkline solve batch --where bound_compute=bound_weights");
    }
    const char *name = command->words[0];
    if (!split_equation(arena, command_text(command, "where"), &left, &right, error) ||
        !scenario_read(&scenario, arena, command, command_subject(command), error) ||
        !read_side(&scenario, &left, right, error) || !read_side(&scenario, &right, left, error) ||
        !same_units(&scenario, left, right, error) ||
        !free_unknown(&scenario, name, &low, &high, error) || !scenario_assume(&scenario, error))
        return false;
    const char *difference = arena_print(arena, "(%s) - (%s)", left, right);
    const struct expr *expr;
    struct scenario *s = &scenario;
    if (!expr_parse(&s->book, "--where", 0, text_of(difference), &expr, error) ||
        !list_build(arena, &s->book, &s->facts, &expr, 1, &values.list, error))
        return false;
    const char *row = book_name(&s->book, arena, name);
    int input = list_input(&values.list, row);
    if (input < 0 || !list_depends(arena, &values.list, row)) {
        error_set(error, "'%s' does not appear in %s = %s", name, left, right);
        return error_hint(error, "`chalkline why %s --deep` shows what does", left);
    }
    const char *sides[] = { left, right };
    given_note(&scenario, sides, 2, command_text(command, "where"));
    list_roots(arena, &values.list, 0, (size_t)input, low, high, &roots);
    if (roots.count)
        answer_roots(&scenario, name, left, &roots, answer);
    else
        answer_none(&scenario, name, left, right, low, high, &roots, answer);
    doc_add_string(arena, answer->doc, "where", command_text(command, "where"));
    scenario_notes(&scenario, answer);
    return true;
}

static const struct option solve_list[] = {
    { "where", "A=B", OPTION_TEXT, .help = "the equation to solve" },
    { 0 } };
static const struct option_group solve_options = { "Equation", solve_list };

const struct verb verb_solve = {
    "solve", "INPUT --where A=B", "any input from any equation",
    { "chalkline solve batch --where bound_compute=bound_weights",
      "chalkline solve context --where bound_kv=bound_weights --model deepseek-v3 --on gb200-nvl72" },
    { &solve_options, ANSWER_OPTIONS, &output_options }, ask_solve };
