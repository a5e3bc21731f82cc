/* `train` where no layout divides evenly: which sizes must divide which numbers, and how many
 * layouts each rule excludes.
 *
 * The space is searched once more with each kind of unevenness as a limit of its own. Where even
 * no product of sizes gives the number of chips, the answer says that instead and names the sizes
 * that were given. */
#include "ask/train/train.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>

/* "TP 3", or "TP" where it was not given. */
static const char *size_text(const struct train *train, const char *name, const char *row)
{
    const double given = train_given(train, row);
    return isnan(given) ? name : arena_print(train->arena, "%s %s", name,
                                             count_text(train->arena, given, 12));
}

static const char *expert_line(struct train *train)
{
    const double experts = value_or_nan(&train->scenario, NAME_experts_cut);
    const char *size = size_text(train, "EP", NAME_expert_parallel);
    if (!(experts > 0))
        return arena_print(train->arena, "%s: %s has no routed experts", size,
                           train->scenario.model);
    return arena_print(train->arena, "%s must divide %s experts", size,
                       count_text(train->arena, experts, 12));
}

static const char *stage_line(struct train *train)
{
    const double layers = value_or_nan(&train->scenario, NAME_mixer_layers);
    const double chunks = train_given(train, NAME_virtual_stages);
    const char *pieces = "VPP";
    if (!isnan(chunks))
        pieces = arena_print(train->arena, "VPP %s", count_text(train->arena, chunks, 12));
    return arena_print(train->arena, "%s x %s must divide %s layers, or %s with one less on the "
                       "first and last stage%s", size_text(train, "PP", NAME_pipeline_parallel), pieces,
                       count_text(train->arena, layers, 12), count_text(train->arena, layers + 2, 12),
                       chunks > 1 && !(train_given(train, NAME_pipeline_parallel) > 1)
                       ? "; VPP above 1 needs PP above 1" : "");
}

static const char *even_line(struct train *train, enum train_even even)
{
    switch (even) {
    case TRAIN_EVEN_HEADS:
        return arena_print(train->arena, "%s must divide %s query heads, and divide %s KV heads "
                           "or be a multiple of them", size_text(train, "TP", NAME_tensor_parallel),
                           count_text(train->arena, value_or_nan(&train->scenario, NAME_heads_most), 12),
                           count_text(train->arena, value_or_nan(&train->scenario, NAME_cache_heads_most), 12));
    case TRAIN_EVEN_STAGES:
        return stage_line(train);
    case TRAIN_EVEN_EXPERTS:
        return expert_line(train);
    case TRAIN_EVEN_SEQUENCE:
        return arena_print(train->arena, "%s must divide sequences of %s tokens",
                           size_text(train, "CP", NAME_context_parallel),
                           count_text(train->arena, value_or_nan(&train->scenario, NAME_sequence_length), 12));
    default:
        return arena_print(train->arena, "DP x %s must divide %s sequences",
                           isnan(train_given(train, NAME_micro_batch)) ? "micro-batch"
                           : size_text(train, "micro-batches of", NAME_micro_batch),
                           count_text(train->arena, value_or_nan(&train->scenario, NAME_training_sequences), 12));
    }
}

/* The product of two or three sizes, "TP 3 x PP x CP", which the chips must be a multiple of. */
static bool product_line(struct train *train, const char *const (*sizes)[2], size_t count,
                         bool all, struct section *lines)
{
    struct buffer line = { .arena = train->arena };
    double product = 1;
    for (size_t i = 0; i < count; i++) {
        const double given = train_given(train, sizes[i][1]);
        product *= isnan(given) ? 1 : given;
        buffer_print(&line, "%s%s", i ? " x " : "", size_text(train, sizes[i][0], sizes[i][1]));
    }
    if (!all && fmod(train->chips, product) == 0)
        return false;
    buffer_print(&line, " must divide %s GPUs", count_text(train->arena, train->chips, 12));
    section_word(lines, NULL, line.data);
    return true;
}

/* There is not even a product of sizes. */
static void no_product(struct train *train, struct section *lines)
{
    static const char *const ranks[][2] = { { "TP", NAME_tensor_parallel }, { "PP", NAME_pipeline_parallel },
                                            { "CP", NAME_context_parallel } };
    static const char *const sets[][2] = { { "PP", NAME_pipeline_parallel }, { "EP", NAME_expert_parallel } };
    const double pp = train_given(train, NAME_pipeline_parallel);
    const double chunks = train_given(train, NAME_virtual_stages);
    const bool layers = fmax(1, pp) * fmax(1, chunks) > value_or_nan(&train->scenario, NAME_mixer_layers) ||
                        (pp == 1 && chunks > 1);
    const bool experts = train_given(train, NAME_expert_parallel) >
                         value_or_nan(&train->scenario, NAME_expert_ways);
    if (layers)
        section_word(lines, NULL, stage_line(train));
    if (experts)
        section_word(lines, NULL, expert_line(train));
    const bool set = !isnan(train_given(train, NAME_expert_parallel));
    bool told = product_line(train, ranks, 3, false, lines);
    told |= set && product_line(train, sets, 2, false, lines);
    if (!told && !layers && !experts) {
        product_line(train, ranks, 3, true, lines);
        product_line(train, sets, 2, true, lines);
    }
}

bool train_nothing(struct train *train, struct section *lines)
{
    size_t counts[TRAIN_EVEN_COUNT];
    if (!train->result.count.points) {
        no_product(train, lines);
        return true;
    }
    if (!train_uneven(train, counts))
        return false;
    for (int i = 0; i < TRAIN_EVEN_COUNT; i++)
        if (counts[i])
            section_word(lines, NULL, arena_print(train->arena, "%s layouts: %s",
                                                  count_text(train->arena, (double)counts[i], 12),
                                                  even_line(train, (enum train_even)i)));
    return true;
}
