/* The SQLite file of a search: finished blocks survive the end of the process.
 *
 * Rows are committed every STORE_SECONDS. The file is locked exclusively while it is open, so that
 * SQLite needs no shared memory beside it, which also works on network file systems. Before
 * anything is written the file is checked to be ours, or empty. The stored question is compared
 * item by item, so that an error can name the first option that differs. Blocks are not
 * interpreted here: block.c checks their sums and contents. */
#include "search/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>

/* "chkl" in the file's header, and the layout of tables and blocks. */
enum { APPLICATION = 0x63686b6c, LAYOUT = 1, WAIT_MS = 1000 };

struct store {
    sqlite3 *file;
    sqlite3_stmt *put;              /* inserts a block */
    struct arena *arena;
    const char *path;
    bool began;                     /* a transaction is open */
    struct timespec committed;      /* when the last one was committed */
};

/* ---- SQLite's errors as messages ----------------------------------------------------------- */

static bool fails(const struct store *store, struct error *error)
{
    const int code = store->file ? sqlite3_errcode(store->file) & 0xff : SQLITE_NOMEM;
    static const struct { int code; const char *what, *hint; } words[] = {
        { SQLITE_NOTADB, "not a store of a search", "a file that plan --store or train --store wrote" },
        { SQLITE_CORRUPT, "damaged", "a whole file; delete it to search again" },
        { SQLITE_BUSY, "in use by another process", "one process a store" },
        { SQLITE_LOCKED, "in use by another process", "one process a store" },
        { SQLITE_READONLY, "cannot be written", "a file and a folder that can be" },
        { SQLITE_FULL, "cannot grow: the disk is full", "room; what is in the store stays, and the "
          "same command goes on from it" } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code) {
            error_set(error, "%s: %s", store->path, words[i].what);
            return error_expected(error, "%s", words[i].hint);
        }
    const int system = store->file ? sqlite3_system_errno(store->file) : ENOMEM;
    return error_set(error, "%s: %s", store->path,
                     system ? strerror(system) : sqlite3_errmsg(store->file));
}

static bool run(const struct store *store, const char *sql, struct error *error)
{
    return sqlite3_exec(store->file, sql, NULL, NULL, NULL) == SQLITE_OK || fails(store, error);
}

static bool prepare(const struct store *store, const char *sql, sqlite3_stmt **statement,
                    struct error *error)
{
    return sqlite3_prepare_v2(store->file, sql, -1, statement, NULL) == SQLITE_OK ||
           fails(store, error);
}

/* The one number that a statement gives. */
static bool read_number(const struct store *store, const char *sql, int64_t *number,
                        struct error *error)
{
    sqlite3_stmt *statement;
    if (!prepare(store, sql, &statement, error))
        return false;
    const bool good = sqlite3_step(statement) == SQLITE_ROW || fails(store, error);
    if (good)
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return good;
}

/* ---- the question -------------------------------------------------------------------------- */

/* A line without what only divides it from the next. */
static struct text item_of(struct text *rest)
{
    struct text line = text_trim(text_line(rest));
    line.size -= line.size && line.data[line.size - 1] == ',';
    return line;
}

/* The first item of one list that the other lacks; empty: none. */
static struct text only_in(const char *one, const char *other)
{
    for (struct text rest = text_of(one); rest.size;) {
        const struct text item = item_of(&rest);
        bool found = false;
        for (struct text others = text_of(other); others.size && !found;) {
            const struct text theirs = item_of(&others);
            found = item.size == theirs.size && !memcmp(item.data, theirs.data, item.size);
        }
        if (!found)
            return item;
    }
    return (struct text){ "", 0 };
}

static bool other_words(const struct store_question *a, const char *path_a,
                        const struct store_question *b, const char *path_b, struct error *error)
{
    enum { SHOWN = 100 };
    const struct text lacks = only_in(a->words, b->words), has = only_in(b->words, a->words);
    const struct text told = has.size ? has : lacks;
    error_set(error, "%s: of another question than %s: it %s %.*s", path_b, path_a,
              has.size ? "has" : "lacks", told.size < SHOWN ? (int)told.size : SHOWN, told.data);
    if (lacks.size)
        return error_expected(error, "%.*s", lacks.size < SHOWN ? (int)lacks.size : SHOWN, lacks.data);
    return error_expected(error, "the same model, machines and options");
}

bool store_same(const struct store_question *a, const char *path_a,
                const struct store_question *b, const char *path_b, struct error *error)
{
    if (strcmp(a->version, b->version)) {
        error_set(error, "%s: of chalkline %s, %s is of %s", path_b, b->version, path_a,
                  a->version);
        return error_expected(error, "one version for all parts of a search");
    }
    if (strcmp(a->words, b->words))
        return other_words(a, path_a, b, path_b, error);
    if (a->digest != b->digest || a->searches != b->searches || a->blocks != b->blocks) {
        error_set(error, "%s: of the same question as %s, but of other rows, facts or files",
                  path_b, path_a);
        return error_expected(error, "the same formulas, data and files for all parts of a search");
    }
    return true;
}

static bool no_store(const struct store *store, const char *what, struct error *error)
{
    error_set(error, "%s: %s", store->path, what);
    return error_expected(error, "a file that plan --store or train --store wrote");
}

/* The file is ours, or (`fresh`) nothing is in it. */
static bool check_kind(const struct store *store, bool *fresh, struct error *error)
{
    int64_t application, layout, tables;
    if (!read_number(store, "PRAGMA application_id", &application, error) ||
        !read_number(store, "PRAGMA user_version", &layout, error) ||
        !read_number(store, "SELECT count(*) FROM sqlite_master", &tables, error))
        return false;
    *fresh = !application && !layout && !tables;
    if (!*fresh && application != APPLICATION)
        return no_store(store, "a SQLite database, but not a store of a search", error);
    if (!*fresh && layout != LAYOUT)
        return no_store(store, "a store of another layout", error);
    return true;
}

static const char *copy_text(struct arena *arena, sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return arena_copy(arena, text ? (const char *)text : "",
                      (size_t)sqlite3_column_bytes(statement, column));
}

static bool read_question(const struct store *store, struct store_question *question,
                          struct error *error)
{
    sqlite3_stmt *statement;
    if (!prepare(store, "SELECT version, words, digest, searches, blocks, shards FROM question",
                 &statement, error))
        return false;
    const int step = sqlite3_step(statement);
    if (step == SQLITE_ROW)
        *question = (struct store_question){
            copy_text(store->arena, statement, 0), copy_text(store->arena, statement, 1),
            (uint64_t)sqlite3_column_int64(statement, 2),
            (uint64_t)sqlite3_column_int64(statement, 3),
            (uint64_t)sqlite3_column_int64(statement, 4),
            (uint64_t)sqlite3_column_int64(statement, 5) };
    const bool good = step == SQLITE_ROW ||
                      (step == SQLITE_DONE ? no_store(store, "no question is in it", error)
                                           : fails(store, error));
    sqlite3_finalize(statement);
    return good;
}

static bool write_question(const struct store *store, const struct store_question *question,
                           struct error *error)
{
    char header[96];
    sqlite3_stmt *statement;
    sqlite3_snprintf(sizeof header, header, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     APPLICATION, LAYOUT);
    if (!run(store, header, error) ||
        !run(store, "CREATE TABLE question (version TEXT NOT NULL, words TEXT NOT NULL,"
                    " digest INTEGER NOT NULL, searches INTEGER NOT NULL,"
                    " blocks INTEGER NOT NULL, shards INTEGER NOT NULL);"
                    "CREATE TABLE block (search INTEGER NOT NULL, number INTEGER NOT NULL,"
                    " bytes BLOB NOT NULL, PRIMARY KEY (search, number)) WITHOUT ROWID", error) ||
        !prepare(store, "INSERT INTO question VALUES (?, ?, ?, ?, ?, ?)", &statement, error))
        return false;
    sqlite3_bind_text(statement, 1, question->version, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, question->words, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (int64_t)question->digest);
    sqlite3_bind_int64(statement, 4, (int64_t)question->searches);
    sqlite3_bind_int64(statement, 5, (int64_t)question->blocks);
    sqlite3_bind_int64(statement, 6, (int64_t)question->shards);
    const bool good = sqlite3_step(statement) == SQLITE_DONE || fails(store, error);
    sqlite3_finalize(statement);
    return good;
}

static bool settle_question(const struct store *store, const struct store_question *question,
                            struct error *error)
{
    struct store_question old;
    bool fresh;
    if (!check_kind(store, &fresh, error))
        return false;
    if (fresh)
        return write_question(store, question, error);
    return read_question(store, &old, error) &&
           store_same(question, "this search", &old, store->path, error);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Locked from first to last, so that no memory is shared beside the file: that works on network
 * file systems too. */
static bool open_file(struct arena *arena, const char *path, int flags, struct store **store,
                      struct error *error)
{
    struct store *made = arena_alloc(arena, sizeof *made);
    if (*path == ':')                               /* ":memory:" and the like are no files */
        path = arena_print(arena, "./%s", path);
    *made = (struct store){ .arena = arena, .path = path };
    *store = made;
    if (!file_may_write(arena, path, error))
        return false;
    if (sqlite3_open_v2(path, &made->file, SQLITE_OPEN_READWRITE | flags, NULL) != SQLITE_OK)
        return fails(made, error);
    sqlite3_busy_timeout(made->file, WAIT_MS);
    return run(made, "PRAGMA locking_mode = EXCLUSIVE", error);
}

static bool abandon(struct store *store)
{
    sqlite3_finalize(store->put);
    sqlite3_close(store->file);
    store->put = NULL;
    store->file = NULL;
    return false;
}

/* What kind of file it is comes before anything is written to it. */
static bool begin_writing(struct store *store, const struct store_question *question,
                          struct error *error)
{
    return run(store, "BEGIN EXCLUSIVE", error) && settle_question(store, question, error) &&
           run(store, "COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", error) &&
           prepare(store, "INSERT OR REPLACE INTO block VALUES (?, ?, ?)", &store->put, error);
}

bool store_open(struct arena *arena, const char *path, const struct store_question *question,
                struct store **store, struct error *error)
{
    return (open_file(arena, path, SQLITE_OPEN_CREATE, store, error) &&
            begin_writing(*store, question, error)) ||
           abandon(*store);
}

bool store_open_old(struct arena *arena, const char *path, struct store **store,
                    struct store_question *question, struct error *error)
{
    bool fresh;
    return (open_file(arena, path, 0, store, error) && check_kind(*store, &fresh, error) &&
            (!fresh || no_store(*store, "no question is in it", error)) &&
            read_question(*store, question, error)) ||
           abandon(*store);
}

/* ---- rows ---------------------------------------------------------------------------------- */

bool store_each(struct store *store, bool (*row)(void *context, uint64_t search, uint64_t number,
                                                 struct text bytes, struct error *error),
                void *context, struct error *error)
{
    sqlite3_stmt *statement;
    int step;
    bool good = true;
    if (!prepare(store, "SELECT search, number, bytes FROM block ORDER BY search, number",
                 &statement, error))
        return false;
    while (good && (step = sqlite3_step(statement)) != SQLITE_DONE) {
        const void *bytes = sqlite3_column_blob(statement, 2);
        good = step == SQLITE_ROW
               ? row(context, (uint64_t)sqlite3_column_int64(statement, 0),
                     (uint64_t)sqlite3_column_int64(statement, 1),
                     (struct text){ bytes ? bytes : "",
                                    (size_t)sqlite3_column_bytes(statement, 2) }, error)
               : fails(store, error);
    }
    sqlite3_finalize(statement);
    return good;
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static bool commit(struct store *store, struct error *error)
{
    if (store->began && !run(store, "COMMIT", error))
        return false;
    store->began = false;
    clock_gettime(CLOCK_MONOTONIC, &store->committed);
    return true;
}

bool store_put(struct store *store, uint64_t search, uint64_t number, struct text bytes,
               struct error *error)
{
    if (!store->began && !run(store, "BEGIN", error))
        return false;
    store->began = true;
    sqlite3_bind_int64(store->put, 1, (int64_t)search);
    sqlite3_bind_int64(store->put, 2, (int64_t)number);
    sqlite3_bind_blob64(store->put, 3, bytes.data, bytes.size, SQLITE_STATIC);
    const bool good = sqlite3_step(store->put) == SQLITE_DONE || fails(store, error);
    sqlite3_reset(store->put);
    return good && (seconds_since(&store->committed) < STORE_SECONDS || commit(store, error));
}

bool store_close(struct store *store, struct error *error)
{
    const bool good = commit(store, error) &&
                      (!store->put || run(store, "PRAGMA journal_mode = DELETE", error));
    abandon(store);
    return good;
}
