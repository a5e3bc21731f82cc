/* plan --emit: what was written is read back, and says what the plan said; memory, hosts and
 * seats are reckoned again by the engines' own rules; a real shell and, where there is one,
 * Python's YAML read the same. */
#include "tests/unit/emit_readers.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const engine_names[ENGINES] = { "vllm", "sglang", "trtllm" };

/* ---- the plan ---------------------------------------------------------------------------- */

static double figure(const struct doc *point, const char *name)
{
    const struct doc *value = doc_get(point, name);
    return value ? value->number : NAN;
}

static double copies(const struct doc *point)
{
    static const char *const names[] = { "replicas", "pool_replicas", "pool_pairs_needed" };
    size_t i = 0;
    while (!doc_get(point, names[i]))
        i++;
    return figure(point, names[i]);
}

static bool is_kind(const struct doc *point, const char *kind)
{
    return !strcmp(doc_get(point, "kind")->string, kind);
}

struct lengths {
    double in, out;
};

/* The seats that were predicted, which hold what runs. */
static void check_seats(const struct doc *point, double seats)
{
    const struct doc *servers = doc_get(point, "servers");
    const double held = figure(point, "running") / figure(servers->last, "count") / figure(servers->last, "attention_dp");
    assert_true(seats == figure(point, "seats") && seats >= floor(held));
}

static const char *prefixed(struct arena *arena, bool prompts, const char *name)
{
    return prompts ? arena_print(arena, "prefill_%s", name) : name;
}

/* Sizes of a server of this role, as the plan has them. */
static void check_sizes(struct arena *arena, const struct doc *point, const struct settings *got)
{
    const bool prompts = !strcmp(got->role, "prefill");
    const double chips = figure(point, prefixed(arena, prompts, "chips"));
    const double ranks = figure(point, prefixed(arena, prompts, "attention_dp"));
    const double stages = figure(point, prefixed(arena, prompts, "pipeline_parallel"));
    assert_true(got->gpus == chips && got->ranks == ranks && got->pipeline == stages);
    assert_true(got->tensor == chips / ranks / stages);
    if (prompts)                    /* a pool for prompts spreads whole experts over its ranks */
        assert_true(got->experts == (ranks > 1 ? chips / stages : 1));
    else
        assert_true(got->experts == figure(point, "expert_parallel"));
    assert_true(got->guesses == figure(point, "draft_tokens"));
    assert_true(is_kind(point, strcmp(got->role, "together") ? "pools" : "together"));
}

/* Tokens of a step: the prompts' of the plan, beside one and its guesses of each sequence. */
static void check_limits(const struct doc *point, const struct settings *got, double chunk,
                         const struct lengths *lengths)
{
    const double most = (lengths->in + lengths->out) * 1.25;
    assert_true(got->length >= most && got->length < most + 16 && fmod(got->length, 16) == 0);
    if (!strcmp(got->role, "prefill")) {
        assert_true(isnan(got->seats));
        assert_true(isnan(got->tokens) || got->tokens == chunk);
    } else {
        check_seats(point, got->seats);
        assert_true(isnan(got->tokens) || got->tokens == fmax(chunk, got->seats));
    }
    assert_true(isnan(got->chunk) || got->chunk == chunk);
}

/* ---- commands ---------------------------------------------------------------------------- */

struct emitted {
    const char *command;
    enum engine engine;
    const char *model, *cache, *weights;        /* as the engine calls them; NULL: unsaid */
    double host;                                /* GPUs of one */
    struct lengths lengths;
};

static bool is_router(const struct launched *command)
{
    return !strncmp(command->title, "# router", 8);
}

/* The hand-over of vLLM needs an address that others reach, and a port for each rank. */
static void check_environment(const struct emitted *wanted, const struct doc *point,
                              const struct launched *command)
{
    size_t channels = 0;
    for (size_t i = 0; i < command->environment.count; i++)
        if (!strncmp(command->environment.at[i], "VLLM_NIXL_SIDE_CHANNEL_", 23))
            channels++;
        else
            assert_memory_equal(command->environment.at[i], "CUDA_VISIBLE_DEVICES=", 21);
    assert_int_equal(channels, wanted->engine == VLLM && is_kind(point, "pools") ? 2 : 0);
}

static void check_command(struct arena *arena, const struct emitted *wanted,
                          const struct doc *point, const struct script *script,
                          const struct launched *command)
{
    struct settings got;
    const double chunk = is_kind(point, "together") ? figure(point, "chunked_prefill_size") : 8192;
    read_settings(script, command, wanted->engine, &got);
    check_environment(wanted, point, command);
    check_sizes(arena, point, &got);
    check_limits(point, &got, chunk, &wanted->lengths);
    assert_string_equal(got.model, wanted->model);
    assert_string_equal(got.cache ? got.cache : "", wanted->cache ? wanted->cache : "");
    assert_string_equal(got.weights ? got.weights : "", wanted->weights ? wanted->weights : "");
    assert_true(got.memory > 0.3 && got.memory < 1);
}

/* "5 to 7, 9" of a title after a word: how many, and each. */
static size_t numbers_after(const char *title, const char *word, size_t *out)
{
    const char *at = strstr(title, word);
    size_t count = 0;
    assert_non_null(at);
    for (at += strlen(word);;) {
        char *end;
        size_t first = strtoul(at, &end, 10), last = first;
        if (!strncmp(end, " to ", 4))
            last = strtoul(end + 4, &end, 10);
        for (size_t n = first; n <= last; n++)
            out[count++] = n;
        if (strncmp(end, ", ", 2) || !strchr("0123456789", end[2]))
            return count;
        at = end + 2;
    }
}

enum { HOSTS = 512, GPUS = 32 };

/* Of a command that listens: no two of a host on one port. */
static void check_port(const struct launched *command, enum engine engine, bool *taken)
{
    const bool launched = !strcmp(command->words.at[0], "mpirun");
    const struct words words = { command->words.at + 4 * launched,
                                 command->words.count - 4 * launched, 0 };
    const char *port = flag_of(&words, engine, "--port");
    if (!port) {
        assert_true(engine != TRTLLM && strstr(command->title, ", part ") &&
                    !strstr(command->title, ", part 1 of "));
        return;
    }
    const double at = number_of(port, 0) - 8000;
    assert_true(at >= 0 && at < GPUS && !taken[(size_t)at]);
    taken[(size_t)at] = true;
}

/* No GPU of a host has two masters, and all GPUs of the plan are told to work. */
static void check_hosts(const struct emitted *wanted, const struct doc *point,
                        const struct script *script)
{
    static bool taken[HOSTS][GPUS], ports[HOSTS][GPUS];
    double gpus = 0;
    memset(taken, 0, sizeof taken);
    memset(ports, 0, sizeof ports);
    for (size_t c = 0; c < script->count; c++) {
        const struct launched *command = &script->commands[c];
        struct settings got;
        size_t hosts[HOSTS];
        const char *devices = NULL;
        if (is_router(command))
            continue;
        read_settings(script, command, wanted->engine, &got);
        size_t count = numbers_after(command->title, strstr(command->title, ": hosts ")
                                     ? ": hosts " : ": host ", hosts);
        for (size_t i = 0; i < command->environment.count; i++)
            if (!strncmp(command->environment.at[i], "CUDA_VISIBLE_DEVICES=", 21))
                devices = command->environment.at[i] + 21;
        for (size_t h = 0; h < count; h++) {
            const char *next = devices;
            check_port(command, wanted->engine, ports[hosts[h]]);
            assert_true(hosts[h] < HOSTS && (got.here <= wanted->host || wanted->engine == TRTLLM));
            for (double g = 0; g < fmin(got.here, wanted->host); g++) {
                size_t gpu = devices ? strtoul(next, (char **)&next, 10) : (size_t)g;
                next += devices && *next == ',';
                assert_true((double)gpu < wanted->host && !taken[hosts[h]][gpu]);
                taken[hosts[h]][gpu] = true;
            }
            gpus += got.here;
        }
    }
    assert_true(gpus == copies(point) * figure(point, "server_gpus"));
}

/* The same words in the document. */
static void check_document(const struct answer *answer, const struct script *script)
{
    const struct doc *kid = doc_get(doc_get(answer->doc, "emit"), "servers")->first;
    for (size_t c = 0; c < script->count; c++, kid = kid->next) {
        const struct words *words = &script->commands[c].words;
        assert_non_null(kid);
        const struct doc *word = doc_get(kid, "command")->first;
        for (size_t i = 0; i < words->count; i++, word = word->next)
            assert_string_equal(words->at[i], word->string);
        assert_null(word);
    }
    assert_null(kid);
}

static const struct emitted cases[] = {
    { "qwen3-32b --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms", VLLM,
      "Qwen/Qwen3-32B", NULL, NULL, 8, { 4000, 500 } },
    { "Qwen/Qwen3-32B --on h200-sxm --gpus 32 --isl 4000 --osl 500 --precision fp8 --pick 90",
      SGLANG, "Qwen/Qwen3-32B", NULL, "fp8", 8, { 4000, 500 } },
    { "llama-3.1-8b --on h100-sxm --gpus 16 --isl 1000 --osl 200 --kv-precision fp8", VLLM,
      "meta-llama/Llama-3.1-8B", "fp8", NULL, 8, { 1000, 200 } },
    { "llama-3.1-8b --on h100-sxm --gpus 16 --isl 1000 --osl 200 --kv-precision fp8", SGLANG,
      "meta-llama/Llama-3.1-8B", "fp8_e4m3", NULL, 8, { 1000, 200 } },
    { "llama-3.1-8b --on h100-sxm --gpus 16 --isl 1000 --osl 200 --kv-precision fp8", TRTLLM,
      "meta-llama/Llama-3.1-8B", "fp8", NULL, 8, { 1000, 200 } },
    { "llama-3.1-8b --on h100-sxm --gpus 16 --isl 1000 --osl 200 --set chips=4 "
      "--set pipeline_parallel=2 --ttft 200ms --pick 25", TRTLLM,
      "meta-llama/Llama-3.1-8B", NULL, NULL, 8, { 1000, 200 } },
    { "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 2s --tpot 30ms", VLLM,
      "deepseek-ai/DeepSeek-V3", NULL, NULL, 8, { 4000, 500 } },
    { "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --draft 1 --ttft 2s --tpot 30ms",
      SGLANG, "deepseek-ai/DeepSeek-V3", NULL, NULL, 8, { 4000, 500 } },
    { "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --set attention_dp=16 "
      "--set chips=16 --set draft_tokens=1", VLLM,
      "deepseek-ai/DeepSeek-V3", NULL, NULL, 8, { 4000, 500 } },
    { "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --kv-precision fp8", TRTLLM,
      "deepseek-ai/DeepSeek-V3", "fp8", NULL, 4, { 4000, 500 } },
    { "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --pick 41 --engine sglang", SGLANG,
      "deepseek-ai/DeepSeek-V3", NULL, NULL, 4, { 4000, 500 } },
    { "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --pick 41 --engine trtllm", TRTLLM,
      "deepseek-ai/DeepSeek-V3", NULL, NULL, 4, { 4000, 500 } },
    { "qwen3-30b-a3b --on h100-sxm --gpus 8 --isl 2000 --osl 300 --pick 100", VLLM,
      "Qwen/Qwen3-30B-A3B", NULL, NULL, 8, { 2000, 300 } },
};

static void commands_say_the_plan(void **state)
{
    (void)state;
    size_t commands = 0, pools = 0, ranks = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct script *script = arena_alloc(&arena, sizeof *script);
        ask_well(&arena, arena_print(&arena, "%s --emit %s", cases[i].command,
                                     engine_names[cases[i].engine]), &answer);
        const struct doc *point = point_of(&answer);
        read_script(&arena, answer.text.data, script);
        for (size_t c = 0; c < script->count; c++)
            if (!is_router(&script->commands[c]))
                check_command(&arena, &cases[i], point, script, &script->commands[c]);
        check_hosts(&cases[i], point, script);
        check_document(&answer, script);
        commands += script->count;
        pools += is_kind(point, "pools");
        ranks += figure(point, "attention_dp") > 1;
        arena_free(&arena);
    }
    printf("%zu plans, %zu of pools, %zu with attention ranks: %zu commands\n", COUNT(cases), pools,
           ranks, commands);
    assert_true(pools >= 2 && ranks >= 3);
}

/* ---- routers ----------------------------------------------------------------------------- */

static size_t count_values(const struct words *words, const char *flag)
{
    size_t count = 0;
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], flag))
            for (size_t k = i + 1; k < words->count && strncmp(words->at[k], "--", 2); k++)
                count++;
    return count;
}

/* It is told of every server of both pools. */
static void routers_know_all(void **state)
{
    (void)state;
    static const char command[] = "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 "
                                   "--ttft 2s --tpot 30ms --pick %d --emit %s";
    struct arena arena = { 0 };
    struct answer answer;
    struct script *script = arena_alloc(&arena, sizeof *script);
    ask_well(&arena, arena_print(&arena, command, 50, "vllm"), &answer);
    const struct doc *point = point_of(&answer);
    const size_t prefill = (size_t)(figure(point, "prefill_workers") * copies(point));
    const size_t decode = (size_t)(figure(point, "decode_workers") * copies(point));
    assert_true(is_kind(point, "pools") && decode > 1);
    read_script(&arena, answer.text.data, script);
    const struct words *words = &script->commands[script->count - 1].words;
    flag_of(words, VLLM, "");
    assert_int_equal(count_values(words, "--prefiller-hosts"), prefill);
    assert_int_equal(count_values(words, "--prefiller-ports"), prefill);
    assert_int_equal(count_values(words, "--decoder-hosts"), decode);
    assert_int_equal(count_values(words, "--decoder-ports"), decode);
    ask_well(&arena, arena_print(&arena, command, 50, "sglang"), &answer);
    read_script(&arena, answer.text.data, script);
    words = &script->commands[script->count - 1].words;
    flag_of(words, SGLANG, "");
    assert_int_equal(count_values(words, "--prefill"), 2 * prefill);
    assert_int_equal(count_values(words, "--decode"), decode);
    ask_well(&arena, "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --pick 41 "
             "--engine trtllm --emit trtllm", &answer);
    point = point_of(&answer);
    read_script(&arena, answer.text.data, script);
    const struct doc *file = script->files[script->file_count - 1].doc;
    const struct doc *urls = doc_get(doc_get(file, "context_servers"), "urls");
    assert_int_equal(urls->count, (size_t)(figure(point, "prefill_workers") *
                                           copies(point)));
    assert_true(key_number(file, "generation_servers", "num_instances") ==
                figure(point, "decode_workers") * copies(point));
    arena_free(&arena);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Llama-3.1-8B in bf16 on one H100 with chunks of 2,048. By hand: weights 8,030,261,248 x 2 B =
 * 16.0605 GB; memory 81,559 MiB = 85.5208 GB; work 12 x 2,048 x 4,096 x 2 B = 0.2013 GB; driver
 * and so on 1 GB; so of 0.92 x 85.5208 = 78.6791 GB the cache gets 61.4173 GB. Then each engine
 * by its own rule makes of the number that it is told the same cache:
 *
 *     vLLM          told x memory - weights - work - driver
 *     SGLang        free after the weights - free before them x (1 - told)
 *     TensorRT-LLM  (memory - weights - work - driver) x told */
static void engines_get_the_same_cache(void **state)
{
    (void)state;
    const double weights = 8030261248.0 * 2, memory = 81559.0 * 1048576;
    const double work = 12.0 * 2048 * 4096 * 2, driver = 1e9;
    const double cache = 0.92 * memory - weights - work - driver;
    for (int engine = 0; engine < ENGINES; engine++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct settings got;
        struct script *script = arena_alloc(&arena, sizeof *script);
        ask_well(&arena, arena_print(&arena, "llama-3.1-8b --on h100-sxm --gpus 1 --isl 1000 "
                 "--osl 200 --set chunked_prefill_size=2048 --set runtime_memory=1GB "
                 "--set activation_vectors_per_token=12 --emit %s", engine_names[engine]), &answer);
        read_script(&arena, answer.text.data, script);
        assert_int_equal(script->count, 1);
        read_settings(script, &script->commands[0], (enum engine)engine, &got);
        const double before = memory - driver, told = got.memory;
        const double gets = engine == VLLM ? told * memory - weights - work - driver
                            : engine == SGLANG ? before - weights - before * (1 - told)
                            : (memory - weights - work - driver) * told;
        if (gets > cache * 1.0001 || gets < cache - 0.0011 * memory)
            fail_msg("%s: %.3f: %.4g B of cache, the plan has %.4g B", engine_names[engine], told,
                     gets, cache);
        arena_free(&arena);
    }
}

/* ---- a real shell ------------------------------------------------------------------------ */

static const char *run_shell(struct arena *arena, const char *command)
{
    struct buffer all = { .arena = arena };
    char block[4096];
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    buffer_add(&all, "", 0);
    for (size_t size; (size = fread(block, 1, sizeof block, pipe)) > 0;)
        buffer_add(&all, block, size);
    return pclose(pipe) == 0 ? all.data : NULL;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A model in a folder whose name no shell takes as it is. */
static const char *copy_model(struct arena *arena, const char *folder)
{
    struct text config;
    struct error error;
    const char *path = arena_print(arena, "%s/it's a model", folder);
    assert_true(file_read(arena, "tests/fixtures/configs/qwen2.5-7b.json", 1 << 20, &config, &error));
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(arena_print(arena, "%s/config.json", path),
               arena_copy(arena, config.data, config.size));
    return arena_print(arena, "\"%s/config.json\" --on h100-sxm --gpus 2 --isl 1000 --osl 100 "
                       "--emit vllm", path);
}

/* Programs that only print their words, each on a line. */
static void shells_split_alike(void **state)
{
    (void)state;
    static const char *const stubs[] = { "vllm", "python", "mpirun", "trtllm-serve" };
    const char *questions[] = { NULL,
        "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 2s --tpot 30ms --draft 1 "
        "--emit vllm",
        "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --pick 41 --engine trtllm "
        "--emit trtllm" };
    char folder[] = "/tmp/chalkline-emit-XXXXXX";
    struct arena arena = { 0 };
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT(stubs); i++) {
        const char *path = arena_print(&arena, "%s/%s", folder, stubs[i]);
        write_file(path, "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\"\n");
        chmod(path, 0700);
    }
    questions[0] = copy_model(&arena, folder);
    for (size_t q = 0; q < COUNT(questions); q++) {
        struct answer answer;
        struct script *script = arena_alloc(&arena, sizeof *script);
        struct buffer mine = { .arena = &arena }, names = { .arena = &arena };
        ask_well(&arena, questions[q], &answer);
        read_script(&arena, answer.text.data, script);
        for (size_t c = 0; c < script->count; c++)
            for (size_t w = 0; w < script->commands[c].words.count; w++)
                buffer_print(&mine, "%s\n", script->commands[c].words.at[w]);
        for (int host = 1; host < 40; host++)       /* names stand for themselves */
            buffer_print(&names, "HOST_%d='$HOST_%d'\n", host, host);
        write_file(arena_print(&arena, "%s/script", folder),
                   arena_print(&arena, "cd %s\nHOST='$HOST'\n%s%s", folder, names.data,
                               answer.text.data));
        const char *theirs = run_shell(&arena, arena_print(&arena, "PATH=%s:$PATH sh %s/script",
                                                           folder, folder));
        assert_non_null(theirs);
        assert_string_equal(theirs, mine.data);
    }
    run_shell(&arena, arena_print(&arena, "rm -r %s", folder));
    arena_free(&arena);
}

/* ---- what is refused, what is not there -------------------------------------------------- */

/* The engine, the reason and a way out; the other point that is offered can be started. */
static void engines_refuse(void **state)
{
    (void)state;
    static const struct { const char *command, *engine, *what, *hint; } refused[] = {
        { "qwen3-32b --on h200-sxm --gpus 8 --set draft_tokens=2 --isl 1000 --osl 100", "vllm",
          "the model has no multi-token-prediction layers", "without --draft" },
        { "deepseek-v3 --on h200-sxm --gpus 16 --set chips=16 --set attention_dp=8 --isl 4000 "
          "--osl 500", "trtllm", "(enable_attention_dp: dp = tp)", "--set attention_dp=1" },
        { "deepseek-v3 --on h200-sxm --gpus 32 --set prefill_attention_dp=3 "
          "--set prefill_chips=6 --set prefill_pipeline_parallel=1 --set decode_workers=1 --isl 4000 --osl 500 --ttft 2s "
          "--tpot 30ms", "trtllm", "(enable_attention_dp: dp = tp)", "attention_dp=1" },
        { "qwen3.5-397b-a17b --on h200-sxm --gpus 16 --set chips=16 --set pipeline_parallel=2 "
          "--set draft_tokens=1 --isl 4000 --osl 500", "sglang",
          "it does not draft in pipeline stages", "--set pipeline_parallel=1" },
        { "deepseek-v3 --on h200-sxm --gpus 16 --set chips=16 --set attention_dp=16 --isl 4000 "
          "--osl 500 --engine trtllm", "k8s", "a server of 16 GPUs on hosts of 8 by MPI",
          "--emit trtllm" } };
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct error error;
        const char *line = arena_print(&arena, "%s --any-layout --emit %s", refused[i].command,
                                       refused[i].engine);
        if (ask_for(&arena, line, &answer, &error))
            fail_msg("%s: not refused", line);
        if (!strstr(error.what, refused[i].what) || !strstr(error.hint, refused[i].hint))
            fail_msg("%s: %s (%s)", line, error.what, error.hint);
        if (!strncmp(error.hint, "--pick ", 7)) {
            line = arena_print(&arena, "%s --pick %.*s", line, (int)strcspn(error.hint + 7, " "),
                               error.hint + 7);
            ask_well(&arena, line, &answer);
            assert_non_null(strstr(error.hint, doc_get(doc_get(answer.doc, "emit"),
                                                       "deployment")->string));
        }
        arena_free(&arena);
    }
}

/* Kernels of the exchange and spare copies of experts, where they are asked for and can be. */
static void experts_are_told(void **state)
{
    (void)state;
    static const struct { const char *more, *flag, *value; } cases_of[] = {
        { "--set deepep=1", "--all2all-backend", "deepep_high_throughput" },
        { "--set deepep=0", "--all2all-backend", NULL },
        { "--set spare_experts=16", "--eplb-config", "{\"num_redundant_experts\": 16}" },
        { "--set spare_experts=16", "--enable-eplb", "" }, { "--set deepep=1", "--enable-eplb", NULL } };
    for (size_t i = 0; i < COUNT(cases_of); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct script *script = arena_alloc(&arena, sizeof *script);
        ask_well(&arena, arena_print(&arena, "deepseek-v3 --on h200-sxm --gpus 16 --isl 4000 --osl 500 --set chips=16 "
                 "--set attention_dp=16 --aggregated %s --emit vllm", cases_of[i].more), &answer);
        read_script(&arena, answer.text.data, script);
        const char *value = flag_of(&script->commands[0].words, VLLM, cases_of[i].flag);
        assert_true(!value == !cases_of[i].value);
        if (value)
            assert_string_equal(value, cases_of[i].value);
        arena_free(&arena);
    }
}

/* Nothing feasible: the reason as comments, for a shell that is asked to run them. */
static void nothing_is_no_command(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    assert_true(ask_for(&arena, "qwen3-32b --on h200-sxm --gpus 8 --isl 4000 --osl 500 --ttft 3ms "
                        "--tpot 1ms --emit vllm", &answer, &error));
    assert_int_equal(answer.status, 1);
    assert_non_null(strstr(answer.text.data, "none is feasible"));
    struct text rest = { answer.text.data, answer.text.size };
    while (rest.size) {
        struct text line = text_line(&rest);
        assert_true(line.size && *line.data == '#');
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_say_the_plan),
        cmocka_unit_test(routers_know_all),
        cmocka_unit_test(engines_get_the_same_cache),
        cmocka_unit_test(shells_split_alike),
        cmocka_unit_test(engines_refuse),
        cmocka_unit_test(experts_are_told),
        cmocka_unit_test(nothing_is_no_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
