/* Any bytes as a config.json: an answer or an error, never a crash, a leak or a wait. */
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct format format[] = {
        { "bf16", 2, "peak_bf16" }, { "fp16", 2, "peak_bf16" }, { "fp32", 4, "peak_bf16" },
        { "fp8", 1, "peak_fp8" }, { "fp8-block", 1, "peak_fp8" }, { "mxfp4", 0.5, "peak_fp4" },
        { "mxfp4-a8", 0.5, "peak_fp8" }, { "nvfp4", 0.5, "peak_fp4" }, { "int4", 0.5, "peak_bf16" },
    };
    static const struct formats formats = { sizeof format / sizeof *format, format };
    struct arena arena = { 0 };
    struct facts facts = { .arena = &arena };
    struct error error;
    struct doc *doc;
    struct model_options options = { .formats = &formats, .assume = size % 2 };
    if (json_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &doc, &error))
        model_config(&arena, doc, "fuzz", &options, &facts, &error);
    arena_free(&arena);
    return 0;
}
