/* The OpenAPI description of the HTTP interface, generated from what the server itself is made of.
 *
 * Paths are the verbs, parameters and members are their options with unit, range and default,
 * responses are the rows of outcome.def, and the schema of an answer comes from its record
 * (schema.c). Options of one name that verbs declare differently have schemas of their own
 * ("gpus", "plan.gpus"). Nothing is written here by hand, so that the description cannot disagree
 * with the server. */
#include "serve/http_server.h"

#include <math.h>
#include <string.h>

static struct doc *add_object(struct arena *arena, struct doc *parent, const char *key)
{
    return doc_add(arena, parent, key, DOC_OBJECT);
}

static void add_reference(struct arena *arena, struct doc *parent, const char *key,
                          const char *kind, const char *name)
{
    doc_add_string(arena, add_object(arena, parent, key), "$ref",
                   arena_print(arena, "#/components/%s/%s", kind, name));
}

static void add_words(struct arena *arena, struct doc *parent, const char *key,
                      const char *const *words, size_t count)
{
    struct doc *list = doc_add(arena, parent, key, DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        doc_add_string(arena, list, NULL, words[i]);
}

/* ---- schemas ------------------------------------------------------------------------------- */

static const char *const word_kinds[] = { "string", "number", "array", "object" };

/* Options of one name that verbs declare apart have schemas apart: "gpus", "plan.gpus". */
static const char *schema_name(struct arena *arena, const struct option *option)
{
    const struct verb *owner = NULL;
    bool shared = true;
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        const struct option *here = verb_option(*verb, option->name);
        owner = !owner && here == option ? *verb : owner;
        shared = shared && (!here || here == option);
    }
    return shared ? option->name : arena_print(arena, "%s.%s", owner->name, option->name);
}

static void add_bounds(struct arena *arena, struct doc *one, double low, double high, double value)
{
    if (isfinite(low) && low > -1e300)
        doc_add_number(arena, one, "minimum", low);
    if (isfinite(high) && high > 0 && high < 1e300)
        doc_add_number(arena, one, "maximum", high);
    if (isfinite(value))
        doc_add_number(arena, one, "default", value);
}

/* Numbers are in the unit of a bare number on the command line; strings may carry another. */
static void add_number_schema(struct arena *arena, struct doc *one, const struct formulas *formulas,
                              const struct option *option)
{
    const int index = option->row ? formulas_find(formulas, option->row) : -1;
    const struct row *row = index < 0 ? NULL : formulas_row(formulas, index);
    const char *kinds[2] = { option->kind == OPTION_COUNT ? "integer" : "number", "string" };
    add_words(arena, one, "type", kinds, 2);
    doc_add_string(arena, one, "x-unit", option->bare ? option->bare : row ? row_unit_text(row)
                   : option->kind == OPTION_QUANTITY ? option->unit : "1");
    double scale = 1;
    if (option->bare)
        unit_scale(option->bare, &scale);
    if (row)
        doc_add_string(arena, one, "x-row", row_name(row));
    struct quantity meant;
    struct error ignored;
    if (option->plausible && quantity_parse(text_of(option->plausible), option_unit(option), &meant, &ignored))
        add_bounds(arena, one, meant.low / scale, meant.high / scale, NAN);
    else if (!row)
        add_bounds(arena, one, option->low / scale, option->high / scale, option_default(option) / scale);
    else if (row->input)
        add_bounds(arena, one, row->low / scale, row->high / scale,
                   option->otherwise || row_expr(row) ? NAN : row->value / scale);
}

/* What request_read takes for it: a switch, a number, a word, {"NAME": VALUE}, several. */
static void add_option_schema(struct arena *arena, struct doc *schemas, const struct formulas *formulas,
                              const struct option *option)
{
    struct doc *one = add_object(arena, schemas, schema_name(arena, option));
    doc_add_string(arena, one, "title", option->argument ? option->argument : "a switch");
    doc_add_string(arena, one, "description", option->otherwise
                   ? arena_print(arena, "%s (default: %s)", option->help, option->otherwise)
                   : option->help);
    if (option->kind == OPTION_SWITCH) {
        doc_add_string(arena, one, "type", "boolean");
    } else if (option->kind == OPTION_CHOICE) {
        size_t count = 0;
        while (option->choices[count])
            count++;
        doc_add_string(arena, one, "type", "string");
        add_words(arena, one, "enum", option->choices, count);
        if (option->fallback)
            doc_add_string(arena, one, "default", option->fallback);
    } else if (option->kind == OPTION_TEXT || option->kind == OPTION_FILE) {
        const char *kinds[4] = { word_kinds[0], word_kinds[1] };
        size_t count = 2;
        const bool named = !strncmp(option->argument, "NAME=", 5);
        if (option->many)
            kinds[count++] = word_kinds[2];
        if (named)
            kinds[count++] = word_kinds[3];
        add_words(arena, one, "type", kinds, count);
        if (option->many)
            add_words(arena, add_object(arena, one, "items"), "type", word_kinds, 2);
        if (named)
            add_words(arena, add_object(arena, one, "additionalProperties"), "type", word_kinds, 2);
    } else {
        add_number_schema(arena, one, formulas, option);
    }
}

static void add_member_schemas(struct arena *arena, struct doc *schemas)
{
    static const char *const file_kinds[] = { "object", "string", "array" };
    static const struct {
        const char *const *kinds;
        size_t count;
        const char *inside;         /* of which each part is a word, or a file */
        const char *const *parts;
        size_t part_count;
    } rows[MEMBER_COUNT] = {
        [MEMBER_WORDS] = { word_kinds, 3, "items", word_kinds, 2 },
        [MEMBER_CONFIG] = { file_kinds, 2, NULL, NULL, 0 },
        [MEMBER_FILES] = { file_kinds, 1, "additionalProperties", file_kinds, 3 },
    };
    for (int i = 0; i < MEMBER_COUNT; i++) {
        struct doc *one = add_object(arena, schemas, request_members[i].name);
        doc_add_string(arena, one, "description", request_members[i].help);
        add_words(arena, one, "type", rows[i].kinds, rows[i].count);
        if (rows[i].inside)
            add_words(arena, add_object(arena, one, rows[i].inside), "type", rows[i].parts,
                      rows[i].part_count);
    }
}

static void add_typed(struct arena *arena, struct doc *properties, const char *name,
                      const char *type, const char *help)
{
    struct doc *one = add_object(arena, properties, name);
    doc_add_string(arena, one, "type", type);
    doc_add_string(arena, one, "description", help);
}

/* What `--on A,B` answers: each machine's answer, or its error. */
static const char *add_by_machine(struct arena *arena, struct doc *schemas, const struct record *record)
{
    const char *name = arena_print(arena, "%sByMachine", record->name);
    struct doc *one = add_object(arena, schemas, name);
    doc_add_string(arena, one, "type", "object");
    add_words(arena, one, "required", (const char *const[]){ "by_machine" }, 1);
    struct doc *properties = add_object(arena, one, "properties");
    add_typed(arena, properties, "by_machine", "object", "of several machines: the answer for each name, or its error");
    struct doc *either = doc_add(arena, add_object(arena, properties->last, "additionalProperties"), "anyOf", DOC_ARRAY);
    add_reference(arena, either, NULL, "schemas", record->name);
    add_reference(arena, either, NULL, "schemas", "Error");
    return name;
}

/* What comes back with an answer; `record` NULL: an answer whose keys are not declared. `several`: machines may be asked. */
static void add_answer_schema(struct arena *arena, struct doc *schemas, const char *name,
                              const struct record *record, bool several)
{
    static const char *const always[] = { "status", "answer", "text" };
    struct doc *one = add_object(arena, schemas, name);
    doc_add_string(arena, one, "type", "object");
    add_words(arena, one, "required", always, 3);
    struct doc *properties = add_object(arena, one, "properties");
    add_typed(arena, properties, "status", "integer", "0: an answer; 1: nothing is feasible");
    if (record && several) {
        struct doc *either = doc_add(arena, add_object(arena, properties, "answer"), "anyOf", DOC_ARRAY);
        add_reference(arena, either, NULL, "schemas", record->name);
        add_reference(arena, either, NULL, "schemas", add_by_machine(arena, schemas, record));
    } else if (record) {
        add_reference(arena, properties, "answer", "schemas", record->name);
    } else {
        add_typed(arena, properties, "answer", "object",
                  "the answer of the command line with --json");
        doc_add_bool(arena, properties->last, "additionalProperties", true);
    }
    add_typed(arena, properties, "text", "string", "the text that the command line prints");
    add_typed(arena, properties, "csv", "string", "the table that --csv prints, if the answer has one");
}

/* "StepAnswer"; names of options have no capitals. */
static const char *answer_name(struct arena *arena, const struct verb *verb)
{
    const struct record *record = verb->answers;
    return record ? arena_print(arena, "%sAnswer", record->name) : "Answer";
}

static void add_answer_schemas(struct arena *arena, struct doc *schemas, const struct formulas *formulas)
{
    static const char *const error_always[] = { "what", "hint" };
    struct doc *properties;
    add_answer_schema(arena, schemas, "Answer", NULL, false);
    for (size_t i = ROUTE_VERBS; i < route_count(); i++) {
        const struct record *record = route_verb(i)->answers;
        if (!record)
            continue;
        schema_add(arena, schemas, formulas, record);
        add_answer_schema(arena, schemas, answer_name(arena, route_verb(i)), record,
                          !route_verb(i)->own_on && verb_option(route_verb(i), "on"));
    }
    struct doc *error = add_object(arena, schemas, "Error");
    doc_add_string(arena, error, "type", "object");
    add_words(arena, error, "required", (const char *const[]){ "error" }, 1);
    struct doc *said = add_object(arena, add_object(arena, error, "properties"), "error");
    doc_add_string(arena, said, "type", "object");
    add_words(arena, said, "required", error_always, 2);
    properties = add_object(arena, said, "properties");
    add_typed(arena, properties, "what", "string", "where it was read, and what is wrong with it");
    add_typed(arena, properties, "hint", "string", "what would have been accepted, or another hint");
    add_typed(arena, properties, "expected", "string", "what would have been accepted; left out "
              "where only a hint is known");
    struct doc *similar = add_object(arena, properties, "similar");
    doc_add_string(arena, similar, "type", "array");
    doc_add_string(arena, similar, "description", "known names that are close to an unknown one");
    doc_add_string(arena, add_object(arena, similar, "items"), "type", "string");
}

/* ---- paths --------------------------------------------------------------------------------- */

static void add_parameter(struct arena *arena, struct doc *parameters, const char *name,
                          const char *schema)
{
    struct doc *one = add_object(arena, parameters, schema);
    doc_add_string(arena, one, "name", name);
    doc_add_string(arena, one, "in", "query");
    add_reference(arena, one, "schema", "schemas", schema);
}

static void add_content(struct arena *arena, struct doc *parent, const char *type,
                        const char *schema)
{
    struct doc *content = add_object(arena, add_object(arena, parent, "content"), type);
    if (schema)
        add_reference(arena, content, "schema", "schemas", schema);
}

/* Of a question: how it may end after it has been found. */
static bool ends_question(enum outcome outcome)
{
    return outcome != OUTCOME_UNCHANGED && outcome != OUTCOME_NOWHERE && outcome != OUTCOME_GONE;
}

static void add_responses(struct arena *arena, struct doc *operation, const struct verb *verb)
{
    struct doc *responses = add_object(arena, operation, "responses");
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (ends_question((enum outcome)i))
            add_reference(arena, responses, arena_print(arena, "%d", outcomes[i].status),
                          "responses", i == OUTCOME_ANSWERED && verb->answers
                          ? answer_name(arena, verb) : outcomes[i].reason);
}

static void add_response(struct arena *arena, struct doc *responses, const char *name,
                         const char *meaning, const char *schema)
{
    struct doc *one = add_object(arena, responses, name);
    doc_add_string(arena, one, "description", meaning);
    add_content(arena, one, "application/json", schema);
}

static void add_response_rows(struct arena *arena, struct doc *components)
{
    struct doc *responses = add_object(arena, components, "responses");
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (ends_question((enum outcome)i))
            add_response(arena, responses, outcomes[i].reason, outcomes[i].meaning,
                         i == OUTCOME_ANSWERED ? "Answer" : "Error");
    for (size_t i = ROUTE_VERBS; i < route_count(); i++)
        if (route_verb(i)->answers) {
            const char *name = answer_name(arena, route_verb(i));
            add_response(arena, responses, name, outcomes[OUTCOME_ANSWERED].meaning, name);
        }
}

static struct doc *add_operation(struct arena *arena, struct doc *path, const char *method,
                                 const struct verb *verb)
{
    struct doc *operation = add_object(arena, path, method);
    doc_add_string(arena, operation, "operationId", arena_print(arena, "%s_%s", method,
                                                                verb->name));
    doc_add_string(arena, operation, "summary", verb->summary);
    doc_add_string(arena, operation, "description",
                   arena_print(arena, "words: %s. On the command line: %s", verb->words,
                               verb->examples[0]));
    return operation;
}

static void add_get(struct arena *arena, struct doc *path, const struct verb *verb)
{
    struct doc *operation = add_operation(arena, path, "get", verb);
    struct doc *parameters = doc_add(arena, operation, "parameters", DOC_ARRAY);
    add_reference(arena, parameters, NULL, "parameters", request_members[MEMBER_WORDS].name);
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        if (request_has(option))
            add_reference(arena, parameters, NULL, "parameters", schema_name(arena, option));
    add_responses(arena, operation, verb);
}

static void add_post(struct arena *arena, struct doc *path, const struct verb *verb)
{
    struct doc *operation = add_operation(arena, path, "post", verb);
    struct doc *body = add_object(arena, operation, "requestBody");
    doc_add_bool(arena, body, "required", true);
    struct doc *content = add_object(arena, add_object(arena, body, "content"),
                                     "application/json");
    struct doc *schema = add_object(arena, content, "schema");
    doc_add_string(arena, schema, "type", "object");
    struct doc *properties = add_object(arena, schema, "properties");
    for (int i = 0; i < MEMBER_COUNT; i++)
        add_reference(arena, properties, request_members[i].name, "schemas",
                      request_members[i].name);
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        if (request_has(option))
            add_reference(arena, properties, option->name, "schemas", schema_name(arena, option));
    doc_add_bool(arena, schema, "additionalProperties", false);
    add_responses(arena, operation, verb);
}

static void add_plain(struct arena *arena, struct doc *paths, enum route route, const char *id,
                      const char *summary, const char *type)
{
    struct doc *operation = add_object(arena, add_object(arena, paths, route_path(route)), "get");
    doc_add_string(arena, operation, "operationId", id);
    doc_add_string(arena, operation, "summary", summary);
    struct doc *good = add_object(arena, add_object(arena, operation, "responses"), "200");
    doc_add_string(arena, good, "description", summary);
    add_content(arena, good, type, NULL);
}

static void add_paths(struct arena *arena, struct doc *doc)
{
    struct doc *paths = add_object(arena, doc, "paths");
    add_plain(arena, paths, ROUTE_PAGE, "page", "the page", "text/html");
    add_plain(arena, paths, ROUTE_OPENAPI, "openapi", "this description", "application/json");
    add_plain(arena, paths, ROUTE_METRICS, "metrics", "counts and times, for Prometheus",
              "text/plain");
    for (size_t i = ROUTE_VERBS; i < route_count(); i++) {
        struct doc *path = add_object(arena, paths, route_path(i));
        add_get(arena, path, route_verb(i));
        add_post(arena, path, route_verb(i));
    }
}

static void add_components(struct arena *arena, struct doc *doc, const struct formulas *formulas)
{
    struct doc *components = add_object(arena, doc, "components");
    struct doc *schemas = add_object(arena, components, "schemas");
    struct doc *parameters = add_object(arena, components, "parameters");
    add_answer_schemas(arena, schemas, formulas);
    add_member_schemas(arena, schemas);
    const char *words = request_members[MEMBER_WORDS].name;
    add_parameter(arena, parameters, words, words);
    for (size_t i = ROUTE_VERBS; i < route_count(); i++) {
        const struct option *option;
        for (struct option_at at = { 0 }; (option = verb_next_option(route_verb(i), &at));) {
            const char *schema = schema_name(arena, option);
            if (!request_has(option) || doc_get(schemas, schema))
                continue;
            add_option_schema(arena, schemas, formulas, option);
            add_parameter(arena, parameters, option->name, schema);
        }
    }
    add_response_rows(arena, components);
}

void openapi_print(struct arena *arena, struct buffer *json)
{
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    doc_add_string(arena, doc, "openapi", "3.1.0");
    struct doc *info = add_object(arena, doc, "info");
    doc_add_string(arena, info, "title", "chalkline");
    doc_add_string(arena, info, "version", CHALKLINE_VERSION);
    doc_add_string(arena, info, "description",
                   "Speed, memory, concurrency and cost of large language models on "
                   "real machines. Values carry units: 20ms, 8TB/s; ranges 1..2; distributions.");
    struct doc *license = add_object(arena, info, "license");
    doc_add_string(arena, license, "name", "Apache-2.0");
    doc_add_string(arena, license, "identifier", "Apache-2.0");
    add_paths(arena, doc);
    add_components(arena, doc, formulas_built_in(FORMULAS_ALL));
    doc_print(json, doc);
}
