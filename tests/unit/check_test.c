/* `check`: sheets made here from the predictions themselves, so that their scores are known.
 * Runs in the root of the tree; pictures and sheets go to a folder of their own. */
#include "test.h"
#include "commands.h"

#include "report/picture.h"
#include "ask/ask.h"
#include "lab/check/check.h"

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
    static const char *const figures[] = { "n", "median", "mean", "p90", "bias", "coverage" };
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
    assert_int_equal(doc_get(doc, "by")->count, 2);
    for (const struct doc *group = doc_get(doc, "by")->first; group; group = group->next) {
        assert_int_equal(group->count, 2);              /* tpot, ttft */
        for (const struct doc *metric = group->first; metric; metric = metric->next)
            for (size_t i = 0; i < COUNT(figures); i++)
                assert_int_equal(doc_get(metric, figures[i])->kind, DOC_NUMBER);
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
        cmocka_unit_test_setup_teardown(the_impossible_is_refused, world_open, world_close),
        cmocka_unit_test_setup_teardown(rows_add_up, world_open, world_close),
        cmocka_unit_test_setup_teardown(json_has_its_shape, world_open, world_close),
        cmocka_unit_test_setup_teardown(worst_comes_first, world_open, world_close),
        cmocka_unit_test_setup_teardown(groups_are_in_order, world_open, world_close),
        cmocka_unit_test_setup_teardown(picture_is_drawn, world_open, world_close),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
