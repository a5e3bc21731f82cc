/* The quiz on a terminal: one problem after another, each answer graded before the next.
 *
 * The questions themselves are the verb's (lecture/quiz): this file asks for problems, reads lines, and
 * hands them back as --grade. It also says where answers are remembered: below $XDG_STATE_HOME or
 * ~/.local/state, since only the command line knows the user's environment. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where answers are remembered ------------------------------------------------------------ */

/* Make the folders above a file; those that are there already are left. */
static void make_folders(struct arena *arena, const char *path)
{
    char *folder = arena_copy(arena, path, strlen(path));
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0700);
        *slash = '/';
    }
}

static const char *default_state(struct arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        return arena_print(arena, "%s/chalkline/quiz.json", state);
    return home && *home == '/' ? arena_print(arena, "%s/.local/state/chalkline/quiz.json", home) : NULL;
}

/* Can the file be made, or changed? A home that cannot be written is no reason to refuse a question. */
static bool may_keep(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    make_folders(arena, path);
    return access(arena_copy(arena, path, (size_t)(slash - path)), W_OK) == 0;
}

void quiz_keep(struct arena *arena, struct command *command)
{
    const char *path = command->verb == &verb_quiz ? default_state(arena) : NULL;
    if (!path || command_given(command, "state"))
        return;
    const bool writes = command_given(command, "grade") || quiz_talks(command);
    if (writes ? may_keep(arena, path) : file_there(arena, path))
        command_set(arena, command, "state", path);
}

/* ---- on a terminal --------------------------------------------------------------------------- */

bool quiz_talks(const struct command *command)
{
    static const char *const quiet[] = { "grade", "anki", "json" };
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if (command_given(command, quiet[i]))
            return false;
    return command->verb == &verb_quiz && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void print_problem(struct arena *arena, const struct doc *problem)
{
    enum { CHOICE = 5 };
    struct buffer out = { .arena = arena };
    const size_t width = help_width();
    char letter = 'a';
    buffer_print(&out, "\n");
    help_wrap(&out, doc_get(problem, "question")->string, 0, 0, width);
    for (const struct doc *one = doc_get(problem, "given")->first; one; one = one->next)
        buffer_print(&out, "  %s = %s\n", one->key, one->string);
    const struct doc *choices = doc_get(problem, "choices");
    for (const struct doc *one = choices->first; one; one = one->next) {
        buffer_print(&out, "  %c  ", letter++);
        help_wrap(&out, one->string, CHOICE, CHOICE, width);
    }
    fwrite(out.data, 1, out.size, stdout);
}

/* Grade one line; false: it could not be read, and the problem stays. */
static bool grade_line(struct arena *arena, const struct command *of, const char *id, const char *line,
                       bool *right)
{
    struct command command = { .verb = of->verb, .verbs = of->verbs, .ranks = of->ranks };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error;
    command_set(arena, &command, "grade", arena_print(arena, "%s=%s", id, line));
    if (command_given(of, "state"))
        command_set(arena, &command, "state", command_text(of, "state"));
    if (!command.verb->ask(arena, &command, &answer, &error)) {
        printf("  %s\n  %s: %s\n", error.what, error_label(&error), error.hint);
        return false;
    }
    const struct doc *graded = doc_get(answer.doc, "graded")->first;
    *right = doc_get(graded, "right")->boolean;
    fwrite(answer.text.data, 1, answer.text.size, stdout);
    return true;
}

static bool say_score(int good, int asked)
{
    if (asked)
        printf("\n%d of %d right\n", good, asked);
    return true;
}

bool quiz_talk(struct arena *arena, const struct command *command, struct error *error)
{
    enum { LINE = 1000 };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    char line[LINE];
    int asked = 0, good = 0;
    if (!command->verb->ask(arena, command, &answer, error))
        return false;
    printf("An empty line skips a problem, q ends the quiz.\n");
    for (const struct doc *one = doc_get(answer.doc, "problems")->first; one; one = one->next) {
        bool graded = false, right = false;
        print_problem(arena, one);
        while (!graded) {
            printf("> ");
            fflush(stdout);
            if (!fgets(line, sizeof line, stdin) || !strcmp(line, "q\n"))
                return say_score(good, asked);
            line[strcspn(line, "\n")] = 0;
            if (!*line)
                break;
            graded = grade_line(arena, command, doc_get(one, "id")->string, line, &right);
        }
        asked += graded;
        good += right;
    }
    return say_score(good, asked);
}
