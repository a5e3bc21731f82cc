/* Values: of one point, and of many in blocks. */
#include "engine/run.h"

#include <assert.h>
#include <string.h>

struct set {
    const char *name;
    run_steps *run;
};

static const struct set sets[] = {
#if defined(__x86_64__)
    { "avx512", run_steps_avx512 },
    { "avx2", run_steps_avx2 },
#endif
    { "portable", run_steps_portable },
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

static const struct set *set_find(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (name ? !strcmp(sets[i].name, name) : set_here(sets[i].name))
            return set_here(sets[i].name) ? &sets[i] : NULL;
    return NULL;
}

const char *list_run_set(void)
{
    return set_find(NULL)->name;
}

/* ---- one point ----------------------------------------------------------------------- */

static void step_of(const struct list *list, size_t i, double *blocks, size_t stride,
                    struct step *step)
{
    const struct node *node = &list->nodes[i];
    *step = (struct step){ .op = node->op, .to = blocks + i * stride };
    step->a = node->a < 0 ? NULL : blocks + (size_t)node->a * stride;
    step->b = node->b < 0 ? NULL : blocks + (size_t)node->b * stride;
    step->c = node->c < 0 ? NULL : blocks + (size_t)node->c * stride;
}

static void link_roots(const struct list *list, struct step *steps)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i].op == OP_ROOT)
            steps[list->nodes[i].first].last = (int)i - list->nodes[i].first;
}

void list_value(struct arena *arena, const struct list *list, const double *inputs,
                double *nodes, double *outputs)
{
    struct arena scratch = { .exhausted = arena->exhausted, .context = arena->context };
    struct step *steps = arena_array(&scratch, list->count + 1, sizeof *steps);
    if (!nodes)
        nodes = arena_array(&scratch, list->count + 1, sizeof *nodes);
    for (size_t i = 0; i < list->count; i++) {
        step_of(list, i, nodes, 1, &steps[i]);
        if (list->nodes[i].op == OP_NUMBER)
            nodes[i] = list->nodes[i].value;
        if (list->nodes[i].op == OP_INPUT)
            nodes[i] = inputs[list->nodes[i].input];
    }
    link_roots(list, steps);
    run_steps_scalar(steps, list->count);
    for (size_t i = 0; outputs && i < list->output_count; i++)
        outputs[i] = nodes[list->outputs[i]];
    arena_free(&scratch);
}

/* ---- many points ------------------------------------------------------------------------ */

struct list_program {
    run_steps *run;
    struct step *steps;
    size_t count;
    size_t input_count, output_count;
    double **inputs;                /* [input_count] blocks to fill */
    size_t *columns;                /* [input_count] which column fills them */
    const double **outputs;         /* [output_count] blocks to read */
};

static void fill(double *block, double value)
{
    for (int i = 0; i < BLOCK; i++)
        block[i] = value;
}

static void last_uses(const struct list *list, size_t *last)
{
    for (size_t i = 0; i < list->count; i++) {
        const int kids[] = { list->nodes[i].a, list->nodes[i].b, list->nodes[i].c };
        last[i] = i;
        for (int k = 0; k < 3; k++)
            if (kids[k] >= 0)
                last[kids[k]] = i;
    }
    for (size_t i = 0; i < list->output_count; i++)
        last[list->outputs[i]] = list->count;
}

/* A block per node; those read no more are given to later nodes. Numbers, inputs and
 * whatever a ROOT's loop could touch keep theirs. */
static void program_make(struct arena *arena, const struct list *list, struct list_program *program)
{
    size_t *last = arena_array(arena, list->count + 1, sizeof *last);
    double **blocks = arena_array(arena, list->count + 1, sizeof *blocks);
    double **unused = arena_array(arena, list->count + 1, sizeof *unused);
    size_t unused_count = 0;
    bool loops = false;
    last_uses(list, last);
    *program = (struct list_program){ .input_count = list->input_count,
                                      .output_count = list->output_count };
    program->steps = arena_array(arena, list->count + 1, sizeof(struct step));
    program->inputs = arena_array(arena, list->input_count + 1, sizeof(double *));
    program->outputs = arena_array(arena, list->output_count + 1, sizeof(double *));
    for (size_t i = 0; i < list->count; i++)
        loops |= list->nodes[i].op == OP_ROOT;
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        bool still = node->op == OP_NUMBER || node->op == OP_INPUT;
        blocks[i] = still || !unused_count
                    ? arena_align(arena, BLOCK * sizeof(double), 64)
                    : unused[--unused_count];
        if (node->op == OP_NUMBER)
            fill(blocks[i], node->value);
        if (node->op == OP_INPUT)
            program->inputs[node->input] = blocks[i];
        const int kids[] = { node->a, node->b, node->c };
        for (int k = 0; k < 3 && !loops; k++) {
            bool again = k && kids[k] >= 0 && (kids[k] == kids[0] || (k == 2 && kids[2] == kids[1]));
            if (kids[k] >= 0 && !again && last[kids[k]] == i &&
                list->nodes[kids[k]].op != OP_NUMBER && list->nodes[kids[k]].op != OP_INPUT)
                unused[unused_count++] = blocks[kids[k]];
        }
        if (still && !loops)
            continue;
        program->steps[program->count++] = (struct step){
            .op = node->op, .to = blocks[i], .a = node->a < 0 ? NULL : blocks[node->a],
            .b = node->b < 0 ? NULL : blocks[node->b],
            .c = node->c < 0 ? NULL : blocks[node->c] };
    }
    if (loops)
        link_roots(list, program->steps);
    for (size_t i = 0; i < list->output_count; i++)
        program->outputs[i] = blocks[list->outputs[i]];
}

struct list_program *list_program_make(struct arena *arena, const char *set_name,
                                       const struct list *list, const struct column *inputs)
{
    double *values = arena_array(arena, list->input_count + 1, sizeof *values);
    bool *vary = arena_array(arena, list->input_count + 1, sizeof *vary);
    struct list_program *program = arena_alloc(arena, sizeof *program);
    const struct set *set = set_find(set_name);
    struct list left;
    assert(set);
    for (size_t i = 0; i < list->input_count; i++) {
        values[i] = inputs[i].data[0];
        vary[i] = inputs[i].stride != 0;
    }
    list_fix(arena, list, values, vary, &left);
    program_make(arena, &left, program);
    program->run = set->run;
    program->columns = arena_array(arena, left.input_count + 1, sizeof *program->columns);
    for (size_t i = 0, j = 0; i < left.input_count; i++) {
        while (list->inputs[j].row != left.inputs[i].row ||
               list->inputs[j].entry != left.inputs[i].entry)
            j = (j + 1) % list->input_count;
        program->columns[i] = j;
    }
    return program;
}

void list_program_run(const struct list_program *program, const struct column *inputs,
                      double *const *outputs, size_t points)
{
    for (size_t start = 0; start < points; start += BLOCK) {
        size_t count = points - start < BLOCK ? points - start : BLOCK;
        for (size_t j = 0; j < program->input_count; j++)
            memcpy(program->inputs[j], inputs[program->columns[j]].data + start,
                   count * sizeof(double));
        program->run(program->steps, program->count);
        for (size_t j = 0; j < program->output_count; j++)
            memcpy(outputs[j] + start, program->outputs[j], count * sizeof(double));
    }
}

void list_run_with(const char *set, const struct list *list, const struct column *inputs,
                   double *const *outputs, size_t points)
{
    struct arena arena = { 0 };
    if (points)
        list_program_run(list_program_make(&arena, set, list, inputs), inputs, outputs, points);
    arena_free(&arena);
}

void list_run(const struct list *list, const struct column *inputs, double *const *outputs,
              size_t points)
{
    list_run_with(NULL, list, inputs, outputs, points);
}

bool list_run_has(const char *set)
{
    return set_here(set);
}
