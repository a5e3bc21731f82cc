/* A small reversible net in numbers of fixed point. */
#include "lecture/reverse/net.h"

#include "rows/random.h"
#include "rows/rows.h"

#include <math.h>
#include <string.h>

typedef int64_t fixed;              /* whole numbers of 2^-FRACTION */

enum { FRACTION = 40, CLASSES = 1 };

const double net_rate = 0.002;

struct net {
    struct arena *arena;
    int layers, width, points;      /* points in all */
    size_t weights;
    fixed *weight, *velocity;       /* [weights]: 2 layers matrices of width x width, then the readout */
    double *gradient;
    double *input, *target;         /* [points][2 width]; [points] 1 or -1 */
};

static const double one = (double)((fixed)1 << FRACTION);

static fixed to_fixed(double x)
{
    return (fixed)floor(x * one + 0.5);
}

static double from_fixed(fixed x)
{
    return (double)x / one;
}

static double tanh_of(double x)
{
    const double e = scalar_exp(-2 * fabs(x));
    return copysign((1 - e) / (1 + e), x);
}

/* ---- the net ------------------------------------------------------------------------------------ */

/* Points along a spiral and along the same one turned by half: each is the one before, turned by a fixed
 * angle and moved outwards. */
static void draw_points(struct net *net, struct random *random)
{
    static const double cosine = 0.9921147013144779, sine = 0.12533323356430426;      /* a 50th of a turn */
    double x = 0.3, y = 0;
    for (int i = 0; i < net->points; i++) {
        double *at = net->input + (size_t)i * 2 * (size_t)net->width;
        net->target[i] = i % 2 ? 1 : -1;
        for (int k = 0; k < 2 * net->width; k++)
            at[k] = net->target[i] * (k % 2 ? y : x) + 0.02 * random_normal(random);
        if (i % 2) {
            const double growth = 1 + 1.2 / net->points, turned = growth * (cosine * x - sine * y);
            y = growth * (sine * x + cosine * y);
            x = turned;
        }
    }
}

size_t net_weights(const struct net *net)
{
    return net->weights;
}

struct net *net_open(struct arena *arena, uint64_t seed, int layers, int width, int points)
{
    struct net *net = arena_alloc(arena, sizeof *net);
    struct random random;
    const size_t halves = 2 * (size_t)width, square = (size_t)width * (size_t)width;
    random_stream(&random, seed, "net", 0);
    *net = (struct net){ .arena = arena, .layers = layers, .width = width, .points = 2 * points,
                         .weights = 2 * (size_t)layers * square + halves };
    net->weight = arena_array(arena, net->weights, sizeof *net->weight);
    net->velocity = arena_array(arena, net->weights, sizeof *net->velocity);
    net->gradient = arena_array(arena, net->weights, sizeof *net->gradient);
    net->input = arena_array(arena, (size_t)net->points * halves, sizeof *net->input);
    net->target = arena_array(arena, (size_t)net->points, sizeof *net->target);
    for (size_t i = 0; i < net->weights; i++) {
        net->weight[i] = to_fixed(random_normal(&random) / sqrt(width));
        net->velocity[i] = 0;
    }
    draw_points(net, &random);
    return net;
}

static const fixed *matrix(const struct net *net, int coupling)
{
    return net->weight + (size_t)coupling * (size_t)net->width * (size_t)net->width;
}

/* out = tanh(W x), rounded once; `before` may receive it unrounded. */
static void couple(const struct net *net, int coupling, const fixed *x, fixed *out, double *before,
                   struct net_bill *bill)
{
    const fixed *w = matrix(net, coupling);
    for (int i = 0; i < net->width; i++) {
        double sum = 0;
        for (int k = 0; k < net->width; k++)
            sum += from_fixed(w[i * net->width + k]) * from_fixed(x[k]);
        const double value = tanh_of(sum) / net->layers;
        out[i] = to_fixed(value);
        if (before)
            before[i] = value * net->layers;
    }
    bill->products += (size_t)net->width * (size_t)net->width;
}

/* One coupling: the half that changes, and the one it depends on. */
static void forward(const struct net *net, int coupling, fixed *state, struct net_bill *bill)
{
    fixed change[64];
    const int width = net->width;
    fixed *kept = state + (coupling % 2 ? width : 0), *changed = state + (coupling % 2 ? 0 : width);
    couple(net, coupling, kept, change, NULL, bill);
    for (int i = 0; i < width; i++)
        changed[i] += change[i];
}

static void hold(struct net_bill *bill, size_t count)
{
    bill->held += count;
    if (bill->held > bill->most)
        bill->most = bill->held;
}

/* The gradient through one coupling; undoes it in `state` where the activations were not kept. */
static void backward(const struct net *net, int coupling, enum net_memory memory, fixed *state,
                     const double *kept_slopes, double *slopes, double *gradient, struct net_bill *bill)
{
    fixed change[64];
    double before[64], through[64];
    const int width = net->width;
    const int from = coupling % 2 ? width : 0, to = coupling % 2 ? 0 : width;
    const fixed *w = matrix(net, coupling);
    double *g = gradient + (size_t)coupling * (size_t)width * (size_t)width;
    if (memory == NET_UNDOES) {
        couple(net, coupling, state + from, change, before, bill);
        for (int i = 0; i < width; i++)
            state[to + i] -= change[i];
    } else {
        memcpy(before, kept_slopes, (size_t)width * sizeof *before);
    }
    for (int i = 0; i < width; i++)
        through[i] = slopes[to + i] * (1 - before[i] * before[i]) / net->layers;
    for (int i = 0; i < width; i++)
        for (int k = 0; k < width; k++) {
            g[i * width + k] += through[i] * from_fixed(state[from + k]);
            slopes[from + k] += through[i] * from_fixed(w[i * width + k]);
        }
    bill->products += 2 * (size_t)width * (size_t)width;
}

/* The loss of a point and its slope by the readout. */
static double loss_of(double margin, double *slope)
{
    const double e = scalar_exp(-fabs(margin));
    *slope = margin > 0 ? -e / (1 + e) : -1 / (1 + e);
    return scalar_log(1 + e) + (margin > 0 ? 0 : -margin);
}

static double margin_of(const struct net *net, const fixed *state, int point)
{
    const fixed *readout = matrix(net, 2 * net->layers);
    double sum = 0;
    for (int k = 0; k < 2 * net->width; k++)
        sum += from_fixed(readout[k]) * from_fixed(state[k]);
    return sum * net->target[point];
}

/* What a pass keeps for the backward pass: both halves before each coupling, and its function. */
struct kept {
    fixed *states;                  /* [couplings][2 width] */
    double *functions;              /* [couplings][width] */
};

static void point_in(const struct net *net, int point, fixed *state)
{
    for (int k = 0; k < 2 * net->width; k++)
        state[k] = to_fixed(net->input[(size_t)point * 2 * (size_t)net->width + (size_t)k]);
}

static void forward_kept(const struct net *net, int coupling, fixed *state, const struct kept *kept,
                         struct net_bill *bill)
{
    fixed change[64];
    const int width = net->width;
    memcpy(kept->states + (size_t)coupling * 2 * (size_t)width, state, 2 * (size_t)width * sizeof *state);
    couple(net, coupling, state + (coupling % 2 ? width : 0), change,
           kept->functions + (size_t)coupling * (size_t)width, bill);
    for (int i = 0; i < width; i++)
        state[(coupling % 2 ? 0 : width) + i] += change[i];
    if (coupling % 2 == 0)
        hold(bill, 2 * (size_t)width);      /* a layer keeps its input: both halves */
}

static double point_gradient(const struct net *net, int point, enum net_memory memory, const struct kept *kept,
                             double *gradient, struct net_bill *bill)
{
    fixed state[128];
    double slopes[128], slope;
    const int width = net->width, couplings = 2 * net->layers;
    const fixed *readout = matrix(net, couplings);
    double *g = gradient + (size_t)couplings * (size_t)width * (size_t)width;
    point_in(net, point, state);
    if (memory == NET_UNDOES)
        hold(bill, 2 * (size_t)width);
    for (int i = 0; i < couplings; i++)
        if (memory == NET_KEEPS)
            forward_kept(net, i, state, kept, bill);
        else
            forward(net, i, state, bill);
    const double loss = loss_of(margin_of(net, state, point), &slope);
    slope *= net->target[point] / net->points;
    for (int k = 0; k < 2 * width; k++) {
        g[k] += slope * from_fixed(state[k]);
        slopes[k] = slope * from_fixed(readout[k]);
    }
    for (int i = couplings; i-- > 0;) {
        if (memory == NET_KEEPS)
            memcpy(state, kept->states + (size_t)i * 2 * (size_t)width, 2 * (size_t)width * sizeof *state);
        backward(net, i, memory, state, kept->functions + (size_t)i * (size_t)width, slopes, gradient, bill);
    }
    bill->held = 0;
    return loss / net->points;
}

double net_gradient(struct net *net, enum net_memory memory, double *gradient, struct net_bill *bill)
{
    struct arena scratch = arena_beside(net->arena);
    const size_t couplings = 2 * (size_t)net->layers, width = (size_t)net->width;
    const struct kept kept = { arena_array(&scratch, couplings * 2 * width, sizeof *kept.states),
                               arena_array(&scratch, couplings * width, sizeof *kept.functions) };
    double loss = 0;
    for (size_t i = 0; i < net->weights; i++)
        gradient[i] = 0;
    for (int i = 0; i < net->points; i++)
        loss += point_gradient(net, i, memory, &kept, gradient, bill);
    arena_free(&scratch);
    return loss;
}

double net_loss(struct net *net)
{
    struct net_bill bill = { 0 };
    double loss = 0, slope;
    for (int i = 0; i < net->points; i++) {
        fixed state[128];
        point_in(net, i, state);
        for (int k = 0; k < 2 * net->layers; k++)
            forward(net, k, state, &bill);
        loss += loss_of(margin_of(net, state, i), &slope) / net->points;
    }
    return loss;
}

/* ---- training, forwards and back -------------------------------------------------------------------- */

double net_step(struct net *net, enum net_memory memory, struct net_bill *bill)
{
    const double loss = net_gradient(net, memory, net->gradient, bill);
    for (size_t i = 0; i < net->weights; i++) {
        net->velocity[i] -= to_fixed(net_rate * net->gradient[i]);
        net->weight[i] += net->velocity[i];
    }
    return loss;
}

void net_step_back(struct net *net)
{
    struct net_bill bill = { 0 };
    for (size_t i = 0; i < net->weights; i++)
        net->weight[i] -= net->velocity[i];
    net_gradient(net, NET_UNDOES, net->gradient, &bill);
    for (size_t i = 0; i < net->weights; i++)
        net->velocity[i] += to_fixed(net_rate * net->gradient[i]);
}

uint64_t net_state(const struct net *net)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < net->weights; i++) {
        hash = (hash ^ (uint64_t)net->weight[i]) * 0x100000001b3u;
        hash = (hash ^ (uint64_t)net->velocity[i]) * 0x100000001b3u;
    }
    return hash;
}

bool net_undoes(struct net *net)
{
    fixed first[128], state[128], change[64];
    struct net_bill bill = { 0 };
    const int width = net->width;
    point_in(net, 0, first);
    memcpy(state, first, sizeof state);
    for (int i = 0; i < 2 * net->layers; i++)
        forward(net, i, state, &bill);
    const bool moved = memcmp(state, first, 2 * (size_t)width * sizeof *state) != 0;
    for (int i = 2 * net->layers; i-- > 0;) {
        couple(net, i, state + (i % 2 ? width : 0), change, NULL, &bill);
        for (int k = 0; k < width; k++)
            state[(i % 2 ? 0 : width) + k] -= change[k];
    }
    return moved && !memcmp(state, first, 2 * (size_t)width * sizeof *state);
}

double net_avalanche(struct net *net, uint64_t seed, int layers, int count)
{
    struct random random;
    struct net_bill bill = { 0 };
    double changed = 0;
    const int size = 2 * net->width;
    random_stream(&random, seed, "net avalanche", 0);
    for (int i = 0; i < count; i++) {
        fixed a[128], b[128];
        point_in(net, (int)random_below(&random, (size_t)net->points), a);
        memcpy(b, a, sizeof b);
        b[random_below(&random, (size_t)size)] ^= (fixed)1 << random_below(&random, FRACTION);
        for (int k = 0; k < 2 * layers; k++) {
            forward(net, k, a, &bill);
            forward(net, k, b, &bill);
        }
        for (int k = 0; k < size; k++)
            changed += __builtin_popcountll((uint64_t)(a[k] ^ b[k]) & (((uint64_t)1 << FRACTION) - 1));
    }
    return changed / count / size / FRACTION;
}
