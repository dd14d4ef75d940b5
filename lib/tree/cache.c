/* cache.c - the clean nodes read last, for any number of threads.
 *
 * Each shard is an open-addressed table by offset, at most half full, with a clock hand that
 * evicts nodes not used since its last turn. */
/* SPDX-License-Identifier: MIT */
#include "tree/cache.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

#include <string.h>

/* Bytes that nodes may take of the budget, whatever chunks do. */
#define LEAST ((uint64_t)8 << 20)

int node_cache_init(struct node_cache *c, struct budget *budget)
{
    memset(c, 0, sizeof(*c));
    c->budget = budget;
    if (regions_init(&c->mem))
        return DREP_ERR_NOMEM;
    for (int i = 0; i < CACHE_SHARDS; i++) {
        if (lock_init(&c->shard[i].lock)) {
            while (i-- > 0)
                pthread_mutex_destroy(&c->shard[i].lock);
            regions_release(&c->mem);
            return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
        }
    }
    return 0;
}

static uint64_t hash_offset(uint64_t offset)
{
    return offset / FMT_ALIGN * UINT64_C(0x9e3779b97f4a7c15);
}

static struct cache_shard *shard_of(struct node_cache *c, uint64_t offset)
{
    return &c->shard[hash_offset(offset) >> 60];
}

/* ---- places ---- */

static size_t shard_home(const struct cache_shard *s, uint64_t offset)
{
    return (size_t)(hash_offset(offset) >> 28) & (s->places - 1);
}

/* Find the place of a node, or the free one that it may take; one is always free. */
static struct cache_place *shard_find(const struct cache_shard *s, uint64_t offset)
{
    size_t i = shard_home(s, offset);

    while (s->place[i].node && s->place[i].offset != offset)
        i = (i + 1) & (s->places - 1);
    return &s->place[i];
}

static void shard_charge(struct node_cache *c, struct cache_shard *s, size_t memory)
{
    s->memory += memory;
    atomic_fetch_add_explicit(&c->budget->nodes, memory, memory_order_relaxed);
}

/* Double the places, if there is memory. */
static void more_places(struct node_cache *c, struct cache_shard *s)
{
    struct cache_shard more = {.places = s->places ? 2 * s->places : 64};

    more.place = mem_zalloc(more.places, sizeof(*more.place));
    if (!more.place)
        return;
    for (size_t i = 0; i < s->places; i++) {
        if (s->place[i].node)
            *shard_find(&more, s->place[i].offset) = s->place[i];
    }
    mem_free(s->place);
    shard_charge(c, s, (more.places - s->places) * sizeof(*s->place));
    s->place = more.place;
    s->places = more.places;
}

/* Free a place.  Nodes behind it move up, so that they are still found. */
static void leave_place(struct cache_shard *s, struct cache_place *place)
{
    size_t last = s->places - 1, gap = (size_t)(place - s->place);

    for (size_t i = (gap + 1) & last; s->place[i].node; i = (i + 1) & last) {
        if (((i - shard_home(s, s->place[i].offset)) & last) >= ((i - gap) & last)) {
            s->place[gap] = s->place[i];
            gap = i;
        }
    }
    s->place[gap].node = NULL;
    s->taken--;
}

/* ---- nodes ---- */

static void shard_drop(struct node_cache *c, struct cache_shard *s, struct cache_place *place)
{
    struct tree_node *n = place->node;
    size_t memory = node_memory(n);

    leave_place(s, place);
    s->memory -= memory;
    atomic_fetch_sub_explicit(&c->budget->nodes, memory, memory_order_relaxed);
    node_unref(n);
}

struct regions *node_cache_regions(struct node_cache *c)
{
    uint64_t memory = atomic_load_explicit(&c->budget->nodes, memory_order_relaxed);

    return memory >= MEM_HUGE / 2 ? &c->mem : NULL;
}

struct tree_node *node_cache_get(struct node_cache *c, const struct ref *ref)
{
    struct cache_shard *s = shard_of(c, ref->offset);
    struct cache_place *place;
    struct tree_node *n = NULL;

    pthread_mutex_lock(&s->lock);
    place = s->taken ? shard_find(s, ref->offset) : NULL;
    if (place && place->node) {
        n = place->node;
        for (int i = 1; i < 6; i++) /* the marks of a clean leaf follow the struct */
            __builtin_prefetch((const char *)n + i * 64);
        place->touched = 1;
        if (n->ref.length != ref->length || n->ref.checksum != ref->checksum)
            n = NULL;
        else
            node_ref(n);
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* Evict one node, but not this one, that was not used since the hand passed it last. */
static void drop_one(struct node_cache *c, struct cache_shard *s, const struct tree_node *but)
{
    for (;; s->hand++) {
        struct cache_place *place = &s->place[s->hand & (s->places - 1)];

        if (place->node && place->node != but && !place->touched) {
            shard_drop(c, s, place);
            return;
        }
        place->touched = 0;
    }
}

/* Bytes that nodes may take: half of the budget, less what chunks hold of that half. */
static uint64_t memory_allowed(const struct node_cache *c)
{
    uint64_t half = c->budget->most / 2;
    uint64_t chunks = atomic_load_explicit(&c->budget->chunks, memory_order_relaxed);

    if (chunks > half)
        half = chunks < c->budget->most ? c->budget->most - chunks : 0;
    return half > LEAST ? half : LEAST;
}

/* Keep a node if a place stays free behind it. */
static void node_cache_insert(struct node_cache *c, struct cache_shard *s, struct tree_node *n)
{
    if (2 * s->taken >= s->places)
        more_places(c, s);
    if (s->taken + 1 >= s->places)
        return;
    node_ref(n);
    *shard_find(s, n->ref.offset) = (struct cache_place){n->ref.offset, n, 0};
    s->taken++;
    shard_charge(c, s, node_memory(n));
}

void node_cache_put(struct node_cache *c, struct tree_node *n)
{
    struct cache_shard *s = shard_of(c, n->ref.offset);
    struct cache_place *old;

    pthread_mutex_lock(&s->lock);
    old = s->taken ? shard_find(s, n->ref.offset) : NULL;
    if (old && old->node)
        shard_drop(c, s, old);
    node_cache_insert(c, s, n);
    while (s->memory > memory_allowed(c) / CACHE_SHARDS && s->taken > 1)
        drop_one(c, s, n);
    pthread_mutex_unlock(&s->lock);
}

void node_cache_clear(struct node_cache *c)
{
    for (int i = 0; i < CACHE_SHARDS; i++) {
        struct cache_shard *s = &c->shard[i];

        pthread_mutex_lock(&s->lock);
        for (size_t k = 0; s->taken > 0; k++) {
            while (s->place[k].node) /* nodes behind it move up */
                shard_drop(c, s, &s->place[k]);
        }
        pthread_mutex_unlock(&s->lock);
    }
}

void node_cache_release(struct node_cache *c)
{
    node_cache_clear(c);
    for (int i = 0; i < CACHE_SHARDS; i++) {
        mem_free(c->shard[i].place);
        pthread_mutex_destroy(&c->shard[i].lock);
    }
    regions_release(&c->mem);
}
