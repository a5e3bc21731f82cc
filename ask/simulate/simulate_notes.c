/* What a simulation depends on that nobody gave, and what was given and moves nothing.
 *
 * The clock of a run is the row `simulated_step`: `server_step` times a factor that is 1 unless set. The
 * latter differs from step to step. It is looked at where a step stands on average: of a run with the
 * sequences that it counted, of a search with as many as there is room for, and with the prompt tokens
 * that flow balance then asks for.
 */
#include "ask/simulate/simulate.h"
#include "scenario/basis.h"
#include "scenario/figures.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* Put the scenario where a step stands on average: requests of the trace's mean lengths, and as many
 * sequences on a rank as the run counted, or as fit. */
static void set_step(struct simulate *simulate, const struct simulated *outcome)
{
    const struct sim_server *server = &simulate->options.server;
    const struct trace_sums sums = trace_sums_of(&simulate->trace);
    const double count = (double)simulate->trace.count, ranks = server->ranks ? (double)server->ranks : 1;
    const double prompt = sums.prompts / count, output = fmax(sums.outputs / count, 1);
    const double fit = floor((double)server->blocks * (double)server->block / (prompt + output));
    const double sequences = fmax(1, outcome ? simulate_sequences(outcome, 0) / ranks
                                             : fmin((double)server->max_num_seqs, fit));
    const double chunk = simulate->options.split.replicas
                         ? 0 : fmin((double)server->chunk, sequences * prompt / output);
    const struct { const char *row; double value; } facts[] = {
        { NAME_rank_running, sequences }, { NAME_context, prompt + output / 2 },
        { NAME_prefill_chunk, chunk }, { NAME_prefill_done, prompt / 2 },
        { NAME_prompts_begun, chunk / prompt }, { NAME_prompt_tokens, prompt },
        { NAME_output_tokens, output } };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        facts_set(&simulate->scenario.facts, facts[i].row, facts[i].value, ORIGIN_DERIVED,
                  "simulated");
}

static bool all_equal(const struct trace *trace)
{
    size_t same = 1;
    while (same < trace->count && trace->prompt[same] == trace->prompt[0] && trace->output[same] == trace->output[0])
        same++;
    return same >= trace->count && trace->output[0] > 1;
}

/* Rows that the simulator reads, beside those of a tier: first those of which the answer tells. */
enum { SHOWN = 4, SHOWN_OF_RUN = 6 };
static const char *const rows[] = {
    NAME_server_step, NAME_kv_blocks_per_rank, NAME_max_num_seqs, NAME_kv_block_tokens,
    NAME_run_cost_per_token, NAME_run_energy_per_token,
    NAME_api_time, NAME_ttft_per_prompt_token, NAME_chunked_prefill_size, NAME_step_tokens, NAME_think_time, NAME_arrivals_cv2, NAME_attention_dp,
    NAME_pipeline_parallel, NAME_draft_tokens, NAME_acceptance_rate, NAME_steps_ahead, NAME_stages_even,
    NAME_kv_stored_share, NAME_kv_per_token, NAME_tensor_parallel, NAME_server_price, NAME_simulated_step };
static const char *const tier_rows[] = {
    NAME_tier_capacity, NAME_tier_bandwidth, NAME_tier_hold_per_byte,
    NAME_tier_retrieve_per_byte, NAME_tier_endurance, NAME_tier_wear_per_byte };
static const char *const pool_rows[] = { NAME_kv_transfer_time, NAME_first_token_after_transfer };
enum { ROWS = sizeof rows / sizeof *rows, POOL_ROWS = sizeof pool_rows / sizeof *pool_rows,
       TIER_ROWS = sizeof tier_rows / sizeof *tier_rows };

void simulate_notes(struct simulate *simulate, const struct simulated *outcome,
                    struct section *section)
{
    struct scenario *scenario = &simulate->scenario;
    const char *texts[ROWS + POOL_ROWS + TIER_ROWS];
    size_t count = ROWS;
    const struct value *budget = command_value(simulate->command, "max-batched-tokens");
    if (budget && budget->was)
        facts_note(&scenario->facts, "--%s is an old name of --%s", budget->was, budget->option->name);
    if (simulate->change.varied)
        facts_note(&scenario->facts, "outputs vary by a tenth, so that users lose the phases in which they start; constant: keeps them equal");
    else if (simulate->options.users > 1 && all_equal(&simulate->trace))
        facts_note(&scenario->facts, "equal requests of users keep the phases in which they start: this is one of many steady states");
    if (!simulate->predicted) {
        if (scenario->facts.note_count)
            figures_notes(scenario, section);
        return;
    }
    memcpy(texts, rows, sizeof rows);
    for (size_t i = 0; i < TIER_ROWS && simulate->options.tiers; i++)
        texts[count++] = arena_print(simulate->arena, "SUM(tier, %s)", tier_rows[i]);
    for (size_t i = 0; i < POOL_ROWS && simulate->options.split.replicas; i++)
        texts[count++] = pool_rows[i];
    set_step(simulate, outcome);
    shown_notes(scenario, rows, outcome ? SHOWN_OF_RUN : SHOWN, NULL);
    given_note(scenario, texts, count, "the simulation");
    figures_notes(scenario, section);
}
