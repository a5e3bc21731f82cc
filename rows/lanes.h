/* lanes -- a few doubles side by side, and the operators over them.
 *
 * Included with LANES set to 1, 2, 4 or 8; the width must follow the instruction set of
 * the file that includes it. A type, not intrinsics, so any machine compiles it.
 *
 * exp, log and pow are ours: only + - * / and bits, never contracted, so every width,
 * compiler and machine gives the same bits. Their error is under 1, 1 and 2 units in the
 * last place (tests/unit/lanes_test.c measures it against libm). */
#include <stdint.h>

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lanes_bits __attribute__((vector_size(8 * LANES)));

static inline lanes lanes_splat(double x)
{
    return x - (lanes){ 0 };
}

static inline lanes lanes_same(lanes x)
{
    return x;
}

static inline lanes lanes_select(lanes_bits condition, lanes yes, lanes no)
{
    return (lanes)((condition & (lanes_bits)yes) | (~condition & (lanes_bits)no));
}

static inline lanes lanes_max(lanes a, lanes b)
{
    return lanes_select(a > b, a, b);
}

static inline lanes lanes_min(lanes a, lanes b)
{
    return lanes_select(a < b, a, b);
}

static inline lanes lanes_abs(lanes x)
{
    return (lanes)((lanes_bits)x & INT64_MAX);
}

static inline lanes lanes_sign_of(lanes size, lanes sign)
{
    return (lanes)((lanes_bits)size | ((lanes_bits)sign & INT64_MIN));
}

/* To the nearest whole number; exact below 2^52, beyond all doubles are whole. */
static inline lanes lanes_round(lanes x)
{
    const double big = 4503599627370496.0;
    lanes size = lanes_abs(x);
    lanes whole = (size + big) - big;
    return lanes_sign_of(lanes_select(size < lanes_splat(big), whole, size), x);
}

static inline lanes lanes_floor(lanes x)
{
    lanes whole = lanes_round(x);
    return lanes_select(whole > x, whole - 1, whole);
}

static inline lanes lanes_ceil(lanes x)
{
    return -lanes_floor(-x);
}

static inline lanes lanes_sqrt(lanes x)
{
    lanes root;
    for (int i = 0; i < LANES; i++)
        root[i] = __builtin_sqrt(x[i]);         /* correctly rounded everywhere */
    return root;
}

/* 2^k for whole k in -1022..1023, given as a double. */
static inline lanes lanes_power_of_two(lanes k)
{
    const double magic = 6755399441055744.0;    /* 1.5 * 2^52: k lands in the low bits */
    lanes_bits whole = (lanes_bits)(k + magic) - (lanes_bits)lanes_splat(magic);
    return (lanes)((whole + 1023) << 52);
}

/* e^x = 2^k e^r, |r| <= ln2/2; e^r by its series to the 13th power. */
static inline lanes lanes_exp(lanes x)
{
    const double log2_e = 1.4426950408889634;
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    lanes inside = lanes_min(lanes_max(x, lanes_splat(-746)), lanes_splat(710));
    lanes k = lanes_round(inside * log2_e);
    lanes r = (inside - k * ln2_high) - k * ln2_low;
    lanes p = lanes_splat(1.0 / 6227020800.0);
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    lanes e = 1 + (r + r * r * p);
    lanes half = lanes_floor(k * 0.5);          /* in two steps: 2^k may be subnormal */
    lanes value = e * lanes_power_of_two(half) * lanes_power_of_two(k - half);
    return lanes_select(x == x, value, x);
}

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)), for x > 0 and finite. */
static inline void lanes_split(lanes x, lanes *e, lanes *m)
{
    lanes_bits small = x < lanes_splat(2.2250738585072014e-308);
    lanes normal = lanes_select(small, x * 18014398509481984.0, x);
    lanes_bits bits = (lanes_bits)normal;
    lanes_bits exponent = ((bits >> 52) & 2047) - 1023;
    lanes mantissa = (lanes)((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
    lanes_bits high = mantissa >= lanes_splat(1.4142135623730951);
    *m = lanes_select(high, mantissa * 0.5, mantissa);
    lanes whole;
    for (int i = 0; i < LANES; i++)
        whole[i] = (double)exponent[i];
    *e = whole + lanes_select(high, lanes_splat(1), lanes_splat(0)) -
         lanes_select(small, lanes_splat(54), lanes_splat(0));
}

/* a * b exactly, as a high and a low part (Dekker 1971; no fused operation needed). */
static inline void lanes_product(lanes a, lanes b, lanes *high, lanes *low)
{
    lanes ca = a * 134217729.0, cb = b * 134217729.0;
    lanes ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    *high = a * b;
    *low = ((ah * bh - *high) + ah * bl + al * bh) + al * bl;
}

/* ln x in two parts, for x > 0 and finite: e ln2 + 2 atanh(s), s = (m - 1) / (m + 1).
 * The series' first two terms are in two parts each, so that pow may multiply the result
 * by hundreds and still have its last digit. */
static inline void lanes_log_parts(lanes x, lanes *high, lanes *low)
{
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const double two_thirds = 2.0 / 3, two_thirds_low = 3.7007434154171886e-17;
    lanes e, m, product, rest;
    lanes_split(x, &e, &m);
    lanes f = m - 1, g = m + 1, g_low = m - (g - 1), s = f / g;
    lanes_product(s, g, &product, &rest);
    lanes s_low = (((f - product) - rest) - s * g_low) / g;
    lanes z, z_low, cube, cube_low, t, t_low;
    lanes_product(s, s, &z, &z_low);
    z_low += 2 * s * s_low;
    lanes p = lanes_splat(2.0 / 23);
    p = p * z + 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    lanes_product(z, lanes_splat(two_thirds), &cube, &cube_low);
    cube_low += z * two_thirds_low + z_low * two_thirds;
    lanes q = z * z * p, w = cube + q, w_low = ((cube - w) + q) + cube_low;
    lanes_product(s, w, &t, &t_low);                /* t = 2 atanh(s) - 2 s */
    t_low += s * w_low + s_low * w;
    lanes a = e * ln2_high, b = 2 * s;              /* e ln2_high is exact */
    lanes sum = a + b, most = sum + t;
    lanes sum_low = ((a - sum) + b) + ((sum - most) + t);
    lanes extra = sum_low + ((2 * s_low + t_low) + e * ln2_low);
    *high = most + extra;
    *low = extra - (*high - most);
}

static inline lanes lanes_log(lanes x)
{
    lanes high, low;
    lanes infinite = lanes_splat(__builtin_inf()), nothing = lanes_splat(__builtin_nan(""));
    lanes_log_parts(x, &high, &low);
    lanes value = lanes_select(x == infinite, infinite, high);
    value = lanes_select(x == lanes_splat(0), -infinite, value);
    return lanes_select(x >= lanes_splat(0), value, nothing);
}

struct lanes_log {
    lanes high, low;
};

static inline struct lanes_log lanes_log_of(lanes x)
{
    struct lanes_log log;
    lanes_log_parts(x, &log.high, &log.low);
    return log;
}

static inline lanes lanes_pow_positive(struct lanes_log log, lanes y)
{
    lanes product, rest;
    lanes_product(log.high, y, &product, &rest);
    lanes small = lanes_select(lanes_abs(product) < lanes_splat(800), rest + log.low * y,
                               lanes_splat(0));
    lanes e = lanes_exp(product);
    return lanes_select(e < lanes_splat(__builtin_inf()), e + e * small, e);
}

/* As C's pow where it is finite; a negative base needs a whole exponent. `log` is that of
 * |x|, for who takes many powers of one base. */
static inline lanes lanes_pow_of(lanes x, struct lanes_log log, lanes y)
{
    lanes zero = lanes_splat(0), one = lanes_splat(1), infinite = lanes_splat(__builtin_inf());
    lanes value = lanes_pow_positive(log, y);
    lanes_bits odd = lanes_round(y * 0.5) * 2 != y;
    lanes_bits whole = lanes_round(y) == y;
    lanes negative = lanes_select(whole, lanes_select(odd, -value, value),
                                  lanes_splat(__builtin_nan("")));
    value = lanes_select(x < zero, negative, value);
    lanes of_zero = lanes_select(y > zero, zero, infinite);
    value = lanes_select(x == zero, of_zero, value);
    lanes of_infinite = lanes_select(y > zero, infinite, zero);
    value = lanes_select(x == infinite, of_infinite, value);
    value = lanes_select(x == one, one, value);
    return lanes_select(y == zero, one, value);
}

static inline lanes lanes_pow(lanes x, lanes y)
{
    return lanes_pow_of(x, lanes_log_of(lanes_abs(x)), y);
}
