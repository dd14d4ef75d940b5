/* model.c - the stories of model.h, told by processes.
 *
 * Usage: model [STORIES [FIRST SEED]]
 *
 * Each story is told by two ranks or more, up to all of them. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"
#include "tests/mpi/model.h"

static int make(struct world *w, const char *path, const char *datarep, const drep_info *info,
                drep_file **out)
{
    return drep_mpi_create(*(MPI_Comm *)w->ctx, path, DREP_RDWR, datarep, info, out);
}

static int open_again(struct world *w, const char *path, int amode, const drep_info *info,
                      drep_file **out)
{
    return drep_mpi_open(*(MPI_Comm *)w->ctx, path, amode, info, out);
}

static void meet(struct world *w)
{
    check_meet(*(MPI_Comm *)w->ctx);
}

static void tell(uint64_t seed, int n, char *path, char *alone)
{
    static struct tale tale;
    MPI_Comm some;
    struct world w = {.n = n, .ctx = &some, .make = make, .open = open_again, .meet = meet};

    MPI_Comm_split(MPI_COMM_WORLD, check_rank < n, check_rank, &some);
    if (check_rank < n) {
        MPI_Comm_rank(some, &w.me);
        model_tell(&tale, &w, seed, path, false);
        if (w.me == 0) {
            model_hold(&tale);
            model_repeat(&tale, alone);
            unlink(path);
            unlink(alone);
        }
        CHECK(!tale.why[0], "%s", tale.why);
    }
    MPI_Comm_free(&some);
    check_meet(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    uint64_t stories = argc > 1 ? strtoull(argv[1], NULL, 10) : 12;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, seed;
    char path[500], alone[500];
    int pid = (int)getpid(), lost = 0, all = 0;

    check_begin(&argc, &argv);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/model.%d.drep", tmp ? tmp : "/tmp", pid);
    snprintf(alone, sizeof alone, "%s/alone.%d.drep", tmp ? tmp : "/tmp", pid);
    OK(model_begin());
    for (seed = first; seed < first + stories && !all; seed++) {
        tell(seed, check_ranks < 3 ? check_ranks : 2 + (int)(seed / 4) % (check_ranks - 1), path,
             alone);
        lost = check_failures > 0; /* further ones would tell no more */
        MPI_Allreduce(&lost, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!check_rank)
        printf("counted: %llu stories of a model by up to %d ranks, from seed %llu on\n",
               (unsigned long long)(seed - first), check_ranks, (unsigned long long)first);
    check_case("stories of a model");
    return check_end();
}
