/* The program: a command line becomes a command, its answer goes to the terminal, to files, or to
 * other processes.
 *
 * The exit status is 0 for an answer, 1 where nothing is feasible and 2 for errors of use. When
 * memory is exhausted the process ends at once. With MPI the ranks divide the work of some verbs; to
 * the others the first rank answers. Escape sequences in names of others do not reach the
 * terminal, and lines are fitted to its columns (report/fit.h). A progress bar appears for answers that take longer than a second. */
#include "cli/cli.h"
#include "report/fit.h"
#include "serve/web.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_ANSWER = 0, EXIT_INFEASIBLE = 1, EXIT_USAGE = 2 };

/* Ends the process, and with MPI all ranks. */
static void memory_gone(void *context)
{
    const struct ranks *ranks = context;
    if (ranks_alone(ranks))
        fprintf(stderr, "chalkline: out of memory\n");
    else
        fprintf(stderr, "chalkline: rank %d of %d: out of memory\n", ranks->rank, ranks->count);
    ranks_abort(ranks, EXIT_USAGE);
    _exit(EXIT_USAGE);
}

/* All ranks of an MPI run have the same error; the first one prints it. */
static int report(const struct ranks *ranks, const struct error *error)
{
    const int status = error->infeasible ? EXIT_INFEASIBLE : EXIT_USAGE;
    if (ranks->rank)
        return status;
    struct arena arena = { 0 };
    struct buffer text = { .arena = &arena }, fitted = { .arena = &arena };
    buffer_print(&text, "chalkline: %s\n", error->what);
    if (*error->hint)
        buffer_print(&text, "  %s: %s\n", error_label(error), error->hint);
    text_fit(&fitted, (struct text){ text.data, text.size }, terminal_columns(STDERR_FILENO));
    fwrite(fitted.data, 1, fitted.size, stderr);
    arena_free(&arena);
    return status;
}

/* Names in an answer may come from other people's files: escape sequences must not reach the terminal. */
static void write_answer(const struct buffer *buffer)
{
    struct text text = { buffer->data, buffer->size };
    struct buffer plain = { .arena = buffer->arena };
    size_t size = buffer->size ? text_plain(text, "\n\t") : 0;
    if (size < buffer->size) {
        buffer_add_plain(&plain, text, "\n\t");
        text = (struct text){ plain.data, plain.size };
    }
    if (text.size)
        fwrite(text.data, 1, text.size, stdout);
}

/* The text of an answer on a terminal: no line is wider, and the headline is bold where the terminal can. */
static void write_text(const struct command *command, const struct buffer *answer)
{
    const size_t columns = command_given(command, "emit") ? 0 : command->columns;
    struct text rest = { answer->data, answer->size };
    if (terminal_bold() && rest.size) {
        struct buffer head = { .arena = answer->arena };
        text_fit(&head, text_line(&rest), columns);
        fputs("\033[1m", stdout);
        write_answer(&head);
        fputs("\033[0m\n", stdout);
    }
    struct buffer text = { .arena = answer->arena };
    text_fit(&text, rest, columns);
    write_answer(&text);
}

static void write_out(const struct buffer *buffer)
{
    if (buffer->size)
        fwrite(buffer->data, 1, buffer->size, stdout);
}

static int answer_question(struct arena *arena, const struct command *command)
{
    const struct ranks *ranks = command->ranks;
    struct error error = { .what = "" };
    const bool reported = command_given(command, "report");
    const bool documented = command->verb->documented || command_given(command, "json") || reported;
    struct answer answer = { .doc = documented ? doc_new(arena, DOC_OBJECT) : NULL,
                             .text.arena = arena, .text.columns = command->columns,
                             .csv.arena = command_given(command, "csv") ? arena : NULL };
    bool answered = command_answer(arena, command, &answer, &error) &&
                    (!reported || ranks->rank || report_write(arena, command, program_words, &answer, &error));
    if (command->progress)
        command->progress(1);
    struct buffer json = { .arena = arena };
    if (!answered && command_given(command, "json") && !ranks->rank) {
        struct doc *failed = doc_new(arena, DOC_OBJECT);
        error_document(arena, &error, failed);
        doc_print(&json, failed);
        write_answer(&json);
    }
    if (!answered)
        return report(ranks, &error);
    if (ranks->rank)
        return EXIT_ANSWER;
    if (command_given(command, "json"))
        doc_print(&json, answer.doc);
    if (command_given(command, "csv") && !answer.csv.size) {
        error_set(&error, "--csv: the answer of '%s' is not a table", command->verb->name);
        error_expected(&error, "--json");
        return report(ranks, &error);
    }
    if (command_given(command, "json") || command_given(command, "csv"))
        write_answer(command_given(command, "json") ? &json : &answer.csv);
    else
        write_text(command, &answer.text);
    return answer.status;
}

/* A progress bar, shown after one second and erased at the end. */
static void show_progress(double share)
{
    enum { WIDTH = 40 };
    static struct timespec begin;
    static bool shown;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!begin.tv_sec)
        begin = now;
    if (share >= 1) {
        fprintf(stderr, shown ? "\r\033[K" : "");
        shown = false;
    } else if (now.tv_sec - begin.tv_sec > 1) {
        int filled = (int)(share * WIDTH);
        fprintf(stderr, "\r[%.*s%*s] %3.0f %%", filled,
                "########################################", WIDTH - filled, "", 100 * share);
        shown = true;
    }
}

static int run_words(struct arena *arena, const struct ranks *ranks, int count, char **words)
{
    struct command command = { .verbs = cli_verbs(), .ranks = ranks, .columns = terminal_columns(STDOUT_FILENO) };
    struct error error = { .what = "" };
    struct buffer text = { .arena = arena };
    if (reference_answers(arena, count, words, &text, &error) || help_answers(arena, count, words, &text, &error)) {
        if (*error.what)
            return report(ranks, &error);
        write_out(&text);
        return EXIT_ANSWER;
    }
    if (!command_read(arena, count, words, &command, &error))
        return report(ranks, &error);
    bool ended = false;
    if (!net_begins(arena, &command, &ended, &error))
        return report(ranks, &error);
    if (ended || (ranks->rank && !command.verb->divided))
        return EXIT_ANSWER;
    quiz_keep(arena, &command);
    if (quiz_talks(&command))
        return quiz_talk(arena, &command, &error) ? EXIT_ANSWER : report(ranks, &error);
    if (!ranks->rank && isatty(STDERR_FILENO))
        command.progress = show_progress;
    return answer_question(arena, &command);
}

/* The first files that are opened must not take the places of streams that the caller closed. What then stands in the
 * place of standard output cannot be written, so that the answer is lost and not in another file. */
static void occupy_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR) != stream)
            _exit(EXIT_USAGE);
}

/* Recursive walks need a stack, and one that ends crashes the program. */
static void check_stack(void)
{
    enum { LEAST = 256 << 10 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST)
        return;
    fprintf(stderr, "chalkline: the stack may have %ju kB\n  expected: ulimit -s %d or more\n", (uintmax_t)stack.rlim_cur >> 10, LEAST >> 10);
    _exit(EXIT_USAGE);
}

/* Whatever the verb: an answer that was lost is no success. */
static int output_written(int status)
{
    const bool lost = fflush(stdout) || ferror(stdout);
    if (!fclose(stdout) && !lost)
        return status;
    fprintf(stderr, "chalkline: the output could not be written\n");
    return EXIT_USAGE;
}

char **program_words;

int main(int count, char **words)
{
    static struct arena arena;
    static struct ranks ranks;
    program_words = words;
    occupy_streams();
    check_stack();
    signal(SIGXFSZ, SIG_IGN);                                   /* a file that grows too large is an error of its write */
    ranks_open(&ranks);
    if (ranks.rank && !freopen("/dev/null", "w", stdout))       /* only the first rank prints */
        ranks_abort(&ranks, EXIT_USAGE);
    arena.exhausted = memory_gone;
    arena.context = &ranks;
    const char *fail_after = getenv("CHALKLINE_FAIL_AFTER");    /* the harsh tests */
    if (fail_after)
        arena.fail_after = strtoul(fail_after, NULL, 10);
    const int status = output_written(run_words(&arena, &ranks, count, words));
    arena_free(&arena);
    ranks_close(&ranks);
    return status;
}
