/* http_server -- a request on its way.
 *
 *   HTTP -> route -+-> page, openapi, metrics ------------------------> response
 *                  +-> asked (whole body) -> worker: a process --pipe--> response
 *
 * One thread turns all wheels: libmicrohttpd's and the workers' file descriptors are polled
 * together. A question is answered in a child process of its own, which is given its time,
 * its memory and no file: what a stranger wrote is read there, and whatever it does to
 * it, the server only sees a process end. */
#ifndef WEB_HTTP_SERVER_H
#define WEB_HTTP_SERVER_H

#include "base/embedded.h"
#include "web/web.h"

#include <sys/types.h>

enum outcome {
#define OUTCOME(key, status, reason, meaning) OUTCOME_##key,
#include "web/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
};

struct outcome_row {
    int status;
    const char *reason, *meaning;
};
extern const struct outcome_row outcomes[OUTCOME_COUNT];

/* ---- request: what came, as the words of a command line ------------------------------------ */

struct pair {
    const char *name, *value;       /* of ?name=value; "" for none */
};

struct request {
    const struct verb *verb;
    bool posted;                    /* then the body is the question, else the pairs are */
    struct text body;
    struct pair *pairs;
    size_t pair_count, pair_room;
};

struct request_command {
    struct command command;
    struct shelf shelf;             /* the files that came along */
};

/* Members of a request beside the options of its verb. */
enum member { MEMBER_WORDS, MEMBER_CONFIG, MEMBER_FILES, MEMBER_COUNT };
struct member_row {
    const char *name, *help;
};
extern const struct member_row request_members[MEMBER_COUNT];

bool request_has(const struct option *option);      /* --json and --help are none */
bool request_read(struct arena *arena, const struct request *request,
                  struct request_command *asked, struct error *error);
/* ANSWERED or BAD. The arena's files are the request's from now on. */
enum outcome request_answer(struct arena *arena, const struct request *request,
                            struct buffer *json);

/* ---- what else there is to say ------------------------------------------------------------- */

void openapi_print(struct arena *arena, struct buffer *json);
/* Among all schemas that of a record, and of what is inside it. */
void schema_add(struct arena *arena, struct doc *all, const struct formulas *formulas,
                const struct record *record);

/* Routes: some of their own, then one for each verb that is a question. */
enum route { ROUTE_PAGE, ROUTE_OPENAPI, ROUTE_METRICS, ROUTE_NONE, ROUTE_VERBS };
enum { ROUTES_MOST = ROUTE_VERBS + 32 };
size_t route_count(void);
const char *route_path(size_t route);               /* "/v1/step"; of ROUTE_NONE "other" */
const struct verb *route_verb(size_t route);        /* NULL: no question */
size_t route_find(const char *path);                /* ROUTE_NONE: no such */
bool route_unknown(const char *path, struct error *error);
/* Is this Host (or, with a scheme, Origin) one of a server that listens at `address`? */
bool route_own_host(const char *host, const char *address);

bool handout_there(const struct embedded *page, struct text *packed, struct error *error);
bool handout_unpack(struct arena *arena, struct text packed, struct text *html,
                    struct error *error);
bool handout_takes_gzip(const char *accepted);      /* of an Accept-Encoding, or NULL */

enum { METRICS_BINS = 8 };
struct metrics {
    size_t requests[ROUTES_MOST][OUTCOME_COUNT];
    size_t bins[ROUTES_MOST][METRICS_BINS + 1];     /* each without the ones below; last: longer */
    double seconds[ROUTES_MOST];
    size_t running, waiting, connections;           /* now */
};
void metrics_count(struct metrics *metrics, size_t route, enum outcome outcome, double seconds);
void metrics_print(const struct metrics *metrics, struct buffer *out);

/* ---- worker: a process that answers one question ------------------------------------------- */

struct worker {
    pid_t process;                  /* 0: none */
    int pipe;                       /* its answer comes here */
    struct buffer answer;           /* first its outcome, then what it says */
    double until;
};

/* What the child may take; processors are shared by those that run. */
struct worker_limits {
    double seconds;
    size_t memory, running;
};

bool worker_start(struct worker *worker, struct arena *arena, const struct request *request,
                  const struct worker_limits *limits, double now);
/* Takes what is there; true when it has ended. */
bool worker_read(struct worker *worker);
/* Ends it if it has not ended by itself. What it said, or an error in its place. */
enum outcome worker_end(struct worker *worker, const struct worker_limits *limits, bool late,
                        struct text *json);

#endif
