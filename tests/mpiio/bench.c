/* bench.c - one of four doubles through a view, for bench.py: a program that knows MPI alone.
 *
 * bench FILE DATAREP independent|collective write|read ROUNDS: rank 0 prints the CPU seconds of all
 * ranks for a round, the median, after one round that is not counted. */
/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ITEMS = 500000, STEP = 4, ROUNDS_MAX = 64 };

static void must(int is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "bench: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double cpu_now(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int move(MPI_File f, double *data, int collective, int writing)
{
    if (writing)
        return collective ? MPI_File_write_at_all(f, 0, data, ITEMS, MPI_DOUBLE, MPI_STATUS_IGNORE)
                          : MPI_File_write_at(f, 0, data, ITEMS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    return collective ? MPI_File_read_at_all(f, 0, data, ITEMS, MPI_DOUBLE, MPI_STATUS_IGNORE)
                      : MPI_File_read_at(f, 0, data, ITEMS, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void check(const double *data, int rank)
{
    for (int i = 0; i < ITEMS; i++)
        must(data[i] == i * 3.5 + rank, "the comparison of what was read");
}

int main(int argc, char **argv)
{
    double *data = malloc(ITEMS * sizeof *data), took[ROUNDS_MAX];
    int rank, collective, writing, rounds;
    MPI_Datatype type;
    MPI_File f;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(argc == 6 && data, "its arguments");
    collective = !strcmp(argv[3], "collective");
    writing = !strcmp(argv[4], "write");
    rounds = atoi(argv[5]);
    must(rounds >= 0 && rounds < ROUNDS_MAX, "ROUNDS");
    MPI_Type_create_resized(MPI_DOUBLE, 0, STEP * (MPI_Aint)sizeof(double), &type);
    MPI_Type_commit(&type);
    must(
        !MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
        "MPI_File_open");
    must(!MPI_File_set_view(f, rank * (MPI_Offset)sizeof(double), MPI_DOUBLE, type, argv[2],
                            MPI_INFO_NULL),
         "MPI_File_set_view");
    for (int i = 0; i < ITEMS; i++)
        data[i] = i * 3.5 + rank;
    must(!move(f, data, 1, 1), "the first write");
    for (int i = 0; i < rounds; i++) {
        double before, sum;

        MPI_Barrier(MPI_COMM_WORLD);
        before = cpu_now();
        must(!move(f, data, collective, writing), "a round");
        sum = cpu_now() - before;
        MPI_Allreduce(&sum, &took[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    memset(data, 0, ITEMS * sizeof *data);
    must(!move(f, data, 1, 0), "the last read");
    check(data, rank);
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    if (rank == 0)
        printf("%.6f\n", rounds ? took[rounds / 2] : 0);
    MPI_File_close(&f);
    MPI_Type_free(&type);
    free(data);
    MPI_Finalize();
    return 0;
}
