/* plan -- find the best deployments: words -> variants -> spaces -> search -> answer.
 *
 * A variant is a machine with formats and a kind of deployment: aggregated, or disaggregated into a
 * prefill and a decode pool. It has a scenario of its own, in which the load is an input, and two graphs
 * over the same inputs: a small one that the search evaluates at every point, and a large one for the
 * figures of the points that are printed. */
#ifndef ASK_PLAN_H
#define ASK_PLAN_H

#include "ask/ask.h"
#include "scenario/figures.h"
#include "scenario/rules.h"
#include "search/search.h"
#include "deploy/server.h"
#include "deploy/servers.h"
#include "scenario/sweep.h"

#include "build/row_names.h"

enum plan_kind { PLAN_TOGETHER, PLAN_POOLS, PLAN_KINDS };       /* aggregated, disaggregated */

/* The inputs of a disaggregated setting: X(row, axis). Those of an aggregated one are servers_inputs. */
#define PLAN_POOLS_INPUTS(X)                                                                \
    X(chips, 0) X(attention_dp, 0) X(pipeline_parallel, 0) X(expert_parallel, 0)             \
    X(draft_tokens, 0) X(prefill_chips, 2) X(prefill_attention_dp, 2)                        \
    X(prefill_pipeline_parallel, 2) X(disagg_prefill_time, 2) X(decode_workers, 1)                \
    X(prefill_workers, 2) X(layout_distance, 0)

/* The figures of a point: X(name, row of an aggregated deployment, row of a disaggregated one). The name is that of
 * either kind, in JSON, CSV and the text; `cost` is all rent over output tokens. */
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
    X(rate, NAME_rate, NAME_rate)                                                                    \
    X(running, NAME_running, NAME_running)                                                           \
    X(seats, NAME_seats, NAME_seats)                                                                 \
    X(step_tokens, NAME_step_tokens, NAME_step_tokens)                                               \
    X(arrivals_cv2, NAME_arrivals_cv2, NAME_arrivals_cv2)                                            \
    X(prompt_tokens, NAME_prompt_tokens, NAME_prompt_tokens)                                         \
    X(output_tokens, NAME_output_tokens, NAME_output_tokens)                                         \
    X(deployment_rate, NAME_request_demand, NAME_disagg_deployment_rate)                             \
    X(server_rate, NAME_arrival_rate, NAME_pool_pair_rate)                                           \
    X(replicas, NAME_replicas, NAME_pool_replicas)                                                   \
    X(server_gpus, NAME_chips, NAME_disaggregated_chips)                                             \
    X(load, NAME_prefill_utilization, NAME_pool_load)                                                \
    X(tensor_parallel, NAME_tensor_parallel, NAME_tensor_parallel)                                   \
    X(rank_slots, NAME_rank_slots, NAME_rank_slots)                                                  \
    X(tpot_low, NAME_tpot_band_low, NAME_disagg_tpot_band_low)                                       \
    X(tpot_high, NAME_tpot_band_high, NAME_disagg_tpot_band_high)                                           \
    X(tpot_chance, NAME_tpot_chance, NAME_disagg_tpot_chance)                                        \
    X(ttft_chance, NAME_ttft_chance, NAME_disagg_ttft_chance)                                        \
    X(ttft_low, NAME_ttft_band_low, NAME_disagg_ttft_band_low)                                       \
    X(ttft_high, NAME_ttft_band_high, NAME_disagg_ttft_band_high)                                    \
    X(deployment_chips, NAME_deployment_chips, NAME_deployment_chips)                                \
    X(host_chips, NAME_host_chips, NAME_host_chips)                                                  \
    X(hosts, NAME_hosts, NAME_hosts)                                                                 \
    X(chips_paid, NAME_chips_paid, NAME_chips_paid)                                                  \
    X(rent, NAME_deployment_rent, NAME_deployment_rent)                                              \
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

#define ENDLESS 1e12                /* GPUs, where nobody limits them */

/* A machine of --on: "h100-sxm=64@2.1USD/h". */
struct machine_wanted {
    const char *name, *price;       /* price NULL: the sheet's, or that of --price */
    double most;                    /* GPUs; 0: as many as there are */
};

struct variant {
    struct scenario scenario;       /* in which the search varies layout and load */
    enum plan_kind kind;
    double gpus, ttft;              /* limits: those of the plan, or of this machine alone */
    double reach;                   /* most chips of one replica; 0: as many as there are */
    enum layout_rule rule;
    const char *machine, *precision, *kv;       /* names; NULL: the model's own */
    struct graph sizes;             /* of `scenario`: the request rate and the replicas of a point */
    struct scenario asked;          /* the question with its limits, before servers_open_loop */
    struct scenario read;           /* the question with a request rate as its load, as in `step` */
    struct graph report;            /* of `read`: the figures, and the number of decoding sequences */
    struct graph parts;             /* of `read`: the breakdown of PLAN_tpot */
    double spare;                   /* copies of experts */
    bool spare_read;
    double chunk;                   /* prefill chunk of the pools, tokens; 0: not evaluated yet */
    bool reported;                  /* `report` and `parts` are built */
};

/* What starts the servers of a setting. */
struct judged {
    uint32_t space, setting;
    struct started started;
};

/* One run of `plan`, or one value of its --sweep. */
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
    struct search_space *spaces;    /* [count]; searched ones have the settings of points in `result` alone */
    struct arena *settings;         /* of the space that is searched next; NULL: `arena` */
    bool by_cost, by_demand, in_flight;     /* as in struct servers */
    bool alone;                     /* neither GPUs nor a rate are given: plan a single replica */
    double gpus, ttft, tpot;        /* limits; times in s */
    double ttft_share, tpot_share;  /* 0.95: the limit is one of the 95th percentile; 0: of the mean */
    bool tails;                     /* a percentile limits what no row has one of: TTFT, or TPOT of pools */
    size_t validated;               /* layouts to simulate: --validate, and some for a percentile of TTFT; 0: none */
    double tensor;                  /* required tensor parallelism; 0: any */
    struct search_result result;
    struct judged *judged;          /* settings whose rules were looked at */
    size_t judged_count, judged_room;
    const char *scope;              /* "32 x H200 SXM" */
    struct plan_point *front;       /* [result.front.count] the front with its figures */
    const struct plan_point *best;  /* the first of the front, or the best that the simulator can hold; NULL: none */
    const char *best_binds;         /* the limit that it met at no higher load in the simulator; NULL: plan_binds */
};

enum { PLAN_READ_MOST = 16 };

/* A point of the search with the figures that are printed. */
struct plan_point {
    struct search_point at;
    double read[PLAN_READ_MOST];    /* values of the inputs of variant->read at this point */
    double figures[PLAN_FIGURE_COUNT];
    double running;                 /* sequences that decode: held while the parts of TPOT are taken */
};

/* Read one machine of --on; set the price that it says; find how many of its GPUs replicas may use. */
bool plan_read_machine(struct plan *plan, const char *text, struct machine_wanted *wanted);
bool plan_set_price(struct plan *plan, struct scenario *scenario, const struct machine_wanted *wanted);
bool plan_read_room(struct plan *plan, struct scenario *scenario, const struct machine_wanted *wanted, double *gpus);
/* Does a budget or the power of a site limit the GPUs? */
bool plan_capped(const struct scenario *scenario);
extern const struct option_group room_options;
/* Build all variants with their spaces. */
bool plan_spaces(struct plan *plan);
/* Build all variants, and search their spaces one after another, by all ranks. */
bool plan_search(struct plan *plan);
/* Build the graph, settings and loads of a variant's space. */
bool plan_space(struct plan *plan, struct variant *variant, struct search_space *space);
/* Build the graph of some expressions in which only the inputs of a setting and the load can vary. */
bool plan_list(struct plan *plan, struct variant *variant, const char *const *texts,
               size_t count, struct graph *graph);
/* Build the graph of the sizes of a variant's points, with the search's, whose nodes it shares. */
bool plan_sizes(struct plan *plan, struct variant *variant);
/* Compute the figures of a point. They are those that `eval` prints for the same words; the figures of
 * the search differ slightly, since its load is a number of sequences and not a rate. */
bool plan_read_point(struct plan *plan, const struct search_point *at, struct plan_point *point);
bool plan_read_points(struct plan *plan, const struct search_point *at, size_t count,
                      struct plan_point *points);
/* The parts of the TPOT of a point that was read. */
struct breakdown plan_parts(struct plan *plan, const struct plan_point *point);
/* The scenario of a point with its inputs as facts; scenario_words of it reproduce the point. */
struct scenario plan_read_scenario(struct plan *plan, const struct plan_point *point);
/* The row of a figure, by kind of deployment; for a disaggregated deployment with a given request rate,
 * plan_demand_rows goes first where it has a row. */
extern const char *const plan_figure_rows[PLAN_KINDS][PLAN_FIGURE_COUNT],
    *const plan_demand_rows[PLAN_FIGURE_COUNT];
const char *plan_row(const struct plan *plan, enum plan_kind kind, int figure);
/* Are the printed figures of the point within the limits? */
bool plan_keeps(const struct plan *plan, const struct plan_point *point);
double plan_input(const struct plan *plan, const struct search_point *point, const char *row);
/* The scenario of a point's variant in which the inputs of the point are facts. */
struct scenario plan_scenario(const struct plan *plan, const struct search_point *point);
extern const char *const plan_figures[PLAN_FIGURE_COUNT];

/* "8 x TP 4, 13 running per replica, chunks of 512"; "2 x TP 8 prefill + 1 x TP 8 decode, 51 running" */
const char *plan_deployment(const struct plan *plan, const struct plan_point *point);
/* The same as a sentence without its stop: "Five workers of five GPUs read prompts, nine workers of
 * one GPU answer". */
const char *plan_sentence(const struct plan *plan, const struct plan_point *point);
/* What sends the deployment its load: "vllm bench serve --request-rate 76.38 ...". */
const char *plan_load(const struct plan *plan, const struct plan_point *point);
/* What distinguishes the point's variant from the others: "H200 SXM, fp8", or "". */
const char *plan_variant(const struct plan *plan, const struct plan_point *point);
/* The figure as text. */
const char *plan_text(const struct plan *plan, const struct plan_point *point,
                      enum plan_figure figure, int digits);
/* The limit that one more sequence per rank violates: "TPOT", "memory"; "" if none. */
const char *plan_binds(struct plan *plan, const struct plan_point *point);
/* Fill a section with all figures of a point; its keys; print a list of such sections as CSV. */
void plan_record(struct plan *plan, const struct plan_point *point, struct section *section);
extern const struct record plan_deployment_record;
void plan_csv(const struct section *list, struct buffer *out);

bool plan_answer(struct plan *plan);
/* Add the words "check": the shortest command that evaluates the best point by itself. */
void plan_check(struct plan *plan, struct section *section);
/* Add notes to the first variant: on assumed limits, formats and rent; on options without effect. And
 * gather the defaults that the figures of a point depend on, in the arena of `noted`. */
void plan_note_question(struct plan *plan);
void plan_note_idle(struct plan *plan);
void plan_basis(struct plan *plan, const struct plan_point *point, struct scenario *noted,
                struct basis *basis);
/* Read what `simulate` runs for a point's deployment. `trace` NULL: `count` requests of Poisson traffic at its predicted
 * rate. All of it is in `arena`. */
struct simulate;
bool plan_simulation(struct plan *plan, struct arena *arena, const struct plan_point *point, const char *trace,
                     size_t count, struct simulate *simulate);
/* --validate: simulate the best layouts, add the list "validated", and make the one that holds most the best. */
bool plan_validate(struct plan *plan, struct section *section);
extern const struct record plan_validated;
/* --sweep: find the best deployment at each value of a row. */
bool plan_sweep(struct plan *plan);
extern const struct record plan_swept;

/* The front; NULL: there is none. */
struct picture *plan_picture(struct plan *plan);
/* --emit: check the options, before the search; print what starts the best point, after the answer. */
bool plan_emit_asked(const struct command *command, struct error *error);
bool plan_emit(struct plan *plan);

extern const struct record answer_plan;      /* the keys of the answer */

#endif
