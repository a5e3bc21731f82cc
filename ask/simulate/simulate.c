/* simulate: runs a trace of requests through the scheduler of a deployment.
 *
 * The verb reads the question, runs once (simulate_run.c) or searches over runs (simulate_search.c), and answers. */
#include "ask/ask.h"
#include "ask/simulate/trials.h"


/* ---- the question --------------------------------------------------------------------------- */

/* What caches of some sizes would find of the trace, without a run. */
static bool add_hits(const struct simulate *simulate, struct section *section, struct error *error)
{
    static const size_t sizes[] = { 1000, 3000, 10000, 30000, 50000, 100000, 0 };   /* 0: any number */
    if (!simulate->trace.block) {
        error_set(error, "--hit-rates: the trace names no prefix blocks");
        return error_expected(error, "a trace with hash_ids (Mooncake, Qwen-Bailian)");
    }
    struct section *list = section_add(section, "hits", SECTION_LIST);
    section_number(section, "block_tokens", (double)simulate->trace.block, unit_one)->text_only = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        if (sizes[i])
            section_number(one, "blocks", (double)sizes[i], unit_one);
        section_number(one, "found_share", trace_hit_ratio(simulate->arena, &simulate->trace, sizes[i]),
                       unit_one);
    }
    return true;
}

/* With --requests - the lines of the requests are the text, already written. */
static void print_answer(struct section *section, struct answer *answer)
{
    static const char *const tables[] = { "hits", "intervals", "times" };
    const struct section *runs = section_inside(section, "runs");
    section_document(section, answer->doc);
    if (!answer->text.size)
        template_print(template_built_in(section->arena, "ask/simulate/simulate.template"), section,
                       &answer->text);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (section_inside(section, tables[i]))
            section_csv(section_inside(section, tables[i]), &answer->csv);
    if (runs)
        trials_csv(section_find(section, "varied")->word, runs, &answer->csv);
}

bool ask_simulate(struct arena *arena, const struct command *command, struct answer *answer,
                  struct error *error)
{
    struct simulate *simulate = arena_alloc(arena, sizeof *simulate);
    struct simulated *outcome = arena_alloc(arena, sizeof *outcome);
    struct section *section = section_new(arena);
    const struct variation as_asked = { .scale = 1 };
    struct recorder *recorder = NULL;
    struct sim_watch watch = { 0 };
    bool searched;
    if (!ranks_agree(command->ranks, simulate_listens_not(command, error) &&
                     simulate_read(arena, command, simulate, error), error))
        return false;
    if (command_given(command, "hit-rates")) {
        if (!add_hits(simulate, section, error))
            return false;
        print_answer(section, answer);
        return true;
    }
    if (command_given(command, "band") && !simulate_band_ends(simulate, (double[2]){ 0 }, error))
        return false;
    if (!simulate_search(simulate, section, &searched, &answer->status, error))
        return false;
    if (!searched && command->ranks && command->ranks->rank)
        return true;                    /* a single run is the first rank's */
    if (!searched && (!simulate_record(simulate, &recorder, &watch, error) ||
                      (simulate_attach && !simulate_attach(simulate, outcome, &watch, error)) ||
                      !simulate_run(arena, simulate, &as_asked, &watch, outcome, error) ||
                      (simulate_detach && !simulate_detach(simulate, error)) ||
                      !simulate_answer(simulate, outcome, section, error) ||
                      (command_given(command, "band") &&
                       !simulate_band(simulate, outcome, section, error)) ||
                      !simulate_write(recorder, outcome, answer, error))) {
        simulate_drop(recorder);
        return false;
    }
    simulate_notes(simulate, searched ? NULL : outcome, section);
    if (command_reports(command) && !searched) {
        section_word(section, "traffic", command->words[0])->text_only = true;
        section_word(section, "model", simulate->scenario.model ? simulate->scenario.model
                     : "")->text_only = true;
        section_word(section, "machine", simulate->scenario.machine ? simulate->scenario.machine : "")
            ->text_only = true;
        answer->section = section;
    }
    print_answer(section, answer);
    return true;
}
