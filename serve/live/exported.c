/* A simulated run as its /metrics would show it (--metrics, --scale-by).
 *
 * Every so often the page is made that the endpoint would have answered, from what the run has counted: kept in a
 * file that `watch` replays, or read by `watch` at once, whose wanted replicas the run then has. `watch` is told
 * the model, the machine and the layout, and none of the constants that --set gives the simulated server: it has
 * to find them in the page.
 *
 * Who knows the arrivals to come does the same sum as `watch` with the server's true constants and the true
 * arrivals: the most that come in a minute of the time until a replica could be there. */
#include "serve/live/endpoint.h"
#include "ask/simulate/simulate.h"
#include "base/output.h"
#include "meter/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct exported {
    struct arena *arena;
    struct simulate *simulate;
    const struct simulated *outcome;
    struct sim_watch before;        /* who else watches the run */
    struct replica_counts counts;   /* of all replicas */
    bool *first, *last;             /* [requests] its first token, its end is counted */
    size_t open;                    /* requests before this one are over */
    struct follower *follower;      /* or NULL */
    struct followed followed;       /* by the latest reading that said so */
    struct output file;             /* --metrics; no stream: none */
    bool begun;
};

/* ---- what is counted -------------------------------------------------------------------------- */

static void ran(void *context, size_t replica, double from, double seconds, uint64_t steps,
                const struct sim_step *step)
{
    struct exported *exported = context;
    struct histogram *gaps = &exported->counts.histograms[HISTOGRAM_ITL];
    const double tokens = (double)steps * step->decoding;
    (void)replica, (void)from;
    gaps->count += (uint64_t)tokens;
    gaps->sum += seconds * step->decoding;
    exported->counts.generation_tokens += (uint64_t)tokens;
}

static double asked_at(const struct exported *exported, size_t i)
{
    return exported->outcome->result.arrival[i] - sim_before(&exported->outcome->options, exported->outcome->trace.prompt[i]);
}

static void count_first(struct exported *exported, size_t i)
{
    const struct sim_result *result = &exported->outcome->result;
    struct replica_counts *counts = &exported->counts;
    exported->first[i] = true;
    counts->prompt_tokens += exported->outcome->trace.prompt[i];
    counts->generation_tokens++;
    counts_observe(counts, HISTOGRAM_TTFT, result->first_token[i] - asked_at(exported, i));
}

static void count_last(struct exported *exported, size_t i)
{
    const struct sim_result *result = &exported->outcome->result;
    const struct trace *trace = &exported->outcome->trace;
    struct replica_counts *counts = &exported->counts;
    exported->last[i] = true;
    counts->finished[FINISH_STOP]++;
    counts_observe(counts, HISTOGRAM_E2E, result->completed[i] - asked_at(exported, i));
    counts_observe(counts, HISTOGRAM_PROMPT, trace->prompt[i]);
    counts_observe(counts, HISTOGRAM_GENERATION, trace->output[i]);
}

static void count_requests(struct exported *exported, double now)
{
    const struct simulated *outcome = exported->outcome;
    const struct sim_result *result = &outcome->result;
    for (size_t i = exported->open; i < outcome->trace.count && !(result->arrival[i] > now); i++) {
        if (!exported->first[i] && result->first_token[i] >= 0 && result->first_token[i] <= now)
            count_first(exported, i);
        if (exported->first[i] && !exported->last[i] && result->completed[i] >= 0 && result->completed[i] <= now)
            count_last(exported, i);
        if (i == exported->open && exported->last[i])
            exported->open++;
    }
    exported->counts.preemptions = result->preemptions;
}

/* ---- a reading -------------------------------------------------------------------------------- */

/* A page for as many replicas as are up; what they have counted together is the first one's. */
static void print_page(struct exported *exported, const struct sim_sample *sample, struct buffer *page)
{
    const size_t replicas = sample->replicas ? sample->replicas : 1;
    const struct sim_server *server = &exported->outcome->options.server;
    const char *model = exported->simulate->scenario.model;
    struct replica_counts *counts = arena_array(page->arena, replicas, sizeof *counts);
    struct live_replica *now = arena_array(page->arena, replicas, sizeof *now);
    counts[0] = exported->counts;
    for (size_t i = 0; i < replicas; i++)
        now[i].blocks = server->blocks;
    now[0].running = sample->running;
    now[0].waiting = sample->waiting;
    now[0].blocks_used = sample->blocks_used;
    counts_print(page, arena_print(page->arena, "\"%s\"", model ? model : "sim"), server, counts, now, replicas, 1);
}

static void keep_page(struct exported *exported, double at, const struct buffer *page)
{
    struct buffer out = { .arena = page->arena };
    follower_record(&out, at, (struct text){ page->data, page->size });
    const char *first = memchr(out.data, '\n', out.size);
    const size_t head = exported->begun ? (size_t)(first + 1 - out.data) : 0;
    fwrite(out.data + head, 1, out.size - head, exported->file.stream);
    exported->begun = true;
}

static void left(void *context, size_t requests)
{
    const struct exported *exported = context;
    if (exported->before.left)
        exported->before.left(exported->before.context, requests);
}

static void sample(void *context, double now, const struct sim_sample *sample)
{
    const double day = 86400;                           /* times of a file are not 0 */
    struct exported *exported = context;
    struct arena scratch = arena_beside(exported->arena);
    struct buffer page = { .arena = &scratch };
    struct followed followed;
    struct error error;
    if (exported->before.sample)
        exported->before.sample(exported->before.context, now, sample);
    count_requests(exported, now);
    print_page(exported, sample, &page);
    if (exported->file.stream)
        keep_page(exported, day + now, &page);
    if (exported->follower &&
        follower_read(exported->follower, day + now, (struct text){ page.data, page.size }, &followed, &error) &&
        isfinite(followed.wanted))
        exported->followed = followed;
    arena_free(&scratch);
}

/* ---- replicas ----------------------------------------------------------------------------------- */

static size_t as_watched(void *context, double now)
{
    const struct exported *exported = context;
    (void)now;
    return exported->followed.wanted > 0 ? (size_t)exported->followed.wanted : 1;
}

/* Number of arrivals before `time`, by halving. */
static size_t before(const struct trace *trace, double time)
{
    size_t low = 0, high = trace->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (trace->arrival[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t as_known(void *context, double now)
{
    const struct exported *exported = context;
    const struct trace *trace = &exported->outcome->trace;
    const struct sim_scaling *scaling = &exported->simulate->options.scaling;
    const double minute = 60, until = now + scaling->start_up + scaling->every;
    double most = 0;
    for (double at = now; at <= until; at += minute / 4)
        most = fmax(most, (double)(before(trace, at + minute) - before(trace, at)) / minute);
    return (size_t)fmax(1, ceil(most / (exported->followed.rate_of_one * exported->followed.share)));
}

/* ---- options ------------------------------------------------------------------------------------ */

/* The options of the simulation that `watch` has too; what --set and --calibration make of the server is its
 * secret, unless `all` is to be known. */
static struct command *watch_command(const struct simulate *simulate, bool all)
{
    static const char *const limits[] = { "ttft", "tpot", "start-up", "max-batched-tokens", "chunked-prefill-size", "max-seqs" };
    struct arena *arena = simulate->arena;
    struct command *own = arena_alloc(arena, sizeof *own);
    *own = (struct command){ .verb = &verb_watch, .verbs = simulate->command->verbs,
                             .ranks = simulate->command->ranks };
    command_put_word(arena, own, "/metrics");
    for (size_t i = 0; i < simulate->command->value_count; i++) {
        const struct value *value = &simulate->command->values[i];
        const bool secret = !strcmp(value->option->name, "set") || !strcmp(value->option->name, "calibration");
        if (verb_option(&verb_watch, value->option->name) == value->option && (all || !secret))
            *(struct value *)arena_push(arena, &own->values, &own->value_count, &own->value_room,
                                        sizeof *value) = *value;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (command_given(simulate->command, limits[i]))
            command_set(arena, own, limits[i], command_text(simulate->command, limits[i]));
    if (!command_given(simulate->command, limits[2]))
        command_set_number(arena, own, limits[2], simulate->options.scaling.start_up);
    return own;
}

/* What a replica serves, by the constants of the simulated server: the page of a request of mean lengths. */
static bool know(struct exported *exported, struct error *error)
{
    const struct trace *trace = &exported->simulate->trace;
    struct arena *arena = exported->arena;
    struct buffer page = { .arena = arena };
    struct replica_counts counts = { .finished = { 1 } };
    double prompt = 0, output = 0;
    for (size_t i = 0; i < trace->count; i++) {
        prompt += trace->prompt[i];
        output += trace->output[i];
    }
    struct histogram *lengths[] = { &counts.histograms[HISTOGRAM_PROMPT], &counts.histograms[HISTOGRAM_GENERATION] };
    lengths[0]->sum = prompt / (double)trace->count;
    lengths[1]->sum = output / (double)trace->count;
    lengths[0]->count = lengths[1]->count = 1;
    const struct live_replica now = { .blocks = exported->simulate->options.server.blocks };
    counts_print(&page, arena_print(arena, "\"%s\"", exported->simulate->scenario.model),
                 &exported->simulate->options.server, &counts, &now, 1, 1);
    struct follower *follower = follower_open(arena, watch_command(exported->simulate, true));
    const bool good = follower_read(follower, 2, (struct text){ page.data, page.size }, &exported->followed, error);
    follower_close(follower);
    if (good && !(exported->followed.rate_of_one > 0)) {
        error_set(error, "--scale-by: no rate keeps the limits");
        return error_expected(error, "--ttft and --tpot that one replica can keep");
    }
    return good;
}

static bool fits(const struct simulate *simulate, struct error *error)
{
    static const char *const others[] = { "series", "trace", "training-rows", "plot", "report", "users", "concurrency", "sweep", "repeat",
                                          "find-saturation", "band", "prefill-replicas" };
    const struct command *command = simulate->command;
    const char *ours = command_given(command, "metrics") ? "metrics" : "scale-by";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (command_given(command, others[i])) {
            error_set(error, "--%s has no effect with --%s", others[i], ours);
            return error_suggest(error, "a run of its own, without --%s", ours);
        }
    if (command_given(command, "scale-by") && !simulate->options.scaling.most) {
        error_set(error, "--scale-by without --scale-to");
        return error_expected(error, "--scale-to N");
    }
    if (command_given(command, "scale-by") && (!simulate->predicted || !simulate->scenario.model)) {
        error_set(error, "--scale-by: the time of a step is given, and nothing is predicted");
        return error_expected(error, "--model and --on");
    }
    return true;
}

static bool attach(struct simulate *simulate, const struct simulated *outcome, struct sim_watch *watch,
                   struct error *error)
{
    const struct command *command = simulate->command;
    struct sim_scaling *scaling = &simulate->options.scaling;
    struct exported *exported = arena_alloc(simulate->arena, sizeof *exported);
    const int by = command_given(command, "scale-by") ? command_choice(command, "scale-by") : -1;
    if (by < 0 && !command_given(command, "metrics"))
        return true;
    if (!fits(simulate, error))
        return false;
    *exported = (struct exported){ .arena = simulate->arena, .simulate = simulate, .outcome = outcome, .before = *watch };
    exported->first = arena_array(simulate->arena, simulate->trace.count, sizeof *exported->first);
    exported->last = arena_array(simulate->arena, simulate->trace.count, sizeof *exported->last);
    const char *path = command_text(command, "metrics");
    if ((by == 1 && !know(exported, error)) || (path && !output_open(simulate->arena, "--metrics", path, &exported->file, error)))
        return false;
    if (by == 0)
        exported->follower = follower_open(simulate->arena, watch_command(simulate, false));
    if (by >= 0) {
        scaling->wanted = by ? as_known : as_watched;
        scaling->context = exported;
    }
    simulate->attached = exported;
    *watch = (struct sim_watch){ .context = exported, .ran = ran, .sample = sample, .left = left,
                                 .every = command_number(command, "metrics-every") };
    return true;
}

static bool detach(struct simulate *simulate, struct error *error)
{
    struct exported *exported = simulate->attached;
    return !exported || !exported->file.stream || output_close(&exported->file, error);
}

void live_attaches(void)
{
    simulate_attach = attach;
    simulate_detach = detach;
}
