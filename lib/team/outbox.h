/* outbox.h - parcels that grow, until an exchange sends them. */
/* SPDX-License-Identifier: MIT */
#ifndef TEAM_OUTBOX_H
#define TEAM_OUTBOX_H

#include "team/team.h"

struct outbox {
    struct team_parcel *parcel;
    struct buf *bytes; /* of each */
    size_t n, parcel_room, bytes_room;
    size_t *number; /* 1 and that of the parcel that small things for a rank share; 0: none */
};

/* A parcel of its own. */
int outbox_add(struct outbox *o, int to, struct buf **b);
/* The parcel that small things for a rank share. */
int outbox_share(struct outbox *o, const struct team *team, int to, struct buf **b);
/* Collective: send all parcels and free them.  With an error, which is given back, none is sent. */
int outbox_send(struct outbox *o, struct team *team, int err, struct team_inbox *in);

#endif
