/* Reads the quantization section of a configuration. data/quantizers.csv has a row for each method, which names the
 * fields that hold the kind of number, the bits and the group of the weights.
 *
 *   1. The kind is a word (data/format_words.csv), or the row's own format; @ in it stands for the bits.
 *   2. Suffixes for zero points, groups and activations are added if a format of that name is known.
 *   3. A format of any number of bits takes bits/8 bytes for each weight, and for each group a scale and perhaps a zero
 *      point. Other formats have the bytes of data/formats.csv.
 *
 * A note names each field that is neither in the row of the method nor in the row `any`. */
#include "import/model.h"

#include "catalog/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHEET "data/quantizers.csv"
#define WORDS "data/format_words.csv"

static const char *cell(const struct quantizer *by, const char *column)
{
    const struct csv *csv = csv_built_in(SHEET);
    return csv_cell(csv, by->row, csv_column(csv, column));
}

/* Engines take the name in any case. */
static const struct quantizer *named(struct arena *arena, const char *method)
{
    const struct csv *csv = csv_built_in(SHEET);
    char *name = arena_copy(arena, method, strlen(method));
    for (char *at = name; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    const int names = csv_column(csv, "names");
    for (size_t row = 0; row < csv->rows; row++)
        if (text_has_word(csv_cell(csv, row, names), name) || !strcmp(csv_cell(csv, row, 0), name)) {
            struct quantizer *by = arena_alloc(arena, sizeof *by);
            by->row = row;
            return by;
        }
    return NULL;
}

const struct quantizer *quantizer_find(struct arena *arena, const struct doc *section)
{
    const char *method = doc_text(section, "quant_method", NULL);
    if (method)
        return named(arena, method);
    if (doc_text(section, "quant_algo", NULL))
        return named(arena, "modelopt");
    if (doc_get(section, "load_in_4bit") || doc_get(section, "load_in_8bit"))
        return named(arena, "bitsandbytes");
    return doc_number(section, "bits", 0) > 0 || doc_get(section, "config_groups")
         ? named(arena, doc_get(section, "config_groups") ? "compressed-tensors" : "mlx") : NULL;
}

const char *quantizer_refused(const struct quantizer *by)
{
    const char *why = cell(by, "refused");
    return *why ? why : NULL;
}

bool quantizer_flag(const struct quantizer *by, const char *flag)
{
    return text_has_word(cell(by, "flags"), flag);
}

const char *quantizer_methods(struct arena *arena)
{
    const struct csv *csv = csv_built_in(SHEET);
    const int refused = csv_column(csv, "refused");
    struct buffer out = { .arena = arena };
    for (size_t row = 1; row < csv->rows; row++)
        if (!*csv_cell(csv, row, refused))
            buffer_print(&out, "%s%s", out.size ? ", " : "", csv_cell(csv, row, 0));
    return out.data;
}

/* ---- fields ---------------------------------------------------------------------------- */

/* The next word of a cell; false: none. */
static bool next_word(const char **at, struct text *word)
{
    *at += strspn(*at, " ");
    *word = (struct text){ *at, strcspn(*at, " ") };
    *at += word->size;
    return word->size > 0;
}

/* The value at a path such as "weights.num_bits"; a list on the way stands for its last element. NULL: absent. */
static const struct doc *value_at(const struct doc *object, struct text path)
{
    while (object && path.size) {
        const char *dot = memchr(path.data, '.', path.size);
        const size_t size = dot ? (size_t)(dot - path.data) : path.size;
        char key[80];
        if (size >= sizeof key)
            return NULL;
        memcpy(key, path.data, size);
        key[size] = 0;
        if (object->kind == DOC_ARRAY)
            object = object->last;              /* Quark: fp8, which is then made int4 */
        object = object && object->kind == DOC_OBJECT ? doc_get(object, key) : NULL;
        path.data += size + (dot != NULL);
        path.size -= size + (dot != NULL);
    }
    return object;
}

/* The same; NULL: absent, or null. */
static const struct doc *at_path(const struct doc *object, struct text path)
{
    const struct doc *doc = value_at(object, path);
    return doc && doc->kind != DOC_NULL ? doc : NULL;
}

/* The first of the fields `keys` in a description, or else in the section around it. A number among the keys is the
 * default. */
static double number_of(const char *keys, const struct doc *object, const struct doc *section)
{
    const struct doc *const places[] = { object, section };
    double value = 0;
    for (size_t i = 0; i < 2; i++) {
        struct text word;
        for (const char *at = keys; next_word(&at, &word); ) {
            const struct doc *doc = at_path(places[i], word);
            if (doc && doc->kind == DOC_NUMBER)
                return doc->number;
            double absent;
            if (text_number(word, &absent))
                value = absent;
        }
    }
    return value;
}

/* The first of the fields `keys` that a description has, or else the section around it; NULL: none. */
static const struct doc *first_set(const char *keys, const struct doc *object, const struct doc *section)
{
    struct text word;
    for (const char *at = keys; next_word(&at, &word); )
        if (at_path(object, word) || at_path(section, word))
            return at_path(object, word) ? at_path(object, word) : at_path(section, word);
    return NULL;
}

/* The word for the kind of number, by a cell of the column `type`; NULL: no field has one. */
static const char *type_in(struct arena *arena, const char *keys, const struct doc *object)
{
    struct text item;
    for (const char *at = keys; next_word(&at, &item); ) {
        const bool denied = *item.data == '!';
        const char *mark = memchr(item.data, '?', item.size);
        const struct text key = { item.data + denied, (mark ? (size_t)(mark - item.data) : item.size) - denied };
        const struct doc *doc = at_path(object, key);
        if (mark && doc_is(doc, !denied))
            return arena_copy(arena, mark + 1, item.size - (size_t)(mark + 1 - item.data));
        if (!mark && doc && doc->kind == DOC_STRING)
            return doc->string;
    }
    return NULL;
}

/* ---- wrong values ---------------------------------------------------------------------- */

/* What a column's keys may hold. */
struct allowed {
    const char *column, *what;
};

static bool bits_good(const struct doc *doc)
{
    return doc->kind == DOC_NUMBER && doc->number > 0;
}

static bool group_good(const struct quantizer *by, const struct doc *doc)
{
    const double whole = -1;                /* one scale for a row of the matrix, as null */
    return doc->kind == DOC_NULL || (doc->kind == DOC_NUMBER && floor(doc->number) == doc->number &&
           (doc->number > 0 || doc->number == whole || (doc->number == 0 && quantizer_flag(by, "group0"))));
}

static bool value_good(const struct quantizer *by, const char *column, struct text key, const struct doc *doc)
{
    const bool flag = *key.data == '!' || memchr(key.data, '?', key.size);
    if (!strcmp(column, "bits") || !strcmp(column, "group"))
        return !strcmp(column, "bits") ? bits_good(doc) : group_good(by, doc);
    if (doc->kind == DOC_NULL)
        return true;
    if (!strcmp(column, "head"))
        return doc->kind == DOC_BOOL || bits_good(doc);
    if (!strcmp(column, "own"))
        return doc->kind == DOC_OBJECT;
    return flag ? doc->kind == DOC_BOOL : doc->kind == DOC_STRING || doc->kind == DOC_OBJECT;
}

/* Fields that no format can be read from are refused, by their name. `module` describes one; NULL: the section. */
static bool values_good(struct config *config, const struct quantizer *by, const char *module, const struct doc *object)
{
    static const struct allowed rows[] = {
        { "bits", "a number of bits above 0, such as 4" }, { "group", "a whole number of weights, or -1 or null for a whole row" },
        { "own", "an object with a description for each module" }, { "head", "true or false, or a number of bits above 0" },
        { "type", "the word of a format, or true or false if it is a flag" } };
    struct text word;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *at = cell(by, rows[i].column); next_word(&at, &word); ) {
            const bool denied = *word.data == '!';
            const char *mark = memchr(word.data, '?', word.size);
            const struct text key = { word.data + denied, (mark ? (size_t)(mark - word.data) : word.size) - denied };
            const struct doc *doc = value_at(object, key);
            if (!doc || value_good(by, rows[i].column, word, doc))
                continue;
            config_fail(config, "quantization_config%s%s%s: %.*s is %s", module ? " of '" : "", module ? module : "", module ? "'" : "",
                        (int)key.size, key.data, doc_said(config->arena, doc));
            return config_expected(config, "%s", rows[i].what);
        }
    return true;
}

static bool two_sizes(const struct doc *block)
{
    return block->kind == DOC_ARRAY && block->count == 2 && bits_good(block->first) && bits_good(block->last);
}

bool quantizer_checked(struct config *config, const struct quantizer *by, const struct doc *section)
{
    const struct doc *block = at_path(section, text_of("weight_block_size"));
    const bool four = doc_is(doc_get(section, "load_in_4bit"), true) || doc_is(doc_get(section, "_load_in_4bit"), true);
    const bool eight = doc_is(doc_get(section, "load_in_8bit"), true) || doc_is(doc_get(section, "_load_in_8bit"), true);
    if (!values_good(config, by, NULL, section))
        return false;
    if (block && !two_sizes(block)) {
        config_fail(config, "quantization_config: weight_block_size is %s", doc_said(config->arena, block));
        return config_expected(config, "a list of two sizes, such as [128, 128]");
    }
    if (quantizer_flag(by, "loads") && four == eight) {
        config_fail(config, "quantization_config: load_in_4bit and load_in_8bit are %s", four ? "both true" : "not true");
        return config_expected(config, "one of them is true");
    }
    return true;
}

/* ---- words ----------------------------------------------------------------------------- */

static const struct format *word_known(const struct formats *formats, const char *name)
{
    const char *format = format_word(name);
    return formats_find(formats, format && *format ? format : name);
}

/* The known format with the most suffixes: "int4-zp-g32" before "int4-zp" before "int4". */
static const struct format *resolve(struct arena *arena, const struct formats *formats, const char *pattern, double bits,
                                    const char *zero, const char *group, bool wide)
{
    const char *mark = strchr(pattern, '@');
    const char *name = mark ? arena_print(arena, "%.*s%g%s", (int)(mark - pattern), pattern, bits, mark + 1) : pattern;
    for (int i = 0; i < 8; i++) {
        const bool narrow = i & 4, one = i & 2, plain = i & 1;
        const struct format *format = word_known(formats, arena_print(arena, "%s%s%s%s", name, one ? "" : zero,
                                                 plain ? "" : group, wide && !narrow ? "-a16" : ""));
        if (format)
            return format;
    }
    return NULL;
}

/* ---- bytes ----------------------------------------------------------------------------- */

/* A format of the sheet with other bytes of a weight, or of a matrix. */
static const struct format *with_bytes(struct arena *arena, const struct format *base, double bytes, double matrix)
{
    if (base->bytes == bytes && base->matrix == matrix)
        return base;
    struct format *format = arena_alloc(arena, sizeof *format);
    *format = *base;
    format->bytes = bytes;
    format->matrix = matrix;
    return format;
}

const struct format *format_with_bits(struct arena *arena, const struct format *base, double bits)
{
    const double byte = 8;
    return with_bytes(arena, base, bits / byte, 0);
}

/* Weights of 8 bits with a scale for each block of a matrix: 4 bytes, or 1 in the blocks of 32 of OCP MX. */
static const struct format *in_blocks(struct config *config, const struct format *format, const struct doc *block, const struct doc *section)
{
    const double scale = 4, mx = 32;
    if (!block || !two_sizes(block) || (strncmp(format->name, "fp8", 3) && strncmp(format->name, "int8", 4)))
        return format;
    const double area = block->first->number * block->last->number;
    const bool shared = area == mx && !strcmp(doc_text(section, "scale_fmt", ""), "ue8m0");
    return with_bytes(config->arena, format, 1 + (shared ? 1 : scale) / area, 0);
}

/* Weights that are indices into code books (AQLM, VPTQ): the bits of an index over the weights that it stands for,
 * and the books of each matrix in 16 bits. */
static const struct format *code_books(struct config *config, const struct format *base, const struct doc *object)
{
    static const char *const keys[] = { "vector_lens", "num_centroids", "num_res_centroids" };
    const double books = doc_number(object, "num_codebooks", 0), bits = doc_number(object, "nbits_per_codebook", 0);
    const double vector = doc_number(object, "in_group_size", 0) * doc_number(object, "out_group_size", 1);
    const double half = 2, byte = 8;
    if (books > 0 && bits > 0 && bits <= 16 && vector > 0)
        return with_bytes(config->arena, base, books * bits / byte / vector, books * exp2(bits) * vector * half);
    double sizes[3] = { 0 };
    for (size_t i = 0; i < 3; i++) {
        const struct doc *list = doc_get(object, keys[i]);
        const struct doc *item = list && list->kind == DOC_ARRAY ? list->last : NULL;
        sizes[i] = item && item->kind == DOC_NUMBER && item->number > 0 ? item->number : 0;
    }
    if (sizes[0] < 1 || sizes[1] < 2)
        return NULL;
    return with_bytes(config->arena, base, (log2(sizes[1]) + log2(fmax(sizes[2], 1))) / byte / sizes[0],
                      (sizes[1] + sizes[2]) * sizes[0] * half * fmax(doc_number(object, "group_num", 1), 1));
}

/* HQQ quantizes scales and zero points too: the bits of each group that this saves, of 16 for each. */
static double bits_saved(const struct doc *object, const struct doc *section)
{
    const struct doc *shared = doc_get(section, "quant_config");
    const double whole = 16;
    return 2 * whole - fmin(number_of("scale_quant_params.nbits 16", object, shared), whole) -
           fmin(number_of("zero_quant_params.nbits 16", object, shared), whole);
}

static const struct format *counted(struct config *config, const struct quantizer *by, const struct format *format,
                                    double bits, double group, double saved)
{
    static const char *const made[] = { "int", "mlx-q", "exl" };
    const double extra = fmax(number_of(cell(by, "extra"), NULL, NULL) - saved, 0);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const size_t size = strlen(made[i]);
        if (strncmp(format->name, made[i], size))
            continue;
        const double own = strtod(format->name + size, NULL), byte = 8;
        const double each = own > 0 ? own : bits;
        const double beside = group > 0 ? extra + (strstr(format->name, "-zp") ? each : 0) : 0;
        return with_bytes(config->arena, format, each / byte + beside / byte / fmax(group, 1), 0);
    }
    return format;
}

const struct format *quantizer_format(struct config *config, const struct formats *formats,
                                      const struct quantizer *by, const struct doc *object, const struct doc *section,
                                      const char **said)
{
    const char *types = cell(by, "type"), *wide = cell(by, "wide"), *zeros = cell(by, "zero");
    const char *word = type_in(config->arena, types, object);
    if (!word)
        word = type_in(config->arena, types, section);
    const double bits = number_of(cell(by, "bits"), object, section);
    double group = number_of(cell(by, "group"), object, section);
    const char *pattern = word ? format_word(word) : cell(by, "format");
    *said = word ? word : *pattern ? arena_print(config->arena, "%g bits", bits) : NULL;
    if (!pattern)
        pattern = word;
    if (!*pattern) {
        *said = NULL;
        return NULL;
    }
    const char *grouped = strstr(pattern, "-g");        /* the word has a group of its own: INT4_AWQ */
    if (grouped) {
        group = group != 0 ? group : strtod(grouped + 2, NULL);
        pattern = arena_copy(config->arena, pattern, (size_t)(grouped - pattern));
    }
    const bool zero = *zeros && doc_is(at_path(object, text_of(zeros)), false);
    const struct doc *block = first_set("weight_block_size weights.block_structure", object, section);
    const bool sixteen = !strcmp(wide, "always") || (*wide && !first_set(wide, object, section));
    const struct format *format = resolve(config->arena, formats, pattern, bits, zero ? "-zp" : "",
        block ? "-block" : group > 0 ? arena_print(config->arena, "-g%g", group) : "", sixteen);
    if (!format)
        return NULL;
    if (strcmp(format->name, "codebook"))
        return in_blocks(config, counted(config, by, format, bits, group, bits_saved(object, section)), block, section);
    if (object == section)
        *said = NULL;                   /* the descriptions of its modules may have the sizes */
    return code_books(config, format, object);
}

const struct format *quantizer_head(struct config *config, const struct formats *formats, const struct quantizer *by,
                                    const struct doc *section, const struct format *matrix)
{
    struct text word;
    const char *keys = cell(by, "head");
    for (const char *at = keys; next_word(&at, &word); )
        if (doc_is(at_path(section, word), true))
            return matrix;
    const double bits = number_of(keys, section, section);
    const struct format *base = bits > 0 && bits < 16 ? formats_find(formats, cell(by, "format")) : NULL;
    return base ? counted(config, by, base, bits, 0, 0) : NULL;
}

bool quantizer_linears(const struct quantizer *by, const struct doc *section)
{
    const struct doc *list;
    return quantizer_flag(by, "linears") || (quantizer_flag(by, "linears_listed") && quantizer_left(section, &list, 1) > 0);
}

const char *quantizer_fields(struct arena *arena, const struct quantizer *by)
{
    static const char *const columns[] = { "type", "own" };
    struct buffer out = { .arena = arena };
    struct text word;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (const char *at = cell(by, columns[i]); next_word(&at, &word); )
            buffer_print(&out, "%s%.*s", out.size ? ", " : "", (int)word.size, word.data);
    return out.data ? out.data : "";
}

/* ---- lists ----------------------------------------------------------------------------- */

/* Keys of lists of modules that were not quantized. */
static const char left_alone[] = "ignore modules_to_not_convert exclude_modules ignored_layers llm_int8_skip_modules "
                                 "linear_weights_not_to_quantize skip_modules exclude";
static const char caches[] = "kv_cache_scheme kv_cache_quant_algo kv_cache_quant_config kv_cache_dtype";
static const char some_alone[] = "modules_in_block_to_quantize";

size_t quantizer_left(const struct doc *section, const struct doc **lists, size_t most)
{
    struct text word;
    size_t count = 0;
    for (const char *at = left_alone; next_word(&at, &word) && count < most; )
        if (at_path(section, word))
            lists[count++] = at_path(section, word);
    return count;
}

const struct doc *quantizer_own(const struct quantizer *by, const struct doc *section)
{
    struct text word;
    for (const char *at = cell(by, "own"); next_word(&at, &word); ) {
        const struct doc *own = text_is(word, ".") ? section : at_path(section, word);
        if (own && own->kind == DOC_OBJECT && own->first)
            return own;
    }
    return NULL;
}

/* Is a key a field of the section, and not the name of a module? */
static bool is_field(const struct quantizer *by, const char *key)
{
    static const char *const columns[] = { "type", "bits", "group", "zero", "wide", "own", "head", "plain" };
    const struct quantizer any = { 0 };
    struct text word;
    if (text_has_word(cell(&any, "plain"), key) || text_has_word(left_alone, key) || text_has_word(caches, key) ||
        text_has_word(some_alone, key))
        return true;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (const char *at = cell(by, columns[i]); next_word(&at, &word); ) {
            const bool denied = *word.data == '!';
            const char *start = word.data + denied;
            const size_t size = strlen(key);
            if (word.size - denied >= size && !memcmp(start, key, size) &&
                (word.size - denied == size || start[size] == '.' || start[size] == '?'))
                return true;
        }
    return false;
}

/* A target with no mark of a name or a pattern, that begins with a capital letter. */
static bool is_class(const char *target)
{
    return isupper((unsigned char)*target) && strcspn(target, ".:*_") == strlen(target);
}

void quantizer_modules(struct config *config, const struct formats *formats, const struct quantizer *by,
                       const struct doc *section, const struct format *base, struct mixed *mixed)
{
    const struct doc *own = quantizer_own(by, section);
    for (const struct doc *item = own ? own->first : NULL; item && !config->failed; item = item->next) {
        const bool off = item->kind == DOC_NULL || doc_is(item, false);
        const struct doc *targets = item->kind == DOC_OBJECT ? doc_get(item, "targets") : NULL;
        const struct doc *weight = item->kind == DOC_OBJECT ? doc_get(item, "weight") : NULL;
        if ((own == section && is_field(by, item->key)) || (!off && item->kind != DOC_OBJECT))
            continue;
        if (!off && !values_good(config, by, item->key, item))
            return;
        const bool left = off || (weight && weight->kind == DOC_NULL) || !strncmp(item->key, "-:", 2) ||
                          number_of("bits num_bits", item, NULL) >= 16;
        const char *word = "";
        const struct format *format = left ? base : quantizer_format(config, formats, by, item, section, &word);
        if (!format) {
            config_fail(config, "quantization_config: '%.100s' has weights in '%.60s', which is not understood", item->key,
                        word ? word : "");
            config_expected(config, "FP8, NVFP4, W4A16_AWQ, int of 2 to 8 bits, or another word of " WORDS);
            return;
        }
        for (const struct doc *target = targets ? targets->first : NULL; target; target = target->next)
            if (target->kind == DOC_STRING && is_class(target->string) && !mixed_class(target->string)) {
                config_fail(config, "quantization_config: '%.100s' is for modules of the class '%.100s'", item->key, target->string);
                config_expected(config, "Linear, Embedding, the name of a module, or a pattern such as re:.*mlp.*");
            } else if (target->kind == DOC_STRING) {
                mixed_add(config, mixed, target->string, format);
            }
        const bool sign = item->key[0] && item->key[1] == ':' && strchr("+-", item->key[0]);
        const bool regular = quantizer_flag(by, "regular") || starts_with(item->key, ".*") ||
                             strcspn(item->key, "[](){}|\\^$+") < strlen(item->key);
        if (!targets)
            mixed_add(config, mixed, regular && strncmp(item->key, "re:", 3)
                      ? arena_print(config->arena, "re:%s", item->key + (sign ? 2 : 0)) : item->key, format);
    }
}

/* The only modules that were quantized, in lists of lists (GPTQ of Optimum). */
static void add_names(struct config *config, const struct doc *list, const struct format *format, struct mixed *mixed)
{
    if (list->kind == DOC_STRING)
        mixed_add(config, mixed, list->string, format);
    for (const struct doc *item = list->kind == DOC_ARRAY ? list->first : NULL; item; item = item->next)
        add_names(config, item, format, mixed);
}

bool quantizer_some(struct config *config, const struct doc *section, const struct format *format, struct mixed *mixed)
{
    const struct doc *list = at_path(section, text_of(some_alone));
    if (list && format)
        add_names(config, list, format, mixed);
    return list && format;
}

/* ---- the cache ------------------------------------------------------------------------- */

/* The first word for a kind of number in a description, however deep (Quark: "*k_proj".output_tensors.dtype). */
static const char *deep_word(struct arena *arena, const struct doc *doc)
{
    const double bits = doc->kind == DOC_OBJECT ? doc_number(doc, "num_bits", 0) : 0;
    const char *type = doc->kind == DOC_OBJECT ? doc_text(doc, "type", doc_text(doc, "dtype", NULL)) : NULL;
    if (doc->kind == DOC_STRING)
        return doc->string;
    if (type)
        return bits > 0 ? arena_print(arena, "%s%g", type, bits) : type;
    for (const struct doc *item = doc->kind == DOC_OBJECT || doc->kind == DOC_ARRAY ? doc->first : NULL; item; item = item->next)
        if (item->kind == DOC_OBJECT || item->kind == DOC_ARRAY) {
            const char *word = deep_word(arena, item);
            if (word)
                return word;
        }
    return NULL;
}

const struct format *quantizer_cache(struct config *config, const struct formats *formats, const struct doc *section)
{
    struct text key;
    for (const char *at = caches; next_word(&at, &key); ) {
        const struct doc *doc = at_path(section, key);
        const char *word = doc ? deep_word(config->arena, doc) : NULL;
        const struct format *format = word ? word_known(formats, word) : NULL;
        if (format)
            return format;
        if (word && strcmp(word, "auto") && strcmp(word, "none"))
            facts_note(config->facts, "quantization_config.%.*s '%.60s' is not understood: the cache is taken as bf16",
                       (int)key.size, key.data, word);
    }
    /* Quark: the outputs of the key projections */
    const struct doc *layers = doc_get(section, "layer_quant_config");
    for (const struct doc *item = layers && layers->kind == DOC_OBJECT ? layers->first : NULL; item; item = item->next) {
        const struct doc *type = ends_with(item->key, "k_proj") ? at_path(item, text_of("output_tensors.dtype")) : NULL;
        if (type && type->kind == DOC_STRING && word_known(formats, type->string))
            return word_known(formats, type->string);
    }
    return NULL;
}

/* ---- unknown fields -------------------------------------------------------------------- */

static bool says_nothing(const struct doc *doc)
{
    return doc->kind == DOC_NULL || doc_is(doc, false) ||
           ((doc->kind == DOC_OBJECT || doc->kind == DOC_ARRAY) && !doc->first) ||
           (doc->kind == DOC_STRING && !*doc->string);
}

void quantizer_unread(struct config *config, const struct quantizer *by, const struct doc *section)
{
    const bool modules = quantizer_own(by, section) == section;
    for (const struct doc *item = section->first; item; item = item->next) {
        const bool module = modules && (item->kind == DOC_OBJECT || item->kind == DOC_BOOL);
        const bool second = item->kind == DOC_OBJECT && text_has_word(cell(by, "own"), item->key) && quantizer_own(by, section) != item;
        if (module || says_nothing(item) || (is_field(by, item->key) && !second))
            continue;
        config_plain(config, "quantization_config", item->key);
        facts_note(config->facts, "quantization_config.%.100s is not understood: if it changes the bytes of weights, they "
                   "are wrong here", item->key);
    }
}
