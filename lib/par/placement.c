/* placement.c - rank 0 tells the owners of chunks where in the file these stand.
 *
 * Offsets of all ranks are one array, that of rank r from offset[r] on; while it is filled,
 * offset[r] says where r's next one goes. */
/* SPDX-License-Identifier: MIT */
#include "par/placement.h"

#include "base/mem.h"
#include "format/byteorder.h"

#include <string.h>

int places_give(struct team *team, const struct remote *remote, int err, const uint8_t *front,
                size_t size, struct buf *mine)
{
    uint64_t *offset = NULL, ranks = (uint64_t)team->size;
    uint8_t *all = NULL;

    if (team->rank > 0)
        return team_scatter(team, NULL, NULL, mine);
    offset = mem_zalloc(ranks + 1, sizeof *offset);
    all = mem_array(remote->n * 8 + ranks * size + 1, 1);
    if (!offset || !all) {
        mem_free(offset);
        mem_free(all);
        return team_kill(team, fail_nomem());
    }
    for (size_t i = 0; !err && i < remote->n; i++)
        if (remote->chunk[i].whole && !remote->chunk[i].leased)
            offset[remote->chunk[i].owner + 1] += 8;
    for (uint64_t r = 0; r < ranks; r++) {
        offset[r + 1] += offset[r] + size;
        memcpy(all + offset[r], front, size);
        offset[r] += size;
    }
    for (size_t i = 0; !err && i < remote->n; i++) {
        const struct remote_chunk *c = &remote->chunk[i];

        if (!c->whole || c->leased)
            continue;
        store_u64(all + offset[c->owner], c->encoded.offset);
        offset[c->owner] += 8;
    }
    for (uint64_t r = ranks; r > 0; r--)
        offset[r] = offset[r - 1];
    offset[0] = 0;
    err = team_scatter(team, all, offset, mine);
    mem_free(offset);
    mem_free(all);
    return err;
}
