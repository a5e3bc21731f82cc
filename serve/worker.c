/* Answers questions in a process of its own, one after the other, so that their time and memory are bounded and they can
 * reach nothing else.
 *
 * The server has one thread, so that a fork is sufficient. The child keeps one socket, limits its memory, gives up files
 * and all system calls that computing does not need (confine.c), and then reads a question, answers it and waits for the
 * next: what it has read of the catalog stays. The parent treats what it reads as untrusted: an unknown outcome, a signal
 * or a silent end becomes an error. A child that exceeds its time or memory, or was slow, is killed; another takes its
 * place when there is a question.
 *
 *   question: head, names and values of the pairs each ended by a 0, body      answer: outcome, bytes, JSON */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/guard.h"
#include "serve/http_server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
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

enum { SOCKET_FD = 3, FILES = 4 };
enum { ANSWER_MOST = 256 << 20, KEPT_SHARE = 8 };      /* of the memory of a question: graphs for the next ones */

struct question_head {
    uint32_t route, posted, pairs, threads;
    uint64_t pairs_size, body_size;
};
struct answer_head {
    uint64_t outcome, size;
};

/* All of it; false: the other side has gone, or does not take it in time. */
static bool tell(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0)
            at += written, size -= (size_t)written;
    }
    return true;
}

/* ---- the child ----------------------------------------------------------------------------- */

static void keep_only(int fd)
{
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (fd != SOCKET_FD)
        dup2(fd, SOCKET_FD);
    if (close_range(FILES, ~0u, 0))
        for (int at = FILES; at < sysconf(_SC_OPEN_MAX); at++)
            close(at);
}

static void limit(int what, rlim_t most)
{
    setrlimit(what, &(struct rlimit){ most, most });
}

static void confine(const struct worker_limits *limits)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef _OPENMP
    omp_set_num_threads(1);                         /* clang's runtime opens shared memory as it begins */
#endif
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, FILES);                    /* all that there are */
    if (!SANITIZED) {
        limit(RLIMIT_DATA, limits->memory + limits->memory / KEPT_SHARE);
        confine_calls();
    }
}

static void hear(void *to, size_t size)
{
    for (char *at = to; size;) {
        ssize_t got = read(SOCKET_FD, at, size);
        if (!got || (got < 0 && errno != EINTR))
            _exit(0);                               /* nobody asks any more */
        if (got > 0)
            at += got, size -= (size_t)got;
    }
}

static void say(enum outcome outcome, const struct buffer *json)
{
    const struct answer_head head = { outcome, json ? json->size : 0 };
    if (tell(SOCKET_FD, &head, sizeof head) && json)
        tell(SOCKET_FD, json->data, json->size);
}

struct answering {
    struct request request;
    struct question_head head;
    struct arena arena;
    struct buffer json;
};

static void answer_question(void *context)
{
    struct answering *answering = context;
    const struct question_head *head = &answering->head;
    struct request *request = &answering->request;
    char *pairs = arena_alloc(&answering->arena, head->pairs_size + 1), *at = pairs;
    char *body = arena_alloc(&answering->arena, head->body_size + 1);
    hear(pairs, head->pairs_size);
    hear(body, head->body_size);
    *request = (struct request){ .verb = route_verb(head->route), .posted = head->posted, .body = { body, head->body_size },
                                 .pairs = arena_array(&answering->arena, head->pairs + 1, sizeof *request->pairs),
                                 .pair_count = head->pairs };
    for (size_t i = 0; i < head->pairs; i++) {
        request->pairs[i].name = at;
        request->pairs[i].value = at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    say(request_answer(&answering->arena, request, &answering->json), &answering->json);
    arena_free(&answering->arena);              /* here, where the next question finds the memory again */
    asked_graphs_trim();
}

static _Noreturn void answer(const struct worker_limits *limits)
{
    static struct answering answering;
    struct chunks *chunks = chunks_new(limits->memory / KEPT_SHARE / 2);
    for (;;) {
        hear(&answering.head, sizeof answering.head);
        answering.arena = (struct arena){ .most = limits->memory };
        answering.json = (struct buffer){ .arena = &answering.arena };
#ifdef _OPENMP
        omp_set_num_threads((int)answering.head.threads);
#endif
        if (guarded(answer_question, &answering, chunks, NULL, NULL)) {
            say(OUTCOME_MEMORY, NULL);
            _exit(0);
        }
    }
}

/* ---- the server's side --------------------------------------------------------------------- */

bool worker_open(struct worker *worker, const struct worker_limits *limits)
{
    static const struct timeval patience = { 1, 0 };
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    pid_t process = fork();
    if (!process) {
        keep_only(ends[1]);
        confine(limits);
        answer(limits);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    *worker = (struct worker){ .process = process, .socket = ends[0] };
    return true;
}

bool worker_ask(struct worker *worker, struct arena *arena, size_t route, const struct request *request, size_t threads)
{
    struct buffer pairs = { .arena = arena };
    for (size_t i = 0; i < request->pair_count; i++) {
        buffer_add(&pairs, request->pairs[i].name, strlen(request->pairs[i].name) + 1);
        buffer_add(&pairs, request->pairs[i].value, strlen(request->pairs[i].value) + 1);
    }
    const struct question_head head = { (uint32_t)route, request->posted, (uint32_t)request->pair_count, (uint32_t)threads,
                                        pairs.size, request->posted ? request->body.size : 0 };
    worker->answer = (struct buffer){ .arena = arena };
    return tell(worker->socket, &head, sizeof head) && tell(worker->socket, pairs.data, pairs.size) &&
           tell(worker->socket, request->body.data, head.body_size);
}

/* Its head, once it is there. */
static bool head_of(const struct buffer *said, struct answer_head *head)
{
    if (said->size < sizeof *head)
        return false;
    memcpy(head, said->data, sizeof *head);
    return true;
}

bool worker_read(struct worker *worker)
{
    char block[65536];
    struct answer_head head;
    for (;;) {
        ssize_t size = recv(worker->socket, block, sizeof block, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        if (size <= 0 || worker->answer.size > ANSWER_MOST)
            return true;
        buffer_add(&worker->answer, block, (size_t)size);
        if (head_of(&worker->answer, &head) && worker->answer.size >= sizeof head + head.size)
            return true;
    }
}

static void explain(enum outcome outcome, int status, const struct worker_limits *limits,
                    struct error *error)
{
    error_set(error, "%s", outcomes[outcome].meaning);
    if (outcome == OUTCOME_TIME)
        error_suggest(error, "the limit is %g s: ask for less, such as fewer machines or points, or raise it with `chalkline serve "
                      "--time-limit`", limits->seconds);
    else if (outcome == OUTCOME_MEMORY)
        error_suggest(error, "the limit is %zu MB: ask for less, or raise it with `chalkline serve "
                      "--memory-limit`", limits->memory / 1000000);
    else
        error_suggest(error, "it ended by signal %d: it needed more memory than --memory-limit, or chalkline "
                      "has a bug", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Only what a child may say: it is as little to be trusted as what it read. */
static enum outcome outcome_said(const struct buffer *said, struct answer_head *head)
{
    if (!head_of(said, head) || said->size != sizeof *head + head->size)
        return OUTCOME_BROKEN;
    return head->outcome == OUTCOME_ANSWERED || head->outcome == OUTCOME_BAD || head->outcome == OUTCOME_MEMORY
               ? (enum outcome)head->outcome : OUTCOME_BROKEN;
}

static int worker_kill(struct worker *worker)
{
    int status = 0;
    assert(worker->process > 0);                    /* 0 would be all of this program */
    kill(worker->process, SIGKILL);                 /* nothing to one that has ended */
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    close(worker->socket);
    worker->process = 0;
    return status;
}

enum outcome worker_end(struct worker *worker, const struct worker_limits *limits, bool late, bool stays, struct text *json)
{
    struct error error = { .what = "" };
    struct buffer *said = &worker->answer, told = { .arena = said->arena };
    struct answer_head head;
    const enum outcome outcome = late ? OUTCOME_TIME : outcome_said(said, &head);
    const bool good = outcome == OUTCOME_ANSWERED || outcome == OUTCOME_BAD;
    const int status = good && stays ? 0 : worker_kill(worker);
    if (good) {
        *json = (struct text){ said->data + sizeof head, head.size };
        return outcome;
    }
    explain(outcome, status, limits, &error);
    respond_error(said->arena, &error, &told);
    *json = (struct text){ told.data, told.size };
    return outcome;
}

double worker_seconds(const struct worker *worker)
{
    clockid_t clock;
    return clock_getcpuclockid(worker->process, &clock) ? 0 : clock_seconds(clock);
}

void worker_close(struct worker *worker)
{
    worker_kill(worker);
}
