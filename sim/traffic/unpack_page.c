/* In a page, in the place of unpack.c: the browser has unpacked gzip before. */
#include "sim/traffic/trace_read.h"

#include <string.h>

bool trace_unpack(struct arena *arena, const char *path, struct text packed, size_t limit,
                  struct text *text, struct error *error)
{
    static const char zstd[] = "\x28\xb5\x2f\xfd";
    (void)arena, (void)limit;
    *text = packed;
    if (packed.size < 4 || memcmp(packed.data, zstd, 4))
        return true;
    error_set(error, "%.200s: packed by zstd, which a page cannot unpack", path);
    return error_expected(error, "the file unpacked, or packed by gzip");
}
