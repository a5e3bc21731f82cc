/* Rows found by words: by name and aliases, by what people call them ("words:" lines), by symbol, unit
 * and meaning. A word counts the more the fewer rows have it; where it stands says how much. */
#include "rows/rows.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 48, WORD_SIZE = 32 };

/* Where a word of a row stands, the strongest first. */
enum field { FIELD_PHRASE, FIELD_NAME, FIELD_MEANING, FIELD_MORE, FIELD_CHAPTER, FIELDS };
static const double weights[FIELDS] = { 1, 1, 0.5, 0.3, 0.2 };

struct words {
    char at[WORDS_MOST][WORD_SIZE];
    size_t count;
};

static bool is_common(const char *word)
{
    static const char *const common[] = {
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how",
        "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "one", "or", "so", "than", "that", "the", "then",
        "there", "this", "to", "up", "was", "we", "what", "when", "where", "which", "why", "will", "with", "you",
        "your", "llm", "llms", "ai", "should", "would", "many", "much" };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (!strcmp(word, common[i]))
            return true;
    return false;
}

static bool ends(const char *word, size_t size, const char *end)
{
    const size_t length = strlen(end);
    return size > length + 2 && !strcmp(word + size - length, end);
}

/* "batches" and "batching" are "batch". */
static void stem(char *word)
{
    static const char *const endings[] = { "ations", "ation", "ings", "ing", "ies", "es", "ed", "s", "e" };
    const size_t size = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends(word, size, endings[i]) && !(endings[i][0] == 's' && word[size - 2] == 's')) {
            word[size - strlen(endings[i])] = 0;
            return;
        }
}

static void add_word(struct words *words, const char *begin, size_t size)
{
    char *word = words->at[words->count];
    if (!size || words->count == WORDS_MOST)
        return;
    if (size >= WORD_SIZE)
        size = WORD_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        word[i] = (char)tolower((unsigned char)begin[i]);
    word[size] = 0;
    if (is_common(word))
        return;
    stem(word);
    words->count++;
}

static void read_words(const char *text, size_t size, struct words *words)
{
    size_t begin = 0;
    words->count = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && isalnum((unsigned char)text[i]))
            continue;
        add_word(words, text + begin, i - begin);
        begin = i + 1;
    }
}

static bool has(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], word))
            return true;
    return false;
}

/* ---- the rows ------------------------------------------------------------------------------------- */

static void field_words(const struct formulas *formulas, size_t at, const char *const *more, enum field field,
                        struct words *words)
{
    const struct row *row = formulas->rows[at];
    struct buffer text = { 0 };
    words->count = 0;
    if (field == FIELD_PHRASE && row->words)
        read_words(row->words, strlen(row->words), words);
    if (field == FIELD_MEANING)
        read_words(row->meaning, strlen(row->meaning), words);
    if (field == FIELD_MORE && more && more[at])
        read_words(more[at], strlen(more[at]), words);
    const bool headed = row->chapter >= 0 && (size_t)row->chapter < formulas->chapter_count;
    if (field == FIELD_CHAPTER && headed) {
        const char *title = formulas->chapters[row->chapter].title;
        read_words(title, strlen(title), words);
    }
    if (field != FIELD_NAME)
        return;
    struct arena arena = { 0 };
    text.arena = &arena;
    buffer_print(&text, "%s %s %s", row->name, row->aliases ? row->aliases : "", row->was ? row->was : "");
    read_words(text.data, text.size, words);
    arena_free(&arena);
}

/* How much of one phrase is in the question, and of the question in the phrase: 1 if they are the same
 * words. */
static double likeness(const char *phrase, size_t size, const struct words *asked, const double *rarity)
{
    struct words words;
    size_t common = 0;
    double covered = 0, all = 0;
    read_words(phrase, size, &words);
    for (size_t i = 0; i < words.count; i++)
        common += has(asked, words.at[i]);
    for (size_t i = 0; i < asked->count; i++) {
        all += rarity[i];
        covered += has(&words, asked->at[i]) ? rarity[i] : 0;
    }
    return words.count && all > 0 ? (double)common / (double)words.count * covered / all : 0;
}

static double best_phrase(const char *phrases, const struct words *asked, const double *rarity)
{
    double best = 0;
    while (phrases && *phrases) {
        const size_t size = strcspn(phrases, ",");
        best = fmax(best, likeness(phrases, size, asked, rarity));
        phrases += size + strspn(phrases + size, ", ");
    }
    return best;
}

static double score(const struct formulas *formulas, size_t at, const char *const *more, const struct words *asked,
                    const double *rarity, const char *text)
{
    const struct row *row = formulas->rows[at];
    double strongest[WORDS_MOST] = { 0 }, sum = 0, all = 0;
    for (int field = 0; field < FIELDS; field++) {
        struct words words;
        field_words(formulas, at, more, (enum field)field, &words);
        for (size_t i = 0; i < asked->count; i++)
            if (has(&words, asked->at[i]))
                strongest[i] = fmax(strongest[i], weights[field]);
    }
    for (size_t i = 0; i < asked->count; i++) {
        sum += rarity[i] * strongest[i];
        all += rarity[i];
    }
    double whole = 2 * best_phrase(row->words, asked, rarity);
    whole = fmax(whole, 1.5 * likeness(row->name, strlen(row->name), asked, rarity));
    whole += 0.5 * likeness(row->meaning, strcspn(row->meaning, ":;(,"), asked, rarity);
    if (!strcmp(row->symbol, text) || !strcmp(row->unit_text, text))
        whole += 1;
    return all > 0 ? sum / all + whole : whole;
}

/* The more rows have a word, the less it says. */
static void find_rarity(const struct formulas *formulas, const char *const *more, const struct words *asked,
                        double *rarity)
{
    size_t rows[WORDS_MOST] = { 0 };
    for (size_t at = 0; at < formulas->count; at++) {
        bool in[WORDS_MOST] = { false };
        for (int field = 0; field < FIELD_CHAPTER; field++) {
            struct words words;
            field_words(formulas, at, more, (enum field)field, &words);
            for (size_t i = 0; i < asked->count; i++)
                in[i] |= has(&words, asked->at[i]);
        }
        for (size_t i = 0; i < asked->count; i++)
            rows[i] += in[i];
    }
    for (size_t i = 0; i < asked->count; i++)
        rarity[i] = scalar_log(1 + (double)formulas->count / (1 + (double)rows[i]));
}

static int by_score(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->row > y->row) - (x->row < y->row);
}

size_t formulas_lookup(const struct formulas *formulas, const char *text, const char *const *more,
                       struct match *matches, size_t most)
{
    static const double least = 0.2;
    struct arena scratch = { 0 };
    struct words asked;
    double rarity[WORDS_MOST];
    struct match *all = arena_array(&scratch, formulas->count + 1, sizeof *all);
    size_t count = 0;
    read_words(text, strlen(text), &asked);
    find_rarity(formulas, more, &asked, rarity);
    for (size_t at = 0; at < formulas->count; at++) {
        const double value = score(formulas, at, more, &asked, rarity, text);
        if (value > least)
            all[count++] = (struct match){ (int)at, value };
    }
    qsort(all, count, sizeof *all, by_score);
    if (count > most)
        count = most;
    memcpy(matches, all, count * sizeof *all);
    arena_free(&scratch);
    return count;
}
