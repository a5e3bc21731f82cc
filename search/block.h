/* block -- a block of a search as bytes, for a file or another process.
 *
 * The bytes are the same on every machine: integers and IEEE 754 doubles, lowest byte first, without
 * padding. A point is setting u32, load u32, speed f64, throughput f64.
 *
 *     search u32 | number u32 | space u32 | first setting u64
 *     points, seen, met, no_fit, no_room, broken[8]      u64 each
 *     points of the front u32 | nearest miss by f64, 0: none
 *     best point, where met > 0 | nearest miss, where there is one | points of the front
 *     check sum u64, of all before it, begun from the digest of the question
 *
 * `search` distinguishes the searches of one question. A block that is read is checked against its
 * space, so that a damaged file never becomes an answer. */
#ifndef SEARCH_BLOCK_H
#define SEARCH_BLOCK_H

#include "search/search.h"

/* FNV-1a, 64 bits, continued from a digest; start with DIGEST_BEGIN. */
#define DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t size);
/* Digest of everything that the search of some spaces reads: graphs, settings, loads and limits. */
uint64_t digest_spaces(uint64_t digest, const struct search_space *spaces, size_t count);
/* Digest of the limits alone. */
uint64_t digest_limits(uint64_t digest, const struct search_space *space);

void block_write(struct buffer *out, uint64_t question, uint32_t search,
                 const struct search_block *block);
/* Read a block into `block`, which search_blocks made for that number. Fails with an error that says
 * what is wrong if the bytes are not exactly such a block. */
bool block_read(struct arena *arena, struct text bytes, uint64_t question, uint32_t search,
                const struct search_space *spaces, struct search_block *block,
                struct error *error);

#endif
