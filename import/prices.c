/* Published price lists (JSON of routers and clouds, models.dev's CSV, our own format), read into one list of prices.
 *
 * An entry is kept if it has an input and an output price. Prices become USD per token; a price above
 * 1 USD per token is an error of units and is refused. Keys such as "..._above_200k_tokens", lists of
 * ranges and of steps give the prices of longer prompts, which apply to the whole request. A price of 0 is not
 * kept: it is counted, and the quantity has no price. Nothing is read from prose. Keys whose price is not for text
 * tokens, or holds only at some hours of the day, are listed in `unread`. */
#include "import/prices.h"

#include "catalog/catalog.h"
#include "catalog/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* USD per token. A higher price is a mistake of units. */
static const double PRICE_MOST = 1;

/* A row of data/price_keys.csv. A key is a head and a unit: "input_cost_per_token", "cache_read_mtok". A key without a unit
 * has the unit of its place in the entry: of "pricing" in OpenRouter's list, of the entry itself in LiteLLM's. */
struct key_row {
    const char *kind, *word, *says, *beside;
    double times;
};

/* What a field such as "unit": "per 1K tokens" says of the prices beside it. */
struct stated_unit {
    const char *text;               /* NULL: nothing is stated */
    double times;                   /* USD per token for a price of 1; NAN: no unit of data/price_keys.csv */
};
struct price_reader {
    struct arena *arena;
    struct price_sheet *sheet;
    struct error *error;
    const char *date;
    struct key_row *keys;           /* of data/price_keys.csv */
    size_t key_count;
    struct stated_unit unit;        /* of the objects around what is read */
    const char *met;                /* for an error: priced keys of an entry without a price per token; NULL */
    const char *unitless;           /* for an error: an entry whose input and output have no unit; NULL */
};

/* NULL and an error: one of the names is not plain text. `line`: 0 if the file has no lines. */
static struct price *add_price(struct price_reader *reader, int line, const char *seller,
                               const char *model)
{
    const char *file = reader->sheet->file;
    const char *place = line ? arena_print(reader->arena, "%s:%d", file, line) : file;
    if (!text_check(text_of(seller), place, reader->error) ||
        !text_check(text_of(model), place, reader->error))
        return NULL;
    struct price_sheet *sheet = reader->sheet;
    struct price *price = arena_push(reader->arena, &sheet->prices, &sheet->count, &sheet->room,
                                     sizeof *price);
    *price = (struct price){ .seller = seller, .model = model, .date = reader->date, .line = line,
                             .storage = NAN, .threshold = NAN, .fast = NAN, .context = NAN };
    for (int tier = 0; tier < SERVICE_TIERS; tier++)
        for (int above = 0; above < 2; above++)
            for (int class = 0; class < PRICE_CLASSES; class++)
                price->at[tier][above][class] = NAN;
    return price;
}

/* Drops the last entry unless it has an input and an output price. */
static bool keep_if_priced(struct price_reader *reader)
{
    const struct price *price = &reader->sheet->prices[reader->sheet->count - 1];
    const bool kept = price->at[0][0][PRICE_INPUT] > 0 && price->at[0][0][PRICE_OUTPUT] > 0;
    reader->sheet->count -= !kept;
    reader->sheet->left_out += !kept;
    return kept;
}

static void set_price(struct price *price, double *place, double value)
{
    if (value > 0)
        *place = value;
    else
        price->free++;
}

/* "prices_2026-08-01.json" has its date in its name. */
static const char *date_of_name(struct arena *arena, const char *file)
{
    const char *found = "";
    for (const char *at = file; *at; at++) {
        int size = 0;
        sscanf(at, "%*4[0-9]-%*2[0-9]-%*2[0-9]%n", &size);
        if (size == sizeof "2026-08-01" - 1)
            found = arena_copy(arena, at, (size_t)size);
    }
    return found;
}

/* ---- lists in JSON ------------------------------------------------------------------------- */

/* Reads the rows once, since each key of a list is compared with all of them. */
static void open_keys(struct price_reader *reader)
{
    static const char *const columns[] = { "kind", "word", "says", "beside", "times" };
    const struct csv *csv = csv_built_in("data/price_keys.csv");
    const char *cells[5];
    reader->keys = arena_array(reader->arena, csv->rows + 1, sizeof *reader->keys);
    for (size_t row = 0; row < csv->rows; row++) {
        struct key_row *key = &reader->keys[reader->key_count++];
        for (int i = 0; i < 5; i++)
            cells[i] = csv_cell(csv, row, csv_column(csv, columns[i]));
        *key = (struct key_row){ cells[0], cells[1], cells[2], cells[3], NAN };
        text_number(text_of(cells[4]), &key->times);
    }
}

static const struct key_row *next_key(const struct price_reader *reader, const char *kind, size_t *at)
{
    while (*at < reader->key_count)
        if (!strcmp(reader->keys[(*at)++].kind, kind))
            return &reader->keys[*at - 1];
    return NULL;
}

enum { PLAIN_MOST = 80 };

/* The lower-case letters and digits of a key, without its marks. False: it is too long to be one of ours. */
static bool plain_key(struct text key, char out[PLAIN_MOST])
{
    size_t size = 0;
    for (size_t i = 0; i < key.size; i++)
        if (isalnum((unsigned char)key.data[i])) {
            if (size + 1 == PLAIN_MOST)
                return false;
            out[size++] = (char)tolower((unsigned char)key.data[i]);
        }
    out[size] = 0;
    return true;
}

static bool is_plain(const char *key, struct text word)
{
    char plain[PLAIN_MOST];
    return plain_key(text_of(key), plain) && text_is(word, plain);
}

/* "per_1k_tokens", "1K tokens", "USD/MTok", "cents_per_1m", 1000000: USD per token for a price of 1; NAN: none of our units. */
static double times_of_unit(const struct price_reader *reader, const char *text)
{
    static const struct { const char *word; double times; } currencies[] = { { "", 1 }, { "usd", 1 }, { "dollar", 1 }, { "cent", 0.01 } };
    const struct key_row *row;
    char plain[PLAIN_MOST];
    if (!plain_key(text_of(text), plain))
        return NAN;
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++) {
        const size_t size = strlen(currencies[i].word);
        const char *rest = plain + size + (size && !strncmp(plain, currencies[i].word, size) && plain[size] == 's');
        if (strncmp(plain, currencies[i].word, size))
            continue;
        rest += strncmp(rest, "per", 3) ? 0 : 3;
        const size_t left = strlen(rest) - (*rest && rest[strlen(rest) - 1] == 's');
        for (size_t at = 0; (row = next_key(reader, "unit", &at));) {
            const char *word = row->word + (strncmp(row->word, "per", 3) ? 0 : 3);
            if (strlen(word) - (word[strlen(word) - 1] == 's') == left && !strncmp(word, rest, left))
                return row->times * currencies[i].times;
        }
    }
    return NAN;
}

/* The unit that an object states, or that of the objects around it. */
static struct stated_unit unit_in(const struct price_reader *reader, const struct doc *object, struct stated_unit around)
{
    const struct key_row *row;
    for (const struct doc *field = object->kind == DOC_OBJECT ? object->first : NULL; field; field = field->next)
        for (size_t at = 0; (row = next_key(reader, "stated", &at));)
            if (((field->kind == DOC_STRING && *field->string) || field->kind == DOC_NUMBER) && is_plain(field->key, text_of(row->word))) {
                const char *text = field->kind == DOC_STRING ? field->string : arena_print(reader->arena, "%.0f", field->number);
                return (struct stated_unit){ text, times_of_unit(reader, text) };
            }
    return around;
}

static const char *const tier_ends[SERVICE_TIERS] = { "", "_batches", "_flex", "_priority" };

static bool cut_end(struct text *name, const char *end)
{
    size_t size = strlen(end);
    if (name->size < size || memcmp(name->data + name->size - size, end, size))
        return false;
    name->size -= size;
    return true;
}

/* The last number of thousands in a name, "..._above_200k_tokens", "gt_128k", in tokens; 0: none. */
static double thousands_in(struct text name)
{
    double tokens;
    for (size_t end = name.size; end-- > 1;) {
        size_t begin = end;
        while (begin > 0 && name.data[begin - 1] >= '0' && name.data[begin - 1] <= '9')
            begin--;
        if ((name.data[end] == 'k' || name.data[end] == 'K') && begin < end &&
            text_number((struct text){ name.data + begin, end - begin }, &tokens))
            return 1000 * tokens;
    }
    return 0;
}

/* "..._above_200k_tokens": cut it off; the tokens, or 0 for none. */
static double cut_threshold(struct text *name)
{
    static const char above[] = "_above_";
    const size_t size = sizeof above - 1;
    struct text cut = *name;
    if (!cut_end(&cut, "_tokens"))
        return 0;
    for (size_t at = cut.size; at-- > size;)
        if (!memcmp(cut.data + at - size, above, size)) {
            name->size = at - size;
            return thousands_in(cut);
        }
    return 0;
}

struct price_terms {
    enum service_tier tier;
    enum price_class class;
    double threshold;               /* 0: below any */
    double times;                   /* USD per token for a price of 1; NAN: as its place says */
};

/* A word without "cost" and "price". */
static void cut_words(char *word)
{
    static const char *const words[] = { "cost", "price", "usd" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (char *at; (at = strstr(word, words[i]));)
            memmove(at, at + strlen(words[i]), strlen(at + strlen(words[i])) + 1);
}

static bool find_terms(const struct price_reader *reader, const char *key, struct price_terms *terms)
{
    static const char *const classes[PRICE_CLASSES] = { "input", "output", "hit", "write_short", "write_long" };
    struct text name = text_of(key);
    const struct key_row *row;
    char plain[PLAIN_MOST];
    *terms = (struct price_terms){ .times = NAN };
    for (int tier = 1; tier < SERVICE_TIERS; tier++)
        if (cut_end(&name, tier_ends[tier])) {
            terms->tier = (enum service_tier)tier;
            break;
        }
    cut_end(&name, "_tiers");
    terms->threshold = cut_threshold(&name);
    if (!plain_key(name, plain))
        return false;
    for (size_t at = 0; (row = next_key(reader, "unit", &at));) {
        struct text cut = text_of(plain);
        if (cut_end(&cut, row->word) && cut.size) {
            plain[cut.size] = 0;
            terms->times = row->times;
            break;
        }
    }
    cut_words(plain);
    for (size_t at = 0; (row = next_key(reader, "head", &at));)
        if (!strcmp(row->word, plain)) {
            terms->class = (enum price_class)name_index(classes, PRICE_CLASSES, row->says);
            return true;
        }
    return false;
}

/* The prices of an entry for prompts from some length on; cards are in no order while they are read. */
struct price_card {
    double from;                    /* tokens of the prompt */
    bool whole;                     /* of all classes: one without a price costs as much as the input */
    double at[SERVICE_TIERS][PRICE_CLASSES];
};
enum { CARDS_MOST = 32 };
struct price_entry {
    const char *name, *list;
    struct price_card cards[CARDS_MOST];
    size_t count;
    bool any;                       /* some price per token was found */
    bool unitless[PRICE_CLASSES];   /* a price without a unit was found */
    int free;
    struct buffer unread;           /* keys of prices that are not for text tokens */
};

static double *card_place(struct price_entry *entry, double from, bool whole, const struct price_terms *terms)
{
    size_t at = 0;
    while (at < entry->count && entry->cards[at].from != from)
        at++;
    if (at == CARDS_MOST)
        at--;
    if (at == entry->count) {
        struct price_card *card = &entry->cards[entry->count++];
        *card = (struct price_card){ .from = from, .whole = whole };
        for (int tier = 0; tier < SERVICE_TIERS; tier++)
            for (int class = 0; class < PRICE_CLASSES; class++)
                card->at[tier][class] = NAN;
    }
    return &entry->cards[at].at[terms->tier][terms->class];
}

static bool price_of(const struct doc *value, double *number)
{
    *number = value->number;
    return value->kind == DOC_NUMBER || (value->kind == DOC_STRING && text_number(text_of(value->string), number));
}

static bool put_price(struct price_reader *reader, struct price_entry *entry, const char *key, const struct doc *value,
                      double from, bool whole, const struct price_terms *terms)
{
    double number;
    if (!price_of(value, &number) || !(number * terms->times <= PRICE_MOST) || (number < 0 && number != -1)) {
        if (value->kind != DOC_NUMBER)
            error_set(reader->error, "%.200s: '%.100s': %s is not a number", reader->sheet->file, entry->name, key);
        else
            error_set(reader->error, "%.200s: '%.100s': %s = %g is out of range", reader->sheet->file, entry->name, key, number);
        return error_expected(reader->error, "USD per token, from 0 to %g", PRICE_MOST);
    }
    entry->any = true;
    if (number > 0)
        *card_place(entry, from, whole, terms) = number * terms->times;
    else
        entry->free += number == 0;                 /* -1: OpenRouter's "depends on the model" */
    return true;
}

/* Prompt tokens from which an element of a list of steps applies; NAN: it has none of the keys. */
static double step_from(const struct doc *step)
{
    static const char *const names[] = { "start", "min", "from", "threshold" };
    const struct doc *range = doc_get(step, "range"), *tier = doc_get(step, "tier");
    if (range && range->kind == DOC_ARRAY && range->first)
        return range->first->kind == DOC_NUMBER ? range->first->number : NAN;
    if (tier && tier->kind == DOC_OBJECT)
        return strcmp(doc_text(tier, "type", "context"), "context") ? NAN : doc_number(tier, "size", NAN);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (doc_get(step, names[i]))
            return doc_number(step, names[i], NAN);
    return doc_get(step, "max") ? 0 : NAN;
}

static bool bad_step(struct price_reader *reader, const struct price_entry *entry, const char *key)
{
    error_set(reader->error, "%.200s: '%.100s': an element of %s has no prompt length from which it applies",
              reader->sheet->file, entry->name, key);
    return error_expected(reader->error, "\"range\": [from, to], \"min\", \"start\" or \"tier\": {\"type\": \"context\", \"size\": from}");
}

/* One price, which steps may follow: 3e-6, "0.000003", {"price": 3}, {"base": 3, "tiers": [{"start": 200000, "price": 6}]},
 * [{"min": 0, "max": 200000, "cost": "0.000003"}, ...]. */
static bool read_price(struct price_reader *reader, struct price_entry *entry, const struct doc *field, double from, bool whole,
                       const struct price_terms *terms)
{
    const struct doc *steps = field->kind == DOC_ARRAY ? field : NULL, *base = field;
    if (field->kind == DOC_OBJECT) {
        base = doc_get(field, "base") ? doc_get(field, "base") : doc_get(field, "price");
        steps = doc_get(field, "tiers");
        if (!base)
            return true;
    }
    if (base->kind != DOC_NULL && base->kind != DOC_ARRAY &&
        !put_price(reader, entry, field->key, base, fmax(from, terms->threshold), whole, terms))
        return false;
    for (const struct doc *step = steps && steps->kind == DOC_ARRAY ? steps->first : NULL; step; step = step->next) {
        const struct doc *price = doc_get(step, "price") ? doc_get(step, "price") : doc_get(step, "cost");
        const double start = step_from(step);
        if (!price || isnan(start))
            return bad_step(reader, entry, field->key);
        if (!put_price(reader, entry, field->key, price, start, whole, terms))
            return false;
    }
    return true;
}

static const struct doc *find_inside(const struct doc *object, const char *path)
{
    while (object && object->kind == DOC_OBJECT && *path) {
        const size_t size = strcspn(path, ".");
        const struct doc *found = NULL;
        for (const struct doc *field = object->first; field && !found; field = field->next)
            if (is_plain(field->key, (struct text){ path, size }))
                found = field;
        object = found;
        path += size + (path[size] == '.');
    }
    return *path ? NULL : object;
}

static bool has_key(const struct doc *object, const char *plain)
{
    const struct doc *found = find_inside(object, plain);
    return found && found->kind != DOC_NULL;
}

static bool read_card(struct price_reader *reader, struct price_entry *entry, const struct doc *card, double times, double from,
                      bool whole, bool inside)
{
    static const char *const priced[] = { "cost", "price", "per1", "mtok", "hourly", "permillion" };
    const struct stated_unit around = unit_in(reader, card, reader->unit);
    for (const struct doc *field = card->first; field; field = field->next) {
        struct price_terms terms;
        double number;
        bool known = find_terms(reader, field->key, &terms);
        const struct stated_unit unit = unit_in(reader, field, around);
        if (isnan(terms.times))
            terms.times = unit.text ? unit.times : times;
        if (known && isfinite(terms.times)) {
            if (!read_price(reader, entry, field, from, whole, &terms))
                return false;
            continue;
        }
        const struct doc *base = field->kind == DOC_OBJECT && doc_get(field, "price") ? doc_get(field, "price") : field;
        if (!price_of(base, &number) || !(number > 0))
            continue;
        if (known && unit.text) {
            buffer_print(&entry->unread, "%s%.60s in the unit '%.40s'", entry->unread.size ? ", " : "", field->key, unit.text);
            continue;
        }
        entry->unitless[terms.class] = entry->unitless[terms.class] || known;
        char plain[PLAIN_MOST] = "";
        plain_key(text_of(field->key), plain);
        known = inside && strcmp(plain, "discount");
        for (size_t i = 0; i < sizeof priced / sizeof *priced; i++)
            known = known || strstr(plain, priced[i]);
        if (known && entry->unread.size < 200)
            buffer_print(&entry->unread, "%s%.60s", entry->unread.size ? ", " : "", field->key);
    }
    return true;
}

/* Reads the cards for longer prompts in `ranges`, an object by thresholds or a list of steps. */
static bool read_ranges(struct price_reader *reader, struct price_entry *entry, const struct doc *ranges, double times)
{
    const double said = thousands_in(text_of(ranges->key));
    if (ranges->kind == DOC_OBJECT && said > 0)
        return read_card(reader, entry, ranges, times, said, false, true);
    for (const struct doc *one = ranges->first; one; one = one->next) {
        const double from = ranges->kind == DOC_OBJECT ? thousands_in(text_of(one->key)) : step_from(one);
        if (one->kind != DOC_OBJECT || isnan(from) || (ranges->kind == DOC_OBJECT && !(from > 0)))
            return bad_step(reader, entry, ranges->key);
        if (!read_card(reader, entry, one, times, from, true, true))
            return false;
    }
    return true;
}

/* Prices in effect on the list's date: the last whose start_date has passed. Prices for hours of a day are left out. */
static const struct doc *card_of_list(struct price_reader *reader, struct price_entry *entry, const struct doc *list)
{
    const struct doc *chosen = NULL;
    for (const struct doc *one = list->first; one; one = one->next) {
        const struct doc *constraint = doc_get(one, "constraint"), *card = doc_get(one, "prices");
        const char *begins = constraint && constraint->kind == DOC_OBJECT ? doc_text(constraint, "start_date", "") : "";
        if (!card || card->kind != DOC_OBJECT)
            continue;
        if (constraint && constraint->kind == DOC_OBJECT && !*begins)
            buffer_print(&entry->unread, "%sprices of other hours", entry->unread.size ? ", " : "");
        else if (!chosen || !*reader->date || strcmp(begins, reader->date) <= 0)
            chosen = card;
    }
    return chosen;
}

static bool check_currency(struct price_reader *reader, const struct doc *object, const char *name)
{
    const char *currency = object && object->kind == DOC_OBJECT ? doc_text(object, "currency", "USD") : "USD";
    if (!strcmp(currency, "USD") || !strcmp(currency, "usd"))
        return true;
    error_set(reader->error, "%.200s: '%.100s': currency is %.20s", reader->sheet->file, name, currency);
    return error_expected(reader->error, "prices in USD");
}

/* Reads all cards of an entry, from the places that data/price_keys.csv lists and from the entry itself. */
static bool read_places(struct price_reader *reader, struct price_entry *entry, const struct doc *doc)
{
    const struct doc *seen[8];
    size_t count = 0;
    const struct key_row *row, *ranges;
    double own = NAN;
    for (size_t at = 0; (row = next_key(reader, "place", &at));) {
        const size_t size = strlen(row->word);
        const struct doc *place = find_inside(doc, row->word), *card = place;
        bool known = !place;
        for (size_t i = 0; i < count; i++)
            known = known || seen[i] == place;
        if (known || (*row->beside && !has_key(doc, row->beside) && !has_key(place, row->beside)))
            continue;
        if (place->kind == DOC_ARRAY)
            card = card_of_list(reader, entry, place);
        if (!card || card->kind != DOC_OBJECT || count == sizeof seen / sizeof *seen)
            continue;
        seen[count++] = place;
        entry->list = entry->list ? entry->list : row->says;
        own = place == doc ? row->times : own;
        if (!check_currency(reader, card, entry->name) || !read_card(reader, entry, card, row->times, 0, false, place != doc))
            return false;
        for (size_t k = 0; (ranges = next_key(reader, "ranges", &k));) {
            const bool here = size && !strncmp(ranges->word, row->word, size) && ranges->word[size] == '.';
            const struct doc *found = here ? find_inside(card, ranges->word + size + 1) : NULL;
            if (found && !read_ranges(reader, entry, found, row->times))
                return false;
        }
    }
    if (isnan(own) && !read_card(reader, entry, doc, NAN, 0, false, false))
        return false;
    for (size_t k = 0; (ranges = next_key(reader, "ranges", &k));) {
        const struct doc *found = strchr(ranges->word, '.') ? NULL : find_inside(doc, ranges->word);
        if (found && !read_ranges(reader, entry, found, ranges->times))
            return false;
    }
    return true;
}

static int compare_cards(const void *a, const void *b)
{
    const struct price_card *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Sorts the cards into a price: the first, the one above the threshold, further ones. In a card that is `whole`, a class
 * without a price costs as much as the input; in other cards it keeps the price below the threshold. */
static void take_cards(struct price_reader *reader, struct price_entry *entry, struct price *price)
{
    qsort(entry->cards, entry->count, sizeof *entry->cards, compare_cards);
    price->further = arena_array(reader->arena, entry->count + 1, sizeof *price->further);
    for (size_t i = 0; i < entry->count; i++) {
        struct price_card *card = &entry->cards[i];
        double *standard = card->at[SERVICE_STANDARD];
        for (int class = PRICE_HIT; i && card->whole && class < PRICE_CLASSES; class++)
            if (isnan(standard[class]))
                standard[class] = standard[PRICE_INPUT];
        if (i >= 2) {
            struct price_step *step = &price->further[price->further_count++];
            step->from = card->from;
            memcpy(step->at, standard, sizeof step->at);
            continue;
        }
        if (i)
            price->threshold = card->from;
        for (int tier = 0; tier < SERVICE_TIERS; tier++)
            memcpy(price->at[tier][i], card->at[tier], sizeof card->at[tier]);
    }
    price->free = entry->free;
    price->unread = entry->unread.data;
}

static double number_of(const struct doc *object, const char *key)
{
    const double number = object && object->kind == DOC_OBJECT ? doc_number(object, key, NAN) : NAN;
    return number > 0 ? number : NAN;
}

/* The text under the first of some keys that has one. */
static const char *first_text(const struct doc *doc, const char *const *keys, const char *absent)
{
    for (; *keys; keys++) {
        const struct doc *value = doc_get(doc, *keys);
        if (value && value->kind == DOC_OBJECT)
            value = doc_get(value, "value");        /* {"operator": "equals", "value": "gpt-4"} */
        if (value && value->kind == DOC_STRING && *value->string)
            return value->string;
    }
    return absent;
}

static bool is_text_model(const struct doc *doc)
{
    static const char *const modes[] = { "", "chat", "responses" },
                      *const others[] = { "embedding", "rerank", "reranking", "image", "video", "speech", "transcription", "moderation" };
    return name_listed(modes, sizeof modes / sizeof *modes, doc_text(doc, "mode", "")) &&
           !name_listed(others, sizeof others / sizeof *others, doc_text(doc, "type", ""));
}

static double context_of(const struct doc *doc)
{
    static const char *const keys[] = { "max_input_tokens", "context_length", "context_window", "context_tokens" };
    double context = number_of(doc_get(doc, "limit"), "context");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        context = isnan(context) ? number_of(doc, keys[i]) : context;
    return context;
}

static bool read_entry(struct price_reader *reader, const struct doc *doc, const char *seller, struct price_entry *entry)
{
    static const char *const names[] = { "id", "model", "model_name", "name", NULL },
                      *const sellers[] = { "litellm_provider", "provider", "vendor", "provider_name", NULL };
    const bool keyed = doc->key && *doc->key && strcmp(doc->key, "model_info");
    *entry = (struct price_entry){ .name = keyed ? doc->key : first_text(doc, names, ""), .unread = { .arena = reader->arena } };
    if (!read_places(reader, entry, doc))
        return false;
    if (!entry->any)
        return true;
    seller = first_text(doc, sellers, seller);
    if (!*seller && strchr(entry->name, '/'))
        seller = arena_copy(reader->arena, entry->name, strcspn(entry->name, "/"));
    struct price *price = add_price(reader, 0, seller, entry->name);
    if (!price)
        return false;
    take_cards(reader, entry, price);
    price->fast = number_of(doc_get(doc, "provider_specific_entry"), "fast");
    price->context = context_of(doc);
    price->storage = number_of(doc, "cache_storage_cost_per_token_per_second");
    if (keep_if_priced(reader) && entry->list && !*reader->sheet->kind)
        reader->sheet->kind = entry->list;
    return true;
}

/* Reads the entries of a document. An object with a price is an entry; others may contain entries. */
static bool walk(struct price_reader *reader, const struct doc *doc, const char *seller, struct stated_unit around, int depth)
{
    enum { DEEPEST = 6 };
    const struct stated_unit unit = reader->unit = unit_in(reader, doc, around);
    struct price_entry *entry = arena_alloc(reader->arena, sizeof *entry);
    struct price_sheet *sheet = reader->sheet;
    if (doc->kind == DOC_OBJECT) {
        if (doc->key && !strcmp(doc->key, "sample_spec"))
            return true;
        if (!is_text_model(doc)) {
            sheet->left_out++;
            return true;
        }
        if (!check_currency(reader, doc, doc->key ? doc->key : "list") || !read_entry(reader, doc, seller, entry))
            return false;
        if (entry->any)
            return true;
        if (entry->unread.size) {
            reader->met = reader->met ? reader->met : entry->unread.data;
            *(struct price_unread *)arena_push(reader->arena, &sheet->unpriced, &sheet->unpriced_count, &sheet->unpriced_room,
                                               sizeof *sheet->unpriced) = (struct price_unread){ entry->name, entry->unread.data };
        }
        if (entry->unitless[PRICE_INPUT] && entry->unitless[PRICE_OUTPUT] && !reader->unitless)
            reader->unitless = entry->name;
        if (doc_get(doc, "mode") && doc->key) {
            sheet->left_out++;
            return true;
        }
        static const char *const holders[] = { "models", "data", "prices", "providers" };
        const bool holds = !doc->key || name_listed(holders, sizeof holders / sizeof *holders, doc->key);
        seller = doc_text(doc, "provider", doc_text(doc, "id", holds || *seller ? seller : doc->key));
    }
    for (const struct doc *one = depth < DEEPEST ? doc->first : NULL; one; one = one->next)
        if ((one->kind == DOC_OBJECT || one->kind == DOC_ARRAY) && !walk(reader, one, seller, unit, depth + 1))
            return false;
    return true;
}

static bool read_json(struct price_reader *reader, struct text text)
{
    struct doc *doc;
    if (!json_read(reader->arena, reader->sheet->file, text, &doc, reader->error))
        return false;
    reader->sheet->kind = "";
    if (!walk(reader, doc, "", reader->unit, 0))
        return false;
    reader->sheet->kind = *reader->sheet->kind ? reader->sheet->kind : "a list of prices";
    struct buffer keys = { .arena = reader->arena };
    for (const struct doc *one = doc->first; one && keys.size < 100; one = one->next)
        buffer_print(&keys, "%s%.60s", keys.size ? ", " : "", one->key ? one->key : "");
    reader->met = reader->met ? reader->met : keys.data;
    return true;
}

/* ---- models.dev -------------------------------------------------------------------------- */

static const struct { const char *column; enum price_class class; int above; } columns[] = {
    { "input", PRICE_INPUT, 0 },             { "output", PRICE_OUTPUT, 0 },
    { "cache_read", PRICE_HIT, 0 },          { "cache_write", PRICE_WRITE_SHORT, 0 },
    { "tier_input", PRICE_INPUT, 1 },        { "tier_output", PRICE_OUTPUT, 1 },
    { "tier_cache_read", PRICE_HIT, 1 },     { "tier_cache_write", PRICE_WRITE_SHORT, 1 },
};

static bool cell_number(struct price_reader *reader, const struct csv *csv, size_t row,
                        const char *column, double *value)
{
    const char *cell = csv_cell(csv, row, csv_column(csv, column));
    *value = NAN;
    if (!*cell || (text_number(text_of(cell), value) && *value >= 0))
        return true;
    error_set(reader->error, "%s:%d: invalid %s '%.60s'", csv->file, csv->lines[row], column, cell);
    return error_expected(reader->error, "a number from 0 on, or an empty cell");
}

static bool read_models_dev(struct price_reader *reader, const struct csv *csv)
{
    const double per_token = 1e-6;              /* the file counts millions */
    reader->sheet->kind = "models.dev";
    for (size_t row = 0; row < csv->rows; row++) {
        struct price *price = add_price(reader, csv->lines[row], csv_cell(csv, row, csv_column(csv, "provider")),
                                        csv_cell(csv, row, csv_column(csv, "model")));
        double value;
        if (!price)
            return false;
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            if (!cell_number(reader, csv, row, columns[i].column, &value))
                return false;
            if (value * per_token > PRICE_MOST) {
                error_set(reader->error, "%s:%d: %s is %g", csv->file, csv->lines[row], columns[i].column, value);
                return error_expected(reader->error, "USD for a million tokens, from 0 to %g", PRICE_MOST / per_token);
            }
            if (!isnan(value))
                set_price(price, &price->at[0][columns[i].above][columns[i].class], value * per_token);
        }
        if (!cell_number(reader, csv, row, "tier_tokens", &price->threshold) ||
            !cell_number(reader, csv, row, "context", &price->context))
            return false;
        keep_if_priced(reader);
    }
    return true;
}

/* ---- our own ----------------------------------------------------------------------------- */

static const struct { const char *fact; enum service_tier tier; int above; enum price_class class; }
facts_of[] = {
    { "input", 0, 0, PRICE_INPUT },                     { "output", 0, 0, PRICE_OUTPUT },
    { "cached_read", 0, 0, PRICE_HIT },                 { "cache_write", 0, 0, PRICE_WRITE_SHORT },
    { "cache_write_5m", 0, 0, PRICE_WRITE_SHORT },      { "cache_write_1h", 0, 0, PRICE_WRITE_LONG },
    { "input_above", 0, 1, PRICE_INPUT },               { "output_above", 0, 1, PRICE_OUTPUT },
    { "cached_read_above", 0, 1, PRICE_HIT },
    { "cache_write_5m_above", 0, 1, PRICE_WRITE_SHORT },
    { "cache_write_1h_above", 0, 1, PRICE_WRITE_LONG },
    { "input_batch", SERVICE_BATCH, 0, PRICE_INPUT },
    { "output_batch", SERVICE_BATCH, 0, PRICE_OUTPUT },
};

/* Of the prices that are used. */
static const char *chosen_date(const struct catalog_entry *entry)
{
    size_t i = 0;
    while (i + 1 < entry->rows && !catalog_row(entry, i).chosen)
        i++;
    return catalog_row(entry, i).date;
}

static bool read_own(struct price_reader *reader, struct text text)
{
    struct catalog *catalog = arena_alloc(reader->arena, sizeof *catalog);
    catalog_open(catalog, reader->arena);
    reader->sheet->kind = "chalkline";
    if (!catalog_read(catalog, CATALOG_PRICE, reader->sheet->file, text, reader->error))
        return false;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_PRICE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_PRICE, i);
        const char *slash = strchr(entry->name, '/');
        struct catalog_row first = catalog_row(entry, 0);
        struct price *price = add_price(reader, first.line,
            arena_copy(reader->arena, entry->name, (size_t)(slash - entry->name)), slash + 1);
        double value;
        if (!price)
            return false;
        price->date = chosen_date(entry);
        for (size_t k = 0; k < sizeof facts_of / sizeof *facts_of; k++)
            if (catalog_number(entry, facts_of[k].fact, &value) && value <= PRICE_MOST)
                set_price(price, &price->at[facts_of[k].tier][facts_of[k].above][facts_of[k].class],
                          value);
        if (catalog_number(entry, "threshold", &value))
            price->threshold = value;
        if (catalog_number(entry, "storage", &value) && value > 0)
            price->storage = value;
        keep_if_priced(reader);
    }
    return true;
}

/* ---- any list ---------------------------------------------------------------------------- */

/* A CSV file whose columns are keys such as "input_per_1k"; each row is an entry. */
static bool read_columns(struct price_reader *reader, const struct csv *csv)
{
    struct price_entry *entry = arena_alloc(reader->arena, sizeof *entry);
    reader->sheet->kind = "a list of prices";
    for (size_t row = 0; row < csv->rows; row++) {
        struct doc *doc = doc_new(reader->arena, DOC_OBJECT);
        for (size_t at = 0; at < csv->columns; at++) {
            const char *cell = csv_cell(csv, row, (int)at);
            doc_add(reader->arena, doc, csv_header(csv, at), *cell ? DOC_STRING : DOC_NULL)->string = cell;
        }
        if (!check_currency(reader, doc, "list") || !read_entry(reader, doc, "", entry))
            return false;
        reader->met = entry->any || reader->met ? reader->met : entry->unread.data;
    }
    return true;
}

static bool states_unit(const struct price_reader *reader, const struct csv *csv)
{
    const struct key_row *row;
    for (size_t at = 0; at < csv->columns; at++)
        for (size_t k = 0; (row = next_key(reader, "stated", &k));)
            if (is_plain(csv_header(csv, at), text_of(row->word)))
                return true;
    return false;
}

static bool has_columns(struct price_reader *reader, const struct csv *csv)
{
    struct price_terms terms;
    bool classes[PRICE_CLASSES] = { false };
    for (size_t at = 0; at < csv->columns; at++)
        if (find_terms(reader, csv_header(csv, at), &terms) && (isfinite(terms.times) || states_unit(reader, csv)))
            classes[terms.class] = true;
    return classes[PRICE_INPUT] && classes[PRICE_OUTPUT];
}

static bool read_csv(struct price_reader *reader, struct text text)
{
    struct csv csv;
    if (!csv_read_any(reader->arena, reader->sheet->file, text, &csv, reader->error))
        return false;
    if (csv_column(&csv, "fact") >= 0 && csv_column(&csv, "value") >= 0)
        return read_own(reader, text);
    if (!states_unit(reader, &csv) && csv_column(&csv, "provider") >= 0 && csv_column(&csv, "model") >= 0 &&
        csv_column(&csv, "input") >= 0 && csv_column(&csv, "output") >= 0)
        return read_models_dev(reader, &csv);
    if (has_columns(reader, &csv))
        return read_columns(reader, &csv);
    error_set(reader->error, "%s: not the columns of a price list", reader->sheet->file);
    return error_expected(reader->error, "provider,model,input,output,... in USD per million tokens; model,input_per_1k,output_per_1k "
                          "or other keys of data/price_keys.csv; provider,model,fact,value,unit,source,date,mark; or LiteLLM's JSON");
}

bool prices_read(struct arena *arena, const char *file, struct text text,
                 struct price_sheet *sheet, struct error *error)
{
    struct text start = text_trim(text);
    *sheet = (struct price_sheet){ .file = file };
    struct price_reader reader = { .arena = arena, .sheet = sheet, .error = error, .date = date_of_name(arena, file) };
    open_keys(&reader);
    bool json = start.size && (*start.data == '{' || *start.data == '[');
    if (!(json ? read_json(&reader, text) : read_csv(&reader, text)))
        return false;
    if (sheet->count)
        return true;
    if (reader.unitless) {
        error_set(error, "%s: '%.100s' has an input and an output price without a unit", file, reader.unitless);
        return error_expected(error, "a unit in the keys, \"input_per_1m\" and \"output_per_1m\", or beside them, \"unit\": "
                              "\"per 1M tokens\" (data/price_keys.csv lists all)");
    }
    const bool met = reader.met && *reader.met;
    error_set(error, "%s: no entry has an input and an output price above 0 per token%s%s", file, met ? "; its keys: " : "",
              met ? reader.met : "");
    return error_expected(error, "a model with both, such as \"input_cost_per_token\" and \"output_cost_per_token\", or \"input_per_1k\" "
                          "and \"output_per_1k\" (data/price_keys.csv lists all keys)");
}

const char *price_model(const struct price *price)
{
    const char *slash = strrchr(price->model, '/');
    return slash && slash[1] ? slash + 1 : price->model;
}

bool price_slips(double price, double usual, double most)
{
    return price > most * usual || usual > most * price;
}
