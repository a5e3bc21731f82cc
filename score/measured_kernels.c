/* Reads kernels.csv: measured times of single kernels, alone on a chip.
 *
 * Each operation and data type is the row of a kernel (formulas/serving/kernels.chalk), and the
 * columns of its shape set that row's inputs. Measurements that contradict the hardware, such as
 * more bytes per second than the memory has, are refused with that reason. */
#include "score/measured.h"

#include "build/row_names.h"

#include <string.h>

struct field {
    const char *key, *input;                    /* "key" of the shape, the row it sets */
};

enum { FIELDS = 8 };

static const struct kernel {
    const char *op, *dtype, *row;
    struct field fields[FIELDS];
} kernels[] = {
#define GEMM { { "m=", NAME_kernel_m }, { " n=", NAME_kernel_n }, { " k=", NAME_kernel_k } }
#define HEADS { "batch=", NAME_kernel_batch }, { " heads=", NAME_kernel_heads }, \
              { " kv_heads=", NAME_kernel_kv_heads }, { " head_dim=", NAME_kernel_head_dim }
#define EXPERTS { { "tokens=", NAME_kernel_tokens }, { " hidden=", NAME_kernel_hidden }, \
                  { " inter=", NAME_kernel_intermediate }, { " topk=", NAME_kernel_top_k }, \
                  { " experts=", NAME_kernel_experts }, { " moe_tp=", NAME_kernel_moe_tp }, \
                  { " moe_ep=", NAME_kernel_moe_ep } }
    { "gemm", "bfloat16", NAME_gemm_bf16, GEMM },
    { "gemm", "fp8", NAME_gemm_fp8, GEMM },
    { "gemm", "fp8_block", NAME_gemm_fp8_block, GEMM },
    { "gemm", "nvfp4", NAME_gemm_fp4, GEMM },
    { "attention_decode", "bfloat16/kv bfloat16", NAME_attention_decode_bf16,
      { HEADS, { " context=", NAME_kernel_context } } },
    { "attention_decode", "bfloat16/kv fp8", NAME_attention_decode_fp8,
      { HEADS, { " context=", NAME_kernel_context } } },
    { "attention_prefill", "bfloat16/kv bfloat16", NAME_attention_prefill_bf16,
      { HEADS, { " seq=", NAME_kernel_context } } },
    { "attention_prefill", "bfloat16/kv fp8", NAME_attention_prefill_fp8,
      { HEADS, { " seq=", NAME_kernel_context } } },
    { "attention_prefill", "fp8/kv fp8", NAME_attention_prefill_fp8,
      { HEADS, { " seq=", NAME_kernel_context } } },
    { "mla_decode", "bfloat16/kv bfloat16", NAME_mla_decode_bf16,
      { HEADS, { " context=", NAME_kernel_context } } },
    { "mla_decode", "bfloat16/kv fp8", NAME_mla_decode_fp8,
      { HEADS, { " context=", NAME_kernel_context } } },
    { "moe_experts", "bfloat16", NAME_moe_bf16, EXPERTS },
    { "moe_experts", "fp8", NAME_moe_fp8, EXPERTS },
    { "moe_experts", "fp8_block", NAME_moe_fp8_block, EXPERTS },
    { "moe_experts", "w4a16_mxfp4", NAME_moe_mxfp4, EXPERTS },
    { .op = "nccl_all_reduce", .row = NAME_nccl_all_reduce },
    { .op = "nccl_all_gather", .row = NAME_nccl_all_gather },
    { .op = "nccl_reduce_scatter", .row = NAME_nccl_all_gather },
    { .op = "nccl_alltoall", .row = NAME_nccl_alltoall },
    { .op = "custom_allreduce", .row = NAME_custom_allreduce },
#undef GEMM
#undef HEADS
#undef EXPERTS
};

/* Rows that were not what they say: they read more bytes a second than the memory has. */
static const struct {
    const char *hardware, *op, *dtype, *reason;
} doubtful[] = {
    { "A100-80GB", "attention_decode", "bfloat16/kv bfloat16",
      "13 of these 53 rows read their cache up to 1.65 x as fast as the memory can" },
    { "B200-SXM", "moe_experts", "nvfp4",
      "9 of these 55 balanced rows read their weights up to 2.7 x as fast as the memory can, "
      "others of equal work take three times as long" },
};

static const struct kernel *find(const char *op, const char *dtype)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(kernels[i].op, op) && (!kernels[i].dtype || !strcmp(kernels[i].dtype, dtype)))
            return &kernels[i];
    return NULL;
}

static const char *doubt(const struct measured *point, const char *op, const char *dtype)
{
    for (size_t i = 0; i < sizeof doubtful / sizeof *doubtful; i++)
        if (!strcmp(doubtful[i].hardware, point->machine) && !strcmp(doubtful[i].op, op) &&
            !strcmp(doubtful[i].dtype, dtype))
            return doubtful[i].reason;
    return NULL;
}

/* A message is given in elements of 2 bytes, or of 1 where they are int8. */
static bool read_message(struct measured *point, const char *shape, const char *dtype)
{
    double elements = measured_after(shape, "message_elements=");
    measured_input(point, NAME_collective_ranks, point->chips);
    measured_input(point, NAME_kernel_message, elements * (strcmp(dtype, "int8") ? 2 : 1));
    return elements > 0 && point->chips > 1;
}

static bool read_shape(struct measured *point, const struct kernel *kernel, const char *shape)
{
    bool complete = true;
    for (int i = 0; i < FIELDS && kernel->fields[i].key; i++) {
        double value = measured_after(shape, kernel->fields[i].key);
        bool latent = !strcmp(kernel->op, "mla_decode");    /* has one cache for all heads */
        if (value > 0)
            measured_input(point, kernel->fields[i].input, value);
        complete &= value > 0 || (latent && strstr(kernel->fields[i].key, "head"));
    }
    if (!strcmp(kernel->op, "moe_experts"))
        measured_input(point, NAME_kernel_skew, strstr(shape, "routing=power_law") ? 1 : 0);
    return complete;
}

static void read_row(struct arena *arena, const struct csv *csv, size_t row,
                     struct measured *point)
{
    const char *op = measured_word(csv, row, "op"), *dtype = measured_word(csv, row, "dtype");
    const char *shape = measured_word(csv, row, "shape");
    point->source = measured_word(csv, row, "source");
    point->machine = measured_word(csv, row, "hardware");
    point->kind = arena_print(arena, "%s %s", op, dtype);
    point->chips = measured_number(csv, row, "gpus");
    point->refused = doubt(point, op, dtype);
    const struct kernel *kernel = find(op, dtype);
    if (point->refused)
        return;
    if (!kernel)
        point->refused = "no row predicts this operation in this precision";
    else if (strcmp(measured_word(csv, row, "unit"), "us"))
        point->refused = "its time is not in us";
    else if (!(kernel->fields[0].key ? read_shape(point, kernel, shape)
                                     : read_message(point, shape, dtype)))
        point->refused = "its shape is not complete";
    else
        measured_value(point, METRIC_KERNEL, kernel->row,
                       measured_number(csv, row, "latency") * 1e-6);
}

void measured_kernels(struct arena *arena, const struct csv *csv, struct measured_list *list)
{
    for (size_t row = 0; row < csv->rows; row++)
        read_row(arena, csv, row, measured_add(arena, list, csv, row));
}
