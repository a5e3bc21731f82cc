/* Predictions for measured points: one graph for all points with the same setup (model, machine,
 * formats, layout, engine), evaluated at each point's load.
 *
 * A setup is found by a key of everything that decides its graph. The scenario is read as a user's
 * command would be, so that the score applies to what users see. Fits take the gradient along the
 * constants from the same graph. */
#include "scenario/values.h"
#include "score/predictor.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"
#include "scenario/cluster.h"

#include <string.h>

enum { FIGURES = 4, OUTPUTS = FIGURES * MEASURED_VALUES };      /* value, low, high, measured */

static bool list_rows(struct predictor *predictor, struct scenario *scenario, struct setup *setup,
                      struct error *error)
{
    const struct expr **wanted = arena_array(predictor->arena, predictor->row_count, sizeof *wanted);
    for (size_t i = 0; i < predictor->row_count; i++)
        if (!expr_parse(&scenario->formulas, NULL, 0, text_of(predictor->rows[i]), &wanted[i], error))
            return false;
    return graph_build(predictor->arena, &scenario->formulas, &scenario->facts, wanted, predictor->row_count,
                       &setup->graph, error);
}

static bool list_intervals(struct arena *arena, const struct measured *point, struct scenario *scenario,
                           struct setup *setup, struct error *error)
{
    struct calibrated_graph *graph = arena_alloc(arena, sizeof *graph);
    const char *rows[MEASURED_VALUES];
    for (int i = 0; i < point->value_count; i++)
        rows[i] = point->values[i].row;
    setup->calibrated = scenario->calibrated;
    setup->intervals = graph;
    return calibrated_graph_build(scenario, rows, (size_t)point->value_count, graph, error);
}

static bool setup_list(struct predictor *predictor, const struct measured *point,
                       struct scenario *scenario, struct setup *setup, struct error *error)
{
    struct arena *arena = predictor->arena;
    const struct expr *wanted[OUTPUTS];
    for (int i = 0; i < point->input_count; i++)
        facts_set(&scenario->facts, point->inputs[i].name, 1, ORIGIN_AXIS, "measured");
    facts_set(&scenario->facts, NAME_load_generator, 1, ORIGIN_FITTED, "measured by a benchmark's client");
    if (predictor->row_count)
        return list_rows(predictor, scenario, setup, error);
    for (int i = 0; i < point->value_count; i++) {
        const char *row = point->values[i].row;
        const struct metric_band band = metric_band_of(&point->values[i]);
        const char *texts[FIGURES] = { row,
                                       arena_print(arena, "%s * %s", row, band.low),
                                       arena_print(arena, "%s * %s", row, band.high),
                                       point->values[i].from ? point->values[i].from : row };
        for (int j = 0; j < FIGURES; j++)
            if (!expr_parse(&scenario->formulas, NULL, 0, text_of(texts[j]), &wanted[FIGURES * i + j],
                            error))
                return false;
    }
    return graph_build(arena, &scenario->formulas, &scenario->facts, wanted,
                       (size_t)(FIGURES * point->value_count), &setup->graph, error) &&
           (!scenario->calibrated || list_intervals(arena, point, scenario, setup, error));
}

static bool read_as(struct predictor *predictor, const struct measured *point,
                    const char *precision, const char *experts, struct scenario *scenario,
                    struct error *error)
{
    const struct subject subject = { .model = point->model, .machine = point->machine,
                                     .precision = precision, .experts_precision = experts,
                                     .kv_precision = point->kv, .engine = point->engine,
                                     .version = point->version };
    return scenario_read(scenario, predictor->arena, predictor->command, subject, error);
}

static bool read_scenario(struct predictor *predictor, const struct measured *point,
                          struct scenario *scenario, struct error *error)
{
    if (!point->beside)
        return read_as(predictor, point, point->precision, NULL, scenario, error);
    if (!read_as(predictor, point, point->beside, point->precision, scenario, error))
        return false;
    const struct fact *sparse = facts_find(&scenario->facts, NAME_moe_layers);
    return (sparse && sparse->value > 0) ||
           read_as(predictor, point, point->precision, NULL, scenario, error);
}

static void setup_make(struct predictor *predictor, const struct measured *point,
                       struct setup *setup)
{
    struct arena *arena = predictor->arena;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    struct error error;
    if (!read_scenario(predictor, point, scenario, &error) ||
        !setup_list(predictor, point, scenario, setup, &error)) {
        const bool similar = *error.similar != 0;
        setup->refused = arena_print(arena, "%s%s%s", error.what, similar ? ", " : "", similar ? error.hint : "");
        return;
    }
    setup->cluster = cluster_name(scenario);
    for (int i = 0; i < point->input_count; i++)
        setup->input[i] = graph_input(&setup->graph, point->inputs[i].name);
}

/* A version counts where it chooses the constants, and where a calibration tells versions apart. */
static const char *key_of(const struct predictor *predictor, const struct measured *point)
{
    const char *const words[] = { point->model, point->machine,
                                  catalog_engine_then(catalog_built_in(), point->engine, point->version),
                                  point->precision, point->beside, point->kv, predictor->command &&
                                  command_given(predictor->command, "calibration") ? point->version : NULL };
    struct buffer key = { .arena = predictor->arena };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        buffer_print(&key, "%s|", words[i] ? words[i] : "");
    for (int i = 0; i < point->input_count; i++)
        buffer_print(&key, "%s,", point->inputs[i].name);
    for (int i = 0; i < point->value_count; i++)
        buffer_print(&key, "|%s", point->values[i].row);
    return key.data;
}

struct setup *predictor_find(struct predictor *predictor, const struct measured *point)
{
    const char *key = key_of(predictor, point);
    for (size_t i = 0; i < predictor->count; i++)
        if (!strcmp(predictor->setups[i].key, key))
            return &predictor->setups[i];
    struct setup *setup = arena_push(predictor->arena, &predictor->setups, &predictor->count,
                                     &predictor->room, sizeof *setup);
    *setup = (struct setup){ .key = key };
    setup_make(predictor, point, setup);
    return setup;
}

const char *predictor_chunk_note(struct arena *arena, const struct command *command,
                                 const struct measured_list *list)
{
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    struct error ignored;
    double chunk = 0;
    size_t silent = 0;
    struct subject subject = command_no_subject(command);
    const char *engine = list->count ? list->points[0].engine : NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct measured *point = &list->points[i];
        engine = engine && point->engine && !strcmp(engine, point->engine) ? engine : NULL;
        const bool served = point->model && point->value_count && point->values[0].metric <= METRIC_PREFILL;
        silent += served && !point->refused && !measured_input(point, NAME_chunked_prefill_size, 0);
    }
    if (engine && *engine)                      /* of all of them */
        subject.engine = engine;
    if (!silent || !scenario_read(scenario, arena, command, subject, &ignored) ||
        fact_given(facts_find(&scenario->facts, NAME_chunked_prefill_size)) ||
        !value_of(scenario, NAME_chunked_prefill_size, &chunk, &ignored))
        return NULL;
    return arena_print(arena, "prefill in chunks of %s tokens where a row does not state it (%zu of %zu): a column "
                       "%s, or --set %s=N", quantity_text(arena, chunk, (struct unit){ 0 }, 6), silent, list->count,
                       NAME_chunked_prefill_size, NAME_chunked_prefill_size);
}

void predictor_inputs(const struct setup *setup, const struct measured *point, double *inputs)
{
    for (size_t i = 0; i < setup->graph.input_count; i++)
        inputs[i] = setup->graph.inputs[i].value;
    for (int i = 0; i < point->input_count; i++)
        if (setup->input[i] >= 0)
            inputs[setup->input[i]] = point->inputs[i].value;
}

void predictor_rows(struct arena *scratch, const struct setup *setup, const struct measured *point,
                    double *values)
{
    double *inputs = arena_array(scratch, setup->graph.input_count + 1, sizeof *inputs);
    predictor_inputs(setup, point, inputs);
    graph_value(scratch, &setup->graph, inputs, NULL, values);
}

/* The intervals of a calibrated server; of energy, which no calibration sees, those of all servers. */
static void set_intervals(struct arena *arena, const struct setup *setup, const struct measured *point,
                          struct prediction *predictions)
{
    struct arena scratch = arena_beside(arena);
    const struct graph *graph = &setup->intervals->graph;
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double low[MEASURED_VALUES], high[MEASURED_VALUES];
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    for (int i = 0; i < point->input_count; i++) {
        const int input = graph_input(graph, point->inputs[i].name);
        if (input >= 0)
            inputs[input] = point->inputs[i].value;
    }
    calibrated_intervals(&scratch, setup->calibrated, setup->intervals, inputs, low, high);
    for (int i = 0; i < point->value_count; i++)
        if (point->values[i].metric != METRIC_ENERGY) {
            predictions[i].low = predictions[i].value * low[i];
            predictions[i].high = predictions[i].value * high[i];
        }
    arena_free(&scratch);
}

void predictor_predict(struct arena *scratch, const struct setup *setup,
                       const struct measured *point, const double *inputs,
                       struct prediction predictions[MEASURED_VALUES])
{
    double values[OUTPUTS];
    graph_value(scratch, &setup->graph, inputs, NULL, values);
    for (int i = 0; i < point->value_count; i++)
        predictions[i] = (struct prediction){
            values[FIGURES * i], values[FIGURES * i + 1], values[FIGURES * i + 2],
            point->values[i].from ? values[FIGURES * i + 3] : point->values[i].value };
    if (setup->calibrated)
        set_intervals(scratch, setup, point, predictions);
}

void predictor_gradients(struct arena *scratch, const struct setup *setup, const struct measured *point,
                         const double *inputs, double *values, double *gradients)
{
    const struct graph *graph = &setup->graph;
    double *nodes = arena_array(scratch, graph->count + 1, sizeof *nodes);
    graph_value(scratch, graph, inputs, nodes, NULL);
    for (size_t i = 0; i < (size_t)point->value_count; i++) {
        values[i] = nodes[graph->outputs[FIGURES * i]];
        graph_slopes(scratch, graph, FIGURES * i, nodes, gradients + i * graph->input_count);
    }
}

double predictor_gradient(struct arena *scratch, const struct setup *setup, int i,
                          const double *inputs, double *gradient)
{
    return graph_gradient(scratch, &setup->graph, (size_t)(FIGURES * i), inputs, gradient);
}
