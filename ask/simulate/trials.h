/* trials -- many runs of a simulation, side by side in threads, and their table. */
#ifndef ASK_SIMULATE_TRIALS_H
#define ASK_SIMULATE_TRIALS_H

#include "ask/simulate/simulate.h"

/* What is told of each run, with its unit. */
#define NUMBERS(X)                                                                           \
    X(requests_per_s, "1") X(ttft_mean, "s") X(ttft_p50, "s") X(ttft_p99, "s")               \
    X(tpot_mean, "s") X(tpot_p99, "s") X(e2e_mean, "s") X(e2e_p99, "s") X(output_rate, "1")  \
    X(good_requests_per_s, "1") X(met, "1") X(utilisation, "1") X(rent_per_token, "USD/token")
enum number {
#define X(name, unit) NUMBER_##name,
    NUMBERS(X)
#undef X
    NUMBER_COUNT
};
extern const char *const number_names[NUMBER_COUNT];
extern const char *const number_units[NUMBER_COUNT];

struct trial {
    struct variation variation;
    double numbers[NUMBER_COUNT];
    double there[2];                /* s of servers, as in sim_result */
    double outputs;                 /* tokens */
    char verdict[16];               /* "": none, a closed loop */
    bool meets;
    struct error error;             /* what is not empty: it could not be run */
};

/* Each by itself: the answer does not depend on how many threads and ranks there are. `ranks` NULL: this process
 * runs all. */
bool trials_run(const struct simulate *simulate, const struct ranks *ranks, struct trial *trials, size_t count,
                struct error *error);
/* The list "runs": a record for each; `name` is what varies, `values` where it stood. */
void trials_sections(const struct simulate *simulate, const char *name, const double *values,
                     const struct trial *trials, size_t count, struct section *section);
/* Under `name` in "band" a value with its interval; NAN: that end is not known. */
struct section *trials_band(struct section *band, const char *name, double value, double low, double high,
                            const char *unit);
void trials_csv(const char *name, const struct section *runs, struct buffer *out);

#endif
