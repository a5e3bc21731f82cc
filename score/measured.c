/* Measurements of the schema: columns are words of what ran, names of rows, or reasons beside them
 * (measured.h). What rows say against each other refuses some of them. */
#include "score/measured.h"

#include "build/row_names.h"
#include "command/options.h"
#include "rows/rows.h"
#include "score/layout.h"

#include <math.h>
#include <string.h>

const char *const metric_names[METRICS] = { "tpot", "ttft", "e2e", "throughput", "prefill",
                                            "decode", "energy", "kernel", "step" };

#define BAND(metric) { NAME_##metric##_band_low, NAME_##metric##_band_high }
static const struct metric_band metric_bands[METRICS] = { BAND(tpot), BAND(ttft), BAND(e2e), BAND(throughput),
                                                   BAND(prefill), BAND(decode), BAND(energy),
                                                   BAND(kernel), BAND(step) };

static const struct measured_figure {
    enum metric metric;
    const char *row, *bound;
} figures[] = {
#define NAME_0 NULL
#define FIGURE(metric, row, bound) { METRIC_##metric, NAME_##row, NAME_##bound },
#include "score/figures.def"
#undef FIGURE
#undef NAME_0
};

struct metric_band metric_band_of(const struct measured_value *value)
{
    static const struct { const char *row; struct metric_band band; } split[] = {
        { NAME_disagg_tpot, { NAME_disagg_tpot_band_low, NAME_disagg_tpot_band_high } },
        { NAME_disagg_ttft, { NAME_disagg_ttft_band_low, NAME_disagg_ttft_band_high } },
        { NAME_disagg_throughput, { NAME_throughput_band_low, NAME_throughput_band_high } },
        { NAME_split_total_throughput_per_chip,
          { NAME_throughput_band_low, NAME_throughput_band_high } },
    };
    for (size_t i = 0; i < sizeof split / sizeof *split; i++)
        if (!strcmp(split[i].row, value->row))
            return split[i].band;
    return metric_bands[value->metric];
}

double measured_input(const struct measured *point, const char *row, double absent)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, row))
            return point->inputs[i].value;
    return absent;
}

bool measured_guess(const char *reason)
{
    return !strncmp(reason, "inferred", strlen("inferred"));
}

double measured_chips(const struct measured *point)
{
    return measured_input(point, NAME_chips, 0) * measured_input(point, NAME_decode_workers, 1) +
           measured_input(point, NAME_prefill_chips, 0) * measured_input(point, NAME_prefill_workers, 0);
}

/* ---- columns --------------------------------------------------------------------------------- */

enum heading_kind { WORD, INPUT, FIGURE, CHIP_FLOPS, NUMBER, LINE, REASON, STATISTIC, IGNORED };

struct heading {
    enum heading_kind kind;
    size_t word;                                /* WORD, NUMBER: offset of the member of struct measured;
                                                   STATISTIC: of struct measured_value */
    const struct row *row;                      /* INPUT, FIGURE, STATISTIC */
    const struct measured_figure *figure;
    bool short_name;                            /* "tpot", not predicted_tpot: it does not say a unit */
};

struct measured_reader {
    struct arena *arena;
    const struct csv *csv;
    const struct formulas *formulas;
    struct heading *headings;                    /* [csv->columns] */
    bool converted;                              /* by a layout, from a tool's file: its zeros mean that nothing was measured */
    struct error *error;
};

/* Columns that are no rows. */
static const struct { const char *name; size_t word; enum heading_kind kind; } words[] = {
    { "source", offsetof(struct measured, source), WORD },
    { "publisher", offsetof(struct measured, publisher), WORD },
    { "series", offsetof(struct measured, series), WORD },
    { "kind", offsetof(struct measured, kind), WORD },
    { "model", offsetof(struct measured, model), WORD },
    { "machine", offsetof(struct measured, machine), WORD },
    { "engine", offsetof(struct measured, engine), WORD },
    { "engine_version", offsetof(struct measured, version), WORD },
    { "precision", offsetof(struct measured, precision), WORD },
    { "precision_beside_experts", offsetof(struct measured, beside), WORD },
    { "kv_precision", offsetof(struct measured, kv), WORD },
    { "refused", offsetof(struct measured, refused), WORD },
    { "rank", offsetof(struct measured, rank), NUMBER },
    { "requests", offsetof(struct measured, requests), NUMBER },
    { "line", 0, LINE },
    { "id", 0, IGNORED },
    { "note", 0, IGNORED },
};

static const struct measured_figure *figure_of(const char *row)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].row, row))
            return &figures[i];
    return NULL;
}

bool measured_schema(const struct csv *csv)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    bool any = csv_column(csv, "machine") >= 0 || csv_column(csv, "refused") >= 0;
    for (size_t at = 0; at < csv->columns && !any; at++) {
        const char *predicted = formulas_predicted(formulas, csv_header(csv, at));
        any = figure_of(csv_header(csv, at)) || (predicted && figure_of(predicted));
    }
    return any;
}

static bool is_reason(const struct csv *csv, const char *name, const struct arena *arena)
{
    struct arena scratch = arena_beside(arena);
    const size_t size = strlen(name), tail = strlen("_from");
    const bool reason = size > tail && !strcmp(name + size - tail, "_from") &&
                        csv_column(csv, arena_copy(&scratch, name, size - tail)) >= 0;
    arena_free(&scratch);
    return reason;
}

/* What a mean over requests has beside it, in columns named after it. */
static const struct { const char *tail; size_t member; } statistics[] = {
    { "_error", offsetof(struct measured_value, error) }, { "_p50", offsetof(struct measured_value, p50) },
    { "_p90", offsetof(struct measured_value, p90) }, { "_p99", offsetof(struct measured_value, p99) },
};

static bool is_statistic(const struct measured_reader *reading, const char *name, struct heading *heading)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        const size_t tail = strlen(statistics[i].tail);
        if (size <= tail || strcmp(name + size - tail, statistics[i].tail))
            continue;
        const char *figure = arena_copy(reading->arena, name, size - tail);
        const int row = formulas_find(reading->formulas, figure);
        if (row < 0 || !figure_of(figure))
            continue;
        *heading = (struct heading){ .kind = STATISTIC, .word = statistics[i].member,
                                     .row = formulas_row(reading->formulas, row) };
        return true;
    }
    return false;
}

/* The row of a column that is called as an option of the load or the layout is: "isl"; -1: none is. */
static int option_row(const struct formulas *formulas, const char *name)
{
    static const struct option_group *const groups[] = { &length_options, &users_options, &chip_options, &layout_options,
                                                         &rank_options };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct option *option = groups[g]->options; option->name; option++)
            if (!strcmp(option->name, name))
                return formulas_find(formulas, option->row);
    return -1;
}

static bool read_header(struct measured_reader *reading, size_t at)
{
    const char *name = csv_header(reading->csv, at);
    struct heading *heading = &reading->headings[at];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].name, name)) {
            *heading = (struct heading){ .kind = words[i].kind, .word = words[i].word };
            return true;
        }
    if (is_reason(reading->csv, name, reading->arena)) {
        heading->kind = REASON;
        return true;
    }
    if (is_statistic(reading, name, heading))
        return true;
    const char *predicted = formulas_predicted(reading->formulas, name);
    int row = formulas_find(reading->formulas, name);
    row = row < 0 && predicted ? formulas_find(reading->formulas, predicted) : row;
    row = row < 0 ? option_row(reading->formulas, name) : row;
    if (row < 0) {
        error_set(reading->error, "%s: column '%.60s'", reading->csv->file, name);
        return error_expected(reading->error, "model, machine, engine, precision, kv_precision, series, source, "
                                              "isl, osl, tpot, ttft or the name of another row (chalkline list rows)");
    }
    heading->row = formulas_row(reading->formulas, row);
    heading->figure = figure_of(row_name(heading->row));
    heading->short_name = predicted != NULL;
    heading->kind = heading->figure ? FIGURE : !strcmp(row_name(heading->row), NAME_stated_chip_flops) ? CHIP_FLOPS
                                                                                               : INPUT;
    return true;
}

/* What a server's layout is made of: whole numbers. */
static const char *const layout_rows[] = {
    NAME_chips, NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel,
    NAME_context_parallel, NAME_decode_workers, NAME_prefill_workers, NAME_prefill_chips,
    NAME_prefill_attention_dp, NAME_prefill_expert_parallel, NAME_prefill_pipeline_parallel, NAME_draft_tokens };
enum { LAYOUT_ROWS = sizeof layout_rows / sizeof *layout_rows };

/* ---- cells ------------------------------------------------------------------------------------- */

static void add_input(struct measured *point, const char *row, double value)
{
    if (point->input_count < MEASURED_INPUTS)
        point->inputs[point->input_count++] = (struct measured_input){ row, value };
    else
        point->refused = "more inputs than a point has room for";
}

static void add_value(struct measured *point, const struct measured_figure *figure, double value, const char *from)
{
    if (point->value_count < MEASURED_VALUES)
        point->values[point->value_count++] =
            (struct measured_value){ figure->metric, figure->row, figure->bound, value, from, 0, 0, 0, 0 };
    else
        point->refused = "more figures than a point has room for";
}

static bool wrong_cell(const struct measured_reader *reading, size_t row, size_t at, const struct error *cause)
{
    error_set(reading->error, "%s:%d: %s: %s", reading->csv->file, reading->csv->lines[row],
              csv_header(reading->csv, at), cause->what);
    return error_hint_of(reading->error, cause);
}

/* One number of a cell, which can be measured or set. */
static bool read_number(const struct measured_reader *reading, size_t row, size_t at, double *number)
{
    const struct heading *heading = &reading->headings[at];
    const struct row *of = heading->row;
    const bool figure = heading->kind == FIGURE || heading->kind == STATISTIC;
    const double most = unit_same(of->unit, unit_second) ? 1e9 : 1e15;      /* thirty years; beyond what any machine does */
    struct quantity quantity;
    struct error cause = { 0 };
    const char *cell = csv_cell(reading->csv, row, (int)at);
    if (!quantity_parse(text_of(cell), of->unit, &quantity, &cause))
        return wrong_cell(reading, row, at, &cause);
    *number = quantity.value;
    if (quantity.distribution != DISTRIBUTION_NONE) {
        error_set(&cause, "'%.40s' is a range or a distribution", cell);
        error_expected(&cause, "the one number that the measurement had");
    } else if (figure && (quantity.value < 0 || quantity.value > most || (quantity.value == 0 && heading->kind == FIGURE)) &&
               !(reading->converted && quantity.value <= 0)) {
        error_set(&cause, "'%.40s' cannot be measured", cell);
        error_expected(&cause, "more than 0, up to %s; an empty cell where nothing was measured",
                       quantity_text(reading->arena, most, of->unit, 3));
    } else if (!figure && of->input && !(reading->converted && quantity.value == 0) &&
               (quantity.value < of->low || quantity.value > of->high)) {
        error_set(&cause, "'%.40s' is out of range", cell);
        error_expected(&cause, "%s to %s, or an empty cell", quantity_text(reading->arena, of->low, of->unit, 4),
                       quantity_text(reading->arena, of->high, of->unit, 4));
    } else if (quantity.value != floor(quantity.value) && name_listed(layout_rows, LAYOUT_ROWS, row_name(of))) {
        error_set(&cause, "'%.40s' is not a whole number", cell);
        error_expected(&cause, "1, 2, 4, 8, ...");
    }
    return !*cause.what || wrong_cell(reading, row, at, &cause);
}

static bool read_quantity(const struct measured_reader *reading, size_t row, size_t at, struct measured *point)
{
    const struct heading *heading = &reading->headings[at];
    struct error cause = { 0 };
    const char *cell = csv_cell(reading->csv, row, (int)at);
    double bare, number;
    if (heading->short_name && heading->figure && unit_same(heading->row->unit, unit_second) &&
        text_number(text_of(cell), &bare) && bare != 0) {
        error_set(&cause, "'%.40s' has no unit", cell);
        error_expected(&cause, "%sms or %ss", cell, cell);
        return wrong_cell(reading, row, at, &cause);
    }
    if (!read_number(reading, row, at, &number))
        return false;
    if (heading->kind == INPUT || heading->kind == CHIP_FLOPS)
        add_input(point, row_name(heading->row), number);
    if (heading->kind == CHIP_FLOPS)
        add_value(point, figure_of(NAME_train_step), 0, NAME_stated_step);
    else if (heading->kind == FIGURE && number > 0)
        add_value(point, heading->figure, number, NULL);
    return true;
}

/* Beside the cell of another column; the row has one for each of its columns at most. */
static void add_reason(const struct measured_reader *reading, size_t at, const char *reason, struct measured *point)
{
    const char *name = csv_header(reading->csv, at);
    const size_t size = strlen(name) - strlen("_from");
    if (!point->reasons)
        point->reasons = arena_array(reading->arena, reading->csv->columns, sizeof *point->reasons);
    point->reasons[point->reason_count++] =
        (struct measured_reason){ arena_copy(reading->arena, name, size), reason };
    if (!point->inferred && measured_guess(reason))
        point->inferred = reason;
}

static bool wrong_number(const struct measured_reader *reading, size_t row, size_t at, const char *cell)
{
    error_set(reading->error, "%s:%d: %s: invalid number '%.40s'", reading->csv->file, reading->csv->lines[row],
              csv_header(reading->csv, at), cell);
    return error_expected(reading->error, "a number from 0 to 1e9, e.g. 64");
}

static bool read_cell(const struct measured_reader *reading, size_t row, size_t at, struct measured *point)
{
    const struct heading *heading = &reading->headings[at];
    const char *cell = csv_cell(reading->csv, row, (int)at);
    double number = 0;
    switch (heading->kind) {
    case WORD:
        memcpy((char *)point + heading->word, &cell, sizeof cell);
        return true;
    case NUMBER:
    case LINE:
        if (!text_number(text_of(cell), &number) || number < 0 || number > 1e9)
            return wrong_number(reading, row, at, cell);
        if (heading->kind == LINE)
            point->line = (int)number;
        else
            memcpy((char *)point + heading->word, &number, sizeof number);
        return true;
    case REASON:
        add_reason(reading, at, cell, point);
        return true;
    case INPUT:
    case FIGURE:
    case CHIP_FLOPS:
        return read_quantity(reading, row, at, point);
    default:
        return true;
    }
}

bool measured_same_layout(const struct measured *a, const struct measured *b)
{
    for (size_t i = 0; i < LAYOUT_ROWS; i++)
        if (measured_input(a, layout_rows[i], 0) != measured_input(b, layout_rows[i], 0))
            return false;
    return true;
}

const char *measured_server(struct arena *arena, const struct measured *point)
{
    const char *const told[] = { point->model, point->machine, point->engine, point->version, point->precision,
                                 point->beside, point->kv, point->kind };
    if (point->series_stated && *point->series)
        return point->series;
    struct buffer key = { .arena = arena };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        buffer_print(&key, "%s%s", i ? " " : "", told[i] && *told[i] ? told[i] : "-");
    for (size_t i = 0; i < LAYOUT_ROWS; i++)
        if (measured_input(point, layout_rows[i], 0) > 0)
            buffer_print(&key, ", %s %.15g", layout_rows[i], measured_input(point, layout_rows[i], 0));
    return key.data;
}

/* ---- one row ------------------------------------------------------------------------------------ */

static bool needs_load(const struct measured *point)
{
    for (int i = 0; i < point->value_count; i++) {
        const enum metric metric = point->values[i].metric;
        if (metric == METRIC_TPOT || metric == METRIC_TTFT || metric == METRIC_E2E ||
            !strcmp(point->values[i].row, NAME_predicted_throughput))
            return true;
    }
    return false;
}

const char *measured_missing(const struct measured *point)
{
    if (!point->machine || !*point->machine)
        return "machine not stated (a column machine, or --on)";
    if (!point->value_count)
        return "nothing measured that a row predicts";
    if (needs_load(point) && (!point->model || !*point->model))
        return "model not stated (a column model, or --model)";
    const bool loaded = measured_input(point, NAME_concurrency, 0) > 0 ||
                        measured_input(point, NAME_arrival_rate, 0) > 0;
    if (needs_load(point) && (!loaded || !(measured_input(point, NAME_prompt_tokens, 0) >= 1) ||
                              !(measured_input(point, NAME_output_tokens, 0) >= 1)))
        return "load or lengths not stated";
    return NULL;
}

/* What the figures say of their server is computed from them. */
static void add_revealing(struct measured *point)
{
    for (int i = 0, count = point->value_count; i < count; i++) {
        const struct measured_value *value = &point->values[i];
        if (value->metric == METRIC_TPOT)
            add_input(point, NAME_measured_tpot, value->value);
        else if (value->metric == METRIC_TTFT)
            add_input(point, NAME_measured_ttft, value->value);
    }
}

static const char *or_null(const char *word)
{
    return word && *word ? word : NULL;
}

/* Beside values that were read. */
static bool read_statistic(const struct measured_reader *reading, size_t row, size_t at, struct measured *point)
{
    const struct heading *heading = &reading->headings[at];
    double number;
    if (!read_number(reading, row, at, &number))
        return false;
    for (int i = 0; i < point->value_count; i++)
        if (!strcmp(point->values[i].row, row_name(heading->row)))
            memcpy((char *)&point->values[i] + heading->word, &number, sizeof number);
    return true;
}

static bool read_row(struct measured_reader *reading, size_t row, struct measured_list *list)
{
    struct measured *point = arena_push(reading->arena, &list->points, &list->count, &list->room, sizeof *point);
    *point = (struct measured){ .file = reading->csv->file, .line = reading->csv->lines[row],
                                .series_stated = csv_column(reading->csv, "series") >= 0 };
    for (size_t at = 0; at < reading->csv->columns; at++)
        if (*csv_cell(reading->csv, row, (int)at) && !read_cell(reading, row, at, point))
            return false;
    for (size_t at = 0; at < reading->csv->columns; at++)
        if (reading->headings[at].kind == STATISTIC && *csv_cell(reading->csv, row, (int)at) &&
            !read_statistic(reading, row, at, point))
            return false;
    const char **texts[] = { &point->source, &point->publisher, &point->series, &point->machine };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = *texts[i] ? *texts[i] : "";
    if (!or_null(point->kind))
        point->kind = measured_input(point, NAME_prefill_workers, 0) > 0 ? "disaggregated" : "aggregated";
    if (!point->refused)
        point->refused = measured_missing(point);
    if (!point->refused)
        add_revealing(point);
    return true;
}

/* ---- rows against each other --------------------------------------------------------------- */

/* Words whose index is equal are equal; sheets repeat the same. */
static bool same_word(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_figure(const char *row)
{
    static const char *const rows[] = { NAME_measured_tpot, NAME_measured_ttft, NAME_stated_chip_flops,
                                        NAME_recompute_counted };
    return name_listed(rows, sizeof rows / sizeof *rows, row);
}

static bool same_inputs(const struct measured *a, const struct measured *b, const char *const *but,
                        size_t count)
{
    for (int i = 0; i < a->input_count; i++)
        if (!is_figure(a->inputs[i].name) && !name_listed(but, count, a->inputs[i].name) &&
            measured_input(b, a->inputs[i].name, NAN) != a->inputs[i].value)
            return false;
    return true;
}

static bool same_words(const struct measured *a, const struct measured *b)
{
    return same_word(a->machine, b->machine) && same_word(a->engine, b->engine) &&
           same_word(a->precision, b->precision) && same_word(a->kv, b->kv);
}

/* The same server and load, not by name of the model: one is often exported under two. `layouts`: with
 * their layouts too. */
static bool same_run(const struct measured *a, const struct measured *b, bool layouts)
{
    static const char *const ranks[] = { NAME_attention_dp, NAME_expert_parallel, NAME_prefill_expert_parallel,
                                         NAME_prefill_attention_dp };
    const size_t but = layouts ? 0 : sizeof ranks / sizeof *ranks;
    return same_words(a, b) && same_inputs(a, b, ranks, but);
}

/* All figures within a share of each other. */
static bool same_figures(const struct measured *a, const struct measured *b, double share)
{
    if (a->value_count != b->value_count)
        return false;
    for (int i = 0; i < a->value_count; i++)
        if (strcmp(a->values[i].row, b->values[i].row) || a->values[i].from ||
            !(fabs(a->values[i].value - b->values[i].value) <= share * b->values[i].value))
            return false;
    return true;
}

static bool same_metric(const struct measured *a, const struct measured *b)
{
    return a->value_count && b->value_count && a->values[0].metric == b->values[0].metric;
}

static void refuse(struct measured_list *list, size_t at, size_t other, enum measured_twin twin,
                   const char *why)
{
    list->points[at].refused = why;
    list->points[at].twin = twin;
    list->points[at].twin_at = other;
}

/* Of two points the first stands before the second. */
static void compare(struct measured_list *list, size_t first, size_t second)
{
    const double again = 0.002, exported = 1e-9, apart = 1.5;
    const struct measured *a = &list->points[first], *b = &list->points[second];
    if (a->rank != b->rank && *a->series && !strcmp(a->series, b->series) && same_metric(a, b) &&
        same_run(a, b, true) && same_run(b, a, true)) {
        const bool second_counts = b->rank < a->rank;
        refuse(list, second_counts ? first : second, second_counts ? second : first, TWIN_FIGURE,
               "another figure of a run that is scored");
        return;
    }
    if (!b->model || !same_run(a, b, false) || !same_run(b, a, false))
        return;
    const bool alike = same_run(a, b, true) && same_run(b, a, true);
    if (alike && same_figures(a, b, again)) {
        refuse(list, second, first, TWIN_AGAIN, "the same measurement again");
    } else if (!alike && same_figures(a, b, exported)) {
        refuse(list, first, second, TWIN_LAYOUT, "the same figures stand under another layout");
        refuse(list, second, first, TWIN_LAYOUT, "the same figures stand under another layout");
    } else if (alike && *a->series && !strcmp(a->series, b->series) && a->values[0].metric == METRIC_TPOT &&
               b->values[0].metric == METRIC_TPOT) {
        static const char why[] = "measured twice at one time, more than 1.5 x apart, so that one had an "
                                  "option that is not stated";
        const double ratio = a->values[0].value / b->values[0].value;
        if (fmax(ratio, 1 / ratio) > apart) {
            refuse(list, first, second, TWIN_APART, why);
            refuse(list, second, first, TWIN_APART, why);
        }
    }
}

static void compare_all(struct measured_list *list, size_t from)
{
    for (size_t i = from; i < list->count; i++)
        for (size_t j = from; j < i && !list->points[i].refused; j++)
            if (!list->points[j].refused)
                compare(list, j, i);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static bool read_schema(struct arena *arena, const struct csv *csv, struct measured_list *list,
                        struct error *error)
{
    struct measured_reader reading = { .arena = arena, .csv = csv, .formulas = formulas_built_in(FORMULAS_ALL),
                               .headings = arena_array(arena, csv->columns + 1, sizeof *reading.headings),
                               .converted = csv_column(csv, "line") == 0, .error = error };
    const size_t from = list->count;
    const int unread = csv_column(csv, LAYOUT_UNREAD);            /* what a converted sheet's layout did not read is behind it */
    for (size_t at = 0; at < csv->columns; at++)
        if (unread >= 0 && at >= (size_t)unread)
            reading.headings[at].kind = IGNORED;
        else if (!read_header(&reading, at))
            return false;
    for (size_t row = 0; row < csv->rows; row++)
        if (!read_row(&reading, row, list))
            return false;
    compare_all(list, from);
    return true;
}

bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error)
{
    struct file_layout *layout = layout_of(arena, csv);
    if (!layout && !measured_schema(csv))
        return layout_unknown(arena, csv, error);
    if (!layout)
        return read_schema(arena, csv, list, error);
    struct buffer converted = { .arena = arena };
    struct csv *ours = arena_alloc(arena, sizeof *ours);
    const size_t from = list->count;
    if (!layout_apply(arena, layout, csv, &converted, error) ||
        !csv_read_groups(arena, csv->file, (struct text){ converted.data, converted.size }, ours, error) ||
        !read_schema(arena, ours, list, error))
        return false;
    for (size_t i = from; i < list->count; i++)
        list->points[i].series_stated = csv_column(csv, "series") >= 0;
    return true;
}
