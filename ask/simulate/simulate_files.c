/* The files of a simulation: one line per request, a time series, trace events for Perfetto, a
 * plot.
 *
 * The recorder watches the run through callbacks and writes as it goes, so that memory does not
 * grow with the run; only the series is kept until the end. "-" as a path means that the file is
 * the answer; at most one output may be the terminal, and none may overwrite the trace. Times of
 * requests that were never answered are empty cells. */
#include "ask/simulate/simulate.h"
#include "base/output.h"
#include "report/picture.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct moment {
    double time;
    struct sim_sample sample;
};

struct recorder {
    struct simulate *simulate;
    const char *events_path, *series_path, *requests_path, *rows_path;
    struct training_rows *rows;     /* NULL: none wanted */
    struct output events;           /* trace events, as they come; no stream: none wanted */
    bool written;                   /* one at least */
    double every;
    struct moment *moments;
    size_t count, room;
};

/* ---- trace events: https://ui.perfetto.dev opens them --------------------------------------- */

enum { SERVERS = 1, REQUESTS = 2 };     /* "processes" of the picture */

static double in_us(double seconds)
{
    return 1e6 * seconds;               /* the format's unit */
}

static void event(struct recorder *recorder, const char *format, ...)
{
    va_list arguments;
    fputs(recorder->written ? ",\n" : "[\n", recorder->events.stream);
    recorder->written = true;
    va_start(arguments, format);
    vfprintf(recorder->events.stream, format, arguments);
    va_end(arguments);
}

static void write_steps(void *context, size_t replica, double from, double seconds, uint64_t steps,
                        const struct sim_step *step)
{
    event(context, "{\"name\":\"%.0f decode%s%.0f prompt\",\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,"
          "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"steps\":%llu,\"decoding\":%.0f,\"prompt\":%.0f,"
          "\"cached\":%.0f}}", step->decoding, step->prompt > 0 ? " + " : ", ", step->prompt,
          SERVERS, replica, in_us(from), in_us(seconds), (unsigned long long)steps, step->decoding,
          step->prompt, step->decode_cached + step->prompt_cached);
}

static void write_span(struct recorder *recorder, const char *name, size_t id, double from, double to)
{
    event(recorder, "{\"name\":\"%s\",\"cat\":\"request\",\"ph\":\"b\",\"pid\":%d,\"id\":%zu,"
          "\"ts\":%.3f}", name, REQUESTS, id, in_us(from));
    event(recorder, "{\"name\":\"%s\",\"cat\":\"request\",\"ph\":\"e\",\"pid\":%d,\"id\":%zu,"
          "\"ts\":%.3f}", name, REQUESTS, id, in_us(to));
}

static bool close_events(struct recorder *recorder, const struct simulated *outcome,
                         struct error *error)
{
    const struct sim_result *result = &outcome->result;
    for (size_t i = 0; i < recorder->count; i++)
        event(recorder, "{\"name\":\"requests\",\"ph\":\"C\",\"pid\":%d,\"ts\":%.3f,\"args\":"
              "{\"waiting\":%zu,\"running\":%zu}}", SERVERS, in_us(recorder->moments[i].time),
              recorder->moments[i].sample.waiting, recorder->moments[i].sample.running);
    for (size_t i = 0; i < outcome->trace.count; i++) {
        if (!(result->completed[i] >= 0))
            continue;
        write_span(recorder, "request", i, result->arrival[i], result->completed[i]);
        write_span(recorder, "to first token", i, result->arrival[i], result->first_token[i]);
        write_span(recorder, "decode", i, result->first_token[i], result->completed[i]);
    }
    event(recorder, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":"
          "\"servers\"}}", SERVERS);
    event(recorder, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":"
          "\"requests\"}}", REQUESTS);
    fputs("\n]\n", recorder->events.stream);
    return output_close(&recorder->events, error);
}

/* ---- requests and series -------------------------------------------------------------------- */

/* A line for each request; cells of times that never came are empty. "-": they are the answer. */
static bool write_requests(const struct recorder *recorder, const struct simulated *outcome,
                           struct answer *answer, struct error *error)
{
    const char *path = recorder->requests_path;
    const struct trace *trace = &outcome->trace;
    const struct sim_result *result = &outcome->result;
    const bool shown = !strcmp(path, "-");
    char *text = NULL;
    size_t size = 0;
    struct output output = { .stream = shown ? open_memstream(&text, &size) : NULL };
    if (shown ? !output.stream : !output_open(recorder->simulate->arena, "--requests", path, &output, error))
        return shown ? error_set(error, "--requests: %s", strerror(errno)) : false;
    FILE *file = output.stream;
    fprintf(file, "id,arrival,prompt,decode,first_token_at,completed_at,restarts\n");
    for (size_t i = 0; i < trace->count; i++) {
        char first[40] = "", last[40] = "";
        if (result->first_token[i] >= 0)
            snprintf(first, sizeof first, "%.9f", result->first_token[i]);
        if (result->completed[i] >= 0)
            snprintf(last, sizeof last, "%.9f", result->completed[i]);
        fprintf(file, "%zu,%.9f,%u,%u,%s,%s,%u\n", i, result->arrival[i], trace->prompt[i],
                trace->output[i], first, last, result->restarts[i]);
    }
    if (!shown)
        return output_close(&output, error);
    fclose(file);
    buffer_add(&answer->text, text, size);
    free(text);
    return true;
}

static bool write_series(const struct recorder *recorder, struct error *error)
{
    struct output output;
    if (!output_open(recorder->simulate->arena, "--series", recorder->series_path, &output, error))
        return false;
    FILE *file = output.stream;
    fprintf(file, "time,waiting,running,servers,blocks_used,answered,output_tokens\n");
    for (size_t i = 0; i < recorder->count; i++) {
        const struct sim_sample *sample = &recorder->moments[i].sample;
        fprintf(file, "%.9f,%zu,%zu,%zu,%zu,%llu,%llu\n", recorder->moments[i].time,
                sample->waiting, sample->running, sample->replicas, sample->blocks_used,
                (unsigned long long)sample->done, (unsigned long long)sample->tokens);
    }
    return output_close(&output, error);
}

/* ---- the picture: the queue, and how times are distributed ------------------------------------ */

static void add_times(struct picture *panel, const struct simulated *outcome)
{
    enum { POINTS = 200 };
    static const struct { const char *name; enum picture_kind kind; } times[SIMULATE_TIMES] = {
        { "TTFT", PICTURE_COMPUTE }, { "TPOT", PICTURE_WEIGHTS }, { "E2E", PICTURE_RESULT } };
    panel->x = (struct picture_axis){ "time", "s", true, false, NAN, NAN };
    panel->y = (struct picture_axis){ "requests that took no longer", "%", false, false, 0, 100 };
    for (int i = 0; i < SIMULATE_TIMES; i++) {
        const struct sketch *sketch = &outcome->all.times[i];
        struct picture_line *line = picture_line_add(panel, times[i].name, times[i].kind, PICTURE_TERM);
        for (int k = 1; k < POINTS && sketch->count; k++) {
            const double share = (double)k / POINTS;
            picture_point_add(panel, line, fmax(sketch_quantile(sketch, share), 1e-6), 100 * share);
        }
        for (int k = 0; k < 2 && sketch->count && i != SIMULATE_E2E; k++) {
            const double at = fmax(sketch_quantile(sketch, k ? 0.99 : 0.5), 1e-6);
            picture_mark_add(panel, arena_print(panel->arena, "%s p%d %s", times[i].name, k ? 99 : 50,
                                                quantity_text(panel->arena, at, unit_second, 3)), at,
                             k ? 99 : 50);
        }
    }
}

static void add_queue(struct picture *panel, const struct recorder *recorder)
{
    panel->x = (struct picture_axis){ "time since the first request", "s", false, false, NAN, NAN };
    panel->y = (struct picture_axis){ "requests", "", false, false, NAN, NAN };
    for (int what = 0; what < 2; what++) {
        struct picture_line *line = picture_line_add(panel, what ? "running" : "waiting",
                                                     what ? PICTURE_CACHE : PICTURE_HOST, PICTURE_TERM);
        for (size_t i = 0; i < recorder->count; i++) {
            const struct sim_sample *sample = &recorder->moments[i].sample;
            picture_point_add(panel, line, recorder->moments[i].time,
                              (double)(what ? sample->running : sample->waiting));
        }
    }
}

static struct picture *draw(const struct recorder *recorder, const struct simulated *outcome)
{
    struct picture *picture = picture_new(recorder->simulate->arena,
                                          "Requests in the servers, and their times");
    add_queue(picture_panel(picture, ""), recorder);
    add_times(picture_panel(picture, ""), outcome);
    return picture;
}

/* ---- while it runs -------------------------------------------------------------------------- */

static void keep_sample(void *context, double now, const struct sim_sample *sample)
{
    struct recorder *recorder = context;
    *(struct moment *)arena_push(recorder->simulate->arena, &recorder->moments, &recorder->count,
                                 &recorder->room, sizeof(struct moment)) =
        (struct moment){ now, *sample };
}

static void show_left(void *context, size_t requests)
{
    const struct simulate *simulate = ((const struct recorder *)context)->simulate;
    simulate->command->progress((double)requests / (double)simulate->trace.count);
}

static void keep_sent(void *context, uint32_t id, size_t replica, double now, const struct sim_sample *seen)
{
    const struct recorder *recorder = context;
    training_rows_sent(recorder->rows, id, replica, now, seen);
}

static bool write_rows(const struct recorder *recorder, const struct simulated *outcome, struct error *error)
{
    struct output output;
    if (!output_open(recorder->simulate->arena, "--training-rows", recorder->rows_path, &output, error))
        return false;
    training_rows_write(recorder->rows, outcome, (double)recorder->simulate->options.server.blocks, output.stream);
    return output_close(&output, error);
}

/* At most one output may be the terminal. */
static bool outputs_fit(const struct recorder *recorder, struct error *error)
{
    const struct command *command = recorder->simulate->command;
    static const char *const written[] = { "requests", "series", "trace", "training-rows" };
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *path = command_text(command, written[i]);
        if (path && !strcmp(path, "-") && (i || command_given(command, "json"))) {
            error_set(error, "--%s: '-' is %s", written[i], i ? "not a file" : "the terminal, which --json uses");
            return error_expected(error, "the name of another file");
        }
        /* Before the run, which may take long. */
        if (path && strcmp(path, "-") &&
            !output_may(recorder->simulate->arena, arena_print(recorder->simulate->arena, "--%s", written[i]), path, error))
            return false;
    }
    return true;
}

bool simulate_record(struct simulate *simulate, struct recorder **out, struct sim_watch *watch,
                     struct error *error)
{
    enum { LINES = 200, LINES_MOST = 1000000 };
    const struct command *command = simulate->command;
    struct recorder *recorder = *out = arena_alloc(simulate->arena, sizeof *recorder);
    const double span = trace_sums_of(&simulate->trace).last / simulate->scale;
    *recorder = (struct recorder){
        .simulate = simulate, .every = simulate->options.users ? 1 : fmax(span, 1) / LINES,
        .events_path = command_text(command, "trace"),
        .series_path = command_text(command, "series"),
        .requests_path = command_text(command, "requests"), .rows_path = command_text(command, "training-rows") };
    command_take(command, "every", &recorder->every);
    if (span / recorder->every > LINES_MOST) {
        error_set(error, "--every: '%.60s' makes more than %d lines",
                  command_text(command, "every"), LINES_MOST);
        return error_expected(error, "1s");
    }
    if (!outputs_fit(recorder, error))
        return false;
    watch->context = recorder;
    watch->every = recorder->every;
    if (recorder->series_path || command_draws(command) || recorder->events_path)
        watch->sample = keep_sample;
    if (command->progress)
        watch->left = show_left;
    if (recorder->rows_path) {
        if (simulate->options.split.replicas) {
            error_set(error, "--training-rows: prompts have replicas of their own here");
            return error_expected(error, "replicas that do both, without --prefill-replicas");
        }
        recorder->rows = training_rows_open(simulate->arena, simulate->trace.count);
        watch->sent = keep_sent;
    }
    if (!recorder->events_path)
        return true;
    watch->ran = write_steps;
    return output_open(simulate->arena, "--trace", recorder->events_path, &recorder->events, error);
}

void simulate_drop(struct recorder *recorder)
{
    if (recorder)
        output_drop(&recorder->events);
}

bool simulate_write(struct recorder *recorder, const struct simulated *outcome,
                    struct answer *answer, struct error *error)
{
    if (command_draws(recorder->simulate->command))
        answer->picture = draw(recorder, outcome);
    return (!recorder->events.stream || close_events(recorder, outcome, error)) &&
           (!recorder->series_path || write_series(recorder, error)) &&
           (!recorder->rows_path || write_rows(recorder, outcome, error)) &&
           (!recorder->requests_path ||
            write_requests(recorder, outcome, answer, error));
}
