/* leafmem.c - memory for leaves that are read.
 *
 * A leaf and its marks fit into a slot; one that is larger, and the first few hundred, so
 * that small files take no more than they need, have memory of their own. */
#include "store/node.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

#define SLOT ((size_t)6 << 10)
#define ALONE 256
#define HEAD 64 /* of a region: where the next one is */

int leafmem_init(struct leafmem *p)
{
    memset(p, 0, sizeof(*p));
    if (pthread_mutex_init(&p->lock, NULL))
        return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    return 0;
}

/* Takes the first one of a list. */
static void *pop(void **list)
{
    void *first = *list;

    if (first)
        memcpy(list, first, sizeof(*list));
    return first;
}

static void push(void **list, void *p)
{
    memcpy(p, list, sizeof(*list));
    *list = p;
}

void leafmem_release(struct leafmem *p)
{
    void *region;

    while ((region = pop(&p->regions)) != NULL)
        mem_free(region);
    pthread_mutex_destroy(&p->lock);
}

/* One more region, if there is memory for it. */
static void extend(struct leafmem *p)
{
    uint8_t *region = mem_huge();

    if (!region)
        return;
    push(&p->regions, region);
    p->next = region + HEAD;
    p->left = (MEM_HUGE - HEAD) / SLOT;
}

static void *take(struct leafmem *p)
{
    uint8_t *slot = pop(&p->given_back);

    if (slot)
        return slot;
    if (p->left == 0 && p->alone < ALONE) {
        p->alone++;
        return NULL;
    }
    if (p->left == 0)
        extend(p);
    if (p->left == 0)
        return NULL;
    slot = p->next;
    p->next += SLOT;
    p->left--;
    return slot;
}

void *leafmem_take(struct leafmem *p, size_t size)
{
    void *slot;

    if (size > SLOT)
        return NULL;
    pthread_mutex_lock(&p->lock);
    slot = take(p);
    pthread_mutex_unlock(&p->lock);
    return slot;
}

void leafmem_give(struct leafmem *p, void *slot)
{
    pthread_mutex_lock(&p->lock);
    push(&p->given_back, slot);
    pthread_mutex_unlock(&p->lock);
}
