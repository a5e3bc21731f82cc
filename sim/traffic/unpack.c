/* Files packed by gzip or zstd, known by their first bytes. */
#include "sim/traffic/trace_read.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { PIECE = 1 << 16 };

static bool too_large(const char *path, size_t limit, struct error *error)
{
    error_set(error, "%s: unpacks to more than %zu bytes", path, limit);
    return error_expected(error, "a trace in parts");
}

static bool broken(const char *path, const char *kind, const char *why, struct error *error)
{
    error_set(error, "%s: %s file %s", path, kind, why);
    return error_expected(error, "the whole file, as it was packed");
}

static bool unpack_gzip(const char *path, struct text packed, size_t limit, struct buffer *out,
                        struct error *error)
{
    enum { GZIP_WINDOW = 15 + 16 };
    unsigned char piece[PIECE];
    z_stream stream = { .next_in = (unsigned char *)packed.data, .avail_in = (unsigned)packed.size };
    int state = Z_OK;
    bool good = inflateInit2(&stream, GZIP_WINDOW) == Z_OK;
    while (good && state == Z_OK && out->size <= limit) {
        stream.next_out = piece;
        stream.avail_out = PIECE;
        state = inflate(&stream, Z_NO_FLUSH);
        buffer_add(out, (char *)piece, PIECE - stream.avail_out);
        if (state == Z_STREAM_END && stream.avail_in)           /* a member after this one */
            state = inflateReset(&stream);
    }
    inflateEnd(&stream);
    if (out->size > limit)
        return too_large(path, limit, error);
    return state == Z_STREAM_END ||
           broken(path, "gzip", state == Z_BUF_ERROR ? "is truncated" : "is damaged", error);
}

static bool unpack_zstd(const char *path, struct text packed, size_t limit, struct buffer *out,
                        struct error *error)
{
    char piece[PIECE];
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = { packed.data, packed.size, 0 };
    size_t left = 1;
    bool full = false;                      /* the last piece was: there may be more */
    while (stream && !ZSTD_isError(left) && (in.pos < in.size || (full && left)) && out->size <= limit) {
        ZSTD_outBuffer to = { piece, PIECE, 0 };
        left = ZSTD_decompressStream(stream, &to, &in);
        buffer_add(out, piece, to.pos);
        full = to.pos == PIECE;
    }
    ZSTD_freeDStream(stream);
    if (out->size > limit)
        return too_large(path, limit, error);
    return left == 0 || broken(path, "zstd", ZSTD_isError(left) ? "is damaged" : "is truncated", error);
}

bool trace_unpack(struct arena *arena, const char *path, struct text packed, size_t limit,
                  struct text *text, struct error *error)
{
    static const char gzip[] = "\x1f\x8b", zstd[] = "\x28\xb5\x2f\xfd";
    struct buffer out = { .arena = arena };
    bool good;
    *text = packed;
    if (packed.size >= 2 && !memcmp(packed.data, gzip, 2))
        good = unpack_gzip(path, packed, limit, &out, error);
    else if (packed.size >= 4 && !memcmp(packed.data, zstd, 4))
        good = unpack_zstd(path, packed, limit, &out, error);
    else
        return true;
    *text = (struct text){ out.data ? out.data : "", out.size };
    return good;
}
