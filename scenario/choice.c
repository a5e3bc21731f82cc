/* The server that a command leaves open.
 *
 * 1. Do the asked rows depend on a layout or a load that nobody gave? If not, nothing is chosen.
 * 2. Layouts that engines can start, of what was given, up to a scale-up domain; where not even
 *    one sequence fits, up to 2, 4, 8 of them. Where none of what was given can be started, those
 *    that come out even, then any.
 * 3. With no load given, each layout at each load (servers.h); with requests a second, as many
 *    replicas as these need; with requests in flight, each layout at that concurrency.
 * 4. Of those within the limits the one with most tokens for its rent; without a price the one
 *    with the fewest chips. If none is and the load is open, a TTFT that is only usual is given up;
 *    if still none is, the one that misses the limits by the least.
 * 5. What was chosen are facts with origin CHOSEN, whose source is the rule. */
#include "scenario/servers.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUT_ROWS = 4, LOAD_ROWS = 6, DOMAINS_MOST = 8 };
static const char *const layout_rows[LAYOUT_ROWS] = { NAME_chips, NAME_attention_dp,
                                                      NAME_pipeline_parallel, NAME_expert_parallel };
/* Loads that a user may give: of a closed loop, then of an open one. */
static const char *const load_rows[LOAD_ROWS] = { NAME_batch, NAME_concurrency, NAME_users,
                                                  NAME_arrival_rate, NAME_demand,
                                                  NAME_tokens_per_day };
enum { CLOSED_ROWS = 3, PER_REPLICA = 3 };          /* NAME_arrival_rate is of one replica */

struct choice {
    struct scenario *scenario;      /* whose facts the choice becomes */
    struct scenario trial;          /* a copy, in which layout and load are inputs */
    struct error *error;
    int load;                       /* of load_rows, that was given; -1: none */
    bool replicas_given, priced;
    double chips, tensor;           /* given, or 0 */
    struct servers servers;
    double ttft_missed;             /* a usual limit that nothing keeps, or 0 */
    const char *rule;
};

/* The server that a search found. */
struct found {
    bool any, met;
    bool overloaded;                /* requests come faster than they are served */
    double miss_by;
    double layout[LAYOUT_ROWS];
    double chunk;                   /* 0: not chosen */
    double rate, batch, replicas;   /* requests a second of one replica, sequences of one pass; 0:
                                       follow from what was given */
};

/* ---- does anything have to be chosen? --------------------------------------------------------------------- */

static bool given(const struct scenario *scenario, const char *row)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return fact && (fact->origin == ORIGIN_GIVEN || fact->origin == ORIGIN_AXIS);
}

static bool settled(const struct scenario *scenario, const char *row)
{
    const struct fact *fact = facts_find(&scenario->facts, row);
    return fact && (fact_given(fact) || fact->origin >= ORIGIN_CHOSEN);
}

static int load_given(const struct scenario *scenario)
{
    for (int i = 0; i < LOAD_ROWS; i++)
        if (settled(scenario, load_rows[i]))
            return i;
    return -1;
}

/* Do the expressions depend on a row of the layout or the load that has no value yet? */
static bool reads_open(struct scenario *scenario, const char *const *texts, size_t count,
                       bool *open, struct error *error)
{
    const struct book *book = &scenario->book;
    const struct expr **wanted = arena_array(scenario->arena, count + 1, sizeof *wanted);
    bool *reached = arena_array(scenario->arena, book->count + 1, sizeof *reached);
    *open = false;
    for (size_t i = 0; i < count; i++)
        if (!expr_parse(book, NULL, 0, text_of(texts[i]), &wanted[i], error))
            return false;
    if (!list_reach(book, &scenario->facts, wanted, count, reached, error))
        return false;
    const bool load = load_given(scenario) >= 0;
    for (int i = 0; i < LAYOUT_ROWS - 1; i++)
        *open |= reached[book_find(book, layout_rows[i])] && !settled(scenario, layout_rows[i]);
    for (int i = 0; i < LOAD_ROWS && !load; i++)
        *open |= reached[book_find(book, load_rows[i])];
    *open |= reached[book_find(book, NAME_batch)] && !settled(scenario, NAME_batch);
    return true;
}

/* ---- a copy to try layouts on ---------------------------------------------------------------- */

static bool whole_chips(struct choice *choice)
{
    const struct fact *fact = facts_find(&choice->scenario->facts, NAME_chips);
    if (!given_number(choice->scenario, NAME_chips, &choice->chips) ||
        choice->chips == floor(choice->chips))
        return true;
    error_set(choice->error, "%s: '%.12g' is not a whole number of GPUs", fact->source,
              choice->chips);
    return error_hint(choice->error, "1, 2, 4, 8, ...");
}

static bool open_trial(struct choice *choice)
{
    struct scenario *scenario = choice->scenario;
    const struct fact *price = facts_find(&scenario->facts, NAME_chip_price);
    choice->priced = price && (price->expression || price->value > 0);
    choice->load = load_given(scenario);
    choice->replicas_given = settled(scenario, NAME_replicas);
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

/* ---- no load, or requests a second ------------------------------------------------------------- */

/* All settings, evaluated together, each at a load of its own. */
struct sweepers {
    const struct search_space *space;
    struct column *inputs;          /* of the space's graph */
    struct list_program *program;
    double *load;                   /* [settings] */
    double *out[SERVERS_ALL];       /* [settings] */
};

static void open_columns(struct arena *arena, const struct search_space *space,
                         struct sweepers *all)
{
    const size_t count = space->setting_count;
    all->space = space;
    all->inputs = arena_array(arena, space->list.input_count + 1, sizeof *all->inputs);
    all->load = arena_array(arena, count, sizeof *all->load);
    for (int i = 0; i < SERVERS_ALL; i++)
        all->out[i] = arena_array(arena, count, sizeof *all->out[i]);
    for (size_t k = 0; k < space->inputs; k++) {
        double *column = arena_array(arena, count, sizeof *column);
        for (size_t i = 0; i < count; i++)
            column[i] = space->settings[i * space->inputs + k];
        if (space->input[k] != SEARCH_UNREAD)
            all->inputs[space->input[k]] = (struct column){ column, 1 };
    }
    if (space->column != SEARCH_UNREAD)
        all->inputs[space->column] = (struct column){ all->load, 1 };
    all->program = list_program_make(arena, list_run_set(), &space->list, all->inputs);
}

/* The largest ratio of an output to its limit: above 1 a limit is broken. Infinite where the load
 * does not fit in the cache. */
static double worst_of(const struct sweepers *all, size_t setting)
{
    const struct search_space *space = all->space;
    double worst = 0;
    for (size_t l = 0; l < space->limit_count; l++)
        worst = fmax(worst, all->out[space->limits[l].output][setting] / space->limits[l].bound);
    return all->out[SERVERS_ROOM][setting] >= all->load[setting] ? worst : INFINITY;
}

/* The highest load of each setting at which the worst limit is at most `most`, by halving: limits
 * rise with the load but for ripples, of which near_ties takes care. */
static void raise_loads(struct sweepers *all, double most)
{
    const struct search_space *space = all->space;
    const size_t count = space->setting_count;
    size_t *low = calloc(2 * count, sizeof *low), *high = low + count;
    for (size_t i = 0; i < count; i++)
        high[i] = space->load_count;
    for (size_t span = space->load_count; span > 1; span = (span + 1) / 2) {
        for (size_t i = 0; i < count; i++)
            all->load[i] = space->loads[(low[i] + high[i]) / 2];
        list_program_run(all->program, all->inputs, all->out, count);
        for (size_t i = 0; i < count; i++)
            *(worst_of(all, i) <= most ? &low[i] : &high[i]) = (low[i] + high[i]) / 2;
    }
    for (size_t i = 0; i < count; i++)
        all->load[i] = space->loads[low[i]];
    list_program_run(all->program, all->inputs, all->out, count);
    free(low);
}

static void take_setting(const struct choice *choice, const struct sweepers *all, size_t setting,
                         struct found *found)
{
    const struct search_space *space = all->space;
    const double *values = space->settings + setting * space->inputs;
    memcpy(found->layout, values, sizeof found->layout);
    found->chunk = values[SERVERS_INPUTS - 1];
    found->any = true;
    if (choice->servers.by_demand) {
        found->replicas = all->out[SERVERS_REPLICAS][setting];
        return;
    }
    found->rate = rate_down(all->out[SERVERS_RATE][setting]);
    found->batch = fmax(1, all->load[setting] * values[1] / values[2]);     /* ranks, stages */
}

/* Is a setting, at its highest load within the limits, better than another? Without a price the
 * one with fewer chips is. */
static bool preferred(const struct choice *choice, const struct sweepers *all, size_t a, size_t b)
{
    const struct search_space *space = all->space;
    const double *chips = space->settings;
    const double more = chips[a * space->inputs] - chips[b * space->inputs];
    if (!choice->priced && !choice->servers.by_demand && more != 0)
        return more < 0;
    return all->out[SERVERS_WORTH][a] > all->out[SERVERS_WORTH][b];
}

/* Of some settings every load. */
static struct sweepers every_load(struct arena *arena, const struct sweepers *all,
                                  const bool *wanted, size_t *count)
{
    const struct search_space *space = all->space;
    struct search_space *points = arena_alloc(arena, sizeof *points);
    struct sweepers each;
    size_t settings = 0;
    for (size_t i = 0; i < space->setting_count; i++)
        settings += wanted[i];
    *points = *space;
    points->setting_count = *count = settings * space->load_count;
    double *at = arena_array(arena, *count * space->inputs + 1, sizeof *at);
    points->settings = at;
    for (size_t i = 0; i < space->setting_count; i++)
        for (size_t l = 0; wanted[i] && l < space->load_count; l++, at += space->inputs)
            memcpy(at, space->settings + i * space->inputs, space->inputs * sizeof *at);
    open_columns(arena, points, &each);
    for (size_t i = 0; i < *count; i++)
        each.load[i] = space->loads[i % space->load_count];
    list_program_run(all->program, each.inputs, each.out, *count);
    return each;
}

/* TTFT and TPOT have ripples of a few parts in a thousand along the load, where a prompt needs one
 * more pass or a product one more tile. A setting so near to the best that a ripple could lift it
 * is looked at at every load. */
static void near_ties(const struct choice *choice, const struct sweepers *all, double most,
                      size_t best, struct found *found)
{
    const double near = 0.97;
    struct arena scratch = arena_beside(choice->trial.arena);
    const struct search_space *space = all->space;
    bool *wanted = arena_array(&scratch, space->setting_count, sizeof *wanted);
    size_t count, top;
    const double worth = all->out[SERVERS_WORTH][best];
    for (size_t i = 0; i < space->setting_count; i++) {
        const double *chips = &space->settings[i * space->inputs];
        const bool smallest = choice->priced || choice->servers.by_demand ||
                              *chips == space->settings[best * space->inputs];
        wanted[i] = smallest && worst_of(all, i) <= most &&
                    all->out[SERVERS_WORTH][i] >= worth - (1 - near) * fabs(worth);
    }
    struct sweepers each = every_load(&scratch, all, wanted, &count);
    for (size_t i = top = 0; i < count; i++)
        if (worst_of(&each, i) <= most &&
            (worst_of(&each, top) > most || preferred(choice, &each, i, top)))
            top = i;
    take_setting(choice, &each, top, found);
    arena_free(&scratch);
}

/* The load is open: every layout, each at its highest load within the limits. */
static bool choose_open(struct choice *choice, struct found *found)
{
    struct arena *arena = choice->trial.arena;
    struct search_space space;
    struct sweepers all;
    if (!servers_space(&choice->servers, &space, choice->error))
        return false;
    const size_t count = space.setting_count;
    if (!count)
        return true;
    double nearest = INFINITY;
    open_columns(arena, &space, &all);
    for (size_t i = 0; i < count; i++)
        all.load[i] = space.loads[0];
    list_program_run(all.program, all.inputs, all.out, count);
    for (size_t i = 0; i < count; i++)
        nearest = fmin(nearest, worst_of(&all, i));
    if (!isfinite(nearest))
        return true;                                /* nothing fits */
    found->met = nearest <= 1;
    found->miss_by = nearest;
    const double most = found->met ? 1 : nearest * 1.01;
    raise_loads(&all, most);
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (worst_of(&all, i) <= most && (best == count || preferred(choice, &all, i, best)))
            best = i;
    near_ties(choice, &all, most, best, found);
    return true;
}

/* ---- a known load of one replica ------------------------------------------------------------------------ */

enum { CLOSED_FITS, CLOSED_TTFT, CLOSED_TPOT, CLOSED_WORTH, CLOSED_LOAD, CLOSED_PROMPTS, CLOSED_OUTPUTS };

struct candidates {
    double *columns[LAYOUT_ROWS];
    size_t count;
};

static bool list_candidates(struct choice *choice, struct candidates *candidates)
{
    struct arena *arena = choice->trial.arena;
    struct layouts layouts;
    double only[LAYOUT_ROWS];
    if (!servers_layouts(&choice->servers, &layouts, choice->error))
        return false;
    for (int i = 0; i < LAYOUT_ROWS; i++) {
        candidates->columns[i] = arena_array(arena, 2 * layouts.count + 1, sizeof(double));
        if (!given_number(choice->scenario, layout_rows[i], &only[i]))
            only[i] = NAN;
    }
    for (size_t i = 0; i < layouts.count; i++) {
        const struct layout *layout = &layouts.at[i];
        double ways[2];
        size_t count = layout_experts(choice->scenario, layout, ways);
        if (!isnan(only[3]))
            ways[0] = only[3], count = 1;
        for (size_t e = 0; e < count; e++) {
            const double values[LAYOUT_ROWS] = { layout->chips, layout->attention_dp,
                                                 layout->pipeline_parallel, ways[e] };
            bool wanted = !(choice->tensor > 0) || layout->chips / layout->attention_dp /
                                                   layout->pipeline_parallel == choice->tensor;
            for (int k = 0; k < LAYOUT_ROWS; k++)
                wanted &= isnan(only[k]) || only[k] == values[k];
            for (int k = 0; k < LAYOUT_ROWS && wanted; k++)
                candidates->columns[k][candidates->count] = values[k];
            candidates->count += wanted;
        }
    }
    return true;
}

/* The candidate within the limits that delivers the most tokens per chip; if there is none, the one
 * that misses them by the least. */
static void best_closed(const struct choice *choice, const struct candidates *candidates,
                        double *const *outputs, struct found *found)
{
    const double overloaded = 1e6;
    size_t best = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        if (!(outputs[CLOSED_FITS][i] > 0))
            continue;
        const double slow = fmax(outputs[CLOSED_TTFT][i] / choice->servers.ttft,
                                 outputs[CLOSED_TPOT][i] / choice->servers.tpot);
        const double busy = fmax(outputs[CLOSED_LOAD][i] / choice->servers.margin,
                                 outputs[CLOSED_PROMPTS][i]);   /* 0 in a closed loop */
        /* of the overloaded the least so comes first: their TPOT says only how many slots there are */
        const double miss = busy > 1 ? overloaded * busy : slow;
        const bool met = miss <= 1;
        const bool fewer = candidates->columns[0][i] < candidates->columns[0][best];
        const bool more = outputs[CLOSED_WORTH][i] > outputs[CLOSED_WORTH][best];
        bool better = !found->any || (met && !found->met) ||
                      (!met && !found->met && miss < found->miss_by);
        if (found->any && met && found->met)
            better = choice->priced ? more
                   : fewer || (candidates->columns[0][i] == candidates->columns[0][best] && more);
        if (!better)
            continue;
        best = i;
        found->any = true;
        found->met = met;
        found->miss_by = miss;
    }
    found->overloaded = found->miss_by >= overloaded;
    if (found->overloaded)
        found->miss_by /= overloaded;
    for (int k = 0; k < LAYOUT_ROWS && found->any; k++)
        found->layout[k] = candidates->columns[k][best];
}

static bool choose_closed(struct choice *choice, struct found *found)
{
    static const char *const texts[CLOSED_OUTPUTS] = {
        NAME_server_fits, NAME_predicted_ttft, NAME_predicted_tpot, NAME_throughput_per_chip,
        NAME_slots_load, NAME_prompts_share };
    struct arena *arena = choice->trial.arena;
    struct candidates candidates = { .count = 0 };
    struct values values;
    double *outputs[CLOSED_OUTPUTS];
    for (int i = 0; i < LAYOUT_ROWS; i++)
        facts_set(&choice->trial.facts, layout_rows[i], 1, ORIGIN_CHOSEN, "choice");
    if (!list_candidates(choice, &candidates))
        return false;
    if (!candidates.count)
        return true;
    if (!values_of(&choice->trial, texts, CLOSED_OUTPUTS, &values, choice->error))
        return false;
    struct column *inputs = arena_array(arena, values.list.input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < values.list.input_count; i++)
        inputs[i] = (struct column){ &values.inputs[i], 0 };
    for (int i = 0; i < LAYOUT_ROWS; i++) {
        const int input = list_input(&values.list, layout_rows[i]);
        if (input >= 0)
            inputs[input] = (struct column){ candidates.columns[i], 1 };
    }
    for (int i = 0; i < CLOSED_OUTPUTS; i++)
        outputs[i] = arena_array(arena, candidates.count, sizeof *outputs[i]);
    list_run(&values.list, inputs, outputs, candidates.count);
    best_closed(choice, &candidates, outputs, found);
    return true;
}

/* ---- what is within reach ----------------------------------------------------------------------- */

/* The best replica of `least` to `most` chips. */
static bool choose_within(struct choice *choice, double least, double most, struct found *found)
{
    struct servers *servers = &choice->servers;
    const bool whole = choice->load > PER_REPLICA;          /* a rate of all replicas */
    const bool known = choice->load >= 0 && (!whole || choice->replicas_given);
    *found = (struct found){ .any = false };
    servers->replica_least = least;
    servers->replica_most = most;
    servers->by_demand = whole && !choice->replicas_given;
    servers->chips = servers->by_demand ? 1e12 : most;
    if (known)                      /* what one replica has to take */
        return choose_closed(choice, found);
    servers_open_loop(&choice->trial.facts, "choice");
    return choose_open(choice, found);
}

/* Widens the rule, and the number of scale-up domains, until something fits; for a rate of requests
 * until something takes it. */
static bool choose_of(struct choice *choice, struct found *found)
{
    const bool fixed = choice->chips > 0;
    double products = 1, number;
    *found = (struct found){ .any = false };
    for (int i = 1; i < LAYOUT_ROWS - 1; i++)
        products *= given_number(choice->scenario, layout_rows[i], &number) ? number : 1;
    products *= choice->tensor > 0 ? choice->tensor : 1;
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
        if (row && !strcmp(row, rows[i]))
            return true;
    return false;
}

/* A curve along a row of the load holds the chosen layout and leaves the load open; a curve along a
 * row of the layout holds the load. */
static bool held_open(const struct choice *choice, const char *row)
{
    const char *axis = choice->scenario->axis;
    const bool load = one_of(row, load_rows, LOAD_ROWS) || !strcmp(row, NAME_replicas);
    return load ? one_of(axis, load_rows, LOAD_ROWS)
                : one_of(axis, layout_rows, LAYOUT_ROWS) || (axis && !strcmp(axis, NAME_tensor_parallel));
}

static void set_chosen(struct choice *choice, const char *row, double value)
{
    if (!settled(choice->scenario, row) && !held_open(choice, row))
        facts_set(&choice->scenario->facts, row, value, ORIGIN_CHOSEN, choice->rule);
}

static const char *limits_text(const struct choice *choice)
{
    struct arena *arena = choice->scenario->arena;
    const char *tpot = quantity_text(arena, choice->servers.tpot, unit_second, 4);
    if (choice->ttft_missed > 0)
        return arena_print(arena, "TPOT within %s (none has TTFT within %s)", tpot,
                           quantity_text(arena, choice->ttft_missed, unit_second, 4));
    return arena_print(arena, "TPOT within %s, TTFT within %s", tpot,
                       quantity_text(arena, choice->servers.ttft, unit_second, 4));
}

static const char *rule_text(const struct choice *choice, const struct found *found)
{
    struct arena *arena = choice->scenario->arena;
    static const char *const kinds[] = {
        [LAYOUT_STARTABLE] = "startable server", [LAYOUT_EVEN] = "server, which no host packs,",
        [LAYOUT_ANY] = "server, which no engine starts," };
    const char *kind = kinds[choice->servers.rule];
    if (!found->any)
        return "nothing fits";
    if (!found->met)
        return arena_print(arena, "the %s nearest to %s: %.3g x of it", kind, limits_text(choice),
                           found->miss_by);
    return arena_print(arena, "the %s %s with %s", choice->priced ? "cheapest" : "smallest", kind,
                       limits_text(choice));
}

/* Nothing fits: assume one sequence, so that the answer can say how much memory is missing. */
static void choose_nothing(struct choice *choice)
{
    choice->rule = "nothing fits";
    if (choice->load < 0)
        facts_set(&choice->scenario->facts, NAME_batch, 1, ORIGIN_CHOSEN, choice->rule);
}

/* "server: 8 GPUs, TP 1 x DP 8, 14.78 requests/s: RULE"; only what was chosen. */
static void note_choice(struct choice *choice, const struct found *found)
{
    struct scenario *scenario = choice->scenario;
    struct buffer out = { .arena = scenario->arena };
    const double *layout = found->layout;
    buffer_print(&out, "server: %.0f GPU%s, TP %.0f", layout[0], layout[0] > 1 ? "s" : "",
                 layout[0] / layout[1] / layout[2]);
    if (layout[1] > 1)
        buffer_print(&out, " x DP %.0f", layout[1]);
    if (layout[2] > 1)
        buffer_print(&out, " x PP %.0f", layout[2]);
    if (layout[3] > 1)
        buffer_print(&out, " x EP %.0f", layout[3]);
    if (found->chunk > 0)
        buffer_print(&out, ", chunks of %.0f", found->chunk);
    if (found->replicas > 1)
        buffer_print(&out, ", %.0f replicas", found->replicas);
    if (found->rate > 0)
        buffer_print(&out, ", %s requests/s", count_text(scenario->arena, found->rate, 4));
    facts_note(&scenario->facts, "%s:", out.data);
    facts_note(&scenario->facts, "  %s", choice->rule);
}

static bool record(struct choice *choice, const struct found *found)
{
    struct scenario *scenario = choice->scenario;
    double running;
    choice->rule = rule_text(choice, found);
    scenario->choice = (struct server_choice){ true, found->any, found->met, found->miss_by,
                                               choice->ttft_missed, choice->rule };
    if (!found->any) {
        choose_nothing(choice);
        return true;
    }
    for (int i = 0; i < LAYOUT_ROWS; i++)
        set_chosen(choice, layout_rows[i], found->layout[i]);
    note_choice(choice, found);
    if (found->chunk > 0)
        set_chosen(choice, NAME_prefill_size, found->chunk);
    if (found->replicas > 0)
        set_chosen(choice, NAME_replicas, found->replicas);
    if (found->rate > 0)
        set_chosen(choice, NAME_arrival_rate, found->rate);
    if (choice->load >= 0 && choice->load < CLOSED_ROWS)
        return true;
    if (found->batch > 0)
        running = found->batch;
    else if (!value_of(scenario, NAME_replica_batch, &running, choice->error))
        return false;
    set_chosen(choice, NAME_batch, fmax(1, running));
    return true;
}

bool scenario_choose(struct scenario *scenario, const char *const *texts, size_t count,
                     struct error *error)
{
    struct choice choice = { .scenario = scenario, .error = error };
    struct found found = { .any = false };
    bool open;
    if (!scenario->model || !scenario->machine || scenario->choice.made)
        return true;
    if (!reads_open(scenario, texts, count, &open, error))
        return false;
    if (!open)
        return true;
    if (!open_trial(&choice))
        return false;
    choice.servers = (struct servers){ .arena = scenario->arena, .scenario = &choice.trial,
                                       .tensor = choice.tensor, .tell_rate = true,
                                       .own_rows = command_given(scenario->command, "rows") };
    given_number(scenario, NAME_draft_tokens, &choice.servers.draft_most);
    if (!servers_read(&choice.servers, error) || !choose_of(&choice, &found))
        return false;
    /* A usual TTFT gives way, the speed does not; of requests in flight, which may wait for each
     * other as long as they like, neither does. */
    if (found.any && !found.met && !given(scenario, NAME_ttft_limit) &&
        (choice.load < 0 || choice.load > PER_REPLICA)) {
        choice.ttft_missed = choice.servers.ttft;
        choice.servers.ttft = INFINITY;
        if (!choose_of(&choice, &found))
            return false;
    }
    return record(&choice, &found);
}
