/* Blocks of a search as bytes, and digests of what a search reads. block.h has the format.
 *
 * Numbers are written lowest byte first, whatever the machine's order. Everything read is checked:
 * sums of counts, points within their space, the order of the front, the check sum. A block with
 * any fault is refused as a whole. The digest covers graphs, settings, loads and limits, so that a
 * block computed with other formulas or data cannot be combined with this search. */
#include "search/block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

_Static_assert((int)SEARCH_LIMITS == 8, "another layout of blocks");

/* ---- digests ------------------------------------------------------------------------------- */

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* Lowest byte first, whatever the machine's order. */
static void put_bytes(unsigned char *out, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t digest_whole(uint64_t digest, uint64_t value)
{
    unsigned char bytes[8];
    put_bytes(bytes, value, 8);
    return digest_bytes(digest, bytes, 8);
}

static uint64_t digest_numbers(uint64_t digest, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = digest_whole(digest, bits_of(values[i]));
    return digest_whole(digest, count);
}

static uint64_t digest_text(uint64_t digest, const char *text)
{
    return digest_bytes(digest, text, strlen(text) + 1);
}

static uint64_t digest_list(uint64_t digest, const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const int whole[] = { (int)node->op, node->a, node->b, node->c, node->first, node->input };
        for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
            digest = digest_whole(digest, (uint64_t)(int64_t)whole[k]);
        digest = digest_numbers(digest, &node->value, 1);
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        digest = digest_text(digest, graph->inputs[i].name);
        digest = digest_numbers(digest, &graph->inputs[i].value, 1);
    }
    for (size_t i = 0; i < graph->output_count; i++)
        digest = digest_whole(digest, (uint64_t)(int64_t)graph->outputs[i]);
    return digest_whole(digest, graph->count);
}

uint64_t digest_limits(uint64_t digest, const struct search_space *space)
{
    for (size_t l = 0; l < space->limit_count; l++) {
        const struct search_limit *limit = &space->limits[l];
        digest = digest_text(digest, limit->name);
        digest = digest_numbers(digest, &limit->bound, 1);
        digest = digest_numbers(digest, &limit->wider, 1);
        digest = digest_whole(digest, limit->output * 2 + limit->rises);
    }
    return digest_whole(digest, space->limit_count);
}

uint64_t digest_spaces(uint64_t digest, const struct search_space *spaces, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        const struct search_space *space = &spaces[s];
        const size_t whole[] = { space->inputs, space->setting_count, space->column,
                                 space->speed, space->throughput, space->most };
        digest = digest_list(digest, &space->graph);
        for (size_t i = 0; i < space->inputs; i++)
            digest = digest_whole(digest, (uint64_t)space->input[i] * LOOP_NEST_AXES +
                                          (uint64_t)space->axis[i]);
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            digest = digest_whole(digest, whole[i]);
        digest = digest_numbers(digest, space->settings, space->setting_count * space->inputs);
        digest = digest_numbers(digest, space->loads, space->load_count);
        digest = digest_limits(digest, space);
    }
    return digest_whole(digest, count);
}

/* ---- write --------------------------------------------------------------------------------- */

static void write_whole(struct buffer *out, uint64_t value, int size)
{
    unsigned char bytes[8];
    put_bytes(bytes, value, size);
    buffer_add(out, (const char *)bytes, (size_t)size);
}

static void write_point(struct buffer *out, const struct search_point *point)
{
    write_whole(out, point->setting, 4);
    write_whole(out, point->load, 4);
    write_whole(out, bits_of(point->speed), 8);
    write_whole(out, bits_of(point->throughput), 8);
}

void block_write(struct buffer *out, uint64_t question, uint32_t search,
                 const struct search_block *block)
{
    const struct search_count *count = &block->count;
    const size_t start = out->size;
    const size_t counts[] = { count->points, count->seen, count->met, count->no_fit,
                              count->no_room };
    write_whole(out, search, 4);
    write_whole(out, block->number, 4);
    write_whole(out, block->space, 4);
    write_whole(out, block->first, 8);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        write_whole(out, counts[i], 8);
    for (int l = 0; l < SEARCH_LIMITS; l++)
        write_whole(out, count->broken[l], 8);
    write_whole(out, block->front.count, 4);
    write_whole(out, block->moved_found, 1);
    write_whole(out, bits_of(block->miss_by), 8);
    if (block->found)
        write_point(out, &block->best);
    if (block->miss_by > 0)
        write_point(out, &block->miss);
    for (int l = 0; l < SEARCH_LIMITS; l++)
        if (block->moved_found & 1u << l)
            write_point(out, &block->moved[l]);
    for (size_t i = 0; i < block->front.count; i++)
        write_point(out, &block->front.points[i]);
    write_whole(out, digest_bytes(question, out->data + start, out->size - start), 8);
}

/* ---- read ---------------------------------------------------------------------------------- */

struct reader {
    struct text rest;
    bool good;                      /* nothing was short, or out of its range */
};

static uint64_t read_whole(struct reader *reader, size_t size)
{
    uint64_t value = 0;
    if (reader->rest.size < size) {
        reader->good = false;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(unsigned char)reader->rest.data[i] << (8 * i);
    reader->rest.data += size, reader->rest.size -= size;
    return value;
}

static double read_double(struct reader *reader)
{
    uint64_t bits = read_whole(reader, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct search_point read_point(struct reader *reader, const struct search_space *space,
                                      const struct search_block *block)
{
    struct search_point point = { .space = block->space };
    point.setting = (uint32_t)read_whole(reader, 4);
    point.load = (uint32_t)read_whole(reader, 4);
    point.speed = read_double(reader);
    point.throughput = read_double(reader);
    reader->good &= point.setting >= block->first && point.setting < block->end &&
                    point.load < space->load_count && !isnan(point.speed) &&
                    !isnan(point.throughput);
    return point;
}

/* Each point is counted once: it was met, or there is one reason why it was not. */
static bool read_count(struct reader *reader, const struct search_space *space,
                       const struct search_block *block, struct search_count *count)
{
    size_t *const counts[] = { &count->points, &count->seen, &count->met, &count->no_fit,
                               &count->no_room };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = (size_t)read_whole(reader, 8);
    size_t sum = count->met + count->no_fit + count->no_room;
    for (size_t l = 0; l < SEARCH_LIMITS; l++) {
        count->broken[l] = (size_t)read_whole(reader, 8);
        sum += count->broken[l];
    }
    return reader->good && sum == count->points && count->met <= count->seen &&
           count->seen <= count->points &&
           count->points == (block->end - block->first) * space->load_count;
}

static bool read_front(struct reader *reader, struct arena *arena,
                       const struct search_space *space, size_t count, struct search_block *block)
{
    enum { POINT = 24 };
    if (count > reader->rest.size / POINT || (count > 0) != (block->count.met > 0))
        return false;
    struct search_point *points = arena_array(arena, count + 1, sizeof *points);
    for (size_t i = 0; i < count; i++) {
        points[i] = read_point(reader, space, block);
        if (i && !(points[i].speed > points[i - 1].speed &&
                   points[i].throughput < points[i - 1].throughput))
            return false;
    }
    block->front = (struct search_front){ points, count };
    return reader->good;
}

static bool read_body(struct reader *reader, struct arena *arena, const struct search_space *space,
                      struct search_block *block)
{
    if (!read_count(reader, space, block, &block->count))
        return false;
    const size_t front = (size_t)read_whole(reader, 4);
    block->moved_found = (unsigned)read_whole(reader, 1);
    block->miss_by = read_double(reader);
    block->found = block->count.met > 0;
    if (block->found)
        block->best = read_point(reader, space, block);
    if (!(block->miss_by == 0 || (block->miss_by >= 1 && isfinite(block->miss_by))) ||
        (block->found && block->miss_by > 0))
        return false;
    if (block->miss_by > 0)
        block->miss = read_point(reader, space, block);
    for (int l = 0; l < SEARCH_LIMITS; l++)
        if (block->moved_found & 1u << l)
            block->moved[l] = read_point(reader, space, block);
    return reader->good && read_front(reader, arena, space, front, block) &&
           !reader->rest.size &&
           (!block->found || block->best.throughput == block->front.points[0].throughput);
}

/* The block, where its check sum, its place and all that it says agree. */
static bool read_checked(struct arena *arena, struct text bytes, uint64_t question,
                         uint32_t search, const struct search_space *spaces,
                         struct search_block *block)
{
    enum { SUM = 8 };
    if (bytes.size < SUM)
        return false;
    const size_t size = bytes.size - SUM;
    struct reader sum = { { bytes.data + size, SUM }, true };
    struct reader reader = { { bytes.data, size }, true };
    return read_whole(&sum, SUM) == digest_bytes(question, bytes.data, size) &&
           read_whole(&reader, 4) == search && read_whole(&reader, 4) == block->number &&
           read_whole(&reader, 4) == block->space && read_whole(&reader, 8) == block->first &&
           read_body(&reader, arena, &spaces[block->space], block);
}

bool block_read(struct arena *arena, struct text bytes, uint64_t question, uint32_t search,
                const struct search_space *spaces, struct search_block *block,
                struct error *error)
{
    struct search_block read = { .number = block->number, .space = block->space,
                                 .first = block->first, .end = block->end };
    if (!read_checked(arena, bytes, question, search, spaces, &read)) {
        error_set(error, "block %u of search %u is damaged", (unsigned)block->number,
                  (unsigned)search);
        return error_expected(error, "what this program wrote for this question");
    }
    *block = read;
    return true;
}
