/* grow -- private to rows/: a builder of graphs (graph.c) that keeps what it has made for further questions. */
#ifndef ROWS_GROW_H
#define ROWS_GROW_H

#include "rows/nodes.h"

struct graph_builder;

/* A builder for these formulas and facts, which must stay as they are while it is used. It lives in `arena`, labels of
 * inputs in `kept`. With `parts`, it builds as graph_build_parts. */
struct graph_builder *builder_open(struct arena *arena, struct arena *kept, const struct formulas *formulas,
                                   const struct facts *facts, bool parts);
/* Make the nodes of some expressions, as far as they are not there. False leaves the builder of no further use. */
bool builder_grow(struct graph_builder *builder, const struct expr *const *wanted, size_t count, int *nodes,
                  struct error *error);
/* The facts have other numbers now, but the same shape (asked.c): inputs have these, and what depends on them is computed anew. */
void builder_rebind(struct graph_builder *builder);
/* The nodes that it has made. */
struct nodes *builder_nodes(struct graph_builder *builder);

#endif
