/* Where a request may go, and under which names. */
#include "serve/http_server.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const own_paths[ROUTE_VERBS] = {
    [ROUTE_PAGE] = "/", [ROUTE_OPENAPI] = "/v1/openapi.json", [ROUTE_METRICS] = "/metrics",
    [ROUTE_NONE] = "other",
};

/* One question of verbs[], one route, in the same order. */
enum { ASKED = 0
#define VERB(name, ...) + 1
#include "ask/verbs.def"
#undef VERB
};
_Static_assert(ROUTE_VERBS + ASKED <= ROUTES_MOST, "metrics have a line for each route");

size_t route_count(void)
{
    return ROUTE_VERBS + ASKED;
}

const char *route_path(size_t route)
{
    enum { LONGEST = 32 };
    static char asked[ASKED][LONGEST];
    if (route < ROUTE_VERBS)
        return own_paths[route];
    char *path = asked[route - ROUTE_VERBS];
    if (!*path)
        snprintf(path, LONGEST, "/v1/%s", route_verb(route)->name);
    return path;
}

const struct verb *route_verb(size_t route)
{
    return route < ROUTE_VERBS ? NULL : verbs[route - ROUTE_VERBS];
}

size_t route_find(const char *path)
{
    for (size_t i = 0; i < route_count(); i++)
        if (i != ROUTE_NONE && !strcmp(route_path(i), path))
            return i;
    return ROUTE_NONE;
}

bool route_unknown(const char *path, struct error *error)
{
    const char *paths[ROUTES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < route_count(); i++)
        if (i != ROUTE_NONE)
            paths[count++] = route_path(i);
    const char *near = name_nearest(path, paths, count);
    error_set(error, "nothing is at %.100s", path);
    return error_suggest(error, "%s%s%s%s lists all paths", near ? "did you mean " : "",
                         near ? near : "", near ? "? " : "", route_path(ROUTE_OPENAPI));
}
