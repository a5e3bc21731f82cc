/* Of chalkline: what listens or calls is a program of its own, so that a question starts without the libraries of HTTP.
 * It stands beside this one, and takes its place with the same words. */
#include "cli/cli.h"
#include "meter/measure/measure.h"
#include "meter/watch/watch.h"
#include "serve/web.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "chalkline-net";

/* Returns only if it cannot be run. */
static bool companion_run(struct error *error)
{
    char path[4096] = "";
    const size_t room = sizeof path - sizeof name;
    if (readlink("/proc/self/exe", path, room) <= 0 && strlen(program_words[0]) < room)
        strcpy(path, program_words[0]);         /* a container may hide /proc */
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, name);
    execvp(path, program_words);
    error_set(error, "%s: %s", path, strerror(errno));
    return error_expected(error, "%s beside chalkline: it has serve, measure, watch, --listen and --on this", name);
}

static bool is_given(const struct command *command, const char *option)
{
    return verb_option(command->verb, option) && command_given(command, option);
}

/* Does the command listen, call or time this machine, or follow what `watch` would see? */
static bool is_net(const struct command *command)
{
    static const char *const options[] = { "listen", "metrics", "scale-by" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (is_given(command, options[i]))
            return true;
    for (size_t i = 0; i < command->value_count; i++)
        if (!strcmp(command->values[i].option->name, "on") && names_this(command->values[i].text, &(size_t){ 0 }))
            return true;
    return command_asks_here(command) || command->verb == &verb_serve || command->verb == &verb_measure || command->verb == &verb_watch;
}

bool net_begins(struct arena *arena, struct command *command, bool *ended, struct error *error)
{
    (void)arena, (void)ended;
    return !is_net(command) || companion_run(error);
}

bool ask_measure(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    (void)arena, (void)command, (void)answer;
    return companion_run(error);
}

bool ask_watch(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    (void)arena, (void)command, (void)answer;
    return companion_run(error);
}
