/* arena.c - memory for the strings and sequences that HDF5 reads. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/arena.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Bytes of strings and sequences in a block of more than one element. */
#define CONTENTS_MAX (64 << 20)
#define SLAB_SIZE (256 << 10)

struct slab {
    struct slab *next;
    size_t used, size;
    max_align_t bytes[];
};

static void *arena_alloc(size_t size, void *info)
{
    struct arena *a = info;
    struct slab *s = a->slabs;
    size_t need = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    if (need < size || need > a->limit - a->total) {
        a->refused = 1;
        return NULL;
    }
    if (!s || need > s->size - s->used) {
        size_t most = need > SLAB_SIZE ? need : SLAB_SIZE;

        s = malloc(sizeof *s + most);
        if (!s)
            return NULL;
        *s = (struct slab){.next = a->slabs, .size = most};
        a->slabs = s;
    }
    a->total += need;
    s->used += need;
    return (char *)s->bytes + s->used - need;
}

static void arena_keep(void *p, void *info)
{
    (void)p, (void)info;
}

hid_t arena_transfer(struct arena *a)
{
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);

    H5Pset_vlen_mem_manager(dxpl, arena_alloc, a, arena_keep, a);
    return dxpl;
}

void arena_begin(struct arena *a, size_t elements)
{
    a->limit = elements == 1 ? SIZE_MAX : CONTENTS_MAX;
    a->refused = 0;
}

void arena_release(struct arena *a)
{
    while (a->slabs) {
        struct slab *next = a->slabs->next;

        free(a->slabs);
        a->slabs = next;
    }
    a->total = 0;
}
