#include "scenario/sweep.h"

#include <math.h>
#include <string.h>

enum { POINTS = 7 };

static bool no_sweep(const char *text, struct error *error)
{
    error_set(error, "--sweep: '%.80s'", text);
    return error_hint(error, "ROW=LOW..HIGH or ROW=A,B,C: scale_up_chips=8,72,144, "
                      "hbm_bandwidth=4TB/s..16TB/s");
}

static bool read_points(const struct question *question, size_t *points, struct error *error)
{
    const char *text = question->option[OPTION_POINTS];
    double number;
    *points = POINTS;
    if (!text)
        return true;
    if (text_number(text_of(text), &number) && number >= 2 && number <= SWEEP_VALUES &&
        number == floor(number)) {
        *points = (size_t)number;
        return true;
    }
    error_set(error, "--points: '%.60s'", text);
    return error_hint(error, "2 to %d", SWEEP_VALUES);
}

/* Whole numbers where only these make sense; even in the logarithm over more than a factor of 8. */
static bool fill_range(const struct question *question, struct sweep *sweep, double low,
                       double high, struct error *error)
{
    size_t points;
    if (!read_points(question, &points, error))
        return false;
    for (size_t i = 0; i < points; i++) {
        double share = (double)i / (double)(points - 1);
        double value = low > 0 && high > 8 * low ? log_between(low, high, share)
                                                 : low + (high - low) * share;
        if (unit_counts(sweep->unit) && low == floor(low))
            value = floor(value + 0.5);
        if (!sweep->count || value > sweep->values[sweep->count - 1])
            sweep->values[sweep->count++] = value;
    }
    return true;
}

static bool read_list(const struct question *question, struct sweep *sweep, const char *text,
                      struct error *error)
{
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, ",");
        struct quantity quantity;
        if (sweep->count == SWEEP_VALUES || !size ||
            !quantity_parse((struct text){ at, size }, sweep->unit, &quantity, error) ||
            (quantity.spread != SPREAD_NONE && sweep->count))
            return no_sweep(text, error);
        if (quantity.spread == SPREAD_RANGE)
            return !at[size] ? fill_range(question, sweep, quantity.low, quantity.high, error)
                             : no_sweep(text, error);
        if (quantity.spread != SPREAD_NONE)
            return no_sweep(text, error);
        sweep->values[sweep->count++] = quantity.value;
        at += size + (at[size] == ',');
    }
    return sweep->count > 0 || no_sweep(text, error);
}

bool sweep_read(struct arena *arena, const struct question *question, struct sweep *sweep,
                struct error *error)
{
    const char *text = question->option[OPTION_SWEEP], *equals = strchr(text, '=');
    struct book book;
    *sweep = (struct sweep){ .row = NULL };
    if (!equals || equals == text)
        return no_sweep(text, error);
    sweep->row = arena_copy(arena, text, (size_t)(equals - text));
    book_copy(&book, arena, book_built_in(BOOK_ALL));
    int row = book_find(&book, sweep->row);
    if (row < 0)
        return book_unknown(&book, sweep->row, error);
    sweep->unit = book.rows[row]->unit;
    return read_list(question, sweep, equals + 1, error);
}

void sweep_question(struct arena *arena, const struct question *from, const struct sweep *sweep,
                    size_t i, struct question *question)
{
    *question = *from;
    question->sets = arena_array(arena, from->set_count + 1, sizeof *question->sets);
    if (from->set_count)
        memcpy(question->sets, from->sets, from->set_count * sizeof *question->sets);
    question->sets[from->set_count] = arena_print(arena, "%s=%.17g", sweep->row,
                                                  sweep->values[i]);
    question->set_count = from->set_count + 1;
    question->option[OPTION_SWEEP] = NULL;
}
