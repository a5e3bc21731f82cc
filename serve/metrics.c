/* What was asked and how it ended, as Prometheus reads it. */
#include "serve/http_server.h"

#include <stdio.h>
#include <unistd.h>

static const double bin_ends[METRICS_BINS] = { 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10 };

void metrics_count(struct metrics *metrics, size_t route, enum outcome outcome, double seconds)
{
    size_t bin = 0;
    while (bin < METRICS_BINS && seconds > bin_ends[bin])
        bin++;
    metrics->requests[route][outcome]++;
    metrics->bins[route][bin]++;
    metrics->seconds[route] += seconds;
}

static size_t resident_bytes(void)
{
    unsigned long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void print_head(struct buffer *out, const char *name, const char *kind, const char *help)
{
    buffer_print(out, "# HELP chalkline_%s %s\n# TYPE chalkline_%s %s\n", name, help, name, kind);
}

static void print_gauge(struct buffer *out, const char *name, size_t value, const char *help)
{
    print_head(out, name, "gauge", help);
    buffer_print(out, "chalkline_%s %zu\n", name, value);
}

static void print_requests(const struct metrics *metrics, struct buffer *out)
{
    print_head(out, "requests_total", "counter", "Requests by route and HTTP status.");
    for (size_t i = 0; i < route_count(); i++)
        for (int j = 0; j < OUTCOME_COUNT; j++)
            if (metrics->requests[i][j])
                buffer_print(out, "chalkline_requests_total{route=\"%s\",status=\"%d\"} %zu\n",
                             route_path(i), outcomes[j].status, metrics->requests[i][j]);
}

static void print_refused(const struct metrics *metrics, struct buffer *out)
{
    print_head(out, "refused_total", "counter", "Requests without an answer, by reason.");
    for (int j = OUTCOME_BAD; j < OUTCOME_COUNT; j++) {
        size_t count = 0;
        for (size_t i = 0; i < route_count(); i++)
            count += metrics->requests[i][j];
        buffer_print(out, "chalkline_refused_total{reason=\"%s\"} %zu\n", outcomes[j].reason,
                     count);
    }
}

static void print_seconds(const struct metrics *metrics, struct buffer *out)
{
    print_head(out, "request_seconds", "histogram", "From a request's head to its answer.");
    for (size_t i = 0; i < route_count(); i++) {
        size_t count = 0, all = 0;
        for (int j = 0; j <= METRICS_BINS; j++)
            all += metrics->bins[i][j];
        for (int j = 0; all && j < METRICS_BINS; j++)
            buffer_print(out, "chalkline_request_seconds_bucket{route=\"%s\",le=\"%g\"} %zu\n",
                         route_path(i), bin_ends[j], count += metrics->bins[i][j]);
        if (all)
            buffer_print(out, "chalkline_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %zu\n"
                         "chalkline_request_seconds_sum{route=\"%s\"} %.6f\n"
                         "chalkline_request_seconds_count{route=\"%s\"} %zu\n",
                         route_path(i), all, route_path(i), metrics->seconds[i], route_path(i),
                         all);
    }
}

void metrics_print(const struct metrics *metrics, struct buffer *out)
{
    print_requests(metrics, out);
    print_refused(metrics, out);
    print_seconds(metrics, out);
    print_gauge(out, "questions_running", metrics->running, "Questions that are being answered.");
    print_gauge(out, "questions_waiting", metrics->waiting, "Questions that wait for their turn.");
    print_gauge(out, "connections", metrics->connections, "Clients that are connected.");
    print_gauge(out, "resident_bytes", resident_bytes(), "Memory of the server itself.");
    print_head(out, "build_info", "gauge", "The version.");
    buffer_print(out, "chalkline_build_info{version=\"%s\"} 1\n", CHALKLINE_VERSION);
}
