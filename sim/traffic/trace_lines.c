/* JSON lines. Mooncake: timestamp in ms, blocks of 512 tokens. Qwen-Bailian: timestamp in s,
 * blocks of 16, and a chat_id by which it is known; parent_chat_id is the turn before, -1 for
 * none. A parent that is not above it was asked before the file begins. */
#include "sim/traffic/trace_read.h"

#include <math.h>

struct trace_lines_reader {
    struct arena *arena;
    const char *path;
    int line;
    struct trace *trace;
    bool qwen;                      /* as its first line */
    bool later;                     /* some request has a turn before */
    double first;                   /* s */
    size_t block_count, block_room, room[5];
    struct trace_turns turns;
    struct error *error;
};

static bool missing(const struct trace_lines_reader *reader, const char *key)
{
    error_set(reader->error, "%s:%d: no number '%s'", reader->path, reader->line, key);
    return error_expected(reader->error, "timestamp, input_length, output_length and, where it names "
                                         "prefixes, hash_ids");
}

static bool no_blocks(const struct trace_lines_reader *reader)
{
    error_set(reader->error, "%s:%d: invalid block names in 'hash_ids'", reader->path, reader->line);
    return error_expected(reader->error, "a list of whole numbers: [46, 47, 48]");
}

/* JSON numbers are doubles here: beyond 2^53 two ids would read as one. */
static bool whole(const struct doc *number, int64_t *value)
{
    static const double most = 9007199254740992;
    if (number->kind != DOC_NUMBER || number->number != floor(number->number) ||
        fabs(number->number) > most)
        return false;
    *value = (int64_t)number->number;
    return true;
}

static bool read_blocks(struct trace_lines_reader *reader, const struct doc *ids)
{
    struct trace *trace = reader->trace;
    if (ids && ids->kind != DOC_ARRAY)
        return no_blocks(reader);
    for (const struct doc *id = ids ? ids->first : NULL; id; id = id->next) {
        int64_t number;
        if (!whole(id, &number))
            return no_blocks(reader);
        *(uint64_t *)arena_push(reader->arena, &trace->blocks, &reader->block_count,
                                &reader->block_room, sizeof(uint64_t)) = (uint64_t)number;
    }
    return true;
}

/* Whole, or absent: then the usual one. */
static bool read_id(struct trace_lines_reader *reader, const struct doc *line, const char *key, int64_t *id)
{
    const struct doc *number = doc_get(line, key);
    if (number && !whole(number, id)) {
        error_set(reader->error, "%s:%d: '%s' is not a whole number", reader->path, reader->line, key);
        return error_expected(reader->error, "chat_id: 159, parent_chat_id: 55, or -1 for none");
    }
    return true;
}

/* Its turn before, if any, and its own name for later turns. */
static bool read_turn(struct trace_lines_reader *reader, const struct doc *line, size_t row)
{
    struct trace *trace = reader->trace;
    int64_t chat = -1, parent = -1;
    size_t counts[2] = { row, row };
    uint32_t *before = arena_push(reader->arena, &trace->before, &counts[0], &reader->room[3],
                                  sizeof *before);
    double *wait = arena_push(reader->arena, &trace->wait, &counts[1], &reader->room[4],
                              sizeof *wait);
    *wait = NAN;
    if (!read_id(reader, line, "chat_id", &chat) ||
        !read_id(reader, line, "parent_chat_id", &parent))
        return false;
    *before = parent < 0 ? UINT32_MAX
                         : trace_turns_find(&reader->turns, (uint64_t)parent, NULL);
    trace_turns_put(reader->arena, &reader->turns, (uint64_t)chat, NULL, (uint32_t)row);
    reader->later |= *before != UINT32_MAX;
    return true;
}

static bool read_kind(struct trace_lines_reader *reader, bool qwen, size_t row)
{
    if (!row)
        reader->qwen = qwen;
    if (reader->qwen == qwen)
        return true;
    error_set(reader->error, "%s:%d: %s chat_id, unlike the lines above", reader->path,
              reader->line, qwen ? "a" : "no");
    return error_expected(reader->error, "all lines as Mooncake's (ms), or all as Qwen-Bailian's (s)");
}

static bool read_request(struct trace_lines_reader *reader, const struct doc *line)
{
    enum { MOONCAKE_BLOCK = 512, QWEN_BLOCK = 16 };
    static const char *const keys[] = { "timestamp", "input_length", "output_length" };
    struct trace *trace = reader->trace;
    double numbers[3];
    for (int i = 0; i < 3; i++) {
        const struct doc *number = doc_get(line, keys[i]);
        if (!number || number->kind != DOC_NUMBER)
            return missing(reader, keys[i]);
        numbers[i] = number->number;
    }
    bool qwen = doc_get(line, "chat_id") != NULL;
    size_t row = trace->count, counts[3] = { row, row, row };
    double time = qwen ? numbers[0] : 1e-3 * numbers[0];
    if (!read_kind(reader, qwen, row))
        return false;
    if (!row)
        reader->first = time;
    double *arrival = arena_push(reader->arena, &trace->arrival, &counts[0], &reader->room[0],
                                 sizeof *arrival);
    uint32_t *prompt = arena_push(reader->arena, &trace->prompt, &counts[1], &reader->room[1],
                                  sizeof *prompt);
    uint32_t *output = arena_push(reader->arena, &trace->output, &counts[2], &reader->room[2],
                                  sizeof *output);
    *arrival = time - reader->first;
    trace->count++;
    if (doc_get(line, "hash_ids"))
        trace->block = qwen ? QWEN_BLOCK : MOONCAKE_BLOCK;
    return trace_order(reader->path, reader->line, trace, row, reader->error) &&
           trace_length(reader->path, reader->line, numbers[1], NULL, prompt, reader->error) &&
           trace_length(reader->path, reader->line, numbers[2], NULL, output, reader->error) &&
           (!qwen || read_turn(reader, line, row)) &&
           read_blocks(reader, doc_get(line, "hash_ids"));
}

static bool read_line(struct trace_lines_reader *reader, struct text text)
{
    struct arena scratch = arena_beside(reader->arena);
    struct error why;
    struct doc *line;
    bool read = json_read(&scratch, "JSON", text, &line, &why), good = false;
    if (read && line->kind == DOC_OBJECT) {
        good = read_request(reader, line);
    } else {
        error_set(reader->error, "%s:%d: no JSON object: %.100s", reader->path, reader->line,
                  read ? "another kind of value" : why.what);
        error_expected(reader->error, "a request on each line");
    }
    arena_free(&scratch);
    return good;
}

bool trace_parse_lines(struct arena *arena, const char *path, struct text text,
                       struct trace *trace, struct error *error)
{
    struct trace_lines_reader reader = { .arena = arena, .path = path, .trace = trace, .error = error };
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
    if (!reader.later)
        trace->before = NULL, trace->wait = NULL;
    return true;
}
