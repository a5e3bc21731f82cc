/* trials -- many runs of a simulation, side by side in threads, and their table. */
#ifndef ASK_SIMULATE_TRIALS_H
#define ASK_SIMULATE_TRIALS_H

#include "ask/simulate/simulate.h"

#define NUMBERS(X)                                                                            \
    X(requests_per_s) X(ttft_mean) X(ttft_p50) X(ttft_p99) X(tpot_mean) X(tpot_p99) X(e2e_mean) \
    X(e2e_p99) X(output_rate) X(good_requests_per_s) X(met) X(utilisation) X(rent_per_token)
enum number {
#define X(name) NUMBER_##name,
    NUMBERS(X)
#undef X
    NUMBER_COUNT
};
extern const char *const number_names[NUMBER_COUNT];

struct trial {
    struct variation variation;
    double numbers[NUMBER_COUNT];
    double there[2];                /* s of servers, as in sim_result */
    double outputs;                 /* tokens */
    const char *verdict;
    bool meets;
    struct error error;             /* what is not empty: it could not be run */
};

/* Each by itself: the answer does not depend on how many threads there are. */
bool trials_run(const struct simulate *simulate, struct trial *trials, size_t count,
                struct error *error);
/* A line for each; `name` is what varies, `values` where it stood. */
void trials_answer(const struct simulate *simulate, const char *name, const double *values,
                   const struct trial *trials, size_t count, struct answer *answer);
const char *trials_number(struct arena *arena, enum number number, double value);

#endif
