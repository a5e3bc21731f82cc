/* Architectures: one row of data/families.csv each, found by model_type or by the class that a
 * configuration names, and read into a struct family.
 *
 * Only the row that is wanted is split into its cells: a question that names a model of the catalog
 * imports it each time. */
#include "import/model.h"

#include "catalog/sheet.h"

#include <string.h>

#define SHEET "data/families.csv"

enum column { NAME, CLASS, ATTENTION, STATE, QKV_BIAS, OUTPUT_BIAS, QK_NORM, FFN, FFN_BIAS, NORM, NORM_BIAS,
              NORMS, TIED, HEAD_BIAS, WINDOW, TRAITS, DEFAULTS, COLUMNS };

/* ---- the sheet ----------------------------------------------------------------------- */

/* The next row of the sheet that is no remark and not the names of its columns. */
static bool next_row(struct text *rest, struct text *row)
{
    while (rest->size) {
        *row = text_until(rest, '\n');
        if (row->size && *row->data != '#' && strncmp(row->data, "name,", 5))
            return true;
    }
    return false;
}

/* ---- a row --------------------------------------------------------------------------- */

/* "0", "1", "attention_bias(0)", "!no_bias(1)". */
static struct family_rule rule_read(struct arena *arena, struct text cell)
{
    struct family_rule rule = { .denied = cell.size && *cell.data == '!' };
    struct text rest = { cell.data + rule.denied, cell.size - rule.denied };
    struct text key = text_until(&rest, '(');
    rule.absent = rest.size ? *rest.data == '1' : text_is(key, "1");
    if (rest.size)
        rule.key = arena_copy(arena, key.data, key.size);
    return rule;
}

/* "head", or "use_qk_norm(0):head" where a field says whether. */
static void norms_of_queries(struct arena *arena, struct text cell, struct family *family)
{
    const char *colon = cell.size ? memchr(cell.data, ':', cell.size) : NULL;
    struct text width = cell;
    family->qk_norm = (struct family_rule){ .absent = cell.size > 0, .key = cell.size ? "use_qk_norm" : NULL };
    if (colon) {
        width = (struct text){ colon + 1, (size_t)(cell.data + cell.size - colon - 1) };
        family->qk_norm = rule_read(arena, (struct text){ cell.data, (size_t)(colon - cell.data) });
    }
    family->qk_wide = text_is(width, "wide");
}

static void builders(struct text attention, struct text state, struct family *family)
{
    static const struct { const char *name; layer_builder *build; } layers[] = {
        { "grouped", attention_grouped }, { "latent", attention_latent }, { "latent twice", attention_twice },
        { "compressed", attention_compressed }, { "factored", attention_factored },
        { "delta", state_delta }, { "kimi", state_kimi }, { "mamba", state_mamba }, { "mamba1", state_mamba1 },
        { "lightning", state_lightning }, { "convolution", state_convolution },
        { "recurrent", state_recurrent }, { "rwkv", state_rwkv } };
    static const struct { const char *name; model_builder *build; } wholes[] = {
        { "t5", t5_build }, { "bart", bart_build } };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (text_is(attention, layers[i].name))
            family->attention = layers[i].build;
        if (text_is(state, layers[i].name))
            family->linear = layers[i].build;
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (text_is(attention, wholes[i].name))
            family->whole = wholes[i].build;
}

static uint64_t traits_read(struct text cell)
{
    static const char *const names[] = {
#define TRAIT(name) #name,
#include "import/traits.def"
#undef TRAIT
    };
    uint64_t traits = 0;
    while (cell.size) {
        struct text word = text_until(&cell, ' ');
        for (int i = 0; i < TRAIT_COUNT; i++)
            if (text_is(word, names[i]))
                traits |= (uint64_t)1 << i;
    }
    return traits;
}

/* "all", "4" (every fourth layer is full), "chunks 4". */
static void window_read(struct text cell, struct family *family)
{
    static const char chunks[] = "chunks ";
    family->windowed = text_is(cell, "all");
    family->chunked = cell.size >= sizeof chunks && !memcmp(cell.data, chunks, sizeof chunks - 1);
    if (cell.size && !family->windowed)
        family->window_pattern = cell.data[cell.size - 1] - '0';
}

static const struct family *row_read(struct arena *arena, struct text row)
{
    struct text cell[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        cell[i] = text_until(&row, ',');
    struct family *family = arena_array(arena, 1, sizeof *family);
    *family = (struct family){
        .name = arena_copy(arena, cell[NAME].data, cell[NAME].size),
        .qkv_bias = rule_read(arena, cell[QKV_BIAS]), .output_bias = rule_read(arena, cell[OUTPUT_BIAS]),
        .ffn_bias = rule_read(arena, cell[FFN_BIAS]), .norm_bias = rule_read(arena, cell[NORM_BIAS]),
        .head_bias = rule_read(arena, cell[HEAD_BIAS]), .down_bias = text_is(cell[FFN_BIAS], "down"),
        .ffn_kind = text_is(cell[FFN], "gated") ? FFN_GATED : text_is(cell[FFN], "plain") ? FFN_PLAIN : FFN_ABSENT,
        .norm_weights = !text_is(cell[NORM], "none"), .norms = *cell[NORMS].data - '0',
        .tied = text_is(cell[TIED], "1"), .traits = traits_read(cell[TRAITS]), .defaults = cell[DEFAULTS] };
    norms_of_queries(arena, cell[QK_NORM], family);
    builders(cell[ATTENTION], cell[STATE], family);
    window_read(cell[WINDOW], family);
    return family;
}

/* ---- which row ----------------------------------------------------------------------- */

/* "qwen3_vl" is the whole model, "qwen3_vl_text" its language part: either names the row. */
static bool type_matches(struct text name, const char *type)
{
    static const char part[] = "_text", whole[] = "_text_model";
    size_t size = strlen(type);
    if (name.size < size || memcmp(name.data, type, size))
        return false;
    struct text rest = { name.data + size, name.size - size };
    return !rest.size || text_is(rest, part) || text_is(rest, whole);
}

static const struct family *by_type(struct arena *arena, const char *type)
{
    struct text rest = text_built_in(SHEET), row;
    while (type && *type && next_row(&rest, &row)) {
        struct text cells = row;
        if (type_matches(text_until(&cells, ','), type))
            return row_read(arena, row);
    }
    return NULL;
}

/* The longest prefix of a class name wins: "DeepseekV32" before "DeepseekV3". */
static const struct family *by_class(struct arena *arena, const struct doc *list)
{
    struct text best = { NULL, 0 };
    size_t longest = 0;
    for (const struct doc *item = list ? list->first : NULL; item; item = item->next) {
        struct text rest = text_built_in(SHEET), row;
        while (item->kind == DOC_STRING && next_row(&rest, &row)) {
            struct text cells = row;
            text_until(&cells, ',');
            struct text prefix = text_until(&cells, ',');
            if (prefix.size > longest && !strncmp(item->string, prefix.data, prefix.size)) {
                best = row;
                longest = prefix.size;
            }
        }
    }
    return longest ? row_read(arena, best) : NULL;
}

/* The simplest family that has the fields of this configuration. */
static const struct family *assumed(struct config *config, const char *type)
{
    bool latent = config_has(config, FIELD_kv_rank);
    config->assumed = true;
    facts_note(config->facts, "unknown architecture '%s' read as %s: norms, biases and gates are "
               "assumed to be the same", type, latent ? "deepseek_v3" : "mistral");
    return by_type(config->arena, latent ? "deepseek_v3" : "mistral");
}

static const struct family *unknown(struct config *config, const char *type)
{
    if (config->assume)
        return assumed(config, type);
    const char **names = NULL;
    size_t count = 0, room = 0;
    struct text rest = text_built_in(SHEET), row;
    struct buffer all = { .arena = config->arena };
    while (next_row(&rest, &row)) {
        struct text name = text_until(&row, ',');
        const char **place = arena_push(config->arena, &names, &count, &room, sizeof *names);
        *place = arena_copy(config->arena, name.data, name.size);
        if (all.size < 400)
            buffer_print(&all, "%s, ", *place);
    }
    const char *near = name_nearest(type, names, count);
    config_fail(config, "unknown model_type '%.100s'%s%s%s", type, near ? " (did you mean " : "",
                near ? near : "", near ? "?)" : "");
    config_expected(config, "one of: %s...; or --assume, to read it as a plain transformer", all.data);
    return NULL;
}

/* Two models have the same model_type: the first ChatGLM has an inner width of its own name. */
static const char *type_meant(const struct config *config, const char *type)
{
    if (type && !strcmp(type, "chatglm") && doc_get(config->root, "inner_hidden_size"))
        return "chatglm-v1";
    return type;
}

const struct family *family_find(struct config *config)
{
    struct arena *arena = config->arena;
    const struct family *family = by_type(arena, type_meant(config, doc_text(config->text, "model_type", NULL)));
    if (!family)
        family = by_type(arena, doc_text(config->root, "model_type", NULL));
    if (family)
        return family;
    family = by_class(arena, doc_get(config->text, "architectures"));
    if (!family)
        family = by_class(arena, doc_get(config->root, "architectures"));
    const char *type = doc_text(config->text, "model_type", doc_text(config->root, "model_type", NULL));
    config_plain(config, "model_type", type ? type : "");
    if (family && type)
        facts_note(config->facts, "model_type '%.60s' is unknown: read by its architecture, "
                   "as %s", type, family->name);
    if (!family && doc_get(config->root, "n_activated_experts"))
        family = by_type(arena, "deepseek-native");    /* DeepSeek's own files do not say */
    if (family)
        return family;
    return unknown(config, type ? type : "");
}
