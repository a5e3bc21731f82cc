/* The answer of `train`: the fastest layout, its memory, what more memory would gain, the front of
 * layouts, and how they were searched. train.template is its text.
 *
 * Figures of a layout come from the rows, evaluated at that layout as a scenario of its own, so
 * that `eval` with its words gives the same bits. JSON and CSV have the whole front, the text of
 * --plan about ten layouts of it. Where no layout fits, the answer is the nearest one and what it
 * lacks; where none divides evenly, train_nothing.c says which sizes do not. With --sweep there is one
 * best layout for each value instead (train_sweep.c). The records at the end declare the keys of the
 * document for the API. */
#include "ask/train/train.h"
#include "scenario/basis.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/rules.h"

#include <math.h>
#include <string.h>

/* The axes, then the column. */
static const char *const setting_rows[] = {
#define AXIS(row, ...) NAME_##row,
#include "ask/train/train_axes.def"
#undef AXIS
    NAME_micro_batch
};
enum { SETTING_ROWS = sizeof setting_rows / sizeof *setting_rows };

/* What --set alone asks for: it changes the model, or needs hosts. */
static const char *const asked_rows[] = { NAME_recompute_reversible, NAME_offload_weights,
                                          NAME_offload_activations, NAME_offload_optimizer };
static const char *const asked_words[] = { "layers reversible", "weights", "activations", "optimizer" };
enum { ASKED = sizeof asked_rows / sizeof *asked_rows };

/* ---- a layout --------------------------------------------------------------------------------- */

const char *train_layout(const struct train *train, const struct train_point *point)
{
    static const struct { const char *row, *name; } sizes[] = {
        { NAME_pipeline_parallel, " x PP" }, { NAME_context_parallel, " x CP" },
        { NAME_expert_parallel, " x EP" } };
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
    for (int i = 0; i < ASKED; i++) {
        const double share = train_given(train, asked_rows[i]);
        if (!(share > 0))
            continue;
        buffer_print(&out, i ? ", %s in host memory" : ", %s", asked_words[i]);
        if (share < 1)
            buffer_print(&out, " (%g %%)", 100 * share);
    }
    return out.data;
}

/* The question that a point is. */
static struct scenario point_scenario(const struct train *train, const struct train_point *point)
{
    struct scenario scenario = train->scenario;
    scenario.facts = facts_copy(&scenario.facts);
    for (int i = 0; i < SETTING_ROWS; i++)
        if (!fact_given(facts_find(&scenario.facts, setting_rows[i])))
            facts_set(&scenario.facts, setting_rows[i], train_input(train, &point->at, setting_rows[i]),
                      ORIGIN_AXIS, "train");
    return scenario;
}

/* Whether the trainer starts a layout, and the rules that it breaks. */
static void fill_rules(struct scenario *scenario, struct section *section)
{
    struct broken_rule *broken;
    struct section *list = section_add(section, "broken_rules", SECTION_TEXTS);
    const size_t count = rules_broken_training(scenario, &broken);
    section_switch(section, "startable", !count);
    for (size_t i = 0; i < count; i++)
        section_word(list, NULL, broken[i].id);
    if (count)
        section_word(section, "broken", rule_text_of(scenario->arena, &broken[0]))->text_only = true;
}

/* All that the answer says of a layout. */
static void fill_record(const struct train *train, const struct train_point *point, struct section *section)
{
    struct scenario scenario = point_scenario(train, point);
    figures_words(&scenario, section);
    section_word(section, "layout", train_layout(train, point));
    fill_rules(&scenario, section);
    for (int i = 0; i < SETTING_ROWS; i++)
        figures_row(section, setting_rows[i], train_input(train, &point->at, setting_rows[i]));
    for (int i = 0; i < ASKED; i++) {
        const double share = train_given(train, asked_rows[i]);
        section_number(section, asked_rows[i], share > 0 ? share : 0, unit_one)->text_only = !(share > 0);
    }
    for (int i = 0; i < TRAIN_FIGURE_COUNT; i++)
        figures_row(section, train_figures[i], point->figures[i]);
    breakdown_section(&train->scenario, &point->parts, unit_second, section);
    section_word(section, "time_parts", breakdown_largest(train->arena, &point->parts, 6))->text_only = true;
    section_word(section, "largest_parts", breakdown_largest(train->arena, &point->parts, 2))
        ->text_only = true;
    section_number(section, "lost", 1 - point->figures[TRAIN_train_goodput], unit_one)->text_only = true;
}

/* ---- the answer ------------------------------------------------------------------------------- */

/* The question: rows of the first line, and the memory of hosts where the machine's file has it. */
static bool add_question(struct train *train, struct section *section)
{
    static const char *const rows[] = { NAME_training_chips, NAME_training_sequences, NAME_sequence_length,
                                        NAME_training_tokens, NAME_host_memory };
    const size_t count = sizeof rows / sizeof *rows - !train_host_known(train);
    struct values values;
    if (!values_of(&train->scenario, rows, count, &values, train->error))
        return false;
    section_word(section, "model", train->scenario.model);
    section_word(section, "machine", train->scenario.machine);
    for (size_t i = 0; i < count; i++)
        section_number(section, rows[i], values.at[i], scenario_unit(&train->scenario, rows[i]))
            ->text_only = true;
    return true;
}

/* What a quarter more memory would bring, where it brings anything. */
static void add_moved(struct train *train, const struct train_point *best, struct section *section)
{
    for (size_t l = 0; l < train->space.limit_count; l++) {
        const struct search_limit *limit = &train->space.limits[l];
        struct train_point point;
        if (!(train->result.moved_found & 1u << l))
            continue;
        train_read_point(train, &train->result.moved[l], &point);
        const double gain = best->figures[TRAIN_train_step] / point.figures[TRAIN_train_step] - 1;
        if (!(gain > 0))
            continue;
        struct section *moved = section_add(section, "moved", SECTION_RECORD);
        fill_record(train, &point, moved);
        section_word(moved, "limit", limit->name)->text_only = true;
        section_number(moved, "wider", limit->wider - 1, unit_one)->text_only = true;
        section_number(moved, "gain", gain, unit_one)->text_only = true;
    }
}

/* The front, whole for a document and for CSV; with --plan about ten of its layouts in "shown". A record that nobody
 * reads is not made. */
static struct section *add_front(struct train *train, struct section *section)
{
    enum { SHOWN = 10 };
    const struct search_front *front = &train->result.front;
    const bool whole = train->answer->doc || train->answer->csv.arena, asked = command_given(train->command, "plan");
    struct section *list = section_add(section, "front", SECTION_LIST);
    struct section *shown = section_add(section, "shown", SECTION_LIST);
    shown->text_only = true;
    for (size_t i = 0; i < front->count; i++) {
        const bool show = asked && i % (front->count / SHOWN + 1) == 0;
        struct train_point point;
        if (!whole && !show)
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        train_read_point(train, &front->points[i], &point);
        fill_record(train, &point, one);
        if (show)
            section_share(shown, one);
    }
    return list;
}

/* Of a report: layouts that are nearly as fast as the best, each the fastest for its memory. */
static void add_near(const struct train *train, const struct section *front, struct section *section)
{
    const double slower = 1.05;
    enum { SHOWN = 8 };
    if (!command_reports(train->command) || !front->inside_count)
        return;
    struct section *near = section_add(section, "near", SECTION_LIST);
    near->text_only = true;
    for (size_t i = 0; i < front->inside_count && near->inside_count < SHOWN; i++)
        if (section_value(front->inside[i], NAME_train_step) <=
            slower * section_value(front->inside[0], NAME_train_step))
            section_share(near, front->inside[i]);
}

static void add_counts(struct train *train, struct section *section)
{
    const struct search_count *count = &train->result.count;
    struct section *points = section_add(section, "points", SECTION_RECORD);
    section_number(points, "all", (double)count->points, unit_one);
    section_number(points, "indivisible", (double)(count->broken[0] + count->no_room + count->no_fit),
                   unit_one)->text_only = true;
    section_number(points, "infeasible_memory", (double)(count->broken[1] + count->broken[2]), unit_one);
    section_number(points, "feasible", (double)count->met, unit_one);
}

void train_basis(const struct train *train, const struct train_point *point, struct scenario *noted,
                 struct basis *basis, const char ***idle, size_t *idle_count)
{
    struct scenario read = point_scenario(train, point);
    const char *texts[TRAIN_FIGURE_COUNT + 1];
    memcpy(texts, train_figures, sizeof train_figures);
    texts[TRAIN_FIGURE_COUNT] = NAME_train_layout_valid;
    read.arena = noted->arena;
    read.formulas = noted->formulas;
    basis_texts(&read, texts, TRAIN_FIGURE_COUNT + 1, basis);
    *idle_count = given_idle(&read, texts, TRAIN_FIGURE_COUNT + 1, idle);
}

bool train_answer(struct train *train)
{
    const struct search_result *result = &train->result;
    struct section *section = section_new(train->arena), *front = section_new(train->arena);
    struct scenario *scenario = &train->scenario;
    struct train_point point;                   /* the best, or the nearest */
    bool found = true;
    if (!add_question(train, section))
        return false;
    if (result->front.count) {
        train_read_point(train, &result->front.points[0], &point);
        fill_record(train, &point, section_add(section, "best", SECTION_RECORD));
        add_moved(train, &point, section);
        front = add_front(train, section);
        add_near(train, front, section);
    } else if (result->miss_found && isfinite(result->miss_by) && result->miss_by <= 1e6) {
        struct section *nearest = section_add(section, "nearest", SECTION_RECORD);
        train_read_point(train, &result->miss, &point);
        fill_record(train, &point, nearest);
        section_number(nearest, "short", point.figures[TRAIN_train_memory] -
                       point.figures[TRAIN_hbm_reported], scenario_unit(scenario, NAME_train_memory))
            ->text_only = true;
    } else {
        found = false;
        if (!train_nothing(train, section_add(section, "uneven", SECTION_TEXTS)))
            return false;
    }
    train->answer->status = !result->front.count;
    add_counts(train, section);
    if (found) {
        struct basis basis = { 0 };
        const char **idle;
        size_t idle_count;
        train_basis(train, &point, scenario, &basis, &idle, &idle_count);
        basis_notes(scenario, &basis);
        for (size_t i = 0; i < idle_count; i++)
            facts_note(&scenario->facts, "%s has no effect on this layout", idle[i]);
    }
    figures_notes(scenario, section);
    train->answer->section = section;
    if (found && command_draws(train->command))
        train->answer->picture = train_picture(train, &point);
    section_document(section, train->answer->doc);
    template_print(template_built_in(train->arena, "ask/train/train.template"), section,
                   &train->answer->text);
    const char *columns[SETTING_ROWS + ASKED + TRAIN_FIGURE_COUNT];
    memcpy(columns, setting_rows, sizeof setting_rows);
    memcpy(columns + SETTING_ROWS, asked_rows, sizeof asked_rows);
    memcpy(columns + SETTING_ROWS + ASKED, train_figures, sizeof train_figures);
    section_csv_of(front, columns, sizeof columns / sizeof *columns, &train->answer->csv);
    return true;
}

/* ---- the keys -------------------------------------------------------------------------------------- */

static const struct record point_record = { "TrainLayout", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this layout again", .always = true },
    { FIELD_TEXT, "layout", .help = "the layout in words", .always = true },
    { FIELD_SWITCH, "startable", .help = "whether the trainer starts it", .always = true },
    { FIELD_TEXTS, "broken_rules", .help = "rules of data/rules.csv that it breaks", .always = true },
    { FIELD_ROWS, .names = setting_rows, .count = SETTING_ROWS, .aliases = true, .always = true },
    { FIELD_ROWS, .names = asked_rows, .count = ASKED },
    { FIELD_ROWS, .names = train_figures, .count = TRAIN_FIGURE_COUNT, .aliases = true, .always = true },
    { FIELD_RECORD, "parts", .help = "where the time of a step goes", .record = &parts_record },
    { FIELD_TEXT_ONLY, .count = 8, .names = (const char *const[]){
          "broken", "time_parts", "largest_parts", "lost", "limit", "wider", "gain", "short" } },
    { 0 } } };

static const struct record points_record = { "TrainPoints", (const struct answer_field[]){
    { FIELD_NUMBER, "all", .help = "layouts that were searched", .always = true },
    { FIELD_NUMBER, "infeasible_memory", .help = "layouts that are out of memory", .always = true },
    { FIELD_NUMBER, "feasible", .help = "layouts that fit in memory", .always = true },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "indivisible" }, .count = 1 },
    { 0 } } };

/* With a sweep that alone, and what was assumed. */
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
    { FIELD_LIST, "sweep", .help = "--sweep: the best layout at each value", .record = &train_swept },
    { FIELD_TEXT_ONLY, "shown", .record = &point_record },
    { FIELD_TEXT_ONLY, "near", .record = &point_record },
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "scope", "swept", NAME_training_chips, NAME_training_sequences, NAME_sequence_length,
          NAME_training_tokens, NAME_host_memory } },
    { 0 } } };
