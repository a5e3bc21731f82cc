/* base -- what every other folder stands on: memory, text, errors, CSV tables and JSON documents.
 *
 * There is one arena per question. Everything that a question needs is allocated in its arena and
 * lives as long as the arena; nothing inside is freed alone, and ownership never moves. Only base/
 * calls malloc.
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
 *   chunk <- chunk <- chunk (used | free)       memory is zeroed, and aligned to 64 bytes
 *                                               on request
 *
 * When memory runs out, `exhausted` is called and must not return (the command line prints an error
 * and exits); if it is NULL, a guarded call is left (guard.h), or the process aborts. */
struct chunk;
struct shelf;
struct arena {
    struct chunk *last;
    void (*exhausted)(void *context);
    void *context;
    size_t taken;           /* bytes allocated so far */
    size_t most;            /* bytes that may be allocated; 0: no limit */
    size_t fail_after;      /* tests: fail after this many further allocations; 0: never */
    const struct shelf *shelf;      /* not NULL: files are read from this shelf only, never from disk */
    struct arena *inner, *next;     /* a list of the arenas that are freed with it */
    struct arena *outer;            /* the arena that it ends with, whose limit it shares; or NULL */
};

void  arena_free(struct arena *arena);
_Noreturn void arena_exhausted(struct arena *arena);        /* also where another library has no memory */
/* An empty arena with the same `exhausted` and files, and with the rest of `most`. The caller frees it;
 * it suits results that are needed only for a moment. */
struct arena arena_beside(const struct arena *arena);
/* An arena that lies in its own memory, for what a caller keeps, and its end. */
struct arena *arena_new(void);
void arena_end(struct arena *arena);
/* An arena that is freed with this one. The caller may free it earlier and use it again. */
struct arena *arena_inner(struct arena *arena);
void *arena_alloc(struct arena *arena, size_t size);                    /* zeroed */
void *arena_array(struct arena *arena, size_t count, size_t size);      /* zeroed, checked */
void *arena_room(struct arena *arena, size_t size);     /* for much that is filled before it is read: not zeroed */
void *arena_align(struct arena *arena, size_t size, size_t alignment);  /* zeroed */
/* Give bytes from <= i < end of memory of an arena back to the system, in whole pages. Neither they nor those before
 * them are read again. */
void  arena_forget(void *memory, size_t from, size_t end);
char *arena_print(struct arena *arena, const char *format, ...) BASE_PRINTF(2, 3);
char *arena_copy(struct arena *arena, const char *data, size_t size);   /* adds a 0 */

/* Something that is no memory of an arena, such as a document of jansson: arena_let_go releases it, or a guarded call
 * that is left before. The caller may set `what` later. */
struct holding {
    struct holding *before, *next;     /* in the list of the guarded call; NULL: there is none */
    void (*release)(void *what);
    void *what;
};
struct holding *arena_hold(struct arena *arena, void (*release)(void *what), void *what);
void arena_let_go(struct holding *held);

/* Make room for one more element in an array whose room doubles, and return the new element. */
void *arena_push(struct arena *arena, void *array_pointer, size_t *count,
                 size_t *room, size_t size);

/* ---- error -------------------------------------------------------------------- */
struct error {
    char what[768];         /* where it was read and what is wrong with it: "data/hardware.csv:12: ..." */
    char hint[512];         /* the second line of the message; may be empty */
    char similar[256];      /* names that may have been meant, each with a newline behind it */
    bool expected;          /* `hint` says what would have been accepted; otherwise it is advice */
    bool infeasible;        /* the question is valid, but nothing is feasible: exit status 1 */
};

/* Fill `error` and return false, so that a caller can `return error_set(...)`. NULL: the caller asks only whether
 * something exists, and no message is composed. A message may quote text of unknown origin on a terminal, so bytes
 * that are not plain text are written as \x1b. */
bool error_set(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
/* The second line of the message: "expected: a whole number", or "hint: did you mean --batch?". */
bool error_expected(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
bool error_suggest(struct error *error, const char *format, ...) BASE_PRINTF(2, 3);
/* "hint: did you mean 'NAME'?", and then `more`; the name becomes one of the similar ones. */
bool error_did_you_mean(struct error *error, const char *name, const char *more);
bool error_similar(struct error *error, const char *name);
/* Copy the second line of `cause`, and its similar names, into an outer message. */
bool error_hint_of(struct error *error, const struct error *cause);
/* The word before the second line: "expected" or "hint". */
const char *error_label(const struct error *error);

/* ---- text: a run of bytes, not owned, not terminated --------------------------- */
struct text {
    const char *data;
    size_t size;
};

struct text text_of(const char *string);
struct text text_trim(struct text text);
struct text text_without_mark(struct text text);        /* without a byte order mark, which editors put before a file */
struct text text_line(struct text *rest);       /* removes and returns the first line, without its end */
struct text text_until(struct text *rest, char mark);   /* removes and returns the text before the mark, or all of it */
bool text_is(struct text text, const char *string);
bool starts_with(const char *string, const char *start);
bool text_starts_with(struct text text, const char *start);
bool ends_with(const char *string, const char *end);
/* Is a word in a list of words with spaces between them? */
bool text_has_word(const char *list, const char *word);
bool text_number(struct text text, double *number);     /* the whole text must be a finite number */

/* ---- text of unknown origin -----------------------------------------------------------
 *
 * A name, a title or a note ends up in pictures, shells, manifests, terminals and web pages. It is
 * rejected where it is read unless it is plain text: valid UTF-8 without control characters (C0, DEL,
 * C1), line separators and marks that change the direction of writing. Every writer still quotes it. */

/* Number of bytes of the first UTF-8 character of `text`, and its code point; 0 and code 0 if it is not
 * valid UTF-8 (RFC 3629). */
size_t text_character(struct text text, uint32_t *code);
/* Number of bytes before the first that is not plain text. `allowed` lists control characters to accept. */
size_t text_plain(struct text text, const char *allowed);
/* False, with an error that begins with `place`, unless all of the text is plain. */
bool text_check(struct text text, const char *place, struct error *error);
/* The same for a file of lines, in which tabs are allowed; the error names the line. */
bool text_check_lines(struct text text, const char *file, struct error *error);

/* Compare names without case, spaces, '_', '-' and '.': "GB200 NVL72" is "gb200-nvl72". */
bool name_same(const char *a, const char *b);
int name_order(const char *a, const char *b);    /* the order of a sort; 0: name_same */
/* Does the text contain the word, in capitals or not? */
bool name_within(const char *text, const char *word);
/* Where a name stands in a list of names, letter by letter; `count` where it does not. */
size_t name_index(const char *const *names, size_t count, const char *name);
bool name_listed(const char *const *names, size_t count, const char *name);
/* The most similar of `names` for a "did you mean", or NULL if none is similar. */
const char *name_nearest(const char *name, const char *const *names, size_t count);

/* ---- files -------------------------------------------------------------------------
 *
 * A question may come with files: those dropped on the page, or those of an HTTP request. Its arena then
 * has a shelf with these files; no other file is read, and none is written. */
struct shelf {
    const struct shelf_file {
        const char *path;
        struct text text;
    } *files;
    size_t count;
};

/* Read a whole file of at most `limit` bytes. "-" is standard input. */
bool file_read(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error);
/* Read the first `limit` bytes of a file, or all of it if it is shorter. */
bool file_head(struct arena *arena, const char *path, size_t limit, struct text *out,
               struct error *error);
bool file_there(const struct arena *arena, const char *path);
bool file_may_write(const struct arena *arena, const char *path, struct error *error);
/* Write a whole file, or leave what is there as it was (output.h). `what` names the option that asked for it in a
 * message: "--output". */
bool file_write(struct arena *arena, const char *what, const char *path, struct text text, struct error *error);

/* ---- buffer: text that grows in an arena ---------------------------------------- */
struct buffer {
    struct arena *arena;    /* NULL: nobody reads the text, and none is kept */
    char *data;             /* always terminated */
    size_t size, room;
    size_t columns;         /* width of the terminal that the text is for; 0: lines have any width */
};

void buffer_add(struct buffer *buffer, const char *data, size_t size);
void buffer_print(struct buffer *buffer, const char *format, ...) BASE_PRINTF(2, 3);
/* Add text for a terminal: bytes that are not plain text become \x1b. */
void buffer_add_plain(struct buffer *buffer, struct text text, const char *allowed);

/* ---- hashes: FNV-1a of 64 bits, from HASH_START ------------------------------------------ */
#define HASH_START UINT64_C(14695981039346656037)
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(1099511628211);
}
uint64_t hash_text(uint64_t hash, const char *text);    /* its bytes, without the 0 at its end */
uint64_t hash_numbers(uint64_t hash, const double *values, size_t count);

/* ---- patterns: extended regular expressions of POSIX ------------------------------------ */
enum { PATTERN_GROUPS = 9 };
struct pattern;

/* NULL: no such expression. `text` must outlive the pattern; in a page the browser's expressions stand for it. */
struct pattern *pattern_open(struct arena *arena, const char *text);
void pattern_close(struct pattern *pattern);    /* nothing to NULL */
/* Where it is found, the groups in its parentheses, as parts of `text`; one that took no part has no data. */
bool pattern_find(const struct pattern *pattern, const char *text, struct text groups[PATTERN_GROUPS]);

/* ---- numbers ---------------------------------------------------------------------- */

/* The quantile of `sizes` at `share`, interpolated linearly; NaN if there are none. Sorts `sizes`. */
double sizes_quantile(double *sizes, size_t count, double share);

/* ---- csv (RFC 4180; '#' at the start of a line is a comment) ---------------------
 *
 * csv_read checks that every cell is plain text. A foreign table may have columns with anything inside
 * that nobody reads: csv_read_any does not check, and its caller must check the cells that it prints. */
struct csv {
    const char *file;
    size_t columns, rows;
    const char *text;       /* all cells, each terminated by a 0 */
    const uint32_t *cells;  /* [(1 + rows) * columns] offset of each cell in `text`; the header is first */
    const uint16_t *near;   /* the same, in place of `cells`, of a built in table whose offsets are small */
    const int *lines;       /* [rows] line of the file, for messages */
};

bool csv_read(struct arena *arena, const char *file, struct text text, struct csv *csv,
              struct error *error);
/* Any cells, and groups of columns that begin with a name and repeat others behind it, as in data/devices.csv; the other
 * two refuse a name that two columns have. */
bool csv_read_groups(struct arena *arena, const char *file, struct text text, struct csv *csv,
                     struct error *error);
bool csv_read_any(struct arena *arena, const char *file, struct text text, struct csv *csv,
                  struct error *error);
const char *csv_at(const struct csv *csv, size_t cell);         /* counted as in `cells` */
const char *csv_header(const struct csv *csv, size_t column);
int csv_column(const struct csv *csv, const char *name);       /* -1: no such column */
const char *csv_cell(const struct csv *csv, size_t row, int column); /* "" for -1 */
void csv_write_cell(struct buffer *out, const char *text);     /* quoted where it must be; NULL: empty */

/* ---- doc: a JSON-like document tree ------------------------------------------------
 *
 * json.c reads it with jansson; in the page, json_page.c has a parser of its own. doc_print writes it.
 * Answers are documents too, so that one function prints --json for all verbs. An answer as text has no
 * document: the functions drop each member that you add to NULL, and doc_add returns NULL. */
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
/* "error" of an answer that failed: what, hint, expected, and the names that it suggests. */
void error_document(struct arena *arena, const struct error *error, struct doc *object);
/* The same in another arena. */
struct doc *doc_copy(struct arena *arena, const struct doc *doc);
void doc_put(struct doc *parent, const char *key, struct doc *kid);    /* `kid` must not have a parent */
const struct doc *doc_get(const struct doc *object, const char *key);  /* NULL: absent */
/* A member that is a string, that is a number; `absent` where it is not. */
const char *doc_text(const struct doc *object, const char *key, const char *absent);
double doc_number(const struct doc *object, const char *key, double absent);
bool doc_is(const struct doc *doc, bool value);         /* a boolean of that value; NULL is neither */
/* JSON text to a document; Infinity, which Python writes, reads as null. */
bool json_read(struct arena *arena, const char *file, struct text text, struct doc **doc,
               struct error *error);
/* Print the shortest text that reads back as the same double; "null" if it is not finite. */
void buffer_number(struct buffer *out, double number);
/* Print as JSON, indented by two spaces, with numbers as buffer_number prints them. */
void doc_print(struct buffer *out, const struct doc *doc);

#endif
