/* Rows found by words: by name and aliases, by what people call them ("words:" lines), by symbol, unit
 * and meaning; and passages by their sentences. A word counts the more the fewer rows have it; where it stands
 * says how much. What is asked for (a time, a cost, a share) speaks for rows of such a unit, and of two rows alike
 * in their words the one that people have a name for comes first. Words that ask a question want an answer, not a
 * constant: a passage that has all of them comes first, and an input last. */
#include "rows/rows.h"
#include "rows/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where a word of a row stands, the strongest first. */
enum field { FIELD_PHRASE, FIELD_NAME, FIELD_MEANING, FIELD_MORE, FIELD_CHAPTER, FIELDS };
static const double weights[FIELDS] = { 1, 1, 0.6, 0.3, 0.2 };
static const double passage_weights[FIELDS] = { 0, 1, 0.9, 0.3, 0 };

enum wants { WANTS_NAMED, WANTS_QUANTITY, WANTS_REASON };

struct lookup {
    const struct formulas *formulas;
    struct passages passages;
    struct arena *arena;
    struct synonyms synonyms;
    const char **words;             /* every word of every row but its chapter's, once a row; in order */
    size_t word_count;
    struct words asked;
    double rarity[WORDS_MOST];      /* of the words asked */
    const char *text, *unit;        /* the words asked; what they ask for, NULL: they do not say */
    enum wants wants;
};

/* ---- the rows ------------------------------------------------------------------------------------- */

static const char *names_text(struct arena *arena, const struct row *row)
{
    return arena_print(arena, "%s %s", row_name(row), row_aliases(row) ? row_aliases(row) : "");
}

/* What a row says in one field; "": nothing. */
static const char *field_text(const struct lookup *lookup, size_t at, enum field field)
{
    const struct formulas *formulas = lookup->formulas;
    const struct row *row = formulas_row(formulas, at);
    const char *text = NULL;
    if (field == FIELD_PHRASE)
        text = row_words(row);
    if (field == FIELD_NAME)
        text = names_text(lookup->arena, row);
    if (field == FIELD_MEANING)
        text = row_meaning(row);
    if (field == FIELD_CHAPTER && row->chapter >= 0 && (size_t)row->chapter < formulas->chapter_count)
        text = formulas->chapters[row->chapter].title;
    return text ? text : "";
}

/* The same of a passage. */
static const char *passage_text(const struct passage *passage, enum field field)
{
    const char *text = field == FIELD_NAME      ? passage->name
                       : field == FIELD_MEANING ? passage->sentence
                       : field == FIELD_MORE    ? passage->more
                                                : NULL;
    return text ? text : "";
}

static void field_words(const struct lookup *lookup, size_t at, enum field field, struct words *words)
{
    const size_t rows = lookup->formulas->count;
    const char *text = at < rows ? field_text(lookup, at, field) : passage_text(&lookup->passages.at[at - rows], field);
    if (field == FIELD_PHRASE)
        words_read_again(text, strlen(text), words);
    else
        words_read(&lookup->synonyms, text, strlen(text), words);
}

/* ---- how rare a word is --------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_words(struct lookup *lookup)
{
    size_t most = 0;
    for (size_t at = 0; at < lookup->formulas->count + lookup->passages.count; at++) {
        const char *of_row[FIELD_CHAPTER * WORDS_MOST];
        size_t count = 0;
        for (int field = 0; field < FIELD_CHAPTER; field++) {
            struct words words;
            field_words(lookup, at, (enum field)field, &words);
            for (size_t i = 0; i < words.count; i++)
                of_row[count++] = arena_copy(lookup->arena, words.at[i], strlen(words.at[i]));
        }
        qsort(of_row, count, sizeof *of_row, by_text);
        for (size_t i = 0; i < count; i++) {
            if (i && !strcmp(of_row[i], of_row[i - 1]))
                continue;
            if (lookup->word_count == most) {
                const char **more = arena_array(lookup->arena, 2 * most + 4096, sizeof *more);
                if (most)
                    memcpy(more, lookup->words, most * sizeof *more);
                lookup->words = more;
                most = 2 * most + 4096;
            }
            lookup->words[lookup->word_count++] = of_row[i];
        }
    }
    if (lookup->word_count)
        qsort(lookup->words, lookup->word_count, sizeof *lookup->words, by_text);
}

/* Number of words in order before `word`, or also those that are it. */
static size_t words_before(const struct lookup *lookup, const char *word, bool too)
{
    size_t low = 0, high = lookup->word_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(lookup->words[middle], word);
        if (order < 0 || (too && !order))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The more rows have a word, the less it says. */
static double rarity(const struct lookup *lookup, const char *word)
{
    const size_t rows = words_before(lookup, word, true) - words_before(lookup, word, false);
    return scalar_log(1 + (double)lookup->formulas->count / (1 + (double)rows));
}

/* ---- how well a row answers ----------------------------------------------------------------------- */

/* How much these words have in common with those asked: 1 if they are the same, 0 if they share none. */
static double likeness(const struct lookup *lookup, const struct words *words)
{
    double common = 0, asked = 0, own = 0;
    for (size_t i = 0; i < words->count; i++)
        own += rarity(lookup, words->at[i]);
    for (size_t i = 0; i < lookup->asked.count; i++) {
        asked += lookup->rarity[i];
        common += words_have(words, lookup->asked.at[i]) ? lookup->rarity[i] : 0;
    }
    return own > 0 && asked > 0 ? fmin(1, common * common / (own * asked)) : 0;
}

static double text_likeness(const struct lookup *lookup, const char *text, size_t size)
{
    struct words words;
    words_read(&lookup->synonyms, text, size, &words);
    return likeness(lookup, &words);
}

/* That of the name or alias, and that of the phrase, which has most of it. */
static double name_likeness(const struct lookup *lookup, const struct row *row)
{
    double best = 0;
    for (const char *at = names_text(lookup->arena, row); *at;) {
        const size_t size = strcspn(at, " ");
        best = fmax(best, text_likeness(lookup, at, size));
        at += size + strspn(at + size, " ");
    }
    return best;
}

static double phrase_likeness(const struct lookup *lookup, const struct row *row)
{
    double best = 0;
    for (const char *at = row_words(row) ? row_words(row) : ""; *at;) {
        const size_t size = strcspn(at, ",");
        struct words words;
        words_read_again(at, size, &words);
        best = fmax(best, likeness(lookup, &words));
        at += size + (at[size] == ',');
    }
    return best;
}

/* Does `words` stand in `text`, in any case, with nothing but spaces around it? */
static bool says(const char *text, const char *words)
{
    const size_t size = strlen(words);
    for (const char *at = text; *at; at++)
        if (!strncasecmp(at, words, size) && (at == text || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
    return false;
}

/* Words that say what is asked for, and the unit of the rows that answer. */
static const char *unit_asked(const char *text)
{
    static const struct {
        const char *words, *unit;
    } asks[] = {
        { "how long", "s" }, { "how soon", "s" }, { "how fast", "token/s" }, { "how many tokens", "token" },
        { "how many", "1" }, { "how big", "B" }, { "per second", "token/s" }, { "dollars", "USD" }, { "cost", "USD" },
        { "price", "USD" }, { "probability", "1" }, { "share of", "1" }, { "ratio", "1" }, { "fraction", "1" },
        { "number of", "1" }, { "utilization", "1" }, { "time", "s" }, { "latency", "s" }, { "duration", "s" },
        { "memory", "B" }, { "bytes", "B" }, { "speed", "token/s" } };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (says(text, asks[i].words))
            return asks[i].unit;
    return NULL;
}

/* What kind of answer the words want: a reason or advice, a quantity, or whatever they name. */
static enum wants wanted(const char *text)
{
    static const char *const reasons[] = { "why", "when", "which", "where", "does", "do", "is", "are", "should", "can",
                                           "will", "would", "better", "vs", "or" };
    static const char *const amounts[] = { "how much", "how many", "how long", "how big", "how large", "how fast" };
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        if (says(text, amounts[i]))
            return WANTS_QUANTITY;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (says(text, reasons[i]))
            return WANTS_REASON;
    return says(text, "how") || says(text, "what") ? WANTS_QUANTITY : WANTS_NAMED;
}

/* The share of the asked words that an entry has; a word counts as much as its strongest place. */
static double covered(const struct lookup *lookup, size_t at)
{
    const struct words *asked = &lookup->asked;
    const double *of = at < lookup->formulas->count ? weights : passage_weights;
    double strongest[WORDS_MOST] = { 0 }, sum = 0, all = 0;
    for (int field = 0; field < FIELDS; field++) {
        struct words words;
        field_words(lookup, at, (enum field)field, &words);
        for (size_t i = 0; i < asked->count; i++)
            if (words_have(&words, asked->at[i]))
                strongest[i] = fmax(strongest[i], of[field]);
    }
    for (size_t i = 0; i < asked->count; i++) {
        sum += lookup->rarity[i] * strongest[i];
        all += lookup->rarity[i];
    }
    return all > 0 ? sum / all : 0;
}

static double score(const struct lookup *lookup, size_t at)
{
    const struct row *row = formulas_row(lookup->formulas, at);
    double value = covered(lookup, at);
    double whole = 1.5 * phrase_likeness(lookup, row);
    whole = fmax(whole, 1.2 * name_likeness(lookup, row));
    value += whole + 0.7 * text_likeness(lookup, row_meaning(row), strcspn(row_meaning(row), ":;(,"));
    if (!strcmp(row_symbol(row), lookup->text) || !strcmp(row_unit_text(row), lookup->text))
        return value + 1;
    if (value > 0) {
        value += lookup->unit && !strncmp(row_unit_text(row), lookup->unit, strlen(lookup->unit)) ? 0.1 : 0;
        value += row_words(row) ? 0.1 : 0;
        value -= row_expr(row) ? 0 : lookup->wants == WANTS_NAMED ? 0.1 : 0.25;
    }
    return value;
}

/* A passage is long: what counts is how much of the question it has, and how well the row that it is about
 * answers. */
static double passage_score(const struct lookup *lookup, size_t at)
{
    const struct passage *passage = &lookup->passages.at[at];
    const double part = covered(lookup, lookup->formulas->count + at);
    const char *const name = passage->name + strcspn(passage->name, ".");
    const double named = text_likeness(lookup, name, strlen(name));
    const double of_row = passage->row >= 0 ? score(lookup, (size_t)passage->row) : 0;
    return part + part * part + named + 0.3 * of_row + (lookup->wants == WANTS_REASON ? part : lookup->wants == WANTS_QUANTITY ? -0.5 : 0);
}

static int by_score(const void *a, const void *b)
{
    const struct row_match *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->row > y->row) - (x->row < y->row);
}

size_t formulas_lookup(const struct formulas *formulas, const char *text, struct passages passages,
                       struct row_match *matches, size_t most)
{
    static const double least = 0.35;
    struct arena scratch = { 0 };
    struct lookup lookup = { .formulas = formulas, .passages = passages, .arena = &scratch, .text = text,
                             .unit = unit_asked(text), .wants = wanted(text) };
    struct row_match *all = arena_array(&scratch, formulas->count + passages.count + 1, sizeof *all);
    size_t count = 0;
    synonyms_read(&lookup.synonyms, &scratch);
    collect_words(&lookup);
    words_read(&lookup.synonyms, text, strlen(text), &lookup.asked);
    for (size_t i = 0; i < lookup.asked.count; i++)
        lookup.rarity[i] = rarity(&lookup, lookup.asked.at[i]);
    for (size_t at = 0; at < formulas->count + passages.count; at++) {
        const double value = at < formulas->count ? score(&lookup, at) : passage_score(&lookup, at - formulas->count);
        if (value > least)
            all[count++] = (struct row_match){ (int)at, value };
    }
    qsort(all, count, sizeof *all, by_score);
    if (count > most)
        count = most;
    memcpy(matches, all, count * sizeof *all);
    arena_free(&scratch);
    return count;
}
