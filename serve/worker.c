/* Answers one question in a process of its own, so that its time and memory end with it and it can
 * open no file.
 *
 * The server has one thread, so that a fork is sufficient. The child keeps one pipe, limits its
 * memory and CPU time, can open no further file, and writes the outcome and the answer to the
 * pipe. The parent treats what it reads as untrusted: an unknown outcome, a signal or a silent end
 * becomes an error. A child that exceeds its time is killed. */
#define _GNU_SOURCE
#include "base/guard.h"
#include "serve/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The sanitizers keep a shadow of all memory, which counts as data. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { ANSWER_FD = 3, FILES = 4 };
enum { ANSWER_MOST = 256 << 20 };

/* ---- the child ----------------------------------------------------------------------------- */

static void keep_only(int pipe)
{
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (pipe != ANSWER_FD)
        dup2(pipe, ANSWER_FD);
    if (close_range(FILES, ~0u, 0))
        for (int fd = FILES; fd < sysconf(_SC_OPEN_MAX); fd++)
            close(fd);
}

static void limit(int what, rlim_t most)
{
    setrlimit(what, &(struct rlimit){ most, most });
}

static void confine(const struct worker_limits *limits)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef _OPENMP
    int share = (int)(cores / (long)limits->running);
    omp_set_num_threads(share > 1 ? share : 1);     /* clang's opens a file as it begins */
#endif
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, FILES);                    /* all that there are */
    limit(RLIMIT_CPU, (rlim_t)(limits->seconds * (double)cores) + 2);
    if (!SANITIZED)
        limit(RLIMIT_DATA, limits->memory);
}

static void tell(const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(ANSWER_FD, data, size);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0)
            data += written, size -= (size_t)written;
    }
}

static void say(enum outcome outcome, const struct buffer *json)
{
    char first = (char)outcome;
    tell(&first, 1);
    if (json)
        tell(json->data, json->size);
}

struct answering {
    const struct request *request;
    struct arena arena;
    struct buffer json;
    enum outcome outcome;
};

static void answer_request(void *context)
{
    struct answering *answering = context;
    answering->outcome = request_answer(&answering->arena, answering->request, &answering->json);
}

static _Noreturn void answer(const struct request *request, const struct worker_limits *limits)
{
    static struct answering answering;
    answering.request = request;
    answering.arena.most = limits->memory;
    answering.json.arena = &answering.arena;
    if (guarded(answer_request, &answering, NULL, NULL, NULL))
        say(OUTCOME_MEMORY, NULL);
    else
        say(answering.outcome, &answering.json);
    _exit(0);
}

/* ---- the server's side --------------------------------------------------------------------- */

bool worker_start(struct worker *worker, struct arena *arena, const struct request *request,
                  const struct worker_limits *limits, double now)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t process = fork();
    if (!process) {
        keep_only(ends[1]);
        confine(limits);
        answer(request, limits);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *worker = (struct worker){ process, ends[0], { .arena = arena }, now + limits->seconds };
    return true;
}

bool worker_read(struct worker *worker)
{
    char block[65536];
    for (;;) {
        ssize_t size = read(worker->pipe, block, sizeof block);
        if (size < 0)
            return errno != EAGAIN && errno != EINTR;
        if (!size || worker->answer.size > ANSWER_MOST)
            return true;
        buffer_add(&worker->answer, block, (size_t)size);
    }
}

static void explain(enum outcome outcome, int status, const struct worker_limits *limits,
                    struct error *error)
{
    error_set(error, "%s", outcomes[outcome].meaning);
    if (outcome == OUTCOME_TIME)
        error_suggest(error, "the limit is %g s: ask for less, or raise it with `chalkline serve "
                      "--time-limit`", limits->seconds);
    else if (outcome == OUTCOME_MEMORY)
        error_suggest(error, "the limit is %zu MB: ask for less, or raise it with `chalkline serve "
                      "--memory-limit`", limits->memory / 1000000);
    else
        error_suggest(error, "it ended by signal %d: it needed more memory than --memory-limit, or chalkline "
                      "has a bug", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Only what a child may say: its first byte is as little to be trusted as what it read. */
static enum outcome outcome_said(const struct buffer *said, int status)
{
    const char first = said->size && WIFEXITED(status) ? said->data[0] : OUTCOME_BROKEN;
    return first == OUTCOME_ANSWERED || first == OUTCOME_BAD || first == OUTCOME_MEMORY
               ? (enum outcome)first : OUTCOME_BROKEN;
}

enum outcome worker_end(struct worker *worker, const struct worker_limits *limits, bool late,
                        struct text *json)
{
    struct error error = { .what = "" };
    struct buffer *said = &worker->answer, told = { .arena = said->arena };
    int status = 0;
    kill(worker->process, SIGKILL);                 /* nothing to one that has ended */
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    close(worker->pipe);
    worker->process = 0;
    enum outcome outcome = late ? OUTCOME_TIME : outcome_said(said, status);
    if (outcome == OUTCOME_ANSWERED || outcome == OUTCOME_BAD) {
        *json = (struct text){ said->data + 1, said->size - 1 };
        return outcome;
    }
    explain(outcome, status, limits, &error);
    respond_error(said->arena, &error, &told);
    *json = (struct text){ told.data, told.size };
    return outcome;
}
