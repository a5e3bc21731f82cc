/* The catalog: the sheets in data/ are sound, rows become facts and documents, and
 * every fault of a sheet is named. Runs in the root of the tree. */
#include "catalog/catalog.h"

#include "rows/rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof array / sizeof *array)

struct world {
    struct arena arena;
    struct catalog catalog;
    struct facts facts;
    struct error error;
};

static int setup(void **state)
{
    static struct world world;
    static const char *const files[CATALOG_KINDS] = {
        "data/hardware.csv", "data/models.csv", "data/tiers.csv", "data/prices.csv",
        "data/efficiency.csv",
    };
    world = (struct world){ .facts.arena = &world.arena };
    catalog_open(&world.catalog, &world.arena);
    for (int i = 0; i < CATALOG_KINDS; i++) {
        struct text text;
        if (!file_read(&world.arena, files[i], 1 << 24, &text, &world.error) ||
            !catalog_read(&world.catalog, (enum catalog_kind)i, files[i], text, &world.error))
            fail_msg("%s (%s)", world.error.what, world.error.hint);
    }
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    arena_free(&((struct world *)*state)->arena);
    return 0;
}

static double fact(const struct facts *facts, const char *name)
{
    const struct fact *found = facts_find(facts, name);
    if (!found)
        fail_msg("no fact %s", name);
    return found->value;
}

static void machine(struct world *world, const char *name)
{
    world->facts = (struct facts){ .arena = &world->arena };
    if (!catalog_machine(&world->catalog, name, &world->facts, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
}

static const struct doc *model(struct world *world, const char *name)
{
    struct doc *config;
    if (!catalog_model(&world->catalog, name, &config, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return config;
}

static void near(double have, double want)
{
    if (fabs(have - want) > 1e-12 * fabs(want))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* ---- machines -------------------------------------------------------------------------- */

static void every_machine_has_its_facts(void **state)
{
    struct world *world = *state;
    static const struct { const char *fact; double low, high; } sane[] = {
        { "hbm_capacity", 8e9, 2e12 }, { "hbm_bandwidth", 5e10, 1e14 }, { "scale_up_chips", 1, 1e4 },
    };
    static const char *const peaks[] = { "peak_bf16", "peak_int8", "peak_fp8", "peak_fp4" };
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_MACHINE); i++) {
        machine(world, catalog_entry(&world->catalog, CATALOG_MACHINE, i)->name);
        for (size_t j = 0; j < COUNT(sane); j++)
            assert_true(fact(&world->facts, sane[j].fact) >= sane[j].low &&
                        fact(&world->facts, sane[j].fact) <= sane[j].high);
        for (size_t j = 0; j < COUNT(peaks); j++) {
            const struct fact *peak = facts_find(&world->facts, peaks[j]);
            assert_non_null(peak);
            assert_true(peak->expression || (peak->value > 1e12 && peak->value < 1e18));
        }
    }
}

static void numbers_become_base_units(void **state)
{
    struct world *world = *state;
    static const struct { const char *machine, *fact; double value; } cases[] = {
        { "gb200-nvl72", "peak_fp4", 9.8e15 },
        { "H100", "hbm_bandwidth", 3.35e12 },
        { "h100_sxm", "scale_out_bandwidth", 5e10 },
        { "B200-SXM", "hbm_capacity", 180 * 1073741824.0 },
        { "b300", "peak_fp4", 13.5e15 },
        { "TPUv5e", "scale_up_bandwidth", 200e9 },
        { "Trillium", "scale_up_bandwidth", 400e9 },
        { "mi300x", "utility_power", 1790 },
        { "h100-sxm", "chip_price", 1.30 / 3600 },
        { "DGX Spark", "hbm_bandwidth", 273e9 },
        { "arc-pro-b60", "hbm_capacity", 25769803776.0 },
        { "rtx-pro-6000", "hbm_bandwidth", 1.597e12 },          /* the Server Edition's old name */
        { "rtx-pro-6000-max-q", "hbm_bandwidth", 1.792e12 },
        { "Apple-M3-Max-30c", "hbm_bandwidth", 3e11 },
        { "Apple M3 Max", "hbm_bandwidth", 4e11 },
        { "m5", "peak_bf16", 18.4e12 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        machine(world, cases[i].machine);
        near(fact(&world->facts, cases[i].fact), cases[i].value);
    }
    machine(world, "GB200 NVL72");
    near(fact(&world->facts, "scale_up_chips") * fact(&world->facts, "hbm_capacity"), 72 * 186 * 1073741824.0);
    near(fact(&world->facts, "scale_up_chips") * fact(&world->facts, "hbm_bandwidth"), 576e12);
}

/* Figures that nobody publishes are marked, and told. */
static void doubts_are_noted(void **state)
{
    static const struct { const char *machine, *note; } cases[] = {
        { "m5", "2 figures of M5 are assumed: the vendor gives none" },
        { "tpu-v3", "figures of TPU v3 are unverified" },
        { "vr200-nvl72", "Rubin (VR200 NVL72) is announced" },
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool told = false;
        machine(world, cases[i].machine);
        for (size_t j = 0; j < world->facts.note_count; j++)
            told |= strstr(world->facts.notes[j], cases[i].note) != NULL;
        if (!told)
            fail_msg("not told of %s: %s", cases[i].machine, cases[i].note);
    }
}

static void missing_rates_are_bound(void **state)
{
    struct world *world = *state;
    machine(world, "a100-sxm");
    assert_string_equal(facts_find(&world->facts, "peak_fp8")->expression, "peak_bf16");
    assert_string_equal(facts_find(&world->facts, "peak_fp4")->expression, "peak_bf16");
    assert_null(facts_find(&world->facts, "peak_int8")->expression);
    machine(world, "m3-max");
    assert_string_equal(facts_find(&world->facts, "peak_bf16")->expression, "peak_fp32");
}

static void names_in_the_measurements_are_known(void **state)
{
    struct world *world = *state;
    static const char *const machines[] = {
        "A100-40GB", "A100-80GB", "Apple-M1-8c", "Apple-M1-Max-24c", "Apple-M2-Ultra-76c",
        "Apple-M3-10c", "Apple-M3-Max-40c", "Apple-M4-Max-40c", "Arc-Pro-B60-Dual", "B200-SXM",
        "B300-SXM", "GB10", "GB200-NVL72", "GB300-NVL72", "H100-SXM", "H100-SXM-80GB",
        "H200-SXM", "H800-SXM", "L40S", "MI300X", "MI355X", "RTX-4090", "RTX-PRO-6000-BSE",
        "RTXPRO6000", "TPUv3", "TPUv4", "TPUv5e", "TPUv5p", "b200_sxm", "gb200", "h100_sxm",
    };
    static const char *const models[] = {
        "DeepSeek-R1", "DeepSeek-R1-0528", "DeepSeek-V2", "DeepSeek-V3", "DeepSeek-V3/R1",
        "DeepSeek-V4-Pro", "Kimi-K2", "Llama-2-70B", "Llama-2-7B", "Llama-3-70B",
        "Llama-3-8B", "Llama-3.1-405B", "Llama-3.1-70B", "Llama-3.1-8B", "Llama-3.3-70B",
        "Llama-4-Maverick-17B-128E", "MiniMax-M3", "Mixtral-8x7B", "Nemotron-3-Nano-30B-A3B",
        "Qwen2.5-7B", "Qwen3-235B-A22B", "Qwen3-30B-A3B", "Qwen3.5-397B-A17B", "gpt-oss-120b",
        "gpt-oss-20b", "MiniMaxAI/MiniMax-M2.5", "Qwen/Qwen3-32B", "Qwen/Qwen3.5-397B-A17B",
        "codellama/CodeLlama-34b-Instruct-hf", "deepseek-ai/DeepSeek-R1",
        "deepseek-ai/DeepSeek-V3", "meta-llama/Llama-2-70b-hf", "meta-llama/Llama-2-7b-hf",
        "meta-llama/Llama-3.1-70B", "meta-llama/Llama-3.1-8B-Instruct",
        "mistralai/Mixtral-8x7B-v0.1", "nvidia/DeepSeek-R1-NVFP4", "nvidia/DeepSeek-V3.1-NVFP4",
        "nvidia/Qwen3-32B-NVFP4", "Qwen3-30B-A3B-Instruct-2507",
    };
    for (size_t i = 0; i < COUNT(machines); i++)
        if (!catalog_find(&world->catalog, CATALOG_MACHINE, machines[i], &world->error))
            fail_msg("%s", world->error.what);
    for (size_t i = 0; i < COUNT(models); i++)
        if (!catalog_find(&world->catalog, CATALOG_MODEL, models[i], &world->error))
            fail_msg("%s", world->error.what);
}

static void a_name_or_alias_means_one_entry(void **state)
{
    struct world *world = *state;
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        for (size_t i = 0; i < catalog_count(&world->catalog, (enum catalog_kind)kind); i++) {
            const struct catalog_entry *entry =
                catalog_entry(&world->catalog, (enum catalog_kind)kind, i);
            for (size_t j = 0; j < entry->rows; j++) {
                struct catalog_row row = catalog_row(entry, j);
                if (!strcmp(row.fact, "alias") &&
                    catalog_find(&world->catalog, (enum catalog_kind)kind, row.value,
                                 &world->error) != entry)
                    fail_msg("line %d: %s means another entry too", row.line, row.value);
            }
        }
}

static void an_unknown_name_gets_the_nearest(void **state)
{
    struct world *world = *state;
    struct facts facts = { .arena = &world->arena };
    assert_false(catalog_machine(&world->catalog, "h100-sxn", &facts, &world->error));
    assert_non_null(strstr(world->error.what, "'h100-sxn'"));
    assert_non_null(strstr(world->error.hint, "h100-sxm"));
    struct doc *config;
    assert_false(catalog_model(&world->catalog, "deepsek-v3", &config, &world->error));
    assert_non_null(strstr(world->error.hint, "deepseek-v3"));
}

/* ---- models ------------------------------------------------------------------------------ */

static const struct doc *text_part(const struct doc *config)
{
    const struct doc *text = doc_get(config, "text_config");
    return text ? text : config;
}

/* Names as they stand on model pages, in folders of files and in Ollama's list. */
static void names_that_people_have(void **state)
{
    struct world *world = *state;
    static const struct { const char *name, *entry, *precision; } names[] = {
        { "Qwen/Qwen3-14B", "qwen3-14b", NULL }, { "unsloth/Qwen3-14B-GGUF", "qwen3-14b", NULL },
        { "unsloth/Qwen3-14B-bnb-4bit", "qwen3-14b", "nf4" }, { "nvidia/Qwen3-14B-NVFP4", "qwen3-14b", "nvfp4" },
        { "microsoft/phi-4", "phi-4", NULL }, { "phi4", "phi-4", NULL }, { "phi4:latest", "phi-4", "Q4_K_M" },
        { "llama3.1:8b", "llama-3.1-8b", "Q4_K_M" }, { "llama3.2:3b", "llama-3.2-3b", "Q4_K_M" },
        { "llama3.1:8b-instruct-q4_K_M", "llama-3.1-8b", "Q4_K_M" }, { "gemma3:27b", "gemma-3-27b", "Q4_K_M" },
        { "gemma3:27b-it-q8_0", "gemma-3-27b", "Q8_0" }, { "qwen3:30b-a3b", "qwen3-30b-a3b", NULL },
        { "Meta-Llama-3.1-8B-Instruct-Q6_K_L.gguf", "llama-3.1-8b", "Q6_K_L" },
        { "Llama-3.2-3B-Instruct-IQ4_XS.gguf", "llama-3.2-3b", "IQ4_XS" },
        { "TheBloke/Mistral-7B-Instruct-v0.2-AWQ", "mistral-7b-v0.2", "int4-zp" },
        { "RedHatAI/Llama-3.2-3B-Instruct-FP8", "llama-3.2-3b", "fp8" },
        { "qwen2.5-coder:7b-instruct-q4_K_M", "qwen2.5-coder-7b", "Q4_K_M" },
        { "HuggingFaceTB/SmolLM3-3B", "smollm3-3b", NULL },
        { "Intel/Qwen3-32B-int4-AutoRound", "qwen3-32b", "int4-zp" },
        { "OPEA/Qwen2.5-14B-Instruct-int4-sym-inc", "qwen2.5-14b", "int4-zp" },
        { "turboderp/Llama-3.1-8B-Instruct-exl3", "llama-3.1-8b", "exl" },
        { "LoneStriker/Mistral-7B-v0.2-4.0bpw-h6-exl2", "mistral-7b-v0.2", "4bpw-h6" },
        { "pipilok/phi-4-exl2-5.5bpw-hb8", "phi-4", "5.5bpw-h8" }, { "roleplaiapp/phi-4-2_25bpw-exl2", "phi-4", "2.25bpw-h6" },
        { "ArtusDev/Llama-3.1-8B-Instruct_EXL3_4.25bpw_H8", "llama-3.1-8b", "4.25bpw-h8" },
        { "amd/Llama-3.3-70B-Instruct-WMXFP4-AMXFP4-KVFP8-Scale-UINT8-MLPerf", "llama-3.3-70b", "mxfp4" },
        { "drexample/Llama-3.1-8B-exl2-bpw6", "llama-3.1-8b", "6bpw-h6" },
        { "mlx-community/Qwen3-8B-4bit", "qwen3-8b", "mlx-q4" }, { "mlx-community/Qwen3-30B-A3B-4bit-DWQ", "qwen3-30b-a3b", "mlx-q4" },
        { "lmstudio-community/Qwen3-8B-MLX-8bit", "qwen3-8b", "mlx-q8" }, { "mlx-community/gpt-oss-20b-mxfp4", "gpt-oss-20b", "mlx-mxfp4" },
        { "moot20/Qwen2.5-32B-MLX-4bits", "qwen2.5-32b", "mlx-q4" }, { "someone/Qwen3-8B-4bit", "qwen3-8b", "int4" },
        { "amd/Meta-Llama-3.1-70B-Instruct-FP8-KV", "llama-3.1-70b", "fp8" },
        { "RedHatAI/Qwen3-8B-FP8-dynamic", "qwen3-8b", "fp8" }, { "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "qwen2.5-7b", "int8-zp" },
        { "neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a16", "llama-3.1-8b", "int8-a16" },
        { "ISTA-DASLab/gemma-3-27b-it-GPTQ-4b-128g", "gemma-3-27b", "int4-zp" }, { "gemma-2-9b-it-4b-32g-gptq", "gemma-2-9b", "int4-zp-g32" },
        { "someone/Qwen3-4B-128g-gptq", "qwen3-4b", "int4-zp" }, { "llama-3.1-8b-w4a16-g64", "llama-3.1-8b", "int4-g64" },
        { "Qwen3-8B-INT4-W4A16-G32", "qwen3-8b", "int4-g32" }, { "Llama-3.1-8B-Instruct-HQQ-4bit-g64", "llama-3.1-8b", "int4-z16" },
        { "mobiuslabsgmbh/Llama-3.1-8b-instruct_4bitgs64_hqq_calib", "llama-3.1-8b", "int4-z16" },
        { "Llama-3.1-8B-SINQ-3bit", "llama-3.1-8b", "int3-z16" }, { "halley-ai/Qwen3-8B-MLX-6bit-gs32", "qwen3-8b", "mlx-q6-g32" },
        { "Mistral-Nemo-12B-ArliAI-RPMax-v1.2-8bpw-h8-exl2", "mistral-nemo-12b", "8bpw-h8" },
        { "meituan/DeepSeek-R1-Channel-INT8", "deepseek-r1", "int8" }, { "Qwen3-8B-2bit-AQLM", "qwen3-8b", "codebook" },
        { "mlx-community/Qwen3-235B-A22B-mixed-3-6bit", "qwen3-235b-a22b", "mixed-3-6bit" }, { "gpt-oss-20b-F16.gguf", "gpt-oss-20b", "F16" },
        { "no-such-7b", NULL, NULL }, { "deepseek-r1:14b", "deepseek-r1-distill-qwen-14b", "Q4_K_M" }, { "deepseek-r1:13b", NULL, NULL }, { "-GGUF", NULL, NULL } };
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *precision, *cache;
        const struct catalog_entry *entry = catalog_model_called(&world->arena, &world->catalog, names[i].name, &precision,
                                                                 &cache);
        const char *said = strstr(names[i].name, "FP8-KV") || strstr(names[i].name, "KVFP8") ? "fp8" : "";
        if (!entry != !names[i].entry || (entry && strcmp(entry->name, names[i].entry)))
            fail_msg("%s: %s", names[i].name, entry ? entry->name : "nothing");
        if (entry && (!precision != !names[i].precision || (precision && strcmp(precision, names[i].precision))))
            fail_msg("%s: %s", names[i].name, precision ? precision : "no format");
        assert_string_equal(entry && cache ? cache : "", said);
    }
}

static void every_model_becomes_a_document(void **state)
{
    struct world *world = *state;
    static const char *const per_layer[] = {
        "layer_types", "attn_type_list", "moe_layer_freq", "hybrid_layer_pattern",
        "block_configs", "indexer_types", "mlp_layer_types",
    };
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_MODEL); i++) {
        const char *name = catalog_entry(&world->catalog, CATALOG_MODEL, i)->name;
        const struct doc *config = model(world, name), *text = text_part(config);
        assert_true(doc_get(config, "model_type") || doc_get(config, "architectures"));
        /* the class of a wrapper's language model fills in what its file leaves out */
        const bool part = text != config;
        assert_true(part || doc_get(text, "hidden_size") || doc_get(text, "d_model") || doc_get(text, "n_embd") ||
                    doc_get(text, "n_embed") || doc_get(text, "model_dim"));
        assert_true(part || doc_get(text, "vocab_size"));
        const struct doc *layers = doc_get(text, "num_hidden_layers");
        for (size_t j = 0; layers && j < COUNT(per_layer); j++) {
            const struct doc *list = doc_get(text, per_layer[j]);
            if (list && list->kind == DOC_ARRAY && (double)list->count != layers->number)
                fail_msg("%s: %zu %s for %g layers", name, list->count, per_layer[j],
                         layers->number);
        }
    }
}

static void published_figures_are_numbers(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {
        "params_total_published", "params_active_published", "kv_elements_published",
    };
    size_t found = 0;
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_MODEL); i++)
        for (size_t j = 0; j < COUNT(keys); j++) {
            double value;
            const struct catalog_entry *entry = catalog_entry(&world->catalog, CATALOG_MODEL, i);
            if (!catalog_text(entry, keys[j]))
                continue;
            assert_true(catalog_number(entry, keys[j], &value));
            assert_true(value > 1e4 && value < 1e13);
            found++;
        }
    assert_true(found > 100);
}

static void a_model_may_stand_on_another(void **state)
{
    struct world *world = *state;
    const struct doc *v3 = model(world, "deepseek-v3");
    assert_true(doc_get(v3, "n_routed_experts")->number == 256);
    const struct doc *block = doc_get(doc_get(v3, "quantization_config"), "weight_block_size");
    assert_int_equal(block->count, 2);
    assert_true(block->last->number == 128);
    assert_null(doc_get(v3, "title"));
    assert_null(doc_get(v3, "params_total_published"));
    const struct doc *llama3 = model(world, "llama-3-8b");
    assert_true(doc_get(llama3, "hidden_size")->number == 4096);
    assert_true(doc_get(llama3, "max_position_embeddings")->number == 8192);
    assert_null(doc_get(model(world, "qwen3-32b"), "quantization_config"));
    assert_non_null(doc_get(model(world, "qwen3-32b-fp8"), "quantization_config"));
}

/* A cell and the JSON it means, or the end of the error it makes. */
static void cells_expand(void **state)
{
    struct world *world = *state;
    static const struct { const char *cell, *json, *fault; } cases[] = {
        { "7168", "7168", NULL },
        { "1e-05", "1e-05", NULL },
        { "true", "true", NULL },
        { "null", "null", NULL },
        { "fp8", "\"fp8\"", NULL },
        { "MEM*E", "\"MEM*E\"", NULL },
        { "\"\"\"12\"\"\"", "\"12\"", NULL },
        { "\"[128,128]\"", "[128,128]", NULL },
        { "[3*full]", "[\"full\",\"full\",\"full\"]", NULL },
        { "\"[2*(2*a,b),c]\"", "[\"a\",\"a\",\"b\",\"a\",\"a\",\"b\",\"c\"]", NULL },
        { "\"[2*[0,1]]\"", "[[0,1],[0,1]]", NULL },
        { "\"[{a:1,b:{c:null}}]\"", "[{\"a\":1,\"b\":{\"c\":null}}]", NULL },
        { "\"[model.layers.*.gate,-1,\"\"re:.*(a|b)\"\"]\"",
          "[\"model.layers.*.gate\",-1,\"re:.*(a|b)\"]", NULL },
        { "[]", "[]", NULL },
        { "\"[1,2\"", NULL, "']' or ','" },
        { "\"[1,,2]\"", NULL, "a value" },
        { "[1]]", NULL, "the end of the value" },
        { "{a}", NULL, "a name and ':'" },
        { "\"[2*(1,2]\"", NULL, "')' or ','" },
        { "[0*a]", NULL, "at least once" },
        { "[99999*(99999*a)]", NULL, "more than 100000 values" },
        { "[99999*(99999*())]", NULL, "more than 100000 values" },
        { "[[[[[[[[[[[[[[[[[[", NULL, "nested deeper than 16" },
        { "[((((((((((((((((((", NULL, "nested deeper than 16" },
        { "\"\"\"open\"", NULL, "a closing quote" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct catalog catalog;
        struct error error = { .what = "" };
        struct doc *config = NULL;
        catalog_open(&catalog, &arena);
        const char *sheet = arena_print(&arena, "name,key,value,source,date,mark\n"
                                        "toy,x,%s,us,2026,\n", cases[i].cell);
        if (!catalog_read(&catalog, CATALOG_MODEL, "toy.csv", text_of(sheet), &error))
            fail_msg("%s: %s", cases[i].cell, error.what);
        bool good = catalog_model(&catalog, "toy", &config, &error);
        if (good != !cases[i].fault)
            fail_msg("%s: %s", cases[i].cell, good ? "accepted" : error.what);
        if (good) {
            struct buffer have = { .arena = &arena }, plain = { .arena = &arena };
            doc_print(&have, doc_get(config, "x"));
            for (const char *at = have.data; *at; at++)         /* without the indent */
                if (!strchr(" \n", *at))
                    buffer_add(&plain, at, 1);
            assert_string_equal(plain.data, cases[i].json);
        } else {
            assert_non_null(strstr(error.what, "toy.csv:2: x: "));
            if (!strstr(error.what, cases[i].fault))
                fail_msg("%s: %s", cases[i].cell, error.what);
        }
        arena_free(&arena);
    }
    (void)world;
}

static void same_as_must_end(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct catalog catalog;
    struct error error;
    struct doc *config;
    catalog_open(&catalog, &arena);
    assert_true(catalog_read(&catalog, CATALOG_MODEL, "toy.csv",
                             text_of("name,key,value,source,date,mark\n"
                                     "a,same_as,b,us,2026,\nb,same_as,a,us,2026,\n"
                                     "c,same_as,nobody,us,2026,\n"), &error));
    assert_false(catalog_model(&catalog, "a", &config, &error));
    assert_non_null(strstr(error.what, "circle"));
    assert_false(catalog_model(&catalog, "c", &config, &error));
    assert_non_null(strstr(error.what, "nobody"));
    arena_free(&arena);
}

/* ---- sheets ------------------------------------------------------------------------------ */

static void faults_name_the_line(void **state)
{
    (void)state;
#define HEAD "name,fact,value,unit,source,date,mark,note\n"
    static const struct { const char *sheet, *what, *hint; } cases[] = {
        { "name,fact,value,source,date,mark\n", "toy.csv: no column 'unit'", "name,fact" },
        { HEAD "a,chips,8,1,us,2026,,\na,chps,8,1,us,2026,,\n", "toy.csv:3: unknown fact 'chps'",
          "chips" },
        { HEAD "a,chips,eight,1,us,2026,,\n", "toy.csv:2: not a number: 'eight'", "digits" },
        { HEAD "a,chips,-8,1,us,2026,,\n", "toy.csv:2: not a number: '-8'", "" },
        { HEAD "a,chips,nan,1,us,2026,,\n", "toy.csv:2: not a number: 'nan'", "" },
        { HEAD "# note\na,hbm_capacity,80,GX,us,2026,,\n", "toy.csv:3: unknown unit 'GX'", "GB" },
        { HEAD "a,hbm_capacity,80,GB/s,us,2026,,\n", "toy.csv:2: the unit of this fact cannot be "
          "'GB/s'", "a multiple of B" },
        { HEAD "a,title,A,1,us,2026,,\n", "toy.csv:2: the unit of this fact cannot be '1'", "text" },
        { HEAD "a,chips,8,1,,2026,,\n", "toy.csv:2: no source for 'chips'", "who states" },
        { HEAD "a,chips,,1,us,2026,,\n", "toy.csv:2: no value for 'chips'", "a number or a word" },
        { HEAD ",chips,8,1,us,2026,,\n", "toy.csv:2: a row without a 'name'", "every row" },
        { HEAD "a,chips,8,1,us,3.4.2026,,\n", "toy.csv:2: not a date: '3.4.2026'", "2026-04-03" },
        { HEAD "a,chips,8,1,us,2026,maybe,\n", "toy.csv:2: unknown mark 'maybe'", "memory" },
        { HEAD "a,chips,8,1,us,2026,,\na,chips,9,1,us,2026,memory,\n",
          "toy.csv:3: a second 'chips' for a; line 2", "not chosen" },
        { HEAD "a,chips,8,1,us,2026,,\nb,chips,8,1,us,2026,,\nA,title,x,text,us,2026,,\n",
          "toy.csv:4: other rows divide those of 'A'", "together" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct catalog catalog;
        struct error error = { .what = "" };
        catalog_open(&catalog, &arena);
        assert_false(catalog_read(&catalog, CATALOG_MACHINE, "toy.csv", text_of(cases[i].sheet),
                                  &error));
        if (!strstr(error.what, cases[i].what) || !strstr(error.hint, cases[i].hint))
            fail_msg("case %zu: %s (%s)", i, error.what, error.hint);
        arena_free(&arena);
    }
}

static void a_user_may_bring_a_sheet(void **state)
{
    struct world *world = *state;
    static const char *const path = "build-catalog-test.csv";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(HEAD "mine,peak_bf16,1,PFLOP/s,me,2026-11,,\nmine,hbm_capacity,100,GB,me,2026-11,,\n"
          "mine,hbm_bandwidth,4,TB/s,me,2026-11,,\nmine,chips,4,1,me,2026-11,,\n"
          "half,chips,4,1,me,2026-11,,\n", file);
    fclose(file);
    machine(world, "build-catalog-test.csv:mine");
    near(fact(&world->facts, "peak_bf16"), 1e15);
    struct facts facts = { .arena = &world->arena };
    bool one = catalog_machine(&world->catalog, path, &facts, &world->error);
    char *what = world->error.what;
    assert_false(one);
    assert_non_null(strstr(what, "has 2 entries"));
    assert_false(catalog_machine(&world->catalog, "build-catalog-test.csv:half", &facts,
                                 &world->error));
    assert_non_null(strstr(what, "half has no hbm_bandwidth"));
    assert_false(catalog_machine(&world->catalog, "build-catalog-test.csv:mien", &facts,
                                 &world->error));
    assert_non_null(strstr(world->error.hint, "mine"));
    remove(path);
    assert_false(catalog_machine(&world->catalog, path, &facts, &world->error));
    assert_non_null(strstr(what, path));
}

static const struct fact *tier(const struct facts *facts, size_t entry, const char *column)
{
    const struct fact_table *table = facts_table((struct facts *)facts, "tier");
    for (size_t i = 0; i < table->columns; i++)
        if (!strcmp(table->column[i], column))
            return &table->cell[entry * table->columns + i];
    fail_msg("no column %s", column);
    return NULL;
}

static void tiers_fill_their_table(void **state)
{
    struct world *world = *state;
    struct facts facts = { .arena = &world->arena };
    catalog_tiers(&world->catalog, &facts);
    const struct fact_table *table = facts_table(&facts, "tier");
    assert_int_equal(table->entries, 4);                    /* recomputing is not one */
    assert_string_equal(table->entry[0], "hbm");
    assert_string_equal(tier(&facts, 0, "tier_capacity")->expression, "hbm_capacity");
    assert_string_equal(tier(&facts, 0, "tier_price")->expression, "chip_price");
    near(tier(&facts, 1, "tier_capacity")->value, 768e9);
    near(tier(&facts, 1, "tier_cost")->value, 5e-9);
    near(tier(&facts, 1, "tier_life")->value, 5 * 365.0 * 86400);
    for (size_t i = 1; i < table->entries; i++) {           /* the rent is the cost over the life */
        double rent = tier(&facts, i, "tier_cost")->value * tier(&facts, i, "tier_capacity")->value /
                      tier(&facts, i, "tier_life")->value;
        assert_true(fabs(tier(&facts, i, "tier_price")->value / rent - 1) < 0.005);
    }
}

static void prices_are_per_token(void **state)
{
    struct world *world = *state;
    const struct catalog_entry *entry =
        catalog_find(&world->catalog, CATALOG_PRICE, "google/gemini-2.5-pro", &world->error);
    assert_non_null(entry);
    double value;
    assert_true(catalog_number(entry, "input", &value));
    near(value, 1.25e-6);
    assert_true(catalog_number(entry, "storage", &value));
    near(value, 4.5e-6 / 3600);
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_PRICE); i++) {
        double input, output, read;
        entry = catalog_entry(&world->catalog, CATALOG_PRICE, i);
        assert_true(catalog_number(entry, "input", &input));
        assert_true(catalog_number(entry, "output", &output));
        assert_true(input <= output && output < 1e-3);
        if (catalog_number(entry, "cached_read", &read))
            assert_true(read < input);
    }
}

/* One word names an engine and a version: the constants, and the version by which rules and chips are looked up. */
static void an_engine_has_versions(void **state)
{
    static const struct { const char *word, *entry, *version; } rows[] = {      /* no entry: the hint instead of a version */
        { "vllm", "vllm", "0.19" },            { "vllm@0.19", "vllm", "0.19" },       { "vllm@0.14", "vllm", "0.14" },
        { "vllm@0.13", "vllm-0.13", "0.13" },  { "vllm@0.9.2", "vllm-0.13", "0.9.2" }, { "vllm@0.6", "vllm-2024", "0.6" },
        { "vllm-2024", "vllm-2024", NULL },    { "tensorrt-llm@1.0", "trtllm", "1.0" }, { "sgl@0.5.18", "sglang", "0.5.18" },
        { "llamacpp@main", "llamacpp", "main" }, { "vllm@0.99", NULL, "0.3.3 to 0.24" }, { "sglang@0.6", NULL, "0.5.18" },
        { "vllm@", NULL, "0.3.3 to 0.24" },    { "none@1", NULL, "the engine without a version" },
        { "llamacpp@b6918", NULL, "main" },    { "vlm@0.19", NULL, "did you mean 'vllm'?" },
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error error;
        const struct catalog_entry *entry = catalog_engine_at(&world->catalog, rows[i].word, &error);
        const char *version = catalog_engine_version(&world->catalog, rows[i].word);
        if (!rows[i].entry) {
            assert_null(entry);
            assert_string_equal(error.hint, rows[i].version);
            continue;
        }
        assert_string_equal(entry->name, rows[i].entry);
        assert_true(rows[i].version ? version && !strcmp(version, rows[i].version) : !version);
    }
    static const char *const then[][3] = {              /* engine, the version that a sheet states, entry */
        { "vllm", "0.11.1", "vllm-0.13" }, { "vllm", "0.12.0", "vllm-0.13" }, { "vllm", "v0.13.0rc2", "vllm-0.13" },
        { "vllm", "0.14.0", "vllm" }, { "vllm", "0.99", "vllm" }, { "vllm", "0.6.3.post1", "vllm-2024" },
        { "vllm", "nightly", "vllm" }, { "vllm", "", "vllm" }, { "vllm", NULL, "vllm" },
        { "vllm-2024", "0.12.0", "vllm-2024" }, { "trtllm", "0.12.0", "trtllm-2024" }, { "trtllm", "1.2.0rc6", "trtllm" },
        { "sglang", "0.5.6.post1", "sglang" }, { "llamacpp", "6918", "llamacpp" }, { "vllm@0.12", "0.19", "vllm@0.12" } };
    for (size_t i = 0; i < COUNT(then); i++)
        assert_string_equal(catalog_engine_then(&world->catalog, then[i][0], then[i][1]), then[i][2]);
    assert_null(catalog_engine_then(&world->catalog, NULL, "0.12"));
    assert_true(catalog_version_order("0.9.2", "0.11") < 0 && catalog_version_order("0.11", "0.11") == 0 &&
                catalog_version_order("1.0", "0.18.2") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_has_its_facts),
        cmocka_unit_test(numbers_become_base_units),
        cmocka_unit_test(doubts_are_noted),
        cmocka_unit_test(missing_rates_are_bound),
        cmocka_unit_test(names_in_the_measurements_are_known),
        cmocka_unit_test(a_name_or_alias_means_one_entry),
        cmocka_unit_test(an_unknown_name_gets_the_nearest),
        cmocka_unit_test(names_that_people_have),
        cmocka_unit_test(every_model_becomes_a_document),
        cmocka_unit_test(published_figures_are_numbers),
        cmocka_unit_test(a_model_may_stand_on_another),
        cmocka_unit_test(cells_expand),
        cmocka_unit_test(same_as_must_end),
        cmocka_unit_test(faults_name_the_line),
        cmocka_unit_test(a_user_may_bring_a_sheet),
        cmocka_unit_test(tiers_fill_their_table),
        cmocka_unit_test(prices_are_per_token),
        cmocka_unit_test(an_engine_has_versions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
