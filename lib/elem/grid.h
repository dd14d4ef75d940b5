/* grid.h - the chunks that a dataset has, by what its record says.
 *
 * Integers only: nothing here reads or converts.  The chunks of a contiguous dataset are the slabs
 * of one sequence, those of a chunked one the cells of a grid.  What a file stores outside the
 * shape means nothing. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_GRID_H
#define ELEM_GRID_H

#include "conv/ftype.h"
#include "file/file.h"

/* Elements of the shape, and of a full chunk or slab. */
int64_t shape_count(const struct object_rec *rec);
int64_t chunk_count(const struct object_rec *rec);
/* Elements of a slab that nobody chose: whole pages where elements allow.  A write copies the slabs
 * that a commit refers to, so one page; but where a user's functions convert, a slab is one call of
 * theirs: about 1 MiB then. */
uint64_t slab_choose(int64_t esize, bool called);
/* Holds every number that reading will multiply against the limits. */
int shape_check(const struct object_rec *rec, const struct ftype *ft);
/* The same of a shape that a caller asks for: DREP_ERR_LIMIT where it is beyond a limit. */
int shape_wanted(const struct object_rec *rec, const struct ftype *ft);

/* The chunks of an object as lib/chunk sees them; `path` is for messages and stays the caller's. */
void chunks_of(drep_file *f, uint64_t id, const struct object_rec *rec, int64_t esize,
               bool variable, const char *path, struct chunks *cs);
/* The dimension along which each new index lies behind the elements that there are, in the last
 * chunk or slab and the only one that holds it; -1: there is none. */
int dimension_behind(const struct object_rec *rec);
/* The shape changed: sets what follows from it. */
void chunks_reshape(const drep_file *f, const struct object_rec *rec, struct chunks *cs);

/* True if some of the chunk lies inside the shape. */
bool chunk_inside(const struct object_rec *rec, const uint64_t *coord);
/* Number of chunks of the run that lie inside. */
uint64_t run_inside(const struct object_rec *rec, const uint64_t *coord,
                    const struct chunk_rec *run);

/* The chunks of a shape as numbers: row-major in the grid, slabs as they come; a compact dataset is
 * one chunk, number 0. */
int64_t chunks_in_grid(const struct object_rec *rec);
/* Number of chunks along the last coordinate of the grid. */
uint64_t row_chunks(const struct object_rec *rec);
void chunk_coord(const struct object_rec *rec, int64_t chunk, uint64_t *coord);
int64_t chunk_number(const struct object_rec *rec, const uint64_t *coord);
/* Elements of the shape that the chunk at a place of the grid holds along a dimension; 0: it lies
 * outside. */
uint64_t chunk_len(const struct object_rec *rec, const uint64_t *coord, int d);
/* The chunk or slab that holds the element with these indices; *at: the element's number in a slab,
 * 0 in a chunk.  DREP_ERR_ARG, DREP_ERR_RANGE. */
int chunk_holding(const struct object_rec *rec, const int64_t *index, uint64_t *coord, int64_t *at);
/* Elements of the shape that a chunk holds. */
int64_t chunk_extent(const struct object_rec *rec, int64_t chunk);

/* The run before, in a walk over those of a dataset: its first chunk, and where its last
 * coordinate ends.  {0} before the first. */
struct run_before {
    bool any;
    uint64_t at[DREP_MAX_RANK], end;
};
/* DREP_ERR_FORMAT: the next plain run, or filtered chunk, is not behind this one. */
int chunk_order_check(struct run_before *before, int rank, const uint64_t *coord,
                      const struct chunk_rec *rec);
/* DREP_ERR_FORMAT: a chunk holds more than its elements ask for, or no whole ones. */
int chunk_size_check(const struct chunks *cs, int64_t esize, const struct chunk_rec *rec);

#endif
