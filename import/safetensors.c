/* The header of a safetensors file: eight bytes with its length, then JSON with the name, type, shape and
 * place of each tensor. The weights themselves are not read and need not be there, so that the first
 * megabytes of a file do.
 *
 *     u64 size (little-endian)   { "__metadata__": { ... }, NAME: { "dtype", "shape", "data_offsets" }, ... }
 *
 * The number of weights is the shape's, the bytes are the place's: where the type has whole bytes they must
 * agree. No tensor may share bytes with another. */
#include "import/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { header_limit = 100000000, length_bytes = 8 };

bool model_is_safetensors(struct text head)
{
    if (head.size <= length_bytes || head.data[length_bytes] != '{')
        return false;
    for (size_t i = 0; i < length_bytes; i++)
        if (head.data[i] == '\0' || (unsigned char)head.data[i] >= 0x80)
            return true;                /* text has no such bytes */
    return false;
}

size_t safetensors_size(const char *file, struct text head, struct error *error)
{
    uint64_t size = 0;
    if (head.size < length_bytes) {
        error_set(error, "%s: %zu bytes", file, head.size);
        error_expected(error, "a safetensors file, which begins with the length of its header in 8 bytes");
        return 0;
    }
    for (size_t i = 0; i < length_bytes; i++)
        size |= (uint64_t)(unsigned char)head.data[i] << (8 * i);
    if (size >= 2 && size <= header_limit)
        return (size_t)size + length_bytes;
    error_set(error, "%s: the header claims %llu bytes", file, (unsigned long long)size);
    error_expected(error, "a safetensors header of 2 to %d bytes", header_limit);
    return 0;
}

/* ---- one tensor ---------------------------------------------------------------------- */

/* Bytes of one element; 0 for types of less than a byte, NAN for unknown ones. */
static double type_size(const char *type)
{
    static const struct { const char *type; double bytes; } types[] = {
        { "BOOL", 1 }, { "U8", 1 }, { "I8", 1 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 }, { "F8_E4M3FNUZ", 1 },
        { "F8_E5M2FNUZ", 1 }, { "F8_E8M0", 1 }, { "I16", 2 }, { "U16", 2 }, { "F16", 2 }, { "BF16", 2 },
        { "I32", 4 }, { "U32", 4 }, { "F32", 4 }, { "I64", 8 }, { "U64", 8 }, { "F64", 8 }, { "C64", 8 },
        { "F4", 0 }, { "FP4", 0 }, { "F6_E2M3", 0 }, { "F6_E3M2", 0 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].type, type))
            return types[i].bytes;
    return NAN;
}

static bool fail(const char *file, const char *name, const char *what, struct error *error)
{
    error_set(error, "%s: tensor '%.200s': %s", file, name, what);
    return error_expected(error,
                          "a header as safetensors writes it: dtype, shape and data_offsets of each tensor");
}

/* A count that a double holds exactly. */
static bool whole(const struct doc *doc, double most)
{
    return doc && doc->kind == DOC_NUMBER && doc->number >= 0 && doc->number <= most &&
           doc->number == floor(doc->number);
}

static bool shape_read(const char *file, const struct doc *shape, struct tensor *tensor, struct error *error)
{
    if (!shape || shape->kind != DOC_ARRAY)
        return fail(file, tensor->name, "no list 'shape'", error);
    if (shape->count > tensor_dimensions)
        return fail(file, tensor->name, "more than 6 dimensions", error);
    for (const struct doc *item = shape->first; item; item = item->next) {
        if (!whole(item, 1e12))
            return fail(file, tensor->name, "its shape has a number that is not a count", error);
        tensor->dims[tensor->dimensions++] = item->number;
    }
    return true;
}

struct tensor_span {
    double begin, end;
    const char *name;
};

static bool place_read(const char *file, const struct doc *offsets, const struct tensor *tensor,
                       struct tensor_span *place,
                       struct error *error)
{
    if (!offsets || offsets->kind != DOC_ARRAY || offsets->count != 2 || !whole(offsets->first, 1e15) ||
        !whole(offsets->last, 1e15) || offsets->first->number > offsets->last->number)
        return fail(file, tensor->name, "its data_offsets are not a begin and an end", error);
    *place = (struct tensor_span){ offsets->first->number, offsets->last->number, tensor->name };
    return true;
}

static bool tensor_read(const char *file, const struct doc *doc, struct tensor *tensor,
                        struct tensor_span *place, struct error *error)
{
    const struct doc *type = doc_get(doc, "dtype");
    *tensor = (struct tensor){ .name = doc->key };
    if (!*doc->key)
        return fail(file, "", "it has no name", error);
    if (!text_check(text_of(doc->key), file, error))
        return false;
    if (!type || type->kind != DOC_STRING || isnan(type_size(type->string)))
        return fail(file, doc->key, "its dtype is none that is known", error);
    tensor->type = type->string;
    if (!shape_read(file, doc_get(doc, "shape"), tensor, error) ||
        !place_read(file, doc_get(doc, "data_offsets"), tensor, place, error))
        return false;
    double elements = 1;
    for (size_t i = 0; i < tensor->dimensions; i++)
        elements *= tensor->dims[i];
    tensor->bytes = place->end - place->begin;
    if (type_size(tensor->type) > 0 && elements * type_size(tensor->type) != tensor->bytes)
        return fail(file, doc->key, "its shape and dtype make another number of bytes than its data_offsets",
                    error);
    return true;
}

/* ---- all ----------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct tensor_span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool apart(const char *file, struct tensor_span *places, size_t count, struct error *error)
{
    if (count)
        qsort(places, count, sizeof *places, by_place);
    for (size_t i = 1; i < count; i++)
        if (places[i].begin < places[i - 1].end && places[i].end > places[i].begin) {
            error_set(error, "%s: tensors '%.200s' and '%.200s' overlap", file, places[i - 1].name,
                      places[i].name);
            return error_expected(error, "data_offsets that give each tensor bytes of its own");
        }
    return true;
}

bool safetensors_read(struct arena *arena, const char *file, struct text header, struct tensors *tensors,
                      struct error *error)
{
    const size_t size = safetensors_size(file, header, error);
    struct doc *doc;
    if (!size)
        return false;
    if (header.size < size) {
        error_set(error, "%s: the header is cut off: %zu of %zu bytes", file, header.size, size);
        return error_expected(error, "the first %zu bytes of the file at least; the weights need not be "
                              "there", size);
    }
    struct text text = { header.data + length_bytes, size - length_bytes };
    if (!json_read(arena, file, text, &doc, error))
        return false;
    if (doc->kind != DOC_OBJECT) {
        error_set(error, "%s: the header is not a JSON object", file);
        return error_expected(error, "a header as safetensors writes it");
    }
    struct tensor_span *places = arena_array(arena, doc->count + 1, sizeof *places);
    size_t count = 0;
    for (const struct doc *item = doc->first; item; item = item->next) {
        struct tensor tensor;
        if (!strcmp(item->key, "__metadata__"))
            continue;
        if (!tensor_read(file, item, &tensor, &places[count], error))
            return false;
        *(struct tensor *)arena_push(arena, &tensors->at, &tensors->count, &tensors->room,
                                     sizeof tensor) = tensor;
        count++;
    }
    return apart(file, places, count, error);
}
