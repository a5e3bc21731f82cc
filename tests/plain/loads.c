/* No index: the router asks every replica. */
#include "sim/loads.h"

void loads_open(struct loads *loads, struct arena *arena, struct replica *const *replicas, size_t count, enum router router)
{
    (void)loads, (void)arena, (void)replicas, (void)count, (void)router;
}

void loads_touch(struct loads *loads, size_t i, bool up)
{
    (void)loads, (void)i, (void)up;
}

struct replica *loads_least(struct loads *loads, double now)
{
    (void)loads, (void)now;
    return NULL;
}
