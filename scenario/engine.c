/* The engine of a scenario: the one that was named, or llama.cpp where it is the usual one, what it
 * reaches on the machine, and whether it is known to run there. */
#include "scenario/engine.h"

#include "catalog/meant.h"
#include "catalog/sheet.h"

#include <string.h>

/* There are few engines: name them all, less the entry that every engine starts from and
 * those of families of chips. */
static bool engine_unknown(const struct scenario *scenario, struct error *error)
{
    struct buffer all = { .arena = scenario->arena };
    size_t named = 0;
    if (strchr(scenario->subject.engine, '@') || meant_explain("engine", scenario->subject.engine, error))
        return false;
    for (size_t i = 0; i < catalog_count(&scenario->catalog, CATALOG_ENGINE); i++) {
        const struct catalog_entry *entry = catalog_entry(&scenario->catalog, CATALOG_ENGINE, i);
        if (strcmp(entry->name, "any") && !catalog_is_family(entry) && !catalog_text(entry, "backend_of"))
            buffer_print(&all, "%s%s", named++ ? ", " : "", entry->name);
    }
    bool file = strstr(scenario->subject.engine, ".csv") != NULL;
    return !file && named > 0 && named < 16 ? error_expected(error, "one of: %s", all.data) : false;
}

static const char *family_in(const struct catalog *catalog, const char *machine)
{
    const struct catalog_entry *entry = machine ? catalog_find(catalog, CATALOG_MACHINE, machine, NULL) : NULL;
    return entry ? catalog_text(entry, "family") : NULL;
}

const char *engine_family(const struct scenario *scenario)
{
    return family_in(&scenario->catalog, scenario->subject.machine);
}

const char *engine_usual(struct arena *arena, const struct catalog *catalog, const struct subject *subject,
                         const char **why)
{
    const char *family = family_in(catalog, subject->machine);
    const char *named = subject->precision;
    if (!named && subject->model && !catalog_find(catalog, CATALOG_MODEL, subject->model, NULL))
        catalog_model_called(arena, catalog, subject->model, &named, NULL);       /* "qwen3:14b-q4_K_M" */
    const bool type = named && file_type_find(arena, named);
    const bool gguf = type || (subject->model && name_within(subject->model, "gguf"));
    if (!gguf && !(family && (starts_with(family, "apple") || starts_with(family, "cpu-"))))
        return NULL;
    *why = arena_print(arena, "engine llama.cpp, as usual for %s; --engine names another",
                       gguf ? "GGUF files" : "such a machine");
    return "llamacpp";
}

static void assume_llama_cpp(struct scenario *scenario)
{
    const char *why;
    scenario->subject.engine = engine_usual(scenario->arena, &scenario->catalog, &scenario->subject, &why);
    if (scenario->subject.engine)
        facts_note(&scenario->facts, "%s", why);
}

/* What the engine reaches on the machine, whose family is NULL where the machine is unknown or has none. */
bool scenario_engine(struct scenario *scenario, struct error *error)
{
    struct subject *subject = &scenario->subject;
    const struct catalog_entry *entry =
        subject->machine ? catalog_find(&scenario->catalog, CATALOG_MACHINE, subject->machine, NULL) : NULL;
    if (!subject->engine && subject->model && subject->machine)
        assume_llama_cpp(scenario);
    if (subject->engine && strchr(subject->engine, '@'))
        subject->version = catalog_engine_version(&scenario->catalog, subject->engine);
    const char *engine = catalog_engine_then(&scenario->catalog, subject->engine, subject->version);
    return catalog_engine(&scenario->catalog, engine, engine_family(scenario), entry ? entry->name : NULL,
                          &scenario->facts, error) || engine_unknown(scenario, error);
}

/* ---- which engine runs where --------------------------------------------------------------------------- */

const char *engine_version(const struct scenario *scenario, const char *engine)
{
    const struct subject *subject = &scenario->subject;
    return subject->version && !strcmp(catalog_engine_base(&scenario->catalog, subject->engine), engine)
           ? subject->version : catalog_engine_version(&scenario->catalog, engine);
}

bool engine_within(const char *version, const char *from, const char *until)
{
    return !version || ((!*from || catalog_version_order(version, from) >= 0) &&
                        (!*until || catalog_version_order(version, until) <= 0));
}

bool engine_runs(const struct scenario *scenario, const char *engine, struct engine_release *release)
{
    enum { ENGINE, FAMILIES, FROM, UNTIL, RESOURCE, IMAGE, VISIBLE, COLUMNS };
    static const char *const columns[COLUMNS] = { "engine", "families", "from", "until", "resource", "image", "visible" };
    const struct csv *csv = csv_built_in("data/engines.csv");
    const char *family = engine_family(scenario), *version = engine_version(scenario, engine), *cell[COLUMNS], *others = "";
    const char *machine = family ? catalog_find(&scenario->catalog, CATALOG_MACHINE, scenario->subject.machine, NULL)->name : "";
    bool runs = false;
    if (family && starts_with(family, "cpu-"))
        family = "cpu";
    for (size_t r = 0; family && !runs && r < csv->rows; r++) {
        for (int i = 0; i < COLUMNS; i++)
            cell[i] = csv_cell(csv, r, csv_column(csv, columns[i]));
        if (strcmp(cell[ENGINE], engine) || !(text_has_word(cell[FAMILIES], family) || text_has_word(cell[FAMILIES], machine)))
            continue;
        runs = engine_within(version, cell[FROM], cell[UNTIL]);
        if (release && !runs)
            others = arena_print(scenario->arena, "%s%s%s %s %s", others, *others ? " or " : "", cell[FROM],
                                 *cell[UNTIL] ? "to" : "and", *cell[UNTIL] ? cell[UNTIL] : "later");
    }
    if (release)
        *release = runs ? (struct engine_release){ cell[RESOURCE], cell[IMAGE], cell[VISIBLE], "" }
                        : (struct engine_release){ "", "", "", others };
    return runs;
}
