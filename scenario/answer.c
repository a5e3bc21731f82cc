/* A command becomes an answer: its verb is asked, its picture is written where --plot says. The report is written by
 * those who have files (serve/report.c); the others refuse it here. */
#include "report/plot.h"
#include "scenario/scenario.h"

bool command_reports(const struct command *command)
{
    return command->reported || command_given(command, "report");
}

bool command_draws(const struct command *command)
{
    return command_reports(command) || command_given(command, "plot");
}

bool command_answer(struct arena *arena, const struct command *command, struct answer *answer,
                    struct error *error)
{
    const char *path = command_text(command, "plot"), *report = command_text(command, "report");
    if (command_given(command, "report-page") && !report) {
        error_set(error, "--report-page has no report to go into");
        return error_expected(error, "--report FILE beside it");
    }
    if ((path && !plot_check(arena, path, error)) || (report && !file_may_write(arena, report, error)) ||
        !(machines_several(arena, command) ? machines_answer : command->verb->ask)(arena, command, answer, error))
        return false;
    return !path || !answer->picture || plot_write(answer->picture, path, error);
}
