/* Sequences that sample, beside servers that no constant of theirs was read from.
 *
 * host_overhead_per_sampled was read from one public source (argonne.csv, vLLM of 2024). Here it meets
 * another, with other models, lengths and engine: servers of ML.ENERGY, all of whose requests sample. */
#include "test.h"

#include "ask/ask.h"

#include <math.h>

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *cell(const struct csv *csv, size_t row, const char *name)
{
    return csv_cell(csv, row, csv_column(csv, name));
}

/* `eval predicted_tpot` of the server of a row; NAN: its model is unknown. */
static double predicted(struct arena *arena, const struct csv *csv, size_t row, const char *share)
{
    const char *machine = strstr(cell(csv, row, "hardware"), "H100") ? "h100-sxm" : "b200-sxm";
    char *words[40], *rest = arena_print(arena,
        "chalkline eval predicted_tpot --model %s --on %s --gpus %s --tp %s --set expert_parallel=%s --isl %s --osl %.0f"
        " --concurrency %.0f --engine vllm --precision %s --set sampled_share=%s",
        cell(csv, row, "model"), machine, cell(csv, row, "gpus"), cell(csv, row, "tensor_parallel"),
        cell(csv, row, "expert_parallel"), cell(csv, row, "assumed_prompt_tokens"), atof(cell(csv, row, "output_tokens")),
        fmax(1, round(atof(cell(csv, row, "assumed_concurrency")))), cell(csv, row, "precision"), share);
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error;
    int count = 0;
    for (char *word; (word = strsep(&rest, " "));)
        words[count++] = word;
    if (!command_read(arena, count, words, &command, &error) ||
        !command.verb->ask(arena, &command, &answer, &error))
        return NAN;
    return doc_get(doc_get(answer.doc, "predicted_tpot"), "value")->number;
}

static void another_source_agrees(void **state)
{
    (void)state;
    static const char *const shares[] = { "0", "1" };
    struct arena arena = { 0 };
    struct csv csv;
    struct text text;
    struct error error;
    const char *path = shared_file(&arena, "measurements/sources/mlenergy.csv");
    double median[2] = { 0 };
    if (!path)
        skip();
    if (!file_read(&arena, path, 1 << 24, &text, &error) || !csv_read_any(&arena, path, text, &csv, &error))
        fail_msg("%s", error.what);
    for (int k = 0; k < 2; k++) {
        double *off = arena_array(&arena, csv.rows, sizeof *off);
        size_t count = 0;
        for (size_t i = 0; i < csv.rows; i++) {
            struct arena one = { 0 };
            const bool chat = !strcmp(cell(&csv, i, "task"), "lm-arena-chat") || !strcmp(cell(&csv, i, "task"), "gpqa");
            if (!chat || *cell(&csv, i, "suspect") || strcmp(cell(&csv, i, "attention_dp"), "1") ||
                (sample_only() && i % 8))
                continue;
            const double tpot = predicted(&one, &csv, i, shares[k]);
            const double measured = atof(cell(&csv, i, "assumed_concurrency")) / atof(cell(&csv, i, "output_throughput_tok_s"));
            if (!isnan(tpot))
                off[count++] = fabs(tpot / measured - 1);
            arena_free(&one);
        }
        qsort(off, count, sizeof *off, by_size);
        assert_true(count >= (sample_only() ? 8 : 100));
        median[k] = off[count / 2];
        print_message("sampled_share = %s: %zu servers, TPOT median %.1f %%, 90th percentile %.1f %%\n", shares[k], count,
                      100 * median[k], 100 * off[count * 9 / 10]);
    }
    assert_true(median[1] < 0.12 && median[1] < median[0] / 2);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(another_source_agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
