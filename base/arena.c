/* Arenas: memory in chunks, all freed together.
 *
 * Chunks double from a small first size, so that a small arena costs little. A large allocation
 * gets a chunk of its own behind the current one, which continues to be used for small ones. When
 * memory is exhausted the arena calls its handler, which must not return, or a guarded call is left
 * (guard.h); no caller checks for NULL. */
#include "base/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Chunks double from the first size, so that a small arena costs little. What is large has one of
 * its own behind the last, in which small things go on. */
enum { CHUNK_FIRST = 8 * 1024, CHUNK_MOST = 256 * 1024, ALIGNMENT = 16 };

struct chunk {
    struct holding held;
    struct chunk *before;
    size_t used, size;      /* of data[] */
    _Alignas(ALIGNMENT) char data[];
};

_Thread_local struct guard *guard_here;

_Noreturn void arena_exhausted(struct arena *arena)
{
    if (arena->exhausted)
        arena->exhausted(arena->context);
    if (guard_here)
        guard_here->leave(guard_here, ENDED_WITHOUT_MEMORY);
#ifdef __linux__
    static const char words[] = "chalkline: out of memory\n";       /* nobody else is left to say so */
    _exit(write(STDERR_FILENO, words, sizeof words - 1) < 0 ? 3 : 2);
#endif
    abort();
}

/* ---- what a guarded call frees where it is left ------------------------------------------- */

static void hold(struct holding *held, void (*release)(void *what), void *what)
{
    *held = (struct holding){ .release = release, .what = what };
    if (!guard_here)
        return;
    held->before = &guard_here->held;
    held->next = guard_here->held.next;
    held->before->next = held->next->before = held;
}

static void unlist(struct holding *held)
{
    if (!held->next)
        return;
    held->before->next = held->next;
    held->next->before = held->before;
}

void arena_let_go(struct holding *held)
{
    unlist(held);
    held->release(held->what);
}

struct holding *arena_hold(struct arena *arena, void (*release)(void *what), void *what)
{
    struct holding *held = arena_alloc(arena, sizeof *held);
    hold(held, release, what);
    return held;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

enum { SIZES = 11, SPARE_MOST = 64 << 20 };     /* from CHUNK_FIRST, each twice the one before; bytes */

/* Chunks that one guarded call after another uses, by size. */
struct chunks {
    struct chunk *spare[SIZES];
    size_t bytes;
    struct kept_beside kept;
};

/* The list of chunks with room for so much; SIZES: they are not kept. */
static int size_class(size_t room)
{
    int i = 0;
    while (i < SIZES && (size_t)CHUNK_FIRST << i < room)
        i++;
    return i;
}

/* A chunk with *room, which may be raised, or NULL. Of a spare one what an earlier call wrote is cleared. */
static struct chunk *chunk_take(size_t *room, bool zeroed)
{
    struct chunks *chunks = guard_here ? guard_here->chunks : NULL;
    const int at = chunks ? size_class(*room) : SIZES;
    struct chunk *chunk = at < SIZES ? chunks->spare[at] : NULL;
    if (at < SIZES)
        *room = (size_t)CHUNK_FIRST << at;
    if (chunk) {
        chunks->spare[at] = chunk->before;
        chunks->bytes -= *room;
        if (zeroed)
            memset(chunk->data, 0, chunk->used);
        return chunk;
    }
    if (*room >= SIZE_MAX - sizeof *chunk)
        return NULL;
    return zeroed ? calloc(1, sizeof *chunk + *room) : malloc(sizeof *chunk + *room);
}

static void chunk_give(struct chunk *chunk)
{
    struct chunks *chunks = guard_here ? guard_here->chunks : NULL;
    const int at = chunks ? size_class(chunk->size) : SIZES;
    unlist(&chunk->held);
    if (at == SIZES || (size_t)CHUNK_FIRST << at != chunk->size || chunks->bytes + chunk->size > SPARE_MOST) {
        free(chunk);
        return;
    }
    chunk->before = chunks->spare[at];
    chunks->spare[at] = chunk;
    chunks->bytes += chunk->size;
}

struct chunks *chunks_new(size_t most)
{
    struct chunks *chunks = calloc(1, sizeof *chunks);
    if (chunks)
        chunks->kept.most = most;
    return chunks;
}

#ifndef __wasm__
struct kept_beside *kept_here(void)
{
    struct chunks *chunks = guard_here ? guard_here->chunks : NULL;
    return chunks && chunks->kept.most ? &chunks->kept : NULL;
}
#endif

void chunks_forget(struct chunks *chunks)
{
    if (chunks->kept.what)
        chunks->kept.release(chunks->kept.what);
    chunks->kept.what = NULL;
}

void chunks_free(struct chunks *chunks)
{
    chunks_forget(chunks);
    for (int i = 0; i < SIZES; i++)
        for (struct chunk *chunk; (chunk = chunks->spare[i]);) {
            chunks->spare[i] = chunk->before;
            free(chunk);
        }
    free(chunks);
}

static struct chunk *chunk_new(struct arena *arena, size_t size, bool zeroed)
{
    struct chunk *last = arena->last;
    bool large = last && size > CHUNK_MOST / 4;
    size_t room = last ? 2 * last->size : CHUNK_FIRST;
    room = room > CHUNK_MOST ? CHUNK_MOST : room;
    room = room > size && !large ? room : size;
    struct chunk *chunk = chunk_take(&room, zeroed);
    if (!chunk)
        arena_exhausted(arena);
    hold(&chunk->held, free, chunk);
    chunk->used = 0;
    chunk->size = room;
    chunk->before = large ? last->before : last;
    if (large)
        last->before = chunk;
    else
        arena->last = chunk;
    if (guard_here && guard_here->watch)
        guard_here->watch(guard_here);
    return chunk;
}

/* Is there so much left? Counts it as taken. */
static void arena_take(struct arena *arena, size_t size)
{
    if (arena->fail_after && !--arena->fail_after)
        arena_exhausted(arena);
    struct arena *outer = arena->outer;
    const size_t taken = outer ? __atomic_fetch_add(&outer->taken, size, __ATOMIC_RELAXED) : 0;   /* threads share it */
    if (size > SIZE_MAX / 2 || (arena->most && size > arena->most - arena->taken) ||
        (outer && outer->most && (taken > outer->most || size > outer->most - taken)))
        arena_exhausted(arena);
    arena->taken += size;
}

void *arena_align(struct arena *arena, size_t size, size_t alignment)
{
    arena_take(arena, size);
    struct chunk *chunk = arena->last;
    for (;; chunk = chunk_new(arena, size + alignment, true)) {
        if (!chunk)
            continue;
        size_t gap = -((uintptr_t)chunk->data + chunk->used) & (alignment - 1);
        if (chunk->size - chunk->used < gap || chunk->size - chunk->used - gap < size)
            continue;
        void *memory = chunk->data + chunk->used + gap;
        chunk->used += gap + size;
        return memory;
    }
}

void *arena_room(struct arena *arena, size_t size)
{
    if (!arena->last || size <= CHUNK_MOST / 4)
        return arena_alloc(arena, size);
    arena_take(arena, size);
    struct chunk *chunk = chunk_new(arena, size, false);
    chunk->used = chunk->size;      /* none of it was cleared */
    return chunk->data;
}

struct arena arena_beside(const struct arena *arena)
{
    struct arena beside = { .exhausted = arena->exhausted, .context = arena->context,
                            .shelf = arena->shelf };
    if (arena->most)
        beside.most = arena->most > arena->taken ? arena->most - arena->taken : 1;
    return beside;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return arena_align(arena, size, ALIGNMENT);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        arena_exhausted(arena);
    return arena_alloc(arena, count * size);
}

void arena_forget(void *memory, size_t from, size_t end)
{
#ifdef __linux__
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ((uintptr_t)memory + page - 1) / page * page;
    const uintptr_t before = ((uintptr_t)memory + from) / page * page, first = before > start ? before : start;
    const uintptr_t last = ((uintptr_t)memory + end) / page * page;
    if (last > first)
        madvise((void *)first, last - first, MADV_DONTNEED);
#else
    (void)memory, (void)from, (void)end;
#endif
}

char *arena_copy(struct arena *arena, const char *data, size_t size)
{
    char *copy = arena_alloc(arena, size + 1);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *arena_print(struct arena *arena, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = arena_alloc(arena, (size_t)size + 1);
    va_start(list, format);
    vsnprintf(text, (size_t)size + 1, format, list);
    va_end(list);
    return text;
}

void *arena_push(struct arena *arena, void *array_pointer, size_t *count,
                 size_t *room, size_t size)
{
    void *array;
    memcpy(&array, array_pointer, sizeof array);
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 16;
        void *grown = arena_array(arena, more, size);
        if (*count)
            memcpy(grown, array, *count * size);
        memcpy(array_pointer, &grown, sizeof grown);
        array = grown;
        *room = more;
    }
    return (char *)array + size * (*count)++;
}

struct arena *arena_new(void)
{
    struct arena first = { 0 };
    struct arena *arena = arena_alloc(&first, sizeof *arena);
    *arena = first;
    return arena;
}

void arena_end(struct arena *arena)
{
    struct arena last = *arena;
    arena_free(&last);
}

struct arena *arena_inner(struct arena *arena)
{
    struct arena *inner = arena_alloc(arena, sizeof *inner);
    *inner = arena_beside(arena);
    inner->most = 0;
    inner->outer = arena;
    inner->next = arena->inner;
    return arena->inner = inner;
}

void arena_free(struct arena *arena)
{
    for (; arena->inner; arena->inner = arena->inner->next)
        arena_free(arena->inner);
    while (arena->last) {
        struct chunk *before = arena->last->before;
        chunk_give(arena->last);
        arena->last = before;
    }
    if (arena->outer)
        arena->outer->taken -= arena->taken;
    arena->taken = 0;
}
