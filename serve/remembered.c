/* Answers that were given already: the same question has the same answer, to the bit.
 *
 * A question is its path, its pairs and its body, byte for byte. It has one place, by a hash; the last answer in a place
 * stays, so that the memory is bounded by the number of places and the largest answer that is kept. */
#include "serve/http_server.h"

#include <string.h>

enum { PLACES = 64, LARGEST = 1 << 20 };            /* at most 64 MB */

struct remembered {
    struct kept_answer {
        struct arena arena;
        struct text asked, answer;
    } places[PLACES];
};

struct remembered *remembered_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct remembered));
}

void remembered_free(struct remembered *remembered)
{
    for (size_t i = 0; i < PLACES; i++)
        arena_free(&remembered->places[i].arena);
}

static struct text text_of_question(struct arena *arena, size_t route, const struct request *request)
{
    struct buffer text = { .arena = arena };
    buffer_print(&text, "%zu %d %zu\n", route, request->posted, request->pair_count);
    for (size_t i = 0; i < request->pair_count; i++) {
        buffer_add(&text, request->pairs[i].name, strlen(request->pairs[i].name) + 1);
        buffer_add(&text, request->pairs[i].value, strlen(request->pairs[i].value) + 1);
    }
    if (request->posted && request->body.size)
        buffer_add(&text, request->body.data, request->body.size);
    return (struct text){ text.data, text.size };
}

static uint64_t hash_of(struct text text)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < text.size; i++)
        hash = hash_mix(hash, (unsigned char)text.data[i]);
    return hash;
}

static struct kept_answer *place_of(struct remembered *remembered, struct text asked)
{
    return &remembered->places[hash_of(asked) % PLACES];
}

bool remembered_find(struct remembered *remembered, struct arena *arena, size_t route, const struct request *request,
                     struct text *answer)
{
    const struct text asked = text_of_question(arena, route, request);
    const struct kept_answer *place = place_of(remembered, asked);
    if (!place->asked.size || place->asked.size != asked.size || memcmp(place->asked.data, asked.data, asked.size))
        return false;
    *answer = (struct text){ arena_copy(arena, place->answer.data, place->answer.size), place->answer.size };
    return true;
}

void remembered_keep(struct remembered *remembered, size_t route, const struct request *request, struct text answer)
{
    struct arena arena = { 0 };
    const struct text asked = text_of_question(&arena, route, request);
    struct kept_answer *place = place_of(remembered, asked);
    if (asked.size + answer.size > LARGEST) {
        arena_free(&arena);
        return;
    }
    arena_free(&place->arena);
    *place = (struct kept_answer){ arena, asked, { NULL, answer.size } };
    place->answer.data = arena_copy(&place->arena, answer.data, answer.size);
}
