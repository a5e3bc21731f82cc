/* The decoding requests of turns.c as one group.
 *
 * While the group decodes, each request gets one token per step, so that counts of steps replace
 * counts per request: a request is done at the step at which it joined plus its remaining tokens,
 * which orders a heap. Blocks needed by a step depend only on how many requests have each
 * remainder modulo the block size, of which there is a histogram. The result is the same as
 * handling requests one by one. */
#include "sim/schedulers/turns.h"

#include <math.h>
#include <string.h>

/* ---- blocks --------------------------------------------------------------------------------- */

size_t turns_blocks_for(const struct replica *replica, uint64_t tokens)
{
    return (size_t)((tokens + replica->engine.server->block - 1) / replica->engine.server->block);
}

size_t turns_blocks_held(const struct replica *replica, uint32_t id, uint64_t done)
{
    size_t prompt = turns_blocks_for(replica, replica->requests->prompt[id]);
    size_t now = done ? turns_blocks_for(replica, done - 1) : 0;
    return now > prompt ? now : prompt;
}

size_t turns_spare_blocks(const struct sim_server *server)
{
    return (size_t)floor(server->watermark * (double)server->blocks);
}

/* ---- lists ---------------------------------------------------------------------------------- */

void turns_list_insert(uint32_t *list, size_t *count, uint32_t id)
{
    size_t at = (*count)++;
    for (; at && list[at - 1] > id; at--)
        list[at] = list[at - 1];
    list[at] = id;
}

void turns_list_remove(uint32_t *list, size_t *count, uint32_t id)
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

static void heap_push(struct replica *replica, struct finish finish)
{
    size_t at = replica->decoding++;
    while (at && sooner(finish, replica->finishes[(at - 1) / 2])) {
        replica->finishes[at] = replica->finishes[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    replica->finishes[at] = finish;
}

uint32_t turns_heap_pop(struct replica *replica)
{
    struct finish *heap = replica->finishes, last = heap[--replica->decoding];
    uint32_t id = heap[0].id;
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= replica->decoding)
            break;
        if (child + 1 < replica->decoding && sooner(heap[child + 1], heap[child]))
            child++;
        if (!sooner(heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return id;
}

size_t turns_take_class(const struct replica *replica, uint32_t id, uint64_t done)
{
    size_t block = replica->engine.server->block;
    uint64_t room = (uint64_t)turns_blocks_held(replica, id, done) * block;
    return (size_t)((replica->turns + room - done + 1) % block);
}

void turns_join_decoding(struct replica *replica, uint32_t id, uint64_t done)
{
    struct requests *requests = replica->requests;
    requests->done[id] = (int64_t)done - (int64_t)replica->turns;
    replica->done_sum += requests->done[id];
    replica->takes[turns_take_class(replica, id, done)]++;
    heap_push(replica, (struct finish){ replica->turns + requests->total[id] - done, id });
}

static uint64_t done_by(const struct replica *replica, uint32_t id)
{
    return (uint64_t)(replica->requests->done[id] + (int64_t)replica->turns);
}

uint64_t turns_cached_sum(const struct replica *replica)
{
    return (uint64_t)(replica->done_sum + (int64_t)(replica->decoding * replica->turns));
}

/* ---- turns ---------------------------------------------------------------------------------- */

void turns_leave(struct replica *replica)
{
    for (size_t i = 0; i < replica->decoding; i++) {
        uint32_t id = replica->finishes[i].id;
        replica->requests->done[id] = (int64_t)done_by(replica, id);
    }
    replica->decoding = 0;
    replica->done_sum = 0;
    memset(replica->takes, 0, replica->engine.server->block * sizeof *replica->takes);
}

bool turns_are_safe(const struct replica *replica)
{
    return !replica->engine.world->options->stepping &&
           replica->decoding <= replica->engine.server->max_num_seqs &&
           replica->free_blocks > replica->takes[replica->turns % replica->engine.server->block];
}

void turns_take_blocks(struct replica *replica, uint64_t turns)
{
    size_t block = replica->engine.server->block;
    replica->free_blocks -= replica->decoding * (size_t)(turns / block);
    for (uint64_t i = 0; i < turns % block; i++)
        replica->free_blocks -= replica->takes[(replica->turns + i) % block];
}

uint64_t turns_with_blocks(const struct replica *replica)
{
    size_t block = replica->engine.server->block;
    size_t rounds = (replica->free_blocks - 1) / replica->decoding;
    size_t left = replica->free_blocks - 1 - rounds * replica->decoding;
    uint64_t turns = (uint64_t)rounds * block;
    for (size_t i = 0; i < block; i++, turns++) {
        size_t takes = replica->takes[(replica->turns + i) % block];
        if (takes > left)
            break;
        left -= takes;
    }
    return turns;
}
