/* can: does a model run on one's own card, in which file type, how fast, with how long a context.
 *
 * Every file type that people download is read at one point: one conversation with llama.cpp, its context
 * half full. The best is the largest that fits and writes fast enough to follow, at most Q8_0, whose loss
 * nobody has measured to matter, at least of four bits; where none is fast enough, of four bits, or what fits. */
#include "ask/can/can.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "import/import.h"
#include "scenario/calibrated.h"
#include "deploy/server.h"

#include <math.h>
#include <string.h>

enum { TYPES_MOST = 12 };

enum { FOUR_BITS = 4 };                /* the place of Q4_K_M in the list */

/* "qwen3:14b-q4_K_M": the GGUF file type that the model's name states, or NULL. */
static const char *type_named(const struct can *can)
{
    const char *precision = NULL;
    catalog_model_called(can->arena, catalog_built_in(), can->subject.model, &precision, NULL);
    return precision && file_type_find(can->arena, precision) ? precision : NULL;
}

/* The checkpoint as it is in a GGUF file, then the types that people download (data/file_types.csv). */
static size_t usual_types(struct arena *arena, struct can_type *types)
{
    const char *names[TYPES_MOST - 1];
    const size_t count = file_types_usual(arena, names, TYPES_MOST - 1);
    types[0] = (struct can_type){ .precision = "BF16" };
    for (size_t i = 0; i < count; i++)
        types[1 + i] = (struct can_type){ .precision = names[i] };
    return 1 + count;
}

/* The context, and how much of it is prompt: as given, else filled to a share. */
static bool read_lengths(struct can *can, struct scenario *scenario, double filled, struct error *error)
{
    const struct facts *facts = &scenario->facts;
    const bool given = fact_given(facts_find(facts, NAME_context)), prompt = fact_given(facts_find(facts, NAME_prompt_tokens));
    if (!value_of(scenario, given ? NAME_context : NAME_conversation_context, &can->context, error) ||
        (prompt && !value_of(scenario, NAME_prompt_tokens, &can->prompt, error)) ||
        (fact_given(facts_find(facts, NAME_output_tokens)) && !value_of(scenario, NAME_output_tokens, &can->answer, error)))
        return false;
    if (!given && prompt)
        can->context = fmax(can->context, can->prompt + can->answer);
    if (!prompt)
        can->prompt = fmax(1, floor(can->context * filled));
    if (can->prompt < can->context)
        return true;
    error_set(error, "a prompt of %.0f tokens leaves no room in a context of %.0f", can->prompt, can->context);
    return error_expected(error, "--context of prompt and answer, or no --context");
}

/* The context and the speed that were asked for, and the types to try: that of --precision, or all. A
 * checkpoint whose experts have four bits is published in those alone. */
static bool read_question(struct can *can, struct can_type *types, size_t *count, struct error *error)
{
    struct scenario scenario;
    double four, experts, llama_cpp, filled;
    if (!scenario_open(&scenario, can->arena, can->command, can->subject, error) ||
        !value_of(&scenario, NAME_four_bit_weights, &four, error) ||
        !value_of(&scenario, NAME_moe_layers, &experts, error) ||
        !value_of(&scenario, NAME_llama_cpp, &llama_cpp, error) ||
        !value_of(&scenario, NAME_conversation_filled, &filled, error) ||
        !value_of(&scenario, NAME_conversation_answer, &can->answer, error) ||
        !value_of(&scenario, NAME_max_context, &can->window, error) ||
        !value_of(&scenario, NAME_speed_wanted, &can->speed, error))
        return false;
    if (llama_cpp <= 0) {
        error_set(error, "can answers for llama.cpp, and --engine names another engine");
        return error_expected(error, "llamacpp, llamacpp-vulkan, llamacpp-rocm or localscore; `chalkline step` has others");
    }
    if (!read_lengths(can, &scenario, filled, error))
        return false;
    if (!can->subject.precision)
        can->subject.precision = type_named(can);
    const struct file_type *type = file_type_find(can->arena, can->subject.precision);
    can->subject.precision = type ? file_type_name(type) : can->subject.precision;
    if (can->subject.precision || name_within(can->subject.model, ".gguf"))
        types[(*count)++] = (struct can_type){ .precision = can->subject.precision };
    else if (four > 0 && experts > 0)
        types[(*count)++] = (struct can_type){ .precision = "MXFP4_MOE" };
    else
        *count = usual_types(can->arena, types);
    return true;
}

static const struct can_type *best_of(const struct can *can, const struct can_type *types, size_t count)
{
    const struct can_type *best = NULL;
    for (size_t i = count > CAN_LARGEST ? CAN_LARGEST : 0; i < count && i <= FOUR_BITS && !best; i++)
        if (types[i].fits && can_at(&types[i], CAN_speed_per_user) >= can->speed)
            best = &types[i];
    for (size_t i = count > FOUR_BITS ? FOUR_BITS : 0; i < count && !best; i++)
        if (types[i].fits)
            best = &types[i];
    return best;
}

/* Bits per weight of a file type's file; NAN: the model's own, which it was trained in or published in. */
static double weight_bits(const struct can_type *type)
{
    struct scenario scenario = type->scenario;
    const double params = value_or_nan(&scenario, NAME_params_total);
    return type->precision ? 8 * can_at(type, CAN_gguf_bytes) / params : NAN;
}

/* What speaks against the best type, the reason why no command starts it among it; empty: nothing. */
static const char *caveat_of(const struct can *can, const struct can_type *best, const struct error *unstarted)
{
    static const char asked_by[] = "--emit: ";
    struct buffer out = { .arena = can->arena };
    if (best && can_at(best, CAN_speed_per_user) < can->speed)
        buffer_print(&out, "slower than --speed");
    const double bits = best ? weight_bits(best) : NAN;
    if (bits < 4)
        buffer_print(&out, "%squality suffers below four bits per weight: this file has %.2f", out.size ? ", and " : "but ", bits);
    if (can->context > can->window)
        buffer_print(&out, "%sthe model was made for a context of %s tokens: beyond it answers get worse",
                     out.size ? ", and " : "but ", count_text(can->arena, can->window, 7));
    if (best && unstarted) {
        const bool named = starts_with(unstarted->what, asked_by);
        buffer_print(&out, "%sno command starts it: %s (%s)", out.size ? ", and " : "but ",
                     unstarted->what + (named ? strlen(asked_by) : 0), unstarted->hint);
    }
    return out.size ? out.data : "";
}

/* The text's words: what was asked, and the answer in a sentence. */
static void add_table(const struct can *can, const struct can_type *types, size_t count,
                      const struct can_type *best, const struct error *unstarted, struct section *section)
{
    struct section *list = section_add(section, "choices", SECTION_LIST);
    list->text_only = true;
    for (size_t i = 0; i < count; i++) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        can_figures(&types[i], one);
        section_number(one, NAME_chips, can_cards(&types[i]), unit_one);
        section_word(one, "mark", &types[i] == best ? "<" : "");
    }
    section_word(section, "model", types->scenario.model)->text_only = true;
    section_word(section, "machine", can_machine(types))->text_only = true;
    can_figures(best ? best : &types[count - 1], section);
    for (size_t i = 0; i < section->count; i++)
        section->figures[i].text_only = true;
    section_number(section, NAME_context, can->context, types->figures->figures[CAN_context_most].unit);
    section_number(section, NAME_prompt_tokens, can->prompt,
                   types->figures->figures[CAN_context_most].unit);
    section_word(section, "caveat", caveat_of(can, best, unstarted));
    section_number(section, NAME_chips, can_cards(types), unit_one)->text_only = true;
    section_word(section, "best", best ? can_type_name(best) : "")->text_only = true;
}

static void add_document(const struct can *can, const struct can_type *types, size_t count,
                         const struct can_type *shown, const char *start, struct doc *doc)
{
    struct arena *arena = can->arena;
    doc_add_string(arena, doc, "model", types->scenario.model);
    doc_add_string(arena, doc, "machine", can_machine(types));
    can_document(shown, doc);
    doc_add_string(arena, doc, "command", start);
    struct doc *choices = doc_add(arena, doc, "choices", DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        can_document(&types[i], doc_add(arena, choices, NULL, DOC_OBJECT));
}

bool ask_can(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct can can = { .arena = arena, .command = command };
    struct can_type types[TYPES_MOST];
    size_t count = 0;
    if (!command_pair(command, &can.subject, error))
        return false;
    can.subject.engine = can.subject.engine ? can.subject.engine : "llamacpp";
    if (!read_question(&can, types, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!can_read(&can, &types[i], error))
            return false;
    const struct can_type *best = best_of(&can, types, count);
    struct can_type shown = best ? *best : types[count - 1];
    struct section *section = section_new(arena);
    struct error unstarted;
    const char *start = best ? can_launch(&can, &shown, &unstarted) : "";
    add_document(&can, types, count, &shown, start ? start : "", answer->doc);
    add_table(&can, types, count, best, start ? NULL : &unstarted, section);
    can_changes(&can, types, count, best, section_add(section, "changes", SECTION_TEXTS));
    section_word(section, "command", start ? start : "")->text_only = true;
    figures_words(&shown.scenario, section);
    calibrated_note(&shown.scenario);
    figures_notes(&shown.scenario, section);
    section_document(section, answer->doc);
    answer->status = !best;
    template_print(template_built_in(arena, "ask/can/can.template"), section, &answer->text);
    return !command_given(command, "emit") || can_emit(&can, &shown, answer, error);
}

#define FIGURE(key, text) { FIELD_RECORD, key, .help = text, .record = &figure_record, .always = true }
#define TYPE_FIELDS                                                                                       \
    { FIELD_TEXT, "precision", .help = "GGUF file type", .always = true },                                \
    { FIELD_SWITCH, "fits", .help = "whether weights, KV cache and buffers fit in memory", .always = true }, \
    FIGURE(NAME_weights_stored, "bytes of all weights"),                                               \
    FIGURE(NAME_gguf_bytes, "bytes of the weights in the file; a vision tower has a file of its own"),        \
    FIGURE(NAME_memory_needed, "memory per GPU for weights, KV cache, and buffers"),                  \
    FIGURE("memory", "memory per GPU that the engine may fill"),                                   \
    FIGURE("decode_speed", "tokens per second of one answer, the context half full"),                     \
    FIGURE(NAME_prefill_speed, "tokens per second of a prompt that is half the context"),                    \
    FIGURE("ttft", "time to the first token of such a prompt"),                                        \
    FIGURE(NAME_context_most, "longest context that fits")

static const struct record choice_record = { "CanChoice", (const struct answer_field[]){
    TYPE_FIELDS, { FIELD_TEXT_ONLY, .names = (const char *const[]){ "mark", NAME_chips }, .count = 2 }, { 0 } } };

static const struct record answer_can = { "Can", (const struct answer_field[]){
    { FIELD_TEXT, "model", .always = true }, { FIELD_TEXT, "machine", .always = true },
    TYPE_FIELDS,
    { FIELD_TEXT, "command", .help = "what starts a server with it; empty where it does not fit or nothing does", .always = true },
    { FIELD_TEXTS, "changes", .help = "what could be changed, and what that would give", .always = true },
    { FIELD_LIST, "choices", .help = "each file type", .record = &choice_record, .always = true },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again", .always = true },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_context, NAME_prompt_tokens }, .count = 2, .always = true,
      .help = "the context that was asked for, and the prompt that the speeds are of" },
    { FIELD_TEXT, "caveat", .help = "what speaks against the best file type; empty where nothing does", .always = true },
    { FIELD_RECORD, "emit", .help = "--emit: commands that start an engine with it" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "best", NAME_chips }, .count = 2 },
    { 0 } } };

static const struct option context_option[] = {
    { NAME_context, "N", OPTION_ROW, .row = NAME_context, .otherwise = "8192", .help = "context of the conversation" },
    { "isl", "N", OPTION_ROW, .row = NAME_prompt_tokens, .otherwise = "half of --context",
      .help = "tokens of the prompt that the speeds are of" },
    { "osl", "N", OPTION_ROW, .row = NAME_output_tokens, .otherwise = "256", .help = "tokens of its answer" },
    { 0 } };
static const char *const own_targets[] = { "llamacpp", "ollama", "mlx", NULL };     /* engines of one's own machine */
static const struct option emit_list[] = {
    { "emit", "WHAT", OPTION_CHOICE, .choices = own_targets, .help = "print what starts an engine with the best type" },
    { 0 } };
static const struct option_group emit_options = { "Launch", emit_list };
static const struct option_group conversation_options = { "Load", context_option };
static const char load_hint[] = "can answers for one conversation; `chalkline step MODEL --on CARD --engine llamacpp "
                                "--users N` for several at once";
static const struct instead instead[] = {
    { NAME_batch, load_hint }, { NAME_users, load_hint }, { NAME_concurrency, load_hint }, { NULL, NULL } };

const struct verb verb_can = {
    "can", "[MODEL]", "Say whether a model runs on one's own card, in which file type, and how fast.",
    { "chalkline can qwen3-14b --on rtx-4090",
      "chalkline can llama-3.1-8b --on m3-max --context 32768",
      "chalkline can qwen3-30b-a3b --on rtx-4090 --precision Q8_0 --set host_memory_bandwidth=72GB/s" },
    { &model_options, &machine_options, &chip_options, &weight_options, &cache_options, &engine_options,
      &calibration_options, &assume_options, &conversation_options, &image_options, &limit_options,
      &row_options, &emit_options, &output_options },
    .instead = instead, .here = true,
    ANSWERS(answer_can), .ask = ask_can };
