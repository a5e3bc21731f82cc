/* What stands beside a config.json. */
#include "import/import.h"

#include <string.h>

bool model_beside(struct arena *arena, const char *path, struct doc *config, struct error *error)
{
    enum { LIMIT = 1 << 20 };
    const char *slash = strrchr(path, '/');
    const char *beside = arena_print(arena, "%.*shf_quant_config.json",
                                     slash ? (int)(slash - path + 1) : 0, path);
    struct text text;
    struct doc *side;
    if (config->kind != DOC_OBJECT || doc_get(config, "quantization_config") ||
        !file_there(arena, beside))
        return true;
    if (!file_read(arena, beside, LIMIT, &text, error) ||
        !json_read(arena, beside, text, &side, error))
        return false;
    const struct doc *said = doc_get(side, "quantization");
    if (!said || said->kind != DOC_OBJECT) {
        error_set(error, "%s: no object 'quantization'", beside);
        return error_expected(error, "quantization.quant_algo, as modelopt writes it");
    }
    struct doc *made = doc_add(arena, config, "quantization_config", DOC_OBJECT);
    made->first = said->first;
    made->last = said->last;
    made->count = said->count;
    doc_add_string(arena, made, "quant_method", "modelopt");
    return true;
}
