/* room.c - space behind plain chunks that grow. */
/* SPDX-License-Identifier: MIT */
#include "chunk/room.h"

#include "base/mem.h"
#include "chunk/run.h"

#define ROOMS 512

struct room {
    uint64_t chunk;     /* where it begins; 0: none */
    uint64_t from, end; /* kept for it */
};

static struct room *room_slot(const struct store *st, uint64_t chunk)
{
    struct room *slot = st->runs->rooms.slot;

    return slot ? &slot[(chunk / FMT_ALIGN * 0x9e3779b97f4a7c15u >> 32) % ROOMS] : NULL;
}

static void give_up(struct store *st, struct room *r)
{
    if (r->from < r->end)
        space_unkeep(st, r->from, r->end - r->from);
    *r = (struct room){0};
}

bool room_has(const struct store *st, uint64_t chunk)
{
    const struct room *r = room_slot(st, chunk);

    return r && r->chunk == chunk;
}

void room_drop(struct store *st, uint64_t chunk)
{
    struct room *r = room_slot(st, chunk);

    if (r && r->chunk == chunk)
        give_up(st, r);
}

void room_set(struct store *st, uint64_t chunk, uint64_t from, uint64_t end)
{
    struct room *r;

    if (!st->runs->rooms.slot)
        st->runs->rooms.slot = mem_zalloc(ROOMS, sizeof(*r));
    r = room_slot(st, chunk);
    if (r && r->chunk == chunk && r->from == from && from == end)
        return; /* as it is: the chunk has used no more than it took */
    if (r && r->chunk)
        give_up(st, r);
    if (from < end && (!r || space_withhold(st, from, end - from))) {
        space_free(st, from, end - from, ANYWAY);
        end = from;
    }
    if (r)
        *r = (struct room){chunk, from, end};
}

bool room_take(struct store *st, uint64_t chunk, uint64_t from, uint64_t to)
{
    struct room *r = room_slot(st, chunk);

    if (!r || r->chunk != chunk)
        return false;
    /* It begins elsewhere after an operation was taken back. */
    if (r->from != from || to > r->end || (to > from && space_take_kept(st, from, to - from))) {
        give_up(st, r);
        return false;
    }
    r->from = to > from ? to : from;
    return true;
}
