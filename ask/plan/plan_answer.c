/* The answer of `plan`: the best deployment, the constraint that binds it, what relaxing a limit
 * would gain, the Pareto front, and how much of the space was searched.
 *
 * The document is complete and holds every figure under its row's name; the text shows about a
 * dozen points of the front, spaced evenly in the logarithm of speed. Figures of a point come from
 * plan_point.c, which evaluates the rows again at that point, so that `eval` with the words of the
 * `check` line gives the same bits. Where no deployment meets the limits, the answer is the
 * nearest one and the limit that it exceeds most. The records at the end declare the keys of the
 * document for the API. */
#include "ask/plan/plan.h"

#include "build/row_names.h"
#include "scenario/server.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 12 };

/* ---- document ----------------------------------------------------------------------------------- */

static const char *const setting_rows[] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
    NAME_chunked_prefill_size, NAME_prefill_workers, NAME_prefill_chips, NAME_prefill_attention_dp,
    NAME_prefill_pipeline_parallel, NAME_decode_workers, NAME_rank_running_target };
enum { SETTING_ROWS = sizeof setting_rows / sizeof *setting_rows };

static const char *const kinds[PLAN_KINDS] = { [PLAN_TOGETHER] = "together", [PLAN_POOLS] = "pools" };

static void add_once(struct plan *plan, struct doc *doc, const char *key, double value)
{
    if (!doc_get(doc, key))
        doc_add_number(plan->arena, doc, key, value);
}

/* The prefill chunk of a point. In disaggregated deployments it is not searched, but given or the
 * default. */
static double chunk_of(struct plan *plan, const struct plan_point *point)
{
    struct variant *variant = &plan->variants[point->at.space];
    const double chunk = plan_input(plan, &point->at, NAME_chunked_prefill_size);
    struct error ignored;
    if (!isnan(chunk))
        return chunk;
    if (!(variant->chunk > 0))
        value_of(&variant->scenario, NAME_chunked_prefill_size, &variant->chunk, &ignored);
    return variant->chunk;
}

static void one_server(struct plan *plan, struct doc *list, const struct plan_point *point,
                       const char *role, double count, const char *const rows[3])
{
    struct doc *one = doc_add(plan->arena, list, NULL, DOC_OBJECT);
    const double chips = plan_input(plan, &point->at, rows[0]);
    const double ranks = plan_input(plan, &point->at, rows[1]);
    const double stages = plan_input(plan, &point->at, rows[2]);
    const bool prefill = !strcmp(role, "prefill");
    const double held = plan_input(plan, &point->at, NAME_rank_running_target);
    doc_add_string(plan->arena, one, "role", role);
    doc_add_number(plan->arena, one, "count", count);
    doc_add_string(plan->arena, one, "machine", plan->variants[point->at.space].machine);
    doc_add_number(plan->arena, one, NAME_chips, chips);
    doc_add_number(plan->arena, one, NAME_tensor_parallel, chips / ranks / stages);
    doc_add_number(plan->arena, one, NAME_attention_dp, ranks);
    doc_add_number(plan->arena, one, NAME_pipeline_parallel, stages);
    doc_add_number(plan->arena, one, NAME_expert_parallel,
                   prefill ? ranks > 1 ? chips / stages : 1
                           : plan_input(plan, &point->at, NAME_expert_parallel));
    doc_add_number(plan->arena, one, NAME_context_parallel, 1);
    doc_add_number(plan->arena, one, NAME_concurrency, prefill ? ranks * stages : held * ranks);
    doc_add_number(plan->arena, one, "spare_experts", 0);
    doc_add_number(plan->arena, one, "prefill_chunk", chunk_of(plan, point));
}

/* The kinds of replicas of a deployment and the number of each. */
static void servers_document(struct plan *plan, struct doc *doc, const struct plan_point *point)
{
    static const char *const decode[] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel };
    static const char *const prefill[] = { NAME_prefill_chips, NAME_prefill_attention_dp,
                                           NAME_prefill_pipeline_parallel };
    const double copies = point->figures[PLAN_replicas];
    struct doc *list = doc_add(plan->arena, doc, "servers", DOC_ARRAY);
    if (plan->variants[point->at.space].kind != PLAN_POOLS) {
        one_server(plan, list, point, "aggregated", copies, decode);
        return;
    }
    one_server(plan, list, point, "prefill",
               copies * plan_input(plan, &point->at, NAME_prefill_workers), prefill);
    one_server(plan, list, point, "decode",
               copies * plan_input(plan, &point->at, NAME_decode_workers), decode);
}

/* The engine, and which rules keep it from starting the servers that `read` is of. */
static void rules_document(struct plan *plan, struct doc *doc, const struct plan_point *point,
                           struct scenario *read)
{
    static const char *const sizes[][2] = {
        { NAME_chips, NAME_prefill_chips }, { NAME_attention_dp, NAME_prefill_attention_dp },
        { NAME_pipeline_parallel, NAME_prefill_pipeline_parallel } };
    struct scenario prefill = *read, *const pair[] = { read, &prefill };
    const bool pools = plan->variants[point->at.space].kind == PLAN_POOLS;
    const bool startable = point->figures[PLAN_pool_startable] > 0;
    prefill.facts = facts_copy(&read->facts);
    for (size_t i = 0; i < 3 && pools && !startable; i++)
        facts_set(&prefill.facts, sizes[i][0], plan_input(plan, &point->at, sizes[i][1]), ORIGIN_AXIS,
                  "plan");
    deployment_engine(read, doc);
    deployment_rules(startable, pair, pools ? 2 : 1, doc);
}

static void point_document(struct plan *plan, struct doc *doc, const struct plan_point *point)
{
    const struct variant *variant = &plan->variants[point->at.space];
    doc_add_string(plan->arena, doc, "deployment", plan_deployment(plan, point));
    doc_add_string(plan->arena, doc, "kind", kinds[variant->kind]);
    doc_add_string(plan->arena, doc, "machine", variant->scenario.machine);
    if (variant->precision)
        doc_add_string(plan->arena, doc, "precision", variant->precision);
    if (variant->kv)
        doc_add_string(plan->arena, doc, "kv_precision", variant->kv);
    struct scenario read = plan_read_scenario(plan, point);
    scenario_words_document(&read, doc);
    servers_document(plan, doc, point);
    for (int i = 0; i < SETTING_ROWS; i++) {
        const double value = plan_input(plan, &point->at, setting_rows[i]);
        const bool load = !strcmp(setting_rows[i], NAME_rank_running_target) && variant->kind != PLAN_POOLS;
        if (!isnan(value) && !load)
            doc_add_number(plan->arena, doc, setting_rows[i], value);
    }
    rules_document(plan, doc, point, &read);
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++) {
        add_once(plan, doc, plan_row(plan, variant->kind, i), point->figures[i]);
        /* the short name of one version, unless it is a row's, which means something else here */
        if (i != PLAN_startable && formulas_find(&variant->scenario.formulas, plan_figures[i]) < 0)
            add_once(plan, doc, plan_figures[i], point->figures[i]);
    }
    breakdown_document(&variant->read, &point->parts, unit_second, doc);
}

static const char *const infeasible[SEARCH_LIMITS] = {
    "infeasible_prefill", "infeasible_stability", "infeasible_ttft", "infeasible_tpot",
    "infeasible_chips" };

static void count_document(struct plan *plan)
{
    const struct search_count *count = &plan->result.count;
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "points", DOC_OBJECT);
    doc_add_number(plan->arena, doc, "all", (double)count->points);
    doc_add_number(plan->arena, doc, "evaluated", (double)count->seen);
    doc_add_number(plan->arena, doc, "infeasible_weights", (double)count->no_fit);
    doc_add_number(plan->arena, doc, "infeasible_kv", (double)count->no_room);
    for (size_t l = 0; l < plan->spaces->limit_count; l++)
        doc_add_number(plan->arena, doc, infeasible[l], (double)count->broken[l]);
    doc_add_number(plan->arena, doc, "feasible", (double)count->met);
    doc_add_number(plan->arena, doc, "pareto", (double)plan->result.front.count);
}

static const char *const limit_rows[] = {
    NAME_ttft_limit, NAME_tpot_limit, NAME_load_margin, NAME_prefill_utilization_max, NAME_gpu_memory_utilization,
    NAME_hbm_reported, NAME_replica_chips_max, NAME_pipeline_parallel_max, NAME_max_num_seqs,
    NAME_tensor_parallel_most };
enum { LIMIT_ROWS = sizeof limit_rows / sizeof *limit_rows };
static const char *const asked_limit_rows[] = { NAME_deployment_chips, NAME_request_demand };

/* What deployments had to keep, of the first machine: the question's own words ask for it again. No
 * limit is where none can be kept, or chips are as many as needed. */
static void limits_document(struct plan *plan)
{
    struct scenario *asked = &plan->variants->asked;
    const struct fact *chips = facts_find(&asked->facts, NAME_deployment_chips);
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "limits", DOC_OBJECT);
    struct error ignored;
    double value;
    scenario_words_document(asked, doc);
    for (int i = 0; i < LIMIT_ROWS; i++)
        if (i == 0 && isinf(plan->variants->ttft))
            doc_add(plan->arena, doc, limit_rows[i], DOC_NULL);
        else if (value_of(asked, limit_rows[i], &value, &ignored))
            doc_add_number(plan->arena, doc, limit_rows[i], value);
    if (isinf(plan->variants->ttft))
        doc_add_string(plan->arena, doc, "reason", "no layout meets the default TTFT");
    if (chips && !plan->alone && (fact_given(chips) || !plan->by_demand))
        doc_add_number(plan->arena, doc, NAME_deployment_chips, plan->gpus);
    if (plan->by_demand && value_of(asked, NAME_request_demand, &value, &ignored))
        doc_add_number(plan->arena, doc, NAME_request_demand, value);
}

/* A measured deployment needs measurements that can be planned by: there are none yet. */
static void measured_document(struct plan *plan)
{
    doc_add(plan->arena, plan->answer->doc, "measured", DOC_NULL);
    doc_add_string(plan->arena, plan->answer->doc, "measured_reason",
                   "deployments are predicted; measured ones are not searched");
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void head_line(struct plan *plan)
{
    const struct scenario *scenario = &plan->variants->scenario;
    struct buffer *out = &plan->answer->text;
    struct values values;
    static const char *const lengths[] = { NAME_prompt_tokens, NAME_output_tokens, NAME_request_demand };
    buffer_print(out, "%s on %s", scenario->model, plan->scope);
    if (values_of(&plan->variants->scenario, lengths, 3, &values, plan->error)) {
        buffer_print(out, ": ISL %s, OSL %s", count_text(plan->arena, values.at[0], 12),
                     count_text(plan->arena, values.at[1], 12));
        if (plan->by_demand)
            buffer_print(out, ", %s requests/s", count_text(plan->arena, values.at[2], 12));
    }
    buffer_print(out, ", %sTTFT within %s, TPOT within %s",
                 isinf(plan->variants->ttft) ? "no " : "",
                 quantity_text(plan->arena, plan->ttft, unit_second, 4),
                 quantity_text(plan->arena, plan->tpot, unit_second, 4));
    buffer_print(out, "\n\n");
}

static const char *band(const struct plan *plan, const struct plan_point *point,
                        enum plan_figure figure, enum plan_figure low, enum plan_figure high)
{
    return quantity_range(plan->arena, point->figures[figure] * point->figures[low],
                          point->figures[figure] * point->figures[high], unit_second, 3);
}

static const char *what_binds(const char *limit)
{
    static const struct { const char *limit, *text; } words[] = {
        { "", "speed alone: one more sequence per rank makes each slower" },
        { "seats", "max_num_seqs: the engine runs no more sequences per rank" },
        { "memory", "memory: the KV cache has no room for one more sequence per rank" },
        { "prompts", "prefill: one more sequence per rank overloads it" },
        { "stability", "stability: one more sequence per rank lets the queue grow" },
        { "TTFT", "TTFT: one more sequence per rank violates it" },
        { "TPOT", "TPOT: one more sequence per rank violates it" },
        { "GPUs", "GPUs: every other layout needs more of them" } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(limit, words[i].limit))
            return words[i].text;
    return limit;
}

static void best_lines(struct plan *plan, const struct plan_point *best)
{
    struct buffer *out = &plan->answer->text;
    const char *variant = plan_variant(plan, best), *binds = plan_binds(plan, best);
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "best", DOC_OBJECT);
    point_document(plan, doc, best);
    doc_add_string(plan->arena, doc, "binds", binds);
    buffer_print(out, "  best     %s%s%s\n", plan_deployment(plan, best), *variant ? "; " : "",
                 variant);
    if (plan->by_demand)
        buffer_print(out, "           %.0f GPUs\n", best->figures[PLAN_replicas] *
                     best->figures[PLAN_server_gpus]);
    buffer_print(out, "           %s per GPU, %s per user, %s requests/s\n",
                 plan_text(plan, best, PLAN_per_gpu, 4),
                 plan_text(plan, best, PLAN_speed_per_user, 3),
                 count_text(plan->arena, floor(best->figures[PLAN_rate] * 100 + 0.5) / 100, 12));
    buffer_print(out, "           TTFT %s (80 %% interval %s), TPOT %s (%s)\n",
                 plan_text(plan, best, PLAN_ttft, 3),
                 band(plan, best, PLAN_ttft, PLAN_ttft_low, PLAN_ttft_high),
                 plan_text(plan, best, PLAN_tpot, 3),
                 band(plan, best, PLAN_tpot, PLAN_tpot_low, PLAN_tpot_high));
    if (best->figures[PLAN_blended_cost_per_token] > 0)
        buffer_print(out, "           %s input, %s output, %s blended\n",
                     plan_text(plan, best, PLAN_input_cost_per_token, 3),
                     plan_text(plan, best, PLAN_output_cost_per_token, 3),
                     plan_text(plan, best, PLAN_blended_cost_per_token, 3));
    buffer_print(out, "  binding  %s\n", what_binds(binds));
    buffer_print(out, "  TPOT     %s\n", breakdown_largest(plan->arena, &best->parts, 4));
}

/* Does the prediction interval of the better point include the other? */
static bool within_band(const struct plan_point *better, const struct plan_point *point)
{
    return better->figures[PLAN_per_gpu] * better->figures[PLAN_throughput_low] <=
           point->figures[PLAN_per_gpu];
}

static bool same_place(const struct search_point *a, const struct search_point *b)
{
    return a->space == b->space && a->setting == b->setting && a->load == b->load;
}

/* The best of servers that do both without pipeline stages; NULL: there is none. */
static const struct search_point *simplest(const struct plan *plan)
{
    const struct search_front *tops = &plan->result.tops;
    for (size_t i = 0; i < tops->count; i++)
        if (plan->variants[tops->points[i].space].kind == PLAN_TOGETHER &&
            plan_input(plan, &tops->points[i], NAME_pipeline_parallel) <= 1)
            return &tops->points[i];
    return NULL;
}

/* Name the simplest deployment where the best one is of another kind. */
static bool simplest_line(struct plan *plan, const struct plan_point *best)
{
    struct plan_point point;
    const struct search_point *at = simplest(plan);
    if (at && !plan_read_point(plan, at, &point))
        return false;
    if (!at || !plan_keeps(plan, &point)) {
        doc_add(plan->arena, plan->answer->doc, "simplest", DOC_NULL);
        return true;
    }
    point_document(plan, doc_add(plan->arena, plan->answer->doc, "simplest", DOC_OBJECT), &point);
    if (same_place(at, &best->at))
        return true;
    /* the name of one version */
    point_document(plan, doc_add(plan->arena, plan->answer->doc, "simpler", DOC_OBJECT), &point);
    const char *variant = plan_variant(plan, &point);
    buffer_print(&plan->answer->text, "  simplest in the band\n           %s%s%s: %s per GPU%s\n",
                 plan_deployment(plan, &point), *variant ? "; " : "", variant,
                 plan_text(plan, &point, PLAN_per_gpu, 4),
                 within_band(best, &point) ? ", within the prediction interval of the best" : "");
    return true;
}

/* The command that evaluates the best point by itself. */
static void check_line(struct plan *plan, const struct plan_point *best)
{
    const bool pools = plan->variants[best->at.space].kind == PLAN_POOLS;
    struct buffer out = { .arena = plan->arena };
    struct scenario read = plan_read_scenario(plan, best);
    size_t count;
    const char *const *words = scenario_words(&read, &count);
    buffer_print(&out, "chalkline eval %s", pools ? "disagg_deployment_ttft disagg_tpot disagg_deployment_rate"
                 : "predicted_ttft predicted_tpot predicted_throughput");
    for (size_t i = 0; i < count; i++)
        buffer_print(&out, strpbrk(words[i], " *()<>&;|$") ? " '%s'" : " %s", words[i]);
    doc_add_string(plan->arena, plan->answer->doc, "check", out.data);
    buffer_print(&plan->answer->text, "  reproduce\n           %s\n", out.data);
}

/* ---- what would move it ------------------------------------------------------------------------------ */

static bool move_lines(struct plan *plan)
{
    struct doc *list = doc_add(plan->arena, plan->answer->doc, "moves", DOC_ARRAY);
    bool first = true;
    for (size_t l = 0; l < plan->spaces->limit_count; l++) {
        const struct search_limit *limit = &plan->spaces->limits[l];
        const struct search_point *best = plan->result.front.points, *moved = &plan->result.moved[l];
        struct plan_point point;
        if (!(plan->result.moved_found & 1u << l) || !(moved->throughput > best->throughput))
            continue;
        if (!plan_read_point(plan, moved, &point))
            return false;
        const char *bound = quantity_text(plan->arena, limit->wider, unit_second, 4);
        double gain = 100 * (moved->throughput / best->throughput - 1);
        const char *variant = plan_variant(plan, &point);
        buffer_print(&plan->answer->text, "%srelaxing %s to %s: %+.0f %% %s, %s%s%s\n",
                     first ? "\n  " : "  ", limit->name, bound, gain,
                     !plan->by_demand ? plan->by_cost ? "tokens per USD" : "tokens/s per GPU"
                     : plan->by_cost ? "rent" : "GPUs",
                     plan_deployment(plan, &point), *variant ? "; " : "", variant);
        first = false;
        struct doc *one = doc_add(plan->arena, list, NULL, DOC_OBJECT);
        doc_add_string(plan->arena, one, "limit", limit->name);
        doc_add_number(plan->arena, one, "bound", limit->wider);
        point_document(plan, doc_add(plan->arena, one, "best", DOC_OBJECT), &point);
    }
    return true;
}

/* ---- the front ------------------------------------------------------------------------------------- */

static void add_row(struct plan *plan, struct table *table, const struct plan_point *point,
                    bool same)
{
    table_cell(table, "%.1f", point->figures[PLAN_speed_per_user]);
    table_cell(table, "%.1f%s", point->figures[PLAN_per_gpu], same ? " ~" : "  ");
    table_cell(table, "%s", plan_text(plan, point, PLAN_ttft, 3));
    table_cell(table, "%s", plan_text(plan, point, PLAN_tpot, 3));
    table_cell(table, "%s", point->figures[PLAN_blended_cost_per_token] > 0
               ? plan_text(plan, point, PLAN_blended_cost_per_token, 3) : "");
    table_cell(table, "%.2f", point->figures[PLAN_load]);
    table_cell(table, "%s", breakdown_largest(plan->arena, &point->parts, 1));
    const char *variant = plan_variant(plan, point);
    table_cell(table, "%s%s%s", plan_deployment(plan, point), *variant ? "; " : "", variant);
}

static void csv_row(struct plan *plan, struct table *table, const struct plan_point *point)
{
    const struct variant *variant = &plan->variants[point->at.space];
    table_cell(table, "%s", kinds[variant->kind]);
    table_cell(table, "%s", variant->scenario.machine);
    table_cell(table, "%s", variant->precision ? variant->precision : "");
    table_cell(table, "%s", variant->kv ? variant->kv : "");
    for (int i = 0; i < SETTING_ROWS; i++) {
        double value = plan_input(plan, &point->at, setting_rows[i]);
        table_cell(table, "%s", isnan(value) ? "" : arena_print(plan->arena, "%.17g", value));
    }
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        table_cell(table, "%.17g", point->figures[i]);
}

static void csv_head(struct table *table)
{
    static const char *const names[] = { "kind", "machine", "precision", "kv_precision" };
    for (int i = 0; i < 4; i++)
        table_cell(table, "%s", names[i]);
    for (int i = 0; i < SETTING_ROWS; i++)
        table_cell(table, "%s", setting_rows[i]);
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++)
        table_cell(table, "%s", plan_figures[i]);
}

/* Is the point shown? About a dozen are, evenly spaced in the logarithm of speed, and the first. */
static bool shown(const struct search_front *front, size_t i, double *next)
{
    const double low = front->points[0].speed, high = front->points[front->count - 1].speed;
    const double speed = front->points[i].speed;
    if (i && speed < *next && i + 1 < front->count)
        return false;
    *next = speed * pow(high / low, 1.0 / (SHOWN - 1));
    return true;
}

static bool front_lines(struct plan *plan)
{
    static const char *const head[] = { "token/s per user", "per GPU", "TTFT", "TPOT", "blended",
                                        "prefill", "largest part", "deployment" };
    const struct search_front *front = &plan->result.front;
    struct table table = { .arena = plan->arena, .columns = 8, .left = "rrrrrrll" };
    struct table csv = { .arena = plan->arena, .columns = 4 + SETTING_ROWS + PLAN_FIGURE_COUNT };
    struct doc *list = doc_add(plan->arena, plan->answer->doc, "front", DOC_ARRAY);
    struct plan_point point, before = { 0 };
    double next = 0;
    for (int i = 0; i < 8; i++)
        table_cell(&table, "%s", head[i]);
    csv_head(&csv);
    for (size_t i = 0; i < front->count; i++) {
        point = plan->front[i];
        csv_row(plan, &csv, &point);
        point_document(plan, doc_add(plan->arena, list, NULL, DOC_OBJECT), &point);
        if (!shown(front, i, &next))
            continue;
        add_row(plan, &table, &point, i && within_band(&before, &point));
        before = point;
    }
    buffer_print(&plan->answer->text, "\n");
    table_print(&table, &plan->answer->text, "  ");
    buffer_print(&plan->answer->text, "  ~ within the prediction interval of the line above: not "
                 "distinguishable\n");
    table_csv(&csv, &plan->answer->csv);
    return true;
}

/* ---- how it is known ------------------------------------------------------------------------------- */

/* What is wrong with the points that a limit excludes. */
static const char *violated(const char *limit)
{
    return !strcmp(limit, "prompts") ? "prefill overloaded"
           : !strcmp(limit, "stability") ? "unstable" : limit;
}

static void count_words(struct plan *plan, const char **between, const char *what, size_t count)
{
    if (!count)
        return;
    buffer_print(&plan->answer->text, "%s%s: %s", *between, what,
                 count_text(plan->arena, (double)count, 12));
    *between = "; ";
}

static void known_lines(struct plan *plan)
{
    const struct search_count *count = &plan->result.count;
    struct buffer *out = &plan->answer->text;
    size_t settings = 0;
    for (size_t s = 0; s < plan->count; s++)
        settings += plan->spaces[s].setting_count;
    buffer_print(out, "\n  search   exhaustive: %s points, %s layouts at up to %s loads\n",
                 count_text(plan->arena, (double)count->points, 12), count_text(plan->arena, (double)settings, 12),
                 count_text(plan->arena, (double)plan->spaces->load_count, 12));
    const char *between = "           ";
    count_words(plan, &between, "weights out of memory", count->no_fit);
    count_words(plan, &between, "KV cache full", count->no_room);
    for (size_t l = 0; l < plan->spaces->limit_count; l++)
        count_words(plan, &between, violated(plan->spaces->limits[l].name), count->broken[l]);
    buffer_print(out, "%sfeasible: %s; Pareto-optimal: %s\n", between,
                 count_text(plan->arena, (double)count->met, 12),
                 count_text(plan->arena, (double)plan->result.front.count, 12));
}

/* The limit that a point exceeds by the largest factor. */
static const char *worst_limit(struct plan *plan, const struct search_point *at)
{
    const struct search_space *space = &plan->spaces[at->space];
    double *outputs = arena_array(plan->arena, space->graph.output_count, sizeof *outputs);
    size_t worst = 0;
    search_values(plan->arena, plan->spaces, at, outputs);
    for (size_t l = 1; l < space->limit_count; l++)
        if (outputs[space->limits[l].output] / space->limits[l].bound >
            outputs[space->limits[worst].output] / space->limits[worst].bound)
            worst = l;
    return space->limits[worst].name;
}

/* "by 43 %", or "to 265 x" where per cent would be hard to read. */
static const char *relaxed_by(const struct plan *plan, double factor)
{
    return factor > 3 ? arena_print(plan->arena, "to %.3g x", factor)
           : arena_print(plan->arena, "by %.0f %%", 100 * (factor - 1));
}

/* There is no deployment; `nearest` and `found`: the one that comes closest. */
static bool nothing_lines(struct plan *plan, struct plan_point *nearest, bool *found)
{
    doc_add(plan->arena, plan->answer->doc, "best", DOC_NULL);
    doc_add(plan->arena, plan->answer->doc, "simplest", DOC_NULL);
    doc_add(plan->arena, plan->answer->doc, "front", DOC_ARRAY);
    struct buffer *out = &plan->answer->text;
    struct table csv = { .arena = plan->arena, .columns = 4 + SETTING_ROWS + PLAN_FIGURE_COUNT };
    csv_head(&csv);
    table_csv(&csv, &plan->answer->csv);
    plan->answer->status = 1;
    if (!plan->result.count.points) {
        buffer_print(out, "  best     none: no layout of this many GPUs divides heads, layers and ranks "
                     "evenly\n           with the sizes that were set (`chalkline why layout_valid`)\n");
        return true;
    }
    if (!plan->result.miss_found) {
        double needed, room;
        if (!value_of(&plan->variants->scenario, NAME_weights_stored, &needed, plan->error) ||
            !value_of(&plan->variants->scenario, NAME_deployment_memory, &room,
                      plan->error))
            return false;
        struct unit bytes = scenario_unit(&plan->variants->scenario, NAME_weights_stored);
        buffer_print(out, "  best     none: out of memory: the weights need %s, the GPUs have %s\n", quantity_text(plan->arena, needed, bytes, 3),
                     quantity_text(plan->arena, room, bytes, 3));
        return true;
    }
    if (!plan_read_point(plan, &plan->result.miss, nearest))
        return false;
    *found = true;
    buffer_print(out, "  best     none is feasible; nearest, with %s relaxed %s:\n"
                 "           %s, %.0f GPUs\n           TTFT %s, TPOT %s, %s per GPU\n",
                 worst_limit(plan, &plan->result.miss), relaxed_by(plan, plan->result.miss_by),
                 plan_deployment(plan, nearest),
                 nearest->figures[PLAN_replicas] * nearest->figures[PLAN_server_gpus],
                 plan_text(plan, nearest, PLAN_ttft, 3), plan_text(plan, nearest, PLAN_tpot, 3),
                 plan_text(plan, nearest, PLAN_per_gpu, 3));
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "nearest", DOC_OBJECT);
    point_document(plan, doc, nearest);
    doc_add_number(plan->arena, doc, "wider_by", plan->result.miss_by);
    return true;
}

static void note_limits(struct plan *plan)
{
    static const struct { const char *option, *name; } limits[] = {
        { "ttft", "TTFT" }, { "tpot", "TPOT" } };
    const double bounds[] = { plan->ttft, plan->tpot };
    for (size_t i = 0; i < 2; i++)
        if (!command_given(plan->command, limits[i].option))
            facts_note(&plan->variants->scenario.facts, "%s within %s by default%s", limits[i].name,
                       quantity_text(plan->arena, bounds[i], unit_second, 4),
                       i == 0 && isinf(plan->variants->ttft) ? ": no layout meets it" : "");
}

/* Notes on the formats and the rent of each machine. */
static void note_variants(struct plan *plan)
{
    struct facts *facts = &plan->variants->scenario.facts;
    const struct fact *weights = facts_find(facts, NAME_weight_bytes);
    const char *before = NULL;
    if (!command_given(plan->command, "precision") && weights)
        facts_note(facts, "weights as in the checkpoint, %.3g byte%s each: --precision fp8,fp4 "
                   "compares others", weights->value, weights->value > 1.01 ? "s" : "");
    if (!command_given(plan->command, "kv-precision"))
        facts_note(facts, "KV cache in bf16: --kv-precision bf16,fp8 compares both");
    for (size_t i = 0; i < plan->count; i++) {
        const struct fact *rent = facts_find(&plan->variants[i].scenario.facts, NAME_chip_price);
        if (plan->variants[i].machine != before && rent)
            facts_note(facts, "%s", rental_text(plan->arena, rent->value,
                                                plan->variants[i].scenario.machine));
        before = plan->variants[i].machine;
    }
}

/* Notes on the assumptions behind the figures of a point. */
static void note_point(struct plan *plan, const struct plan_point *point)
{
    static const enum plan_figure shown[] = {
        PLAN_tpot, PLAN_ttft, PLAN_per_gpu, PLAN_rate, PLAN_input_cost_per_token,
        PLAN_output_cost_per_token, PLAN_blended_cost_per_token };
    enum { COUNT = sizeof shown / sizeof *shown };
    struct scenario read = plan_read_scenario(plan, point);
    const size_t before = read.facts.note_count;
    const char *rows[COUNT];
    for (int i = 0; i < COUNT; i++)
        rows[i] = plan_row(plan, plan->variants[point->at.space].kind, shown[i]);
    shown_notes(&read, rows, COUNT, NULL);
    for (size_t i = before; i < read.facts.note_count; i++)
        facts_note(&plan->variants->scenario.facts, "%s", read.facts.notes[i]);
}

/* `point`: the best, or the nearest where there is none; NULL: not even that. */
static void add_notes(struct plan *plan, const struct plan_point *point)
{
    struct scenario *scenario = &plan->variants->scenario;
    static const char *const rows[] = {
        NAME_deployment_throughput_per_chip, NAME_blended_cost_per_token, NAME_predicted_ttft, NAME_predicted_tpot, NAME_gpus_needed,
        NAME_disagg_throughput_per_chip, NAME_disagg_deployment_ttft, NAME_disagg_tpot, NAME_request_demand, NAME_ttft_limit, NAME_tpot_limit,
        NAME_replica_chips_max, NAME_pipeline_parallel_max, NAME_max_num_seqs, NAME_layout_valid, NAME_prefill_utilization_max };
    note_limits(plan);
    note_variants(plan);
    scenario_note_length(scenario);
    if (point)
        note_point(plan, point);
    given_note(scenario, rows, sizeof rows / sizeof *rows, "the plan");
}

bool plan_answer(struct plan *plan)
{
    struct plan_point best;
    bool found = false;
    const struct search_front *front = &plan->result.front;
    const char *picture = command_text(plan->command, "plot");
    doc_add_string(plan->arena, plan->answer->doc, "model", plan->variants->scenario.model);
    head_line(plan);
    count_document(plan);
    limits_document(plan);
    measured_document(plan);
    if (!front->count && !nothing_lines(plan, &best, &found))
        return false;
    if (front->count) {
        best = plan->front[0];
        found = true;
        best_lines(plan, &best);
        if (!simplest_line(plan, &best) || !move_lines(plan) || !front_lines(plan) ||
            (command_given(plan->command, "validate") && !plan_validate(plan)) ||
            (picture && !plan_plot(plan, picture)))
            return false;
    }
    known_lines(plan);
    if (front->count)
        check_line(plan, &best);
    buffer_print(&plan->answer->text, "\n");
    add_notes(plan, found ? &best : NULL);
    scenario_notes(&plan->variants->scenario, plan->answer);
    return !command_given(plan->command, "emit") || plan_emit(plan);
}

/* ---- the keys -------------------------------------------------------------------------------------- */

/* Rows depend on the kind and on whether there is a demand. */
static const struct record point_record = { "PlanDeployment", (const struct answer_field[]){
    { FIELD_TEXT, "deployment", .help = "the deployment in words", .always = true },
    { FIELD_TEXT, "kind", .help = "aggregated replicas, or pools for prefill and for decode",
      .names = kinds, .count = PLAN_KINDS, .always = true },
    { FIELD_TEXT, "machine", .help = "title of the machine", .always = true },
    { FIELD_TEXT, "precision", .help = "format of the weights, unless it is the checkpoint's" },
    { FIELD_TEXT, "kv_precision", .help = "format of the KV cache, where --kv-precision was given" },
    { FIELD_ALSO, .record = &deployment_record },
    { FIELD_ROWS, .names = setting_rows, .count = SETTING_ROWS },
    { FIELD_ROWS, .names = plan_figure_rows[PLAN_TOGETHER], .count = PLAN_FIGURE_COUNT },
    { FIELD_ROWS, .names = plan_figure_rows[PLAN_POOLS], .count = PLAN_FIGURE_COUNT },
    { FIELD_ROWS, .names = plan_demand_rows, .count = PLAN_FIGURE_COUNT },
    { FIELD_ROWS, .names = plan_figure_rows[PLAN_TOGETHER], .count = PLAN_FIGURE_COUNT,
      .keys = plan_figures },
    { FIELD_RECORD, "parts", .help = "where the time of a token goes", .record = &parts_record },
    { 0 } } };

static const struct record best_record = { "PlanBest", (const struct answer_field[]){
    { FIELD_ALSO, .record = &point_record },
    { FIELD_TEXT, "binds", .help = "the limit that a little more load violates", .always = true },
    { 0 } } };

static const struct record nearest_record = { "PlanNearest", (const struct answer_field[]){
    { FIELD_ALSO, .record = &point_record },
    { FIELD_NUMBER, "wider_by", .help = "a limit relaxed by this factor admits it",
      .always = true },
    { 0 } } };

static const struct record move_record = { "PlanMove", (const struct answer_field[]){
    { FIELD_TEXT, "limit", .help = "the limit that is relaxed", .always = true },
    { FIELD_NUMBER, "bound", .help = "its relaxed value", .unit = "", .always = true },
    { FIELD_RECORD, "best", .help = "the best deployment within it", .record = &point_record,
      .always = true },
    { 0 } } };

static const struct record points_record = { "PlanPoints", (const struct answer_field[]){
    { FIELD_NUMBER, "all", .help = "points of the search: layouts at loads", .always = true },
    { FIELD_NUMBER, "evaluated", .help = "points that were evaluated", .always = true },
    { FIELD_NUMBER, "infeasible_weights", .help = "the weights do not fit", .always = true },
    { FIELD_NUMBER, "infeasible_kv", .help = "KV cache full", .always = true },
    { FIELD_NUMBER, .help = "points that break this limit", .names = infeasible, .count = SEARCH_LIMITS },
    { FIELD_NUMBER, "feasible", .help = "points within all limits", .always = true },
    { FIELD_NUMBER, "pareto", .help = "Pareto-optimal", .always = true },
    { 0 } } };

static const struct record limits_record = { "PlanLimits", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives these limits again", .always = true },
    { FIELD_ROWS, .names = limit_rows, .count = LIMIT_ROWS, .always = true },
    { FIELD_ROWS, .names = asked_limit_rows, .count = 2 },
    { FIELD_TEXT, "reason", .help = "why a limit is null" },
    { 0 } } };

static const struct record sweep_record = { "PlanSweep", (const struct answer_field[]){
    { FIELD_TEXT, "deployment", .help = "the best deployment, in words; absent where none is feasible" },
    { FIELD_ROWS, .names = plan_figure_rows[PLAN_TOGETHER], .count = PLAN_FIGURE_COUNT,
      .keys = plan_figures },
    { FIELD_OTHERS, .help = "the row that is swept, and its value", .unit = "" },
    { 0 } } };

/* With a sweep that alone; else all of those that no option asks for. */
const struct record answer_plan = { "Plan", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "title of the model" },
    { FIELD_RECORD, "points", .help = "the range that was searched", .record = &points_record },
    { FIELD_RECORD, "best", .help = "the best deployment; null: none is feasible", .record = &best_record,
      .null = true },
    { FIELD_RECORD, "nearest", .help = "the deployment nearest to the limits, where none is feasible",
      .record = &nearest_record },
    { FIELD_RECORD, "measured", .help = "the best deployment among those that were measured",
      .record = &point_record,
      .null = true },
    { FIELD_TEXT, "measured_reason", .help = "why there is no measured one" },
    { FIELD_RECORD, "simplest", .help = "the best aggregated replicas without pipeline stages",
      .record = &point_record, .null = true },
    { FIELD_RECORD, "simpler", .help = "until the next version: simplest, where the best is another kind",
      .record = &point_record },
    { FIELD_RECORD, "limits", .help = "the limits that deployments had to keep", .record = &limits_record },
    { FIELD_LIST, "moves", .help = "the best deployment under each relaxed limit", .record = &move_record },
    { FIELD_LIST, "front", .help = "Pareto front of throughput per GPU over speed per user, the best first",
      .record = &point_record },
    { FIELD_LIST, "validated", .help = "--validate: simulated results of the best layouts",
      .record = &plan_validated },
    { FIELD_TEXT, "check", .help = "words of the command that reproduces the best" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer" },
    { FIELD_RECORD, "emit", .help = "--emit: commands or manifests that start the best" },
    { FIELD_LIST, "sweep", .help = "--sweep: the best deployment at each value", .record = &sweep_record },
    { 0 } } };
