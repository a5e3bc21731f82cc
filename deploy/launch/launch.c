/* Chooses the engine that starts a deployment, checks whether it can, and writes the comment lines
 * above its commands.
 *
 * The engine is the one the plan was made for, and another is refused, since its predictions would
 * not apply. Formats that no flag of the engine produces must be those of the checkpoint. The
 * model gets its public name. launch_flags.c writes the flags, launch_shell.c and launch_manifest.c the
 * commands and manifests. */
#include "deploy/launch/launch.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "import/import.h"
#include "scenario/rules.h"

#include <math.h>
#include <string.h>

#define ENGINE(word) word,
#define DOCUMENT(word, ...) word,
const char *const launch_targets[] = {
#include "deploy/launch/targets.def"
    NULL };

/* An engine has flags; a document around one has none of its own. */
static bool is_document(const char *name)
{
    struct flag flag;
    size_t row = 0;
    return !flag_next(name, &row, &flag);
}

/* What errors begin with: the option that asked, or nothing. */
static const char *asked(const struct launch *launch)
{
    return launch->deployment->unasked ? "" : "--emit: ";
}

/* ---- engine, model ----------------------------------------------------------------------- */

static bool name_engine(struct launch *launch, struct error *error)
{
    const struct flag *title = launch_about(launch, "title", NULL);
    const struct catalog_entry *entry =
        title ? NULL : catalog_find(&launch->deployment->scenario.catalog, CATALOG_ENGINE, launch->engine, error);
    launch->title = title ? title->value : entry ? entry->title : NULL;
    return launch->title;
}

/* Commands of one engine of a plan that was made for another would not do what it says; whether an engine of
 * one's own machine was meant, its needs say. */
static bool choose_engine(struct launch *launch, const char *name, const char *engine, struct error *error)
{
    struct scenario *scenario = &launch->deployment->scenario;
    const struct catalog *catalog = &scenario->catalog;
    launch->target = is_document(name) ? name : NULL;
    launch->engine = launch->target ? catalog_engine_name(catalog, engine ? engine : launch_targets[0]) : name;
    launch_read_flags(launch);
    launch->own = launch_about(launch, "predicted", NULL);
    const bool usual = !engine && value_or_nan(scenario, NAME_llama_cpp) > 0;      /* chosen by machine or type */
    const char *version = catalog_engine_version(catalog, engine), *read = catalog_engine_version(catalog, launch->engine);
    const bool other = engine && ((version && read && strcmp(version, read)) ||
                                  (!launch->target && strcmp(catalog_engine_name(catalog, engine), name)));
    if (!launch->own && (usual || other)) {
        error_set(error, "--emit %s does not match --engine %s", name, usual ? "llamacpp" : engine);
        return error_expected(error, "--engine %s", catalog_engine_base(catalog, launch->engine));
    }
    if (launch->flag_count)
        return name_engine(launch, error) && (!launch->target || launch_target_open(launch, error));
    error_set(error, "--emit %s: no flags of '%s' are known", name, engine);
    return error_expected(error, "--engine vllm, sglang or trtllm");
}

/* The name behind a publisher's: "Qwen3-14B" of "Qwen/Qwen3-14B". */
static const char *last_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* An entry of the catalog stands for several models of one shape: the alias that is the one asked for, as the sheet
 * spells it; NULL: the entry's own title is. */
static const char *alias_asked(const struct catalog_entry *entry, const char *word)
{
    const char *found = NULL;
    if (name_same(last_name(word), entry->title) || name_same(last_name(word), entry->name))
        return NULL;
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!strcmp(row.fact, "alias") && name_same(last_name(row.value), last_name(word)) &&
            (!found || strchr(row.value, '/')))
            found = row.value;
    }
    return found;
}

/* The name on Hugging Face: of the alias that was asked for, else the first that looks like one. */
static const char *public_name(const struct catalog_entry *entry, const char *word)
{
    const char *asked = alias_asked(entry, word);
    if (asked && strchr(asked, '/'))
        return asked;
    for (size_t i = 0; i < entry->rows; i++) {
        struct catalog_row row = catalog_row(entry, i);
        if (!strcmp(row.fact, "alias") && strchr(row.value, '/'))
            return row.value;
    }
    return NULL;
}

/* Does it read GGUF files? Then the deployment's weights are of a type of theirs, or its model is a file. */
static bool reads_gguf(const struct launch *launch)
{
    const struct flag *files = launch_about(launch, "files", NULL);
    return files && !strcmp(files->value, "gguf");
}

/* A type as files have it in their names: "Q4_K_M" of "q4km"; NULL: no type of GGUF files. */
static const char *gguf_type(const struct launch *launch, const char *type)
{
    static const char *const plain[] = { "BF16", "F16", "F32" };
    const struct file_type *known = file_type_find(launch->arena, type);
    for (size_t i = 0; i < sizeof plain / sizeof *plain && !known; i++)
        if (name_same(type, plain[i]))
            return plain[i];
    const char *name = known ? file_type_name(known) : NULL;
    return name ? arena_copy(launch->arena, name, strcspn(name, "+")) : NULL;     /* variations are in no file's name */
}

/* Of a user's own file: its name without an ending, or that of its folder, where every model's file is called so. */
static const char *path_stem(struct arena *arena, const char *path)
{
    static const char *const every[] = { "config.json", "model.safetensors", "model.safetensors.index.json", "-", ".", ".." };
    static const char *const ends[] = { ".json", ".safetensors" };
    const size_t size = strlen(path) - (ends_with(path, "/") && path[1]);
    const char *whole = arena_copy(arena, path, size), *last = last_name(whole);
    if (name_listed(every, sizeof every / sizeof *every, last) || (!strncmp(last, "model-0", 7) && ends_with(last, ends[1])))
        return last > whole + 1 ? path_stem(arena, arena_copy(arena, whole, (size_t)(last - 1 - whole))) : "model";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(last, ends[i]))
            return arena_copy(arena, last, strlen(last) - strlen(ends[i]));
    return last;
}

/* What files of the model are called before their type: as in the repository of GGUF files that was named, else the
 * alias that was, else the model's title, or a file's own name. */
static const char *file_stem(const struct launch *launch, const char **type)
{
    static const char ending[] = "-GGUF";
    const struct deployment *deployment = launch->deployment;
    const struct catalog *catalog = &deployment->scenario.catalog;
    const char *last = last_name(deployment->model);
    const size_t size = strcspn(last, ":"), tail = strlen(ending);
    const struct catalog_entry *entry = catalog_find(catalog, CATALOG_MODEL, deployment->model, NULL);
    const char *alias = entry ? alias_asked(entry, deployment->model) : NULL, *named = NULL;
    if (!entry)
        catalog_model_called(launch->arena, catalog, deployment->model, &named, NULL);
    *type = *type ? *type : named;
    if (!entry && size > tail && name_same(arena_copy(launch->arena, last + size - tail, tail), ending))
        return arena_copy(launch->arena, last, size - tail);
    if (!entry && !named && !alias)
        return path_stem(launch->arena, deployment->model);
    return last_name(alias ? alias : deployment->scenario.model);
}

static bool name_file(struct launch *launch, struct error *error)
{
    const char *word = launch->deployment->model, *type = launch->deployment->weights;
    launch->model = word;
    if (name_within(word, ".gguf"))
        return true;
    const char *stem = file_stem(launch, &type), *named = type ? gguf_type(launch, type) : NULL;
    if (named) {
        launch->model = arena_print(launch->arena, "%s-%s.gguf", stem, named);
        return true;
    }
    if (type)
        error_set(error, "%s%.60s is not a GGUF file type, and %s reads only GGUF files", asked(launch), type, launch->title);
    else
        error_set(error, "%s%s needs a GGUF file type", asked(launch), launch->title);
    return error_expected(error, "--precision Q4_K_M, Q8_0, BF16 or another GGUF file type");
}

static bool name_model(struct launch *launch, struct error *error)
{
    if (reads_gguf(launch))
        return name_file(launch, error);
    const char *word = launch->deployment->model;
    const struct catalog_entry *entry = catalog_find(&launch->deployment->scenario.catalog,
                                                     CATALOG_MODEL, word, NULL);
    const size_t size = strlen(word), tail = strlen("/config.json");
    launch->model = entry ? strchr(word, '/') ? word : public_name(entry, word) : word;
    if (!launch->model || *launch->model == '-') {  /* which an engine takes for a flag */
        error_set(error, "%sno name under which an engine finds '%.60s' is known", asked(launch), word);
        return error_expected(error, "a name of Hugging Face, ORGANISATION/MODEL, or the path of its "
                              "config.json");
    }
    if (!entry && size > tail && !strcmp(word + size - tail, "/config.json"))
        launch->model = arena_copy(launch->arena, word, size - tail);
    else if (!entry && !strcmp(word, "config.json"))
        launch->model = ".";
    return true;
}

/* Of a machine whose sheet states no family the user knows more: commands are written, with a remark. */
static bool machine_known(struct launch *launch, struct error *error)
{
    const struct scenario *scenario = &launch->deployment->scenario;
    const bool runs = engine_runs(scenario, launch->engine, &launch->release) || !engine_family(scenario);
    const struct flag *own = launch_about(launch, "image", engine_family(scenario));     /* of the document */
    if (own || launch_about(launch, "image", NULL))
        launch->release.image = own ? own->value : "";
    if (runs && (!launch->pods || *launch->release.image))
        return true;
    error_set(error, runs ? "%sno image of %s for %s is known" : "%s%s is not known to run on %s",
              runs ? arena_print(launch->arena, "--emit %s: ", launch->target) : asked(launch), launch->title, scenario->machine);
    if (*launch->release.others)
        return error_expected(error, "another machine; the flags of %s %s were read, and releases that run there are %s",
                              launch->title, engine_version(scenario, launch->engine), launch->release.others);
    return error_expected(error, runs ? "--emit %s: the commands" : "a machine that it runs on, or another --emit", launch->engine);
}

/* ---- formats ----------------------------------------------------------------------------- */

/* Is there a flag that makes weights or cache be in this format? */
static bool made_by_flag(const struct launch *launch, const char *takes, const char *format)
{
    for (size_t i = 0; i < launch->flag_count; i++)
        if (!strcmp(launch->flags[i].form, "format") && !strcmp(launch->flags[i].takes, takes) &&
            launch_format(launch, &launch->flags[i], format))
            return true;
    return false;
}

/* An engine of one's own machine that reads no GGUF files has none of their types. */
static bool weights_known(const struct launch *launch, struct error *error)
{
    const char *format = launch->deployment->weights;
    const bool type = format && file_type_find(launch->arena, format) &&
                      !formats_find(&launch->deployment->scenario.formats, format);
    if (!type || !launch->own || reads_gguf(launch))
        return true;
    error_set(error, "%s%s does not read GGUF files such as %s", asked(launch), launch->title, format);
    return error_expected(error, "--precision int4, int8 or bf16; or --emit llamacpp, which reads GGUF files");
}

static bool cache_known(const struct launch *launch, struct error *error)
{
    const char *format = launch->deployment->cache;
    if (!format || made_by_flag(launch, "cache", format) ||
        (made_by_flag(launch, "cache_keys", format) && made_by_flag(launch, "cache_values", format)))
        return true;
    error_set(error, "%s%s %s has no KV cache in %s", asked(launch), launch->title,
              launch_about(launch, "version", NULL)->value, format);
    return error_expected(error, launch->own ? "--kv-precision q8_0 of llama.cpp and Ollama, or none"
                                             : "--kv-precision fp8, or another --emit");
}

/* Has the checkpoint weights of this size, but for scales, where no format is named? Then they are its own. */
static bool own_weights(const struct launch *launch)
{
    const double same = 0.01;
    const struct scenario *scenario = &launch->deployment->scenario;
    struct subject subject = scenario->subject;
    struct scenario plain;
    struct error ignored;
    double own = 0, named = 0;
    subject.precision = subject.experts_precision = NULL;
    return scenario_open(&plain, launch->arena, scenario->command, subject, &ignored) &&
           value_of(&plain, NAME_weights_stored, &own, &ignored) &&
           value_of(&launch->deployment->scenario, NAME_weights_stored, &named, &ignored) &&
           fabs(own / named - 1) < same;
}

/* Weights that no flag makes and that the checkpoint has not are those of another, which is not known: the command
 * must not start the one that was named. */
static const char placeholder[] = "CHECKPOINT";

static bool needs_checkpoint(const struct launch *launch)
{
    const char *format = launch->deployment->weights;
    return format && !reads_gguf(launch) && !made_by_flag(launch, "weights", format) && !own_weights(launch);
}

/* ---- what stands above ------------------------------------------------------------------- */

/* What no flag makes, the checkpoint must have. */
static void format_lines(const struct launch *launch, struct buffer *out)
{
    const struct deployment *deployment = launch->deployment;
    if (launch->model == placeholder)
        launch_comment(out, "weights in %s: %s stands for a checkpoint of %s that has them so; no flag of %s makes them",
                       deployment->weights, placeholder, launch->of, launch->title);
    if (deployment->experts)
        launch_comment(out, "experts in %s: serve a checkpoint that has them so",
                       deployment->experts);
}

/* What the sheet says of the router. */
static void router_note(const struct launch *launch, struct buffer *out)
{
    const struct flag *router = launch_about(launch, "router", NULL);
    if (launch->pools && *router->note)
        launch_comment(out, "router: %s", router->note);
}

static void head_lines(const struct launch *launch, struct buffer *out)
{
    const struct deployment *deployment = launch->deployment;
    const struct flag *version = launch_about(launch, "version", NULL);
    launch_comment(out, "%s on %s: %s", deployment->scenario.model, deployment->scenario.machine,
                   deployment->title);
    launch_comment(out, "predicted: %s", deployment->predicted);
    if (deployment->load)
        launch_comment(out, "load: %s", deployment->load);
    if (!engine_family(&deployment->scenario))
        launch_comment(out, "whether %s runs on %s is not known: its sheet states no family", launch->title,
                       deployment->scenario.machine);
    if (launch->broken)
        launch_comment(out, "%s does not start this: %s", launch->title, launch->broken);
    if (deployment->missed)
        launch_comment(out, "misses the limits: %s", deployment->missed);
    launch_comment(out, "flags of %s %s (%s, %s)", launch->title, version->value,
                   version->source, version->date);
    const struct flag *predicted = launch_about(launch, "predicted", NULL);
    if (predicted && *predicted->note)
        launch_comment(out, "figures %s", predicted->note);
    format_lines(launch, out);
    router_note(launch, out);
}

static void host_lines(const struct launch *launch, struct buffer *out)
{
    const char *second = launch_second_machine(launch);
    bool names = launch->pools;
    if (second)
        launch_comment(out, "%s", second);
    if (launch->own && launch->part_count < 2)
        return;
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
    error_set(error, "%shost_chips is %g", asked(launch), launch->host_chips);
    return error_expected(error, "a whole number of GPUs in a host, 1 to %d", MOST);
}

bool launch_open(struct launch *launch, struct arena *arena, struct deployment *deployment,
                 const char *name, const char *engine, struct error *error)
{
    *launch = (struct launch){ .arena = arena, .deployment = deployment };
    if (!choose_engine(launch, name, engine, error) || !name_model(launch, error) || !machine_known(launch, error) ||
        !weights_known(launch, error) || !cache_known(launch, error) || !read_host(launch, error))
        return false;
    launch->of = launch->model;
    if (needs_checkpoint(launch))
        launch->model = placeholder;
    return launch_take(launch, deployment, error);
}

/* The first rule of the engine, of hosts or of DeepEP that the deployment breaks, or NULL; the plan may have been made
 * for no engine, and the rules are those of the one that is started. */
static const char *broken_in(struct launch *launch)
{
    const struct deployment *deployment = launch->deployment;
    struct scenario one = deployment->scenario, prefill, *const kinds[] = { &one, &prefill };
    struct broken_rule *broken;
    one.subject.engine = launch->engine;
    if (launch->pools)
        rules_of_pools(&one, &prefill);
    if (!rules_broken(kinds, launch->pools ? 2 : 1, &broken))
        return NULL;
    return arena_print(launch->arena, "%s (%s)", broken->says, broken->id);
}

bool launch_take(struct launch *launch, struct deployment *deployment, struct error *error)
{
    launch->reason = launch->way_out = launch->broken = NULL;
    launch->who = launch->title;
    launch->deployment = deployment;
    launch->pools = deployment->count[LAUNCH_DECODE] > 0;
    if (launch->pools && !launch_about(launch, "router", NULL)) {
        launch->reason = "it has no prefill servers", launch->way_out = "--aggregated";
        return true;
    }
    for (int role = 0; role < LAUNCH_ROUTER; role++) {
        launch->pool[role].count = deployment->count[role];
        if (deployment->count[role] > 0 && !launch_values(launch, (enum launch_role)role, error))
            return false;
    }
    if (!launch->reason && launch->target)
        launch_target_bars(launch);
    if (launch->reason || launch->own)
        return true;
    launch->broken = broken_in(launch);
    if (launch->broken && !deployment->any_layout) {
        launch->reason = launch->broken;
        launch->way_out = deployment->searched ? "--any-layout, which lifts the rules; or another --emit"
                                               : "a layout that it starts, or another --emit";
    }
    return true;
}

bool launch_runs(const struct launch *launch, const char *first, struct error *error)
{
    if (!launch->reason)
        return true;
    error_set(error, "%s%s cannot run %s: %s", asked(launch), launch->who, launch->deployment->title, launch->reason);
    return error_expected(error, "%s%s", first, launch->way_out);
}

bool launch_print(struct launch *launch, struct answer *answer, struct error *error)
{
    struct arena *arena = launch->arena;
    struct buffer out = { .arena = arena };
    if (!launch_runs(launch, "", error))
        return false;
    struct doc *doc = doc_new(arena, DOC_OBJECT);   /* the text is written from it, also where nobody prints it */
    doc_put(answer->doc, "emit", doc);
    doc_add_string(arena, doc, "engine", launch->engine);
    doc_add_string(arena, doc, "version", launch_about(launch, "version", NULL)->value);
    doc_add_string(arena, doc, "deployment", launch->deployment->title);
    if (launch->target && !launch->pods)
        buffer_print(&out, "#!/bin/bash\n");   /* which a script must begin with */
    head_lines(launch, &out);
    launch_place(launch);
    doc_add_number(arena, doc, NAME_host_chips, launch->host_chips);
    doc_add_number(arena, doc, "hosts", (double)launch->hosts);
    if (launch->target) {
        if (!launch_manifest(launch, &out, doc, error))
            return false;
    } else {
        host_lines(launch, &out);
        launch_shell(launch, &out, doc);
    }
    answer->text = out;
    return true;
}

const struct doc *launch_words(struct launch *launch)
{
    struct launch_start start;
    launch_place(launch);
    launch_start(launch, launch->parts, &start);
    return start.words;
}

static const struct option launch_list[] = {
    { "emit", "WHAT", OPTION_CHOICE, .choices = launch_targets,
      .help = "print commands or manifests that start the deployment" },
    { 0 } };
const struct option_group launch_options = { "Launch", launch_list };
