/* Units, and quantities as people write and read them.
 *
 * A unit is a vector of exponents of s, B, FLOP, token, USD, J, g and L, stored doubled so that a square
 * root has a unit. Reading accepts SI prefixes, time words and currency per time, number suffixes
 * (128k, 671B), ranges and distributions; a comma is accepted only where it groups three digits.
 * Printing chooses the prefix that people expect for the unit. Values inside the program are
 * always in base units: scaling exists only in this file. */
#include "rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct unit unit_one = { { 0 } }, unit_second = { { [UNIT_S] = 2 } },
                  unit_usd_per_second = { { [UNIT_S] = -2, [UNIT_USD] = 2 } };

static const char *const base_names[UNIT_COUNT] = { "s", "B", "FLOP", "token", "USD", "J", "g", "L" };

/* Words of a unit, apart by spaces: their exponents of s B FLOP token USD J g L, and how many base units each
 * is. Prefixed words take k M G T P E and m u n. The words of sheets and rows stand first. */
struct word {
    const char *names;
    int8_t power[UNIT_COUNT];
    double scale;
    bool prefixed;
};

static const struct word words[] = {
    { "1",      { 0 },                   1, false },
    { "s sec",  { 1 },                   1, true },
    { "B",      { 0, 1 },                1, true },
    { "token tokens tok toks", { 0, 0, 0, 1 }, 1, true },
    { "USD",    { 0, 0, 0, 0, 1 },       1, true },
    { "FLOP FLOPs", { 0, 0, 1 },         1, true },
    { "J",      { 0, 0, 0, 0, 0, 1 },    1, true },
    { "W",      { -1, 0, 0, 0, 0, 1 },   1, true },
    { "second seconds secs", { 1 },      1, false },
    { "millisecond milliseconds millisec millis", { 1 }, 1e-3, false },
    { "min minute minutes mins", { 1 }, 60, false },
    { "h hour hours hr hrs GPU-hour GPU-hours", { 1 }, 3600, false },
    { "d day days", { 1 },           86400, false },
    { "month months", { 1 }, 365.0/12*86400, false },
    { "year years", { 1 },   365.0*86400, false },
    { "byte bytes", { 0, 1 },            1, false },
    { "b bit",  { 0, 1 },            0.125, true },
    { "KiB",    { 0, 1 },             1024, false },
    { "MiB",    { 0, 1 },          1048576, false },
    { "GiB",    { 0, 1 },       1073741824, false },
    { "TiB",    { 0, 1 },  1099511627776.0, false },
    { "FLOPS",  { -1, 0, 1 },            1, true },
    { "tps TPS", { -1, 0, 0, 1 },        1, false },
    { "rps RPS qps QPS Hz", { -1 },      1, false },
    { "rpm RPM", { -1 },            1.0/60, false },
    { "$ usd dollar dollars", { 0, 0, 0, 0, 1 }, 1, false },
    { "Wh",     { 0, 0, 0, 0, 0, 1 }, 3600, true },
    { "g",      { 0, 0, 0, 0, 0, 0, 1 }, 1, true },
    { "t",      { 0, 0, 0, 0, 0, 0, 1 }, 1e6, false },
    { "L",      { 0, 0, 0, 0, 0, 0, 0, 1 }, 1, true },
    { "req reqs request requests query queries call calls prompt prompts", { 0 }, 1, false },     /* only before a per */
};

static double prefix_scale(char prefix)
{
    switch (prefix) {
    case 'n': return 1e-9;
    case 'u': return 1e-6;
    case 'm': return 1e-3;
    case 'k': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    case 'P': return 1e15;
    case 'E': return 1e18;
    case 'Z': return 1e21;
    default:  return 0;
    }
}

static const struct word *word_called(struct text text, bool prefixed)
{
    for (size_t i = 0; i < sizeof words / sizeof *words && text.size; i++) {
        const char *end = words[i].prefixed >= prefixed ? words[i].names : "";
        for (const char *at = end; *end; at = ++end) {
            while (*end > ' ')
                end++;
            if ((size_t)(end - at) == text.size && !memcmp(at, text.data, text.size))
                return &words[i];
            if (!*end)
                break;
        }
    }
    return NULL;
}

static const struct word *word_find(struct text text, double *scale)
{
    const struct word *word = word_called(text, false);
    const double prefix = word || text.size < 2 ? 1 : prefix_scale(text.data[0]);
    if (!word && prefix > 0)
        word = word_called((struct text){ text.data + 1, text.size ? text.size - 1 : 0 }, true);
    *scale = word ? word->scale * prefix : 1;
    return word;
}

bool unit_same(struct unit a, struct unit b)
{
    return !memcmp(&a, &b, sizeof a);
}

bool unit_counts(struct unit unit)
{
    static const struct unit token = { { [UNIT_TOKEN] = 2 } };
    return unit_same(unit, unit_one) || unit_same(unit, token);
}

struct unit unit_power(struct unit a, struct unit b, int times)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        int half = a.half[i] + b.half[i] * times;
        a.half[i] = (int8_t)(half > 120 ? 120 : half < -120 ? -120 : half);
    }
    return a;
}

static bool unit_unknown(struct text word, struct text whole, struct error *error)
{
    error_set(error, "unknown unit '%.*s' in '%.*s'", (int)word.size, word.data,
              (int)whole.size, whole.data);
    return error_expected(error, "s ms us ns min h d year, B kB MB GB TB GiB (b for bits), FLOP "
                          "TFLOP PFLOP, token, USD, J W kWh, g kg t, L, joined by / and *");
}

/* Read "^3" or "^3/2" from the start of `text`: the exponent in halves, which is 2 if there is none. */
static int exponent_halves(struct text *text)
{
    size_t size = 1;
    int number = 0;
    if (text->size < 2 || text->data[0] != '^' || text->data[1] < '1' || text->data[1] > '9')
        return 2;
    for (; size < text->size && size < 3 && text->data[size] >= '0' && text->data[size] <= '9'; size++)
        number = 10 * number + text->data[size] - '0';
    const bool halves = text->size >= size + 2 && text->data[size] == '/' && text->data[size + 1] == '2';
    size += halves ? 2 : 0;
    text->data += size, text->size -= size;
    return halves ? number : number > 60 ? 120 : 2 * number;
}

static bool per(struct text text)
{
    return text.size > 4 && !memcmp(text.data, "per ", 4);
}

/* word ['^' digits ['/2']] (('/' | '*' | "per ") word ['^' digits ['/2']])* */
bool unit_parse(struct text text, struct unit *unit, double *scale, struct error *error)
{
    struct text whole = text = text_trim(text);
    *unit = (struct unit){ { 0 } };
    *scale = 1;
    int sign = 1;
    for (bool more = true; more;) {
        size_t size = 0;
        while (size < text.size && !strchr("/*^ ", text.data[size]))
            size++;
        struct text name = { text.data, size };
        double word_scale;
        const struct word *word = word_find(name, &word_scale);
        if (!word)
            return unit_unknown(name, whole, error);
        text.data += size, text.size -= size;
        const int half = exponent_halves(&text);
        struct unit one;
        for (int i = 0; i < UNIT_COUNT; i++)
            one.half[i] = (int8_t)(half * word->power[i]);
        *unit = unit_power(*unit, one, sign);
        for (int i = 0; i < half; i += 2) {
            const double factor = i + 1 == half ? sqrt(word_scale) : word_scale;
            *scale = sign > 0 ? *scale * factor : *scale / factor;
        }
        text = text_trim(text);
        more = text.size > 0;
        const size_t join = per(text) ? 3 : 1;
        if (more && join == 1 && text.data[0] != '/' && text.data[0] != '*')
            return unit_unknown(text, whole, error);
        if (word + 1 == words + sizeof words / sizeof *words && (name.data != whole.data || !more || text.data[0] == '*'))
            return unit_unknown(name, whole, error);
        if (more) {
            sign = text.data[0] == '*' ? 1 : -1;
            text = text_trim((struct text){ text.data + join, text.size - join });
        }
    }
    return true;
}

bool unit_scale(const char *unit, double *scale)
{
    struct unit parsed;
    struct error error;
    if (!strcmp(unit, "1")) {           /* most facts of a sheet */
        *scale = 1;
        return true;
    }
    return unit_parse(text_of(unit), &parsed, scale, &error);
}

enum { UNIT_WORDS = 96 };

static size_t add_power(char *text, size_t size, const char *join, int i, int half)
{
    char power[16] = "";
    if (half % 2)
        snprintf(power, sizeof power, "^%d/2", half);
    else if (half != 2)
        snprintf(power, sizeof power, "^%d", half / 2);
    int more = snprintf(text + size, UNIT_WORDS - size, "%s%s%s", join, base_names[i], power);
    return size + (size_t)more < UNIT_WORDS ? size + (size_t)more : UNIT_WORDS - 1;
}

/* "B/s", "1", into UNIT_WORDS bytes. */
static const char *unit_words(struct unit unit, char *text)
{
    size_t size = 0;
    text[0] = 0;
    for (int i = 0; i < UNIT_COUNT; i++)
        if (unit.half[i] > 0)
            size = add_power(text, size, size ? "*" : "", i, unit.half[i]);
    if (!size)
        size = (size_t)snprintf(text, UNIT_WORDS, "1");
    for (int i = 0; i < UNIT_COUNT; i++)
        if (unit.half[i] < 0)
            size = add_power(text, size, "/", i, -unit.half[i]);
    return text;
}

void unit_print(struct buffer *out, struct unit unit)
{
    char text[UNIT_WORDS];
    buffer_print(out, "%s", unit_words(unit, text));
}

const char *unit_name(struct arena *arena, struct unit unit)
{
    char text[UNIT_WORDS];
    return arena_print(arena, "%s", unit_words(unit, text));
}

/* ---- quantities: reading ------------------------------------------------------------- */

/* The suffix of a count or a number of tokens: 128k, 671B. */
static double count_suffix(struct text text)
{
    if (text.size != 1)
        return 0;
    switch (text.data[0]) {
    case 'k': case 'K': return 1e3;
    case 'M': return 1e6;
    case 'B': case 'G': return 1e9;
    case 'T': return 1e12;
    default:  return 0;
    }
}

static size_t number_size(struct text text)
{
    size_t i = 0;
    while (i < text.size && strchr("0123456789.,_", text.data[i]))
        i++;
    bool exponent = i + 1 < text.size && (text.data[i] == 'e' || text.data[i] == 'E') &&
                    strchr("0123456789+-", text.data[i + 1]);
    if (i > 0 && exponent)
        for (i += 2; i < text.size && text.data[i] >= '0' && text.data[i] <= '9';)
            i++;
    return i;
}

/* A comma stands before groups of three digits only: "1,000", never "1,5". */
static bool commas_stand(struct text text)
{
    size_t whole = 0;
    while (whole < text.size && !strchr(".eE", text.data[whole]))
        whole++;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ',' && (i == 0 || i > whole || (whole - i) % 4 != 0))
            return false;
    return true;
}

/* A number with ',' and '_' between its digits allowed. */
static bool plain_number(struct text text, double *number)
{
    char clean[64];
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (size + 1 >= sizeof clean)
            return false;
        if (text.data[i] != ',' && text.data[i] != '_')
            clean[size++] = text.data[i];
    }
    return commas_stand(text) && text_number((struct text){ clean, size }, number);
}

const char *unit_example(struct arena *arena, struct unit unit)
{
    static const struct { const char *unit, *example; } examples[] = {
        { "1", "a number such as 8 or 64k, or a range 1..64" }, { "token", "a number of tokens such as 4096 or 128k" },
        { "s", "a time such as 300ms, 5s or 2min" }, { "1/s", "a rate such as 5/s or 300/min" },
        { "token/s", "a speed such as 30token/s" }, { "B", "a size such as 16MB or 80GB" },
        { "B/s", "a bandwidth such as 50GB/s or 8TB/s" }, { "FLOP/s", "a speed such as 989TFLOP/s" },
        { "USD/s", "a rent such as 2.5USD/h or 5000USD/month" }, { "USD", "an amount such as 40000USD" },
        { "USD/token", "a price such as 2.5USD/Mtoken" }, { "J/s", "a power such as 700W" } };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct unit one;
        struct error ignored;
        if (unit_parse(text_of(examples[i].unit), &one, &(double){ 0 }, &ignored) && unit_same(one, unit))
            return examples[i].example;
    }
    return arena_print(arena, "a quantity in %s", unit_name(arena, unit));
}

/* The number is not of the unit that is wanted: `error` says what is wrong. */
static bool wanted_unit(struct unit unit, struct error *error)
{
    struct arena arena = { 0 };
    error_expected(error, "%s", unit_example(&arena, unit));
    arena_free(&arena);
    return false;
}

static bool unit_padded(const char *front, struct text text, struct unit *unit, double *scale)
{
    char padded[80];
    struct error ignored;
    text = text_trim(text);
    front = *front || !(text.size && (*text.data == '/' || per(text))) ? front : "1";        /* "300/min", "5 per s" */
    const int size = snprintf(padded, sizeof padded, "%s %.*s", front, (int)text.size, text.data);
    return (size_t)size < sizeof padded && unit_parse((struct text){ padded, (size_t)size }, unit, scale, &ignored);
}

/* The unit behind a number, and behind a $ before it. A suffix of counts may stand between, as in "1M requests/day" and
 * "$2M", if what it counts is wanted. */
static bool unit_behind(struct text text, bool dollar, struct unit wanted, struct unit *unit, double *scale)
{
    const char *front = dollar ? "USD" : "";
    const bool known = unit_padded(front, text, unit, scale);
    const double times = text.size ? count_suffix((struct text){ text.data, 1 }) : 0;
    struct unit counted;
    double one;
    if ((known && unit_same(*unit, wanted)) || !(times > 0) || (text.size > 1 && !strchr(" /", text.data[1])) ||
        !unit_padded(front, (struct text){ text.data + 1, text.size - 1 }, &counted, &one) || !unit_same(counted, wanted))
        return known;
    *unit = counted, *scale = one * times;
    return true;
}

static bool one_number(struct text text, struct unit unit, double *value, bool *bare,
                       struct error *error)
{
    const struct text whole = text = text_trim(text);
    double sign = 1;
    if (text.size && (text.data[0] == '-' || text.data[0] == '+')) {
        sign = text.data[0] == '-' ? -1 : 1;
        text.data++, text.size--;
    }
    bool dollar = text.size && text.data[0] == '$';
    if (dollar)
        text.data++, text.size--;
    size_t size = number_size(text);
    double number;
    if (!plain_number((struct text){ text.data, size }, &number)) {
        error_set(error, "'%.*s' is not a number", (int)whole.size, whole.data);
        return wanted_unit(unit, error);
    }
    struct text rest = text_trim((struct text){ text.data + size, text.size - size });
    *bare = rest.size == 0 && !dollar;
    double scale = 1;
    if (text_is(rest, "%") && unit_same(unit, unit_one)) {
        number /= 100;
    } else if (unit_counts(unit) && count_suffix(rest) > 0) {
        scale = count_suffix(rest);
    } else if (!*bare) {
        struct unit got;
        if (!unit_behind(rest, dollar, unit, &got, &scale))
            return unit_unknown(rest, whole, error) || wanted_unit(unit, error);
        if (!unit_same(got, unit)) {
            char seen[UNIT_WORDS];
            error_set(error, "'%.*s' %s%s", (int)whole.size, whole.data,
                      unit_same(got, unit_one) ? "is a count" : "is in ", unit_same(got, unit_one) ? "" : unit_words(got, seen));
            return unit_same(unit, unit_one) ? error_expected(error, "a number without a unit") : wanted_unit(unit, error);
        }
    }
    *value = sign * number * scale;
    if (isfinite(*value))
        return true;
    return error_set(error, "'%.*s' is too large", (int)whole.size, whole.data) ||
           error_expected(error, "a number of at most 308 digits");
}

static bool find_range(struct text text, struct text *low, struct text *high)
{
    for (size_t i = 0; i + 1 < text.size; i++)
        if (text.data[i] == '.' && text.data[i + 1] == '.') {
            *low = (struct text){ text.data, i };
            *high = (struct text){ text.data + i + 2, text.size - i - 2 };
            return true;
        }
    return false;
}

/* Two quantities; the first may borrow the unit of the second ("10..20GB"). */
static bool two_numbers(struct text first, struct text second, struct unit unit, double *a,
                        double *b, struct error *error)
{
    bool bare_a, bare_b;
    if (!one_number(second, unit, b, &bare_b, error))
        return false;
    struct text trimmed = text_trim(first);
    bool a_is_bare = number_size(trimmed) == trimmed.size && trimmed.size > 0;
    struct text t = text_trim(second);
    size_t size = number_size(t);
    struct text borrowed = text_trim((struct text){ t.data + size, t.size - size });
    if (a_is_bare && !bare_b && count_suffix(borrowed) == 0) {      /* "1..128k" is from 1 */
        char joined[160];
        int n = snprintf(joined, sizeof joined, "%.*s%.*s", (int)trimmed.size, trimmed.data,
                         (int)(t.size - size), t.data + size);
        if (n > 0 && (size_t)n < sizeof joined)
            return one_number((struct text){ joined, (size_t)n }, unit, a, &bare_a, error);
    }
    return one_number(first, unit, a, &bare_a, error);
}

static bool starts(struct text text, const char *word, struct text *inside)
{
    size_t size = strlen(word);
    if (text.size <= size + 1 || memcmp(text.data, word, size) || text.data[size] != '(' ||
        text.data[text.size - 1] != ')')
        return false;
    *inside = (struct text){ text.data + size + 1, text.size - size - 2 };
    return true;
}

/* The last comma followed by a space, else the last comma: "1,000, 2,000". */
static bool split_comma(struct text text, struct text *a, struct text *b)
{
    size_t at = 0;
    for (size_t i = 1; i < text.size; i++)
        if (text.data[i] == ',' && (!at || (i + 1 < text.size && text.data[i + 1] == ' ')))
            at = i;
    *a = (struct text){ text.data, at };
    *b = (struct text){ text.data + at + 1, text.size - at - 1 };
    return at > 0;
}

static bool parse_distribution(struct text inside, enum distribution distribution, struct unit unit,
                               struct quantity *out, struct error *error)
{
    struct text a, b;
    static const struct unit one = { { 0 } };
    if (!split_comma(inside, &a, &b)) {
        error_set(error, "a distribution needs two numbers, '%.*s' is one", (int)inside.size, inside.data);
        return error_expected(error, "normal(mean, deviation), lognormal(median, factor), "
                              "uniform(low, high)");
    }
    bool bare;
    bool read = distribution == DISTRIBUTION_LOGNORMAL
                ? one_number(a, unit, &out->low, &bare, error) &&
                  one_number(b, one, &out->high, &bare, error)
                : two_numbers(a, b, unit, &out->low, &out->high, error);
    if (!read)
        return false;
    if (distribution == DISTRIBUTION_UNIFORM ? out->low >= out->high
        : distribution == DISTRIBUTION_NORMAL ? out->high <= 0
        : out->high <= 1 || out->low <= 0) {
        error_set(error, "invalid parameters '%.*s' of a distribution", (int)inside.size, inside.data);
        return error_expected(error, "normal(mean, deviation > 0), lognormal(median > 0, factor > "
                              "1), uniform(low < high)");
    }
    out->value = distribution == DISTRIBUTION_UNIFORM ? out->low / 2 + out->high / 2 : out->low;
    out->distribution = distribution;
    return true;
}

bool quantity_parse(struct text text, struct unit unit, struct quantity *out,
                    struct error *error)
{
    text = text_trim(text);
    struct text low, high, inside;
    if (starts(text, "uniform", &inside))
        return parse_distribution(inside, DISTRIBUTION_UNIFORM, unit, out, error);
    if (starts(text, "normal", &inside))
        return parse_distribution(inside, DISTRIBUTION_NORMAL, unit, out, error);
    if (starts(text, "lognormal", &inside))
        return parse_distribution(inside, DISTRIBUTION_LOGNORMAL, unit, out, error);
    if (!find_range(text, &low, &high)) {
        bool bare;
        out->distribution = DISTRIBUTION_NONE;
        if (!one_number(text, unit, &out->value, &bare, error))
            return false;
        out->low = out->high = out->value;
        return true;
    }
    if (!two_numbers(low, high, unit, &out->low, &out->high, error))
        return false;
    if (out->low > out->high) {
        error_set(error, "the range '%.*s' is empty", (int)text.size, text.data);
        return error_expected(error, "low..high, low first");
    }
    out->value = out->low > 0 && out->high > 10 * out->low ? sqrt(out->low) * sqrt(out->high)
                                                           : out->low / 2 + out->high / 2;
    out->distribution = DISTRIBUTION_RANGE;
    return true;
}

/* A sign and digits alone. */
static bool is_bare(struct text text)
{
    text = text_trim(text);
    if (text.size && strchr("+-", *text.data))
        text.data++, text.size--;
    return text.size && number_size(text) == text.size;
}

const char *quantity_with_unit(struct arena *arena, const char *whole, const char *unit)
{
    const struct text text = text_trim(text_of(whole));
    struct text inside = text, a = { 0 }, b;
    const bool factor = starts(text, "lognormal", &inside);     /* its second number has no unit */
    if (factor || starts(text, "uniform", &inside) || starts(text, "normal", &inside)) {
        if (!split_comma(inside, &a, &b))
            return NULL;
    } else if (!find_range(text, &a, &b)) {
        b = text;
    }
    if (!is_bare(b) || (a.size && !is_bare(a)))
        return NULL;
    const struct text last = text_trim(factor ? a : b);
    const size_t before = (size_t)(last.data + last.size - text.data);
    return arena_print(arena, "%.*s%s%.*s", (int)before, text.data, unit, (int)(text.size - before),
                       text.data + before);
}

/* ---- quantities: printing -------------------------------------------------------------- */

/* How a unit is printed: with the first (largest) step that the number reaches. */
struct unit_step {
    double scale;
    const char *name;
};

struct look {
    struct unit unit;
    struct unit_step steps[9];           /* largest first */
};

static const struct look looks[] = {
    { { { [UNIT_S] = 2 } },
      { { 31536000, "years" }, { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" }, { 1e-3, "ms" },
        { 1e-6, "us" }, { 1e-9, "ns" } } },
    { { { [UNIT_B] = 2 } },
      { { 1e15, "PB" }, { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "B" } } },
    { { { [UNIT_B] = 2, [UNIT_S] = -2 } },
      { { 1e15, "PB/s" }, { 1e12, "TB/s" }, { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" },
        { 1, "B/s" } } },
    { { { [UNIT_B] = 2, [UNIT_TOKEN] = -2 } },
      { { 1e9, "GB/token" }, { 1e6, "MB/token" }, { 1e3, "kB/token" }, { 1, "B/token" } } },
    { { { [UNIT_FLOP] = 2 } },
      { { 1e21, "ZFLOP" }, { 1e18, "EFLOP" }, { 1e15, "PFLOP" }, { 1e12, "TFLOP" }, { 1e9, "GFLOP" },
        { 1e6, "MFLOP" }, { 1, "FLOP" } } },
    { { { [UNIT_FLOP] = 2, [UNIT_S] = -2 } },
      { { 1e18, "EFLOP/s" }, { 1e15, "PFLOP/s" }, { 1e12, "TFLOP/s" }, { 1e9, "GFLOP/s" },
        { 1, "FLOP/s" } } },
    { { { [UNIT_FLOP] = 2, [UNIT_TOKEN] = -2 } },
      { { 1e15, "PFLOP/token" }, { 1e12, "TFLOP/token" }, { 1e9, "GFLOP/token" }, { 1, "FLOP/token" } } },
    { { { [UNIT_USD] = 2, [UNIT_S] = -2 } }, { { 1.0 / 3600, "USD/h" } } },
    { { { [UNIT_USD] = 2, [UNIT_TOKEN] = -2 } }, { { 1e-6, "USD/Mtoken" } } },
    { { { [UNIT_USD] = 2, [UNIT_TOKEN] = -2, [UNIT_S] = -2 } }, { { 1e-6 / 3600, "USD/Mtoken/h" } } },
    { { { [UNIT_USD] = 2, [UNIT_TOKEN] = -4 } }, { { 1e-6, "USD/Mtoken/token" } } },
    { { { [UNIT_USD] = 2, [UNIT_B] = -2 } }, { { 1e-9, "USD/GB" } } },
    { { { [UNIT_USD] = 2, [UNIT_B] = -2, [UNIT_S] = -2 } }, { { 1e-9 / 3600, "USD/GB/h" } } },
    { { { [UNIT_TOKEN] = 2, [UNIT_S] = -2 } }, { { 1, "token/s" } } },
    { { { [UNIT_J] = 2, [UNIT_S] = -2 } }, { { 1e6, "MW" }, { 1e3, "kW" }, { 1, "W" } } },
    { { { [UNIT_USD] = 2, [UNIT_J] = -2 } }, { { 1 / 3.6e6, "USD/kWh" } } },
    { { { [UNIT_USD] = 2, [UNIT_J] = -2, [UNIT_S] = 2 } }, { { 1, "USD/W" } } },
    { { { [UNIT_G] = 2 } }, { { 1e6, "t" }, { 1e3, "kg" }, { 1, "g" }, { 1e-3, "mg" } } },
    { { { [UNIT_G] = 2, [UNIT_J] = -2 } }, { { 1 / 3.6e6, "g/kWh" } } },
    { { { [UNIT_G] = 2, [UNIT_TOKEN] = -2 } }, { { 1e-6, "g/Mtoken" } } },
    { { { [UNIT_L] = 2, [UNIT_J] = -2 } }, { { 1 / 3.6e6, "L/kWh" } } },
    { { { [UNIT_L] = 2, [UNIT_TOKEN] = -2 } }, { { 1e-6, "L/Mtoken" } } },
};

static const struct look *look_find(struct unit unit)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (unit_same(unit, looks[i].unit))
            return &looks[i];
    return NULL;
}

/* Minutes, hours and days are used from 2 on, other steps from 1 on. */
static bool reaches(double size, const struct unit_step *step)
{
    bool long_time = !strcmp(step->name, "min") || !strcmp(step->name, "h") ||
                     !strcmp(step->name, "d");
    return size >= (long_time ? 2 : 1) * step->scale * (1 - 1e-12);
}

/* Cut the zeros at the end of a fraction. */
static void cut_zeros(char *text)
{
    if (!strchr(text, '.'))
        return;
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.')
        *--end = 0;
}

/* 12,194 or 0.0393 or 2.592e15: `digits` significant, thousands separated. */
static void number_print(struct buffer *out, double value, int digits)
{
    double size = fabs(value);
    char text[64];
    digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
    if (size != 0 && (size >= 1e9 || size < 1e-4)) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        char *power = strchr(text, 'e');
        *power = 0;
        cut_zeros(text);
        buffer_print(out, "%se%ld", text, strtol(power + 1, NULL, 10));
        return;
    }
    int whole = size == 0 ? 1 : (int)floor(log10(size)) + 1;
    snprintf(text, sizeof text, "%.*f", digits > whole ? digits - whole : 0, size);
    cut_zeros(text);
    int length = (int)strcspn(text, ".");
    if (value < 0)
        buffer_print(out, "-");
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            buffer_print(out, ",");
        buffer_add(out, text + i, 1);
    }
    buffer_print(out, "%s", text + length);
}

void decimal_print(struct buffer *out, double value, int decimals)
{
    char text[64];
    if (!(fabs(value) < 1e9)) {
        quantity_print(out, value, unit_one, 6);
        return;
    }
    snprintf(text, sizeof text, "%.*f", decimals > 17 ? 17 : decimals, value);
    const bool zero = !text[strspn(text, "-0.")];
    buffer_print(out, "%s", text + (zero && *text == '-'));
}

void share_print(struct buffer *out, double value, int decimals)
{
    decimal_print(out, isfinite(100 * value) ? 100 * value : value, decimals);
    if (isfinite(100 * value))
        buffer_print(out, " %%");
}

void quantity_print(struct buffer *out, double value, struct unit unit, int digits)
{
    if (!isfinite(value)) {
        buffer_print(out, "%s", isnan(value) ? "unknown" : value > 0 ? "infinite" : "-infinite");
        return;
    }
    const struct look *look = look_find(unit);
    if (look) {
        const struct unit_step *step = look->steps;
        double size = value == 0 ? 1 : fabs(value);
        while (step[1].name && !reaches(size, step))
            step++;
        if (isfinite(value / step->scale)) {
            number_print(out, value / step->scale, digits);
            buffer_print(out, " %s", step->name);
            return;
        }
    }
    number_print(out, value, digits);
    if (unit_same(unit, unit_one))
        return;
    buffer_print(out, " ");
    unit_print(out, unit);
}

const char *quantity_text(struct arena *arena, double value, struct unit unit, int digits)
{
    struct buffer buffer = { .arena = arena };
    quantity_print(&buffer, value, unit, digits);
    return buffer.data;
}

const char *quantity_range(struct arena *arena, double low, double high, struct unit unit, int digits)
{
    const char *from = quantity_text(arena, low, unit, digits);
    const char *to = quantity_text(arena, high, unit, digits);
    const size_t number = strcspn(from, " ");
    const bool same = !strcmp(from + number, to + strcspn(to, " "));
    return arena_print(arena, "%.*s to %s", (int)(same ? number : strlen(from)), from, to);
}
