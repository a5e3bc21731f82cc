/* options -- the groups of options that verbs share. A verb lists the groups it takes; groups of one
 * title stand together in its help. An option that sets a row is one line of options.c. */
#ifndef SCENARIO_OPTIONS_H
#define SCENARIO_OPTIONS_H

#include "command/command.h"

/* What a person means by these quantities: the unit of a number without one, and the numbers that are plausible. */
#define TTFT_MEANT  .bare = "ms", .plausible = "1ms..10min"
#define TPOT_MEANT  .bare = "ms", .per = "token tok", .plausible = "1us..5s"
#define TOKENS_MEANT .plausible = "1M..200T"                 /* of a training run */
#define PRICE_MEANT .bare = "USD/h", .per = "GPU gpu chip card", .plausible = "0.001USD/h..50USD/h"

extern const struct option_group
    model_options,                  /* --model */
    machine_options,                /* --on */
    chip_options,                   /* --gpus, of one replica */
    deployment_options,             /* --gpus, of the deployment */
    weight_options,                 /* --precision, --experts-precision */
    cache_options,                  /* --kv-precision */
    engine_options,                 /* --engine */
    calibration_options,            /* --calibration, of a server that was measured */
    assume_options,                 /* --assume */
    point_options,                  /* --batch, --context, --lecture */
    layout_options,                 /* --tp, --pp, --ep, --cp */
    rank_options,                   /* --dp */
    replica_options,                /* --replicas */
    choose_options,                 /* --choose, of verbs that vary a row */
    length_options,                 /* --isl, --osl, --prefix-hit */
    budget_options,                 /* --max-batched-tokens, --chunked-prefill-size, --max-seqs, --link */
    arrival_options,                /* --arrivals */
    think_options,                  /* --think */
    image_options,                  /* --images */
    users_options,                  /* --users, --concurrency */
    demand_options,                 /* --rate, --tokens-per-day */
    limit_options,                  /* --speed, --ttft, --tpot */
    run_options,                    /* --tokens, --global-batch, --seq-length of a training run */
    served_options,                 /* --served */
    tier_options,                   /* --tiers */
    price_options,                  /* --price, --price-kind, --region (place.c) */
    row_options,                    /* --set, --rows */
    access_options,                 /* --bind, --token-file, --insecure, of what listens (access.c) */
    deck_options,                   /* --deck */
    table_options,                  /* --csv */
    plot_options,                   /* --plot */
    report_options,                 /* --report, --report-page: verbs with a file such as ask/step.report */
    output_options;                 /* --json, --help, --version: every verb */

/* What every verb takes that answers from rows of one scenario. */
#define SERVING_OPTIONS                                                                        \
    &model_options, &machine_options, &chip_options, &layout_options, &rank_options,           \
    &replica_options, &budget_options, &arrival_options, &think_options, &weight_options, &cache_options, &engine_options, &calibration_options, &assume_options,  \
    &point_options, &length_options, &image_options, &users_options, &demand_options, &limit_options,          \
    &tier_options, &price_options, &row_options
/* The same, and the training run: verbs that take any row. */
#define ANSWER_OPTIONS SERVING_OPTIONS, &deck_options, &run_options, &served_options

/* What a command sends or wants to be sent, from the file that an option names, or from the environment; *secret is NULL
 * where there is neither. It goes nowhere but into a header. */
bool secret_read(struct arena *arena, const struct command *command, const char *option, const char *variable,
                 const char **secret, struct error *error);

/* Where a command listens, and to whom. */
struct access {
    const char *address, *token;    /* token NULL: nobody needs one */
    bool insecure;                  /* others may ask without a token */
};
bool access_read(struct arena *arena, const struct command *command, struct access *access, struct error *error);
/* The command does not listen: an error if it says who may ask. */
bool access_unused(const struct command *command, struct error *error);

#endif
