/* net -- a reversible net that trains, and then takes its training back.
 *
 *     layer:  b += f(a), a += f(b), f(x) = tanh(W x)          undone: a -= f(b), b -= f(a)
 *     step:   velocity -= rate * gradient, weight += velocity      undone the other way round
 *
 * Both are Feistel rounds: what is added is computed from what stays. All that is stored is a whole
 * number of 2^-40, so that what was added is taken off without a rounding error and every bit comes
 * back. Activations and products are counted as they are held and made. */
#ifndef REVERSE_NET_H
#define REVERSE_NET_H

#include "base/base.h"

/* How activations reach the backward pass. */
enum net_memory { NET_KEEPS, NET_UNDOES };

struct net_bill {
    size_t held, most;              /* activations held now, and at most, in numbers */
    size_t products;                /* multiply-adds */
};

extern const double net_rate;      /* of a step, per unit of gradient */

struct net;

/* A net of `layers` with two halves of `width`, that learns to tell two spirals apart; `points` of each. */
struct net *net_open(struct arena *arena, uint64_t seed, int layers, int width, int points);
/* The mean loss over all points, and one step of training. */
double net_loss(struct net *net);
double net_step(struct net *net, enum net_memory memory, struct net_bill *bill);
/* Take the last step back. */
void net_step_back(struct net *net);
/* The gradient by all weights, the same bits in both ways; gradient[net_weights]. */
size_t net_weights(const struct net *net);
double net_gradient(struct net *net, enum net_memory memory, double *gradient, struct net_bill *bill);
/* A number that changes with any bit of the weights and velocities. */
uint64_t net_state(const struct net *net);
/* Run a point of the first spiral through all layers and back; true: every bit came back. */
bool net_undoes(struct net *net);
/* The mean share of bits that a flipped bit of the input changes in the activations after so many
 * layers. */
double net_avalanche(struct net *net, uint64_t seed, int layers, int count);

#endif
