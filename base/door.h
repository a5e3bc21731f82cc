/* door -- what every command that listens shares: the socket, limits, the loop, signals.
 *
 *   bytes -> head: its size, time, host, origin, token -> body: its size -> `whole` -> reply, now or later
 *
 * One thread polls libmicrohttpd, the signals that end the program, and what the server watches besides. What a client may
 * hold is bounded before the server sees a request: connections, half of all for one address; the bytes of a head, of a
 * body, and of all bodies and answers together; the seconds in which a head, a body and the reading of an answer end. */
#ifndef BASE_DOOR_H
#define BASE_DOOR_H

#include "base/base.h"

#include <sys/types.h>

struct door;
struct MHD_Connection;
struct MHD_Response;

/* A request, from its head to the end of its answer: the first member of what the server has of it. */
struct exchange {
    struct arena arena;             /* it holds this struct too */
    struct door *door;
    struct exchange *next, *before; /* a ring of all, the oldest first */
    struct MHD_Connection *connection;
    struct door_client *client;
    const char *path, *method, *host;
    bool hosted;                    /* HTTP/1.1: a Host header must be there */
    bool got, posted;               /* GET or HEAD; POST */
    bool whole, suspended, replied;
    int refused;                    /* HTTP status with which it was refused; 0: it was not */
    const char *what, *hint;        /* why, and what would be accepted */
    struct text body;               /* in memory of its own; a NUL is behind it */
    size_t room;                    /* bytes of that memory, of which those are there that were written */
    size_t answer;                  /* bytes of its answer that are kept */
    uint64_t from;                  /* the client's address: IPv4, or the network of IPv6 */
    double began;                   /* s, CLOCK_MONOTONIC */
    struct header_pair { const char *name, *value; } headers[8];    /* of the answer */
    size_t header_count;
    ssize_t (*more)(struct exchange *exchange, char *to, size_t room);
};

/* What a server does with requests. */
struct door_calls {
    size_t size;                                        /* bytes of its struct, of which exchange is the first member */
    void (*head)(struct exchange *exchange);            /* the head is there: exchange_refuse may be called; or NULL */
    void (*whole)(struct exchange *exchange);           /* all is there: reply, stream, or exchange_wait */
    void (*refused)(struct exchange *exchange);         /* reply; NULL: with what `print` says */
    void (*gone)(struct exchange *exchange);            /* it was answered, or the client has gone; or NULL */
    void (*left)(struct exchange *exchange);            /* its client has gone while it waited; or NULL */
    /* The body of a refusal in the server's own form and type; as snprintf. `what` and `hint` need no escape in JSON. */
    int (*print)(char *to, size_t room, int status, const char *what, const char *hint);
    const char *type;
};

struct door_terms {
    const char *address, *option;   /* "127.0.0.1"; the option of the port, for messages */
    unsigned port;                  /* 0: any that is free */
    size_t body;                    /* largest body, bytes */
    double patience;                /* s for a request to come whole, and for its answer to be taken */
    const char *token;              /* that a client must send as a bearer; NULL: none */
    bool insecure;                  /* others than this machine may ask without one */
    const char *body_option;        /* the option that raises `body`; or NULL */
    bool heeds_signals;             /* SIGINT and SIGTERM end it */
};

bool door_open(struct arena *arena, const struct door_terms *terms, const struct door_calls *calls, void *context,
                struct door **opened, struct error *error);
const char *door_url(const struct door *door);       /* "http://127.0.0.1:8080/" */
void *door_context(const struct door *door);
size_t door_connections(const struct door *door);
/* Wait for requests, a signal, or what is watched, until a moment of CLOCK_MONOTONIC, and handle them. */
void door_turn(struct door *door, double until);
void door_hurry(struct door *door);                  /* the next turn does not wait */
/* Signals so far: after the first no new connection is taken; the second asks not to wait for answers. */
int door_signals(const struct door *door);
bool door_is_answering(const struct door *door);     /* does a client wait for an answer, or take one? */
void door_close(struct door *door);

struct exchange *door_first(const struct door *door);            /* the oldest; NULL: none */
struct exchange *door_next(const struct exchange *exchange);

/* `seen` is called in door_turn when the descriptor can be read; the watch must stay where it is until door_unwatch. */
struct door_watch {
    int fd;
    void (*seen)(struct door_watch *watch);
};
void door_watch(struct door *door, struct door_watch *watch);
void door_unwatch(struct door *door, struct door_watch *watch);

/* The value of a header or of ?name=value; NULL: there is none. */
const char *exchange_header(const struct exchange *exchange, const char *name);
const char *exchange_argument(const struct exchange *exchange, const char *name);
void exchange_arguments(struct exchange *exchange, void (*each)(struct exchange *exchange, const char *name, const char *value));
/* The first refusal stands; it is told when the request is whole, or at once where its body is too large. */
void exchange_refuse(struct exchange *exchange, int status, const char *what, const char *hint);
/* Its body has been read; others may have its memory. */
void exchange_forget_body(struct exchange *exchange);
/* Nothing is sent until one of the next two is called, in a turn to come. */
void exchange_wait(struct exchange *exchange);
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
/* Texts stay where they are until the exchange is gone: those of its own arena, or constant ones. */
void exchange_reply(struct exchange *exchange, int status, const char *type, struct text body);
/* An answer of unknown length: `more` gives the next bytes; 0: none now, until exchange_go_on; -1: the end. */
void exchange_stream(struct exchange *exchange, const char *type,
                     ssize_t (*more)(struct exchange *exchange, char *to, size_t room));
void exchange_go_on(struct exchange *exchange);

#endif
