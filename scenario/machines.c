/* One question asked of several machines, --on A,B,C or --on all: each is asked alone, so that its answer is the one that
 * the verb gives for that machine; they are asked side by side. The text is a table of the verb's main figures. The answer
 * of one lives for a moment: what is kept of it is its document and its first line. */
#include "base/guard.h"
#include "catalog/catalog.h"
#include "scenario/scenario.h"

#include <math.h>
#include <string.h>

struct machine_answer {
    const char *name, *headline;
    struct arena *arena;
    struct doc *doc;                    /* NULL: an error */
    int status;
    struct error error;
};

struct machine_answers {
    struct arena *arena;
    const struct command *command;
    struct machine_answer *at;
    size_t count;
};

/* ---- the list ---------------------------------------------------------------------------------------- */

/* Where a part of "h100-sxm,i7 (Haswell, no TSX)" ends: at a comma that is in no brackets. */
static size_t part_size(const char *text)
{
    size_t at = 0;
    for (int depth = 0; text[at] && (text[at] != ',' || depth > 0); at++)
        depth += (text[at] == '(') - (text[at] == ')');
    return at;
}

bool machines_several(struct arena *arena, const struct command *command)
{
    const char *on = command->verb->own_on ? NULL : command_text(command, "on");
    return on && (!strcmp(on, "all") ||
                  (on[part_size(on)] && !catalog_known(catalog_built_in(), CATALOG_MACHINE, on) && !file_there(arena, on)));
}

static void add_name(struct machine_answers *answers, size_t *room, const char *name)
{
    struct machine_answer *one = arena_push(answers->arena, &answers->at, &answers->count, room, sizeof *answers->at);
    *one = (struct machine_answer){ .name = name, .arena = arena_inner(answers->arena), .headline = "" };
}

/* The names, each of which must be known. */
static bool read_names(struct machine_answers *answers, const char *on, struct error *error)
{
    size_t room = 0;
    struct catalog catalog;
    catalog_open(&catalog, answers->arena);
    const bool all = !strcmp(on, "all");
    for (size_t i = 0; all && i < catalog_count(&catalog, CATALOG_MACHINE); i++)
        add_name(answers, &room, catalog_entry(&catalog, CATALOG_MACHINE, i)->name);
    while (!all && *on) {
        const size_t size = part_size(on);
        const struct text trimmed = text_trim((struct text){ on, size });
        const char *name = arena_copy(answers->arena, trimmed.data, trimmed.size);
        on += size + (on[size] == ',');
        if (!*name)
            continue;
        if (!scenario_machine(&catalog, name, error))
            return false;
        for (size_t i = 0; i < answers->count; i++)
            if (!strcmp(answers->at[i].name, name))
                return error_set(error, "--on: %.200s is named twice", name) || error_expected(error, "it once");
        add_name(answers, &room, name);
    }
    return answers->count > 0 || (error_set(error, "--on names no machine"), error_expected(error, "--on A,B or --on all"));
}

/* What one machine alone can be asked for. */
static bool may_ask(const struct command *command, struct error *error)
{
    static const char *const one[] = { "plot", "report", "emit", "requests", "series", "trace", "training-rows" };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (verb_option(command->verb, one[i]) && command_given(command, one[i])) {
            error_set(error, "--%s is of one machine, and --on names several", one[i]);
            return error_expected(error, "--on with one of them, or no --%s", one[i]);
        }
    return true;
}

/* ---- the answers ------------------------------------------------------------------------------------- */

static void ask_one(void *context, size_t i)
{
    const struct machine_answers *answers = context;
    struct machine_answer *one = &answers->at[i];
    struct arena scratch = arena_beside(answers->arena);
    struct command command = *answers->command;
    struct answer answer = { .doc = doc_new(&scratch, DOC_OBJECT), .text.arena = &scratch };
    command.progress = NULL;
    command.one_of_several = true;
    command.columns = 0;
    command.values = arena_array(&scratch, command.value_count + 1, sizeof *command.values);
    for (size_t v = 0; v < command.value_count; v++) {
        command.values[v] = answers->command->values[v];
        if (!strcmp(command.values[v].option->name, "on"))
            command.values[v].text = one->name;
    }
    command.value_room = command.value_count;
    if (command.verb->ask(&scratch, &command, &answer, &one->error)) {
        one->doc = doc_copy(one->arena, answer.doc);
        one->status = answer.status;
        one->headline = arena_copy(one->arena, answer.text.data ? answer.text.data : "", answer.text.size ? strcspn(answer.text.data, "\n") : 0);
    }
    arena_free(&scratch);
}

/* ---- the table --------------------------------------------------------------------------------------- */

/* The unit that the verb declares for a key that is no row: "ttft.mean". */
static const char *unit_declared(const struct record *record, const char *path)
{
    const size_t size = strcspn(path, ".");
    for (const struct answer_field *field = record ? record->fields : NULL; field && field->kind != FIELD_END; field++) {
        const char *const *names = field->key ? &field->key : field->names;
        for (size_t i = 0; names && i < (field->key ? 1 : field->count); i++)
            if (names[i] && !strncmp(names[i], path, size) && !names[i][size])
                return path[size] ? unit_declared(field->record, path + size + 1) : field->unit ? field->unit : "1";
    }
    return "1";
}

/* "best.train_mfu" */
static const struct doc *member(const struct doc *doc, const char *path)
{
    while (doc && strchr(path, '.')) {
        char key[64] = "";
        const size_t size = strcspn(path, ".");
        memcpy(key, path, size < sizeof key ? size : 0);
        doc = doc_get(doc, key);
        path += size + 1;
    }
    return doc ? doc_get(doc, path) : NULL;
}

static const char *last_key(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Of a column: "train_mfu" of the best, "ttft.mean". */
static const char *head(const char *path)
{
    return starts_with(path, "best.") ? last_key(path) : path;
}

/* A figure, a number or a word as text; false: it is none of them. */
static bool shown(const struct machine_answers *answers, const struct doc *doc, const char *path, const char **text, double *number)
{
    const struct doc *one = member(doc, path), *value = one && one->kind == DOC_OBJECT ? doc_get(one, "value") : one;
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    const char *key = last_key(path);
    const int row = formulas_find(formulas, key);
    const char *unit_text = doc_text(value == one ? (strcmp(key, "value") ? NULL : doc) : one, "unit", NULL);
    struct unit unit = unit_one;
    double scale;
    struct error ignored;
    if (!value || (value->kind != DOC_NUMBER && value->kind != DOC_STRING))
        return false;
    *number = value->kind == DOC_NUMBER ? value->number : NAN;
    *text = value->kind == DOC_STRING ? value->string : "";
    if (value->kind == DOC_STRING)
        return true;
    if (row >= 0 && !unit_text)
        unit = formulas_row(formulas, row)->unit;
    else
        unit_parse(text_of(unit_text ? unit_text : unit_declared(answers->command->verb->answers, path)), &unit, &scale, &ignored);
    *text = quantity_text(answers->arena, value->number, unit, 4);
    return true;
}

enum { COLUMNS_MOST = 6 };      /* beside the machine */

/* The keys of the table: those that the verb names, or the first figures of an answer. */
static size_t choose_keys(const struct machine_answers *answers, const char **keys)
{
    const char *text;
    double number;
    size_t count = 0;
    const struct doc *first = NULL;
    for (size_t i = 0; i < answers->count && !first; i++)
        first = answers->at[i].status ? NULL : answers->at[i].doc;
    for (const char *const *key = answers->command->verb->main; first && key && *key && count < COLUMNS_MOST; key++)
        if (shown(answers, first, *key, &text, &number))
            keys[count++] = *key;
    for (const struct doc *one = first && !answers->command->verb->main ? first->first : NULL; one && count < COLUMNS_MOST; one = one->next)
        if (one->kind != DOC_STRING && shown(answers, first, one->key, &text, &number))
            keys[count++] = one->key;
    return count;
}

static void add_csv(const struct machine_answers *answers, const char *const *keys, size_t count, struct buffer *csv)
{
    struct table table = { .arena = answers->arena, .columns = 1 + count };
    table_cell(&table, "machine");
    for (size_t k = 0; k < count; k++)
        table_cell(&table, "%s", head(keys[k]));
    for (size_t i = 0; i < answers->count; i++) {
        const char *text = "";
        double number;
        if (!answers->at[i].doc || answers->at[i].status)
            continue;
        table_cell(&table, "%s", answers->at[i].name);
        for (size_t k = 0; k < count; k++)
            if (shown(answers, answers->at[i].doc, keys[k], &text, &number) && !isnan(number))
                table_cell(&table, "%.17g", number);
            else
                table_cell(&table, "%s", text);
    }
    table_csv(&table, csv);
}

static void add_text(const struct machine_answers *answers, size_t answered, struct answer *answer)
{
    const char *keys[COLUMNS_MOST];
    static const char left[] = "lrrrrrr";
    const size_t count = choose_keys(answers, keys);
    struct table table = { .arena = answers->arena, .columns = 1 + count, .left = left };
    buffer_print(&answer->text, "%s: %zu of %zu machines\n\n", answers->command->verb->name, answered, answers->count);
    table_cell(&table, "machine");
    for (size_t k = 0; k < count; k++)
        table_cell(&table, "%s", head(keys[k]));
    for (size_t i = 0; i < answers->count && count; i++) {
        const char *text;
        double number;
        if (!answers->at[i].doc || answers->at[i].status)
            continue;
        table_cell(&table, "%s", answers->at[i].name);
        for (size_t k = 0; k < count; k++)
            table_cell(&table, "%s", shown(answers, answers->at[i].doc, keys[k], &text, &number) ? text : "");
    }
    if (count)
        table_print(&table, &answer->text, "  ");
    size_t beside = 0;
    for (size_t i = 0; i < answers->count; i++)             /* what is not in the table: a sentence each */
        if (!count || !answers->at[i].doc || answers->at[i].status)
            buffer_print(&answer->text, "%s  %s: %s\n", beside++ || !count ? "" : "\n", answers->at[i].name,
                         answers->at[i].doc ? answers->at[i].headline : answers->at[i].error.what);
    if (answer->csv.arena && count)
        add_csv(answers, keys, count, &answer->csv);
}

bool machines_answer(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct machine_answers answers = { .arena = arena, .command = command };
    size_t answered = 0, alike = 0;
    if (!may_ask(command, error) || !read_names(&answers, command_text(command, "on"), error))
        return false;
    parallel_each(answers.count, !command->verb->divided || !command->ranks || ranks_alone(command->ranks), ask_one, &answers);
    struct doc *by = answer->doc ? doc_add(arena, answer->doc, "by_machine", DOC_OBJECT) : NULL;
    for (size_t i = 0; i < answers.count; i++) {
        struct machine_answer *one = &answers.at[i];
        answered += one->doc && !one->status;
        alike += !one->doc && !answers.at[0].doc && !strcmp(one->error.what, answers.at[0].error.what);
        if (by && one->doc) {
            doc_put(by, one->name, one->doc);
        } else if (by) {
            error_document(arena, &one->error, doc_add(arena, by, one->name, DOC_OBJECT));
        }
    }
    if (alike == answers.count) {                           /* the question is wrong, whatever the machine */
        *error = answers.at[0].error;
        return false;
    }
    add_text(&answers, answered, answer);
    answer->status = !answered;
    return true;
}
