/* Models: rows of the catalog become the document their config.json would be.
 *
 *     text_config.hidden_size   5120                    { "text_config": {
 *     text_config.layer_types   [2*(3*linear,full)]         "hidden_size": 5120,
 *                                                           "layer_types": [ ... 8 ] } }
 *
 * A key is a path of names with points between them. A value is
 *
 *     value = number | true | false | null | word | "string" | [ items ] | { pairs }
 *     items = item , item ...         item = value | N * value | N * ( items )
 *     pairs = name : value , ...
 *
 * where a word is a string of letters, digits and _ . * / - that is nothing else. A cell
 * that starts with none of [ { " is one scalar, the rest of it included. The row
 * `same_as` lays the document of another model underneath. */
#include "catalog/catalog.h"

#include "build/row_names.h"

#include <string.h>

struct fact_parser {
    struct arena *arena;
    const char *at;
    size_t made, depth;
};

enum { MOST_VALUES = 100000, DEEPEST = 16 };

static bool parse_value(struct fact_parser *parser, struct doc *into, struct error *error);

static bool parse_fault(const struct fact_parser *parser, struct error *error, const char *wanted)
{
    if (*parser->at)
        error_set(error, "'%.20s' is not %s", parser->at, wanted);
    else
        error_set(error, "it ends before %s", wanted);
    return error_expected(error, "[2*(3*linear_attention,full_attention)], {name:1}, \"text\", 4096");
}

static bool too_deep(struct error *error)
{
    return error_set(error, "nested deeper than %d", DEEPEST) || error_expected(error, "lists inside fewer lists");
}

static bool take_mark(struct fact_parser *parser, char c)
{
    while (*parser->at == ' ')
        parser->at++;
    if (*parser->at != c)
        return false;
    parser->at++;
    return true;
}

static void set_string(struct fact_parser *parser, struct doc *into, const char *data, size_t size)
{
    into->kind = DOC_STRING;
    into->string = arena_copy(parser->arena, data, size);
}

static void set_scalar(struct fact_parser *parser, struct doc *into, const char *data, size_t size)
{
    struct text text = { data, size };
    if (text_number(text, &into->number))
        into->kind = DOC_NUMBER;
    else if (text_is(text, "true") || text_is(text, "false"))
        into->kind = DOC_BOOL, into->boolean = text_is(text, "true");
    else if (text_is(text, "null"))
        into->kind = DOC_NULL;
    else
        set_string(parser, into, data, size);
}

/* After the opening quote; the only escapes are \" and \\. */
static bool parse_string(struct fact_parser *parser, struct doc *into, struct error *error)
{
    struct buffer buffer = { .arena = parser->arena };
    buffer_add(&buffer, "", 0);
    while (*parser->at && *parser->at != '"') {
        if (*parser->at == '\\' && (parser->at[1] == '"' || parser->at[1] == '\\'))
            parser->at++;
        buffer_add(&buffer, parser->at++, 1);
    }
    set_string(parser, into, buffer.data, buffer.size);
    return take_mark(parser, '"') || parse_fault(parser, error, "a closing quote");
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.*/+-", c));
}

static size_t word_size(const char *at)
{
    size_t size = 0;
    while (is_word(at[size]))
        size++;
    return size;
}

/* "12*": how often the next value comes; 1 without it. */
static size_t take_times(struct fact_parser *parser)
{
    size_t times = 0, size = 0;
    while (parser->at[size] >= '0' && parser->at[size] <= '9' && times < MOST_VALUES)
        times = 10 * times + (size_t)(parser->at[size++] - '0');
    if (!size || parser->at[size] != '*')
        return 1;
    parser->at += size + 1;
    return times;
}

static bool parse_items(struct fact_parser *parser, struct doc *array, char end, struct error *error)
{
    if (take_mark(parser, end))
        return true;
    if (++parser->depth > DEEPEST)
        return too_deep(error);
    do {
        take_mark(parser, ' ');
        size_t times = take_times(parser);
        const char *start = parser->at;
        if (!times)
            return parse_fault(parser, error, "a value that comes at least once");
        for (size_t i = 0; i < times; i++) {
            parser->at = start;
            bool group = take_mark(parser, '(');
            if (group ? !parse_items(parser, array, ')', error)
                      : !parse_value(parser, doc_add(parser->arena, array, NULL, DOC_NULL), error))
                return false;
            if (++parser->made > MOST_VALUES)
                return error_set(error, "more than %d values", MOST_VALUES) ||
                       error_expected(error, "fewer values, as in 4*full_attention");
        }
    } while (take_mark(parser, ','));
    parser->depth--;
    return take_mark(parser, end) || parse_fault(parser, error, end == ')' ? "')' or ','" : "']' or ','");
}

static bool parse_pairs(struct fact_parser *parser, struct doc *object, struct error *error)
{
    if (take_mark(parser, '}'))
        return true;
    do {
        take_mark(parser, ' ');
        size_t size = word_size(parser->at);
        const char *name = arena_copy(parser->arena, parser->at, size);
        parser->at += size;
        if (!size || !take_mark(parser, ':'))
            return parse_fault(parser, error, "a name and ':'");
        if (!parse_value(parser, doc_add(parser->arena, object, name, DOC_NULL), error))
            return false;
    } while (take_mark(parser, ','));
    return take_mark(parser, '}') || parse_fault(parser, error, "'}' or ','");
}

static bool parse_value(struct fact_parser *parser, struct doc *into, struct error *error)
{
    if (++parser->depth > DEEPEST)
        return too_deep(error);
    bool good = true;
    if (take_mark(parser, '[')) {
        into->kind = DOC_ARRAY;
        good = parse_items(parser, into, ']', error);
    } else if (take_mark(parser, '{')) {
        into->kind = DOC_OBJECT;
        good = parse_pairs(parser, into, error);
    } else if (take_mark(parser, '"')) {
        good = parse_string(parser, into, error);
    } else {
        size_t size = word_size(parser->at);
        if (!size)
            return parse_fault(parser, error, "a value");
        set_scalar(parser, into, parser->at, size);
        parser->at += size;
    }
    parser->depth--;
    return good;
}

static bool parse_cell(struct arena *arena, const char *cell, struct doc *into,
                       struct error *error)
{
    struct fact_parser parser = { .arena = arena, .at = cell };
    if (!strchr("[{\"", *cell)) {
        set_scalar(&parser, into, cell, strlen(cell));
        return true;
    }
    if (!parse_value(&parser, into, error))
        return false;
    return !*parser.at || parse_fault(&parser, error, "the end of the value");
}

/* ---- the document ------------------------------------------------------------------------ */

/* The child of that name, emptied; it keeps its place when it was there. */
static struct doc *place(struct arena *arena, struct doc *object, const char *name)
{
    for (struct doc *child = object->first; child; child = child->next)
        if (!strcmp(child->key, name)) {
            struct doc empty = { .kind = DOC_NULL, .key = child->key, .next = child->next };
            *child = empty;
            return child;
        }
    return doc_add(arena, object, name, DOC_NULL);
}

static struct doc *inner(struct arena *arena, struct doc *object, const char *name)
{
    for (struct doc *child = object->first; child; child = child->next)
        if (!strcmp(child->key, name) && child->kind == DOC_OBJECT)
            return child;
    struct doc *child = place(arena, object, name);
    child->kind = DOC_OBJECT;
    return child;
}

static struct doc *place_path(struct arena *arena, struct doc *object, const char *path)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(path, '.')) {
        object = inner(arena, object, arena_copy(arena, path, (size_t)(dot - path)));
        path = dot + 1;
    }
    return place(arena, object, path);
}

static bool is_about(const char *key)       /* of the model, not of its config.json */
{
    static const char *const about[] = {
        "title", "alias", "same_as", "params_total_published", "params_active_published",
        "kv_elements_published", NAME_trained_tokens,
        "trained_note", NAME_published_context, "released",
    };
    return name_listed(about, sizeof about / sizeof *about, key);
}

static const struct catalog_entry *base_find(const struct catalog *catalog,
                                             const struct catalog_entry *entry,
                                             struct error *error)
{
    const char *base = catalog_text(entry, "same_as");
    for (size_t i = 0; i < entry->sheet->count; i++)        /* of the user's own sheet first */
        if (name_same(entry->sheet->entries[i].name, base))
            return &entry->sheet->entries[i];
    return catalog_find(catalog, CATALOG_MODEL, base, error);
}

enum { LONGEST_CHAIN = 8 };          /* of same_as */

static bool fill_config(const struct catalog *catalog, const struct catalog_entry *entry,
                        struct doc *config, int depth, struct error *error)
{
    if (depth > LONGEST_CHAIN)
        return error_set(error, "%s: the same_as of %s goes in a circle", entry->sheet->csv.file, entry->name) ||
               error_expected(error, "a same_as that names a model with facts of its own");
    if (catalog_text(entry, "same_as")) {
        const struct catalog_entry *base = base_find(catalog, entry, error);
        if (!base || !fill_config(catalog, base, config, depth + 1, error))
            return false;
    }
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!row.chosen || is_about(row.fact))
            continue;
        struct error why = { .what = "" };
        struct doc *value = place_path(catalog->arena, config, row.fact);
        if (!parse_cell(catalog->arena, row.value, value, &why)) {
            error_set(error, "%s:%d: %s: %s", entry->sheet->csv.file, row.line, row.fact,
                      why.what);
            return error_hint_of(error, &why);
        }
    }
    return true;
}

const struct catalog_entry *catalog_model_network(const struct catalog *catalog, const struct catalog_entry *entry)
{
    struct error ignored;
    for (int depth = 0; depth < LONGEST_CHAIN && catalog_text(entry, "same_as"); depth++) {
        const struct catalog_entry *base = base_find(catalog, entry, &ignored);
        if (!base)
            break;
        entry = base;
    }
    return entry;
}

const struct catalog_entry *catalog_model_base(const struct catalog *catalog, const struct catalog_entry *entry)
{
    struct error ignored;
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (!strcmp(row.fact, "same_as") && !strcmp(row.mark, "assumed"))
            return base_find(catalog, entry, &ignored);
    }
    return NULL;
}

bool catalog_entry_config(const struct catalog *catalog, const struct catalog_entry *entry, struct doc **config,
                          struct error *error)
{
    *config = doc_new(catalog->arena, DOC_OBJECT);
    return fill_config(catalog, entry, *config, 0, error);
}

bool catalog_model(const struct catalog *catalog, const char *name, struct doc **config,
                   struct error *error)
{
    const struct catalog_entry *entry = catalog_find(catalog, CATALOG_MODEL, name, error);
    return entry && catalog_entry_config(catalog, entry, config, error);
}
