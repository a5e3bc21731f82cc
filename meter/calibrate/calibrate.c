/* calibrate: the factors of one server, from its own measurements.
 *
 * The points of the files are those of one server; what the files do not say of it, options do. Points that
 * physics refuses are told with the reason, values that no factors explain are set aside. */
#include "meter/calibrate/calibrate.h"

#include "build/row_names.h"
#include "score/benchmark.h"

#include <math.h>
#include <string.h>

static const double interval_end = 1.2815515655446004;      /* of 80 % of a normal variable */

/* Of the first point: what options of other verbs take. */
static const char *const server_rows[] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_concurrency,
                                           NAME_prompt_tokens, NAME_output_tokens };

/* ---- points ------------------------------------------------------------------------------------- */

/* What was found is not measured again: two calibrations become one by the measurements that both were made of. */
static bool is_calibration(struct calibrate *calibrate, const char *path, struct text text)
{
    if (!calibrated_told(text))
        return false;
    error_set(calibrate->error, "%s: a calibration, not measurements", path);
    error_expected(calibrate->error, "the files of measurements, all of one server in one `chalkline calibrate`");
    return true;
}

static bool read_files(struct calibrate *calibrate)
{
    enum { LIMIT = 64 << 20 };
    const struct command *command = calibrate->command;
    struct benchmark_facts given;
    struct text text;
    struct csv csv;
    benchmark_given(command, &given);
    if (!command->word_count) {
        error_set(calibrate->error, "calibrate needs measurements of a server");
        return error_expected(calibrate->error, "the path of a file, as in `%s`", command->verb->examples[0]);
    }
    for (size_t i = 0; i < command->word_count; i++)
        if (!file_read(calibrate->arena, command->words[i], LIMIT, &text, calibrate->error) ||
            is_calibration(calibrate, command->words[i], text) ||
            !benchmark_open(calibrate->arena, command->words[i], text, &given, &csv, calibrate->error) ||
            !measured_read(calibrate->arena, &csv, &calibrate->points, calibrate->error))
            return false;
    return true;
}

/* What the command says of the server, where the file does not. */
static void complete(struct calibrate *calibrate, struct measured *point)
{
    const struct command *command = calibrate->command;
    const struct { const char *option, **word; } words[] = {
        { "model", &point->model }, { "on", &point->machine }, { "engine", &point->engine },
        { "precision", &point->precision }, { "kv-precision", &point->kv } };
    const bool nowhere = point->refused && (!*point->machine || !point->model || !*point->model);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((!*words[i].word || !**words[i].word) && command_given(command, words[i].option))
            *words[i].word = command_text(command, words[i].option);
    if (nowhere)
        point->refused = measured_missing(point);
    const struct subject subject = { .model = point->model, .machine = *point->machine ? point->machine : NULL,
                                     .precision = point->precision };
    if ((!point->engine || !*point->engine) && point->model && *point->model && subject.machine)
        point->engine = engine_usual(calibrate->arena, catalog_built_in(), &subject, &calibrate->engine_note);
}

static bool several(struct calibrate *calibrate, const struct measured *point, const char *one, const char *other)
{
    error_set(calibrate->error, "%s:%d: points of more than one server: '%.120s' and '%.120s'", point->file,
              point->line, one, other);
    return error_expected(calibrate->error, "--series TEXT, which the series of one server contains");
}

static bool is_meant(const struct calibrate *calibrate, const struct measured *point)
{
    const char *series = command_text(calibrate->command, "series");
    return !series || strstr(measured_server(calibrate->arena, point), series);
}

static bool nothing_known(struct calibrate *calibrate, const struct measured *point)
{
    if (!point) {
        error_set(calibrate->error, "%s: no measurement of such a server", calibrate->command->words[0]);
        return error_expected(calibrate->error, "points with a load, lengths, and a time or rate");
    }
    if (!point->model || !*point->model || !*point->machine) {
        const bool model = !point->model || !*point->model;
        error_set(calibrate->error, "%s:%d: the %s is not stated", point->file, point->line,
                  model ? "model" : "machine");
        return error_expected(calibrate->error, model ? "a column 'model', or --model NAME"
                                                      : "a column 'machine', or --on NAME");
    }
    return true;
}

static void refused(struct section *outliers, const struct measured *point, const char *metric, const char *reason)
{
    struct section *one = section_add(outliers, NULL, SECTION_RECORD);
    section_word(one, "file", point->file);
    section_number(one, "line", point->line, unit_one);
    if (metric)
        section_word(one, "metric", metric);
    section_word(one, "reason", reason);
}

static bool add_points(struct calibrate *calibrate, struct section *outliers)
{
    const char *server = NULL;
    const struct measured *first = NULL;
    for (size_t i = 0; i < calibrate->points.count; i++) {
        struct measured *point = &calibrate->points.points[i];
        complete(calibrate, point);
        if (!is_meant(calibrate, point))
            continue;
        first = first ? first : point;
        const char *of = measured_server(calibrate->arena, point);
        if (server && strcmp(server, of) && !point->refused)
            return several(calibrate, point, server, of);
        if (!nothing_known(calibrate, point))
            return false;
        const char *why = calibration_add(&calibrate->calibration, point);
        if (why)
            refused(outliers, point, NULL, why);
        else if (!server)
            server = of, calibrate->server = point;
    }
    if (!calibrate->server && !nothing_known(calibrate, first))
        return false;
    calibrate->measured = calibrate->calibration.count;
    if (calibrate->measured)
        return true;
    error_set(calibrate->error, "%s: none of its points can be predicted: %s", calibrate->command->words[0],
              section_find(outliers->inside[0], "reason")->word);
    return error_expected(calibrate->error, "points with a load, lengths, and a time or rate of one server");
}

/* Times without a unit are seconds: milliseconds that are read so are a thousand times too long. No server is as far
 * from its prediction; NULL: these values are not. */
static const char *far_off(const struct calibrate *calibrate, const struct calibration_point *point)
{
    const double most = calibrated_number("far_off", "most");
    for (int i = 0; i < point->measured->value_count; i++) {
        const struct measured_value *value = &point->measured->values[i];
        const double over = value->value / point->before[i];
        struct unit unit;
        if ((!(over > most) && !(over < 1 / most)) ||
            !unit_parse(text_of(metric_units[value->metric]), &unit, &(double){ 0 }, calibrate->error))
            continue;
        return arena_print(calibrate->arena, "%s of %s, where %s is predicted: times are seconds unless they have a "
                           "unit, as in 41ms", metric_names[value->metric],
                           quantity_text(calibrate->arena, value->value, unit, 4),
                           quantity_text(calibrate->arena, point->before[i], unit, 4));
    }
    return NULL;
}

static bool give_points(struct calibrate *calibrate, struct section *outliers)
{
    struct calibration *calibration = &calibrate->calibration;
    size_t given = 0;
    for (size_t p = 0; p < calibrate->measured; p++) {
        struct calibration_point *point = &calibration->points[p];
        const char *physics = calibration_give(calibration, p), *why = physics ? physics : far_off(calibrate, point);
        if (why)
            refused(outliers, point->measured, NULL, why);
        point->refused = why;
        point->given = !why;
        given += !why;
    }
    calibrate->thinned = calibration_thin(calibration);
    if (given)
        return true;
    error_set(calibrate->error, "%s: all points are refused: %s", calibrate->command->words[0],
              calibration->points[0].refused);
    return error_expected(calibrate->error, "times that the machine can reach; do model, machine, GPUs and "
                                            "precision say what was measured?");
}

/* ---- what was found ------------------------------------------------------------------------------ */

static void add_figure(struct calibrate *calibrate, struct doc *doc, const char *name, double x, double sd,
                       enum origin origin, const char *source)
{
    const struct figure figure = { .name = name, .value = scalar_exp(x), .low = scalar_exp(x - interval_end * sd),
                                   .high = scalar_exp(x + interval_end * sd), .unit = unit_one, .origin = origin,
                                   .source = source };
    figure_document(calibrate->arena, &figure, doc_add(calibrate->arena, doc, name, DOC_OBJECT));
}

/* How far the points take a factor from what it was thought to be, as a word. */
static const char *told(double x, double before, double after, double least)
{
    return after > least * before ? "not told by these points"
           : fabs(x) < after      ? "as predicted"
           : x > 0                ? "slower" : "faster";
}

static void add_rows(struct calibrate *calibrate)
{
    const struct calibration *calibration = &calibrate->calibration;
    struct arena *arena = calibrate->arena;
    const double least = calibrated_number("undetermined", "least");
    struct doc *rows = doc_add(arena, calibrate->answer->doc, "rows", DOC_OBJECT);
    struct section *lines = section_add(calibrate->section, "factors", SECTION_LIST);
    struct section *open = section_add(calibrate->section, "undetermined", SECTION_TEXTS);
    lines->text_only = true;
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const char *name = calibrated_factors[k];
        const double before = sqrt(calibration->prior.covariance[k][k]);
        const double after = sqrt(calibration->posterior.covariance[k][k]), x = calibration->x[k];
        struct doc *one = doc_add(arena, rows, name, DOC_OBJECT);
        add_figure(calibrate, one, "prior", 0, before, ORIGIN_SHEET, "data/calibration.csv");
        add_figure(calibrate, one, "posterior", x, after, ORIGIN_FITTED, calibrate->command->words[0]);
        if (after > least * before)
            section_word(open, NULL, name);
        struct section *line = section_add(lines, NULL, SECTION_RECORD);
        section_word(line, "factor", name);
        section_number(line, "value", scalar_exp(x), unit_one);
        section_number(line, "from", scalar_exp(x - interval_end * after), unit_one);
        section_number(line, "to", scalar_exp(x + interval_end * after), unit_one);
        section_number(line, "before_from", scalar_exp(-interval_end * before), unit_one);
        section_number(line, "before_to", scalar_exp(interval_end * before), unit_one);
        section_word(line, "told", told(x, before, after, least));
    }
}

static void add_predictions(struct calibrate *calibrate, struct section *outliers)
{
    const struct calibration *calibration = &calibrate->calibration;
    struct section *points = section_add(calibrate->section, "points", SECTION_LIST);
    for (size_t p = 0; p < calibrate->measured; p++) {
        const struct calibration_point *point = &calibration->points[p];
        for (int i = 0; i < point->measured->value_count; i++) {
            const struct measured_value *value = &point->measured->values[i];
            const char *slash = strrchr(point->measured->file, '/'), *metric = metric_names[value->metric];
            const double after = scalar_exp(point->values[i].expected);
            struct section *one = section_add(points, NULL, SECTION_RECORD);
            section_word(one, "file", point->measured->file);
            section_number(one, "line", point->measured->line, unit_one);
            section_word(one, "metric", metric);
            section_quantity(one, "measured", value->value, metric_units[value->metric]);
            section_quantity(one, "before", point->before[i], metric_units[value->metric]);
            section_quantity(one, "after", after, metric_units[value->metric]);
            section_word(one, "where", arena_print(calibrate->arena, "%s:%d", slash ? slash + 1 : point->measured->file,
                                                   point->measured->line))->text_only = true;
            section_number(one, "requests", scalar_exp(point->values[i].at[0]), unit_one)->text_only = true;
            section_number(one, "off_before", point->before[i] / value->value - 1, unit_one)->text_only = true;
            section_number(one, "off_after", after / value->value - 1, unit_one)->text_only = true;
            if (point->aside[i])
                refused(outliers, point->measured, metric,
                        arena_print(calibrate->arena, "set aside: %.1f standard deviations from what the other "
                                    "values say, so it or the formulas are wrong there; --keep fits it",
                                    fabs(point->outlying[i])));
            else if (point->held[i] > 0)
                refused(outliers, point->measured, metric, "the formulas follow either it or the other values: "
                        "kept at what was predicted before");
            calibrate->aside |= point->aside[i];
        }
    }
}

/* What was measured, as options and rows say it; its first point has the load. */
static void add_server(struct calibrate *calibrate)
{
    const struct measured *server = calibrate->server;
    const struct { const char *key, *word; } words[] = {
        { "model", server->model }, { "machine", server->machine }, { "engine", server->engine },
        { "engine_version", server->version }, { "precision", server->precision }, { "kv_precision", server->kv } };
    struct section *section = section_add(calibrate->section, "server", SECTION_RECORD);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].word && *words[i].word)
            section_word(section, words[i].key, words[i].word);
    for (size_t i = 0; i < sizeof server_rows / sizeof *server_rows; i++) {
        const double value = measured_input(server, server_rows[i], NAN);
        if (value > 0)
            section_number(section, server_rows[i], value, unit_one);
    }
}

/* Where no file can be written, in a page and over HTTP, the answer has its text. */
static bool put_file(struct calibrate *calibrate, const char *path)
{
    struct buffer text = { .arena = calibrate->arena };
    if (!path || !calibrate->arena->shelf) {
        section_nothing(calibrate->section, "file");
        if (path && !calibrate_write(calibrate, path))
            return false;
        if (path)
            section_word(calibrate->section, "written", path);
        else
            section_nothing(calibrate->section, "written");
        return true;
    }
    section_nothing(calibrate->section, "written");
    return calibrate_text(calibrate, path, &text) && section_word(calibrate->section, "file", text.data);
}

bool ask_calibrate(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct calibrate calibrate = { .arena = arena, .command = command, .error = error, .answer = answer,
                                   .section = section_new(arena) };
    const char *path = command_text(command, "output");
    struct section *outliers = section_new(arena);
    outliers->kind = SECTION_LIST;
    calibration_open(&calibrate.calibration, arena, command);
    calibrate.calibration.keep = command_given(command, "keep");
    calibrate.calibration.hold = true;
    if (!read_files(&calibrate) || !add_points(&calibrate, outliers) || !give_points(&calibrate, outliers))
        return false;
    if (command_given(command, "next"))
        calibrate_loads(&calibrate);
    calibration_fit(&calibrate.calibration);
    calibrate.strange = calibration_misfit(&calibrate.calibration) > calibrated_number("misfit", "most");
    add_rows(&calibrate);
    struct section *list = section_add(calibrate.section, "outliers", SECTION_LIST);
    add_predictions(&calibrate, outliers);
    for (size_t i = 0; i < outliers->inside_count; i++)
        section_share(list, outliers->inside[i]);
    section_switch(calibrate.section, "another_server", calibrate.strange);
    if (calibrate.aside)
        section_add(calibrate.section, "looks_like", SECTION_LIST);
    else
        calibrate_evidence(&calibrate);
    const char *chunk = predictor_chunk_note(arena, command, &calibrate.points);
    struct section *assumed = section_add(calibrate.section, "assumed", SECTION_TEXTS);
    if (calibrate.engine_note)
        section_word(assumed, NULL, calibrate.engine_note);
    if (chunk)
        section_word(assumed, NULL, chunk);
    if (calibrate.thinned)
        section_word(assumed, NULL, arena_print(arena, "%d of %zu points are fitted, those with loads furthest apart",
                                                CALIBRATION_MOST, CALIBRATION_MOST + calibrate.thinned));
    if (command_given(command, "next") && !calibrate.aside)
        calibrate_next(&calibrate);
    add_server(&calibrate);
    if (!put_file(&calibrate, path))
        return false;
    section_document(calibrate.section, answer->doc);
    template_print(template_built_in(arena, "meter/calibrate/calibrate.template"), calibrate.section, &answer->text);
    answer->section = calibrate.section;
    return true;
}

/* ---- keys and options ------------------------------------------------------------------------------ */

static const struct option calibrate_list[] = {
    { "output", "FILE", OPTION_FILE, .written = true, .goes_on = true, .letter = 'o', .otherwise = "nothing is written",
      .help = "the calibration, as --calibration takes it" },
    { "series", "TEXT", OPTION_TEXT, .otherwise = "all points are of one server",
      .help = "only points of a series whose name contains this" },
    { "next", NULL, OPTION_SWITCH, .help = "also name the load most worth measuring" },
    { "keep", NULL, OPTION_SWITCH, .help = "fit values that no factors explain, too" },
    { 0 } };
static const struct option_group calibrate_options = { "Calibration", calibrate_list };
static const struct instead instead[] = {
    { "measured", "calibrate takes its files without an option: `chalkline calibrate FILE`" }, { NULL, NULL } };

static const struct record posterior_record = { "CalibratedRow", (const struct answer_field[]){
    { FIELD_NUMBER, "prior", .help = "the row's figure before the fit, with its 80 % interval", .unit = "" },
    { FIELD_NUMBER, "posterior", .help = "the row's figure after the fit to the points", .unit = "" },
    { 0 } } };
static const struct record rows_record = { "CalibratedRows", (const struct answer_field[]){
    { FIELD_OTHERS, .help = "a factor", .record = &posterior_record },
    { 0 } } };
static const struct record factor_record = { "FactorLine", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .count = 7, .names = (const char *const[]){
          "factor", "value", "from", "to", "before_from", "before_to", "told" } },
    { 0 } } };
static const struct record point_record = { "CalibratedPoint", (const struct answer_field[]){
    { FIELD_TEXT, "file", .help = "of measurements", .always = true },
    { FIELD_NUMBER, "line", .help = "of the file", .always = true },
    { FIELD_TEXT, "metric", .help = "what was measured", .always = true },
    { FIELD_NUMBER, "measured", .help = "its value", .unit = "", .always = true },
    { FIELD_NUMBER, "before", .help = "predicted without the calibration", .unit = "", .always = true },
    { FIELD_NUMBER, "after", .help = "predicted with it", .unit = "", .always = true },
    { FIELD_TEXT_ONLY, .count = 4, .names = (const char *const[]){ "where", "requests", "off_before", "off_after" } },
    { 0 } } };
static const struct record outlier_record = { "CalibrationOutlier", (const struct answer_field[]){
    { FIELD_TEXT, "file", .help = "of measurements", .always = true },
    { FIELD_NUMBER, "line", .help = "of the file", .always = true },
    { FIELD_TEXT, "metric", .help = "the value that is set aside; absent: the whole point is refused" },
    { FIELD_TEXT, "reason", .help = "why it is not fitted", .always = true },
    { 0 } } };
static const struct record next_record = { "CalibrationNext", (const struct answer_field[]){
    { FIELD_ROWS, .names = (const char *const[]){ NAME_concurrency, NAME_prompt_tokens, NAME_output_tokens },
      .count = 3, .always = true },
    { FIELD_NUMBER, "gain", .help = "share by which intervals shrink, expected", .always = true },
    { FIELD_TEXT, "command", .help = "that measures it", .always = true },
    { 0 } } };
static const struct record server_record = { "CalibratedServer", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "model", "machine", "engine", "engine_version", "precision",
                                                  "kv_precision" }, .count = 6, .help = "as it was stated" },
    { FIELD_ROWS, .names = server_rows, .count = sizeof server_rows / sizeof *server_rows },
    { 0 } } };
static const struct record looks_record = { "CalibrationLooksLike", (const struct answer_field[]){
    { FIELD_TEXT, "what", .help = "how it differs from what was stated", .always = true },
    { FIELD_NUMBER, "log_odds", .help = "natural logarithm of how much more probable", .always = true },
    { 0 } } };
static const struct record answer_calibrate = { "Calibrate", (const struct answer_field[]){
    { FIELD_RECORD, "rows", .help = "the factors", .record = &rows_record, .always = true },
    { FIELD_LIST, "points", .help = "values that were given", .record = &point_record, .always = true },
    { FIELD_LIST, "outliers", .help = "points and values that were not fitted", .record = &outlier_record,
      .always = true },
    { FIELD_TEXTS, "undetermined", .help = "factors that these points do not tell", .always = true },
    { FIELD_LIST, "looks_like", .help = "servers that make these values much more probable than the stated one does",
      .record = &looks_record, .always = true },
    { FIELD_TEXTS, "assumed", .help = "behind the predictions", .always = true },
    { FIELD_NUMBER, "another_server", .help = "1: no factors explain these values; what was stated of the server "
      "is wrong", .always = true },
    { FIELD_RECORD, "next", .help = "--next: the load most worth measuring", .record = &next_record },
    { FIELD_RECORD, "server", .help = "what was measured", .record = &server_record, .always = true },
    { FIELD_TEXT, "written", .help = "the file, or null", .always = true, .null = true },
    { FIELD_TEXT, "file", .help = "--output where no file can be written: its text, for a later question's files",
      .always = true, .null = true },
    { FIELD_TEXT_ONLY, "factors", .record = &factor_record },
    { 0 } } };

const struct verb verb_calibrate = {
    "calibrate", "FILE...", "Fit the prediction to one server by some of its own measurements.",
    { "chalkline calibrate runs.csv -o my-server.csv",
      "chalkline calibrate runs.csv --model qwen3-32b --on h100-sxm --engine vllm --gpus 2 --next" },
    { &calibrate_options, &model_options, &machine_options, &chip_options, &layout_options, &rank_options,
      &weight_options, &cache_options, &engine_options, &assume_options, &row_options, &output_options },
    .instead = instead, ANSWERS(answer_calibrate), .ask = ask_calibrate, .own_on = true };
