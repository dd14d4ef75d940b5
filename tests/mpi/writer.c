/* writer.c - commits without end, for run-kill.py, which kills or stops a rank of it.
 *
 * Usage: writer FILE DIR TIMEOUT IO, the hint drep_mpi_io.  Each commit gives all elements its
 * number.  Each rank writes its process number to DIR/pid.RANK once the first commit is in the
 * file, and to DIR/end.RANK the code and the message with which its calls ended. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <unistd.h>

enum { ROWS = 512, COLUMNS = 300 };

static void note(const char *dir, const char *what, int number, const char *text)
{
    char name[600], new[610];
    FILE *f;

    snprintf(name, sizeof name, "%s/%s.%d", dir, what, check_rank);
    snprintf(new, sizeof new, "%s.new", name);
    f = fopen(new, "w");
    if (!f)
        return;
    fprintf(f, "%d %s\n", number, text);
    fclose(f);
    rename(new, name);
}

static int steps(drep_file *file, drep_dataset *ds, const char *dir)
{
    int64_t start[2] = {ROWS * check_rank / check_ranks, 0};
    int64_t count[2] = {ROWS * (check_rank + 1) / check_ranks - start[0], COLUMNS}, i;
    int32_t step, *p = malloc((size_t)(count[0] * count[1]) * sizeof *p);
    int err = 0;

    for (step = 1; !err; step++) {
        for (i = 0; i < count[0] * count[1]; i++)
            p[i] = step;
        err = drep_write_box(ds, start, count, DREP_INT32_T, p, &DREP_XFER(.collective = 1));
        if (!err)
            err = drep_commit(file);
        if (!err && step == 1)
            note(dir, "pid", (int)getpid(), "");
    }
    free(p);
    return err;
}

int main(int argc, char **argv)
{
    const int64_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {32, 32};
    const drep_filter filter = {.id = DREP_FILTER_LZ4};
    drep_dataset *ds;
    drep_info *info;
    drep_file *file;
    int err;

    check_begin(&argc, &argv);
    if (argc != 5 || drep_info_new(&info))
        return 2;
    drep_info_set(info, "drep_mpi_timeout", argv[3]);
    drep_info_set(info, "drep_mpi_io", argv[4]);
    err = drep_mpi_create(MPI_COMM_WORLD, argv[1], DREP_RDWR, "external32", info, &file);
    if (!err)
        err = drep_dataset_create(file, "/p",
                                  &DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims,
                                             .layout = DREP_CHUNKED, .chunk = chunk,
                                             .filters = check_ranks > 2 ? &filter : NULL,
                                             .nfilters = check_ranks > 2),
                                  &ds);
    if (!err)
        err = steps(file, ds, argv[2]);
    note(argv[2], "end", err, drep_error());
    /* MPI_Finalize() would wait for the dead, and a launcher ends all when one ends without it. */
    for (;;)
        pause();
}
