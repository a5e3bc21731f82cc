/* What can be started: data/rules.csv and formulas/serving/startable.chalk against
 *
 * 1. layouts with a verdict, and the rules that a refused one breaks (tests/cases/startable.cases);
 * 2. the same with each rule that a case names taken away, which must change its verdict or its rules;
 * 3. layouts of published servers, which their engine must start (data/startable of the folder SHARED);
 * 4. the sheet itself: each row it names is a row, each rule has a source;
 * 5. data/engines.csv: the answer of `step`, the line `starts` of `plan` and --emit name the same engines on each
 *    family of chips, and none where no row of the sheet has the family. */
#include "opened.h"
#include "lines.h"

#include "ask/ask.h"

#include "catalog/sheet.h"
#include "scenario/rules.h"

#include <math.h>

struct verdict {
    bool startable;
    struct broken_rule *broken;
    size_t count;
};

static struct verdict verdict_of(struct scenario *scenario)
{
    struct scenario prefill, *kinds[] = { scenario, &prefill };
    const bool pools = facts_find(&scenario->facts, NAME_prefill_chips) != NULL;
    if (facts_find(&scenario->facts, NAME_training_chips)) {
        struct verdict training = { .startable = row_of(scenario, NAME_train_startable) > 0 };
        training.count = rules_broken_training(scenario, &training.broken);
        return training;
    }
    struct verdict verdict = { .startable = row_of(scenario, pools ? NAME_pool_startable
                                                                   : NAME_layout_startable) > 0 };
    if (pools)
        rules_of_pools(scenario, &prefill);
    verdict.count = rules_broken(kinds, pools ? 2 : 1, &verdict.broken);
    return verdict;
}

static bool names(const struct verdict *verdict, const char *id)
{
    for (size_t i = 0; i < verdict->count; i++)
        if (!strcmp(verdict->broken[i].id, id))
            return true;
    return false;
}

/* ---- cases --------------------------------------------------------------------------------------- */

/* Take a rule away: of a layout, that is to say that its row is kept. */
static const char *row_of_rule(const char *id)
{
    const struct csv *csv = csv_built_in("data/rules.csv");
    for (size_t r = 0; r < csv->rows; r++)
        if (!strcmp(csv_cell(csv, r, csv_column(csv, "id")), id))
            return csv_cell(csv, r, csv_column(csv, "row"));
    fail_msg("%s is no rule", id);
    return NULL;
}

static void check_rule(struct arena *arena, const char *number, const char *words, const char *id, size_t rules)
{
    struct scenario scenario;
    const char *row = row_of_rule(id);
    if (!*row)
        return;                     /* a rule of formats has no row */
    open_words(arena, words, &scenario);
    facts_set(&scenario.facts, row, 1, ORIGIN_GIVEN, "test");
    const struct verdict left = verdict_of(&scenario);
    if (names(&left, id) || (rules == 1 && !left.startable))
        fail_msg("%s: without %s it is %s", number, id, left.startable ? "startable" : "still refused");
}

static size_t check_case(struct arena *arena, struct text line)
{
    const char *number = next_cell(arena, &line), *words = next_cell(arena, &line),
               *want = next_cell(arena, &line), *rules = next_cell(arena, &line);
    struct scenario scenario;
    open_words(arena, words, &scenario);
    const struct verdict verdict = verdict_of(&scenario);
    struct buffer broken = { .arena = arena };
    size_t wanted = 0;
    buffer_print(&broken, "%s:", verdict.startable ? "startable" : "refused");
    for (size_t i = 0; i < verdict.count; i++)
        buffer_print(&broken, " %s", verdict.broken[i].id);
    if (verdict.startable != !strcmp(want, "startable") || verdict.startable != !verdict.count)
        fail_msg("%s: %s, found %s", number, want, broken.data);
    for (const char *at = rules; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        const char *id = arena_copy(arena, at, size);
        if (!names(&verdict, id))
            fail_msg("%s: %s is not named, found %s", number, id, broken.data);
        check_rule(arena, number, words, id, verdict.count);
        wanted++;
        at += size;
    }
    return wanted;
}

static void layouts_with_a_verdict(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text text;
    size_t cases = 0, rules = 0;
    assert_true(file_read(&arena, "tests/cases/startable.cases", 1 << 20, &text, &error));
    while (text.size) {
        struct arena own = { 0 };
        const struct text line = text_trim(text_line(&text));
        if (line.size && *line.data != '#')
            rules += check_case(&own, line), cases++;
        arena_free(&own);
    }
    assert_int_equal(cases, 60);
    assert_true(rules > 25);
    arena_free(&arena);
}

/* ---- published servers --------------------------------------------------------------------------- */

static double cell_number(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return text_number(text_of(csv_cell(csv, row, csv_column(csv, column))), &value) ? value : 0;
}

/* A model whose sizes divide by all that was published: the sheet says layouts, not models. */
static const char *words_of(struct arena *arena, const struct csv *csv, size_t row)
{
    const double ep = cell_number(csv, row, "expert_parallel"), experts = 256;
    double spare = cell_number(csv, row, "spare_experts");
    const bool kimi = fmod(experts + spare, fmax(ep, 1)) != 0;
    const double own = kimi ? 384 : experts;
    const bool deepep = !strncmp(csv_cell(csv, row, csv_column(csv, "backend")), "deepep", 6);
    if (fmod(own + spare, fmax(ep, 1)) != 0)
        spare = ceil(own / ep) * ep - own;
    return arena_print(arena, "--engine %s --model deepseek-v3 --precision bf16 --on %s --gpus %.0f --dp %.0f --pp %.0f "
                       "--ep %.0f --set host_chips=%.0f --set experts=%.0f --set spare_experts=%.0f --set deepep=%d "
                       "--set %s=0",
                       csv_cell(csv, row, csv_column(csv, "engine")), csv_cell(csv, row, csv_column(csv, "machine")),
                       cell_number(csv, row, "chips"), cell_number(csv, row, "attention_dp"),
                       cell_number(csv, row, "pipeline_parallel"), fmax(ep, 1), cell_number(csv, row, "host_chips"),
                       own, spare, deepep,
                       strcmp(csv_cell(csv, row, csv_column(csv, "role")), "prefill") ? "reads_prompts" : "writes_output");
}

static void published_servers(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct error error;
    struct text text;
    struct csv csv;
    const char *path = shared_file(&arena, "startable/startable_published.csv");
    size_t accepted = 0;
    double servers = 0;
    if (!path)
        return arena_free(&arena);
    assert_true(file_read(&arena, path, 1 << 20, &text, &error) && csv_read_any(&arena, path, text, &csv, &error));
    for (size_t r = 0; r < csv.rows; r++) {
        struct arena own = { 0 };
        struct scenario scenario;
        const char *words = words_of(&own, &csv, r);
        open_words(&own, words, &scenario);
        const struct verdict verdict = verdict_of(&scenario);
        if (!verdict.startable)
            print_error("%d: %s: %s\n", csv.lines[r], words,
                        verdict.count ? rule_text_of(&own, &verdict.broken[0]) : "no rule");
        accepted += verdict.startable;
        servers += cell_number(&csv, r, "count");
        arena_free(&own);
    }
    print_message("%zu of %zu rows of published servers accepted\n", accepted, csv.rows);
    assert_true(csv.rows > 300 && servers > 2500);
    assert_int_equal(accepted, csv.rows);
    arena_free(&arena);
}

/* ---- the sheet ----------------------------------------------------------------------------------- */

static void the_sheet(void **state)
{
    (void)state;
    const struct csv *csv = csv_built_in("data/rules.csv");
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    assert_true(csv->rows > 40);
    for (size_t r = 0; r < csv->rows; r++) {
        const char *row = csv_cell(csv, r, csv_column(csv, "row"));
        if (*row && formulas_find(formulas, row) < 0)
            fail_msg("line %d: no row %s", csv->lines[r], row);
        assert_true(*row || (*csv_cell(csv, r, csv_column(csv, "formats")) &&
                             *csv_cell(csv, r, csv_column(csv, "families"))));
        assert_true(*csv_cell(csv, r, csv_column(csv, "source")) && *csv_cell(csv, r, csv_column(csv, "date")) &&
                    *csv_cell(csv, r, csv_column(csv, "says")));
    }
}

/* ---- which engine runs where ------------------------------------------------------------------------ */

static const struct { const char *name, *title; } engines[] = {
    { "vllm", "vLLM" }, { "sglang", "SGLang" }, { "trtllm", "TensorRT-LLM" } };

/* Does the sheet list the machine or its family in a row that the release of 2026 whose flags were read is within? Rows
 * that end are of older releases; one release alone, vLLM for Trainium, is newer. */
static bool sheet_lists(const char *engine, const char *machine, const char *family)
{
    const struct csv *csv = csv_built_in("data/engines.csv");
    for (size_t r = 0; r < csv->rows; r++)
        if (!strcmp(csv_cell(csv, r, csv_column(csv, "engine")), engine) &&
            !*csv_cell(csv, r, csv_column(csv, "until")) && strcmp(csv_cell(csv, r, csv_column(csv, "from")), "0.21.0") &&
            (text_has_word(csv_cell(csv, r, csv_column(csv, "families")), family) ||
             text_has_word(csv_cell(csv, r, csv_column(csv, "families")), machine)))
            return true;
    return false;
}

static bool started_by(const struct doc *deployment, const char *title)
{
    const struct doc *list = doc_get(deployment, "started_by");
    for (const struct doc *one = list ? list->first : NULL; one; one = one->next)
        if (starts_with(one->string, title) && one->string[strlen(title)] == ' ')
            return true;
    return false;
}

static void agree_on(struct arena *arena, const char *machine, const char *family)
{
    struct answer answer, plan, emitted;
    struct error error;
    const char *words = arena_print(arena, "llama-3.1-8b --precision int4 --on %s", machine);
    if (!line_asked(arena, arena_print(arena, "step %s", words), &answer, &error) ||
        !line_asked(arena, arena_print(arena, "plan %s --gpus 1 --any-layout", words), &plan, &error))
        fail_msg("%s: %s", words, error.what);
    const struct doc *server = doc_get(answer.doc, "server");
    const bool known = doc_get(server, "startable")->boolean || doc_get(server, "broken_rules")->first;
    bool any = false;
    if (known == (doc_get(server, "unknown") != NULL))
        fail_msg("step %s: known %d", words, known);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const bool listed = sheet_lists(engines[i].name, machine, family);
        any |= listed;
        if (started_by(server, engines[i].title) && !listed)      /* a listed engine may lack kernels for int4 */
            fail_msg("step %s: %s", words, engines[i].title);
        const bool done = line_asked(arena, arena_print(arena, "step %s --emit %s", words, engines[i].name), &emitted, &error);
        if (listed == (!done && strstr(error.what, "not known to run")))
            fail_msg("step %s --emit %s: %s", words, engines[i].name, done ? "written" : error.what);
    }
    if (any != known)
        fail_msg("%s is known to start engines: %d", machine, known);
    const char *starts = strstr(plan.text.data, "  starts ");
    if (starts && !any != starts_with(starts, "  starts   not known: no engine is known to run on "))
        fail_msg("plan %s: %.80s", words, starts);
}

static void engines_run_where_the_sheet_says(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    const struct catalog *catalog = catalog_built_in();
    const char *seen[100];
    size_t count = 0;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_MACHINE); i++) {
        const struct catalog_entry *machine = catalog_entry(catalog, CATALOG_MACHINE, i);
        const char *family = catalog_text(machine, "family");
        size_t at = 0;
        if (!family || starts_with(family, "cpu") || starts_with(family, "apple"))
            continue;
        const char *one = starts_with(family, "t") || starts_with(family, "rdna3") ? machine->name : family;
        while (at < count && strcmp(seen[at], one))     /* the sheet names some of Google's, Amazon's and AMD's */
            at++;
        if (at < count)
            continue;
        seen[count++] = one;
        agree_on(&arena, machine->name, family);
    }
    assert_true(count > 20);
    arena_free(&arena);
}

/* Images and resources that a vendor of each kind publishes; a release too early or too late is told which runs. */
static void engines_of_other_chips(void **state)
{
    static const struct { const char *words, *has[2]; } asked[] = {
        { "--on mi300x --engine vllm", { "vllm/vllm-openai-rocm:v", "amd.com/gpu: 1" } },
        { "--on mi355x --engine sglang", { "-mi35x", "amd.com/gpu: 1" } },
        { "--on mi325x --engine sglang", { "-mi30x", "amd.com/gpu: 1" } },
        { "--on tpu-v6e --engine vllm", { "vllm/vllm-tpu:v", "google.com/tpu: 1" } },
        { "--on gaudi-3 --engine vllm", { "gaudi-docker", "habana.ai/gaudi: 1" } },
        { "--on arc-pro-b60 --engine vllm", { "intel/vllm:", "gpu.intel.com/xe: 1" } },
        { "--on trainium-2 --engine vllm", { NULL, "0.21.0 and later or 0.7.2 to 0.16" } },
        { "--on tpu-v5p --engine vllm", { NULL, "0.6.4 to 0.6.6" } },
        { "--on tpu-v6e --engine sglang", { NULL, "a machine that it runs on" } },
    };
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        bool done = line_asked(&arena, arena_print(&arena, "step llama-3.1-8b --gpus 1 --emit k8s %s", asked[i].words), &answer, &error);
        if (done != (asked[i].has[0] != NULL))
            fail_msg("%s: %s", asked[i].words, done ? "written" : error.what);
        const char *text = done ? answer.text.data : error.what;
        for (size_t k = 0; k < 2; k++)
            if (asked[i].has[k] && !strstr(text, asked[i].has[k]) && (done || !strstr(error.hint, asked[i].has[k])))
                fail_msg("%s: no %s in %s", asked[i].words, asked[i].has[k], text);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sheet),
        cmocka_unit_test(layouts_with_a_verdict),
        cmocka_unit_test(published_servers),
        cmocka_unit_test(engines_run_where_the_sheet_says),
        cmocka_unit_test(engines_of_other_chips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
