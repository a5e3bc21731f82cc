/* Any bytes as a request: a command or an error that says what it read. What is read asks for the
 * verb of its route, with options of that verb and numbers within their bounds. Light verbs answer too:
 * in JSON that reads back, touching no file but the request's own. */
#include "serve/http_server.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* name=value&name=value, as libmicrohttpd hands them over. */
static void read_query(struct arena *arena, struct text text, struct request *request)
{
    for (const char *at = arena_copy(arena, text.data, text.size); *at;) {
        size_t size = strcspn(at, "&"), name = strcspn(at, "=&");
        const char *value = name < size ? arena_copy(arena, at + name + 1, size - name - 1) : "";
        *(struct request_pair *)arena_push(arena, &request->pairs, &request->pair_count,
                                   &request->pair_room, sizeof *request->pairs) =
            (struct request_pair){ arena_copy(arena, at, name), value };
        at += size + (at[size] == '&');
    }
}

static void check_command(const struct request *request, const struct command *command)
{
    assert(command->verb == request->verb);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        const bool number = value->option->kind == OPTION_COUNT ||
                            value->option->kind == OPTION_QUANTITY;
        assert(verb_option(command->verb, value->option->name) == value->option);
        assert(request_has(value->option));
        assert(!number || (isfinite(value->quantity.value) &&
                           value->quantity.value >= value->option->low));
    }
}

static bool is_light(const struct verb *verb)
{
    return !strcmp(verb->name, "import") || !strcmp(verb->name, "list");
}

static void check_answer(struct arena *arena, const struct request *request)
{
    struct buffer json = { .arena = arena };
    struct doc *doc;
    struct error error;
    enum outcome outcome = request_answer(arena, request, &json);
    bool reads = json_read(arena, "answer", (struct text){ json.data, json.size }, &doc, &error);
    assert(reads && arena->shelf);
    assert(!reads || !doc_get(doc, "error") == (outcome == OUTCOME_ANSWERED));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { 0 };
    struct error error = { .what = "" };
    struct request_command asked;
    struct request request = { .posted = true };
    if (size < 2)
        return 0;
    size_t route = ROUTE_VERBS + data[0] % (route_count() - ROUTE_VERBS);
    struct text text = { (const char *)data + 2, size - 2 };
    request.verb = route_verb(route);
    request.posted = data[1] & 1;
    if (request.posted)
        request.body = text;
    else
        read_query(&arena, text, &request);
    if (request_read(&arena, &request, &asked, &error))
        check_command(&request, &asked.command);
    else
        assert(*error.what);
    if (is_light(request.verb))
        check_answer(&arena, &request);
    arena_free(&arena);
    return 0;
}
