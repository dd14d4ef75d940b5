/* mpiio.c - payload by MPI-IO (hint drep_mpi_io): who calls it, from which thread, with what.
 *
 * Usage: mpiio [LEVEL [NODES]]: of threads, 0 to 3; NODES: ranks are on several.  The functions
 * of MPI-IO are those below, which count and call MPI's. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROWS = 768, COLUMNS = 512, EDGE = 64, CHUNKS = ROWS / EDGE * COLUMNS / EDGE };
enum { CHUNK_BYTES = EDGE * EDGE * 8 };

static atomic_int opens, closes, writes, reads, inside, wrong;
static int level, several_nodes, open_fails, is_full, is_broken, hints_seen;
static pthread_t first_thread;
static char path[512];
static MPI_Offset written[CHUNKS]; /* where this rank wrote whole chunks, adjoining ones at once */
static atomic_int nwritten;
static atomic_llong bytes_written;

/* ---- MPI-IO ---- */

static void enter(void)
{
    int now = atomic_fetch_add(&inside, 1);

    if (level < MPI_THREAD_MULTIPLE && (now || !pthread_equal(pthread_self(), first_thread)))
        atomic_fetch_add(&wrong, 1);
}

static int leave(int result)
{
    atomic_fetch_sub(&inside, 1);
    return result;
}

static int has(MPI_Info info, const char *key, const char *value)
{
    char text[64] = "";
    int flag = 0;

    MPI_Info_get(info, key, sizeof text - 1, text, &flag);
    return flag && !strcmp(text, value);
}

int MPI_Get_processor_name(char *name, int *len)
{
    int result = PMPI_Get_processor_name(name, len);

    if (several_nodes && *len > 0)
        name[0] = (char)('a' + check_rank);
    return result;
}

int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file)
{
    char text[8];
    int ours = 0;

    enter();
    atomic_fetch_add(&opens, 1);
    MPI_Info_get(info, "drep_mpi_io", sizeof text - 1, text, &ours);
    hints_seen = has(info, "striping_factor", "4") && has(info, "striping_unit", "65536") &&
                 has(info, "cb_nodes", "3") && has(info, "some_hint", "of another") && !ours;
    leave(PMPI_File_open(comm, name, amode, info, file));
    return open_fails && check_rank == check_ranks - 1 ? MPI_ERR_IO : MPI_SUCCESS;
}

int MPI_File_close(MPI_File *file)
{
    enter();
    atomic_fetch_add(&closes, 1);
    return leave(PMPI_File_close(file));
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buf, int n, MPI_Datatype type,
                      MPI_Status *status)
{
    int i;

    enter();
    for (i = 0; i < n && nwritten < CHUNKS; i += CHUNK_BYTES)
        written[nwritten++] = at + i;
    atomic_fetch_add(&bytes_written, n);
    atomic_fetch_add(&writes, 1);
    if (is_full)
        return leave(MPI_ERR_NO_SPACE);
    return leave(PMPI_File_write_at(file, at, buf, n, type, status));
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int n, MPI_Datatype type,
                     MPI_Status *status)
{
    enter();
    atomic_fetch_add(&reads, 1);
    if (is_broken)
        return leave(MPI_ERR_IO);
    return leave(PMPI_File_read_at(file, at, buf, n, type, status));
}

static void forget(void)
{
    atomic_int *const counts[] = {&opens, &closes, &writes, &reads, &wrong, &nwritten};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = 0;
    hints_seen = 0;
    bytes_written = 0;
}

/* ---- files ---- */

static drep_info *hints(const char *io)
{
    drep_info *info;

    OK(drep_info_new(&info));
    if (io)
        OK(drep_info_set(info, "drep_mpi_io", io));
    OK(drep_info_set(info, "drep_threads", "4"));
    OK(drep_info_set(info, "drep_cache_size", "0"));
    OK(drep_info_set(info, "striping_factor", "4"));
    OK(drep_info_set(info, "striping_unit", "65536"));
    OK(drep_info_set(info, "cb_nodes", "3"));
    OK(drep_info_set(info, "some_hint", "of another"));
    OK(drep_info_set(info, "drep_mpi_timeout", "60"));
    return info;
}

static int in_force(drep_file *file, const char *key, const char *value)
{
    drep_info *info = NULL;
    int is;

    OK(drep_get_info(file, &info));
    is = !strcmp(drep_info_get(info, key), value);
    drep_info_free(info);
    return is;
}

static double value(int64_t i)
{
    return (double)(i % 1000) / 4;
}

static void write_rows(drep_dataset *ds)
{
    int64_t start[2] = {ROWS * check_rank / check_ranks, 0};
    int64_t count[2] = {ROWS * (check_rank + 1) / check_ranks - start[0], COLUMNS}, i;
    double *p = malloc((size_t)(count[0] * count[1]) * sizeof *p);

    for (i = 0; i < count[0] * count[1]; i++)
        p[i] = value(start[0] * COLUMNS + i);
    OK(drep_write_box(ds, start, count, DREP_DOUBLE, p, &DREP_XFER(.collective = 1)));
    free(p);
}

static int all_right(drep_dataset *ds)
{
    double *p = calloc(ROWS * COLUMNS, sizeof *p);
    int64_t i = 0;

    OK(drep_read(ds, NULL, DREP_DOUBLE, p, NULL));
    while (i < ROWS * COLUMNS && p[i] == value(i))
        i++;
    free(p);
    return i == ROWS * COLUMNS;
}

static void make(drep_file *file, int filter, drep_dataset **ds)
{
    const int64_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {EDGE, EDGE};
    const drep_filter deflate = {.id = DREP_FILTER_DEFLATE};

    OK(drep_dataset_create(file, "/p",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                                      .layout = DREP_CHUNKED, .chunk = chunk,
                                      .filters = filter ? &deflate : NULL, .nfilters = filter),
                           ds));
}

/* ---- cases ---- */

static void test_write_and_read(int filter)
{
    drep_info *info = hints("mpiio");
    drep_dataset *ds;
    drep_file *file;
    int node, nodes = check_ranks < 3 ? check_ranks : 3, wanted = 0; /* cb_nodes=3 */
    long long sum = 0, own;
    drep_dsusage stored = DREP_DSUSAGE;

    forget();
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    CHECK(opens == 1 && hints_seen, "%d opens; hints: %d", opens, hints_seen);
    CHECK(in_force(file, "drep_mpi_io", "mpiio"), "not in force");
    CHECK(in_force(file, "striping_factor", "4"), "striping_factor");
    make(file, filter, &ds);
    write_rows(ds);
    OK(drep_commit(file));
    own = bytes_written;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    OK(drep_dataset_usage(ds, &stored));
    for (node = 0; node < nodes; node++)
        wanted |= (node * check_ranks + nodes - 1) / nodes == check_rank;
    CHECK((own > 0) == wanted && sum == stored.bytes, "%lld of %lld bytes written, %lld stored",
          own, sum, (long long)stored.bytes);
    CHECK(all_right(ds), "wrong values");
    drep_dataset_close(ds);
    OK(drep_close(file));
    CHECK(closes == 1, "%d closes", closes);
    CHECK(reads > 0, "%d reads", reads);
    CHECK(!wrong, "%d calls on the wrong thread", wrong);
    check_case(filter ? "filtered chunks by MPI-IO" : "plain chunks by MPI-IO");

    forget();
    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDONLY, info, &file));
    OK(drep_dataset_open(file, "/p", &ds));
    CHECK(in_force(file, "drep_mpi_io", "mpiio"), "not in force");
    CHECK(all_right(ds), "wrong values");
    drep_dataset_close(ds);
    OK(drep_close(file));
    CHECK(reads > 0 && !writes && closes == 1 && !wrong, "%d reads, %d writes, %d closes, %d wrong",
          reads, writes, closes, wrong);
    check_case("read-only by MPI-IO");
    drep_info_free(info);
}

static void *read_on_a_thread(void *ds)
{
    CHECK(all_right(ds), "wrong values");
    return NULL;
}

static void test_other_thread(void)
{
    drep_info *info = hints("mpiio");
    drep_dataset *ds;
    drep_file *file;
    pthread_t thread;

    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDONLY, info, &file));
    OK(drep_dataset_open(file, "/p", &ds));
    forget();
    pthread_create(&thread, NULL, read_on_a_thread, ds);
    pthread_join(thread, NULL);
    CHECK(level == MPI_THREAD_MULTIPLE ? reads > 0 : !reads, "%d reads", reads);
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    check_case("another thread reads without MPI, unless MPI allows it");
}

static void test_choice(void)
{
    static const char *const asked[] = {NULL, "posix", "mpiio", "none of these"};
    size_t i;

    for (i = 0; i < sizeof asked / sizeof *asked; i++) {
        int by_mpi = i == 2 || (i != 1 && several_nodes);
        drep_info *info = hints(asked[i]);
        drep_file *file;

        forget();
        OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file));
        CHECK(opens == by_mpi && in_force(file, "drep_mpi_io", by_mpi ? "mpiio" : "posix"),
              "hint %zu: %d opens", i, opens);
        CHECK(in_force(file, "striping_factor", by_mpi ? "4" : "1"), "striping_factor");
        OK(drep_close(file));
        drep_info_free(info);
    }
    check_case("MPI-IO by default where ranks are on several nodes");
}

static void test_no_file(void)
{
    drep_info *info = hints("mpiio");
    drep_file *file = NULL;

    open_fails = 1;
    FAILS(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file), DREP_ERR_IO,
          "MPI_File_open");
    drep_info_free(info);
    info = hints(NULL);
    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file));
    CHECK(in_force(file, "drep_mpi_io", "posix"), "not in force");
    OK(drep_close(file));
    open_fails = 0;
    drep_info_free(info);
    check_case("where MPI-IO cannot open the file, it is an error if asked for");
}

/* The disk of the last rank is full for a while. */
static void test_full(void)
{
    int64_t start[2] = {ROWS * check_rank / check_ranks, 0};
    int64_t count[2] = {ROWS * (check_rank + 1) / check_ranks - start[0], COLUMNS};
    double *zeros = calloc((size_t)(count[0] * count[1]), sizeof *zeros);
    drep_info *info = hints("mpiio");
    drep_dataset *ds;
    drep_file *file;
    char who[32];

    snprintf(who, sizeof who, "rank %d: ", check_ranks - 1);
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    make(file, 1, &ds);
    write_rows(ds);
    OK(drep_commit(file));
    is_full = check_rank == check_ranks - 1;
    FAILS(drep_write_box(ds, start, count, DREP_DOUBLE, zeros, &DREP_XFER(.collective = 1)),
          DREP_ERR_NO_SPACE, who);
    is_full = 0;
    CHECK(all_right(ds), "the failed write left something");
    OK(drep_commit(file));
    CHECK(all_right(ds), "the failed write was committed");
    write_rows(ds);
    OK(drep_commit(file));
    CHECK(all_right(ds), "wrong values");
    is_full = check_rank == check_ranks - 1;
    FAILS(drep_write_box(ds, start, count, DREP_DOUBLE, zeros, &DREP_XFER(.collective = 1)),
          DREP_ERR_NO_SPACE, who);
    drep_dataset_close(ds);
    FAILS(drep_close(file), DREP_ERR_NO_SPACE, "");
    is_full = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(drep_open(path, DREP_RDONLY, NULL, &file));
    OK(drep_dataset_open(file, "/p", &ds));
    CHECK(all_right(ds), "the last commit is not whole");
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    free(zeros);
    check_case("a full disk of one rank is one error on all, and the last commit stays");
}

/* A failure says what MPI says of it, and where. */
static void test_messages(void)
{
    char full[MPI_MAX_ERROR_STRING + 1] = "", broken[MPI_MAX_ERROR_STRING + 1] = "";
    int64_t start[2] = {ROWS * check_rank / check_ranks, 0};
    int64_t count[2] = {ROWS * (check_rank + 1) / check_ranks - start[0], COLUMNS};
    drep_info *info = hints("mpiio");
    drep_dataset *ds;
    drep_file *file;
    double *p = calloc(ROWS * COLUMNS, sizeof *p);
    int len = 0;

    MPI_Error_string(MPI_ERR_NO_SPACE, full, &len);
    MPI_Error_string(MPI_ERR_IO, broken, &len);
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    make(file, 0, &ds);
    is_full = 1;
    FAILS(drep_write_box(ds, start, count, DREP_DOUBLE, p, &DREP_XFER(.collective = 1)),
          DREP_ERR_NO_SPACE, full);
    CHECK(strstr(drep_error(), "MPI_File_write_at: ") && strstr(drep_error(), "mpiio.drep: ") &&
              strstr(drep_error(), " at byte "),
          "%s", drep_error());
    is_full = 0;
    write_rows(ds);
    OK(drep_commit(file));
    is_broken = 1;
    FAILS(drep_read(ds, NULL, DREP_DOUBLE, p, NULL), DREP_ERR_IO, broken);
    CHECK(strstr(drep_error(), "MPI_File_read_at: ") && strstr(drep_error(), "mpiio.drep: ") &&
              strstr(drep_error(), " at byte "),
          "%s", drep_error());
    is_broken = 0;
    CHECK(all_right(ds), "wrong values");
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    free(p);
    check_case("errors have the text of MPI");
}

/* A handle that is given up without a word closes nothing that others would have to close. */
static void test_abandon(void)
{
    drep_info *info = hints("mpiio");
    drep_file *file;

    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file));
    forget();
    if (check_rank == 0) {
        drep_abandon(file);
        CHECK(!closes, "closed alone");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank != 0)
        drep_abandon(file);
    drep_info_free(info);
    check_case("a rank abandons the file");
}

/* ---- hints of collective buffering ---- */

struct write_of {
    int64_t at, rank;
};

static int by_place(const void *a, const void *b)
{
    const struct write_of *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Who wrote which chunk: they stand in the file in the order of the grid. */
static void owners(int who[CHUNKS])
{
    struct write_of mine[CHUNKS], *all = malloc((size_t)check_ranks * sizeof mine);
    int i;

    for (i = 0; i < CHUNKS; i++)
        mine[i] = (struct write_of){i < nwritten ? written[i] : INT64_MAX, check_rank};
    MPI_Allgather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    qsort(all, (size_t)(check_ranks * CHUNKS), sizeof *all, by_place);
    for (i = 0; i < CHUNKS; i++)
        who[i] = all[i].at < INT64_MAX ? (int)all[i].rank : -1;
    free(all);
}

struct setting {
    const char *hints[6];
    int nodes;            /* so many ranks write */
    int span;             /* chunks that one rank has at once */
    bool in_turn, apart;  /* dealt; each rank has what it wrote most of */
    const char *in_force; /* cb_nodes */
};

/* Ranks write rows: rank r has the r-th part of all rows of chunks. */
static void test_setting(const struct setting *s)
{
    int who[CHUNKS], i, ranks = 0, wrong_owner = 0, seen[64] = {0};
    drep_info *info = hints("mpiio");
    drep_dataset *ds;
    drep_file *file;
    char text[16], name[128] = "";

    drep_info_delete(info, "cb_nodes");
    drep_info_delete(info, "striping_unit");
    for (i = 0; i < 6 && s->hints[i]; i += 2) {
        /* Only those of rank 0 count. */
        OK(drep_info_set(info, s->hints[i], check_rank ? "1" : s->hints[i + 1]));
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s=%s ", s->hints[i],
                 s->hints[i + 1]);
    }
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    snprintf(text, sizeof text, "%d", s->nodes);
    CHECK(in_force(file, "cb_nodes", s->in_force ? s->in_force : text), "cb_nodes in force");
    make(file, 0, &ds);
    forget();
    write_rows(ds);
    owners(who);
    for (i = 0; i < CHUNKS; i++) {
        int node = i / s->span % s->nodes, r = i * check_ranks / CHUNKS;

        if (who[i] < 0 || who[i] != who[i / s->span * s->span])
            wrong_owner++;
        else if (s->in_turn && who[i] != (node * check_ranks + s->nodes - 1) / s->nodes)
            wrong_owner++;
        else if (s->apart && who[i] != r)
            wrong_owner++;
        else
            ranks += !seen[who[i]]++;
    }
    CHECK(ranks == s->nodes && !wrong_owner, "%d ranks, %d chunks of the wrong one", ranks,
          wrong_owner);
    OK(drep_commit(file));
    CHECK(all_right(ds), "wrong values");
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    check_case(name);
}

static void test_buffering(void)
{
    const struct setting settings[] = {
        {{NULL}, check_ranks, 1, false, true, NULL},
        {{"cb_nodes", "1"}, 1, 1, false, false, NULL},
        {{"cb_nodes", "2"}, 2, 1, false, false, NULL},
        {{"cb_nodes", "99"}, check_ranks, 1, false, true, NULL},
        {{"cb_nodes", "1", "collective_buffering", "false"}, check_ranks, 1, false, true, "1"},
        {{"cb_nodes", "2", "cb_block_size", "131072"}, 2, 4, true, false, NULL},
        {{"cb_block_size", "32768"}, check_ranks, 1, true, false, NULL},
        {{"cb_block_size", "32769"}, check_ranks, 2, true, false, NULL},
        {{"striping_unit", "524288"}, check_ranks, 16, false, check_ranks == 3, NULL},
        {{"striping_unit", "65536", "cb_nodes", "2"}, 2, 2, false, false, NULL},
    };
    size_t i;

    for (i = 0; i < sizeof settings / sizeof *settings; i++)
        test_setting(&settings[i]);
}

int main(int argc, char **argv)
{
    const char *dir = getenv("TMPDIR");

    check_begin_with(&argc, &argv, argc > 1 ? atoi(argv[1]) : 0);
    MPI_Query_thread(&level);
    several_nodes = argc > 2;
    first_thread = pthread_self();
    snprintf(path, sizeof path, "%s/mpiio.drep", dir ? dir : "/tmp");
    if (check_ranks == 1) {
        check_case("payload by MPI-IO # SKIP one rank");
        return check_end();
    }
    test_write_and_read(0);
    test_write_and_read(1);
    test_other_thread();
    test_choice();
    test_no_file();
    test_buffering();
    test_full();
    test_messages();
    test_abandon();
    if (!check_rank)
        unlink(path);
    return check_end();
}
