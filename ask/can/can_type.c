/* What is asked, and one file type of a model on a machine: the scenario of one conversation with llama.cpp, read at one
 * point. The prompt fills half of the context, so that the answer starts where a chat usually is. */
#include "ask/can/can.h"
#include "scenario/figures.h"

#include "deploy/launch/launch.h"
#include "build/row_names.h"
#include "import/import.h"

#include <math.h>
#include <string.h>

static const char *const rows[CAN_ROW_COUNT] = {
#define X(name) NAME_##name,
    CAN_ROWS(X)
#undef X
};

/* The keys that the answer has instead of names of rows. */
static const char *const keys[CAN_ROW_COUNT] = { [CAN_memory_usable] = "memory", [CAN_predicted_ttft] = "ttft",
                                                 [CAN_speed_per_user] = "decode_speed" };

/* "qwen3:14b-q4_K_M": the GGUF file type that the model's name states, or NULL. */
static const char *type_named(const struct can *can)
{
    const char *precision = NULL;
    catalog_model_called(can->arena, catalog_built_in(), can->subject.model, &precision, NULL);
    return precision && file_type_find(can->arena, precision) ? precision : NULL;
}

/* The checkpoint as it is in a GGUF file, then the types that people download (data/file_types.csv). */
size_t can_usual(struct arena *arena, struct can_type *types)
{
    const char *names[CAN_TYPES_MOST - 1];
    const size_t count = file_types_usual(arena, names, CAN_TYPES_MOST - 1);
    types[0] = (struct can_type){ .precision = "BF16" };
    for (size_t i = 0; i < count; i++)
        types[1 + i] = (struct can_type){ .precision = names[i] };
    return 1 + count;
}

/* The context, and how much of it is prompt: as given, else filled to a share. */
bool can_lengths(struct can *can, struct scenario *scenario, struct error *error)
{
    const struct facts *facts = &scenario->facts;
    double filled;
    const bool given = fact_given(facts_find(facts, NAME_context)), prompt = fact_given(facts_find(facts, NAME_prompt_tokens));
    if (!value_of(scenario, NAME_conversation_filled, &filled, error) ||
        !value_of(scenario, NAME_conversation_answer, &can->answer, error) ||
        !value_of(scenario, given ? NAME_context : NAME_conversation_context, &can->context, error) ||
        (prompt && !value_of(scenario, NAME_prompt_tokens, &can->prompt, error)) ||
        (fact_given(facts_find(facts, NAME_output_tokens)) && !value_of(scenario, NAME_output_tokens, &can->answer, error)))
        return false;
    const double answer = fact_given(facts_find(facts, NAME_output_tokens)) ? can->answer : 0;     /* that must fit */
    if (!given)
        can->context = fmax(can->context, prompt ? can->prompt + can->answer : filled < 1 ? ceil(answer / (1 - filled)) : answer + 1);
    if (!prompt)
        can->prompt = fmax(1, fmin(floor(can->context * filled), can->context - answer));
    if (can->prompt < can->context && can->prompt + answer <= can->context)
        return true;
    if (can->prompt < can->context)
        error_set(error, "an answer of %.0f tokens leaves no room for its prompt in a context of %.0f", answer, can->context);
    else
        error_set(error, "a prompt of %.0f tokens leaves no room in a context of %.0f", can->prompt, can->context);
    return error_expected(error, "--context of prompt and answer, or no --context");
}

bool can_wants(struct can *can, struct scenario *scenario, struct error *error)
{
    double llama_cpp;
    if (!value_of(scenario, NAME_llama_cpp, &llama_cpp, error) || !value_of(scenario, NAME_max_context, &can->window, error) ||
        !value_of(scenario, NAME_speed_wanted, &can->speed, error) || !value_of(scenario, NAME_ttft_limit, &can->ttft, error))
        return false;
    if (!fact_given(facts_find(&scenario->facts, NAME_ttft_limit)))
        can->ttft = INFINITY;
    if (llama_cpp > 0)
        return true;
    error_set(error, "can answers for llama.cpp, and --engine names another engine");
    return error_expected(error, "llamacpp, llamacpp-vulkan, llamacpp-rocm or localscore; `chalkline step` has others");
}

bool can_types(struct can *can, struct scenario *checkpoint, struct can_type *types, size_t *count, struct error *error)
{
    double four, experts;
    if (!value_of(checkpoint, NAME_four_bit_weights, &four, error) || !value_of(checkpoint, NAME_moe_layers, &experts, error))
        return false;
    if (!can->subject.precision)
        can->subject.precision = type_named(can);
    const struct file_type *type = file_type_find(can->arena, can->subject.precision);
    can->subject.precision = type ? file_type_name(type) : can->subject.precision;
    *count = 1;
    if (can->subject.precision || name_within(can->subject.model, ".gguf"))
        types[0] = (struct can_type){ .precision = can->subject.precision };
    else if (four > 0 && experts > 0)
        types[0] = (struct can_type){ .precision = "MXFP4_MOE" };
    else
        *count = can_usual(can->arena, types);
    return true;
}

static void assume(struct scenario *scenario, const char *row, double value)
{
    if (!facts_find(&scenario->facts, row))
        facts_set(&scenario->facts, row, value, ORIGIN_CHOSEN, "one conversation");
}

/* The cards that the name says are linked; 1: it says no number. */
static double cards_named(const struct scenario *scenario)
{
    struct catalog_called called;
    return catalog_machine_called(&scenario->catalog, scenario->subject.machine, &called, NULL) && called.chips > 0
           ? called.chips : 1;
}

/* One conversation on all the cards that were given or named, split by layers as llama.cpp does. */
void can_load(const struct can *can, struct scenario *scenario)
{
    const struct fact *chips = facts_find(&scenario->facts, NAME_chips);
    const double cards = chips && chips->origin == ORIGIN_GIVEN ? chips->value : cards_named(scenario);
    if (!chips || chips->origin != ORIGIN_GIVEN)
        facts_set(&scenario->facts, NAME_chips, cards, ORIGIN_CHOSEN, "the cards that were named");
    assume(scenario, NAME_pipeline_parallel, cards);
    assume(scenario, NAME_concurrency, 1);
    assume(scenario, NAME_context, can->context);
    assume(scenario, NAME_engine_max_model_len, can->context);
    assume(scenario, NAME_prompt_tokens, can->prompt);
    assume(scenario, NAME_output_tokens, fmax(1, fmin(can->answer, can->context - can->prompt)));
}

bool can_open(const struct can *can, struct can_type *type, struct error *error)
{
    struct subject subject = can->subject;
    subject.precision = type->precision;
    subject.kv_precision = type->cache ? type->cache : subject.kv_precision;
    if (!scenario_open(&type->scenario, can->arena, can->command, subject, error))
        return false;
    can_load(can, &type->scenario);
    if (type->host_layers > 0)
        facts_set(&type->scenario.facts, NAME_host_layers, type->host_layers, ORIGIN_CHOSEN, "what does not fit");
    if (type->host_expert_layers > 0)
        facts_set(&type->scenario.facts, NAME_host_expert_layers, type->host_expert_layers, ORIGIN_CHOSEN,
                  "what does not fit");
    return true;
}

bool can_read(const struct can *can, struct can_type *type, struct error *error)
{
    if (!can_open(can, type, error))
        return false;
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

double can_bits(double bytes, double params)
{
    return 8 * bytes / params;
}

double can_cards(const struct can_type *type)
{
    return facts_find(&type->scenario.facts, NAME_chips)->value;
}

bool can_unlike(const struct scenario *scenario)
{
    const struct fact *unlike = facts_find(&scenario->facts, NAME_cards_unlike);
    return unlike && unlike->value > 0;
}

const char *can_machine(const struct scenario *scenario)
{
    const double chips = facts_find(&scenario->facts, NAME_chips)->value;
    return chips > 1 && !can_unlike(scenario) ? arena_print(scenario->arena, "%.0f x %s", chips, scenario->machine) : scenario->machine;
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

static struct deployment deployment_of(const struct can *can, const struct can_type *type)
{
    const struct section *figures = type->figures;
    const char *speed = quantity_text(can->arena, can_at(type, CAN_speed_per_user), figures->figures[CAN_speed_per_user].unit, 3);
    const char *ttft = quantity_text(can->arena, can_at(type, CAN_predicted_ttft), figures->figures[CAN_predicted_ttft].unit, 3);
    return (struct deployment){
        .scenario = type->scenario, .model = can->subject.model, .machine = can->subject.machine,
        .weights = type->precision, .cache = type->cache ? type->cache : can->subject.kv_precision,
        .gpus = can_cards(type), .count[LAUNCH_TOGETHER] = 1, .title = can_type_name(type),
        .predicted = arena_print(can->arena, "%s, TTFT %s", speed, ttft) };
}

/* The type for llama.cpp's server, by the rows that `--emit llamacpp` reads; an error if that cannot start it. */
static bool launch_type(const struct can *can, const struct can_type *type, struct launch *launch, struct error *error)
{
    struct deployment *deployment = arena_alloc(can->arena, sizeof *deployment);
    *deployment = deployment_of(can, type);
    deployment->unasked = true;
    return launch_open(launch, can->arena, deployment, "llamacpp", NULL, error) && launch_runs(launch, "", error);
}

bool can_emit(const struct can *can, const struct can_type *type, struct answer *answer, struct error *error)
{
    struct deployment deployment = deployment_of(can, type);
    struct launch launch;
    if (!type->fits) {
        error_set(error, "--emit: nothing to start: %s does not fit", can_type_name(type));
        error_expected(error, "a model that fits; without --emit the answer says more");
        error->infeasible = true;
        return false;
    }
    return launch_open(&launch, can->arena, &deployment, command_text(can->command, "emit"), can->subject.engine,
                       error) && launch_print(&launch, answer, error);
}

static const char *joined(const struct launch *launch, const struct doc *word)
{
    struct buffer out = { .arena = launch->arena };
    buffer_print(&out, "%s", "");
    for (; word; word = word->next) {
        buffer_print(&out, "%s", out.size ? " " : "");
        launch_command_word(launch, &out, word->string);
    }
    return out.data;
}

const char *can_flags(const struct can *can, const struct can_type *type)
{
    struct launch launch;
    struct error ignored;
    if (!launch_type(can, type, &launch, &ignored))
        return "";
    const struct doc *word = launch_words(&launch)->first;
    while (word && strcmp(word->string, "-np"))     /* llama-server -m FILE ... -c N -np N */
        word = word->next;
    return joined(&launch, word && word->next ? word->next->next : NULL);
}

const char *can_launch(const struct can *can, struct can_type *type, struct error *error)
{
    struct launch launch;
    if (!launch_type(can, type, &launch, error))
        return NULL;
    const char *command = joined(&launch, launch_words(&launch)->first);
    const char *second = launch_second_machine(&launch);
    if (second)
        facts_note(&type->scenario.facts, "%s", second);
    return command;
}
