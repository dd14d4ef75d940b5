/* interface.h - what the command and its modules for HDF5 and netCDF say to each other.
 *
 * A module is a shared object, datarep-hdf5.so (the rest of tools/h5) or datarep-netcdf.so
 * (tools/nc), loaded only by the subcommands that need it, so that nothing else pays for HDF5.  It
 * finds drep_* in the executable that loads it, and opens and closes both files itself. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_INTERFACE_H
#define TOOLS_H5_INTERFACE_H

#include "base/handles.h"
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Grows with the structs below, and with those of datarep.h that a module fills or reads: the
 * command refuses a module that answers another. */
#define DATAREP_HDF5_INTERFACE 16

/* The attribute with the name of a dimension scale, and what netCDF-4 calls one that is a dimension
 * only; ten digits of its length follow. */
#define SCALE_NAME "NAME"
#define SCALE_NO_VARIABLE "This is a netCDF dimension but not a netCDF variable."

/* How much a finding weighs. */
enum hdf5_weight {
    HDF5_MADE,    /* an object is there: nothing to say but its name */
    HDF5_STORED,  /* stored in another way; the values are the same and nothing is lost */
    HDF5_UNTRIED, /* values whose bytes are the same; whether they can be read is not known */
    HDF5_READ,    /* another file was read: said always */
    HDF5_KEPT,    /* has no counterpart: kept as an annotation, from which export restores it */
    HDF5_UNREAD,  /* values whose bytes are the same, and which nobody here can decode */
    HDF5_LOST     /* left out or changed */
};

struct hdf5_finding {
    int weight;
    const char *what; /* one word: "dataset", "filter", "comment", "link", ... */
    const char *path; /* of the object in the destination; "" for the file as a whole */
    const char *message;
    int err; /* DREP_ERR_NOMEM: for want of memory; else 0 */
};
typedef void hdf5_say_fn(void *ctx, const struct hdf5_finding *finding);

/* Bytes of elements moved, of those there are. */
typedef void hdf5_progress_fn(void *ctx, uint64_t done, uint64_t total);

/* Elements of the container, and the same as libhdf5 reads them back from the exported file;
 * both as `type` says that they lie in memory. */
struct hdf5_pair {
    drep_file *file; /* that references lead into */
    const drep_type *type;
    int64_t n;
    const void *ours, *theirs;
};
/* The number of the first element that is not the same bit for bit, -1: all are.  `text` gets
 * the part of it that differs and both values. */
typedef int64_t hdf5_compare_fn(void *ctx, const struct hdf5_pair *pair, char *text, size_t size);

/* Counts of what a job has moved. */
struct hdf5_totals {
    int64_t groups, datasets, types, dimensions, links, attributes;
    uint64_t bytes; /* of elements, as they lie in memory */
    /* Datasets whose numbers no conversion touched, neither HDF5's nor ours. */
    int64_t copied;
};

struct hdf5_options {
    const char *src;
    const char *dst;
    const char *place;          /* export: the empty file that is written, which gets the name
                                   dst when it is whole */
    const char *root;           /* the group of the source to begin at, NULL: "/" */
    const char *datarep;        /* import: of the new file; never NULL */
    const char *big_datarep;    /* import: of datasets whose numbers are big-endian; NULL: datarep.
                                   Its numbers have the sizes and formats of datarep's */
    const drep_filter *filters; /* import: of all chunked datasets, instead of theirs */
    int nfilters;               /* -1: theirs */
    int range;                  /* DREP_RANGE_...: values that the target cannot hold */
    int excl;                   /* import, 1: fail if dst exists */
    int exact;                  /* import: note byte orders too, so that export restores them */
    int external;               /* import: read raw files and sources of virtual datasets in or
                                   below the directory of src, */
    int outside;                /* and elsewhere */
    int alone;                  /* import: no file beside src belongs to it */
    int partial;                /* import: also a file with elements that cannot be read, which
                                   are marked (tools/walk/unread.h); else it fails */
    int pinned;                 /* import: chunks stay in src, and the new file refers to them */
    int headers;                /* import, with pinned: no chunk is read; where they are is what
                                   the source says, and they have no sums */
    int plain;                  /* import: scales stay datasets, and attributes that say what is a
                                   scale, and netCDF's own, attributes under their names */
    int no_decode;              /* import: chunks that go over as they are stored are not decoded */
    int verify;                 /* export, 1: the chunks that went over so are decoded */
    int kind;                   /* export to classic netCDF: 1, 2 or 5 of CDF-1 and so on; 0: the
                                   first of them that holds it */
    int netcdf;                 /* export to HDF5: the file is for readers of netCDF-4 */
    const drep_info *hints;     /* of whoever opens or makes the container; may be NULL */
    int threads;                /* 0: as many as there are processors */
    hdf5_say_fn *say;
    hdf5_progress_fn *progress; /* may be NULL */
    int (*stopped)(void);       /* non-zero: the work is to end; may be NULL */
    /* Why a function below fails, as its code and in words; once. */
    void (*error)(void *ctx, int err, const char *message);
    /* Import: called once when src and dst are open and no byte of src has been read;
     * what it gives, if not 0, is the error.  May be NULL. */
    int (*cage)(void *ctx);
    void (*at)(void *ctx, const char *path); /* the object in hand; may be NULL */
    /* Export: reads the finished file back and compares all of it before it gets its name; a
     * difference is a failure.  NULL: it is not read back. */
    hdf5_compare_fn *compare;
    void *ctx; /* first argument of these functions */
    /* Import: where the new file grows until it has its name: PATH_MAX bytes, or NULL.  Whoever
     * outlives a crash of the module removes it. */
    char *hidden;
    struct hdf5_totals *totals; /* may be NULL */
};

/* The functions that a module exports, here that for HDF5; datarep_netcdf_... are the same.  Both
 * give 0 or a DREP_ERR_... code; on failure import leaves no half-made destination. */
int datarep_hdf5_import(const struct hdf5_options *options);
int datarep_hdf5_export(const struct hdf5_options *options);
/* DATAREP_HDF5_INTERFACE as the module was compiled. */
int datarep_hdf5_interface(void);
/* "HDF5 1.10.8", for --version. */
const char *datarep_hdf5_version(void);

#endif
