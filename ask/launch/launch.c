/* Chooses the engine that starts a deployment, checks whether it can, and writes the comment lines
 * above its commands.
 *
 * The engine is the one the plan was made for, and another is refused, since its predictions would
 * not apply. Formats that no flag of the engine produces must be those of the checkpoint. The
 * model gets its public name. launch_flags.c writes the flags, launch_shell.c and launch_manifest.c the
 * commands and manifests. */
#include "ask/launch/launch.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const launch_targets[] = { "vllm", "sglang", "trtllm", "k8s", NULL };
static const char manifest[] = "k8s";

/* ---- engine, model ----------------------------------------------------------------------- */

/* Commands of one engine of a plan that was made for another would not do what it says. */
static bool choose_engine(struct launch *launch, const char *name, const char *engine,
                          struct error *error)
{
    const struct catalog *catalog = &launch->deployment->scenario.catalog;
    launch->manifest = !strcmp(name, manifest);
    const struct catalog_entry *entry =
        catalog_find(catalog, CATALOG_ENGINE,
                     engine ? engine : launch->manifest ? launch_targets[0] : name, error);
    if (!entry)
        return false;
    launch->engine = entry->name;
    launch->title = entry->title;
    if (!launch->manifest && strcmp(entry->name, name)) {
        error_set(error, "--emit %s does not match --engine %s", name, engine);
        return error_expected(error, "--engine %s", name);
    }
    launch_read_flags(launch);
    if (launch->flag_count)
        return true;
    error_set(error, "--emit k8s: no flags of '%s' are known", engine);
    return error_expected(error, "--engine vllm, sglang or trtllm");
}

/* The first alias that looks like a name of Hugging Face. */
static const char *public_name(const struct catalog_entry *entry)
{
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!strcmp(row.fact, "alias") && strchr(row.value, '/'))
            return row.value;
    }
    return NULL;
}

static bool name_model(struct launch *launch, struct error *error)
{
    const char *word = launch->deployment->model;
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&launch->deployment->scenario.catalog,
                                                     CATALOG_MODEL, word, &ignored);
    const size_t size = strlen(word), tail = strlen("/config.json");
    launch->model = entry ? strchr(word, '/') ? word : public_name(entry) : word;
    if (!launch->model || *launch->model == '-') {  /* which an engine takes for a flag */
        error_set(error, "--emit: no name under which an engine finds '%.60s' is known", word);
        return error_expected(error, "a name of Hugging Face, ORGANISATION/MODEL, or the path of its "
                              "config.json");
    }
    if (!entry && size > tail && !strcmp(word + size - tail, "/config.json"))
        launch->model = arena_copy(launch->arena, word, size - tail);
    else if (!entry && !strcmp(word, "config.json"))
        launch->model = ".";
    return true;
}

static const char *family_of(const struct launch *launch)
{
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&launch->deployment->scenario.catalog,
                                                     CATALOG_MACHINE, launch->deployment->machine,
                                                     &ignored);
    return entry ? catalog_text(entry, "family") : NULL;
}

static bool machine_known(const struct launch *launch, struct error *error)
{
    const char *family = family_of(launch), *machine = launch->deployment->scenario.machine;
    const bool runs = launch_about(launch, "resource", family);
    if (runs && (!launch->manifest || launch_about(launch, "image", family)))
        return true;
    error_set(error, runs ? "--emit k8s: no image of %s for %s is known"
                          : "--emit: %s is not known to run on %s", launch->title, machine);
    return error_expected(error, runs ? "--emit vllm or sglang: the commands"
                                      : "a machine with GPUs that it runs on, or another --emit");
}

/* ---- formats ----------------------------------------------------------------------------- */

/* Is there a flag that makes weights or cache be in this format? */
static bool made_by_flag(const struct launch *launch, const char *takes, const char *format)
{
    const size_t size = strlen(format);
    for (size_t i = 0; i < launch->flag_count; i++)
        if (!strcmp(launch->flags[i].form, "format") && !strcmp(launch->flags[i].takes, takes))
            for (const char *at = launch->flags[i].value; *at; at += strspn(at, " ")) {
                if (!strncmp(at, format, size) && at[size] == '=')
                    return true;
                at += strcspn(at, " ");
            }
    return false;
}

static bool cache_known(const struct launch *launch, struct error *error)
{
    const char *format = launch->deployment->cache;
    if (!format || made_by_flag(launch, "cache", format))
        return true;
    error_set(error, "--emit: %s %s has no KV cache in %s", launch->title,
              launch_about(launch, "version", NULL)->value, format);
    return error_expected(error, "--kv-precision fp8, or another --emit");
}

/* ---- what stands above ------------------------------------------------------------------- */

/* What no flag makes, the checkpoint must have. */
static void format_lines(const struct launch *launch, struct buffer *out)
{
    const struct deployment *deployment = launch->deployment;
    if (deployment->weights && !made_by_flag(launch, "weights", deployment->weights))
        launch_comment(out, "weights in %s: serve a checkpoint that has them so, no flag of %s "
                       "makes them", deployment->weights, launch->title);
    if (deployment->experts)
        launch_comment(out, "experts in %s: serve a checkpoint that has them so",
                       deployment->experts);
}

/* What the sheet says of the router. */
static void router_note(const struct launch *launch, struct buffer *out)
{
    const struct launch_flag *router = launch_about(launch, "router", NULL);
    if (launch->pools && *router->note)
        launch_comment(out, "router: %s", router->note);
}

static void head_lines(const struct launch *launch, struct buffer *out)
{
    const struct deployment *deployment = launch->deployment;
    const struct launch_flag *version = launch_about(launch, "version", NULL);
    launch_comment(out, "%s on %s: %s", deployment->scenario.model, deployment->scenario.machine,
                   deployment->title);
    launch_comment(out, "predicted: %s", deployment->predicted);
    launch_comment(out, "flags of %s %s (%s, %s)", launch->title, version->value,
                   version->source, version->date);
    format_lines(launch, out);
    router_note(launch, out);
}

static void host_lines(const struct launch *launch, struct buffer *out)
{
    bool names = launch->pools;
    for (int role = 0; role < LAUNCH_ROUTER; role++)
        names |= launch->pool[role].count > 0 && launch->pool[role].parts > 1;
    const bool known = facts_find(&launch->deployment->scenario.facts, NAME_host_chips);
    buffer_print(out, "# %zu host%s of %.0f GPU%s%s", launch->hosts, launch->hosts > 1 ? "s" : "",
                 launch->host_chips, launch->host_chips > 1 ? "s" : "",
                 known ? "" : " (assumed: host_chips)");
    if ((double)launch->hosts > ceil(launch->deployment->gpus / launch->host_chips))
        buffer_print(out, ", more than the plan's %.0f GPUs: no host has room for the rest of "
                     "another's", launch->deployment->gpus);
    if (names)
        buffer_print(out, "; set HOST to the address of the host that runs a line, HOST_1 and so "
                     "on to those of all");
    else if (launch->part_count > 1)
        buffer_print(out, "; put what balances load before the %zu servers", launch->part_count);
    buffer_print(out, "\n");
}

static bool read_host(struct launch *launch, struct error *error)
{
    enum { MOST = 10000 };
    if (!value_of(&launch->deployment->scenario, NAME_host_chips, &launch->host_chips, error))
        return false;
    if (launch->host_chips >= 1 && launch->host_chips <= MOST &&
        launch->host_chips == floor(launch->host_chips))
        return true;
    error_set(error, "--emit: host_chips is %g", launch->host_chips);
    return error_expected(error, "a whole number of GPUs in a host, 1 to %d", MOST);
}

bool launch_open(struct launch *launch, struct arena *arena, struct deployment *deployment,
                 const char *name, const char *engine, struct error *error)
{
    *launch = (struct launch){ .arena = arena, .deployment = deployment };
    return choose_engine(launch, name, engine, error) && name_model(launch, error) &&
           machine_known(launch, error) && cache_known(launch, error) && read_host(launch, error);
}

bool launch_take(struct launch *launch, struct deployment *deployment, const char **reason,
                 const char **way_out, struct error *error)
{
    *reason = *way_out = NULL;
    launch->deployment = deployment;
    launch->pools = deployment->count[LAUNCH_DECODE] > 0;
    for (int role = 0; role < LAUNCH_ROUTER; role++) {
        launch->pool[role].count = deployment->count[role];
        if (deployment->count[role] > 0 &&
            !launch_values(launch, (enum launch_role)role, reason, way_out, error))
            return false;
    }
    return true;
}

bool launch_write(struct launch *launch, struct buffer *out, struct doc *doc, struct error *error)
{
    doc_add_string(launch->arena, doc, "engine", launch->engine);
    doc_add_string(launch->arena, doc, "version", launch_about(launch, "version", NULL)->value);
    doc_add_string(launch->arena, doc, "deployment", launch->deployment->title);
    head_lines(launch, out);
    launch_place(launch);
    doc_add_number(launch->arena, doc, NAME_host_chips, launch->host_chips);
    doc_add_number(launch->arena, doc, "hosts", (double)launch->hosts);
    if (launch->manifest)
        return launch_manifest(launch, family_of(launch), out, doc, error);
    host_lines(launch, out);
    launch_shell(launch, out, doc);
    return true;
}
