/* why: the algebra of a row, the same line with numbers, what binds, and which inputs matter.
 * why.template is its text.
 *
 * All figures are read from graphs built at the scenario's point. Operands of `max`, `min` and
 * sums, and the entries of a SUM, are shown as terms with the binding one marked; parts of a
 * breakdown are derivatives by a scale on each part (graph_breakdown). An elasticity is the change
 * for 1 % more of an input; where a floor or ceil makes the derivative meaningless, the change is
 * measured by evaluating at the other point. Choices such as a layout are held, since 1 % more of
 * them would be another deployment. */
#include "ask/ask.h"
#include "report/picture.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "lecture/question.h"
#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct why {
    struct scenario *scenario;
    const char *asked;              /* the word of the question */
    const char *entry;              /* "[moe]" for a row of a table, or "" */
    struct error *error;
};

enum { DIGITS = 4 };

/* The text of an expression as it must be read outside its table: rows of that table
 * get the entry. SUM and AT stay as they are. */
static const char *outside(const struct why *why, const struct expr *expr)
{
    struct arena *arena = why->scenario->arena;
    const struct text part = expr_text(expr);
    const char *text = arena_copy(arena, part.data, part.size);
    if (expr->op == OP_ROW && row_table(formulas_row(&why->scenario->formulas, expr->row)))
        return arena_print(arena, "%s%s", text, why->entry);
    return text;
}

static bool number_of(const struct why *why, const struct expr *expr, double *value)
{
    struct error ignored;
    return value_of(why->scenario, outside(why, expr), value, &ignored);
}

static bool print_value(void *context, struct buffer *out, const struct expr *expr)
{
    const struct why *why = context;
    double value;
    struct unit unit;
    if (!number_of(why, expr, &value) ||
        !expr_unit(&why->scenario->formulas, expr, &unit, why->error))
        return false;
    quantity_print(out, value, unit, DIGITS);
    return true;
}

static int branch_taken(void *context, const struct expr *select)
{
    const struct why *why = context;
    return select_branch(why->scenario, select);
}

static const struct expr *without_selects(struct why *why, const struct expr *expr)
{
    while (expr->op == OP_SELECT) {
        int taken = branch_taken(why, expr);
        if (!taken)
            return expr;
        expr = expr_kid(expr, taken);
    }
    return expr;
}

static const char *algebra_text(struct why *why, const struct expr *expr, bool numbers)
{
    struct buffer out = { .arena = why->scenario->arena };
    struct algebra how = { .formulas = &why->scenario->formulas, .context = why };
    if (numbers) {
        how.number = print_value;
        how.taken = branch_taken;
    }
    algebra_print(&out, &how, expr);
    return out.data;
}

/* ---- what binds ------------------------------------------------------------------------- */

struct binding_value {
    const char *name;
    double value;
    const char *source;             /* of an input; NULL: its default */
};

static int larger_first(const void *a, const void *b)
{
    const struct binding_value *x = a, *y = b;
    int order = (fabs(x->value) < fabs(y->value)) - (fabs(x->value) > fabs(y->value));
    return order ? order : strcmp(x->name, y->name);        /* the same on any machine */
}

static void add_part(struct why *why, const struct expr *expr, double sign, struct binding_value *parts,
                     size_t *count)
{
    double value;
    if (*count < 64 && number_of(why, expr, &value))
        parts[(*count)++] = (struct binding_value){ algebra_text(why, expr, false), sign * value, NULL };
}

/* The operands of max, min and sums; the entries of a SUM. */
static void find_parts(struct why *why, const struct expr *expr, enum op op, double sign,
                       struct binding_value *parts, size_t *count)
{
    expr = without_selects(why, expr);
    bool sum = op == OP_ADD && (expr->op == OP_ADD || expr->op == OP_SUB);
    if (sum || expr->op == op) {
        find_parts(why, expr_kid(expr, 0), op, sign, parts, count);
        find_parts(why, expr_kid(expr, 1), op, expr->op == OP_SUB ? -sign : sign, parts, count);
    } else {
        add_part(why, expr, sign, parts, count);
    }
}

static void find_entries(struct why *why, const struct expr *sum, struct binding_value *parts,
                         size_t *count)
{
    struct scenario *scenario = why->scenario;
    const struct fact_table *table = facts_table_find(&scenario->facts, expr_name(sum));
    const struct expr *inner = expr_kid(sum, 0);
    if (inner->op != OP_ROW || !table)
        return;
    for (size_t i = 0; i < table->entries && *count < 64; i++) {
        const char *name = arena_print(scenario->arena, "%s[%s]",
                                       row_name(formulas_row(&scenario->formulas, inner->row)), table->entry[i]);
        struct error ignored;
        double value;
        if (value_of(scenario, name, &value, &ignored))
            parts[(*count)++] = (struct binding_value){ name, value, NULL };
    }
}

static void add_terms(struct why *why, const struct expr *expr, struct unit unit,
                      struct section *section)
{
    struct binding_value parts[64];
    size_t count = 0;
    expr = without_selects(why, expr);
    bool least = expr->op == OP_MIN || expr->op == OP_LEAST;
    bool extreme = least || expr->op == OP_MAX || expr->op == OP_MOST;
    if (expr->op == OP_SUM || expr->op == OP_LEAST || expr->op == OP_MOST)
        find_entries(why, expr, parts, &count);
    else if (expr->op == OP_MAX || expr->op == OP_MIN || expr->op == OP_ADD || expr->op == OP_SUB)
        find_parts(why, expr, extreme ? expr->op : OP_ADD, 1, parts, &count);
    if (count < 2)
        return;
    qsort(parts, count, sizeof *parts, larger_first);
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i].value;
    const struct binding_value *binding = least ? &parts[count - 1] : &parts[0];
    struct section *operands = section_add(section, "operands", SECTION_RECORD);
    struct section *terms = section_add(section, "terms", SECTION_LIST);
    for (size_t i = 0; i < count; i++) {
        if (formulas_find(&why->scenario->formulas, parts[i].name) >= 0 || strchr(parts[i].name, '['))
            section_number(operands, parts[i].name, parts[i].value, unit);
        struct section *term = section_add(terms, NULL, SECTION_RECORD);
        section_word(term, "expression", parts[i].name);
        section_number(term, "term", parts[i].value, unit);
        if (extreme)
            section_word(term, "mark", &parts[i] == binding ? "binding" : "")->text_only = true;
        else if (total != 0 && isfinite(total))
            section_number(term, "share", parts[i].value / total, unit_one)->text_only = true;
    }
    if (extreme)
        section_word(section, "binds", binding->name);
}

/* ---- parts ------------------------------------------------------------------------------- */

/* The parts of a row that is made of them: what they leave is no more than the row itself. They
 * add up to a time or a cost; of a rate or a share they would say nothing. */
static bool add_breakdown(struct why *why, const char *name, const struct row *row,
                          struct section *section)
{
    struct scenario *scenario = why->scenario;
    struct breakdown parts;
    if (!breakdown_of(scenario, name, true, &parts, why->error))
        return false;
    const double rounding = 1e-9 * fabs(parts.whole), other = breakdown_other(&parts);
    if (!parts.count || !strcmp(row_name(formulas_row(&scenario->formulas, parts.at[0].row)), row_name(row)) ||
        other < -rounding || other > parts.whole - rounding)
        return true;
    breakdown_section(scenario, &parts, row->unit, section);
    if (other > rounding)
        section_number(section, "in_no_part", other, row->unit)->text_only = true;
    return true;
}

/* ---- elasticities ----------------------------------------------------------------------- */

/* "data/hardware.csv:244"; `show` has the rest. */
static const char *short_source(struct arena *arena, const char *source)
{
    const char *end = strstr(source, ": ");
    return end ? arena_copy(arena, source, (size_t)(end - source)) : source;
}

/* The nodes that a floor or a ceil on the way to the answer reads: a derivative along them says nothing. */
static bool *under_steps(struct arena *arena, const struct graph *graph)
{
    bool *under = arena_array(arena, graph->count + 1, sizeof *under);
    for (size_t i = graph->count; i-- > 0;) {
        const struct node *node = &graph->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        if (under[i] || node->op == OP_FLOOR || node->op == OP_CEIL)
            for (int k = 0; k < 3; k++)
                if (kids[k] >= 0)
                    under[kids[k]] = true;
    }
    return under;
}

/* Changes of the answer for one per cent more of all entries of an input's row, or less where it is at its most, over
 * that per cent: of the row of each of some inputs, all evaluated together. */
static double *changes(struct arena *arena, const struct values *values, const size_t *moved, size_t count)
{
    const struct graph *graph = &values->graph;
    struct column *columns = arena_array(arena, graph->input_count + 1, sizeof *columns);
    double *step = arena_array(arena, count + 1, sizeof *step), *after = arena_array(arena, count + 1, sizeof *after);
    for (size_t i = 0; i < graph->input_count; i++)
        columns[i] = (struct column){ &values->inputs[i], 0 };
    for (size_t k = 0; k < count; k++) {
        const struct input *input = &graph->inputs[moved[k]];
        const double share = 0.01;
        step[k] = values->inputs[moved[k]] * (1 + share) > input->most ? -share : share;
        for (size_t i = 0; i < graph->input_count; i++) {
            if (graph->inputs[i].row != input->row)
                continue;
            double *column = arena_array(arena, count, sizeof *column);
            for (size_t j = 0; j < count; j++)
                column[j] = j == k ? values->inputs[i] * (1 + step[k]) : values->inputs[i];
            columns[i] = (struct column){ column, 1 };
        }
    }
    graph_run(graph, columns, &after, count);
    for (size_t k = 0; k < count; k++)
        after[k] = (after[k] / values->at[0] - 1) / step[k];
    return after;
}

/* An input that does not move: one per cent more of it is another server, another model, or none. */
enum hold { MOVES, HELD_CHOICE, HELD_LAYOUT, HELD_MODEL };

static enum hold held_as(const struct why *why, const struct graph *graph, const bool *under, size_t input)
{
    static const char *const layout[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp,
                                          NAME_pipeline_parallel, NAME_expert_parallel,
                                          NAME_context_parallel, NAME_replicas };
    const struct scenario *scenario = why->scenario;
    const char *name = graph->inputs[input].name;
    const struct fact *fact = facts_find(&scenario->facts, name);
    if (scenario->choice.made && fact && fact->origin == ORIGIN_CHOSEN)
        return HELD_CHOICE;
    if (graph->inputs[input].origin == ORIGIN_MODEL)
        return HELD_MODEL;
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        if (!strcmp(name, layout[i]) && under[graph->inputs[input].node])
            return HELD_LAYOUT;
    return MOVES;
}

/* Numbers by name, and for the text "chips = 8, attention_dp = 8, and the model's shape". */
static void add_held(struct why *why, const struct values *values, const enum hold *held,
                     struct section *section)
{
    struct section *chosen = section_add(section, "chosen", SECTION_RECORD);
    struct buffer text = { .arena = why->scenario->arena };
    bool model = false;
    buffer_add(&text, "", 0);
    for (size_t i = 0; i < values->graph.input_count; i++) {
        const struct input *input = &values->graph.inputs[i];
        const struct row *row = formulas_row(&why->scenario->formulas, input->row);
        model |= held[i] == HELD_MODEL;
        if (held[i] == HELD_CHOICE)
            section_number(chosen, input->name, values->inputs[i], row->unit);
        if (held[i] == HELD_CHOICE || held[i] == HELD_LAYOUT)
            buffer_print(&text, "%s%s = %s", text.size ? ", " : "", input->name,
                         quantity_text(text.arena, values->inputs[i], row->unit, DIGITS));
    }
    if (model)
        buffer_print(&text, "%sthe model's shape", text.size ? ", " : "");
    section_word(section, "held_inputs", text.data)->text_only = true;
}

/* Per cent of change per per cent of an input; the entries of a column move together. */
static bool add_elasticities(struct why *why, const char *name, struct section *section)
{
    struct scenario *scenario = why->scenario;
    struct arena *arena = scenario->arena;
    struct values values;
    if (!values_of(scenario, &name, 1, &values, why->error))
        return false;
    const struct graph *graph = &values.graph;
    double *gradient = arena_array(arena, graph->input_count + 1, sizeof *gradient);
    double value = graph_gradient(arena, graph, 0, values.inputs, gradient);
    struct binding_value *parts = arena_array(arena, graph->input_count + 1, sizeof *parts);
    enum hold *held = arena_array(arena, graph->input_count + 1, sizeof *held);
    size_t *moved = arena_array(arena, graph->input_count + 1, sizeof *moved), moved_count = 0, at = 0;
    const bool *under = under_steps(arena, graph);
    size_t count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        held[i] = held_as(why, graph, under, i);
        if (value != 0 && held[i] == MOVES && under[graph->inputs[i].node])
            moved[moved_count++] = i;
    }
    struct arena scratch = arena_beside(arena);
    const double *after = moved_count ? changes(&scratch, &values, moved, moved_count) : NULL;
    for (size_t i = 0; i < graph->input_count && value != 0; i++) {
        const struct row *row = formulas_row(&scenario->formulas, graph->inputs[i].row);
        double elasticity = gradient[i] * values.inputs[i] / value;
        if (held[i] != MOVES) {
            held[i] = elasticity != 0 ? held[i] : MOVES;     /* not worth a word */
            continue;
        }
        const bool steps = at < moved_count && moved[at] == i;
        if (steps)
            elasticity = after[at++];
        if (elasticity == 0 || !isfinite(elasticity) || (row->input && row->low == row->high))
            continue;
        size_t k = 0;
        while (k < count && strcmp(parts[k].name, row_name(row)))
            k++;
        parts[k].name = row_name(row);
        parts[k].source = graph->inputs[i].source;
        parts[k].value = steps ? elasticity : parts[k].value + elasticity;
        count += k == count;
    }
    arena_free(&scratch);
    add_held(why, &values, held, section);
    qsort(parts, count, sizeof *parts, larger_first);
    struct section *all = section_add(section, "elasticities", SECTION_RECORD);
    struct section *strongest = section_add(section, "strongest", SECTION_LIST);
    strongest->text_only = true;
    for (size_t i = 0; i < count; i++) {
        section_number(all, parts[i].name, parts[i].value, unit_one);
        if (fabs(parts[i].value) < 5e-4)
            continue;
        const char *source = parts[i].source;
        struct section *one = section_add(strongest, NULL, SECTION_RECORD);
        section_word(one, "input", parts[i].name);
        section_number(one, "change", parts[i].value, unit_one);
        section_word(one, "given_by", source ? short_source(arena, source) : "default");
    }
    return true;
}

/* ---- going deeper ----------------------------------------------------------------------- */

static void deeper(struct why *why, int row, int depth, uint8_t *seen, struct buffer *out);

static void deeper_expr(struct why *why, const struct expr *expr, int depth, uint8_t *seen,
                        struct buffer *out)
{
    expr = without_selects(why, expr);
    if (expr->row >= 0 && expr->op != OP_ROOT)
        deeper(why, expr->row, depth, seen, out);
    for (int i = 0; i < 3 && expr->op != OP_AT; i++)
        if (expr_kid(expr, i))
            deeper_expr(why, expr_kid(expr, i), depth, seen, out);
}

static void deeper(struct why *why, int index, int depth, uint8_t *seen, struct buffer *out)
{
    const struct row *row = formulas_row(&why->scenario->formulas, index);
    const struct fact *fact = facts_find(&why->scenario->facts, row_name(row));
    struct error ignored;
    double value;
    const char *name = row_table(row) ? arena_print(why->scenario->arena, "%s%s", row_name(row), why->entry)
                                  : row_name(row);
    if (seen[index] || (row_table(row) && !*why->entry) ||
        !value_of(why->scenario, name, &value, &ignored))
        return;
    seen[index] = 1;
    bool formula = row_expr(row) && !(fact && !fact->expression);
    buffer_print(out, "%s  %*s%s = %s", out->size ? "\n" : "", 2 * depth, "", name,
                 quantity_text(why->scenario->arena, value, row->unit, DIGITS));
    if (formula)
        buffer_print(out, " = %s",
                     algebra_text(why, without_selects(why, row_expr(row)), false));
    else
        buffer_print(out, "   (%s)", fact ? fact->source : *row_source(row) ? row_source(row)
                                                                              : "default");
    if (formula)
        deeper_expr(why, row_expr(row), depth + 1, seen, out);
}

/* ---- the answer ------------------------------------------------------------------------- */

static void add_head(struct why *why, const char *name, const struct row *row, double value,
                     struct section *section)
{
    struct buffer unit = { .arena = section->arena };
    unit_print(&unit, row->unit);
    section_word(section, "quantity", why->asked);
    section_number(section, "value", value, row->unit);
    section_word(section, "unit", unit.data);
    section_word(section, "meaning", row_meaning(row));
    section_word(section, "source", row_source(row));
    section_word(section, "name", name)->text_only = true;
    section_word(section, "symbol", row_symbol(row))->text_only = true;
}

static void add_algebra(struct why *why, const struct row *row, const struct fact *fact,
                        double value, struct section *section)
{
    if (fact && fact->expression) {
        section_word(section, "bound_to", fact->expression)->text_only = true;
        section_word(section, "bound_by", fact->source)->text_only = true;
    } else if (fact || !row_expr(row)) {
        section_word(section, "given_by", fact ? fact->source : "default");
    } else {
        const char *algebra = algebra_text(why, row_expr(row), false);
        const char *taken = algebra_text(why, without_selects(why, row_expr(row)), false);
        const char *numbers = algebra_text(why, row_expr(row), true);
        const char *result = quantity_text(section->arena, value, row->unit, DIGITS);
        const bool deep = command_given(why->scenario->command, "deep");
        section_word(section, "algebra", algebra);
        section_word(section, "numbers", numbers);
        section_word(section, "taken", taken)->text_only = true;
        if (deep && strcmp(taken, algebra))
            section_word(section, "unselected", algebra)->text_only = true;
        if (strcmp(numbers, result))
            section_word(section, "steps", numbers)->text_only = true;
        add_terms(why, row_expr(row), row->unit, section);
    }
}

/* The lecture's equation for this row times its corrections, what the lecture concludes from it here, and where that would
 * turn. A question that keeps inputs of its own is about other ones than these: only its equation is told. */
static void add_lecture(struct why *why, const char *name, struct section *section)
{
    struct scenario *scenario = why->scenario;
    const struct statement *statement = statement_of_row(scenario->arena, name, false);
    const char *none = question_no_value(scenario, name);
    if (none)
        section_word(section, "so", none);
    if (!statement || none)
        return;
    struct reply *reply = arena_alloc(scenario->arena, sizeof *reply);
    question_ask(scenario, statement, QUESTION_FREE, reply);
    if (!*statement->question.keeps)
        question_turns(reply, statement);
    section_word(section, "statement", statement->id);
    question_section(statement, reply, section);
    if (*statement->question.keeps)
        return;
    if (reply->lacks || reply->conclusion)
        section_word(section, "so", reply->lacks ? reply->lacks : reply->conclusion);
    flips_section(&reply->scenario, statement->question.turning, reply->lacks ? "" : reply->equation, reply->turns,
                  reply->root, reply->now, section);
}

static bool find_word(struct why *why, const char *word, int *index, struct error *error)
{
    struct scenario *scenario = why->scenario;
    const char *bracket = strchr(word, '[');
    const char *name = bracket ? arena_copy(scenario->arena, word, (size_t)(bracket - word)) : word;
    *index = formulas_find(&scenario->formulas, name);
    if (*index < 0)
        return scenario_unknown(scenario, name, error);
    why->entry = bracket ? bracket : "";
    const char *table = row_table(formulas_row(&scenario->formulas, *index));
    if (!table || bracket)
        return true;
    const struct fact_table *known = facts_table_find(&scenario->facts, table);
    if (known && !known->entries) {
        error_set(error, "table '%s' has no entries", table);
        return error_suggest(error, "a model has operators and layers: --model");
    }
    why->entry = arena_print(scenario->arena, "[%s]", known ? known->entry[0] : "default");
    return true;
}

/* ---- the picture: what a tenth more or less of each input does -------------------------------- */

/* The quantity with all entries of an input's row at this factor, within the row's limits. */
static double moved_by(struct arena *scratch, const struct values *values, const char *row,
                       const struct formulas *formulas, double factor)
{
    const struct graph *graph = &values->graph;
    double *inputs = arena_array(scratch, graph->input_count + 1, sizeof *inputs), after;
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct input *input = &graph->inputs[i];
        inputs[i] = values->inputs[i];
        if (!strcmp(row_name(formulas_row(formulas, input->row)), row))
            inputs[i] = fmax(input->least, fmin(input->most, inputs[i] * factor));
    }
    graph_value(scratch, graph, inputs, NULL, &after);
    return after;
}

static bool draw_tornado(struct why *why, const char *name, const struct section *section,
                         struct picture **picture)
{
    enum { BARS = 8 };
    const double tenth = 0.1, percent = 100;
    struct scenario *scenario = why->scenario;
    struct arena *arena = scenario->arena;
    const struct section *strongest = section_inside(section, "strongest");
    struct values values;
    if (!strongest || !strongest->inside_count)
        return true;
    if (!values_of(scenario, &name, 1, &values, why->error))
        return false;
    *picture = picture_new(arena, arena_print(arena, "%s with 10 %% more or less of each input", name));
    (*picture)->x = (struct picture_axis){ arena_print(arena, "change of %s", name), "%", false, false, NAN,
                                           NAN };
    for (size_t i = 0; i < strongest->inside_count && i < BARS; i++) {
        const char *input = section_find(strongest->inside[i], "input")->word;
        const double less = percent * (moved_by(arena, &values, input, &scenario->formulas, 1 - tenth) /
                                       values.at[0] - 1);
        const double more = percent * (moved_by(arena, &values, input, &scenario->formulas, 1 + tenth) /
                                       values.at[0] - 1);
        struct picture_bar *bar = picture_bar_add(*picture, input);
        if (!isfinite(less) || !isfinite(more))
            continue;
        bar->from = fmin(less, more);
        bar->text = arena_print(arena, "%+.2g %% with more, %+.2g %% with less", more, less);
        picture_part_add(*picture, bar, picture_kind_of(input), fmax(less, more) - bar->from);
    }
    return true;
}

bool ask_why(struct arena *arena, const struct command *command, struct answer *answer,
             struct error *error)
{
    struct scenario scenario;
    struct why why = { .scenario = &scenario, .error = error };
    int index;
    double value;
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "why takes one row, %zu were given"
                  : "why needs the name of a row", command->word_count);
        return error_expected(error, "one row, as in `chalkline why bound_step --model deepseek-v3 --on "
                              "gb200-nvl72`");
    }
    if (!scenario_open(&scenario, arena, command, command_subject(command), error) ||
        !find_word(&why, command->words[0], &index, error))
        return false;
    const struct row *row = formulas_row(&scenario.formulas, index);
    const char *name = arena_print(arena, "%s%s", row_name(row), row_table(row) ? why.entry : "");
    why.asked = row_table(row) ? name : command->words[0];
    if (!scenario_choose(&scenario, &name, 1, error) || !value_of(&scenario, name, &value, error))
        return false;
    shown_notes(&scenario, &name, 1, name);
    const char *infeasible = scenario_no_server(&scenario, &name, 1);
    answer->status = infeasible != NULL;
    struct section *section = section_new(arena);
    const char *server = scenario_default_server(&scenario, &name, 1);
    if (server)
        section_word(section, "for", server);
    add_head(&why, name, row, value, section);
    if (infeasible)
        section_word(section, "infeasible", infeasible);
    add_algebra(&why, row, facts_find(&scenario.facts, row_name(row)), value, section);
    if (!add_breakdown(&why, name, row, section) || !add_elasticities(&why, name, section))
        return false;
    add_lecture(&why, name, section);
    if (command_text(command, "deep")) {
        struct buffer out = { .arena = arena };
        buffer_add(&out, "", 0);
        deeper(&why, index, 0, arena_alloc(arena, scenario.formulas.count + 1), &out);
        section_word(section, "deeper", out.data)->text_only = true;
    }
    figures_words(&scenario, section);
    figures_notes(&scenario, section);
    answer->section = section;
    if (command_draws(command) && !draw_tornado(&why, name, section, &answer->picture))
        return false;
    section_document(section, answer->doc);
    template_print(template_built_in(arena, "ask/why/why.template"), section, &answer->text);
    return true;
}

static const struct record strongest_record = { "WhyStrongest", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "input", "change", "given_by" }, .count = 3 },
    { 0 } } };

static const struct record operands_record = { "WhyOperands", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row, or an entry of one, in the unit of the quantity", .unit = "" },
    { 0 } } };

static const struct record term_record = { "WhyTerm", (const struct answer_field[]){
    { FIELD_TEXT, "expression", .help = "the expression", .always = true },
    { FIELD_NUMBER, "term", .help = "its value, in the unit of the quantity", .unit = "",
      .always = true, .null = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "mark", "share" }, .count = 2 },
    { 0 } } };

static const struct record held_record = { "Held", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row, in its base unit", .unit = "" },
    { 0 } } };

static const struct record elasticities_record = { "WhyElasticities", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "per cent of change for one per cent more of a row" },
    { 0 } } };

static const struct record answer_why = { "Why", (const struct answer_field[]){
    { FIELD_TEXT, "quantity", .help = "the quantity, as it was asked", .always = true },
    { FIELD_NUMBER, "value", .help = "value in base units", .unit = "", .always = true,
      .null = true },
    { FIELD_TEXT, "for", .help = "without a model: the server that the prediction is of" },
    { FIELD_TEXT, "infeasible", .help = "why no server has these figures" },
    { FIELD_TEXT, "unit", .help = "unit of the value", .always = true },
    { FIELD_TEXT, "meaning", .help = "meaning of the row", .always = true },
    { FIELD_TEXT, "source", .help = "meaning of the row", .always = true },
    { FIELD_TEXT, "given_by", .help = "for an input, where its value comes from" },
    { FIELD_TEXT, "algebra", .help = "the formula of the row" },
    { FIELD_TEXT, "numbers", .help = "the formula with numbers in place of names" },
    { FIELD_RECORD, "operands", .help = "for a sum, max or min, the rows that are its operands",
      .record = &operands_record },
    { FIELD_LIST, "terms", .help = "the operands in order, expressions included", .record = &term_record },
    { FIELD_RECORD, "parts", .help = "the parts that the quantity is made of", .record = &any_parts_record },
    { FIELD_TEXT, "binds", .help = "the operand that determines a max or min" },
    { FIELD_RECORD, "chosen", .help = "choices that were held fixed", .record = &held_record,
      .always = true },
    { FIELD_RECORD, "elasticities",
      .help = "per cent of change for one per cent more of an input", .record = &elasticities_record,
      .always = true },
    { FIELD_TEXT, "statement", .help = "id of the lecture's statement about this row" },
    QUESTION_FIELDS(false),
    { FIELD_TEXT, "so", .help = "what follows, in a sentence" },
    { FIELD_RECORD, "flips", .help = "what would turn that; null: nothing", .record = &flips_record,
      .null = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_TEXT_ONLY, "strongest", .record = &strongest_record },
    { FIELD_TEXT_ONLY, .count = 10, .names = (const char *const[]){
          "name", "symbol", "bound_to", "bound_by", "taken", "unselected", "steps", "in_no_part",
          "held_inputs", "deeper" } },
    { 0 } } };

static const struct option why_list[] = {
    { "deep", NULL, OPTION_SWITCH, .help = "expand the rows down to the inputs" },
    { 0 } };
static const struct option_group why_options = { "Explanation", why_list };

const struct verb verb_why = {
    "why", "QUANTITY", "Explain a quantity: its algebra, the numbers, the binding operand, the elasticities.",
    { "chalkline why bound_step --model deepseek-v3 --on gb200-nvl72",
      "chalkline why predicted_tpot --model llama-3.3-70b --on h100-sxm --batch 64",
      "chalkline why inference_tokens --deep" },
    { &why_options, ANSWER_OPTIONS, &plot_options, &report_options, &output_options }, ANSWERS(answer_why), .ask = ask_why,
    .main = (const char *const[]){ "value", "numbers", NULL } };
