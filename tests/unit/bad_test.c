/* Bad input: what the command line says and how it ends, whole messages as data.
 *
 *     $ chalkline eval bound_setp
 *     chalkline: no row is called 'bound_setp'
 *       expected: did you mean 'bound_step'? `chalkline list rows` shows all
 *     exit 2
 *
 * Words are separated by single spaces. Nothing may come on standard output; but where the answer
 * is that nothing does (exit 1), it is there, and the lines are some of it. Then memory
 * that ends at the n-th allocation, and output that cannot be written. The program is
 * $CHALKLINE or ./chalkline; runs in the root of the tree. */
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

static bool check_case(struct text command, int line, struct text expected, int status)
{
    struct arena arena = { 0 };
    struct outcome outcome;
    run(&arena, split(&arena, (struct text){ command.data + 2, command.size - 2 }), NULL, &outcome);
    const char *lines = arena_copy(&arena, expected.data, expected.size);
    bool good = outcome.status == status &&
                (status == 1 ? strstr(outcome.out, lines) && !*outcome.err
                             : text_is(expected, outcome.err) && !*outcome.out);
    if (!good)
        fprintf(stderr, "tests/cases/bad.cases:%d: %.*s\nexpected\n%.*sexit %d\ngot\n%sexit %d\n%s%s\n",
                line, (int)command.size, command.data, (int)expected.size, expected.data, status,
                outcome.err, outcome.status, *outcome.out ? "and on standard output\n" : "",
                outcome.out);
    arena_free(&arena);
    return good;
}

static void messages(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text rest, command = { 0 }, expected = { 0 };
    int command_line = 0, cases = 0, failed = 0;
    if (!file_read(&arena, "tests/cases/bad.cases", 1 << 24, &rest, &error))
        fail_msg("%s", error.what);
    for (int number = 1; rest.size; number++) {
        struct text line = text_line(&rest);
        double status;
        if (line.size && line.data[0] == '$') {
            command = line;
            command_line = number;
            expected = (struct text){ rest.data, 0 };
        } else if (line.size > 5 && !memcmp(line.data, "exit ", 5)) {
            assert_true(text_number((struct text){ line.data + 5, line.size - 5 }, &status));
            expected.size = (size_t)(line.data - expected.data);
            failed += !check_case(command, command_line, expected, (int)status);
            cases++;
        }
    }
    arena_free(&arena);
    printf("tests/cases/bad.cases: %d cases\n", cases);
    if (failed || !cases)
        fail_msg("%d of %d cases failed", failed, cases);
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
        for (unsigned long n = 1; outcome.status != 0; n += 1 + n / 8, ended++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(output_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
