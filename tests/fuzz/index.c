/* Any bytes as the index of a model's files, beside a configuration and without one, with a part of the
 * model or with none: an answer or an error, never a crash, a leak or a wait. */
#include "scenario/scenario.h"

#include <assert.h>
#include <string.h>

static const char config[] =
    "{\"model_type\": \"gpt_neox\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 100,"
    " \"num_attention_heads\": 4, \"intermediate_size\": 96, \"tie_word_embeddings\": true,"
    " \"torch_dtype\": \"bfloat16\"}";
static const char part[] = "\x51\0\0\0\0\0\0\0{\"gpt_neox.embed_in.weight\":{\"dtype\":\"BF16\",\"shape\":[8,4],"
                           "\"data_offsets\":[0,64]}}";

static void open_one(const struct shelf *shelf)
{
    struct arena arena = { .shelf = shelf };
    struct facts facts = { .arena = &arena };
    struct error error = { .what = "" };
    const struct model_options options = { .formats = formats_built_in(), .shown = true };
    if (!model_file(&arena, "m/model.safetensors.index.json", &options, &facts, &error))
        assert(*error.what);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct shelf_file files[] = { { "m/model.safetensors.index.json", { (const char *)data, size } },
                                        { "m/config.json", { config, sizeof config - 1 } },
                                        { "m/a.safetensors", { part, sizeof part - 1 } } };
    for (size_t count = 1; count <= 3; count++)
        open_one(&(struct shelf){ files, count });
    return 0;
}
