/* What the tests of --emit read commands and manifests with.
 *
 * Flags are those of the engines' documentation, words are split as a shell does, a manifest is
 * read by a strict reader of YAML's blocks. What an engine then makes of its flags is reckoned
 * by its own rules: docs of vLLM, SGLang 0.5.18 and TensorRT-LLM 1.3.0rc27. */
#ifndef TESTS_UNIT_EMIT_READERS_H
#define TESTS_UNIT_EMIT_READERS_H

#include "test.h"

#include "ask/ask.h"

#include <math.h>
#include <stdio.h>

enum engine { VLLM, SGLANG, TRTLLM, ENGINES };

/* ---- flags, from the documentation of each engine ---------------------------------------- */

struct known {
    const char *flag;
    int values;                     /* that follow it; -1: one or more */
};
static const struct known known[ENGINES][40] = {
    [VLLM] = {
        { "--host", 1 }, { "--port", 1 }, { "--tensor-parallel-size", 1 },
        { "--pipeline-parallel-size", 1 }, { "--data-parallel-size", 1 },
        { "--data-parallel-size-local", 1 }, { "--data-parallel-start-rank", 1 },
        { "--data-parallel-address", 1 }, { "--data-parallel-rpc-port", 1 },
        { "--enable-expert-parallel", 0 }, { "--all2all-backend", 1 }, { "--enable-eplb", 0 },
        { "--eplb-config", 1 }, { "--nnodes", 1 }, { "--node-rank", 1 },
        { "--master-addr", 1 }, { "--master-port", 1 }, { "--headless", 0 },
        { "--max-num-seqs", 1 }, { "--max-num-batched-tokens", 1 }, { "--max-model-len", 1 },
        { "--gpu-memory-utilization", 1 }, { "--block-size", 1 }, { "--quantization", 1 },
        { "--kv-cache-dtype", 1 }, { "--speculative-config", 1 }, { "--kv-transfer-config", 1 },
        { "--prefiller-hosts", -1 }, { "--prefiller-ports", -1 }, { "--decoder-hosts", -1 },
        { "--decoder-ports", -1 } },
    [SGLANG] = {
        { "--model-path", 1 }, { "--host", 1 }, { "--port", 1 }, { "--tp-size", 1 },
        { "--pp-size", 1 }, { "--dp-size", 1 }, { "--enable-dp-attention", 0 }, { "--ep-size", 1 },
        { "--moe-a2a-backend", 1 }, { "--enable-eplb", 0 }, { "--ep-num-redundant-experts", 1 },
        { "--nnodes", 1 }, { "--node-rank", 1 }, { "--dist-init-addr", 1 },
        { "--max-running-requests", 1 }, { "--chunked-prefill-size", 1 },
        { "--context-length", 1 }, { "--mem-fraction-static", 1 }, { "--page-size", 1 },
        { "--kv-cache-dtype", 1 }, { "--quantization", 1 }, { "--speculative-algorithm", 1 },
        { "--speculative-num-steps", 1 }, { "--speculative-eagle-topk", 1 },
        { "--speculative-num-draft-tokens", 1 }, { "--disaggregation-mode", 1 },
        { "--disaggregation-transfer-backend", 1 }, { "--disaggregation-bootstrap-port", 1 },
        { "--pd-disaggregation", 0 }, { "--prefill", 2 }, { "--decode", 1 } },
    [TRTLLM] = {
        { "--host", 1 }, { "--port", 1 }, { "--tp_size", 1 }, { "--pp_size", 1 },
        { "--ep_size", 1 }, { "--gpus_per_node", 1 }, { "--max_batch_size", 1 },
        { "--max_num_tokens", 1 }, { "--max_seq_len", 1 }, { "--enable_chunked_prefill", 0 },
        { "--free_gpu_memory_fraction", 1 }, { "--config", 1 }, { "-c", 1 } },
};

/* ---- commands ---------------------------------------------------------------------------- */

struct words {
    const char **at;
    size_t count, room;
};

struct launched {
    struct words environment, words;        /* "NAME=value"; after them */
    const char *title;                      /* the comment line above */
};

struct file {
    const char *name;
    struct doc *doc;
};

struct script {
    struct arena *arena;
    struct launched commands[256];
    size_t count;
    struct file files[8];
    size_t file_count;
};

static inline void add_word(struct arena *arena, struct words *words, const char *word)
{
    *(const char **)arena_push(arena, &words->at, &words->count, &words->room,
                               sizeof *words->at) = word;
}

/* A line without its end; the words of a shell: '...' as it is, "..." too but for names. */
static inline void split_line(struct arena *arena, const char *line, struct words *words)
{
    while (*line) {
        struct buffer word = { .arena = arena };
        buffer_add(&word, "", 0);
        while (*line == ' ')
            line++;
        if (!*line)
            return;
        while (*line && *line != ' ') {
            char quote = *line;
            if (quote == '\'' || quote == '"') {
                size_t size = strcspn(line + 1, quote == '"' ? "\"" : "'");
                assert_int_equal(line[1 + size], quote);
                buffer_add(&word, line + 1, size);
                line += size + 2;
            } else {
                line += quote == '\\';
                buffer_add(&word, line++, 1);
            }
        }
        add_word(arena, words, word.data);
    }
}

static inline bool is_assignment(const char *word)
{
    size_t size = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return size && word[size] == '=';
}

/* ---- asking ------------------------------------------------------------------------------ */

/* "MODEL --on MACHINE --emit vllm", as the command line asks it. */
static inline bool ask_for(struct arena *arena, const char *line, struct answer *answer,
                           struct error *error)
{
    struct command command = { .verbs = verbs };
    struct words words = { 0 };
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                               .csv.arena = arena };
    add_word(arena, &words, "chalkline");
    add_word(arena, &words, "plan");
    split_line(arena, line, &words);
    return command_read(arena, (int)words.count, (char **)words.at, &command, error) &&
           command.verb->ask(arena, &command, answer, error);
}

static inline void ask_well(struct arena *arena, const char *line, struct answer *answer)
{
    struct error error;
    if (!ask_for(arena, line, answer, &error))
        fail_msg("%s: %s", line, error.what);
    if (answer->status)
        fail_msg("%s: %s", line, answer->text.data);
}

/* The point of the front that was emitted. */
static inline const struct doc *point_of(const struct answer *answer)
{
    const char *wanted = doc_get(doc_get(answer->doc, "emit"), "deployment")->string;
    for (const struct doc *kid = doc_get(answer->doc, "front")->first; kid; kid = kid->next)
        if (!strcmp(doc_get(kid, "deployment")->string, wanted))
            return kid;
    fail_msg("not on the front: %s", wanted);
    return NULL;
}

/* ---- YAML: blocks of two spaces ---------------------------------------------------------- */

struct yaml {
    struct arena *arena;
    const char *lines[4096];
    size_t count, at;
};

static inline size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

static inline void yaml_scalar(struct yaml *yaml, struct doc *into, const char *text)
{
    struct error error;
    struct doc *doc;
    const char *wrapped = arena_print(yaml->arena, "[%s]", text);
    double number = 0;
    bool word = !strcmp(text, "true") || !strcmp(text, "false") || *text == '"' ||
                text_number(text_of(text), &number);
    bool item = *text == '-' && text[1] != '-' && !number;
    assert_true(*text && (*text == '"' || (!strstr(text, ": ") && !item &&
                                           !strchr("[]{}&*!|>%@`'#", *text))));
    if (!word) {
        into->kind = DOC_STRING;
        into->string = text;
        return;
    }
    assert_true(json_read(yaml->arena, "scalar", text_of(wrapped), &doc, &error));
    into->kind = doc->first->kind;
    into->boolean = doc->first->boolean;
    into->number = doc->first->number;
    into->string = doc->first->string;
}

static inline void yaml_block(struct yaml *yaml, struct doc *into, size_t indent);

static inline void yaml_lines(struct yaml *yaml, struct doc *into, size_t indent)
{
    struct buffer text = { .arena = yaml->arena };
    for (; yaml->at < yaml->count && indent_of(yaml->lines[yaml->at]) >= indent; yaml->at++)
        buffer_print(&text, "%s\n", yaml->lines[yaml->at] + indent);
    into->kind = DOC_STRING;
    into->string = text.data;
}

/* What follows "key:" or "-". */
static inline void yaml_value(struct yaml *yaml, struct doc *into, const char *rest, size_t indent)
{
    if (!strcmp(rest, " |"))
        yaml_lines(yaml, into, indent + 2);
    else if (*rest)
        yaml_scalar(yaml, into, rest + 1);
    else
        yaml_block(yaml, into, indent + 2);
}

static inline void yaml_pair(struct yaml *yaml, struct doc *into, const char *line, size_t indent)
{
    const char *colon = line;
    while (*colon && !(*colon == ':' && (colon[1] == ' ' || !colon[1])))
        colon++;
    assert_int_equal(*colon, ':');
    const char *key = arena_copy(yaml->arena, line, (size_t)(colon - line));
    assert_null(doc_get(into, key));
    yaml_value(yaml, doc_add(yaml->arena, into, key, DOC_NULL), colon + 1, indent);
}

static inline bool begins_pair(const char *line)
{
    size_t size = strcspn(line, ": ");
    return *line != '"' && line[size] == ':' && (line[size + 1] == ' ' || !line[size + 1]);
}

static inline void yaml_block(struct yaml *yaml, struct doc *into, size_t indent)
{
    assert_true(yaml->at < yaml->count && indent_of(yaml->lines[yaml->at]) == indent);
    const bool list = !strncmp(yaml->lines[yaml->at] + indent, "- ", 2);
    into->kind = list ? DOC_ARRAY : DOC_OBJECT;
    while (yaml->at < yaml->count && indent_of(yaml->lines[yaml->at]) == indent) {
        const char *line = yaml->lines[yaml->at++] + indent;
        if (!list) {
            yaml_pair(yaml, into, line, indent);
            continue;
        }
        assert_memory_equal(line, "- ", 2);
        struct doc *item = doc_add(yaml->arena, into, NULL, DOC_OBJECT);
        if (!begins_pair(line + 2)) {
            yaml_scalar(yaml, item, line + 2);
            continue;
        }
        yaml_pair(yaml, item, line + 2, indent + 2);
        while (yaml->at < yaml->count && indent_of(yaml->lines[yaml->at]) == indent + 2) {
            line = yaml->lines[yaml->at++] + indent + 2;
            yaml_pair(yaml, item, line, indent + 2);
        }
    }
}

static inline struct doc *yaml_read(struct arena *arena, const char *text)
{
    struct yaml *yaml = arena_alloc(arena, sizeof *yaml);
    struct text rest = text_of(text);
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    yaml->arena = arena;
    while (rest.size) {
        struct text line = text_line(&rest);
        assert_true(yaml->count < COUNT(yaml->lines));
        yaml->lines[yaml->count++] = arena_copy(arena, line.data, line.size);
    }
    yaml_block(yaml, doc, 0);
    assert_int_equal(yaml->at, yaml->count);
    return doc;
}

/* ---- scripts ----------------------------------------------------------------------------- */

static inline const char *read_here(struct arena *arena, struct text *rest)
{
    struct buffer body = { .arena = arena };
    for (;;) {
        assert_true(rest->size > 0);
        struct text line = text_line(rest);
        if (text_is(line, "END"))
            return body.data;
        buffer_print(&body, "%.*s\n", (int)line.size, line.data);
    }
}

static inline void read_script(struct arena *arena, const char *text, struct script *script)
{
    struct text rest = text_of(text);
    const char *title = "";
    *script = (struct script){ .arena = arena };
    while (rest.size) {
        struct buffer whole = { .arena = arena };
        struct text line = text_line(&rest);
        if (line.size && *line.data == '#')
            title = arena_copy(arena, line.data, line.size);
        if (!line.size || *line.data == '#')
            continue;
        while (line.data[line.size - 1] == '\\') {
            buffer_print(&whole, "%.*s ", (int)line.size - 1, line.data);
            line = text_line(&rest);
        }
        buffer_print(&whole, "%.*s", (int)line.size, line.data);
        struct words words = { 0 };
        split_line(arena, whole.data, &words);
        if (!strcmp(words.at[0], "cat")) {
            assert_string_equal(words.at[3], "<<END");
            assert_true(script->file_count < COUNT(script->files));
            script->files[script->file_count++] =
                (struct file){ words.at[2], yaml_read(arena, read_here(arena, &rest)) };
            continue;
        }
        assert_true(script->count < COUNT(script->commands));
        struct launched *command = &script->commands[script->count++];
        command->title = title;
        for (size_t i = 0; i < words.count; i++)
            add_word(arena, !command->words.count && is_assignment(words.at[i])
                     ? &command->environment : &command->words, words.at[i]);
    }
}

/* The value of a flag; NULL: not given. Checks all flags on the way. */
static inline const char *flag_of(const struct words *words, enum engine engine, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < words->count; i++) {
        const struct known *flag = known[engine];
        if (strncmp(words->at[i], "--", 2) && strcmp(words->at[i], "-c"))
            continue;
        while (flag->flag && strcmp(flag->flag, words->at[i]))
            flag++;
        if (!flag->flag)
            fail_msg("no flag of the engine: %s", words->at[i]);
        size_t values = 0;
        while (i + values + 1 < words->count && strncmp(words->at[i + values + 1], "--", 2))
            values++;
        if (flag->values < 0 ? values < 1 : (int)values != flag->values)
            fail_msg("%s has %zu values", words->at[i], values);
        if (!strcmp(flag->flag, name))
            found = values ? words->at[i + 1] : "";
    }
    return found;
}

static inline double number_of(const char *text, double otherwise)
{
    double number = otherwise;
    if (text)
        assert_true(text_number(text_of(text), &number));
    return number;
}

static inline const struct doc *json_of(struct arena *arena, const char *text)
{
    struct error error;
    struct doc *doc = NULL;
    if (text && !json_read(arena, "flag", text_of(text), &doc, &error))
        fail_msg("%s", error.what);
    return doc;
}

/* ---- what an engine makes of its flags --------------------------------------------------- */

struct settings {
    double tensor, pipeline, ranks, experts, gpus, seats, tokens, chunk, length, memory, guesses;
    double first_rank, here;        /* of this command: its GPUs */
    const char *cache, *weights, *role, *model;
};

/* vLLM: GPUs = TP x PP x DP, EP = TP x DP; a host has DP's share, or 1/nnodes of all. */
static inline void vllm_settings(struct arena *arena, const struct words *words,
                                 struct settings *to)
{
    const struct doc *guess = json_of(arena, flag_of(words, VLLM, "--speculative-config"));
    const struct doc *transfer = json_of(arena, flag_of(words, VLLM, "--kv-transfer-config"));
    assert_string_equal(words->at[0], "vllm");
    assert_string_equal(words->at[1], "serve");
    to->model = words->at[2];
    to->tensor = number_of(flag_of(words, VLLM, "--tensor-parallel-size"), 1);
    to->pipeline = number_of(flag_of(words, VLLM, "--pipeline-parallel-size"), 1);
    to->ranks = number_of(flag_of(words, VLLM, "--data-parallel-size"), 1);
    to->gpus = to->tensor * to->pipeline * to->ranks;
    to->experts = flag_of(words, VLLM, "--enable-expert-parallel") ? to->tensor * to->ranks : 1;
    to->seats = number_of(flag_of(words, VLLM, "--max-num-seqs"), NAN);
    to->tokens = number_of(flag_of(words, VLLM, "--max-num-batched-tokens"), NAN);
    to->length = number_of(flag_of(words, VLLM, "--max-model-len"), NAN);
    to->memory = number_of(flag_of(words, VLLM, "--gpu-memory-utilization"), NAN);
    to->cache = flag_of(words, VLLM, "--kv-cache-dtype");
    to->weights = flag_of(words, VLLM, "--quantization");
    to->guesses = guess ? doc_get(guess, "num_speculative_tokens")->number : 0;
    if (guess)
        assert_string_equal(doc_get(guess, "method")->string, "mtp");
    if (transfer)
        assert_string_equal(doc_get(transfer, "kv_connector")->string, "NixlConnector");
    const char *duty = transfer ? doc_get(transfer, "kv_role")->string : "";
    to->role = !*duty ? "together" : !strcmp(duty, "kv_producer") ? "prefill" : "decode";
    const double local = number_of(flag_of(words, VLLM, "--data-parallel-size-local"), to->ranks);
    const double hosts = number_of(flag_of(words, VLLM, "--nnodes"), 1);
    to->here = local * to->tensor * to->pipeline / hosts;
    to->first_rank = number_of(flag_of(words, VLLM, "--data-parallel-start-rank"), 0) *
                     to->tensor * to->pipeline +
                     number_of(flag_of(words, VLLM, "--node-rank"), 0) * to->here;
    assert_true((to->first_rank > 0) == (flag_of(words, VLLM, "--headless") != NULL));
}

/* SGLang: GPUs = tp x pp; attention ranks divide tp, and its limits are divided by them. */
static inline void sglang_settings(const struct words *words, struct settings *to)
{
    const char *mode = flag_of(words, SGLANG, "--disaggregation-mode");
    const double tp = number_of(flag_of(words, SGLANG, "--tp-size"), 1);
    assert_string_equal(words->at[2], "sglang.launch_server");
    to->model = flag_of(words, SGLANG, "--model-path");
    to->ranks = number_of(flag_of(words, SGLANG, "--dp-size"), 1);
    assert_true((to->ranks > 1) == (flag_of(words, SGLANG, "--enable-dp-attention") != NULL));
    assert_true(fmod(tp, to->ranks) == 0);
    to->tensor = tp / to->ranks;
    to->pipeline = number_of(flag_of(words, SGLANG, "--pp-size"), 1);
    to->gpus = tp * to->pipeline;
    to->experts = number_of(flag_of(words, SGLANG, "--ep-size"), 1);
    assert_true(to->experts <= tp);
    to->seats = number_of(flag_of(words, SGLANG, "--max-running-requests"), NAN) / to->ranks;
    to->chunk = number_of(flag_of(words, SGLANG, "--chunked-prefill-size"), NAN) / to->ranks;
    to->length = number_of(flag_of(words, SGLANG, "--context-length"), NAN);
    to->memory = number_of(flag_of(words, SGLANG, "--mem-fraction-static"), NAN);
    to->cache = flag_of(words, SGLANG, "--kv-cache-dtype");
    to->weights = flag_of(words, SGLANG, "--quantization");
    to->guesses = number_of(flag_of(words, SGLANG, "--speculative-num-steps"), 0);
    if (to->guesses > 0) {
        assert_string_equal(flag_of(words, SGLANG, "--speculative-algorithm"), "NEXTN");
        assert_string_equal(flag_of(words, SGLANG, "--speculative-eagle-topk"), "1");
        assert_true(number_of(flag_of(words, SGLANG, "--speculative-num-draft-tokens"), 0) ==
                    to->guesses + 1);
    }
    to->role = mode ? mode : "together";
    const double hosts = number_of(flag_of(words, SGLANG, "--nnodes"), 1);
    to->here = to->gpus / hosts;
    to->first_rank = number_of(flag_of(words, SGLANG, "--node-rank"), 0) * to->here;
}

static inline double key_number(const struct doc *file, const char *part, const char *key)
{
    const struct doc *value = doc_get(doc_get(file, part), key);
    return value ? value->number : 0;
}

/* TensorRT-LLM: attention DP has tp ranks of one chip; limits are of a rank and a stage. */
static inline void trtllm_settings(const struct script *script, const struct words *all,
                            struct settings *to)
{
    struct words words = *all;
    const struct doc *file = NULL;
    double launched = NAN;
    if (!strcmp(words.at[0], "mpirun")) {
        assert_string_equal(words.at[1], "-n");
        launched = number_of(words.at[2], 0);
        assert_string_equal(words.at[3], "trtllm-llmapi-launch");
        words.at += 4, words.count -= 4;
    }
    assert_string_equal(words.at[0], "trtllm-serve");
    to->model = words.at[1];
    const char *name = flag_of(&words, TRTLLM, "--config");
    for (size_t i = 0; name && i < script->file_count; i++)
        if (!strcmp(script->files[i].name, name))
            file = script->files[i].doc;
    assert_true(!name || file);
    const struct doc *ranks = doc_get(file, "enable_attention_dp");
    const struct doc *cache = doc_get(doc_get(file, "kv_cache_config"), "dtype");
    const double tp = number_of(flag_of(&words, TRTLLM, "--tp_size"), 1);
    to->ranks = ranks && ranks->boolean ? tp : 1;
    to->tensor = tp / to->ranks;
    to->pipeline = number_of(flag_of(&words, TRTLLM, "--pp_size"), 1);
    to->gpus = to->here = tp * to->pipeline;
    to->experts = number_of(flag_of(&words, TRTLLM, "--ep_size"), 1);
    to->seats = number_of(flag_of(&words, TRTLLM, "--max_batch_size"), NAN) * to->pipeline;
    to->tokens = number_of(flag_of(&words, TRTLLM, "--max_num_tokens"), NAN);
    to->length = number_of(flag_of(&words, TRTLLM, "--max_seq_len"), NAN);
    to->memory = number_of(flag_of(&words, TRTLLM, "--free_gpu_memory_fraction"), NAN);
    assert_non_null(flag_of(&words, TRTLLM, "--enable_chunked_prefill"));
    to->cache = cache ? cache->string : NULL;
    to->guesses = key_number(file, "speculative_config", "num_nextn_predict_layers");
    if (to->guesses > 0)
        assert_string_equal(doc_get(doc_get(file, "speculative_config"), "decoding_type")->string,
                            "MTP");
    const struct doc *transfer = doc_get(file, "cache_transceiver_config");
    const struct doc *alone = doc_get(file, "disable_overlap_scheduler");
    to->role = !transfer ? "together" : alone && alone->boolean ? "prefill" : "decode";
    assert_true(isnan(launched) || launched == to->gpus);
}

static inline void read_settings(const struct script *script, const struct launched *command,
                          enum engine engine, struct settings *to)
{
    *to = (struct settings){ .seats = NAN, .tokens = NAN, .chunk = NAN };
    if (engine == VLLM)
        vllm_settings(script->arena, &command->words, to);
    else if (engine == SGLANG)
        sglang_settings(&command->words, to);
    else
        trtllm_settings(script, &command->words, to);
}

#endif
