/* ranges.c - what becomes of values that do not fit, and how a program learns of it.
 *
 * Between datatypes of other signature the library refuses what the target cannot hold; a
 * program may ask for the nearest instead, and for a report of what that cost. */
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

int main(void)
{
    double values[] = {1, 2.5, 300, -4};
    signed char back[4];
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = (int64_t[]){4});
    drep_report report = DREP_REPORT;
    drep_xfer nearest = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    drep_dataset *dataset;
    drep_file *file;

    check(drep_create(":memory:", DREP_RDWR, "internal", NULL, &file));
    check(drep_dataset_create(file, "/v", &spec, &dataset));
    check(drep_write(dataset, NULL, DREP_DOUBLE, values, NULL));

    if (drep_read(dataset, NULL, DREP_INT8_T, back, NULL) == DREP_ERR_CONVERSION)
        printf("refused: %s\n", drep_error());
    check(drep_read(dataset, NULL, DREP_INT8_T, back, &nearest));
    printf("nearest: %d %d %d %d\n", back[0], back[1], back[2], back[3]);
    printf("out of range: %d, the first at %d; rounded: %d, the first at %d\n",
           (int)report.overflow, (int)report.first_overflow, (int)report.inexact,
           (int)report.first_inexact);
    drep_dataset_close(dataset);
    check(drep_close(file));
    return 0;
}
