/* The decoding requests of iteration.c as one group.
 *
 * While the group decodes, each request gets one token per step, so that counts of steps replace
 * counts per request: a request is done at the step at which it joined plus its remaining tokens,
 * which orders a heap. Blocks needed by a step depend only on how many requests have each
 * remainder modulo the block size, of which there is a histogram. The result is the same as
 * handling requests one by one. */
#include "sim/schedulers/iteration.h"

#include <math.h>
#include <string.h>

/* ---- blocks --------------------------------------------------------------------------------- */

size_t iteration_blocks_for(const struct iteration *iteration, uint64_t tokens)
{
    return (size_t)((tokens + iteration->replica.server->block - 1) / iteration->replica.server->block);
}

size_t iteration_blocks_held(const struct iteration *iteration, uint32_t id, uint64_t done)
{
    size_t prompt = iteration_blocks_for(iteration, iteration->requests->prompt[id]);
    size_t now = done ? iteration_blocks_for(iteration, done - 1) : 0;
    return now > prompt ? now : prompt;
}

size_t iteration_spare_blocks(const struct sim_server *server)
{
    return (size_t)floor(server->watermark * (double)server->blocks);
}

/* ---- lists ---------------------------------------------------------------------------------- */

void iteration_list_insert(uint32_t *list, size_t *count, uint32_t id)
{
    size_t at = (*count)++;
    for (; at && list[at - 1] > id; at--)
        list[at] = list[at - 1];
    list[at] = id;
}

void iteration_list_remove(uint32_t *list, size_t *count, uint32_t id)
{
    size_t low = 0, high = *count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&list[low], &list[low + 1], (*count - low - 1) * sizeof *list);
    (*count)--;
}

/* ---- the group ------------------------------------------------------------------------------ */

/* Of those that end together the lowest number, as where steps go through them one by one. */
static bool sooner(struct finish a, struct finish b)
{
    return a.turn < b.turn || (a.turn == b.turn && a.id < b.id);
}

static void heap_push(struct iteration *iteration, struct finish finish)
{
    size_t at = iteration->decoding++;
    while (at && sooner(finish, iteration->finishes[(at - 1) / 2])) {
        iteration->finishes[at] = iteration->finishes[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    iteration->finishes[at] = finish;
}

uint32_t iteration_heap_pop(struct iteration *iteration)
{
    struct finish *heap = iteration->finishes, last = heap[--iteration->decoding];
    uint32_t id = heap[0].id;
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= iteration->decoding)
            break;
        if (child + 1 < iteration->decoding && sooner(heap[child + 1], heap[child]))
            child++;
        if (!sooner(heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return id;
}

size_t iteration_take_class(const struct iteration *iteration, uint32_t id, uint64_t done)
{
    size_t block = iteration->replica.server->block;
    uint64_t room = (uint64_t)iteration_blocks_held(iteration, id, done) * block;
    return (size_t)((iteration->turns + room - done + 1) % block);
}

void iteration_join_decoding(struct iteration *iteration, uint32_t id, uint64_t done)
{
    struct request_progress *requests = iteration->requests;
    requests->done[id] = (int64_t)done - (int64_t)iteration->turns;
    iteration->done_sum += requests->done[id];
    iteration->takes[iteration_take_class(iteration, id, done)]++;
    heap_push(iteration, (struct finish){ iteration->turns + requests->total[id] - done, id });
}

static uint64_t done_by(const struct iteration *iteration, uint32_t id)
{
    return (uint64_t)(iteration->requests->done[id] + (int64_t)iteration->turns);
}

uint64_t iteration_cached_sum(const struct iteration *iteration)
{
    return (uint64_t)(iteration->done_sum + (int64_t)(iteration->decoding * iteration->turns));
}

/* ---- turns ---------------------------------------------------------------------------------- */

void iteration_leave(struct iteration *iteration)
{
    for (size_t i = 0; i < iteration->decoding; i++) {
        uint32_t id = iteration->finishes[i].id;
        iteration->requests->done[id] = (int64_t)done_by(iteration, id);
    }
    iteration->decoding = 0;
    iteration->done_sum = 0;
    memset(iteration->takes, 0, iteration->replica.server->block * sizeof *iteration->takes);
}

bool iteration_is_safe(const struct iteration *iteration)
{
    return !iteration->replica.simulation->options->stepping &&
           iteration->decoding <= iteration->replica.server->max_num_seqs &&
           iteration->free_blocks >
           iteration->takes[iteration->turns % iteration->replica.server->block];
}

void iteration_take_blocks(struct iteration *iteration, uint64_t turns)
{
    size_t block = iteration->replica.server->block;
    iteration->free_blocks -= iteration->decoding * (size_t)(turns / block);
    for (uint64_t i = 0; i < turns % block; i++)
        iteration->free_blocks -= iteration->takes[(iteration->turns + i) % block];
}

uint64_t iteration_with_blocks(const struct iteration *iteration)
{
    size_t block = iteration->replica.server->block;
    size_t rounds = (iteration->free_blocks - 1) / iteration->decoding;
    size_t left = iteration->free_blocks - 1 - rounds * iteration->decoding;
    uint64_t turns = (uint64_t)rounds * block;
    for (size_t i = 0; i < block; i++, turns++) {
        size_t takes = iteration->takes[(iteration->turns + i) % block];
        if (takes > left)
            break;
        left -= takes;
    }
    return turns;
}
