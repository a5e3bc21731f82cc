/* trace -- requests as they came: when, how long, which blocks of a prefix they share.
 *
 *     file --trace_unpack--> text --CSV or JSON lines--> struct trace
 *
 * Azure LLM CSV, BurstGPT CSV, Vidur CSV, Mooncake and Qwen-Bailian JSON lines, and a plain
 * CSV (arrival, input, output); as they are, or packed by gzip or zstd. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "base/base.h"

/* In order of arrival; requests that arrive together keep the order of the file. */
struct trace {
    size_t count;
    double *arrival;                /* s, from the first request on */
    uint32_t *prompt, *output;      /* tokens, at least 1 */
    size_t block;                   /* tokens of a prefix block; 0: the file names none */
    uint64_t *blocks;               /* names of prefix blocks, those of request i from */
    size_t *first;                  /* first[i] to first[i + 1]; [count + 1] */
};

enum { LENGTH_MOST = 100000000 };

/* Times are divided by `scale`. Error: no requests, columns or keys missing, a time that goes
 * back, a length below 1 or above LENGTH_MOST, a packed file that is cut off; with its line. */
bool trace_read(struct arena *arena, const char *path, double scale, struct trace *trace,
                struct error *error);
/* The same from text, for who has it; `path` is for messages. */
bool trace_parse(struct arena *arena, const char *path, struct text text, double scale,
                 struct trace *trace, struct error *error);

/* For readers. The text itself where it is not packed. */
bool trace_unpack(struct arena *arena, const char *path, struct text packed, size_t limit,
                  struct text *text, struct error *error);
bool trace_parse_lines(struct arena *arena, const char *path, struct text text, double scale,
                       struct trace *trace, struct error *error);
bool trace_length(const char *path, int line, double number, const char *words, uint32_t *length,
                  struct error *error);
bool trace_order(const char *path, int line, const struct trace *trace, size_t row,
                 struct error *error);

#endif
