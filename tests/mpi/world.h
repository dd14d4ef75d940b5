/* world.h - the ranks that tell a random story. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_WORLD_H
#define MPI_WORLD_H

#include <datarep-team.h>

/* One of them: a thread, or a process under MPI. */
struct world {
    int me, n;
    void *ctx;
    int (*make)(struct world *w, const char *path, const char *datarep, const drep_info *info,
                drep_file **out);
    int (*open)(struct world *w, const char *path, int amode, const drep_info *info,
                drep_file **out);
    void (*meet)(struct world *w); /* a barrier */
};

#endif
