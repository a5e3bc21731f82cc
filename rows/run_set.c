/* The interpreter's inner loops, compiled once per instruction set with LANES as its width and SET
 * as its name; the scalar one works on single points.
 *
 * Only operations with one correct rounding are used, and exp, log and pow are those of lanes.h,
 * so that all instruction sets give the same bits. Conditions are 1 and 0 in memory. An operand
 * that is a number for all points stays in a register. */
#ifdef SCALAR
#define LANES 1
#define POINTS 1
#else
#define POINTS BLOCK
#endif
#include "rows/lanes.h"
#include "rows/root.h"
#include "rows/run.h"

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { WHOLE = POINTS / LANES };                 /* vectors of a whole block */

#if defined(__clang__) || !defined(__GNUC__)
#define UNROLLED                    /* clang unrolls by itself, gcc -O2 does not */
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

#define EVERY(expression)                                                                   \
    UNROLLED for (int i = 0; i < vectors; i++)                                              \
        to[i] = (expression);                                                               \
    break

/* Of x and y, one of which may be a number: it stays in its register. */
#ifdef SCALAR
#define EVERY_PAIR(expression)                                                              \
    {                                                                                       \
        const lanes x = *a, y = *b;                                                         \
        *to = (expression);                                                                 \
        break;                                                                              \
    }
#else
#define EVERY_PAIR(expression)                                                              \
    if (step->form == FORM_NUMBER_A) {                                                      \
        const lanes x = a[0];                                                               \
        UNROLLED for (int i = 0; i < vectors; i++) {                                        \
            const lanes y = b[i];                                                           \
            to[i] = (expression);                                                           \
        }                                                                                   \
    } else if (step->form == FORM_NUMBER_B) {                                               \
        const lanes y = b[0];                                                               \
        UNROLLED for (int i = 0; i < vectors; i++) {                                        \
            const lanes x = a[i];                                                           \
            to[i] = (expression);                                                           \
        }                                                                                   \
    } else {                                                                                \
        UNROLLED for (int i = 0; i < vectors; i++) {                                        \
            const lanes x = a[i], y = b[i];                                                 \
            to[i] = (expression);                                                           \
        }                                                                                   \
    }                                                                                       \
    break
#endif

/* Conditions are kept as 1 and 0. */
static inline lanes truth(lanes_bits condition)
{
    return lanes_select(condition, lanes_splat(1), lanes_splat(0));
}

/* Powers of one number: its logarithm is taken once, for all turns of a loop where `c` has it, and
 * of a usual number nothing is special but the exponent 0. */
static void run_powers(const struct run_step *step, int vectors)
{
    lanes *to = (lanes *)step->to;
    const lanes base = *(const lanes *)step->a, *b = (const lanes *)step->b;
#ifdef SCALAR
    const struct lanes_log log = step->c ? *(const struct lanes_log *)step->c
                                         : lanes_log_of(lanes_abs(base));
#else
    const struct lanes_log log = lanes_log_of(lanes_abs(base));
#endif
    const bool usual = base[0] > 0 && base[0] != 1 && base[0] < __builtin_inf();
    for (int i = 0; i < vectors; i++)
        to[i] = usual ? lanes_select(b[i] == lanes_splat(0), lanes_splat(1),
                                     lanes_pow_positive(log, b[i]))
                      : lanes_pow_of(base, log, b[i]);
}

/* With `vectors` a constant, the loops of a whole block are unrolled. */
static inline __attribute__((always_inline)) void run_step(const struct run_step *step, int vectors)
{
    lanes *to = (lanes *)step->to;
    const lanes *a = (const lanes *)step->a, *b = (const lanes *)step->b;
    const lanes *c = (const lanes *)step->c;
    const lanes zero = lanes_splat(0);
    switch (step->op) {
    case OP_ADD:    EVERY_PAIR(x + y);
    case OP_SUB:    EVERY_PAIR(x - y);
    case OP_MUL:    EVERY_PAIR(x * y);
    case OP_DIV:    EVERY_PAIR(x / y);
    case OP_NEG:    EVERY(-a[i]);
    case OP_MAX:    EVERY_PAIR(lanes_max(x, y));
    case OP_MIN:    EVERY_PAIR(lanes_min(x, y));
    case OP_EXP:    EVERY(lanes_exp(a[i]));
    case OP_LOG:    EVERY(lanes_log(a[i]));
    case OP_SQRT:   EVERY(lanes_sqrt(a[i]));
    case OP_POW:
        if (step->form == FORM_NUMBER_A) {
            run_powers(step, vectors);
            break;
        }
        EVERY(lanes_pow(a[i], b[i]));
    case OP_FLOOR:  EVERY(lanes_floor(a[i]));
    case OP_CEIL:   EVERY(lanes_ceil(a[i]));
    case OP_ABS:    EVERY(lanes_abs(a[i]));
    case OP_LESS:   EVERY(truth(a[i] < b[i]));
    case OP_ATMOST: EVERY(truth(a[i] <= b[i]));
    case OP_BOTH:   EVERY(truth((a[i] != zero) & (b[i] != zero)));
    case OP_EITHER: EVERY(truth((a[i] != zero) | (b[i] != zero)));
    case OP_SELECT: EVERY(lanes_select(a[i] != zero, b[i], c[i]));
    default: break;                             /* numbers and inputs lie there already */
    }
}

static void run_root(const struct run_step *step, int vectors)
{
    const struct run_step *root = step + step->last;
    struct lanes_root roots[WHOLE];
    lanes *x = (lanes *)step->to;
    const lanes *from = (const lanes *)root->a, *to = (const lanes *)root->b;
    const lanes *f = (const lanes *)root->c;
    const size_t body = (size_t)(step->last - 1);
    for (int i = 0; i < vectors; i++)
        roots[i] = lanes_root_open(from[i], to[i]);
    bool moved = true;              /* a bracket that stays will stay: the next turn reads the same */
    for (int turn = 0; turn < LANES_ROOT_STEPS && moved; turn++) {
        for (int i = 0; i < vectors; i++)
            x[i] = lanes_root_point(&roots[i], turn);
        JOIN(run_steps_, SET)(step + 1, body, (size_t)vectors * LANES);
        moved = turn < 2;
        for (int i = 0; i < vectors; i++) {
            const struct lanes_root before = roots[i];
            lanes_root_narrow(&roots[i], turn, x[i], f[i]);
            moved |= memcmp(&before, &roots[i], sizeof before) != 0;
        }
    }
    for (int i = 0; i < vectors; i++)
        ((lanes *)root->to)[i] = lanes_root_value(&roots[i]);
}

void JOIN(run_steps_, SET)(const struct run_step *steps, size_t count, size_t points)
{
    const int vectors = (int)((points + LANES - 1) / LANES);
    if (!count)
        return;
    for (const struct run_step *step = steps, *end = steps + count; step < end; step++) {
        if (step->op == OP_VAR) {
            run_root(step, vectors);
            step += step->last;
        } else if (WHOLE == 1 || vectors == WHOLE) {
            run_step(step, WHOLE);
        } else {
            run_step(step, vectors);
        }
    }
}

#ifndef SCALAR
bool JOIN(run_inside_, SET)(const double *x, size_t count, struct interval range)
{
    const lanes low = lanes_splat(range.low), high = lanes_splat(range.high);
    lanes_bits outside = { 0 };
    size_t k = 0;
    for (; k + LANES <= count; k += LANES) {
        lanes one;
        memcpy(&one, x + k, sizeof one);
        outside |= ~((one >= low) & (one <= high));
    }
    bool inside = true;
    for (int i = 0; i < LANES; i++)
        inside &= !outside[i];
    for (; k < count; k++)
        inside &= (x[k] >= range.low) & (x[k] <= range.high);
    return inside;
}
#endif

#ifdef SCALAR
void run_log(double x, double parts[2])
{
    const struct lanes_log log = lanes_log_of(lanes_abs(lanes_splat(x)));
    memcpy(parts, &log, sizeof log);
}

double scalar_exp(double x)
{
    return lanes_exp(lanes_splat(x))[0];
}

double scalar_log(double x)
{
    return lanes_log(lanes_splat(x))[0];
}

double scalar_pow(double x, double y)
{
    return lanes_pow(lanes_splat(x), lanes_splat(y))[0];
}
#endif
