/* Any bytes as a block of a store, with a check sum that is right: refused, or a block that is
 * possible, which is written again as the same bytes. Then as what a store says was asked. */
#include "ask/shards/shards.h"
#include "search/block.h"

#include <assert.h>
#include <string.h>

enum { SETTINGS = 3, LOADS = 5, QUESTION = 7, SEARCH = 1 };

static void check(const struct search_block *block)
{
    const struct search_front *front = &block->front;
    assert(block->count.points == SETTINGS * LOADS && block->count.met <= block->count.seen);
    assert(block->found == (block->count.met > 0) && block->found == (front->count > 0));
    for (size_t i = 0; i < front->count; i++)
        assert(front->points[i].setting < SETTINGS && front->points[i].load < LOADS &&
               (!i || front->points[i].speed > front->points[i - 1].speed));
}

static void read_block(struct arena *arena, const uint8_t *data, size_t size)
{
    const struct search_space space = { .setting_count = SETTINGS, .load_count = LOADS };
    struct search_block block = { .end = SETTINGS };
    struct buffer bytes = { .arena = arena }, again = { .arena = arena };
    struct error error;
    uint64_t sum = digest_bytes(QUESTION, data, size);
    buffer_add(&bytes, (const char *)data, size);
    for (int i = 0; i < 8; i++, sum >>= 8)
        buffer_add(&bytes, &(char){ (char)(sum & 0xff) }, 1);
    const struct text text = { bytes.data, bytes.size };
    if (!block_read(arena, text, QUESTION, SEARCH, &space, &block, &error))
        return;
    check(&block);
    block_write(&again, QUESTION, SEARCH, &block);
    assert(again.size == bytes.size && !memcmp(again.data, bytes.data, bytes.size));
}

static void read_words(struct arena *arena, const uint8_t *data, size_t size)
{
    struct command command = { .verbs = verbs };
    struct error error;
    if (!shard_words_read(arena, "fuzz", arena_copy(arena, (const char *)data, size), &command,
                               &error))
        return;
    const char *words = shard_words_write(arena, &command);
    struct command second = { .verbs = verbs };
    assert(shard_words_read(arena, "again", words, &second, &error));
    assert(!strcmp(words, shard_words_write(arena, &second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    read_block(&arena, data, size);
    read_words(&arena, data, size);
    arena_free(&arena);
    return 0;
}
