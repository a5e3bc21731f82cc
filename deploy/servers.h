/* servers -- replicas that prefill and decode, as a space to search.
 *
 *     layout (chips, attention ranks, stages, experts) x prefill chunk x draft tokens
 *         x decoding sequences per rank  ->  throughput, TTFT, TPOT, fits in memory
 *
 * Arrivals are random, and the load is an input: flow balance usually solves for the number of decoding
 * sequences, but here that number is given and the arrival rate follows, so that each load of a layout
 * is one point without a solver of its own. `plan` searches this space, and so does a command that
 * leaves its deployment open (scenario_choose), so that both find the same deployment. */
#ifndef SCENARIO_SERVERS_H
#define SCENARIO_SERVERS_H

#include "scenario/scenario.h"
#include "search/search.h"

/* Which layouts are considered. */
enum layout_rule {
    LAYOUT_STARTABLE,               /* engines and hosts start them (data/rules.csv), and they are usual */
    LAYOUT_EVEN,                    /* heads divide evenly, and every stage has a layer */
    LAYOUT_ANY                      /* every factorization of the chips */
};

struct servers {
    struct arena *arena;
    struct arena *settings;         /* where settings and layouts lie; NULL: `arena` */
    struct scenario *scenario;      /* servers_open_loop was called on its facts */
    const struct scenario *given;   /* settings that contradict its given values are left out;
                                       NULL: `scenario` */
    double chips;                   /* of the whole deployment */
    double replica_least, replica_most;     /* limits of the chips of one replica; most 0: `chips` */
    double replica_step;            /* they are a multiple of it: the given parallelism; 0: any number */
    double ttft, tpot;              /* limits, in s; INFINITY: none */
    double tensor;                  /* tensor parallelism as given; 0: any */
    bool by_layers;                 /* pipeline stages alone, as llama.cpp splits a model over cards */
    double draft_most;              /* largest number of draft tokens */
    bool by_cost;                   /* the worth is tokens per USD, not tokens/s per chip */
    bool by_demand;                 /* the worth is the fewest chips, or least rent, that serve the
                                       given request rate */
    enum layout_rule rule;
    bool own_rows;                  /* --rows: limits may fall as the load rises, so skip nothing */
    bool in_flight;                 /* requests in flight of a replica are limited: concurrency_most */
    bool tell_rate;                 /* also compute SERVERS_RATE and SERVERS_REPLICAS */
    double domain, chips_most, max_num_seqs, output_tokens, margin;   /* servers_read sets these */
};

/* A layout of one replica; tensor parallelism is chips / (attention_dp * pipeline_parallel). */
struct layout {
    double chips, attention_dp, pipeline_parallel;
};
struct layouts {
    struct layout *at;
    size_t count, room;
};

/* The inputs of a setting, in the order of the columns of space->settings. `axis` is the axis of the
 * search that each belongs to. */
struct setting_input {
    const char *row;
    int axis;
    double unset;                   /* its value before the search sets one */
};
extern const struct setting_input servers_inputs[];
enum { SETTING_CHIPS, SETTING_ATTENTION_DP, SETTING_PIPELINE_PARALLEL, SETTING_EXPERT_PARALLEL, SETTING_DRAFT,
       SETTING_CHUNK, SETTING_DISTANCE, SERVERS_INPUTS };

/* Make the load an input, rank_running_target, instead of the result of flow balance. */
void servers_open_loop(struct facts *facts, const char *source);
/* Round a rate down to four digits, so that a user who gives the printed rate to another command never
 * asks for more than the replica was found to serve. */
double rate_down(double rate);
/* Read the rows that bound the space, and the limits that the caller has not set. */
bool servers_read(struct servers *servers, struct error *error);
/* The layouts of at most `servers->chips` that servers->rule admits, in rising order of chips; of startable
 * ones those that are so with experts split over all chips. */
bool servers_layouts(const struct servers *servers, struct layouts *layouts, struct error *error);
/* The settings of the space, SERVERS_INPUTS numbers each: every layout with each expert parallelism,
 * chunk size and number of draft tokens. Where a value is given, only settings with that value. */
bool servers_settings(const struct servers *servers, const double **settings, size_t *count,
                      struct error *error);
/* Of `count` settings, each as many numbers as `inputs`, keep those where the row is above 0; returns how many
 * are left. */
bool settings_keep(struct scenario *scenario, const struct setting_input *inputs, size_t input_count,
                   const char *row, double *settings, size_t *count, struct error *error);
/* Sort settings by the number of their column `distance`, those with the same number in their order. */
void settings_sort(struct arena *arena, double *settings, size_t count, size_t inputs, size_t distance);
/* Evaluate rows for every layout: out[row][layout]. `names` are the rows that receive chips, attention
 * ranks and pipeline stages: those of a replica, or of a prefill or decode worker. */
bool layouts_rows(struct scenario *scenario, const struct layouts *layouts,
                  const char *const names[3], const char *const *rows, size_t row_count,
                  double **out, struct error *error);
/* Write the possible sizes of expert parallelism, 1 (every expert is split over all chips) and all chips
 * of a stage, and return how many of them apply. */
size_t layout_experts(const struct scenario *scenario, const struct layout *layout, double ways[2]);

/* Build the graph of some expressions in which only the named inputs, and the load, can vary. */
bool servers_list(struct arena *arena, struct scenario *scenario,
                  const struct setting_input *inputs, size_t input_count,
                  const char *const *texts, size_t count, struct graph *graph, struct error *error);
/* Set space->loads, the numbers of decoding sequences of a rank that are searched. */
void servers_loads(const struct servers *servers, struct search_space *space);
/* Find the inputs in the space's graph: set space->input, axis and column. */
void servers_columns(struct arena *arena, const struct setting_input *inputs, size_t count,
                     struct search_space *space);
/* Build the whole space. A point that violates a limit is counted under the first of these that it
 * violates: memory, prefill, overload, TTFT, TPOT, requests in flight, chips. */
bool servers_space(const struct servers *servers, struct search_space *space, struct error *error);
/* The outputs of the space, in order; the last two only with tell_rate. */
enum { SERVERS_SPEED, SERVERS_WORTH, SERVERS_ROOM, SERVERS_TTFT, SERVERS_TPOT, SERVERS_PROMPTS,
       SERVERS_LOAD, SERVERS_FLIGHT, SERVERS_CHIPS, SERVERS_OUTPUTS,
       SERVERS_RATE = SERVERS_OUTPUTS, SERVERS_REPLICAS, SERVERS_ALL };
/* Set space->limits, which read these outputs. */
void servers_limits(const struct servers *servers, struct search_space *space);

#endif
