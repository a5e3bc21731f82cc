/* base -- the ground: memory, text, errors, tables and documents.
 *
 * One arena per question. Everything a question needs is allocated in its arena and
 * lives exactly as long; nothing inside is freed alone, nothing is handed over. Only
 * base/ calls malloc.
 *
 * Bad input is a returned `false` and a filled `struct error`: what was read, where,
 * what would have been accepted. Library code never prints and never exits. A bug is
 * an assert. */
#ifndef BASE_H
#define BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* ---- arena -------------------------------------------------------------------
 *
 *   chunk <- chunk <- chunk (used | free)       memory is zeroed and 64-byte aligned
 *                                               on request
 *
 * When memory runs out `exhausted` is called and must not return (the command line
 * says so and ends); without one the process aborts. */
struct chunk;
struct shelf;
struct arena {
    struct chunk *last;
    void (*exhausted)(void *context);
    void *context;
    size_t taken;           /* bytes handed out so far */
    size_t most;            /* that may be handed out; 0: what the system has */
    size_t fail_after;      /* tests: fail at this many further allocations; 0 never */
    const struct shelf *shelf;      /* the only files there are; NULL: the system's */
};

void  arena_free(struct arena *arena);
/* An empty one, freed by itself: with the same end, the same files and what is left of `most`. */
struct arena arena_beside(const struct arena *arena);
void *arena_alloc(struct arena *arena, size_t size);                    /* zeroed */
void *arena_array(struct arena *arena, size_t count, size_t size);      /* zeroed, checked */
void *arena_align(struct arena *arena, size_t size, size_t alignment);  /* zeroed */
char *arena_print(struct arena *arena, const char *format, ...) BASE_PRINTF(2, 3);
char *arena_copy(struct arena *arena, const char *data, size_t size);   /* adds a 0 */

/* Room for one more element in an array that doubles: returns where it goes. */
void *arena_push(struct arena *arena, void *array_pointer, size_t *count,
                 size_t *room, size_t size);

/* ---- error -------------------------------------------------------------------- */
struct error {
    char what[768];         /* "data/hardware.csv:12: ...": where it was read, and what is wrong with it */
    char hint[512];         /* the line below it; may be empty */
    bool expected;          /* `hint` says what would have been accepted; otherwise it is advice */
};

/* Fill `error` and return false, so that `return error_set(...)` reads well. A message may quote what a
 * stranger wrote, and goes to a terminal: bytes that are not plain text are written as \x1b. */
bool error_set(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
/* The second line of the message: "expected: a whole number", or "hint: did you mean --batch?". */
bool error_expected(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
bool error_suggest(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
/* The second line of `cause`, which an outer message takes over. */
bool error_hint_of(struct error *error, const struct error *cause);
/* "expected" or "hint": what stands before `hint`. */
const char *error_label(const struct error *error);

/* ---- text: a run of bytes, not owned, not terminated --------------------------- */
struct text {
    const char *data;
    size_t size;
};

struct text text_of(const char *string);
struct text text_trim(struct text text);
struct text text_line(struct text *rest);       /* takes one line off, without its end */
bool text_is(struct text text, const char *string);
bool text_number(struct text text, double *number);     /* all of it, finite, C locale */

/* ---- text that others wrote -----------------------------------------------------------
 *
 * A name, a title or a note goes on to pictures, shells, manifests, terminals and pages. It is
 * refused where it is read if a byte of it is no plain text: a control character (C0, DEL, C1),
 * a separator of lines, a mark that turns the direction of writing, no UTF-8. Every writer
 * quotes it all the same. */

/* Bytes of the UTF-8 character that `text` begins with; 0, and 0 for its code: none (RFC 3629). */
size_t text_character(struct text text, uint32_t *code);
/* Bytes before the first that is no plain text; `allowed`: control characters that are. */
size_t text_plain(struct text text, const char *allowed);
/* All of it is plain; else an error that begins with `place`. */
bool text_check(struct text text, const char *place, struct error *error);
/* The same of a file of lines, which may have tabs; the error names the line. */
bool text_check_lines(struct text text, const char *file, struct error *error);

/* Names compare without case, spaces, '_', '-', '.': "GB200 NVL72" is "gb200-nvl72". */
bool name_same(const char *a, const char *b);
/* The nearest of `names` for a "did you mean", or NULL when none is near. */
const char *name_nearest(const char *name, const char *const *names, size_t count);
/* ---- files -------------------------------------------------------------------------
 *
 * A question may bring its files along: those dropped on the page, those of a request to
 * the server. Then its arena has a shelf, no other file is read and none is written. */
struct shelf {
    const struct shelf_file {
        const char *path;
        struct text text;
    } *files;
    size_t count;
};

/* Read a whole file; size at most `limit` bytes. "-" is standard input. */
bool file_read(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error);
/* Its first `limit` bytes, or all. */
bool file_head(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error);
bool file_there(const struct arena *arena, const char *path);
bool file_may_write(const struct arena *arena, const char *path, struct error *error);

/* ---- buffer: text that grows in an arena ---------------------------------------- */
struct buffer {
    struct arena *arena;
    char *data;             /* always terminated */
    size_t size, room;
};

void buffer_add(struct buffer *buffer, const char *data, size_t size);
void buffer_print(struct buffer *buffer, const char *format, ...) BASE_PRINTF(2, 3);
/* What a terminal may get: bytes that are no plain text become \x1b. */
void buffer_add_plain(struct buffer *buffer, struct text text, const char *allowed);

/* ---- csv (RFC 4180; '#' at the start of a line is a comment) ---------------------
 *
 * Every cell is plain text. A table of somebody else may have columns that nobody reads, with
 * anything inside: who reads it by csv_read_any looks at the cells that he shows. */
struct csv {
    const char *file;
    size_t columns, rows;
    const char *text;       /* the cells, each terminated */
    const uint32_t *cells;  /* [(1 + rows) * columns] where each begins in it; the header is first */
    const int *lines;       /* [rows] line of the file, for messages */
};

bool csv_read(struct arena *arena, const char *file, struct text text, struct csv *csv,
              struct error *error);
bool csv_read_any(struct arena *arena, const char *file, struct text text, struct csv *csv,
                  struct error *error);
const char *csv_header(const struct csv *csv, size_t column);
int csv_column(const struct csv *csv, const char *name);       /* -1: no such column */
const char *csv_cell(const struct csv *csv, size_t row, int column); /* "" for -1 */

/* ---- doc: a JSON-like document tree ------------------------------------------------
 *
 * Filled natively by jansson (json.c), in the page by its own parser; written
 * by doc_print. Answers are documents too, so --json is one function for all. */
enum doc_kind { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_ARRAY, DOC_OBJECT };

struct doc {
    enum doc_kind kind;
    bool boolean;
    double number;
    const char *string;
    const char *key;        /* its name inside an object */
    struct doc *first, *last, *next;    /* children of an array or object, in order */
    size_t count;
};

struct doc *doc_new(struct arena *arena, enum doc_kind kind);
struct doc *doc_add(struct arena *arena, struct doc *parent, const char *key, enum doc_kind kind);
void doc_add_number(struct arena *arena, struct doc *object, const char *key, double number);
void doc_add_string(struct arena *arena, struct doc *object, const char *key, const char *string);
void doc_add_bool(struct arena *arena, struct doc *object, const char *key, bool boolean);
void doc_put(struct doc *parent, const char *key, struct doc *kid);    /* one that has no parent */
const struct doc *doc_get(const struct doc *object, const char *key);  /* NULL: absent */
/* JSON text to a document; Infinity, which Python writes, reads as null. */
bool json_read(struct arena *arena, const char *file, struct text text, struct doc **doc,
               struct error *error);
/* The shortest text that reads back the same; "null" for what is not finite. */
void buffer_number(struct buffer *out, double number);
/* JSON, numbers shortest that read back the same, indented by two spaces. */
void doc_print(struct buffer *out, const struct doc *doc);

#endif
