/* fit -- the prediction calibrated by what a server reports of itself.
 *
 *     loads of intervals --fit_see--> points, one for each kind of load --fit_make--> a calibration
 *
 * An interval between two scrapes is a point: arrivals, lengths, the mean time between tokens and that to the
 * first token. Intervals of like loads are one point, in which the older ones count half as much
 * after a day. It has the posterior of `calibrate`, and its result can be used wherever --calibration FILE can. */
#ifndef WATCH_FIT_H
#define WATCH_FIT_H

#include "meter/watch/load.h"

#include "scenario/scenario.h"

enum { FIT_POINTS_MOST = 32 };

/* Sums over the intervals of one kind of load, of one replica. */
struct fit_point {
    double at;                      /* s, when it was last seen */
    double seconds, in_flight, arrivals;        /* times the seconds */
    double requests, prompt, output, ttft;      /* times the requests */
    double gaps, tpot;              /* times the gaps */
    double hits, queried, accepted, drafted;    /* shares, times the requests that have one */
    bool unqueued;                  /* its times to the first token leave waiting out */
};
struct watch_fit {
    struct fit_point points[FIT_POINTS_MOST];
    size_t count;
    size_t intervals;               /* that were taken */
    double changed;                 /* requests in points since the last fit, over those before */
};

/* Why the interval that ended at `at` tells no point, or NULL: then it is one. */
const char *fit_see(struct watch_fit *fit, const struct load *load, double at);

/* What fit_make says. */
struct watch_fitted {
    const char *refused;            /* why there is none, or NULL */
    size_t points, left_out;        /* that were given; that physics refuses */
    const char *left_out_why;
    bool strange;                   /* no factors explain these times */
    struct text text;               /* the calibration, as `calibrate -o` writes it */
};
/* Calibrates at the layout of `scenario`, whose values are read. `source` names where the points are from. */
void fit_make(struct arena *arena, const struct watch_fit *fit, struct scenario *scenario, const struct command *command,
              const char *source, struct watch_fitted *fitted);
/* Give a scenario what fit_make said. */
bool fit_use(struct scenario *scenario, const char *source, const struct watch_fitted *fitted, struct error *error);

#endif
