/* plan --emit: which point, which engine, and what stands above the commands. */
#include "ask/launch/launch.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- options ----------------------------------------------------------------------------- */

static const char *const shown[] = { "vllm", "sglang", "trtllm", "k8s" };
enum { SHOWN = sizeof shown / sizeof *shown, MANIFEST = SHOWN - 1 };

static int shown_at(const char *name)
{
    int at = 0;
    while (at < SHOWN && strcmp(name, shown[at]))
        at++;
    return at;
}

static bool name_asked(const char *name, struct error *error)
{
    if (shown_at(name) < SHOWN)
        return true;
    const char *near = name_nearest(name, shown, SHOWN);
    error_set(error, "--emit: '%.60s' is not known", name);
    return error_hint(error, "%s%s%svllm, sglang, trtllm or k8s", near ? "did you mean '" : "",
                      near ? near : "", near ? "'? " : "");
}

static bool speed_asked(const char *text, struct quantity *speed, struct error *error)
{
    struct unit unit;
    double scale;
    if (!unit_parse(text_of("token/s"), &unit, &scale, error))
        return false;
    if (quantity_parse(text_of(text), unit, speed, error) && speed->spread == SPREAD_NONE &&
        speed->value > 0)
        return true;
    error_set(error, "--pick: '%.60s' is no speed", text);
    return error_hint(error, "tokens a second of a user, as the first column of the table has "
                      "them: 80");
}

bool emit_asked(const struct question *question, struct error *error)
{
    const char *name = question->option[OPTION_EMIT], *pick = question->option[OPTION_PICK];
    struct quantity speed;
    if (!name && pick) {
        error_set(error, "--pick without --emit");
        return error_hint(error, "--emit vllm --pick %.60s", pick);
    }
    if (name && question->option[OPTION_CSV]) {
        error_set(error, "--csv and --emit are both given");
        return error_hint(error, "--csv for the table, --emit for the commands, --json for both");
    }
    return (!name || name_asked(name, error)) && (!pick || speed_asked(pick, &speed, error));
}

/* ---- engine, model ----------------------------------------------------------------------- */

/* Commands of one engine of a plan that was made for another would not do what it says. */
static bool choose_engine(struct emit *emit, struct error *error)
{
    const struct question *question = emit->plan->question;
    const struct catalog *catalog = &emit->variant->scenario.catalog;
    const char *name = question->option[OPTION_EMIT], *engine = question->option[OPTION_ENGINE];
    emit->manifest = shown_at(name) == MANIFEST;
    const struct catalog_entry *entry =
        catalog_find(catalog, CATALOG_ENGINE, engine ? engine : emit->manifest ? shown[0] : name,
                     error);
    if (!entry)
        return false;
    emit->engine = entry->name;
    emit->title = entry->title;
    if (!emit->manifest && strcmp(entry->name, name)) {
        error_set(error, "--emit %s of a plan for --engine %s", name, engine);
        return error_hint(error, "--engine %s", name);
    }
    if (!emit_read_flags(emit, error))
        return false;
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
    const char *word = emit->plan->model;
    struct error ignored;
    const struct catalog_entry *entry = catalog_find(&emit->variant->scenario.catalog,
                                                     CATALOG_MODEL, word, &ignored);
    const size_t size = strlen(word), tail = strlen("/config.json");
    emit->model = entry ? strchr(word, '/') ? word : public_name(entry) : word;
    if (!emit->model || !strcmp(word, "-")) {
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
    const struct catalog_entry *entry = catalog_find(&emit->variant->scenario.catalog,
                                                     CATALOG_MACHINE, emit->variant->machine,
                                                     &ignored);
    return entry ? catalog_text(entry, "family") : NULL;
}

static bool machine_known(const struct emit *emit, struct error *error)
{
    const char *family = family_of(emit), *machine = emit->variant->scenario.machine;
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
    const char *format = emit->variant->kv;
    if (!format || made_by_flag(emit, "cache", format))
        return true;
    error_set(error, "--emit: %s %s has no KV cache in %s", emit->title,
              emit_about(emit, "version", NULL)->value, format);
    return error_hint(error, "--kv-precision fp8, or another --emit");
}

/* ---- the point --------------------------------------------------------------------------- */

/* Of the front the best, or that whose speed is nearest. */
static bool choose_point(struct plan *plan, size_t *chosen)
{
    const char *pick = plan->question->option[OPTION_PICK];
    const struct search_front *front = &plan->result.front;
    struct quantity speed;
    *chosen = 0;
    if (pick && !speed_asked(pick, &speed, plan->error))
        return false;
    for (size_t i = 1; pick && i < front->count; i++)
        if (fabs(log(front->points[i].across / speed.value)) <
            fabs(log(front->points[*chosen].across / speed.value)))
            *chosen = i;
    return true;
}

/* Its point, pools and what the engine cannot do with them: NULL, it can. */
static bool take_point(struct emit *emit, size_t at, struct plan_point *point,
                       const char **reason, const char **way_out)
{
    const struct plan *plan = emit->plan;
    *reason = *way_out = NULL;
    if (!plan_tell(emit->plan, &plan->result.front.points[at], point))
        return false;
    const double copies = point->figures[PLAN_replicas];
    emit->point = point;
    emit->variant = &emit->plan->variants[point->at.space];
    emit->pools = emit->variant->kind == PLAN_POOLS;
    emit->pool[EMIT_TOGETHER].count = emit->pools ? 0 : copies;
    emit->pool[EMIT_PREFILL].count =
        emit->pools ? copies * plan_input(plan, &point->at, NAME_prefill_workers) : 0;
    emit->pool[EMIT_DECODE].count =
        emit->pools ? copies * plan_input(plan, &point->at, NAME_decode_workers) : 0;
    for (int role = 0; role < EMIT_ROUTER; role++)
        if (emit->pool[role].count > 0 &&
            !emit_values(emit, (enum emit_role)role, reason, way_out))
            return false;
    return true;
}

/* "--pick 101.3 for 4 x TP 8, 14 at once, or ": the nearest of the front that it can run. */
static const char *other_point(const struct emit *emit, size_t from)
{
    enum { TRIES = 100 };
    const struct search_front *front = &emit->plan->result.front;
    const char *reason, *way_out;
    for (size_t n = 2; n < 2 * TRIES; n++) {
        const size_t far = n / 2, at = n % 2 ? from - far : from + far;
        struct emit other = *emit;
        struct plan_point point;
        if (n % 2 ? far > from : at >= front->count)
            continue;
        if (!take_point(&other, at, &point, &reason, &way_out))
            return "";
        if (!reason)
            return arena_print(emit->arena, "--pick %.6g for %s, or ", front->points[at].across,
                               plan_deployment(emit->plan, &point));
    }
    return "";
}

static bool can_run(const struct emit *emit, size_t at, const char *reason, const char *way_out,
                    struct error *error)
{
    if (!reason)
        return true;
    error_set(error, "--emit: %s cannot run %s: %s", emit->title,
              plan_deployment(emit->plan, emit->point), reason);
    return error_hint(error, "%s%s", other_point(emit, at), way_out);
}

/* ---- what stands above ------------------------------------------------------------------- */

/* What no flag makes, the checkpoint must have. */
static void format_lines(const struct emit *emit, struct buffer *out)
{
    const struct variant *variant = emit->variant;
    if (variant->precision && !made_by_flag(emit, "weights", variant->precision))
        buffer_print(out, "# weights in %s: serve a checkpoint that has them so, no flag of %s "
                     "makes them\n", variant->precision, emit->title);
    if (emit->plan->question->option[OPTION_EXPERTS])
        buffer_print(out, "# experts in %s: serve a checkpoint that has them so\n",
                     emit->plan->question->option[OPTION_EXPERTS]);
}

/* What the sheet says of the router. */
static void router_note(const struct emit *emit, struct buffer *out)
{
    const struct emit_flag *router = emit_about(emit, "router", NULL);
    if (emit->pools && *router->note)
        buffer_print(out, "# router: %s\n", router->note);
}

static void head_lines(const struct emit *emit, struct buffer *out)
{
    struct plan *plan = emit->plan;
    const struct plan_point *point = emit->point;
    const struct emit_flag *version = emit_about(emit, "version", NULL);
    buffer_print(out, "# %s on %s: %s\n", emit->variant->scenario.model,
                 emit->variant->scenario.machine, plan_deployment(plan, point));
    buffer_print(out, "# predicted: %s a GPU, %s a user, TTFT %s, TPOT %s\n",
                 plan_text(plan, point, PLAN_per_gpu, 4),
                 plan_text(plan, point, PLAN_speed_per_user, 3),
                 plan_text(plan, point, PLAN_ttft, 3), plan_text(plan, point, PLAN_tpot, 3));
    buffer_print(out, "# flags of %s %s (%s, %s)\n", emit->title, version->value,
                 version->source, version->date);
    format_lines(emit, out);
    router_note(emit, out);
}

static void host_lines(const struct emit *emit, struct buffer *out)
{
    bool names = emit->pools;
    for (int role = 0; role < EMIT_ROUTER; role++)
        names |= emit->pool[role].count > 0 && emit->pool[role].parts > 1;
    const bool known = facts_find(&emit->variant->scenario.facts, NAME_host_chips);
    buffer_print(out, "# %zu host%s of %.0f GPU%s%s", emit->hosts, emit->hosts > 1 ? "s" : "",
                 emit->host_chips, emit->host_chips > 1 ? "s" : "",
                 known ? "" : " (assumed: host_chips)");
    if ((double)emit->hosts > ceil(emit->plan->gpus / emit->host_chips))
        buffer_print(out, ", more than the plan's %.0f GPUs: no host has room for the rest of "
                     "another's", emit->plan->gpus);
    if (names)
        buffer_print(out, "; set HOST to the address of the host that runs a line, HOST_1 and so "
                     "on to those of all");
    else if (emit->part_count > 1)
        buffer_print(out, "; put what balances load before the %zu servers", emit->part_count);
    buffer_print(out, "\n");
}

/* Where nothing is feasible what was said stays, as comments: it may go to a shell. */
static bool comment_all(struct plan *plan)
{
    struct buffer out = { .arena = plan->arena };
    struct text rest = { plan->answer->text.data, plan->answer->text.size };
    while (rest.size) {
        struct text line = text_line(&rest);
        buffer_print(&out, "#%s%.*s\n", line.size ? " " : "", (int)line.size, line.data);
    }
    plan->answer->text = out;
    return true;
}

static bool read_host(struct emit *emit, struct error *error)
{
    enum { MOST = 10000 };
    if (!value_of(&emit->variant->scenario, NAME_host_chips, &emit->host_chips, error))
        return false;
    if (emit->host_chips >= 1 && emit->host_chips <= MOST &&
        emit->host_chips == floor(emit->host_chips))
        return true;
    error_set(error, "--emit: host_chips is %g", emit->host_chips);
    return error_hint(error, "a whole number of GPUs in a host, 1 to %d", MOST);
}

bool emit_answer(struct plan *plan)
{
    struct plan_point point;
    struct emit emit = { .plan = plan, .arena = plan->arena };
    struct buffer out = { .arena = plan->arena };
    const char *reason, *way_out;
    size_t at;
    if (!plan->result.front.count)
        return comment_all(plan);
    if (!choose_point(plan, &at))
        return false;
    emit.variant = &plan->variants[plan->result.front.points[at].space];
    if (!choose_engine(&emit, plan->error) || !name_model(&emit, plan->error) ||
        !machine_known(&emit, plan->error) || !cache_known(&emit, plan->error) ||
        !read_host(&emit, plan->error) ||
        !take_point(&emit, at, &point, &reason, &way_out) ||
        !can_run(&emit, at, reason, way_out, plan->error))
        return false;
    struct doc *doc = doc_add(plan->arena, plan->answer->doc, "emit", DOC_OBJECT);
    doc_add_string(plan->arena, doc, "engine", emit.engine);
    doc_add_string(plan->arena, doc, "version", emit_about(&emit, "version", NULL)->value);
    doc_add_string(plan->arena, doc, "deployment", plan_deployment(plan, &point));
    head_lines(&emit, &out);
    emit_place(&emit);
    doc_add_number(plan->arena, doc, NAME_host_chips, emit.host_chips);
    doc_add_number(plan->arena, doc, "hosts", (double)emit.hosts);
    if (!emit.manifest) {
        host_lines(&emit, &out);
        emit_shell(&emit, &out, doc);
    } else if (!emit_manifest(&emit, family_of(&emit), &out, doc, plan->error)) {
        return false;
    }
    plan->answer->text = out;
    return true;
}
