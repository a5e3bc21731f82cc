/* A walk over the settings of a space: numbers are entered where they change, loads go in
 * columns. All that a thread needs is its own; what threads found is put together in the end. */
#include "search/search.h"

#include "search/front.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- units: settings with the same outermost values ------------------------------------- */

struct unit_of_work {
    uint32_t space;
    size_t first, end;              /* settings */
    bool found;                     /* something within the limits, the best along of which is */
    struct search_point best;
};

/* The outermost axis whose values differ from those of the setting before; STAGES_AXES: none. */
static int changed(const struct search_space *space, size_t setting)
{
    const double *now = space->settings + setting * space->inputs, *before = now - space->inputs;
    int axis = STAGES_AXES;
    for (size_t i = 0; i < space->inputs; i++)
        if (now[i] != before[i] && space->axis[i] < axis)
            axis = space->axis[i];
    return axis;
}

static struct unit_of_work *list_units(struct arena *arena, const struct search_space *spaces,
                                       size_t count, size_t *units)
{
    struct unit_of_work *list = NULL;
    size_t room = 0;
    *units = 0;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < spaces[s].setting_count; i++) {
            if (!i || changed(&spaces[s], i) == 0)
                *(struct unit_of_work *)arena_push(arena, &list, units, &room, sizeof *list) =
                    (struct unit_of_work){ .space = (uint32_t)s, .first = i };
            list[*units - 1].end = i + 1;
        }
    return list;
}

/* ---- a thread's walk ------------------------------------------------------------------------- */

struct walk {
    struct arena arena;
    const struct search_space *space;
    struct stages *stages;
    int axes;
    uint32_t number;                /* of the space */
    struct search_count count;
    struct front front;
    struct unit_of_work *unit;
    bool near, near_found;          /* look for the nearest miss */
    struct search_point nearest;
    double nearest_by;
};

static bool open_space(struct walk *walk, const struct search_space *spaces, uint32_t number)
{
    const struct search_space *space = &spaces[number];
    int *at = arena_array(&walk->arena, space->list.input_count + 1, sizeof *at);
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
        at[space->column] = STAGES_COLUMN;
    walk->stages = stages_make(&walk->arena, NULL, &space->list, at);
    return walk->stages != NULL;
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

/* A point without room is no miss: another layout is needed, not another limit. */
static void look_near(struct walk *walk, const struct column *limit, struct search_point point,
                      size_t i)
{
    double by = worst_of(walk->space, limit, i);
    bool closer = !walk->near_found || by < walk->nearest_by;
    if (!closer || !isfinite(by))
        return;
    walk->near_found = true;
    walk->nearest = point;
    walk->nearest_by = by;
}

/* verdict[i]: 0, or 1 more than the first limit that point i breaks */
static void judge(const struct search_space *space, const struct column *limit, size_t count,
                  uint8_t *verdict)
{
    memset(verdict, 0, count);
    for (size_t l = space->limit_count; l-- > 0;) {
        const double *value = limit[l].data, bound = space->limits[l].bound;
        const size_t stride = limit[l].stride;
        const uint8_t broken = (uint8_t)(l + 1);
        for (size_t i = 0; i < count; i++)
            verdict[i] = value[i * stride] <= bound ? verdict[i] : broken;
    }
}

/* Of points that are equal along, the one further across. */
static void take_good(struct walk *walk, const struct search_point *point)
{
    struct unit_of_work *unit = walk->unit;
    front_offer(&walk->front, &walk->arena, point);
    if (unit->found && (point->along < unit->best.along || (point->along == unit->best.along &&
                                                            point->across <= unit->best.across)))
        return;
    unit->found = true;
    unit->best = *point;
}

/* Returns one more than the limit that all higher loads break too, or 0. */
static uint8_t take_points(struct walk *walk, size_t setting, size_t first, size_t count)
{
    const struct search_space *space = walk->space;
    const struct column across = stages_output(walk->stages, space->across);
    const struct column along = stages_output(walk->stages, space->along);
    struct column limit[SEARCH_LIMITS];
    uint8_t verdict[STAGES_POINTS];
    size_t broken[SEARCH_LIMITS + 1] = { 0 };
    for (size_t l = 0; l < space->limit_count; l++)
        limit[l] = stages_output(walk->stages, space->limits[l].output);
    judge(space, limit, count, verdict);
    for (size_t i = 0; i < count; i++) {
        const struct search_point point = { walk->number, (uint32_t)setting, (uint32_t)(first + i),
                                            across.data[i * across.stride],
                                            along.data[i * along.stride] };
        broken[verdict[i]]++;
        if (!verdict[i])
            take_good(walk, &point);
        else if (walk->near)
            look_near(walk, limit, point, i);
    }
    walk->count.seen += count;
    walk->count.met += broken[0];
    for (size_t l = 0; l < space->limit_count; l++)
        walk->count.broken[l] += broken[l + 1];
    const uint8_t last = verdict[count - 1];
    return last && space->limits[last - 1].rises ? last : 0;
}

static void enter(struct walk *walk, size_t setting, int axis)
{
    const struct search_space *space = walk->space;
    const double *values = space->settings + setting * space->inputs;
    for (size_t i = 0; i < space->inputs; i++)
        if (space->axis[i] >= axis && space->input[i] != SEARCH_UNREAD)
            stages_number(walk->stages, space->input[i], values[i]);
    for (int i = axis; i < walk->axes; i++)
        stages_enter(walk->stages, i);
}

/* Loads of this setting that there is room for. */
static size_t room_for(const struct walk *walk)
{
    const struct column most = stages_output(walk->stages, walk->space->most);
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

/* Loads outside, settings inside: blocks of an axis are done when its values change, or not at
 * all where no setting has room for these loads. The outermost numbers stay. */
static void walk_unit(struct walk *walk, struct unit_of_work *unit)
{
    const struct search_space *space = walk->space;
    const size_t settings = unit->end - unit->first;
    size_t *room = arena_array(&walk->arena, settings, sizeof *room), most = 0;
    walk->unit = unit;
    uint8_t *over = arena_alloc(&walk->arena, settings);        /* a limit that is broken for good */
    const int most_axis = stages_axis(walk->stages, space->most);
    for (size_t i = 0; i < settings; i++) {
        int axis = i ? changed(space, unit->first + i) : 0;
        if (axis <= most_axis)
            enter(walk, unit->first + i, axis);
        room[i] = axis <= most_axis ? room_for(walk) : room[i - 1];
        most = room[i] > most ? room[i] : most;
        walk->count.points += space->load_count;
        *(room[i] ? &walk->count.no_room : &walk->count.no_fit) += space->load_count - room[i];
    }
    for (size_t first = 0; first < most; first += STAGES_POINTS) {
        size_t count = most - first < STAGES_POINTS ? most - first : STAGES_POINTS;
        int stale = 0;                              /* blocks from this axis on */
        stages_column(walk->stages, space->loads + first, count);
        for (size_t i = 0; i < settings; i++) {
            int axis = i ? changed(space, unit->first + i) : 1;     /* 0: entered above */
            enter(walk, unit->first + i, axis);
            stale = axis < stale ? axis : stale;
            if (room[i] <= first)
                continue;
            size_t here = room[i] - first < count ? room[i] - first : count;
            if (over[i]) {
                walk->count.broken[over[i] - 1] += here;
                continue;
            }
            for (; stale < walk->axes; stale++)
                stages_block(walk->stages, stale);
            over[i] = take_points(walk, unit->first + i, first, here);
        }
    }
}

/* ---- all threads -------------------------------------------------------------------------- */

static void add_counts(struct search_count *sum, const struct search_count *one)
{
    sum->points += one->points;
    sum->seen += one->seen;
    sum->met += one->met;
    sum->no_fit += one->no_fit;
    sum->no_room += one->no_room;
    for (int l = 0; l < SEARCH_LIMITS; l++)
        sum->broken[l] += one->broken[l];
}

static bool earlier(const struct search_point *a, const struct search_point *b)
{
    return a->space != b->space ? a->space < b->space
           : a->setting != b->setting ? a->setting < b->setting : a->load < b->load;
}

static void add_walk(struct arena *arena, const struct walk *walk, struct front *front,
                     struct search_result *result)
{
    add_counts(&result->count, &walk->count);
    for (size_t i = 0; i < walk->front.count; i++)
        front_offer(front, arena, &walk->front.points[i]);
    if (walk->near_found &&
        (!result->miss_found || walk->nearest_by < result->miss_by ||
         (walk->nearest_by == result->miss_by && earlier(&walk->nearest, &result->miss)))) {
        result->miss_found = true;
        result->miss = walk->nearest;
        result->miss_by = walk->nearest_by;
    }
}

static bool walk_units(const struct search_space *spaces, struct unit_of_work *units,
                       size_t count, bool near, struct arena *arena, struct search_result *result)
{
    struct front front;
    bool rooted = false;
    front_open(&front, arena);
    *result = (struct search_result){ 0 };
    #pragma omp parallel
    {
        struct walk walk = { .near = near };
        front_open(&walk.front, &walk.arena);
        #pragma omp for schedule(dynamic)
        for (size_t i = 0; i < count; i++) {
            struct unit_of_work *unit = &units[i];
            bool open = walk.space == &spaces[unit->space] ||
                        open_space(&walk, spaces, unit->space);
            if (open)
                walk_unit(&walk, unit);
            else
                #pragma omp atomic write
                rooted = true;
        }
        #pragma omp critical
        add_walk(arena, &walk, &front, result);
        arena_free(&walk.arena);
    }
    front_close(&front);
    result->front = (struct search_front){ front.points, front.count };
    return !rooted;
}

static int falling(const void *x, const void *y)
{
    const struct search_point *a = x, *b = y;
    if (a->along != b->along)
        return a->along > b->along ? -1 : 1;
    if (a->across != b->across)
        return a->across > b->across ? -1 : 1;
    return earlier(a, b) ? -1 : earlier(b, a);
}

static void list_tops(struct arena *arena, const struct unit_of_work *units, size_t count,
                      struct search_front *tops)
{
    *tops = (struct search_front){ arena_array(arena, count + 1, sizeof *tops->points), 0 };
    for (size_t i = 0; i < count; i++)
        if (units[i].found)
            tops->points[tops->count++] = units[i].best;
    if (tops->count)
        qsort(tops->points, tops->count, sizeof *tops->points, falling);
}

bool search_run(struct arena *arena, const struct search_space *spaces, size_t count,
                struct search_result *result, struct error *error)
{
    size_t unit_count;
    struct unit_of_work *units = list_units(arena, spaces, count, &unit_count);
    for (size_t s = 0; s < count; s++)
        assert(spaces[s].limit_count <= SEARCH_LIMITS);
    if (!walk_units(spaces, units, unit_count, false, arena, result)) {
        error_set(error, "a quantity of the search has a ROOT in it");
        return error_hint(error, "rows and --set without one");
    }
    list_tops(arena, units, unit_count, &result->tops);
    return result->front.count ||
           walk_units(spaces, units, unit_count, true, arena, result);
}

void search_values(struct arena *scratch, const struct search_space *spaces,
                   const struct search_point *point, double *outputs)
{
    const struct search_space *space = &spaces[point->space];
    double *inputs = arena_array(scratch, space->list.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < space->list.input_count; i++)
        inputs[i] = space->list.inputs[i].value;
    for (size_t i = 0; i < space->inputs; i++)
        if (space->input[i] != SEARCH_UNREAD)
            inputs[space->input[i]] = space->settings[point->setting * space->inputs + i];
    if (space->column != SEARCH_UNREAD)
        inputs[space->column] = space->loads[point->load];
    list_value(scratch, &space->list, inputs, NULL, outputs);
}
