/* curve: any quantity against any other, or over machines and models. */
#define _GNU_SOURCE
#include "ask/ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 100000, POINTS = 33, MOST_QUANTITIES = 8 };

struct axis {
    const char *name;               /* a row, or "on", "model" */
    const char *value;              /* "1..4096", "a100,h100" */
    bool named;                     /* over machines or models */
};

struct curve {
    struct arena *arena;
    const struct question *question;
    struct answer *answer;
    struct error *error;
    struct axis axis;
    const char *quantities[MOST_QUANTITIES];
    size_t quantity_count;
    struct unit x_unit, units[MOST_QUANTITIES];
    size_t points;
    double *x, *y[MOST_QUANTITIES];  /* [points] */
    const char **labels;            /* of a named axis */
    const struct scenario *notes;
};

static bool read_words(struct curve *curve)
{
    const struct question *question = curve->question;
    for (size_t i = 0; i < question->word_count; i++) {
        const char *word = question->words[i], *equals = strchr(word, '=');
        if (!equals && curve->quantity_count < MOST_QUANTITIES) {
            curve->quantities[curve->quantity_count++] = word;
        } else if (equals && !curve->axis.name) {
            curve->axis.name = arena_copy(curve->arena, word, (size_t)(equals - word));
            curve->axis.value = equals + 1;
        } else {
            error_set(curve->error, equals ? "curve: a second axis, '%s'"
                                           : "curve: more than 8 quantities, at '%s'", word);
            return error_hint(curve->error, "one X=LOW..HIGH and up to 8 quantities");
        }
    }
    curve->axis.named = curve->axis.name && (!strcmp(curve->axis.name, "on") ||
                                             !strcmp(curve->axis.name, "model"));
    if (curve->quantity_count && curve->axis.name)
        return true;
    error_set(curve->error, curve->axis.name ? "curve: no quantity" : "curve: no axis");
    return error_hint(curve->error, "chalkline curve bound_step batch=1..4096, or "
                      "on=a100,h100,b200");
}

/* Rows for which only whole numbers make sense keep to them. */
static bool whole(const struct row *row, double low, double high)
{
    static const struct unit one = { { 0 } }, token = { { 0, 0, 0, 2 } };
    return (unit_same(row->unit, one) || unit_same(row->unit, token)) && low == floor(low) &&
           high == floor(high) && high - low >= 2;
}

static void make_points(struct curve *curve, const struct row *row, double low, double high,
                        size_t wanted)
{
    bool logarithmic = low > 0 && high / low > 8, rounded = whole(row, low, high);
    curve->x = arena_array(curve->arena, wanted, sizeof(double));
    for (size_t i = 0; i < wanted; i++) {
        double t = wanted > 1 ? (double)i / (double)(wanted - 1) : 0;
        double x = logarithmic ? low * pow(high / low, t) : low + (high - low) * t;
        x = i + 1 == wanted ? high : rounded ? floor(x + 0.5) : x;
        if (!curve->points || x > curve->x[curve->points - 1])
            curve->x[curve->points++] = x;
    }
}

static bool read_points(struct curve *curve, size_t *points)
{
    const char *text = curve->question->option[OPTION_POINTS];
    struct quantity quantity;
    static const struct unit one = { { 0 } };
    *points = POINTS;
    if (!text)
        return true;
    struct error inner;
    if (!quantity_parse(text_of(text), one, &quantity, &inner) || !(quantity.value >= 2) ||
        quantity.value > MOST_POINTS) {
        error_set(curve->error, "--points: '%.100s'", text);
        return error_hint(curve->error, "2 to %d", MOST_POINTS);
    }
    *points = (size_t)quantity.value;
    return true;
}

/* Along a row: one list, one run over all points. */
static bool over_row(struct curve *curve)
{
    struct scenario *scenario = arena_alloc(curve->arena, sizeof *scenario);
    struct quantity range;
    struct values values;
    size_t points;
    if (!scenario_read(scenario, curve->arena, curve->question,
                       curve->question->option[OPTION_MODEL], curve->question->option[OPTION_ON],
                       curve->error))
        return false;
    int index = book_find(&scenario->book, curve->axis.name);
    if (index < 0)
        return book_unknown(&scenario->book, curve->axis.name, curve->error);
    const struct row *row = &scenario->book.rows[index];
    if (!quantity_parse(text_of(curve->axis.value), row->unit, &range, curve->error))
        return false;
    if (range.spread != SPREAD_RANGE || range.low >= range.high) {
        error_set(curve->error, "%s=%s is not a range", row->name, curve->axis.value);
        return error_hint(curve->error, "%s=LOW..HIGH", row->name);
    }
    if (!row->expr && (range.low < row->low || range.high > row->high)) {
        error_set(curve->error, "%s=%s leaves its range", row->name, curve->axis.value);
        return error_hint(curve->error, "%s to %s",
                          quantity_text(curve->arena, row->low, row->unit, 4),
                          quantity_text(curve->arena, row->high, row->unit, 4));
    }
    if (!read_points(curve, &points))
        return false;
    facts_set(&scenario->facts, row->name, range.low, "curve");
    if (!scenario_assume(scenario, curve->error))
        return false;
    make_points(curve, row, range.low, range.high, points);
    curve->x_unit = row->unit;
    curve->notes = scenario;
    if (!values_of(scenario, curve->quantities, curve->quantity_count, &values, curve->error))
        return false;
    struct column *inputs = arena_array(curve->arena, values.list.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values.list.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    int input = list_input(&values.list, row->name);
    if (input >= 0)
        inputs[input] = (struct column){ curve->x, 1 };
    for (size_t j = 0; j < curve->quantity_count; j++) {
        curve->y[j] = arena_array(curve->arena, curve->points, sizeof(double));
        curve->units[j] = scenario_unit(scenario, curve->quantities[j]);
    }
    list_run(&values.list, inputs, curve->y, curve->points);
    return true;
}

/* Along names: a scenario each. */
static bool over_names(struct curve *curve)
{
    char *names = arena_copy(curve->arena, curve->axis.value, strlen(curve->axis.value));
    bool machines = !strcmp(curve->axis.name, "on");
    enum { MOST_NAMES = 200 };
    curve->labels = arena_array(curve->arena, MOST_NAMES, sizeof *curve->labels);
    for (size_t j = 0; j < curve->quantity_count; j++)
        curve->y[j] = arena_array(curve->arena, MOST_NAMES, sizeof(double));
    char *rest = names;
    for (char *name; (name = strsep(&rest, ",")) && curve->points < MOST_NAMES; curve->points++) {
        struct scenario *scenario = arena_alloc(curve->arena, sizeof *scenario);
        struct values values;
        const char *model = machines ? curve->question->option[OPTION_MODEL] : name;
        const char *machine = machines ? name : curve->question->option[OPTION_ON];
        if (!scenario_open(scenario, curve->arena, curve->question, model, machine, curve->error) ||
            !values_of(scenario, curve->quantities, curve->quantity_count, &values, curve->error))
            return false;
        curve->labels[curve->points] = machines ? scenario->machine : scenario->model;
        for (size_t j = 0; j < curve->quantity_count; j++) {
            curve->y[j][curve->points] = values.at[j];
            curve->units[j] = scenario_unit(scenario, curve->quantities[j]);
        }
    }
    return true;
}

/* ---- answers --------------------------------------------------------------------------------- */

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
}

static const char *shown(struct curve *curve, double value, struct unit unit)
{
    return isfinite(value) ? quantity_text(curve->arena, value, unit, 5) : "none";
}

static void answer_tables(struct curve *curve)
{
    struct table text = { .arena = curve->arena, .columns = curve->quantity_count + 1,
                          .left = curve->axis.named ? "lrrrrrrrr" : "rrrrrrrrr" };
    struct table csv = text;
    table_cell(&text, "%s", curve->axis.name);
    table_cell(&csv, "%s", curve->axis.name);
    for (size_t j = 0; j < curve->quantity_count; j++) {
        table_cell(&text, "%s", curve->quantities[j]);
        table_cell(&csv, "%s", curve->quantities[j]);
    }
    for (size_t i = 0; i < curve->points; i++) {
        if (curve->axis.named) {
            table_cell(&text, "%s", curve->labels[i]);
            table_cell(&csv, "%s", curve->labels[i]);
        } else {
            table_cell(&text, "%s", shown(curve, curve->x[i], curve->x_unit));
            table_cell(&csv, "%.17g", curve->x[i]);
        }
        for (size_t j = 0; j < curve->quantity_count; j++) {
            table_cell(&text, "%s", shown(curve, curve->y[j][i], curve->units[j]));
            if (isfinite(curve->y[j][i]))
                table_cell(&csv, "%.17g", curve->y[j][i]);
            else
                table_cell(&csv, "%s", "");
        }
    }
    table_print(&text, &curve->answer->text, "");
    table_csv(&csv, &curve->answer->csv);
    if (curve->notes)
        scenario_notes(curve->notes, curve->answer);
    else
        buffer_print(&curve->answer->text, "  assumed  context, batch and price are each one's own "
                     "unless given; `step` names them\n");
}

/* ---- pictures, by gnuplot ---------------------------------------------------------------------- */

static bool terminal_of(struct curve *curve, const char *path, struct buffer *script)
{
    size_t size = strlen(path);
    if (!strcmp(path, "-"))
        buffer_print(script, "set terminal dumb 79 24\n");
    else if (size > 4 && !strcmp(path + size - 4, ".png"))
        buffer_print(script, "set terminal pngcairo size 1000,640 font 'sans,11'\n");
    else if (size > 4 && !strcmp(path + size - 4, ".svg"))
        buffer_print(script, "set terminal svg size 1000,640 font 'sans,12' background 'white'\n");
    else {
        error_set(curve->error, "--plot: '%s' is neither a picture nor '-'", path);
        return error_hint(curve->error, "a name ending in .png or .svg, or - for the terminal");
    }
    if (strpbrk(path, "'\"\\\n")) {
        error_set(curve->error, "--plot: a quote in '%s'", path);
        return error_hint(curve->error, "a plain file name");
    }
    if (strcmp(path, "-"))
        buffer_print(script, "set output '%s'\n", path);
    return true;
}

/* The unit a column is drawn in, as its largest value likes it: its name and scale. */
static const char *drawn_unit(struct curve *curve, const double *values, struct unit unit,
                              double *scale)
{
    double largest = 0;
    for (size_t i = 0; i < curve->points; i++)
        if (isfinite(values[i]) && fabs(values[i]) > largest)
            largest = fabs(values[i]);
    const char *name = strchr(quantity_text(curve->arena, largest, unit, 3), ' ');
    *scale = 1;
    return name && unit_scale(name + 1, scale) ? name + 1 : "";
}

static const char *quoted(struct curve *curve, const char *text)
{
    struct buffer out = { .arena = curve->arena };
    buffer_add(&out, "", 0);
    for (; *text; text++)
        buffer_print(&out, *text == '\'' ? "" : "%c", *text);
    return out.data;
}

static void plot_script(struct curve *curve, struct buffer *script)
{
    double scale[MOST_QUANTITIES], x_scale = 1;
    const char *unit[MOST_QUANTITIES], *x_unit = "";
    bool second = false;
    if (!curve->axis.named)
        x_unit = drawn_unit(curve, curve->x, curve->x_unit, &x_scale);
    for (size_t j = 0; j < curve->quantity_count; j++) {
        unit[j] = drawn_unit(curve, curve->y[j], curve->units[j], &scale[j]);
        second |= !unit_same(curve->units[j], curve->units[0]);
        if (unit_same(curve->units[j], curve->units[0])) {
            unit[j] = unit[0];
            scale[j] = scale[0];
        }
    }
    bool logarithmic = !curve->axis.named && curve->x[0] > 0 &&
                       curve->x[curve->points - 1] > 8 * curve->x[0];
    bool terminal = !strcmp(curve->question->option[OPTION_PLOT], "-");
    buffer_print(script, "%sset key outside bottom center maxcols 2\nset xlabel '%s%s%s' noenhanced\nset ylabel '%s' noenhanced\n%s",
                 terminal ? "" : "set grid lt 1 lc rgb '#dddddd'\n",
                 quoted(curve, curve->axis.name), *x_unit ? ", " : "", x_unit, unit[0],
                 logarithmic ? "set logscale x\n" : "");
    if (curve->notes && curve->notes->model)
        buffer_print(script, "set title '%s%s%s' noenhanced\n",
                     quoted(curve, curve->notes->model), curve->notes->machine ? " on " : "",
                     curve->notes->machine ? quoted(curve, curve->notes->machine) : "");
    if (!curve->axis.named)
        buffer_print(script, "set xrange [%.9g:%.9g]\n", curve->x[0] / x_scale,
                     curve->x[curve->points - 1] / x_scale);
    if (second)
        buffer_print(script, "set ytics nomirror\nset y2tics\nset yrange [0:*]\n"
                     "set y2range [0:*]\n");
    if (curve->axis.named)
        buffer_print(script, "set style fill solid 0.8\nset boxwidth 0.8\nset yrange [0:*]\n"
                     "set xtics rotate by -30\nset style data histograms\n");
    static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                           "#56b4e9", "#000000", "#999999" };
    buffer_print(script, "plot ");
    for (size_t j = 0; j < curve->quantity_count; j++) {
        bool right = !unit_same(curve->units[j], curve->units[0]);
        buffer_print(script, "%s'-' using %s%s title '%s%s%s' noenhanced %s lc rgb '%s'",
                     j ? ", " : "", curve->axis.named ? "2:xtic(1)" : "1:2",
                     right ? " axes x1y2" : "", quoted(curve, curve->quantities[j]),
                     right ? ", right, " : "", right ? unit[j] : "",
                     curve->axis.named ? "" : "with lines lw 2", colours[j]);
    }
    buffer_print(script, "\n");
    for (size_t j = 0; j < curve->quantity_count; j++) {
        for (size_t i = 0; i < curve->points; i++) {
            if (!isfinite(curve->y[j][i]))
                continue;
            if (curve->axis.named)
                buffer_print(script, "\"%s\" %.9g\n", curve->labels[i], curve->y[j][i] / scale[j]);
            else
                buffer_print(script, "%.9g %.9g\n", curve->x[i] / x_scale,
                             curve->y[j][i] / scale[j]);
        }
        buffer_print(script, "e\n");
    }
}

static bool plot(struct curve *curve, const char *path)
{
    struct buffer script = { .arena = curve->arena };
    if (!terminal_of(curve, path, &script))
        return false;
    plot_script(curve, &script);
    fflush(stdout);
    FILE *gnuplot = popen("gnuplot", "w");
    bool written = gnuplot && fwrite(script.data, 1, script.size, gnuplot) == script.size;
    if (!gnuplot || pclose(gnuplot) != 0 || !written) {
        error_set(curve->error, "--plot: gnuplot did not draw '%s'", path);
        return error_hint(curve->error, "gnuplot on the PATH (package gnuplot-nox), a folder that "
                          "can be written");
    }
    return true;
}

bool ask_curve(struct arena *arena, const struct question *question, struct answer *answer,
               struct error *error)
{
    struct curve curve = { .arena = arena, .question = question, .answer = answer,
                           .error = error };
    const char *picture = question->option[OPTION_PLOT];
    if (!read_words(&curve) || !(curve.axis.named ? over_names(&curve) : over_row(&curve)))
        return false;
    answer_document(&curve);
    answer_tables(&curve);
    if (!picture || !plot(&curve, picture))
        return !picture;
    if (!question->option[OPTION_JSON] && !question->option[OPTION_CSV]) {
        answer->text.size = 0;
        if (strcmp(picture, "-"))
            buffer_print(&answer->text, "%s: %zu points\n", picture, curve.points);
    }
    return true;
}
