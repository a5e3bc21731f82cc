/* served -- a `chalkline serve` to talk to over the loopback, for tests.
 *
 *     serve_with(options) -> running -- get, post -> reply -- parse -> document
 *
 * Every server listens at a port of its own and is ended by the test that began it. */
#ifndef TESTS_UNIT_SERVED_H
#define TESTS_UNIT_SERVED_H

#include "test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WORDS_MOST = 64, PATIENCE = 60 };            /* seconds until a test is given up */

static inline const char *program(void)
{
    const char *path = getenv("CHALKLINE");
    return path ? path : "./chalkline";
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- processes ----------------------------------------------------------------------------- */

/* "chalkline WORDS", at single spaces. */
static inline pid_t begin(const char *line, int *out)
{
    char *words[WORDS_MOST] = { "chalkline" }, *copy = strdup(line), *rest = copy;
    int ends[2], count = 1;
    posix_spawn_file_actions_t actions;
    pid_t child;
    for (char *word; count < WORDS_MOST - 1 && (word = strsep(&rest, " "));)
        words[count++] = word;
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (posix_spawn(&child, program(), &actions, NULL, words, environ))
        fail_msg("%s does not run", program());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    free(copy);
    *out = ends[0];
    return child;
}

static inline struct text read_all(struct arena *arena, int fd)
{
    struct buffer all = { .arena = arena };
    char block[65536];
    buffer_add(&all, "", 0);
    for (ssize_t size; (size = read(fd, block, sizeof block)) > 0;)
        buffer_add(&all, block, (size_t)size);
    close(fd);
    return (struct text){ all.data, all.size };
}

static inline struct text command(struct arena *arena, const char *line)
{
    int out, status;
    pid_t child = begin(line, &out);
    struct text said = read_all(arena, out);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 2)
        fail_msg("chalkline %s: exit %d", line, status);
    return said;
}

struct running {
    pid_t process;
    unsigned port;
};

static inline unsigned read_port(int out)
{
    char line[100] = "";
    for (size_t size = 0; size < sizeof line - 1 && !strchr(line, '\n'); size++)
        if (read(out, line + size, 1) != 1)
            fail_msg("the server did not say where it is: '%s'", line);
    close(out);
    return (unsigned)strtoul(strrchr(line, ':') + 1, NULL, 10);
}

/* The one that a failed test has left; there is one at a time. */
static pid_t left;

static inline void end_left(void)
{
    if (left)
        kill(left, SIGKILL);
    left = 0;
}

static inline struct running serve_with(struct arena *arena, const char *options_text)
{
    int out;
    end_left();
    left = begin(arena_print(arena, "serve --port 0 %s", options_text), &out);
    return (struct running){ left, read_port(out) };
}

static inline void end(struct running server, int how)
{
    int status;
    left = 0;
    kill(server.process, how);
    assert_int_equal(waitpid(server.process, &status, 0), server.process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- HTTP ---------------------------------------------------------------------------------- */

struct reply {
    int status;                     /* 0: hung up without an answer */
    const char *head;
    struct text body;
};

static inline int dial(unsigned port)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ PATIENCE, 0 },
               sizeof(struct timeval));
    assert_int_equal(connect(fd, (struct sockaddr *)&place, sizeof place), 0);
    return fd;
}

static inline void tell(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;                                 /* it may have heard enough */
        data += sent, size -= (size_t)sent;
    }
}

static inline struct reply hear(struct arena *arena, int fd)
{
    struct text all = read_all(arena, fd);
    struct reply reply = { .head = all.data, .body = { "", 0 } };
    const char *split = strstr(all.data, "\r\n\r\n");
    if (!split)
        return reply;
    reply.status = atoi(all.data + strlen("HTTP/1.1 "));
    reply.body = (struct text){ split + 4, all.size - (size_t)(split + 4 - all.data) };
    reply.head = arena_copy(arena, all.data, (size_t)(split - all.data));
    return reply;
}

static inline struct reply http(struct arena *arena, unsigned port, const char *raw)
{
    int fd = dial(port);
    tell(fd, raw, strlen(raw));
    return hear(arena, fd);
}

static inline struct reply get(struct arena *arena, unsigned port, const char *path, const char *more)
{
    return http(arena, port, arena_print(arena, "GET %s HTTP/1.1\r\nHost: localhost:%u\r\n"
                                         "Connection: close\r\n%s\r\n", path, port, more));
}

static inline const char *post_text(struct arena *arena, const char *path, const char *json)
{
    return arena_print(arena, "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                       path, strlen(json), json);
}

static inline struct reply post(struct arena *arena, unsigned port, const char *path, const char *json)
{
    return http(arena, port, post_text(arena, path, json));
}

static inline const struct doc *parse(struct arena *arena, struct text json)
{
    struct doc *doc;
    struct error error;
    if (!json_read(arena, "reply", json, &doc, &error))
        fail_msg("%s in '%.*s'", error.what, (int)json.size, json.data);
    return doc;
}

#endif
