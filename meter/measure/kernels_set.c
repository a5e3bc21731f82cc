/* The inner loops that `measure` times, compiled once per instruction set with LANES as its width in
 * doubles and SET as its name. A product is KERNEL_ROWS rows by two vectors of columns, whose sums stay in
 * registers, over KERNEL_DEEP products each: what a careful portable program reaches, without instructions
 * that only a compiler of that machine knows. Narrow formats are widened before they are multiplied. */
#include "meter/measure/kernels.h"

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { WIDTH = 2 * LANES };                         /* floats of a vector */
typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t words __attribute__((vector_size(4 * WIDTH)));
typedef uint16_t halves __attribute__((vector_size(2 * WIDTH)));
typedef int16_t shorts __attribute__((vector_size(2 * WIDTH)));
typedef int8_t bytes __attribute__((vector_size(WIDTH)));

static const double operations = 2.0 * KERNEL_ROWS * 2 * WIDTH * KERNEL_DEEP;

static inline floats load(const float *at)
{
    floats v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline floats load_narrow(const uint16_t *at)
{
    halves half;
    floats v;
    memcpy(&half, at, sizeof half);
    const words wide = __builtin_convertvector(half, words) << 16;
    memcpy(&v, &wide, sizeof v);
    return v;
}

static inline floats load_bytes(const int8_t *at)
{
    bytes byte;
    memcpy(&byte, at, sizeof byte);
    const shorts wide = __builtin_convertvector(byte, shorts);     /* in steps that gcc has instructions for */
    return __builtin_convertvector(__builtin_convertvector(wide, words), floats);
}

/* A product of the panel on the left with one on the right, as it is loaded. */
#define PRODUCT(name, load_right, right)                                                          \
static double name(struct panels *panels, size_t rounds)                                          \
{                                                                                                 \
    for (size_t round = 0; round < rounds; round++) {                                             \
        floats sums[KERNEL_ROWS][2] = { 0 };                                                      \
        for (size_t k = 0; k < KERNEL_DEEP; k++) {                                                \
            const floats b0 = load_right(panels->right + WIDTH * (2 * k)),                        \
                         b1 = load_right(panels->right + WIDTH * (2 * k + 1));                    \
            _Pragma("GCC unroll 8")                                                               \
            for (int r = 0; r < KERNEL_ROWS; r++) {                                               \
                sums[r][0] += panels->a[KERNEL_ROWS * k + r] * b0;                                \
                sums[r][1] += panels->a[KERNEL_ROWS * k + r] * b1;                                \
            }                                                                                     \
        }                                                                                         \
        for (int r = 0; r < KERNEL_ROWS; r++)                                                     \
            panels->sum += sums[r][0][0] + sums[r][1][WIDTH - 1];                                 \
    }                                                                                             \
    return operations * (double)rounds;                                                           \
}
PRODUCT(fp32, load, b)
PRODUCT(bf16, load_narrow, narrow)
PRODUCT(int8, load_bytes, bytes)

static float read_all(const float *data, size_t count)
{
    enum { SUMS = 8 };
    floats sums[SUMS] = { 0 };
    float sum = 0;
    for (size_t i = 0; i + SUMS * WIDTH <= count; i += SUMS * WIDTH) {
        _Pragma("GCC unroll 8")
        for (int s = 0; s < SUMS; s++)
            sums[s] += load(data + i + (size_t)(s * WIDTH));
    }
    for (int s = 0; s < SUMS; s++)
        for (int i = 0; i < WIDTH; i++)
            sum += sums[s][i];
    return sum;
}

#define STRING_(a) #a
#define STRING(a) STRING_(a)
const struct kernels JOIN(kernels_, SET) = { STRING(SET), fp32, bf16, int8, read_all };
