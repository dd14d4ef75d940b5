/* stories.c - the stories of stories.h, told by processes.
 *
 * Usage: stories [STORIES [FIRST SEED]] */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/stories.h"
#include "tests/mpi/tell.h"

static struct plan plan_of(uint64_t seed)
{
    return story_plan(seed, check_ranks < 3 ? 2 : check_ranks);
}

static int ranks_of(uint64_t seed)
{
    return plan_of(seed).of;
}

static void tell(struct world *w, uint64_t seed, const char *path, const char *path_alone)
{
    static struct storyteller me, alone;
    struct plan p = plan_of(seed);

    story_tell(&me, w, &p, path);
    if (w->me == 0) {
        story_compare(&me, &alone, path_alone);
        unlink(path);
        unlink(path_alone);
    }
    check_meet(*(MPI_Comm *)w->ctx); /* rank 0 has compared */
    MPI_Bcast(alone.said, SAID, MPI_UINT64_T, 0, *(MPI_Comm *)w->ctx);
    MPI_Bcast(&alone.nsaid, 1, MPI_INT, 0, *(MPI_Comm *)w->ctx);
    if (alone.nsaid)
        same_said(&me, &alone);
    CHECK(!me.err, "story %d (%s), %d ranks: %s", (int)seed, p.datarep, p.of, me.text);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(stories_begin());
    tell_all(argc, argv, "stories", "random stories", 6, ranks_of, tell);
    check_case("random stories");
    return check_end();
}
