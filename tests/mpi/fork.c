/* fork.c - a child process of a rank leaves MPI, and the file, to its parent.
 *
 * The functions of MPI that the library calls are those below, which count and call MPI's. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 96, COLUMNS = 64, EDGE = 16 };

static atomic_int calls; /* of MPI */
static char path[512];

/* ---- MPI ---- */

#define COUNTED(name, formal, actual) \
    int name formal                   \
    {                                 \
        atomic_fetch_add(&calls, 1);  \
        return P##name actual;        \
    }

COUNTED(MPI_Initialized, (int *flag), (flag))
COUNTED(MPI_Finalized, (int *flag), (flag))
COUNTED(MPI_Query_thread, (int *level), (level))
COUNTED(MPI_Is_thread_main, (int *flag), (flag))
COUNTED(MPI_Get_library_version, (char *text, int *len), (text, len))
COUNTED(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
COUNTED(MPI_Improbe,
        (int from, int tag, MPI_Comm comm, int *flag, MPI_Message *m, MPI_Status *status),
        (from, tag, comm, flag, m, status))
COUNTED(MPI_Isend,
        (const void *p, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r),
        (p, n, type, to, tag, comm, r))
COUNTED(MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *copy, MPI_Request *request), (comm, copy, request))
COUNTED(MPI_Comm_free, (MPI_Comm * comm), (comm))
COUNTED(MPI_Type_commit, (MPI_Datatype * type), (type))
COUNTED(MPI_Type_free, (MPI_Datatype * type), (type))
COUNTED(MPI_File_close, (MPI_File * file), (file))
COUNTED(MPI_File_read_at,
        (MPI_File file, MPI_Offset at, void *p, int n, MPI_Datatype type, MPI_Status *status),
        (file, at, p, n, type, status))
COUNTED(MPI_File_write_at,
        (MPI_File file, MPI_Offset at, const void *p, int n, MPI_Datatype type, MPI_Status *status),
        (file, at, p, n, type, status))

/* ---- files ---- */

static double value(int step, int64_t i)
{
    return (double)(step * 10000 + i);
}

static int write_rows(drep_dataset *ds, int step, int collective)
{
    int64_t start[2] = {ROWS * check_rank / check_ranks, 0};
    int64_t count[2] = {ROWS * (check_rank + 1) / check_ranks - start[0], COLUMNS}, i;
    double *p = malloc((size_t)(count[0] * count[1]) * sizeof *p);
    int err;

    for (i = 0; i < count[0] * count[1]; i++)
        p[i] = value(step, start[0] * COLUMNS + i);
    err = drep_write_box(ds, start, count, DREP_DOUBLE, p, &DREP_XFER(.collective = collective));
    free(p);
    return err;
}

static int all_right(drep_dataset *ds, int step, int collective)
{
    double *p = calloc(ROWS * COLUMNS, sizeof *p);
    int64_t i = 0;

    OK(drep_read(ds, NULL, DREP_DOUBLE, p, &DREP_XFER(.collective = collective)));
    while (i < ROWS * COLUMNS && p[i] == value(step, i))
        i++;
    free(p);
    return i == ROWS * COLUMNS;
}

/* ---- the child ---- */

typedef void child_fn(drep_file *file, drep_dataset *ds);

/* Rank 0 has a child, which leaves without MPI_Finalize(). */
static void fork_one(child_fn *fn, drep_file *file, drep_dataset *ds)
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    if (check_rank)
        return;
    pid = fork();
    if (pid == 0) {
        check_failures = 0;
        calls = 0;
        fn(file, ds);
        CHECK(!calls, "the child made %d calls of MPI", calls);
        fflush(stdout);
        _exit(check_failures != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child: status %d",
          status);
}

static void close_writer(drep_file *file, drep_dataset *ds)
{
    drep_type *type;
    drep_file *other;
    MPI_Datatype datatype;

    FAILS(write_rows(ds, 9, 1), DREP_ERR_FILE_IN_USE, "only the process that opened");
    FAILS(write_rows(ds, 9, 0), DREP_ERR_FILE_IN_USE, "only the process that opened");
    FAILS(drep_commit(file), DREP_ERR_FILE_IN_USE, "only the process that opened");
    FAILS(drep_mpi_type(MPI_DOUBLE, &type), DREP_ERR_UNSUPPORTED_OPERATION, "parent");
    FAILS(drep_mpi_datatype(DREP_DOUBLE, &datatype), DREP_ERR_UNSUPPORTED_OPERATION, "parent");
    FAILS(drep_mpi_open(MPI_COMM_SELF, path, DREP_RDONLY, NULL, &other),
          DREP_ERR_UNSUPPORTED_OPERATION, "parent");
    drep_dataset_close(ds);
    FAILS(drep_close(file), DREP_ERR_FILE_IN_USE, "not committed");
}

static void abandon_writer(drep_file *file, drep_dataset *ds)
{
    drep_abandon(file);
    drep_dataset_close(ds);
}

static void tell_writer(drep_file *file, drep_dataset *ds)
{
    drep_dataset_close(ds);
    drep_team_abandon(file, "a child");
}

static void use_reader(drep_file *file, drep_dataset *ds)
{
    int rank = -1, ranks = -1;

    CHECK(all_right(ds, 3, 1), "wrong values together");
    CHECK(all_right(ds, 3, 0), "wrong values");
    OK(drep_team_of(file, &rank, &ranks));
    CHECK(rank == 0 && ranks == 1, "rank %d of %d", rank, ranks);
    drep_dataset_close(ds);
    OK(drep_close(file));
}

static void refresh_reader(drep_file *file, drep_dataset *ds)
{
    OK(drep_refresh(file));
    CHECK(all_right(ds, 3, 0), "wrong values");
    drep_abandon(file);
    drep_dataset_close(ds);
}

static void close_reader(drep_file *file, drep_dataset *ds)
{
    drep_dataset_close(ds);
    OK(drep_close(file));
}

/* ---- cases ---- */

static void test_writers(const char *io)
{
    static child_fn *const children[] = {close_writer, abandon_writer, tell_writer, close_writer};
    const int64_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {EDGE, EDGE};
    drep_dataset *ds = NULL;
    drep_info *info;
    drep_file *file;
    char name[100];
    int step;

    OK(drep_info_new(&info));
    OK(drep_info_set(info, "drep_mpi_io", io));
    OK(drep_info_set(info, "drep_mpi_timeout", "60"));
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    OK(drep_dataset_create(file, "/p",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                                      .layout = DREP_CHUNKED, .chunk = chunk),
                           &ds));
    for (step = 0; step < 4; step++) {
        OK(write_rows(ds, step, step < 2));
        fork_one(children[step], file, ds);
        OK(drep_commit(file));
        CHECK(all_right(ds, step, 0), "step %d: wrong values", step);
    }
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    snprintf(name, sizeof name, "%s: a child closes, abandons and leaves what its parent writes",
             io);
    check_case(name);
}

static void test_readers(const char *io)
{
    static child_fn *const children[] = {close_reader, use_reader, refresh_reader, abandon_writer};
    drep_dataset *ds = NULL;
    drep_info *info;
    drep_file *file;
    char name[100];
    int i;

    OK(drep_info_new(&info));
    OK(drep_info_set(info, "drep_mpi_io", io));
    OK(drep_info_set(info, "drep_mpi_timeout", "60"));
    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDONLY, info, &file));
    OK(drep_dataset_open(file, "/p", &ds));
    for (i = 0; i < 4; i++) {
        fork_one(children[i], file, ds);
        CHECK(all_right(ds, 3, 1), "wrong values");
    }
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    snprintf(name, sizeof name, "%s: a child reads without MPI what its parent reads", io);
    check_case(name);
}

int main(int argc, char **argv)
{
    const char *dir = getenv("TMPDIR");
    int i;

    check_begin(&argc, &argv);
    snprintf(path, sizeof path, "%s/fork.drep", dir ? dir : "/tmp");
    for (i = 0; i < 2; i++) {
        test_writers(i ? "mpiio" : "posix");
        test_readers(i ? "mpiio" : "posix");
    }
    if (!check_rank)
        unlink(path);
    return check_end();
}
