/* life -- compute-optimal tokens and size of a model, with the tokens that it will serve:
 * words -> scenario -> each scaling law of the loss -> size and tokens -> the rows evaluated there.
 *
 * The conditions of the optimum are rows (formulas/training/compute-optimal.chalk). The constants of
 * each law are set as their inputs in turn; the law that was asked for is answered in detail. */
#ifndef ASK_LIFE_H
#define ASK_LIFE_H

#include "ask/ask.h"
#include "catalog/sheet.h"

/* Rows evaluated at the optimal size, with the tokens of the rule of equal cost or the given ones. */
#define LIFE_RULES(X)                                                                       \
    X(pretrain_tokens) X(rule_room) X(rule_params) X(rule_excess) X(rule_exact_params)      \
    X(optimal_pretrain_tokens) X(served_elasticity) X(params_elasticity) X(rl_elasticity)   \
    X(training_optimal_tokens_per_param) X(expert_gain)

/* Rows evaluated where both size and tokens are optimal. */
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

/* A kind of question: the tokens for a model size, or size and tokens for a compute budget or a loss. */
struct life_kind {
    const char *name;
    const char *params, *tokens;            /* the rows of the answer */
    const char *unserved;                   /* the row of tokens per parameter if nothing is served */
};

/* The answer of one scaling law. */
struct life_law {
    const char *name, *title;
    bool frontier;                          /* the law gives tokens for a compute, but no loss */
    bool chosen, uncertain;                 /* it is answered in detail; it has standard errors */
    bool reached;                           /* false: the wanted loss is below the law's floor, or
                                               the compute does not suffice to serve the tokens */
    struct scenario scenario;               /* with the law's constants */
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
    bool alone;                     /* nothing is served: a compute or a loss of training alone */
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
/* NULL: the law has no loss. */
bool life_picture(struct life *life, struct picture **picture);
bool life_answer(struct life *life, struct answer *answer);

extern const struct record answer_life;      /* the keys of the answer */

#endif
