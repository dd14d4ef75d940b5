/* threads.c - many threads read through one handle, none waits for another.
 *
 * cc threads.c -pthread $(pkg-config --cflags --libs datarep) */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, EACH = 25000 };

struct part {
    drep_dataset *dataset;
    int64_t start;
    double sum;
    int err;
    char why[256]; /* drep_error() is each thread's own */
};

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void *add_up(void *arg)
{
    struct part *p = arg;
    int64_t count = EACH, i;
    double *values = malloc(EACH * sizeof *values);
    drep_xfer alone = DREP_XFER(.threads = 1);
    drep_selection *box;

    p->err = values ? drep_select_box(1, &p->start, &count, NULL, NULL, &box) : DREP_ERR_NOMEM;
    if (!p->err) {
        p->err = drep_read(p->dataset, box, DREP_DOUBLE, values, &alone);
        drep_selection_free(box);
    }
    if (p->err)
        snprintf(p->why, sizeof p->why, "%s", drep_error());
    for (i = 0; i < EACH && !p->err; i++)
        p->sum += values[i];
    free(values);
    return NULL;
}

static void write_file(void)
{
    int64_t n = THREADS * EACH, i;
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = (int64_t[]){4096});
    int32_t *values = malloc((size_t)n * sizeof *values);
    drep_dataset *dataset;
    drep_file *file;

    for (i = 0; values && i < n; i++)
        values[i] = (int32_t)i;
    check(drep_create("threads.drep", DREP_RDWR, "external32", NULL, &file));
    check(drep_dataset_create(file, "/n", &spec, &dataset));
    check(drep_write(dataset, NULL, DREP_INT32_T, values, NULL));
    drep_dataset_close(dataset);
    check(drep_close(file));
    free(values);
}

int main(void)
{
    struct part part[THREADS] = {{0}};
    pthread_t thread[THREADS];
    drep_dataset *dataset;
    drep_file *file;
    double sum = 0;
    int i;

    write_file();
    check(drep_open("threads.drep", DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/n", &dataset));
    for (i = 0; i < THREADS; i++) {
        part[i].dataset = dataset;
        part[i].start = (int64_t)i * EACH;
        if (pthread_create(&thread[i], NULL, add_up, &part[i]) != 0)
            return 1;
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        if (part[i].err)
            fprintf(stderr, "%s\n", part[i].why);
        sum += part[i].sum;
    }
    printf("%.0f\n", sum);
    drep_dataset_close(dataset);
    check(drep_close(file));
    return 0;
}
