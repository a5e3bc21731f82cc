/* feistel -- a cipher of 64-bit blocks made of rounds that can be undone.
 *
 *     (left, right) -> (right, left ^ f(right, key))
 *
 * f mixes 32 bits and has no inverse that anything here uses. It is for looking at, not for secrets. */
#ifndef REVERSE_FEISTEL_H
#define REVERSE_FEISTEL_H

#include "base/base.h"

enum { FEISTEL_ROUNDS = 16, FEISTEL_BITS = 64 };

struct cipher_block {
    uint32_t left, right;
};

uint32_t feistel_function(uint32_t half, uint32_t key);
struct cipher_block feistel_round(struct cipher_block block, uint32_t key);
struct cipher_block feistel_undo(struct cipher_block block, uint32_t key);
struct cipher_block feistel_forward(struct cipher_block block, const uint32_t *keys, int rounds);
struct cipher_block feistel_back(struct cipher_block block, const uint32_t *keys, int rounds);
/* How many of the 64 bits differ. */
int block_distance(struct cipher_block a, struct cipher_block b);
/* The mean share of bits that differ after `rounds`, over `count` random blocks with random keys and each
 * of their 64 bits flipped. Same seed, same value. */
double feistel_avalanche(uint64_t seed, int rounds, int count);

/* Two rounds with keys of 16 bits, attacked with pairs of chosen plaintexts: flipping a bit of the left
 * half flips the same bit of the left half of the result, whatever the keys, so that the function of the
 * second round can be read off. */
struct attack {
    uint32_t keys[2], found[2];
    int pairs, followed;            /* pairs asked; those in which the difference came through */
    size_t left;                    /* keys of the second round that agree with every pair */
    size_t tried;                   /* keys tried in all */
    bool broken;                    /* exactly one pair of keys is left, and it is the right one */
};
void feistel_attack(uint64_t seed, int pairs, struct attack *attack);

#endif
