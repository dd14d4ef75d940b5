/* tell.h - random stories told by processes: each by two ranks or more, up to all of them. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MPI_TELL_H
#define TESTS_MPI_TELL_H

#include "tests/mpi/check.h"
#include "tests/mpi/world.h"

#include <unistd.h>

/* Tells the story of a seed by the n ranks of w; path and alone: where its file and that of one
 * process are made. */
typedef void tell_fn(struct world *w, uint64_t seed, const char *path, const char *alone);

static int make_by_processes(struct world *w, const char *path, const char *datarep,
                             const drep_info *info, drep_file **out)
{
    return drep_mpi_create(*(MPI_Comm *)w->ctx, path, DREP_RDWR, datarep, info, out);
}

static int open_by_processes(struct world *w, const char *path, int amode, const drep_info *info,
                             drep_file **out)
{
    return drep_mpi_open(*(MPI_Comm *)w->ctx, path, amode, info, out);
}

static void meet_processes(struct world *w)
{
    check_meet(*(MPI_Comm *)w->ctx);
}

static void tell_by_some(tell_fn *tell, int n, uint64_t seed, const char *path, const char *alone)
{
    MPI_Comm some;
    struct world w = {
        .ctx = &some, .make = make_by_processes, .open = open_by_processes, .meet = meet_processes};

    MPI_Comm_split(MPI_COMM_WORLD, check_rank < n, check_rank, &some);
    if (check_rank < n) {
        MPI_Comm_rank(some, &w.me);
        MPI_Comm_size(some, &w.n);
        tell(&w, seed, path, alone);
    }
    MPI_Comm_free(&some);
    check_meet(MPI_COMM_WORLD);
}

/* Tells as many stories as the arguments ask for, [STORIES [FIRST SEED]], or `few`.  name: of the
 * files; what: the stories, for the line that counts them; ranks: how many tell that of a seed. */
static void tell_all(int argc, char **argv, const char *name, const char *what, uint64_t few,
                     int ranks(uint64_t seed), tell_fn *tell)
{
    const char *tmp = getenv("TMPDIR");
    uint64_t stories = argc > 1 ? strtoull(argv[1], NULL, 10) : few;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, seed;
    char path[500], alone[500];
    int pid = (int)getpid(), lost = 0, all = 0;

    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/%s.%d.drep", tmp ? tmp : "/tmp", name, pid);
    snprintf(alone, sizeof alone, "%s/alone.%d.drep", tmp ? tmp : "/tmp", pid);
    for (seed = first; seed < first + stories && !all; seed++) {
        tell_by_some(tell, ranks(seed), seed, path, alone);
        lost = check_failures > 0; /* further ones would tell no more */
        MPI_Allreduce(&lost, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!check_rank)
        printf("counted: %llu %s by up to %d ranks, from seed %llu on\n",
               (unsigned long long)(seed - first), what, check_ranks, (unsigned long long)first);
}

#endif
