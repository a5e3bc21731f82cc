/* import_test -- models in, facts out: import.cases (parameters), import_cells.cases (single
 * facts), import_errors.cases (what is refused), and GGUF headers made here. */
#include "test.h"

#include "import/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    int done, failed, skipped;
};

static void check(struct tally *tally, bool good, const char *format, ...) BASE_PRINTF(3, 4);
static void check(struct tally *tally, bool good, const char *format, ...)
{
    tally->done++;
    if (good)
        return;
    tally->failed++;
    va_list list;
    va_start(list, format);
    fprintf(stderr, "import_test: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
}

/* ---- one model ----------------------------------------------------------------------- */

static bool formats_open(struct arena *arena, struct formats *formats, struct error *error)
{
    struct text text;
    struct csv csv;
    return file_read(arena, "data/formats.csv", 1 << 20, &text, error)
        && csv_read(arena, "data/formats.csv", text, &csv, error)
        && formats_read(arena, &csv, formats, error);
}

static bool model_open(struct arena *arena, const char *path, const struct model_options *options,
                       struct facts *facts, struct error *error)
{
    struct text text;
    struct doc *doc;
    *facts = (struct facts){ .arena = arena };
    return file_read(arena, path, 1 << 24, &text, error)
        && json_read(arena, path, text, &doc, error)
        && model_config(arena, doc, path, options, facts, error);
}

static double cell(const struct fact_table *table, size_t entry, const char *column)
{
    for (size_t j = 0; j < table->columns; j++)
        if (!strcmp(table->column[j], column))
            return table->cell[entry * table->columns + j].value;
    return NAN;
}

struct sums {
    double total, active, cached;
};

static struct sums sums_of(struct facts *facts)
{
    struct sums sums = { 0 };
    const struct fact_table *table = facts_table(facts, "operator");
    for (size_t i = 0; i < table->entries; i++) {
        double weights = cell(table, i, "operator_layers") * cell(table, i, "operator_in")
                       * cell(table, i, "operator_out");
        sums.total += weights * cell(table, i, "operator_copies");
        sums.active += weights * cell(table, i, "operator_used");
    }
    table = facts_table(facts, "layer");
    for (size_t i = 0; i < table->entries; i++) {
        double entries = cell(table, i, "entries_per_token");
        if (entries == 0)
            entries = cell(table, i, "attention_window") > 0;
        sums.cached += cell(table, i, "layers_storing") * cell(table, i, "cache_elements") * entries;
    }
    return sums;
}

/* ---- cases --------------------------------------------------------------------------- */

/* "a | b | c" to trimmed, terminated parts; returns how many. */
static size_t split(struct arena *arena, struct text line, const char **parts, size_t most)
{
    size_t count = 0;
    while (count < most) {
        const char *bar = line.size ? memchr(line.data, '|', line.size) : NULL;
        size_t size = bar ? (size_t)(bar - line.data) : line.size;
        struct text part = text_trim((struct text){ line.data, size });
        parts[count++] = arena_copy(arena, part.data, part.size);
        if (!bar)
            break;
        line = (struct text){ bar + 1, line.size - size - 1 };
    }
    return count;
}

/* NULL: a published file that is not there. */
static const char *case_path(struct arena *arena, const char *file)
{
    if (strncmp(file, "shared:", 7))
        return arena_print(arena, "tests/fixtures/configs/%s", file);
    return shared_file(arena, arena_print(arena, "configs/%s", file + 7));
}

static void test_sums(struct tally *tally, const struct model_options *options,
                      const char *const parts[5])
{
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    const char *path = case_path(&arena, parts[1]);
    if (!path) {
        tally->skipped++;
    } else if (!model_open(&arena, path, options, &facts, &error)) {
        check(tally, false, "%s (%s)", error.what, error.hint);
    } else {
        struct sums sums = sums_of(&facts);
        const double got[3] = { sums.total, sums.active, sums.cached };
        static const char *const what[3] = { "parameters", "used by a token", "cached elements" };
        for (int i = 0; i < 3; i++)
            check(tally, got[i] == strtod(parts[2 + i], NULL), "%s: %s: expected %s, got %.12g",
                  parts[0], what[i], parts[2 + i], got[i]);
    }
    arena_free(&arena);
}

static const struct fact *case_fact(struct facts *facts, const char *const parts[4])
{
    if (!strcmp(parts[1], "scalar"))
        return facts_find(facts, parts[2]);
    const struct fact_table *table = facts_table(facts, parts[1]);
    for (size_t i = 0; i < table->entries; i++)
        for (size_t j = 0; j < table->columns; j++)
            if (!strcmp(table->entry[i], parts[2]) && !strcmp(table->column[j], parts[3]))
                return &table->cell[i * table->columns + j];
    return NULL;
}

static void test_cell(struct tally *tally, const struct model_options *options,
                      const char *const parts[5])
{
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    const char *path = case_path(&arena, parts[0]);
    const struct fact *fact;
    if (!path)
        tally->skipped++;
    else if (!model_open(&arena, path, options, &facts, &error))
        check(tally, false, "%s (%s)", error.what, error.hint);
    else if (!(fact = case_fact(&facts, parts)))
        check(tally, false, "%s: no %s %s %s", parts[0], parts[1], parts[2], parts[3]);
    else if (fact->expression)
        check(tally, !strcmp(fact->expression, parts[4]), "%s: %s %s: expected %s, got %s",
              parts[0], parts[2], parts[3], parts[4], fact->expression);
    else
        check(tally, fact->value == strtod(parts[4], NULL), "%s: %s %s: expected %s, got %.17g",
              parts[0], parts[2], parts[3], parts[4], fact->value);
    arena_free(&arena);
}

typedef void case_test(struct tally *tally, const struct model_options *options,
                       const char *const parts[5]);

static void run_lines(struct tally *tally, const struct model_options *options, const char *file,
                      case_test *test)
{
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct text rest, line;
    if (!file_read(&arena, file, 1 << 20, &rest, &error)) {
        check(tally, false, "%s", error.what);
        return;
    }
    while (rest.size) {
        line = text_trim(text_line(&rest));
        const char *parts[5] = { "", "", "", "", "" };
        if (!line.size || line.data[0] == '#')
            continue;
        size_t count = split(&arena, line, parts, 5);
        check(tally, count == 5, "%s: a line of %zu parts: %.*s", file, count, (int)line.size,
              line.data);
        if (count == 5)
            test(tally, options, parts);
    }
    arena_free(&arena);
}

/* ---- errors -------------------------------------------------------------------------- */

static const char small_llama[] =
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, \"vocab_size\": 100,"
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 16,"
    " \"intermediate_size\": 96, \"torch_dtype\": \"bfloat16\"}";

/* The fields of `patch` into `doc`, over what is there. */
static void patch_doc(struct arena *arena, struct doc *doc, const struct doc *patch)
{
    for (const struct doc *from = patch->first; from; from = from->next) {
        struct doc *to = (struct doc *)(uintptr_t)doc_get(doc, from->key);
        if (!to)
            to = doc_add(arena, doc, from->key, from->kind);
        struct doc copy = *from;
        copy.next = to->next;
        *to = copy;
    }
}

static bool small_open(struct arena *arena, struct text patch, const struct model_options *options,
                       struct facts *facts, struct error *error)
{
    struct doc *doc, *fields;
    *facts = (struct facts){ .arena = arena };
    bool llama = patch.size > 6 && !memcmp(patch.data, "llama ", 6);
    if (llama)
        patch = (struct text){ patch.data + 6, patch.size - 6 };
    if (!json_read(arena, "case", patch, &fields, error))
        return false;
    if (!llama)
        return model_config(arena, fields, "case", options, facts, error);
    if (!json_read(arena, "case", text_of(small_llama), &doc, error))
        return false;
    patch_doc(arena, doc, fields);
    return model_config(arena, doc, "case", options, facts, error);
}

static void test_error(struct tally *tally, const struct model_options *options,
                       struct text config, struct text expected)
{
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    const char *part = arena_copy(&arena, expected.data, expected.size);
    bool good = small_open(&arena, config, options, &facts, &error);
    check(tally, !good, "accepted: %.*s", (int)config.size, config.data);
    check(tally, good || strstr(error.what, part) || strstr(error.hint, part),
          "%.*s\n    expected: %s\n    got: %s (%s)", (int)config.size, config.data, part,
          error.what, error.hint);
    arena_free(&arena);
}

static void run_errors(struct tally *tally, const struct model_options *options)
{
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct text rest;
    if (!file_read(&arena, "tests/cases/import_errors.cases", 1 << 20, &rest, &error)) {
        check(tally, false, "%s", error.what);
        return;
    }
    while (rest.size) {
        struct text line = text_line(&rest);
        if (line.size && line.data[0] != '#')
            test_error(tally, options, line, text_line(&rest));
    }
    arena_free(&arena);
}

/* ---- options ------------------------------------------------------------------------- */

static double bytes_of(struct facts *facts, const char *name)
{
    const struct fact_table *table = facts_table(facts, "operator");
    for (size_t i = 0; i < table->entries; i++)
        if (!strcmp(table->entry[i], name))
            return cell(table, i, "operator_bytes");
    return NAN;
}

static void test_options(struct tally *tally, const struct formats *formats)
{
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    struct text plain = text_of("llama {}");
    struct model_options options = { .formats = formats, .weights = "NVFP4", .kv = "fp8" };
    bool good = small_open(&arena, plain, &options, &facts, &error);
    check(tally, good && bytes_of(&facts, "q_proj") == 0.5625 && bytes_of(&facts, "lm_head") == 2
          && facts_find(&facts, "kv_bytes")->value == 1, "--weights, --kv: %s", error.what);
    options.weights = "nvfp5";
    good = small_open(&arena, plain, &options, &facts, &error);
    check(tally, !good && strstr(error.hint, "nvfp4"), "weights nvfp5: %s (%s)", error.what,
          error.hint);
    options = (struct model_options){ .formats = formats, .assume = true };
    good = small_open(&arena, text_of("llama {\"model_type\": \"novel\", \"torch_dtype\": null, \"hidden_act\": "
                                        "\"silu\", \"tie_word_embeddings\": false}"),
                      &options, &facts, &error);
    check(tally, good && facts.note_count >= 3, "assume: %s, %zu notes", error.what,
          facts.note_count);
    arena_free(&arena);
}

/* ---- GGUF ---------------------------------------------------------------------------- */

static void put(struct buffer *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_add(out, &(char){ (char)(value >> (8 * i)) }, 1);
}

static void put_string(struct buffer *out, const char *string)
{
    put(out, strlen(string), 8);
    buffer_add(out, string, strlen(string));
}

static void put_count(struct buffer *out, const char *key, uint64_t value)
{
    put_string(out, key);
    put(out, 4, 4);                                         /* u32 */
    put(out, value, 4);
}

static void put_tensor(struct buffer *out, const char *name, uint64_t type, size_t dimensions,
                       const uint64_t dims[3])
{
    put_string(out, name);
    put(out, dimensions, 4);
    for (size_t i = 0; i < dimensions; i++)
        put(out, dims[i], 8);
    put(out, type, 4);
    put(out, 0, 8);
}

/* A tied model of two layers and one for prediction, the second with 8 experts of which 2 are used. One key may have
 * another value. */
static struct text gguf_with(struct arena *arena, const char *key, uint64_t value)
{
    static const struct { const char *key; uint64_t value; } counts[] = {
        { "block_count", 3 }, { "nextn_predict_layers", 1 }, { "embedding_length", 256 }, { "attention.head_count", 8 },
        { "attention.head_count_kv", 2 }, { "attention.key_length", 64 }, { "feed_forward_length", 512 },
        { "expert_feed_forward_length", 128 }, { "expert_count", 8 }, { "expert_used_count", 2 } };
    struct buffer out = { .arena = arena };
    buffer_add(&out, "GGUF", 4);
    put(&out, 3, 4);
    put(&out, 10, 8);
    put(&out, 2 + sizeof counts / sizeof *counts, 8);
    put_string(&out, "general.architecture");
    put(&out, 8, 4);
    put_string(&out, "qwen3moe");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        put_count(&out, arena_print(arena, "qwen3moe.%s", counts[i].key), strcmp(counts[i].key, key) ? counts[i].value : value);
    put_string(&out, "tokenizer.ggml.tokens");
    put(&out, 9, 4);                                        /* an array of strings */
    put(&out, 8, 4);
    put(&out, 5000, 8);
    for (int i = 0; i < 5000; i++)
        put_string(&out, "t");
    put_tensor(&out, "token_embd.weight", 14, 2, (uint64_t[]){ 256, 5000, 0 });
    put_tensor(&out, "output_norm.weight", 0, 1, (uint64_t[]){ 256, 0, 0 });
    put_tensor(&out, "blk.0.attn_q.weight", 12, 2, (uint64_t[]){ 256, 512, 0 });
    put_tensor(&out, "blk.1.attn_q.weight", 12, 2, (uint64_t[]){ 256, 512, 0 });
    put_tensor(&out, "blk.0.attn_v.weight", 14, 2, (uint64_t[]){ 256, 128, 0 });
    put_tensor(&out, "blk.1.attn_v.weight", 12, 2, (uint64_t[]){ 256, 128, 0 });
    put_tensor(&out, "blk.1.ffn_gate_exps.weight", 12, 3, (uint64_t[]){ 256, 128, 8 });
    put_tensor(&out, "blk.1.ffn_gate_inp.weight", 0, 2, (uint64_t[]){ 256, 8, 0 });
    put_tensor(&out, "blk.2.attn_q.weight", 12, 2, (uint64_t[]){ 256, 512, 0 });
    put_tensor(&out, "rope_freqs.weight", 0, 1, (uint64_t[]){ 32, 0, 0 });
    return (struct text){ out.data, out.size };
}

static struct text small_gguf(struct arena *arena)
{
    return gguf_with(arena, "", 0);
}

static bool gguf_open(struct arena *arena, struct text header, const struct model_options *options,
                      struct facts *facts, struct error *error)
{
    struct doc *doc;
    *facts = (struct facts){ .arena = arena };
    return gguf_read(arena, "small.gguf", header, &doc, error)
        && model_gguf(arena, doc, "small.gguf", options, facts, error);
}

static void test_gguf(struct tally *tally, const struct model_options *options)
{
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    bool good = gguf_open(&arena, small_gguf(&arena), options, &facts, &error);
    check(tally, good, "gguf: %s (%s)", error.what, error.hint);
    if (good) {
        struct sums sums = sums_of(&facts);
        double shared = 256.0 * 5000 + 256 + 2 * 256.0 * 512 + 2 * 256.0 * 128 + 256 * 8;
        check(tally, sums.total == shared + 256 * 128 * 8, "gguf: total %.0f", sums.total);
        check(tally, sums.active == shared + 256 * 128 * 2, "gguf: active %.0f", sums.active);
        check(tally, sums.cached == 2 * 2 * 2 * 64, "gguf: cached %.0f", sums.cached);
        check(tally, bytes_of(&facts, "attn_q") == 0.5625, "gguf: attn_q");
        check(tally, bytes_of(&facts, "attn_v-2") == 0.5625, "gguf: attn_v in two formats");
        check(tally, facts_find(&facts, "vocabulary")->value == 5000, "gguf: vocabulary");
    }
    arena_free(&arena);
}

/* A key that says other than the tensors is refused by name, with the tensor. */
static void test_gguf_contradicts(struct tally *tally, const struct model_options *options)
{
    static const struct { const char *key; uint64_t value; const char *tensor, *expected; } lies[] = {
        { "block_count", 80, "have 3 layers; the last is that of blk.2.attn_q.weight", "a block_count of 3" },
        { "block_count", 2, "have 3 layers; the last is that of blk.2.attn_q.weight", "a block_count of 3" },
        { "block_count", 0, "no qwen3moe.block_count", "3, by its tensors" },
        { "embedding_length", 128, "token_embd.weight is 256 x 5000", "make 128 of that size, the tensor has 256" },
        { "attention.head_count", 4, "with qwen3moe.attention.key_length 64, but the tensor blk.0.attn_q.weight is 256 x 512",
          "make 256 of that size, the tensor has 512" },
        { "attention.key_length", 32, "blk.0.attn_q.weight", "make 256" },
        { "attention.head_count_kv", 4, "blk.0.attn_v.weight is 256 x 128", "make 256 of that size, the tensor has 128" },
        { "expert_count", 16, "blk.1.ffn_gate_exps.weight is 256 x 128 x 8", "make 16" } };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct arena arena = { 0 };
        struct facts facts;
        struct error error = { .what = "" };
        const bool good = gguf_open(&arena, gguf_with(&arena, lies[i].key, lies[i].value), options, &facts, &error);
        check(tally, !good && strstr(error.what, lies[i].key) && strstr(error.what, lies[i].tensor) &&
              strstr(error.hint, lies[i].expected), "gguf: %s: %s (%s)", lies[i].key, error.what, error.hint);
        arena_free(&arena);
    }
    /* Without the number of heads and their size, that is what is missing. */
    struct arena arena = { 0 };
    struct facts facts;
    struct error error = { .what = "" };
    const struct text header = small_gguf(&arena);
    static const char *const gone[] = { "attention.head_count", "attention.key_length" };
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 0, size = strlen(gone[i]); at + size < header.size; at++)
            if (!memcmp(header.data + at, gone[i], size) && header.data[at + size] != '_')
                ((char *)(uintptr_t)header.data)[at] = 'x';
    check(tally, !gguf_open(&arena, header, options, &facts, &error) && starts_with(error.what + strlen("small.gguf: "),
          "no qwen3moe.attention.head_count:"), "gguf without heads: %s", error.what);
    arena_free(&arena);
}

/* Every beginning of a header is refused; so are lengths that lie. */
static void test_gguf_hostile(struct tally *tally, const struct model_options *options)
{
    struct arena arena = { 0 };
    struct text whole = small_gguf(&arena);
    static const size_t lies[] = { 4, 8, 15, 16, 23, 24, 31, 60, 63 };
    for (size_t size = 0; size < whole.size; size += size < 400 ? 1 : 97) {
        struct arena inner = { 0 };
        struct facts facts;
        struct error error = { .what = "" };
        bool good = gguf_open(&inner, (struct text){ whole.data, size }, options, &facts, &error);
        check(tally, !good && error.what[0], "gguf: %zu of %zu bytes accepted", size, whole.size);
        arena_free(&inner);
    }
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct arena inner = { 0 };
        struct facts facts;
        struct error error = { .what = "" };
        char *copy = arena_copy(&inner, whole.data, whole.size);
        copy[lies[i]] = (char)0xff;
        bool good = gguf_open(&inner, (struct text){ copy, whole.size }, options, &facts, &error);
        check(tally, !good && error.what[0], "gguf: 0xff at byte %zu accepted", lies[i]);
        arena_free(&inner);
    }
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = { 0 };
    struct tally tally = { 0 };
    struct formats formats;
    struct error error = { .what = "" };
    if (!formats_open(&arena, &formats, &error)) {
        fprintf(stderr, "import_test: %s (%s)\n", error.what, error.hint);
        return 1;
    }
    struct model_options options = { .formats = &formats };
    run_lines(&tally, &options, "tests/cases/import.cases", test_sums);
    run_lines(&tally, &options, "tests/cases/import_cells.cases", test_cell);
    run_errors(&tally, &options);
    test_options(&tally, &formats);
    test_gguf(&tally, &options);
    test_gguf_contradicts(&tally, &options);
    test_gguf_hostile(&tally, &options);
    printf("import_test: %d checks, %d failed, %d skipped\n", tally.done, tally.failed,
           tally.skipped);
    arena_free(&arena);
    return tally.failed != 0;
}
