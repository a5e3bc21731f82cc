/* The server that a command leaves open.
 *
 * 1. Do the asked rows depend on a layout or a load that nobody gave? If not, nothing is chosen.
 * 2. Search the layouts that an engine can start, in up to one scale-up domain; in 2, 4 and 8 domains
 *    while nothing fits or the replica is overloaded. If there are none, search layouts that divide
 *    evenly; if there are still none and the number of GPUs is given, any layout of that many.
 * 3. If no load is given, evaluate each layout and chunk at each load (servers.h). For a request rate or a
 *    number of users, choose also how many replicas serve it. For a given concurrency or arrival rate of
 *    one replica, evaluate each layout and chunk at that load.
 * 4. Take the layout within the limits with the most tokens per GPU, the cheapest where its copies fill their hosts;
 *    without a price, and for a rate or a number of users, the one with the fewest GPUs. If none is within them and only the default TTFT limit is missed, drop that limit;
 *    otherwise take the layout that misses the limits by the least.
 * 5. The chosen values become facts of origin CHOSEN whose source is the rule, so that answers and `why`
 *    can say why they were chosen. */
#include "deploy/choice.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "scenario/calibrated.h"
#include "deploy/published.h"

#include <math.h>
#include <string.h>

enum { LOAD_ROWS = 6, DOMAINS_MOST = 8 };
static const char *const layout_rows[LAYOUT_ROWS] = { NAME_chips, NAME_attention_dp,
                                                      NAME_pipeline_parallel, NAME_expert_parallel };
/* Rows by which a user may give the load: those of a closed loop, then those of an open one. */
static const char *const load_rows[LOAD_ROWS] = { NAME_batch, NAME_concurrency, NAME_users,
                                                  NAME_arrival_rate, NAME_request_demand, NAME_tokens_per_day };
/* load_rows[i] is of a closed loop for i < CLOSED_ROWS. For i > PER_REPLICA it is a rate of the whole
 * deployment; NAME_arrival_rate, at PER_REPLICA, is the rate at one replica. */
enum { CLOSED_ROWS = 3, PER_REPLICA = 3 };

/* ---- does anything have to be chosen? --------------------------------------------------------------------- */

/* Does the command itself, or its axis, give the row? Facts of the machine or the model do not count. */
static bool given(const struct scenario *scenario, const char *row)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return fact && (fact->origin == ORIGIN_GIVEN || fact->origin == ORIGIN_AXIS);
}

/* Does the row have a value that the choice must not replace: given, or chosen before? */
static bool settled(const struct scenario *scenario, const char *row)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return fact && (fact_given(fact) || fact->origin >= ORIGIN_CHOSEN);
}

/* The index in load_rows of the row that gives the load; -1 if none does. */
static int load_given(const struct scenario *scenario)
{
    for (int i = 0; i < LOAD_ROWS; i++)
        if (settled(scenario, load_rows[i]))
            return i;
    return -1;
}

/* Is the load one of users who think between their requests? Not all of them have one in flight then. */
static bool users_think(const struct scenario *scenario)
{
    const struct fact *think = facts_find(&scenario->facts, NAME_think_time);
    return fact_given(think) && (think->expression || think->value > 0);
}

/* The rows from this one on give a load of which the batch is the requests that decode. */
static int first_open(const struct scenario *scenario, bool pauses)
{
    return pauses || users_think(scenario) ? 1 : CLOSED_ROWS;
}

/* Do the expressions depend on a row of the layout or the load that has no value yet? And do they
 * depend on the chips of a training fleet and on no load? */
static bool reads_open(struct scenario *scenario, const char *const *texts, size_t count,
                       bool *open, bool *trains, struct error *error)
{
    const struct formulas *formulas = &scenario->formulas;
    const struct expr **wanted = arena_array(scenario->arena, count + 1, sizeof *wanted);
    bool *reached = arena_array(scenario->arena, formulas->count + 1, sizeof *reached);
    *open = false;
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(formulas, NULL, 0, text_of(texts[i]), &wanted[i], error))
            return false;
    if (!graph_reach(formulas, &scenario->facts, wanted, count, reached, error))
        return false;
    const bool load = load_given(scenario) >= 0;
    *trains = reached[formulas_find(formulas, NAME_training_chips)];
    for (int i = 0; i < LOAD_ROWS; i++)
        *trains &= !reached[formulas_find(formulas, load_rows[i])];
    for (int i = 0; i < LAYOUT_ROWS - 1; i++)
        *open |= reached[formulas_find(formulas, layout_rows[i])] && !settled(scenario, layout_rows[i]);
    for (int i = 0; i < LOAD_ROWS && !load; i++)
        *open |= reached[formulas_find(formulas, load_rows[i])];
    *open |= reached[formulas_find(formulas, NAME_batch)] && !settled(scenario, NAME_batch);
    return true;
}

/* ---- a copy to try layouts on ---------------------------------------------------------------- */

/* Read the number of chips, if it is given, and refuse a fraction of a chip, and a range, of which a layout has no half. */
static bool whole_chips(struct choice *choice)
{
    const struct fact *fact = facts_find(&choice->scenario->facts, NAME_chips);
    if (!given_number(choice->scenario, NAME_chips, &choice->chips) ||
        (choice->chips == floor(choice->chips) && fact->distribution == DISTRIBUTION_NONE))
        return true;
    if (fact->distribution != DISTRIBUTION_NONE)
        return error_set(choice->error, "%s: from %.12g to %.12g GPUs is a range", fact->source, fact->low, fact->high) ||
               error_expected(choice->error, "one whole number");
    error_set(choice->error, "%s: '%.12g' is not a whole number of GPUs", fact->source, choice->chips);
    return error_expected(choice->error, "1, 2, 4, 8, ...");
}

/* Set choice->trial to a copy of the scenario without tensor_parallel, which follows from chips, ranks
 * and stages there, so that the layouts of the search do not contradict it. */
static bool open_trial(struct choice *choice)
{
    struct scenario *scenario = choice->scenario;
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    choice->priced = price && (price->expression || price->value > 0);
    choice->load = load_given(scenario);
    choice->replicas_given = settled(scenario, NAME_replicas) || given(scenario, NAME_deployment_chips);
    if (!whole_chips(choice))
        return false;
    if (given(scenario, NAME_tensor_parallel) &&
        !value_of(scenario, NAME_tensor_parallel, &choice->tensor, choice->error))
        return false;
    choice->trial = *scenario;
    choice->trial.facts = facts_copy(&scenario->facts);
    facts_remove(&choice->trial.facts, NAME_tensor_parallel);
    return true;
}

/* ---- llama.cpp -------------------------------------------------------------------------------- */

/* Is the engine llama.cpp, which splits layers over all cards? */
static bool by_layers(const struct scenario *scenario)
{
    const struct fact *fact = facts_find(&scenario->facts, NAME_llama_cpp);
    return fact && fact->value > 0;
}

/* Does a curve vary one of them? */
static bool varies_one(const struct scenario *scenario, const char *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scenario_varies(scenario, rows[i]))
            return true;
    return false;
}

/* Without a load or a limit its server is a person's own, who writes one conversation at a time; true: so it is. */
static bool one_conversation(struct scenario *scenario)
{
    static const char *const limits[] = { NAME_speed_wanted, NAME_ttft_limit, NAME_tpot_limit };
    bool limited = varies_one(scenario, load_rows, LOAD_ROWS) || load_given(scenario) >= 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        limited |= settled(scenario, limits[i]);
    if (!limited) {
        facts_set(&scenario->facts, NAME_concurrency, 1, ORIGIN_GIVEN, "one conversation, as usual for llama.cpp");
        facts_note(&scenario->facts, "one conversation at a time, as usual for llama.cpp: --concurrency N");
    }
    return !limited;
}

/* The cards are those that the name says; a person has one where it says none, as `can` takes it. */
static void split_by_layers(struct choice *choice, bool person)
{
    struct scenario *scenario = choice->scenario;
    struct catalog_called called;
    choice->servers.by_layers = true;
    if (!choice->tensor && !given(scenario, NAME_pipeline_parallel))
        choice->tensor = 1;
    if (!choice->chips && !given(scenario, NAME_pipeline_parallel) && catalog_machine_called(&scenario->catalog, scenario->subject.machine, &called, NULL))
        choice->chips = called.chips > 0 ? called.chips : person;
}

/* ---- what is within reach ----------------------------------------------------------------------- */

/* Find the best replica with `least` to `most` chips. */
static bool choose_within(struct choice *choice, double least, double most, struct found *found)
{
    struct servers *servers = &choice->servers;
    const bool whole = choice->load > PER_REPLICA;          /* a rate of all replicas */
    const bool known = choice->load >= 0 && (!whole || choice->replicas_given);
    const bool users = choice->load >= 0 && !strcmp(load_rows[choice->load], NAME_users);
    *found = (struct found){ .any = false };
    servers->replica_least = least;
    servers->replica_most = most;
    servers->by_demand = whole && !choice->replicas_given;
    servers->chips = servers->by_demand ? 1e12 : most;
    choice->loads = !known ? LOADS_RUNNING
                  : users && !choice->replicas_given ? LOADS_REPLICAS : LOADS_KNOWN;
    if (!known)
        servers_open_loop(&choice->trial.facts, "choice");
    return choose_best(choice, found);
}

/* Widen the layout rule and the number of scale-up domains until a layout fits and, for a given request
 * rate, is not overloaded. `products` are the chips that the given parallelism alone needs. */
static bool choose_of(struct choice *choice, struct found *found)
{
    const bool fixed = choice->chips > 0;
    double products = 1, number;
    *found = (struct found){ .any = false };
    for (int i = 1; i < LAYOUT_ROWS - 1; i++)
        products *= given_number(choice->scenario, layout_rows[i], &number) ? number : 1;
    products *= choice->tensor > 0 ? choice->tensor : 1;
    choice->servers.replica_step = products;
    for (int rule = LAYOUT_STARTABLE; rule <= LAYOUT_ANY; rule++) {
        choice->servers.rule = (enum layout_rule)rule;
        if (fixed && !choose_within(choice, choice->chips, choice->chips, found))
            return false;
        for (double domains = 1; !fixed && !(found->any && !found->overloaded) &&
                                 domains <= DOMAINS_MOST; domains *= 2)
            if (rule < LAYOUT_ANY &&
                !choose_within(choice, 1, fmax(products, fmin(choice->servers.domain * domains,
                                                              choice->servers.chips_most)), found))
                return false;
        if (found->any)
            return true;
    }
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------------- */

static bool one_of(const char *row, const char *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(row, rows[i]))
            return true;
    return false;
}

static bool varies_layout(const struct scenario *scenario)
{
    return varies_one(scenario, layout_rows, LAYOUT_ROWS) || scenario_varies(scenario, NAME_tensor_parallel);
}

/* Must `row` stay open because a curve varies it? A curve over a row of the load keeps the chosen layout
 * and leaves all rows of the load open; a curve over a row of the layout keeps the load and the chunks. */
static bool held_open(const struct choice *choice, const char *row)
{
    const struct scenario *scenario = choice->scenario;
    const bool load = one_of(row, load_rows, LOAD_ROWS) || !strcmp(row, NAME_replicas);
    return load ? varies_one(scenario, load_rows, LOAD_ROWS)
                : strcmp(row, NAME_chunked_prefill_size) != 0 && varies_layout(scenario);
}

void scenario_hold(struct scenario *scenario)
{
    static const char *const open_rows[] = { NAME_attention_dp, NAME_pipeline_parallel, NAME_expert_parallel,
                                             NAME_chips, NAME_chunked_prefill_size, NAME_replicas };
    enum { OPEN_ROWS = sizeof open_rows / sizeof *open_rows };
    double values[OPEN_ROWS];
    if (!scenario->choice.made ||
        (scenario->choice.fits && !varies_one(scenario, load_rows, LOAD_ROWS) && !varies_layout(scenario)))
        return;
    for (int i = 0; i < OPEN_ROWS; i++)
        values[i] = settled(scenario, open_rows[i]) ? NAN : value_or_nan(scenario, open_rows[i]);
    for (int i = 0; i < OPEN_ROWS; i++)
        if (isfinite(values[i]))
            facts_set(&scenario->facts, open_rows[i], values[i], ORIGIN_CHOSEN, "held");
}

bool scenario_batch_follows(const struct scenario *scenario, const char *const *texts, size_t count)
{
    struct scenario open = *scenario;
    struct values one, many;
    struct error ignored;
    const bool pauses = scenario_varies(scenario, NAME_think_time);
    const int first = first_open(scenario, pauses);
    if (!scenario->choice.made || !scenario->choice.fits || settled(scenario, NAME_batch) ||
        (!pauses && !varies_one(scenario, load_rows + first, LOAD_ROWS - first)))
        return false;
    open.facts = facts_copy(&scenario->facts);
    facts_set(&open.facts, scenario->axis, 1, ORIGIN_AXIS, "axis");
    facts_set(&open.facts, NAME_batch, 1, ORIGIN_CHOSEN, "axis");
    bool known = values_of(&open, texts, count, &one, &ignored), moves = false;
    facts_set(&open.facts, NAME_batch, 64, ORIGIN_CHOSEN, "axis");
    known = known && values_of(&open, texts, count, &many, &ignored);
    for (size_t i = 0; i < count && known; i++)
        moves |= memcmp(&one.at[i], &many.at[i], sizeof one.at[i]) != 0;
    return moves;
}

/* As `record` sets it. */
const char *scenario_at_batch(const struct scenario *scenario, const char *text)
{
    return arena_print(scenario->arena, "AT(%s, " NAME_batch " = max(1, " NAME_replica_batch "))", text);
}

static void set_chosen(struct choice *choice, const char *row, double value)
{
    if (!settled(choice->scenario, row) && !held_open(choice, row))
        facts_set(&choice->scenario->facts, row, value, ORIGIN_CHOSEN, choice->rule);
}

/* "TPOT within 50 ms, TTFT within 2 s". */
static const char *limits_text(const struct choice *choice)
{
    struct arena *arena = choice->scenario->arena;
    const char *tpot = quantity_text(arena, choice->servers.tpot, unit_second, 9);
    if (choice->ttft_missed > 0)
        return arena_print(arena, "TPOT within %s (none meets it with TTFT within %s)", tpot,
                           quantity_text(arena, choice->ttft_missed, unit_second, 9));
    return arena_print(arena, "TPOT within %s, TTFT within %s", tpot,
                       quantity_text(arena, choice->servers.ttft, unit_second, 9));
}

/* "the best startable layout per GPU with TPOT within 50 ms, TTFT within 2 s". */
static const char *rule_text(const struct choice *choice, const struct found *found)
{
    struct arena *arena = choice->scenario->arena;
    static const char *const kinds[] = {
        [LAYOUT_STARTABLE] = "startable layout", [LAYOUT_EVEN] = "evenly divided layout (none of these packs into hosts)",
        [LAYOUT_ANY] = "layout (no engine can start one of this size)" };
    const char *kind = kinds[choice->servers.rule];
    const struct calibrated *calibrated = choice->scenario->calibrated;
    const struct fact *chips = facts_find(&choice->scenario->facts, NAME_chips);
    if (!found->any)
        return "nothing fits";
    if (calibrated && chips && chips->source && !strcmp(chips->source, calibrated->file))
        return "that of the measured server";
    if (!found->met)
        return arena_print(arena, "the %s that comes nearest to %s; it misses by a factor of %.*g", kind,
                           limits_text(choice), found->miss_by < 1.005 ? 6 : 3, found->miss_by);
    const bool least = choice_by_size(choice) || choice->servers.by_demand;
    return arena_print(arena, "the %s %s%s with %s", least ? "smallest" : "best", kind, least ? "" : " per GPU",
                       limits_text(choice));
}

/* Nothing fits: assume one sequence, so that the answer can say how much memory is missing. */
static void choose_nothing(struct choice *choice)
{
    choice->rule = "nothing fits";
    if (choice->load < 0)
        set_chosen(choice, NAME_batch, 1);
}

/* Two notes: "layout: 8 GPUs, TP 1 x DP 8, chunks of 512, 14.78 requests/s:", and the rule. */
static void note_choice(struct choice *choice, const struct found *found)
{
    struct scenario *scenario = choice->scenario;
    struct buffer out = { .arena = scenario->arena };
    const double *layout = found->layout;
    buffer_print(&out, "layout: %.0f GPU%s, TP %.0f", layout[0], layout[0] > 1 ? "s" : "",
                 layout[0] / layout[1] / layout[2]);
    if (layout[1] > 1)
        buffer_print(&out, " x DP %.0f", layout[1]);
    if (layout[2] > 1)
        buffer_print(&out, " x PP %.0f", layout[2]);
    if (layout[3] > 1)
        buffer_print(&out, " x EP %.0f", layout[3]);
    if (found->chunk > 0)
        buffer_print(&out, ", chunks of %.0f", found->chunk);
    const bool users = scenario_varies(scenario, NAME_users);
    if (users)
        buffer_print(&out, ", 1 replica for all users");
    else if (found->replicas > 1)
        buffer_print(&out, ", %.0f replicas", found->replicas);
    if (found->rate > 0 && !users)
        buffer_print(&out, ", %s requests/s", count_text(scenario->arena, found->rate, 4));
    facts_note(&scenario->facts, "%s:", out.data);
    facts_note(&scenario->facts, "  %s", choice->rule);
}

/* Make the found setting facts of the scenario, and set its batch from the load that it runs at. */
static bool record(struct choice *choice, const struct found *found)
{
    struct scenario *scenario = choice->scenario;
    double running;
    choice->rule = rule_text(choice, found);
    scenario->choice = (struct server_choice){ true, found->any, found->met, choice->servers.rule != LAYOUT_ANY, found->miss_by,
                                               choice->ttft_missed, choice->rule };
    if (!found->any) {
        choose_nothing(choice);
        return true;
    }
    for (int i = 0; i < LAYOUT_ROWS; i++)
        set_chosen(choice, layout_rows[i], found->layout[i]);
    note_choice(choice, found);
    if (found->chunk > 0)
        set_chosen(choice, NAME_chunked_prefill_size, found->chunk);
    if (found->replicas > 0)
        set_chosen(choice, NAME_replicas, found->replicas);
    if (found->rate > 0)
        set_chosen(choice, NAME_arrival_rate, found->rate);
    if (choice->load >= 0 && choice->load < first_open(scenario, false))
        return true;
    if (found->batch > 0)
        running = found->batch;
    else if (!value_of(scenario, NAME_replica_batch, &running, choice->error))
        return false;
    set_chosen(choice, NAME_batch, fmax(1, running));
    return true;
}

/* A training fleet does not take the degrees that are chosen for a server of the same model. Without a word from
 * the user a degree is 1. */
static void choose_degrees(struct scenario *scenario)
{
    static const char *const rule = "a training fleet without degrees";
    for (int i = 1; i < LAYOUT_ROWS - 1; i++)
        if (!settled(scenario, layout_rows[i]))
            facts_set(&scenario->facts, layout_rows[i], 1, ORIGIN_CHOSEN, rule);
    const bool sized = settled(scenario, NAME_chips), tensor = given(scenario, NAME_tensor_parallel);
    if (!sized && !tensor)
        facts_bind(&scenario->facts, NAME_chips, NAME_attention_dp " * " NAME_pipeline_parallel, ORIGIN_CHOSEN, rule);
    facts_note(&scenario->facts, sized && !tensor ?
               "--gpus splits the model; --set training_chips=N is the training fleet (`chalkline train` finds a layout)" :
               "degrees of the training fleet that are not given are 1 (--tp, --pp, --ep; `chalkline train` finds them)");
}

bool scenario_choose(struct scenario *scenario, const char *const *texts, size_t count, struct error *error)
{
    struct choice choice = { .scenario = scenario, .error = error };
    struct found found = { .any = false };
    bool open, trains;
    if (!scenario->model || !scenario->machine || scenario->choice.made)
        return true;
    calibrated_layout(scenario);
    const bool person = by_layers(scenario) && one_conversation(scenario);
    if (!reads_open(scenario, texts, count, &open, &trains, error))
        return false;
    if (open && trains) {
        choose_degrees(scenario);
        return true;
    }
    if (!open) {
        published_set_distance(scenario);
        return true;
    }
    if (!open_trial(&choice))
        return false;
    choice.servers = (struct servers){ .arena = scenario->arena, .scenario = &choice.trial, .tell_rate = true,
                                       .own_rows = command_given(scenario->command, "rows") };
    if (by_layers(scenario))
        split_by_layers(&choice, person);
    choice.servers.tensor = choice.tensor;
    given_number(scenario, NAME_draft_tokens, &choice.servers.draft_most);
    if (!servers_read(&choice.servers, error) || !choose_of(&choice, &found))
        return false;
    /* A usual TTFT gives way, the speed does not; of requests in flight, which may wait for each
     * other as long as they like, neither does; but a person waits for llama.cpp. */
    if (found.any && !found.met && !given(scenario, NAME_ttft_limit) &&
        (choice.load < 0 || choice.load > PER_REPLICA || by_layers(scenario))) {
        choice.ttft_missed = choice.servers.ttft;
        choice.servers.ttft = INFINITY;
        if (!choose_of(&choice, &found))
            return false;
    }
    if (person && !found.any && !given(scenario, NAME_chips) && choice.chips == 1) {
        facts_set(&scenario->facts, NAME_chips, 1, ORIGIN_CHOSEN, "one GPU");
        facts_note(&scenario->facts, "one GPU, as `can` takes it: --gpus N for several, with layers of the model on each");
    }
    if (!record(&choice, &found))
        return false;
    published_set_distance(scenario);
    return true;
}
