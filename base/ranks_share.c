/* Questions and items of work that all ranks have, over what ranks.c or ranks_mpi.c offers. */
#include "base/ranks.h"

#include <string.h>

bool ranks_same(const struct ranks *ranks, struct arena *arena, uint64_t question, struct error *error)
{
    if (ranks_alone(ranks))
        return true;
    const struct text *all = ranks_gather(ranks, arena, (struct text){ (const char *)&question, sizeof question });
    for (int rank = 0; rank < ranks->count; rank++)
        if (memcmp(all[rank].data, &question, sizeof question)) {
            error_set(error, "rank %d of %d was asked another question than rank %d", rank, ranks->count,
                      ranks->rank);
            return error_expected(error, "the same program, options and files for all ranks; only the first one has "
                                  "a standard input");
        }
    return true;
}

void ranks_share(const struct ranks *ranks, struct arena *arena, void *items, size_t count, size_t size)
{
    if (ranks_alone(ranks))
        return;
    struct arena scratch = arena_beside(arena);
    struct buffer mine = { .arena = &scratch };
    for (size_t i = 0; i < count; i++)
        if (ranks_mine(ranks, i))
            buffer_add(&mine, (const char *)items + i * size, size);
    struct text *all = ranks_gather(ranks, &scratch, (struct text){ mine.data, mine.size });
    for (size_t i = 0; i < count; i++) {
        struct text *from = &all[ranks_of(ranks, i)];
        memcpy((char *)items + i * size, from->data, size);
        from->data += size;
    }
    arena_free(&scratch);
}
