/* why: the algebra of a row, the same line with numbers, what binds, what matters. */
#include "ask/ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct why {
    struct scenario *scenario;
    const char *asked;              /* the word of the question */
    const char *entry;              /* "[moe]" for a row of a table, or "" */
    struct error *error;
};

enum { DIGITS = 4, MOST_ELASTIC = 8, MOST_PARTS = 8 };

/* The text of an expression as it must be read outside its table: rows of that table
 * get the entry. SUM and AT stay as they are. */
static const char *outside(const struct why *why, const struct expr *expr)
{
    struct arena *arena = why->scenario->arena;
    const char *text = arena_copy(arena, expr->text.data, expr->text.size);
    if (expr->op == OP_ROW && why->scenario->book.rows[expr->row]->table)
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
        !expr_unit(&why->scenario->book, expr, &unit, why->error))
        return false;
    quantity_print(out, value, unit, DIGITS);
    return true;
}

/* Which branch a select takes here: its condition asked as an expression. */
static int branch_taken(void *context, const struct expr *select)
{
    const struct why *why = context;
    const struct text condition = select->kid[0]->text;
    struct error ignored;
    double holds;
    const char *text = arena_print(why->scenario->arena, "select(%.*s, 1, 0)",
                                   (int)condition.size, condition.data);
    if (!value_of(why->scenario, text, &holds, &ignored))
        return 0;
    return holds != 0 ? 1 : 2;
}

static const struct expr *without_selects(struct why *why, const struct expr *expr)
{
    while (expr->op == OP_SELECT) {
        int taken = branch_taken(why, expr);
        if (!taken)
            return expr;
        expr = expr->kid[taken];
    }
    return expr;
}

static const char *algebra_text(struct why *why, const struct expr *expr, bool numbers)
{
    struct buffer out = { .arena = why->scenario->arena };
    struct algebra how = { .book = &why->scenario->book, .context = why };
    if (numbers) {
        how.number = print_value;
        how.taken = branch_taken;
    }
    algebra_print(&out, &how, expr);
    return out.data;
}

/* ---- what binds ------------------------------------------------------------------------- */

struct part {
    const char *name;
    double value;
    const char *source;             /* of an input; NULL: its default */
};

static int larger_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = (fabs(x->value) < fabs(y->value)) - (fabs(x->value) > fabs(y->value));
    return order ? order : strcmp(x->name, y->name);        /* the same on any machine */
}

static void add_part(struct why *why, const struct expr *expr, double sign, struct part *parts,
                     size_t *count)
{
    double value;
    if (*count < 64 && number_of(why, expr, &value))
        parts[(*count)++] = (struct part){ algebra_text(why, expr, false), sign * value, NULL };
}

/* The operands of max, min and sums; the entries of a SUM. */
static void find_parts(struct why *why, const struct expr *expr, enum op op, double sign,
                       struct part *parts, size_t *count)
{
    expr = without_selects(why, expr);
    bool sum = op == OP_ADD && (expr->op == OP_ADD || expr->op == OP_SUB);
    if (sum || expr->op == op) {
        find_parts(why, expr->kid[0], op, sign, parts, count);
        find_parts(why, expr->kid[1], op, expr->op == OP_SUB ? -sign : sign, parts, count);
    } else {
        add_part(why, expr, sign, parts, count);
    }
}

static void find_entries(struct why *why, const struct expr *sum, struct part *parts,
                         size_t *count)
{
    struct scenario *scenario = why->scenario;
    const struct fact_table *table = facts_table_find(&scenario->facts, sum->name);
    const struct expr *inner = sum->kid[0];
    if (inner->op != OP_ROW || !table)
        return;
    for (size_t i = 0; i < table->entries && *count < 64; i++) {
        const char *name = arena_print(scenario->arena, "%s[%s]",
                                       scenario->book.rows[inner->row]->name, table->entry[i]);
        struct error ignored;
        double value;
        if (value_of(scenario, name, &value, &ignored))
            parts[(*count)++] = (struct part){ name, value, NULL };
    }
}

static void answer_parts(struct why *why, const struct expr *expr, struct unit unit,
                         struct answer *answer)
{
    struct part parts[64];
    size_t count = 0;
    struct arena *arena = why->scenario->arena;
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
    const struct part *binding = least ? &parts[count - 1] : &parts[0];
    struct doc *list = doc_add(arena, answer->doc, "operands", DOC_OBJECT);
    struct doc *terms = doc_add(arena, answer->doc, "terms", DOC_ARRAY);
    struct table table = { .arena = arena, .columns = 3, .left = "lrl" };
    for (size_t i = 0; i < count; i++) {
        if (book_find(&why->scenario->book, parts[i].name) >= 0 || strchr(parts[i].name, '['))
            doc_add_number(arena, list, parts[i].name, parts[i].value);
        struct doc *term = doc_add(arena, terms, NULL, DOC_OBJECT);
        doc_add_string(arena, term, "expression", parts[i].name);
        doc_add_number(arena, term, "term", parts[i].value);
        if (i >= MOST_PARTS)
            continue;
        table_cell(&table, "%s", parts[i].name);
        table_cell(&table, "%s", quantity_text(arena, parts[i].value, unit, DIGITS));
        if (extreme)
            table_cell(&table, "%s", &parts[i] == binding ? "binds" : "");
        else if (total != 0 && isfinite(total))
            table_cell(&table, "%.1f %%", 100 * parts[i].value / total);
        else
            table_cell(&table, "%s", "");
    }
    if (extreme)
        doc_add_string(arena, answer->doc, "binds", binding->name);
    buffer_print(&answer->text, "\n");
    table_print(&table, &answer->text, "  ");
    if (count > MOST_PARTS)
        buffer_print(&answer->text, "  and %zu smaller\n", count - MOST_PARTS);
}

/* ---- parts ------------------------------------------------------------------------------- */

/* The parts of a row that is made of them: what they leave is no more than the row itself. They
 * add up to a time or a cost; of a rate or a share they would say nothing. */
static bool answer_breakdown(struct why *why, const char *name, const struct row *row,
                             struct answer *answer)
{
    static const char *const head[] = { "part", "row", "contributes", "saved if free", "" };
    struct scenario *scenario = why->scenario;
    struct arena *arena = scenario->arena;
    struct table table = { .arena = arena, .columns = 5, .left = "llrrr" };
    struct values values;
    if (!values_of_parts(scenario, &name, 1, &values, why->error))
        return false;
    const struct breakdown parts = breakdown_of(scenario, &values, 0, true);
    const double rounding = 1e-9 * fabs(parts.whole), other = breakdown_other(&parts);
    if (!parts.count || !strcmp(scenario->book.rows[parts.at[0].row]->name, row->name) ||
        other < -rounding || other > parts.whole - rounding)
        return true;
    breakdown_document(scenario, &parts, row->unit, answer->doc);
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < parts.count; i++) {
        const struct contribution *part = &parts.at[i];
        table_cell(&table, "%s", part->label);
        table_cell(&table, "%s", scenario->book.rows[part->row]->name);
        table_cell(&table, "%s", quantity_text(arena, part->value, row->unit, 3));
        table_cell(&table, "%s", isfinite(part->saved)
                                 ? quantity_text(arena, part->saved, row->unit, 3) : "-");
        table_cell(&table, "%.1f %%", 100 * part->value / parts.whole);
    }
    buffer_print(&answer->text, "\n");
    table_print(&table, &answer->text, "  ");
    if (other > rounding)
        buffer_print(&answer->text, "  and %s in no part\n",
                     quantity_text(arena, other, row->unit, 3));
    return true;
}

/* ---- elasticities ----------------------------------------------------------------------- */

/* "data/hardware.csv:244"; `show` has the rest. */
static const char *short_source(struct arena *arena, const char *source)
{
    const char *end = strstr(source, ": ");
    return end ? arena_copy(arena, source, (size_t)(end - source)) : source;
}

/* Does a floor or ceil on the way to the answer move with this input? Its derivative says nothing
 * then. */
static bool stepped(struct arena *scratch, const struct list *list, size_t input)
{
    bool *moves = arena_array(scratch, list->count + 1, sizeof *moves);
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        moves[i] = node->op == OP_INPUT && (size_t)node->input == input;
        for (int k = 0; k < 3; k++)
            moves[i] |= kids[k] >= 0 && moves[kids[k]];
        if (moves[i] && (node->op == OP_FLOOR || node->op == OP_CEIL))
            return true;
    }
    return false;
}

/* Change for one per cent more of all entries of an input's row, or less where it is at its most,
 * over that per cent. */
static double changed(struct arena *scratch, const struct values *values, size_t input)
{
    const struct list *list = &values->list;
    const double share = 0.01;
    double *inputs = arena_array(scratch, list->input_count + 1, sizeof *inputs), after;
    double step = values->inputs[input] * (1 + share) > list->inputs[input].most ? -share : share;
    memcpy(inputs, values->inputs, list->input_count * sizeof *inputs);
    for (size_t i = 0; i < list->input_count; i++)
        if (list->inputs[i].row == list->inputs[input].row)
            inputs[i] *= 1 + step;
    list_value(scratch, list, inputs, NULL, &after);
    return (after / values->at[0] - 1) / step;
}

/* What was chosen for a server: one per cent more of it is another server, or none. */
static bool is_held(const struct scenario *scenario, const struct input *input)
{
    const struct fact *fact = facts_find(&scenario->facts, input->name);
    return scenario->choice.made && fact && fact->origin == ORIGIN_CHOSEN;
}

/* "held  chips = 8, attention_dp = 8" */
static void answer_held(struct why *why, const struct values *values, const size_t *held,
                        size_t count, struct answer *answer)
{
    struct arena *arena = why->scenario->arena;
    struct doc *doc = doc_add(arena, answer->doc, "chosen", DOC_OBJECT);
    for (size_t i = 0; i < count; i++) {
        const struct input *input = &values->list.inputs[held[i]];
        const struct row *row = why->scenario->book.rows[input->row];
        doc_add_number(arena, doc, input->name, values->inputs[held[i]]);
        buffer_print(&answer->text, "%s%s = %s", i ? ", " : "\n  held  ", input->name,
                     quantity_text(arena, values->inputs[held[i]], row->unit, DIGITS));
    }
    buffer_print(&answer->text, "%s", count ? "\n" : "");
}

/* Per cent of change per per cent of an input; the entries of a column move together. */
static bool answer_elasticities(struct why *why, const char *name, struct answer *answer)
{
    struct scenario *scenario = why->scenario;
    struct arena *arena = scenario->arena;
    struct values values;
    if (!values_of(scenario, &name, 1, &values, why->error))
        return false;
    const struct list *list = &values.list;
    double *gradient = arena_array(arena, list->input_count + 1, sizeof *gradient);
    double value = list_gradient(arena, list, 0, values.inputs, gradient);
    struct part *parts = arena_array(arena, list->input_count + 1, sizeof *parts);
    size_t *held = arena_array(arena, list->input_count + 1, sizeof *held);
    size_t count = 0, held_count = 0;
    for (size_t i = 0; i < list->input_count && value != 0; i++) {
        const struct row *row = scenario->book.rows[list->inputs[i].row];
        double elasticity = gradient[i] * values.inputs[i] / value;
        if (is_held(scenario, &list->inputs[i])) {
            held[held_count] = i;
            held_count += elasticity != 0;
            continue;
        }
        bool steps = stepped(arena, list, i);
        if (steps)
            elasticity = changed(arena, &values, i);
        if (elasticity == 0 || !isfinite(elasticity) || (row->input && row->low == row->high))
            continue;
        size_t k = 0;
        while (k < count && strcmp(parts[k].name, row->name))
            k++;
        parts[k].name = row->name;
        parts[k].source = list->inputs[i].source;
        parts[k].value = steps ? elasticity : parts[k].value + elasticity;
        count += k == count;
    }
    answer_held(why, &values, held, held_count, answer);
    qsort(parts, count, sizeof *parts, larger_first);
    struct doc *doc = doc_add(arena, answer->doc, "elasticities", DOC_OBJECT);
    struct table table = { .arena = arena, .columns = 3, .left = "lrl" };
    for (size_t i = 0; i < count; i++) {
        doc_add_number(arena, doc, parts[i].name, parts[i].value);
        if (i >= MOST_ELASTIC || fabs(parts[i].value) < 5e-4)
            continue;
        const char *source = parts[i].source;
        table_cell(&table, "%s", parts[i].name);
        table_cell(&table, "%+.3f %%", parts[i].value);
        table_cell(&table, "%s", source ? short_source(arena, source) : "default");
    }
    if (!table.count)
        return true;
    buffer_print(&answer->text, "\n  one per cent more of\n");
    table_print(&table, &answer->text, "    ");
    return true;
}

/* ---- going deeper ----------------------------------------------------------------------- */

static void deeper(struct why *why, int row, int depth, uint8_t *seen, struct answer *answer);

static void deeper_expr(struct why *why, const struct expr *expr, int depth, uint8_t *seen,
                        struct answer *answer)
{
    expr = without_selects(why, expr);
    if (expr->row >= 0 && expr->op != OP_ROOT)
        deeper(why, expr->row, depth, seen, answer);
    for (int i = 0; i < 3 && expr->op != OP_AT; i++)
        if (expr->kid[i])
            deeper_expr(why, expr->kid[i], depth, seen, answer);
}

static void deeper(struct why *why, int index, int depth, uint8_t *seen, struct answer *answer)
{
    const struct row *row = why->scenario->book.rows[index];
    const struct fact *fact = facts_find(&why->scenario->facts, row->name);
    struct error ignored;
    double value;
    const char *name = row->table ? arena_print(why->scenario->arena, "%s%s", row->name, why->entry)
                                  : row->name;
    if (seen[index] || (row->table && !*why->entry) ||
        !value_of(why->scenario, name, &value, &ignored))
        return;
    seen[index] = 1;
    bool formula = row->expr && !(fact && !fact->expression);
    buffer_print(&answer->text, "  %*s%s = %s", 2 * depth, "", name,
                 quantity_text(why->scenario->arena, value, row->unit, DIGITS));
    if (formula)
        buffer_print(&answer->text, " = %s\n",
                     algebra_text(why, without_selects(why, row->expr), false));
    else
        buffer_print(&answer->text, "   (%s)\n", fact ? fact->source : *row->source ? row->source
                                                                              : "default");
    if (formula)
        deeper_expr(why, row->expr, depth + 1, seen, answer);
}

/* ---- the answer ------------------------------------------------------------------------- */

static void answer_head(struct why *why, const char *name, const struct row *row, double value,
                        struct answer *answer)
{
    struct arena *arena = why->scenario->arena;
    struct buffer unit = { .arena = arena };
    unit_print(&unit, row->unit);
    doc_add_string(arena, answer->doc, "quantity", why->asked);
    doc_add_number(arena, answer->doc, "value", value);
    doc_add_string(arena, answer->doc, "unit", unit.data);
    doc_add_string(arena, answer->doc, "meaning", row->meaning);
    doc_add_string(arena, answer->doc, "source", row->source);
    buffer_print(&answer->text, "%s%s%s = %s\n", *row->symbol ? row->symbol : "",
                 *row->symbol ? " = " : "", name, quantity_text(arena, value, row->unit, DIGITS));
    buffer_print(&answer->text, "  %s%s%s%s\n", row->meaning, *row->source ? " (" : "", row->source,
                 *row->source ? ")" : "");
}

static void answer_algebra(struct why *why, const struct row *row, const struct fact *fact,
                           double value, struct answer *answer)
{
    struct arena *arena = why->scenario->arena;
    if (fact && fact->expression) {
        buffer_print(&answer->text, "\n  = %s   (%s)\n", fact->expression, fact->source);
    } else if (fact || !row->expr) {
        buffer_print(&answer->text, "  an input: %s\n", fact ? fact->source : "its default");
        doc_add_string(arena, answer->doc, "given_by", fact ? fact->source : "default");
    } else {
        const char *algebra = algebra_text(why, row->expr, false);
        const char *taken = algebra_text(why, without_selects(why, row->expr), false);
        const char *numbers = algebra_text(why, row->expr, true);
        doc_add_string(arena, answer->doc, "algebra", algebra);
        doc_add_string(arena, answer->doc, "numbers", numbers);
        const char *result = quantity_text(arena, value, row->unit, DIGITS);
        bool deep = command_given(why->scenario->command, "deep");
        if (deep && strcmp(taken, algebra))
            buffer_print(&answer->text, "\n  = %s", algebra);
        buffer_print(&answer->text, "\n  = %s\n", taken);
        if (strcmp(numbers, result))
            buffer_print(&answer->text, "  = %s\n", numbers);
        buffer_print(&answer->text, "  = %s\n", result);
        answer_parts(why, row->expr, row->unit, answer);
    }
}

static bool find_word(struct why *why, const char *word, int *index, struct error *error)
{
    struct scenario *scenario = why->scenario;
    const char *bracket = strchr(word, '[');
    const char *name = bracket ? arena_copy(scenario->arena, word, (size_t)(bracket - word)) : word;
    *index = book_find(&scenario->book, name);
    if (*index < 0)
        return scenario_unknown(scenario, name, error);
    why->entry = bracket ? bracket : "";
    const char *table = scenario->book.rows[*index]->table;
    if (!table || bracket)
        return true;
    const struct fact_table *known = facts_table_find(&scenario->facts, table);
    if (known && !known->entries)
        return error_set(error, "the table '%s' has no entries", table);
    why->entry = arena_print(scenario->arena, "[%s]", known ? known->entry[0] : "default");
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
        error_set(error, "why explains one row, %zu were given", command->word_count);
        return error_hint(error, "chalkline why bound_step --model deepseek-v3 --on gb200-nvl72");
    }
    if (!scenario_open(&scenario, arena, command, command_subject(command), error) ||
        !find_word(&why, command->words[0], &index, error))
        return false;
    const struct row *row = scenario.book.rows[index];
    const char *name = arena_print(arena, "%s%s", row->name, row->table ? why.entry : "");
    why.asked = row->table ? name : command->words[0];
    if (!scenario_choose(&scenario, &name, 1, error) || !value_of(&scenario, name, &value, error))
        return false;
    shown_notes(&scenario, &name, 1, name);
    scenario_note_misfit(&scenario);
    answer_head(&why, name, row, value, answer);
    answer_algebra(&why, row, facts_find(&scenario.facts, row->name), value, answer);
    if (!answer_breakdown(&why, name, row, answer) || !answer_elasticities(&why, name, answer))
        return false;
    if (command_text(command, "deep")) {
        uint8_t *seen = arena_alloc(arena, scenario.book.count + 1);
        buffer_print(&answer->text, "\n");
        deeper(&why, index, 0, seen, answer);
    }
    scenario_words_document(&scenario, answer->doc);
    buffer_print(&answer->text, "%s", scenario.facts.note_count ? "\n" : "");
    scenario_notes(&scenario, answer);
    return true;
}

static const struct record operands_record = { "WhyOperands", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row, or an entry of one, in the unit of the quantity", .unit = "" },
    { 0 } } };

static const struct record term_record = { "WhyTerm", (const struct answer_field[]){
    { FIELD_TEXT, "expression", .help = "as it is written", .always = true },
    { FIELD_NUMBER, "term", .help = "its value, in the unit of the quantity", .unit = "",
      .always = true, .null = true },
    { 0 } } };

static const struct record held_record = { "Held", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row, in its base unit", .unit = "" },
    { 0 } } };

static const struct record elasticities_record = { "WhyElasticities", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "per cent of change for one per cent more of a row" },
    { 0 } } };

const struct record answer_why = { "Why", (const struct answer_field[]){
    { FIELD_TEXT, "quantity", .help = "as it was asked", .always = true },
    { FIELD_NUMBER, "value", .help = "in base units", .unit = "", .always = true,
      .null = true },
    { FIELD_TEXT, "unit", .help = "of the value", .always = true },
    { FIELD_TEXT, "meaning", .help = "of the row", .always = true },
    { FIELD_TEXT, "source", .help = "of the row", .always = true },
    { FIELD_TEXT, "given_by", .help = "of an input: where its value comes from" },
    { FIELD_TEXT, "algebra", .help = "the row as it is written" },
    { FIELD_TEXT, "numbers", .help = "the same with numbers" },
    { FIELD_RECORD, "operands", .help = "of a sum or an extreme, the rows",
      .record = &operands_record },
    { FIELD_LIST, "terms", .help = "the same in order, expressions too", .record = &term_record },
    { FIELD_RECORD, "parts", .help = "what it is made of", .record = &any_parts_record },
    { FIELD_TEXT, "binds", .help = "the operand that an extreme takes" },
    { FIELD_RECORD, "chosen", .help = "what was chosen, and does not move", .record = &held_record,
      .always = true },
    { FIELD_RECORD, "elasticities", .help = "what it depends on", .record = &elasticities_record,
      .always = true },
    { FIELD_TEXTS, "words", .help = "the question that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { 0 } } };

static const struct option why_list[] = {
    { "deep", NULL, OPTION_SWITCH, .help = "go down to the inputs" },
    { 0 } };
static const struct option_group why_options = { "Explanation", why_list };

const struct verb verb_why = {
    "why", "QUANTITY", "the algebra, the same line with numbers, what binds, what matters most",
    { "chalkline why bound_step --model deepseek-v3 --on gb200-nvl72",
      "chalkline why predicted_tpot --model llama-3.3-70b --on h100-sxm --batch 64",
      "chalkline why inference_tokens --deep" },
    { &why_options, ANSWER_OPTIONS, &output_options }, .ask = ask_why };
