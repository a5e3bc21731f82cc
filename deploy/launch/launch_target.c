/* The document around an engine: rows of data/targets.csv.
 *
 * A row without an engine is a fact of the document, such as its apiVersion. A row with engines stands in the
 * place of theirs in data/flags.csv: one of the form `own` removes the flags of its name, which the target
 * gives itself, and every other row is added. A target that has a router of its own has none of the engine's
 * flags of routers. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <assert.h>
#include <string.h>

#define FILE_NAME "data/targets.csv"

/* ---- flags ------------------------------------------------------------------------------- */

static bool is_demand(const struct flag *flag)
{
    return !strcmp(flag->form, "need") || !strcmp(flag->form, "bar");
}

/* Does a row of the target take this flag of the engine away? "--a" takes "--a.b" too. */
static bool takes_away(const struct flag *row, const struct flag *flag)
{
    const size_t size = strlen(row->name);
    if (!strcmp(flag->form, "about"))
        return !strcmp(row->form, "about") && !strcmp(row->name, flag->name);
    if (!strcmp(row->form, "about"))
        return !strcmp(row->name, "router") && !strcmp(flag->role, "router");
    return !strcmp(row->form, "own") && !is_demand(flag) && !strncmp(flag->name, row->name, size) &&
           (!flag->name[size] || (size && flag->name[size] == '.'));
}

static bool is_taken(const struct flag *rows, size_t count, const struct flag *flag)
{
    size_t at = 0;
    while (at < count && !takes_away(&rows[at], flag))
        at++;
    return at < count;
}

/* What a command begins with; further flags follow the engine's. */
static bool begins(const struct flag *row)
{
    return !strcmp(row->form, "about") || !strcmp(row->takes, "model");
}

static void put_flags(struct launch *launch, const struct flag *rows, size_t count)
{
    const struct flag *flags = launch->flags;
    const size_t flag_count = launch->flag_count;
    launch->flags = NULL;
    launch->flag_count = launch->flag_room = 0;
    for (size_t i = 0; i < count; i++)
        if (begins(&rows[i]))
            launch_add_flag(launch, &rows[i]);
    for (size_t i = 0; i < flag_count; i++)
        if (!is_taken(rows, count, &flags[i]))
            launch_add_flag(launch, &flags[i]);
    for (size_t i = 0; i < count; i++)
        if (!begins(&rows[i]) && strcmp(rows[i].form, "own"))
            launch_add_flag(launch, &rows[i]);
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool engine_known(const struct launch *launch, struct error *error)
{
    const struct flag *engines = launch_target_about(launch, "engines");
    if (!engines || text_has_word(engines->value, launch->engine))
        return true;
    error_set(error, "--emit %s: its document for %s is not known", launch->target, launch->title);
    return error_expected(error, "--engine %s; or --emit k8s", engines->value);
}

/* The row of targets.def for a word of --emit. */
static const struct target *find_document(const char *word)
{
    static const struct target targets[] = {
#define ENGINE(word)
#define DOCUMENT(target, as_pods, writer, ...) \
        { .word = target, .pods = as_pods, .write = writer, __VA_OPT__(.bars = __VA_ARGS__) },
#include "deploy/launch/targets.def"
    };
    size_t at = 0;
    while (at < sizeof targets / sizeof *targets && strcmp(targets[at].word, word))
        at++;
    assert(at < sizeof targets / sizeof *targets);
    return &targets[at];
}

bool launch_target_open(struct launch *launch, struct error *error)
{
    const struct csv *csv = csv_built_in(FILE_NAME);
    const int target = csv_column(csv, "target"), engine = csv_column(csv, "engine");
    struct flag *rows = NULL;
    size_t count = 0, room = 0;
    for (size_t r = 0; r < csv->rows; r++) {
        const char *engines = csv_cell(csv, r, engine);
        if (strcmp(csv_cell(csv, r, target), launch->target))
            continue;
        if (!*engines)
            *(struct flag *)arena_push(launch->arena, &launch->facts, &launch->fact_count, &launch->fact_room,
                                       sizeof *rows) = flag_at(csv, r);
        else if (text_has_word(engines, launch->engine))
            *(struct flag *)arena_push(launch->arena, &rows, &count, &room, sizeof *rows) = flag_at(csv, r);
    }
    launch->document = find_document(launch->target);
    launch->pods = launch->document->pods;
    put_flags(launch, rows, count);
    return engine_known(launch, error);
}

/* ---- what a target cannot start ---------------------------------------------------------- */

void launch_target_bars(struct launch *launch)
{
    const struct target *target = launch->document;
    for (int role = 0; role < LAUNCH_ROUTER && target->bars && !launch->reason; role++)
        if (launch->pool[role].count > 0)
            launch->reason = target->bars(launch, &launch->pool[role]);
    if (launch->reason)
        launch->who = launch_target_about(launch, "title")->value, launch->way_out = "--emit k8s";
}
