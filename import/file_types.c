/* GGUF file types: "Q4_K_M" names a rule that gives each tensor of a model a type, not one number format.
 * data/file_types.csv has the rules, one file type a row; what holds for all of them is here.
 *
 * A vector, a router and a convolution stay in 32 bits. A type stores blocks of weights along the inputs of a
 * matrix: where these do not divide into blocks, a type of smaller blocks takes its place. */
#include "import/model.h"

#include "catalog/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHEET "data/file_types.csv"

struct file_type {
    const struct csv *csv;
    size_t row;
    const char *name;               /* with its variations: "Q4_K_M+v16" */
    bool values, head;              /* +v16: values of attention stay in 16 bits; +head: a tied head is stored apart */
};

/* ---- the sheet ----------------------------------------------------------------------- */

static const char *cell(const struct file_type *type, const char *column)
{
    return csv_cell(type->csv, type->row, csv_column(type->csv, column));
}

const struct file_type *file_type_find(struct arena *arena, const char *name)
{
    struct csv *csv = arena_alloc(arena, sizeof *csv);
    struct file_type type = { .csv = csv };
    struct error error;
    if (!name || !csv_read(arena, SHEET, text_built_in(SHEET), csv, &error))
        return NULL;
    const char *plus = name + strcspn(name, "+"), *plain = arena_copy(arena, name, (size_t)(plus - name));
    for (size_t size; *plus; plus += size) {
        size = 1 + strcspn(plus + 1, "+");
        const bool values = size == 4 && !strncmp(plus, "+v16", size), head = size == 5 && !strncmp(plus, "+head", size);
        type.values |= values;
        type.head |= head;
        if (!values && !head)
            return NULL;
    }
    for (; type.row < csv->rows; type.row++)
        if (name_same(csv_cell(csv, type.row, 0), plain)) {
            type.name = arena_print(arena, "%s%s%s", csv_cell(csv, type.row, 0), type.values ? "+v16" : "", type.head ? "+head" : "");
            return memcpy(arena_alloc(arena, sizeof type), &type, sizeof type);
        }
    return NULL;
}

bool file_type_head(const struct file_type *type)
{
    return type && type->head;
}

const char *file_type_name(const struct file_type *type)
{
    return type->name;
}

const char *file_type_base(const struct file_type *type)
{
    return cell(type, "base");
}

size_t file_types_usual(struct arena *arena, const char **names, size_t most)
{
    struct csv csv;
    struct error error;
    size_t count = 0;
    if (!csv_read(arena, SHEET, text_built_in(SHEET), &csv, &error))
        return 0;
    const int usual = csv_column(&csv, "usual");
    for (size_t row = 0; row < csv.rows; row++) {
        const size_t place = strtoul(csv_cell(&csv, row, usual), NULL, 10);
        if (!place || place > most)
            continue;
        names[place - 1] = csv_cell(&csv, row, 0);
        count = place > count ? place : count;
    }
    return count;
}

/* ---- layers -------------------------------------------------------------------------- */

/* Does a rule's condition hold for a layer? Divisions are of whole numbers, as in llama.cpp. */
static bool holds(const struct model *model, const char *condition, size_t size)
{
    const size_t layers = (size_t)model->layers, layer = model->layer < 0 ? 0 : (size_t)model->layer;
    const size_t eighth = layers / 8, last = 7 * layers / 8;
    const struct { const char *name; bool holds; } conditions[] = {
        { "first2", layer < 2 }, { "first4", layer < 4 },
        { "eighth", layer < eighth }, { "sixteenth", layer < layers / 16 },
        { "middle", layer >= eighth && layer < last },
        { "more", layer < eighth || layer >= last || (layer - eighth) % 3 == 2 },
        { "gqa4", model->query_groups >= 4 }, { "experts4", model->experts >= 4 } };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (strlen(conditions[i].name) == size && !memcmp(conditions[i].name, condition, size))
            return conditions[i].holds;
    return false;
}

/* "q5_k:first2 q4_k": the first type whose layers include this one; NULL: none. */
static const char *choose_type(const struct model *model, const char *rule)
{
    while (*rule) {
        const size_t size = strcspn(rule, " "), name = strcspn(rule, ": ");
        if (name == size || holds(model, rule + name + 1, size - name - 1))
            return arena_copy(model->config->arena, rule, name);
        rule += size + (rule[size] == ' ');
    }
    return NULL;
}

/* ---- tensors ------------------------------------------------------------------------- */

/* The column that has the rule for a matrix. */
static const char *column_of(const struct model *model, const char *name)
{
    static const struct { const char *end, *column; } columns[] = {
        { "q_proj", "attn_q" }, { "k_proj", "attn_k" }, { "v_proj", "attn_v" }, { "kv_b_proj", "attn_v" },
        { "o_proj", "attn_output" }, { "down_proj", "ffn_down" }, { "w2", "ffn_down" },
        { "up_proj", "ffn_up" }, { "gate_proj", "ffn_up" }, { "w1", "ffn_up" }, { "w3", "ffn_up" } };
    const bool fused = model_has(model, TRAIT_BIT(fused_qkv));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (ends_with(name, columns[i].end))
            return fused && i < 3 ? "attn_qkv" : columns[i].column;
    return NULL;
}

/* Llama.cpp's exceptions: models with eight experts, and those of 80 layers with eight queries to a key. */
static const char *excepted(const struct model *model, const struct file_type *file, const char *column,
                            const char *type)
{
    const char *keys = cell(file, "attn_k_eight");
    if (model->experts == 8 && !strcmp(column, "attn_v"))
        return "q8_0";
    if (model->experts == 8 && !strcmp(column, "attn_k"))
        return *keys ? keys : "q8_0";
    if (model->experts == 8 && !strcmp(column, "attn_output") && strcmp(type, "q8_0") && strcmp(type, "q6_k") &&
        strcmp(type, "fp16"))
        return "q5_k";
    if (!strcmp(column, "attn_v") && model->layers == 80 && model->query_groups == 8 &&
        (!strcmp(type, "q3_k") || !strcmp(type, "q4_k")))
        return "q5_k";
    return type;
}

/* Blocks of 256 weights, or of 32; what takes their place where the inputs do not divide into them. */
static const char *fitting(const char *type, double in)
{
    static const struct { const char *type, *instead; } wide[] = {
        { "q2_k", "q4_0" }, { "q3_k", "q4_0" }, { "q4_k", "q5_0" }, { "q5_k", "q5_1" }, { "q6_k", "q8_0" },
        { "iq4_xs", "iq4_nl" }, { "iq3_xxs", "iq4_nl" }, { "iq3_s", "iq4_nl" }, { "iq2_xxs", "iq4_nl" },
        { "iq2_xs", "iq4_nl" }, { "iq2_s", "iq4_nl" }, { "iq1_s", "iq4_nl" }, { "iq1_m", "iq4_nl" },
        { "tq1_0", "q4_0" }, { "tq2_0", "q4_0" } };
    if (type[0] == 'f' || type[0] == 'b')
        return type;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && fmod(in, 256) != 0; i++)
        if (!strcmp(wide[i].type, type))
            type = wide[i].instead;
    return fmod(in, 32) != 0 ? "fp16" : type;
}

/* What a head gets, or the table that head and embedding are. */
static const char *output_type(const struct file_type *type, double in)
{
    const char *name = cell(type, "output");
    return fmod(in, 256) != 0 && name[0] != 'f' ? "q8_0" : name;
}

const char *file_type_of(const struct model *model, const struct file_type *type, const struct weight *weight)
{
    const bool head = !strcmp(weight->name, "lm_head");
    const char *base = cell(type, "base"), *named = NULL, *column = column_of(model, weight->name);
    if (weight->out == 1 || weight->role == ROLE_FLOAT)
        return "fp32";
    if (head)
        return fitting(output_type(type, weight->in), weight->in);
    if (!strcmp(weight->name, "embed_tokens") || !strcmp(weight->name, "embed_tokens_per_layer")) {
        named = cell(type, "embedding");
        return fitting(*named ? named : base, weight->out);     /* rows of the table are its outputs */
    }
    if (weight->role == ROLE_BASE)
        return "fp32";
    if (weight->routed && (model->precision.native || name_same(type->name, "MXFP4_MOE")))
        return fitting("mxfp4-a16", weight->in);
    if (name_same(type->name, "MXFP4_MOE"))
        return fitting(base, weight->in);
    if (type->values && column && (!strcmp(column, "attn_v") || !strcmp(column, "attn_qkv")))
        return "fp16";
    named = column ? choose_type(model, cell(type, column)) : NULL;
    return fitting(column ? excepted(model, type, column, named ? named : base) : base, weight->in);
}
