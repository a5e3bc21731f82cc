/* A statement's question, asked of a model: what it keeps, what it needs, its equation times named corrections, its
 * predicate, its sentence, and the root of the predicate.
 *
 * The scenario of a question is a copy of the one asked, in which the kept inputs are set one after the other, so that a
 * later one may be an expression over an earlier one. Where the question keeps the number of chips, the layout that was
 * chosen for other chips goes; its batch stays, since the batch is asked of the load. */
#include "lecture/question.h"
#include "lecture/sentence.h"

#include "build/row_names.h"
#include "catalog/sheet.h"
#include "scenario/deck.h"
#include "scenario/equation.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 4 };

/* ---- what it keeps, what it needs ---------------------------------------------------------------- */

static void forget_layout(struct scenario *scenario)
{
    struct facts *facts = &scenario->facts;
    for (size_t i = 0; i < facts->scalar_count;)
        if (facts->scalars[i].origin == ORIGIN_CHOSEN && strcmp(facts->scalars[i].name, NAME_batch) &&
            strcmp(facts->scalars[i].name, NAME_chips))
            facts_remove(facts, facts->scalars[i].name);
        else
            i++;
}

static void keep(struct scenario *scenario, const struct statement *statement, bool own, struct reply *reply)
{
    const char *text = statement->question.keeps;
    struct deck_part part;
    while (deck_next(scenario->arena, &text, &part)) {
        const char *row = formulas_name(&scenario->formulas, scenario->arena, part.name);
        const struct fact *fact = facts_find(&scenario->facts, row);
        struct quantity quantity;
        struct error ignored;
        double value = quantity_parse(text_of(part.value), scenario_unit(scenario, row), &quantity, &ignored)
                       ? quantity.value : value_or_nan(scenario, part.value);
        if (own && fact)
            value = value_or_nan(scenario, row);
        else if (!strcmp(row, NAME_chips))
            forget_layout(scenario);
        if (reply->kept_count < KEPT_MOST)
            reply->kept[reply->kept_count++] = (struct kept_input){ row, value };
        if (isfinite(value) && value_or_nan(scenario, row) != value)
            facts_set(&scenario->facts, row, value, ORIGIN_AXIS, "the question");
    }
}

static bool holds_of(const char *sign, double left, double right)
{
    const double near = 1e-12 * fmax(fabs(left), fabs(right));      /* proportional sides differ by rounding */
    const bool equal = sign[1] == '=' && fabs(left - right) <= near;
    return equal || (*sign == '<' ? left < right : left > right);
}

enum holds predicate_holds(struct scenario *scenario, const char *text, struct equation *equation, double *left,
                           double *right)
{
    struct error ignored;
    *left = *right = NAN;
    if (!equation_split(scenario->arena, text, equation, &ignored))
        return HOLDS_UNKNOWN;
    const char *sign = equation->sign;
    if (!equation_read(scenario, equation, &ignored))
        return HOLDS_UNKNOWN;
    *left = value_or_nan(scenario, equation->left);
    *right = value_or_nan(scenario, equation->right);
    return isnan(*left) || isnan(*right) ? HOLDS_UNKNOWN : holds_of(sign, *left, *right) ? HOLDS : HOLDS_NOT;
}

/* "known ROW" asks for a fact from a source, "example" for a question that no model answers. */
static bool has(struct scenario *scenario, const char *condition)
{
    static const char known[] = "known ";
    struct equation equation;
    double left, right;
    const struct fact *fact = strncmp(condition, known, strlen(known))
                              ? NULL : facts_find(&scenario->facts, condition + strlen(known));
    return fact ? !isnan(fact->value) : predicate_holds(scenario, condition, &equation, &left, &right) == HOLDS;
}

const char *question_no_value(struct scenario *scenario, const char *row)
{
    const struct csv *ends = csv_built_in("data/ends.csv");
    for (size_t i = 0; i < ends->rows; i++)
        if (!strcmp(csv_cell(ends, i, csv_column(ends, "row")), row))
            return has(scenario, csv_cell(ends, i, csv_column(ends, "exists"))) ? NULL
                   : sentence_fill(scenario, csv_cell(ends, i, csv_column(ends, "sentence")), NULL);
    return NULL;
}

/* What keeps the statement from applying, as a sentence; NULL: nothing. "there is ROW" asks for a row that is not the end
 * of what is considered. */
static const char *lacks(struct scenario *scenario, const struct statement *statement)
{
    static const char there[] = "there is ";
    const char *needs = statement->question.needs, *colon = strstr(needs, ": ");
    if (!strncmp(needs, there, strlen(there)))
        return question_no_value(scenario, needs + strlen(there));
    if (!colon || has(scenario, arena_copy(scenario->arena, needs, (size_t)(colon - needs))))
        return NULL;
    return sentence_fill(scenario, colon + 2, NULL);
}

/* ---- the equation and the predicate ----------------------------------------------------------------- */

static void read_factors(struct scenario *scenario, const struct statement *statement, struct reply *reply)
{
    const char *text = statement->question.factors;
    struct deck_part part;
    while (reply->factor_count < FACTORS_MOST && deck_next(scenario->arena, &text, &part))
        reply->factors[reply->factor_count++] = (struct factor){ part.name, part.value,
                                                                 value_or_nan(scenario, part.value) };
}

/* Set the inputs of the question in a copy of the scenario, and see whether the question applies there. */
static bool pose(struct scenario *asked, const struct statement *statement, enum question_inputs inputs, struct reply *reply)
{
    *reply = (struct reply){ .scenario = *asked, .figure = NAN, .closed = NAN, .holds = HOLDS_UNKNOWN,
                             .predicate = HOLDS_UNKNOWN, .equation = "", .now = NAN };
    reply->scenario.facts = facts_copy(&asked->facts);
    if (inputs != QUESTION_FREE)
        keep(&reply->scenario, statement, inputs == QUESTION_OF_DECK, reply);
    if (inputs != QUESTION_OF_DECK)
        reply->lacks = lacks(&reply->scenario, statement);
    return !reply->lacks;
}

void question_ask(struct scenario *asked, const struct statement *statement, enum question_inputs inputs,
                  struct reply *reply)
{
    const struct posed *question = &statement->question;
    struct scenario *scenario = &reply->scenario;
    if (!pose(asked, statement, inputs, reply))
        return;
    reply->figure = value_or_nan(scenario, question->figure);
    reply->closed = value_or_nan(scenario, question->closed);
    read_factors(scenario, statement, reply);
    if (*question->predicate) {
        struct equation equation;
        reply->predicate = predicate_holds(scenario, question->predicate, &equation, &reply->left.value, &reply->right.value);
        reply->left.text = equation.left;
        reply->right.text = equation.right;
        reply->equation = arena_print(scenario->arena, "%s=%s", equation.left, equation.right);
    }
    if (question->kind == QUESTION_COMPARISON || question->kind == QUESTION_NUMBER)
        reply->holds = reply->predicate;
    bool known = true;
    const char *sentence = reply->predicate == HOLDS_NOT ? question->here_fails : question->here;
    if (*sentence)
        reply->conclusion = sentence_fill(scenario, sentence, &known);
    if (inputs == QUESTION_OF_DECK || (known && isfinite(reply->figure) &&
                                       (!*question->predicate || reply->predicate != HOLDS_UNKNOWN)))
        return;
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    reply->lacks = price && isnan(price->value) ? "No price of this machine is known: --set chip_price=2USD/h."
                                                : "A figure that it needs is not known here.";
    reply->holds = reply->predicate = HOLDS_UNKNOWN;
    reply->conclusion = NULL;
}

/* ---- its root ------------------------------------------------------------------------------------------ */

/* A batch or a context beyond those considered elsewhere is none. */
static double most_considered(struct scenario *scenario, const char *row)
{
    static const char *const limited[][2] = { { NAME_context, NAME_context_ceiling }, { NAME_batch, NAME_batch_most } };
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
        if (!strcmp(row, limited[i][0]))
            return value_or_nan(scenario, limited[i][1]);
    return INFINITY;
}

/* Does the predicate change here? The sides are equal along a stretch, or touch, where it does not. */
static bool changes_at(struct reply *reply, const struct statement *statement, const char *row, double root)
{
    enum { SIDES = 2 };
    const double little = 1e-6;
    const double x[SIDES] = { root * (1 - little), root * (1 + little) };
    double left[SIDES], right[SIDES], *const y[] = { left, right };
    const char *const texts[] = { reply->left.text, reply->right.text };
    struct equation equation;
    struct error ignored;
    if (!(root > 0) || !equation_split(reply->scenario.arena, statement->question.predicate, &equation, &ignored) ||
        !values_along(&reply->scenario, texts, 2, row, x, SIDES, y, &ignored))
        return false;
    return holds_of(equation.sign, left[0], right[0]) != holds_of(equation.sign, left[1], right[1]);
}

void question_turns(struct reply *reply, const struct statement *statement)
{
    struct scenario other = reply->scenario;
    struct solution found;
    double best = INFINITY;
    if (reply->lacks || !*statement->question.turning)
        return;
    const char *row = formulas_name(&other.formulas, other.arena, statement->question.turning);
    reply->now = value_or_nan(&other, row);
    other.facts = facts_copy(&other.facts);
    if (reply->predicate == HOLDS_UNKNOWN || !equation_roots(&other, reply->equation, row, &found))
        return;
    const double most = most_considered(&other, row);
    for (size_t i = 0; i < found.count; i++) {
        const double ends[] = { found.extents[i].low, found.extents[i].high };
        for (int k = 0; k < 2; k++) {
            const double far = fabs(log(ends[k] / reply->now));
            if (far < best && ends[k] <= most && changes_at(reply, statement, row, ends[k])) {
                best = far;
                reply->root = ends[k];
                reply->turns = true;
            }
        }
    }
}

/* ---- as an answer -------------------------------------------------------------------------------------- */

static int branch_taken(void *context, const struct expr *select)
{
    return select_branch(context, select);
}

static const char *in_symbols(struct scenario *scenario, const char *text)
{
    struct buffer out = { .arena = scenario->arena };
    const struct algebra how = { .formulas = &scenario->formulas, .taken = branch_taken, .context = scenario,
                                 .symbols = true };
    const struct expr *expr;
    struct error ignored;
    if (!expr_parse(&scenario->formulas, "statement", 1, text_of(text), &expr, &ignored))
        return text;
    algebra_print(&out, &how, expr);
    return out.data;
}

static const char *with_unit(const struct scenario *scenario, const char *text, double value)
{
    return isnan(value) ? "unknown" : quantity_text(scenario->arena, value, scenario_unit(scenario, text), DIGITS);
}

/* "R N_t/N_a = 5,474, x 1.025 lookup x 0.3511 attention = 1,917"; with --lecture the first of these alone */
static const char *worked_text(const struct posed *question, struct reply *reply)
{
    struct scenario *scenario = &reply->scenario;
    const double shown = 5e-4;          /* a factor nearer to 1 is 1 to DIGITS digits */
    struct buffer out = { .arena = scenario->arena };
    bool corrected = false;
    buffer_print(&out, "%s = %s", in_symbols(scenario, question->closed), with_unit(scenario, question->figure,
                                                                                   reply->closed));
    for (size_t i = 0; i < reply->factor_count && !scenario->lecture; i++) {
        const struct factor *factor = &reply->factors[i];
        if (fabs(factor->value - 1) < shown)
            continue;
        struct buffer label = { .arena = scenario->arena };
        for (const char *at = factor->label; *at; at++)
            buffer_print(&label, "%c", *at == '_' ? ' ' : *at);
        buffer_print(&out, "%s x %s %s", corrected ? "" : ",", quantity_text(scenario->arena, factor->value, unit_one,
                                                                             DIGITS), label.data);
        corrected = true;
    }
    if (corrected)
        buffer_print(&out, " = %s", with_unit(scenario, question->figure, reply->figure));
    return out.data;
}

static void add_text_lines(const struct statement *statement, struct reply *reply, struct section *section)
{
    const struct posed *question = &statement->question;
    struct scenario *scenario = &reply->scenario;
    struct buffer asked = { .arena = scenario->arena };         /* "chips = 72, batch = 2,000" */
    for (size_t i = 0; i < reply->kept_count; i++)
        buffer_print(&asked, "%s%s = %s", i ? ", " : "", reply->kept[i].row,
                     with_unit(scenario, reply->kept[i].row, reply->kept[i].value));
    if (reply->kept_count)
        section_word(section, "asked", asked.data)->text_only = true;
    const bool nowhere = reply->predicate == HOLDS_NOT && reply->figure == 0;       /* "memory binds at every batch" */
    if (!nowhere)
        section_word(section, "worked", worked_text(question, reply))->text_only = true;
    if (!reply->left.text)
        return;
    const struct unit unit = scenario_unit(scenario, reply->left.text);
    section_word(section, "compared", arena_print(
        scenario->arena, "%s%s: %s against %s", reply->holds == HOLDS ? "holds: " : reply->holds == HOLDS_NOT
        ? "does not hold: " : "", question->predicate, with_unit(scenario, reply->left.text,
                                                                            reply->left.value),
        isnan(reply->right.value) ? "unknown" : quantity_text(scenario->arena, reply->right.value, unit, DIGITS)))
        ->text_only = true;
    if (!*question->turning)
        return;
    section_word(section, "turning", reply->turns
        ? arena_print(scenario->arena, "%s = %s", question->turning, with_unit(scenario, question->turning, reply->root))
        : arena_print(scenario->arena, "no %s", question->turning))->text_only = true;
}

void question_section(const struct statement *statement, struct reply *reply, struct section *section)
{
    const struct posed *question = &statement->question;
    const struct scenario *scenario = &reply->scenario;
    struct section *kept = section_add(section, "question", SECTION_RECORD);
    for (size_t i = 0; i < reply->kept_count; i++)
        section_number(kept, reply->kept[i].row, reply->kept[i].value, scenario_unit(scenario, reply->kept[i].row));
    const struct unit unit = scenario_unit(scenario, question->figure);
    section_word(section, "figure_row", question->figure);
    section_number(section, "figure", reply->figure, unit);
    section_word(section, "closed_rows", question->closed);
    section_number(section, "closed_form", reply->closed, unit);
    struct section *factors = section_add(section, "factors", SECTION_LIST);
    for (size_t i = 0; i < reply->factor_count; i++) {
        struct section *one = section_add(factors, NULL, SECTION_RECORD);
        section_word(one, "row", reply->factors[i].text);
        section_number(one, "value", reply->factors[i].value, unit_one);
        section_word(one, "label", reply->factors[i].label);
    }
    if (!reply->left.text) {
        section_nothing(section, "predicate");
    } else {
        const struct unit sides = scenario_unit(scenario, reply->left.text);
        struct section *predicate = section_add(section, "predicate", SECTION_RECORD);
        section_word(predicate, "text", question->predicate);
        section_number(predicate, "left", reply->left.value, sides);
        section_number(predicate, "right", reply->right.value, sides);
        if (reply->predicate == HOLDS_UNKNOWN)
            section_nothing(predicate, "holds");
        else
            section_switch(predicate, "holds", reply->predicate == HOLDS);
    }
    if (!reply->lacks && *question->figure)
        add_text_lines(statement, reply, section);
}

const struct record kept_record = { "LectureQuestion", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a row, in its base unit", .unit = "" },
    { 0 } } };

const struct record factor_record = { "LectureFactor", (const struct answer_field[]){
    { FIELD_TEXT, "row", .help = "the row or expression", .always = true },
    { FIELD_NUMBER, "value", .help = "the factor", .always = true, .null = true },
    { FIELD_TEXT, "label", .help = "what it corrects for", .always = true },
    { 0 } } };

const struct record predicate_record = { "LecturePredicate", (const struct answer_field[]){
    { FIELD_TEXT, "text", .help = "the comparison, over rows", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "left", "right" }, .count = 2, .help = "both sides, in base units",
      .unit = "", .always = true, .null = true },
    { FIELD_SWITCH, "holds", .help = "whether it is true; null: a side has no value", .always = true, .null = true },
    { 0 } } };

/* ---- lines of a summary -------------------------------------------------------------------------------- */

void question_lines(struct scenario *scenario, struct section *section)
{
    struct lecture lecture;
    struct section *list = section_add(section, "lines", SECTION_LIST);
    const bool fits = value_or_nan(scenario, NAME_hbm_share) <= 1;
    statements_read(scenario->arena, &lecture);
    const char **labels = arena_array(scenario->arena, lecture.count + 1, sizeof *labels);
    size_t count = 0;
    for (size_t i = 0; i < lecture.count; i++) {
        const struct statement *one = &lecture.at[i];
        struct equation equation;
        struct reply reply;
        bool known;
        if (!*one->label || name_listed(labels, count, one->label) ||
            (!fits && text_has_word(one->question.asks_of, NAME_batch)) || !pose(scenario, one, QUESTION_KEEPS, &reply))
            continue;
        const bool fails = *one->line_fails &&
            predicate_holds(&reply.scenario, one->question.predicate, &equation, &reply.left.value, &reply.right.value) == HOLDS_NOT;
        const char *text = sentence_fill(&reply.scenario, fails ? one->line_fails : one->line, &known);
        if (!known)
            continue;
        labels[count++] = one->label;
        struct section *line = section_add(list, NULL, SECTION_RECORD);
        section_word(line, "statement", one->id);
        section_word(line, "label", one->label);
        section_word(line, "text", text);
    }
}

const struct record summary_line_record = { "SummaryLine", (const struct answer_field[]){
    { FIELD_TEXT, "statement", .help = "the statement it follows from: `chalkline lecture ID`", .always = true },
    { FIELD_TEXT, "label", .help = "what it is about, in a word", .always = true },
    { FIELD_TEXT, "text", .help = "what follows here", .always = true },
    { 0 } } };
