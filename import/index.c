/* Index files (model.safetensors.index.json, pytorch_model.bin.index.json): the names of a model's tensors,
 * the file of each, and the bytes of all. There are no shapes in them, so that the configuration beside
 * makes the model; the index says whether it made all of it: to the byte, or what differs and which tensors
 * it does not explain. */
#include "import/tensors.h"

#include <math.h>
#include <string.h>

/* What the names of an index show. */
struct seen_tensors {
    const char *example[TENSOR_CLASS_COUNT];        /* a name of each kind */
};

static struct seen_tensors names_of(const struct doc *map)
{
    struct seen_tensors seen = { { NULL } };
    const char *last = "";
    for (const struct doc *item = map->first; item; item = item->next) {
        size_t same = 0;                /* neighbours mostly differ in the number of a layer */
        while (last[same] && last[same] == item->key[same])
            same++;
        if (*last && same + 1 >= strlen(item->key))
            continue;
        const enum tensor_class kind = tensor_class_of(item->key);
        last = item->key;
        if (!seen.example[kind])
            seen.example[kind] = item->key;
    }
    return seen;
}

static double weight_bytes(const struct weight *weight)
{
    return weight->layers * weight->copies * weight->in * weight->out * weight->format->bytes;
}

/* Bytes by the configuration, and of them the head that is the embedding. */
static double model_bytes(const struct model *model, double *shared_head)
{
    double bytes = model->apart * model->precision.base->bytes;
    bool table = false;
    *shared_head = 0;
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *weight = &model->weights[i];
        bytes += weight_bytes(weight);
        table |= !strcmp(weight->name, "embed_tokens");
        if (!strcmp(weight->name, "lm_head"))
            *shared_head = weight_bytes(weight);
    }
    if (table)
        *shared_head = 0;
    return bytes;
}

/* Kinds of tensors that a configuration says little or nothing of. */
static const char *unexplained(const struct model *model, const struct seen_tensors *seen)
{
    static const enum tensor_class kinds[] = { TENSOR_buffer, TENSOR_tower, TENSOR_projector,
                                               TENSOR_prediction,
                                               TENSOR_scale, TENSOR_other };
    struct buffer out = { .arena = model->config->arena };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool counted = model->apart > 0 && (kinds[i] == TENSOR_tower || kinds[i] == TENSOR_projector);
        if (seen->example[kinds[i]] && !counted)
            buffer_print(&out, "%s%s (%s)", out.size ? ", " : "", seen->example[kinds[i]],
                         tensor_class_name(kinds[i]));
    }
    return out.data ? out.data : "none; perhaps it is of another version";
}

void index_compare(struct model *model, const struct doc *index)
{
    const struct doc *total = doc_get(doc_get(index, "metadata"), "total_size"), *map = doc_get(index,
                                                                                                "weight_map");
    struct facts *facts = model->config->facts;
    double head, bytes = model_bytes(model, &head);
    const struct seen_tensors seen = names_of(map);
    if (!total || total->kind != DOC_NUMBER || total->number <= 0) {
        facts_note(facts, "the index has no total_size to compare with");
        return;
    }
    if (seen.example[TENSOR_head] && head > 0) {
        facts_note(facts,
                   "the index has the head, which is the embedding, as a tensor of its own (%s): %.0f B more",
                   seen.example[TENSOR_head], head);
        bytes += head;
    }
    const double more = total->number - bytes;
    if (fabs(more) < 0.5)
        facts_note(facts, "the index agrees with the configuration: %.0f B", total->number);
    else
        facts_note(facts,
                   "the index has %.0f B, %.0f %s than the configuration makes; tensors it does not "
                   "explain: %s",
                   total->number, fabs(more), more > 0 ? "more" : "less", unexplained(model, &seen));
}
