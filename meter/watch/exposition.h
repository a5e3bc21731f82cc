/* exposition -- the text format of Prometheus (0.0.4), read into samples.
 *
 * Comments and types are read past: what a sample is follows from its name. Values may be NaN, +Inf and -Inf. */
#ifndef WATCH_EXPOSITION_H
#define WATCH_EXPOSITION_H

#include "base/base.h"

struct metric_label {
    const char *name, *value;
};
struct sample {
    const char *name;
    struct metric_label *labels;
    size_t label_count;
    double value;
};
/* Lives in the arena that it was read into. */
struct exposition {
    struct sample *samples;
    size_t count, room;
};

/* An error names the line, unless the text has at least one sample and at most a tenth of its lines cannot
 * be read: *bad_lines. Buckets of histograms are left out. More than 100,000 series, or more of one name than the
 * engines of a large site have, are an error. */
bool exposition_read(struct arena *arena, const char *file, struct text text, struct exposition *exposition,
                     size_t *bad_lines, struct error *error);
void exposition_add(struct arena *arena, struct exposition *exposition, const struct sample *sample);
const char *sample_label(const struct sample *sample, const char *name);       /* NULL: it has none */
/* Is `name` one of `names`, which '|' separates and which may be NULL? */
bool is_one_of(const char *name, const char *names);
/* Does the label number the ranks of one engine? SGLang repeats a sample for each rank that reports. */
bool is_rank_label(const char *name);
/* Do two samples have the same labels, apart from ranks and from those in `names`, which '|' separates? */
bool exposition_alike(const struct sample *a, const struct sample *b, const char *names);
/* The samples of the first rank of each engine, and those without a rank. */
struct exposition exposition_first_ranks(struct arena *arena, const struct exposition *from);
/* The sum of the samples whose name is the first of `names` that there is, which '|' separates; NAN: none.
 * `label` "name=value" or NULL: only those that have it. */
double exposition_sum(const struct exposition *exposition, const char *names, const char *label);
/* The mean of the same samples; NAN: none. */
double exposition_mean(const struct exposition *exposition, const char *names);
/* The least of them: of times at which several instances began the earliest. NAN: none. */
double exposition_least(const struct exposition *exposition, const char *names);
/* What the sum grew by since an earlier scrape, or NULL; NAN: there is none of it now. `each`: each series by
 * itself, and one that fell, or was not there, counts from 0. */
double exposition_growth(const struct exposition *now, const struct exposition *since, const char *names, bool each);
/* Has one of these series fallen? */
bool exposition_fell(const struct exposition *now, const struct exposition *since, const char *names);

#endif
