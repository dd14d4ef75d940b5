/* cache.c - the nodes read last, for any number of threads.
 *
 * A node is found by the offset it stands at and is the right one if length and checksum
 * agree too: space is used again.  The locks are held only to look, never to read. */
#include "store/node.h"

#include "base/error.h"
#include "base/pool.h"

#include <string.h>

/* What nodes may take of the budget whatever chunks do. */
#define LEAST ((uint64_t)8 << 20)

int node_cache_init(struct node_cache *c, struct budget *budget)
{
    memset(c, 0, sizeof(*c));
    c->budget = budget;
    if (leafmem_init(&c->mem))
        return DREP_ERR_NOMEM;
    for (int i = 0; i < CACHE_SHARDS; i++) {
        if (lock_init(&c->shard[i].lock)) {
            while (i-- > 0)
                pthread_mutex_destroy(&c->shard[i].lock);
            leafmem_release(&c->mem);
            return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
        }
    }
    return 0;
}

static struct cache_shard *shard_of(struct node_cache *c, uint64_t offset, struct node ***chain)
{
    uint64_t h = offset / FMT_ALIGN * UINT64_C(0x9e3779b97f4a7c15);
    struct cache_shard *s = &c->shard[h >> 60];

    *chain = &s->chain[h >> 52 & (CACHE_CHAINS - 1)];
    return s;
}

static void unlink_age(struct cache_shard *s, struct node *n)
{
    if (n->newer)
        n->newer->older = n->older;
    else
        s->newest = n->older;
    if (n->older)
        n->older->newer = n->newer;
    else
        s->oldest = n->newer;
}

static void link_newest(struct cache_shard *s, struct node *n)
{
    n->newer = NULL;
    n->older = s->newest;
    if (s->newest)
        s->newest->newer = n;
    else
        s->oldest = n;
    s->newest = n;
}

static void drop(struct node_cache *c, struct cache_shard *s, struct node *n)
{
    struct node **at;

    shard_of(c, n->ref.offset, &at);
    while (*at != n)
        at = &(*at)->chain;
    *at = n->chain;
    unlink_age(s, n);
    s->memory -= node_memory(n);
    atomic_fetch_sub_explicit(&c->budget->nodes, node_memory(n), memory_order_relaxed);
    node_unref(n);
}

static struct node *find(struct node *chain, uint64_t offset)
{
    while (chain && chain->ref.offset != offset)
        chain = chain->chain;
    return chain;
}

struct node *node_cache_get(struct node_cache *c, const struct ref *ref)
{
    struct node **chain, *n;
    struct cache_shard *s = shard_of(c, ref->offset, &chain);

    pthread_mutex_lock(&s->lock);
    n = find(*chain, ref->offset);
    if (n && (n->ref.length != ref->length || n->ref.checksum != ref->checksum))
        n = NULL;
    if (n) {
        for (int i = 1; i < 6; i++) /* the marks of a leaf that was read follow it */
            __builtin_prefetch((const char *)n + i * 64);
        node_ref(n);
        atomic_store_explicit(&n->touched, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* The oldest goes, unless it was used since it became that: then it is new again. */
static void drop_or_spare(struct node_cache *c, struct cache_shard *s, struct node *n)
{
    if (!atomic_exchange_explicit(&n->touched, 0, memory_order_relaxed)) {
        drop(c, s, n);
        return;
    }
    unlink_age(s, n);
    link_newest(s, n);
}

/* At most half of the budget, and not what chunks have taken of it. */
static uint64_t allowed(const struct node_cache *c)
{
    uint64_t half = c->budget->most / 2;
    uint64_t chunks = atomic_load_explicit(&c->budget->chunks, memory_order_relaxed);

    if (chunks > half)
        half = chunks < c->budget->most ? c->budget->most - chunks : 0;
    return half > LEAST ? half : LEAST;
}

void node_cache_put(struct node_cache *c, struct node *n)
{
    struct node **chain, *old;
    struct cache_shard *s = shard_of(c, n->ref.offset, &chain);

    pthread_mutex_lock(&s->lock);
    old = find(*chain, n->ref.offset);
    if (old)
        drop(c, s, old);
    node_ref(n);
    n->chain = *chain;
    *chain = n;
    link_newest(s, n);
    s->memory += node_memory(n);
    atomic_fetch_add_explicit(&c->budget->nodes, node_memory(n), memory_order_relaxed);
    while (s->memory > allowed(c) / CACHE_SHARDS && s->oldest != n)
        drop_or_spare(c, s, s->oldest);
    pthread_mutex_unlock(&s->lock);
}

void node_cache_clear(struct node_cache *c)
{
    for (int i = 0; i < CACHE_SHARDS; i++) {
        struct cache_shard *s = &c->shard[i];

        pthread_mutex_lock(&s->lock);
        while (s->oldest)
            drop(c, s, s->oldest);
        pthread_mutex_unlock(&s->lock);
    }
}

void node_cache_release(struct node_cache *c)
{
    node_cache_clear(c);
    for (int i = 0; i < CACHE_SHARDS; i++)
        pthread_mutex_destroy(&c->shard[i].lock);
    leafmem_release(&c->mem);
}
