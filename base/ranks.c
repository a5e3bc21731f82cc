/* Alone: the program that is built without MPI. */
#include "base/ranks.h"

void ranks_open(struct ranks *ranks)
{
    *ranks = (struct ranks){ 0, 1 };
}

void ranks_close(const struct ranks *ranks)
{
    (void)ranks;
}

void ranks_abort(const struct ranks *ranks, int status)
{
    (void)ranks, (void)status;
}

bool ranks_agree(const struct ranks *ranks, bool good, struct error *error)
{
    (void)ranks, (void)error;
    return good;
}

struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine)
{
    struct text *all = arena_alloc(arena, sizeof *all);
    (void)ranks;
    *all = mine;
    return all;
}
