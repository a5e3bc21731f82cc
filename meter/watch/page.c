/* The page of metrics (page.h): gauges alone, without colons, in the units that Prometheus asks for. What is not
 * known has no sample. */
#define _GNU_SOURCE
#include "meter/watch/page.h"

#include "base/listen.h"

#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct page {
    struct arena *arena, text;      /* of the program; of what is on the page */
    struct buffer known, whole;     /* what was found last; with the state of the server */
    pthread_mutex_t lock;
    struct MHD_Daemon *daemon;
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

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *data, size_t size)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)data, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **place)
{
    struct page *page = context;
    static int seen;
    static const char where[] = "there are /metrics and /health\n";
    (void)version, (void)data;
    if (!*place || *size) {                             /* the whole request first */
        *place = &seen;
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
        return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, where, strlen(where));
    if (!strcmp(path, "/health"))
        return reply(connection, MHD_HTTP_OK, "", 0);
    if (strcmp(path, "/metrics"))
        return reply(connection, MHD_HTTP_NOT_FOUND, where, strlen(where));
    pthread_mutex_lock(&page->lock);
    const enum MHD_Result result = reply(connection, MHD_HTTP_OK, page->whole.data ? page->whole.data : "",
                                         page->whole.size);
    pthread_mutex_unlock(&page->lock);
    return result;
}

bool page_open(struct arena *arena, const struct command *command, struct page **opened,
               void (*ready)(const char *url), struct error *error)
{
    struct page *page = arena_alloc(arena, sizeof *page);
    const char *address = command_text(command, "bind");
    int listener;
    bool loopback;
    page->arena = arena;
    pthread_mutex_init(&page->lock, NULL);
    page_put(page, NULL, NAN);
    if (!listen_open(address ? address : "127.0.0.1", (unsigned)command_count(command, "listen"), "--listen",
                     &listener, error)) {
        arena_free(&page->text);
        return false;
    }
    const char *url = listen_url(arena, listener, &loopback);
    page->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, on_request, page,
                                    MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_TIMEOUT, 30u,
                                    MHD_OPTION_END);
    if (!page->daemon) {
        close(listener);
        arena_free(&page->text);
        return error_set(error, "libmicrohttpd does not start: %s", strerror(errno));
    }
    *opened = page;
    ready(arena_print(arena, "%smetrics", url));
    return true;
}

void page_close(struct page *page)
{
    MHD_stop_daemon(page->daemon);
    pthread_mutex_destroy(&page->lock);
    arena_free(&page->text);
}
