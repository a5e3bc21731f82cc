/* The wait for a slot in the KV cache, against the simulator: few slots, random arrivals, lengths that
 * are all alike or vary. The formula is an approximation of a queue with several servers (M/G/c), the
 * simulator plays every request. */
#include "test.h"
#include "commands.h"

#include "ask/ask.h"
#include "build/row_names.h"

#include <math.h>

struct queue {
    const char *model, *machine, *precision, *gpus, *isl, *osl;
    double cv, load;                /* of both lengths; share of what the slots can finish */
    double slots;                   /* 0: not checked */
};
static const struct queue queues[] = {
    { "qwen3-32b", "rtx-4090", "int4", "1", "3840", "512", 0, 0.3, 2 },
    { "qwen3-32b", "rtx-4090", "int4", "1", "3840", "512", 0, 0.5, 2 },
    { "qwen3-32b", "rtx-4090", "int4", "1", "3840", "512", 0, 0.7, 2 },
    { "qwen3-32b", "rtx-4090", "int4", "1", "6000", "300", 0, 0.5, 1 },
    { "qwen3-32b", "rtx-4090", "int4", "1", "1500", "300", 0, 0.6, 0 },
    { "llama-3.1-8b", "l40s", NULL, "1", "3000", "500", 0.5, 0.5, 0 },
    { "llama-3.1-8b", "l40s", NULL, "1", "3000", "500", 1, 0.4, 0 },
    { "llama-3.3-70b", "h100-sxm", NULL, "2", "6000", "400", 0, 0.6, 0 },
};


static void ask(struct arena *arena, const struct queue *queue, struct command *command,
                struct answer *answer)
{
    struct error error;
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    command_give(arena, command, "model", queue->model);
    command_give(arena, command, "on", queue->machine);
    command_give(arena, command, "precision", queue->precision);
    command_give(arena, command, "gpus", queue->gpus);
    command_give(arena, command, "tp", queue->gpus);
    if (!command->verb->ask(arena, command, answer, &error))
        fail_msg("%s %s: %s", command->verb->name, queue->model, error.what);
}

static double evaluated(struct arena *arena, const struct queue *queue, double rate, const char *row)
{
    struct command command = { .verb = &verb_eval, .verbs = verbs };
    struct answer answer;
    command_put_word(arena, &command, row);
    command_give(arena, &command, "isl", queue->isl);
    command_give(arena, &command, "osl", queue->osl);
    command_set(arena, &command, "set", arena_print(arena, "arrival_rate=%.17g", rate));
    command_set(arena, &command, "set", arena_print(arena, "prompt_tokens_cv=%g", queue->cv));
    command_set(arena, &command, "set", arena_print(arena, "output_tokens_cv=%g", queue->cv));
    ask(arena, queue, &command, &answer);
    return doc_get(doc_get(answer.doc, row), "value")->number;
}

static double simulated_ttft(struct arena *arena, const struct queue *queue, double rate)
{
    struct command command = { .verb = &verb_simulate, .verbs = verbs };
    struct answer answer;
    const char *lengths = queue->cv > 0
        ? arena_print(arena, "input=lognormal(%s,cv=%g),output=lognormal(%s,cv=%g)", queue->isl, queue->cv,
                      queue->osl, queue->cv)
        : arena_print(arena, "input=%s,output=%s", queue->isl, queue->osl);
    command_put_word(arena, &command, arena_print(arena, "poisson:rate=%.17g,count=20000,%s", rate, lengths));
    command_give(arena, &command, "replicas", "1");
    ask(arena, queue, &command, &answer);
    return doc_get(doc_get(answer.doc, "ttft"), "mean")->number;
}

static void waits_are_those_of_a_queue(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(queues); i++) {
        const struct queue *queue = &queues[i];
        struct arena arena = { 0 };
        const double rate = queue->load * evaluated(&arena, queue, 1e-3, NAME_slots_rate);
        const double slots = evaluated(&arena, queue, rate, NAME_rank_slots);
        const double predicted = evaluated(&arena, queue, rate, NAME_predicted_ttft);
        const double wait = evaluated(&arena, queue, rate, NAME_slot_queue_time);
        const double simulated = simulated_ttft(&arena, queue, rate);
        print_message("%s on %s, ISL %s, cv %g, %.3g slots, load %.1f: wait %.3g s, TTFT %.3g s, simulated "
                      "%.3g s\n", queue->model, queue->machine, queue->isl, queue->cv, slots, queue->load,
                      wait, predicted, simulated);
        if (queue->slots > 0)
            assert_true(slots == queue->slots);
        assert_true(fabs(predicted / simulated - 1) < 0.25);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(waits_are_those_of_a_queue) };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
