/* The cost of serving a model: `plan` finds the cheapest deployment, `eval` what else its words have. How well the cost
 * is known has three causes: the prediction's interval, the rents at which its chip is let, and the engine. */
#include "ask/market/market.h"
#include "catalog/sheet.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

const char *const market_causes[MARKET_CAUSES] = { "prediction", "rents", "engine", "use" };
const char market_choices[] = "data/market.csv";

const char *market_choice(size_t row, const char *column)
{
    const struct csv *csv = csv_built_in(market_choices);
    return csv_cell(csv, row, csv_column(csv, column));
}

size_t market_choice_next(const char *kind, size_t from)
{
    const struct csv *csv = csv_built_in(market_choices);
    for (; from < csv->rows; from++)
        if (!strcmp(market_choice(from, "kind"), kind))
            return from;
    return MARKET_NO_CHOICE;
}

static double at(const struct doc *doc, const char *key)
{
    const struct doc *found = doc_get(doc, key);
    return found && found->kind == DOC_OBJECT ? doc_number(found, "value", NAN) : doc_number(doc, key, NAN);
}

double market_eval(struct arena *outer, const struct command *command, const struct doc *words, const char *row, const char *option,
                   const char *value)
{
    struct arena scratch = arena_beside(outer), *arena = &scratch;
    const struct verb *const verb = verb_named(command->verbs, "eval"), *const evaluating[] = { verb, NULL };
    struct command eval = { .verbs = evaluating };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text = { .arena = arena }, .csv = { .arena = arena } };
    struct error error;
    size_t count = 0, room = 0;
    const char **line = NULL, *const begin[] = { "chalkline", "eval", row }, *const end[] = { option, value };
    for (int i = 0; i < 3; i++)
        *(const char **)arena_push(arena, &line, &count, &room, sizeof *line) = begin[i];
    for (const struct doc *word = words ? words->first : NULL; word; word = word->next)
        *(const char **)arena_push(arena, &line, &count, &room, sizeof *line) = word->string;
    for (int i = 0; option && i < 2; i++)
        *(const char **)arena_push(arena, &line, &count, &room, sizeof *line) = end[i];
    const bool asked = command_read(arena, (int)count, (char **)line, &eval, &error) && verb->ask(arena, &eval, &answer, &error);
    const double found = asked ? at(answer.doc, row) : NAN;
    arena_free(&scratch);
    return found;
}

/* Lowest and highest rent of a chip over the rent that the cost was computed with. */
static void rents_of(struct market *market, const char *machine, struct market_served *served)
{
    const bool given = command_given(market->command, "price") || command_given(market->command, "price-kind");
    const struct catalog_entry *entry = given ? NULL : catalog_find(&market->catalog, CATALOG_MACHINE, machine, NULL);
    double rent, low = served->rent, high = served->rent;
    for (size_t i = market_choice_next("rent", 0); entry && i != MARKET_NO_CHOICE; i = market_choice_next("rent", i + 1))
        if (catalog_number(entry, market_choice(i, "name"), &rent) && rent > 0)
            low = fmin(low, rent), high = fmax(high, rent);
    served->cause[MARKET_RENT].low = low / served->rent;
    served->cause[MARKET_RENT].high = high / served->rent;
}

/* The cost by each engine that runs the deployment over the cost by all of them together. */
static void engines_of(struct arena *arena, const struct command *command, const char *row, struct market_served *served)
{
    static const char *const engines[] = { "vllm", "sglang", "trtllm" };
    double low = 1, high = 1;
    for (size_t i = 0; !command_given(command, "engine") && i < sizeof engines / sizeof *engines; i++) {
        const double factor = market_eval(arena, command, served->words, row, "--engine", engines[i]) / served->token;
        if (factor > 0)
            low = fmin(low, factor), high = fmax(high, factor);
    }
    served->cause[MARKET_ENGINE].low = low;
    served->cause[MARKET_ENGINE].high = high;
}

static void read_best(struct market *market, struct market_served *served, const struct doc *best)
{
    struct arena *arena = market->arena;
    const bool pools = doc_get(best, NAME_pool_blended_cost_per_token) != NULL;
    const char *row = pools ? NAME_pool_blended_cost_per_token : NAME_blended_cost_per_token;
    served->input_row = pools ? NAME_pool_input_cost_per_token : NAME_input_cost_per_token;
    served->output_row = pools ? NAME_pool_output_cost_per_token : NAME_output_cost_per_token;
    best = doc_copy(arena, best);
    const struct doc *servers = doc_get(best, "servers");
    const char *machine = servers && servers->first ? doc_text(servers->first, "machine", "") : "";
    served->machine = doc_text(best, "machine", "");
    served->deployment = doc_text(best, "deployment", "");
    served->binds = doc_text(best, "binds", "");
    served->words = doc_get(best, "words");
    served->token_row = row;
    served->token = at(best, row);
    served->input = at(best, served->input_row);
    served->output = at(best, served->output_row);
    served->tpot = at(best, "tpot");
    served->rent = at(best, NAME_deployment_rent) / at(best, NAME_chips_paid);
    served->prompt_tokens = at(best, NAME_prompt_tokens);
    served->output_tokens = at(best, NAME_output_tokens);
    served->hits = market_eval(arena, market->command, served->words, NAME_prefix_hit_share, NULL, NULL);
    served->hit = market_eval(arena, market->command, served->words, NAME_cheapest_cost, NULL, NULL);
    served->cause[MARKET_BAND].low = 1 / at(best, NAME_throughput_band_high);
    served->cause[MARKET_BAND].high = 1 / at(best, NAME_throughput_band_low);
    rents_of(market, machine, served);
    engines_of(arena, market->command, row, served);
}

double market_part(const struct scenario *scenario, const char *row, double part, double kept)
{
    struct scenario held = *scenario;
    held.facts = facts_copy(&scenario->facts);
    facts_set(&held.facts, NAME_part_cost, part, ORIGIN_AXIS, "plan");
    facts_set(&held.facts, NAME_kept_cost, kept, ORIGIN_AXIS, "eval");
    return value_or_nan(&held, row);
}

bool market_of_rows(const struct option *option)
{
    return !strcmp(option->name, "set") || !strcmp(option->name, "rows");
}

/* A speed is a limit of TPOT. */
static bool is_set_here(const char *name, const struct market_option *options, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(options[i].name, name) && (strcmp(options[i].name, "tpot") || strcmp(name, "speed")))
        i++;
    return i < count;
}

/* A host or rack of the machine, which several replicas may fill; of several machines, eight chips. */
static const char *domain_of(struct arena *arena, const struct command *plan)
{
    const double chips = market_eval(arena, plan, NULL, NAME_scale_up_chips, "--on", command_text(plan, "on"));
    return arena_print(arena, "%.0f", chips >= 1 ? chips : 8);
}

/* "h100-sxm,h200-sxm": what serves where --on names no machine, less those of which no price of the wanted kind is known. */
static const char *usual_machines(struct arena *arena, const struct command *plan)
{
    struct buffer names = { .arena = arena };
    struct doc *words = doc_new(arena, DOC_ARRAY);
    if (command_given(plan, "price-kind")) {
        doc_add_string(arena, words, NULL, "--price-kind");
        doc_add_string(arena, words, NULL, command_text(plan, "price-kind"));
    }
    for (size_t i = market_choice_next("machine", 0); i != MARKET_NO_CHOICE; i = market_choice_next("machine", i + 1)) {
        const char *name = market_choice(i, "name");
        if (!words->count || !isnan(market_eval(arena, plan, words, NAME_chip_price, "--on", name)))
            buffer_print(&names, "%s%s", names.size ? "," : "", name);
    }
    return names.size ? names.data : market_choice(market_choice_next("machine", 0), "name");
}

/* What `plan` is asked too. */
static bool is_planned(const struct option *option)
{
    static const char *const others[] = { "model", "seller", "schedule", "closed", "watch", "changes", "long", "most", "json", "csv", "plot" };
    return !name_listed(others, sizeof others / sizeof *others, option->name);
}

/* NULL: no deployment keeps the limits. */
static const struct doc *best_of(const struct doc *plan)
{
    const struct doc *best = doc_get(plan, "best");
    return best && best->kind == DOC_OBJECT ? best : NULL;
}

void market_serve_one(struct market *market, struct market_served *served, const struct market_option *options, size_t count)
{
    struct arena scratch = arena_beside(market->arena), *arena = &scratch;
    struct command plan = *command_only(arena, market->command, is_planned);
    size_t kept = 0;
    for (size_t i = 0; i < plan.value_count; i++)           /* what a tier sets stands in the place of what was given */
        if (!is_set_here(plan.values[i].option->name, options, count))
            plan.values[kept++] = plan.values[i];
    plan.value_count = kept;
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text = { .arena = arena }, .csv = { .arena = arena } };
    plan.verb = verb_named(plan.verbs, "plan");
    plan.words = &served->model;
    plan.word_count = plan.word_room = 1;
    if (!command_given(&plan, "on"))
        command_set(arena, &plan, "on", usual_machines(arena, &plan));
    if (!command_given(&plan, "gpus"))
        command_set(arena, &plan, "gpus", domain_of(arena, &plan));
    if (!command_given(&plan, "precision") && market_eval(arena, &plan, NULL, NAME_weight_bytes, "--model", served->model) > 1)
        command_set(arena, &plan, "precision", "fp8");      /* as sellers serve what was trained in two bytes */
    for (size_t i = 0; i < count; i++)
        command_set(arena, &plan, options[i].name, options[i].value);
    if (!plan.verb->ask(arena, &plan, &answer, market->error)) {
        served->wrong = true;
        served->why = arena_print(market->arena, "%s", market->error->what);
    } else if (best_of(answer.doc)) {
        read_best(market, served, best_of(answer.doc));
    } else {
        served->why = "no deployment keeps the limits";
    }
    arena_free(&scratch);
}

bool market_serve(struct market *market)
{
    bool wrong = true;              /* where no model can be asked about, it is the question */
    for (size_t i = 0; i < market->served_count; i++) {
        market_serve_one(market, &market->served[i], NULL, 0);
        wrong &= market->served[i].wrong;
        if (market->command->progress)
            market->command->progress((double)(i + 1) / (double)market->served_count);
    }
    return !wrong;
}
