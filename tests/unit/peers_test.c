/* The formulas of others (formulas/serving/peers.chalk): each by hand on one server, and beside what the
 * tools themselves say of others; then `check --peers` over the sheet that is built in. */
#include "test.h"
#include "commands.h"
#include "scenario/values.h"

#include "ask/ask.h"

#include <math.h>
#include <unistd.h>

struct world {
    struct arena arena;
    struct scenario scenario;
    struct command command;
};

static void give(struct world *world, const char *row, double value)
{
    facts_set(&world->scenario.facts, row, value, ORIGIN_GIVEN, "test");
}

static void world_open(struct world *world, const char *model, const char *machine, double chips,
                       double concurrency, double prompt, double output)
{
    struct error error;
    *world = (struct world){ 0 };
    world->command.verb = &verb_eval;
    command_set(&world->arena, &world->command, "batch", "64");     /* no row of others reads it */
    if (!scenario_open(&world->scenario, &world->arena, &world->command, subject_of(model, machine),
                       &error))
        fail_msg("%s (%s)", error.what, error.hint);
    give(world, "chips", chips);
    give(world, "attention_dp", 1);
    give(world, "pipeline_parallel", 1);
    give(world, "concurrency", concurrency);
    give(world, "prompt_tokens", prompt);
    give(world, "output_tokens", output);
}

static double value(struct world *world, const char *row)
{
    struct error error;
    double number;
    if (!value_of(&world->scenario, row, &number, &error))
        fail_msg("%s: %s (%s)", row, error.what, error.hint);
    return number;
}

static void within(struct world *world, const char *row, double wanted, double tolerance)
{
    const double got = value(world, row);
    if (!(fabs(got - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%s: %.9g, expected %.9g", row, got, wanted);
}

/* ---- by hand ----------------------------------------------------------------------------------- */

/* Llama-3.1-8B in bf16 on two H100: 16 requests of 1,000 + 200 tokens. */
enum { CHIPS = 2, REQUESTS = 16, PROMPT = 1000, OUTPUT = 200, MEAN = PROMPT + OUTPUT / 2 };
static const double L = 32, d = 4096, ff = 14336, heads = 32, kv_heads = 8, head = 128, V = 128256;
static const double BF16 = 2;

static double layers_weights(void)
{
    return L * (d * (heads + 2 * kv_heads) * head + heads * head * d + 3 * d * ff + 2 * d) + d;
}

static double kv_token(void)
{
    return 2 * L * kv_heads * head * BF16;
}

/* FLOPs of attention of a token that attends to `context`. */
static double attention_flops(double context)
{
    return 2 * 2 * L * heads * head * context;
}

static void llama_open(struct world *world)
{
    world_open(world, "llama-3.1-8b", "h100-sxm", CHIPS, REQUESTS, PROMPT, OUTPUT);
}

static void rules_of_thumb(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    const double W = CHIPS * value(&world, "hbm_bandwidth"), F = CHIPS * value(&world, "peak_bf16");
    const double params = layers_weights() + 2 * V * d;
    const double size = BF16 * params / W, induwara = size / 0.92 / 0.7;
    within(&world, "peer_size_tpot", size, 1e-12);
    within(&world, "peer_size_decode", REQUESTS / size, 1e-12);
    within(&world, "peer_gpudojo_tpot", size / 0.75, 1e-12);
    within(&world, "peer_gpudojo_decode", REQUESTS * 0.75 / size, 1e-12);
    within(&world, "peer_gpudojo_prefill", 0.5 * F / (2 * params), 1e-12);
    within(&world, "peer_gpudojo_ttft", PROMPT * 2 * params / (0.5 * F), 1e-12);
    within(&world, "peer_induwara_tpot", induwara, 1e-12);
    within(&world, "peer_induwara_decode", REQUESTS / induwara, 1e-12);
    within(&world, "peer_induwara_prefill", 0.45 * F / (2 * params), 1e-12);
    within(&world, "peer_induwara_ttft", PROMPT * 2 * params / (0.45 * F), 1e-12);
    arena_free(&world.arena);
}

/* An embedding is looked up: of its table one row for each token is read. */
static void rooflines(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    const double W = CHIPS * value(&world, "hbm_bandwidth"), F = CHIPS * value(&world, "peak_bf16");
    const double multiplied = layers_weights() + V * d;
    const double memory = (BF16 * (multiplied + REQUESTS * d) + REQUESTS * MEAN * kv_token()) / W;
    const double compute = REQUESTS * (2 * multiplied + attention_flops(MEAN)) / F;
    const double prompt = PROMPT * (2 * multiplied + attention_flops((PROMPT - 1) / 2.0)) / F;
    assert_true(memory > compute && prompt > BF16 * multiplied / W);
    within(&world, "peer_roofline_tpot", memory, 1e-3);
    within(&world, "peer_roofline_decode", REQUESTS / memory, 1e-3);
    within(&world, "peer_roofline_ttft", prompt, 1e-3);
    within(&world, "peer_roofline_prefill", PROMPT / prompt, 1e-3);
    within(&world, "peer_roofline_throughput", REQUESTS * OUTPUT / (prompt + (OUTPUT - 1) * memory), 1e-3);

    /* operator by operator every matrix is bound by its reads; a token's scores wait for its keys */
    const double link = value(&world, "scale_up_bandwidth");
    const double reduces = 2 * L * 2 * (CHIPS - 1) / CHIPS * d * BF16 / link;
    const double step = (BF16 * multiplied + REQUESTS * MEAN * kv_token()) / W +
                        REQUESTS * attention_flops(MEAN) / F + REQUESTS * reduces;
    const double first = PROMPT * (2 * layers_weights() + attention_flops(PROMPT / 2.0)) / F +
                         BF16 * V * d / W + PROMPT * reduces;
    within(&world, "peer_sol_tpot", step, 1e-3);
    within(&world, "peer_sol_decode", REQUESTS / step, 1e-3);
    within(&world, "peer_sol_ttft", first, 2e-3);
    within(&world, "peer_sol_prefill", PROMPT / first, 2e-3);
    within(&world, "peer_sol_throughput", REQUESTS * OUTPUT / (first + (OUTPUT - 1) * step), 1e-3);
    arena_free(&world.arena);
}

static void stated_efficiencies(void **unused)
{
    (void)unused;
    struct world world;
    llama_open(&world);
    const double W = CHIPS * value(&world, "hbm_bandwidth"), F = CHIPS * value(&world, "peak_bf16");
    const double w = layers_weights(), cache = REQUESTS * MEAN * kv_token();
    const double blis = (BF16 * w + cache) / W;
    const double prompt = PROMPT * (2 * w + attention_flops((PROMPT - 1) / 2.0)) / (0.45 * F);
    assert_true(blis > REQUESTS * (2 * w + attention_flops(MEAN)) / (0.3 * F));
    within(&world, "peer_blis_tpot", blis, 1e-3);
    within(&world, "peer_blis_decode", REQUESTS / blis, 1e-3);
    within(&world, "peer_blis_ttft", prompt, 1e-3);
    within(&world, "peer_blis_prefill", PROMPT / prompt, 1e-3);

    /* NCCL's LL protocol is the fastest: one hop of 0.6 us both ways, 6.8 us, half the bandwidth */
    const double bytes = REQUESTS * d * BF16, half_link = value(&world, "scale_up_bandwidth") / 2;
    const double reduce = 2 * 0.6e-6 + 6.8e-6 + bytes / 2 / half_link / 0.5;
    const double epoch = L * (16e-6 + 2 * reduce) + (BF16 * (w + V * d) + cache) / (0.75 * W);
    within(&world, "peer_epoch_reduce_time", reduce, 1e-9);
    within(&world, "peer_epoch_tpot", epoch, 1e-3);
    within(&world, "peer_epoch_decode", REQUESTS / epoch, 1e-3);
    arena_free(&world.arena);
}

/* Two pools: the decode workers share the requests, a prompt has the chips of its own pool. */
static void split_pools(void **unused)
{
    (void)unused;
    struct world one, two;
    llama_open(&one);
    llama_open(&two);
    give(&two, "decode_workers", 2);
    give(&two, "concurrency", 2 * REQUESTS);
    give(&two, "prefill_chips", 2 * CHIPS);
    static const char *const tpot[] = { "peer_size_tpot", "peer_roofline_tpot", "peer_sol_tpot",
                                        "peer_blis_tpot", "peer_epoch_tpot" };
    for (size_t i = 0; i < COUNT(tpot); i++)
        within(&two, tpot[i], value(&one, tpot[i]), 1e-12);
    within(&two, "peer_gpudojo_ttft", value(&one, "peer_gpudojo_ttft") / 2, 1e-12);
    within(&two, "peer_roofline_ttft", value(&one, "peer_roofline_ttft") / 2, 1e-9);
    within(&two, "peer_blis_ttft", value(&one, "peer_blis_ttft") / 2, 1e-9);
    give(&one, "chips", 2 * CHIPS);
    within(&two, "peer_sol_ttft", value(&one, "peer_sol_ttft"), 1e-12);
    arena_free(&one.arena);
    arena_free(&two.arena);
}

/* ---- beside the tools themselves --------------------------------------------------------------- */

/* Outputs of the tools named, run on 2026-11-20; ours leave out activations and other small parts. */
static const struct {
    const char *row, *model;
    double chips, requests, context, milliseconds, tolerance, bandwidth, peak;  /* 0: the data sheet's */
} outputs[] = {
    { "peer_sol_tpot", "llama-3.1-8b", 1, 1, 4096, 4.644, 0.01, 3.35e12, 989e12 },       /* AIC, SOL */
    { "peer_sol_tpot", "llama-3.1-8b", 1, 64, 4096, 14.93, 0.01, 3.35e12, 989e12 },
    { "peer_sol_tpot", "llama-3.1-70b", 8, 16, 4096, 6.247, 0.02, 3.35e12, 989e12 },
    { "peer_sol_tpot", "llama-3.1-70b", 8, 64, 4096, 9.429, 0.04, 3.35e12, 989e12 },
    { "peer_roofline_tpot", "llama-2-7b", 1, 1, 2048, 4.6564, 0.01, 3.072e12, 989e12 },  /* LLM-Viewer */
    { "peer_roofline_tpot", "llama-2-7b", 1, 32, 2048, 15.6585, 0.02, 3.072e12, 989e12 },
    { "peer_epoch_tpot", "llama-3.1-8b", 1, 1, 4096, 6.7952, 0.01, 3.3e12, 1e15 },       /* Epoch-IE */
    { "peer_epoch_tpot", "llama-3.1-8b", 1, 64, 4096, 20.5811, 0.01, 3.3e12, 1e15 },
    { "peer_epoch_tpot", "llama-3.1-70b", 8, 16, 4096, 12.1895, 0.01, 3.3e12, 1e15 },
    { "peer_epoch_tpot", "llama-3.1-70b", 8, 64, 4096, 16.5609, 0.02, 3.3e12, 1e15 },
};

static void near_their_own_outputs(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct world world;
        world_open(&world, outputs[i].model, "h100-sxm", outputs[i].chips, outputs[i].requests,
                   outputs[i].context, 100);
        give(&world, "hbm_bandwidth", outputs[i].bandwidth);
        give(&world, "peak_bf16", outputs[i].peak);
        give(&world, "mean_context", outputs[i].context);
        within(&world, outputs[i].row, 1e-3 * outputs[i].milliseconds, outputs[i].tolerance);
        arena_free(&world.arena);
    }
}

/* The examples that two sites print: 70 B in 4 bits on an H100, 14 B in 10 GB on an RTX 3090. */
static void near_printed_examples(void **unused)
{
    (void)unused;
    struct world world;
    world_open(&world, NULL, NULL, 1, 1, 1000, 200);
    give(&world, "params_total", 70e9);
    give(&world, "params_active", 70e9);
    give(&world, "weight_bytes", 0.5);
    give(&world, "hbm_bandwidth", 3.35e12);
    give(&world, "peak_bf16", 989e12);
    within(&world, "peer_induwara_decode", 67, 0.5 / 67);
    within(&world, "peer_induwara_prefill", 3179, 0.5 / 3179);
    within(&world, "peer_induwara_ttft", 0.315, 0.5 / 315);
    give(&world, "params_total", 14e9);
    give(&world, "params_active", 14e9);
    give(&world, "weight_bytes", 10.0 / 14);
    give(&world, "hbm_bandwidth", 936e9);
    give(&world, "peak_bf16", 142e12);
    within(&world, "peer_gpudojo_decode", 70, 0.5 / 70);
    within(&world, "peer_gpudojo_prefill", 2536, 0.5 / 2536);
    arena_free(&world.arena);
}

/* ---- check --peers ----------------------------------------------------------------------------- */

static double number(const struct doc *doc, const char *peer, const char *metric, const char *key)
{
    const struct doc *score = doc_get(doc_get(doc_get(doc, "peers"), peer), metric);
    const struct doc *found = score ? doc_get(score, key) : NULL;
    return found && found->kind == DOC_NUMBER ? found->number : NAN;
}

static void scored_over_the_same_values(void **unused)
{
    (void)unused;
    struct arena arena = { 0 };
    struct command command = { .verb = &verb_check };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
    struct error error;
    command_set(&arena, &command, "peers", "");
    if (!verb_check.ask(&arena, &command, &answer, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    size_t compared = 0;
    for (const struct doc *peer = doc_get(answer.doc, "peers")->first; peer; peer = peer->next)
        for (const struct doc *metric = peer->first; metric; metric = metric->next) {
            const double n = number(answer.doc, peer->key, metric->key, "n");
            const double ours = number(answer.doc, "chalkline", metric->key, "n");
            assert_true(n > 0 && n == ours);
            assert_true(isnan(number(answer.doc, peer->key, metric->key, "coverage")) ==
                        (strcmp(peer->key, "chalkline") != 0));
            compared++;
        }
    assert_true(compared >= 20);
    for (const struct doc *metric = doc_get(doc_get(answer.doc, "peers"), "chalkline")->first; metric;
         metric = metric->next)                     /* no more of them than without --peers */
        assert_true(number(answer.doc, "chalkline", metric->key, "n") <=
                    doc_get(doc_get(doc_get(answer.doc, "metrics"), metric->key), "n")->number);
    /* a bound is above every throughput and below every time */
    assert_true(number(answer.doc, "roofline", "tpot", "bias") < 0);
    assert_true(number(answer.doc, "roofline", "throughput", "bias") > 0);
    assert_true(number(answer.doc, "chalkline", "tpot", "median") <
                number(answer.doc, "epoch", "tpot", "median"));
    assert_non_null(strstr(answer.text.data, "formula"));
    arena_free(&arena);
}

/* A time measured as a formula predicts it has no error by it. */
static void a_formula_is_right_of_itself(void **unused)
{
    (void)unused;
    char path[] = "/tmp/peers_test.XXXXXX";
    struct arena arena = { 0 };
    struct world world;
    world_open(&world, "llama-3.1-8b", "h100-sxm", 2, 16, 1000, 200);
    const int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    assert_non_null(out);
    fprintf(out, "silicon_data_source,backend,model_path,system,precision,mode,isl,osl,tp_size,"
                 "attention_dp_size,moe_tp_size,moe_ep_size,moe_quant_mode,silicon_ttft_ms,silicon_tpot_ms\n"
                 "auto-gap-analysis;silicon_concurrency=16,vllm,llama-3.1-8b,h100_sxm,bf16,agg,1000,200,"
                 "2,1,1,1,,%.17g,%.17g\n", 1e3 * value(&world, "peer_sol_ttft"),
            1e3 * value(&world, "peer_sol_tpot"));
    fclose(out);
    struct command command = { .verb = &verb_check };
    struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
    struct error error;
    command_set(&arena, &command, "peers", "");
    command_set(&arena, &command, "measured", path);
    if (!verb_check.ask(&arena, &command, &answer, &error))
        fail_msg("%s (%s)", error.what, error.hint);
    assert_true(number(answer.doc, "sol", "tpot", "median") < 1e-9);
    assert_true(number(answer.doc, "sol", "ttft", "median") < 1e-9);
    assert_true(number(answer.doc, "blis", "tpot", "median") > 1e-3);
    unlink(path);
    arena_free(&arena);
    arena_free(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_thumb),
        cmocka_unit_test(rooflines),
        cmocka_unit_test(stated_efficiencies),
        cmocka_unit_test(split_pools),
        cmocka_unit_test(near_their_own_outputs),
        cmocka_unit_test(near_printed_examples),
        cmocka_unit_test(scored_over_the_same_values),
        cmocka_unit_test(a_formula_is_right_of_itself),
    };
    return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}
