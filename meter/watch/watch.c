/* watch: a server's /metrics, and what follows from them (parts.h).
 *
 * Once, of one reading or two; or again and again (follow.c). */
#include "meter/watch/follow.h"
#include "meter/watch/source.h"
#include "meter/watch/watch.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -o FILE: as every verb takes it. */
static bool write_calibration(const struct watch *watch, struct error *error)
{
    const char *path = command_text(watch->command, "output");
    const struct watch_fitted *fitted = &watch->history->fitted;
    if (!path || fitted->refused || !watch->predicted)
        return true;
    return file_write(watch->arena, "-o", path, fitted->text, error);
}

/* The models that have a gauge of running requests on the page, each once; returns their number. */
static size_t list_models(struct watch *watch, const struct exposition *page, const char *names[], size_t most)
{
    const struct engine *engine = metrics_engine(watch->arena, page);
    size_t count = 0;
    for (size_t i = 0; engine && engine->running && i < page->count && count < most; i++) {
        const char *name = strcmp(page->samples[i].name, engine->running) ? NULL
                                                                          : sample_label(&page->samples[i], "model_name");
        if (name && !name_listed(names, count, name))
            names[count++] = name;
    }
    return count;
}

/* The samples of one model, and those without a model. */
static struct exposition of_model(struct arena *arena, const struct exposition *page, const char *model)
{
    struct exposition kept = { 0 };
    for (size_t i = 0; i < page->count; i++) {
        const char *name = sample_label(&page->samples[i], "model_name");
        if (!name || !strcmp(name, model))
            exposition_add(arena, &kept, &page->samples[i]);
    }
    return kept;
}

bool watch_read(struct watch *watch, const struct exposition *now, const struct exposition *since, double span,
                struct error *error)
{
    const struct exposition spelled = metrics_spelled(watch->arena, now);
    const struct exposition spelled_before = since ? metrics_spelled(watch->arena, since) : spelled;
    const char *names[20], *said = command_text(watch->command, "model"), *model = NULL;
    const size_t models = list_models(watch, &spelled, names, sizeof names / sizeof *names);
    struct exposition one = spelled, before = spelled_before;
    struct buffer list = { .arena = watch->arena };
    for (size_t i = 0; i < models && models > 1; i++) {
        if (said && !model && watch_same_model(watch->arena, said, names[i]))
            model = names[i];
        buffer_print(&list, "%s%.80s", i ? ", " : "", names[i]);
    }
    watch->mixed = models > 1 && !model ? list.data : NULL;
    if (model) {
        one = of_model(watch->arena, &spelled, model);
        before = of_model(watch->arena, &spelled_before, model);
    }
    if (!load_read(watch->arena, watch->source, &one, since ? &before : NULL, span, &watch->load, error))
        return false;
    watch_place(watch);
    return true;
}

bool watch_answer(struct watch *watch, const struct exposition *now, const struct exposition *since, double span,
                  struct answer *answer, struct error *error)
{
    watch->single = !since;
    if (!watch_read(watch, now, since, span, error))
        return false;
    load_assume_lengths(&watch->load, command_number(watch->command, "isl"), command_number(watch->command, "osl"));
    watch->no_point = "one scrape has no interval";
    if (since)
        watch->no_point = history_add(watch->history, &watch->load, watch->at);
    if (!watch_predict(watch, error) || !write_calibration(watch, error))
        return false;
    watch_json(watch, answer->doc);
    watch_text(watch, &answer->text);
    return true;
}

/* Since when a server that answers now has been there; NAN: it does not tell, or a file does. */
static double lifetime(const struct metrics_source *source, double at, const struct exposition *now)
{
    const double began = exposition_least(now, "process_start_time_seconds");
    return source->kind == SOURCE_URL ? at - began : NAN;
}

static bool answer_once(struct arena *arena, const struct command *command, struct metrics_source *source,
                        struct history *history, struct answer *answer, struct error *error)
{
    struct watch *watch = arena_alloc(arena, sizeof *watch);
    struct exposition now, earlier;
    struct scrape scrape;
    const char *since = command_text(command, "since");
    size_t bad;
    *watch = (struct watch){ .arena = arena, .command = command, .source = source->name, .history = history };
    if (!source_read(source, arena, &scrape, error) ||
        !exposition_read(arena, source->name, scrape.text, &now, &watch->bad_lines, error))
        return false;
    double span = command_number(command, "seconds");
    if (since) {
        struct text text;
        watch->at = span;
        if (!file_read(arena, since, SCRAPE_MOST, &text, error) ||
            !exposition_read(arena, since, text, &earlier, &bad, error))
            return false;
    }
    const bool good = watch_answer(watch, &now, since ? &earlier : NULL,
                                   since ? span : lifetime(source, scrape.at, &now), answer, error);
    return good;
}

/* What only readings that go on have (follow.c). */
static bool reads_once(const struct command *command, struct error *error)
{
    static const char *const more[] = { "record", "listen", "every" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (command_given(command, more[i])) {
            error_set(error, "--%s has no effect on one reading", more[i]);
            return error_expected(error, "chalkline watch URL without --once and --since, which reads again and again");
        }
    return access_unused(command, error);
}

bool ask_watch(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct metrics_source source;
    struct history *history = arena_alloc(arena, sizeof *history);
    if (command_given(command, "since") != command_given(command, "seconds")) {
        error_set(error, "--since and --seconds go together");
        return error_expected(error, "--since FILE.prom --seconds 600: an earlier scrape, and how long ago it was");
    }
    if (!reads_once(command, error) || !source_open(arena, command, &source, error))
        return false;
    history_open(history, arena, command_number(command, "window"));
    const bool good = source.kind == SOURCE_RECORDING || source.kind == SOURCE_PROMETHEUS
                      ? follow_once(arena, command, &source, history, answer, error)
                      : answer_once(arena, command, &source, history, answer, error);
    source_close(&source);
    history_close(history);
    return good;
}
