/* model FILE -- write a language model of random weights as GGUF, for a real engine in the tests.
 *
 *     llama: 12 layers of 768, 12 heads and 4 of keys, SwiGLU of 2,048; 8,704 tokens; BF16; 88.9 M parameters
 *
 * The tokenizer is made by hand: three control tokens, one for each byte, then words of three letters. The rows
 * of the output that belong to control and byte tokens are 0, so that what is generated is words alone, and each
 * token is a chunk of text. Same program, same bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 768, LAYERS = 12, HEADS = 12, KEY_HEADS = 4, INNER = 2048, CONTEXT = 16384, TOKENS = 8704,
    HEAD = WIDTH / HEADS, BYTES_FROM = 3, WORDS_FROM = BYTES_FROM + 256, ALIGNMENT = 32
};
enum { U32 = 4, I32 = 5, F32 = 6, STRING = 8, ARRAY = 9 };         /* of GGUF's values */
enum { TENSOR_F32 = 0, TENSOR_BF16 = 30 };
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6 };            /* of tokens */
enum { TENSORS_MOST = 16 * LAYERS };

static FILE *file;
static uint64_t state = 0x9e3779b97f4a7c15;

static void put(const void *data, size_t size)
{
    if (fwrite(data, 1, size, file) != size) {
        perror("model");
        exit(1);
    }
}

static void put_u32(uint32_t value) { put(&value, sizeof value); }
static void put_u64(uint64_t value) { put(&value, sizeof value); }
static void put_f32(float value) { put(&value, sizeof value); }

static void put_text(const char *text)
{
    put_u64(strlen(text));
    put(text, strlen(text));
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static unsigned pairs;

static void key(const char *name, uint32_t type)
{
    put_text(name);
    put_u32(type);
    pairs++;
}

static void key_u32(const char *name, uint32_t value) { key(name, U32); put_u32(value); }
static void key_f32(const char *name, float value) { key(name, F32); put_f32(value); }
static void key_text(const char *name, const char *value) { key(name, STRING); put_text(value); }

static void key_tokens(const char *name, uint32_t type)
{
    key(name, ARRAY);
    put_u32(type);
    put_u64(TOKENS);
}

/* Token i as the tokenizer spells it; "\342\226\201" is its space. */
static void spell(char text[static 16], int i)
{
    static const char *const control[BYTES_FROM] = { "<unk>", "<s>", "</s>" };
    const int word = i - WORDS_FROM;
    if (i < BYTES_FROM)
        snprintf(text, 16, "%s", control[i]);
    else if (i < WORDS_FROM)
        snprintf(text, 16, "<0x%02X>", (unsigned)(i - BYTES_FROM));
    else
        snprintf(text, 16, "\342\226\201%c%c%c", 'a' + word / 676 % 26, 'a' + word / 26 % 26, 'a' + word % 26);
}

static void put_keys(void)
{
    char text[16];
    key_text("general.architecture", "llama");
    key_text("general.name", "random 89M");
    key_u32("general.file_type", 32);               /* mostly BF16 */
    key_u32("general.alignment", ALIGNMENT);
    key_u32("llama.vocab_size", TOKENS);
    key_u32("llama.context_length", CONTEXT);
    key_u32("llama.embedding_length", WIDTH);
    key_u32("llama.block_count", LAYERS);
    key_u32("llama.feed_forward_length", INNER);
    key_u32("llama.attention.head_count", HEADS);
    key_u32("llama.attention.head_count_kv", KEY_HEADS);
    key_u32("llama.rope.dimension_count", HEAD);
    key_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    key_text("tokenizer.ggml.model", "llama");
    key_u32("tokenizer.ggml.unknown_token_id", 0);
    key_u32("tokenizer.ggml.bos_token_id", 1);
    key_u32("tokenizer.ggml.eos_token_id", 2);
    key_tokens("tokenizer.ggml.tokens", STRING);
    for (int i = 0; i < TOKENS; i++) {
        spell(text, i);
        put_text(text);
    }
    key_tokens("tokenizer.ggml.scores", F32);
    for (int i = 0; i < TOKENS; i++)
        put_f32(i < WORDS_FROM ? 0 : -(float)i);
    key_tokens("tokenizer.ggml.token_type", I32);
    for (int i = 0; i < TOKENS; i++)
        put_u32(i == 0 ? UNKNOWN : i < BYTES_FROM ? CONTROL : i < WORDS_FROM ? BYTE : NORMAL);
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

static struct tensor {
    char name[48];
    uint64_t columns, rows;         /* rows 0: a vector of ones in fp32 */
    uint64_t empty;                 /* rows at the beginning that are 0 */
} tensors[TENSORS_MOST];
static size_t tensor_count;

static void add(const char *name, int layer, uint64_t columns, uint64_t rows, uint64_t empty)
{
    struct tensor *tensor = &tensors[tensor_count++];
    *tensor = (struct tensor){ .columns = columns, .rows = rows, .empty = empty };
    if (layer < 0)
        snprintf(tensor->name, sizeof tensor->name, "%s.weight", name);
    else
        snprintf(tensor->name, sizeof tensor->name, "blk.%d.%s.weight", layer, name);
}

static void add_all(void)
{
    add("token_embd", -1, WIDTH, TOKENS, 0);
    for (int i = 0; i < LAYERS; i++) {
        add("attn_norm", i, WIDTH, 0, 0);
        add("attn_q", i, WIDTH, WIDTH, 0);
        add("attn_k", i, WIDTH, KEY_HEADS * HEAD, 0);
        add("attn_v", i, WIDTH, KEY_HEADS * HEAD, 0);
        add("attn_output", i, WIDTH, WIDTH, 0);
        add("ffn_norm", i, WIDTH, 0, 0);
        add("ffn_gate", i, WIDTH, INNER, 0);
        add("ffn_up", i, WIDTH, INNER, 0);
        add("ffn_down", i, INNER, WIDTH, 0);
    }
    add("output_norm", -1, WIDTH, 0, 0);
    add("output", -1, WIDTH, TOKENS, WORDS_FROM);
}

static uint64_t bytes_of(const struct tensor *tensor)
{
    const uint64_t bytes = tensor->rows ? 2 * tensor->rows * tensor->columns : 4 * tensor->columns;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_heads(void)
{
    uint64_t at = 0;
    for (size_t i = 0; i < tensor_count; i++) {
        const struct tensor *tensor = &tensors[i];
        put_text(tensor->name);
        put_u32(tensor->rows ? 2 : 1);
        put_u64(tensor->columns);
        if (tensor->rows)
            put_u64(tensor->rows);
        put_u32(tensor->rows ? TENSOR_BF16 : TENSOR_F32);
        put_u64(at);
        at += bytes_of(tensor);
    }
}

/* Of BF16: a random sign, a random fraction, and an exponent of 2^-6 to 2^-7, deviation about 0.018. */
static uint16_t weight(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const uint16_t sign = (uint16_t)(state >> 48 & 0x8000), exponent = (uint16_t)(120 + (state >> 40 & 1));
    return (uint16_t)(sign | exponent << 7 | (state >> 32 & 0x7f));
}

static void put_weights(const struct tensor *tensor)
{
    static uint16_t row[INNER > TOKENS ? INNER : TOKENS];
    static const char none[ALIGNMENT];
    for (uint64_t i = 0; i < tensor->rows; i++) {
        for (uint64_t c = 0; c < tensor->columns; c++)
            row[c] = i < tensor->empty ? 0 : weight();
        put(row, 2 * tensor->columns);
    }
    for (uint64_t c = 0; !tensor->rows && c < tensor->columns; c++)
        put_f32(1);
    put(none, bytes_of(tensor) - (tensor->rows ? 2 * tensor->rows : 4) * tensor->columns);
}

static void align(void)
{
    while (ftell(file) % ALIGNMENT)
        put("", 1);
}

int main(int count, char **words)
{
    if (count != 2 || !(file = fopen(words[1], "wb"))) {
        fprintf(stderr, "model FILE: %s\n", count == 2 ? "cannot be written" : "the file is missing");
        return 2;
    }
    add_all();
    for (int pass = 0; pass < 2; pass++) {          /* the first counts the keys */
        const uint32_t keys = pairs;
        pairs = 0;
        rewind(file);
        put("GGUF", 4);
        put_u32(3);
        put_u64(tensor_count);
        put_u64(keys);
        put_keys();
    }
    put_heads();
    align();
    for (size_t i = 0; i < tensor_count; i++)
        put_weights(&tensors[i]);
    return fclose(file) != 0;
}
