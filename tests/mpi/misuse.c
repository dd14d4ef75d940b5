/* misuse.c - ranks that are in different calls, or give nothing, are told at once, also where the
 * team would wait for ever or for long; and closing does not wait for those that have left. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 4000, PART = 10 };
enum deed { COMMIT, CLOSE, WRITE, READ, ABANDON };

static char path[500];
static drep_file *file;
static drep_dataset *numbers;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* With a timeout of half a minute, or 0, in turn. */
static void begin(const char *datarep)
{
    const int64_t n = COUNT, chunk = 100;
    static int files;
    drep_info *info;

    OK(drep_info_new(&info));
    OK(drep_info_set(info, "drep_mpi_timeout", files++ % 2 ? "30" : "0"));
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, datarep, info, &file));
    drep_info_free(info);
    OK(drep_dataset_create(file, "/numbers",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n,
                                      .layout = DREP_CHUNKED, .chunk = &chunk),
                           &numbers));
    OK(drep_commit(file));
}

static int act(enum deed deed, drep_dataset *ds)
{
    const int64_t from = check_rank * PART, some = PART;
    const drep_xfer together = DREP_XFER(.collective = 1);
    static double v[PART];

    switch (deed) {
    case COMMIT:
        return drep_commit(file);
    case CLOSE:
        return drep_close(file);
    case WRITE:
        return drep_write_box(ds, &from, &some, DREP_DOUBLE, v, &together);
    case READ:
        return drep_read_box(ds, &from, &some, DREP_DOUBLE, v, &together);
    default:
        drep_team_abandon(file, "out of ideas");
        return 0;
    }
}

/* The last rank does one thing, the others another. */
static void part(enum deed others, enum deed one, const char *name)
{
    bool odd = check_rank == check_ranks - 1;
    enum deed deed = odd ? one : others;
    double begun;

    begin("native");
    if (deed == ABANDON)
        act(deed, numbers);
    else
        FAILS(act(deed, numbers), DREP_ERR_NOT_SAME, "is in drep_");
    begun = seconds();
    if (deed != ABANDON && deed != CLOSE) {
        FAILS(act(WRITE, numbers), DREP_ERR_NOT_SAME, "is in drep_");
        FAILS(drep_group_create(file, "/late", 0), DREP_ERR_NOT_SAME, "is in drep_");
        if (odd) /* the others do not wait for it */
            usleep(200000);
        FAILS(drep_close(file), DREP_ERR_NOT_SAME, "is in drep_");
    }
    begun += odd ? 0.2 : 0;
    CHECK(seconds() - begun < 0.1, "later calls take %.3f s", seconds() - begun);
    drep_dataset_close(numbers);
    check_case(name);
}

/* All hear of it in that very call, and go on. */
static void test_nothing_given(void)
{
    bool odd = check_rank == check_ranks - 1;

    begin("native");
    FAILS(act(WRITE, odd ? NULL : numbers), DREP_ERR_ARG, "drep_write_box: no dataset");
    FAILS(act(READ, odd ? NULL : numbers), DREP_ERR_ARG, "drep_read_box: no dataset");
    FAILS(drep_commit(odd ? NULL : file), DREP_ERR_ARG, "no file");
    OK(act(WRITE, numbers));
    OK(drep_commit(file));
    OK(drep_close(file));
    drep_dataset_close(numbers);
    check_case("a rank that gives no dataset is told in that call");
}

/* One name, and another table on the last rank. */
static void test_other_tables(void)
{
    const drep_encoding row = {DREP_CODE_DOUBLE,
                               DREP_FORMAT_BINARY64,
                               check_rank == check_ranks - 1 ? DREP_LITTLE : DREP_BIG,
                               8,
                               1,
                               0,
                               0};
    char own[20];
    int alike;

    OK(drep_declare_datarep("ours", "external32", &row, 1, NULL, 0));
    for (alike = 0; alike < 2; alike++) {
        begin("native");
        OK(drep_dataset_create(file, "/d", &DREP_SPEC(.type = DREP_DOUBLE, .datarep = "ours"),
                               NULL));
        snprintf(own, sizeof own, "/own%d", alike ? 0 : check_rank);
        OK(drep_group_create(file, own, 0));
        FAILS(drep_commit(file), DREP_ERR_NOT_SAME, "different tables of datarep \"ours\"");
        drep_dataset_close(numbers);
        drep_abandon(file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_case("tables that differ under one name are told");
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    int pid = (int)getpid();

    check_begin(&argc, &argv);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/misuse.%d.drep", tmp ? tmp : "/tmp", pid);
    if (check_ranks > 1) {
        part(COMMIT, CLOSE, "commit and close");
        part(COMMIT, CLOSE, "commit and close, with a timeout");
        part(READ, ABANDON, "read and abandon, without a timeout");
        part(CLOSE, COMMIT, "close and commit");
        part(WRITE, READ, "write and read");
        part(WRITE, COMMIT, "write and commit");
        part(READ, ABANDON, "read and abandon");
        part(CLOSE, ABANDON, "close and abandon");
        test_nothing_given();
        test_other_tables();
    } else {
        check_case("one rank is always in the same call");
    }
    return check_end();
}
