/* source -- where readings come from: a server's page, a scrape in a file, a recording, a Prometheus server. */
#ifndef WATCH_SOURCE_H
#define WATCH_SOURCE_H

#include "ask/ask.h"

enum { SCRAPE_MOST = 64 << 20 };

enum source_kind { SOURCE_URL, SOURCE_FILE, SOURCE_RECORDING, SOURCE_PROMETHEUS };
struct metrics_source {
    enum source_kind kind;
    const char *name;               /* as the command has it */
    const char *url;                /* of the page; of a Prometheus server its beginning */
    const char *job;                /* or NULL */
    double patience;                /* s */
    struct text recording;          /* what is left of it */
    const char *fresh;              /* a page that was read to see what it is, and is still to be taken; or NULL */
    size_t fresh_size;
    double fresh_at;
};

extern const char recording_head[];     /* the first line of a recording */

/* What was read at a time: the text format, or why there was none. */
struct scrape {
    double at;                      /* Unix time, s, to the millisecond */
    struct text text;
    const char *away;               /* NULL: there is a text */
    bool past;                      /* it was before the first reading: nothing is answered of it */
};

/* The command's only word. False: several words, a file that is none, an answer that is no page of metrics. A
 * server that does not answer is an error only with --once. */
bool source_open(struct arena *arena, const struct command *command, struct metrics_source *source, struct error *error);
void source_close(struct metrics_source *source);
/* Read once. What cannot be read is an error. */
bool source_read(struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error);
/* The same for following: what cannot be read is `away`. False: a recording has ended. */
bool source_next(struct metrics_source *source, struct arena *arena, struct scrape *scrape, struct error *error);
/* Of a Prometheus server: the scrapes of the last `seconds`, `step` apart, the earliest first. */
bool source_history(struct metrics_source *source, struct arena *arena, double seconds, double step,
                    struct scrape **scrapes, size_t *count, struct error *error);
/* A scrape as a recording has it. */
void source_record(struct buffer *out, const struct scrape *scrape);

#endif
