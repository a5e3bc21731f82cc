/* No row borrows another's deck. With a model and a machine named, every input that a row moves with
 * comes from one of the two, or stands in tests/defaults.txt with the reason why its default is no
 * fact of some other model or machine. A line there that nothing needs is an error too. */
#include "test.h"

#include "lines.h"

enum { LINES = 256 };

struct line {
    char name[80];
    enum { ANY, OWN, ROW, PAPER } kind;
    bool used;
};

static size_t read_lines(struct line *lines)
{
    static const char *const kinds[] = { "any  ", "own  ", "row  ", "ppr  " };
    FILE *file = fopen("tests/defaults.txt", "r");
    char text[256];
    size_t count = 0;
    assert_non_null(file);
    while (fgets(text, sizeof text, file)) {
        size_t kind = 0, size = 0;
        if (text[0] == '#')
            continue;
        while (kind < COUNT(kinds) && strncmp(text, kinds[kind], 5))
            kind++;
        const char *reason = strstr(text + (strlen(text) > 5 ? 5 : 0), "  ");
        if (kind == COUNT(kinds) || !reason || strlen(reason) < 5 || count == LINES)
            fail_msg("tests/defaults.txt: '%s' is not any, own, row or ppr, a name, and why", text);
        size = (size_t)(reason - text) - 5;
        snprintf(lines[count].name, sizeof lines[count].name, "%.*s", (int)size, text + 5);
        lines[count].kind = kind == 0 ? ANY : kind == 1 ? OWN : kind == 2 ? ROW : PAPER;
        lines[count++].used = false;
    }
    fclose(file);
    return count;
}

/* Rows for a model that is not there yet. */
static bool on_paper(const struct formulas *formulas, const struct row *row)
{
    static const char *const titles[] = { "Parameters of a plain transformer",
                                          "The cache of an architecture", "Attention's own compute" };
    for (size_t i = 0; i < COUNT(titles); i++)
        if (!strcmp(formulas->chapters[row->chapter].title, titles[i]))
            return true;
    return false;
}

static bool may_read(struct line *lines, size_t count, const struct formulas *formulas,
                     const struct row *row, const struct row *input)
{
    const char *title = formulas->chapters[input->chapter].title;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(lines[i].name, lines[i].kind == ROW || lines[i].kind == PAPER ? row_name(input) : title) &&
            (lines[i].kind != OWN || !strcmp(row_file(row), row_file(input))) &&
            (lines[i].kind != PAPER || on_paper(formulas, row)))
            return lines[i].used = true;
    return false;
}

/* The inputs at their default that a row moves with; the number of those that it may not read. */
static size_t borrowed(struct scenario *scenario, const struct row *row, struct line *lines,
                       size_t count)
{
    struct arena arena = { 0 };
    struct graph graph;
    struct error error;
    const struct expr *expr;
    size_t wrong = 0;
    const struct fact_table *table = row_table(row) ? facts_table_find(&scenario->facts, row_table(row)) : NULL;
    const char *text = !row_table(row) ? row_name(row)
                     : arena_print(&arena, "%s[%s]", row_name(row), table ? table->entry[0] : "default");
    assert_true(expr_parse(&scenario->formulas, NULL, 0, text_of(text), &expr, &error));
    if (!graph_build(&arena, &scenario->formulas, &scenario->facts, &expr, 1, &graph, &error))
        fail_msg("%s: %s", row_name(row), error.what);
    double *inputs = arena_array(&arena, graph.input_count + 1, sizeof *inputs);
    double *nodes = arena_array(&arena, graph.count + 1, sizeof *nodes);
    for (size_t i = 0; i < graph.input_count; i++)
        inputs[i] = graph.inputs[i].value;
    graph_value(&arena, &graph, inputs, nodes, NULL);
    for (size_t i = 0; i < graph.input_count; i++) {
        const struct row *input = formulas_row(&scenario->formulas, graph.inputs[i].row);
        if (graph.inputs[i].source || input->low == input->high ||
            !graph_moves(&arena, &graph, nodes, i) ||
            may_read(lines, count, &scenario->formulas, row, input))
            continue;
        print_message("%s on %s: %s reads %s at its default (%s)\n", scenario->model,
                      scenario->machine, row_name(row), row_name(input), row_source(input));
        wrong++;
    }
    arena_free(&arena);
    return wrong;
}

static void no_row_borrows_a_deck(void **unused)
{
    (void)unused;
    static struct line lines[LINES];
    static const char *const pairs[][2] = {
        { "deepseek-v3", "gb200-nvl72" }, { "llama-3.3-70b", "h100-sxm" },
        { "mixtral-8x7b", "tpu-v5p" }, { "gemma-3-27b", "mi300x" } };
    const size_t count = read_lines(lines);
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct arena arena = { 0 };
        struct scenario scenario;
        struct command command = { 0 };
        struct error error;
        const struct subject subject = { .model = pairs[i][0], .machine = pairs[i][1] };
        if (!scenario_open(&scenario, &arena, &command, subject, &error))
            fail_msg("%s (%s)", error.what, error.hint);
        for (size_t row = 0; row < scenario.formulas.count; row++)
            if (row_expr(formulas_row(&scenario.formulas, row)))
                wrong += borrowed(&scenario, formulas_row(&scenario.formulas, row), lines, count);
        arena_free(&arena);
    }
    for (size_t i = 0; i < count; i++)
        if (!lines[i].used) {
            print_message("tests/defaults.txt: nothing needs '%s'\n", lines[i].name);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

/* `list decks` has every line of the sheet, and each is a value that --deck sets. */
static void decks_are_listed(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    size_t count = 0, lines = 0;
    char text[512];
    FILE *file = fopen("data/decks.csv", "r");
    assert_non_null(file);
    while (fgets(text, sizeof text, file))
        lines += *text != '#' && strncmp(text, "deck,", 5) != 0;
    fclose(file);
    assert_true(line_asked(&arena, "list decks", &answer, &error));
    for (const struct doc *one = doc_get(answer.doc, "decks")->first; one; one = one->next, count++) {
        struct scenario scenario;
        const char *line = arena_print(&arena, "eval batch --deck %s", doc_text(one, "deck", ""));
        const struct command *command = line_command(&arena, line, &error);
        assert_non_null(command);
        if (!scenario_open(&scenario, &arena, command, (struct subject){ 0 }, &error))
            fail_msg("%s: %s", line, error.what);
        if (!facts_find(&scenario.facts, formulas_name(&scenario.formulas, &arena, doc_text(one, "row", ""))))
            fail_msg("%s sets no %s", line, doc_text(one, "row", ""));
    }
    assert_int_equal(count, lines);
    arena_free(&arena);
}

/* Words behind the list keep the lines that have all of them, and --csv has the range of a value where an input has one. */
static void lines_and_columns_are_those_asked_for(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    assert_true(line_asked(&arena, "list models QWEN3 coder", &answer, &error));
    const struct doc *models = doc_get(answer.doc, "models");
    assert_true(models->count > 0 && models->count < 10);
    for (const struct doc *one = models->first; one; one = one->next)
        assert_non_null(strstr(doc_text(one, "name", ""), "qwen3-coder"));
    assert_true(line_asked(&arena, "list rows overlaps compute", &answer, &error));
    assert_string_equal(doc_text(doc_get(answer.doc, "rows")->first, "name", ""), "bound_overlap");
    assert_true(line_asked(&arena, "list hardware 503", &answer, &error) ? false : strstr(error.what, "nothing has '503'") != NULL);
    assert_true(line_asked(&arena, "eval bound_step tpot_bound --model llama-3.1-8b --on h100-sxm --batch 4", &answer, &error));
    assert_int_equal(strncmp(answer.csv.data, "quantity,value,unit,low,high,origin,source\n", 43), 0);
    assert_true(line_asked(&arena, "eval bound_step layers --model llama-3.1-8b --on h100-sxm --batch 4..8", &answer, &error));
    const struct doc *range = doc_get(doc_get(answer.doc, "bound_step"), "range");
    struct csv csv;
    assert_true(csv_read(&arena, "answer", (struct text){ answer.csv.data, answer.csv.size }, &csv, &error) && csv.rows == 2);
    assert_true(atof(csv_cell(&csv, 0, csv_column(&csv, "range_low"))) == range->first->number);
    assert_true(atof(csv_cell(&csv, 0, csv_column(&csv, "range_high"))) == range->last->number);
    assert_string_equal(csv_cell(&csv, 0, csv_column(&csv, "range_kind")), "range");
    assert_string_equal(csv_cell(&csv, 1, csv_column(&csv, "range_low")), "");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_borrows_a_deck),
        cmocka_unit_test(decks_are_listed),
        cmocka_unit_test(lines_and_columns_are_those_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
