/* Sockets that listen, for the servers of the program: addresses are resolved, since "localhost" may be
 * ::1 and 127.0.0.1, and the first that can be bound is taken. */
#define _GNU_SOURCE
#include "base/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static int listen_at(const struct addrinfo *place)
{
    int fd = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind(fd, place->ai_addr, place->ai_addrlen) && !listen(fd, BACKLOG))
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

bool listen_open(const char *address, unsigned port, const char *option, int *listener, struct error *error)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
    char digits[16];
    snprintf(digits, sizeof digits, "%u", port);
    int status = getaddrinfo(address, digits, &wanted, &found);
    if (status) {
        error_set(error, "--bind: '%.100s': %s", address, gai_strerror(status));
        return error_expected(error, "an address of this machine: 127.0.0.1, ::1, 0.0.0.0");
    }
    *listener = -1;
    for (const struct addrinfo *at = found; at && *listener < 0; at = at->ai_next)
        *listener = listen_at(at);
    int reason = errno;
    freeaddrinfo(found);
    if (*listener >= 0)
        return true;
    error_set(error, "cannot listen at %s, port %s: %s", address, digits, strerror(reason));
    return error_expected(error, "another %s; 0 is any that is free", option);
}

const char *listen_url(struct arena *arena, int listener, bool *loopback)
{
    struct sockaddr_storage place;
    socklen_t size = sizeof place;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    getsockname(listener, (struct sockaddr *)&place, &size);
    getnameinfo((struct sockaddr *)&place, size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    bool six = place.ss_family == AF_INET6;
    *loopback = six ? !strcmp(host, "::1") : !strncmp(host, "127.", 4);
    return arena_print(arena, six ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
}
