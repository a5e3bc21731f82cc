/* Stores of a real plan: what was put in comes out; a file that was cut, written over or made by
 * another is refused or lacks rows, and never gives other ones. */
#include "test.h"
#include "commands.h"

#include "ask/plan/plan.h"
#include "search/block.h"
#include "search/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 400 };

struct fixture {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    struct plan plan;
    struct store_question asked;
    struct search_block *blocks;
    size_t count;
    struct text bytes[ROWS];        /* of the first blocks */
    size_t kept;
    char path[64];
};

static bool keep(void *context, const struct search_block *block, struct error *error)
{
    struct fixture *fixture = context;
    struct buffer out = { .arena = &fixture->arena };
    (void)error;
    block_write(&out, fixture->asked.digest, 0, block);
    fixture->bytes[block->number] = (struct text){ out.data, out.size };
    fixture->kept++;
    return true;
}

static void search_first(struct fixture *fixture)
{
    const struct search_keeper keeper = { keep, fixture };
    struct search_block *wanted[ROWS];
    fixture->blocks = search_blocks(&fixture->arena, fixture->plan.spaces, fixture->plan.count,
                                    &fixture->count);
    assert_true(fixture->count > 20);
    size_t rows = fixture->count < ROWS ? fixture->count : ROWS;
    for (size_t i = 0; i < rows; i++)
        wanted[i] = &fixture->blocks[i];
    assert_true(search_each(fixture->plan.spaces, wanted, rows, &keeper, &fixture->error));
    assert_int_equal(fixture->kept, rows);
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->command = (struct command){ .verb = &verb_plan };
    command_put_word(&fixture->arena, &fixture->command, "qwen3-30b-a3b");
    command_set(&fixture->arena, &fixture->command, "set", "max_num_seqs=64");
    command_set(&fixture->arena, &fixture->command, "on", "h100-sxm");
    fixture->plan = (struct plan){ .arena = &fixture->arena, .command = &fixture->command,
                                   .model = "qwen3-30b-a3b",
                                   .subject = subject_of("qwen3-30b-a3b", "h100-sxm"),
                                   .answer = &fixture->answer, .error = &fixture->error };
    if (!plan_spaces(&fixture->plan))
        fail_msg("%s", fixture->error.what);
    fixture->asked = (struct store_question){ "0", shard_words_write(&fixture->arena, &fixture->command),
                                              digest_spaces(1, fixture->plan.spaces,
                                                            fixture->plan.count), 1, 0, 1 };
    search_first(fixture);
    fixture->asked.blocks = fixture->count;
    snprintf(fixture->path, sizeof fixture->path, "/tmp/store_test.%d", (int)getpid());
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------------- */

struct count {
    struct fixture *fixture;
    size_t rows, refused;
};

/* A row that is taken is what was put in. */
static bool take(void *context, uint64_t search, uint64_t number, struct text bytes,
                 struct error *error)
{
    struct count *count = context;
    struct fixture *fixture = count->fixture;
    count->refused++;
    if (search || number >= fixture->kept)
        return error_set(error, "no such block");
    struct search_block block = fixture->blocks[number];
    if (!block_read(&fixture->arena, bytes, fixture->asked.digest, 0, fixture->plan.spaces, &block,
                    error))
        return false;
    count->refused--;
    assert_int_equal(bytes.size, fixture->bytes[number].size);
    assert_memory_equal(bytes.data, fixture->bytes[number].data, bytes.size);
    count->rows++;
    return true;
}

static void put_all(struct fixture *fixture)
{
    struct store *store;
    unlink(fixture->path);
    assert_true(store_open(&fixture->arena, fixture->path, &fixture->asked, &store,
                           &fixture->error));
    for (size_t i = 0; i < fixture->kept; i++)
        assert_true(store_put(store, 0, i, fixture->bytes[i], &fixture->error));
    assert_true(store_close(store, &fixture->error));
}

/* False: the file was refused, or a row of it. */
static bool read_all(struct fixture *fixture, struct count *count)
{
    struct store *store;
    struct store_question old;
    struct error ignored;
    *count = (struct count){ .fixture = fixture };
    if (!store_open_old(&fixture->arena, fixture->path, &store, &old, &fixture->error))
        return false;
    bool good = store_same(&fixture->asked, "this", &old, fixture->path, &fixture->error) &&
                store_each(store, take, count, &fixture->error);
    store_close(store, &ignored);
    return good;
}

static void rows_come_back(void **state)
{
    struct fixture *fixture = *state;
    struct count count;
    put_all(fixture);
    assert_true(read_all(fixture, &count));
    assert_int_equal(count.rows, fixture->kept);
    char beside[80];
    snprintf(beside, sizeof beside, "%s-wal", fixture->path);
    assert_int_not_equal(access(beside, F_OK), 0);
}

/* ---- damage -------------------------------------------------------------------------------- */

static struct text slurp(struct fixture *fixture)
{
    struct text text;
    assert_true(file_read(&fixture->arena, fixture->path, 1 << 28, &text, &fixture->error));
    return text;
}

static void write_file(const struct fixture *fixture, const char *data, size_t size)
{
    FILE *file = fopen(fixture->path, "wb");
    assert_true(file && fwrite(data, 1, size, file) == size && !fclose(file));
}

/* take() compares each row that is accepted; here it counts which files are refused. */
static void damage_is_seen(void **state)
{
    const int tries = rounds(600);
    struct fixture *fixture = *state;
    uint64_t seed = 20261121;
    size_t refused = 0, rows = 0, by_sum = 0;
    put_all(fixture);
    const struct text whole = slurp(fixture);
    char *copy = arena_copy(&fixture->arena, whole.data, whole.size);
    for (int i = 0; i < tries; i++) {
        struct count count;
        const size_t at = (size_t)(draw(&seed) * (double)whole.size);
        copy[at] ^= (char)(1 << draw_bits(&seed) % 8);
        write_file(fixture, copy, i % 4 ? whole.size : at);             /* each fourth is cut */
        refused += !read_all(fixture, &count);
        by_sum += count.refused;
        rows += count.rows;
        copy[at] = whole.data[at];
    }
    print_message("%d damaged files: %zu refused, %zu of them by a row's check\n", tries, refused,
                  by_sum);
    assert_true(refused > (size_t)tries / 3 && by_sum > (size_t)tries / 10 && rows > 0);
}

static bool reads(struct fixture *fixture, const char *data, size_t size, uint64_t command,
                  uint32_t search, size_t number)
{
    struct arena scratch = { 0 };
    struct search_block block = fixture->blocks[number];
    bool good = block_read(&scratch, (struct text){ data, size }, command, search,
                           fixture->plan.spaces, &block, &fixture->error);
    arena_free(&scratch);
    return good;
}

/* Every bit of one row and its length, its place, and the question that it is of. */
static void each_bit_counts(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t command = fixture->asked.digest;
    size_t at = 0;                  /* a row with a front, not the longest */
    while (at < fixture->kept && (fixture->bytes[at].size < 200 || fixture->bytes[at].size > 8000))
        at++;
    assert_true(at < fixture->kept);
    const size_t size = fixture->bytes[at].size;
    char *copy = arena_copy(&fixture->arena, fixture->bytes[at].data, size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        copy[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(reads(fixture, copy, size, command, 0, at));
        copy[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t less = 0; less < size; less++)
        assert_false(reads(fixture, copy, less, command, 0, at));
    assert_false(reads(fixture, copy, size, command + 1, 0, at));
    assert_false(reads(fixture, copy, size, command, 1, at));
    assert_false(reads(fixture, copy, size, command, 0, at ? 0 : 1));
    assert_true(reads(fixture, copy, size, command, 0, at));
}

/* ---- other questions ----------------------------------------------------------------------- */

static uint64_t digest(const struct fixture *fixture, const struct search_space *first)
{
    struct search_space spaces[8];
    memcpy(spaces, fixture->plan.spaces, fixture->plan.count * sizeof *spaces);
    spaces[0] = *first;
    return digest_spaces(1, spaces, fixture->plan.count);
}

/* A setting, a load, a limit, a node's number: each makes another question. */
static void digests_differ(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = &fixture->arena;
    const struct search_space *was = fixture->plan.spaces;
    struct search_space space = *was;
    assert_true(digest(fixture, &space) == fixture->asked.digest);
    double *settings = arena_array(arena, was->setting_count * was->inputs, sizeof *settings);
    memcpy(settings, was->settings, was->setting_count * was->inputs * sizeof *settings);
    settings[5] = settings[5] + 1e-9;
    space.settings = settings;
    assert_true(digest(fixture, &space) != fixture->asked.digest);
    space = *was;
    space.load_count--;
    assert_true(digest(fixture, &space) != fixture->asked.digest);
    space = *was;
    struct search_limit limits[SEARCH_LIMITS];
    memcpy(limits, was->limits, was->limit_count * sizeof *limits);
    limits[1].bound = 0.3;
    space.limits = limits;
    assert_true(digest(fixture, &space) != fixture->asked.digest);
    space = *was;
    space.graph.nodes = arena_array(arena, was->graph.count, sizeof *space.graph.nodes);
    memcpy(space.graph.nodes, was->graph.nodes, was->graph.count * sizeof *space.graph.nodes);
    space.graph.nodes[was->graph.count / 2].value += 1;
    assert_true(digest(fixture, &space) != fixture->asked.digest);
}

static void refuse(struct fixture *fixture, const struct store_question *asked, const char *what)
{
    struct store *store;
    assert_false(store_open(&fixture->arena, fixture->path, asked, &store, &fixture->error));
    if (!strstr(fixture->error.what, what))
        fail_msg("'%s' instead of '%s'", fixture->error.what, what);
}

static void others_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store_question other = fixture->asked;
    struct store *store;
    sqlite3 *stranger;
    put_all(fixture);
    other.version = "1";
    refuse(fixture, &other, "of chalkline 0, this search is of 1");
    other = fixture->asked;
    other.words = "[\n  \"plan\",\n  \"qwen3-30b-a3b\"\n]\n";
    refuse(fixture, &other, "of another question than this search: it has \"--on=h100-sxm\"");
    other = fixture->asked;
    other.digest ^= 1;
    refuse(fixture, &other, "but of other rows, facts or files");
    assert_true(store_open(&fixture->arena, fixture->path, &fixture->asked, &store,
                           &fixture->error));
    refuse(fixture, &fixture->asked, "in use by another process");
    assert_true(store_close(store, &fixture->error));
    write_file(fixture, "a text\n", 7);
    refuse(fixture, &fixture->asked, "not a store of a search");
    unlink(fixture->path);
    assert_int_equal(sqlite3_open(fixture->path, &stranger), SQLITE_OK);
    assert_int_equal(sqlite3_exec(stranger, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(stranger);
    const struct text before = slurp(fixture);
    refuse(fixture, &fixture->asked, "a SQLite database, but not a store of a search");
    const struct text after = slurp(fixture);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back), cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(each_bit_counts), cmocka_unit_test(digests_differ),
        cmocka_unit_test(others_are_refused) };
    return cmocka_run_group_tests_name("store", tests, open_fixture, close_fixture);
}
