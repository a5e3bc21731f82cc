/* generate -- a trace from a description in one word.
 *
 *     poisson:rate=5,count=10000,input=1000,output=lognormal(200,cv=0.8)
 *     gamma:rate=2,cv=3,duration=1h,lengths=arxiv.csv.gz,class=fast(1)|slow(9)
 *     poisson:rate=2,turns=geometric(4),wait=exponential(30s),seed=7
 *
 *     kind[:key=value{,key=value}]        commas inside parentheses belong to the value
 *
 * Sessions arrive: `poisson`, `gamma` (gaps with a coefficient of variation: above 1 they come in
 * bursts) or `constant`, the first at 0. A session has `turns`, one unless said: each later turn
 * is asked when the one before is answered and a wait has passed, and its prompt is all of the
 * one before, its answer, and an `input` of its own. All turns of a session are of one class.
 *
 * A turn's place in the trace is where it would be if answers took no time: the arrival of the
 * session plus the waits so far. That is its `arrival`, which is no later than it can be asked;
 * so a trace is in order, and a turn comes after the one before it.
 *
 * Arrivals, inputs, outputs, turns, waits and classes are drawn apart, and for each session
 * apart: changing the wait leaves all lengths as they were, and more sessions leave the first
 * ones as they were. The same words give the same trace on every machine. */
#ifndef SIM_TRAFFIC_GENERATE_H
#define SIM_TRAFFIC_GENERATE_H

#include "sim/traffic/trace.h"

enum { GENERATE_MOST = 10000000 };          /* requests that are kept */
enum { GENERATE_DRAWN_MOST = 1000000000 };  /* requests that are drawn while they are read */
enum { GENERATE_KEPT = 100000 };            /* more may be drawn while they are read */

/* What a description may say. `usual`: where it does not; NULL: nothing. `also`: other names, NULL after the last. */
struct generate_key {
    const char *name, *usual, *accepted, *help, *also[2];
};
extern const struct generate_key generate_keys[];
extern const size_t generate_key_count;

bool generate_is(const char *words);    /* a known kind, alone or with ':' after it */
/* What options change of a description. All zero: nothing. */
struct generate_change {
    double rate;                /* requests per second, turns included; 0: as described */
    bool arrivals;              /* the squared variation of the gaps is `cv2`: 0 even, 1 random */
    double cv2;
    const char *input, *output; /* lengths, as a description writes them; NULL: as described */
    uint64_t seed;              /* added to the seed of the draws */
    bool vary;                  /* outputs of one length vary by a tenth, unless arrivals are even */
    bool varied;                /* set by generate_changed: they do */
    bool forget;                /* the caller can do without the requests: more than GENERATE_KEPT, of one turn and
                                   without classes, are drawn while they are read (trace->source) */
};
/* Error: a key that is not known, given twice or without meaning here; a value that it cannot
 * be; more than GENERATE_MOST requests (GENERATE_DRAWN_MOST), a prompt that grows beyond LENGTH_MOST, a session that
 * waits beyond TIME_MOST. */
bool generate_trace(struct arena *arena, const char *words, struct trace *trace,
                    struct error *error);
/* The trace of a changed description. Error: as generate_trace; a change of something that the words set. */
bool generate_changed(struct arena *arena, const char *words, struct generate_change *change, struct trace *trace,
                      struct error *error);
/* The same requests once more, if they are drawn while they are read, with times divided by `scale`; `kept`: all of
 * them at once. Two runs do not share a source. */
void generate_again(struct arena *arena, const struct trace *trace, double scale, bool kept, struct trace *again);

#endif
