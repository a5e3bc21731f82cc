/* Which quantity is which colour: by the words in its name, for rows ("bound_kv", "gap_communication") and
 * for the parts of a time ("attention over the KV cache", "launch overhead"). The first line that matches
 * holds. */
#include "report/picture.h"

static const struct { const char *word; enum picture_kind kind; } words[] = {
    { "all-to-all", PICTURE_NETWORK }, { "all_to_all", PICTURE_NETWORK }, { "all-reduce", PICTURE_NETWORK },
    { "all_reduce", PICTURE_NETWORK }, { "communication", PICTURE_NETWORK }, { "exchange", PICTURE_NETWORK },
    { "network", PICTURE_NETWORK }, { "link", PICTURE_NETWORK }, { "gradient", PICTURE_NETWORK },
    { "gather", PICTURE_NETWORK }, { "stage transfer", PICTURE_NETWORK }, { "transfer", PICTURE_NETWORK },
    { "launch", PICTURE_HOST }, { "host", PICTURE_HOST }, { "overhead", PICTURE_HOST },
    { "interference", PICTURE_HOST }, { "bubble", PICTURE_HOST },
    { "straggler", PICTURE_HOST }, { "uneven", PICTURE_HOST }, { "idle", PICTURE_HOST },
    { "imbalance", PICTURE_HOST }, { "waiting", PICTURE_HOST }, { "scheduler", PICTURE_HOST },
    { "kv", PICTURE_CACHE }, { "cache", PICTURE_CACHE }, { "context", PICTURE_CACHE }, { "hold", PICTURE_CACHE },
    { "tier", PICTURE_CACHE }, { "pause", PICTURE_CACHE },
    { "flop", PICTURE_COMPUTE }, { "compute", PICTURE_COMPUTE }, { "prefill", PICTURE_COMPUTE },
    { "mfu", PICTURE_COMPUTE }, { "gemm", PICTURE_COMPUTE }, { "efficiency", PICTURE_COMPUTE },
    { "weight", PICTURE_WEIGHTS }, { "param", PICTURE_WEIGHTS }, { "ffn", PICTURE_WEIGHTS },
    { "expert", PICTURE_WEIGHTS }, { "projection", PICTURE_WEIGHTS }, { "head", PICTURE_WEIGHTS },
    { "embedding", PICTURE_WEIGHTS }, { "hbm", PICTURE_WEIGHTS }, { "memory", PICTURE_WEIGHTS },
};

enum picture_kind picture_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name_within(name, words[i].word))
            return words[i].kind;
    return PICTURE_RESULT;
}
