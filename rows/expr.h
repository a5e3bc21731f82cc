/* expr -- an expression while it is made, before it is kept in one piece of memory. Private to rows. */
#ifndef ROWS_EXPR_H
#define ROWS_EXPR_H

#include "rows/rows.h"

enum { EXPR_NODES = 2000 };         /* at most, of one expression */

struct expr_draft {
    struct expr *nodes;             /* all but `whole` and `name`, which expr_keep sets */
    const char **names;             /* [nodes] of a node that has one (expr_has_name) */
    size_t count;
};

bool expr_has_name(enum op op);
/* Copy the nodes, the text of the whole expression and the names into `arena`; returns the copy of `root`. */
const struct expr *expr_keep(struct arena *arena, const struct expr_draft *draft, const struct expr *root,
                             struct text whole);

#endif
