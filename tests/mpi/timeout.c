/* timeout.c - a rank that does not come is an error on all others within the timeout.
 *
 * Case by case, on a transport of its own: one rank sleeps, is stopped, or does not make the call.
 */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include "lib/mpi/transport.h"
#include "team/team.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static const double timeout = 1;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int begin(struct team *team, struct transport **transport)
{
    static drep_transport way; /* of one team at a time */
    int err = transport_new("test", MPI_COMM_WORLD, (int64_t)(timeout * 1e9), NULL, transport);

    if (!err) {
        transport_fill(*transport, &way);
        team_init(team, &way, *transport);
    }
    return err;
}

static void end(struct team *team, struct transport *transport)
{
    team_release(team);
    transport_release(transport, team->dead);
}

/* The call that a rank misses, and those after it.  The rank that comes late may find in time what
 * the others had sent before they gave up. */
static void miss(struct team *team, int late, const char *text)
{
    struct team_call call = {.name = "drep_commit"};
    double start = now();
    int i;

    if (!late || team_agree(team, &call))
        FAILS(team_agree(team, &call), DREP_ERR_TIMEOUT, text);
    CHECK(now() - start < 3 * timeout, "given up after %.1f s", now() - start);
    start = now();
    for (i = 0; i < 10; i++)
        FAILS(team_agree(team, &call), DREP_ERR_TIMEOUT, text);
    CHECK(now() - start < timeout / 2, "a dead team waits %.1f s", now() - start);
}

static void test_sleeps(int who)
{
    struct transport *transport;
    struct team team;
    char text[32];

    snprintf(text, sizeof text, "rank %d", who);
    OK(begin(&team, &transport));
    if (check_rank == who)
        usleep((useconds_t)(4 * timeout * 1e6));
    miss(&team, check_rank == who, text);
    end(&team, transport);
    check_case("a rank that sleeps");
}

/* Rank 0 stops another one and lets it go on, after all the rest gave up. */
static void test_stopped(void)
{
    int pid = (int)getpid(), *pids = malloc((size_t)check_ranks * sizeof *pids);
    int last = check_ranks - 1;
    struct transport *transport;
    struct team team;

    OK(begin(&team, &transport));
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (check_rank == last) {
        /* Stopped here, or in the call: MPI is left alone until then. */
        usleep((useconds_t)(timeout / 2 * 1e6));
    } else {
        if (check_rank == 0)
            kill(pids[last], SIGSTOP);
        miss(&team, 0, "rank");
        if (check_rank == 0) {
            usleep((useconds_t)(timeout * 1e6));
            kill(pids[last], SIGCONT);
        }
    }
    end(&team, transport);
    free(pids);
    check_case("a rank that is stopped");
}

static void test_absent(void)
{
    struct transport *transport = NULL;
    struct team team;
    double start = now();

    if (check_rank != 1) {
        FAILS(begin(&team, &transport), DREP_ERR_TIMEOUT, "not all ranks");
        CHECK(now() - start < 3 * timeout, "given up after %.1f s", now() - start);
    }
    check_case("a rank that does not make the first call");
    /* It comes at last, and finds nobody; MPI_Finalize() misses nothing then. */
    if (check_rank == 1 && !begin(&team, &transport))
        end(&team, transport);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (check_ranks == 1) {
        check_case("timeouts # SKIP one rank");
        return check_end();
    }
    test_sleeps(0);
    test_sleeps(check_ranks - 1);
    test_stopped();
    test_absent();
    return check_end();
}
