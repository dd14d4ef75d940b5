/* program.c - one drep_write of 400 elements, and the functions that it enters.
 *
 * Usage: program strided|box      prints the address of each function of the library that is
 * entered, in order, and "-" for each return.  The dataset is chunked and filtered, under a
 * representation that a user registered: all that a write can meet. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 40
#define COUNT 20
#define QUIET __attribute__((no_instrument_function))

enum { MOST = 1 << 22 };
static void *trace[MOST]; /* NULL: a return */
static size_t entries;
static int recording;

void __cyg_profile_func_enter(void *function, void *caller) QUIET;
void __cyg_profile_func_exit(void *function, void *caller) QUIET;

static QUIET void note(void *function)
{
    if (recording && entries < MOST)
        trace[entries++] = function;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    note(function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
    note(NULL);
}

static QUIET void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

/* Numbers with their bytes back to front. */
static QUIET int turn(char *user, const drep_type *type, int64_t count, char *file,
                      int64_t position, int write)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position) != 0)
        return -1;
    for (; count > 0; count -= run.count) {
        drep_cursor_next(&cursor, count, &run);
        int64_t size = drep_type_size(run.type);
        for (int64_t i = 0; i < run.count; i++, file += size) {
            char *item = user + run.offset + i * run.stride;
            for (int64_t b = 0; b < size; b++)
                if (write)
                    file[b] = item[size - 1 - b];
                else
                    item[size - 1 - b] = file[b];
        }
    }
    return 0;
}

static QUIET int to_file(void *user, const drep_type *t, int64_t n, void *file, int64_t at, void *x)
{
    (void)x;
    return turn(user, t, n, file, at, 1);
}

static QUIET int from_file(void *user, const drep_type *t, int64_t n, void *file, int64_t at,
                           void *x)
{
    (void)x;
    return turn(user, t, n, file, at, 0);
}

static QUIET int extent(const drep_type *type, int64_t *bytes, void *x)
{
    (void)x;
    *bytes = drep_type_size(type);
    return 0;
}

QUIET int main(int argc, char **argv)
{
    static double data[COUNT * COUNT];
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {10, 10}, start[2] = {0},
                  count[2] = {COUNT, COUNT};
    int64_t stride[2] = {1, 1};
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                               .chunk = chunk, .filters = filters, .nfilters = 2);
    drep_xfer xfer = DREP_XFER(.threads = 1);
    drep_selection *selection;
    drep_dataset *set;
    drep_file *file;

    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "strided") == 0)
        stride[0] = stride[1] = 2;
    for (int i = 0; i < COUNT * COUNT; i++)
        data[i] = i;
    check(drep_register_datarep("turned", from_file, to_file, extent, NULL));
    check(drep_create(":memory:", DREP_RDWR, "turned", NULL, &file));
    check(drep_dataset_create(file, "/x", &spec, &set));
    check(drep_select_box(2, start, count, stride, NULL, &selection));
    recording = 1;
    check(drep_write(set, selection, DREP_DOUBLE, data, &xfer));
    recording = 0;
    if (entries == MOST) {
        fprintf(stderr, "more than %d functions are entered and left\n", MOST);
        return 1;
    }
    for (size_t i = 0; i < entries; i++)
        if (trace[i])
            printf("%p\n", trace[i]);
        else
            puts("-");
    drep_selection_free(selection);
    drep_dataset_close(set);
    check(drep_close(file));
    return 0;
}
