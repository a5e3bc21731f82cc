/* measure: traffic is sent to an endpoint, and each request becomes a line of a file and a part of the
 * answer.
 *
 * First one request finds out how the endpoint wants to be asked (token ids, a text, a chat; exact lengths
 * or not) and how many bytes of text are a token there. Then the loads, each for its part of what is left of
 * the budget: closed loops, or an open one where requests arrive at random at a rate. A line is
 * written when its request is over, so that neither Ctrl-C nor an endpoint that fails loses what was
 * measured. Where a machine is given, a calibration of what was measured follows. */
#include "meter/measure/fetch.h"
#include "meter/measure/machine.h"
#include "meter/measure/points.h"
#include "meter/measure/then_calibrate.h"

#include "base/clock.h"
#include "base/output.h"
#include "build/row_names.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOADS_MOST = 64, FAILURES_MOST = 10, CLIENTS_MOST = 4000, ROUNDS = 10 };

struct measure {
    struct arena *arena;
    const struct command *command;
    struct client *client;
    const char *model;
    struct endpoint_way way;
    struct output_log log;          /* of the requests */
    double budget, began, tokens_most;      /* s; the clock when the loads began; 0: no limit */
    uint64_t seed;                  /* of prompts, of their lengths and of arrivals */
    double variation;               /* of lengths: standard deviation over mean */
    struct random lengths;
    double spent;                   /* tokens, of prompts and answers */
    double planned;                 /* tokens of the requests in flight, as asked */
    double length_most;             /* of a request, tokens; 0: not known */
    struct load_point points[LOADS_MOST];
    size_t point_count;
    uint64_t answered;              /* whole answers */
    const char *stopped;            /* why nothing more is sent; NULL: it goes on */
    bool lost;                      /* a line could not be written, for this reason */
    struct error unwritten;
    const char *message;            /* the latest error */
    const char *probe;              /* the latest error of a request outside the loads, which only tests the endpoint */
    size_t failed;                  /* requests of the loads that failed */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* ---- the file --------------------------------------------------------------------------------- */

static void add_time(struct buffer *out, const char *key, double time)
{
    buffer_print(out, ", \"%s\": ", key);
    if (time >= 0)
        buffer_print(out, "%.6f", time);
    else
        buffer_print(out, "null");
}

static void add_string(struct buffer *out, const char *key, const char *value)
{
    buffer_print(out, ", \"%s\": ", key);
    if (value) {
        struct doc *doc = doc_new(out->arena, DOC_STRING);
        doc->string = value;
        doc_print(out, doc);
        while (out->size && out->data[out->size - 1] == '\n')
            out->data[--out->size] = 0;
    } else {
        buffer_print(out, "null");
    }
}

static void write_line(struct measure *measure, const struct sent_request *request)
{
    struct arena arena = { 0 };
    struct buffer line = { .arena = &arena };
    if (measure->log.file < 0)
        return;
    buffer_print(&line, "{\"sent\": %.6f", request->sent);
    add_time(&line, "first", request->first);
    add_time(&line, "last", request->last);
    buffer_print(&line, ", \"prompt_tokens\": %u, \"output_tokens\": %u, \"cached_tokens\": %u, \"chunk_times\": [",
                 request->prompt_tokens, request->output_tokens, request->cached_tokens);
    for (size_t i = 0; i < request->chunk_count; i++)
        buffer_print(&line, i ? ", %.6f" : "%.6f", request->chunk_times[i]);
    buffer_print(&line, "], \"status\": %d", request->status);
    add_string(&line, "error", request->error);
    add_string(&line, "model", measure->model);
    const bool aside = !request->concurrency && !(request->rate > 0);
    buffer_print(&line, ", \"point\": %zu", request->point);
    if (request->rate > 0)
        buffer_print(&line, ", \"rate\": %.17g", request->rate);
    else
        buffer_print(&line, ", \"concurrency\": %zu", request->concurrency);
    buffer_print(&line, ", \"warm_up\": %s, \"client_overhead\": %.6f}\n", request->warm_up || aside ? "true" : "false",
                 request->overhead);
    if (!measure->lost)
        measure->lost = !log_add(&measure->log, line.data, line.size, &measure->unwritten);
    if (measure->lost && !measure->stopped)
        measure->stopped = "the requests cannot be written";
    arena_free(&arena);
}

/* ---- one request after the other -------------------------------------------------------------- */

static bool goes_on(struct measure *measure)
{
    if (interrupted && !measure->stopped)
        measure->stopped = "interrupted";
    if (measure->tokens_most && measure->spent + measure->planned >= measure->tokens_most && !measure->stopped)
        measure->stopped = arena_print(measure->arena, "--tokens %.0f are spent", measure->tokens_most);
    return !measure->stopped;
}

/* `point` NULL: beside the loads. */
static struct sent_request *send_one(struct measure *measure, const struct load_point *point, uint32_t prompt, uint32_t output)
{
    struct sent_request *request = arena_alloc(measure->arena, sizeof *request);
    *request = (struct sent_request){ .prompt_asked = prompt, .output_asked = output };
    if (point) {
        request->point = (size_t)(point - measure->points) + 1;
        request->concurrency = point->concurrency;
        request->rate = point->rate;
    }
    measure->planned += (double)prompt + output;
    client_send(measure->client, request);
    return request;
}

static void take_request(struct measure *measure, const struct sent_request *request)
{
    measure->planned -= (double)request->prompt_asked + request->output_asked;
    measure->spent += (double)request->prompt_tokens * (request->status == 200) + request->output_tokens;
    measure->answered += !request->error;
    if (request->error && !request->point)
        measure->probe = request->error;
    else if (request->error)
        measure->message = request->error;
    measure->failed += request->error && request->point;
    write_line(measure, request);
}

/* Wait for a request; Ctrl-C breaks all off. */
static struct sent_request *next_one(struct measure *measure)
{
    struct sent_request *request = NULL;
    while (!request && client_in_flight(measure->client)) {
        if (interrupted)
            client_break_off(measure->client, "interrupted");
        request = client_wait(measure->client, 0.2);
    }
    if (!request)
        request = client_wait(measure->client, 0);
    if (request)
        take_request(measure, request);
    return request;
}

/* ---- how the endpoint wants to be asked ------------------------------------------------------- */

/* The first way that is answered; false: none is. A refusal of one way (status 4xx) says nothing of the
 * next; an endpoint that is not there, hangs or sends garbage is asked once. */
static bool find_way(struct measure *measure, uint32_t prompt, uint32_t output)
{
    static const struct endpoint_way ways[] = { { false, true, true }, { false, false, true }, { true, false, true },
                                       { false, false, false }, { true, false, false } };
    const double usual_bytes = 4;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && goes_on(measure); i++) {
        client_set(measure->client, measure->model, ways[i], usual_bytes);
        client_announce(measure->client, 1);
        send_one(measure, NULL, prompt, output);
        const struct sent_request *request = next_one(measure);
        if (!request->error) {
            const double bytes = request->usage && request->prompt_tokens && !ways[i].ids
                                 ? usual_bytes * prompt / request->prompt_tokens : usual_bytes;
            measure->way = ways[i];
            client_set(measure->client, measure->model, ways[i], bytes);
            return true;
        }
        if (request->status < 400 || request->status >= 500 || request->status == 401 || request->status == 403)
            return false;
    }
    return false;
}

/* ---- a load ----------------------------------------------------------------------------------- */

/* Answers of the first round have different lengths, so that the clients are out of step afterwards. */
static uint32_t first_length(uint32_t output, size_t client, size_t clients)
{
    const double length = ceil((double)output * (double)(client + 1) / (double)clients);
    return length < 2 ? (output < 2 ? output : 2) : (uint32_t)length;
}

/* A length about this one, evenly distributed. */
static uint32_t varied(struct measure *measure, uint32_t length)
{
    const double wide = sqrt(3) * measure->variation;
    if (!(wide > 0))
        return length;
    return (uint32_t)fmax(1, round(length * (1 + wide * (2 * random_uniform(&measure->lengths) - 1))));
}

static void add_request(struct measure *measure, struct load_point *point, uint32_t output, bool warm_up)
{
    struct sent_request *request = send_one(measure, point, varied(measure, point->prompt_asked), varied(measure, output));
    request->warm_up = warm_up;
    *(struct sent_request **)arena_push(measure->arena, &point->requests, &point->count, &point->room,
                                sizeof request) = request;
}

/* One more of too many failures in a row ends everything. */
static void count_failures(struct measure *measure, const struct sent_request *request, size_t *failures)
{
    *failures = request->error ? *failures + 1 : 0;
    if (*failures >= FAILURES_MOST && !measure->stopped)
        measure->stopped = arena_print(measure->arena, "%d requests failed one after the other: %s",
                                       FAILURES_MOST, request->error);
}

static void show_progress(const struct measure *measure)
{
    if (measure->command->progress)
        measure->command->progress(fmin((client_now(measure->client) - measure->began) / measure->budget, 0.99));
}

/* Requests of an open loop, at the times of a Poisson process. The first fifth of the time does not count: the
 * queue has to fill. */
static void run_open_loop(struct measure *measure, struct load_point *point, double seconds)
{
    const double began = client_now(measure->client), warm = seconds / 5;
    struct random random;
    size_t failures = 0;
    random_stream(&random, measure->seed, "arrivals", point - measure->points);
    for (double at = began + random_exponential(&random) / point->rate; at < began + seconds && goes_on(measure);) {
        const double left = at - client_now(measure->client);
        struct sent_request *request = client_wait(measure->client, fmin(fmax(left, 0), 0.2));
        if (request) {
            take_request(measure, request);
            count_failures(measure, request, &failures);
        } else if (left <= 0) {
            if (client_in_flight(measure->client) >= CLIENTS_MOST) {
                measure->stopped = arena_print(measure->arena, "%d requests are in flight: the endpoint does not keep "
                                               "up with %g requests/s", CLIENTS_MOST, point->rate);
                break;
            }
            add_request(measure, point, point->output_asked, at < began + warm);
            at += random_exponential(&random) / point->rate;
        } else if (!client_in_flight(measure->client)) {
            const double nap = fmin(left, 0.2);
            nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * nap) }, NULL);
        }
        show_progress(measure);
    }
    while (next_one(measure))
        show_progress(measure);
    point_count(measure->arena, point);
}

static void run_point(struct measure *measure, struct load_point *point, double seconds)
{
    const size_t clients = point->concurrency, most = (ROUNDS + 1) * (clients > 1 ? clients : 2);
    const double until = client_now(measure->client) + seconds;
    size_t failures = 0;
    bool open = true;
    client_announce(measure->client, clients);
    for (size_t i = 0; i < clients && goes_on(measure); i++)
        add_request(measure, point, first_length(point->output_asked, i, clients), true);
    if (client_in_flight(measure->client) < clients)
        client_announce(measure->client, client_in_flight(measure->client));
    for (struct sent_request *request; (request = next_one(measure));) {
        count_failures(measure, request, &failures);
        open = open && goes_on(measure) && point->count < most && client_now(measure->client) < until;
        request->drained = !open;
        if (open)
            add_request(measure, point, point->output_asked, false);
        else if (client_in_flight(measure->client))
            client_announce(measure->client, client_in_flight(measure->client));
        show_progress(measure);
    }
    point_count(measure->arena, point);
}

/* ---- which loads ------------------------------------------------------------------------------ */

static void add_point(struct measure *measure, size_t concurrency, double rate, double prompt, double output)
{
    measure->points[measure->point_count++] =
        (struct load_point){ .concurrency = concurrency, .rate = rate, .prompt_asked = (uint32_t)prompt,
                        .output_asked = (uint32_t)output };
}

/* Requests as long as the endpoint takes them, where it says so. */
static void shorten(struct measure *measure)
{
    const double most = measure->length_most;
    for (size_t i = 0; i < measure->point_count && most > 0; i++) {
        struct load_point *point = &measure->points[i];
        const double longest = 1 + sqrt(3) * measure->variation;
        if (longest * ((double)point->prompt_asked + point->output_asked) <= most)
            continue;
        point->output_asked = (uint32_t)fmax(1, fmin(point->output_asked, floor(most / longest / 4)));
        point->prompt_asked = (uint32_t)fmax(1, floor(most / longest) - point->output_asked);
    }
}

static bool bad_loads(const char *text, struct error *error)
{
    error_set(error, "--loads: invalid list '%.60s'", text);
    return error_expected(error, "at most %d whole numbers of 1 to 4,000: 1,4,16", LOADS_MOST);
}

/* The loads that were asked for; else two prompt lengths alone, for the prefill, and three loads. */
static bool plan_loads(struct measure *measure, struct error *error)
{
    const struct command *command = measure->command;
    const char *loads = command_text(command, "loads");
    const double rate = command_number(command, "rate");
    const double prompt = command_number(command, "isl"), output = command_number(command, "osl");
    if (rate > 0) {
        add_point(measure, 0, rate, prompt, output);
        if (!loads)
            return true;
        error_set(error, "--loads and --rate: a load is a closed loop or an open one");
        return error_expected(error, "one of them");
    }
    if (!loads) {
        static const size_t own[] = { 1, 4, 16, 64 };
        if (!command_given(command, "isl"))
            add_point(measure, 1, 0, 4 * prompt, fmax(1, floor(output / 2)));
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            add_point(measure, own[i], 0, prompt, output);
        return true;
    }
    for (const char *at = loads; *at;) {
        char *end;
        const unsigned long load = strtoul(at, &end, 10);
        if (end == at || *at < '0' || *at > '9' || load < 1 || load > CLIENTS_MOST || (*end && *end != ',') ||
            (*end == ',' && !end[1]) || measure->point_count == LOADS_MOST)
            return bad_loads(loads, error);
        add_point(measure, load, 0, prompt, output);
        at = *end ? end + 1 : end;
    }
    return measure->point_count || bad_loads(loads, error);
}

/* Time that a load should have, beside others: more clients have longer answers, in fewer rounds. */
static double weight_of(const struct load_point *point)
{
    return point->rate > 0 ? 1 : sqrt((double)point->concurrency);
}

static double weights_from(const struct measure *measure, size_t first)
{
    double sum = 0;
    for (size_t i = first; i < measure->point_count; i++)
        sum += weight_of(&measure->points[i]);
    return sum;
}

static void run_loads(struct measure *measure)
{
    measure->began = client_now(measure->client);
    for (size_t i = 0; i < measure->point_count; i++) {
        const double left = measure->began + measure->budget - client_now(measure->client);
        if (left <= 0 && !measure->stopped)
            measure->stopped = "the time budget is used up";
        if (!goes_on(measure)) {
            measure->point_count = i;
            return;
        }
        struct load_point *point = &measure->points[i];
        (point->rate > 0 ? run_open_loop : run_point)(measure, point, left * weight_of(point) / weights_from(measure, i));
    }
}

/* ---- the answer ------------------------------------------------------------------------------- */

static void add_quantiles(struct arena *arena, struct doc *doc, const char *key, const struct quantiles *q)
{
    struct doc *inside = doc_add(arena, doc, key, q->count ? DOC_OBJECT : DOC_NULL);
    if (!q->count)
        return;
    doc_add_number(arena, inside, "mean", q->mean);
    doc_add_number(arena, inside, "p50", q->p50);
    doc_add_number(arena, inside, "p90", q->p90);
    doc_add_number(arena, inside, "p99", q->p99);
}

/* Why no request succeeded; NULL: nothing was sent. */
static const char *failure_of(const struct measure *measure)
{
    return measure->message ? measure->message : measure->probe;
}

static void add_json(const struct measure *measure, const char *path, bool failed, struct doc *doc)
{
    struct arena *arena = measure->arena;
    struct doc *points = doc_add(arena, doc, "points", DOC_ARRAY);
    for (size_t i = 0; i < measure->point_count; i++) {
        const struct load_point *point = &measure->points[i];
        struct doc *one = doc_add(arena, points, NULL, DOC_OBJECT);
        const bool any = point->used > 0;
        doc_add_number(arena, one, NAME_concurrency, point->rate > 0 ? NAN : (double)point->concurrency);
        if (point->rate > 0)
            doc_add_number(arena, one, "rate", point->rate);
        doc_add_number(arena, one, NAME_prompt_tokens, any ? point->prompt_tokens : NAN);
        doc_add_number(arena, one, NAME_output_tokens, any ? point->output_tokens : NAN);
        doc_add_number(arena, one, "requests", (double)point->used);
        doc_add_number(arena, one, "failed", (double)point->failed);
        doc_add_number(arena, one, "left_out", (double)point->left_out);
        add_quantiles(arena, one, "ttft", &point->ttft);
        add_quantiles(arena, one, "tpot", &point->tpot);
        add_quantiles(arena, one, "itl", &point->itl);
        doc_add_number(arena, one, "throughput", any ? point->throughput : NAN);
        doc_add_number(arena, one, "client_overhead", any ? point->client_overhead : NAN);
    }
    doc_add_string(arena, doc, "written", path ? path : "");
    if (!path)
        doc->last->kind = DOC_NULL;
    doc_add_string(arena, doc, "model", measure->model ? measure->model : "");
    if (!measure->model)
        doc->last->kind = DOC_NULL;
    doc_add_string(arena, doc, "prompts", measure->way.ids ? "token ids" : measure->way.chat ? "chat" : "text");
    doc_add_bool(arena, doc, "exact_lengths", measure->way.exact);
    doc_add_bool(arena, doc, "virtual_clock", client_is_virtual(measure->client));
    doc_add_number(arena, doc, "vary", measure->variation);
    doc_add_number(arena, doc, "seed", (double)measure->seed);
    doc_add_number(arena, doc, "tokens_spent", measure->spent);
    doc_add_number(arena, doc, "client_busy", client_busy(measure->client));
    doc_add_string(arena, doc, "stopped", measure->stopped ? measure->stopped : "");
    if (!measure->stopped)
        doc->last->kind = DOC_NULL;
    struct doc *notes = doc_add(arena, doc, "notes", DOC_ARRAY);
    const char *proxy = fetch_proxy(arena, measure->command->words[0]);
    if (proxy)
        doc_add_string(arena, notes, NULL, proxy);
    if (failed && failure_of(measure))
        doc_add_string(arena, doc, "error", failure_of(measure));
    if (!failed && measure->probe)
        doc_add_string(arena, notes, NULL, arena_print(arena, "a request that only tested the endpoint failed; no figure includes it: %s",
                                                       measure->probe));
    if (!failed && measure->message && measure->failed)
        doc_add_string(arena, notes, NULL, arena_print(arena, "%zu requests failed, the last one: %s", measure->failed,
                                                       measure->message));
}

/* "12.3 ms", or "-" for what was not seen, in 10 columns; and without the unit in 7. */
static void add_milliseconds(struct buffer *out, const struct quantiles *q)
{
    if (q->count)
        buffer_print(out, "  %7.4g ms %7.4g", 1e3 * q->p50, 1e3 * q->p90);
    else
        buffer_print(out, "  %10s %7s", "-", "-");
}

static void add_line(const struct load_point *point, struct buffer *out)
{
    const char *load = arena_print(out->arena, point->rate > 0 ? "%.4g/s" : "%.0f",
                                   point->rate > 0 ? point->rate : (double)point->concurrency);
    if (point->used) {
        buffer_print(out, "  %7s  %7.0f %7.0f  %8zu", load, point->prompt_tokens, point->output_tokens, point->used);
        add_milliseconds(out, &point->ttft);
        add_milliseconds(out, &point->tpot);
        buffer_print(out, "  %10.4g\n", point->throughput);
    } else {
        buffer_print(out, "  %7s   no request succeeded\n", load);
    }
    if (point->failed)
        buffer_print(out, "           %zu requests failed\n", point->failed);
}

static void add_text(const struct measure *measure, const char *path, struct buffer *out)
{
    const bool open = measure->points[0].rate > 0;
    buffer_print(out, "  %s  prompt  answer  requests        TTFT   p90        TPOT   p90        tokens/s\n",
                 open ? "arrivals" : "clients ");
    for (size_t i = 0; i < measure->point_count; i++)
        add_line(&measure->points[i], out);
    buffer_print(out, "  TTFT and TPOT are medians; %s not count\n", open ? "the first fifth of the time does"
                 : "the first request of each client and those that ran out do");
    if (client_is_virtual(measure->client))
        buffer_print(out, "  times are read from the endpoint's virtual clock\n");
    else if (measure->point_count)
        buffer_print(out, "  left out of TTFT: %.3g ms of this program and of connecting; it was busy %.0f %% of the "
                     "time\n", 1e3 * measure->points[0].client_overhead, 100 * client_busy(measure->client));
    if (!measure->way.exact)
        buffer_print(out, "  the endpoint takes no ignore_eos: answers end where the model ends them\n");
    if (measure->stopped)
        buffer_print(out, "  stopped: %s\n", measure->stopped);
    if (path)
        buffer_print(out, "  written: %s, a line for each request\n", path);
}

/* ---- the command ------------------------------------------------------------------------------ */

/* What the endpoint is asked for: as it was said; else what --model is, if the endpoint has that. */
static const char *find_model(struct measure *measure)
{
    const struct command *command = measure->command;
    const char *served = command_text(command, "served-name"), *model = command_text(command, "model");
    const char *listed = client_model(measure->client, served ? served : model, &measure->length_most,
                                      &measure->probe);
    return served ? served : model && !command_given(command, "on") ? model : listed;
}

static void measure_endpoint(struct measure *measure, struct answer *answer, const char *path)
{
    enum { PROBE_PROMPT = 16, PROBE_OUTPUT = 4 };
    measure->model = find_model(measure);
    shorten(measure);
    if (measure->points[0].rate > 0 && client_is_virtual(measure->client))
        measure->message = "the clock of the endpoint is virtual: it waits for closed loops (--loads), not for --rate";
    else if (measure->model && find_way(measure, PROBE_PROMPT, PROBE_OUTPUT))
        run_loads(measure);
    else
        measure->point_count = 0;
    answer->status = measure->answered && measure->point_count ? 0 : 1;
    if (answer->status)
        buffer_print(&answer->text, "no request succeeded: %s\n",
                     failure_of(measure) ? failure_of(measure) : measure->stopped ? measure->stopped : "none was sent");
    add_json(measure, path, answer->status != 0, answer->doc);
    if (measure->point_count)
        add_text(measure, path, &answer->text);
    for (const struct doc *note = doc_get(answer->doc, "notes")->first; note; note = note->next)
        buffer_print(&answer->text, "  note: %s\n", note->string);
}

/* Equal lengths keep clients in step for ever, as no traffic does; those that were asked for stay as they are. */
static double variation_of(const struct command *command)
{
    const bool chosen = command_given(command, "isl") || command_given(command, "osl");
    return chosen && !command_given(command, "vary") ? 0 : command_number(command, "vary");
}

static uint64_t seed_of(const struct command *command)
{
    if (command_given(command, "seed"))
        return command_count(command, "seed");
    const double now = clock_seconds(CLOCK_REALTIME);
    return (uint64_t)(1e3 * now) % 1000000000;      /* short enough to be typed again */
}

static bool ask_endpoint(struct arena *arena, const struct command *command, struct answer *answer,
                         struct error *error)
{
    struct measure *measure = arena_alloc(arena, sizeof *measure);
    const char *key, *path = command_text(command, "output");
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND }, before;
    struct then_calibrate then;
    *measure = (struct measure){ .arena = arena, .command = command, .budget = command_number(command, "budget"),
                                 .tokens_most = (double)command_count(command, "tokens"),
                                 .log.file = -1, .seed = seed_of(command), .variation = variation_of(command) };
    random_stream(&measure->lengths, measure->seed, "lengths", 0);
    if (!plan_loads(measure, error) || !secret_read(arena, command, "key-file", "CHALKLINE_API_KEY", &key, error) ||
        !then_calibrate_open(arena, command, &then, error))
        return false;
    if (!client_open(arena, command->words[0], key, command_number(command, "timeout"), measure->budget + command_number(command, "timeout"), measure->seed,
                     &measure->client, error) || (then.file && !log_open(arena, "--output", then.file, &measure->log, error))) {
        client_close(measure->client);
        then_calibrate_close(&then);
        return false;
    }
    interrupted = 0;
    sigaction(SIGINT, &action, &before);
    measure_endpoint(measure, answer, path);
    sigaction(SIGINT, &before, NULL);
    client_close(measure->client);
    log_close(&measure->log);
    const bool good = !measure->lost;
    if (!good)
        *error = measure->unwritten;
    if (good && !answer->status)
        then_calibrate(&then, answer);
    then_calibrate_close(&then);
    return good;
}

bool ask_measure(struct arena *arena, const struct command *command, struct answer *answer,
                        struct error *error)
{
    if (command->word_count > 1) {
        error_set(error, "measure takes one URL, %zu were given", command->word_count);
        return error_expected(error, "chalkline measure http://127.0.0.1:8000");
    }
    return command->word_count ? ask_endpoint(arena, command, answer, error)
                               : ask_machine(arena, command, answer, error);
}
