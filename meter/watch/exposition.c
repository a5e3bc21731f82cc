#include "meter/watch/exposition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------- */

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

static size_t name_size(struct text text)
{
    size_t size = 0;
    while (size < text.size && in_name(text.data[size]))
        size++;
    return size;
}

static void skip(struct text *text, size_t size)
{
    text->data += size;
    text->size -= size;
}

static void skip_blanks(struct text *text)
{
    while (text->size && (*text->data == ' ' || *text->data == '\t'))
        skip(text, 1);
}

/* A value in quotes, where \\, \" and \n stand for themselves. */
static bool read_quoted(struct arena *arena, struct text *text, const char **value)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    if (!text->size || *text->data != '"')
        return false;
    for (skip(text, 1); text->size && *text->data != '"'; skip(text, 1)) {
        char c = *text->data;
        if (c == '\\' && text->size > 1) {
            skip(text, 1);
            c = *text->data == 'n' ? '\n' : *text->data;
        }
        buffer_add(&out, &c, 1);
    }
    if (!text->size)
        return false;
    skip(text, 1);
    *value = out.data ? out.data : "";
    return true;
}

static bool read_labels(struct arena *arena, struct text *text, struct sample *sample)
{
    size_t room = 0;
    skip(text, 1);
    for (;;) {
        skip_blanks(text);
        if (text->size && *text->data == '}') {
            skip(text, 1);
            return true;
        }
        const size_t size = name_size(*text);
        const char *name = arena_copy(arena, text->data, size), *value;
        skip(text, size);
        if (!size || !text->size || *text->data != '=')
            return false;
        skip(text, 1);
        if (!read_quoted(arena, text, &value))
            return false;
        *(struct metric_label *)arena_push(arena, &sample->labels, &sample->label_count, &room,
                                    sizeof *sample->labels) = (struct metric_label){ name, value };
        skip_blanks(text);
        if (text->size && *text->data == ',')
            skip(text, 1);
    }
}

static bool read_value(struct text text, double *value)
{
    const struct text word = { text.data, strcspn(text.data, " \t\r\n") };
    if (text_is(word, "NaN") || text_is(word, "+Inf") || text_is(word, "-Inf") || text_is(word, "Inf")) {
        *value = text_is(word, "NaN") ? NAN : text_is(word, "-Inf") ? -INFINITY : INFINITY;
        return true;
    }
    return text_number(word, value);
}

static bool read_sample(struct arena *arena, struct text line, struct sample *sample)
{
    const size_t size = name_size(line);
    *sample = (struct sample){ .name = arena_copy(arena, line.data, size) };
    skip(&line, size);
    if (!size || (line.size && *line.data == '{' && !read_labels(arena, &line, sample)))
        return false;
    skip_blanks(&line);
    /* A timestamp may follow. */
    const char *rest = arena_copy(arena, line.data, line.size);
    return line.size && read_value((struct text){ rest, line.size }, &sample->value);
}

void exposition_add(struct arena *arena, struct exposition *exposition, const struct sample *sample)
{
    *(struct sample *)arena_push(arena, &exposition->samples, &exposition->count, &exposition->room, sizeof *sample) = *sample;
}

/* Series of a page, series of one name (engines, or their ranks), and series that a label numbers by ranks. Those of one name
 * are compared with each other. */
enum { SAMPLES_MOST = 100000, ALIKE_MOST = 1000, RANKED_MOST = 10000 };

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool too_many(const char *file, size_t most, const char *of, struct error *error)
{
    error_set(error, "%s: more than %zu series%.100s", file, most, of);
    return error_expected(error, "the metrics of fewer servers: one URL, or one --job of a Prometheus server");
}

static bool has_rank(const struct sample *sample);

static bool check_counts(struct arena *arena, const char *file, const struct exposition *exposition, struct error *error)
{
    struct arena scratch = arena_beside(arena);
    const char **names = arena_array(&scratch, exposition->count + 1, sizeof *names), *often = NULL;
    size_t alike = 1, ranked = 0;
    for (size_t i = 0; i < exposition->count; i++) {
        names[i] = exposition->samples[i].name;
        ranked += has_rank(&exposition->samples[i]);
    }
    qsort(names, exposition->count, sizeof *names, compare_names);
    for (size_t i = 1; i < exposition->count; i++) {
        alike = strcmp(names[i - 1], names[i]) ? 1 : alike + 1;
        often = alike > ALIKE_MOST ? names[i] : often;
    }
    arena_free(&scratch);
    return often ? too_many(file, ALIKE_MOST, arena_print(arena, " of the name %s", often), error)
         : ranked <= RANKED_MOST || too_many(file, RANKED_MOST, " of single ranks", error);
}

/* The buckets of histograms, which nothing here reads. */
static bool is_bucket(const struct sample *sample)
{
    return ends_with(sample->name, "_bucket");
}

bool exposition_read(struct arena *arena, const char *file, struct text text, struct exposition *exposition,
                     size_t *bad_lines, struct error *error)
{
    size_t line = 0, first_bad = 0, seen = 0, buckets = 0;
    *exposition = (struct exposition){ 0 };
    *bad_lines = 0;
    while (text.size) {
        struct sample sample;
        const struct text words = text_trim(text_line(&text));
        line++;
        if (!words.size || *words.data == '#')
            continue;
        if (++seen > SAMPLES_MOST)
            return too_many(file, SAMPLES_MOST, "", error);
        if (read_sample(arena, words, &sample)) {
            buckets += is_bucket(&sample);
            if (!is_bucket(&sample))
                exposition_add(arena, exposition, &sample);
        } else if (!(*bad_lines)++)
            first_bad = line;
    }
    if (exposition->count && 10 * *bad_lines <= exposition->count + buckets)
        return check_counts(arena, file, exposition, error);
    if (first_bad)
        error_set(error, "%s:%zu: not a line of Prometheus' text format", file, first_bad);
    else
        error_set(error, "%s: no metrics", file);
    return error_expected(error, "what /metrics of vLLM, SGLang, TensorRT-LLM, TGI or llama.cpp's server answers");
}

/* ---- asking ----------------------------------------------------------------------------------- */

const char *sample_label(const struct sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (!strcmp(sample->labels[i].name, name))
            return sample->labels[i].value;
    return NULL;
}

static bool has_label(const struct sample *sample, const char *label)
{
    const char *equals = label ? strchr(label, '=') : NULL;
    for (size_t i = 0; equals && i < sample->label_count; i++)
        if (!strncmp(sample->labels[i].name, label, (size_t)(equals - label)) &&
            !sample->labels[i].name[equals - label] && !strcmp(sample->labels[i].value, equals + 1))
            return true;
    return !equals;
}

enum { RANK_LABELS = 3 };
static const char *const rank_labels[RANK_LABELS] = { "tp_rank", "pp_rank", "moe_ep_rank" };

bool is_rank_label(const char *name)
{
    return name_listed(rank_labels, RANK_LABELS, name);
}

bool is_one_of(const char *name, const char *names)
{
    const size_t size = strlen(name);
    for (const char *at = names; at && *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == size && !strncmp(at, name, size))
            return true;
    return false;
}

static bool is_left_aside(const char *label, const char *names)
{
    return is_rank_label(label) || is_one_of(label, names);
}

bool exposition_alike(const struct sample *a, const struct sample *b, const char *names)
{
    size_t of_a = 0, of_b = 0;
    for (size_t i = 0; i < b->label_count; i++)
        of_b += !is_left_aside(b->labels[i].name, names);
    for (size_t i = 0; i < a->label_count; i++) {
        if (is_left_aside(a->labels[i].name, names))
            continue;
        const char *value = sample_label(b, a->labels[i].name);
        if (!value || strcmp(value, a->labels[i].value))
            return false;
        of_a++;
    }
    return of_a == of_b;
}

/* Which has the lower ranks? -1, 0 or 1, like strcmp. */
static int compare_ranks(const struct sample *a, const struct sample *b)
{
    for (size_t i = 0; i < RANK_LABELS; i++) {
        const char *x = sample_label(a, rank_labels[i]), *y = sample_label(b, rank_labels[i]);
        double of_x = 0, of_y = 0;
        if (x && y && text_number(text_of(x), &of_x) && text_number(text_of(y), &of_y) && of_x != of_y)
            return of_x < of_y ? -1 : 1;
    }
    return 0;
}

static bool has_rank(const struct sample *sample)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (is_rank_label(sample->labels[i].name))
            return true;
    return false;
}

/* Compares each rank with all ranks of its name. */
struct exposition exposition_first_ranks(struct arena *arena, const struct exposition *from)
{
    struct exposition kept = { 0 }, ranks = { 0 };
    for (size_t i = 0; i < from->count; i++)
        if (has_rank(&from->samples[i]))
            exposition_add(arena, &ranks, &from->samples[i]);
    for (size_t i = 0; i < from->count; i++) {
        const struct sample *sample = &from->samples[i];
        bool first = true;
        for (size_t j = 0; has_rank(sample) && first && j < ranks.count; j++)
            first = strcmp(sample->name, ranks.samples[j].name) || !exposition_alike(sample, &ranks.samples[j], NULL) ||
                    compare_ranks(sample, &ranks.samples[j]) <= 0;
        if (first)
            exposition_add(arena, &kept, sample);
    }
    return kept;
}

static bool is_named(const struct sample *sample, const char *name, size_t size)
{
    return !strncmp(sample->name, name, size) && !sample->name[size] && isfinite(sample->value);
}

/* The first of the names that there is, to the next '|' or the end; NULL: none is. */
static const char *first_there(const struct exposition *exposition, const char *names, const char *label)
{
    for (const char *at = names; at && *at;) {
        const size_t size = strcspn(at, "|");
        for (size_t i = 0; i < exposition->count; i++)
            if (is_named(&exposition->samples[i], at, size) && has_label(&exposition->samples[i], label))
                return at;
        at = at[size] ? at + size + 1 : NULL;
    }
    return NULL;
}

double exposition_sum(const struct exposition *exposition, const char *names, const char *label)
{
    const char *name = first_there(exposition, names, label);
    double sum = 0;
    if (!name)
        return NAN;
    for (size_t i = 0; i < exposition->count; i++)
        if (is_named(&exposition->samples[i], name, strcspn(name, "|")) && has_label(&exposition->samples[i], label))
            sum += exposition->samples[i].value;
    return sum;
}

double exposition_mean(const struct exposition *exposition, const char *names)
{
    const char *name = first_there(exposition, names, NULL);
    double count = 0;
    for (size_t i = 0; name && i < exposition->count; i++)
        count += is_named(&exposition->samples[i], name, strcspn(name, "|"));
    return exposition_sum(exposition, names, NULL) / count;
}

double exposition_least(const struct exposition *exposition, const char *names)
{
    const char *name = first_there(exposition, names, NULL);
    double least = NAN;
    for (size_t i = 0; name && i < exposition->count; i++)
        if (is_named(&exposition->samples[i], name, strcspn(name, "|")))
            least = fmin(least, exposition->samples[i].value);
    return least;
}

static bool same_series(const struct sample *a, const struct sample *b)
{
    if (strcmp(a->name, b->name) || a->label_count != b->label_count)
        return false;
    for (size_t i = 0; i < a->label_count; i++) {
        const char *value = sample_label(b, a->labels[i].name);
        if (!value || strcmp(value, a->labels[i].value))
            return false;
    }
    return true;
}

/* The value of the same series in another scrape; 0: it was not there. */
static double value_in(const struct exposition *exposition, const struct sample *sample)
{
    for (size_t i = 0; exposition && i < exposition->count; i++)
        if (same_series(&exposition->samples[i], sample))
            return isfinite(exposition->samples[i].value) ? exposition->samples[i].value : 0;
    return 0;
}

double exposition_growth(const struct exposition *now, const struct exposition *since, const char *names, bool each)
{
    const char *name = first_there(now, names, NULL);
    double sum = 0;
    if (!name || !since || !each) {
        const double before = since ? exposition_sum(since, names, NULL) : 0;
        return exposition_sum(now, names, NULL) - (isnan(before) ? 0 : before);
    }
    for (size_t i = 0; i < now->count; i++)
        if (is_named(&now->samples[i], name, strcspn(name, "|"))) {
            const double before = value_in(since, &now->samples[i]);
            sum += now->samples[i].value - (before > now->samples[i].value ? 0 : before);
        }
    return sum;
}

bool exposition_fell(const struct exposition *now, const struct exposition *since, const char *names)
{
    const char *name = first_there(now, names, NULL);
    for (size_t i = 0; name && i < now->count; i++)
        if (is_named(&now->samples[i], name, strcspn(name, "|")) &&
            value_in(since, &now->samples[i]) > now->samples[i].value)
            return true;
    return false;
}
