/* What could be changed beside the best type, or to make a model fit at all: each sentence is the same
 * question with one thing changed. */
#include "ask/can/can.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <string.h>

enum { CONTEXT_DIGITS = 7 };            /* contexts are printed exactly */

static double row_value(const struct can_type *type, const char *row)
{
    struct scenario scenario = type->scenario;
    struct error ignored;
    double value;
    return value_of(&scenario, row, &value, &ignored) ? value : 0;
}

/* As few layers on the host as memory allows: each layer that moves there makes room, so halve the range. */
static bool fewest(const struct can *can, struct can_type *split, double *layers, double most, struct error *error)
{
    double low = 0;
    *layers = most;
    if (!can_read(can, split, error) || !split->fits)
        return false;
    for (double high = most; high - low > 1;) {
        *layers = (double)(long)((low + high) / 2);
        if (!can_read(can, split, error))
            return false;
        *(split->fits ? &high : &low) = *layers;
    }
    *layers = low + 1;
    return can_read(can, split, error);
}

/* Where the card shares the host's memory, what does not fit in one does not fit in the other. */
static bool is_unified(const struct can *can, const struct can_type *type)
{
    const struct catalog_entry *entry =
        catalog_find(&type->scenario.catalog, CATALOG_MACHINE, can->subject.machine, NULL);
    return entry && catalog_shares_memory(entry);
}

bool can_split(const struct can *can, const struct can_type *type, struct can_type *split, struct error *error)
{
    struct can_type whole = *type, experts = *type;
    const double layers = row_value(type, NAME_layers), routed = row_value(type, NAME_moe_layers);
    if (row_value(type, NAME_llama_cpp) <= 0 || row_value(type, NAME_cpu_cores) > 0 || is_unified(can, type))
        return false;
    const bool by_layers = fewest(can, &whole, &whole.host_layers, layers, error);
    const bool by_experts = routed > 0 && fewest(can, &experts, &experts.host_expert_layers, routed, error);
    if (!by_layers && !by_experts)
        return false;
    *split = by_experts && (!by_layers || can_at(&experts, CAN_speed_per_user) > can_at(&whole, CAN_speed_per_user))
             ? experts : whole;
    return true;
}

static const char *figure(const struct can *can, const struct can_type *type, enum can_row row)
{
    return quantity_text(can->arena, can_at(type, row), type->figures->figures[row].unit, 3);
}

/* " (`-ngl 30`)", where llama.cpp can start it. */
static const char *by_flags(const struct can *can, const struct can_type *type)
{
    const char *flags = can_flags(can, type);
    return *flags ? arena_print(can->arena, " (`%s`)", flags) : "";
}

static void say_split(const struct can *can, const struct can_type *type, struct section *changes)
{
    struct error ignored;
    struct can_type split;
    if (!can_split(can, type, &split, &ignored))
        return;
    const char *what = split.host_layers > 0 ? arena_print(can->arena, "%.0f layers", split.host_layers)
                       : arena_print(can->arena, "the experts of %.0f layers", split.host_expert_layers);
    section_word(changes, NULL, arena_print(can->arena, "%s with %s on the host, %s of its memory: %s%s",
        can_type_name(type), what, quantity_text(can->arena, row_value(&split, NAME_weights_on_host),
                                             type->figures->figures[CAN_memory_needed].unit, 3),
        figure(can, &split, CAN_speed_per_user), by_flags(can, &split)));
}

/* A cache of 8 bits an element, half as large. */
static void say_cache(const struct can *can, const struct can_type *best, struct section *changes)
{
    struct error ignored;
    struct can_type smaller = *best;
    smaller.cache = "q8_0";
    if (!can->subject.kv_precision && can_read(can, &smaller, &ignored) &&
        can_at(&smaller, CAN_context_most) > can_at(best, CAN_context_most))
        section_word(changes, NULL, arena_print(can->arena,
            "KV cache in q8_0: a context of %s tokens instead of %s%s",
            count_text(can->arena, can_at(&smaller, CAN_context_most), CONTEXT_DIGITS),
            count_text(can->arena, can_at(best, CAN_context_most), CONTEXT_DIGITS), by_flags(can, &smaller)));
}

static void say_faster(const struct can *can, const struct can_type *type, const struct can_type *best,
                       struct section *changes)
{
    section_word(changes, NULL, arena_print(can->arena, "%s: %s instead of %s; %s of memory instead of %s",
        can_type_name(type), figure(can, type, CAN_speed_per_user), figure(can, best, CAN_speed_per_user),
        figure(can, type, CAN_memory_needed), figure(can, best, CAN_memory_needed)));
}

void can_changes(const struct can *can, const struct can_type *types, size_t count,
                 const struct can_type *best, struct section *changes)
{
    enum { BETTER = 115 };                  /* per cent of the speed from which on a smaller type is named */
    const struct can_type *larger = NULL, *faster = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!types[i].fits && !(larger && !strcmp(can_type_name(larger), "Q4_K_M")))
            larger = &types[i];             /* the smallest that does not fit, but of those four bits */
        else if (types[i].fits && best && !faster && 100 * can_at(&types[i], CAN_speed_per_user) >
                                    BETTER * can_at(best, CAN_speed_per_user))
            faster = &types[i];
    }
    if (faster)
        say_faster(can, faster, best, changes);
    if (best)
        say_cache(can, best, changes);
    if (!best && can_at(&types[count - 1], CAN_context_most) > 1)
        section_word(changes, NULL, arena_print(can->arena, "%s fits with a context of at most %s tokens",
            can_type_name(&types[count - 1]),
            count_text(can->arena, can_at(&types[count - 1], CAN_context_most), CONTEXT_DIGITS)));
    if (larger && (!best || (larger < best && best > &types[CAN_LARGEST])))
        say_split(can, larger, changes);
}
