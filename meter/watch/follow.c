/* Readings again and again: each beside the one before it, so that every interval has rates, is a point of the
 * calibration, and a rate of the trend. A server that is away is waited for; its next reading counts from the
 * last one that there was. What is answered depends on the readings and their times alone, so that a recording
 * gives the same answers. */
#define _GNU_SOURCE
#include "meter/watch/follow.h"
#include "meter/watch/page.h"
#include "meter/watch/watch.h"
#include "scenario/values.h"

#include "base/output.h"
#include "build/row_names.h"
#include "meter/measure/fetch.h"
#include "report/fit.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct follower {
    struct arena *arena;
    const struct command *command;
    struct metrics_source *source;
    struct history *history;
    struct arena turns[2];          /* of the reading before, which `kept` is, and of this one */
    int kept;
    struct exposition before;
    double before_at;
    bool seen;                      /* there was a reading before */
    struct output_log record;       /* of what was read */
    bool recorded;                  /* one reading at least */
    struct page *page;              /* NULL: nobody is answered */
    bool brief;                     /* nobody reads the answers */
};

/* ---- a reading ------------------------------------------------------------------------------------- */

enum outcome { READ, AWAY, WRONG };

static struct arena *next_turn(struct follower *follower)
{
    struct arena *arena = &follower->turns[!follower->kept];
    arena_free(arena);
    *arena = arena_beside(follower->arena);
    return arena;
}

/* What the interval says without an answer: of times before the first reading. False: its values cannot be. */
static bool learn(struct follower *follower, struct watch *watch, const struct exposition *now, double at)
{
    struct load *load = &watch->load;
    struct error ignored;
    const bool earlier = follower->seen && at > follower->before_at;
    if (!watch_read(watch, now, earlier ? &follower->before : NULL, earlier ? at - follower->before_at : NAN, &ignored))
        return !load->impossible;
    if (earlier)
        history_add(follower->history, load, at);
    return true;
}

static enum outcome take_scrape(struct follower *follower, struct arena *arena, const struct scrape *scrape, bool answers,
                                struct answer *answer, struct watch **watched, struct error *error)
{
    struct watch *watch = arena_alloc(arena, sizeof *watch);
    struct exposition now;
    *watch = (struct watch){ .arena = arena, .command = follower->command, .source = follower->source->name,
                             .history = follower->history, .at = scrape->at, .dated = true,
                             .brief = follower->brief };
    *watched = watch;
    if (!exposition_read(arena, follower->source->name, scrape->text, &now, &watch->bad_lines, error))
        return follower->seen ? AWAY : WRONG;
    const bool earlier = follower->seen && scrape->at > follower->before_at;
    const double began = exposition_least(&now, "process_start_time_seconds");
    if (scrape->past || !answers) {
        if (!learn(follower, watch, &now, scrape->at))
            return AWAY;
    } else if (!watch_answer(watch, &now, earlier ? &follower->before : NULL,
                             earlier ? scrape->at - follower->before_at : scrape->at - began, answer, error))
        return follower->seen || watch->load.impossible ? AWAY : WRONG;
    follower->before = now;
    follower->before_at = scrape->at;
    follower->seen = true;
    follower->kept = arena == &follower->turns[1];
    return READ;
}

/* ---- what is shown ----------------------------------------------------------------------------------- */

static const char *when(struct arena *arena, double at)
{
    const time_t seconds = (time_t)floor(at);
    struct tm parts;
    char text[40];
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return arena_print(arena, "%s UTC", text);
}

/* A document on one line: its strings have no line ends. */
static void print_line(struct buffer *out, const struct doc *doc)
{
    struct buffer text = { .arena = out->arena };
    doc_print(&text, doc);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '\n') {
            buffer_add(out, &text.data[i], 1);
            continue;
        }
        while (i + 1 < text.size && text.data[i + 1] == ' ')
            i++;
    }
    buffer_print(out, "\n");
}

static void show(const struct follower *follower, struct arena *arena, double at, const char *away,
                 const struct answer *answer)
{
    struct buffer out = { .arena = arena };
    if (command_given(follower->command, "json")) {
        struct doc *doc = away ? doc_new(arena, DOC_OBJECT) : answer->doc;
        if (away) {
            doc_add_number(arena, doc, "at", at);
            doc_add_string(arena, doc, "away", away);
        }
        print_line(&out, doc);
    } else {
        if (isatty(STDOUT_FILENO))
            buffer_print(&out, "\033[H\033[2J");
        buffer_print(&out, "%s  ", when(arena, at));
        if (away)
            buffer_print(&out, "away: %s\n", away);
        else
            buffer_add(&out, answer->text.data, answer->text.size);
        buffer_print(&out, "\n");
        struct buffer fitted = { .arena = arena };
        text_fit(&fitted, (struct text){ out.data, out.size }, follower->command->columns);
        out = fitted;
    }
    fwrite(out.data, 1, out.size, stdout);
    fflush(stdout);
}

static bool keep_scrape(struct follower *follower, struct arena *arena, const struct scrape *scrape, struct error *error)
{
    struct buffer out = { .arena = arena };
    if (follower->record.file < 0)
        return true;
    source_record(&out, scrape);
    if (follower->recorded) {                               /* the head is there */
        const char *first = memchr(out.data, '\n', out.size);
        out.size -= (size_t)(first + 1 - out.data);
        out.data = (char *)first + 1;
    }
    return follower->recorded = log_add(&follower->record, out.data, out.size, error);
}

/* One turn. False: an error ends it all. */
static bool turn(struct follower *follower, const struct scrape *scrape, struct arena *arena, struct error *error)
{
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct watch *watch = NULL;
    const char *away = scrape->away;
    if (!keep_scrape(follower, arena, scrape, error))
        return false;
    if (!away) {
        const enum outcome outcome = take_scrape(follower, arena, scrape, true, &answer, &watch, error);
        if (outcome == WRONG)
            return false;
        if (outcome == AWAY)
            away = arena_print(arena, "%s%s%s", error->what, *error->hint ? "; expected: " : "", error->hint);
    }
    if (scrape->past)
        return true;
    show(follower, arena, scrape->at, away, &answer);
    if (ferror(stdout))
        return error_set(error, "the output could not be written");
    if (follower->page)
        page_put(follower->page, away ? NULL : watch, scrape->at);
    return true;
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

static void stop(int number)
{
    (void)number;
    fetch_stopped = 1;
}

static sigset_t ends(void)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    return both;
}

/* A signal that comes between the question whether one came and the wait is held until the wait. */
static void wait_until(const struct timespec *next)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double left = (double)(next->tv_sec - now.tv_sec) + 1e-9 * (double)(next->tv_nsec - now.tv_nsec);
    const sigset_t both = ends();
    sigset_t old;
    sigprocmask(SIG_BLOCK, &both, &old);
    if (left > 0 && !fetch_stopped)
        ppoll(NULL, 0, &(struct timespec){ (time_t)left, (long)(1e9 * (left - floor(left))) }, &old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void later(struct timespec *time, double seconds)
{
    const double nanoseconds = (double)time->tv_nsec + 1e9 * (seconds - floor(seconds));
    time->tv_sec += (time_t)floor(seconds) + (nanoseconds >= 1e9);
    time->tv_nsec = (long)(nanoseconds >= 1e9 ? nanoseconds - 1e9 : nanoseconds);
}

/* What a Prometheus server knows of the time before. */
static bool look_back(struct follower *follower, struct error *error)
{
    const double step = history_step(follower->history->window);
    struct arena scratch = arena_beside(follower->arena);
    struct scrape *scrapes;
    size_t count = 0;
    bool good = source_history(follower->source, &scratch, follower->history->window, step, &scrapes, &count, error);
    for (size_t i = 0; i < count && good; i++)
        good = turn(follower, &scrapes[i], next_turn(follower), error);
    arena_free(&scratch);
    return good;
}

static bool go_on(struct follower *follower, struct error *error)
{
    const bool waits = follower->source->kind != SOURCE_RECORDING;
    const double every = command_number(follower->command, "every");
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    if (follower->source->kind == SOURCE_PROMETHEUS && !look_back(follower, error))
        return false;
    while (!fetch_stopped) {
        struct arena *arena = next_turn(follower);
        struct scrape scrape;
        if (!source_next(follower->source, arena, &scrape, error))
            return !*error->what;
        if (fetch_stopped)
            break;
        if (!turn(follower, &scrape, arena, error))
            return false;
        later(&next, every);
        if (waits)
            wait_until(&next);
    }
    return true;
}

static bool run_follower(struct follower *follower, void (*ready)(const char *url), struct error *error)
{
    struct sigaction ending = { .sa_handler = stop }, before[2];
    const sigset_t both = ends();
    sigset_t old;
    const bool listens = command_given(follower->command, "listen");
    const char *path = command_text(follower->command, "record");
    if (!listens && !access_unused(follower->command, error))
        return false;
    if (path && !log_open(follower->arena, "--record", path, &follower->record, error))
        return false;
    sigprocmask(SIG_BLOCK, &both, &old);                /* the thread that answers takes no signals */
    bool good = !listens || page_open(follower->arena, follower->command, &follower->page, ready, error);
    sigaction(SIGINT, &ending, &before[0]);
    sigaction(SIGTERM, &ending, &before[1]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    good = good && go_on(follower, error);
    if (follower->page)
        page_close(follower->page);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    log_close(&follower->record);
    return good;
}

bool watch_follows(struct arena *arena, const struct command *command, bool *follows, struct error *error)
{
    struct stat there;
    struct text head;
    *follows = false;
    if (command->verb != &verb_watch || command_given(command, "once") || command_given(command, "since") ||
        command->word_count != 1)
        return true;
    const char *word = command->words[0];
    /* A pipe can be read only once, by ask_watch. */
    if (stat(word, &there) || !S_ISREG(there.st_mode)) {
        *follows = strstr(word, "://") != NULL;
        return true;
    }
    if (!file_head(arena, word, strlen(recording_head), &head, error))
        return false;
    *follows = text_starts_with(head, recording_head);
    return true;
}

bool watch_follow(struct arena *arena, const struct command *command, void (*ready)(const char *url),
                  struct error *error)
{
    struct metrics_source source;
    struct history *history = arena_alloc(arena, sizeof *history);
    struct follower follower = { .arena = arena, .command = command, .source = &source, .history = history,
                                 .record.file = -1 };
    if (!source_open(arena, command, &source, error))
        return false;
    history_open(history, arena, command_number(command, "window"));
    const bool good = run_follower(&follower, ready, error);
    for (int i = 0; i < 2; i++)
        arena_free(&follower.turns[i]);
    history_close(history);
    return good;
}

/* ---- by somebody else ---------------------------------------------------------------------------------- */

struct follower *follower_open(struct arena *arena, const struct command *command)
{
    struct follower *follower = arena_alloc(arena, sizeof *follower);
    *follower = (struct follower){ .arena = arena, .command = command, .brief = true, .record.file = -1,
                                   .source = arena_alloc(arena, sizeof *follower->source),
                                   .history = arena_alloc(arena, sizeof *follower->history) };
    follower->source->name = "/metrics";
    history_open(follower->history, arena, command_number(command, "window"));
    return follower;
}

bool follower_read(struct follower *follower, double at, struct text page, struct followed *followed,
                   struct error *error)
{
    struct arena *arena = next_turn(follower);
    const struct scrape scrape = { .at = at, .text = { arena_copy(arena, page.data, page.size), page.size } };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct watch *watch;
    if (take_scrape(follower, arena, &scrape, true, &answer, &watch, error) != READ)
        return false;
    *followed = (struct followed){ watch->now.replicas.value, watch->replica_rate,
                                   watch->predicted ? value_or_nan(&watch->scenario, NAME_wanted_share) : NAN,
                                   watch->saturation.value / watch->load.replicas * watch->of_server };
    return true;
}

void follower_close(struct follower *follower)
{
    for (int i = 0; i < 2; i++)
        arena_free(&follower->turns[i]);
    history_close(follower->history);
}

void follower_record(struct buffer *out, double at, struct text page)
{
    source_record(out, &(struct scrape){ .at = at, .text = page });
}

/* ---- once --------------------------------------------------------------------------------------------- */

/* Readings at their times, of which the last is answered. */
static bool last_of(struct follower *follower, const struct scrape *scrapes, size_t count, struct answer *answer,
                    struct error *error)
{
    struct watch *watch;
    for (size_t i = 0; i < count; i++) {
        struct scrape scrape = scrapes[i];
        struct arena *arena = i + 1 == count ? follower->arena : next_turn(follower);
        const bool last = i + 1 == count;
        scrape.past = false;
        const enum outcome outcome = scrape.away ? AWAY : take_scrape(follower, arena, &scrape, last, answer, &watch, error);
        if (outcome == WRONG || (last && outcome != READ))
            return false;
    }
    return true;
}

bool follow_once(struct arena *arena, const struct command *command, struct metrics_source *source, struct history *history,
                 struct answer *answer, struct error *error)
{
    struct follower follower = { .arena = arena, .command = command, .source = source, .history = history,
                                 .record.file = -1 };
    struct scrape *scrapes = NULL, scrape;
    const double step = history_step(history->window);
    size_t count = 0, room = 0, there = 0;
    bool good = true;
    if (source->kind == SOURCE_PROMETHEUS) {
        good = source_history(source, arena, history->window, step, &scrapes, &count, error);
    } else {
        while (source_next(source, arena, &scrape, error)) {
            *(struct scrape *)arena_push(arena, &scrapes, &count, &room, sizeof scrape) = scrape;
            if (!scrape.away)
                there = count;
        }
        count = there;
        good = !*error->what;
        if (good && !count) {
            error_set(error, "%.200s: no reading of a server", source->name);
            good = error_expected(error, "a file that `chalkline watch URL --record FILE` wrote");
        }
    }
    good = good && last_of(&follower, scrapes, count, answer, error);
    for (int i = 0; i < 2; i++)
        arena_free(&follower.turns[i]);
    return good;
}
