/* What a tensor is, by its name: data/tensor_classes.csv. The same patterns are for names of checkpoints,
 * of GGUF files, and those that this program gives the matrices of a configuration. */
#include "import/tensors.h"

#include "catalog/sheet.h"

#include <string.h>

#define SHEET "data/tensor_classes.csv"

static const struct { const char *name; enum weight_part part; } classes[TENSOR_CLASS_COUNT] = {
#define TENSOR_CLASS(name, part) { #name, part },
    TENSOR_CLASSES(TENSOR_CLASS)
#undef TENSOR_CLASS
};

const char *tensor_class_name(enum tensor_class kind)
{
    return classes[kind].name;
}

enum weight_part tensor_part(enum tensor_class kind)
{
    return classes[kind].part;
}

/* Does a pattern fit a name with dots around it? */
static bool fits(struct text pattern, struct text name)
{
    const bool anchored = pattern.size && *pattern.data == '^';
    const char *word = pattern.data + anchored;
    const size_t size = pattern.size - anchored;
    for (size_t at = anchored; at + size <= name.size && (!anchored || at == 1); at++)
        if (!memcmp(name.data + at, word, size))
            return true;
    return false;
}

static bool any_fits(struct text patterns, struct text name)
{
    while (patterns.size) {
        const char *space = memchr(patterns.data, ' ', patterns.size);
        const size_t size = space ? (size_t)(space - patterns.data) : patterns.size;
        if (size && fits((struct text){ patterns.data, size }, name))
            return true;
        const size_t taken = size + (space != NULL);
        patterns = (struct text){ patterns.data + taken, patterns.size - taken };
    }
    return false;
}

static enum tensor_class class_named(struct text name)
{
    for (int i = 0; i < TENSOR_CLASS_COUNT; i++)
        if (text_is(name, classes[i].name))
            return (enum tensor_class)i;
    return TENSOR_other;
}

enum tensor_class tensor_class_of(const char *name)
{
    enum { LONGEST = 300 };
    char dotted[LONGEST + 3];
    size_t size = strlen(name);
    if (size > LONGEST) {               /* what matters stands at the end */
        name += size - LONGEST;
        size = LONGEST;
    }
    dotted[0] = dotted[size + 1] = '.';
    memcpy(dotted + 1, name, size);
    struct text rest = text_built_in(SHEET);
    while (rest.size) {
        struct text line = text_line(&rest);
        const char *comma = line.size && *line.data != '#' ? memchr(line.data, ',', line.size) : NULL;
        const size_t head = comma ? (size_t)(comma - line.data) : 0;
        if (comma && any_fits((struct text){ comma + 1, line.size - head - 1 }, (struct text){ dotted,
                                                                                               size + 2 }))
            return class_named((struct text){ line.data, head });
    }
    return TENSOR_other;
}
