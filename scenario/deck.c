/* Decks: rows set to the lecture's own inputs. */
#include "scenario/deck.h"

#include "catalog/sheet.h"

#include <string.h>

static const char file_name[] = "data/decks.csv";

static bool deck_unknown(struct arena *arena, const struct csv *csv, const char *name, struct error *error)
{
    const int deck = csv_column(csv, "deck");
    struct buffer all = { .arena = arena };
    const char *last = "";
    for (size_t i = 0; i < csv->rows; i++) {
        const char *one = csv_cell(csv, i, deck);
        if (strcmp(one, last))
            buffer_print(&all, "%s%s", *last ? ", " : "", one);
        last = one;
    }
    error_set(error, "unknown deck '%.60s'", name);
    return error_expected(error, "one of: %s", all.data);
}

/* With `keep`, what the user gave stays. */
static bool set_one(struct scenario *scenario, const char *row, const char *value, const char *source,
                    bool keep, struct error *error)
{
    const char *name = formulas_name(&scenario->formulas, scenario->arena, row);
    if (keep && fact_given(facts_find(&scenario->facts, name)))
        return true;
    return scenario_set_row(scenario, row, value, ORIGIN_SHEET, source, error);
}

static bool set_deck(struct scenario *scenario, const char *name, bool keep, struct error *error)
{
    const struct csv *csv = csv_built_in(file_name);
    const int deck = csv_column(csv, "deck"), row = csv_column(csv, "row"), value = csv_column(csv, "value");
    const char *source = arena_print(scenario->arena, "deck %s", name);
    bool found = false;
    for (size_t i = 0; i < csv->rows; i++) {
        if (strcmp(csv_cell(csv, i, deck), name))
            continue;
        found = true;
        if (!set_one(scenario, csv_cell(csv, i, row), csv_cell(csv, i, value), source, keep, error))
            return false;
    }
    return found || deck_unknown(scenario->arena, csv, name, error);
}

bool deck_next(struct arena *arena, const char **text, struct deck_part *part)
{
    while (**text) {
        const size_t size = strcspn(*text, ";");
        const struct text trimmed = text_trim((struct text){ *text, size });
        const char *one = arena_copy(arena, trimmed.data, trimmed.size), *equals = strchr(one, '=');
        *text += size + ((*text)[size] == ';');
        if (!*one)
            continue;
        *part = (struct deck_part){ equals ? arena_copy(arena, one, (size_t)(equals - one)) : one,
                                    equals ? equals + 1 : NULL };
        return true;
    }
    return false;
}

static bool set_all(struct scenario *scenario, const char *text, bool keep, struct error *error)
{
    struct deck_part part;
    while (deck_next(scenario->arena, &text, &part))
        if (part.value ? !set_one(scenario, part.name, part.value, "the lecture's deck", keep, error)
                       : !set_deck(scenario, part.name, keep, error))
            return false;
    return true;
}

bool deck_set(struct scenario *scenario, const char *text, struct error *error)
{
    return set_all(scenario, text, false, error);
}

bool deck_complete(struct scenario *scenario, const char *text, struct error *error)
{
    return set_all(scenario, text, true, error);
}
