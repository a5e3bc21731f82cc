/* The least-squares fit of efficiency constants to measurements, shared by the programs of this
 * folder.
 *
 * A residual is ln(predicted / measured), with soft-L1 loss so that outliers have bounded
 * influence; the minimizer is Levenberg-Marquardt (MINPACK's lmder) on the logarithms of the
 * constants, with exact derivatives from the graphs. A constant at a bound stays there and has no
 * derivative. Reported errors come from fits that leave out alike rows (one model, one family) in
 * turn, so that no row is scored by constants that have seen it. */
#include "lab/fit/fit.h"

#include "command/options.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of this process; its question is a hash of its words. Until the first fit all ranks do the same. */
static struct ranks ranks;
static uint64_t question = HASH_START;
static bool begun;

/* All ranks have this error. */
static void end_all(const char *what)
{
    if (!ranks.rank)
        fprintf(stderr, "fit: %s\n", what);
    ranks_close(&ranks);
    exit(1);
}

void fit_give_up(const char *what)
{
    struct error error;
    if (ranks_alone(&ranks))
        end_all(what);
    error_set(&error, "%s", what);
    if (!begun && !ranks_agree(&ranks, false, &error))
        end_all(error.what);
    fprintf(stderr, "fit: rank %d of %d: %s\n", ranks.rank, ranks.count, what);
    ranks_abort(&ranks, 1);
    exit(1);
}

/* Have all ranks read the same rows? */
static void begin_all(struct fit *fit)
{
    struct error error = { .what = "" };
    if (begun)
        return;
    for (size_t i = 0; i < fit->count; i++)
        question = hash_numbers(question, fit->rows[i].measured, MEASURED_VALUES);
    if (!ranks_agree(&ranks, true, &error) || !ranks_same(&ranks, &fit->arena, question, &error))
        end_all(error.what);
    begun = true;
}

/* ---- residuals --------------------------------------------------------------------------- */

/* Inside its bounds a constant is e^x; beyond, it stays at the bound. */
static double bounded(const struct fit *fit, int k, double x)
{
    const struct constant *constant = &fit->constants[k];
    return fmin(fmax(exp(x), constant->low), constant->high);
}

static bool inside(const struct fit *fit, int k, double x)
{
    const struct constant *constant = &fit->constants[k];
    return exp(x) > constant->low && exp(x) < constant->high;
}

double fit_constant(const struct fit *fit, int k)
{
    return bounded(fit, k, fit->x[k]);
}

static void row_inputs(const struct fit *fit, const struct fitted *row, const double *x,
                       double *inputs)
{
    predictor_inputs(row->setup, row->point, inputs);
    for (int k = 0; k < fit->constant_count; k++)
        if (row->input[k] >= 0)
            inputs[row->input[k]] = bounded(fit, k, x[k]) * fit->scale[k];
}

/* The loss as a residual: the square of it is 2 s^2 (sqrt(1 + (e/s)^2) - 1), soft-L1, or s^2 ln(1 + (e/s)^2), the
 * Cauchy loss, to which an outlier of any size says the less. */
static double soften(double error, const struct problem *problem, double *slope)
{
    const double soft = problem->soft, square = error * error / (soft * soft), root = sqrt(1 + square);
    const double size = soft * sqrt(problem->cauchy ? log1p(square) : 2 * (root - 1));
    *slope = size > 1e-12 ? fabs(error) / ((problem->cauchy ? 1 + square : root) * size) : 1;
    return error < 0 ? -size : size;
}

static double weight_of(const struct fit *fit, const struct fitted *row, int j)
{
    return row->left_out ? 0
                         : row->weight * fit->problem->weight_of[row->point->values[j].metric];
}

/* ln(predicted / measured); a row without a finite prediction ends the fit. */
static double error_of(const struct fitted *row, int j, double predicted)
{
    double error = log(predicted / row->measured[j]);
    if (!isfinite(error)) {
        char what[512];
        snprintf(what, sizeof what, "%s:%d: %s is %g", row->point->file, row->point->line,
                 row->point->values[j].row, predicted);
        fit_give_up(what);
    }
    return error;
}

static double residual(const struct fit *fit, const struct fitted *row, int j, double predicted)
{
    double weight = weight_of(fit, row, j), slope;
    return weight > 0 ? weight * soften(error_of(row, j, predicted), fit->problem, &slope) : 0;
}

static void residual_slopes(struct fit *fit, const struct fitted *row, int j, const double *x,
                            const double *inputs, double *jacobian, int stride)
{
    double weight = weight_of(fit, row, j), slope, gradient[INPUTS_MOST];
    if (!(weight > 0))
        return;
    double predicted = predictor_gradient(&fit->scratch, row->setup, j, inputs, gradient);
    soften(error_of(row, j, predicted), fit->problem, &slope);
    for (int k = 0; k < fit->constant_count; k++) {
        int input = row->input[k];
        if (input >= 0 && inside(fit, k, x[k]))
            jacobian[k * stride] = weight * slope * gradient[input] * inputs[input] / predicted;
    }
}

/* The residuals of a row's values, or with `slopes` their derivatives by each constant. */
static void row_residuals(struct fit *fit, const struct fitted *row, const double *x, bool slopes, double *out)
{
    double inputs[INPUTS_MOST];
    struct prediction predictions[MEASURED_VALUES] = { { 0 } };
    row_inputs(fit, row, x, inputs);
    if (!slopes && !row->left_out)
        predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
    for (int j = 0; j < row->point->value_count; j++) {
        if (slopes)
            residual_slopes(fit, row, j, x, inputs, out + j * fit->constant_count, 1);
        else
            out[j] = residual(fit, row, j, predictions[j].value);
    }
}

static int residuals(void *context, int m, int n, const double *x, double *values, double *jacobian,
                     int stride, int flag)
{
    struct fit *fit = context;
    struct arena scratch = { 0 };
    const bool slopes = flag == 2;
    const int each = slopes ? n : 1;
    const size_t width = (size_t)(MEASURED_VALUES * each);
    double *all = arena_array(&scratch, fit->count * width, sizeof *all), *to = slopes ? jacobian : values;
    int at = 0;
    if (slopes)
        memset(jacobian, 0, (size_t)stride * (size_t)n * sizeof *jacobian);
    for (size_t i = 0; i < fit->count; i++)
        if (ranks_mine(fit->ranks, i))
            row_residuals(fit, &fit->rows[i], x, slopes, all + i * width);
    ranks_share(fit->ranks, &scratch, all, fit->count, width * sizeof *all);
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++, at++)
            for (int k = 0; k < each; k++)
                to[at + k * stride] = all[i * width + (size_t)(j * each + k)];
    arena_free(&scratch);
    for (int k = 0; k < n; k++, at++) {
        if (flag == 2)
            jacobian[at + k * stride] = fit->problem->prior_weight;
        else
            values[at] = fit->problem->prior_weight * (x[k] - fit->start[k]);
    }
    return at == m ? 0 : -1;
}

/* A first step of the logarithms no longer than a tenth: they are large numbers, and the
 * default, of a hundred times their length, jumps out of all bounds. Returns why it stopped. */
static int minimise(struct fit *fit)
{
    enum { CALLS = 400 };
    int n = fit->constant_count, m = n, calls, slope_calls, pivots[CONSTANTS_MOST];
    double scales[CONSTANTS_MOST], work[4][CONSTANTS_MOST];
    for (size_t i = 0; i < fit->count; i++)
        m += fit->rows[i].point->value_count;
    double *values = calloc((size_t)m, sizeof *values);
    double *jacobian = calloc((size_t)m * (size_t)n, sizeof *jacobian);
    double *more = calloc((size_t)m, sizeof *more);
    if (!values || !jacobian || !more)
        fit_give_up("out of memory");
    if (!fit->warm)
        memcpy(fit->x, fit->start, sizeof fit->x);
    int reason = lmder(residuals, fit, m, n, fit->x, values, jacobian, m, 1e-6, 1e-6, 0, CALLS,
                       scales, 1, 0.1, 0, &calls, &slope_calls, pivots, work[0], work[1],
                       work[2], work[3], more);
    free(values);
    free(jacobian);
    free(more);
    return reason;
}

static void warn(int reason)
{
    if ((reason < 1 || reason > 3) && !ranks.rank)
        fprintf(stderr, "fit: Levenberg-Marquardt stopped with %d\n", reason);
}

void fit_minimise(struct fit *fit)
{
    begin_all(fit);
    warn(minimise(fit));
}

/* ---- many fits --------------------------------------------------------------------------- */

bool *fits_add(struct fit *fit, struct fits *fits)
{
    bool **out = arena_push(&fit->arena, &fits->out, &fits->count, &fits->room, sizeof *out);
    return *out = arena_array(&fit->arena, fit->count + 1, sizeof **out);
}

static void leave_out(struct fit *fit, const bool *out)
{
    for (size_t i = 0; i < fit->count; i++)
        fit->rows[i].left_out = out[i];
}

void fit_take(struct fit *fit, const struct fits *fits, size_t index)
{
    leave_out(fit, fits->out[index]);
    memcpy(fit->x, fits->found[index].x, sizeof fit->x);
}

void fit_each(struct fit *fit, struct fits *fits)
{
    double first[CONSTANTS_MOST];
    begin_all(fit);
    memcpy(first, fit->x, sizeof first);
    fits->found = arena_array(&fit->arena, fits->count + 1, sizeof *fits->found);
    fit->ranks = NULL;                      /* one rank does all of a fit */
    for (size_t i = 0; i < fits->count; i++) {
        if (!ranks_mine(&ranks, i))
            continue;
        leave_out(fit, fits->out[i]);
        memcpy(fit->x, first, sizeof first);
        fits->found[i].reason = minimise(fit);
        memcpy(fits->found[i].x, fit->x, sizeof fit->x);
    }
    fit->ranks = &ranks;
    ranks_share(&ranks, &fit->arena, fits->found, fits->count, sizeof *fits->found);
    for (size_t i = 0; i < fits->count; i++)
        warn(fits->found[i].reason);
}

/* ---- standard errors --------------------------------------------------------------------- */

/* Solve a x = b for every column of b [n][m], by elimination with pivots; false: singular. */
static bool solve_all(int n, int m, double *a, double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        if (!(fabs(a[pivot * n + k]) > 1e-300))
            return false;
        for (int j = 0; j < n; j++) {
            const double kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        for (int j = 0; j < m; j++) {
            const double kept = b[k * m + j];
            b[k * m + j] = b[pivot * m + j];
            b[pivot * m + j] = kept;
        }
        for (int i = 0; i < n; i++) {
            const double share = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (int j = 0; share != 0 && j < n; j++)
                a[i * n + j] -= share * a[k * n + j];
            for (int j = 0; share != 0 && j < m; j++)
                b[i * m + j] -= share * b[k * m + j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] /= a[i * n + i];
    return true;
}

static bool same_cluster(const struct fitted *a, const struct fitted *b)
{
    return !strcmp(a->point->publisher, b->point->publisher) && !strcmp(a->point->machine, b->point->machine) &&
           (a->point->model == b->point->model ||
            (a->point->model && b->point->model && !strcmp(a->point->model, b->point->model)));
}

/* Adds a row's slopes: to `bread` their products, to `sums` of its cluster slope times residual. */
static void add_slopes(struct fit *fit, const struct fitted *row, double *bread, double *sums)
{
    const int n = fit->constant_count;
    double inputs[INPUTS_MOST], slopes[CONSTANTS_MOST];
    struct prediction predictions[MEASURED_VALUES];
    row_inputs(fit, row, fit->x, inputs);
    predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
    for (int j = 0; j < row->point->value_count; j++) {
        memset(slopes, 0, sizeof slopes);
        residual_slopes(fit, row, j, fit->x, inputs, slopes, 1);
        const double left = residual(fit, row, j, predictions[j].value);
        for (int a = 0; a < n; a++) {
            sums[a] += slopes[a] * left;
            for (int b = 0; b < n; b++)
                bread[a * n + b] += slopes[a] * slopes[b];
        }
    }
}

void fit_deviations(struct fit *fit)
{
    const int n = fit->constant_count;
    const double prior = fit->problem->prior_weight * fit->problem->prior_weight;
    double *bread = arena_array(&fit->arena, (size_t)(n * n), sizeof *bread);
    double *sums = arena_array(&fit->arena, fit->count * (size_t)n, sizeof *sums);
    double *solved = arena_array(&fit->arena, fit->count * (size_t)n, sizeof *solved);
    int *cluster = arena_array(&fit->arena, fit->count, sizeof *cluster), clusters = 0;
    for (size_t i = 0; i < fit->count; i++) {
        cluster[i] = -1;
        for (size_t j = 0; j < i && cluster[i] < 0; j++)
            cluster[i] = same_cluster(&fit->rows[i], &fit->rows[j]) ? cluster[j] : -1;
        cluster[i] = cluster[i] < 0 ? clusters++ : cluster[i];
        add_slopes(fit, &fit->rows[i], bread, sums + cluster[i] * n);
    }
    for (int k = 0; k < n; k++)
        bread[k * n + k] += prior;
    for (int c = 0; c < clusters; c++)
        for (int k = 0; k < n; k++)
            solved[k * clusters + c] = sums[c * n + k];
    const bool known = solve_all(n, clusters, bread, solved);
    for (int k = 0; k < n; k++) {
        double square = 0;
        for (int c = 0; c < clusters; c++)
            square += solved[k * clusters + c] * solved[k * clusters + c];
        fit->deviation[k] = known ? sqrt(square) : NAN;
    }
}

/* ---- points ------------------------------------------------------------------------------ */

/* Only what a source states is fitted, and nothing that physics refuses. */
static void read_points(struct fit *fit, const char *path, bool added)
{
    struct measured_list *list = arena_alloc(&fit->arena, sizeof *list);
    struct error error;
    struct text text;
    struct csv csv;
    enum { LIMIT = 64 << 20 };
    if (!file_read(&fit->arena, path, LIMIT, &text, &error) ||
        !csv_read(&fit->arena, path, text, &csv, &error) ||
        !measured_read(&fit->arena, &csv, list, &error))
        fit_give_up(error.what);
    for (size_t i = 0; i < list->count; i++) {
        const struct measured *point = &list->points[i];
        if (point->refused || (point->model && point->inferred) || physics_refuse(&fit->physics, point) ||
            predictor_find(&fit->predictor, point)->refused)
            continue;
        struct fitted *row = arena_push(&fit->arena, &fit->rows, &fit->count, &fit->room, sizeof *row);
        *row = (struct fitted){ .point = point, .family = "", .weight = 1, .added = added };
    }
}

/* How early a row reads this entry: 0 if it does not; what is read later holds. */
static int turn_of(const char *entry, const struct fitted *row)
{
    for (int i = ENTRIES; entry && i-- > 0;)
        if (row->entries[i] && !strcmp(row->entries[i]->name, entry))
            return i + 1;
    return 0;
}

/* Does an entry that is read later state the row's value? */
static bool given_later(const struct fitted *row, int turn, const char *name)
{
    for (int i = turn; i < ENTRIES; i++)
        if (row->entries[i] && catalog_text(row->entries[i], name))
            return true;
    return false;
}

/* Whether a row reads constant k: that of its latest entry, the one for all if it has none. */
static bool applies(const struct fit *fit, int k, const struct fitted *row)
{
    const struct constant *constants = fit->constants;
    const int turn = turn_of(constants[k].entry, row);
    if ((constants[k].entry && !turn) || (fit->problem->given && given_later(row, turn, constants[k].name)))
        return false;
    for (int i = 0; i < fit->constant_count; i++)
        if (!strcmp(constants[i].name, constants[k].name) && turn_of(constants[i].entry, row) > turn)
            return false;
    return true;
}

/* What a row's list reads besides the constants and the point's inputs never moves. */
static void narrow(struct fit *fit, struct setup *setup, const struct measured *point)
{
    struct graph *graph = &setup->graph, left;
    double *values = arena_array(&fit->arena, graph->input_count + 1, sizeof *values);
    bool *vary = arena_array(&fit->arena, graph->input_count + 1, sizeof *vary);
    for (size_t i = 0; i < graph->input_count; i++)
        values[i] = graph->inputs[i].value;
    for (int i = 0; i < point->input_count; i++)
        if (setup->input[i] >= 0)
            vary[setup->input[i]] = true;
    for (int k = 0; k < fit->constant_count; k++) {
        int input = graph_input(graph, fit->constants[k].name);
        if (input >= 0)
            vary[input] = true;
    }
    graph_specialize(&fit->arena, graph, values, vary, &left);
    *graph = left;
    for (int i = 0; i < point->input_count; i++)
        setup->input[i] = graph_input(graph, point->inputs[i].name);
}

/* Setups move while they are added, so rows get theirs when all are there. */
static void link_setups(struct fit *fit)
{
    char *done = calloc(fit->predictor.count + 1, 1);
    for (size_t i = 0; i < fit->count; i++) {
        struct fitted *row = &fit->rows[i];
        row->setup = predictor_find(&fit->predictor, row->point);
        size_t at = (size_t)(row->setup - fit->predictor.setups);
        if (!done[at])
            narrow(fit, row->setup, row->point);
        if (row->setup->graph.input_count > INPUTS_MOST)
            fit_give_up("more inputs than there is room for");
        done[at] = 1;
        for (int k = 0; k < fit->constant_count; k++)
            row->input[k] = applies(fit, k, row)
                            ? graph_input(&row->setup->graph, fit->constants[k].name) : -1;
    }
    free(done);
}

static const struct catalog_entry *engine_entry(const struct catalog *catalog, const char *name)
{
    return name ? catalog_engine_at(catalog, name, NULL) : NULL;
}

static void find_entries(struct fit *fit)
{
    struct catalog *catalog = arena_alloc(&fit->arena, sizeof *catalog);
    struct error error;
    catalog_open(catalog, &fit->arena);
    for (size_t i = 0; i < fit->count; i++) {
        struct fitted *row = &fit->rows[i];
        const struct catalog_entry *machine =
            catalog_find(catalog, CATALOG_MACHINE, row->point->machine, &error);
        const struct catalog_entry *engine =
            engine_entry(catalog, catalog_engine_then(catalog, row->point->engine, row->point->version));
        const struct catalog_entry *of = engine_entry(catalog, engine ? catalog_text(engine, "version_of") : NULL);
        const char *family = machine ? catalog_text(machine, "family") : NULL, *name = machine ? machine->name : NULL;
        const struct catalog_entry *const read[ENTRIES] = {
            engine_entry(catalog, family), of, of ? catalog_backend(catalog, of->name, family, name) : NULL,
            engine_entry(catalog, engine ? catalog_text(engine, "generation") : NULL), engine,
            engine ? catalog_backend(catalog, engine->name, family, name) : NULL };
        row->family = family ? family : "";
        row->machine = machine;
        memcpy(row->entries, read, sizeof read);
    }
}

/* Some measurements are predicted by rows that no constant changes. */
static void find_measured(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        struct fitted *row = &fit->rows[i];
        struct prediction predictions[MEASURED_VALUES] = { { 0 } };
        double inputs[INPUTS_MOST];
        predictor_inputs(row->setup, row->point, inputs);
        predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
        for (int j = 0; j < row->point->value_count; j++)
            row->measured[j] = predictions[j].measured;
    }
}

static void find_starts(struct fit *fit)
{
    for (int k = 0; k < fit->constant_count; k++) {
        const struct constant *constant = &fit->constants[k];
        fit->start[k] = log(constant->prior);
        if (!unit_scale(constant->unit, &fit->scale[k]))
            fit_give_up(constant->unit);
    }
}

/* A constant that is held has this value alone; other rows are set as by --set. */
static void hold(struct fit *fit, struct command *command, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *name = arena_copy(&fit->arena, word, equals ? (size_t)(equals - word) : strlen(word));
    double value;
    bool found = false;
    struct error error;
    if (!equals || formulas_find(formulas_built_in(FORMULAS_ALL), name) < 0)
        fit_give_up(arena_print(&fit->arena, "--hold %s: ROW=VALUE, with the name of a row", word));
    for (int k = 0; k < fit->constant_count; k++)
        if (!strcmp(fit->constants[k].name, name)) {
            if (!text_number(text_of(equals + 1), &value))
                fit_give_up(arena_print(&fit->arena, "--hold %s: a number of %s, the unit of the constant", word,
                                        *fit->constants[k].unit ? fit->constants[k].unit : "1"));
            fit->constants[k].low = fit->constants[k].high = value;
            found = true;
        }
    if (!found && !command_put(&fit->arena, command, verb_option(command->verb, "set"), word, &error))
        fit_give_up(arena_print(&fit->arena, "--hold %s: %s", word, error.what));
}

static void leave_entry(struct fit *fit, const char *entry)
{
    int kept = 0;
    for (int k = 0; k < fit->constant_count; k++)
        if (!fit->constants[k].entry || strcmp(fit->constants[k].entry, entry))
            fit->constants[kept++] = fit->constants[k];
    if (kept == fit->constant_count)
        fit_give_up(arena_print(&fit->arena, "--without %s: no constant is fitted for it", entry));
    fit->constant_count = kept;
}

void fit_open(struct fit *fit, const struct problem *problem, char *const *words, int count)
{
    static const struct verb sets = { .name = "fit", .groups = { &row_options } };
    static struct command command = { .verb = &sets };
    const char **with = NULL;
    size_t with_count = 0, with_room = 0;
    fit->problem = problem;
    fit->constant_count = constants_of(&fit->arena, problem->group, fit->constants);
    for (; count > 2 && !strncmp(*words, "--", 2); words += 2, count -= 2) {
        if (!strcmp(*words, "--hold"))
            hold(fit, &command, words[1]);
        else if (!strcmp(*words, "--without"))
            leave_entry(fit, words[1]);
        else if (!strcmp(*words, "--with"))
            *(const char **)arena_push(&fit->arena, &with, &with_count, &with_room, sizeof *with) = words[1];
        else
            fit_give_up(arena_print(&fit->arena, "%s: --hold ROW=VALUE, --without ENTRY or --with FILE", *words));
    }
    fit->predictor = (struct predictor){ .arena = &fit->arena, .command = &command };
    physics_open(&fit->physics, &fit->arena, &command);
    for (int i = 0; i < count; i++)
        read_points(fit, words[i], false);
    for (size_t i = 0; i < with_count; i++)
        read_points(fit, with[i], true);
    const char *why = fit->predictor.count ? fit->predictor.setups[0].refused : NULL;
    if (!fit->count)
        fit_give_up(arena_print(&fit->arena, "no points that a row predicts%s%s", why ? ", the first since " : "", why ? why : ""));
    find_entries(fit);
    link_setups(fit);
    find_measured(fit);
    find_starts(fit);
}

/* ---- errors ------------------------------------------------------------------------------ */

double fit_error(struct fit *fit, const struct fitted *row, int j)
{
    double inputs[INPUTS_MOST];
    struct prediction predictions[MEASURED_VALUES];
    row_inputs(fit, row, fit->x, inputs);
    predictor_predict(&fit->scratch, row->setup, row->point, inputs, predictions);
    return log(predictions[j].value / row->measured[j]);
}

static void keep_errors(struct fit *fit, size_t row, double *errors)
{
    for (int j = 0; j < fit->rows[row].point->value_count; j++)
        errors[row * MEASURED_VALUES + (size_t)j] = fit_error(fit, &fit->rows[row], j);
}

static double *no_errors(struct fit *fit)
{
    double *errors = arena_array(&fit->arena, fit->count * MEASURED_VALUES, sizeof *errors);
    for (size_t i = 0; i < fit->count * MEASURED_VALUES; i++)
        errors[i] = NAN;
    return errors;
}

double *fit_errors(struct fit *fit)
{
    double *errors = no_errors(fit);
    for (size_t i = 0; i < fit->count; i++)
        keep_errors(fit, i, errors);
    return errors;
}

double *fit_leave_out(struct fit *fit, fit_alike *out, fit_alike *scored)
{
    double *errors = no_errors(fit);
    struct fits fits = { 0 };
    size_t *of = arena_array(&fit->arena, fit->count, sizeof *of);      /* the fit that scores a row, and one more */
    for (size_t i = 0; i < fit->count; i++) {
        if (of[i] || !scored(&fit->rows[i], &fit->rows[i]))
            continue;
        bool *left = fits_add(fit, &fits);
        for (size_t j = 0; j < fit->count; j++) {
            left[j] = out(&fit->rows[i], &fit->rows[j]);
            if (scored(&fit->rows[i], &fit->rows[j]))
                of[j] = fits.count;
        }
    }
    fit_each(fit, &fits);
    for (size_t f = 0; f < fits.count; f++) {
        fit_take(fit, &fits, f);
        for (size_t i = 0; i < fit->count; i++)
            if (of[i] == f + 1)
                keep_errors(fit, i, errors);
    }
    return errors;
}

bool *fit_moves(struct fit *fit)
{
    const size_t constants = (size_t)fit->constant_count;
    bool *moves = arena_array(&fit->arena, fit->count * MEASURED_VALUES * constants + 1, sizeof *moves);
    double inputs[INPUTS_MOST], gradient[INPUTS_MOST];
    for (size_t i = 0; i < fit->count; i++) {
        const struct fitted *row = &fit->rows[i];
        row_inputs(fit, row, fit->x, inputs);
        for (int j = 0; j < row->point->value_count; j++) {
            const double value = predictor_gradient(&fit->scratch, row->setup, j, inputs, gradient);
            bool *moved = moves + (i * MEASURED_VALUES + (size_t)j) * constants;
            for (size_t k = 0; k < constants; k++)
                moved[k] = row->input[k] >= 0 &&
                           fabs(gradient[row->input[k]] * inputs[row->input[k]]) > 1e-9 * value;
        }
    }
    return moves;
}

const char *fit_today(void)
{
    static char date[16];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    return date;
}

static size_t values_in_fit(const struct fit *fit)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++)
        for (int j = 0; j < fit->rows[i].point->value_count; j++)
            count += weight_of(fit, &fit->rows[i], j) > 0;
    return count;
}

void fit_print_constants(struct fit *fit, const char *name, const char *what)
{
    const size_t all = values_in_fit(fit), constants = (size_t)fit->constant_count;
    const bool *moves = fit_moves(fit);
    const double *errors = fit_errors(fit);
    double *sizes = calloc(all + 1, sizeof *sizes);
    for (int k = 0; k < fit->constant_count; k++) {
        const struct constant *constant = &fit->constants[k];
        size_t count = 0;
        for (size_t i = 0; i < fit->count; i++)
            for (int j = 0; j < fit->rows[i].point->value_count; j++) {
                const size_t at = i * MEASURED_VALUES + (size_t)j;
                if (weight_of(fit, &fit->rows[i], j) > 0 && moves[at * constants + (size_t)k])
                    sizes[count++] = fabs(exp(errors[at]) - 1);
            }
        if (count)
            printf("%s,%s,%.4g,%s,`make fit` on %zu open %s,%s,,median %.1f %% of %zu%s\n",
                   constant->entry ? constant->entry : name, constant->name, fit_constant(fit, k),
                   constant->unit, all, what, fit_today(), 100 * sizes_quantile(sizes, count, 0.5),
                   count, inside(fit, k, fit->x[k]) ? fit->deviation[k] > 0
                       ? arena_print(&fit->scratch, "; +- %.0f %%", 100 * fit->deviation[k]) : ""
                       : "; at its bound");
    }
    free(sizes);
}

int main(int count, char **words)
{
    static struct fit fit = { .ranks = &ranks };
    ranks_open(&ranks);
    for (int i = 1; i < count; i++)
        question = hash_text(question, words[i]);
    if (ranks.rank && !freopen("/dev/null", "w", stdout))       /* only the first rank prints */
        ranks_abort(&ranks, 1);
    if (count > 2 && !strcmp(words[1], "kernels"))
        fit_kernels(&fit, words + 2, count - 2);
    else if (count > 2 && !strcmp(words[1], "servers"))
        fit_servers(&fit, words + 2, count - 2);
    else if (count > 2 && !strcmp(words[1], "training"))
        fit_training(&fit, words + 2, count - 2);
    else if (count > 2 && !strcmp(words[1], "personal"))
        fit_personal(&fit, words + 2, count - 2);
    else if (count > 2 && !strcmp(words[1], "calibration"))
        fit_calibration(&fit, words + 2, count - 2);
    else
        fit_give_up("fit servers [cluster|pair] FILE..., fit kernels FILE, "
                    "fit training [source|generation] FILE, fit personal [device|model] FILE..., or "
                    "fit calibration FILE...");
    ranks_close(&ranks);
    return 0;
}
