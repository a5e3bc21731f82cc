/* http_server -- serve the page and the API over HTTP.
 *
 *   door -> route -+-> page, openapi, metrics, remembered answers -----> reply
 *                   +-> its turn -> worker: a process --pipe--> reply
 *
 * A single thread has it all. Questions are answered in child processes with limits of time and memory and without access
 * to files or other processes. Untrusted input is parsed only there, so that at worst a child crashes.
 */
#ifndef WEB_HTTP_SERVER_H
#define WEB_HTTP_SERVER_H

#include "base/embedded.h"
#include "serve/web.h"

#include <sys/types.h>

/* How a request ended, with its HTTP status. */
enum outcome {
#define OUTCOME(key, status, reason, meaning) OUTCOME_##key,
#include "serve/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
};

struct outcome_row {
    int status;
    const char *reason, *meaning;
};
extern const struct outcome_row outcomes[OUTCOME_COUNT];

/* Members of a request besides the options of its verb. */
enum member { MEMBER_WORDS, MEMBER_CONFIG, MEMBER_FILES, MEMBER_COUNT };
struct member_row {
    const char *name, *help;
};
extern const struct member_row request_members[MEMBER_COUNT];

bool request_has(const struct option *option);      /* is it a member? not --json, --help, --version */
/* Answer a request: OUTCOME_ANSWERED or OUTCOME_BAD. The arena's files become those of the request. */
enum outcome request_answer(struct arena *arena, const struct request *request,
                            struct buffer *json);

/* ---- OpenAPI document, routes, page, metrics ------------------------------------------------ */

/* Add the schemas of a record and of the records inside it to `all`. */
void schema_add(struct arena *arena, struct doc *all, const struct formulas *formulas,
                const struct record *record);

/* Routes: a few fixed ones, then one for each verb that the API answers. */
enum route { ROUTE_PAGE, ROUTE_OPENAPI, ROUTE_METRICS, ROUTE_NONE, ROUTE_VERBS };
enum { ROUTES_MOST = ROUTE_VERBS + 32 };
size_t route_count(void);
const char *route_path(size_t route);               /* "/v1/step"; "other" for ROUTE_NONE */
const struct verb *route_verb(size_t route);        /* NULL: a fixed route */
size_t route_find(const char *path);                /* ROUTE_NONE: no such path */
bool route_unknown(const char *path, struct error *error);

bool handout_there(const struct embedded *page, struct text *packed, struct error *error);
bool handout_unpack(struct arena *arena, struct text packed, struct text *html,
                    struct error *error);
bool handout_takes_gzip(const char *accepted);      /* of an Accept-Encoding, or NULL */

enum { METRICS_BINS = 8 };
/* Counters for Prometheus. */
struct metrics {
    size_t requests[ROUTES_MOST][OUTCOME_COUNT];
    size_t bins[ROUTES_MOST][METRICS_BINS + 1];     /* histogram of response times, not cumulative; the
                                                       last bin has the longest */
    double seconds[ROUTES_MOST];                    /* sum of response times, s */
    size_t running, waiting, connections;           /* at present */
};
void metrics_count(struct metrics *metrics, size_t route, enum outcome outcome, double seconds);
void metrics_print(const struct metrics *metrics, struct buffer *out);

/* ---- remembered.c: the last answers, at most 64 MB ------------------------------------------ */

struct remembered;
struct remembered *remembered_new(struct arena *arena);
void remembered_free(struct remembered *remembered);
/* The answer that was given to the same question, copied to the arena; false: there is none. */
bool remembered_find(struct remembered *remembered, struct arena *arena, size_t route, const struct request *request,
                     struct text *answer);
void remembered_keep(struct remembered *remembered, size_t route, const struct request *request, struct text answer);

/* ---- worker: a process that answers questions ---------------------------------------------- */

struct worker {
    pid_t process;                  /* 0: none */
    int socket;                     /* to which it is asked, and from which its answer is read */
    struct buffer answer;           /* what was read: the outcome, then the JSON */
};

/* Limits of a worker. */
struct worker_limits {
    double seconds;
    size_t memory;                  /* bytes */
};

/* Threads of a confined process: the runtime of clang's OpenMP wants more of the kernel to begin some. */
#ifdef __clang__
enum { THREADS_CONFINED = 1 };
#else
enum { THREADS_CONFINED = 256 };
#endif

/* In confine.c: from here on the process can open nothing, reach no other process and no network. What the kernel cannot
 * forbid it leaves. */
void confine_calls(void);

bool worker_open(struct worker *worker, const struct worker_limits *limits);
/* Ask it; false: it does not take the question. Memory of the answer is of the arena. */
bool worker_ask(struct worker *worker, struct arena *arena, size_t route, const struct request *request, size_t threads);
/* Read what is there; true when the answer is whole, or the worker has ended. */
bool worker_read(struct worker *worker);
/* Its answer, or an error; `late`: its time is up. It is killed, unless it has answered and `stays`. */
enum outcome worker_end(struct worker *worker, const struct worker_limits *limits, bool late, bool stays, struct text *json);
double worker_seconds(const struct worker *worker);      /* processor time that it has used, s */
void worker_close(struct worker *worker);

#endif
