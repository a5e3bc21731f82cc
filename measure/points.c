/* What the requests of a load say.
 *
 * The first request of each client does not count: they start together, on an idle server, and have
 * answers of different lengths, so that the clients are out of step afterwards. Nor do those that ended
 * when no more were sent, since the load was lower by then. Where fewer than a handful remain, all whole
 * answers count, and `left_out` is 0. Throughput is output tokens that came while the load was there, over
 * that time. */
#include "measure/points.h"

#include "base/quantile.h"

#include <math.h>

struct quantiles quantiles_of(double *values, size_t count)
{
    struct quantiles q = { .count = count };
    if (!count)
        return q;
    numbers_sort(values, count);
    for (size_t i = 0; i < count; i++)
        q.mean += values[i] / (double)count;
    q.p50 = quantile_of(values, count, 0.5);
    q.p90 = quantile_of(values, count, 0.9);
    q.p99 = quantile_of(values, count, 0.99);
    return q;
}

static bool counts(const struct shot *shot, bool all)
{
    return !shot->error && (all || (!shot->warm_up && !shot->drained));
}

/* The window in which the load was there: from the second request of the first client on. */
static void set_window(struct point *point, bool all)
{
    point->began = INFINITY;
    point->closed = 0;
    for (size_t i = 0; i < point->count; i++) {
        const struct shot *shot = point->shots[i];
        if (shot->error)
            continue;
        if (all || !shot->warm_up)
            point->began = fmin(point->began, shot->sent);
        point->closed = fmax(point->closed, all ? shot->last : shot->sent);
    }
}

/* Output tokens that came in the window: a chunk has an equal part of those of its answer. */
static double tokens_within(const struct point *point)
{
    double tokens = 0;
    for (size_t i = 0; i < point->count; i++) {
        const struct shot *shot = point->shots[i];
        for (size_t c = 0; c < shot->chunk_count && !shot->error; c++)
            if (shot->chunk_times[c] > point->began && shot->chunk_times[c] <= point->closed)
                tokens += (double)shot->output_tokens / (double)shot->chunk_count;
    }
    return tokens;
}

void point_count(struct arena *arena, struct point *point)
{
    enum { HANDFUL = 3 };
    size_t gaps = 0, steady = 0, tpots = 0, itls = 0;
    point->used = point->failed = point->left_out = 0;
    point->prompt_tokens = point->output_tokens = point->throughput = 0;
    for (size_t i = 0; i < point->count; i++) {
        point->failed += point->shots[i]->error != NULL;
        steady += counts(point->shots[i], false);
        gaps += point->shots[i]->chunk_count;
    }
    const bool all = steady < HANDFUL;
    double *ttft = arena_array(arena, point->count + 1, sizeof *ttft),
           *tpot = arena_array(arena, point->count + 1, sizeof *tpot),
           *overhead = arena_array(arena, point->count + 1, sizeof *overhead),
           *itl = arena_array(arena, gaps + 1, sizeof *itl);
    for (size_t i = 0; i < point->count; i++) {
        const struct shot *shot = point->shots[i];
        if (!counts(shot, all)) {
            point->left_out += !shot->error;
            continue;
        }
        point->prompt_tokens += shot->prompt_tokens;
        point->output_tokens += shot->output_tokens;
        overhead[point->used] = shot->overhead;
        ttft[point->used++] = shot->first - shot->sent;
        if (shot->output_tokens > 1 && shot->chunk_count > 1)
            tpot[tpots++] = (shot->last - shot->first) / (shot->output_tokens - 1);
        for (size_t c = 1; c < shot->chunk_count; c++)
            itl[itls++] = shot->chunk_times[c] - shot->chunk_times[c - 1];
    }
    point->prompt_tokens /= fmax((double)point->used, 1);
    point->output_tokens /= fmax((double)point->used, 1);
    point->ttft = quantiles_of(ttft, point->used);
    point->tpot = quantiles_of(tpot, tpots);
    point->itl = quantiles_of(itl, itls);
    point->client_overhead = quantiles_of(overhead, point->used).p50;
    set_window(point, all);
    if (point->closed > point->began)
        point->throughput = tokens_within(point) / (point->closed - point->began);
}
