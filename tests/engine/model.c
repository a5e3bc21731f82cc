/* model FILE [bf16 | q8_0] [EXPERTS] -- write a language model of random weights as GGUF, for a real engine in the tests.
 *
 *     llama: 12 layers of 768, 12 heads and 4 of keys, SwiGLU of 2,048; 8,704 tokens; 88.9 M parameters
 *     with EXPERTS: in each layer so many experts of 768 in place of it, of which a token uses two
 *
 * The tokenizer is made by hand: three control tokens, one for each byte, then words of three letters. The rows
 * of the output that belong to control and byte tokens are 0, so that what is generated is words alone, and each
 * token is a chunk of text. Same program, same bytes. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 768, LAYERS = 12, HEADS = 12, KEY_HEADS = 4, INNER = 2048, EXPERT = 768, CONTEXT = 16384, TOKENS = 8704,
    EXPERTS_USED = 2, EXPERTS_MOST = 64, HEAD = WIDTH / HEADS, BYTES_FROM = 3, WORDS_FROM = BYTES_FROM + 256, ALIGNMENT = 32
};
enum { U32 = 4, I32 = 5, F32 = 6, STRING = 8, ARRAY = 9 };         /* of GGUF's values */
enum { TENSOR_F32 = 0, TENSOR_Q8_0 = 8, TENSOR_BF16 = 30 };
enum { MOSTLY_Q8_0 = 7, MOSTLY_BF16 = 32, BLOCK = 32, BLOCK_BYTES = 34 };
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6 };            /* of tokens */
enum { TENSORS_MOST = 16 * LAYERS };

static FILE *file;
static uint64_t state = 0x9e3779b97f4a7c15;
static uint32_t matrices = TENSOR_BF16;
static uint32_t experts;

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
    key_text("general.name", experts ? "random with experts" : "random 89M");
    key_u32("general.file_type", matrices == TENSOR_BF16 ? MOSTLY_BF16 : MOSTLY_Q8_0);
    key_u32("general.alignment", ALIGNMENT);
    key_u32("llama.vocab_size", TOKENS);
    key_u32("llama.context_length", CONTEXT);
    key_u32("llama.embedding_length", WIDTH);
    key_u32("llama.block_count", LAYERS);
    key_u32("llama.feed_forward_length", experts ? EXPERT : INNER);
    if (experts) {
        key_u32("llama.expert_count", experts);
        key_u32("llama.expert_used_count", EXPERTS_USED);
    }
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
    uint64_t copies;                /* matrices: one for each expert */
    uint64_t empty;                 /* rows at the beginning that are 0 */
    uint32_t type;
} tensors[TENSORS_MOST];
static size_t tensor_count;

static struct tensor *add(const char *name, int layer, uint64_t columns, uint64_t rows, uint64_t empty)
{
    struct tensor *tensor = &tensors[tensor_count++];
    *tensor = (struct tensor){ .columns = columns, .rows = rows, .copies = 1, .empty = empty,
                               .type = rows ? matrices : TENSOR_F32 };
    if (layer < 0)
        snprintf(tensor->name, sizeof tensor->name, "%s.weight", name);
    else
        snprintf(tensor->name, sizeof tensor->name, "blk.%d.%s.weight", layer, name);
    return tensor;
}

static void add_ffn(int layer)
{
    if (!experts) {
        add("ffn_gate", layer, WIDTH, INNER, 0);
        add("ffn_up", layer, WIDTH, INNER, 0);
        add("ffn_down", layer, INNER, WIDTH, 0);
        return;
    }
    add("ffn_gate_inp", layer, WIDTH, experts, 0)->type = TENSOR_F32;
    add("ffn_gate_exps", layer, WIDTH, EXPERT, 0)->copies = experts;
    add("ffn_up_exps", layer, WIDTH, EXPERT, 0)->copies = experts;
    add("ffn_down_exps", layer, EXPERT, WIDTH, 0)->copies = experts;
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
        add_ffn(i);
    }
    add("output_norm", -1, WIDTH, 0, 0);
    add("output", -1, WIDTH, TOKENS, WORDS_FROM);
}

static uint64_t row_bytes(const struct tensor *tensor)
{
    return tensor->type == TENSOR_F32 ? 4 * tensor->columns
         : tensor->type == TENSOR_BF16 ? 2 * tensor->columns : tensor->columns / BLOCK * BLOCK_BYTES;
}

static uint64_t all_rows(const struct tensor *tensor)
{
    return tensor->rows ? tensor->copies * tensor->rows : 1;
}

static uint64_t bytes_of(const struct tensor *tensor)
{
    return (all_rows(tensor) * row_bytes(tensor) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_heads(void)
{
    uint64_t at = 0;
    for (size_t i = 0; i < tensor_count; i++) {
        const struct tensor *tensor = &tensors[i];
        put_text(tensor->name);
        put_u32(!tensor->rows ? 1 : tensor->copies > 1 ? 3 : 2);
        put_u64(tensor->columns);
        if (tensor->rows)
            put_u64(tensor->rows);
        if (tensor->copies > 1)
            put_u64(tensor->copies);
        put_u32(tensor->type);
        put_u64(at);
        at += bytes_of(tensor);
    }
}

static uint64_t draw(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* A random sign, a random fraction, and an exponent of 2^-6 to 2^-7, deviation about 0.018. */
static uint16_t bf16_weight(void)
{
    const uint64_t drawn = draw();
    const uint16_t sign = (uint16_t)(drawn >> 48 & 0x8000), exponent = (uint16_t)(120 + (drawn >> 40 & 1));
    return (uint16_t)(sign | exponent << 7 | (drawn >> 32 & 0x7f));
}

/* Whole numbers times 2^-12, deviation about 0.018. */
static void q8_0_block(uint8_t block[static BLOCK_BYTES])
{
    const uint16_t scale = 0x0c00;
    memcpy(block, &scale, sizeof scale);
    for (int i = 0; i < BLOCK; i++)
        block[2 + i] = (uint8_t)(draw() >> 40);
}

static void put_row(const struct tensor *tensor, bool empty)
{
    static uint8_t row[4 * (INNER > TOKENS ? INNER : TOKENS)];
    const uint64_t size = row_bytes(tensor);
    memset(row, 0, size);
    for (uint64_t c = 0; !empty && c < tensor->columns; c++) {
        if (tensor->type == TENSOR_F32) {
            const float value = tensor->rows ? (float)(int8_t)(draw() >> 40) / 4096 : 1;
            memcpy(row + 4 * c, &value, sizeof value);
        } else if (tensor->type == TENSOR_BF16) {
            const uint16_t value = bf16_weight();
            memcpy(row + 2 * c, &value, sizeof value);
        } else if (c % BLOCK == 0) {
            q8_0_block(row + c / BLOCK * BLOCK_BYTES);
        }
    }
    put(row, size);
}

static void put_weights(const struct tensor *tensor)
{
    static const char none[ALIGNMENT];
    for (uint64_t i = 0; i < all_rows(tensor); i++)
        put_row(tensor, i < tensor->empty);
    put(none, bytes_of(tensor) - all_rows(tensor) * row_bytes(tensor));
}

static void align(void)
{
    while (ftell(file) % ALIGNMENT)
        put("", 1);
}

int main(int count, char **words)
{
    const char *format = count > 2 ? words[2] : "bf16";
    experts = count > 3 ? (uint32_t)strtoul(words[3], NULL, 10) : 0;
    if (count < 2 || experts > EXPERTS_MOST || (strcmp(format, "bf16") && strcmp(format, "q8_0")) ||
        !(file = fopen(words[1], "wb"))) {
        fprintf(stderr, "model FILE [bf16 | q8_0] [EXPERTS]: %s\n", count < 2 ? "the file is missing" : "cannot be written");
        return 2;
    }
    matrices = strcmp(format, "bf16") ? TENSOR_Q8_0 : TENSOR_BF16;
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
