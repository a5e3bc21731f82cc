/* Gaps between the requests of a task: a distribution, or a list of measured gaps.
 *
 * For a given lifetime of a cache it gives the share of gaps within it, and the mean gap with
 * longer ones cut to it; both are rows' inputs. Another mean stretches all gaps by one factor and
 * keeps their shape. */
#include "ask/bill/bill.h"
#include "base/quantile.h"

#include <math.h>
#include <string.h>

enum { FILE_MOST = 64 << 20 };
static const double GAP_MOST = 1e8;

static bool read_measured(struct arena *arena, const char *path, struct gaps *gaps,
                          struct error *error)
{
    struct text text;
    struct csv csv;
    if (!file_read(arena, path, FILE_MOST, &text, error))
        return error_expected(error, "a CSV file with a column gap, or a distribution: 30s, "
                          "exponential(2min)");
    if (!csv_read(arena, path, text, &csv, error))
        return false;
    int column = csv_column(&csv, "gap");
    if (column < 0 || !csv.rows) {
        error_set(error, column < 0 ? "%s has no column 'gap'" : "%s has no gaps", path);
        return error_expected(error, "a line for each gap, in seconds");
    }
    gaps->measured = arena_array(arena, csv.rows, sizeof *gaps->measured);
    for (size_t i = 0; i < csv.rows; i++) {
        double *gap = &gaps->measured[i];
        if (text_number(text_of(csv_cell(&csv, i, column)), gap) && *gap >= 0 && *gap <= GAP_MOST)
            continue;
        error_set(error, "%s:%d: invalid gap '%.60s'", path, csv.lines[i], csv_cell(&csv, i, column));
        return error_expected(error, "seconds, from 0 to %g", GAP_MOST);
    }
    gaps->count = csv.rows;
    numbers_sort(gaps->measured, gaps->count);
    return true;
}

bool gaps_read(struct arena *arena, const char *words, const char *where, struct gaps *gaps,
               struct error *error)
{
    size_t size = strlen(words);
    *gaps = (struct gaps){ .words = words };
    if (amount_read(text_trim(text_of(words)), "s", 0, GAP_MOST, &gaps->amount))
        return true;
    if (size > 4 && !strcmp(words + size - 4, ".csv"))
        return read_measured(arena, words, gaps, error);
    error_set(error, "%s: invalid gap '%.80s'", where, words);
    return error_expected(error, "a time, LOW..HIGH, exponential(MEAN) or lognormal(MEAN,cv=X), up to "
                      "1e8 s; or a CSV file with a column gap, in seconds");
}

double gaps_mean(const struct gaps *gaps)
{
    double sum = 0;
    for (size_t i = 0; i < gaps->count; i++)
        sum += gaps->measured[i];
    return gaps->count ? sum / (double)gaps->count : amount_mean(&gaps->amount);
}

/* How much longer the gaps are; gaps of no length have no shape: they become equal. */
static double stretch(const struct gaps *gaps, double mean, struct amount *amount)
{
    double now = gaps_mean(gaps);
    *amount = gaps->amount;
    if (isnan(mean))
        return 1;
    if (now > 0) {
        *amount = amount_times(&gaps->amount, mean / now);
        return mean / now;
    }
    *amount = (struct amount){ AMOUNT_FIXED, mean, 0 };
    return 1;
}

double gaps_within(const struct gaps *gaps, double mean, double life)
{
    struct amount amount;
    double factor = stretch(gaps, mean, &amount);
    size_t inside = 0;
    if (!gaps->count || gaps_mean(gaps) <= 0)
        return amount_within(&amount, life);
    while (inside < gaps->count && gaps->measured[inside] * factor <= life)
        inside++;
    return (double)inside / (double)gaps->count;
}

double gaps_cut(const struct gaps *gaps, double mean, double life)
{
    struct amount amount;
    double factor = stretch(gaps, mean, &amount), sum = 0;
    if (!gaps->count || gaps_mean(gaps) <= 0)
        return amount_cut(&amount, life);
    for (size_t i = 0; i < gaps->count; i++)
        sum += fmin(gaps->measured[i] * factor, life);
    return sum / (double)gaps->count;
}
