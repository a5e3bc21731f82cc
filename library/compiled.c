/* Rows as functions of some inputs, by the interpreted graph.
 *
 * The body becomes a scenario whose axis the inputs are: what it leaves open is chosen without them, as for a curve. The
 * graph of the rows is kept whole, for what the body sets to a range, and fixed at everything but the inputs, which gives
 * the same bits. A program of the fixed graph has blocks of its own, so each thread uses one by turns. */
#include "library/library.h"
#include "scenario/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { INPUTS_MOST = 64, ROWS_MOST = 256, BLOCK = 2048 };

struct compiled_input {
    const char *name;
    double low, high, first;        /* the range of its row; a value in it */
    int whole, fixed;               /* its input of the two graphs; fixed -1: no row depends on it */
};

struct chalkline_compiled {
    struct arena *arena;
    struct graph whole, fixed;
    struct interval *box;           /* [whole.input_count] what the body says */
    struct compiled_input *axes;
    size_t count;                   /* of axes */
    bool *unpriced;                 /* rows that depend on a price that is not known */
    struct spares programs;
};

struct program {
    struct arena *arena;
    struct graph_program *program;
};

/* ---- compile ------------------------------------------------------------------------------- */

struct compiling {
    const char *json;
    const char *const *rows, *const *inputs;
    struct request_command asked;
    struct scenario scenario;
    struct chalkline_compiled *compiled;    /* NULL: `error` says why */
    struct error error;
};

static size_t names_count(const char *const *names)
{
    size_t count = 0;
    while (names && names[count])
        count++;
    return count;
}

/* The inputs become the axis of the scenario. */
static bool read_axes(struct scenario *scenario, struct chalkline_compiled *compiled, const char *const *names,
                      struct error *error)
{
    struct buffer axis = { .arena = compiled->arena };
    compiled->count = names_count(names);
    if (compiled->count > INPUTS_MOST) {
        error_set(error, "%zu inputs are given", compiled->count);
        return error_expected(error, "at most %d", INPUTS_MOST);
    }
    compiled->axes = arena_array(compiled->arena, compiled->count + 1, sizeof *compiled->axes);
    for (size_t i = 0; i < compiled->count; i++) {
        const int index = formulas_find(&scenario->formulas, names[i]);
        if (index < 0)
            return scenario_unknown(scenario, names[i], error);
        const struct row *row = formulas_row(&scenario->formulas, (size_t)index);
        const struct fact *given = facts_find(&scenario->facts, row_name(row));
        if (fact_given(given)) {
            error_set(error, "'%s' is both an input and set by %s", names[i], given->source);
            return error_expected(error, "one of them");
        }
        for (size_t j = 0; j < i; j++)
            if (!strcmp(compiled->axes[j].name, row_name(row))) {
                error_set(error, "'%s' is an input twice", names[i]);
                return error_expected(error, "each input once");
            }
        compiled->axes[i] = (struct compiled_input){ row_name(row), row->input ? row->low : -INFINITY,
                                           row->input ? row->high : INFINITY,
                                           row->input && !row_expr(row) ? row->value : 1, -1, -1 };
        buffer_print(&axis, "%s ", row_name(row));
    }
    scenario->axis = axis.size ? axis.data : NULL;
    return true;
}

static bool find_axes(struct chalkline_compiled *compiled, const char *const *names, const char *row, struct error *error)
{
    for (size_t i = 0; i < compiled->count; i++) {
        struct compiled_input *axis = &compiled->axes[i];
        axis->whole = graph_input(&compiled->whole, axis->name);
        if (axis->whole < 0 || !graph_depends(compiled->arena, &compiled->whole, axis->name)) {
            error_set(error, "'%s' has no effect on %s", names[i], compiled->whole.output_count == 1 ? row : "any of these");
            return error_suggest(error, "`chalkline why %s --deep` lists the inputs it depends on", row);
        }
    }
    return true;
}

/* Fix everything but the inputs. */
static void fix(struct chalkline_compiled *compiled, const struct values *values)
{
    struct arena *arena = compiled->arena;
    const struct graph *whole = &compiled->whole;
    bool *vary = arena_array(arena, whole->input_count + 1, sizeof *vary);
    double *reached = arena_array(arena, whole->output_count + 1, sizeof *reached);
    compiled->box = arena_array(arena, whole->input_count + 1, sizeof *compiled->box);
    compiled->unpriced = arena_array(arena, whole->output_count + 1, sizeof *compiled->unpriced);
    for (size_t i = 0; i < whole->input_count; i++) {
        const struct input *input = &whole->inputs[i];
        const bool range = input->distribution == DISTRIBUTION_RANGE;
        compiled->box[i] = (struct interval){ range ? input->low : input->value, range ? input->high : input->value };
    }
    for (size_t i = 0; i < compiled->count; i++)
        vary[compiled->axes[i].whole] = true;
    graph_specialize(arena, whole, values->inputs, vary, &compiled->fixed);
    for (size_t i = 0; i < compiled->count; i++)
        compiled->axes[i].fixed = graph_input(&compiled->fixed, compiled->axes[i].name);
    values_unpriced(whole, values->inputs, reached);
    for (size_t i = 0; i < whole->output_count; i++)
        compiled->unpriced[i] = isnan(reached[i]);
}

static bool compile(struct compiling *compiling, struct chalkline_compiled *compiled)
{
    struct scenario *scenario = &compiling->scenario;
    struct error *error = &compiling->error;
    struct values values;
    const size_t count = names_count(compiling->rows);
    if (!library_command(compiled->arena, "eval", compiling->json, &compiling->asked, error))
        return false;
    const struct command *command = &compiling->asked.command;
    if (!count || count > ROWS_MOST) {
        error_set(error, "%zu rows are asked for", count);
        return error_expected(error, "1 to %d", ROWS_MOST);
    }
    if (!scenario_read(scenario, compiled->arena, command, command_subject(command), error) ||
        !read_axes(scenario, compiled, compiling->inputs, error) ||
        !scenario_images(scenario, error) || !scenario_assume(scenario, error) ||
        !scenario_choose(scenario, compiling->rows, count, error))
        return false;
    for (size_t i = 0; i < compiled->count; i++)
        facts_set(&scenario->facts, compiled->axes[i].name, compiled->axes[i].first, ORIGIN_AXIS, "an input");
    if (!values_known(scenario, compiling->rows, count, &values, error))
        return false;
    compiled->whole = values.graph;
    if (!find_axes(compiled, compiling->inputs, compiling->rows[0], error))
        return false;
    fix(compiled, &values);
    return true;
}

static void call_compile(void *context)
{
    struct compiling *compiling = context;
    struct arena *arena = arena_new();
    struct chalkline_compiled *compiled = arena_alloc(arena, sizeof *compiled);
    compiled->arena = arena;
    if (compile(compiling, compiled))
        compiling->compiled = compiled;
    else
        arena_end(arena);
}

int chalkline_compile(struct chalkline_library *library, const char *json, const char *const *rows,
                      const char *const *inputs, struct chalkline_compiled **compiled, struct chalkline_error *error)
{
    struct compiling compiling = { .json = json, .rows = rows, .inputs = inputs };
    const int status = library_call(library, call_compile, &compiling, error);
    *compiled = compiling.compiled;
    if (!status && !*compiled)
        library_error(error, &compiling.error);
    return status ? status : *compiled ? CHALKLINE_ANSWERED : CHALKLINE_REFUSED;
}

void chalkline_compiled_free(struct chalkline_compiled *compiled)
{
    if (!compiled)
        return;
    for (struct program *program; (program = spares_take(&compiled->programs));)
        arena_end(program->arena);
    arena_end(compiled->arena);
}

/* ---- run --------------------------------------------------------------------------------------- */

struct running {
    const struct chalkline_compiled *compiled;
    const double *const *low, *const *high;         /* the columns; of intervals both ends */
    size_t count;
    double *const *values, *const *values_high, *const *gradients;
    const struct column *columns;                   /* of the fixed graph */
    struct program *program;
};

/* Refuse an input at a point. The program's locale may have a decimal comma. */
static int refuse_point(struct chalkline_error *to, const struct compiled_input *axis, size_t k, double low, const double *high)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    struct error error;
    if (high) {
        error_set(&error, "%s = %.17g to %.17g of point %zu has its low end above its high end", axis->name, low, *high, k);
        error_expected(&error, "the low end first");
    } else {
        error_set(&error, "%s = %.17g of point %zu is out of range", axis->name, low, k);
        error_expected(&error, "%.17g to %.17g", axis->low, axis->high);
    }
    uselocale(before);
    if (plain)
        freelocale(plain);
    library_error(to, &error);
    return CHALKLINE_REFUSED;
}

/* Is every value within the range of its row? */
static int within(const struct chalkline_compiled *compiled, const double *const *columns, size_t count,
                  struct chalkline_error *error)
{
    for (size_t i = 0; i < compiled->count; i++) {
        const struct compiled_input *axis = &compiled->axes[i];
        size_t k = 0;
        if (column_within(columns[i], count, axis->low, axis->high))
            continue;
        while (columns[i][k] >= axis->low && columns[i][k] <= axis->high)
            k++;
        return refuse_point(error, axis, k, columns[i][k], NULL);
    }
    return CHALKLINE_ANSWERED;
}

/* Is no low end above its high end? */
static int ordered(const struct chalkline_compiled *compiled, const double *const *low, const double *const *high,
                   size_t count, struct chalkline_error *error)
{
    for (size_t i = 0; i < compiled->count; i++)
        for (size_t k = 0; k < count; k++)
            if (low[i][k] > high[i][k])
                return refuse_point(error, &compiled->axes[i], k, low[i][k], &high[i][k]);
    return CHALKLINE_ANSWERED;
}

/* The points from `first` on, while they are in the cache: values that are not finite become NAN. */
static void run_block(const struct running *running, size_t first, size_t count)
{
    const struct chalkline_compiled *compiled = running->compiled;
    struct column columns[INPUTS_MOST];
    double *values[ROWS_MOST];
    for (size_t i = 0; i < compiled->fixed.input_count; i++)
        columns[i] = (struct column){ running->columns[i].data + first, 1 };
    for (size_t j = 0; j < compiled->fixed.output_count; j++)
        values[j] = running->values[j] + first;
    graph_program_run(running->program->program, columns, values, count);
    for (size_t j = 0; j < compiled->fixed.output_count; j++)
        if (compiled->unpriced[j] || !column_within(values[j], count, -DBL_MAX, DBL_MAX))
            for (size_t k = 0; k < count; k++)
                values[j][k] = compiled->unpriced[j] || !isfinite(values[j][k]) ? NAN : values[j][k];
}

static void make_program(void *context)
{
    struct running *running = context;
    struct arena *arena = arena_new();
    struct program *program = arena_alloc(arena, sizeof *program);
    *program = (struct program){ arena, graph_program_make(arena, NULL, &running->compiled->fixed, running->columns) };
    running->program = program;
}

static void run_gradients(void *context)
{
    const struct running *running = context;
    const struct chalkline_compiled *compiled = running->compiled;
    const struct graph *fixed = &compiled->fixed;
    struct arena arena = { 0 };
    double *at = arena_array(&arena, fixed->input_count + 1, sizeof *at);
    double *nodes = arena_array(&arena, fixed->count + 1, sizeof *nodes);
    double *slopes = arena_array(&arena, fixed->input_count + 1, sizeof *slopes);
    for (size_t k = 0; k < running->count; k++) {
        for (size_t i = 0; i < fixed->input_count; i++)
            at[i] = running->columns[i].data[k];
        graph_value(&arena, fixed, at, nodes, NULL);
        for (size_t j = 0; j < fixed->output_count; j++) {
            graph_slopes(&arena, fixed, j, nodes, slopes);
            for (size_t i = 0; i < compiled->count; i++) {
                const int input = compiled->axes[i].fixed;
                running->gradients[j * compiled->count + i][k] = compiled->unpriced[j] ? NAN : input < 0 ? 0 : slopes[input];
            }
        }
    }
    arena_free(&arena);
}

int chalkline_run(const struct chalkline_compiled *compiled, const double *const *columns, size_t count,
                  double *const *values, double *const *gradients, struct chalkline_error *error)
{
    struct column of_graph[INPUTS_MOST];
    struct running running = { .compiled = compiled, .count = count, .values = values,
                               .gradients = gradients, .columns = of_graph };
    int status = within(compiled, columns, count, error);
    if (status || !count)
        return status;
    for (size_t i = 0; i < compiled->count; i++)
        if (compiled->axes[i].fixed >= 0)
            of_graph[compiled->axes[i].fixed] = (struct column){ columns[i], 1 };
    if (gradients && (status = library_call(NULL, run_gradients, &running, error)))
        return status;
    running.program = spares_take(&compiled->programs);
    if (!running.program && (status = library_call(NULL, make_program, &running, error)))
        return status;
    for (size_t first = 0; first < count; first += BLOCK)
        run_block(&running, first, count - first < BLOCK ? count - first : BLOCK);
    if (!spares_give(&compiled->programs, running.program))
        arena_end(running.program->arena);
    return CHALKLINE_ANSWERED;
}

static void run_intervals(void *context)
{
    const struct running *running = context;
    const struct chalkline_compiled *compiled = running->compiled;
    const struct graph *whole = &compiled->whole;
    struct arena arena = { 0 };
    struct interval *box = arena_array(&arena, whole->input_count + 1, sizeof *box);
    memcpy(box, compiled->box, whole->input_count * sizeof *box);
    for (size_t k = 0; k < running->count; k++) {
        for (size_t i = 0; i < compiled->count; i++)
            box[compiled->axes[i].whole] = (struct interval){ running->low[i][k], running->high[i][k] };
        for (size_t j = 0; j < whole->output_count; j++) {
            struct arena scratch = { 0 };
            const struct interval bounds = graph_interval(&scratch, whole, j, box);
            running->values[j][k] = compiled->unpriced[j] ? NAN : bounds.low;
            running->values_high[j][k] = compiled->unpriced[j] ? NAN : bounds.high;
            arena_free(&scratch);
        }
    }
    arena_free(&arena);
}

int chalkline_intervals(const struct chalkline_compiled *compiled, const double *const *low, const double *const *high,
                        size_t count, double *const *values_low, double *const *values_high, struct chalkline_error *error)
{
    struct running running = { .compiled = compiled, .low = low, .high = high, .count = count, .values = values_low,
                               .values_high = values_high };
    int status = within(compiled, low, count, error);
    status = status ? status : within(compiled, high, count, error);
    status = status ? status : ordered(compiled, low, high, count, error);
    return status ? status : library_call(NULL, run_intervals, &running, error);
}
