/* stories.c - the stories of stories.h, told by processes.
 *
 * Usage: stories [STORIES [FIRST SEED]]
 *
 * Each story is told by two ranks or more, up to all of them. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"
#include "tests/mpi/stories.h"

#include <unistd.h>

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

static void tell(uint64_t seed, const char *path, const char *path_alone)
{
    static struct storyteller me, alone;
    struct plan p = story_plan(seed, check_ranks < 3 ? 2 : check_ranks);
    MPI_Comm some;
    struct world w = {.ctx = &some, .make = make_by_processes, .open = open_by_processes};

    MPI_Comm_split(MPI_COMM_WORLD, check_rank < p.of, check_rank, &some);
    if (check_rank < p.of) {
        MPI_Comm_rank(some, &w.me);
        MPI_Comm_size(some, &w.n);
        story_tell(&me, &w, &p, path);
        if (w.me == 0) {
            story_compare(&me, &alone, path_alone);
            unlink(path);
            unlink(path_alone);
        }
        check_meet(some); /* rank 0 has compared */
        MPI_Bcast(alone.said, SAID, MPI_UINT64_T, 0, some);
        MPI_Bcast(&alone.nsaid, 1, MPI_INT, 0, some);
        if (alone.nsaid)
            same_said(&me, &alone);
        CHECK(!me.err, "story %d (%s), %d ranks: %s", (int)seed, p.datarep, p.of, me.text);
    }
    MPI_Comm_free(&some);
    check_meet(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    uint64_t stories = argc > 1 ? strtoull(argv[1], NULL, 10) : 6;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, seed;
    char path[500], alone[500];
    int pid = (int)getpid(), lost = 0, all = 0;

    check_begin(&argc, &argv);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/stories.%d.drep", tmp ? tmp : "/tmp", pid);
    snprintf(alone, sizeof alone, "%s/alone.%d.drep", tmp ? tmp : "/tmp", pid);
    OK(stories_begin());
    for (seed = first; seed < first + stories && !all; seed++) {
        tell(seed, path, alone);
        lost = check_failures > 0; /* further ones would tell no more */
        MPI_Allreduce(&lost, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!check_rank)
        printf("counted: %llu random stories by up to %d ranks, from seed %llu on\n",
               (unsigned long long)(seed - first), check_ranks, (unsigned long long)first);
    check_case("random stories");
    return check_end();
}
