/* program.c - one drep_write on one thread, and the functions that it enters.
 *
 * Usage: program WRITE FILE      makes the file, of a 2-D dataset of doubles, and prints the
 * address of each function of the library that is entered, in order, and "-" for each return: in
 * drep_write, or where filters wait for drep_close, in both.  The writes are lines of `writes`. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A write of every stride-th element of a square.  With functions the dataset is under a
 * representation that a user registered, with chunks and filters: all that a write can meet. */
static const struct write {
    const char *name;
    int64_t side, chunk, count, stride;
    int filters, functions;
} writes[] = {
    {"box", 40, 10, 20, 1, 2, 1},         {"stepped", 40, 10, 20, 2, 2, 1},
    {"contiguous", 512, 0, 512, 1, 0, 0}, {"plain", 512, 128, 512, 1, 0, 0},
    {"strided", 512, 128, 256, 2, 0, 0},  {"filtered", 512, 128, 256, 2, 2, 0},
};

static QUIET drep_dataset *make(drep_file *file, const struct write *w)
{
    const int64_t dims[2] = {w->side, w->side}, chunk[2] = {w->chunk, w->chunk};
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                               .layout = w->chunk ? DREP_CHUNKED : DREP_CONTIGUOUS);
    drep_dataset *set;

    if (w->chunk) {
        spec.chunk = chunk;
        spec.filters = w->filters ? filters : NULL;
        spec.nfilters = w->filters;
    }
    check(drep_dataset_create(file, "/x", &spec, &set));
    return set;
}

static QUIET void show(void)
{
    if (entries == MOST) {
        fprintf(stderr, "more than %d functions are entered and left\n", MOST);
        exit(1);
    }
    for (size_t i = 0; i < entries; i++)
        if (trace[i])
            printf("%p\n", trace[i]);
        else
            puts("-");
}

QUIET int main(int argc, char **argv)
{
    drep_xfer xfer = DREP_XFER(.threads = 1);
    drep_info *info;
    drep_selection *selection;
    const struct write *w = writes;
    drep_dataset *set;
    drep_file *file;
    double *data;

    while (argc == 3 && w < writes + sizeof(writes) / sizeof(*writes) && strcmp(w->name, argv[1]))
        w++;
    if (argc != 3 || w == writes + sizeof(writes) / sizeof(*writes))
        return 2;
    data = malloc((size_t)(w->count * w->count) * sizeof(*data));
    if (!data)
        return 1;
    for (int64_t i = 0; i < w->count * w->count; i++)
        data[i] = (double)i;
    check(drep_register_datarep("turned", from_file, to_file, extent, NULL));
    check(drep_info_new(&info));
    check(drep_info_set(info, "drep_threads", "1"));
    check(drep_create(argv[2], DREP_RDWR, w->functions ? "turned" : "native", info, &file));
    drep_info_free(info);
    set = make(file, w);
    check(drep_select_box(2, (int64_t[]){0, 0}, (int64_t[]){w->count, w->count},
                          (int64_t[]){w->stride, w->stride}, NULL, &selection));
    recording = 1;
    check(drep_write(set, selection, DREP_DOUBLE, data, &xfer));
    recording = w->filters && !w->functions;
    drep_selection_free(selection);
    drep_dataset_close(set);
    check(drep_close(file));
    recording = 0;
    show();
    free(data);
    return 0;
}
