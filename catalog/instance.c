/* Compares patterns in lower case with a name in which spaces, underscores and slashes have become hyphens. Its letters keep
 * their case for who looks up the '*': "4 RX 6800S" is no plural. */
#include "catalog/instance.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct pattern_fit {
    double number;                  /* of '#'; 0: the pattern has none */
    const char *star;               /* the letters that the first '*' stands for */
    size_t star_size;
};

static bool like(const char *pattern, const char *end, const char *name, struct pattern_fit *fit)
{
    if (pattern == end)
        return !*name;
    if (*pattern == '#') {
        const size_t digits = strspn(name, "0123456789");
        if (!digits || digits > 3 || !like(pattern + 1, end, name + digits, fit))
            return false;
        fit->number = (double)strtoul(name, NULL, 10);
        return fit->number > 0;
    }
    for (size_t size = 0; *pattern == '*' && size <= strlen(name); size++)
        if (like(pattern + 1, end, name + size, fit)) {
            fit->star = name;
            fit->star_size = size;
            return true;
        }
    return *pattern != '*' && *pattern == tolower((unsigned char)*name) && like(pattern + 1, end, name + 1, fit);
}

/* The name as patterns are written. "Standard_" (Azure) and "ml." (SageMaker) are dropped; "H100*8" and "H100 × 8" have an x. */
static const char *plain(struct arena *arena, const char *name)
{
    char *text = arena_copy(arena, name, strlen(name)), *out = text;
    for (const char *at = name; *at; at++) {
        const bool gap = strchr(" _/", *at) != NULL, times = starts_with(at, "\303\227");
        if (!gap || (out > text && out[-1] != '-'))
            *out++ = gap ? '-' : times || *at == '*' ? 'x' : *at;
        at += times;
    }
    *out = 0;
    static const char *const heads[] = { "standard-", "ml.", "aws-", "azure-", "gcp-" };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        text += strncasecmp(text, heads[i], strlen(heads[i])) ? 0 : strlen(heads[i]);
    return text;
}

bool instance_called(struct arena *arena, const struct csv *csv, const char *name, size_t from, struct instance *found)
{
    enum { NAMES, MACHINE, CHIPS, CLOUD, PRICE, SOURCE, DATE, COLUMNS };
    const char *text = strlen(name) < 100 ? plain(arena, name) : "", *cell[COLUMNS];
    for (size_t r = from; r < csv->rows; r++) {
        for (int i = 0; i < COLUMNS; i++)
            cell[i] = csv_cell(csv, r, i);
        for (const char *at = cell[NAMES]; *at; at += strspn(at, " ")) {
            const char *end = at + strcspn(at, " ");
            struct pattern_fit fit = { .star = "" };
            const bool fits = like(at, end, text, &fit);
            at = end;
            if (!fits)
                continue;
            *found = (struct instance){
                .machine = *cell[MACHINE] == '*' ? arena_copy(arena, fit.star, fit.star_size) : cell[MACHINE],
                .chips = *cell[CHIPS] == '#' ? fit.number : strtod(cell[CHIPS], NULL), .cloud = cell[CLOUD],
                .price = *cell[PRICE] ? strtod(cell[PRICE], NULL) : NAN, .source = cell[SOURCE], .date = cell[DATE],
                .next = r + 1 };
            return true;
        }
    }
    return false;
}
