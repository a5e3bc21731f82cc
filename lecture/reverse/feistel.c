/* A Feistel cipher, the avalanche of a flipped bit, and the differential attack on two rounds. */
#include "lecture/reverse/feistel.h"

#include "rows/random.h"

/* Multiply and fold, as hash functions end: about half of the bits of the result change with each bit. */
uint32_t feistel_function(uint32_t half, uint32_t key)
{
    uint32_t x = half ^ (key * 0x9e3779b1u);
    for (int i = 0; i < 2; i++) {
        x ^= x >> 16;
        x *= 0x21f0aaadu;
        x ^= x >> 15;
        x *= 0x735a2d97u;
    }
    return x ^ (x >> 15);
}

struct cipher_block feistel_round(struct cipher_block block, uint32_t key)
{
    return (struct cipher_block){ block.right, block.left ^ feistel_function(block.right, key) };
}

struct cipher_block feistel_undo(struct cipher_block block, uint32_t key)
{
    return (struct cipher_block){ block.right ^ feistel_function(block.left, key), block.left };
}

struct cipher_block feistel_forward(struct cipher_block block, const uint32_t *keys, int rounds)
{
    for (int i = 0; i < rounds; i++)
        block = feistel_round(block, keys[i]);
    return block;
}

struct cipher_block feistel_back(struct cipher_block block, const uint32_t *keys, int rounds)
{
    for (int i = rounds; i-- > 0;)
        block = feistel_undo(block, keys[i]);
    return block;
}

int block_distance(struct cipher_block a, struct cipher_block b)
{
    return __builtin_popcount(a.left ^ b.left) + __builtin_popcount(a.right ^ b.right);
}

static struct cipher_block flipped(struct cipher_block block, int bit)
{
    if (bit < 32)
        block.right ^= 1u << bit;
    else
        block.left ^= 1u << (bit - 32);
    return block;
}

double feistel_avalanche(uint64_t seed, int rounds, int count)
{
    struct random random;
    double changed = 0;
    random_stream(&random, seed, "avalanche", 0);
    for (int i = 0; i < count; i++) {
        uint32_t keys[FEISTEL_ROUNDS];
        struct cipher_block block = { random_bits(&random), random_bits(&random) };
        for (int r = 0; r < rounds; r++)
            keys[r] = random_bits(&random);
        const struct cipher_block out = feistel_forward(block, keys, rounds);
        for (int bit = 0; bit < FEISTEL_BITS; bit++)
            changed += block_distance(out, feistel_forward(flipped(block, bit), keys, rounds));
    }
    return changed / FEISTEL_BITS / FEISTEL_BITS / count;
}

/* ---- the attack ----------------------------------------------------------------------------------- */

enum { KEY_BITS = 16, PAIRS_MOST = 64 };

struct block_pair {
    struct cipher_block in[2], out[2];
};

/* The right half of the result is the right half of the input with f of the left half of the result. */
static bool agrees(const struct block_pair *pairs, int count, uint32_t key)
{
    for (int i = 0; i < count; i++)
        if ((feistel_function(pairs[i].out[0].left, key) ^ feistel_function(pairs[i].out[1].left, key)) !=
            (pairs[i].out[0].right ^ pairs[i].out[1].right))
            return false;
    return true;
}

static bool first_agrees(const struct block_pair *pairs, int count, uint32_t key)
{
    for (int i = 0; i < count; i++)
        if (pairs[i].out[0].left != (pairs[i].in[0].left ^ feistel_function(pairs[i].in[0].right, key)))
            return false;
    return true;
}

void feistel_attack(uint64_t seed, int count, struct attack *attack)
{
    struct random random;
    struct block_pair pairs[PAIRS_MOST];
    size_t first_left = 0;
    if (count > PAIRS_MOST)
        count = PAIRS_MOST;
    random_stream(&random, seed, "attack", 0);
    *attack = (struct attack){ .pairs = count };
    for (int i = 0; i < 2; i++)
        attack->keys[i] = random_bits(&random) >> (32 - KEY_BITS);
    for (int i = 0; i < count; i++) {
        const struct cipher_block block = { random_bits(&random), random_bits(&random) };
        const uint32_t difference = 1u << (i % 32);
        pairs[i].in[0] = block;
        pairs[i].in[1] = (struct cipher_block){ block.left ^ difference, block.right };
        for (int k = 0; k < 2; k++)
            pairs[i].out[k] = feistel_forward(pairs[i].in[k], attack->keys, 2);
        attack->followed += (pairs[i].out[0].left ^ pairs[i].out[1].left) == difference;
    }
    for (uint32_t key = 0; key < 1u << KEY_BITS; key++) {
        if (agrees(pairs, count, key)) {
            attack->left++;
            attack->found[1] = key;
        }
        if (first_agrees(pairs, count, key)) {
            first_left++;
            attack->found[0] = key;
        }
        attack->tried += 2;
    }
    attack->broken = attack->left == 1 && first_left == 1 && attack->found[0] == attack->keys[0] &&
                     attack->found[1] == attack->keys[1];
}
