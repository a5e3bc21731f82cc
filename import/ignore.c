/* The list of modules that a quantiser left in their original format, and whether a module's name is on
 * it. A regular expression that is not understood is named when it is read. */
#include "import/tensors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which modules a quantiser left alone. An entry of its list is
 *
 *     "lm_head", "gate"               a run of whole parts anywhere in the module's name
 *     "model.layers.3.mlp.gate"       the same; there are hundreds, so these are sorted
 *     "model.layers.*.self_attn*"     '*' for anything
 *     "re:.*mlp\\.(gate|up)_proj.*"   a regular expression over the whole name
 *
 * What precedes "layers." differs between a checkpoint and its entries ("model.",
 * "language_model.model."), so it is cut off both. */
struct ignore {
    const char **full;          /* "layers.3.mlp.gate", sorted */
    size_t full_count, full_room;
    const char **loose;
    size_t loose_count, loose_room;
    bool within;                /* an entry is found anywhere in a name, as in AWQ: "layers.31." */
    struct listed *entries;     /* all, as they stand */
    size_t entry_count, entry_room, unseen;
};

struct listed {
    const char *name;
    bool seen;                  /* a module has it, or none need have */
};

/* The name from "layers." on, if only names of a language model stand before. */
const char *ignore_from_layers(const char *name)
{
    static const char *const tops[] = { "", "model.", "backbone.", "language_model.",
                                        "model.language_model.", "language_model.model." };
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        size_t size = strlen(tops[i]);
        if (!strncmp(name, tops[i], size) && !strncmp(name + size, "layers.", 7))
            return name + size;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Words that a name or a pattern has, apart by dots: "re:.*visual\\..*" is "....visual....". */
static enum tensor_class class_of(const char *entry)
{
    char name[256];
    size_t size = 0;
    for (const char *at = starts_with(entry, "re:") ? entry + 3 : entry; *at && size + 1 < sizeof name; at++)
        name[size++] = isalnum((unsigned char)*at) || *at == '_' ? *at : '.';
    name[size] = 0;
    return tensor_class_of(name);
}

/* Of parts that may have no module of their own here: towers, heads, routers, layers that predict. */
static bool apart(const char *entry)
{
    static const enum tensor_class left[] = { TENSOR_tower, TENSOR_projector, TENSOR_prediction, TENSOR_joined, TENSOR_expert,
                                              TENSOR_head, TENSOR_embedding, TENSOR_router, TENSOR_recurrent };
    const enum tensor_class own = class_of(entry);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (own == left[i])
            return true;
    return false;
}

bool ignore_known(struct config *config, const char *entry)
{
    const bool known = strncmp(entry, "re:", 3) || regular_known(entry + 3);
    if (!known)
        facts_note(config->facts, "the pattern %.100s of quantization_config is not understood and taken to match nothing", entry);
    return known;
}

static void add_list(struct config *config, struct ignore *ignore, const struct doc *list)
{
    for (const struct doc *item = list->kind == DOC_ARRAY ? list->first : NULL; item; item = item->next) {
        if (item->kind != DOC_STRING) {
            config_fail(config, "quantization_config.%s has %s among its names", list->key, doc_said(config->arena, item));
            config_expected(config, "names such as [\"lm_head\", \"re:.*gate$\"]");
            return;
        }
        if (!*item->string)
            continue;
        config_plain(config, "quantization_config", item->string);
        const size_t tail = ends_with(item->string, ".weight") ? strlen(".weight") : 0;    /* AQLM names tensors */
        const char *name = arena_copy(config->arena, item->string, strlen(item->string) - tail);
        if (!ignore_known(config, item->string))
            continue;
        struct listed *listed = arena_push(config->arena, &ignore->entries, &ignore->entry_count, &ignore->entry_room, sizeof *listed);
        *listed = (struct listed){ .name = name, .seen = apart(name) };
        ignore->unseen += !listed->seen;
        const bool plain = strncmp(name, "re:", 3) && !strchr(name, '*') && !ignore->within;
        const char *full = plain ? ignore_from_layers(name) : NULL;
        const char **place = full
            ? arena_push(config->arena, &ignore->full, &ignore->full_count, &ignore->full_room,
                         sizeof *ignore->full)
            : arena_push(config->arena, &ignore->loose, &ignore->loose_count,
                         &ignore->loose_room, sizeof *ignore->loose);
        *place = full ? full : name;
    }
}

struct ignore *ignore_new(struct config *config, const struct doc *const *lists, size_t count, bool within)
{
    struct ignore *ignore = arena_alloc(config->arena, sizeof *ignore);
    ignore->within = within;
    for (size_t i = 0; i < count; i++) {
        if (lists[i]->kind != DOC_ARRAY) {
            config_fail(config, "quantization_config.%s is not a list", lists[i]->key);
            config_expected(config, "names such as [\"lm_head\", \"re:.*gate$\"]");
        }
        add_list(config, ignore, lists[i]);
    }
    if (ignore->full_count)
        qsort(ignore->full, ignore->full_count, sizeof *ignore->full, compare);
    return ignore;
}

/* ---- patterns ------------------------------------------------------------------------- */

/* '*' stands for anything; a match may end before a dot of the name. On a mismatch the
 * last star takes one character more. */
static bool match_star(const char *pattern, const char *module)
{
    const char *star = NULL, *resume = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = module;
        } else if (!*pattern && (!*module || *module == '.')) {
            return true;
        } else if (*pattern && *pattern == *module) {
            pattern++;
            module++;
        } else if (star && *resume) {
            pattern = star;
            module = ++resume;
        } else {
            return false;
        }
    }
}

/* ---- one module ---------------------------------------------------------------------- */

static bool match_parts(const char *entry, const char *module)
{
    size_t size = strlen(entry);
    for (const char *at = module; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (!strncmp(at, entry, size) && (!at[size] || at[size] == '.'))
            return true;
    return false;
}

static bool fits(const char *entry, const char *module)
{
    if (!strncmp(entry, "re:", 3))
        return regular_match(entry + 3, module);
    return strchr(entry, '*') ? match_star(entry, module) : match_parts(entry, module);
}

/* All experts of a layer are one module here; a pattern may ask for the number of an expert. */
bool ignore_pattern(const char *entry, const char *module)
{
    static const char word[] = ".experts.";
    const char *experts = strstr(module, word);
    char first[256];
    if (fits(entry, module) || !experts || strlen(module) + 3 > sizeof first)
        return fits(entry, module);
    experts += sizeof word - 1;
    sprintf(first, "%.*s0.%s", (int)(experts - module), module, experts);
    return fits(entry, first);
}

static bool match_full(const struct ignore *ignore, const char *module)
{
    char part[256];
    size_t size = strlen(module);
    for (size_t i = 0; i <= size && i < sizeof part; i++) {
        if (i == size || module[i] == '.') {
            part[i] = 0;
            const char *key = part;
            if (bsearch(&key, ignore->full, ignore->full_count, sizeof *ignore->full, compare))
                return true;
        }
        part[i] = module[i];
    }
    return false;
}

/* Engines of AWQ and GPTQ find an entry anywhere in a name; a word without a dot ("gate") is a whole part all the same,
 * as in the files that have it. */
static bool found(const struct ignore *ignore, const char *entry, const char *module)
{
    return (ignore->within && strchr(entry, '.') && strstr(module, entry)) || ignore_pattern(entry, module);
}

bool ignore_table(const struct ignore *ignore, const char *name)
{
    static const char *const tops[] = { "", "model.", "language_model.", "model.language_model.", "language_model.model." };
    char module[80];
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        snprintf(module, sizeof module, "%s%s", tops[i], name);
        if (ignore_match(ignore, module))
            return true;
    }
    return false;
}

bool ignore_match(const struct ignore *ignore, const char *module)
{
    if (!ignore)
        return false;
    const char *layers = ignore_from_layers(module);
    if (layers && ignore->full_count && match_full(ignore, layers))
        return true;
    for (size_t i = 0; i < ignore->loose_count; i++)
        if (found(ignore, ignore->loose[i], module))
            return true;
    return false;
}

void ignore_seen(struct ignore *ignore, const char *module)
{
    const char *from = ignore_from_layers(module);
    for (size_t i = 0; i < ignore->entry_count; i++) {
        struct listed *entry = &ignore->entries[i];
        const char *full = entry->seen ? NULL : ignore_from_layers(entry->name);
        if (entry->seen || !found(ignore, full && from ? full : entry->name, full && from ? from : module))
            continue;
        entry->seen = true;
        ignore->unseen--;
    }
}

bool ignore_waits(const struct ignore *ignore)
{
    return ignore && ignore->unseen > 0;
}

void ignore_unseen(struct config *config, const struct ignore *ignore, double layers, double predicted)
{
    const size_t most = 3;
    size_t count = 0;
    for (size_t i = 0; ignore && i < ignore->entry_count; i++) {
        const char *full = ignore_from_layers(ignore->entries[i].name);
        const double layer = full ? strtod(full + strlen("layers."), NULL) : -1;
        const bool known = ignore->entries[i].seen || (layer >= layers && layer < layers + predicted);
        if (!known && ++count <= most)
            facts_note(config->facts, "quantization_config leaves '%.100s' alone, and no module has that name", ignore->entries[i].name);
    }
    if (count > most)
        facts_note(config->facts, "quantization_config leaves %zu more names alone, and no module has them", count - most);
}
