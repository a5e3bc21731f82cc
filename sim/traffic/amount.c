/* Amounts that are drawn: a constant, a range, or an exponential, lognormal or geometric
 * distribution, with their means, and the means cut at a limit, in closed form.
 *
 * amount_within gives the probability of staying below a limit and amount_cut the mean with larger
 * values cut to it; `bill` uses them for gaps between requests. The normal distribution function
 * is the series of Abramowitz and Stegun 26.2.11, whose terms have one sign, so that no digits
 * cancel. */
#include "sim/traffic/amount.h"

#include "rows/rows.h"

#include <math.h>
#include <string.h>

/* ---- words -------------------------------------------------------------------------------- */

struct text amount_take(struct text *rest, char mark, bool *more)
{
    size_t at = 0;
    int depth = 0;
    for (; at < rest->size && (depth || rest->data[at] != mark); at++)
        depth += (rest->data[at] == '(') - (depth && rest->data[at] == ')');
    struct text taken = { rest->data, at };
    *more = at < rest->size;
    rest->data += at + *more;
    rest->size -= at + *more;
    return taken;
}

bool amount_call(struct text text, const char *name, struct text *inside)
{
    size_t size = strlen(name);
    if (text.size < size + 2 || memcmp(text.data, name, size) || text.data[size] != '(' ||
        text.data[text.size - 1] != ')')
        return false;
    *inside = (struct text){ text.data + size + 1, text.size - size - 2 };
    return true;
}

static bool read_quantity(struct text text, const char *unit_words, struct quantity *quantity)
{
    struct unit unit;
    struct error ignored;
    double scale;
    return unit_parse(text_of(unit_words), &unit, &scale, &ignored) &&
           quantity_parse(text, unit, quantity, &ignored);
}

bool amount_number(struct text text, const char *unit, double least, double most, double *number)
{
    struct quantity quantity;
    if (!read_quantity(text, unit, &quantity) || quantity.distribution != DISTRIBUTION_NONE ||
        quantity.value < least || quantity.value > most)
        return false;
    *number = quantity.value;
    return true;
}

static bool read_range(struct text text, const char *unit, double least, double most,
                       struct amount *amount)
{
    struct quantity quantity;
    if (!read_quantity(text, unit, &quantity) || quantity.low < least || quantity.high > most ||
        (quantity.distribution != DISTRIBUTION_RANGE && quantity.distribution != DISTRIBUTION_UNIFORM))
        return false;
    *amount = (struct amount){ AMOUNT_UNIFORM, quantity.low, quantity.high };
    return true;
}

static bool read_lognormal(struct text inside, const char *unit, double least, double most,
                           struct amount *amount)
{
    const double cv_least = 0.001, cv_most = 100;
    bool more;
    struct text mean = amount_take(&inside, ',', &more), name = amount_take(&inside, '=', &more);
    amount->kind = AMOUNT_LOGNORMAL;
    return more && text_is(text_trim(name), "cv") &&
           amount_number(mean, unit, least, most, &amount->a) &&
           amount_number(inside, "1", cv_least, cv_most, &amount->b);
}

bool amount_read(struct text text, const char *unit, double least, double most,
                 struct amount *amount)
{
    const double mean_least = least > 0 ? least : 1e-9;
    struct text inside;
    *amount = (struct amount){ AMOUNT_FIXED, 0, 0 };
    if (amount_call(text, "lognormal", &inside))
        return read_lognormal(inside, unit, mean_least, most, amount);
    if (amount_call(text, "exponential", &inside)) {
        amount->kind = AMOUNT_EXPONENTIAL;
        return amount_number(inside, unit, mean_least, most, &amount->a);
    }
    return amount_number(text, unit, least, most, &amount->a) ||
           read_range(text, unit, least, most, amount);
}

/* ---- draws -------------------------------------------------------------------------------- */

double amount_draw(const struct amount *amount, struct random *random)
{
    switch (amount->kind) {
    case AMOUNT_UNIFORM:     return amount->a + (amount->b - amount->a) * random_uniform(random);
    case AMOUNT_EXPONENTIAL: return amount->a * random_exponential(random);
    case AMOUNT_LOGNORMAL:   return random_lognormal(random, amount->a, amount->b);
    case AMOUNT_GEOMETRIC:   return random_geometric(random, amount->a);
    default:                 return amount->a;
    }
}

struct amount amount_times(const struct amount *amount, double factor)
{
    struct amount scaled = *amount;
    scaled.a *= factor;
    if (amount->kind == AMOUNT_UNIFORM)
        scaled.b *= factor;
    return scaled;
}

double amount_mean(const struct amount *amount)
{
    return amount->kind == AMOUNT_UNIFORM ? amount->a / 2 + amount->b / 2 : amount->a;
}

/* ---- up to a limit ------------------------------------------------------------------------ */

/* Of a standard normal draw: 1/2 + bell(z) (z + z^3/3 + z^5/15 + ...), Abramowitz and Stegun
 * 26.2.11, whose terms are all of one sign. */
static double normal_below(double z)
{
    const double far = 8, bell = 0.3989422804014327;
    if (fabs(z) > far)
        return z > 0;
    double term = z, sum = z;
    for (int k = 3; fabs(term) > 1e-17 * fabs(sum); k += 2)
        sum += term *= z * z / k;
    return 0.5 + bell * scalar_exp(-z * z / 2) * sum;
}

/* Deviations of the logarithm that `limit` lies above its mean. */
static double lognormal_place(const struct amount *amount, double limit, double *deviation)
{
    double variance = scalar_log(1 + amount->b * amount->b);
    *deviation = sqrt(variance);
    return (scalar_log(limit / amount->a) + variance / 2) / *deviation;
}

double amount_within(const struct amount *amount, double limit)
{
    double deviation;
    if (limit <= 0)
        return amount->kind == AMOUNT_FIXED && amount->a <= limit;
    switch (amount->kind) {
    case AMOUNT_UNIFORM:
        if (limit >= amount->b)
            return 1;
        return fmax(0, (limit - amount->a) / (amount->b - amount->a));
    case AMOUNT_EXPONENTIAL:
        return 1 - scalar_exp(-limit / amount->a);
    case AMOUNT_LOGNORMAL:
        return normal_below(lognormal_place(amount, limit, &deviation));
    default:
        return amount->a <= limit;
    }
}

double amount_cut(const struct amount *amount, double limit)
{
    double deviation, place, below;
    if (limit <= 0)
        return 0;
    switch (amount->kind) {
    case AMOUNT_UNIFORM:
        below = fmin(fmax(limit, amount->a), amount->b);        /* the mean of those up to there */
        if (amount->b == amount->a)
            return fmin(amount->a, limit);
        return (below - amount->a) / (amount->b - amount->a) * (amount->a + below) / 2 +
               (amount->b - below) / (amount->b - amount->a) * limit;
    case AMOUNT_EXPONENTIAL:
        return amount->a * (1 - scalar_exp(-limit / amount->a));
    case AMOUNT_LOGNORMAL:
        place = lognormal_place(amount, limit, &deviation);
        return amount->a * normal_below(place - deviation) + limit * (1 - normal_below(place));
    default:
        return fmin(amount->a, limit);
    }
}
