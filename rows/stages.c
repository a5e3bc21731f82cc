/* Stages: the nodes of a list by the innermost axis that they move with, numbers apart from
 * what moves with the column. Numbers are computed one by one and then stand as one vector
 * where blocks read them; a block that only its own stage reads is used again. */
#include "rows/run.h"

#include <assert.h>
#include <string.h>

struct stage {
    struct step *numbers, *blocks;
    size_t number_count, block_count;
    int *shown;                     /* nodes whose number blocks read */
    size_t shown_count;
};

struct stages {
    const struct list *list;
    const struct set *set;
    struct stage stage[STAGES_AXES];
    int *axis;                      /* [count] */
    int *input;                     /* [input_count] nodes */
    double *value;                  /* [count] numbers */
    double **block;                 /* [count] */
    size_t *size;                   /* [count] of a number's block; 0: nobody reads it so */
    bool *single;                   /* [count] a number */
    double **column;                /* blocks to fill with it */
    size_t columns;
};

/* ---- which stage ------------------------------------------------------------------------- */

static int node_axis(const struct node *node, const int *axis, const int *at)
{
    if (node->op == OP_INPUT)
        return at[node->input] == STAGES_COLUMN ? 0 : at[node->input];
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
        return at[node->input] != STAGES_COLUMN;
    return (node->a < 0 || single[node->a]) && (node->b < 0 || single[node->b]) &&
           (node->c < 0 || single[node->c]);
}

static bool computed(const struct node *node)
{
    return node->op != OP_NUMBER && node->op != OP_INPUT;
}

/* ---- blocks -------------------------------------------------------------------------------- */

struct blocks {
    struct arena *arena;
    double **unused;
    size_t unused_count;
};

static double *block_new(struct blocks *blocks, size_t size)
{
    return arena_align(blocks->arena, size * sizeof(double), VECTOR * sizeof(double));
}

/* The last node that reads a block, if all who do are of its own stage; else none. */
static void last_readers(const struct stages *stages, int *last)
{
    const struct list *list = stages->list;
    for (size_t i = 0; i < list->count; i++)
        last[i] = (int)i;
    for (size_t i = 0; i < list->count; i++) {
        const int kids[] = { list->nodes[i].a, list->nodes[i].b, list->nodes[i].c };
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0 && last[kids[k]] >= 0)
                last[kids[k]] = stages->axis[i] == stages->axis[kids[k]] ? (int)i : -1;
    }
    for (size_t i = 0; i < list->output_count; i++)
        last[list->outputs[i]] = -1;
}

static void give_back(struct blocks *blocks, const struct stages *stages, const int *last, int i)
{
    const struct node *node = &stages->list->nodes[i];
    const int kids[] = { node->a, node->b, node->c };
    for (int k = 0; k < 3; k++) {
        bool again = k && kids[k] >= 0 && (kids[k] == kids[0] || (k == 2 && kids[2] == kids[1]));
        if (kids[k] >= 0 && !again && last[kids[k]] == i && !stages->single[kids[k]] &&
            computed(&stages->list->nodes[kids[k]]))
            blocks->unused[blocks->unused_count++] = stages->block[kids[k]];
    }
}

static void place_numbers(struct stages *stages, struct blocks *blocks)
{
    const struct list *list = stages->list;
    bool *wide = arena_array(blocks->arena, list->count + 1, sizeof *wide);
    bool *read = arena_array(blocks->arena, list->count + 1, sizeof *read);
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        if (stages->single[i])
            continue;
        mark_wide(node, stages->single, wide);
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0)
                read[kids[k]] = true;
    }
    for (size_t i = 0; i < list->count; i++)
        if (stages->single[i] && read[i]) {
            stages->size[i] = wide[i] ? BLOCK : VECTOR;
            stages->block[i] = block_new(blocks, stages->size[i]);
            if (list->nodes[i].op == OP_NUMBER)
                fill(stages->block[i], list->nodes[i].value, stages->size[i]);
        }
}

/* ---- making --------------------------------------------------------------------------------- */

static struct step number_step(const struct stages *stages, size_t i)
{
    const struct node *node = &stages->list->nodes[i];
    double *value = stages->value;
    return (struct step){ .op = node->op, .to = &value[i],
                          .a = node->a < 0 ? NULL : &value[node->a],
                          .b = node->b < 0 ? NULL : &value[node->b],
                          .c = node->c < 0 ? NULL : &value[node->c] };
}

static struct step block_step(const struct stages *stages, size_t i)
{
    const struct node *node = &stages->list->nodes[i];
    double *const *block = stages->block;
    return (struct step){ .op = node->op, .form = form_of(node, stages->single), .to = block[i],
                          .a = node->a < 0 ? NULL : block[node->a],
                          .b = node->b < 0 ? NULL : block[node->b],
                          .c = node->c < 0 ? NULL : block[node->c] };
}

static void make_stage(struct stages *stages, struct blocks *blocks, const int *last, int at)
{
    const struct list *list = stages->list;
    struct stage *stage = &stages->stage[at];
    stage->numbers = arena_array(blocks->arena, list->count + 1, sizeof *stage->numbers);
    stage->blocks = arena_array(blocks->arena, list->count + 1, sizeof *stage->blocks);
    stage->shown = arena_array(blocks->arena, list->count + 1, sizeof *stage->shown);
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        if (stages->axis[i] != at || node->op == OP_NUMBER)
            continue;
        if (stages->single[i]) {
            if (computed(node))
                stage->numbers[stage->number_count++] = number_step(stages, i);
            if (stages->size[i])
                stage->shown[stage->shown_count++] = (int)i;
        } else if (computed(node)) {
            stages->block[i] = blocks->unused_count ? blocks->unused[--blocks->unused_count]
                                                    : block_new(blocks, BLOCK);
            stage->blocks[stage->block_count++] = block_step(stages, i);
            give_back(blocks, stages, last, (int)i);
        }
    }
}

static void place_inputs(struct stages *stages, struct blocks *blocks)
{
    const struct list *list = stages->list;
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        if (node->op == OP_NUMBER)
            stages->value[i] = node->value;
        if (node->op != OP_INPUT)
            continue;
        stages->input[node->input] = (int)i;
        stages->value[i] = list->inputs[node->input].value;
        if (!stages->single[i])
            stages->column[stages->columns++] = stages->block[i] = block_new(blocks, BLOCK);
    }
}

static void stages_arrays(struct arena *arena, struct stages *stages)
{
    const size_t count = stages->list->count + 1, inputs = stages->list->input_count + 1;
    stages->axis = arena_array(arena, count, sizeof *stages->axis);
    stages->input = arena_array(arena, inputs, sizeof *stages->input);
    stages->column = arena_array(arena, inputs, sizeof *stages->column);
    stages->value = arena_array(arena, count, sizeof *stages->value);
    stages->block = arena_array(arena, count, sizeof *stages->block);
    stages->size = arena_array(arena, count, sizeof *stages->size);
    stages->single = arena_array(arena, count, sizeof *stages->single);
}

static int deepest(const int *at, size_t count)
{
    int axis = 0;
    for (size_t i = 0; i < count; i++)
        if (at[i] < STAGES_COLUMN && at[i] > axis)
            axis = at[i];
    return axis;
}

struct stages *stages_make(struct arena *arena, const char *set, const struct list *list,
                           const int *at)
{
    struct stages *stages = arena_alloc(arena, sizeof *stages);
    int *last = arena_array(arena, list->count + 1, sizeof *last);
    struct blocks blocks = { .arena = arena };
    blocks.unused = arena_array(arena, list->count + 1, sizeof *blocks.unused);
    *stages = (struct stages){ .list = list, .set = set_find(set) };
    assert(stages->set && (int)STAGES_POINTS == (int)BLOCK);
    stages_arrays(arena, stages);
    int *axis = stages->axis;
    for (size_t i = 0; i < list->count; i++) {
        if (list->nodes[i].op == OP_ROOT)
            return NULL;
        axis[i] = node_axis(&list->nodes[i], axis, at);
        stages->single[i] = node_single(&list->nodes[i], stages->single, at);
    }
    last_readers(stages, last);
    place_numbers(stages, &blocks);
    place_inputs(stages, &blocks);
    for (int i = 0; i <= deepest(at, list->input_count); i++)
        make_stage(stages, &blocks, last, i);
    return stages;
}

/* ---- running -------------------------------------------------------------------------------- */

void stages_number(struct stages *stages, size_t input, double value)
{
    stages->value[stages->input[input]] = value;
}

void stages_enter(struct stages *stages, int axis)
{
    const struct stage *stage = &stages->stage[axis];
    run_steps_scalar(stage->numbers, stage->number_count);
    for (size_t i = 0; i < stage->shown_count; i++) {
        int node = stage->shown[i];
        fill(stages->block[node], stages->value[node], stages->size[node]);
    }
}

void stages_column(struct stages *stages, const double *column, size_t count)
{
    assert(count <= BLOCK);
    for (size_t i = 0; i < stages->columns; i++)
        memcpy(stages->column[i], column, count * sizeof *column);
}

void stages_block(struct stages *stages, int axis)
{
    stages->set->run(stages->stage[axis].blocks, stages->stage[axis].block_count);
}

int stages_axis(const struct stages *stages, size_t output)
{
    return stages->axis[stages->list->outputs[output]];
}

struct column stages_output(const struct stages *stages, size_t output)
{
    const int node = stages->list->outputs[output];
    return stages->single[node] ? (struct column){ &stages->value[node], 0 }
                                : (struct column){ stages->block[node], 1 };
}
