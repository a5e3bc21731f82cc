/* Any bytes as a safetensors file, alone and beside a configuration: an answer or an error, never a crash,
 * a leak or a wait. Half of the inputs get a true length before them, so that the JSON behind it is
 * reached. */
#include "scenario/scenario.h"

#include <assert.h>
#include <string.h>

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 100,"
    " \"num_attention_heads\": 4, \"intermediate_size\": 96, \"torch_dtype\": \"bfloat16\"}";

static struct text with_length(struct arena *arena, const uint8_t *data, size_t size)
{
    char *copy = arena_alloc(arena, size + 8);
    for (int i = 0; i < 8; i++)
        copy[i] = (char)(size >> (8 * i));
    if (size)
        memcpy(copy + 8, data, size);
    return (struct text){ copy, size + 8 };
}

static void open_one(const struct shelf *shelf, bool shown)
{
    struct arena arena = { .shelf = shelf };
    struct facts facts = { .arena = &arena };
    struct error error = { .what = "" };
    const struct model_options options = { .formats = formats_built_in(), .shown = shown, .assume = !shown };
    if (!model_file(&arena, "m/model.safetensors", &options, &facts, &error))
        assert(*error.what);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    const bool framed = size && *data == '{';
    const struct shelf_file files[] = {
        { "m/model.safetensors", framed ? with_length(&arena, data, size) : (struct text){ (const char *)data,
                                                                                           size } },
        { "m/config.json", { config, sizeof config - 1 } } };
    open_one(&(struct shelf){ files, 1 }, size % 2);
    open_one(&(struct shelf){ files, 2 }, size % 2);
    arena_free(&arena);
    return 0;
}
