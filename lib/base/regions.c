/* regions.c - memory for what the caches keep.
 *
 * What large pieces do not use any more is given back to the system at once, a small one is
 * not worth the call.  A region of which nothing is used goes as a whole, but for the last one
 * with room for small pieces: the next one is likely to be asked for. */
/* SPDX-License-Identifier: MIT */
#include "base/regions.h"

#include "base/mem.h"
#include "base/pool.h"

#include <stdint.h>
#include <string.h>

#define REGION ((size_t)16 << 20) /* of large pieces; of small ones MEM_HUGE */
#define WORDS 6

/* A region: pieces of one size. */
struct region {
    struct regions *mem;
    struct region *next, *last; /* of those with an unused piece */
    uint8_t *p;
    size_t size; /* bytes of a piece */
    int n, used;
    uint64_t unused[WORDS]; /* a bit for each */
};

int regions_init(struct regions *m)
{
    memset(m, 0, sizeof(*m));
    return lock_init(&m->lock);
}

void regions_closing(struct regions *m, int closing)
{
    pthread_mutex_lock(&m->lock);
    m->closing = closing;
    pthread_mutex_unlock(&m->lock);
}

static void link_region(struct regions *m, struct region *r)
{
    r->last = NULL;
    r->next = m->with_room;
    if (r->next)
        r->next->last = r;
    m->with_room = r;
}

static void unlink_region(struct regions *m, struct region *r)
{
    *(r->last ? &r->last->next : &m->with_room) = r->next;
    if (r->next)
        r->next->last = r->last;
}

/* How many pieces a new region has.  Large ones: one, then twice as many as the region before
 * had, while the size stays.  A file may have a thousand datasets with chunks of a size of
 * their own each, and limits of memory count addresses, also of pieces that nobody touches. */
static size_t pieces_of_new(struct regions *m, size_t size)
{
    size_t most = ((size < REGION_LARGE ? MEM_HUGE : REGION) - 1) / size + 1;

    if (size < REGION_LARGE)
        return most;
    m->grown = size == m->grown_size ? 2 * m->grown : 1;
    m->grown_size = size;
    if (m->grown > most)
        m->grown = most;
    return m->grown;
}

static struct region *region_new(struct regions *m, size_t size)
{
    size_t n = pieces_of_new(m, size);
    struct region *r = mem_zalloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->mem = m;
    r->size = size;
    r->n = (int)(n < 64 * WORDS ? n : 64 * WORDS);
    for (int i = 0; i < r->n; i++)
        r->unused[i / 64] |= (uint64_t)1 << (i % 64);
    r->p = mem_map(size * (size_t)r->n);
    if (!r->p) {
        mem_free(r);
        return NULL;
    }
    link_region(m, r);
    return r;
}

static void region_free(struct region *r)
{
    unlink_region(r->mem, r);
    mem_unmap(r->p, r->size * (size_t)r->n);
    mem_free(r);
}

void regions_release(struct regions *m)
{
    while (m->with_room)
        region_free(m->with_room);
    pthread_mutex_destroy(&m->lock);
}

/* The first unused piece, used now. */
static uint8_t *take(struct region *r)
{
    int w = 0, bit;

    while (!r->unused[w])
        w++;
    bit = __builtin_ctzll(r->unused[w]);
    r->unused[w] &= r->unused[w] - 1;
    if (++r->used == r->n)
        unlink_region(r->mem, r);
    return r->p + (size_t)(64 * w + bit) * r->size;
}

void *region_take(struct regions *m, size_t size, struct region **from)
{
    struct region *r;
    void *p = NULL;

    pthread_mutex_lock(&m->lock);
    r = m->with_room;
    while (r && r->size != size)
        r = r->next;
    if (!r)
        r = region_new(m, size);
    if (r) {
        p = take(r);
        *from = r;
    }
    pthread_mutex_unlock(&m->lock);
    return p;
}

void region_give(struct region *r, void *p)
{
    size_t i = (size_t)((uint8_t *)p - r->p) / r->size;
    struct regions *m = r->mem;

    pthread_mutex_lock(&m->lock);
    if (r->used-- == r->n)
        link_region(m, r);
    r->unused[i / 64] |= (uint64_t)1 << (i % 64);
    if (r->used == 0 && (r->size >= REGION_LARGE || r->next || r->last))
        region_free(r);
    else if (r->size >= REGION_LARGE && !m->closing)
        mem_idle(p, r->size);
    pthread_mutex_unlock(&m->lock);
}
