/* A scenario whose server was measured (calibrated.h). The rows of a calibration's file are checked one by one;
 * the posterior is built again from them, so that no engine runs where a calibration is only used. */
#include "scenario/calibrated.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUES_MOST = 400 };             /* given values of a file */

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

const char *const calibrated_factors[POSTERIOR_FACTORS] = {
    NAME_fixed_factor, NAME_sequence_factor, NAME_work_factor, NAME_prefill_factor, NAME_ttft_base_factor,
    NAME_ttft_work_factor };
const struct calibrated_field calibrated_fields[POSTERIOR_FIELDS] = {
    { NAME_tpot_factor, NAME_tpot_residual, NAME_tpot_found, NAME_given_tpot_weight },
    { NAME_ttft_factor, NAME_ttft_residual, NAME_ttft_found, NAME_given_ttft_weight } };
const char *const calibrated_axes[POSTERIOR_AXES] = { NAME_load_running, NAME_prompt_tokens, NAME_output_tokens };
const struct calibrated_size calibrated_sizes[CALIBRATED_SIZES] = {
    { NAME_tensor_parallel, NAME_given_tp }, { NAME_attention_dp, NAME_given_dp },
    { NAME_pipeline_parallel, NAME_given_pp }, { NAME_expert_parallel, NAME_given_ep } };
static const char *const given_axes[POSTERIOR_AXES] = { NAME_given_concurrency, NAME_given_prompt_tokens,
                                                        NAME_given_output_tokens };
static const char *const kinds[POSTERIOR_FIELDS] = { "tpot", "ttft" };

double calibrated_number(const char *name, const char *fact)
{
    struct sheet sheet;
    sheet_open("data/calibration.csv", &sheet);
    return sheet_number(&sheet, name, fact);
}

void calibrated_prior(struct posterior_prior *prior)
{
    static const char spread[] = "spread";
    *prior = (struct posterior_prior){ .length = calibrated_number("field", "length"),
                                       .freedom = calibrated_number("scale", "freedom"),
                                       .field = { calibrated_number("tpot_field", spread),
                                                  calibrated_number("ttft_field", spread) },
                                       .noise = { calibrated_number("tpot_noise", spread),
                                                  calibrated_number("ttft_noise", spread) } };
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const double sd = calibrated_number(calibrated_factors[k], spread);
        prior->covariance[k][k] = sd * sd;
    }
}

const char *calibrated_constants(struct arena *arena)
{
    const struct catalog *catalog = catalog_built_in();
    uint64_t sum = HASH_START;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_ENGINE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_ENGINE, i);
        for (size_t r = 0; r < entry->rows; r++) {
            const struct catalog_row row = catalog_row(entry, r);
            const char *const texts[] = { entry->name, row.fact, row.value, row.unit };
            for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
                sum = hash_mix(hash_text(sum, texts[t]), 0);
        }
    }
    return arena_print(arena, "%016llx", (unsigned long long)sum);
}

/* ---- the file ------------------------------------------------------------------------------------- */

struct calibrated_reader {
    struct arena *arena;
    const struct csv *csv;
    size_t row;
    struct calibrated *calibrated;
    struct error *error;
    size_t room;
};

static bool wrong(const struct calibrated_reader *reader, const char *expected)
{
    error_set(reader->error, "%s:%d: '%.60s' has the value '%.100s'", reader->csv->file,
              reader->csv->lines[reader->row], csv_cell(reader->csv, reader->row, csv_column(reader->csv, "fact")),
              csv_cell(reader->csv, reader->row, csv_column(reader->csv, "value")));
    return error_expected(reader->error, "%s, as `chalkline calibrate` writes it", expected);
}

static bool read_number(const struct calibrated_reader *reader, const char *value, double low, double high, double *number)
{
    double read;
    if (!text_number(text_of(value), &read) || !(read >= low) || !(read <= high))
        return wrong(reader, "a number");
    *number = read;
    return true;
}

static int factor_named(const char *name, size_t size)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        if (strlen(calibrated_factors[k]) == size && !strncmp(calibrated_factors[k], name, size))
            return k;
    return -1;
}

/* "covariance A B". */
static bool read_covariance(const struct calibrated_reader *reader, const char *names, const char *value)
{
    const size_t first = strcspn(names, " ");
    const int k = factor_named(names, first);
    const int l = names[first] ? factor_named(names + first + 1, strlen(names + first + 1)) : -1;
    double number = 0;
    if (k < 0 || l < 0)
        return wrong(reader, "the covariance of two factors");
    if (!read_number(reader, value, -1e6, 1e6, &number))
        return false;
    reader->calibrated->covariance[k][l] = reader->calibrated->covariance[l][k] = number;
    return true;
}

/* A value that was given: its kind, the logarithms of its load and of what was seen and expected, its slopes
 * by the factors and the fields, and its weight. */
static bool read_value(struct calibrated_reader *reader, const char *text)
{
    enum { NUMBERS = 1 + POSTERIOR_AXES + 2 + POSTERIOR_FACTORS + POSTERIOR_FIELDS + 1 };
    struct calibrated *calibrated = reader->calibrated;
    struct posterior_value value = { 0 };
    double numbers[NUMBERS];
    const char *at = text;
    for (int i = 0; i < NUMBERS; i++) {
        const size_t size = strcspn(at, " ");
        if (!text_number((struct text){ at, size }, &numbers[i]) || fabs(numbers[i]) > 1e6)
            return wrong(reader, "the numbers of a given value");
        at += size + strspn(at + size, " ");
    }
    if (*at || (numbers[0] != 0 && numbers[0] != 1))
        return wrong(reader, "the numbers of a given value");
    value.kind = (int)numbers[0];
    memcpy(value.at, numbers + 1, sizeof value.at);
    value.seen = numbers[1 + POSTERIOR_AXES];
    value.expected = numbers[2 + POSTERIOR_AXES];
    memcpy(value.slope, numbers + 3 + POSTERIOR_AXES, sizeof value.slope);
    memcpy(value.reach, numbers + 3 + POSTERIOR_AXES + POSTERIOR_FACTORS, sizeof value.reach);
    if (calibrated->count == VALUES_MOST)
        return wrong(reader, "a given value beyond the 400th");
    calibrated->weight[calibrated->count] = numbers[NUMBERS - 1];
    *(struct posterior_value *)arena_push(reader->arena, &calibrated->values, &calibrated->count, &reader->room,
                                          sizeof value) = value;
    return true;
}

static bool starts(const char *text, const char *word, const char **rest)
{
    *rest = text + strlen(word);
    return starts_with(text, word);
}

static bool read_fact(struct calibrated_reader *reader, const char *fact, const char *value)
{
    struct calibrated *calibrated = reader->calibrated;
    struct calibrated_server *server = &calibrated->server;
    const struct { const char *name, **text; } texts[] = {
        { "title", &calibrated->title }, { "model", &server->model }, { "machine", &server->machine },
        { "engine", &server->engine }, { "engine_version", &server->version }, { "precision", &server->precision },
        { "kv_precision", &server->kv }, { "fitted_with", &calibrated->constants } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(fact, texts[i].name)) {
            *texts[i].text = value;
            return true;
        }
    for (int i = 0; i < CALIBRATED_SIZES; i++)
        if (!strcmp(fact, calibrated_sizes[i].row))
            return read_number(reader, value, 1, 1e6, &server->size[i]);
    const int k = factor_named(fact, strlen(fact));
    const char *rest;
    double number = 0;
    if (k >= 0 && read_number(reader, value, 1e-4, 1e4, &number)) {
        calibrated->x[k] = scalar_log(number);
        return true;
    } else if (k >= 0) {
        return false;
    }
    if (!strcmp(fact, "facts"))
        return read_number(reader, value, 1, 1e6, &calibrated->facts);
    if (!strcmp(fact, NAME_chunked_prefill_size))
        return read_number(reader, value, 1, 1e9, &server->chunk);
    if (!strcmp(fact, NAME_weight_bytes))
        return read_number(reader, value, 1e-3, 1e3, &server->weight_bytes);
    if (starts(fact, "covariance ", &rest))
        return read_covariance(reader, rest, value);
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        if ((starts(fact, "scale ", &rest) || starts(fact, "freedom ", &rest)) && !strcmp(rest, kinds[m]))
            return read_number(reader, value, 1e-9, 1e9,
                               *fact == 's' ? &calibrated->scale[m] : &calibrated->freedom[m]);
    if (starts(fact, "value ", &rest))
        return read_value(reader, value);
    if (starts(fact, "point ", &rest)) {
        calibrated->points++;
        return true;
    }
    if (starts(fact, "set aside ", &rest))
        return true;
    error_set(reader->error, "%s:%d: unknown fact '%.60s'", reader->csv->file, reader->csv->lines[reader->row], fact);
    return error_expected(reader->error, "a file that `chalkline calibrate` wrote");
}

bool calibrated_told(struct text text)
{
    static const char columns[] = "name,fact,value,";
    text = text_without_mark(text);
    return text.size >= strlen(columns) && !memcmp(text.data, columns, strlen(columns));
}

/* Is it a covariance? What rounding takes off is put back before the root. */
static bool check_covariance(const struct calibrated *calibrated, struct error *error)
{
    enum { N = POSTERIOR_FACTORS };
    const double rounding = 1e-9;
    double matrix[N * N];
    for (int k = 0; k < N; k++)
        for (int l = 0; l < N; l++)
            matrix[k * N + l] = calibrated->covariance[k][l] + (k == l ? rounding : 0);
    if (cholesky(matrix, N))
        return true;
    error_set(error, "%s: no factors have these covariances: a variance would be negative", calibrated->file);
    return error_expected(error, "a file that `chalkline calibrate` wrote, unchanged");
}

/* A calibration by other constants is relative to another prediction: all that is left unknown is wider. */
static void widen(struct arena *arena, struct calibrated *calibrated)
{
    calibrated->stale = calibrated->constants && strcmp(calibrated->constants, calibrated_constants(arena));
    if (!calibrated->stale)
        return;
    const double factor = calibrated_number("other_constants", "factor");
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        for (int l = 0; l < POSTERIOR_FACTORS; l++)
            calibrated->covariance[k][l] *= factor;
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        calibrated->scale[m] *= factor;
}

/* The posterior of the file's values with the file's weights: what the values said stays what it was, even
 * if the prior of a later version is another. */
static bool make_posterior(struct arena *arena, struct calibrated *calibrated, struct error *error)
{
    if (!posterior_solve(arena, &calibrated->prior, calibrated->values, calibrated->count, calibrated->x, NULL,
                         &calibrated->posterior)) {
        error_set(error, "%s: the slopes of its values have no covariance", calibrated->file);
        return error_expected(error, "a file that `chalkline calibrate` wrote");
    }
    calibrated->posterior.weight = calibrated->weight;
    return true;
}

bool calibrated_parse(struct arena *arena, const char *path, struct text text, struct calibrated *calibrated,
                      struct error *error)
{
    struct csv *csv = arena_alloc(arena, sizeof *csv);
    struct calibrated_reader reader = { .arena = arena, .csv = csv, .calibrated = calibrated, .error = error };
    *calibrated = (struct calibrated){ .file = path, .title = path, .scale = { 1, 1 }, .facts = NAN, .server = {
        .weight_bytes = NAN, .chunk = NAN, .size = { 1, 1, 1, 1 } } };
    calibrated->weight = arena_array(arena, VALUES_MOST, sizeof *calibrated->weight);
    calibrated_prior(&calibrated->prior);
    calibrated->freedom[0] = calibrated->freedom[1] = calibrated->prior.freedom;
    memcpy(calibrated->covariance, calibrated->prior.covariance, sizeof calibrated->covariance);
    if (!csv_read(arena, path, text, csv, error))
        return false;
    const int fact = csv_column(csv, "fact"), value = csv_column(csv, "value");
    if (fact < 0 || value < 0 || !csv->rows) {
        error_set(error, "%s: no facts of a calibration", path);
        return error_expected(error, "a file that `chalkline calibrate ... -o FILE` wrote");
    }
    for (reader.row = 0; reader.row < csv->rows; reader.row++)
        if (!read_fact(&reader, csv_cell(csv, reader.row, fact), csv_cell(csv, reader.row, value)))
            return false;
    if (!isnan(calibrated->facts) && calibrated->facts + 1 != (double)csv->rows) {
        error_set(error, "%s: %zu of its %.0f facts: the file was cut or changed", path, csv->rows - 1, calibrated->facts);
        return error_expected(error, "the whole file, as `chalkline calibrate ... -o FILE` wrote it");
    }
    if (!or_null(calibrated->server.model) || !or_null(calibrated->server.machine)) {
        error_set(error, "%s: states no model or no machine", path);
        return error_expected(error, "a file that `chalkline calibrate ... -o FILE` wrote");
    }
    if (!check_covariance(calibrated, error))
        return false;
    widen(arena, calibrated);
    if (!make_posterior(arena, calibrated, error))
        return false;
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        calibrated->half_width[m] = student_half_width(calibrated->freedom[m]);
    calibrated->carried_half_width = student_half_width(calibrated->prior.freedom);
    return true;
}

enum { FILE_LIMIT = 64 << 20 };

/* A benchmark's file becomes a calibration as the verb `calibrate` makes it, from a shelf of its own. What the file does not
 * say of its server is that of the question, which says nothing of it where it names several machines or models. */
static bool read_benchmark(struct scenario *scenario, const char *path, struct text text, struct calibrated *calibrated,
                           struct error *error)
{
    const struct verb *verb = scenario->command->verbs ? verb_named(scenario->command->verbs, "calibrate") : NULL;
    const struct subject *subject = &scenario->subject;
    const struct { const char *option, *text; } words[] = {
        { "model", subject->model }, { "on", subject->machine }, { "precision", subject->precision },
        { "kv-precision", subject->kv_precision }, { "engine", subject->engine }, { "output", "calibration.csv" } };
    static const char *const layout[] = { "gpus", "tp", "pp", "dp", "ep", "cp" };
    const struct shelf_file file = { path, text };
    const struct shelf shelf = { &file, 1 };
    const char *on = command_text(scenario->command, "on"), *model = command_text(scenario->command, "model");
    const bool several = scenario->command->one_of_several || (on && strchr(on, ',')) || (model && strchr(model, ','));
    if (!verb)
        return calibrated_parse(scenario->arena, path, text, calibrated, error);
    struct arena arena = arena_beside(scenario->arena);
    struct command command = { .verb = verb, .verbs = scenario->command->verbs };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text = { .arena = &arena } };
    arena.shelf = &shelf;
    command_put_word(&arena, &command, path);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].text && (i >= 2 || !several))
            command_set(&arena, &command, words[i].option, words[i].text);
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        if (command_text(scenario->command, layout[i]) && verb_option(verb, layout[i]))
            command_set(&arena, &command, layout[i], command_text(scenario->command, layout[i]));
    const struct doc *written = verb->ask(&arena, &command, &answer, error) ? doc_get(answer.doc, "file") : NULL;
    const char *copy = written && written->string ? arena_copy(scenario->arena, written->string, strlen(written->string)) : NULL;
    arena_free(&arena);
    if (copy)
        return calibrated_parse(scenario->arena, path, text_of(copy), calibrated, error);
    const char *why = arena_copy(scenario->arena, error->what, strlen(error->what));
    error_set(error, "--calibration: %s", why);
    return error_expected(error, "a file that `chalkline calibrate -o` wrote, or a benchmark's file that says its model%s",
                          several ? " and its machine, where the question names several" : "");
}

/* ---- which server this is ----------------------------------------------------------------------- */

static bool same_entry(const struct catalog *catalog, enum catalog_kind kind, const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    const struct catalog_entry *one = catalog_find(catalog, kind, a, NULL);
    const struct catalog_entry *other = catalog_find(catalog, kind, b, NULL);
    if (one && other)                               /* a file is read again: another entry of the same name */
        return one == other || !strcmp(one->name, other->name);
    return !one && !other && !strcmp(a, b);
}

static bool same_formats(const struct scenario *scenario, const struct calibrated_server *server)
{
    const struct fact *weights = facts_find(&scenario->facts, NAME_weight_bytes);
    const char *kv = scenario->subject.kv_precision;
    const bool weights_same = !weights || isnan(server->weight_bytes) ||
                              fabs(weights->value - server->weight_bytes) < 0.02 * server->weight_bytes;
    return weights_same && (!kv || !server->kv || name_same(kv, server->kv));
}

static void carry(double *rho, const char *name)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        rho[k] *= calibrated_number(name, calibrated_factors[k]);
}

void calibrated_correlation(const struct calibrated_difference *difference, double rho[POSTERIOR_FACTORS])
{
    const bool model = difference->model, machine = difference->machine, layout = difference->layout;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        rho[k] = 1;
    if (model)
        carry(rho, machine ? "carry_model_machine" : "carry_model");
    else if (machine)
        carry(rho, layout ? "carry_machine_layout" : "carry_machine");
    if (difference->version)
        carry(rho, layout && !model && !machine ? "carry_version_layout" : "carry_version");
    if (difference->engine)
        carry(rho, "carry_engine");
    if (difference->precision)
        carry(rho, "carry_precision");
    if (layout && !model && !machine && !difference->version && !difference->engine && !difference->precision)
        carry(rho, "carry_layout");
}

static void relate(struct scenario *scenario, struct calibrated *calibrated)
{
    const struct calibrated_server *server = &calibrated->server;
    const struct subject *subject = &scenario->subject;
    const struct catalog *catalog = &scenario->catalog;
    struct calibrated_difference difference = {
        .model = !same_entry(catalog, CATALOG_MODEL, subject->model, or_null(server->model)),
        .machine = !same_entry(catalog, CATALOG_MACHINE, subject->machine, or_null(server->machine)),
        .engine = strcmp(catalog_engine_base(catalog, subject->engine),
                         catalog_engine_base(catalog, or_null(server->engine))) != 0 };
    difference.precision = !difference.model && !same_formats(scenario, server);
    difference.version = !difference.engine && subject->version && or_null(server->version) &&
                         strcmp(subject->version, server->version) != 0;
    struct buffer words = { .arena = scenario->arena };
    const struct { bool differs; const char *what; } differences[] = {
        { difference.model, "model" }, { difference.machine, "machine" }, { difference.engine, "engine" },
        { difference.precision, "precision" }, { difference.version, "version" } };
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (differences[i].differs)
            buffer_print(&words, "%s%s", words.size ? " and " : "another ", differences[i].what);
    calibrated->relation = words.data;
    calibrated_correlation(&difference, calibrated->own);
    difference.layout = true;
    calibrated_correlation(&difference, calibrated->carried);
}

/* ---- facts ---------------------------------------------------------------------------------------- */

static void set_factors(struct scenario *scenario, const struct calibrated *calibrated)
{
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const double own = scalar_exp(calibrated->own[k] * calibrated->x[k]);
        const double carried = scalar_exp(calibrated->carried[k] * calibrated->x[k]);
        const struct fact *set = facts_find(&scenario->facts, calibrated_factors[k]);
        if (set && set->origin == ORIGIN_GIVEN)
            continue;
        if (own == carried)
            facts_set(&scenario->facts, calibrated_factors[k], own, ORIGIN_FITTED, calibrated->file);
        else
            facts_bind(&scenario->facts, calibrated_factors[k],
                       arena_print(scenario->arena, "select(%s > 0, %.17g, %.17g)", NAME_given_layout, own, carried),
                       ORIGIN_FITTED, calibrated->file);
    }
    for (int i = 0; i < CALIBRATED_SIZES; i++)
        facts_set(&scenario->facts, calibrated_sizes[i].given, calibrated->server.size[i], ORIGIN_FITTED,
                  calibrated->file);
}

/* The loads that were measured, with what each says of the field. */
static void set_field(struct scenario *scenario, const struct calibrated *calibrated)
{
    struct facts *facts = &scenario->facts;
    struct fact_table *table = facts_table(facts, "given_load");
    for (size_t i = 0; i < calibrated->count; i++) {
        const size_t entry = facts_entry(facts, table, arena_print(scenario->arena, "value_%zu", i + 1));
        for (int axis = 0; axis < POSTERIOR_AXES; axis++)
            facts_cell(facts, table, entry, given_axes[axis], scalar_exp(calibrated->values[i].at[axis]),
                       ORIGIN_FITTED, calibrated->file);
        for (int m = 0; m < POSTERIOR_FIELDS; m++)
            facts_cell(facts, table, entry, calibrated_fields[m].weight,
                       posterior_weight(&calibrated->posterior, i, m), ORIGIN_FITTED, calibrated->file);
    }
    facts_set(facts, NAME_load_generator, 1, ORIGIN_FITTED, calibrated->file);      /* its points are a client's */
    facts_set(facts, NAME_field_length, calibrated->prior.length, ORIGIN_FITTED, "data/calibration.csv");
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        facts_bind(facts, calibrated_fields[m].residual, calibrated_fields[m].found, ORIGIN_FITTED,
                   calibrated->file);
}

void calibrated_use(struct scenario *scenario, struct calibrated *calibrated)
{
    relate(scenario, calibrated);
    set_factors(scenario, calibrated);
    if (!calibrated->relation && calibrated->count)
        set_field(scenario, calibrated);
    scenario->calibrated = calibrated;
}

bool calibrated_apply(struct scenario *scenario, const char *path, struct error *error)
{
    struct calibrated *calibrated = arena_alloc(scenario->arena, sizeof *calibrated);
    struct text text;
    if (!file_read(scenario->arena, path, FILE_LIMIT, &text, error) ||
        !(calibrated_told(text) ? calibrated_parse(scenario->arena, path, text, calibrated, error)
                                : read_benchmark(scenario, path, text, calibrated, error)))
        return false;
    if (!scenario->model || !scenario->machine)
        return true;                            /* nothing is predicted */
    calibrated_use(scenario, calibrated);
    return true;
}

/* Is the row not given, or given this value? */
static bool may_be(const struct scenario *scenario, const char *row, double value)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return !fact_given(fact) || (!fact->expression && fact->value == value);
}

void calibrated_layout(struct scenario *scenario)
{
    const struct calibrated *calibrated = scenario->calibrated;
    if (!calibrated || calibrated->relation)
        return;
    const struct calibrated_server *server = &calibrated->server;
    const double chips = server->size[0] * server->size[1] * server->size[2];
    bool alike = may_be(scenario, NAME_chips, chips);
    for (int i = 0; i < CALIBRATED_SIZES; i++)
        alike &= may_be(scenario, calibrated_sizes[i].row, server->size[i]);
    if (!alike)
        return;
    facts_set(&scenario->facts, NAME_chips, chips, ORIGIN_GIVEN, calibrated->file);
    for (int i = 1; i < CALIBRATED_SIZES; i++)
        facts_set(&scenario->facts, calibrated_sizes[i].row, server->size[i], ORIGIN_GIVEN, calibrated->file);
    if (!isnan(server->chunk) && !fact_given(facts_find(&scenario->facts, NAME_chunked_prefill_size)))
        facts_set(&scenario->facts, NAME_chunked_prefill_size, server->chunk, ORIGIN_GIVEN, calibrated->file);
}

/* Is more than one layout asked for, as by a search? */
static bool varies(const struct scenario *scenario)
{
    const char *const rows[] = { NAME_chips, NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel,
                                 NAME_expert_parallel };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fact *fact = facts_find(&scenario->facts, rows[i]);
        if (fact && fact->origin == ORIGIN_AXIS)
            return true;
    }
    return scenario->layouts;
}

void calibrated_note(struct scenario *scenario)
{
    const struct calibrated *calibrated = scenario->calibrated;
    double same = 1;
    struct error ignored;
    if (!calibrated)
        return;
    const struct calibrated_server *server = &calibrated->server;
    const char *of = arena_print(scenario->arena, "%s (%zu point%s of %s on %s, TP %.15g)", calibrated->file,
                                 calibrated->points, calibrated->points == 1 ? "" : "s", server->model,
                                 server->machine, server->size[0]);
    const bool open = varies(scenario);
    value_of(scenario, NAME_given_layout, &same, &ignored);
    if (open && !calibrated->relation)          /* a search tries all layouts */
        facts_note(&scenario->facts, "calibrated by %s: the same server in that layout; the others have wider "
                   "intervals", of);
    else if (open)
        facts_note(&scenario->facts, "calibrated by %s, carried to %s: the interval is wider", of,
                   calibrated->relation);
    else if (calibrated->relation)
        facts_note(&scenario->facts, "calibrated by %s, carried to %s%s: the interval is wider", of,
                   calibrated->relation, same > 0 ? "" : " in another layout");
    else if (!(same > 0))
        facts_note(&scenario->facts, "calibrated by %s, carried to another layout: the interval is wider", of);
    else
        facts_note(&scenario->facts, "calibrated by %s: the same server", of);
    if (calibrated->stale)
        facts_note(&scenario->facts, "%s was fitted with other constants: its interval is wider; calibrate again",
                   calibrated->file);
    if (isnan(calibrated->facts))
        facts_note(&scenario->facts, "%s does not say how many facts it has, so that a cut would not show; calibrate again",
                   calibrated->file);
}

/* ---- intervals ---------------------------------------------------------------------------------- */

/* What a row cannot be below, or NULL. */
static const char *bound_of(const char *row)
{
    return !strcmp(row, NAME_predicted_tpot) ? NAME_tpot_bound
         : !strcmp(row, NAME_predicted_ttft) ? NAME_ttft_bound
         : !strcmp(row, NAME_disagg_ttft)    ? NAME_disagg_ttft_bound : NULL;
}

bool calibrated_graph_build(const struct scenario *scenario, const char *const *rows, size_t count,
                            struct calibrated_graph *graph, struct error *error)
{
    struct facts facts = facts_copy(&scenario->facts);
    const size_t fixed = count + 1 + POSTERIOR_AXES;
    const struct expr **wanted = arena_array(scenario->arena, fixed + count, sizeof *wanted);
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const struct fact *fact = facts_find(&facts, calibrated_factors[k]);
        if (fact && fact->origin == ORIGIN_FITTED)
            facts_set(&facts, calibrated_factors[k], 1, ORIGIN_FITTED, scenario->calibrated->file);
    }
    for (size_t i = 0; i < fixed + count; i++) {
        const char *bound = i < fixed ? NULL : bound_of(rows[i - fixed]);
        const char *row = i < count ? rows[i] : i == count ? NAME_given_layout
                        : i < fixed ? calibrated_axes[i - count - 1] : bound ? bound : "0";
        if (!expr_parse(&scenario->formulas, NULL, 0, text_of(row), &wanted[i], error))
            return false;
    }
    graph->rows = count;
    if (!graph_build(scenario->arena, &scenario->formulas, &facts, wanted, fixed + count, &graph->graph, error))
        return false;
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const struct fact *fact = facts_find(&facts, calibrated_factors[k]);
        graph->factor[k] = fact && fact->origin == ORIGIN_FITTED ? graph_input(&graph->graph, calibrated_factors[k])
                                                                 : -1;
    }
    for (int m = 0; m < POSTERIOR_FIELDS; m++)
        graph->anchor[m] = graph_input(&graph->graph, calibrated_fields[m].anchor);
    return true;
}
