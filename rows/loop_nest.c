/* Loop nests: the nodes of a graph by the innermost axis that they move with, numbers apart from
 * what moves with the column. Numbers are computed one by one and then stand as one vector
 * where blocks read them; a block that only its own stage reads is used again. */
#include "rows/run.h"

#include <assert.h>
#include <string.h>

struct stage {
    struct run_step *numbers, *blocks;
    size_t number_count, block_count;
    int *shown;                     /* nodes whose number blocks read */
    size_t shown_count;
};

struct loop_nest {
    const struct graph *graph;
    const struct instruction_set *set;
    struct stage stage[LOOP_NEST_AXES];
    int *axis;                      /* [count] */
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

/* The last node that reads a block, if all who do are of its own stage; else none. */
static void last_readers(const struct loop_nest *nest, int *last)
{
    const struct graph *graph = nest->graph;
    for (size_t i = 0; i < graph->count; i++)
        last[i] = (int)i;
    for (size_t i = 0; i < graph->count; i++) {
        const int kids[] = { graph->nodes[i].a, graph->nodes[i].b, graph->nodes[i].c };
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0 && last[kids[k]] >= 0)
                last[kids[k]] = nest->axis[i] == nest->axis[kids[k]] ? (int)i : -1;
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

static void make_stage(struct loop_nest *nest, struct point_blocks *blocks, const int *last, int at)
{
    const struct graph *graph = nest->graph;
    struct stage *stage = &nest->stage[at];
    stage->numbers = arena_array(blocks->arena, graph->count + 1, sizeof *stage->numbers);
    stage->blocks = arena_array(blocks->arena, graph->count + 1, sizeof *stage->blocks);
    stage->shown = arena_array(blocks->arena, graph->count + 1, sizeof *stage->shown);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (nest->axis[i] != at || node->op == OP_NUMBER)
            continue;
        if (nest->single[i]) {
            if (computed(node))
                stage->numbers[stage->number_count++] = number_step(nest, i);
            if (nest->size[i])
                stage->shown[stage->shown_count++] = (int)i;
        } else if (computed(node)) {
            nest->block[i] = blocks->unused_count ? blocks->unused[--blocks->unused_count]
                                                  : block_new(blocks, BLOCK);
            stage->blocks[stage->block_count++] = block_step(nest, i);
            give_back(blocks, nest, last, (int)i);
        }
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
    last_readers(nest, last);
    place_numbers(nest, &blocks);
    place_inputs(nest, &blocks);
    for (int i = 0; i <= deepest(at, graph->input_count); i++)
        make_stage(nest, &blocks, last, i);
    return nest;
}

/* ---- running -------------------------------------------------------------------------------- */

void loop_nest_number(struct loop_nest *nest, size_t input, double value)
{
    nest->value[nest->input[input]] = value;
}

void loop_nest_enter(struct loop_nest *nest, int axis)
{
    const struct stage *stage = &nest->stage[axis];
    run_steps_scalar(stage->numbers, stage->number_count, 1);
    for (size_t i = 0; i < stage->shown_count; i++) {
        int node = stage->shown[i];
        fill(nest->block[node], nest->value[node], nest->size[node]);
    }
}

void loop_nest_column(struct loop_nest *nest, const double *column, size_t count)
{
    assert(count <= BLOCK);
    nest->points = count;
    for (size_t i = 0; i < nest->columns; i++)
        memcpy(nest->column[i], column, count * sizeof *column);
}

void loop_nest_block(struct loop_nest *nest, int axis)
{
    nest->set->run(nest->stage[axis].blocks, nest->stage[axis].block_count, nest->points);
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
