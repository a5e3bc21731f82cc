/* What the build has read is what this program reads, and what the page unpacks: every row, chapter and
 * expression of the four formulas, every cell of the tables, every entry of the catalog. Runs in the root
 * of the tree. */
#include "catalog/catalog.h"
#include "catalog/formats.h"
#include "catalog/packed.h"
#include "catalog/sheet.h"
#include "rows/draft.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 1 << 24 };

static struct text read_file(struct arena *arena, const char *path)
{
    struct text text;
    struct error error;
    if (!file_read(arena, path, LIMIT, &text, &error))
        fail_msg("%s", error.what);
    return text;
}

static bool same_string(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_text(struct text a, struct text b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static bool same_number(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool same_expr(const struct expr *a, const struct expr *b)
{
    if (!a || !b)
        return a == b;
    const bool number = a->op == OP_NUMBER, texts = a->op != OP_BINDING;    /* which is packed without its own */
    return a->op == b->op && a->row == b->row && (!texts || same_text(expr_text(a), expr_text(b))) &&
           (!number || (same_number(a->number, b->number) && unit_same(a->unit, b->unit))) &&
           (!expr_has_name(a->op) || !strcmp(expr_name(a), expr_name(b))) && same_expr(expr_at(a), expr_at(b)) &&
           same_expr(expr_kid(a, 0), expr_kid(b, 0)) && same_expr(expr_kid(a, 1), expr_kid(b, 1)) &&
           same_expr(expr_kid(a, 2), expr_kid(b, 2));
}

static bool same_row(const struct row *a, const struct row *b)
{
    if (!a || !b)
        return a == b;
    return same_string(row_name(a), row_name(b)) && same_string(row_unit_text(a), row_unit_text(b)) &&
           same_string(row_symbol(a), row_symbol(b)) && same_string(row_meaning(a), row_meaning(b)) &&
           same_string(row_source(a), row_source(b)) && same_string(row_file(a), row_file(b)) &&
           same_string(row_table(a), row_table(b)) && same_string(row_with(a), row_with(b)) &&
           same_string(row_fit(a), row_fit(b)) && same_string(row_aliases(a), row_aliases(b)) &&
           same_string(row_part(a), row_part(b)) && same_string(row_words(a), row_words(b)) && a->input == b->input &&
           a->line == b->line && a->chapter == b->chapter && unit_same(a->unit, b->unit) &&
           same_number(a->value, b->value) && same_number(a->low, b->low) &&
           same_number(a->high, b->high) && same_number(a->likely_low, b->likely_low) &&
           same_number(a->likely_high, b->likely_high) && same_text(row_text(a), row_text(b)) &&
           same_expr(row_expr(a), row_expr(b)) && same_row(row_before(a), row_before(b));
}

static bool same_heading(const struct chapter *a, const struct chapter *b)
{
    return same_string(a->title, b->title) && same_string(a->table, b->table) &&
           same_string(a->with, b->with) && same_string(a->file, b->file);
}

/* The formulas of the formula files, as a user's file is read. */
static void read_book(struct arena *arena, unsigned conditions, struct formulas *formulas)
{
    struct text order = read_file(arena, "formulas/order.txt");
    struct error error;
    formulas_open(formulas, arena, conditions);
    while (order.size) {
        struct text name = text_trim(text_line(&order));
        const char *path = arena_print(arena, "formulas/%.*s", (int)name.size, name.data);
        if (name.size && !formulas_read(formulas, path, read_file(arena, path), &error))
            fail_msg("%s", error.what);
    }
}

static void same_formulas(const struct formulas *a, const struct formulas *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->chapter_count, b->chapter_count);
    assert_int_equal(a->alias_count, b->alias_count);
    assert_int_equal(a->conditions, b->conditions);
    for (size_t i = 0; i < b->count; i++) {
        if (!same_row(formulas_row(a, i), formulas_row(b, i)))
            fail_msg("conditions %u: %s differs", b->conditions, row_name(formulas_row(b, i)));
        assert_int_equal(formulas_find(a, row_name(formulas_row(b, i))), i);
    }
    for (size_t i = 0; i < b->chapter_count; i++)
        if (!same_heading(&a->chapters[i], &b->chapters[i]))
            fail_msg("chapter '%s' differs", b->chapters[i].title);
    for (size_t i = 0; i < b->alias_count; i++) {
        const struct alias *x = &a->aliases[i], *y = &b->aliases[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->row, y->row);
        assert_int_equal(formulas_find(a, y->name), y->row);
    }
    assert_int_equal(formulas_find(a, "no_such_row"), -1);
}

static void books_are_the_formulas(void **state)
{
    struct arena arena = { 0 };
    (void)state;
    for (unsigned conditions = 0; conditions <= FORMULAS_ALL; conditions++) {
        struct formulas formulas;
        read_book(&arena, conditions, &formulas);
        const struct formulas *built_in = formulas_built_in(conditions);
        same_formulas(built_in, &formulas);
        for (size_t i = 0; i < formulas.chapter_count; i++)
            assert_string_equal(built_in->chapters[i].prose, formulas.chapters[i].prose);
    }
    arena_free(&arena);
}

/* Rows of a user's own stand in a copy; the copied formulas stays as it is. */
static void own_rows_stay_in_a_copy(void **state)
{
    static const char own[] = "batch : 1 = 7 in 1..1e6\nbatch_twice : 1\n    = 2 * batch\n";
    const struct formulas *built_in = formulas_built_in(FORMULAS_ALL);
    struct arena arena = { 0 };
    struct formulas copy, second;
    struct error error;
    (void)state;
    const int batch = formulas_find(built_in, "batch");
    const double before = formulas_row(built_in, batch)->value;
    formulas_copy(&copy, &arena, built_in);
    copy.open = true;
    if (!formulas_read(&copy, "own.chalk", text_of(own), &error))
        fail_msg("%s", error.what);
    assert_true(before != 7 && formulas_row(&copy, batch)->value == 7);
    assert_ptr_equal(row_before(formulas_row(&copy, batch)), formulas_row(built_in, batch));
    assert_int_equal(formulas_find(&copy, "batch_twice"), built_in->count);
    assert_true(formulas_row(built_in, batch)->value == before);
    assert_int_equal(formulas_find(built_in, "batch_twice"), -1);
    formulas_copy(&second, &arena, &copy);      /* of a copy that has rows of its own */
    assert_true(formulas_read(&second, "more.chalk", text_of("batch_thrice : 1\n    = 3 * batch\n"),
                              &error));
    assert_int_equal(formulas_find(&copy, "batch_thrice"), -1);
    arena_free(&arena);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void same_csv(const struct csv *a, const struct csv *b)
{
    assert_string_equal(a->file, b->file);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < b->columns * (b->rows + 1); i++)
        assert_string_equal(csv_at(a, i), csv_at(b, i));
    for (size_t i = 0; i < b->rows; i++)
        assert_int_equal(a->lines[i], b->lines[i]);
}

static void tables_are_the_data(void **state)
{
    struct arena arena = { 0 };
    struct error error;
    struct csv csv;
    glob_t files;
    (void)state;
    assert_int_equal(glob("data/*.csv", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        if (!csv_read_groups(&arena, path, read_file(&arena, path), &csv, &error))
            fail_msg("%s", error.what);
        same_csv(csv_built_in(path), &csv);
    }
    globfree(&files);
    arena_free(&arena);
}

static void same_sheet(const struct catalog_sheet *a, const struct catalog_sheet *b)
{
    same_csv(&a->csv, &b->csv);
    const int columns[] = { a->kind, a->name, a->fact, a->value, a->unit, a->source, a->date,
                            a->mark, a->note, a->model };
    const int read[] = { b->kind, b->name, b->fact, b->value, b->unit, b->source, b->date,
                         b->mark, b->note, b->model };
    assert_memory_equal(columns, read, sizeof read);
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < b->count; k++) {
        assert_string_equal(a->entries[k].name, b->entries[k].name);
        assert_string_equal(a->entries[k].title, b->entries[k].title);
        assert_ptr_equal(a->entries[k].sheet, a);
        assert_int_equal(a->entries[k].first, b->entries[k].first);
        assert_int_equal(a->entries[k].rows, b->entries[k].rows);
    }
}

static void the_catalog_is_the_data(void **state)
{
    struct arena arena = { 0 };
    struct catalog catalog = { .arena = &arena };
    struct error error;
    (void)state;
    for (int i = 0; i < CATALOG_KINDS; i++) {
        const enum catalog_kind kind = (enum catalog_kind)i;
        const char *path = catalog_file(kind);
        if (!catalog_read(&catalog, kind, path, read_file(&arena, path), &error))
            fail_msg("%s", error.what);
        same_sheet(&catalog_built_in()->sheets[kind], &catalog.sheets[kind]);
    }
    arena_free(&arena);
}

/* ---- packed, as the page has them ----------------------------------------------------------- */

static struct unpacker unpacker_of(const struct packer *packer, struct arena *arena)
{
    struct unpacker unpacker = { .arena = arena };
    for (int i = 0; i < PACK_PARTS; i++)
        unpacker.parts[i] = packer->parts[i].data;
    return unpacker;
}

/* Every byte was taken, and no other. */
static void all_unpacked(const struct packer *packer, const struct unpacker *unpacker)
{
    for (int i = 0; i < PACK_PARTS; i++)
        assert_ptr_equal(unpacker->parts[i], packer->parts[i].data + packer->parts[i].size);
}

static void packed_formulas_come_back(void **state)
{
    struct arena arena = { 0 };
    struct packer packer;
    struct formulas sets[FORMULAS_ALL + 1], back[FORMULAS_ALL + 1];
    (void)state;
    for (unsigned i = 0; i <= FORMULAS_ALL; i++)
        sets[i] = *formulas_built_in(i);
    packer_open(&packer, &arena);
    pack_formulas(&packer, sets);
    struct unpacker unpacker = unpacker_of(&packer, &arena);
    unpack_formulas(&unpacker, back);
    all_unpacked(&packer, &unpacker);
    for (unsigned i = 0; i <= FORMULAS_ALL; i++)
        same_formulas(&back[i], &sets[i]);
    arena_free(&arena);
}

static void packed_sheets_come_back(void **state)
{
    struct arena arena = { 0 };
    struct packer packer;
    struct catalog back = { .arena = &arena };
    (void)state;
    packer_open(&packer, &arena);
    for (int kind = 0; kind < CATALOG_KINDS; kind++) {
        pack_csv(&packer, &catalog_built_in()->sheets[kind].csv);
        pack_sheet(&packer, &catalog_built_in()->sheets[kind]);
    }
    struct unpacker unpacker = unpacker_of(&packer, &arena);
    for (int kind = 0; kind < CATALOG_KINDS; kind++) {
        struct csv csv;
        unpack_csv(&unpacker, &csv);
        unpack_sheet(&unpacker, (enum catalog_kind)kind, &csv, &back.sheets[kind]);
        same_sheet(&back.sheets[kind], &catalog_built_in()->sheets[kind]);
    }
    all_unpacked(&packer, &unpacker);
    arena_free(&arena);
}

/* Counts of one byte and of more. */
static void packed_counts_come_back(void **state)
{
    static const size_t counts[] = { 0, 1, 127, 128, 16383, 16384, 1u << 28, UINT32_MAX };
    enum { COUNTS = sizeof counts / sizeof *counts };
    struct arena arena = { 0 };
    struct packer packer;
    (void)state;
    packer_open(&packer, &arena);
    for (int i = 0; i < COUNTS; i++)
        pack_count(&packer, PACK_COUNTS, counts[i]);
    struct unpacker unpacker = unpacker_of(&packer, &arena);
    for (int i = 0; i < COUNTS; i++)
        assert_int_equal(unpack_count(&unpacker, PACK_COUNTS), counts[i]);
    all_unpacked(&packer, &unpacker);
    arena_free(&arena);
}

static void formats_are_the_data(void **state)
{
    const struct formats *built_in = formats_built_in();
    struct arena arena = { 0 };
    struct formats formats;
    struct error error;
    (void)state;
    if (!formats_read(&arena, csv_built_in(FORMATS_FILE), &formats, &error))
        fail_msg("%s", error.what);
    assert_int_equal(built_in->count, formats.count);
    for (size_t i = 0; i < formats.count; i++) {
        const struct format *a = &built_in->format[i], *b = &formats.format[i];
        assert_true(same_string(a->name, b->name) && same_number(a->bytes, b->bytes) &&
                    same_string(a->peak, b->peak) && same_string(a->reached, b->reached) &&
                    same_string(a->launch, b->launch) && same_string(a->trained, b->trained));
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(books_are_the_formulas),
        cmocka_unit_test(own_rows_stay_in_a_copy),
        cmocka_unit_test(tables_are_the_data),
        cmocka_unit_test(the_catalog_is_the_data),
        cmocka_unit_test(packed_formulas_come_back),
        cmocka_unit_test(packed_sheets_come_back),
        cmocka_unit_test(packed_counts_come_back),
        cmocka_unit_test(formats_are_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
