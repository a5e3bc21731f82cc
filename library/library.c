/* Libraries, guarded calls, and what threads use by turns. */
#include "base/guard.h"
#include "library/library.h"

#include <string.h>

const char *chalkline_version(void)
{
    return CHALKLINE_VERSION;
}

static int ended(enum chalkline_status status, struct chalkline_error *to)
{
    struct error error;
    error_set(&error, status == CHALKLINE_CANCELLED ? "cancelled" : "out of memory");
    library_error(to, &error);
    return (int)status;
}

void chalkline_progress(struct chalkline_library *library, int (*function)(void *context, double share), void *context)
{
    library->progress = function;
    library->context = context;
}

struct watched_call {
    const struct chalkline_library *library;
    locale_t locale;                /* of the thread that made the call */
};

static _Thread_local bool telling;      /* this thread runs a progress function, whose own calls report no progress */

/* The progress function runs as the program's own code: with the program's locale, and the memory that it keeps is not freed
 * with the call. An earlier call of it may have set another function, or none. */
static bool cancel_asked(void *context, double share)
{
    struct watched_call *watched = context;
    const struct chalkline_library *library = watched->library;
    struct guard *const guard = guard_here;
    if (!library->progress)
        return false;
    guard_here = NULL;
    telling = true;
    uselocale(watched->locale);
    const bool cancelled = library->progress(library->context, share) != 0;
    watched->locale = uselocale(library->plain);
    telling = false;
    guard_here = guard;
    return cancelled;
}

int library_call(const struct chalkline_library *library, void (*call)(void *context), void *context,
                 struct chalkline_error *error)
{
    const bool told = library && library->progress && !telling;
    struct chunks *chunks = library ? spares_take(&library->memory) : NULL;
    if (library && !chunks)
        chunks = chunks_new(0);
    struct watched_call watched = { library, library ? uselocale(library->plain) : (locale_t)0 };
    const enum ending how = guarded(call, context, chunks, told ? cancel_asked : NULL, &watched);
    if (library)
        uselocale(watched.locale);
    if (chunks && !spares_give(&library->memory, chunks))
        chunks_free(chunks);
    return how == ENDED ? CHALKLINE_ANSWERED : ended(how == ENDED_CANCELLED ? CHALKLINE_CANCELLED : CHALKLINE_NO_MEMORY, error);
}

static void open_library(void *context)
{
    struct arena *arena = arena_new();
    struct chalkline_library *library = arena_alloc(arena, sizeof *library);
    library->arena = arena;
    *(struct chalkline_library **)context = library;
}

struct chalkline_library *chalkline_open(struct chalkline_error *error)
{
    struct chalkline_library *library = NULL;
    library_call(NULL, open_library, &library, error);
    if (library && !(library->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0))) {
        ended(CHALKLINE_NO_MEMORY, error);
        arena_end(library->arena);
        return NULL;
    }
    return library;
}

void chalkline_close(struct chalkline_library *library)
{
    if (!library)
        return;
    for (struct chunks *chunks; (chunks = spares_take(&library->memory));)
        chunks_free(chunks);
    freelocale(library->plain);
    arena_end(library->arena);
}

void library_error(struct chalkline_error *to, const struct error *error)
{
    if (!to)
        return;
    memcpy(to->what, error->what, sizeof to->what);
    memcpy(to->hint, error->hint, sizeof to->hint);
    memcpy(to->similar, error->similar, sizeof to->similar);
}

static bool verb_unknown(const char *name, struct error *error)
{
    const char *names[64];
    size_t count = 0;
    while (verbs[count] && count < sizeof names / sizeof *names)
        names[count] = verbs[count]->name, count++;
    const char *near = name_nearest(name, names, count);
    error_set(error, "unknown verb '%.60s'", name);
    return near ? error_did_you_mean(error, near, "") : error_expected(error, "a verb of `chalkline help`");
}

bool library_command(struct arena *arena, const char *verb, const char *json, struct request_command *asked,
                     struct error *error)
{
    const struct request request = { .verb = verb_named(verbs, verb), .posted = true, .body = text_of(json ? json : "{}") };
    arena->shelf = &asked->shelf;
    if (!request.verb)
        return verb_unknown(verb, error);
    if (!request_read(arena, &request, asked, error))
        return false;
    asked->command.progress = guard_here->watch ? guard_tell : NULL;
    return true;
}

void *spares_take(const struct spares *spares)
{
    void **at = (void **)(uintptr_t)spares->at, *one = NULL;
    for (int i = 0; i < SPARES && !one; i++)
        if (__atomic_load_n(&at[i], __ATOMIC_RELAXED))
            one = __atomic_exchange_n(&at[i], NULL, __ATOMIC_ACQUIRE);
    return one;
}

bool spares_give(const struct spares *spares, void *one)
{
    void **at = (void **)(uintptr_t)spares->at;
    for (int i = 0; i < SPARES; i++) {
        void *none = NULL;
        if (!__atomic_load_n(&at[i], __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&at[i], &none, one, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}
