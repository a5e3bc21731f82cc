/* Loop nests: the nodes of a graph by the innermost axis that they move with, numbers apart from
 * what moves with the column. Numbers are computed one by one and then stand as one vector
 * where blocks read them; a block that only its own group reads is used again.
 *
 * The steps of a stage that depend on the same of its numbers are a group, which does not run where all
 * of these have the bits that they had when it ran last: a number may depend on an input of an axis and
 * yet hardly ever change, as the link between two servers does with their number. A group stands behind
 * those that depend on fewer numbers, so that it reads none that runs later. */
#include "rows/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Steps that depend on the same numbers of their stage. */
struct group {
    uint64_t numbers;               /* bits of stage->shown; the last bit stands for all beyond */
    size_t first, count;            /* of stage->blocks */
};

struct stage {
    struct run_step *numbers, *blocks;
    size_t number_count;
    int *shown;                     /* nodes whose number blocks read */
    size_t shown_count;
    struct group *groups;
    size_t group_count;
    uint64_t changed;               /* numbers that differ from those of the last run */
    bool stale;                     /* what other stages compute differs, or the column */
};

struct loop_nest {
    const struct graph *graph;
    const struct instruction_set *set;
    struct stage stage[LOOP_NEST_AXES];
    int *axis;                      /* [count] */
    uint64_t *numbers;              /* [count] as in struct group */
    int *input;                     /* [input_count] nodes */
    double *value;                  /* [count] numbers */
    double **block;                 /* [count] */
    size_t *size;                   /* [count] of a number's block; 0: never read as a block */
    bool *single;                   /* [count] a number */
    double **column;                /* blocks to fill with it */
    size_t columns, points;         /* of those; of the column */
};

/* ---- which stage ------------------------------------------------------------------------- */

static int node_axis(const struct node *node, const int *axis, const int *at)
{
    if (node->op == OP_INPUT)
        return at[node->input] == LOOP_NEST_COLUMN ? 0 : at[node->input];
    const int kids[] = { node->a, node->b, node->c };
    int most = 0;
    for (int k = 0; k < 3; k++)
        if (kids[k] >= 0 && axis[kids[k]] > most)
            most = axis[kids[k]];
    return most;
}

static bool node_single(const struct node *node, const bool *single, const int *at)
{
    if (node->op == OP_INPUT)
        return at[node->input] != LOOP_NEST_COLUMN;
    return (node->a < 0 || single[node->a]) && (node->b < 0 || single[node->b]) &&
           (node->c < 0 || single[node->c]);
}

static bool computed(const struct node *node)
{
    return node->op != OP_NUMBER && node->op != OP_INPUT;
}

/* ---- blocks -------------------------------------------------------------------------------- */

struct point_blocks {
    struct arena *arena;
    double **unused;
    size_t unused_count;
};

static double *block_new(struct point_blocks *blocks, size_t size)
{
    return arena_align(blocks->arena, size * sizeof(double), VECTOR * sizeof(double));
}

/* The last node that reads a block, if all who do are of its own group; else none. */
static void last_readers(const struct loop_nest *nest, int *last)
{
    const struct graph *graph = nest->graph;
    for (size_t i = 0; i < graph->count; i++)
        last[i] = (int)i;
    for (size_t i = 0; i < graph->count; i++) {
        const int kids[] = { graph->nodes[i].a, graph->nodes[i].b, graph->nodes[i].c };
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0 && last[kids[k]] >= 0)
                last[kids[k]] = nest->axis[i] == nest->axis[kids[k]] && nest->numbers[i] == nest->numbers[kids[k]] ? (int)i
                                                                                                                 : -1;
    }
    for (size_t i = 0; i < graph->output_count; i++)
        last[graph->outputs[i]] = -1;
}

static void give_back(struct point_blocks *blocks, const struct loop_nest *nest, const int *last, int i)
{
    const struct node *node = &nest->graph->nodes[i];
    const int kids[] = { node->a, node->b, node->c };
    for (int k = 0; k < 3; k++) {
        bool again = k && kids[k] >= 0 && (kids[k] == kids[0] || (k == 2 && kids[2] == kids[1]));
        if (kids[k] >= 0 && !again && last[kids[k]] == i && !nest->single[kids[k]] &&
            computed(&nest->graph->nodes[kids[k]]))
            blocks->unused[blocks->unused_count++] = nest->block[kids[k]];
    }
}

static void place_numbers(struct loop_nest *nest, struct point_blocks *blocks)
{
    const struct graph *graph = nest->graph;
    bool *wide = arena_array(blocks->arena, graph->count + 1, sizeof *wide);
    bool *read = arena_array(blocks->arena, graph->count + 1, sizeof *read);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (nest->single[i])
            continue;
        mark_wide(node, nest->single, wide);
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0)
                read[kids[k]] = true;
    }
    for (size_t i = 0; i < graph->count; i++)
        if (nest->single[i] && read[i]) {
            nest->size[i] = wide[i] ? BLOCK : VECTOR;
            nest->block[i] = block_new(blocks, nest->size[i]);
            if (graph->nodes[i].op == OP_NUMBER)
                fill(nest->block[i], graph->nodes[i].value, nest->size[i]);
        }
}

/* ---- making --------------------------------------------------------------------------------- */

static struct run_step number_step(const struct loop_nest *nest, size_t i)
{
    const struct node *node = &nest->graph->nodes[i];
    double *value = nest->value;
    return (struct run_step){ .op = node->op, .to = &value[i],
                          .a = node->a < 0 ? NULL : &value[node->a],
                          .b = node->b < 0 ? NULL : &value[node->b],
                          .c = node->c < 0 ? NULL : &value[node->c] };
}

static struct run_step block_step(const struct loop_nest *nest, size_t i)
{
    const struct node *node = &nest->graph->nodes[i];
    double *const *block = nest->block;
    return (struct run_step){ .op = node->op, .form = form_of(node, nest->single), .to = block[i],
                          .a = node->a < 0 ? NULL : block[node->a],
                          .b = node->b < 0 ? NULL : block[node->b],
                          .c = node->c < 0 ? NULL : block[node->c] };
}

static uint64_t number_bit(size_t shown)
{
    return (uint64_t)1 << (shown < 63 ? shown : 63);
}

/* The numbers of each stage that blocks read, and those that each block depends on. */
static void find_numbers(struct loop_nest *nest, struct arena *arena)
{
    const struct graph *graph = nest->graph;
    for (int at = 0; at < LOOP_NEST_AXES; at++)
        nest->stage[at].shown = arena_array(arena, graph->count + 1, sizeof(int));
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const int kids[] = { node->a, node->b, node->c };
        struct stage *stage = &nest->stage[nest->axis[i]];
        if (nest->single[i] && nest->size[i] && node->op != OP_NUMBER) {
            nest->numbers[i] = number_bit(stage->shown_count);
            stage->shown[stage->shown_count++] = (int)i;
        }
        for (int k = 0; k < 3 && !nest->single[i]; k++)
            if (kids[k] >= 0 && nest->axis[kids[k]] == nest->axis[i])
                nest->numbers[i] |= nest->numbers[kids[k]];
    }
}

struct placed {
    uint64_t numbers;
    size_t node;
};

static int by_numbers(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    const int few = __builtin_popcountll(a->numbers) - __builtin_popcountll(b->numbers);
    return few ? few : a->numbers != b->numbers ? (a->numbers > b->numbers ? 1 : -1) : (a->node > b->node) - (a->node < b->node);
}

static void make_stage(struct loop_nest *nest, struct point_blocks *blocks, const int *last, int at)
{
    const struct graph *graph = nest->graph;
    struct stage *stage = &nest->stage[at];
    struct placed *placed = arena_array(blocks->arena, graph->count + 1, sizeof *placed);
    size_t count = 0, room = 0;
    stage->numbers = arena_array(blocks->arena, graph->count + 1, sizeof *stage->numbers);
    stage->blocks = arena_array(blocks->arena, graph->count + 1, sizeof *stage->blocks);
    stage->stale = true;
    for (size_t i = 0; i < graph->count; i++)
        if (nest->axis[i] == at && computed(&graph->nodes[i])) {
            if (nest->single[i])
                stage->numbers[stage->number_count++] = number_step(nest, i);
            else
                placed[count++] = (struct placed){ nest->numbers[i], i };
        }
    qsort(placed, count, sizeof *placed, by_numbers);
    for (size_t k = 0; k < count; k++) {
        const size_t i = placed[k].node;
        const bool again = last[i] >= 0 && blocks->unused_count;        /* what other groups read stays */
        if (!k || placed[k].numbers != placed[k - 1].numbers)
            *(struct group *)arena_push(blocks->arena, &stage->groups, &stage->group_count, &room,
                                        sizeof *stage->groups) = (struct group){ placed[k].numbers, k, 0 };
        stage->groups[stage->group_count - 1].count++;
        nest->block[i] = again ? blocks->unused[--blocks->unused_count] : block_new(blocks, BLOCK);
        stage->blocks[k] = block_step(nest, i);
        give_back(blocks, nest, last, (int)i);
    }
}

static void place_inputs(struct loop_nest *nest, struct point_blocks *blocks)
{
    const struct graph *graph = nest->graph;
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->op == OP_NUMBER)
            nest->value[i] = node->value;
        if (node->op != OP_INPUT)
            continue;
        nest->input[node->input] = (int)i;
        nest->value[i] = graph->inputs[node->input].value;
        if (!nest->single[i])
            nest->column[nest->columns++] = nest->block[i] = block_new(blocks, BLOCK);
    }
}

static void loop_nest_arrays(struct arena *arena, struct loop_nest *nest)
{
    const size_t count = nest->graph->count + 1, inputs = nest->graph->input_count + 1;
    nest->axis = arena_array(arena, count, sizeof *nest->axis);
    nest->numbers = arena_array(arena, count, sizeof *nest->numbers);
    nest->input = arena_array(arena, inputs, sizeof *nest->input);
    nest->column = arena_array(arena, inputs, sizeof *nest->column);
    nest->value = arena_array(arena, count, sizeof *nest->value);
    nest->block = arena_array(arena, count, sizeof *nest->block);
    nest->size = arena_array(arena, count, sizeof *nest->size);
    nest->single = arena_array(arena, count, sizeof *nest->single);
}

static int deepest(const int *at, size_t count)
{
    int axis = 0;
    for (size_t i = 0; i < count; i++)
        if (at[i] < LOOP_NEST_COLUMN && at[i] > axis)
            axis = at[i];
    return axis;
}

struct loop_nest *loop_nest_make(struct arena *arena, const char *set, const struct graph *graph,
                                 const int *at)
{
    struct loop_nest *nest = arena_alloc(arena, sizeof *nest);
    int *last = arena_array(arena, graph->count + 1, sizeof *last);
    struct point_blocks blocks = { .arena = arena };
    blocks.unused = arena_array(arena, graph->count + 1, sizeof *blocks.unused);
    *nest = (struct loop_nest){ .graph = graph, .set = set_find(set), .points = BLOCK };
    assert(nest->set && (int)LOOP_NEST_POINTS == (int)BLOCK);
    loop_nest_arrays(arena, nest);
    int *axis = nest->axis;
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i].op == OP_ROOT)
            return NULL;
        axis[i] = node_axis(&graph->nodes[i], axis, at);
        nest->single[i] = node_single(&graph->nodes[i], nest->single, at);
    }
    place_numbers(nest, &blocks);
    place_inputs(nest, &blocks);
    find_numbers(nest, arena);
    last_readers(nest, last);
    for (int i = 0; i <= deepest(at, graph->input_count); i++)
        make_stage(nest, &blocks, last, i);
    return nest;
}

/* ---- running -------------------------------------------------------------------------------- */

void loop_nest_number(struct loop_nest *nest, size_t input, double value)
{
    nest->value[nest->input[input]] = value;
}

/* What the stages from this one on read of others differs. */
static void set_stale(struct loop_nest *nest, int from)
{
    for (int at = from; at < LOOP_NEST_AXES; at++)
        nest->stage[at].stale = true;
}

void loop_nest_enter(struct loop_nest *nest, int axis)
{
    struct stage *stage = &nest->stage[axis];
    run_steps_scalar(stage->numbers, stage->number_count, 1);
    for (size_t i = 0; i < stage->shown_count; i++) {
        const int node = stage->shown[i];
        if (!memcmp(&nest->block[node][0], &nest->value[node], sizeof(double)))
            continue;
        fill(nest->block[node], nest->value[node], nest->size[node]);
        stage->changed |= number_bit(i);
        set_stale(nest, axis + 1);
    }
}

void loop_nest_column(struct loop_nest *nest, const double *column, size_t count)
{
    assert(count <= BLOCK);
    nest->points = count;
    for (size_t i = 0; i < nest->columns; i++)
        memcpy(nest->column[i], column, count * sizeof *column);
    set_stale(nest, 0);
}

void loop_nest_block(struct loop_nest *nest, int axis)
{
    struct stage *stage = &nest->stage[axis];
    for (size_t k = 0; k < stage->group_count; k++) {
        const struct group *group = &stage->groups[k];
        if (!stage->stale && !(group->numbers & stage->changed))
            continue;
        nest->set->run(stage->blocks + group->first, group->count, nest->points);
        set_stale(nest, axis + 1);
    }
    stage->stale = false;
    stage->changed = 0;
}

int loop_nest_axis(const struct loop_nest *nest, size_t output)
{
    return nest->axis[nest->graph->outputs[output]];
}

struct column loop_nest_output(const struct loop_nest *nest, size_t output)
{
    const int node = nest->graph->outputs[output];
    return nest->single[node] ? (struct column){ &nest->value[node], 0 }
                              : (struct column){ nest->block[node], 1 };
}
