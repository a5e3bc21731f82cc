/* What the page calls. Texts go in and out as bytes in this memory; what is returned lives
 * until the next call of its kind. There is one thread, and no file but those shelved. */
#include "web/web.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { MOST_WORDS = 512, MOST_FILES = 64, MOST_BOARDS = 4 };

static struct shelf_file files[MOST_FILES];
static struct shelf shelf = { files, 0 };
static struct arena kept, asked, told;
static struct opened {
    struct arena arena;
    struct board board;
} opened[MOST_BOARDS];
static struct buffer reply;

EXPORT(room) void *page_room(size_t size)
{
    return malloc(size);
}

EXPORT(release) void page_release(void *memory)
{
    free(memory);
}

EXPORT(start) void page_start(void)
{
    scenario_keep(&kept);
}

/* A file of this name stands on the shelf from now on; the page keeps both texts. */
EXPORT(shelve) bool page_shelve(const char *path, const char *data, size_t size)
{
    size_t at = 0;
    while (at < shelf.count && strcmp(files[at].path, path))
        at++;
    if (at == MOST_FILES)
        return false;
    shelf.count += at == shelf.count;
    files[at] = (struct shelf_file){ path, { data, size } };
    return true;
}

/* Words end with 0; the first is the program's. */
static int split(char *text, size_t size, char **words)
{
    int count = 0;
    for (char *at = text; at < text + size && count < MOST_WORDS; at += strlen(at) + 1)
        words[count++] = at;
    return count;
}

static void begin(struct arena *arena)
{
    arena_free(arena);
    *arena = (struct arena){ .shelf = &shelf };
}

EXPORT(size) size_t page_size(void)
{
    return reply.size;
}

EXPORT(ask) const char *page_ask(char *text, size_t size)
{
    char *words[MOST_WORDS];
    begin(&asked);
    reply = (struct buffer){ .arena = &asked };
    respond(&asked, split(text, size, words), words, &reply);
    return reply.data;
}

EXPORT(board) const char *page_board(unsigned slot, char *text, size_t size, char *quantities,
                                     size_t quantities_size)
{
    char *words[MOST_WORDS], *rows[MOST_WORDS];
    struct opened *to = &opened[slot % MOST_BOARDS];
    struct error error;
    begin(&to->arena);
    struct doc *doc = doc_new(&to->arena, DOC_OBJECT);
    int count = split(text, size, words);
    size_t row_count = (size_t)split(quantities, quantities_size, rows);
    if (!board_open(&to->board, &to->arena, count, words, (const char *const *)rows, row_count,
                    doc, &error)) {
        struct doc *said = doc_add(&to->arena, doc, "error", DOC_OBJECT);
        doc_add_string(&to->arena, said, "what", error.what);
        doc_add_string(&to->arena, said, "hint", error.hint);
    }
    reply = (struct buffer){ .arena = &to->arena };
    doc_print(&reply, doc);
    return reply.data;
}

EXPORT(inputs) double *page_inputs(unsigned slot, unsigned side)
{
    return opened[slot % MOST_BOARDS].board.sides[side % BOARD_SIDES].inputs;
}

EXPORT(values) double *page_values(unsigned slot, unsigned side)
{
    return opened[slot % MOST_BOARDS].board.sides[side % BOARD_SIDES].values;
}

EXPORT(run) void page_run(unsigned slot, unsigned side)
{
    board_run(&opened[slot % MOST_BOARDS].board, side % BOARD_SIDES);
}

EXPORT(sweep) void page_sweep(unsigned slot, unsigned side, size_t input, const double *x,
                              size_t points, double *outputs)
{
    board_sweep(&opened[slot % MOST_BOARDS].board, side % BOARD_SIDES, input, x, points, outputs);
}

/* "3.55 ms": a number as the command line writes it, in a field so that it reads back; for the
 * eye a large count has its letter: "374 T tokens". */
EXPORT(write_quantity) const char *page_write_quantity(double value, const char *unit_text,
                                                       int digits, bool field)
{
    static const double large = 1e9;
    static const struct unit token = { { 0, 0, 0, 2 } };
    struct unit unit;
    double scale;
    struct error error;
    begin(&told);
    reply = (struct buffer){ .arena = &told };
    buffer_add(&reply, "", 0);
    if (!unit_parse(text_of(unit_text), &unit, &scale, &error))
        return reply.data;
    if (!field && unit_counts(unit) && value >= large)
        buffer_print(&reply, "%s%s", large_text(&told, value), unit_same(unit, token) ? " tokens" : "");
    else
        quantity_print(&reply, value, unit, digits);
    return reply.data;
}

/* "20ms" to 0.02; NaN where it is no such quantity, with the reason as the reply. */
EXPORT(read_quantity) double page_read_quantity(const char *text, const char *unit_text)
{
    struct unit unit;
    struct quantity quantity;
    double scale;
    struct error error;
    begin(&told);
    reply = (struct buffer){ .arena = &told };
    buffer_add(&reply, "", 0);
    if (unit_parse(text_of(unit_text), &unit, &scale, &error) &&
        quantity_parse(text_of(text), unit, &quantity, &error) &&
        quantity.spread == SPREAD_NONE)
        return quantity.value;
    buffer_print(&reply, "%s; %s", error.what, error.hint);
    return __builtin_nan("");
}

EXPORT(reply) const char *page_reply(void)
{
    return reply.data;
}
