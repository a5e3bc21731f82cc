#include "sim/window.h"

#include <assert.h>

static void *enlist(struct window *window, void *elements, size_t size)
{
    assert(window->array_count < WINDOW_ARRAYS);
    window->arrays[window->array_count].elements = elements;
    window->arrays[window->array_count++].size = size;
    return elements;
}

void *window_array(struct window *window, struct arena *arena, size_t size)
{
    return enlist(window, arena_array(arena, window->count, size), size);
}

void window_open(struct window *window, struct arena *arena, const struct trace *trace, size_t step)
{
    *window = (struct window){ .count = trace->count, .step = step > WINDOW_STEP ? step : WINDOW_STEP };
    if (!trace->source)
        return;
    window->left = window_array(window, arena, sizeof *window->left);
    enlist(window, trace->arrival, sizeof *trace->arrival);
    enlist(window, trace->prompt, sizeof *trace->prompt);
    enlist(window, trace->output, sizeof *trace->output);
}

size_t window_draw(struct window *window, const struct trace *trace)
{
    const size_t first = window->drawn, left = window->count - first;
    const size_t end = window->drawn = first + (window->left && left > window->step ? window->step : left);
    if (trace->source)
        trace->source->draw(trace->source, trace, first, end);
    return first;
}

void window_left(struct window *window, uint32_t id)
{
    if (window->left)
        window->left[id] = true;
}

static void tell(struct window *window, const struct sim_options *options)
{
    if (options->reader.left && window->oldest > window->told)
        options->reader.left(options->reader.context, window->told, window->oldest);
    window->told = window->oldest;
}

/* A request that left may be in steps that are in flight: each of the stages has one. */
static void mark(struct window *window, const struct sim_options *options, double now)
{
    const size_t stages = options->server.stages ? options->server.stages : 1;
    window->marked = window->told;
    window->safe = now + (double)stages * (window->steps_end - now);
}

static void forget(struct window *window)
{
    for (size_t i = 0; i < window->array_count; i++)
        arena_forget(window->arrays[i].elements, window->forgotten * window->arrays[i].size,
                     window->marked * window->arrays[i].size);
    window->forgotten = window->marked;
    window->marked = 0;
}

void window_look(struct window *window)
{
    while (window->left && window->oldest < window->drawn && window->left[window->oldest])
        window->oldest++;
}

void window_move(struct window *window, const struct sim_options *options, double now)
{
    if (!window->left || window->oldest < window->told + window->step)
        return;
    tell(window, options);
    if (window->marked && now > window->safe)
        forget(window);
    if (!window->marked)
        mark(window, options, now);
}

void window_close(struct window *window, const struct sim_options *options)
{
    window->oldest = window->count;
    if (window->left)
        tell(window, options);
}
