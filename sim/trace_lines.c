/* JSON lines. Mooncake: timestamp in ms, blocks of 512 tokens. Qwen-Bailian: timestamp in s,
 * blocks of 16, and a chat_id by which it is known. */
#include "sim/trace.h"

#include <jansson.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *path;
    int line;
    struct trace *trace;
    double first, scale;
    size_t block_count, block_room, room[3];
    struct error *error;
};

static bool missing(const struct reader *reader, const char *key)
{
    error_set(reader->error, "%s:%d: no number '%s'", reader->path, reader->line, key);
    return error_hint(reader->error, "timestamp, input_length, output_length and, where it names "
                                     "prefixes, hash_ids");
}

static bool read_blocks(struct reader *reader, const json_t *ids)
{
    struct trace *trace = reader->trace;
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id))
            return missing(reader, "hash_ids");
        *(uint64_t *)arena_push(reader->arena, &trace->blocks, &reader->block_count,
                                &reader->block_room, sizeof(uint64_t)) =
            (uint64_t)json_integer_value(id);
    }
    return true;
}

static bool read_request(struct reader *reader, const json_t *line)
{
    enum { MOONCAKE_BLOCK = 512, QWEN_BLOCK = 16 };
    static const char *const keys[] = { "timestamp", "input_length", "output_length" };
    struct trace *trace = reader->trace;
    double numbers[3];
    for (int i = 0; i < 3; i++) {
        const json_t *number = json_object_get(line, keys[i]);
        if (!json_is_number(number))
            return missing(reader, keys[i]);
        numbers[i] = json_number_value(number);
    }
    bool qwen = json_object_get(line, "chat_id") != NULL;
    size_t row = trace->count, counts[3] = { row, row, row };
    double time = qwen ? numbers[0] : 1e-3 * numbers[0];
    if (!row)
        reader->first = time;
    double *arrival = arena_push(reader->arena, &trace->arrival, &counts[0], &reader->room[0],
                                 sizeof *arrival);
    uint32_t *prompt = arena_push(reader->arena, &trace->prompt, &counts[1], &reader->room[1],
                                  sizeof *prompt);
    uint32_t *output = arena_push(reader->arena, &trace->output, &counts[2], &reader->room[2],
                                  sizeof *output);
    *arrival = (time - reader->first) / reader->scale;
    trace->count++;
    if (json_object_get(line, "hash_ids"))
        trace->block = qwen ? QWEN_BLOCK : MOONCAKE_BLOCK;
    return trace_order(reader->path, reader->line, trace, row, reader->error) &&
           trace_length(reader->path, reader->line, numbers[1], keys[1], prompt, reader->error) &&
           trace_length(reader->path, reader->line, numbers[2], keys[2], output, reader->error) &&
           read_blocks(reader, json_object_get(line, "hash_ids"));
}

static bool read_line(struct reader *reader, struct text text)
{
    json_error_t why;
    json_t *line = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &why);
    bool good;
    if (json_is_object(line)) {
        good = read_request(reader, line);
    } else {
        error_set(reader->error, "%s:%d: no JSON object: %.100s", reader->path, reader->line,
                  line ? "another kind of value" : why.text);
        good = error_hint(reader->error, "a request on each line");
    }
    json_decref(line);
    return good;
}

bool trace_parse_lines(struct arena *arena, const char *path, struct text text, double scale,
                       struct trace *trace, struct error *error)
{
    struct reader reader = { .arena = arena, .path = path, .trace = trace, .scale = scale,
                             .error = error };
    size_t *firsts = NULL, count = 0, room = 0;
    *trace = (struct trace){ 0 };
    while (text.size) {
        struct text line = text_trim(text_line(&text));
        reader.line++;
        if (!line.size)
            continue;
        *(size_t *)arena_push(arena, &firsts, &count, &room, sizeof *firsts) = reader.block_count;
        if (!read_line(&reader, line))
            return false;
    }
    *(size_t *)arena_push(arena, &firsts, &count, &room, sizeof *firsts) = reader.block_count;
    trace->first = firsts;
    return true;
}
