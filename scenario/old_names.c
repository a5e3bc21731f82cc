/* Names that rows and options had until the last version. They are accepted wherever the new ones are, and a
 * note says the new one; documents have a row under its old names too, for programs that read
 * them. */
#include "scenario/scenario.h"

#include <ctype.h>
#include <string.h>

/* ---- names that were asked ---------------------------------------------------------------- */

static bool in_name(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* Add a note for each old row name in an expression. */
static void note_in(struct scenario *scenario, const char *text)
{
    const struct formulas *formulas = &scenario->formulas;
    while (*text) {
        size_t size = 0;
        while (in_name(text[size]))
            size++;
        if (!size) {
            text++;
            continue;
        }
        const struct alias *alias = formulas_alias(formulas, arena_copy(scenario->arena, text, size));
        if (alias && alias->old)
            facts_note(&scenario->facts, "%s is now called %s", alias->name,
                       row_name(formulas_row(formulas, alias->row)));
        text += size;
    }
}

void scenario_note_old_names(struct scenario *scenario)
{
    const struct command *command = scenario->command;
    for (size_t i = 0; i < command->word_count; i++)
        note_in(scenario, command->words[i]);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        if (value->old)
            facts_note(&scenario->facts, "--%s is now called --%s", value->option->was,
                       value->option->name);
        if (value->text && value->option->kind != OPTION_FILE && value->option->kind != OPTION_CHOICE)
            note_in(scenario, value->text);
    }
}

/* ---- names in answers ----------------------------------------------------------------------- */

/* A number under another key too, where that is free. */
static void add_again(struct arena *arena, struct doc *doc, const char *key, const struct doc *number)
{
    if (doc_get(doc, key))
        return;
    struct doc *same = arena_alloc(arena, sizeof *same);
    *same = *number;
    same->next = NULL;
    doc_put(doc, key, same);
}

/* Adds the numbers of each object again under the old names of their rows, for programs that read
 * those. Arrays and objects are not repeated: parts of a sum would count twice. */
void doc_add_old_names(struct arena *arena, const struct formulas *formulas, struct doc *doc)
{
    const size_t count = doc ? doc->count : 0;
    struct doc *kid = doc ? doc->first : NULL;
    for (size_t i = 0; i < count; i++, kid = kid->next) {
        if (kid->kind == DOC_ARRAY || kid->kind == DOC_OBJECT)
            doc_add_old_names(arena, formulas, kid);
        const bool number = kid->kind == DOC_NUMBER || kid->kind == DOC_NULL;
        const int row = number && doc->kind == DOC_OBJECT ? formulas_find(formulas, kid->key) : -1;
        if (row < 0 || !row_was(formulas_row(formulas, row)) || strcmp(row_name(formulas_row(formulas, row)), kid->key))
            continue;
        const char *names = row_was(formulas_row(formulas, row));
        for (size_t size; *names; names += size + (names[size] != 0)) {
            size = strcspn(names, " ");
            add_again(arena, doc, arena_copy(arena, names, size), kid);
        }
    }
}
