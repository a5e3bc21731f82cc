/* Any bytes as a scrape of /metrics: a load or an error, never a crash, a leak or a wait. What is read is
 * finite or has a reason. */
#include "meter/watch/load.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct exposition now, since;
    struct load load;
    struct error error;
    size_t bad;
    const size_t half = size / 2;
    if (exposition_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &now, &bad, &error) &&
        load_read(&arena, "fuzz", &now, NULL, NAN, &load, &error))
        for (int i = 0; i < LOAD_COUNT; i++)
            assert(load.seen[i].source && (isfinite(load.seen[i].value) || *load.seen[i].source));
    if (exposition_read(&arena, "fuzz", (struct text){ (const char *)data, half }, &since, &bad, &error) &&
        exposition_read(&arena, "fuzz", (struct text){ (const char *)data + half, size - half }, &now, &bad, &error))
        load_read(&arena, "fuzz", &now, &since, 10, &load, &error);
    arena_free(&arena);
    return 0;
}
