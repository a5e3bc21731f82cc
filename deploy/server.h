/* server -- the prediction for a replica with the same model and machine as the bound.
 *
 * The bound describes one step, the prediction a replica under load. Where no request lengths are
 * given, the load is `batch` concurrent requests whose mean context is `context`, so that both
 * describe the same step. What the command leaves open of the layout is chosen (choice.h). */
#ifndef SCENARIO_SERVER_H
#define SCENARIO_SERVER_H

#include "scenario/rules.h"
#include "scenario/figures.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

/* The first rows exist for every replica, the others only for one that keeps up with its arrivals. The very first is of a
 * closed loop: null in an open one. */
#define NAME_seats "seats"          /* an alias */
#define SERVER_ROWS(X)                                                                      \
    X(concurrency) X(arrival_rate) X(prompt_tokens) X(output_tokens)                        \
    X(prompt_tokens_cv) X(output_tokens_cv) X(tensor_parallel)                              \
    X(attention_dp) X(pipeline_parallel) X(rank_slots) X(saturated_throughput) X(batch)     \
    X(chips) X(expert_parallel) X(context_parallel) X(chunked_prefill_size) X(replicas)     \
    X(deployment_chips) X(host_chips) X(hosts) X(chips_paid) X(layout_startable)            \
    X(step_tokens) X(seats) X(arrivals_cv2)                                                                 \
    X(stable) X(replica_fits) X(band_exponent) X(heads_divisible) X(layout_exists) X(layout_distance)        \
    X(spare_experts)                                                                       \
    X(replica_weights_per_chip) X(replica_kv_per_chip) X(replica_memory_share)             \
    X(utilization) X(rank_running_mean) X(rate) X(running)                                     \
    X(predicted_tpot) X(predicted_ttft) X(predicted_e2e) X(predicted_throughput)            \
    X(throughput_per_chip) X(speed_per_user) X(predicted_energy_per_token)                  \
    X(deployment_rent) X(input_cost_per_token) X(output_cost_per_token) X(blended_cost_per_token)              \
    X(tpot_band_low) X(tpot_band_high)                                                      \
    X(ttft_band_low) X(ttft_band_high) X(throughput_band_low) X(throughput_band_high)

enum server_row {
#define X(name) SERVER_##name,
    SERVER_ROWS(X)
#undef X
    SERVER_ROW_COUNT, SERVER_KNOWN = SERVER_utilization
};
extern const char *const server_rows[SERVER_ROW_COUNT];

struct server {
    struct scenario scenario;       /* a copy, with requests and layout, and their notes */
    struct values values;           /* of server_rows, then of what else was asked */
    size_t row_count;               /* SERVER_KNOWN if the server does not keep up */
    struct breakdown parts;             /* of predicted_tpot; none if it does not keep up */
};

bool server_open(struct server *server, const struct scenario *scenario, struct error *error);
/* The same with more expressions in the same graph; their values follow those of server_rows. */
bool server_open_with(struct server *server, const struct scenario *scenario,
                      const char *const *more, size_t count, struct error *error);
/* The same with the breakdown of TPOT. */
bool server_open_parts(struct server *server, const struct scenario *scenario,
                       const char *const *more, size_t count, struct error *error);
/* The values of `more` alone. */
struct values server_more(const struct server *server);
double server_at(const struct server *server, enum server_row row);
/* The value with its unit, to `digits` significant digits. */
const char *server_text(const struct server *server, enum server_row row, int digits);
/* "TP 8 x attention DP 9" */
const char *server_layout(const struct server *server);
/* A usual number of GPUs, a power of 2, that has room for what takes this share of the memory of so many. */
double chips_holding(double share, double chips);
/* "vllm bench serve --request-rate 15.76 ...": what sends a deployment this load, with random arrivals, or such whose gaps
 * have the squared coefficient of variation `cv2`. `users` of a closed loop, 0: an open one. */
const char *load_command(struct arena *arena, double rate, double users, double cv2, double prompt, double output);
const char *server_load(const struct server *server);          /* the same of a server */
/* Why the replica serves nothing (out of memory, overloaded), or NULL. */
const char *server_verdict(const struct server *server);
/* assumed_notes of what the server reaches and costs. */
void server_assumed(struct server *server);
/* Is there no such server, or none within limits that were given? Then "infeasible" says why. */
bool server_infeasible(const struct server *server, struct doc *doc);
/* Its rows and the parts of a token's time as figures; with the `count` texts of `more` that were
 * read beside them. */
void server_figures(struct server *server, const char *const *more, size_t count,
                    const struct template *template, struct section *section);
/* "server": the deployment of which it is one replica. The records declare the keys: of the rows, and
 * of what each deployment has. */
void server_deployment(const struct server *server, struct section *answer);

/* Which engine a deployment's servers run, and which rules of layouts they break: of one that can be
 * started none. Each scenario is of one kind of its servers. */
void deployment_engine(const struct scenario *scenario, struct section *section);
void deployment_rules(const struct started *started, struct section *section);

extern const struct record server_record, deployment_record;

/* Add to `noted` what the formulas of a loaded server leave out here. */
void server_note_load(struct scenario *scenario, struct facts *noted);

#endif
