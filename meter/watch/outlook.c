/* What is predicted of the server, at the settings that it has and at others (parts.h).
 *
 * The graphs are built once. A setting is an input of them, so that each flag costs an evaluation, not a build. */
#include "meter/watch/parts.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"

#include <math.h>
#include <string.h>

/* The rows of the figures; the ends of their intervals over them, for servers that were not measured; and of the
 * memory, the KV blocks that it holds, whatever number the server reports. */
enum { BANDS = OUTLOOK_COUNT, ROOM = BANDS + 2 * OUTLOOK_COUNT, ROWS };
static const char *const rows[ROWS] = {
    [OUTLOOK_RATE] = NAME_own_rate_most,
    [OUTLOOK_THROUGHPUT] = NAME_saturated_throughput,
    [OUTLOOK_TPOT] = NAME_predicted_tpot,
    [OUTLOOK_TTFT] = NAME_predicted_ttft,
    [BANDS + 2 * OUTLOOK_RATE] = NAME_throughput_band_low, NAME_throughput_band_high,
    [BANDS + 2 * OUTLOOK_THROUGHPUT] = NAME_throughput_band_low, NAME_throughput_band_high,
    [BANDS + 2 * OUTLOOK_TPOT] = NAME_tpot_band_low, NAME_tpot_band_high,
    [BANDS + 2 * OUTLOOK_TTFT] = NAME_ttft_band_low, NAME_ttft_band_high,
    [ROOM] = NAME_rank_blocks_room,
};

struct interval_of interval_scaled(struct interval_of of, double by)
{
    return (struct interval_of){ of.value * by, of.low * by, of.high * by };
}

bool outlook_open(struct scenario *scenario, struct outlook *outlook, struct error *error)
{
    *outlook = (struct outlook){ .arena = scenario->arena, .calibrated = scenario->calibrated };
    if (!values_known(scenario, rows, ROWS, &outlook->values, error))
        return false;
    outlook->blocks = outlook->values.at[ROOM];
    return !outlook->calibrated || calibrated_graph_build(scenario, rows, OUTLOOK_COUNT, &outlook->graph, error);
}

double outlook_setting(const struct outlook *outlook, const char *row)
{
    const int input = graph_input(&outlook->values.graph, row);
    return input < 0 ? NAN : outlook->values.inputs[input];
}

static void set_inputs(const struct graph *graph, const struct watch_setting *settings, size_t count, double *inputs)
{
    for (size_t i = 0; i < count; i++) {
        const int input = graph_input(graph, settings[i].row);
        if (input >= 0)
            inputs[input] = settings[i].value;
    }
}

static void evaluate(struct arena *scratch, const struct outlook *outlook, const struct watch_setting *settings, size_t count,
                     double at[ROWS])
{
    const struct graph *graph = &outlook->values.graph;
    double *inputs = arena_array(scratch, graph->input_count + 1, sizeof *inputs);
    memcpy(inputs, outlook->values.inputs, graph->input_count * sizeof *inputs);
    set_inputs(graph, settings, count, inputs);
    graph_value(scratch, graph, inputs, NULL, at);
}

/* The ends over the values, where the server was measured. */
static void find_ends(struct arena *scratch, const struct outlook *outlook, const struct watch_setting *settings, size_t count,
                      double low[OUTLOOK_COUNT], double high[OUTLOOK_COUNT])
{
    const struct graph *graph = &outlook->graph.graph;
    double *inputs = arena_array(scratch, graph->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    set_inputs(graph, settings, count, inputs);
    calibrated_intervals(scratch, outlook->calibrated, &outlook->graph, inputs, low, high);
}

void outlook_read(const struct outlook *outlook, const struct watch_setting *settings, size_t count,
                  struct interval_of figures[OUTLOOK_COUNT])
{
    struct arena scratch = arena_beside(outlook->arena);
    double at[ROWS], low[OUTLOOK_COUNT], high[OUTLOOK_COUNT];
    evaluate(&scratch, outlook, settings, count, at);
    for (int i = 0; i < OUTLOOK_COUNT; i++)
        low[i] = at[BANDS + 2 * i], high[i] = at[BANDS + 2 * i + 1];
    if (outlook->calibrated)
        find_ends(&scratch, outlook, settings, count, low, high);
    for (int i = 0; i < OUTLOOK_COUNT; i++)
        figures[i] = (struct interval_of){ at[i], at[i] * low[i], at[i] * high[i] };
    arena_free(&scratch);
}

double outlook_blocks(const struct outlook *outlook, const struct watch_setting *settings, size_t count)
{
    struct arena scratch = arena_beside(outlook->arena);
    double at[ROWS];
    evaluate(&scratch, outlook, settings, count, at);
    arena_free(&scratch);
    return at[ROOM];
}
