/* Priority classes and memory tiers of a simulation, from --priority-class and --tier.
 *
 * A class has a name of the trace and a largest number of sequences; the classes' order is that of
 * the options. A tier is an entry of the catalog or is described by keys; its capacity is counted
 * in KV blocks of the model. */
#include "ask/simulate/simulate.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- classes -------------------------------------------------------------------------------- */

static void swap_classes(struct trace *trace, size_t a, size_t b)
{
    const char *name = trace->class_names[a];
    trace->class_names[a] = trace->class_names[b];
    trace->class_names[b] = name;
    for (size_t i = 0; i < trace->count; i++)
        trace->priority_class[i] = trace->priority_class[i] == a ? (uint8_t)b
                                   : trace->priority_class[i] == b ? (uint8_t)a
                                   : trace->priority_class[i];
}

void simulate_order_classes(struct trace *trace, const struct trace *like)
{
    for (size_t at = 0; at < like->priority_classes; at++)
        for (size_t i = at + 1; i < trace->priority_classes; i++)
            if (!strcmp(trace->class_names[i], like->class_names[at]))
                swap_classes(trace, i, at);
}

/* "fast=8" for each class: classes go in the order of the options, which is the order of their priority. */
bool simulate_classes(struct simulate *simulate, struct error *error)
{
    struct trace *trace = &simulate->trace;
    const char *const *texts;
    const size_t count = command_texts(simulate->arena, simulate->command, "priority-class", &texts);
    for (size_t at = 0; at < count; at++) {
        const char *equals = strrchr(texts[at], '=');
        const size_t size = equals ? (size_t)(equals - texts[at]) : strlen(texts[at]);
        double most = 0;
        size_t found = 0;
        while (found < trace->priority_classes &&
               (strlen(trace->class_names[found]) != size ||
                memcmp(trace->class_names[found], texts[at], size)))
            found++;
        if (found == trace->priority_classes || found < at) {
            error_set(error, "--priority-class: unknown class '%.60s'%s", texts[at],
                      found < trace->priority_classes ? ", or one set before" : "");
            char names[160] = "";
            for (size_t i = at; i < trace->priority_classes; i++)
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.20s",
                         i > at ? ", " : "one of: ", trace->class_names[i]);
            return error_expected(error, "%s", *names ? names : "a trace with a column class, or "
                              "class=fast(1)|slow(9) of a description");
        }
        if (equals && (!text_number(text_of(equals + 1), &most) || !(most >= 1) ||
                       most != floor(most))) {
            error_set(error, "--priority-class: invalid count '%.60s'", equals + 1);
            return error_expected(error, "fast=8: no more than 8 sequences in a step with one of class fast");
        }
        swap_classes(trace, found, at);
        simulate->options.server.class_most[at] = (size_t)fmin(most, 1e9);
    }
    return true;
}

/* ---- tiers ---------------------------------------------------------------------------------- */

/* What the catalog says of a tier. */
static bool known_tier(struct simulate *simulate, const char *name, double block_bytes,
                       struct tier_options *tier, struct error *error)
{
    struct scenario *scenario = &simulate->scenario;
    double capacity, in_place;
    const struct { const char *row; double *to; } rows[] = {
        { NAME_tier_capacity, &capacity }, { NAME_tier_bandwidth, &tier->bandwidth },
        { NAME_tier_hold_per_byte, &tier->hold_price },
        { NAME_tier_retrieve_per_byte, &tier->fetch_price }, { NAME_tier_endurance, &tier->endurance },
        { NAME_tier_in_place, &in_place }, { NAME_tier_wear_per_byte, &tier->write_price } };
    const struct catalog_entry *entry = catalog_find(&scenario->catalog, CATALOG_TIER, name, error);
    if (!entry)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!value_of(scenario, arena_print(simulate->arena, "%s[%s]", rows[i].row, entry->name),
                      rows[i].to, error)) {
            error_set(error, "--tier: '%.60s' holds no cache", name);
            return error_expected(error, "ddr, flash or disk: `chalkline list tiers`");
        }
    if (in_place) {
        error_set(error, "--tier: '%.60s' is the GPU memory itself", name);
        return error_expected(error, "ddr, flash or disk: `chalkline list tiers`");
    }
    tier->capacity = (size_t)fmin(floor(capacity / block_bytes), 1e15);
    return true;
}

static bool tier_key(struct arena *arena, const char *key, const char *value, double block_bytes,
                     struct tier_options *tier, struct error *error)
{
    double capacity = 0;
    const struct { struct option option; double *to; } keys[] = {
        { { "tier: capacity", .kind = OPTION_QUANTITY, .unit = "B" }, &capacity },
        { { "tier: bandwidth", .kind = OPTION_QUANTITY, .unit = "B/s" }, &tier->bandwidth },
        { { "tier: latency", .kind = OPTION_QUANTITY, .unit = "s" }, &tier->latency },
        { { "tier: lifetime", .kind = OPTION_QUANTITY, .unit = "s" }, &tier->lifetime },
        { { "tier: endurance", .kind = OPTION_QUANTITY, .unit = "B" }, &tier->endurance },
        { { "tier: price", .kind = OPTION_QUANTITY, .unit = "USD/B/s" }, &tier->hold_price },
    };
    if (!strcmp(key, "shared") && !*value) {
        tier->shared = true;
        return true;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct value read;
        if (strcmp(key, keys[i].option.name + strlen("tier: ")))
            continue;
        if (!option_parse(arena, &keys[i].option, value, &read, error))
            return false;
        *keys[i].to = read.quantity.value;
        if (keys[i].to == &capacity)
            tier->capacity = (size_t)fmin(capacity / block_bytes, 1e15);
        return true;
    }
    error_set(error, "--tier: unknown key '%.60s'", key);
    return error_expected(error, "capacity, bandwidth, latency, lifetime, endurance, price, shared");
}

static bool read_tier(struct simulate *simulate, const char *text, size_t at,
                      struct error *error)
{
    struct tier_options *tier = &simulate->options.tier[at];
    const double block_bytes = simulate->options.token_bytes *
                               (double)simulate->options.server.block;
    char *words = arena_copy(simulate->arena, text, strlen(text)), *colon = strchr(words, ':');
    if (at >= TIERS_MOST) {
        error_set(error, "--tier is set more than %d times", TIERS_MOST);
        return error_expected(error, "%d tiers at most", TIERS_MOST);
    }
    if (colon)
        *colon = 0;
    simulate->tier_names[at] = words;
    if (!known_tier(simulate, words, block_bytes, tier, error))
        return false;
    const size_t whole = tier->capacity;
    const double endurance = tier->endurance, bandwidth = tier->bandwidth;
    for (char *key = colon ? colon + 1 : NULL, *next; key; key = next) {
        char *comma = strchr(key, ','), *equals;
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        equals = strchr(key, '=');
        if (equals)
            *equals = 0;
        if (!tier_key(simulate->arena, key, equals ? equals + 1 : "", block_bytes, tier, error))
            return false;
    }
    if (tier->bandwidth > 0)                            /* the same rent for so many times as long */
        tier->fetch_price *= bandwidth / tier->bandwidth;
    if (tier->endurance == endurance && whole)          /* a part of a drive wears as a part */
        tier->endurance *= (double)tier->capacity / (double)whole;
    for (size_t i = 0; i < at; i++)
        if (!strcmp(simulate->tier_names[i], words)) {
            error_set(error, "--tier %.60s is set twice", words);
            return error_expected(error, "once, with its keys");
        }
    if (tier->bandwidth > 0 && tier->capacity > 0)
        return true;
    error_set(error, "--tier %.60s: no %s", words, tier->capacity ? "bandwidth" : "room for a block");
    return error_expected(error, "capacity=1TB, bandwidth=50GB/s");
}

bool simulate_tiers(struct simulate *simulate, struct error *error)
{
    const struct command *command = simulate->command;
    const char *const *tiers;
    const size_t count = command_texts(simulate->arena, command, "tier", &tiers);
    if (count && !(simulate->options.token_bytes > 0)) {
        error_set(error, "--tier: the KV bytes per token are unknown");
        return error_expected(error, "--model MODEL --on HARDWARE, with or without --step-time");
    }
    if (command_given(command, "fetch") && !count) {
        error_set(error, "--fetch without --tier");
        return error_expected(error, "--tier ddr");
    }
    simulate->options.fetch_cheaper = command_choice(command, "fetch") == 1;
    if (simulate->options.fetch_cheaper && !value_of(&simulate->scenario, NAME_server_price,
                         &simulate->options.replica_price, error))
        return false;
    simulate->options.tiers = count;
    for (size_t i = 0; i < count; i++)
        if (!read_tier(simulate, tiers[i], i, error))
            return false;
    return true;
}
