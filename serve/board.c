/* The interactive board of the page: two lists of quantities (bound and prediction), their inputs,
 * and everything needed to typeset their formulas.
 *
 * A board keeps one graph per list, with the inputs that sliders move left open, and evaluates it
 * again when one moves. Each formula is printed twice: once to collect the numbers and conditions
 * in it, and once, with their values, to write MathML. Quantities that follow from other rows
 * become plain numbers while a slider moves; when it rests, the question is asked again with that
 * number given. */
#include "scenario/values.h"
#include "serve/web.h"

#include "deploy/server.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- which expressions ------------------------------------------------------------------- */

static size_t list_text(struct board_list *side, const char *text)
{
    size_t at = name_index(side->texts, side->count, text);
    if (at == side->count)
        *(const char **)arena_push(side->scenario->arena, &side->texts, &side->count, &side->room,
                                   sizeof *side->texts) = text;
    return at;
}

/* The printer goes over each formula twice: first to list what its numbers and conditions
 * are, then, with their values known, to write it. */
struct formula_printer {
    struct board_list *side;
    bool known;
    bool *condition;                /* [count], second time: this output decides a branch */
};

static const char *text_of_expr(struct arena *arena, const struct expr *expr)
{
    return arena_copy(arena, expr_text(expr).data, expr_text(expr).size);
}

static bool set_number(void *context, struct buffer *out, const struct expr *expr)
{
    const struct formula_printer *setting = context;
    size_t at = list_text(setting->side, text_of_expr(out->arena, expr));
    buffer_print(out, "<mn data-of=\"%zu\"></mn>", at);
    return true;
}

static int set_taken(void *context, const struct expr *select)
{
    const struct formula_printer *setting = context;
    const struct text condition = expr_text(expr_kid(select, 0));
    struct board_list *side = setting->side;
    const char *text = arena_print(side->scenario->arena, "select(%.*s, 1, 0)",
                                   (int)condition.size, condition.data);
    if (!setting->known) {
        list_text(side, text);
        return 0;
    }
    size_t at = name_index(side->texts, side->count, text);
    if (at == side->count)
        return 0;                   /* under a sum's sign: it holds for some entries, not for all */
    setting->condition[at] = true;
    return side->values[at] > 0 ? 1 : 2;
}

static const struct row *row_asked(const struct board_list *side, size_t index)
{
    int row = formulas_find(&side->scenario->formulas, side->texts[index]);
    return row < 0 ? NULL : formulas_row(&side->scenario->formulas, row);
}

/* A formula can be set where the row has one, and is not one of a table. */
static const char *formula(struct formula_printer *setting, const struct row *row, bool numbers)
{
    struct scenario *scenario = setting->side->scenario;
    struct buffer out = { .arena = scenario->arena };
    struct algebra how = { .formulas = &scenario->formulas, .context = setting, .taken = set_taken,
                           .number = numbers ? set_number : NULL };
    const struct fact *fact = facts_find(&scenario->facts, row_name(row));
    if (!row_expr(row) || row_table(row) || (fact && !fact->expression))
        return NULL;
    mathml_print(&out, &how, row_expr(row));
    return out.data;
}

/* ---- lists -------------------------------------------------------------------------------- */

static bool build(struct board_list *side, struct error *error)
{
    struct scenario *scenario = side->scenario;
    struct arena *arena = scenario->arena;
    const struct expr **wanted = arena_array(arena, side->count + 1, sizeof *wanted);
    for (size_t i = 0; i < side->count; i++) {
        struct unit unit;
        if (!expr_parse(&scenario->formulas, NULL, 0, text_of(side->texts[i]), &wanted[i], error) ||
            !expr_unit(&scenario->formulas, wanted[i], &unit, error))
            return false;
    }
    if (!graph_build(arena, &scenario->formulas, &scenario->facts, wanted, side->count, &side->graph,
                     error))
        return false;
    side->inputs = arena_array(arena, side->graph.input_count + 1, sizeof(double));
    side->values = arena_array(arena, side->count + 1, sizeof(double));
    for (size_t i = 0; i < side->graph.input_count; i++)
        side->inputs[i] = side->graph.inputs[i].value;
    graph_value(arena, &side->graph, side->inputs, NULL, side->values);
    values_unpriced(&side->graph, side->inputs, side->values);
    return true;
}

void board_run(struct board *board, enum board_side which)
{
    struct board_list *side = &board->sides[which];
    struct arena scratch = { 0 };
    graph_value(&scratch, &side->graph, side->inputs, NULL, side->values);
    values_unpriced(&side->graph, side->inputs, side->values);
    arena_free(&scratch);
}

void board_sweep(const struct board *board, enum board_side which, size_t input,
                 const double *x, size_t points, double *outputs)
{
    const struct board_list *side = &board->sides[which];
    struct arena scratch = { 0 };
    struct column *columns = arena_array(&scratch, side->graph.input_count + 1, sizeof *columns);
    double **to = arena_array(&scratch, side->count + 1, sizeof *to);
    for (size_t i = 0; i < side->graph.input_count; i++)
        columns[i] = (struct column){ i == input ? x : &side->inputs[i], i == input };
    for (size_t i = 0; i < side->count; i++)
        to[i] = outputs + i * points;
    graph_run(&side->graph, columns, to, points);
    arena_free(&scratch);
}

/* ---- the document ------------------------------------------------------------------------- */

static void add_row(struct formula_printer *setting, struct doc *rows, size_t index)
{
    struct board_list *side = setting->side;
    struct arena *arena = side->scenario->arena;
    const struct row *row = row_asked(side, index);
    struct doc *doc = doc_add(arena, rows, NULL, DOC_OBJECT);
    doc_add_string(arena, doc, "of", side->texts[index]);
    if (!row)
        return;
    struct buffer symbol = { .arena = arena };
    mathml_symbol(&symbol, row);
    doc_add_string(arena, doc, "symbol", symbol.data);
    doc_add_string(arena, doc, "meaning", row_meaning(row));
    doc_add_string(arena, doc, "source", row_source(row));
    const char *symbols = formula(setting, row, false);
    if (!symbols)
        return;
    doc_add_string(arena, doc, "formula", symbols);
    doc_add_string(arena, doc, "numbers", formula(setting, row, true));
}

static void add_inputs(const struct board_list *side, struct doc *inputs)
{
    struct arena *arena = side->scenario->arena;
    for (size_t i = 0; i < side->graph.input_count; i++) {
        const struct input *input = &side->graph.inputs[i];
        const struct row *row = formulas_row(&side->scenario->formulas, input->row);
        struct buffer symbol = { .arena = arena };
        struct doc *doc = doc_add(arena, inputs, NULL, DOC_OBJECT);
        mathml_symbol(&symbol, row);
        doc_add_string(arena, doc, "name", input->name);
        doc_add_string(arena, doc, "symbol", symbol.data);
        doc_add_string(arena, doc, "meaning", row_meaning(row));
        doc_add_string(arena, doc, "unit", row_unit_text(row));
        doc_add_number(arena, doc, "value", input->value);
        doc_add_number(arena, doc, "least", input->least);
        doc_add_number(arena, doc, "most", input->most);
        doc_add_string(arena, doc, "source", input->source ? input->source : row_source(row));
        const struct fact *fact = facts_find(&side->scenario->facts, input->name);
        doc_add_bool(arena, doc, "assumed", !input->source);
        doc_add_bool(arena, doc, "chosen", fact && fact->origin == ORIGIN_CHOSEN);
    }
}

static void add_outputs(const struct formula_printer *setting, struct doc *outputs)
{
    const struct board_list *side = setting->side;
    struct arena *arena = side->scenario->arena;
    for (size_t i = 0; i < side->count; i++) {
        struct buffer unit = { .arena = arena };
        const struct row *row = row_asked(side, i);
        struct doc *doc = doc_add(arena, outputs, NULL, DOC_OBJECT);
        if (!row)
            unit_print(&unit, scenario_unit(side->scenario, side->texts[i]));
        doc_add_string(arena, doc, "of", side->texts[i]);
        doc_add_string(arena, doc, "unit", row ? row_unit_text(row) : unit.data);
        if (setting->condition[i])
            doc_add_bool(arena, doc, "decides", true);
    }
}

static bool open_side(struct board_list *side, const char *name, struct doc *doc,
                      struct error *error)
{
    struct formula_printer setting = { .side = side };
    struct arena *arena = side->scenario->arena;
    if (!side->count)
        return true;
    side->asked = side->count;
    for (size_t i = 0; i < side->asked; i++) {
        const struct row *row = row_asked(side, i);
        if (row)
            formula(&setting, row, true);
    }
    if (!build(side, error))
        return false;
    setting.known = true;
    setting.condition = arena_array(arena, side->count + 1, sizeof(bool));
    struct doc *part = doc_add(arena, doc, name, DOC_OBJECT);
    struct doc *rows = doc_add(arena, part, "rows", DOC_ARRAY);
    for (size_t i = 0; i < side->asked; i++)
        add_row(&setting, rows, i);
    add_outputs(&setting, doc_add(arena, part, "outputs", DOC_ARRAY));
    add_inputs(side, doc_add(arena, part, "inputs", DOC_ARRAY));
    return true;
}

/* ---- opening ------------------------------------------------------------------------------ */

static void add_notes(const struct scenario *scenario, struct doc *doc)
{
    struct doc *list = doc_add(scenario->arena, doc, "assumed", DOC_ARRAY);
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        doc_add_string(scenario->arena, list, NULL, scenario->facts.notes[i]);
}

/* "server: predicted_tpot": the side, and what is asked of it. */
static struct board_list *side_of(struct board *board, const char **quantity)
{
    static const char server[] = "server: ";
    if (strncmp(*quantity, server, sizeof server - 1))
        return &board->sides[BOARD_BOUND];
    *quantity += sizeof server - 1;
    return &board->sides[BOARD_SERVER];
}

/* What follows from other rows becomes a number that a slider moves; when it rests, the question is
 * asked again with that number given. */
static bool hold_load(struct scenario *scenario, struct error *error)
{
    static const char *const rows[] = { NAME_context, NAME_prompt_tokens, NAME_output_tokens };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct values values;
    if (!scenario->model || !scenario->machine)
        return true;
    if (!values_of(scenario, rows, ROWS, &values, error))
        return false;
    for (int i = 0; i < ROWS; i++)
        if (!facts_find(&scenario->facts, rows[i]))
            facts_set(&scenario->facts, rows[i], values.at[i], ORIGIN_CHOSEN, "the load");
    return true;
}

/* 1. Read the words into a scenario. 2. Sort the quantities to their sides. 3. Choose an open layout and
 * load once, so that a slider changes nothing else. 4. Build a graph for each side. */
bool board_open(struct board *board, struct arena *arena, int count, char **words,
                const char *const *quantities, size_t quantity_count, struct doc *doc,
                struct error *error)
{
    struct command *command = arena_alloc(arena, sizeof *command);
    struct server *server = arena_alloc(arena, sizeof *server);
    *command = (struct command){ .verbs = verbs };
    *board = (struct board){ 0 };
    if (!command_read(arena, count, words, command, error) ||
        !scenario_open(&board->scenario, arena, command, command_subject(command), error))
        return false;
    board->sides[BOARD_BOUND].scenario = &board->scenario;
    board->sides[BOARD_SERVER].scenario = &server->scenario;
    server->scenario.arena = arena;
    const char **asked = arena_array(arena, quantity_count + 1, sizeof *asked);
    for (size_t i = 0; i < quantity_count; i++) {
        const char *quantity = quantities[i];
        struct board_list *side = side_of(board, &quantity);
        list_text(side, quantity);
        asked[i] = quantity;
    }
    if (!scenario_choose(&board->scenario, asked, quantity_count, error) ||
        !hold_load(&board->scenario, error))
        return false;
    struct scenario *last = &board->scenario;
    if (board->sides[BOARD_SERVER].count) {
        if (!server_open(server, &board->scenario, error))
            return false;
        const char *verdict = server_verdict(server);
        if (verdict)
            doc_add_string(arena, doc, "refused", verdict);
        else
            doc_add_string(arena, doc, "layout", server_layout(server));
        last = &server->scenario;
    }
    if (board->scenario.model)
        doc_add_string(arena, doc, "model", board->scenario.model);
    if (board->scenario.machine)
        doc_add_string(arena, doc, "machine", board->scenario.machine);
    const char *misfit = scenario_misfit(&board->scenario);
    if (misfit)
        doc_add_string(arena, doc, "infeasible", arena_print(arena, "out of memory: %s", misfit));
    add_notes(last, doc);
    return open_side(&board->sides[BOARD_BOUND], "bound", doc, error) &&
           open_side(&board->sides[BOARD_SERVER], "server", doc, error);
}
