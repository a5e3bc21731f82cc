/* Scenarios: turns the words and options of a command into a book of rows and a set of facts.
 *
 * A later fact replaces an earlier one of the same name, so the order decides: tiers, constants of
 * the engine, machine, model, then the user's rows and options, --set among them; at the end come
 * the facts that a real model needs and nobody gave, each with a note. A fact that the user sets
 * twice in different words is an error, and so is a value outside the row's range. Nothing is
 * computed here: expressions are checked for names and units, and evaluated later under all facts
 * (values.c). */
#include "scenario/scenario.h"
#include "scenario/rules.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/meant.h"
#include "catalog/model_words.h"
#include "scenario/calibrated.h"
#include "scenario/cluster.h"
#include "scenario/deck.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };

/* ---- model and machine ------------------------------------------------------------------ */

/* "deepseek-ai/DeepSeek-V3" is a name, "./config.json" a path. */
static bool is_path(const struct catalog *catalog, const char *name)
{
    static const char *const ends[] = { ".json", ".gguf", ".safetensors" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]) && strcmp(name, ends[i]))
            return i != 1 || strchr(name, '/') || file_there(catalog->arena, name);    /* a GGUF file's name may be a model's */
    if (!strcmp(name, "-"))
        return true;
    return strchr(name, '/') && !catalog_find(catalog, CATALOG_MODEL, name, NULL) &&
           (name[0] == '/' || name[0] == '.' || file_there(catalog->arena, name));
}

/* "Qwen/Qwen3-14B": an organisation's model, of which the catalog knows others by the last name. */
static bool model_unknown(const struct catalog *catalog, const char *name, struct error *error)
{
    const char *last = strrchr(name, '/');
    error_set(error, "unknown model '%.200s': not in the catalog, and no such file", name);
    if (catalog_known(catalog, CATALOG_MODEL, last + 1))
        return error_did_you_mean(error, last + 1, "");
    if (meant_explain("model", last + 1, error))
        return false;
    error->hint[0] = 0;
    if (model_explain(catalog->arena, catalog, name, error) || error->hint[0])
        return false;
    if (strchr(name, '/') == last && last != name && last[1])
        return error_suggest(error, "give the config.json of https://huggingface.co/%.100s as the model: "
                             "`chalkline import config.json` shows what it says", name);
    return error_expected(error, "a name that `chalkline list models` lists, or the path of a config.json, "
                          "GGUF or safetensors file");
}

/* A word as one types it in a command. */
static const char *typed(struct arena *arena, const char *word)
{
    return arena_print(arena, strchr(word, ' ') ? "\"%.100s\"" : "%.100s", word);
}

/* Neither a model nor a machine is called so: what people mean by it, or that it is one of the other. */
static bool name_explained(const struct catalog *catalog, enum catalog_kind kind, const char *name, struct error *error)
{
    const bool model = kind == CATALOG_MODEL;
    struct catalog_called called;
    if (meant_explain(model ? "model" : "machine", name, error) || strstr(name, ".csv"))
        return false;
    if (model)
        model_explain(catalog->arena, catalog, name, error);
    if (!model && catalog_known(catalog, CATALOG_MODEL, name))
        return error_suggest(error, "it is a model: %.100s --on MACHINE", name);
    const char *count = strstr(name, "/gpu:");
    if (!model && count)                            /* "nvidia.com/gpu:8" */
        return error_suggest(error, "a resource of Kubernetes names no card: --on CARD --gpus %.9s", count + 5);
    struct catalog whole;                           /* a scenario without a machine has none in its catalog */
    catalog_open(&whole, catalog->arena);
    if (model && !error->similar[0] && catalog_machine_called(&whole, name, &called, NULL))
        return error_suggest(error, "it is a machine: MODEL --on %s", typed(whole.arena, name));
    return false;
}

static const char *file_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool read_model_file(struct scenario *scenario, const char *path,
                            const struct model_options *how, struct error *error)
{
    scenario->model = file_title(path);
    return model_file(scenario->arena, path, how, &scenario->facts, error);
}

static bool format_known(const struct scenario *scenario, const char *name, const char *option,
                         const struct format **format, struct error *error)
{
    if (!formats_need(&scenario->formats, name, option, format, error))
        return meant_explain("format", name, error) && false;
    return true;
}

/* The format that --precision names, or that most weights of a GGUF file type have. */
static bool weight_format(struct scenario *scenario, const char *name, const struct format **format,
                          struct error *error)
{
    const struct file_type *type = file_type_find(scenario->arena, name);
    if (!type && name_within(name, "UD-")) {
        error_set(error, "--precision: the types of '%.60s' were chosen for each model by their publisher", name);
        return error_suggest(error, "import the GGUF file, whose header has them");
    }
    double bits, head;
    return format_known(scenario, type ? file_type_base(type) : format_bits(name, &bits, &head) ? "exl" : name, "--precision",
                        format, error);
}

/* A name that is neither a file nor in the catalog as it is written: "Qwen/Qwen3-14B-GGUF". The format in it is used
 * unless --precision gives one; `untyped`: a GGUF file without a type. */
static const struct catalog_entry *model_called(struct scenario *scenario, const char *name,
                                                struct model_options *how, bool *untyped)
{
    const struct catalog *catalog = &scenario->catalog;
    const char *precision, *cache;
    if (catalog_find(catalog, CATALOG_MODEL, name, NULL) || file_there(scenario->arena, name))
        return NULL;
    const struct catalog_entry *entry = catalog_model_called(scenario->arena, catalog, name, &precision, &cache);
    if (!entry)
        return NULL;
    if (entry->sheet != &catalog->sheets[CATALOG_MODEL])
        scenario->catalog.named = entry->sheet;
    const bool said = precision && !how->weights, gguf = name_within(name, "gguf"), tag = model_tag(name);
    scenario->named_precision = said;
    *untyped = gguf && !precision && !how->weights;
    if (cache && !how->kv) {
        how->kv = cache;
        facts_note(&scenario->facts, "KV cache and attention in %s, as the name says", cache);
    }
    double bits, head;
    if (said && name_same(precision, "exl") && format_bits(precision, &bits, &head))
        facts_note(&scenario->facts, "'%s' does not give its bits: %g for each weight and %g for the head are assumed; "
                   "--precision 4.5bpw-h6 gives others", name, bits, head);
    if (said) {
        how->weights = precision;
        facts_note(&scenario->facts, "'%s' taken as %s with weights in %s", name, entry->name, precision);
    } else if (precision && !name_same(precision, how->weights)) {
        facts_note(&scenario->facts, "'%s' taken as %s; its %s gives way to --precision", name, entry->name, precision);
    } else if (!precision && !how->weights && tag) {
        how->weights = "Q4_K_M";
        facts_note(&scenario->facts, "'%s' taken as %s in Q4_K_M, the file type of most tags of Ollama", name, entry->name);
    } else {
        facts_note(&scenario->facts, "'%s' taken as %s", name, entry->name);
    }
    return entry;
}

static bool read_model(struct scenario *scenario, const char *name, struct error *error)
{
    const struct subject *subject = &scenario->subject;
    const struct format *format, *cache[2];
    if (subject->precision && !weight_format(scenario, subject->precision, &format, error))
        return false;
    if (subject->experts_precision && !format_known(scenario, subject->experts_precision, "--experts-precision", &format,
                                                    error))
        return false;
    if (subject->kv_precision && !formats_cache(&scenario->formats, subject->kv_precision, "--kv-precision", cache, error))
        return meant_explain("format", subject->kv_precision, error) && false;
    struct model_options how = { .formats = &scenario->formats, .weights = subject->precision,
                                 .experts = subject->experts_precision,
                                 .kv = subject->kv_precision,
                                 .as = command_text(scenario->command, "as"),
                                 .assume = command_given(scenario->command, "assume"),
                                 .shown = scenario->command->verb &&
                                          !strcmp(scenario->command->verb->name, "import") };
    const char *families = command_text(scenario->command, "families");
    if (families && (!file_read(scenario->arena, families, 1 << 20, &how.families, error) ||
                     !families_check(families, how.families, error)))
        return false;
    const char *inside = model_path(scenario->arena, name);
    if (inside && !catalog_find(&scenario->catalog, CATALOG_MODEL, name, error))
        return read_model_file(scenario, inside, &how, error);
    bool untyped = false;
    const struct catalog_entry *entry = model_called(scenario, name, &how, &untyped);
    if (untyped && !subject->any_type) {
        error_set(error, "'%.150s' does not give the file type of its weights", name);
        return error_expected(error, "--precision Q4_K_M, Q8_0 or another type; `chalkline can` compares them");
    }
    if (!entry && is_path(&scenario->catalog, name))
        return read_model_file(scenario, name, &how, error);
    if (!entry)
        entry = catalog_find(&scenario->catalog, CATALOG_MODEL, name, error);
    struct doc *config;
    if (!entry && strchr(name, '/'))
        return model_unknown(&scenario->catalog, name, error);
    if (!entry)
        return name_explained(&scenario->catalog, CATALOG_MODEL, name, error);
    if (!catalog_entry_config(&scenario->catalog, entry, &config, error))
        return false;
    const struct catalog_entry *base = catalog_model_base(&scenario->catalog, entry);
    if (base)
        facts_note(&scenario->facts, "no config.json of %s is at hand: all numbers, its context window too, are those "
                   "of %s", entry->title, base->title);
    scenario->model = entry->title;
    scenario->network = catalog_model_network(&scenario->catalog, entry)->name;
    static const char *const published[] = { NAME_trained_tokens, NAME_published_context };
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        double tokens;
        const char *marked = *row.mark ? arena_print(scenario->arena, " (%s)", row.mark) : "";
        if (name_listed(published, 2, row.fact) && catalog_row_number(&row, &tokens))
            facts_set(&scenario->facts, row.fact, tokens, ORIGIN_SHEET,
                      arena_print(scenario->arena, "%s%s", row.source, marked));
        if (!strcmp(row.fact, "released"))
            scenario->released = arena_print(scenario->arena, "%s%s", row.value, marked);
    }
    const struct fact *trained = facts_find(&scenario->facts, NAME_trained_tokens);
    if (trained && trained->value > 0)
        facts_bind(&scenario->facts, NAME_training_tokens, NAME_trained_tokens, ORIGIN_SHEET, "its makers");
    scenario->trained_note = catalog_text(entry, "trained_note");
    const char *where = strstr(name, ".csv") ? name : arena_print(scenario->arena, "data/models.csv: %s", entry->name);
    return model_config(scenario->arena, config, where, &how, &scenario->facts, error);
}

/* "h100,b200", where it is not asked of each. */
static bool several_machines(const char *name, struct error *error)
{
    error_set(error, "--on: one machine is needed here, '%.100s' names several", name);
    return error_expected(error, "one machine; plan --on %.100s plans for each, curve ROW on=%.100s compares "
                          "them", name, name);
}

const struct catalog_entry *scenario_machine(const struct catalog *catalog, const char *name, struct error *error)
{
    const struct catalog_entry *entry = catalog_find(catalog, CATALOG_MACHINE, name, error);
    const bool list = strcspn(name, ",") < strcspn(name, "(");      /* not "(Haswell, no TSX)" */
    if (entry)
        return entry;
    if (list && !strstr(name, ".csv"))
        several_machines(name, error);
    else
        name_explained(catalog, CATALOG_MACHINE, name, error);
    return NULL;
}

static bool read_machine(struct scenario *scenario, const char *name, struct error *error)
{
    const struct catalog_entry *entry = scenario_machine(&scenario->catalog, name, error);
    if (!entry)
        return false;
    struct catalog_called called;
    const bool known = catalog_machine_called(&scenario->catalog, name, &called, NULL), rented = known && called.cloud;
    scenario->machine = known && called.cards ? called.title : entry->title;
    const struct fact *llama_cpp = facts_find(&scenario->facts, NAME_llama_cpp);
    if (known && called.cards && !(llama_cpp && llama_cpp->value > 0)) {
        error_set(error, "--on %.200s: unlike cards run one model with llama.cpp alone", name);
        return error_expected(error, "--engine llamacpp, or cards of one kind");
    }
    scenario->price_kind = price_kind_named(rented ? "on-demand" : catalog_text(entry, "chip_price_kind"));
    return catalog_machine(&scenario->catalog, name, &scenario->facts, error);
}

/* ---- --set ------------------------------------------------------------------------------ */

static bool out_of_range(const struct row *row, const char *value, const char *source,
                         struct arena *arena, struct error *error)
{
    enum { MOST = 80 };
    int meaning = (int)strcspn(row_meaning(row), ":;(");
    while (meaning > 0 && row_meaning(row)[meaning - 1] == ' ')
        meaning--;
    const bool shown = meaning > 1 && meaning < MOST;
    const bool share = row->high == 1 && unit_same(row->unit, unit_one) && row_meaning(row)[0] != '1';      /* no "1 where ..." */
    double number;
    const bool plain = text_number(text_of(value), &number), bare = plain && !unit_counts(row->unit), brief = strlen(value) <= 20;
    const char *low = quantity_text(arena, row->low, row->unit, 4), *high = quantity_text(arena, row->high, row->unit, 4);
    const char *shown_unit = high + strcspn(high, " "), *own = row_unit_text(row);
    const char *with_unit = arena_print(arena, "%s%s", value, shown_unit + strspn(shown_unit, " 1"));     /* "5/s" */
    struct quantity other;
    struct error ignored;
    error_set(error, "%s: %s = %.100s%s%s is out of range", source, row_name(row), value, bare ? " " : "",
              bare ? own : "");
    if (bare && brief && !strcmp(low + strcspn(low, " "), shown_unit) &&      /* USD/Mtoken, whatever the size */
        quantity_parse(text_of(with_unit), row->unit, &other, &ignored) && other.value >= row->low && other.value <= row->high)
        return error_did_you_mean(error, with_unit, arena_print(arena, " %s is %s to %s", row_name(row), low, high));
    if (share && plain && brief && number > 1 && number <= 100)
        return error_suggest(error, "did you mean %s%%? %s is a share from %g to 1", value, row_name(row), row->low);
    return error_expected(error, "%s to %s%s%.*s%s", low, high, shown ? " (" : "", shown ? meaning : 0, row_meaning(row),
                          shown ? ")" : "");
}

/* The option as it was written: "--pp", "--set pp". */
static const char *written(struct arena *arena, const char *source, const char *name)
{
    return strcmp(source, "--set") ? source : arena_print(arena, "--set %s", name);
}

static bool given_twice(const char *name, const char *source, const struct fact *before,
                        struct arena *arena, struct error *error)
{
    const char *first = before->given_as ? before->given_as : before->name;
    if (strcmp(first, name)) {
        error_set(error, "%s is set twice: by %s and by %s", before->name,
                  written(arena, before->source, first), written(arena, source, name));
        return error_expected(error, "one of them: both are names of one row");
    }
    error_set(error, "%s is set twice: by %s and by %s", name, before->source, source);
    return error_expected(error, "one of them");
}

static void set_quantity(struct scenario *scenario, const char *name,
                         const struct quantity *quantity, enum origin origin, const char *source)
{
    facts_set(&scenario->facts, name, quantity->value, origin, source);
    if (quantity->distribution == DISTRIBUTION_NONE)
        return;
    facts_set_range(&scenario->facts, name, quantity->low, quantity->high, origin, source);
    for (size_t i = 0; i < scenario->facts.scalar_count; i++)
        if (!strcmp(scenario->facts.scalars[i].name, name)) {
            scenario->facts.scalars[i].distribution = quantity->distribution;
            scenario->facts.scalars[i].value = quantity->value;
        }
}

static bool entry_unknown(struct arena *arena, const struct fact_table *table,
                          const char *name, const char *entry, const char *source,
                          struct error *error)
{
    static const char *const lone[] = { "default" };
    const char *const *names = table ? table->entry : lone;
    size_t count = table ? table->entries : 1;
    const char *near = name_nearest(entry, names, count);
    struct buffer all = { .arena = arena };
    buffer_add(&all, "", 0);
    for (size_t i = 0; i < count && i < 32; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", names[i]);
    error_set(error, "%s: %s: unknown entry '%.60s'", source, name, entry);
    if (near)
        return error_did_you_mean(error, near, arena_print(arena, " The entries are: %s%s", all.data,
                                                           count > 32 ? ", ..." : ""));
    return error_expected(error, "one of: %s%s", all.data, count > 32 ? ", ..." : "");
}

bool scenario_unknown(const struct scenario *scenario, const char *name, struct error *error)
{
    formulas_unknown(&scenario->formulas, name, error);
    const struct verb *verb = scenario->command->verb;
    const struct option *option = verb ? verb_option(verb, name) : NULL;
    if (!option || !option->row)
        return false;
    const char *predicted = formulas_predicted(&scenario->formulas, name);
    if (predicted)
        return error_did_you_mean(error, predicted,
                                  arena_print(scenario->arena, " --%s sets '%s'", name, option->row));
    return error_did_you_mean(error, option->row, arena_print(scenario->arena, " --%s sets it", name));
}

/* Remember under which name the user knows the fact. */
static void given_as(struct scenario *scenario, const char *name, const char *as)
{
    for (size_t i = 0; i < scenario->facts.scalar_count; i++)
        if (strcmp(name, as) && !strcmp(scenario->facts.scalars[i].name, name))
            scenario->facts.scalars[i].given_as = arena_copy(scenario->arena, as, strlen(as));
}

bool scenario_find_row(struct scenario *scenario, const char *name, const char *source, int *row, struct error *error)
{
    const char *bracket = strchr(name, '[');
    const char *plain = bracket ? arena_copy(scenario->arena, name, (size_t)(bracket - name))
                                : name;
    *row = formulas_find(&scenario->formulas, plain);
    if (*row < 0)
        return scenario_unknown(scenario, plain, error);
    if (!bracket)
        return true;
    const char *table = row_table(formulas_row(&scenario->formulas, *row));
    if (!table) {
        error_set(error, "%s: %s has one value, '%.60s' names an entry", source, plain, name);
        return error_expected(error, "%s without brackets", plain);
    }
    size_t size = strlen(bracket + 1);
    if (!size || bracket[size] != ']') {
        error_set(error, "%s: '%.60s' has no ']' at its end", source, name);
        return error_expected(error, "%s[ENTRY]", plain);
    }
    const char *entry = arena_copy(scenario->arena, bracket + 1, size - 1);
    const struct fact_table *known = facts_table_find(&scenario->facts, table);
    if (known && name_listed(known->entry, known->entries, entry))
        return true;
    return (!known && !strcmp(entry, "default")) ||
           entry_unknown(scenario->arena, known, plain, entry, source, error);
}

void scenario_note_bare(struct scenario *scenario, const char *option, const char *value, const char *unit_text)
{
    struct arena *arena = scenario->arena;
    const char *after = unit_text[0] == '1' ? unit_text + 1 : arena_print(arena, " %s", unit_text);    /* "5/s" */
    const char *whole = quantity_with_unit(arena, value, after);
    struct quantity quantity;
    struct error ignored;
    struct unit unit;
    if (!whole || !unit_parse(text_of(unit_text), &unit, &(double){ 0 }, &ignored) ||
        !quantity_parse(text_of(whole), unit, &quantity, &ignored))
        return;
    const char *read = quantity_text(arena, quantity.value, unit, 6);
    const bool plain = quantity.distribution != DISTRIBUTION_NONE || ends_with(read, after) || unit_text[0] == '1';
    facts_note(&scenario->facts, "%s%s is read as %s%s%s", option, value, whole, plain ? "" : ": ", plain ? "" : read);
}

/* "2s@p95", "p99<500ms" */
static bool has_percentile(const char *value)
{
    for (const char *at = value; (at = strpbrk(at, "pP")); at++)
        if (strspn(at + 1, "0123456789") >= 2 && (at == value || !isalnum((unsigned char)at[-1])))
            return true;
    return false;
}

/* "4K,1K": how many numbers in this unit, separated by commas; 0: something else. */
static size_t numbers_listed(const char *value, struct unit unit)
{
    struct quantity quantity;
    struct error ignored;
    for (size_t count = 1;; count++) {
        const size_t size = strcspn(value, ",");
        if (!quantity_parse((struct text){ value, size }, unit, &quantity, &ignored))
            return 0;
        if (!value[size])
            return count;
        value += size + 1;
    }
}

/* Neither a quantity nor an expression: say what was probably meant, or take the message of that kind. */
static bool not_a_value(const struct scenario *scenario, const struct row *row, const char *name, const char *value,
                        const char *source, const struct error *quantity, const struct error *expression, struct error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_(- ";
    const size_t listed = numbers_listed(value, row->unit);
    const size_t whole = strspn(value, "0123456789");
    if (listed == 2 && value[whole] == ',' && !unit_counts(row->unit)) {
        error_set(error, "%s: '%.100s' has a comma", source, value);
        return error_suggest(error, "did you mean %.*s.%.90s?", (int)whole, value, value + whole + 1);
    }
    if (listed) {
        error_set(error, "%s: '%.100s' is %zu numbers", source, value, listed);
        return error_expected(error, "one number; `chalkline curve ROW %s=%.100s --model MODEL --on MACHINE` tries "
                              "several", name, value);
    }
    if (unit_same(row->unit, unit_second) && has_percentile(value)) {
        error_set(error, "%s: '%.100s' is a percentile", source, value);
        return error_expected(error, "a time such as 300ms, which limits the mean, or 300ms@p99");
    }
    const struct option *option = scenario->command && scenario->command->verb && starts_with(source, "--")
                                  ? verb_option(scenario->command->verb, source + 2) : NULL;
    const bool plain = option && option->row && *value && !strchr(value, '_') && !value[strspn(value, letters)];       /* "--price on-demand" */
    if (plain && *expression->what) {
        error_set(error, "%s: '%.100s' is neither a number nor a row", source, value);
        return error_expected(error, "%s, or an expression of rows%s%s%s%s", quantity->hint, option->otherwise ? "; without " : "",
                              option->otherwise ? source : "", option->otherwise ? ": " : "", option->otherwise ? option->otherwise : "");
    }
    const bool word = *value && strchr(letters, *value) && !strchr("- ", *value);
    if (word && *expression->what && strstr(quantity->what, "is not a number")) {
        error_set(error, "%s: %s: %.500s", source, name, expression->what);
        return error_expected(error, "%s, or an expression of rows%s%.300s", quantity->hint,
                              expression->expected ? ": " : "; `chalkline list rows` lists all rows",
                              expression->expected ? expression->hint : "");
    }
    error_set(error, "%s: %s: %.500s", source, name, quantity->what);
    return error_hint_of(error, quantity);
}

bool scenario_counts_chips(const char *row)
{
    static const char *const rows[] = { NAME_chips, NAME_deployment_chips, NAME_training_chips, NAME_tensor_parallel,
                                        NAME_pipeline_parallel, NAME_expert_parallel, NAME_context_parallel, NAME_attention_dp };
    return name_listed(rows, sizeof rows / sizeof *rows, row);
}

/* Options of a layout are whole numbers, each one number: no server has half a GPU, or one to eight. --set is free. */
static bool layout_whole(const struct row *row, const struct quantity *quantity, const char *value, const char *source,
                         struct error *error)
{
    const bool range = quantity->distribution != DISTRIBUTION_NONE;
    if (!strcmp(source, "--set") || !scenario_counts_chips(row_name(row)) ||
        (!range && quantity->value == floor(quantity->value)))
        return true;
    error_set(error, "%s: '%.100s' is %s", source, value, range ? "a range or a distribution" : "not a whole number");
    return range ? error_expected(error, "one whole number; `chalkline curve ROW %s=%.100s --model MODEL --on MACHINE` tries "
                                  "several", row_name(row), quantity->distribution == DISTRIBUTION_RANGE ? value : "1..8")
                 : error_expected(error, "1, 2, 4, 8, ...");
}

/* The row that `as` calls, and its name with its entry; NULL: there is none, or the user gave it already. */
static const struct row *row_to_set(struct scenario *scenario, const char *as, const char *source, const char **name,
                                    struct error *error)
{
    int index;
    if (!scenario_find_row(scenario, as, source, &index, error))
        return NULL;
    *name = formulas_name(&scenario->formulas, scenario->arena, as);
    const struct fact *before = facts_find(&scenario->facts, *name);
    if (fact_given(before))
        return given_twice(as, source, before, scenario->arena, error), NULL;
    return formulas_row(&scenario->formulas, index);
}

bool scenario_set_row(struct scenario *scenario, const char *as, const char *value,
                      enum origin origin, const char *source, struct error *error)
{
    const char *name;
    const struct row *row = row_to_set(scenario, as, source, &name, error);
    struct quantity quantity;
    struct error inner;
    if (!row)
        return false;
    if (quantity_parse(text_of(value), row->unit, &quantity, &inner)) {
        bool bounds = quantity.distribution == DISTRIBUTION_RANGE ||
            quantity.distribution == DISTRIBUTION_UNIFORM ||
                      quantity.distribution == DISTRIBUTION_NONE;
        if (row->input && (quantity.value < row->low || quantity.value > row->high ||
                           (bounds && (quantity.low < row->low || quantity.high > row->high))))
            return out_of_range(row, value, source, scenario->arena, error);
        if (!layout_whole(row, &quantity, value, source, error))
            return false;
        if (quantity.distribution != DISTRIBUTION_NONE && origin == ORIGIN_GIVEN && scenario->command &&
            scenario->command->verb && !scenario->command->verb->ranges) {
            error_set(error, "%s: %s is a %s, and %s takes one number", source, name,
                      quantity.distribution == DISTRIBUTION_RANGE ? "range" : "distribution", scenario->command->verb->name);
            return error_expected(error, "a single number; `chalkline eval` and `chalkline step` take ranges");
        }
        set_quantity(scenario, name, &quantity, origin, source);
        given_as(scenario, name, as);
        if (!strcmp(source, "--set") && !unit_counts(row->unit))
            scenario_note_bare(scenario, arena_print(scenario->arena, "--set %s=", as), value, row_unit_text(row));
        return true;
    }
    const struct expr *expr;
    struct unit unit;
    struct error parse = { .what = "" };
    if (!expr_parse(&scenario->formulas, NULL, 0, text_of(value), &expr, &parse) ||
        (expr->op == OP_NUMBER && !(unit_same(expr->unit, unit_one) && unit_counts(row->unit))))
        return not_a_value(scenario, row, name, value, source, &inner, &parse, error);
    if (!expr_unit(&scenario->formulas, expr, &unit, error))
        return false;
    if (expr->op != OP_NUMBER && !unit_same(unit, row->unit)) {
        struct buffer words = { .arena = scenario->arena };
        unit_print(&words, unit);
        const bool counts = unit_same(row->unit, unit_one);
        error_set(error, "%s: '%.100s' is in %s, %s %s%s", source, value, words.data, name,
                  counts ? "has no unit" : "is in ", counts ? "" : row_unit_text(row));
        return error_expected(error, "an expression %s%s", counts ? "without a unit" : "in ",
                              counts ? "" : row_unit_text(row));
    }
    facts_bind(&scenario->facts, name, arena_copy(scenario->arena, value, strlen(value)), origin,
               source);
    given_as(scenario, name, as);
    return true;
}

bool scenario_varies(const struct scenario *scenario, const char *row)
{
    return scenario->axis && text_has_word(scenario->axis, row);
}

bool scenario_set_number(struct scenario *scenario, const char *as, double value,
                         enum origin origin, const char *source, struct error *error)
{
    const char *name;
    const struct row *row = row_to_set(scenario, as, source, &name, error);
    if (!row)
        return false;
    if (row->input && (value < row->low || value > row->high))
        return out_of_range(row, quantity_text(scenario->arena, value, row->unit, 9), source,
                            scenario->arena, error);
    facts_set(&scenario->facts, name, value, origin, source);
    given_as(scenario, name, as);
    return true;
}

bool scenario_set(struct scenario *scenario, const char *text, struct error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        error_set(error, "--set: '%.100s' is not NAME=VALUE", text);
        return error_expected(error, "--set context=8192, --set hbm_bandwidth=8TB/s");
    }
    struct text name = text_trim((struct text){ text, (size_t)(equals - text) });
    return scenario_set_row(scenario, arena_copy(scenario->arena, name.data, name.size),
                            equals + 1, ORIGIN_GIVEN, "--set", error);
}

/* ---- options that set a row ------------------------------------------------------------- */

static bool set_options(struct scenario *scenario, struct error *error)
{
    const struct command *command = scenario->command;
    for (size_t i = 0; i < command->value_count; i++) {
        const struct option *option = command->values[i].option;
        if (command->values[i].bare)
            scenario_note_bare(scenario, arena_print(scenario->arena, "--%s ", option->name), command->values[i].bare, option->bare);
        if (option->kind == OPTION_ROW &&
            !scenario_set_row(scenario, option->row,
                              command->values[i].row_text ? command->values[i].row_text : command->values[i].text, ORIGIN_GIVEN,
                              arena_print(scenario->arena, "--%s", option->name), error))
            return false;
        if (option->kind == OPTION_ROW && command->values[i].percentile > 0)
            facts_set(&scenario->facts, option->percentile, command->values[i].percentile, ORIGIN_GIVEN,
                      arena_print(scenario->arena, "--%s", option->name));
    }
    const struct fact *tail = facts_find(&scenario->facts, NAME_ttft_limit_percentile);
    if (tail)
        facts_note(&scenario->facts, "TTFT at p%.6g: rows compare the mean; `plan` and `simulate` simulate the percentile",
                   100 * tail->value);
    if (scenario->lecture)
        facts_set(&scenario->facts, NAME_lecture_form, 1, ORIGIN_GIVEN, "--lecture");
    const char *const *sets;
    const size_t count = command_texts(scenario->arena, command, "set", &sets);
    for (size_t i = 0; i < count; i++)
        if (!scenario_set(scenario, sets[i], error))
            return false;
    return true;
}

void scenario_one_budget(struct scenario *scenario)
{
    const struct fact *budget = facts_find(&scenario->facts, NAME_step_tokens);
    if (!fact_given(budget) || fact_given(facts_find(&scenario->facts, NAME_chunked_prefill_size)))
        return;
    if (budget->expression || budget->distribution != DISTRIBUTION_NONE)
        facts_bind(&scenario->facts, NAME_chunked_prefill_size, NAME_step_tokens, ORIGIN_GIVEN, budget->source);
    else
        facts_set(&scenario->facts, NAME_chunked_prefill_size, budget->value, ORIGIN_GIVEN, budget->source);
}

static bool read_more_rows(struct scenario *scenario, struct error *error)
{
    const struct command *command = scenario->command;
    scenario->formulas.open = true;
    const char *const *files;
    const size_t count = command_texts(scenario->arena, command, "rows", &files);
    for (size_t i = 0; i < count; i++) {
        struct text text;
        if (!file_read(scenario->arena, files[i], FILE_LIMIT, &text, error) ||
            !formulas_read(&scenario->formulas, files[i], text, error))
            return false;
    }
    return !count || formulas_check_units(&scenario->formulas, error);
}

/* ---- what is assumed for a real model --------------------------------------------------- */

/* The machine may lack units for the format of the weights. */
static void note_wider_peak(struct scenario *scenario)
{
    const struct fact *wanted = facts_find(&scenario->facts, NAME_weight_peak);
    const struct fact *peak = wanted && wanted->expression
                              ? facts_find(&scenario->facts, wanted->expression) : NULL;
    if (scenario->machine && peak && peak->expression)
        facts_note(&scenario->facts, "no %s is known: weights compute at %s", peak->name,
                   peak->expression);
}

/* An embedding model, reranker or reward model by its name: prompts are all that it does. */
static void note_reader(struct scenario *scenario)
{
    const char *model = scenario->subject.model, *folder = model ? strrchr(model, '/') : NULL;
    const char *with = model ? model_reads(folder ? folder : model, "") : NULL;
    if (with)
        facts_note(&scenario->facts, MODEL_READS_NOTE, model, with);
}

/* Defaults of context, batch and price for a real model, each with a note. */
bool scenario_assume(struct scenario *scenario, struct error *error)
{
    if (!scenario->model)
        return true;
    const struct fact *decodes = facts_find(&scenario->facts, NAME_decodes);
    if (decodes && decodes->value == 0) {
        const char *asked = scenario->subject.model ? scenario->subject.model : scenario->model;
        const char *with = model_reads(asked, "");
        error_set(error, "%.200s is an encoder: it answers with %s and writes no tokens, so it has no speed of generation",
                  asked, with ? with : "a vector for each token");
        return error_suggest(error, "ask how large it is: `chalkline import %.200s`; embedding models and rerankers that are built "
                             "as decoders are predicted, such as Qwen/Qwen3-Embedding-8B", asked);
    }
    note_reader(scenario);
    const struct fact *weights = facts_find(&scenario->facts, NAME_weight_bytes);
    if (!scenario->machine && !facts_find(&scenario->facts, NAME_context)) {
        facts_set(&scenario->facts, NAME_context, 4096, ORIGIN_DEFAULT, "assumed");
        facts_note(&scenario->facts, "context 4,096 tokens");
    }
    if (weights && !scenario->subject.precision && !scenario->named_precision)
        facts_note(&scenario->facts, "weights as in the checkpoint, %.3g byte%s each",
                   weights->value, weights->value < 1.01 && weights->value > 0.99 ? "" : "s");
    note_wider_peak(scenario);
    const struct fact *cache = facts_find(&scenario->facts, NAME_kv_bytes);
    if (!scenario->subject.kv_precision && (!cache || cache->value == formats_find(&scenario->formats, "bf16")->bytes))
        facts_note(&scenario->facts, "KV cache and attention in bf16");
    scenario_note_price(scenario);
    if (!scenario->machine && !facts_find(&scenario->facts, NAME_chip_price)) {
        facts_note(&scenario->facts, "no machine: the lecture's 64 GPUs, B200 as in its "
                   "datasheet, at 2 USD per GPU-hour");
    }
    return scenario->machine || facts_find(&scenario->facts, NAME_batch) ||
           scenario_batch(scenario, error);
}

/* Without a model --precision says what the lecture's weights are. */
static bool set_precision(struct scenario *scenario, struct error *error)
{
    const char *name = scenario->subject.precision;
    const struct format *format;
    if (!name)
        return true;
    if (!weight_format(scenario, name, &format, error))
        return false;
    facts_set(&scenario->facts, NAME_weight_bytes, format->bytes, ORIGIN_GIVEN, "--precision");
    facts_bind(&scenario->facts, NAME_weight_peak, format->peak, ORIGIN_GIVEN, "--precision");
    facts_bind(&scenario->facts, NAME_peak_flops, NAME_weight_peak, ORIGIN_GIVEN, "--precision");
    return true;
}

struct subject command_subject(const struct command *command)
{
    return (struct subject){ .model = command_text(command, "model"),
                             .machine = command_text(command, "on"),
                             .precision = command_text(command, "precision"),
                             .experts_precision = command_text(command, "experts-precision"),
                             .kv_precision = command_text(command, "kv-precision"),
                             .engine = command_text(command, "engine") };
}

size_t command_models(const struct command *command, struct subject *subject)
{
    *subject = command_subject(command);
    const size_t models = command->word_count + (subject->model != NULL);
    if (command->word_count)
        subject->model = command->words[0];
    return models;
}

struct subject command_no_subject(const struct command *command)
{
    struct subject subject = command_subject(command);
    subject.model = subject.machine = NULL;
    return subject;
}

/* For a machine without a known price, to rent it or to buy it, all rows that depend on that have no value. */
static void price_unknown(struct scenario *scenario)
{
    if (scenario->machine && !facts_find(&scenario->facts, NAME_machine_cost))
        facts_set(&scenario->facts, NAME_machine_cost, NAN, ORIGIN_SHEET, "no price is known");
    if (!scenario->machine || facts_find(&scenario->facts, NAME_chip_price))
        return;
    facts_set(&scenario->facts, NAME_chip_price, NAN, ORIGIN_SHEET, "no price is known");
    facts_note(&scenario->facts, "no price of %s is known, so no costs: --set chip_price=2USD/h",
               scenario->machine);
}

bool scenario_priced(const struct scenario *scenario, const char *verb, struct error *error)
{
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    if (!price || price->expression || !isnan(price->value))
        return true;
    error_set(error, "%s: no price of %s is known", verb, scenario->machine);
    return error_expected(error, "--set chip_price=2USD/h");
}

/* The names, copied into `arena`: a search's own arena ends before the scenario does. */
static struct subject subject_copy(struct arena *arena, struct subject subject)
{
    const char **const names[] = { &subject.model, &subject.machine, &subject.precision, &subject.experts_precision,
                                   &subject.kv_precision, &subject.engine, &subject.version };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i])
            *names[i] = arena_copy(arena, *names[i], strlen(*names[i]));
    return subject;
}

bool scenario_read(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error)
{
    subject = subject_copy(arena, subject);
    const char *model = subject.model, *machine = subject.machine;
    unsigned conditions = (model ? FORMULAS_MODEL : 0) | (machine ? FORMULAS_MACHINE : 0);
    *scenario = (struct scenario){ .arena = arena, .command = command, .subject = subject };
    scenario->facts.arena = arena;
    scenario->graphs = asked_graphs_new(arena);
    const char *tiers = command_text(command, "tiers");
    scenario->lecture = command_given(command, "lecture");
    formulas_copy(&scenario->formulas, arena, formulas_built_in(conditions));
    catalog_open(&scenario->catalog, arena);
    scenario->catalog.met = subject.met ? subject.met : arena_alloc(arena, sizeof *subject.met);
    if (!machine)                   /* priors_read finds no machines then: `deduce` has one offer */
        scenario->catalog.sheets[CATALOG_MACHINE].count = scenario->catalog.devices.count = 0;
    scenario->formats = *formats_built_in();
    if (tiers && !scenario_read_tiers(scenario, tiers, error))
        return false;
    catalog_tiers(&scenario->catalog, &scenario->facts);
    if (!scenario_engine(scenario, error))
        return false;
    if ((machine && !read_machine(scenario, machine, error)) || !scenario_pay(scenario, error))
        return false;
    if (model && !read_model(scenario, model, error))
        return false;
    if (model)
        model_follow_experts(&scenario->facts);
    cluster_set(scenario);
    if (!model && !set_precision(scenario, error))
        return false;
    const char *calibration = command_text(command, "calibration");
    if (calibration && !calibrated_apply(scenario, calibration, error))
        return false;
    rules_bind(scenario);
    const char *deck = command_text(command, "deck");
    if (!read_more_rows(scenario, error) || (deck && !deck_set(scenario, deck, error)) ||
        !set_options(scenario, error) || !scenario_linked(scenario, error) || !scenario_paid_once(scenario, error) ||
        !scenario_said_once(scenario, error))
        return false;
    scenario_one_budget(scenario);
    price_unknown(scenario);
    return true;
}

/* A layout that is given must be the layers over all cards, where they are unlike. */
static bool cards_agree(const struct scenario *scenario, struct error *error)
{
    const struct fact *unlike = facts_find(&scenario->facts, NAME_cards_unlike), *cards = facts_find(&scenario->facts, NAME_scale_up_chips);
    static const char *const rows[] = { NAME_chips, NAME_pipeline_parallel, NAME_tensor_parallel, NAME_attention_dp };
    for (size_t i = 0; unlike && unlike->value > 0 && i < sizeof rows / sizeof *rows; i++) {
        const struct fact *given = facts_find(&scenario->facts, rows[i]);
        const double only = i < 2 ? cards->value : 1;
        if (fact_given(given) && given->value != only) {
            error_set(error, "%s: llama.cpp splits the layers over all of %s", given->source, scenario->machine);
            return error_expected(error, "%s of %.0f, or none", given->source, only);
        }
    }
    return true;
}

/* The number of a row, and was it given? NAN: an expression, or a row that has a formula. */
static double number_of(const struct scenario *scenario, const char *name, bool *is_given)
{
    const struct row *row = formulas_row(&scenario->formulas, (size_t)formulas_find(&scenario->formulas, name));
    const struct fact *fact = facts_find(&scenario->facts, name);
    *is_given = fact_given(fact);
    return fact ? fact->expression ? NAN : fact->value : row->input ? row->value : NAN;
}

/* The mean context of a request has its prompt in it, and no token has more experts than there are. */
static bool numbers_agree(const struct scenario *scenario, struct error *error)
{
    bool given[2];
    const double context = number_of(scenario, NAME_context, &given[0]), prompt = number_of(scenario, NAME_prompt_tokens, &given[1]);
    if (given[0] && given[1] && context < prompt) {
        error_set(error, "a prompt of %.0f tokens leaves no room in a context of %.0f", prompt, context);
        return error_expected(error, "--context of prompt and answer, or no --context");
    }
    const double experts = number_of(scenario, NAME_experts, &given[0]), top_k = number_of(scenario, NAME_top_k, &given[1]);
    if (!(given[0] || given[1]) || !(top_k > experts))
        return true;
    error_set(error, "a token uses %g routed experts (top_k), and there are %g (experts)", top_k, experts);
    return error_expected(error, "top_k up to experts: --set top_k=..., --set experts=...");
}

bool scenario_open(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct subject subject, struct error *error)
{
    if (!scenario_read(scenario, arena, command, subject, error))
        return false;
    return cards_agree(scenario, error) && numbers_agree(scenario, error) && scenario_layout_agrees(scenario, error) &&
           scenario_drafts(scenario, error) && scenario_images(scenario, error) && scenario_assume(scenario, error);
}

/* "ms", "USD/h", "s"; a single letter is rather a name. */
static bool is_unit(const char *word)
{
    double scale;
    return unit_scale(word, &scale) && (word[1] || *word == 's' || *word == 'h');
}

/* What one word too many was meant as: a machine, the unit of the value before it, a part of the model's name. NULL: it
 * is not known. */
static const char *surplus_hint(struct arena *arena, const struct command *command)
{
    struct catalog catalog;
    struct catalog_called called;
    struct buffer joined = { .arena = arena };
    catalog_open(&catalog, arena);
    for (size_t i = 0; i < command->word_count; i++) {
        buffer_print(&joined, "%s%s", i ? "-" : "", command->words[i]);
        if (i && is_unit(command->words[i]))
            return arena_print(arena, "'%.40s' is a unit: write it after the number without a space, as in 30ms",
                               command->words[i]);
    }
    if (command->word_count > 1 && catalog_known(&catalog, CATALOG_MODEL, joined.data))
        return arena_print(arena, "did you mean '%.100s'?", joined.data);
    for (size_t i = 0; i < command->word_count && !command_given(command, "on"); i++)
        if (!catalog_known(&catalog, CATALOG_MODEL, command->words[i]) &&
            catalog_machine_called(&catalog, command->words[i], &called, NULL))
            return arena_print(arena, "'%.100s' is a machine: --on %s", command->words[i], typed(arena, command->words[i]));
    return NULL;
}

bool command_pair(const struct command *command, struct subject *subject, struct error *error)
{
    struct arena arena = { 0 };
    const char *verb = command->verb->name;
    const size_t models = command_models(command, subject);
    if (models == 1 && subject->machine)
        return true;
    if (!models)
        error_set(error, "%s needs a model", verb);
    else if (models > 1)
        error_set(error, "%s takes one model, %zu were given", verb, models);
    else
        error_set(error, "%s needs a machine: --on", verb);
    const char *hint = surplus_hint(&arena, command);
    if (hint)
        error_suggest(error, "%s", hint);
    else
        error_expected(error, "%s of `chalkline list %s`, or a file, as in `%s`",
                       models == 1 ? "a machine" : "one model", models == 1 ? "hardware" : "models",
                       command->verb->examples[0]);
    arena_free(&arena);
    return false;
}

bool scenario_open_pair(struct scenario *scenario, struct arena *arena, const struct command *command,
                   struct error *error)
{
    struct subject subject;
    command_models(command, &subject);
    if (subject.model && !subject.machine &&
        !scenario_read(scenario, arena, command, subject, error))
        return false;                           /* the model may be the mistake */
    return command_pair(command, &subject, error) &&
           scenario_open(scenario, arena, command, subject, error);
}

void scenario_note_length(struct scenario *scenario)
{
    const struct fact *most = facts_find(&scenario->facts, NAME_max_context);
    const struct fact *cached = facts_find(&scenario->facts, NAME_context);
    struct error ignored;
    double length, context;
    if ((!most && !fact_given(cached)) || !value_of(scenario, NAME_request_tokens, &length, &ignored))
        return;
    const char *request = count_text(scenario->arena, length, 9);
    if (fact_given(cached) && fact_given(facts_find(&scenario->facts, NAME_prompt_tokens)) &&
        value_of(scenario, NAME_context, &context, &ignored) && context > length)
        facts_note(&scenario->facts, "the bound's context of %s tokens is longer than a request of the prediction, %s tokens",
                   count_text(scenario->arena, context, 6), request);
    if (most && length > most->value)
        facts_note(&scenario->facts, "prompt and output of %s tokens exceed the %s that the model's "
                   "configuration allows", request, count_text(scenario->arena, most->value, 9));
}

void scenario_notes(const struct scenario *scenario, struct answer *answer)
{
    struct doc *list = doc_add(scenario->arena, answer->doc, "assumed", DOC_ARRAY);
    for (size_t i = 0; i < scenario->facts.note_count; i++) {
        doc_add_string(scenario->arena, list, NULL, scenario->facts.notes[i]);
        buffer_print(&answer->text, "%s%s\n", i ? "           " : "  assumed  ",
                     scenario->facts.notes[i]);
    }
}

uint64_t scenario_hash(const struct scenario *scenario)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < scenario->command->value_count; i++)
        hash = hash_text(hash, scenario->command->values[i].text);
    return facts_hash(hash, &scenario->facts);
}
