/* This machine, timed: what its processors multiply, what its memory gives, how long its threads wait for
 * each other. The figures are those of this program's own loops (kernels_set.c), the best of several tries,
 * on as many threads as processors that it may use. They become a machine in the columns of
 * data/hardware.csv, which --on takes like any other.
 *
 * Graphics cards are not timed: those that nvidia-smi or rocm-smi list are named, with their place in the
 * catalog. */
#define _GNU_SOURCE
#include "meter/measure/machine.h"

#include "base/clock.h"
#include "build/row_names.h"
#include "meter/measure/kernels.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { THREADS_MOST = 1024, TRIES = 3, BARRIERS = 2000 };
static const size_t buffer_bytes = (size_t)1 << 29;     /* beyond most caches, all threads together */
static const double seconds_each = 0.15;                /* of a try of a product */

static const struct kernels *kernels_here(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_portable;
}

/* ---- threads ---------------------------------------------------------------------------------- */

enum job { JOB_FP32, JOB_BF16, JOB_INT8, JOB_READ, JOB_BARRIER };

struct team {
    const struct kernels *kernels;
    enum job job;
    size_t count;
    float *data;                    /* [floats], shared out evenly */
    size_t floats;
    struct team_member *members;         /* [THREADS_MOST] */
    pthread_mutex_t gate;           /* held until all threads are there */
    pthread_barrier_t barrier;
};

struct team_member {
    struct team *team;
    size_t index;
    pthread_t thread;
    double work, seconds;           /* operations, bytes or barriers; their time */
    float sum;
};

static double multiply(const struct team *team, struct panels *panels)
{
    enum { ROUNDS = 200 };
    kernel_product *product = team->job == JOB_FP32 ? team->kernels->fp32
                              : team->job == JOB_BF16 ? team->kernels->bf16 : team->kernels->int8;
    const double until = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds_each;
    double work = 0;
    while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        work += product(panels, ROUNDS);
    return work;
}

static void do_job(struct team_member *member)
{
    struct team *team = member->team;
    struct panels *panels = aligned_alloc(64, (sizeof *panels + 63) / 64 * 64);
    const size_t part = team->floats / team->count / 512 * 512;
    if (panels)
        memset(panels, 1, sizeof *panels);
    pthread_barrier_wait(&team->barrier);
    const clockid_t clock = team->job == JOB_BARRIER ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const double began = clock_seconds(clock);
    switch (team->job) {
    case JOB_READ:
        member->sum = team->kernels->read(team->data + member->index * part, part);
        member->work = (double)part * sizeof *team->data;
        break;
    case JOB_BARRIER:
        for (int i = 0; i < BARRIERS; i++)
            pthread_barrier_wait(&team->barrier);
        member->work = BARRIERS;
        break;
    default:
        member->work = panels ? multiply(team, panels) : 0;
        member->sum = panels ? panels->sum : 0;
    }
    member->seconds = clock_seconds(clock) - began;
    free(panels);
}

static void *do_job_when_open(void *context)
{
    struct team_member *member = context;
    pthread_mutex_lock(&member->team->gate);
    pthread_mutex_unlock(&member->team->gate);
    do_job(member);
    return NULL;
}

/* Work per second of all threads: of each its work over its time on a processor, so that what else runs here
 * counts as little as it can. This thread is the first; where the system gives fewer threads than wanted, those
 * that it gives share the work. Sums go to *needed, so that no compiler finds them useless. */
static double rate_of(struct team *team, volatile float *needed)
{
    struct team_member *members = team->members;
    double rate = 0;
    size_t started = 1;
    pthread_mutex_init(&team->gate, NULL);
    pthread_mutex_lock(&team->gate);
    for (size_t i = 0; i < team->count; i++)
        members[i] = (struct team_member){ .team = team, .index = i };
    while (started < team->count &&
           !pthread_create(&members[started].thread, NULL, do_job_when_open, &members[started]))
        started++;
    team->count = started;
    pthread_barrier_init(&team->barrier, NULL, (unsigned)started);
    pthread_mutex_unlock(&team->gate);
    do_job(&members[0]);
    for (size_t i = 0; i < started; i++) {
        if (i)
            pthread_join(members[i].thread, NULL);
        rate += members[i].work / members[i].seconds;
        *needed += members[i].sum;
    }
    pthread_barrier_destroy(&team->barrier);
    pthread_mutex_destroy(&team->gate);
    return rate;
}

static double best_of(struct team *team, enum job job, size_t count)
{
    volatile float needed = 0;
    double best = 0;
    team->job = job;
    team->count = count;
    for (int i = 0; i < TRIES; i++)
        best = fmax(best, rate_of(team, &needed));
    return best;
}

/* ---- what it is ------------------------------------------------------------------------------- */

/* The first line of a command's output, or of what follows a key in a file; "" for none. */
static const char *first_line(struct arena *arena, FILE *from, const char *key)
{
    char line[400];
    const char *found = "";
    while (from && !*found && fgets(line, sizeof line, from)) {
        const char *value = strchr(line, ':');
        struct text text = text_of(line);
        if (key && (strncmp(line, key, strlen(key)) || !value))
            continue;
        if (key)
            text = text_of(value + 1);
        text = text_trim(text);
        if (text_plain(text, "") == text.size)
            found = arena_copy(arena, text.data, text.size);
        if (!key)
            break;
    }
    return found;
}

static const char *of_command(struct arena *arena, const char *line)
{
    FILE *pipe = popen(line, "r");
    const char *found = first_line(arena, pipe, NULL);
    if (pipe)
        pclose(pipe);
    return found;
}

/* What the processor says of itself, where a container hides what the system does; "": nothing. */
static const char *brand_of(struct arena *arena)
{
    unsigned words[13] = { 0 };
#if defined(__x86_64__)
    enum { BRAND = 0x80000002, PARTS = 3 };
    for (unsigned i = 0; i < PARTS; i++)
        if (!__get_cpuid(BRAND + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]))
            return "";
#endif
    const struct text brand = text_trim(text_of((const char *)words));
    return text_plain(brand, "") == brand.size ? arena_copy(arena, brand.data, brand.size) : "";
}

/* The family of CPUID leaf 1 (of AMD 25: Zen 3 and 4, 26: Zen 5); 0: not x86. */
static unsigned cpuid_family(void)
{
    unsigned a = 0;
#if defined(__x86_64__)
    unsigned b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
#endif
    const unsigned base = a >> 8 & 15, more = a >> 20 & 255;
    return base == 15 ? base + more : base;
}

static const char *processor_name(struct arena *arena)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *name = first_line(arena, file, "model name");
    if (file)
        fclose(file);
    if (!*name)
        name = brand_of(arena);
    if (!*name)
        name = of_command(arena, "sysctl -n machdep.cpu.brand_string 2>/dev/null");
    return *name ? name : "unknown processor";
}

/* "Intel(R) Xeon(R) Processor" is intel-xeon-processor. */
static const char *entry_name(struct arena *arena, const char *title)
{
    struct buffer name = { .arena = arena };
    for (const char *at = title; *at; at++) {
        if (*at == '(' && strchr(at, ')'))
            at = strchr(at, ')');
        else if (isalnum((unsigned char)*at))
            buffer_print(&name, "%c", tolower((unsigned char)*at));
        else if (name.size && name.data[name.size - 1] != '-')
            buffer_print(&name, "-");
    }
    while (name.size && name.data[name.size - 1] == '-')
        name.data[--name.size] = 0;
    return name.size ? name.data : "this";
}

/* A number of the first processor that the system lists; 0: it says none. */
static double of_processor(struct arena *arena, const char *key)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *text = first_line(arena, file, key);
    if (file)
        fclose(file);
    return strtod(text, NULL);
}

/* Cores, where the system counts the threads of a core as processors. */
static double cores_of(struct arena *arena, size_t processors)
{
    const double cores = of_processor(arena, "cpu cores"), siblings = of_processor(arena, "siblings");
    const double share = cores > 0 && siblings > cores ? cores / siblings : 1;
    return fmax(1, floor((double)processors * share));
}

/* The family of processors of which the catalog has no entry, by maker and instructions. */
static const char *family_of(const char *title, const char *instructions)
{
    enum { ZEN_5 = 26 };
    const bool wide = !strcmp(instructions, "avx512");
    if (strstr(title, "Apple"))
        return "cpu-apple";
#if defined(__aarch64__)
    return "cpu-arm";
#endif
    if (strcmp(instructions, "avx2") && !wide)
        return NULL;
    return strstr(title, "Intel") ? wide ? "cpu-avx512-intel" : "cpu-avx2-intel"
           : strstr(title, "AMD") ? !wide ? "cpu-avx2-amd"
           : cpuid_family() >= ZEN_5 ? "cpu-zen5" : "cpu-zen4" : NULL;
}

static size_t processors_here(void)
{
    cpu_set_t set;
    const size_t count = sched_getaffinity(0, sizeof set, &set) ? (size_t)sysconf(_SC_NPROCESSORS_ONLN)
                                                                : (size_t)CPU_COUNT(&set);
    return count < 1 ? 1 : count < THREADS_MOST ? count : THREADS_MOST;
}

/* ---- the answer ------------------------------------------------------------------------------- */

struct fact_line {
    const char *row, *unit, *note;
    double value, scale;            /* in the base unit; of the unit of the sheet */
};

struct timed {
    const char *title, *name, *source, *date;
    const struct catalog_entry *known, *card;       /* in the catalog; NULL: not there */
    const char *family;                             /* "cpu-avx2-intel"; NULL: not told */
    struct fact_line facts[14];
    size_t count;
    double by_threads[2][16];       /* threads; B/s */
    size_t threads, by_count;
    double barrier;                 /* s */
    double load, stolen;            /* processes that ran or waited when it began; share of time that a host took; NAN: not told */
    const char *cards, *instructions;
};

static void add_fact(struct timed *timed, const char *row, double value, const char *unit, double scale,
                     const char *note)
{
    timed->facts[timed->count++] = (struct fact_line){ row, unit, note, value, scale };
}

static const struct catalog_entry *in_catalog(struct arena *arena, const char *name)
{
    struct catalog *catalog = arena_alloc(arena, sizeof *catalog);
    struct catalog_called called;
    catalog_open(catalog, arena);
    return *name && catalog_machine_called(catalog, name, &called, NULL) ? called.entry : NULL;
}

/* What the catalog and the system say of the processor and the card: what of it cannot be timed. */
static void look_up(struct arena *arena, struct timed *timed)
{
    double known, cores = cores_of(arena, timed->threads);
    timed->known = in_catalog(arena, arena_print(arena, "%s CPU", timed->title));
    timed->card = in_catalog(arena, timed->cards);
    timed->family = timed->known ? catalog_text(timed->known, "family") : NULL;
    timed->family = timed->family ? timed->family : family_of(timed->title, timed->instructions);
    if (timed->known && catalog_number(timed->known, NAME_cpu_cores, &known) && known > 0)
        cores = fmin(cores, known);                 /* those for performance, of two kinds */
    add_fact(timed, NAME_cpu_cores, cores, "1", 1, "of those that this program may use");
    if (timed->known && catalog_number(timed->known, NAME_cpu_clock, &known))
        add_fact(timed, NAME_cpu_clock, known, "1/s", 1, timed->known->name);
    else if (of_processor(arena, "cpu MHz") > 0)
        add_fact(timed, NAME_cpu_clock, 1e6 * of_processor(arena, "cpu MHz"), "1/s", 1, "as the system says");
    if (timed->known && catalog_number(timed->known, NAME_memory_channels, &known))
        add_fact(timed, NAME_memory_channels, known, "1", 1, timed->known->name);
    if (timed->known && catalog_number(timed->known, NAME_laptop_part, &known))
        add_fact(timed, NAME_laptop_part, known, "1", 1, timed->known->name);
}

/* Programs that list cards, each a line: a name, with its memory in MiB where they say it. The last lists the bus. */
static const char *const listers[] = {
    "nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits 2>/dev/null",
    "rocm-smi --showproductname --csv 2>/dev/null | sed '1d;/^$/d' | cut -d, -f2",
    "lspci 2>/dev/null | sed -n 's/.*\\(VGA compatible\\|3D\\|Display\\) controller: .*\\[\\([^]]*\\)\\].*/\\2/p'",
    "[ \"$(uname -s)\" != Darwin ] || sysctl -n machdep.cpu.brand_string hw.memsize 2>/dev/null | paste -sd, -" };

/* The cards of one kind that are most here, by a name that the catalog knows: "2x NVIDIA GeForce RTX 3090 24GB"; NULL: none.
 * `unlike`: those of all kinds, "4x NVIDIA L4 23GB+2x NVIDIA A10 23GB". `note` says what else is listed. */
static const char *cards_here(struct arena *arena, bool unlike, const char **note)
{
    enum { KINDS = 16 };
    for (size_t l = 0; l < sizeof listers / sizeof *listers; l++) {
        const char *kinds[KINDS], *best = NULL;
        size_t counts[KINDS] = { 0 }, kind_count = 0, most = 0;
        struct buffer all = { .arena = arena }, sum = { .arena = arena };
        char line[200];
        FILE *pipe = popen(listers[l], "r");
        while (pipe && fgets(line, sizeof line, pipe)) {
            const double memory = strchr(line, ',') ? strtod(strchr(line, ',') + 1, NULL) : 0;
            line[strcspn(line, ",\r\n")] = 0;
            const double gb = memory > 1e6 ? memory / 1073741824 : memory / 1024;   /* bytes, or MiB */
            const char *name = gb > 0 ? arena_print(arena, "%s %.0fGB", line, ceil(gb)) : arena_print(arena, "%s", line);
            size_t k = 0;
            while (k < kind_count && strcmp(kinds[k], name))
                k++;
            if (k == KINDS || !in_catalog(arena, name))
                continue;
            kinds[k] = name;
            kind_count += k == kind_count;
            counts[k]++;
        }
        if (pipe)
            pclose(pipe);
        for (size_t k = 0; k < kind_count; k++) {
            buffer_print(&all, "%s%zu x %s", k ? ", " : "", counts[k], kinds[k]);
            buffer_print(&sum, "%s%zux %s", k ? "+" : "", counts[k], kinds[k]);
            if (counts[k] > most)
                most = counts[k], best = kinds[k];
        }
        if (!best)
            continue;
        if (unlike && kind_count > 1 && in_catalog(arena, sum.data)) {
            *note = arena_print(arena, "this machine has %s: the layers are split over all of them; --on NAME asks for another", all.data);
            return sum.data;
        }
        *note = arena_print(arena, "this machine has %s%s; --on NAME asks for another", all.data,
                            kind_count > 1 ? arena_print(arena, ": taken are the %zu of %s", most, best) : "");
        return arena_print(arena, "%zux %s", most, best);
    }
    return NULL;
}

/* Ticks of all processors since the start, and those that a host took from this machine; false: the system does not say. */
static bool read_ticks(double ticks[static 2])
{
    double all[8] = { 0 };
    FILE *file = fopen("/proc/stat", "r");
    const bool read = file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &all[0], &all[1], &all[2], &all[3], &all[4],
                                     &all[5], &all[6], &all[7]) == 8;
    if (file)
        fclose(file);
    ticks[0] = 0, ticks[1] = all[7];
    for (int i = 0; i < 8; i++)
        ticks[0] += all[i];
    return read;
}

static bool time_machine(struct arena *arena, const struct command *command, struct timed *timed,
                         struct error *error)
{
    struct team team = { .kernels = kernels_here(), .floats = buffer_bytes / sizeof(float),
                         .members = arena_array(arena, THREADS_MOST, sizeof *team.members) };
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const size_t threads = timed->threads = processors_here();
    char date[16];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", localtime(&now));
    if (memory < 4 * (double)buffer_bytes)
        team.floats = (size_t)(memory / 16) / sizeof(float);
    team.data = aligned_alloc(64, team.floats * sizeof(float));
    if (!team.data)
        return error_set(error, "no memory for %zu bytes to read", team.floats * sizeof(float));
    memset(team.data, 0, team.floats * sizeof(float));
    double bandwidth = 0, drawn = 1, began[2], ended[2];
    const bool ticks = read_ticks(began);
    if (getloadavg(&timed->load, 1) != 1)
        timed->load = NAN;
    for (size_t count = 1; timed->by_count < 16; count = 2 * count < threads ? 2 * count : threads) {
        const double one = best_of(&team, JOB_READ, count);
        timed->by_threads[0][timed->by_count] = (double)count;
        timed->by_threads[1][timed->by_count++] = one;
        if (one > bandwidth)
            bandwidth = one, drawn = (double)count;
        if (command->progress)
            command->progress(0.5 * (double)count / (double)threads);
        if (count == threads)
            break;
    }
    free(team.data);
    timed->title = processor_name(arena);
    timed->name = entry_name(arena, timed->title);
    timed->date = arena_copy(arena, date, strlen(date));
    timed->source = arena_print(arena, "`chalkline measure`; %zu threads; %s", threads, team.kernels->name);
    timed->instructions = team.kernels->name;
    add_fact(timed, NAME_chips, 1, "1", 1, "all processors of the machine");
    add_fact(timed, NAME_hbm_capacity, memory, "GB", 1e9, "all memory of the machine");
    add_fact(timed, NAME_hbm_bandwidth, bandwidth, "GB/s", 1e9, "reading");
    add_fact(timed, NAME_drawn_by_one, timed->by_threads[1][0], "GB/s", 1e9, "reading, one thread");
    add_fact(timed, NAME_drawn_threads, drawn, "1", 1, "that read together");
    add_fact(timed, NAME_peak_fp32, best_of(&team, JOB_FP32, threads), "GFLOP/s", 1e9,
             "a matrix product in the first cache");
    add_fact(timed, NAME_peak_bf16, best_of(&team, JOB_BF16, threads), "GFLOP/s", 1e9,
             "widened to fp32, in the first cache");
    add_fact(timed, NAME_peak_int8, best_of(&team, JOB_INT8, threads), "GFLOP/s", 1e9,
             "widened to fp32, in the first cache");
    timed->barrier = (double)threads / best_of(&team, JOB_BARRIER, threads);
    timed->stolen = ticks && read_ticks(ended) && ended[0] > began[0] ? (ended[1] - began[1]) / (ended[0] - began[0]) : NAN;
    const char *note, *cards = cards_here(arena, false, &note);
    timed->cards = cards ? cards : "";
    look_up(arena, timed);
    return true;
}

static void print_sheet(const struct timed *timed, struct buffer *csv)
{
    buffer_print(csv, "name,fact,value,unit,source,date,mark,note\n%s,facts,%zu,1,\"%s\",%s,,\n%s,title,\"%s\",text,\"%s\",%s,,\n",
                 timed->name, 1 + (timed->family != NULL) + timed->count, timed->source, timed->date,
                 timed->name, timed->title, timed->source, timed->date);
    if (timed->family)
        buffer_print(csv, "%s,family,%s,text,\"%s\",%s,,\n", timed->name, timed->family, timed->source,
                     timed->date);
    for (size_t i = 0; i < timed->count; i++) {
        const struct fact_line *fact = &timed->facts[i];
        buffer_print(csv, "%s,%s,%.5g,%s,\"%s\",%s,,\"%s\"\n", timed->name, fact->row, fact->value / fact->scale,
                     fact->unit, timed->source, timed->date, fact->note);
    }
}

static void add_json(struct arena *arena, const struct timed *timed, const char *path, struct doc *doc)
{
    doc_add_string(arena, doc, "machine", timed->name);
    struct doc *facts = doc_add(arena, doc, "facts", DOC_OBJECT), *threads;
    for (size_t i = 0; i < timed->count; i++) {
        const struct fact_line *fact = &timed->facts[i];
        struct doc *figure = doc_add(arena, facts, fact->row, DOC_OBJECT);
        const char *unit = !strcmp(fact->unit, "GFLOP/s") ? "FLOP/s" : !strcmp(fact->unit, "GB/s") ? "B/s"
                           : !strcmp(fact->unit, "GB") ? "B" : fact->unit;
        doc_add_number(arena, figure, "value", fact->value);
        doc_add_string(arena, figure, "unit", unit);
        doc_add_string(arena, figure, "origin", "given");
        doc_add_string(arena, figure, "source", timed->source);
    }
    threads = doc_add(arena, doc, "bandwidth_by_threads", DOC_ARRAY);
    for (size_t i = 0; i < timed->by_count; i++) {
        struct doc *one = doc_add(arena, threads, NULL, DOC_OBJECT);
        doc_add_number(arena, one, "threads", timed->by_threads[0][i]);
        doc_add_number(arena, one, "bandwidth", timed->by_threads[1][i]);
    }
    doc_add_number(arena, doc, "barrier_time", timed->barrier);
    if (!isnan(timed->load))
        doc_add_number(arena, doc, "load_average", timed->load);
    if (!isnan(timed->stolen))
        doc_add_number(arena, doc, "stolen_share", timed->stolen);
    doc_add_string(arena, doc, "title", timed->title);
    doc_add_string(arena, doc, "instructions", timed->instructions);
    if (timed->known)
        doc_add_string(arena, doc, "known_as", timed->known->name);
    if (*timed->cards)
        doc_add_string(arena, doc, "cards", timed->cards);
    if (timed->card)
        doc_add_string(arena, doc, "card_known_as", timed->card->name);
    if (path)
        doc_add_string(arena, doc, "written", path);
}

static void add_text(struct arena *arena, const struct timed *timed, const char *path, struct buffer *out)
{
    buffer_print(out, "%s: %s, %zu processors\n", timed->name, timed->title, timed->threads);
    for (size_t i = 0; i < timed->count; i++) {
        const struct fact_line *fact = &timed->facts[i];
        buffer_print(out, "  %-14s %8.4g %-8s %s\n", fact->row, fact->value / fact->scale, fact->unit, fact->note);
    }
    buffer_print(out, "  bandwidth by threads:");
    for (size_t i = 0; i < timed->by_count; i++)
        buffer_print(out, "%s %.0f: %.4g GB/s", i ? "," : "", timed->by_threads[0][i],
                     1e-9 * timed->by_threads[1][i]);
    buffer_print(out, "\n  a barrier of all threads: %.3g us\n", 1e6 * timed->barrier);
    const double busy = 0.1, stolen = 0.02;
    if (timed->load > busy * (double)timed->threads || timed->stolen > stolen)
        buffer_print(out, "  the machine was busy: a load of %.2g on %zu processors%s; threads are timed by what they ran, but others "
                     "take memory and clocks: measure again when it is quiet\n", timed->load, timed->threads,
                     timed->stolen > stolen ? arena_print(arena, ", %.0f %% of the time taken by its host", 100 * timed->stolen) : "");
    if (timed->known)
        buffer_print(out, "  in the catalog: %s, from which are its family, clock and memory channels\n",
                     timed->known->name);
    else if (timed->family)
        buffer_print(out, "  not in the catalog; its family, by maker and instructions: %s\n", timed->family);
    if (*timed->cards)
        buffer_print(out, "  its graphics cards were not timed: %s%s%s\n", timed->cards,
                     timed->card ? "; --on " : "", timed->card ? timed->card->name : "");
    if (path)
        buffer_print(out, "  written: %s, for --on %s\n", path, path);
    else
        buffer_print(out, "  this computer was measured; for a server: `chalkline measure URL`; -o FILE.csv keeps it\n");
}

/* What only traffic needs. */
static bool fits_machine(const struct command *command, struct error *error)
{
    for (size_t i = 0; i < command->value_count; i++) {
        const char *name = command->values[i].option->name;
        if (strcmp(name, "output") && strcmp(name, "json")) {
            error_set(error, "--%s without a URL", name);
            return error_expected(error, "chalkline measure http://HOST:PORT, or no options but --output to time "
                                         "this machine");
        }
    }
    return true;
}

static bool write_sheet(const struct timed *timed, struct arena *arena, const char *path, const char *option,
                        struct error *error)
{
    struct buffer csv = { .arena = arena };
    print_sheet(timed, &csv);
    return file_write(arena, option, path, (struct text){ csv.data, csv.size }, error);
}

/* Where this machine is remembered, with the folders above it; NULL: nowhere. */
static const char *state_path(struct arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = state && *state == '/' ? arena_print(arena, "%s/chalkline/this.csv", state)
                 : home && *home == '/' ? arena_print(arena, "%s/.local/state/chalkline/this.csv", home) : NULL;
    for (char *slash = path ? strchr(path + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    return path;
}

/* The sheet as this machine was remembered; false where there is none, or none that this build reads: another build has
 * facts that this one does not know. */
static bool read_remembered(struct arena *arena, const char *path, struct csv *csv, struct error *error)
{
    struct catalog catalog;
    struct text text;
    catalog_open(&catalog, arena);
    return file_read(arena, path, 1 << 20, &text, error) && catalog_read(&catalog, CATALOG_MACHINE, path, text, error) &&
           csv_read(arena, path, text, csv, error) && csv->rows;
}

/* The family that a sheet of this machine names. */
static const char *found_in(const struct csv *csv)
{
    for (size_t row = 0; row < csv->rows; row++)
        if (!strcmp(csv_cell(csv, row, csv_column(csv, "fact")), "family"))
            return csv_cell(csv, row, csv_column(csv, "value"));
    return "a processor of no known family";
}

static char temporary[400];                     /* a sheet that goes when the program ends */

static void remove_temporary(void)
{
    unlink(temporary);
}

/* A file for this run alone, where this machine cannot be remembered; NULL: none can be made. */
static const char *temporary_path(struct arena *arena)
{
    const char *folder = getenv("TMPDIR");
    struct error ignored;
    if (!file_may_write(arena, "this.csv", &ignored) ||
        snprintf(temporary, sizeof temporary, "%s/chalkline-XXXXXX.csv", folder && *folder ? folder : "/tmp") >= (int)sizeof temporary)
        return NULL;
    const int file = mkstemps(temporary, strlen(".csv"));
    if (file < 0)
        return NULL;
    close(file);
    atexit(remove_temporary);
    return temporary;
}

bool measure_this(struct arena *arena, struct command *command, const char **note, struct error *error)
{
    struct timed *timed = arena_alloc(arena, sizeof *timed);
    struct value *on = NULL;
    size_t at = 0;
    struct csv csv;
    struct error unread = { 0 };
    bool remembered = true;
    *note = NULL;
    if (command_asks_here(command))
        command_set(arena, command, "on", "this");
    for (size_t i = 0; i < command->value_count; i++)
        if (!strcmp(command->values[i].option->name, "on") && names_this(command->values[i].text, &at))
            on = &command->values[i];
    if (!on)
        return true;
    const char *cards = cards_here(arena, command->verb->here, note), *path = state_path(arena);
    const char *before = arena_copy(arena, on->text, at), *after = on->text + at + strlen("this");
    const bool alone = !*before && !*after;
    if (cards) {
        on->text = arena_print(arena, "%s%s%s", before, cards, after);
        if (alone && starts_with(cards, "1x ") && verb_option(command->verb, "gpus") && !command_given(command, "gpus"))
            command_set(arena, command, "gpus", "1");
        return true;
    }
    struct error forgotten = { .what = "no HOME" };
    if (!path || !file_there(arena, path) || !read_remembered(arena, path, &csv, &unread)) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "timing this machine, for up to 20 s; it is remembered\n");
        if (!time_machine(arena, command, timed, error))
            return false;
        if (!path || !write_sheet(timed, arena, path, "--on this", &forgotten)) {
            remembered = false;
            path = temporary_path(arena);
            if (path && !write_sheet(timed, arena, path, "--on this", error))
                return false;
            if (!path) {
                error_set(error, "--on this: no folder that can be written");
                return error_expected(error, "HOME, XDG_STATE_HOME or TMPDIR; or `chalkline measure -o FILE.csv` and --on FILE.csv");
            }
        }
        if (!read_remembered(arena, path, &csv, error))
            return false;
    }
    on->text = arena_print(arena, "%s%s%s", before, path, after);
    const char *kept = remembered ? arena_print(arena, "remembered in %s", path)
                                  : arena_print(arena, "not remembered (%s)", forgotten.what);
    *note = arena_print(arena, "this is %s, timed on %s (%s) and %s; `chalkline measure` times it "
                        "again, with -o FILE.csv to keep it%s%s%s", csv_cell(&csv, 0, csv_column(&csv, "name")),
                        csv_cell(&csv, 0, csv_column(&csv, "date")), found_in(&csv), kept,
                        *unread.what ? " (timed again now, since this build does not read what was remembered: " : "",
                        unread.what, *unread.what ? ")" : "");
    return true;
}

bool ask_machine(struct arena *arena, const struct command *command, struct answer *answer,
                 struct error *error)
{
    struct timed *timed = arena_alloc(arena, sizeof *timed);
    const char *path = command_text(command, "output"), *remembered = state_path(arena);
    struct error ignored;
    if (!fits_machine(command, error) || (path && !file_may_write(arena, path, error)) ||
        !time_machine(arena, command, timed, error))
        return false;
    if (path && !write_sheet(timed, arena, path, "--output", error))
        return false;
    if (remembered)                                 /* what --on this means from now on */
        write_sheet(timed, arena, remembered, "", &ignored);
    add_json(arena, timed, path, answer->doc);
    add_text(arena, timed, path, &answer->text);
    return true;
}
