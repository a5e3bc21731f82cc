#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <stddef.h>

struct hand {
    double flop_per_mac, params_active, params_total, weight_bytes, kv_per_token;
    double chips, peak_flops, hbm_bandwidth, chip_price;
};

typedef void hand_loop(const struct hand *hand, const double *batch, const double *context,
                       double *const *out, size_t points);
hand_loop hand_lanes_portable, hand_lanes_avx2, hand_lanes_avx512;
hand_loop hand_plain_portable, hand_plain_avx2, hand_plain_avx512;

#endif
