/* views.c - one of four integers through a view of a file, ours and that of the MPI library. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep-mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 1000000, STEP = 4, ROUNDS = 11, SIDES = 2, OURS = 0, THEIRS = 1 };

struct work {
    const char *datarep;
    bool writing;
    int *data;
};

static void run_ours(void *ctx, const char *path)
{
    const struct work *w = ctx;
    int64_t items = 0;
    drep_type *type;
    drep_view *v;

    must(!drep_type_resized(0, STEP * (int64_t)sizeof(int), DREP_INT, &type), "drep_type_resized");
    must(!drep_view_raw(path, DREP_RDWR, NULL, &v), "drep_view_raw");
    must(!drep_view_set(v, 0, DREP_INT, type, w->datarep, NULL), "drep_view_set");
    if (w->writing)
        must(!drep_write_at(v, 0, w->data, ITEMS, DREP_INT, NULL, &items), "drep_write_at");
    else
        must(!drep_read_at(v, 0, w->data, ITEMS, DREP_INT, NULL, &items), "drep_read_at");
    must(items == ITEMS, "all items");
    must(!drep_view_close(v), "drep_view_close");
    drep_type_free(type);
}

static void run_theirs(void *ctx, const char *path)
{
    const struct work *w = ctx;
    MPI_Datatype type;
    MPI_Status status;
    MPI_File f;
    int n;

    MPI_Type_create_resized(MPI_INT, 0, STEP * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    must(!MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
         "MPI_File_open");
    must(!MPI_File_set_view(f, 0, MPI_INT, type, w->datarep, MPI_INFO_NULL), "MPI_File_set_view");
    if (w->writing)
        must(!MPI_File_write_at(f, 0, w->data, ITEMS, MPI_INT, &status), "MPI_File_write_at");
    else
        must(!MPI_File_read_at(f, 0, w->data, ITEMS, MPI_INT, &status), "MPI_File_read_at");
    must(!MPI_Get_count(&status, MPI_INT, &n) && n == ITEMS, "all items");
    MPI_File_close(&f);
    MPI_Type_free(&type);
}

static const struct side sides[SIDES] = {{"ours", run_ours}, {"MPI", run_theirs}};

/* The one's files are the other's. */
static void compare(struct work *w, const char *path)
{
    char name[4096];

    for (int side = 0; side < SIDES; side++) {
        snprintf(name, sizeof name, "%s.%d", path, side);
        for (int i = 0; i < ITEMS; i++)
            w->data[i] = i * 7 + side;
        w->writing = true;
        sides[side].run(w, name);
        memset(w->data, 0, ITEMS * sizeof *w->data);
        w->writing = false;
        sides[!side].run(w, name);
        for (int i = 0; i < ITEMS; i++)
            must(w->data[i] == i * 7 + side, "the comparison of items");
    }
}

int main(int argc, char **argv)
{
    static const char *const datareps[] = {"native", "external32"};
    struct work w = {0};
    char path[4000], name[4096];

    MPI_Init(&argc, &argv);
    must(argc >= 2, "an argument");
    snprintf(path, sizeof path, "%s/bench-views.tmp", argv[1]);
    w.data = malloc(ITEMS * sizeof *w.data);
    must(w.data != NULL, "malloc");
    printf("| one of %d integers | ours, ns an item | MPI's, ns | ours / MPI's |\n"
           "|---|---|---|---|\n",
           STEP);
    for (int i = 0; i < 4; i++) {
        struct cost c[SIDES];

        w.datarep = datareps[i / 2];
        compare(&w, path);
        w.writing = i % 2;
        bench(sides, SIDES, ROUNDS, 0, &w, path, c);
        printf("| %s, %s | %.1f | %.1f |", w.datarep, w.writing ? "write" : "read",
               1e9 * c[OURS].wall / ITEMS, 1e9 * c[THEIRS].wall / ITEMS);
        cell_with_bar(c[OURS].wall / c[THEIRS].wall, 1.5);
        printf("\n");
        fflush(stdout);
    }
    for (int side = 0; side < SIDES; side++) {
        snprintf(name, sizeof name, "%s.%d", path, side);
        unlink(name);
    }
    printf("\n%d bars missed\n", bars_missed);
    free(w.data);
    MPI_Finalize();
    return 0;
}
