/* Files (output.h) in the page, which writes none: the shelf of a question refuses each. */
#include "base/output.h"

bool output_open(struct arena *arena, const char *what, const char *path, struct output *output, struct error *error)
{
    *output = (struct output){ .what = what, .path = path };
    return file_may_write(arena, path, error) && error_set(error, "%s: %.200s: the page writes no files", what, path);
}

bool output_close(struct output *output, struct error *error)
{
    return error_set(error, "%s: %.200s: the page writes no files", output->what, output->path);
}

void output_drop(struct output *output)
{
    (void)output;
}

bool output_same(struct arena *arena, const char *path, const char *other)
{
    (void)arena, (void)path, (void)other;
    return false;
}

struct holding *output_lock(struct arena *arena, const char *path)
{
    (void)arena, (void)path;
    return NULL;
}

bool output_may(struct arena *arena, const char *what, const char *path, struct error *error)
{
    struct output output;
    return output_open(arena, what, path, &output, error);
}

bool file_write(struct arena *arena, const char *what, const char *path, struct text text, struct error *error)
{
    (void)text;
    return output_may(arena, what, path, error);
}
