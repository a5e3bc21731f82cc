/* vllm_load_h100.csv: stages of constant request rate, each held for some minutes. */
#include "score/measured.h"

#include "build/row_names.h"

#include <string.h>

static void read_stage(struct arena *arena, const struct csv *csv, size_t row,
                       struct measured_list *list)
{
    struct measured *point = measured_add(arena, list, csv, row);
    const char *experiment = measured_word(csv, row, "experiment");
    double rate = measured_number(csv, row, "rate_per_s"), chips = measured_number(csv, row, "tp");
    double input = measured_number(csv, row, "input_mean");
    double output = measured_number(csv, row, "output_mean");
    enum { PASS = 2048, SEATS = 256, BLOCK = 16 };      /* defaults of these servers */
    point->source = measured_word(csv, row, "source");
    point->kind = "open loop";
    point->model = measured_word(csv, row, "model");
    point->machine = measured_word(csv, row, "gpu");
    point->engine = "vllm";
    point->precision = point->kv = "bf16";
    point->chips = chips;
    measured_input(point, NAME_chips, chips);
    measured_input(point, NAME_arrival_rate, rate);
    measured_input(point, NAME_prompt_tokens, input);
    measured_input(point, NAME_output_tokens, output);
    /* the profiles send the same prompts again and again: all but the last block is cached */
    measured_input(point, NAME_prefix_hit_share, input > BLOCK ? 1 - BLOCK / input : 0);
    measured_input(point, NAME_chunked_prefill_size, PASS);
    measured_input(point, NAME_max_num_seqs, SEATS);
    const struct { enum metric metric; const char *row, *column; } figures[] = {
        { METRIC_TTFT, NAME_predicted_ttft, "ttft_mean" }, { METRIC_TPOT, NAME_predicted_tpot, "tpot_mean" },
        { METRIC_E2E, NAME_predicted_e2e, "e2e_mean" },
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        measured_value(point, figures[i].metric, figures[i].row,
                       1e-3 * measured_number(csv, row, figures[i].column));
    const double kept_up = 0.9;
    if (strstr(experiment, "/all"))
        point->refused = "the stages of one run together";
    else if (!(rate > 0) || !(chips >= 1) || !(input >= 1) || !(output >= 1) || !point->value_count)
        point->refused = "sizes or load not stated";
    else if (measured_number(csv, row, "requests_per_sec") < kept_up * rate)
        point->refused = "past saturation: latency is the length of the run";
}

void measured_load(struct arena *arena, const struct csv *csv, struct measured_list *list)
{
    for (size_t row = 0; row < csv->rows; row++)
        read_stage(arena, csv, row, list);
}
