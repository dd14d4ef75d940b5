/* dataset.h - open datasets: one handle an object and file, which all openers share.
 *
 * A handle knows its record, its type and its fill value; it is reloaded when the reader moves to
 * another commit.  When the file is closed first, the handle stays as a shell that answers with an
 * error.  The lists and counts of handles are guarded by the file's datasets.lock. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_DATASET_H
#define ELEM_DATASET_H

#include "elem/grid.h"
#include "file/file.h"

#include <stdatomic.h>

struct dataset_map {
    struct dataset_map *next;
    struct mapped at;
};

/* Rows of one dimension that were appended and are not in the shape of the record yet. */
struct waiting_rows {
    int dim;
    int64_t n;
};

struct drep_dataset {
    struct open_dataset open; /* first: the file's list is of these */
    drep_file *file;          /* NULL: closed, and everything of its own that the handle had */
    uint64_t id;
    atomic_int refs;     /* changed under the lock, while the file is open */
    int opens;           /* those of callers, likewise; a handle while there are any */
    drep_type *own_type; /* once the file is closed: what drep_dsinfo lent out */
    const char *path;    /* in name */
    struct buf name, rec_bytes;
    struct file_datarep *entry; /* the representation that its record names */
    const struct file_rep *rep; /* the same, with functions if they are here */
    struct ftype *ft;
    int64_t esize;            /* bytes of one stored element */
    uint8_t *fill;            /* one stored element, NULL: zero bytes */
    struct buf fill_heap;     /* what its variable parts point into */
    char *filter_names;       /* of users' filters, each with its NUL */
    uint32_t *filter_params;  /* of all filters, one behind the other */
    int fill_err;             /* why the functions could not make the default one */
    bool trimmed;             /* nothing but fill is stored outside the shape */
    uint64_t removals;        /* of the file, when the dataset was last seen to be there */
    struct dataset_map *maps; /* guarded by the lock */
    struct tail *tail;        /* rows that were appended and wait (whole/append.c), or NULL */
    struct waiting_rows waiting;
    bool stopped;               /* an append failed, */
    drep_dataset *next_stopped; /* and for this one before */
    bool deleted;               /* not in the commit that the reader moved to */
    drep_dataset *reloaded;     /* as it is there */
    struct object_rec rec;      /* spans point into rec_bytes */
    struct chunks chunks;
};

static inline int64_t dataset_count(const drep_dataset *ds)
{
    return shape_count(&ds->rec);
}
static inline uint64_t bytes_of(const drep_dataset *ds, int64_t n)
{
    return (uint64_t)n * (uint64_t)ds->esize;
}
/* Elements of a full chunk or slab. */
static inline int64_t chunk_elements(const drep_dataset *ds)
{
    return ds->esize > 0 ? (int64_t)(ds->chunks.payload / (uint64_t)ds->esize) : 0;
}

/* 0 if the handle and its file are open; `call` names the public function. */
int dataset_check(const drep_dataset *ds, const char *call);
/* Before elements are moved. DREP_ERR_UNSUPPORTED_DATAREP: their functions are not here. */
int dataset_usable(drep_dataset *ds);
/* A handle outlives its dataset: DREP_ERR_NOT_FOUND. */
int dataset_alive(drep_dataset *ds);

/* An object of this id as a dataset; `path` is for messages.  dataset_put() gives the reference
 * up, also when the file is closed. */
int dataset_get(drep_file *f, uint64_t id, const char *path, drep_dataset **out);
void dataset_put(drep_dataset *ds);
/* Set the handle's chunks to what its record says. */
void dataset_chunks(drep_dataset *ds);
/* One reference more to an open dataset. */
drep_dataset *dataset_hold(drep_dataset *ds);
/* Like dataset_get(), for an object just created: `record` are its bytes. */
int dataset_get_created(drep_file *f, uint64_t id, const char *path, const struct buf *record,
                        drep_dataset **out);
/* The reference becomes the caller's, and the dataset a handle. */
int dataset_lend(drep_file *f, drep_dataset *ds);

/* The file is closed: open handles become shells that answer with an error, and what closed ones
 * left is freed. */
void datasets_release(drep_file *f);
/* Give open datasets the ids that map() makes of theirs, before datasets_refresh(). */
void datasets_renumber(drep_file *f, uint64_t (*map)(const void *ctx, uint64_t id),
                       const void *ctx);
/* Reloads all open datasets from the commit that the store moved to: all of them, or none after
 * an error. */
int datasets_refresh(drep_file *f);
/* The datatype that a dataset's record names, if the header lists what it is made of and the
 * record's shape and layout go with it.  rep: that of the entry, with functions or without. */
int dataset_type(drep_file *f, const struct object_rec *rec, const struct file_datarep *entry,
                 const struct file_rep *rep, struct ftype **out);

#endif
