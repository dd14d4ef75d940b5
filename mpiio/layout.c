/* layout.c - a filetype in the file as a datatype of bytes.
 *
 * The runs of bytes are those of a view (drep_view_runs()), which is made for that alone: nothing
 * is read or written through it. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <limits.h>
#include <stdlib.h>

enum { BLOCK_MAX = 1 << 30 }; /* bytes that an int counts */

/* -------------------------------------------------------------- the runs */

static int no_read(void *state, const drep_range *range, size_t n)
{
    (void)state, (void)range, (void)n;
    return DREP_ERR_UNSUPPORTED_OPERATION;
}

static int no_size(void *state, uint64_t *size)
{
    (void)state, (void)size;
    return DREP_ERR_UNSUPPORTED_OPERATION;
}

struct byte_layout {
    drep_file_run *run;
    int64_t n, extent;
};

/* MPI forbids writing a filetype that overlaps itself.  It does not forbid one that overlaps the
 * next tile: PnetCDF sets such views and writes one tile alone. */
static int check_overlap(const struct byte_layout *l)
{
    int64_t i, end = INT64_MIN;

    for (i = 0; i < l->n; i++) {
        const drep_file_run *r = &l->run[i];

        if (r->offset < end || r->stride < r->size)
            return drep_error_set(DREP_ERR_TYPE,
                                  "filetype: overlaps itself, which cannot be written");
        end = r->offset + (r->count - 1) * r->stride + r->size;
    }
    return 0;
}

static int runs_get(int64_t disp, const drep_type *etype, const drep_type *filetype,
                    const char *datarep, bool writable, struct byte_layout *l)
{
    const drep_driver none = DREP_DRIVER(.read_many = no_read, .file_size = no_size);
    drep_view *view;
    /* A view for reading may overlap: what may be written is checked here. */
    int err = drep_view_driver(&none, NULL, "view", DREP_RDONLY, NULL, &view);

    if (err)
        return err;
    err = drep_view_set(view, disp, etype, filetype, datarep, NULL);
    if (!err)
        err = drep_view_runs(view, NULL, 0, &l->n, &l->extent);
    if (!err) {
        l->run = calloc((size_t)l->n + 1, sizeof *l->run);
        err = l->run ? drep_view_runs(view, l->run, l->n, &l->n, &l->extent) : DREP_ERR_NOMEM;
    }
    if (!err && writable)
        err = check_overlap(l);
    drep_view_close(view);
    return err;
}

/* ----------------------------------------------------- as a datatype of MPI */

int layout_count(MPI_Count n, int *count, MPI_Datatype *type)
{
    int lens[2] = {(int)(n / BLOCK_MAX), (int)(n % BLOCK_MAX)}, err;
    MPI_Aint at[2] = {0, (MPI_Aint)(n - n % BLOCK_MAX)};
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE};

    if (n <= INT_MAX) {
        *count = (int)n;
        *type = MPI_BYTE;
        return 0;
    }
    *count = 1;
    err = PMPI_Type_contiguous(BLOCK_MAX, MPI_BYTE, &parts[0]);
    if (err == MPI_SUCCESS) {
        err = PMPI_Type_create_struct(2, lens, at, parts, type);
        PMPI_Type_free(&parts[0]);
    }
    return err == MPI_SUCCESS ? PMPI_Type_commit(type) : err;
}

/* Blocks of their own: one list. */
static int make_blocks(const struct byte_layout *l, MPI_Datatype *out)
{
    int64_t i, n = 0, at, left;
    int *lens, result;
    MPI_Aint *places;

    for (i = 0; i < l->n; i++)
        n += (l->run[i].size - 1) / BLOCK_MAX + 1;
    lens = calloc((size_t)n + 1, sizeof *lens);
    places = calloc((size_t)n + 1, sizeof *places);
    result = lens && places && n <= INT_MAX ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (i = n = 0; i < l->n && !result; i++)
        for (at = l->run[i].offset, left = l->run[i].size; left > 0; n++) {
            lens[n] = (int)(left < BLOCK_MAX ? left : BLOCK_MAX);
            places[n] = (MPI_Aint)at;
            at += lens[n];
            left -= lens[n];
        }
    if (!result)
        result = PMPI_Type_create_hindexed((int)n, lens, places, MPI_BYTE, out);
    free(lens);
    free(places);
    return result;
}

static int make_run(const drep_file_run *r, MPI_Datatype *out)
{
    if (r->count > INT_MAX || r->size > BLOCK_MAX)
        return MPI_ERR_COUNT;
    return PMPI_Type_create_hvector((int)r->count, (int)r->size, (MPI_Aint)r->stride, MPI_BYTE,
                                    out);
}

static int make_runs(const struct byte_layout *l, MPI_Datatype *out)
{
    MPI_Datatype *parts = calloc((size_t)l->n, sizeof *parts);
    MPI_Aint *places = calloc((size_t)l->n, sizeof *places);
    int *ones = calloc((size_t)l->n, sizeof *ones);
    int64_t i, made = 0;
    int result = parts && places && ones && l->n <= INT_MAX ? MPI_SUCCESS : MPI_ERR_NO_MEM;

    for (i = 0; i < l->n && !result; i++) {
        ones[i] = 1;
        places[i] = (MPI_Aint)l->run[i].offset;
        result = make_run(&l->run[i], &parts[i]);
        made += !result;
    }
    if (!result)
        result = PMPI_Type_create_struct((int)l->n, ones, places, parts, out);
    for (i = 0; i < made; i++)
        PMPI_Type_free(&parts[i]);
    free(parts);
    free(places);
    free(ones);
    return result;
}

static int make_type(const struct byte_layout *l, MPI_Datatype *out)
{
    MPI_Datatype body;
    bool strided = false;
    int64_t i;
    int result;

    /* Everything, in order: as MPI likes it best. */
    if (l->n == 1 && l->run->offset == 0 && l->run->count == 1 && l->run->size == l->extent) {
        *out = MPI_BYTE;
        return MPI_SUCCESS;
    }
    for (i = 0; i < l->n; i++)
        strided |= l->run[i].count > 1;
    result = strided ? make_runs(l, &body) : make_blocks(l, &body);
    if (result)
        return result;
    result = PMPI_Type_create_resized(body, 0, (MPI_Aint)l->extent, out);
    PMPI_Type_free(&body);
    return result ? result : PMPI_Type_commit(out);
}

int layout_bytes(int64_t *disp, const drep_type *etype, const drep_type *filetype,
                 const char *datarep, bool writable, MPI_Datatype *out)
{
    struct byte_layout l = {.run = NULL};
    int64_t i, first;
    int err = runs_get(*disp, etype, filetype, datarep, writable, &l);

    first = err || l.n == 0 ? 0 : l.run->offset;
    if (!err && __builtin_add_overflow(*disp, first, disp))
        err = drep_error_set(DREP_ERR_VALUE_TOO_LARGE, "the displacement is beyond 2^63 bytes");
    for (i = 0; i < l.n && !err; i++)
        l.run[i].offset -= first;
    if (!err && l.n == 0)
        *out = MPI_BYTE; /* of a rank that has no part in the file */
    else if (!err && make_type(&l, out) != MPI_SUCCESS)
        err = drep_error_set(DREP_ERR_VALUE_TOO_LARGE, "the filetype has no datatype of bytes");
    free(l.run);
    return err;
}
