/* web -- the questions, asked by a page or over HTTP.
 *
 *   page:   words ------------------------+-> respond -> one JSON document
 *   server: a request's JSON -> words ----+
 *
 * The page (web/page, TypeScript) holds the engine as WebAssembly: wasm.c has what it
 * calls, board.c the rows that follow its sliders. The server is for programs, and hands
 * the page out; a report is an answer as a document. All answer from ask/, so
 * page, API and command line agree. */
#ifndef WEB_H
#define WEB_H

#include "ask/ask.h"

struct embedded;

/* Answer the words as the command line would; words[0] is the program:
 *
 *   {"status": 0, "answer": {...}, "text": "...", "csv": "..."}      an answer; 1: nothing feasible
 *   {"error": {"what": "...", "hint": "...", "expected": "..."}}     returns false; expected: the hint again,
 *                                                                    if it says what would have been accepted
 *
 * Files are those on the arena's shelf. */
bool respond(struct arena *arena, int count, char **words, struct buffer *json);
/* The same for a command that has been read already. */
bool respond_command(struct arena *arena, const struct command *command, struct buffer *json);
void respond_error(struct arena *arena, const struct error *error, struct buffer *json);

/* ---- a request as a command ------------------------------------------------------------------ */

/* A question as HTTP brings it, or as the library is given it. */
struct request_pair {
    const char *name, *value;       /* of ?name=value; value "" if there is none */
};

struct request {
    const struct verb *verb;
    bool posted;                    /* POST: the body has the options; GET: the pairs have them */
    struct text body;
    struct request_pair *pairs;
    size_t pair_count, pair_room;
};

struct request_command {
    struct command command;
    struct shelf shelf;             /* the files of the request */
};

/* The command of a request, and its files, which become those of the arena (arena->shelf). */
bool request_read(struct arena *arena, const struct request *request,
                  struct request_command *asked, struct error *error);

/* Verbs, options and answers as an OpenAPI document. */
void openapi_print(struct arena *arena, struct buffer *json);
/* The page as HTML. False: chalkline was built without it. */
bool page_html(struct arena *arena, struct text *html, struct error *error);

/* ---- the server ---------------------------------------------------------------------------- */

struct serve_options {
    struct access access;
    unsigned port;                  /* 0: any free port */
    double seconds;                 /* s: time limit of a question, and of receiving a request */
    size_t memory, body;            /* bytes: memory limit of a question, largest request body */
    size_t at_once, waiting;        /* most questions answered concurrently, most that wait */
    const struct embedded *page;    /* what `/` hands out; none: ended by its first */
};

extern const struct verb verb_serve;
bool serve_read(struct arena *arena, const struct command *command, struct serve_options *terms, struct error *error);
/* Serve until SIGINT or SIGTERM; `ready` gets the URL. False: the address cannot be used. */
bool serve(const struct serve_options *terms, void (*ready)(const char *url),
           struct error *error);

/* ---- a report ----------------------------------------------------------------------------
 *
 * An answer as a document (report/document.h), in the file that --report names. The words are those of the program, which
 * NULL ends: without the options of the report they are the question. `live` is what report_live made of it, or NULL: the
 * page, packed, with
 *
 * <script id="answer" type="application/json">{"words": [...], "answer": the JSON that respond
 * writes}</script>
 *
 * which takes the place of null in the page's own line <script id="state" ...>null</script>. */
bool report_write(struct arena *arena, const struct command *command, char **words, const struct answer *answer,
                  struct error *error);
bool report_html(struct arena *arena, const struct command *command, char **words, const struct answer *answer,
                 const char *live, struct buffer *html, struct error *error);
bool report_live(struct arena *arena, const struct embedded *page, int count, char **words, const char **live,
                 struct error *error);
/* JSON as it may stand in a script of a page. */
void report_add_json(struct buffer *html, const char *json);

/* ---- board: rows that follow sliders ----------------------------------------------------
 *
 * The rows that a page shows, of the bound and of the prediction, as two graphs that are built
 * once and evaluated whenever a slider moves:
 *
 *     words, quantities -> board_open -> document: formulas, inputs, what was assumed
 *                            inputs[] -> board_run   -> values[]      (one point)
 *                            inputs[] -> board_sweep -> a column an output
 */
enum board_side { BOARD_BOUND, BOARD_SERVER, BOARD_SIDES };

/* One side of a board. */
struct board_list {
    struct scenario *scenario;      /* NULL: no quantity is of this side */
    const char **texts;             /* expressions, the asked quantities first */
    size_t count, room, asked;      /* number of expressions; their room; number of asked ones */
    struct graph graph;
    double *inputs, *values;        /* [graph.input_count], [count] */
};

struct board {
    struct scenario scenario;
    struct board_list sides[BOARD_SIDES];
};

/* The words are options of `eval`: --model, --on, --set ... A quantity is a row or an expression;
 * "server: NAME" is a row of the prediction, as in `step`. A value that does not exist, such as one of
 * a branch that is not taken, is NaN. */
bool board_open(struct board *board, struct arena *arena, int count, char **words,
                const char *const *quantities, size_t quantity_count, struct doc *doc,
                struct error *error);
void board_run(struct board *board, enum board_side side);
/* Evaluate all outputs along one input: outputs[count][points]. Other inputs are those of the side. */
void board_sweep(const struct board *board, enum board_side side, size_t input,
                 const double *x, size_t points, double *outputs);

#endif
