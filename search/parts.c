/* The parts of ranks: written, gathered, checked and added up. */
#include "search/parts.h"

#include <string.h>

void count_add(struct search_count *sum, const struct search_count *one)
{
    sum->settings += one->settings;
    sum->points += one->points;
    sum->seen += one->seen;
    sum->met += one->met;
    sum->no_fit += one->no_fit;
    sum->no_room += one->no_room;
    for (int l = 0; l < SEARCH_LIMITS; l++)
        sum->broken[l] += one->broken[l];
}

void part_add(struct part *sum, const struct part *one)
{
    count_add(&sum->count, &one->count);
    sum->rooted |= one->rooted;
    if (one->near_found && (!sum->near_found || one->nearest_by < sum->nearest_by ||
                            (one->nearest_by == sum->nearest_by && point_earlier(&one->nearest, &sum->nearest)))) {
        sum->near_found = true;
        sum->nearest = one->nearest;
        sum->nearest_by = one->nearest_by;
    }
}

/* ---- the question -------------------------------------------------------------------------- */

static uint64_t hash_graph(uint64_t hash, const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        const int whole[] = { (int)node->op, node->a, node->b, node->c, node->first, node->input };
        for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
            hash = hash_mix(hash, (uint64_t)whole[k]);
        hash = hash_numbers(hash, &node->value, 1);
    }
    for (size_t i = 0; i < graph->input_count; i++)
        hash = hash_numbers(hash, &graph->inputs[i].value, 1);
    return hash_mix(hash, graph->count);
}

static uint64_t question_of(const struct search *search)
{
    uint64_t hash = HASH_START;
    for (size_t s = 0; s < search->space_count; s++) {
        const struct search_space *space = &search->spaces[s];
        hash = hash_graph(hash, &space->graph);
        hash = hash_numbers(hash, space->settings, space->setting_count * space->inputs);
        hash = hash_numbers(hash, space->loads, space->load_count);
        for (size_t l = 0; l < space->limit_count; l++)
            hash = hash_numbers(hash_numbers(hash, &space->limits[l].bound, 1), &space->limits[l].wider, 1);
    }
    return hash_mix(hash, search->block_count);
}

/* ---- all ranks ----------------------------------------------------------------------------- */

static struct text write_part(struct arena *arena, const struct part *part, const struct front *front)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, (const char *)part, sizeof *part);
    buffer_add(&out, (const char *)front->points, front->count * sizeof *front->points);
    return (struct text){ out.data, out.size };
}

/* The next `size` bytes of a part. */
static void take_bytes(struct text *from, void *to, size_t size)
{
    if (size)
        memcpy(to, from->data, size);
    from->data += size, from->size -= size;
}

static void read_part(struct arena *arena, struct text bytes, struct part *part, struct front *front)
{
    struct part one;
    struct search_point point;
    take_bytes(&bytes, &one, sizeof one);
    part_add(part, &one);
    for (size_t i = 0; i < one.points; i++) {
        take_bytes(&bytes, &point, sizeof point);
        front_offer(front, arena, &point);
    }
}

bool parts_share(struct arena *arena, const struct search *search, struct part *part, struct front *front,
                 struct error *error)
{
    const struct ranks *ranks = search->ranks;
    if (ranks_alone(ranks))
        return true;
    if (!ranks_same(ranks, arena, question_of(search), error))
        return false;
    part->points = front->count;
    const struct text *all = ranks_gather(ranks, arena, write_part(arena, part, front));
    for (int rank = 0; rank < ranks->count; rank++)
        if (rank != ranks->rank)
            read_part(arena, all[rank], part, front);
    ranks_share(ranks, arena, search->blocks, search->block_count, sizeof *search->blocks);
    return true;
}
