/* life -- compute-optimal tokens and size of a model, with the tokens that it will serve:
 * words -> scenario -> each scaling law of the loss -> size and tokens -> the rows evaluated there.
 *
 * The conditions of the optimum are rows (formulas/training/compute-optimal.chalk). The constants of
 * each law are set as their inputs in turn; the law that was asked for is answered in detail. */
#ifndef ASK_LIFE_H
#define ASK_LIFE_H

#include "ask/ask.h"
#include "catalog/sheet.h"

/* Read where the size is the best and the tokens are the rule's, or those given. */
#define LIFE_RULES(X)                                                                       \
    X(pretrain_tokens) X(rule_room) X(rule_params) X(rule_excess) X(rule_exact_params)      \
    X(optimal_pretrain_tokens) X(served_elasticity) X(params_elasticity) X(rl_elasticity)   \
    X(training_optimal_tokens_per_param) X(expert_gain)

/* Read where both are the best. */
#define LIFE_FIGURES(X)                                                                     \
    X(params_active) X(pretrain_tokens) X(overtraining) X(served_tokens) X(inference_tokens) \
    X(pretrain_flops) X(life_rl_flops) X(inference_flops) X(life_flops)                     \
    X(inference_over_training) X(model_loss) X(loss_floor) X(loss_of_params)                \
    X(loss_of_tokens) X(ship_probability) X(tokens_per_param) X(seen_params_high)           \
    X(seen_tokens_high)

enum life_rule {
#define X(name) RULE_##name,
    LIFE_RULES(X)
#undef X
    LIFE_RULE_COUNT
};
enum life_figure {
#define X(name) LIFE_##name,
    LIFE_FIGURES(X)
#undef X
    LIFE_FIGURE_COUNT
};

extern const char *const life_rules[LIFE_RULE_COUNT], *const life_figures[LIFE_FIGURE_COUNT];

/* What is asked: tokens for a size, or both for a compute or a loss. */
struct life_kind {
    const char *name;
    const char *params, *tokens;            /* the rows that answer */
    const char *unserved;                   /* tokens a parameter if nothing is served */
};

struct life_law {
    const char *name, *title;
    bool frontier;                          /* tokens for a compute, no loss */
    bool chosen, uncertain;                 /* uncertain: it has standard errors */
    bool reached;                           /* false: the loss asked for is below its floor, or
                                               the compute does not serve what is asked */
    struct scenario scenario;               /* with its numbers */
    double params, tokens, unserved;
    double rules[LIFE_RULE_COUNT], figures[LIFE_FIGURE_COUNT];
};

struct life {
    struct arena *arena;
    const struct command *command;
    struct section *section;        /* the answer */
    struct error *error;
    struct scenario scenario;
    const struct life_kind *kind;
    struct life_law *laws;
    size_t count, room;
    struct life_law *chosen;
};

enum { LIFE_TOKENS, LIFE_BUDGET, LIFE_LOSS };
extern const struct life_kind life_kinds[];

/* The same, whose facts can be set apart from its own. */
struct scenario life_apart(const struct scenario *scenario);
/* The laws of data/loss_laws.csv, each solved. */
bool life_laws(struct life *life);
bool life_answer(struct life *life, struct answer *answer);

#endif
