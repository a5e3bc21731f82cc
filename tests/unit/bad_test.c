/* Bad input: what the command line says and how it ends, whole messages as data.
 *
 *     $ chalkline eval bound_setp
 *     chalkline: no row is called 'bound_setp'
 *       hint: did you mean 'bound_step'? `chalkline list rows` lists all rows
 *     exit 2
 *
 * Words are separated by single spaces. Nothing may come on standard output; but where the answer
 * is that nothing does (exit 1), it is there, and the lines are some of it. Then memory
 * that ends at the n-th allocation, and output that cannot be written. The program is
 * $CHALKLINE or ./chalkline; runs in the root of the tree.
 *
 * bad_test --write puts what the program says now in the place of what was expected, all else in
 * the file as it is; a new case is then its command and a blank line. */
#include "test.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct outcome {
    int status;                     /* exit status, or 128 + signal */
    const char *out, *err;
};

static const char *program(void)
{
    const char *path = getenv("CHALKLINE");
    return path ? path : "./chalkline";
}

/* ---- running ----------------------------------------------------------------------------- */

static const char *slurp(struct arena *arena, FILE *file)
{
    struct buffer all = { .arena = arena };
    char block[4096];
    buffer_add(&all, "", 0);
    rewind(file);
    for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;)
        buffer_add(&all, block, size);
    fclose(file);
    return all.data;
}

static void run(struct arena *arena, char **words, const char *out_path, struct outcome *outcome)
{
    FILE *out = tmpfile(), *err = tmpfile();
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    assert_true(out && err);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (out_path)
        posix_spawn_file_actions_addopen(&actions, 1, out_path, O_WRONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(err), 2);
    if (posix_spawn(&child, program(), &actions, NULL, words, environ))
        fail_msg("%s does not run", program());
    assert_int_equal(waitpid(child, &status, 0), child);
    posix_spawn_file_actions_destroy(&actions);
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome->out = slurp(arena, out);
    outcome->err = slurp(arena, err);
}

static char **split(struct arena *arena, struct text line)
{
    char **words = NULL;
    size_t count = 0, room = 0;
    for (bool more = true; more;) {
        const char *space = line.size ? memchr(line.data, ' ', line.size) : NULL;
        size_t size = space ? (size_t)(space - line.data) : line.size;
        *(char **)arena_push(arena, &words, &count, &room, sizeof *words) =
            arena_copy(arena, line.data, size);
        more = space != NULL;
        line.data += size + more, line.size -= size + more;
    }
    *(char **)arena_push(arena, &words, &count, &room, sizeof *words) = NULL;
    return words;
}

/* ---- cases ---------------------------------------------------------------------------------- */

#define CASES "tests/cases/bad.cases"

struct bad_case {
    int line;                       /* of the command */
    struct text command;            /* "$ chalkline ..." */
    struct text expected;           /* between the command and "exit" */
    int status;                     /* -1: no "exit": a case without its answer */
    struct text after;              /* what follows, from the line of "exit" on */
};

/* From `rest` to the end of the next case; false: none is left. `line` counts. */
static bool next_case(struct text *rest, int *line, struct bad_case *one)
{
    struct text at = *rest, text;
    do {
        if (!at.size)
            return false;
        text = text_line(&at);
        ++*line;
    } while (!text.size || text.data[0] != '$');
    *one = (struct bad_case){ .line = *line, .command = text, .expected = { at.data, 0 },
                              .status = -1, .after = at };
    bool blank = false;
    for (int lines = 1; at.size; lines++) {
        const char *begin = at.data;
        double status;
        text = text_line(&at);
        if (text.size && text.data[0] == '$')
            break;
        if (text.size > 5 && !memcmp(text.data, "exit ", 5)) {
            assert_true(text_number((struct text){ text.data + 5, text.size - 5 }, &status));
            one->expected.size = (size_t)(begin - one->expected.data);
            one->status = (int)status;
            one->after = at;
            *line += lines;
            break;
        }
        blank |= !text.size;
        if (!blank)                 /* of a case without its end: what looks like an answer */
            one->after = at, one->expected.size = (size_t)(at.data - one->expected.data);
    }
    if (one->status < 0)
        for (const char *c = one->command.data; c < one->after.data; c++)
            *line += c >= one->expected.data && *c == '\n';
    *rest = one->after;
    return true;
}

static void run_case(struct arena *arena, const struct bad_case *one, struct outcome *outcome)
{
    run(arena, split(arena, (struct text){ one->command.data + 2, one->command.size - 2 }), NULL,
        outcome);
}

/* An error of a command that could be read stands on standard output as JSON, where that was asked for. */
static bool out_is_right(struct arena *arena, const struct bad_case *one, const struct outcome *outcome)
{
    static const char begins[] = "{\n  \"error\": {";
    const bool json = strstr(arena_copy(arena, one->command.data, one->command.size), " --json") != NULL;
    return !*outcome->out || (json && !strncmp(outcome->out, begins, sizeof begins - 1));
}

/* Of an answer with status 1 the case has only some lines, unless standard error has it: then all of them. */
static bool as_expected(struct arena *arena, const struct bad_case *one,
                        const struct outcome *outcome)
{
    const char *lines = arena_copy(arena, one->expected.data, one->expected.size);
    return outcome->status == one->status &&
           (one->status == 1 && !*outcome->err ? strstr(outcome->out, lines) != NULL
                                               : text_is(one->expected, outcome->err) && out_is_right(arena, one, outcome));
}

static bool check_case(const struct bad_case *one)
{
    struct arena arena = { 0 };
    struct outcome outcome;
    run_case(&arena, one, &outcome);
    const bool good = as_expected(&arena, one, &outcome);
    if (!good)
        fprintf(stderr, CASES ":%d: %.*s\nexpected\n%.*sexit %d\ngot\n%sexit %d\n%s%s\n", one->line,
                (int)one->command.size, one->command.data, (int)one->expected.size,
                one->expected.data, one->status, outcome.err, outcome.status,
                *outcome.out ? "and on standard output\n" : "", outcome.out);
    arena_free(&arena);
    return good;
}

static void messages(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text rest;
    struct bad_case one;
    int line = 0, cases = 0, failed = 0;
    if (!file_read(&arena, CASES, 1 << 24, &rest, &error))
        fail_msg("%s", error.what);
    for (; next_case(&rest, &line, &one); cases++)
        failed += !check_case(&one);
    arena_free(&arena);
    printf(CASES ": %d cases\n", cases);
    if (failed || !cases)
        fail_msg("%d of %d cases failed", failed, cases);
}

/* The program's words for a case; its own, where they still hold. false: it is no bad input. */
static bool write_case(struct arena *arena, const struct bad_case *one, struct buffer *out)
{
    struct outcome outcome;
    run_case(arena, one, &outcome);
    const bool holds = as_expected(arena, one, &outcome);
    const char *said = *outcome.err ? outcome.err : outcome.out;
    if (holds)
        buffer_add(out, one->expected.data, one->expected.size);
    else
        buffer_print(out, "%s", said);
    buffer_print(out, "exit %d\n", outcome.status);
    if (!holds)
        printf(CASES ":%d: written: %.*s\n", one->line, (int)one->command.size, one->command.data);
    if (outcome.status == 1 || (outcome.status != 0 && out_is_right(arena, one, &outcome)))
        return true;
    printf(CASES ":%d: exit %d, and output where none may be\n", one->line, outcome.status);
    return false;
}

static int write_cases(void)
{
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct error error;
    struct text rest;
    struct bad_case one;
    int line = 0, bad = 0;
    if (!file_read(&arena, CASES, 1 << 24, &rest, &error)) {
        printf("%s\n", error.what);
        return 2;
    }
    const char *done = rest.data, *end = rest.data + rest.size;
    while (next_case(&rest, &line, &one)) {
        buffer_add(&out, done, (size_t)(one.expected.data - done));
        if (out.data[out.size - 1] != '\n')         /* a command that ends the file */
            buffer_print(&out, "\n");
        bad += !write_case(&arena, &one, &out);
        done = one.after.data;
    }
    buffer_add(&out, done, (size_t)(end - done));
    FILE *file = fopen(CASES, "wb");
    const bool written = file && fwrite(out.data, 1, out.size, file) == out.size;
    if (!file || fclose(file) || !written) {
        printf(CASES ": cannot be written\n");
        bad++;
    }
    arena_free(&arena);
    return bad > 0;
}

/* ---- a harsh machine ------------------------------------------------------------------------ */

/* Each allocation that fails ends in one message; none in a crash. */
static void memory_ends(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "chalkline eval bound_step --set batch=1..64",
        "chalkline deepseek-v3 --on gb200-nvl72", "chalkline why bound_step --model gpt-oss-120b",
        "chalkline bill agent --model gpt-5",
    };
    size_t ended = 0;
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct outcome outcome = { .status = 2 };
        for (unsigned long n = 1; outcome.status != 0; n += 1 + n / (8 * (unsigned long)rounds(1)), ended++) {
            struct arena arena = { 0 };
            setenv("CHALKLINE_FAIL_AFTER", arena_print(&arena, "%lu", n), 1);
            run(&arena, split(&arena, text_of(commands[i])), NULL, &outcome);
            unsetenv("CHALKLINE_FAIL_AFTER");
            if (outcome.status != 0 && (outcome.status != 2 ||
                                        strcmp(outcome.err, "chalkline: out of memory\n")))
                fail_msg("%s, allocation %lu: exit %d, %s", commands[i], n, outcome.status,
                         outcome.err);
            arena_free(&arena);
        }
    }
    printf("%zu runs out of memory\n", ended - COUNT(commands));
}

static void output_is_full(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct outcome outcome;
    if (access("/dev/full", W_OK))
        skip();
    run(&arena, split(&arena, text_of("chalkline eval bound_step")), "/dev/full", &outcome);
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.err, "chalkline: the output could not be written\n");
    arena_free(&arena);
}

int main(int count, char **words)
{
    if (count == 2 && !strcmp(words[1], "--write"))
        return write_cases();
    if (count > 1) {
        printf("bad_test: unknown words; expected: nothing, or --write alone\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(output_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
