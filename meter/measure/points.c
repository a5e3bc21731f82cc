/* What the requests of a load say.
 *
 * The first request of each client does not count: they start together, on an idle server, and have
 * answers of different lengths, so that the clients are out of step afterwards. Nor do those that ended
 * when no more were sent, since the load was lower by then. Where fewer than a handful remain, all whole
 * answers count, and `left_out` is 0. Throughput is output tokens that came while the load was there, over
 * that time. */
#include "meter/measure/points.h"

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

static bool counts(const struct sent_request *request, bool all)
{
    return !request->error && (all || (!request->warm_up && !request->drained));
}

/* The window in which the load was there: from the second request of the first client on. */
static void set_window(struct load_point *point, bool all)
{
    point->began = INFINITY;
    point->closed = 0;
    for (size_t i = 0; i < point->count; i++) {
        const struct sent_request *request = point->requests[i];
        if (request->error)
            continue;
        if (all || !request->warm_up)
            point->began = fmin(point->began, request->sent);
        point->closed = fmax(point->closed, all ? request->last : request->sent);
    }
}

/* Output tokens that came in the window: a chunk has an equal part of those of its answer. */
static double tokens_within(const struct load_point *point)
{
    double tokens = 0;
    for (size_t i = 0; i < point->count; i++) {
        const struct sent_request *request = point->requests[i];
        for (size_t c = 0; c < request->chunk_count && !request->error; c++)
            if (request->chunk_times[c] > point->began && request->chunk_times[c] <= point->closed)
                tokens += (double)request->output_tokens / (double)request->chunk_count;
    }
    return tokens;
}

void point_count(struct arena *arena, struct load_point *point)
{
    enum { HANDFUL = 3 };
    size_t gaps = 0, steady = 0, tpots = 0, itls = 0;
    point->used = point->failed = point->left_out = 0;
    point->prompt_tokens = point->output_tokens = point->throughput = 0;
    for (size_t i = 0; i < point->count; i++) {
        point->failed += point->requests[i]->error != NULL;
        steady += counts(point->requests[i], false);
        gaps += point->requests[i]->chunk_count;
    }
    const bool all = steady < HANDFUL;
    double *ttft = arena_array(arena, point->count + 1, sizeof *ttft),
           *tpot = arena_array(arena, point->count + 1, sizeof *tpot),
           *overhead = arena_array(arena, point->count + 1, sizeof *overhead),
           *itl = arena_array(arena, gaps + 1, sizeof *itl);
    for (size_t i = 0; i < point->count; i++) {
        const struct sent_request *request = point->requests[i];
        if (!counts(request, all)) {
            point->left_out += !request->error;
            continue;
        }
        point->prompt_tokens += request->prompt_tokens;
        point->output_tokens += request->output_tokens;
        overhead[point->used] = request->overhead;
        ttft[point->used++] = request->first - request->sent;
        if (request->output_tokens > 1 && request->chunk_count > 1)
            tpot[tpots++] = (request->last - request->first) / (request->output_tokens - 1);
        for (size_t c = 1; c < request->chunk_count; c++)
            itl[itls++] = request->chunk_times[c] - request->chunk_times[c - 1];
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
