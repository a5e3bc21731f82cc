/* Chooses the engine that starts a deployment, checks whether it can, and writes the comment lines
 * above its commands.
 *
 * The engine is the one the plan was made for, and another is refused, since its predictions would
 * not apply. Formats that no flag of the engine produces must be those of the checkpoint. The
 * model gets its public name. emit_flags.c writes the flags, emit_shell.c and emit_manifest.c the
 * commands and manifests. */
#include "ask/launch/launch.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const emit_targets[] = { "vllm", "sglang", "trtllm", "k8s", NULL };
static const char manifest[] = "k8s";

/* ---- engine, model ----------------------------------------------------------------------- */

/* Commands of one engine of a plan that was made for another would not do what it says. */
static bool choose_engine(struct emit *emit, const char *name, const char *engine,
                          struct error *error)
{
    const struct catalog *catalog = &emit->launch->scenario.catalog;
    emit->manifest = !strcmp(name, manifest);
    const struct catalog_entry *entry =
        catalog_find(catalog, CATALOG_ENGINE, engine ? engine : emit->manifest ? emit_targets[0] : name,
                     error);
    if (!entry)
        return false;
    emit->engine = entry->name;
    emit->title = entry->title;
    if (!emit->manifest && strcmp(entry->name, name)) {
        error_set(error, "--emit %s of a plan for --engine %s", name, engine);
        return error_hint(error, "--engine %s", name);
    }
    emit_read_flags(emit);
    if (emit->flag_count)
        return true;
    error_set(error, "--emit k8s: no flags of '%s' are known", engine);
    return error_hint(error, "--engine vllm, sglang or trtllm");
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

static bool name_model(struct emit *emit, struct error *error)
{
    const char *word = emit->launch->model;
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&emit->launch->scenario.catalog,
                                                     CATALOG_MODEL, word, &ignored);
    const size_t size = strlen(word), tail = strlen("/config.json");
    emit->model = entry ? strchr(word, '/') ? word : public_name(entry) : word;
    if (!emit->model || *emit->model == '-') {      /* which an engine takes for a flag */
        error_set(error, "--emit: no name under which an engine finds '%.60s' is known", word);
        return error_hint(error, "a name of Hugging Face, ORGANISATION/MODEL, or the path of its "
                          "config.json");
    }
    if (!entry && size > tail && !strcmp(word + size - tail, "/config.json"))
        emit->model = arena_copy(emit->arena, word, size - tail);
    else if (!entry && !strcmp(word, "config.json"))
        emit->model = ".";
    return true;
}

static const char *family_of(const struct emit *emit)
{
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&emit->launch->scenario.catalog,
                                                     CATALOG_MACHINE, emit->launch->machine,
                                                     &ignored);
    return entry ? catalog_text(entry, "family") : NULL;
}

static bool machine_known(const struct emit *emit, struct error *error)
{
    const char *family = family_of(emit), *machine = emit->launch->scenario.machine;
    const bool runs = emit_about(emit, "resource", family);
    if (runs && (!emit->manifest || emit_about(emit, "image", family)))
        return true;
    error_set(error, runs ? "--emit k8s: no image of %s for %s is known"
                          : "--emit: %s is not known to run on %s", emit->title, machine);
    return error_hint(error, runs ? "--emit vllm or sglang: the commands"
                                  : "a machine with GPUs that it runs on, or another --emit");
}

/* ---- formats ----------------------------------------------------------------------------- */

/* Is there a flag that makes weights or cache be in this format? */
static bool made_by_flag(const struct emit *emit, const char *takes, const char *format)
{
    const size_t size = strlen(format);
    for (size_t i = 0; i < emit->flag_count; i++)
        if (!strcmp(emit->flags[i].form, "format") && !strcmp(emit->flags[i].takes, takes))
            for (const char *at = emit->flags[i].value; *at; at += strspn(at, " ")) {
                if (!strncmp(at, format, size) && at[size] == '=')
                    return true;
                at += strcspn(at, " ");
            }
    return false;
}

static bool cache_known(const struct emit *emit, struct error *error)
{
    const char *format = emit->launch->cache;
    if (!format || made_by_flag(emit, "cache", format))
        return true;
    error_set(error, "--emit: %s %s has no KV cache in %s", emit->title,
              emit_about(emit, "version", NULL)->value, format);
    return error_hint(error, "--kv-precision fp8, or another --emit");
}

/* ---- what stands above ------------------------------------------------------------------- */

/* What no flag makes, the checkpoint must have. */
static void format_lines(const struct emit *emit, struct buffer *out)
{
    const struct launch *launch = emit->launch;
    if (launch->weights && !made_by_flag(emit, "weights", launch->weights))
        emit_comment(out, "weights in %s: serve a checkpoint that has them so, no flag of %s "
                     "makes them", launch->weights, emit->title);
    if (launch->experts)
        emit_comment(out, "experts in %s: serve a checkpoint that has them so",
                     launch->experts);
}

/* What the sheet says of the router. */
static void router_note(const struct emit *emit, struct buffer *out)
{
    const struct emit_flag *router = emit_about(emit, "router", NULL);
    if (emit->pools && *router->note)
        emit_comment(out, "router: %s", router->note);
}

static void head_lines(const struct emit *emit, struct buffer *out)
{
    const struct launch *launch = emit->launch;
    const struct emit_flag *version = emit_about(emit, "version", NULL);
    emit_comment(out, "%s on %s: %s", launch->scenario.model, launch->scenario.machine,
                 launch->title);
    emit_comment(out, "predicted: %s", launch->predicted);
    emit_comment(out, "flags of %s %s (%s, %s)", emit->title, version->value,
                 version->source, version->date);
    format_lines(emit, out);
    router_note(emit, out);
}

static void host_lines(const struct emit *emit, struct buffer *out)
{
    bool names = emit->pools;
    for (int role = 0; role < EMIT_ROUTER; role++)
        names |= emit->pool[role].count > 0 && emit->pool[role].parts > 1;
    const bool known = facts_find(&emit->launch->scenario.facts, NAME_host_chips);
    buffer_print(out, "# %zu host%s of %.0f GPU%s%s", emit->hosts, emit->hosts > 1 ? "s" : "",
                 emit->host_chips, emit->host_chips > 1 ? "s" : "",
                 known ? "" : " (assumed: host_chips)");
    if ((double)emit->hosts > ceil(emit->launch->gpus / emit->host_chips))
        buffer_print(out, ", more than the plan's %.0f GPUs: no host has room for the rest of "
                     "another's", emit->launch->gpus);
    if (names)
        buffer_print(out, "; set HOST to the address of the host that runs a line, HOST_1 and so "
                     "on to those of all");
    else if (emit->part_count > 1)
        buffer_print(out, "; put what balances load before the %zu servers", emit->part_count);
    buffer_print(out, "\n");
}

static bool read_host(struct emit *emit, struct error *error)
{
    enum { MOST = 10000 };
    if (!value_of(&emit->launch->scenario, NAME_host_chips, &emit->host_chips, error))
        return false;
    if (emit->host_chips >= 1 && emit->host_chips <= MOST &&
        emit->host_chips == floor(emit->host_chips))
        return true;
    error_set(error, "--emit: host_chips is %g", emit->host_chips);
    return error_hint(error, "a whole number of GPUs in a host, 1 to %d", MOST);
}

bool emit_open(struct emit *emit, struct arena *arena, struct launch *launch, const char *name,
               const char *engine, struct error *error)
{
    *emit = (struct emit){ .arena = arena, .launch = launch };
    return choose_engine(emit, name, engine, error) && name_model(emit, error) &&
           machine_known(emit, error) && cache_known(emit, error) && read_host(emit, error);
}

bool emit_take(struct emit *emit, struct launch *launch, const char **reason,
               const char **way_out, struct error *error)
{
    *reason = *way_out = NULL;
    emit->launch = launch;
    emit->pools = launch->count[EMIT_DECODE] > 0;
    for (int role = 0; role < EMIT_ROUTER; role++) {
        emit->pool[role].count = launch->count[role];
        if (launch->count[role] > 0 &&
            !emit_values(emit, (enum emit_role)role, reason, way_out, error))
            return false;
    }
    return true;
}

bool emit_write(struct emit *emit, struct buffer *out, struct doc *doc, struct error *error)
{
    doc_add_string(emit->arena, doc, "engine", emit->engine);
    doc_add_string(emit->arena, doc, "version", emit_about(emit, "version", NULL)->value);
    doc_add_string(emit->arena, doc, "deployment", emit->launch->title);
    head_lines(emit, out);
    emit_place(emit);
    doc_add_number(emit->arena, doc, NAME_host_chips, emit->host_chips);
    doc_add_number(emit->arena, doc, "hosts", (double)emit->hosts);
    if (emit->manifest)
        return emit_manifest(emit, family_of(emit), out, doc, error);
    host_lines(emit, out);
    emit_shell(emit, out, doc);
    return true;
}
