/* The parts of the endpoint: what a request asks, what is sent, what is counted. */
#ifndef LIVE_ENDPOINT_H
#define LIVE_ENDPOINT_H

#include "serve/live/live.h"
#include "sim/live.h"

/* ---- openai.c: messages ----------------------------------------------------------------------- */

/* What a request asks, in tokens. */
struct asked_for {
    bool chat, stream, usage, usage_always;     /* usage in a last chunk; in every chunk */
    size_t model;                   /* which of its names the request has; 0 where it has none */
    uint32_t prompt, most;          /* prompt tokens; output tokens, 0: the request states none */
    uint64_t *blocks;               /* [block_count] names of the prompt's prefixes of whole blocks */
    size_t block_count;
};
/* A refusal: the HTTP status, and the error object of the API. */
struct endpoint_refusal {
    int status;                     /* 0: none */
    const char *kind;               /* "BadRequestError" */
    char what[400];
};
bool refuse(struct endpoint_refusal *refusal, int status, const char *kind, const char *format, ...) BASE_PRINTF(4, 5);

/* Tokens of a text: a token for every four bytes, at least one. */
enum { TOKEN_BYTES = 4 };
uint32_t text_tokens(size_t bytes);
/* Reads the body of /v1/completions or /v1/chat/completions. `models` has the model's names, and NULL behind the last. `block`:
 * tokens of a block of the prefix cache; 0: prefixes are not named. */
bool openai_read(struct arena *arena, bool chat, const char *const *models, size_t block, struct text body,
                 struct asked_for *asked, struct endpoint_refusal *refusal);
/* Tokens of a /tokenize request. */
bool openai_tokens(struct arena *arena, struct text body, uint32_t *tokens, struct endpoint_refusal *refusal);

/* An answer as it grows. */
struct answered {
    const char *model;              /* as JSON, quoted */
    uint64_t number;                /* of its id */
    long created;                   /* Unix time, s */
    uint32_t wanted, tokens;        /* output tokens in all; sent so far */
    uint32_t cached;                /* prompt tokens found in the prefix cache */
    double at;                      /* simulated time, s; NAN: not shown */
};
/* Chunks for output tokens up to `tokens`, and what ends the stream after the last. */
void openai_chunks(struct buffer *out, const struct asked_for *asked, struct answered *answer,
                   uint32_t tokens);
/* The answer of a request that does not stream. */
void openai_whole(struct buffer *out, const struct asked_for *asked, const struct answered *answer);
void openai_refusal(struct buffer *out, const struct endpoint_refusal *refusal);
void openai_models(struct buffer *out, const char *const *models, long created, size_t length_most);

/* ---- vllm_metrics.c --------------------------------------------------------------------------- */

enum { BUCKETS_MOST = 24 };
struct histogram {
    uint64_t counts[BUCKETS_MOST + 1], count;   /* not cumulative; the last is beyond the last bound */
    double sum;
};
enum finish { FINISH_STOP, FINISH_LENGTH, FINISH_ABORT, FINISH_COUNT };
enum live_histogram {
    HISTOGRAM_TTFT, HISTOGRAM_ITL, HISTOGRAM_TPOT, HISTOGRAM_E2E, HISTOGRAM_DECODE, HISTOGRAM_PROMPT,
    HISTOGRAM_GENERATION, HISTOGRAM_MAX_TOKENS, HISTOGRAM_ITERATION, HISTOGRAM_COUNT
};
struct replica_counts {
    struct histogram histograms[HISTOGRAM_COUNT];
    uint64_t prompt_tokens, generation_tokens, preemptions, finished[FINISH_COUNT];
};
void counts_observe(struct replica_counts *counts, enum live_histogram which, double value);
/* `replicas` of each: counted so far, and there now. */
void counts_print(struct buffer *out, const char *model, const struct sim_server *server,
                  const struct replica_counts *counts, const struct live_replica *now, size_t replicas,
                  double started);

#endif
