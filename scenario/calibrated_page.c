/* In a page, in the place of calibrated.c: no scenario is calibrated. */
#include "scenario/calibrated.h"

bool calibrated_apply(struct scenario *scenario, const char *path, struct error *error)
{
    (void)scenario, (void)path;
    error_set(error, "--calibration: not in a page");
    return error_expected(error, "the command line");
}

void calibrated_layout(struct scenario *scenario)
{
    (void)scenario;
}

void calibrated_note(struct scenario *scenario)
{
    (void)scenario;
}

bool calibrated_graph_build(const struct scenario *scenario, const char *const *rows, size_t count,
                            struct calibrated_graph *graph, struct error *error)
{
    (void)scenario, (void)rows, (void)count, (void)graph, (void)error;
    return false;
}

void calibrated_intervals(struct arena *scratch, const struct calibrated *calibrated,
                          const struct calibrated_graph *graph, double *inputs, double *low, double *high)
{
    (void)scratch, (void)calibrated, (void)graph, (void)inputs, (void)low, (void)high;
}

bool calibrated_bands(const struct scenario *scenario, const char *const *rows, size_t count, double *low,
                      double *high)
{
    (void)scenario, (void)rows, (void)count, (void)low, (void)high;
    return false;
}
