/* What answers say they assumed, against the same questions asked again with a default moved: a number
 * that is shown changes by as many per cent as the note says; what was given and changes nothing is
 * named. */
#include "test.h"

#include "ask/ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40, NUMBERS = 4000 };


static const struct {
    const char *line;
    size_t listed;                  /* defaults that are listed, at least */
} cases[] = {
    { "why bound_step --set batch=64", 3 },
    { "why predicted_tpot --model llama-3.3-70b --on h100-sxm --gpus 4 --batch 40 --tp 4", 3 },
    { "curve batch=8,64 bound_step bound_throughput", 3 },
    { "curve context=1k..8k predicted_tpot --model qwen3-32b --on h200-sxm --gpus 2 --batch 8", 3 },
    { "solve batch --where bound_compute=bound_weights", 5 },
    { "solve context --where bound_kv=bound_weights --set batch=200", 3 },
    { "solve batch --where bound_cost_per_token<=1USD/Mtoken --set context=4000", 2 },
    { "train llama-3.1-8b --on h100-sxm --gpus 8 --tp 1 --pp 1 --cp 1 --set micro_batch=1 --set "
      "zero_stage=2 --set recompute_full=0 --global-batch 1024 --seq-length 4096", 4 },
    { "tiers --set context=20000", 3 },
    { "bill agent --model claude-opus-4-7", 2 },
};

/* NULL: it is refused. */
static struct doc *ask(struct arena *arena, const char *line, const char *set, const char *to)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    struct error error;
    char *words[WORDS] = { "chalkline" }, *rest = arena_copy(arena, line, strlen(line));
    int count = 1;
    for (char *word = strtok(rest, " "); word && count < WORDS - 2; word = strtok(NULL, " "))
        words[count++] = word;
    if (set) {
        words[count++] = "--set";
        words[count++] = (char *)arena_print(arena, "%s=%s", set, to);
    }
    if (!command_read(arena, count, words, &command, &error) ||
        !command.verb->ask(arena, &command, &answer, &error))
        return NULL;
    return answer.doc;
}

/* All numbers of an answer in their order. */
static void gather(const struct doc *doc, double *numbers, size_t *count)
{
    for (const struct doc *one = doc->first; one; one = one->next)
        if (one->kind == DOC_NUMBER && *count < NUMBERS)
            numbers[(*count)++] = one->number;
        else if (one->kind != DOC_STRING)
            gather(one, numbers, count);
}

struct note {
    char name[64], value[64];       /* "4096token" */
    double elasticity;
};

/* "NAME = 4,096 token by default: ROW +0.5 % per 1 % more"; false of any other note. */
static bool read_note(const char *text, struct note *note)
{
    const char *end = strstr(text, " by default: "), *at = strstr(text, " = ");
    size_t size = 0;
    if (!end || !at || sscanf(text, "%63[a-z_0-9] =", note->name) != 1 ||
        sscanf(end + strcspn(end, "+-"), "%lf", &note->elasticity) != 1)
        return false;
    for (at += 3; at < end && size + 1 < sizeof note->value; at++)
        if (*at != ',' && *at != ' ')
            note->value[size++] = *at;
    note->value[size] = 0;
    return true;
}

/* Does some number move by so many per cent for one per cent more of the default? */
static bool moves_so(struct arena *arena, const char *line, const struct note *note)
{
    const double digits = 0.06;                     /* two digits are printed */
    double step = 1e-4;
    static double before[NUMBERS], after[NUMBERS];
    size_t count = 0, again = 0;
    char *unit;
    const double value = strtod(note->value, &unit);
    gather(ask(arena, line, note->name, note->value), before, &count);
    const struct doc *moved = ask(arena, line, note->name,
                                  arena_print(arena, "%.17g%s", value * (1 + step), unit));
    if (!moved)                                     /* it stands at the end of its range */
        moved = ask(arena, line, note->name,
                    arena_print(arena, "%.17g%s", value * (1 + (step = -step)), unit));
    assert_non_null(moved);
    gather(moved, after, &again);
    for (size_t i = 0; i < count && i < again; i++)     /* `why` may have one elasticity less */
        if (fabs((after[i] / before[i] - 1) / step - note->elasticity) <=
            digits * fabs(note->elasticity))
            return true;
    return false;
}

static void defaults_move_numbers(void **state)
{
    (void)state;
    size_t wrong = 0, seen = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        const struct doc *notes = doc_get(ask(&arena, cases[i].line, NULL, NULL), "assumed");
        size_t listed = 0;
        for (const struct doc *one = notes->first; one; one = one->next) {
            struct note note;
            if (!read_note(one->string, &note))
                continue;
            listed++;
            if (!moves_so(&arena, cases[i].line, &note)) {
                print_message("%s\n    '%s': no number moves so\n", cases[i].line, one->string);
                wrong++;
            }
        }
        if (listed < cases[i].listed) {
            print_message("%s\n    %zu defaults are listed\n", cases[i].line, listed);
            wrong++;
        }
        seen += listed;
        arena_free(&arena);
    }
    print_message("%zu defaults of %zu answers moved, %zu differ\n", seen, COUNT(cases), wrong);
    assert_int_equal(wrong, 0);
}

static bool says(const struct doc *answer, const char *text)
{
    const struct doc *notes = doc_get(answer, "assumed");
    for (const struct doc *note = notes ? notes->first : NULL; note; note = note->next)
        if (note->kind == DOC_STRING && strstr(note->string, text))
            return true;
    return false;
}

/* A row of another chapter moves nothing; one that the answer reads is not named. */
static void idle_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *idle, *acts, *value;
    } asked[] = {
        { "why bound_step", "loss_floor", "batch", "64" },
        { "curve batch=8..64 bound_step", "loss_floor", "context", "4000" },
        { "solve batch --where bound_compute=bound_weights", "loss_floor", "weight_bytes", "2" },
        { "train llama-3.1-8b --on h100-sxm --gpus 8", "loss_floor", "training_sequences", "64" },
        { "tiers", "loss_floor", "context", "20000" },
        { "bill agent --model claude-opus-4-7", "loss_floor", "turn_output", "500" },
        { "bill agent --model deepseek-v3.2 --own llama-3.1-8b --on h100-sxm", "loss_floor",
          "turn_output", "500" },
        { "plan llama-3.1-8b --on h100-sxm --gpus 1 --aggregated", "loss_floor", "output_tokens", "200" },
        { "simulate constant:rate=5,count=20 --model llama-3.1-8b --on h100-sxm --gpus 1", "loss_floor",
          "max_num_seqs", "64" },
    };
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct arena arena = { 0 };
        const char *label = arena_print(&arena, "--set %s has no effect on", asked[i].idle);
        const char *acts = arena_print(&arena, "--set %s has no effect on", asked[i].acts);
        if (!says(ask(&arena, asked[i].line, asked[i].idle, "2"), label))
            fail_msg("%s: %s is not named", asked[i].line, asked[i].idle);
        if (says(ask(&arena, asked[i].line, asked[i].acts, asked[i].value), acts))
            fail_msg("%s: %s is named", asked[i].line, asked[i].acts);
        arena_free(&arena);
    }
    struct arena arena = { 0 };                 /* a request of 1,512 tokens is all that the prediction has */
    const char *line = "step llama-3.1-8b --on h100-sxm --gpus 1 --isl 1000", *longer = "the bound's context of";
    assert_true(says(ask(&arena, line, "context", "1513"), longer) && !says(ask(&arena, line, "context", "1512"), longer));
    arena_free(&arena);
}

/* A figure that does not depend on the machine is an answer, whatever fits on it: status 0, and no failure above it. One that
 * does depend has status 1, with the reason below the values and in the document. */
static void test_misfits(void **state)
{
    (void)state;
#define SMALL "--model glm-5 --on h100-sxm --gpus 8 --context 202752"
    static const struct { const char *line, *says, *first; } rows[] = {
        { "eval kv_stored " SMALL, NULL, "kv_stored  20.306 GB" },
        { "eval params_total kv_per_token machine_balance " SMALL, NULL, "params_total" },
        { "eval hbm_share " SMALL, NULL, "hbm_share" },
        { "eval predicted_tpot " SMALL, "out of memory: needs 1.65 TB", "predicted_tpot" },
        { "eval kv_stored predicted_tpot " SMALL, "out of memory: needs 1.65 TB", "kv_stored" },
        { "why kv_stored " SMALL, NULL, "M_kv = kv_stored = 20.31 GB" },
        { "solve context --where kv_stored=20GB --model glm-5 --on h100-sxm --gpus 8", NULL, "context = 199,696" },
        { "curve kv_stored on=h100,b200 --model glm-5 --gpus 8 --context 202752", NULL, "on " },
        { "eval predicted_tpot --model llama-3.1-8b --on h100-sxm --gpus 1", NULL, "predicted_tpot" },
#define FULL "--model llama-3.1-8b --on rtx-4090 --gpus 1 --isl 60000 --osl 10 --rate 0.01"
        { "eval predicted_ttft " FULL, "out of memory: no request fits", "predicted_ttft" },
        { "eval replica_fits kv_slots_complete " FULL, NULL, "replica_fits       0" },
        { "eval predicted_tpot --model llama-3.1-8b --on b200-sxm --tp 3", "no such layout", "predicted_tpot" },
        { "eval bound_step --model llama-3.1-8b --on b200-sxm --tp 3", NULL, "bound_step" },
        { "why predicted_tpot --model deepseek-v3 --on h200-sxm --gpus 8 --ep 3", "no such layout", "TPOT" },
        { "eval output_cost_per_token --model deepseek-v3 --on h200-sxm --gpus 5", "no such layout", "output_cost_per_token" },
        { "eval predicted_tpot --model llama-3.1-8b --on h100-sxm --tp 1 --dp 1 --pp 33", "no such layout", "predicted_tpot" },
        { "curve predicted_tpot concurrency=1..9 --points 3 --model llama-3.1-8b --on b200-sxm --tp 3", "cannot have this layout",
          "concurrency" },
#define CROWD "--model llama-3.1-8b --on h100-sxm --gpus 1"
        { "eval predicted_ttft --rate 1000 --replicas 1 " CROWD, "overloaded: arrivals exceed", "predicted_ttft" },
        { "eval utilization saturated_throughput --rate 1000 --replicas 1 " CROWD, NULL, "utilization" },
        { "why predicted_e2e --rate 1000 --replicas 1 " CROWD, "overloaded: arrivals exceed", "predicted_e2e" },
        { "eval predicted_ttft --rate 1..8 --replicas 1 " CROWD, NULL, "predicted_ttft" },
        { "solve arrival_rate --where predicted_ttft=500ms --isl 1000 --osl 200 " CROWD, NULL, "arrival_rate = 25" },
        { "curve predicted_ttft arrival_rate=100..1000 --points 3 " CROWD, "at every point the server is overloaded", "held" },
        { "curve predicted_ttft arrival_rate=1..1000 --points 3 " CROWD, NULL, "held" },
        { "curve predicted_ttft arrival_rate=100,200 --choose --points 3 " CROWD, "  overloaded  ", "layout and load" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct command command = { .verbs = verbs };
        struct answer answer = { .doc = doc_new(&arena, DOC_OBJECT), .text.arena = &arena, .csv.arena = &arena };
        struct error error;
        char *words[WORDS] = { "chalkline" }, *rest = arena_copy(&arena, rows[i].line, strlen(rows[i].line));
        int count = 1;
        for (char *word = strtok(rest, " "); word; word = strtok(NULL, " "))
            words[count++] = word;
        assert_true(command_read(&arena, count, words, &command, &error) && command.verb->ask(&arena, &command, &answer, &error));
        buffer_add(&answer.text, "", 1);
        const char *says = rows[i].says ? rows[i].says : "\n  out of memory";
        if (answer.status != (rows[i].says != NULL) || strncmp(answer.text.data, rows[i].first, strlen(rows[i].first)) ||
            !strstr(answer.text.data, says) == (rows[i].says != NULL) ||
            (strncmp(rows[i].line, "curve", 5) && !doc_get(answer.doc, "infeasible") == (rows[i].says != NULL)))
            fail_msg("%s: status %d, expected '%s' and '%s' first:\n%s", rows[i].line, answer.status, says, rows[i].first,
                     answer.text.data);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_misfits), cmocka_unit_test(defaults_move_numbers),
                                        cmocka_unit_test(idle_is_named) };
    return cmocka_run_group_tests_name("assumed", tests, NULL, NULL);
}
