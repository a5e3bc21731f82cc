/* The server that is best at each value of a row, and the solutions of an equation along it.
 *
 * Every value is a question of its own, as if the user had given it: its scenario is read again, and layout and load are
 * chosen for it. So an answer is what `eval` says of that value, and jumps where another layout becomes the best. No
 * graph has all values, and no interval arithmetic proves that nothing is between them. */
#include "deploy/chosen.h"
#include "scenario/values.h"

#include <math.h>

bool chosen_open(struct scenario *scenario, struct arena *arena, const struct command *command, const char *row, double value,
                 const char *const *texts, size_t count, struct error *error)
{
    if (!scenario_read(scenario, arena, command, command_subject(command), error) ||
        !scenario_set_number(scenario, row, value, ORIGIN_GIVEN, command->verb->name, error))
        return false;
    scenario_one_budget(scenario);
    if (!scenario_linked(scenario, error) || !scenario_layout_agrees(scenario, error) ||
        !scenario_images(scenario, error) || !scenario_assume(scenario, error) ||
        !scenario_choose(scenario, texts, count, error))
        return false;
    facts_set(&scenario->facts, row, value, ORIGIN_AXIS, command->verb->name);
    return true;
}

bool chosen_sides(const struct scenario *scenario, const struct equation *equation, const char *row, double x,
                    double sides[2])
{
    const char *const texts[] = { equation->left, equation->right };
    struct arena scratch = arena_beside(scenario->arena);
    struct scenario at;
    struct values values;
    struct error ignored;
    const bool known = chosen_open(&at, &scratch, scenario->command, row, x, texts, 2, &ignored) &&
                       values_of(&at, texts, 2, &values, &ignored) && isfinite(values.at[0]) && isfinite(values.at[1]);
    for (int i = 0; i < 2 && known; i++)
        sides[i] = values.at[i];
    arena_free(&scratch);
    return known;
}

/* A value of the unknown, with the left side less the right one; `zero`: the sides are equal but for rounding. */
struct scanned {
    double x, difference;
    bool known, zero;
};

struct scan {
    const struct scenario *scenario;
    const struct equation *equation;
    const char *row;
    struct solution *found;
};

static struct scanned scan_at(const struct scan *scan, double x)
{
    const double rounding = 1e-9;
    struct scanned at = { .x = x };
    double sides[2];
    at.known = chosen_sides(scan->scenario, scan->equation, scan->row, x, sides);
    if (!at.known)
        return at;
    at.difference = (scan->equation->turned ? -1 : 1) * (sides[0] - sides[1]);
    at.zero = fabs(at.difference) <= rounding * fmax(fabs(sides[0]), fabs(sides[1]));
    scan->found->evaluations++;
    return at;
}

static bool holds(const struct scan *scan, const struct scanned *at)
{
    if (!at->known)
        return false;
    return scan->equation->relation == RELATION_EQUAL ? at->zero
         : at->difference > 0 || (at->zero && scan->equation->relation == RELATION_AT_LEAST);
}

/* Do the sides pass each other between two values, or begin or cease to be known where the inequality holds? */
static bool turns(const struct scan *scan, const struct scanned *a, const struct scanned *b)
{
    if (scan->equation->relation != RELATION_EQUAL)
        return holds(scan, a) != holds(scan, b);
    return a->known && b->known && !a->zero && !b->zero && (a->difference > 0) != (b->difference > 0);
}

static void scan_extent(const struct scan *scan, struct extent extent)
{
    struct solution *found = scan->found;
    *(struct extent *)arena_push(scan->scenario->arena, &found->extents, &found->count, &found->room, sizeof extent) = extent;
}

/* Halve until the sides are equal, or jump between neighbours. */
static void narrow(const struct scan *scan, struct scanned *a, struct scanned *b)
{
    const double near = 1e-15;
    const bool equal = scan->equation->relation == RELATION_EQUAL;
    while (b->x - a->x > near * fabs(b->x) && turns(scan, a, b)) {
        const double middle = a->x / 2 + b->x / 2;
        if (!(middle > a->x && middle < b->x))
            return;
        const struct scanned at = scan_at(scan, middle);
        *(turns(scan, a, &at) || (equal && at.zero) ? b : a) = at;
    }
}

void chosen_roots(const struct scenario *scenario, const struct equation *equation, const char *row, double low,
                   double high, struct solution *found)
{
    enum { POINTS = 65 };
    const double decades = 1e-9;
    const struct scan scan = { scenario, equation, row, found };
    const bool equal = equation->relation == RELATION_EQUAL;
    struct scanned before = { .known = false };
    double from = low, least = INFINITY;
    *found = (struct solution){ .closest = low };
    for (int i = 0; i < POINTS; i++) {
        const double x = i == 0 ? low : i == POINTS - 1 ? high
                       : low >= 0 && high > 0 ? log_between(fmax(low, high * decades), high, (double)i / (POINTS - 1))
                       : low + (high - low) * i / (POINTS - 1);
        struct scanned at = scan_at(&scan, x), a = before, b = at;
        if (at.known && fabs(at.difference) < least)
            least = fabs(at.difference), found->closest = x;
        if (i && turns(&scan, &a, &b)) {
            narrow(&scan, &a, &b);
            if (equal && (a.zero || b.zero))
                scan_extent(&scan, (struct extent){ a.zero ? a.x : b.x, a.zero ? a.x : b.x, true, true });
            else if (equal)
                *(struct jump *)arena_push(scenario->arena, &found->jumps, &found->jump_count, &found->jump_room,
                                           sizeof(struct jump)) = (struct jump){ b.x, a.x, b.x, a.difference, b.difference };
            else if (holds(&scan, &b))
                from = b.x;
            else
                scan_extent(&scan, (struct extent){ from, a.x, from > low, true });
        }
        if (equal && at.zero && before.known && before.zero)
            found->extents[found->count - 1].high = x;          /* the sides are equal all along */
        else if (equal && at.zero)
            scan_extent(&scan, (struct extent){ x, x, true, true });
        before = at;
    }
    if (!equal && holds(&scan, &before))
        scan_extent(&scan, (struct extent){ from, high, from > low, false });
    if (!found->count && found->jump_count) {
        found->nearest_jump = &found->jumps[0];
        found->closest = found->jumps[0].at;
    }
}
