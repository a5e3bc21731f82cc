/* The page that the build put into the binary: one gzip'd file of HTML. */
#include "serve/http_server.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { PAGE_MOST = 64 << 20, GZIP_WINDOW = 15 + 16 };       /* zlib's for "gzip, whole window" */

bool handout_there(const struct embedded *page, struct text *packed, struct error *error)
{
    if (page->path) {
        *packed = (struct text){ page->data, page->size };
        return true;
    }
    error_set(error, "this chalkline was built without its page");
    return error_expected(error, "make page");
}

/* The last four bytes of a gzip file are the size of what it holds. */
static size_t unpacked_size(struct text packed)
{
    size_t size = 0;
    for (size_t i = 0; packed.size >= 4 && i < 4; i++)
        size |= (size_t)(unsigned char)packed.data[packed.size - 4 + i] << 8 * i;
    return size;
}

bool handout_unpack(struct arena *arena, struct text packed, struct text *html,
                    struct error *error)
{
    size_t size = unpacked_size(packed);
    if (size > PAGE_MOST)
        return error_set(error, "the page is said to unpack to %zu bytes; at most %d are", size,
                         (int)PAGE_MOST);
    char *data = arena_alloc(arena, size + 1);
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.size,
                        .next_out = (Bytef *)data, .avail_out = (uInt)size };
    bool good = inflateInit2(&stream, GZIP_WINDOW) == Z_OK;
    good = good && inflate(&stream, Z_FINISH) == Z_STREAM_END && !stream.avail_out;
    inflateEnd(&stream);
    *html = (struct text){ data, size };
    return good || error_set(error, "the page in this chalkline is damaged");
}

/* "br, gzip;q=0.5, *;q=0": gzip, unless its weight is 0. */
bool handout_takes_gzip(const char *accepted)
{
    for (const char *at = accepted; at && *at;) {
        at += strspn(at, " ,\t");
        size_t name = strcspn(at, " ;,\t"), whole = strcspn(at, ",");
        const char *weight = memchr(at, '=', whole);
        if ((name == 4 && !strncasecmp(at, "gzip", 4)) || (name == 1 && *at == '*'))
            return !weight || strspn(weight, "=0. \t") < (size_t)(at + whole - weight);
        at += whole;
    }
    return false;
}

bool page_html(struct arena *arena, struct text *html, struct error *error)
{
    struct text packed;
    return handout_there(embedded_page, &packed, error) && handout_unpack(arena, packed, html, error);
}
