/* base/, and quantities as people write them. */
#include "test.h"

#include "base/guard.h"
#include "base/output.h"
#include "base/quantile.h"
#include "rows/rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arena ---------------------------------------------------------------------------- */

static void memory_is_aligned_and_zero(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    uint64_t random = 1;
    size_t taken = 0;
    for (int i = 0; i < 20000; i++) {
        size_t size = draw_bits(&random) % 200, alignment = 16u << draw_bits(&random) % 4;
        unsigned char *memory = i % 2 ? arena_align(&arena, size, alignment)
                                      : arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)memory % (i % 2 ? alignment : 16), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(memory[k], 0);
        if (size)
            memset(memory, 255, size);
        taken += size;
    }
    assert_int_equal(arena.taken, taken);
    unsigned char *large = arena_align(&arena, 10 << 20, 64);
    assert_int_equal((uintptr_t)large % 64, 0);
    large[(10 << 20) - 1] = 1;
    arena_free(&arena);
    assert_int_equal(arena.taken, 0);
    assert_null(arena.last);
}

static void gone(void *context)
{
    longjmp(*(jmp_buf *)context, 1);
}

/* Does the n-th allocation fail, and only that one? */
static int fails_at(size_t fail_after)
{
    static jmp_buf place;
    static struct arena arena;
    static volatile int made;
    arena = (struct arena){ .exhausted = gone, .context = &place, .fail_after = fail_after };
    made = 0;
    if (!setjmp(place))
        for (; made < 10; made++)
            arena_alloc(&arena, 8);
    arena_free(&arena);
    return made;
}

static void allocations_fail_on_request(void **state)
{
    (void)state;
    assert_int_equal(fails_at(0), 10);
    for (int n = 1; n <= 10; n++)
        assert_int_equal(fails_at((size_t)n), n - 1);
    assert_int_equal(fails_at(11), 10);
}

/* An inner arena shares the limit of its outer one, gives back what it took, and ends with it. */
static void inner_arenas_share_a_limit(void **state)
{
    (void)state;
    static struct arena arena;
    static jmp_buf place;
    static volatile int given;
    arena = (struct arena){ .exhausted = gone, .context = &place, .most = 10000 };
    given = 0;
    struct arena *inner = arena_inner(&arena);
    const size_t own = arena.taken;
    arena_alloc(inner, 6000);
    assert_true(arena.taken >= own + 6000);
    arena_free(inner);
    assert_int_equal(arena.taken, own);
    arena_alloc(inner, 6000);
    if (!setjmp(place)) {
        arena_alloc(arena_inner(&arena), 6000);
        given = 1;
    }
    assert_int_equal(given, 0);
    arena_free(&arena);
    assert_int_equal(arena.taken, 0);
    assert_null(arena.inner);
}

static void absurd_sizes_are_exhaustion(void **state)
{
    (void)state;
    static jmp_buf place;
    static struct arena arena;
    static volatile int turn;
    arena = (struct arena){ .exhausted = gone, .context = &place };
    turn = 0;
    int jumped = setjmp(place);
    turn += jumped;
    if (turn == 0)
        arena_array(&arena, SIZE_MAX / 4, 8);
    if (turn == 1)
        arena_alloc(&arena, SIZE_MAX);
    if (turn == 2)
        arena_align(&arena, SIZE_MAX / 2 + 1, 64);
    assert_int_equal(turn, 3);
    arena_free(&arena);
}

static void arrays_double(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    int *array = NULL;
    size_t count = 0, room = 0;
    for (int i = 0; i < 1000; i++)
        *(int *)arena_push(&arena, &array, &count, &room, sizeof *array) = i;
    assert_int_equal(count, 1000);
    assert_int_equal(room, 1024);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_string_equal(arena_print(&arena, "%s-%d", "a", 7), "a-7");
    assert_string_equal(arena_copy(&arena, "abcdef", 3), "abc");
    arena_free(&arena);
}

/* ---- csv --------------------------------------------------------------------------------- */

/* Header and cells joined: cells by '|', lines by '/'. */
struct sheet {
    const char *text, *expected;
};

static const struct sheet sheets[] = {
    { "a,b\n1,2\n3,4\n", "a|b/1|2/3|4" },
    { "a,b\n1,2", "a|b/1|2" },                                      /* no end of line */
    { "a,b\r\n1,2\r\n", "a|b/1|2" },
    { "\xef\xbb\xbf" "a,b\n1,2\n", "a|b/1|2" },                     /* byte order mark */
    { "a,b\n\n1,2\n\n\n", "a|b/1|2" },                              /* blank lines */
    { "# a comment, with a comma\na,b\n#\n1,2\n# end", "a|b/1|2" },
    { "a,b\n1,#2\n", "a|b/1|#2" },                                  /* not at a line's start */
    { "a,b\n\"1,5\",2\n", "a|b/1,5|2" },
    { "a,b\n\"say \"\"hi\"\"\",2\n", "a|b/say \"hi\"|2" },
    { "a,b\n\"two\nlines\",2\n3,4\n", "a|b/two\nlines|2/3|4" },
    { "a,b\n\"two\r\nlines\",2\n", "a|b/two\r\nlines|2" },
    { "a,b\n\"\",\n", "a|b/|" },                                    /* empty cells */
    { "a,b\n,\n", "a|b/|" },
    { "a\n\"\"\n", "a/" },
    { "a,b\n 1 ,2\n", "a|b/ 1 |2" },                                /* spaces belong to it */
    { "a,b\n1,x\"y\n", "a|b/1|x\"y" },                              /* a quote inside */
    { "a,b\n\"1\",\"2\"\r\n\"3\",\"4\"", "a|b/1|2/3|4" },
    { "\"a,1\",b\n1,2\n", "a,1|b/1|2" },
    { "a,b\n", "a|b" },
    { "a,b\n1,\xc3\xa9\n", "a|b/1|\xc3\xa9" },
    { "a,b\n\"# no comment\",2\n", "a|b/# no comment|2" },
};

static void sheets_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sheets); i++) {
        struct arena arena = { 0 };
        struct buffer got = { .arena = &arena };
        struct error error;
        struct csv csv;
        if (!csv_read_any(&arena, "t.csv", text_of(sheets[i].text), &csv, &error))
            fail_msg("'%s': %s", sheets[i].text, error.what);
        for (size_t k = 0; k < csv.columns * (csv.rows + 1); k++)
            buffer_print(&got, "%s%s", k % csv.columns ? "|" : k ? "/" : "",
                         csv_at(&csv, k));
        assert_string_equal(got.data, sheets[i].expected);
        arena_free(&arena);
    }
}

static const struct sheet bad_sheets[] = {
    { "", "t.csv: the file is empty" },
    { "# only a comment\n", "t.csv: the file is empty" },
    { "a,b\n1\n", "t.csv:2: 1 cells" },
    { "a,b\n1,2\n\n1,2,3\n", "t.csv:4: 3 cells" },
    { "a,b\n1,\"2\n3,4\n", "t.csv:2: a quote is opened and never closed" },
    { "a,b\n\"1\n2\",3\n\"4\"x,5\n", "t.csv:4: 'x' after the closing quote" },
    { "a,b\n\"1\n2\",3\n4\n", "t.csv:4: 1 cells" },                 /* lines inside a quote count */
};

static void bad_sheets_name_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_sheets); i++) {
        struct arena arena = { 0 };
        struct error error;
        struct csv csv;
        assert_false(csv_read_any(&arena, "t.csv", text_of(bad_sheets[i].text), &csv, &error));
        assert_string_equal(error.what, bad_sheets[i].expected);
        arena_free(&arena);
    }
    struct arena arena = { 0 };
    struct error error;
    struct csv csv;
    assert_false(csv_read_any(&arena, "t.csv", (struct text){ "a,b\n1,\0", 7 }, &csv, &error));
    assert_string_equal(error.what, "t.csv:2: a zero byte");
    arena_free(&arena);
}

static void columns_are_found(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct csv csv;
    assert_true(csv_read(&arena, "t.csv", text_of("name,value\n\nx,1\n\n\ny,2\n"), &csv, &error));
    assert_int_equal(csv_column(&csv, "value"), 1);
    assert_int_equal(csv_column(&csv, "Value"), -1);
    assert_string_equal(csv_cell(&csv, 1, 1), "2");
    assert_string_equal(csv_cell(&csv, 1, -1), "");
    assert_int_equal(csv.lines[0], 3);
    assert_int_equal(csv.lines[1], 6);
    arena_free(&arena);
}

/* ---- documents ----------------------------------------------------------------------------- */

static void documents_are_json(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct doc *doc = doc_new(&arena, DOC_OBJECT);
    doc_add_number(&arena, doc, "a", 0.1);
    doc_add_string(&arena, doc, "say \"hi\"", "tab\there\\ \x01");
    doc_add_bool(&arena, doc, "yes", true);
    doc_add(&arena, doc, "none", DOC_NULL);
    doc_add(&arena, doc, "empty", DOC_ARRAY);
    struct doc *list = doc_add(&arena, doc, "list", DOC_ARRAY);
    doc_add_number(&arena, list, NULL, 1e300);
    doc_add_number(&arena, list, NULL, INFINITY);
    doc_print(&out, doc);
    assert_string_equal(out.data,
                        "{\n  \"a\": 0.1,\n  \"say \\\"hi\\\"\": \"tab\\u0009here\\\\ \\u0001\",\n"
                        "  \"yes\": true,\n  \"none\": null,\n  \"empty\": [],\n"
                        "  \"list\": [\n    1e+300,\n    null\n  ]\n}\n");
    assert_int_equal(doc->count, 6);
    assert_true(doc_get(doc, "yes")->boolean);
    assert_null(doc_get(doc, "no"));
    assert_null(doc_get(list, "a"));
    assert_null(doc_get(NULL, "a"));
    arena_free(&arena);
}

/* Python's numbers without end are texts, in place: a reader that takes numbers refuses them. */
static void infinity_is_a_text(void **state)
{
    (void)state;
    static const char json[] = "\xef\xbb\xbf{\"a\": Infinity, \"b\": [-Infinity,1], \"Infinity\": \"-Infinity\\\"\"}";
    struct arena arena = { 0 };
    struct error error;
    struct doc *doc;
    assert_true(json_read(&arena, "x.json", text_of(json), &doc, &error));
    assert_string_equal(doc_text(doc, "a", ""), "inf");
    assert_string_equal(doc_get(doc, "b")->first->string, "-inf");
    assert_string_equal(doc_text(doc, "Infinity", ""), "-Infinity\"");
    assert_false(json_read(&arena, "x.json", text_of("{\"a\": Infinity, b}"), &doc, &error));
    assert_non_null(strstr(error.what, "x.json:1:17: "));
    arena_free(&arena);
}

/* What is added to no document is dropped, and takes no memory. */
static void no_document_takes_nothing(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct doc *none = doc_add(&arena, NULL, "list", DOC_ARRAY);
    assert_null(none);
    doc_add_number(&arena, none, NULL, 1);
    doc_add_string(&arena, NULL, "a", "text");
    doc_add_bool(&arena, NULL, "yes", true);
    doc_put(NULL, "kid", NULL);
    assert_int_equal(arena.taken, 0);
    arena_free(&arena);
}

/* A byte that is no UTF-8, or a character cut short, is replaced; what is good stays. */
static void documents_are_text(void **state)
{
    (void)state;
    static const struct {
        const char *string, *printed;
    } cases[] = {
        { "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"\n" },
        { "\xe2\x96\x88 \xf0\x9f\x98\x80", "\"\xe2\x96\x88 \xf0\x9f\x98\x80\"\n" },
        { "cut \xe2\x96", "\"cut \\ufffd\\ufffd\"\n" },
        { "\xff\"", "\"\\ufffd\\\"\"\n" },
        { "\xc0\x80", "\"\\ufffd\\ufffd\"\n" },                    /* an overlong 0 */
        { "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n" },         /* half of a pair */
        { "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n" },
    };
    struct arena arena = { 0 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buffer out = { .arena = &arena };
        struct doc doc = { .kind = DOC_STRING, .string = cases[i].string };
        doc_print(&out, &doc);
        assert_string_equal(out.data, cases[i].printed);
    }
    arena_free(&arena);
}

static void numbers_read_back(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < rounds(100000); i++) {
        struct arena arena = { 0 };
        struct buffer out = { .arena = &arena };
        uint64_t bits = draw_bits(&random);
        struct doc doc = { .kind = DOC_NUMBER };
        memcpy(&doc.number, &bits, sizeof bits);
        if (isfinite(doc.number)) {
            doc_print(&out, &doc);
            assert_true(same_bits(strtod(out.data, NULL), doc.number));
        }
        arena_free(&arena);
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static void names_are_the_same(void **state)
{
    (void)state;
    assert_true(name_same("gb200-nvl72", "GB200 NVL72"));
    assert_true(name_same("deepseek_v3.1", "DeepSeek-V3-1"));
    assert_true(name_same("-a-", "A"));
    assert_true(name_same("", "- _"));
    assert_false(name_same("gb200", "gb200-nvl72"));
    assert_false(name_same("a/b", "ab"));
}

static void near_names_are_found(void **state)
{
    (void)state;
    static const char *const names[] = { "bound_step", "bound_kv", "batch", "context", "chips" };
    static const struct { const char *name, *near; } cases[] = {
        { "bound_setp", "bound_step" }, { "bacth", "batch" }, { "contxt", "context" },
        { "bound_vk", "bound_kv" }, { "BATCH", "batch" }, { "chip", "chips" },
        { "ound_ste", "bound_step" }, { "zzzzzz", NULL }, { "q", NULL }, { "", NULL },
        { "step", "bound_step" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *near = name_nearest(cases[i].name, names, COUNT(names));
        if (!cases[i].near != !near || (near && strcmp(near, cases[i].near)))
            fail_msg("'%s' is near %s, expected %s", cases[i].name, near ? near : "none",
                     cases[i].near ? cases[i].near : "none");
    }
    char large[300];
    memset(large, 'a', sizeof large);
    large[299] = 0;
    assert_null(name_nearest(large, names, COUNT(names)));
    assert_null(name_nearest("batch", names, 0));
}

static void numbers_are_read(void **state)
{
    (void)state;
    static const struct { const char *text; bool read; double number; } cases[] = {
        { "1", true, 1 }, { "-1.5e3", true, -1500 }, { ".5", true, 0.5 }, { "5.", true, 5 },
        { "+2", true, 2 }, { "1E5", true, 1e5 }, { "0x10", false, 0 }, { "nan", false, 0 },
        { "inf", false, 0 }, { "1e999", false, 0 }, { "", false, 0 }, { " 1", false, 0 },
        { "1 ", false, 0 }, { "1,5", false, 0 }, { "e5", false, 0 }, { "1e", false, 0 },
        { "--1", false, 0 }, { "1.2.3", false, 0 }, { "-", false, 0 }, { "1e-400", true, 0 },
        { "0.1", true, 0.1 }, { "9007199254740993", true, 9007199254740992.0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double number = 0;
        if (text_number(text_of(cases[i].text), &number) != cases[i].read ||
            number != cases[i].number)
            fail_msg("'%s' reads %.17g", cases[i].text, number);
    }
}

static void lines_are_taken(void **state)
{
    (void)state;
    struct text rest = text_of("one\r\n\ntwo\n three ");
    assert_true(text_is(text_line(&rest), "one"));
    assert_true(text_is(text_line(&rest), ""));
    assert_true(text_is(text_line(&rest), "two"));
    assert_true(text_is(text_trim(text_line(&rest)), "three"));
    assert_int_equal(rest.size, 0);
    assert_true(text_is(text_line(&rest), ""));
}

static void files_are_read_whole(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text text;
    char path[] = "/tmp/base_test_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "a\0b", 3) == 3 && !close(file));
    assert_true(file_read(&arena, path, 3, &text, &error));
    assert_int_equal(text.size, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    assert_false(file_read(&arena, path, 2, &text, &error));
    assert_non_null(strstr(error.what, "larger than 2 bytes"));
    unlink(path);
    assert_false(file_read(&arena, path, 3, &text, &error));
    assert_non_null(strstr(error.what, "No such file"));
    assert_false(file_read(&arena, "/tmp", 3, &text, &error));
    arena_free(&arena);
}

static void errors_fit(void **state)
{
    (void)state;
    struct error error;
    char large[4000];
    memset(large, 'x', sizeof large);
    large[3999] = 0;
    assert_false(error_set(&error, "%s", "first"));
    assert_false(error_expected(&error, "%s", large));
    assert_int_equal(strlen(error.hint), sizeof error.hint - 1);
    assert_false(error_set(&error, "%s", large));
    assert_int_equal(strlen(error.what), sizeof error.what - 1);
    assert_string_equal(error.hint, "");                            /* a new error, no hint yet */
}

/* ---- units ---------------------------------------------------------------------------------- */

static void units_are_read(void **state)
{
    (void)state;
    static const struct { const char *text; double scale; const char *printed; } cases[] = {
        { "s", 1, "s" }, { "ms", 1e-3, "s" }, { "h", 3600, "s" }, { "d", 86400, "s" },
        { "TB/s", 1e12, "B/s" }, { "Gb/s", 1.25e8, "B/s" }, { "GiB", 1073741824, "B" },
        { "PFLOP/s", 1e15, "FLOP/s" }, { "TFLOPS", 1e12, "FLOP/s" }, { "USD/h", 1.0 / 3600, "USD/s" },
        { "$/Mtok", 1e-6, "USD/token" }, { "kWh", 3.6e6, "J" }, { "kW", 1e3, "J/s" },
        { "1", 1, "1" }, { "1/s", 1, "1/s" }, { "B/token", 1, "B/token" }, { "s^2", 1, "s^2" },
        { "B*s", 1, "s*B" }, { "B / s", 1, "B/s" }, { " kB ", 1e3, "B" }, { "B/s/s", 1, "B/s^2" },
        { "ms^2", 1e-6, "s^2" }, { "us", 1e-6, "s" }, { "USD/token*s", 1, "s*USD/token" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct buffer out = { .arena = &arena };
        struct unit unit, again;
        struct error error;
        double scale;
        if (!unit_parse(text_of(cases[i].text), &unit, &scale, &error))
            fail_msg("%s", error.what);
        unit_print(&out, unit);
        if (strcmp(out.data, cases[i].printed) || fabs(scale / cases[i].scale - 1) > 1e-15)
            fail_msg("'%s' is %.17g %s", cases[i].text, scale, out.data);
        assert_true(unit_parse(text_of(out.data), &again, &scale, &error));
        assert_true(unit_same(unit, again));
        assert_true(scale == 1);
        arena_free(&arena);
    }
}

static void unknown_units_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", "parsec", "s/", "/s", "s//B", "s^", "s^0", "s B", "S", "Ms^-1", "mTB", "k", "B/s)",
        "mh", "kGiB", "m1",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct unit unit;
        struct error error;
        double scale;
        if (unit_parse(text_of(cases[i]), &unit, &scale, &error))
            fail_msg("'%s' was read", cases[i]);
        assert_non_null(strstr(error.what, "unknown unit"));
        assert_true(*error.hint);
    }
}

static struct unit unit_from(const char *text)
{
    struct unit unit;
    struct error error;
    double scale;
    assert_true(unit_parse(text_of(text), &unit, &scale, &error));
    return unit;
}

static void unit_arithmetic(void **state)
{
    (void)state;
    struct unit b = unit_from("B"), s = unit_from("s");
    assert_true(unit_same(unit_power(b, s, -1), unit_from("B/s")));
    assert_true(unit_same(unit_power(unit_from("B/s"), s, 1), b));
    assert_true(unit_same(unit_power(b, s, 0), b));
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct unit root = b;
    root.half[UNIT_B] = 1;
    unit_print(&out, root);
    assert_string_equal(out.data, "B^1/2");
    double scale;
    assert_true(unit_scale("TB/s", &scale) && scale == 1e12);
    assert_false(unit_scale("nonsense", &scale));
    arena_free(&arena);
}

/* ---- quantities ----------------------------------------------------------------------------- */

struct quantity_case {
    const char *text, *unit;
    double value, low, high;
    enum distribution distribution;
};

static const struct quantity_case quantities[] = {
    { "20ms", "s", 0.02, 0.02, 0.02, DISTRIBUTION_NONE },
    { " 20 ms ", "s", 0.02, 0.02, 0.02, DISTRIBUTION_NONE },
    { "8TB/s", "B/s", 8e12, 8e12, 8e12, DISTRIBUTION_NONE },
    { "400Gb/s", "B/s", 50e9, 50e9, 50e9, DISTRIBUTION_NONE },
    { "2USD/h", "USD/s", 2.0 / 3600, 2.0 / 3600, 2.0 / 3600, DISTRIBUTION_NONE },
    { "$2/h", "USD/s", 2.0 / 3600, 2.0 / 3600, 2.0 / 3600, DISTRIBUTION_NONE },
    { "$0.5/Mtok", "USD/token", 5e-7, 5e-7, 5e-7, DISTRIBUTION_NONE },
    { "192GB", "B", 192e9, 192e9, 192e9, DISTRIBUTION_NONE },
    { "80GiB", "B", 85899345920, 85899345920, 85899345920, DISTRIBUTION_NONE },
    { "128k", "token", 128e3, 128e3, 128e3, DISTRIBUTION_NONE },
    { "128ktoken", "token", 128e3, 128e3, 128e3, DISTRIBUTION_NONE },
    { "671B", "1", 671e9, 671e9, 671e9, DISTRIBUTION_NONE },
    { "1.5T", "1", 1.5e12, 1.5e12, 1.5e12, DISTRIBUTION_NONE },
    { "7B", "B", 7, 7, 7, DISTRIBUTION_NONE },                      /* bytes, where bytes are due */
    { "1e3", "s", 1000, 1000, 1000, DISTRIBUTION_NONE },
    { "1,234.5", "1", 1234.5, 1234.5, 1234.5, DISTRIBUTION_NONE },
    { "1_000_000", "1", 1e6, 1e6, 1e6, DISTRIBUTION_NONE },
    { "50%", "1", 0.5, 0.5, 0.5, DISTRIBUTION_NONE },
    { "-3", "1", -3, -3, -3, DISTRIBUTION_NONE },
    { "+3", "1", 3, 3, 3, DISTRIBUTION_NONE },
    { "60d", "s", 5184000, 5184000, 5184000, DISTRIBUTION_NONE },
    { "1..3", "1", 2, 1, 3, DISTRIBUTION_RANGE },
    { "10..20GB", "B", 15e9, 10e9, 20e9, DISTRIBUTION_RANGE },
    { "10MB..1GB", "B", 1e8, 1e7, 1e9, DISTRIBUTION_RANGE },        /* the middle in the logarithm */
    { "50e9..200e9", "1", 125e9, 50e9, 200e9, DISTRIBUTION_RANGE },
    { "1.5..2.5", "1", 2, 1.5, 2.5, DISTRIBUTION_RANGE },
    { "-1..1", "1", 0, -1, 1, DISTRIBUTION_RANGE },
    { "30d..180d", "s", 9072000, 2592000, 15552000, DISTRIBUTION_RANGE },
    { "2..2", "1", 2, 2, 2, DISTRIBUTION_RANGE },
    { "normal(20ms, 2ms)", "s", 0.02, 0.02, 0.002, DISTRIBUTION_NORMAL },
    { "normal(20, 2ms)", "s", 0.02, 0.02, 0.002, DISTRIBUTION_NORMAL },
    { "uniform(1,3)", "1", 2, 1, 3, DISTRIBUTION_UNIFORM },
    { "uniform(1,000, 3,000)", "1", 2000, 1000, 3000, DISTRIBUTION_UNIFORM },
    { "5 req/s", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "300 requests/min", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "300rpm", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "5 requests per second", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "18k/h", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "2..3 req/s", "1/s", 2.5, 2, 3, DISTRIBUTION_RANGE },
    { "1M tokens", "token", 1e6, 1e6, 1e6, DISTRIBUTION_NONE },
    { "1B tokens", "token", 1e9, 1e9, 1e9, DISTRIBUTION_NONE },
    { "$2.5 per hour", "USD/s", 2.5 / 3600, 2.5 / 3600, 2.5 / 3600, DISTRIBUTION_NONE },
    { "3600 USD per GPU-hour", "USD/s", 1, 1, 1, DISTRIBUTION_NONE },
    { "300 queries/min", "1/s", 5, 5, 5, DISTRIBUTION_NONE },
    { "$2M", "USD", 2e6, 2e6, 2e6, DISTRIBUTION_NONE },
    { "20 msec", "s", 0.02, 0.02, 0.02, DISTRIBUTION_NONE },
    { "lognormal(50GB, 2)", "B", 50e9, 50e9, 2, DISTRIBUTION_LOGNORMAL },
};

static bool near(double a, double b)
{
    return fabs(a - b) <= 4e-15 * fabs(b);
}

static void quantities_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(quantities); i++) {
        const struct quantity_case *the = &quantities[i];
        struct quantity got = { 0 };
        struct error error;
        if (!quantity_parse(text_of(the->text), unit_from(the->unit), &got, &error))
            fail_msg("'%s' as %s: %s", the->text, the->unit, error.what);
        if (!near(got.value, the->value) || !near(got.low, the->low) ||
            !near(got.high, the->high) || got.distribution != the->distribution)
            fail_msg("'%s' as %s: %.17g, %.17g to %.17g", the->text, the->unit, got.value, got.low,
                     got.high);
    }
}

static void quantities_are_refused(void **state)
{
    (void)state;
    static const struct { const char *text, *unit, *what; } cases[] = {
        { "", "s", "'' is not a number" },
        { "fast", "s", "'fast' is not a number" },
        { "20MB", "s", "'20MB' is in B" },
        { "20ms", "1", "'20ms' is in s" },
        { "8TB", "B/s", "'8TB' is in B" },
        { "20parsec", "s", "unknown unit 'parsec' in '20parsec'" },
        { "3..1", "1", "the range '3..1' is empty" },
        { "1..", "1", "'' is not a number" },
        { "..1", "1", "'' is not a number" },
        { "1..2..3", "1", "is not a number" },
        { "1e999", "1", "'1e999' is not a number" },
        { "1e308TB", "B", "too large" },
        { "normal(1)", "1", "needs two numbers" },
        { "normal(1, 0)", "1", "invalid parameters" },
        { "normal(1, -1)", "1", "invalid parameters" },
        { "uniform(2, 1)", "1", "invalid parameters" },
        { "lognormal(1, 1)", "1", "invalid parameters" },
        { "lognormal(-1, 2)", "1", "invalid parameters" },
        { "normal(1, 2", "1", "is not a number" },
        { "0x10", "1", "unknown unit" },
        { "nan", "1", "is not a number" },
        { "1.2.3", "1", "is not a number" },
        { "5B", "FLOP", "'5B' is in B" },
        { "5 req/s", "s", "'5 req/s' is in 1/s" },
        { "5 requests", "s", "unknown unit 'requests' in '5 requests'" },
        { "8 requests", "1", "unknown unit 'requests' in '8 requests'" },
        { "5 req", "token", "unknown unit 'req' in '5 req'" },
        { "5 req*s", "s", "unknown unit" },
        { "2 USD/request", "USD", "unknown unit" },
        { "3T/s", "B/s", "unknown unit 'T/s'" },
        { "5KB", "B", "unknown unit 'KB'" },
        { "5 per", "1/s", "unknown unit 'per'" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct quantity got;
        struct error error = { .what = "" };
        if (quantity_parse(text_of(cases[i].text), unit_from(cases[i].unit), &got, &error))
            fail_msg("'%s' as %s was read as %g", cases[i].text, cases[i].unit, got.value);
        if (!strstr(error.what, cases[i].what))
            fail_msg("'%s': '%s' lacks '%s'", cases[i].text, error.what, cases[i].what);
    }
}

static void quantities_are_printed(void **state)
{
    (void)state;
    static const struct { double value; const char *unit; int digits; const char *text; } cases[] = {
        { 0.003547, "s", 3, "3.55 ms" }, { 576e12, "B/s", 4, "576 TB/s" },
        { 12194, "1", 5, "12,194" }, { 1234567, "1", 7, "1,234,567" }, { 0, "s", 3, "0 s" },
        { 0, "B", 3, "0 B" }, { 0, "1", 3, "0" }, { -0.02, "s", 3, "-20 ms" },
        { 1e-12, "s", 3, "0.001 ns" }, { 5184000, "s", 3, "60 d" }, { 13.4e12, "B", 3, "13.4 TB" },
        { 2.0 / 3600, "USD/s", 3, "2 USD/h" }, { 3.9e-8, "USD/token", 2, "0.039 USD/Mtoken" },
        { 15e-9, "USD/B", 3, "15 USD/GB" }, { 4e-6 / 3600e9, "USD/B/s", 3, "4e-6 USD/GB/h" },
        { 4.5e15, "FLOP/s", 3, "4.5 PFLOP/s" }, { 5e20, "1", 3, "5e20" }, { 1e-9, "1", 3, "1e-9" },
        { 0.5, "1", 3, "0.5" }, { 1500, "J/s", 3, "1.5 kW" }, { 35136, "B/token", 5, "35.136 kB/token" },
        { 3, "1/s", 3, "3 1/s" }, { -1234.5, "1", 5, "-1,234.5" }, { 999999, "1", 3, "999,999" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        const char *text = quantity_text(&arena, cases[i].value, unit_from(cases[i].unit),
                                         cases[i].digits);
        assert_string_equal(text, cases[i].text);
        arena_free(&arena);
    }
}

static void quantiles_are_interpolated(void **state)
{
    (void)state;
    double values[] = { 4, 1, 3, 2 }, alike[] = { 5, 5, 5 };
    numbers_sort(values, 4);
    assert_true(values[0] == 1 && values[3] == 4);
    assert_true(quantile_of(values, 4, 0) == 1 && quantile_of(values, 4, 1) == 4 && quantile_of(values, 4, 0.5) == 2.5);
    assert_true(quantile_of(values, 1, 0.9) == 1 && quantile_of(alike, 3, 0.3) == 5);
    assert_true(isnan(quantile_of(values, 0, 0.5)));
}

/* A column's name says which one is meant; columns without a name, and groups, may repeat. */
static void columns_have_names_of_their_own(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct csv csv;
    assert_false(csv_read(&arena, "x.csv", text_of("a,b,a\n1,2,3\n"), &csv, &error));
    assert_string_equal(error.what, "x.csv: two columns have the name 'a'");
    assert_true(csv_read(&arena, "x.csv", text_of("a,,\n1,2,3\n"), &csv, &error));
    assert_true(csv_read_groups(&arena, "x.csv", text_of("a,b,a\n1,2,3\n"), &csv, &error));
    arena_free(&arena);
}

/* A file is written whole or not at all, and the message names the option. */
static void files_are_written_whole(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text read;
    char path[] = "/tmp/chalkline-write-XXXXXX";
    close(mkstemp(path));
    assert_true(file_write(&arena, "--output", path, text_of("one\n"), &error));
    assert_true(file_read(&arena, path, 100, &read, &error));
    assert_true(read.size == 4 && !memcmp(read.data, "one\n", 4));
    unlink(path);
    assert_int_equal(symlink(path, path), 0);               /* a link in a circle is neither read nor replaced */
    assert_false(file_read(&arena, path, 100, &read, &error));
    assert_string_equal(error.hint, "a path whose links end at a file");
    assert_false(file_write(&arena, "--output", path, text_of("one\n"), &error));
    assert_non_null(strstr(error.what, "symbolic links"));
    unlink(path);
    assert_int_equal(symlink("/nonexistent", path), 0);     /* nor is one to nothing */
    assert_false(file_write(&arena, "--output", path, text_of("one\n"), &error));
    unlink(path);
    assert_false(file_write(&arena, "--output", "/nonexistent/file", text_of("one"), &error));
    assert_non_null(strstr(error.what, "--output: /nonexistent/file: "));
    arena.shelf = &(struct shelf){ 0 };
    assert_false(file_write(&arena, "--output", path, text_of("one"), &error));
    arena_free(&arena);
}

/* What is refused leaves nothing for the guard to release, since its arena may be freed before. */
static void refuse_some(void *context)
{
    struct arena arena = { 0 };
    struct error error;
    struct doc *doc;
    const bool refused = !json_read(&arena, "t", text_of("{"), &doc, &error) && !pattern_open(&arena, "(");
    arena_free(&arena);
    *(bool *)context = refused && guard_here->held.next == &guard_here->held;
}

static void refusals_hold_nothing(void **state)
{
    bool good = false;
    (void)state;
    assert_int_equal(guarded(refuse_some, &good, NULL, NULL, NULL), ENDED);
    assert_true(good);
}

/* A log takes the place of an older file with its first record, not before. */
static void logs_keep_the_older_file(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct output_log log;
    struct text read;
    static const char *const wanted[] = { "older\n", "new\n", "new\nnew\n" };
    char path[] = "/tmp/chalkline-log-XXXXXX";
    close(mkstemp(path));
    assert_true(file_write(&arena, "--output", path, text_of("older\n"), &error));
    for (int records = 0; records < 3; records++) {
        assert_true(log_open(&arena, "--output", path, &log, &error));
        for (int i = 0; i < records; i++)
            assert_true(log_add(&log, "new\n", 4, &error));
        log_close(&log);
        assert_true(file_read(&arena, path, 100, &read, &error));
        assert_string_equal(arena_copy(&arena, read.data, read.size), wanted[records]);
    }
    unlink(path);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_interpolated), cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(logs_keep_the_older_file),
        cmocka_unit_test(columns_have_names_of_their_own),
        cmocka_unit_test(memory_is_aligned_and_zero), cmocka_unit_test(inner_arenas_share_a_limit),
        cmocka_unit_test(allocations_fail_on_request),
        cmocka_unit_test(absurd_sizes_are_exhaustion),
        cmocka_unit_test(arrays_double),
        cmocka_unit_test(sheets_are_read),
        cmocka_unit_test(bad_sheets_name_the_line),
        cmocka_unit_test(columns_are_found),
        cmocka_unit_test(documents_are_json), cmocka_unit_test(infinity_is_a_text),
        cmocka_unit_test(no_document_takes_nothing),
        cmocka_unit_test(documents_are_text),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(names_are_the_same),
        cmocka_unit_test(near_names_are_found),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(lines_are_taken),
        cmocka_unit_test(files_are_read_whole),
        cmocka_unit_test(errors_fit),
        cmocka_unit_test(units_are_read),
        cmocka_unit_test(refusals_hold_nothing),
        cmocka_unit_test(unknown_units_are_refused),
        cmocka_unit_test(unit_arithmetic),
        cmocka_unit_test(quantities_are_read),
        cmocka_unit_test(quantities_are_refused),
        cmocka_unit_test(quantities_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
