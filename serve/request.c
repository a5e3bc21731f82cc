/* Requests to commands: the members of a JSON body, or ?name=value pairs, become options of a
 * verb.
 *
 * A number is in base units or in the option's unit, a string is read as on the command line, true
 * sets a switch, and an object sets rows by name. Files are given as members with their content,
 * since the server reads no path of a client. Unknown members and wrong types are errors that name
 * the member and what it accepts. The same checks run afterwards as for a command line
 * (command.c). */
#include "serve/http_server.h"

#include "catalog/meant.h"

#include <stdio.h>
#include <string.h>

const struct outcome_row outcomes[OUTCOME_COUNT] = {
#define OUTCOME(key, status, reason, meaning) { status, reason, meaning },
#include "serve/outcome.def"
#undef OUTCOME
};

const struct member_row request_members[MEMBER_COUNT] = {
    [MEMBER_WORDS] = { "words", "what stands beside the options of the command line" },
    [MEMBER_CONFIG] = { "config", "a config.json, which becomes the model" },
    [MEMBER_FILES] = { "files", "files by name, each as text or JSON, for options and words that "
                               "take a FILE" },
};

static const char config_name[] = "config.json";

struct request_reader {
    struct arena *arena;
    struct command *command;
    struct shelf_file *files;
    size_t file_count, file_room;
    struct error *error;
};

bool request_has(const struct option *option)
{
    return strcmp(option->name, "help") && strcmp(option->name, "version") &&
           strcmp(option->name, "json");
}

/* ---- values -------------------------------------------------------------------------------- */

/* A string or a number as a word; NULL: neither. */
static const char *word_of(struct arena *arena, const struct doc *value)
{
    struct buffer text = { .arena = arena };
    if (value->kind == DOC_STRING)
        return value->string;
    if (value->kind != DOC_NUMBER)
        return NULL;
    doc_print(&text, value);
    text.data[text.size - 1] = 0;                   /* the end of its line */
    return text.data;
}

static bool put_option(struct request_reader *reading, const struct option *option,
                       const struct doc *value)
{
    const char *word = word_of(reading->arena, value);
    return text_check(text_of(word), option->name, reading->error) &&
           command_put(reading->arena, reading->command, option, word, reading->error);
}

static bool put_word(struct request_reader *reading, const char *word)
{
    if (!text_check(text_of(word), "words", reading->error))
        return false;
    command_put_word(reading->arena, reading->command, word);
    return true;
}

static bool wrong_kind(struct request_reader *reading, const char *name, const char *accepted)
{
    error_set(reading->error, "\"%.60s\" is of the wrong kind", name);
    return error_expected(reading->error, "%s", accepted);
}

static bool read_switch(struct request_reader *reading, const struct option *option,
                        const struct doc *value)
{
    static const char *const words[] = { "false", "0", "true", "1", "" };
    size_t at = 0;
    if (value->kind == DOC_BOOL) {
        at = value->boolean ? 2 : 0;
    } else {
        at = value->kind == DOC_STRING ? name_index(words, 5, value->string) : 5;
        if (at == 5)
            return wrong_kind(reading, option->name, "true or false");
    }
    return at < 2 || command_put(reading->arena, reading->command, option, "", reading->error);
}

/* NAME=VALUE: takes {"batch": 64} too. */
static bool takes_object(const struct option *option)
{
    return option->argument && !strncmp(option->argument, "NAME=", 5);
}

static bool read_named(struct request_reader *reading, const struct option *option,
                       const struct doc *object)
{
    for (const struct doc *kid = object->first; kid; kid = kid->next) {
        const char *value = word_of(reading->arena, kid);
        if (!value)
            return wrong_kind(reading, kid->key, "a string or a number");
        const char *text = arena_print(reading->arena, "%s=%s", kid->key, value);
        if (!text_check(text_of(text), option->name, reading->error) ||
            !command_put(reading->arena, reading->command, option, text, reading->error))
            return false;
    }
    return true;
}

static bool read_option(struct request_reader *reading, const struct option *option,
                        const struct doc *value)
{
    if (value->kind == DOC_NULL)
        return true;
    if (option->kind == OPTION_SWITCH)
        return read_switch(reading, option, value);
    if (value->kind == DOC_OBJECT && takes_object(option))
        return read_named(reading, option, value);
    if (value->kind == DOC_STRING || value->kind == DOC_NUMBER)
        return put_option(reading, option, value);
    if (value->kind != DOC_ARRAY || !option->many)
        return wrong_kind(reading, option->name, option->many
                          ? "a string, or an array of strings" : "a string or a number");
    for (const struct doc *kid = value->first; kid; kid = kid->next) {
        if (!word_of(reading->arena, kid))
            return wrong_kind(reading, option->name, "an array of strings");
        if (!put_option(reading, option, kid))
            return false;
    }
    return true;
}

/* ---- members ------------------------------------------------------------------------------- */

static bool read_words(struct request_reader *reading, const struct doc *value)
{
    const char *word = word_of(reading->arena, value);
    if (word)
        return put_word(reading, word);
    if (value->kind != DOC_ARRAY)
        return wrong_kind(reading, request_members[MEMBER_WORDS].name,
                          "a string, or an array of strings");
    for (const struct doc *kid = value->first; kid; kid = kid->next) {
        word = word_of(reading->arena, kid);
        if (!word)
            return wrong_kind(reading, request_members[MEMBER_WORDS].name, "an array of strings");
        if (!put_word(reading, word))
            return false;
    }
    return true;
}

/* Text as it is, any other JSON as it prints. */
static bool put_file(struct request_reader *reading, const char *name, const struct doc *value)
{
    struct text text;
    for (size_t i = 0; i < reading->file_count; i++)
        if (!strcmp(reading->files[i].path, name)) {
            error_set(reading->error, "two files are called '%.200s'", name);
            return error_expected(reading->error, "\"config\" is the file %s", config_name);
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
static bool read_config(struct request_reader *reading, const struct doc *value)
{
    if (!put_file(reading, config_name, value))
        return false;
    const struct verb *verb = reading->command->verb;
    const struct option *model = verb_option(verb, "model");
    if (model)
        return command_put(reading->arena, reading->command, model, config_name, reading->error);
    if (!strcmp(verb->words, "FILE"))
        return put_word(reading, config_name);
    error_set(reading->error, "'%s' has no \"%s\"", verb->name,
              request_members[MEMBER_CONFIG].name);
    return error_expected(reading->error, "a question that has a model");
}

static bool read_files(struct request_reader *reading, const struct doc *value)
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

static bool unknown_member(struct request_reader *reading, const char *name)
{
    const struct verb *verb = reading->command->verb;
    const char **names = NULL;
    size_t count = 0, room = 0;
    const struct option *option;
    for (int i = 0; i < MEMBER_COUNT; i++)
        *(const char **)arena_push(reading->arena, &names, &count, &room, sizeof *names) =
            request_members[i].name;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        if (request_has(option))
            *(const char **)arena_push(reading->arena, &names, &count, &room, sizeof *names) =
                option->name;
    char meant[64];
    const char *called = verb_option_meant(verb, name, request_has, meant), *hint = verb_option_hint(verb, name, request_has);
    const char *near = called || meant_row("option", name) >= 0 ? called : name_nearest(name, names, count);
    const char *others = verbs_with(reading->arena, verbs, name);
    error_set(reading->error, "'%s' has no \"%.60s\"", verb->name, name);
    if (*others && !called)
        return error_suggest(reading->error, "it is an option of: %s%s%s", others, *hint ? "; " : "", hint);
    return error_suggest(reading->error, "%s%s%s%s%s%s lists the members", near ? "did you mean \"" : "", near ? near : "",
                         near ? "\"? " : "", hint, *hint ? "; " : "", route_path(ROUTE_OPENAPI));
}

static bool read_member(struct request_reader *reading, const char *name, const struct doc *value)
{
    if (!strcmp(name, request_members[MEMBER_WORDS].name))
        return read_words(reading, value);
    if (!strcmp(name, request_members[MEMBER_CONFIG].name))
        return read_config(reading, value);
    if (!strcmp(name, request_members[MEMBER_FILES].name))
        return read_files(reading, value);
    const struct option *option = verb_option(reading->command->verb, name);
    return option && request_has(option) ? read_option(reading, option, value)
                                         : unknown_member(reading, name);
}

static bool read_body(struct request_reader *reading, struct text body)
{
    struct doc *doc;
    if (!json_read(reading->arena, "request", body, &doc, reading->error))
        return false;
    if (doc->kind != DOC_OBJECT) {
        error_set(reading->error, "request: the JSON is not an object");
        return error_expected(reading->error, "{\"words\": [...], \"OPTION\": ...}");
    }
    for (const struct doc *kid = doc->first; kid; kid = kid->next)
        if (!read_member(reading, kid->key, kid))
            return false;
    return true;
}

static bool read_pairs(struct request_reader *reading, const struct request *request)
{
    for (size_t i = 0; i < request->pair_count; i++) {
        struct doc *value = doc_new(reading->arena, DOC_STRING);
        value->string = request->pairs[i].value;
        if (!read_member(reading, request->pairs[i].name, value))
            return false;
    }
    return true;
}

bool request_read(struct arena *arena, const struct request *request,
                  struct request_command *asked, struct error *error)
{
    struct request_reader reading = { .arena = arena, .command = &asked->command, .error = error };
    asked->command = (struct command){ .verb = request->verb, .verbs = verbs };
    if (request->posted && request->pair_count) {
        error_set(error, "\"%.60s\" stands in the address of a POST", request->pairs[0].name);
        return error_expected(error, "all of the question in its body, or a GET");
    }
    if (!(request->posted ? read_body(&reading, request->body) : read_pairs(&reading, request)))
        return false;
    asked->shelf = (struct shelf){ reading.files, reading.file_count };
    return command_complete(&asked->command, error);
}

enum outcome request_answer(struct arena *arena, const struct request *request,
                            struct buffer *json)
{
    struct error error = { .what = "" };
    struct request_command *asked = arena_alloc(arena, sizeof *asked);
    arena->shelf = &asked->shelf;
    if (request_read(arena, request, asked, &error))
        return respond_command(arena, &asked->command, json) ? OUTCOME_ANSWERED : OUTCOME_BAD;
    respond_error(arena, &error, json);
    return OUTCOME_BAD;
}
