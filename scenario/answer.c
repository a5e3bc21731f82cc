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

/* That nothing is feasible is an answer, except where commands for a shell or a report were asked for: there it is an error. */
static bool answer_none(struct arena *arena, const struct command *command, struct answer *answer, const struct error *error)
{
    if (!error->infeasible || command_reports(command) || command_given(command, "emit"))
        return false;
    answer->status = 1;
    if (answer->doc)
        doc_add_string(arena, answer->doc, "infeasible", error->what);
    buffer_print(&answer->text, "%s\n  %s: %s\n", error->what, error_label(error), error->hint);
    return true;
}

bool command_answer(struct arena *arena, const struct command *command, struct answer *answer,
                    struct error *error)
{
    const char *path = command_text(command, "plot"), *report = command_text(command, "report");
    if (command_given(command, "report-page") && !report) {
        error_set(error, "--report-page has no report to go into");
        return error_expected(error, "--report FILE beside it");
    }
    if ((path && !plot_check(arena, path, error)) || (report && !file_may_write(arena, report, error)))
        return false;
    if (!(machines_several(arena, command) ? machines_answer : command->verb->ask)(arena, command, answer, error))
        return answer_none(arena, command, answer, error);
    return !path || !answer->picture || plot_write(answer->picture, path, error);
}
