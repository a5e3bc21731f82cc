/* The page of metrics (page.h): gauges alone, without colons, in the units that Prometheus asks for. What is not
 * known has no sample. */
#define _GNU_SOURCE
#include "meter/watch/page.h"

#include "base/clock.h"
#include "base/door.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct page {
    struct arena *arena, text;      /* of the program; of what is on the page */
    struct buffer known, whole;     /* what was found last; with the state of the server */
    pthread_mutex_t lock;
    struct door *door;
    pthread_t thread;
    atomic_bool ending;
};

/* ---- text ------------------------------------------------------------------------------------------ */

static void gauge(struct buffer *out, const char *name, const char *help, double value)
{
    static const char ours[] = "chalkline_watch_";
    if (!isfinite(value))
        return;
    buffer_print(out, "# HELP %s%s %s\n# TYPE %s%s gauge\n%s%s ", ours, name, help, ours, name, ours, name);
    buffer_number(out, value);
    buffer_print(out, "\n");
}

static void print_found(struct buffer *out, const struct watch *watch)
{
    const struct seen_quantity *seen = watch->load.seen;
    const double arrivals = watch->now.rate.value;
    gauge(out, "replicas", "Replicas whose metrics were read.", (double)watch->load.servers);
    gauge(out, "replicas_wanted", "Replicas that the arrivals of now need within the limits.",
          watch->now.replicas.value);
    gauge(out, "replicas_wanted_in_an_hour", "Replicas that the arrivals in an hour need, by their trend.",
          watch->ahead.replicas.value);
    gauge(out, "replicas_wanted_in_an_hour_high", "The same for the upper end of the trend's 80 % interval.",
          watch->ahead.replicas.high);
    gauge(out, "arrival_requests_per_second", "Arrivals, of the last minute.", arrivals);
    gauge(out, "arrival_in_an_hour_requests_per_second", "Arrivals in an hour, by their trend.",
          watch->ahead.rate.value);
    gauge(out, "saturation_requests_per_second", "Rate at which the replicas that are there saturate.",
          watch->saturation.value);
    gauge(out, "saturation_low_requests_per_second", "Lower end of its 80 % interval.", watch->saturation.low);
    gauge(out, "saturation_high_requests_per_second", "Upper end of its 80 % interval.", watch->saturation.high);
    gauge(out, "utilization_ratio", "Arrivals over the rate of saturation.", arrivals / watch->saturation.value);
    gauge(out, "running_requests", "Requests that run, mean of the last interval.", seen[LOAD_RUNNING].value);
    gauge(out, "waiting_requests", "Requests that wait.", seen[LOAD_WAITING].value);
    gauge(out, "prompt_tokens", "Mean tokens of a prompt.", seen[LOAD_PROMPT].value);
    gauge(out, "output_tokens", "Mean tokens of an answer.", seen[LOAD_OUTPUT].value);
}

static void print_state(struct buffer *out, bool up, double at)
{
    gauge(out, "up", "1 if the server answered when it was read last.", up);
    gauge(out, "reading_timestamp_seconds", "Unix time of that reading.", at);
}

void page_put(struct page *page, const struct watch *watch, double at)
{
    struct arena text = arena_beside(page->arena);
    struct buffer known = { .arena = &text }, whole = { .arena = &text };
    if (watch)
        print_found(&known, watch);
    else
        buffer_add(&known, page->known.data ? page->known.data : "", page->known.size);
    print_state(&whole, watch != NULL, at);
    buffer_add(&whole, known.data ? known.data : "", known.size);
    pthread_mutex_lock(&page->lock);
    struct arena old = page->text;
    page->text = text;
    page->known = known;
    page->whole = whole;
    page->known.arena = page->whole.arena = &page->text;
    pthread_mutex_unlock(&page->lock);
    arena_free(&old);
}

/* ---- the listener ------------------------------------------------------------------------------------ */

static const char page_type[] = "text/plain; version=0.0.4; charset=utf-8";

static int print(char *to, size_t room, int status, const char *what, const char *hint)
{
    (void)status;
    return snprintf(to, room, "%s; accepted: %s\n", what, hint);
}

static void on_head(struct exchange *exchange)
{
    if (!exchange->got) {
        exchange_add_header(exchange, "Allow", "GET, HEAD");
        exchange_refuse(exchange, 405, "the page can be read only", "GET");
    } else if (strcmp(exchange->path, "/health") && strcmp(exchange->path, "/metrics"))
        exchange_refuse(exchange, 404, "there is no such page", "/metrics, /health");
}

static void on_whole(struct exchange *exchange)
{
    struct page *page = door_context(exchange->door);
    struct text text = { "", 0 };
    pthread_mutex_lock(&page->lock);
    if (!strcmp(exchange->path, "/metrics") && page->whole.size)
        text = (struct text){ arena_copy(&exchange->arena, page->whole.data, page->whole.size), page->whole.size };
    pthread_mutex_unlock(&page->lock);
    exchange_add_header(exchange, "Cache-Control", "no-store");
    exchange_reply(exchange, 200, page_type, text);
}

static void *answer(void *context)
{
    static const double look = 0.25;                    /* s until the end is noticed */
    struct page *page = context;
    while (!atomic_load(&page->ending))
        door_turn(page->door, clock_seconds(CLOCK_MONOTONIC) + look);
    return NULL;
}

bool page_open(struct arena *arena, const struct command *command, struct page **opened,
               void (*ready)(const char *url), struct error *error)
{
    static const struct door_calls calls = { sizeof(struct exchange), on_head, on_whole, NULL, NULL, NULL, print, page_type };
    struct page *page = arena_alloc(arena, sizeof *page);
    struct access access;
    if (!access_read(arena, command, &access, error))
        return false;
    const struct door_terms terms = {
        .address = access.address, .token = access.token, .insecure = access.insecure, .option = "--listen", .body = 1 << 16, .patience = 30,
        .port = (unsigned)command_count(command, "listen") };
    page->arena = arena;
    if (!door_open(arena, &terms, &calls, page, &page->door, error))
        return false;
    pthread_mutex_init(&page->lock, NULL);
    page_put(page, NULL, NAN);
    if (pthread_create(&page->thread, NULL, answer, page)) {
        door_close(page->door);
        arena_free(&page->text);
        return error_set(error, "no thread could be started for --listen");
    }
    *opened = page;
    ready(arena_print(arena, "%smetrics", door_url(page->door)));
    return true;
}

void page_close(struct page *page)
{
    atomic_store(&page->ending, true);
    pthread_join(page->thread, NULL);
    door_close(page->door);
    pthread_mutex_destroy(&page->lock);
    arena_free(&page->text);
}
