/* Names of models as people have them: "unsloth/Qwen3-14B-Instruct-GGUF", "llama3.1:8b-instruct-q4_K_M",
 * "Meta-Llama-3.1-8B-Instruct-AWQ". What a publisher, a re-uploader or a server adds to the name is taken off
 * its end, word by word, until the catalog knows the rest; a word that names a format is kept as the format. */
#include "catalog/catalog.h"
#include "catalog/sheet.h"

#include <ctype.h>
#include <string.h>

/* What a word at the end of a name says of the weights; NULL: nothing. */
static const struct { const char *word, *precision; } endings[] = {
    { "gguf", NULL }, { "latest", NULL }, { "instruct", NULL }, { "it", NULL }, { "chat", NULL },
    { "hf", NULL }, { "base", NULL }, { "pt", NULL }, { "dynamic", NULL }, { "block", NULL }, { "unsloth", NULL },
    { "bnb", NULL }, { "mlx", NULL }, { "quantized", NULL }, { "i1", NULL }, { "text", NULL }, { "thinking", NULL },
    { "bf16", "bf16" }, { "fp16", "fp16" }, { "f16", "fp16" }, { "fp8", "fp8" }, { "fp4", "nvfp4" },
    { "nvfp4", "nvfp4" }, { "mxfp4", "mxfp4" }, { "awq", "int4-zp" }, { "gptq", "int4-zp" }, { "int4", "int4" },
    { "q2_k_xl", "Q2_K" }, { "q4_k_xl", "Q4_K_M" }, { "q5_k_xl", "Q5_K_M" }, { "q6_k_xl", "Q6_K" },
    { "q8_k_xl", "Q8_0" }, { "ud", NULL }, { "qat", NULL }, { "w4a16", "int4" }, { "4bit", "int4" }, { "int8", "int8" },
    { "w8a8", "int8" }, { "8bit", "int8" },
};

static bool mark(char c)
{
    return c == '-' || c == '.' || c == '_' || c == ':' || c == '/' || c == ' ';
}

/* Takes `word` off the end of a name of `size` characters, with the mark before it: what is left, or `size`. */
static size_t without(const char *name, size_t size, const char *word)
{
    const size_t tail = strlen(word);
    if (size < tail + 2 || !mark(name[size - tail - 1]))
        return size;
    for (size_t i = 0; i < tail; i++)
        if (tolower((unsigned char)name[size - tail + i]) != tolower((unsigned char)word[i]))
            return size;
    return size - tail - 1;
}

/* A GGUF file type at the end of a name, in the words of data/file_types.csv. */
static size_t without_type(struct arena *arena, const char *name, size_t size, const char **type)
{
    struct text rest = text_built_in("data/file_types.csv");
    while (rest.size) {
        struct text line = text_line(&rest);
        const char *comma = line.size && *line.data != '#' ? memchr(line.data, ',', line.size) : NULL;
        *type = comma ? arena_copy(arena, line.data, (size_t)(comma - line.data)) : "";
        const size_t left = comma ? without(name, size, *type) : size;
        if (left < size)
            return left;
    }
    return size;
}

static size_t shorter(struct arena *arena, const char *name, size_t size, const char **precision)
{
    const char *type;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t left = without(name, size, endings[i].word);
        if (left < size && !*precision)
            *precision = endings[i].precision;
        if (left < size)
            return left;
    }
    const size_t left = without_type(arena, name, size, &type);
    if (left < size && !*precision)
        *precision = type;
    return left;
}

/* "llama3.1:8b" is "llama3.1-8b", and the "Meta-" of Llama is no part of it. */
static const struct catalog_entry *known(const struct catalog *catalog, const char *name, size_t size)
{
    char plain[200];
    const size_t meta = size > 5 && (!strncmp(name, "Meta", 4) || !strncmp(name, "meta", 4)) && mark(name[4]) ? 5 : 0;
    name += meta;
    size -= meta;
    if (!size || size >= sizeof plain)
        return NULL;
    for (size_t i = 0; i <= size; i++)
        plain[i] = i == size ? 0 : name[i] == ':' ? '-' : name[i];
    return catalog_known(catalog, CATALOG_MODEL, plain);
}

static const struct catalog_entry *called(struct arena *arena, const struct catalog *catalog, const char *name,
                                          const char **precision)
{
    const struct catalog_entry *found = NULL;
    size_t size = strlen(name), left = size;
    *precision = NULL;
    do {
        size = left;
        found = known(catalog, name, size);
        left = shorter(arena, name, size, precision);
    } while (!found && left < size);
    return found;
}

/* Re-uploaders put the publisher before the name: "bartowski/Qwen_Qwen3-14B-GGUF". */
const struct catalog_entry *catalog_model_called(struct arena *arena, const struct catalog *catalog,
                                                 const char *name, const char **precision)
{
    const char *last = strrchr(name, '/'), *publisher = strchr(last ? last : name, '_');
    *precision = NULL;
    if (strstr(name, ".csv"))
        return NULL;
    const struct catalog_entry *found = called(arena, catalog, last ? last + 1 : name, precision);
    return found || !publisher ? found : called(arena, catalog, publisher + 1, precision);
}
