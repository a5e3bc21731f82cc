/* plan -- which deployment is best: words -> variants -> spaces -> search -> answer.
 *
 * A variant is a machine, formats, and a kind of deployment: aggregated, or disaggregated in two
 * pools. It has a scenario of its own, in which the load is an input, and two graphs over the same
 * inputs: a small one for the search, and a large one for the figures of single points. */
#ifndef ASK_PLAN_H
#define ASK_PLAN_H

#include "ask/shards/shards.h"
#include "scenario/servers.h"
#include "scenario/sweep.h"

#include "build/row_names.h"

enum plan_kind { PLAN_TOGETHER, PLAN_POOLS, PLAN_KINDS };

/* Inputs that a setting of two pools gives: X(row, axis); of other servers servers_inputs. */
#define PLAN_POOLS_INPUTS(X)                                                                \
    X(chips, 0) X(attention_dp, 0) X(pipeline_parallel, 0) X(expert_parallel, 0)             \
    X(draft_tokens, 0) X(prefill_chips, 1) X(prefill_attention_dp, 1)                        \
    X(prefill_pipeline_parallel, 1) X(disagg_prefill_time, 1) X(decode_workers, 2)                \
    X(prefill_workers, 2)

/* What is told of a point: X(name, row of servers that do both, row of pools). `cost` is all rent over
 * output tokens, and goes with the next version. */
#define PLAN_FIGURES(X)                                                                              \
    X(speed_per_user, NAME_speed_per_user, NAME_disagg_speed_per_user)                               \
    X(per_gpu, NAME_deployment_throughput_per_chip, NAME_disagg_throughput_per_chip)                 \
    X(input_cost_per_token, NAME_input_cost_per_token, NAME_pool_input_cost_per_token)               \
    X(output_cost_per_token, NAME_output_cost_per_token, NAME_pool_output_cost_per_token)            \
    X(blended_cost_per_token, NAME_blended_cost_per_token, NAME_pool_blended_cost_per_token)         \
    X(cost, NAME_deployment_cost_per_token, NAME_disagg_cost_per_token)                              \
    X(ttft, NAME_predicted_ttft, NAME_disagg_deployment_ttft)                                        \
    X(tpot, NAME_predicted_tpot, NAME_disagg_tpot)                                                   \
    X(e2e, NAME_predicted_e2e, NAME_pool_e2e)                                                        \
    X(rate, NAME_request_demand, NAME_disagg_deployment_rate)                                        \
    X(server_rate, NAME_arrival_rate, NAME_pool_pair_rate)                                           \
    X(replicas, NAME_replicas, NAME_pool_replicas)                                                   \
    X(server_gpus, NAME_chips, NAME_disaggregated_chips)                                             \
    X(load, NAME_prefill_utilization, NAME_pool_load)                                                \
    X(tensor_parallel, NAME_tensor_parallel, NAME_tensor_parallel)                                   \
    X(rank_slots, NAME_rank_slots, NAME_rank_slots)                                                  \
    X(tpot_low, NAME_tpot_band_low, NAME_tpot_band_low)                                              \
    X(tpot_high, NAME_tpot_band_high, NAME_tpot_band_high)                                           \
    X(ttft_low, NAME_ttft_band_low, NAME_ttft_band_low)                                              \
    X(ttft_high, NAME_ttft_band_high, NAME_ttft_band_high)                                           \
    X(deployment_chips, NAME_deployment_chips, NAME_deployment_chips)                                \
    X(host_chips, NAME_host_chips, NAME_host_chips)                                                  \
    X(hosts, NAME_hosts, NAME_hosts)                                                                 \
    X(chips_paid, NAME_chips_paid, NAME_chips_paid)                                                  \
    X(startable, NAME_layout_startable, NAME_layout_startable)                                       \
    X(pool_startable, NAME_layout_startable, NAME_pool_startable)                                    \
    X(throughput_low, NAME_throughput_band_low, NAME_throughput_band_low)                            \
    X(throughput_high, NAME_throughput_band_high, NAME_throughput_band_high)

enum plan_figure {
#define X(name, together, pools) PLAN_##name,
    PLAN_FIGURES(X)
#undef X
    PLAN_FIGURE_COUNT
};

struct variant {
    struct scenario scenario;
    enum plan_kind kind;
    double gpus, ttft;              /* limits: those of the plan, or of this machine alone */
    double reach;                   /* most chips of one server; 0: as many as there are */
    enum layout_rule rule;
    const char *machine, *precision, *kv;       /* names; NULL: the model's own */
    struct graph sizes;             /* of the searched scenario: rate and copies of a point */
    struct scenario asked;          /* the question with its limits, before the search opens it */
    struct scenario read;           /* the same question closed: its load is a rate, as in `step` */
    struct graph report;            /* of that: the figures, the sequences that decode */
    struct graph parts;             /* of PLAN_tpot, those given */
    double chunk;                   /* of pools; 0: not asked yet */
    bool reported;
};

struct plan {
    struct arena *arena;
    const struct command *command;
    struct subject subject;         /* machines and formats as lists with commas */
    struct sweep_value swept;       /* by --sweep: this is one of its values */
    struct answer *answer;
    struct error *error;
    const char *model;
    struct variant *variants;
    size_t count, room;
    struct search_space *spaces;    /* [count] */
    bool by_cost, by_demand;
    bool alone;                     /* one server is planned: GPUs were not given, nor a rate */
    double gpus, ttft, tpot;                    /* limits */
    double tensor;                  /* TP that is wanted; 0: any */
    struct search_result result;
    const char *scope;              /* "32 x H200 SXM" */
    struct plan_point *front;       /* [result.front.count] as told */
};

enum { PLAN_READ_MOST = 16 };

struct plan_point {
    struct search_point at;
    double read[PLAN_READ_MOST];    /* numbers of the inputs of its question */
    double figures[PLAN_FIGURE_COUNT];
    struct breakdown parts;         /* of its TPOT */
};

/* Variants with their spaces. */
bool plan_spaces(struct plan *plan);
/* Fills a space's list, settings and loads. */
bool plan_space(struct plan *plan, struct variant *variant, struct search_space *space);
/* The list of some texts with only a setting's inputs and the load left to vary. */
bool plan_list(struct plan *plan, struct variant *variant, const char *const *texts,
               size_t count, struct graph *graph);
/* What is told of a point: the figures that `eval` gives with its words, not those of the search. */
bool plan_read_point(struct plan *plan, const struct search_point *at, struct plan_point *point);
bool plan_read_points(struct plan *plan, const struct search_point *at, size_t count,
                      struct plan_point *points);
/* The question that a point is, as facts: its words ask it again. */
struct scenario plan_read_scenario(struct plan *plan, const struct plan_point *point);
/* The row of a figure, from one of these tables; of pools with a demand the last, where it has one. */
extern const char *const plan_figure_rows[PLAN_KINDS][PLAN_FIGURE_COUNT],
    *const plan_demand_rows[PLAN_FIGURE_COUNT];
const char *plan_row(const struct plan *plan, enum plan_kind kind, int figure);
/* Is it within the limits as it is told? */
bool plan_keeps(const struct plan *plan, const struct plan_point *point);
double plan_input(const struct plan *plan, const struct search_point *point, const char *row);
/* The scenario of a point's variant in which the inputs of the point are facts. */
struct scenario plan_scenario(const struct plan *plan, const struct search_point *point);
extern const char *const plan_figures[PLAN_FIGURE_COUNT];

/* "8 x TP 4, concurrency 13, chunks of 512"; "2 x TP 8 prefill + 1 x TP 8 decode, concurrency 51" */
const char *plan_deployment(const struct plan *plan, const struct plan_point *point);
/* What the point has that another variant would not: "H200 SXM, fp8", or "". */
const char *plan_variant(const struct plan *plan, const struct plan_point *point);
/* The figure as text. */
const char *plan_text(const struct plan *plan, const struct plan_point *point,
                      enum plan_figure figure, int digits);
/* The limit that a little more load breaks: "TPOT", "memory"; "" where it is only slower. */
const char *plan_binds(struct plan *plan, const struct plan_point *point);
/* All that the answer says of a point, and its keys; a list of such records as CSV. */
void plan_record(struct plan *plan, const struct plan_point *point, struct section *section);
extern const struct record plan_deployment_record;
void plan_csv(const struct section *list, struct buffer *out);

bool plan_answer(struct plan *plan);
/* What was assumed, as notes of the first variant: limits, formats and rent; what has no effect. And
 * the defaults that the figures of a point rest on, gathered in the arena of `noted`. */
void plan_note_question(struct plan *plan);
void plan_note_idle(struct plan *plan);
void plan_basis(struct plan *plan, const struct plan_point *point, struct scenario *noted,
                struct basis *basis);
/* A point's deployment through the simulator; `trace` NULL: random traffic at its predicted rate, of
 * `count` requests. */
struct simulate;
struct simulated;
bool plan_trial(struct plan *plan, const struct plan_point *point, const char *trace, size_t count,
                struct simulate *simulate, struct simulated *outcome);
/* The best layouts through the simulator, as --validate says: a list "validated" of such records. */
bool plan_validate(struct plan *plan, struct section *section);
extern const struct record plan_validated;
/* The best at each value of a row, as --sweep says: a list of such records. */
bool plan_sweep(struct plan *plan);
extern const struct record plan_swept;

bool plan_plot(struct plan *plan, const char *path);
/* --emit: options that fit, before the search; then what starts a point, after the answer. */
bool plan_emit_asked(const struct command *command, struct error *error);
bool plan_emit(struct plan *plan);

#endif
