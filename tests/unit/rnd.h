/* rnd.h - random numbers that can be repeated. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RND_H
#define TESTS_RND_H

#include <stdint.h>

/* splitmix64: every seed is good. */
struct rnd {
    uint64_t seed, state;
};

static inline void rnd_init(struct rnd *r, uint64_t seed)
{
    r->seed = r->state = seed;
}

static inline uint64_t rnd_u64(struct rnd *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 to n - 1. */
static inline uint64_t rnd_below(struct rnd *r, uint64_t n)
{
    return rnd_u64(r) % n;
}

#endif
