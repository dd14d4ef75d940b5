/* idset.c - a hashed set of 64-bit ids: open addressing, at most half full. */
/* SPDX-License-Identifier: MIT */
#include "base/idset.h"

#include "base/err.h"
#include "base/mem.h"

enum { SIZE_FIRST = 64 };

/* The slot of the id, or the free one where it belongs. */
static struct idset_slot *slot_of(const struct idset *s, uint64_t id)
{
    size_t i = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->size - 1);

    while (s->slot[i].id && s->slot[i].id != id)
        i = (i + 1) & (s->size - 1);
    return &s->slot[i];
}

static int idset_grow(struct idset *s)
{
    struct idset more = {.n = s->n, .size = s->size ? 2 * s->size : SIZE_FIRST};

    more.slot = mem_zalloc(more.size, sizeof *more.slot);
    if (!more.slot)
        return DREP_ERR_NOMEM;
    for (size_t i = 0; i < s->size; i++)
        if (s->slot[i].id)
            *slot_of(&more, s->slot[i].id) = s->slot[i];
    mem_free(s->slot);
    *s = more;
    return 0;
}

uintptr_t *idset_add(struct idset *s, uint64_t id)
{
    struct idset_slot *slot;

    if (s->n >= s->size / 2 && idset_grow(s))
        return NULL;
    slot = slot_of(s, id);
    s->n += slot->id == 0;
    slot->id = id;
    return &slot->value;
}

uintptr_t *idset_find(const struct idset *s, uint64_t id)
{
    struct idset_slot *slot = s->size ? slot_of(s, id) : NULL;

    return slot && slot->id ? &slot->value : NULL;
}

int idset_mark(struct idset *s, uint64_t id, bool *first)
{
    uintptr_t *value = idset_add(s, id);

    if (!value)
        return DREP_ERR_NOMEM;
    *first = *value == 0;
    *value = 1;
    return 0;
}

void idset_release(struct idset *s)
{
    mem_free(s->slot);
    *s = (struct idset){0};
}
