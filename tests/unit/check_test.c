/* `check`: sheets made here from the predictions themselves, so that their scores are known.
 * Runs in the root of the tree; pictures and sheets go to a folder of their own. */
#include "test.h"
#include "commands.h"

#include "report/picture.h"
#include "ask/ask.h"
#include "lab/check/check.h"
#include "score/measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 6 };                  /* of the sheet below that can be predicted */

struct world {
    struct arena arena;
    struct command command;
    struct answer answer;
    struct error error;
    char folder[64];
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    strcpy(world->folder, "/tmp/check_test.XXXXXX");
    return !world || !mkdtemp(world->folder);
}

static const char *path(struct world *world, const char *name)
{
    return arena_print(&world->arena, "%s/%s", world->folder, name);
}

static int world_close(void **state)
{
    static const char *const names[] = { "a.csv", "b.csv", "plot.svg" };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(path(world, names[i]));
    rmdir(world->folder);
    arena_free(&world->arena);
    free(world);
    return 0;
}

/* Six points that can be predicted, of two models on two machines, and two that cannot.
 * NULL: any measured times. */
static const char *sheet(struct world *world, const char *name, const double *times)
{
    static const char *const systems[] = { "h100_sxm", "H100-SXM", "b200_sxm" };    /* 2 machines */
    static const char *const models[] = { "meta-llama/Llama-3.1-70B", "Qwen/Qwen3-32B" };
    const char *file = path(world, name);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "silicon_data_source,backend,model_path,system,precision,mode,isl,osl,tp_size,"
                 "attention_dp_size,moe_tp_size,moe_ep_size,moe_quant_mode,silicon_ttft_ms,"
                 "silicon_tpot_ms\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "silicon_concurrency=%d,vllm,%s,%s,fp8,agg,1024,1024,4,1,1,1,,%.9g,%.9g\n",
                4 << i, models[i % 2], systems[i / 2], times ? 1e3 * times[2 * i + 1] : 100,
                times ? 1e3 * times[2 * i] : 20 + i);
    fprintf(out, "gtl_;silicon_concurrency=8,vllm,%s,h100_sxm,fp8,agg,1024,1024,4,1,1,1,,9,9\n",
            models[0]);
    fprintf(out, "silicon_concurrency=8,vllm,no-such-model,h100_sxm,fp8,agg,1024,1024,4,1,1,1,,9,9\n");
    fclose(out);
    return file;
}

static void ask(struct world *world, const char **files, size_t count, const char *by)
{
    world->command.verb = &verb_check;
    command_give(&world->arena, &world->command, "measured", NULL);
    for (size_t i = 0; i < count; i++)
        command_set(&world->arena, &world->command, "measured", files[i]);
    command_give(&world->arena, &world->command, "by", by);
    world->answer = (struct answer){ .doc = doc_new(&world->arena, DOC_OBJECT),
                                     .text.arena = &world->arena, .csv.arena = &world->arena };
    if (!verb_check.ask(&world->arena, &world->command, &world->answer, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
}

/* "total/median", of the answer. */
static double number(struct world *world, const char *keys)
{
    const struct doc *doc = world->answer.doc;
    char *rest = arena_copy(&world->arena, keys, strlen(keys)), *key;
    while (doc && (key = strsep(&rest, "/")))
        doc = doc_get(doc, key);
    if (!doc || doc->kind != DOC_NUMBER)
        fail_msg("no number '%s'", keys);
    return doc->number;
}

static struct csv lines(struct world *world)
{
    struct csv csv;
    if (!csv_read(&world->arena, "answer", (struct text){ world->answer.csv.data,
                                                          world->answer.csv.size },
                  &csv, &world->error))
        fail_msg("%s", world->error.what);
    return csv;
}

/* What is predicted for the sheet, value by value, times a factor. */
static const double *predicted(struct world *world, double factor)
{
    const char *files[] = { sheet(world, "a.csv", NULL) };
    double *times = arena_array(&world->arena, 2 * ROWS, sizeof *times);
    ask(world, files, 1, NULL);
    struct csv csv = lines(world);
    size_t count = 0;
    for (size_t i = 0; i < csv.rows; i++)
        if (!*csv_cell(&csv, i, csv_column(&csv, "refused")))
            times[count++] = factor * atof(csv_cell(&csv, i, csv_column(&csv, "predicted")));
    assert_int_equal(count, 2 * ROWS);
    return times;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6))
        fail_msg("%.9g where %.9g was expected", value, expected);
}

/* measured = 1.1 x predicted: every error is 1 / 1.1 - 1. */
static void scores_are_known(void **state)
{
    struct world *world = *state;
    const char *files[] = { sheet(world, "b.csv", predicted(world, 1.1)) };
    ask(world, files, 1, "hardware");
    near(number(world, "total/n"), 2 * ROWS);
    near(number(world, "total/median"), 1 - 1 / 1.1);
    near(number(world, "total/mean"), 1 - 1 / 1.1);
    near(number(world, "total/p90"), 1 - 1 / 1.1);
    near(number(world, "total/bias"), 1 / 1.1 - 1);
    near(number(world, "metrics/ttft/n"), ROWS);
    near(number(world, "by/h100_sxm/tpot/n"), 4);       /* in two spellings */
    near(number(world, "by/b200_sxm/ttft/bias"), 1 / 1.1 - 1);
    const struct doc *refused = doc_get(world->answer.doc, "refused")->first;
    while (refused && strcmp(doc_get(refused, "reason")->string, "several replicas behind a router"))
        refused = refused->next;
    assert_non_null(refused);
    assert_true(doc_get(refused, "line")->number > 1);
}

static void coverage_is_known(void **state)
{
    static const struct {
        double factor, coverage;
    } cases[] = { { 1.0001, 1 }, { 100, 0 } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *files[] = { sheet(world, "b.csv", predicted(world, cases[i].factor)) };
        ask(world, files, 1, NULL);
        near(number(world, "total/coverage"), cases[i].coverage);
    }
}

/* By hand: measured = 4 x predicted is beyond every interval here, so each value's score is ln(high / low) + 10 ln(4 / high),
 * of the ends over the prediction. Two rows are of one cluster, the third of its own. */
static void clusters_are_scored(void **state)
{
    struct world *world = *state;
    const char *files[] = { sheet(world, "b.csv", predicted(world, 4)) };
    ask(world, files, 1, "cluster");
    const struct csv csv = lines(world);
    double sum = 0, count = 0;
    for (size_t i = 0; i < csv.rows; i++) {
        const char *const names[] = { "measured", "predicted", "low", "high" };
        double at[4];
        for (int k = 0; k < 4; k++)
            at[k] = atof(csv_cell(&csv, i, csv_column(&csv, names[k])));
        if (*csv_cell(&csv, i, csv_column(&csv, "refused")) || strcmp(csv_cell(&csv, i, csv_column(&csv, "metric")), "tpot"))
            continue;
        assert_true(at[0] > at[3]);
        sum += log(at[3] / at[2]) + 10 * log(at[0] / at[3]);
        count++;
    }
    near(count, ROWS);
    near(number(world, "metrics/tpot/interval_score"), sum / count);
    near(number(world, "by/llama-3.1-70b h100-sxm vllm fp8/tpot/n"), 2);
    near(number(world, "by/llama-3.1-70b h100-sxm vllm fp8/tpot/scatter"), 0);
    near(number(world, "by/llama-3.1-70b h100-sxm vllm fp8/tpot/bias"), 1 / 4. - 1);
    near(number(world, "by/cluster/tpot/n"), 4);
    near(number(world, "by/cluster/tpot/median"), 1 - 1 / 4.);
}

/* A hundredth of what is predicted is less than memory and peak allow: no row is scored. */
static void the_impossible_is_refused(void **state)
{
    struct world *world = *state;
    const char *files[] = { sheet(world, "b.csv", predicted(world, 0.01)) };
    ask(world, files, 1, NULL);
    near(number(world, "scored"), 0);
    const struct doc *refused = doc_get(world->answer.doc, "refused")->first;
    assert_non_null(strstr(doc_get(refused, "reason")->string, "faster than memory and peak allow"));
}

/* Every row is scored or refused, and every line of the CSV is one of these. */
static void all_add_up(struct world *world)
{
    const struct doc *doc = world->answer.doc, *by = doc_get(doc, "by");
    double refused = (double)doc_get(doc, "refused")->count, values = 0;
    near(number(world, "rows"), number(world, "scored") + refused);
    near((double)lines(world).rows, number(world, "total/n") + refused);
    for (const struct doc *group = by->first; group; group = group->next)
        for (const struct doc *metric = group->first; metric; metric = metric->next)
            values += doc_get(metric, "n")->number;
    near(values, number(world, "total/n"));
}

static void rows_add_up(void **state)
{
    static const char *const by[] = { NULL, "source", "model", "hardware" };
    struct world *world = *state;
    const double *times = predicted(world, 1);
    const char *files[] = { sheet(world, "a.csv", times), sheet(world, "b.csv", times) };
    for (size_t i = 0; i < COUNT(by); i++) {
        ask(world, files, 2, by[i]);
        near(number(world, "rows"), 2 * (ROWS + 2));
        near(number(world, "scored"), 2 * ROWS);
        all_add_up(world);
        ask(world, NULL, 0, by[i]);                     /* the sheet that is built in */
        assert_true(number(world, "rows") >= 60);
        all_add_up(world);
    }
}

/* The printed document reads back with the keys that are promised. */
static void json_has_its_shape(void **state)
{
    static const char *const figures[] = { "n", "median", "mean", "p90", "bias", "scatter", "coverage", "interval_score" };
    struct world *world = *state;
    struct buffer json = { .arena = &world->arena };
    struct doc *doc;
    const char *files[] = { sheet(world, "a.csv", NULL) };
    ask(world, files, 1, "model");
    doc_print(&json, world->answer.doc);
    if (!json_read(&world->arena, "answer", (struct text){ json.data, json.size }, &doc,
                   &world->error))
        fail_msg("%s", world->error.what);
    for (size_t i = 0; i < COUNT(figures); i++)
        assert_int_equal(doc_get(doc_get(doc, "total"), figures[i])->kind, DOC_NUMBER);
    assert_int_equal(doc_get(doc, "refused")->count, 2);
    assert_non_null(strstr(world->answer.text.data, arena_print(&world->arena, " (%s:9)\n", files[0])));
    assert_int_equal(doc_get(doc, "by")->count, 2);
    for (const struct doc *group = doc_get(doc, "by")->first; group; group = group->next) {
        assert_int_equal(group->count, 2);              /* tpot, ttft */
        for (const struct doc *metric = group->first; metric; metric = metric->next)
            for (size_t i = 0; i < COUNT(figures); i++)
                assert_int_equal(doc_get(metric, figures[i])->kind, DOC_NUMBER);
    }
}

/* A cell that no measurement has is an error with its place; zeros of a tool's file, which has a column of lines, are not. */
static void what_cannot_be_measured_is_refused(void **state)
{
    static const struct { const char *chips, *isl, *tpot, *tail, *what, *expected; } cells[] = {
        { "2.5", "1000", "12ms", "", "a.csv:2: chips: '2.5' is not a whole number", "1, 2, 4" },
        { "-1", "1000", "12ms", "", "a.csv:2: chips: '-1' is out of range", "1 to 10,000,000" },
        { "1", "1..2k", "12ms", "", "a.csv:2: isl: '1..2k' is a range", "one number" },
        { "1", "0", "12ms", "", "a.csv:2: isl: '0' is out of range", "1 token to" },
        { "1", "1000", "0", "", "a.csv:2: tpot: '0' cannot be measured", "more than 0" },
        { "1", "1000", "-5ms", "", "a.csv:2: tpot: '-5ms' cannot be measured", "more than 0" },
        { "1", "1000", "1e300ms", "", "a.csv:2: tpot: '1e300ms' cannot be measured", "31.7 years" },
        { "1", "1000", "12ms..15ms", "", "a.csv:2: tpot: '12ms..15ms' is a range", "one number" },
        { "1", "1000", "12ms", "1e300", "a.csv:2: requests: invalid number '1e300'", "a number from 0 to 1e9" },
        { "1", "0", "0", "", NULL, NULL } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(cells); i++) {
        struct measured_list list = { 0 };
        struct csv csv;
        const char *text = arena_print(&world->arena, "%smodel,machine,chips,concurrency,isl,osl,tpot,requests\n%sllama-3.1-8b,h100-sxm,"
                                       "%s,8,%s,200,%s,%s\n", cells[i].what ? "" : "line,", cells[i].what ? "" : "7,", cells[i].chips,
                                       cells[i].isl, cells[i].tpot, cells[i].tail);
        assert_true(csv_read(&world->arena, "a.csv", text_of(text), &csv, &world->error));
        const bool read = measured_read(&world->arena, &csv, &list, &world->error);
        if (read != !cells[i].what || (!read && (!strstr(world->error.what, cells[i].what) || !strstr(world->error.hint, cells[i].expected))))
            fail_msg("%s: %s (%s)", text, world->error.what, world->error.hint);
    }
}

/* The one row that is far off comes first. */
static void worst_comes_first(void **state)
{
    struct world *world = *state;
    double times[2 * ROWS];
    memcpy(times, predicted(world, 1), sizeof times);
    times[2 * 3] *= 5;                                  /* the fourth row's tpot */
    const char *files[] = { sheet(world, "b.csv", times) };
    world->command.verb = &verb_check;
    command_give(&world->arena, &world->command, "worst", "1");
    ask(world, files, 1, NULL);
    command_give(&world->arena, &world->command, "worst", NULL);
    const struct doc *worst = doc_get(world->answer.doc, "worst");
    assert_int_equal(worst->count, 1);
    near(doc_get(worst->first, "line")->number, 5);
    assert_string_equal(doc_get(worst->first, "metric")->string, "tpot");
    assert_non_null(strstr(world->answer.text.data, "b.csv:5"));
}

static void groups_are_in_order(void **state)
{
    static const char *const names[] = { "GB10", "m3-max", "M3", "h100", "m10", "H20" };
    static const char *const sorted[] = { "GB10", "H20", "h100", "M3", "m3-max", "m10" };
    struct world *world = *state;
    struct scores scores = { .arena = &world->arena };
    struct measured_value value = { .value = 1 };
    struct outcome outcome = { .measured = &value };
    for (size_t i = 0; i < COUNT(names); i++)
        score_add(&scores, names[i], 0, &outcome);
    scores_sort(&scores);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(scores.scores[i].group, sorted[i]);
}

/* The engine and its version choose the constants: a version's rows as those of its entry by name. */
static void versions_are_told_apart(void **state)
{
    static const struct { const char *engine, *version, *as; } rows[] = {
        { "vllm", "0.11.1", "vllm-0.13" }, { "vllm", "0.12.0", "vllm-0.13" }, { "vllm", "0.14.0", "vllm" },
        { "vllm", "0.6.3", "vllm-2024" }, { "vllm", "nightly", "vllm" }, { "trtllm", "0.12.0", "trtllm-2024" } };
    struct world *world = *state;
    const char *file = path(world, "a.csv");
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "model,machine,engine,engine_version,chips,concurrency,isl,osl,tpot\n");
    for (size_t i = 0; i < COUNT(rows); i++)                /* 1 % apart, so that none is another again */
        fprintf(out, "qwen3-32b,h100-sxm,%s,%s,2,16,1000,1000,%gms\nqwen3-32b,h100-sxm,%s,,2,16,1000,1000,%gms\n",
                rows[i].engine, rows[i].version, 20 + 0.4 * (double)i, rows[i].as, 20.2 + 0.4 * (double)i);
    fclose(out);
    ask(world, &file, 1, NULL);
    struct csv csv = lines(world);
    const int at = csv_column(&csv, "predicted");
    assert_int_equal(csv.rows, 2 * COUNT(rows));
    for (size_t i = 0; i < csv.rows; i += 2)
        assert_string_equal(csv_cell(&csv, i, at), csv_cell(&csv, i + 1, at));
    assert_string_not_equal(csv_cell(&csv, 2, at), csv_cell(&csv, 4, at));
    assert_string_not_equal(csv_cell(&csv, 2, at), csv_cell(&csv, 6, at));
}

/* In the common schema the engine decides whether a row is of a server, whose layout and times count, or of one's own
 * machine. Columns that nothing reads are named. */
static void engines_decide(void **state)
{
    struct world *world = *state;
    const char *file = path(world, "a.csv");
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "model,hardware,gguf_type,engine,engine_version,tensor_parallel,concurrency,isl,osl,ttft_mean_ms,tpot_mean_ms,"
                 "decode_speed_tok_s,prompt_throughput_tok_s,output_throughput_tok_s,site,empty\n"
                 "llama-3.3-70b,h100-sxm,fp8,vLLM,0.12.0,4,16,1000,1000,200,20,800,20000,750,lab,\n"
                 "llama-3.1-8b,h100-sxm,Q8_0,llama.cpp,6918,,,1000,100,200,14,150,9000,,,\n");
    fclose(out);
    ask(world, &file, 1, NULL);
    near(number(world, "scored"), 2);
    near(number(world, "metrics/tpot/n"), 1);
    near(number(world, "metrics/ttft/n"), 1);
    near(number(world, "metrics/throughput/n"), 1);
    near(number(world, "metrics/decode/n"), 1);
    near(number(world, "metrics/prefill/n"), 1);
    const struct doc *assumed = doc_get(world->answer.doc, "assumed")->first;
    while (assumed && strncmp(assumed->string, "nothing reads", strlen("nothing reads")))
        assumed = assumed->next;
    assert_non_null(assumed);
    assert_string_equal(strrchr(assumed->string, ':'), ": site");
    struct csv csv = lines(world);
    for (size_t i = 0; i < csv.rows; i++)                   /* four GPUs: one would hold no 70 GB and a cache */
        assert_true(atof(csv_cell(&csv, i, csv_column(&csv, "predicted"))) > 0);
}

/* One row of a sheet that is written here: the predictions of each line's first figure. */
static const char *predicted_of(struct world *world, const char *sheet, size_t row)
{
    const char *file = path(world, "a.csv");
    assert_true(file_write(&world->arena, "test", file, text_of(sheet), &world->error));
    ask(world, &file, 1, NULL);
    const struct csv csv = lines(world);
    assert_true(row < csv.rows);
    return csv_cell(&csv, row, csv_column(&csv, "predicted"));
}

/* A file's size counts more than the name of its type: that of another type gives that type's bytes, and twice the bytes
 * of a dense model that nothing but its weights slows down are read in nearly twice the time. */
static void stated_bytes_count(void **state)
{
    struct world *world = *state;
    const double as_named = atof(predicted_of(world, "model,hardware,engine,gguf_type,weights_bytes,decode_speed_tok_s,"
        "prompt_throughput_tok_s,prompt_tokens,output_tokens,concurrency\nqwen3-14b,rtx-4090,llama.cpp,Q4_K_M,,80,,1,16,1\n", 0));
    const double as_stated = atof(predicted_of(world, "model,hardware,engine,gguf_type,weights_bytes,decode_speed_tok_s,"
        "prompt_throughput_tok_s,prompt_tokens,output_tokens,concurrency\n"
        "qwen3-14b,rtx-4090,llama.cpp,Q4_K_M,17991574528,80,,1,16,1\n", 0));
    if (!(as_stated < 0.6 * as_named && as_stated > 0.48 * as_named))
        fail_msg("%g of a file of twice the size, %g of the type's", as_stated, as_named);
    /* Too much for the card, of which the type's name would take a quarter. */
    assert_string_equal(predicted_of(world, "model,hardware,engine,precision,weights_bytes,tensor_parallel,concurrency,"
        "prompt_tokens,output_tokens,tpot_mean_ms\nqwen3-14b,rtx-4090,vLLM,fp8,40e9,1,4,1000,100,30\n", 0), "");
}

/* Sheets of the common schema that lack the columns of one's own machine: any of the times or rates suffices. */
static void servers_sheets_are_read(void **state)
{
    static const struct { const char *column, *cell, *metric; } figures[] = {
        { "tpot_mean_ms", "20", "tpot" }, { "tpot_median_ms", "20", "tpot" }, { "ttft_mean_ms", "200", "ttft" },
        { "ttft_median_ms", "200", "ttft" }, { "e2e_mean_ms", "20000", "e2e" }, { "output_throughput_tok_s", "750", "throughput" } };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(figures); i++) {
        predicted_of(world, arena_print(&world->arena, "model,hardware,engine,precision,tensor_parallel,concurrency,prompt_tokens,"
            "output_tokens,itl_median_ms,total_throughput_tok_s,%s\nllama-3.3-70b,h100-sxm,vLLM,fp8,4,16,1000,1000,21,1500,%s\n"
            "llama-3.3-70b,h100-sxm,,fp8,4,32,1000,1000,21,1500,%s\n", figures[i].column, figures[i].cell, figures[i].cell), 0);
        near(number(world, "scored"), 2);
        near(number(world, arena_print(&world->arena, "metrics/%s/n", figures[i].metric)), 2);
    }
    /* llama.cpp, told by its times alone. */
    predicted_of(world, "model,hardware,engine,gguf_type,concurrency,prompt_tokens,output_tokens,ttft_mean_ms,tpot_mean_ms\n"
                        "llama-3.1-8b,rtx-4090,llama.cpp,Q8_0,1,1000,100,200,14\n", 0);
    near(number(world, "metrics/tpot/n"), 1);
    near(number(world, "metrics/ttft/n"), 1);
}

/* What a converted sheet has behind "unread" is not read, whatever it is called, and does not tell another sheet. */
static void unread_columns_are_kept_apart(void **state)
{
    struct world *world = *state;
    const char *head = "line,model,machine,engine,chips,concurrency,isl,osl,predicted_tpot";
    const char *row = "7,llama-3.3-70b,h100-sxm,vllm,4,16,1000,1000,20ms";
    const char *plain = predicted_of(world, arena_print(&world->arena, "%s\n%s\n", head, row), 0);
    assert_string_equal(predicted_of(world, arena_print(&world->arena, "%s,unread,site,concurrency,tpot_mean_ms\n%s,,lab,64,90\n",
                                                        head, row), 0), plain);
    near(number(world, "scored"), 1);
}

/* A time under a name that says no unit has one. */
static void times_have_units(void **state)
{
    static const struct { const char *column, *cell, *accepted; } bare[] = {
        { "tpot", "20", "20ms or 20s" }, { "ttft", "0.4", "0.4ms or 0.4s" }, { "e2e", "3e1", "3e1ms or 3e1s" } };
    static const struct { const char *column, *cell; } right[] = {
        { "tpot", "20ms" }, { "ttft", "0.4s" }, { "throughput", "750" }, { "predicted_tpot", "0.02" } };
    struct world *world = *state;
    const char *head = "model,machine,engine,chips,concurrency,isl,osl", *row = "llama-3.3-70b,h100-sxm,vllm,4,16,1000,1000";
    const char *file = path(world, "a.csv");
    for (size_t i = 0; i < COUNT(right); i++)
        assert_true(atof(predicted_of(world, arena_print(&world->arena, "%s,%s\n%s,%s\n", head, right[i].column, row, right[i].cell),
                                      0)) > 0);
    for (size_t i = 0; i < COUNT(bare); i++) {
        const char *text = arena_print(&world->arena, "%s,%s\n%s,%s\n", head, bare[i].column, row, bare[i].cell);
        struct csv csv;
        struct measured_list list = { 0 };
        assert_true(csv_read(&world->arena, file, text_of(text), &csv, &world->error));
        assert_false(measured_read(&world->arena, &csv, &list, &world->error));
        assert_non_null(strstr(world->error.what, arena_print(&world->arena, ":2: %s: '%s' has no unit", bare[i].column, bare[i].cell)));
        assert_string_equal(world->error.hint, bare[i].accepted);
    }
}

/* Of the sheet as tools/convert writes it `check` scores and refuses as many rows, with the same median. */
static void converts(struct world *world, const char *file)
{
    const double scored = number(world, "total/n");
    const double median = scored > 0 ? number(world, "total/median") : 0;
    const size_t refused = doc_get(world->answer.doc, "refused")->count;
    const char *out = path(world, "converted.csv");
    if (system(arena_print(&world->arena, "tools/convert '%s' > '%s' 2>/dev/null", file, out)))
        fail_msg("tools/convert %s", file);
    ask(world, &out, 1, NULL);
    const size_t again = doc_get(world->answer.doc, "refused")->count;
    if (number(world, "total/n") != scored || again != refused || (scored > 0 && number(world, "total/median") != median))
        fail_msg("%s: %g scored and %zu refused; converted: %g and %zu", file, scored, refused, number(world, "total/n"), again);
}

/* Every sheet of the shared measurements: at least so many figures are scored and at most so many rows refused (fewer where
 * a further model is known), and so many for the sheet's own commonest reason. Converted, it says the same. */
static void shared_sheets_are_read(void **state)
{
    static const struct { const char *file; double scored, refused; const char *reason; size_t alike; } sheets[] = {
        { "kernels.csv", 2256, 123, "no row predicts this operation in this precision", 110 },
        { "serving.csv", 456, 47, "MLPerf: layout and lengths not stated", 43 },
        { "serving_points.csv", 3160, 1332, "disaggregated, its pools not stated", 731 },
        { "serving_points_2.csv", 968, 414, "disaggregated, its pools not stated", 338 },
        { "sources/acceptance_inferencex.csv", 0, 112, "accepted tokens alone, no speed", 112 },
        { "sources/argonne.csv", 1486, 300, "the same measurement again", 41 },
        { "sources/argonne_figures.csv", 272, 127, "a draft model whose acceptance is not stated", 9 },
        { "sources/dgx_spark.csv", 140, 2, "suspect to its source", 2 },
        { "sources/localscore.csv", 1563, 47, "suspect to its source: the model name is a folder", 8 },
        { "sources/mlenergy.csv", 282, 70, "a p90 of the time between tokens over 1.25 times its median", 23 },
        { "sources/mlenergy_2.csv", 258, 21, "a p90 of the time between tokens over 1.25 times its median", 13 },
        { "sources/mlenergy_2_output_lengths.csv", 0, 599, "lengths alone, no speed", 599 },
        { "sources/mlenergy_output_lengths.csv", 0, 555, "lengths alone, no speed", 555 },
        { "sources/strix_halo_kyuz0.csv", 443, 81, "the same measurement again", 36 },
        { "training.csv", 148, 69, "another figure of a run that is scored", 28 },
        { "vllm_load_h100.csv", 60, 20, "the stages of one run together", 16 },
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(sheets); i++) {
        const char *file = shared_file(&world->arena, arena_print(&world->arena, "measurements/%s", sheets[i].file));
        if (!file)
            continue;
        ask(world, &file, 1, NULL);
        const struct doc *refused = doc_get(world->answer.doc, "refused");
        size_t alike = 0;
        for (const struct doc *one = refused->first; one; one = one->next)
            alike += starts_with(doc_get(one, "reason")->string, sheets[i].reason);
        if (number(world, "total/n") < sheets[i].scored || (double)refused->count > sheets[i].refused || alike != sheets[i].alike)
            fail_msg("%s: %g figures scored, %zu rows refused, %zu: %s", sheets[i].file, number(world, "total/n"), refused->count,
                     alike, sheets[i].reason);
        converts(world, file);
    }
}

static void picture_is_drawn(void **state)
{
    struct world *world = *state;
    const char *files[] = { sheet(world, "a.csv", NULL) };
    struct buffer svg = { .arena = &world->arena };
    world->command.verb = &verb_check;
    command_give(&world->arena, &world->command, "report", "check.html");
    ask(world, files, 1, NULL);
    command_give(&world->arena, &world->command, "report", NULL);
    picture_svg(&svg, world->answer.picture, 700, 0, PICTURE_LIGHT);
    assert_non_null(strstr(svg.data, ">tpot<"));
    assert_non_null(strstr(svg.data, ">predicted (ms)<"));
    assert_non_null(strstr(svg.data, ">ttft<"));
    assert_non_null(strstr(svg.data, ">measured (s)<"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scores_are_known, world_open, world_close),
        cmocka_unit_test_setup_teardown(coverage_is_known, world_open, world_close),
        cmocka_unit_test_setup_teardown(clusters_are_scored, world_open, world_close),
        cmocka_unit_test_setup_teardown(what_cannot_be_measured_is_refused, world_open, world_close),
        cmocka_unit_test_setup_teardown(the_impossible_is_refused, world_open, world_close),
        cmocka_unit_test_setup_teardown(rows_add_up, world_open, world_close),
        cmocka_unit_test_setup_teardown(json_has_its_shape, world_open, world_close),
        cmocka_unit_test_setup_teardown(worst_comes_first, world_open, world_close),
        cmocka_unit_test_setup_teardown(groups_are_in_order, world_open, world_close),
        cmocka_unit_test_setup_teardown(versions_are_told_apart, world_open, world_close),
        cmocka_unit_test_setup_teardown(engines_decide, world_open, world_close),
        cmocka_unit_test_setup_teardown(stated_bytes_count, world_open, world_close),
        cmocka_unit_test_setup_teardown(servers_sheets_are_read, world_open, world_close),
        cmocka_unit_test_setup_teardown(unread_columns_are_kept_apart, world_open, world_close),
        cmocka_unit_test_setup_teardown(times_have_units, world_open, world_close),
        cmocka_unit_test_setup_teardown(shared_sheets_are_read, world_open, world_close),
        cmocka_unit_test_setup_teardown(picture_is_drawn, world_open, world_close),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
