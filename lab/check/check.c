/* check: predicted against measured, scored.
 *
 *     files -> points -> outcomes -> scores, tables, lines, picture
 *
 * Every point is predicted by the rows of its machine, model and engine (score/predictor.h), or
 * refused with a reason: a row of which one value cannot be predicted is refused as a whole, so that
 * rows are those scored and those refused. Points are grouped by model, hardware or publisher, under
 * one name for all spellings. Scores are computed in score/, told in check_answer.c. */
#include "ask/ask.h"
#include "lab/check/check.h"
#include "scenario/figures.h"

#include "build/row_names.h"
#include "catalog/sheet.h"
#include "score/benchmark.h"

#include <math.h>
#include <string.h>

/* ---- points ------------------------------------------------------------------------------ */

static bool read_points(struct check *check)
{
    enum { LIMIT = 64 << 20 };
    const struct command *command = check->command;
    const char *const *files;
    const size_t count = command_texts(check->arena, command, "measured", &files);
    struct benchmark_facts given;
    struct text text;
    struct csv csv;
    benchmark_given(command, &given);
    if (!count && given.count) {
        error_set(check->error, "--%s without a file", given.facts[0].option);
        return error_expected(check->error, "a file of measurements, as in `chalkline check runs.csv`");
    }
    for (size_t i = 0; i < count; i++)
        if (!file_read(check->arena, files[i], LIMIT, &text, check->error) ||
            !benchmark_open(check->arena, files[i], text, &given, &csv, check->error) ||
            !measured_read(check->arena, &csv, &check->points, check->error))
            return false;
    return count || measured_read(check->arena, csv_built_in("data/measured.csv"), &check->points,
                                  check->error);
}

static void check_point(struct check *check, size_t at)
{
    const struct measured *point = &check->points.points[at];
    struct prediction predictions[MEASURED_VALUES];
    const char *refused = check_predict(check, point, predictions);
    if (refused)
        check_refuse(check, point, refused);
    else
        check_outcomes(check, at, predictions);
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Words and options, before anything is read; --set and --rows are wrong here, or nowhere. */
static bool read_question(struct check *check)
{
    const struct command *command = check->command;
    struct scenario *scenario = arena_alloc(check->arena, sizeof *scenario);
    const struct command *rest = benchmark_rest(check->arena, command);
    const char *const *rows;
    const size_t row_count = command_texts(check->arena, command, "rows", &rows);
    for (size_t i = 0; i < row_count; i++)
        if (!strcmp(rows[i], "-")) {
            error_set(check->error, "check reads --rows again for every model, and standard input only once");
            return error_expected(check->error, "the path of a file");
        }
    catalog_open(&check->catalog, check->arena);
    check->by = (enum grouping)command_choice(command, "by");
    return scenario_read(scenario, check->arena, rest, command_no_subject(rest),
                         check->error);
}

/* Of a report: which measurements these are. */
static void note_files(struct check *check)
{
    const char *const *files;
    const size_t count = command_texts(check->arena, check->command, "measured", &files);
    for (size_t i = 0; i < count; i++)
        figures_noted(check->section, arena_print(check->arena, "measurements: %s", files[i]));
    if (!count)
        figures_noted(check->section, "measurements: data/measured.csv, each with its source and date");
    figures_noted(check->section, "machines: data/hardware.csv; models: data/models.csv; constants: "
                                  "data/efficiency.csv");
}

/* The worst predictions, the choices by them, and a line of CSV for each. */
static bool tell_values(struct check *check, size_t worst, struct buffer *csv)
{
    if (worst)
        check_worst(check, worst);
    if (command_text(check->command, "rank"))
        return check_rank(check, csv);
    check_csv(check, csv);
    return true;
}

static void tell_unread(struct check *check, const char *file, struct section *assumed)
{
    enum { LIMIT = 64 << 20 };
    struct text text;
    struct csv sheet;
    struct error error;
    int *columns;
    if (!file_read(check->arena, file, LIMIT, &text, &error)) {
        section_word(assumed, NULL, arena_print(check->arena, "which columns nothing reads is unknown: %s", error.what));
        return;
    }
    const size_t count = benchmark_unread(check->arena, file, text, &sheet, &columns);
    if (count)
        section_word(assumed, NULL, arena_print(check->arena, "nothing reads these columns of %s: %s", file,
                                                benchmark_unread_names(check->arena, &sheet, columns, count)));
}

/* What holds for all predictions, and why there are none. */
static void check_assumed(struct check *check, const struct command *rest)
{
    const char *chunk = predictor_chunk_note(check->arena, rest, &check->points);
    struct section *assumed = section_add(check->section, "assumed", SECTION_TEXTS);
    const char *const *files;
    if (chunk)
        section_word(assumed, NULL, chunk);
    for (size_t i = 0; i < command_texts(check->arena, check->command, "measured", &files); i++)
        tell_unread(check, files[i], assumed);
    if (!check->all.count && check->refusal_count)
        section_word(check->section, "nothing", check->refusals[0].reason)->text_only = true;
}

bool ask_check(struct arena *arena, const struct command *command, struct answer *answer,
               struct error *error)
{
    const struct command *rest = benchmark_rest(arena, command);
    struct check check = { .arena = arena, .command = command, .section = section_new(arena),
                           .error = error,
                           .predictor = { .arena = arena, .command = rest },
                           .all.arena = arena, .metrics.arena = arena, .groups.arena = arena };
    const size_t worst = command_count(command, "worst");
    physics_open(&check.physics, arena, rest);
    check.stated = command_given(command, "stated");
    if (!read_question(&check) || !read_points(&check))
        return false;
    if (command_given(command, "to") && !command_given(command, "calibrate")) {
        error_set(error, "--to without --calibrate");
        return error_expected(error, "--calibrate N, how many points of each server are given");
    }
    if (command_given(command, "peers") && !peers_open(&check))
        return false;
    if (command_given(command, "calibrate"))
        check_calibrate(&check, command_count(command, "calibrate"));
    for (size_t i = 0; i < check.points.count && !command_given(command, "calibrate"); i++)
        check_point(&check, i);
    scores_sort(&check.metrics);
    scores_sort(&check.groups);
    check_scores(&check);
    check_counts(&check);
    check_assumed(&check, rest);
    if (check.peers)
        check_peers(&check);
    if (!(command_given(command, "explain") ? check_explain(&check, worst, &answer->csv)
                                            : tell_values(&check, worst, &answer->csv)))
        return false;
    answer->status = !check.all.count;
    section_document(check.section, answer->doc);
    template_print(template_built_in(arena, "lab/check/check.template"), check.section, &answer->text);
    answer->section = check.section;
    if (command_reports(command))
        note_files(&check);
    if (!command_draws(command))
        return true;
    answer->picture = scatter_picture(arena, check.outcomes, check.outcome_count);
    if (answer->picture || !command_given(command, "plot"))
        return true;
    error_set(error, "--plot: no value was scored");
    return error_suggest(error, "without --plot, `check` says why");
}

static const char *const groupings[] = { [BY_MODEL] = "model", [BY_HARDWARE] = "hardware",
                                         [BY_SOURCE] = "source", [BY_CLUSTER] = "cluster", NULL };
static const struct option check_list[] = {
    { "measured", "FILE", OPTION_FILE, .many = true, .otherwise = "data/measured.csv, built in",
      .help = "measurements to score, as FILE without the option" },
    { "by", "WHAT", OPTION_CHOICE, .choices = groupings, .fallback = "model",
      .help = "group by model, hardware, source or cluster" },
    { "stated", NULL, OPTION_SWITCH, .help = "leave out rows with an inferred input" },
    { "calibrate", "N", OPTION_COUNT, .low = 0, .high = 100,
      .help = "calibrate each series to N of its points, score the others" },
    { "to", "WHAT", OPTION_CHOICE, .choices = check_to, .otherwise = "other loads of the same server",
      .help = "with --calibrate, score other servers of its source instead" },
    { "worst", "N", OPTION_COUNT, .low = 1, .high = 10000,
      .help = "also list the N worst predictions, with file and line" },
    { "explain", NULL, OPTION_SWITCH,
      .help = "also tell what each row reveals; with --worst, of N rows" },
    { "peers", NULL, OPTION_SWITCH,
      .help = "also score formulas of others, over the same values" },
    { "rank", NULL, OPTION_SWITCH,
      .help = "also score the layout that the prediction ranks first" },
    { 0 } };
static const struct option_group check_options = { "Measurements", check_list };
/* What a benchmark's file leaves out. */
static const struct option said_list[] = {
    { "precision", "FORMAT", OPTION_TEXT, .otherwise = "the checkpoint's",
      .help = "format of the weights: bf16, fp8, fp4, int4, ..." },
    { "concurrency", "N", OPTION_ROW, .row = NAME_concurrency,
      .help = "requests in flight in one replica" },
    { 0 } };
static const struct option_group said_options = { "Model and machine", said_list };

const struct verb verb_check = {
    "check", "[FILE...]", "Score the predictions against measurements.",
    { "chalkline check --by hardware", "chalkline check points.csv --worst 10" },
    { &check_options, &calibration_options, &model_options, &machine_options, &said_options, &cache_options,
      &engine_options, &chip_options, &layout_options, &rank_options, &length_options, &assume_options,
      &row_options, &table_options, &plot_options, &report_options, &output_options },
    .words_are = "measured", ANSWERS(answer_check), .ask = ask_check, .own_on = true };
