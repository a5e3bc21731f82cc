/* Files: those of the system, or those of the shelf that a question brought along.
 *
 * With a shelf (the HTTP server, the page) no file of the system is opened, whatever a question
 * names: a path that is not on the shelf is an error that lists what is. Reading has a limit of
 * bytes, so that a wrong path cannot exhaust memory. Nothing is written there either: the answer
 * is all there is. output.c writes files. */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct shelf_file *shelf_find(const struct shelf *shelf, const char *path)
{
    for (size_t i = 0; i < shelf->count; i++)
        if (!strcmp(shelf->files[i].path, path))
            return &shelf->files[i];
    return NULL;
}

static bool not_brought(const char *path, const struct shelf *shelf, struct error *error)
{
    error_set(error, "%.200s: no such file came with the question", path);
    if (!shelf->count)
        return error_expected(error, "a name of the catalog, or the file beside the question");
    return error_expected(error, "'%.200s'%s", shelf->files[0].path,
                          shelf->count > 1 ? ", or another that came" : "");
}

static bool head_of(struct text text, size_t limit, struct text *out)
{
    *out = (struct text){ text.data, text.size < limit ? text.size : limit };
    return true;
}

static bool stream_read(FILE *stream, struct buffer *buffer, size_t limit)
{
    char block[65536];
    size_t size;
    while ((size = fread(block, 1, sizeof block, stream)) > 0) {
        if (buffer->size + size > limit)
            return false;
        buffer_add(buffer, block, size);
    }
    return true;
}

static bool unreadable(const char *path, int reason, struct error *error)
{
    error_set(error, "%s: %s", path, strerror(reason));
    if (reason == ELOOP)
        return error_expected(error, "a path whose links end at a file");
    return reason == EISDIR ? error_expected(error, "the path of a file in it") : false;
}

static bool system_read(struct arena *arena, const char *path, size_t limit, struct text *out,
                        struct error *error)
{
    FILE *stream = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!stream)
        return unreadable(path, errno, error);
    struct buffer buffer = { .arena = arena };
    buffer_add(&buffer, "", 0);
    bool small = stream_read(stream, &buffer, limit);
    bool broken = ferror(stream);
    int reason = errno;
    if (stream != stdin)
        fclose(stream);
    if (broken)
        return unreadable(path, reason, error);
    if (!small)
        return error_set(error, "%s: larger than %zu bytes", path, limit);
    *out = (struct text){ buffer.data, buffer.size };
    return true;
}

bool file_read(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error)
{
    if (!arena->shelf)
        return system_read(arena, path, limit, out, error);
    const struct shelf_file *file = shelf_find(arena->shelf, path);
    if (!file)
        return not_brought(path, arena->shelf, error);
    if (file->text.size > limit)
        return error_set(error, "%s: larger than %zu bytes", path, limit);
    *out = file->text;
    return true;
}

bool file_head(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error)
{
    if (arena->shelf) {
        const struct shelf_file *shelved = shelf_find(arena->shelf, path);
        return shelved ? head_of(shelved->text, limit, out)
                       : not_brought(path, arena->shelf, error);
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        return unreadable(path, errno, error);
    char *data = arena_alloc(arena, limit);
    size_t size = fread(data, 1, limit, file);
    bool broken = ferror(file);
    int reason = errno;
    fclose(file);
    if (broken)
        return unreadable(path, reason, error);
    *out = (struct text){ data, size };
    return true;
}

bool file_there(const struct arena *arena, const char *path)
{
    if (arena->shelf)
        return shelf_find(arena->shelf, path) != NULL;
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

bool file_may_write(const struct arena *arena, const char *path, struct error *error)
{
    if (!arena->shelf)
        return true;
    error_set(error, "%.200s: no file is written here", path);
    return error_expected(error, "the command line writes files; here the answer is all there is");
}
