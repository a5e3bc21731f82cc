/* servers -- replicas that prefill and decode, as a space to search.
 *
 *     layouts (chips, attention ranks, stages, experts) x chunk x draft tokens
 *         x sequences that each rank decodes  ->  throughput, TTFT, TPOT, what fits
 *
 * Traffic is random and the load is an input: the number of decoding sequences, for which flow balance
 * otherwise solves, is given, so that each load of a layout is one point without a solver of its own.
 * `plan` searches this space, and so does a command that leaves its deployment open
 * (scenario_choose), so that both find the same one. */
#ifndef SCENARIO_SERVERS_H
#define SCENARIO_SERVERS_H

#include "scenario/scenario.h"
#include "search/search.h"

/* Which layouts are considered: those that engines and hosts can start; those that divide evenly;
 * every product. */
enum layout_rule { LAYOUT_STARTABLE, LAYOUT_EVEN, LAYOUT_ANY };

struct servers {
    struct arena *arena;
    struct scenario *scenario;      /* servers_open_loop was called on its facts */
    const struct scenario *given;   /* whose given numbers leave out other settings; NULL: that one */
    double chips;                   /* of the whole deployment */
    double replica_least, replica_most;     /* chips of one replica; most 0: as many as there are */
    double ttft, tpot;              /* limits, in s; INFINITY: none */
    double tensor;                  /* tensor parallelism as given; 0: any */
    double draft_most;              /* most draft tokens */
    bool by_cost;                   /* tokens for the rent, not for the chips */
    bool by_demand;                 /* the fewest chips, or least rent, that serve `demand` */
    enum layout_rule rule;
    bool own_rows;                  /* --rows: limits may fall as the load rises, so skip nothing */
    bool tell_rate;                 /* outputs also SERVERS_RATE and SERVERS_REPLICAS */
    double domain, chips_most, max_num_seqs, output_tokens, margin;   /* servers_read */
};

/* A layout of chips; tensor parallelism follows. */
struct layout {
    double chips, attention_dp, pipeline_parallel;
};
struct layouts {
    struct layout *at;
    size_t count, room;
};

/* Inputs of a setting, in the order of the columns of space->settings, with their axis. */
struct setting_input {
    const char *row;
    int axis;
};
extern const struct setting_input servers_inputs[];
enum { SERVERS_INPUTS = 6 };

/* Make the load an input, rank_running_target, instead of the result of flow balance. */
void servers_open_loop(struct facts *facts, const char *source);
/* Rounds a rate down to four digits, so that the rate which is printed can be asked for again and
 * never asks more of the server than was found. */
double rate_down(double rate);
/* Reads the rows that the space starts from, among them the limits that are not set. */
bool servers_read(struct servers *servers, struct error *error);
/* Layouts of at most `servers->chips` that engines can start, or that come out even, in rising
 * order of chips. */
bool servers_layouts(const struct servers *servers, struct layouts *layouts, struct error *error);
/* The settings of the space, SERVERS_INPUTS numbers each: those layouts, experts over one chip or
 * all, chunks and draft tokens; what is given leaves out other values. */
bool servers_settings(const struct servers *servers, const double **settings, size_t *count,
                      struct error *error);
/* Evaluate rows for every layout: out[row][layout]. `names` are the inputs that receive chips, ranks
 * and stages. */
bool layouts_rows(struct scenario *scenario, const struct layouts *layouts,
                  const char *const names[3], const char *const *rows, size_t row_count,
                  double **out, struct error *error);
/* Possible sizes of expert parallelism: 1 (every expert is split) or all chips of a stage; their
 * number. */
size_t layout_experts(const struct scenario *scenario, const struct layout *layout, double ways[2]);
/* The number the user gave a row, perhaps as an expression. */
bool given_number(const struct scenario *scenario, const char *row, double *value);

/* A graph of some texts in which only the named inputs and `held` are left to vary. */
bool servers_list(struct arena *arena, struct scenario *scenario,
                  const struct setting_input *inputs, size_t input_count,
                  const char *const *texts, size_t count, struct graph *graph, struct error *error);
/* Set space->loads, the numbers of decoding sequences of a rank that are searched. */
void servers_loads(const struct servers *servers, struct search_space *space);
/* Find the inputs in the space's graph: set space->input, axis and column. */
void servers_columns(struct arena *arena, const struct setting_input *inputs, size_t count,
                     struct search_space *space);
/* The whole space. Points that break a limit are counted by the first of: memory, prompts,
 * stability, TTFT, TPOT, chips. */
bool servers_space(const struct servers *servers, struct search_space *space, struct error *error);
/* The limits, whose outputs stand where `outputs` says. */
enum { SERVERS_SPEED, SERVERS_WORTH, SERVERS_ROOM, SERVERS_TTFT, SERVERS_TPOT, SERVERS_PROMPTS,
       SERVERS_LOAD, SERVERS_CHIPS, SERVERS_OUTPUTS,
       SERVERS_RATE = SERVERS_OUTPUTS, SERVERS_REPLICAS, SERVERS_ALL };
void servers_limits(const struct servers *servers, struct search_space *space);

#endif
