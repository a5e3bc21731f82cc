/* A deployment as a Serve application of Ray: flags of the engine are keyword arguments of its constructor.
 *
 *     --tensor-parallel-size 8      tensor_parallel_size: 8
 *     --kv-transfer-config '{...}'  kv_transfer_config: an object
 *     --enable-expert-parallel      enable_expert_parallel: true
 *
 * Ray places the workers of a replica, and its ingress listens. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"

#include <string.h>

static const char *keyword(struct arena *arena, const char *flag)
{
    char *name = arena_copy(arena, flag + 2, strlen(flag + 2));
    for (char *at = name; *at; at++)
        if (*at == '-')
            *at = '_';
    return name;
}

static void add_value(struct manifest *manifest, struct doc *object, const char *key, const char *text)
{
    double number;
    struct doc *read;
    struct error ignored;
    if (text_number(text_of(text), &number))
        manifest_number(manifest, object, key, number);
    else if (*text == '{' && json_read(manifest->arena, key, text_of(text), &read, &ignored))
        doc_put(object, key, read);
    else
        manifest_text(manifest, object, key, text);
}

static void add_keywords(struct manifest *manifest, struct doc *object, const struct doc *word)
{
    while (word) {
        const char *key = keyword(manifest->arena, word->string);
        const struct doc *value = word->next && strncmp(word->next->string, "--", 2) ? word->next : NULL;
        if (value)
            add_value(manifest, object, key, value->string);
        else
            doc_add_bool(manifest->arena, object, key, true);
        word = value ? value->next : word->next;
    }
}

static void add_config(struct manifest *manifest, struct doc *config, enum launch_role role)
{
    const struct launch *launch = manifest->launch;
    const struct flag *chip = launch_target_about(launch, "accelerator");
    struct launch_start start;
    launch_start(launch, manifest_part(manifest, role), &start);
    struct doc *model = manifest_object(manifest, config, "model_loading_config");
    manifest_text(manifest, model, "model_id", manifest->base);
    manifest_text(manifest, model, "model_source", launch->model);
    if (chip)
        manifest_text(manifest, config, "accelerator_type", chip->value);
    manifest_number(manifest, manifest_object(manifest, config, "deployment_config"), "num_replicas",
                    launch->pool[role].count);
    add_keywords(manifest, manifest_object(manifest, config, "engine_kwargs"),
                 manifest_arguments(manifest, role, start.words));
}

const char *ray_bars(const struct launch *launch, const struct launch_pool *pool)
{
    return launch->pools && pool->ranks > 1 ? "its application of two pools has no documented attention ranks" : NULL;
}

void manifest_ray(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    const bool ranks = !launch->pools && launch->pool[LAUNCH_TOGETHER].ranks > 1;
    const char *builder = launch->pools ? "pools" : ranks ? "ranks" : "together";
    struct doc *doc = manifest_object(manifest, manifest->list, NULL);
    struct doc *one = manifest_object(manifest, manifest_array(manifest, doc, "applications"), NULL);
    manifest_text(manifest, one, "name", manifest->base);
    manifest_text(manifest, one, "route_prefix", "/");
    manifest_text(manifest, one, "import_path", launch_target_about(launch, builder)->value);
    struct doc *args = manifest_object(manifest, one, "args");
    if (launch->pools) {
        add_config(manifest, manifest_object(manifest, args, "prefill_config"), LAUNCH_PREFILL);
        add_config(manifest, manifest_object(manifest, args, "decode_config"), LAUNCH_DECODE);
    } else if (ranks) {
        add_config(manifest, manifest_object(manifest, args, "llm_config"), LAUNCH_TOGETHER);
    } else {
        add_config(manifest, manifest_object(manifest, manifest_array(manifest, args, "llm_configs"), NULL),
                   LAUNCH_TOGETHER);
    }
}
