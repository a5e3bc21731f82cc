/* The list of modules that a quantiser left in their original format, and whether a module's name is on
 * it. The regular expressions are the subset that such lists use; others are refused when read. */
#include "import/model.h"

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

static bool regular_known(const char *pattern);

struct ignore *ignore_new(struct config *config, const struct doc *list)
{
    struct ignore *ignore = arena_alloc(config->arena, sizeof *ignore);
    if (list && list->kind != DOC_ARRAY) {
        config_fail(config, "the modules that quantization_config leaves alone are not a list");
        return ignore;
    }
    for (const struct doc *item = list ? list->first : NULL; item; item = item->next) {
        if (item->kind != DOC_STRING || !*item->string)
            continue;
        config_plain(config, "quantization_config", item->string);
        if (!strncmp(item->string, "re:", 3) && !regular_known(item->string + 3)) {
            facts_note(config->facts, "the pattern %.100s of quantization_config is not "
                       "understood and taken to match nothing", item->string);
            continue;
        }
        bool plain = strncmp(item->string, "re:", 3) && !strchr(item->string, '*');
        const char *full = plain ? ignore_from_layers(item->string) : NULL;
        const char **place = full
            ? arena_push(config->arena, &ignore->full, &ignore->full_count, &ignore->full_room,
                         sizeof *ignore->full)
            : arena_push(config->arena, &ignore->loose, &ignore->loose_count,
                         &ignore->loose_room, sizeof *ignore->loose);
        *place = full ? full : item->string;
    }
    if (ignore->full_count)
        qsort(ignore->full, ignore->full_count, sizeof *ignore->full, compare);
    return ignore;
}

/* ---- the little of regular expressions that such lists use ------------------------------
 *
 * Characters, '.', "\\d", escapes, (a|b), * + ? after a character, '$'. As in Python's
 * re.match the start of the name must match, its end need not. A budget of steps bounds
 * what a hostile pattern can cost; past it nothing matches. */
struct expression_match {
    int steps;
};

static bool match_here(struct expression_match *match, const char *pattern, const char *end, const char *name);

/* Length of the first atom of a pattern. */
static size_t atom_size(const char *pattern, const char *end)
{
    if (*pattern == '\\' && pattern + 1 < end)
        return 2;
    if (*pattern != '(')
        return 1;
    int depth = 0;
    for (const char *at = pattern; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '(')
            depth++;
        else if (*at == ')' && --depth == 0)
            return (size_t)(at - pattern) + 1;
    }
    return (size_t)(end - pattern);
}

static bool atom_is(const char *pattern, size_t size, char c)
{
    if (!c)
        return false;
    if (size == 2)
        return pattern[1] == 'd' ? c >= '0' && c <= '9' : pattern[1] == c;
    return *pattern == '.' || *pattern == c;
}

/* (a|b)rest: each branch, followed by what follows the group. */
static bool match_group(struct expression_match *match, const char *pattern, size_t size, const char *end,
                        const char *name)
{
    const char *start = pattern + 1, *close = pattern + size - 1;
    for (const char *at = start; ; at += atom_size(at, close)) {
        if (at < close && *at != '|')
            continue;
        char joined[256];
        size_t branch = (size_t)(at - start), after = (size_t)(end - (pattern + size));
        if (branch + after < sizeof joined) {
            memcpy(joined, start, branch);
            memcpy(joined + branch, pattern + size, after);
            if (match_here(match, joined, joined + branch + after, name))
                return true;
        }
        if (at >= close)
            return false;
        start = at + 1;
    }
}

static bool match_repeat(struct expression_match *match, const char *pattern, size_t size, const char *end,
                         const char *name)
{
    char repeat = pattern[size];
    const char *after = pattern + size + 1;
    for (size_t n = 0; ; n++) {
        if (n >= (repeat == '+') && match_here(match, after, end, name + n))
            return true;
        if (!atom_is(pattern, size, name[n]) || (repeat == '?' && n == 1))
            return false;
    }
}

static bool match_here(struct expression_match *match, const char *pattern, const char *end, const char *name)
{
    while (pattern < end && match->steps-- > 0) {
        size_t size = atom_size(pattern, end);
        if (*pattern == '(' && size > 1)
            return match_group(match, pattern, size, end, name);
        if (*pattern == '$')
            return !*name;
        if (pattern + size < end && strchr("*+?", pattern[size]))
            return match_repeat(match, pattern, size, end, name);
        if (!atom_is(pattern, size, *name))
            return false;
        pattern += size;
        name++;
    }
    return pattern == end;
}

static bool match_regular(const char *pattern, const char *module)
{
    struct expression_match match = { .steps = 4000 };
    pattern += *pattern == '^';
    return match_here(&match, pattern, pattern + strlen(pattern), module);
}

static bool regular_known(const char *pattern)
{
    return !strpbrk(pattern, "[]{}") && !strstr(pattern, "(?") && !strstr(pattern, ")*")
        && !strstr(pattern, ")+") && !strstr(pattern, ")?");
}

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

bool ignore_pattern(const char *entry, const char *module)
{
    if (!strncmp(entry, "re:", 3))
        return regular_known(entry + 3) && match_regular(entry + 3, module);
    return strchr(entry, '*') ? match_star(entry, module) : match_parts(entry, module);
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

bool ignore_match(const struct ignore *ignore, const char *module)
{
    if (!ignore)
        return false;
    const char *layers = ignore_from_layers(module);
    if (layers && ignore->full_count && match_full(ignore, layers))
        return true;
    for (size_t i = 0; i < ignore->loose_count; i++)
        if (ignore_pattern(ignore->loose[i], module))
            return true;
    return false;
}
