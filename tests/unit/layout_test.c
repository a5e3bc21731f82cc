/* Layouts: what each line of the language does, on sheets written here; and the sheets that others
 * published, whose cells below were read by hand. */
#include "test.h"

#include "base/embedded.h"
#include "rows/rows.h"
#include "score/layout.h"

#include <math.h>

struct world {
    struct arena arena;
    struct error error;
};

static int world_open(void **state)
{
    *state = calloc(1, sizeof(struct world));
    return !*state;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static struct csv sheet_of(struct world *world, const char *file, struct text text)
{
    struct csv csv;
    if (!csv_read(&world->arena, file, text, &csv, &world->error))
        fail_msg("%s", world->error.what);
    return csv;
}

/* What the lines write of the sheet; NULL with world->error. */
static const char *written(struct world *world, const char *lines, const char *sheet)
{
    const char *text = arena_print(&world->arena, "has a\n%s\n", lines);
    struct file_layout *layout = layout_read(&world->arena, "x.layout", text_of(text), &world->error);
    const struct csv csv = sheet_of(world, "x.csv", text_of(sheet));
    struct buffer out = { .arena = &world->arena };
    return layout && layout_apply(&world->arena, layout, &csv, &out, &world->error) ? out.data : NULL;
}

static void writes(struct world *world, const char *lines, const char *sheet, const char *wanted)
{
    const char *out = written(world, lines, sheet);
    if (!out)
        fail_msg("%s", world->error.what);
    assert_string_equal(out, wanted);
}

static void wrong(struct world *world, const char *lines, const char *sheet, const char *what)
{
    assert_null(written(world, lines, sheet));
    if (!strstr(world->error.what, what))
        fail_msg("'%s', not '%s'", world->error.what, what);
}

/* ---- the language ------------------------------------------------------------------------------ */

static void is(struct world *world, const char *condition, const char *wanted)
{
    const char *lines = arena_print(&world->arena, "let let  yes\nx  0\nx  1  if %s", condition);
    const char *out = written(world, lines, "a,b,c\n12,two <= 3,\n");
    if (!out || strcmp(out, wanted))
        fail_msg("if %s", condition);
}

static void test_conditions(void **state)
{
    static const char *const hold[] = {
        "{a}", "no {c}", "{a} = 12", "{a} != 13", "{a} < 13", "{a} > 11.5", "{a} <= 12", "{a} >= 1e1",
        "{c} = ", "{b} ~ ^t.o", "{b} !~ ^wo", "{b} ~ w = 3|two <= ", "{a} and {b}", "{a}{c} = 12",
        "{c|7} = 7", "{a|7} = 12", "[let] = yes",
    };
    static const char *const fail[] = {
        "{c}", "no {a}", "{a} = 12.0", "{a} != 12", "{a} < 12", "{a} > 12", "{a} <= 11", "{a} >= 13",
        "{b} < 13", "{b} >= 0", "{c} > 0", "{b} ~ ^wo", "{b} !~ w", "{a} and {c}", "[none]",
        "{no such column}",
    };
    for (size_t i = 0; i < COUNT(hold); i++)
        is(*state, hold[i], "line,x\n2,1\n");
    for (size_t i = 0; i < COUNT(fail); i++)
        is(*state, fail[i], "line,x\n2,0\n");
}

static void test_empty(void **state)
{
    writes(*state, "x  {a}-{b}\ny  {a}-{b|0}\nz  {b}", "a,b\n1,2\n3,\n",
           "line,x,y,z\n2,1-2,1-2,2\n3,,3-0,\n");
    /* A later line holds where it does something; "-" empties; a column that is always empty is left out. */
    writes(*state, "x  1\nx  {b}\ny  2\ny  -  if {b}\nz  {c}", "a,b,c\n1,2,\n3,,\n",
           "line,x,y\n2,2,\n3,1,2\n");
    /* What a row has set is gone in the next. */
    writes(*state, "let v  {b}\nx  [v]\ny  [x|none]", "a,b\n1,2\n3,\n", "line,x,y\n2,2,2\n3,,none\n");
}

static void test_reasons(void **state)
{
    writes(*state, "x  16  because inferred: as usual\nx  {b}\ny  {a}", "a,b\n1,2\n3,\n",
           "line,x,x_from,y\n2,2,,1\n3,16,inferred: as usual,3\n");
    writes(*state, "x  1  if {b}  because so, it seems", "a,b\n1,2\n",
           "line,x,x_from\n2,1,\"so, it seems\"\n");
    /* No reason without a value. */
    writes(*state, "x  1  because so\nx  -  if {b}", "a,b\n1,2\n3,\n", "line,x,x_from\n2,,\n3,1,so\n");
}

static void test_arithmetic(void **state)
{
    writes(*state, "x  = {a} * max({b|0}, 1) / 4\ny  = floor([x]) + 1e-3", "a,b\n6,3\n1,\n",
           "line,x,y\n2,4.5,4.001\n3,0.25,0.001\n");
    /* Without a finite value the cell is empty; the same text gives the same value. */
    writes(*state, "x  = 1 / {a}", "a\n0\n8\n0\n8\n", "line,x\n2,\n3,0.125\n4,\n5,0.125\n");
}

static void test_captures(void **state)
{
    writes(*state, "x  {1}  if {a} ~ p=([0-9]+)\ny  {2}{1}  if {a} ~ (q|r)=([0-9]+)\nz  {1}  if {a} != s",
           "a\np=1 r=23\nnone\n", "line,x,y,z\n2,1,23r,r\n3,,,\n");
    /* The groups of a row are not those of the row before, and a pattern that fails keeps them. */
    writes(*state, "let n  0  if {a} ~ ^(.)\nx  {1}  if {a} !~ (z)", "a\nbc\nde\n", "line,x\n2,b\n3,d\n");
}

static void test_when(void **state)
{
    writes(*state, "x  1\nwhen {a} > 4\nx  2\ny  3  if no {b}\nwhen {a} > 4 and {b}\nx  4\nwhen {a}\nz  5",
           "a,b\n3,\n7,\n9,1\n", "line,x,y,z\n2,1,,5\n3,2,3,5\n4,4,,5\n");
}

static void test_quotes(void **state)
{
    writes(*state, "x  {a}", "a\n\"b, \"\"c\"\"\"\n", "line,x\n2,\"b, \"\"c\"\"\"\n");
}

static void test_wrong(void **state)
{
    wrong(*state, "x  1\ny", "a\n1\n", "x.layout:3: not a line of a layout");
    wrong(*state, "x  if {a}", "a\n1\n", "x.layout:2: ");
    wrong(*state, "x  1  for no reason", "a\n1\n", "x.layout:2: ");
    wrong(*state, "x  1\n# so\n\nlet x  2", "a\n1\n", "x.layout:5: 'x' is a column and a 'let'");
    wrong(*state, "x  1\nx  2  if {a} ~ (1", "a\n1\n", "x.layout:3: not an extended regular expression");
    wrong(*state, "x  = 2 * {a}", "a\n1\nmany\n", "x.csv:3: x.layout:2: ");
    assert_null(layout_read(&((struct world *)*state)->arena, "y.layout", text_of("x  1\n"),
                            &((struct world *)*state)->error));
    assert_string_equal(((struct world *)*state)->error.what, "y.layout:1: no line that begins with 'has'");
}

static void test_told_by_header(void **state)
{
    struct world *world = *state;
    struct csv csv = sheet_of(world, "x.csv", text_of("model,speed\nllama,3\n"));
    assert_null(layout_of(&world->arena, &csv));
    assert_false(layout_unknown(&world->arena, &csv, &world->error));
    assert_non_null(strstr(world->error.what, "x.csv: not the columns of measurements"));
    assert_non_null(strstr(world->error.hint, "data/layouts/kernels.layout"));
    csv = sheet_of(world, "x.csv", text_of("latency,dtype,op,shape,and others\n1,2,3,4,5\n"));
    assert_non_null(layout_of(&world->arena, &csv));
}

/* Every layout is read, with its patterns, and told by some columns. */
static void test_read(void **state)
{
    struct world *world = *state;
    const struct csv csv = sheet_of(world, "x.csv", text_of("a\n1\n"));
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct buffer out = { .arena = &world->arena };
        if (!strstr(file->path, ".layout"))
            continue;
        struct file_layout *layout = layout_read(&world->arena, file->path, (struct text){ file->data, file->size },
                                            &world->error);
        if (!layout || !layout_apply(&world->arena, layout, &csv, &out, &world->error))
            fail_msg("%s", world->error.what);
    }
}

/* A row's name, or one with what stands beside a mean over requests. */
static bool names_row(struct world *world, const struct formulas *formulas, const char *name)
{
    static const char *const tails[] = { "", "_error", "_p50", "_p90", "_p99" };
    for (size_t i = 0; i < COUNT(tails); i++) {
        const size_t size = strlen(name), tail = strlen(tails[i]);
        if (size > tail && !strcmp(name + size - tail, tails[i]) &&
            formulas_find(formulas, arena_copy(&world->arena, name, size - tail)) >= 0)
            return true;
    }
    return false;
}

/* Each layout sets columns of the schema: its words, or names of rows. */
static void test_columns(void **state)
{
    static const char *const words[] = {
        "source", "publisher", "series", "kind", "model", "machine", "engine", "engine_version", "precision",
        "experts_precision", "precision_beside_experts", "kv_precision", "refused", "rank", "note", "id", "requests",
    };
    struct world *world = *state;
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    size_t layouts = 0, columns = 0;
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct text rest = { file->data, file->size };
        if (!strstr(file->path, ".layout"))
            continue;
        for (layouts++; rest.size;) {
            const struct text line = text_line(&rest);
            const char *text = arena_copy(&world->arena, line.data, line.size), *end = strstr(text, "  ");
            const char *name = end ? arena_copy(&world->arena, text, (size_t)(end - text)) : "";
            bool known = !*name || *name == '#' || !strncmp(name, "let ", 4) ||
                         names_row(world, formulas, name);
            for (size_t i = 0; i < COUNT(words); i++)
                known |= !strcmp(name, words[i]);
            if (!known)
                fail_msg("%s: '%s' is neither a row nor a column of the schema", file->path, name);
            columns += *name && *name != '#';
        }
    }
    assert_true(layouts >= 3);
    assert_true(columns > 200);
}

/* ---- sheets that others published ---------------------------------------------------------------- */

/* The sheet in the columns of the schema; no rows where it is not there. */
static struct csv converted(struct world *world, const char *path, struct text text)
{
    const struct csv csv = sheet_of(world, path, text);
    struct file_layout *layout = layout_of(&world->arena, &csv);
    struct buffer out = { .arena = &world->arena };
    assert_non_null(layout);
    if (!layout_apply(&world->arena, layout, &csv, &out, &world->error))
        fail_msg("%s", world->error.what);
    return sheet_of(world, "converted", (struct text){ out.data, out.size });
}

static struct csv shared(struct world *world, const char *name)
{
    const char *path = shared_file(&world->arena, arena_print(&world->arena, "measurements/%s", name));
    struct text text;
    if (!path)
        return (struct csv){ 0 };
    assert_true(file_read(&world->arena, path, 64 << 20, &text, &world->error));
    return converted(world, path, text);
}

static const char *cell(const struct csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_column(csv, column));
}

static size_t count(const struct csv *csv, const char *column, const char *value)
{
    size_t found = 0;
    for (size_t i = 0; i < csv->rows; i++)
        found += !strcmp(cell(csv, i, column), value);
    return found;
}

/* "chips=2 attention_dp=1": each column of this row says this and, where it is a number, no other; "x=" is
 * an empty cell, and "x~word" a cell with the word in it. */
static void says(struct world *world, const struct csv *csv, size_t row, const char *cells)
{
    char *rest = arena_copy(&world->arena, cells, strlen(cells)), *one;
    while ((one = strsep(&rest, " "))) {
        char *value = one + strcspn(one, "=~");
        const char relation = *value;
        *value++ = 0;
        const char *found = cell(csv, row, one);
        double a, b;
        if (relation == '~' ? strstr(found, value) != NULL : !strcmp(found, value))
            continue;
        if (text_number(text_of(found), &a) && text_number(text_of(value), &b) &&
            fabs(a - b) <= 1e-9 * fabs(b))
            continue;
        fail_msg("line %s: %s is '%s', not '%s'", cell(csv, row, "line"), one, found, value);
    }
}

struct wanted {
    const char *id, *cells;             /* id: cell of column `id`, or the line where the sheet has none */
};

static void rows_say(struct world *world, const struct csv *csv, const char *key, const struct wanted *wanted,
                     size_t wanted_count)
{
    for (size_t i = 0; i < wanted_count && csv->rows; i++) {
        size_t row = 0;
        while (row < csv->rows && strcmp(cell(csv, row, key), wanted[i].id))
            row++;
        if (row == csv->rows)
            fail_msg("no row %s", wanted[i].id);
        says(world, csv, row, wanted[i].cells);
    }
}

static void test_servers(void **state)
{
    static const struct wanted wanted[] = {
        { "S0209", "chips=8 attention_dp=1 attention_dp_from~default expert_parallel=2 draft_tokens=3 "
                   "draft_tokens_from= predicted_tpot=0.003640069889 concurrency=1 kind~multi-token" },
        { "S0211", "attention_dp=8 attention_dp_from= expert_parallel=8 precision=fp4 "
                   "precision_beside_experts=bf16 kv_precision=bf16 kv_precision_from= "
                   "predicted_throughput=36384.08 concurrency=3072 draft_tokens= kind=aggregated "
                   "engine=trtllm" },
        { "S0861", "kind=disaggregated chips=4 attention_dp=1 decode_workers=1 prefill_workers=1 "
                   "prefill_chips=2 prefill_attention_dp=2 prefill_expert_parallel=2 expert_parallel= "
                   "prompt_tokens=921.6 output_tokens=921.6 disagg_tpot=6.645ms predicted_tpot= "
                   "publisher=InferenceX" },
        { "S0862", "split_total_throughput_per_chip=49.31 total_throughput_per_chip=" },
        { "S0214", "kind=production engine=none concurrency=128 concurrency_from~inferred: "
                   "prompt_tokens=4096 chunked_prefill_size=16384 chunked_prefill_size_from~inferred: "
                   "prefill_alone=128827.6" },
        { "S0215", "speed_wanted=20 prompt_tokens=4989 output_tokens=1 decode_at_speed=266400 "
                   "decode_alone= concurrency=" },
        { "S0087", "kind=offline attention_dp=8 attention_dp_from~inferred: max_num_seqs=4096 "
                   "max_num_seqs_from~trtllm-bench saturated_throughput=63362 engine_version=1.0" },
        { "S0233", "predicted_ttft=406.77ms engine=trtllm engine_from~NIM kv_precision=fp8 attention_dp=1" },
        { "S0252", "precision=mxfp4-a16 precision_beside_experts=bf16 kv_precision=bf16 engine=llamacpp "
                   "engine_version=6918 chunked_prefill_size=2048 concurrency=4 prefill_alone=3965.01" },
        { "S0332", "prompt_tokens=1 prompt_tokens_from~llama-bench output_tokens=128 decode_alone=7.91" },
        { "S0225", "concurrency=16384 decode_alone=297568 comm_overlap_share=1 "
                   "comm_overlap_share_from~nodes" },
        { "S0220", "concurrency=524.288 chunked_prefill_size=16384 prefill_alone=230696 "
                   "comm_overlap_share_from=" },
        { "S0781", "draft_tokens=3 draft_tokens_from~inferred: predicted_energy_per_token=31.437" },
        { "S0068", "pipeline_parallel=2 attention_dp=1 chips=2" },
        { "S0357", "refused~MLPerf" },
    };
    const struct csv csv = shared(*state, "serving.csv");
    rows_say(*state, &csv, "id", wanted, COUNT(wanted));
    if (!csv.rows)
        return;
    assert_int_equal(csv.rows, 503);
    assert_int_equal(count(&csv, "refused", ""), 456);
    assert_int_equal(count(&csv, "refused", "MLPerf: layout and lengths not stated"), 43);
    assert_int_equal(count(&csv, "refused", "load or lengths not stated"), 3);
    assert_int_equal(count(&csv, "refused", "layout not stated: tp"), 1);
    assert_int_equal(count(&csv, "publisher", "InferenceX"), 256);
}

static void test_training_runs(void **state)
{
    static const struct wanted wanted[] = {
        { "T0001", "kind=training training_chips=512 tensor_parallel=8 pipeline_parallel=8 "
                   "context_parallel=2 virtual_stages=8 micro_batch=1 training_sequences=1152 "
                   "sequence_length=8192 train_step=55.136 gathered_bytes=1 gathered_bytes_from~stack "
                   "rank=1 expert_parallel=1" },
        { "T0002", "refused~restarts rank=6" },
        { "T0322", "stated_chip_flops=430e12 recompute_counted=0 train_step= virtual_stages=4 "
                   "gradient_bytes=4" },
        { "T0338", "train_step=19.90656 dual_pipe=1 recompute_between=0.5 expert_parallel=64 rank=2" },
        { "T0331", "train_step=17.6009400 tensor_parallel=12 micro_batch=4 micro_batch_from~XLA "
                   "zero_stage=3 recompute_full=1 sequence_parallel=0" },
        { "T0358", "tensor_parallel=4 tensor_parallel_from~ici_tensor_parallelism=4 micro_batch=24 "
                   "recompute_between=1" },
        { "T0367", "tensor_parallel=16 micro_batch=32 recompute_between=0 recompute_full=1" },
        { "T0379", "tensor_parallel=16 micro_batch=16 recompute_full=1 stated_chip_flops=91e12" },
        { "T0300", "micro_batch=16 micro_batch_from~inferred: recompute_full=1 recompute_counted=1 "
                   "stated_chip_flops=137e12 rank=4 sequence_parallel=0" },
        { "T0110", "rank=2 train_step=15.3984962406 virtual_stages=4 stages_balanced=1 "
                   "cuda_graph_full_iteration=1 cuda_graphs= zero_stage=" },
        { "T0111", "rank=3" },
        { "T0086", "rank=2 zero_stage=3 zero_stage_from= micro_batch=2 virtual_stages= cuda_graphs=1" },
        { "T0087", "rank=1" },
        { "T0174", "zero_stage=3 recompute_full=1 recompute_stops=1 micro_batch=8 train_step=16.27010924 "
                   "attention_portable=1 attention_portable_from~stack" },
        { "T0268", "publisher~Megatron-LM virtual_stages=6 gradient_overlap=0 tensor_overlap= "
                   "train_step=40" },
    };
    const struct csv csv = shared(*state, "training.csv");
    rows_say(*state, &csv, "id", wanted, COUNT(wanted));
    if (!csv.rows)
        return;
    assert_int_equal(csv.rows, 217);
    assert_int_equal(count(&csv, "refused", ""), 176);
    assert_int_equal(count(&csv, "refused", "a whole run, with its restarts and evaluations"), 20);
    assert_int_equal(count(&csv, "refused", "a share of the peak alone"), 13);
    assert_int_equal(count(&csv, "refused", "batch or layout not stated"), 8);
    assert_int_equal(count(&csv, "publisher", "NeMo 24.07"), 14);
    assert_int_equal(count(&csv, "publisher", "NeMo 25.04"), 4);
    assert_int_equal(count(&csv, "publisher", "MegaScale"), 8);
}

static void test_kernels(void **state)
{
    static const struct wanted wanted[] = {
        { "2", "machine=A100-80GB kernel_m=1 kernel_n=1024 kernel_k=8192 gemm_bf16=16.179us gemm_fp8=" },
        { "72", "kernel_batch=1 kernel_heads=64 kernel_kv_heads=8 kernel_head_dim=128 "
                "kernel_context=2047 attention_decode_bf16=19.968us refused=" },
        { "125", "kernel_batch=8 kernel_context=16384 attention_prefill_bf16=237551.27us" },
        { "149", "collective_ranks=2 kernel_message=8192 nccl_all_gather=10.47us" },
        { "174", "collective_ranks=2 kernel_message=4096 nccl_all_gather=9.22us" },
        { "184", "kernel_message=4096 nccl_all_reduce=10.38us" },
        { "269", "kernel_message=256 custom_allreduce=3.799us" },
        { "338", "kernel_tokens=1 kernel_hidden=4096 kernel_intermediate=1536 kernel_top_k=8 "
                 "kernel_experts=128 kernel_moe_tp=1 kernel_moe_ep=1 kernel_skew=1 moe_bf16=228.762us" },
        { "373", "kernel_batch=1 kernel_heads=16 kernel_kv_heads= kernel_context=1 "
                 "mla_decode_fp8=15.189us" },
        { "739", "attention_prefill_fp8=5749.707us" },
        { "1008", "kernel_skew=0 kernel_moe_ep=32 moe_fp8_block=27.755us" },
        { "1058", "kernel_hidden=2880 moe_mxfp4=74.869us" },
        { "1516", "gemm_fp4=21.457us" },
        { "1953", "refused~precision" },
    };
    const struct csv csv = shared(*state, "kernels.csv");
    rows_say(*state, &csv, "line", wanted, COUNT(wanted));
    if (!csv.rows)
        return;
    assert_int_equal(csv.rows, 2379);
    assert_int_equal(count(&csv, "refused", ""), 2269);
    assert_int_equal(count(&csv, "refused", "no row predicts this operation in this precision"), 110);
}

/* What no published row says: notes in other words, and cells that are missing or wrong. */
static void test_other_servers(void **state)
{
    static const struct { const char *row, *cells; } cases[] = {
        { "m,h,8,8,,,fp8,4,100,10,tpot_mean,20,ms,s,vLLM 0.9.1; DP attention",
          "attention_dp=8 attention_dp_from~usual engine_version=0.9.1 predicted_tpot=20ms" },
        { "m,h,8,8,,4,fp8,4,100,10,tpot_mean,20,ms,s,DP-attention", "attention_dp=4 attention_dp_from=" },
        { "m,h,8,8,8,,fp8,4,100,10,tpot_mean,20,ms,s,", "attention_dp=1 expert_parallel=8 engine=" },
        { "m,h,8,8,1,,fp8,4,100,10,tpot_mean,20,ms,s,MTP with 2 drafts", "expert_parallel= draft_tokens=2" },
        { "m,h,12,,,,fp8,4,100,10,ttft_mean,20,ms,s,"
          "disaggregated 2 prefill TP4 + 1 decode TP4/EP4 DP attention",
          "chips=4 attention_dp=4 expert_parallel=4 prefill_workers=2 prefill_chips=4 prefill_attention_dp=1 "
          "prefill_expert_parallel= disagg_ttft=20ms refused=" },
        { "m,h,12,,,,fp8,4,100,10,ttft_mean,20,ms,s,disaggregated 2 prefill TP4", "refused~pools" },
        { "m,h,8,8,,,fp8,4,100,10,tpot_mean,20,s,s,", "refused~unit" },
        { "m,h,8,8,,,fp8,4,100,10,loss,20,,s,", "refused~metric" },
        { "m,h,8,,,,fp8,4,100,10,tpot_mean,20,ms,s,", "refused~layout" },
        { "m,h,8,8,,,fp8,,100,10,tpot_mean,20,ms,s,", "refused~load" },
        { "m,h,8,8,,,fp8,4,,10,tpot_mean,20,ms,s,", "refused~lengths" },
        { "m,h,8,8,,,fp8,4,100,10,tpot_mean,,ms,s,", "refused~stated" },
    };
    struct world *world = *state;
    struct buffer sheet = { .arena = &world->arena };
    buffer_print(&sheet, "model,hardware,gpus,tp,ep,dp,precision,batch_concurrency,input_len,output_len,"
                         "metric,value,unit,source,note\n");
    for (size_t i = 0; i < COUNT(cases); i++)
        buffer_print(&sheet, "%s\n", cases[i].row);
    const struct csv csv = converted(world, "x.csv", (struct text){ sheet.data, sheet.size });
    assert_int_equal(csv.rows, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        says(world, &csv, i, cases[i].cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conditions, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_empty, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_reasons, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_arithmetic, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_captures, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_when, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_quotes, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_wrong, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_told_by_header, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_read, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_columns, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_servers, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_training_runs, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_kernels, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_other_servers, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
