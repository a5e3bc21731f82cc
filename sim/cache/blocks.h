/* blocks -- a cache of numbered blocks that remember what they hold until they are taken.
 *
 * As vLLM v1 keeps them: a block in use has a reference count; a free block waits in a queue and
 * keeps its name (the hash of its tokens), so that a prefix can find it again. Blocks are taken from the
 * front of the queue, and only then lose their names. One block is never given out. */
#ifndef SIM_CACHE_BLOCKS_H
#define SIM_CACHE_BLOCKS_H

#include "base/base.h"

struct blocks;

struct blocks *blocks_open(struct arena *arena, size_t count);
size_t blocks_free(const struct blocks *blocks);
/* Blocks are alike as long as none has a number: take or release `count` of them. False: they have numbers. */
bool blocks_take_alike(struct blocks *blocks, size_t count);
bool blocks_release_alike(struct blocks *blocks, size_t count);
/* Give the blocks in use the numbers 1, 2, ..., as the first blocks_take does: how many there are, or 0 if they had numbers. */
size_t blocks_number(struct blocks *blocks);
/* Take the block at the front of the free queue; it loses its name. There must be a free block. */
uint32_t blocks_take(struct blocks *blocks);
/* The name that would be lost if a block were taken now; false: the next block has none. */
bool blocks_next_name(const struct blocks *blocks, uint64_t *name);
/* Lower limit of the blocks that can be taken before a name is lost. */
size_t blocks_nameless(const struct blocks *blocks);
/* Name a block. Of several blocks with the same name, the one named last is found. */
void blocks_name(struct blocks *blocks, uint32_t block, uint64_t name);
/* The block of a name, or BLOCKS_NONE; below, whether a block is free. */
enum { BLOCKS_NONE = UINT32_MAX };
uint32_t blocks_find(const struct blocks *blocks, uint64_t name);
bool blocks_idle(const struct blocks *blocks, uint32_t block);
/* Add a reference; remove one: a block without references goes to the end of the queue. */
void blocks_share(struct blocks *blocks, uint32_t block);
void blocks_release(struct blocks *blocks, uint32_t block);
/* Forget all names. No block may be in use. */
void blocks_forget(struct blocks *blocks);

#endif
