/* The rows that the build compiled, found by instruction set and name. */
#include "rows/rows.h"

#include <string.h>

extern const struct compiled compiled_portable[];
#if defined(__x86_64__)
extern const struct compiled compiled_avx2[], compiled_avx512[];
#endif

static const struct compiled *compiled_of(const char *set)
{
#if defined(__x86_64__)
    if (!strcmp(set, "avx512"))
        return compiled_avx512;
    if (!strcmp(set, "avx2"))
        return compiled_avx2;
#endif
    return strcmp(set, "portable") ? NULL : compiled_portable;
}

const struct compiled *compiled_list(const char *set, size_t *count)
{
    const struct compiled *compiled = compiled_of(set);
    for (*count = 0; compiled && compiled[*count].name;)
        ++*count;
    return compiled;
}

const struct compiled *compiled_find(const char *set, const char *name)
{
    const struct compiled *compiled = compiled_of(set);
    while (compiled && compiled->name && strcmp(compiled->name, name))
        compiled++;
    return compiled && compiled->name ? compiled : NULL;
}
