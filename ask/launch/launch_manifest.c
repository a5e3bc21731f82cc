/* A deployment as a Kubernetes manifest.
 *
 *     servers that do both    Deployment + Service
 *     pools                   StatefulSet + headless Service each, a router with a Service
 *     server over hosts       LeaderWorkerSet: a pod for each part, the first one leads
 *
 * In a StatefulSet and in a LeaderWorkerSet server i of POOL is found as POOL-i.POOL. */
#include "ask/launch/launch.h"

#include "build/row_names.h"

#include <string.h>

struct manifest {
    const struct launch *launch;
    struct arena *arena;
    struct doc *list;               /* of the objects */
    const char *base;               /* what all names begin with */
    const char *image, *resource;
};

static struct doc *object(struct manifest *manifest, struct doc *parent, const char *key)
{
    return doc_add(manifest->arena, parent, key, DOC_OBJECT);
}

static struct doc *array(struct manifest *manifest, struct doc *parent, const char *key)
{
    return doc_add(manifest->arena, parent, key, DOC_ARRAY);
}

static void text(struct manifest *manifest, struct doc *parent, const char *key, const char *value)
{
    doc_add_string(manifest->arena, parent, key, value);
}

static void number(struct manifest *manifest, struct doc *parent, const char *key, double value)
{
    doc_add_number(manifest->arena, parent, key, value);
}

/* ---- names ------------------------------------------------------------------------------- */

/* "Qwen/Qwen3-32B" -> "qwen3-32b": letters, digits and dashes, a letter first. */
static const char *base_name(struct arena *arena, const char *model)
{
    enum { LONGEST = 40 };
    struct buffer out = { .arena = arena };
    const char *slash = strrchr(model, '/');
    for (const char *at = slash && slash[1] ? slash + 1 : model; *at && out.size < LONGEST; at++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
        if (letter || (out.size && digit))
            buffer_add(&out, &c, 1);
        else if (out.size && out.data[out.size - 1] != '-')
            buffer_add(&out, "-", 1);
    }
    while (out.size && out.data[out.size - 1] == '-')
        out.data[--out.size] = '\0';
    return out.size ? out.data : "model";
}

static const char *pool_name(struct manifest *manifest, enum launch_role role)
{
    return arena_print(manifest->arena, "%s-%s", manifest->base,
                       role == LAUNCH_TOGETHER ? "server" : launch_roles[role]);
}

/* What the cluster fills in. */
static void name_parts(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    for (size_t i = 0; i < launch->part_count; i++) {
        struct launch_part *part = &launch->parts[i];
        const char *pool = pool_name(manifest, part->role);
        part->here = "$(POD_IP)";
        part->address = arena_print(manifest->arena, "%s-%zu.%s", pool, part->server, pool);
        part->leader = "$(LWS_LEADER_ADDRESS)";
        part->rank = "$(LWS_WORKER_INDEX)";
        part->index = part->first_chip = 0;
    }
}

/* ---- one pod ----------------------------------------------------------------------------- */

static void add_label(struct manifest *manifest, struct doc *parent, const char *key,
                      const char *name, const char *duty)
{
    struct doc *labels = object(manifest, parent, key);
    text(manifest, labels, "app", name);
    if (duty)
        text(manifest, labels, "duty", duty);
}

static struct doc *begin(struct manifest *manifest, const char *version, const char *kind,
                         const char *name)
{
    struct doc *doc = object(manifest, manifest->list, NULL);
    text(manifest, doc, "apiVersion", version);
    text(manifest, doc, "kind", kind);
    text(manifest, object(manifest, doc, "metadata"), "name", name);
    return doc;
}

static void add_environment(struct manifest *manifest, struct doc *container,
                            const struct launch_start *start)
{
    struct doc *list = array(manifest, container, "env");
    struct doc *token = object(manifest, list, NULL);
    text(manifest, token, "name", "HF_TOKEN");
    struct doc *from = object(manifest, token, "valueFrom");
    struct doc *secret = object(manifest, from, "secretKeyRef");
    text(manifest, secret, "name", "hf-token");
    text(manifest, secret, "key", "token");
    doc_add_bool(manifest->arena, secret, "optional", true);
    if (start->environment->first) {
        struct doc *address = object(manifest, list, NULL);
        text(manifest, address, "name", "POD_IP");
        from = object(manifest, object(manifest, address, "valueFrom"), "fieldRef");
        text(manifest, from, "fieldPath", "status.podIP");
    }
    for (const struct doc *kid = start->environment->first; kid; kid = kid->next) {
        struct doc *one = object(manifest, list, NULL);
        text(manifest, one, "name", kid->key);
        text(manifest, one, "value", kid->string);
    }
}

static void add_probe(struct manifest *manifest, struct doc *container, const char *key,
                      double failures)
{
    enum { EVERY = 10 };            /* s */
    struct doc *probe = object(manifest, container, key);
    struct doc *get = object(manifest, probe, "httpGet");
    text(manifest, get, "path", "/health");
    number(manifest, get, "port", LAUNCH_PORT);
    number(manifest, probe, "periodSeconds", EVERY);
    number(manifest, probe, "failureThreshold", failures);
}

struct volumes {
    struct doc *mounts, *list;      /* of the container, of the pod */
};

static void add_volume(struct manifest *manifest, struct volumes *volumes, const char *name,
                       const char *path, const char *kind, const char *key, const char *value)
{
    struct doc *mount = object(manifest, volumes->mounts, NULL);
    text(manifest, mount, "name", name);
    text(manifest, mount, "mountPath", path);
    struct doc *volume = object(manifest, volumes->list, NULL);
    text(manifest, volume, "name", name);
    text(manifest, object(manifest, volume, kind), key, value);
}

static void add_port(struct manifest *manifest, struct doc *container)
{
    struct doc *ports = array(manifest, container, "ports");
    number(manifest, object(manifest, ports, NULL), "containerPort", LAUNCH_PORT);
}

/* GPUs and what they need to talk; where users are answered, an hour to load the weights, then
 * half a minute of silence. */
static void add_engine(struct manifest *manifest, struct doc *container,
                       struct volumes *volumes, const struct launch_part *part)
{
    enum { LOADING = 360, SILENT = 3 };
    number(manifest, object(manifest, object(manifest, container, "resources"), "limits"),
           manifest->resource, part->chips);
    if (!part->part) {
        add_port(manifest, container);
        add_probe(manifest, container, "startupProbe", LOADING);
        add_probe(manifest, container, "readinessProbe", SILENT);
    }
    add_volume(manifest, volumes, "shm", "/dev/shm", "emptyDir", "medium", "Memory");
}

/* The file of an engine stands where its command runs. */
static void add_file(struct manifest *manifest, const char *name, const char *key,
                     const struct doc *file)
{
    struct buffer out = { .arena = manifest->arena };
    launch_yaml(&out, file);
    struct doc *doc = begin(manifest, "v1", "ConfigMap", name);
    text(manifest, object(manifest, doc, "data"), key, out.data);
}

/* A pod's template; `duty`: of a part of a server, else NULL. */
static void add_pod(struct manifest *manifest, struct doc *template, const struct launch_part *part,
                    const char *name, const char *duty)
{
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    add_label(manifest, object(manifest, template, "metadata"), "labels", name, duty);
    struct doc *spec = object(manifest, template, "spec");
    struct doc *container = object(manifest, array(manifest, spec, "containers"), NULL);
    struct volumes volumes = { doc_new(manifest->arena, DOC_ARRAY),
                               doc_new(manifest->arena, DOC_ARRAY) };
    text(manifest, container, "name", "engine");
    text(manifest, container, "image", manifest->image);
    struct doc *command = array(manifest, container, "command");
    for (const struct doc *word = start.words->first; word; word = word->next)
        text(manifest, command, NULL, word->string);
    add_environment(manifest, container, &start);
    if (start.file)
        text(manifest, container, "workingDir", "/config");
    if (part->role == LAUNCH_ROUTER)
        add_port(manifest, container);
    else
        add_engine(manifest, container, &volumes, part);
    if (start.file)
        add_volume(manifest, &volumes, "config", "/config", "configMap", "name", name);
    if (!volumes.list->first)
        return;
    doc_put(container, "volumeMounts", volumes.mounts);
    doc_put(spec, "volumes", volumes.list);
}

/* ---- objects ----------------------------------------------------------------------------- */

static void add_service(struct manifest *manifest, const char *name, const char *of,
                        const char *duty, bool headless)
{
    struct doc *doc = begin(manifest, "v1", "Service", name);
    struct doc *spec = object(manifest, doc, "spec");
    if (headless)
        text(manifest, spec, "clusterIP", "None");
    add_label(manifest, spec, "selector", of, duty);
    struct doc *port = object(manifest, array(manifest, spec, "ports"), NULL);
    number(manifest, port, "port", LAUNCH_PORT);
}

static void add_selector(struct manifest *manifest, struct doc *spec, const char *name)
{
    add_label(manifest, object(manifest, spec, "selector"), "matchLabels", name, NULL);
}

static void add_group(struct manifest *manifest, const struct launch_part *part, const char *name)
{
    const struct launch_pool *pool = &manifest->launch->pool[part->role];
    struct launch_part other = *part;
    other.part = 1;
    struct doc *doc = begin(manifest, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name);
    struct doc *spec = object(manifest, doc, "spec");
    number(manifest, spec, "replicas", pool->count);
    struct doc *group = object(manifest, spec, "leaderWorkerTemplate");
    number(manifest, group, "size", (double)pool->parts);
    text(manifest, group, "restartPolicy", "RecreateGroupOnPodRestart");
    add_pod(manifest, object(manifest, group, "leaderTemplate"), part, name, "leader");
    add_pod(manifest, object(manifest, group, "workerTemplate"), &other, name, "worker");
}

static void add_set(struct manifest *manifest, const struct launch_part *part, const char *name,
                    double count)
{
    const bool named = part->role == LAUNCH_PREFILL || part->role == LAUNCH_DECODE;
    struct doc *doc = begin(manifest, "apps/v1", named ? "StatefulSet" : "Deployment", name);
    struct doc *spec = object(manifest, doc, "spec");
    number(manifest, spec, "replicas", count);
    if (named) {
        text(manifest, spec, "serviceName", name);
        text(manifest, spec, "podManagementPolicy", "Parallel");
    }
    add_selector(manifest, spec, name);
    add_pod(manifest, object(manifest, spec, "template"), part, name, NULL);
}

static void add_file_of(struct manifest *manifest, const struct launch_part *part, const char *name)
{
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    if (start.file)
        add_file(manifest, name, arena_print(manifest->arena, "%s.yaml", launch_roles[part->role]),
                 start.file);
}

static void add_pool(struct manifest *manifest, enum launch_role role)
{
    const struct launch *launch = manifest->launch;
    const struct launch_pool *pool = &launch->pool[role];
    const struct launch_part *part = launch->parts;
    const char *name = pool_name(manifest, role);
    while (part->role != role)
        part++;
    add_file_of(manifest, part, name);
    if (role == LAUNCH_TOGETHER)
        add_service(manifest, manifest->base, name, pool->parts > 1 ? "leader" : NULL, false);
    else if (pool->parts == 1)
        add_service(manifest, name, name, NULL, true);
    if (pool->parts > 1)
        add_group(manifest, part, name);
    else
        add_set(manifest, part, name, pool->count);
}

static void add_router(struct manifest *manifest)
{
    const char *name = pool_name(manifest, LAUNCH_ROUTER);
    const struct launch_part part = { .role = LAUNCH_ROUTER, .here = "", .address = "" };
    add_file_of(manifest, &part, name);
    add_service(manifest, manifest->base, name, NULL, false);
    add_set(manifest, &part, name, 1);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Kubernetes starts pods; it does not log in to them, as MPI must. */
static bool can_start(const struct launch *launch, struct error *error)
{
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        if (launch->pool[role].count > 0 && launch_about(launch, "launcher", NULL) &&
            launch->pool[role].chips > launch->host_chips) {
            error_set(error, "--emit k8s: %s starts a server of %.0f GPUs on hosts of %.0f by MPI",
                      launch->title, launch->pool[role].chips, launch->host_chips);
            return error_expected(error, "--emit %s: the command; or --engine vllm or sglang",
                                  launch->engine);
        }
    return true;
}

/* What a cluster must have beside the objects. */
static void needs_lines(const struct launch *launch, struct buffer *out)
{
    bool groups = false;
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        groups |= launch->pool[role].count > 0 && launch->pool[role].parts > 1;
    if (groups)
        buffer_print(out, "# needs the LeaderWorkerSet controller: its pods of one group start and "
                     "end together\n");
    if (*launch->model == '/' || *launch->model == '.')
        launch_comment(out, "mount %s into the pods: it is a path", launch->model);
}

bool launch_manifest(const struct launch *launch, const char *family, struct buffer *out,
                     struct doc *doc, struct error *error)
{
    struct manifest manifest = { .launch = launch, .arena = launch->arena };
    if (!can_start(launch, error))
        return false;
    manifest.base = base_name(launch->arena, launch->model);
    manifest.image = launch_about(launch, "image", family)->value;
    manifest.resource = launch_about(launch, "resource", family)->value;
    manifest.list = doc_add(launch->arena, doc, "manifest", DOC_ARRAY);
    needs_lines(launch, out);
    name_parts(&manifest);
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        if (launch->pool[role].count > 0)
            add_pool(&manifest, (enum launch_role)role);
    if (launch->pools)
        add_router(&manifest);
    for (const struct doc *one = manifest.list->first; one; one = one->next) {
        buffer_print(out, "---\n");
        launch_yaml(out, one);
    }
    return true;
}
