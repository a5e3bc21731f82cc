/* What runs for the last chapter: the cipher's avalanche against the share that a round function of
 * independent bits gives, in closed form; its attack with other keys; the net's gradient against
 * differences of its loss, and training taken back to the bit. */
#include "test.h"

#include "lecture/reverse/feistel.h"
#include "lecture/reverse/net.h"

#include <math.h>
#include <stdlib.h>

/* A flipped bit of the right half reaches 1 + 32/2 bits in a round, one of the left half first moves over;
 * from the third round on each bit differs by chance. */
static void avalanche_is_as_expected(void **state)
{
    static const double expected[] = { 1.0 / 64, (1 + 17) / 128.0, (17 + 32) / 128.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
    (void)state;
    for (int rounds = 0; rounds < (int)COUNT(expected); rounds++)
        assert_true(fabs(feistel_avalanche(7, rounds, 300) - expected[rounds]) < 0.004);
}

static void rounds_are_undone(void **state)
{
    static const uint32_t keys[] = { 1, 0xffffffffu, 77, 0, 0x12345678u };
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const struct cipher_block block = { i * 2654435761u, ~i * 40503u };
        const struct cipher_block there = feistel_forward(block, keys, COUNT(keys));
        assert_true(block_distance(block, there) > 0);
        assert_int_equal(block_distance(block, feistel_back(there, keys, COUNT(keys))), 0);
    }
}

static void two_rounds_are_broken(void **state)
{
    struct attack attack;
    int broken = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        feistel_attack(seed, 4, &attack);
        assert_int_equal(attack.followed, attack.pairs);
        broken += attack.broken;
    }
    assert_int_equal(broken, 20);
    feistel_attack(1, 0, &attack);          /* nothing was asked, so nothing is known */
    assert_false(attack.broken);
    assert_int_equal(attack.left, 65536);
}

static void training_is_taken_back(void **state)
{
    struct arena arena = { 0 };
    struct net_bill bill = { 0 };
    enum { STEPS = 30 };
    double losses[STEPS];
    (void)state;
    for (int way = NET_KEEPS; way <= NET_UNDOES; way++) {
        struct net *net = net_open(&arena, 3, 6, 4, 10);
        const uint64_t before = net_state(net);
        for (int i = 0; i < STEPS; i++)
            losses[i] = net_step(net, (enum net_memory)way, &bill);
        assert_true(losses[STEPS - 1] < losses[0]);
        assert_true(net_state(net) != before);
        for (int i = STEPS; i-- > 0;) {
            net_step_back(net);
            assert_true(net_loss(net) == losses[i]);
        }
        assert_true(net_state(net) == before);
        assert_true(net_undoes(net));
    }
    arena_free(&arena);
}

static void bills_are_counted(void **state)
{
    struct arena arena = { 0 };
    (void)state;
    for (int layers = 2; layers <= 20; layers += 6) {
        struct net *net = net_open(&arena, 5, layers, 4, 3);
        struct net_bill kept = { 0 }, undone = { 0 };
        double *a = arena_array(&arena, net_weights(net), sizeof *a);
        double *b = arena_array(&arena, net_weights(net), sizeof *b);
        net_gradient(net, NET_KEEPS, a, &kept);
        net_gradient(net, NET_UNDOES, b, &undone);
        assert_memory_equal(a, b, net_weights(net) * sizeof *a);
        assert_int_equal(kept.most, 8 * layers);
        assert_int_equal(undone.most, 8);
        assert_int_equal(3 * undone.products, 4 * kept.products);
    }
    arena_free(&arena);
}

/* The loss is a mean of log-losses: its slope along the gradient, measured by a small step of training,
 * is minus the rate times the square of the gradient. */
static void gradient_is_the_slope(void **state)
{
    struct arena arena = { 0 };
    struct net *net = net_open(&arena, 9, 8, 6, 12);
    struct net_bill bill = { 0 };
    double *gradient = arena_array(&arena, net_weights(net), sizeof *gradient), square = 0;
    (void)state;
    const double before = net_gradient(net, NET_UNDOES, gradient, &bill);
    for (size_t i = 0; i < net_weights(net); i++)
        square += gradient[i] * gradient[i];
    net_step(net, NET_UNDOES, &bill);
    const double fall = before - net_loss(net);
    assert_true(fabs(before - net_loss(net)) > 0);
    assert_true(fabs(fall / (net_rate * square) - 1) < 0.02);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avalanche_is_as_expected), cmocka_unit_test(rounds_are_undone),
        cmocka_unit_test(two_rounds_are_broken), cmocka_unit_test(training_is_taken_back),
        cmocka_unit_test(bills_are_counted), cmocka_unit_test(gradient_is_the_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
