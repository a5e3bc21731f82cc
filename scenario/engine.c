/* The engine of a scenario: the one that was named, or llama.cpp where it is the usual one, and what it
 * reaches on the machine. */
#include "scenario/scenario.h"

#include <string.h>

/* There are few engines: name them all, less the entry that every engine starts from and
 * those of families of chips. */
static bool engine_unknown(const struct scenario *scenario, struct error *error)
{
    struct buffer all = { .arena = scenario->arena };
    size_t named = 0;
    for (size_t i = 0; i < catalog_count(&scenario->catalog, CATALOG_ENGINE); i++) {
        const struct catalog_entry *entry = catalog_entry(&scenario->catalog, CATALOG_ENGINE, i);
        if (strcmp(entry->name, "any") && !catalog_is_family(entry) && !catalog_text(entry, "backend_of"))
            buffer_print(&all, "%s%s", named++ ? ", " : "", entry->name);
    }
    bool file = strstr(scenario->subject.engine, ".csv") != NULL;
    return !file && named > 0 && named < 16 ? error_expected(error, "one of: %s", all.data) : false;
}

const char *engine_usual(struct arena *arena, const struct catalog *catalog, const struct subject *subject,
                         const char **why)
{
    struct error ignored;
    const struct catalog_entry *entry =
        subject->machine ? catalog_find(catalog, CATALOG_MACHINE, subject->machine, &ignored) : NULL;
    const char *family = entry ? catalog_text(entry, "family") : NULL;
    const char *named = subject->precision;
    if (!named && subject->model && !catalog_find(catalog, CATALOG_MODEL, subject->model, &ignored))
        catalog_model_called(arena, catalog, subject->model, &named);       /* "qwen3:14b-q4_K_M" */
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
    struct error ignored;
    const struct catalog_entry *entry =
        subject->machine ? catalog_find(&scenario->catalog, CATALOG_MACHINE, subject->machine, &ignored) : NULL;
    const char *family = entry ? catalog_text(entry, "family") : NULL;
    if (!subject->engine && subject->model && subject->machine)
        assume_llama_cpp(scenario);
    return catalog_engine(&scenario->catalog, subject->engine, family, entry ? entry->name : NULL,
                          &scenario->facts, error) || engine_unknown(scenario, error);
}
