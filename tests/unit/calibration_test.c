/* `calibrate`, `check --calibrate` and --calibration: servers that are the prediction with other factors are
 * recovered, what is chosen next sees no value that was not given, and every verb gives the numbers that the
 * calibration found. Runs in the root of the tree. */
#include "test.h"
#include "commands.h"
#include "lines.h"
#include "scenario/values.h"

#include "ask/ask.h"
#include "rows/random.h"
#include "score/calibration.h"

#include <math.h>
#include <unistd.h>

enum { LOADS = 12, FACTORS = POSTERIOR_FACTORS };

static const double loads[LOADS][3] = { { 1, 1000, 1000 }, { 4, 1000, 1000 }, { 16, 1000, 1000 }, { 64, 1000, 1000 },
    { 128, 1000, 1000 }, { 4, 8000, 1000 }, { 16, 8000, 1000 }, { 32, 8000, 1000 }, { 8, 1000, 8000 },
    { 64, 1000, 8000 }, { 32, 2000, 200 }, { 100, 500, 500 } };

struct world {
    struct arena arena;
    struct command command;
    struct error error;
    char folder[64];
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    world->command.verb = &verb_check;
    strcpy(world->folder, "/tmp/calibration_test.XXXXXX");
    return !mkdtemp(world->folder);
}

static int world_close(void **state)
{
    struct world *world = *state;
    unlink(arena_print(&world->arena, "%s/runs.csv", world->folder));
    unlink(arena_print(&world->arena, "%s/server.csv", world->folder));
    rmdir(world->folder);
    arena_free(&world->arena);
    free(world);
    return 0;
}

/* ---- servers that are known ------------------------------------------------------------------- */

/* What ran, beside what is stated of it: qwen3-32b on two GPUs. */
struct truth {
    const char *model;
    double chips;
    const char *row;                            /* set to `value`; NULL: none */
    double value, times;                        /* the time between tokens is told as so many times its value */
};
static const struct truth as_stated = { "qwen3-32b", 2, NULL, 0, 1 };

/* The times of the prediction with these factors; `noise` in ln. */
static void write_times(struct world *world, struct buffer *sheet, const struct truth *truth, const double *x,
                        struct random *random, double noise)
{
    const struct subject subject = { .model = truth->model, .machine = "h100-sxm", .engine = "vllm",
                                     .precision = "fp8" };
    static const char *const rows[] = { "predicted_tpot", "predicted_ttft" };
    buffer_print(sheet, "model,machine,engine,precision,chips,concurrency,prompt_tokens,output_tokens,"
                        "predicted_tpot,predicted_ttft\n");
    for (int i = 0; i < LOADS; i++) {
        const struct { const char *row; double value; } stated[] = {
            { "chips", truth->chips }, { "attention_dp", 1 }, { "expert_parallel", 1 }, { "concurrency", loads[i][0] },
            { "prompt_tokens", loads[i][1] }, { "output_tokens", loads[i][2] }, { "load_generator", 1 } };
        struct scenario *scenario = arena_alloc(&world->arena, sizeof *scenario);
        struct values values;
        assert_true(scenario_read(scenario, &world->arena, &world->command, subject, &world->error));
        for (size_t k = 0; k < COUNT(stated); k++)
            facts_set(&scenario->facts, stated[k].row, stated[k].value, ORIGIN_GIVEN, "test");
        for (int k = 0; k < FACTORS; k++)
            facts_set(&scenario->facts, calibrated_factors[k], exp(x[k]), ORIGIN_GIVEN, "test");
        if (truth->row)
            facts_set(&scenario->facts, truth->row, truth->value, ORIGIN_GIVEN, "test");
        assert_true(values_of(scenario, rows, 2, &values, &world->error));
        buffer_print(sheet, "qwen3-32b,h100-sxm,vllm,fp8,2,%g,%g,%g,%.15g,%.15g\n", loads[i][0], loads[i][1],
                     loads[i][2], truth->times * values.at[0] * exp(noise * random_normal(random)),
                     values.at[1] * exp(noise * random_normal(random)));
    }
}

static void write_sheet(struct world *world, struct buffer *sheet, const double *x, struct random *random, double noise)
{
    write_times(world, sheet, &as_stated, x, random, noise);
}

static void read_sheet(struct world *world, const struct buffer *sheet, struct measured_list *list)
{
    struct csv *csv = arena_alloc(&world->arena, sizeof *csv);
    if (!csv_read(&world->arena, "runs.csv", (struct text){ sheet->data, sheet->size }, csv, &world->error) ||
        !measured_read(&world->arena, csv, list, &world->error))
        fail_msg("%s", world->error.what);
    assert_int_equal(list->count, LOADS);
}

static void open_list(struct world *world, const struct measured_list *list, struct calibration *calibration)
{
    calibration_open(calibration, &world->arena, &world->command);
    for (size_t i = 0; i < list->count; i++)
        assert_null(calibration_add(calibration, &list->points[i]));
    calibration_fit(calibration);
}

static size_t give_next(struct calibration *calibration)
{
    double gain;
    const size_t next = calibration_next(calibration, &gain);
    assert_true(next < calibration->count);
    assert_null(calibration_give(calibration, next));
    calibration_fit(calibration);
    return next;
}

static void draw_factors(struct random *random, double *x)
{
    static const double spread[FACTORS] = { 0.3, 0.5, 0.2, 0.4, 0.5, 0.3 };
    for (int k = 0; k < FACTORS; k++)
        x[k] = spread[k] * random_normal(random);
}

/* Three points of a server bring the loads that it was not shown much nearer. */
static void recovery(void **state)
{
    struct world *world = *state;
    struct random random;
    double before = 0, after = 0, inside = 0, count = 0;
    random_open(&random, 3, 1);
    for (int round = 0; round < rounds(12); round++) {
        struct buffer sheet = { .arena = &world->arena };
        struct measured_list list = { 0 };
        struct calibration calibration;
        double x[FACTORS];
        draw_factors(&random, x);
        write_sheet(world, &sheet, x, &random, 0.02);
        read_sheet(world, &sheet, &list);
        open_list(world, &list, &calibration);
        for (int n = 0; n < 3; n++)
            give_next(&calibration);
        for (size_t p = 0; p < calibration.count; p++) {
            const struct calibration_point *point = &calibration.points[p];
            struct prediction prediction;
            if (point->given)
                continue;
            calibration_predict(&calibration, point, 0, &prediction);
            before += fabs(log(point->before[0] / prediction.measured));
            after += fabs(log(prediction.value / prediction.measured));
            inside += prediction.measured >= prediction.low && prediction.measured <= prediction.high;
            count++;
        }
    }
    print_message("mean error of TPOT %.1f %% without, %.1f %% with three points; %.0f %% inside\n",
                  100 * before / count, 100 * after / count, 100 * inside / count);
    assert_true(after < 0.35 * before);
    assert_true(after / count < 0.05);
    assert_true(inside / count > 0.75);
}

/* Values of points that were not given change nothing of what is chosen. */
static void blind_choice(void **state)
{
    struct world *world = *state;
    struct random random;
    random_open(&random, 5, 1);
    for (int round = 0; round < rounds(4); round++) {
        struct buffer sheet = { .arena = &world->arena };
        struct measured_list list = { 0 }, other = { 0 };
        struct calibration calibration, scrambled;
        double x[FACTORS], gain, again;
        draw_factors(&random, x);
        write_sheet(world, &sheet, x, &random, 0.02);
        read_sheet(world, &sheet, &list);
        read_sheet(world, &sheet, &other);
        open_list(world, &list, &calibration);
        for (size_t p = 0; p < other.count; p++)
            for (int i = 0; i < other.points[p].value_count; i++)
                other.points[p].values[i].value *= exp(random_normal(&random));
        open_list(world, &other, &scrambled);
        for (int n = 0; n < 4; n++) {
            const size_t next = calibration_next(&calibration, &gain);
            assert_int_equal(calibration_next(&scrambled, &again), next);
            assert_true(gain == again);
            assert_null(calibration_give(&calibration, next));
            calibration_fit(&calibration);
            memcpy(other.points[next].values, list.points[next].values, sizeof list.points[next].values);
            memcpy(other.points[next].inputs, list.points[next].inputs, sizeof list.points[next].inputs);
            assert_null(calibration_give(&scrambled, next));
            calibration_fit(&scrambled);
        }
        assert_memory_equal(calibration.x, scrambled.x, sizeof calibration.x);
    }
}

/* The order in which points stand in the file does not matter, and nothing given changes nothing. */
static void any_order(void **state)
{
    struct world *world = *state;
    struct random random;
    struct buffer sheet = { .arena = &world->arena };
    struct measured_list list = { 0 }, turned = { 0 };
    struct calibration calibration, other;
    double x[FACTORS];
    random_open(&random, 9, 1);
    draw_factors(&random, x);
    write_sheet(world, &sheet, x, &random, 0.02);
    read_sheet(world, &sheet, &list);
    read_sheet(world, &sheet, &turned);
    for (size_t i = 0; i < turned.count; i++)
        turned.points[i] = list.points[list.count - 1 - i];
    open_list(world, &list, &calibration);
    for (int k = 0; k < FACTORS; k++)
        assert_true(calibration.x[k] == 0);
    open_list(world, &turned, &other);
    for (size_t i = 0; i < list.count; i++) {
        assert_null(calibration_give(&calibration, i));
        assert_null(calibration_give(&other, i));
    }
    calibration_fit(&calibration);
    calibration_fit(&other);
    for (int k = 0; k < FACTORS; k++)
        assert_float_equal(calibration.x[k], other.x[k], 1e-6);
}

/* A value that is twice too long is set aside, and the others are fitted as if it were not there. */
static void outlier(void **state)
{
    struct world *world = *state;
    struct random random;
    struct buffer sheet = { .arena = &world->arena };
    struct measured_list list = { 0 };
    struct calibration calibration;
    const double x[FACTORS] = { 0 };
    random_open(&random, 2, 1);
    write_sheet(world, &sheet, x, &random, 0.01);
    read_sheet(world, &sheet, &list);
    list.points[3].values[0].value *= 2;
    open_list(world, &list, &calibration);
    for (size_t i = 0; i < 6; i++)
        assert_null(calibration_give(&calibration, i));
    calibration_fit(&calibration);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(calibration.points[i].aside[0], i == 3);
    assert_true(fabs(exp(calibration.points[3].values[0].expected) / list.points[3].values[0].value - 0.5) < 0.05);
    calibration.keep = true;
    calibration_fit(&calibration);
    assert_false(calibration.points[3].aside[0]);
}

/* ---- the file, and what verbs make of it ----------------------------------------------------------- */

/* Whatever was measured, no value that was given is predicted worse than without the calibration: random sets of values,
 * near the prediction and far from it, some of them twice at one load. */
static void never_worse(void **state)
{
    const int sets = rounds(60);
    struct world *world = *state;
    struct random random;
    const double none[FACTORS] = { 0 };
    struct buffer sheet = { .arena = &world->arena };
    struct measured_list list = { 0 };
    size_t compared = 0, held = 0, aside = 0;
    random_open(&random, 11, 1);
    write_sheet(world, &sheet, none, &random, 0);
    read_sheet(world, &sheet, &list);
    for (int set = 0; set < sets; set++) {
        struct measured points[2 * LOADS];
        struct calibration calibration;
        const double spread = 0.02 * pow(50, random_uniform(&random)), shift = spread * random_normal(&random);
        const size_t count = 1 + random_below(&random, 2 * LOADS);
        calibration_open(&calibration, &world->arena, &world->command);
        calibration.hold = true, calibration.keep = set % 3 == 2;
        for (size_t i = 0; i < count; i++) {
            points[i] = list.points[random_below(&random, LOADS)];
            for (int k = 0; k < points[i].value_count; k++)
                points[i].values[k].value *= exp(shift + spread * random_normal(&random));
            assert_null(calibration_add(&calibration, &points[i]));
            calibration.points[i].given = true;     /* physics is asked elsewhere */
        }
        calibration_fit(&calibration);
        for (size_t p = 0; p < count; p++)
            for (int k = 0; k < points[p].value_count; k++) {
                const double seen = points[p].values[k].value, before = log(calibration.points[p].before[k] / seen);
                const double after = calibration.points[p].values[k].expected - log(seen);
                if (fabs(after) > fabs(before) + 1e-8)
                    fail_msg("set %d, point %zu of %zu: %+.3g before, %+.3g after", set, p, count, before, after);
                held += calibration.points[p].held[k] > 0;
                aside += calibration.points[p].aside[k];
                compared++;
            }
    }
    printf("%zu values in %d sets, %zu held, %zu set aside, none worse\n", compared, sets, held, aside);
    assert_true(held > 0 && aside > 0 && held < compared / 2);
}

static const struct doc *ask(struct world *world, const char *line)
{
    enum { MOST = 64 };
    char *words[MOST];
    int count = 0;
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(&world->arena, DOC_OBJECT), .text.arena = &world->arena,
                             .csv.arena = &world->arena };
    words[count++] = "chalkline";
    for (char *word = strtok(arena_copy(&world->arena, line, strlen(line)), " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    if (!command_read(&world->arena, count, words, &command, &world->error) ||
        !command_answer(&world->arena, &command, &answer, &world->error))
        fail_msg("%s: %s (%s)", line, world->error.what, world->error.hint);
    return answer.doc;
}

static double value_of_figure(const struct doc *doc, const char *row, const char *member)
{
    return doc_get(doc_get(doc, row), member)->number;
}

static const char *server_file(struct world *world)
{
    const char *path = arena_print(&world->arena, "%s/server.csv", world->folder);
    ask(world, arena_print(&world->arena, "calibrate tests/fixtures/calibration/runs.csv -o %s --next", path));
    return path;
}

static bool noted(const struct doc *doc, const char *words)
{
    for (const struct doc *note = doc_get(doc, "assumed")->first; note; note = note->next)
        if (strstr(note->string, words))
            return true;
    return false;
}

/* `eval` with the file says what `calibrate` said, of every point. */
static void verbs_agree(void **state)
{
    struct world *world = *state;
    const char *path = server_file(world);
    const struct doc *answer = ask(world, "calibrate tests/fixtures/calibration/runs.csv");
    size_t compared = 0;
    struct text text;
    struct csv csv;
    assert_true(file_read(&world->arena, "tests/fixtures/calibration/runs.csv", 1 << 20, &text, &world->error));
    assert_true(csv_read(&world->arena, "runs", text, &csv, &world->error));
    for (const struct doc *point = doc_get(answer, "points")->first; point; point = point->next) {
        const size_t row = compared++ / 2;
        const char *metric = doc_get(point, "metric")->string, *cell[3];
        for (int i = 0; i < 3; i++)
            cell[i] = csv_cell(&csv, row, 6 + i);
        const char *line = arena_print(&world->arena, "predicted_%s --model qwen3-32b --on h100-sxm --engine vllm "
            "--precision fp8 --concurrency %s --isl %s --osl %s --calibration %s", metric, cell[0], cell[1], cell[2], path);
        const struct doc *evaluated = ask(world, arena_print(&world->arena, "eval %s", line));
        const char *name = arena_print(&world->arena, "predicted_%s", metric);
        const double value = value_of_figure(evaluated, name, "value");
        assert_float_equal(value / doc_get(point, "after")->number, 1, 1e-9);
        assert_true(value == doc_get(ask(world, arena_print(&world->arena, "why %s", line)), "value")->number);
        assert_true(noted(evaluated, "the same server"));
    }
    assert_int_equal(compared, 16);
}

/* Another layout and another model: factors nearer to 1, wider intervals, and the answer says which. */
static void carried(void **state)
{
    struct world *world = *state;
    static const struct { const char *words, *note; } servers[] = {
        { "--model qwen3-32b --precision fp8 --gpus 2", "the same server" },
        { "--model qwen3-32b --precision fp8 --gpus 4", "another layout" },
        { "--model llama-3.1-8b --precision fp8 --gpus 2", "another model" } };
    const char *path = server_file(world);
    double factor[3], wide[3];
    for (int i = 0; i < 3; i++) {
        const struct doc *doc = ask(world, arena_print(&world->arena, "eval prefill_factor predicted_tpot %s --tp %d "
            "--on h100-sxm --engine vllm --concurrency 16 --isl 1000 --osl 1000 --calibration %s", servers[i].words,
            i == 1 ? 4 : 2, path));
        factor[i] = log(value_of_figure(doc, "prefill_factor", "value"));
        wide[i] = log(value_of_figure(doc, "predicted_tpot", "high") / value_of_figure(doc, "predicted_tpot", "low"));
        assert_string_equal(doc_get(doc_get(doc, "prefill_factor"), "origin")->string, "fitted");
        assert_string_equal(doc_get(doc_get(doc, "prefill_factor"), "source")->string, path);
        assert_true(noted(doc, servers[i].note));
    }
    assert_float_equal(factor[1], calibrated_number("carry_layout", "prefill_factor") * factor[0], 1e-12);
    assert_float_equal(factor[2], calibrated_number("carry_model", "prefill_factor") * factor[0], 1e-12);
    assert_true(wide[0] < 0.5 * wide[1]);
    assert_true(wide[1] < wide[2]);
}

/* What is written reads back to the same numbers. */
static void file(void **state)
{
    struct world *world = *state;
    const char *path = server_file(world);
    struct calibrated calibrated;
    struct text text;
    assert_true(file_read(&world->arena, path, 1 << 24, &text, &world->error) &&
                calibrated_parse(&world->arena, path, text, &calibrated, &world->error));
    const struct text marked = text_of(arena_print(&world->arena, "\xef\xbb\xbf%.*s", (int)text.size, text.data));
    assert_true(calibrated_told(text) && calibrated_told(marked));     /* an editor put its mark before the file */
    assert_int_equal(calibrated.points, 8);
    assert_int_equal(calibrated.count, 16);
    assert_string_equal(calibrated.server.model, "qwen3-32b");
    assert_float_equal(calibrated.server.size[0], 2, 0);
    const struct doc *answer = ask(world, "calibrate tests/fixtures/calibration/runs.csv");
    for (int k = 0; k < FACTORS; k++) {
        const struct doc *row = doc_get(doc_get(answer, "rows"), calibrated_factors[k]);
        assert_true(exp(calibrated.x[k]) / value_of_figure(row, "posterior", "value") - 1 < 1e-12);
        const double sd = log(value_of_figure(row, "posterior", "high") / value_of_figure(row, "posterior", "low")) /
                          2 / student_quantile(0.9, 0);
        assert_float_equal(sqrt(calibrated.covariance[k][k]), sd, 1e-9);
    }
}

/* ---- times that are not those of the stated server ---------------------------------------------------- */

static bool says(const struct doc *list, const char *member, const char *words)
{
    for (const struct doc *one = list->first; one; one = one->next)
        if (strstr(doc_get(one, member)->string, words))
            return true;
    return false;
}

static const struct doc *calibrate_times(struct world *world, const struct truth *truth)
{
    static const double plain[FACTORS] = { 0 };
    struct buffer sheet = { .arena = &world->arena };
    struct random random;
    const char *path = arena_print(&world->arena, "%s/runs.csv", world->folder);
    random_open(&random, 4, 1);
    write_times(world, &sheet, truth, plain, &random, 0.02);
    FILE *file = fopen(path, "w");
    assert_true(file && fwrite(sheet.data, 1, sheet.size, file) == sheet.size && !fclose(file));
    return ask(world, arena_print(&world->arena, "calibrate %s", path));
}

/* Of each wrong statement the answer says what the times look like, that they are another server's, or which of
 * them no such server shows; of a true one none of these. */
static void wrong_statements(void **state)
{
    struct world *world = *state;
    static const struct { struct truth truth; const char *looks_like, *refused; bool another; } cases[] = {
        { { "qwen3-32b", 2, NULL, 0, 1 }, NULL, NULL, false },
        { { "qwen3-32b", 4, NULL, 0, 1 }, "twice as many", "a token faster than memory and peak allow", false },
        { { "qwen3-32b", 2, "prefix_hit_share", 0.9, 1 }, "found in the cache", NULL, false },
        { { "qwen3-32b", 2, "draft_tokens", 3, 1 }, "drafts", NULL, false },
        { { "llama-3.1-70b", 2, NULL, 0, 1 }, NULL, NULL, false },       /* twice as slow: servers differ so much */
        { { "qwen3-32b", 2, NULL, 0, 60 }, NULL, NULL, true } };        /* no such server */
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct doc *answer = calibrate_times(world, &cases[i].truth);
        const struct doc *looks_like = doc_get(answer, "looks_like");
        if (cases[i].looks_like)
            assert_true(says(looks_like, "what", cases[i].looks_like));
        if (cases[i].refused)
            assert_true(says(doc_get(answer, "outliers"), "reason", cases[i].refused));
        if (!i)
            assert_null(looks_like->first);
        if (doc_get(answer, "another_server")->boolean != cases[i].another)
            fail_msg("case %zu: another server %d", i, doc_get(answer, "another_server")->boolean);
    }
}

/* Lines of a sheet without names, of a card's server; the answer of `calibrate` with its options, NULL: an error. */
static const struct doc *calibrate_card(struct world *world, const char *header, const char *line)
{
    static struct answer answer;
    const char *path = arena_print(&world->arena, "%s/runs.csv", world->folder);
    FILE *file = fopen(path, "w");
    assert_true(file && fprintf(file, "%s\n%s\n", header, line) > 0 && !fclose(file));
    const bool asked = line_asked(&world->arena, arena_print(&world->arena, "calibrate %s --model qwen3-14b --on rtx-3060 "
                                  "--precision Q4_K_M", path), &answer, &world->error);
    return asked ? answer.doc : NULL;
}

/* Options complete a sheet, whose columns may be called as they are, and the engine is llama.cpp, as in other verbs.
 * Milliseconds that are written without their unit are no seconds. */
static void a_card(void **state)
{
    struct world *world = *state;
    static const char header[] = "concurrency,isl,osl,tpot,ttft";
    const struct doc *answer = calibrate_card(world, header, "1,4096,256,45ms,7200ms");
    assert_non_null(answer);
    assert_string_equal(doc_get(doc_get(answer, "server"), "engine")->string, "llamacpp");
    assert_true(strstr(doc_get(answer, "assumed")->first->string, "engine llama.cpp") != NULL);
    /* `can` takes it, with its interval: that of TPOT turned over. */
    const char *words = arena_print(&world->arena, "qwen3-14b --on rtx-3060 --precision Q4_K_M --isl 4096 --osl 256 "
                                    "--calibration %s/server.csv", world->folder);
    ask(world, arena_print(&world->arena, "calibrate %s/runs.csv --model qwen3-14b --on rtx-3060 --precision Q4_K_M "
                           "-o %s/server.csv", world->folder, world->folder));
    const struct doc *can = doc_get(ask(world, arena_print(&world->arena, "can %s", words)), "decode_speed");
    const struct doc *tpot = doc_get(ask(world, arena_print(&world->arena, "eval predicted_tpot --concurrency 1 --gpus 1 "
                                                            "--model %s", words)), "predicted_tpot");
    assert_true(doc_get(can, "value")->number == 1 / doc_get(tpot, "value")->number);
    assert_float_equal(doc_get(can, "low")->number * doc_get(tpot, "high")->number, 1, 1e-12);
    assert_float_equal(doc_get(can, "high")->number * doc_get(tpot, "low")->number, 1, 1e-12);
    assert_null(calibrate_card(world, header, "1,4096,256,45,7200"));
    assert_non_null(strstr(world->error.what, "has no unit"));
}

/* The mean of gaps between chunks of several tokens, told as TPOT: work and prefill are found to be slower by
 * so much that the answer's interval does not hold 1. */
static void gaps_of_chunks(void **state)
{
    struct world *world = *state;
    static const struct truth truth = { "qwen3-32b", 2, NULL, 0, 2.5 };
    const struct doc *rows = doc_get(calibrate_times(world, &truth), "rows");
    assert_true(value_of_figure(doc_get(rows, "work_factor"), "posterior", "low") > 1.2);
}

/* Nothing given: the scores of `check` itself, bit by bit. */
static void nothing_given(void **state)
{
    struct world *world = *state;
    const struct doc *plain = ask(world, "check --measured tests/fixtures/calibration/runs.csv");
    const struct doc *none = ask(world, "check --measured tests/fixtures/calibration/runs.csv --calibrate 0");
    const struct doc *three = ask(world, "check --measured tests/fixtures/calibration/runs.csv --calibrate 3");
    static const char *const figures[] = { "n", "median", "mean", "p90", "bias", "coverage" };
    for (size_t i = 0; i < COUNT(figures); i++)
        assert_true(doc_get(doc_get(plain, "total"), figures[i])->number ==
                    doc_get(doc_get(none, "total"), figures[i])->number);
    assert_true(doc_get(doc_get(three, "total"), "n")->number == 10);
    assert_true(doc_get(doc_get(three, "calibration"), "given")->number == 3);
    assert_true(doc_get(doc_get(three, "total"), "mean")->number < 0.6 * doc_get(doc_get(plain, "total"), "mean")->number);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(recovery), cmocka_unit_test(blind_choice),
                                        cmocka_unit_test(any_order), cmocka_unit_test(outlier), cmocka_unit_test(never_worse),
                                        cmocka_unit_test(verbs_agree), cmocka_unit_test(carried),
                                        cmocka_unit_test(file), cmocka_unit_test(nothing_given),
                                        cmocka_unit_test(wrong_statements), cmocka_unit_test(gaps_of_chunks), cmocka_unit_test(a_card) };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
