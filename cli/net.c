/* Of chalkline-net: what listens or calls. */
#include "cli/cli.h"
#include "meter/measure/measure.h"
#include "meter/watch/watch.h"
#include "serve/live/live.h"
#include "serve/web.h"

#include <signal.h>
#include <stdio.h>

/* Where nobody can be told, it ends as by a signal, and the program says why. */
static void say_where(const char *url)
{
    printf("%s\n", url);
    if (fflush(stdout) || ferror(stdout))
        raise(SIGTERM);
}

/* Where the answers themselves are printed. */
static void say_where_aside(const char *url)
{
    fprintf(stderr, "%s\n", url);
}

bool net_begins(struct arena *arena, struct command *command, bool *ended, struct error *error)
{
    struct serve_options terms;
    const char *note;
    bool follows;
    live_attaches();
    if (!measure_this(arena, command, &note, error))
        return false;
    if (note && !command->ranks->rank)
        fprintf(stderr, "%s\n", note);
    *ended = true;
    if (live_asked_for(command))
        return live_serve(arena, command, say_where, error);
    if (!watch_follows(arena, command, &follows, error))
        return false;
    if (follows)
        return watch_follow(arena, command, say_where_aside, error);
    if (command->verb == &verb_serve)
        return serve_read(arena, command, &terms, error) && serve(&terms, say_where, error);
    *ended = false;
    return true;
}
