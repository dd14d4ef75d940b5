/* growth.c - writes a file in one of several ways, for run-growth.sh to count its system calls.
 *
 *   growth large PATH    64 MiB in 1,024 writes, one commit
 *   growth whole PATH    64 MiB in one write, one commit
 *   growth small PATH    1,000 commits of 100 bytes each
 *   growth same PATH     200 commits that write the same elements again
 *   growth none PATH     as small, with drep_sync=none */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART 8192 /* doubles of a large write */

static void must(int err)
{
    if (!err)
        return;
    fprintf(stderr, "growth: %s\n", drep_error());
    exit(1);
}

static void put(drep_dataset *ds, int64_t at, int64_t n, const double *v)
{
    drep_selection *sel;

    must(drep_select_box(1, &at, &n, NULL, NULL, &sel));
    must(drep_write(ds, sel, NULL, v, NULL));
    drep_selection_free(sel);
}

static drep_dataset *make(drep_file *f, int64_t len, int64_t max)
{
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &len, .maxdims = &max,
                                     .layout = DREP_CONTIGUOUS);
    drep_dataset *ds;

    must(drep_dataset_create(f, "d", &spec, &ds));
    return ds;
}

int main(int argc, char **argv)
{
    static double v[PART];
    const char *what = argc == 3 ? argv[1] : "";
    drep_info *info;
    drep_dataset *ds;
    drep_file *f;

    must(drep_info_new(&info));
    must(drep_info_set(info, "drep_threads", "1"));
    if (strcmp(what, "none") == 0)
        must(drep_info_set(info, "drep_sync", "none"));
    must(drep_create(argv[argc - 1], DREP_RDWR, "native", info, &f));
    drep_info_free(info);
    for (int i = 0; i < PART; i++)
        v[i] = i / 7.0;
    if (strcmp(what, "large") == 0) {
        ds = make(f, 1024 * PART, 1024 * PART);
        for (int64_t i = 0; i < 1024; i++)
            put(ds, i * PART, PART, v);
    } else if (strcmp(what, "whole") == 0) {
        double *all = calloc(1024, sizeof(v));

        if (!all)
            return 1;
        ds = make(f, 1024 * PART, 1024 * PART);
        put(ds, 0, 1024 * PART, all);
        free(all);
    } else if (strcmp(what, "same") == 0) {
        ds = make(f, PART, PART);
        for (int64_t i = 0; i < 200; i++) {
            put(ds, 0, PART, v);
            must(drep_commit(f));
        }
    } else {
        ds = make(f, 0, DREP_UNLIMITED);
        for (int64_t i = 1; i <= 1000; i++) {
            const int64_t len = 12 * i;

            must(drep_dataset_resize(ds, &len));
            put(ds, len - 12, 12, v);
            must(drep_commit(f));
        }
    }
    drep_dataset_close(ds);
    must(drep_close(f));
    return 0;
}
