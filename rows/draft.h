/* draft -- expressions and rows while they are made, before each is kept in one piece of memory with all
 * its texts. Private to rows and the build. */
#ifndef ROWS_DRAFT_H
#define ROWS_DRAFT_H

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

struct row_draft {
    struct row row;                 /* its numbers; row_keep sets all offsets */
    const char *texts[ROW_TEXTS];   /* NULL: none */
    const struct expr *expr;        /* kept as it is, and so is the row before */
    const struct row *before;
};

const struct row *row_keep(struct arena *arena, const struct row_draft *draft);

#endif
