/* trace -- requests: when they arrived, their lengths, and which prefix blocks they share.
 *
 *     file --trace_unpack--> text --CSV or JSON lines--> struct trace
 *
 * Azure LLM CSV, BurstGPT CSV, Vidur CSV, Mooncake and Qwen-Bailian JSON lines, and a plain CSV
 * `arrival,input,output[,class][,session][,wait]`; as they are, or packed by gzip or zstd. A
 * class is a word, a session too: its requests are turns, in the order of the file. Files of
 * lengths alone (Vidur's, or prompt_len,output_len) are accepted by trace_lengths; arrivals are then drawn. */
#ifndef SIM_TRAFFIC_TRACE_H
#define SIM_TRAFFIC_TRACE_H

#include "base/base.h"

enum { TRACE_CLASSES = 8 };

struct trace;

/* What has to be known of all requests before the first arrives. */
struct trace_sums {
    double prompts, outputs, prompt_squares, output_squares;    /* tokens; sums of their squares */
    size_t longest, longest_prompt;     /* the first request with the most tokens; with the longest prompt */
    uint64_t most;                      /* tokens of the former, and of the prompt of the latter */
    uint32_t most_prompt;
    double last;                        /* when the last one arrives, s */
};

/* Who draws a long trace while it is read. */
struct trace_source {
    struct trace_sums sums;
    /* Fill the arrays of the trace for the requests first <= i < end, the next in order. */
    void (*draw)(struct trace_source *source, const struct trace *trace, size_t first, size_t end);
};

/* In order of arrival; requests that arrive together keep the order of the file. */
struct trace {
    size_t count;
    double *arrival;                /* s, from the first request on */
    uint32_t *prompt, *output;      /* tokens, at least 1 */
    size_t block;                   /* tokens of a prefix block; 0: the file names none */
    uint64_t *blocks;               /* names of prefix blocks, those of request i from */
    size_t *first;                  /* first[i] to first[i + 1]; [count + 1] */

    size_t priority_classes;        /* classes of requests; 0: the file has none */
    const char *class_names[TRACE_CLASSES];
    uint8_t *priority_class;        /* of each request; NULL without classes */

    /* Sessions: a later turn's prompt begins with all of the turn before, as far as it reaches,
     * and it is asked when that is answered and `wait` has passed, whatever `arrival`; wait NAN:
     * at `arrival`, or with the answer if that is later. Several may follow the same one. NULL:
     * no request has a turn before. */
    uint32_t *before;               /* the turn before, by number, always lower; UINT32_MAX: none */
    double *wait;                   /* s */

    double arrivals_cv2;            /* squared coefficient of variation of the gaps, as described; of a file 1 */

    /* NULL: all requests are there. Otherwise `arrival`, `prompt` and `output` have room for all of them, and a run
     * draws and forgets them (sim/window.h); such a trace has no blocks, classes or sessions. */
    struct trace_source *source;
};

struct trace_sums trace_sums_of(const struct trace *trace);
/* One more request, number i, which arrives last. */
void trace_sums_add(struct trace_sums *sums, size_t i, double arrival, uint32_t prompt, uint32_t output);

enum { LENGTH_MOST = 100000000, TIME_MOST = 1000000000 };

/* All times are divided by `scale`, waits too. Error: no requests, columns or keys missing, a
 * time that goes back or is beyond TIME_MOST, a length below 1 or above LENGTH_MOST, more classes
 * than TRACE_CLASSES, a packed file that is cut off; with its line. */
bool trace_read(struct arena *arena, const char *path, double scale, struct trace *trace,
                struct error *error);
/* The same from a text in memory; `path` appears in messages only. */
bool trace_parse(struct arena *arena, const char *path, struct text text, double scale,
                 struct trace *trace, struct error *error);

/* The factor on the arrival rate after which `rate` requests arrive per second. Error: all arrive at once. */
bool trace_scale(const struct trace *trace, double rate, double *scale, struct error *error);

struct trace_lengths {
    size_t count;
    uint32_t *prompt, *output;
};
/* Of a file of lengths, or of any trace. */
bool trace_lengths(struct arena *arena, const char *path, struct trace_lengths *lengths,
                   struct error *error);

#endif
