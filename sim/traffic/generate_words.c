/* Reads the description of a synthetic load, such as "poisson:rate=20,count=2000,output=64".
 *
 * Each key is a row: the row gives its name, default and accepted range, and `readers` says how
 * its value is read (a rate, a number, a distribution of lengths, classes with shares). Keys that
 * have no effect with others are refused. The result is a plan; generate.c draws the requests. */
#include "sim/traffic/generate_plan.h"

#include "build/row_names.h"
#include "rows/rows.h"
#include "sim/traffic/trace_read.h"

#include <math.h>
#include <string.h>

const char *const generate_kinds[KINDS] = { "poisson", "gamma", "constant" };

enum key {
    KEY_RATE, KEY_PEAK, KEY_PERIOD, KEY_CURVE, KEY_CV, KEY_COUNT, KEY_DURATION, KEY_INPUT, KEY_OUTPUT,
    KEY_LENGTHS, KEY_TURNS,
    KEY_WAIT, KEY_CLASS, KEY_SEED, KEYS
};

#define LENGTHS "a whole number, LOW..HIGH, exponential(MEAN) or lognormal(MEAN,cv=X), each from " \
                "1 to 10M"
const struct generate_key generate_keys[] = {
    [KEY_RATE]     = { "rate", "1/s", "1e-9 to 1e9: 5, 5/s, 300/min",
                       "sessions that arrive per second", { NULL } },
    [KEY_PEAK]     = { "peak", NULL, "1e-9 to 1e9, no less than rate: 20, 300/min",
                       "rate at the peak of a daily curve, which begins at its trough, `rate`", { NULL } },
    [KEY_PERIOD]   = { "period", "24h", "above 0, up to 1e9 s: 24h, 90min", "time from trough to trough", { NULL } },
    [KEY_CURVE]    = { "curve", NULL, "a CSV file with the columns time (s) and rate (1/s)",
                       "rates over time, instead of rate", { NULL } },
    [KEY_CV]       = { "cv", "2", "0.01 to 100",
                       "gamma: deviation of the gaps between arrivals over their mean; arrivals= is the same", { "arrivals" } },
    [KEY_COUNT]    = { "count", "1000", "a whole number from 1 to 1e9", "number of sessions", { NULL } },
    [KEY_DURATION] = { "duration", NULL, "up to 1e9 s: 600, 90min, 1h",
                       "time during which sessions arrive, instead of count", { NULL } },
    [KEY_INPUT]    = { "input", "1000", LENGTHS, "new tokens of a prompt; isl= is the same", { "isl", NAME_prompt_tokens } },
    [KEY_OUTPUT]   = { "output", "200", LENGTHS, "output tokens of a request; osl= is the same", { "osl", NAME_output_tokens } },
    [KEY_LENGTHS]  = { "lengths", NULL, "a file of lengths, or any trace",
                       "pairs of lengths drawn from a file, instead of input and output", { NULL } },
    [KEY_TURNS]    = { "turns", "1", "a whole number or geometric(MEAN), from 1 to 10000",
                       "requests per session", { NULL } },
    [KEY_WAIT]     = { "wait", "0s", "a time, LOW..HIGH, exponential(MEAN) or "
                       "lognormal(MEAN,cv=X), up to 1e6 s", "time from an answer to the next turn; think= is the same", { "think" } },
    [KEY_CLASS]    = { "class", NULL, "NAME(SHARE)|NAME(SHARE), at most 8: words of letters, "
                       "digits, '-', '_' and '.'", "classes, in proportion to their shares", { NULL } },
    [KEY_SEED]     = { "seed", "1", "a whole number below 2^64", "seed of the draws", { NULL } },
};
const size_t generate_key_count = KEYS;

struct description_reader {
    struct arena *arena;
    struct error *error;
    struct traffic_plan *plan;
    struct trace *trace;
    struct text given[KEYS];        /* data NULL: not given */
};

/* ---- pieces of text ------------------------------------------------------------------------- */

static bool whole(double x)
{
    return x == floor(x);
}

/* ---- keys: how each is read ----------------------------------------------------------------- */

static bool read_rate(struct description_reader *reader, struct text text)
{
    return amount_number(text, "1/s", 1e-9, 1e9, &reader->plan->rate);
}

static bool read_peak(struct description_reader *reader, struct text text)
{
    return amount_number(text, "1/s", 1e-9, 1e9, &reader->plan->peak) && reader->plan->peak >= reader->plan->rate;
}

static bool read_period(struct description_reader *reader, struct text text)
{
    return amount_number(text, "s", 0, TIME_MOST, &reader->plan->period) && reader->plan->period > 0;
}

static bool read_cv(struct description_reader *reader, struct text text)
{
    return amount_number(text, "1", 0.01, 100, &reader->plan->cv);
}

static bool read_count(struct description_reader *reader, struct text text)
{
    double count;
    if (!amount_number(text, "1", 1, GENERATE_DRAWN_MOST, &count) || !whole(count))
        return false;
    reader->plan->count = (size_t)count;
    return true;
}

static bool read_duration(struct description_reader *reader, struct text text)
{
    return amount_number(text, "s", 0, TIME_MOST, &reader->plan->duration) &&
           reader->plan->duration > 0;
}

static bool read_length(struct text text, struct amount *amount)
{
    if (!amount_read(text, "token", 1, 1e7, amount))
        return false;
    return amount->kind == AMOUNT_EXPONENTIAL || amount->kind == AMOUNT_LOGNORMAL ||
           (whole(amount->a) && whole(amount->b));
}

static bool read_input(struct description_reader *reader, struct text text)
{
    return read_length(text, &reader->plan->input);
}

static bool read_output(struct description_reader *reader, struct text text)
{
    return read_length(text, &reader->plan->output);
}

static bool read_turns(struct description_reader *reader, struct text text)
{
    struct amount *turns = &reader->plan->turns;
    struct text inside = text;
    bool drawn = amount_call(text, "geometric", &inside);
    turns->kind = drawn ? AMOUNT_GEOMETRIC : AMOUNT_FIXED;
    return amount_number(inside, "1", 1, 10000, &turns->a) && (drawn || whole(turns->a));
}

static bool read_wait(struct description_reader *reader, struct text text)
{
    return amount_read(text, "s", 0, 1e6, &reader->plan->wait);
}

/* One class: its name and its share; a name alone has share 1. */
static bool read_class(struct description_reader *reader, struct text one)
{
    bool shared;
    struct text name = amount_take(&one, '(', &shared);
    const char *word = arena_copy(reader->arena, name.data, name.size);
    struct text share = { one.data, one.size - (one.size > 0) };
    double number = 1;
    if (!trace_word(word) ||
        (shared && (!one.size || one.data[one.size - 1] != ')' ||
                    !amount_number(share, "1", 1e-9, 1e9, &number))))
        return false;
    size_t before = reader->trace->priority_classes, priority_class = trace_class(reader->trace, word);
    if (reader->trace->priority_classes == before)  /* it is there, or is one too many */
        return false;
    reader->plan->shares[priority_class] = number;
    return true;
}

static bool read_classes(struct description_reader *reader, struct text text)
{
    double *shares = reader->plan->shares, sum = 0;
    for (bool more = true; more;)
        if (!read_class(reader, amount_take(&text, '|', &more)))
            return false;
    for (size_t i = 0; i < reader->trace->priority_classes; i++)
        sum += shares[i];
    for (size_t i = 0; i < reader->trace->priority_classes; i++)
        shares[i] /= sum;
    return true;
}

static bool read_seed(struct description_reader *reader, struct text text)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || seed > (UINT64_MAX - digit) / 10)
            return false;
        seed = 10 * seed + digit;
    }
    reader->plan->seed = seed;
    return text.size > 0;
}

static bool (*const readers[KEYS])(struct description_reader *reader, struct text text) = {
    [KEY_RATE] = read_rate,   [KEY_PEAK] = read_peak,     [KEY_PERIOD] = read_period,
    [KEY_CURVE] = NULL,       [KEY_CV] = read_cv,         [KEY_COUNT] = read_count,
    [KEY_INPUT] = read_input, [KEY_OUTPUT] = read_output, [KEY_DURATION] = read_duration,
    [KEY_TURNS] = read_turns, [KEY_WAIT] = read_wait,     [KEY_CLASS] = read_classes,
    [KEY_SEED] = read_seed,   [KEY_LENGTHS] = NULL,       /* a file, with errors of its own */
};

static bool is_key(struct text name, enum key key)
{
    const struct generate_key *known = &generate_keys[key];
    return text_is(name, known->name) || (known->also[0] && text_is(name, known->also[0])) ||
           (known->also[1] && text_is(name, known->also[1]));
}

/* ---- which keys ----------------------------------------------------------------------------- */

enum { SHOWN = 80 };                /* characters of what was read */

static int shown(struct text text)
{
    return text.size < SHOWN ? (int)text.size : SHOWN;
}

static bool unknown_key(const struct description_reader *reader, struct text pair, struct text name)
{
    const char *names[KEYS], *kind = generate_kinds[reader->plan->kind];
    for (int i = 0; i < KEYS; i++)
        names[i] = generate_keys[i].name;
    const char *word = arena_copy(reader->arena, name.data, (size_t)shown(name));
    const char *near = name_nearest(word, names, KEYS);
    if (name.size == pair.size)
        error_set(reader->error, "%s: '%s' is not key=value", kind, word);
    else
        error_set(reader->error, "%s: unknown key '%s'", kind, word);
    if (near)
        return error_suggest(reader->error, "did you mean %s=?", near);
    return error_expected(reader->error, "key=value, with the keys rate, peak, period, curve, cv, count, duration, input or isl, "
                                         "output or osl, lengths, turns, wait or think, class, seed");
}

static bool read_pair(struct description_reader *reader, struct text pair)
{
    bool equals;
    struct text value = pair, name = amount_take(&value, '=', &equals);
    int key = 0;
    while (key < KEYS && !is_key(text_trim(name), (enum key)key))
        key++;
    if (key == KEYS || !equals)
        return unknown_key(reader, pair, name);
    if (reader->given[key].data) {
        error_set(reader->error, "%s: %s is set twice", generate_kinds[reader->plan->kind],
                  generate_keys[key].name);
        return error_expected(reader->error, "once");
    }
    reader->given[key] = text_trim(value);
    return true;
}

/* A key that has no effect beside another, or without it. */
static bool apart(const struct description_reader *reader, enum key key, bool meant, const char *why)
{
    if (meant || !reader->given[key].data)
        return true;
    error_set(reader->error, "%s: %s has no effect %s", generate_kinds[reader->plan->kind],
              generate_keys[key].name, why);
    return error_suggest(reader->error, "%s: %s", generate_keys[key].name, generate_keys[key].help);
}

static bool agree(const struct description_reader *reader)
{
    const struct text *given = reader->given;
    bool alone = !given[KEY_TURNS].data || text_is(given[KEY_TURNS], "1");
    const bool poisson = reader->plan->kind == KIND_POISSON;
    return apart(reader, KEY_PEAK, poisson, "without poisson") &&
           apart(reader, KEY_CURVE, poisson, "without poisson") &&
           apart(reader, KEY_PERIOD, given[KEY_PEAK].data != NULL, "without peak") &&
           apart(reader, KEY_CURVE, !given[KEY_RATE].data, "beside rate") &&
           apart(reader, KEY_CURVE, !given[KEY_PEAK].data, "beside peak") &&
           apart(reader, KEY_CV, reader->plan->kind == KIND_GAMMA, "without gamma") &&
           apart(reader, KEY_DURATION, !given[KEY_COUNT].data, "beside count") &&
           apart(reader, KEY_LENGTHS, !given[KEY_INPUT].data, "beside input") &&
           apart(reader, KEY_LENGTHS, !given[KEY_OUTPUT].data, "beside output") &&
           apart(reader, KEY_WAIT, !alone, "without turns");
}

static bool read_values(struct description_reader *reader)
{
    for (int key = 0; key < KEYS; key++) {
        struct text text = reader->given[key];
        if (!text.data)
            text = generate_keys[key].usual ? text_of(generate_keys[key].usual) : text;
        if (!text.data || !readers[key] || readers[key](reader, text))
            continue;
        error_set(reader->error, "%s: invalid %s '%.*s'", generate_kinds[reader->plan->kind],
                  generate_keys[key].name, shown(text), text.data);
        return error_expected(reader->error, "%s (%s)", generate_keys[key].accepted,
                              generate_keys[key].help);
    }
    return true;
}

/* Lines of a time and a rate, which the times order. */
static bool read_curve(struct description_reader *reader, const char *path)
{
    enum { LIMIT = 16 << 20 };
    struct rate_curve *curve = &reader->plan->curve;
    struct text text;
    struct csv *csv = arena_alloc(reader->arena, sizeof *csv);
    if (!file_read(reader->arena, path, LIMIT, &text, reader->error) ||
        !csv_read(reader->arena, path, text, csv, reader->error))
        return false;
    const int time = csv_column(csv, "time"), rate = csv_column(csv, "rate");
    curve->time = arena_array(reader->arena, csv->rows + 1, sizeof *curve->time);
    curve->rate = arena_array(reader->arena, csv->rows + 1, sizeof *curve->rate);
    for (size_t i = 0; i < csv->rows && time >= 0 && rate >= 0; i++) {
        const double before = i ? curve->time[i - 1] : 0;
        if (!text_number(text_of(csv_cell(csv, i, time)), &curve->time[i]) ||
            !text_number(text_of(csv_cell(csv, i, rate)), &curve->rate[i]) ||
            !(curve->time[i] >= before && curve->time[i] <= TIME_MOST) ||
            !(curve->rate[i] >= 0 && curve->rate[i] <= 1e9)) {
            error_set(reader->error, "%s:%d: no time and rate", path, csv->lines[i]);
            return error_expected(reader->error, "a time in s, no less than the one before, and a rate in 1/s");
        }
        curve->most = fmax(curve->most, curve->rate[i]);
        curve->count++;
    }
    if (curve->most > 0)
        return true;
    error_set(reader->error, "%s: no rates above 0", path);
    return error_expected(reader->error, "the columns time and rate, in s and 1/s");
}

static bool kind_of(const char *words, enum kind *kind, struct text *rest)
{
    size_t size = strcspn(words, ":");
    int at = 0;
    while (at < KINDS && !text_is((struct text){ words, size }, generate_kinds[at]))
        at++;
    *kind = (enum kind)at;
    *rest = text_of(words + size);
    return at < KINDS;
}

bool generate_is(const char *words)
{
    enum kind kind;
    struct text rest;
    return kind_of(words, &kind, &rest);
}

/* A change sets keys that the words leave open. */
static bool set_keys(struct description_reader *reader, const char *words, const struct generate_change *change)
{
    const struct { enum key key; bool given; const char *option; } sets[] = {
        { KEY_RATE, change->rate > 0, "rate" }, { KEY_PEAK, change->rate > 0, "rate" }, { KEY_CURVE, change->rate > 0, "rate" },
        { KEY_CV, change->arrivals, "arrivals" }, { KEY_INPUT, change->input, "isl" }, { KEY_OUTPUT, change->output, "osl" } };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i].given && reader->given[sets[i].key].data) {
            error_set(reader->error, "--%s and the %s of %.100s exclude each other", sets[i].option,
                      generate_keys[sets[i].key].name, words);
            return error_expected(reader->error, "one of them");
        }
    if (change->arrivals)
        reader->plan->kind = change->cv2 == 0 ? KIND_CONSTANT : change->cv2 == 1 ? KIND_POISSON : KIND_GAMMA;
    if (change->input)
        reader->given[KEY_INPUT] = text_of(change->input);
    if (change->output)
        reader->given[KEY_OUTPUT] = text_of(change->output);
    return true;
}

/* Change the values that were read. Outputs of one length vary by a tenth. */
static void set_values(struct description_reader *reader, struct generate_change *change)
{
    struct traffic_plan *plan = reader->plan;
    struct amount *output = &plan->output;
    plan->seed += change->seed;
    if (change->rate > 0)
        plan->rate = change->rate / plan->turns.a;
    if (change->arrivals && plan->kind == KIND_GAMMA)
        plan->cv = sqrt(change->cv2);
    change->varied = change->vary && plan->kind != KIND_CONSTANT && !reader->given[KEY_LENGTHS].data &&
                     output->kind == AMOUNT_FIXED && output->a > 1;
    if (change->varied)
        *output = (struct amount){ AMOUNT_LOGNORMAL, output->a, 0.1 };
}

/* All keys but those of files. */
static bool read_words(struct description_reader *reader, const char *words, struct generate_change *change)
{
    struct text rest;
    *reader->plan = (struct traffic_plan){ .duration = INFINITY };
    if (!kind_of(words, &reader->plan->kind, &rest)) {
        error_set(reader->error, "unknown description of requests '%.*s'", SHOWN, words);
        return error_expected(reader->error, "poisson, gamma or constant: poisson:rate=5,count=1000");
    }
    bool more = rest.size > 0;
    if (more)
        rest.data++, rest.size--;                   /* the colon */
    while (more)
        if (!read_pair(reader, amount_take(&rest, ',', &more)))
            return false;
    if (!set_keys(reader, words, change) || !agree(reader) || !read_values(reader))
        return false;
    set_values(reader, change);
    return true;
}

bool generate_read(struct arena *arena, const char *words, struct generate_change *change, struct traffic_plan *plan,
                   struct trace *trace, struct error *error)
{
    struct description_reader reader = { .arena = arena, .error = error, .plan = plan, .trace = trace };
    if (!read_words(&reader, words, change))
        return false;
    const struct text path = reader.given[KEY_LENGTHS], curve = reader.given[KEY_CURVE];
    if (curve.data && !read_curve(&reader, arena_copy(arena, curve.data, curve.size)))
        return false;
    return !path.data || trace_lengths(arena, arena_copy(arena, path.data, path.size),
                                       &plan->lengths, error);
}
