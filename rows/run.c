/* Evaluates a graph at one point, or at many points in blocks of BLOCK values.
 *
 * For many points, each node becomes a step over a block; a block is reused when its last reader
 * has run, so that the working set stays in the first-level cache. A ROOT is a loop of a fixed
 * number of steps over its body. A program has two bodies: the whole graph, and a shorter one that
 * graph_simplify derives for the usual range of the inputs, in which terms vanish and conditions are
 * decided; a block takes the shorter one only if all of its inputs are in that range. Both give
 * the same bits, as do all instruction sets. */
#include "rows/run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct instruction_set sets[] = {
#if defined(__x86_64__)
    { "avx512", run_steps_avx512, run_inside_avx512 },
    { "avx2", run_steps_avx2, run_inside_avx2 },
#endif
    { "portable", run_steps_portable, run_inside_portable },
};

static bool set_here(const char *name)
{
#if defined(__x86_64__)
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2");
#endif
    return !strcmp(name, "portable");
}

const struct instruction_set *set_find(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (name ? !strcmp(sets[i].name, name) : set_here(sets[i].name))
            return set_here(sets[i].name) ? &sets[i] : NULL;
    return NULL;
}

const char *graph_run_set(void)
{
    return set_find(NULL)->name;
}

/* ---- one point ----------------------------------------------------------------------- */

static void link_roots(const struct graph *graph, struct run_step *steps)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].op == OP_ROOT)
            steps[graph->nodes[i].first].last = (int)i - graph->nodes[i].first;
}

static struct run_step step_at(const struct node *node, double *nodes, size_t i)
{
    return (struct run_step){ .op = node->op, .to = nodes + i,
                          .a = node->a < 0 ? NULL : nodes + node->a,
                          .b = node->b < 0 ? NULL : nodes + node->b,
                          .c = node->c < 0 ? NULL : nodes + node->c };
}

/* A ROOT with its loop, whose steps are made once for all its turns. */
static void run_loop(struct arena *arena, const struct graph *graph, size_t root, double *nodes)
{
    const size_t first = (size_t)graph->nodes[root].first, count = root - first + 1;
    struct run_step *steps = arena_array(arena, count, sizeof *steps);
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &graph->nodes[first + i];
        steps[i] = step_at(node, nodes, first + i);
        if (node->op == OP_ROOT) {
            const size_t var = (size_t)node->first - first;
            steps[var].last = (int)(i - var);
        }
        if (node->op == OP_POW && (size_t)node->a < first) {    /* of a number, in every turn */
            double *log = arena_align(arena, 2 * sizeof *log, 2 * sizeof *log);
            run_log(nodes[node->a], log);
            steps[i].form = FORM_NUMBER_A;
            steps[i].c = log;
        }
    }
    run_steps_scalar(steps, count, 1);
}

/* Inside a loop there is nothing to do: its ROOT comes later and runs it. */
void graph_value_of(struct arena *arena, const struct graph *graph, const double *inputs,
                    const uint64_t *skip, double *nodes)
{
    struct arena scratch = arena_beside(arena);
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const struct run_step step = step_at(node, nodes, i);
        if (node->op == OP_NUMBER)
            nodes[i] = node->value;
        else if (node->op == OP_INPUT)
            nodes[i] = inputs[node->input];
        else if (node->op == OP_ROOT && !skip[i])
            run_loop(&scratch, graph, i, nodes);
        else if (!skip[i])
            run_steps_scalar(&step, 1, 1);
    }
    arena_free(&scratch);
}

void graph_value(struct arena *arena, const struct graph *graph, const double *inputs,
                 double *nodes, double *outputs)
{
    struct arena scratch = arena_beside(arena);
    uint64_t *inside = arena_array(&scratch, graph->count + 1, sizeof *inside);
    if (!nodes)
        nodes = arena_array(&scratch, graph->count + 1, sizeof *nodes);
    for (size_t i = graph->count; i-- > 0;)
        if (graph->nodes[i].op == OP_ROOT && !inside[i])
            memset(inside + graph->nodes[i].first, -1,
                   (i - (size_t)graph->nodes[i].first) * sizeof *inside);
    graph_value_of(&scratch, graph, inputs, inside, nodes);
    for (size_t i = 0; outputs && i < graph->output_count; i++)
        outputs[i] = nodes[graph->outputs[i]];
    arena_free(&scratch);
}

/* ---- many points ------------------------------------------------------------------------ */

struct body {
    struct run_step *steps;
    size_t count;
    size_t input_count, output_count;
    double **inputs;                /* [input_count] blocks to fill */
    size_t *columns;                /* [input_count] which column fills them */
    const double **outputs;         /* [output_count] blocks to read */
};

/* Two bodies: one for anything, and a shorter one for blocks whose inputs lie in a range
 * in which terms vanish, conditions are decided and products with 0 are 0. */
struct graph_program {
    const struct instruction_set *set;
    struct body whole, within;
    struct interval *range;         /* [whole.input_count] of `within` */
    bool shorter;                   /* is it? */
};

void fill(double *block, double value, size_t size)
{
    for (size_t i = 0; i < size; i += VECTOR)
        for (size_t k = 0; k < VECTOR; k++)
            block[i + k] = value;
}

static void last_uses(const struct graph *graph, size_t *last)
{
    for (size_t i = 0; i < graph->count; i++) {
        const int kids[] = { graph->nodes[i].a, graph->nodes[i].b, graph->nodes[i].c };
        last[i] = i;
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0)
                last[kids[k]] = i;
    }
    for (size_t i = 0; i < graph->output_count; i++)
        last[graph->outputs[i]] = graph->count;
}

enum form form_of(const struct node *node, const bool *single)
{
    switch (node->op) {
    case OP_POW:
        return single[node->a] ? FORM_NUMBER_A : FORM_BLOCKS;
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_MAX: case OP_MIN:
        return single[node->b] ? FORM_NUMBER_B : single[node->a] ? FORM_NUMBER_A : FORM_BLOCKS;
    default: return FORM_BLOCKS;
    }
}

void mark_wide(const struct node *node, const bool *single, bool *wide)
{
    enum form form = form_of(node, single);
    if (node->a >= 0 && form != FORM_NUMBER_A)
        wide[node->a] = true;
    if (node->b >= 0 && form != FORM_NUMBER_B)
        wide[node->b] = true;
    if (node->c >= 0)
        wide[node->c] = true;
}

/* A block per node; those read no more are given to later nodes. Numbers, inputs and
 * whatever a ROOT's loop could touch keep theirs. */
static void body_make(struct arena *arena, const struct graph *graph, struct body *body)
{
    size_t *last = arena_array(arena, graph->count + 1, sizeof *last);
    double **blocks = arena_array(arena, graph->count + 1, sizeof *blocks);
    double **unused = arena_array(arena, graph->count + 1, sizeof *unused);
    bool *wide = arena_array(arena, graph->count + 1, sizeof *wide);
    bool *single = arena_array(arena, graph->count + 1, sizeof *single);
    size_t unused_count = 0;
    bool loops = false;
    last_uses(graph, last);
    for (size_t i = 0; i < graph->count; i++) {
        single[i] = graph->nodes[i].op == OP_NUMBER;
        mark_wide(&graph->nodes[i], single, wide);
    }
    for (size_t i = 0; i < graph->output_count; i++)
        wide[graph->outputs[i]] = true;
    *body = (struct body){ .input_count = graph->input_count,
                           .output_count = graph->output_count };
    body->steps = arena_array(arena, graph->count + 1, sizeof(struct run_step));
    body->inputs = arena_array(arena, graph->input_count + 1, sizeof(double *));
    body->outputs = arena_array(arena, graph->output_count + 1, sizeof(double *));
    for (size_t i = 0; i < graph->count; i++)
        loops |= graph->nodes[i].op == OP_ROOT;
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        bool still = node->op == OP_NUMBER || node->op == OP_INPUT;
        size_t size = node->op == OP_NUMBER && !wide[i] ? VECTOR : BLOCK;
        blocks[i] = still || !unused_count
                    ? arena_align(arena, size * sizeof(double), VECTOR * sizeof(double))
                    : unused[--unused_count];
        if (node->op == OP_NUMBER)
            fill(blocks[i], node->value, size);
        if (node->op == OP_INPUT)
            body->inputs[node->input] = blocks[i];
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3 && !loops; k++) {
            bool again = k && kids[k] >= 0 && (kids[k] == kids[0] || (k == 2 && kids[2] == kids[1]));
            if (kids[k] >= 0 && !again && last[kids[k]] == i &&
                graph->nodes[kids[k]].op != OP_NUMBER && graph->nodes[kids[k]].op != OP_INPUT)
                unused[unused_count++] = blocks[kids[k]];
        }
        if (still && !loops)
            continue;
        body->steps[body->count++] = (struct run_step){
            .op = node->op, .form = form_of(node, single), .to = blocks[i],
            .a = node->a < 0 ? NULL : blocks[node->a], .b = node->b < 0 ? NULL : blocks[node->b],
            .c = node->c < 0 ? NULL : blocks[node->c] };
    }
    if (loops)
        link_roots(graph, body->steps);
    for (size_t i = 0; i < graph->output_count; i++)
        body->outputs[i] = blocks[graph->outputs[i]];
}

/* Which columns of the whole list's inputs fill those of a part of it. */
static void body_columns(struct arena *arena, const struct graph *graph, const struct graph *left,
                         struct body *body)
{
    body->columns = arena_array(arena, left->input_count + 1, sizeof *body->columns);
    for (size_t i = 0, j = 0; i < left->input_count; i++) {
        while (graph->inputs[j].row != left->inputs[i].row ||
               graph->inputs[j].entry != left->inputs[i].entry)
            j = (j + 1) % graph->input_count;
        body->columns[i] = j;
    }
}

/* Where the first value of a column is a usual one, the others are expected to be. */
static struct interval usual(const struct column *column)
{
    static const struct interval range = { 1e-11, 1e11 };
    bool in = column->data[0] >= range.low && column->data[0] <= range.high;
    return in ? range : (struct interval){ -INFINITY, INFINITY };
}

struct graph_program *graph_program_make(struct arena *arena, const char *set_name,
                                         const struct graph *graph, const struct column *inputs)
{
    double *values = arena_array(arena, graph->input_count + 1, sizeof *values);
    bool *vary = arena_array(arena, graph->input_count + 1, sizeof *vary);
    struct graph_program *program = arena_alloc(arena, sizeof *program);
    const struct instruction_set *set = set_find(set_name);
    struct graph left = *graph, within;
    bool fixed = false;
    assert(set);
    for (size_t i = 0; i < graph->input_count; i++) {
        values[i] = inputs[i].data[0];
        vary[i] = inputs[i].stride != 0;
        fixed |= !vary[i];
    }
    if (fixed)
        graph_specialize(arena, graph, values, vary, &left);
    body_make(arena, &left, &program->whole);
    body_columns(arena, graph, &left, &program->whole);
    program->range = arena_array(arena, left.input_count + 1, sizeof *program->range);
    for (size_t i = 0; i < left.input_count; i++)
        program->range[i] = usual(&inputs[program->whole.columns[i]]);
    graph_simplify(arena, &left, program->range, &within);
    body_make(arena, &within, &program->within);
    body_columns(arena, graph, &within, &program->within);
    program->shorter = program->within.count < program->whole.count;
    program->set = set;
    return program;
}

static bool in_range(const struct graph_program *program, const struct column *inputs,
                     size_t start, size_t count)
{
    for (size_t j = 0; j < program->whole.input_count; j++) {
        const double *x = inputs[program->whole.columns[j]].data + start;
        if (program->range[j].low > -INFINITY && !program->set->inside(x, count, program->range[j]))
            return false;
    }
    return true;
}

void graph_program_run(const struct graph_program *program, const struct column *inputs,
                       double *const *outputs, size_t points)
{
    for (size_t start = 0; start < points; start += BLOCK) {
        size_t count = points - start < BLOCK ? points - start : BLOCK;
        bool within = program->shorter && in_range(program, inputs, start, count);
        const struct body *body = within ? &program->within : &program->whole;
        for (size_t j = 0; j < body->input_count; j++)
            memcpy(body->inputs[j], inputs[body->columns[j]].data + start, count * sizeof(double));
        program->set->run(body->steps, body->count, count);
        for (size_t j = 0; j < body->output_count; j++)
            memcpy(outputs[j] + start, body->outputs[j], count * sizeof(double));
    }
}

/* For few points a program costs more than it saves. */
static void run_few(struct arena *arena, const struct graph *graph, const struct column *inputs, double *const *outputs,
                    size_t points)
{
    double *at = arena_array(arena, graph->input_count + 1, sizeof *at);
    double *values = arena_array(arena, graph->output_count + 1, sizeof *values);
    for (size_t k = 0; k < points; k++) {
        for (size_t j = 0; j < graph->input_count; j++)
            at[j] = inputs[j].data[k * inputs[j].stride];
        graph_value(arena, graph, at, NULL, values);
        for (size_t j = 0; j < graph->output_count; j++)
            outputs[j][k] = values[j];
    }
}

void graph_run_with(const char *set, const struct graph *graph, const struct column *inputs,
                    double *const *outputs, size_t points)
{
    enum { FEW = 8 };
    struct arena arena = { 0 };
    if (!set && points <= FEW)
        run_few(&arena, graph, inputs, outputs, points);
    else if (points)
        graph_program_run(graph_program_make(&arena, set, graph, inputs), inputs, outputs, points);
    arena_free(&arena);
}

void graph_run(const struct graph *graph, const struct column *inputs, double *const *outputs,
               size_t points)
{
    graph_run_with(NULL, graph, inputs, outputs, points);
}

bool column_within(const double *x, size_t count, double low, double high)
{
    return set_find(NULL)->inside(x, count, (struct interval){ low, high });
}

bool graph_run_has(const char *set)
{
    return set_here(set);
}
