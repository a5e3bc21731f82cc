/* compiled -- what a generated file of compiled rows starts with: the operators of the row format as
 * macros over lanes, so that the text of a row is C. Private to the build. */
#include "rows/rows.h"
#include "rows/lanes.h"
#include "rows/root.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wshadow"

#define COMPILED_JOIN_(a, b) a##b
#define COMPILED_JOIN(a, b) COMPILED_JOIN_(a, b)

/* A number among lanes is spread over them. */
#define SPREAD(x) _Generic((x), lanes: lanes_same, default: lanes_splat)(x)

#define max_2(a, b) lanes_max(SPREAD(a), SPREAD(b))
#define max_3(a, b, c) lanes_max(max_2(a, b), SPREAD(c))
#define max_4(a, b, c, d) lanes_max(max_3(a, b, c), SPREAD(d))
#define max_5(a, b, c, d, e) lanes_max(max_4(a, b, c, d), SPREAD(e))
#define min_2(a, b) lanes_min(SPREAD(a), SPREAD(b))
#define min_3(a, b, c) lanes_min(min_2(a, b), SPREAD(c))
#define min_4(a, b, c, d) lanes_min(min_3(a, b, c), SPREAD(d))
#define min_5(a, b, c, d, e) lanes_min(min_4(a, b, c, d), SPREAD(e))
#define COMPILED_FIFTH(a, b, c, d, e, name, ...) name
#define max(...) COMPILED_FIFTH(__VA_ARGS__, max_5, max_4, max_3, max_2, )(__VA_ARGS__)
#define min(...) COMPILED_FIFTH(__VA_ARGS__, min_5, min_4, min_3, min_2, )(__VA_ARGS__)
#define exp(x) lanes_exp(SPREAD(x))
#define log(x) lanes_log(SPREAD(x))
#define sqrt(x) lanes_sqrt(SPREAD(x))
#define pow(x, y) lanes_pow(SPREAD(x), SPREAD(y))
#define floor(x) lanes_floor(SPREAD(x))
#define ceil(x) lanes_ceil(SPREAD(x))
#define abs(x) lanes_abs(SPREAD(x))
#define select(condition, yes, no) lanes_select(condition, SPREAD(yes), SPREAD(no))
#define both(p, q) ((p) & (q))
#define either(p, q) ((p) | (q))

static inline lanes compiled_load(const double *from, size_t count)
{
    lanes x = { 0 };
    if (count >= LANES) {
        memcpy(&x, from, sizeof x);
        return x;
    }
    for (size_t i = 0; i < count; i++)
        x[i] = from[i];
    return x;
}

static inline void compiled_store(double *to, lanes x, size_t count)
{
    if (count >= LANES) {
        memcpy(to, &x, sizeof x);
        return;
    }
    for (size_t i = 0; i < count; i++)
        to[i] = x[i];
}
