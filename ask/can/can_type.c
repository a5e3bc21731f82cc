/* One file type of a model on a machine: the scenario of one conversation with llama.cpp, read at one
 * point. The prompt is half of the context, so that the answer starts where a chat usually is. */
#include "ask/can/can.h"

#include "build/row_names.h"

#include <string.h>

enum { OUTPUT_TOKENS = 256 };

static const char *const rows[CAN_ROW_COUNT] = {
#define X(name) NAME_##name,
    CAN_ROWS(X)
#undef X
};

/* The keys that the answer has instead of names of rows. */
static const char *const keys[CAN_ROW_COUNT] = { [CAN_memory_usable] = "memory", [CAN_predicted_ttft] = "ttft",
                                                 [CAN_speed_per_user] = "decode_speed" };

static void assume(struct scenario *scenario, const char *row, double value)
{
    if (!facts_find(&scenario->facts, row))
        facts_set(&scenario->facts, row, value, ORIGIN_CHOSEN, "one conversation");
}

/* One conversation on all the chips that were given, split by layers as llama.cpp does. */
static void set_load(const struct can *can, struct scenario *scenario)
{
    const struct fact *chips = facts_find(&scenario->facts, NAME_chips);
    const bool many = chips && chips->origin == ORIGIN_GIVEN;
    if (!many)
        facts_set(&scenario->facts, NAME_chips, 1, ORIGIN_CHOSEN, "one card");
    else
        assume(scenario, NAME_pipeline_parallel, chips->value);
    assume(scenario, NAME_concurrency, 1);
    assume(scenario, NAME_context, can->context);
    assume(scenario, NAME_prompt_tokens, can->context / 2);
    assume(scenario, NAME_output_tokens, can->context < 2 * OUTPUT_TOKENS ? can->context / 2 : OUTPUT_TOKENS);
}

bool can_read(const struct can *can, struct can_type *type, struct error *error)
{
    struct subject subject = can->subject;
    subject.precision = type->precision;
    subject.kv_precision = type->cache ? type->cache : subject.kv_precision;
    if (!scenario_open(&type->scenario, can->arena, can->command, subject, error))
        return false;
    set_load(can, &type->scenario);
    if (type->host_layers > 0)
        facts_set(&type->scenario.facts, NAME_host_layers, type->host_layers, ORIGIN_CHOSEN, "what does not fit");
    if (type->host_expert_layers > 0)
        facts_set(&type->scenario.facts, NAME_host_expert_layers, type->host_expert_layers, ORIGIN_CHOSEN,
                  "what does not fit");
    type->figures = section_new(can->arena);
    if (!figures_read(&type->scenario, rows, CAN_ROW_COUNT, &type->values, type->figures, error))
        return false;
    type->fits = can_at(type, CAN_memory_needed) <= can_at(type, CAN_memory_usable);
    return true;
}

double can_at(const struct can_type *type, enum can_row row)
{
    return type->values.at[row];
}

const char *can_type_name(const struct can_type *type)
{
    return type->precision ? type->precision : "the file's own type";
}

const char *can_machine(const struct can_type *type)
{
    const double chips = facts_find(&type->scenario.facts, NAME_chips)->value;
    return chips > 1 ? arena_print(type->scenario.arena, "%.0f x %s", chips, type->scenario.machine)
                     : type->scenario.machine;
}

void can_figures(const struct can_type *type, struct section *section)
{
    section_word(section, "precision", can_type_name(type));
    section_word(section, "fits", type->fits ? "yes" : "no");
    for (size_t i = 0; i < CAN_ROW_COUNT; i++) {
        const struct figure *figure = &type->figures->figures[i];
        const char *key = keys[i] ? keys[i] : rows[i];
        const bool speed = i >= CAN_speed_per_user;
        if (speed && !type->fits) {             /* what it would do with more memory is no answer for people */
            section_word(section, key, "");
            continue;
        }
        struct figure *copy = section_number(section, key, figure->value, figure->unit);
        copy->low = figure->low;
        copy->high = figure->high;
    }
}

void can_document(const struct can_type *type, struct doc *doc)
{
    struct arena *arena = type->scenario.arena;
    doc_add_string(arena, doc, "precision", can_type_name(type));
    doc_add_bool(arena, doc, "fits", type->fits);
    for (size_t i = 0; i < CAN_ROW_COUNT; i++)
        figure_document(arena, &type->figures->figures[i],
                        doc_add(arena, doc, keys[i] ? keys[i] : rows[i], DOC_OBJECT));
}

const char *can_flags(const struct can *can, const struct can_type *type)
{
    struct buffer out = { .arena = can->arena };
    buffer_print(&out, "%s", "");
    struct scenario scenario = type->scenario;
    struct error ignored;
    double layers = 0;
    if (type->host_layers > 0 && value_of(&scenario, NAME_layers, &layers, &ignored))
        buffer_print(&out, "-ngl %.0f", layers - type->host_layers);
    else if (!(value_of(&scenario, NAME_cpu_cores, &layers, &ignored) && layers > 0))
        buffer_print(&out, "-ngl 99");
    if (type->host_expert_layers > 0)
        buffer_print(&out, "%s--n-cpu-moe %.0f", out.size ? " " : "", type->host_expert_layers);
    if (type->cache)
        buffer_print(&out, "%s-ctk %s -ctv %s", out.size ? " " : "", type->cache, type->cache);
    return out.data;
}

const char *can_launch(const struct can *can, const struct can_type *type)
{
    const char *flags = can_flags(can, type);
    const char *file = type->precision ? arena_print(can->arena, "%s-%s.gguf", type->scenario.model, type->precision)
                                       : can->subject.model;
    return arena_print(can->arena, "llama-server -m %s -c %.0f%s%s", file, can->context, *flags ? " " : "", flags);
}
