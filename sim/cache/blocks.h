/* blocks -- a cache of numbered blocks that remember what they hold until they are taken.
 *
 * As vLLM v1 keeps them: a block in use is counted; one that nobody uses waits in a queue and
 * keeps its name, so that a prefix can find it again; it is taken from the front of the queue,
 * and only then forgets. One block is never given out. */
#ifndef SIM_CACHE_BLOCKS_H
#define SIM_CACHE_BLOCKS_H

#include "base/base.h"

struct blocks;

struct blocks *blocks_open(struct arena *arena, size_t count);
size_t blocks_free(const struct blocks *blocks);
/* Take the block at the front of the free queue; it loses its name. There must be a free block. */
uint32_t blocks_take(struct blocks *blocks);
/* The name that taking one now would forget; false: it has none. */
bool blocks_next_name(const struct blocks *blocks, uint64_t *name);
/* Blocks that can be taken before a name is forgotten, at least. */
size_t blocks_nameless(const struct blocks *blocks);
/* Name a block. Of blocks with the same name the last one named is found. */
void blocks_name(struct blocks *blocks, uint32_t block, uint64_t name);
/* The block of a name, or BLOCKS_NONE; whether nobody uses it. */
enum { BLOCKS_NONE = UINT32_MAX };
uint32_t blocks_find(const struct blocks *blocks, uint64_t name);
bool blocks_idle(const struct blocks *blocks, uint32_t block);
/* One more uses it; one fewer: the last one puts it at the end of the queue. */
void blocks_share(struct blocks *blocks, uint32_t block);
void blocks_release(struct blocks *blocks, uint32_t block);
/* Forget all names. No block may be in use. */
void blocks_forget(struct blocks *blocks);

#endif
