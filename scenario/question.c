/* The words of a command line, or of a request, to a question. */
#include "scenario/scenario.h"

#include <stdio.h>
#include <string.h>

static bool option_unknown(const char *word, struct error *error)
{
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = name_nearest(name, names, OPTION_COUNT);
    error_set(error, "no option is called '%.60s'", word);
    if (near)
        return error_hint(error, "did you mean --%s? `chalkline help` lists them", near);
    return error_hint(error, "`chalkline help` lists them");
}

/* Options that may come often: where a question keeps their words. */
static const struct {
    size_t words, count, room;
} often[OPTION_COUNT] = {
#define OFTEN(words, name) { offsetof(struct question, words), \
                             offsetof(struct question, name##_count), \
                             offsetof(struct question, name##_room) }
    [OPTION_SET] = OFTEN(sets, set),
    [OPTION_ROWS] = OFTEN(rows, rows),
    [OPTION_MEASURED] = OFTEN(measured, measured),
    [OPTION_LANE] = OFTEN(lanes, lane),
    [OPTION_TIER] = OFTEN(tiers, tier),
#undef OFTEN
};

bool option_often(enum option option)
{
    return often[option].words != 0;
}

static void push(struct arena *arena, const char ***list, size_t *count, size_t *room,
                 const char *word)
{
    *(const char **)arena_push(arena, list, count, room, sizeof **list) = word;
}

static bool keep_option(struct arena *arena, struct question *question, enum option option,
                        const char *value, struct error *error)
{
    char *at = (char *)question;
    if (option_often(option)) {
        push(arena, (const char ***)(void *)(at + often[option].words),
             (size_t *)(void *)(at + often[option].count),
             (size_t *)(void *)(at + often[option].room), value);
        return true;
    }
    if (question->option[option]) {
        error_set(error, "--%s is given twice", options[option].name);
        return error_hint(error, "once");
    }
    question->option[option] = value;
    return true;
}

static bool read_option(struct arena *arena, struct question *question, int count, char **words,
                        int *at, struct error *error)
{
    const char *word = words[*at], *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    int option = option_find(word + 2, size);
    if (option < 0)
        return option_unknown(word, error);
    if (!options[option].argument) {
        if (equals) {
            error_set(error, "--%s takes no value", options[option].name);
            return error_hint(error, "--%s alone", options[option].name);
        }
        return keep_option(arena, question, option, "", error);
    }
    if (!equals && *at + 1 >= count) {
        error_set(error, "--%s needs a value", options[option].name);
        return error_hint(error, "--%s %s: %s", options[option].name, options[option].argument,
                          options[option].help);
    }
    return keep_option(arena, question, option, equals ? equals + 1 : words[++*at], error);
}

const struct verb *verb_find(const char *name)
{
    const struct verb *verb = verbs;
    while (verb->name && strcmp(verb->name, name))
        verb++;
    return verb->name ? verb : NULL;
}

static bool is_given(const struct question *question, enum option option)
{
    if (option_often(option))
        return *(const size_t *)(const void *)((const char *)question + often[option].count) > 0;
    return question->option[option] != NULL;
}

/* An option that the verb, or another option, would ignore is a mistake. */
static bool options_fit(const struct question *question, struct error *error)
{
    if (question->option[OPTION_VERSION]) {
        error_set(error, "--version stands alone");
        return error_hint(error, "chalkline --version");
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_given(question, i) && !option_fits(i, question->verb)) {
            error_set(error, "--%s means nothing to '%s'", options[i].name, question->verb);
            return error_hint(error, "it goes with: %s", options[i].verbs);
        }
    if (question->option[OPTION_JSON] && question->option[OPTION_CSV]) {
        error_set(error, "--json and --csv are both given");
        return error_hint(error, "one of the two");
    }
    return true;
}

/* Without a verb: a lone word without --on, or a first word of several, that is nearly a
 * verb was meant as one. */
static bool verb_meant(const struct question *question, struct error *error)
{
    const char *names[64];
    size_t count = 0;
    for (const struct verb *verb = verbs; verb->name && count < 64; verb++)
        names[count++] = verb->name;
    if (!question->word_count || (question->word_count == 1 && question->option[OPTION_ON]))
        return true;
    const char *near = name_nearest(question->words[0], names, count);
    if (!near)
        return true;
    error_set(error, "no verb is called '%.60s'", question->words[0]);
    if (question->word_count > 1)
        return error_hint(error, "did you mean '%s'? `chalkline help` lists them", near);
    return error_hint(error, "did you mean '%s'? A model needs a machine: MODEL --on HARDWARE",
                      near);
}

bool question_read(struct arena *arena, int count, char **words, struct question *question,
                   struct error *error)
{
    bool words_only = false, implied = false;
    for (int i = 1; i < count; i++)
        if (!text_check(text_of(words[i]), "the command line", error))
            return false;
    for (int i = 1; i < count; i++) {
        if (!words_only && !strcmp(words[i], "--"))
            words_only = true;
        else if (!words_only && words[i][0] == '-' && words[i][1] == '-') {
            if (!read_option(arena, question, count, words, &i, error))
                return false;
        } else if (!words_only && words[i][0] == '-' && words[i][1]) {
            error_set(error, "'%.60s' is no option", words[i]);
            return error_hint(error, "options are long: --json, --set NAME=VALUE; "
                              "`chalkline help`");
        } else if (!question->verb && verb_find(words[i])) {
            question->verb = words[i];
        } else {
            implied |= !question->verb;
            if (!question->verb)
                question->verb = "brief";
            push(arena, &question->words, &question->word_count, &question->word_room, words[i]);
        }
    }
    if (!question->verb)
        question->verb = "brief";
    return options_fit(question, error) && (!implied || verb_meant(question, error));
}
