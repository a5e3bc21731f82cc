/* In a page, in the place of store.c: no search outlives it. */
#include "search/store.h"

static bool absent(const char *path, struct error *error)
{
    error_set(error, "%.200s: no such file can be used in a page", path);
    return error_expected(error, "the command line");
}

bool store_open(struct arena *arena, const char *path, const struct store_question *question,
                struct store **store, struct error *error)
{
    (void)arena, (void)question, (void)store;
    return absent(path, error);
}

bool store_open_old(struct arena *arena, const char *path, struct store **store,
                    struct store_question *question, struct error *error)
{
    (void)arena, (void)question, (void)store;
    return absent(path, error);
}

/* None is ever open. */
bool store_each(struct store *store, bool (*row)(void *context, uint64_t search, uint64_t number,
                                                 struct text bytes, struct error *error),
                void *context, struct error *error)
{
    (void)store, (void)row, (void)context, (void)error;
    return false;
}

bool store_put(struct store *store, uint64_t search, uint64_t number, struct text bytes,
               struct error *error)
{
    (void)store, (void)search, (void)number, (void)bytes, (void)error;
    return false;
}

bool store_close(struct store *store, struct error *error)
{
    (void)store, (void)error;
    return true;
}

bool store_same(const struct store_question *a, const char *path_a,
                const struct store_question *b, const char *path_b, struct error *error)
{
    (void)a, (void)path_a, (void)b, (void)path_b, (void)error;
    return true;
}
