/* Any bytes as a GGUF header: an answer or an error, never a crash, a leak or a wait. */
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct format format[] = {
        { "bf16", 2, "peak_bf16" }, { "fp16", 2, "peak_bf16" }, { "fp32", 4, "peak_bf16" },
        { "q4_0", 0.5625, "peak_bf16" }, { "q4_k", 0.5625, "peak_bf16" },
        { "q6_k", 0.8203125, "peak_bf16" }, { "mxfp4-a16", 0.53125, "peak_bf16" },
    };
    static const struct formats formats = { sizeof format / sizeof *format, format };
    struct arena arena = { 0 };
    struct facts facts = { .arena = &arena };
    struct error error;
    struct doc *doc;
    struct model_options options = { .formats = &formats, .assume = size % 2 };
    if (gguf_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &doc, &error))
        model_gguf(&arena, doc, "fuzz", &options, &facts, &error);
    arena_free(&arena);
    return 0;
}
