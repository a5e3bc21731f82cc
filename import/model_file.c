/* A model from a path: a config.json, a GGUF file, a safetensors file or one of several parts, their index,
 * or a folder with any of these. What stands beside a file is read with it: config.json, and the other
 * parts. */
#include "import/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { file_limit = 64 << 20, beginning = 16, part_limit = 2000 };

struct opened_model {
    struct arena *arena;
    const char *path;
    const struct model_options *options;
    struct facts *facts;
    struct error *error;
};

static const char *beside(const struct opened_model *opened, const char *name)
{
    const char *slash = strrchr(opened->path, '/');
    return arena_print(opened->arena, "%.*s%s", slash ? (int)(slash - opened->path + 1) : 0, opened->path,
                       name);
}

static bool json_file(const struct opened_model *opened, const char *path, struct doc **doc)
{
    struct text text;
    return file_read(opened->arena, path, file_limit, &text, opened->error) &&
           json_read(opened->arena, path, text, doc, opened->error);
}

/* config.json in the same folder; NULL: none. */
static bool config_beside(const struct opened_model *opened, struct doc **config)
{
    const char *path = beside(opened, "config.json");
    *config = NULL;
    if (!file_there(opened->arena, path))
        return true;
    return json_file(opened, path, config) && model_beside(opened->arena, path, *config, opened->error);
}

/* ---- safetensors ----------------------------------------------------------------------- */

static bool tensors_read(const struct opened_model *opened, const char *path, struct tensors *tensors)
{
    struct text head;
    if (!file_head(opened->arena, path, beginning, &head, opened->error))
        return false;
    const size_t size = safetensors_size(path, head, opened->error);
    return size && file_head(opened->arena, path, size, &head, opened->error) &&
           safetensors_read(opened->arena, path, head, tensors, opened->error);
}

/* "model-00002-of-00004.safetensors": how many parts, and where the number stands. */
static int parts_of(const char *path, const char *end, size_t *number)
{
    const size_t size = strlen(path), tail = strlen(end) + strlen("-00002-of-00004");
    int part, count, taken = 0;
    if (size < tail || !ends_with(path, end) ||
        sscanf(path + size - tail, "-%5d-of-%5d%n", &part, &count, &taken) != 2 || taken != 15 || part < 1 ||
        count < 1 || part > count || count > part_limit)
        return 1;
    *number = size - tail;
    return count;
}

static bool part_missing(const struct opened_model *opened, const char *path, size_t parts)
{
    error_set(opened->error, "%s: not there, one of %zu parts of the model", path, parts);
    return error_expected(opened->error,
                          "all parts beside each other; of each its first megabytes are enough");
}

/* The path of a part, by its number from 1; NULL: it is not there. */
static const char *part_path(const struct opened_model *opened, const char *end, size_t number, int part, int parts)
{
    const char *path = arena_print(opened->arena, "%.*s-%05d-of-%05d%s", (int)number, opened->path, part, parts, end);
    if (file_there(opened->arena, path))
        return path;
    part_missing(opened, path, (size_t)parts);
    return NULL;
}

static bool read_safetensors(const struct opened_model *opened)
{
    struct tensors tensors = { 0 };
    struct doc *config;
    size_t number = 0;
    const int parts = parts_of(opened->path, ".safetensors", &number);
    for (int i = 1; i <= parts; i++) {
        const char *path = parts == 1 ? opened->path : part_path(opened, ".safetensors", number, i, parts);
        if (!path || !tensors_read(opened, path, &tensors))
            return false;
    }
    return config_beside(opened, &config) &&
           model_of_tensors(opened->arena, &tensors, config, true, opened->path, opened->options,
                            opened->facts, opened->error);
}

/* ---- an index -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool index_wrong(const struct opened_model *opened, const char *what)
{
    error_set(opened->error, "%s: %s", opened->path, what);
    return error_expected(opened->error,
                          "an index as safetensors has it: weight_map with the file of each tensor, "
                          "metadata.total_size");
}

/* The files that an index names, each once. */
static bool parts_named(const struct opened_model *opened, const struct doc *map, const char ***parts,
                        size_t *count)
{
    const char **names = arena_array(opened->arena, map->count + 1, sizeof *names);
    size_t n = 0;
    for (const struct doc *item = map->first; item; item = item->next) {
        if (item->kind != DOC_STRING || !*item->string || strpbrk(item->string, "/\\"))
            return index_wrong(opened, "weight_map has a value that is not the name of a file beside it");
        if (!text_check(text_of(item->key), opened->path, opened->error) ||
            !text_check(text_of(item->string), opened->path, opened->error))
            return false;
        names[n++] = item->string;
    }
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *parts = names;
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!*count || strcmp(names[*count - 1], names[i]))
            names[(*count)++] = names[i];
    return *count > 0 || index_wrong(opened, "weight_map names no tensor");
}

static bool index_without_parts(const struct opened_model *opened, const struct doc *index)
{
    struct doc *config;
    if (!config_beside(opened, &config))
        return false;
    if (!config) {
        error_set(opened->error, "%s: an index has the names of tensors and not their shapes", opened->path);
        return error_expected(opened->error,
                              "config.json beside it, or the safetensors files that it names, of which "
                              "the first megabytes are enough");
    }
    return model_index(opened->arena, config, index, opened->path, opened->options, opened->facts,
                       opened->error);
}

static bool read_index(const struct opened_model *opened, const struct doc *index)
{
    const struct doc *map = doc_get(index, "weight_map");
    struct tensors tensors = { 0 };
    struct doc *config;
    const char **parts = NULL;
    size_t count = 0;
    if (map->kind != DOC_OBJECT)
        return index_wrong(opened, "weight_map is not an object");
    if (!parts_named(opened, map, &parts, &count))
        return false;
    if (!ends_with(parts[0], ".safetensors") || !file_there(opened->arena, beside(opened, parts[0])))
        return index_without_parts(opened, index);
    for (size_t i = 0; i < count; i++) {
        const char *path = beside(opened, parts[i]);
        if (!file_there(opened->arena, path))
            return part_missing(opened, path, count);
        if (!tensors_read(opened, path, &tensors))
            return false;
    }
    if (tensors.count != map->count)
        facts_note(opened->facts, "the index names %zu tensors, its files have %zu", map->count,
                   tensors.count);
    return config_beside(opened, &config) &&
           model_of_tensors(opened->arena, &tensors, config, true, opened->path, opened->options,
                            opened->facts, opened->error);
}

/* ---- any file ---------------------------------------------------------------------------- */

/* gguf-split makes parts of a file: the first has the keys, each has some of the tensors. */
static bool read_gguf(const struct opened_model *opened, struct text text)
{
    struct doc *whole, *doc;
    size_t number = 0;
    const int parts = parts_of(opened->path, ".gguf", &number);
    if (parts == 1 && !gguf_read(opened->arena, opened->path, text, &whole, opened->error))
        return false;
    for (int i = 1; i <= parts && parts > 1; i++) {
        const char *path = part_path(opened, ".gguf", number, i, parts);
        if (!path || !file_head(opened->arena, path, gguf_head_limit, &text, opened->error) ||
            !gguf_read(opened->arena, path, text, &doc, opened->error))
            return false;
        for (struct doc *item = i > 1 ? doc->last->first : NULL, *next; item; item = next) {
            next = item->next;
            item->next = NULL;
            doc_put(whole->last, NULL, item);
        }
        whole = i > 1 ? whole : doc;
    }
    return model_gguf(opened->arena, whole, opened->path, opened->options, opened->facts, opened->error);
}

static bool read_json(const struct opened_model *opened, struct text text)
{
    struct doc *doc;
    if (!json_read(opened->arena, opened->path, text, &doc, opened->error))
        return false;
    if (doc_get(doc, "weight_map"))
        return read_index(opened, doc);
    return model_beside(opened->arena, opened->path, doc, opened->error) &&
           model_config(opened->arena, doc, opened->path, opened->options, opened->facts, opened->error);
}

const char *model_path(struct arena *arena, const char *path)
{
    static const char *const names[] = { "model.safetensors.index.json", "model.safetensors", "config.json" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *inside = arena_print(arena, "%s/%s", path, names[i]);
        if (file_there(arena, inside))
            return inside;
    }
    return NULL;
}

bool model_file(struct arena *arena, const char *path, const struct model_options *options,
                struct facts *facts,
                struct error *error)
{
    const struct opened_model opened = { arena, path, options, facts, error };
    struct text text;
    if (!strcmp(path, "-"))
        return file_read(arena, path, file_limit, &text, error) &&
               (model_is_gguf(text) ? read_gguf(&opened, text) : read_json(&opened, text));
    if (!file_head(arena, path, beginning, &text, error))
        return false;
    const bool gguf = model_is_gguf(text);          /* first: with 123 tensors it has the brace of a safetensors file too */
    if (!gguf && (ends_with(path, ".safetensors") || model_is_safetensors(text)))
        return read_safetensors(&opened);
    return file_head(arena, path, gguf_head_limit, &text, error) &&
           (gguf ? read_gguf(&opened, text) : read_json(&opened, text));
}
