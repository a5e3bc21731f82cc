/* can without a model: which models of the catalog this machine runs, and how fast. Each has the file type that
 * `can MODEL` calls the best, and the figures that it prints: they are read by the same rows from the same scenario.
 *
 * A file of fewer bits takes less memory and is read faster, so that few types of a model are read: the smallest, which
 * says whether any fits, the largest that fits, and others only where that one is too slow. Of a type that does not fit
 * nothing but its memory is computed. No quality is claimed: the order is that of sizes, speeds or contexts. */
#include "ask/can/can.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "base/guard.h"
#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The figures of a model, and what it is ordered by. */
#define RANK_ROWS(X) X(params_total) X(gguf_bytes) X(memory_needed) X(speed_per_user) X(context_most)
enum rank_row {
#define X(name) RANK_##name,
    RANK_ROWS(X)
#undef X
    RANK_ROW_COUNT
};
static const char *const rows[RANK_ROW_COUNT] = {
#define X(name) NAME_##name,
    RANK_ROWS(X)
#undef X
};

enum { BY_SIZE, BY_SPEED, BY_CONTEXT };
static const char *const orders[] = { "size", "speed", NAME_context, NULL };
static const int ordered_by[] = { RANK_params_total, RANK_speed_per_user, RANK_context_most };

static const struct option rank_list[] = {
    { "by", "ORDER", OPTION_CHOICE, .choices = orders, .fallback = "size", .help = "without a model: what the models are ordered by" },
    { "most", "N", OPTION_COUNT, .low = 1, .high = 1000, .fallback = "20", .help = "without a model: how many are shown" },
    { 0 } };
const struct option_group can_rank_options = { "Models", rank_list };

/* Why a model is not in the list, in the words of the answer and of people. */
#define REASONS(X)                                                              \
    X(too_large, "too large")                                                   \
    X(too_slow, "slower than that")                                             \
    X(shorter_window, "made for a shorter context")                              \
    X(other_format, "the weights of another in another format")                 \
    X(unpublished, "of which no published weights are known")                   \
    X(not_read, "of which llama.cpp writes nothing")
enum reason {
#define X(name, words) REASON_##name,
    REASONS(X)
#undef X
    REASON_COUNT, LISTED = REASON_COUNT
};
static const char *const keys[REASON_COUNT] = {
#define X(name, words) #name,
    REASONS(X)
#undef X
};
static const char *const words_of[REASON_COUNT] = {
#define X(name, words) words,
    REASONS(X)
#undef X
};

struct can_listed {
    const struct catalog_entry *entry;
    const char *precision;
    struct figure figures[RANK_ROW_COUNT];
    size_t at;                          /* in the catalog */
    enum reason reason;                 /* LISTED: none */
    struct arena *arena;                /* of its texts */
};

/* ---- one model --------------------------------------------------------------------------------------- */

/* Has a hub its weights, under an id such as Qwen/Qwen3-14B? */
static bool is_published(const struct catalog_entry *entry)
{
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (!strcmp(row.fact, "alias") && strchr(row.value, '/') && !strchr(row.value, ' '))
            return true;
    }
    return false;
}

/* A checkpoint that was made from another by giving its weights fewer bits: its GGUF file is the other's. */
static bool is_other_format(const struct catalog_entry *entry)
{
    return catalog_text(entry, "same_as") && catalog_text(entry, "quantization_config.quant_method");
}

/* Open a type and ask for its memory alone. */
static bool reads(const struct can *can, struct can_type *type, struct error *error)
{
    double needed, usable;
    if (type->scenario.arena)
        return true;
    if (!can_open(can, type, error) || !value_of(&type->scenario, NAME_memory_needed, &needed, error) ||
        !value_of(&type->scenario, NAME_memory_usable, &usable, error))
        return false;
    type->fits = needed <= usable;
    return true;
}

/* The largest type from `first` on that fits; the last one is known to. */
static bool largest(const struct can *can, struct can_type *types, size_t first, size_t last, size_t *at,
                    struct error *error)
{
    for (size_t middle = first; first < last; middle = (first + last) / 2) {
        if (!reads(can, &types[middle], error))
            return false;
        if (types[middle].fits)
            last = middle;
        else
            first = middle + 1;
    }
    *at = last;
    return reads(can, &types[last], error);
}

/* The figures of a type that fits; is it fast enough? */
static bool figures(const struct can *can, struct can_type *type, bool *fast, struct error *error)
{
    if (!type->figures) {
        type->figures = section_new(can->arena);
        if (!figures_read(&type->scenario, rows, RANK_ROW_COUNT, &type->values, type->figures, error))
            return false;
    }
    *fast = type->values.at[RANK_speed_per_user] >= can->speed;
    return true;
}

/* The types to try, the last of them read: those of the checkpoint, which is only opened where it has experts. */
static bool types_of(struct can *can, struct can_type *types, size_t *count, struct error *error)
{
    struct scenario checkpoint;
    double experts;
    *count = 1;
    types[0] = (struct can_type){ .precision = can->subject.precision };
    if (!can->subject.precision) {
        *count = can_usual(can->arena, types);
        struct can_type *last = &types[*count - 1];
        if (!reads(can, last, error) || !can_wants(can, &last->scenario, error) ||
            !value_of(&last->scenario, NAME_moe_layers, &experts, error))
            return false;
        if (experts == 0)
            return true;
    }
    const size_t usual = *count;
    const struct can_type last = types[usual - 1];
    if (!scenario_open(&checkpoint, can->arena, can->command, can->subject, error) || !can_wants(can, &checkpoint, error) ||
        !can_types(can, &checkpoint, types, count, error))
        return false;
    if (*count == usual && usual > 1)
        types[usual - 1] = last;
    return true;
}

/* The type that best_of of can.c chooses, read; NULL in `best`: none fits. */
static bool choose(const struct can *can, struct can_type *types, size_t count, struct can_type **best, struct error *error)
{
    const size_t last = count - 1;
    size_t at;
    bool fast;
    *best = NULL;
    if (!reads(can, &types[last], error))
        return false;
    if (!types[last].fits)
        return true;
    if (!largest(can, types, count > CAN_LARGEST ? CAN_LARGEST : 0, last, &at, error) || !figures(can, &types[at], &fast, error))
        return false;
    if (!fast && at < CAN_FOUR_BITS && last >= CAN_FOUR_BITS) {
        const size_t slow = at;
        if (!reads(can, &types[at = CAN_FOUR_BITS], error) || !figures(can, &types[at], &fast, error))
            return false;
        for (size_t i = slow + 1; fast && i < at; i++) {
            bool enough;
            if (!reads(can, &types[i], error) || !figures(can, &types[i], &enough, error))
                return false;
            if (enough)
                at = i;
        }
    }
    *best = &types[at];
    return true;
}

/* LISTED, or why it is left out. What the model's scenarios take is freed at once. */
static enum reason rank_model(const struct can *asked, double enough, struct can_listed *one)
{
    struct arena scratch = arena_beside(asked->arena);
    struct can can = *asked;
    struct can_type types[CAN_TYPES_MOST], *best = NULL;
    size_t count;
    struct error error;
    enum reason reason = REASON_not_read;
    can.arena = &scratch;
    can.subject.model = one->entry->name;
    if (is_other_format(one->entry))
        return REASON_other_format;
    if (!is_published(one->entry))
        return REASON_unpublished;
    if (types_of(&can, types, &count, &error) && choose(&can, types, count, &best, &error))
        reason = !best ? REASON_too_large : can.window < can.context ? REASON_shorter_window
                 : best->values.at[RANK_speed_per_user] >= enough ? LISTED : REASON_too_slow;
    if (reason == LISTED) {
        one->precision = arena_copy(one->arena, can_type_name(best), strlen(can_type_name(best)));
        for (size_t i = 0; i < RANK_ROW_COUNT; i++) {
            struct figure *figure = &one->figures[i];
            *figure = best->figures->figures[i];
            if (figure->source)
                figure->source = arena_copy(one->arena, figure->source, strlen(figure->source));
        }
    }
    arena_free(&scratch);
    return reason;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

struct can_listing {
    const struct can *can;
    struct can_listed *at;
    size_t count, left_out[REASON_COUNT];
    double enough;                      /* token/s */
    int by;
};

/* The first in the catalog comes first of equals. */
static int compare(const struct can_listed *a, const struct can_listed *b, int row)
{
    const double x = a->figures[row].value, y = b->figures[row].value;
    return x > y ? -1 : x < y ? 1 : 0;
}

static int by_row(const struct can_listed *a, const struct can_listed *b, int by)
{
    const int first = compare(a, b, ordered_by[by]), size = first ? first : compare(a, b, RANK_params_total);
    return size ? size : a->at < b->at ? -1 : 1;
}

static int by_size(const void *a, const void *b)
{
    return by_row(a, b, BY_SIZE);
}

static int by_speed(const void *a, const void *b)
{
    return by_row(a, b, BY_SPEED);
}

static int by_context(const void *a, const void *b)
{
    return by_row(a, b, BY_CONTEXT);
}

static void rank_one(void *context, size_t i)
{
    const struct can_listing *rank = context;
    struct can_listed *one = &rank->at[i];
    one->reason = rank_model(rank->can, rank->enough, one);
}

static void rank_all(struct can_listing *rank)
{
    static int (*const compares[])(const void *, const void *) = { by_size, by_speed, by_context };
    const struct catalog *catalog = catalog_built_in();
    const size_t models = catalog_count(catalog, CATALOG_MODEL);
    rank->at = arena_array(rank->can->arena, models + 1, sizeof *rank->at);
    for (size_t i = 0; i < models; i++)
        rank->at[i] = (struct can_listed){ .entry = catalog_entry(catalog, CATALOG_MODEL, i), .at = i,
                                       .arena = arena_inner(rank->can->arena) };
    parallel_each(models, true, rank_one, rank);
    for (size_t i = 0; i < models; i++)
        if (rank->at[i].reason == LISTED)
            rank->at[rank->count++] = rank->at[i];
        else
            rank->left_out[rank->at[i].reason]++;
    qsort(rank->at, rank->count, sizeof *rank->at, compares[rank->by]);
}

static void add_ranked(const struct can_listing *rank, struct doc *doc, struct section *list, struct arena *arena)
{
    for (size_t i = 0; i < rank->count; i++) {
        const struct can_listed *one = &rank->at[i];
        struct doc *object = doc_add(arena, doc, NULL, DOC_OBJECT);
        struct section *line = section_add(list, NULL, SECTION_RECORD);
        doc_add_string(arena, object, "model", one->entry->title);
        doc_add_string(arena, object, "name", one->entry->name);
        doc_add_string(arena, object, "precision", one->precision);
        doc_add_bool(arena, object, "fits", true);
        section_word(line, "name", one->entry->name);
        section_word(line, "precision", one->precision);
        section_number(line, "bits", can_bits(one->figures[RANK_gguf_bytes].value, one->figures[RANK_params_total].value), unit_one);
        for (size_t r = 0; r < RANK_ROW_COUNT; r++) {
            const char *key = r == RANK_speed_per_user ? "decode_speed" : rows[r];
            figure_document(arena, &one->figures[r], doc_add(arena, object, key, DOC_OBJECT));
            struct figure *figure = section_number(line, key, one->figures[r].value, one->figures[r].unit);
            figure->low = one->figures[r].low;
            figure->high = one->figures[r].high;
        }
    }
}

/* "81 too large, 3 slower than that" */
static void add_left_out(const struct can_listing *rank, struct doc *doc, struct section *section)
{
    struct buffer words = { .arena = section->arena };
    struct doc *counts = doc_add(section->arena, doc, "left_out", DOC_OBJECT);
    for (int i = 0; i < REASON_COUNT; i++) {
        doc_add_number(section->arena, counts, keys[i], (double)rank->left_out[i]);
        if (rank->left_out[i])
            buffer_print(&words, "%s%zu %s", words.size ? ", " : "", rank->left_out[i], words_of[i]);
    }
    section_word(section, "why_left_out", words.size ? words.data : "none")->text_only = true;
}

bool can_rank(struct can *can, struct answer *answer, struct error *error)
{
    const struct command *command = can->command;
    struct scenario machine;
    struct can_listing rank = { .can = can, .by = command_choice(command, "by") };
    if (command_given(command, "emit")) {
        error_set(error, "--emit: nothing to start: no model is named");
        return error_expected(error, "`chalkline can MODEL --on %s --emit %s`", can->subject.machine, command_text(command, "emit"));
    }
    if (!scenario_open(&machine, can->arena, command, can->subject, error) || !can_wants(can, &machine, error) || !can_lengths(can, &machine, error) ||
        !value_of(&machine, fact_given(facts_find(&machine.facts, NAME_speed_wanted)) ? NAME_speed_wanted : NAME_speed_readable,
                  &rank.enough, error))
        return false;
    can_load(can, &machine);
    struct doc *doc = answer->doc;
    struct section *section = section_new(can->arena), *list = section_add(section, "models", SECTION_LIST);
    list->text_only = true;
    rank_all(&rank);
    doc_add_string(can->arena, doc, "machine", can_machine(&machine));
    add_ranked(&rank, doc_add(can->arena, doc, "models", DOC_ARRAY), list, can->arena);
    add_left_out(&rank, doc, section);
    section_word(section, "by", orders[rank.by]);
    section_word(section, "machine", can_machine(&machine))->text_only = true;
    section_number(section, NAME_context, can->context, scenario_unit(&machine, NAME_context));
    section_number(section, NAME_speed_wanted, rank.enough, scenario_unit(&machine, NAME_speed_wanted));
    section_number(section, "listed", (double)rank.count, unit_one)->text_only = true;
    section_number(section, "catalog", (double)catalog_count(catalog_built_in(), CATALOG_MODEL), unit_one)->text_only = true;
    figures_notes(&machine, section);
    section_document(section, doc);
    list->inside_count = list->inside_count < command_count(command, "most") ? list->inside_count : command_count(command, "most");
    section_number(section, "shown", (double)list->inside_count, unit_one)->text_only = true;
    answer->status = !rank.count;
    template_print(template_built_in(can->arena, "ask/can/can.template"), section, &answer->text);
    return true;
}

#define FIGURE(key, text) { FIELD_RECORD, key, .help = text, .record = &figure_record, .always = true }
const struct record can_ranked_record = { "CanModel", (const struct answer_field[]){
    { FIELD_TEXT, "model", .always = true }, { FIELD_TEXT, "name", .help = "its name in the catalog", .always = true },
    { FIELD_TEXT, "precision", .help = "GGUF file type", .always = true },
    { FIELD_SWITCH, "fits", .help = "true: what does not fit is left out", .always = true },
    FIGURE(NAME_params_total, "parameters"), FIGURE(NAME_gguf_bytes, "bytes of the weights in the file"),
    FIGURE(NAME_memory_needed, "memory per GPU for weights, KV cache, and buffers"),
    FIGURE("decode_speed", "tokens per second of one answer, the context half full"),
    FIGURE(NAME_context_most, "longest context that fits"),
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "bits" }, .count = 1 }, { 0 } } };
const struct record can_left_out_record = { "CanLeftOut", (const struct answer_field[]){
    { FIELD_NUMBER, .names = keys, .count = REASON_COUNT, .help = "models that are not in the list", .always = true }, { 0 } } };
