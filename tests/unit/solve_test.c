/* Answers in intervals. Planted equations have their solutions in closed form: roots, places that
 * are touched, plateaus, jumps, poles, ends of the range. Equations over the rows of real scenarios
 * are scanned point by point (10^6 points with CHALKLINE_LONG, else fewer), and each root is halved
 * in again. The lecture's statements, published beside the tree, are solved for the inputs of their
 * decks. Runs in the root of the tree. */
#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"

#include <float.h>
#include <math.h>

/* ---- planted ------------------------------------------------------------------------------- */

enum { SOME = 6 };

struct expected {
    double low, high;
    bool open_low, open_high;
};

struct planted {
    const char *f;
    double low, high;
    size_t count;
    struct expected at[SOME];
    size_t jumps;
    double jump[SOME];
    enum relation relation;
};

#define NONE { 0, 0, false, false }
#define ROOT(x) { x, x, false, false }
#define BETWEEN(a, b) { a, b, false, false }
#define FROM(a, b) { a, b, false, true }        /* to the end of the range */
#define UP_TO(a, b) { a, b, true, false }
#define ANY(a, b) { a, b, true, true }
#define SQRT5 2.2360679774997896964

static const struct planted planted[] = {
    /* plateaus */
    { "max(x, 4) - 4", 0, 10, 1, { UP_TO(0, 4) }, 0, { 0 }, 0 },
    { "min(x, 4) - 4", 0, 10, 1, { FROM(4, 10) }, 0, { 0 }, 0 },
    { "min(max(x, 2), 7) - 2", 0, 10, 1, { UP_TO(0, 2) }, 0, { 0 }, 0 },
    { "min(max(x, 2), 7) - 7", 0, 10, 1, { FROM(7, 10) }, 0, { 0 }, 0 },
    { "max(0, x - 6) + min(0, x - 3)", 0, 10, 1, { BETWEEN(3, 6) }, 0, { 0 }, 0 },
    { "x / max(x, 100 + x / 2) - 1", 1, 1e9, 1, { FROM(200, 1e9) }, 0, { 0 }, 0 },
    { "3 * x / max(3 * x, 1000 + x) - 1", 1, 1e9, 1, { FROM(500, 1e9) }, 0, { 0 }, 0 },
    { "max(x, 1000) / x - 1", 1, 1e9, 1, { FROM(1000, 1e9) }, 0, { 0 }, 0 },
    { "1 + max(0, x - 1) * max(0, x - 1) - 1", 0, 10, 1, { UP_TO(0, 1) }, 0, { 0 }, 0 },
    { "7 + pow(max(0, 3 - x), 3) - 7", 0, 10, 1, { FROM(3, 10) }, 0, { 0 }, 0 },
    { "exp(max(0, x - 2)) - 1", 0, 10, 1, { UP_TO(0, 2) }, 0, { 0 }, 0 },
    { "(x + 1) / (2 * x + 2) - 0.5", 1, 1e6, 1, { ANY(1, 1e6) }, 0, { 0 }, 0 },
    { "sqrt(x * x) / x - 1", 1, 1e6, 1, { ANY(1, 1e6) }, 0, { 0 }, 0 },
    { "0.1 + 0.2 + max(0, x - 5) - 0.3", 0, 10, 1, { UP_TO(0, 5) }, 0, { 0 }, 0 },
    { "abs(x - 2) + abs(x - 5) - 3", 0, 10, 1, { BETWEEN(2, 5) }, 0, { 0 }, 0 },
    { "max(x, 2) * min(x, 2) - 2 * x", 0, 10, 1, { ANY(0, 10) }, 0, { 0 }, 0 },
    { "select(x < 4, x - 1, 3) - 3", 0, 10, 1, { FROM(4, 10) }, 0, { 0 }, 0 },
    { "max(0, 1 - x) - max(0, x - 8)", 0, 10, 1, { BETWEEN(1, 8) }, 0, { 0 }, 0 },
    { "max(0, 1 - abs(x - 3)) * (x - 3)", 0, 10, 3, { UP_TO(0, 2), ROOT(3), FROM(4, 10) }, 0, { 0 }, 0 },
    { "min(0, (x - 2) * (x - 3)) + max(0, x - 8)", 0, 10, 2, { UP_TO(0, 2), BETWEEN(3, 8) }, 0, { 0 }, 0 },
    /* whole steps: closed where they begin, open where the next begins */
    { "floor(x) - 2", 0, 10, 1, { { 2, 3, false, true } }, 0, { 0 }, 0 },
    { "ceil(x) - 2", 0, 10, 1, { { 1, 2, true, false } }, 0, { 0 }, 0 },
    { "ceil(x / 8) - 9", 1, 1e4, 1, { { 64, 72, true, false } }, 0, { 0 }, 0 },
    { "select(x <= 3, 0, select(x < 6, 1, 0))", 0, 10, 2, { UP_TO(0, 3), FROM(6, 10) }, 0, { 0 }, 0 },
    /* touched and not crossed */
    { "x * x - 2 * x + 1", 0, 10, 1, { ROOT(1) }, 0, { 0 }, 0 },
    { "(x - 3) * (x - 3)", 0, 10, 1, { ROOT(3) }, 0, { 0 }, 0 },
    { "x + 4 / x - 4", 0.1, 100, 1, { ROOT(2) }, 0, { 0 }, 0 },
    { "exp(x - 3) - x + 2", 0, 10, 1, { ROOT(3) }, 0, { 0 }, 0 },
    { "abs(x - 7)", 0, 10, 1, { ROOT(7) }, 0, { 0 }, 0 },
    { "max(3 - x, x - 3)", 0, 10, 1, { ROOT(3) }, 0, { 0 }, 0 },
    { "log(x) + 1 / x - 1", 0.01, 100, 1, { ROOT(1) }, 0, { 0 }, 0 },
    { "(x - 1) * (x - 1) * (x - 5)", 0, 10, 2, { ROOT(1), ROOT(5) }, 0, { 0 }, 0 },
    { "1e6 / x + x - 2000", 1, 1e6, 1, { ROOT(1000) }, 0, { 0 }, 0 },
    { "sqrt(x) + 100 / sqrt(x) - 20", 1, 1e9, 1, { ROOT(100) }, 0, { 0 }, 0 },
    { "x * x + 1e-6 - 2e-3 * x", 1e-9, 1, 1, { ROOT(1e-3) }, 0, { 0 }, 0 },
    /* and what comes near, but not to zero */
    { "x * x - 2 * x + 1.000000001", 0, 10, 0, { NONE }, 0, { 0 }, 0 },
    { "max(3 - x, x - 3) + 1e-9", 0, 10, 0, { NONE }, 0, { 0 }, 0 },
    /* roots that no grid sees */
    { "(x - 5) * (x - 5.000001)", 0, 10, 2, { ROOT(5), ROOT(5.000001) }, 0, { 0 }, 0 },
    { "abs(x - 1234.5) - 1e-3", 1, 1e9, 2, { ROOT(1234.499), ROOT(1234.501) }, 0, { 0 }, 0 },
    { "max(0, abs(x - 77) - 1e-4) - min(0, 5 - x) - max(0, x - 5)", 1, 1e6, 1,
      { BETWEEN(77 - 1e-4, 77 + 1e-4) }, 0, { 0 }, 0 },
    /* jumps past zero */
    { "select(x < 3, -1, 1)", 0, 10, 0, { NONE }, 1, { 3 }, 0 },
    { "ceil(x / 8) - 4.5", 1, 1e4, 0, { NONE }, 1, { 32 }, 0 },
    { "floor(x) - 2.5", 0, 10, 0, { NONE }, 1, { 3 }, 0 },
    { "x - 2 * floor(x / 2) - 1.5", 0, 6.5, 3, { ROOT(1.5), ROOT(3.5), ROOT(5.5) }, 3, { 2, 4, 6 }, 0 },
    { "1 / (x - 3)", 0, 10, 0, { NONE }, 1, { 3 }, 0 },
    { "(x - 8) / (x - 3)", 0, 10, 1, { ROOT(8) }, 1, { 3 }, 0 },
    { "select(x < 4, x - 2, x - 9)", 0, 10, 2, { ROOT(2), ROOT(9) }, 1, { 4 }, 0 },
    /* several roots, ends of the range, no value */
    { "(x - 1) * (x - 2) * (x - 3) * (x - 4) * (x - 5)", 0, 10, 5,
      { ROOT(1), ROOT(2), ROOT(3), ROOT(4), ROOT(5) }, 0, { 0 }, 0 },
    { "x * x - x - 1", 0, 10, 1, { ROOT((1 + SQRT5) / 2) }, 0, { 0 }, 0 },
    { "x", 0, 10, 1, { ROOT(0) }, 0, { 0 }, 0 },
    { "x - 10", 0, 10, 1, { ROOT(10) }, 0, { 0 }, 0 },
    { "x * (x - 10)", 0, 10, 2, { ROOT(0), ROOT(10) }, 0, { 0 }, 0 },
    { "sqrt(x - 4) - 1", 0, 10, 1, { ROOT(5) }, 0, { 0 }, 0 },
    { "sqrt(x - 4)", 0, 10, 1, { ROOT(4) }, 0, { 0 }, 0 },
    { "log(x) - 20 * log(10)", 1, 1e30, 1, { ROOT(1e20) }, 0, { 0 }, 0 },
    { "x - 1e-20", 1e-30, 1, 1, { ROOT(1e-20) }, 0, { 0 }, 0 },
    { "ROOT(y, 0, 100, y * y - x) - 3", 1, 100, 1, { ROOT(9) }, 0, { 0 }, 0 },
    { "max(ROOT(y, 0, 100, y * y - x), 3) - 3", 1, 100, 1, { UP_TO(1, 9) }, 0, { 0 }, 0 },
    /* at least and more */
    { "x - 3", 0, 10, 1, { FROM(3, 10) }, 0, { 0 }, RELATION_AT_LEAST },
    { "x - 3", 0, 10, 1, { { 3, 10, true, true } }, 0, { 0 }, RELATION_MORE },
    { "(x - 2) * (x - 6)", 0, 10, 2, { UP_TO(0, 2), FROM(6, 10) }, 0, { 0 }, RELATION_AT_LEAST },
    { "(2 - x) * (x - 6)", 0, 10, 1, { BETWEEN(2, 6) }, 0, { 0 }, RELATION_AT_LEAST },
    { "(2 - x) * (x - 6)", 0, 10, 1, { { 2, 6, true, true } }, 0, { 0 }, RELATION_MORE },
    { "0 - (x - 3) * (x - 3)", 0, 10, 1, { ROOT(3) }, 0, { 0 }, RELATION_AT_LEAST },
    { "0 - (x - 3) * (x - 3)", 0, 10, 0, { NONE }, 0, { 0 }, RELATION_MORE },
    { "x * x + 1", 0, 10, 1, { ANY(0, 10) }, 0, { 0 }, RELATION_AT_LEAST },
    { "floor(x) - 2.5", 0, 10, 1, { FROM(3, 10) }, 1, { 3 }, RELATION_AT_LEAST },
    { "2.5 - floor(x)", 0, 10, 1, { { 0, 3, true, true } }, 1, { 3 }, RELATION_AT_LEAST },
    { "max(x, 4) - 4", 0, 10, 1, { ANY(0, 10) }, 0, { 0 }, RELATION_AT_LEAST },
    { "max(x, 4) - 4", 0, 10, 1, { { 4, 10, true, true } }, 0, { 0 }, RELATION_MORE },
    { "1 / (x - 3)", 0, 10, 1, { { 3, 10, true, true } }, 1, { 3 }, RELATION_AT_LEAST },
    { "sqrt(x - 4) - 1", 0, 10, 1, { FROM(5, 10) }, 0, { 0 }, RELATION_AT_LEAST },
    { "(x - 1) * (x - 1) + 0.1 + 0.2 - 0.3", 0, 10, 1, { ROOT(1) }, 0, { 0 }, 0 },
};

struct rows {
    struct arena arena;
    struct formulas formulas;
    struct facts facts;
    struct graph graph;
    struct error error;
};

static void rows_open(struct rows *rows)
{
    static const char *const text = "x : 1 = 1 in 0..1e9\ny : 1 = 1 in 0..1e9\n";
    *rows = (struct rows){ .facts.arena = &rows->arena };
    formulas_open(&rows->formulas, &rows->arena, 0);
    if (!formulas_read(&rows->formulas, "test.chalk", text_of(text), &rows->error))
        fail_msg("%s", rows->error.what);
}

static void rows_solve(struct rows *rows, const char *f, enum relation relation, double low,
                       double high, struct solution *solution)
{
    const struct expr *expr;
    if (!expr_parse(&rows->formulas, "test", 1, text_of(f), &expr, &rows->error) ||
        !graph_build(&rows->arena, &rows->formulas, &rows->facts, &expr, 1, &rows->graph, &rows->error))
        fail_msg("%s: %s", f, rows->error.what);
    graph_solve(&rows->arena, &rows->graph, 0, 0, relation, low, high, solution);
}

static bool close_to(double got, double expected)
{
    return fabs(got - expected) <= 1e-12 * fmax(fabs(expected), 1e-3);
}

static const char *shown(struct rows *rows, const struct solution *solution)
{
    struct buffer out = { .arena = &rows->arena };
    buffer_add(&out, "", 0);
    for (size_t i = 0; i < solution->count && i < SOME; i++) {
        const struct extent *one = &solution->extents[i];
        buffer_print(&out, " %c%.17g, %.17g%c", one->low_closed ? '[' : '(', one->low, one->high,
                     one->high_closed ? ']' : ')');
    }
    for (size_t i = 0; i < solution->jump_count && i < SOME; i++)
        buffer_print(&out, " jump %.17g", solution->jumps[i].at);
    return out.data;
}

static bool as_planted(const struct planted *one, const struct solution *solution)
{
    bool good = solution->count == one->count;
    for (size_t i = 0; good && i < one->count; i++) {
        const struct extent *got = &solution->extents[i];
        const struct expected *at = &one->at[i];
        good = close_to(got->low, at->low) && close_to(got->high, at->high) &&
               (at->low != at->high || got->low == got->high) &&
               got->low_closed == !at->open_low && got->high_closed == !at->open_high;
    }
    size_t past = 0;                                /* jumps with a value on both sides, and poles */
    for (size_t i = 0; i < solution->jump_count; i++) {
        const struct jump *jump = &solution->jumps[i];
        if (isnan(jump->before) || isnan(jump->after))
            continue;
        good &= past < one->jumps && close_to(jump->at, one->jump[past]);
        past++;
    }
    return good && past == one->jumps;
}

static void planted_equations(void **state)
{
    (void)state;
    struct rows rows;
    rows_open(&rows);
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(planted); i++) {
        const struct planted *one = &planted[i];
        struct solution solution;
        rows_solve(&rows, one->f, one->relation, one->low, one->high, &solution);
        if (as_planted(one, &solution))
            continue;
        print_message("%s %s 0 from %g to %g: got%s\n", one->f, one->relation ? ">=" : "=", one->low,
                      one->high, shown(&rows, &solution));
        wrong++;
    }
    print_message("%zu planted equations, %zu wrong\n", COUNT(planted), wrong);
    assert_int_equal(wrong, 0);
    arena_free(&rows.arena);
}

/* ---- planted, drawn ------------------------------------------------------------------------ */

/* One of each kind with numbers drawn: the solution in closed form. */
static void drawn_equation(struct rows *rows, uint64_t *state, int kind, struct planted *one)
{
    const double a = draw_in(state, 1, 50), b = a + draw_in(state, 0.01, 40), c = draw_in(state, 1, 9);
    struct arena *arena = &rows->arena;
    *one = (struct planted){ .low = 0.5, .high = 200, .count = 1 };
    switch (kind) {
    case 0:                                         /* a plateau after a corner */
        one->f = arena_print(arena, "%.17g * x / max(%.17g * x, %.17g + x) - 1", c + 1, c + 1, a * c);
        one->at[0] = (struct expected)FROM(a * c / c, 200);
        break;
    case 1:                                         /* one between two corners */
        one->f = arena_print(arena, "max(0, x - %.17g) - max(0, %.17g - x) * %.17g", b, a, c);
        one->at[0] = (struct expected)BETWEEN(a, b);
        break;
    case 2:                                         /* one that f leaves slowly */
        one->f = arena_print(arena, "%.17g + pow(max(0, %.17g - x), 2) - %.17g", c, a, c);
        one->at[0] = (struct expected)FROM(a, 200);
        break;
    case 3:                                         /* touched: the least of x + a^2 / x is 2 a */
        one->f = arena_print(arena, "x + %.17g / x - 2 * %.17g", a * a, a);
        one->at[0] = (struct expected)ROOT(a);
        break;
    case 4:                                         /* touched with a corner, and crossed */
        one->f = arena_print(arena, "abs(x - %.17g) * (x - %.17g)", a, b);
        one->count = 2;
        one->at[0] = (struct expected)ROOT(a);
        one->at[1] = (struct expected)ROOT(b);
        break;
    case 5:                                         /* a jump past zero */
        one->f = arena_print(arena, "select(x < %.17g, %.17g - x, %.17g)", a, a - c, c);
        one->count = a - c > 0.5;
        one->at[0] = (struct expected)ROOT(a - c);
        one->jumps = 1;
        one->jump[0] = a;
        break;
    case 6:                                         /* two roots beside each other */
        one->f = arena_print(arena, "abs(x - %.17g) - %.17g", b, c * 1e-7);
        one->count = 2;
        one->at[0] = (struct expected)ROOT(b - c * 1e-7);
        one->at[1] = (struct expected)ROOT(b + c * 1e-7);
        break;
    case 7: {                                       /* whole steps */
        const double step = floor(8 * c) / 8;
        one->f = arena_print(arena, "ceil(x / %.17g) - 3", step);
        one->at[0] = (struct expected){ 2 * step, 3 * step, true, false };
        break;
    }
    case 8:                                         /* of two sums that round as they like */
        one->f = arena_print(arena, "(x + %.17g) / (%.17g * x + %.17g) + max(0, x - %.17g) - 1 / %.17g",
                             a, c, a * c, b, c);
        one->at[0] = (struct expected)UP_TO(0.5, b);
        break;
    default:                                        /* a power against a number */
        one->f = arena_print(arena, "pow(x, %.17g) - pow(%.17g, %.17g)", c, a, c);
        one->at[0] = (struct expected)ROOT(a);
        break;
    }
}

static void drawn_equations(void **state)
{
    (void)state;
    enum { KINDS = 10 };
    uint64_t random = 29;
    size_t wrong[KINDS] = { 0 }, all = 0;
    const int turns = rounds(20);
    for (int i = 0; i < turns * KINDS; i++) {
        struct rows rows;
        struct planted one;
        struct solution solution;
        rows_open(&rows);
        drawn_equation(&rows, &random, i % KINDS, &one);
        rows_solve(&rows, one.f, one.relation, one.low, one.high, &solution);
        if (!as_planted(&one, &solution)) {
            print_message("%s = 0: got%s, not %.17g, %.17g\n", one.f, shown(&rows, &solution),
                          one.at[0].low, one.at[0].high);
            wrong[i % KINDS]++;
            all++;
        }
        arena_free(&rows.arena);
    }
    print_message("%d drawn equations, %zu wrong\n", turns * KINDS, all);
    assert_int_equal(all, 0);
}

/* ---- of real scenarios, scanned --------------------------------------------------------------- */

struct world {
    struct arena arena;
    struct error error;
    struct answer answer;
};

/* Options: those of a line, and those that may have spaces in them. */
struct options {
    const char *line;
    const char *more[80];
    size_t count;
};

static struct command *world_command(struct world *world, const char *unknown, const char *equation,
                                     const struct options *options)
{
    char *words[128] = { (char *)"chalkline", (char *)"solve", (char *)unknown, (char *)"--where",
                         (char *)equation };
    char *rest = *options->line ? arena_print(&world->arena, "%s", options->line) : NULL;
    struct command *command = arena_alloc(&world->arena, sizeof *command);
    size_t size = 5;
    for (char *word; (word = strsep(&rest, " "));)
        words[size++] = word;
    for (size_t i = 0; i < options->count; i++)
        words[size++] = (char *)options->more[i];
    command->verbs = verbs;
    if (!command_read(&world->arena, (int)size, words, command, &world->error))
        fail_msg("solve %s --where %s: %s (%s)", unknown, equation, world->error.what,
                 world->error.hint);
    return command;
}

/* An equation of a scenario: what `solve` answers, and both sides to be read anywhere. */
struct asked {
    struct world world;
    const char *line, *unknown;
    struct unit unit;               /* of the unknown */
    struct graph graph;             /* outputs: left, right */
    struct column *columns;
    size_t input;
    double low, high;               /* the range */
    const struct doc *doc;
    struct extent *extents;
    size_t count, jump_count;
    double *jumps;
};

static double number_of(const struct doc *object, const char *key)
{
    const struct doc *found = doc_get(object, key);
    if (!found || found->kind != DOC_NUMBER)
        fail_msg("no number %s", key);
    return found->number;
}

static void read_answer(struct asked *asked)
{
    const struct doc *intervals = doc_get(asked->doc, "intervals"), *one;
    const struct doc *jumps = doc_get(asked->doc, "jumps");
    const struct doc *root = doc_get(asked->doc, "roots")->first;
    asked->extents = arena_array(&asked->world.arena, intervals->count + 1, sizeof *asked->extents);
    for (one = intervals->first; one; one = one->next) {
        struct extent *extent = &asked->extents[asked->count++];
        *extent = (struct extent){ number_of(one, "low"), number_of(one, "high"),
                                   doc_get(one, "low_closed")->boolean,
                                   doc_get(one, "high_closed")->boolean };
        assert_true(extent->low <= extent->high);
        assert_true(asked->count == 1 || extent->low > asked->extents[asked->count - 2].high);
        if (extent->low == extent->high) {
            assert_true(root->number == extent->low);
            root = root->next;
        }
    }
    assert_null(root);
    asked->jumps = arena_array(&asked->world.arena, jumps->count + 1, sizeof *asked->jumps);
    for (one = jumps->first; one; one = one->next)
        asked->jumps[asked->jump_count++] = one->number;
    asked->low = number_of(doc_get(asked->doc, "range"), "low");
    asked->high = number_of(doc_get(asked->doc, "range"), "high");
}

/* "A=B" at the sign outside of parentheses. */
static const char *sign_of(const char *equation)
{
    int depth = 0;
    for (const char *at = equation; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (!depth && *at == '=')
            return at;
    }
    return NULL;
}

static void read_sides(struct asked *asked, const struct command *command, const char *equation)
{
    struct world *world = &asked->world;
    struct scenario *scenario = arena_alloc(&world->arena, sizeof *scenario);
    const char *sign = sign_of(equation);
    const struct expr *sides[2];
    double value = 1;                               /* at which what nobody gave is chosen */
    if (!scenario_read(scenario, &world->arena, command, command_subject(command), &world->error))
        fail_msg("%s: %s", asked->line, world->error.what);
    const char *both[] = { arena_copy(&world->arena, equation, (size_t)(sign - equation)), sign + 1 };
    scenario->axis = formulas_name(&scenario->formulas, &world->arena, asked->unknown);
    if (!scenario_assume(scenario, &world->error) ||
        !scenario_choose(scenario, both, 2, &world->error))
        fail_msg("%s: %s", asked->line, world->error.what);
    if (!value_of(scenario, asked->unknown, &value, &world->error))
        value = 1;
    facts_set(&scenario->facts, scenario->axis, value, ORIGIN_AXIS, "test");
    for (int i = 0; i < 2; i++)
        if (!expr_parse(&scenario->formulas, NULL, 0, text_of(both[i]), &sides[i], &world->error))
            fail_msg("%s: %s", asked->line, world->error.what);
    if (!graph_build(&world->arena, &scenario->formulas, &scenario->facts, sides, 2, &asked->graph,
                     &world->error))
        fail_msg("%s: %s", asked->line, world->error.what);
    asked->unit = scenario_unit(scenario, asked->unknown);
    const int input = graph_input(&asked->graph, scenario->axis);
    assert_true(input >= 0);
    asked->input = (size_t)input;
    asked->columns = arena_array(&world->arena, asked->graph.input_count, sizeof *asked->columns);
    for (size_t i = 0; i < asked->graph.input_count; i++)
        asked->columns[i] = (struct column){ &asked->graph.inputs[i].value, 0 };
}

/* false: the equation does not depend on the unknown in this scenario. */
static bool ask_equation(struct asked *asked, const struct options *options, const char *unknown,
                         const char *equation)
{
    *asked = (struct asked){ .line = equation, .unknown = unknown };
    struct world *world = &asked->world;
    const struct command *command = world_command(world, unknown, equation, options);
    world->answer = (struct answer){ .doc = doc_new(&world->arena, DOC_OBJECT),
                                     .text.arena = &world->arena, .csv.arena = &world->arena };
    if (!command->verb->ask(&world->arena, command, &world->answer, &world->error)) {
        if (strstr(world->error.what, "does not appear") || strstr(world->error.what, "is a constant"))
            return false;
        fail_msg("solve %s --where %s: %s (%s)", unknown, equation, world->error.what,
                 world->error.hint);
    }
    asked->doc = doc_get(world->answer.doc, unknown);
    assert_non_null(asked->doc);
    read_answer(asked);
    read_sides(asked, command, equation);
    return true;
}

/* Left, right and their difference at many points. */
static void sides_at(struct asked *asked, const double *x, size_t count, double *left, double *right)
{
    double *outputs[] = { left, right };
    asked->columns[asked->input] = (struct column){ x, 1 };
    graph_run(&asked->graph, asked->columns, outputs, count);
}

static double difference_at(struct asked *asked, double x)
{
    double left, right;
    sides_at(asked, &x, 1, &left, &right);
    return left - right;
}

static bool wrong(const struct asked *asked, const char *what, double x)
{
    print_message("%s of %s: %s at %.17g; %s\n", asked->line, asked->unknown, what, x,
                  asked->world.answer.text.data);
    return false;
}

/* Which extent is the first that ends at x or after it? */
static size_t extent_from(const struct asked *asked, double x)
{
    size_t i = 0;
    while (i < asked->count && asked->extents[i].high < x)
        i++;
    return i;
}

static bool jump_in(const struct asked *asked, double a, double b)
{
    for (size_t i = 0; i < asked->jump_count; i++)
        if (asked->jumps[i] >= a && asked->jumps[i] <= b)
            return true;
    return false;
}

/* What the scan sees from one point to the next, against the answer. */
static bool scan_step(struct asked *asked, const double *x, const double *left, const double *right)
{
    const double f[2] = { left[0] - right[0], left[1] - right[1] };
    const double size = fmax(fabs(left[0]), fabs(right[0]));
    const size_t i = extent_from(asked, x[0]);
    const struct extent *next = i < asked->count ? &asked->extents[i] : NULL;
    const bool in_step = next && next->low <= x[1];
    const bool inside = next && next->low < x[0] && next->high > x[0];
    if (inside && !(fabs(f[0]) <= 1e-10 * size))    /* what cancels has fewer digits */
        return wrong(asked, "not equal inside an interval", x[0]);
    if (!inside && isfinite(f[0]) && fabs(f[0]) <= 1e-16 * size && !(next && next->low <= x[1]) &&
        !(i && asked->extents[i - 1].high >= x[-1]))
        return wrong(asked, "equal outside of the intervals", x[0]);
    if (!isfinite(f[0]) || !isfinite(f[1]) || f[0] == 0 || f[1] == 0)
        return true;
    if ((f[0] > 0) != (f[1] > 0) && !in_step && !jump_in(asked, x[0], x[1]) &&
        !(fabs(f[0]) <= 1e-13 * size))
        return wrong(asked, "a change of sign without an answer", x[0]);
    return true;
}

/* A root again by halving, from points between which the sides cross. */
static bool halve_in(struct asked *asked, double root)
{
    double low = root, high = root, step = 1e-13 * fabs(root);
    const double most = 1e-3 * fabs(root);
    while (step < most && (difference_at(asked, low) > 0) == (difference_at(asked, high) > 0)) {
        step *= 2;
        low = fmax(asked->low, root - step);
        high = fmin(asked->high, root + step);
    }
    const double f = difference_at(asked, low);
    if ((f > 0) == (difference_at(asked, high) > 0))
        return true;                                /* touched, or at the end of the range */
    for (int turn = 0; turn < 200; turn++) {
        const double half = low + (high - low) / 2;
        *((difference_at(asked, half) > 0) == (f > 0) ? &low : &high) = half;
    }
    /* What barely moves with the unknown is equal, to the last digit, on a longer way. */
    double left, right;
    sides_at(asked, &root, 1, &left, &right);
    const bool equal = fabs(left - right) <= 2 * DBL_EPSILON * fabs(left);
    return fabs(low - root) <= (equal ? 1e-10 : 1e-12) * fabs(root) || wrong(asked, "a root is not where halving finds it", low);
}

static bool ends_are_ends(struct asked *asked, const struct extent *one)
{
    double left, right, x = one->low;
    sides_at(asked, &x, 1, &left, &right);
    if (one->low_closed && !(fabs(left - right) <= 1e-9 * fmax(fabs(left), fabs(right))))
        return wrong(asked, "the sides differ at a solution", x);
    if (one->low == one->high)
        return halve_in(asked, one->low);
    /* Beyond an end the sides differ as soon as one can tell. */
    const double before = one->low * (1 - 1e-6), after = one->high * (1 + 1e-6);
    if (one->low_closed && before > asked->low && difference_at(asked, before) == 0)
        return wrong(asked, "equal before an interval", before);
    if (one->high_closed && after < asked->high && difference_at(asked, after) == 0)
        return wrong(asked, "equal after an interval", after);
    return true;
}

static double scan_point(const struct asked *asked, size_t i, size_t points)
{
    const double t = (double)i / (double)(points - 1), low = asked->low, high = asked->high;
    if (low > 0 && high / low > 8)
        return i + 1 == points ? high : low * exp(t * log(high / low));
    if (low == 0 && high > 1e3)
        return i ? high * 1e-12 * exp(t * log(1e12)) : 0;
    return i + 1 == points ? high : low + (high - low) * t;
}

static bool scan(struct asked *asked, size_t points)
{
    struct arena *arena = &asked->world.arena;
    double *x = arena_array(arena, points, sizeof *x), *left = arena_array(arena, points, sizeof *x);
    double *right = arena_array(arena, points, sizeof *x);
    bool good = true;
    for (size_t i = 0; i < points; i++)
        x[i] = scan_point(asked, i, points);
    sides_at(asked, x, points, left, right);
    for (size_t i = 1; i + 1 < points && good; i++)
        good = scan_step(asked, x + i, left + i, right + i);
    for (size_t i = 0; i < asked->count && good; i++)
        good = ends_are_ends(asked, &asked->extents[i]);
    return good;
}

static size_t scan_points(void)
{
    return getenv("CHALKLINE_LONG") ? 1000000 : 10000;
}

static const char *const scenarios[] = {
    "", "--model deepseek-v3 --on gb200-nvl72", "--model llama-3.1-8b --on h100-sxm --context 100",
    "--model gemma-3-27b --on h200-sxm --context 20000", "--model qwen3-30b-a3b --on b200-sxm --context 500" };

static const struct { const char *unknown, *equation; } equations[] = {
    { "batch", "bound_compute=bound_weights" }, { "batch", "bound_mfu=1" },
    { "batch", "bound_mfu=0.25" }, { "batch", "user_speed=50token/s" },
    { "batch", "bound_step=20ms" }, { "batch", "bound_step=0.5*1s" },
    { "batch", "bound_cost_per_token=1.25*cost_floor" }, { "batch", "weights_cost=compute_cost" },
    { "batch", "bound_compute=bound_memory" }, { "batch", "hbm_share=0.9" },
    { "batch", "bound_step=bound_compute" }, { "batch", "bound_step=bound_memory" },
    { "batch", "AT(bound_step,context=8192)=30ms" }, { "batch", "bound_throughput=160000token/s" },
    { "batch", "params_touched=0.99*params_total" }, { "batch", "bound_step=1us" },
    { "hbm_bandwidth", "bound_compute=bound_memory" }, { "hbm_bandwidth", "machine_balance=300token" },
    { "hbm_bandwidth", "bound_step=latency_floor+1ms" }, { "hbm_capacity", "hbm_share=1" },
    { "peak_flops", "bound_mfu=0.5" }, { "peak_flops", "bound_mfu=1" },
    { "chip_price", "bound_cost_per_token=1e-6USD/token" }, { "chips", "latency_floor=2ms" },
    { "hold_time", "tier_total[hbm]=recompute_cost" }, { "hold_time", "tier_total[ddr]=tier_total[flash]" },
    { "scale_up_bandwidth", "bound_step=all_to_all_time_one_domain" }, { "params_active", "bound_mfu=0.5" },
};

static void scenarios_are_solved(void **state)
{
    (void)state;
    size_t count = 0, wrong_ones = 0, never = 0, flat = 0;
    for (size_t i = 0; i < COUNT(scenarios); i++)
        for (size_t k = 0; k < COUNT(equations); k++) {
            struct asked asked;
            const struct options options = { .line = scenarios[i] };
            if (!ask_equation(&asked, &options, equations[k].unknown, equations[k].equation)) {
                arena_free(&asked.world.arena);
                continue;
            }
            if (!scan(&asked, scan_points())) {
                print_message("  scenario '%s'\n", scenarios[i]);
                wrong_ones++;
            }
            count++;
            never += !asked.count;
            for (size_t n = 0; n < asked.count; n++)
                flat += asked.extents[n].low < asked.extents[n].high;
            arena_free(&asked.world.arena);
        }
    print_message("%zu equations scanned at %zu points, %zu without a solution, %zu intervals, %zu wrong\n",
                  count, scan_points(), never, flat, wrong_ones);
    assert_int_equal(wrong_ones, 0);
}

/* ---- the lecture -------------------------------------------------------------------------------- */

enum { DECK = 40 };

struct deck {
    const char *name[DECK], *value[DECK];
    size_t count;
};

/* "chips=64; peak_flops+=4.5e15FLOP/s": a '+' marks what another file has. What no row has is a
 * word about the chapter, and left out. */
static struct deck deck_of(struct arena *arena, const struct formulas *formulas, const char *text)
{
    struct deck deck = { .count = 0 };
    char *rest = arena_print(arena, "%s", text);
    for (char *one; (one = strsep(&rest, ";"));) {
        char *equals = strchr(one, '=');
        if (!equals)
            continue;
        *equals = 0;
        one += strspn(one, " +");
        one[strcspn(one, " +")] = 0;
        if (formulas_find(formulas, one) < 0)
            continue;
        deck.name[deck.count] = one;
        deck.value[deck.count++] = equals + 1;
    }
    return deck;
}

/* The text without the '+' before names. */
static const char *unmarked(struct arena *arena, const char *text)
{
    char *out = arena_copy(arena, text, strlen(text)), *to = out;
    for (const char *at = text; *at; at++)
        if (*at != '+' || (at > text && at[-1] != '(' && at[-1] != '/'))
            *to++ = *at;
    *to = 0;
    return out;
}

/* A published table beside the tree; false: it is not there. */
static bool lecture_table(struct arena *arena, const char *name, const char **path, struct csv *csv)
{
    const char *folder = getenv("CHALKLINE_SHARED");
    struct text text;
    struct error error;
    *path = folder && *folder ? arena_print(arena, "%s/lecture/%s", folder, name) : NULL;
    if (!*path || !file_there(arena, *path)) {
        print_message("skipped: lecture/%s\n", name);
        return false;
    }
    if (!csv)
        return true;
    if (!file_read(arena, *path, 1 << 22, &text, &error) ||
        !csv_read(arena, *path, text, csv, &error))
        fail_msg("%s", error.what);
    return true;
}

static void lecture_book(struct arena *arena, const char *rows, struct formulas *formulas)
{
    struct text text;
    struct error error;
    formulas_copy(formulas, arena, formulas_built_in(0));
    formulas->open = true;
    if (!file_read(arena, rows, 1 << 20, &text, &error) || !formulas_read(formulas, rows, text, &error))
        fail_msg("%s", error.what);
}

static struct options lecture_options(struct arena *arena, const char *rows, const struct deck *deck,
                                   const char *without)
{
    struct options options = { .line = "", .more = { "--rows", rows }, .count = 2 };
    for (size_t i = 0; i < deck->count; i++)
        if (strcmp(deck->name[i], without)) {
            options.more[options.count++] = "--set";
            options.more[options.count++] = arena_print(arena, "%s=%s", deck->name[i], deck->value[i]);
        }
    return options;
}

static bool solution_at(const struct asked *asked, double x, double tolerance)
{
    for (size_t i = 0; i < asked->count; i++)
        if (x >= asked->extents[i].low - tolerance * fabs(x) &&
            x <= asked->extents[i].high + tolerance * fabs(x))
            return true;
    return false;
}

/* Statements about pipeline stages whose published deck counts the chips of one stage, where a row
 * counts those of all. */
static bool chips_of_a_stage(const char *id)
{
    return !strcmp(id, "pipeline.weights_divide") || !strcmp(id, "pipeline.kv_cancels");
}

/* The published `speed_up_limit` belongs to an empty batch: `step_over_weights` today. */
static const char *published(struct arena *arena, const char *equation)
{
    static const char limit[] = "speed_up_limit";
    return strncmp(equation, limit, sizeof limit - 1) ? equation
                                                      : arena_print(arena, "step_over_weights%s", equation + sizeof limit - 1);
}

/* When would a statement of the lecture turn? The published root is an answer. */
static void lecture_turns(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct formulas formulas;
    struct csv statements, flips;
    const char *rows, *path;
    size_t count = 0, wrong_ones = 0;
    if (!lecture_table(&arena, "lecture-new.chalk", &rows, NULL) ||
        !lecture_table(&arena, "statements.csv", &path, &statements) ||
        !lecture_table(&arena, "flips.csv", &path, &flips))
        return;
    lecture_book(&arena, rows, &formulas);
    for (size_t i = 0; i < flips.rows; i++) {
        const char *id = csv_cell(&flips, i, csv_column(&flips, "id"));
        const char *unknown = csv_cell(&flips, i, csv_column(&flips, "input"));
        const char *equation = published(&arena, csv_cell(&flips, i, csv_column(&flips, "equation")));
        const char *root = csv_cell(&flips, i, csv_column(&flips, "root"));
        size_t k = 0;
        while (k < statements.rows && strcmp(csv_cell(&statements, k, csv_column(&statements, "id")), id))
            k++;
        assert_true(k < statements.rows);
        const struct deck deck =
            deck_of(&arena, &formulas, csv_cell(&statements, k, csv_column(&statements, "deck")));
        const struct options options = lecture_options(&arena, rows, &deck, unknown);
        struct asked asked;
        assert_true(ask_equation(&asked, &options, unknown, equation));
        bool good = scan(&asked, scan_points());
        if (good && !chips_of_a_stage(id) && !solution_at(&asked, atof(root), 1e-5))
            good = wrong(&asked, "not the published root", atof(root));
        if (!good)
            print_message("  statement %s\n", id);
        wrong_ones += !good;
        count++;
        arena_free(&asked.world.arena);
    }
    print_message("%zu turning points of the lecture solved and scanned, %zu wrong\n", count, wrong_ones);
    assert_int_equal(wrong_ones, 0);
    arena_free(&arena);
}

/* What is asked has a value in the deck. With one input of the deck taken away, the equation with
 * that value finds the input again. */
static void lecture_decks(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct formulas formulas;
    struct csv statements;
    const char *rows, *path;
    size_t count = 0, wrong_ones = 0, equalities = 0, rowless = 0;
    if (!lecture_table(&arena, "lecture-new.chalk", &rows, NULL) ||
        !lecture_table(&arena, "statements.csv", &path, &statements))
        return;
    lecture_book(&arena, rows, &formulas);
    for (size_t i = 0; i < statements.rows; i++) {
        const char *asks = unmarked(&arena, csv_cell(&statements, i, csv_column(&statements, "asks")));
        const char *kind = csv_cell(&statements, i, csv_column(&statements, "kind"));
        const struct deck deck =
            deck_of(&arena, &formulas, csv_cell(&statements, i, csv_column(&statements, "deck")));
        const struct expr *expr;
        struct error error;
        size_t solved = 0;
        if (!expr_parse(&formulas, NULL, 0, text_of(asks), &expr, &error)) {
            rowless++;                              /* words alone, or a row that does not exist yet */
            continue;
        }
        for (size_t n = 0; n < deck.count && *asks; n++) {
            const char *unknown = deck.name[n];
            const struct options options = lecture_options(&arena, rows, &deck, unknown);
            struct asked asked;
            struct quantity quantity;
            double left, right;
            /* The value is that of the left side alone: first of an equation with any right side. */
            if (!ask_equation(&asked, &options, unknown, arena_print(&arena, "%s=1", asks))) {
                arena_free(&asked.world.arena);
                continue;
            }
            if (!quantity_parse(text_of(deck.value[n]), asked.unit, &quantity, &asked.world.error))
                fail_msg("%s: %s", unknown, asked.world.error.what);
            sides_at(&asked, &quantity.value, 1, &left, &right);
            arena_free(&asked.world.arena);
            assert_true(ask_equation(&asked, &options, unknown,
                                     arena_print(&arena, "%s=%.17g", asks, left)));
            bool good = scan(&asked, scan_points());
            bool within = quantity.value >= asked.low && quantity.value <= asked.high;
            if (good && within && !solution_at(&asked, quantity.value, 1e-9))
                good = wrong(&asked, "not the deck's value", quantity.value);
            if (!good)
                print_message("  statement %s\n",
                              csv_cell(&statements, i, csv_column(&statements, "id")));
            wrong_ones += !good;
            count++;
            solved++;
            arena_free(&asked.world.arena);
        }
        equalities += solved && !strcmp(kind, "equality");
    }
    print_message("%zu equations of decks solved and scanned, of %zu equalities and others, %zu wrong; "
                  "%zu statements ask for no row\n", count, equalities, wrong_ones, rowless);
    assert_int_equal(wrong_ones, 0);
    arena_free(&arena);
}

/* ---- a list as the axis of a curve ------------------------------------------------------------- */

static const struct doc *world_ask(struct world *world, const char *const *words, int count)
{
    struct command *command = arena_alloc(&world->arena, sizeof *command);
    command->verbs = verbs;
    world->answer = (struct answer){ .doc = doc_new(&world->arena, DOC_OBJECT),
                                     .text.arena = &world->arena, .csv.arena = &world->arena };
    if (!command_read(&world->arena, count, (char **)words, command, &world->error) ||
        !command->verb->ask(&world->arena, command, &world->answer, &world->error))
        fail_msg("%s: %s", words[1], world->error.what);
    return world->answer.doc;
}

/* In order, each point once, and `eval` says the same there. */
static void lists_are_axes(void **state)
{
    (void)state;
    static const struct { const char *axis; size_t count; double at[4]; } lists[] = {
        { "chips=8,72,576", 3, { 8, 72, 576 } }, { "batch=512,64,64,1k", 3, { 64, 512, 1000 } },
        { "context=4k,16k", 2, { 4000, 16000 } }, { "hbm_bandwidth=8,4,16TB/s", 3, { 4e12, 8e12, 16e12 } },
        { "batch=72,576", 2, { 72, 576 } } };
    struct world world = { 0 };
    for (size_t i = 0; i < COUNT(lists); i++) {
        const char *curve[] = { "chalkline", "curve", "bound_step", lists[i].axis };
        const struct doc *doc = world_ask(&world, curve, 4);
        const char *name = arena_copy(&world.arena, lists[i].axis, strcspn(lists[i].axis, "="));
        const struct doc *x = doc_get(doc, name);
        const struct doc *y = doc_get(doc_get(doc, "bound_step"), "values")->first;
        assert_int_equal(x->count, lists[i].count);
        size_t n = 0;
        for (x = x->first; x; x = x->next, y = y->next, n++) {
            const char *at = arena_print(&world.arena, "%s=%.17g", name, x->number);
            const char *eval[] = { "chalkline", "eval", "bound_step", "--set", at };
            assert_true(x->number == lists[i].at[n]);
            assert_true(number_of(doc_get(world_ask(&world, eval, 5), "bound_step"), "value") == y->number);
        }
    }
    arena_free(&world.arena);
}

/* The entry of a table is an unknown like any other: by hand, a drive that drains in two minutes at 14 GB/s has 1.68 TB, and a
 * cache of 70,272 B a token for 4,096 tokens comes back in 10 ms at 28.78 GB/s; reading from a disk costs what 19.8 hours of its
 * rent do. `eval` with the words gives both sides. */
static void entries_are_unknowns(void **state)
{
    static const char *const pair[] = { "--model", "deepseek-v3", "--on", "gb200-nvl72" };
    const struct { const char *unknown, *where, *row; double root, side; bool model, choose; } tried[] = {
        { "tier_capacity[flash]", "tier_drain_time[flash]=2min", "tier_drain_time[flash]", 14e9 * 120, 120, false, false },
        { "tier_capacity[flash]", "tier_drain_time[flash] == 2 min", "tier_drain_time[flash]", 14e9 * 120, 120, false, false },
        { "tier_capacity[disk]", "tier_drain_time[disk]=2h", "tier_drain_time[disk]", 0.28e9 * 7200, 7200, false, false },
        { "tier_drain_time[disk]", "tier_total_at_drain[disk]/tier_hold[disk]=30h", "tier_drain_time[disk]",
          30 * 3600 - 20e12 / 0.28e9, 30 * 3600 - 20e12 / 0.28e9, true, false },
        { "tier_bandwidth[flash]", "tier_fetch_time[flash]=10ms", "tier_fetch_time[flash]", 61 * 576 * 2 * 4096 / 0.01, 0.01,
          true, false },
        { "tier_bandwidth[flash]", "tier_fetch_time[flash]=10ms", "tier_fetch_time[flash]", 61 * 576 * 2 * 4096 / 0.01, 0.01,
          true, true },
        { "tier_capacity[flash]", "tier_drain_time[flash]<=2min", "tier_drain_time[flash]", 14e9 * 120, 120, true, true } };
    (void)state;
    for (size_t i = 0; i < COUNT(tried); i++) {
        struct world world = { 0 };
        const char *words[16] = { "chalkline", "solve", tried[i].unknown, "--where", tried[i].where }, *eval[32] = {
            "chalkline", "eval", tried[i].row };
        size_t count = 5, asked = 3;
        for (size_t k = 0; tried[i].model && k < COUNT(pair); k++)
            words[count++] = pair[k];
        if (tried[i].choose)
            words[count++] = "--choose";
        const struct doc *one = doc_get(world_ask(&world, words, count), tried[i].unknown);
        const double root = number_of(one, "value");
        if (!(fabs(root / tried[i].root - 1) <= 1e-9))
            fail_msg("%s: %.12g, by hand %.12g", tried[i].unknown, root, tried[i].root);
        for (const struct doc *word = doc_get(one, "words")->first; word; word = word->next)
            eval[asked++] = word->string;
        const double side = number_of(doc_get(world_ask(&world, eval, asked), tried[i].row), "value");
        if (!(fabs(side / tried[i].side - 1) <= 1e-9))
            fail_msg("%s: %s is %.12g", tried[i].unknown, tried[i].row, side);
        arena_free(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_equations),
        cmocka_unit_test(drawn_equations),
        cmocka_unit_test(scenarios_are_solved),
        cmocka_unit_test(lists_are_axes),
        cmocka_unit_test(entries_are_unknowns),
        cmocka_unit_test(lecture_turns),
        cmocka_unit_test(lecture_decks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
