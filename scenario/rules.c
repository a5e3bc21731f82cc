/* The sheet of rules in a scenario: the rows that an engine's rules name become the least of these rows, and
 * of a layout that cannot be started the sheet says which rules it breaks.
 *
 * Rules hold for versions of an engine; the version is that whose flags chalkline writes, or the one that
 * measurements state. Rules of hosts and of DeepEP bind whatever the engine. Where no engine is named, one of
 * three must be able to start a layout. */
#include "scenario/rules.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/sheet.h"
#include "scenario/engine.h"

#include <math.h>
#include <string.h>

#define FILE_NAME "data/rules.csv"

enum rule_cell { ID, ENGINE, FROM, UNTIL, ROLE, ROW, FORMATS, FAMILIES, SAYS, MESSAGE, COLUMNS };
static const char *const columns[COLUMNS] = { "id", "engine", "from", "until", "role", "row", "formats", "families",
                                              "says", "message" };

struct engine_rule {
    const char *cell[COLUMNS];
};

/* The rules of one engine, of the version that the scenario has; of every engine for NULL. */
struct rules {
    const struct csv *csv;
    int column[COLUMNS];
    const char *engine, *version, *role;
    size_t row;                     /* the next that is looked at */
};

static struct rules rules_open(const struct scenario *scenario, const char *engine, const char *role)
{
    struct rules rules = { .csv = csv_built_in(FILE_NAME), .engine = engine, .role = role };
    for (int i = 0; i < COLUMNS; i++)
        rules.column[i] = csv_column(rules.csv, columns[i]);
    if (engine)
        rules.version = engine_version(scenario, engine);
    return rules;
}

/* Hosts and DeepEP have rules for every engine. */
static bool is_common(const char *engine)
{
    return !strcmp(engine, "host") || !strcmp(engine, "DeepEP");
}

static bool rules_next(struct rules *rules, struct engine_rule *rule)
{
    while (rules->row < rules->csv->rows) {
        const size_t row = rules->row++;
        const char *engine = csv_cell(rules->csv, row, rules->column[ENGINE]);
        if (rules->engine ? strcmp(engine, rules->engine) : !is_common(engine))
            continue;
        for (int i = 0; i < COLUMNS; i++)
            rule->cell[i] = csv_cell(rules->csv, row, rules->column[i]);
        if (!strcmp(rule->cell[ROLE], rules->role) &&
            engine_within(rules->version, rule->cell[FROM], rule->cell[UNTIL]))
            return true;
    }
    return false;
}

/* ---- engines ----------------------------------------------------------------------------------------- */

/* Engines that plans are for, with the inputs that say whether each may be the engine and whether a layout
 * keeps its rules. */
static const struct { const char *name, *title, *allowed, *kept, *pools; } engines[RULES_ENGINES] = {
    { "vllm", "vLLM", NAME_vllm_allowed, NAME_vllm_rules_kept, NAME_vllm_pools_kept },
    { "sglang", "SGLang", NAME_sglang_allowed, NAME_sglang_rules_kept, NAME_sglang_pools_kept },
    { "trtllm", "TensorRT-LLM", NAME_trtllm_allowed, NAME_trtllm_rules_kept, NAME_trtllm_pools_kept } };
enum { ENGINES = RULES_ENGINES };

/* Trainers, with the input that says whether a layout of training keeps the rules of each. */
static const struct { const char *name, *title, *kept; } trainers[] = {
    { "megatron", "Megatron-LM", NAME_megatron_rules_kept },
    { "torchtitan", "torchtitan", NAME_torchtitan_rules_kept } };
enum { TRAINERS = sizeof trainers / sizeof *trainers };

static bool any_named(const struct scenario *scenario)
{
    return !strcmp(catalog_engine_base(&scenario->catalog, scenario->subject.engine), "any");
}

static bool known_to_run(const struct scenario *scenario, size_t engine)
{
    return engine_runs(scenario, engines[engine].name, NULL);
}

/* Does a layout have to keep the rules of this engine or of another of them? The rules of the engine that was named;
 * where none was, of each that is known to run on the machine, and of all where none is. */
static bool engine_allowed(const struct scenario *scenario, size_t engine)
{
    bool known = false;
    if (!any_named(scenario))
        return !strcmp(catalog_engine_base(&scenario->catalog, scenario->subject.engine), engines[engine].name);
    for (size_t i = 0; i < ENGINES; i++)
        known |= known_to_run(scenario, i);
    return !known || known_to_run(scenario, engine);
}

const char *rules_unknown(const struct scenario *scenario)
{
    const char *machine = scenario->machine ? scenario->machine : "the machine";
    const char *why = engine_family(scenario) ? "" : ", whose sheet states no family";
    const char *own = catalog_engine_base(&scenario->catalog, scenario->subject.engine);
    for (size_t i = 0; i < ENGINES; i++)
        if (any_named(scenario) && known_to_run(scenario, i))
            return NULL;
    if (any_named(scenario))
        return arena_print(scenario->arena, "no engine is known to run on %s%s", machine, why);
    struct engine_release release;
    if (engine_runs(scenario, own, &release))
        return NULL;
    const struct catalog_entry *entry = catalog_find(&scenario->catalog, CATALOG_ENGINE, own, NULL);
    return arena_print(scenario->arena, "%s is not known to run on %s%s%s%s", entry ? entry->title : own, machine, why,
                       *release.others ? "; another release is: " : "", release.others);
}

/* ---- formats ----------------------------------------------------------------------------------------- */

/* Are any of the model's weights in one of these formats? */
static bool has_format(const struct scenario *scenario, const char *formats)
{
    const struct fact_table *table = facts_table_find(&scenario->facts, "operator");
    for (size_t j = 0; table && j < table->columns; j++)
        for (size_t i = 0; i < table->entries && !strcmp(table->column[j], NAME_operator_format); i++) {
            const double at = table->cell[i * table->columns + j].value;
            if (at >= 1 && at <= (double)scenario->formats.count &&
                text_has_word(formats, scenario->formats.format[(size_t)at - 1].name))
                return true;
        }
    return false;
}

static bool runs(const struct scenario *scenario, const struct engine_rule *rule)
{
    const char *family = engine_family(scenario);
    return !family || !text_has_word(rule->cell[FAMILIES], family) || !has_format(scenario, rule->cell[FORMATS]);
}

/* ---- expressions ------------------------------------------------------------------------------------- */

/* The rows of an engine's rules, or of those of every engine for NULL, as "min(a, b)"; "0" where it has no
 * kernels for the formats of this model on this machine. */
static const char *least_of(struct scenario *scenario, const char *engine, const char *role)
{
    struct rules rules = rules_open(scenario, engine, role);
    struct buffer out = { .arena = scenario->arena };
    struct engine_rule rule;
    size_t count = 0;
    while (rules_next(&rules, &rule)) {
        if (!*rule.cell[ROW] && runs(scenario, &rule))
            continue;
        buffer_print(&out, "%s%s", count++ ? ", " : "min(1, ", *rule.cell[ROW] ? rule.cell[ROW] : "0");
    }
    if (count)
        buffer_print(&out, ")");
    return count ? out.data : NULL;
}

static void bind(struct scenario *scenario, const char *row, const char *expression)
{
    if (expression)
        facts_bind(&scenario->facts, row, expression, ORIGIN_SHEET, FILE_NAME);
}

void rules_bind(struct scenario *scenario)
{
    bind(scenario, NAME_host_rules_kept, least_of(scenario, NULL, ""));
    for (size_t i = 0; i < ENGINES; i++) {
        bind(scenario, engines[i].kept, least_of(scenario, engines[i].name, ""));
        bind(scenario, engines[i].pools, least_of(scenario, engines[i].name, "pools"));
        if (!engine_allowed(scenario, i))
            facts_set(&scenario->facts, engines[i].allowed, 0, ORIGIN_SHEET, "the engine or the machine");
    }
    for (size_t i = 0; i < TRAINERS; i++)
        bind(scenario, trainers[i].kept, least_of(scenario, trainers[i].name, "training"));
}

/* ---- pools ------------------------------------------------------------------------------------------- */

void rules_of_pools(struct scenario *scenario, struct scenario *prefill)
{
    static const struct { const char *row, *prefill; } sizes[] = {
        { NAME_chips, NAME_prefill_chips }, { NAME_attention_dp, NAME_prefill_attention_dp },
        { NAME_pipeline_parallel, NAME_prefill_pipeline_parallel },
        { NAME_expert_parallel, NAME_prefill_expert_parallel } };
    struct error ignored;
    double value;
    *prefill = *scenario;
    prefill->facts = facts_copy(&scenario->facts);
    scenario->facts = facts_copy(&scenario->facts);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (value_of(scenario, sizes[i].prefill, &value, &ignored))
            facts_set(&prefill->facts, sizes[i].row, value, ORIGIN_AXIS, FILE_NAME);
    facts_set(&prefill->facts, NAME_writes_output, 0, ORIGIN_AXIS, FILE_NAME);
    facts_set(&scenario->facts, NAME_reads_prompts, 0, ORIGIN_AXIS, FILE_NAME);
}

/* ---- broken rules ------------------------------------------------------------------------------------ */

struct broken_list {
    struct arena *arena;
    struct broken_rule *at;
    size_t count, room;
};

static void add_broken(struct broken_list *list, const struct engine_rule *rule)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->at[i].id, rule->cell[ID]))
            return;
    *(struct broken_rule *)arena_push(list->arena, &list->at, &list->count, &list->room, sizeof *list->at) =
        (struct broken_rule){ rule->cell[ID], rule->cell[ENGINE], rule->cell[SAYS], rule->cell[MESSAGE] };
}

/* The rules of an engine that one kind of server breaks; with `role` "pools" the rules of both pools together. */
static void list_broken(struct scenario *scenario, const char *engine, const char *role, struct broken_list *list)
{
    struct rules rules = rules_open(scenario, engine, role);
    struct engine_rule rule;
    while (rules_next(&rules, &rule)) {
        struct error ignored;
        double kept;
        if (*rule.cell[ROW] ? value_of(scenario, rule.cell[ROW], &kept, &ignored) && !(kept > 0)
                            : !runs(scenario, &rule))
            add_broken(list, &rule);
    }
}

static void list_of_engine(struct scenario *const *kinds, size_t count, const char *engine, struct broken_list *list)
{
    for (size_t i = 0; i < count; i++)
        list_broken(kinds[i], engine, "", list);
    if (count > 1)
        list_broken(kinds[0], engine, "pools", list);
}

size_t rules_broken(struct scenario *const *kinds, size_t count, struct broken_rule **broken)
{
    struct broken_list all = { .arena = kinds[0]->arena }, best = { .count = SIZE_MAX };
    list_of_engine(kinds, count, "host", &all);
    list_of_engine(kinds, count, "DeepEP", &all);
    for (size_t i = 0; i < ENGINES; i++) {
        struct broken_list list = { .arena = all.arena };
        if (!engine_allowed(kinds[0], i))
            continue;
        list_of_engine(kinds, count, engines[i].name, &list);
        if (list.count < best.count)
            best = list;
    }
    for (size_t i = 0; best.count < SIZE_MAX && i < best.count; i++)
        *(struct broken_rule *)arena_push(all.arena, &all.at, &all.count, &all.room, sizeof *all.at) = best.at[i];
    *broken = all.at;
    return all.count;
}

size_t rules_broken_training(struct scenario *scenario, struct broken_rule **broken)
{
    struct broken_list list = { .arena = scenario->arena };
    struct error ignored;
    double torchtitan = 0;
    value_of(scenario, NAME_torchtitan_trains, &torchtitan, &ignored);
    list_broken(scenario, trainers[torchtitan > 0].name, "training", &list);
    *broken = list.at;
    return list.count;
}

size_t rules_starters(struct scenario *const *kinds, size_t count, const char *names[RULES_ENGINES])
{
    size_t found = 0;
    for (size_t i = 0; i < ENGINES; i++) {
        struct error ignored;
        double kept = 1;
        if (!engine_allowed(kinds[0], i) || !known_to_run(kinds[0], i))
            continue;
        for (size_t k = 0; k < count && kept > 0; k++)
            if (!value_of(kinds[k], engines[i].kept, &kept, &ignored))
                kept = 0;
        if (count > 1 && kept > 0 && !value_of(kinds[0], engines[i].pools, &kept, &ignored))
            kept = 0;
        if (kept > 0)
            names[found++] = arena_print(kinds[0]->arena, "%s %s", engines[i].title,
                                         engine_version(kinds[0], engines[i].name));
    }
    return found;
}

void rules_judge(bool startable, struct scenario *const *kinds, size_t count, struct started *started)
{
    *started = (struct started){ .unknown = rules_unknown(kinds[0]) };
    started->startable = startable && !started->unknown;
    if (started->startable)
        started->engine_count = rules_starters(kinds, count, started->engines);
    else if (!startable)
        started->broken_count = rules_broken(kinds, count, &started->broken);
}

const char *rule_text_of(struct arena *arena, const struct broken_rule *rule)
{
    for (size_t i = 0; i < ENGINES; i++)
        if (!strcmp(engines[i].name, rule->engine))
            return arena_print(arena, "%s does not start it: %s (%s)", engines[i].title, rule->says, rule->id);
    for (size_t i = 0; i < TRAINERS; i++)
        if (!strcmp(trainers[i].name, rule->engine))
            return arena_print(arena, "%s does not start it: %s (%s)", trainers[i].title, rule->says, rule->id);
    return arena_print(arena, "it cannot be started: %s (%s)", rule->says, rule->id);
}
