/* data.h - what users hold: files, objects, attributes, datasets; private parts.
 *
 * data/ joins the rooms: the store keeps bytes, rep/ converts elements, type/ says
 * where items lie; here they meet.  Calls that read take the file's lock shared,
 * calls that write take it alone and run inside one operation of the store, so that
 * a failing one leaves nothing behind. */
#ifndef ELEM_DATA_H
#define ELEM_DATA_H

#include "base/error.h"
#include "base/fork.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "conv/conv.h"
#include "conv/file_rep.h"
#include "conv/ftype.h"
#include "conv/functions.h"
#include "conv/heap.h"
#include "conv/memory.h"
#include "conv/refs.h"
#include "conv/transcode.h"
#include "conv/value.h"
#include "file/file.h"
#include "name/attr.h"
#include "name/dimension.h"
#include "name/external.h"
#include "name/find.h"
#include "name/link.h"
#include "name/object.h"
#include "name/path.h"
#include "base/idset.h"
#include "format/record.h"
#include "rep/rep.h"
#include "txn/store.h"
#include "type/type.h"

#include <pthread.h>
#include <stdatomic.h>

struct drep_dataset {
    drep_file *file; /* NULL: closed, and everything of its own that the handle had */
    uint64_t id;
    atomic_int refs;     /* changed under type_lock, while the file is open */
    int opens;           /* those of callers, likewise; a handle while there are any */
    drep_type *own_type; /* once the file is closed: what drep_dsinfo lent out */
    const char *path;    /* in name */
    struct buf name, rec_bytes;
    struct ftype *ft;
    int64_t esize;        /* bytes of one stored element */
    uint8_t *fill;        /* one stored element, NULL: zero bytes */
    struct buf fill_heap; /* what its variable parts point into */
    char *filter_names;   /* of users' filters, each with its NUL */
    int fill_err;         /* why the functions could not make the default one */
    bool trimmed;         /* nothing but fill is stored outside the shape */
    uint64_t removals;    /* of the file, when the dataset was last seen to be there */
    bool verified;        /* all of its run was, since it was written to last */
    struct mapping *maps; /* guarded by type_lock */
    bool gone;            /* not in the commit that the reader went to */
    drep_dataset *again;  /* as it is there */
    drep_dataset *next;
    struct object_rec rec; /* spans point into rec_bytes */
    struct chunks chunks;
};

/* repair.c: drep_repair() on bytes of any kind, which it owns. */
int repair_on(struct io *io, const char *new_path, int amode, const drep_info *info,
              drep_finding_fn *fn, void *ctx, int64_t *findings);

/* ---- select.c ---- */

/* One dimension of a box: the k-th selected index is
 * start + k / block * stride + k % block. */
struct span_dim {
    int64_t start, stride, block, n; /* n: selected indices */
};
struct drep_selection {
    int rank;
    int64_t count;
    struct span_dim dim[DREP_MAX_RANK]; /* a box */
    int64_t npoints;                    /* points when coords is set */
    int64_t *coords;
    int nboxes; /* a union when box is set: rank dimensions for each */
    struct span_dim *box;
};
static inline bool selection_is_box(const struct drep_selection *sel)
{
    return sel->coords == NULL && sel->box == NULL;
}
/* The box of everything. */
void selection_all(struct drep_selection *sel, int rank, const uint64_t *len);
/* Holds it against the dataset's shape. */
int selection_check(const struct drep_selection *sel, int rank, const uint64_t *len);
static inline int64_t span_at(const struct span_dim *d, int64_t k)
{
    return d->block == 1 ? d->start + k * d->stride
                         : d->start + k / d->block * d->stride + k % d->block;
}
/* The first k whose index is >= i. */
int64_t span_first(const struct span_dim *d, int64_t i);

/* Calls fn for each run of selected elements inside a block of `len` elements a
 * dimension, of which [k0, k1) of each dimension's selected indices fall into it; the
 * block begins at index `from`.  `at`: element in the block, `step`: elements between
 * two of the run, `mem`: number of the first in the transfer. */
typedef int run_fn(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int selection_runs(const struct drep_selection *sel, const int64_t *k0, const int64_t *k1,
                   const int64_t *from, const int64_t *len, run_fn *fn, void *ctx);

/* Elements of a box that follow each other in a block of so many elements a dimension, at
 * most as many as the block has. */
int64_t selection_run_len(const struct drep_selection *sel, const int64_t *len);
/* Calls fn for each stretch of neighbours in the last dimension, in the order of transfer;
 * for points and unions. */
typedef int stretch_fn(void *ctx, const int64_t *coord, int64_t n);
int selection_stretches(const struct drep_selection *sel, stretch_fn *fn, void *ctx);

/* ---- dataset.c ---- */

/* Stored elements of the fill value, from byte `offset` of the pattern on. */
int fill_bytes(const drep_dataset *ds, uint8_t *buf, uint64_t offset, uint64_t size);
/* An object of this id as a dataset; `path` is for messages. */
int dataset_get(drep_file *f, uint64_t id, const char *path, drep_dataset **out);
/* Every number that reading will multiply, held against the limits. */
int shape_check(const struct object_rec *rec, const struct ftype *ft);
/* A handle outlives its dataset: DREP_ERR_NOT_FOUND. */
int dataset_alive(drep_dataset *ds);
/* 0 if the handle and its file are open; `call` names the public function. */
int dataset_check(const drep_dataset *ds, const char *call);
/* One reference more to an open dataset; gives one up, also when the file is closed. */
drep_dataset *dataset_hold(drep_dataset *ds);
void dataset_put(drep_dataset *ds);
/* All open datasets as they are in the commit that the store went to, or all as they were. */
int datasets_refresh(drep_file *f);
int64_t dataset_count(const drep_dataset *ds);
/* The datatype that a dataset's record names, if the header lists what it is made of and
 * the record's shape and layout go with it. */
int dataset_type(drep_file *f, const struct object_rec *rec, struct ftype **out);
/* map.c: unmaps what is still mapped. */
void maps_release(drep_dataset *ds);
/* Its shape changed: may all of it be kept in memory? */
void dataset_fits(drep_dataset *ds);
/* Reads every element that is stored (deep.c); *budget: bytes of payload that may still
 * be read, so that what many records share is not read without end. */
int dataset_read_stored(drep_dataset *ds, uint64_t *budget);
/* Calls fn for boxes that hold, one after the other, every element that is stored.  The
 * caller holds the file. */
typedef int stored_fn(const uint64_t *start, const uint64_t *count, void *ctx);
int dataset_stored_parts(drep_dataset *ds, stored_fn *fn, void *ctx);
/* Layout, chunks and filters of a dataset of this type, as a new one would get them. */
int dataset_plan(drep_file *f, const drep_spec *spec, const struct ftype *ft,
                 struct object_rec *rec);
/* The filters as a spec names them; names live as long as the handle. */
void dataset_filters(const drep_dataset *ds, drep_filter *out);
/* Like drep_copy(), for a caller that copies one object after the other: fn gives the path in `to`
 * of a dimension that it copied before, or NULL. */
typedef const char *copy_dimension_fn(uint64_t id, void *ctx);
int object_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
                copy_dimension_fn *fn, void *ctx);
/* collected.c: the whole payload of a chunk, fill included; *fixed: where its heap
 * begins.  A payload that is about to change gets a heap of its own, holding only what
 * its elements still refer to; at last it is put behind them. */
int chunk_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, size_t *fixed);
int heap_renew(drep_dataset *ds, struct buf *b, size_t fixed, struct buf *heap);
int heap_append(struct buf *b, size_t fixed, const struct buf *heap);
/* Inside a call that reads; the message does not name the dataset. */
int dataset_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer);
/* Inside an operation of the store. */
int dataset_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                  const void *buf, const drep_xfer *xfer);
/* Moves n stored elements as they are, from number `at` of the row-major sequence on. */
int dataset_raw(drep_dataset *ds, int64_t at, int64_t n, void *buf, bool writing);
/* The same with a box of them. */
int dataset_raw_box(drep_dataset *ds, const uint64_t *from, const uint64_t *len, void *buf,
                    int threads, bool writing);
/* The whole payload of a compact dataset, fill included; *fixed: where its heap begins. */
int compact_load(drep_dataset *ds, struct buf *b, size_t *fixed);
/* Chunks that lie wholly outside the present shape mean nothing. */
bool chunk_inside(const drep_dataset *ds, const uint64_t *coord);
/* How many of a run do not. */
uint64_t run_inside(const drep_dataset *ds, const uint64_t *coord, const struct chunk_rec *rec);
/* The run before, in a walk over those of a dataset: its first chunk, and where its last
 * coordinate ends.  {0} before the first. */
struct run_before {
    bool any;
    uint64_t at[DREP_MAX_RANK], end;
};
/* DREP_ERR_FORMAT: the next one has chunks that this one has too. */
int chunk_order_check(struct run_before *before, int rank, const uint64_t *coord,
                      const struct chunk_rec *rec);
/* DREP_ERR_FORMAT: it holds more than its elements ask for, or no whole ones. */
int chunk_size_check(const struct chunks *cs, int64_t esize, const struct chunk_rec *rec);
void chunks_of(drep_file *f, uint64_t id, const struct object_rec *rec, int64_t esize,
               bool variable, const char *path, struct chunks *cs);

#endif
