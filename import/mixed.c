/* Checkpoints in which matrices have different formats: ModelOpt's MIXED_PRECISION lists modules with the
 * algorithm of each, compressed-tensors lists groups with the modules that each is for.
 *
 * A name counts from its layer on ("layers.3.mlp.up_proj"), or is that of the head; the number of an expert
 * is cut out. An entry holds for all below it, so that one row may be for all experts of a layer. An entry
 * may also be a pattern, as in lists of modules that were left alone (ignore.c), of which the first that fits counts, or
 * a class ("Linear", "_default"), which is for all that no other entry names. */
#include "import/model.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const char *name;
    const struct format *format;
    size_t order;                       /* in the list */
};

struct mixed {
    struct entry *entries;              /* sorted */
    size_t count, room;
    struct entry *patterns;
    size_t pattern_count, pattern_room;
    const struct format *rest;          /* of what is not named; NULL: not quantised, or as its method says */
    bool tables;                        /* embeddings have an entry */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int by_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const int order = by_name(a, b);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* "layers.0.ffn.experts.17.w1" is "layers.0.experts.w1": what stands between layer and experts differs. */
static const char *entry_name(struct arena *arena, const char *name)
{
    const char *from = ignore_from_layers(name), *experts = from ? strstr(from, ".experts") : NULL;
    if (!from)
        return ends_with(name, "lm_head") ? "lm_head" : ends_with(name, "embed_tokens") ? "embed_tokens" : name;
    if (!experts || (experts[8] && experts[8] != '.'))
        return from;
    const char *rest = experts + 8 + (experts[8] == '.');
    const size_t digits = strspn(rest, "0123456789");
    if (digits && (!rest[digits] || rest[digits] == '.'))
        rest += digits + (rest[digits] == '.');
    const char *number = from + strlen("layers.");
    return arena_print(arena, "layers.%.*s.experts%s%s", (int)strcspn(number, "."), number, *rest ? "." : "",
                       rest);
}

bool mixed_class(const char *name)
{
    return !strcmp(name, "Linear") || !strcmp(name, "Embedding");
}

void mixed_add(struct config *config, struct mixed *mixed, const char *name, const struct format *format)
{
    config_plain(config, "quantization_config", name);
    if (!strcmp(name, "Linear") || !strcmp(name, "_default")) {
        mixed->rest = format;
        return;
    }
    if (!strcmp(name, "Embedding")) {
        mixed->tables = true;
        name = "embed_tokens";
    }
    if (!ignore_known(config, name))
        return;
    const char *switched = strstr(name, ".switch_mlp.");        /* MLX's word for experts */
    if (switched)
        name = arena_print(config->arena, "%.*s.experts.%s", (int)(switched - name), name, switched + strlen(".switch_mlp."));
    const char *inside = entry_name(config->arena, name);
    const bool pattern = !strncmp(name, "re:", 3) || strchr(name, '*') || (inside == name && !ignore_from_layers(name));
    struct entry *entry = pattern
        ? arena_push(config->arena, &mixed->patterns, &mixed->pattern_count, &mixed->pattern_room,
                     sizeof *entry)
        : arena_push(config->arena, &mixed->entries, &mixed->count, &mixed->room, sizeof *entry);
    *entry = (struct entry){ pattern ? name : inside, format, mixed->count };
}

bool mixed_tables(const struct mixed *mixed)
{
    return mixed->tables;
}

struct mixed *mixed_new(struct config *config)
{
    return arena_alloc(config->arena, sizeof(struct mixed));
}

/* Sorted, each name once: of an expert's copies, the first. */
void mixed_close(struct mixed *mixed)
{
    size_t kept = 0;
    if (mixed->count)
        qsort(mixed->entries, mixed->count, sizeof *mixed->entries, by_order);
    for (size_t i = 0; i < mixed->count; i++)
        if (!kept || strcmp(mixed->entries[kept - 1].name, mixed->entries[i].name))
            mixed->entries[kept++] = mixed->entries[i];
    mixed->count = kept;
}

static const struct format *find(const struct mixed *mixed, const char *name)
{
    const struct entry key = { .name = name };
    const struct entry *found = mixed->count ? bsearch(&key, mixed->entries, mixed->count, sizeof key,
                                                       by_name) : NULL;
    return found ? found->format : NULL;
}

const struct format *mixed_format(struct arena *arena, const struct mixed *mixed, const char *module)
{
    char *name = arena_copy(arena, entry_name(arena, module), strlen(entry_name(arena, module)));
    const struct format *format = find(mixed, name);
    for (char *dot; !format && (dot = strrchr(name, '.')) != NULL; format = find(mixed, name))
        *dot = 0;
    for (size_t i = 0; !format && i < mixed->pattern_count; i++)
        if (ignore_pattern(mixed->patterns[i].name, module))
            format = mixed->patterns[i].format;
    return format ? format : mixed->rest;
}
