/* mapping.h - the mappings of a virtual dataset. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_MAPPING_H
#define TOOLS_H5_MAPPING_H

#include "tools/h5/job.h"
#include "tools/walk/box.h"

#define MAPPINGS_MAX 1000000

/* One mapping of a virtual dataset. */
struct mapping {
    char *file, *dataset; /* as HDF5 has them, patterns included */
    hid_t source, target; /* selections */
};
int mapping_read(struct job *j, hid_t dcpl, size_t i, struct mapping *m);
void mapping_release(struct mapping *m);

/* The smallest boxes around all mappings, inside the shape. */
struct mappings {
    size_t n;
    int rank;
    int64_t *bounds; /* of each mapping 2 * rank: starts and counts; NULL: one is unknown */
    int order;       /* along this dimension each begins behind the one before it; -1: along none */
    double covered;  /* elements of all boxes */
    int sparse;      /* at least half of the dataset is covered by none of them */
};
int mappings_read(struct job *j, hid_t dcpl, int rank, const hsize_t *dims, struct mappings *out);
void mappings_release(struct mappings *all);
void mappings_box(const struct mappings *all, size_t i, struct box *out);
/* The first mapping that ends behind index `at` of the dimension that orders them. */
size_t mappings_find(const struct mappings *all, int64_t at);

/* True if a dataset has its elements itself, not in raw files or sources of its own. */
int dataset_is_own(hid_t dset);

/* Opens a dataset that mappings name; -1: it may not be opened, or is not there. */
typedef hid_t open_source_fn(void *ctx, const char *file, const char *dataset);

/* The dataset that a mapping takes its elements from.  {.open, .ctx} before the first use; the same
 * one serves mapping after mapping, so that neighbours with one source open it once. */
struct direct {
    open_source_fn *open;
    void *ctx;
    hid_t dset, space; /* dset <= 0: none is open */
    int absent;        /* none is, as the last one could not be opened */
    char *file, *dataset;
    int rank; /* of the source */
    hsize_t dims[H5S_MAX_RANK];
    int along[H5S_MAX_RANK]; /* the virtual dataset's dimension; -1: one index of the source's */
    int64_t shift[H5S_MAX_RANK]; /* from an index of that dimension to one of the source */
};
/* Opens a source that has its elements itself, unless it is the one at hand. */
int direct_open(struct direct *d, const char *file, const char *dataset);
/* True if mapping i, with box b, takes exactly that box from one box of a dataset that has its
 * elements itself: they are read there, without a look at all mappings.  b becomes what the source
 * has of it, maybe nothing: of a source that is too small HDF5 reads other elements. */
int direct_find(struct job *j, hid_t dcpl, hid_t space, size_t i, struct box *b, struct direct *d);
/* The box of the source that holds box b of the virtual dataset. */
void direct_box(const struct direct *d, const struct box *b, struct box *out);
void direct_release(struct direct *d);

#endif
