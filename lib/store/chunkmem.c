/* chunkmem.c - memory for what the chunk cache keeps.
 *
 * A region is memory for some pieces of one size, in large pages: a page that was never used
 * costs as much as to decode half of it.  What no piece uses is given back to the system; a
 * region that nothing of is used goes as a whole. */
#include "store/inner.h"

#include "base/mem.h"

#include <string.h>

#define SLOT_MIN ((size_t)32 << 10)
#define REGION ((size_t)16 << 20)
#define SLOTS_MAX 64

/* Some pieces of one size. */
struct region {
    struct chunkmem *mem;
    struct region *next, *last; /* of those with a free slot */
    uint8_t *p;
    size_t slot; /* bytes of one */
    int n;
    uint64_t all, unused; /* a bit for each */
};

int chunkmem_init(struct chunkmem *m)
{
    memset(m, 0, sizeof(*m));
    return lock_init(&m->lock);
}

void chunkmem_closing(struct chunkmem *m, int closing)
{
    pthread_mutex_lock(&m->lock);
    m->closing = closing;
    pthread_mutex_unlock(&m->lock);
}

void chunkmem_release(struct chunkmem *m)
{
    pthread_mutex_destroy(&m->lock);
}

static void link_region(struct chunkmem *m, struct region *r)
{
    r->last = NULL;
    r->next = m->with_room;
    if (r->next)
        r->next->last = r;
    m->with_room = r;
}

static void unlink_region(struct chunkmem *m, struct region *r)
{
    *(r->last ? &r->last->next : &m->with_room) = r->next;
    if (r->next)
        r->next->last = r->last;
}

/* NULL: the system has no memory for it, which is no error. */
static struct region *region_new(struct chunkmem *m, size_t slot)
{
    int n = slot < REGION / SLOTS_MAX ? SLOTS_MAX : (int)((REGION - 1) / slot) + 1;
    struct region *r = mem_zalloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->mem = m;
    r->slot = slot;
    r->n = n;
    r->all = ~(uint64_t)0 >> (64 - n);
    r->unused = r->all;
    r->p = mem_map(slot * (size_t)n);
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
    mem_unmap(r->p, r->slot * (size_t)r->n);
    mem_free(r);
}

void chunkmem_take(struct chunkmem *m, uint64_t size, struct buf *b)
{
    size_t slot = (size_t)round_up(size, FMT_SUM_BLOCK);
    struct region *r;

    if (slot < SLOT_MIN || slot < size)
        return;
    pthread_mutex_lock(&m->lock);
    r = m->with_room;
    while (r && r->slot != slot)
        r = r->next;
    if (!r)
        r = region_new(m, slot);
    if (r) {
        int i = __builtin_ctzll(r->unused);

        *b = (struct buf){.p = r->p + (size_t)i * slot, .size = slot, .region = r};
        r->unused &= r->unused - 1;
        if (!r->unused)
            unlink_region(m, r);
    }
    pthread_mutex_unlock(&m->lock);
}

void chunkmem_give(struct region *r, uint8_t *p)
{
    struct chunkmem *m = r->mem;

    pthread_mutex_lock(&m->lock);
    if (!r->unused)
        link_region(m, r);
    r->unused |= (uint64_t)1 << ((size_t)(p - r->p) / r->slot);
    if (r->unused == r->all)
        region_free(r);
    else if (!m->closing)
        mem_idle(p, r->slot);
    pthread_mutex_unlock(&m->lock);
}
