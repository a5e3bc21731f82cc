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
};

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
