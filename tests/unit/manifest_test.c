/* plan --emit k8s: the manifest is read by a strict reader of YAML's blocks, and by Python's
 * where there is one, which must agree; objects find each other, pods have the plan's GPUs, and
 * their commands say what the plan said. */
#include "tests/unit/emit_readers.h"

#include "ask/ask.h"
#include "deploy/launch/launch.h"

#include <stdlib.h>
#include <unistd.h>

enum { OBJECTS = 32 };

struct manifest {
    const char *text;
    struct doc *objects[OBJECTS];
    size_t count;
    const struct doc *answer, *point;
};

/* ---- asking, reading --------------------------------------------------------------------- */

static void read_manifest(struct arena *arena, const char *line, struct manifest *manifest)
{
    struct answer answer;
    *manifest = (struct manifest){ 0 };
    ask_well(arena, line, &answer);
    manifest->text = answer.text.data;
    manifest->answer = doc_get(doc_get(answer.doc, "emit"), "manifest");
    manifest->point = point_of(&answer);
    for (const char *at = strstr(manifest->text, "---\n"); at;) {
        const char *next = strstr(at + 4, "---\n");
        size_t size = next ? (size_t)(next - at - 4) : strlen(at + 4);
        assert_true(manifest->count < OBJECTS);
        manifest->objects[manifest->count++] = yaml_read(arena, arena_copy(arena, at + 4, size));
        at = next;
    }
}

/* ---- looking ----------------------------------------------------------------------------- */

/* "spec.template.spec": NULL where a part is missing; a number takes that item of a list. */
static const struct doc *find(const struct doc *doc, const char *path)
{
    while (doc && *path) {
        char key[64];
        size_t size = strcspn(path, ".");
        assert_true(size < sizeof key);
        memcpy(key, path, size);
        key[size] = '\0';
        if (doc->kind == DOC_ARRAY) {
            doc = doc->first;
            for (int skip = atoi(key); doc && skip > 0; skip--)
                doc = doc->next;
        } else {
            doc = doc_get(doc, key);
        }
        path += size + (path[size] == '.');
    }
    return doc;
}

static const char *string_at(const struct doc *doc, const char *path)
{
    const struct doc *value = find(doc, path);
    if (!value || value->kind != DOC_STRING)
        fail_msg("no text at %s", path);
    return value->string;
}

static double number_at(const struct doc *doc, const char *path)
{
    const struct doc *value = find(doc, path);
    if (!value || value->kind != DOC_NUMBER)
        fail_msg("no number at %s", path);
    return value->number;
}

static bool is_object(const struct doc *doc, const char *kind)
{
    return !strcmp(string_at(doc, "kind"), kind);
}

static const struct doc *object_named(const struct manifest *manifest, const char *kind,
                                      const char *name)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (is_object(manifest->objects[i], kind) &&
            !strcmp(string_at(manifest->objects[i], "metadata.name"), name))
            return manifest->objects[i];
    return NULL;
}

/* Templates of its pods: one, or a leader and its workers. */
static size_t templates_of(const struct doc *object, const struct doc *out[2])
{
    const struct doc *group = find(object, "spec.leaderWorkerTemplate");
    out[0] = group ? find(group, "leaderTemplate") : find(object, "spec.template");
    out[1] = group ? find(group, "workerTemplate") : NULL;
    return !out[0] ? 0 : out[1] ? 2 : 1;
}

/* ---- checks ------------------------------------------------------------------------------ */

static bool labels_match(const struct doc *selector, const struct doc *labels)
{
    for (const struct doc *kid = selector->first; kid; kid = kid->next) {
        const struct doc *label = doc_get(labels, kid->key);
        if (!label || strcmp(label->string, kid->string))
            return false;
    }
    return selector->first != NULL;
}

/* A service selects the pods of exactly one template that listens. */
static void check_service(const struct manifest *manifest, const struct doc *service)
{
    const struct doc *templates[2];
    size_t found = 0;
    for (size_t i = 0; i < manifest->count; i++)
        for (size_t t = 0, n = templates_of(manifest->objects[i], templates); t < n; t++)
            if (labels_match(find(service, "spec.selector"),
                             find(templates[t], "metadata.labels"))) {
                assert_true(number_at(templates[t], "spec.containers.0.ports.0.containerPort") ==
                            number_at(service, "spec.ports.0.port"));
                found++;
            }
    assert_int_equal(found, 1);
}

/* Each mount has its volume, each ConfigMap its file where the command looks for it. */
static void check_volumes(const struct manifest *manifest, const struct doc *pod)
{
    const struct doc *mounts = find(pod, "spec.containers.0.volumeMounts");
    for (const struct doc *mount = mounts ? mounts->first : NULL; mount; mount = mount->next) {
        const struct doc *volume = find(pod, "spec.volumes")->first;
        while (volume && strcmp(string_at(volume, "name"), string_at(mount, "name")))
            volume = volume->next;
        assert_non_null(volume);
        if (!find(volume, "configMap"))
            continue;
        const struct doc *map = object_named(manifest, "ConfigMap",
                                             string_at(volume, "configMap.name"));
        const struct doc *command = find(pod, "spec.containers.0.command");
        assert_string_equal(string_at(mount, "mountPath"),
                            string_at(pod, "spec.containers.0.workingDir"));
        assert_non_null(map);
        assert_non_null(doc_get(find(map, "data"), command->last->string));
    }
}

static void check_metadata(const struct doc *object)
{
    const char *name = string_at(object, "metadata.name");
    assert_true(strlen(name) < 64 && *name >= 'a' && *name <= 'z');
    assert_int_equal(name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")], '\0');
    const char *version = string_at(object, "apiVersion");
    const bool core = is_object(object, "Service") || is_object(object, "ConfigMap");
    assert_string_equal(version, core ? "v1"
                        : is_object(object, "LeaderWorkerSet") ? "leaderworkerset.x-k8s.io/v1"
                        : "apps/v1");
}

/* GPUs that all pods of an object ask for. */
static double gpus_of(const struct doc *object)
{
    const struct doc *templates[2];
    const struct doc *size = find(object, "spec.leaderWorkerTemplate.size");
    double gpus = 0;
    for (size_t t = 0, n = templates_of(object, templates); t < n; t++) {
        const struct doc *limits = find(templates[t], "spec.containers.0.resources.limits");
        const struct doc *asked = limits ? doc_get(limits, "nvidia.com/gpu") : NULL;
        if (asked)
            gpus += asked->number * (t ? size->number - 1 : 1) * number_at(object, "spec.replicas");
    }
    return gpus;
}

/* What the engine makes of its flags has the GPUs that the pods ask for. */
static void check_pods(struct arena *arena, const struct manifest *manifest, enum engine engine,
                       const struct doc *object, double host)
{
    const struct doc *templates[2];
    const struct doc *size = find(object, "spec.leaderWorkerTemplate.size");
    for (size_t t = 0, n = templates_of(object, templates); t < n; t++) {
        const struct doc *container = find(templates[t], "spec.containers.0");
        struct script *script = arena_alloc(arena, sizeof *script);
        struct words words = { 0 };
        struct settings got = { 0 };
        check_volumes(manifest, templates[t]);
        for (const struct doc *word = find(container, "command")->first; word; word = word->next)
            add_word(arena, &words, word->string);
        if (!find(container, "resources")) {
            flag_of(&words, engine, "");            /* a router: its flags are known */
            continue;
        }
        const double gpus = find(container, "resources.limits")->first->number;
        if (engine == TRTLLM) {
            const char *name = string_at(object, "metadata.name");
            const struct doc *map = object_named(manifest, "ConfigMap", name);
            if (map)
                script->files[script->file_count++] = (struct file){
                    find(map, "data")->first->key,
                    yaml_read(arena, find(map, "data")->first->string) };
            trtllm_settings(script, &words, &got);
        } else {
            for (size_t i = 0; i < words.count; i++)    /* what the cluster fills in */
                if (!strcmp(words.at[i], "$(LWS_WORKER_INDEX)"))
                    words.at[i] = t ? "1" : "0";
            if (engine == VLLM)
                vllm_settings(arena, &words, &got);
            else
                sglang_settings(&words, &got);
        }
        assert_true(got.here == gpus && gpus <= host);
        assert_true(got.gpus == gpus * (size ? size->number : 1));
    }
}

struct asked {
    const char *command;
    enum engine engine;
    double host;
    const char *kinds;              /* of the objects, in order */
};
static const struct asked cases[] = {
    { "qwen3-32b --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms "
      "--aggregated --set chips=16 --set pipeline_parallel=2", VLLM, 8, "Service LeaderWorkerSet " },
    { "qwen3-32b --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms --aggregated",
      VLLM, 8, "Service Deployment " },
    { "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 2s --tpot 30ms --pick 57",
      VLLM, 8, "Service StatefulSet Service StatefulSet Service Deployment " },
    { "deepseek-v3 --on h200-sxm --gpus 32 --isl 4000 --osl 500 --ttft 2s --tpot 30ms "
      "--set prefill_chips=16", VLLM, 8, "LeaderWorkerSet LeaderWorkerSet Service Deployment " },
    { "deepseek-v3 --on gb200-nvl72 --isl 4000 --osl 500 --draft 1 --pick 41 --engine sglang",
      SGLANG, 4, NULL },
    { "llama-3.1-8b --on h100-sxm --gpus 16 --isl 1000 --osl 200 --kv-precision fp8 "
      "--engine trtllm", TRTLLM, 8, "ConfigMap Service Deployment " },
};

static void objects_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct manifest *manifest = arena_alloc(&arena, sizeof *manifest);
        struct buffer kinds = { .arena = &arena };
        double gpus = 0;
        read_manifest(&arena, arena_print(&arena, "%s --emit k8s", cases[i].command), manifest);
        for (size_t k = 0; k < manifest->count; k++) {
            const struct doc *object = manifest->objects[k];
            check_metadata(object);
            buffer_print(&kinds, "%s ", string_at(object, "kind"));
            if (is_object(object, "Service"))
                check_service(manifest, object);
            check_pods(&arena, manifest, cases[i].engine, object, cases[i].host);
            gpus += gpus_of(object);
        }
        if (cases[i].kinds)
            assert_string_equal(kinds.data, cases[i].kinds);
        const struct doc *copies = doc_get(manifest->point, "pool_replicas");
        copies = copies ? copies : doc_get(manifest->point, "replicas");
        assert_true(gpus == copies->number * doc_get(manifest->point, "server_gpus")->number);
        arena_free(&arena);
    }
}

/* ---- readers agree ----------------------------------------------------------------------- */

static bool same(const struct doc *a, const struct doc *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == DOC_STRING)
        return !strcmp(a->string, b->string);
    if (a->kind == DOC_NUMBER)
        return a->number == b->number;
    const struct doc *x = a->first, *y = b->first;
    for (; x; x = x->next, y = y->next)
        if (!same(x, y) || (a->kind == DOC_OBJECT && strcmp(x->key, y->key)))
            return false;
    return a->boolean == b->boolean;
}

static const char *python_json(struct arena *arena, const char *text)
{
    char path[] = "/tmp/chalkline-manifest-XXXXXX", block[4096];
    struct buffer all = { .arena = arena };
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    FILE *pipe = popen(arena_print(arena, "python3 -c 'import json, sys, yaml\n"
                       "print(json.dumps(list(yaml.safe_load_all(open(\"%s\")))))' 2>/dev/null",
                       path), "r");
    assert_non_null(pipe);
    for (size_t size; (size = fread(block, 1, sizeof block, pipe)) > 0;)
        buffer_add(&all, block, size);
    unlink(path);
    return pclose(pipe) == 0 ? all.data : NULL;
}

/* The document of --json, the reader here and Python's: the same objects. */
static void readers_agree(void **state)
{
    (void)state;
    size_t pythons = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct manifest *manifest = arena_alloc(&arena, sizeof *manifest);
        struct error error;
        struct doc *theirs = NULL;
        read_manifest(&arena, arena_print(&arena, "%s --emit k8s", cases[i].command), manifest);
        const struct doc *document = manifest->answer->first;
        const char *json = python_json(&arena, manifest->text);
        if (json)
            assert_true(json_read(&arena, "python", text_of(json), &theirs, &error));
        const struct doc *read = theirs ? theirs->first : NULL;
        for (size_t k = 0; k < manifest->count; k++, document = document->next) {
            assert_true(document && same(document, manifest->objects[k]));
            assert_true(!theirs || (read && same(document, read)));
            read = read ? read->next : NULL;
        }
        assert_true(!document && !read);
        pythons += theirs != NULL;
        arena_free(&arena);
    }
    printf("%zu manifests, %zu of them read by Python too\n", COUNT(cases), pythons);
}

/* Texts that are no plain words come back as they were. */
static void texts_stay_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "true", "No", "null", "on", "1", "1e3", "0x1f", "2026-11-21", "--flag", "-x", "- x", "a: b",
        "a #b", "it's", "\"q\"", "{a}", "[a]", "$(POD_IP)", " a", "a ", "", "*a", "&a", "!a", "%a",
        "@a", "a\tb", "two\nlines\n", "two\n\nlines\n", "no end\nhere", "\nbefore\n", "~", "=" };
    struct arena arena = { 0 };
    struct error error;
    struct doc *doc = doc_new(&arena, DOC_OBJECT), *list = doc_add(&arena, doc, "texts", DOC_ARRAY);
    struct doc *theirs;
    struct buffer out = { .arena = &arena };
    for (size_t i = 0; i < COUNT(texts); i++) {
        doc_add_string(&arena, list, NULL, texts[i]);
        doc_add_string(&arena, doc, arena_print(&arena, "key-%zu", i), texts[i]);
    }
    launch_yaml(&out, doc);
    const char *json = python_json(&arena, out.data);
    if (!json) {
        print_message("skipped: needs python3-yaml\n");
        skip();
    }
    assert_true(json_read(&arena, "python", text_of(json), &theirs, &error));
    assert_true(same(doc, theirs->first));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_fit),
        cmocka_unit_test(readers_agree),
        cmocka_unit_test(texts_stay_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
