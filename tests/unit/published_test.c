/* published_test -- where published files lie beside the tree: headers of eleven models with the names of their
 * published indexes and shapes counted here are read back to the parameter, and the indexes of fourteen agree with
 * their configurations. */
#include "headers.h"

/* ---- published names, and shapes by another count --------------------------------------------- */

static double field(const struct doc *config, const char *const *names, double absent)
{
    for (; *names; names++) {
        const struct doc *doc = doc_get(config, *names);
        if (doc && doc->kind == DOC_NUMBER)
            return doc->number;
    }
    return absent;
}

struct widths {
    double hidden, query, key, inner, vocabulary;
};

static struct widths widths_of(const struct doc *config)
{
    static const char *const hidden[] = { "hidden_size", "n_embed",
                                          NULL }, *const vocabulary[] = { "vocab_size", NULL };
    static const char *const heads[] = { "num_attention_heads", "n_head", NULL };
    static const char *const keys[] = { "num_key_value_heads", "n_head_kv",
                                        NULL }, *const size[] = { "head_dim", NULL };
    static const char *const inner[] = { "intermediate_size", "inner_hidden_size", NULL };
    const struct doc *type = doc_get(config, "model_type");
    struct widths widths = { .hidden = field(config, hidden, 0), .vocabulary = field(config, vocabulary, 0) };
    const double count = field(config, heads, 0), one = field(config, size, widths.hidden / count);
    widths.query = count * one;
    widths.key = field(config, keys, count) * one;
    widths.inner = field(config, inner, 4 * widths.hidden) / (!strcmp(type->string, "qwen") ? 2 : 1);
    return widths;
}

/* Rows and columns of a tensor by its name; false: a buffer. */
static bool shape_of(const char *name, const struct widths *w, double *rows, double *columns)
{
    const struct { const char *part; double rows, columns; } shapes[] = {
        { "norm", w->hidden, 0 }, { ".ln_", w->hidden, 0 }, { "ln_f", w->hidden, 0 },
        { "q_proj", w->query, w->hidden }, { "k_proj", w->key, w->hidden }, { "v_proj", w->key, w->hidden },
        { "o_proj", w->hidden, w->query }, { "gate_proj", w->inner, w->hidden }, { "up_proj", w->inner,
                                                                                   w->hidden },
        { "down_proj", w->hidden, w->inner }, { "query_key_value", w->query + 2 * w->key, w->hidden },
        { "attn.c_attn", w->query + 2 * w->key, w->hidden }, { "attention.dense.", w->hidden, w->hidden },
        { "attn.c_proj", w->hidden, w->hidden }, { "dense_h_to_4h", w->inner, w->hidden },
        { "mlp.w1", w->inner, w->hidden }, { "mlp.w2", w->inner, w->hidden }, { "mlp.c_proj", w->hidden,
                                                                                w->inner },
        { "dense_4h_to_h", w->hidden, w->inner }, { "embed", w->vocabulary, w->hidden },
        { "lm_head", w->vocabulary, w->hidden }, { ".wte", w->vocabulary, w->hidden }, { "out_proj", 1,
                                                                                         w->hidden } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strstr(name, shapes[i].part)) {
            *rows = shapes[i].rows;
            *columns = ends_with(name, ".bias") ? 0 : shapes[i].columns;
            return true;
        }
    return false;
}

static bool shared_doc(struct arena *arena, const char *name, struct text *text, struct doc **doc)
{
    struct error error;
    const char *path = shared_file(arena, arena_print(arena, "../families/%s", name));
    return path && file_read(arena, path, 1 << 24, text, &error) && json_read(arena, path, *text, doc,
                                                                              &error);
}

static const char *const published[] = {
    "HuggingFaceTB--SmolLM3-3B", "OpenAssistant--oasst-rm-2.1-pythia-1.4b", "Qwen--Qwen-72B", "THUDM--chatglm-6b",
    "bigscience--bloom", "deepcogito--cogito-v1-preview-qwen-14B", "internlm--internlm-20b",
    "mistralai--Devstral-Small-2507", "stabilityai--stable-code-3b", "tiiuae--falcon-40b-RefinedWeb",
    "togethercomputer--RedPajama-INCITE-7B-Base", "allenai--olmOCR-7B-0225-preview", "Qwen--Qwen-VL-Chat-Int4",
    "alibaba--Logics-Thinking-8B" };

/* A header with all names of an index, shaped by its configuration, is read back to the parameter. */
static void published_names_are_read_back(void **state)
{
    (void)state;
    enum { WHOLE = 11 };
    int done = 0;
    struct arena arena = { 0 };
    for (int i = 0; i < WHOLE; i++) {
        struct header header = { .arena = &arena };
        struct text text, index_text;
        struct doc *config, *index;
        double copy = 0;
        if (!shared_doc(&arena, arena_print(&arena, "configs/%s.json", published[i]), &text, &config) ||
            !shared_doc(&arena, arena_print(&arena, "indexes/open/%s.index.json", published[i]), &index_text,
                        &index))
            continue;
        const struct widths widths = widths_of(config);
        for (const struct doc *item = doc_get(index, "weight_map")->first; item; item = item->next) {
            double rows, columns;
            if (!shape_of(item->key, &widths, &rows, &columns))
                continue;
            add(&header, item->key, "BF16", columns > 0 ? arena_print(&arena, "%.0f,%.0f", rows, columns)
                                                        : arena_print(&arena, "%.0f", rows));
            copy = strstr(published[i],
                          "falcon") ? widths.vocabulary * widths.hidden : 0;     /* its head twice */
        }
        const struct shelf_file files[] = { { "model.safetensors", closed(&header) }, { "config.json", text },
                                            { 0 } };
        struct read read;
        open_files(&read, files, NULL);
        if (!read.good || read.total != header.elements - copy || noted(&read, "by its configuration"))
            fail_msg("%s: %s, %.0f parameters of %.0f; %s", published[i], read.error.what, read.total,
                     header.elements,
                     read.facts.note_count ? read.facts.notes[read.facts.note_count - 1] : "");
        arena_free(&read.arena);
        done++;
    }
    arena_free(&arena);
    print_message("%d headers read back\n", done);
    assert_true(!done || done >= 10);
}

/* Each published index agrees with its configuration to the byte, or what differs is said. */
static void published_indexes_agree(void **state)
{
    (void)state;
    static const char *const differ[][2] = {
        { "THUDM--chatglm-6b", "328615680 more" },          /* an older vocabulary */
        { "togethercomputer--RedPajama",
          "16781376 more than the configuration makes; tensors it does not explain: "
          "gpt_neox.layers.0.attention.bias (buffer)" },
        { "Qwen--Qwen-VL-Chat-Int4", "transformer.h.0.attn.c_attn.g_idx (scale)" },
        { "alibaba--Logics", "model.vision_tower.vision_towers" } };
    int agree = 0, other = 0;
    struct arena arena = { 0 };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct text text, index_text;
        struct doc *doc;
        const char *want = "the index agrees with the configuration";
        if (!shared_doc(&arena, arena_print(&arena, "configs/%s.json", published[i]), &text, &doc) ||
            !shared_doc(&arena, arena_print(&arena, "indexes/open/%s.index.json", published[i]), &index_text,
                        &doc))
            continue;
        for (size_t k = 0; k < sizeof differ / sizeof *differ; k++)
            if (!strncmp(published[i], differ[k][0], strlen(differ[k][0])))
                want = differ[k][1];
        const struct shelf_file files[] = { { "model.safetensors.index.json", index_text }, { "config.json",
                                                                                              text },
                                            { 0 } };
        struct read read;
        open_files(&read, files, NULL);
        if (!read.good || !noted(&read, want))
            fail_msg("%s: %s; no note '%s' but %s", published[i], read.error.what, want,
                     read.facts.note_count ? read.facts.notes[read.facts.note_count - 1] : "none");
        ++*(strstr(want, "agrees") ? &agree : &other);
        arena_free(&read.arena);
    }
    arena_free(&arena);
    print_message("%d indexes agree to the byte, of %d it is said what differs\n", agree, other);
    assert_true(agree == 0 || (agree == 10 && other == 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_names_are_read_back),
        cmocka_unit_test(published_indexes_agree),
    };
    return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
