/* literal -- text as string literals of C: one, or a pool of many. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void write_string(struct buffer *out, struct text text)
{
    buffer_print(out, "\"");
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            buffer_print(out, "\\%03o", c);
        else
            buffer_add(out, text.data + i, 1);
    }
    buffer_print(out, "\"");
}

/* One array of C with each text once, ended by a 0; `out` has its literals. */
struct text_pool {
    struct buffer out;
    const char **texts;             /* open hash */
    uint32_t *starts;               /* where each begins */
    size_t count, room, size;
};

static inline struct text_pool pool_new(struct arena *arena)
{
    struct text_pool pool = { .out.arena = arena, .room = 1 << 16 };
    pool.texts = arena_array(arena, pool.room, sizeof *pool.texts);
    pool.starts = arena_array(arena, pool.room, sizeof *pool.starts);
    return pool;
}

/* Where the text begins, `from` or later; it must live as long as the pool. */
static inline uint32_t pool_add_from(struct text_pool *pool, const char *text, uint32_t from)
{
    size_t i = hash_text(HASH_START, text) & (pool->room - 1);
    while (pool->texts[i] && strcmp(pool->texts[i], text))
        i = (i + 1) & (pool->room - 1);
    if (!pool->texts[i] && 2 * ++pool->count > pool->room) {
        fprintf(stderr, "more than %zu different texts\n", pool->room / 2);
        exit(1);
    }
    if (!pool->texts[i] || pool->starts[i] < from) {
        pool->texts[i] = text;
        pool->starts[i] = (uint32_t)pool->size;
        pool->size += strlen(text) + 1;
        buffer_print(&pool->out, "    ");
        write_string(&pool->out, text_of(text));
        buffer_print(&pool->out, " \"\\0\"\n");
    }
    return pool->starts[i];
}

static inline uint32_t pool_add(struct text_pool *pool, const char *text)
{
    return pool_add_from(pool, text, 0);
}
