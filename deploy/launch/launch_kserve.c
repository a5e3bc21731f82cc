/* A deployment as KServe's LLMInferenceService.
 *
 *     spec            servers that do both, or those that write output
 *     spec.prefill    servers that read prompts
 *     worker          pods of the further hosts of a server, which its template joins by attention ranks
 *
 * KServe's own template has the command; flags reach it in a variable of the environment, as its shell
 * splits them. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"

#include <math.h>

static const char *shell_text(struct manifest *manifest, const struct doc *first)
{
    struct buffer out = { .arena = manifest->arena };
    for (const struct doc *word = first; word; word = word->next) {
        buffer_print(&out, "%s", word == first ? "" : " ");
        launch_word(&out, word->string);
    }
    return out.size ? out.data : "";
}

static void add_pod(struct manifest *manifest, struct doc *group, const char *key, const struct launch_part *part)
{
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    doc_add_string(manifest->arena, start.environment, launch_target_about(manifest->launch, "arguments")->value,
                   shell_text(manifest, manifest_arguments(manifest, part->role, start.words)));
    struct doc *pod = manifest_object(manifest, group, key);
    struct doc *container = manifest_object(manifest, manifest_array(manifest, pod, "containers"), NULL);
    manifest_text(manifest, container, "name", "main");
    manifest_environment(manifest, container, &start);
    manifest_gpus(manifest, container, part);
}

/* Attention ranks, of which each host has as many. */
static void add_parallelism(struct manifest *manifest, struct doc *group, const struct launch_pool *pool)
{
    struct doc *sizes = manifest_object(manifest, group, "parallelism");
    manifest_number(manifest, sizes, "tensor", pool->rank_chips);
    manifest_number(manifest, sizes, "data", pool->ranks);
    manifest_number(manifest, sizes, "dataLocal", pool->ranks / (double)pool->parts);
}

static void add_group(struct manifest *manifest, struct doc *group, enum launch_role role)
{
    const struct launch_pool *pool = &manifest->launch->pool[role];
    const struct launch_part *part = manifest_part(manifest, role);
    struct launch_part other = *part;
    other.part = 1;
    manifest_number(manifest, group, "replicas", pool->count);
    if (pool->parts > 1)
        add_parallelism(manifest, group, pool);
    add_pod(manifest, group, "template", part);
    if (pool->parts > 1)
        add_pod(manifest, group, "worker", &other);
}

/* Its template of several hosts gives each some whole attention ranks. */
const char *kserve_bars(const struct launch *launch, const struct launch_pool *pool)
{
    const double ranks = launch->host_chips / pool->rank_chips;
    const bool whole = ranks >= 1 && ranks == floor(ranks) && fmod(pool->ranks, ranks) == 0;
    return pool->chips > launch->host_chips && !whole ? "its template joins hosts by whole attention ranks only" : NULL;
}

void manifest_kserve(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    struct doc *doc = manifest_begin(manifest, launch_target_about(launch, "apiVersion")->value,
                                     launch_target_about(launch, "kind")->value, manifest->base);
    struct doc *spec = manifest_object(manifest, doc, "spec");
    struct doc *model = manifest_object(manifest, spec, "model");
    manifest_text(manifest, model, "uri", arena_print(manifest->arena, "hf://%s", launch->model));
    manifest_text(manifest, model, "name", launch->model);
    add_group(manifest, spec, launch->pools ? LAUNCH_DECODE : LAUNCH_TOGETHER);
    if (launch->pools)
        add_group(manifest, manifest_object(manifest, spec, "prefill"), LAUNCH_PREFILL);
    struct doc *router = manifest_object(manifest, spec, "router");
    manifest_object(manifest, router, "scheduler");
    manifest_object(manifest, router, "route");
    manifest_object(manifest, router, "gateway");
}
