/* simulate: a trace of requests through a server's scheduler. */
#include "ask/ask.h"
#include "ask/simulate/simulate.h"
#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a run ---------------------------------------------------------------------------------- */

static void score_request(struct lane_score *lane, const struct simulation *simulation,
                          const struct simulated *outcome, size_t i)
{
    const struct sim_result *result = &outcome->result;
    const uint32_t output = outcome->trace.output[i];
    double first = result->first_token[i], last = result->completed[i];
    lane->requests++;
    if (!(last >= 0))
        return;
    double tpot = output > 1 ? (last - first) / (output - 1) : 0;
    double asked = result->arrival[i] - simulation->api_time;
    lane->answered++;
    lane->outputs += output;
    lane->inputs += outcome->trace.prompt[i];
    lane->met += first - asked <= simulation->ttft_most && tpot <= simulation->tpot_most;
    sketch_add(&lane->times[SIMULATE_TTFT], first - asked);
    sketch_add(&lane->times[SIMULATE_E2E], last - asked);
    if (output > 1)
        sketch_add(&lane->times[SIMULATE_TPOT], tpot);
}

/* Where requests wait most of the time a small error in the step is a large one in TTFT. More
 * of them when the last one comes than the servers run, or a twentieth of all, say that there were
 * too many. */
static const char *verdict_of(const struct simulated *outcome)
{
    const struct sim_options *sim = &outcome->options;
    const struct sim_result *result = &outcome->result;
    const double most = 0.5, too_many = 0.05;
    size_t servers = sim->scaling.most ? sim->scaling.most : sim->replicas + sim->split.replicas;
    size_t ranks = sim->server.ranks ? sim->server.ranks : 1;
    if (result->waiting_at_last > fmin((double)(sim->server.sequences_most * servers * ranks),
                                       fmax(too_many * (double)outcome->trace.count, 1)))
        return "overloaded";
    return result->queued > most * result->busy ? "backlogged" : "stable";
}

static void score(struct arena *arena, const struct simulation *simulation, struct simulated *outcome)
{
    const struct trace *trace = &outcome->trace;
    const struct sim_result *result = &outcome->result;
    double first = INFINITY, last = 0;
    outcome->lanes = arena_array(arena, trace->lanes + 1, sizeof *outcome->lanes);
    for (size_t i = 0; i < trace->count; i++) {
        score_request(&outcome->all, simulation, outcome, i);
        if (trace->lanes)
            score_request(&outcome->lanes[trace->lane[i]], simulation, outcome, i);
        first = fmin(first, result->arrival[i]);
        last = fmax(last, result->arrival[i]);
    }
    outcome->rate = last > first ? (double)(trace->count - 1) / (last - first) : 0;
    outcome->goodput = (double)outcome->all.met / result->makespan;
    outcome->output_rate = (double)outcome->all.outputs / result->makespan;
    outcome->input_rate = (double)outcome->all.inputs / result->makespan;
    outcome->verdict = verdict_of(outcome);
}

/* The description with another seed. */
static const char *reseeded(struct arena *arena, const char *words, uint64_t more)
{
    const char *seed = strstr(words, ",seed=");
    double number = 1;
    seed = seed ? seed : strstr(words, ":seed=");
    if (!seed)
        return arena_print(arena, "%s%cseed=%llu", words, strchr(words, ':') ? ',' : ':',
                           (unsigned long long)(1 + more));
    seed++;
    size_t digits = strspn(seed + 5, "0123456789");
    text_number((struct text){ seed + 5, digits }, &number);
    return arena_print(arena, "%.*s%.0f%s", (int)(seed + 5 - words), words, number + (double)more,
                       seed + 5 + digits);
}

/* The trace of a variation: arrivals are its own, the rest is shared. */
static bool vary_trace(struct arena *arena, const struct simulation *simulation,
                       const struct variation *variation, struct trace *trace, struct error *error)
{
    const double scale = simulation->scale * variation->scale;
    *trace = simulation->trace;
    if (simulation->drawn && variation->seed &&
        !generate_trace(arena, reseeded(arena, simulation->command->words[0], variation->seed),
                        trace, error))
        return false;
    if (trace->lane != simulation->trace.lane && trace->lanes)
        simulate_order_lanes(trace, &simulation->trace);
    if (scale == 1)
        return true;
    double *arrival = arena_array(arena, trace->count, sizeof *arrival);
    for (size_t i = 0; i < trace->count; i++)
        arrival[i] = trace->arrival[i] / scale;
    trace->arrival = arrival;
    if (!trace->wait)
        return true;
    double *wait = arena_array(arena, trace->count, sizeof *wait);
    for (size_t i = 0; i < trace->count; i++)
        wait[i] = trace->wait[i] / scale;
    trace->wait = wait;
    return true;
}

static size_t either(size_t varied, size_t asked)
{
    return varied ? varied : asked;
}

bool simulate_run(struct arena *arena, const struct simulation *simulation,
                  const struct variation *variation, const struct sim_watch *watch,
                  struct simulated *outcome, struct error *error)
{
    *outcome = (struct simulated){ .options = simulation->options };
    struct sim_options *sim = &outcome->options;
    sim->server = simulate_own(arena, &simulation->options.server);
    sim->split.server = simulate_own(arena, &simulation->options.split.server);
    sim->server.chunk = either(variation->chunk, sim->server.chunk);
    sim->server.sequences_most = either(variation->sequences_most, sim->server.sequences_most);
    sim->server.blocks = either(variation->blocks, sim->server.blocks);
    sim->split.server.chunk = either(variation->chunk, sim->split.server.chunk);
    sim->split.server.sequences_most = either(variation->sequences_most,
                                              sim->split.server.sequences_most);
    sim->split.server.blocks = either(variation->blocks, sim->split.server.blocks);
    sim->replicas = either(variation->replicas, sim->replicas);
    sim->users = either(variation->users, sim->users);
    sim->waiting_most = either(variation->waiting_most, sim->waiting_most);
    sim->seed += variation->seed;
    if (watch)
        sim->watch = *watch;
    bool ran = vary_trace(arena, simulation, variation, &outcome->trace, error) &&
               sim_run(arena, &outcome->trace, sim, &outcome->result, error);
    simulate_give_back(&sim->server);
    simulate_give_back(&sim->split.server);
    if (ran)
        score(arena, simulation, outcome);
    return ran;
}

bool simulate_meets(const struct simulation *simulation, const struct simulated *outcome)
{
    const bool limits = isfinite(simulation->ttft_most) || isfinite(simulation->tpot_most);
    const struct lane_score *all = &outcome->all;
    if (!limits && all->answered < all->requests)
        return false;
    return strcmp(outcome->verdict, "overloaded") != 0 &&
           (!limits || (double)all->met >= simulation->met * (double)all->requests);
}

/* ---- only the caches ------------------------------------------------------------------------ */

static bool answer_hits(const struct simulation *simulation, struct answer *answer,
                        struct error *error)
{
    static const size_t sizes[] = { 1000, 3000, 10000, 30000, 50000, 100000, 0 };
    struct arena *arena = simulation->arena;
    struct table table = { .arena = arena, .columns = 2, .left = "rr" };
    if (!simulation->trace.block) {
        error_set(error, "--hits: the trace names no prefix blocks");
        return error_hint(error, "a trace with hash_ids (Mooncake, Qwen-Bailian)");
    }
    struct doc *list = doc_add(arena, answer->doc, "hits", DOC_ARRAY);
    table_cell(&table, "blocks of %zu", simulation->trace.block);
    table_cell(&table, "prompt tokens found");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double ratio = trace_hit_ratio(arena, &simulation->trace, sizes[i]);
        struct doc *one = doc_add(arena, list, NULL, DOC_OBJECT);
        if (sizes[i])
            doc_add_number(arena, one, "blocks", (double)sizes[i]);
        doc_add_number(arena, one, NAME_hit_ratio, ratio);
        table_cell(&table, sizes[i] ? "%zu" : "any", sizes[i]);
        table_cell(&table, "%.4f", ratio);
    }
    table_print(&table, &answer->text, "  ");
    table_csv(&table, &answer->csv);
    return true;
}

/* ---- the question --------------------------------------------------------------------------- */

bool ask_simulate(struct arena *arena, const struct command *command, struct answer *answer,
                  struct error *error)
{
    struct simulation *simulation = arena_alloc(arena, sizeof *simulation);
    struct simulated *outcome = arena_alloc(arena, sizeof *outcome);
    struct answer notes = { .doc = answer->doc, .text = { .arena = arena } };
    const struct variation as_asked = { .scale = 1 };
    struct recorder *recorder;
    struct sim_watch watch = { 0 };
    bool searched;
    if (!simulate_read(arena, command, simulation, &notes, error))
        return false;
    if (command_given(command, "hits"))
        return answer_hits(simulation, answer, error);
    if (!simulate_search(simulation, answer, &searched, error))
        return false;
    if (!searched) {
        if (!simulate_record(simulation, &recorder, &watch, error) ||
            !simulate_run(arena, simulation, &as_asked, &watch, outcome, error) ||
            !simulate_answer(simulation, outcome, answer, error) ||
            !simulate_write(recorder, outcome, answer, error))
            return false;
    }
    const char *requests = command_text(command, "requests");
    bool lines = requests && !strcmp(requests, "-");    /* the answer is those alone */
    if (notes.text.size && !lines)
        buffer_add(&answer->text, notes.text.data, notes.text.size);
    return true;
}
