/* Reads the header of a GGUF file as a document: its keys and values, and the names, shapes and types of
 * its tensors. The tensors themselves are not read. What the keys mean is up to model.c. */
#include "import/import.h"

#include <stdio.h>
#include <string.h>

/* GGUF (ggml/docs/gguf.md), little-endian:
 *
 *     "GGUF"  u32 version  u64 tensors  u64 pairs
 *     pairs   x  { string key, u32 type, value }
 *     tensors x  { string name, u32 n, u64 dims[n], u32 type, u64 offset }
 *     string  =  { u64 size, bytes }        array = { u32 type, u64 count, values }
 *
 * Every length is checked against what is left before it is used. */
struct gguf_reader {
    struct arena *arena;
    const char *file;
    const unsigned char *start, *at, *end;
    struct error *error;
};

enum {
    pair_limit = 1 << 16, tensor_limit = 1 << 18, string_limit = 1 << 24, array_limit = 4096,
    dimension_limit = 4
};

enum value_type {
    VALUE_U8, VALUE_I8, VALUE_U16, VALUE_I16, VALUE_U32, VALUE_I32, VALUE_F32, VALUE_BOOL,
    VALUE_STRING, VALUE_ARRAY, VALUE_U64, VALUE_I64, VALUE_F64, VALUE_TYPES
};

static const unsigned char value_size[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

/* The formats of ggml.h by number; NULL: withdrawn, or never stored in a file. */
static const char *const tensor_formats[] = {
    "fp32", "fp16", "q4_0", "q4_1", NULL, NULL, "q5_0", "q5_1", "q8_0", "q8_1",
    "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q8_k", "iq2_xxs", "iq2_xs", "iq3_xxs", "iq1_s",
    "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "i8", "i16", "i32", "i64", "f64", "iq1_m",
    "bf16", NULL, NULL, NULL, "tq1_0", "tq2_0", NULL, NULL, NULL, "mxfp4-a16",
    "nvfp4-a16",
};

bool model_is_gguf(struct text head)
{
    return head.size >= 4 && !memcmp(head.data, "GGUF", 4);
}

static bool fail(struct gguf_reader *reader, const char *what)
{
    error_set(reader->error, "%s: byte %zu: %s", reader->file, (size_t)(reader->at - reader->start), what);
    return error_expected(reader->error, "the header of a GGUF file, whole");
}

static bool short_header(struct gguf_reader *reader)
{
    fail(reader, "the GGUF header is truncated");
    return error_expected(reader->error, "a whole header, which is at the start of the file");
}

/* ---- numbers and strings ------------------------------------------------------------- */

static bool read_bits(struct gguf_reader *reader, size_t size, uint64_t *value)
{
    *value = 0;
    if ((size_t)(reader->end - reader->at) < size)
        return short_header(reader);
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += size;
    return true;
}

static double float_of(uint64_t bits, bool wide)
{
    double number;
    float narrow;
    uint32_t half = (uint32_t)bits;
    memcpy(&number, &bits, sizeof number);
    memcpy(&narrow, &half, sizeof narrow);
    return wide ? number : (double)narrow;
}

static double number_of(uint64_t bits, enum value_type type)
{
    switch (type) {
    case VALUE_I8:  return (int8_t)bits;
    case VALUE_I16: return (int16_t)bits;
    case VALUE_I32: return (int32_t)bits;
    case VALUE_I64: return (double)(int64_t)bits;
    case VALUE_F32: return float_of(bits, false);
    case VALUE_F64: return float_of(bits, true);
    default:        return (double)bits;
    }
}

static bool read_string(struct gguf_reader *reader, struct text *string)
{
    uint64_t size;
    if (!read_bits(reader, 8, &size))
        return false;
    if (size > string_limit)
        return fail(reader, "a string of more than 16 MiB");
    if ((size_t)(reader->end - reader->at) < size)
        return short_header(reader);
    *string = (struct text){ (const char *)reader->at, (size_t)size };
    reader->at += size;
    return true;
}

static const char *keep_string(struct gguf_reader *reader, struct text string)
{
    return arena_copy(reader->arena, string.data, string.size);
}

/* A key or the name of a tensor. */
static bool read_name(struct gguf_reader *reader, const char **name)
{
    struct text string;
    if (!read_string(reader, &string) || !text_check(string, reader->file, reader->error))
        return false;
    *name = keep_string(reader, string);
    return true;
}

/* ---- values -------------------------------------------------------------------------- */

static bool read_value(struct gguf_reader *reader, enum value_type type, const char *key,
                       struct doc *parent)
{
    if (type == VALUE_STRING) {
        struct text string;
        if (!read_string(reader, &string))
            return false;
        doc_add_string(reader->arena, parent, key, keep_string(reader, string));
        return true;
    }
    uint64_t bits;
    if (!read_bits(reader, value_size[type], &bits))
        return false;
    double number = number_of(bits, type);
    if (type == VALUE_BOOL)
        doc_add_bool(reader->arena, parent, key, bits != 0);
    else if (number - number == 0)              /* finite */
        doc_add_number(reader->arena, parent, key, number);
    return true;
}

/* A vocabulary has hundreds of thousands of strings, of which only the count matters. */
static bool skip_values(struct gguf_reader *reader, enum value_type type, uint64_t count)
{
    struct text string;
    for (uint64_t i = 0; type == VALUE_STRING && i < count; i++)
        if (!read_string(reader, &string))
            return false;
    if (type == VALUE_STRING)
        return true;
    if ((uint64_t)(reader->end - reader->at) / value_size[type] < count)
        return short_header(reader);
    reader->at += count * value_size[type];
    return true;
}

static bool read_array(struct gguf_reader *reader, const char *key, struct doc *parent)
{
    uint64_t type, count;
    if (!read_bits(reader, 4, &type) || !read_bits(reader, 8, &count))
        return false;
    if (type >= VALUE_TYPES || type == VALUE_ARRAY)
        return fail(reader, "an array of an unknown type, or of arrays");
    if (count > array_limit) {
        doc_add_number(reader->arena, parent, key, (double)count);
        return skip_values(reader, (enum value_type)type, count);
    }
    struct doc *array = doc_add(reader->arena, parent, key, DOC_ARRAY);
    for (uint64_t i = 0; i < count; i++)
        if (!read_value(reader, (enum value_type)type, NULL, array))
            return false;
    return true;
}

static bool read_pair(struct gguf_reader *reader, struct doc *doc)
{
    const char *key;
    uint64_t type;
    if (!read_name(reader, &key) || !read_bits(reader, 4, &type))
        return false;
    if (type == VALUE_ARRAY)
        return read_array(reader, key, doc);
    if (type >= VALUE_TYPES)
        return fail(reader, "a value of an unknown type");
    return read_value(reader, (enum value_type)type, key, doc);
}

/* ---- tensors ------------------------------------------------------------------------- */

static bool read_tensor_type(struct gguf_reader *reader, struct doc *tensor)
{
    uint64_t type, offset;
    if (!read_bits(reader, 4, &type))
        return false;
    size_t known = sizeof tensor_formats / sizeof *tensor_formats;
    if (type >= known || !tensor_formats[type]) {
        error_set(reader->error, "%s: tensor %s has the unknown type %u", reader->file,
                  tensor->first->string, (unsigned)type);
        return error_expected(reader->error, "a type of ggml.h up to %zu", known - 1);
    }
    doc_add_string(reader->arena, tensor, "type", tensor_formats[type]);
    return read_bits(reader, 8, &offset);
}

static bool read_tensor(struct gguf_reader *reader, struct doc *tensors)
{
    const char *name;
    uint64_t dimensions, size;
    if (!read_name(reader, &name) || !read_bits(reader, 4, &dimensions))
        return false;
    if (dimensions > dimension_limit)
        return fail(reader, "a tensor of more than 4 dimensions");
    struct doc *tensor = doc_add(reader->arena, tensors, NULL, DOC_OBJECT);
    doc_add_string(reader->arena, tensor, "name", name);
    struct doc *dims = doc_add(reader->arena, tensor, "dims", DOC_ARRAY);
    for (uint64_t i = 0; i < dimensions; i++) {
        if (!read_bits(reader, 8, &size))
            return false;
        if (size < 1 || size > (uint64_t)1e9)
            return fail(reader, "a dimension outside 1 to 1e9");
        doc_add_number(reader->arena, dims, NULL, (double)size);
    }
    return read_tensor_type(reader, tensor);
}

/* ---- the header ---------------------------------------------------------------------- */

static bool read_version(struct gguf_reader *reader)
{
    uint64_t version;
    reader->at += 4;
    if (!read_bits(reader, 4, &version))
        return false;
    if (version == 2 || version == 3)
        return true;
    error_set(reader->error, "%s: GGUF version %u", reader->file, (unsigned)version);
    return error_expected(reader->error, version == 0x03000000 ? "version 3, little-endian"
                                                               : "version 2 or 3");
}

bool gguf_read(struct arena *arena, const char *file, struct text header, struct doc **doc,
               struct error *error)
{
    const unsigned char *data = (const unsigned char *)header.data;
    struct gguf_reader reader = { .arena = arena, .file = file, .start = data, .at = data,
                             .end = data + header.size, .error = error };
    uint64_t tensors, pairs;
    if (!model_is_gguf(header))
        return error_set(error, "%s: not a GGUF file", file) || error_expected(error, "a file that begins with GGUF");
    if (!read_version(&reader) || !read_bits(&reader, 8, &tensors) || !read_bits(&reader, 8, &pairs))
        return false;
    if (tensors > tensor_limit || pairs > pair_limit)
        return fail(&reader, "more tensors or metadata than a model has");
    *doc = doc_new(arena, DOC_OBJECT);
    for (uint64_t i = 0; i < pairs; i++)
        if (!read_pair(&reader, *doc))
            return false;
    struct doc *list = doc_add(arena, *doc, "tensors", DOC_ARRAY);
    for (uint64_t i = 0; i < tensors; i++)
        if (!read_tensor(&reader, list))
            return false;
    return true;
}
