/* What `step` and `brief` show of a server: its parts add up, what is removed is saved, and
 * the text fits a screen. */
#include "test.h"
#include "commands.h"

#include "ask/ask.h"
#include "scenario/server.h"

#include <math.h>

static const struct {
    const char *model, *machine, *sets[3];
} worlds[] = {
    { "llama-3.1-8b", "h100-sxm", { "chips=1" } },
    { "llama-3.1-70b", "h100-sxm", { "batch=64" } },
    { "deepseek-v3", "gb200-nvl72", { "batch=512" } },
    { "deepseek-v3", "gb200-nvl72", { "batch=512", "draft_tokens=2", "links_hidden=0.5" } },
    { "deepseek-v3", "gb200-nvl72", { "attention_dp=8", "arrival_rate=5" } },
    { "deepseek-v3", "gb200-nvl72", { "pipeline_parallel=2" } },
    { "gpt-oss-120b", "mi300x", { "prompt_tokens=1000", "output_tokens=300" } },
    { "qwen3.5-397b-a17b", "b200-sxm", { NULL } },
    { "qwen3-0.6b", "rtx-4090", { "concurrency=8" } },
};

static void open_world(size_t i, struct arena *arena, struct command *command,
                       struct server *server)
{
    struct scenario scenario;
    struct error error;
    *command = (struct command){ .verb = &verb_step };
    for (int k = 0; k < 3 && worlds[i].sets[k]; k++)
        command_set(arena, command, "set", worlds[i].sets[k]);
    if (!scenario_open(&scenario, arena, command, subject_of(worlds[i].model, worlds[i].machine),
                       &error) ||
        !server_open(server, &scenario, &error))
        fail_msg("%s: %s (%s)", worlds[i].model, error.what, error.hint);
}

static void parts_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++) {
        struct arena arena = { 0 };
        struct command command;
        struct server server;
        struct error error;
        double sum = 0;
        open_world(i, &arena, &command, &server);
        assert_null(server_verdict(&server));
        if (!server_parts(&server, &error))
            fail_msg("%s: %s (%s)", worlds[i].model, error.what, error.hint);
        for (size_t k = 0; k < server.part_count; k++) {
            const struct server_part *part = &server.parts[k];
            sum += part->time;
            if (!(part->time >= 0 && part->saved > 0.5 * part->time - 1e-12))
                fail_msg("%s: %s takes %g s, saves %g s", worlds[i].model, part->name, part->time,
                         part->saved);
        }
        double tpot = server_at(&server, SERVER_predicted_tpot);
        if (!(fabs(sum / tpot - 1) < 1e-9))
            fail_msg("%s on %s: parts make %.12g of %.12g s", worlds[i].model, worlds[i].machine,
                     sum, tpot);
        arena_free(&arena);
    }
}

/* What the switch of a part says is what the rows say without it. */
static void freed_host_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct command command;
    struct server server;
    struct error error;
    double without, saved = -1;
    open_world(1, &arena, &command, &server);
    assert_true(server_parts(&server, &error));
    assert_true(value_of(&server.scenario, "AT(predicted_tpot, host_step = 0, host_sequence = 0)",
                         &without, &error));
    for (size_t k = 0; k < server.part_count; k++)
        if (!strcmp(server.parts[k].name, "host"))
            saved = server.parts[k].saved;
    assert_true(fabs(saved / (server_at(&server, SERVER_predicted_tpot) - without) - 1) < 1e-9);
    arena_free(&arena);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *model, *machine, *set, *says;
    } cases[] = { { "deepseek-v3", "rtx-4090", "batch=1", "no request fits" },
                  { "llama-3.1-70b", "h100-sxm", "arrival_rate=1000", "not stable" } };
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
    } screens[] = { { &verb_step, 100, 60 }, { &verb_brief, 80, 34 } };
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
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(freed_host_by_hand),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(text_fits),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
