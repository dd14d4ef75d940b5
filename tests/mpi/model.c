/* model.c - the stories of model.h, told by processes.
 *
 * Usage: model [STORIES [FIRST SEED]] */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/model.h"
#include "tests/mpi/tell.h"

static int ranks_of(uint64_t seed)
{
    return check_ranks < 3 ? check_ranks : 2 + (int)(seed / 4) % (check_ranks - 1);
}

static void tell(struct world *w, uint64_t seed, const char *path, const char *alone)
{
    static struct tale tale;

    model_tell(&tale, w, seed, path, false);
    if (w->me == 0) {
        model_hold(&tale);
        model_repeat(&tale, alone);
        unlink(path);
        unlink(alone);
    }
    CHECK(!tale.why[0], "%s", tale.why);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(model_begin());
    tell_all(argc, argv, "model", "stories of a model", 12, ranks_of, tell);
    check_case("stories of a model");
    return check_end();
}
