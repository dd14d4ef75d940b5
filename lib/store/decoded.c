/* decoded.c - filtered chunks as they were before the filters, the last ones used.
 *
 * Two threads that want the same chunk decode it once: the second waits for the first. */
#include "store/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

#define CHAINS 256

enum { LOADING, READY, FAILED };

struct chunk_cache {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    struct decoded *chain[CHAINS];
    struct decoded *newest, *oldest;
    uint64_t size;
    struct budget *budget;
};

int chunk_cache_new(struct budget *budget, struct chunk_cache **out)
{
    struct chunk_cache *c = mem_zalloc(1, sizeof(*c));

    if (!c)
        return DREP_ERR_NOMEM;
    c->budget = budget;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->loaded, NULL);
    *out = c;
    return 0;
}

/* What nodes leave of the budget. */
static uint64_t most(const struct chunk_cache *c)
{
    uint64_t nodes = atomic_load_explicit(&c->budget->nodes, memory_order_relaxed);

    return nodes < c->budget->most ? c->budget->most - nodes : 0;
}

static void resize(struct chunk_cache *c, uint64_t size)
{
    c->size = size;
    atomic_store_explicit(&c->budget->chunks, size, memory_order_relaxed);
}

static struct decoded **chain_of(struct chunk_cache *c, const struct key *key)
{
    return &c->chain[sum_of(key->p, key->len) % CHAINS];
}

static void unlink_age(struct chunk_cache *c, struct decoded *d)
{
    *(d->newer ? &d->newer->older : &c->newest) = d->older;
    *(d->older ? &d->older->newer : &c->oldest) = d->newer;
    d->newer = NULL;
    d->older = NULL;
}

static void link_newest(struct chunk_cache *c, struct decoded *d)
{
    d->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = d;
    c->newest = d;
}

static void unref(struct decoded *d)
{
    if (--d->refs > 0)
        return;
    buf_release(&d->bytes);
    mem_free(d);
}

/* Out of the cache; who holds it may go on. */
static void drop(struct chunk_cache *c, struct decoded *d)
{
    struct decoded **at = chain_of(c, &d->key);

    while (*at && *at != d)
        at = &(*at)->chain;
    if (!*at)
        return;
    *at = d->chain;
    unlink_age(c, d);
    resize(c, c->size - d->bytes.size);
    unref(d);
}

void chunk_cache_clear(struct chunk_cache *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    while (c->oldest)
        drop(c, c->oldest);
    pthread_mutex_unlock(&c->lock);
}

void chunk_cache_free(struct chunk_cache *c)
{
    if (!c)
        return;
    chunk_cache_clear(c);
    pthread_cond_destroy(&c->loaded);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

static struct decoded *find(struct chunk_cache *c, const struct key *key)
{
    struct decoded *d = *chain_of(c, key);

    while (d && (d->key.len != key->len || memcmp(d->key.p, key->p, key->len) != 0))
        d = d->chain;
    return d;
}

void chunk_cache_drop(struct chunk_cache *c, const struct key *key)
{
    struct decoded *d;

    pthread_mutex_lock(&c->lock);
    d = find(c, key);
    if (d)
        drop(c, d);
    pthread_mutex_unlock(&c->lock);
}

void chunk_cache_put(struct chunk_cache *c, struct decoded *d)
{
    pthread_mutex_lock(&c->lock);
    unref(d);
    pthread_mutex_unlock(&c->lock);
}

/* The one in the cache, when somebody has it or is about to; NULL: ours to load. */
static struct decoded *wait_for(struct chunk_cache *c, const struct key *key)
{
    struct decoded *d = find(c, key);

    if (!d)
        return NULL;
    d->refs++;
    while (d->state == LOADING)
        pthread_cond_wait(&c->loaded, &c->lock);
    if (d->state == FAILED) {
        unref(d);
        return NULL;
    }
    if (d != c->newest && find(c, key) == d) {
        unlink_age(c, d);
        link_newest(c, d);
    }
    return d;
}

static struct decoded *begin(struct chunk_cache *c, const struct key *key, int cached)
{
    struct decoded *d = mem_zalloc(1, sizeof(*d));
    struct decoded **chain;

    if (!d)
        return NULL;
    d->refs = 1;
    d->state = LOADING;
    d->key.len = key->len;
    memcpy(d->key.p, key->p, key->len);
    if (!cached)
        return d;
    chain = chain_of(c, key);
    d->refs++;
    d->chain = *chain;
    *chain = d;
    link_newest(c, d);
    return d;
}

int chunk_cache_get(struct chunk_cache *c, const struct key *key, int once, chunk_load_fn *load,
                    void *ctx, struct decoded **out)
{
    struct buf bytes = {0};
    struct decoded *d;
    int cached = !once && c->budget->most > 0;
    int err;

    pthread_mutex_lock(&c->lock);
    d = wait_for(c, key);
    if (d) {
        pthread_mutex_unlock(&c->lock);
        *out = d;
        return 0;
    }
    d = begin(c, key, cached && !find(c, key));
    pthread_mutex_unlock(&c->lock);
    if (!d)
        return DREP_ERR_NOMEM;
    err = load(ctx, &bytes);
    pthread_mutex_lock(&c->lock);
    d->bytes = bytes;
    d->state = err ? FAILED : READY;
    if (find(c, key) == d) {
        resize(c, c->size + bytes.size);
        if (err || bytes.size > most(c))
            drop(c, d);
        while (c->size > most(c) && c->oldest != d && c->oldest)
            drop(c, c->oldest);
    }
    pthread_cond_broadcast(&c->loaded);
    if (err)
        unref(d);
    pthread_mutex_unlock(&c->lock);
    if (err)
        return err;
    *out = d;
    return 0;
}
