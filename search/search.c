/* Exhaustive search of the settings and loads of some spaces, in parallel.
 *
 * A thread walks the settings of a block with equal values of an outer axis together. A number is entered
 * into the loop nest only when it changes, and whatever depends on the outer axes is then not recomputed;
 * loads are processed as a column of up to LOOP_NEST_POINTS values. A limit that rises with the load ends the column early:
 * higher loads are counted as breaking it without being evaluated, unless the block shows that the
 * limit falls somewhere. Each thread has its own front, counts and scratch memory; when these are
 * merged, ties are resolved by space, setting and load, so that the result does not depend on the
 * number of threads. */
#include "search/search.h"

#include "base/guard.h"
#include "search/parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks: settings with the same outermost values ------------------------------------ */

/* The outermost axis whose values differ between two settings; LOOP_NEST_AXES: none. */
static int changed(const struct search_space *space, size_t setting, size_t other)
{
    const double *now = space->settings + setting * space->inputs, *before = space->settings + other * space->inputs;
    int axis = LOOP_NEST_AXES;
    for (size_t i = 0; i < space->inputs; i++)
        if (now[i] != before[i] && space->axis[i] < axis)
            axis = space->axis[i];
    return axis;
}

static void cut_blocks(struct arena *arena, struct search *search)
{
    size_t room = 0;
    for (size_t s = 0; s < search->space_count; s++)
        for (size_t i = 0; i < search->spaces[s].setting_count; i++) {
            if (!i || changed(&search->spaces[s], i, i - 1) == 0)
                *(struct search_block *)arena_push(arena, &search->blocks, &search->block_count, &room,
                                                   sizeof *search->blocks) =
                    (struct search_block){ .space = (uint32_t)s, .first = i };
            search->blocks[search->block_count - 1].end = i + 1;
        }
}

/* ---- a thread's walk ------------------------------------------------------------------------- */

/* The state of one thread, which evaluates one block after another. */
struct walk {
    struct arena arena;
    const struct search_space *space;
    struct loop_nest *nest;
    int axes;
    uint32_t number;                /* index of the space */
    struct part part;               /* of the blocks walked so far */
    struct front front;
    struct search_block *block;
    bool careful;                   /* evaluate all loads: do not rely on search_limit.rises */
    bool fell, skipped;             /* a limit that should rise fell; loads were skipped above a violation */
    bool near;                      /* look for the nearest miss */
};

static bool open_space(struct walk *walk, const struct search_space *spaces, uint32_t number)
{
    const struct search_space *space = &spaces[number];
    int *at = arena_array(&walk->arena, space->graph.input_count + 1, sizeof *at);
    walk->space = space;
    walk->number = number;
    walk->axes = 1;
    for (size_t i = 0; i < space->inputs; i++) {
        if (space->input[i] != SEARCH_UNREAD)
            at[space->input[i]] = space->axis[i];
        if (space->axis[i] >= walk->axes)
            walk->axes = space->axis[i] + 1;
    }
    if (space->column != SEARCH_UNREAD)
        at[space->column] = LOOP_NEST_COLUMN;
    walk->nest = loop_nest_make(&walk->arena, NULL, &space->graph, at);
    return walk->nest != NULL;
}

static double worst_of(const struct search_space *space, const struct column *limit, size_t i)
{
    double worst = 1;
    for (size_t l = 0; l < space->limit_count; l++) {
        double value = limit[l].data[i * limit[l].stride], bound = space->limits[l].bound;
        worst = value / bound > worst ? value / bound : worst;
    }
    return worst;
}

/* Remember the nearest miss. A point that does not fit in memory is none: it needs another layout,
 * not another limit. */
static void look_near(struct walk *walk, const struct column *limit, struct search_point point,
                      size_t i)
{
    double by = worst_of(walk->space, limit, i);
    if (isfinite(by))
        part_add(&walk->part, &(struct part){ .near_found = true, .nearest = point, .nearest_by = by });
}

/* Set verdict[i] to 0, or to 1 + the index of the first limit that point i violates. */
static void judge(const struct search_space *space, const struct column *limit, size_t count,
                  uint8_t *verdict)
{
    memset(verdict, 0, count);
    for (size_t l = space->limit_count; l-- > 0;) {
        const double *value = limit[l].data, bound = space->limits[l].bound;
        const uint8_t broken = (uint8_t)(l + 1);
        if (!limit[l].stride && !(*value <= bound))
            memset(verdict, broken, count);
        for (size_t i = 0; i < count && limit[l].stride; i++)
            verdict[i] = value[i] <= bound ? verdict[i] : broken;
    }
}

/* Order of points: higher throughput, then higher speed, then the earlier one. */
static bool better(const struct search_point *a, const struct search_point *b)
{
    return a->throughput != b->throughput ? a->throughput > b->throughput
           : a->speed != b->speed ? a->speed > b->speed : point_earlier(a, b);
}

static void take_good(struct walk *walk, const struct search_point *point)
{
    struct search_found *found = &walk->block->found;
    front_offer(&walk->front, &walk->arena, point);
    if (found->met && !better(point, &found->best))
        return;
    found->met = true;
    found->best = *point;
}

static void add_moved(unsigned *found, struct search_point *moved, size_t l,
                      const struct search_point *point)
{
    if (*found & 1u << l && !better(point, &moved[l]))
        return;
    *found |= 1u << l;
    moved[l] = *point;
}

/* A point whose first broken limit is l: were that wider, would it be within all? */
static void take_moved(struct walk *walk, const struct column *limit, size_t l,
                       const struct search_point *point, size_t i)
{
    const struct search_space *space = walk->space;
    bool in = limit[l].data[i * limit[l].stride] <= space->limits[l].wider;
    for (size_t k = l + 1; k < space->limit_count && in; k++)
        in = limit[k].data[i * limit[k].stride] <= space->limits[k].bound;
    if (in)
        add_moved(&walk->block->found.moved_found, walk->block->found.moved, l, point);
}

/* Does the column fall? Rounding may make a constant column fall by a few bits, which is ignored. */
static bool falls(const struct column *column, size_t count)
{
    const double level = 1 - 1e-9, *value = column->data;
    bool fell = false;
    for (size_t i = 1; i < count && column->stride; i++)
        fell |= value[i] < value[i - 1] * level;
    return fell;
}

/* Returns one more than the limit that all higher loads break too, or 0. */
static uint8_t take_points(struct walk *walk, size_t setting, size_t first, size_t count)
{
    const struct search_space *space = walk->space;
    const struct column speed = loop_nest_output(walk->nest, space->speed);
    const struct column throughput = loop_nest_output(walk->nest, space->throughput);
    struct column limit[SEARCH_LIMITS];
    uint8_t verdict[LOOP_NEST_POINTS];
    size_t broken[SEARCH_LIMITS + 1] = { 0 };
    bool counted[SEARCH_LIMITS + 1] = { false };        /* of this verdict, only the number matters */
    for (size_t l = 0; l < space->limit_count; l++) {
        limit[l] = loop_nest_output(walk->nest, space->limits[l].output);
        counted[l + 1] = !(space->limits[l].wider > 0) && !walk->near;
    }
    judge(space, limit, count, verdict);
    for (size_t i = 0; i < count; i++) {
        broken[verdict[i]]++;
        if (counted[verdict[i]])
            continue;
        const struct search_point point = { walk->number, (uint32_t)setting, (uint32_t)(first + i),
                                            speed.data[i * speed.stride],
                                            throughput.data[i * throughput.stride] };
        if (!verdict[i])
            take_good(walk, &point);
        else if (space->limits[verdict[i] - 1].wider > 0)
            take_moved(walk, limit, verdict[i] - 1u, &point, i);
        if (verdict[i] && walk->near && !walk->block->found.met)
            look_near(walk, limit, point, i);
    }
    walk->part.count.seen += count;
    walk->part.count.met += broken[0];
    for (size_t l = 0; l < space->limit_count; l++)
        walk->part.count.broken[l] += broken[l + 1];
    const uint8_t last = verdict[count - 1];
    bool all_rise = !walk->careful;         /* else a higher load may miss by less */
    for (size_t l = 0; l < space->limit_count; l++) {
        walk->fell |= space->limits[l].rises && falls(&limit[l], count);
        all_rise &= space->limits[l].rises;
    }
    if (!last || !all_rise)
        return 0;
    const struct column *broken_by = &limit[last - 1];
    return broken_by->data[(count - 1) * broken_by->stride] > space->limits[last - 1].wider ? last
                                                                                            : 0;
}

static void enter(struct walk *walk, size_t setting, int axis)
{
    const struct search_space *space = walk->space;
    const double *values = space->settings + setting * space->inputs;
    for (size_t i = 0; i < space->inputs; i++)
        if (space->axis[i] >= axis && space->input[i] != SEARCH_UNREAD)
            loop_nest_number(walk->nest, space->input[i], values[i]);
    for (int i = axis; i < walk->axes; i++)
        loop_nest_enter(walk->nest, i);
}

/* Number of loads for which this setting has room. */
static size_t room_for(const struct walk *walk)
{
    const struct column most = loop_nest_output(walk->nest, walk->space->most);
    size_t low = 0, high = walk->space->load_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (walk->space->loads[middle] <= *most.data)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A setting in the order of the walk. */
struct walked {
    double value;                   /* of an input of axis 1 */
    uint32_t setting;
    int axis;                       /* the outermost whose values differ from those of the setting walked before */
    size_t room;                    /* number of loads */
    uint8_t over;                   /* a limit that is broken for good */
};

static int by_value(const void *x, const void *y)
{
    const struct walked *a = x, *b = y;
    return a->value != b->value ? (a->value < b->value ? -1 : 1) : (a->setting > b->setting) - (a->setting < b->setting);
}

/* Settings with equal values of axis 1 are walked one after another, wherever they stand in the list. */
static void order_walk(const struct search_space *space, const struct search_block *block, struct walked *walked)
{
    const size_t count = block->end - block->first;
    size_t input = 0;
    while (input < space->inputs && space->axis[input] != 1)
        input++;
    for (size_t i = 0; i < count; i++) {
        const size_t setting = block->first + i;
        walked[i] = (struct walked){ .setting = (uint32_t)setting,
                                     .value = input < space->inputs ? space->settings[setting * space->inputs + input] : 0 };
    }
    qsort(walked, count, sizeof *walked, by_value);
    for (size_t i = 0; i < count; i++)
        walked[i].axis = i ? changed(space, walked[i].setting, walked[i - 1].setting) : 0;
}

/* Loads outside, settings inside: blocks of an axis are done when its values change, or not at
 * all where no setting has room for these loads. The outermost numbers stay. */
static void walk_loads(struct walk *walk, struct search_block *block)
{
    const struct search_space *space = walk->space;
    const size_t settings = block->end - block->first;
    struct arena scratch = arena_beside(&walk->arena);
    struct walked *walked = arena_array(&scratch, settings, sizeof *walked);
    size_t most = 0;
    walk->block = block;
    const int most_axis = loop_nest_axis(walk->nest, space->most);
    order_walk(space, block, walked);
    walk->part.count.settings += settings;
    for (size_t i = 0; i < settings; i++) {
        struct walked *at = &walked[i];
        if (at->axis <= most_axis)
            enter(walk, at->setting, at->axis);
        at->room = at->axis <= most_axis ? room_for(walk) : walked[i - 1].room;
        most = at->room > most ? at->room : most;
        walk->part.count.points += space->load_count;
        *(at->room ? &walk->part.count.no_room : &walk->part.count.no_fit) += space->load_count - at->room;
    }
    for (size_t first = 0; first < most; first += LOOP_NEST_POINTS) {
        size_t count = most - first < LOOP_NEST_POINTS ? most - first : LOOP_NEST_POINTS;
        int numbers = 1, stale = 0;                 /* numbers and blocks from this axis on; 0: entered above */
        loop_nest_column(walk->nest, space->loads + first, count);
        for (size_t i = 0; i < settings; i++) {
            struct walked *at = &walked[i];
            numbers = i && at->axis < numbers ? at->axis : numbers;
            if (at->room <= first)
                continue;
            size_t here = at->room - first < count ? at->room - first : count;
            if (at->over) {
                walk->part.count.broken[at->over - 1] += here;
                walk->skipped = true;
                continue;
            }
            enter(walk, at->setting, numbers);
            for (stale = numbers < stale ? numbers : stale; stale < walk->axes; stale++)
                loop_nest_block(walk->nest, stale);
            numbers = walk->axes;
            at->over = take_points(walk, at->setting, first, here);
        }
    }
    arena_free(&scratch);
}

/* Walk a block; if a limit that should rise with the load was seen to fall, again without skipping. */
static void walk_block(struct walk *walk, struct search_block *block)
{
    const struct search_count before = walk->part.count;
    walk->fell = walk->skipped = false;
    walk_loads(walk, block);
    if (!walk->fell || !walk->skipped)
        return;
    const bool careful = walk->careful;
    walk->part.count = before;
    walk->careful = true;
    walk_loads(walk, block);
    walk->careful = careful;
}

/* ---- all threads -------------------------------------------------------------------------- */

/* The walk's space is this block's; false: its list has a ROOT. */
static bool enter_space(struct walk *walk, const struct search_space *spaces,
                        const struct search_block *block)
{
    return walk->space == &spaces[block->space] || open_space(walk, spaces, block->space);
}

static bool rooted_error(struct error *error)
{
    error_set(error, "a quantity of the search has a ROOT in it");
    return error_expected(error, "rows and --set without one");
}

/* A search of a few milliseconds is over before another thread has started. */
static bool worth_threads(const struct search *search)
{
    const double enough = 4e6;
    double points = 0;
    for (size_t s = 0; s < search->space_count; s++)
        points += (double)search->spaces[s].setting_count * (double)search->spaces[s].load_count;
    return points > enough;
}

struct walkers {
    const struct search *search;
    struct walk *walks;             /* one for each thread */
    size_t next;                    /* the next block */
};

/* One thread walks blocks until none is left. */
static void walk_some(void *context, size_t i)
{
    struct walkers *walkers = context;
    const struct search *search = walkers->search;
    struct walk *walk = &walkers->walks[i];
    front_open(&walk->front, &walk->arena);
    for (size_t at; (at = __atomic_fetch_add(&walkers->next, 1, __ATOMIC_RELAXED)) < search->block_count;) {
        guard_tell((double)at / (double)search->block_count);
        if (!ranks_mine(search->ranks, at))
            continue;
        else if (enter_space(walk, search->spaces, &search->blocks[at]))
            walk_block(walk, &search->blocks[at]);
        else
            walk->part.rooted = true;
    }
}

/* The whole search, by all threads of all ranks. */
static bool walk_blocks(struct arena *arena, const struct search *search, bool near, struct search_result *result,
                        struct error *error)
{
    const bool threads = worth_threads(search);
    const size_t count = threads ? parallel_threads() : 1;
    struct walkers walkers = { .search = search, .walks = arena_array(arena, count, sizeof *walkers.walks) };
    struct front front;
    struct part part = { .rooted = false };
    front_open(&front, arena);
    for (size_t i = 0; i < count; i++)
        walkers.walks[i].near = near;
    parallel_each(count, threads, walk_some, &walkers);
    for (size_t i = 0; i < count; i++) {
        struct walk *walk = &walkers.walks[i];
        part_add(&part, &walk->part);
        for (size_t k = 0; k < walk->front.count; k++)
            front_offer(&front, arena, &walk->front.points[k]);
        arena_free(&walk->arena);
    }
    if (!parts_share(arena, search, &part, &front, error))
        return false;
    front_close(&front);
    *result = (struct search_result){ .front = { front.points, front.count }, .count = part.count,
                                      .miss_found = part.near_found, .miss = part.nearest,
                                      .miss_by = part.nearest_by };
    return !part.rooted || rooted_error(error);
}

static int falling(const void *x, const void *y)
{
    const struct search_point *a = x, *b = y;
    return better(a, b) ? -1 : better(b, a);
}

static void collect_blocks(struct arena *arena, const struct search *search, struct search_result *result)
{
    struct search_front *tops = &result->tops;
    *tops = (struct search_front){ arena_array(arena, search->block_count + 1, sizeof *tops->points), 0 };
    for (size_t i = 0; i < search->block_count; i++) {
        const struct search_found *found = &search->blocks[i].found;
        if (found->met)
            tops->points[tops->count++] = found->best;
        for (size_t l = 0; l < SEARCH_LIMITS; l++)
            if (found->moved_found & 1u << l)
                add_moved(&result->moved_found, result->moved, l, &found->moved[l]);
    }
    if (tops->count)
        qsort(tops->points, tops->count, sizeof *tops->points, falling);
}

bool search_ranks(struct arena *arena, const struct ranks *ranks, const struct search_space *spaces, size_t count,
                  struct search_result *result, struct error *error)
{
    struct search search = { .ranks = ranks, .spaces = spaces, .space_count = count };
    for (size_t s = 0; s < count; s++)
        assert(spaces[s].limit_count <= SEARCH_LIMITS);
    cut_blocks(arena, &search);
    if (!walk_blocks(arena, &search, false, result, error) ||
        (!result->front.count && !walk_blocks(arena, &search, true, result, error)))
        return false;
    collect_blocks(arena, &search, result);
    return true;
}

bool search_run(struct arena *arena, const struct search_space *spaces, size_t count,
                struct search_result *result, struct error *error)
{
    return search_ranks(arena, NULL, spaces, count, result, error);
}

/* ---- one space after another ------------------------------------------------------------------ */

void search_keep(struct arena *arena, struct search_space *space, size_t number, struct search_result *one)
{
    struct arena scratch = arena_beside(arena);
    const size_t most = one->front.count + one->tops.count + SEARCH_LIMITS + 1;
    struct search_point **points = arena_array(&scratch, most, sizeof(struct search_point *));
    uint32_t *now = arena_array(&scratch, space->setting_count + 1, sizeof *now), kept = 0;
    double *settings = arena_array(arena, most, space->inputs * sizeof *settings);
    size_t count = 0;
    for (size_t i = 0; i < one->front.count; i++)
        points[count++] = &one->front.points[i];
    for (size_t i = 0; i < one->tops.count; i++)
        points[count++] = &one->tops.points[i];
    for (size_t l = 0; l < SEARCH_LIMITS; l++)
        points[count++] = &one->moved[l];
    points[count++] = &one->miss;
    for (size_t i = 0; i < count; i++)
        now[points[i]->setting] = 1;
    for (size_t i = 0; i < space->setting_count; i++)
        if (now[i]) {
            memcpy(settings + kept * space->inputs, space->settings + i * space->inputs, space->inputs * sizeof *settings);
            now[i] = kept++;
        }
    for (size_t i = 0; i < count; i++) {
        points[i]->setting = now[points[i]->setting];
        points[i]->space = (uint32_t)number;
    }
    space->settings = settings;
    space->setting_count = kept;
    arena_free(&scratch);
}

/* The points of both, one after another. */
static struct search_front joined(struct arena *arena, const struct search_front *a, const struct search_front *b)
{
    struct search_front both = { arena_array(arena, a->count + b->count + 1, sizeof *both.points), a->count + b->count };
    if (a->count)
        memcpy(both.points, a->points, a->count * sizeof *a->points);
    if (b->count)
        memcpy(both.points + a->count, b->points, b->count * sizeof *b->points);
    return both;
}

void search_add(struct arena *arena, struct search_result *sum, const struct search_result *one)
{
    const struct search_front all = joined(arena, &sum->front, &one->front);
    struct front front = { .points = all.points, .count = all.count };
    front_close(&front);
    sum->front = (struct search_front){ front.points, front.count };
    sum->tops = joined(arena, &sum->tops, &one->tops);
    qsort(sum->tops.points, sum->tops.count, sizeof *sum->tops.points, falling);
    count_add(&sum->count, &one->count);
    if (one->miss_found && (!sum->miss_found || one->miss_by < sum->miss_by)) {
        sum->miss = one->miss;
        sum->miss_by = one->miss_by;
    }
    sum->miss_found = (sum->miss_found || one->miss_found) && !sum->front.count;
    for (size_t l = 0; l < SEARCH_LIMITS; l++)
        if (one->moved_found & 1u << l)
            add_moved(&sum->moved_found, sum->moved, l, &one->moved[l]);
}

void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs)
{
    const struct search_space *space = &spaces[point->space];
    double *inputs = arena_array(scratch, space->graph.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < space->graph.input_count; i++)
        inputs[i] = space->graph.inputs[i].value;
    for (size_t i = 0; i < space->inputs; i++)
        if (space->input[i] != SEARCH_UNREAD)
            inputs[space->input[i]] = space->settings[point->setting * space->inputs + i];
    if (space->column != SEARCH_UNREAD)
        inputs[space->column] = space->loads[point->load];
    graph_value(scratch, &space->graph, inputs, NULL, outputs);
}
