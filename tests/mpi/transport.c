/* transport.c - the patterns of lib/team over messages of MPI.
 *
 * With an argument only the longest message: 2.5 GiB, which no single count of MPI holds. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include "base/mem.h"
#include "lib/mpi/transport.h"
#include "team/team.h"

#include <unistd.h>

static struct transport *transport;
static drep_transport way;
static struct team team;

static void team_begin(MPI_Comm comm, int64_t timeout)
{
    OK(transport_new("test", comm, timeout, NULL, &transport));
    transport_fill(transport, &way);
    team_init(&team, &way, transport);
}

static void team_end(void)
{
    team_release(&team);
    transport_release(transport, team.dead);
}

static uint8_t byte_of(int round, int rank, size_t i)
{
    return (uint8_t)((size_t)round * 131 + (size_t)rank * 31 + i * 7);
}

/* A length that differs with each rank and round; some are 0, and some exceed what MPI sends at
 * once. */
static size_t size_of(int round, int rank)
{
    static const size_t sizes[] = {0, 1, 100, 5000, 70000, 0, 1200000, 17};

    return sizes[(round * 5 + rank * 3) % 8];
}

static uint8_t *bytes_new(int round, int rank)
{
    size_t i, n = size_of(round, rank);
    uint8_t *p = malloc(n + 1);

    for (i = 0; i < n; i++)
        p[i] = byte_of(round, rank, i);
    return p;
}

static int are_bytes(const uint8_t *p, size_t n, int round, int rank)
{
    size_t i;

    if (n != size_of(round, rank))
        return 0;
    for (i = 0; i < n; i++)
        if (p[i] != byte_of(round, rank, i))
            return 0;
    return 1;
}

static void test_tree(void)
{
    uint64_t *offset = malloc((size_t)(team.size + 1) * sizeof *offset);
    int round, r;

    for (round = 0; round < 20; round++) {
        struct buf b = {0}, all = {0}, part = {0};
        uint8_t *own = bytes_new(round, team.rank), *first = bytes_new(round, 0);

        OK(buf_set(&b, team.rank ? own : first, size_of(round, team.rank)));
        OK(team_bcast(&team, &b));
        CHECK(are_bytes(b.p, b.len, round, 0), "bcast %d", round);
        OK(team_gather(&team, own, size_of(round, team.rank), team.rank ? NULL : &all,
                       team.rank ? NULL : offset));
        for (r = 0; !team.rank && r < team.size; r++)
            CHECK(are_bytes(all.p + offset[r], offset[r + 1] - offset[r], round, r), "gather of %d",
                  r);
        OK(team_scatter(&team, all.p, offset, &part));
        CHECK(are_bytes(part.p, part.len, round, team.rank), "scatter %d", round);
        buf_release(&b);
        buf_release(&all);
        buf_release(&part);
        free(own);
        free(first);
    }
    free(offset);
    check_case("broadcast, gather, scatter");
}

static void test_reduce(void)
{
    uint64_t v, sum = 0;
    int round, r;

    for (r = 0; r < team.size; r++)
        sum += (uint64_t)(r * r + 1);
    for (round = 0; round < 200; round++) {
        v = (uint64_t)(team.rank * team.rank + 1);
        OK(team_reduce(&team, TEAM_SUM, &v, 1));
        CHECK(v == sum, "sum %llu", (unsigned long long)v);
    }
    check_case("200 reductions");
}

static void test_exchange(void)
{
    int round, r;

    for (round = 0; round < 20; round++) {
        struct team_parcel *out = calloc((size_t)team.size, sizeof *out);
        struct team_inbox in = {0};
        uint8_t *own = bytes_new(round, team.rank);
        size_t i, n = 0, want = 0;

        for (r = 0; r < team.size; r++) {
            if ((r + team.rank + round) % 3)
                out[n++] = (struct team_parcel){r, size_of(round, team.rank), own};
            want += (r + team.rank + round) % 3 != 0;
        }
        OK(team_exchange(&team, out, n, &in));
        CHECK(in.n == want, "%zu parcels, not %zu", in.n, want);
        for (i = 0; i < in.n; i++)
            CHECK(are_bytes(in.in[i].p, in.in[i].size, round, in.in[i].from), "parcel of %d",
                  in.in[i].from);
        team_inbox_release(&in);
        free(own);
        free(out);
    }
    check_case("sparse exchange");
}

static void test_agree(void)
{
    struct team_call call = {.name = "drep_commit", .args = 1, .arg = {{"path", 7}}};

    OK(team_agree(&team, &call));
    if (team.size == 1) {
        check_case("disagreements # SKIP one rank");
        return;
    }
    call.arg[0].hash = team.rank == 1 ? 8 : 7;
    FAILS(team_agree(&team, &call), DREP_ERR_NOT_SAME, "path");
    call.arg[0].hash = 7;
    call.err = team.rank == 1 ? drep_error_set(DREP_ERR_NO_SPACE, "full") : 0;
    FAILS(team_agree(&team, &call), DREP_ERR_NO_SPACE, "rank 1: full");
    call.err = 0;
    OK(team_agree(&team, &call));
    call.name = team.rank == 1 ? "drep_close" : "drep_commit";
    FAILS(team_agree(&team, &call), DREP_ERR_NOT_SAME, "drep_close");
    team_end(); /* ranks in different calls end the team */
    team_begin(MPI_COMM_WORLD, 0);
    check_case("disagreements");
}

/* Messages of a program on the communicator that it gave are its own, any tag. */
static void test_private(void)
{
    int x = check_rank, y = -1, next = (check_rank + 1) % check_ranks;
    int before = (check_rank + check_ranks - 1) % check_ranks;
    uint64_t v = 1;
    MPI_Request request;

    MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    OK(team_reduce(&team, TEAM_SUM, &v, 1));
    MPI_Send(&x, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(y == before && v == (uint64_t)check_ranks, "%d", y);
    check_case("a receive of the program takes no message of ours");
}

/* A rank that computes makes no call of MPI: what it has sent before must be with the others.  They
 * say so by a file, which it waits for. */
static void test_flush(void)
{
    enum { SIZE = 1 << 20, POLLS = 3000 };
    uint64_t offset[65] = {0};
    struct buf part = {0};
    uint8_t *all = NULL;
    const char *dir = getenv("TMPDIR");
    char name[512];
    int r, n = 0;

    if (check_rank == 0) {
        all = calloc((size_t)check_ranks, SIZE);
        for (r = 0; r < check_ranks; r++) {
            offset[r + 1] = offset[r] + SIZE;
            snprintf((char *)all + offset[r], sizeof name, "%s/flush-%ld", dir ? dir : "/tmp",
                     (long)getpid());
        }
    }
    OK(team_scatter(&team, all, offset, &part));
    CHECK(part.len == SIZE, "%zu bytes", part.len);
    snprintf(name, sizeof name, "%s-1", (char *)part.p);
    if (check_rank == 1) {
        FILE *f = fopen(name, "w");

        CHECK(f && !fclose(f), "%s", name);
    }
    if (check_rank == 0 && check_ranks > 1) {
        for (n = 0; n < POLLS && access(name, F_OK); n++)
            usleep(10000);
        CHECK(n < POLLS && !unlink(name), "rank 1 did not get its part");
    }
    buf_release(&part);
    free(all);
    check_case("a part arrives while its sender computes");
}

static void test_longest(void)
{
    size_t size = (size_t)5 << 29, i;
    drep_message *m;

    team_begin(MPI_COMM_WORLD, 0);
    if (check_rank == 0 && check_ranks > 1) {
        m = drep_message_new(size);
        for (i = 0; i < size; i += 4096)
            DREP_MESSAGE_BYTES(m)[i] = (unsigned char)(i >> 12);
        OK(transport_send(transport, 1, m));
    } else if (check_rank == 1) {
        OK(transport_receive(transport, &m, INT64_MAX));
        CHECK(m->size == size && m->from == 0, "%zu bytes of %d", m->size, m->from);
        for (i = 0; i < size; i += 4096)
            if (DREP_MESSAGE_BYTES(m)[i] != (unsigned char)(i >> 12))
                break;
        CHECK(i >= size, "byte %zu", i);
        drep_message_free(m);
    }
    team_end();
    check_case("a message of 2.5 GiB");
}

int main(int argc, char **argv)
{
    MPI_Comm part;

    check_begin(&argc, &argv);
    if (argc > 1) {
        test_longest();
        return check_end();
    }
    team_begin(MPI_COMM_WORLD, 0);
    test_tree();
    test_reduce();
    test_exchange();
    test_agree();
    test_private();
    test_flush();
    team_end();
    /* Ranks are those of the communicator, whatever they are elsewhere. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &part);
    team_begin(part, (int64_t)60e9);
    MPI_Comm_free(&part);
    CHECK(team.rank == check_ranks - 1 - check_rank, "rank %d", team.rank);
    test_tree();
    team_end();
    return check_end();
}
