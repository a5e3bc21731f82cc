/* The page scores what is built in, which is in the columns of the schema: it has no layouts. */
#include "score/layout.h"

struct layout *layout_of(struct arena *arena, const struct csv *csv)
{
    (void)arena, (void)csv;
    return NULL;
}

bool layout_unknown(struct arena *arena, const struct csv *csv, struct error *error)
{
    (void)arena;
    error_set(error, "%s: not the columns of measurements", csv->file);
    return error_expected(error, "model, machine and names of rows (docs/formats.md)");
}

bool layout_apply(struct arena *arena, struct layout *layout, const struct csv *csv, struct buffer *out,
                  struct error *error)
{
    (void)layout, (void)out;
    return layout_unknown(arena, csv, error);
}
