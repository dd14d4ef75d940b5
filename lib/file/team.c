/* team.c - the ranks that share a file, as the rooms that serve one process see them. */
/* SPDX-License-Identifier: MIT */
#include "file/team.h"

#include <stdatomic.h>

int file_may(const drep_file *f, const drep_dataset *ds, enum team_act act)
{
    return !f->team ? 0 : f->team->ops->may(f, ds, act);
}

void file_leave_team(drep_file *f, bool left, bool shallow)
{
    struct file_team *team = f->team;

    if (!team)
        return;
    team->left |= left;
    if (!shallow)
        team->ops->release(team);
    f->team = NULL;
}

/* The table of lib/par, once it has opened a file; there is one. */
static const struct team_ops *_Atomic known_ops;

void team_known(const struct team_ops *ops)
{
    atomic_store(&known_ops, ops);
}

int team_refuse(const char *call, bool transfer, int err)
{
    const struct team_ops *ops = atomic_load(&known_ops);

    return !ops ? err : ops->refuse(call, transfer, err);
}
