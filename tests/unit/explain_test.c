/* `check --explain`: causes that are hidden here, by predicting a server with the cause and writing what
 * it shows into a sheet that does not state it. Each must be named, with its figure; servers without a
 * cause must stay silent. */
#include "test.h"
#include "commands.h"
#include "scenario/values.h"

#include "ask/ask.h"

#include <math.h>
#include <unistd.h>

struct world {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    char file[64];
    FILE *sheet;
};

struct server {
    const char *model, *machine, *engine, *precision;
    double chips, load, prompt, answer;
};

struct setting { const char *row; double value; };
enum { SETTINGS = 4 };                /* that a cause sets at most; the rest is { NULL, 0 } */

struct times { double tpot, ttft; };

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    strcpy(world->file, "/tmp/explain_test.XXXXXX");
    const int file = mkstemp(world->file);
    world->sheet = file < 0 ? NULL : fdopen(file, "w");
    return !world->sheet;
}

static int world_close(void **state)
{
    struct world *world = *state;
    if (world->sheet)
        fclose(world->sheet);
    unlink(world->file);
    arena_free(&world->arena);
    free(world);
    return 0;
}

/* ---- a server with a cause ------------------------------------------------------------------ */

static double predict(struct world *world, const struct server *server, const struct setting *cause,
                      const char *row)
{
    const struct subject subject = { .model = server->model, .machine = server->machine,
                                     .engine = server->engine, .precision = server->precision,
                                     .kv_precision = "fp8" };
    const struct setting stated[] = { { "chips", server->chips }, { "concurrency", server->load },
                                    { "attention_dp", 1 }, { "expert_parallel", 1 },
                                    { "prompt_tokens", server->prompt },
                                    { "output_tokens", server->answer }, { "load_generator", 1 } };
    const struct command none = { .verb = &verb_eval };
    struct scenario scenario;
    double value;
    if (!scenario_read(&scenario, &world->arena, &none, subject, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    for (size_t i = 0; i < COUNT(stated); i++)
        facts_set(&scenario.facts, stated[i].row, stated[i].value, ORIGIN_GIVEN, "test");
    for (size_t i = 0; cause && i < SETTINGS && cause[i].row; i++)
        facts_set(&scenario.facts, cause[i].row, cause[i].value, ORIGIN_GIVEN, "test");
    if (!value_of(&scenario, row, &value, &world->error))
        fail_msg("%s: %s (%s)", row, world->error.what, world->error.hint);
    return value;
}

static struct times show(struct world *world, const struct server *server, const struct setting *cause)
{
    return (struct times){ predict(world, server, cause, "predicted_tpot"),
                           predict(world, server, cause, "predicted_ttft") };
}

/* A line of the sheet; `more` is the cells of the columns that `begin` named. */
static void state_row(struct world *world, const struct server *server, struct times times, const char *more)
{
    fprintf(world->sheet, "here,one,%s,%s,%s,%s,fp8,%g,%g,1,1,%g,%g,%.12g,%.12g%s\n", server->model,
            server->machine, server->engine, server->precision, server->chips, server->load, server->prompt,
            server->answer, times.tpot, times.ttft, more);
}

static void begin(struct world *world, const char *more)
{
    rewind(world->sheet);
    assert_int_equal(ftruncate(fileno(world->sheet), 0), 0);
    fprintf(world->sheet, "source,series,model,machine,engine,precision,kv_precision,chips,concurrency,"
                          "attention_dp,expert_parallel,prompt_tokens,output_tokens,predicted_tpot,"
                          "predicted_ttft%s\n", more);
}

/* ---- what it reveals -------------------------------------------------------------------------- */

static const struct doc *explain_file(struct world *world, const char *file)
{
    world->command.verb = &verb_check;
    command_give(&world->arena, &world->command, "measured", file);
    command_give(&world->arena, &world->command, "explain", "");
    world->answer = (struct answer){ .doc = doc_new(&world->arena, DOC_OBJECT),
                                     .text.arena = &world->arena, .csv.arena = &world->arena };
    if (!verb_check.ask(&world->arena, &world->command, &world->answer, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return doc_get(world->answer.doc, "explained");
}

static const struct doc *explain(struct world *world)
{
    fflush(world->sheet);
    return explain_file(world, world->file);
}

static const struct doc *finding(const struct doc *row, const char *what)
{
    const struct doc *one = row ? doc_get(row, "findings")->first : NULL;
    while (one && strcmp(doc_get(one, "what")->string, what))
        one = one->next;
    return one;
}

static const struct doc *row_of(const struct doc *explained, int line)
{
    const struct doc *row = explained->first;
    while (row && doc_get(row, "line")->number != line)
        row = row->next;
    return row;
}

static void says(struct world *world, const struct doc *explained, int line, const char *what, double figure)
{
    const struct doc *found = finding(row_of(explained, line), what);
    if (!found)
        fail_msg("line %d does not reveal %s:\n%s", line, what, world->answer.text.data);
    if (isnan(figure))
        assert_true(isnan(doc_get(found, "figure")->number));      /* null in JSON */
    else if (!(fabs(doc_get(found, "figure")->number - figure) <= 0.1 * figure))
        fail_msg("line %d: %s of %g where %g was hidden", line, what, doc_get(found, "figure")->number,
                 figure);
}

static double count_of(const struct world *world, const char *key)
{
    return doc_get(world->answer.doc, key)->number;
}

/* One row whose server had the cause, which the row does not state. */
static const struct doc *explain_one(struct world *world, const struct server *stated, struct times times)
{
    begin(world, "");
    state_row(world, stated, times, "");
    return explain(world);
}

static const struct server usual = { "llama-3.1-70b", "h100-sxm", "vllm", "fp8", 4, 32, 1024, 1024 };

/* ---- the causes ------------------------------------------------------------------------------- */

static void a_limit_on_sequences(void **state)
{
    struct world *world = *state;
    static const struct { double limit; bool named; } cases[] = { { 8, true }, { 16, true }, { 11, false } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct setting cause[SETTINGS] = { { "max_num_seqs", cases[i].limit } };
        const struct doc *explained = explain_one(world, &usual, show(world, &usual, cause));
        says(world, explained, 2, "busy_slots", cases[i].limit);
        const char *text = doc_get(finding(explained->first, "busy_slots"), "text")->string;
        assert_true(!strstr(text, "a limit of") == !cases[i].named);
        assert_string_equal(doc_get(explained->first, "model")->string, usual.model);
    }
    /* stated, it is no finding */
    const struct setting cause[SETTINGS] = { { "max_num_seqs", 8 } };
    begin(world, ",max_num_seqs");
    state_row(world, &usual, show(world, &usual, cause), ",8");
    assert_int_equal(explain(world)->count, 0);
}

/* Of a row alone only that the first token is late; beside rows with long answers, where it is not set. */
static void a_streaming_interval(void **state)
{
    struct world *world = *state;
    static const struct setting cause[SETTINGS] = { { "streaming_interval", 20 } };
    static const struct setting longer[SETTINGS] = { { "streaming_interval", 40 } };
    static const double loads[] = { 4, 8, 16, 32 };
    const struct server few = { "llama-3.1-70b", "h100-sxm", "vllm", "fp8", 4, 16, 128, 1024 };
    says(world, explain_one(world, &few, show(world, &few, longer)), 2, "late_first_token", 39);
    begin(world, "");
    for (size_t i = 0; i < COUNT(loads); i++) {
        struct server one = usual;
        one.load = loads[i];
        state_row(world, &one, show(world, &one, cause), "");
        one.answer = 4096;
        state_row(world, &one, show(world, &one, NULL), "");
    }
    const struct doc *explained = explain(world);
    assert_int_equal(explained->count, COUNT(loads));
    for (size_t i = 0; i < COUNT(loads); i++)
        says(world, explained, 2 + 2 * (int)i, "streaming_interval", 19);
    assert_true(count_of(world, "silent") == COUNT(loads));
}

static void a_cached_prefix(void **state)
{
    struct world *world = *state;
    static const struct setting cause[SETTINGS] = { { "prefix_hit_share", 0.9 } };
    const struct server one = { "gemma-3-27b", "a100-sxm", "vllm", "bf16", 1, 1, 30000, 256 };
    const struct times times = show(world, &one, cause);
    const double peak = predict(world, &one, NULL,
                                "2 * params_active * prompt_tokens / (chips * peak_flops)");
    says(world, explain_one(world, &one, times), 2, "cached_prompt", 0.9);
    const double told = doc_get(finding(doc_get(world->answer.doc, "explained")->first, "cached_prompt"),
                                "figure")->number;
    assert_true(told < 0.9 && fabs(told - (1 - times.ttft / peak)) < 0.01);     /* so much at least */
}

/* What must have been faster than memory: the bound of the stated server over what was shown. */
static void faster(struct world *world, const struct server *stated, struct times times)
{
    const double running = stated->load * (stated->answer - 1) * times.tpot /
                           (times.ttft + (stated->answer - 1) * times.tpot);
    const struct setting alone[SETTINGS] = { { "batch", running } };
    const double bound = predict(world, stated, alone, "AT(bound_step, context = mean_context)");
    assert_true(bound > 1.05 * times.tpot);
    says(world, explain_one(world, stated, times), 2, "faster_than_memory", bound / times.tpot);
}

static void drafts_that_are_accepted(void **state)
{
    struct world *world = *state;
    static const struct setting cause[SETTINGS] = { { "draft_tokens", 3 }, { "acceptance_rate", 0.9 } };
    const struct server one = { "llama-3.1-70b", "h100-sxm", "vllm", "fp8", 2, 2, 1024, 1024 };
    faster(world, &one, show(world, &one, cause));
    const struct doc *found = finding(doc_get(world->answer.doc, "explained")->first, "faster_than_memory");
    assert_true(doc_get(found, "figure")->number < predict(world, &one, cause, "acceptance_length"));
}

static void weights_of_another_precision(void **state)
{
    struct world *world = *state;
    struct server one = { "llama-3.1-70b", "b200-sxm", "trtllm", "fp4", 1, 1, 1024, 1024 };
    const struct times times = show(world, &one, NULL);
    one.precision = "bf16";
    faster(world, &one, times);
}

/* The stated server has half of the GPUs, as a second replica or in the same one. */
static void twice_the_gpus(void **state)
{
    struct world *world = *state;
    struct server one = { "llama-2-7b", "h100-sxm", "vllm", "fp8", 1, 96, 512, 2048 };
    struct server half = one;
    half.load = one.load / 2;
    faster(world, &one, show(world, &half, NULL));
    struct server four = { "llama-3.1-70b", "a100-sxm", "vllm", "bf16", 4, 4, 512, 1024 };
    const struct times times = show(world, &four, NULL);
    four.chips = 2;
    faster(world, &four, times);
}

static void a_model_too_large(void **state)
{
    struct world *world = *state;
    struct server one = { "llama-3.1-70b", "h100-sxm", "vllm", "bf16", 8, 16, 1024, 1024 };
    const struct times times = show(world, &one, NULL);
    one.chips = 1;
    const double lacking = predict(world, &one, NULL, "replica_weights_per_chip") -
                           predict(world, &one, NULL, "gpu_memory_utilization * hbm_reported");
    assert_true(lacking > 50e9);
    says(world, explain_one(world, &one, times), 2, "does_not_fit", lacking);
    one.chips = 2;                                  /* holds the weights and some of the cache */
    assert_int_equal(explain_one(world, &one, show(world, &one, NULL))->count, 0);
}

static void the_same_figures_elsewhere(void **state)
{
    struct world *world = *state;
    const struct server one = { "qwen3-30b-a3b", "h100-sxm", "sglang", "fp8", 4, 16, 1024, 1024 };
    const struct times times = show(world, &one, NULL);
    begin(world, "");
    for (int experts = 1; experts <= 4; experts *= 4)
        fprintf(world->sheet, "here,one,%s,%s,%s,fp8,fp8,4,16,1,%d,1024,1024,%.12g,%.12g\n", one.model,
                one.machine, one.engine, experts, times.tpot, times.ttft);
    const struct doc *explained = explain(world);
    says(world, explained, 2, "same_figures", NAN);
    says(world, explained, 3, "same_figures", NAN);
}

static void one_server_measured_twice(void **state)
{
    struct world *world = *state;
    struct times times = show(world, &usual, NULL);
    begin(world, "");
    state_row(world, &usual, times, "");
    times.tpot /= 1.7;
    state_row(world, &usual, times, "");
    const struct doc *explained = explain(world);
    says(world, explained, 2, "measured_twice", 1.7);
    says(world, explained, 3, "measured_twice", 1.7);
}

/* Three seconds in which the server started, spread over all requests of the runs with long answers. */
static void a_start_in_the_mean(void **state)
{
    struct world *world = *state;
    static const double loads[] = { 8, 16, 32, 64 }, start = 3;
    begin(world, "");
    for (size_t i = 0; i < COUNT(loads); i++) {
        struct server one = { "llama-3.1-8b", "h100-sxm", "trtllm", "bf16", 1, loads[i], 128, 128 };
        state_row(world, &one, show(world, &one, NULL), "");
        one.answer = 512;
        struct times times = show(world, &one, NULL);
        times.ttft += start / one.load;
        state_row(world, &one, times, "");
    }
    const struct doc *explained = explain(world);
    for (size_t i = 0; i < COUNT(loads); i++) {
        says(world, explained, 3 + 2 * (int)i, "start_up", start);
        assert_null(row_of(explained, 2 + 2 * (int)i));
    }
}

/* An open loop at twice the rate of the server's slots, and one of which half was completed. */
static void past_saturation(void **state)
{
    struct world *world = *state;
    static const char columns[] = "source,model,machine,engine,precision,kv_precision,chips,arrival_rate,"
                                  "max_num_seqs,measured_completed_rate,prompt_tokens,output_tokens,"
                                  "predicted_tpot,predicted_ttft\n";
    const struct setting seats[SETTINGS] = { { "max_num_seqs", 16 } };
    const double capacity = predict(world, &usual, seats, "slots_rate");
    for (int completed = 0; completed < 2; completed++) {
        const double rate = completed ? 0.4 * capacity : 2 * capacity;
        const struct setting cause[SETTINGS] = { { "max_num_seqs", 16 }, { "arrival_rate", rate } };
        const struct times times = show(world, &usual, cause);
        rewind(world->sheet);
        assert_int_equal(ftruncate(fileno(world->sheet), 0), 0);
        fprintf(world->sheet, "%shere,%s,%s,vllm,fp8,fp8,4,%.12g,16,%.12g,1024,1024,%.12g,%.12g\n", columns,
                usual.model, usual.machine, rate, completed ? rate / 2 : 0, times.tpot, times.ttft);
        says(world, explain(world), 2, "past_saturation", 2);
        assert_int_equal(doc_get(world->answer.doc, "refused")->count, 1);
    }
}

/* A guess is told with its reason; an assumption only where a figure is off. */
static void reasons_of_inputs(void **state)
{
    struct world *world = *state;
    static const struct setting cause[SETTINGS] = { { "max_num_seqs", 8 } };
    begin(world, ",chips_from,kv_precision_from");
    state_row(world, &usual, show(world, &usual, NULL), ",inferred: the price of it,");
    state_row(world, &usual, show(world, &usual, NULL), ",,usual for these weights");
    state_row(world, &usual, show(world, &usual, cause), ",,usual for these weights");
    const struct doc *explained = explain(world);
    assert_int_equal(explained->count, 2);
    says(world, explained, 2, "inferred_input", NAN);
    says(world, explained, 4, "assumed_input", NAN);
    assert_string_equal(doc_get(finding(explained->first, "inferred_input"), "text")->string,
                        "chips is inferred: the price of it");
    assert_non_null(strstr(world->answer.text.data, "assumed"));
}

/* ---- no cause -------------------------------------------------------------------------------- */

/* Servers that hide nothing, measured with an error of a twentieth. */
static void plain_rows_are_silent(void **state)
{
    struct world *world = *state;
    static const struct server servers[] = {
        { "llama-3.1-70b", "h100-sxm", "vllm", "fp8", 4, 0, 1024, 1024 },
        { "llama-3.1-70b", "b200-sxm", "trtllm", "fp8", 2, 0, 1024, 8192 },
        { "llama-3.1-8b", "h100-sxm", "vllm", "bf16", 1, 0, 128, 512 },
        { "llama-3.1-8b", "a100-sxm", "vllm", "bf16", 1, 0, 8192, 256 },
        { "qwen3-32b", "h200-sxm", "sglang", "bf16", 2, 0, 2048, 512 },
        { "qwen3-30b-a3b", "h100-sxm", "sglang", "fp8", 1, 0, 1024, 1024 },
        { "gpt-oss-120b", "b200-sxm", "vllm", "fp4", 1, 0, 4096, 1024 },
    };
    uint64_t seed = 11;
    size_t rows = 0;
    begin(world, "");
    for (size_t i = 0; i < COUNT(servers); i++)
        for (double load = 1; load <= 64; load *= 2) {
            struct server one = servers[i];
            one.load = load;
            struct times times = show(world, &one, NULL);
            times.tpot *= draw_in(&seed, 0.95, 1.05);
            times.ttft *= draw_in(&seed, 0.95, 1.05);
            state_row(world, &one, times, "");
            rows++;
        }
    const struct doc *explained = explain(world);
    if (explained->count)
        fail_msg("%s", world->answer.text.data);
    assert_true(count_of(world, "silent") == (double)rows);
    assert_true(count_of(world, "unexamined") == 0);
}

/* --worst N: the rows that are furthest off, largest first. */
static void the_worst_come_first(void **state)
{
    struct world *world = *state;
    static const double limits[] = { 16, 4, 8 };
    begin(world, "");
    for (size_t i = 0; i < COUNT(limits); i++) {
        const struct setting cause[SETTINGS] = { { "max_num_seqs", limits[i] } };
        struct server one = usual;
        one.prompt += (double)i;
        state_row(world, &one, show(world, &one, cause), "");
    }
    assert_int_equal(explain(world)->count, 3);
    command_give(&world->arena, &world->command, "worst", "2");
    const struct doc *explained = explain(world);
    assert_int_equal(explained->count, 2);
    assert_int_equal(doc_get(explained->first, "line")->number, 3);
    assert_int_equal(doc_get(explained->first->next, "line")->number, 4);
}

/* Published sheets, whose causes are known otherwise: Llama-3.1-70B under TensorRT-LLM sends its tokens
 * 20 at a time where answers are short, on one, two and four B200; a batch of Mixtral that repeats one prompt
 * chooses the same experts. */
static void published_sheets(void **state)
{
    struct world *world = *state;
    static const struct { const char *file, *what, *model; size_t rows; } sheets[] = {
        { "measurements/serving_points.csv", "streaming_interval", "meta-llama/Llama-3.1-70B", 30 },
        { "measurements/serving_points.csv", "start_up", "meta-llama/Llama-3.1-8B-Instruct", 20 },
        { "measurements/sources/argonne.csv", "faster_than_memory", "mistralai/Mixtral-8x7B-v0.1", 10 },
    };
    for (size_t i = 0; i < COUNT(sheets); i++) {
        const char *file = shared_file(&world->arena, sheets[i].file);
        size_t rows = 0;
        if (!file)
            continue;
        for (const struct doc *row = explain_file(world, file)->first; row; row = row->next)
            if (finding(row, sheets[i].what)) {
                assert_string_equal(doc_get(row, "model")->string, sheets[i].model);
                rows++;
            }
        assert_true(rows >= sheets[i].rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_limit_on_sequences, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_streaming_interval, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_cached_prefix, world_open, world_close),
        cmocka_unit_test_setup_teardown(drafts_that_are_accepted, world_open, world_close),
        cmocka_unit_test_setup_teardown(weights_of_another_precision, world_open, world_close),
        cmocka_unit_test_setup_teardown(twice_the_gpus, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_model_too_large, world_open, world_close),
        cmocka_unit_test_setup_teardown(the_same_figures_elsewhere, world_open, world_close),
        cmocka_unit_test_setup_teardown(one_server_measured_twice, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_start_in_the_mean, world_open, world_close),
        cmocka_unit_test_setup_teardown(past_saturation, world_open, world_close),
        cmocka_unit_test_setup_teardown(reasons_of_inputs, world_open, world_close),
        cmocka_unit_test_setup_teardown(plain_rows_are_silent, world_open, world_close),
        cmocka_unit_test_setup_teardown(the_worst_come_first, world_open, world_close),
        cmocka_unit_test_setup_teardown(published_sheets, world_open, world_close),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
