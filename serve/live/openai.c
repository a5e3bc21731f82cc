/* The messages of the OpenAI API, as far as a server of one model without a tokenizer can have them.
 *
 * Prompts are counted: an array of token ids has as many tokens as numbers, a text one for every four bytes.
 * What they say only tells which prefixes are equal, for the cache. Members that change only what is said are ignored, as engines ignore them; those
 * that ask for what is not there (several choices, log probabilities, tools) are refused. A token of an
 * answer is " a". */
#include "serve/live/endpoint.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_LIMIT = 100000000 };

bool refuse(struct endpoint_refusal *refusal, int status, const char *kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(refusal->what, sizeof refusal->what, format, list);
    va_end(list);
    refusal->status = status;
    refusal->kind = kind;
    return false;
}

static bool bad(struct endpoint_refusal *refusal, const char *what)
{
    return refuse(refusal, 400, "BadRequestError", "%s", what);
}

uint32_t text_tokens(size_t bytes)
{
    const size_t tokens = (bytes + TOKEN_BYTES - 1) / TOKEN_BYTES;
    return tokens < 1 ? 1 : tokens > LENGTH_LIMIT ? LENGTH_LIMIT : (uint32_t)tokens;
}

/* ---- what is asked ---------------------------------------------------------------------------- */

static bool is_there(const struct doc *doc)
{
    return doc && doc->kind != DOC_NULL && !doc_is(doc, false) &&
           !(doc->kind == DOC_ARRAY && !doc->count);
}

/* A prompt as it is read: its bytes so far, and a name for each prefix of whole blocks (FNV-1a over 64 bits). */
struct prefixes {
    struct arena *arena;
    size_t block;                   /* tokens; 0: not named */
    uint64_t hash, *names;
    size_t bytes, tokens, count, room;
};

static struct prefixes prefixes_of(struct arena *arena, size_t block)
{
    return (struct prefixes){ .arena = arena, .block = block, .hash = HASH_START };
}

static void mix(struct prefixes *prefixes, uint64_t value)
{
    prefixes->hash = hash_mix(prefixes->hash, value);
}

static void end_token(struct prefixes *prefixes)
{
    if (prefixes->block && ++prefixes->tokens % prefixes->block == 0)
        *(uint64_t *)arena_push(prefixes->arena, &prefixes->names, &prefixes->count, &prefixes->room,
                                sizeof *prefixes->names) = prefixes->hash;
}

static void add_text(struct prefixes *prefixes, const char *text)
{
    for (; *text; text++) {
        mix(prefixes, (unsigned char)*text);
        if (++prefixes->bytes % TOKEN_BYTES == 0)
            end_token(prefixes);
    }
}

static void add_content(struct prefixes *prefixes, const struct doc *content)
{
    if (!content)
        return;
    if (content->kind == DOC_STRING)
        add_text(prefixes, content->string);
    for (const struct doc *part = content->first; part; part = part->next) {
        const struct doc *text = doc_get(part, "text");
        if (text && text->kind == DOC_STRING)
            add_text(prefixes, text->string);
    }
}

static bool count_messages(const struct doc *messages, struct prefixes *prefixes, uint32_t *tokens,
                           struct endpoint_refusal *refusal)
{
    if (!messages || messages->kind != DOC_ARRAY || !messages->count)
        return bad(refusal, "messages: an array of messages is needed");
    for (const struct doc *message = messages->first; message; message = message->next) {
        if (message->kind != DOC_OBJECT || !doc_get(message, "role"))
            return bad(refusal, "messages: each needs a role and content");
        add_content(prefixes, doc_get(message, "content"));
    }
    *tokens = text_tokens(prefixes->bytes);
    return true;
}

static bool count_prompt(const struct doc *prompt, struct prefixes *prefixes, uint32_t *tokens,
                         struct endpoint_refusal *refusal)
{
    if (prompt && prompt->kind == DOC_ARRAY && prompt->count == 1 && prompt->first->kind != DOC_NUMBER)
        prompt = prompt->first;                     /* a list of one */
    if (!prompt || (prompt->kind != DOC_STRING && prompt->kind != DOC_ARRAY))
        return bad(refusal, "prompt: a string or an array of token ids is needed");
    if (prompt->kind == DOC_STRING) {
        add_text(prefixes, prompt->string);
        *tokens = text_tokens(prefixes->bytes);
        return true;
    }
    for (const struct doc *id = prompt->first; id; id = id->next) {
        if (id->kind != DOC_NUMBER)
            return bad(refusal, "prompt: several prompts in one request are not supported");
        mix(prefixes, (uint64_t)(int64_t)fmax(fmin(id->number, 1e15), -1e15));
        end_token(prefixes);
    }
    if (!prompt->count || prompt->count > LENGTH_LIMIT)
        return bad(refusal, "prompt: at least one token is needed");
    *tokens = (uint32_t)prompt->count;
    return true;
}

static bool take_most(const struct doc *body, const char *name, uint32_t *most, struct endpoint_refusal *refusal)
{
    const struct doc *number = doc_get(body, name);
    if (!number || number->kind == DOC_NULL)
        return true;
    if (number->kind != DOC_NUMBER || number->number < 1 || number->number > LENGTH_LIMIT ||
        number->number != floor(number->number))
        return refuse(refusal, 400, "BadRequestError", "%s must be a whole number from 1 to %d", name, LENGTH_LIMIT);
    *most = (uint32_t)number->number;
    return true;
}

/* One answer, of text alone. */
static bool is_simple(const struct doc *body, struct endpoint_refusal *refusal)
{
    static const char *const ones[] = { "n", "best_of" },
                      *const absent[] = { "logprobs", "echo", "tools", "suffix" };
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        const struct doc *number = doc_get(body, ones[i]);
        if (number && number->kind == DOC_NUMBER && number->number != 1)
            return refuse(refusal, 400, "BadRequestError", "%s: only 1 is supported", ones[i]);
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (is_there(doc_get(body, absent[i])))
            return refuse(refusal, 400, "BadRequestError", "%s is not supported", absent[i]);
    return true;
}

static bool read_body(struct arena *arena, struct text body, struct doc **doc, struct endpoint_refusal *refusal)
{
    struct error error;
    if (!json_read(arena, "the request", body, doc, &error))
        return refuse(refusal, 400, "BadRequestError", "%.300s", error.what);
    return (*doc)->kind == DOC_OBJECT || bad(refusal, "the request must be a JSON object");
}

static bool read_question(struct arena *arena, const char *const *models, struct text body, struct asked_for *asked,
                          struct prefixes *prefixes, struct endpoint_refusal *refusal)
{
    struct doc *doc;
    if (!read_body(arena, body, &doc, refusal))
        return false;
    const struct doc *name = doc_get(doc, "model"), *options = doc_get(doc, "stream_options");
    while (name && name->kind == DOC_STRING && models[asked->model] && strcmp(name->string, models[asked->model]))
        asked->model++;
    if (!models[asked->model])
        return refuse(refusal, 404, "NotFoundError", "The model `%.100s` does not exist.", name->string);
    asked->stream = doc_is(doc_get(doc, "stream"), true);
    if (options && options->kind == DOC_OBJECT) {
        asked->usage = doc_is(doc_get(options, "include_usage"), true);
        asked->usage_always = doc_is(doc_get(options, "continuous_usage_stats"), true);
    }
    return is_simple(doc, refusal) && take_most(doc, "max_tokens", &asked->most, refusal) &&
           take_most(doc, "max_completion_tokens", &asked->most, refusal) &&
           (asked->chat ? count_messages(doc_get(doc, "messages"), prefixes, &asked->prompt, refusal)
                        : count_prompt(doc_get(doc, "prompt"), prefixes, &asked->prompt, refusal));
}

bool openai_read(struct arena *arena, bool chat, const char *const *models, size_t block, struct text body,
                 struct asked_for *asked, struct endpoint_refusal *refusal)
{
    struct prefixes prefixes = prefixes_of(arena, block);
    struct arena scratch = arena_beside(arena);         /* JSON is many times as large as its text */
    *asked = (struct asked_for){ .chat = chat };
    const bool good = read_question(&scratch, models, body, asked, &prefixes, refusal);
    arena_free(&scratch);
    asked->blocks = prefixes.names;
    asked->block_count = prefixes.count;
    return good;
}

static bool read_tokens(struct arena *arena, struct text body, uint32_t *tokens, struct endpoint_refusal *refusal)
{
    struct doc *doc;
    if (!read_body(arena, body, &doc, refusal))
        return false;
    struct prefixes prefixes = prefixes_of(arena, 0);
    const struct doc *messages = doc_get(doc, "messages"), *prompt = doc_get(doc, "prompt");
    messages = messages && messages->kind != DOC_NULL ? messages : NULL;
    if (messages && prompt && prompt->kind != DOC_NULL)
        return refuse(refusal, 400, "BadRequestError", "messages or prompt, not both");
    return messages ? count_messages(messages, &prefixes, tokens, refusal) : count_prompt(prompt, &prefixes, tokens, refusal);
}

bool openai_tokens(struct arena *arena, struct text body, uint32_t *tokens, struct endpoint_refusal *refusal)
{
    struct arena scratch = arena_beside(arena);
    const bool good = read_tokens(&scratch, body, tokens, refusal);
    arena_free(&scratch);
    return good;
}

/* ---- what is sent ----------------------------------------------------------------------------- */

static void add_head(struct buffer *out, const struct asked_for *asked, const struct answered *answer,
                     bool chunk)
{
    buffer_print(out, "{\"id\":\"%s-%llu\",\"object\":\"%s\",\"created\":%ld,\"model\":%s",
                 asked->chat ? "chatcmpl" : "cmpl", (unsigned long long)answer->number,
                 !asked->chat ? "text_completion" : chunk ? "chat.completion.chunk" : "chat.completion",
                 answer->created, answer->model);
    if (!isnan(answer->at))
        buffer_print(out, ",\"simulated_time\":%.9f", answer->at);
    buffer_print(out, ",\"choices\":[");
}

static void add_usage(struct buffer *out, const struct asked_for *asked, const struct answered *answer, uint32_t tokens)
{
    buffer_print(out, ",\"usage\":{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%u",
                 asked->prompt, tokens, asked->prompt + tokens);
    if (answer->cached)
        buffer_print(out, ",\"prompt_tokens_details\":{\"cached_tokens\":%u}", answer->cached);
    buffer_print(out, "}");
}

static const char *finish_reason(const struct asked_for *asked, bool last)
{
    return !last ? "null" : asked->most ? "\"length\"" : "\"stop\"";
}

static void add_chunk(struct buffer *out, const struct asked_for *asked, const struct answered *answer,
                      const char *role, uint32_t count, uint32_t tokens)
{
    const bool last = tokens == answer->wanted && !role;
    buffer_print(out, "data: ");
    add_head(out, asked, answer, true);
    buffer_print(out, asked->chat ? "{\"index\":0,\"delta\":{" : "{\"index\":0,\"text\":\"");
    if (role)
        buffer_print(out, "\"role\":\"%s\",", role);
    if (asked->chat)
        buffer_print(out, "\"content\":\"");
    while (count--)
        buffer_add(out, " a", 2);
    buffer_print(out, asked->chat ? "\"}" : "\",\"logprobs\":null");
    buffer_print(out, ",\"finish_reason\":%s}]", finish_reason(asked, last));
    if (asked->usage_always)
        add_usage(out, asked, answer, tokens);
    buffer_print(out, "}\n\n");
}

void openai_chunks(struct buffer *out, const struct asked_for *asked, struct answered *answer,
                   uint32_t tokens)
{
    if (asked->chat && !answer->tokens)
        add_chunk(out, asked, answer, "assistant", 0, 0);
    add_chunk(out, asked, answer, NULL, tokens - answer->tokens, tokens);
    answer->tokens = tokens;
    if (tokens < answer->wanted)
        return;
    if (asked->usage) {
        buffer_print(out, "data: ");
        add_head(out, asked, answer, true);
        buffer_print(out, "]");
        add_usage(out, asked, answer, tokens);
        buffer_print(out, "}\n\n");
    }
    buffer_print(out, "data: [DONE]\n\n");
}

void openai_whole(struct buffer *out, const struct asked_for *asked, const struct answered *answer)
{
    add_head(out, asked, answer, false);
    buffer_print(out, asked->chat ? "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\""
                                  : "{\"index\":0,\"text\":\"");
    for (uint32_t i = 0; i < answer->wanted; i++)
        buffer_add(out, " a", 2);
    buffer_print(out, "%s,\"logprobs\":null,\"finish_reason\":%s}]", asked->chat ? "\"}" : "\"",
                 finish_reason(asked, true));
    add_usage(out, asked, answer, answer->wanted);
    buffer_print(out, "}\n");
}

void openai_refusal(struct buffer *out, const struct endpoint_refusal *refusal)
{
    struct arena *arena = out->arena;
    struct doc *doc = doc_new(arena, DOC_OBJECT), *error = doc_add(arena, doc, "error", DOC_OBJECT);
    doc_add_string(arena, error, "message", refusal->what);
    doc_add_string(arena, error, "type", refusal->kind);
    doc_add(arena, error, "param", DOC_NULL);
    doc_add_number(arena, error, "code", refusal->status);
    doc_print(out, doc);
}

void openai_models(struct buffer *out, const char *const *models, long created, size_t length_most)
{
    struct arena *arena = out->arena;
    struct doc *doc = doc_new(arena, DOC_OBJECT), *data;
    doc_add_string(arena, doc, "object", "list");
    data = doc_add(arena, doc, "data", DOC_ARRAY);
    for (const char *const *model = models; *model; model++) {
        struct doc *one = doc_add(arena, data, NULL, DOC_OBJECT);
        doc_add_string(arena, one, "id", *model);
        doc_add_string(arena, one, "object", "model");
        doc_add_number(arena, one, "created", (double)created);
        doc_add_string(arena, one, "owned_by", "chalkline");
        doc_add_string(arena, one, "root", *models);
        doc_add(arena, one, "parent", DOC_NULL);
        if (length_most)
            doc_add_number(arena, one, "max_model_len", (double)length_most);
        doc_add(arena, one, "permission", DOC_ARRAY);
    }
    doc_print(out, doc);
}
