/* A deployment as a Kubernetes manifest.
 *
 *     servers that do both    Deployment + Service
 *     pools                   StatefulSet + headless Service each, a router with a Service
 *     server over hosts       LeaderWorkerSet: a pod for each part, the first one leads
 *
 * In a StatefulSet and in a LeaderWorkerSet server i of POOL is found as POOL-i.POOL. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"

#include <string.h>

struct doc *manifest_object(struct manifest *manifest, struct doc *parent, const char *key)
{
    return doc_add(manifest->arena, parent, key, DOC_OBJECT);
}

struct doc *manifest_array(struct manifest *manifest, struct doc *parent, const char *key)
{
    return doc_add(manifest->arena, parent, key, DOC_ARRAY);
}

void manifest_text(struct manifest *manifest, struct doc *parent, const char *key, const char *value)
{
    doc_add_string(manifest->arena, parent, key, value);
}

void manifest_number(struct manifest *manifest, struct doc *parent, const char *key, double value)
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

static const char pod_address[] = "$(POD_IP)";

/* What the cluster fills in. */
static void name_parts(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    for (size_t i = 0; i < launch->part_count; i++) {
        struct launch_part *part = &launch->parts[i];
        const char *pool = pool_name(manifest, part->role);
        part->here = pod_address;
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
    struct doc *labels = manifest_object(manifest, parent, key);
    manifest_text(manifest, labels, "app", name);
    if (duty)
        manifest_text(manifest, labels, "duty", duty);
}

struct doc *manifest_begin(struct manifest *manifest, const char *version, const char *kind, const char *name)
{
    struct doc *doc = manifest_object(manifest, manifest->list, NULL);
    manifest_text(manifest, doc, "apiVersion", version);
    manifest_text(manifest, doc, "kind", kind);
    manifest_text(manifest, manifest_object(manifest, doc, "metadata"), "name", name);
    return doc;
}

/* Does a variable hold the pod's address? */
static bool names_pod(const struct doc *environment)
{
    const struct doc *kid = environment->first;
    while (kid && !strstr(kid->string, pod_address))
        kid = kid->next;
    return kid;
}

void manifest_environment(struct manifest *manifest, struct doc *container, const struct launch_start *start)
{
    struct doc *list = manifest_array(manifest, container, "env");
    struct doc *token = manifest_object(manifest, list, NULL);
    manifest_text(manifest, token, "name", "HF_TOKEN");
    struct doc *from = manifest_object(manifest, token, "valueFrom");
    struct doc *secret = manifest_object(manifest, from, "secretKeyRef");
    manifest_text(manifest, secret, "name", "hf-token");
    manifest_text(manifest, secret, "key", "token");
    doc_add_bool(manifest->arena, secret, "optional", true);
    if (names_pod(start->environment)) {
        struct doc *address = manifest_object(manifest, list, NULL);
        manifest_text(manifest, address, "name", "POD_IP");
        from = manifest_object(manifest, manifest_object(manifest, address, "valueFrom"), "fieldRef");
        manifest_text(manifest, from, "fieldPath", "status.podIP");
    }
    for (const struct doc *kid = start->environment->first; kid; kid = kid->next) {
        struct doc *one = manifest_object(manifest, list, NULL);
        manifest_text(manifest, one, "name", kid->key);
        manifest_text(manifest, one, "value", kid->string);
    }
}

static void add_probe(struct manifest *manifest, struct doc *container, const char *key,
                      double failures)
{
    enum { EVERY = 10 };            /* s */
    struct doc *probe = manifest_object(manifest, container, key);
    struct doc *get = manifest_object(manifest, probe, "httpGet");
    manifest_text(manifest, get, "path", "/health");
    manifest_number(manifest, get, "port", LAUNCH_PORT);
    manifest_number(manifest, probe, "periodSeconds", EVERY);
    manifest_number(manifest, probe, "failureThreshold", failures);
}

void manifest_gpus(struct manifest *manifest, struct doc *container, const struct launch_part *part)
{
    struct doc *resources = manifest_object(manifest, container, "resources");
    manifest_number(manifest, manifest_object(manifest, resources, "limits"), manifest->resource, part->chips);
}

void manifest_words(struct manifest *manifest, struct doc *parent, const char *key, const struct doc *first)
{
    struct doc *list = manifest_array(manifest, parent, key);
    for (const struct doc *word = first; word; word = word->next)
        manifest_text(manifest, list, NULL, word->string);
}

const struct doc *manifest_arguments(const struct manifest *manifest, enum launch_role role, const struct doc *words)
{
    const char *at = launch_about(manifest->launch, role == LAUNCH_ROUTER ? "router" : "command", NULL)->value;
    const struct doc *word = words->first;
    for (; *at && word; word = word->next) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return word;
}

const struct launch_part *manifest_part(const struct manifest *manifest, enum launch_role role)
{
    const struct launch_part *part = manifest->launch->parts;
    while (part->role != role)
        part++;
    return part;
}

struct volumes {
    struct doc *mounts, *list;      /* of the container, of the pod */
};

static void add_volume(struct manifest *manifest, struct volumes *volumes, const char *name,
                       const char *path, const char *kind, const char *key, const char *value)
{
    struct doc *mount = manifest_object(manifest, volumes->mounts, NULL);
    manifest_text(manifest, mount, "name", name);
    manifest_text(manifest, mount, "mountPath", path);
    struct doc *volume = manifest_object(manifest, volumes->list, NULL);
    manifest_text(manifest, volume, "name", name);
    manifest_text(manifest, manifest_object(manifest, volume, kind), key, value);
}

static void add_port(struct manifest *manifest, struct doc *container)
{
    struct doc *ports = manifest_array(manifest, container, "ports");
    manifest_number(manifest, manifest_object(manifest, ports, NULL), "containerPort", LAUNCH_PORT);
}

/* GPUs and what they need to talk; where users are answered, an hour to load the weights, then
 * half a minute of silence. */
static void add_engine(struct manifest *manifest, struct doc *container,
                       struct volumes *volumes, const struct launch_part *part)
{
    enum { LOADING = 360, SILENT = 3 };
    manifest_gpus(manifest, container, part);
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
    struct doc *doc = manifest_begin(manifest, "v1", "ConfigMap", name);
    manifest_text(manifest, manifest_object(manifest, doc, "data"), key, out.data);
}

/* A pod's template; `duty`: of a part of a server, else NULL. */
static void add_pod(struct manifest *manifest, struct doc *template, const struct launch_part *part,
                    const char *name, const char *duty)
{
    struct launch_start start;
    launch_start(manifest->launch, part, &start);
    add_label(manifest, manifest_object(manifest, template, "metadata"), "labels", name, duty);
    struct doc *spec = manifest_object(manifest, template, "spec");
    struct doc *container = manifest_object(manifest, manifest_array(manifest, spec, "containers"), NULL);
    struct volumes volumes = { doc_new(manifest->arena, DOC_ARRAY),
                               doc_new(manifest->arena, DOC_ARRAY) };
    manifest_text(manifest, container, "name", "engine");
    manifest_text(manifest, container, "image", manifest->image);
    manifest_words(manifest, container, "command", start.words->first);
    manifest_environment(manifest, container, &start);
    if (start.file)
        manifest_text(manifest, container, "workingDir", "/config");
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
    struct doc *doc = manifest_begin(manifest, "v1", "Service", name);
    struct doc *spec = manifest_object(manifest, doc, "spec");
    if (headless)
        manifest_text(manifest, spec, "clusterIP", "None");
    add_label(manifest, spec, "selector", of, duty);
    struct doc *port = manifest_object(manifest, manifest_array(manifest, spec, "ports"), NULL);
    manifest_number(manifest, port, "port", LAUNCH_PORT);
}

static void add_selector(struct manifest *manifest, struct doc *spec, const char *name)
{
    add_label(manifest, manifest_object(manifest, spec, "selector"), "matchLabels", name, NULL);
}

static void add_group(struct manifest *manifest, const struct launch_part *part, const char *name)
{
    const struct launch_pool *pool = &manifest->launch->pool[part->role];
    struct launch_part other = *part;
    other.part = 1;
    struct doc *doc = manifest_begin(manifest, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name);
    struct doc *spec = manifest_object(manifest, doc, "spec");
    manifest_number(manifest, spec, "replicas", pool->count);
    struct doc *group = manifest_object(manifest, spec, "leaderWorkerTemplate");
    manifest_number(manifest, group, "size", (double)pool->parts);
    manifest_text(manifest, group, "restartPolicy", "RecreateGroupOnPodRestart");
    add_pod(manifest, manifest_object(manifest, group, "leaderTemplate"), part, name, "leader");
    add_pod(manifest, manifest_object(manifest, group, "workerTemplate"), &other, name, "worker");
}

static void add_set(struct manifest *manifest, const struct launch_part *part, const char *name,
                    double count)
{
    const bool named = part->role == LAUNCH_PREFILL || part->role == LAUNCH_DECODE;
    struct doc *doc = manifest_begin(manifest, "apps/v1", named ? "StatefulSet" : "Deployment", name);
    struct doc *spec = manifest_object(manifest, doc, "spec");
    manifest_number(manifest, spec, "replicas", count);
    if (named) {
        manifest_text(manifest, spec, "serviceName", name);
        manifest_text(manifest, spec, "podManagementPolicy", "Parallel");
    }
    add_selector(manifest, spec, name);
    add_pod(manifest, manifest_object(manifest, spec, "template"), part, name, NULL);
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
    const struct launch_part *part = manifest_part(manifest, role);
    const char *name = pool_name(manifest, role);
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
            error_set(error, "--emit %s: %s starts a server of %.0f GPUs on hosts of %.0f by MPI",
                      launch->target, launch->title, launch->pool[role].chips, launch->host_chips);
            return error_expected(error, "--emit %s: the command; or --engine vllm or sglang",
                                  launch->engine);
        }
    return true;
}

/* What a cluster must have beside the document. */
static void needs_lines(const struct launch *launch, struct buffer *out)
{
    const struct flag *needs = launch_target_about(launch, "needs");
    bool groups = false;
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        groups |= launch->pool[role].count > 0 && launch->pool[role].parts > 1;
    if (needs)
        launch_comment(out, "needs %s (%s, %s)%s%s", needs->value, needs->source, needs->date, *needs->note ? ": " : "",
                       needs->note);
    else if (groups)
        buffer_print(out, "# needs the LeaderWorkerSet controller: its pods of one group start and "
                     "end together\n");
    if (launch->pods && (*launch->model == '/' || *launch->model == '.'))
        launch_comment(out, "mount %s into the pods: it is a path", launch->model);
}

void manifest_k8s(struct manifest *manifest)
{
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        if (manifest->launch->pool[role].count > 0)
            add_pool(manifest, (enum launch_role)role);
    if (manifest->launch->pools)
        add_router(manifest);
}

bool launch_manifest(const struct launch *launch, struct buffer *out, struct doc *doc, struct error *error)
{
    struct manifest manifest = { .launch = launch, .arena = launch->arena, .out = out, .doc = doc };
    if (launch->pods && !can_start(launch, error))
        return false;
    needs_lines(launch, out);
    if (launch->pods) {
        manifest.base = base_name(launch->arena, launch->model);
        manifest.image = launch->release.image;
        manifest.resource = launch->release.resource;
        manifest.list = doc_add(launch->arena, doc, "manifest", DOC_ARRAY);
        name_parts(&manifest);
    }
    launch->document->write(&manifest);
    for (const struct doc *one = launch->pods ? manifest.list->first : NULL; one; one = one->next) {
        buffer_print(out, "---\n");
        launch_yaml(out, one);
    }
    return true;
}
