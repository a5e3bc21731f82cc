/* Findings of measurements: each point alone, then beside others of its server (explain.h). */
#include "score/explain.h"

#include "build/row_names.h"
#include "score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const revelation_words[REVELATIONS] = {
    [BUSY_SLOTS] = "busy_slots", [STREAMING_INTERVAL] = "streaming_interval",
    [LATE_FIRST_TOKEN] = "late_first_token", [CACHED_PROMPT] = "cached_prompt",
    [FASTER_THAN_MEMORY] = "faster_than_memory", [DOES_NOT_FIT] = "does_not_fit",
    [SAME_FIGURES] = "same_figures", [MEASURED_TWICE] = "measured_twice",
    [PAST_SATURATION] = "past_saturation", [START_UP] = "start_up", [INFERRED_INPUT] = "inferred_input",
    [ASSUMED_INPUT] = "assumed_input",
};

enum { EXPECTED, SPLIT_EXPECTED, OFFERED, CACHED, SPLIT_CACHED, WAIT, WAIT_MORE, TTFT_RATIO, NEEDED, GIVEN,
       LACKING, MEMORY_RATIO, EXPERTS, WAVES, ALONE };
static const char *const alone_rows[ALONE] = {
    [EXPECTED] = NAME_measured_running_expected, [SPLIT_EXPECTED] = NAME_measured_split_running_expected,
    [OFFERED] = NAME_measured_offered, [CACHED] = NAME_measured_cached_share,
    [SPLIT_CACHED] = NAME_measured_split_cached_share, [WAIT] = NAME_measured_wait_tokens,
    [WAIT_MORE] = NAME_measured_wait_more, [TTFT_RATIO] = NAME_measured_ttft_ratio,
    [NEEDED] = NAME_measured_memory_needed, [GIVEN] = NAME_memory_usable,
    [LACKING] = NAME_measured_memory_lacking, [MEMORY_RATIO] = NAME_measured_memory_ratio,
    [EXPERTS] = NAME_moe_layers, [WAVES] = NAME_closed_loop_synchronized,
};

enum { STREAM_WAIT, STARTUP, TTFT_MORE, OTHER_RATIO, TWIN_RATIO, BESIDE };
static const char *const beside_rows[BESIDE] = {
    [STREAM_WAIT] = NAME_measured_stream_wait, [STARTUP] = NAME_measured_startup,
    [TTFT_MORE] = NAME_measured_ttft_more, [OTHER_RATIO] = NAME_measured_other_ratio,
    [TWIN_RATIO] = NAME_measured_twin_ratio,
};

/* Tokens below which a wait says nothing: an engine's own steps to the first token and the noise of a mean
 * are that long. */
static const double few_tokens = 5;
/* More tokens than any engine is told to send together: the manuals have 10 to 50. */
static const double many_tokens = 64;
/* Answers longer by this factor belong to another load; shorter ones may be drawn around the same mean. */
static const double other_answers = 1.9;
/* A wait is the same under every load where it is within this factor of the median of most loads, and
 * at least this many loads show it. */
static const double same_wait = 1.4, most_loads = 0.75;
enum { LOADS = 3 };

struct explained_run {                        /* a point of a closed loop whose TTFT and TPOT were measured */
    struct explained *explained;
    const char *server;             /* equal text: the same but for load and answers */
    double load, answer;
    bool waits;                     /* for a slot or in waves, which hides what is looked for */
    const struct explained_run *other;        /* under the same load with other answers; NULL: none */
    double beside[BESIDE];          /* what both say */
};

struct explaining {
    struct arena *arena;
    struct physics physics;
    struct predictor alone, beside;
    const struct measured_list *list;
    struct explained *points;
    struct explained_run *runs;
    size_t run_count, run_room;
};

static void add(struct explaining *all, struct explained *explained, enum revelation what,
                double figure, double factor, const char *text)
{
    struct finding *finding = arena_push(all->arena, &explained->findings, &explained->count,
                                         &explained->room, sizeof *finding);
    *finding = (struct finding){ what, figure, text };
    explained->factor = factor > explained->factor ? factor : explained->factor;
}

static const char *quantity(struct explaining *all, double value, const char *unit)
{
    struct unit parsed = unit_one;
    struct error ignored;
    double scale;
    return unit_parse(text_of(unit), &parsed, &scale, &ignored)
               ? quantity_text(all->arena, value, parsed, 3) : "";
}

static double figure_of(const struct measured *point, enum metric metric)
{
    for (int i = 0; i < point->value_count; i++)
        if (point->values[i].metric == metric)
            return point->values[i].value;
    return 0;
}

/* ---- a point alone --------------------------------------------------------------------------- */

static void find_unfit(struct explaining *all, struct explained *explained, const double *rows)
{
    add(all, explained, DOES_NOT_FIT, rows[LACKING], rows[MEMORY_RATIO],
        arena_print(all->arena, "the server does not fit its memory: a GPU needs %s and has %s, %s too "
                                "little, so the layout or the precision is another one",
                    quantity(all, rows[NEEDED], "B"), quantity(all, rows[GIVEN], "B"),
                    quantity(all, rows[LACKING], "B")));
}

static void find_excess(struct explaining *all, struct explained *explained,
                        const struct revealed *revealed, const double *rows)
{
    const struct measured *point = explained->point;
    const bool split = measured_input(point, NAME_prefill_workers, 0) > 0;
    for (int i = 0; i < point->value_count; i++) {
        const double excess = revealed->excess[i];
        if (!(excess > 1))
            continue;
        if (point->values[i].metric == METRIC_TTFT)
            add(all, explained, CACHED_PROMPT, rows[split ? SPLIT_CACHED : CACHED], excess,
                arena_print(all->arena, "a prompt %.2f x faster than the peak: %.0f %% of it or more was "
                                        "cached", excess, 100 * rows[split ? SPLIT_CACHED : CACHED]));
        else
            add(all, explained, FASTER_THAN_MEMORY, excess, excess,
                arena_print(all->arena, "a %s %.2f x faster than memory and peak allow: %s%s",
                            point->model ? "token" : "kernel", excess,
                            point->model ? "at least as many tokens a step (accepted drafts), weights or "
                                           "cache in fewer bytes, or more GPUs"
                                         : "some of what it reads is in a cache of the chip",
                            rows[EXPERTS] > 0 ? ", or sequences that choose the same experts" : ""));
    }
}

/* Fewer sequences than were sent, and fewer than is usual where prompts are long. */
static bool find_slots(struct explaining *all, struct explained *explained,
                       const struct revealed *revealed, const double *rows)
{
    const bool split = measured_input(explained->point, NAME_prefill_workers, 0) > 0;
    const double share = revealed->running_share;
    const double expected = rows[split ? SPLIT_EXPECTED : EXPECTED];
    const char *where = split ? " in a worker" : "";
    if (!(share < physics_few) || (!revealed->limit && !(share < physics_few * expected)))
        return false;
    const char *ran = arena_print(all->arena, "%.4g of %.4g sequences ran%s (Little's law)",
                                  revealed->running, rows[OFFERED], where);
    add(all, explained, BUSY_SLOTS, revealed->running, 1 / share,
        revealed->limit
            ? arena_print(all->arena, "%s: a limit of %.0f", ran, revealed->limit)
            : arena_print(all->arena, "%s, %.0f %% of them where %.0f %% would: the others wait for a slot "
                                      "or for their prompts", ran, 100 * share, 100 * expected));
    return true;
}

/* Of this row alone: the base of a first token differs much between deployments, so only what is
 * beyond the interval of the prediction is told, and not as a streaming interval. */
static void find_late(struct explaining *all, struct explained *explained, const double *rows)
{
    const struct measured *point = explained->point;
    if (!(rows[TTFT_RATIO] > 1) || !(rows[WAIT_MORE] > few_tokens) ||
        measured_input(point, NAME_prefill_workers, 0) > 0 ||
        measured_input(point, NAME_arrival_rate, 0) > 0 ||
        measured_input(point, NAME_streaming_interval, 1) > 1)
        return;
    add(all, explained, LATE_FIRST_TOKEN, rows[WAIT_MORE], rows[TTFT_RATIO],
        arena_print(all->arena, "the first token comes %.3g tokens after the prompt's end, %.3g more than "
                                "predicted: %s", rows[WAIT], rows[WAIT_MORE],
                    rows[WAIT_MORE] < many_tokens
                        ? "some tokens are sent together (a streaming interval), or client and API take "
                          "longer here"
                        : "too many for a streaming interval, so requests wait"));
}

static void find_reasons(struct explaining *all, struct explained *explained)
{
    const struct measured *point = explained->point;
    const bool others = explained->count > 0;       /* an assumption matters where a figure is off */
    for (int i = 0; i < point->reason_count; i++) {
        const struct measured_reason *reason = &point->reasons[i];
        const bool guess = measured_guess(reason->reason);
        const char *colon = strchr(reason->reason, ':');
        if (guess || others)
            add(all, explained, guess ? INFERRED_INPUT : ASSUMED_INPUT, NAN, 1,
                arena_print(all->arena, "%s is %s: %s", reason->column, guess ? "inferred" : "assumed",
                            guess && colon ? colon + 1 + strspn(colon + 1, " ") : reason->reason));
    }
}

static bool of_server(const struct measured *point)
{
    for (int i = 0; i < point->value_count; i++)
        if (point->values[i].metric == METRIC_STEP)
            return false;
    return point->value_count > 0;
}

static void add_run(struct explaining *all, struct explained *explained, bool waits)
{
    static const char *const apart[] = { NAME_concurrency, NAME_output_tokens, NAME_measured_tpot,
                                         NAME_measured_ttft };
    const struct measured *point = explained->point;
    const char *const words[] = { point->file, point->model, point->machine, point->engine, point->version,
                                  point->precision, point->beside, point->kv };
    struct buffer server = { .arena = all->arena };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        buffer_print(&server, "%s|", words[i] ? words[i] : "");
    for (int i = 0; i < point->input_count; i++) {
        bool same = true;
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            same = same && strcmp(point->inputs[i].name, apart[k]);
        if (same)
            buffer_print(&server, "%s=%.17g,", point->inputs[i].name, point->inputs[i].value);
    }
    struct explained_run *run = arena_push(all->arena, &all->runs, &all->run_count,
                                 &all->run_room, sizeof *run);
    *run = (struct explained_run){ .explained = explained, .server = server.data, .waits = waits,
                         .load = measured_input(point, NAME_concurrency, 0),
                         .answer = measured_input(point, NAME_output_tokens, 0) };
}

static void explain_alone(struct explaining *all, struct explained *explained)
{
    const struct measured *point = explained->point;
    struct revealed revealed;
    double rows[ALONE] = { 0 };
    if (!of_server(point) || !physics_reveal(&all->physics, point, &revealed))
        return;
    if (point->model) {
        const struct setup *setup = predictor_find(&all->alone, point);
        struct arena scratch = arena_beside(all->arena);
        if (setup->refused)
            return;
        predictor_rows(&scratch, setup, point, rows);
        arena_free(&scratch);
    }
    explained->examined = true;
    if (!revealed.fits) {                           /* its times would be those of another server */
        find_unfit(all, explained, rows);
        return;
    }
    find_excess(all, explained, &revealed, rows);
    if (revealed.load > physics_overload)
        add(all, explained, PAST_SATURATION, revealed.load, revealed.load,
            arena_print(all->arena, "past saturation: %.2f x as many requests arrive as the server can "
                                    "finish, so its latency is that of a queue", revealed.load));
    if (isnan(revealed.running))
        return;
    const bool waits = find_slots(all, explained, &revealed, rows);
    if (!waits)
        find_late(all, explained, rows);
    if (measured_input(point, NAME_concurrency, 0) > 0)
        add_run(all, explained, waits || rows[WAVES] > 0);
}

/* ---- beside another point ---------------------------------------------------------------------- */

/* The rows of a point with the figures of another; NaN where they cannot be read. */
static void read_beside(struct explaining *all, const struct measured *point,
                        const struct measured *other, double values[BESIDE])
{
    struct measured both = *point;
    for (int i = 0; i < BESIDE; i++)
        values[i] = NAN;
    if (both.input_count + 2 > MEASURED_INPUTS)
        return;
    both.inputs[both.input_count++] = (struct measured_input){ NAME_measured_other_ttft,
                                                               figure_of(other, METRIC_TTFT) };
    both.inputs[both.input_count++] = (struct measured_input){ NAME_measured_other_tpot,
                                                               figure_of(other, METRIC_TPOT) };
    const struct setup *setup = predictor_find(&all->beside, &both);
    struct arena scratch = arena_beside(all->arena);
    if (!setup->refused)
        predictor_rows(&scratch, setup, &both, values);
    arena_free(&scratch);
}

static void explain_twin(struct explaining *all, struct explained *explained)
{
    const struct measured *point = explained->point, *twin = &all->list->points[point->twin_at];
    explained->examined = true;
    if (point->twin == TWIN_LAYOUT) {
        add(all, explained, SAME_FIGURES, NAN, 1,
            arena_print(all->arena, "line %d has the same figures under another layout", twin->line));
        return;
    }
    double rows[BESIDE];
    read_beside(all, point, twin, rows);
    const double ratio = rows[TWIN_RATIO];
    add(all, explained, MEASURED_TWICE, ratio, ratio,
        arena_print(all->arena, "line %d has the same server under the same load with %.2f x %s time between "
                                "tokens: one of both had an option that is not stated",
                    twin->line, ratio,
                    figure_of(point, METRIC_TPOT) > figure_of(twin, METRIC_TPOT) ? "less" : "more"));
}

static int by_server(const void *a, const void *b)
{
    const struct explained_run *x = a, *y = b;
    const int server = strcmp(x->server, y->server);
    if (server)
        return server;
    if (x->answer != y->answer)
        return x->answer < y->answer ? -1 : 1;
    if (x->load != y->load)
        return x->load < y->load ? -1 : 1;
    return (x->explained > y->explained) - (x->explained < y->explained);
}

/* The run of the same server and load whose answers differ the most, longer or shorter; of several
 * that which stands next to it in the file. */
static const struct explained_run *other_of(const struct explained_run *runs, size_t count, const struct explained_run *run,
                                            bool longer)
{
    const struct explained_run *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct explained_run *one = &runs[i];
        const double factor = longer ? one->answer / run->answer : run->answer / one->answer;
        if (one->load != run->load || one->waits || !(factor >= other_answers))
            continue;
        const bool further = best && fabs(one->answer - run->answer) > fabs(best->answer - run->answer);
        const bool nearer = best && one->answer == best->answer &&
                            labs(one->explained - run->explained) < labs(best->explained - run->explained);
        best = !best || further || nearer ? one : best;
    }
    return best;
}

static void pair_runs(struct explaining *all, struct explained_run *runs, size_t count, bool longer)
{
    for (size_t i = 0; i < count; i++) {
        runs[i].other = runs[i].waits ? NULL : other_of(runs, count, &runs[i], longer);
        if (runs[i].other)
            read_beside(all, runs[i].explained->point, runs[i].other->explained->point,
                        runs[i].beside);
    }
}

static bool near(const struct explained_run *run, int row, double median)
{
    return run->other && run->beside[row] < median * same_wait && run->beside[row] > median / same_wait;
}

/* The median of what runs of one length of answers show, if it is the same under most of several loads;
 * else NaN. */
static double same_under_loads(struct explaining *all, const struct explained_run *runs, size_t count, int row)
{
    double *sorted = arena_array(all->arena, count + 1, sizeof *sorted), last = -1;
    size_t pairs = 0, loads = 0, close = 0;
    for (size_t i = 0; i < count; i++)
        if (runs[i].other) {
            sorted[pairs++] = runs[i].beside[row];
            loads += runs[i].load != last;
            last = runs[i].load;
        }
    const double median = loads >= LOADS ? sizes_quantile(sorted, pairs, 0.5) : NAN;
    for (size_t i = 0; i < count; i++)
        close += near(&runs[i], row, median);
    return (double)close >= most_loads * (double)pairs ? median : NAN;
}

static void tell_streaming(struct explaining *all, const struct explained_run *run)
{
    struct explained *explained = run->explained;
    size_t kept = 0;
    for (size_t i = 0; i < explained->count; i++)       /* this is why */
        if (explained->findings[i].what != LATE_FIRST_TOKEN)
            explained->findings[kept++] = explained->findings[i];
    explained->count = kept;
    add(all, explained, STREAMING_INTERVAL, run->beside[STREAM_WAIT], run->beside[OTHER_RATIO],
        arena_print(all->arena, "the first token waits for %.3g others: it comes so much earlier with "
                                "answers of %.0f tokens than of %.0f, under every load (a streaming interval)",
                    run->beside[STREAM_WAIT], run->other->answer, run->answer));
}

static void tell_start(struct explaining *all, const struct explained_run *run)
{
    add(all, run->explained, START_UP, run->beside[STARTUP], run->beside[OTHER_RATIO],
        arena_print(all->arena, "first tokens come %s later than with answers of %.0f tokens, %s over all "
                                "requests, under every load: a start-up counted into the mean",
                    quantity(all, run->beside[TTFT_MORE], "s"), run->other->answer,
                    quantity(all, run->beside[STARTUP], "s")));
}

/* Runs of one server with answers of one length, at all loads. */
static void explain_loads(struct explaining *all, struct explained_run *runs, size_t count, bool longer)
{
    const int row = longer ? STREAM_WAIT : STARTUP;
    const double median = same_under_loads(all, runs, count, row);
    if (!(median > (longer ? few_tokens : 0)))
        return;
    for (size_t i = 0; i < count; i++)
        if (near(&runs[i], row, median))
            (longer ? tell_streaming : tell_start)(all, &runs[i]);
}

static void explain_server(struct explaining *all, struct explained_run *runs, size_t count)
{
    for (int longer = 0; longer < 2; longer++) {
        pair_runs(all, runs, count, longer);
        for (size_t from = 0, to; from < count; from = to) {
            for (to = from; to < count && runs[to].answer == runs[from].answer;)
                to++;
            explain_loads(all, &runs[from], to - from, longer);
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct explained *explain_points(struct arena *arena, const struct command *command,
                                 const struct measured_list *list)
{
    struct explaining explaining = {
        .arena = arena, .list = list,
        .alone = { .arena = arena, .command = command, .rows = alone_rows, .row_count = ALONE },
        .beside = { .arena = arena, .command = command, .rows = beside_rows, .row_count = BESIDE } };
    struct explained *points = arena_array(arena, list->count + 1, sizeof *points);
    physics_open(&explaining.physics, arena, command);
    for (size_t i = 0; i < list->count; i++) {
        const struct measured *point = &list->points[i];
        points[i] = (struct explained){ .point = point, .factor = 1 };
        if (point->twin == TWIN_LAYOUT || point->twin == TWIN_APART)
            explain_twin(&explaining, &points[i]);
        else if (!point->refused)
            explain_alone(&explaining, &points[i]);
    }
    struct explained_run *runs = explaining.runs;
    if (explaining.run_count)
        qsort(runs, explaining.run_count, sizeof *runs, by_server);
    for (size_t from = 0, to; from < explaining.run_count; from = to) {
        for (to = from; to < explaining.run_count && !strcmp(runs[to].server, runs[from].server);)
            to++;
        explain_server(&explaining, &runs[from], to - from);
    }
    for (size_t i = 0; i < list->count; i++)
        if (points[i].examined)
            find_reasons(&explaining, &points[i]);
    return points;
}
