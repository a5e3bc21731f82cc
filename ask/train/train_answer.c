/* The answer of `train`: the fastest layout, its memory, what more memory would gain, the front of
 * layouts, and how they were searched.
 *
 * Figures of a layout come from the rows, evaluated at that layout as a scenario of its own, so
 * that `eval` with the words shown gives the same bits. Where no layout fits or divides evenly,
 * the answer says which constraint failed and by how much (train_nothing.c). The records at the
 * end declare the keys of the document for the API. */
#include "ask/train/train.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

enum { SETTING_ROWS = TRAIN_AXES + 1, SHOWN = 10 };

/* The axes, then the column. */
static const char *setting_row(int i)
{
    return i < TRAIN_AXES ? train_axes[i].row : NAME_micro_batch;
}

const char *train_text(const struct train *train, const struct train_point *point,
                       enum train_figure figure, int digits)
{
    return quantity_text(train->arena, point->figures[figure],
                         scenario_unit(&train->scenario, train_figures[figure]), digits);
}

/* What --set alone asks for: it changes the model, or needs hosts. */
static const struct { const char *row, *name; } asked[] = {
    { NAME_recompute_reversible, "layers reversible" }, { NAME_offload_weights, "weights" },
    { NAME_offload_activations, "activations" }, { NAME_offload_optimizer, "optimizer" } };
enum { ASKED = sizeof asked / sizeof *asked };

static void print_asked(const struct train *train, struct buffer *out)
{
    for (int i = 0; i < ASKED; i++) {
        const double share = train_given(train, asked[i].row);
        if (!(share > 0))
            continue;
        buffer_print(out, i ? ", %s in host memory" : ", %s", asked[i].name);
        if (share < 1)
            buffer_print(out, " (%g %%)", 100 * share);
    }
}

const char *train_layout(const struct train *train, const struct train_point *point)
{
    static const struct { const char *row, *name; } sizes[] = {
        { NAME_pipeline_parallel, " x PP" }, { NAME_context_parallel, " x CP" }, { NAME_expert_parallel, " x EP" } };
    struct buffer out = { .arena = train->arena };
    buffer_print(&out, "TP %.0f", train_input(train, &point->at, NAME_tensor_parallel));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double size = train_input(train, &point->at, sizes[i].row);
        if (size > 1)
            buffer_print(&out, "%s %.0f", sizes[i].name, size);
    }
    buffer_print(&out, " x DP %.0f", point->figures[TRAIN_data_parallel]);
    double chunks = train_input(train, &point->at, NAME_virtual_stages);
    if (chunks > 1)
        buffer_print(&out, ", VPP %.0f", chunks);
    buffer_print(&out, ", micro-batches of %g", train_input(train, &point->at, NAME_micro_batch));
    double zero = train_input(train, &point->at, NAME_zero_stage);
    buffer_print(&out, zero >= 3 ? ", FSDP" : ", ZeRO %.0f", zero);
    for (int i = 0; i < TRAIN_AXES; i++)
        if (train_axes[i].told &&
            train_input(train, &point->at, train_axes[i].row) != train_axes[i].start)
            buffer_print(&out, ", %s", train_axes[i].told);
    print_asked(train, &out);
    return out.data;
}

/* The question that a point is. */
static struct scenario point_scenario(const struct train *train, const struct train_point *point)
{
    struct scenario scenario = train->scenario;
    scenario.facts = facts_copy(&scenario.facts);
    for (int i = 0; i < SETTING_ROWS; i++) {
        const char *row = setting_row(i);
        const struct fact *fact = facts_find(&scenario.facts, row);
        if (!fact_given(fact))
            facts_set(&scenario.facts, row, train_input(train, &point->at, row), ORIGIN_AXIS,
                      "train");
    }
    return scenario;
}

static void point_document(const struct train *train, const struct train_point *point,
                           struct doc *doc)
{
    struct scenario scenario = point_scenario(train, point);
    scenario_words_document(&scenario, doc);
    doc_add_string(train->arena, doc, "layout", train_layout(train, point));
    for (int i = 0; i < SETTING_ROWS; i++)
        doc_add_row(train->arena, doc, setting_row(i),
                    train_input(train, &point->at, setting_row(i)));
    for (int i = 0; i < ASKED; i++)
        if (train_given(train, asked[i].row) > 0)
            doc_add_number(train->arena, doc, asked[i].row, train_given(train, asked[i].row));
    for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
        doc_add_row(train->arena, doc, train_figures[i], point->figures[i]);
    breakdown_document(&train->scenario, &point->parts, unit_second, doc);
}

static bool head_line(struct train *train)
{
    static const char *const rows[] = { NAME_training_sequences, NAME_sequence_length,
                                        NAME_training_tokens };
    struct values values;
    if (!values_of(&train->scenario, rows, 3, &values, train->error))
        return false;
    doc_add_string(train->arena, train->answer->doc, "model", train->scenario.model);
    doc_add_string(train->arena, train->answer->doc, "machine", train->scenario.machine);
    buffer_print(&train->answer->text, "%s on %s x %s: %s sequences of %s tokens per step, "
                 "%s tokens\n\n",
                 train->scenario.model, count_text(train->arena, train->chips, 12), train->scenario.machine,
                 count_text(train->arena, values.at[0], 12), count_text(train->arena, values.at[1], 12),
                 quantity_text(train->arena, values.at[2], unit_one, 4));
    return true;
}

/* What waits there, of what there is where the machine's file says so. */
static void host_line(struct train *train, const struct train_point *point)
{
    struct buffer *out = &train->answer->text;
    struct values values;
    static const char *const rows[] = { NAME_host_memory };
    if (!(point->figures[TRAIN_train_host_memory] > 0))
        return;
    buffer_print(out, "           host memory %s per GPU",
                 train_text(train, point, TRAIN_train_host_memory, 3));
    if (train_host_known(train) && values_of(&train->scenario, rows, 1, &values, train->error))
        buffer_print(out, " of %s", quantity_text(train->arena, values.at[0],
                     scenario_unit(&train->scenario, NAME_host_memory), 3));
    buffer_print(out, "\n");
}

static void best_lines(struct train *train, const struct train_point *best)
{
    struct buffer *out = &train->answer->text;
    point_document(train, best, doc_add(train->arena, train->answer->doc, "best", DOC_OBJECT));
    buffer_print(out, "  layout   %s\n", train_layout(train, best));
    buffer_print(out, "  step     %s, %s micro-batch%s; %s per GPU\n",
                 train_text(train, best, TRAIN_train_step, 4),
                 count_text(train->arena, best->figures[TRAIN_train_micro_batches], 12),
                 best->figures[TRAIN_train_micro_batches] > 1 ? "es" : "",
                 train_text(train, best, TRAIN_train_tokens_per_chip, 4));
    buffer_print(out, "           %s per GPU, MFU %.1f %% of the bf16 peak\n",
                 train_text(train, best, TRAIN_train_flops_per_chip, 4),
                 100 * best->figures[TRAIN_train_mfu]);
    buffer_print(out, "  time     %s\n", breakdown_largest(train->arena, &best->parts, 6));
    buffer_print(out, "  memory   %s of %s: state %s, activations %s\n",
                 train_text(train, best, TRAIN_train_memory, 3),
                 train_text(train, best, TRAIN_hbm_reported, 3),
                 train_text(train, best, TRAIN_train_state, 3),
                 train_text(train, best, TRAIN_train_activations, 3));
    host_line(train, best);
    buffer_print(out, "  run      %s steps, %s; %s GPU-hours, %s\n",
                 count_text(train->arena, floor(best->figures[TRAIN_train_steps] + 0.5), 12),
                 train_text(train, best, TRAIN_train_duration, 3),
                 quantity_text(train->arena, best->figures[TRAIN_train_chip_time] / 3600,
                               unit_one, 3),
                 train_text(train, best, TRAIN_train_run_cost, 3));
    buffer_print(out, "           a failure every %s, a checkpoint every %s: %.1f %% of the time "
                 "lost\n",
                 train_text(train, best, TRAIN_run_failure_time, 3),
                 train_text(train, best, TRAIN_checkpoint_interval, 3),
                 100 * (1 - best->figures[TRAIN_train_goodput]));
}

/* What a quarter more memory would bring, where it brings anything. */
static void move_line(struct train *train, const struct train_point *best)
{
    for (size_t l = 0; l < train->space.limit_count; l++) {
        const double wider = train->space.limits[l].wider;
        struct train_point point;
        if (!(train->result.moved_found & 1u << l))
            continue;
        train_read_point(train, &train->result.moved[l], &point);
        const double gain = best->figures[TRAIN_train_step] / point.figures[TRAIN_train_step] - 1;
        if (!(gain > 0))
            continue;
        point_document(train, &point,
                       doc_add(train->arena, train->answer->doc, "moved", DOC_OBJECT));
        buffer_print(&train->answer->text, "  relaxing %s by %.0f %%: %+.1f %% tokens/s per GPU,\n"
                     "           %s\n", train->space.limits[l].name, 100 * (wider - 1), 100 * gain,
                     train_layout(train, &point));
    }
}

/* ---- the front ------------------------------------------------------------------------------ */

static void csv_head(struct table *table)
{
    for (int i = 0; i < SETTING_ROWS; i++)
        table_cell(table, "%s", setting_row(i));
    for (int i = 0; i < ASKED; i++)
        table_cell(table, "%s", asked[i].row);
    for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
        table_cell(table, "%s", train_figures[i]);
}

static void csv_row(const struct train *train, const struct train_point *point,
                    struct table *table)
{
    for (int i = 0; i < SETTING_ROWS; i++)
        table_cell(table, "%.17g", train_input(train, &point->at, setting_row(i)));
    for (int i = 0; i < ASKED; i++) {
        const double share = train_given(train, asked[i].row);
        table_cell(table, "%.17g", isnan(share) ? 0 : share);
    }
    for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
        table_cell(table, "%.17g", point->figures[i]);
}

static void add_row(const struct train *train, const struct train_point *point,
                    struct table *table)
{
    table_cell(table, "%s", train_text(train, point, TRAIN_train_step, 4));
    table_cell(table, "%.1f", 100 * point->figures[TRAIN_train_mfu]);
    table_cell(table, "%s", train_text(train, point, TRAIN_train_memory, 3));
    table_cell(table, "%s", breakdown_largest(train->arena, &point->parts, 2));
    table_cell(table, "%s", train_layout(train, point));
}

/* All of it for programs, about SHOWN lines for people who ask. */
static void front_lines(struct train *train)
{
    static const char *const head[] = { "step", "MFU %", "memory", "largest parts", "layout" };
    const struct search_front *front = &train->result.front;
    struct table table = { .arena = train->arena, .columns = 5, .left = "rrrll" };
    struct table csv = { .arena = train->arena,
                         .columns = SETTING_ROWS + ASKED + TRAIN_FIGURE_COUNT };
    struct doc *list = doc_add(train->arena, train->answer->doc, "front", DOC_ARRAY);
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", head[i]);
    csv_head(&csv);
    for (size_t i = 0; i < front->count; i++) {
        struct train_point point;
        train_read_point(train, &front->points[i], &point);
        csv_row(train, &point, &csv);
        point_document(train, &point, doc_add(train->arena, list, NULL, DOC_OBJECT));
        if (i % (front->count / SHOWN + 1) == 0)
            add_row(train, &point, &table);
    }
    if (command_text(train->command, "plan")) {
        buffer_print(&train->answer->text, "\n");
        table_print(&table, &train->answer->text, "  ");
    }
    table_csv(&csv, &train->answer->csv);
}

static void known_lines(struct train *train)
{
    const struct search_count *count = &train->result.count;
    buffer_print(&train->answer->text, "  search   exhaustive: %s layouts, TP and CP up to 64; "
                 "%s not divisible, %s out of memory, %s feasible\n",
                 count_text(train->arena, (double)count->points, 12),
                 count_text(train->arena, (double)(count->broken[0] + count->no_room + count->no_fit), 12),
                 count_text(train->arena, (double)(count->broken[1] + count->broken[2]), 12),
                 count_text(train->arena, (double)count->met, 12));
    struct doc *doc = doc_add(train->arena, train->answer->doc, "points", DOC_OBJECT);
    doc_add_number(train->arena, doc, "all", (double)count->points);
    doc_add_number(train->arena, doc, "infeasible_memory", (double)(count->broken[1] + count->broken[2]));
    doc_add_number(train->arena, doc, "feasible", (double)count->met);
}

/* What is over its limit, and by how much. */
static void short_line(struct train *train, const struct train_point *point)
{
    const double over = point->figures[TRAIN_train_memory] - point->figures[TRAIN_hbm_reported];
    struct buffer *out = &train->answer->text;
    buffer_print(out, "           needs %s, has %s", train_text(train, point, TRAIN_train_memory, 3),
                 train_text(train, point, TRAIN_hbm_reported, 3));
    if (over > 0)
        buffer_print(out, ", %s short: state %s, activations %s",
                     quantity_text(train->arena, over,
                                   scenario_unit(&train->scenario, NAME_train_memory), 3),
                     train_text(train, point, TRAIN_train_state, 3),
                     train_text(train, point, TRAIN_train_activations, 3));
    buffer_print(out, "\n");
}

/* What the figures of a layout depend on, and what was given and moves none of them, as notes of the
 * answer. */
static void note_point(struct train *train, const struct train_point *point)
{
    struct scenario scenario = point_scenario(train, point);
    const size_t before = scenario.facts.note_count;
    const char *texts[TRAIN_FIGURE_COUNT + 1];
    memcpy(texts, train_figures, sizeof train_figures);
    texts[TRAIN_FIGURE_COUNT] = NAME_train_layout_valid;
    shown_notes(&scenario, texts, TRAIN_FIGURE_COUNT + 1, "this layout");
    for (size_t i = before; i < scenario.facts.note_count; i++)
        facts_note(&train->scenario.facts, "%s", scenario.facts.notes[i]);
}

static bool nothing_lines(struct train *train)
{
    struct train_point point;
    struct table csv = { .arena = train->arena,
                         .columns = SETTING_ROWS + ASKED + TRAIN_FIGURE_COUNT };
    train->answer->status = 1;
    csv_head(&csv);
    table_csv(&csv, &train->answer->csv);
    if (!train->result.miss_found || !isfinite(train->result.miss_by) ||
        train->result.miss_by > 1e6)
        return train_nothing(train);
    train_read_point(train, &train->result.miss, &point);
    buffer_print(&train->answer->text, "  layout   none fits in memory; nearest: %s\n",
                 train_layout(train, &point));
    short_line(train, &point);
    host_line(train, &point);
    point_document(train, &point, doc_add(train->arena, train->answer->doc, "nearest", DOC_OBJECT));
    note_point(train, &point);
    return true;
}

bool train_answer(struct train *train)
{
    struct train_point best;
    if (!head_line(train))
        return false;
    if (train->result.front.count) {
        train_read_point(train, &train->result.front.points[0], &best);
        best_lines(train, &best);
        move_line(train, &best);
        front_lines(train);
        note_point(train, &best);
    } else if (!nothing_lines(train)) {
        return false;
    }
    known_lines(train);
    buffer_print(&train->answer->text, "\n");
    scenario_notes(&train->scenario, train->answer);
    return true;
}

/* ---- the keys -------------------------------------------------------------------------------------- */

static const char *const setting_rows[] = {
#define AXIS(row, ...) NAME_##row,
#include "ask/train/train_axes.def"
#undef AXIS
    NAME_micro_batch
};
static const char *const asked_rows[] = { NAME_recompute_reversible, NAME_offload_weights,
                                          NAME_offload_activations, NAME_offload_optimizer };

static const struct record point_record = { "TrainLayout", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this layout again", .always = true },
    { FIELD_TEXT, "layout", .help = "the layout in words", .always = true },
    { FIELD_ROWS, .names = setting_rows, .count = SETTING_ROWS, .aliases = true, .always = true },
    { FIELD_ROWS, .names = asked_rows, .count = ASKED },
    { FIELD_ROWS, .names = train_figures, .count = TRAIN_FIGURE_COUNT, .aliases = true, .always = true },
    { FIELD_RECORD, "parts", .help = "where the time of a step goes", .record = &parts_record },
    { 0 } } };

static const struct record points_record = { "TrainPoints", (const struct answer_field[]){
    { FIELD_NUMBER, "all", .help = "layouts that were searched", .always = true },
    { FIELD_NUMBER, "infeasible_memory", .help = "layouts that are out of memory", .always = true },
    { FIELD_NUMBER, "feasible", .help = "layouts that fit in memory", .always = true },
    { 0 } } };

static const struct record sweep_record = { "TrainSweep", (const struct answer_field[]){
    { FIELD_TEXT, "layout", .help = "the best layout, in words; absent where none fits" },
    { FIELD_ROWS, .names = train_figures, .count = TRAIN_FIGURE_COUNT },
    { FIELD_OTHERS, .help = "the row that is swept, and its value", .unit = "" },
    { 0 } } };

/* With a sweep that alone. */
const struct record answer_train = { "Train", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_TEXT, "machine", .help = "title of the machine" },
    { FIELD_RECORD, "best", .help = "the fastest layout that fits", .record = &point_record },
    { FIELD_RECORD, "moved", .help = "the fastest layout with more memory", .record = &point_record },
    { FIELD_RECORD, "nearest", .help = "the layout nearest to fitting, where none fits",
      .record = &point_record },
    { FIELD_LIST, "front", .help = "fastest layout at each memory need, tokens/s per GPU",
      .record = &point_record },
    { FIELD_TEXTS, "uneven", .help = "what does not divide evenly, where no layout does" },
    { FIELD_RECORD, "points", .help = "the range that was searched", .record = &points_record },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer" },
    { FIELD_LIST, "sweep", .help = "--sweep: the best layout at each value", .record = &sweep_record },
    { 0 } } };
