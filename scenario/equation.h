/* equation -- an equation or inequality between two expressions, and the input it is solved for.
 *
 *     "bound_kv=bound_weights" --equation_split--> sides --equation_read--> checked sides
 *                              --equation_graph--> one graph, whose zeros are the solutions
 *
 * The unknown may be any row, or the entry of one, "tier_capacity[flash]": what has a formula becomes an input for the
 * question. */
#ifndef SCENARIO_EQUATION_H
#define SCENARIO_EQUATION_H

#include "scenario/scenario.h"

/* A=B, or A>=B and so on, which ask for all of a range. */
struct equation {
    const char *text, *left, *right;
    const char *sign;               /* of sign_size: "=", ">=" */
    int sign_size;
    enum relation relation;
    bool turned;                    /* the right side is the larger */
};

/* Fails if there is not exactly one sign outside of parentheses; `where` NULL: none was given. */
bool equation_split(struct arena *arena, const char *where, struct equation *equation, struct error *error);
/* Add a note with the unit of a side that is a number without one. */
void equation_note_bare(struct scenario *scenario, const struct equation *equation);
/* Turn sides that are quantities into numbers in base units, and check the units of both. */
bool equation_read(struct scenario *scenario, struct equation *equation, struct error *error);
/* Is this side a number? */
bool equation_number(const char *side);
/* Make the row an input, and say in which range to look for it, in its base unit: the row's own, or nine
 * decades either way. Fails if it has a value per entry and none is named, or is a constant. */
bool equation_unknown(struct scenario *scenario, const char *name, double *low, double *high,
                      struct error *error);
/* The graph of one side less the other; where a solution exists its one output is 0. */
bool equation_graph(struct scenario *scenario, const struct equation *equation, struct graph *graph,
                    struct error *error);
/* All of these for "A=B": its roots over the row, which becomes an input of the scenario. False where the
 * equation cannot be asked, or does not depend on the row. */
bool equation_roots(struct scenario *scenario, const char *where, const char *name, struct solution *found);

#endif
