/* simulate: a trace of requests through a server's scheduler. */
#include "ask/ask.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the step time: linear in what a batch holds ----------------------------------------- */

enum { TOKENS, CACHED, SEQUENCES, QUANTITIES };
static const char *const quantities[QUANTITIES] = { "tokens", "cached", "sequences" };
static const char rows[] =
    "== A batch\n\n"
    "tokens : 1 = 1 in 0..1e12\n    that it processes (definition)\n"
    "cached : 1 = 0 in 0..1e15\n    tokens processed before, of its requests (definition)\n"
    "sequences : 1 = 1 in 0..1e9\n    requests in it (definition)\n\n"
    "second : s = 1 in 1..1\n    of time (definition)\n";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Rows know no units; "10ms" is read as 0.01 of the row `second`. */
static bool without_units(struct arena *arena, const char *formula, const char **out,
                          struct error *error)
{
    struct buffer plain = { .arena = arena };
    bool in_name = false;
    for (const char *at = formula; *at;) {
        char *end;
        double number = in_name || *at == '+' || *at == '-' ? 0 : strtod(at, &end), scale;
        struct unit unit, second;
        bool digit = !in_name && ((*at >= '0' && *at <= '9') || *at == '.');
        size_t letters = 0;
        if (!digit) {
            in_name = is_letter(*at) || (in_name && *at >= '0' && *at <= '9');
            buffer_add(&plain, at++, 1);
            continue;
        }
        while (is_letter(end[letters]))
            letters++;
        if (!letters) {
            buffer_add(&plain, at, (size_t)(end - at));
        } else if (!unit_parse((struct text){ end, letters }, &unit, &scale, error)) {
            return false;
        } else {
            unit_parse(text_of("s"), &second, &(double){ 0 }, error);
            if (!unit_same(unit, second)) {
                error_set(error, "--step-time: '%.*s' is no unit of time", (int)letters, end);
                return error_hint(error, "s, ms, us, ns");
            }
            buffer_print(&plain, "(%.17g * second)", number * scale);
        }
        at = end + letters;
    }
    *out = plain.data ? plain.data : "";
    return true;
}

/* Whether every node is linear in the inputs. */
static bool is_linear(struct arena *arena, const struct list *list)
{
    bool *varies = arena_array(arena, list->count + 1, sizeof *varies);
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = &list->nodes[i];
        bool a = node->a >= 0 && varies[node->a], b = node->b >= 0 && varies[node->b];
        bool fixed = node->op == OP_INPUT && !strcmp(list->inputs[node->input].name, "second");
        varies[i] = a || b || (node->op == OP_INPUT && !fixed);
        bool linear = node->op == OP_INPUT || node->op == OP_ADD || node->op == OP_SUB ||
                      node->op == OP_NEG || (node->op == OP_MUL && !(a && b)) ||
                      (node->op == OP_DIV && !b);
        if (varies[i] && !linear)
            return false;
    }
    return true;
}

static bool formula_list(struct arena *arena, const char *formula, struct list *list,
                         struct error *error)
{
    struct book *book = arena_alloc(arena, sizeof *book);
    struct facts facts = { .arena = arena };
    struct expr *expr;
    struct unit unit, second;
    double scale;
    book_open(book, arena, 0);
    const char *plain = "";
    if (!book_read(book, "a batch", text_of(rows), error) ||
        !without_units(arena, formula, &plain, error) ||
        !expr_parse(book, "--step-time", 1, text_of(plain), &expr, error) ||
        !expr_unit(book, expr, &unit, error) || !unit_parse(text_of("s"), &second, &scale, error))
        return false;
    if (!unit_same(unit, second)) {
        error_set(error, "--step-time: '%.100s' is no time", formula);
        return error_hint(error, "10ms + 0.05ms*tokens + 8e-5ms*cached");
    }
    if (!list_build(arena, book, &facts, &expr, 1, list, error))
        return false;
    if (!is_linear(arena, list)) {
        error_set(error, "--step-time: '%.100s' is not linear in tokens, cached and sequences",
                  formula);
        return error_hint(error, "10ms + 0.05ms*tokens + 8e-5ms*cached");
    }
    return true;
}

struct step_cost {
    double base, by_token, by_cached, by_sequence;
};

static double linear_seconds(void *context, const struct sim_step *step)
{
    const struct step_cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached) +
           cost->by_sequence * step->sequences;
}

static bool read_cost(struct arena *arena, const char *formula, struct sim_options *sim,
                      struct error *error)
{
    struct step_cost *cost = arena_alloc(arena, sizeof *cost);
    sim->seconds = linear_seconds;
    sim->context = cost;
    struct list list;
    double inputs[QUANTITIES + 1] = { 0 }, slopes[QUANTITIES + 1], *to[QUANTITIES] = {
        &cost->by_token, &cost->by_cached, &cost->by_sequence };
    if (!formula) {
        error_set(error, "simulate needs the time of a step");
        return error_hint(error, "--step-time \"10ms + 0.05ms*tokens + 8e-5ms*cached\"");
    }
    if (!formula_list(arena, formula, &list, error))
        return false;
    int second = list_input(&list, "second");
    if (second >= 0)
        inputs[second] = 1;
    cost->base = list_gradient(arena, &list, 0, inputs, slopes);
    for (int i = 0; i < QUANTITIES; i++) {
        int input = list_input(&list, quantities[i]);
        *to[i] = input < 0 ? 0 : slopes[input];
    }
    if (!(cost->base >= 0) || !(cost->by_token >= 0) || !(cost->by_cached >= 0) ||
        !(cost->by_sequence >= 0) ||
        !(cost->base + cost->by_token + cost->by_sequence > 0)) {
        error_set(error, "--step-time: '%.100s' is not above 0 for every batch", formula);
        return error_hint(error, "no part below 0, and some time for a token");
    }
    return true;
}

/* ---- options ----------------------------------------------------------------------------- */

static bool read_count(const struct question *question, enum option option, size_t usual,
                       size_t *count, struct error *error)
{
    enum { MOST = 1000000000 };
    const char *text = question->option[option];
    double number;
    *count = usual;
    if (!text)
        return true;
    if (text_number(text_of(text), &number) && number >= 1 && number <= MOST &&
        number == floor(number)) {
        *count = (size_t)number;
        return true;
    }
    error_set(error, "--%s: '%.60s' is no count", options[option].name, text);
    return error_hint(error, "a whole number from 1 to %d", MOST);
}

static bool read_rules(const struct question *question, enum rules *rules, struct error *error)
{
    const char *name = question->option[OPTION_RULES], *router = question->option[OPTION_ROUTER];
    if (router && strcmp(router, "least-pending")) {
        error_set(error, "no router is called '%.60s'", router);
        return error_hint(error, "least-pending");
    }
    for (int i = 0; i < RULES_COUNT; i++)
        if (!name || !strcmp(name, rules_names[i])) {
            *rules = (enum rules)i;
            return true;
        }
    error_set(error, "no rules are called '%.60s'", name);
    return error_hint(error, "one of: %s, %s", rules_names[0], rules_names[1]);
}

static bool read_options(struct arena *arena, const struct question *question,
                         struct sim_options *sim, double *scale, struct error *error)
{
    enum { BLOCK = 16, CHUNK = 512, SEQUENCES_MOST = 128, BATCH_TOKENS = 4096 };
    const char *text = question->option[OPTION_TIME_SCALE];
    *sim = (struct sim_options){ .block = BLOCK, .watermark = 0.01,
                                 .stepping = question->option[OPTION_STEPPING] != NULL };
    *scale = 1;
    if (text && (!text_number(text_of(text), scale) || !(*scale > 0))) {
        error_set(error, "--time-scale: '%.60s' is no number above 0", text);
        return error_hint(error, "2: twice as many requests a second");
    }
    if (!question->option[OPTION_BLOCKS]) {
        error_set(error, "simulate needs the size of the cache");
        return error_hint(error, "--blocks N, of %d tokens each", BLOCK);
    }
    return read_rules(question, &sim->rules, error) &&
           read_count(question, OPTION_REPLICAS, 1, &sim->replicas, error) &&
           read_count(question, OPTION_CHUNK, CHUNK, &sim->chunk, error) &&
           read_count(question, OPTION_MAX_SEQS, SEQUENCES_MOST, &sim->sequences_most, error) &&
           read_count(question, OPTION_MAX_BATCH_TOKENS, BATCH_TOKENS, &sim->batch_tokens_most,
                      error) &&
           read_count(question, OPTION_BLOCKS, 0, &sim->blocks, error) &&
           read_cost(arena, question->option[OPTION_STEP_TIME], sim, error);
}

/* ---- the answer ---------------------------------------------------------------------------- */

static bool write_requests(const char *path, const struct trace *trace,
                           const struct sim_result *result, struct error *error)
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    if (good)
        fprintf(file, "id,arrival,prompt,decode,first_token_at,completed_at,restarts\n");
    for (size_t i = 0; i < trace->count && good; i++)
        good = fprintf(file, "%zu,%.9f,%u,%u,%.9f,%.9f,%u\n", i, trace->arrival[i],
                       trace->prompt[i], trace->output[i], result->first_token[i],
                       result->completed[i], result->restarts[i]) > 0;
    if (file && fclose(file))
        good = false;
    if (good)
        return true;
    error_set(error, "%s: cannot be written", path);
    return error_hint(error, "a file in a folder that exists");
}

static void answer_sketch(struct arena *arena, const char *name, const struct sketch *sketch,
                          struct doc *doc, struct table *table)
{
    static const struct { const char *name; double share; } quantiles[] = {
        { "p50", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 }, { "p99", 0.99 } };
    struct doc *one = doc_add(arena, doc, name, DOC_OBJECT);
    doc_add_number(arena, one, "mean", sketch_mean(sketch));
    table_cell(table, "%s", name);
    table_cell(table, "%.4g", 1e3 * sketch_mean(sketch));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        double value = sketch_quantile(sketch, quantiles[i].share);
        doc_add_number(arena, one, quantiles[i].name, value);
        table_cell(table, "%.4g", 1e3 * value);
    }
    doc_add_number(arena, one, "max", sketch->most);
    table_cell(table, "%.4g", 1e3 * sketch->most);
}

static void answer_times(struct arena *arena, const struct trace *trace,
                         const struct sim_result *result, struct answer *answer)
{
    enum { TTFT, TPOT, E2E, TIMES };
    static const char *const names[TIMES] = { "ttft", "tpot", "e2e" };
    struct sketch *sketches = arena_array(arena, TIMES, sizeof *sketches);
    struct table table = { .arena = arena, .columns = 7, .left = "lrrrrrr" };
    static const char *const head[] = { "ms", "mean", "p50", "p90", "p95", "p99", "max" };
    for (size_t i = 0; i < trace->count; i++) {
        double first = result->first_token[i], last = result->completed[i];
        sketch_add(&sketches[TTFT], first - trace->arrival[i]);
        sketch_add(&sketches[E2E], last - trace->arrival[i]);
        if (trace->output[i] > 1)
            sketch_add(&sketches[TPOT], (last - first) / (trace->output[i] - 1));
    }
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_cell(&table, "%s", head[i]);
    for (int i = 0; i < TIMES; i++)
        answer_sketch(arena, names[i], &sketches[i], answer->doc, &table);
    table_print(&table, &answer->text, "  ");
}

static void answer_counts(struct arena *arena, const struct trace *trace,
                          const struct sim_result *result, struct answer *answer)
{
    const struct { const char *name; double value; } counts[] = {
        { "requests", (double)trace->count },     { "iterations", (double)result->iterations },
        { "batch_tokens", (double)result->batch_tokens },
        { "preemptions", (double)result->preemptions }, { "makespan", result->makespan },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        doc_add_number(arena, answer->doc, counts[i].name, counts[i].value);
    buffer_print(&answer->text, "%zu requests in %.6f s: %llu iterations, %llu tokens, %llu "
                 "preemptions\n\n", trace->count, result->makespan,
                 (unsigned long long)result->iterations, (unsigned long long)result->batch_tokens,
                 (unsigned long long)result->preemptions);
}

bool ask_simulate(struct arena *arena, const struct question *question, struct answer *answer,
                  struct error *error)
{
    struct sim_options sim;
    struct sim_result result;
    struct trace trace;
    double scale;
    if (question->word_count != 1) {
        error_set(error, "simulate takes one trace, %zu were given", question->word_count);
        return error_hint(error, "chalkline simulate trace.csv --blocks 28000 --step-time ...");
    }
    if (!read_options(arena, question, &sim, &scale, error) ||
        !trace_read(arena, question->words[0], scale, &trace, error) ||
        !sim_run(arena, &trace, &sim, &result, error))
        return false;
    answer_counts(arena, &trace, &result, answer);
    answer_times(arena, &trace, &result, answer);
    const char *path = question->option[OPTION_REQUESTS];
    return !path || write_requests(path, &trace, &result, error);
}
