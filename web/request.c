/* A request's members, or its ?name=value, to the words of a command line. Options become
 * --name=VALUE and words stand behind --, so none can be taken for another. */
#include "web/server.h"

#include <stdio.h>
#include <string.h>

const struct outcome_row outcomes[OUTCOME_COUNT] = {
#define OUTCOME(key, status, reason, meaning) { status, reason, meaning },
#include "web/outcome.def"
#undef OUTCOME
};

const struct member_row request_members[MEMBER_COUNT] = {
    [MEMBER_WORDS] = { "words", "what stands beside the options of the command line" },
    [MEMBER_CONFIG] = { "config", "a config.json, which becomes the model" },
    [MEMBER_FILES] = { "files", "files by name, each as text or JSON, for options and words that "
                               "take a FILE" },
};

static const char config_name[] = "config.json";

struct reading {
    struct arena *arena;
    const struct verb *verb;
    char **options, **words;
    size_t option_count, option_room, word_count, word_room;
    struct shelf_file *files;
    size_t file_count, file_room;
    struct error *error;
};

bool request_has(enum option option, const char *verb)
{
    return option != OPTION_HELP && option != OPTION_VERSION && option != OPTION_JSON &&
           option_fits(option, verb);
}

/* ---- values -------------------------------------------------------------------------------- */

/* A string or a number as a word; NULL: neither. */
static char *word_of(struct arena *arena, const struct doc *value)
{
    struct buffer text = { .arena = arena };
    if (value->kind == DOC_STRING)
        return (char *)(uintptr_t)value->string;
    if (value->kind != DOC_NUMBER)
        return NULL;
    doc_print(&text, value);
    text.data[text.size - 1] = 0;                   /* the end of its line */
    return text.data;
}

static void put_option(struct reading *reading, enum option option, const char *value)
{
    *(char **)arena_push(reading->arena, &reading->options, &reading->option_count,
                         &reading->option_room, sizeof *reading->options) =
        options[option].argument
            ? arena_print(reading->arena, "--%s=%s", options[option].name, value)
            : arena_print(reading->arena, "--%s", options[option].name);
}

static void put_word(struct reading *reading, char *word)
{
    *(char **)arena_push(reading->arena, &reading->words, &reading->word_count,
                         &reading->word_room, sizeof *reading->words) = word;
}

static bool wrong_kind(struct reading *reading, const char *name, const char *accepted)
{
    error_set(reading->error, "\"%.60s\" is of the wrong kind", name);
    return error_hint(reading->error, "%s", accepted);
}

static bool read_switch(struct reading *reading, enum option option, const struct doc *value)
{
    static const char *const words[] = { "false", "0", "true", "1", "" };
    size_t at = 0;
    if (value->kind == DOC_BOOL) {
        at = value->boolean ? 2 : 0;
    } else {
        while (at < 5 && (value->kind != DOC_STRING || strcmp(value->string, words[at])))
            at++;
        if (at == 5)
            return wrong_kind(reading, options[option].name, "true or false");
    }
    if (at >= 2)
        put_option(reading, option, "");
    return true;
}

/* {"batch": 64} of an option NAME=VALUE. */
static bool read_named(struct reading *reading, enum option option, const struct doc *object)
{
    for (const struct doc *kid = object->first; kid; kid = kid->next) {
        const char *value = word_of(reading->arena, kid);
        if (!value)
            return wrong_kind(reading, kid->key, "a string or a number");
        put_option(reading, option, arena_print(reading->arena, "%s=%s", kid->key, value));
    }
    return true;
}

static bool read_option(struct reading *reading, enum option option, const struct doc *value)
{
    const struct option_row *row = &options[option];
    const char *word = word_of(reading->arena, value);
    if (value->kind == DOC_NULL)
        return true;
    if (!row->argument)
        return read_switch(reading, option, value);
    if (value->kind == DOC_OBJECT && !strncmp(row->argument, "NAME=", 5))
        return read_named(reading, option, value);
    if (word) {
        put_option(reading, option, word);
        return true;
    }
    if (value->kind != DOC_ARRAY || !option_often(option))
        return wrong_kind(reading, row->name, option_often(option)
                          ? "a string, or an array of strings" : "a string or a number");
    for (const struct doc *kid = value->first; kid; kid = kid->next) {
        word = word_of(reading->arena, kid);
        if (!word)
            return wrong_kind(reading, row->name, "an array of strings");
        put_option(reading, option, word);
    }
    return true;
}

/* ---- members ------------------------------------------------------------------------------- */

static bool read_words(struct reading *reading, const struct doc *value)
{
    char *word = word_of(reading->arena, value);
    if (word)
        put_word(reading, word);
    else if (value->kind != DOC_ARRAY)
        return wrong_kind(reading, request_members[MEMBER_WORDS].name,
                          "a string, or an array of strings");
    for (const struct doc *kid = word ? NULL : value->first; kid; kid = kid->next) {
        word = word_of(reading->arena, kid);
        if (!word)
            return wrong_kind(reading, request_members[MEMBER_WORDS].name, "an array of strings");
        put_word(reading, word);
    }
    return true;
}

/* Text as it is, any other JSON as it prints. */
static bool put_file(struct reading *reading, const char *name, const struct doc *value)
{
    struct text text;
    for (size_t i = 0; i < reading->file_count; i++)
        if (!strcmp(reading->files[i].path, name)) {
            error_set(reading->error, "two files are called '%.200s'", name);
            return error_hint(reading->error, "\"config\" is the file %s", config_name);
        }
    if (value->kind == DOC_STRING) {
        text = text_of(value->string);
    } else if (value->kind == DOC_OBJECT || value->kind == DOC_ARRAY) {
        struct buffer printed = { .arena = reading->arena };
        doc_print(&printed, value);
        text = (struct text){ printed.data, printed.size };
    } else {
        return wrong_kind(reading, name, "a file as a string, an object or an array");
    }
    *(struct shelf_file *)arena_push(reading->arena, &reading->files, &reading->file_count,
                                     &reading->file_room, sizeof *reading->files) =
        (struct shelf_file){ name, text };
    return true;
}

/* It is the model where the verb has one, else the word of a verb that reads files. */
static bool read_config(struct reading *reading, const struct doc *value)
{
    if (!put_file(reading, config_name, value))
        return false;
    if (option_fits(OPTION_MODEL, reading->verb->name)) {
        put_option(reading, OPTION_MODEL, config_name);
    } else if (!strcmp(reading->verb->words, "FILE")) {
        put_word(reading, arena_copy(reading->arena, config_name, strlen(config_name)));
    } else {
        error_set(reading->error, "\"%s\" means nothing to '%s'",
                  request_members[MEMBER_CONFIG].name, reading->verb->name);
        return error_hint(reading->error, "a question that has a model");
    }
    return true;
}

static bool read_files(struct reading *reading, const struct doc *value)
{
    if (value->kind != DOC_OBJECT)
        return wrong_kind(reading, request_members[MEMBER_FILES].name,
                          "an object: {\"name\": \"text\"}");
    for (const struct doc *kid = value->first; kid; kid = kid->next)
        if (!put_file(reading, kid->key, kid))
            return false;
    return true;
}

/* ---- members ------------------------------------------------------------------------------- */

static bool unknown_member(struct reading *reading, const char *name)
{
    const char *names[OPTION_COUNT + MEMBER_COUNT];
    size_t count = 0;
    for (int i = 0; i < MEMBER_COUNT; i++)
        names[count++] = request_members[i].name;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (request_has((enum option)i, reading->verb->name))
            names[count++] = options[i].name;
    const char *near = name_nearest(name, names, count);
    error_set(reading->error, "'%s' has no \"%.60s\"", reading->verb->name, name);
    return error_hint(reading->error, "%s%s%s%s lists what there is", near ? "did you mean \"" : "",
                      near ? near : "", near ? "\"? " : "", route_path(ROUTE_OPENAPI));
}

/* An option that is another verb's is left to question_read, which says whose. */
static bool read_member(struct reading *reading, const char *name, const struct doc *value)
{
    if (!strcmp(name, request_members[MEMBER_WORDS].name))
        return read_words(reading, value);
    if (!strcmp(name, request_members[MEMBER_CONFIG].name))
        return read_config(reading, value);
    if (!strcmp(name, request_members[MEMBER_FILES].name))
        return read_files(reading, value);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(name, options[i].name) &&
            (options[i].verbs || request_has((enum option)i, reading->verb->name)))
            return read_option(reading, (enum option)i, value);
    return unknown_member(reading, name);
}

static bool read_body(struct reading *reading, struct text body)
{
    struct doc *doc;
    if (!json_read(reading->arena, "request", body, &doc, reading->error))
        return false;
    if (doc->kind != DOC_OBJECT) {
        error_set(reading->error, "request: the JSON is no object");
        return error_hint(reading->error, "{\"words\": [...], \"OPTION\": ...}");
    }
    for (const struct doc *kid = doc->first; kid; kid = kid->next)
        if (!read_member(reading, kid->key, kid))
            return false;
    return true;
}

static bool read_pairs(struct reading *reading, const struct request *request)
{
    for (size_t i = 0; i < request->pair_count; i++) {
        struct doc *value = doc_new(reading->arena, DOC_STRING);
        value->string = request->pairs[i].value;
        if (!read_member(reading, request->pairs[i].name, value))
            return false;
    }
    return true;
}

static void put_together(struct reading *reading, struct request_words *out)
{
    size_t count = 0;
    char **words = arena_array(reading->arena,
                               reading->option_count + reading->word_count + 4, sizeof *words);
    words[count++] = (char *)(uintptr_t)"chalkline";
    words[count++] = (char *)(uintptr_t)reading->verb->name;
    for (size_t i = 0; i < reading->option_count; i++)
        words[count++] = reading->options[i];
    words[count++] = (char *)(uintptr_t)"--";
    for (size_t i = 0; i < reading->word_count; i++)
        words[count++] = reading->words[i];
    *out = (struct request_words){ words, (int)count, { reading->files, reading->file_count } };
}

bool request_read(struct arena *arena, const struct request *request,
                  struct request_words *words, struct error *error)
{
    struct reading reading = { .arena = arena, .verb = request->verb, .error = error };
    if (request->posted && request->pair_count) {
        error_set(error, "\"%.60s\" stands in the address of a POST", request->pairs[0].name);
        return error_hint(error, "all of the question in its body, or a GET");
    }
    if (!(request->posted ? read_body(&reading, request->body) : read_pairs(&reading, request)))
        return false;
    put_together(&reading, words);
    return true;
}

enum outcome request_answer(struct arena *arena, const struct request *request,
                            struct buffer *json)
{
    struct error error = { .what = "" };
    struct request_words *words = arena_alloc(arena, sizeof *words);
    arena->shelf = &words->shelf;
    if (request_read(arena, request, words, &error))
        return respond(arena, words->count, words->words, json) ? OUTCOME_ANSWERED : OUTCOME_BAD;
    respond_error(arena, &error, json);
    return OUTCOME_BAD;
}
