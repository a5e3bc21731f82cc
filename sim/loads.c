#include "sim/loads.h"

#include <math.h>

enum { FEW = 8, DEEPEST = 40 };

void loads_open(struct loads *loads, struct arena *arena, struct replica *const *replicas, size_t count, enum router router)
{
    const bool tokens = router == ROUTER_LEAST_TOKENS;
    if (count <= FEW || (tokens ? !replicas[0]->scheduler->course : router != ROUTER_LEAST_PENDING))
        return;
    *loads = (struct loads){ .replicas = replicas, .count = count, .leaves = 1, .tokens = tokens, .until = 1e-3 };
    while (loads->leaves < count)
        loads->leaves *= 2;
    loads->tree = arena_array(arena, 2 * loads->leaves, sizeof *loads->tree);
    loads->courses = arena_array(arena, count, sizeof *loads->courses);
    loads->levels = arena_array(arena, count, sizeof *loads->levels);
    loads->touched = arena_array(arena, count, sizeof *loads->touched);
    loads->is_touched = arena_array(arena, count, sizeof *loads->is_touched);
    loads->up = arena_array(arena, count, sizeof *loads->up);
    for (size_t at = 0; at < 2 * loads->leaves; at++)
        loads->tree[at] = (struct loads_line){ { INFINITY, INFINITY } };
}

void loads_touch(struct loads *loads, size_t i, bool up)
{
    if (!loads->leaves)
        return;
    loads->up[i] = up;
    if (!loads->is_touched[i]) {
        loads->is_touched[i] = true;
        loads->touched[loads->touched_count++] = (uint32_t)i;
    }
}

/* Of a course only where it has fallen since it was looked at. */
static double load_of(struct loads *loads, size_t i, double now)
{
    struct loads_level *level = &loads->levels[i];
    if (moment_before(level->until, now))
        *level = (struct loads_level){ (double)course_left(&loads->courses[i], now), course_next(&loads->courses[i], now) };
    return level->load;
}

static struct loads_line line_of(const struct loads *loads, size_t i, double now)
{
    if (!loads->up[i])
        return (struct loads_line){ { INFINITY, INFINITY } };
    if (!loads->tokens) {
        const double waiting = loads->levels[i].load;
        return (struct loads_line){ { waiting, waiting } };
    }
    const struct course_limit limit = course_limit_of(&loads->courses[i], now);
    return (struct loads_line){ { limit.left - limit.pace * (loads->from - limit.at),
                                  limit.left - limit.pace * (loads->until - limit.at) } };
}

static struct loads_line lesser(struct loads_line a, struct loads_line b)
{
    return (struct loads_line){ { a.at[0] < b.at[0] ? a.at[0] : b.at[0], a.at[1] < b.at[1] ? a.at[1] : b.at[1] } };
}

static void read_course(struct loads *loads, size_t i)
{
    const struct replica *replica = loads->replicas[i];
    loads->is_touched[i] = false;
    loads->levels[i] = (struct loads_level){ (double)replica->waiting, loads->tokens ? -INFINITY : INFINITY };
    if (loads->tokens)
        loads->courses[i] = replica->scheduler->course(replica);
}

/* Upwards as far as something changes. */
static void reckon(struct loads *loads, size_t i, double now)
{
    read_course(loads, i);
    struct loads_line line = line_of(loads, i, now);
    for (size_t at = loads->leaves + i; loads->tree[at].at[0] != line.at[0] || loads->tree[at].at[1] != line.at[1];
         at /= 2) {
        loads->tree[at] = line;
        if (at == 1)
            break;
        line = lesser(line, loads->tree[at ^ 1]);
    }
}

/* The two times move on when the index was asked as often as there are replicas. */
static void move_on(struct loads *loads, double now)
{
    const double least = 1e-3, took = now - loads->from;
    loads->until = now + fmax(least, 2 * took);
    loads->from = now;
    loads->asked = loads->touched_count = 0;
    for (size_t i = 0; i < loads->count; i++) {
        read_course(loads, i);
        loads->tree[loads->leaves + i] = line_of(loads, i, now);
    }
    for (size_t at = loads->leaves; at-- > 1;)
        loads->tree[at] = lesser(loads->tree[2 * at], loads->tree[2 * at + 1]);
}

/* Whether a whole number that is not below the line can be below `most`, or can be `most` unless only others may. */
static bool may_win(const struct loads_line *line, double share, double most, bool others)
{
    const double least = share ? line->at[0] + (line->at[1] - line->at[0]) * share : line->at[0];
    return least <= most - others && line->at[0] != INFINITY;
}

struct replica *loads_least(struct loads *loads, double now)
{
    struct { size_t at, first, size; } stack[DEEPEST];  /* a place and the replicas below it */
    size_t count = 0, chosen = loads->count;
    double most = INFINITY;                             /* loads are whole numbers, which doubles hold */
    if (loads->tokens && (now > loads->until || loads->asked++ >= loads->count))
        move_on(loads, now);
    while (loads->touched_count)
        reckon(loads, loads->touched[--loads->touched_count], now);
    const double share = loads->tokens ? (now - loads->from) / (loads->until - loads->from) : 0;
    stack[count].at = 1, stack[count].first = 0, stack[count++].size = loads->leaves;
    while (count) {
        size_t at = stack[--count].at, first = stack[count].first, size = stack[count].size;
        while (at < loads->leaves && may_win(&loads->tree[at], share, most, first > chosen)) {
            const struct loads_line *left = &loads->tree[2 * at], *right = left + 1;
            const bool second = left->at[0] + left->at[1] > right->at[0] + right->at[1];     /* goes first */
            size /= 2;
            stack[count].at = 2 * at + !second;
            stack[count].first = first + !second * size;
            stack[count++].size = size;
            at = 2 * at + second;
            first += second * size;
        }
        if (at < loads->leaves || !may_win(&loads->tree[at], share, most, first > chosen))
            continue;
        const double load = load_of(loads, at - loads->leaves, now);
        if (load < most || (load == most && first < chosen)) {
            most = load;
            chosen = first;
        }
    }
    return chosen == loads->count ? NULL : loads->replicas[chosen];
}
