/* What stands beside a config.json. */
#include "import/import.h"

#include <string.h>

bool model_beside(struct arena *arena, const char *path, struct doc *config, struct error *error)
{
    enum { LIMIT = 1 << 20 };
    static const struct { const char *file, *inside, *method; } files[] = {
        { "hf_quant_config.json", "quantization", "modelopt" }, { "quantize_config.json", NULL, "gptq" },
        { "quant_config.json", NULL, "awq" } };
    const char *slash = strrchr(path, '/'), *beside = NULL;
    size_t i = 0;
    if (config->kind != DOC_OBJECT || doc_get(config, "quantization_config"))
        return true;
    for (; i < sizeof files / sizeof *files; i++) {
        beside = arena_print(arena, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, files[i].file);
        if (file_there(arena, beside))
            break;
    }
    if (i == sizeof files / sizeof *files)
        return true;
    struct text text;
    struct doc *side;
    if (!file_read(arena, beside, LIMIT, &text, error) || !json_read(arena, beside, text, &side, error))
        return false;
    const struct doc *said = files[i].inside ? doc_get(side, files[i].inside) : side;
    if (!said || said->kind != DOC_OBJECT) {
        error_set(error, "%s: no object%s%s%s", beside, files[i].inside ? " '" : "", files[i].inside ? files[i].inside : "",
                  files[i].inside ? "'" : "");
        return error_expected(error, "the fields that %s writes", files[i].method);
    }
    struct doc *made = doc_add(arena, config, "quantization_config", DOC_OBJECT);
    made->first = said->first;
    made->last = said->last;
    made->count = said->count;
    if (!doc_get(made, "quant_method"))
        doc_add_string(arena, made, "quant_method", files[i].method);
    return true;
}
