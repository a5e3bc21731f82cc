/* Questions of the lecture's statements, asked of named models: the equation times its factors is the figure, the verdict
 * turns at the root, no sentence has a hole, and no row that only an example sets stands behind a number. Runs in the
 * root of the tree. */
#include "test.h"
#include "lines.h"
#include "scenario/equation.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "lecture/question.h"

#include <math.h>
#include <stdlib.h>

/* Dense and sparse models, with latent caches, windows, sparse attention and states, on chips of several makers. */
static const char *const pairs[] = {
    "--model deepseek-v3 --on gb200-nvl72", "--model llama-3.3-70b --on h100-sxm", "--model gpt-oss-120b --on h100-sxm",
    "--model kimi-k2 --on h200-sxm", "--model gemma-3-27b --on tpu-v5p", "--model qwen3-8b --on rtx-4090",
    "--model nemotron-3-nano-30b-a3b --on b200-sxm", "--model qwen3.5-397b-a17b --on gb300-nvl72",
    "--model deepseek-v3.2 --on gb200-nvl72", "--model llama-4-maverick --on mi300x",
    "--model deepseek-v4-flash --on b200-sxm", "--model deepseek-v3 --on h200-sxm", "--model glm-4.5-air --on h200-sxm",
    "--model mixtral-8x22b --on a100-sxm", "--model gpt-oss-20b --on l40s", "--model qwen3-235b-a22b --on mi355x",
    "--model llama-3.1-8b --on a100-sxm", "--model gemma-2-27b --on h100-sxm", "--model minimax-m2.5 --on h200-sxm",
    "--model mistral-7b --on rtx-4090", "--model falcon-mamba-7b --on h100-sxm", "--model qwen2.5-72b --on b200-sxm --precision fp8 --batch 64 --gpus 4",
};

/* Rows that no model and no machine sets, so that only an example or a question can. */
static const char *const of_examples[] = {
    "kv_layers", "kv_heads", "attention_layers", "attention_heads", "head_size", "element_bytes", "latent_size", "ff_width",
    "plain_layers", "plain_hidden", "plain_vocabulary", "layers_per_stage", "global_layer_every", "global_layer_cost", "stacked_layers", "sparse_mode", "token_rate", "model_lifetime", "family_size",
    "pretrain_tokens", "input_price", "machine_cost", "host_memory",
};

struct world {
    struct arena arena;
    struct error error;
    struct lecture lecture;
    struct scenario scenario;
};

static int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    *state = world;
    if (world)
        statements_read(&world->arena, &world->lecture);
    return !world;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static void ask_of(struct world *world, const char *words)
{
    static const char *const point[] = { NAME_bound_step, NAME_hbm_share };
    const struct command *command = line_command(&world->arena, arena_print(&world->arena, "lecture %s", words), &world->error);
    if (!command || !scenario_open(&world->scenario, &world->arena, command, command_subject(command), &world->error) ||
        !scenario_choose(&world->scenario, point, COUNT(point), &world->error))
        fail_msg("%s: %s", words, world->error.what);
}

/* ---- products --------------------------------------------------------------------------------------- */

static void products_are_figures(void **state)
{
    struct world *world = *state;
    size_t asked = 0, applied = 0;
    for (size_t k = 0; k < COUNT(pairs); k++) {
        ask_of(world, pairs[k]);
        for (size_t i = 0; i < world->lecture.count; i++) {
            const struct statement *one = &world->lecture.at[i];
            struct reply reply;
            if (!*one->question.asks_of)
                continue;
            asked++;
            question_ask(&world->scenario, one, QUESTION_KEEPS, &reply);
            if (reply.lacks)
                continue;
            applied++;
            double product = reply.closed;
            for (size_t j = 0; j < reply.factor_count; j++)
                product *= reply.factors[j].value;
            if (!(fabs(product - reply.figure) <= 1e-9 * fabs(reply.figure)))
                fail_msg("%s for %s: the equation times its factors is %.12g, the figure %.12g", one->id, pairs[k], product,
                         reply.figure);
        }
    }
    printf("%zu questions asked, %zu apply, their products are their figures\n", asked, applied);
    assert_true(applied > 70 * COUNT(pairs));
}

/* ---- roots ------------------------------------------------------------------------------------------ */

static enum holds predicate_at(struct world *world, const struct statement *one, const char *row, double value)
{
    struct reply there, asked;
    struct statement free = *one;
    question_ask(&world->scenario, one, QUESTION_KEEPS, &asked);
    facts_set(&asked.scenario.facts, row, value, ORIGIN_AXIS, "test");
    free.question.needs = "";           /* the root is of the predicate alone */
    question_ask(&asked.scenario, &free, QUESTION_FREE, &there);
    return there.predicate;
}

static void verdicts_turn_at_roots(void **state)
{
    struct world *world = *state;
    size_t roots = 0, none = 0;
    for (size_t k = 0; k < COUNT(pairs); k++) {
        ask_of(world, pairs[k]);
        for (size_t i = 0; i < world->lecture.count; i++) {
            const struct statement *one = &world->lecture.at[i];
            struct reply reply;
            if (!*one->question.asks_of || !*one->question.predicate)
                continue;
            question_ask(&world->scenario, one, QUESTION_KEEPS, &reply);
            question_turns(&reply, one);
            if (reply.lacks || !*one->question.turning)
                continue;
            none += !reply.turns;
            if (!reply.turns)
                continue;
            roots++;
            const char *row = formulas_name(&world->scenario.formulas, &world->arena, one->question.turning);
            const enum holds below = predicate_at(world, one, row, reply.root * (1 - 1e-6));
            const enum holds above = predicate_at(world, one, row, reply.root * (1 + 1e-6));
            if (below == HOLDS_UNKNOWN || above == HOLDS_UNKNOWN || below == above)
                fail_msg("%s for %s: %s = %.12g turns nothing", one->id, pairs[k], row, reply.root);
        }
    }
    printf("%zu verdicts turn at their roots, %zu have none\n", roots, none);
    assert_true(roots > 30 * COUNT(pairs));
}

/* ---- what stands behind a number ---------------------------------------------------------------------- */

static bool keeps(const struct reply *reply, const char *row)
{
    for (size_t i = 0; i < reply->kept_count; i++)
        if (!strcmp(reply->kept[i].row, row))
            return true;
    return false;
}

static void no_example_behind(struct world *world, const char *pair, const struct statement *one, struct reply *reply,
                              const char *text)
{
    struct values values;
    struct error error;
    if (!*text || !values_known(&reply->scenario, &text, 1, &values, &error))
        return;
    for (size_t i = 0; i < values.graph.input_count; i++) {
        const struct input *input = &values.graph.inputs[i];
        if (input->origin != ORIGIN_DEFAULT || keeps(reply, input->name))
            continue;
        for (size_t k = 0; k < COUNT(of_examples); k++)
            if (!strcmp(input->name, of_examples[k]) && graph_depends(&world->arena, &values.graph, input->name))
                fail_msg("%s for %s: '%s' stands on %s, which no model sets", one->id, pair, text, input->name);
    }
}

/* The marks of a sentence: "{bound_step}". */
static void no_example_in_sentence(struct world *world, const char *pair, const struct statement *one, struct reply *reply,
                                   const char *sentence)
{
    for (const char *open = strchr(sentence, '{'); open; open = strchr(open + 1, '{')) {
        size_t size = strcspn(open + 1, "}");
        char *mark = arena_copy(&world->arena, open + 1, size);
        char *binds = strstr(mark, ".binds");
        if (binds)
            *binds = 0;
        else if (size && strchr("%@!-", mark[size - 1]))
            mark[size - 1] = 0;
        no_example_behind(world, pair, one, reply, mark);
    }
}

static void sentences_are_of_the_model(void **state)
{
    struct world *world = *state;
    size_t sentences = 0;
    for (size_t k = 0; k < COUNT(pairs); k++) {
        ask_of(world, pairs[k]);
        for (size_t i = 0; i < world->lecture.count; i++) {
            const struct statement *one = &world->lecture.at[i];
            const struct posed *question = &one->question;
            struct reply reply;
            if (!*question->asks_of && question->kind != QUESTION_EXAMPLE)
                continue;
            question_ask(&world->scenario, one, QUESTION_KEEPS, &reply);
            const char *said = reply.lacks ? reply.lacks : reply.conclusion;
            if (!said || strstr(said, "unknown") || strstr(said, "nan") || strstr(said, "inf "))
                fail_msg("%s for %s says: %s", one->id, pairs[k], said ? said : "nothing");
            sentences++;
            if (reply.lacks) {
                no_example_in_sentence(world, pairs[k], one, &reply, question->needs);
                continue;
            }
            no_example_behind(world, pairs[k], one, &reply, question->figure);
            no_example_behind(world, pairs[k], one, &reply, question->closed);
            for (size_t j = 0; j < reply.factor_count; j++)
                no_example_behind(world, pairs[k], one, &reply, reply.factors[j].text);
            if (reply.left.text) {
                no_example_behind(world, pairs[k], one, &reply, reply.left.text);
                no_example_behind(world, pairs[k], one, &reply, reply.right.text);
            }
            no_example_in_sentence(world, pairs[k], one, &reply,
                                   reply.predicate == HOLDS_NOT ? question->here_fails : question->here);
        }
    }
    printf("%zu sentences about models, none with a row of an example\n", sentences);
    assert_true(sentences > 80 * COUNT(pairs));
}

/* ---- published tokens ---------------------------------------------------------------------------------- */

/* Over-training beside a table that was computed apart, with the makers' own active parameters; those of the catalog count
 * embeddings, which a few small models have many of. Where no count is published, the row is 0. */
static void overtraining_published(void **state)
{
    struct world *world = *state;
    const char *folder = getenv("CHALKLINE_SHARED");
    const char *path = arena_print(&world->arena, "%s/lecture/training_tokens.csv", folder ? folder : "");
    struct text text;
    struct csv csv;
    size_t near = 0, stated = 0;
    if (!folder || !file_there(&world->arena, path)) {
        print_message("skipped: lecture/training_tokens.csv\n");
        return;
    }
    assert_true(file_read(&world->arena, path, 1 << 20, &text, &world->error));
    assert_true(csv_read(&world->arena, path, text, &csv, &world->error));
    for (size_t i = 0; i < csv.rows; i++) {
        const char *model = csv_cell(&csv, i, csv_column(&csv, "model"));
        const double wanted = strtod(csv_cell(&csv, i, csv_column(&csv, "overtraining")), NULL);
        struct answer answer;
        if (!line_asked(&world->arena, arena_print(&world->arena, "eval trained_over_optimal --model %s", model), &answer,
                        &world->error))
            fail_msg("%s: %s", model, world->error.what);
        const double found = doc_get(doc_get(answer.doc, "trained_over_optimal"), "value")->number;
        if (!(wanted > 0) && found != 0)
            fail_msg("%s: no count of its tokens is published, %g times", model, found);
        stated += wanted > 0;
        near += wanted > 0 && fabs(found / wanted - 1) <= 0.1;
    }
    printf("over-training of %zu of %zu models within 10 %% of a table\n", near, stated);
    assert_true(stated == 57 && near >= 54);
}

/* ---- the sheet ---------------------------------------------------------------------------------------- */

/* A question with a predicate has an input that turns it, or none of its own; one asked of a model has sentences. */
static void questions_are_whole(void **state)
{
    struct world *world = *state;
    assert_int_equal(world->lecture.count, 119);
    for (size_t i = 0; i < world->lecture.count; i++) {
        const struct statement *one = &world->lecture.at[i];
        const struct posed *question = &one->question;
        const bool decides = question->kind == QUESTION_COMPARISON || question->kind == QUESTION_NUMBER;
        const bool asked = *question->asks_of;
        if (!*question->figure != !*question->closed || (*question->factors && !*question->closed) ||
            (*question->turning && !*question->predicate) || (decides && !*question->predicate) ||
            (question->kind == QUESTION_IDENTITY && *question->predicate) ||
            (question->kind == QUESTION_EXAMPLE && strncmp(question->needs, "example: ", 9)) ||
            (asked && !*question->here) || (asked && *question->predicate && !*question->here_fails))
            fail_msg("%s: its question is not whole", one->id);
    }
}

/* Where no price of the machine is known, what costs is not told, and the rest is. */
static void no_price_no_costs(void **state)
{
    struct world *world = *state;
    size_t told = 0, priced = 0;
    ask_of(world, "--model qwen3-8b --on rtx-4090-d");
    for (size_t i = 0; i < world->lecture.count; i++) {
        const struct statement *one = &world->lecture.at[i];
        struct reply reply;
        if (!*one->question.asks_of)
            continue;
        question_ask(&world->scenario, one, QUESTION_KEEPS, &reply);
        priced += reply.lacks && strstr(reply.lacks, "price of this machine");
        told += !reply.lacks;
        if (reply.lacks ? !!reply.conclusion : !!strstr(reply.conclusion, "unknown"))
            fail_msg("%s says: %s", one->id, reply.conclusion);
    }
    assert_true(told > 40 && priced > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(questions_are_whole, world_open, world_close),
        cmocka_unit_test_setup_teardown(products_are_figures, world_open, world_close),
        cmocka_unit_test_setup_teardown(verdicts_turn_at_roots, world_open, world_close),
        cmocka_unit_test_setup_teardown(overtraining_published, world_open, world_close),
        cmocka_unit_test_setup_teardown(no_price_no_costs, world_open, world_close),
        cmocka_unit_test_setup_teardown(sentences_are_of_the_model, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
