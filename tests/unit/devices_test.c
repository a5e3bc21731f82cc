/* The machines of data/devices.csv: each is found by its names, has what a prediction needs, and agrees with the
 * table of devices in data/devices.csv of the folder that SHARED names. Names as people type them are in
 * tests/cases/machines.cases. */
#include "catalog/catalog.h"
#include "catalog/devices.h"

#include "rows/rows.h"
#include "tests/unit/test.h"

#include <math.h>

struct world {
    struct arena arena;
    struct catalog catalog;
};

static int setup(void **state)
{
    static struct world world;
    catalog_open(&world.catalog, &world.arena);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    arena_free(&((struct world *)*state)->arena);
    return 0;
}

static double number(const struct catalog_entry *entry, const char *fact)
{
    double value;
    return catalog_number(entry, fact, &value) ? value : 0;
}

static const struct catalog_entry *called(struct world *world, const char *name)
{
    struct catalog_called found;
    struct error error = { .what = "" };
    if (!catalog_machine_called(&world->catalog, name, &found, &error))
        fail_msg("%s: %s (%s)", name, error.what, error.hint);
    return found.entry;
}

/* ---- names ------------------------------------------------------------------------------------- */

static void check_own(struct world *world, const struct catalog_entry *entry, const char *name)
{
    const struct catalog_entry *found = called(world, name);
    if (found != entry)
        fail_msg("%s is %s and not %s", name, found->name, entry->name);
}

/* A name that several have means this one or its like once the memory is said. */
static void check_shared(struct world *world, const struct catalog_entry *entry, const char *name)
{
    char text[200];
    const double size = number(entry, "hbm_capacity");
    snprintf(text, sizeof text, "%s %.0f GB", name, size / 1073741824);
    struct catalog_called found;
    struct error error = { .what = "" };
    const bool one = catalog_machine_called(&world->catalog, text, &found, &error);
    if (one ? number(found.entry, "hbm_capacity") != size && !found.memory : !strstr(error.hint, entry->name))
        fail_msg("%s: %s (%s)", text, one ? found.entry->name : error.what, one ? "" : error.hint);
}

/* The cores of an Apple chip's GPU, with the word and without; those of its processor say nothing. */
static void cores_tell_chips_apart(void **state)
{
    static const struct { const char *name, *machine; } names[] = {
        { "M3 Max 30-core GPU", "m3-max-30c" }, { "M3 Max 30-core", "m3-max-30c" }, { "M3 Max 30-core 36GB", "m3-max-30c" },
        { "M3 Max 40-core", "m3-max" }, { "MacBook Pro M4 Max 32-core", "m4-max-32c" }, { "M1 Max 10-core", "m1-max" },
        { "M4 Pro 12-core CPU 16-core GPU", "m4-pro-16c" }, { "Ryzen 7 7800X3D 8-Core Processor", "ryzen-7-7800x3d" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(called(*state, names[i].name)->name, names[i].machine);
}

static void every_name_means_its_machine(void **state)
{
    struct world *world = *state;
    size_t names = 0;
    for (size_t i = 0; i < catalog_count(&world->catalog, CATALOG_MACHINE); i++) {
        const struct catalog_entry *entry = catalog_entry(&world->catalog, CATALOG_MACHINE, i);
        check_own(world, entry, entry->name);
        for (size_t k = 0; k < entry->rows; k++, names++) {
            const struct catalog_row row = catalog_row(entry, k);
            if (!strcmp(row.fact, "title") || !strcmp(row.fact, "alias"))
                check_own(world, entry, row.value);
            if (!strcmp(row.fact, "driver_name"))
                check_shared(world, entry, row.value);
        }
    }
    assert_true(catalog_count(&world->catalog, CATALOG_MACHINE) >= 400 && names > 400);
}

/* "name | machine | what its note says" or "name | ! | what its error says". */
static void check_case(struct world *world, struct text line, size_t number)
{
    const char *name = next_cell(&world->arena, &line), *want = next_cell(&world->arena, &line),
               *says = next_cell(&world->arena, &line);
    struct catalog_called found;
    struct error error = { .what = "", .hint = "" };
    const bool known = catalog_machine_called(&world->catalog, name, &found, &error);
    const char *have = known ? found.entry->name : "!";
    const char *more = known ? arena_print(&world->arena, "%s%.0f GiB, %.0f linked",
                                           found.note ? found.note : "no note, ", found.memory / 1073741824,
                                           found.chips)
                             : arena_print(&world->arena, "%s; %s", error.what, error.hint);
    if (strcmp(have, want) || !strstr(more, says))
        fail_msg("line %zu: %s: %s (%s)", number, name, have, more);
}

static void names_as_people_type_them(void **state)
{
    struct world *world = *state;
    struct error error;
    struct text text;
    size_t line = 0, cases = 0;
    assert_true(file_read(&world->arena, "tests/cases/machines.cases", 1 << 20, &text, &error));
    while (text.size) {
        const struct text one = text_trim(text_line(&text));
        line++;
        if (!one.size || *one.data == '#')
            continue;
        check_case(world, one, line);
        cases++;
    }
    assert_true(cases >= 60);
}

/* ---- facts ------------------------------------------------------------------------------------- */

static void every_device_can_be_predicted(void **state)
{
    struct world *world = *state;
    const struct catalog_sheet *devices = &world->catalog.devices;
    for (size_t i = 0; i < devices->count; i++) {
        const struct catalog_entry *entry = &devices->entries[i];
        struct facts facts = { .arena = &world->arena };
        struct error error = { .what = "" };
        if (!catalog_machine(&world->catalog, entry->name, &facts, &error))
            fail_msg("%s: %s", entry->name, error.what);
        const char *family = catalog_text(entry, "family");
        const double bandwidth = number(entry, "hbm_bandwidth"), fp32 = number(entry, "peak_fp32");
        if (!family || !(bandwidth > 1e10 && bandwidth < 1e14) ||
            !(fp32 > 4e10 || number(entry, "peak_bf16") > 1e13) || number(entry, "scale_up_chips") < 1)
            fail_msg("%s: a fact is missing or out of all measure", entry->name);
        const bool cpu = !strncmp(family, "cpu-", 4), cores = number(entry, "cpu_cores") > 0;
        if (cpu != cores || (cpu && !(number(entry, "cpu_clock") > 1e9 && number(entry, "cpu_clock") < 7e9)))
            fail_msg("%s: %s with %.0f cores", entry->name, family, number(entry, "cpu_cores"));
        if (!cpu && strstr(entry->name, "laptop") && number(entry, "laptop_part") != 1)
            fail_msg("%s is no part for laptops", entry->name);
    }
}

static void a_device_says_where_it_was_read(void **state)
{
    struct world *world = *state;
    struct facts facts = { .arena = &world->arena };
    struct error error;
    assert_true(catalog_machine(&world->catalog, "rtx-5090", &facts, &error));
    const struct fact *fact = facts_find(&facts, "hbm_bandwidth");
    assert_non_null(fact);
    assert_true(!strncmp(fact->source, "data/devices.csv:", 17) && strstr(fact->source, ", 2026-08-16"));
    assert_true(fact->value == 1792e9);
}

static bool expand(struct arena *arena, const char *wide, const char *sources, struct csv *narrow,
                   struct error *error)
{
    struct csv a, b;
    assert_true(csv_read(arena, "wide.csv", text_of(wide), &a, error) &&
                csv_read(arena, "sources.csv", text_of(sources), &b, error));
    return devices_expand(arena, &a, &b, narrow, error);
}

static void a_row_becomes_lines(void **state)
{
    struct world *world = *state;
    static const char header[] = "name,title,alias,size GiB,mark,source,note\n";
    static const char sources[] = "number,source,date\n1,a book,2026-01\n";
    struct error error = { .what = "" };
    struct csv csv;
    char wide[200];
    snprintf(wide, sizeof wide, "%sx,X,a|b,3,memory,1,old\ny,Y,,4,,1,\n", header);
    assert_true(expand(&world->arena, wide, sources, &csv, &error));
    assert_int_equal(csv.rows, 6);
    static const char *const fourth[] = { "x", "size", "3", "GiB", "a book", "2026-01", "memory", "old" };
    for (int i = 0; i < 8; i++)
        assert_string_equal(csv_cell(&csv, 3, i), fourth[i]);
    assert_string_equal(csv_cell(&csv, 2, 2), "b");
    assert_string_equal(csv_cell(&csv, 2, 6), "");          /* names carry no mark */
    assert_int_equal(csv.lines[5], 3);
    snprintf(wide, sizeof wide, "%sx,X,,3,,7,\n", header);
    assert_false(expand(&world->arena, wide, sources, &csv, &error));
    assert_non_null(strstr(error.what, "wide.csv:2: no source '7' in sources.csv"));
}

/* ---- the table of others ------------------------------------------------------------------------- */

static double cell(const struct csv *csv, size_t row, const char *column)
{
    const char *text = csv_cell(csv, row, csv_column(csv, column));
    return *text ? strtod(text, NULL) : 0;
}

static void agree(const char *name, const char *fact, double have, double want, double within)
{
    if (have > 0 && want > 0 && fabs(have / want - 1) > within)
        fail_msg("%s: %s %g, in the table %g", name, fact, have, want);
}

/* Processors are here with the mean of the memories that they take, there with one; Apple's rates are
 * estimates. */
static void check_row(const struct csv *csv, size_t row, const struct catalog_entry *entry)
{
    static const struct { const char *fact, *column; } peaks[] = {
        { "peak_fp32", "peak_fp32_tflops" }, { "peak_fp8", "peak_fp8_tflops" }, { "peak_int8", "peak_int8_tops" },
        { "peak_fp4", "peak_fp4_tflops" } };
    const char *family = catalog_text(entry, "family");
    const bool cpu = number(entry, "cpu_cores") > 0, apple = family && !strcmp(family, "apple");
    agree(entry->name, "hbm_bandwidth", number(entry, "hbm_bandwidth"),
          1e9 * cell(csv, row, "memory_bandwidth_GBps"), cpu ? 0.35 : 0.026);
    if (!cpu && !apple)
        agree(entry->name, "hbm_capacity", number(entry, "hbm_capacity"), cell(csv, row, "memory_bytes"), 0.08);
    const double fp16 = cell(csv, row, "peak_fp16_tflops"), bf16 = cell(csv, row, "peak_bf16_tflops");
    agree(entry->name, "peak_bf16", number(entry, "peak_bf16"), 1e12 * (bf16 > 0 ? bf16 : fp16), 0.04);
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks && !cpu; i++)
        agree(entry->name, peaks[i].fact, number(entry, peaks[i].fact), 1e12 * cell(csv, row, peaks[i].column),
              apple ? 0.15 : 0.04);
}

static void devices_agree_with_the_table(void **state)
{
    struct world *world = *state;
    const char *path = shared_file(&world->arena, "devices.csv");
    struct error error;
    struct text text;
    struct csv csv;
    size_t checked = 0;
    if (!path)
        return;
    assert_true(file_read(&world->arena, path, 1 << 24, &text, &error));
    assert_true(csv_read_any(&world->arena, path, text, &csv, &error));
    for (size_t row = 0; row < csv.rows; row++) {
        const char *id = csv_cell(&csv, row, csv_column(&csv, "id"));
        const struct catalog_entry *entry = catalog_known(&world->catalog, CATALOG_MACHINE, id);
        if (entry && !strcmp(entry->name, id)) {
            check_row(&csv, row, entry);
            checked++;
        }
    }
    printf("%zu of %zu devices of the table are here\n", checked, csv.rows);
    assert_true(checked >= 340);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cores_tell_chips_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(every_name_means_its_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(names_as_people_type_them, setup, teardown),
        cmocka_unit_test_setup_teardown(every_device_can_be_predicted, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_says_where_it_was_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_becomes_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(devices_agree_with_the_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
