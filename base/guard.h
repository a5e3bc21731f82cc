/* guard -- a call that may be left early: memory runs out, or the caller cancels it.
 *
 *     guarded(call) -> call -> ... -> an arena without memory, or `watch` is told to cancel
 *          |                                   |
 *          +---- all is freed, the reason <----+  (longjmp)
 *
 * While a call runs, the list of its guard has the memory of every arena that this thread fills, those on the stack
 * too, and what arena_hold registered. Where it returns, its arenas live on; where it is left, all that is in the list is
 * released. Guarded calls may be nested. The guard is the only mutable global variable (one per thread): small functions
 * that have an arena on their stack are not handed one. */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include "base/base.h"

enum ending { ENDED, ENDED_WITHOUT_MEMORY, ENDED_CANCELLED };

struct guard {
    struct holding held;               /* both ends of the list, a circle */
    void (*leave)(struct guard *guard, enum ending why);        /* does not return */
    void (*watch)(struct guard *guard);     /* called whenever a chunk of memory is taken; or NULL */
    bool (*cancel_asked)(void *context, double share);
    void *context;
    struct chunks *chunks;          /* from which memory is taken, and to which it goes back; NULL: the system's */
    double share;                   /* of the answer that is done, as the verb says; 0: it does not say */
};

extern _Thread_local struct guard *guard_here;      /* NULL: this thread's arenas are not guarded */

/* `cancel_asked`, which may be NULL, is asked now and then, and true cancels the call. `chunks` may be NULL. */
enum ending guarded(void (*call)(void *context), void *context, struct chunks *chunks,
                    bool (*cancel_asked)(void *context, double share), void *cancel_context);
/* Memory that guarded calls use one after another. Without it, the system clears new pages for each call and takes them back,
 * which costs a third of a question. The calls may keep `most` bytes besides for those after them, 0 for none. */
struct chunks *chunks_new(size_t most);     /* NULL: there is none */
void chunks_free(struct chunks *chunks);
/* What they keep: released with the chunks, or where a call is left. */
struct kept_beside {
    void (*release)(void *what);
    void *what;                     /* NULL: nothing yet */
    size_t most;                    /* bytes */
};
#ifdef __wasm__                         /* the page keeps nothing, and has no code for it */
static inline struct kept_beside *kept_here(void) { return NULL; }
#else
struct kept_beside *kept_here(void);        /* NULL: this call keeps nothing */
#endif
void chunks_forget(struct chunks *chunks);
/* The verb tells which share is done. */
void guard_tell(double share);

/* Call body(context, i) for each i below `count`, in several threads if `threads`. What it takes from arenas it takes from
 * arenas of its own, which may live on. Where one is left, the call around is left once all have ended. */
void parallel_each(size_t count, bool threads, void (*body)(void *context, size_t i), void *context);
size_t parallel_threads(void);      /* as many as would run at once, which is one inside another thread's share */

#endif
