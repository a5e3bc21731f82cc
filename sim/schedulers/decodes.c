#include "sim/schedulers/decodes.h"

static bool sooner(const struct decode *a, const struct decode *b)
{
    return a->turn < b->turn || (a->turn == b->turn && a->id < b->id);
}

static void sift(struct decodes *decodes, size_t at, struct decode decode)
{
    struct decode *heap = decodes->heap;
    size_t child;
    for (; at && sooner(&decode, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    for (; (child = 2 * at + 1) < decodes->count; at = child) {
        if (child + 1 < decodes->count && sooner(&heap[child + 1], &heap[child]))
            child++;
        if (!sooner(&heap[child], &decode))
            break;
        heap[at] = heap[child];
    }
    heap[at] = decode;
}

void decodes_push(struct decodes *decodes, struct decode decode)
{
    size_t at = decodes->count++;
    sift(decodes, at, decode);
}

void decodes_remove(struct decodes *decodes, size_t at)
{
    struct decode last = decodes->heap[--decodes->count];
    if (at < decodes->count)
        sift(decodes, at, last);
}

struct decode decodes_pop(struct decodes *decodes)
{
    struct decode first = decodes->heap[0];
    decodes_remove(decodes, 0);
    return first;
}

size_t decodes_find(const struct decodes *decodes, uint32_t id)
{
    size_t at = 0;
    while (decodes->heap[at].id != id)
        at++;
    return at;
}
