/* The step time of a simulation: a formula that the user gave, or the prediction for a model on a
 * machine.
 *
 * A user's formula must be linear in what a batch holds, which makes sums over fast-forwarded
 * steps exact; other formulas are refused. The prediction is the graph of `simulated_step` with
 * everything but the batch fixed, evaluated at each batch; decoding requests count at their mean
 * context. A layout with features that the scheduler does not simulate is refused, because its
 * times would be those of another deployment. */
#include "ask/simulate/simulate.h"
#include "rows/point.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the step time: linear in what a batch holds ----------------------------------------- */

enum { TOKENS, CACHED, SEQUENCES, QUANTITIES };
static const char *const quantities[QUANTITIES] = { "tokens", "cached", "sequences" };
static const char rows[] =
    "== A batch\n\n"
    "tokens : 1 = 1 in 0..1e12\n    that it processes (definition)\n"
    "cached : 1 = 0 in 0..1e15\n    tokens processed before, of its requests (definition)\n"
    "sequences : 1 = 1 in 0..1e9\n    requests in it (definition)\n\n"
    "second : s = 1 in 1..1\n    of time (definition)\n";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Rows know no units; "10ms" is read as 0.01 of the row `second`. */
static bool without_units(struct arena *arena, const char *formula, const char **out,
                          struct error *error)
{
    struct buffer plain = { .arena = arena };
    bool in_name = false;
    for (const char *at = formula; *at;) {
        char *end;
        double number = in_name || *at == '+' || *at == '-' ? 0 : strtod(at, &end), scale;
        struct unit unit, second;
        bool digit = !in_name && ((*at >= '0' && *at <= '9') || *at == '.');
        size_t letters = 0;
        if (!digit) {
            in_name = is_letter(*at) || (in_name && *at >= '0' && *at <= '9');
            buffer_add(&plain, at++, 1);
            continue;
        }
        if (end == at) {
            error_set(error, "--step-time: invalid number '%.60s'", at);
            return error_expected(error, "10ms + 0.05ms*tokens + 8e-5ms*cached");
        }
        while (is_letter(end[letters]))
            letters++;
        if (!letters) {
            buffer_add(&plain, at, (size_t)(end - at));
        } else if (!unit_parse((struct text){ end, letters }, &unit, &scale, error)) {
            return false;
        } else {
            unit_parse(text_of("s"), &second, &(double){ 0 }, error);
            if (!unit_same(unit, second)) {
                error_set(error, "--step-time: unknown unit of time '%.*s'", (int)letters, end);
                return error_expected(error, "s, ms, us, ns");
            }
            buffer_print(&plain, "(%.17g * second)", number * scale);
        }
        at = end + letters;
    }
    *out = plain.data ? plain.data : "";
    return true;
}

/* Whether every node is linear in the inputs. */
static bool is_linear(struct arena *arena, const struct graph *graph)
{
    bool *varies = arena_array(arena, graph->count + 1, sizeof *varies);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        bool a = node->a >= 0 && varies[node->a], b = node->b >= 0 && varies[node->b];
        bool fixed = node->op == OP_INPUT && !strcmp(graph->inputs[node->input].name, "second");
        varies[i] = a || b || (node->op == OP_INPUT && !fixed);
        bool linear = node->op == OP_INPUT || node->op == OP_ADD || node->op == OP_SUB ||
                      node->op == OP_NEG || (node->op == OP_MUL && !(a && b)) ||
                      (node->op == OP_DIV && !b);
        if (varies[i] && !linear)
            return false;
    }
    return true;
}

struct step_cost {
    double base, by_token, by_cached, by_sequence;
};

static double linear_seconds(void *context, const struct sim_step *step)
{
    const struct step_cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->drafts + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached) +
           cost->by_sequence * step->sequences;
}

bool simulate_formula(struct arena *arena, const char *formula, struct sim_server *server,
                      struct error *error)
{
    static const char example[] = "10ms + 0.05ms*tokens + 8e-5ms*cached";
    struct step_cost *cost = arena_alloc(arena, sizeof *cost);
    struct formulas *formulas = arena_alloc(arena, sizeof *formulas);
    struct facts facts = { .arena = arena };
    const struct expr *expr;
    struct unit unit;
    struct graph graph;
    double inputs[QUANTITIES + 1] = { 0 }, slopes[QUANTITIES + 1], *to[QUANTITIES] = {
        &cost->by_token, &cost->by_cached, &cost->by_sequence };
    const char *plain = "";
    formulas_open(formulas, arena, 0);
    if (!formulas_read(formulas, "a batch", text_of(rows), error) ||
        !without_units(arena, formula, &plain, error) ||
        !expr_parse(formulas, "--step-time", 1, text_of(plain), &expr, error) ||
        !expr_unit(formulas, expr, &unit, error))
        return false;
    if (!unit_same(unit, unit_second)) {
        error_set(error, "--step-time: invalid time '%.100s'", formula);
        return error_expected(error, "%s", example);
    }
    if (!graph_build(arena, formulas, &facts, &expr, 1, &graph, error))
        return false;
    if (!is_linear(arena, &graph)) {
        error_set(error, "--step-time: '%.100s' is not linear in tokens, cached and sequences", formula);
        return error_expected(error, "%s", example);
    }
    int second = graph_input(&graph, "second");
    if (second >= 0)
        inputs[second] = 1;
    cost->base = graph_gradient(arena, &graph, 0, inputs, slopes);
    for (int i = 0; i < QUANTITIES; i++) {
        int input = graph_input(&graph, quantities[i]);
        *to[i] = input < 0 ? 0 : slopes[input];
    }
    server->seconds = linear_seconds;
    server->context = cost;
    if (cost->base >= 0 && cost->by_token >= 0 && cost->by_cached >= 0 && cost->by_sequence >= 0 &&
        cost->base + cost->by_token + cost->by_sequence > 0)
        return true;
    error_set(error, "--step-time: '%.100s' is not above 0 for every batch", formula);
    return error_expected(error, "no negative part, and a time per token");
}

/* ---- the prediction: what is left of its rows when all but the batch is fixed --------------- */

enum { RUNNING, CONTEXT, CHUNK, DONE, FULLEST, BEGUN, BAND, MOVES };
static const char *const moves[MOVES] = { NAME_rank_running, NAME_context, NAME_prefill_chunk, NAME_prefill_done,
                                          NAME_rank_imbalance, NAME_prompts_begun, NAME_step_band };

struct predicted {
    struct graph graph;             /* in which all of `moves` move */
    struct point *point;            /* what evaluates it for one thread */
    int input[MOVES];               /* -1: nothing depends on it */
    double stages, ranks, band;
};

/* Decoding requests at their mean context, those of the other stages beside them; of the prompts as
 * many pairs as they have. */
static void batch_inputs(const struct predicted *predicted, const struct sim_step *step, const int place[MOVES], double inputs[])
{
    const double at[MOVES] = {
        step->decoding * predicted->stages, step->decoding > 0 ? step->decode_cached / step->decoding : 1, step->prompt,
        step->prompt > 0 ? step->prompt_pairs / step->prompt - step->prompt / 2 : 0,
        fmax(step->imbalance, 1), step->begun, predicted->band };
    for (int i = 0; i < MOVES; i++)
        if (place[i] >= 0)
            inputs[place[i]] = at[i];
}

static double predicted_seconds(void *context, const struct sim_step *step)
{
    const struct predicted *predicted = context;
    double inputs[MOVES];
    batch_inputs(predicted, step, predicted->input, inputs);
    return point_value(predicted->point, inputs);
}

/* An evaluator of one's own. The band stays through a run, and so does the imbalance of a single rank. Most steps of
 * a run have no prompt, and most others have decodes beside one. */
static void predicted_own(struct arena *arena, struct predicted *predicted)
{
    static const struct interval kinds[POINT_KINDS][MOVES] = {
        { [RUNNING] = { 1, 1e12 }, [CONTEXT] = { 1, 1e12 }, [FULLEST] = { 1, 1e12 } },
        { [RUNNING] = { 1, 1e12 }, [CONTEXT] = { 1, 1e12 }, [CHUNK] = { 1, 1e12 }, [DONE] = { 0, 1e12 },
          [FULLEST] = { 1, 1e12 }, [BEGUN] = { 0, 1e12 } } };
    const double at[MOVES] = { 1, 1, 0, 0, 1, 0, predicted->band };
    double values[MOVES] = { 0 };
    bool vary[MOVES] = { false };
    struct interval ranges[POINT_KINDS][MOVES] = { 0 };
    const struct interval *const usual[POINT_KINDS] = { ranges[0], ranges[1] };
    for (int i = 0; i < MOVES; i++) {
        const int input = predicted->input[i];
        if (input < 0)
            continue;
        values[input] = at[i];
        vary[input] = i != BAND && (i != FULLEST || predicted->ranks > 1);
        for (int kind = 0; kind < POINT_KINDS; kind++)
            ranges[kind][input] = kinds[kind][i];
    }
    predicted->point = point_open(arena, &predicted->graph, values, vary, usual, POINT_KINDS);
}

static bool predicted_list(struct scenario *scenario, struct predicted *predicted,
                           struct error *error)
{
    struct arena *arena = scenario->arena;
    const struct expr *expr;
    struct graph graph;
    for (int i = 0; i < MOVES; i++)
        facts_set(&scenario->facts, moves[i], 1, ORIGIN_AXIS, "the batch");
    if (!expr_parse(&scenario->formulas, NULL, 0, text_of(NAME_simulated_step), &expr, error) ||
        !graph_build(arena, &scenario->formulas, &scenario->facts, &expr, 1, &graph, error))
        return false;
    double *values = arena_array(arena, graph.input_count + 1, sizeof *values);
    bool *vary = arena_array(arena, graph.input_count + 1, sizeof *vary);
    for (size_t i = 0; i < graph.input_count; i++)
        values[i] = graph.inputs[i].value;
    for (int i = 0; i < MOVES; i++)
        if (graph_input(&graph, moves[i]) >= 0)
            vary[graph_input(&graph, moves[i])] = true;
    graph_specialize(arena, &graph, values, vary, &predicted->graph);
    for (int i = 0; i < MOVES; i++)
        predicted->input[i] = graph_input(&predicted->graph, moves[i]);
    return true;
}

struct sim_server simulate_own(struct arena *arena, const struct sim_server *server, double band)
{
    struct sim_server own = *server;
    if (server->seconds == predicted_seconds) {
        const struct predicted *from = server->context;
        struct predicted *to = own.context = arena_alloc(arena, sizeof *to);
        *to = *from;
        to->band = band > 0 ? band : from->band > 0 ? from->band : 1;
        predicted_own(arena, to);
    }
    return own;
}

/* ---- where the time of a step goes ----------------------------------------------------------- */

struct step_parts {
    const struct formulas *formulas;
    const struct predicted *predicted;
    struct graph graph;             /* in which the batch and the scales of the parts move */
    int input[MOVES];
};

bool simulate_parts_open(const struct simulate *simulate, struct step_parts **parts, struct error *error)
{
    struct scenario scenario = simulate->scenario;
    struct values values;
    const char *text = NAME_simulated_step;
    *parts = NULL;
    if (simulate->options.server.seconds != predicted_seconds)
        return true;
    if (!values_of_parts(&scenario, &text, 1, &values, error))
        return false;
    struct step_parts *open = *parts = arena_alloc(scenario.arena, sizeof **parts);
    bool *vary = arena_array(scenario.arena, values.graph.input_count + 1, sizeof *vary);
    for (size_t i = 0; i < values.graph.input_count; i++)
        vary[i] = values.graph.inputs[i].entry == INPUT_SCALE;
    for (int i = 0; i < MOVES; i++)
        if (graph_input(&values.graph, moves[i]) >= 0)
            vary[graph_input(&values.graph, moves[i])] = true;
    graph_specialize(scenario.arena, &values.graph, values.inputs, vary, &open->graph);
    open->formulas = &simulate->scenario.formulas;
    open->predicted = simulate->options.server.context;
    for (int i = 0; i < MOVES; i++)
        open->input[i] = graph_input(&open->graph, moves[i]);
    return true;
}

struct breakdown simulate_parts_of(struct arena *arena, const struct step_parts *parts, const struct sim_step *step)
{
    struct arena scratch = arena_beside(arena);
    const struct graph *graph = &parts->graph;
    struct breakdown found;
    double *inputs = arena_array(&scratch, graph->input_count + 1, sizeof *inputs);
    double *nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = 1;
    batch_inputs(parts->predicted, step, parts->input, inputs);
    graph_value(&scratch, graph, inputs, nodes, &found.whole);
    found.at = graph_breakdown(arena, parts->formulas, graph, 0, nodes, &found.count);
    arena_free(&scratch);
    return found;
}

/* ---- the server of a prediction -------------------------------------------------------------- */

/* What a layout has and a scheduler's rules do not know is refused: the times would be of another
 * server. */
static bool rules_have(const struct scheduler *scheduler, double count, unsigned needed,
                       const char *what, struct error *error)
{
    if (count <= 1 || (scheduler->can & needed))
        return true;
    error_set(error, "scheduler %s has no %s", scheduler->name, what);
    return error_expected(error, "--scheduler vllm-v1, with --engine for the times of another engine");
}

bool simulate_predicted(struct scenario *scenario, struct sim_server *server, double *token_bytes,
                        struct error *error)
{
    enum { BLOCKS, SEATS, BUDGET, BLOCK, RANKS, STAGES, DRAFT, ACCEPTED, AHEAD, BYTES, TENSOR, ROOM,
           PROMPT, EVEN, EXISTS, EXPERTS, ROWS };
    static const char *const texts[ROWS] = {
        NAME_kv_blocks_per_rank, NAME_max_num_seqs, NAME_step_tokens, NAME_kv_block_tokens, NAME_attention_dp,
        NAME_pipeline_parallel, NAME_draft_tokens, NAME_acceptance_rate, NAME_steps_ahead,
        NAME_kv_per_token, NAME_tensor_parallel,
        NAME_rank_blocks_room, NAME_chunked_prefill_size, NAME_stages_even, NAME_layout_exists,
        NAME_expert_parallel };
    struct predicted *predicted = arena_alloc(scenario->arena, sizeof *predicted);
    struct values values;
    const unsigned can = server->scheduler->can;
    if (!values_of(scenario, texts, ROWS, &values, error) ||
        !predicted_list(scenario, predicted, error) ||
        !rules_have(server->scheduler, values.at[RANKS], SCHEDULER_RANKS, "attention ranks", error) ||
        !rules_have(server->scheduler, values.at[STAGES], SCHEDULER_STAGES, "pipeline stages", error) ||
        !rules_have(server->scheduler, 1 + values.at[DRAFT], SCHEDULER_DRAFTS, "draft tokens", error))
        return false;
    if (!(values.at[EXISTS] > 0)) {
        error_set(error, "no such layout: TP %.4g x DP %.4g x PP %.4g, EP %.4g", values.at[TENSOR], values.at[RANKS],
                  values.at[STAGES], values.at[EXPERTS]);
        error_expected(error, "whole numbers whose product is --gpus; --tp divides the heads, --ep the GPUs of a stage");
        error->infeasible = true;
        return false;
    }
    if (values.at[BLOCKS] > values.at[ROOM])
        facts_note(&scenario->facts, "%.0f KV blocks as set: the memory has room for %.0f",
                   values.at[BLOCKS], fmax(values.at[ROOM], 0));
    if (values.at[BLOCKS] < 1) {
        error_set(error, "%s on %s: out of memory: the weights leave no room for a KV cache",
                  scenario->model ? scenario->model : "the model",
                  scenario->machine ? scenario->machine : "the machine");
        error_expected(error, "more --gpus, a narrower --precision, or --blocks");
        error->infeasible = true;
        return false;
    }
    server->blocks = (size_t)values.at[BLOCKS];
    server->max_num_seqs = (size_t)values.at[SEATS];
    server->chunk = (size_t)values.at[BUDGET];
    if (can & SCHEDULER_BATCH_TOKENS) {             /* prompts have a limit of their own */
        server->chunk = (size_t)fmin(values.at[PROMPT], values.at[BUDGET]);
        if (fact_given(facts_find(&scenario->facts, NAME_step_tokens)))
            server->batch_tokens_most = (size_t)values.at[BUDGET];
    }
    server->block = (size_t)values.at[BLOCK];
    server->draft = (size_t)values.at[DRAFT];
    server->accepted = values.at[ACCEPTED];
    server->ranks = can & SCHEDULER_RANKS ? (size_t)values.at[RANKS] : server->ranks;
    server->stages = (size_t)values.at[STAGES];
    sim_set(server, "even-stages", values.at[EVEN]);
    server->synchronous = !(values.at[AHEAD] > 0);
    predicted->stages = values.at[STAGES];
    predicted->ranks = can & SCHEDULER_RANKS ? values.at[RANKS] : 1;
    predicted->band = 1;
    predicted_own(scenario->arena, predicted);
    *token_bytes = values.at[BYTES];
    server->seconds = predicted_seconds;
    server->context = predicted;
    return true;
}
