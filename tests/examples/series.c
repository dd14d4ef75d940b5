/* series.c - a series that grows while others read it.
 *
 * The writer appends and commits; the reader, which could be another process, sees the commit
 * it opened until it asks for the newest.  Nobody waits. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static int64_t length(drep_dataset *dataset)
{
    drep_dsinfo info = DREP_DSINFO;

    check(drep_dataset_info(dataset, &info));
    return info.dims[0];
}

static void append(drep_file *file, drep_dataset *dataset, const double *values, int64_t n)
{
    check(drep_append(dataset, 0, n, DREP_DOUBLE, values, NULL));
    check(drep_commit(file)); /* on disk, all of it or nothing */
}

static int show_commit(const drep_commitinfo *commit, void *ctx)
{
    int *n = ctx;

    (void)commit;
    ++*n;
    return 0;
}

int main(void)
{
    int64_t none = 0, unlimited = DREP_UNLIMITED, chunk = 1024;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &unlimited,
                               .chunk = &chunk);
    drep_file *writer, *reader;
    drep_dataset *out, *in;
    double last[3];
    int kept = 0;

    check(drep_create("series.drep", DREP_RDWR, "internal", NULL, &writer));
    check(drep_dataset_create(writer, "/level", &spec, &out));
    append(writer, out, (double[]){1.5, 2.5, 3.5}, 3);

    check(drep_open("series.drep", DREP_RDONLY, NULL, &reader));
    check(drep_dataset_open(reader, "/level", &in));
    append(writer, out, (double[]){4.5, 5.5}, 2);
    printf("before: %d values\n", (int)length(in));
    check(drep_refresh(reader));
    printf("after: %d values\n", (int)length(in));

    {
        int64_t start = length(in) - 3, count = 3;
        drep_selection *box;

        check(drep_select_box(1, &start, &count, NULL, NULL, &box));
        check(drep_read(in, box, DREP_DOUBLE, last, NULL));
        drep_selection_free(box);
    }
    printf("last: %g %g %g\n", last[0], last[1], last[2]);
    check(drep_log(reader, show_commit, &kept));
    printf("kept commits: %d\n", kept);
    drep_dataset_close(in);
    check(drep_close(reader));
    drep_dataset_close(out);
    check(drep_close(writer));
    return 0;
}
