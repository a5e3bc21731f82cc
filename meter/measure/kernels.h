/* What is timed on this machine, compiled once per instruction set. */
#ifndef MEASURE_KERNELS_H
#define MEASURE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { KERNEL_DEEP = 256, KERNEL_ROWS = 6, KERNEL_WIDE = 64 };     /* depth and sides of a product; columns at most */

/* Operands of a small product, which stay in the first cache: columns of B lie side by side. */
struct panels {
    _Alignas(64) float a[KERNEL_DEEP * KERNEL_ROWS], b[KERNEL_DEEP * KERNEL_WIDE];
    _Alignas(64) uint16_t narrow[KERNEL_DEEP * KERNEL_WIDE];       /* B in bf16 */
    _Alignas(64) int8_t bytes[KERNEL_DEEP * KERNEL_WIDE];
    float sum;                      /* of results, so that they are needed */
};

/* A product, `rounds` times; the number of its operations (two for a multiplication with an addition). */
typedef double kernel_product(struct panels *panels, size_t rounds);
struct kernels {
    const char *name;               /* of the instruction set */
    kernel_product *fp32, *bf16, *int8;
    float (*read)(const float *data, size_t count);     /* the sum of all numbers; count is a multiple of 512 */
};
extern const struct kernels kernels_portable, kernels_avx2, kernels_avx512;

#endif
