/* solve: the values of one input for which an equation or inequality between two expressions
 * holds.
 *
 * The unknown may be any row; a formula row becomes an input for the question. The difference of
 * the two sides becomes one graph, whose zeros rows/solve.c brackets, with the interval reading as
 * proof that no other exists in the range. Where nothing solves the equation, the answer says
 * where the sides come closest, or at which jump they pass each other. Roots of a row that takes
 * whole numbers are shown with the values at both neighbouring whole numbers, since the equation
 * does not say which is wanted. */
#include "ask/ask.h"
#include "scenario/basis.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include "scenario/equation.h"
#include "deploy/chosen.h"

#include <math.h>
#include <string.h>

/* ---- the keys of the answer ------------------------------------------------------------------ */

static const struct record interval_record = { "Interval", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "lower end", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "upper end", .unit = "", .always = true },
    { FIELD_SWITCH, "low_closed", .help = "whether the lower end belongs to the interval", .always = true },
    { FIELD_SWITCH, "high_closed", .help = "whether the upper end belongs to the interval", .always = true },
    { FIELD_TEXTS, "words", .help = "words that ask for the lower end again, or for the root", .always = true },
    { FIELD_TEXTS, "high_words", .help = "words that ask for the upper end again, where it is another" },
    { 0 } } };

static const struct record closest_record = { "Closest", (const struct answer_field[]){
    { FIELD_NUMBER, "at", .help = "value of the unknown where the sides are nearest", .unit = "",
      .always = true },
    { FIELD_NUMBER, "left", .help = "the left side at that value", .unit = "", .always = true },
    { FIELD_NUMBER, "right", .help = "the right side at that value", .unit = "", .always = true },
    { 0 } } };

static const struct record range_record = { "SearchedRange", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "lower end", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "upper end", .unit = "", .always = true },
    { 0 } } };

static const struct record unknown_record = { "Unknown", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "the first boundary; null: there is no solution", .unit = "",
      .always = true, .null = true },
    { FIELD_TEXT, "unit", .help = "unit of the unknown", .always = true },
    { FIELD_LIST, "intervals", .help = "where the equation holds", .record = &interval_record,
      .always = true },
    { FIELD_NUMBERS, "roots", .help = "solutions that are single points", .always = true },
    { FIELD_TEXTS, "held", .help = "rows of layout and load that were chosen once, for all values", .always = true },
    { FIELD_TEXTS, "words", .help = "words that ask for both sides at `value` again" },
    { FIELD_NUMBERS, "jumps", .help = "points where the sides jump past each other", .always = true },
    { FIELD_NUMBERS, "whole", .help = "the whole numbers on both sides of a root, for a count" },
    { FIELD_RECORD, "range", .help = "the range that was searched", .record = &range_record, .always = true },
    { FIELD_SWITCH, "proved", .help = "whether the whole range is settled", .always = true },
    { FIELD_RECORD, "closest", .help = "without a solution, the point where the sides are nearest",
      .record = &closest_record, .null = true, .always = true },
    { FIELD_TEXT, "infeasible", .help = "why no server is there" },
    { FIELD_NUMBER, "beyond_range", .help = "a solution outside the range", .unit = "" },
    { 0 } } };

static const struct record answer_solve = { "Solve", (const struct answer_field[]){
    { FIELD_TEXT, "where", .help = "the equation", .always = true },
    { FIELD_TEXT, "for", .help = "without a model: the server that the predictions are of" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_OTHERS, .help = "the unknown, by its name", .record = &unknown_record },
    { 0 } } };

/* ---- answers -------------------------------------------------------------------------------- */

struct solved {
    struct scenario *scenario;
    struct answer *answer;
    const char *name;
    const char *input;              /* its fact: the row's own name, with the entry */
    const struct row *row;
    const struct equation *equation;
    struct unit unit, side;         /* of the unknown, of both sides */
    double low, high;               /* the range */
    bool choose;                    /* layout and load are chosen at each value, else held */
    bool batch_follows;             /* from the unknown, a rate */
    struct solution found;
};

static const char *unknown_text(const struct solved *solved, double x, int digits)
{
    return quantity_text(solved->scenario->arena, x, solved->unit, digits);
}

static const char *side_text(const struct solved *solved, double value, int digits)
{
    return quantity_text(solved->scenario->arena, value, solved->side, digits);
}

/* A side as it is evaluated, and its value where the unknown is x. */
static const char *evaluated(const struct solved *solved, const char *side)
{
    return solved->batch_follows ? scenario_at_batch(solved->scenario, side) : side;
}

static bool side_at(const struct solved *solved, const char *side, double x, double *value)
{
    struct error ignored;
    double sides[2];
    if (solved->choose) {
        const bool known = chosen_sides(solved->scenario, solved->equation, solved->input, x, sides);
        *value = sides[side != solved->equation->left];
        return known;
    }
    facts_set(&solved->scenario->facts, solved->input, x, ORIGIN_AXIS, "solve");
    return value_of(solved->scenario, evaluated(solved, side), value, &ignored);
}

/* The scenario where the unknown is x, whose words ask for it again. */
static struct scenario scenario_at(const struct solved *solved, double x)
{
    const char *const sides[] = { solved->equation->left, solved->equation->right };
    struct scenario at = *solved->scenario;
    struct error ignored;
    if (solved->choose && chosen_open(&at, solved->scenario->arena, solved->scenario->command, solved->input, x,
                                      sides, 2, &ignored))
        return at;
    at = *solved->scenario;
    at.facts = facts_copy(&at.facts);
    facts_set(&at.facts, solved->input, x, ORIGIN_AXIS, "solve");
    scenario_hold(&at);
    return at;
}

static void add_words(const struct solved *solved, double x, const char *name, struct doc *doc)
{
    const struct scenario at = scenario_at(solved, x);
    scenario_words_named(&at, name, doc);
}

static bool in_wholes(const struct row *row)
{
    return row->input && unit_counts(row->unit) && row->value == floor(row->value) &&
           row->low == floor(row->low) && row->high == floor(row->high) && row->high - row->low > 2;
}

/* Does the row come in whole numbers, and the root not? */
static bool between_wholes(const struct row *row, double root)
{
    return in_wholes(row) && fabs(root - floor(root + 0.5)) > 1e-9 * root;
}

/* " (96: 100.1, 97: 99.55 token/s)": the left side at the whole numbers beside a root.
 * Which of the two is wanted, an equation does not say. */
static const char *wholes_text(const struct solved *solved, double root, const char *root_text)
{
    struct arena *arena = solved->scenario->arena;
    const char *count[2], *side[2] = { "", "" };
    double value[2];
    for (int i = 0; i < 2; i++) {
        count[i] = quantity_text(arena, floor(root) + i, unit_one, 9);
        if (!side_at(solved, solved->equation->left, floor(root) + i, &value[i]) ||
            (!strchr(root_text, '.') && !strncmp(root_text, count[i], strlen(count[i]))))
            return "";
    }
    for (int digits = 4; digits < 12 && !strcmp(side[0], side[1]); digits += 2)
        for (int i = 0; i < 2; i++)
            side[i] = side_text(solved, value[i], digits);
    const char *first = strchr(side[0], ' '), *second = strchr(side[1], ' ');
    size_t size = first && second && !strcmp(first, second) ? (size_t)(first - side[0])
                                                            : strlen(side[0]);
    return arena_print(arena, " (%s: %.*s, %s: %s)", count[0], (int)size, side[0], count[1],
                       side[1]);
}

static bool from_range(const struct solved *solved, const struct extent *one)
{
    return !one->low_closed && one->low == solved->low;
}

static bool to_range(const struct solved *solved, const struct extent *one)
{
    return !one->high_closed && one->high == solved->high;
}

/* "395.99 or more", "less than 40", "2 to less than 3", "any from 1 to 1e9" */
static const char *extent_text(const struct solved *solved, const struct extent *one)
{
    struct arena *arena = solved->scenario->arena;
    const char *low = unknown_text(solved, one->low, 5), *high = unknown_text(solved, one->high, 5);
    if (from_range(solved, one) && to_range(solved, one))
        return arena_print(arena, "any from %s to %s", low, high);
    if (from_range(solved, one))
        return arena_print(arena, one->high_closed ? "%s or less" : "less than %s", high);
    if (to_range(solved, one))
        return arena_print(arena, one->low_closed ? "%s or more" : "more than %s", low);
    return arena_print(arena, "%s%s to %s%s", one->low_closed ? "" : "more than ", low,
                       one->high_closed ? "" : "less than ", high);
}

/* " (whole numbers from 396)", where the ends say something else. */
static const char *whole_ends(const struct solved *solved, const struct extent *one)
{
    struct arena *arena = solved->scenario->arena;
    const bool any_low = from_range(solved, one), any_high = to_range(solved, one);
    const double low = one->low_closed ? ceil(one->low) : floor(one->low) + 1;
    const double high = one->high_closed ? floor(one->high) : ceil(one->high) - 1;
    if (!in_wholes(solved->row))
        return "";
    if (!any_low && !any_high && low > high)
        return " (not a whole number)";
    const char *from = quantity_text(arena, low, unit_one, 9);
    const char *to = quantity_text(arena, high, unit_one, 9);
    if ((any_low || (one->low_closed && !strcmp(quantity_text(arena, one->low, unit_one, 5), from))) &&
        (any_high || (one->high_closed && !strcmp(quantity_text(arena, one->high, unit_one, 5), to))))
        return "";
    if (!any_low && !any_high)
        return low == high ? arena_print(arena, " (one whole number, %s)", from)
                           : arena_print(arena, " (whole numbers %s to %s)", from, to);
    return any_high ? arena_print(arena, " (whole numbers from %s)", from)
                    : arena_print(arena, " (whole numbers up to %s)", to);
}

/* The first end that is not one of the range's. */
static double boundary(const struct solved *solved, const struct extent *one)
{
    return from_range(solved, one) && !to_range(solved, one) ? one->high : one->low;
}

static void print_extent(const struct solved *solved, const struct extent *one)
{
    struct buffer *text = &solved->answer->text;
    const struct equation *equation = solved->equation;
    double side, first = one->low, last = one->high, other;
    if (first == last) {
        const char *root = unknown_text(solved, first, 6);
        buffer_print(text, "%s = %s%s", solved->name, root,
                     between_wholes(solved->row, first) ? wholes_text(solved, first, root) : "");
    } else {
        buffer_print(text, "%s  %s%s", solved->name, extent_text(solved, one),
                     whole_ends(solved, one));
    }
    buffer_print(text, "   where %s", equation->text);
    if (equation->relation == RELATION_EQUAL &&
        side_at(solved, equation->left, boundary(solved, one), &side)) {
        buffer_print(text, ": both are %s", side_text(solved, side, 6));
        bool moves = first != last && side_at(solved, equation->left, first / 2 + last / 2, &other) &&
                     strcmp(side_text(solved, other, 6), side_text(solved, side, 6));
        if (moves)
            buffer_print(text, " at %s", unknown_text(solved, boundary(solved, one), 6));
    }
    buffer_print(text, "\n");
}

static void answer_found(const struct solved *solved, struct doc *one)
{
    enum { SHOWN = 8 };
    struct scenario *scenario = solved->scenario;
    const struct solution *found = &solved->found;
    const double first = boundary(solved, &found->extents[0]);
    const char *const sides[] = { evaluated(solved, solved->equation->left), evaluated(solved, solved->equation->right) };
    for (size_t i = 0; i < found->count && i < SHOWN; i++) {
        const double x = boundary(solved, &found->extents[i]);
        facts_set(&scenario->facts, solved->input, scenario_counts_chips(solved->input) ? fmax(1, floor(x)) : x, ORIGIN_AXIS, "solve");
        const char *infeasible = scenario_no_server(scenario, sides, 2);
        print_extent(solved, &found->extents[i]);
        if (infeasible)
            buffer_print(&solved->answer->text, "  there, %s\n", infeasible);
        if (infeasible && !i) {
            solved->answer->status = 1;
            doc_add_string(scenario->arena, one, "infeasible", infeasible);
        }
    }
    if (found->count > SHOWN)
        buffer_print(&solved->answer->text, "and %zu more\n", found->count - SHOWN);
    if (found->extents[0].low == found->extents[0].high && between_wholes(solved->row, first)) {
        struct doc *wholes = doc_add(scenario->arena, one, "whole", DOC_ARRAY);
        doc_add_number(scenario->arena, wholes, NULL, floor(first));
        doc_add_number(scenario->arena, wholes, NULL, ceil(first));
    }
    facts_set(&scenario->facts, solved->input, first, ORIGIN_AXIS, "solve");
}

/* Or does a side begin or cease to have a value there? */
static bool passes_zero(const struct jump *jump)
{
    return (jump->before > 0 && jump->after < 0) || (jump->before < 0 && jump->after > 0);
}

/* What is nearest, as a sentence: the sides at the jump past each other, the most or least of the
 * side that moves, or both sides. */
static void print_never(const struct solved *solved, double left, double right, bool left_moves,
                        bool right_moves)
{
    struct buffer *text = &solved->answer->text;
    const struct equation *equation = solved->equation;
    const struct solution *found = &solved->found;
    const char *at = unknown_text(solved, found->closest, 6);
    const struct jump *jump = found->nearest_jump;
    double before, after;
    bool passes = false;
    for (size_t i = 0; i < found->jump_count; i++)
        passes |= passes_zero(&found->jumps[i]);
    int digits = 4;                                 /* until both sides look different */
    while (digits < 16 && !strcmp(side_text(solved, left, digits), side_text(solved, right, digits)))
        digits += 2;
    if (jump && left_moves != right_moves &&
        side_at(solved, left_moves ? equation->left : equation->right, jump->first, &before) &&
        side_at(solved, left_moves ? equation->left : equation->right, jump->last, &after))
        buffer_print(text, "never exactly: %s jumps from %s to %s, past %s, at %s %s",
                     left_moves ? equation->left : equation->right, side_text(solved, before, 6),
                     side_text(solved, after, 6), side_text(solved, left_moves ? right : left, 6),
                     solved->name, at);
    else if (jump)
        buffer_print(text, "never exactly: the sides jump past each other at %s %s (%s and %s there)",
                     solved->name, at, side_text(solved, left, 6), side_text(solved, right, 6));
    else if (left_moves != right_moves && !passes)
        buffer_print(text, "never: %s %s, at %s %s",
                     (left < right) == left_moves ? "at most" : "at least",
                     side_text(solved, left_moves ? left : right, digits), solved->name, at);
    else
        buffer_print(text, "never: closest at %s %s, %s against %s", solved->name, at,
                     side_text(solved, left, digits), side_text(solved, right, digits));
}

static bool moves(const struct solved *solved, const char *side)
{
    const char *const text = evaluated(solved, side);
    struct values values;
    struct error ignored;
    if (solved->choose)
        return !equation_number(side);
    facts_set(&solved->scenario->facts, solved->input, solved->found.closest, ORIGIN_AXIS, "solve");
    return values_of(solved->scenario, &text, 1, &values, &ignored) &&
           values_depend(solved->scenario->arena, &values, solved->input);
}

static void answer_none(const struct solved *solved, struct doc *one)
{
    struct arena *arena = solved->scenario->arena;
    const struct solution *found = &solved->found;
    const struct equation *equation = solved->equation;
    struct buffer *text = &solved->answer->text;
    double left, right;
    solved->answer->status = 1;
    if (side_at(solved, equation->left, found->closest, &left) &&
        side_at(solved, equation->right, found->closest, &right)) {
        struct doc *closest = doc_add(arena, one, "closest", DOC_OBJECT);
        doc_add_number(arena, closest, "at", found->closest);
        doc_add_number(arena, closest, "left", left);
        doc_add_number(arena, closest, "right", right);
        print_never(solved, left, right, moves(solved, equation->left),
                    moves(solved, equation->right));
    } else {
        doc_add(arena, one, "closest", DOC_NULL);
        buffer_print(text, "never: the sides have no finite value together");
    }
    buffer_print(text, "   where %s, %s from %s to %s\n", equation->text, solved->name,
                 unknown_text(solved, solved->low, 4), unknown_text(solved, solved->high, 4));
    if (!found->beyond_found || equation->relation != RELATION_EQUAL)
        return;
    doc_add_number(arena, one, "beyond_range", found->beyond);
    buffer_print(text, "  outside its range it would hold at %s\n",
                 unknown_text(solved, found->beyond, 6));
}

/* {"value", "unit", "intervals", "roots", "value", "jumps", "range", "proved"} */
static struct doc *answer_document(const struct solved *solved)
{
    struct arena *arena = solved->scenario->arena;
    const struct solution *found = &solved->found;
    struct buffer unit = { .arena = arena };
    struct doc *one = doc_add(arena, solved->answer->doc, solved->name, DOC_OBJECT);
    if (found->count)
        doc_add_number(arena, one, "value", boundary(solved, &found->extents[0]));
    else
        doc_add(arena, one, "value", DOC_NULL);
    if (found->count)
        add_words(solved, boundary(solved, &found->extents[0]), "words", one);
    scenario_held_document(solved->scenario, one);
    unit_print(&unit, solved->unit);
    doc_add_string(arena, one, "unit", unit.data);
    struct doc *intervals = doc_add(arena, one, "intervals", DOC_ARRAY);
    struct doc *roots = doc_add(arena, one, "roots", DOC_ARRAY);
    struct doc *jumps = doc_add(arena, one, "jumps", DOC_ARRAY);
    for (size_t i = 0; i < found->count; i++) {
        const struct extent *extent = &found->extents[i];
        struct doc *interval = doc_add(arena, intervals, NULL, DOC_OBJECT);
        doc_add_number(arena, interval, "low", extent->low);
        doc_add_number(arena, interval, "high", extent->high);
        doc_add_bool(arena, interval, "low_closed", extent->low_closed);
        doc_add_bool(arena, interval, "high_closed", extent->high_closed);
        add_words(solved, extent->low, "words", interval);
        if (extent->low < extent->high)
            add_words(solved, extent->high, "high_words", interval);
        if (extent->low == extent->high)
            doc_add_number(arena, roots, NULL, extent->low);
    }
    for (size_t i = 0; i < found->jump_count; i++)
        if (passes_zero(&found->jumps[i]))
            doc_add_number(arena, jumps, NULL, found->jumps[i].at);
    struct doc *range = doc_add(arena, one, "range", DOC_OBJECT);
    doc_add_number(arena, range, "low", solved->low);
    doc_add_number(arena, range, "high", solved->high);
    doc_add_bool(arena, one, "proved", found->proved);
    return one;
}

/* How far the left side may be from the right one at a root. */
static const double root_tolerance = 1e-6;

/* Notes on defaults that the solution depends on. By the implicit function theorem a root moves with an
 * input as that moves the difference of the sides, over how the unknown moves it; where there is no
 * root, at a jump or at none, it is what the sides depend on there. */
static void note_assumed(struct solved *solved, const struct graph *graph, size_t unknown)
{
    struct scenario *scenario = solved->scenario;
    const char *const sides[] = { evaluated(solved, solved->equation->left), evaluated(solved, solved->equation->right) };
    struct arena scratch = arena_beside(scenario->arena);
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    double *slopes = arena_array(&scratch, graph->input_count + 1, sizeof *slopes);
    const double at = solved->found.count ? boundary(solved, &solved->found.extents[0])
                                          : solved->found.closest;
    struct values values;
    struct basis basis = { 0 };
    struct error ignored;
    double difference;
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    inputs[unknown] = at;
    graph_value(&scratch, graph, inputs, nodes, &difference);
    graph_slopes(&scratch, graph, 0, nodes, slopes);
    const double whole = -slopes[unknown] * at;
    facts_set(&scenario->facts, solved->input, at, ORIGIN_AXIS, "solve");
    if (!values_of(scenario, sides, 2, &values, &ignored)) {
        arena_free(&scratch);
        return;
    }
    if (whole != 0 && isfinite(whole) &&
        fabs(difference) <= root_tolerance * fmax(fabs(values.at[0]), fabs(values.at[1]))) {
        for (size_t i = 0; i < graph->input_count; i++)
            slopes[i] = slopes[i] * inputs[i] / whole;
        basis.output = solved->input;
        basis_add(scenario, graph, slopes, &basis);
    } else {
        basis_values(scenario, &values, NULL, 2, &basis);
    }
    basis_notes(scenario, &basis);
    arena_free(&scratch);
}

static bool unknown_free(struct scenario *scenario, const char *name, struct error *error)
{
    const struct fact *given = facts_find(&scenario->facts, scenario->axis);
    if (!fact_given(given))
        return true;
    error_set(error, "'%s' is both the unknown and set by %s", name, given->source);
    return error_expected(error, "one of them");
}

/* The answer, but for its notes. */
static void answer_solution(const struct solved *solved)
{
    const char *const sides[] = { solved->equation->left, solved->equation->right };
    struct arena *arena = solved->scenario->arena;
    struct doc *one = answer_document(solved);
    const char *server = scenario_default_server(solved->scenario, sides, 2);
    if (server) {
        buffer_print(&solved->answer->text, "for %s\n", server);
        doc_add_string(arena, solved->answer->doc, "for", server);
    }
    if (solved->found.count) {
        doc_add(arena, one, "closest", DOC_NULL);
        answer_found(solved, one);
    } else {
        answer_none(solved, one);
    }
    if (solved->choose)
        buffer_print(&solved->answer->text, "layout and load are chosen at each value\n");
    else
        buffer_print(&solved->answer->text, "%s", scenario_held_text(solved->scenario));
    doc_add_string(arena, solved->answer->doc, "where", solved->equation->text);
}

/* Layout and load as they were chosen without the unknown: one graph has both sides. */
static bool solve_held(struct solved *solved, struct error *error)
{
    struct scenario *scenario = solved->scenario;
    const struct equation *equation = solved->equation;
    const char *const sides[] = { equation->left, equation->right };
    struct equation with_batch = *equation;
    struct graph graph;
    double side;
    solved->batch_follows = scenario_batch_follows(scenario, sides, 2);
    with_batch.left = evaluated(solved, equation->left), with_batch.right = evaluated(solved, equation->right);
    if (value_of(scenario, equation->left, &side, error) && isnan(side))
        return scenario_priced(scenario, "solve", error);
    if (!equation_graph(scenario, &with_batch, &graph, error))
        return false;
    const int input = graph_input(&graph, scenario->axis);
    if (input < 0 || !graph_depends(scenario->arena, &graph, scenario->axis)) {
        error_set(error, "'%s' does not appear in %s %.*s %s", solved->name, equation->left, equation->sign_size,
                  equation->sign, equation->right);
        return error_suggest(error, "`chalkline why %s --deep` lists the inputs it depends on", equation->left);
    }
    given_note(scenario, sides, 2, equation->text);
    graph_solve(scenario->arena, &graph, 0, (size_t)input, equation->relation, solved->low, solved->high,
                &solved->found);
    answer_solution(solved);
    note_assumed(solved, &graph, (size_t)input);
    scenario_notes(scenario, solved->answer);
    return true;
}

/* Layout and load chosen at each value of the unknown. The notes are those of the first solution. */
static bool solve_chosen(struct solved *solved)
{
    const char *const sides[] = { solved->equation->left, solved->equation->right };
    struct solution *found = &solved->found;
    struct values values;
    struct error ignored;
    chosen_roots(solved->scenario, solved->equation, solved->input, solved->low, solved->high, found);
    answer_solution(solved);
    struct scenario at = scenario_at(solved, found->count ? boundary(solved, &found->extents[0]) : found->closest);
    if (values_of(&at, sides, 2, &values, &ignored))
        assumed_notes(&at, &values, NULL, 2);
    scenario_notes(&at, solved->answer);
    return true;
}

bool ask_solve(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct scenario scenario;
    struct equation equation;
    struct solved solved = { .scenario = &scenario, .answer = answer, .equation = &equation,
                             .choose = command_given(command, "choose") };
    const char *last = command->word_count ? command->words[command->word_count - 1] : "";
    if (!command_given(command, "where") && strpbrk(last, "=<>")) {     /* solve [batch] predicted_tpot=30ms */
        error_set(error, "solve needs the equation after --where, and the input to solve it for");
        return error_suggest(error, "as in `chalkline solve %.60s --where '%.200s'%s`",
                             command->word_count > 1 ? command->words[0] : NAME_batch, last,
                             command_given(command, "model") ? "" : " --model MODEL --on MACHINE");
    }
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "solve takes one input, %zu were given"
                  : "solve needs the name of an input", command->word_count);
        return error_expected(error, "an input, as in `chalkline solve batch --where "
                              "bound_compute=bound_weights`");
    }
    const char *name = solved.name = command->words[0];
    if (!equation_split(arena, command_text(command, "where"), &equation, error) ||
        !scenario_read(&scenario, arena, command, command_subject(command), error))
        return false;
    equation_note_bare(&scenario, &equation);
    if (!equation_read(&scenario, &equation, error))
        return false;
    const char *left = equation.left, *right = equation.right;
    const char *const sides[] = { left, right };
    scenario.axis = solved.input = formulas_name(&scenario.formulas, arena, name);
    if (!scenario_said_with(&scenario, solved.input, name, error) || !scenario_images(&scenario, error) || !scenario_assume(&scenario, error) ||
        (!solved.choose && !scenario_choose(&scenario, sides, 2, error)) || !unknown_free(&scenario, name, error) ||
        !equation_unknown(&scenario, name, &solved.low, &solved.high, error))
        return false;
    solved.row = formulas_row(&scenario.formulas, formulas_find(
        &scenario.formulas, arena_copy(arena, name, strcspn(name, "["))));
    solved.unit = solved.row->unit;
    solved.side = scenario_unit(&scenario, equation_number(left) ? right : left);
    return solved.choose ? solve_chosen(&solved) : solve_held(&solved, error);
}

static const struct option solve_list[] = {
    { "where", "A=B", OPTION_TEXT, .help = "the equation to solve, or A>=B, A<=B" },
    { 0 } };
static const struct option_group solve_options = { "Equation", solve_list };

const struct verb verb_solve = {
    "solve", "INPUT --where A=B", "Solve an equation or inequality over rows for one input.",
    { "chalkline solve batch --where bound_compute=bound_weights",
      "chalkline solve context --where bound_kv=bound_weights --model deepseek-v3 --on gb200-nvl72" },
    { &solve_options, &choose_options, ANSWER_OPTIONS, &output_options }, ANSWERS(answer_solve), .ask = ask_solve };
