/* Price lists of other shapes: routers, clouds, gateways. Each row is a small list of a producer's shape and the prices that it
 * means, in USD per million tokens; or a list that cannot be read, with the key that is named. */
#include "test.h"

#include "import/prices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *json, *kind, *seller, *model;
    double input, output, hit, threshold, above;    /* NAN: none; above: the input price there */
    size_t further;
} lists[] = {
    /* LiteLLM: ranges of the prompt; names with a step; the proxy's answer; characters (four a token). */
    { "{\"d/q\":{\"mode\":\"chat\",\"litellm_provider\":\"d\",\"tiered_pricing\":[{\"range\":[0,32000],\"input_cost_per_token\":1e-6,"
      "\"output_cost_per_token\":5e-6,\"cache_read_input_token_cost\":1e-7},{\"range\":[32000,128000],\"input_cost_per_token\":2e-6,"
      "\"output_cost_per_token\":9e-6},{\"range\":[128000,1e6],\"input_cost_per_token\":3e-6,\"output_cost_per_token\":1e-5}]}}",
      "LiteLLM", "d", "d/q", 1, 5, 0.1, 32000, 2, 1 },
    { "{\"m\":{\"mode\":\"chat\",\"input_cost_per_token\":1e-6,\"output_cost_per_token\":4e-6,\"input_cost_per_token_above_128k_tokens\":2e-6,"
      "\"input_cost_per_token_above_256k_tokens\":3e-6}}", "LiteLLM", "", "m", 1, 4, NAN, 128000, 2, 1 },
    { "{\"data\":[{\"model_name\":\"m\",\"litellm_params\":{\"model\":\"x/m\"},\"model_info\":{\"id\":\"b7f\",\"litellm_provider\":\"x\","
      "\"input_cost_per_token\":\"3e-6\",\"output_cost_per_token\":6e-6}}]}", "LiteLLM", "", "m", 3, 6, NAN, NAN, NAN, 0 },
    { "{\"m\":{\"mode\":\"chat\",\"litellm_provider\":\"vertex\",\"input_cost_per_character\":5e-7,\"output_cost_per_character\":1e-6}}",
      "LiteLLM", "vertex", "m", 2, 4, NAN, NAN, NAN, 0 },
    /* OpenRouter: text in USD per token; a request and an image are not of tokens. */
    { "{\"data\":[{\"id\":\"lab/m\",\"context_length\":200000,\"pricing\":{\"prompt\":\"0.000003\",\"completion\":\"0.000015\",\"request\":\"0\","
      "\"image\":\"0.0048\",\"web_search\":\"0\",\"input_cache_read\":\"0.0000003\",\"discount\":0}},{\"id\":\"openrouter/auto\",\"pricing\":"
      "{\"prompt\":\"-1\",\"completion\":\"-1\"}}]}", "OpenRouter", "lab", "lab/m", 3, 15, 0.3, NAN, NAN, 0 },
    /* Vercel AI Gateway: steps for each class. */
    { "{\"object\":\"list\",\"data\":[{\"id\":\"lab/m\",\"owned_by\":\"lab\",\"type\":\"language\",\"pricing\":{\"input\":\"0.00000125\","
      "\"output\":\"0.00001\",\"input_tiers\":[{\"cost\":\"0.00000125\",\"min\":0,\"max\":200001},{\"cost\":\"0.0000025\",\"min\":200001}],"
      "\"output_tiers\":[{\"cost\":\"0.00001\",\"max\":200001},{\"cost\":\"0.000015\",\"min\":200001}]}},{\"id\":\"lab/e\",\"owned_by\":\"lab\","
      "\"type\":\"embedding\",\"pricing\":{\"input\":\"0.0000001\"}}]}", "Vercel AI Gateway", "lab", "lab/m", 1.25, 10, NAN, 200001, 2.5, 0 },
    /* models.dev: per million; steps as `tiers`, or the older object. */
    { "{\"lab\":{\"id\":\"lab\",\"models\":{\"m\":{\"id\":\"m\",\"limit\":{\"context\":1000000},\"cost\":{\"input\":5,\"output\":30,\"cache_read\":0.5,"
      "\"tiers\":[{\"input\":10,\"output\":45,\"cache_read\":1,\"tier\":{\"type\":\"context\",\"size\":272000}}]}}}}}",
      "models.dev", "lab", "m", 5, 30, 0.5, 272000, 10, 0 },
    { "{\"lab\":{\"id\":\"lab\",\"models\":{\"m\":{\"id\":\"m\",\"cost\":{\"input\":2,\"output\":12,\"input_audio\":7,\"context_over_200k\":{\"input\":4,"
      "\"output\":18}}}}}}", "models.dev", "lab", "m", 2, 12, NAN, 200000, 4, 0 },
    /* genai-prices: a base and steps; the prices of the last date; those for hours of a day are not taken. */
    { "[{\"id\":\"lab\",\"models\":[{\"id\":\"m\",\"context_window\":200000,\"prices\":{\"input_mtok\":{\"base\":3,\"tiers\":[{\"start\":200000,"
      "\"price\":6}]},\"output_mtok\":15,\"cache_read_mtok\":0.3}}]}]", "genai-prices", "lab", "m", 3, 15, 0.3, 200000, 6, 0 },
    { "{\"providers\":[{\"id\":\"lab\",\"models\":[{\"id\":\"m\",\"prices\":[{\"prices\":{\"input_mtok\":10,\"output_mtok\":40}},{\"constraint\":"
      "{\"start_date\":\"2025-06-10\"},\"prices\":{\"input_mtok\":2,\"output_mtok\":8}},{\"constraint\":{\"start_time\":\"16:30:00Z\",\"end_time\":"
      "\"00:30:00Z\"},\"prices\":{\"input_mtok\":1,\"output_mtok\":4}}]}]}]}", "genai-prices", "lab", "m", 2, 8, NAN, NAN, NAN, 0 },
    /* Helicone's answer and its tables; llm-prices; Portkey in cents and per million. */
    { "{\"metadata\":{\"total_models\":1},\"data\":[{\"provider\":\"LAB\",\"model\":\"m\",\"operator\":\"equals\",\"input_cost_per_1m\":3,"
      "\"output_cost_per_1m\":15,\"prompt_cache_read_per_1m\":0.3}]}", "a list of prices", "LAB", "m", 3, 15, 0.3, NAN, NAN, 0 },
    { "[{\"model\":{\"operator\":\"equals\",\"value\":\"m\"},\"cost\":{\"prompt_token\":3e-6,\"completion_token\":6e-6}}]", "Helicone", "", "m",
      3, 6, NAN, NAN, NAN, 0 },
    { "{\"updated_at\":\"2026-11-01\",\"prices\":[{\"id\":\"m\",\"vendor\":\"lab\",\"name\":\"M\",\"input\":3,\"output\":15,\"input_cached\":0.3}]}",
      "llm-prices", "lab", "m", 3, 15, 0.3, NAN, NAN, 0 },
    { "{\"default\":{\"pricing_config\":{\"pay_as_you_go\":{\"request_token\":{\"price\":0},\"response_token\":{\"price\":0}},\"currency\":\"USD\"}},"
      "\"m\":{\"pricing_config\":{\"pay_as_you_go\":{\"request_token\":{\"price\":0.00025},\"response_token\":{\"price\":0.001},"
      "\"cache_read_input_token\":{\"price\":0.000125}}}}}", "Portkey", "", "m", 2.5, 10, 1.25, NAN, NAN, 0 },
    { "{\"provider\":\"lab\",\"models\":{\"m\":{\"pricing\":{\"input\":0.075,\"output\":0.3},\"pricing_tiers\":{\"gt_128k\":{\"input\":0.15,"
      "\"output\":0.6}}}}}", "Portkey", "lab", "m", 0.075, 0.3, NAN, 128000, 0.15, 0 },
    /* Lists of programs: per million, per thousand, in other spellings of the keys. */
    { "{\"provider\":\"q\",\"currency\":\"USD\",\"models\":[{\"id\":\"m\",\"context_tokens\":9,\"input_per_1m\":0.112,\"output_per_1m\":0.224,"
      "\"cached_input_per_1m\":0.0144}]}", "a list of prices", "q", "m", 0.112, 0.224, 0.0144, NAN, NAN, 0 },
    { "{\"gpt-4-turbo\":{\"promptPer1k\":0.01,\"completionPer1k\":0.03}}", "a list of prices", "", "gpt-4-turbo", 10, 30, NAN, NAN, NAN, 0 },
    { "{\"openai\":{\"m\":{\"input_price_per_1000_tokens\":0.005,\"output_price_per_1000_tokens\":0.015}}}", "a list of prices", "openai", "m",
      5, 15, NAN, NAN, NAN, 0 },
    { "{\"m\":{\"inputCostPerMillion\":3,\"outputCostPerMillion\":15,\"cacheReadCostPerMillion\":0.3}}", "a list of prices", "", "m", 3, 15, 0.3,
      NAN, NAN, 0 },
    /* The unit stands in a field: of a place, an entry, the list, one price; in dollars or cents. A key's own unit holds. */
    { "{\"models\":[{\"name\":\"m\",\"provider\":\"a\",\"pricing\":{\"currency\":\"USD\",\"unit\":\"per_1k_tokens\",\"input\":0.003,"
      "\"output\":0.015}}]}", "Portkey", "a", "m", 3, 15, NAN, NAN, NAN, 0 },
    { "{\"models\":[{\"id\":\"m\",\"pricing\":{\"prompt\":\"0.0005\",\"completion\":\"0.0015\",\"unit\":\"1K tokens\"}}]}", "OpenRouter", "",
      "m", 0.5, 1.5, NAN, NAN, NAN, 0 },
    { "{\"m\":{\"input\":3,\"output\":15,\"cache_read\":0.3,\"unit\":\"USD per 1M tokens\"}}", "a list of prices", "", "m", 3, 15, 0.3, NAN,
      NAN, 0 },
    { "{\"unit\":\"$/MTok\",\"models\":{\"m\":{\"input\":0.5,\"output\":1.5}}}", "a list of prices", "", "m", 0.5, 1.5, NAN, NAN, NAN, 0 },
    { "{\"models\":[{\"id\":\"m\",\"pricing\":{\"input\":{\"price\":300,\"unit\":\"cents_per_1m\"},\"output\":{\"price\":1500,\"unit\":"
      "\"cents_per_1m\"}}}]}", "Portkey", "", "m", 3, 15, NAN, NAN, NAN, 0 },
    { "{\"models\":[{\"id\":\"m\",\"unit\":1000,\"input\":0.004,\"output_per_1m\":15}]}", "a list of prices", "", "m", 4, 15, NAN, NAN, NAN, 0 },
};

static const char columns[] = "provider,model,input_per_1k,output_per_1k,cached_input_per_1k,batch\nlab,m,0.003,0.015,0.0003,no\nlab,e,0.001,,,no\n";

/* The columns of models.dev, which are per million unless a column has the unit. */
static const char with_unit[] = "provider,model,input,output,unit\nlab,m,0.003,0.015,per 1K tokens\n";

static void is_near(const char *what, const char *json, double got, double expected)
{
    if (isnan(got) != isnan(expected) || fabs(got - expected) > 1e-9 * fabs(expected))
        fail_msg("%s: %.12g, expected %.12g, in %s", what, got, expected, json);
}

static void lists_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct arena arena = { 0 };
        struct price_sheet sheet;
        struct error error;
        const char *json = lists[i].json;
        if (!prices_read(&arena, "list.json", text_of(json), &sheet, &error))
            fail_msg("%s (%s) of %s", error.what, error.hint, json);
        if (sheet.count != 1)
            fail_msg("%zu entries in %s", sheet.count, json);
        const struct price *price = sheet.prices;
        assert_string_equal(sheet.kind, lists[i].kind);
        assert_string_equal(price->seller, lists[i].seller);
        assert_string_equal(price->model, lists[i].model);
        is_near("input", json, 1e6 * price->at[0][0][PRICE_INPUT], lists[i].input);
        is_near("output", json, 1e6 * price->at[0][0][PRICE_OUTPUT], lists[i].output);
        is_near("hit", json, 1e6 * price->at[0][0][PRICE_HIT], lists[i].hit);
        is_near("threshold", json, price->threshold, lists[i].threshold);
        is_near("input above", json, 1e6 * price->at[0][1][PRICE_INPUT], lists[i].above);
        assert_int_equal(price->further_count, lists[i].further);
        arena_free(&arena);
    }
}

static void units_of_columns_are_read(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct price_sheet sheet;
    struct error error;
    assert_true(prices_read(&arena, "list.csv", text_of(with_unit), &sheet, &error));
    assert_int_equal(sheet.count, 1);
    is_near("input", with_unit, 1e6 * sheet.prices[0].at[0][0][PRICE_INPUT], 3);
    is_near("output", with_unit, 1e6 * sheet.prices[0].at[0][0][PRICE_OUTPUT], 15);
    arena_free(&arena);
}

/* A CSV whose columns are such keys; a row without an output price is left out. */
static void columns_are_read(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct price_sheet sheet;
    struct error error;
    assert_true(prices_read(&arena, "list.csv", text_of(columns), &sheet, &error));
    assert_int_equal(sheet.count, 1);
    assert_int_equal(sheet.left_out, 1);
    assert_string_equal(sheet.prices[0].model, "m");
    assert_string_equal(sheet.prices[0].seller, "lab");
    is_near("input", columns, 1e6 * sheet.prices[0].at[0][0][PRICE_INPUT], 3);
    is_near("output", columns, 1e6 * sheet.prices[0].at[0][0][PRICE_OUTPUT], 15);
    is_near("hit", columns, 1e6 * sheet.prices[0].at[0][0][PRICE_HIT], 0.3);
    arena_free(&arena);
}

/* Prices of other things stand beside those of text, and are named. */
static void others_are_named(void **state)
{
    (void)state;
    static const struct { const char *json, *unread; } rows[] = {
        { "{\"m\":{\"mode\":\"chat\",\"input_cost_per_token\":1e-6,\"output_cost_per_token\":4e-6,\"input_cost_per_audio_token\":1e-5,"
          "\"output_cost_per_image\":0.04}}", "input_cost_per_audio_token, output_cost_per_image" },
        { "{\"data\":[{\"id\":\"a/m\",\"pricing\":{\"prompt\":\"1e-6\",\"completion\":\"2e-6\",\"image\":\"0.0048\",\"request\":\"0.01\"}}]}",
          "image, request" },
        { "[{\"id\":\"a\",\"models\":[{\"id\":\"m\",\"prices\":[{\"prices\":{\"input_mtok\":2,\"output_mtok\":4}},{\"constraint\":{\"start_time\":"
          "\"16:30:00Z\"},\"prices\":{\"input_mtok\":1,\"output_mtok\":2}}]}]}]", "prices of other hours" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct price_sheet sheet;
        struct error error;
        assert_true(prices_read(&arena, "list.json", text_of(rows[i].json), &sheet, &error));
        assert_int_equal(sheet.count, 1);
        assert_string_equal(sheet.prices[0].unread, rows[i].unread);
        arena_free(&arena);
    }
}

/* What cannot be read: the key that was met, and what would be accepted. */
static void refusals_name_the_key(void **state)
{
    (void)state;
    static const struct { const char *json, *what, *hint; } rows[] = {
        /* Azure's retail prices and a cloud's committed capacity: by the meter, by the hour. */
        { "{\"Items\":[{\"retailPrice\":0.0025,\"unitOfMeasure\":\"1K\",\"meterName\":\"m Inp Tokens\"}]}", "its keys: retailPrice", "input_per_1k" },
        { "{\"m\":{\"mode\":\"chat\",\"input_cost_per_second\":0.02,\"output_cost_per_second\":0.02}}", "its keys: input_cost_per_second",
          "input_cost_per_token" },
        { "{\"m\":{\"provisioned\":{\"price_per_unit_hour\":39.6}}}", "its keys: price_per_unit_hour", "input_cost_per_token" },
        { "{\"m\":{\"currency\":\"CNY\",\"input_per_1m\":2,\"output_per_1m\":8}}", "currency is CNY", "prices in USD" },
        { "{\"m\":{\"input_cost_per_token\":3,\"output_cost_per_token\":15}}", "'m': input_cost_per_token = 3 is out of range", "USD per token" },
        { "{\"m\":{\"input_cost_per_token\":true,\"output_cost_per_token\":1e-6}}", "'m': input_cost_per_token is not a number", "USD per token" },
        { "{\"m\":{\"tiered_pricing\":[{\"output_range\":[0,9],\"input_cost_per_token\":1e-6,\"output_cost_per_token\":1e-6}]}}",
          "'m': an element of tiered_pricing", "\"range\"" },
        /* Prices without a unit, and with one that is none of tokens, or of another currency. */
        { "{\"models\":[{\"model\":\"m-one\",\"input\":0.003,\"output\":0.015}]}", "'m-one' has an input and an output price without a unit",
          "\"unit\": \"per 1M tokens\"" },
        { "{\"models\":[{\"id\":\"m\",\"pricing\":{\"unit\":\"per image\",\"input\":3,\"output\":15}}]}", "input in the unit 'per image'",
          "input_cost_per_token" },
        { "{\"m\":{\"unit\":\"EUR per 1M tokens\",\"input\":3,\"output\":15}}", "output in the unit 'EUR per 1M tokens'",
          "input_cost_per_token" },
        { "{}", "no entry has an input and an output price", "data/price_keys.csv" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct price_sheet sheet;
        struct error error;
        if (prices_read(&arena, "list.json", text_of(rows[i].json), &sheet, &error))
            fail_msg("read: %s", rows[i].json);
        if (!strstr(error.what, rows[i].what) || !strstr(error.hint, rows[i].hint))
            fail_msg("'%s' (%s), expected '%s' (%s)", error.what, error.hint, rows[i].what, rows[i].hint);
        arena_free(&arena);
    }
}

/* A model of a list that others are read from, which is priced by the second. */
static void unpriced_are_named(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":{\"mode\":\"chat\",\"input_cost_per_token\":1e-6,\"output_cost_per_token\":2e-6},"
                               "\"b\":{\"mode\":\"chat\",\"input_cost_per_second\":0.02}}";
    struct arena arena = { 0 };
    struct price_sheet sheet;
    struct error error;
    assert_true(prices_read(&arena, "list.json", text_of(json), &sheet, &error));
    assert_int_equal(sheet.count, 1);
    assert_int_equal(sheet.unpriced_count, 1);
    assert_string_equal(sheet.unpriced[0].model, "b");
    assert_string_equal(sheet.unpriced[0].keys, "input_cost_per_second");
    arena_free(&arena);
}

/* What `bill` says of a task of two requests without cache, by itself. */
static double task_of(const char *list, const char *workload)
{
    char line[600], out[4096];
    double cost = NAN;
    snprintf(line, sizeof line, "%s bill %s --prices %s --csv", getenv("CHALKLINE") ? getenv("CHALKLINE") : "./chalkline", workload, list);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    while (fgets(out, sizeof out, pipe)) {
        const char *plain = strstr(out, ",plain,");
        if (plain)
            cost = strtod(plain + 7, NULL);
    }
    pclose(pipe);
    return cost;
}

static void ranges_are_billed(void **state)
{
    (void)state;
    /* Prompts of 65,000 and 130,000 tokens, answers of 1,000: the second range and the third, in USD per million. */
    is_near("task", "tests/fixtures/prices/tiered.json", task_of("tests/fixtures/prices/tiered.json", "tests/fixtures/workloads/two-turns.workload"),
            (65000 * 2 + 1000 * 9 + 130000 * 3 + 1000 * 10) / 1e6);
    struct arena arena = { 0 };
    const char *list = shared_file(&arena, "../field/prices-tiered.json"), *workload = shared_file(&arena, "../field/one.workload");
    if (list && workload)
        is_near("published", list, round(1000 * task_of(list, workload)), 3395);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_are_read), cmocka_unit_test(columns_are_read), cmocka_unit_test(units_of_columns_are_read), cmocka_unit_test(others_are_named),
                                        cmocka_unit_test(refusals_name_the_key), cmocka_unit_test(unpriced_are_named), cmocka_unit_test(ranges_are_billed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
