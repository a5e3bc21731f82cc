/* Any bytes as a config.json: an answer or an error, never a crash, a leak or a wait. */
#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error;
    struct arena arena = { 0 };
    struct facts facts = { .arena = &arena };
    struct doc *doc;
    struct model_options options = { .formats = formats_built_in(), .assume = size % 2 };
    if (json_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &doc, &error))
        model_config(&arena, doc, "fuzz", &options, &facts, &error);
    arena_free(&arena);
    return 0;
}
