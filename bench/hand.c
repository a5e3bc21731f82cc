/* The roofline by hand: what a careful person writes for these five columns. Compiled
 * with LANES and SET like the kernels, by the same compiler, in the same run. */
#include "bench/hand.h"
#include "rows/lanes.h"

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

static inline lanes load(const double *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

static inline void store(double *to, lanes x)
{
    memcpy(to, &x, sizeof x);
}

void JOIN(hand_lanes_, SET)(const struct hand *hand, const double *batch, const double *context,
                            double *const *out, size_t points)
{
    const lanes flops = lanes_splat(hand->flop_per_mac * hand->params_active);
    const lanes peak = lanes_splat(hand->chips * hand->peak_flops);
    const lanes bandwidth = lanes_splat(hand->chips * hand->hbm_bandwidth);
    const lanes weights = lanes_splat(hand->params_total * hand->weight_bytes) / bandwidth;
    const lanes per_token = lanes_splat(hand->kv_per_token);
    const lanes rent = lanes_splat(hand->chips * hand->chip_price);
    for (size_t k = 0; k < points; k += LANES) {
        lanes B = load(batch + k), L = load(context + k);
        lanes compute = B * flops / peak;
        lanes memory = weights + B * (L * per_token) / bandwidth;
        lanes step = lanes_max(compute, memory);
        lanes throughput = B / step;
        store(out[0] + k, compute);
        store(out[1] + k, memory);
        store(out[2] + k, step);
        store(out[3] + k, throughput);
        store(out[4] + k, rent / throughput);
    }
}

void JOIN(hand_plain_, SET)(const struct hand *hand, const double *restrict batch,
                            const double *restrict context, double *const *out, size_t points)
{
    const double flops = hand->flop_per_mac * hand->params_active;
    const double peak = hand->chips * hand->peak_flops;
    const double bandwidth = hand->chips * hand->hbm_bandwidth;
    const double weights = hand->params_total * hand->weight_bytes / bandwidth;
    const double rent = hand->chips * hand->chip_price;
    double *restrict compute = out[0], *restrict memory = out[1], *restrict step = out[2];
    double *restrict throughput = out[3], *restrict cost = out[4];
    for (size_t k = 0; k < points; k++) {
        compute[k] = batch[k] * flops / peak;
        memory[k] = weights + batch[k] * (context[k] * hand->kv_per_token) / bandwidth;
        step[k] = compute[k] > memory[k] ? compute[k] : memory[k];
        throughput[k] = batch[k] / step[k];
        cost[k] = rent / throughput[k];
    }
}
