/* A command becomes an answer: its verb is asked, its picture is written where --plot says. */
#include "report/plot.h"
#include "scenario/scenario.h"

bool command_draws(const struct command *command)
{
    return command->report || command_given(command, "plot");
}

bool command_answer(struct arena *arena, const struct command *command, struct answer *answer,
                    struct error *error)
{
    const char *path = command_text(command, "plot");
    if ((path && !plot_check(arena, path, error)) || !command->verb->ask(arena, command, answer, error))
        return false;
    return !path || !answer->picture || plot_write(answer->picture, path, error);
}
