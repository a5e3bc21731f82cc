/* Random plans, asked again.
 *
 * 1. Draw a question of `plan`: model and machine of the catalog, formats, GPUs, lengths, limits and
 *    sometimes a rate. None may be refused; those that nothing fits within the limits are counted.
 * 2. Of the best point and two more of the front, ask `eval` with the words that stand beside it for
 *    every figure, and `step` for those that it shows: they must have the same bits.
 * 3. Check on what `eval` says that TTFT, TPOT and GPUs are within the limits of the question, and
 *    that servers which prefill and decode fit, are stable and can be started.
 *
 * 4. Ask `eval` with the words of `check`, and with each --set left out: the figures are the point's, and none of the
 *    settings can be left out.
 *
 * 5. What the tokens of a point cost is the rent of the chips that are paid for.
 *
 * So a plan cannot promise what its own words do not give. */
#include "test.h"

#include "ask/ask.h"
#include "build/row_names.h"
#include "catalog/catalog.h"
#include "scenario/scenario.h"

#include <math.h>

enum { WORDS = 96, FIGURES = 128, POINTS = 3 };

struct words {
    const char *at[WORDS + FIGURES];
    size_t count;
};

struct limits {
    double ttft, tpot, gpus, spare; /* 0: not given */
};

struct tally {
    size_t plans, nothing, best, points, pools, packed, figures, stepped, settings, prices, wrong;
};

struct trial {
    struct arena arena;
    struct words question;
    struct limits limits;
    struct tally *tally;
};

static void add(struct words *words, const char *word)
{
    assert_true(words->count < COUNT(words->at));
    words->at[words->count++] = word;
}

static void add_once(struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], word))
            return;
    add(words, word);
}

/* A deviation, with the question that led to it. */
static void wrong(struct trial *trial, const char *what, double found, double wanted)
{
    struct buffer line = { .arena = &trial->arena };
    for (size_t i = 0; i < trial->question.count; i++)
        buffer_print(&line, " %s", trial->question.at[i]);
    print_message("chalkline%s\n    %s: %.17g, not %.17g\n", line.data, what, found, wanted);
    trial->tally->wrong++;
}

/* ---- questions ------------------------------------------------------------------------------- */

static double draw_log(uint64_t *state, double low, double high)
{
    return exp(draw_in(state, log(low), log(high)));
}

static size_t draw_below(uint64_t *state, size_t count)
{
    return (size_t)(draw(state) * (double)count);
}

static const char *draw_name(uint64_t *state, enum catalog_kind kind)
{
    const struct catalog *catalog = catalog_built_in();
    return catalog_entry(catalog, kind, draw_below(state, catalog_count(catalog, kind)))->name;
}

static void add_number(struct trial *trial, const char *option, const char *format, double value)
{
    add(&trial->question, option);
    add(&trial->question, arena_print(&trial->arena, format, value));
}

static void draw_question(struct trial *trial, uint64_t *state)
{
    static const char *const precisions[] = { NULL, NULL, "bf16", "fp8", "fp4" };
    static const double gpus[] = { 0, 1, 2, 4, 8, 8, 16, 24, 32, 72 };
    struct words *words = &trial->question;
    add(words, "plan");
    add(words, draw_name(state, CATALOG_MODEL));
    add(words, "--on");
    add(words, draw_name(state, CATALOG_MACHINE));
    const char *precision = precisions[draw_below(state, COUNT(precisions))];
    if (precision) {
        add(words, "--precision");
        add(words, precision);
    }
    if ((trial->limits.gpus = gpus[draw_below(state, COUNT(gpus))]) > 0)
        add_number(trial, "--gpus", "%.0f", trial->limits.gpus);
    add_number(trial, "--isl", "%.0f", draw_log(state, 50, 30000));
    add_number(trial, "--osl", "%.0f", draw_log(state, 2, 3000));
    if (draw(state) < 0.8) {
        trial->limits.ttft = floor(1000 * draw_log(state, 0.3, 20)) / 1000;
        add_number(trial, "--ttft", "%.17gs", trial->limits.ttft);
    }
    if (draw(state) < 0.8) {
        trial->limits.tpot = floor(10000 * draw_log(state, 0.005, 0.2)) / 10000;
        add_number(trial, "--tpot", "%.17gs", trial->limits.tpot);
    }
    const double load = draw(state);
    if (load < 0.3)
        add_number(trial, "--rate", "%.3g", draw_log(state, 0.1, 100));
    else if (load < 0.4)
        add_number(trial, "--users", "%.0f", draw_log(state, 1, 2000));
    if (trial->limits.gpus >= 24 && draw(state) < 0.2)
        add_number(trial, "--spare-hosts", "%.0f", trial->limits.spare = 1);
    if (trial->tally->plans % 4)                /* few machines have a price of their own */
        add(words, "--price"), add(words, "2USD/h");
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct doc *ask(struct arena *arena, const struct words *words, struct error *error)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    char *given[WORDS + FIGURES + 1] = { "chalkline" };
    for (size_t i = 0; i < words->count; i++)
        given[i + 1] = (char *)words->at[i];
    if (!command_read(arena, (int)words->count + 1, given, &command, error) ||
        !command.verb->ask(arena, &command, &answer, error))
        return NULL;
    return answer.doc;
}

static double number_in(const struct doc *doc, const char *key)
{
    const struct doc *found = doc_get(doc, key);
    return found && found->kind == DOC_NUMBER ? found->number : NAN;
}

/* What `eval` said of a row. */
static double evaluated(const struct doc *eval, const char *row)
{
    const struct doc *figure = doc_get(eval, row);
    return figure ? number_in(figure, "value") : NAN;
}

static void add_words(struct words *words, const struct doc *point)
{
    const struct doc *list = doc_get(point, "words");
    assert_non_null(list);
    for (const struct doc *word = list->first; word; word = word->next)
        add(words, word->string);
}

static bool is_figure(const struct doc *one)
{
    return one->kind == DOC_NUMBER && formulas_find(formulas_built_in(FORMULAS_ALL), one->key) >= 0;
}

/* NULL: the question was refused, which is a deviation. */
static struct doc *ask_or_fail(struct trial *trial, const struct words *words)
{
    struct error error;
    struct doc *doc = ask(&trial->arena, words, &error);
    if (doc)
        return doc;
    print_message("%s is refused: %s\n", words->at[0], error.what);
    wrong(trial, words->at[0], NAN, NAN);
    return NULL;
}

static void same_figures(struct trial *trial, const struct doc *point, const struct doc *eval,
                         const struct doc *step)
{
    for (const struct doc *one = point->first; one; one = one->next) {
        if (!is_figure(one))
            continue;
        const double again = evaluated(eval, one->key), stepped = number_in(step, one->key);
        trial->tally->figures++;
        if (!same_bits(one->number, again))
            wrong(trial, arena_print(&trial->arena, "eval %s", one->key), again, one->number);
        trial->tally->stepped += !isnan(stepped);
        if (!isnan(stepped) && !same_bits(one->number, stepped))
            wrong(trial, arena_print(&trial->arena, "step %s", one->key), stepped, one->number);
    }
}

static void at_most(struct trial *trial, const char *what, double value, double limit)
{
    if (!(value <= limit))
        wrong(trial, what, value, limit);
}

static void is_one(struct trial *trial, const struct doc *eval, const char *row)
{
    if (evaluated(eval, row) != 1)
        wrong(trial, row, evaluated(eval, row), 1);
}

static double chips_of(const struct doc *point)
{
    double chips = 0;
    for (const struct doc *one = doc_get(point, "servers")->first; one; one = one->next)
        chips += number_in(one, "count") * number_in(one, NAME_chips);
    return chips;
}

/* Hosts for the servers, the largest first, each on the first host with room; of more chips than a host has,
 * on hosts of its own. */
static double packed_hosts(struct trial *trial, const struct doc *point, double host)
{
    enum { SIZES = 4096 };
    double *room = arena_array(&trial->arena, SIZES, sizeof *room), whole = 0;
    size_t hosts = 0;
    for (double size = host; size >= 1; size--)
        for (const struct doc *one = doc_get(point, "servers")->first; one; one = one->next) {
            const double chips = number_in(one, NAME_chips), count = number_in(one, "count");
            if (size == host && chips >= host)
                whole += count * ceil(chips / host);
            for (double n = 0; chips == size && chips < host && n < count; n++) {
                size_t at = 0;
                while (at < hosts && room[at] < chips)
                    at++;
                assert_true(at < SIZES);
                room[at] = (at == hosts ? host : room[at]) - chips;
                hosts += at == hosts;
            }
        }
    return whole + (double)hosts;
}

/* It can be started, or no engine is known to run there; it breaks no rule, and packs into the hosts that are
 * paid for. */
static void check_hosts(struct trial *trial, const struct doc *point)
{
    const double host = number_in(point, NAME_host_chips), hosts = number_in(point, NAME_hosts);
    const double used = hosts - trial->limits.spare, chips = chips_of(point);
    if (doc_get(point, "startable")->boolean == (doc_get(point, "unknown") != NULL) || doc_get(point, "broken_rules")->count)
        wrong(trial, "startable", 0, 1);
    if (packed_hosts(trial, point, host) != used)
        wrong(trial, "hosts that the servers pack into", packed_hosts(trial, point, host), used);
    if (number_in(point, NAME_chips_paid) != hosts * host)
        wrong(trial, NAME_chips_paid, number_in(point, NAME_chips_paid), hosts * host);
    for (const struct doc *one = doc_get(point, "servers")->first; one; one = one->next)
        if (fmod(host, number_in(one, NAME_chips)) != 0 && fmod(number_in(one, NAME_chips), host) != 0)
            wrong(trial, "chips of a server on hosts", number_in(one, NAME_chips), host);
    if (trial->limits.gpus > 0)
        at_most(trial, "hosts", hosts, ceil(trial->limits.gpus / host));
    trial->tally->packed += chips > 0;
}

/* What all tokens of the deployment cost is its rent: the chips of all rented hosts at the price of a chip. */
static void check_price(struct trial *trial, const struct doc *eval, const struct doc *step, bool pools)
{
    static const char *const prices[2][3] = {
        { NAME_input_cost_per_token, NAME_output_cost_per_token, NAME_blended_cost_per_token },
        { NAME_pool_input_cost_per_token, NAME_pool_output_cost_per_token, NAME_pool_blended_cost_per_token } };
    const double in = evaluated(eval, NAME_prompt_tokens), out = evaluated(eval, NAME_output_tokens);
    const double rent = evaluated(eval, NAME_chip_price) * evaluated(eval, NAME_chips_paid);
    const double served = pools ? evaluated(eval, NAME_pool_served)
                                : evaluated(eval, NAME_replicas) * evaluated(eval, NAME_predicted_throughput);
    if (!(rent > 0))
        return;
    const double paid[] = { served / out * (in * evaluated(eval, prices[pools][0]) + out * evaluated(eval, prices[pools][1])),
                            served / out * (in + out) * evaluated(eval, prices[pools][2]),
                            evaluated(eval, NAME_deployment_rent),
                            pools ? rent : number_in(step, NAME_blended_cost_per_token) * served / out * (in + out),
                            evaluated(eval, NAME_used_gpu_cost_per_token) * served / out * (in + out) *
                            evaluated(eval, NAME_chips_paid) / evaluated(eval, NAME_servers_chips) };
    for (size_t i = 0; i < COUNT(paid); i++)
        if (!(fabs(paid[i] / rent - 1) < 1e-12))
            wrong(trial, "price x tokens over rent", paid[i], rent);
    trial->tally->prices++;
}

static void check_point(struct trial *trial, const struct doc *point)
{
    static const char *const of_price[] = {
        NAME_prompt_tokens, NAME_output_tokens, NAME_chip_price, NAME_chips_paid, NAME_deployment_rent, NAME_servers_chips,
        NAME_used_gpu_cost_per_token, NAME_predicted_throughput, NAME_pool_served, NAME_replicas };
    const bool pools = !strcmp(doc_get(point, "kind")->string, "pools");
    static const char *const of_both[] = { NAME_load_margin, NAME_deployment_chips, NAME_ttft_limit,
                                           NAME_tpot_limit };
    static const char *const of_kind[2][4] = {
        { NAME_stable, NAME_slots_load, NAME_replica_fits, NAME_layout_startable },
        { NAME_pool_prompts_share, NAME_pool_slots_load } };
    const char *ttft = pools ? NAME_disagg_deployment_ttft : NAME_predicted_ttft;
    const char *tpot = pools ? NAME_disagg_tpot : NAME_predicted_tpot;
    struct words eval_words = { { "eval" }, 1 }, step_words = { { "step" }, 1 };
    for (const struct doc *one = point->first; one; one = one->next)
        if (is_figure(one))
            add(&eval_words, one->key);
    for (size_t i = 0; i < 4; i++)
        add_once(&eval_words, of_both[i]);
    for (size_t i = 0; i < 4 && of_kind[pools][i]; i++)
        add_once(&eval_words, of_kind[pools][i]);
    for (size_t i = 0; i < COUNT(of_price); i++)
        add_once(&eval_words, of_price[i]);
    add_words(&eval_words, point);
    add_words(&step_words, point);
    const struct doc *eval = ask_or_fail(trial, &eval_words), *step = ask_or_fail(trial, &step_words);
    trial->tally->points++;
    trial->tally->pools += pools;
    if (!eval || !step)
        return;
    same_figures(trial, point, eval, step);
    check_hosts(trial, point);
    check_price(trial, eval, step, pools);
    at_most(trial, "TTFT", evaluated(eval, ttft), evaluated(eval, NAME_ttft_limit));
    at_most(trial, "TPOT", evaluated(eval, tpot), evaluated(eval, NAME_tpot_limit));
    if (trial->limits.ttft > 0)
        at_most(trial, "TTFT as given", evaluated(eval, ttft), trial->limits.ttft);
    if (trial->limits.tpot > 0)
        at_most(trial, "TPOT as given", evaluated(eval, tpot), trial->limits.tpot);
    const double chips = evaluated(eval, NAME_deployment_chips);
    if (chips_of(point) != chips)
        wrong(trial, "chips of the servers", chips_of(point), chips);
    if (trial->limits.gpus > 0)
        at_most(trial, NAME_deployment_chips, chips, trial->limits.gpus);
    if (pools) {
        at_most(trial, NAME_pool_prompts_share, evaluated(eval, NAME_pool_prompts_share), 1);
        at_most(trial, NAME_pool_slots_load, evaluated(eval, NAME_pool_slots_load),
                evaluated(eval, NAME_load_margin));
        return;
    }
    is_one(trial, eval, NAME_stable);
    is_one(trial, eval, NAME_replica_fits);
    is_one(trial, eval, NAME_layout_startable);
    at_most(trial, NAME_slots_load, evaluated(eval, NAME_slots_load),
            evaluated(eval, NAME_load_margin));
}

enum { CHECK_ROWS = 3 };

static bool same_rows(const struct doc *eval, const struct doc *other, const struct words *words)
{
    for (size_t i = 1; i <= CHECK_ROWS; i++)
        if (!same_bits(evaluated(eval, words->at[i]), evaluated(other, words->at[i])))
            return false;
    return true;
}

static void check_shortest(struct trial *trial, const char *check, const struct doc *best)
{
    struct words words = { .count = 0 };
    char *rest = arena_print(&trial->arena, "%s", check + strlen("chalkline "));
    for (const char *word; rest && *rest; add(&words, word)) {     /* an expression of several words is in quotes */
        word = strsep(&rest, *rest == '\'' ? rest++, "'" : " ");
        rest += rest && *rest == ' ';
    }
    const struct doc *eval = ask_or_fail(trial, &words);
    for (size_t i = 1; i <= CHECK_ROWS && eval; i++)
        if (!same_bits(evaluated(eval, words.at[i]), number_in(best, words.at[i])))
            wrong(trial, words.at[i], evaluated(eval, words.at[i]), number_in(best, words.at[i]));
    for (size_t k = 0; k + 1 < words.count && eval; k++) {
        struct words less = { .count = 0 };
        struct error ignored;
        if (strcmp(words.at[k], "--set") || !strcmp(words.at[k + 1], "open_loop=1"))
            continue;                           /* what follows from an open loop is chosen with it, needed or not */
        for (size_t i = 0; i < words.count; i++)
            if (i != k && i != k + 1)
                add(&less, words.at[i]);
        const struct doc *again = ask(&trial->arena, &less, &ignored);
        trial->tally->settings++;
        if (again && same_rows(eval, again, &words))
            wrong(trial, arena_print(&trial->arena, "needless: %s", words.at[k + 1]), 1, 0);
    }
}

static void check_plan(struct trial *trial, uint64_t *state)
{
    const struct doc *answer = ask_or_fail(trial, &trial->question);
    trial->tally->plans++;
    if (!answer)
        return;
    const struct doc *best = doc_get(answer, "best"), *front = doc_get(answer, "front");
    assert_non_null(best);
    if (best->kind == DOC_NULL) {
        trial->tally->nothing++;
        return;
    }
    size_t count = 0;
    trial->tally->best++;
    check_point(trial, best);
    check_shortest(trial, doc_get(answer, "check")->string, best);
    for (const struct doc *one = front->first; one; one = one->next)
        count++;
    for (int k = 1; k < POINTS && count > 1; k++) {
        const struct doc *one = front->first;
        for (size_t skip = 1 + draw_below(state, count - 1); skip > 0; skip--)
            one = one->next;
        check_point(trial, one);
    }
}

static void plans_keep_their_word(void **state)
{
    (void)state;
    struct tally tally = { 0 };
    uint64_t seed = 16;
    for (int i = 0; i < rounds(50); i++) {
        struct trial trial = { .tally = &tally };
        draw_question(&trial, &seed);
        check_plan(&trial, &seed);
        arena_free(&trial.arena);
    }
    print_message("%zu plans: %zu with nothing within the limits, %zu with a best\n"
                  "%zu points (%zu of two pools, %zu packed into hosts), %zu figures asked again, %zu of them of "
                  "`step` too; %zu settings of `check` left out; %zu prices: %zu deviations\n",
                  tally.plans, tally.nothing, tally.best, tally.points, tally.pools, tally.packed,
                  tally.figures, tally.stepped, tally.settings, tally.prices, tally.wrong);
    assert_true(tally.best >= tally.plans / 5);
    assert_int_equal(tally.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(plans_keep_their_word) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
