/* The operators and caches of an imported model: equal ones are merged, and become tables of
 * facts.
 *
 * Weights of the same shape, format and role in all layers are one entry with a count; caches of
 * equal layers likewise. An entry's name is the last part of its module's name, with a number
 * behind it if another entry has that name. Matrices that engines fuse (keys and values with
 * queries, up with gate) are marked, and each matrix is assigned to a part of the breakdown by the
 * first matching pattern of its name. Nothing here knows a model family: families.c and
 * attention.c decide what exists. */
#include "import/tensors.h"

#include "build/row_names.h"

#include <string.h>

/* Layers that differ one from the next (Nemotron-NAS) make some dozen kinds. */
enum { weight_limit = 256, cache_limit = 64 };

static bool weight_same(const struct weight *a, const struct weight *b)
{
    return !strcmp(a->name, b->name) && a->in == b->in && a->out == b->out
        && a->copies == b->copies && a->used == b->used && a->lookup == b->lookup
        && (a->format == b->format || (a->format->bytes == b->format->bytes && !strcmp(a->format->name, b->format->name)));
}

static const char *weight_module(const struct model *model, const char *name)
{
    struct arena *arena = model->config->arena;
    const char *top = model_has(model, TRAIT_BIT(backbone)) ? "backbone" : "model";
    if (model->layer < 0)
        return arena_print(arena, "%s.%s", top, name);
    return arena_print(arena, "%s.layers.%.0f.%s", top, model->layer, name);
}

/* The head, or where embeddings are quantized too, the embedding: a head that is the embedding goes by its name. */
static const struct format *table_format(const struct precision *precision, bool head)
{
    static const char *const names[] = { "lm_head", "embed_tokens" };
    const struct format *own = NULL;
    for (size_t i = !head; i < (precision->tables ? 2 : 1) && !own; i++) {
        if (ignore_table(precision->ignore, names[i]))
            return precision->base;
        own = precision->mixed ? mixed_format(precision->arena, precision->mixed, names[i]) : NULL;
    }
    return own ? own : precision->head ? precision->head : precision->tables ? precision->matrix : precision->base;
}

/* Code books beside the weights of a matrix, as bytes of a weight. */
static const struct format *with_books(struct arena *arena, const struct format *format, const struct weight *weight)
{
    if (format->matrix == 0 || weight->in * weight->out == 0)
        return format;
    struct format *whole = arena_alloc(arena, sizeof *whole);
    *whole = *format;
    whole->bytes += format->matrix / (weight->in * weight->out);
    return whole;
}

static const struct format *weight_format(const struct model *model, const struct weight *weight)
{
    const struct precision *precision = &model->precision;
    if (precision->file && !(precision->experts_apart && weight->role == ROLE_EXPERT))
        return formats_find(precision->formats, file_type_of(model, precision->file, weight));
    const bool quantisable = weight->role == ROLE_MATRIX || weight->role == ROLE_EXPERT;
    const bool head = !strcmp(weight->name, "lm_head"), table = head || !strcmp(weight->name, "embed_tokens");
    if (table && !quantisable && (precision->tables || (head && (precision->mixed || precision->head))))
        return table_format(precision, head);
    return precision_of(precision, weight->role, quantisable ? weight_module(model, weight->name) : "");
}

void weight_add(struct model *model, struct weight weight)
{
    if (weight.copies == 0)
        weight.copies = 1;
    if (weight.used == 0)
        weight.used = weight.copies;
    if (!weight.format)
        weight.format = with_books(model->config->arena, weight_format(model, &weight), &weight);
    weight.layers = 1;
    if (ignore_waits(model->precision.ignore))
        ignore_seen(model->precision.ignore, weight_module(model, weight.name));
    for (size_t i = 0; i < model->weight_count; i++)
        if (weight_same(&model->weights[i], &weight)) {
            model->weights[i].layers++;
            return;
        }
    if (model->weight_count == weight_limit) {
        config_fail(model->config, "more than %d kinds of weight matrix", weight_limit);
        return;
    }
    struct weight *place = arena_push(model->config->arena, &model->weights, &model->weight_count,
                                      &model->weight_room, sizeof *model->weights);
    *place = weight;
}

void weight_float(struct model *model, const char *name, double in, double out)
{
    weight_add(model, (struct weight){ .name = name, .in = in, .out = out, .role = ROLE_FLOAT });
}

void weight_matrix(struct model *model, const char *name, double in, double out)
{
    weight_add(model, (struct weight){ .name = name, .in = in, .out = out });
}

void weight_vector(struct model *model, const char *name, double size)
{
    weight_add(model, (struct weight){ .name = name, .in = size, .out = 1, .role = ROLE_BASE });
}

/* ---- caches -------------------------------------------------------------------------- */

static bool cache_same(const struct cache *a, const struct cache *b)
{
    return !strcmp(a->name, b->name) && a->kernels == b->kernels && a->elements == b->elements
        && a->entries_per_token == b->entries_per_token && a->window == b->window
        && a->window_fill == b->window_fill && a->top == b->top
        && a->index_elements == b->index_elements && a->index_bytes == b->index_bytes
        && a->index_macs == b->index_macs && a->cut == b->cut
        && a->query_heads == b->query_heads && a->score == b->score && a->value == b->value
        && a->prefill_score == b->prefill_score && a->prefill_value == b->prefill_value
        && a->state_elements == b->state_elements && a->state_inputs == b->state_inputs
        && a->cross_elements == b->cross_elements && a->state_macs == b->state_macs;
}

void cache_add(struct model *model, const struct layer_plan *plan, struct cache cache)
{
    struct cache *place = NULL;
    for (size_t i = 0; i < model->cache_count && !place; i++)
        if (cache_same(&model->caches[i], &cache))
            place = &model->caches[i];
    if (!place && model->cache_count == cache_limit) {
        config_fail(model->config, "more than %d kinds of attention", cache_limit);
        return;
    }
    if (!place) {
        place = arena_push(model->config->arena, &model->caches, &model->cache_count,
                           &model->cache_room, sizeof *model->caches);
        *place = cache;
    }
    place->alike++;
    place->storing += !plan->borrowed && !plan->crossed && !model_has(model, TRAIT_BIT(encoder));
}

/* ---- facts --------------------------------------------------------------------------- */

/* "self_attn.q_proj" is shown as "q_proj": what follows the name of the half layer. */
static const char *short_name(const char *name)
{
    static const char *const halves[] = { "self_attn.", "mlp.", "block_sparse_moe.",
                                          "linear_attn.", "mixer." };
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (!strncmp(name, halves[i], strlen(halves[i])))
            return name + strlen(halves[i]);
    return name;
}

/* Kinds of equal name but other shape or format: the second is "q_proj-2". */
static const char *entry_name(struct arena *arena, const struct fact_table *table,
                              const char *name)
{
    const char *unique = name;
    for (int number = 2; ; number++) {
        if (!name_listed(table->entry, table->entries, unique))
            return unique;
        unique = arena_print(arena, "%s-%d", name, number);
    }
}

static bool ends_with_any(const char *name, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

/* Engines run keys and values with the queries, the latent of the keys with that of the queries, and up with gate,
 * where the block has one: it stands just before. Names are those of checkpoints, or of GGUF files. */
static bool joins_another(const struct model *model, const struct weight *weight)
{
    static const char *const keys[] = { "k_proj", "v_proj", "kv_a_proj_with_mqa", "attn_k", "attn_v",
                                        "attn_kv_a_mqa" };
    static const char *const gates[] = { "gate_proj", "ffn_gate", "ffn_gate_exps", "ffn_gate_shexp" };
    static const char *const ups[] = { "up_proj", "ffn_up", "ffn_up_exps", "ffn_up_shexp" };
    enum { KEYS = sizeof keys / sizeof *keys, GATES = sizeof gates / sizeof *gates, UPS = sizeof ups / sizeof *ups };
    if (ends_with_any(weight->name, ups, UPS))
        return weight > model->weights && ends_with_any(weight[-1].name, gates, GATES);
    return ends_with_any(weight->name, keys, KEYS);
}

static bool of_feed_forward(const struct weight *weight)
{
    static const char *const ends[] = { "gate_proj", "up_proj", "down_proj", "ffn_gate", "ffn_up", "ffn_down",
                                        "_exps", "_shexp" };
    return ends_with_any(weight->name, ends, sizeof ends / sizeof *ends);
}

static void weight_fact(const struct model *model, const struct weight *weight)
{
    struct facts *facts = model->config->facts;
    const char *file = model->config->file;
    struct fact_table *table = facts_table(facts, "operator");
    const char *name = short_name(weight->name);
    const enum weight_part part = weight->routed ? PART_EXPERTS : tensor_part(tensor_class_of(weight->name));
    size_t entry = facts_entry(facts, table, entry_name(model->config->arena, table, name));
    const struct { const char *column; double value; } cells[] = {
        { NAME_operator_layers, weight->layers },
        { NAME_operator_in, weight->in },
        { NAME_operator_out, weight->out },
        { NAME_operator_copies, weight->copies },
        { NAME_operator_used, weight->used },
        { NAME_operator_routed, weight->routed },
        { NAME_operator_lookup, weight->lookup },
        { NAME_operator_head, !strcmp(name, "lm_head") },
        { NAME_operator_shared, part == PART_SHARED },
        { NAME_operator_dense_ffn, part == PART_DENSE },
        { NAME_operator_router, part == PART_ROUTER },
        { NAME_operator_joined, joins_another(model, weight) },
        { NAME_operator_ffn, of_feed_forward(weight) },
        { NAME_operator_bytes, weight->format->bytes },
        { NAME_operator_block, weight->format->block },
        { NAME_operator_format, formats_place(model->precision.formats, weight->format) },
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        facts_cell(facts, table, entry, cells[i].column, cells[i].value, ORIGIN_MODEL, file);
    facts_cell_bind(facts, table, entry, NAME_operator_peak, weight->format->peak, ORIGIN_MODEL, file);
    facts_cell_bind(facts, table, entry, NAME_operator_sustained_rate, weight->format->reached, ORIGIN_MODEL, file);
    facts_cell_bind(facts, table, entry, NAME_operator_launch, weight->format->launch, ORIGIN_MODEL, file);
    facts_cell_bind(facts, table, entry, NAME_operator_trained, weight->format->trained, ORIGIN_MODEL, file);
}

/* Bytes of an element: keys and values may have formats of their own. A latent is keys and values in one, and keys by
 * its format. */
static double cache_bytes(const struct model *model, const struct cache *cache)
{
    const struct format *const *formats = model->precision.cache;
    const double both = cache->score + cache->value;
    if (cache->elements < both || both == 0)
        return formats[0]->bytes;
    return (formats[0]->bytes * cache->score + formats[1]->bytes * cache->value) / both;
}

static void cache_fact(const struct model *model, const struct cache *cache)
{
    struct facts *facts = model->config->facts;
    const char *file = model->config->file;
    struct fact_table *table = facts_table(facts, "layer");
    size_t entry = facts_entry(facts, table, entry_name(model->config->arena, table, cache->name));
    const struct { const char *column; double value; } cells[] = {
        { NAME_layers_alike, cache->alike },
        { NAME_layers_storing, cache->storing },
        { NAME_cache_elements, cache->elements },
        { NAME_entries_per_token, cache->entries_per_token },
        { NAME_attention_window, cache->window },
        { NAME_window_fill, cache->window_fill },
        { NAME_top_entries, cache->top },
        { NAME_index_elements, cache->index_elements },
        { NAME_index_bytes, cache->index_bytes },
        { NAME_kv_shards_max, cache->cut > 0 ? cache->cut : 1e6 },
        { NAME_query_heads, cache->query_heads },
        { NAME_score_size, cache->score },
        { NAME_value_size, cache->value },
        { NAME_prefill_score_size, cache->prefill_score },
        { NAME_prefill_value_size, cache->prefill_value },
        { NAME_index_macs, cache->index_macs },
        { NAME_state_elements, cache->state_elements },
        { NAME_state_inputs, cache->state_inputs },
        { NAME_cross_elements, cache->cross_elements },
        { NAME_state_macs, cache->state_macs },
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        facts_cell(facts, table, entry, cells[i].column, cells[i].value, ORIGIN_MODEL, file);
    if (cache_bytes(model, cache) == cache_bytes(model, &model->caches[0]))
        facts_cell_bind(facts, table, entry, NAME_cache_bytes, NAME_kv_bytes, ORIGIN_MODEL, file);
    else
        facts_cell(facts, table, entry, NAME_cache_bytes, cache_bytes(model, cache), ORIGIN_MODEL, file);
    facts_cell_bind(facts, table, entry, NAME_mixer_small_kernels,
                    cache->kernels ? cache->kernels : NAME_small_kernels_recurrent, ORIGIN_MODEL, file);
}

/* The format that most of the weights have. */
static const struct format *weight_bulk(const struct model *model)
{
    const struct format *bulk = model->precision.base;
    double most = 0;
    for (size_t i = 0; i < model->weight_count; i++) {
        double sum = 0;
        for (size_t j = 0; j < model->weight_count; j++) {
            const struct weight *w = &model->weights[j];
            if (w->format == model->weights[i].format)
                sum += w->layers * w->copies * w->in * w->out;
        }
        if (sum > most) {
            most = sum;
            bulk = model->weights[i].format;
        }
    }
    return bulk;
}

void model_facts(const struct model *model)
{
    struct facts *facts = model->config->facts;
    const char *file = model->config->file;
    const struct format *bulk = weight_bulk(model);
    facts_set(facts, NAME_layers, model->layers, ORIGIN_MODEL, file);
    facts_set(facts, NAME_hidden_size, model->hidden, ORIGIN_MODEL, file);
    facts_set(facts, "vocabulary", model->vocabulary, ORIGIN_MODEL, file);
    facts_set(facts, NAME_experts, model->experts, ORIGIN_MODEL, file);
    facts_set(facts, NAME_top_k, model->top_k, ORIGIN_MODEL, file);
    facts_set(facts, NAME_moe_layers, model->moe_layers, ORIGIN_MODEL, file);
    facts_set(facts, NAME_residual_streams, model->streams, ORIGIN_MODEL, file);
    facts_set(facts, NAME_weight_bytes, bulk->bytes, ORIGIN_MODEL, file);
    facts_bind(facts, NAME_weight_peak, bulk->peak, ORIGIN_MODEL, file);
    facts_set(facts, NAME_kv_bytes, model->cache_count ? cache_bytes(model, &model->caches[0])
              : model->precision.cache[0]->bytes, ORIGIN_MODEL, file);
    facts_set(facts, NAME_tower_params, model->apart, ORIGIN_MODEL, file);
    facts_set(facts, NAME_tower_bytes, model->apart_bytes > 0 ? model->apart_bytes / model->apart
              : model->precision.base->bytes, ORIGIN_MODEL, file);
    if (model->state_bytes > 0)
        facts_set(facts, NAME_stated_state_bytes, model->state_bytes, ORIGIN_MODEL, file);
    if (config_has(model->config, FIELD_context))
        facts_set(facts, NAME_max_context, config_count(model->config, FIELD_context), ORIGIN_MODEL, file);
    for (size_t i = 0; i < model->weight_count; i++)
        weight_fact(model, &model->weights[i]);
    for (size_t i = 0; i < model->cache_count; i++)
        cache_fact(model, &model->caches[i]);
}

/* ---- other numbers of experts --------------------------------------------------------------- */

static double cell_of(const struct fact_table *table, size_t entry, const char *column)
{
    for (size_t j = 0; j < table->columns; j++)
        if (!strcmp(table->column[j], column))
            return table->cell[entry * table->columns + j].value;
    return 0;
}

void model_follow_experts(struct facts *facts)
{
    const struct fact *experts = facts_find(facts, NAME_experts), *top_k = facts_find(facts, NAME_top_k);
    struct fact_table *table = facts_table(facts, "operator");
    for (size_t i = 0; experts && top_k && i < table->entries; i++) {
        const char *name = table->entry[i];
        const bool router = !strcmp(name, "gate") || !strcmp(name, "router");
        const bool routed = cell_of(table, i, NAME_operator_routed) > 0;
        if (routed && cell_of(table, i, NAME_operator_copies) == experts->value)
            facts_cell_bind(facts, table, i, NAME_operator_copies, NAME_experts, ORIGIN_MODEL, experts->source);
        if (routed && cell_of(table, i, NAME_operator_used) == top_k->value)
            facts_cell_bind(facts, table, i, NAME_operator_used, NAME_top_k, ORIGIN_MODEL, top_k->source);
        if (router && cell_of(table, i, NAME_operator_out) == experts->value)
            facts_cell_bind(facts, table, i, NAME_operator_out, NAME_experts, ORIGIN_MODEL, experts->source);
    }
}
