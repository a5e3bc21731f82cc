/* Names of models as people have them: "unsloth/Qwen3-14B-Instruct-GGUF", "llama3.1:8b-instruct-q4_K_M",
 * "Meta-Llama-3.1-8B-Instruct-AWQ". What a publisher, a re-uploader or a server adds to the name is taken off
 * its end, word by word, until the catalog knows the rest; a word that names a format is kept as the format. */
#include "catalog/catalog.h"
#include "catalog/formats.h"
#include "catalog/formats.h"
#include "catalog/model_words.h"
#include "catalog/sheet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a name says of a checkpoint, gathered from its end. */
struct name_formats {
    struct arena *arena;
    const char *whole;
    const char *precision, *cache;
    double bits, head;          /* of ExLlama's files; 0: not said */
    double group;               /* weights of a scale; 0: not said */
    bool exl;
};

static bool mark(char c)
{
    return c == '-' || c == '.' || c == '_' || c == ':' || c == '/' || c == ' ';
}

/* Takes `word` off the end of a name of `size` characters, with the mark before it: what is left, or `size`. */
static size_t without(const char *name, size_t size, const char *word)
{
    const size_t tail = strlen(word);
    if (size < tail + 2 || !mark(name[size - tail - 1]))
        return size;
    for (size_t i = 0; i < tail; i++)
        if (tolower((unsigned char)name[size - tail + i]) != tolower((unsigned char)word[i]))
            return size;
    return size - tail - 1;
}

/* A GGUF file type at the end of a name, in the words of data/file_types.csv. */
static size_t without_type(struct arena *arena, const char *name, size_t size, const char **type)
{
    struct text rest = text_built_in("data/file_types.csv");
    while (rest.size) {
        struct text line = text_line(&rest);
        const char *comma = line.size && *line.data != '#' ? memchr(line.data, ',', line.size) : NULL;
        *type = comma ? arena_copy(arena, line.data, (size_t)(comma - line.data)) : "";
        const size_t left = comma ? without(name, size, *type) : size;
        if (left < size)
            return left;
    }
    return size;
}

/* Is a word of the name's, its publisher's for instance? "mlx-community", "Qwen3-8B-MLX-4bit". */
static bool comes_from(const struct name_formats *said, const char *word)
{
    return !*word || name_within(said->whole, word);
}

/* Is '_' a decimal point, as in "4_25bpw", and none of "EXL3_4bpw"? */
static bool decimal(const char *name, size_t at)
{
    size_t first = at;
    while (first && isdigit((unsigned char)name[first - 1]))
        first--;
    return name[at] == '_' && first < at && isdigit((unsigned char)name[at + 1]) && (!first || mark(name[first - 1]));
}

/* "4.0bpw", "4_25bpw", "bpw6", "h6" or "hb8", "exl2", "exl3": ExLlama's bits of all weights and of the head. */
static size_t without_bits(struct name_formats *said, const char *name, size_t size)
{
    size_t start = size;
    while (start && !(mark(name[start - 1]) && name[start - 1] != '.' && !decimal(name, start - 1)))
        start--;
    char word[32], *end;
    if (!start || size - start >= sizeof word)
        return size;
    for (size_t i = 0; i <= size - start; i++)
        word[i] = i == size - start ? 0 : name[start + i] == '_' ? '.' : (char)tolower((unsigned char)name[start + i]);
    const bool head = word[0] == 'h' && (said->exl || name_within(said->whole, "bpw")), exl = starts_with(word, "exl");
    const bool first = starts_with(word, "bpw");
    const double number = strtod(head ? word + 1 + (word[1] == 'b') : first ? word + 3 : word, &end);
    if (exl && (word[3] == '2' || word[3] == '3') && !word[4])
        said->exl = true;
    else if (head && number > 0 && number <= 16 && !*end)
        said->head = number;
    else if (number > 0 && number <= 16 && (first ? !*end : !strcmp(end, "bpw")))
        said->bits = number;
    else
        return size;
    return start - 1;
}

/* A group at the end of a name, "g64", "4bitgs64" or "128g"; then the bits before it, "4b", which are no size. */
static size_t without_group(struct name_formats *said, const char *name, size_t size)
{
    const size_t longest = 7;
    if (said->group > 0 && size > 3 && mark(name[size - 3]) && strchr("234", name[size - 2]) && tolower((unsigned char)name[size - 1]) == 'b') {
        said->precision = said->precision ? said->precision : arena_print(said->arena, "int%c-zp", name[size - 2]);
        return size - 3;
    }
    for (size_t start = size; start > 4 && size - start < longest; start--) {
        const bool joined = !strncmp(name + start - 3, "bit", 3);
        double group;
        if ((mark(name[start - 1]) || joined) && name_group(name + start, &group) == size - start) {
            said->group = group;
            return start - !joined;
        }
    }
    return size;
}

/* The format with the group of the name: its own, or one of another name. What is not known is asked back. */
static const char *with_group(const struct name_formats *said)
{
    const double wide = 128, narrow = 64;
    const char *grouped = arena_print(said->arena, "%s-g%g", said->precision, said->group);
    const bool sixteen = starts_with(said->precision, "mlx-") || strstr(said->precision, "-z16");
    const bool own = said->group == (sixteen ? narrow : wide) && !formats_find(formats_built_in(), grouped);
    return own ? said->precision : grouped;
}

static size_t shorter(struct name_formats *said, const char *name, size_t size)
{
    const struct csv *csv = csv_built_in("data/name_formats.csv");
    enum { WORD, BY, FORMAT, CACHE };
    size_t best = csv->rows, left = size;
    for (size_t row = 0; row < csv->rows; row++) {          /* the longest word */
        const size_t rest = without(name, size, csv_cell(csv, row, WORD));
        if (rest < left && comes_from(said, csv_cell(csv, row, BY)))
            best = row, left = rest;
    }
    if (best < csv->rows) {
        const char *format = csv_cell(csv, best, FORMAT), *cache = csv_cell(csv, best, CACHE);
        if (*format && !said->precision)
            said->precision = format;
        if (*cache && !said->cache)
            said->cache = cache;
        return left;
    }
    left = without_bits(said, name, size);
    if (left == size)
        left = without_group(said, name, size);
    if (left < size)
        return left;
    const char *type;
    left = without_type(said->arena, name, size, &type);
    if (left < size && !said->precision)
        said->precision = type;
    return left;
}

/* "llama3.1:8b" is "llama3.1-8b", and the "Meta-" of Llama is no part of it. */
static const struct catalog_entry *known(const struct catalog *catalog, const char *name, size_t size)
{
    char plain[200];
    const size_t meta = size > 5 && (!strncmp(name, "Meta", 4) || !strncmp(name, "meta", 4)) && mark(name[4]) ? 5 : 0;
    name += meta;
    size -= meta;
    if (!size || size >= sizeof plain)
        return NULL;
    for (size_t i = 0; i <= size; i++)
        plain[i] = i == size ? 0 : name[i] == ':' ? '-' : name[i];
    return catalog_known(catalog, CATALOG_MODEL, plain);
}

/* Without a catalog, the formats alone. */
static const struct catalog_entry *called(struct name_formats *said, const struct catalog *catalog, const char *name)
{
    const struct catalog_entry *found = NULL;
    size_t size = strlen(name), left = size;
    said->precision = said->cache = NULL;
    said->exl = false;
    said->bits = said->head = said->group = 0;
    do {
        size = left;
        found = catalog ? known(catalog, name, size) : NULL;
        left = shorter(said, name, size);
    } while (!found && left < size);
    double bits, head;
    format_bits("exl", &bits, &head);
    if (said->bits > 0)
        said->precision = arena_print(said->arena, "%gbpw-h%g", said->bits, said->head > 0 ? said->head : head);
    else if (said->exl)
        said->precision = "exl";
    else if (said->precision && said->group > 0)
        said->precision = with_group(said);
    return found;
}

/* A model by its words, wherever they stand in the name. */
static const struct catalog_entry *by_words(struct name_formats *said, const struct catalog *catalog, const char *name)
{
    struct model_named named;
    if (!model_named(said->arena, catalog, name, &named))
        return NULL;
    called(said, NULL, arena_print(said->arena, "x-%s", named.formats));
    if (named.type)
        said->precision = named.type;
    const struct catalog_entry *entry = catalog_known(catalog, CATALOG_MODEL, named.id);
    return entry ? entry : model_shape(said->arena, named.id);
}

/* Re-uploaders put the publisher before the name: "bartowski/Qwen_Qwen3-14B-GGUF". */
const struct catalog_entry *catalog_model_called(struct arena *arena, const struct catalog *catalog,
                                                 const char *name, const char **precision, const char **cache)
{
    const char *last = strrchr(name, '/'), *publisher = strchr(last ? last : name, '_');
    struct name_formats said = { .arena = arena, .whole = name };
    *precision = NULL;
    if (cache)
        *cache = NULL;
    if (strstr(name, ".csv") || strstr(name, ".json"))
        return NULL;
    const bool tag = strchr(name, ':') && !last;
    const struct catalog_entry *found = tag ? NULL : called(&said, catalog, last ? last + 1 : name);
    if (!found && last && (found = model_shape(arena, name)))
        called(&said, NULL, name);
    if (!found && publisher && !tag)
        found = called(&said, catalog, publisher + 1);
    if (!found)
        found = by_words(&said, catalog, name);
    if (!found && tag)
        found = called(&said, catalog, name);
    *precision = said.precision;
    if (cache)
        *cache = said.cache;
    return found;
}
