/* deduce: sheets are read as their makers meant them; cells
 * and draws made again against plain sums; and sheets made forward from known operating points,
 * which the ranges must hold as often as they say. Real sheets where they are. */
#include "test.h"
#include "commands.h"

#include "ask/ask.h"
#include "ask/deduce/deduce.h"
#include "rows/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct world {
    struct arena arena;
    struct command command;
    struct scenario scenario;
    struct priors priors;
    struct error error;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    if (!scenario_open(&world->scenario, &world->arena, &world->command, (struct subject){ 0 },
                       &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    priors_read(&world->scenario, &world->priors);
    *state = world;
    return 0;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static struct draws *make(struct world *world, uint64_t seed, size_t count)
{
    struct draws *draws;
    if (!draws_make(&world->arena, NULL, &world->scenario.formulas, &world->scenario.facts, seed, count,
                    false, &draws, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return draws;
}

struct truths {
    double *field[FIELD_COUNT], *quantity[QUANTITY_COUNT];
};

static struct truths truths_make(struct world *world, uint64_t seed, size_t count)
{
    struct truths truths;
    for (int i = 0; i < FIELD_COUNT; i++)
        truths.field[i] = arena_array(&world->arena, count, sizeof(double));
    for (int i = 0; i < QUANTITY_COUNT; i++)
        truths.quantity[i] = arena_array(&world->arena, count, sizeof(double));
    if (!draws_values(&world->arena, &world->scenario.formulas, &world->scenario.facts, seed, count,
                      truths.field, truths.quantity, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return truths;
}

/* ---- draws ------------------------------------------------------------------------------- */

/* With the arithmetic of attention counted, no GPU writes more cache, and many write less. */
static void a_switch_reaches_the_draws(void **state)
{
    enum { COUNT_OF = 3000 };
    struct world *world = *state;
    const struct truths without = truths_make(world, 7, COUNT_OF);
    int less = 0;
    assert_true(scenario_set(&world->scenario, "count_attention_flops=1", &world->error));
    const struct truths with = truths_make(world, 7, COUNT_OF);
    const double *before = without.quantity[QUANTITY_CACHE_MADE], *after = with.quantity[QUANTITY_CACHE_MADE];
    for (int k = 0; k < COUNT_OF; k++) {
        assert_true(after[k] <= before[k]);
        less += after[k] < before[k];
    }
    assert_in_range(less, COUNT_OF / 2, COUNT_OF);
}

/* Moments and tails of the normal distribution; each within five deviations of its mean. */
static void normal_draws_are_normal(void **state)
{
    enum { MANY = 1 << 20 };
    struct world *world = *state;
    struct ziggurat ziggurat;
    struct random random;
    double *x = arena_array(&world->arena, MANY, sizeof *x), sum[5] = { 0 };
    size_t beyond[4] = { 0 };
    static const double at[4] = { 1, 2, 3, 4 }, tail[4] = { 0.317310508, 0.0455002639,
                                                            0.00269979606, 6.33424837e-5 };
    static const double mean[5] = { 1, 0, 1, 0, 3 }, variance[5] = { 0, 1, 2, 15, 96 };
    ziggurat_open(&ziggurat);
    random_stream(&random, 5, "normal", 0);
    random_normals(&random, &ziggurat, x, MANY);
    for (size_t i = 0; i < MANY; i++) {
        double power = 1;
        for (int k = 0; k < 5; k++, power *= x[i])
            sum[k] += power;
        for (int k = 0; k < 4; k++)
            beyond[k] += fabs(x[i]) > at[k];
    }
    for (int k = 1; k < 5; k++)
        assert_true(fabs(sum[k] / MANY - mean[k]) < 5 * sqrt(variance[k] / MANY));
    for (int k = 0; k < 4; k++)
        assert_true(fabs((double)beyond[k] - tail[k] * MANY) < 5 * sqrt(tail[k] * MANY));
}

/* Many at once are the same as one by one. */
static void many_draws_are_single_draws(void **state)
{
    enum { MANY = 1003 };
    struct random many, single;
    double x[MANY];
    (void)state;
    random_stream(&many, 5, "even", 0);
    single = many;
    random_uniforms(&many, x, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_true(x[i] == ((double)random_bits(&single) + 0.5) * 0x1p-32);
    assert_true(many.state == single.state);
}

static void nothing_seen(struct evidence *evidence)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        evidence->seen[i] = evidence->policy[i] = NAN;
}

static void near_log(const char *what, double got, double wanted, double most)
{
    if (!(fabs(log(got / wanted)) <= most))
        fail_msg("%s: got %g, wanted %g, within %g of the logarithm", what, got, wanted, most);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* The same draws, weighed one by one in full precision and sorted. */
static void cells_equal_plain_sums(void **state)
{
    enum { DRAWS = 1 << 16 };
    struct world *world = *state;
    struct draws *draws = make(world, 11, DRAWS);
    struct truths truths = truths_make(world, 11, DRAWS);
    struct evidence evidence;
    struct posterior posterior;
    double (*pairs)[2] = arena_array(&world->arena, DRAWS, sizeof *pairs), total = 0, sum = 0;
    const struct belief *in = &world->priors.belief[FIELD_INPUT];
    const struct belief *out = &world->priors.belief[FIELD_OUTPUT];
    nothing_seen(&evidence);
    evidence.seen[FIELD_INPUT] = 3e-6;
    evidence.seen[FIELD_OUTPUT] = 2;
    deduce_sheet(&world->arena, draws, world->priors.belief, &evidence, false, &posterior);
    for (size_t k = 0; k < DRAWS; k++) {
        double a = log(3e-6 / truths.field[FIELD_INPUT][k]) / in->spread;
        double b = log(2 / truths.field[FIELD_OUTPUT][k]) / out->spread;
        double c = log(2 / out->policy_middle) / out->policy_spread;
        pairs[k][0] = truths.quantity[QUANTITY_UTILISATION][k];
        pairs[k][1] = exp(-a * a / 2) * ((1 - out->policy) * exp(-b * b / 2) / out->spread +
                                         out->policy * exp(-c * c / 2) / out->policy_spread);
        total += pairs[k][1];
    }
    qsort(pairs, DRAWS, sizeof *pairs, by_size);
    const double at[] = { 0.05, 0.5, 0.95 };
    const double got[] = { posterior.span[QUANTITY_UTILISATION].q05,
                           posterior.span[QUANTITY_UTILISATION].q50,
                           posterior.span[QUANTITY_UTILISATION].q95 };
    for (size_t k = 0, q = 0; k < DRAWS && q < 3; k++)
        for (sum += pairs[k][1]; q < 3 && sum >= at[q] * total; q++)
            near_log("quantile", got[q], pairs[k][0], 0.02);
}

/* Few draws, made again where the sheet lies, against many. */
static void draws_again_agree(void **state)
{
    struct world *world = *state;
    struct evidence evidence;
    struct posterior few, many;
    nothing_seen(&evidence);
    evidence.seen[FIELD_INPUT] = 40e-6;
    evidence.seen[FIELD_OUTPUT] = 1.2;
    evidence.seen[FIELD_HIT] = 0.01;
    evidence.seen[FIELD_STORAGE] = 4e-5;
    deduce_sheet(&world->arena, make(world, 12, 1 << 14), world->priors.belief, &evidence, true,
                 &few);
    deduce_sheet(&world->arena, make(world, 13, 1 << 21), world->priors.belief, &evidence, false,
                 &many);
    assert_true(draws_count(few.draws) != 1 << 14);         /* made again */
    assert_true(many.effective > 2000);
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        double width = log(many.span[i].q95 / many.span[i].q05) / 3.3;   /* deviations */
        near_log(quantities[i], few.span[i].q50, many.span[i].q50, 0.25 * width);
        near_log(quantities[i], few.span[i].q05, many.span[i].q05, 0.6 * width);
        near_log(quantities[i], few.span[i].q95, many.span[i].q95, 0.6 * width);
    }
}

static void same_seed_same_bits(void **state)
{
    struct world *world = *state;
    struct evidence evidence;
    struct posterior a, b;
    nothing_seen(&evidence);
    evidence.seen[FIELD_INPUT] = 6e-4;                      /* far out: draws are made again */
    evidence.seen[FIELD_OUTPUT] = 1;
    deduce_sheet(&world->arena, make(world, 4, 20000), world->priors.belief, &evidence, true, &a);
    deduce_sheet(&world->arena, make(world, 4, 20000), world->priors.belief, &evidence, true, &b);
    assert_memory_equal(a.span, b.span, sizeof a.span);
    assert_memory_equal(a.tier, b.tier, sizeof a.tier);
}

static void what_is_known_is_not_drawn(void **state)
{
    struct world *world = *state;
    struct evidence evidence;
    struct posterior posterior;
    assert_true(scenario_set(&world->scenario, "params_active=40e9", &world->error));
    struct draws *draws = make(world, 4, 20000);
    nothing_seen(&evidence);
    evidence.seen[FIELD_INPUT] = 1e-6;
    deduce_sheet(&world->arena, draws, world->priors.belief, &evidence, true, &posterior);
    near_log("q05", posterior.span[QUANTITY_PARAMS_ACTIVE].q05, 40e9, 0.02);
    near_log("q95", posterior.span[QUANTITY_PARAMS_ACTIVE].q95, 40e9, 0.02);
}

/* ---- sheets ------------------------------------------------------------------------------- */

static struct price_sheet sheet_of(struct world *world, const char *path)
{
    struct price_sheet sheet = { 0 };
    struct text text;
    if (!file_read(&world->arena, path, 64 << 20, &text, &world->error) ||
        !prices_read(&world->arena, path, text, &sheet, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return sheet;
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("got %.12g, wanted %.12g", got, wanted);
}

static void litellm_is_read(void **state)
{
    struct world *world = *state;
    struct price_sheet sheet = sheet_of(world, "tests/fixtures/prices/litellm_2026-08-01.json");
    assert_int_equal(sheet.count, 3);
    assert_int_equal(sheet.left_out, 1);                    /* vectors; the sample is no entry */
    const struct price *large = &sheet.prices[0], *wide = &sheet.prices[1];
    assert_string_equal(large->date, "2026-08-01");
    near(large->at[SERVICE_STANDARD][0][PRICE_WRITE_LONG], 1e-5);
    near(large->fast, 6);
    assert_true(isnan(large->threshold));
    near(wide->threshold, 200000);
    near(wide->at[SERVICE_STANDARD][1][PRICE_OUTPUT], 2.25e-5);
    near(wide->at[SERVICE_BATCH][0][PRICE_INPUT], 1.5e-6);
    near(wide->at[SERVICE_PRIORITY][0][PRICE_OUTPUT], 3e-5);
    assert_int_equal(wide->free, 1);                        /* a write at 0 is not charged, no price */
    assert_true(isnan(wide->at[SERVICE_STANDARD][0][PRICE_WRITE_SHORT]));
    near(sheet.prices[2].at[SERVICE_STANDARD][0][PRICE_HIT], 9e-7);
    assert_string_equal(price_model(&sheet.prices[2]), "lab-large");
}

static void suspicious_is_not_used(void **state)
{
    struct world *world = *state;
    struct price_sheet sheet = sheet_of(world, "tests/fixtures/prices/litellm_2026-08-01.json");
    struct seen_rows rows;
    struct price_reading reading;
    assert_true(seen_open(&world->scenario, &rows, &world->error));
    reading_make(&world->arena, &rows, &world->priors, &sheet.prices[0], &reading);
    assert_int_equal(reading.suspicious, 0);
    near(reading.evidence.seen[FIELD_WRITE_SHORT], 0.25);
    near(reading.evidence.seen[FIELD_WRITE_LONG], 1);
    reading_make(&world->arena, &rows, &world->priors, &sheet.prices[1], &reading);
    assert_int_equal(reading.suspicious, 0);
    near(reading.evidence.seen[FIELD_STEP_OUTPUT], 1.5);
    near(reading.evidence.seen[FIELD_BATCH_OUTPUT], 1);
    near(reading.priority, 2);
    reading_make(&world->arena, &rows, &world->priors, &sheet.prices[2], &reading);
    assert_int_equal(reading.suspicious, 1u << FIELD_OUTPUT | 1u << FIELD_HIT);
    assert_true(isnan(reading.evidence.seen[FIELD_OUTPUT]));
    assert_string_equal(reading_suspicious(&world->arena, &reading), "out/in 200, hit 0.9");
}

/* One decision of a seller, not six: six models at prices far apart with one ratio. */
static void one_seller_is_one_decision(void **state)
{
    enum { MODELS = 6 };
    struct world *world = *state;
    struct buffer text = { .arena = &world->arena };
    struct price_sheet sheet;
    struct price_reading readings[MODELS + 1];
    struct seen_rows rows;
    buffer_print(&text, "provider,model,input,output,cache_read\n");
    for (int i = 0; i < MODELS; i++)
        buffer_print(&text, "big,m%d,%d,%d,%.2f\n", i, 1 + i, 5 * (1 + i), 0.1 * (1 + i % 2));
    buffer_print(&text, "small,m,1,5,0.1\n");
    assert_true(prices_read(&world->arena, "s", (struct text){ text.data, text.size }, &sheet,
                            &world->error));
    assert_true(seen_open(&world->scenario, &rows, &world->error));
    assert_int_equal(sheet.count, MODELS + 1);
    for (size_t i = 0; i < sheet.count; i++)
        reading_make(&world->arena, &rows, &world->priors, &sheet.prices[i], &readings[i]);
    readings_vendors(&world->arena, readings, sheet.count, &world->priors);
    assert_int_equal(readings[0].vendor, 1u << FIELD_OUTPUT);
    near(readings[0].evidence.policy[FIELD_OUTPUT], world->priors.vendor_policy);
    assert_int_equal(readings[0].same[FIELD_OUTPUT], MODELS);
    assert_int_equal(readings[MODELS].vendor, 0);
    assert_true(isnan(readings[MODELS].evidence.policy[FIELD_OUTPUT]));
}

/* ---- asked as the command line asks ------------------------------------------------------- */

static void give(struct world *world, const char *name, const char *text)
{
    world->command.verb = &verb_deduce;
    command_give(&world->arena, &world->command, name, text);
}

static struct answer ask(struct world *world, const char *path)
{
    struct answer answer = { .doc = doc_new(&world->arena, DOC_OBJECT),
                             .text.arena = &world->arena, .csv.arena = &world->arena };
    world->command.verb = &verb_deduce;
    world->command.word_count = 0;
    command_put_word(&world->arena, &world->command, path);
    if (!verb_deduce.ask(&world->arena, &world->command, &answer, &world->error))
        fail_msg("%s (%s)", world->error.what, world->error.hint);
    return answer;
}

static double number(const struct doc *doc, const char *path)
{
    char key[64];
    for (; doc && *path; path += strspn(path, " ")) {
        size_t size = strcspn(path, " ");
        assert_true(size < sizeof key);
        memcpy(key, path, size);
        key[size] = 0;
        doc = doc_get(doc, key);
        path += size;
    }
    if (!doc || doc->kind != DOC_NUMBER)
        fail_msg("no number %s", path);
    return doc->number;
}

/* The posterior of a known sheet, as an independent program found it (section 8.3 of the notes
 * that this was made from): without the rule that one seller is one decision. */
static void a_known_sheet(void **state)
{
    struct world *world = *state;
    give(world, "model", "claude-opus-4-7");
    struct answer answer = ask(world, "prices");
    const struct doc *report = doc_get(answer.doc, "claude-opus-4-7");
    near_log("active", number(report, "quantities params_active posterior q50"), 196e9, 0.15);
    near_log("active", number(report, "quantities params_active posterior q05"), 46e9, 0.15);
    near_log("active", number(report, "quantities params_active posterior q95"), 706e9, 0.15);
    near_log("use", number(report, "quantities decode_utilisation posterior q50"), 0.20, 0.2);
    near_log("total", number(report, "quantities params_total posterior q95"), 11e12, 0.2);
    near(number(report, "as_priced implied_drain_time"), 440);
    assert_true(number(report, "draws effective") > 10000);
    near(number(report, "ratios seen_write_long_premium value"), 1);
}

static void market_of_hosts(void **state)
{
    struct world *world = *state;
    give(world, "market", "open-70b");
    struct answer answer = ask(world, "tests/fixtures/prices/old.csv");
    near(number(answer.doc, "hosts"), 3);
    near(number(answer.doc, "dropped"), 1);
    near_log("total", number(answer.doc, "market_params_total value"),
             exp(5.86 + 1.22 * log(number(answer.doc, "market_output") * 1e6)) * 1e9, 1e-3);
}

static void what_changed(void **state)
{
    struct world *world = *state;
    give(world, "diff", "tests/fixtures/prices/old.csv");
    struct answer answer = ask(world, "tests/fixtures/prices/new.csv");
    const struct doc *one = doc_get(answer.doc, "changed")->first, *two = one->next;
    near(number(one, "seen_hit_cost before"), 0.1);
    near(number(one, "seen_hit_cost after"), 0.02);
    assert_non_null(doc_get(one, "seen_step_input"));
    near(number(two, "seen_output_over_input after"), 8);
    near(number(two, "context after"), 1000000);
    near(number(answer.doc, "came"), 1);
    near(number(answer.doc, "gone"), 6);
    assert_int_equal(doc_get(answer.doc, "changed")->count, 2);
    const struct doc *slip = doc_get(answer.doc, "slips")->first;       /* 135,000 became 0.3 USD/Mtoken */
    assert_true(slip && !slip->next);
    assert_string_equal(doc_text(slip, "model", ""), "open-70b");
    near(number(slip, "seen_input before"), 0.135);
    assert_non_null(strstr(answer.csv.data, "\nslip,epsilon,open-70b,seen_input,"));
    assert_non_null(strstr(answer.csv.data, "\nchange,alpha,"));
}

/* Active parameters of closed and open models as the independent program found them. */
static void known_models(struct world *world, const char *path)
{
    static const struct { const char *model; double q05, q50, q95; } known[] = {
        { "gpt-5.5", 50e9, 213e9, 730e9 },
        { "gemini/gemini-3.1-pro-preview", 21e9, 92e9, 394e9 },
        { "deepseek/deepseek-v3.2", 3.5e9, 15e9, 67e9 },
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        give(world, "model", known[i].model);
        give(world, "draws", "300000");
        struct answer answer = ask(world, path);
        const struct doc *report = doc_get(answer.doc, known[i].model);
        near_log(known[i].model, number(report, "quantities params_active posterior q05"),
                 known[i].q05, 0.15);
        near_log(known[i].model, number(report, "quantities params_active posterior q50"),
                 known[i].q50, 0.15);
        near_log(known[i].model, number(report, "quantities params_active posterior q95"),
                 known[i].q95, 0.15);
    }
    give(world, "model", NULL);
    give(world, "draws", NULL);
}

/* Published sheets: all entries, and the suspicious ones. */
static void real_sheets(void **state)
{
    static const struct { const char *path; double read, suspicious; } sheets[] = {
        { "prices/litellm_model_prices_2026-08-01.json", 2173, 35 },
        { "prices/models_dev_costs_2026-07-02.csv", 0, 0 },
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(sheets); i++) {
        const char *path = shared_file(&world->arena, sheets[i].path);
        if (!path)
            continue;
        struct answer answer = ask(world, path);
        printf("%s: %.0f entries, %.0f suspicious\n", path, number(answer.doc, "read"),
               number(answer.doc, "suspicious"));
        if (sheets[i].read > 0) {
            near(number(answer.doc, "read"), sheets[i].read);
            near(number(answer.doc, "suspicious"), sheets[i].suspicious);
            known_models(world, path);
        }
    }
}

/* ---- coverage ---------------------------------------------------------------------------- */

/* Which fields a sheet shows. */
static const unsigned patterns[] = {
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_WRITE_SHORT |
        1u << FIELD_WRITE_LONG | 1u << FIELD_FAST,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_STORAGE |
        1u << FIELD_STEP_INPUT | 1u << FIELD_STEP_OUTPUT,
    1u << FIELD_INPUT | 1u << FIELD_OUTPUT | 1u << FIELD_HIT | 1u << FIELD_BATCH_INPUT |
        1u << FIELD_BATCH_OUTPUT | 1u << FIELD_STEP_INPUT | 1u << FIELD_STEP_OUTPUT,
};

/* A price from a cost: as the seller's policy has it, or the cost with a margin that strays. */
static double price_of(const struct belief *belief, double cost, struct random *random)
{
    double stray = random_normal(random);
    bool policy = random_uniform(random) < belief->policy;
    if (policy || !(cost > 0))                          /* no batch is so fast: policy it is */
        return belief->policy_middle * scalar_exp(belief->policy_spread * stray);
    return cost * scalar_exp(belief->spread * stray);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct held {                       /* of one sheet */
    bool in90[QUANTITY_COUNT], in50[QUANTITY_COUNT], outside;
};

static struct held hold_sheet(const struct world *world, const struct draws *draws,
                              const struct truths *truths, size_t k)
{
    struct arena scratch = { 0 };
    struct evidence evidence;
    struct posterior posterior;
    struct random random;
    struct held held;
    random_stream(&random, 3, "sheets", k);
    nothing_seen(&evidence);
    for (int i = 0; i < FIELD_COUNT; i++) {
        double price = price_of(&world->priors.belief[i], truths->field[i][k], &random);
        if (patterns[k % COUNT(patterns)] >> i & 1)
            evidence.seen[i] = price;
    }
    deduce_sheet(&scratch, draws, world->priors.belief, &evidence, true, &posterior);
    held.outside = posterior.outside;
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        double truth = truths->quantity[i][k];
        held.in90[i] = truth >= posterior.span[i].q05 && truth <= posterior.span[i].q95;
        held.in50[i] = truth >= posterior.span[i].q25 && truth <= posterior.span[i].q75;
    }
    arena_free(&scratch);
    return held;
}

static void ranges_hold_the_truth(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    const bool all = false;                 /* slow there, and enough to be looked at */
    const size_t sheets = 12, many = 1 << 14;
#else
    const bool all = true;
    const size_t sheets = (size_t)rounds(120), many = rounds(1) > 1 ? 1 << 17 : 1 << 16;
#endif
    const double wide = fmax(1, sqrt(500.0 / (double)sheets));      /* fewer sheets, more chance */
    struct world *world = *state;
    struct held *held = arena_array(&world->arena, sheets, sizeof *held);
    double start = seconds();
    struct draws *draws = make(world, 1, many);
    printf("%.2f M draws/s\n", (double)many / (seconds() - start) * 1e-6);
    struct truths truths = truths_make(world, 2, sheets);
    size_t outside = 0;
    start = seconds();
    #pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < sheets; k++)
        held[k] = hold_sheet(world, draws, &truths, k);
    for (size_t k = 0; k < sheets; k++)
        outside += held[k].outside;
    printf("%zu sheets in %.1f s, %zu outside the priors\n", sheets, seconds() - start, outside);
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        size_t in90 = 0, in50 = 0;
        for (size_t k = 0; k < sheets; k++)
            in90 += held[k].in90[i], in50 += held[k].in50[i];
        printf("%-22s 90 %% holds %.1f  50 %% holds %.1f\n", quantities[i],
               100.0 * (double)in90 / (double)sheets, 100.0 * (double)in50 / (double)sheets);
        if (all) {
            assert_true(fabs((double)in90 / (double)sheets - 0.9) <= 0.05 * wide);
            assert_true(fabs((double)in50 / (double)sheets - 0.5) <= 0.07 * wide);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_switch_reaches_the_draws, world_open, world_close),
        cmocka_unit_test_setup_teardown(normal_draws_are_normal, world_open, world_close),
        cmocka_unit_test_setup_teardown(many_draws_are_single_draws, world_open, world_close),
        cmocka_unit_test_setup_teardown(cells_equal_plain_sums, world_open, world_close),
        cmocka_unit_test_setup_teardown(draws_again_agree, world_open, world_close),
        cmocka_unit_test_setup_teardown(same_seed_same_bits, world_open, world_close),
        cmocka_unit_test_setup_teardown(what_is_known_is_not_drawn, world_open, world_close),
        cmocka_unit_test_setup_teardown(litellm_is_read, world_open, world_close),
        cmocka_unit_test_setup_teardown(suspicious_is_not_used, world_open, world_close),
        cmocka_unit_test_setup_teardown(one_seller_is_one_decision, world_open, world_close),
        cmocka_unit_test_setup_teardown(a_known_sheet, world_open, world_close),
        cmocka_unit_test_setup_teardown(market_of_hosts, world_open, world_close),
        cmocka_unit_test_setup_teardown(what_changed, world_open, world_close),
        cmocka_unit_test_setup_teardown(real_sheets, world_open, world_close),
        cmocka_unit_test_setup_teardown(ranges_hold_the_truth, world_open, world_close),
    };
    return cmocka_run_group_tests_name("deduce", tests, NULL, NULL);
}
