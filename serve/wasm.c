/* The functions that the page calls in WebAssembly.
 *
 * Texts go in and out as bytes in this memory; a returned text lives until the next call of its
 * kind. There is one thread, and no file but those that the page put on the shelf. Each question
 * has an arena of its own, freed before the next. A board stays open in its slot until another was
 * opened successfully, so that a mistyped question does not lose it. */
#include "report/picture.h"
#include "score/benchmark.h"
#include "serve/web.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { MOST_WORDS = 512, MOST_FILES = 64, MOST_BOARDS = 4 };

static struct shelf_file files[MOST_FILES];
static struct shelf shelf = { files, 0 };
static struct arena asked, told;
static struct buffer reply;

/* A slot has two places: what is open stays, numbers and all, until another has been opened. */
static struct opened_board {
    struct arena arena;
    struct board board;
} places[MOST_BOARDS][2];
static bool second[MOST_BOARDS];                /* the second place is the open one */

static struct board *board_at(unsigned slot)
{
    slot %= MOST_BOARDS;
    return &places[slot][second[slot]].board;
}

EXPORT(room) void *page_room(size_t size)
{
    return malloc(size);
}

EXPORT(release) void page_release(void *memory)
{
    free(memory);
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

/* Words, each ended by 0, as a copy: what the page gave may go. */
static bool split(struct arena *arena, const char *text, size_t size, char **words, int *count,
                  struct error *error)
{
    char *copy = arena_copy(arena, text, size);
    *count = 0;
    for (char *at = copy; at < copy + size; at += strlen(at) + 1) {
        if (*count == MOST_WORDS) {
            error_set(error, "more than %d words", MOST_WORDS);
            return error_expected(error, "fewer options, or fewer rows");
        }
        words[(*count)++] = at;
    }
    return true;
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

EXPORT(ask) const char *page_ask(const char *text, size_t size)
{
    char *words[MOST_WORDS];
    struct error error;
    int count;
    begin(&asked);
    reply = (struct buffer){ .arena = &asked };
    if (split(&asked, text, size, words, &count, &error))
        respond(&asked, count, words, &reply);
    else
        respond_error(&asked, &error, &reply);
    return reply.data;
}

/* Is the file of this name on the shelf one of measurements? */
EXPORT(measured) bool page_measured(const char *path)
{
    enum { LIMIT = 64 << 20 };
    struct text text;
    struct error error;
    begin(&told);
    return file_read(&told, path, LIMIT, &text, &error) && benchmark_told(&told, path, text);
}

/* One verb more that has this option. */
static void table_option(struct doc *options, const struct option *option, const char *verb)
{
    struct doc *one = (struct doc *)(uintptr_t)doc_get(options, option->name);
    if (!one) {
        one = doc_add(&asked, options, option->name, DOC_OBJECT);
        doc_add_bool(&asked, one, "value", option->kind != OPTION_SWITCH);
        doc_add_string(&asked, one, "verbs", verb);
        return;
    }
    struct doc *verbs_of = (struct doc *)(uintptr_t)doc_get(one, "verbs");
    verbs_of->string = arena_print(&asked, "%s %s", verbs_of->string, verb);
}

/* What can be asked and with which options, for a page that is given words: {"verbs": {NAME:
 * WORDS}, "options": {NAME: {"value": true where it takes one, "verbs": "a b"}}}. */
EXPORT(tables) const char *page_tables(void)
{
    begin(&asked);
    struct doc *doc = doc_new(&asked, DOC_OBJECT);
    struct doc *of_verbs = doc_add(&asked, doc, "verbs", DOC_OBJECT);
    struct doc *of_options = doc_add(&asked, doc, "options", DOC_OBJECT);
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        const struct option *option;
        doc_add_string(&asked, of_verbs, (*verb)->name, (*verb)->words);
        for (struct option_at at = { 0 }; (option = verb_next_option(*verb, &at));)
            table_option(of_options, option, (*verb)->name);
    }
    reply = (struct buffer){ .arena = &asked };
    doc_print(&reply, doc);
    return reply.data;
}

/* The words' board, or an error: then the slot has the board that it had. */
EXPORT(board) const char *page_board(unsigned slot, const char *text, size_t size,
                                     const char *quantities, size_t quantities_size)
{
    char *words[MOST_WORDS], *rows[MOST_WORDS];
    bool *open = &second[slot %= MOST_BOARDS];
    struct opened_board *to = &places[slot][!*open];
    struct arena *arena = &to->arena;
    struct error error;
    int count, row_count;
    begin(arena);
    reply = (struct buffer){ .arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    if (!split(arena, text, size, words, &count, &error) ||
        !split(arena, quantities, quantities_size, rows, &row_count, &error) ||
        !board_open(&to->board, arena, count, words, (const char *const *)rows,
                    (size_t)row_count, doc, &error)) {
        respond_error(arena, &error, &reply);
        return reply.data;
    }
    arena_free(&places[slot][*open].arena);
    *open = !*open;
    doc_print(&reply, doc);
    return reply.data;
}

EXPORT(inputs) double *page_inputs(unsigned slot, unsigned side)
{
    return board_at(slot)->sides[side % BOARD_SIDES].inputs;
}

EXPORT(values) double *page_values(unsigned slot, unsigned side)
{
    return board_at(slot)->sides[side % BOARD_SIDES].values;
}

EXPORT(run) void page_run(unsigned slot, unsigned side)
{
    board_run(board_at(slot), side % BOARD_SIDES);
}

EXPORT(sweep) void page_sweep(unsigned slot, unsigned side, size_t input, const double *x,
                              size_t points, double *outputs)
{
    board_sweep(board_at(slot), side % BOARD_SIDES, input, x, points, outputs);
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
        quantity.distribution == DISTRIBUTION_NONE)
        return quantity.value;
    buffer_print(&reply, "%s; %s", error.what, error.hint);
    return __builtin_nan("");
}

/* A picture of its description, as SVG; an error as JSON, which does not begin with "<". */
EXPORT(picture) const char *page_picture(const char *json, size_t size, double width, double height,
                                         unsigned theme)
{
    struct picture *picture;
    struct error error;
    begin(&told);
    reply = (struct buffer){ .arena = &told };
    if (picture_read(&told, "picture", (struct text){ json, size }, &picture, &error))
        picture_svg(&reply, picture, width, height, theme > PICTURE_PAGE ? PICTURE_AUTO : theme);
    else
        respond_error(&told, &error, &reply);
    return reply.data;
}

/* What the pictures of a page need in its style. */
EXPORT(picture_style) const char *page_picture_style(void)
{
    begin(&told);
    reply = (struct buffer){ .arena = &told };
    picture_style(&reply, PICTURE_PAGE);
    return reply.data;
}

EXPORT(reply) const char *page_reply(void)
{
    return reply.data;
}
