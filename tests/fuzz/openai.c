/* Any bytes as the body of a request to the endpoint: a refusal, or an answer as a whole and as a stream, each read back as
 * JSON. Counted tokens and named blocks agree. */
#include "serve/live/endpoint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 16, FEW = 40 };

static const struct doc *read_back(struct arena *arena, struct text text)
{
    struct error error;
    struct doc *doc;
    const bool reads = json_read(arena, "answer", text, &doc, &error);
    assert(reads && doc->kind == DOC_OBJECT && text_plain(text, "\n") == text.size);
    return doc;
}

/* Chunks in events, one line each, and the last of them; their tokens are those that were asked for. */
static void check_stream(struct arena *arena, struct text text, const struct asked_for *asked, uint32_t wanted)
{
    static const char data[] = "data: ", done[] = "data: [DONE]";
    size_t tokens = 0, events = 0;
    bool ended = false;
    while (text.size) {
        const struct text line = text_line(&text);
        if (!line.size)
            continue;
        assert(!ended && line.size > strlen(data) && !memcmp(line.data, data, strlen(data)));
        ended = line.size == strlen(done) && !memcmp(line.data, done, strlen(done));
        if (ended)
            continue;
        const struct doc *doc = read_back(arena, (struct text){ line.data + strlen(data), line.size - strlen(data) });
        const struct doc *choice = doc_get(doc, "choices")->first, *delta = choice ? doc_get(choice, "delta") : NULL;
        if (choice)
            tokens += strlen(doc_text(delta ? delta : choice, asked->chat ? "content" : "text", "")) / 2;
        events++;
    }
    assert(ended && events && tokens == wanted);
}

static void answer(struct arena *arena, const struct asked_for *asked)
{
    const uint32_t wanted = asked->most && asked->most < FEW ? asked->most : FEW;
    struct answered answered = { .model = "\"m\"", .number = 1, .created = 1, .wanted = wanted, .at = asked->prompt % 2 ? NAN : 1.5,
                                 .cached = (uint32_t)asked->block_count };
    struct buffer stream = { .arena = arena }, whole = { .arena = arena };
    for (uint32_t tokens = 1; tokens < wanted; tokens += 7)
        openai_chunks(&stream, asked, &answered, tokens);
    openai_chunks(&stream, asked, &answered, wanted);
    check_stream(arena, (struct text){ stream.data, stream.size }, asked, wanted);
    openai_whole(&whole, asked, &answered);
    read_back(arena, (struct text){ whole.data, whole.size });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct text body = { (const char *)data, size };
    for (int chat = 0; chat < 2; chat++) {
        struct arena arena = { 0 };
        struct asked_for asked;
        struct endpoint_refusal refusal = { 0 };
        struct buffer text = { .arena = &arena };
        uint32_t tokens;
        if (openai_read(&arena, chat, (const char *const[]){ "m", NULL }, BLOCK, body, &asked, &refusal)) {
            assert(!refusal.status && asked.prompt >= 1 && asked.block_count <= asked.prompt / BLOCK);
            assert(!openai_tokens(&arena, body, &tokens, &refusal) || tokens == asked.prompt || chat);
            answer(&arena, &asked);
        } else {
            assert(refusal.status >= 400 && *refusal.what && refusal.kind);
            openai_refusal(&text, &refusal);
            read_back(&arena, (struct text){ text.data, text.size });
        }
        arena_free(&arena);
    }
    return 0;
}
