/* Servers whose constants are drawn, measured over HTTP and calibrated: are the constants found again?
 *
 * A server is the simulator behind its endpoint (--clock virtual), with the factors of a calibration drawn from
 * their prior, and with what no factor describes: steps that jitter by 5 %, decode batches padded to captured
 * sizes, a router that is uneven, the time of its front end. `measure` asks it, `calibrate` reads what came. A
 * factor matters where half of TPOT is its own at a load that was measured. The throughput of a full server, which
 * was not given, must come out within 5 % in the median, such a factor within 12 %, and nine of ten within what is
 * stated below; a factor that matters in less than one in twenty servers is told, but not judged. Of twenty
 * settings of two flags the best by the calibrated simulator must be as good as the truly best.
 *
 * Five servers; a hundred with CHALKLINE_LONG; of a sample of three, whose median is one server, only nine of ten are
 * judged. */
#define _GNU_SOURCE
#include "test.h"

#include "base/base.h"
#include "base/quantile.h"
#include "rows/random.h"
#include "scenario/calibrated.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { FACTORS = 4, SAMPLE = 3, SHORT = 5, LONG = 100, FEW = 20 };
static const char *const names[FACTORS] = { "fixed_factor", "sequence_factor", "work_factor", "prefill_factor" };
/* Two kinds of lengths at several loads each, and the load of a full server that nobody calibrates on. */
static const struct sent {
    const char *loads;
    int prompt, output;
} sent[] = { { "1,8,64", 500, 100 }, { "4,24", 1500, 200 } }, full = { "96", 800, 120 };
enum { SENT = sizeof sent / sizeof *sent, SLOTS = 64 };

static const char *program(void)
{
    return getenv("CHALKLINE") ? getenv("CHALKLINE") : "build/gcc/chalkline";
}

static char *run(struct arena *arena, const char *format, ...) BASE_PRINTF(2, 3);
static char *run(struct arena *arena, const char *format, ...)
{
    struct buffer out = { .arena = arena };
    char piece[4096];
    va_list list;
    char line[2000];
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    buffer_add(&out, "", 0);
    for (size_t got; (got = fread(piece, 1, sizeof piece, pipe));)
        buffer_add(&out, piece, got);
    if (pclose(pipe))
        fail_msg("%s\n%s", line, out.data);
    return out.data;
}

static const struct doc *json_of(struct arena *arena, const char *text)
{
    struct doc *doc;
    struct error error;
    if (!json_read(arena, "the answer", text_of(text), &doc, &error))
        fail_msg("%s in:\n%.500s", error.what, text);
    return doc;
}

static double number_at(const struct doc *doc, const char *key)
{
    const struct doc *at = doc_get(doc, key);
    if (!at || at->kind != DOC_NUMBER)
        fail_msg("no number %s", key);
    return at->number;
}

/* ---- a server --------------------------------------------------------------------------------------- */

struct server {
    const char *what, *model;       /* options of its prediction; the first word of `step` */
    const char *truth, *traits;     /* --set of its factors; what no factor describes */
    double factor[FACTORS];
    uint64_t number;
};

static void draw_server(struct arena *arena, struct server *server, uint64_t number)
{
    static const struct { const char *model, *rest; } kinds[] = {
        { "llama-3.1-8b", "--on h100-sxm --gpus 1 --engine vllm" },
        { "qwen3-32b", "--on h100-sxm --gpus 2 --engine vllm" },
        { "qwen3-30b-a3b", "--on h200-sxm --gpus 1 --engine vllm" } };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct posterior_prior prior;
    struct random random;
    struct buffer truth = { .arena = arena };
    random_stream(&random, number, "servers", 0);
    calibrated_prior(&prior);
    for (int k = 0; k < FACTORS; k++) {
        assert_string_equal(calibrated_factors[k], names[k]);
        server->factor[k] = exp(sqrt(prior.covariance[k][k]) * random_normal(&random));
        buffer_print(&truth, " --set %s=%.6f", names[k], server->factor[k]);
    }
    server->number = number;
    server->truth = truth.data;
    server->model = kinds[number % KINDS].model;
    server->what = kinds[number % KINDS].rest;
    server->traits = arena_print(arena, "--set expert_imbalance=%.3f --api-time %.1fms", 1 + 0.1 * random_uniform(&random),
                                 20 + 80 * random_uniform(&random));
}

struct endpoint {
    pid_t process;
    FILE *pipe;
    char url[200];
};

static void start(struct arena *arena, const struct server *server, struct endpoint *endpoint)
{
    char line[200];
    const char *command = arena_print(arena, "echo $$; exec %s simulate --model %s %s --max-seqs %d %s %s --jitter 0.05 "
                                      "--captured --seed %llu --clock virtual --listen 0", program(), server->model,
                                      server->what, SLOTS, server->truth, server->traits,
                                      (unsigned long long)server->number);
    endpoint->pipe = popen(command, "r");
    assert_non_null(endpoint->pipe);
    assert_non_null(fgets(line, sizeof line, endpoint->pipe));
    endpoint->process = (pid_t)strtol(line, NULL, 10);
    if (!fgets(endpoint->url, sizeof endpoint->url, endpoint->pipe))
        fail_msg("%s does not start", command);
    endpoint->url[strcspn(endpoint->url, "\n")] = 0;
}

static void stop(struct endpoint *endpoint)
{
    kill(endpoint->process, SIGINT);
    assert_int_equal(pclose(endpoint->pipe), 0);
}

static const struct doc *measure(struct arena *arena, const struct endpoint *endpoint, const struct sent *load,
                                 const char *path)
{
    return doc_get(json_of(arena, run(arena, "%s measure %s --loads %s --isl %d --osl %d --vary 0.3 --seed 1 "
                                      "--budget 60s --json -o %s", program(), endpoint->url, load->loads, load->prompt,
                                      load->output, path)), "points");
}

static double predicted(struct arena *arena, const struct server *server, const struct sent *load, const char *clients,
                        const char *more, const char *key)
{
    return number_at(json_of(arena, run(arena, "%s step %s %s --set max_num_seqs=%d --isl %d --osl %d --concurrency %s %s --json",
                                        program(), server->model, server->what, SLOTS, load->prompt, load->output, clients, more)), key);
}

/* TPOT at a load, with one of the factors moved. */
static double moved(struct arena *arena, const struct server *server, const struct sent *load, const char *clients,
                    const double factor[FACTORS], int which, double by)
{
    struct buffer set = { .arena = arena };
    for (int k = 0; k < FACTORS; k++)
        buffer_print(&set, " --set %s=%.6f", names[k], factor[k] * (k == which ? by : 1));
    return predicted(arena, server, load, clients, set.data, "predicted_tpot");
}

/* The largest share of TPOT that each factor has at the loads that were measured, and how far TPOT by the factors
 * that were found is from that by the true ones. */
static double shares(struct arena *arena, const struct server *server, const double found[FACTORS], double share[FACTORS])
{
    const double more = 1.02;
    double most = 0;
    for (size_t i = 0; i < SENT; i++) {
        char loads[40], *rest = loads;
        snprintf(loads, sizeof loads, "%s", sent[i].loads);
        for (char *one; (one = strsep(&rest, ","));) {
            const double tpot = moved(arena, server, &sent[i], one, server->factor, -1, 1);
            for (int k = 0; k < FACTORS; k++)
                share[k] = fmax(share[k], log(moved(arena, server, &sent[i], one, server->factor, k, more) / tpot) / log(more));
            most = fmax(most, fabs(moved(arena, server, &sent[i], one, found, -1, 1) / tpot - 1));
        }
    }
    return most;
}

/* ---- twenty settings -------------------------------------------------------------------------------- */

/* Output tokens per second of twenty settings with 72 users; settings whose TPOT is above the limit have none. */
static void settings(struct arena *arena, const struct server *server, const char *more, double limit, double rate[20],
                     double tpot[20])
{
    static const int slots[] = { 4, 8, 16, 32, 64 }, tokens[] = { 256, 512, 2048, 8192 };
    for (int i = 0; i < 20; i++) {
        const struct doc *doc = json_of(arena, run(
            arena, "%s simulate constant:rate=1,count=288,input=800,output=120 --model %s %s --concurrency 72 --think 1us "
            "--max-seqs %d --max-batched-tokens %d %s --json", program(), server->model, server->what,
            slots[i / 4], tokens[i % 4], more));
        tpot[i] = number_at(doc_get(doc, "tpot"), "mean");
        rate[i] = tpot[i] <= limit ? number_at(doc, "output_rate") : 0;
    }
}

static int best_of(const double rate[20])
{
    int best = 0;
    for (int i = 1; i < 20; i++)
        if (rate[i] > rate[best])
            best = i;
    return best;
}

/* A limit on TPOT in the widest gap between the middle settings, so that none is just within or just above it. */
static double tpot_limit(const double tpot[20])
{
    double sorted[20], limit = 0, widest = 0;
    memcpy(sorted, tpot, sizeof sorted);
    numbers_sort(sorted, 20);
    for (int i = 5; i < 15; i++)
        if (sorted[i + 1] / sorted[i] > widest) {
            widest = sorted[i + 1] / sorted[i];
            limit = sqrt(sorted[i + 1] * sorted[i]);
        }
    return limit;
}

/* Is what the calibrated simulator names within the limit, and within 2 % of the best that is? */
static bool names_best(struct arena *arena, const struct server *server, const char *calibration)
{
    double truth[20], told[20], tpot[20], ignored[20], best = 0;
    settings(arena, server, server->truth, INFINITY, truth, tpot);
    const double limit = tpot_limit(tpot);
    settings(arena, server, calibration, limit, told, ignored);
    for (int i = 0; i < 20; i++)
        best = tpot[i] <= limit ? fmax(best, truth[i]) : best;
    const int named = best_of(told);
    return told[named] > 0 && tpot[named] <= limit && truth[named] >= 0.98 * best;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

enum { FULL = FACTORS, TOGETHER, TRAITS };
struct tally {
    double errors[TRAITS][LONG];    /* of factors that matter; of a full server; of TPOT by all factors together */
    size_t counts[TRAITS], best, servers, inside, factors;
};

static void add(struct tally *tally, int which, double error)
{
    tally->errors[which][tally->counts[which]++] = fabs(error);
}

static void add_factors(struct arena *arena, struct tally *tally, const struct server *server, const struct doc *rows)
{
    double found[FACTORS], share[FACTORS] = { 0 };
    for (int k = 0; k < FACTORS; k++)
        found[k] = number_at(doc_get(doc_get(rows, names[k]), "posterior"), "value");
    const double together = shares(arena, server, found, share);
    add(tally, TOGETHER, together);
    if (getenv("CHALKLINE_VERBOSE"))
        printf("  %llu TPOT by all factors together is off by %.1f %%\n", (unsigned long long)server->number, 100 * together);
    for (int k = 0; k < FACTORS; k++) {
        const struct doc *posterior = doc_get(doc_get(rows, names[k]), "posterior");
        tally->factors++;
        tally->inside += server->factor[k] > number_at(posterior, "low") && server->factor[k] < number_at(posterior, "high");
        if (share[k] > 0.5)
            add(tally, k, found[k] / server->factor[k] - 1);
        if (getenv("CHALKLINE_VERBOSE"))
            printf("  %llu %-16s share %.2f true %.3f found %.3f\n", (unsigned long long)server->number, names[k], share[k],
                   server->factor[k], found[k]);
    }
}

static void test_server(struct tally *tally, uint64_t number)
{
    struct arena arena = { 0 };
    struct server server;
    struct endpoint endpoint;
    char folder[] = "/tmp/chalkline-recovery-XXXXXX";
    assert_non_null(mkdtemp(folder));
    draw_server(&arena, &server, number);
    start(&arena, &server, &endpoint);
    for (size_t i = 0; i < SENT; i++)
        measure(&arena, &endpoint, &sent[i], arena_print(&arena, "%s/%zu.jsonl", folder, i));
    const double truth = number_at(measure(&arena, &endpoint, &full, arena_print(&arena, "%s/full.jsonl", folder))->first,
                                   "throughput");
    stop(&endpoint);
    const struct doc *rows = doc_get(json_of(&arena, run(&arena, "%s calibrate %s/0.jsonl %s/1.jsonl --model %s %s -o %s/c.csv "
                                                         "--json", program(), folder, folder, server.model, server.what,
                                                         folder)), "rows");
    const char *calibration = arena_print(&arena, "--calibration %s/c.csv", folder);
    add_factors(&arena, tally, &server, rows);
    const double told = predicted(&arena, &server, &full, full.loads, calibration, "predicted_throughput");
    add(tally, FULL, told / truth - 1);
    const bool best = names_best(&arena, &server, calibration);
    tally->best += best;
    tally->servers++;
    if (getenv("CHALKLINE_VERBOSE"))
        printf("  %llu throughput of a full server %.0f, told %.0f; %s\n", (unsigned long long)number, truth, told,
               best ? "best setting named" : "another setting named");
    fflush(stdout);
    run(&arena, "rm -r %s", folder);
    arena_free(&arena);
}

static void check_errors(struct tally *tally, int which, const char *what, double middle, double most)
{
    const size_t count = tally->counts[which];
    if (!count)
        return;
    numbers_sort(tally->errors[which], count);
    const double median = quantile_of(tally->errors[which], count, 0.5), p90 = quantile_of(tally->errors[which], count, 0.9);
    printf("  %s: %zu servers, off by %.1f %% in the median, %.1f %% in nine of ten\n", what, count, 100 * median,
           100 * p90);
    const bool judged = FEW * count >= tally->servers;
    if (judged && (!(sample_only() || median <= middle) || !(p90 <= most)))
        fail_msg("%s", what);
}

static void test_recovery(void **state)
{
    static struct tally tally;
    const uint64_t servers = getenv("CHALKLINE_SERVERS") ? strtoul(getenv("CHALKLINE_SERVERS"), NULL, 10)
                             : getenv("CHALKLINE_LONG") ? LONG : sample_only() ? SAMPLE : SHORT;
    (void)state;
    for (uint64_t number = 1; number <= servers && number <= LONG; number++)
        test_server(&tally, number);
    for (int k = 0; k < FACTORS; k++)
        check_errors(&tally, k, names[k], 0.12, 0.25);
    check_errors(&tally, TOGETHER, "TPOT by the factors together", 0.15, 0.25);
    check_errors(&tally, FULL, "throughput of a full server", 0.05, 0.1);
    printf("  %zu of %zu factors inside of their 80 %% interval\n", tally.inside, tally.factors);
    printf("  best of 20 settings named: %zu of %zu\n", tally.best, tally.servers);
    assert_true(tally.inside >= 0.7 * (double)tally.factors);
    assert_true(tally.best >= 0.9 * (double)tally.servers - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_recovery) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
