/* Fine-tunes that were published (data/finetunes.csv) against the rows: the table of docs/accuracy.md, which
 * `finetunes_test --write` writes, and how far off memory and time are.
 *
 * What a source leaves out is assumed in the sheet, each with its words; no constant is fitted to these rows. */
#include "opened.h"

#include "catalog/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHEET "data/finetunes.csv"
#define PAGE  "docs/accuracy.md"
static const char begin[] = "<!-- fine-tunes -->\n", end[] = "<!-- end of fine-tunes -->\n";

enum { ROWS = 200 };
struct errors {
    double memory[ROWS], time[ROWS];
    size_t memories, times, above;      /* above: bounds of memory that the prediction exceeds */
};

static const struct csv *sheet(void)
{
    return csv_built_in(SHEET);
}

static const char *cell(size_t row, const char *column)
{
    return csv_cell(sheet(), row, csv_column(sheet(), column));
}

static double unit_value(const char *unit)
{
    return !strcmp(unit, "GiB") ? 1024.0 * 1024 * 1024 : !strcmp(unit, "GB") ? 1e9 : 1;
}

static double predicted(size_t row)
{
    struct arena arena = { 0 };
    struct scenario scenario;
    open_words(&arena, cell(row, "words"), &scenario);
    const double value = row_of(&scenario, cell(row, "row")) / unit_value(cell(row, "unit"));
    arena_free(&arena);
    return value;
}

/* "Llama-2-7B LoRA, 8 H100      24824 token/s   22471.6    -9.5 %" */
static void add_row(struct buffer *out, size_t row, struct errors *errors)
{
    const double value = predicted(row), measured = atof(cell(row, "measured")), error = value / measured - 1;
    const char *unit = cell(row, "unit");
    const bool memory = *unit == 'G', below = !strcmp(cell(row, "kind"), "below");
    if (!row || strcmp(cell(row - 1, "source"), cell(row, "source")))
        buffer_print(out, "%s%s, %s\n", row ? "\n" : "", cell(row, "source"), cell(row, "date"));
    buffer_print(out, "  %-37s  %s%8.5g %-7s  %8.5g  ", cell(row, "what"), below ? "<" : " ", measured, unit, value);
    if (below)
        buffer_print(out, "%s\n", value < measured ? "below" : "above");
    else
        buffer_print(out, "%+5.1f %%\n", 100 * error);
    if (below)
        errors->above += value >= measured;
    else if (memory)
        errors->memory[errors->memories++] = fabs(error);
    else
        errors->time[errors->times++] = fabs(error);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_errors(struct buffer *out, const char *name, double *error, size_t count)
{
    qsort(error, count, sizeof *error, by_size);
    buffer_print(out, "  %-7s %3zu values  median error %4.1f %%  max %4.1f %%\n", name, count,
                 100 * error[count / 2], 100 * error[count - 1]);
}

static const char *table(struct arena *arena, struct errors *errors)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "%s\n```text\n", begin);
    assert_true(sheet()->rows > 20 && sheet()->rows < ROWS);
    for (size_t row = 0; row < sheet()->rows; row++)
        add_row(&out, row, errors);
    buffer_print(&out, "\n");
    add_errors(&out, "memory", errors->memory, errors->memories);
    add_errors(&out, "time", errors->time, errors->times);
    buffer_print(&out, "```\n\n%s", end);
    return out.data;
}

/* The page with this table in it, or NULL where it has no place for one. */
static const char *page_with(struct arena *arena, const char *lines, struct text *page)
{
    struct error error;
    struct buffer out = { .arena = arena };
    assert_true(file_read(arena, PAGE, 1 << 20, page, &error));
    const char *text = arena_copy(arena, page->data, page->size);
    const char *from = strstr(text, begin), *to = strstr(text, end);
    if (!from || !to)
        return NULL;
    buffer_print(&out, "%.*s%s%s", (int)(from - text), text, lines, to + strlen(end));
    return out.data;
}

static void fine_tunes(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct errors errors = { .memories = 0 };
    struct text page;
    const char *with = page_with(&arena, table(&arena, &errors), &page);
    assert_non_null(with);
    if (strlen(with) != page.size || memcmp(with, page.data, page.size))
        fail_msg(PAGE ": its table of fine-tunes is another; `finetunes_test --write` writes it");
    assert_true(errors.memories >= 20 && errors.times >= 25);
    assert_true(errors.memory[errors.memories / 2] < 0.06 && errors.memory[errors.memories - 1] < 0.20);
    assert_true(errors.time[errors.times / 2] < 0.15);
    assert_int_equal(errors.above, 0);
    arena_free(&arena);
}

/* Adapters alone are trained: no gradient of a frozen weight is computed, kept or reduced. */
static void adapters(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct scenario all, lora;
    const char *words = "--model llama-2-7b --on h100-sxm --tp 1 --pp 1 --cp 1 --ep 1 --set training_chips=8 "
                        "--global-batch 32 --set zero_stage=0";
    open_words(&arena, words, &all);
    open_words(&arena, arena_print(&arena, "%s --set lora_rank=16", words), &lora);
    /* four matrices of 4,096 x 4,096 and three of 4,096 x 11,008 in each of 32 layers */
    assert_float_equal(row_of(&lora, NAME_lora_params), 16.0 * 32 * (4 * 8192 + 3 * (4096 + 11008)), 0.5);
    assert_float_equal(row_of(&lora, NAME_kept_gradients), 2 * row_of(&lora, NAME_lora_params), 1);
    assert_float_equal(row_of(&lora, NAME_kept_optimizer), 12 * row_of(&lora, NAME_lora_params), 1);
    assert_float_equal(row_of(&all, NAME_kept_optimizer), 12 * row_of(&all, NAME_params_total), 1);
    assert_true(row_of(&lora, NAME_gemm_backward) < 0.52 * row_of(&all, NAME_gemm_backward));
    assert_float_equal(row_of(&all, NAME_dequantise_time), 0, 0);
    assert_float_equal(row_of(&lora, NAME_dequantise_time), 0, 0);
    open_words(&arena, arena_print(&arena, "%s --precision nf4 --set lora_rank=16", words), &lora);
    assert_true(row_of(&lora, NAME_dequantise_time) > 0);
    arena_free(&arena);
}

/* What the host takes over leaves the chip; hosts that are taken back interrupt a run. */
static void hosts(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct scenario chip, host;
    const char *words = "--model llama-3.1-8b --on h100-sxm --tp 1 --pp 1 --cp 1 --ep 1 --set training_chips=8 "
                        "--global-batch 64";
    open_words(&arena, words, &chip);
    open_words(&arena, arena_print(&arena, "%s --set offload_optimizer=1 --set optimizer_on_host=1 "
                                   "--set spot_interruptions=1/d", words), &host);
    assert_true(row_of(&host, NAME_train_memory) < row_of(&chip, NAME_train_memory));
    assert_float_equal(row_of(&host, NAME_optimizer_time), 0, 0);
    assert_true(row_of(&host, NAME_optimizer_host_time) > row_of(&chip, NAME_optimizer_time));
    /* one host, taken back once a day, against a failure of 8 chips in 2110 d / 8 */
    assert_float_equal(1 / row_of(&host, NAME_run_failure_time),
                       1 / row_of(&chip, NAME_run_failure_time) + 1 / 86400.0, 1e-12);
    assert_true(row_of(&host, NAME_train_goodput) < row_of(&chip, NAME_train_goodput));
    arena_free(&arena);
}

int main(int count, char **words)
{
    if (count == 2 && !strcmp(words[1], "--write")) {
        struct arena arena = { 0 };
        struct errors errors = { .memories = 0 };
        struct text page;
        const char *with = page_with(&arena, table(&arena, &errors), &page);
        FILE *file = with ? fopen(PAGE, "wb") : NULL;
        const bool written = file && fputs(with, file) >= 0;
        if (file)
            fclose(file);
        arena_free(&arena);
        return !written;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_tunes),
        cmocka_unit_test(adapters),
        cmocka_unit_test(hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
