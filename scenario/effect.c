/* Does what the user gave act on what was asked?
 *
 * Everything else is held fixed, so that a select takes its branch: what stands in the
 * other branch does not act. A row that was given an expression is held as a number
 * here, so that it can be moved like an input. The expressions are asked one after
 * another until all options act, which the first few of them show in most questions. */
#include "scenario/basis.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* The graphs, for one set of facts, of the asked expressions and of the memory that the batch needs. */
struct reach {
    struct graph asked, room;
    const double *nodes;            /* [asked.count] values of its nodes */
};

struct effect_given {
    struct scenario *scenario;
    const char **wanted;
    size_t count;
    bool chosen;                    /* the batch was chosen for us, by cost and room */
    const bool *choice;             /* [rows] what a chosen server was chosen by; NULL: none was */
    struct reach reach;             /* as the facts are */
};

/* Values of its nodes at its inputs. */
static double *nodes_at(struct arena *arena, const struct graph *graph)
{
    double *inputs = arena_array(arena, graph->input_count + 1, sizeof *inputs);
    double *nodes = arena_array(arena, graph->count + 1, sizeof *nodes);
    for (size_t i = 0; i < graph->input_count; i++)
        inputs[i] = graph->inputs[i].value;
    graph_value(arena, graph, inputs, nodes, NULL);
    return nodes;
}

bool values_depend(struct arena *arena, const struct values *values, const char *input)
{
    const int at = graph_input(&values->graph, input);
    return at >= 0 && graph_moves(arena, &values->graph, values->nodes, (size_t)at);
}

bool graph_depends(struct arena *arena, const struct graph *graph, const char *input)
{
    int at = graph_input(graph, input);
    return at >= 0 && graph_moves(arena, graph, nodes_at(arena, graph), (size_t)at);
}

/* --engine sets what its sheet has. */
static bool from_engine(const struct scenario *scenario, const struct fact *fact)
{
    return scenario->subject.engine && fact->origin == ORIGIN_FITTED;
}

static bool by_user(const struct scenario *scenario, const struct fact *fact)
{
    return fact_given(fact) || from_engine(scenario, fact);
}

static bool reach_build(const struct effect_given *given, const struct facts *facts,
                        struct reach *reach)
{
    static const char *const room[] = { NAME_cached_tokens_that_fit };
    struct scenario *scenario = given->scenario, at = *scenario;
    struct values asked, fits;
    struct error ignored;
    at.facts = *facts;
    if (!values_known(&at, given->wanted, given->count, &asked, &ignored) ||
        (given->chosen && !values_known(&at, room, 1, &fits, &ignored)))
        return false;
    scenario->graphs = at.graphs;
    reach->asked = asked.graph;
    reach->nodes = asked.nodes;
    if (given->chosen)
        reach->room = fits.graph;
    return true;
}

/* The room has a max against nothing at all, which most inputs stay under. */
static bool room_moves(struct arena *arena, const struct graph *room, const char *input)
{
    int at = graph_input(room, input);
    double *values = arena_array(arena, room->input_count + 1, sizeof *values);
    double *gradient = arena_array(arena, room->input_count + 1, sizeof *gradient);
    for (size_t i = 0; i < room->input_count; i++)
        values[i] = room->inputs[i].value;
    graph_gradient(arena, room, 0, values, gradient);
    return at >= 0 && gradient[at] != 0;
}

static bool reaches(const struct effect_given *given, const struct reach *reach, const char *input)
{
    struct arena *arena = given->scenario->arena;
    int at = graph_input(&reach->asked, input);
    return (at >= 0 && graph_moves(arena, &reach->asked, reach->nodes, (size_t)at)) ||
           (given->chosen && room_moves(arena, &reach->room, input));
}

/* Do the rows by which a deployment was chosen read it? */
static bool chose(const struct effect_given *given, const struct fact *fact)
{
    const int row = formulas_find(&given->scenario->formulas, fact->name);
    return given->choice && row >= 0 && given->choice[row];
}

static bool fact_acts(const struct effect_given *given, const struct fact *fact)
{
    struct scenario *scenario = given->scenario;
    if (chose(given, fact))
        return true;
    struct facts held = scenario->facts;
    struct reach reach;
    struct error ignored;
    double value = 1;
    if (!fact->expression)
        return reaches(given, &given->reach, fact->name);
    value_of(scenario, fact->name, &value, &ignored);
    held.scalars = arena_array(scenario->arena, held.scalar_room, sizeof *held.scalars);
    memcpy(held.scalars, scenario->facts.scalars, held.scalar_count * sizeof *held.scalars);
    facts_set(&held, fact->name, value, fact->origin, fact->source);
    return !reach_build(given, &held, &reach) || reaches(given, &reach, fact->name);
}

/* The option as it was written: "--batch", "--set peak_flops". */
static const char *label_of(const struct scenario *scenario, const struct fact *fact)
{
    if (from_engine(scenario, fact))
        return "--engine";
    return strcmp(fact->source, "--set") ? fact->source
                                         : arena_print(scenario->arena, "--set %s",
                                                       fact->given_as ? fact->given_as : fact->name);
}

/* An option that sets several rows has an effect if one of them has. */
static bool label_acts(const struct effect_given *given, const char *label)
{
    const struct facts *facts = &given->scenario->facts;
    for (size_t i = 0; i < facts->scalar_count; i++) {
        const struct fact *fact = &facts->scalars[i];
        if (by_user(given->scenario, fact) && !strcmp(label_of(given->scenario, fact), label) &&
            fact_acts(given, fact))
            return true;
    }
    return false;
}

static const bool *read_choice(struct scenario *scenario)
{
    static const char *const rows[] = { NAME_predicted_ttft, NAME_predicted_tpot,
                                        NAME_throughput_per_chip, NAME_rank_running_max, NAME_slots_load,
                                        NAME_ttft_limit, NAME_tpot_limit, NAME_layout_startable };
    enum { ROWS = sizeof rows / sizeof *rows };
    const struct expr *wanted[ROWS];
    bool *reached = arena_array(scenario->arena, scenario->formulas.count + 1, sizeof *reached);
    struct error ignored;
    for (int i = 0; i < ROWS; i++)
        if (!expr_parse(&scenario->formulas, NULL, 0, text_of(rows[i]), &wanted[i], &ignored))
            return NULL;
    return graph_reach(&scenario->formulas, &scenario->facts, wanted, ROWS, reached, &ignored) ? reached
                                                                                           : NULL;
}

/* `values`: those of the texts, if the caller has them; else NULL. */
static bool read_wanted(struct effect_given *given, const char *const *texts, size_t count,
                        const struct values *values)
{
    struct scenario *scenario = given->scenario;
    const struct fact *batch = facts_find(&scenario->facts, NAME_batch);
    struct reach *reach = &given->reach;
    given->wanted = arena_array(scenario->arena, count + 1, sizeof *given->wanted);
    memcpy(given->wanted, texts, count * sizeof *texts);
    given->count = count;
    given->choice = scenario->choice.made ? read_choice(scenario) : NULL;
    given->chosen = batch && batch->origin == ORIGIN_CHOSEN && !given->choice;
    if (values && !given->chosen) {
        *reach = (struct reach){ .asked = values->graph, .nodes = values->nodes };
        return true;
    }
    if (!given->chosen)
        return reach_build(given, &scenario->facts, reach);
    given->wanted[given->count++] = NAME_bound_cost_per_token;
    if (!reach_build(given, &scenario->facts, reach))
        return false;
    reach->asked.output_count--;                /* the cost counts where the batch does */
    given->chosen = false;
    given->chosen = reaches(given, reach, NAME_batch);
    reach->asked.output_count += given->chosen;
    given->count -= !given->chosen;
    return true;
}

/* The options that were given, and which of them act. */
struct labels {
    const char **at;
    bool *acts;
    size_t count;
};

static void list_labels(struct scenario *scenario, struct labels *labels)
{
    const struct facts *facts = &scenario->facts;
    *labels = (struct labels){ arena_array(scenario->arena, facts->scalar_count + 1, sizeof *labels->at),
                               arena_array(scenario->arena, facts->scalar_count + 1, sizeof *labels->acts), 0 };
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (by_user(scenario, &facts->scalars[i])) {
            const char *label = label_of(scenario, &facts->scalars[i]);
            const size_t k = name_index(labels->at, labels->count, label);
            labels->at[k] = label;
            labels->count += k == labels->count;
        }
}

static bool all_act(const struct labels *labels)
{
    size_t idle = 0;
    for (size_t i = 0; i < labels->count; i++)
        idle += !labels->acts[i];
    return !idle;
}

/* Mark the options of which a number moves one of the expressions: each is asked of a graph that grows. */
static void act_early(struct scenario *scenario, const char *const *texts, size_t count, struct labels *labels)
{
    const struct facts *facts = &scenario->facts;
    struct values values;
    struct error ignored;
    for (size_t n = 0; n < count && !all_act(labels); n++) {
        if (!values_known(scenario, &texts[n], 1, &values, &ignored))
            return;
        for (size_t i = 0; i < facts->scalar_count; i++) {
            const struct fact *fact = &facts->scalars[i];
            const int input = by_user(scenario, fact) && !fact->expression ? graph_input(&values.graph, fact->name) : -1;
            bool *acts = input < 0 ? NULL : &labels->acts[name_index(labels->at, labels->count, label_of(scenario, fact))];
            if (acts && !*acts)
                *acts = graph_moves(scenario->arena, &values.graph, values.nodes, (size_t)input);
        }
    }
}

static size_t find_idle(struct scenario *scenario, const char *const *texts, size_t count,
                        const struct values *values, const char ***idle)
{
    struct effect_given given = { .scenario = scenario };
    struct labels labels;
    size_t found = 0;
    list_labels(scenario, &labels);
    if (!values)
        act_early(scenario, texts, count, &labels);
    *idle = labels.at;
    if (all_act(&labels) || !read_wanted(&given, texts, count, values))
        return 0;
    for (size_t i = 0; i < labels.count; i++)
        if (!labels.acts[i] && !label_acts(&given, labels.at[i]))
            labels.at[found++] = labels.at[i];
    return found;
}

size_t given_idle(struct scenario *scenario, const char *const *texts, size_t count,
                  const char ***labels)
{
    return find_idle(scenario, texts, count, NULL, labels);
}

void given_note_of(struct scenario *scenario, const char *const *texts, size_t count,
                   const struct values *values, const char *what)
{
    const char **labels;
    const size_t idle = find_idle(scenario, texts, count, values, &labels);
    for (size_t i = 0; i < idle; i++)
        facts_note(&scenario->facts, "%s has no effect on %s", labels[i], what);
}

void given_note(struct scenario *scenario, const char *const *texts, size_t count,
                const char *what)
{
    given_note_of(scenario, texts, count, NULL, what);
}
