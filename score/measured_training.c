/* training.csv: published training runs. Its columns are those of serving.csv, its metrics are
 * not. One run is told by several figures: the one that needs the least interpreting is kept.
 * What a source leaves out is assumed for its whole stack: score/assumed.def. */
#include "score/measured.h"

#include "build/row_names.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a metric of the file gives the time of a step; of several metrics the one ranked highest is kept. */
static const struct figure {
    const char *name;
    enum { STEP, TOKENS_PER_CHIP, TOKENS, HOURS_PER_TERATOKEN, FLOPS, FLOPS_AGAIN, WHOLE } says;
    int worth;
} figures[] = {
    { "step_time", STEP, 5 },
    { "tokens_per_s_per_gpu", TOKENS_PER_CHIP, 4 },
    { "tokens_per_s_total", TOKENS, 4 },
    { "gpu_hours_per_trillion_tokens", HOURS_PER_TERATOKEN, 4 },
    { "model_tflops_per_gpu", FLOPS, 3 },
    { "hardware_tflops_per_gpu", FLOPS_AGAIN, 2 },
    { "mfu", WHOLE, 1 },
    { "time_to_train_mlperf", WHOLE, 0 },
    { "gpu_hours_total", WHOLE, 0 },
};

/* Megatron-Bridge rounds its tokens more than its FLOPs. Of these models it counts other FLOPs
 * than the model has: prediction layers, the scan of a state space, fewer experts. */
static const char *const rounded = "Megatron-Bridge";
static const char *const counted_otherwise[] = { "DeepSeek-V3", "gpt-oss", "Nemotron-3" };

static const struct assumption {
    const char *source, *model, *machine, *precision, *row;
    double value;
} assumptions[] = {
#define ASSUME(source, model, machine, precision, row, value) \
    { source, model, machine, precision, NAME_##row, value },
#include "score/assumed.def"
#undef ASSUME
};

struct run {
    const struct figure *figure;
    const char *note;
    double chips, sequences, length, tensor, pipeline, experts, context, micro;
};

static const struct figure *figure_of(const char *name)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].name, name))
            return &figures[i];
    return NULL;
}

bool measured_trains(const struct csv *csv, size_t row)
{
    return figure_of(measured_word(csv, row, "metric")) != NULL;
}

/* ---- one run, several figures -------------------------------------------------------------- */

static bool same_run(const struct csv *csv, size_t a, size_t b)
{
    static const char *const columns[] = { "model", "hardware", "gpus", "tp", "pp", "ep", "dp",
                                           "precision", "batch_concurrency", "input_len",
                                           "source" };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(measured_word(csv, a, columns[i]), measured_word(csv, b, columns[i])))
            return false;
    return true;
}

static int worth_of(const struct csv *csv, size_t row)
{
    const struct figure *figure = figure_of(measured_word(csv, row, "metric"));
    int worth = figure ? figure->worth : -1;
    if (!figure || figure->says != FLOPS || !strstr(measured_word(csv, row, "source"), rounded))
        return worth;
    for (size_t i = 0; i < sizeof counted_otherwise / sizeof *counted_otherwise; i++)
        if (strstr(measured_word(csv, row, "model"), counted_otherwise[i]))
            return worth;
    return worth + 2;
}

static bool kept(const struct csv *csv, size_t row)
{
    int worth = worth_of(csv, row);
    for (size_t i = 0; i < csv->rows; i++)
        if (i != row && same_run(csv, i, row) &&
            (worth_of(csv, i) > worth || (worth_of(csv, i) == worth && i < row)))
            return false;
    return true;
}

/* ---- layout -------------------------------------------------------------------------------- */

static bool part_of(const char *whole, const char *part)
{
    return !part || strstr(whole, part);
}

static void assume(struct measured *point, const char *row, double value)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, row)) {
            point->inputs[i].value = value;
            return;
        }
    measured_input(point, row, value);
}

static void assume_all(struct measured *point, const char *precision)
{
    for (size_t i = 0; i < sizeof assumptions / sizeof *assumptions; i++) {
        const struct assumption *a = &assumptions[i];
        if (part_of(point->source, a->source) && part_of(point->model, a->model) &&
            part_of(point->machine, a->machine) && part_of(precision, a->precision))
            assume(point, a->row, a->value);
    }
}

static double assumed(const struct measured *point, const char *row, double otherwise)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, row))
            return point->inputs[i].value;
    return otherwise;
}

/* What notes say, in a few fixed phrases. */
static void read_note(const struct run *run, struct measured *point)
{
    static const struct { const char *phrase, *row; double value; } phrases[] = {
        { "FULL_SHARD", NAME_zero_stage, 3 },
        { "SHARD_GRAD_OP", NAME_zero_stage, 2 },
        { "activation checkpointing True", NAME_recompute_full, 1 },
        { "activation checkpointing True", NAME_recompute_stops, 1 },
        { "FULL activation recomputation", NAME_recompute_full, 1 },
        { "full recomputation", NAME_recompute_full, 1 },
        { "selective recomputation", NAME_recompute_attention, 1 },
        { "no sequence parallelism", NAME_sequence_parallel, 0 },
    };
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strstr(run->note, phrases[i].phrase))
            assume(point, phrases[i].row, phrases[i].value);
    if (measured_after(run->note, "FSDP=") > 1)
        assume(point, NAME_zero_stage, 3);
    double chunks = measured_after(run->note, "VP=");
    if (!(chunks > 0))
        chunks = measured_after(run->note, "VP ");
    if (chunks > 0)
        assume(point, NAME_virtual_stages, chunks);
    double micro = measured_after(run->note, "micro-batch ");
    if (micro > 0)
        assume(point, NAME_micro_batch, micro);
}

/* More replicas than sequences: they cut the sequence further. */
static void read_layout(struct run *run, struct measured *point)
{
    run->tensor = assumed(point, NAME_tensor_parallel, run->tensor);
    double replicas = run->chips / (run->tensor * run->pipeline * run->context);
    if (replicas != floor(replicas))
        point->refused = "a layout that does not multiply to its chips";
    if (replicas > run->sequences) {
        run->context *= replicas / run->sequences;
        replicas = run->sequences;
    }
    double micro = assumed(point, NAME_micro_batch, 1);
    assume(point, NAME_micro_batch, micro > 0 ? micro : run->sequences / replicas);
    assume(point, NAME_tensor_parallel, run->tensor);
    assume(point, NAME_pipeline_parallel, run->pipeline);
    assume(point, NAME_context_parallel, run->context);
    assume(point, NAME_expert_parallel, run->experts);
    assume(point, NAME_training_chips, run->chips);
    assume(point, NAME_training_sequences, run->sequences);
    assume(point, NAME_sequence_length, run->length);
}

/* ---- a figure as the time of a step -------------------------------------------------------- */

static void read_figure(const struct run *run, double value, struct measured *point)
{
    const double hour = 3600, teratoken = 1e12, teraflop = 1e12;
    double tokens = run->sequences * run->length;
    switch (run->figure->says) {
    case STEP:                break;
    case TOKENS_PER_CHIP:     value = tokens / run->chips / value; break;
    case TOKENS:              value = tokens / value; break;
    case HOURS_PER_TERATOKEN: value *= hour / teratoken * tokens / run->chips; break;
    case FLOPS:
    case FLOPS_AGAIN:
        if (!(value > 0))
            return;
        measured_input(point, NAME_stated_chip_flops, value * teraflop);
        measured_input(point, NAME_recompute_counted, run->figure->says == FLOPS_AGAIN);
        measured_from(point, METRIC_STEP, NAME_train_step, NAME_stated_step);
        return;
    case WHOLE:
        point->refused = "a share of the peak alone";
        return;
    }
    measured_value(point, METRIC_STEP, NAME_train_step, value);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static double number_or(const struct csv *csv, size_t row, const char *column, double absent)
{
    double value = measured_number(csv, row, column);
    return value > 0 ? value : absent;
}

static const char *refusal(const struct csv *csv, size_t row, const struct run *run)
{
    if (run->figure->says == WHOLE && run->figure->worth == 0)
        return "a whole run, with its restarts and evaluations";
    if (!(run->chips >= 1) || !(run->tensor >= 1) || !(run->pipeline >= 1) ||
        !(run->sequences >= 1) || !(run->length >= 1))
        return "batch or layout not stated";
    return kept(csv, row) ? NULL : "another figure of a run that is scored";
}

void measured_training(struct arena *arena, const struct csv *csv, size_t row,
                       struct measured_list *list)
{
    struct measured *point = measured_add(arena, list, csv, row);
    struct run run = { .figure = figure_of(measured_word(csv, row, "metric")),
                       .note = measured_word(csv, row, "note"),
                       .chips = measured_number(csv, row, "gpus"),
                       .sequences = measured_number(csv, row, "batch_concurrency"),
                       .length = measured_number(csv, row, "input_len"),
                       .tensor = measured_number(csv, row, "tp"),
                       .pipeline = measured_number(csv, row, "pp"),
                       .experts = number_or(csv, row, "ep", 1) };
    double context = measured_after(run.note, "CP=");
    run.context = context > 0 ? context : 1;
    point->source = measured_word(csv, row, "source");
    point->kind = "training";
    point->model = measured_word(csv, row, "model");
    point->machine = measured_word(csv, row, "hardware");
    point->precision = measured_word(csv, row, "precision");
    point->chips = run.chips;
    point->refused = refusal(csv, row, &run);
    if (point->refused)
        return;
    assume_all(point, point->precision);
    read_note(&run, point);
    read_layout(&run, point);
    read_figure(&run, measured_number(csv, row, "value"), point);
}
