/* `lecture --slips`: every figure against one computed here from the shapes in the models' config.json, from data sheets, from
 * what the talk says and from the prices of parts, without a row of this project; each derivation against its figure; and each
 * figure asked again by `eval` with its words. Runs in the root of the tree. */
#include "test.h"
#include "lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct arena arena;
    struct answer answer;
    struct error error;
};

static int world_open(void **state)
{
    *state = calloc(1, sizeof(struct world));
    return !*state;
}

static int world_close(void **state)
{
    struct world *world = *state;
    arena_free(&world->arena);
    free(world);
    return 0;
}

static const struct doc *ask(struct world *world, const char *line)
{
    if (!line_answered(&world->arena, line_command(&world->arena, line, &world->error), &world->answer, &world->error))
        fail_msg("%s: %s", line, world->error.what);
    return world->answer.doc;
}

/* ---- models, from their shapes -------------------------------------------------------------------------- */

/* What one decoded token costs, and what a step reads. */
struct shape {
    double active, total;           /* parameters, embedding included */
    double stored;                  /* bytes of all weights */
    double multiplied;              /* bytes of those that are multiplied */
    double compute;                 /* s of a chip for a token, without attention */
    double slope;                   /* s of a chip for attention to one token of context */
    double read;                    /* s of a chip to read the cache of one token */
    double window;                  /* tokens that layers with a window add to the context */
    double bandwidth;               /* B/s of a chip */
};

static struct shape deepseek_v3(void)       /* GB200: 4.9 PFLOP/s in fp8, 2.45 in bf16, 8 TB/s */
{
    const double fp8 = 4.9e15, bf16 = 2.45e15, hidden = 7168, table = 129280 * hidden, gates = 58 * 256 * hidden;
    const double attention = hidden * 1536 + 1536 * 128 * 192 + hidden * 576 + 512 * 128 * 256 + 128 * 128 * hidden;
    const double expert = 3 * hidden * 2048, shared = 61 * attention + 3 * 3 * hidden * 18432 + gates + 2 * table;
    const double active = shared + 58 * 9 * expert, total = shared + 58 * 257 * expert;
    const double in_bf16 = table + gates, in_fp8 = active - table - in_bf16;
    const double scales = 4.0 / (128 * 128), multiplied = (total - 2 * table - gates) * (1 + scales) + 2 * in_bf16;
    return (struct shape){ active, total, multiplied + 2 * table, multiplied, 2 * in_fp8 / fp8 + 2 * in_bf16 / bf16,
                           2 * 61 * 128 * (576 + 512) / bf16, 61 * 576 * 2 / 8e12, 0, 8e12 };
}

static struct shape llama_70b(void)         /* H100: 989 TFLOP/s in bf16, 3.35 TB/s */
{
    const double hidden = 8192, table = 128256 * hidden, peak = 989e12;
    const double layer = 2 * hidden * hidden + 2 * hidden * 1024 + 3 * hidden * 28672;
    const double all = 80 * layer + 2 * table;
    return (struct shape){ all, all, 2 * all, 2 * (all - table), 2 * (all - table) / peak, 80 * 4 * 64 * 128 / peak,
                           80 * 2 * 8 * 128 * 2 / 3.35e12, 0, 3.35e12 };
}

static struct shape gpt_oss_120b(void)      /* H100; experts in 4.25 bits multiply in bf16; every other layer has a window */
{
    const double hidden = 2880, table = 201088 * hidden, peak = 989e12;
    const double expert = 3 * hidden * hidden, biases = 2 * 2880 + hidden;
    const double attention = 2 * hidden * 64 * 64 + 2 * hidden * 8 * 64 + (64 + 2 * 8) * 64 + hidden;
    const double shared = 36 * (attention + 128 * hidden) + 2 * table;
    const double active = shared + 36 * 4 * (expert + biases), total = shared + 36 * 128 * (expert + biases);
    const double packed = 36.0 * 128 * expert, multiplied = packed * 4.25 / 8 + 2 * (total - packed - table);
    return (struct shape){ active, total, multiplied + 2 * table, multiplied, 2 * (active - table) / peak,
                           18 * 4 * 64 * 64 / peak, 18 * 2 * 8 * 64 * 2 / 3.35e12, 128, 3.35e12 };
}

/* Where reading the cache takes as long as all compute. */
static double plateau_of(struct shape m)
{
    return m.compute / (m.read - m.slope) - m.window;
}

/* Where reading the weights takes as long as all compute, at 4,096 tokens. */
static double crossover_of(struct shape m)
{
    return m.multiplied / m.bandwidth / (m.compute + m.slope * (4096 + m.window));
}

/* ---- figures -------------------------------------------------------------------------------------------- */

static double rent_of(double price, double capacity)
{
    return price / 3600 / capacity;
}

/* Where two lines of rent and drain meet. */
static double border(double fast_price, double fast_size, double fast_rate, double price, double size, double rate)
{
    return (rent_of(price, rate) - rent_of(fast_price, fast_rate)) / (rent_of(fast_price, fast_size) - rent_of(price, size));
}

static void figures_stand(void **state)
{
    const struct shape deepseek = deepseek_v3(), llama = llama_70b(), gpt = gpt_oss_120b();
    const double talk = 5e8 * 60 * 86400 / 10, domain = 2000 / 0.015625, wear = 1.15e-10 / (5 * 365.25);
    const struct { const char *slip; double within; double values[10]; } wanted[] = {
        { "plateau", 1e-3, { 1e11 / (300 * (5000.0 / 3)), plateau_of(deepseek), plateau_of(llama), plateau_of(gpt) } },
        { "floor", 1e-3, { 186 * 0x1p30 / 8e12, 80 * 0x1p30 / 3.35e12, 288e9 / 20e12, deepseek.stored / (72 * 8e12),
                           llama.stored / (8 * 3.35e12), gpt.stored / (8 * 3.35e12) } },
        { "hits", 1e-9, { 10, 12.5, 20 } },
        { "experts", 1e-9, { 1300.0 / 370, 64 } },
        { "tiers", 2e-3, { 3.84e12 / 14e9, 20e12 / 0.28e9, border(0.0877, 768e9, 460e9, 0.0101, 3.84e12, 14e9),
                           border(0.0101, 3.84e12, 14e9, 0.00799, 20e12, 0.28e9),
                           (rent_of(0.0101, 14e9) + wear - rent_of(0.0877, 460e9)) / rent_of(0.0877, 768e9) } },
        { "tokens", 2e-3, { talk, talk / 2e12, 100, 75, 15e12 / (20 * llama.active), 14.8e12 / (20 * deepseek.active),
                            36e12 / (20 * 22.19e9), 40e12 / (20 * 17.17e9), 36e12 / (20 * 3.353e9) } },
        { "traffic", 1e-9, { 5e7, domain, domain / 1.28e8, domain / 5e8 } },
        { "domains", 1e-9, { 8, 72, 576 / 4 } },
        { "pipelining", 1e-9, { 1, 0.25, 4 * 61 / 4.0, 61 / 4.0, 8 * 61 / 4.0 } },
        { "batch", 1e-3, { crossover_of(deepseek), 300 * deepseek.total / deepseek.active, crossover_of(llama), 300,
                           crossover_of(gpt), 300 * gpt.total / gpt.active } },
    };
    struct world *world = *state;
    const struct doc *slip = doc_get(ask(world, "lecture --slips"), "slips")->first;
    size_t compared = 0;
    for (size_t i = 0; i < COUNT(wanted); i++, slip = slip->next) {
        size_t k = 0;
        assert_non_null(slip);
        assert_string_equal(doc_text(slip, "id", ""), wanted[i].slip);
        for (const struct doc *one = doc_get(slip, "figures")->first; one; one = one->next, k++) {
            const double value = doc_number(one, "value", NAN);
            assert_true(k < COUNT(wanted[i].values));
            if (!(fabs(value / wanted[i].values[k] - 1) <= wanted[i].within))
                fail_msg("%s, %s: %.9g, computed here %.9g", wanted[i].slip, doc_text(one, "of", ""), value,
                         wanted[i].values[k]);
            compared++;
        }
        assert_true(k == COUNT(wanted[i].values) || wanted[i].values[k] == 0);
    }
    assert_null(slip);
    printf("%zu figures computed apart\n", compared);
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* An expression as one word. */
static const char *without_spaces(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena };
    for (; *text; text++)
        if (*text != ' ')
            buffer_add(&out, text, 1);
    return out.data;
}

/* Derivations come to their figures, and `eval` with the words to the same bits. */
static void derivations_stand(void **state)
{
    struct world *world = *state;
    const struct doc *slips = doc_get(ask(world, "lecture --slips"), "slips");
    for (const struct doc *slip = slips->first; slip; slip = slip->next) {
        ask(world, arena_print(&world->arena, "lecture %s", doc_text(slip, "statement", "")));
        for (const struct doc *one = doc_get(slip, "figures")->first; one; one = one->next) {
            const char *row = without_spaces(&world->arena, doc_text(one, "figure", "")), *of = doc_text(one, "of", "");
            const double value = doc_number(one, "value", NAN);
            struct buffer line = { .arena = &world->arena };
            if (!same(doc_number(one, "derived", NAN), value))
                fail_msg("%s: derived %.17g, figure %.17g", of, doc_number(one, "derived", NAN), value);
            assert_non_null(doc_get(one, "operands")->first);
            buffer_print(&line, "eval %s", row);
            for (const struct doc *word = doc_get(one, "words")->first; word; word = word->next)
                buffer_print(&line, " %s", word->string);
            const double again = doc_number(doc_get(ask(world, line.data), row), "value", NAN);
            if (again != value)
                fail_msg("%s: %s is %.17g, was %.17g", of, line.data, again, value);
        }
    }
}

static void one_slip(void **state)
{
    struct world *world = *state;
    const struct doc *slips = doc_get(ask(world, "lecture hits --slips"), "slips");
    assert_string_equal(doc_text(slips->first, "id", ""), "hits");
    assert_null(slips->first->next);
    assert_false(line_answered(&world->arena, line_command(&world->arena, "lecture nonesuch --slips", &world->error),
                               &world->answer, &world->error));
    assert_false(line_answered(&world->arena, line_command(&world->arena, "lecture --slips --model deepseek-v3 --on h100-sxm",
                                                           &world->error), &world->answer, &world->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures_stand, world_open, world_close),
        cmocka_unit_test_setup_teardown(derivations_stand, world_open, world_close),
        cmocka_unit_test_setup_teardown(one_slip, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
