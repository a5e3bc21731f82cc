/* run -- private to engine/: a list made ready for blocks of points.
 *
 * Each step reads and writes blocks of BLOCK doubles; blocks are used again once nobody
 * reads them, so that a whole program stays in the first cache. A number that is an
 * operand of `+ - * / max min`, or the base of a power, is one vector only, for the same reason. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/engine.h"

enum { BLOCK = 128, VECTOR = 8 };     /* doubles; VECTOR: of the widest set */
enum form { FORM_BLOCKS, FORM_NUMBER_A, FORM_NUMBER_B };  /* which operand is one vector */

struct step {
    enum op op;
    enum form form;
    double *to;
    const double *a, *b, *c;
    int last;                       /* VAR: so many steps on stands its ROOT */
};

typedef void run_steps(const struct step *steps, size_t count);
run_steps run_steps_scalar, run_steps_portable, run_steps_avx2, run_steps_avx512;

#endif
