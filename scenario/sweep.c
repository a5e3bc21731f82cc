/* The values of --sweep: a list, or a range that is divided evenly or, if it is wide, evenly in the
 * logarithm. A count is rounded, and values that then repeat are dropped. The row is set as if the
 * user had given it; what was assumed is gathered over all values, so that a search at each of them
 * can be freed before the next. */
#include "scenario/sweep.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

static bool no_sweep(const char *text, struct error *error)
{
    error_set(error, "--sweep: invalid list of values '%.80s'", text);
    return error_expected(error, "ROW=LOW..HIGH or ROW=A,B,C: scale_up_chips=8,72,144, "
                          "hbm_bandwidth=4TB/s..16TB/s");
}

static bool too_many(const char *text, struct error *error)
{
    error_set(error, "--sweep: more than %d values in '%.60s'", SWEEP_VALUES, text);
    return error_expected(error, "%d at most, or a range LOW..HIGH", SWEEP_VALUES);
}

/* Geometric spacing where high > 8 * low > 0, else linear. Counts are rounded, and repeats dropped. */
static void fill_range(const struct command *command, struct sweep *sweep, double low, double high)
{
    const size_t points = command_count(command, "points");
    for (size_t i = 0; i < points; i++) {
        double share = (double)i / (double)(points - 1);
        double value = low > 0 && high > 8 * low ? log_between(low, high, share)
                                                 : low + (high - low) * share;
        if (sweep->whole && low == floor(low))
            value = floor(value + 0.5);
        if (!sweep->count || value > sweep->values[sweep->count - 1])
            sweep->values[sweep->count++] = value;
    }
}

static bool read_list(const struct command *command, struct sweep *sweep, const char *text,
                      struct error *error)
{
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, ",");
        struct quantity quantity;
        struct error wrong;
        if (sweep->count == SWEEP_VALUES)
            return too_many(text, error);
        if (!size)
            return no_sweep(text, error);
        if (!quantity_parse((struct text){ at, size }, sweep->unit, &quantity, &wrong)) {
            error_set(error, "--sweep: %s", wrong.what);
            return error_hint_of(error, &wrong);
        }
        if (quantity.distribution != DISTRIBUTION_NONE && sweep->count)
            return no_sweep(text, error);
        if (quantity.distribution == DISTRIBUTION_RANGE && !at[size]) {
            fill_range(command, sweep, quantity.low, quantity.high);
            return true;
        }
        if (quantity.distribution != DISTRIBUTION_NONE)
            return no_sweep(text, error);
        sweep->values[sweep->count++] = quantity.value;
        at += size + (at[size] == ',');
    }
    return sweep->count > 0 || no_sweep(text, error);
}

bool sweep_read(struct arena *arena, const struct command *command, struct sweep *sweep,
                struct error *error)
{
    const char *text = command_text(command, "sweep"), *equals = strchr(text, '=');
    struct scenario scenario;
    *sweep = (struct sweep){ .row = NULL };
    if (!equals || equals == text)
        return no_sweep(text, error);
    if (!scenario_read(&scenario, arena, command, command_no_subject(command), error))
        return false;
    sweep->row = arena_copy(arena, text, (size_t)(equals - text));
    const int at = formulas_find(&scenario.formulas, sweep->row);
    if (at < 0)
        return scenario_unknown(&scenario, sweep->row, error);
    const struct row *row = formulas_row(&scenario.formulas, at);
    sweep->unit = row->unit;
    sweep->whole = unit_counts(row->unit) && !(row->high <= 1);     /* no share */
    return scenario_said_with(&scenario, row_name(row), sweep->row, error) && read_list(command, sweep, equals + 1, error);
}

struct sweep_value sweep_value(const struct sweep *sweep, size_t i)
{
    return (struct sweep_value){ sweep->row, sweep->values[i] };
}

bool sweep_note(struct sweep_notes *notes, struct arena *arena, const struct scenario *scenario,
                struct error *error)
{
    struct facts *facts = &notes->scenario.facts;
    if (!notes->scenario.arena) {       /* read again, for rows that stay */
        if (!scenario_read(&notes->scenario, arena, scenario->command, scenario->subject, error))
            return false;
        facts->note_count = 0;
    }
    for (size_t i = 0; i < scenario->facts.note_count; i++)
        facts_note_once(facts, scenario->facts.notes[i]);
    return true;
}

bool sweep_set(struct scenario *scenario, struct sweep_value value, struct error *error)
{
    return !value.row || scenario_set_number(scenario, value.row, value.value, ORIGIN_GIVEN,
                                             "--sweep", error);
}
