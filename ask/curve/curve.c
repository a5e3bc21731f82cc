/* curve: any quantity as a function of one row, or for several machines or models.
 *
 * Over a row, one graph is built with the axis as its input and run over all points at once;
 * whatever the axis does not reach is computed once. Choices that the command leaves open (a
 * layout, a batch) are made for the scenario and then held, so that the curve shows the effect of
 * the axis alone. With --choose, and over names, each point is a scenario of its own with its own choices.
 * A point where the model does not fit in memory keeps its value and gets a note. Points of a row
 * that only takes whole numbers are whole. */
#define _GNU_SOURCE
#include "ask/curve/curve.h"
#include "base/quantile.h"
#include "build/row_names.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "deploy/chosen.h"
#include "scenario/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* The '=' of an axis; that of AT(row, input=1) is none. */
static const char *axis_sign(const char *word)
{
    const size_t name = strspn(word, NAME_LETTERS);
    return word[name] == '=' ? word + name : NULL;
}

static bool read_words(struct curve *curve)
{
    const struct command *command = curve->command;
    for (size_t i = 0; i < command->word_count; i++) {
        const char *word = command->words[i], *equals = axis_sign(word);
        if (!equals && curve->quantity_count < MOST_QUANTITIES) {
            curve->quantities[curve->quantity_count++] = word;
        } else if (equals && !curve->axis.name) {
            curve->axis.name = arena_copy(curve->arena, word, (size_t)(equals - word));
            curve->axis.value = equals + 1;
        } else {
            error_set(curve->error, equals ? "curve: a second axis, '%s'"
                                           : "curve: more than 8 quantities, at '%s'", word);
            return error_expected(curve->error, "one X=LOW..HIGH or X=A,B,C and up to 8 quantities");
        }
    }
    curve->axis.named = curve->axis.name && (!strcmp(curve->axis.name, "on") ||
                                             !strcmp(curve->axis.name, "model"));
    if (curve->quantity_count && curve->axis.name)
        return true;
    error_set(curve->error, curve->axis.name ? "curve needs a quantity" : "curve needs an axis");
    return error_expected(curve->error, "a row and its axis, as in `chalkline curve bound_step "
                          "batch=1..4096`; another axis is on=a100,h100,b200");
}

/* Rows for which only whole numbers make sense keep to them. */
static bool whole(const struct row *row, double low, double high)
{
    static const char *const of_chips[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel,
                                            NAME_expert_parallel, NAME_context_parallel, NAME_replicas };
    const double least = name_listed(of_chips, sizeof of_chips / sizeof *of_chips, row_name(row)) ? 1 : 2;
    return unit_counts(row->unit) && low == floor(low) && high == floor(high) && high - low >= least;
}

static void make_points(struct curve *curve, const struct row *row, double low, double high,
                        size_t wanted)
{
    bool logarithmic = low > 0 && high / low > 8, rounded = whole(row, low, high);
    curve->x = arena_array(curve->arena, wanted, sizeof(double));
    for (size_t i = 0; i < wanted; i++) {
        double t = wanted > 1 ? (double)i / (double)(wanted - 1) : 0;
        double x = logarithmic ? log_between(low, high, t) : low + (high - low) * t;
        x = i + 1 == wanted ? high : rounded ? floor(x + 0.5) : x;
        if (!curve->points || x > curve->x[curve->points - 1])
            curve->x[curve->points++] = x;
    }
}

/* What follows the digits of the last value: "1,2,4ms" are milliseconds, as "1..4ms" are. */
static const char *last_unit(const char *list)
{
    const char *last = strrchr(list, ',') + 1;
    last += strspn(last, " +-0123456789._");
    return strlen(last) > 1 ? last : "";            /* not of "1,2,4k" */
}

/* "8,72,576": the points, in order, each once. */
static bool read_list(struct curve *curve, const struct row *row, struct quantity *range)
{
    char *list = arena_copy(curve->arena, curve->axis.value, strlen(curve->axis.value));
    const char *unit = last_unit(list);
    size_t count = 0, room = 0;
    for (char *one; (one = strsep(&list, ","));) {
        struct quantity quantity;
        const bool bare = strspn(one, " +-0123456789._") == strlen(one);
        const char *text = bare ? arena_print(curve->arena, "%s%s", one, unit) : one;
        if (!quantity_parse(text_of(text), row->unit, &quantity, curve->error))
            return false;
        if (quantity.distribution != DISTRIBUTION_NONE) {
            error_set(curve->error, "%s=%s: '%s' is not one value", row_name(row), curve->axis.value, one);
            return error_expected(curve->error, "%s=LOW..HIGH, or %s=A,B,C", row_name(row), row_name(row));
        }
        *(double *)arena_push(curve->arena, &curve->x, &count, &room, sizeof *curve->x) =
            quantity.value;
    }
    numbers_sort(curve->x, count);
    for (size_t i = 0; i < count; i++)
        if (!i || curve->x[i] > curve->x[curve->points - 1])
            curve->x[curve->points++] = curve->x[i];
    range->low = curve->x[0];
    range->high = curve->x[curve->points - 1];
    return true;
}

/* The axis as written: a row, and a range or a list within its bounds. */
static bool read_axis(struct curve *curve, const struct scenario *scenario,
                      const struct row **row, struct quantity *range)
{
    int index = formulas_find(&scenario->formulas, curve->axis.name);
    if (index < 0)
        return scenario_unknown(scenario, curve->axis.name, curve->error);
    const struct row *the = *row = formulas_row(&scenario->formulas, index);
    curve->axis.row = row_name(the);
    const struct fact *given = facts_find(&scenario->facts, row_name(the));
    if (fact_given(given)) {
        error_set(curve->error, "'%s' is both the axis and set by %s", row_name(the), given->source);
        return error_expected(curve->error, "one of them");
    }
    if (strchr(curve->axis.value, ',') && !strstr(curve->axis.value, "..")) {
        if (!read_list(curve, the, range))
            return false;
    } else if (!quantity_parse(text_of(curve->axis.value), the->unit, range, curve->error)) {
        return false;
    } else if (range->distribution != DISTRIBUTION_RANGE || range->low >= range->high) {
        error_set(curve->error, "invalid range '%s=%s'", row_name(the), curve->axis.value);
        return error_expected(curve->error, "%s=LOW..HIGH, or %s=A,B,C", row_name(the), row_name(the));
    }
    if (!the->input || (range->low >= the->low && range->high <= the->high))
        return true;
    error_set(curve->error, "%s=%s is out of range", row_name(the), curve->axis.value);
    return error_expected(curve->error, "%s to %s",
                          quantity_text(curve->arena, the->low, the->unit, 4),
                          quantity_text(curve->arena, the->high, the->unit, 4));
}

/* One list, one run over all points of the axis. */
static void run_axis(const struct curve *curve, const struct values *values, double *const *y)
{
    const struct graph *graph = &values->graph;
    struct column *inputs = arena_array(curve->arena, graph->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = (struct column){ &values->inputs[i], 0 };
    int input = graph_input(graph, curve->axis.row);
    if (input >= 0)
        inputs[input] = (struct column){ curve->x, 1 };
    graph_run(graph, inputs, y, curve->points);
}

/* Notes on defaults that the curve depends on, gathered from points all along it. */
static void note_assumed(struct curve *curve, const struct values *values)
{
    enum { LOOKED_AT = 16 };
    struct arena scratch = arena_beside(curve->arena);
    const struct graph *graph = &values->graph;
    const int input = graph_input(graph, curve->axis.row);
    struct values moved = *values;
    struct basis basis = { 0 };
    moved.inputs = arena_array(&scratch, graph->input_count + 1, sizeof *moved.inputs);
    moved.nodes = arena_array(&scratch, graph->count + 1, sizeof *moved.nodes);
    moved.at = arena_array(&scratch, graph->output_count + 1, sizeof *moved.at);
    memcpy(moved.inputs, values->inputs, graph->input_count * sizeof *moved.inputs);
    for (size_t i = 0; i < curve->points; i += 1 + curve->points / LOOKED_AT) {
        if (input >= 0)
            moved.inputs[input] = curve->x[i];
        graph_value(&scratch, graph, moved.inputs, moved.nodes, moved.at);
        basis_values(curve->notes, &moved, NULL, curve->quantity_count, &basis);
    }
    basis_notes(curve->notes, &basis);
    arena_free(&scratch);
}

/* Note at which points this absence is; how many there are. */
static size_t note_absence(struct curve *curve, const struct scenario_absence *absence)
{
    struct scenario *scenario = curve->notes;
    const char *const rows[] = { curve->batch_follows ? scenario_at_batch(scenario, absence->row) : absence->row };
    double *at = arena_array(curve->arena, curve->points, sizeof *at);
    struct values values;
    struct error ignored;
    if (!scenario->model || !scenario->machine || !values_of(scenario, rows, 1, &values, &ignored))
        return 0;
    run_axis(curve, &values, &at);
    size_t over = 0, first = curve->points, last = 0;
    for (size_t i = 0; i < curve->points; i++) {
        if (!absence_at(absence, at[i]))
            continue;
        first = over++ ? first : i;
        last = i;
    }
    const char *from = over ? quantity_text(curve->arena, curve->x[first], curve->x_unit, 5) : "";
    const char *to = quantity_text(curve->arena, curve->x[last], curve->x_unit, 5);
    if (over == curve->points)
        facts_note(&scenario->facts, "at every point the server %s", absence->is);
    else if (over && last + 1 == curve->points && over == curve->points - first)
        facts_note(&scenario->facts, "from %s = %s on, the server %s", curve->axis.name, from, absence->is);
    else if (over && !first && over == last + 1)
        facts_note(&scenario->facts, "up to %s = %s, the server %s", curve->axis.name, to, absence->is);
    else if (over)
        facts_note(&scenario->facts, "at %zu of the points, from %s = %s to %s, the server %s", over, curve->axis.name,
                   from, to, absence->is);
    return over;
}

/* The exit status is 1 if no point has a server and the figures depend on one. */
static void note_absences(struct curve *curve, const struct values *values)
{
    for (size_t i = 0; i < SCENARIO_ABSENCES && !curve->answer->status; i++) {
        const bool depends = values_depend(curve->arena, values, scenario_absences[i].input);
        if ((!i || depends) && note_absence(curve, &scenario_absences[i]) == curve->points && depends) {
            curve->answer->status = 1;
            curve->infeasible = scenario_absences[i].why;
        }
    }
}

static const char *asked(const struct curve *curve)
{
    return curve->quantity_count == 1 ? curve->quantities[0] : "any of these";
}

static bool axis_acts(struct curve *curve, const struct values *values)
{
    if (values_depend(curve->arena, values, curve->axis.row))
        return true;
    error_set(curve->error, "'%s' has no effect on %s", curve->axis.name, asked(curve));
    return error_suggest(curve->error, "`chalkline why %s --deep` lists the inputs it depends on",
                          curve->quantities[0]);
}

/* Options without effect at this name as at all names before. */
static void keep_idle(struct curve *curve, struct scenario *scenario)
{
    const char **labels;
    size_t count = given_idle(scenario, curve->quantities, curve->quantity_count, &labels);
    size_t kept = 0;
    if (!curve->points) {
        curve->idle = labels;
        curve->idle_count = count;
        return;
    }
    for (size_t i = 0; i < curve->idle_count; i++)
        if (name_listed(labels, count, curve->idle[i]))
            curve->idle[kept++] = curve->idle[i];
    curve->idle_count = kept;
}

/* Is there such a server at this name? */
static void note_name_fit(struct curve *curve, struct scenario *scenario)
{
    const struct scenario_absence *none = scenario_absent(scenario, curve->quantities, curve->quantity_count);
    curve->answer->status = none && (!curve->points || curve->answer->status);      /* while no point fits */
    if (curve->fits)
        curve->fits[curve->points] = none ? none->fits : scenario_misfit(scenario) ? "no" : "yes";
}

/* The next point, of a scenario of its own in which layout and load were chosen. */
static bool add_point(struct curve *curve, struct scenario *scenario)
{
    struct values values;
    if (!values_of(scenario, curve->quantities, curve->quantity_count, &values, curve->error))
        return false;
    keep_idle(curve, scenario);
    basis_values(scenario, &values, NULL, curve->quantity_count, &curve->basis);
    assumed_notes(scenario, &values, NULL, curve->quantity_count);
    curve->at[curve->points] = scenario;
    note_name_fit(curve, scenario);
    if (curve->labels)
        curve->labels[curve->points] = !strcmp(curve->axis.name, "on") ? scenario->machine : scenario->model;
    for (size_t j = 0; j < curve->quantity_count; j++) {
        curve->y[j][curve->points] = values.at[j];
        curve->units[j] = scenario_unit(scenario, curve->quantities[j]);
    }
    curve->points++;
    return true;
}

static void open_points(struct curve *curve, size_t most, bool fits)
{
    curve->at = arena_array(curve->arena, most, sizeof *curve->at);
    if (fits)
        curve->fits = arena_array(curve->arena, most, sizeof *curve->fits);
    for (size_t j = 0; j < curve->quantity_count; j++)
        curve->y[j] = arena_array(curve->arena, most, sizeof(double));
}

/* Along a row, with choices at each value. */
static bool over_choices(struct curve *curve)
{
    enum { MOST = 1000 };                   /* each has what it chose in memory: 2 MB */
    const size_t count = curve->points;
    const struct subject subject = command_subject(curve->command);
    if (count > MOST) {
        error_set(curve->error, "--choose: layout and load would be chosen at %zu points", count);
        return error_expected(curve->error, "--points of at most %d", MOST);
    }
    open_points(curve, count, subject.model && subject.machine);
    for (curve->points = 0; curve->points < count;) {
        struct scenario *scenario = arena_alloc(curve->arena, sizeof *scenario);
        if (!chosen_open(scenario, curve->arena, curve->command, curve->axis.row, curve->x[curve->points],
                         curve->quantities, curve->quantity_count, curve->error) ||
            !add_point(curve, scenario))
            return false;
    }
    return true;
}

/* Can a server have as many chips as the end of the axis says, and does it have no other load? */
static bool axis_agrees(struct curve *curve, const struct scenario *scenario, double high)
{
    struct scenario at = *scenario;
    at.facts = facts_copy(&scenario->facts);
    facts_set(&at.facts, curve->axis.row, high, ORIGIN_GIVEN, curve->axis.name);
    return scenario_linked(&at, curve->error) && scenario_layout_agrees(&at, curve->error);
}

/* Along a row. */
static bool over_row(struct curve *curve)
{
    struct scenario *scenario = arena_alloc(curve->arena, sizeof *scenario);
    const struct command *command = curve->command;
    const struct row *row = NULL;
    struct quantity range;
    struct values values;
    const char *texts[MOST_QUANTITIES];
    if (!scenario_read(scenario, curve->arena, command, command_subject(command),
                       curve->error) ||
        !read_axis(curve, scenario, &row, &range) || !axis_agrees(curve, scenario, range.high))
        return false;
    if (!curve->points)
        make_points(curve, row, range.low, range.high, command_count(command, "points"));
    curve->x_unit = row->unit;
    if (command_given(command, "choose"))
        return over_choices(curve);
    scenario->axis = row_name(row);
    if (!scenario_images(scenario, curve->error) || !scenario_assume(scenario, curve->error) ||
        !scenario_choose(scenario, curve->quantities, curve->quantity_count, curve->error))
        return false;
    curve->batch_follows = scenario_batch_follows(scenario, curve->quantities, curve->quantity_count);
    for (size_t j = 0; j < curve->quantity_count; j++)
        texts[j] = curve->batch_follows ? scenario_at_batch(scenario, curve->quantities[j]) : curve->quantities[j];
    facts_set(&scenario->facts, row_name(row), range.low, ORIGIN_AXIS, "curve");
    if (!values_of(scenario, texts, curve->quantity_count, &values, curve->error) ||
        !axis_acts(curve, &values))
        return false;
    curve->notes = scenario;
    for (size_t j = 0; j < curve->quantity_count; j++) {
        curve->y[j] = arena_array(curve->arena, curve->points, sizeof(double));
        curve->units[j] = scenario_unit(scenario, curve->quantities[j]);
    }
    run_axis(curve, &values, curve->y);
    note_assumed(curve, &values);
    given_note_of(scenario, curve->quantities, curve->quantity_count, &values, asked(curve));
    note_absences(curve, &values);
    return true;
}

struct dated {
    const char *name;
    double year;
    size_t order;
};

static int by_year(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    return x->year != y->year ? (x->year > y->year) - (x->year < y->year) : (x->order > y->order) - (x->order < y->order);
}

/* "on=generations": the machines of data/hardware.csv whose year is known, in its order; not each card and
 * processor beside them. */
static char *generations(const struct curve *curve)
{
    struct catalog catalog;
    catalog_open(&catalog, curve->arena);
    const size_t count = catalog.sheets[CATALOG_MACHINE].count;
    struct dated *dated = arena_array(curve->arena, count + 1, sizeof *dated);
    struct buffer names = { .arena = curve->arena };
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const struct catalog_entry *entry = catalog_entry(&catalog, CATALOG_MACHINE, i);
        for (size_t k = 0; k < entry->rows; k++) {
            const struct catalog_row row = catalog_row(entry, k);
            double year;
            if (row.chosen && !strcmp(row.fact, NAME_release_year) && catalog_row_number(&row, &year))
                dated[known++] = (struct dated){ entry->name, year, i };
        }
    }
    qsort(dated, known, sizeof *dated, by_year);
    for (size_t i = 0; i < known; i++)
        buffer_print(&names, "%s%s", i ? "," : "", dated[i].name);
    return names.data;
}

/* "2022 H100 SXM" */
static void date_label(struct curve *curve)
{
    struct scenario *scenario = curve->at[curve->points - 1];
    const char **label = &curve->labels[curve->points - 1];
    const struct fact *year = facts_find(&scenario->facts, NAME_release_year);
    *label = arena_print(curve->arena, "%.0f %s", year->value, *label);
}

/* Along names: a scenario each. */
static bool over_names(struct curve *curve)
{
    bool machines = !strcmp(curve->axis.name, "on");
    const bool dated = machines && !strcmp(curve->axis.value, "generations");
    char *names = dated ? generations(curve)
                        : arena_copy(curve->arena, curve->axis.value, strlen(curve->axis.value));
    struct subject subject = command_subject(curve->command);
    enum { MOST_NAMES = 200 };
    if (machines ? subject.machine : subject.model) {
        error_set(curve->error, "'%s' is both the axis and set by --%s", curve->axis.name,
                  curve->axis.name);
        return error_expected(curve->error, "one of them");
    }
    curve->labels = arena_array(curve->arena, MOST_NAMES, sizeof *curve->labels);
    open_points(curve, MOST_NAMES, machines ? subject.model : subject.machine);
    char *rest = names;
    for (char *name; (name = strsep(&rest, ","));) {
        struct scenario *scenario = arena_alloc(curve->arena, sizeof *scenario);
        if (curve->points == MOST_NAMES) {
            error_set(curve->error, "curve: more than %d names", MOST_NAMES);
            return error_expected(curve->error, "at most %d", MOST_NAMES);
        }
        *(machines ? &subject.machine : &subject.model) = name;
        if (!scenario_open(scenario, curve->arena, curve->command, subject, curve->error) ||
            !scenario_choose(scenario, curve->quantities, curve->quantity_count, curve->error) ||
            !add_point(curve, scenario))
            return false;
        if (dated)
            date_label(curve);
    }
    return true;
}

/* ---- answers ---------------------------------------------------------------------------- */

/* A point as a question of its own: the axis at its value, choices held. */
static void point_document(struct curve *curve, size_t i, struct doc *point)
{
    struct arena scratch = arena_beside(curve->arena);
    struct scenario at = curve->at ? *curve->at[i] : *curve->notes;
    at.facts.arena = &scratch;
    at.facts = facts_copy(&at.facts);
    if (!curve->at) {
        facts_set(&at.facts, curve->axis.row, curve->x[i], ORIGIN_AXIS, "curve");
        scenario_hold(&at);
    }
    scenario_words_document(&at, point);
    if (!curve->axis.named)
        doc_add_row(curve->arena, point, curve->axis.name, curve->x[i]);
    for (size_t j = 0; j < curve->quantity_count; j++)
        if (strspn(curve->quantities[j], NAME_LETTERS) == strlen(curve->quantities[j]))
            doc_add_row(curve->arena, point, curve->quantities[j], curve->y[j][i]);
    arena_free(&scratch);
}

/* "8 x TP 1, DP 8"; "" where nothing was chosen. */
static const char *server_words(struct curve *curve, size_t i)
{
    static const char *const texts[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp,
                                         NAME_pipeline_parallel };
    struct buffer out = { .arena = curve->arena };
    struct values values;
    struct error ignored;
    buffer_add(&out, "", 0);
    if (!curve->at[i]->model || !curve->at[i]->machine ||
        !values_of(curve->at[i], texts, 4, &values, &ignored))
        return out.data;
    buffer_print(&out, "%.6g GPU%s, TP %.4g", values.at[0], values.at[0] > 1 ? "s" : "", values.at[1]);
    if (values.at[2] > 1)
        buffer_print(&out, " x DP %.4g", values.at[2]);
    if (values.at[3] > 1)
        buffer_print(&out, " x PP %.4g", values.at[3]);
    return out.data;
}

/* Is the load one that was chosen for this point, as nobody gave any? */
static bool load_chosen(const struct curve *curve, size_t i)
{
    static const char *const rows[] = { NAME_arrival_rate, NAME_batch, NAME_concurrency };
    bool chosen = false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && curve->fits; k++) {
        const struct fact *fact = facts_find(&curve->at[i]->facts, rows[k]);
        chosen |= fact && fact->origin == ORIGIN_CHOSEN;
    }
    return chosen;
}

static bool loads_differ(const struct curve *curve)
{
    bool chosen = false;
    for (size_t i = 0; i < curve->points; i++)
        chosen |= load_chosen(curve, i);
    return chosen;
}

/* "50 running": the sequences that decode at the point's server. */
static const char *load_words(struct curve *curve, size_t i)
{
    const double running = load_chosen(curve, i) ? value_or_nan(curve->at[i], NAME_running) : NAN;
    return isfinite(running) ? arena_print(curve->arena, "%s running", count_text(curve->arena, running, 3)) : "";
}

/* What a chip costs there, and as what. */
static const char *price_words(struct curve *curve, size_t i)
{
    const struct fact *price = facts_find(&curve->at[i]->facts, NAME_chip_price);
    if (!price || price->expression || !(price->value > 0))
        return "unknown";
    const char *text = quantity_text(curve->arena, price->value, unit_usd_per_second, 3);
    return fact_given(price) ? text : arena_print(curve->arena, "%s (%s)", text, price_kind_text(curve->at[i]));
}

static void answer_document(struct curve *curve)
{
    struct arena *arena = curve->arena;
    struct doc *doc = curve->answer->doc;
    struct doc *axis = doc_add(arena, doc, curve->axis.name, DOC_ARRAY);
    for (size_t i = 0; i < curve->points; i++)
        if (curve->axis.named)
            doc_add_string(arena, axis, NULL, curve->labels[i]);
        else
            doc_add_number(arena, axis, NULL, curve->x[i]);
    for (size_t j = 0; j < curve->quantity_count; j++) {
        struct buffer unit = { .arena = arena };
        struct doc *one = doc_add(arena, doc, curve->quantities[j], DOC_OBJECT);
        unit_print(&unit, curve->units[j]);
        doc_add_string(arena, one, "unit", unit.data);
        struct doc *values = doc_add(arena, one, "values", DOC_ARRAY);
        for (size_t i = 0; i < curve->points; i++)
            doc_add_number(arena, values, NULL, curve->y[j][i]);
    }
    struct doc *points = doc_add(arena, doc, "points", DOC_ARRAY);
    for (size_t i = 0; i < curve->points; i++)
        point_document(curve, i, doc_add(arena, points, NULL, DOC_OBJECT));
    if (curve->notes)
        scenario_held_document(curve->notes, doc);
    if (curve->infeasible)
        doc_add_string(arena, doc, "infeasible", curve->infeasible);
    struct doc *fits = curve->fits ? doc_add(arena, doc, "fits", DOC_ARRAY) : NULL;
    for (size_t i = 0; fits && i < curve->points; i++)
        doc_add_bool(arena, fits, NULL, !strcmp(curve->fits[i], "yes"));
}

static const char *shown(struct curve *curve, double value, struct unit unit)
{
    return isfinite(value) ? quantity_text(curve->arena, value, unit, 5) : "none";
}

static void answer_point(struct curve *curve, size_t i, struct table *text, struct table *csv)
{
    if (curve->axis.named) {
        table_cell(text, "%s", curve->labels[i]);
        table_cell(csv, "%s", curve->labels[i]);
    } else {
        table_cell(text, "%s", shown(curve, curve->x[i], curve->x_unit));
        table_cell(csv, "%.17g", curve->x[i]);
    }
    for (size_t j = 0; j < curve->quantity_count; j++) {
        double y = curve->y[j][i];
        table_cell(text, "%s", shown(curve, y, curve->units[j]));
        table_cell(csv, "%s", isfinite(y) ? arena_print(curve->arena, "%.17g", y) : "");
    }
    if (curve->fits) {
        table_cell(text, "%s", curve->fits[i]);
        table_cell(csv, "%s", curve->fits[i]);
        table_cell(text, "%s", server_words(curve, i));
        table_cell(csv, "%s", server_words(curve, i));
        if (loads_differ(curve)) {
            table_cell(text, "%s", load_words(curve, i));
            table_cell(csv, "%s", load_words(curve, i));
        }
        table_cell(text, "%s", price_words(curve, i));
        table_cell(csv, "%s", price_words(curve, i));
    }
}

/* What the names together depend on: each name's own stands in the document. */
static void print_basis(struct curve *curve)
{
    struct scenario noted = *curve->at[0];
    noted.facts = (struct facts){ .arena = curve->arena };
    basis_notes(&noted, &curve->basis);
    for (size_t i = 0; i < noted.facts.note_count; i++)
        buffer_print(&curve->answer->text, "           %s\n", noted.facts.notes[i]);
}

static void answer_notes(struct curve *curve)
{
    if (curve->notes) {
        scenario_notes(curve->notes, curve->answer);
        return;
    }
    const double chips = value_or_nan(curve->at[0], NAME_chips), running = value_or_nan(curve->at[0], NAME_concurrency);
    if (!curve->axis.named)
        buffer_print(&curve->answer->text, "  assumed  at every value:\n");
    else if (loads_differ(curve) && isfinite(chips) && isfinite(running))
        buffer_print(&curve->answer->text, "  assumed  each %s serves as much as it can within the limits; at one load: "
                     "--gpus %.0f --concurrency %.0f\n", strcmp(curve->axis.name, "on") ? "model" : "machine", chips,
                     fmax(1, floor(running)));
    else
        buffer_print(&curve->answer->text, "  assumed  layout, load and price are each point's own unless given; `step` "
                     "names them\n");
    print_basis(curve);
    for (size_t i = 0; i < curve->idle_count; i++) {
        const char *note = arena_print(curve->arena, "%s has no effect on %s", curve->idle[i],
                                       asked(curve));
        for (size_t k = 0; k < curve->points; k++)
            facts_note(&curve->at[k]->facts, "%s", note);
        buffer_print(&curve->answer->text, "           %s\n", note);
    }
    struct doc *all = doc_add(curve->arena, curve->answer->doc, "assumed", DOC_ARRAY);
    for (size_t i = 0; i < curve->points; i++) {
        const struct facts *facts = &curve->at[i]->facts;
        struct doc *list = doc_add(curve->arena, all, NULL, DOC_ARRAY);
        for (size_t k = 0; k < facts->note_count; k++)
            doc_add_string(curve->arena, list, NULL, facts->notes[k]);
    }
}

static void answer_tables(struct curve *curve)
{
    struct table text = { .arena = curve->arena, .left = curve->axis.named ? "lrrrrrrrrrrrr" : "rrrrrrrrrrrrr",
                          .columns = curve->quantity_count + 1 + (curve->fits ? 3 + loads_differ(curve) : 0) };
    struct table csv = text;
    table_cell(&text, "%s", curve->axis.name);
    table_cell(&csv, "%s", curve->axis.name);
    for (size_t j = 0; j < curve->quantity_count; j++) {
        table_cell(&text, "%s", curve->quantities[j]);
        table_cell(&csv, "%s", curve->quantities[j]);
    }
    if (curve->fits) {
        static const char *const heads[] = { "fits", "server", "load", "price per GPU" };
        for (int k = 0; k < 4; k++) {
            if (k == 2 && !loads_differ(curve))
                continue;
            table_cell(&text, "%s", heads[k]);
            table_cell(&csv, "%s", heads[k]);
        }
    }
    for (size_t i = 0; i < curve->points; i++)
        answer_point(curve, i, &text, &csv);
    const char *server = scenario_default_server(curve->notes ? curve->notes : curve->at[0], curve->quantities, curve->quantity_count);
    if (server) {
        buffer_print(&curve->answer->text, "for %s\n", server);
        doc_add_string(curve->arena, curve->answer->doc, "for", server);
    }
    buffer_print(&curve->answer->text, "%s", curve->notes ? scenario_held_text(curve->notes)
                                             : curve->axis.named ? "" : "layout and load are chosen at each value\n");
    table_print(&text, &curve->answer->text, "");
    table_csv(&csv, &curve->answer->csv);
    answer_notes(curve);
}

/* ---- a report ------------------------------------------------------------------------------- */

/* The slope between two neighbours, both logarithmic; NAN where a value is not above zero. */
static double slope_at(const struct curve *curve, size_t i)
{
    const double *x = curve->x, *y = curve->y[0];
    return log(y[i + 1] / y[i]) / log(x[i + 1] / x[i]);
}

/* Where the curve turns: the first point at which the slope has changed half of the way from its first to
 * its last; 0: it is about as steep at both ends. */
static size_t turning_point(const struct curve *curve)
{
    const double least = 0.25;
    if (curve->axis.named || curve->points < 4)
        return 0;
    const double first = slope_at(curve, 0), last = slope_at(curve, curve->points - 2);
    if (!(fabs(last - first) > least))
        return 0;
    for (size_t i = 1; i + 1 < curve->points; i++)
        if (fabs(slope_at(curve, i) - first) > fabs(last - first) / 2)
            return i;
    return 0;
}

static void add_report_point(struct curve *curve, size_t i, struct section *list)
{
    struct section *one = section_add(list, NULL, SECTION_RECORD),
        *values = section_add(one, "values", SECTION_LIST);
    section_word(one, "at", curve->axis.named ? curve->labels[i] : shown(curve, curve->x[i], curve->x_unit));
    for (size_t j = 0; j < curve->quantity_count; j++) {
        struct section *value = section_add(values, NULL, SECTION_RECORD);
        section_word(value, "quantity", curve->quantities[j]);
        section_word(value, "is", shown(curve, curve->y[j][i], curve->units[j]));
    }
}

/* The first quantity at both ends and where it turns, and some of the points. */
static struct section *report_section(struct curve *curve)
{
    enum { SHOWN = 8 };
    struct section *section = section_new(curve->arena), *list = section_add(section, "shown", SECTION_LIST);
    const struct scenario *notes = curve->notes ? curve->notes : curve->at[0];
    const bool machines = !strcmp(curve->axis.name, "on"), models = !strcmp(curve->axis.name, "model");
    const size_t last = curve->points - 1, turn = turning_point(curve);
    section_word(section, "quantity", curve->quantities[0]);
    section_word(section, "axis", machines ? "the machine" : models ? "the model" : curve->axis.name);
    section_word(section, "axis_word", curve->axis.named ? ""
                 : arena_print(curve->arena, "%s ", curve->axis.name));
    section_word(section, "model", notes->model && !models ? notes->model : "");
    section_word(section, "machine", notes->machine && !machines ? notes->machine : "");
    add_report_point(curve, 0, section_add(section, "first", SECTION_LIST));
    if (turn)
        add_report_point(curve, turn, section_add(section, "turn", SECTION_LIST));
    add_report_point(curve, last, section_add(section, "last", SECTION_LIST));
    for (size_t i = 0; i < SHOWN; i++) {
        const size_t at = last * i / (SHOWN - 1);
        if (!i || at != last * (i - 1) / (SHOWN - 1))
            add_report_point(curve, at, list);
    }
    figures_notes(notes, section);
    return section;
}

bool ask_curve(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    struct curve curve = { .arena = arena, .command = command, .answer = answer,
                           .error = error };
    const char *picture = command_text(command, "plot");
    if (!read_words(&curve) || !(curve.axis.named ? over_names(&curve) : over_row(&curve)))
        return false;
    answer_document(&curve);
    answer_tables(&curve);
    if (command_draws(command))
        answer->picture = curve_picture(&curve);
    if (command_reports(command))
        answer->section = report_section(&curve);
    if (!picture)
        return true;
    if (!command_given(command, "json") && !command_given(command, "csv")) {
        answer->text.size = 0;
        if (strcmp(picture, "-"))
            buffer_print(&answer->text, "%s: %zu points\n", picture, curve.points);
    }
    return true;
}

static const struct option curve_list[] = {
    { "points", "N", OPTION_COUNT, .low = 2, .high = 100000, .fallback = "33",
      .help = "number of points along X" },
    { 0 } };
static const struct option_group curve_options = { "Curve", curve_list };

const struct verb verb_curve = {
    "curve", "QUANTITY... X=LOW..HIGH", "Tabulate or plot quantities over a range of an input, or over several models or machines.",
    { "chalkline curve bound_step batch=1..4096 --model deepseek-v3 --on gb200-nvl72",
      "chalkline curve predicted_tpot on=h100-sxm,h200-sxm,b200 --model llama-3.3-70b --gpus 8",
      "chalkline curve bound_cost_per_token context=1k..1M --plot cost.svg" },
    { &curve_options, &choose_options, ANSWER_OPTIONS, &table_options, &plot_options, &report_options, &output_options },
    ANSWERS(answer_curve), .ask = ask_curve, .also = "sweep" };
