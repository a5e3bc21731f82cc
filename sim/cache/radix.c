/* A prefix cache as a radix tree, as SGLang keeps it, over units of a fixed number of tokens.
 *
 * A node is a run of units of one request; children are found through a hash of (parent, identity
 * of the first unit), so that no tokens are compared. Two units are the same if they are in a
 * prefix block of the same name, or come from the same turn of a session. A lock count on a node
 * counts running requests below it. Unlocked leaves are in a heap by the time of their last lock,
 * and eviction removes units from the oldest leaf, one at a time. Splitting a node keeps its lock
 * count on both parts. */
#include "sim/cache/radix.h"

#include <assert.h>
#include <string.h>

enum { NONE = UINT32_MAX };

/* A run of units: [from, to) of request `owner`. */
struct radix_node {
    uint32_t parent, children;      /* the node above; number of nodes below */
    uint32_t chain;                 /* the next node of the same slot, or of the unused ones */
    uint32_t owner;
    uint32_t from, to;
    uint32_t locks;                 /* running requests at or below this node */
    uint32_t place;                 /* in the heap of unlocked leaves */
    uint64_t used;                  /* clock at its last unlock */
};

struct radix {
    struct arena *arena;
    const struct trace *trace;
    size_t unit;                    /* tokens per unit */
    struct radix_node *nodes;
    size_t count, room;
    uint32_t spare;                 /* list of unused nodes */
    uint32_t *slots;                /* hash of the nodes by parent and first unit */
    size_t slot_count;
    uint32_t *leaves;               /* heap of unlocked leaves, the least recently used on top */
    size_t leaf_count, leaf_room;
    size_t locked, idle;            /* units in locked nodes; in unlocked ones */
    uint64_t clock;                 /* counts unlocks */
};

/* ---- what a unit is ------------------------------------------------------------------------- */

struct piece {                      /* a run of units: those of a name, or of a request */
    uint64_t name;
    bool named;
    size_t from, until;
};

static size_t full_units(const struct radix *radix, uint64_t tokens)
{
    return (size_t)(tokens / radix->unit);
}

static bool in_block(const struct radix *radix, uint32_t id, size_t at, struct piece *piece)
{
    const struct trace *trace = radix->trace;
    if (!trace->block || trace->block % radix->unit)
        return false;
    size_t parts = trace->block / radix->unit, block = trace->first[id] + at / parts;
    if (block >= trace->first[id + 1] || (at / parts + 1) * trace->block > trace->prompt[id])
        return false;
    size_t from = at / parts * parts;
    *piece = (struct piece){ trace->blocks[block], true, from, from + parts };
    return true;
}

/* Units that a request shares with the turn before of its session. */
static size_t of_turn_before(const struct radix *radix, uint32_t id)
{
    const struct trace *trace = radix->trace;
    uint32_t before = trace->before ? trace->before[id] : NONE;
    if (before == NONE)
        return 0;
    uint64_t all = (uint64_t)trace->prompt[before] + trace->output[before];
    return full_units(radix, all < trace->prompt[id] ? all : trace->prompt[id]);
}

/* The part that a unit of a request lies in: the session knows best, then the names. */
static struct piece piece_at(const struct radix *radix, uint32_t id, size_t at)
{
    size_t until = SIZE_MAX, shared;
    struct piece piece;
    for (; at < (shared = of_turn_before(radix, id)); id = radix->trace->before[id])
        until = shared < until ? shared : until;
    if (!in_block(radix, id, at, &piece))
        piece = (struct piece){ id, false, 0, SIZE_MAX };
    piece.until = piece.until < until ? piece.until : until;
    return piece;
}

static bool same_piece(const struct piece *a, const struct piece *b)
{
    return a->name == b->name && a->named == b->named && a->from == b->from;
}

static bool same_unit(const struct radix *radix, uint32_t a, uint32_t b, size_t at)
{
    struct piece one = piece_at(radix, a, at), other = piece_at(radix, b, at);
    return same_piece(&one, &other);
}

/* The first unit from `at` on, below `limit`, in which they differ. */
static size_t same_until(const struct radix *radix, uint32_t a, uint32_t b, size_t at, size_t limit)
{
    while (a != b && at < limit) {
        struct piece one = piece_at(radix, a, at), other = piece_at(radix, b, at);
        if (!same_piece(&one, &other))
            return at;
        at = one.until < other.until ? one.until : other.until;
    }
    return a == b || at > limit ? limit : at;
}

/* ---- children ------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct radix *radix, uint32_t parent, uint32_t owner, size_t at)
{
    struct piece piece = piece_at(radix, owner, at);
    uint64_t x = (piece.name * 2 + piece.named) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 31 ^ parent) * 0x94d049bb133111ebu;
    x = (x ^ x >> 29 ^ at) * 0x9e3779b97f4a7c15u;
    return &radix->slots[x >> 32 & (radix->slot_count - 1)];
}

static void slot_add(struct radix *radix, uint32_t at)
{
    struct radix_node *node = &radix->nodes[at];
    uint32_t *slot = slot_of(radix, node->parent, node->owner, node->from);
    node->chain = *slot;
    *slot = at;
}

static void slot_remove(struct radix *radix, uint32_t at)
{
    const struct radix_node *node = &radix->nodes[at];
    uint32_t *slot = slot_of(radix, node->parent, node->owner, node->from);
    while (*slot != at)
        slot = &radix->nodes[*slot].chain;
    *slot = node->chain;
}

static uint32_t child_of(const struct radix *radix, uint32_t parent, uint32_t id, size_t at)
{
    uint32_t child = *slot_of(radix, parent, id, at);
    while (child != NONE &&
           (radix->nodes[child].parent != parent || radix->nodes[child].from != at ||
            !same_unit(radix, radix->nodes[child].owner, id, at)))
        child = radix->nodes[child].chain;
    return child;
}

/* ---- leaves --------------------------------------------------------------------------------- */

static void leaf_place(struct radix *radix, size_t at, uint32_t node)
{
    radix->leaves[at] = node;
    radix->nodes[node].place = (uint32_t)at;
}

static void leaf_sift(struct radix *radix, size_t at, uint32_t node)
{
    const struct radix_node *nodes = radix->nodes;
    const uint64_t used = nodes[node].used;
    size_t child;
    for (; at && nodes[radix->leaves[(at - 1) / 2]].used > used; at = (at - 1) / 2)
        leaf_place(radix, at, radix->leaves[(at - 1) / 2]);
    for (; (child = 2 * at + 1) < radix->leaf_count; at = child) {
        if (child + 1 < radix->leaf_count &&
            nodes[radix->leaves[child + 1]].used < nodes[radix->leaves[child]].used)
            child++;
        if (nodes[radix->leaves[child]].used >= used)
            break;
        leaf_place(radix, at, radix->leaves[child]);
    }
    leaf_place(radix, at, node);
}

static void leaf_add(struct radix *radix, uint32_t node)
{
    arena_push(radix->arena, &radix->leaves, &radix->leaf_count, &radix->leaf_room,
               sizeof *radix->leaves);
    leaf_sift(radix, radix->leaf_count - 1, node);
}

static void leaf_remove(struct radix *radix, uint32_t node)
{
    uint32_t at = radix->nodes[node].place, last = radix->leaves[--radix->leaf_count];
    if (last != node)
        leaf_sift(radix, at, last);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static void more_slots(struct radix *radix)
{
    radix->slot_count = radix->slot_count ? 2 * radix->slot_count : 64;
    radix->slots = arena_array(radix->arena, radix->slot_count, sizeof *radix->slots);
    memset(radix->slots, 0xff, radix->slot_count * sizeof *radix->slots);
    for (uint32_t i = 1; i < radix->count; i++)     /* as many are in use as ever were */
        slot_add(radix, i);
}

static uint32_t new_node(struct radix *radix)
{
    uint32_t at = radix->spare;
    if (at != NONE) {
        radix->spare = radix->nodes[at].chain;
        return at;
    }
    if (radix->count >= radix->slot_count)
        more_slots(radix);
    arena_push(radix->arena, &radix->nodes, &radix->count, &radix->room, sizeof *radix->nodes);
    return (uint32_t)radix->count - 1;
}

/* A node is cut: its first part is a new one, which is returned. */
static uint32_t split(struct radix *radix, uint32_t at, size_t where)
{
    uint32_t upper = new_node(radix);
    struct radix_node *node = &radix->nodes[at], *first = &radix->nodes[upper];
    slot_remove(radix, at);
    *first = *node;
    first->to = node->from = (uint32_t)where;
    first->children = 1;
    node->parent = upper;
    slot_add(radix, upper);
    slot_add(radix, at);
    return upper;
}

static size_t length(const struct radix_node *node)
{
    return node->to - node->from;
}

/* ---- what others ask ------------------------------------------------------------------------ */

struct radix *radix_open(struct arena *arena, const struct trace *trace, size_t unit)
{
    struct radix *radix = arena_alloc(arena, sizeof *radix);
    *radix = (struct radix){ .arena = arena, .trace = trace, .unit = unit };
    radix_clear(radix);
    return radix;
}

void radix_clear(struct radix *radix)
{
    radix->count = radix->leaf_count = radix->locked = radix->idle = 0;
    radix->spare = NONE;
    arena_push(radix->arena, &radix->nodes, &radix->count, &radix->room, sizeof *radix->nodes);
    radix->nodes[RADIX_ROOT] = (struct radix_node){ .parent = NONE };
    if (!radix->slot_count)
        more_slots(radix);
    memset(radix->slots, 0xff, radix->slot_count * sizeof *radix->slots);
}

size_t radix_used(const struct radix *radix)
{
    return radix->locked;
}

size_t radix_idle(const struct radix *radix)
{
    return radix->idle;
}

size_t radix_end(const struct radix *radix, uint32_t node)
{
    return radix->nodes[node].to;
}

struct radix_hit radix_find(const struct radix *radix, uint32_t id, size_t most)
{
    struct radix_hit hit = { 0, 0 };
    for (uint32_t at = RADIX_ROOT; hit.units < most;) {
        at = child_of(radix, at, id, hit.units);
        if (at == NONE)
            break;
        const struct radix_node *node = &radix->nodes[at];
        size_t limit = node->to < most ? node->to : most;
        size_t same = same_until(radix, node->owner, id, hit.units, limit);
        hit.idle += node->locks ? 0 : same - hit.units;
        hit.units = same;
        if (same < node->to)
            break;
    }
    return hit;
}

static uint32_t put_in(struct radix *radix, uint32_t id, uint32_t parent, size_t from, size_t to)
{
    uint32_t at = new_node(radix);
    radix->nodes[at] = (struct radix_node){ .parent = parent, .owner = id, .from = (uint32_t)from,
                                      .to = (uint32_t)to, .locks = 1 };
    radix->nodes[parent].children++;
    radix->locked += to - from;
    slot_add(radix, at);
    return at;
}

static void lock_node(struct radix *radix, uint32_t at)
{
    struct radix_node *node = &radix->nodes[at];
    if (!node->locks++) {
        if (!node->children)
            leaf_remove(radix, at);
        radix->locked += length(node);
        radix->idle -= length(node);
    }
}

uint32_t radix_lock(struct radix *radix, uint32_t id, uint32_t node, size_t until)
{
    size_t at = radix->nodes[node].to;
    while (at < until) {
        uint32_t child = child_of(radix, node, id, at);
        if (child == NONE)
            return put_in(radix, id, node, at, until);
        size_t limit = radix->nodes[child].to < until ? radix->nodes[child].to : until;
        size_t same = same_until(radix, radix->nodes[child].owner, id, at, limit);
        if (same < radix->nodes[child].to)
            child = split(radix, child, same);
        lock_node(radix, child);
        at = same;
        node = child;
    }
    return node;
}

void radix_unlock(struct radix *radix, uint32_t at)
{
    radix->clock++;
    for (; at != RADIX_ROOT; at = radix->nodes[at].parent) {
        struct radix_node *node = &radix->nodes[at];
        assert(node->locks);
        node->used = radix->clock;
        if (--node->locks)
            continue;
        radix->locked -= length(node);
        radix->idle += length(node);
        if (!node->children)
            leaf_add(radix, at);
    }
}

static void drop_leaf(struct radix *radix, uint32_t at)
{
    struct radix_node *node = &radix->nodes[at], *parent = &radix->nodes[node->parent];
    leaf_remove(radix, at);
    slot_remove(radix, at);
    if (!--parent->children && !parent->locks && node->parent != RADIX_ROOT)
        leaf_add(radix, node->parent);
    node->chain = radix->spare;
    radix->spare = at;
}

void radix_evict(struct radix *radix, size_t units)
{
    assert(units <= radix->idle);
    while (units) {
        uint32_t at = radix->leaves[0];
        struct radix_node *node = &radix->nodes[at];
        size_t some = length(node) < units ? length(node) : units;
        radix->idle -= some;
        units -= some;
        node->to -= (uint32_t)some;
        if (!length(node))
            drop_leaf(radix, at);
    }
}

bool radix_same(const struct radix *radix, uint32_t a, uint32_t b, size_t units)
{
    return same_until(radix, a, b, 0, units) == units;
}
