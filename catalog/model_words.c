/* A name is tried as a tag of Ollama, then as a published id without its publisher, as a model whose required words are all
 * in it, as a family and a size of one shape, and last as a fine-tune that only data/tuned.csv knows. The first that fits
 * wins. Formats are cut out of the name first, in any place. A name that fits models of different shapes is not resolved.
 *
 * Models of data/shapes.csv are read one by one: only those that share a word with the name are cut into words. */
#include "catalog/model_words.h"
#include "catalog/meant.h"
#include "catalog/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 200, WORDS_MOST = 32, WORD_MOST = 48 };

struct name_words {
    char at[WORDS_MOST + 1][WORD_MOST];     /* one may be looked at behind the last */
    size_t count;
};

/* ---- tables ---------------------------------------------------------------------------------------- */

/* The third cell of a word of this kind; NULL: it is no such word. */
static const char *meaning(const char *kind, const char *word)
{
    const struct csv *csv = csv_built_in("data/name_words.csv");
    for (size_t r = 0; r < csv->rows; r++) {
        const char *one = csv_cell(csv, r, 1);
        if (*one == *word && !strcmp(one, word) && !strcmp(csv_cell(csv, r, 0), kind))
            return csv_cell(csv, r, 2);
    }
    return NULL;
}

static bool is(const char *kind, const char *word)
{
    return meaning(kind, word) != NULL;
}

/* ---- sizes and versions ---------------------------------------------------------------------------- */

static const char *past_number(const char *at)
{
    const char *from = at;
    while (isdigit((unsigned char)*at))
        at++;
    if (at > from && *at == '.' && isdigit((unsigned char)at[1]))
        for (at++; isdigit((unsigned char)*at);)
            at++;
    return at;
}

static bool is_active(const char *word)     /* "a3b" */
{
    const char *end = past_number(word + 1);
    return *word == 'a' && end > word + 1 && *end && strchr("bm", *end) && !end[1];
}

/* "8b", "0.5b", "30m", "1t", "8x7b", "e4b", "a3b". */
static bool is_size(const char *word)
{
    if (is_active(word))
        return true;
    const char *at = *word == 'e' ? word + 1 : word, *end = past_number(at);
    if (end > at && *end == 'x')
        at = end + 1, end = past_number(at);
    return end > at && *end && strchr("bmt", *end) && !end[1];
}

static double parameters(const char *size)  /* NAN: of experts, or effective */
{
    char *end;
    const double number = strtod(size, &end);
    const double scale = *end == 'b' ? 1e9 : *end == 'm' ? 1e6 : *end == 't' ? 1e12 : NAN;
    return isdigit((unsigned char)*size) && !end[1] ? number * scale : NAN;
}

static bool is_version(const char *word)    /* "3", "2.5" */
{
    const char *end = past_number(word);
    return isdigit((unsigned char)*word) && !*end && (!word[1] || word[1] == '.');
}

static bool is_date(const char *word)       /* "2507", "202412" */
{
    const size_t digits = strspn(word, "0123456789");
    const char *year = digits > 4 && starts_with(word, "20") ? word + 2 : word;
    const size_t rest = digits - (size_t)(year - word);
    const int month = rest >= 4 ? 10 * (year[2] - '0') + year[3] - '0' : 0;
    return !word[digits] && (rest == 4 || rest == 6) && *year == '2' && year[1] >= '3' && year[1] <= '6' && month >= 1 &&
           month <= 12;
}

/* Is one of the words of this kind? */
static bool any_is(const char *kind, const struct name_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (is(kind, words->at[i]))
            return true;
    return false;
}

static bool has(const struct name_words *words, const char *word)
{
    const bool version = is_version(word);
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], word) ||          /* "4" is "4.0" */
            (version && is_version(words->at[i]) && strtod(words->at[i], NULL) == strtod(word, NULL)))
            return true;
    return false;
}

/* The number behind a family's word; NULL: none. */
static const char *version_of(const struct name_words *words)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (is("family", words->at[i]) && is_version(words->at[i + 1]))
            return words->at[i + 1];
    return NULL;
}

/* ---- formats --------------------------------------------------------------------------------------- */

size_t name_group(const char *at, double *group)
{
    const double most = 1024, step = 8;
    const bool bits = *at && strchr("234", *at) && tolower((unsigned char)at[1]) == 'b' && (at[2] == '-' || at[2] == '_');
    const char *from = at + (bits ? 3 : 0);
    const bool before = !bits && tolower((unsigned char)*from) == 'g';
    from += before ? 1 + (tolower((unsigned char)from[1]) == 's') : 0;
    const size_t digits = strspn(from, "0123456789");
    const char *end = from + digits + (!before && tolower((unsigned char)from[digits]) == 'g');
    const bool word = digits && (before || end > from + digits) && !isalnum((unsigned char)*end);
    *group = strtod(from, NULL);
    return word && *group <= most && *group >= step && fmod(*group, step) == 0 ? (size_t)(end - at) : 0;
}

/* Letters at `at` that name a format or a file type, up to a mark; 0: none. */
static size_t format_here(const char *at)
{
    static const char *const more[] = { "gguf", "ggml", "mlx", "i1", "imat", "ud", "exl2", "exl3", "q8", "q6", "q5", "q4", "apex" };
    const struct csv *csv = csv_built_in("data/name_formats.csv");
    size_t best = 0;
    for (size_t r = 0; r < csv->rows + sizeof more / sizeof *more; r++) {
        const char *word = r < csv->rows ? csv_cell(csv, r, 0) : more[r - csv->rows];
        const size_t size = strlen(word);
        if ((r >= csv->rows || *csv_cell(csv, r, 2) || *csv_cell(csv, r, 3)) && size > best && !strncmp(at, word, size) &&
            !isalnum((unsigned char)at[size]))
            best = size;
    }
    struct text rest = text_built_in("data/file_types.csv");
    while (rest.size) {
        const struct text line = text_line(&rest);
        const size_t size = strcspn(line.data, ",");
        bool same = size > best && size < line.size && *line.data != '#';
        for (size_t i = 0; same && i < size; i++)
            same = tolower((unsigned char)line.data[i]) == (at[i] == ' ' ? '_' : at[i]);
        best = same && !isalnum((unsigned char)at[size]) ? size : best;
    }
    const char *end = past_number(at);
    if (!best && isdigit((unsigned char)*at) && !strncmp(end, "bpw", 3) && !isalnum((unsigned char)end[3])) {
        const char *head = end + 4 + (end[3] && end[4] == 'h') + (end[3] && end[4] == 'h' && end[5] == 'b');    /* "8bpw-h8" */
        const size_t digits = end[3] && head > end + 4 ? strspn(head, "0123456789") : 0;
        best = digits && !isalnum((unsigned char)head[digits]) ? (size_t)(head - at) + digits : (size_t)(end - at) + 3;
    }
    double group;
    return best ? best : name_group(at, &group);
}

/* What llama-bench prints: "q4_k - small" is q4_k_s, "q2_k - medium" q2_k, "iq4_xs - 4.25 bpw" iq4_xs, "iq3_s mix" iq3_m. */
static void as_files(char *text)
{
    static const struct { const char *printed, *file; } types[] = {
        { "q2_k - medium", "q2_k" }, { "_k - small", "_k_s" }, { "_k - medium", "_k_m" }, { "_k - large", "_k_l" },
        { "iq3_s mix", "iq3_m" } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char *at = strstr(text, types[i].printed);
        const size_t size = strlen(types[i].file);
        if (at) {
            memset(at, ' ', strlen(types[i].printed));
            memcpy(at, types[i].file, size);
        }
    }
    char *bits = strstr(text, " - "), *unit = bits ? strstr(bits, " bpw") : NULL;
    if (unit && past_number(bits + 3) == unit)
        memset(bits, ' ', (size_t)(unit + 4 - bits));
}

/* Blanks the formats in `text`, and gathers them. */
static const char *take_formats(struct arena *arena, char *text)
{
    struct buffer formats = { .arena = arena };
    buffer_add(&formats, "", 0);
    for (size_t i = 0; text[i];) {
        const bool begins = !i || !isalnum((unsigned char)text[i - 1]);
        const size_t size = begins ? format_here(text + i) : 0;
        if (size) {
            buffer_print(&formats, "%s%.*s", formats.size ? "-" : "", (int)size, text + i);
            memset(text + i, ' ', size);
        }
        i += size ? size : 1;
    }
    return formats.data;
}

/* ---- words ----------------------------------------------------------------------------------------- */

static void add(struct name_words *words, const char *word, size_t size)
{
    if (!size || words->count == WORDS_MOST || size >= WORD_MOST)
        return;
    memcpy(words->at[words->count], word, size);
    words->at[words->count++][size] = 0;
}

/* "qwen3" is "qwen" and "3"; "r1", "k2", "a3b" stay. */
static void add_parts(struct name_words *words, const char *word)
{
    const size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz");
    const char *end = past_number(word + letters);
    const bool number = end > word + letters && (!*end || (strchr("nvl", *end) && !end[1]));
    if (letters && number && !is_size(word) && !(letters == 1 && strchr("rkvaoeimtbxp", *word))) {
        add(words, word, letters);
        add(words, word + letters, strlen(word + letters));
    } else {
        add(words, word, strlen(word));
    }
}

static void add_word(struct name_words *words, const char *text, size_t size)
{
    char word[WORD_MOST];
    while (size && *text == '.')
        text++, size--;
    while (size && text[size - 1] == '.')
        size--;
    if (!size || size >= sizeof word)
        return;
    for (size_t i = 1; i + 1 < size; i++)       /* "v0.3" stays; "model.q", "llama.3" are two */
        if (text[i] == '.' && (!isdigit((unsigned char)text[i + 1]) || isalpha((unsigned char)text[i - 1]))) {
            add_word(words, text, i);
            add_word(words, text + i + 1, size - i - 1);
            return;
        }
    memcpy(word, text, size);
    word[size] = 0;
    const char *whole = meaning("short", word);     /* "l3.1", "r+" */
    for (const char *at = whole ? whole : word; *at; at += strspn(at, " ")) {
        const size_t one = strcspn(at, " ");
        char part[WORD_MOST];
        memcpy(part, at, one);
        part[one] = 0;
        add_parts(words, part);
        at += one;
    }
}

static bool sized(const struct name_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (is_size(words->at[i]) && !is_active(words->at[i]))
            return true;
    return false;
}

/* "3_1" is "3.1", "r+" two words. */
static void split(char *text, struct name_words *words)
{
    words->count = 0;
    for (size_t i = 1; text[i]; i++)            /* "3_1", and Fireworks' "v3p1" */
        if (strchr("_p", text[i]) && isdigit((unsigned char)text[i - 1]) && isdigit((unsigned char)text[i + 1]))
            text[i] = '.';
    for (const char *at = text; *at;) {
        const size_t gap = strspn(at, "-_:/ ()[],|"), size = strcspn(at + gap, "-_:/ ()[],|");
        add_word(words, at + gap, size);
        at += gap + size;
    }
    size_t kept = 0;
    for (size_t i = 0; i < words->count; i++, kept++) {
        char *word = words->at[i], *next = words->at[i + 1];
        const bool more = i + 1 < words->count, unit = more && strlen(word) < 8 && !strcmp(next, "b") && !word[strspn(word, "0123456789.")];
        const bool pair = more && kept && sized(words) && is("family", words->at[kept - 1]) && !word[1] && !next[1] &&
                          isdigit((unsigned char)*word) && isdigit((unsigned char)*next);
        char joined[WORD_MOST];
        const bool prefixed = kept && *word == 'v' && is_version(word + 1) && is("family", words->at[kept - 1]) &&
                              strcmp(words->at[kept - 1], "deepseek") && strcmp(words->at[kept - 1], "mimo");
        word += prefixed;                       /* "llama-v3.1" */
        if (unit || pair) {                     /* "8 b", "llama 3-1 8b" */
            const size_t size = strlen(word);
            memcpy(joined, word, size);
            memcpy(joined + size, unit ? "b" : ".", 2);
            strncat(joined, unit ? "" : next, 1);
            i++;
        } else {
            strcpy(joined, word);
        }
        memcpy(words->at[kept], joined, WORD_MOST);
    }
    words->count = kept;
}

static void lower(const char *name, char text[TEXT_MOST])
{
    size_t size = 0;
    for (; name[size] && size + 1 < TEXT_MOST; size++)
        text[size] = (char)tolower((unsigned char)name[size]);
    text[size] = 0;
}

static const char *behind(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Letters, digits and points alone. */
static void squeeze(const char *text, char key[TEXT_MOST])
{
    size_t size = 0;
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || (*text == '.' && size))
            key[size++] = *text;
    while (size && key[size - 1] == '.')
        size--;
    key[size] = 0;
}

/* ---- models ---------------------------------------------------------------------------------------- */

static const char SHAPES[] = "data/shapes.csv";

/* The next of the names in a cell, "a|b|c"; NULL: there is no more. */
static const char *next_name(struct arena *arena, const char **cell)
{
    if (!**cell)
        return NULL;
    const size_t size = strcspn(*cell, "|");
    const char *name = arena_copy(arena, *cell, size);
    *cell += size + ((*cell)[size] != 0);
    return name;
}

/* A name with its model: of the catalog, or a row of the shapes. */
struct candidate {
    const char *id;
    const struct catalog_entry *entry;
    size_t row;                     /* of data/shapes.csv, where there is no entry */
    double params, score;
    bool same_owner, official;
};

struct name_search {
    struct arena *arena;
    const struct catalog *catalog;
    const char *text, *owner;
    const char *types;              /* model types of the architecture that llama-bench prints, or NULL */
    struct name_words words;
    struct candidate *found;
    size_t count, room;
};

typedef void visitor(struct name_search *search, const struct candidate *candidate);

/* May the name be a model's of a family that was asked for? Most are not, and need not be cut into words. */
static bool kin(const struct name_search *search, const char *id)
{
    char text[TEXT_MOST];
    lower(behind(id), text);
    for (size_t i = 0; i < search->words.count; i++) {
        const char *word = search->words.at[i];
        if (strstr(text, word) && (is("family", word) || is("model", word)))
            return true;
    }
    return false;
}

/* Every name of every model. */
static void each_name(struct name_search *search, visitor *visit)
{
    const struct csv *csv = csv_built_in(SHAPES);
    for (size_t i = 0; i < catalog_count(search->catalog, CATALOG_MODEL); i++) {
        struct candidate one = { .entry = catalog_entry(search->catalog, CATALOG_MODEL, i) };
        one.params = catalog_number(one.entry, "params_total_published", &one.params) ? one.params : NAN;
        one.id = one.entry->name;
        visit(search, &one);
        for (size_t k = 0; k < one.entry->rows; k++) {
            const struct catalog_row row = catalog_row(one.entry, k);
            one.id = row.value;
            if (!strcmp(row.fact, "alias"))
                visit(search, &one);
        }
    }
    for (size_t r = 0; r < csv->rows; r++) {
        struct candidate one = { .row = r, .params = strtod(csv_cell(csv, r, 1), NULL) };
        for (const char *names = csv_cell(csv, r, 0); (one.id = next_name(search->arena, &names));)
            visit(search, &one);
    }
}

const struct catalog_entry *model_shape(struct arena *arena, const char *id)
{
    static const char source[] = "data/shapes.csv,2026-11-28,";
    const struct csv *csv = csv_built_in(SHAPES);
    const char *name;
    for (size_t r = 0; r < csv->rows; r++)
        for (const char *names = csv_cell(csv, r, 0), *context = csv_cell(csv, r, 2); (name = next_name(arena, &names));) {
            if (!name_same(name, id))
                continue;
            struct catalog *one = arena_alloc(arena, sizeof *one);
            struct buffer text = { .arena = arena };
            struct error error;
            *one = (struct catalog){ .arena = arena };
            buffer_print(&text, "name,key,value,source,date,mark\n%s,title,%s,%s\n", name, behind(name), source);
            if (*context)
                buffer_print(&text, "%s,max_position_embeddings,%s,%s\n", name, context, source);
            for (const char *field = csv_cell(csv, r, 3); *field;) {
                const size_t key = strcspn(field, "="), whole = strcspn(field, ";");
                buffer_print(&text, "%s,%.*s,\"%.*s\",%s\n", name, (int)key, field, (int)(whole - key - 1), field + key + 1,
                             source);
                field += whole + (field[whole] != 0);
            }
            return catalog_read(one, CATALOG_MODEL, SHAPES, (struct text){ text.data, text.size }, &error)
                   ? catalog_entry(one, CATALOG_MODEL, 0) : NULL;
        }
    return NULL;
}

static double number_in(const struct doc *config, const char *key)
{
    const struct doc *inner = doc_get(config, "text_config"), *value = doc_get(config, key);
    value = value || !inner ? value : doc_get(inner, key);
    return value && value->kind == DOC_NUMBER ? value->number : 0;
}

/* What makes two models one shape: sizes of the language model. */
static const char *shape_key(struct name_search *search, const struct candidate *one)
{
    const struct catalog_entry *entry = one->entry ? one->entry : model_shape(search->arena, one->id);
    struct catalog catalog = *search->catalog;
    struct doc *config;
    struct error error;
    catalog.arena = search->arena;
    catalog.named = one->entry || !entry ? NULL : entry->sheet;
    if (!entry || !catalog_entry_config(&catalog, entry, &config, &error))
        return one->id;
    const double experts = fmax(number_in(config, "num_experts"), fmax(number_in(config, "n_routed_experts"),
                                number_in(config, "num_local_experts")));
    const double inner = number_in(config, "moe_intermediate_size"), dense = number_in(config, "intermediate_size");
    const double heads = number_in(config, "kv_lora_rank") > 0 ? 0 : number_in(config, "num_key_value_heads");
    return arena_print(search->arena, "%.9g,%.9g,%.9g,%.9g,%.9g", number_in(config, "num_hidden_layers"),
                       number_in(config, "hidden_size"), heads, experts, inner > 0 ? inner : dense);
}

/* Is the publisher one that trains the models it names? */
static bool official(const char *id)
{
    char owner[TEXT_MOST];
    lower(id, owner);
    char *slash = strchr(owner, '/');
    if (slash)
        *slash = 0;
    return !slash || is("owner", owner);        /* no slash: a name of the catalog */
}

static void keep(struct name_search *search, const struct candidate *one, double score)
{
    struct candidate *kept = arena_push(search->arena, &search->found, &search->count, &search->room, sizeof *kept);
    *kept = *one;
    kept->score = score;
    kept->official = official(one->id);
    kept->same_owner = search->owner && starts_with(one->id, search->owner);
}

/* The part behind a publisher's name, less its formats. */
static void visit_tail(struct name_search *search, const struct candidate *one)
{
    char text[TEXT_MOST], key[TEXT_MOST];
    if (tolower((unsigned char)*behind(one->id)) != *search->text)
        return;
    lower(behind(one->id), text);
    take_formats(search->arena, text);
    squeeze(text, key);
    if (!strcmp(key, search->text))
        keep(search, one, 0);
}

static bool needed(const struct name_words *words, const char *word)
{
    const bool versions = has(words, "deepseek") || has(words, "mimo") || has(words, "r");
    return !is("optional", word) && !is_date(word) && !(*word == 'v' && isdigit((unsigned char)word[1]) && !versions);
}

/* How well a model's words are in the name; NAN: one that it needs is not. */
static double fit(const struct name_search *search, const struct name_words *own, double params)
{
    const struct name_words *asked = &search->words;
    bool any = false, model = false, sized = false, total = false, shared = false, near = false, needs = false;
    for (size_t i = 0; i < own->count; i++) {
        const char *word = own->at[i];
        const bool there = has(asked, word);
        needs |= needed(own, word);
        model |= there && is("model", word) && needed(own, word);
        any |= there && is("family", word);
        sized |= is_size(word) && !is_active(word);
        shared |= there && is_size(word) && !is_active(word);
    }
    for (size_t i = 0; i < asked->count; i++) {
        const bool size = is_size(asked->at[i]) && !is_active(asked->at[i]);
        total |= size;
        near |= size && fabs(parameters(asked->at[i]) / params - 1) < 0.12;
    }
    const char *typed = version_of(asked), *version = version_of(own);
    if (!needs || !(any || model) || (total && (sized ? !shared : !near)))
        return NAN;
    if (typed && (!version || strtod(typed, NULL) != strtod(version, NULL)) && !has(own, typed))
        return NAN;
    if (!typed && version && any && !has(asked, version))
        return NAN;
    for (size_t i = 0; i < asked->count; i++) {     /* "Qwen2-Audio" is more than Qwen2 */
        const char *qualifier = meaning("qualifier", asked->at[i]);
        if (qualifier && *qualifier && !has(own, asked->at[i]))
            return NAN;
    }
    for (size_t i = 0; i + 1 < asked->count; i++)   /* "gpt-3.5-turbo" */
        if (is("model", asked->at[i]) && is_version(asked->at[i + 1]) && !has(own, asked->at[i + 1]))
            return NAN;
    for (size_t i = 0; i < asked->count; i++)       /* "deepseek-v9" */
        if (*asked->at[i] == 'v' && is_version(asked->at[i] + 1) && (has(own, "deepseek") || has(own, "mimo")) &&
            !has(own, asked->at[i]))
            return NAN;
    double score = 0;
    for (size_t i = 0; i < own->count; i++) {
        const char *word = own->at[i];
        const bool there = has(asked, word), family = is("family", word);
        if (!needed(own, word))
            score += there ? 0.2 : -0.02;
        else if (there)
            score += family || is("model", word) ? 2 : 1;
        else if (is_active(word) || (is_size(word) && !total))
            score -= is_active(word) ? 0 : 0.01;
        else if (family && model)
            score -= 0.3;
        else
            return NAN;
    }
    for (size_t i = 0; i < asked->count; i++)
        score -= is("qualifier", asked->at[i]) && !has(own, asked->at[i]) ? 0.6 : 0;
    return score;
}

static void words_of(struct name_search *search, const char *id, struct name_words *words)
{
    char text[TEXT_MOST];
    lower(behind(id), text);
    take_formats(search->arena, text);
    split(text, words);
}

static void visit_words(struct name_search *search, const struct candidate *one)
{
    struct name_words own;
    if (!kin(search, one->id))
        return;
    words_of(search, one->id, &own);
    const double score = fit(search, &own, one->params);
    if (!isnan(score))
        keep(search, one, score);
}

/* A family and a size whose version was left out. */
static void visit_family(struct name_search *search, const struct candidate *one)
{
    struct name_words own;
    bool family = false, size = false, more = false;
    if (!kin(search, one->id))
        return;
    words_of(search, one->id, &own);
    for (size_t i = 0; i < own.count; i++) {
        const bool there = has(&search->words, own.at[i]);
        family |= there && is("family", own.at[i]);
        size |= there && is_size(own.at[i]);
        more |= !there && is("qualifier", own.at[i]);
    }
    const char *version = version_of(&own);
    if (family && size && !more)                /* the latest first */
        keep(search, one, version ? 0.01 * strtod(version, NULL) : 0);
}

/* llama-bench prints an architecture, which later models share: "qwen2 14B" may be Qwen2.5. Names without a size fit by parameters. */
static void visit_printed(struct name_search *search, const struct candidate *one)
{
    static const char field[] = ";model_type=";         /* fields are sorted, and hidden_size is before it */
    struct name_words own;
    const char *cell = one->entry ? NULL : strstr(csv_cell(csv_built_in(SHAPES), one->row, 3), field);
    const char *type = one->entry ? catalog_text(one->entry, "model_type")
                     : cell ? arena_copy(search->arena, cell + strlen(field), strcspn(cell + strlen(field), ";")) : NULL;
    bool family = false, size = false;
    if (!type || !text_has_word(search->types, type))
        return;
    words_of(search, one->id, &own);
    for (size_t i = 0; i < search->words.count; i++) {
        const char *word = search->words.at[i];
        family |= is("family", word) && has(&own, word);
        if (is_size(word) && !is_active(word))          /* a 72B is printed as 70B */
            size |= has(&own, word) || fabs(parameters(word) / one->params - 1) < 0.05;
    }
    if (family && size)
        keep(search, one, 0);
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    if (fabs(a->score - b->score) > 0.005)
        return a->score > b->score;
    if (a->official != b->official || a->same_owner != b->same_owner)
        return a->official != b->official ? a->official : a->same_owner;
    return strlen(a->id) < strlen(b->id);
}

/* The best of what was found, if nothing as good has another shape, nor anything of another size where none was said. */
static bool best_of(struct name_search *search, struct model_named *named)
{
    struct name_words own;
    const struct candidate *best = search->count ? search->found : NULL;
    size_t others = 0;
    for (size_t i = 1; i < search->count; i++)
        if (better(&search->found[i], best))
            best = &search->found[i];
    if (!best)
        return false;
    const char *key = shape_key(search, best), *keys[4];
    words_of(search, best->id, &own);
    bool any = false;
    for (size_t i = 0; i < search->words.count; i++)
        any |= !has(&own, search->words.at[i]);     /* a word that the best lacks may mean another size */
    any = any && sized(&own) && !sized(&search->words) && !any_is("model", &own);
    for (size_t i = 0; i < search->count && others < 4; i++) {
        const struct candidate *one = &search->found[i];
        if ((!any && one->score < best->score - 0.35) || (one->entry ? one->entry == best->entry : !best->entry && one->row == best->row))
            continue;
        const char *other = shape_key(search, one);
        bool listed = !strcmp(other, key);
        for (size_t k = 0; k < others; k++)
            listed |= !strcmp(keys[k], other);
        if (listed)
            continue;
        keys[others] = other;
        named->also[others++] = one->entry ? one->entry->name : one->id;
    }
    named->id = best->entry ? best->entry->name : best->id;
    return !others && !any;
}

/* ---- the name -------------------------------------------------------------------------------------- */

/* Without "ollama run", a link's host, "-00001-of-00008" and the end of a file's name. */
static const char *clean(struct arena *arena, const char *name)
{
    static const char *const heads[] = { "ollama run ", "ollama pull ", "https://", "www.", "huggingface.co/", "hf.co/" };
    static const char *const ends[] = { ".gguf", ".bin", ".safetensors" };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        name += starts_with(name, heads[i]) ? strlen(heads[i]) : 0;
    char *text = arena_copy(arena, name, strlen(name)), *part = strstr(text, "-of-"), *remark = strstr(text, " (latest");
    if (remark)
        *remark = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(text, ends[i]))
            text[strlen(text) - strlen(ends[i])] = 0;
    if (part && part - text > 6 && strspn(part + 4, "0123456789") == 5 && part[-6] == '-')
        memmove(part - 6, part + 9, strlen(part + 9) + 1);
    return text;
}

static bool ollama(struct arena *arena, const char *text, struct model_named *named)
{
    const struct csv *csv = csv_built_in("data/ollama.csv");
    const bool tag = strchr(text, ':') && !ends_with(text, ":latest");
    const char *name = arena_copy(arena, text, tag ? strlen(text) : strcspn(text, ":"));
    for (size_t r = 0; r < csv->rows; r++) {
        const char *one = csv_cell(csv, r, 0);
        if (tag ? !name_same(one, name) : !*csv_cell(csv, r, 4) || !name_same(arena_copy(arena, one, strcspn(one, ":")), name))
            continue;
        named->id = csv_cell(csv, r, 1);
        named->type = *csv_cell(csv, r, 2) ? csv_cell(csv, r, 2) : "Q4_K_M";
        return true;
    }
    return false;
}

static bool tuned(const char *key, struct arena *arena, struct model_named *named)
{
    const struct csv *csv = csv_built_in("data/tuned.csv");
    char text[TEXT_MOST], one[TEXT_MOST];
    for (size_t r = 0; r < csv->rows; r++) {
        lower(csv_cell(csv, r, 0), text);
        take_formats(arena, text);
        squeeze(text, one);
        if (strcmp(one, key))
            continue;
        named->id = csv_cell(csv, r, 1);
        return true;
    }
    return false;
}

/* A word with the form of a GGUF file type that is none: "q1_0", "iq5_k"; "q3" is short for a family. */
static const char *odd_type(struct arena *arena, const char *text)
{
    for (const char *at = text; *at; at += strcspn(at, "-:/ ()[],|."), at += *at != 0) {
        const size_t size = strcspn(at, "-:/ ()[],|."), before = strchr("it", *at) != NULL;
        if (at[before] == 'q' && isdigit((unsigned char)at[before + 1]) && !isdigit((unsigned char)at[before + 2]) &&
            (before || at[2] == '_' || (at[2] == 'k' && size == 3)))
            return arena_copy(arena, at, size);
    }
    return NULL;
}

/* Which words were understood: "family llama, size 70b". */
static const char *understood(struct arena *arena, const struct name_words *words)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->at[i], *kind = is("family", word) ? "family" : is_size(word) ? "size" : NULL;
        if (kind)
            buffer_print(&out, "%s%s %s", out.size ? ", " : "", kind, word);
    }
    return out.data;
}

bool model_named(struct arena *arena, const struct catalog *catalog, const char *name, struct model_named *named)
{
    const char *whole = clean(arena, name), *slash = strchr(whole, '/');
    struct name_search search = { .arena = arena, .catalog = catalog };
    char text[TEXT_MOST], key[TEXT_MOST];
    *named = (struct model_named){ .formats = "", .why = "" };
    if (strlen(whole) >= TEXT_MOST)
        return false;
    char first[64];
    const int meant = meant_row("model", behind(whole));       /* "qwen" alone is asked back, "gpt-5" is closed */
    if (meant >= 0 && (!meant_name(meant, 0, first) || !strpbrk(whole, "0123456789")))
        return false;
    if (!slash && !strchr(whole, ' ') && ollama(arena, whole, named))
        return true;
    lower(behind(whole), text);
    as_files(text);
    named->formats = take_formats(arena, text);
    search.owner = slash ? arena_copy(arena, whole, (size_t)(slash - whole + 1)) : NULL;
    squeeze(text, key);
    search.text = key;
    if (strlen(key) > 4)
        each_name(&search, visit_tail);
    if (search.count && best_of(&search, named))
        return true;
    named->odd = odd_type(arena, text);
    if (named->odd)
        return false;
    split(text, &search.words);
    for (size_t i = 0; i < search.words.count; i++) {
        const char *right = meaning("slip", search.words.at[i]);
        if (right)
            memcpy(search.words.at[i], right, strlen(right) + 1);
    }
    named->why = understood(arena, &search.words);
    const bool mixed = strstr(named->formats, "apex") || has(&search.words, "reap") || has(&search.words, "mmproj");
    const bool family = any_is("family", &search.words) || any_is("model", &search.words);
    search.count = 0;
    if (!mixed && family)
        each_name(&search, visit_words);
    if (!search.count && !mixed && family && sized(&search.words) && !version_of(&search.words))
        each_name(&search, visit_family);
    search.types = meaning("printed", arena_copy(arena, text, strcspn(text, " ")));
    if (!search.count && search.types && strchr(text, ' '))
        each_name(&search, visit_printed);
    if (search.count)
        return best_of(&search, named);
    return !mixed && !family && tuned(key, arena, named);
}

bool model_tag(const char *name)
{
    const char *colon = strchr(name, ':');
    char size[WORD_MOST] = "";
    if (!colon || strchr(name, '/') || strcspn(colon + 1, "-") >= sizeof size)
        return false;
    strncat(size, colon + 1, strcspn(colon + 1, "-."));
    if (colon[1 + strlen(size)] == '.')
        strncat(size, colon + 1 + strlen(size), strcspn(colon + 1 + strlen(size), "-"));
    return is_size(size) && !is_active(size);
}

bool model_explain(struct arena *arena, const struct catalog *catalog, const char *name, struct error *error)
{
    struct model_named named;
    const char *with = model_reads(behind(name), "");
    if (with) {
        error_set(error, "%s: it answers with %s and writes no tokens", arena_copy(arena, error->what, strlen(error->what)), with);
        return error_suggest(error, "those that are built as decoders are predicted, such as Qwen/Qwen3-Embedding-8B and "
                             "Qwen/Qwen3-Reranker-8B; of others `chalkline import config.json` says how large they are");
    }
    model_named(arena, catalog, name, &named);
    if (named.odd) {
        error_set(error, "unknown model '%.200s': '%s' is no file type that is known", name, named.odd);
        return error_suggest(error, "without it, --precision Q4_K_M or another type; a GGUF file's own header has its types: --model FILE");
    }
    if (!*named.why && !named.id)
        return false;
    const struct error before = *error;             /* with the nearest name */
    if (*named.why)
        error_set(error, "%s; understood: %s", before.what, named.why);
    error_hint_of(error, &before);
    if (!named.also[0])
        return before.similar[0] || !named.id ? false : error_did_you_mean(error, named.id, "");
    const char *list = named.id;
    for (size_t i = 0; i < 4 && named.also[i]; i++)
        list = arena_print(arena, "%s, %s", list, named.also[i]);
    error_suggest(error, "it fits models of several sizes: %s", list);
    error_similar(error, named.id);
    for (size_t i = 0; i < 4 && named.also[i]; i++)
        error_similar(error, named.also[i]);
    return false;
}
