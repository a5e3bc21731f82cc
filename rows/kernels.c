/* The kernels the build compiled, found by instruction set and name. */
#include "rows/rows.h"

#include <string.h>

extern const struct kernel kernels_portable[];
#if defined(__x86_64__)
extern const struct kernel kernels_avx2[], kernels_avx512[];
#endif

static const struct kernel *kernels_of(const char *set)
{
#if defined(__x86_64__)
    if (!strcmp(set, "avx512"))
        return kernels_avx512;
    if (!strcmp(set, "avx2"))
        return kernels_avx2;
#endif
    return strcmp(set, "portable") ? NULL : kernels_portable;
}

const struct kernel *kernel_list(const char *set, size_t *count)
{
    const struct kernel *kernels = kernels_of(set);
    for (*count = 0; kernels && kernels[*count].name;)
        ++*count;
    return kernels;
}

const struct kernel *kernel_find(const char *set, const char *name)
{
    const struct kernel *kernel = kernels_of(set);
    while (kernel && kernel->name && strcmp(kernel->name, name))
        kernel++;
    return kernel && kernel->name ? kernel : NULL;
}
