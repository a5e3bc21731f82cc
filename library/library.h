/* library -- what the functions of chalkline.h share: guarded calls, bodies as commands, what threads use by turns. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "library/chalkline.h"
#include "serve/web.h"

#include <locale.h>

/* What one thread at a time may use, such as a program with its blocks: a call takes one that is spare, or makes one, and
 * gives it back. There are as many as calls ran at once, at most SPARES. */
enum { SPARES = 64 };
struct spares {
    void *at[SPARES];
};
void *spares_take(const struct spares *spares);     /* NULL: none is spare */
bool spares_give(const struct spares *spares, void *one);   /* false: free it, enough are kept */

struct chalkline_library {
    struct arena *arena;
    int (*progress)(void *context, double share);
    void *context;
    locale_t plain;                 /* "C": the decimal point of a question is no comma, whatever the program has set */
    struct spares memory;           /* struct chunks, of questions that ended */
};

/* Make a call that memory or chalkline_progress may end; `error` says what ended it. `library` may be NULL. Returns
 * CHALKLINE_ANSWERED, CHALKLINE_NO_MEMORY or CHALKLINE_CANCELLED. */
int library_call(const struct chalkline_library *library, void (*call)(void *context), void *context,
                 struct chalkline_error *error);
void library_error(struct chalkline_error *to, const struct error *error);
/* A verb and its body as a command, whose files become those of the arena. */
bool library_command(struct arena *arena, const char *verb, const char *json, struct request_command *asked,
                     struct error *error);

#endif
