/* A deployment as Dynamo's graph: a frontend, and a component for each role.
 *
 *     frontend               takes requests, and finds the workers of the graph
 *     worker                 servers that do both
 *     prefill, decode        pools
 *     multinode.nodeCount    hosts of one server; the operator adds the flags that join them */
#include "deploy/launch/manifest.h"

static struct doc *add_component(struct manifest *manifest, struct doc *list, const char *name, const char *type,
                                 double replicas, double hosts)
{
    struct doc *component = manifest_object(manifest, list, NULL);
    manifest_text(manifest, component, "name", name);
    manifest_text(manifest, component, "type", type);
    manifest_number(manifest, component, "replicas", replicas);
    if (hosts > 1)
        manifest_number(manifest, manifest_object(manifest, component, "multinode"), "nodeCount", hosts);
    return component;
}

/* The container that the operator looks for, `main`. */
static void add_container(struct manifest *manifest, struct doc *component, const struct launch_part *part)
{
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    struct doc *spec = manifest_object(manifest, manifest_object(manifest, component, "podTemplate"), "spec");
    struct doc *container = manifest_object(manifest, manifest_array(manifest, spec, "containers"), NULL);
    const struct doc *arguments = manifest_arguments(manifest, part->role, start.words);
    struct doc *command = doc_new(manifest->arena, DOC_ARRAY);
    for (const struct doc *word = start.words->first; word != arguments; word = word->next)
        manifest_text(manifest, command, NULL, word->string);
    manifest_text(manifest, container, "name", "main");
    manifest_text(manifest, container, "image", manifest->image);
    doc_put(container, "command", command);
    manifest_words(manifest, container, "args", arguments);
    if (part->role == LAUNCH_ROUTER)
        return;
    manifest_environment(manifest, container, &start);
    manifest_gpus(manifest, container, part);
}

void manifest_dynamo(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    const struct launch_part router = { .role = LAUNCH_ROUTER, .here = "", .address = "" };
    struct doc *doc = manifest_begin(manifest, launch_target_about(launch, "apiVersion")->value,
                                     launch_target_about(launch, "kind")->value, manifest->base);
    struct doc *spec = manifest_object(manifest, doc, "spec");
    manifest_text(manifest, spec, "backendFramework", launch->engine);
    struct doc *list = manifest_array(manifest, spec, "components");
    add_container(manifest, add_component(manifest, list, "Frontend", "frontend", 1, 1), &router);
    for (int role = 0; role < LAUNCH_ROUTER; role++) {
        const struct launch_pool *pool = &launch->pool[role];
        const char *type = role == LAUNCH_TOGETHER ? "worker" : launch_roles[role];
        if (pool->count > 0)
            add_container(manifest, add_component(manifest, list, type, type, pool->count, (double)pool->parts),
                          manifest_part(manifest, (enum launch_role)role));
    }
}
