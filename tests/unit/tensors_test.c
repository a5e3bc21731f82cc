/* tensors_test -- models from the tensors of their files: safetensors headers made here, indexes, GGUF files of
 * architectures that nobody knows, and what a file that lies is told. */
#include "headers.h"

static void assert_refused(struct read *read, const char *what, const char *expected)
{
    if (read->good)
        fail_msg("accepted, not refused with: %s", what);
    if (!strstr(read->error.what, what) || !strstr(read->error.hint, expected))
        fail_msg("%s (%s), not: %s (%s)", read->error.what, read->error.hint, what, expected);
    arena_free(&read->arena);
}

/* ---- a small model of two layers -------------------------------------------------------- */

#define SMALL(hidden, layers) \
    "{\"model_type\": \"llama\", \"hidden_size\": " hidden ", \"num_hidden_layers\": " layers ", \"vocab_size\": 100," \
    " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 96," \
    " \"torch_dtype\": \"bfloat16\"}"
static const char small_config[] = SMALL("64", "2");

static void add_layer(struct header *header, int layer, const char *queries)
{
    static const struct { const char *name, *shape; } tensors[] = {
        { "input_layernorm.weight", "64" }, { "post_attention_layernorm.weight", "64" },
        { "self_attn.k_proj.weight", "32,64" }, { "self_attn.v_proj.weight", "32,64" },
        { "self_attn.o_proj.weight", "64,64" }, { "mlp.gate_proj.weight", "96,64" },
        { "mlp.up_proj.weight", "96,64" }, { "mlp.down_proj.weight", "64,96" } };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        add(header, arena_print(header->arena, "model.layers.%d.%s", layer, tensors[i].name), "BF16",
            tensors[i].shape);
    add(header, arena_print(header->arena, "model.layers.%d.self_attn.q_proj.weight", layer), "BF16",
        queries);
}

static void add_small(struct header *header)
{
    add(header, "model.embed_tokens.weight", "BF16", "100,64");
    add_layer(header, 0, "64,64");
    add_layer(header, 1, "64,64");
    add(header, "model.norm.weight", "BF16", "64");
    add(header, "lm_head.weight", "BF16", "100,64");
}

static void a_header_is_read_with_its_configuration(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct header header = { .arena = &arena };
    add_small(&header);
    const struct shelf_file files[] = { { "m/model.safetensors", closed(&header) },
                                        { "m/config.json", text_of(small_config) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_true(read.good && read.total == header.elements && read.active == read.total);
    assert_true(read.bytes == header.offset && read.cache == 2 * 64);
    assert_int_equal(read.facts.note_count, 0);
    arena_free(&read.arena);
    open_files(&read, files, &(struct model_options){ .weights = "Q4_K_M" });
    if (!read.good || read.bytes >= 0.7 * header.offset)
        fail_msg("%s, %f of %f B", read.error.what, read.bytes, header.offset);
    arena_free(&read.arena);
    arena_free(&arena);
}

static void what_shapes_do_not_tell_is_asked_for(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct header header = { .arena = &arena };
    add_small(&header);
    struct shelf_file files[] = { { "model.safetensors", closed(&header) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_refused(&read, "num_attention_heads", "config.json beside the file");
    open_files(&read, files, &(struct model_options){ .shown = true });
    assert_true(read.good && read.total == header.elements && read.bytes == header.offset &&
                read.cache == 2 * 64);
    assert_noted(&read, "shapes do not tell num_attention_heads");
    arena_free(&read.arena);
    struct header normed = { .arena = &arena };
    add_small(&normed);
    add(&normed, "model.layers.0.self_attn.q_norm.weight", "BF16", "16");
    add(&normed, "model.layers.1.self_attn.q_norm.weight", "BF16", "16");
    files[0].text = closed(&normed);
    open_files(&read, files, NULL);
    assert_true(read.good);
    assert_true(cell(facts_table(&read.facts, "layer"), 0, NAME_query_heads) == 4);
    arena_free(&read.arena);
    arena_free(&arena);
}

static void what_differs_is_named(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct header header = { .arena = &arena };
    add_small(&header);
    add(&header, "model.layers.1.self_attn.q_proj.bias", "BF16", "64");
    add(&header, "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", "8");
    add(&header, "model.layers.2.self_attn.q_proj.weight", "BF16", "64,64");
    add(&header, "visual.blocks.0.attn.qkv.weight", "BF16", "30,10");
    const struct shelf_file files[] = { { "m/model.safetensors", closed(&header) },
                                        { "m/config.json", text_of(SMALL("64, \"num_nextn_predict_layers\": 1", "2")) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_true(read.good && read.total == header.elements - 8 - 64 * 64);
    assert_noted(&read, "(model.layers.1.self_attn.q_proj.bias)");
    assert_noted(&read, "buffers of 32 B");
    assert_noted(&read, "next-token layers of 4096 weights");
    assert_noted(&read, "towers and projectors of the file have 300 weights");
    arena_free(&read.arena);
    arena_free(&arena);
}

/* Layers and width give the caches: a configuration of other ones is of another model. */
static void a_configuration_of_another_model_is_refused(void **state)
{
    (void)state;
    static const struct { const char *config, *what; } others[] = {
        { SMALL("64", "80"), "config.json has num_hidden_layers 80, but the file's tensors have 2 layers; the last is that of model.layers.1." },
        { SMALL("64", "1"), "config.json has num_hidden_layers 1, but the file's tensors have 2 layers" },
        { SMALL("128", "2"), "config.json has hidden_size 128, but the file's tensor model.embed_tokens.weight is 100 x 64" } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct arena arena = { 0 };
        struct header header = { .arena = &arena };
        add_small(&header);
        const struct shelf_file files[] = { { "m/model.safetensors", closed(&header) },
                                            { "m/config.json", text_of(others[i].config) }, { 0 } };
        struct read read;
        open_files(&read, files, NULL);
        assert_refused(&read, others[i].what, "config.json and tensors of one model");
        arena_free(&arena);
    }
}

static void experts_are_counted(void **state)
{
    (void)state;
    static const char config[] =
        "{\"model_type\": \"mixtral\", \"hidden_size\": 64, \"num_hidden_layers\": 1, \"vocab_size\": 100,"
        " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 96,"
        " \"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"torch_dtype\": \"bfloat16\"}";
    struct arena arena = { 0 };
    struct header header = { .arena = &arena };
    const double expert = 3 * 64 * 96;
    add(&header, "model.embed_tokens.weight", "BF16", "100,64");
    add(&header, "model.norm.weight", "BF16", "64");
    add(&header, "lm_head.weight", "BF16", "100,64");
    add_layer(&header, 0, "64,64");
    const double plain = header.elements - 3 * 64 * 96;
    struct header mixed = { .arena = &arena };
    add(&mixed, "model.embed_tokens.weight", "BF16", "100,64");
    add(&mixed, "model.norm.weight", "BF16", "64");
    add(&mixed, "lm_head.weight", "BF16", "100,64");
    static const char *const rest[] = { "input_layernorm", "post_attention_layernorm" };
    for (int i = 0; i < 2; i++)
        add(&mixed, arena_print(&arena, "model.layers.0.%s.weight", rest[i]), "BF16", "64");
    add(&mixed, "model.layers.0.self_attn.q_proj.weight", "BF16", "64,64");
    add(&mixed, "model.layers.0.self_attn.k_proj.weight", "BF16", "32,64");
    add(&mixed, "model.layers.0.self_attn.v_proj.weight", "BF16", "32,64");
    add(&mixed, "model.layers.0.self_attn.o_proj.weight", "BF16", "64,64");
    add(&mixed, "model.layers.0.block_sparse_moe.gate.weight", "BF16", "8,64");
    for (int i = 0; i < 8; i++)
        for (int k = 1; k <= 3; k++)
            add(&mixed, arena_print(&arena, "model.layers.0.block_sparse_moe.experts.%d.w%d.weight", i, k),
                "BF16",
                k == 2 ? "64,96" : "96,64");
    struct shelf_file files[] = { { "m/model.safetensors", closed(&mixed) },
                                  { "m/config.json", text_of(config) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_true(read.good && read.total == mixed.elements && read.active == plain + 8 * 64 + 2 * expert);
    assert_int_equal(read.facts.note_count, 0);
    arena_free(&read.arena);
    files[1].path = "elsewhere.json";
    open_files(&read, files, NULL);
    assert_refused(&read, "num_experts_per_tok", "config.json beside the file");
    arena_free(&arena);
}

/* ---- parts and indexes ------------------------------------------------------------------ */

static void parts_are_one_model(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct header first = { .arena = &arena }, second = { .arena = &arena };
    add(&first, "model.embed_tokens.weight", "BF16", "100,64");
    add_layer(&first, 0, "64,64");
    add_layer(&second, 1, "64,64");
    add(&second, "model.norm.weight", "BF16", "64");
    add(&second, "lm_head.weight", "BF16", "100,64");
    static const char index[] = "{\"metadata\": {\"total_size\": 2}, \"weight_map\": {\"a\": "
                                "\"model-00001-of-00002.safetensors\", \"b\": \"model-00002-of-00002.safetensors\"}}";
    struct shelf_file files[] = { { "m/model-00001-of-00002.safetensors", closed(&first) },
                                  { "m/model-00002-of-00002.safetensors", closed(&second) },
                                  { "m/config.json", text_of(small_config) },
                                  { "m/model.safetensors.index.json", text_of(index) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_true(read.good && read.total == first.elements + second.elements && !read.facts.note_count);
    arena_free(&read.arena);
    const struct shelf_file by_index[] = { files[3], files[0], files[1], files[2], { 0 } };
    open_files(&read, by_index, NULL);
    assert_true(read.good && read.total == first.elements + second.elements);
    assert_noted(&read, "the index names 2 tensors, its files have 21");
    arena_free(&read.arena);
    const struct shelf_file one[] = { files[0], files[2], { 0 } };
    open_files(&read, one, NULL);
    assert_refused(&read, "model-00002-of-00002.safetensors: not there", "all parts beside each other");
    arena_free(&arena);
}

static void an_index_must_agree(void **state)
{
    (void)state;
    static const double weights = 2 * 100 * 64 + 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 64 * 96);
    struct arena arena = { 0 };
    struct read read;
    struct shelf_file files[] = { { .path = "m/model.safetensors.index.json" },
                                  { "m/config.json", text_of(small_config) }, { 0 } };
    for (int more = 0; more < 2; more++) {
        files[0].text = text_of(arena_print(&arena, "{\"metadata\": {\"total_size\": %.0f}, \"weight_map\": "
            "{\"model.layers.0.self_attn.rotary_emb.inv_freq\": \"a.bin\"}}", 2 * weights + more * 32));
        open_files(&read, files, NULL);
        assert_true(read.good && read.total == weights);
        assert_noted(&read, more ? "32 more than the configuration makes; tensors it does not explain: "
                                   "model.layers.0.self_attn.rotary_emb.inv_freq (buffer)"
                                 : "the index agrees with the configuration");
        arena_free(&read.arena);
    }
    files[1].path = "other.json";
    open_files(&read, files, NULL);
    assert_refused(&read, "names of tensors and not their shapes", "config.json beside it");
    files[0].text = text_of("{\"weight_map\": {\"a\": \"../secret\"}}");
    open_files(&read, files, NULL);
    assert_refused(&read, "not the name of a file beside it", "weight_map");
    files[0].text = text_of("{\"weight_map\": []}");
    open_files(&read, files, NULL);
    assert_refused(&read, "weight_map is not an object", "weight_map");
    arena_free(&arena);
}

/* ---- quantised files --------------------------------------------------------------------- */

/* The matrix down_proj of a layer, 96 to 64, as each method stores it, with the bytes of all. */
static const struct method {
    const char *name, *config;
    struct { const char *end, *type, *shape; } parts[6];
    double bytes;
} methods[] = {
    { "awq", "\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 32",
      { { ".qweight", "I32", "96,8" }, { ".qzeros", "I32", "3,8" }, { ".scales", "F16", "3,64" } },
      96 * 64 * (0.5 + 2.5 / 32) },
    { "gptq", "\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32",
      { { ".qweight", "I32", "12,64" }, { ".qzeros", "I32", "3,8" }, { ".scales", "F16", "3,64" },
        { ".g_idx", "I32", "96" } }, 96 * 64 * (0.5 + 2.5 / 32 + 4.0 / 64) },
    { "packed",
      "\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"config_groups\": {\"g\":"
      " {\"weights\": {\"num_bits\": 4, \"type\": \"int\", \"group_size\": 32}}}",
      { { ".weight_packed", "I32", "64,12" }, { ".weight_scale", "BF16", "64,3" }, { ".weight_shape", "I64",
                                                                                     "2" } },
      96 * 64 * (0.5 + 2.0 / 32) + 16 },
    { "channels",
      "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": {\"num_bits\": 8,"
      " \"type\": \"float\"}, \"input_activations\": {}}}",
      { { ".weight", "F8_E4M3", "64,96" }, { ".weight_scale", "BF16", "64,1" } }, 96 * 64 * (1 + 2.0 / 96) },
    { "fp8 blocks", "\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]",
      { { ".weight", "F8_E4M3", "64,96" }, { ".weight_scale_inv", "F32", "1,1" } }, 96 * 64 + 4 },
    { "nf4", "\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true",
      { { ".weight", "U8", "3072,1" }, { ".weight.absmax", "U8", "96" }, { ".weight.nested_absmax", "F32",
                                                                           "1" },
        { ".weight.quant_map", "F32", "16" }, { ".weight.nested_quant_map", "F32", "256" },
        { ".weight.quant_state.bitsandbytes__nf4", "U8", "90" } }, 3072 + 96 + 4 + 64 + 1024 + 90 },
    { "int8", "\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true",
      { { ".weight", "I8", "64,96" }, { ".SCB", "F32", "64" } }, 96 * 64 * (1 + 4.0 / 96) },
    { "nvfp4", "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"",
      { { ".weight", "U8", "64,48" }, { ".weight_scale", "F8_E4M3", "64,6" }, { ".weight_scale_2", "F32",
                                                                                "" },
        { ".input_scale", "F32", "" } }, 96 * 64 * 0.5625 + 8 },
    { "fp8", "\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"",
      { { ".weight", "F8_E4M3", "64,96" }, { ".weight_scale", "F32", "" }, { ".input_scale", "F32", "" } },
      96 * 64 + 8 },
    { "mlx", "\"bits\": 8, \"group_size\": 32",
      { { ".weight", "U32", "64,24" }, { ".scales", "BF16", "64,3" }, { ".biases", "BF16", "64,3" } },
      96 * 64 * 1.125 },
    { "an unheard-of method", "\"quant_method\": \"novel\"",
      { { ".weight", "F8_E4M3", "64,96" } }, 96 * 64 },
};

static void scales_are_bytes_of_their_matrix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        struct arena arena = { 0 };
        struct header header = { .arena = &arena };
        add_small(&header);
        const double elements = header.elements, rest = header.offset - 2 * 96 * 64;
        const char *json = arena_print(&arena, "%s, \"quantization_config\": {%s}}",
                                       arena_copy(&arena, small_config,
                                                  strlen(small_config) - 1), method->config);
        char *old = strstr(header.out.data, "model.layers.1.mlp.down_proj.weight");
        memcpy(old, "model.layers.1.mlp.gone_proj.bufxx", 34);          /* the plain one is a stranger now */
        for (int k = 0; k < 6 && method->parts[k].end; k++)
            add(&header, arena_print(&arena, "model.layers.1.mlp.down_proj%s", method->parts[k].end),
                method->parts[k].type, method->parts[k].shape);
        const struct shelf_file files[] = { { "m/model.safetensors", closed(&header) },
                                            { "m/config.json", text_of(json) }, { 0 } };
        struct read read;
        open_files(&read, files, NULL);
        if (!read.good || read.total != elements + 96 * 64 ||
            fabs(read.bytes - rest - 2 * 96 * 64 - method->bytes) > 1e-6)
            fail_msg("%s: %s; %.0f weights, %.2f B", method->name, read.error.what, read.total - elements,
                     read.bytes - rest - 2 * 96 * 64);
        arena_free(&read.arena);
        arena_free(&arena);
    }
}

static void blocks_of_experts_are_packed(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct header header = { .arena = &arena };
    static const char config[] = "{\"model_type\": \"novel\", \"num_attention_heads\": 4, \"num_experts_per_tok\": 2}";
    add_small(&header);
    const double elements = header.elements;
    add(&header, "model.layers.1.mlp.experts.down_proj_blocks", "U8", "8,64,3,16");
    add(&header, "model.layers.1.mlp.experts.down_proj_scales", "U8", "8,64,3");
    add(&header, "model.layers.1.mlp.experts.down_proj_bias", "BF16", "8,64");
    const struct shelf_file files[] = { { "m/model.safetensors", closed(&header) },
                                        { "m/config.json", text_of(config) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    if (!read.good)
        fail_msg("%s (%s)", read.error.what, read.error.hint);
    assert_true(read.total == elements + 8 * 64 * 96 + 8 * 64 && read.bytes == header.offset);
    assert_true(read.active == elements + 2 * 64 * 96 + 2 * 64);
    arena_free(&read.arena);
    arena_free(&arena);
}

/* ---- files that lie ---------------------------------------------------------------------- */

static void lies_are_refused(void **state)
{
    (void)state;
    static const struct { const char *json, *what, *expected; } lies[] = {
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
          "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[8,24]}}", "'a' and 'b' overlap", "bytes of its own" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
          "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[4,8]}}", "duplicate", "each name once" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-4,4],\"data_offsets\":[0,16]}}", "not a count",
          "dtype, shape" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1e300,1e300],\"data_offsets\":[0,16]}}", "not a count",
          "dtype, shape" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,16]}}", "another number of bytes",
          "dtype" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", "more than 6",
          "dtype" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}", "begin and an end", "dtype" },
        { "{\"a\":{\"dtype\":\"Q9\",\"shape\":[4],\"data_offsets\":[0,16]}}", "dtype is none", "dtype" },
        { "{\"a\":[]}", "dtype is none", "dtype" },
        { "{\"\":{}}", "no name", "dtype" },
        { "{}", "no tensors", "header of a model" },
        { "[1]", "not a JSON object", "safetensors" },
        { "{\"a\":", "model.safetensors:1:", "one JSON value" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", "no embedding",
          "language model" } };
    struct arena arena = { 0 };
    struct read read;
    struct shelf_file files[] = { { .path = "model.safetensors" }, { 0 } };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        files[0].text = file_of(&arena, text_of(lies[i].json), strlen(lies[i].json));
        open_files(&read, files, NULL);
        assert_refused(&read, lies[i].what, lies[i].expected);
    }
    static const uint64_t sizes[] = { (uint64_t)1 << 60, UINT64_MAX, 0, 1, 100000001 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        files[0].text = file_of(&arena, text_of("{}"), sizes[i]);
        open_files(&read, files, NULL);
        assert_refused(&read, arena_print(&arena, "claims %llu bytes", (unsigned long long)sizes[i]),
                       "2 to 100000000");
    }
    files[0].text = file_of(&arena, text_of("{}"), 1000);
    open_files(&read, files, NULL);
    assert_refused(&read, "cut off: 10 of 1008 bytes", "first 1008 bytes");
    files[0].text = text_of("\x05");
    open_files(&read, files, NULL);
    assert_refused(&read, "1 bytes", "length of its header");
    arena_free(&arena);
}

static void nesting_has_an_end(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    buffer_print(&out, "{\"a\":");
    for (int i = 0; i < 200; i++)
        buffer_print(&out, "[");
    for (int i = 0; i < 200; i++)
        buffer_print(&out, "]");
    buffer_print(&out, "}");
    const struct shelf_file files[] = {
        { "model.safetensors", file_of(&arena, (struct text){ out.data, out.size }, out.size) }, { 0 } };
    struct read read;
    open_files(&read, files, NULL);
    assert_refused(&read, "nested more than", "");
    arena_free(&arena);
}

/* ---- GGUF of any architecture -------------------------------------------------------------- */

static void put(struct buffer *out, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        buffer_add(out, &(char){ (char)(value >> (8 * i)) }, 1);
}

static void put_string(struct buffer *out, const char *string)
{
    put(out, strlen(string), 8);
    buffer_add(out, string, strlen(string));
}

static void put_tensor(struct buffer *out, const char *name, uint64_t type, uint64_t in, uint64_t rows,
                       uint64_t more)
{
    const int dimensions = more ? 3 : rows ? 2 : 1;
    put_string(out, name);
    put(out, (uint64_t)dimensions, 4);
    put(out, in, 8);
    if (rows)
        put(out, rows, 8);
    if (more)
        put(out, more, 8);
    put(out, type, 4);
    put(out, 0, 8);
}

/* The number of tensors of a GGUF file, 123, has the byte of the brace with which the header of a safetensors file
 * begins: the first four bytes tell the two apart. */
static void gguf_of_123_tensors_is_gguf(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct read read;
    buffer_add(&out, "GGUF", 4);
    put(&out, 3, 4);
    put(&out, '{', 8);
    put(&out, 0, 8);
    const struct shelf_file files[] = { { "brace.gguf", { out.data, out.size } }, { 0 } };
    open_files(&read, files, NULL);
    if (read.good || !strstr(read.error.what, "GGUF"))
        fail_msg("%s", read.good ? "an empty file is read" : read.error.what);
    arena_free(&read.arena);
    arena_free(&arena);
}

/* One layer of attention with experts, one of a state: what no list of architectures knows. */
static struct text novel_gguf(struct arena *arena, size_t part, size_t parts)
{
    static const struct { const char *key; uint64_t value; } counts[] = {
        { "novel.block_count", 2 }, { "novel.embedding_length", 256 }, { "novel.attention.head_count", 8 },
        { "novel.attention.key_length", 64 }, { "novel.expert_count", 4 }, { "novel.expert_used_count", 2 },
        { "novel.ssm.state_size", 16 } };
    static const struct { const char *name; uint64_t type, in, rows, more; } tensors[] = {
        { "token_embd.weight", 14, 256, 5000, 0 }, { "output_norm.weight", 0, 256, 0, 0 },
        { "blk.0.attn_q.weight", 12, 256, 512, 0 }, { "blk.0.attn_k.weight", 12, 256, 128, 0 },
        { "blk.0.attn_v.weight", 14, 256, 128, 0 }, { "blk.0.attn_output.weight", 12, 512, 256, 0 },
        { "blk.0.ffn_up_exps.weight", 12, 256, 512, 4 }, { "blk.1.ssm_in.weight", 12, 256, 1024, 0 },
        { "blk.1.ssm_conv1d.weight", 0, 4, 512, 0 }, { "blk.1.ssm_out.weight", 12, 512, 256, 0 } };
    const size_t count = sizeof tensors / sizeof *tensors, from = count * part / parts, end = count * (part + 1) / parts;
    struct buffer out = { .arena = arena };
    buffer_add(&out, "GGUF", 4);
    put(&out, 3, 4);
    put(&out, end - from, 8);
    put(&out, 2 + sizeof counts / sizeof *counts, 8);
    put_string(&out, "general.architecture");
    put(&out, 8, 4);
    put_string(&out, "novel");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        put_string(&out, counts[i].key);
        put(&out, 4, 4);
        put(&out, counts[i].value, 4);
    }
    put_string(&out, "novel.attention.head_count_kv");
    put(&out, 9, 4);
    put(&out, 4, 4);
    put(&out, 2, 8);
    put(&out, 2, 4);
    put(&out, 0, 4);
    for (size_t i = from; i < end; i++)
        put_tensor(&out, tensors[i].name, tensors[i].type, tensors[i].in, tensors[i].rows, tensors[i].more);
    return (struct text){ out.data, out.size };
}

static void any_architecture_of_gguf_is_read(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct shelf_file files[] = { { "novel.gguf", novel_gguf(&arena, 0, 1) }, { 0 } };
    const struct shelf_file parts[] = { { "n-00002-of-00002.gguf", novel_gguf(&arena, 1, 2) },
                                        { "n-00001-of-00002.gguf", novel_gguf(&arena, 0, 2) }, { 0 } };
    const struct shelf_file one[] = { parts[1], { 0 } };
    const double q6 = 210.0 / 256, q4 = 144.0 / 256;
    const double fours = 256 * 512 + 256 * 128 + 512 * 256 + 4 * 256 * 512 + 256 * 1024 + 512 * 256;
    struct read read;
    open_files(&read, files, NULL);
    if (!read.good)
        fail_msg("%s (%s)", read.error.what, read.error.hint);
    assert_true(read.total == 256 * 5000 + 256 + fours + 256 * 128 + 4 * 512);
    assert_true(read.active == read.total - 2 * 256 * 512 && read.cache == 2 * 128);
    assert_true(fabs(read.bytes - (256 * 5000 + 256 * 128) * q6 - fours * q4 - 4 * (256 + 4 * 512)) < 1e-6);
    const struct fact_table *layers = facts_table(&read.facts, "layer");
    double states = 0, heads = 0;
    for (size_t i = 0; i < layers->entries; i++) {
        states += cell(layers, i, NAME_state_elements) * 4 + cell(layers, i, NAME_state_inputs) * 2;
        heads += cell(layers, i, NAME_query_heads);
    }
    assert_true(states == 512 * 16 * 4 + 512 * 3 * 2 && heads == 8);
    const double total = read.total;
    arena_free(&read.arena);
    open_files(&read, parts, NULL);
    assert_true(read.good && read.total == total);
    arena_free(&read.arena);
    open_files(&read, one, NULL);
    assert_refused(&read, "n-00002-of-00002.gguf: not there", "all parts beside each other");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_read_with_its_configuration),
        cmocka_unit_test(what_shapes_do_not_tell_is_asked_for),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(a_configuration_of_another_model_is_refused),
        cmocka_unit_test(experts_are_counted),
        cmocka_unit_test(parts_are_one_model),
        cmocka_unit_test(an_index_must_agree),
        cmocka_unit_test(scales_are_bytes_of_their_matrix),
        cmocka_unit_test(blocks_of_experts_are_packed),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(gguf_of_123_tensors_is_gguf), cmocka_unit_test(any_architecture_of_gguf_is_read),
    };
    return cmocka_run_group_tests_name("tensors", tests, NULL, NULL);
}
