/* Architectures: one row of data/families.csv each, found by model_type or by the class that a
 * configuration names, and read into a struct family.
 *
 * The first of these that answers wins:
 *   1. the family that the user names (--as);
 *   2. a row of the user's sheet (--families), then of ours, by the model_type of the language part, then of the whole;
 *   3. a row of data/built_like.csv by model_type or class: read as its relative, or refused with what differs;
 *   4. a row whose class begins the name in `architectures`.
 * Only the row that is wanted is split into its cells: a question that names a model of the catalog
 * imports it each time. */
#include "import/model.h"

#include "catalog/sheet.h"

#include <string.h>

#define SHEET "data/families.csv"
#define RELATIVES "data/built_like.csv"

static const char header[] = "name,class,attention,state,qkv_bias,output_bias,qk_norm,ffn,ffn_bias,norm,norm_bias,"
                             "norms,tied,head_bias,window,traits,defaults";

enum column { NAME, CLASS, ATTENTION, STATE, QKV_BIAS, OUTPUT_BIAS, QK_NORM, FFN, FFN_BIAS, NORM, NORM_BIAS,
              NORMS, TIED, HEAD_BIAS, WINDOW, TRAITS, DEFAULTS, COLUMNS };

/* ---- the sheet ----------------------------------------------------------------------- */

/* The next row of a sheet that is no remark and not the names of its columns. */
static bool next_row(struct text *rest, struct text *row)
{
    while (rest->size) {
        *row = text_until(rest, '\n');
        if (row->size && *row->data != '#' && strncmp(row->data, "name,", 5) && strncmp(row->data, "type,", 5))
            return true;
    }
    return false;
}

/* The rows of the user's sheet and then ours. */
struct family_rows {
    struct text sheets[2];
};

static struct family_rows rows_of(const struct config *config)
{
    return (struct family_rows){ { config->families, text_built_in(SHEET) } };
}

static bool rows_next(struct family_rows *rows, struct text *row)
{
    return next_row(&rows->sheets[0], row) || next_row(&rows->sheets[1], row);
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

static const struct { const char *name; layer_builder *attention, *linear; } layers[] = {
    { "grouped", attention_grouped, NULL }, { "latent", attention_latent, NULL },
    { "latent twice", attention_twice, NULL }, { "compressed", attention_compressed, NULL },
    { "factored", attention_factored, NULL }, { "delta", NULL, state_delta }, { "kimi", NULL, state_kimi },
    { "mamba", NULL, state_mamba }, { "mamba1", NULL, state_mamba1 }, { "lightning", NULL, state_lightning },
    { "convolution", NULL, state_convolution }, { "recurrent", NULL, state_recurrent }, { "rwkv", NULL, state_rwkv } };
static const struct { const char *name; model_builder *build; } wholes[] = {
    { "t5", t5_build }, { "bart", bart_build } };

static void builders(struct text attention, struct text state, struct family *family)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (layers[i].attention && text_is(attention, layers[i].name))
            family->attention = layers[i].attention;
        if (layers[i].linear && text_is(state, layers[i].name))
            family->linear = layers[i].linear;
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (text_is(attention, wholes[i].name))
            family->whole = wholes[i].build;
}

static const char *const traits[] = {
#define TRAIT(name) #name,
#include "import/traits.def"
#undef TRAIT
};

/* The bits of a cell's words. `unknown`, unless NULL, becomes the last word that is not a trait. */
static uint64_t traits_read(struct text cell, struct text *unknown)
{
    uint64_t bits = 0;
    while (cell.size) {
        struct text word = text_until(&cell, ' ');
        int i = 0;
        while (i < TRAIT_COUNT && !text_is(word, traits[i]))
            i++;
        if (i < TRAIT_COUNT)
            bits |= (uint64_t)1 << i;
        else if (unknown)
            *unknown = word;
    }
    return bits;
}

/* "all", "asked" (all, if use_sliding_window says so), "4" (every fourth layer is full), "first 4" (of each four the
 * first is), "chunks 4". */
static void window_read(struct text cell, struct family *family)
{
    static const char chunks[] = "chunks ";
    family->window_asked = text_is(cell, "asked");
    family->windowed = text_is(cell, "all") || family->window_asked;
    family->full_first = cell.size && *cell.data == 'f';
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
        .tied = text_is(cell[TIED], "1"), .traits = traits_read(cell[TRAITS], NULL), .defaults = cell[DEFAULTS] };
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

static const struct family *by_type(const struct config *config, const char *type)
{
    struct family_rows rows = rows_of(config);
    struct text row;
    while (type && *type && rows_next(&rows, &row)) {
        struct text cells = row;
        if (type_matches(text_until(&cells, ','), type))
            return row_read(config->arena, row);
    }
    return NULL;
}

/* The longest prefix of a class name wins: "DeepseekV32" before "DeepseekV3". */
static const struct family *by_class(const struct config *config, const struct doc *list)
{
    struct text best = { NULL, 0 };
    size_t longest = 0;
    for (const struct doc *item = list ? list->first : NULL; item; item = item->next) {
        struct family_rows rows = rows_of(config);
        struct text row;
        while (item->kind == DOC_STRING && rows_next(&rows, &row)) {
            struct text cells = row;
            text_until(&cells, ',');
            struct text prefix = text_until(&cells, ',');
            if (prefix.size > longest && !strncmp(item->string, prefix.data, prefix.size)) {
                best = row;
                longest = prefix.size;
            }
        }
    }
    return longest ? row_read(config->arena, best) : NULL;
}

/* ---- relatives ----------------------------------------------------------------------- */

struct relative {                /* a row of data/built_like.csv */
    struct text type, class, family, relation, difference;
};

/* Finds the row of a model_type, or of a class in the file's architectures. */
static bool relative_of(const char *type, const struct doc *architectures, struct relative *relative)
{
    struct text rest = text_built_in(RELATIVES), row;
    while (next_row(&rest, &row)) {
        relative->type = text_until(&row, ',');
        relative->class = text_until(&row, ',');
        relative->family = text_until(&row, ',');
        relative->relation = text_until(&row, ',');
        relative->difference = text_until(&row, ',');
        if (type && text_is(relative->type, type))
            return true;
        for (const struct doc *item = architectures ? architectures->first : NULL; item; item = item->next)
            if (item->kind == DOC_STRING && text_is(relative->class, item->string))
                return true;
    }
    return false;
}

/* The family that a relative is read as; NULL and an error if it is a module of its own. */
static const struct family *relative_read(struct config *config, const struct relative *relative)
{
    struct arena *arena = config->arena;
    const char *type = arena_copy(arena, relative->type.data, relative->type.size);
    const char *name = arena_copy(arena, relative->family.data, relative->family.size);
    if (text_is(relative->relation, "own")) {
        config_fail(config, "model_type '%s' is not built like %s: %.*s", type, name, (int)relative->difference.size,
                    relative->difference.data);
        config_expected(config, "--as %s, to read it without that; --families FILE with a row for it; or its "
                        "safetensors or GGUF file, whose header has all shapes", name);
        return NULL;
    }
    if (text_is(relative->relation, "text"))
        facts_note(config->facts, "model_type '%s' is a wrapper: its language part is read as %s%s", type, name,
                   config_get(config, "tie_word_embeddings") ? "" : ", also in whether head and embedding are one");
    else
        facts_note(config->facts, "model_type '%s' is read as %s, whose parts it has", type, name);
    return by_type(config, name);
}

/* ---- none of these ------------------------------------------------------------------- */

/* The simplest family that has the fields of this configuration. */
static const struct family *assumed(struct config *config, const char *type)
{
    bool latent = config_has(config, FIELD_kv_rank);
    config->assumed = true;
    facts_note(config->facts, "unknown architecture '%s' read as %s: norms, biases and gates are "
               "assumed to be the same", type, latent ? "deepseek_v3" : "mistral");
    return by_type(config, latent ? "deepseek_v3" : "mistral");
}

/* All names of families, as an error lists them, and the one that is most like `type`. */
static const char *names_of(struct config *config, const char *type, const char **near)
{
    const char **names = NULL;
    size_t count = 0, room = 0;
    struct family_rows rows = rows_of(config);
    struct text row;
    struct buffer all = { .arena = config->arena };
    while (rows_next(&rows, &row)) {
        struct text name = text_until(&row, ',');
        const char **place = arena_push(config->arena, &names, &count, &room, sizeof *names);
        *place = arena_copy(config->arena, name.data, name.size);
        if (all.size < 300)
            buffer_print(&all, "%s%s", count > 1 ? ", " : "", *place);
    }
    *near = name_nearest(type, names, count);
    return all.data;
}

static const struct family *unknown(struct config *config, const char *type)
{
    const char *near;
    if (config->assume)
        return assumed(config, type);
    const char *all = names_of(config, type, &near);
    config_fail(config, "unknown model_type '%.100s'%s%s%s", type, near ? " (did you mean " : "",
                near ? near : "", near ? "?)" : "");
    config_expected(config, "one of: %s ...; --as FAMILY, if it is built like one of these; --families FILE, with a row "
                    "for it; or --assume, to read it as a plain transformer", all);
    return NULL;
}

/* The family that the user names. */
static const struct family *named(struct config *config)
{
    struct relative relative;
    const char *near, *type = doc_text(config->text, "model_type", doc_text(config->root, "model_type", NULL));
    const struct family *family = by_type(config, config->as);
    if (!family && relative_of(config->as, NULL, &relative) && !text_is(relative.relation, "own"))
        family = by_type(config, arena_copy(config->arena, relative.family.data, relative.family.size));
    if (!family) {
        const char *all = names_of(config, config->as, &near);
        config_fail(config, "--as: unknown family '%.100s'%s%s%s", config->as, near ? " (did you mean " : "",
                    near ? near : "", near ? "?)" : "");
        config_expected(config, "one of: %s ...; or one of a sheet of your own: --families FILE", all);
    } else {
        config_plain(config, "model_type", type ? type : "");
        facts_note(config->facts, "model_type '%.60s' read as %s, as --as says", type ? type : "", family->name);
    }
    return family;
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
    const char *inner = doc_text(config->text, "model_type", NULL), *outer = doc_text(config->root, "model_type", NULL);
    const char *type = inner ? inner : outer;
    struct relative relative;
    if (config->as)
        return named(config);
    const struct family *family = by_type(config, type_meant(config, inner));
    if (!family)
        family = by_type(config, outer);
    if (family)
        return family;
    if (relative_of(inner, NULL, &relative) || relative_of(outer, doc_get(config->root, "architectures"), &relative))
        return relative_read(config, &relative);
    family = by_class(config, doc_get(config->text, "architectures"));
    if (!family)
        family = by_class(config, doc_get(config->root, "architectures"));
    config_plain(config, "model_type", type ? type : "");
    if (family && type)
        facts_note(config->facts, "model_type '%.60s' is unknown: read by its architecture, "
                   "as %s", type, family->name);
    if (!family && doc_get(config->root, "n_activated_experts"))
        family = by_type(config, "deepseek-native");    /* DeepSeek's own files do not say */
    if (family)
        return family;
    return unknown(config, type ? type : "");
}

/* ---- a sheet of the user's ----------------------------------------------------------- */

struct sheet_line {
    const char *file;
    int line;
    struct error *error;
};

static bool wrong_cell(const struct sheet_line *at, const char *column, struct text cell, const char *wanted)
{
    error_set(at->error, "%s:%d: %s is '%.*s'", at->file, at->line, column, (int)(cell.size < 60 ? cell.size : 60),
              cell.data);
    return error_expected(at->error, "%s", wanted);
}

/* Is a cell one of the words, which '|' separates? An empty one stands first. */
static bool one_of(struct text cell, const char *words)
{
    for (struct text rest = text_of(words); rest.size;) {
        const struct text word = text_until(&rest, '|');
        if (word.size == cell.size && (!cell.size || !memcmp(word.data, cell.data, cell.size)))
            return true;
    }
    return false;
}

/* "0", "1", "key(0)", "!key(1)". */
static bool is_rule(struct text cell)
{
    const char *open = cell.size ? memchr(cell.data, '(', cell.size) : NULL;
    const size_t rest = open ? (size_t)(cell.data + cell.size - open) : 0;
    return text_is(cell, "0") || text_is(cell, "1") ||
           (open && open > cell.data && rest == 3 && (open[1] == '0' || open[1] == '1') && open[2] == ')');
}

/* "", "head", "wide", or one of these behind a rule and a colon. */
static bool is_query_norm(struct text cell)
{
    struct text width = cell, rule = text_until(&width, ':');
    return width.size ? one_of(width, "head|wide") && is_rule(rule) : one_of(cell, "|head|wide");
}

/* "", "all", "asked", or a digit, alone or behind "first" or "chunks". */
static bool is_window(struct text cell)
{
    struct text number = cell, word = text_until(&number, ' ');
    number = number.size ? number : word;
    return one_of(cell, "|all|asked") || (number.size == 1 && *number.data >= '2' && *number.data <= '9' &&
                                          (cell.size == 1 || one_of(word, "first|chunks")));
}

static bool builder_known(struct text cell, bool attention)
{
    bool known = !cell.size;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        known |= text_is(cell, layers[i].name) && (attention ? layers[i].attention != NULL : layers[i].linear != NULL);
    for (size_t i = 0; attention && i < sizeof wholes / sizeof *wholes; i++)
        known |= text_is(cell, wholes[i].name);
    return known;
}

static bool defaults_known(const struct sheet_line *at, struct text cell)
{
    static const char fields[] =
#define FIELD(name, least, most, ...) "|" #name
#include "import/fields.def"
#undef FIELD
    ;
    while (cell.size) {
        struct text pair = text_until(&cell, ' '), value = pair, name = text_until(&value, '=');
        double number;
        if (!name.size || !one_of(name, fields) || !text_number(value, &number))
            return wrong_cell(at, "defaults", pair, "a count of import/fields.def and its value: heads=32 kv_heads=8");
    }
    return true;
}

/* Does row_read understand every cell of a row? */
static bool row_check(const struct sheet_line *at, struct text row)
{
    static const char rule[] = "0, 1 or the field that says so: attention_bias(0)";
    static const struct { enum column column; const char *name; bool rule; const char *words, *wanted; } checks[] = {
        { QKV_BIAS, "qkv_bias", true, NULL, rule }, { OUTPUT_BIAS, "output_bias", true, NULL, rule },
        { NORM_BIAS, "norm_bias", true, NULL, rule }, { TIED, "tied", true, NULL, rule },
        { HEAD_BIAS, "head_bias", true, NULL, rule },
        { FFN_BIAS, "ffn_bias", true, "down", "0, 1, down or the field that says so: mlp_bias(0)" },
        { FFN, "ffn", false, "|gated|plain", "gated, plain or nothing" }, { NORM, "norm", false, "rms|ln|none", "rms, ln or none" },
        { NORMS, "norms", false, "0|1|2|3|4", "the number of norms in a layer: 0 to 4" } };
    struct text cell[COLUMNS], whole = row, unknown = { NULL, 0 };
    size_t commas = 0;
    for (size_t i = 0; i < row.size; i++)
        commas += row.data[i] == ',';
    if (commas != COLUMNS - 1)
        return wrong_cell(at, "a row", whole, header);
    for (int i = 0; i < COLUMNS; i++)
        cell[i] = text_until(&row, ',');
    if (!cell[NAME].size)
        return wrong_cell(at, "name", cell[NAME], "a model_type");
    if (!builder_known(cell[ATTENTION], true) || (!cell[ATTENTION].size && !cell[STATE].size))
        return wrong_cell(at, "attention", cell[ATTENTION], "grouped, latent, latent twice, compressed, factored, t5, "
                          "bart, or nothing where state says all");
    if (!builder_known(cell[STATE], false))
        return wrong_cell(at, "state", cell[STATE], "delta, kimi, mamba, mamba1, lightning, convolution, recurrent, "
                          "rwkv or nothing");
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct text found = cell[checks[i].column];
        if (!(checks[i].rule && is_rule(found)) && !(checks[i].words && one_of(found, checks[i].words)))
            return wrong_cell(at, checks[i].name, found, checks[i].wanted);
    }
    if (!is_query_norm(cell[QK_NORM]))
        return wrong_cell(at, "qk_norm", cell[QK_NORM], "head, wide, a field that says so as in use_qk_norm(0):head, or nothing");
    if (!is_window(cell[WINDOW]))
        return wrong_cell(at, "window", cell[WINDOW], "all, asked, a number from 2 to 9, alone or as in first 4, chunks 4, or nothing");
    traits_read(cell[TRAITS], &unknown);
    if (unknown.size)
        return wrong_cell(at, "traits", unknown, "words of import/traits.def, with a blank between two");
    return defaults_known(at, cell[DEFAULTS]);
}

bool families_check(const char *file, struct text sheet, struct error *error)
{
    struct sheet_line at = { file, 0, error };
    for (struct text rest = sheet; rest.size;) {
        struct text row = text_until(&rest, '\n');
        at.line++;
        if (row.size && row.data[row.size - 1] == '\r')
            return wrong_cell(&at, "the end of a line", row, "a line feed alone");
        if (!row.size || *row.data == '#' || text_is(row, header))
            continue;
        if (!row_check(&at, row))
            return false;
    }
    return true;
}
