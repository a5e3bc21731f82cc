#include "sim/snapshot.h"

void snapshot_open(struct snapshot *snapshot, struct arena *arena, size_t count)
{
    *snapshot = (struct snapshot){ .count = count, .leaves = 1 };
    while (snapshot->leaves < count)
        snapshot->leaves *= 2;
    snapshot->least = arena_array(arena, 2 * snapshot->leaves, sizeof *snapshot->least);
    for (size_t at = 0; at < 2 * snapshot->leaves; at++)
        snapshot->least[at] = UINT64_MAX;
}

void snapshot_set(struct snapshot *snapshot, size_t i, uint64_t load)
{
    uint64_t *least = snapshot->least;
    for (size_t at = snapshot->leaves + i; at && least[at] != load; at /= 2) {
        least[at] = load;
        load = at > 1 && least[at ^ 1] < load ? least[at ^ 1] : load;
    }
}

size_t snapshot_least(const struct snapshot *snapshot)
{
    const uint64_t *least = snapshot->least;
    size_t at = 1;
    if (least[1] == UINT64_MAX)
        return snapshot->count;
    while (at < snapshot->leaves)
        at = 2 * at + (least[2 * at] > least[at]);
    return at - snapshot->leaves;
}
