/* Words of a text, in a form in which they can be compared.
 *
 * A text is cut at everything that is no letter or digit. Each word loses its endings, whatever they
 * are, as long as four letters are left: the results are no English, but the same for all words of one
 * family. Then the longest phrases that formulas/synonyms.txt lists become one word each. */
#include "rows/words.h"

#include "base/embedded.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PHRASE_WORDS = 4, STEM_LEAST = 4 };

static bool is_common(const char *word)
{
    static const char *const common[] = {       /* in order */
        "a", "about", "actual", "actually", "after", "again", "ai", "also", "always", "an", "and", "any",
        "anything", "are", "as", "at", "be", "because", "become", "becomes", "been", "before", "being",
        "both", "but", "by", "can", "come", "comes", "could", "did", "do", "does", "done", "during", "each",
        "either", "else", "enough", "entire", "even", "ever", "every", "for", "from", "get", "gets", "give",
        "given", "go", "goes", "going", "had", "happen", "happens", "has", "have", "having", "here", "him",
        "how", "however", "i", "if", "in", "instead", "into", "is", "it", "its", "itself", "just", "keeps",
        "kind", "let", "like", "llm", "llms", "lot", "made", "make", "makes", "many", "me", "might", "much",
        "must", "my", "need", "needed", "needs", "new", "nobody", "not", "now", "of", "off", "on", "one",
        "only", "onto", "or", "other", "others", "our", "own", "put", "quite", "rather", "really", "say",
        "says", "see", "should", "show", "shows", "simply", "so", "some", "something", "such", "take",
        "takes", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing",
        "things", "this", "those", "through", "to", "too", "toward", "us", "use", "used", "uses", "using",
        "very", "via", "want", "was", "way", "we", "well", "were", "what", "when", "where", "whether",
        "which", "while", "who", "whose", "why", "will", "with", "within", "without", "would", "you",
        "your" };
    size_t low = 0, high = sizeof common / sizeof *common;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(word, common[middle]);
        if (!order)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Cut one ending; false: there is none to cut. */
static bool cut_ending(char *word)
{
#define ENDING(text) { text, sizeof text - 1 }
    static const struct { const char *text; size_t size; } endings[] = {
        ENDING("ization"), ENDING("isation"), ENDING("ation"), ENDING("izing"), ENDING("ising"),
        ENDING("ments"), ENDING("ized"), ENDING("ised"), ENDING("ment"), ENDING("ness"), ENDING("able"),
        ENDING("ible"), ENDING("ance"), ENDING("ence"), ENDING("ancy"), ENDING("ency"), ENDING("ings"),
        ENDING("ing"), ENDING("ies"), ENDING("ers"), ENDING("ion"), ENDING("ity"), ENDING("ive"), ENDING("ize"),
        ENDING("ise"), ENDING("ant"), ENDING("ent"), ENDING("est"), ENDING("als"), ENDING("al"), ENDING("er"),
        ENDING("ed"), ENDING("es"), ENDING("ly"), ENDING("ic"), ENDING("s"), ENDING("e"), ENDING("y") };
#undef ENDING
    const size_t size = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *ending = endings[i].text;
        const size_t end = endings[i].size;
        if (size < end + STEM_LEAST || word[size - end] != *ending || strcmp(word + size - end, ending))
            continue;
        if (*ending == 's' && end == 1 && strchr("su", word[size - 2]))
            continue;                                   /* "less", "bus" */
        word[size - end] = 0;
        return true;
    }
    return false;
}

static void stem(char *word)
{
    size_t size = strlen(word);
    if (isdigit((unsigned char)word[0]))
        return;
    if (size == STEM_LEAST && word[size - 1] == 's' && word[size - 2] != 's')
        word[size - 1] = 0;                             /* "gpus" */
    while (cut_ending(word))
        ;
    size = strlen(word);
    if (size > STEM_LEAST && word[size - 1] == word[size - 2] && !strchr("ls", word[size - 1]))
        word[size - 1] = 0;                             /* "stepp" of "stepping" */
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

static void split(const char *text, size_t size, struct words *words)
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

/* ---- synonyms ------------------------------------------------------------------------------------- */

struct synonym {
    char phrase[PHRASE_WORDS][WORD_SIZE], means[WORD_SIZE];
    size_t words;
};

/* By the first word, then the longest first, so that the first that fits is the longest. */
static int by_phrase(const void *a, const void *b)
{
    const struct synonym *x = a, *y = b;
    int order = strcmp(x->phrase[0], y->phrase[0]);
    if (!order)
        order = (x->words < y->words) - (x->words > y->words);
    for (size_t i = 1; !order && i < x->words; i++)
        order = strcmp(x->phrase[i], y->phrase[i]);
    return order ? order : strcmp(x->means, y->means);
}

static size_t count_phrases(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == ',' || text[i] == '\n';
    return count;
}

/* One line: "tpot: inter-token latency, time per output token". */
static void read_line(const char *line, size_t size, struct synonym *all, size_t *count)
{
    struct words means, phrase;
    const char *end = line + size, *colon = memchr(line, ':', size);
    if (*line == '#' || !colon)
        return;
    split(line, (size_t)(colon - line), &means);
    for (const char *at = colon + 1; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        split(at, (size_t)(stop - at), &phrase);
        at = stop + 1;
        if (means.count != 1 || !phrase.count || phrase.count > PHRASE_WORDS)
            continue;
        struct synonym *one = &all[(*count)++];
        memcpy(one->phrase, phrase.at, phrase.count * sizeof *phrase.at);
        memcpy(one->means, means.at[0], WORD_SIZE);
        one->words = phrase.count;
    }
}

void synonyms_read(struct synonyms *synonyms, struct arena *arena)
{
    const struct embedded *file = embedded_words;
    struct synonym *all = arena_array(arena, count_phrases(file->data, file->size) + 1, sizeof *all);
    const char *end = file->data + file->size;
    *synonyms = (struct synonyms){ .at = all };
    for (const char *line = file->data; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        if (stop > line)
            read_line(line, (size_t)(stop - line), all, &synonyms->count);
        line = stop + 1;
    }
    qsort(all, synonyms->count, sizeof *all, by_phrase);
}

/* The longest phrase that begins at word `from`; NULL: none. */
static const struct synonym *phrase_at(const struct synonyms *synonyms, const struct words *words, size_t from)
{
    size_t low = 0, high = synonyms->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(synonyms->at[middle].phrase[0], words->at[from]) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (const struct synonym *one = &synonyms->at[low];
         low < synonyms->count && !strcmp(one->phrase[0], words->at[from]); low++, one++) {
        size_t same = 1;
        while (same < one->words && from + same < words->count && !strcmp(one->phrase[same], words->at[from + same]))
            same++;
        if (same == one->words)
            return one;
    }
    return NULL;
}

void words_read(const struct synonyms *synonyms, const char *text, size_t size, struct words *words)
{
    size_t count = 0;
    split(text, size, words);
    for (size_t i = 0; i < words->count; count++) {
        const struct synonym *one = phrase_at(synonyms, words, i);
        memmove(words->at[count], one ? one->means : words->at[i], WORD_SIZE);
        i += one ? one->words : 1;
    }
    words->count = count;
}

static bool has_phrase(const char *phrases, const char *one)
{
    const size_t size = strlen(one);
    for (const char *at = phrases; *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncmp(at, one, size) && (!at[size] || at[size] == ','))
            return true;
    return false;
}

const char *words_of_phrases(const struct synonyms *synonyms, struct arena *arena, const char *phrases)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (const char *at = phrases; *at;) {
        const size_t size = strcspn(at, ",");
        struct buffer one = { .arena = arena };
        struct words words;
        words_read(synonyms, at, size, &words);
        buffer_add(&one, "", 0);
        for (size_t i = 0; i < words.count; i++)
            buffer_print(&one, "%s%s", i ? " " : "", words.at[i]);
        if (one.size && !has_phrase(out.data, one.data))
            buffer_print(&out, "%s%s", out.size ? "," : "", one.data);
        at += size + (at[size] == ',');
    }
    return out.data;
}

void words_read_again(const char *text, size_t size, struct words *words)
{
    words->count = 0;
    for (size_t i = 0; i < size && words->count < WORDS_MOST;) {
        size_t end = i;
        while (end < size && text[end] != ' ' && text[end] != ',')
            end++;
        memcpy(words->at[words->count], text + i, end - i);
        words->at[words->count++][end - i] = 0;
        i = end + 1;
    }
}

bool words_have(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], word))
            return true;
    return false;
}
