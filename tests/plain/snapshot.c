/* The snapshot without a tree: every load is compared. */
#include "sim/snapshot.h"

void snapshot_open(struct snapshot *snapshot, struct arena *arena, size_t count)
{
    *snapshot = (struct snapshot){ .count = count, .least = arena_array(arena, count, sizeof *snapshot->least) };
    for (size_t i = 0; i < count; i++)
        snapshot->least[i] = UINT64_MAX;
}

void snapshot_set(struct snapshot *snapshot, size_t i, uint64_t load)
{
    snapshot->least[i] = load;
}

size_t snapshot_least(const struct snapshot *snapshot)
{
    size_t chosen = snapshot->count;
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->least[i] < (chosen < snapshot->count ? snapshot->least[chosen] : UINT64_MAX))
            chosen = i;
    return chosen;
}
