/* A deployment as values of llm-d's Helm chart for a model server.
 *
 *     decode     servers that do both, or those that write output, behind a proxy that asks `prefill` first
 *     prefill    servers that read prompts
 *     multinode  a LeaderWorkerSet: one command for all its pods, which looks at its own number
 *
 * Commands are the engine's own (modelCommand: custom), so that the chart adds no flags to them. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"

/* "if [ $LWS_WORKER_INDEX = 0 ]; then exec FIRST; else exec OTHERS; fi" */
static const char *both_commands(struct manifest *manifest, const struct launch_start *first,
                                 const struct launch_start *other)
{
    struct buffer out = { .arena = manifest->arena };
    buffer_print(&out, "if [ \"$LWS_WORKER_INDEX\" = 0 ]; then exec");
    for (const struct doc *word = first->words->first; word; word = word->next) {
        buffer_print(&out, " ");
        launch_word(&out, word->string);
    }
    buffer_print(&out, "; else exec");
    for (const struct doc *word = other->words->first; word; word = word->next) {
        buffer_print(&out, " ");
        launch_word(&out, word->string);
    }
    buffer_print(&out, "; fi");
    return out.data;
}

static void add_command(struct manifest *manifest, struct doc *container, const struct launch_part *part,
                        const struct launch_start *start)
{
    struct launch_part other = *part;
    struct launch_start second;
    manifest_text(manifest, container, "modelCommand", "custom");
    if (manifest->launch->pool[part->role].parts == 1) {
        manifest_words(manifest, container, "command", start->words->first);
        return;
    }
    other.part = 1;
    launch_start(manifest->launch, &other, &second);
    struct doc *command = manifest_array(manifest, container, "command");
    manifest_text(manifest, command, NULL, "/bin/bash");
    manifest_text(manifest, command, NULL, "-c");
    manifest_text(manifest, manifest_array(manifest, container, "args"), NULL,
                  both_commands(manifest, start, &second));
}

/* The chart reckons with attention ranks of equal hosts; GPUs are given, so that it need not. */
static void add_parallelism(struct manifest *manifest, struct doc *group, const struct launch_pool *pool)
{
    struct doc *sizes = manifest_object(manifest, group, "parallelism");
    manifest_number(manifest, sizes, "tensor", pool->rank_chips);
    manifest_number(manifest, sizes, "data", pool->ranks);
    manifest_number(manifest, sizes, "workers", (double)pool->parts);
    if (pool->ranks >= (double)pool->parts)
        manifest_number(manifest, sizes, "dataLocal", pool->ranks / (double)pool->parts);
}

static void add_group(struct manifest *manifest, struct doc *doc, const char *key, enum launch_role role)
{
    const struct launch_pool *pool = &manifest->launch->pool[role];
    const struct launch_part *part = manifest_part(manifest, role);
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    struct doc *group = manifest_object(manifest, doc, key);
    doc_add_bool(manifest->arena, group, "create", true);
    manifest_number(manifest, group, "replicas", pool->count);
    add_parallelism(manifest, group, pool);
    struct doc *container = manifest_object(manifest, manifest_array(manifest, group, "containers"), NULL);
    manifest_text(manifest, container, "name", "vllm");
    manifest_text(manifest, container, "image", manifest->image);
    add_command(manifest, container, part, &start);
    manifest_environment(manifest, container, &start);
    manifest_gpus(manifest, container, part);
    doc_add_bool(manifest->arena, container, "mountModelVolume", false);
}

static void add_routing(struct manifest *manifest, struct doc *doc)
{
    struct doc *routing = manifest_object(manifest, doc, "routing");
    manifest_number(manifest, routing, "servicePort", LAUNCH_PORT);
    doc_add_bool(manifest->arena, manifest_object(manifest, routing, "proxy"), "enabled", manifest->launch->pools);
}

void manifest_llmd(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    struct doc *doc = manifest_object(manifest, manifest->list, NULL);
    bool several = false;
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        several |= launch->pool[role].count > 0 && launch->pool[role].parts > 1;
    manifest_text(manifest, doc, "fullnameOverride", manifest->base);
    doc_add_bool(manifest->arena, doc, "multinode", several);
    struct doc *model = manifest_object(manifest, doc, "modelArtifacts");
    manifest_text(manifest, model, "name", launch->model);
    manifest_text(manifest, model, "uri", arena_print(manifest->arena, "hf://%s", launch->model));
    struct doc *labels = manifest_object(manifest, model, "labels");
    manifest_text(manifest, labels, "llm-d.ai/inferenceServing", "true");
    manifest_text(manifest, labels, "llm-d.ai/model", manifest->base);
    manifest_text(manifest, manifest_object(manifest, doc, "accelerator"), "type",
                  launch_about(launch, "accelerator", engine_family(&launch->deployment->scenario))->value);
    add_routing(manifest, doc);
    add_group(manifest, doc, "decode", launch->pools ? LAUNCH_DECODE : LAUNCH_TOGETHER);
    if (launch->pools)
        add_group(manifest, doc, "prefill", LAUNCH_PREFILL);
    else
        doc_add_bool(manifest->arena, manifest_object(manifest, doc, "prefill"), "create", false);
}
