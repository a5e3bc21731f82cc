/* Guarded calls (guard.h) by setjmp and longjmp, and threads by OpenMP.
 *
 * No thread may jump out of a region of OpenMP: within one each body is guarded for itself, its list is joined to that of
 * the call around, and where a body was left the call around is left behind the region. */
#include "base/guard.h"

#include <locale.h>
#include <setjmp.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
static int omp_get_num_procs(void) { return 1; }
static int omp_get_thread_num(void) { return 0; }
static int omp_in_parallel(void) { return 0; }
#endif

struct place {
    struct guard guard;
    jmp_buf left;
    volatile enum ending why;        /* written before longjmp, read after */
};

static void leave(struct guard *guard, enum ending why)
{
    struct place *place = (struct place *)guard;
    place->why = why;
    longjmp(place->left, 1);
}

static void look(struct guard *guard)
{
    if (guard->cancel_asked(guard->context, guard->share))
        leave(guard, ENDED_CANCELLED);
}

void guard_tell(double share)
{
    if (!guard_here || !guard_here->watch)
        return;
    guard_here->share = share;
    guard_here->watch(guard_here);
}

/* Let go of the newest arena first: an arena that is held lies in memory of older ones. */
static void release_all(struct holding *list)
{
    while (list->next != list)
        arena_let_go(list->next);
}

/* Move a list to another one, or to none. */
static void join(struct holding *list, struct holding *to)
{
    if (list->next != list && to) {
        list->next->before = to;
        list->before->next = to->next;
        to->next->before = list->before;
        to->next = list->next;
        return;
    }
    for (struct holding *held = list->next, *next; held != list; held = next) {
        next = held->next;
        held->before = held->next = NULL;
    }
}

enum ending guarded(void (*call)(void *context), void *context, struct chunks *chunks,
                    bool (*cancel_asked)(void *context, double share), void *cancel_context)
{
    struct guard *const outer = guard_here;
    struct place place = { .guard = { .leave = leave, .watch = cancel_asked ? look : NULL, .cancel_asked = cancel_asked,
                                      .context = cancel_context, .chunks = chunks }, .why = ENDED };
    place.guard.held.before = place.guard.held.next = &place.guard.held;
    guard_here = &place.guard;
    if (!setjmp(place.left))
        call(context);
    guard_here = outer;
    if (place.why && chunks)
        chunks_forget(chunks);
    if (place.why)
        release_all(&place.guard.held);
    else
        join(&place.guard.held, outer ? &outer->held : NULL);
    return place.why;
}

struct each {
    struct guard *outer;
    void (*body)(void *context, size_t i);
    void *context;
    size_t i;
    locale_t locale;                /* of the thread that answers the question */
    bool *joining;                  /* a thread joins its list; `omp critical` would be a name that clang exports */
};

static void call_body(void *context)
{
    const struct each *each = context;
    each->body(each->context, each->i);
}

/* The body under a guard of its own, whose list the outer one gets: the threads take turns for that. */
static enum ending guarded_body(struct each *each)
{
    struct guard *const before = guard_here;
    struct guard holder = { .held = { .before = &holder.held, .next = &holder.held } };
    guard_here = &holder;
    const bool first = before == each->outer;       /* this thread answers the question */
    const locale_t own = uselocale(each->locale);
    const enum ending why = guarded(call_body, each, NULL, first ? each->outer->cancel_asked : NULL, each->outer->context);
    uselocale(own);
    guard_here = before;
    while (__atomic_exchange_n(each->joining, true, __ATOMIC_ACQUIRE))
        ;
    join(&holder.held, &each->outer->held);
    __atomic_store_n(each->joining, false, __ATOMIC_RELEASE);
    return why;
}

/* GNU's threads turn in a loop while they wait for the next call, and sleep only where they are more than the cores. So on
 * all cores there is one thread more, which does nothing. */
void parallel_each(size_t count, bool threads, void (*body)(void *context, size_t i), void *context)
{
    const int most = threads ? (int)parallel_threads() : 1, idle = most > 1 && most >= omp_get_num_procs();
    size_t taken = 0;
    struct guard *const outer = guard_here;
    const locale_t locale = uselocale((locale_t)0);
    enum ending why = ENDED;
    bool joining = false;
    #pragma omp parallel num_threads(most + idle)
    while (omp_get_thread_num() < most) {
        size_t i;
        enum ending now;
        #pragma omp atomic capture
        i = taken++;
        if (i >= count)
            break;
        struct each each = { outer, body, context, i, locale, &joining };
        #pragma omp atomic read
        now = why;
        if (!outer)
            body(context, i);
        else if (!now && (now = guarded_body(&each))) {
            #pragma omp atomic write
            why = now;
        }
    }
    if (why)
        outer->leave(outer, why);
}

size_t parallel_threads(void)
{
    return omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();
}
