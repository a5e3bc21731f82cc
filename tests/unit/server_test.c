/* What `step` and `brief` show of a server: why nothing is served, and the text fits a screen. */
#include "test.h"
#include "commands.h"
#include "lines.h"

#include "ask/ask.h"
#include "build/row_names.h"
#include "deploy/server.h"

#include <math.h>

static const struct {
    const char *model, *machine, *sets[3];
} worlds[] = {
    { "llama-3.1-8b", "h100-sxm", { "chips=1" } },
    { "llama-3.1-70b", "h100-sxm", { "batch=64" } },
    { "deepseek-v3", "gb200-nvl72", { "batch=512" } },
    { "deepseek-v3", "gb200-nvl72", { "batch=512", "draft_tokens=2", "comm_overlap_share=0.5" } },
    { "deepseek-v3", "gb200-nvl72", { "attention_dp=8", "arrival_rate=5" } },
    { "deepseek-v3", "gb200-nvl72", { "pipeline_parallel=2" } },
    { "gpt-oss-120b", "mi300x", { "prompt_tokens=1000", "output_tokens=300" } },
    { "qwen3.5-397b-a17b", "b200-sxm", { NULL } },
    { "qwen3-0.6b", "rtx-4090", { "concurrency=8" } },
};

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *model, *machine, *set, *says;
    } cases[] = { { "deepseek-v3", "rtx-4090", "batch=1", "no request fits" },
                  { "llama-3.1-70b", "h100-sxm", "arrival_rate=1000", "overloaded" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct command command = { .verb = &verb_step };
        struct scenario scenario;
        struct server server;
        struct error error;
        command_set(&arena, &command, "set", cases[i].set);
        assert_true(scenario_open(&scenario, &arena, &command,
                                  subject_of(cases[i].model, cases[i].machine), &error));
        assert_true(server_open(&server, &scenario, &error));
        assert_non_null(server_verdict(&server));
        assert_non_null(strstr(server_verdict(&server), cases[i].says));
        arena_free(&arena);
    }
}

/* `brief` tells the published tokens of training, or a range of least compute; never the rule of equal costs. */
static void training_is_published(void **state)
{
    (void)state;
    static const struct { const char *model, *line; } cases[] = {
        { "deepseek-v3", "14.8 T tokens published: Chinchilla x 19.7" },
        { "llama-3.1-8b", "15 T tokens published: Chinchilla x 93.4" }, 
        { "gpt-oss-120b", "no published count; least compute at Chinchilla x 121 to 3,629" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct error error;
        const char *found = NULL;
        assert_true(line_asked(&arena, arena_print(&arena, "brief %s --on gb200-nvl72", cases[i].model), &answer, &error));
        const struct doc *lecture = doc_get(answer.doc, "lecture");
        for (const struct doc *one = doc_get(lecture, "lines")->first; one; one = one->next)
            if (!strcmp(doc_get(one, "label")->string, "training"))
                found = doc_get(one, "text")->string;
        assert_non_null(found);
        assert_string_equal(found, cases[i].line);
        assert_null(doc_get(lecture, NAME_overtraining));
        arena_free(&arena);
    }
}

/* The longest line of a text, a character of several bytes counted once. */
static int widest(const char *text, int *lines)
{
    int width = 0, most = 0;
    for (*lines = 0; *text; text++) {
        width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
        *lines += *text == '\n';
        most = width > most ? width : most;
    }
    return most;
}

static void text_fits(void **state)
{
    (void)state;
    static const struct {
        const struct verb *verb;
        int columns, lines;
    } screens[] = { { &verb_step, 100, 66 }, { &verb_brief, 80, 44 } };
    for (size_t s = 0; s < COUNT(screens); s++)
        for (size_t i = 0; i < COUNT(worlds); i++) {
            struct arena arena = { 0 };
            struct command command = { .verb = screens[s].verb };
            struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena,
                                     .csv.arena = &arena };
            struct error error;
            int lines;
            command_put_word(&arena, &command, worlds[i].model);
            command_set(&arena, &command, "on", worlds[i].machine);
            if (!screens[s].verb->ask(&arena, &command, &answer, &error))
                fail_msg("%s %s: %s", screens[s].verb->name, worlds[i].model, error.what);
            int width = widest(answer.text.data, &lines);
            if (width > screens[s].columns || lines > screens[s].lines)
                fail_msg("%s %s on %s: %d columns, %d lines\n%s", screens[s].verb->name,
                         worlds[i].model, worlds[i].machine, width, lines, answer.text.data);
            arena_free(&arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(training_is_published),
        cmocka_unit_test(text_fits),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
