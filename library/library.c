/* A library is opened and closed; a body becomes a command. */
#include "library/library.h"

#include <stdlib.h>
#include <string.h>

const char *chalkline_version(void)
{
    return CHALKLINE_VERSION;
}

struct chalkline_library *chalkline_open(struct chalkline_error *error)
{
    struct chalkline_library *library = calloc(1, sizeof *library);
    if (error)
        *error = (struct chalkline_error){ .what = "" };
    return library;
}

void chalkline_close(struct chalkline_library *library)
{
    free(library);
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
    return request.verb ? request_read(arena, &request, asked, error) : verb_unknown(verb, error);
}
