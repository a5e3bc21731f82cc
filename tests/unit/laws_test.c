/* Laws that hold whatever is asked, on drawn models, machines and loads of the catalog:
 *
 * 1. A bound is not above its prediction: TPOT, TTFT and a static batch, of any layout, engine, concurrency and lengths.
 * 2. More is never slower: of bandwidth, of links and of peak FLOP/s.
 * 3. What arrives is answered or counted as not, and tokens are those of the requests.
 * 4. `solve` finds what `eval` was asked with.
 * 5. Text, CSV and JSON say the same figure, and the words of an answer give its bits again.
 * 6. Input and output share the rent, neither for nothing; a server has a capacity.
 *
 * 200 cases of each; CHALKLINE_LONG=50 draws 10,000. */
#include "test.h"

#include "catalog/catalog.h"
#include "command/command.h"
#include "ask/ask.h"
#include "library/chalkline.h"
#include "rows/rows.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 200, PER_PAIR = 50, SHOWN = 10 };

static size_t cases(void)
{
    const char *times = getenv("CHALKLINE_LONG");
    return CASES * (times ? strtoul(times, NULL, 10) : 1) / (sample_only() ? 4 : 1);
}

struct laws {
    struct arena arena;             /* of one question */
    struct chalkline_library *library;
    uint64_t state;
    size_t broken;
};

static double draw_log(uint64_t *state, double low, double high)
{
    return exp(draw_in(state, log(low), log(high)));
}

static const char *draw_name(uint64_t *state, enum catalog_kind kind)
{
    const struct catalog *catalog = catalog_built_in();
    const size_t count = catalog_count(catalog, kind);
    return catalog_entry(catalog, kind, (size_t)(draw(state) * (double)count))->name;
}

static void broken(struct laws *laws, const char *law, const char *body, double one, double other)
{
    if (laws->broken++ < SHOWN)
        print_message("%s: %s: %.17g, %.17g\n", law, body, one, other);
}

static int open_laws(void **state)
{
    struct chalkline_error error;
    struct laws *laws = *state = calloc(1, sizeof *laws);
    laws->library = chalkline_open(&error);
    assert_non_null(laws->library);
    return 0;
}

static int close_laws(void **state)
{
    struct laws *laws = *state;
    chalkline_close(laws->library);
    arena_free(&laws->arena);
    free(laws);
    return 0;
}

/* A server of any model that the machine holds, as members of a body. */
static const char *draw_server(struct laws *laws)
{
    static const int chips[] = { 1, 2, 4, 8, 8 };
    return arena_print(&laws->arena, "\"model\": \"%s\", \"on\": \"%s\", \"gpus\": %d", draw_name(&laws->state, CATALOG_MODEL),
                       draw_name(&laws->state, CATALOG_MACHINE), chips[(size_t)(5 * draw(&laws->state))]);
}

/* The same with an engine and a layout, which not every model and machine have. */
static const char *draw_layout(struct laws *laws)
{
    static const char *const engines[] = { "vllm", "sglang", "trtllm", "llamacpp" };
    static const int stages[] = { 1, 2, 4 };
    const char *server = draw_server(laws);
    if (draw(&laws->state) < 0.5)
        server = arena_print(&laws->arena, "%s, \"pp\": %d", server, stages[(size_t)(3 * draw(&laws->state))]);
    return draw(&laws->state) < 0.7
        ? arena_print(&laws->arena, "%s, \"engine\": \"%s\"", server, engines[(size_t)(4 * draw(&laws->state))]) : server;
}

static struct chalkline_compiled *compile(struct laws *laws, const char *body, const char *const *rows,
                                          const char *const *inputs)
{
    struct chalkline_compiled *compiled;
    struct chalkline_error error;
    return chalkline_compile(laws->library, body, rows, inputs, &compiled, &error) == CHALKLINE_ANSWERED ? compiled : NULL;
}

/* ---- 1 and 2: rows over drawn points ------------------------------------------------------------------ */

static void bounds(void **state)
{
    static const char *const rows[] = { "tpot_bound", "predicted_tpot", "ttft_bound", "predicted_ttft",
                                        "static_batch_bound", "static_batch_tpot", NULL };
    static const char *const inputs[] = { "concurrency", "prompt_tokens", "output_tokens", NULL };
    struct laws *laws = *state;
    size_t compared = 0;
    for (laws->state = 1; compared < cases(); arena_free(&laws->arena)) {
        double points[3][PER_PAIR], values[6][PER_PAIR];
        const char *body = arena_print(&laws->arena, "{%s}", draw_layout(laws));
        struct chalkline_compiled *compiled = compile(laws, body, rows, inputs);
        struct chalkline_error error;
        for (size_t k = 0; k < PER_PAIR; k++) {
            points[0][k] = floor(draw_log(&laws->state, 1, 300));
            points[1][k] = floor(draw_log(&laws->state, 16, 20000));
            points[2][k] = floor(draw_log(&laws->state, 2, 4000));
        }
        if (!compiled)
            continue;                               /* it does not fit */
        if (chalkline_run(compiled, (const double *[]){ points[0], points[1], points[2] }, PER_PAIR,
                          (double *[]){ values[0], values[1], values[2], values[3], values[4], values[5] }, NULL,
                          &error) == CHALKLINE_ANSWERED)
            for (size_t k = 0; k < PER_PAIR; k++) {
                compared += isfinite(values[1][k]);
                for (size_t row = 0; row < 6; row += 2)
                    if (values[row][k] > values[row + 1][k] * (1 + 1e-12))
                        broken(laws, arena_print(&laws->arena, "%s at %.0f, %.0f, %.0f", rows[row], points[0][k],
                                                 points[1][k], points[2][k]), body, values[row][k], values[row + 1][k]);
            }
        chalkline_compiled_free(compiled);
    }
    assert_int_equal(laws->broken, 0);
}

static void more_is_not_slower(void **state)
{
    /* Not TTFT: with a given concurrency, faster answers bring the next prompts sooner, so that prompts are a larger share of
     * the time and a first token waits for more of them. A whole request is never slower. */
    static const char *const rows[] = { "predicted_tpot", "predicted_e2e", "bound_step", NULL };
    static const char *const inputs[] = { "hbm_bandwidth", "scale_up_bandwidth", "scale_out_bandwidth", "peak_flops" };
    struct laws *laws = *state;
    size_t compared = 0;
    for (laws->state = 2; compared < cases(); arena_free(&laws->arena)) {
        const char *input = inputs[(size_t)(4 * draw(&laws->state))];
        const char *body = arena_print(&laws->arena, "{%s, \"concurrency\": %.0f, \"isl\": %.0f, \"osl\": %.0f}", draw_server(laws),
                                       floor(draw_log(&laws->state, 1, 200)), floor(draw_log(&laws->state, 16, 8000)),
                                       floor(draw_log(&laws->state, 2, 2000)));
        struct chalkline_compiled *compiled = compile(laws, body, rows, (const char *[]){ input, NULL });
        const double low = draw_log(&laws->state, 1e10, 1e13) * (strcmp(input, "peak_flops") ? 1 : 100);
        double points[PER_PAIR], values[3][PER_PAIR];
        struct chalkline_error error;
        for (size_t k = 0; k < PER_PAIR; k++)
            points[k] = low * pow(1.05, (double)k);
        if (!compiled)
            continue;
        if (chalkline_run(compiled, (const double *[]){ points }, PER_PAIR, (double *[]){ values[0], values[1], values[2] },
                          NULL, &error) == CHALKLINE_ANSWERED)
            for (size_t k = 1; k < PER_PAIR; k++)
                for (size_t row = 0; row < 3; row++) {
                    compared += !row && isfinite(values[0][k]);
                    if (values[row][k] > values[row][k - 1] * (1 + 1e-9))
                        broken(laws, arena_print(&laws->arena, "%s with more %s, from %.6g", rows[row], input, points[k - 1]),
                               body, values[row][k - 1], values[row][k]);
                }
        chalkline_compiled_free(compiled);
    }
    assert_int_equal(laws->broken, 0);
}

/* ---- 3, 4, 5: whole answers --------------------------------------------------------------------------- */

/* The answer to a body, parsed; NULL: it was refused. */
static const struct doc *ask(struct laws *laws, const char *verb, const char *body, const char **csv)
{
    struct chalkline_answer *answer;
    struct doc *doc = NULL;
    struct error error;
    const int status = chalkline_ask(laws->library, verb, body, &answer);
    const char *json = arena_copy(&laws->arena, chalkline_json(answer), strlen(chalkline_json(answer)));
    if (csv && chalkline_csv(answer))
        *csv = arena_copy(&laws->arena, chalkline_csv(answer), strlen(chalkline_csv(answer)));
    chalkline_free(answer);
    if (!json_read(&laws->arena, "answer", text_of(json), &doc, &error))
        fail_msg("%s %s: %s", verb, body, error.what);
    return status == CHALKLINE_ANSWERED ? doc : NULL;
}

static double number_in(const struct doc *doc, const char *key)
{
    const struct doc *found = doc_get(doc, key);
    return found && found->kind == DOC_NUMBER ? found->number : NAN;
}

static void nothing_is_lost(void **state)
{
    static const char *const schedulers[] = { "vllm-v1", "sarathi", "orca", "trtllm", "sglang" };
    static const char *const routers[] = { "round-robin", "least-pending", "least-tokens" };
    struct laws *laws = *state;
    size_t compared = 0, tried = 0;
    for (laws->state = 3; compared < cases(); arena_free(&laws->arena)) {
        const double count = floor(draw_log(&laws->state, 1, 300)), output = floor(draw_log(&laws->state, 1, 60));
        const bool fails = draw(&laws->state) < 0.3, bounded = draw(&laws->state) < 0.3;
        const char *body = arena_print(
            &laws->arena, "{\"words\": \"poisson:rate=%.6g,count=%.0f,input=%.0f,output=%.0f\", \"step-time\": "
            "\"2ms+0.02ms*tokens+1e-5ms*cached\", \"blocks\": %.0f, \"replicas\": %.0f, \"scheduler\": \"%s\", \"router\": \"%s\", "
            "\"seed\": %.0f%s%s}", draw_log(&laws->state, 0.5, 500), count, floor(draw_log(&laws->state, 1, 500)), output,
            floor(draw_log(&laws->state, 100, 3000)), floor(draw_log(&laws->state, 1, 6)),
            schedulers[(size_t)(5 * draw(&laws->state))], routers[(size_t)(3 * draw(&laws->state))],
            floor(1e6 * draw(&laws->state)), fails ? ", \"fails-every\": \"3s\", \"restart\": \"0.2s\"" : "",
            bounded ? ", \"max-waiting\": 5" : "");
        const struct doc *doc = ask(laws, "simulate", body, NULL), *lost;
        assert_true(++tried < 20 * cases() + 100);
        if (!doc)
            continue;
        double gone = 0;
        static const char *const ways[] = { "rejected", "abandoned", "gave_up", "refused" };
        for (size_t i = 0; i < COUNT(ways); i++)
            if ((lost = doc_get(doc, ways[i])) && lost->kind == DOC_NUMBER)
                gone += lost->number;
        const double answered = number_in(doc, "answered"), rate = number_in(doc, "output_rate"),
                     span = number_in(doc, "makespan");
        compared++;
        if (number_in(doc, "requests") != count || answered + gone != count)
            broken(laws, "requests", body, answered, gone);
        if (isfinite(rate) && fabs(rate * span / (answered * output) - 1) > 1e-9)
            broken(laws, "tokens", body, rate * span, answered * output);
    }
    assert_int_equal(laws->broken, 0);
}

/* Is the number in one of the intervals that were found? */
static bool is_found(const struct doc *found, double wanted)
{
    const struct doc *intervals = doc_get(found, "intervals");
    for (const struct doc *at = intervals ? intervals->first : NULL; at; at = at->next) {
        const struct doc *low = doc_get(at, "low"), *high = doc_get(at, "high");
        const double from = low && low->kind == DOC_NUMBER ? low->number : -INFINITY;
        const double to = high && high->kind == DOC_NUMBER ? high->number : INFINITY;
        if (wanted >= from * (1 - 1e-6) && wanted <= to * (1 + 1e-6))
            return true;
    }
    return false;
}

static void solve_inverts(void **state)
{
    static const struct {
        const char *input, *row;
        double low, high;
    } asked[] = { { "batch", "bound_step", 1, 2000 }, { "context", "bound_kv", 64, 60000 }, { "batch", "bound_throughput", 1, 2000 },
                  { "hbm_bandwidth", "bound_memory", 1e11, 2e13 }, { "batch", "bound_compute", 1, 2000 },
                  { "concurrency", "tpot_bound", 1, 200 } };
    struct laws *laws = *state;
    size_t compared = 0;
    for (laws->state = 4; compared < cases(); arena_free(&laws->arena)) {
        const size_t which = (size_t)((double)COUNT(asked) * draw(&laws->state));
        const double input = draw_log(&laws->state, asked[which].low, asked[which].high);
        const char *server = draw_server(laws);
        /* A layout or a load that is left to be chosen would follow the input. */
        const bool loads = strcmp(asked[which].input, "batch") && strcmp(asked[which].input, "concurrency");
        const char *layout = arena_print(&laws->arena, "\"tp\": 1, \"pp\": 1, \"ep\": 1, \"dp\": 1, \"chunked-prefill-size\": 1024, "
                                         "\"replicas\": 1%s", loads ? ", \"batch\": 8" : "");
        const char *body = arena_print(&laws->arena, "{\"words\": \"%s\", %s, %s, \"set\": {\"%s\": %.17g}}", asked[which].row, server,
                                       layout, asked[which].input, input);
        const struct doc *doc = ask(laws, "eval", body, NULL), *figure = doc ? doc_get(doc, asked[which].row) : NULL;
        const double value = figure ? number_in(figure, "value") : NAN;
        if (!isfinite(value))
            continue;
        body = arena_print(&laws->arena, "{\"words\": \"%s\", \"where\": \"%s=%.17g%s\", %s, %s}", asked[which].input, asked[which].row,
                           value, doc_get(figure, "unit")->string, server, layout);
        doc = ask(laws, "solve", body, NULL);
        compared++;
        if (!doc || !is_found(doc_get(doc, asked[which].input), input))
            broken(laws, "solve", body, input, value);
    }
    assert_int_equal(laws->broken, 0);
}

/* The cell of a column in the line of a CSV that begins with a name. */
static double csv_value(struct laws *laws, const char *text, const char *name)
{
    struct csv csv;
    struct error error;
    if (!csv_read(&laws->arena, "answer.csv", text_of(text), &csv, &error))
        fail_msg("%s", error.what);
    for (size_t row = 0; row < csv.rows; row++)
        if (!strcmp(csv_cell(&csv, row, csv_column(&csv, "quantity")), name))
            return strtod(csv_cell(&csv, row, csv_column(&csv, "value")), NULL);
    return NAN;
}

static void words_say_it_again(void **state)
{
    static const char *const rows[] = { "bound_step", "predicted_tpot", "predicted_ttft", "predicted_throughput", "predicted_cost_per_token",
                                        "params_total", "kv_per_token", "bound_mfu" };
    struct laws *laws = *state;
    size_t compared = 0;
    for (laws->state = 5; compared < cases(); arena_free(&laws->arena)) {
        const char *csv = NULL, *row = rows[(size_t)(8 * draw(&laws->state))], *server = draw_server(laws);
        const char *body = arena_print(&laws->arena, "{\"words\": \"%s\", %s}", row, server);
        const struct doc *doc = ask(laws, "eval", body, &csv), *figure = doc ? doc_get(doc, row) : NULL;
        const double value = figure ? number_in(figure, "value") : NAN;
        if (!isfinite(value))
            continue;
        compared++;
        if (!csv || csv_value(laws, csv, row) != value)
            broken(laws, "CSV", body, value, csv ? csv_value(laws, csv, row) : NAN);
        struct buffer words = { .arena = &laws->arena };
        struct command command = { .verbs = verbs };
        char *given[100] = { "chalkline", "eval", (char *)(uintptr_t)row };
        int count = 3;
        for (const struct doc *word = doc_get(doc, "words")->first; word && count < 99; word = word->next)
            given[count++] = (char *)(uintptr_t)word->string;
        struct answer again = { .doc = doc_new(&laws->arena, DOC_OBJECT), .text.arena = &laws->arena, .csv.arena = &laws->arena };
        struct error error = { .what = "" };
        buffer_print(&words, "%s", body);
        if (!command_read(&laws->arena, count, given, &command, &error) ||
            !command.verb->ask(&laws->arena, &command, &again, &error))
            broken(laws, error.what, body, value, NAN);
        else if (number_in(doc_get(again.doc, row), "value") != value)
            broken(laws, "words", body, value, number_in(doc_get(again.doc, row), "value"));
    }
    assert_int_equal(laws->broken, 0);
}

/* ---- 6 ------------------------------------------------------------------------------------------------ */

static void rent_is_shared(void **state)
{
    static const char *const rows[] = { "input_cost_per_token", "output_cost_per_token", "blended_cost_per_token", "utilization",
                                        NULL };
    struct laws *laws = *state;
    size_t compared = 0, drawn = 0;
    for (laws->state = 6; compared < cases(); arena_free(&laws->arena)) {
        double points[3][PER_PAIR], values[4][PER_PAIR];
        const char *body = arena_print(&laws->arena, "{%s, \"set\": {\"chip_price\": \"2USD/h\"}}", draw_layout(laws));
        const bool open = drawn++ % 2;
        const char *const inputs[] = { open ? "arrival_rate" : "concurrency", "prompt_tokens", "output_tokens", NULL };
        struct chalkline_compiled *compiled = compile(laws, body, rows, inputs);
        struct chalkline_error error;
        for (size_t k = 0; k < PER_PAIR; k++) {
            points[0][k] = open ? draw_log(&laws->state, 0.001, 30) : floor(draw_log(&laws->state, 1, 300));
            points[1][k] = floor(draw_log(&laws->state, 16, 40000));
            points[2][k] = floor(draw_log(&laws->state, 1, 4000));
        }
        if (!compiled)
            continue;
        if (chalkline_run(compiled, (const double *[]){ points[0], points[1], points[2] }, PER_PAIR,
                          (double *[]){ values[0], values[1], values[2], values[3] }, NULL, &error) == CHALKLINE_ANSWERED)
            for (size_t k = 0; k < PER_PAIR; k++) {
                if (!isfinite(values[2][k]) || (open && values[3][k] >= 1))
                    continue;                   /* no price where queues grow */
                const double in = values[0][k] * points[1][k], out = values[1][k] * points[2][k];
                const char *at = arena_print(&laws->arena, "at %g, %.0f, %.0f", points[0][k], points[1][k], points[2][k]);
                compared++;
                if (!(in > 0) || !(out > 0))
                    broken(laws, arena_print(&laws->arena, "costs %s", at), body, in, out);
                if (!(fabs((in + out) / (values[2][k] * (points[1][k] + points[2][k])) - 1) <= 1e-9))
                    broken(laws, arena_print(&laws->arena, "rent %s", at), body, in + out, values[2][k]);
                if (!(values[3][k] > 0))
                    broken(laws, arena_print(&laws->arena, "utilization %s", at), body, values[3][k], 0);
            }
        chalkline_compiled_free(compiled);
    }
    assert_int_equal(laws->broken, 0);
}

int main(void)
{
#define LAW(name) cmocka_unit_test_setup_teardown(name, open_laws, close_laws)
    const struct CMUnitTest tests[] = { LAW(bounds), LAW(more_is_not_slower), LAW(nothing_is_lost), LAW(solve_inverts),
                                        LAW(words_say_it_again), LAW(rent_is_shared) };
    return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
