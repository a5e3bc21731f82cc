/* What a page has no use for: files of results, pictures of gnuplot, packed traces (the page
 * unpacks what browsers can). In the place of search/store.c, ask/plot.c and sim/unpack.c. */
#include "ask/plot.h"
#include "search/store.h"
#include "sim/trace_read.h"

#include <string.h>

static bool absent(const char *path, struct error *error)
{
    error_set(error, "%.200s: no such file can be used in a page", path);
    return error_hint(error, "the command line");
}

bool plot_open(struct buffer *script, const char *path, int width, int height,
               struct error *error)
{
    (void)script, (void)width, (void)height;
    return absent(path, error);
}

const char *plot_quoted(struct arena *arena, const char *text)
{
    (void)arena;
    return text;
}

bool plot_draw(const struct buffer *script, const char *path, struct error *error)
{
    (void)script;
    return absent(path, error);
}

bool trace_unpack(struct arena *arena, const char *path, struct text packed, size_t limit,
                  struct text *text, struct error *error)
{
    static const char zstd[] = "\x28\xb5\x2f\xfd";
    (void)arena, (void)limit;
    *text = packed;
    if (packed.size < 4 || memcmp(packed.data, zstd, 4))
        return true;
    error_set(error, "%.200s: packed by zstd, which a page cannot unpack", path);
    return error_hint(error, "the file unpacked, or packed by gzip");
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
