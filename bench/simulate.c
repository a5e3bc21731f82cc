/* simulate -- CPU seconds of the simulator, one thread unless said, reading of the trace apart;
 * beside what other tools took on a machine of this kind. Each is the median of several turns.
 * Traces that are not there are drawn instead, and said to be. */
#include "base/quantile.h"
#include "bench/turns.h"
#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 7 };

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct cost {
    double base, by_token, by_cached;
};

static double linear(void *context, const struct sim_step *step)
{
    const struct cost *cost = context;
    return cost->base + cost->by_token * (step->decoding + step->drafts + step->prompt) +
           cost->by_cached * (step->decode_cached + step->prompt_cached);
}

static struct cost reference = { 0.01, 5e-5, 8e-8 }, chat = { 0.008, 4e-5, 2e-8 };

static struct sim_options options_of(const struct scheduler *scheduler, struct cost *cost,
                                     size_t blocks)
{
    return (struct sim_options){
        .server = { .scheduler = scheduler, .max_num_seqs = 128, .chunk = 512, .blocks = blocks,
                    .block = 16, .watermark = scheduler->usual.watermark,
                    .seconds = linear, .context = cost },
        .replicas = 1, .router = ROUTER_LEAST_PENDING, .seed = 1 };
}

/* CPU seconds of a run; MB that it took. */
static double measure(const struct trace *trace, const struct sim_options *options, double *megabytes)
{
    double times[TURNS];
    for (int i = 0; i < TURNS; i++) {
        struct arena arena = { 0 };
        struct sim_result result;
        struct error error;
        double before = cpu();
        if (!sim_run(&arena, trace, options, &result, &error)) {
            fprintf(stderr, "%s\n", error.what);
            exit(1);
        }
        times[i] = cpu() - before;
        *megabytes = 1e-6 * (double)arena.taken;
        arena_free(&arena);
    }
    numbers_sort(times, TURNS);
    return times[TURNS / 2];
}

static void read_or_draw(struct arena *arena, const char *name, const char *words,
                         struct trace *trace, bool *drawn)
{
    struct error error;
    const char *folder = getenv("CHALKLINE_SHARED");
    const char *path = arena_print(arena, "%s/data/traces/%s", folder ? folder : ".", name);
    *drawn = !trace_read(arena, path, 1, trace, &error);
    if (*drawn && !generate_trace(arena, words, trace, &error)) {
        fprintf(stderr, "%s\n", error.what);
        exit(1);
    }
}

static double line(const char *what, const struct trace *trace, const struct sim_options *options,
                   bool drawn, const char *bar)
{
    double megabytes, seconds = measure(trace, options, &megabytes);
    printf("  %-48s %8.1f ms %9.0f requests/s %6.1f MB  %s%s\n", what, 1000 * seconds,
           (double)trace->count / seconds, megabytes, bar, drawn ? "  (drawn)" : "");
    return (double)trace->count / seconds;
}

static void sweep(const struct trace *trace, const struct sim_options *options)
{
    enum { RUNS = 1000 };
    double before = wall(), cpu_before = cpu();
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < RUNS; i++) {
        struct arena arena = { 0 };
        struct sim_result result;
        struct error error;
        struct sim_options own = *options;
        own.server.chunk = 256 + (size_t)i;
        sim_run(&arena, trace, &own, &result, &error);
        arena_free(&arena);
    }
    printf("  %-48s %8.2f s elapsed, %.2f s CPU            bar: 10 s on two cores\n",
           "R1 with 1,000 sizes of a chunk, all cores", wall() - before, cpu() - cpu_before);
}

/* A fleet of 10,000 in a process of its own, so that its memory can be told: a tenth of the requests, or with
 * CHALKLINE_LONG all of them. */
static void fleet(void)
{
    const size_t count = getenv("CHALKLINE_LONG") ? 100000000 : 10000000;
    struct rusage use;
    const pid_t child = fork();
    if (!child) {
        struct arena arena = { 0 };
        struct generate_change change = { .forget = true };
        struct trace drawn, trace;
        struct sim_result result;
        struct error error;
        struct sim_options options = options_of(&scheduler_sarathi, &chat, 28000);
        options.replicas = 10000;
        const char *words = arena_print(&arena, "poisson:rate=80000,count=%zu,input=1000,output=200", count);
        if (!generate_changed(&arena, words, &change, &drawn, &error))
            _exit(1);
        generate_again(&arena, &drawn, 1, false, &trace);
        _exit(!sim_run(&arena, &trace, &options, &result, &error));
    }
    int status;
    if (child < 0 || wait4(child, &status, 0, &use) != child || status) {
        fprintf(stderr, "the fleet of 10,000 replicas did not run\n");
        exit(1);
    }
    const double seconds = (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec +
                           (double)use.ru_stime.tv_sec + 1e-6 * (double)use.ru_stime.tv_usec;
    printf("  %3zu M chats, 10,000 replicas, sarathi            %8.1f s  %9.0f requests/s %6.1f MB  bar: 2,000 MB for 100 M\n",
           count / 1000000, seconds, (double)count / seconds, 1e-3 * (double)use.ru_maxrss);
}

int main(void)
{
    struct arena arena = { 0 };
    struct trace conversation, code, many, mooncake;
    bool drawn, code_drawn, mooncake_drawn;
    struct error error;
    read_or_draw(&arena, "azure2023_conv.csv",
                 "poisson:rate=5.5,count=19366,input=lognormal(1155,cv=1),output=lognormal(211,cv=1)",
                 &conversation, &drawn);
    read_or_draw(&arena, "azure2023_code.csv",
                 "poisson:rate=2.5,count=8819,input=lognormal(2048,cv=0.9),output=lognormal(28,cv=2)",
                 &code, &code_drawn);
    read_or_draw(&arena, "mooncake_conversation.jsonl.gz",
                 "poisson:rate=1,count=12000,input=4000,output=343,turns=geometric(3),wait=exponential(60s)",
                 &mooncake, &mooncake_drawn);
    if (!generate_trace(&arena, "poisson:rate=5,count=100000,input=exponential(500),output=exponential(200)",
                        &many, &error))
        return 1;
    struct sim_options sarathi = options_of(&scheduler_sarathi, &reference, 28000);
    printf("\nsimulator, CPU of one thread, memory beyond the trace\n");
    fflush(stdout);
    fleet();
    double r1 = line("R1: Azure conversation, sarathi", &conversation, &sarathi, drawn, "bar: 20 ms");
    line("R3: Azure code, sarathi", &code, &sarathi, code_drawn, "bar: 6 ms");
    struct sim_options stepping = sarathi;
    stepping.stepping = true;
    line("R1, every step by itself", &conversation, &stepping, drawn, "");
    struct sim_options vllm = options_of(&scheduler_vllm_v1, &reference, 28000);
    line("R1 with vllm-v1", &conversation, &vllm, drawn, "");
    vllm.stepping = true;
    line("R1 with vllm-v1, every step by itself", &conversation, &vllm, drawn, "");
    struct sim_options sglang = options_of(&scheduler_sglang, &reference, 28000);
    line("R1 with sglang", &conversation, &sglang, drawn, "");
    struct sim_options trtllm = options_of(&scheduler_trtllm, &reference, 28000);
    line("R1 with trtllm", &conversation, &trtllm, drawn, "");
    struct sim_options chats = options_of(&scheduler_sarathi, &chat, 28000);
    line("100,000 chats, sarathi", &many, &chats, false, "bar: 100 ms, 40 MB");
    chats = options_of(&scheduler_vllm_v1, &chat, 28000);
    line("100,000 chats, vllm-v1", &many, &chats, false, "bar: 100 ms, 40 MB");
    struct sim_options tiers = options_of(&scheduler_vllm_v1, &chat, 2000);
    tiers.server.block = 512;
    tiers.server.chunk = 8192;
    tiers.server.max_num_seqs = 1024;
    tiers.replicas = 8;
    tiers.token_bytes = 327680;
    tiers.tiers = 3;
    tiers.tier[0] = (struct tier_options){ .capacity = 1200, .bandwidth = 460e9 };
    tiers.tier[1] = (struct tier_options){ .capacity = 22900, .bandwidth = 14e9 };
    tiers.tier[2] = (struct tier_options){ .capacity = 119000, .bandwidth = 0.28e9, .shared = true };
    line("Mooncake, 8 workers, prefix cache, three tiers", &mooncake, &tiers, mooncake_drawn,
         "bar: 50 ms");
    tiers.router = ROUTER_PREFIX;
    line("  the same, routed by prefix", &mooncake, &tiers, mooncake_drawn, "");
    sweep(&conversation, &sarathi);
    printf("\n  others, requests a CPU second on R1 or their own traffic (measured elsewhere):\n"
           "  Vidur 1,111 (R1: we are %.0f x); BLIS 551 to 7,400 (chats); splitwise-sim 237;\n"
           "  DynoSim 9,800 (its authors, Mooncake); the same rules in plain Python 15,700 (%.0f x)\n",
           r1 / 1111, r1 / 15700);
    return 0;
}
