/* The answer to one reading: as a document, and as one screen of text. */
#include "meter/measure/fetch.h"
#include "meter/watch/parts.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* ---- figures ------------------------------------------------------------------------------------- */

static struct doc *add_figure(struct watch *watch, struct doc *in, const char *key, double value,
                              const char *unit, const char *source)
{
    struct doc *figure = doc_add(watch->arena, in, key, DOC_OBJECT);
    doc_add_number(watch->arena, figure, "value", value);
    doc_add_string(watch->arena, figure, "unit", unit);
    if (isfinite(value)) {
        doc_add_string(watch->arena, figure, "origin", "derived");
        doc_add_string(watch->arena, figure, "source", source);
    } else {
        doc_add_string(watch->arena, figure, "reason", source);
    }
    return figure;
}

static void add_interval(struct watch *watch, struct doc *in, const char *key, const struct interval_of *of,
                         const char *unit, const char *source)
{
    struct doc *figure = add_figure(watch, in, key, of->value, unit, source);
    if (!isfinite(of->value) || !isfinite(of->low) || !isfinite(of->high))
        return;
    doc_add_number(watch->arena, figure, "low", of->low);
    doc_add_number(watch->arena, figure, "high", of->high);
}

static void add_word(struct watch *watch, struct doc *in, const char *key, const char *word)
{
    if (word && *word)
        doc_add_string(watch->arena, in, key, word);
    else
        doc_add(watch->arena, in, key, DOC_NULL);
}

static const struct quantity_row {
    const char *key, *unit, *title;
    double scale;
    const char *shown;
} quantity_rows[LOAD_COUNT] = {
    [LOAD_ARRIVAL_RATE] = { NAME_arrival_rate, "1/s", "arrivals", 1, "requests/s" },
    [LOAD_PROMPT] = { NAME_prompt_tokens, "token", "prompt", 1, "tokens" },
    [LOAD_OUTPUT] = { NAME_output_tokens, "token", "answer", 1, "tokens" },
    [LOAD_RUNNING] = { NAME_rank_running, "1", "running", 1, "requests" },
    [LOAD_WAITING] = { "waiting", "1", "waiting", 1, "requests" },
    [LOAD_HIT_SHARE] = { NAME_prefix_hit_share, "1", "prefix hits", 100, "% of prompt tokens" },
    [LOAD_PREEMPTION_RATE] = { "preemption_rate", "1", "preemptions", 100, "% of requests" },
    [LOAD_ACCEPTANCE] = { NAME_acceptance_rate, "1", "acceptance", 100, "% of draft tokens" },
    [LOAD_TTFT] = { "ttft", "s", "TTFT", 1e3, "ms, mean" },
    [LOAD_ITL] = { "itl", "s", "ITL", 1e3, "ms, mean" },
    [LOAD_CACHE_USED] = { "cache_used", "1", "KV cache", 100, "% in use" },
};

/* By the counters: whoever waits while the cache has room waits for a slot. */
const char *watch_binding(const struct load *load)
{
    const double full = 0.95;
    const double waiting = load->seen[LOAD_WAITING].value, used = load->seen[LOAD_CACHE_USED].value;
    if (load->seen[LOAD_PREEMPTION_RATE].value > 0 || (waiting > 0 && used >= full))
        return "KV cache";
    if (isnan(waiting))
        return NULL;
    if (waiting >= 1 && isnan(used))
        return "slots or KV cache";
    return waiting >= 1 ? "slots" : "nothing";
}

/* From what the prediction is calibrated, or why it is not. */
static const char *calibrated_from(const struct watch *watch)
{
    const struct watch_fitted *fitted = &watch->history->fitted;
    if (!fitted->refused)
        return arena_print(watch->arena, "calibrated by %zu point%s of the server's own times", fitted->points,
                           fitted->points == 1 ? "" : "s");
    if (command_given(watch->command, "calibration"))
        return arena_print(watch->arena, "calibrated by %.200s", command_text(watch->command, "calibration"));
    return "not calibrated";
}

/* ---- what is unknown ----------------------------------------------------------------------------- */

static void add_unknown(struct watch *watch, const char *what)
{
    doc_add(watch->arena, watch->unknown, NULL, DOC_STRING)->string = what;
}

/* What bears on the figures above, and is known. */
static void add_note(struct watch *watch, const char *what)
{
    doc_add(watch->arena, watch->notes, NULL, DOC_STRING)->string = what;
}

static bool first_of_flag(const struct watch *watch, size_t change)
{
    for (size_t i = 0; i < change; i++)
        if (!strcmp(watch->changes[i].flag.name, watch->changes[change].flag.name))
            return false;
    return true;
}

/* A length that is stated holds against one that is counted, but not unseen: where they are a quarter apart or more.
 * Fewer may have been computed than prompts have, where an engine does not count what it finds in its cache. */
static void note_length(struct watch *watch, const char *option, double stated, double tokens, bool cached)
{
    const double apart = 1.25, counted = tokens / watch->load.requests;
    if (!(stated > 0) || !(counted > 0) || !isfinite(counted) || (counted < apart * stated && apart * counted > stated))
        return;
    add_note(watch, arena_print(watch->arena, "--%s says %.0f tokens, the metrics count %s a request%s%s", option, stated,
                                count_text(watch->arena, floor(counted + 0.5), 6), watch->load.requests_derived ? " (requests: output tokens over --osl)" : "",
                                cached && counted < stated ? "; what was found in the cache may not be among them" : ""));
}

static void list_notes(struct watch *watch)
{
    const struct load *load = &watch->load;
    const struct watch_fitted *fitted = &watch->history->fitted;
    const char *proxy = fetch_proxy(watch->arena, watch->source);
    if (proxy)
        add_note(watch, proxy);
    if (load->restarted)
        add_note(watch, load->engines > 1 ? "an engine has restarted between the scrapes: its counts are too low"
                        : "the server has restarted between the scrapes: these are sums since it started");
    if (load->left_out)
        add_note(watch, arena_print(watch->arena, "%zu engine%s left out of all figures: %s", load->left_out,
                                    load->left_out > 1 ? "s are" : " is", load->left_out_why));
    if (load->others)
        add_note(watch, arena_print(watch->arena, "the page has metrics of %s too, which are left out of all figures", load->others));
    if (load->in_flight_growth < -load->requests)
        add_note(watch, load->seen[LOAD_ARRIVAL_RATE].source);
    if (load->requests < 100)
        add_note(watch, "means of fewer than 100 finished requests are uncertain");
    note_length(watch, "isl", command_number(watch->command, "isl"), load->prompt_tokens, true);
    if (!load->requests_derived)
        note_length(watch, "osl", command_number(watch->command, "osl"), load->output_tokens, false);
    if (watch->bad_lines)
        add_note(watch, arena_print(watch->arena, "%zu lines could not be read", watch->bad_lines));
    if (watch->predicted && watch->no_point && !watch->single)
        add_note(watch, arena_print(watch->arena, "this interval is no point of the calibration: %s", watch->no_point));
    if (watch->predicted && fitted->left_out_why)
        add_note(watch, arena_print(watch->arena, "%zu point%s left out of the calibration: %s", fitted->left_out,
                                    fitted->left_out == 1 ? " is" : "s are",
                                    fitted->left_out_why));
    const char *path = command_text(watch->command, "output");
    if (path && (fitted->refused || !watch->predicted))
        add_note(watch, arena_print(watch->arena, "-o: there is no calibration yet to write to %.200s", path));
    else if (path)
        add_note(watch, arena_print(watch->arena, "the calibration has been written to %.200s", path));
    if (load->seen[LOAD_ARRIVAL_RATE].value > watch->saturation.high && load->seen[LOAD_WAITING].value <= 0)
        add_note(watch, "more has arrived than this prediction says can be served, and nobody waits: this is not the "
                        "server that --model, --on and the other options state");
    for (size_t i = 0; i < watch->change_count; i++)
        if (!watch->changes[i].stated && watch->changes[i].vary == VARY_DOUBLE && first_of_flag(watch, i))
            add_note(watch, arena_print(watch->arena, "%s of the server is assumed to be %.0f; to change it, --set %s=N",
                                        watch->changes[i].flag.name, watch->changes[i].from,
                                        watch->changes[i].flag.moves));
}

static void list_unknown(struct watch *watch)
{
    const struct watch_fitted *fitted = &watch->history->fitted;
    if (watch->single)
        add_unknown(watch, "rates of now: these are means since the server started, right only if its load was "
                           "steady, and no point of a calibration; --since FILE --seconds T compares two scrapes");
    if (watch->predicted && !fitted->refused && fitted->strange)
        add_unknown(watch, "whether this is the server that was stated: no factors explain its times");
    if (watch->mixed)
        add_unknown(watch, arena_print(watch->arena, "the load of each model: the figures are sums over %s", watch->mixed));
    if (*watch->load.role && strcmp(watch->load.role, "unified"))
        add_unknown(watch, arena_print(watch->arena, "what engines that do both would reach: the label engine_type says "
                                                     "%s, and the prediction is of engines for prefill and decode",
                                       watch->load.role));
    if (watch->other_model)
        add_unknown(watch, arena_print(watch->arena, "which model it is: its label says %s, --model another one",
                                       watch->load.model));
    add_unknown(watch, "the chip, the layout and the formats, which no metric tells: --on, --tp, --precision, "
                       "--kv-precision");
    add_unknown(watch, "requests that were refused, and the network between clients and server");
    if (watch->ahead.unknown)
        add_unknown(watch, arena_print(watch->arena, "the load in an hour: %s", watch->ahead.unknown));
}

/* ---- the document -------------------------------------------------------------------------------- */

static const char *flag_text(struct arena *arena, const struct change *change)
{
    return change->also ? arena_print(arena, "%s and %s", change->flag.name, change->also) : change->flag.name;
}

static void add_flags(struct watch *watch, struct doc *doc)
{
    struct doc *list = doc_add(watch->arena, doc, "flags", DOC_ARRAY);
    for (size_t i = 0; i < watch->change_count; i++) {
        const struct change *change = &watch->changes[i];
        struct doc *one = doc_add(watch->arena, list, NULL, DOC_OBJECT);
        const char *none = "the server would not keep up with its arrivals";
        const char *seen = isfinite(watch->load.seen[LOAD_ARRIVAL_RATE].value) ? "predicted at the arrivals seen"
                                                                               : "predicted at the assumed load";
        doc_add_string(watch->arena, one, "flag", flag_text(watch->arena, change));
        if (change->becomes) {
            doc_add_string(watch->arena, one, "from", change->was);
            doc_add_string(watch->arena, one, "to", change->becomes);
        } else {
            doc_add_number(watch->arena, one, "from", change->from);
            doc_add_number(watch->arena, one, "to", change->to);
        }
        doc_add_number(watch->arena, one, NAME_chips, change->chips);
        add_word(watch, one, "source", arena_print(watch->arena, "%s, %s", change->flag.source, change->flag.date));
        const struct interval_of most = interval_scaled(change->at[OUTLOOK_THROUGHPUT],
                                                        watch->load.replicas);
        const struct interval_of *tpot = &change->at[OUTLOOK_TPOT], *ttft = &change->at[OUTLOOK_TTFT];
        add_interval(watch, one, "throughput", &most, "token/s", "most output tokens a second, predicted");
        add_interval(watch, one, "tpot", tpot, "s", isfinite(tpot->value) ? seen : none);
        add_interval(watch, one, "ttft", ttft, "s", isfinite(ttft->value) ? seen : none);
    }
}

static void add_replicas(struct watch *watch, struct doc *doc)
{
    struct arena *arena = watch->arena;
    static const char trend[] = "least squares line through the rates seen, with the interval of one more";
    struct doc *replicas = doc_add(arena, doc, "replicas", DOC_OBJECT);
    doc_add_number(arena, replicas, "now", watch->now.replicas.value);
    doc_add_number(arena, replicas, "in_an_hour", watch->ahead.replicas.value);
    doc_add_number(arena, replicas, "in_an_hour_low", watch->ahead.replicas.low);
    doc_add_number(arena, replicas, "in_an_hour_high", watch->ahead.replicas.high);
    add_figure(watch, replicas, "rate_of_one", watch->replica_rate, "1/s",
               isfinite(watch->replica_rate) ? "the most that one serves within --ttft and --tpot"
               : watch->predicted ? "no rate keeps --ttft and --tpot" : watch->not_predicted);
    struct doc *arrivals = doc_add(arena, doc, "arrivals", DOC_OBJECT);
    add_interval(watch, arrivals, "now", &watch->now.rate, "1/s",
                 watch->now.unknown ? watch->now.unknown : "the last minute");
    add_interval(watch, arrivals, "in_an_hour", &watch->ahead.rate, "1/s",
                 watch->ahead.unknown ? watch->ahead.unknown : trend);
}

static void add_calibration(struct watch *watch, struct doc *doc)
{
    const struct watch_fitted *fitted = &watch->history->fitted;
    struct doc *one = doc_add(watch->arena, doc, "calibration", DOC_OBJECT);
    doc_add_number(watch->arena, one, "points", fitted->refused ? 0 : (double)fitted->points);
    doc_add_number(watch->arena, one, "intervals", (double)watch->history->fit.intervals);
    doc_add_number(watch->arena, one, "left_out", (double)fitted->left_out);
    doc_add_bool(watch->arena, one, "another_server", !fitted->refused && fitted->strange);
    add_word(watch, one, "reason", fitted->refused ? watch->no_point ? watch->no_point : fitted->refused : NULL);
}

void watch_json(struct watch *watch, struct doc *doc)
{
    struct arena *arena = watch->arena;
    const struct load *load = &watch->load;
    const char *from = watch->predicted ? arena_print(arena, "predicted for these lengths, %s", calibrated_from(watch))
                                        : watch->not_predicted;
    if (watch->dated)
        doc_add_number(arena, doc, "at", watch->at);
    doc_add_string(arena, doc, "engine", load->engine->name);
    add_word(watch, doc, "version", load->version);
    add_word(watch, doc, "model", load->model);
    add_word(watch, doc, "predicted_model", watch->model);
    add_word(watch, doc, "predicted_model_from", watch->model ? watch->model_from : NULL);
    doc_add_number(arena, doc, "span_s", load->span);
    doc_add_number(arena, doc, "requests", load->requests);
    doc_add_number(arena, doc, "servers", (double)load->servers);
    doc_add_number(arena, doc, "engines", (double)load->engines);
    add_word(watch, doc, "layout_applied", watch->applied);
    struct doc *seen = doc_add(arena, doc, "load", DOC_OBJECT);
    for (int i = 0; i < LOAD_COUNT; i++)
        add_figure(watch, seen, quantity_rows[i].key, load->seen[i].value, quantity_rows[i].unit,
                   load->seen[i].source);
    add_word(watch, doc, "binding", watch_binding(load));
    add_interval(watch, doc, "saturation_rate", &watch->saturation, "1/s", from);
    struct doc *predicted = doc_add(arena, doc, "predicted", DOC_OBJECT);
    add_interval(watch, predicted, "tpot", &watch->tpot, "s", from);
    add_interval(watch, predicted, "ttft", &watch->ttft, "s", from);
    add_calibration(watch, doc);
    add_flags(watch, doc);
    add_replicas(watch, doc);
    watch->notes = doc_add(arena, doc, "notes", DOC_ARRAY);
    list_notes(watch);
    watch->unknown = doc_add(arena, doc, "unknown", DOC_ARRAY);
    list_unknown(watch);
}

/* ---- the screen ---------------------------------------------------------------------------------- */

static const char *plain(const struct buffer *out, double number)
{
    return count_text(out->arena, number, 4);
}

static void print_head(const struct watch *watch, struct buffer *out)
{
    const struct load *load = &watch->load;
    buffer_print(out, "%s%s%s, ", load->engine->name, *load->model ? " serving " : "", load->model);
    if (load->servers > 1)
        buffer_print(out, "%zu servers%s", load->servers, load->engines > load->servers ? " with " : ", ");
    if (load->engines > load->servers)
        buffer_print(out, "%zu engines%s, ", load->engines, load->servers > 1 ? "" : " of one server");
    if (isfinite(load->span))
        buffer_print(out, "%s s, %s%.0f requests finished\n", plain(out, load->span), load->requests_derived ? "about " : "",
                     isfinite(load->requests) ? load->requests : 0);
    else
        buffer_print(out, "since its start\n");
}

static void print_range(struct buffer *out, const struct interval_of *of, double scale)
{
    if (isfinite(of->low) && isfinite(of->high))
        buffer_print(out, " (80 %% interval %s to %s)", plain(out, scale * of->low), plain(out, scale * of->high));
}

/* Are the arrivals known for which times are predicted? */
static bool loaded(const struct watch *watch)
{
    return watch->load.seen[LOAD_ARRIVAL_RATE].value > 0 || watch->now.rate.value > 0;
}

static void print_prediction(const struct watch *watch, struct buffer *out)
{
    if (!watch->predicted) {
        buffer_print(out, "  saturation: %s\n", watch->not_predicted);
        return;
    }
    buffer_print(out, "  %s, %s", watch->model, calibrated_from(watch));
    buffer_print(out, "%s%s\n", strcmp(watch->model_from, "--model") ? "; the model is that of " : "",
                 strcmp(watch->model_from, "--model") ? watch->model_from : "");
    if (watch->applied)
        buffer_print(out, "  layout: %s\n", watch->applied);
    buffer_print(out, "  saturates at %s requests/s of these lengths", plain(out, watch->saturation.value));
    print_range(out, &watch->saturation, 1);
    buffer_print(out, "\n");
    if (isfinite(watch->tpot.value) && isfinite(watch->ttft.value)) {
        buffer_print(out, "  TPOT %s %s ms", loaded(watch) ? "here" : "at a load that is assumed",
                     plain(out, 1e3 * watch->tpot.value));
        print_range(out, &watch->tpot, 1e3);
        buffer_print(out, ", TTFT %s ms", plain(out, 1e3 * watch->ttft.value));
        print_range(out, &watch->ttft, 1e3);
        buffer_print(out, "\n");
    }
}

static void print_replicas(const struct watch *watch, struct buffer *out)
{
    if (isfinite(watch->now.replicas.value))
        buffer_print(out, "  replicas wanted: %.0f for %s requests/s, each up to %s within TTFT %s s and TPOT %s ms\n",
                     watch->now.replicas.value, plain(out, watch->now.rate.value), plain(out, watch->replica_rate),
                     plain(out, watch->ttft_limit), plain(out, 1e3 * watch->tpot_limit));
    if (!isfinite(watch->ahead.rate.value))
        return;
    buffer_print(out, "  in an hour: %s requests/s", plain(out, watch->ahead.rate.value));
    print_range(out, &watch->ahead.rate, 1);
    if (isfinite(watch->ahead.replicas.value)) {
        buffer_print(out, ", replicas %.0f", watch->ahead.replicas.value);
        print_range(out, &watch->ahead.replicas, 1);
    }
    buffer_print(out, "\n");
}

static void print_ends(struct buffer *out, const struct interval_of *of, double scale)
{
    if (isfinite(of->low) && isfinite(of->high))
        buffer_print(out, " (%s to %s)", plain(out, scale * of->low), plain(out, scale * of->high));
}

/* To a thousandth; both unknown are the same. */
static bool same_figure(double a, double b)
{
    return isfinite(a) && isfinite(b) ? fabs(a - b) <= 1e-3 * fabs(b) : isfinite(a) == isfinite(b);
}

/* Neither of the figures that its line would have. */
static bool changes_nothing(const struct watch *watch, const struct change *change)
{
    const double most = change->at[OUTLOOK_THROUGHPUT].value * watch->load.replicas;
    return change->vary != VARY_TENSOR && same_figure(most, watch->throughput.value) &&
           same_figure(change->at[OUTLOOK_TPOT].value, watch->tpot.value);
}

static struct interval_of most_of(const struct watch *watch, const struct change *change)
{
    return interval_scaled(change->at[OUTLOOK_THROUGHPUT], watch->load.replicas);
}

static void print_flags(const struct watch *watch, struct buffer *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < watch->change_count; i++)
        shown += !changes_nothing(watch, &watch->changes[i]);
    if (watch->change_count)
        buffer_print(out, "  at most %s tokens/s (80 %% interval %s to %s)%s\n", plain(out, watch->throughput.value),
                     plain(out, watch->throughput.low), plain(out, watch->throughput.high),
                     shown ? "; with one flag changed:" : "; no one flag changes that");
    for (size_t i = 0; i < watch->change_count; i++) {
        const struct change *change = &watch->changes[i];
        const struct interval_of *tpot = &change->at[OUTLOOK_TPOT];
        const struct interval_of most = most_of(watch, change);
        if (changes_nothing(watch, change))
            continue;
        if (change->becomes)
            buffer_print(out, "    %s %s -> %s", flag_text(watch->arena, change), change->was, change->becomes);
        else
            buffer_print(out, "    %s %.6g -> %.6g", flag_text(watch->arena, change), change->from, change->to);
        if (change->vary == VARY_TENSOR)
            buffer_print(out, " (%.0f GPU%s%s)", change->chips, change->chips == 1 ? "" : "s", watch->of_server > 1 ? " an engine" : "");
        buffer_print(out, ": at most %s tokens/s", plain(out, most.value));
        print_ends(out, &most, 1);
        if (isfinite(tpot->value)) {
            buffer_print(out, ", TPOT %s ms", plain(out, 1e3 * tpot->value));
            print_ends(out, tpot, 1e3);
        } else {
            buffer_print(out, ", less than arrives");
        }
        buffer_print(out, "\n");
    }
}

void watch_text(const struct watch *watch, struct buffer *out)
{
    const char *binding = watch_binding(&watch->load);
    print_head(watch, out);
    for (int i = 0; i < LOAD_COUNT; i++)
        if (isfinite(watch->load.seen[i].value))
            buffer_print(out, "  %-12s %8s %s\n", quantity_rows[i].title,
                         plain(out, quantity_rows[i].scale * watch->load.seen[i].value), quantity_rows[i].shown);
    if (binding)
        buffer_print(out, "  what binds: %s\n", binding);
    print_prediction(watch, out);
    print_replicas(watch, out);
    print_flags(watch, out);
    for (const struct doc *one = watch->notes->first; one; one = one->next)
        buffer_print(out, "  note: %s\n", one->string);
    for (const struct doc *one = watch->unknown->first; one; one = one->next)
        buffer_print(out, "  unknown: %s\n", one->string);
}
