/* A small reversible net: halves a and b, each of WIDTH numbers; a layer adds f(a) to b, then f(b)
 * to a, f(x) = act(W x) with weights of its own for each coupling. Numbers are rounded to so many
 * significant bits whenever they are stored; sums inside f are kept longer. It is run forward, undone,
 * and differentiated twice: with all kept, and with each coupling's input computed back. */
#include "scenario/values.h"
#include "test.h"

#include "ask/ask.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 12, LAYERS_MOST = 64, COUPLINGS_MOST = 2 * LAYERS_MOST };

enum act { TANH, RELU, LINEAR };

struct net {
    int couplings, bits;
    enum act act;
    double weights[COUPLINGS_MOST][WIDTH][WIDTH];
};

/* What is held at once, in numbers, and products summed. */
struct bill {
    size_t held, most, products;
};

static double *hold(struct bill *bill, size_t count)
{
    double *numbers = calloc(count, sizeof *numbers);
    assert_non_null(numbers);
    bill->held += count;
    bill->most = bill->held > bill->most ? bill->held : bill->most;
    return numbers;
}

static void drop(struct bill *bill, double *numbers, size_t count)
{
    free(numbers);
    bill->held -= count;
}

/* To the nearest number of so many significant bits, ties to even. */
static double rounded(long double x, int bits)
{
    int exponent;
    long double fraction = frexpl(x, &exponent);
    return (double)ldexpl(rintl(ldexpl(fraction, bits)), exponent - bits);
}

static long double act(enum act which, long double x)
{
    return which == TANH ? tanhl(x) : which == RELU && x < 0 ? 0 : x;
}

static long double slope(enum act which, long double x)
{
    return which == TANH ? 1 - tanhl(x) * tanhl(x) : which == RELU && x < 0 ? 0 : 1;
}

/* Row i of W x. */
static long double product(const struct net *net, int coupling, int i, const double *x)
{
    long double sum = 0;
    for (int j = 0; j < WIDTH; j++)
        sum += (long double)net->weights[coupling][i][j] * x[j];
    return sum;
}

/* Halves change in turn: a coupling adds (sign 1) or takes off (-1) f of the other half. */
static void couple(const struct net *net, int coupling, int sign, double *halves,
                   struct bill *bill)
{
    const double *from = halves + (coupling % 2 ? WIDTH : 0);
    double *to = halves + (coupling % 2 ? 0 : WIDTH);
    for (int i = 0; i < WIDTH; i++) {
        double f = rounded(act(net->act, product(net, coupling, i, from)), net->bits);
        to[i] = rounded((long double)to[i] + sign * f, net->bits);
    }
    bill->products += WIDTH * WIDTH;
}

static void forward(const struct net *net, double *halves, struct bill *bill)
{
    for (int n = 0; n < net->couplings; n++)
        couple(net, n, 1, halves, bill);
}

/* From the gradient after a coupling to the one before it, and of its weights. */
static void couple_back(const struct net *net, int coupling, const double *from, double *gradient,
                        double (*weights)[WIDTH], struct bill *bill)
{
    const double *of_output = gradient + (coupling % 2 ? 0 : WIDTH);
    double *of_input = gradient + (coupling % 2 ? WIDTH : 0);
    for (int i = 0; i < WIDTH; i++) {
        double g = of_output[i] * (double)slope(net->act, product(net, coupling, i, from));
        for (int j = 0; j < WIDTH; j++) {
            weights[i][j] = g * from[j];
            of_input[j] += g * net->weights[coupling][i][j];
        }
    }
    bill->products += 2 * WIDTH * WIDTH;
}

/* ---- the two ways to differentiate: the sum of all outputs ---------------------------------- */

typedef double gradients[COUPLINGS_MOST][WIDTH][WIDTH];

static void ones(double *gradient)
{
    for (int i = 0; i < 2 * WIDTH; i++)
        gradient[i] = 1;
}

static void by_keeping(const struct net *net, const double *input, double *gradient,
                       gradients weights, struct bill *bill)
{
    double *kept = hold(bill, (size_t)(net->couplings + 1) * 2 * WIDTH);
    memcpy(kept, input, 2 * WIDTH * sizeof *kept);
    for (int n = 0; n < net->couplings; n++) {
        double *next = kept + (n + 1) * 2 * WIDTH;
        memcpy(next, next - 2 * WIDTH, 2 * WIDTH * sizeof *kept);
        couple(net, n, 1, next, bill);
    }
    ones(gradient);
    for (int n = net->couplings - 1; n >= 0; n--)
        couple_back(net, n, kept + n * 2 * WIDTH + (n % 2 ? WIDTH : 0), gradient, weights[n], bill);
    drop(bill, kept, (size_t)(net->couplings + 1) * 2 * WIDTH);
}

static void by_undoing(const struct net *net, const double *input, double *gradient,
                       gradients weights, struct bill *bill)
{
    double *halves = hold(bill, 2 * WIDTH);
    memcpy(halves, input, 2 * WIDTH * sizeof *halves);
    forward(net, halves, bill);
    ones(gradient);
    for (int n = net->couplings - 1; n >= 0; n--) {
        couple(net, n, -1, halves, bill);
        couple_back(net, n, halves + (n % 2 ? WIDTH : 0), gradient, weights[n], bill);
    }
    drop(bill, halves, 2 * WIDTH);
}

/* ---- nets ------------------------------------------------------------------------------------- */

/* Weights such that no unit of input moves an output by more than `steep`: absolute row sums. */
static void net_draw(struct net *net, int layers, int bits, enum act which, double steep,
                     uint64_t *seed)
{
    *net = (struct net){ .couplings = 2 * layers, .bits = bits, .act = which };
    for (int n = 0; n < net->couplings; n++)
        for (int i = 0; i < WIDTH; i++) {
            double *row = net->weights[n][i], sum = 0;
            for (int j = 0; j < WIDTH; j++)
                sum += fabs(row[j] = draw_in(seed, -1, 1));
            for (int j = 0; j < WIDTH; j++)
                row[j] *= steep / sum;
        }
}

static void input_draw(double *halves, int bits, uint64_t *seed)
{
    for (int i = 0; i < 2 * WIDTH; i++)
        halves[i] = rounded(draw_in(seed, -1, 1), bits);
}

static double largest(const double *numbers, int count, double most)
{
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(numbers[i]));
    return most;
}

static double furthest(const double *a, const double *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Error of the input that is computed back, over the largest number on the way. */
static double undone_error(const struct net *net, uint64_t *seed)
{
    double input[2 * WIDTH], halves[2 * WIDTH];
    struct bill bill = { 0 };
    input_draw(input, net->bits, seed);
    memcpy(halves, input, sizeof halves);
    double size = largest(halves, 2 * WIDTH, 0);
    for (int n = 0; n < net->couplings; n++) {
        couple(net, n, 1, halves, &bill);
        size = largest(halves, 2 * WIDTH, size);
    }
    for (int n = net->couplings - 1; n >= 0; n--) {
        couple(net, n, -1, halves, &bill);
        size = largest(halves, 2 * WIDTH, size);
    }
    return furthest(input, halves, 2 * WIDTH) / size;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static double row(const char *name, int bits, int layers, double steep)
{
    struct arena arena = { 0 };
    struct scenario scenario;
    struct command command = { 0 };
    struct error error;
    double value;
    assert_true(scenario_open(&scenario, &arena, &command,
                              (struct subject){ .model = "llama-2-7b", .machine = "a100-sxm" },
                              &error));
    facts_set(&scenario.facts, "significand_bits", bits, ORIGIN_GIVEN, "test");
    facts_set(&scenario.facts, "stacked_layers", layers, ORIGIN_GIVEN, "test");
    facts_set(&scenario.facts, "coupling_slope", steep, ORIGIN_GIVEN, "test");
    if (!value_of(&scenario, name, &value, &error))
        fail_msg("%s: %s (%s)", name, error.what, error.hint);
    arena_free(&arena);
    return value;
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void rounding_is_that_of_the_formats(void **unused)
{
    (void)unused;
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        double x = ldexp(draw_in(&seed, -1, 1), (int)draw_in(&seed, -40, 40));
        assert_true(rounded(x, FLT_MANT_DIG) == (double)(float)x);
        assert_true(rounded(x, DBL_MANT_DIG) == x);
    }
}

/* bf16, fp32 and fp64; steep and flat functions; with and without a kink. */
static void inverse_is_within_its_bound(void **unused)
{
    (void)unused;
    static const int formats[] = { 8, FLT_MANT_DIG, DBL_MANT_DIG };
    static const double steeps[] = { 0.02, 0.1, 0.5 };
    static struct net net;
    uint64_t seed = 2;
    for (size_t f = 0; f < COUNT(formats); f++)
        for (size_t s = 0; s < COUNT(steeps); s++)
            for (enum act which = TANH; which <= RELU; which++) {
                double first = 0, last = 0, nearest = 0;
                for (int layers = 8; layers <= LAYERS_MOST; layers *= 2) {
                    double most = row("inversion_error", formats[f], layers, steeps[s]);
                    last = 0;
                    for (int i = 0; i < 20; i++) {
                        net_draw(&net, layers, formats[f], which, steeps[s], &seed);
                        last = fmax(last, undone_error(&net, &seed));
                    }
                    assert_true(last <= most);
                    first = layers == 8 ? last : first;
                    nearest = fmax(nearest, last / most);
                }
                print_message("%2d bits, slope %.2f: %.1e at 8 layers, %.1e at 64; at most %.3f of "
                              "the bound\n", formats[f], steeps[s], first, last, nearest);
                assert_true(first >= ldexp(1, -formats[f] - 1) && last > first);
                assert_true(nearest > (steeps[s] > 0.1 ? 0.001 : 0.01));   /* and not far above */
            }
}

/* Where errors are in step, undoing makes of them all that it may: with f(x) = l x, in long sums,
 * every coupling multiplies them by g. */
static void growth_is_reached(void **unused)
{
    (void)unused;
    static struct net net;
    const double steep = 0.1;
    double clean[2 * WIDTH] = { 0 }, growth = row("coupling_growth", 24, 1, steep);
    struct bill bill = { 0 };
    net = (struct net){ .couplings = 2 * LAYERS_MOST, .bits = DBL_MANT_DIG, .act = LINEAR };
    for (int n = 0; n < net.couplings; n++)
        for (int i = 0; i < WIDTH; i++)
            net.weights[n][i][i] = steep;
    clean[0] = -1 / growth;                         /* its error of the half to be changed first, */
    clean[WIDTH] = 1;                               /* and of the other */
    for (int n = net.couplings - 1; n >= 0; n--)
        couple(&net, n, -1, clean, &bill);
    double reached = fmax(fabs(clean[0]), fabs(clean[WIDTH]));
    assert_true(fabs(reached / pow(growth, net.couplings) - 1) < 1e-9);
    assert_true(growth > 1.05 && growth < 1.052);   /* (0.1 + sqrt(4.01)) / 2 = 1.05125 */
}

/* Ordinary backpropagation against differences of the output; then undoing against it. */
static double sum_of_outputs(const struct net *net, const double *input)
{
    double halves[2 * WIDTH], sum = 0;
    struct bill bill = { 0 };
    memcpy(halves, input, sizeof halves);
    forward(net, halves, &bill);
    for (int i = 0; i < 2 * WIDTH; i++)
        sum += halves[i];
    return sum;
}

static void keeping_agrees_with_differences(void **unused)
{
    (void)unused;
    static struct net net;
    static gradients weights;
    const double step = 1e-5;
    double input[2 * WIDTH], gradient[2 * WIDTH];
    struct bill bill = { 0 };
    uint64_t seed = 3;
    net_draw(&net, 8, DBL_MANT_DIG, TANH, 0.9, &seed);
    input_draw(input, net.bits, &seed);
    by_keeping(&net, input, gradient, weights, &bill);
    for (int n = 0; n < net.couplings; n++) {
        double *weight = &net.weights[n][n % WIDTH][3 * n % WIDTH], was = *weight;
        *weight = was + step;
        double up = sum_of_outputs(&net, input);
        *weight = was - step;
        double slopes = (up - sum_of_outputs(&net, input)) / (2 * step);
        *weight = was;
        assert_true(fabs(slopes - weights[n][n % WIDTH][3 * n % WIDTH]) < 1e-7);
    }
    for (int i = 0; i < 2 * WIDTH; i++) {
        double was = input[i];
        input[i] = was + step;
        double up = sum_of_outputs(&net, input);
        input[i] = was - step;
        assert_true(fabs((up - sum_of_outputs(&net, input)) / (2 * step) - gradient[i]) < 1e-7);
        input[i] = was;
    }
}

/* Each coupling's gradient is off by as much as its input, at most, and so for each after it. */
static void undoing_gives_the_same_gradients(void **unused)
{
    (void)unused;
    static const int formats[] = { FLT_MANT_DIG, DBL_MANT_DIG };
    static struct net net;
    static gradients kept, undone;
    double input[2 * WIDTH], of_input[2][2 * WIDTH];
    uint64_t seed = 4;
    for (size_t f = 0; f < COUNT(formats); f++)
        for (int layers = 8; layers <= LAYERS_MOST; layers *= 2) {
            struct bill bill = { 0 };
            int count = 2 * layers * WIDTH * WIDTH;
            net_draw(&net, layers, formats[f], TANH, 0.1, &seed);
            input_draw(input, net.bits, &seed);
            by_keeping(&net, input, of_input[0], kept, &bill);
            by_undoing(&net, input, of_input[1], undone, &bill);
            double off = furthest(&kept[0][0][0], &undone[0][0][0], count) /
                         largest(&kept[0][0][0], count, 0);
            double most = net.couplings * row("inversion_error", net.bits, layers, 0.1);
            print_message("%2d bits, %2d layers: gradients off by %.1e\n", net.bits, layers, off);
            assert_true(off > 0 && off <= most);
            assert_true(furthest(of_input[0], of_input[1], 2 * WIDTH) <=
                        most * largest(of_input[0], 2 * WIDTH, 0));
            assert_true(off < 1000 * ldexp(1, -net.bits));
        }
}

/* Memory does not grow with the layers; FLOPs are 8/6 of those of keeping all. */
static void undoing_holds_one_layer(void **unused)
{
    (void)unused;
    static struct net net;
    static gradients weights;
    double input[2 * WIDTH], gradient[2 * WIDTH];
    uint64_t seed = 5;
    for (int layers = 8; layers <= LAYERS_MOST; layers *= 2) {
        struct bill keeping = { 0 }, undoing = { 0 };
        net_draw(&net, layers, FLT_MANT_DIG, RELU, 0.1, &seed);
        input_draw(input, net.bits, &seed);
        by_keeping(&net, input, gradient, weights, &keeping);
        by_undoing(&net, input, gradient, weights, &undoing);
        assert_true(undoing.most == 2 * WIDTH);
        assert_true(keeping.most == (size_t)(2 * layers + 1) * 2 * WIDTH);
        assert_true((double)undoing.products / (double)keeping.products ==
                    row("reversible_flops", 24, layers, 0.1));
        assert_true(keeping.held == 0 && undoing.held == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_that_of_the_formats),
        cmocka_unit_test(inverse_is_within_its_bound),
        cmocka_unit_test(growth_is_reached),
        cmocka_unit_test(keeping_agrees_with_differences),
        cmocka_unit_test(undoing_gives_the_same_gradients),
        cmocka_unit_test(undoing_holds_one_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
