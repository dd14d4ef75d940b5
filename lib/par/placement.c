/* placement.c - rank 0 tells the owners of chunks where in the file these stand.
 *
 * Offsets of all ranks are one array, that of rank r from offset[r] on; while it is filled,
 * offset[r] says where r's next one goes. */
/* SPDX-License-Identifier: MIT */
#include "par/placement.h"

#include "base/mem.h"
#include "format/byteorder.h"

#include <string.h>

/* Bytes of what is told to the owner of a chunk; 0: it does not wait for a place. */
static size_t place_size(const struct remote_chunk *c)
{
    size_t n = c->scattered ? 1 + (size_t)c->slabs : 1;

    return c->patched ? PLACE_PATCHED : c->whole && !c->leased ? n * PLACE_WHOLE : 0;
}

static void place_put(const struct remote_chunk *c, uint8_t *p)
{
    store_u64(p, c->scattered ? 0 : c->encoded.offset);
    for (int64_t i = 0; c->scattered && i < c->slabs; i++)
        store_u64(p + (i + 1) * PLACE_WHOLE, c->scattered[i]);
    if (!c->patched)
        return;
    store_u64(p + 8, c->given.left_at);
    store_u64(p + 16, c->given.left);
}

/* Bytes of the places of all chunks. */
static uint64_t places_size(const struct remote *remote)
{
    uint64_t n = 0;

    for (size_t i = 0; i < remote->n; i++)
        n += place_size(&remote->chunk[i]);
    return n;
}

int places_give(struct team *team, const struct remote *remote, int err, const uint8_t *front,
                size_t size, struct buf *mine)
{
    uint64_t *offset = NULL, ranks = (uint64_t)team->size;
    uint8_t *all = NULL;

    if (team->rank > 0)
        return team_scatter(team, NULL, NULL, mine);
    offset = mem_zalloc(ranks + 1, sizeof *offset);
    all = mem_array(places_size(remote) + ranks * size + 1, 1);
    if (!offset || !all) {
        mem_free(offset);
        mem_free(all);
        return team_kill(team, fail_nomem());
    }
    for (size_t i = 0; !err && i < remote->n; i++)
        offset[remote->chunk[i].owner + 1] += place_size(&remote->chunk[i]);
    for (uint64_t r = 0; r < ranks; r++) {
        offset[r + 1] += offset[r] + size;
        memcpy(all + offset[r], front, size);
        offset[r] += size;
    }
    for (size_t i = 0; !err && i < remote->n; i++) {
        const struct remote_chunk *c = &remote->chunk[i];

        if (place_size(c) == 0)
            continue;
        place_put(c, all + offset[c->owner]);
        offset[c->owner] += place_size(c);
    }
    for (uint64_t r = ranks; r > 0; r--)
        offset[r] = offset[r - 1];
    offset[0] = 0;
    err = team_scatter(team, all, offset, mine);
    mem_free(offset);
    mem_free(all);
    return err;
}
