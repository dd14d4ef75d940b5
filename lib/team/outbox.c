/* outbox.c - parcels that grow, until an exchange sends them. */
/* SPDX-License-Identifier: MIT */
#include "team/outbox.h"

#include "base/mem.h"
#include "base/vec.h"

int outbox_add(struct outbox *o, int to, struct buf **b)
{
    if (VEC_ROOM(o->parcel, o->n, o->parcel_room, 1) || VEC_ROOM(o->bytes, o->n, o->bytes_room, 1))
        return fail_nomem();
    o->parcel[o->n] = (struct team_parcel){.to = to};
    o->bytes[o->n] = (struct buf){0};
    *b = &o->bytes[o->n++];
    return 0;
}

int outbox_share(struct outbox *o, const struct team *team, int to, struct buf **b)
{
    int err = 0;

    if (!o->number && !(o->number = mem_zalloc((uint64_t)team->size, sizeof *o->number)))
        return fail_nomem();
    if (o->number[to] > 0) {
        *b = &o->bytes[o->number[to] - 1];
        return 0;
    }
    err = outbox_add(o, to, b);
    if (!err)
        o->number[to] = o->n;
    return err;
}

int outbox_send(struct outbox *o, struct team *team, int err, struct team_inbox *in)
{
    int failed;

    for (size_t i = 0; i < o->n; i++) { /* they may have moved */
        o->parcel[i].p = o->bytes[i].p;
        o->parcel[i].size = o->bytes[i].len;
    }
    failed = team_exchange(team, o->parcel, err ? 0 : o->n, in);
    for (size_t i = 0; i < o->n; i++)
        buf_release(&o->bytes[i]);
    mem_free(o->bytes);
    mem_free(o->parcel);
    mem_free(o->number);
    return failed ? failed : err;
}
