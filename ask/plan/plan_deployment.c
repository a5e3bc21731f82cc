/* A point of a plan as a deployment: in words, and as a record of the answer.
 *
 * The record has everything that JSON, CSV and the text say of a point: the words of `eval` that
 * ask for it again, its servers, the settings that the search chose, the rules of engines that it
 * breaks, and its figures (plan_point.c). A figure stands under the name of its row, which depends on
 * the kind of the deployment, and under the short name that is the same for both kinds. A short name
 * that is also the name of a row is for the text and for CSV alone, since in JSON it would claim to
 * be that row. plan_deployment_record declares the keys for the API. */
#include "ask/plan/plan.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"
#include "scenario/rules.h"
#include "deploy/server.h"

#include <math.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

const char *plan_text(const struct plan *plan, const struct plan_point *point,
                      enum plan_figure figure, int digits)
{
    const struct variant *variant = &plan->variants[point->at.space];
    struct unit unit = scenario_unit(&variant->scenario, plan_row(plan, variant->kind, figure));
    return quantity_text(plan->arena, point->figures[figure], unit, digits);
}

static const char *layout_text(struct arena *arena, double chips, double ranks, double stages, double experts)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "TP %.0f", chips / ranks / stages);
    if (ranks > 1)
        buffer_print(&out, " x DP %.0f", ranks);
    if (stages > 1)
        buffer_print(&out, " x PP %.0f", stages);
    if (experts > 1)
        buffer_print(&out, " x EP %.0f", experts);
    return out.data;
}

const char *plan_deployment(const struct plan *plan, const struct plan_point *point)
{
    const struct search_point *at = &point->at;
    const bool pools = plan->variants[at->space].kind == PLAN_POOLS;
    struct buffer out = { .arena = plan->arena };
    const double draft = plan_input(plan, at, NAME_draft_tokens);
    const double copies = point->figures[PLAN_replicas];
    const char *layout = layout_text(plan->arena, plan_input(plan, at, NAME_chips), plan_input(plan, at, NAME_attention_dp),
                                     plan_input(plan, at, NAME_pipeline_parallel),
                                     plan_input(plan, at, NAME_expert_parallel));
    if (pools && copies > 1)
        buffer_print(&out, "%.0f x (", copies);
    if (pools)
        buffer_print(&out, "%.0f x %s prefill + %.0f x %s decode",
                     plan_input(plan, at, NAME_prefill_workers),
                     layout_text(plan->arena, plan_input(plan, at, NAME_prefill_chips),
                                 plan_input(plan, at, NAME_prefill_attention_dp),
                                 plan_input(plan, at, NAME_prefill_pipeline_parallel), 1),
                     plan_input(plan, at, NAME_decode_workers), layout);
    else
        buffer_print(&out, "%.0f x %s", copies, layout);
    if (pools && copies > 1)
        buffer_print(&out, ")");
    const double servers = copies * (pools ? plan_input(plan, at, NAME_decode_workers) : 1);
    buffer_print(&out, ", %.4g running%s", point->figures[PLAN_running] / servers,
                 servers <= 1 ? "" : pools ? " per decode worker" : " per replica");
    if (!pools)
        buffer_print(&out, ", chunks of %.0f", plan_input(plan, at, NAME_chunked_prefill_size));
    if (draft > 0)
        buffer_print(&out, ", %.0f draft token%s", draft, draft > 1 ? "s" : "");
    return out.data;
}

const char *plan_load(const struct plan *plan, const struct plan_point *point)
{
    const double *at = point->figures;
    return load_command(plan->arena, at[PLAN_rate], 0, at[PLAN_arrivals_cv2], at[PLAN_prompt_tokens], at[PLAN_output_tokens]);
}

const char *plan_variant(const struct plan *plan, const struct plan_point *point)
{
    const struct variant *one = &plan->variants[point->at.space], *first = plan->variants;
    struct buffer out = { .arena = plan->arena };
    bool machines = false, precisions = false, kvs = false;
    for (size_t i = 1; i < plan->count; i++) {
        machines |= plan->variants[i].machine != first->machine;
        precisions |= plan->variants[i].precision != first->precision;
        kvs |= plan->variants[i].kv != first->kv;
    }
    buffer_add(&out, "", 0);
    if (machines)
        buffer_print(&out, "%s", one->scenario.machine);
    if (precisions)
        buffer_print(&out, "%s%s", out.size ? ", " : "", one->precision);
    if (kvs)
        buffer_print(&out, "%s%s cache", out.size ? ", " : "", one->kv);
    return out.data;
}

/* The limit that the next higher load of the same layout breaks. */
const char *plan_binds(struct plan *plan, const struct plan_point *point)
{
    const struct search_space *space = &plan->spaces[point->at.space];
    struct arena scratch = arena_beside(plan->arena);
    struct search_point next = point->at;
    const char *binds = "";
    double *outputs = arena_array(&scratch, space->graph.output_count, sizeof *outputs);
    if (++next.load == space->load_count) {
        arena_free(&scratch);
        return space->load_count > 1 ? "seats" : "";
    }
    search_values(&scratch, plan->spaces, &next, outputs);
    for (size_t l = space->limit_count; l-- > 0;)
        if (outputs[space->limits[l].output] > space->limits[l].bound)
            binds = space->limits[l].name;
    if (outputs[space->most] < space->loads[next.load])
        binds = "memory";
    arena_free(&scratch);
    return binds;
}

/* A small number as a word. */
static const char *count_word(struct arena *arena, double count)
{
    static const char *const words[] = { "no", "one", "two", "three", "four", "five", "six", "seven", "eight",
                                         "nine", "ten", "eleven", "twelve" };
    if (count >= 0 && count < sizeof words / sizeof *words && count == (double)(size_t)count)
        return words[(size_t)count];
    return count_text(arena, count, 6);
}

/* "three workers of eight GPUs": how they share the layers is in the short form. */
static void say_servers(struct buffer *out, const char *name, double count, double chips, double experts)
{
    buffer_print(out, "%s %s%s of %s GPU%s", count_word(out->arena, count), name, count > 1 ? "s" : "",
                 count_word(out->arena, chips), chips > 1 ? "s" : "");
    if (experts > 1)
        buffer_print(out, ", experts spread over %s,", count_word(out->arena, experts));
}

static void capitalize(char *text)
{
    if (*text >= 'a' && *text <= 'z')
        *text = (char)(*text - 'a' + 'A');
}

const char *plan_sentence(const struct plan *plan, const struct plan_point *point)
{
    const struct search_point *at = &point->at;
    struct buffer out = { .arena = plan->arena };
    const double copies = point->figures[PLAN_replicas], chips = plan_input(plan, at, NAME_chips);
    const double experts = plan_input(plan, at, NAME_expert_parallel);
    if (plan->variants[at->space].kind != PLAN_POOLS) {
        say_servers(&out, "server", copies, chips, experts);
        buffer_print(&out, copies > 1 ? " read prompts and answer" : " reads prompts and answers");
    } else {
        const double pairs = copies > 1 ? copies : 1;
        const double readers = plan_input(plan, at, NAME_prefill_workers) * pairs;
        const double writers = plan_input(plan, at, NAME_decode_workers) * pairs;
        say_servers(&out, "worker", readers, plan_input(plan, at, NAME_prefill_chips), 1);
        buffer_print(&out, readers > 1 ? " read prompts, " : " reads prompts, ");
        say_servers(&out, "worker", writers, chips, experts);
        buffer_print(&out, writers > 1 ? " answer" : " answers");
    }
    capitalize(out.data);
    return out.data;
}

/* ---- the record ------------------------------------------------------------------------------- */

static const char *const setting_rows[] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel, NAME_draft_tokens,
    NAME_chunked_prefill_size, NAME_prefill_workers, NAME_prefill_chips, NAME_prefill_attention_dp,
    NAME_prefill_pipeline_parallel, NAME_decode_workers, NAME_rank_running_target,
    NAME_layout_distance };
enum { SETTING_ROWS = sizeof setting_rows / sizeof *setting_rows };

static const char *const kinds[PLAN_KINDS] = { [PLAN_TOGETHER] = "together", [PLAN_POOLS] = "pools" };

/* Rows of the settings that are the layout of a server: chips, attention ranks, pipeline stages. */
enum { SERVER_CHIPS, SERVER_RANKS, SERVER_STAGES, SERVER_SIZES };
static const char *const decode_sizes[SERVER_SIZES] = {
    NAME_chips, NAME_attention_dp, NAME_pipeline_parallel };
static const char *const prefill_sizes[SERVER_SIZES] = {
    NAME_prefill_chips, NAME_prefill_attention_dp, NAME_prefill_pipeline_parallel };

/* One kind of server of the point, and how many of it there are. Experts of prefill servers are
 * spread over all chips of a stage where there are several ranks; pools do not search the prefill
 * chunk, which is then the one that was given or the default. */
static void add_server(struct plan *plan, const struct plan_point *point, const char *role, double count,
                       struct section *list)
{
    struct variant *variant = &plan->variants[point->at.space];
    const bool prefill = !strcmp(role, "prefill");
    const char *const *sizes = prefill ? prefill_sizes : decode_sizes;
    const double chips = plan_input(plan, &point->at, sizes[SERVER_CHIPS]);
    const double ranks = plan_input(plan, &point->at, sizes[SERVER_RANKS]);
    const double stages = plan_input(plan, &point->at, sizes[SERVER_STAGES]);
    double chunk = plan_input(plan, &point->at, NAME_chunked_prefill_size);
    struct error ignored;
    if (isnan(chunk)) {
        if (!(variant->chunk > 0))
            value_of(&variant->scenario, NAME_chunked_prefill_size, &variant->chunk, &ignored);
        chunk = variant->chunk;
    }
    if (!variant->spare_read && !value_of(&variant->scenario, NAME_spare_experts, &variant->spare, &ignored))
        variant->spare = 0;
    variant->spare_read = true;
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "role", role);
    section_number(one, "count", count, unit_one);
    section_word(one, "machine", variant->machine);
    section_number(one, NAME_chips, chips, unit_one);
    section_number(one, NAME_tensor_parallel, chips / ranks / stages, unit_one);
    section_number(one, NAME_attention_dp, ranks, unit_one);
    section_number(one, NAME_pipeline_parallel, stages, unit_one);
    section_number(one, NAME_expert_parallel, !prefill ? plan_input(plan, &point->at, NAME_expert_parallel)
                                              : ranks > 1 ? chips / stages : 1, unit_one);
    section_number(one, NAME_context_parallel, 1, unit_one);
    section_nothing(one, NAME_concurrency);     /* an open loop has no users */
    section_number(one, NAME_spare_experts, variant->spare, unit_one);
    section_number(one, "prefill_chunk", chunk, unit_one);
}

static void add_servers(struct plan *plan, const struct plan_point *point, struct section *section)
{
    const double copies = point->figures[PLAN_replicas];
    struct section *list = section_add(section, "servers", SECTION_LIST);
    if (plan->variants[point->at.space].kind != PLAN_POOLS) {
        add_server(plan, point, "aggregated", copies, list);
        return;
    }
    add_server(plan, point, "prefill", copies * plan_input(plan, &point->at, NAME_prefill_workers), list);
    add_server(plan, point, "decode", copies * plan_input(plan, &point->at, NAME_decode_workers), list);
}

/* Points that differ in their load alone are started alike. `read` is the scenario of servers that decode. */
static const struct started *started_of(struct plan *plan, const struct plan_point *point, const struct scenario *read)
{
    const bool pools = plan->variants[point->at.space].kind == PLAN_POOLS;
    for (size_t i = 0; i < plan->judged_count; i++)
        if (plan->judged[i].space == point->at.space && plan->judged[i].setting == point->at.setting)
            return &plan->judged[i].started;
    struct judged *judged = arena_push(plan->arena, &plan->judged, &plan->judged_count, &plan->judged_room,
                                       sizeof *judged);
    struct scenario decode = *read, prefill = *read, *const pair[] = { &decode, &prefill };
    if (pools)
        rules_of_pools(&decode, &prefill);
    judged->space = point->at.space, judged->setting = point->at.setting;
    rules_judge(point->figures[PLAN_pool_startable] > 0, pair, pools ? 2 : 1, &judged->started);
    return &judged->started;
}

/* The interval of a figure: of all servers, or that of a calibration at this deployment. */
static void set_band(struct plan *plan, const struct plan_point *point, const char *row, bool ttft,
                     struct figure *figure)
{
    const struct scenario read = plan_read_scenario(plan, point);
    double low = point->figures[ttft ? PLAN_ttft_low : PLAN_tpot_low];
    double high = point->figures[ttft ? PLAN_ttft_high : PLAN_tpot_high];
    calibrated_bands(&read, &row, 1, &low, &high);
    figure->low = figure->value * low;
    figure->high = figure->value * high;
}

static void add_figures(struct plan *plan, const struct plan_point *point, struct section *section)
{
    const struct variant *variant = &plan->variants[point->at.space];
    const struct formulas *formulas = &variant->scenario.formulas;
    for (int i = 0; i < PLAN_FIGURE_COUNT; i++) {
        const char *row = plan_row(plan, variant->kind, i), *name = plan_figures[i];
        const struct unit unit = formulas_row(formulas, formulas_find(formulas, row))->unit;
        const double value = point->figures[i];
        if (!section_find(section, row))
            section_number(section, row, value, unit);
        if (section_find(section, name))
            continue;                           /* the name of its row, or the switch `startable` */
        struct figure *figure = section_number(section, name, value, unit);
        figure->text_only = formulas_find(formulas, name) >= 0;
        if (i == PLAN_ttft || i == PLAN_tpot)
            set_band(plan, point, row, i == PLAN_ttft, figure);
    }
}

void plan_record(struct plan *plan, const struct plan_point *point, struct section *section)
{
    const struct variant *variant = &plan->variants[point->at.space];
    struct scenario read = plan_read_scenario(plan, point);
    const struct breakdown parts = plan_parts(plan, point);
    section_word(section, "deployment", plan_deployment(plan, point));
    section_word(section, "variant", plan_variant(plan, point))->text_only = true;
    section_word(section, "kind", kinds[variant->kind]);
    section_word(section, "machine", variant->scenario.machine);
    if (variant->precision)
        section_word(section, "precision", variant->precision);
    if (variant->kv)
        section_word(section, "kv_precision", variant->kv);
    figures_words(&read, section);
    add_servers(plan, point, section);
    for (int i = 0; i < SETTING_ROWS; i++) {
        const double value = plan_input(plan, &point->at, setting_rows[i]);
        if (!isnan(value))              /* the load of aggregated servers follows from their rate */
            section_number(section, setting_rows[i], value, unit_one)->text_only =
                variant->kind != PLAN_POOLS && !strcmp(setting_rows[i], NAME_rank_running_target);
    }
    deployment_engine(&read, section);
    deployment_rules(started_of(plan, point, &read), section);
    section_number(section, "distance", plan_input(plan, &point->at, NAME_layout_distance), unit_one);
    add_figures(plan, point, section);
    scenario_footprint(&read, variant->kind == PLAN_POOLS, section);
    breakdown_section(&variant->read, &parts, unit_second, section);
    section_word(section, "load_line", plan_load(plan, point))->text_only = true;
    section_word(section, "largest_part", breakdown_largest(plan->arena, &parts, 1))
        ->text_only = true;
    section_word(section, "largest_parts", breakdown_largest(plan->arena, &parts, 4))
        ->text_only = true;
}

void plan_csv(const struct section *list, struct buffer *out)
{
    static const char *const words[] = { "kind", "machine", "precision", "kv_precision" };
    enum { WORDS = sizeof words / sizeof *words };
    const char *columns[WORDS + SETTING_ROWS + PLAN_FIGURE_COUNT];
    memcpy(columns, words, sizeof words);
    memcpy(columns + WORDS, setting_rows, sizeof setting_rows);
    memcpy(columns + WORDS + SETTING_ROWS, plan_figures, sizeof plan_figures);
    section_csv_of(list, columns, sizeof columns / sizeof *columns, out);
}

/* ---- the keys --------------------------------------------------------------------------------- */

/* Rows depend on the kind and on whether there is a demand. */
const struct record plan_deployment_record = { "PlanDeployment", (const struct answer_field[]){
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
    { FIELD_ROWS, .names = footprint_rows[0], .count = FOOTPRINT_ROWS },
    { FIELD_ROWS, .names = footprint_rows[1], .count = FOOTPRINT_ROWS },
    { FIELD_RECORD, "parts", .help = "where the time of a token goes", .record = &parts_record },
    { FIELD_TEXT_ONLY, .names = plan_figures, .count = PLAN_FIGURE_COUNT },
    { FIELD_TEXT_ONLY, .count = 8, .names = (const char *const[]){
          "variant", "load_line", "largest_part", "largest_parts", "alike", "energy", "carbon", "water" } },
    { 0 } } };
