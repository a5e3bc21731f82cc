/* The words that ask for a scenario again: the subject, the options that were given, in the order in
 * which the verb declares them, and an option or --set for each fact that was chosen or that a verb moves. A number is written with the digits
 * that read back to the same bits. */
#include "scenario/scenario.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

struct word_list {
    struct arena *arena;
    const char **at;
    size_t count, room;
};

static void add(struct word_list *words, const char *word)
{
    *(const char **)arena_push(words->arena, &words->at, &words->count, &words->room,
                               sizeof *words->at) = word;
}

static void add_named(struct word_list *words, const char *option, const char *value)
{
    if (!value)
        return;
    add(words, arena_print(words->arena, "--%s", option));
    add(words, value);
}

/* The option of this name that eval and why take too; a verb's other options do not change a row. */
static const struct option *shared_option(const char *name)
{
    static const struct option_group *const groups[] = { ANSWER_OPTIONS };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct option *option = groups[g]->options; option->name; option++)
            if (!strcmp(option->name, name))
                return option;
    return NULL;
}

static const struct option *option_of_row(const char *row)
{
    static const struct option_group *const groups[] = { ANSWER_OPTIONS };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct option *option = groups[g]->options; option->name; option++)
            if (option->row && !strcmp(option->row, row))
                return option;
    return NULL;
}

bool words_have_option(const char *row)
{
    return option_of_row(row) != NULL;
}

static bool of_subject(const char *name)
{
    static const char *const names[] = { "model", "on", "precision", "experts-precision",
                                         "kv-precision", "engine" };
    return name_listed(names, sizeof names / sizeof *names, name);
}

/* A verb may have removed a given row, or replaced its value: then the fact is what counts. */
static bool still_given(const struct facts *facts, const char *row)
{
    return fact_given(facts_find(facts, row));
}

/* Where a verb's option of this name sets another row than eval's does, --set names the row. */
static void add_value(struct word_list *words, const struct facts *facts, const struct value *value)
{
    const struct option *option = value->option, *shared = shared_option(option->name);
    const bool same = shared && shared->kind == option->kind &&
                      (!option->row || !strcmp(option->row, shared->row));
    if (of_subject(option->name) || (!same && !option->row) ||
        (option->row && !still_given(facts, option->row)))
        return;
    if (!same)
        add_named(words, "set", arena_print(words->arena, "%s=%s", option->row, value->row_text ? value->row_text : value->text));
    else if (option->kind == OPTION_SWITCH)
        add(words, arena_print(words->arena, "--%s", option->name));
    else
        add_named(words, option->name, value->text);
}

static void add_fact(struct word_list *words, const struct fact *fact)
{
    const struct option *option = option_of_row(fact->name);
    struct buffer number = { .arena = words->arena };
    buffer_number(&number, fact->value);
    const char *text = fact->expression ? fact->expression : number.data;
    const bool part = fact->value != floor(fact->value) && scenario_counts_chips(fact->name);
    if (option && !option->bare && !option->plausible && !option->named && !part)   /* else the number means another one there */
        add_named(words, option->name, text);
    else
        add_named(words, "set", arena_print(words->arena, "%s=%s", fact->name, text));
}

const char *const *scenario_words(const struct scenario *scenario, size_t *count)
{
    const struct command *command = scenario->command;
    const struct subject *subject = &scenario->subject;
    const struct facts *facts = &scenario->facts;
    struct word_list words = { .arena = scenario->arena };
    const struct option *option;
    add_named(&words, "model", subject->model);
    add_named(&words, "on", subject->machine);
    add_named(&words, "precision", subject->precision);
    add_named(&words, "experts-precision", subject->experts_precision);
    add_named(&words, "kv-precision", subject->kv_precision);
    add_named(&words, "engine", subject->engine);
    for (struct option_at at = { 0 }; (option = verb_next_option(command->verb, &at));)
        for (size_t i = 0; i < command->value_count; i++)
            if (command->values[i].option == option && (subject->machine || strcmp(option->name, "price-kind")))
                add_value(&words, facts, &command->values[i]);
    /* Users who think have a batch that follows; the words must not state it as a second load. */
    const bool closed = fact_given(facts_find(facts, NAME_users)) || fact_given(facts_find(facts, NAME_concurrency));
    for (size_t i = 0; i < facts->scalar_count; i++)
        if ((facts->scalars[i].origin == ORIGIN_CHOSEN && !(closed && !strcmp(facts->scalars[i].name, NAME_batch))) ||
            facts->scalars[i].origin == ORIGIN_AXIS)
            add_fact(&words, &facts->scalars[i]);
    *count = words.count;
    return words.at;
}

void scenario_words_document(const struct scenario *scenario, struct doc *doc)
{
    scenario_words_named(scenario, "words", doc);
}

void scenario_words_named(const struct scenario *scenario, const char *name, struct doc *doc)
{
    size_t count;
    const char *const *words = scenario_words(scenario, &count);
    struct doc *list = doc_add(scenario->arena, doc, name, DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        doc_add_string(scenario->arena, list, NULL, words[i]);
}

void scenario_held_document(const struct scenario *scenario, struct doc *doc)
{
    const struct facts *facts = &scenario->facts;
    struct doc *list = doc_add(scenario->arena, doc, "held", DOC_ARRAY);
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (facts->scalars[i].origin == ORIGIN_CHOSEN)
            doc_add_string(scenario->arena, list, NULL, facts->scalars[i].name);
}

const char *scenario_held_text(const struct scenario *scenario)
{
    const struct facts *facts = &scenario->facts;
    struct word_list words = { .arena = scenario->arena };
    struct buffer out = { .arena = scenario->arena };
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (facts->scalars[i].origin == ORIGIN_CHOSEN)
            add_fact(&words, &facts->scalars[i]);
    buffer_print(&out, words.count ? "held, unless --choose:" : "");
    for (size_t i = 0; i < words.count; i++)
        buffer_print(&out, " %s", words.at[i]);
    buffer_print(&out, words.count ? "\n" : "");
    return out.data;
}
