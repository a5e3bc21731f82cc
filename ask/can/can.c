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

static bool fast_enough(const struct can *can, const struct can_type *type)
{
    return can_at(type, CAN_speed_per_user) >= can->speed && can_at(type, CAN_predicted_ttft) <= can->ttft;
}

static const struct can_type *best_of(const struct can *can, const struct can_type *types, size_t count)
{
    const struct can_type *best = NULL;
    for (size_t i = count > CAN_LARGEST ? CAN_LARGEST : 0; i < count && i <= CAN_FOUR_BITS && !best; i++)
        if (types[i].fits && fast_enough(can, &types[i]))
            best = &types[i];
    for (size_t i = count > CAN_FOUR_BITS ? CAN_FOUR_BITS : 0; i < count && !best; i++)
        if (types[i].fits)
            best = &types[i];
    return best;
}

/* Bits per weight of a file type's file; NAN: the model's own, which it was trained in or published in. */
static double weight_bits(const struct can_type *type)
{
    struct scenario scenario = type->scenario;
    return type->precision ? can_bits(can_at(type, CAN_gguf_bytes), value_or_nan(&scenario, NAME_params_total)) : NAN;
}

/* What speaks against the best type, the reason why no command starts it among it; empty: nothing. */
static const char *caveat_of(const struct can *can, const struct can_type *best, const struct error *unstarted)
{
    static const char asked_by[] = "--emit: ";
    struct buffer out = { .arena = can->arena };
    if (best && can_at(best, CAN_speed_per_user) < can->speed)
        buffer_print(&out, "slower than --speed");
    if (best && can_at(best, CAN_predicted_ttft) > can->ttft)
        buffer_print(&out, "%sits first token later than --ttft", out.size ? ", and " : "");
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
        section_word(one, "mark", &types[i] == best ? "<" : "");
    }
    section_word(section, "model", types->scenario.model)->text_only = true;
    section_word(section, "machine", can_machine(&types->scenario))->text_only = true;
    can_figures(best ? best : &types[count - 1], section);
    for (size_t i = 0; i < section->count; i++)
        section->figures[i].text_only = true;
    section_number(section, NAME_context, can->context, types->figures->figures[CAN_context_most].unit);
    section_number(section, NAME_prompt_tokens, can->prompt,
                   types->figures->figures[CAN_context_most].unit);
    section_word(section, "caveat", caveat_of(can, best, unstarted));
    section_word(section, "each", can_cards(types) > 1 ? (can_unlike(&types->scenario) ? " of the smallest card" : " of each card") : "")->text_only = true;
    section_word(section, "best", best ? can_type_name(best) : "")->text_only = true;
}

static void add_document(const struct can *can, const struct can_type *types, size_t count,
                         const struct can_type *shown, const char *start, struct doc *doc)
{
    struct arena *arena = can->arena;
    doc_add_string(arena, doc, "model", types->scenario.model);
    doc_add_string(arena, doc, "machine", can_machine(&types->scenario));
    can_document(shown, doc);
    doc_add_string(arena, doc, "command", start);
    struct doc *choices = doc_add(arena, doc, "choices", DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        can_document(&types[i], doc_add(arena, choices, NULL, DOC_OBJECT));
}

/* An order and a number are of a list of models, a TTFT is of one of them. */
static bool options_fit(const struct command *command, bool all, struct error *error)
{
    static const char *const names[] = { "by", "most", "ttft" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (command_given(command, names[i]) && all == (i == 2)) {
            error_set(error, "--%s: %s", names[i], all ? "no model is named" : "a model is named, and no list asked for");
            return error_expected(error, all ? "`chalkline can MODEL` with it, or none" : "`chalkline can --on MACHINE` with it, or none");
        }
    return true;
}

bool ask_can(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct can can = { .arena = arena, .command = command };
    struct can_type types[CAN_TYPES_MOST];
    size_t count;
    const bool all = !command_models(command, &can.subject) && can.subject.machine;
    if (!options_fit(command, all, error) || (!all && !command_pair(command, &can.subject, error)))
        return false;
    can.subject.any_type = true;
    can.subject.met = arena_alloc(arena, sizeof *can.subject.met);
    can.subject.engine = can.subject.engine ? can.subject.engine : "llamacpp";
    if (all)
        return can_rank(&can, answer, error);
    struct scenario checkpoint;
    if (!scenario_open(&checkpoint, arena, command, can.subject, error) || !can_wants(&can, &checkpoint, error) ||
        !can_lengths(&can, &checkpoint, error) || !can_types(&can, &checkpoint, types, &count, error))
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

#define FIGURE(all, key, text) { FIELD_RECORD, key, .help = text, .record = &figure_record, .always = all }
#define TYPE_FIELDS(all)                                                                                       \
    { FIELD_TEXT, "precision", .help = "GGUF file type", .always = all },                                     \
    { FIELD_SWITCH, "fits", .help = "whether weights, KV cache and buffers fit in memory", .always = all },    \
    FIGURE(all, NAME_weights_stored, "bytes of all weights"),                                                  \
    FIGURE(all, NAME_gguf_bytes, "bytes of the weights in the file; a vision tower has a file of its own"),    \
    FIGURE(all, NAME_memory_needed, "memory per GPU for weights, KV cache, and buffers"),                      \
    FIGURE(all, "memory", "memory per GPU that the engine may fill"),                                          \
    FIGURE(all, NAME_recurrent_state, "recurrent state of a sequence, which memory_needed counts"),            \
    FIGURE(all, "decode_speed", "tokens per second of one answer, the context half full"),                     \
    FIGURE(all, NAME_prefill_speed, "tokens per second of a prompt that is half the context"),                 \
    FIGURE(all, "ttft", "time to the first token of such a prompt"),                                           \
    FIGURE(all, NAME_context_most, "longest context that fits")

static const struct record choice_record = { "CanChoice", (const struct answer_field[]){
    TYPE_FIELDS(true), { FIELD_TEXT_ONLY, .names = (const char *const[]){ "mark" }, .count = 1 }, { 0 } } };

/* Of a model, or, without one, of the catalog. */
static const struct record answer_can = { "Can", (const struct answer_field[]){
    { FIELD_TEXT, "model", .help = "its title" }, { FIELD_TEXT, "machine", .always = true },
    TYPE_FIELDS(false),
    { FIELD_TEXT, "command", .help = "what starts a server with it; empty where it does not fit or nothing does" },
    { FIELD_TEXTS, "changes", .help = "what could be changed, and what that would give" },
    { FIELD_LIST, "choices", .help = "each file type", .record = &choice_record },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_context, NAME_prompt_tokens }, .count = 2,
      .help = "the context that was asked for, and the prompt that the speeds are of" },
    { FIELD_TEXT, "caveat", .help = "what speaks against the best file type; empty where nothing does" },
    { FIELD_RECORD, "emit", .help = "--emit: commands that start an engine with it" },
    { FIELD_LIST, "models", .help = "without a model: those that fit and are fast enough, in the order printed",
      .record = &can_ranked_record },
    { FIELD_RECORD, "left_out", .help = "how many others of the catalog there are, by reason", .record = &can_left_out_record },
    { FIELD_TEXT, "by", .help = "size, speed or context" },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_speed_wanted }, .count = 1, .help = "that a model has to reach" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "best", "each", "catalog", "listed", "shown", "why_left_out" },
      .count = 6 },
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
      &can_rank_options, &row_options, &emit_options, &output_options },
    .instead = instead, .here = true,
    ANSWERS(answer_can), .ask = ask_can,
    .main = (const char *const[]){ "precision", NAME_memory_needed, "decode_speed", NAME_prefill_speed, "ttft",
                                   NAME_context_most, NULL } };
