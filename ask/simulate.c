/* simulate: a trace of requests through a server's scheduler. */
#include "ask/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static int name_at(const char *name, const char *const *names, int count)
{
    int at = 0;
    while (at < count && strcmp(name, names[at]))
        at++;
    return at;
}

static bool read_rules(const struct question *question, struct sim_options *sim,
                       struct error *error)
{
    const char *name = question->option[OPTION_RULES], *router = question->option[OPTION_ROUTER];
    int rules = name ? name_at(name, rules_names, RULES_COUNT) : RULES_VLLM_V1;
    int route = router ? name_at(router, router_names, ROUTER_COUNT) : ROUTER_LEAST_PENDING;
    if (rules == RULES_COUNT) {
        error_set(error, "no rules are called '%.60s'", name);
        return error_hint(error, "one of: %s, %s, %s", rules_names[0], rules_names[1],
                          rules_names[2]);
    }
    if (route == ROUTER_COUNT) {
        error_set(error, "no router is called '%.60s'", router);
        return error_hint(error, "one of: %s, %s, %s", router_names[0], router_names[1],
                          router_names[2]);
    }
    sim->rules = (enum rules)rules;
    sim->router = (enum router)route;
    return true;
}

/* Where nothing says otherwise: those of the reference runs. */
static const struct sim_options usual = {
    .block = 16, .watermark = 0.01, .chunk = 512, .sequences_most = 128, .batch_tokens_most = 4096,
};

static bool read_model(struct arena *arena, const struct question *question,
                       struct scenario *scenario, struct sim_options *sim, struct answer *answer,
                       struct error *error)
{
    const char *model = question->option[OPTION_MODEL], *machine = question->option[OPTION_ON];
    if (!model || !machine) {
        error_set(error, "simulate needs the time of a step");
        return error_hint(error, "--model MODEL --on HARDWARE, or --step-time \"10ms + "
                                 "0.05ms*tokens + 8e-5ms*cached\" and --blocks N");
    }
    if (!scenario_open(scenario, arena, question, model, machine, error) ||
        !simulate_predicted(scenario, sim, error))
        return false;
    scenario_notes(scenario, answer);
    return true;
}

static bool read_options(struct arena *arena, const struct question *question,
                         struct scenario *scenario, struct sim_options *sim, double *scale,
                         struct answer *answer, struct error *error)
{
    const char *text = question->option[OPTION_TIME_SCALE];
    const char *formula = question->option[OPTION_STEP_TIME];
    *sim = usual;
    sim->stepping = question->option[OPTION_STEPPING] != NULL;
    sim->synchronous = question->option[OPTION_SYNC] != NULL;
    *scale = 1;
    if (text && (!text_number(text_of(text), scale) || !(*scale > 0))) {
        error_set(error, "--time-scale: '%.60s' is no number above 0", text);
        return error_hint(error, "2: twice as many requests a second");
    }
    if (!read_rules(question, sim, error))
        return false;
    if (!(formula ? simulate_formula(arena, formula, sim, error)
                  : read_model(arena, question, scenario, sim, answer, error)))
        return false;
    if (!sim->blocks && !question->option[OPTION_BLOCKS]) {
        error_set(error, "simulate needs the size of the cache");
        return error_hint(error, "--blocks N, of %zu tokens each", sim->block);
    }
    return read_count(question, OPTION_REPLICAS, 1, &sim->replicas, error) &&
           read_count(question, OPTION_CHUNK, sim->chunk, &sim->chunk, error) &&
           read_count(question, OPTION_MAX_SEQS, sim->sequences_most, &sim->sequences_most,
                      error) &&
           read_count(question, OPTION_MAX_BATCH_TOKENS, sim->batch_tokens_most,
                      &sim->batch_tokens_most, error) &&
           read_count(question, OPTION_BLOCKS, sim->blocks, &sim->blocks, error);
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

/* "-" where no request has the time: a TPOT takes two tokens. */
static const char *seconds_text(struct arena *arena, const struct sketch *sketch, double value)
{
    struct unit second;
    struct error ignored;
    unit_parse(text_of("s"), &second, &(double){ 0 }, &ignored);
    return sketch->count ? quantity_text(arena, value, second, 4) : "-";
}

static void answer_sketch(struct arena *arena, const char *name, const struct sketch *sketch,
                          struct doc *doc, struct table *table)
{
    static const struct { const char *name; double share; } quantiles[] = {
        { "p50", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 }, { "p99", 0.99 } };
    struct doc *one = doc_add(arena, doc, name, DOC_OBJECT);
    doc_add_number(arena, one, "mean", sketch_mean(sketch));
    table_cell(table, "%s", name);
    table_cell(table, "%s", seconds_text(arena, sketch, sketch_mean(sketch)));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        double value = sketch_quantile(sketch, quantiles[i].share);
        doc_add_number(arena, one, quantiles[i].name, value);
        table_cell(table, "%s", seconds_text(arena, sketch, value));
    }
    doc_add_number(arena, one, "max", sketch->most);
    table_cell(table, "%s", seconds_text(arena, sketch, sketch->most));
}

static void answer_times(struct arena *arena, const struct trace *trace,
                         const struct sim_result *result, struct answer *answer)
{
    enum { TTFT, TPOT, E2E, TIMES };
    static const char *const names[TIMES] = { "ttft", "tpot", "e2e" };
    struct sketch *sketches = arena_array(arena, TIMES, sizeof *sketches);
    struct table table = { .arena = arena, .columns = 7, .left = "lrrrrrr" };
    static const char *const head[] = { "", "mean", "p50", "p90", "p95", "p99", "max" };
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

/* Where requests wait most of the time a small error in the step is a large one in TTFT. More
 * of them when the last one comes than the servers run say that there were too many. */
static const char *verdict_of(const struct sim_options *sim, const struct sim_result *result)
{
    const double most = 0.5;
    if (result->waiting_at_last > (double)(sim->sequences_most * sim->replicas))
        return "overloaded";
    return result->queued > most * result->busy ? "backlogged" : "stable";
}

static void answer_counts(struct arena *arena, const struct trace *trace,
                          const struct sim_options *sim, const struct sim_result *result,
                          struct answer *answer)
{
    double time = result->makespan * (double)sim->replicas;
    double utilisation = result->busy / time, queued = result->queued / time;
    const char *verdict = verdict_of(sim, result);
    const struct { const char *name; double value; } counts[] = {
        { "requests", (double)trace->count },     { "iterations", (double)result->iterations },
        { "batch_tokens", (double)result->batch_tokens },
        { "preemptions", (double)result->preemptions }, { "makespan", result->makespan },
        { "utilisation", utilisation },           { "queued", queued },
        { "waiting_at_last", result->waiting_at_last },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        doc_add_number(arena, answer->doc, counts[i].name, counts[i].value);
    buffer_print(&answer->text, "%zu requests in %.6f s: %llu iterations, %llu tokens, %llu "
                 "preemptions\n", trace->count, result->makespan,
                 (unsigned long long)result->iterations, (unsigned long long)result->batch_tokens,
                 (unsigned long long)result->preemptions);
    doc_add_string(arena, answer->doc, "verdict", verdict);
    buffer_print(&answer->text, "%s: batches ran %.1f %% of the time, requests waited in %.1f %%, %.0f "
                 "when the last one came\n\n", verdict, 100 * utilisation, 100 * queued,
                 result->waiting_at_last);
}

bool ask_simulate(struct arena *arena, const struct question *question, struct answer *answer,
                  struct error *error)
{
    struct scenario scenario;
    struct sim_options sim;
    struct sim_result result;
    struct trace trace;
    double scale;
    if (question->word_count != 1) {
        error_set(error, "simulate takes one trace, %zu were given", question->word_count);
        return error_hint(error, "chalkline simulate trace.csv --blocks 28000 --step-time ...");
    }
    struct answer notes = { .doc = answer->doc, .text = { .arena = arena } };
    if (!read_options(arena, question, &scenario, &sim, &scale, &notes, error) ||
        !trace_read(arena, question->words[0], scale, &trace, error) ||
        !sim_run(arena, &trace, &sim, &result, error))
        return false;
    answer_counts(arena, &trace, &sim, &result, answer);
    answer_times(arena, &trace, &result, answer);
    buffer_print(&answer->text, "\n  quantiles within 1 %%; a server has %zu blocks of %zu tokens, "
                 "%zu sequences at most, %zu tokens a batch\n%s", sim.blocks, sim.block, sim.sequences_most,
                 sim.rules == RULES_VLLM_2023 ? sim.batch_tokens_most : sim.chunk,
                 notes.text.data ? notes.text.data : "");
    const char *path = question->option[OPTION_REQUESTS];
    return !path || write_requests(path, &trace, &result, error);
}
